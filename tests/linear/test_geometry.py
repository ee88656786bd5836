"""Projections, singular directions, shortest solutions and the moments of estimators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import add_dummy_feature

from gnomon.linear import (
    LinearRegression,
    Ridge,
    alpha_for_dof,
    convert_penalty,
    hat_matrix,
    least_norm,
    ridge_bias_variance,
    ridge_moments,
    svd_view,
)

A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
YA = np.array([1.0, 2.0, 3.0, 5.0])


def seeded(seed, n=12, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 1.0, rng.normal(size=n)


def test_hat_by_hand():
    """R2."""
    x = np.array([[0.0], [1.0], [2.0]])
    expected = np.array([[5, 2, -1], [2, 2, 2], [-1, 2, 5]]) / 6
    np.testing.assert_allclose(hat_matrix(x), expected, rtol=1e-9)
    ones = add_dummy_feature(x)  # scikit-learn's own intercept column
    np.testing.assert_array_equal(ones, [[1, 0], [1, 1], [1, 2]])
    np.testing.assert_allclose(hat_matrix(ones, fit_intercept=False), expected, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.inv(ones.T @ ones), [[5 / 6, -1 / 2], [-1 / 2, 1 / 2]], rtol=1e-9)


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_hat_projects(seed, intercept, collinear):
    X, y = seeded(seed)
    if collinear:
        X[:, 2] = X[:, 0] - X[:, 1]
    H = hat_matrix(X, fit_intercept=intercept)
    rank = np.linalg.matrix_rank(np.c_[X, np.ones(len(X))] if intercept else X)
    np.testing.assert_allclose(H, H.T, atol=1e-12)
    np.testing.assert_allclose(H @ H, H, atol=1e-10)
    np.testing.assert_allclose(np.trace(H), rank, atol=1e-9)
    np.testing.assert_allclose(X.T @ (y - H @ y), 0.0, atol=1e-9)
    if not collinear:
        np.testing.assert_allclose(
            H @ y, LinearRegression(fit_intercept=intercept).fit(X, y).predict(X), atol=1e-9
        )


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_trace_of_the_ridge_hat_adds_the_intercept(seed, alpha):
    X, y = seeded(seed)
    model = Ridge(alpha).fit(X, y)
    H = hat_matrix(X, alpha=alpha)
    np.testing.assert_allclose(H @ y, model.predict(X), atol=1e-9)
    np.testing.assert_allclose(np.trace(H), model.dof_ + 1, rtol=1e-9)
    np.testing.assert_allclose(alpha_for_dof(X, model.dof_), alpha, rtol=1e-8)


def test_singular_view_by_hand():
    """R10."""
    view = svd_view(A, YA, alphas=[0.0, 1.0, 10.0])
    np.testing.assert_allclose(view.singular_values**2, [58, 2], rtol=1e-9)
    expected = np.array([[38 / 29, -11 / 58], [62 / 59, 3 / 59], [41 / 68, 24 / 68]]).T
    np.testing.assert_allclose(view.coefficients, expected, rtol=1e-9)
    np.testing.assert_allclose(view.shrinkage.sum(axis=0)[1:], [58 / 59 + 2 / 3, 58 / 68 + 2 / 12], rtol=1e-9)
    np.testing.assert_allclose((view.U * view.singular_values) @ view.V.T, A, atol=1e-12)


@pytest.mark.parametrize("dof", [0.0, 2.5, -1.0])
def test_impossible_degrees_of_freedom(dof):
    with pytest.raises(ValueError, match="rank of X"):
        alpha_for_dof(A, dof)


def test_least_norm_by_hand():
    """R5, R6."""
    found = least_norm([[1.0, 2.0, 3.0]], [14.0])
    np.testing.assert_allclose(found.coef, [1, 2, 3], rtol=1e-9)
    np.testing.assert_allclose(found.multipliers, [-2.0], rtol=1e-9)
    X = np.array([[8.0, 0, 3, 0], [6, -1, 5, 3], [2, 5, -2, 8]])
    found = least_norm(X, [1.0, 2.0, 3.0])
    assert found.rank == 3 and found.null_space.shape == (4, 1)
    np.testing.assert_allclose(found.coef, [0.084574696, 0.065694544, 0.107800810, 0.339747439], atol=5e-10)
    np.testing.assert_allclose(found.multipliers, [0.067038361, -0.102015726, -0.046680963], atol=5e-10)
    np.testing.assert_allclose(np.linalg.norm(found.coef), 0.372180049, atol=5e-10)
    np.testing.assert_allclose(X @ found.coef, [1, 2, 3], rtol=1e-9)


@given(st.integers(0, 10_000))
def test_every_other_solution_is_longer(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(3, 6)), rng.normal(size=3)
    found = least_norm(X, y)
    np.testing.assert_allclose(found.coef, -X.T @ found.multipliers / 2, atol=1e-9)
    np.testing.assert_allclose(X @ found.null_space, 0.0, atol=1e-9)
    other = found.coef + found.null_space @ rng.normal(size=3)
    np.testing.assert_allclose(X @ other, y, atol=1e-8)
    assert np.linalg.norm(other) >= np.linalg.norm(found.coef)
    np.testing.assert_allclose(
        LinearRegression(fit_intercept=False).fit(X, y).coef_, found.coef, rtol=1e-7, atol=1e-9
    )


def test_inconsistent_systems_are_refused():
    X, y = [[1.0, 1.0], [1.0, 1.0]], [0.0, 1.0]
    with pytest.raises(ValueError, match="0.707107"):
        least_norm(X, y)
    np.testing.assert_allclose(least_norm(X, y, allow_inconsistent=True).coef, [0.25, 0.25])


def test_ridge_moments_by_hand():
    """R16, R17."""
    found = ridge_moments(A, [1.0, 0.5], 0.25, alpha=1.0)
    np.testing.assert_allclose(found.mean, [0.9039548023, 0.5706214689], rtol=1e-9)
    np.testing.assert_allclose(
        found.covariance, [[0.0298605126, -0.0256950429], [-0.0256950429, 0.0298605126]], rtol=1e-8
    )
    parts = ridge_bias_variance(A, [1.0, -1.0], [1.0, 0.5], 0.25, [0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(parts.bias2, [0, 0.01, 1 / 36, 1 / 16], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(parts.variance, [0.25, 0.16, 1 / 9, 1 / 16], rtol=1e-9)
    np.testing.assert_allclose(parts.total, [0.5, 0.42, 0.3888888889, 0.375], rtol=1e-9)


@given(st.integers(0, 10_000), st.floats(0.01, 50.0))
def test_ridge_has_less_variance_and_some_penalty_wins(seed, alpha):
    X, _ = seeded(seed)
    w = np.random.default_rng(seed).normal(size=3)
    least, ridge = ridge_moments(X, w, 1.0), ridge_moments(X, w, 1.0, alpha)
    np.testing.assert_allclose(least.mean, w, atol=1e-9)
    np.testing.assert_allclose(least.covariance, np.linalg.inv(X.T @ X), rtol=1e-7, atol=1e-10)
    assert np.linalg.eigvalsh(least.covariance - ridge.covariance).min() >= -1e-12
    small = 0.9 * 2.0 / (w @ w)  # below 2σ²/‖w‖² the total error of the coefficients is smaller
    better = ridge_moments(X, w, 1.0, small)
    error = np.trace(better.covariance) + better.bias @ better.bias
    assert error < np.trace(least.covariance)


def test_bias_and_variance_equal_a_simulation():
    rng = np.random.default_rng(0)
    X, w, x0, draws = rng.normal(size=(15, 3)), np.array([1.0, -1.0, 0.5]), np.ones(3), 20_000
    Y = X @ w + rng.normal(size=(draws, 15))
    coef = np.linalg.solve(X.T @ X + 2.0 * np.eye(3), X.T @ Y.T)
    squared = (x0 @ w + rng.normal(size=draws) - x0 @ coef) ** 2
    total = ridge_bias_variance(X, x0, w, 1.0, [2.0]).total[0]
    assert abs(squared.mean() - total) < 4 * squared.std() / np.sqrt(draws)


def test_penalty_scales():
    X, y = seeded(1, n=20)
    n, lam = 20, 0.3
    Z, t = X - X.mean(axis=0), y - y.mean()
    mean_half = np.linalg.solve(Z.T @ Z / n + lam * np.eye(3), Z.T @ t / n)
    np.testing.assert_allclose(Ridge(convert_penalty(lam, "mean_half", "sum", n)).fit(X, y).coef_, mean_half)
    posterior = np.linalg.solve(Z.T @ Z / 0.4 + lam * np.eye(3), Z.T @ t / 0.4)
    np.testing.assert_allclose(
        Ridge(convert_penalty(lam, "map", "half_sum", n, 0.4)).fit(X, y).coef_, posterior
    )
    for a in ("sum", "half_sum", "mean_half", "map"):
        for b in ("sum", "half_sum", "mean_half", "map"):
            there = convert_penalty(lam, a, b, n, 0.4)
            np.testing.assert_allclose(convert_penalty(there, b, a, n, 0.4), lam)
    with pytest.raises(ValueError, match="Did you mean 'half_sum'"):
        convert_penalty(1.0, "halfsum", "sum", 3)
    with pytest.raises(ValueError, match="positive sigma2"):
        convert_penalty(1.0, "map", "sum", 3)


@pytest.mark.parametrize("dof", [0.1, 1.0, 2.5, 3.0])
def test_the_penalty_of_given_degrees_of_freedom(dof):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * [5.0, 1.0, 0.1]
    values = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))
    alpha = alpha_for_dof(X, dof)
    assert (values / (values + alpha)).sum() == pytest.approx(dof) and (alpha == 0.0) == (dof == 3.0)
    raw = np.linalg.eigvalsh(X.T @ X)
    assert (raw / (raw + alpha_for_dof(X, dof, fit_intercept=False))).sum() == pytest.approx(dof)
