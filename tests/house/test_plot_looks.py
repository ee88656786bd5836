"""The looks of pictures: sizes of new figures, widths, markers, paleness and what lies on top of what.

A look is a decision, not a result: each is written down here once more, so that none changes by accident. Where things
are is the matter of the other files on pictures.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose

from gnomon import plot
from gnomon.plot import style
from gnomon.plot import trees as tree_pictures
from gnomon.plot.cluster import choose_k as drawn_k
from gnomon.plot.evaluation import intervals
from gnomon.plot.sequence import markov_chain, ranking_table, walk_labels
from gnomon.plot.theory import shatter_panels

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


def size(ax):
    return tuple(ax.figure.get_size_inches())


def line_look(line):
    """Color, width, dashes, paleness, marker and its size of a line."""
    return (
        to_rgba(line.get_color()), line.get_linewidth(), line.get_linestyle(), line.get_alpha(), line.get_marker(),
        line.get_markersize(),
    )  # fmt: skip


def wanted(color, width=1.5, dashes="-", alpha=None, marker="None", dot=6.0):
    return to_rgba(style.color(color) if isinstance(color, int) else color), width, dashes, alpha, marker, dot


QUIET = style.QUIET


@pytest.mark.parametrize(("count", "inches"), [(1, (6, 1.3)), (7, (6, 3.1)), (20, (6, 7.0)), (40, (6, 7.0))])
def test_bars_have_a_third_of_an_inch_each(count, inches):
    ax = plot.bars(np.arange(1.0, count + 1))
    assert size(ax) == pytest.approx(inches)
    assert line_look(ax.lines[0]) == wanted(QUIET, 0.8)


def test_one_new_figure_is_six_by_four_inches():
    ax = style.axes(None, x="x", y="y", title="t")
    assert size(ax) == (6, 4) and (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("x", "y", "t")
    assert [ax.spines[side].get_visible() for side in ("top", "right", "left", "bottom")] == [
        False,
        False,
        True,
        True,
    ]
    again = style.axes(ax, x="other", y="other", title="other")
    assert again is ax and (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("x", "y", "t")
    assert [style.color(k) for k in (0, 6, 7, 15)] == [style.COLORS[k] for k in (0, 6, 0, 1)]
    assert style.limits(np.array([1.0, 3.0])) == pytest.approx((0.84, 3.16))
    assert style.limits(np.array([1.0, 3.0]), 0.5) == (0.0, 4.0) and style.limits(np.array([2.0])) == (
        1.0,
        3.0,
    )
    clear, full = style.color_map(2)([0.0, 1.0])
    assert tuple(full) == to_rgba(style.color(2)) and tuple(clear) == (*full[:3], 0.0)
    names = SimpleNamespace(feature_names_in_=["a", 1]), SimpleNamespace(columns=["b", "c"])
    assert style.feature_names(names[0], names[1], 2) == ["a", "1"]
    assert style.feature_names(None, names[1], 2) == ["b", "c"] and style.feature_names(None, X, 2) == [
        "x0",
        "x1",
    ]


@pytest.mark.parametrize(
    ("rgb", "light"),
    [((1, 1, 1), 1.0), ((0, 0, 0), 0.0), ((1, 0, 0), 0.2126), ((0, 1, 0), 0.7152), ((0, 0, 1, 0.3), 0.0722),
     ((0.5, 0.5, 0.5), ((0.5 + 0.055) / 1.055) ** 2.4), ((0.04, 0.04, 0.04), 0.04 / 12.92)],
)  # fmt: skip
def test_the_luminance_is_that_of_the_standard_for_screens(rgb, light):
    assert style.luminance(rgb) == pytest.approx(light)
    assert style.text_on(rgb) == ("black" if light > 0.18 else "white")


def test_the_simplex():
    ax = plot.simplex([[0.2, 0.3, 0.5], [1, 0, 0]], ["a", "b"])
    assert size(ax) == (4.5, 4) and line_look(ax.lines[0]) == wanted(QUIET, 1)
    assert ax.collections[0].get_zorder() == 3 and ax.get_aspect() == 1.0 and not ax.axison
    assert [text.xyann for text in ax.texts] == [(6, 4), (6, 4), (-12, -6), (6, -6), (0, 6)]
    assert [to_rgba(text.get_color()) for text in ax.texts[2:]] == [to_rgba(QUIET)] * 3


def test_densities_and_projections_of_classes():
    from gnomon.bayes import GaussianNB

    ax = plot.class_densities(GaussianNB().fit([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1]))
    assert [line_look(line) for line in ax.lines] == [wanted(0), wanted(1)]
    (lost,) = ax.collections
    assert_allclose(lost.get_facecolor(), [to_rgba(QUIET, 0.5)])
    assert lost.get_linewidth().tolist() == [0] and not ax.get_legend().get_frame_on()
    ax = plot.projected_classes(X, Y, [1, 0])
    assert len(ax.patches) == 60 and ax.patches[0].get_facecolor() == to_rgba(style.color(0), 0.6)
    assert ax.patches[-1].get_facecolor() == to_rgba(style.color(1), 0.6)
    assert not ax.get_legend().get_frame_on() and size(ax) == (6, 4)


def test_a_lattice_of_sets():
    ax = plot.itemset_lattice("abc", [{"a"}, {"b"}, {"a", "b"}])
    assert size(ax) == pytest.approx((5.0, 4.8)) and not ax.axison  # three wide, four levels
    assert size(plot.itemset_lattice("abcde", [{"a"}])) == pytest.approx((9.0, 7.2))  # ten wide, six levels
    for line in ax.lines:
        loud = line.get_alpha() == 0.7
        assert line_look(line) == wanted(0 if loud else QUIET, 1, alpha=0.7 if loud else 0.2)
        assert line.get_zorder() == 1
    looks = {dots.get_label(): dots for dots in ax.collections}
    assert [d.get_sizes().tolist() for d in looks.values()] == [[60]] * len(looks)
    assert all(d.get_zorder() == 2 for d in looks.values())
    assert_allclose(looks["frequent"].get_facecolor(), [to_rgba(style.color(0))])
    assert_allclose(looks["infrequent"].get_edgecolor(), [to_rgba(style.color(1))])
    assert looks["infrequent"].get_linewidth().tolist() == [1.5] and not len(
        looks["infrequent"].get_facecolor()
    )
    assert_allclose(looks["pruned"].get_edgecolor(), [to_rgba(QUIET, 0.4)])
    text = ax.texts[0]
    assert (text.xyann, text.get_ha(), text.get_fontsize(), text._linespacing) == ((0, 6), "center", 7, 1.05)
    assert ax.get_legend().get_texts()[0].get_fontsize() == 8 and not ax.get_legend().get_frame_on()


def test_rules_in_their_three_forms():
    from gnomon.association import association_rules, eclat

    table = association_rules(eclat([["a", "b"], ["a", "b", "c"], ["a"], ["c", "b"]], 0.2), min_threshold=0.1)
    dots = plot.rules(table).collections[0]
    assert dots.get_sizes().tolist() == [18] and dots.get_cmap().name == style.SEQUENTIAL
    ax = plot.rules(table, kind="graph")
    assert (
        size(ax) == (6.5, 6)
        and ax.get_xlim() == (-1.7, 1.7)
        and ax.get_ylim() == (-1.3, 1.3)
        and not ax.axison
    )
    best = table.sort_values("lift", ascending=False, kind="stable").head(30)
    arrows = [text.arrow_patch for text in ax.texts if text.get_text() == ""]
    assert [arrow.get_linewidth() for arrow in arrows] == pytest.approx(
        (0.5 + 2 * best["confidence"]).tolist()
    )
    assert all((a.get_alpha(), a.shrinkA, a.shrinkB) == (0.6, 8, 8) for a in arrows)
    assert ax.collections[0].get_sizes().tolist() == [40] and ax.collections[0].get_zorder() == 3
    names = [text for text in ax.texts if text.get_text()]
    count = len(names)
    for k, text in enumerate(names):
        angle = 2 * np.pi * k / count
        assert text.get_position() == pytest.approx((1.1 * np.cos(angle), 1.1 * np.sin(angle)))
        assert text.get_ha() == ("left" if np.cos(angle) >= 0 else "right") and text.get_fontsize() == 8
    ax = plot.rules(table, kind="matrix")
    rows, columns = ax.images[0].get_array().shape
    assert size(ax) == pytest.approx((2.5 + 0.45 * columns, 1.5 + 0.3 * rows))
    assert ax.get_xticklabels()[0].get_rotation() == 45 and ax.get_xticklabels()[0].get_ha() == "right"
    assert ax.get_xticklabels()[0].get_fontsize() == ax.get_yticklabels()[0].get_fontsize() == 8


def test_clusters_and_their_steps():
    from gnomon.cluster import KMeans, choose_k, linkage

    model = KMeans(3, random_state=0).fit(X)
    ax = plot.voronoi(model, X)
    for k, cell in enumerate(ax.patches):
        assert cell.get_facecolor() == to_rgba(style.color(k), 0.18) and cell.get_linewidth() == 1
        assert cell.get_edgecolor()[:3] == to_rgba(QUIET)[:3]
    rows, centers = ax.collections
    assert rows.get_sizes().tolist() == [14] and centers.get_sizes().tolist() == [90]
    assert_allclose(rows.get_facecolor(), [to_rgba(style.color(k)) for k in model.labels_])
    assert_allclose(centers.get_facecolor(), [to_rgba(style.color(k)) for k in range(3)])
    ax = plot.kmeans_steps(model)
    halves = np.asarray(model.half_steps_)
    steps = np.arange(1, len(halves) + 1)
    assert line_look(ax.lines[0]) == wanted(QUIET, 1)
    assert_allclose(ax.lines[0].get_xdata(), np.sort(np.concatenate([steps - 0.25, steps + 0.25])))
    assert_allclose(ax.lines[0].get_ydata(), halves.ravel())
    for k, dots in enumerate(ax.collections):
        assert_allclose(dots.get_offsets(), np.column_stack([steps + (2 * k - 1) * 0.25, halves[:, k]]))
        assert dots.get_zorder() == 3
    ax = drawn_k(choose_k(X, [1, 2, 3], "mdl", random_state=0))
    assert line_look(ax.lines[0]) == wanted(0, marker="o") and line_look(ax.lines[1]) == wanted(
        QUIET, dashes="--"
    )
    other = ax.figure.axes[1]
    assert not other.spines["top"].get_visible() and other.get_ylabel() == "score"
    ax = plot.dendrogram(linkage(X), height=1.0)
    assert line_look(ax.lines[-1]) == wanted(1, dashes="--")
    assert [t.get_text() != "" for t in ax.get_xticklabels()] == [True] * 40
    ax = plot.dendrogram(linkage(np.vstack([X, X[:1] + 1])))
    assert [t.get_text() for t in ax.get_xticklabels()] == [""] * 41


def fitted_tree(depth):
    from gnomon.trees import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, (X[:, 1] > 0) * 2 + Y)


@pytest.mark.parametrize(("depth", "shown"), [(1, 5), (4, 5), (4, 2)])
def test_a_tree(depth, shown):
    model = fitted_tree(depth)
    ax = plot.tree(model, max_depth=shown)
    boxes = [text for text in ax.texts if text.get_bbox_patch() is not None]
    drawn = min(shown, model.tree_.max_depth)
    assert size(ax) == pytest.approx((max(6, 1.3 * len(boxes) ** 0.75), 1.2 * (1 + drawn))) and not ax.axison
    assert [line_look(line) for line in ax.lines] == [wanted(QUIET, 1)] * (len(boxes) - 1)
    assert {line.get_zorder() for line in ax.lines} <= {1}
    for text in ax.texts:
        box = text.get_bbox_patch()
        assert (text.get_ha(), text.get_va()) == ("center", "center")
        assert text.get_fontsize() == (7 if box is None else 8)
        if box is not None:
            assert text.get_zorder() == 2 and box.get_alpha() == 0.95 and text.get_color() == "black"


def test_galleries_and_rounds_of_trees():
    models = [fitted_tree(2)] * 4
    grid = plot.tree_gallery(models)
    assert grid.shape == (2, 3) and size(grid[0, 0]) == (12, 6)
    assert [ax.axison for ax in grid.flat] == [False] * 6 and [len(ax.texts) > 0 for ax in grid.flat] == [
        True
    ] * 4 + [False] * 2
    assert size(plot.tree_gallery(models, columns=2)[0, 0]) == (8, 6)
    deep = plot.tree_gallery([fitted_tree(5)])[0, 0]
    assert min(text.get_position()[1] for text in deep.texts) == -3  # three levels below the root
    from gnomon.ensemble import AdaBoostClassifier

    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    axes = plot.boosting_rounds(model, X, Y)
    assert len(axes) == 3 and size(axes[0]) == pytest.approx((12, 3.6))
    for t, ax in enumerate(axes):
        weight = model.sample_weights_[t]
        for k, dots in enumerate(ax.collections):
            assert_allclose(dots.get_sizes(), 400 * weight[Y == k] / weight.max() + 5)
            assert dots.get_alpha() == 0.7
        assert line_look(ax.lines[0]) == wanted(QUIET)
        stump = model.estimators_[t]
        place = ax.lines[0].get_xdata() if stump.feature_ == 0 else ax.lines[0].get_ydata()
        assert_allclose(place, stump.threshold_)
    one = plot.boosting_rounds(AdaBoostClassifier(n_estimators=1).fit(X, Y), X, Y)
    assert len(one) == 1 and size(one[0]) == pytest.approx((4, 3.6))


def test_boxes_on_an_image():
    ax = tree_pictures.found_boxes(np.zeros((20, 30)), [[1, 2, 3, 4], [5, 6, 7, 8]])
    found = [(*box.get_xy(), box.get_width(), box.get_height(), box.get_linewidth()) for box in ax.patches]
    assert found == [(2, 1, 4, 3, 2), (6, 5, 8, 7, 2)] and not ax.axison
    assert {box.get_edgecolor() for box in ax.patches} == {to_rgba(style.color(1))}
    assert not any(box.get_fill() for box in ax.patches)


def test_two_errors_against_each_other():
    ax = plot.boosting_scatter([0.2, 0.4], [0.1, 0.3])
    assert size(ax) == (4.5, 4.5) and line_look(ax.lines[0]) == wanted(0, dashes="None", marker="o")
    assert line_look(ax.lines[1]) == wanted(QUIET, 1)
    assert_allclose(ax.lines[1].get_xydata(), [[0, 0], [0.42, 0.42]])


def test_numbers_with_intervals():
    for count in (2, 5):
        m = np.arange(float(count))
        ax = intervals(m, m - 1, m + 1, at=0.0)
        assert size(ax) == pytest.approx((6, 0.4 * count + 1.2)) and ax.yaxis_inverted()
        assert line_look(ax.lines[-1]) == wanted(QUIET, 0.8)
        assert [t.get_text() for t in ax.get_yticklabels()] == [str(k) for k in range(count)]


def test_the_graph_of_a_chain():
    M = np.array([[0.9, 0.096, 0.004], [0.5, 0.0, 0.5], [0.0, 0.3, 0.7]])
    ax = markov_chain(M)
    assert size(ax) == (5, 5) and ax.get_xlim() == ax.get_ylim() == (-1.6, 1.6)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j and M[i, j] > 0.005]
    assert [arrow.get_linewidth() for arrow in ax.patches] == pytest.approx([0.5 + 4 * M[p] for p in pairs])
    assert all((a.shrinkA, a.shrinkB, a.get_mutation_scale()) == (18, 18, 14) for a in ax.patches)
    assert [line_look(line) for line in ax.lines] == [
        wanted(k, dashes="None", marker="o", dot=30) for k in range(3)
    ]
    angle = np.pi / 2 - 2 * np.pi * np.arange(3) / 3
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    said = {text.get_text(): text for text in ax.texts}
    assert said["0.9"].get_position() == pytest.approx(1.32 * place[0])
    assert said["0.7"].get_position() == pytest.approx(1.32 * place[2])
    along = place[1] - place[0]
    beside = (place[0] + place[1]) / 2 + 0.12 * np.array([along[1], -along[0]])
    assert said["0.096"].get_position() == pytest.approx(beside) and said["0.096"].get_fontsize() == 8
    assert said["0"].get_color() == "white" and "0.004" not in said
    alone = markov_chain([[1.0]])
    assert_allclose(alone.lines[0].get_xydata(), [[0, 0]])


@pytest.mark.parametrize("count", [3, 40])
def test_the_best_of_a_ranking(count):
    scores = {f"t{k}": float(count - k) for k in range(count)}
    ax = ranking_table(scores, {"t0": 4})
    shown = min(count, 25)
    assert size(ax) == pytest.approx((6, 0.25 * shown + 1)) and ax.yaxis_inverted()
    assert [bar.get_width() for bar in ax.patches] == [count - k for k in range(shown)]
    assert [t.get_text() for t in ax.get_yticklabels()][:2] == ["t0  1", "t1  2"]
    assert [t.get_text() for t in ax.texts][:2] == [" 4", " –"] and ax.texts[0].get_fontsize() == 8
    assert ax.texts[1].get_position() == (count - 1, 1)


def test_labels_of_walks():
    from gnomon.ranking import RandomWalkClassifier

    model = RandomWalkClassifier(width=1.0).fit(X, np.where(np.arange(40) < 4, Y, -1))
    ax = walk_labels(model, resolution=7)
    mesh, free, known = ax.collections[:3]
    assert mesh.get_array().shape == (7, 7) and (mesh.norm.vmin, mesh.norm.vmax) == (0, 1)
    assert mesh.get_cmap().name == style.DIVERGING
    assert (free.get_sizes().tolist(), known.get_sizes().tolist()) == ([6], [60])
    assert (len(free.get_offsets()), len(known.get_offsets())) == (36, 4)
    assert_allclose(free.get_facecolor(), [to_rgba(QUIET)])
    assert walk_labels(model).collections[0].get_array().shape == (80, 80)


def test_a_plane_through_three_columns():
    from gnomon.decomposition import PCA

    rows = np.random.default_rng(0).normal(size=(12, 3)) * [3.0, 1.0, 0.2]
    ax = plot.embedding(PCA(2).fit(rows), rows, kind="plane")
    assert size(ax) == (6, 5) and ax.name == "3d"
    surface, dots = ax.collections[:2]
    assert surface.get_alpha() == 0.25 and dots.get_sizes().tolist() == [14]
    assert [line_look(line) for line in ax.lines] == [wanted(QUIET, 0.7)] * 12


def test_panels_of_all_labelings():
    from gnomon.theory import Intervals

    grid = shatter_panels(Intervals(), [0.0, 1.0, 2.0])
    assert grid.shape == (1, 8) and size(grid[0, 0]) == pytest.approx((12.8, 1.7))
    for k, ax in enumerate(grid.ravel()):
        labels = (k >> np.arange(3)) & 1
        crossed = k == 5  # the outer two without the middle one
        assert len(ax.lines) == 2 + 2 * crossed and len(ax.collections) == (0 if crossed else 1)
        if crossed:
            assert_allclose(
                [line.get_xydata() for line in ax.lines[:2]], [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]
            )
        for label, dots in enumerate(ax.lines[-2:]):
            assert_allclose(dots.get_xdata(), np.flatnonzero(labels == label))
            assert line_look(dots) == wanted(1 - label, dashes="None", marker="os"[label], dot=5)
        assert ax.get_xlim() == pytest.approx((-0.6, 2.6)) and ax.get_ylim() == (-1, 1)


@pytest.mark.parametrize("unit", [0.01, 3.0])
def test_the_plane_of_columns_reaches_beyond_what_is_fitted(unit):
    drawn = []
    space = SimpleNamespace(
        plot_surface=lambda *grid, **look: drawn.append((np.array(grid), look)),
        plot=lambda *_, **__: None,
        legend=lambda **_: None,
    )
    columns, y = np.eye(3)[:, :2], unit * np.array([1.0, 2.0, 5.0])
    plot.projection(columns, y, space)
    ((grid, look),) = drawn
    low, high = -0.2 * max(2 * unit, 1.0), 1.4 * max(2 * unit, 1.0)
    assert_allclose(grid[0], [[low, low], [high, high]])
    assert_allclose(grid[1], [[low, high], [low, high]])
    assert_allclose(grid[2], 0.0, atol=1e-12)
    assert look == {"alpha": 0.2, "color": QUIET}


def test_chances_of_an_action_are_as_wide_as_their_arrows():
    from gnomon.decide import MDP
    from gnomon.plot.decide import mdp_graph

    moves = [[[0.1, 0.9, 0.0]], [[0.0, 0.5, 0.5]], [[1.0, 0.0, 0.0]]]
    ax = mdp_graph(MDP(moves, [[1.0], [2.0], [3.0]], layout="sas"))
    angle = np.pi / 2 - 2 * np.pi * np.arange(3) / 3
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    chances = [(0, 0, 0.1), (0, 1, 0.9), (1, 1, 0.5), (1, 2, 0.5), (2, 0, 1.0)]
    words = [text for text in ax.texts if " / " in text.get_text()]
    for (s, t, chance), arrow, word in zip(chances, arrows, words, strict=True):
        dot = 1.45 * place[s]
        assert arrow.arrow_patch.get_linewidth() == pytest.approx(0.4 + 2 * chance)
        assert arrow.arrow_patch.shrinkB == 14
        assert_allclose([arrow.xy, arrow.get_position()], [place[t], dot], atol=1e-12)
        assert word.get_text() == f"{chance:.2g} / {s + 1}" and word.get_fontsize() == 7
        assert_allclose(word.get_position(), 0.55 * dot + 0.45 * place[t], atol=1e-12)
    dots = [line for line in ax.lines if line.get_markersize() == 6 and len(line.get_xdata()) == 1]
    assert_allclose([line.get_xydata()[0] for line in dots], 1.45 * place, atol=1e-12)
    states = [line for line in ax.lines if line.get_markersize() == 28]
    assert len(states) == 3 and {line.get_zorder() for line in states} == {4}
    names = [text for text in ax.texts if text.get_text() == "0" and text.get_fontsize() == 8]
    assert_allclose([text.get_position() for text in names], 1.54 * place, atol=1e-12)
    assert ax.get_xlim() == ax.get_ylim() == (-1.7, 1.7)


def test_beliefs_of_three_components_are_drawn_from_two():
    C = np.array([[2.0, 0.3, 0.9], [0.3, 1.0, -0.8], [0.9, -0.8, 3.0]])
    model = SimpleNamespace(posterior=lambda X: (np.array([[1.0, 2.0, 7.0]]), C[None]))
    ax = plot.embedding(model, np.zeros((1, 4)), kind="belief", level=0.9)
    (ellipse,) = ax.patches
    values, vectors = np.linalg.eigh(C[:2, :2])
    radius = np.sqrt(-2 * np.log(0.1))
    assert tuple(ellipse.center) == (1.0, 2.0)
    assert (ellipse.width, ellipse.height) == pytest.approx(tuple(2 * radius * np.sqrt(values[::-1])))
    assert np.tan(np.radians(ellipse.angle)) == pytest.approx(vectors[1, 1] / vectors[0, 1])
    assert ellipse.get_alpha() == 0.15 and ellipse.get_linewidth() == 0
    assert ax.collections[0].get_sizes().tolist() == [12]
    assert_allclose(ax.collections[0].get_offsets(), [[1.0, 2.0]])


def test_words_of_topics_and_of_a_document():
    model = SimpleNamespace(components_=np.array([[1.0, 5.0, 4.0, 0.0], [6.0, 0.0, 1.0, 3.0]]))
    ax = plot.topics(model, list("abcd"), n=3)
    assert size(ax) == pytest.approx((4.9, 1.9)) and ax.get_xlim() == pytest.approx((-0.1, 3.2))
    assert {bar.get_height() for bar in ax.patches} == {0.85} and ax.yaxis_inverted()
    assert ax.patches[0].get_facecolor() == to_rgba(style.color(0), 0.45)
    assert [text.get_position()[0] for text in ax.texts] == pytest.approx([0.03] * 3 + [1.63] * 3)
    names = ["w" * 10] * 7
    told = SimpleNamespace(
        components_=np.ones((2, 7)),
        assign=lambda row: (None, np.arange(7), np.tile([[0.2, 0.8], [0.9, 0.1]], (4, 1))[:7])
    )  # fmt: skip
    ax = plot.topics(told, names, document=np.array([1, 1, 3, 1, 1, 1, 1]))
    wide = [0.022 * (len(text.get_text()) + 2) for text in ax.texts]
    x, y, places = 0.0, 0.0, []
    for step in wide:
        places.append((x, y))
        x, y = (0.0, y - 1.0) if x + step > 0.9 else (x + step, y)
    assert_allclose([text.get_position() for text in ax.texts], places)
    assert (
        ax.texts[2].get_text() == "w" * 10 + " ×3" and ax.get_ylim() == (y - 1, 1) and ax.get_xlim() == (0, 1)
    )
    assert [to_rgba(text.get_color()) for text in ax.texts[:2]] == [
        to_rgba(style.color(1)),
        to_rgba(style.color(0)),
    ]
    assert size(ax) == (7, 2.5) and not ax.axison


def test_neighbors_without_and_with_answers():
    from gnomon.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=2).fit(X)
    for y, dot in ((None, 20), (X[:, 0], 24), (Y, 24)):
        ax = plot.neighbors(model, X[:1] + 0.1, X, y)
        points = ax.collections[:-1]
        assert_allclose(
            np.vstack([p.get_offsets() for p in points]),
            X if y is None or y.dtype.kind == "f" else np.vstack([X[Y == 0], X[Y == 1]]),
        )
        assert {s for p in points for s in p.get_sizes()} == {dot} and {p.get_zorder() for p in points} == {2}
        star = ax.collections[-1]
        assert star.get_sizes().tolist() == [120] and star.get_zorder() == 4
        assert_allclose(star.get_offsets(), X[:1] + 0.1)
        assert [line_look(line) for line in ax.lines] == [wanted(QUIET, 0.9)] * 2 and size(ax) == (5.5, 4.5)
