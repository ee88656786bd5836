"""Every picture of the family draws."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

mpl.use("Agg")

from matplotlib import pyplot

from gnomon import plot
from gnomon.datasets import load_restaurant
from gnomon.ensemble import AdaBoostClassifier, BaggingClassifier, HistGradientBoostingClassifier
from gnomon.trees import DecisionTreeClassifier, gain_curve

X, Y = load_iris(return_X_y=True)
X = X[:, :2]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_pictures_of_splits():
    assert len(plot.impurity_functions().lines) == 3
    curve = gain_curve(X, Y)
    ax = curve.plot()
    assert ax.lines[1].get_xdata() == curve.thresholds[curve.gains.argmax()]


def test_pictures_of_trees():
    tree = DecisionTreeClassifier(max_leaf_nodes=5).fit(X, Y)
    assert len(tree.plot().texts) >= 9
    plot.decision_regions(tree, X, Y)
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(X, Y)
    assert plot.tree_gallery(bag.estimators_).shape == (2, 3)
    ax = plot.train_test_size_curve(DecisionTreeClassifier(), X[::2], Y[::2], X[1::2], Y[1::2])
    assert len(ax.lines) == 2
    visits = load_restaurant()
    multiway = DecisionTreeClassifier(criterion="entropy", split="multiway").fit(visits.data, visits.target)
    assert any("Patrons" in text.get_text() for text in multiway.plot().texts)


def test_pictures_of_boosting():
    two = Y < 2
    noisy = X[two] + np.random.default_rng(0).normal(0, 0.5, (100, 2))
    model = AdaBoostClassifier(n_estimators=5).fit(noisy, Y[two])
    assert len(plot.boosting_rounds(model, noisy, Y[two])) == 3
    assert len(model.plot(noisy, Y[two]).lines) == 4
    drawn = model.plot(noisy, Y[two], kind="margins").lines[0].get_xdata()
    np.testing.assert_allclose(drawn, np.sort(model.margins(noisy, Y[two])))
    plot.boosting_scatter([0.3, 0.2], [0.2, 0.1])
    assert HistGradientBoostingClassifier(max_iter=3).fit(X, Y).plot().lines
