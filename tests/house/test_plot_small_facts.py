"""Small facts of pictures: which curves are named, where marks and grids end, and which color is whose."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose
from scipy import stats

from gnomon import plot
from gnomon.bayes import GaussianNB
from gnomon.core.errors import DataError
from gnomon.decide import MDP, GridWorld
from gnomon.decomposition import PCA
from gnomon.distributions import Bernoulli, Beta, Conjugate
from gnomon.kernels import RBF, Linear
from gnomon.linear import LinearRegression
from gnomon.plot import style
from gnomon.plot.decide import mdp_graph
from gnomon.plot.densities import _likelihood
from gnomon.plot.evaluation import dartboard
from gnomon.plot.grid_worlds import policy_sweep
from gnomon.plot.nearby import neighbors
from gnomon.plot.projections import embedding
from gnomon.plot.trees import found_boxes
from gnomon.recommend import RatingMatrix
from house.legends import close_figures


@pytest.fixture(autouse=True)
def close(request):
    yield
    close_figures(request.node)


def colors(artists):
    return [to_hex(artist.get_color()) for artist in artists]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(("n_named", "named"), [(1, [2]), (2, [1, 2]), (3, [1, 2, 4]), (9, [0, 1, 2, 3, 4])])
def test_curves_that_reach_furthest_are_named(n_named, named):
    curves = np.outer([0.1, 1.0, 0.5], [0.1, 5.0, -7.0, 2.0, -2.5])
    ax = plot.path([1.0, 2.0, 3.0], curves, list("abcde"), n_named=n_named)
    by_name = {line.get_label(): line for line in ax.lines if line.get_label() in "abcde"}
    assert sorted(by_name) == ["abcde"[j] for j in named]
    for rank, j in enumerate(named):
        assert_allclose(by_name["abcde"[j]].get_ydata(), curves[:, j])
        assert to_hex(by_name["abcde"[j]].get_color()) == style.color(rank)
    gray = [line for line in ax.lines if len(line.get_xdata()) == 3 and line.get_label() not in by_name]
    assert len(gray) == 5 - len(named) and set(colors(gray)) <= {style.QUIET}
    assert (ax.get_legend() is None) == (n_named == 1)
    many = plot.path([1.0, 2.0], np.ones((2, 9)))
    assert words(many) == [f"x{j}" for j in range(7)]


@pytest.mark.parametrize(
    ("curves", "x", "scale", "zero"),
    [
        ([[1.0], [2.0]], [1.0, 99.0], "linear", False),
        ([[1.0], [-2.0]], [1.0, 100.0], "log", True),
        ([[0.0], [-2.0]], [0.0, 100.0], "linear", False),
        ([[0.0], [2.0]], [-1.0, 100.0], "linear", False),
        ([1.0, np.nan], [1e-3, 1.0], "log", False),
    ],
)
def test_axes_of_paths(curves, x, scale, zero):
    ax = plot.path(x, curves)
    assert ax.get_xscale() == scale
    assert [line.get_ydata()[0] for line in ax.lines[1:]] == ([0.0] if zero else [])


@pytest.mark.parametrize("holes", [0, 4])
def test_steps_up_to_thirty_have_dots(holes):
    for count, marker in ((29, "o"), (30, "o"), (31, "")):
        values = np.concatenate([np.arange(count, 0.0, -1.0), np.full(holes, np.nan)])
        line = plot.trace(values).lines[0]
        assert line.get_marker() in (marker, marker or "None")
        assert line.get_xdata().tolist() == list(range(1, count + 1))


def test_traces_on_the_same_axes_have_colors_of_their_own():
    ax = plot.trace([3.0, 2.0], label="a")
    plot.trace([4.0, 1.0], ax, label="b")
    assert colors(ax.lines) == [style.color(0), style.color(1)] and words(ax) == ["a", "b"]


def test_a_likelihood_is_one_at_its_largest():
    class Family:
        parameters = {"n": 5, "p": 0.5}

        def __init__(self, p=0.5):
            self.p = p

        def replace(self, p):
            return Family(p)

        def log_likelihood(self, X):
            return [2000 * np.log(self.p) + 1000 * np.log(1 - self.p)]

    grid = np.array([0.5, 0.6, 2 / 3, 0.7])
    found = _likelihood(Family(), None, grid)  # far too small to be told without the scale
    logs = 2000 * np.log(grid) + 1000 * np.log(1 - grid)
    assert_allclose(found, np.exp(logs - logs[2]))
    assert found.max() == found[2] == 1.0


def test_classes_are_drawn_four_deviations_wide():
    model = GaussianNB().fit([[0.0], [2.0], [9.0], [10.0], [14.0]], [0, 0, 1, 1, 1])
    ax = plot.class_densities(model)
    means, deviations = model.family_.mean()[:, 0], np.sqrt(model.family_.variance()[:, 0])
    grid = ax.lines[0].get_xdata()
    assert len(grid) == 400
    assert_allclose((grid[0], grid[-1]), (means[0] - 4 * deviations[0], means[1] + 4 * deviations[1]))
    assert colors(ax.lines) == [style.color(0), style.color(1)] and words(ax) == ["0", "1", "Bayes error"]
    assert sum(np.trapezoid(line.get_ydata(), grid) for line in ax.lines) == pytest.approx(1.0, abs=1e-3)


def test_rows_near_a_query_have_the_colors_of_their_targets():
    X, model = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]]), SimpleNamespace()
    model.kneighbors = lambda rows, return_distance: np.array([[1, 0]] * len(rows))
    plain = neighbors(model, [[0.4, 0.1]], X)
    assert_allclose(plain.collections[0].get_offsets(), X)
    assert {to_hex(c) for c in plain.collections[0].get_facecolors()} == {style.QUIET}
    assert [line.get_xydata().tolist() for line in plain.lines] == [
        [[0.4, 0.1], [1.0, 0.0]],
        [[0.4, 0.1], [0.0, 0.0]],
    ]
    valued = neighbors(model, [[0.4, 0.1]], X, [0.5, 1.5, 2.5])
    assert valued.collections[0].get_array().tolist() == [0.5, 1.5, 2.5]
    named = neighbors(model, [[0.4, 0.1]], X, ["v", "u", "v"])
    assert_allclose(named.collections[0].get_offsets(), X[[1]])
    assert_allclose(named.collections[1].get_offsets(), X[[0, 2]])
    assert words(named)[:2] == ["u", "v"]
    assert [to_hex(part.get_facecolors()[0]) for part in named.collections[:2]] == [
        style.color(0),
        style.color(1),
    ]
    images = neighbors(model, X[:1], X, shape=(1, 2))
    assert [ax.get_title() for ax in images[0]] == ["query", "", ""]
    model.predict = lambda rows: np.array(["u"] * len(rows))
    assert [ax.get_title() for ax in neighbors(model, X[:1], X, list("vuv"), shape=(1, 2))[0]] == [
        "u",
        "u",
        "v",
    ]
    wrong = neighbors(model, X, X, list("vuv"), truth=np.array(["u", "u", "v"]), shape=(1, 2))
    assert [ax.get_title() for ax in wrong[0]] == ["v, said u", "u", "v"]
    assert_allclose(np.asarray(wrong[0, 0].images[0].get_array()), X[2:])


def test_the_rank_of_a_spectrum_is_marked_after_its_bar():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 5 + 0.1 * rng.normal(size=(300, 6))
    ax = plot.scree(PCA().fit(X), criterion=True)
    assert ax.lines[0].get_xdata() == [2.5, 2.5] and words(ax) == ["BIC: 2"]
    assert ax.get_legend().get_frame_on() is False
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx(list(range(1, 7)))
    assert not plot.scree(PCA().fit(X)).lines


def test_boxes_are_framed_where_they_were_found():
    ax = found_boxes(np.zeros((9, 9)), [(1, 2, 3, 4), (0, 5, 6, 1)])
    found = [(box.get_xy(), box.get_width(), box.get_height()) for box in ax.patches]
    assert found == [((2, 1), 4, 3), ((5, 0), 1, 6)]
    for box in ax.patches:
        assert (
            not box.get_fill() and to_hex(box.get_edgecolor()) == style.color(1) and box.get_linewidth() == 2
        )


def test_a_bound_has_the_color_of_the_place_where_it_touches():
    def joint(t):
        return np.log([[0.3, 0.7]]) - 0.5 * (t - np.array([[0.0, 3.0]])) ** 2

    def likelihood(t):
        return np.logaddexp.reduce(joint(t), axis=1).sum()

    ax = plot.em_bound(np.linspace(-1, 2, 5), likelihood, joint, 0.5)
    assert colors(ax.lines) == [style.color(0), style.color(1), style.color(1)]
    assert words(ax) == ["log-likelihood", "lower bound"] and not ax.get_legend().get_frame_on()


def test_receivers_side_by_side():
    y, score = np.repeat([0, 1], 20), np.random.default_rng(0).normal(size=40) + np.repeat([0.0, 1.0], 20)
    ax = plot.roc(y, {"a": score, "b": -score}, level=None)
    assert colors(ax.lines) == [style.color(0), style.color(1), style.QUIET]
    first, second = (float(word.split()[1]) for word in words(ax))
    assert first + second == pytest.approx(1.0, abs=2e-3) and not ax.get_legend().get_frame_on()
    with_bands = plot.roc(y, score, n_resamples=20)
    assert_allclose(with_bands.collections[0].get_alpha(), 0.15)


def test_planes_have_a_color_and_their_rows_another():
    X = np.random.default_rng(0).normal(size=(12, 3)) * [5.0, 2.0, 0.3]
    ax = embedding(PCA(2).fit(X), X, kind="plane")
    surface, rows = ax.collections
    assert to_hex(rows.get_facecolors()[0]) == style.color(1)
    assert to_hex(surface.get_facecolors()[0])[:1] == "#" and len(ax.lines) == 12
    assert set(colors(ax.lines)) == {style.QUIET}


def test_dartboards_reach_beyond_their_rings():
    for i, ax in enumerate(np.ravel(dartboard(n=5))):
        assert (ax.get_xlim(), ax.get_ylim()) == ((-1.6, 1.6), (-1.6, 1.6))
        assert colors(ax.lines) == [style.color(i // 2)] and not ax.patches[0].get_fill()


def test_ranges_are_widened_and_never_empty():
    assert style.limits(np.array([1.0, 3.0])) == pytest.approx((0.84, 3.16))
    assert style.limits(np.array([1.0, 3.0]), 0.5) == pytest.approx((0.0, 4.0))
    assert style.limits(np.array([2.0, 2.0])) == (1.0, 3.0)
    assert [style.color(k) for k in (0, 6, 7, 15)] == [style.COLORS[k] for k in (0, 6, 0, 1)]
    assert style.luminance((1, 1, 1)) == pytest.approx(1.0) and style.luminance((0, 0, 0)) == 0.0
    assert style.luminance((0.04, 0.0, 0.0)) == pytest.approx(0.2126 * 0.04 / 12.92)
    assert style.luminance((0.5, 0.5, 0.5)) == pytest.approx(((0.5 + 0.055) / 1.055) ** 2.4)
    assert [style.text_on(rgb) for rgb in ((1, 1, 0), (0, 0, 0.8))] == ["black", "white"]
    ends = [style.color_map(2)(0.0), style.color_map(2)(1.0)]
    assert [end[3] for end in ends] == [0.0, 1.0] and {to_hex(end[:3]) for end in ends} == {style.color(2)}
    assert style.feature_names(SimpleNamespace(), None, 2) == ["x0", "x1"]
    assert style.feature_names(SimpleNamespace(), SimpleNamespace(columns=[3, "b"]), 2) == ["3", "b"]
    assert style.feature_names(SimpleNamespace(feature_names_in_=["a"]), None, 1) == ["a"]


def test_slices_of_kernels_are_their_numbers():
    ax = plot.kernel_slice([RBF(1.0), Linear()], [0.5], width=2.0)
    for line, one in zip(ax.lines[:2], (RBF(1.0), Linear()), strict=True):
        z = line.get_xdata()
        assert len(z) == 241 and (z[0], z[-1]) == (-1.5, 2.5)
        assert_allclose(line.get_ydata(), one([[0.5]], z[:, None])[0])
    assert colors(ax.lines[:2]) == [style.color(0), style.color(1)]
    assert list(ax.lines[2].get_xdata()) == [0.5, 0.5] and len(words(ax)) == 2
    plane = plot.kernel_slice(RBF(1.0), [1.0, -1.0])
    assert plane.lines[0].get_xydata().tolist() == [[1.0, -1.0]]
    assert (plane.get_xlim(), plane.get_ylim()) == ((-2.0, 4.0), (-4.0, 2.0)) and plane.get_title() == "RBF()"
    for wrong in ([1.0, 2.0, 3.0], [[1.0], [2.0]]):
        with pytest.raises(DataError, match="one point of one or two columns"):
            plot.kernel_slice(RBF(1.0), wrong)
    with pytest.raises(DataError, match="one kernel is drawn at a time"):
        plot.kernel_slice([RBF(1.0), Linear()], [1.0, 2.0])


def test_policies_of_changed_grids_stand_side_by_side():
    grid = GridWorld.small(discount=0.9)
    arrows = []
    for asked, titles in (
        ({"discounts": [0.1, 0.95]}, ["discount 0.1", "discount 0.95"]),
        (
            {"living_rewards": [-0.04, -2.0, 0.1]},
            ["living reward -0.04", "living reward -2", "living reward 0.1"],
        ),
        ({"horizons": [1]}, ["horizon 1"]),
    ):
        axes = policy_sweep(grid if "horizons" not in asked else GridWorld.small(), **asked)
        assert [ax.get_title() for ax in axes] == titles
        assert len({ax.get_position().x0 for ax in axes}) == len(titles)
        arrows.append([[text.get_text() for text in ax.texts] for ax in axes])
    assert arrows[1][0] != arrows[1][1]  # who loses much by every step goes the shortest way
    for wrong in ({}, {"discounts": [0.5], "horizons": [1]}):
        with pytest.raises(DataError, match="give one of"):
            policy_sweep(grid, **wrong)


def test_what_is_believed_before_and_after():
    before = Conjugate(Bernoulli(), Beta(2.0, 3.0))
    data = np.array([1.0, 1.0, 0.0, 1.0])
    ax = plot.belief_update(before, data, points=102)
    prior, likelihood, posterior = ax.lines
    grid = prior.get_xdata()
    assert len(grid) == 100 and words(ax) == ["prior", "likelihood, scaled", "posterior"]
    low, high = (
        pick(law.ppf(q) for law in (stats.beta(2, 3), stats.beta(5, 4)))
        for pick, q in ((min, 0.001), (max, 0.999))
    )
    assert_allclose(grid, np.linspace(low, high, 102)[1:-1], rtol=1e-6)
    assert_allclose(prior.get_ydata(), stats.beta(2, 3).pdf(grid), rtol=1e-6)
    assert_allclose(posterior.get_ydata(), stats.beta(5, 4).pdf(grid), rtol=1e-6)
    wanted = grid**3 * (1 - grid)
    assert_allclose(likelihood.get_ydata(), wanted / wanted.max() * posterior.get_ydata().max(), rtol=1e-6)


def test_words_without_names_are_numbered():
    ax = plot.topics(
        SimpleNamespace(components_=np.array([[4.0, 1.0, 3.0, 2.0], [1.0, 2.0, 3.0, 10.0]])), n=3
    )
    assert [text.get_text() for text in ax.texts] == ["x0", "x2", "x3", "x3", "x2", "x1"]
    assert_allclose(
        [bar.get_width() for bar in ax.patches],
        np.array([0.4, 0.3, 0.2, 10 / 16, 3 / 16, 2 / 16]) / (10 / 16 * 1.05),
    )


def test_a_surface_of_a_plane_holds_the_feet_of_all_rows(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3)) @ np.diag([3.0, 2.0, 0.1]) + [1.0, 2.0, 3.0]
    model, drawn = PCA(2).fit(X), []
    ax = pyplot.figure().add_subplot(projection="3d")
    monkeypatch.setattr(ax, "plot_surface", lambda *where, **how: drawn.append((np.array(where), how)))
    plot.embedding(model, X, kind="plane", ax=ax)
    ((where, how),) = drawn
    assert where.shape == (3, 2, 2) and to_hex(how["color"]) == style.color(0)
    scores = (np.moveaxis(where, 0, -1) - X.mean(axis=0)) @ model.components_.T
    rebuilt = scores @ model.components_ + X.mean(axis=0)
    assert_allclose(np.moveaxis(rebuilt, -1, 0), where, atol=1e-12)
    own = (X - X.mean(axis=0)) @ model.components_.T
    assert (scores.min(axis=(0, 1)) < own.min(axis=0)).all() and (
        scores.max(axis=(0, 1)) > own.max(axis=0)
    ).all()


@pytest.mark.parametrize(("columns", "count"), [(2, 4), (4, 4), (4, 8)])
def test_images_keep_their_size_in_any_table(columns, count):
    ax = plot.images(np.arange(count * 16.0).reshape(count, 4, 4), columns=columns)
    width, height = ax.figure.get_size_inches()
    assert width - 0.5 == pytest.approx(0.9 * columns) and height - 0.3 == pytest.approx(
        0.9 * count / columns
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_states_of_a_graph_stand_on_a_circle_and_a_single_one_in_its_middle(n):
    T = np.full((n, 2, n), 1.0 / n)
    ax = mdp_graph(MDP(T, np.zeros((n, 2)), layout="sas"))
    states = [line for line in ax.lines if line.get_markersize() == 28]
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    where = np.column_stack([np.cos(angle), np.sin(angle)]) * (n > 1)
    assert_allclose([line.get_xydata()[0] for line in states], where, atol=1e-12)
    assert set(colors(states)) == {style.color(0)}
    assert [text.get_text() for text in ax.texts if text.get_color() == "white"] == [str(s) for s in range(n)]


def test_a_band_over_a_named_column():
    pd = pytest.importorskip("pandas")
    X, y = np.linspace(0.0, 3.0, 9), np.sin(np.linspace(0.0, 3.0, 9))
    frame = pd.DataFrame({"depth": X})
    model = LinearRegression().fit(frame, y)
    named, plain = (plot.predictive_band(one, table, y) for one, table in [
        (model, frame), (LinearRegression().fit(X[:, None], y), X[:, None])
    ])  # fmt: skip
    for one, other in zip(named.lines, plain.lines, strict=True):
        assert_allclose(one.get_xydata(), other.get_xydata())
    for one, other in zip(named.collections, plain.collections, strict=True):
        assert_allclose(one.get_paths()[0].vertices, other.get_paths()[0].vertices)


@pytest.mark.parametrize(("names", "turned"), [(["a", "bcd"], 0), (["a", "bcde"], 45)])
def test_long_names_of_items_are_turned(names, turned):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": ["u", "u", "v"], "item": [*names, names[0]], "rating": [1.0, 5.0, 3.0]})
    ax = plot.rating_matrix(RatingMatrix.from_frame(frame))
    labels = ax.get_xticklabels()
    assert [label.get_text() for label in labels] == names
    assert {label.get_rotation() for label in labels} == {turned}
    assert {label.get_ha() for label in labels} == {"right" if turned else "center"}
    told = {tuple(map(round, text.get_position())): text for text in ax.texts}
    assert {place: text.get_text() for place, text in told.items()} == {(0, 0): "1", (1, 0): "5", (0, 1): "3"}
    assert [told[place].get_color() for place in ((0, 0), (1, 0), (0, 1))] == ["white", "black", "white"]


@pytest.mark.parametrize("sizes", [(2, 3, 1), (4, 12, 2)])
def test_units_of_a_layer_stand_around_its_middle_with_their_number(sizes):
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(m, n)) for m, n in zip(sizes[:-1], sizes[1:])]
    ax = plot.layers(SimpleNamespace(coefs_=weights), measure="units", max_units=8)
    for layer, (size, points) in enumerate(zip(sizes, ax.collections, strict=True)):
        n = min(size, 8)
        assert_allclose(
            points.get_offsets(), np.column_stack([np.full(n, layer), np.arange(n) - (n - 1) / 2])
        )
        assert (ax.texts[layer].get_text(), ax.texts[layer].get_position()) == (
            str(size),
            (layer, (n - 1) / 2 + 0.7),
        )
    width, height = ax.figure.get_size_inches()
    assert (width, height) == pytest.approx((2 + 1.6 * 3, 1 + 0.35 * min(max(sizes), 8)))
