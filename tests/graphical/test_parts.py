"""Factors, messages, fields, structure, classifiers: against twins and by their properties."""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gnomon.bayes import CategoricalNB, JointTable
from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.datasets import load_network
from gnomon.graphical import (
    PC,
    BayesianNetwork,
    BayesianNetworkClassifier,
    BeliefPropagation,
    ChowLiuTree,
    ExactSearch,
    Factor,
    GridField,
    HillClimbSearch,
    LatentClassModel,
    LinearGaussianNetwork,
    MarkovRandomField,
    edge_bootstrap,
    score_structure,
)
from gnomon.graphical.dags import find_cycle
from gnomon.graphical.factor import TableTooLargeError, contract
from gnomon.mixture import empirical_joint
from graphical.randomly import random_evidence, random_network

# factors


def test_factor_algebra_is_einsum():
    rng = np.random.default_rng(0)
    f, g = (
        Factor("ab", rng.random((2, 3))) if False else Factor(["a", "b"], rng.random((2, 3))),
        Factor(["b", "c"], rng.random((3, 4))),
    )
    both = f.product(g)
    np.testing.assert_allclose(both.values, np.einsum("ab,bc->abc", f.table, g.table))
    np.testing.assert_allclose((f * g).sum_out("b").values, f.table @ g.table)
    np.testing.assert_allclose(both.divide(g).values, np.broadcast_to(f.table[..., None], (2, 3, 4)))
    best, codes = both.max_out(["b"])
    np.testing.assert_allclose(best.values, both.values.max(axis=1))
    np.testing.assert_array_equal(codes[..., 0], both.values.argmax(axis=1))
    assert both.reduce({"b": 1})[1, 2] == pytest.approx(both[{"a": 1, "b": 1, "c": 2}])
    scaled, log_total = both.normalize()
    assert scaled.values.sum() == pytest.approx(1) and log_total == pytest.approx(np.log(both.values.sum()))
    table = scaled.to_table()
    assert isinstance(table, JointTable) and scaled.mutual_information("a", "b") == pytest.approx(
        table.marginal(["a", "b"]).mutual_information()
    )
    assert scaled.permute(["c", "a", "b"]).table.shape == (4, 2, 3)
    assert Factor("a", [0.5, 0.5]).entropy() == pytest.approx(np.log(2))


def test_zero_over_zero_is_zero():
    quotient = Factor("a", [0.0, 2.0]) / Factor("a", [0.0, 4.0])
    assert quotient.values.tolist() == [0.0, 0.5]
    with pytest.raises(DataError, match="divided by zero"):
        Factor("a", [1.0, 2.0]) / Factor("a", [0.0, 4.0])


def test_long_products_keep_their_scale():
    small = Factor("a", [1e-200, 2e-200])
    found, log_total = contract([small] * 40, ["a"]).normalize()
    assert log_total == pytest.approx(40 * np.log(1e-200) + np.log1p(2.0**40), rel=1e-12)
    assert found[1] == pytest.approx(2.0**40 / (1 + 2.0**40))


def test_bad_factors_are_named():
    for message, make in {
        "at least 0": lambda: Factor("a", [-1.0, 2.0]),
        "axes": lambda: Factor(["a", "b"], [1.0, 2.0]),
        "3 states and its axis 2": lambda: Factor("a", [1.0, 2.0], {"a": "xyz"}),
        "Did you mean 'alpha'": lambda: Factor("alpha", [1.0, 2.0]).sum_out("alfa"),
        "differently": lambda: Factor("a", [1.0, 2.0], {"a": "xy"}) * Factor("a", [1.0, 2.0], {"a": "yx"}),
    }.items():
        with pytest.raises(DataError, match=message):
            make()
    with pytest.raises(ZeroEvidenceError):
        Factor("a", [0.0, 0.0]).normalize()
    with pytest.raises(TableTooLargeError, match="another order"):
        contract([Factor([f"v{i}"], np.ones(10)) for i in range(10)], None)


def test_empirical_joint_is_the_table_of_counts():
    X = np.array([[0, 1], [0, 1], [1, 0], [1, 1]])
    table = JointTable.from_data(X)
    np.testing.assert_allclose(table.P, empirical_joint(X))
    network = BayesianNetwork([("x0", "x1")]).fit(X)
    np.testing.assert_allclose(network.joint().values, table.P)


# messages


@pytest.mark.parametrize("seed", range(20))
def test_messages_on_trees_are_exact(seed):
    model = random_network(seed, n=7, tree=True, zeros=seed % 2 == 0)
    evidence = random_evidence(model, seed)
    exact = model.marginals(evidence)
    for options in ({}, {"schedule": "flooding"}, {"schedule": "residual"}):
        found = BeliefPropagation(**options).fit(model, evidence=evidence)
        assert found.exact_ and found.converged_
        for name, factor in exact.items():
            np.testing.assert_allclose(found.beliefs_[name], factor.values, rtol=1e-8, atol=1e-12)
        assert found.log_partition_ == pytest.approx(factor.log_evidence, rel=1e-8, abs=1e-10)
    best = BeliefPropagation(semiring="max").fit(model, evidence=evidence)
    assert best.log_partition_ == pytest.approx(model.mpe(evidence).log_probability, rel=1e-9, abs=1e-10)


def test_loops_that_do_not_settle_are_reported():
    strong = [[1.0, 60.0], [60.0, 1.0]]
    ring = [Factor(pair, strong) for pair in combinations("abcd", 2)] + [Factor("a", [1.0, 1.2])]
    with pytest.warns(UserWarning, match="did not converge"):
        found = BeliefPropagation(schedule="flooding", max_iter=30).fit(ring)
    assert not found.converged_ and not found.exact_ and found.residual_ > 1e-3
    with pytest.raises(DataError, match="schedule='tree'"):
        BeliefPropagation(schedule="tree").fit(ring)
    with pytest.raises(ZeroEvidenceError):
        BeliefPropagation().fit([Factor("a", [1.0, 0.0]), Factor("a", [0.0, 1.0])])
    with pytest.raises(DataError, match="evidence={...}"):
        BeliefPropagation().fit([Factor("a", [1.0, 2.0])], {"a": 1})


# fields


@pytest.mark.parametrize("seed", range(12))
def test_cuts_find_the_least_energy(seed):
    rng = np.random.default_rng(seed)
    field = GridField((3, 3), 2, rng.random(), 2 * rng.random((3, 3, 2)))
    every = [np.array(x).reshape(3, 3) for x in product((0, 1), repeat=9)]
    energies = np.array([field.energy(x) for x in every])
    found = field.segment()
    assert found.exact and found.energy == pytest.approx(energies.min(), abs=1e-10)
    assert field.log_partition() == pytest.approx(np.logaddexp.reduce(-energies), rel=1e-12)
    bounds = np.array(field._mean_field(100, 1e-10)[1])
    assert (np.diff(bounds) >= -1e-12).all() and bounds[-1] <= field.log_partition()
    icm = field.segment(method="icm")
    assert (np.diff(icm.trace) <= 1e-12).all() and icm.energy >= found.energy - 1e-12
    for method in ("gibbs", "bp", "mean_field"):
        assert field.segment(method=method, random_state=0).energy >= found.energy - 1e-12


def test_more_labels_and_refusals():
    rng = np.random.default_rng(1)
    field = GridField((2, 3), 3, 0.4, rng.random((2, 3, 3)))
    energies = [field.energy(np.array(x).reshape(2, 3)) for x in product(range(3), repeat=6)]
    assert field.segment().energy <= min(energies) * 1.2 and not field.segment().exact
    with pytest.raises(DataError, match="coupling"):
        GridField((2, 2), coupling=-1.0).segment()
    with pytest.raises(DataError, match="Did you mean 'icm'"):
        field.segment(method="icn")


def test_fitted_field_has_the_observed_margins():
    X = MarkovRandomField(GridField.ising((2, 2), 0.5, 0.2).factors).sample(500, random_state=0)
    pairs = [("0,0", "0,1"), ("0,0", "1,0"), ("0,1", "1,1"), ("1,0", "1,1")]
    exact = MarkovRandomField(pairs, method="exact", tol=1e-9).fit(X)
    assert (np.diff(exact.trace_.objective) >= -1e-12).all()
    for a, b in pairs:
        share = pd.crosstab(X[a], X[b], normalize=True).to_numpy()
        np.testing.assert_allclose(exact.query([a, b]).values, share, atol=1e-7)
    pseudo = MarkovRandomField(pairs, method="pseudo").fit(X)
    assert exact.score(X) - 1e-2 < pseudo.score(X) <= exact.score(X) + 1e-9
    assert exact.score(X) == pytest.approx(exact.trace_.objective[-1], rel=1e-9)
    assert exact.log_likelihood_ == pytest.approx(exact.score(X) * len(X), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_pseudo_likelihood_is_the_sum_of_the_conditionals(alpha):
    X = MarkovRandomField(GridField.ising((1, 3), 0.5, 0.2).factors).sample(40, random_state=0)
    model = MarkovRandomField([("0,0", "0,1"), ("0,1", "0,2")], method="pseudo", alpha=alpha).fit(X)
    total = 0.0
    for _, row in X.iterrows():
        for name in X:
            others = {k: v for k, v in row.items() if k != name}
            total += np.log(float(model.query(name, others)[row[name]]))
    assert model.pseudo_log_likelihood_ == pytest.approx(total, rel=1e-9)
    assert not hasattr(model, "log_likelihood_")


def test_normalizers_agree():
    field = MarkovRandomField(GridField.ising((2, 3), 0.4, 0.1).factors)
    exact = field.log_partition()
    assert field.log_partition("mean_field") < exact
    assert field.log_partition("bethe") == pytest.approx(exact, abs=0.2)
    assert field.log_partition("ais", random_state=0) == pytest.approx(exact, abs=0.1)
    asia = load_network("asia")
    assert MarkovRandomField.from_bayesian_network(asia).log_partition() == pytest.approx(0.0, abs=1e-12)


# structure


def every_dag(n):
    """All directed acyclic graphs on n nodes, as tuples of parents."""
    pairs = list(permutations(range(n), 2))
    for bits in product((0, 1), repeat=len(pairs)):
        parents = [[] for _ in range(n)]
        for (a, b), bit in zip(pairs, bits):
            if bit:
                parents[b].append(a)
        if not find_cycle(parents):
            yield parents


def test_number_of_graphs():
    assert sum(1 for _ in every_dag(3)) == 25
    assert sum(1 for _ in every_dag(4)) == 543


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_exact_search_is_the_best_of_all_graphs(score):
    X = random_network(4, n=4).sample(80, random_state=0)
    names = list(X.columns)
    best = max(
        score_structure(X, [(names[p], names[v]) for v, own in enumerate(dag) for p in own], score)
        for i, dag in enumerate(every_dag(4))
        if i % 12 == 0
    )
    found = ExactSearch(score).fit(X)
    assert found.score_ >= best - 1e-9
    assert found.score_ == pytest.approx(score_structure(X, found.dag_, score), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_climbing_never_falls_and_exact_search_is_above(seed):
    X = random_network(seed, n=6).sample(300, random_state=seed)
    best = ExactSearch(max_parents=4).fit(X)
    for options in ({}, {"tabu": 0}, {"start": "empty"}, {"n_restarts": 3, "random_state": 0}):
        search = HillClimbSearch(**options).fit(X)
        assert (np.diff(search.trace_.objective) >= 0).all()
        assert search.score_ == pytest.approx(score_structure(X, search.dag_), rel=1e-12)
        assert search.score_ <= best.score_ + 1e-9
        assert (
            BayesianNetwork(search.dag_, nodes=list(X.columns)).fit(X).n_parameters_
            == search.network().n_parameters_
        )


def test_edges_that_are_allowed_required_and_forbidden():
    X = load_network("asia").sample(1000, random_state=0)
    search = HillClimbSearch(
        required=[("xray", "asia")], forbidden=[("smoke", "lung"), ("lung", "smoke")]
    ).fit(X)
    assert ("xray", "asia") in search.dag_
    assert not {("smoke", "lung"), ("lung", "smoke")} & set(search.dag_)
    few = HillClimbSearch(allowed=[("smoke", "lung")]).fit(X)
    assert few.dag_ == [("smoke", "lung")]
    with pytest.raises(DataError, match="no column of X. Did you mean 'smoke'"):
        HillClimbSearch(forbidden=[("smok", "lung")]).fit(X)


def test_required_edges_that_make_a_cycle_are_named():
    X = pd.DataFrame({"rain": [0, 1, 1, 0], "wet": [0, 1, 0, 1], "cold": [1, 1, 0, 0]})
    ring = [("rain", "wet"), ("wet", "cold"), ("cold", "rain")]
    for start in ("tree", "empty"):
        with pytest.raises(DataError, match="cycle: rain → wet → cold → rain"):
            HillClimbSearch(required=ring, start=start).fit(X)
    with pytest.raises(DataError, match="cycle: rain → wet → cold → rain"):
        HillClimbSearch(start=ring).fit(X)


@pytest.mark.parametrize("seed", range(2))
def test_no_tree_has_a_larger_likelihood(seed):
    X = random_network(seed, n=5, most_states=2).sample(100, random_state=0)
    names = list(X.columns)
    tree = ChowLiuTree().fit(X)
    assert tree.score_ == pytest.approx(score_structure(X, tree.dag_, "loglik"), rel=1e-12)
    for code in product(range(5), repeat=3):  # Prüfer: all 125 trees
        edges = pruefer(list(code), 5)
        assert score_structure(X, [(names[a], names[b]) for a, b in edges], "loglik") <= tree.score_ + 1e-9
    other = ChowLiuTree(root=names[-1]).fit(X)
    assert other.score_ == pytest.approx(tree.score_, rel=1e-12)


def pruefer(code, n):
    """The tree of a Prüfer code, directed away from node 0."""
    degree = [1 + code.count(v) for v in range(n)]
    near = [set() for _ in range(n)]
    for v in code:
        leaf = degree.index(1)
        near[leaf].add(v)
        near[v].add(leaf)
        degree[leaf] -= 1
        degree[v] -= 1
    a, b = (v for v in range(n) if degree[v] == 1)
    near[a].add(b)
    near[b].add(a)
    edges, seen, waiting = [], {0}, [0]
    for v in waiting:
        for u in near[v] - seen:
            edges.append((v, u))
            seen.add(u)
            waiting.append(u)
    return edges


def test_tests_find_a_collider_and_a_chain():
    tables = {
        "a": [0.5, 0.5],
        "b": [0.4, 0.6],
        "c": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]],
        "d": [[0.8, 0.2], [0.2, 0.8]],
    }
    X = BayesianNetwork([("a", "c"), ("b", "c"), ("c", "d")], tables=tables).sample(5000, random_state=0)
    for test in ("chi2", "g"):
        found = PC(alpha=0.001, test=test).fit(X)
        assert (sorted(found.pattern_[0]), found.pattern_[1]) == ([("a", "c"), ("b", "c"), ("c", "d")], [])
        assert found.separators_["a", "b"] == () and found.separators_["a", "d"] == ("c",)
        assert sorted(found.dag_) == [("a", "c"), ("b", "c"), ("c", "d")]
    chain = BayesianNetwork(
        [("a", "b"), ("b", "c")],
        tables={"a": [0.5, 0.5], "b": [[0.8, 0.2], [0.3, 0.7]], "c": [[0.7, 0.3], [0.1, 0.9]]},
    )
    assert PC(alpha=0.001).fit(chain.sample(5000, random_state=1)).pattern_ == ([], [("a", "b"), ("b", "c")])


def test_bootstrap_is_sure_of_strong_edges():
    X = load_network("sprinkler").sample(500, random_state=0)
    table = edge_bootstrap(X, 8, random_state=0)
    assert table.strength.iloc[0] == 1.0 and set(table.a.iloc[:2]) == {"rain", "sprinkler"}
    pd.testing.assert_frame_equal(table, edge_bootstrap(X, 8, random_state=0))


def test_missing_cells_are_refused_by_searches():
    X = load_network("sprinkler").sample(50, random_state=0).astype(object)
    X.iloc[3, 1] = None
    for search in (HillClimbSearch(), ExactSearch(), ChowLiuTree(), PC()):
        with pytest.raises(ValueError, match="NaN|missing"):
            search.fit(X)
    with pytest.raises(DataError, match="HillClimbSearch"):
        ExactSearch("bdeu").fit(np.zeros((5, 25)))


# classifiers and other models


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = (y[:, None] + rng.integers(0, 3, (300, 4)) * rng.integers(0, 2, (300, 4))) % 4
    return pd.DataFrame(X, columns=list("abcd")), np.array(["low", "mid", "top"])[y]


def test_naive_bayes_is_a_network(classes):
    X, y = classes
    nb = CategoricalNB().fit(X, y)
    network = BayesianNetwork.from_model(nb)
    for i in range(10):
        np.testing.assert_allclose(
            network.query("class", dict(X.iloc[i])).values, nb.predict_proba(X.iloc[[i]])[0], rtol=1e-9
        )
    ours = BayesianNetworkClassifier("naive", prior="mle").fit(X, y)
    theirs = CategoricalNB(alpha=0.0).fit(X, y)
    good = np.isfinite(theirs.predict_log_proba(X)).all(axis=1)
    np.testing.assert_allclose(ours.predict_proba(X)[good], theirs.predict_proba(X)[good], rtol=1e-9)


@pytest.mark.parametrize("structure", ["tan", "naive", "search"])
def test_missing_cells_are_summed_out_by_the_classifier(classes, structure):
    X, y = classes
    model = BayesianNetworkClassifier(structure).fit(X, y)
    assert model.score(X, y) > 0.9
    holes = X.iloc[:20].astype(float).copy()
    holes.iloc[:, 1] = np.nan
    holes.iloc[::2, 3] = np.nan
    proba = model.predict_proba(holes)
    for i in range(20):
        seen = {k: v for k, v in holes.iloc[i].items() if v == v}
        np.testing.assert_allclose(proba[i], model.network_.query("class", seen).values, rtol=1e-9)


def test_given_structure_and_target_name(classes):
    X, y = classes
    given = BayesianNetwork([("kind", "a"), ("kind", "b"), ("a", "b")], nodes=["kind"])
    model = BayesianNetworkClassifier(given, target="kind").fit(X, y)
    assert model.parents_ == {"a": ["kind"], "b": ["kind", "a"], "c": [], "d": [], "kind": []}
    with pytest.raises(DataError, match="target"):
        BayesianNetworkClassifier(given).fit(X, y)


def test_hidden_chain_is_a_network():
    from gnomon.sequence import CategoricalHMM

    rng = np.random.default_rng(0)
    model = CategoricalHMM(2, random_state=0, n_iter=3, tol=0.0).fit(rng.integers(0, 3, (60, 1)))
    network = BayesianNetwork.from_model(model, n_steps=4)
    symbols = [0, 2, 1, 1]
    seen = {f"x{t}": s for t, s in enumerate(symbols)}
    assert np.log(network.probability(seen)) == pytest.approx(
        model.score(np.array(symbols)[:, None]), rel=1e-9
    )
    posterior = model.predict_proba(np.array(symbols)[:, None])
    for t in range(4):
        np.testing.assert_allclose(network.query(f"z{t}", seen).values, posterior[t], rtol=1e-9)


def test_mixture_and_latent_classes_are_networks():
    X = np.array(
        [[int(bit) for bit in row] for row in ["111", "110", "101", "000", "001", "010", "111", "000"]]
    )
    model = LatentClassModel(2, random_state=0).fit(X)
    network = model.to_bayesian_network()
    np.testing.assert_allclose(network.score_samples(X), model.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(
        network.query("class", {"x0": 1, "x1": 0, "x2": 1}).values, model.predict_proba(X[[2]])[0], rtol=1e-9
    )
    assert model.joint_tensor().sum() == pytest.approx(1.0)
    one = LatentClassModel(1, random_state=0).fit(X)
    np.testing.assert_allclose(
        one.joint_tensor(),
        np.multiply.outer(
            np.multiply.outer(*[np.bincount(c) / 8 for c in X.T[:2]]), np.bincount(X[:, 2]) / 8
        ),
    )


def test_tied_columns_share_their_table():
    X = np.array(
        [
            [int(bit) for bit in row]
            for row in ["1111", "1110", "1011", "0000", "0001", "0100", "1111", "0000"]
        ]
    )
    model = LatentClassModel(2, tie_features=True, random_state=0).fit(X)
    tables = list(model.tables_.values())
    for table in tables[1:]:
        np.testing.assert_array_equal(table, tables[0])
    tensor = model.joint_tensor()
    for axes in permutations(range(4)):
        np.testing.assert_allclose(tensor, tensor.transpose(axes), atol=1e-15)
    assert model.n_parameters_ == 3 and (np.diff(model.trace_.objective) >= -1e-9).all()
    with pytest.raises(DataError, match="same states"):
        LatentClassModel(tie_features=True).fit([[0, 1], [1, 2]])


def test_linear_gaussian_covariance_and_regression():
    rng = np.random.default_rng(0)
    names = list("abcde")
    edges = [(names[i], names[j]) for i in range(5) for j in range(i + 1, 5) if rng.random() < 0.6]
    slopes = {edge: float(rng.normal()) for edge in edges}
    spread = dict(zip(names, rng.random(5) + 0.5))
    model = LinearGaussianNetwork(edges, slopes, dict(zip(names, rng.normal(size=5))), spread, nodes=names)
    B = np.zeros((5, 5))
    for (a, b), w in slopes.items():
        B[names.index(b), names.index(a)] = w
    inverse = np.linalg.inv(np.eye(5) - B)
    np.testing.assert_allclose(
        model.joint().covariance, inverse @ np.diag(list(spread.values())) @ inverse.T, atol=1e-12
    )
    X = model.sample(2000, random_state=1)
    fitted = LinearGaussianNetwork(edges).fit(X)
    child = edges[-1][1]
    own = [a for a, b in edges if b == child]
    A = np.column_stack([X[own], np.ones(len(X))])
    w, *_ = np.linalg.lstsq(A, X[child], rcond=None)
    np.testing.assert_allclose([fitted.coefficients_[a, child] for a in own], w[:-1], rtol=1e-8)
    assert fitted.variances_[child] == pytest.approx(float(((X[child] - A @ w) ** 2).mean()), rel=1e-9)
    assert fitted.score(X) * 2000 == pytest.approx(fitted.log_likelihood_, rel=1e-10)
    assert fitted.d_separated(names[0], names[1], list(names[2:])) in (True, False)


def test_climb_starts_at_the_tree_as_far_as_it_is_permitted():
    X = random_network(5, n=6).sample(400, random_state=0)
    tree = ChowLiuTree().fit(X).dag_
    skeleton = {frozenset(edge) for edge in tree}
    first = next(HillClimbSearch(tabu=0).iterate(X))
    assert len(skeleton ^ {frozenset(edge) for edge in first.dag_}) <= 1, "one move from the tree"
    turned = [(b, a) for a, b in tree]
    found = HillClimbSearch(required=turned, max_iter=1, tabu=0).fit(X)
    assert set(turned) <= set(found.dag_), "required edges come first, against the tree's direction"
    assert HillClimbSearch(max_parents=0).fit(X).dag_ == []
    with pytest.raises(DataError, match="cycle"):
        HillClimbSearch(required=[("v0", "v1"), ("v1", "v0")]).fit(X)


def test_order_of_states_does_not_change_the_climb():
    model = load_network("asia")
    X = model.sample(300, random_state=0)
    turned = X.apply(lambda column: column.cat.reorder_categories(["no", "yes"]))
    assert HillClimbSearch().fit(X).dag_ == HillClimbSearch().fit(turned).dag_


def test_numbers_are_put_into_bins_of_equal_counts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    X[:, 0] += 3.0 * y
    X[:, 2] = np.round(X[:, 2]).clip(-1, 1)
    X[0, 1] = np.nan
    model = BayesianNetworkClassifier("naive", n_bins=4).fit(X, y)
    assert set(model.bin_edges_) == {"0", "1"}, "three different numbers are states as they are"
    assert np.bincount(np.searchsorted(model.bin_edges_["0"], X[:, 0])).tolist() == [100] * 4
    assert model.score(X, y) > 0.85 and model.predict_proba([[99.0, -99.0, 7.0]])[0, 1] > 0.9
    frame = pd.DataFrame(X, columns=list("abc"))
    named = BayesianNetworkClassifier("naive", n_bins=4).fit(frame, y)
    np.testing.assert_array_equal(named.predict_proba(frame), model.predict_proba(X))
    np.testing.assert_array_equal(
        BayesianNetworkClassifier("naive", n_bins=4).fit(pl.from_pandas(frame), y).predict_proba(frame),
        model.predict_proba(X),
    )
    weight = rng.integers(3, size=400)
    one = BayesianNetworkClassifier(n_bins=5).fit(X, y, sample_weight=weight)
    many = BayesianNetworkClassifier(n_bins=5).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for name, edges in one.bin_edges_.items():
        np.testing.assert_allclose(many.bin_edges_[name], edges, rtol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), many.predict_proba(X), rtol=1e-9)
