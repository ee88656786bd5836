"""Pictures of neighbors and processes show the numbers they are about."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

from gnomon.core.errors import DataError
from gnomon.gp import GaussianProcessRegressor
from gnomon.kernels import RBF
from gnomon.neighbors import KernelRegressor, KNeighborsClassifier, KNeighborsRegressor, LocalOutlierFactor
from gnomon.plot import decision_regions, neighbors, path, predictive_band


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def plane(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


def test_a_query_and_its_neighbors():
    X, y = plane()
    model = KNeighborsClassifier(3).fit(X, y)
    ax = neighbors(model, [[0.1, 0.2]], X, y)
    rows = model.kneighbors([[0.1, 0.2]], return_distance=False)[0]
    ends = {tuple(np.round(line.get_xydata()[1], 9)) for line in ax.lines}
    assert ends == {tuple(np.round(X[row], 9)) for row in rows}
    with pytest.raises(DataError, match="no mistake"):
        neighbors(model, X[y == 1][:1], X, y, truth=model.predict(X[y == 1][:1]))


def test_mistakes_as_images():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 9)), rng.integers(0, 2, size=30)
    model = KNeighborsClassifier(5).fit(X, y)
    axes = neighbors(model, X, X, y, truth=y, shape=(3, 3))
    wrong = int((model.predict(X) != y).sum())
    assert axes.shape == (min(wrong, 8), 6) and "said" in axes[0, 0].get_title()


def test_errors_over_k():
    X, y = plane()
    ks = [1, 3, 9]
    curve = KNeighborsClassifier().fit(X, y).loo_error_curve(ks)
    ax = path(ks, curve, ["leave one out"], x_label="k", y_label="error")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve)


def test_regions_with_the_best_border():
    X, y = plane()
    best = lambda rows: (np.asarray(rows)[:, 0] > 0).astype(int)  # noqa: E731
    plain = decision_regions(KNeighborsClassifier(15).fit(X, y), X, y, resolution=30)
    more = decision_regions(KNeighborsClassifier(15).fit(X, y), X, y, resolution=30, truth=best)
    assert len(more.collections) == len(plain.collections) + 1


def test_prior_and_posterior():
    X = np.linspace(0, 3, 8)[:, None]
    prior = GaussianProcessRegressor(RBF(1.0, "fixed"))
    before = predictive_band(prior, X, draws=4)
    assert len(before.lines) == 5
    model = prior.fit(X, np.sin(X[:, 0]))
    ax = model.plot(X, np.sin(X[:, 0]), draws=2)
    assert len(ax.lines) == 3 and len(ax.collections) >= 2
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.predict(ax.lines[0].get_xdata()[:, None]))


def test_other_models_draw_themselves():
    X, y = plane()
    x = np.linspace(0, 3, 20)[:, None]
    assert len(KernelRegressor(2.0).fit(x, np.sin(x[:, 0])).plot(x).lines) == 1
    assert KNeighborsRegressor(3).fit(x, np.sin(x[:, 0])).plot(x, np.sin(x[:, 0])).lines
    assert LocalOutlierFactor(5).fit(X).plot(X).collections
    assert KNeighborsClassifier(3).fit(X, y).plot(X, y).images


def test_rings_of_outliers_are_as_wide_as_their_factors():
    X, _ = plane()
    X[0], X[1] = [8.0, 8.0], [40.0, 40.0]
    model = LocalOutlierFactor(5).fit(X)
    points, rings = model.plot(X).collections
    factor = -model.negative_outlier_factor_
    np.testing.assert_array_equal(points.get_offsets(), X)
    np.testing.assert_allclose(rings.get_sizes(), 200 * np.clip(factor - 1, 0, 4))
    edges = rings.get_edgecolors()
    alike = (edges[:, None] == edges).all(axis=2)
    out = factor > 1.5
    assert rings.get_sizes()[1] == 800 and out.sum() >= 2
    assert (alike == (out[:, None] == out)).all()
