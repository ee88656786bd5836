"""What is drawn where: places, lengths, colors and scales of pictures, read back from their artists."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.plot.decide import mdp_graph
from gnomon.plot.projections import multiplicative_update


def test_words_of_a_topic_fall_from_the_top():
    model = SimpleNamespace(components_=np.array([[1.0, 5.0, 4.0, 0.0], [6.0, 0.0, 1.0, 3.0]]))
    ax = plot.topics(model, ["a", "b", "c", "d"], n=3)
    assert [text.get_text() for text in ax.texts] == ["b", "c", "a", "a", "d", "c"]
    assert [text.get_position()[1] for text in ax.texts] == [0, 1, 2, 0, 1, 2]
    longest = 0.6 * 1.05
    widths = [bar.get_width() for bar in ax.patches]
    assert_allclose(widths, np.array([0.5, 0.4, 0.1, 0.6, 0.3, 0.1]) / longest)
    assert_allclose([bar.get_x() for bar in ax.patches], [0, 0, 0, 1.6, 1.6, 1.6])
    assert_allclose(ax.get_xticks(), [0.5, 2.1])


def test_boxes_of_an_update_stand_side_by_side():
    X, W, H = (
        np.array([[2.0, 4.0, 1.0], [1.0, 0.0, 2.0]]),
        np.array([[1.0, 2.0], [3.0, 1.0]]),
        np.ones((2, 3)),
    )
    ax = multiplicative_update(X, W, H)
    extents = [image.get_extent() for image in ax.images]
    assert_allclose(extents, [[left, left + 2, 2, 0] for left in (0, 3, 6, 9)])
    top, bottom = X @ H.T, W @ H @ H.T
    for image, table in zip(ax.images, [W, top, bottom, W * top / bottom], strict=True):
        assert_allclose(image.get_array(), table)
    signs = [text for text in ax.texts if text.get_text() in "∘/="]
    assert_allclose([text.get_position() for text in signs], [(2.5, 1), (5.5, 1), (8.5, 1)])


def test_edges_of_a_lattice_are_bright_where_the_upper_set_is_frequent():
    from gnomon.association import apriori, lattice

    items, baskets = ["a", "b", "c"], [["a", "b"], ["a", "b"], ["a"], ["c"]]
    found = apriori(baskets, 0.5)
    ax = plot.itemset_lattice(items, found)
    shown = lattice(items, found)
    expected = [0.7 if shown.status[high] == "frequent" else 0.2 for _, high in shown.edges]
    assert [line.get_alpha() for line in ax.lines] == expected and sorted(set(expected)) == [0.2, 0.7]
    for line, (low, high) in zip(ax.lines, shown.edges, strict=True):
        assert line.get_ydata().tolist() == [-len(low), -len(high)]
    words = {text.get_text(): tuple(text.xy) for text in ax.texts}
    assert words["∅"] == (0.0, 0) and words["a\nb\nc"] == (0.0, -3)
    assert sorted(words[one][0] for one in items) == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("places", "scale"),
    [([0.1, 1.0, 10.0], "log"), ([0.0, 1.0, 10.0], "linear"), ([2.0, 20.0, 199.0], "linear")],
)
def test_scores_with_bands(places, scale):
    table = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, 8.0]])
    ax = plot.score_curve(places, {"test": table, "one": [1.0, 2.0, 3.0]}, chosen=places[1])
    assert ax.get_xscale() == scale
    assert_allclose(ax.lines[0].get_ydata(), [2.0, 2.0, 6.0])
    assert_allclose(ax.lines[1].get_ydata(), [1.0, 2.0, 3.0])
    assert ax.lines[2].get_xdata()[0] == places[1]
    edges = ax.collections[0].get_paths()[0].vertices
    spread = table.std(axis=1, ddof=1)
    for x, mean, gap in zip(places, [2.0, 2.0, 6.0], spread, strict=True):
        ys = edges[np.isclose(edges[:, 0], x), 1]
        assert_allclose([ys.min(), ys.max()], [mean - gap, mean + gap])
    single = ax.collections[1].get_paths()[0].vertices  # of one score there is no spread
    assert_allclose([single[:, 1].min(), single[:, 1].max()], [1.0, 3.0])
    standard = plot.score_curve(places, {"test": table}, band="error")
    ys = standard.collections[0].get_paths()[0].vertices[:, 1]
    assert ys.max() == pytest.approx(6.0 + spread[2] / np.sqrt(2))


def test_names_as_places_of_scores():
    ax = plot.score_curve(["a", "b"], {"test": [[1.0], [2.0]]}, chosen="b")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]
    assert ax.lines[1].get_xdata()[0] == 1 and ax.get_xticklabels()[0].get_rotation() == 0
    turned = plot.score_curve(["a name that is long", "b"], {"test": [[1.0], [2.0]]})
    assert turned.get_xticklabels()[0].get_rotation() == 45


def test_reliability_has_the_diagonal_and_arms():
    found = SimpleNamespace(
        predicted=np.array([0.2, 0.8]), observed=np.array([0.3, 0.7]), low=np.array([0.1, 0.65]),
        high=np.array([0.6, 0.9]), ece=0.1, ece_if_calibrated=0.05, counts=np.array([4, 6]),
    )  # fmt: skip
    ax = plot.reliability(found)
    assert_allclose(ax.lines[0].get_xydata(), [[0, 0], [1, 1]])
    segments = ax.containers[0].lines[2][0].get_segments()
    assert_allclose(segments, [[[0.2, 0.1], [0.2, 0.6]], [[0.8, 0.65], [0.8, 0.9]]])
    assert [text.get_text() for text in ax.texts] == ["4", "6"]
    plot.reliability(found, ax=ax, label="again")
    assert len(ax.containers) == 2 and sum(len(line.get_xdata()) == 2 for line in ax.lines) >= 2
    diagonals = [line for line in ax.lines if line.get_xdata().tolist() == [0, 1]]
    assert len(diagonals) == 1


def test_tables_too_large_to_draw_are_refused():
    from gnomon.recommend import RatingMatrix

    i = np.arange(2001)
    large = RatingMatrix(i, i, np.ones(2001))
    with pytest.raises(DataError, match="too large to draw"):
        plot.rating_matrix(large)
    assert len(plot.rating_matrix([[5, np.nan], [1, 2]]).texts) == 3


def test_states_of_a_process_stand_on_a_circle():
    from gnomon.decide import MDP

    moves = [[[1, 0, 0], [0.1, 0.9, 0]], [[0.2, 0.8, 0], [1, 0, 0]], [[0, 0, 1], [0, 1, 0]]]
    mdp = MDP(moves, [[0, -1], [2, 0], [1, 1]], layout="sas")
    ax = mdp_graph(mdp)
    angle = np.pi / 2 - 2 * np.pi * np.arange(3) / 3
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    starts = np.array([line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 2])
    assert_allclose(starts[:, 0], np.repeat(place, 2, axis=0), atol=1e-12)
    turns = np.repeat(angle, 2) - np.tile([-0.5, 0.5], 3) * 1.2
    dots = np.repeat(place, 2, axis=0) + 0.45 * np.column_stack([np.cos(turns), np.sin(turns)])
    assert_allclose(starts[:, 1], dots, atol=1e-12)
    words = [text.get_text() for text in ax.texts if "/" in text.get_text()]
    assert words == ["1 / 0", "0.1 / -1", "0.9 / -1", "0.2 / 2", "0.8 / 2", "1 / 0", "1 / 1", "1 / 1"]


def test_a_grid_fills_its_axes():
    from gnomon.decide import GridWorld

    grid = GridWorld((2, 3), terminals={(0, 2): 1.0})
    ax = plot.grid_map(grid)
    assert ax.get_xlim() == (-0.5, 2.5) and ax.get_ylim() == (1.5, -0.5)
    corners = {tuple(np.round(patch.get_xy(), 6)) for patch in ax.patches}
    assert (-0.5, -0.5) in corners and len(corners) == 6


def test_points_of_a_game_are_told_apart():
    points = np.array([[0.5, 0.5], [2.0, 2.0], [0.0, 1.0], [0.5, 3.0]])
    game = SimpleNamespace(
        points=points, rectangle=(np.array([0.0, 0.0]), np.array([1.0, 1.0])),
        learned=(np.array([0.0, 0.5]), np.array([0.5, 1.0])),
    )  # fmt: skip
    ax = plot.rectangles(game)
    assert_allclose(ax.lines[0].get_xydata(), points[[0, 2]])
    assert_allclose(ax.lines[1].get_xydata(), points[[1, 3]])
    true, error, learned = ax.patches
    assert (true.get_xy(), true.get_width(), true.get_height()) == ((0.0, 0.0), 1.0, 1.0)
    assert (error.get_width(), learned.get_width(), learned.get_height()) == (1.0, 0.5, 0.5)
    assert learned.get_xy() == (0.0, 0.5)
