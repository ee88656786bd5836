"""Pictures of learners from rows, part by part: points, regions, centers, curves, lines of error, votes and units."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from gnomon.decomposition import PCA
from gnomon.ensemble import RandomForestClassifier
from gnomon.lab import scene_rows as scene
from gnomon.lab.material import Material, View, view
from gnomon.lab.panels import answer_or_none, limits
from gnomon.lab.scene_nets import net_panels
from gnomon.lab.scene_trees import vote_panels
from gnomon.linear import LinearRegression

RNG = np.random.default_rng(0)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def of(X, y=None, names=("a", "b")):
    given = (np.asarray(X, dtype=float),) if y is None else (np.asarray(X, dtype=float), np.asarray(y))
    return Material(given, "", list(names), "t")


def found(layers, kind):
    return [layer for layer in layers if layer["type"] == kind]


class Side(ClassifierMixin, BaseEstimator):
    """The class follows from whether the first column is above a half."""

    def __init__(self, names=(0, 1)):
        self.names = names
        self.classes_ = np.array(names)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0.5).astype(int)]


class Sloped(Side):
    def decision_function(self, X):
        return 4.0 * (np.asarray(X)[:, 0] - 0.5)


class Sure(Side):
    def predict_proba(self, X):
        p = np.clip(np.asarray(X)[:, 0], 0, 1)
        return np.column_stack([1 - p, p])


class Line(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return 2.0 * np.asarray(X)[:, 0] + 1.0


def told(**attributes):
    """Return a model that says this."""
    model = BaseEstimator()
    vars(model).update(attributes)
    return model


# classes


def test_labels_have_places_among_the_names():
    assert scene._coded(["b", "a", "c", 1], ["a", "b", 1]).tolist() == [1, 0, -1, 2]
    assert (
        scene._shares(["x", "y", "z", "w"], np.array([0.1, 0.5, 0.123456, 0.27]))
        == "y: 0.5, w: 0.27, z: 0.123"
    )
    assert scene._shares(["x"], np.array([0.25, 0.75])) == "x: 0.25"


def test_classes_are_drawn_with_wrong_rows_ringed_and_unknown_ones_gray():
    material = of(CORNERS, ["l", "l", "l", "?"])
    (panel,) = scene.rows_scene(Side(("l", "r")), material, view(material))
    regions, data = panel["layers"]
    assert data["ring"] == [1] and data["codes"] == "000z"  # the last has a name that is no class
    assert panel["title"] == "66.7% right; wrong ones are ringed" and panel["names"] == ["l", "r"]
    assert (panel["x"], panel["y"]) == ("a", "b") and "tips" not in data and "sizes" not in data
    row = regions["codes"][:72]
    x = np.linspace(*regions["xlim"], 72)
    assert row == "".join("01"[int(place > 0.5)] for place in x) and regions["codes"] == row * 72
    sure = scene.rows_scene(Sure(), of(CORNERS, [0, 1, 0, 1]), view(material))[0]
    assert found(sure["layers"], "data")[0]["tips"][0] == "0: 1, 1: 0"
    assert sure["title"].startswith("100.0% right")
    held = Side()
    held.support_ = np.array([0, 3, 9, -1])
    supported = scene.rows_scene(held, of(CORNERS, [0, 1, 0, 1]), view(material))[0]
    assert found(supported["layers"], "data")[0]["ring"] == [0, 3]
    assert supported["title"].endswith("2 support vectors are ringed")


@pytest.mark.parametrize(("cls", "n"), [(Sloped, 1), (Sure, 1), (Side, 0)])
def test_the_border_of_two_classes_is_drawn_where_it_is(cls, n):
    material = of(CORNERS, [0, 1, 0, 1])
    layers = scene._regions(cls(), view(material), [0, 1])
    lines = found(layers, "line")
    assert len(lines) == n and layers[0]["type"] == "regions" and layers[0]["rows"] == 72
    for one in lines:
        assert_allclose(np.array(one["xy"])[:, 0], 0.5, atol=1e-3)
        assert one["width"] == 2 and not one["dash"] and one["color"] == -1
    model = cls()
    model.loss = "squared_hinge"
    lines = found(scene._regions(model, view(material), [0, 1]), "line")
    assert len(lines) == (3 if cls is Sloped else n)
    if cls is Sloped:
        assert sorted(round(one["xy"][0][0], 3) for one in lines if one["dash"]) == [0.25, 0.75]
    assert not found(scene._regions(cls(), view(material), [0, 1, 2]), "line")


def test_margins_belong_to_hinges_and_support_vectors():
    assert scene._has_margin(SimpleNamespace(support_=[]))
    assert scene._has_margin(SimpleNamespace(loss="hinge")) and not scene._has_margin(
        SimpleNamespace(loss="log")
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [([0, 2, 5, -1], [0, 2]), ([0.0, 2.0], None), ([[0], [2]], None), ([True, False], None), (None, None)],
)
def test_support_vectors_are_numbers_of_rows(given, expected):
    model = SimpleNamespace() if given is None else SimpleNamespace(support_=np.array(given))
    rows = scene._support(model, 5)
    assert rows is expected if expected is None else rows.tolist() == expected


def test_sizes_of_points_are_roots_of_their_weights():
    def sizes(weights):
        return scene._weights(SimpleNamespace(sample_weights_=weights), 4)

    assert_allclose(sizes([[9.0, 1, 1, 1], [1.0, 1, 1, 5]]), np.sqrt([0.5, 0.5, 0.5, 2.5]))
    assert_allclose(sizes(np.array([0.0, 0, 0, 1])), [0.4, 0.4, 0.4, 2])
    assert_allclose(scene._weights(SimpleNamespace(sample_weights_=np.eye(1, 100)[0]), 100)[:2], [4, 0.4])
    assert sizes([0.0] * 4) is None and sizes([1.0] * 3) is None
    assert scene._weights(SimpleNamespace(), 4) is None


def test_members_have_their_say():
    (panel,) = scene._ensemble(SimpleNamespace(estimator_weights_=[[0.5], [0.25]]))
    assert panel["title"] == "the say of every member"
    assert panel["names"] == ["1", "2"] and panel["values"] == [0.5, 0.25]
    assert len(scene._ensemble(SimpleNamespace(estimator_weights_=np.ones(200)))) == 1
    for none in (np.ones(201), []):
        assert scene._ensemble(SimpleNamespace(estimator_weights_=none)) == []
    assert scene._ensemble(SimpleNamespace()) == []


# groups


def test_groups_are_what_is_predicted_or_learned():
    X = CORNERS
    assert scene._labels(told(labels_=[0, 1, 1, -1]), X).tolist() == [0, 1, 1, -1]
    assert scene._labels(told(labels_=[0, 1]), X) is None and scene._labels(told(), X) is None
    both = told(predict=lambda X: np.arange(len(X)), labels_=[9, 9, 9, 9])
    assert scene._labels(both, X).tolist() == [0, 1, 2, 3]
    for odd in (lambda X: np.ones(len(X)), lambda X: np.ones((len(X), 1), dtype=int), lambda X: 1 / 0):
        assert scene._labels(told(predict=odd, labels_=[5, 5, 5, 6]), X).tolist() == [5, 5, 5, 6]
    flags = scene._labels(told(predict=lambda X: X[:, 0] > 0), X)
    assert flags.tolist() == [0, 1, 0, 1]


def test_groups_with_noise_shares_and_medoids():
    model = told(
        predict=lambda X: np.where(np.asarray(X)[:, 0] > 0.5, 1, -1),
        predict_proba=lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
        medoid_indices_=[3, 0],
        cluster_centers_=[[0.0, 0.5], [1.0, 0.5]],
    )
    material = of(CORNERS)
    (panel,) = scene.rows_scene(model, material, view(material))
    regions, data, cross = panel["layers"]
    assert panel["title"] == "2 groups" and data["codes"] == "0202"  # noise is −1: all move up by one
    assert set(regions["codes"]) == {"0", "2"} and data["ring"] == [3, 0] and data["parts"] == 2
    assert data["tips"][1] == "1: 1, 0: 0" and data["shares"] == "z00zz00z"
    assert cross["tips"] == ["center 0: 0.0, 0.5", "center 1: 1.0, 0.5"] and cross["codes"] == "01"
    assert scene._medoids(told(medoid_indices_=[4]), 4) == ()
    assert scene._medoids(told(medoid_indices_=[3]), 4).tolist() == [3]
    many = told(predict_proba=lambda X: np.full((len(X), 8), 1 / 8))
    assert "shares" not in found(scene.rows_scene(many, material, view(material))[0]["layers"], "data")[0]
    seven = told(predict_proba=lambda X: np.full((len(X), 7), 1 / 7))
    assert "shares" in found(scene.rows_scene(seven, material, view(material))[0]["layers"], "data")[0]


def test_a_density_is_a_surface():
    material = of(CORNERS)
    model = told(score_samples=lambda X: X[:, 0])
    panel = scene.rows_scene(model, material, view(material))[0]
    assert [layer["type"] for layer in panel["layers"]] == ["surface", "data"] and panel[
        "title"
    ] == "the data"
    values = np.reshape(panel["layers"][0]["values"], (72, 72))
    assert_allclose(values[0], np.linspace(*panel["xlim"], 72), atol=1e-3)
    other = told(decision_function=lambda X: X[:, 1])
    surface = scene.rows_scene(other, material, view(material))[0]["layers"][0]["values"]
    assert_allclose(np.reshape(surface, (72, 72))[:, 5], np.linspace(*panel["ylim"], 72), atol=1e-3)
    odd = told(score_samples=lambda X: 0.0)
    assert [x["type"] for x in scene.rows_scene(odd, material, view(material))[0]["layers"]] == ["data"]


def test_centers_have_crosses_and_ellipses():
    means, covariances = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([np.eye(2), 4 * np.eye(2)])
    one, other, cross = scene._centers(told(means_=means, covariances_=covariances, weights_=[0.25, 0.75]))
    assert_allclose(np.ptp(np.array(one["xy"]), axis=0), 4, rtol=1e-2)  # two deviations to both sides
    assert_allclose(np.ptp(np.array(other["xy"]), axis=0), 8, rtol=1e-2)
    assert (one["color"], other["color"]) == (0, 1) and cross["mark"] == "cross" and cross["size"] == 8
    assert cross["tips"] == ["center 0: 0.0, 1.0; weight 0.25", "center 1: 2.0, 3.0; weight 0.75"]
    ring, middle = scene._centers(told(mean_=np.array([1.0, 2.0]), covariance_=np.eye(2)))
    assert middle["xy"] == [[1, 2]] and ring["type"] == "line"
    wide = told(means_=np.zeros((2, 3)), mean_=np.zeros(3), covariance_=np.eye(3))
    assert scene._centers(wide) == [] and scene._centers(told()) == []
    assert scene._centers(told(mean_=np.zeros(2))) == []


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("full", np.array([np.eye(2), 2 * np.eye(2)]), [np.eye(2), 2 * np.eye(2)]),
        ("tied", 3 * np.eye(2), [3 * np.eye(2)] * 2),
        ("diag", np.array([[1.0, 2.0], [3.0, 4.0]]), [np.diag([1.0, 2.0]), np.diag([3.0, 4.0])]),
        ("spherical", np.array([1.0, 5.0]), [np.eye(2), 5 * np.eye(2)]),
        ("full", np.eye(2), []),
        ("diag", np.array([np.eye(2), np.eye(2)]), []),
        ("spherical", np.ones(3), []),
    ],
)
def test_covariances_of_every_kind(kind, given, expected):
    model = told(covariances_=given, covariance_type=kind)
    assert_allclose(np.reshape(scene._covariances(model, 2), (-1, 2, 2)), np.reshape(expected, (-1, 2, 2)))
    assert scene._covariances(told(), 2) == []
    assert len(scene._covariances(told(covariances_=np.array([np.eye(2)] * 2)), 2)) == 2


@pytest.mark.parametrize(
    ("x", "bins", "places"), [([0.0, 1, 1, 3], 8, [0, 1, 2, 3]), ([0.5, 1.25, 4], 8, None)]
)
def test_one_column_is_a_histogram_under_its_density(x, bins, places):
    x = np.array(x)
    model = told(weights_=[1.0], score_samples=lambda at: np.log(np.full(len(at), 0.75)))
    material = of(x[:, None], names=["t"])
    (panel,) = scene.rows_scene(model, material, view(material))
    bars_, lines = found(panel["layers"], "band"), found(panel["layers"], "line")
    counts, edges = np.histogram(x, bins, density=True)
    assert_allclose([band["high"][0] for band in bars_], counts, atol=1e-4)
    assert_allclose([band["x"] for band in bars_], np.c_[edges[:-1], edges[1:]], atol=1e-3)
    assert all(band["low"] == [0, 0] for band in bars_)
    at = np.array(lines[0]["xy"])
    assert_allclose(at[:, 1], 0.75)
    if places is None:
        assert_allclose(at[:, 0], np.linspace(*limits(x), 160), atol=1e-3)
    else:
        assert at[:, 0].tolist() == places
    assert panel["ylim"] == pytest.approx([0, 1.1 * max(0.75, counts.max())]) and panel["xlim"] == limits(x)
    assert panel["x"] == "t" and panel["title"] == panel["y"] == "density"
    silent = told(weights_=[1.0], score_samples=lambda at: np.full(len(at), np.nan))
    (panel,) = scene._histogram(silent, RNG.normal(size=100), material)
    assert len(panel["layers"]) == 40 and not found(panel["layers"], "line")


def test_rows_are_shown_where_the_model_puts_them():
    X = RNG.normal(size=(6, 3))
    (panel,) = scene._projection(SimpleNamespace(embedding_=X), X, np.arange(6) + 35)
    dots = panel["layers"][0]
    assert_allclose(dots["xy"], X[:, :2], atol=1e-3)
    assert dots["codes"] == "z01234" and dots["size"] == 3
    assert panel["xlim"] == limits(X[:, 0]) and panel["ylim"] == limits(X[:, 1])
    assert (panel["x"], panel["y"]) == ("first", "second")
    (line,) = scene._projection(SimpleNamespace(transform=lambda X: X[:, :1]), X, None)
    assert_allclose(line["layers"][0]["xy"], np.c_[X[:, 0], np.zeros(6)], atol=1e-3)
    assert "codes" not in line["layers"][0]
    for model in (
        SimpleNamespace(), SimpleNamespace(embedding_=X[:5]), SimpleNamespace(embedding_=X[:, 0]),
        SimpleNamespace(embedding_=X * np.nan),
    ):  # fmt: skip
        assert scene._projection(model, X, None) == []
    flat = SimpleNamespace(transform=lambda X: X)
    assert scene._projection(flat, X[:, :2], None) == [] and len(scene._projection(flat, X, None)) == 1
    assert (
        len(scene._projection(PCA(2).fit(X[:, :2]), X[:, :2], None)) == 1
    )  # a decomposition always shows it


# numbers


def test_said_beside_true_where_columns_are_many():
    material = of(CORNERS, [1.0, 3.0, 2.0, 3.0])
    (panel,) = scene.rows_scene(Line(), material, view(material))
    assert panel["title"] == "said beside true; mean squared error 0.25"
    diagonal, dots = panel["layers"]
    low, high = limits([1.0, 3.0])
    assert (
        diagonal["xy"] == [[low, low], [high, high]] and diagonal["dash"] and panel["xlim"] == panel["ylim"]
    )
    assert dots["xy"] == [[1, 1], [3, 3], [2, 1], [3, 3]] and (panel["x"], panel["y"]) == ("true", "said")


def test_a_curve_with_the_interval_it_knows():
    x = np.linspace(0, 1, 5)
    material = of(x[:, None], 2 * x + 1, ["t"])
    plain = scene._curve(Line(), view(material))
    assert plain["title"] == "the curve" and [layer["type"] for layer in plain["layers"]] == ["line", "data"]
    assert_allclose(np.array(plain["layers"][0]["xy"])[:, 0], np.linspace(*plain["xlim"], 160), atol=1e-3)

    class Ends(Line):
        def predict_interval(self, X):
            return self.predict(X) - 1, self.predict(X) + 3

    class Spread(Line):
        def predict(self, X, return_std=False):
            return (super().predict(X), np.full(len(X), 0.5)) if return_std else super().predict(X)

    for model, low, high in ((Ends(), -1, 3), (Spread(), -0.98, 0.98)):
        curve = scene._curve(model, view(material))
        band, line, _ = curve["layers"]
        assert curve["title"] == "the curve and where 95% of new points are"
        middle = np.array(line["xy"])[:, 1]
        assert_allclose(band["low"], middle + low, atol=2e-3)
        assert_allclose(band["high"], middle + high, atol=2e-3)
    held = Line()
    held.support_ = np.array([1, 4])
    assert scene._curve(held, view(material))["layers"][-1]["ring"] == [1, 4]


@pytest.mark.parametrize(("slope", "height"), [(2.0, 1.0), (0.5, 0.0), (9.0, -7.0)])
def test_errors_of_all_lines(slope, height):
    x = np.array([0.0, 1.0, 2.0, 4.0])
    y = np.array([1.0, 2.5, 5.5, 9.0])
    best = np.polyfit(x, y, 1)
    (panel,) = scene._loss(SimpleNamespace(coef_=[slope], intercept_=height), x, y)
    field, cross = panel["layers"]
    spread = 1.5 * max(abs(slope - best[0]), abs(best[0]), 0.5)
    rise = 1.5 * max(abs(height - best[1]), abs(best[1]), y.std(), 0.5)
    assert_allclose(panel["xlim"], [best[1] - rise, best[1] + rise], atol=1.0)
    assert_allclose(np.diff(panel["xlim"]) / 2, rise, rtol=0.5)
    assert panel["xlim"][0] <= best[1] - rise + 1e-4 and panel["xlim"][1] >= best[1] + rise - 1e-4
    assert panel["ylim"][0] <= best[0] - spread + 1e-4 and panel["ylim"][1] >= best[0] + spread - 1e-4
    values = np.reshape(field["values"], (40, 40))
    for i in (0, 7, 39):
        for j in (0, 20, 39):
            a, b = np.linspace(*panel["ylim"], 40)[i], np.linspace(*panel["xlim"], 40)[j]
            assert values[i, j] == pytest.approx(np.log(np.mean((y - a * x - b) ** 2) + 1e-9), abs=6e-3)
    error = np.mean((y - slope * x - height) ** 2)
    assert cross["tips"] == [f"intercept {height:.4g}, slope {slope:.4g}, mean squared error {error:.4g}"]
    assert cross["xy"] == [[height, slope]] == [panel["path"]] and cross["mark"] == "cross"
    assert (panel["x"], panel["y"]) == ("intercept", "slope")
    for odd in (
        SimpleNamespace(coef_=[1.0, 2.0], intercept_=0.0),
        SimpleNamespace(coef_=[1.0]),
        SimpleNamespace(),
    ):
        assert scene._loss(odd, x, y) == []


@pytest.mark.parametrize(
    ("weights", "shown"),
    [
        (np.array([1.0, 2.0]), True),
        (np.array([[1.0, 2.0]]), True),
        (csr_array(np.array([[1.0, 2.0]])), True),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), False),
        (np.array([1.0, 2.0, 3.0]), False),
        (np.ones((1, 1, 2)), False),
        ([1.0, 2.0], False),
        (np.array([1.0]), False),
    ],
)
def test_coefficients_have_the_names_of_their_columns(weights, shown):
    panels = scene._coefficients(SimpleNamespace(coef_=weights), of(CORNERS))
    assert len(panels) == shown
    if shown:
        assert panels[0]["names"] == ["a", "b"] and panels[0]["values"] == [1, 2]


def test_forty_coefficients_are_drawn_and_no_more():
    for n, shown in ((40, 1), (41, 0)):
        names = [str(k) for k in range(n)]
        assert (
            len(scene._coefficients(SimpleNamespace(coef_=np.ones(n)), of(np.ones((2, n)), names=names)))
            == shown
        )


def test_a_line_is_drawn_with_its_errors():
    x = np.linspace(0, 1, 5)
    material = of(x[:, None], 2 * x + 1, ["t"])
    panels = scene.rows_scene(LinearRegression().fit(x[:, None], 2 * x + 1), material, view(material))
    assert [panel["title"] for panel in panels] == ["the curve", "squared error of every line"]
    assert isinstance(view(material), View) and answer_or_none(lambda: 1 / 0) is None


# votes and units


@pytest.mark.parametrize("classes", [2, 3])
def test_votes_for_the_second_class_or_the_winner(classes):
    X = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]])
    y = np.minimum(X[:, 0], classes - 1).astype(int)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    (panel,) = vote_panels(model, of(X, y))
    field, dots = panel["layers"]
    assert (field["rows"], field["columns"], field["high"]) == (40, 40, 1)
    assert field["low"] == (0 if classes == 2 else 1 / 3)
    x, up = np.linspace(*limits(X[:, 0]), 40), np.linspace(*limits(X[:, 1]), 40)
    shares = model.predict_proba(np.array([[a, b] for b in up for a in x]))
    assert_allclose(field["values"], shares[:, 1] if classes == 2 else shares.max(axis=1), atol=1e-3)
    assert dots["codes"] == "".join(map(str, y)) and dots["ring"] == []
    assert ("the winner" in panel["title"]) == (classes == 3) and (panel["x"], panel["y"]) == ("a", "b")
    assert vote_panels(model, of(np.c_[X, X], y)) == [] and vote_panels(Side(), of(X, y)) == []


def test_weights_and_units_of_a_network():
    W, V = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 1))
    model = SimpleNamespace(coefs_=[W, V], hidden=lambda X: np.asarray(X) @ W)
    units, first, second = net_panels(model, of(CORNERS))
    assert (first["title"], second["title"]) == ("weights of layer 1", "weights of layer 2")
    assert_allclose(first["values"], W.T, atol=1e-3)
    assert_allclose(second["values"], V.T, atol=1e-3)
    assert first["diverging"] is True and len(units["images"]) == 3
    x, y = np.linspace(*limits(CORNERS[:, 0]), 24), np.linspace(*limits(CORNERS[:, 1]), 24)
    for k, image in enumerate(units["images"]):
        expected = [[W[0, k] * a + W[1, k] * b for a in x] for b in y[::-1]]  # the upper row first
        assert_allclose(image, expected, atol=2e-3)
    rows = RNG.normal(size=(90, 3))
    wide = SimpleNamespace(coefs_=[np.ones((81, 2)), np.ones((80, 2))], hidden=lambda X: X[:, :2])
    table, only = net_panels(wide, of(rows, names="abc"))
    assert only["title"] == "weights of layer 2"
    assert_allclose(table["values"], rows[:80, :2].T, atol=1e-3)
    kinds = {"conv": RNG.normal(size=(2, 3, 4, 4)), "bias": np.ones(3), "dense": np.ones((2, 2))}
    filters, dense = net_panels(SimpleNamespace(weights_=kinds), of(rows, names="abc"))
    assert filters["title"] == "filters: conv" and len(filters["images"]) == 6 and dense["title"] == "dense"
    assert_allclose(filters["images"][4], kinds["conv"][1, 1], atol=1e-3)
    assert len(net_panels(SimpleNamespace(coefs_=[np.ones((2, 2))] * 9), of(rows, names="abc"))) == 6
    assert net_panels(SimpleNamespace(), of(CORNERS)) == []


def test_units_along_the_line_and_filters_over_pictures():
    x = np.linspace(0, 1, 6)[:, None]
    W = np.arange(1.0, 15.0)
    model = SimpleNamespace(coefs_=[W[None]], hidden=lambda X: np.asarray(X) * W)
    along, weights = net_panels(model, of(x, names=["t"]))
    assert along["title"] == "what every hidden unit answers along the line" and along["x"] == "t"
    assert len(along["layers"]) == 12 and [layer["color"] for layer in along["layers"]] == list(range(12))
    at = np.linspace(*limits(x), 80)
    for k, layer in enumerate(along["layers"]):
        assert_allclose(layer["xy"], np.c_[at, at * (k + 1)], atol=2e-3)
    assert along["ylim"] == limits(at[:, None] * W) and along["xlim"] == limits(x)
    assert np.shape(weights["values"]) == (14, 1)
    for empty in (lambda X: np.zeros((len(X), 0)), lambda X: 1 / 0):
        for rows in (x, CORNERS, np.ones((4, 3))):
            silent = SimpleNamespace(coefs_=[W[None]], hidden=empty)
            assert len(net_panels(silent, of(rows, names="abc"))) == 1
    images = RNG.uniform(size=(5, 3, 3, 2))
    seen = RNG.normal(size=(2, 4, 3, 3))

    class Filters(SimpleNamespace):
        def activation_maps(self, X, layer):
            assert len(X) == 2 and layer == 0
            return seen

    first, second = net_panels(Filters(weights_={}), Material((images,), "", []))
    assert first["title"] == "picture 0 and what the filters see in it" and first["each"] is True
    assert len(first["images"]) == 5 and first["word"] == "part"
    assert_allclose(second["images"][0], images[1, :, :, 0], atol=1e-3)
    assert_allclose(second["images"][4], seen[1, 3], atol=1e-3)
    odd = Filters(weights_={})
    odd.activation_maps = lambda X, layer: np.ones((2, 3))
    assert net_panels(odd, Material((images,), "", [])) == []
