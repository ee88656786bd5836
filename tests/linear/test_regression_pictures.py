"""Regression data sets and pictures: what is drawn are the numbers of the models."""

from operator import itemgetter

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.pipeline import make_pipeline

from gnomon import plot
from gnomon.datasets import (
    load_old_faithful,
    make_polynomial_curve,
    make_sparse_regression,
    make_table,
)
from gnomon.linear import (
    ActiveLearner,
    BayesianLinearRegression,
    HuberRegressor,
    LaplaceRegression,
    LinearRegression,
    PolynomialFeatures,
    SGDRegressor,
    StudentTRegression,
    lasso_path,
    log_evidence,
    ridge_bias_variance,
    ridge_path,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_old_faithful():
    """R43."""
    data = load_old_faithful()
    X = np.asarray(data.data, dtype=float)
    eruptions, waiting = X[:, 0], X[:, 1] if X.shape[1] > 1 else np.asarray(data.target, dtype=float)
    assert len(eruptions) == 272
    np.testing.assert_allclose([eruptions.sum(), waiting.sum()], [948.677, 19284], rtol=1e-9)
    model = LinearRegression().fit(eruptions[:, None], waiting)
    np.testing.assert_allclose([model.intercept_, model.coef_[0]], [33.474397023, 10.729641395], rtol=1e-9)
    np.testing.assert_allclose(model.score(eruptions[:, None], waiting), 0.8114607610, rtol=1e-9)


def test_generators_follow_their_formulas():
    X, y = itemgetter("data", "target")(make_table("income", 5000, random_state=0))
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, [5.9, 0.17], rtol=0.05)
    X, y = itemgetter("data", "target")(make_table("omitted variable", 5000, random_state=0))
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, [-1, 2], rtol=0.1)
    X, y, coef = make_sparse_regression(2000, 6, 2, random_state=0)[:3]
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, coef, atol=0.15)
    assert make_polynomial_curve(30, random_state=0)[0].shape == (30, 1)


def test_projection_shows_the_fitted_values():
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    ax = plot.projection(x, y)
    ends = np.array([np.array(line.get_data_3d())[:, -1] for line in ax.lines])
    np.testing.assert_allclose(ends[0], y)
    np.testing.assert_allclose(ends[1], LinearRegression().fit(x, y).predict(x), rtol=1e-9)
    with pytest.raises(ValueError, match="three rows"):
        plot.projection(np.zeros((4, 1)), np.zeros(4))


def test_plane_through_points():
    X, y = itemgetter("data", "target")(make_table("income", 30, random_state=0))
    ax = plot.fit_line(LinearRegression().fit(X, y), X, y)
    assert ax.name == "3d" and len(ax.collections) == 2
    cubic = make_pipeline(PolynomialFeatures(3), LinearRegression())
    plot.fit_line(cubic.fit(X, y), X, y)


def test_balls_touch_the_ridge_solution():
    X, y = itemgetter("data", "target")(make_table("income", 30, random_state=0))
    ax = plot.penalty_contours([2], X=X, y=y, alpha=500.0)
    radius = np.hypot(*ax.lines[0].get_data())
    solution = ax.collections[-1].get_offsets()[0]
    np.testing.assert_allclose(radius, np.hypot(*solution), rtol=1e-9)
    ax = plot.penalty_contours((4, 2, 1, 0.5, 0.1))
    for line, p in zip(ax.lines, (4, 2, 1, 0.5, 0.1), strict=True):
        np.testing.assert_allclose((np.abs(line.get_data()) ** p).sum(axis=0), 1.0, rtol=1e-6)


def test_profiles_of_ridge_and_lasso():
    X, y, _ = make_sparse_regression(60, 5, 2, random_state=0)
    path = ridge_path(X, y, np.geomspace(0.1, 1e4, 30))
    for x in (path.alphas, path.dofs, np.linalg.norm(path.coefs, axis=0)):
        ax = plot.path(x, path.coefs.T)
        np.testing.assert_allclose(sorted(ax.lines[0].get_xdata()), sorted(x))
    alphas, coefs = lasso_path(X, y)[:2]
    assert len(plot.path(alphas, coefs.T).lines) >= 5


def test_errors_and_their_parts_against_the_penalty():
    X, y = make_polynomial_curve(40, random_state=0)
    Z = PolynomialFeatures(8, include_bias=False).fit_transform(X)
    alphas = np.geomspace(1e-6, 1e3, 20)
    path = ridge_path(Z[::2], y[::2], alphas)
    held = ((y[1::2, None] - Z[1::2] @ path.coefs - path.intercepts) ** 2).mean(axis=0)
    ax = plot.path(alphas, np.c_[path.train_errors, held], ["training", "validation"])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), held)
    assert (np.diff(path.train_errors) >= -1e-9).all()
    parts = ridge_bias_variance(Z[:, :3], Z[0, :3], np.ones(3), 1.0, alphas)
    ax = plot.path(alphas, np.c_[parts.noise, parts.bias2, parts.variance, parts.total])
    np.testing.assert_allclose(ax.lines[3].get_ydata(), parts.total)


def test_evidence_against_the_prior_precision():
    X, y = make_polynomial_curve(30, random_state=0)
    lam = np.geomspace(1e-3, 1e3, 25)
    curve = log_evidence(PolynomialFeatures(3).fit_transform(X), y, lam, 0.1)
    np.testing.assert_allclose(plot.path(lam, curve).lines[0].get_ydata(), curve)


def test_fits_of_several_degrees_and_noise_models():
    X, y = make_polynomial_curve(30, random_state=0)
    ax = None
    for degree in (1, 3, 9):
        model = make_pipeline(PolynomialFeatures(degree), LinearRegression()).fit(X, y)
        ax = plot.fit_line(model, X, y, ax, label=f"degree {degree}")
    assert len(ax.lines) == 3
    y = y.copy()
    y[3] += 30
    ax = None
    models = [LinearRegression(), LaplaceRegression(), HuberRegressor(), StudentTRegression(3.0, n_init=2)]
    for model in models:
        ax = plot.fit_line(model.fit(X, y), X, y, ax, label=type(model).__name__)
    assert len(ax.lines) == 4


def test_ways_down_the_loss():
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    tracks, curves = [], None
    for rate in (0.05, 0.3):
        options = {"batch_size": "full", "learning_rate": "constant", "eta0": rate, "penalty": None}
        steps = list(SGDRegressor(max_iter=15, tol=None, **options).iterate(x, y))
        tracks.append([[float(np.ravel(m.intercept_)[0]), float(m.coef_[0])] for m in steps])
        curves = plot.trace(steps[-1], ax=curves, label=f"rate {rate}")
    ax = plot.descent(
        tracks, lambda w: 0.5 * np.mean((y - w[0] - w[1] * x[:, 0]) ** 2), names=["slow", "fast"]
    )
    np.testing.assert_allclose(ax.lines[0].get_xydata(), tracks[0])
    assert len(curves.lines) >= 2
    with pytest.raises(ValueError, match="two parameters"):
        plot.descent([[1.0, 2.0, 3.0]], np.sum)


def test_posterior_pictures():
    X, y = make_polynomial_curve(12, random_state=0)
    model = BayesianLinearRegression(0.1, 0.5).fit(X, y)
    ax = plot.predictive_band(model, X, y)
    assert ax.collections
    ones = np.c_[np.ones(len(X)), X]
    belief = BayesianLinearRegression(0.1, 0.5, fit_intercept=False).prior(2)
    least = LinearRegression().fit(X, y)
    for k in range(3):
        ax = plot.ellipses(belief.coef_[None], belief.covariance_[None])
        belief.partial_fit(ones[k : k + 1], y[k : k + 1])
    ax.scatter(least.intercept_, least.coef_[0])
    learner = ActiveLearner(BayesianLinearRegression(fit_intercept=False).prior(1), X)
    widths = []
    for _ in range(3):
        k = learner.next()
        learner.tell(k, y[k])
        widths.append(learner.model.predict(X, return_std=True)[1].mean())
        plot.predictive_band(learner.model, X)
    assert (np.diff(widths) < 0).all()
