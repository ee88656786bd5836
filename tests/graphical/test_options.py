"""Options and small methods, one value after the other."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.datasets import load_network
from gnomon.graphical import (
    BayesianNetwork,
    ChowLiuTree,
    Factor,
    FactorGraph,
    GridField,
    LatentClassModel,
    MarkovRandomField,
    edge_bootstrap,
    inference_plan,
    treewidth,
)

CHAIN = BayesianNetwork(
    [("a", "b"), ("b", "c")],
    tables={"a": [0.3, 0.7], "b": [[0.9, 0.1], [0.4, 0.6]], "c": [[0.8, 0.2], [0.5, 0.5]]},
)


def test_factor_as_a_series_and_without_its_maximizers():
    factor = Factor(["x", "y"], [[1, 5], [4, 2]], {"x": ["p", "q"], "y": [0, 1]}, log_scale=np.log(10))
    series = factor.to_frame()
    assert series["p", 1] == pytest.approx(50) and list(series.index.names) == ["x", "y"]
    best = factor.max_out("x", return_argmax=False)
    assert isinstance(best, Factor)
    np.testing.assert_allclose(best.values, [40, 50])
    found, codes = factor.max_out("x")
    np.testing.assert_allclose(found.values, best.values)
    np.testing.assert_array_equal(codes, [[1], [0]])
    np.testing.assert_allclose((2 * factor).values, [[20, 100], [80, 40]])
    assert factor.normalize()[1] == pytest.approx(np.log(120))


def test_factor_information_by_hand():
    joint = Factor(["x", "y"], [[0.5, 0.0], [0.0, 0.5]])
    assert joint.entropy() == pytest.approx(np.log(2))
    assert joint.mutual_information("x", "y") == pytest.approx(np.log(2))
    gap = joint.independence_gap()
    assert gap.rank == 2 and gap.residual == pytest.approx(0.25)
    assert gap.mutual_information == pytest.approx(np.log(2))


def test_graphs_with_and_without_loops():
    pair = np.ones((2, 2))
    ring = [Factor(["a", "b"], pair), Factor(["b", "c"], pair), Factor(["c", "a"], pair)]
    assert FactorGraph(ring[:2]).is_tree() and not FactorGraph(ring).is_tree()
    assert not FactorGraph([ring[0], ring[0]]).is_tree(), "two factors between the same variables are a loop"
    graph = MarkovRandomField(ring).to_factor_graph()
    assert graph.edges() == [(0, "a"), (0, "b"), (1, "b"), (1, "c"), (2, "c"), (2, "a")]
    assert treewidth(graph)[:2] == (2, 2) and treewidth(CHAIN.to_factor_graph())[:2] == (1, 1)
    assert GridField((3, 4), 2).n_edges() == 3 * 3 + 4 * 2


def test_plan_as_a_table():
    plan = inference_plan(CHAIN, "c", order=["a", "b"])
    frame = plan.to_frame()
    assert frame["variable"].tolist() == ["a", "b"] and frame["entries"].tolist() == [4, 4]
    assert [name for name, _ in plan.messages()] == ["a", "b"]
    message = dict(plan.messages())["a"]
    np.testing.assert_allclose(message.values, [0.3 * 0.9 + 0.7 * 0.4, 0.3 * 0.1 + 0.7 * 0.6])
    assert plan.bytes == 8 * plan.largest == 32


def test_network_at_a_glance():
    asia = load_network("asia")
    frame = asia.summary()
    assert set(frame.loc["either", "parents"]) == {"tub", "lung"}
    assert frame.loc["dysp", "parameters"] == 4 and frame.parameters.sum() == 18
    assert frame.loc["smoke", "blanket"] == 2 and set(frame.loc["either", "children"]) == {"xray", "dysp"}
    assert CHAIN.order_ == ["a", "b", "c"] and CHAIN.children_ == {"a": ["b"], "b": ["c"], "c": []}
    assert CHAIN.pattern() == ([], [("a", "b"), ("b", "c")])
    assert sorted(asia.moral_graph())[0] == ("asia", "tub") and len(asia.moral_graph()) == 10


def test_many_variables_are_reordered_at_random():
    edges = [(f"v{i}", f"v{i + 1}") for i in range(9)]
    found = BayesianNetwork(edges).compare_orderings(n_orders=7)
    assert (
        len(found) == 8 and found.parameters.min() == 1 + 9 * 2 and found.parameters.is_monotonic_increasing
    )


@pytest.mark.parametrize(("chains", "thin"), [(1, 1), (4, 1), (4, 5), (50, 2)])
def test_chains_and_thinning_draw_from_the_same_distribution(chains, thin):
    drawn = CHAIN.sample(4000, {"c": 1}, method="gibbs", chains=chains, thin=thin, random_state=0)
    assert len(drawn) == 4000 and (drawn["c"] == 1).all()
    exact = CHAIN.query("a", {"c": 1})[0]
    assert (drawn["a"] == 0).mean() == pytest.approx(exact, abs=0.05)  # 6 standard errors of free draws
    again = CHAIN.sample(4000, {"c": 1}, method="gibbs", chains=chains, thin=thin, random_state=0)
    pd.testing.assert_frame_equal(drawn, again)
    with pytest.raises(DataError, match="thin and chains at least 1"):
        CHAIN.sample(3, {"c": 1}, method="gibbs", chains=chains, thin=0)


def test_annealing_needs_chains_and_steps():
    field = MarkovRandomField([Factor(["a", "b"], [[3.0, 1.0], [1.0, 3.0]])])
    value = field.log_partition("ais", n_chains=500, n_steps=50, random_state=0)
    assert value == pytest.approx(np.log(8), abs=0.05)
    other = field.log_partition("ais", n_chains=50, n_steps=50, random_state=0)
    assert other != value and other == pytest.approx(np.log(8), abs=0.3)
    for options in (dict(n_chains=0), dict(n_steps=0)):
        with pytest.raises(DataError, match=f"{next(iter(options))} must be a whole number, at least 1"):
            field.log_partition("ais", **options)


def test_smoothing_of_a_tree_is_added_to_pairs():
    X = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    rough = ChowLiuTree().fit(X).mutual_information_[0, 1]
    assert rough == pytest.approx(np.log(2))
    joint = np.array([[3.0, 1.0], [1.0, 3.0]]) / 8
    expected = (joint * np.log(joint / 0.25)).sum()
    assert ChowLiuTree(smoothing=1.0).fit(X).mutual_information_[0, 1] == pytest.approx(expected)


def test_smoothing_of_latent_classes_leaves_no_zeros():
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [1, 0]])
    one = LatentClassModel(1, smoothing=0.5, n_init=1, random_state=0).fit(X)
    np.testing.assert_allclose(one.tables_["x0"], [[2.5 / 6, 3.5 / 6]])  # (2 + ½) / (5 + 1)
    np.testing.assert_allclose(one.joint_tensor().sum(), 1.0)
    for init in ("random", "kmeans", "k-means++", "random_from_data"):
        two = LatentClassModel(2, smoothing=0.1, n_init=2, init_params=init, random_state=0).fit(X)
        assert (two.probabilities_ > 0).all()
        np.testing.assert_allclose(two.joint_tensor(), two.to_bayesian_network().query(["x0", "x1"]).values)


def test_bootstrap_counts_edges_either_way():
    class Turns:
        """Finds a – b in every resample and turns it in every second one; c never has an edge."""

        found = 0
        variables_, states_ = ["a", "b", "c"], {}

        def get_params(self, deep=True):
            return {}

        def set_params(self, **options):
            return self

        def __sklearn_clone__(self):
            return self

        def fit(self, X, sample_weight=None):
            assert sample_weight is None or sample_weight.sum() == len(X)
            self.adjacency_ = np.zeros((3, 3), dtype=int)
            self.adjacency_[(1, 0) if Turns.found % 3 == 1 else (0, 1)] = 1
            Turns.found += 1
            return self

    table = edge_bootstrap(np.zeros((10, 3)), 6, search=Turns(), random_state=0)
    assert table.values.tolist() == [["a", "b", 1.0, 4 / 6]]


@pytest.mark.parametrize("method", ["likelihood_weighting", "rejection"])
def test_samples_tell_the_probability_of_soft_evidence_too(method):
    soft = {"b": [0.2, 0.6]}
    exact = CHAIN.query("a", {"c": 1}, soft_evidence=soft)
    assert np.exp(exact.log_evidence) == pytest.approx(
        0.55 * 0.2 * 0.2 + 0.45 * 0.5 * 0.6
    )  # Σ P(b) P(c = 1 | b) l(b)
    found = CHAIN.query("a", {"c": 1}, soft_evidence=soft, method=method, n_samples=20_000, random_state=0)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.03)  # 4 standard errors
    assert (np.abs(found.values - exact.values) <= 4 * found.standard_error).all()


def test_errors_of_equal_weights_are_those_of_a_share():
    found = CHAIN.query("a", {"c": 1}, method="rejection", n_samples=500, random_state=0)
    share = found.values
    np.testing.assert_allclose(found.standard_error, np.sqrt(share * (1 - share) / 500))
    assert found.effective_size == pytest.approx(500)


def test_errors_of_weights_follow_the_ratio_of_their_sums():
    seen = {"c": 1}
    found = CHAIN.query(["a", "b"], seen, method="likelihood_weighting", n_samples=300, random_state=3)
    rows, weight = CHAIN.weighted_sample(300, seen, random_state=3)
    np.testing.assert_allclose(weight, np.where(rows["b"] == 0, 0.2, 0.5))  # P(c = 1 | b)
    for a in (0, 1):
        for b in (0, 1):
            here = ((rows["a"] == a) & (rows["b"] == b)).to_numpy()
            share = weight[here].sum() / weight.sum()
            error = np.sqrt((weight**2 * (here - share) ** 2).sum()) / weight.sum()
            assert found.values[a, b] == pytest.approx(share)
            assert found.standard_error[a, b] == pytest.approx(error)
    assert found.effective_size == pytest.approx(weight.sum() ** 2 / (weight**2).sum())


@pytest.mark.parametrize("method", ["likelihood_weighting", "rejection", "gibbs"])
def test_soft_evidence_that_no_sample_agrees_with(method):
    with pytest.raises(DataError, match="likelihood zero to every sample"):
        CHAIN.query("a", soft_evidence={"b": [0.0, 0.0]}, method=method, n_samples=50, random_state=0)


def test_neighbors_and_weights_order_differently():
    """Four nodes that are all joined, and x with its hundred states beside two of them."""
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    factors = [Factor(pair, np.ones((2, 2))) for pair in pairs]
    factors += [Factor(["a", "x"], np.ones((2, 100))), Factor(["b", "x"], np.ones((2, 100)))]
    plans = {name: inference_plan(factors, "a", order=name) for name in ("min_neighbors", "min_weight")}
    assert plans["min_neighbors"].order[0] == "x"  # 2 neighbors; c and d have 3
    assert plans["min_weight"].order[0] == "c"  # 16 entries, and x makes 400
    assert plans["min_neighbors"].sizes[0] == 400 and plans["min_weight"].sizes[0] == 16
