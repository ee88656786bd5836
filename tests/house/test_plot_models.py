"""Pictures of models: what is drawn are the numbers of the model, in the places and colors that they have."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.cluster import choose_k, spectral
from gnomon.plot.trees import boosting_curves, boosting_losses, margin_distribution


def rng():
    return np.random.default_rng(0)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_colors_repeat_after_the_last():
    n = len(style.COLORS)
    assert [style.color(k) for k in range(n + 2)] == [*style.COLORS, *style.COLORS[:2]]


# Kernels


def test_kernels_along_a_line_are_seen_from_their_anchor():
    from gnomon.kernels import RBF, Linear

    ax = plot.kernel_slice([RBF(2.0), Linear()], 1.5, width=4.0)
    for line, value in zip(ax.lines, (lambda z: np.exp(-((z - 1.5) ** 2) / 8), lambda z: 1.5 * z)):
        z = line.get_xdata()
        assert z[[0, -1]].tolist() == [-2.5, 5.5]
        assert_allclose(line.get_ydata(), value(z), atol=1e-12)
    assert ax.lines[2].get_xdata() == [1.5, 1.5]
    for wrong in ([[1.0], [2.0]], [1.0, 2.0, 3.0]):
        with pytest.raises(DataError, match="one point of one or two columns"):
            plot.kernel_slice(RBF(), wrong)
    with pytest.raises(DataError, match="one kernel is drawn at a time"):
        plot.kernel_slice([RBF(), Linear()], [0.0, 0.0])


def test_curves_of_kernels_are_predictions_with_room_of_half_the_spread():
    from gnomon.kernels import RBF, KernelRidge, Polynomial

    x, y = np.array([1.0, 2.0, 4.0, 5.0]), np.array([2.0, 6.0, 3.0, 4.0])
    kernel = RBF(1.0)
    ax = plot.kernel_curves(x, y, {"bell": kernel}, alpha=0.1)
    grid = ax.lines[0].get_xdata()
    assert_allclose(
        ax.lines[0].get_ydata(), KernelRidge(0.1, kernel=kernel).fit(x[:, None], y).predict(grid[:, None])
    )
    assert ax.get_ylim() == pytest.approx((0.0, 8.0)) and labels(ax) == ["bell"]
    assert plot.kernel_curves(x, np.full(4, 3.0), {"bell": kernel}).get_ylim() == pytest.approx((2.5, 3.5))
    own = plot.kernel_curves(x, y).lines[1]  # the size of the numbers is taken out of the polynomials
    cubic = KernelRidge(1e-3, kernel=Polynomial(3, 1 / np.mean(x**2))).fit(x[:, None], y)
    assert_allclose(own.get_ydata(), cubic.predict(own.get_xdata()[:, None]))
    with pytest.raises(DataError, match="each of the 4 targets; it has 3"):
        plot.kernel_curves(x[:3], y)


# Tables


@pytest.mark.parametrize(("center", "ends"), [(None, (1, 7)), (2.0, (-3, 7)), (6.0, (1, 11)), (9.0, (1, 17))])
def test_colors_of_a_table_are_as_wide_on_both_sides_of_its_center(center, ends):
    image = plot.heat_map([[1.0, 7.0, 3.0]], center=center).images[0]
    assert (image.norm.vmin, image.norm.vmax) == ends


def test_tables_that_hold_nothing_or_less_than_two_dimensions():
    assert plot.heat_map([[np.nan, np.nan]]).images[0].norm.vmax == 1.0
    for wrong in ([1.0, 2.0], np.zeros((0, 3))):
        with pytest.raises(DataError, match="rows and columns"):
            plot.heat_map(wrong)


def test_large_tables_have_a_scale_instead_of_numbers_unless_asked():
    for cells, written in ((150, True), (151, False)):
        ax = plot.heat_map(np.arange(float(cells))[None])
        assert len(ax.texts) == (cells if written else 0) and len(ax.figure.axes) == (1 if written else 2)
    assert len(plot.heat_map(np.zeros((1, 151)), numbers=True).texts) == 151
    assert not plot.heat_map([[1.0, 2.0]], numbers=False).texts


# Hulls


def test_dashed_hulls_hold_the_means_of_capped_weights():
    """Of four corners of a square with weights of at most 0.4: two with 0.4 and one with 0.2 are furthest."""
    X = np.array([[0.0, 0], [10, 0], [0, 10], [10, 10], [30, 5], [31, 5], [30, 6]])
    y = [0, 0, 0, 0, 1, 1, 1]
    ax = plot.hulls(X, y, max_weight=0.4)
    solid, dashed = ax.patches[0].get_xy(), ax.patches[1].get_xy()
    assert set(map(tuple, solid)) == {(0, 0), (10, 0), (0, 10), (10, 10)}
    assert ax.patches[1].get_linestyle() == "--"
    assert_allclose(dashed.min(axis=0), [2, 2])  # 0.4 + 0.4 on the side, 0.2 on the far one
    assert_allclose(dashed.max(axis=0), [8, 8])
    corners = {(2.0, 4.0), (4.0, 2.0), (6.0, 2.0), (8.0, 4.0), (8.0, 6.0), (6.0, 8.0), (4.0, 8.0), (2.0, 6.0)}
    assert {(round(a, 9), round(b, 9)) for a, b in dashed} == corners
    a, b = (dashed[:-1] - [5, 5]).T, (dashed[1:] - [5, 5]).T
    assert (a[0] * b[1] - a[1] * b[0] > 0).all()  # counter-clockwise


def test_the_plane_halfway_is_perpendicular_to_the_nearest_points():
    X, y = [[0.0, 0], [-3, 1], [4, 3], [9, 3]], [0, 0, 1, 1]
    ax = plot.hulls(X, y)
    segment, middle, first, second = ax.lines
    assert_allclose(
        segment.get_xydata(), [[4, 3], [0, 0]] if segment.get_xydata()[0, 0] else [[0, 0], [4, 3]]
    )
    for line, point, style_ in (
        (middle, [2, 1.5], "-"),
        (first, segment.get_xydata()[0], "--"),
        (second, segment.get_xydata()[1], "--"),
    ):
        start, end = np.array(line.get_xy1()), np.array(line.get_xy2())
        assert_allclose(start, point)
        assert (end - start) @ [4, 3] == pytest.approx(0.0) and line.get_linestyle() == style_
        assert np.linalg.norm(end - start) == pytest.approx(5.0)
    assert ax.get_title() == "distance 5, margin 2.5"
    assert plot.hulls([[0.0, 0], [2, 0], [1, 0], [1, 1]], [0, 0, 1, 1]).get_title() == "meet"
    with pytest.raises(DataError, match="two features"):
        plot.hulls([[0.0], [1.0]], [0, 1])


# Trees and boosting


def test_impurities_of_two_classes():
    lines = {line.get_label(): line for line in plot.impurity_functions().lines}
    p = np.linspace(0, 1, 201)
    assert_allclose(lines["gini"].get_ydata(), 2 * p * (1 - p), atol=1e-12)
    assert_allclose(lines["error"].get_ydata(), np.minimum(p, 1 - p), atol=1e-12)
    with np.errstate(all="ignore"):
        entropy = -np.nan_to_num(p * np.log2(p)) - np.nan_to_num((1 - p) * np.log2(1 - p))
    assert_allclose(lines["entropy / 2"].get_ydata(), entropy / 2, atol=1e-12)


def test_a_drawn_tree_has_parents_above_the_middle_of_their_children():
    from gnomon.trees import DecisionTreeClassifier

    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 0, 1, 1, 1])
    model = DecisionTreeClassifier().fit(X, y)
    nodes = model.tree_
    ax = plot.tree(model)
    boxes = [text for text in ax.texts if text.get_bbox_patch() is not None]
    questions = [text for text in ax.texts if text.get_bbox_patch() is None]
    place = dict(enumerate(tuple(text.get_position()) for text in boxes))
    order = list(range(nodes.node_count))
    assert len(boxes) == nodes.node_count and len(ax.lines) == nodes.node_count - 1 == len(questions)
    assert sorted(y for _, y in place.values()) == sorted(-nodes.depth)
    ends = [tuple(map(tuple, line.get_xydata())) for line in ax.lines]
    for (above, below), question in zip(ends, questions):
        assert above[1] == below[1] + 1 and above in place.values() and below in place.values()
        assert question.get_position() == ((above[0] + below[0]) / 2, (above[1] + below[1]) / 2)
    for above in {a for a, _ in ends}:
        below = [b for a, b in ends if a == above]
        assert above[0] == np.mean([b[0] for b in below])
    leaves = sorted(p[0] for p in place.values() if p not in {a for a, _ in ends})
    assert np.diff(leaves).tolist() == [1.0] * (len(leaves) - 1)
    inner = [text.get_text() for text in boxes if text.get_text().startswith("n=")]
    assert sorted(inner) == sorted(f"n={nodes.n_node_samples[t]}" for t in order if nodes.feature[t] >= 0)
    edges = {text.get_position(): to_hex(text.get_bbox_patch().get_edgecolor()) for text in boxes}
    root = max(place.values(), key=lambda p: p[1])
    assert edges[root] == style.color(1).lower()  # most rows are of the second class
    cut = plot.tree(model, max_depth=1)
    assert len([text for text in cut.texts if text.get_bbox_patch() is not None]) == 3
    sides = {"<=" in q.get_text(): below[0] for (above, below), q in zip(ends, questions) if above == root}
    assert sides[True] < root[0] < sides[False]


def test_rounds_of_boosting_show_weights_and_thresholds():
    from gnomon.ensemble import AdaBoostClassifier

    X = rng().normal(size=(40, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    axes = plot.boosting_rounds(model, X, y, rounds=3)
    assert len(axes) == 3 and len(plot.boosting_rounds(model, X, y, rounds=50)) == len(model.estimators_)
    for t, ax in enumerate(axes):
        weight, stump = model.sample_weights_[t], model.estimators_[t]
        for k, dots in enumerate(ax.collections):
            assert_allclose(dots.get_offsets(), X[y == k])
            assert_allclose(dots.get_sizes(), 400 * weight[y == k] / weight.max() + 5)
        (line,) = ax.lines
        at = line.get_xdata() if stump.feature_ == 0 else line.get_ydata()
        assert list(at) == [stump.threshold_] * 2
        assert (
            ax.get_title()
            == f"round {t + 1}: error {model.estimator_errors_[t]:.3f}, weight {model.alphas_[t]:.3f}"
        )
    assert {model.estimators_[t].feature_ for t in range(3)} == {0, 1}


def test_errors_of_boosting_lie_under_their_bounds():
    model = SimpleNamespace(
        training_errors_=np.array([0.3, 0.1]), estimator_errors_=np.array([0.3, 0.2]),
        normalizers_=np.array([0.9, 0.5]), staged_score=lambda X, y: iter([0.6, 0.75]),
        margins=lambda X, y: np.array([0.5, -0.5, 0.0, 1.0]), train_score_=np.array([3.0, 1.0]),
        validation_score_=np.array([-4.0, -2.0]),
    )  # fmt: skip
    training, test, product, edge = boosting_curves(model, "X", "y").lines
    assert training.get_xdata().tolist() == [1, 2] and training.get_ydata().tolist() == [0.3, 0.1]
    assert_allclose(test.get_ydata(), [0.4, 0.25])
    assert_allclose(product.get_ydata(), [0.9, 0.45])
    assert_allclose(edge.get_ydata(), np.exp([-2 * 0.04, -2 * (0.04 + 0.09)]))
    assert len(boosting_curves(model).lines) == 3
    below = margin_distribution(model, "X", "y").lines[0]
    assert below.get_xdata().tolist() == [-0.5, 0.0, 0.5, 1.0]
    assert below.get_ydata().tolist() == [0.25, 0.5, 0.75, 1.0]
    seen = boosting_losses(model).lines
    assert [line.get_ydata().tolist() for line in seen] == [[3.0, 1.0], [4.0, 2.0]]


def test_data_sets_with_and_without_boosting_are_dots_beside_the_diagonal():
    ax = plot.boosting_scatter([0.2, 0.4], [0.1, 0.3])
    assert ax.lines[0].get_xydata().tolist() == [[0.2, 0.1], [0.4, 0.3]]
    assert_allclose(ax.lines[1].get_xydata(), [[0, 0], [0.42, 0.42]])
    assert ax.get_xlabel() == "error without boosting" and ax.get_ylabel() == "error with boosting"


def test_prunings_are_scored_at_their_number_of_leaves():
    from gnomon.trees import DecisionTreeClassifier

    X = rng().normal(size=(60, 2))
    y = (X[:, 0] + 0.7 * rng().normal(size=60) > 0).astype(int)
    model = DecisionTreeClassifier()
    lines = plot.train_test_size_curve(model, X[:40], y[:40], X[40:], y[40:]).lines
    path = model.cost_complexity_pruning_path(X[:40], y[:40])
    for line, (rows, wanted) in zip(lines, ((X[:40], y[:40]), (X[40:], y[40:]))):
        assert line.get_xdata().tolist() == list(path.n_leaves)
        for alpha, error in zip(path.ccp_alphas, line.get_ydata()):
            pruned = DecisionTreeClassifier(ccp_alpha=alpha * (1 + 1e-9)).fit(X[:40], y[:40])
            assert error == pytest.approx(1 - pruned.score(rows, wanted))


def test_a_gallery_has_a_place_for_every_tree_and_hides_the_others():
    from gnomon.trees import DecisionTreeRegressor

    models = [DecisionTreeRegressor(max_depth=k).fit([[0.0], [1], [2]], [0.0, 1, 5]) for k in (1, 2, 1, 1)]
    grid = plot.tree_gallery(models, columns=3)
    assert grid.shape == (2, 3)
    assert [len(ax.texts) > 0 for ax in grid.flat] == [True] * 4 + [False] * 2
    assert not grid[1, 2].axison


# Clusters


def test_half_steps_are_before_and_after_their_iteration():
    ax = plot.kmeans_steps(SimpleNamespace(half_steps_=[[9.0, 7.0], [6.0, 5.0]]))
    assert_allclose(ax.lines[0].get_xydata(), [[0.75, 9], [1.25, 7], [1.75, 6], [2.25, 5]])
    assert_allclose(ax.collections[0].get_offsets(), [[0.75, 9], [1.75, 6]])
    assert_allclose(ax.collections[1].get_offsets(), [[1.25, 7], [2.25, 5]])


def test_branches_join_over_the_middle_at_the_height_of_their_merge():
    Z = np.array([[0.0, 2.0, 1.0, 2.0], [1.0, 3.0, 2.0, 2.0], [4.0, 5.0, 5.0, 4.0]])
    ax = plot.dendrogram(Z, height=2.0, names=["a", "b", "c", "d"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "c", "b", "d"]
    expected = [
        ([0, 0, 1, 1], [0, 1, 1, 0]),
        ([2, 2, 3, 3], [0, 2, 2, 0]),
        ([0.5, 0.5, 2.5, 2.5], [1, 5, 5, 2]),
    ]
    for line, (x, y) in zip(ax.lines, expected):
        assert list(line.get_xdata()) == x and list(line.get_ydata()) == y
    colors = [line.get_color() for line in ax.lines[:3]]
    assert colors == [style.color(0), style.color(0), style.QUIET]  # a merge at the height is below the cut
    assert list(ax.lines[3].get_ydata()) == [2.0, 2.0]
    with pytest.raises(DataError, match="4 columns"):
        plot.dendrogram(Z[:, :3])


def test_the_choice_of_k_is_marked_beside_costs_and_scores():
    result = SimpleNamespace(
        k_values=[1, 2, 3], costs=[9.0, 3.0, 2.0], best_k=2, scores=[5.0, 4.0, 6.0], errors=[0.1, 0.2, 0.3]
    )
    ax = choose_k(result)
    assert ax.lines[0].get_xydata().tolist() == [[1, 9], [2, 3], [3, 2]]
    assert list(ax.lines[1].get_xdata()) == [2, 2] and labels(ax) == ["cost", "k = 2", "score"]
    bars = ax.figure.axes[1].containers[0]
    assert bars[0].get_xydata().tolist() == [[1, 5], [2, 4], [3, 6]]
    assert_allclose(
        [path.vertices[:, 1] for path in bars[2][0].get_paths()], [[4.9, 5.1], [3.8, 4.2], [5.7, 6.3]]
    )


def test_views_of_a_spectrum():
    K = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]])
    model = SimpleNamespace(
        embedding_=np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]), labels_=np.array([0, 1, 0]),
        eigenvalues_=np.array([0.0, 0.5, 2.0]), affinity_matrix_=K,
    )  # fmt: skip
    assert spectral(model, "eigenvalues").lines[0].get_xydata().tolist() == [[1, 0], [2, 0.5], [3, 2]]
    shown = np.asarray(spectral(model, "affinity").images[0].get_array())
    assert_allclose(shown, K[np.ix_([0, 2, 1], [0, 2, 1])])
    assert_allclose(spectral(model, "fiedler").collections[0].get_offsets(), [[0, 2], [1, 5], [2, 8]])
    dots = spectral(model).collections[0]
    assert_allclose(dots.get_offsets(), [[2, 3], [5, 6], [8, 9]])
    assert [to_hex(c) for c in dots.get_facecolors()] == [style.color(k).lower() for k in (0, 1, 0)]
    model.embedding_ = model.embedding_[:, :2]
    assert_allclose(spectral(model).collections[0].get_offsets(), [[2, 2], [5, 5], [8, 8]])


def test_cells_have_the_colors_of_their_centers():
    from gnomon.cluster import KMeans

    X = np.array([[0.0, 0], [1, 0], [6, 6], [7, 6]])
    model = KMeans(2, init=np.array([[0.0, 0], [7, 6]]), n_init=1).fit(X)
    ax = plot.voronoi(model, X)
    for k, cell in enumerate(ax.patches):
        corners = cell.get_xy()
        near = ((corners[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
        assert (near[:, k] <= near.min(axis=1) + 1e-9).all()
        assert to_hex(cell.get_facecolor()) == style.color(k).lower()
    assert_allclose(ax.collections[0].get_offsets(), X)
    assert_allclose(ax.collections[1].get_offsets(), model.cluster_centers_)


# Neighbors


def test_lines_lead_from_queries_to_their_neighbors_and_mistakes_alone_are_drawn():
    from gnomon.neighbors import KNeighborsClassifier

    X, y = np.array([[0.0, 0], [1, 0], [5, 5], [6, 5]]), np.array([0, 0, 1, 1])
    model = KNeighborsClassifier(2).fit(X, y)
    queries = np.array([[0.4, 0.1], [5.4, 5.2]])
    ax = plot.neighbors(model, queries, X, y, truth=[1, 1])
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0.4, 0.1], [0, 0]], [[0.4, 0.1], [1, 0]]]
    star = ax.collections[-1]
    assert_allclose(star.get_offsets(), queries[:1])
    assert [len(dots.get_offsets()) for dots in ax.collections[:2]] == [2, 2] and labels(ax) == ["0", "1"]
    with pytest.raises(DataError, match="no mistake to draw"):
        plot.neighbors(model, queries, X, y, truth=[0, 1])
    with pytest.raises(DataError, match="X has 3; give shape"):
        plot.neighbors(SimpleNamespace(kneighbors=lambda *a, **k: [[0]]), np.zeros((1, 3)), np.zeros((2, 3)))
    values = plot.neighbors(model, queries, X, np.array([0.5, 1.5, 2.5, 3.5])).collections[0]
    assert values.get_array().tolist() == [0.5, 1.5, 2.5, 3.5]


def test_a_gallery_of_neighbors_names_what_was_said():
    from gnomon.neighbors import KNeighborsClassifier

    X = np.arange(40.0).reshape(10, 4)
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    model = KNeighborsClassifier(3).fit(X, y)
    axes = plot.neighbors(model, X + 0.1, X, y, shape=(2, 2))
    assert axes.shape == (8, 4)  # at most eight queries
    assert [ax.get_title() for ax in axes[0]] == ["0", "0", "0", "0"]
    assert_allclose(axes[2, 0].images[0].get_array(), (X[2] + 0.1).reshape(2, 2))
    near = model.kneighbors(X + 0.1, return_distance=False)
    assert_allclose(axes[2, 3].images[0].get_array(), X[near[2, 2]].reshape(2, 2))
    wrong = plot.neighbors(model, X[:2], X, y, truth=[1, 0], shape=(2, 2))
    assert wrong.shape == (1, 4) and wrong[0, 0].get_title() == "1, said 0"


# Projections


def plane():
    R = rng().normal(size=(40, 3)) * [3.0, 1.0, 0.2] + [5.0, 1.0, 0.0]
    return R, np.repeat([0, 1], 20)


def test_loadings_are_arrows_with_the_longest_named_first():
    from gnomon.decomposition import PCA

    X, y = plane()
    model = PCA(2).fit(X)
    ax = plot.embedding(model, X, y, kind="loadings", n=2)
    tips = model.components_[:2].T
    size = np.linalg.norm(tips, axis=1)
    scale = 0.8 * np.abs(model.transform(X)).max() / size.max()
    first = np.argsort(-size)[:2]
    assert [text.get_text() for text in ax.texts] == [f"x{j}" for j in first]
    assert_allclose([text.get_position() for text in ax.texts], 1.08 * scale * tips[first])
    arrows = ax.collections[-1]
    assert_allclose(np.column_stack([arrows.U, arrows.V]), scale * tips[first])
    assert [len(dots.get_offsets()) for dots in ax.collections[:2]] == [20, 20]


def test_feet_of_rows_lie_on_the_plane():
    from gnomon.decomposition import PCA

    X, _ = plane()
    model = PCA(2).fit(X)
    ax = plot.embedding(model, X, kind="plane")
    assert len(ax.lines) == len(X)
    feet = model.inverse_transform(model.transform(X))
    for line, x, foot in zip(ax.lines, X, feet):
        assert_allclose(np.array(line.get_data_3d()).T, [x, foot])
    with pytest.raises(ValueError, match="three columns; X has 2"):
        plot.embedding(model, X[:, :2], kind="plane")


def test_the_first_direction_with_and_without_the_mean():
    X, _ = plane()
    X = X[:, :2]
    mean = X.mean(axis=0)
    centered, forgotten = plot.embedding(None, X, kind="mean").lines
    first = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    first *= np.sign(first @ mean)
    size = np.abs(X - mean).max()
    assert_allclose(centered.get_xydata(), [mean - size * first, mean + size * first])
    raw = np.linalg.eigh(X.T @ X)[1][:, -1]
    raw *= np.sign(raw @ mean)
    assert_allclose(forgotten.get_xydata(), [[0, 0], np.linalg.norm(X, axis=1).max() * raw], atol=1e-12)
    for wrong in (X[:, 0], X[:, [0, 1, 0]]):
        with pytest.raises(ValueError, match="shows two columns"):
            plot.embedding(None, wrong, kind="mean")


def test_beliefs_are_ellipses_of_their_level():
    C = np.array([[[4.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]])
    model = SimpleNamespace(posterior=lambda X: (np.array([[0.0, 0.0], [5.0, 5.0]]), C))
    ax = plot.embedding(model, np.zeros((2, 2)), [0, 1], kind="belief", level=0.5)
    radius = np.sqrt(2 * np.log(2.0))  # half of the mass of a plane Gaussian is within
    for patch, c in zip(ax.patches, C):
        turn = np.deg2rad(patch.angle)
        axis = np.array([np.cos(turn), np.sin(turn)])
        across = np.array([-axis[1], axis[0]])
        for direction, length in ((axis, patch.width), (across, patch.height)):
            assert length / 2 == pytest.approx(radius * np.sqrt(direction @ c @ direction))
        assert axis @ c @ across == pytest.approx(0.0, abs=1e-12)
    assert [to_hex(p.get_facecolor()) for p in ax.patches] == [style.color(0).lower(), style.color(1).lower()]


def test_a_map_of_what_a_projection_loses():
    model = SimpleNamespace(residual=lambda grid: grid[:, 0] ** 2 + 10 * grid[:, 1])
    seen = {}

    def residual(grid):
        seen["grid"] = grid
        return model_value(grid)

    model_value, model.residual = model.residual, residual
    X = np.array([[0.0, 0.0], [2.0, 1.0]])
    ax = plot.embedding(model, X, kind="residual", points=5)
    assert seen["grid"].shape == (25, 2) and (np.ptp(seen["grid"], axis=0) > np.ptp(X, axis=0)).all()
    assert np.diff(seen["grid"][:5, 0]).min() > 0  # the first column runs along the rows of the map
    assert_allclose(ax.collections[-1].get_offsets(), X)
    with pytest.raises(ValueError, match="two columns; X has 3"):
        plot.embedding(model, np.zeros((2, 3)), kind="residual")


def test_pairs_of_variates_tell_their_correlation():
    first, second = rng().normal(size=(2, 30, 2))
    model = SimpleNamespace(transform=lambda X, Y: (first, second))
    ax = plot.embedding(model, None, None, kind="pairs", pair=1)
    assert ax.get_title() == f"correlation {np.corrcoef(first[:, 1], second[:, 1])[0, 1]:.3f}"
    assert ax.get_xlabel() == "variate 2 of X" and ax.get_ylabel() == "variate 2 of Y"
    assert_allclose(ax.collections[0].get_offsets(), np.column_stack([first[:, 1], second[:, 1]]))


def test_an_embedding_needs_two_components():
    with pytest.raises(ValueError, match="this one has 1"):
        plot.embedding(SimpleNamespace(transform=lambda X: X[:, :1]), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="kind must be one of"):
        plot.embedding(None, np.zeros((3, 2)), kind="loading")
    ax = plot.embedding(SimpleNamespace(transform=lambda X: X), np.arange(9.0).reshape(3, 3))
    assert_allclose(ax.collections[0].get_offsets(), [[0, 1], [3, 4], [6, 7]])
    assert ax.get_legend() is None


# Documents and networks


def test_topics_of_documents_are_stacked_to_one():
    model = SimpleNamespace(
        components_=np.ones((2, 3)), transform=lambda D: np.array([[1.0, 3.0], [2.0, 2.0]])
    )
    ax = plot.topics(model, documents=np.zeros((2, 3)))
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height()) for bar in ax.patches]
    assert_allclose(bars, [(0, 0, 0.25), (1, 0, 0.5), (0, 0.25, 0.75), (1, 0.5, 0.5)])
    assert labels(ax) == ["topic 0", "topic 1"]


def test_words_of_a_document_have_the_color_of_their_topic_and_their_count():
    shares = np.array([[0.9, 0.1], [0.2, 0.8]])
    model = SimpleNamespace(components_=np.ones((2, 3)), assign=lambda row: (None, np.array([0, 2]), shares))
    ax = plot.topics(model, ["ball", "team", "law"], document=np.array([1, 0, 4]))
    assert [text.get_text() for text in ax.texts] == ["ball", "law ×4"]
    assert [text.get_color() for text in ax.texts] == [style.color(0), style.color(1)]
    x, y = zip(*(text.get_position() for text in ax.texts))
    assert y == (0.0, 0.0) and x[0] == 0.0 and x[1] == pytest.approx(0.022 * 6)
    long = SimpleNamespace(
        components_=np.ones((1, 30)), assign=lambda row: (None, np.arange(30), np.ones((30, 1)))
    )
    places = [t.get_position() for t in plot.topics(long, ["word"] * 30, document=np.ones(30)).texts]
    assert len({p[1] for p in places}) > 1 and max(p[0] for p in places) <= 0.9
    assert all(b[0] > a[0] or b[1] == a[1] - 1 for a, b in zip(places, places[1:]))


def test_rows_in_the_coordinates_of_two_units():
    H = np.arange(12.0).reshape(4, 3)
    model = SimpleNamespace(hidden=lambda X, layer: H + 100 * layer)
    ax = plot.hidden_units(model, None, [0, 1, 0, 1], layer=1, units=(2, 0))
    assert_allclose(ax.collections[0].get_offsets(), [[102, 100], [108, 106]])
    assert_allclose(ax.collections[1].get_offsets(), [[105, 103], [111, 109]])
    assert ax.get_xlabel() == "unit 2" and ax.get_ylabel() == "unit 0" and labels(ax) == ["0", "1"]
    assert plot.hidden_units(model, None).get_legend() is None
    for units in ((0, 3), (-1, 0)):
        with pytest.raises(ValueError, match="units must be below 3"):
            plot.hidden_units(model, None, units=units)
