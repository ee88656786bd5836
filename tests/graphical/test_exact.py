"""Every exact method gives the answer of the twin that walks through all joint states."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.graphical import (
    BayesianNetwork,
    BeliefPropagation,
    Factor,
    JunctionTree,
    MarkovRandomField,
    inference_plan,
)
from gnomon.graphical.evidence import ImpossibleEvidenceError
from gnomon.graphical.factor import TableTooLargeError
from graphical.randomly import random_evidence, random_network, twin, walk

METHODS = ("enumeration", "elimination", "junction_tree", "polytree", "auto")
ORDERS = ("min_fill", "min_neighbors", "min_weight", "weighted_min_fill", "polytree", "best")


def assert_says(factor, expected, wanted):
    for states, p in expected.items():
        assert factor[states if len(wanted) > 1 else states[0]] == pytest.approx(p, rel=1e-10, abs=1e-14)
    assert factor.values.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("seed", range(200))
def test_every_method_equals_the_walk(seed):
    model = random_network(seed, zeros=seed % 3 == 0, tree=seed % 5 == 0)
    evidence = random_evidence(model, seed)
    rng = np.random.default_rng(seed)
    free = [name for name in model.variables_ if name not in evidence]
    wanted = [str(name) for name in rng.permutation(free)[: int(rng.integers(1, 3))]]
    soft = {}
    if seed % 4 == 0:
        name = str(rng.choice(model.variables_))
        soft = {name: rng.random(len(model.states_[name])) + 0.1}
    expected, p = twin(model, wanted, evidence, soft)
    for method in METHODS:
        factor = model.query(wanted, evidence, soft_evidence=soft, method=method)
        assert factor.variables == tuple(wanted)
        assert_says(factor, expected, wanted)
        assert factor.log_evidence == pytest.approx(np.log(p), rel=1e-9, abs=1e-12), method


@pytest.mark.parametrize("seed", range(30))
def test_orders_and_pruning_do_not_change_the_answer(seed):
    model = random_network(seed)
    evidence = random_evidence(model, seed)
    wanted = [next(name for name in model.variables_ if name not in evidence)]
    expected, _ = twin(model, wanted, evidence)
    for order in ORDERS:
        for prune in (True, False):
            plan = inference_plan(model, wanted, evidence, order=order, prune=prune)
            assert_says(plan.run(), expected, wanted)
            assert plan.cost == sum(plan.sizes) and plan.largest == max([*plan.sizes, len(expected)])


@pytest.mark.parametrize("seed", range(60))
def test_all_marginals_of_one_calibration(seed):
    model = random_network(seed, zeros=seed % 2 == 0)
    evidence = random_evidence(model, seed)
    found = model.marginals(evidence)
    for name in model.variables_:
        expected, _ = twin(model, [name], evidence)
        for (state,), p in expected.items():
            assert found[name][state] == pytest.approx(p, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("seed", range(60))
def test_most_probable_explanation_is_the_maximum_of_the_walk(seed):
    model = random_network(seed, zeros=seed % 2 == 0)
    evidence = random_evidence(model, seed)
    fitting = [(row, p) for row, p in walk(model) if all(row[n] == s for n, s in evidence.items())]
    best = sorted((p for _, p in fitting), reverse=True)
    found = model.mpe(evidence)
    assert dict(walk_key(row, p) for row, p in fitting)[frozenset(found.states.items())] == pytest.approx(
        best[0], rel=1e-12
    )
    assert found.log_probability == pytest.approx(np.log(best[0]), rel=1e-10, abs=1e-12)
    assert found.log_posterior == pytest.approx(np.log(best[0] / sum(best)), rel=1e-9, abs=1e-12)
    if len(best) > 1 and best[1] > 0:
        assert found.gap == pytest.approx(np.log(best[0] / best[1]), rel=1e-8, abs=1e-9)


def walk_key(row, p):
    return frozenset(row.items()), p


@pytest.mark.parametrize("seed", range(60))
def test_marginal_map_is_the_maximum_of_the_sums(seed):
    model = random_network(seed, zeros=seed % 2 == 0)
    evidence = random_evidence(model, seed)
    free = [name for name in model.variables_ if name not in evidence]
    wanted = [str(v) for v in np.random.default_rng(seed).permutation(free)[:2]]
    expected, p = twin(model, wanted, evidence)
    states, log_value = model.marginal_map(wanted, evidence)
    assert expected[tuple(states[v] for v in wanted)] == pytest.approx(max(expected.values()), rel=1e-12)
    assert log_value == pytest.approx(np.log(max(expected.values()) * p), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_probability_of_any_event(seed):
    model = random_network(seed, zeros=True)
    evidence = random_evidence(model, seed)
    assert model.probability(evidence) == pytest.approx(twin(model, [], evidence)[1], rel=1e-10)
    for row, p in list(walk(model))[:20]:
        assert model.probability(row) == pytest.approx(p, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("seed", range(20))
def test_junction_tree_is_calibrated(seed):
    model = random_network(seed, n=8)
    tree = JunctionTree(model).calibrate(random_evidence(model, seed))
    beliefs = [tree.belief(c) for c in range(len(tree.cliques_))]
    for belief in beliefs:
        assert belief.values.sum() == pytest.approx(1.0, rel=1e-10)
    holders = {name: [i for i, c in enumerate(tree.cliques_) if name in c] for name in model.variables_}
    for (a, b), shared in zip(tree._plan.edges, tree.separators_):
        left = beliefs[a].sum_out([v for v in beliefs[a].variables if v not in shared]).permute(list(shared))
        right = beliefs[b].sum_out([v for v in beliefs[b].variables if v not in shared]).permute(list(shared))
        np.testing.assert_allclose(left.values, right.values, rtol=1e-9, atol=1e-12)
    for name, cliques in holders.items():  # running intersection: the cliques of a variable hang together
        edges = [e for e in tree._plan.edges if e[0] in cliques and e[1] in cliques]
        assert len(edges) == len(cliques) - 1, name


def test_update_adds_evidence_and_takes_it_back():
    model = random_network(11, n=6)
    a, b, c = model.variables_[:3]
    tree = JunctionTree(model).calibrate({a: model.states_[a][0]}).update({b: model.states_[b][0]})
    both = model.query(c, {a: model.states_[a][0], b: model.states_[b][0]}, method="enumeration")
    np.testing.assert_allclose(tree.marginal(c).values, both.values, rtol=1e-10)
    tree.update({a: None})
    one = model.query(c, {b: model.states_[b][0]}, method="enumeration")
    np.testing.assert_allclose(tree.marginal(c).values, one.values, rtol=1e-10)


def test_impossible_evidence_names_the_smallest_contradiction():
    from gnomon.datasets import load_network

    asia = load_network("asia")
    seen = {"asia": "yes", "lung": "yes", "smoke": "no", "either": "no", "xray": "yes"}
    for method in METHODS:
        with pytest.raises(ImpossibleEvidenceError, match="lung=yes, either=no has probability zero"):
            asia.query("dysp", seen, method=method)
    with pytest.raises(ImpossibleEvidenceError, match="lung=yes, either=no"):
        asia.mpe(seen)
    with pytest.raises(ImpossibleEvidenceError, match="lung=yes, either=no"):
        asia.query("dysp", seen, method="likelihood_weighting", random_state=0)
    assert asia.probability(seen) == 0.0


def test_soft_evidence_at_its_ends():
    model = random_network(3, n=5)
    a, b = model.variables_[0], model.variables_[-1]
    k = len(model.states_[b])
    hard = model.query(a, {b: model.states_[b][0]})
    np.testing.assert_allclose(
        model.query(a, soft_evidence={b: np.eye(k)[0]}).values, hard.values, rtol=1e-12
    )
    np.testing.assert_allclose(
        model.query(a, soft_evidence={b: np.full(k, 0.3)}).values, model.query(a).values, rtol=1e-12
    )


def test_many_children_do_not_underflow():
    """Two thousand observed children: the log-likelihood is a sum, and the posterior stays exact."""
    n = 1000
    tables = {"h": [0.5, 0.5], **{f"x{i}": [[0.9, 0.1], [0.1, 0.9]] for i in range(2 * n)}}
    model = BayesianNetwork([("h", f"x{i}") for i in range(2 * n)], tables=tables)
    seen = {f"x{i}": int(i % 2) for i in range(2 * n)} | {"x0": 1}
    expected = np.log(0.5) + np.logaddexp(
        (n + 1) * np.log(0.1) + (n - 1) * np.log(0.9), (n - 1) * np.log(0.1) + (n + 1) * np.log(0.9)
    )
    for method in ("junction_tree", "elimination"):
        found = model.query("h", seen, method=method)
        assert found.log_evidence == pytest.approx(expected, rel=1e-10)
        assert found[1] == pytest.approx(81 / 82, rel=1e-9)


def test_best_states_of_many_variables_need_no_table_of_them():
    """All of a chain but one are asked for: their joint table would have 2^39 entries."""
    edges = [(f"v{i}", f"v{i + 1}") for i in range(40)]
    tables = {"v0": [0.4, 0.6], **{f"v{i + 1}": [[0.7, 0.3], [0.2, 0.8]] for i in range(40)}}
    model = BayesianNetwork(edges, tables=tables)
    asked = [f"v{i}" for i in range(40) if i != 20]
    states, value = model.marginal_map(asked, {"v40": 1})
    assert states == dict.fromkeys(asked, 1)
    assert value == pytest.approx(np.log(0.6) + 38 * np.log(0.8) + np.log(0.8 * 0.8 + 0.2 * 0.3))


def test_undirected_models_name_what_is_impossible():
    field = MarkovRandomField(
        [Factor(["a", "b"], np.eye(2)), Factor(["b", "c"], np.eye(2)), Factor(["d"], [1.0, 1.0])]
    )
    for ask in (field.query, lambda v, seen: field.marginals(seen), lambda v, seen: field.mpe(seen)):
        with pytest.raises(ImpossibleEvidenceError, match="impossible: a=0, c=1 has"):
            ask("b", {"d": 0, "a": 0, "c": 1})
    with pytest.raises(ZeroEvidenceError, match=r"factor over \['[ab]', '[bc]'\]"):
        BeliefPropagation().fit(field, evidence={"a": 0, "c": 1})
    empty = MarkovRandomField([Factor(["a"], [0.0, 0.0])])
    for ask in (lambda: empty.query("a"), empty.log_partition):
        with pytest.raises(ImpossibleEvidenceError, match="probability zero to everything"):
            ask()


def test_normalizer_is_refused_before_it_is_summed():
    ring = [Factor([f"v{i}", f"v{(i + 1) % 6}"], np.ones((3, 3))) for i in range(6)]
    field = MarkovRandomField(ring)
    assert field.log_partition(max_entries=27) == pytest.approx(6 * np.log(3))
    with pytest.raises(TableTooLargeError, match="the sum over all variables needs.*27 entries"):
        field.log_partition(max_entries=26)
    assert len(field.sample(0)) == len(field.sample(0, method="gibbs")) == 0
    with pytest.raises(DataError, match="n must be a whole number, at least 0; got -1"):
        field.sample(-1, method="gibbs")
    with pytest.raises(DataError, match="burn_in must be"):
        field.sample(3, method="gibbs", burn_in=-1)
