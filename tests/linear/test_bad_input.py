"""Data that break naive solvers: the right answer, or an error that names the cure."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from gnomon.linear import (
    BayesianLogisticRegression,
    BayesianRidge,
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    PassiveAggressiveClassifier,
    Pegasos,
    Perceptron,
    PerfectSeparationWarning,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
    StudentTRegression,
    enet_path,
)

EXACT = [  # one optimum, found to the end
    LogisticRegression(tol=1e-10),
    LogisticRegression(l1_ratio=1.0, tol=1e-10),
    LinearSVC(tol=1e-10),
    LinearSVC(loss="hinge", tol=1e-8),
    RidgeClassifier(),
]
STEPWISE = [SGDClassifier(random_state=0), Perceptron(), PassiveAggressiveClassifier(), Pegasos()]
CLASSIFIERS = [*EXACT, BayesianLogisticRegression(), *STEPWISE]
REGRESSORS = [
    LinearRegression(),
    Ridge(),
    Lasso(0.01, tol=1e-12),
    ElasticNet(0.01, tol=1e-12),
    BayesianRidge(),
    HuberRegressor(),
    QuantileRegressor(alpha=0.01),
    LinearSVR(),
    StudentTRegression(),
    PoissonRegressor(),
    SGDRegressor(random_state=0),
]
named = pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: repr(m)[:40])
FREE = [LogisticRegression(tol=1e-10), RidgeClassifier(), Ridge(), Lasso(0.01, tol=1e-12), LinearRegression()]


def rows(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)
    return X, y


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@named
def test_nan_and_infinity_are_refused(model):
    X, y = rows()
    for bad in (np.nan, np.inf):
        Z = X.copy()
        Z[3, 1] = bad
        with pytest.raises(ValueError, match="NaN|infinity|inf"):
            clone(model).fit(Z, y)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: repr(m)[:40])
def test_one_class_is_named(model):
    X, _ = rows()
    with pytest.raises(ValueError, match="class"):
        clone(model).fit(X, np.full(60, 7))


@named
def test_constant_and_collinear_columns(model):
    X, y = rows()
    Z = np.column_stack([X, X[:, 0] + X[:, 1], np.full(60, 3.0), np.zeros(60)])
    fitted = quietly(model, Z, y)
    assert np.isfinite(fitted.coef_).all() and np.isfinite(scores(fitted, Z)).all()


@pytest.mark.parametrize("model", FREE, ids=lambda m: repr(m)[:40])
def test_a_constant_column_changes_nothing_beside_a_free_intercept(model):
    X, y = rows()
    Z = np.column_stack([X, np.full(60, 3.0)])
    np.testing.assert_allclose(
        scores(quietly(model, Z, y), Z), scores(quietly(model, X, y), X), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("model", EXACT[:3], ids=lambda m: repr(m)[:40])
def test_a_column_twice_is_one_column_of_a_longer_reach(model):
    """Two copies share a weight: under a ridge penalty they act as one column √2 times as large."""
    X, y = rows()
    twice = quietly(model, np.column_stack([X, X[:, 0]]), y)
    stretch = 1.0 if getattr(model, "l1_ratio", 0.0) else np.sqrt(2.0)
    once = quietly(model, np.column_stack([stretch * X[:, 0], X[:, 1:]]), y)
    np.testing.assert_allclose(
        scores(twice, np.column_stack([X, X[:, 0]])),
        scores(once, np.column_stack([stretch * X[:, 0], X[:, 1:]])),
        atol=1e-5,
    )


@named
def test_fewer_rows_than_columns(model):
    X, y = rows(n=12, d=40, seed=2)
    fitted = quietly(model, X, y)
    assert np.isfinite(fitted.coef_).all() and np.isfinite(scores(fitted, X)).all()
    if isinstance(model, LinearRegression):
        np.testing.assert_allclose(fitted.predict(X), y, atol=1e-8)


@named
@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e8, 1e100])
def test_huge_and_tiny_columns(model, size):
    """Either a finite answer, or an error that says to scale the data."""
    X, y = rows()
    try:
        fitted = quietly(model, X * np.array([size, 1.0, 1.0, size]), y)
    except (ValueError, FloatingPointError) as error:
        assert any(word in str(error) for word in ("scale", "divide", "lower")), error
        return
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(scores(fitted, X * np.array([size, 1.0, 1.0, size]))).all()


@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e8, 1e100])
def test_units_change_nothing_without_a_penalty(size):
    X, y = rows()
    scale = np.array([size, 1.0, 1.0, size])
    for model in (LinearRegression(), LogisticRegression(C=np.inf, tol=1e-10)):
        try:
            there = scores(quietly(model, X * scale, y), X * scale)
        except (ValueError, FloatingPointError) as error:
            assert "scale" in str(error) or "divide" in str(error)
            continue
        np.testing.assert_allclose(there, scores(quietly(model, X, y), X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(60, 4), (12, 40)])
@pytest.mark.parametrize("model", [*EXACT[:4], *REGRESSORS[1:4]], ids=lambda m: repr(m)[:40])
def test_sparse_rows_are_no_different(model, shape):
    X, y = rows(*shape, seed=2)
    n, d = shape
    X *= np.random.default_rng(0).random(shape) < 0.5
    Z = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1], np.full(n, 3.0), np.zeros(n), 1e4 * X[:, 1]])
    np.testing.assert_allclose(
        scores(quietly(model, sparse.csr_array(Z), y), Z), scores(quietly(model, Z, y), Z), atol=2e-4
    )
    Z[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(model).fit(sparse.csr_array(Z), y)


def test_separable_classes_without_a_penalty_are_told():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(PerfectSeparationWarning, match="finite C"):
        model = LogisticRegression(C=np.inf).fit(X, [0, 0, 1, 1])
    assert model.separable_ and not model.converged_
    with pytest.raises(ValueError, match="prior|separable|precision"):
        BayesianLogisticRegression(0.0).fit(X, [0, 0, 1, 1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(40, 8), (12, 30)]), st.floats(0.02, 0.8))
def test_the_lasso_from_any_start_and_zero_from_the_top_on(seed, shape, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    y = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=shape[0])
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert not np.any(Lasso(1.000001 * top).fit(X, y).coef_)
    assert np.any(Lasso(0.99 * top, tol=1e-12).fit(X, y).coef_)
    cold = enet_path(X, y, l1_ratio=1.0, alphas=[share * top], tol=1e-12)[1][:, 0]
    warm = enet_path(
        X, y, l1_ratio=1.0, alphas=[share * top], tol=1e-12, coef_init=rng.normal(size=shape[1])
    )[1][:, 0]

    def objective(w):
        return np.sum((y - X @ w) ** 2) / (2 * len(y)) + share * top * np.abs(w).sum()

    assert objective(warm) == pytest.approx(objective(cold), rel=1e-9)
    assert np.count_nonzero(cold) <= min(shape)


def test_dates_are_no_targets_and_no_entries():
    from gnomon.linear import Ridge

    X, day = np.arange(8.0).reshape(4, 2), np.datetime64("2020-01-01") + np.arange(4)
    for y in (day, day - day[0]):
        with pytest.raises(ValueError, match="y holds dates"):
            Ridge().fit(X, y)
    missing = X.astype(object)
    missing[1, 0] = np.datetime64("NaT")
    with pytest.raises(ValueError, match="X holds dates"):
        Ridge().fit(missing, [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("cls", [SGDClassifier, Perceptron, PassiveAggressiveClassifier])
def test_classes_named_again_are_the_same(cls):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    model = cls().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    before = model.coef_.copy()
    model.partial_fit(-X, y, classes=[1, 0])
    assert not np.array_equal(model.coef_, before)
