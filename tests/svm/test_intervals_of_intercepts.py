"""The interval of intercepts that are as good as the one given, wherever the targets lie."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.svm import SVR


@pytest.mark.parametrize("offset", [0.0, 100.0, -3e4])
def test_the_interval_moves_with_the_targets(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    plain, moved = SVR(tol=1e-10).fit(X, y), SVR(tol=1e-10).fit(X, y + offset)
    low, high = moved.intercept_interval_
    assert low - 1e-6 <= moved.intercept_[0] <= high + 1e-6
    assert_allclose(moved.intercept_interval_, np.add(plain.intercept_interval_, offset), atol=1e-5)
