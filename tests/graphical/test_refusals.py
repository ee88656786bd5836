"""What cannot be read or asked is refused with the name of what is wrong."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.datasets import load_network
from gnomon.graphical import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    ChowLiuTree,
    ExactSearch,
    Factor,
    HillClimbSearch,
    LinearGaussianNetwork,
    MarkovRandomField,
    read_network,
)
from gnomon.graphical.factor import TableTooLargeError
from gnomon.graphical.scores import distinct
from gnomon.graphical.separation import d_separated

X = "variable x { type discrete [ 2 ] { a, b }; }\n"
PX = "probability ( x ) { table 0.5, 0.5; }\n"
Y = "variable y { type discrete [ 2 ] { s, t }; }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network n { }", "declares no variable"),
        (X + X + PX, "variable 'x' is declared twice"),
        (X + PX + PX, "the table of 'x' is given twice"),
        ("variable x { }" + PX, "variable 'x' has no states"),
        ("variable x { type real [ 2 ] { a, b }; }", "of type 'real'; only discrete"),
        ("variable x { type discrete [ 3 ] { a, b }; }", "announces 3 states and names 2"),
        ("variable x { type discrete [ k ] { a, b }; }", "announces k states"),
        (X + "probability ( x ) { table 0.5, 0.25, 0.25; }", "needs 2 numbers; it has 3"),
        (X + "probability ( x ) { table 0.5, half; }", "holds 'half', which is no number"),
        (X + "probability ( x ) { table 0.5, 0.5", "ends in the middle of the table of 'x'; it is cut short"),
        (X + "probability ( x | z ) { table 0.5, 0.5; }", "names 'z', which is not declared"),
        (X + "probability [ x ] { }", r"expected '\(', found '\['"),
        (X, "no probabilities for 'x'; it may be cut short"),
        (X + Y + PX + "probability ( y | x ) { (a, b) 0.5, 0.5; }", "names 2 states of 1 parents"),
        (X + Y + PX + "probability ( y | x ) { (a) 0.5, 0.25, 0.25; }", "has 3 numbers and its variable 2 states"),
        (X + Y + PX + "probability ( y | x ) { (a) 0.5, 0.5; }", "the table of 'y' lacks some of its rows"),
        (X + Y + PX + "probability ( y | x ) { (c) 0.5, 0.5; }", "'x' has no state 'c'"),
        ("factor x { }", "expected 'network', 'variable' or 'probability', found 'factor'"),
    ],
)  # fmt: skip
def test_broken_bif(text, message):
    with pytest.raises(DataError, match=message):
        read_network(text, "bif")


NODE = 'node x { states = ("a" "b"); }\n'
DATA = "potential (x) { data = (0.5 0.5); }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("net { }", "declares no node"),
        (NODE + NODE + DATA, "node 'x' is declared twice"),
        ("node x { label = 1; }", "node 'x' has no states"),
        (NODE + "potential (y) { data = (1); }", "the table of 'y' belongs to no declared node"),
        (NODE + DATA + DATA, "the table of 'x' is given twice"),
        (NODE + "potential (x) { label = 2; }", "the table of 'x' has no data"),
        ("continuous node z { }", "'continuous' block"),
        ("decision d { }", "'decision' block"),
        ("table x { }", "expected 'net', 'node' or 'potential', found 'table'"),
        (NODE + "potential (x | y) { data = (0.5 0.5); }", "names the parent 'y', which is not declared"),
        (NODE + "potential (x) { data = (0.5 0.25 0.25); }", "needs 2 numbers for .2.; it has 3"),
    ],
)
def test_broken_net(text, message):
    with pytest.raises(DataError, match=message):
        read_network(text, "net")


VARIABLE = "<VARIABLE><NAME>x</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>"
DEFINITION = "<DEFINITION><FOR>x</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>"


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", "declares no variable"),
        (VARIABLE + VARIABLE + DEFINITION, "variable 'x' is declared twice"),
        ("<VARIABLE><NAME>x</NAME></VARIABLE>", "variable 'x' has no outcomes"),
        ("<VARIABLE><OUTCOME>a</OUTCOME></VARIABLE>", "a variable has no <NAME>"),
        (DEFINITION, "the table of 'x' belongs to no declared variable"),
        (VARIABLE + DEFINITION + DEFINITION, "the table of 'x' is given twice"),
        (VARIABLE + "<DEFINITION><FOR>x</FOR></DEFINITION>", "the definition of 'x' has no <TABLE>"),
    ],
)
def test_broken_xml(inside, message):
    with pytest.raises(DataError, match=message):
        read_network(f"<BIF><NETWORK>{inside}</NETWORK></BIF>", "xmlbif")


def test_what_is_no_file(tmp_path):
    with pytest.raises(DataError, match="must be a path or the text of a network file; got int"):
        read_network(3)
    with pytest.raises(DataError, match="there is no file"):
        read_network(tmp_path / "none.bif")
    with pytest.raises(DataError, match="Did you mean 'bif'"):
        read_network(X + PX, "biff")


F = Factor(["a", "b"], [[1.0, 2.0], [3.0, 4.0]], {"a": ["n", "y"], "b": [0, 1]})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Factor(["a", "a"], np.ones((2, 2))), "variables must be different"),
        (lambda: Factor(["a"], np.ones((2, 2))), "2 axes and there are 1 variables"),
        (lambda: Factor(["a"], [1.0, -1.0]), "finite numbers that are at least 0"),
        (lambda: Factor(["a"], [1.0, np.inf]), "finite numbers that are at least 0"),
        (lambda: Factor(["a"], [1.0, 2.0], {"b": [0, 1]}), "states has no entry for 'a'"),
        (lambda: Factor(["a"], [1.0, 2.0], {"a": [0, 1, 2]}), "'a' has 3 states and its axis 2 entries"),
        (lambda: Factor(["a"], [1.0, 2.0], {"a": [0, 0]}), "the states of 'a' must be different"),
        (lambda: Factor(["a"], np.zeros(0)), "variable 'a' has no states"),
        (lambda: F["n"], "name a state of each"),
        (lambda: F[{"a": "n"}], "no state for 'b'"),
        (lambda: F["n", 2], "'b' has no state 2"),
        (lambda: F.sum_out("c"), "the factor has no variable 'c'"),
        (lambda: F.permute(["a"]), "permute needs each of"),
        (lambda: F.permute(["a", "a"]), "permute needs each of"),
        (lambda: F.divide(Factor(["a"], [0.0, 1.0], {"a": ["n", "y"]})), "is divided by zero"),
        (lambda: Factor(["a"], [1.0, 2.0]).independence_gap(), "two variables or more"),
        (lambda: F.is_independent("a", "a"), "no variable in common"),
        (lambda: F.is_independent("a", "b", "b"), "no variable in common"),
    ],
)
def test_factors_that_do_not_fit(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_nothing_can_be_made_a_share():
    with pytest.raises(ZeroEvidenceError, match="nothing to normalize"):
        Factor(["a"], [0.0, 0.0]).normalize()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BayesianNetwork([("a", "b", "c")])._graph(), "edges must be pairs"),
        (lambda: BayesianNetwork(["ab"])._graph(), "edges must be pairs"),
        (lambda: BayesianNetwork([("a", "b"), ("a", "b")])._graph(), "'a' → 'b' is given twice"),
        (lambda: BayesianNetwork([("a", "a")])._graph(), "cycle: a → a"),
        (lambda: BayesianNetwork([("a", 1)])._graph(), "must be strings; got 1"),
        (lambda: BayesianNetwork([("a", "b")], tables={"a": [0.5, 0.5]}).query("a"), "variable 'b' has no table"),
        (lambda: BayesianNetwork([], nodes=["a"], tables={"a": [[0.5, 0.5]]}).query("a"), r"must have 1 axes \(a\)"),
        (lambda: BayesianNetwork([], nodes=["a"], tables={"a": [0.5, 0.6]}).query("a"), "sum"),
        (lambda: BayesianNetwork([], nodes=["a"], tables={"a": [1.5, -0.5]}).query("a"), "below 0 or not finite"),
        (lambda: BayesianNetwork([], nodes=["a"], tables={"a": ["x", "y"]}).query("a"), "no array of numbers"),
        (
            lambda: BayesianNetwork([("a", "b")], tables={"a": [0.5, 0.5], "b": Factor(["b"], [0.5, 0.5])}).query("b"),
            r"must be over \['a', 'b'\]",
        ),
    ],
)  # fmt: skip
def test_networks_that_do_not_fit(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.query(["rain", "rain"]), "variables must be different"),
        (lambda net: net.query("rain", {"rain": "yes"}), "'rain' is asked for and observed"),
        (lambda net: net.query("snow"), "snow"),
        (lambda net: net.query("rain", {"wet": "maybe"}), "'wet' has no state 'maybe'"),
        (lambda net: net.query("rain", ["wet"]), "must be a dict such as"),
        (
            lambda net: net.query("rain", soft_evidence={"wet": [1.0]}),
            "soft_evidence of 'wet' needs a likelihood",
        ),
        (lambda net: net.query("rain", soft_evidence={"wet": [1.0, -1.0]}), "soft_evidence of 'wet'"),
        (lambda net: d_separated(net, "rain", ["rain", "wet"]), "'rain' is in both"),
    ],
)
def test_questions_that_cannot_be_answered(ask, message):
    with pytest.raises(DataError, match=message):
        ask(load_network("sprinkler"))


def test_evidence_that_cannot_be_has_no_answer():
    net = load_network("coins")
    for method in ("elimination", "enumeration", "junction_tree"):
        with pytest.raises(DataError):
            net.query("x1", {"x1": "heads", "x2": "heads", "x3": "different"}, method=method)
    field = MarkovRandomField([Factor(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])])
    with pytest.raises(ZeroEvidenceError):
        field.query("a", {"b": 0}, soft_evidence={"a": [0.0, 1.0]})


def columns(n=60):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, n)
    return np.column_stack([a, a ^ (rng.random(n) < 0.1), a ^ (rng.random(n) < 0.1)])


def test_exact_search_is_refused_where_too_many_columns_hang_together(monkeypatch):
    monkeypatch.setattr("gnomon.graphical.structure.EXACT_NODES", 2)
    with pytest.raises(DataError, match="X has 3 features that may hang together; .* at most 2"):
        ExactSearch("aic").fit(columns())
    monkeypatch.setattr("gnomon.graphical.structure.EXACT_NODES", 3)
    assert len(ExactSearch("aic").fit(columns()).dag_) >= 2


def test_a_graph_whose_tables_do_not_fit_is_found_and_has_no_network(monkeypatch):
    plain = HillClimbSearch(start="empty").fit(columns())
    monkeypatch.setattr("gnomon.graphical.scores.MAX_ENTRIES", 3)
    found = HillClimbSearch(start="empty").fit(columns())
    assert found.dag_ == plain.dag_ and found.score_ == plain.score_ and found.counts_ == {}
    with pytest.raises(TableTooLargeError, match="limit the parents"):
        found.network()


@pytest.mark.parametrize(
    "make", [lambda: ChowLiuTree(root="z"), lambda: BayesianNetworkClassifier("tan", root="z")]
)
def test_a_root_is_a_column(make):
    X = columns()
    with pytest.raises(DataError, match="root must be a column of X; got 'z'"):
        make().fit(X, X[:, 0])


@pytest.mark.parametrize("root", [None, "x1", "x2"])
def test_the_root_of_a_tree_has_no_parents_and_all_others_one(root):
    found = ChowLiuTree(root=root).fit(columns())
    children = [child for _, child in found.dag_]
    assert sorted(children) == sorted({"x0", "x1", "x2"} - {root or "x0"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variances": {"a": -1.0}}, "variances must be at least 0; that of 'a' is -1"),
        ({"variances": {"a": np.nan}}, "variances must be at least 0"),
        ({"coefficients": {("b", "a"): 1.0}}, "which is no edge"),
        ({"coefficients": {("a",): 1.0}}, "which is no edge"),
    ],
)
def test_gaussian_networks_that_do_not_fit(options, message):
    with pytest.raises(DataError, match=message):
        LinearGaussianNetwork([("a", "b")], **options).query("b")


@pytest.mark.parametrize("repeats", [1, 5, 40])
def test_rows_that_repeat_are_counted_once_with_their_weight(repeats):
    codes = np.tile(np.array([[0, 300], [1, 2], [0, 2]]), (repeats, 1))
    weight = np.linspace(1.0, 2.0, len(codes))
    rows, sums = distinct(codes, weight)
    assert len(rows) == (3 if 3 * repeats >= 64 else 3 * repeats)
    for row in np.unique(codes, axis=0):
        mine = (codes == row).all(axis=1)
        assert sums[(rows == row).all(axis=1)].sum() == pytest.approx(weight[mine].sum())
