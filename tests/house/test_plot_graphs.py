"""Pictures of grids, networks, lines and images: places, colors and words are those of what is drawn."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.decide import GridWorld
from gnomon.plot import style
from gnomon.plot.association import itemset_lattice, rules
from gnomon.plot.curves import gains
from gnomon.plot.graphical import network
from gnomon.plot.grid_worlds import EIGHT, FOUR
from gnomon.plot.mixtures import mixture
from gnomon.plot.networks import computation_graph
from gnomon.plot.recommend import item_map
from gnomon.plot.regression import surface
from gnomon.plot.theory import duality, growth, shatter_panels
from house.legends import close_figures


@pytest.fixture(autouse=True)
def close(request):
    yield
    close_figures(request.node)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def arrows(ax):
    """Start and end of every arrow."""
    return [
        (tuple(np.round(text.xyann, 9)), tuple(np.round(text.xy, 9)))
        for text in ax.texts
        if getattr(text, "arrow_patch", None) is not None
    ]


# Grids


GRID = GridWorld((2, 3), walls=[(1, 1)], terminals={(0, 2): 1.0})


def test_cells_of_a_grid_have_numbers_frames_and_walls():
    values = np.array([0.0, 0.5, 1.0, 0.25, 0.75])
    ax = plot.grid_map(GRID, values, fmt=".1f")
    table = np.asarray(ax.images[0].get_array().filled(np.nan))
    assert_allclose(table, [[0, 0.5, 1], [0.25, np.nan, 0.75]])
    for text, (i, j), value in zip(ax.texts, GRID.cells, values):
        assert text.get_position() == (j, i - 0.18) and text.get_text() == f"{value:.1f}"
    boxes = {box.get_xy(): box for box in ax.patches}
    for i, j in np.ndindex(2, 3):
        box = boxes[j - 0.5, i - 0.5]
        assert (box.get_linewidth() > 2) == ((i, j) == (0, 2)) and (box.get_facecolor()[3] > 0) == (
            (i, j) == (1, 1)
        )
        assert box.get_width() == box.get_height() == 1
    assert ax.get_xlim() == (-0.5, 2.5) and ax.get_ylim() == (1.5, -0.5)
    assert not plot.grid_map(GRID, values, numbers=False).texts
    for wrong in (np.zeros(4), np.zeros((5, 3))):
        with pytest.raises(DataError, match=r"values must be \(5,\) or \(5, 4\)"):
            plot.grid_map(GRID, wrong)
    large = GridWorld((10, 15))
    assert len(plot.grid_map(large, np.zeros(150)).texts) == 150
    assert not plot.grid_map(GridWorld((1, 151)), np.zeros(151)).texts


def test_a_path_ends_in_a_dot_and_arrows_point_where_the_policy_goes():
    ax = plot.grid_map(GRID, path=[3, 0, 1])
    assert ax.lines[0].get_xydata().tolist() == [[0, 1], [0, 0], [1, 0]]
    assert ax.lines[1].get_xydata().tolist() == [[1, 0]]
    policy = np.array([1, 2, 0, 0, 3])
    for values, shift in ((None, 0.0), (np.zeros(5), 0.15)):
        seen = arrows(plot.grid_map(GRID, values, policy=policy))
        assert len(seen) == 4  # the end has none
        for (start, end), s in zip(seen, (0, 1, 3, 4)):
            i, j = GRID.cells[s]
            way = np.array(FOUR[policy[s]])
            assert_allclose(start, np.array([j, i + shift]) - 0.2 * way)
            assert_allclose(np.subtract(end, start), 0.4 * way)
    chances = np.eye(4)[policy] * 0.6 + 0.1
    by_steps = np.array([[0] * 5, policy])
    assert (
        arrows(plot.grid_map(GRID, policy=chances))
        == arrows(plot.grid_map(GRID, policy=by_steps))
        == arrows(plot.grid_map(GRID, policy=policy))
    )
    eight = GridWorld((2, 2), moves=8)
    start, end = arrows(plot.grid_map(eight, policy=[3, 0, 0, 0]))[0]
    assert_allclose(np.subtract(end, start), 0.4 * np.array(EIGHT[3]))
    with pytest.raises(DataError, match="four moves"):
        plot.grid_map(eight, np.zeros((4, 8)))


def test_directions_go_around_clockwise_from_the_top():
    for ways in (FOUR, EIGHT):
        angle = 2 * np.pi * np.arange(len(ways)) / len(ways)
        assert_allclose(ways, np.column_stack([np.sin(angle), -np.cos(angle)]), atol=1e-12)


def test_action_values_are_triangles_toward_their_side():
    Q = np.arange(20.0).reshape(5, 4)
    ax = plot.grid_map(GRID, Q, fmt=".0f")
    triangles = [patch for patch in ax.patches if len(patch.get_path().vertices) == 4]
    place = iter(zip(triangles, ax.texts))
    for s, (i, j) in enumerate(GRID.cells):
        for a in range(4):
            triangle, text = next(place)
            corners = triangle.get_path().vertices[:3]
            assert_allclose(corners[0], [j, i])
            assert_allclose(corners[1:].mean(axis=0) - [j, i], 0.5 * np.array(FOUR[a]))
            assert text.get_text() == f"{Q[s, a]:.0f}"
            assert_allclose(text.get_position(), np.array([j, i]) + 0.3 * np.array(FOUR[a]))
            assert_allclose(triangle.get_facecolor(), colormaps[style.SEQUENTIAL](Q[s, a] / 19.0))


# Networks


def test_a_number_has_its_value_above_and_its_slope_below():
    from gnomon.neural import Value

    a, b = Value(2.0, name="a"), Value(-3.0, name="b")
    made = a * b + a
    ax = computation_graph(made)
    found = {text.get_text(): text.get_position() for text in ax.texts}
    assert {"a", "b", "2", "-3", "-6", "-4"} <= set(found)
    out = max(ax.texts, key=lambda text: text.get_position()[0]).get_position()
    assert out[0] == 2.0  # two operations deep
    values = [text for text in ax.texts if text.get_va() == "bottom"]
    slopes = [text for text in ax.texts if text.get_va() == "top"]
    assert len(values) == len(slopes) == 4
    above = {text.get_position()[0:2]: text.get_text() for text in values}
    for (x, y), value in above.items():
        slope = next(
            t.get_text() for t in slopes if t.get_position()[0] == x and abs(t.get_position()[1] - y) < 0.5
        )
        assert (value, slope) in {("2", "-2"), ("-3", "2"), ("-6", "1"), ("-4", "1")}
    assert len(ax.lines) == 4 and sorted(line.get_xdata()[0] for line in ax.lines) == [0, 0, 0, 1]


def test_units_are_joined_by_weights_of_their_size_and_sign():
    model = SimpleNamespace(
        coefs_=[np.array([[1.0, -2.0], [0.5, 0.0], [4.0, 1.0]]), np.array([[3.0], [-1.5]])]
    )
    ax = plot.layers(model)
    heights = [[-1, 0, 1], [-0.5, 0.5], [0]]
    lines = iter(ax.lines)
    for layer, W in enumerate(model.coefs_):
        for i, j in np.ndindex(W.shape):
            line = next(lines)
            assert line.get_xydata().tolist() == [
                [layer, heights[layer][i]],
                [layer + 1, heights[layer + 1][j]],
            ]
            assert line.get_linewidth() == pytest.approx(1.5 * abs(W[i, j]) / np.abs(W).max())
            assert line.get_color() == style.color(int(W[i, j] < 0))
    assert [text.get_text() for text in ax.texts] == ["3", "2", "1"]
    assert [dots.get_offsets().tolist() for dots in ax.collections] == [
        [[layer, h] for h in heights[layer]] for layer in range(3)
    ]
    few = plot.layers(model, max_units=2)
    assert len(few.lines) == 4 + 2 and [text.get_text() for text in few.texts] == ["3", "2", "1"]


def test_an_account_of_layers_is_drawn_by_the_measure_asked_for():
    def row(**known):
        nothing = dict.fromkeys(("weights", "biases", "multiply_adds", "receptive_field"), 0)
        return SimpleNamespace(**{"activations": 1, **nothing, **known})

    account = SimpleNamespace(
        rows=[
            row(name="input", shape=(2,)),
            row(
                name="conv",
                shape=(3, 4),
                weights=10,
                biases=2,
                activations=12,
                multiply_adds=50,
                receptive_field=3,
            ),
            row(name="nothing", shape=(3,), activations=0),
            row(name="dense", shape=(5,), weights=7, activations=5, multiply_adds=9),
        ]
    )
    for measure, widths in (
        ("parameters", [12, 7]), ("activations", [12, 5]), ("multiply_adds", [50, 9]), ("receptive_field", [3, np.nan]),
    ):  # fmt: skip
        ax = plot.layers(account, measure=measure)
        assert_allclose([bar.get_width() for bar in ax.patches], widths)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "conv  3×4",
        "dense  5",
    ] and ax.yaxis_inverted()
    with pytest.raises(ValueError, match="measure must be one of"):
        plot.layers(account, measure="size")


def test_norms_of_gradients_start_at_lag_zero_or_layer_one():
    for by, first in (("lag", 0), ("layer", 1)):
        line = plot.gradient_norms([3.0, 0.0, 1.0], by=by).lines[0]
        assert line.get_xdata().tolist() == [first, first + 1, first + 2]
        assert_allclose(line.get_ydata(), [3, np.nan, 1])
    ax = plot.gradient_norms([[3.0, 1.0], [2.0]], names=["a", "b"])
    assert [line.get_ydata().tolist() for line in ax.lines] == [[3, 1], [2]] and labels(ax) == ["a", "b"]
    assert plot.gradient_norms(SimpleNamespace(signal_norms=[1.0, 2.0])).lines[0].get_xdata().tolist() == [
        1,
        2,
    ]


# Lines of classifiers


def test_losses_are_drawn_over_the_margin_or_the_residual():
    from gnomon import losses

    ax = plot.loss_curves()
    names = ["ZeroOne", "Perceptron", "Hinge", "SquaredHinge", "Logistic", "Exponential"]
    assert labels(ax) == names and ax.get_xlabel().startswith("margin")
    for line, name in zip(ax.lines, names):
        assert line.get_xdata()[[0, -1]].tolist() == [-3, 3]
        assert_allclose(line.get_ydata(), getattr(losses, name)().value(1, line.get_xdata()))
    ax = plot.loss_curves([losses.Pinball(0.9)], span=(-1.0, 2.0))
    assert ax.get_xlabel() == "residual" and ax.lines[0].get_ydata()[[0, -1]] == pytest.approx([0.1, 1.8])


def on(line, w, b):
    """Whether a line lies on w·x + b = 0."""
    return np.abs(line.get_xydata() @ w + b).max() < 1e-9


@pytest.mark.parametrize("w", [(1.0, 3.0), (3.0, -1.0)])
def test_margins_slacks_and_support_vectors(w):
    w, b = np.array(w), 0.5
    X = np.array([[0.0, 0.0], [2.0, 1.0], [-2.0, -1.0], [0.3, 0.1], [1.0, -1.0]])
    y = np.array([1, 1, 0, 0, 0])
    model = SimpleNamespace(
        coef_=[w], intercept_=[b], classes_=np.array([0, 1]), predict=lambda Z: (Z @ w + b > 0).astype(int),
        point_types_=np.array(["margin_error", "outside", "on_margin", "margin_error", "outside"]),
    )  # fmt: skip
    ax = plot.margin(model, X, y)
    middle, plus, minus, *slacks = ax.lines
    assert on(middle, w, b) and on(plus, w, b - 1) and on(minus, w, b + 1)
    assert [line.get_linestyle() for line in (middle, plus, minus)] == ["-", "--", "--"]
    short = 1 - np.where(y == 1, 1, -1) * (X @ w + b)
    assert len(slacks) == (short > 0).sum()
    for line, i in zip(slacks, np.flatnonzero(short > 0)):
        start, foot = line.get_xydata()
        assert_allclose(start, X[i])
        assert foot @ w + b == pytest.approx(1.0 if y[i] else -1.0)
        assert np.linalg.norm(foot - start) == pytest.approx(short[i] / np.linalg.norm(w))
    rings = {dots.get_label(): dots for dots in ax.collections}
    (
        assert_allclose(rings["on margin"].get_offsets(), X[[2]]),
        assert_allclose(rings["margin error"].get_offsets(), X[[0, 3]]),
    )
    model.mistakes_ = np.array([0, 2, 0, 0, 1])
    met = {dots.get_label(): dots for dots in plot.margin(model, X, y).collections}["mistakes"]
    assert_allclose(met.get_offsets(), X[[1, 4]]), assert_allclose(met.get_sizes(), [140.0, 100.0])


def test_weights_that_separate_are_cut_by_every_row():
    X, y = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, 1.0]]), np.array([1, 1, 0])
    data, weights = plot.weight_space(X, y, box=3.0)
    for line, row in zip(weights.lines, X):
        assert on(line, row, 0.0) and np.abs(line.get_xydata()).max() == pytest.approx(3.0)
    assert [line.get_color() for line in weights.lines] == [style.color(0), style.color(0), style.color(1)]
    corners = weights.patches[0].get_xy()
    assert ((corners @ X.T) * [1, 1, -1] >= -1e-9).all() and np.abs(corners).max() <= 3.0 + 1e-9
    (
        assert_allclose(data.collections[0].get_offsets(), X[:2]),
        assert_allclose(data.collections[1].get_offsets(), X[2:]),
    )


def test_classifiers_side_by_side_tell_their_errors():
    from gnomon.linear import LogisticRegression
    from gnomon.trees import DecisionTreeClassifier

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    models = {"flat": LogisticRegression(), "deep": DecisionTreeClassifier().fit(X, y)}
    axes = plot.compare_classifiers(models, X, y)
    wrong = np.mean(LogisticRegression().fit(X, y).predict(X) != y)
    assert [ax.get_title() for ax in axes] == [f"flat: {wrong:.0%} wrong", "deep: 0% wrong"] and not hasattr(
        models["flat"], "coef_"
    )


# Regression


def test_projection_ends_at_the_fitted_values():
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0])
    fitted = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    ax = plot.projection(X, y)
    ends = {line.get_label(): np.array(line.get_data_3d()).T for line in ax.lines}
    assert_allclose(ends["y"], [[0, 0, 0], y]), assert_allclose(ends["fitted"], [[0, 0, 0], fitted])
    assert_allclose(ends["residual"], [fitted, y])
    two = plot.projection(np.eye(3)[:, :2], y)
    assert_allclose(np.array(two.lines[1].get_data_3d()).T[1], [1, 3, 0], atol=1e-12)
    for wrong in ((np.zeros((4, 1)), np.zeros(4)), (np.zeros((3, 3)), y), (X, y[:2])):
        with pytest.raises(DataError, match="three rows"):
            plot.projection(*wrong)


def test_a_surface_is_the_prediction_over_both_columns():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.0, 5.0, 10.0]})
    asked = []

    def predict(t):
        asked.append(t)
        return t["a"] + 100 * t["b"]

    ax = surface(SimpleNamespace(predict=predict), frame, [1.0, 2.0, 3.0], None, 4)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    x, y, z = (np.asarray(part) for part in ax.collections[1]._offsets3d)
    assert_allclose(np.column_stack([x, y, z]), [[0, 0, 1], [1, 5, 2], [2, 10, 3]])
    low, high = ax.zz_dataLim.intervalx
    values = asked[0]["a"] + 100 * asked[0]["b"]
    assert len(values) == 16 and (low, high) == (values.min(), values.max()) == pytest.approx(
        (-30.06, 1032.06)
    )
    plain = surface(SimpleNamespace(predict=lambda t: t[:, 0]), frame.to_numpy(), None, None, 4)
    assert (plain.get_xlabel(), len(plain.collections)) == ("x0", 1)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 4.0, np.inf])
def test_balls_have_the_norm_of_their_power(p):
    def norm(w):
        size = np.abs(w)
        return size.max(axis=1) if p == np.inf else (size**p).sum(axis=1) ** (1 / p)

    assert_allclose(norm(plot.penalty_contours(p).lines[0].get_xydata()), 1.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) + 3
    y = X @ [1.0, -0.5] + rng.normal(size=20) + 7
    ax = plot.penalty_contours(p, X=X, y=y, alpha=5.0)
    Z, t = X - X.mean(axis=0), y - y.mean()
    ridge = np.linalg.solve(Z.T @ Z + 5 * np.eye(2), Z.T @ t)
    assert_allclose(norm(ax.lines[0].get_xydata()), norm(ridge[None])[0])
    least, at = ax.collections[-2:]
    (
        assert_allclose(at.get_offsets(), [ridge]),
        assert_allclose(least.get_offsets(), [np.linalg.lstsq(Z, t)[0]]),
    )
    for path in ax.collections[0].get_paths():  # a contour has one residual
        if len(path.vertices) > 10:
            rise = ((Z @ (path.vertices - np.linalg.lstsq(Z, t)[0]).T) ** 2).sum(axis=0)
            assert np.ptp(np.sqrt(rise)) < 0.1 * np.sqrt(rise).mean()


def test_balls_need_a_positive_power_and_two_columns():
    with pytest.raises(DataError, match="p must be positive"):
        plot.penalty_contours(0.0)
    with pytest.raises(DataError, match="must have two columns"):
        plot.penalty_contours(2, X=np.zeros((3, 3)), y=np.zeros(3))


def test_ways_down_are_drawn_over_their_function():
    first, second = [[0.0, 4.0], [1.0, 2.0]], [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
    ax = plot.descent([first, second], lambda w: w[0] + 10 * w[1], names=["a", "b"], levels=[15.0])
    assert [line.get_xydata().tolist() for line in ax.lines] == [first, second] and labels(ax) == ["a", "b"]
    level = ax.collections[0].get_paths()[0].vertices
    assert_allclose(level @ [1, 10], 15.0, rtol=1e-6)
    assert ax.get_xlim()[0] < -0.4 and len(plot.descent(first, lambda w: w[0]).lines) == 1
    with pytest.raises(DataError, match="two parameters"):
        plot.descent([[[1.0, 2, 3]]], lambda w: 0.0)


# Theory


def test_every_labeling_has_a_panel_with_its_rule_or_a_cross():
    from gnomon.theory import Intervals

    grid = shatter_panels(Intervals(1), [0.0, 1.0, 2.0])
    for k, ax in enumerate(grid.ravel()):
        wanted = [(k >> i) & 1 for i in range(3)]
        crossed = any(line.get_color() == "tab:red" for line in ax.lines)
        assert crossed == (wanted == [1, 0, 1])
        zeros, ones = [line for line in ax.lines if line.get_color() != "tab:red"]
        assert zeros.get_xdata().tolist() == [i for i in range(3) if not wanted[i]]
        assert ones.get_xdata().tolist() == [i for i in range(3) if wanted[i]]
        assert (zeros.get_marker(), ones.get_marker()) == ("o", "s")
        for cover in ax.collections:
            for path in cover.get_paths():
                if len(path.vertices):
                    low, high = path.vertices[:, 0].min(), path.vertices[:, 0].max()
                    assert [low - 0.06 <= i <= high + 0.06 for i in range(3)] == [bool(one) for one in wanted]
    for wrong in (np.arange(6.0), np.zeros((2, 3))):
        with pytest.raises(DataError, match="at most five points of one or two"):
            shatter_panels(Intervals(1), wrong)


def test_boxes_of_a_game_are_the_true_and_the_learned():
    game = SimpleNamespace(
        rectangle=(np.array([0.0, 1.0]), np.array([4.0, 3.0])), learned=(np.array([1.0, 1.5]), np.array([3.0, 2.5])),
        points=np.array([[2.0, 2.0], [0.0, 1.0], [5.0, 2.0]]),
    )  # fmt: skip
    ax = plot.rectangles(game)
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[2, 2], [0, 1]], [[5, 2]]]
    spans = {p.get_label(): (p.get_xy(), p.get_width(), p.get_height()) for p in ax.patches}
    assert spans == {"true": ((0, 1), 4, 2), "error": ((0, 1), 4, 2), "learned": ((1, 1.5), 2, 1)}
    game.learned = (np.full(2, np.inf), np.full(2, -np.inf))
    assert [p.get_label() for p in plot.rectangles(game).patches] == ["true"]
    game.rectangle = (np.zeros(3), np.ones(3))
    with pytest.raises(DataError, match="in the plane"):
        plot.rectangles(game)


def test_a_supporting_line_has_the_slope_of_its_multiplier():
    from gnomon.theory import ConstrainedProblem

    problem = ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], n_variables=1)
    points = np.linspace(-1, 3, 9)
    ax = duality(problem, points, mu=1.0)
    cloud, allowed, line, axis, mark = ax.lines
    assert_allclose(cloud.get_xydata(), np.column_stack([1 - points, points**2]))
    assert_allclose(allowed.get_xdata(), 1 - points[points >= 1])
    x, y = line.get_xydata().T
    assert np.diff(y) / np.diff(x) == pytest.approx(-1.0) and np.interp(0.0, x, y) == pytest.approx(
        0.75
    )  # 1 - 1/4
    assert mark.get_ydata()[0] == pytest.approx(0.75) and ax.get_title() == "primal 1, gap 0.25"
    with pytest.raises(DataError, match="none of the points"):
        duality(problem, [0.0, 0.5])
    two = ConstrainedProblem(lambda x: x[0], inequalities=[lambda x: x[0], lambda x: -x[0]], n_variables=1)
    with pytest.raises(DataError, match="one inequality"):
        duality(two, [0.0])


def test_growth_is_below_sauers_sum_and_its_bound():
    from gnomon.theory import HalfSpaces

    lines = {line.get_label(): line for line in growth(HalfSpaces(2), 8).lines}
    m = np.arange(1, 9.0)
    assert_allclose(lines["2^m"].get_ydata(), 2**m)
    sauer = 1 + m + m * (m - 1) / 2 + m * (m - 1) * (m - 2) / 6
    assert_allclose(lines["Sauer's sum"].get_ydata(), sauer)
    assert lines["(em/d)^d"].get_xdata()[0] == 3
    assert_allclose(lines["(em/d)^d"].get_ydata(), (np.e * m[2:] / 3) ** 3)
    assert_allclose(lines["growth function"].get_ydata(), 2 + 2 * (m - 1) + (m - 1) * (m - 2))


# Images


def test_images_lie_side_by_side_with_levels_of_their_own_or_of_all():
    stack = np.array([[[0.0, 1.0], [2.0, 4.0]], [[5.0, 5.0], [5.0, 8.0]], [[1.0, 1.0], [1.0, 1.0]]])
    ax = plot.images(stack, columns=2, titles=["a", "b"])
    canvas = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert canvas.shape == (2 * (2 + 1 + 1), 2 * (2 + 1))
    (
        assert_allclose(canvas[1:3, :2], [[0, 0.25], [0.5, 1]]),
        assert_allclose(canvas[1:3, 3:5], [[0, 0], [0, 1]]),
    )
    assert_allclose(canvas[5:7, :2], 0.0)
    assert np.isnan(canvas[5:7, 3:]).all()
    assert [(t.get_text(), t.get_position()) for t in ax.texts] == [("a", (1.0, 0.7)), ("b", (4.0, 0.7))]
    whole = np.asarray(plot.images(stack, columns=3, each=False).images[0].get_array())
    assert_allclose(whole[:2, :2], stack[0] / 8), assert_allclose(whole[:2, 3:5], stack[1] / 8)
    signed = plot.images(np.array([[[-2.0, 1.0]]])).images[0]
    assert_allclose(np.asarray(signed.get_array())[:1, :2], [[-1, 0.5]])
    assert (signed.norm.vmin, signed.norm.vmax) == (-1, 1) and signed.get_cmap().name == style.DIVERGING


def test_rows_become_images_of_their_shape_and_channels_come_last():
    flat = np.arange(24.0).reshape(2, 12)

    def shown(source, **options):
        return np.asarray(np.ma.filled(plot.images(source, **options).images[0].get_array(), np.nan))

    assert_allclose(shown(flat, shape=(2, 6), columns=1)[:2, :6], np.arange(12.0).reshape(2, 6) / 11)
    assert_allclose(shown(flat)[:3, :4], np.arange(12.0).reshape(3, 4) / 11)  # as square as can be
    color = np.random.default_rng(0).random((1, 3, 4, 5))
    levels = (color[0] - color.min()) / np.ptp(color)
    assert_allclose(shown(color)[:4, :5], np.moveaxis(levels, 0, -1))
    maps = np.random.default_rng(0).random((2, 2, 4, 5))
    assert shown(maps, columns=4).shape[1] == 4 * 6  # every channel is a picture
    model = SimpleNamespace(components_=flat, explained_variance_=[2.0, 1.0])
    assert [text.get_text() for text in plot.images(model, (3, 4)).texts] == ["2", "1"]
    for wrong in (np.zeros(3), np.zeros((0, 2, 2))):
        with pytest.raises(DataError, match="images must have shape"):
            plot.images(wrong)


def test_rebuilt_images_stand_before_the_image_on_one_scale():
    row = np.array([0.0, 2.0, 4.0, 8.0])
    model = SimpleNamespace(components_=np.zeros((2, 4)), reconstruct=lambda x, m, count_mean: x * m / 4)
    ax = plot.reconstructions(model, row, (2, 2), steps=(1, 3, 4))
    assert [text.get_text() for text in ax.texts] == ["1", "3", "image"]
    canvas = np.ma.filled(ax.images[0].get_array(), np.nan)
    top = canvas.shape[0] - 3
    for k, share in enumerate((0.25, 0.75, 1.0)):
        assert_allclose(canvas[top : top + 2, 3 * k : 3 * k + 2], share * row.reshape(2, 2) / 8)


@pytest.mark.filterwarnings("error")
def test_an_image_is_a_sum_of_its_basis_by_size_of_the_coefficients():
    basis = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 1.0]])
    parts = SimpleNamespace(
        components_=basis,
        transform=lambda x: np.array([[0.5, -3.0, 2.0]]),
        inverse_transform=lambda c: c @ basis,
    )
    means = SimpleNamespace(cluster_centers_=basis[:2], predict=lambda x: np.array([1]))
    ax = plot.reconstructions({"sum": parts, "mean": means}, np.zeros(4), (2, 2))
    assert [text.get_text() for text in ax.texts] == [
        "-3 ×",
        "2 ×",
        "0.5 ×",
        "= sum",
        "1 ×",
        "0 ×",
        "",
        "= mean",
    ]


# Sets, mixtures, classes, densities


def test_a_lattice_joins_sets_with_those_of_one_item_more():
    table = pd.DataFrame({"itemsets": [frozenset("a"), frozenset("b")], "support": [0.5, 0.5]})
    ax = itemset_lattice(["a", "b"], table)
    words = {text.get_text(): tuple(text.xy) for text in ax.texts}
    assert words == {"∅": (0, 0), "a": (-0.5, -1), "b": (0.5, -1), "a\nb": (0, -2)}
    edges = {tuple(map(tuple, line.get_xydata())): line.get_alpha() for line in ax.lines}
    assert edges == {
        ((0, 0), (-0.5, -1)): 0.7, ((0, 0), (0.5, -1)): 0.7, ((-0.5, -1), (0, -2)): 0.2, ((0.5, -1), (0, -2)): 0.2,
    }  # fmt: skip


def test_rules_as_dots_arrows_and_cells():
    table = pd.DataFrame(
        {
            "antecedents": [frozenset("a"), frozenset("bc"), frozenset("a")],
            "consequents": [frozenset("b"), frozenset("d"), frozenset("d")],
            "support": [0.1, 0.2, 0.3], "confidence": [0.5, 1.0, 0.75], "lift": [1.0, 3.0, 2.0],
        }
    )  # fmt: skip
    dots = rules(table).collections[0]
    (
        assert_allclose(dots.get_offsets(), table[["support", "confidence"]]),
        assert_allclose(dots.get_array(), table["lift"]),
    )
    ax = rules(table, kind="graph", limit=2)
    names = {t.get_text(): np.array(t.get_position()) / 1.1 for t in ax.texts if t.get_text()}
    assert list(names) == ["b, c", "a", "d"]
    assert_allclose(list(names.values()), [[1, 0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]], atol=1e-12)
    assert [t.get_ha() for t in ax.texts if t.get_text()] == ["left", "right", "right"]
    assert arrows(ax) == [
        tuple(tuple(np.round(names[n], 9)) for n in ends) for ends in (("b, c", "d"), ("a", "d"))
    ]
    wide = [t.arrow_patch.get_linewidth() for t in ax.texts if getattr(t, "arrow_patch", None) is not None]
    assert wide == [2.5, 2.0]
    cells = rules(table, kind="matrix")
    assert [t.get_text() for t in cells.get_yticklabels()] == ["b, c", "a"]
    assert [t.get_text() for t in cells.get_xticklabels()] == ["d", "b"]
    assert_allclose(cells.images[0].get_array().filled(np.nan), [[3, np.nan], [2, 1]])
    with pytest.raises(DataError, match="kind must be one of"):
        rules(table, kind="table")
    with pytest.raises(DataError, match="no rules to draw"):
        rules(table[:0])


def test_components_of_a_mixture_add_up_over_its_sample():
    from gnomon.distributions import Poisson
    from gnomon.mixture import GaussianMixture

    X = np.concatenate([np.linspace(-1, 1, 30), np.linspace(7, 9, 10)])[:, None]
    model = GaussianMixture(2, random_state=0).fit(X)
    ax = mixture(model, X)
    *parts, whole = ax.lines
    assert_allclose(whole.get_ydata(), sum(part.get_ydata() for part in parts))
    grid = whole.get_xdata()
    assert_allclose([np.trapezoid(part.get_ydata(), grid) for part in parts], model.weights_, rtol=1e-3)
    spread = np.sqrt(model.components_.variance()).ravel()
    means = model.components_.mean().ravel()
    assert grid[[0, -1]] == pytest.approx([(means - 4 * spread).min(), (means + 4 * spread).max()])
    assert sum(bar.get_height() * bar.get_width() for bar in ax.patches) == pytest.approx(1.0)
    counts = SimpleNamespace(
        n_features_in_=1, components_=Poisson([[1.0], [6.0]]), weights_=np.array([0.5, 0.5])
    )
    ax = mixture(counts, np.array([[0.0], [1], [1], [7]]))
    grid = ax.lines[-1].get_xdata()
    assert (
        grid[0] == 0
        and (np.diff(grid) == 1).all()
        and ax.lines[-1].get_ydata().sum() == pytest.approx(1.0, abs=1e-3)
    )
    heights = {round(bar.get_x() + 0.5): bar.get_height() for bar in ax.patches}
    assert (heights[0], heights[1], heights[7], heights[2]) == (0.25, 0.5, 0.25, 0)


def test_components_in_the_plane_are_ellipses_of_one_and_two_deviations():
    from gnomon.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(20, 2)) * 0.5 + 6])
    model = GaussianMixture(2, random_state=0).fit(X)
    ax = mixture(model, X)
    for k, line in enumerate(ax.lines):
        mean, C = model.means_[k % 2], model.covariances_[k % 2]
        Z = line.get_xydata() - mean
        far = np.sqrt(np.einsum("ij,ij->i", Z @ np.linalg.inv(C), Z))
        assert_allclose(far, 1.0 if k < 2 else 2.0, rtol=2e-3)
        assert line.get_alpha() == pytest.approx(0.3 + 0.7 * model.weights_[k % 2] / model.weights_.max())
        assert line.get_color() == style.color(k % 2)
    (
        assert_allclose(ax.collections[0].get_offsets(), X),
        assert_allclose(ax.collections[1].get_offsets(), model.means_),
    )


def test_the_bound_touches_and_stays_below_the_likelihood():
    x = np.array([0.5, 3.0, 2.0])

    def joint(t):
        return np.column_stack([np.log(0.5) - 0.5 * (x - t) ** 2, np.log(0.5) - 0.5 * (x + t) ** 2])

    def likelihood(t):
        return np.logaddexp.reduce(joint(t), axis=1).sum()

    ax = plot.em_bound(np.linspace(-2, 4, 25), likelihood, joint, 1.0)
    curve, bound, touch = ax.lines
    assert (bound.get_ydata() <= curve.get_ydata() + 1e-12).all()
    assert np.interp(1.0, bound.get_xdata(), bound.get_ydata()) == pytest.approx(likelihood(1.0))
    assert touch.get_xydata().tolist() == [[1.0, likelihood(1.0)]]


def test_filled_cells_have_frames_as_thick_as_their_doubt():
    mean = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    C = np.zeros((3, 2, 2))
    C[1] = np.diag([0.25, 100.0])
    model = SimpleNamespace(posterior=lambda X: (mean, C))
    ax = plot.imputed_matrix(model, [[1.0, 5], [np.nan, np.nan], [2.0, 5]])
    shown = np.asarray(ax.images[0].get_array())
    assert_allclose(shown[:, 0], (mean[:, 0] - 2) / mean[:, 0].std()), assert_allclose(shown[:, 1], 0.0)
    first, second = ax.patches
    assert first.get_xy() == (-0.46, 0.54) and second.get_xy() == (0.54, 0.54)
    assert (
        first.get_linewidth() == pytest.approx(0.6 + 2 * 0.5 / mean[:, 0].std())
        and second.get_linewidth() == 2.6
    )
    with pytest.raises(DataError, match="needs a model with posterior"):
        plot.imputed_matrix(SimpleNamespace(), mean)


def test_bars_are_the_largest_in_their_own_order():
    ax = plot.bars([0.1, -5.0, 3.0, 0.2], ["a", "b", "c", "d"], n=2)
    assert [bar.get_width() for bar in ax.patches] == [-5.0, 3.0] and ax.yaxis_inverted()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b", "c"]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [style.color(1), style.color(0)]


def test_what_the_best_rule_gets_wrong_is_shaded():
    P = np.array([[0.4, 0.1, 0.2], [0.1, 0.3, 0.3]])
    model = SimpleNamespace(
        n_features_in_=1, classes_=["a", "b", "c"], joint_log_likelihood=lambda X: np.log(P)
    )
    ax = plot.class_densities(model, x=[0.0, 1.0])
    assert_allclose([line.get_ydata() for line in ax.lines], P.T)
    path = ax.collections[0].get_paths()[0].vertices
    assert path[path[:, 0] == 0.0, 1].max() == pytest.approx(0.3) and path[
        path[:, 0] == 1.0, 1
    ].max() == pytest.approx(0.4)
    with pytest.raises(ValueError, match="shows one column; the model has 2"):
        plot.class_densities(SimpleNamespace(n_features_in_=2))


def test_outcomes_are_points_of_a_triangle():
    ax = plot.simplex([[1.0, 0, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]], ["p", "q"])
    assert_allclose(ax.collections[0].get_offsets(), [[0, 0], [0.5, np.sqrt(0.75)], [0.5, np.sqrt(0.75) / 3]])
    assert {t.get_text(): tuple(t.xy) for t in ax.texts}["2"] == (1.0, 0.0) and len(
        ax.lines[0].get_xdata()
    ) == 4
    with pytest.raises(ValueError, match="three outcomes; got 2"):
        plot.simplex([[0.5, 0.5]])


def test_classes_are_counted_along_an_axis_of_length_one():
    X, y = np.array([[0.0, 0], [3, 4], [6, 8], [6, 8]]), ["a", "a", "b", "b"]
    ax = plot.projected_classes(X, y, [30.0, 40.0], bins=2)
    assert [bar.get_height() for bar in ax.patches] == [1, 1, 0, 2] and labels(ax) == ["a", "b"]
    assert ax.patches[0].get_x() == 0 and ax.patches[1].get_x() + ax.patches[1].get_width() == pytest.approx(
        10.0
    )


def test_densities_and_masses_span_nearly_all_of_the_distribution():
    from gnomon.distributions import Gaussian, Poisson

    normal = plot.density(Gaussian([[1.0]], [[4.0]]), [0.0, 1.0, 2.0])
    x, y = normal.lines[0].get_xydata().T
    assert x[[0, -1]] == pytest.approx([1 - 2 * 3.0902, 1 + 2 * 3.0902], abs=1e-3)
    assert_allclose(y, np.exp(-((x - 1) ** 2) / 8) / np.sqrt(8 * np.pi))
    assert sum(bar.get_height() * bar.get_width() for bar in normal.patches) == pytest.approx(1.0)
    masses = plot.density(Poisson([[2.0]]), [0.0, 0, 1, 3])
    assert (np.diff(masses.lines[0].get_xdata()) == 1).all()
    assert masses.lines[0].get_ydata()[:2] == pytest.approx([np.exp(-2), 2 * np.exp(-2)])
    assert [bar.get_height() for bar in masses.patches[:4]] == [0.5, 0.25, 0, 0.25] and masses.patches[
        0
    ].get_x() == -0.5


def test_draws_of_a_dirichlet_are_bars_that_add_to_one():
    ax = plot.dirichlet_draws([[1.0, 1.0, 1.0], [9.0, 9.0, 9.0]], n_draws=2)
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(4, 3)
    assert_allclose(heights.sum(axis=1), 1.0)
    left = np.array([bar.get_x() + bar.get_width() / 2 for bar in ax.patches]).reshape(4, 3)
    assert_allclose(left, [[0, 1, 2], [4.5, 5.5, 6.5]] * 2)
    assert_allclose([bar.get_y() for bar in ax.patches], [0.0] * 6 + [1.1] * 6)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1", "9"] and list(ax.get_yticks()) == [
        0,
        1.1,
    ]


def test_likelihoods_mark_their_estimates():
    from gnomon.distributions import Bernoulli

    X, grid = [[1.0], [1], [0], [1]], np.linspace(0.05, 0.95, 19)
    ax = plot.likelihood_curve(Bernoulli([[0.5]]), X, grid)
    assert_allclose(ax.lines[0].get_ydata(), 3 * np.log(grid) + np.log(1 - grid))
    assert list(ax.lines[1].get_xdata()) == pytest.approx([0.75, 0.75]) and labels(ax) == ["ml"]


def test_the_best_threshold_is_marked():
    ax = gains(SimpleNamespace(thresholds=np.array([0.5, 1.5, 2.5]), gains=np.array([0.1, 0.6, 0.3])))
    assert ax.lines[0].get_xydata().tolist() == [[0.5, 0.1], [1.5, 0.6], [2.5, 0.3]]
    assert ax.lines[1].get_xydata().tolist() == [[1.5, 0.6]]


def test_a_line_and_its_band_end_a_little_beyond_the_data():
    model = SimpleNamespace(
        predict=lambda X: 2 * X[:, 0], predict_interval=lambda X, level: (2 * X[:, 0] - level, 2 * X[:, 0] + level),
        sample_y=lambda X, n: np.tile(X, (1, n)),
    )  # fmt: skip
    X, y = np.array([[0.0], [10.0]]), [1.0, 19.0]
    ax = plot.predictive_band(model, X, y, level=0.5, draws=2, points=3)
    line, *drawn = ax.lines
    assert_allclose(line.get_xdata(), [-0.3, 5.0, 10.3]), assert_allclose(line.get_ydata(), [-0.6, 10, 20.6])
    assert len(drawn) == 2
    assert_allclose(drawn[0].get_ydata(), [-0.3, 5, 10.3])
    assert_allclose(ax.collections[0].get_offsets(), [[0, 1], [10, 19]])
    band = ax.collections[1].get_paths()[0].vertices
    middle = band[np.isclose(band[:, 0], 5.0), 1]
    assert (middle.min(), middle.max()) == pytest.approx((9.5, 10.5)) and "50%" in labels(ax)
    with pytest.raises(DataError, match="has no predict_interval"):
        plot.predictive_band(SimpleNamespace(predict=model.predict), X)
    with pytest.raises(DataError, match="one column"):
        plot.fit_line(model, np.zeros((2, 3)))


def test_maps_of_items_name_them_and_cross_the_users():
    model = SimpleNamespace(
        item_map=lambda: np.array([[0.0, 1], [2, 3]]),
        user_map=lambda: np.array([[5.0, 6]]),
        items_=["a", "b"],
    )
    ax = item_map(model)
    users, items = ax.collections
    assert users.get_offsets().tolist() == [[5, 6]] and items.get_offsets().tolist() == [[0, 1], [2, 3]]
    assert [(t.get_text(), tuple(t.xy)) for t in ax.texts] == [("a", (0, 1)), ("b", (2, 3))]
    assert len(item_map(model, users=False).collections) == 1


# Graphical models


def test_a_network_has_parents_above_and_tables_beside_its_nodes():
    from gnomon.datasets import load_network

    net = load_network("sprinkler")
    ax = network(net, {"wet": "yes"}, show="tables")
    circles = {tuple(np.round(p.center, 9)): p for p in ax.patches}
    labels_ = {t.get_text(): t.get_position() for t in ax.texts}
    assert set(labels_) >= {"rain", "sprinkler", "wet = yes"} or {"wet = yes"} <= set(labels_)
    assert len(circles) == 3 and sorted({y for _, y in circles}) == [-1.6, 0.0]
    shaded = [at for at, p in circles.items() if to_hex(p.get_facecolor()) != "#ffffff"]
    assert len(shaded) == 1 and shaded[0][1] == -1.6
    assert {end for _, end in arrows(ax)} == {shaded[0]} and len(arrows(ax)) == 2
    table = next(t for t in ax.texts if "yes, yes" in t.get_text())
    assert table.get_text().splitlines() == [
        "yes  no", "yes, yes: 0.99  0.01", "yes, no: 0.9  0.1", "no, yes: 0.9  0.1", "no, no: 0  1",
    ]  # fmt: skip
    assert table.get_position() == pytest.approx((shaded[0][0] + 0.34, -1.6))
    short = network(net, show="tables", max_rows=2)
    assert next(t for t in short.texts if "yes, yes" in t.get_text()).get_text().splitlines()[-1] == "…"
    with pytest.raises(ValueError, match="show must be"):
        network(net, show="table")


def test_posteriors_are_bars_as_long_as_their_chance():
    from gnomon.datasets import load_network

    net = load_network("sprinkler")
    ax = network(net, {"wet": "yes"}, show="posteriors")
    chances = net.marginals({"wet": "yes"})
    bars = [p for p in ax.patches if hasattr(p, "get_height") and hasattr(p, "get_xy")]
    told = [t for t in ax.texts if t.get_fontsize() == 6]
    k = 0
    for name, factor in chances.items():
        for state, p in zip(factor.states[name], factor.values):
            assert bars[k].get_width() == pytest.approx(0.7 * p)
            assert told[k].get_text() == f"{state} {p:.3g}"
            assert told[k].get_position()[0] == pytest.approx(bars[k].get_x() + 0.03 + 0.7 * p)
            middle = bars[k].get_y() + bars[k].get_height() / 2
            assert told[k].get_position()[1] == pytest.approx(middle, abs=0.03)
            k += 1
    assert k == len(bars)
    assert bars[0].get_y() > bars[1].get_y()  # the first state is above


def test_edges_are_as_wide_as_they_are_strong():
    strengths = pd.DataFrame({"a": ["x"], "b": ["y"], "strength": [0.5]})
    ax = network([("x", "y"), ("y", "z")], strengths=strengths)
    wide = [t.arrow_patch.get_linewidth() for t in ax.texts if getattr(t, "arrow_patch", None) is not None]
    assert wide == [2.0, 0.5]
    plain = network([("x", "y")])
    assert [t.arrow_patch.get_linewidth() for t in plain.texts if getattr(t, "arrow_patch", None)] == [1.2]


def test_factors_stand_between_their_variables_with_messages_on_the_way():
    graph = SimpleNamespace(
        variables=["a", "b"],
        factors=[SimpleNamespace(variables=("a", "b")), SimpleNamespace(variables=("a",))],
    )
    ax = network(graph, messages={(0, "b"): [0.25, 0.75]})
    circles = [p.center for p in ax.patches if hasattr(p, "center")]
    assert_allclose(circles, [[0, 1.2], [0, -1.2]], atol=1e-12)
    squares = {t.get_text(): t.get_position() for t in ax.texts if t.get_text().startswith("f")}
    assert_allclose(squares["f0"], [0, 0], atol=1e-12), assert_allclose(squares["f1"], [0, 2.0], atol=1e-12)
    message = next(t for t in ax.texts if t.get_text().startswith("("))
    assert message.get_text() == "(0.25, 0.75)"
    assert_allclose(message.get_position(), (0, -0.66), atol=1e-12)
    assert len(ax.lines) == 3


def elimination(**changed):
    factor = SimpleNamespace
    plan = {
        "order": ["a", "b"], "sizes": [8, 4], "scopes": [("a", "b", "c"), ("b", "c")], "cost": 12, "width": 2,
        "fill_in": [[("b", "c")], []],
        "_problem": factor(factors=[factor(variables=("a", "b")), factor(variables=("a", "c"))]),
    }  # fmt: skip
    return SimpleNamespace(**{**plan, **changed})


def test_an_elimination_adds_dashed_edges_between_the_neighbors_of_what_is_gone():
    from gnomon.plot.factor_graphs import draw_elimination

    whole = draw_elimination(elimination(), None, None)
    assert [bar.get_width() for bar in whole.patches] == [8, 4] and whole.yaxis_inverted()
    assert [t.get_text() for t in whole.get_yticklabels()] == ["a: b, c", "b: c"]
    assert whole.get_title() == "cost 12, width 2"
    first = draw_elimination(elimination(), None, 0)
    assert sorted(line.get_linestyle() for line in first.lines) == ["-", "-"] and len(first.patches) == 3
    second = draw_elimination(elimination(), None, 1)
    (line,) = second.lines
    assert line.get_linestyle() == "--" and len(second.patches) == 2
    assert second.get_title() == "eliminate b: table of 4 entries"
    assert {tuple(np.round(p.center, 9)) for p in second.patches} == {
        tuple(np.round(p, 9)) for p in line.get_xydata()
    }
    for step in (-1, 2):
        with pytest.raises(ValueError, match="step must be between 0 and 1"):
            draw_elimination(elimination(), None, step)


def test_layers_put_nodes_below_all_their_parents_without_overlap():
    from gnomon.plot.graphs import layers as places_of

    parents = [[], [], [0, 1], [2], [0, 3]]
    places = places_of(parents)
    for v, own in enumerate(parents):
        assert places[v][1] == -1.6 * max((round(-places[p][1] / 1.6) + 1 for p in own), default=0)
    assert (
        len(set(places)) == 5
        and places[0][1] == places[1][1] == 0
        and abs(places[0][0] - places[1][0]) == 2.2
    )
    assert places[2][0] == 0 == places[0][0] + places[1][0]
    crossed = places_of([[], [], [1], [0]])  # children stand below their own parents
    assert (crossed[0][0] - crossed[1][0]) * (crossed[3][0] - crossed[2][0]) > 0


def test_plates_hold_their_members_and_what_is_observed_is_shaded():
    spec = {
        "nodes": {"p": "parameter", "z": "hidden", "x": "observed"}, "edges": [("p", "z"), ("z", "x")],
        "plates": [("n", ["z", "x"])], "at": {"p": (0, 0), "z": (1, 0), "x": (2, 0)},
    }  # fmt: skip
    ax = plot.plates(spec)
    box, *circles = ax.patches
    at = {tuple(p.center): p for p in circles}
    assert set(at) == {(0, 0), (1.6, 0), (3.2, 0)} and at[0, 0].get_radius() == 0.06
    assert to_hex(at[1.6, 0].get_facecolor()) == "#ffffff" != to_hex(at[3.2, 0].get_facecolor())
    assert box.get_x() == pytest.approx(1.6 - 0.42) and box.get_x() + box.get_width() == pytest.approx(
        3.2 + 0.42
    )
    assert arrows(ax) == [((0, 0), (1.6, 0)), ((1.6, 0), (3.2, 0))]
    inner = plot.plates({**spec, "plates": [("n", ["z", "x"]), ("m", ["x"])]})
    outside, inside = inner.patches[:2]
    assert outside.get_x() < 1.6 - 0.5 and 3.2 - 0.42 < inside.get_x() < 3.2
    assert outside.get_x() + outside.get_width() > inside.get_x() + inside.get_width()
    with pytest.raises(ValueError, match="names 'y' in an edge"):
        plot.plates({"nodes": {"x": "hidden"}, "edges": [("x", "y")]})
    with pytest.raises(ValueError, match="spec must be a dict or one of"):
        plot.plates("mixtures")


def test_ratings_are_cells_with_their_numbers_and_frames_where_they_were_given():
    R = np.array([[5.0, np.nan, 1.0], [np.nan, 3.0, np.nan]])
    ax = plot.rating_matrix(R)
    assert_allclose(ax.images[0].get_array().filled(np.nan), R)
    assert [(t.get_text(), t.get_position()) for t in ax.texts] == [
        ("5", (0, 0)),
        ("1", (2, 0)),
        ("3", (1, 1)),
    ]
    assert [t.get_color() for t in ax.texts] == ["black", "white", "white"]
    model = SimpleNamespace(predict_matrix=lambda users, items: np.full((2, 3), 2.5))
    full = plot.rating_matrix(R, model)
    assert_allclose(full.images[0].get_array(), np.where(np.isnan(R), 2.5, R))
    assert [frame.get_xy() for frame in full.patches] == [(-0.5, -0.5), (1.5, -0.5), (0.5, 0.5)]
    assert len(full.texts) == 6 and full.get_title() == "Ratings, completed"
    assert not plot.rating_matrix(R, numbers=False).texts


def test_shares_of_components_add_up_beside_their_variances():
    model = SimpleNamespace(
        explained_variance_=np.array([6.0, 3.0, 1.0]), explained_variance_ratio_=np.array([0.3, 0.15, 0.05])
    )
    ax = plot.scree(model)
    assert [(bar.get_x() + 0.4, bar.get_height()) for bar in ax.patches] == [(1, 6), (2, 3), (3, 1)]
    other = ax.figure.axes[1]
    assert_allclose(other.lines[0].get_xydata(), [[1, 0.3], [2, 0.45], [3, 0.5]])
    assert other.get_ylabel() == "share explained" and other.get_ylim() == (0, 1.02)
    shown = plot.scree(SimpleNamespace(explained_variance_=np.array([6.0, 3.0, 1.0]))).figure.axes[1]
    assert_allclose(shown.lines[0].get_ydata(), [0.6, 0.9, 1.0])


def test_labels_of_a_field_are_shown_by_their_means_with_their_energy():
    field = SimpleNamespace(
        segment=lambda values, means, method, random_state: SimpleNamespace(
            labels=np.array([[0, 1], [1, 0]]), energy=2.5 if method == "icm" else 1.25
        )
    )
    image, first, second = plot.segmentation(field, [[0.0, 4.0], [3.0, 1.0]], [0.5, 3.5])
    assert_allclose(image.images[0].get_array(), [[0, 4], [3, 1]])
    assert_allclose(first.images[0].get_array(), [[0.5, 3.5], [3.5, 0.5]])
    assert (first.images[0].norm.vmin, first.images[0].norm.vmax) == (0.0, 4.0)
    assert [ax.get_title() for ax in (image, first, second)] == [
        "image",
        "icm: energy 2.5",
        "graph_cut: energy 1.25",
    ]
