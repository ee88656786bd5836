"""Numbers of the lessons, each worked out by enumeration."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.datasets import load_network
from gnomon.graphical import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    BeliefPropagation,
    ChowLiuTree,
    ExactSearch,
    Factor,
    FactorGraph,
    GridField,
    HillClimbSearch,
    JunctionTree,
    LatentClassModel,
    LinearGaussianNetwork,
    MarkovRandomField,
    inference_plan,
    score_structure,
    treewidth,
)

ROWS = ["000", "000", "001", "011", "011", "100", "100", "101", "111", "111", "111", "110"]
D12 = pd.DataFrame([[int(bit) for bit in row] for row in ROWS], columns=list("ABC"))


def near(value):
    return pytest.approx(value, rel=1e-9, abs=5e-11)


def test_alarm_story_by_hand():
    story = load_network("alarm_story")
    yes = {"alarm": "yes"}
    assert story.query("alarm")["yes"] == near(0.0199)
    assert story.query("burglary", yes)["yes"] == near(0.5025125628)
    assert story.query("earthquake", yes)["yes"] == near(0.5025125628)
    assert story.query("burglary", {**yes, "radio": "yes"})["yes"] == near(0.01)
    assert story.query("earthquake", {**yes, "radio": "yes"})["yes"] == near(1.0)
    assert story.query("burglary", {**yes, "radio": "no"})["yes"] == near(1.0)
    assert story.query(["earthquake", "burglary"], yes)["yes", "yes"] == near(0.0050251256)
    assert story.query("radio", yes)["yes"] == near(0.5025125628)
    assert story.query("burglary", {"radio": "yes"})["yes"] == near(0.01)
    found = story.explaining_away(yes, {"burglary": "yes"}, {"radio": "yes"})
    assert found.verdict.startswith("explained away")
    assert (found.prior, found.given_effect, found.given_both) == (near(0.01), near(0.5025125628), near(0.01))


def test_coins_are_independent_until_compared():
    coins = load_network("coins")
    assert coins.query("x3")["equal"] == near(0.5)
    np.testing.assert_allclose(coins.query(["x1", "x2"]).values, 0.25)
    assert coins.query(["x1", "x2"], {"x3": "equal"})["heads", "heads"] == near(0.5)
    assert coins.d_separated("x1", "x2") and not coins.d_separated("x1", "x2", "x3")
    assert coins.is_independent("x1", "x2") and not coins.is_independent("x1", "x2", "x3")
    assert coins.is_independent("x1", "x3"), "the numbers know more than the graph"


def test_sprinkler_by_hand():
    lawn = load_network("sprinkler")
    wet = {"wet": "yes"}
    assert lawn.query("wet")["yes"] == near(0.57375)
    assert lawn.query("rain", wet)["yes"] == near(7 / 17)
    assert lawn.query("rain", {**wet, "sprinkler": "yes"})["yes"] == near(11 / 41)
    assert lawn.query("rain", {**wet, "sprinkler": "no"})["yes"] == near(1.0)
    assert lawn.query("sprinkler", wet)["yes"] == near(0.8039215686)
    assert lawn.query("sprinkler", {**wet, "rain": "yes"})["yes"] == near(0.5238095238)
    assert lawn.query("rain", {"wet": "no"})["yes"] == near(0.0322580645)
    assert lawn.query("rain", do=wet)["yes"] == near(0.25), "making the grass wet says nothing about rain"
    assert lawn.query("wet", do={"rain": "yes"})["yes"] == near(0.945)
    rows, weights = lawn.weighted_sample(200, wet, random_state=0)
    table = {("yes", "yes"): 0.99, ("yes", "no"): 0.9, ("no", "yes"): 0.9, ("no", "no"): 0.0}
    assert [table[r, s] for r, s in zip(rows.rain, rows.sprinkler)] == pytest.approx(weights.tolist())


CLINIC = {
    (): {"tub": 0.0104, "lung": 0.055, "bronc": 0.45, "either": 0.064828, "xray": 0.11029004, "dysp": 0.4359706},
    (("xray", "yes"),): {
        "tub": 0.0924108832, "lung": 0.4887114013, "bronc": 0.5063261560, "either": 0.5760396859,
        "smoke": 0.6877538534,
    },
    (("dysp", "yes"),): {
        "tub": 0.0188453075, "lung": 0.1027592228, "bronc": 0.8339673363, "smoke": 0.6339968796
    },
    (("dysp", "yes"), ("xray", "yes")): {
        "tub": 0.1139333254, "lung": 0.6212527967, "bronc": 0.6818685385, "either": 0.7287250930,
        "smoke": 0.7856103861,
    },
    (("asia", "yes"), ("dysp", "yes"), ("xray", "no")): {
        "tub": 0.0022486953, "lung": 0.0025504190, "bronc": 0.8627607730, "either": 0.0046715933
    },
}  # fmt: skip
CHANCES = {0: 1.0, 1: 0.4359706, 2: 0.0706701044, 3: 0.0035131483}


@pytest.mark.parametrize("seen", CLINIC, ids=str)
def test_chest_clinic(seen):
    asia = load_network("asia")
    evidence = dict(seen)
    found = asia.marginals(evidence)
    for name, p in CLINIC[seen].items():
        assert found[name]["yes"] == pytest.approx(p, abs=6e-11)
        assert asia.query(name, evidence, method="elimination")["yes"] == pytest.approx(p, abs=6e-11)
    if "xray" not in evidence or len(evidence) > 1:
        assert np.exp(found["tub"].log_evidence) == pytest.approx(CHANCES[len(evidence)], abs=6e-11)


def test_chest_clinic_joint_and_explanations():
    asia = load_network("asia")
    joint = asia.query(["lung", "bronc"], {"dysp": "yes"})
    np.testing.assert_allclose(
        joint.values.ravel(), [0.0650273206, 0.0377319021, 0.7689400157, 0.1283007616], atol=6e-11
    )
    none = asia.mpe()
    assert set(none.states.values()) == {"no"} and np.exp(none.log_probability) == near(0.2903619757)
    short = asia.mpe({"dysp": "yes"})
    assert {v for v, s in short.states.items() if s == "yes"} == {"smoke", "bronc", "dysp"}
    assert np.exp(short.log_probability) == near(0.20111652) and np.exp(short.log_posterior) == near(
        0.4613075285
    )
    both = asia.mpe({"dysp": "yes", "xray": "yes"})
    assert {v for v, s in both.states.items() if s == "no"} == {"asia", "tub"}
    assert np.exp(both.log_probability) == near(0.0259334460)
    assert np.exp(both.log_posterior) == near(0.3669648746)


def test_chest_clinic_separations():
    asia = load_network("asia")
    said = [
        ("asia", "smoke", (), True), ("asia", "smoke", "dysp", False), ("asia", "smoke", "xray", False),
        ("tub", "lung", (), True), ("tub", "lung", "either", False), ("xray", "dysp", "either", True),
        ("lung", "bronc", "smoke", True), ("lung", "bronc", ("smoke", "dysp"), False),
        ("asia", "xray", "either", True), ("tub", "bronc", ("smoke", "either"), True),
        ("tub", "bronc", ("smoke", "dysp"), False),
    ]  # fmt: skip
    for a, b, given, answer in said:
        assert asia.d_separated(a, b, given) is answer, (a, b, given)
        assert (asia.active_path(a, b, given).path is None) is answer
        if answer:
            assert asia.is_independent(a, b, given)
    pairs = {frozenset(pair) for a, b, given in asia.independencies(0) for pair in [(a, b)]}
    names = [
        ("asia", "bronc"),
        ("asia", "lung"),
        ("asia", "smoke"),
        ("bronc", "tub"),
        ("lung", "tub"),
        ("smoke", "tub"),
    ]
    assert pairs == {frozenset(pair) for pair in names}
    why = asia.active_path("asia", "smoke")
    assert (["asia", "tub", "either", "lung", "smoke"], "either", "collider") in why.blocked
    assert asia.markov_blanket("lung") == ["tub", "smoke", "either"]
    assert asia.local_independencies()["xray"] == (
        ["asia", "tub", "smoke", "lung", "bronc", "dysp"],
        ["either"],
    )


def test_parameter_counts():
    assert load_network("asia").n_parameters_ == 18
    assert load_network("asia").parameter_count("full") == 255
    assert load_network("sprinkler").n_parameters_ == 6
    model = BayesianNetwork([("A", "C"), ("B", "C"), ("C", "D")])
    assert (model.parameter_count(), model.parameter_count("full")) == (8, 15)
    states = {"X": range(4), "Y": range(3), "H": range(2)}
    star = BayesianNetwork([("H", "X"), ("H", "Y")], states=states)
    assert star.parameter_count() == star.parameter_count("conditional", given="H") == 11
    assert star.parameter_count("independent") == 6
    with pytest.raises(DataError, match="given= one of"):
        star.parameter_count("conditional")


def test_orderings_of_a_collider_with_a_child():
    edges = [("A", "C"), ("B", "C"), ("C", "D")]
    table = BayesianNetwork(edges).compare_orderings()
    assert table.parameters.value_counts().to_dict() == {8: 2, 9: 12, 11: 4, 14: 2, 15: 4}
    rng = np.random.default_rng(0)
    tables = {
        "A": [0.3, 0.7],
        "B": [0.6, 0.4],
        "C": rng.dirichlet([1, 1], size=(2, 2)),
        "D": rng.dirichlet([1, 1], size=2),
    }
    model = BayesianNetwork(edges, tables=tables, nodes=list("ABCD"))
    other = model.reorder(["D", "C", "A", "B"])
    assert other.n_parameters_ == 9
    assert {v: set(p) for v, p in other.parents_.items()} == {
        "D": set(),
        "C": {"D"},
        "A": {"C"},
        "B": {"A", "C"},
    }
    np.testing.assert_allclose(
        other.joint().permute(list("ABCD")).values, model.joint().permute(list("ABCD")).values, atol=1e-14
    )
    assert model.reorder(["D", "A", "B", "C"]).n_parameters_ == 15
    assert len(model.best_order()) == 4 and model.reorder(model.best_order()).n_parameters_ == 8
    short = BayesianNetwork(edges[:2], tables={k: tables[k] for k in "ABC"})
    assert short.reorder(["C", "A", "B"]).n_parameters_ == 7


def test_cost_of_elimination():
    ten = {v: [f"s{i}" for i in range(10)] for v in "ABCD"}
    tables = {
        "A": np.full(10, 0.1), "B": np.full(10, 0.1), "C": np.full((10, 10, 10), 0.1), "D": np.full((10, 10), 0.1)
    }  # fmt: skip
    model = BayesianNetwork([("A", "C"), ("B", "C"), ("C", "D")], states=ten, tables=tables)
    for order, cost, width in (("ABC", 1200, 2), ("BAC", 1200, 2), ("CAB", 11_100, 3)):
        plan = inference_plan(model, "D", order=list(order))
        assert (plan.cost, plan.width) == (cost, width)
    asia = load_network("asia")
    good = ["asia", "smoke", "tub", "lung", "bronc", "dysp", "either"]
    bad = ["either", "lung", "bronc", "smoke", "tub", "asia", "dysp"]
    for order, cost, width in ((good, 44, 2), (bad, 204, 5)):
        plan = inference_plan(asia, "xray", order=order, prune=False)
        assert (plan.cost, plan.width) == (cost, width)
        assert plan.run()["yes"] == near(0.11029004)
    assert inference_plan(asia, "xray").pruned == ["bronc", "dysp"]
    steps = list(inference_plan(asia, "xray", order=good).messages())
    assert [name for name, _ in steps] == ["asia", "smoke", "tub", "lung", "either"]
    np.testing.assert_allclose(steps[0][1].values, [0.0104, 0.9896])


def test_widths_of_known_graphs():
    path = [(i, i + 1) for i in range(5)]
    cycle = [(i, (i + 1) % 6) for i in range(6)]
    grid = [((r, c), (r, c + 1)) for r in range(3) for c in range(2)] + [
        ((r, c), (r + 1, c)) for r in range(2) for c in range(3)
    ]
    long = [((r, c), (r, c + 1)) for r in range(3) for c in range(3)] + [
        ((r, c), (r + 1, c)) for r in range(2) for c in range(4)
    ]
    full = [(i, j) for i in range(5) for j in range(i)]
    petersen = (
        [(i, (i + 1) % 5) for i in range(5)]
        + [(i, i + 5) for i in range(5)]
        + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    )
    for edges, width in ((path, 1), (cycle, 2), (grid, 3), (long, 3), (full, 4), (petersen, 4)):
        named = [(str(a), str(b)) for a, b in edges]
        low, high, order = treewidth(named)
        assert (low, high) == (width, width) and len(order) == len({v for edge in named for v in edge})
        assert treewidth(named, "exact")[:2] == (width, width)
        assert treewidth(named, "greedy")[0] <= width <= treewidth(named, "greedy")[1]
    asia = load_network("asia")
    assert len(asia.moral_graph()) == 10 and treewidth(asia)[:2] == (2, 2)
    assert JunctionTree(asia).width_ == 2


def test_polytree_with_a_pruned_leaf():
    tables = {
        "D": [0.3, 0.7], "A": [0.6, 0.4], "B": [[0.8, 0.2], [0.1, 0.9]],
        "C": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]],
        "E": [[0.7, 0.3], [0.25, 0.75]], "F": [[0.5, 0.5], [0.1, 0.9]],
    }  # fmt: skip
    model = BayesianNetwork([("D", "B"), ("B", "C"), ("A", "C"), ("C", "E"), ("E", "F")], tables=tables)
    assert model.is_polytree()
    for method in ("polytree", "elimination", "junction_tree", "enumeration"):
        np.testing.assert_allclose(model.query("E", {"D": 0}, method=method).values, [0.5452, 0.4548])
        np.testing.assert_allclose(model.query("E", {"D": 1}, method=method).values, [0.4129, 0.5871])
        np.testing.assert_allclose(
            model.query("D", {"F": 1}, method=method).values, [0.2845427587, 0.7154572413], atol=6e-11
        )
    plan = inference_plan(model, "E", {"D": 0}, order="polytree")
    assert plan.pruned == ["F"] and plan.order == ["B", "A", "C"] and plan.width <= 2
    for order in ("ABC", "BAC"):
        np.testing.assert_allclose(
            inference_plan(model, "E", {"D": 0}, order=list(order)).run().values, [0.5452, 0.4548]
        )


def test_factor_tree_by_hand():
    factors = [
        Factor(["A", "B"], [[4, 1], [1, 2]]),
        Factor(["B", "C"], [[1, 2], [2, 1]]),
        Factor("B", [0.6, 0.4]),
    ]
    found = BeliefPropagation().fit(FactorGraph(factors))
    assert found.exact_ and np.exp(found.log_partition_) == near(12.6)
    np.testing.assert_allclose(found.beliefs_["A"], [2 / 3, 1 / 3])
    np.testing.assert_allclose(found.beliefs_["B"], [5 / 7, 2 / 7])
    np.testing.assert_allclose(found.beliefs_["C"], [3 / 7, 4 / 7])
    np.testing.assert_allclose(found.messages_[0, "B"], [1, 3 / 5])
    np.testing.assert_allclose(found.messages_[1, "B"], [1, 1])
    best = BeliefPropagation(semiring="max").fit(factors)
    assert best.assignment_ == {"A": 0, "B": 0, "C": 1} and np.exp(best.log_partition_) == near(4.8)
    assert best.unique_


LOOP = [
    Factor(["A", "C"], [[4, 1], [1, 2]]),
    Factor(["A", "B"], [[3, 1], [1, 3]]),
    Factor(["B", "C"], [[1, 2], [2, 1]]),
    Factor(["C", "D"], [[5, 1], [1, 1]]),
]


def test_loopy_graph_by_hand():
    field = MarkovRandomField(LOOP)
    assert np.exp(field.log_partition()) == near(196)
    exact = {"A": 0.6836734694, "B": 0.5, "C": 0.8265306122, "D": 0.7755102041}
    for name, p in exact.items():
        assert field.query(name)[0] == pytest.approx(p, abs=6e-11)
        assert field.marginals()[name][0] == pytest.approx(p, abs=6e-11)
    best = field.mpe()
    assert best.states == dict.fromkeys("ACBD", 0) and np.exp(best.log_probability) == near(60)
    loopy = {"A": 0.6669819164, "B": 0.5, "C": 0.7968567403, "D": 0.7656189134}
    for options in (
        {"schedule": "flooding"},
        {"schedule": "residual"},
        {"schedule": "flooding", "damping": 0.4},
    ):
        found = BeliefPropagation(tol=1e-12, max_iter=500, **options).fit(LOOP)
        assert found.converged_ and not found.exact_ and found.residual_ <= 1e-12
        for name, p in loopy.items():
            assert found.beliefs_[name][0] == pytest.approx(p, abs=6e-11)


def test_undirected_triple_factor():
    triple = np.array([[[1 + (a == b) + (b == c) for b in range(2)] for a in range(2)] for c in range(2)])
    factors = [
        Factor(["C", "A", "B"], triple), Factor(["B", "D"], [[2, 1], [1, 2]]), Factor(["B", "E"], [[3, 1], [1, 3]]),
        Factor(["A"], [1, 1.5]),
    ]  # fmt: skip
    field = MarkovRandomField(factors)
    assert np.exp(field.log_partition()) == near(240)
    np.testing.assert_allclose(field.query("B").values, [0.475, 0.525])
    np.testing.assert_allclose(
        field.query(["D", "E"]).values, [[0.28125, 0.2104166667], [0.20625, 0.3020833333]], atol=6e-11
    )


def test_ising_grids():
    small = GridField.ising((2, 2), 0.5)
    assert small.log_partition() == near(3.2976420048)
    joint = small.to_field().query(["0,0", "1,1"]).values
    assert joint[0, 0] + joint[1, 1] - joint[0, 1] - joint[1, 0] == near(0.4084761544)
    square = GridField.ising((3, 3), 0.5, 0.1)
    assert square.log_partition() == near(8.0906794664)
    assert 2 * square.to_field().query("0,0")[1] - 1 == near(0.3886790497)
    pair = GridField.ising((1, 2), 0.5, 0.2)
    assert pair.log_partition() == near(1.5639875880)
    assert 2 * pair.to_field().query("0,0")[1] - 1 == near(0.2834823920)
    q, trace = pair._mean_field(1000, 1e-14)
    assert q[0, 0, 1] - q[0, 0, 0] == near(0.3647821983) and trace[-1] == near(1.4625538249)
    assert pair.log_partition("mean_field") == near(1.4625538249)
    assert pair.to_field().log_partition("mean_field") == near(1.4625538249)


def test_smallest_energy_of_a_grid():
    observed, cost = np.array([[0, 1, 0], [0, 0, 1]]), np.array([[1, 1.5, 1], [2, 1, 0.4]])
    unary = np.stack([cost * (observed != label) for label in (0, 1)], axis=2)
    one, two = (GridField((2, 3), 2, coupling, unary).segment() for coupling in (0.3, 0.6))
    assert one.exact and one.energy == near(1.3) and one.labels.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert two.energy == near(1.9) and not two.labels.any()


def test_linear_gaussian_by_hand():
    model = LinearGaussianNetwork(
        [("X", "Y"), ("X", "W"), ("Y", "W")],
        {("X", "Y"): 0.5, ("X", "W"): 1.0, ("Y", "W"): -1.0},
        {"X": 1.0, "Y": 2.0},
        {"X": 4.0, "Y": 1.0, "W": 0.25},
    )
    joint = model.joint()
    np.testing.assert_allclose(joint.mean, [1, 2.5, -1.5])
    np.testing.assert_allclose(joint.covariance, [[4, 2, 2], [2, 2, 0], [2, 0, 2.25]])
    one, two = model.query("X", {"W": 0.0}), model.query("X", {"Y": 3.0, "W": 0.0})
    assert (one.mean[0], one.covariance[0, 0]) == (near(7 / 3), near(20 / 9))
    assert (two.mean[0], two.covariance[0, 0]) == (near(17 / 6), near(2 / 9))
    assert model.n_parameters_ == 9


TABLES = {
    "mle": [(2 / 3, 1 / 3), (0, 1), (2 / 3, 1 / 3), (0.25, 0.75)],
    "k2": [(0.6, 0.4), (0.25, 0.75), (0.6, 0.4), (1 / 3, 2 / 3)],
    "bdeu": [
        (0.6428571429, 0.3571428571),
        (0.1, 0.9),
        (0.6428571429, 0.3571428571),
        (0.2777777778, 0.7222222222),
    ],
}


@pytest.mark.parametrize("prior", TABLES)
def test_tables_from_twelve_rows(prior):
    model = BayesianNetwork([("A", "C"), ("B", "C")], prior=prior, equivalent_sample_size=2).fit(D12)
    np.testing.assert_allclose(model.tables_["C"].reshape(4, 2), TABLES[prior], atol=6e-11)
    assert not model.unseen_["C"].any()
    np.testing.assert_allclose(model.posterior_tables_["C"].sum(), 12 + {"mle": 0, "k2": 8, "bdeu": 2}[prior])


SCORED = {
    "": (-24.618404551, -28.345764525, -27.618404551, -27.872682928, -29.086352616),
    "BC": (-22.990537622, -27.960350921, -26.990537622, -27.024802147, -29.076638055),
    "AC BC": (-22.536510947, -29.991230896, -28.536510947, -27.697330040, -31.736615691),
    "AB BC": (-22.818186523, -29.030453147, -27.818186523, -27.360274883, -30.658423706),
    "AB AC BC": (-22.364159848, -31.061333122, -29.364159848, -28.032802776, -33.318401342),
}


@pytest.mark.parametrize("graph", SCORED)
def test_scores_of_twelve_rows(graph):
    for score, value in zip(("loglik", "bic", "aic", "k2", "bdeu"), SCORED[graph]):
        found = score_structure(D12, [tuple(edge) for edge in graph.split()], score, equivalent_sample_size=1)
        assert found == pytest.approx(value, abs=6e-10)


def test_equivalent_graphs_score_alike_but_for_k2():
    graphs = [["AB", "BC"], ["CB", "BA"], ["BA", "BC"]]
    for score in ("loglik", "bic", "aic", "bdeu"):
        values = [score_structure(D12, [tuple(e) for e in graph], score) for graph in graphs]
        np.testing.assert_allclose(values, values[0], rtol=1e-12)
    assert score_structure(D12, [("B", "A"), ("B", "C")], "k2") == pytest.approx(-27.380894170, abs=6e-10)
    models = [BayesianNetwork([tuple(e) for e in graph]) for graph in graphs]
    assert all(one.equivalent(other) for one in models for other in models)
    assert not BayesianNetwork([("A", "B"), ("B", "C")]).equivalent([("A", "B"), ("C", "B")])


def test_local_scores_of_twelve_rows():
    said = {
        "A": {"": -9.392772517, "B": -10.462874743, "C": -10.630321718, "BC": -12.493754718},
        "B": {"": -9.560219492, "A": -10.630321718, "C": -9.174805888, "AC": -11.038238888},
        "C": {"": -9.392772517, "A": -10.630321718, "B": -9.007358913, "AB": -11.038238888},
    }
    for child, sets in said.items():
        for parents, value in sets.items():
            found = score_structure(D12, [(p, child) for p in parents], child=child)
            assert found == pytest.approx(value, abs=6e-10)


def test_best_graphs_of_twelve_rows():
    for score, value in (("bic", -27.960350921), ("aic", -26.990537622), ("bdeu", -29.076638055)):
        found = ExactSearch(score, equivalent_sample_size=1).fit(D12)
        assert {frozenset(edge) for edge in found.dag_} == {frozenset("BC")}
        assert found.score_ == pytest.approx(value, abs=6e-10)
        climbed = HillClimbSearch(score, equivalent_sample_size=1).fit(D12)
        assert climbed.score_ == pytest.approx(value, abs=6e-10)
    found = ExactSearch("k2").fit(D12)
    assert found.dag_ == [("C", "B")] and found.score_ == pytest.approx(-27.004182860, abs=6e-10)


def test_tree_of_twelve_rows():
    tree = ChowLiuTree().fit(D12)
    np.testing.assert_allclose(
        tree.mutual_information_[[0, 0, 1], [1, 2, 2]], [0.0143625916, 0.0004086770, 0.1356555774], atol=6e-11
    )
    assert tree.dag_ == [("A", "B"), ("B", "C")]
    model = BayesianNetworkClassifier("tan").fit(D12[["A", "B"]], D12["C"])
    assert model.conditional_information_[0, 1] == pytest.approx(0.0517894708, abs=6e-11)


def test_latent_classes_from_a_given_start():
    X = np.array(
        [[int(bit) for bit in row] for row in ["111", "110", "101", "000", "001", "010", "111", "000"]]
    )
    tables = [[[0.3, 0.7], [0.4, 0.6], [0.4, 0.6]], [[0.7, 0.3], [0.6, 0.4], [0.6, 0.4]]]
    options = dict(weights_init=[0.5, 0.5], parameters_init=tables, n_init=1, tol=1e-14, max_iter=5000)
    steps = iter(LatentClassModel(2, **options).iterate(X))
    first, second = next(steps), next(steps)
    np.testing.assert_allclose(first.predict_proba(X)[:, 0], [0.84, 0.7, 0.7, 0.16, 0.3, 0.3, 0.84, 0.16])
    np.testing.assert_allclose(second.probabilities_[:, :, 1], [[0.77, 0.67, 0.67], [0.23, 0.33, 0.33]])
    model = LatentClassModel(2, **options).fit(X)
    assert model.trace_.objective[:2] == pytest.approx([-16.0695340843, -15.5511868843], abs=6e-11)
    assert model.trace_.objective[-1] == pytest.approx(-14.5425397584, abs=1e-9)
    np.testing.assert_allclose(model.probabilities_[:, :, 1], [[1, 0.75, 0.75], [0, 0.25, 0.25]], atol=1e-6)


def test_em_with_holes_from_a_given_start():
    X = pd.DataFrame(
        [(0, 0), (0, 1), (1, 1), (1, None), (None, 1), (None, 0)], columns=["A", "B"], dtype=float
    )
    start = {"A": [0.6, 0.4], "B": [[0.7, 0.3], [0.2, 0.8]]}
    model = BayesianNetwork([("A", "B")], tables=start, tol=1e-15, max_iter=5000)
    steps = iter(model.iterate(X))
    next(steps)
    one = next(steps)
    np.testing.assert_allclose(one.posterior_tables_["A"], [3.2, 2.8])
    np.testing.assert_allclose(one.posterior_tables_["B"], [[1.84, 1.36], [0.36, 2.44]])
    model.fit(X)
    assert model.trace_.objective[0] == pytest.approx(-6.0243183720, abs=6e-11)
    assert model.trace_.objective[-1] == pytest.approx(-5.7286275147, abs=1e-9)
    np.testing.assert_allclose(model.tables_["A"], [5 / 9, 4 / 9], atol=1e-5)
    np.testing.assert_allclose(model.tables_["B"], [[0.6, 0.4], [0, 1]], atol=1e-5)


def test_independence_is_rank_one():
    asia = load_network("asia")
    apart = asia.query(["tub", "lung"]).independence_gap()
    assert apart.rank == 1 and apart.residual < 1e-15 and apart.mutual_information < 1e-12
    together = asia.query(["smoke", "lung"]).independence_gap()
    assert together.rank == 2 and together.residual > 0.01
    coins = load_network("coins").joint()
    assert coins.is_independent("x1", "x2") and not coins.is_independent("x1", "x2", "x3")
    assert coins.to_table().slice_ranks("x3") == [2, 2]
