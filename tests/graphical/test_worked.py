"""Worked examples of the field: numbers that other programs print for the same small models."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.graphical import (
    PC,
    BayesianNetwork,
    BeliefPropagation,
    ExactSearch,
    Factor,
    FactorGraph,
    LinearGaussianNetwork,
    MarkovRandomField,
    inference_plan,
    read_network,
    score_structure,
    write_network,
)
from gnomon.graphical.columns import read_columns
from gnomon.graphical.constraint import p_value
from gnomon.graphical.scores import Families

ORDERS = ("min_fill", "min_neighbors", "min_weight", "weighted_min_fill", "best")


def table(rows):
    """A table that is written child first, as columns of the parents' states, as ours: child last."""
    return np.moveaxis(np.asarray(rows), 0, -1)


@pytest.fixture(scope="module")
def accident():
    tables = {
        "A": [0.2, 0.8],
        "R": [0.4, 0.6],
        "G": [0.6, 0.4],
        "J": table(np.reshape([0.9, 0.6, 0.7, 0.1, 0.1, 0.4, 0.3, 0.9], (2, 2, 2))),
        "Q": table([[0.9, 0.2], [0.1, 0.8]]),
        "L": table(np.reshape([0.9, 0.45, 0.8, 0.1, 0.1, 0.55, 0.2, 0.9], (2, 2, 2))),
    }
    edges = [("A", "J"), ("R", "J"), ("J", "Q"), ("J", "L"), ("G", "L")]
    return BayesianNetwork(edges, tables=tables)


@pytest.mark.parametrize("order", ORDERS)
def test_accident_posteriors(accident, order):
    for _ in range(2):  # a question changes nothing
        np.testing.assert_allclose(accident.query("J", order=order).values, [0.416, 0.584])
        joint = accident.query(["J", "Q"], order=order).values
        np.testing.assert_allclose(joint, [[0.3744, 0.0416], [0.1168, 0.4672]])
        np.testing.assert_allclose(accident.query("J", {"A": 0, "R": 1}, order=order).values, [0.6, 0.4])
        joint = accident.query(["J", "Q"], {"A": 0, "R": 0, "G": 0, "L": 1}, order=order).values
        np.testing.assert_allclose(joint, [[0.73636364, 0.08181818], [0.03636364, 0.14545455]], atol=5e-9)


def test_accident_explanations(accident):
    best = accident.mpe()
    assert best.states == {"A": 1, "R": 1, "J": 1, "Q": 1, "G": 0, "L": 0}
    assert np.exp(best.log_probability) == pytest.approx(0.1659, abs=5e-5)
    for names, value in (("G", 0.6), (["G", "R"], 0.36), (["G", "R", "A"], 0.288)):
        assert np.exp(accident.marginal_map(names)[1]) == pytest.approx(value)
    states, _ = accident.marginal_map(["A", "R", "L"], {"J": 0, "Q": 1, "G": 0})
    assert states == {"A": 1, "R": 0, "L": 0}


def test_accident_refusals(accident):
    with pytest.raises(DataError, match="'J' is asked for and observed"):
        accident.query("J", {"J": 0})
    with pytest.raises(DataError, match="'A' has no state -1"):
        accident.query("J", {"A": -1})
    with pytest.raises(DataError, match="wrong_variable"):
        accident.query("J", {"wrong_variable": 0})
    with pytest.raises(DataError, match="evidence must be a dict"):
        accident.query("J", ["J"])
    with pytest.raises(DataError):
        inference_plan(accident, "J", order=["A"])
    longer = inference_plan(accident, "J", order=["A", "R", "L", "Q", "G"])  # three of them are pruned
    np.testing.assert_allclose(longer.run().values, [0.416, 0.584])


def test_accident_without_directions(accident):
    field = MarkovRandomField([accident._network().factor(v) for v in range(6)])
    np.testing.assert_allclose(field.query("J").values, [0.416, 0.584])
    np.testing.assert_allclose(field.query(["Q", "J"]).values, [[0.3744, 0.1168], [0.0416, 0.4672]])
    seen = field.query("J", {"A": 0, "R": 1})
    np.testing.assert_allclose(seen.values * np.exp(seen.log_evidence), [0.072, 0.048])
    assert field.mpe().states == {"A": 1, "R": 1, "J": 1, "Q": 1, "G": 0, "L": 0}


def test_equal_factors_count_twice():
    field = MarkovRandomField([Factor(["A", "B"], 2 * np.eye(2)), Factor(["A", "C"], 2 * np.eye(2))])
    assert np.exp(field.log_partition()) == pytest.approx(8.0)
    np.testing.assert_allclose(field.query("A").values, 0.5)


@pytest.fixture(scope="module")
def snow():
    states = {
        "Snow": ["yes", "no"],
        "Risk": ["yes", "no"],
        "Traffic": ["normal", "slow"],
        "Late": ["yes", "no"],
    }
    tables = {
        "Snow": [0.4, 0.6],
        "Risk": table([[0.8, 0.4], [0.2, 0.6]]),
        "Traffic": table([[0.4, 0.65], [0.6, 0.35]]),
        "Late": table(np.reshape([0.45, 0.85, 0.1, 0.7, 0.55, 0.15, 0.9, 0.3], (2, 2, 2))),
    }
    edges = [("Snow", "Risk"), ("Snow", "Traffic"), ("Risk", "Late"), ("Traffic", "Late")]
    return BayesianNetwork(edges, states=states, tables=tables)


@pytest.mark.parametrize("method", ["elimination", "junction_tree", "enumeration"])
def test_snow_with_hard_and_soft_evidence(snow, method):
    expected = {"Snow": 0.533333, "Risk": 0.613333, "Late": 0.7920}
    for name, p in expected.items():
        assert snow.query(name, {"Traffic": "slow"}, method=method)["yes"] == pytest.approx(p, abs=5e-7)
    soft = {"Traffic": [0.3, 0.7]}
    expected = {"Snow": 0.45, "Risk": 0.58, "Late": 0.61625, "Traffic": 0.34375}
    for name, p in expected.items():
        assert snow.query(name, soft_evidence=soft, method=method).values[0] == pytest.approx(p)
    soft = {"Traffic": {"normal": 0.3, "slow": 0.7}, "Risk": {"yes": 0.7, "no": 0.3}}
    expected = {"Snow": 0.52443609, "Risk": 0.76315789, "Traffic": 0.32730263, "Late": 0.66480263}
    for name, p in expected.items():
        assert snow.query(name, soft_evidence=soft, method=method).values[0] == pytest.approx(p, abs=5e-9)
    assert snow.marginal_map("Snow", soft_evidence=soft)[0] == {"Snow": "yes"}
    assert snow.marginal_map("Snow", soft_evidence={"Traffic": [0.3, 0.7]})[0] == {"Snow": "no"}


def test_messages_on_a_small_factor_graph():
    factors = [
        Factor(["A"], [0.4, 0.6]),
        Factor(["B", "A"], [[0.2, 0.05], [0.3, 0.15], [0.5, 0.8]]),
        Factor(["C", "B"], [[0.4, 0.5, 0.1], [0.6, 0.5, 0.9]]),
        Factor(["D", "B"], [[0.1, 0.1, 0.2], [0.3, 0.2, 0.1], [0.6, 0.7, 0.7]]),
    ]
    found = BeliefPropagation().fit(FactorGraph(factors)).beliefs_
    expected = {"A": [0.4, 0.6], "B": [0.11, 0.21, 0.68], "C": [0.217, 0.783], "D": [0.168, 0.143, 0.689]}
    for name, belief in expected.items():
        np.testing.assert_allclose(found[name], belief, atol=1e-12)
    seen = BeliefPropagation().fit(FactorGraph(factors), evidence={"A": 1, "D": 0}).beliefs_
    np.testing.assert_allclose(seen["B"], [0.02777778, 0.08333333, 0.88888889], atol=5e-9)
    np.testing.assert_allclose(seen["C"], [0.14166667, 0.85833333], atol=5e-9)
    # an instrument is one more factor, and two instruments multiply
    soft = BeliefPropagation().fit(FactorGraph([*factors, Factor(["A"], [0.1, 0.9])])).beliefs_
    np.testing.assert_allclose(soft["B"], [0.06034483, 0.16034483, 0.77931034], atol=5e-9)
    two = [*factors, Factor(["A"], [0.1, 0.9]), Factor(["A"], [0.3, 0.7])]
    soft = BeliefPropagation().fit(FactorGraph(two)).beliefs_
    np.testing.assert_allclose(soft["B"], [0.05461538, 0.15461538, 0.79076923], atol=5e-9)


DOG = """
// Bayesian Network in the Interchange Format
network "Dog-Problem" { //5 variables and 5 probability distributions
        property "credal-set constant-density-bounded 1.1" ;
        property "source" = "http://dogs.example/problem" ;
}
variable  "light-on" { //2 values
        type discrete[2] {  "true"  "false" };
        property "position = (218, 195)" ;
        property "description = "is a light on"" ;
}
variable  "bowel-problem" { type discrete[2] {  "true"  "false" }; property "position = (335, 99)" ; }
variable  "dog-out" { type discrete[2] {  "true"  "false" }; }
variable  "hear-bark" { type discrete[2] {  "true"  "false" }; }
variable  "family-out" { type discrete[2] {  "true"  "false" }; }
probability (  "light-on"  "family-out" ) { (true) 0.6 0.4 ; (false) 0.05 0.95 ; }
probability (  "bowel-problem" ) { table 0.01 0.99 ; }
probability (  "dog-out"  "bowel-problem"  "family-out" ) { //3 variable(s) and 8 values
        table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;
}
probability (  "hear-bark"  "dog-out" ) { table 0.7 0.01 0.3 0.99 ; }
probability (  "family-out" ) { table 0.15 0.85 ; }
"""


@pytest.mark.parametrize("word", ["table", "default"])
def test_dog_problem_in_the_old_grammar(word):
    """Scopes without a bar, states without commas; some programs write a whole table as the default."""
    dog = read_network(DOG.replace("table", word))
    assert dog.variables_ == ["light-on", "bowel-problem", "dog-out", "hear-bark", "family-out"]
    assert dog.parents_["dog-out"] == ["bowel-problem", "family-out"]
    np.testing.assert_allclose(dog.tables_["dog-out"][..., 0], [[0.99, 0.97], [0.9, 0.3]])
    np.testing.assert_allclose(dog.tables_["hear-bark"], [[0.7, 0.3], [0.01, 0.99]])
    np.testing.assert_allclose(dog.tables_["light-on"], [[0.6, 0.4], [0.05, 0.95]])
    assert write_network(read_network(write_network(dog))) == write_network(dog)
    with pytest.raises(DataError, match="a row of 'hear-bark' has 3 numbers"):
        read_network(DOG.replace("table 0.7 0.01 0.3 0.99", "default 0.7 0.01 0.3"))


def test_net_file_without_parents_after_its_bar():
    text = """net { }
    node lung{ states = ("yes"  "no"); }
    node smoke{ states = ("yes"  "no"); }
    potential (smoke |){ data = (0.4 0.6); }
    potential (lung | smoke){ data = ((0.1  0.9 )
     (0.01 0.99)); }"""
    model = read_network(text)
    assert model.parents_ == {"lung": ["smoke"], "smoke": []}
    np.testing.assert_array_equal(model.tables_["lung"], [[0.1, 0.9], [0.01, 0.99]])


def test_tables_of_three_and_ten_rows():
    edges = [("A", "C"), ("B", "C")]
    few = pd.DataFrame({"A": [0, 0, 1], "B": [0, 1, 0], "C": [1, 1, 0]})
    pseudo = {"A": [0, 1], "B": [9, 3], "C": np.broadcast_to([0.4, 0.6], (2, 2, 2))}
    found = BayesianNetwork(edges, prior="dirichlet", pseudo_counts=pseudo).fit(few).tables_
    np.testing.assert_allclose(found["A"], [0.5, 0.5])
    np.testing.assert_allclose(found["B"], [11 / 15, 4 / 15])
    np.testing.assert_allclose(found["C"].reshape(4, 2)[:, 0], [0.2, 0.2, 0.7, 0.4])
    states = {"A": [0, 1, 2], "B": [0, 1], "C": [0, 1, 23]}
    options = dict(states=states, prior="bdeu", equivalent_sample_size=9)
    found = BayesianNetwork(edges, **options).fit(few).tables_["C"].reshape(6, 3)
    np.testing.assert_allclose(found[:3], [[0.2, 0.6, 0.2], [0.2, 0.6, 0.2], [0.6, 0.2, 0.2]])
    np.testing.assert_allclose(found[3:], 1 / 3)
    more = pd.DataFrame(
        {"A": [0, 0, 1, 0, 2, 0, 2, 1, 0, 2], "B": list("XYXYXYXYXY"), "C": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]}
    )
    found = BayesianNetwork(edges, prior="k2").fit(more).tables_["C"].reshape(6, 2)[:, 0]
    np.testing.assert_allclose(found, [0.5, 0.6, 1 / 3, 2 / 3, 0.75, 2 / 3])
    found = BayesianNetwork(edges, prior="bdeu", equivalent_sample_size=5).fit(more).tables_
    np.testing.assert_allclose(found["A"], [4 / 9, 11 / 45, 14 / 45])
    np.testing.assert_allclose(
        found["C"].reshape(6, 2)[:, 0], [0.5, 29 / 46, 5 / 22, 17 / 22, 29 / 34, 17 / 22]
    )


@pytest.mark.parametrize(
    ("score", "first", "second"),
    [
        ("aic", -15.205379370888767, -13.68213122712422),
        ("bic", -10.698440814229318, -9.625886526130714),
        ("k2", -10.73813429536977, -10.345091707260167),
        ("bdeu", -9.907103407446435, -9.839964104608821),
    ],
)
def test_scores_of_three_rows(score, first, second):
    X = pd.DataFrame({"A": [0, 0, 1], "B": [0, 1, 0], "C": [1, 1, 0], "D": ["X", "Y", "Z"]})
    options = {"equivalent_sample_size": 10} if score == "bdeu" else {}
    found = [
        score_structure(X, edges, score, **options)
        for edges in ([("A", "C"), ("B", "C"), ("D", "B")], [("C", "A"), ("C", "B"), ("A", "D")])
    ]
    np.testing.assert_allclose(found, [first, second])


def test_copied_column_is_one_edge():
    rng = np.random.default_rng(42)
    X = pd.DataFrame(rng.integers(0, 5, size=(5000, 2)), columns=["A", "B"])
    X["C"] = X["B"]
    for score in ("bic", "bdeu"):
        found = ExactSearch(score).fit(X).dag_
        assert len(found) == 1 and set(found[0]) == {"B", "C"}


def test_linear_chain_is_a_joint_gaussian():
    model = LinearGaussianNetwork(
        [("x1", "x2"), ("x2", "x3")],
        intercepts={"x1": 1.0, "x2": -5.0, "x3": 4.0},
        coefficients={("x1", "x2"): 0.5, ("x2", "x3"): -1.0},
        variances={"x1": 16.0, "x2": 16.0, "x3": 9.0},
    )
    _, mean, covariance = model.joint()
    np.testing.assert_allclose(mean, [1.0, -4.5, 8.5])
    np.testing.assert_allclose(covariance, [[16, 8, -8], [8, 20, -20], [-8, -20, 29]])


# the graph alone


def test_student_graph_and_its_trails():
    student = BayesianNetwork([("d", "g"), ("i", "g"), ("g", "l"), ("i", "s")])
    connected = [
        ("d", "l", ()),
        ("g", "s", ()),
        ("d", "i", "g"),
        ("d", "i", "l"),
        ("s", "l", ()),
        ("d", "s", "g"),
    ]
    separated = [
        ("d", "i", ()),
        ("d", "l", "g"),
        ("i", "l", "g"),
        ("g", "s", "i"),
        ("d", "s", ()),
        ("s", "l", "g"),
    ]
    separated += [("s", "l", "i"), ("d", "s", ["i", "l"])]
    assert not any(student.d_separated(*case) for case in connected)
    assert all(student.d_separated(*case) for case in separated)
    assert set(student.reachable("d")) == {"g", "l"} and set(student.reachable("i")) == {"g", "l", "s"}
    assert set(student.reachable("d", "g")) == {"i", "s"} and student.reachable("s", ["i", "l"]) == []
    assert set(student.reachable("s", ["d", "l"])) == {"g", "i"}


def test_graphs_that_say_the_same():
    first = BayesianNetwork([("V", "W"), ("W", "X"), ("X", "Y"), ("Z", "Y")])
    assert first.equivalent([("W", "V"), ("X", "W"), ("X", "Y"), ("Z", "Y")])
    assert not first.equivalent([("W", "V"), ("W", "X"), ("Y", "X"), ("Z", "Y")])
    four = [
        [("I", "G"), ("I", "S")],
        [("S", "I"), ("G", "I")],
        [("I", "S"), ("S", "G")],
        [("S", "I"), ("G", "I"), ("S", "G")],
    ]
    same = [[BayesianNetwork(a).equivalent(b) for b in four] for a in four]
    np.testing.assert_array_equal(same, np.eye(4, dtype=bool))
    diamond = BayesianNetwork([("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")])
    assert not diamond.equivalent([("B", "A"), ("C", "A"), ("D", "B"), ("D", "C")])
    lone = BayesianNetwork([("A", "B")], nodes=["A", "B", "C"])
    assert lone.equivalent([("B", "A")]) and not lone.equivalent([("B", "A"), ("C", "D")])
    assert not lone.equivalent(BayesianNetwork([("B", "A")])), "a network says which variables it has"


def test_treatment_and_its_confounder():
    model = BayesianNetwork(
        [("S", "T"), ("S", "C"), ("T", "C")],
        states={"S": ["m", "f"]},
        tables={
            "S": [0.5, 0.5],
            "T": table([[0.25, 0.75], [0.75, 0.25]]),
            "C": table(np.reshape([0.3, 0.4, 0.7, 0.8, 0.7, 0.6, 0.3, 0.2], (2, 2, 2))),
        },
    )
    # by hand: P(C=0 | do(T=1)) = (.4 + .8) / 2, and P(C=0 | T=1) = .75 · .4 + .25 · .8
    assert model.query("C", do={"T": 1})[0] == pytest.approx(0.6)
    assert model.query("C", {"T": 1})[0] == pytest.approx(0.5)
    cut = model.do({"T": 1})
    assert cut.parents_["T"] == [] and cut.parents_["C"] == ["S", "T"]


# graphs from tests of independence

CONSTANT = pd.DataFrame([[0] * 6, [1] * 6], columns=list("ABCDEF"))


def pattern_of(edges, nodes="ABCDEF", max_given=5):
    """What PC finds when every test is right: the graph itself is asked."""
    truth = BayesianNetwork(edges, nodes=list(nodes))
    return PC(test=truth.d_separated, max_given=max_given).fit(CONSTANT[list(nodes)])


@pytest.mark.parametrize(
    ("edges", "directed", "undirected"),
    [
        ([("D", "A"), ("A", "C"), ("B", "C")], [("A", "C"), ("B", "C")], [("A", "D")]),
        ([("C", "A"), ("B", "A")], [("B", "A"), ("C", "A")], []),
        ([("A", "B"), ("A", "C")], [], [("A", "B"), ("A", "C")]),
        ([("A", "C"), ("B", "C"), ("C", "D")], [("A", "C"), ("B", "C"), ("C", "D")], []),
        (
            [("A", "B"), ("A", "C"), ("B", "C"), ("D", "B")],
            [("A", "B"), ("A", "C"), ("B", "C"), ("D", "B")],
            [],
        ),
        (
            [("B", "A"), ("B", "C"), ("A", "D"), ("B", "D"), ("C", "D")],
            [("A", "D"), ("B", "D"), ("C", "D")],
            [("A", "B"), ("B", "C")],
        ),
    ],
)
def test_patterns_by_hand(edges, directed, undirected):
    found = pattern_of(edges)
    assert (sorted(found.pattern_[0]), sorted(found.pattern_[1])) == (directed, undirected)
    assert BayesianNetwork(edges).equivalent(found.dag_)


@pytest.mark.parametrize("seed", range(40))
def test_right_tests_give_the_right_class(seed):
    """All edges that point one way in every equivalent graph are directed, and no others."""
    rng = np.random.default_rng(seed)
    nodes = list(rng.permutation(list("ABCDEF")))[: int(rng.integers(2, 7))]
    edges = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :] if rng.random() < 0.5][:9]
    found = pattern_of(edges, sorted(nodes))
    ways = set()
    for turned in np.ndindex(*[2] * len(edges)):
        graph = [edge[::-1] if turn else edge for edge, turn in zip(edges, turned, strict=True)]
        try:
            if BayesianNetwork(edges, nodes=nodes).equivalent(graph):
                ways |= set(graph)
        except DataError:  # a cycle
            continue
    assert set(found.pattern_[0]) == {edge for edge in ways if edge[::-1] not in ways}
    assert set(found.pattern_[1]) == {edge for edge in ways if edge[::-1] in ways and edge[0] < edge[1]}
    assert {frozenset(edge) for edge in found.dag_} == {frozenset(edge) for edge in edges}
    truth = BayesianNetwork(edges, nodes=nodes)
    assert truth.equivalent(found.dag_)
    assert all(truth.d_separated(a, b, given) for (a, b), given in found.separators_.items())


def test_colliders_that_contradict_each_other_leave_a_graph():
    """A – B – C – D with both ends separated by nothing: the first collider stays, and there is no cycle."""
    apart = {("A", "C"): (), ("A", "D"): ("B",), ("B", "D"): ()}
    found = PC(test=lambda a, b, given: apart.get((a, b)) == given).fit(CONSTANT[list("ABCD")])
    assert {("A", "B"), ("C", "B")} <= set(found.pattern_[0])
    assert {frozenset(edge) for edge in found.dag_} == {frozenset(edge) for edge in ("AB", "BC", "CD")}


def test_sets_of_given_variables_are_bounded():
    apart = {("B", "C"), ("B", "D"), ("C", "D")}

    def test(a, b, given):
        return (a, b) in apart or (a, b, given) in {("A", "B", ("C",)), ("A", "C", ("B",))}

    loose = PC(test=test, max_given=0).fit(CONSTANT[list("ABCD")])
    assert {frozenset(edge) for edge in loose.dag_} == {frozenset(edge) for edge in ("AB", "AC", "AD")}
    assert loose.n_tests_ == 6 and loose.separators_ == {("B", "C"): (), ("B", "D"): (), ("C", "D"): ()}
    found = PC(test=test).fit(CONSTANT[list("ABCD")])
    # at level one both A – B and A – C are tested with the neighbors from before the level
    assert {frozenset(edge) for edge in found.dag_} == {frozenset("AD")}
    assert found.separators_["A", "B"] == ("C",) and found.separators_["A", "C"] == ("B",)


def test_sums_are_colliders():
    rng = np.random.default_rng(42)
    X = pd.DataFrame(rng.integers(0, 3, size=(10_000, 3)), columns=list("XYZ"))
    X["sum"] = X.sum(axis=1)
    for test in ("chi2", "g"):
        found = PC(alpha=0.001, test=test).fit(X)
        assert sorted(found.dag_) == [("X", "sum"), ("Y", "sum"), ("Z", "sum")] and found.pattern_[1] == []
        assert found.separators_ == {("X", "Y"): (), ("X", "Z"): (), ("Y", "Z"): ()}


def test_order_of_columns_does_not_change_the_edges():
    rng = np.random.default_rng(42)
    X = pd.DataFrame(rng.integers(0, 3, size=(2000, 6)), columns=list("ABCDEF"))
    X["M"] = (X["A"] + X["B"] + X["C"]) % 3
    X["O"] = (X["M"] + X["D"] + (rng.random(2000) < 0.3)) % 3
    found = set()
    for _ in range(4):
        dag = PC().fit(X[list(rng.permutation(X.columns))]).dag_
        found.add(frozenset(frozenset(edge) for edge in dag))
    assert len(found) == 1


@pytest.mark.parametrize("test", ["chi2", "g"])
def test_p_value_is_that_of_each_slice_added_up(test):
    """Independent tables for each configuration: statistics and degrees of freedom add."""
    from scipy.stats import chi2, chi2_contingency

    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {"a": rng.integers(0, 2, 400), "b": rng.integers(0, 3, 400), "c": rng.integers(0, 2, 400)}
    )
    X["b"] = np.where(rng.random(400) < 0.07, X["a"], X["b"])
    statistic = freedom = 0
    for _, part in X.groupby("c"):
        counts = pd.crosstab(part["a"], part["b"]).values
        kind = None if test == "chi2" else "log-likelihood"
        one = chi2_contingency(counts, correction=False, lambda_=kind)
        statistic, freedom = statistic + one.statistic, freedom + one.dof
    work = Families(read_columns(PC(), X).rows, "bic", 1.0)
    assert p_value(work, 0, 1, (2,), test) == pytest.approx(chi2.sf(statistic, freedom), rel=1e-10)
    assert p_value(work, 1, 0, (2,), test) == pytest.approx(chi2.sf(statistic, freedom), rel=1e-10)
