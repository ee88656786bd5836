"""Pictures of selection and theory show the numbers they are given."""

import numpy as np
import pytest
from matplotlib import pyplot

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.selection import (
    audit,
    bias_variance,
    bootstrap,
    calibration,
    choose_order,
    compare_many,
    confusion_table,
)
from gnomon.theory import ConstrainedProblem, HalfSpaces, Intervals, RectangleLearner, vc_bound

SCORE = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.1])
LABEL = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, 0])


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def test_score_curves():
    ax = plot.score_curve(
        [10, 100, 1000], {"training": np.ones((3, 2)), "validation": [[0.5, 0.7]] * 3}, chosen=100
    )
    assert ax.lines[1].get_ydata() == pytest.approx([0.6] * 3) and ax.get_xscale() == "log"
    named = plot.score_curve(
        ["ridge", "lasso"], {"score": [[0.5, 0.6], [0.7, 0.8]]}, chosen="lasso", band="error"
    )
    assert [label.get_text() for label in named.get_xticklabels()] == ["ridge", "lasso"]


def test_learning_validation_and_size_curves_of_scikit_learn():
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import learning_curve, validation_curve

    from gnomon.trees import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3)
    sizes, train, test = learning_curve(tree, X, y, train_sizes=[0.1, 0.5, 1.0], cv=3)
    ax = plot.score_curve(sizes, {"training": train, "validation": test}, x_label="rows")
    assert ax.lines[1].get_ydata()[-1] == pytest.approx(test[-1].mean())
    train, test = validation_curve(tree, X, y, param_name="max_leaf_nodes", param_range=[2, 4, 16], cv=3)
    assert (np.diff(train.mean(axis=1)) > -1e-9).all()  # a larger tree fits the training rows no worse
    ax = plot.score_curve([2, 4, 16], {"training": 1 - train, "test": 1 - test}, y_label="error")
    assert ax.lines[0].get_ydata() == pytest.approx(1 - train.mean(axis=1))


def test_replicates_of_a_bootstrap():
    found = bootstrap("mean", np.arange(30.0), n_resamples=200, random_state=0)
    ax = found.plot()
    assert sum(patch.get_height() for patch in ax.patches) == pytest.approx(1)
    assert ax.lines[0].get_xdata()[0] == found.estimate


def test_roc_with_bands_and_bounds():
    ax = plot.roc(LABEL, {"a": SCORE, "b": -SCORE}, bounds=True, n_resamples=50)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "a 0.700" in texts and "b 0.300" in texts and "possible with this area" in texts


def test_precision_and_recall():
    ax = plot.roc(LABEL, SCORE, curve="precision recall")
    assert "0.728" in ax.get_legend().get_texts()[0].get_text()


def test_reliability_diagram():
    ax = calibration(LABEL, SCORE, n_bins=5).plot()
    assert "chance" in ax.get_legend().get_texts()[0].get_text()
    assert len(ax.containers) == 1


def test_confusion_picture():
    ax = confusion_table(LABEL, (SCORE > 0.5).astype(int)).plot()
    assert [text.get_text() for text in ax.texts] == ["3", "2", "1", "4"]
    assert ax.get_ylabel() == "true"


def test_audit_bars():
    found = audit(LABEL, SCORE > 0.5, list("AAAABBBBBB"))
    ax = found.plot("fpr")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B"]


def test_ranks_of_models():
    scores = np.random.default_rng(0).normal(size=(10, 3)) + [0, 0, 3]
    ax = compare_many(scores, ["a", "b", "c"]).plot()
    assert len(ax.lines) >= 2 and ax.get_title().startswith("critical difference")


def test_one_dot_per_data_set():
    ax = plot.boosting_scatter([0.2, 0.3], [0.1, 0.35], names=("error of one", "error of the other"))
    assert ax.lines[0].get_ydata().tolist() == [0.1, 0.35] and ax.get_xlabel() == "error of one"


def test_bias_and_variance():
    from gnomon.trees import DecisionTreeRegressor

    def make_data(rng):
        x = rng.random((20, 1))
        return x, x[:, 0] + 0.1 * rng.normal(size=20)

    grid = np.linspace(0, 1, 5)
    found = {
        k: bias_variance(
            DecisionTreeRegressor(max_depth=k), make_data, grid, truth=grid, n_sets=5, random_state=0
        )
        for k in (1, 2)
    }
    ax = found[1].plot()
    assert ax.lines[-1].get_ydata() == pytest.approx(grid)
    ax = plot.bias_variance(found)
    assert ax.lines[0].get_ydata() == pytest.approx([found[1].total, found[2].total])


def test_dartboards():
    axes = plot.dartboard()
    darts = [np.array(ax.lines[0].get_data()) for ax in np.ravel(axes)]
    assert abs(darts[0].mean()) < 0.15 < darts[2].mean() and darts[1].std() > 2 * darts[0].std()


def test_criteria_against_the_order():
    from gnomon.mixture import GaussianMixture

    X = np.concatenate([np.linspace(-1, 1, 20), np.linspace(9, 11, 20)])[:, None]
    found = choose_order(GaussianMixture(random_state=0), "n_components", [1, 2], X, criteria=("aic", "bic"))
    ax = found.plot()
    assert {line.get_label() for line in ax.lines} >= {"aic", "bic"}


def test_bounds_against_the_sample():
    n = np.array([100, 1000, 10_000])
    curves = np.column_stack([vc_bound(n=n, delta=0.05, d=d).value for d in (3, 10)])
    ax = plot.path(n, curves, ["d = 3", "d = 10"], x_label="rows", y_label="gap")
    assert ax.get_xscale() == "log" and ax.lines[0].get_ydata() == pytest.approx(curves[:, 0])


def test_growth_curves():
    ax = HalfSpaces(2).plot(most=6)
    assert ax.lines[-1].get_ydata().tolist() == [2, 4, 8, 14, 22, 32]
    with pytest.raises(DataError, match="infinite"):
        Intervals(None).plot()


def test_panels_of_all_labelings():
    grid = HalfSpaces(2).plot([[0, 0], [1, 0], [0, 1], [1, 1]])
    crossed = sum(any(line.get_color() == "tab:red" for line in ax.lines) for ax in grid.ravel())
    assert grid.size == 16 and crossed == 2
    assert Intervals(1).plot([0.0, 1.0, 2.0]).size == 8
    with pytest.raises(DataError, match="five points"):
        HalfSpaces(2).plot(np.zeros((6, 2)))


def test_boxes_of_a_game():
    game = RectangleLearner.game(40, n_trials=3, random_state=0)
    ax = game.plot()
    assert [patch.get_label() for patch in ax.patches] == ["true", "error", "learned"]


def test_supporting_line():
    problem = ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], n_variables=1)
    ax = problem.plot(np.linspace(-1, 3, 41))
    told = ax.get_title().split("gap")
    assert told[0] == "primal 1, " and abs(float(told[1])) < 1e-6
    f, g = {0: 3, 1: 2.5, 2: 0}, {0: -1, 1: 0, 2: 2}
    three = ConstrainedProblem(
        lambda x: f[int(x[0])], inequalities=[lambda x: g[int(x[0])]], domain=[0, 1, 2]
    )
    assert three.plot([0, 1, 2]).get_title() == "primal 2.5, gap 0.5"
