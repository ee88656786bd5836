"""Small facts of kernels: powers of every exponent, default widths, functions of rows with a wrong shape."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.kernels import RBF, ConstantKernel, Linear, Polynomial, gram

X = np.array([[1.0, 0.5], [2.0, 1.0], [0.25, 3.0]])


@pytest.mark.parametrize("exponent", [-2, -1, 0, 0.5, 1, 2, 2.5, 8, 9])
def test_a_power_of_a_kernel_is_that_of_its_numbers(exponent):
    K = X @ X.T
    indefinite = exponent < 0 or exponent != int(exponent)
    found = gram(Polynomial(exponent, gamma=1.0, coef0=0.0, allow_indefinite=indefinite), X)
    np.testing.assert_allclose(found, K**exponent, rtol=1e-12)
    if not indefinite:
        np.testing.assert_allclose((Linear() ** exponent)(X), K**exponent, rtol=1e-12)
        np.testing.assert_allclose((Linear() ** exponent).diag(X), np.diag(K) ** exponent, rtol=1e-12)
    else:
        with pytest.raises(DataError, match="allow_indefinite"):
            (Linear() ** exponent)(X)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_default_width_is_one_over_the_columns(columns):
    A = X[:, :columns]
    squares = ((A[:, None] - A) ** 2).sum(axis=2)
    np.testing.assert_allclose(gram("rbf", A), np.exp(-squares / columns), rtol=1e-12)
    np.testing.assert_allclose(gram("rbf", A, gamma=0.3), np.exp(-0.3 * squares), rtol=1e-12)
    np.testing.assert_allclose(gram("poly", A), (A @ A.T / columns + 1) ** 3, rtol=1e-12)
    np.testing.assert_allclose(gram("rbf", A.tolist(), X[:1, :columns]), np.exp(-squares[:, :1] / columns))


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_features_of_a_degree_are_terms_of_the_series(degree):
    """exp(-|x - z|²/2) = exp(-|x|²/2) exp(-|z|²/2) Σ (x·z)^j / j!"""
    Z = RBF(1.0).feature_map(X, max_degree=degree)
    inner, bell = X @ X.T, np.exp(-0.5 * (X**2).sum(axis=1))
    series = sum(inner**j / np.prod(np.arange(1, j + 1)) for j in range(degree + 1))
    np.testing.assert_allclose(Z @ Z.T, bell[:, None] * series * bell, rtol=1e-10)
    assert Z.shape[1] == RBF(1.0).feature_dim(2, degree)
    with pytest.raises(DataError, match="must not be negative; got -1"):
        RBF(1.0).feature_map(X, max_degree=-1)


def test_a_factor_is_one_number_a_row():
    k = Linear().scaled(lambda A: A[:, 0])
    np.testing.assert_allclose(k(X), np.outer(X[:, 0], X[:, 0]) * (X @ X.T))
    np.testing.assert_allclose(k(X, X[:1]), np.outer(X[:, 0], X[:1, 0]) * (X @ X[:1].T))
    np.testing.assert_allclose(k.diag(X), X[:, 0] ** 2 * (X**2).sum(axis=1))
    for f in (lambda A: A, lambda A: A[:1, 0], lambda A: 1.0):
        with pytest.raises(DataError, match="one number a row, 3 in all"):
            Linear().scaled(f)(X)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "parts",
    [
        (ConstantKernel(2.0), RBF(0.7)),
        (ConstantKernel(2.0), ConstantKernel(3.0)),
        (RBF(0.7), RBF([1.5, 0.4])),
        (RBF(0.7) + ConstantKernel(0.5), ConstantKernel(3.0)),
    ],
)
def test_slopes_of_products_are_differences(parts, order):
    first, second = parts[::order]
    k = first * second
    K, slopes = k(X, eval_gradient=True)
    np.testing.assert_allclose(K, first(X) * second(X))
    theta = k.theta
    for i, step in enumerate(1e-6 * np.eye(len(theta))):
        up, down = (k.clone_with_theta(theta + sign * step)(X) for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, :, i], (up - down) / 2e-6, atol=1e-8)
