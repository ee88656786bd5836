"""Forms, numbers, pictures and the widget, piece by piece."""

import json
from numbers import Integral, Real
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from gnomon.cluster import KMeans
from gnomon.core.parameters import Interval, InvalidParameterError, StrOptions
from gnomon.ensemble import RandomForestClassifier
from gnomon.lab import forms, learners, panels, runs, widget
from gnomon.lab.material import RefusedError, gather, sliders, view
from gnomon.lab.scene_graphs import structure_panels
from gnomon.lab.scene_trees import tree_panels
from gnomon.lab.scenes import frame, sentence
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.mixture import GaussianMixture
from gnomon.neural import MLPClassifier, MLPRegressor
from gnomon.svm import SVC
from gnomon.trees import DecisionTreeClassifier


def field(cls, name):
    return next(f for f in forms.form(cls) if f["name"] == name)


def test_fields_follow_the_constraints():
    clusters = field(KMeans, "n_clusters")
    assert (clusters["kind"], clusters["whole"], clusters["low"], clusters["value"]) == (
        "number",
        True,
        1.0,
        3,
    )
    kind = field(GaussianMixture, "covariance_type")
    assert kind["kind"] == "choice" and set(kind["options"]) >= {"full", "tied", "diag", "spherical"}
    assert field(LinearRegression, "fit_intercept")["kind"] == "tick"
    assert "centers" in clusters["about"]


@pytest.mark.parametrize("name", learners.catalog())
def test_every_form_can_be_sent_back(name):
    cls = learners.find(name)
    shown = json.loads(json.dumps(forms.form(cls)))
    read = forms.read_settings(cls, {f["name"]: f["value"] for f in shown if f["value"] is not None})
    made = learners.make(cls, read)
    if hasattr(made, "_parameter_constraints"):
        try:
            made._validate_params()
        except InvalidParameterError as error:
            raise AssertionError(f"{name}: the form sends what the model refuses") from error


def test_every_sample_has_a_slider_for_every_argument():
    seen = {sample for name in learners.catalog() for sample in learners.data_for(learners.find(name))}
    assert len(seen) > 40
    for sample in seen:
        for slider in sliders(sample):
            assert slider["low"] <= slider["value"] <= slider["high"], (sample.__name__, slider)


def test_text_becomes_data():
    read = forms.read_settings(learners.find("MLPClassifier"), {"hidden_layer_sizes": "(4, 5)"})
    assert read == {"hidden_layer_sizes": (4, 5)}
    with pytest.raises(RefusedError, match="10000"):
        forms.read_settings(learners.find("MLPClassifier"), {"hidden_layer_sizes": "(4, 100000)"})


def test_numbers_are_rounded_and_never_infinite():
    assert panels.numbers([[1.0, np.inf], [np.nan, 2.0]]) == [[1.0, None], [None, 2.0]]
    assert panels.numbers([]) == [] and panels.numbers([0.0]) == [0.0]
    assert panels.number(np.inf) is None and panels.number(1 / 3) == 0.333333


def test_an_ellipse_has_its_axes():
    places = np.array(panels.ellipse([1.0, 2.0], np.diag([4.0, 1.0]), deviations=2.0)["xy"])
    assert np.allclose(np.abs(places - [1, 2]).max(axis=0), [4, 2], atol=1e-3)


def pictures(model, X, y=None):
    return widget.run(model, X, y)


def test_the_centers_drawn_are_those_of_the_step():
    X = gather({"sample": "clouds"}, learners.data_for(KMeans)).X
    model = KMeans(3, random_state=0)
    _, frames = pictures(model, X)
    for copy, shown in zip(model.iterate(X), frames, strict=True):
        cross = next(layer for layer in shown["panels"][0]["layers"] if layer.get("mark") == "cross")
        assert np.allclose(cross["xy"], copy.cluster_centers_, atol=1e-3)
        data = next(layer for layer in shown["panels"][0]["layers"] if layer["type"] == "data")
        assert data["codes"] == "".join(str(k) for k in copy.predict(X))


def test_the_regions_are_what_the_model_says():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    _, frames = pictures(DecisionTreeClassifier(), X, np.array([0, 0, 1, 1]))
    regions = frames[-1]["panels"][0]["layers"][0]
    row = regions["codes"][: regions["columns"]]
    assert row == "0" * (len(row) // 2) + "1" * (len(row) // 2)  # the border is at 2, in the middle


def test_the_curve_is_the_prediction():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    _, frames = pictures(LinearRegression(), X, y)
    curve = next(layer for layer in frames[-1]["panels"][0]["layers"] if layer["type"] == "line")
    assert np.allclose([b for _, b in curve["xy"]], [1 + 2 * a for a, _ in curve["xy"]], atol=1e-3)
    surface = frames[-1]["panels"][1]
    assert np.allclose(surface["path"], [1.0, 2.0])  # intercept and slope


def test_wrong_points_are_ringed():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [4.0, 0.0], [4.1, 0.0], [4.2, 0.1]])
    y = np.array([0, 0, 1, 1, 0])
    _, frames = pictures(LogisticRegression(), X, y)
    data = next(layer for layer in frames[-1]["panels"][0]["layers"] if layer["type"] == "data")
    assert data["ring"] == [4] and "80.0% right" in frames[-1]["panels"][0]["title"]


def test_the_sentence_has_the_numbers_of_the_trace():
    X = gather({"sample": "clouds"}, learners.data_for(KMeans)).X
    copies = list(KMeans(3, random_state=0).iterate(X))
    assert sentence(copies[0], 0) == "The start, before the first step."
    second = copies[2].trace_
    assert sentence(copies[2], 2).startswith(
        f"Step 2: objective {second[1]:.6g}, down by {second[0] - second[1]:.3g}"
    )


def test_a_scene_that_cannot_be_drawn_says_so():
    class Odd(KMeans):
        def predict(self, X):
            raise RuntimeError("no")

    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    _, frames = pictures(Odd(1), X)
    assert frames and all(
        panel["kind"] in ("plane", "matrix", "facts", "note") for panel in frames[-1]["panels"]
    )


def test_rows_of_many_columns_are_drawn_in_their_plane():
    material = gather({"sample": "plane_in_space"}, learners.DATA["many columns"])
    shown = view(material)
    assert shown.xy.shape == (200, 2) and "principal" in shown.axes[0]
    assert shown.xy[:, 0].var() > shown.xy[:, 1].var()


def test_a_mixture_mixes_the_colors_of_its_components():
    X = np.array([[0.0, 0.0], [0.2, 0.1], [0.1, 0.3], [8.0, 8.0], [8.1, 8.3], [8.3, 8.0], [4.0, 4.1]])
    model = GaussianMixture(2, covariance_type="spherical", random_state=0)
    _, frames = pictures(model, X)
    data = next(layer for layer in frames[-1]["panels"][0]["layers"] if layer["type"] == "data")
    shares = np.array([int(code, 36) / 35 for code in data["shares"]]).reshape(-1, data["parts"])
    assert np.allclose(shares, model.fit(X).predict_proba(X), atol=0.5 / 35 + 1e-9)


def test_hidden_units_are_drawn_over_the_plane_and_along_the_line():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    model = MLPClassifier((3,), max_iter=2, random_state=0)
    _, frames = pictures(model, X, y)
    units = next(panel for panel in frames[-1]["panels"] if panel["kind"] == "images")
    corner = [[panels.limits(X[:, 0])[0], panels.limits(X[:, 1])[1]]]  # left and up is the first cell
    *_, last = model.iterate(X, y)
    assert len(units["images"]) == 3
    assert np.allclose(
        [image[0][0] for image in units["images"]], last.hidden(np.array(corner))[0], rtol=1e-2
    )
    _, frames = pictures(MLPRegressor(hidden_layer_sizes=(4,), max_iter=2, random_state=0), X[:, :1], X[:, 1])
    along = next(panel for panel in frames[-1]["panels"] if "along the line" in panel["title"])
    assert len(along["layers"]) == 4


def test_messages_go_both_ways_and_sum_to_one():
    factors = gather({"n": 4}, learners.data_for(learners.find("BeliefPropagation"))).given
    *_, last = learners.make(learners.find("BeliefPropagation"), {}).iterate(*factors)
    drawn = pictures(learners.make(learners.find("BeliefPropagation"), {}), factors[0])[1][-1]["panels"][0]
    assert {(edge["from"], edge["to"]) for edge in drawn["edges"]} == {
        (i, j) for i in range(4) for j in ((i + 1) % 4, (i - 1) % 4)
    }
    edge = next(edge for edge in drawn["edges"] if (edge["from"], edge["to"]) == (0, 1))
    message = last.messages_[(0, "v1")]
    assert np.isclose(edge["value"], message[-1] / message.sum(), atol=1e-5)


def test_margins_are_drawn_where_there_is_one():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [5.0, 5.0]]), np.array([0, 0, 1, 1])

    def dashed(model):
        layers = pictures(model, X, y)[1][-1]["panels"][0]["layers"]
        return sum(bool(layer.get("dash")) for layer in layers)

    assert dashed(SVC(kernel="linear")) == 2 and dashed(LogisticRegression()) == 0


def test_votes_are_shares_of_the_trees():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [5.0, 5.0]]), np.array(["a", "a", "b", "b"])
    _, frames = pictures(RandomForestClassifier(5, random_state=0), X, y)
    votes = next(p for p in frames[-1]["panels"] if p["title"].startswith("share of the votes for b"))
    field, data = votes["layers"]
    assert field["values"][0] < 0.5 < field["values"][-1] and data["codes"] == "0011"


def test_topics_have_the_words_of_the_sample():
    cls = learners.find("LatentDirichletAllocation")
    material = gather({}, learners.data_for(cls))
    *_, last = learners.make(cls, {}).iterate(*material.given)
    shown = frame(last, 1, material, view(material))["panels"]
    assert "boat" in shown[0]["columns"] and {"boat", "bread", "ball"} <= {
        n for p in shown[1:] for n in p["names"]
    }


def test_a_deprecated_setting_is_not_asked_for():
    assert "penalty" not in {field["name"] for field in forms.form(LogisticRegression)}


class Toy:
    """A learner for forms.

    Parameters
    ----------
    size, depth : int
        How large.
    path : str
        Hidden.
    rule : {"a", "b"}
        What to do
        in the end.
    sizes : tuple
        Layers.

    Notes
    -----
    size : not this one
    """

    _parameter_constraints = {
        "size": [Interval(Integral, 1, None, closed="left")],
        "depth": [Interval(Real, 0, 1, closed="right"), None],
        "rule": [StrOptions({"b", "a"}), None],
        "flag": ["boolean"],
    }

    def __init__(
        self,
        size=20_000,
        depth=None,
        path="x",
        rule="a",
        sizes=(2, 3),
        flag=True,
        random_state=None,
        old="deprecated",
    ):
        pass


def test_a_form_by_hand():
    shown = {f.pop("name"): f for f in forms.form(Toy)}
    assert list(shown) == ["size", "depth", "rule", "sizes", "flag", "random_state"]
    assert shown["size"] == {
        "value": 20_000, "default": 20_000, "about": "int. How large.", "kind": "number", "whole": True, "none": False,
        "low": 1.0, "high": None, "open": [False, True], "options": [],
    }  # fmt: skip
    depth = shown["depth"]
    assert (depth["kind"], depth["whole"], depth["none"], depth["open"]) == (
        "number",
        False,
        True,
        [True, False],
    )
    assert (depth["low"], depth["high"], depth["about"]) == (0.0, 1.0, "int. How large.")
    assert (
        shown["rule"]["kind"] == "choice" and shown["rule"]["options"] == ["a", "b"] and shown["rule"]["none"]
    )
    assert shown["rule"]["about"] == '{"a", "b"}. What to do in the end.'
    assert (
        shown["sizes"]["kind"] == "text" and shown["flag"]["kind"] == "tick" and shown["flag"]["about"] == ""
    )


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("size", 10_000, 10_000),
        ("size", 20_000, 20_000),  # its default
        ("size", 10_001, "size is 10001; the lab goes up to 10000"),
        ("size", -10_001, "size is 10001"),
        ("size", True, True),
        ("random_state", 2**31, 2**31),
        ("sizes", "(1000, 1000)", (1000, 1000)),
        ("sizes", "(1000, 0, 1000)", (1000, 0, 1000)),
        ("sizes", "(1000, 1001)", "multiplies to 1001000"),
        ("sizes", [4, [5, 6]], (4, [5, 6])),
        ("sizes", [1] * 20, (1,) * 20),
        ("sizes", [1] * 21, "must be a number, a word"),
        ("sizes", {"a": 1}, "must be a number, a word"),
        ("sizes", "__import__('os')", "__import__('os')"),
        ("rule", "x" * 200, "x" * 200),
        ("rule", "x" * 201, "longer than 200 characters"),
        ("rule", "(1, 2)", "(1, 2)"),  # a word to choose, no text to read
        ("path", "x", "no setting 'path'"),
    ],
)
def test_settings_within_the_limits_of_the_lab(name, value, read):
    try:
        found = forms.read_settings(Toy, {name: value})[name]
    except RefusedError as error:
        assert isinstance(read, str) and read in str(error)
    else:
        assert found == read and type(found) is type(read)
    with pytest.raises(RefusedError, match="names with values"):
        forms.read_settings(Toy, [name])


def test_edges_of_a_search_are_those_of_its_table_or_of_its_parents():
    def edges(**learned):
        panel = structure_panels(SimpleNamespace(**learned), None)
        return [(e["from"], e["to"]) for e in panel[0]["edges"]], panel[0]["directed"] if panel else None

    both = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    assert edges(adjacency_=both) == ([(0, 1), (1, 0), (1, 2), (2, 1)], False)
    assert edges(adjacency_=csr_array(np.triu(both))) == ([(0, 1), (1, 2)], True)
    assert edges(parents_={"a": [], "b": ["a", "z"], "c": ["b", "a"]}) == ([(0, 1), (1, 2), (0, 2)], True)
    assert structure_panels(SimpleNamespace(), None) == []


def test_leaves_of_a_tree_share_the_width_and_its_levels_the_height():
    X = np.arange(8.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 0, 0, 1, 1])
    (panel,) = tree_panels(model, SimpleNamespace(names=["age"]))
    tree, nodes = model.tree_, {node["id"]: node for node in panel["nodes"]}
    leaves = [node for node in nodes.values() if node["leaf"]]
    assert len(nodes) == tree.node_count and len(panel["edges"]) == tree.node_count - 1
    across = sorted(node["x"] for node in leaves)
    assert across == pytest.approx((np.arange(len(leaves)) + 0.5) / len(leaves), abs=1e-4)
    for place, node in nodes.items():
        level = int(tree.depth[place])
        assert node["y"] == pytest.approx(1 - (level + 0.5) / (tree.max_depth + 1), abs=1e-4)
        assert node["code"] == tree.value[place, 0].argmax()
        below = [nodes[child]["x"] for child in tree.children(place)]
        assert node["leaf"] == (not below) and (not below or below[0] < node["x"] < below[1])
        if below:
            assert node["name"] == f"age ≤ {tree.threshold[place]:.3g}"
    ends = {(panel["nodes"][e["from"]]["id"], panel["nodes"][e["to"]]["id"]) for e in panel["edges"]}
    assert ends == {(node, child) for node in nodes for child in tree.children(node)}
    assert tree_panels(model, SimpleNamespace(names=[]))[0]["nodes"][0]["name"].startswith("x0 ≤")


def test_pictures_come_less_often_the_longer_a_run_is():
    assert [runs.stride(s) for s in (0, 99, 100, 199, 200, 399, 400, 800)] == [1, 1, 2, 2, 4, 4, 8, 16]
