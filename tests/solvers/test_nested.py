"""Nested samples for the softmax: the same optimum as Newton's method, from any start and on awkward data."""

import numpy as np
import pytest

from gnomon import threads
from gnomon.core.rows import MemoryRows
from gnomon.linear import LogisticRegression
from gnomon.linear.likelihood._solvers import NestedLBFGS, NewtonCG
from gnomon.losses.scores import SoftmaxCrossEntropy
from gnomon.solvers import nested, newton
from gnomon.solvers.terms import Model


def data(kind="plain", n=33_000, d=6, k=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    tilt = np.linspace(0, 5, k) if kind == "rare" else 0.0
    y = (2 * X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k)) - tilt).argmax(axis=1)
    if kind == "uneven":
        X = X * np.geomspace(1e-3, 1e3, d)
    if kind == "sorted":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    if kind == "missing":
        y[::4][y[::4] == 2] = 1  # no stage sees class 2
    weight = rng.integers(0, 3, size=n).astype(float) if kind == "weighted" else None
    return X, y, weight


@pytest.mark.parametrize("kind", ["plain", "rare", "uneven", "sorted", "missing", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
def test_ends_at_the_optimum_of_newton(kind, intercept):
    X, y, weight = data(kind)
    model = LogisticRegression(fit_intercept=intercept)
    assert isinstance(model._solver(model._read(X, y, weight)), NestedLBFGS)
    model.fit(X, y, weight)
    truth = LogisticRegression(fit_intercept=intercept, solver="newton-cg", tol=1e-9).fit(X, y, weight)
    assert model.converged_ and model.gradient_norm_ <= 1e-4
    assert model.objective_ <= truth.objective_ * (1 + 1e-6)
    assert model.objective_ >= truth.objective_ * (1 - 1e-9)


def test_a_small_tolerance_is_met():
    X, y, _ = data()
    model = LogisticRegression(tol=1e-9).fit(X, y)
    truth = LogisticRegression(tol=1e-9, solver="newton-cg").fit(X, y)
    np.testing.assert_allclose(model.coef_, truth.coef_, atol=1e-6)


def test_maximum_likelihood_of_collinear_columns():
    X, y, _ = data()
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    model = LogisticRegression(C=np.inf).fit(X, y)
    truth = LogisticRegression(C=np.inf, solver="newton-cg", tol=1e-8).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.objective_, truth.objective_, rtol=1e-6)


def test_a_warm_start_that_favors_no_class_but_is_not_centered():
    X, y, _ = data()
    model = LogisticRegression(tol=1e-6, warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    model.coef_ = coef + 5.0
    model.fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)


def test_blocks_are_those_of_the_hessian():
    X, y, _ = data(n=50, d=3)
    rows = MemoryRows(X, y, np.arange(50) % 3 + 1.0, classes=np.arange(4))
    objective = newton.Objective(Model(SoftmaxCrossEntropy(), True, None, 4), np.full(4, 0.7), 50.0)
    theta = np.random.default_rng(1).normal(size=(4, 4))
    for place in (theta, np.zeros((4, 4))):
        blocks = np.linalg.inv(nested.inverse_blocks(rows, objective, place))
        for k in range(4):
            for j in range(4):
                h = np.zeros((4, 4))
                h[j, k] = 1e-5
                slopes = [newton.evaluate(rows, objective, place + side * h).gradient for side in (1, -1)]
                np.testing.assert_allclose(
                    blocks[k, :, j], (slopes[0] - slopes[1])[:, k] / 2e-5, rtol=1e-5, atol=1e-6
                )


def test_one_thread_equals_many():
    X, y, _ = data()
    with threads(1):
        one = LogisticRegression().fit(X, y)
    with threads(3):
        many = LogisticRegression().fit(X, y)
    assert np.array_equal(one.coef_, many.coef_)


def test_few_rows_and_wide_rows_go_elsewhere():
    X, y, _ = data(n=500)
    for rows in (X, np.hstack([X] * 100)):
        model = LogisticRegression()
        assert isinstance(model._solver(model._read(rows, y)), NewtonCG)
