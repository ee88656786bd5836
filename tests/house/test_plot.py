"""Pictures show the numbers they are given; asserted on the artists, not on pixels."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from gnomon import datasets, plot
from gnomon.core.errors import DataError
from gnomon.core.trace import Trace
from gnomon.plot import style


@pytest.fixture(scope="module")
def faithful():
    return datasets.load_old_faithful().data


# The house style


@pytest.mark.parametrize("paper", ["white", "#121212"])
def test_colors_are_legible_on_light_and_dark_paper(paper):
    light = style.luminance(matplotlib.colors.to_rgb(paper))
    for color in (*style.COLORS, style.QUIET):
        mine = style.luminance(matplotlib.colors.to_rgb(color))
        assert (max(mine, light) + 0.05) / (min(mine, light) + 0.05) >= 3, color


def test_colors_differ():
    rgb = np.array([matplotlib.colors.to_rgb(color) for color in (*style.COLORS, style.QUIET)])
    distance = np.linalg.norm(rgb[:, None] - rgb[None], axis=2)
    assert distance[np.triu_indices(len(rgb), 1)].min() > 0.15


def test_drawing_changes_no_global_setting(faithful):
    before = dict(matplotlib.rcParams)
    plot.trace([2.0, 1.0])
    plot.ellipses([[0, 0]], [1.0])
    assert dict(matplotlib.rcParams) == before


def test_given_axes_are_used_and_returned():
    _, ax = pyplot.subplots()
    ax.set_xlabel("mine")
    assert plot.trace([2.0, 1.0], ax) is ax
    assert ax.get_xlabel() == "mine"


# Curves


def test_trace_draws_objective_and_certificate():
    ax = plot.trace(Trace([3.0, 2.0, 1.0], [0.1, 0.2, 0.3], [1.0, 1e-2, 1e-4]))
    assert ax.lines[0].get_ydata().tolist() == [3.0, 2.0, 1.0]
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3]
    side = ax.figure.axes[1]
    assert side.get_yscale() == "log" and side.lines[0].get_ydata().tolist() == [1.0, 1e-2, 1e-4]


def test_traces_share_axes_in_different_colors():
    ax = plot.trace([2.0, 1.0], label="one")
    plot.trace([3.0, 1.0], ax, label="two")
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_trace_of_a_model_is_its_trace():
    class Model:
        trace_ = Trace([5.0, 4.0], [0.1, 0.2])

    assert plot.trace(Model()).lines[0].get_ydata().tolist() == [5.0, 4.0]
    assert Model.trace_.plot().lines[0].get_ydata().tolist() == [5.0, 4.0]


def test_an_empty_trace_is_refused():
    with pytest.raises(DataError, match="fit the model first"):
        plot.trace([])


def test_path_names_the_largest_curves_and_marks_the_choice():
    x = np.geomspace(1e-3, 1, 5)
    curves = np.outer(np.linspace(1, 0, 5), [1.0, -3.0, 0.1])
    ax = plot.path(x, curves, ["a", "b", "c"], chosen=0.1, n_named=2)
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "chosen: 0.1"]
    assert any(np.array_equal(line.get_ydata(), curves[:, 2]) for line in ax.lines)
    with pytest.raises(DataError, match="one row for each of the 5"):
        plot.path(x, curves[:3])


# Tables


def test_heat_map_writes_numbers_in_readable_ink():
    ax = plot.heat_map([[0.0, 1.0]], ["r"], ["low", "high"])
    assert [(text.get_text(), text.get_color()) for text in ax.texts] == [("0", "white"), ("1", "black")]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["low", "high"]


def test_heat_map_centers_both_signs_and_leaves_gaps():
    ax = plot.heat_map([[-1.0, np.nan], [4.0, 0.0]])
    image = ax.images[0]
    assert image.norm.vmin == -4 and image.norm.vmax == 4
    assert [text.get_text() for text in ax.texts] == ["-1", "4", "0"]


def test_heat_map_takes_names_from_a_frame():
    import pandas as pd

    ax = plot.heat_map(pd.DataFrame([[1, 2]], index=["row"], columns=["p", "q"]))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["row"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["p", "q"]


def test_heat_map_counts_names():
    with pytest.raises(DataError, match="2 columns, but 1 names"):
        plot.heat_map([[1, 2]], None, ["only"])


# The plane


class Left:
    """Class "l" left of zero, else "r"."""

    classes_ = np.array(["l", "r"])

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] < 0, "l", "r")


def test_decision_regions_shows_decision_and_points():
    X, y = np.array([[-1.0, 0.0], [1.0, 1.0], [2.0, 0.5]]), np.array(["l", "r", "r"])
    ax = plot.decision_regions(Left(), X, y, resolution=40)
    left, right = (np.asarray(image.get_array()) for image in ax.images)
    xs = np.linspace(*ax.get_xlim(), 40)
    np.testing.assert_array_equal(left[0] > 0, xs < 0)
    np.testing.assert_array_equal(right[0] > 0, xs >= 0)
    shown = [entry.get_text() for entry in ax.get_legend().get_texts()]
    assert shown == ["l", "r"]
    points = [len(c.get_offsets()) for c in ax.collections if c.get_label() in ("l", "r")]
    assert points == [1, 2]


def test_decision_regions_shade_follows_certainty():
    from sklearn.linear_model import LogisticRegression

    X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    ax = plot.decision_regions(LogisticRegression().fit(X, [0, 0, 1, 1]), X, [0, 0, 1, 1], resolution=50)
    row = np.asarray(ax.images[1].get_array())[25]
    inside = row[row > 0]
    assert (np.diff(inside) >= 0).all() and inside[-1] > inside[0] + 0.1


def test_decision_regions_of_clusters_regressions_and_frames():
    import pandas as pd
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression

    X = np.random.default_rng(0).normal(size=(40, 2))
    clusters = KMeans(3, n_init=1, random_state=0).fit(X)
    assert len(plot.decision_regions(clusters, X, clusters.labels_, resolution=60).images) == 3
    ax = plot.decision_regions(LinearRegression().fit(X, X[:, 0]), X, X[:, 0], resolution=20)
    assert ax.figure.axes[1].get_ylabel() == "prediction"
    frame = pd.DataFrame(X, columns=["height", "width"])
    ax = plot.decision_regions(LinearRegression().fit(frame, X[:, 0]), frame, resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "width")


def test_points_of_the_plane_are_no_sequence():
    """To a model of sequences every point is one of its own: what it says depends on the point alone."""
    from gnomon.sequence import GaussianHMM

    model = GaussianHMM(2, covariance_type="diag")
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.999, 0.001], [0.001, 0.999]])
    model.means_, model.covars_ = np.array([[-1.0, 0.0], [1.0, 0.0]]), np.ones((2, 2))
    model.n_features_in_ = model.n_features = 2
    X = np.array([[-2.0, -2.0], [2.0, 2.0]])
    left, right = (
        np.asarray(image.get_array()) for image in plot.decision_regions(model, X, resolution=20).images
    )
    assert (left[:, :9] > 0).all() and (left[:, 11:] == 0).all()
    assert (right[:, 11:] > 0).all() and (right[:, :9] == 0).all()


def test_decision_regions_needs_two_columns():
    with pytest.raises(DataError, match="two columns"):
        plot.decision_regions(Left(), np.ones((4, 3)))


def test_ellipses_have_the_axes_of_the_covariance():
    covariance = np.array([[5.0, 3.0], [3.0, 5.0]])  # variances 8 along the diagonal, 2 across
    ax = plot.ellipses([[1.0, 2.0]], [covariance], levels=(1.0, 2.0))
    one, two = ax.patches
    assert one.get_center() == (1.0, 2.0)
    assert (one.width, one.height) == (pytest.approx(2 * np.sqrt(8)), pytest.approx(2 * np.sqrt(2)))
    assert one.angle % 180 == pytest.approx(45)
    assert two.width == pytest.approx(2 * one.width)


@pytest.mark.parametrize(
    ("covariances", "kind"),
    [
        (np.tile(np.eye(2) * 4.0, (3, 1, 1)), None),
        (np.eye(2) * 4.0, None),
        (np.full((3, 2), 4.0), None),
        (np.full(3, 4.0), None),
    ],
)
def test_ellipses_take_every_form_of_covariance(covariances, kind):
    ax = plot.ellipses(np.zeros((3, 2)), covariances, covariance_type=kind, levels=(1.0,))
    assert [patch.width for patch in ax.patches] == pytest.approx([4.0] * 3)


def test_ellipses_ask_when_the_form_is_ambiguous():
    with pytest.raises(DataError, match="covariance_type"):
        plot.ellipses(np.zeros((2, 2)), np.eye(2))
    diagonal = plot.ellipses(np.zeros((2, 2)), [[1.0, 4.0], [4.0, 1.0]], covariance_type="diag", levels=(1,))
    assert [patch.width for patch in diagonal.patches] == [4.0, 4.0]
    with pytest.raises(DataError, match="one of"):
        plot.ellipses(np.zeros((2, 2)), np.ones((5, 5)))


# Fits and frames


class Line:
    def predict(self, X):
        return 2 * np.asarray(X)[:, 0] + 1

    def predict_interval(self, X, level):
        return self.predict(X) - 10 * level, self.predict(X) + 10 * level


def test_fit_line_is_the_prediction(faithful):
    ax = plot.fit_line(Line(), faithful[:, :1], faithful[:, 1], label="line")
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, 2 * x + 1)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), faithful)
    plot.fit_line(Line(), faithful[:, :1], faithful[:, 1], ax, label="again")
    assert len(ax.lines) == 2 and len(ax.collections) == 1
    with pytest.raises(DataError, match="one column"):
        plot.fit_line(Line(), np.c_[faithful, faithful[:, 0]])


def test_predictive_band_covers_the_interval(faithful):
    ax = plot.predictive_band(Line(), faithful[:, :1], faithful[:, 1], level=0.5)
    band = ax.collections[1].get_paths()[0].vertices
    x, y = band.T
    assert np.isin(np.round(y - (2 * x + 1), 6), [-5.0, 5.0]).all()
    with pytest.raises(DataError, match="no predict_interval"):
        plot.predictive_band(Left(), faithful[:, :1])


def test_animation_has_one_frame_per_step_and_holds_the_last(tmp_path):
    from PIL import Image

    def draw(step, ax):
        ax.plot([0, 1], [0, step])

    file = plot.animate(range(1, 5), draw, tmp_path / "steps.gif", seconds_per_frame=0.2)
    with Image.open(file) as picture:
        assert picture.n_frames == 4
        durations = []
        for frame in range(4):
            picture.seek(frame)
            durations.append(picture.info["duration"])
    assert durations == [200, 200, 200, 1500]


def test_animation_is_cut_short_but_ends_at_the_end(tmp_path):
    from PIL import Image

    drawn = []
    file = plot.animate(
        range(50), lambda step, ax: (drawn.append(step), ax.plot([0, step])), tmp_path / "a.gif", max_frames=5
    )
    assert drawn == [0, 1, 2, 3, 49]
    with Image.open(file) as picture:
        assert picture.n_frames == 5
    with pytest.raises(DataError, match="nothing to animate"):
        plot.animate([], lambda *_: None, tmp_path / "none.gif")
