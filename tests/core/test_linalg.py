"""Factorizations of tall matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import SMALL, cholesky, inverse_factor, symmetric_eigen, thin_qr


@pytest.mark.parametrize("condition", [1.0, 1e5, 1e9, 1e15])
def test_thin_qr(condition):
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.normal(size=(200, 12)))[0], np.linalg.qr(rng.normal(size=(12, 12)))[0]
    A = U * np.logspace(0, -np.log10(condition), 12) @ V
    Q, R = thin_qr(A)
    assert_allclose(Q.T @ Q, np.eye(12), atol=4e-15)
    assert_allclose(Q @ R, A, atol=1e-15)
    assert (np.tril(R, -1) == 0).all() and (np.diagonal(R) >= 0).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e160])
def test_thin_qr_of_columns_of_any_length(scale):
    A = np.random.default_rng(1).normal(size=(50, 4)) * [1.0, scale, 1.0, 1.0]
    Q, R = thin_qr(A)
    assert_allclose(Q.T @ Q, np.eye(4), atol=4e-15)
    assert_allclose(Q @ R, A, rtol=1e-12)


def test_thin_qr_of_columns_that_repeat_or_are_zero():
    A = np.ones((5, 3)) * [1.0, 2.0, 0.0]
    Q, R = thin_qr(A)
    assert_allclose(Q.T @ Q, np.eye(3), atol=4e-15)
    assert_allclose(Q @ R, A, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5, SMALL, SMALL + 1])
def test_small_and_large_matrices_are_factored_alike(n):
    B = np.random.default_rng(n).normal(size=(2 * n + 2, n))
    A = B.T @ B
    L, added = cholesky(A)
    assert added == 0.0 and (np.triu(L, 1) == 0).all()
    assert_allclose(L @ L.T, A, atol=1e-13 * np.trace(A))
    assert_allclose(inverse_factor(L) @ L, np.eye(n), atol=1e-9)
    values, vectors = symmetric_eigen(A)
    assert_allclose(values, linalg.eigh(A)[0][::-1], rtol=1e-10)
    assert_allclose(vectors * values @ vectors.T, A, atol=1e-12 * np.trace(A))


@pytest.mark.parametrize("n", [3, SMALL + 1])
def test_what_has_no_factor_is_refused_whatever_its_size(n):
    with pytest.raises(DegenerateError, match="not positive definite"):
        cholesky(np.diag(np.append(np.ones(n - 1), -1.0)), what="it")
    holed = np.eye(n)
    holed[0, -1] = np.nan
    for half in (holed, holed.T):
        with pytest.raises(DegenerateError, match="not finite"):
            cholesky(np.ascontiguousarray(half), what="it")
        with pytest.raises(ValueError, match="infs or NaNs"):
            symmetric_eigen(half)
    with pytest.raises(linalg.LinAlgError):
        inverse_factor(np.zeros((n, n)))
    assert cholesky(np.ones((n, n)), jitter=1e-8)[1] > 0.0
