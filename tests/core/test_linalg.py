"""Factorizations of tall matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.core.linalg import thin_qr


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
