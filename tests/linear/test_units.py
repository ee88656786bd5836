"""Units do not matter: targets and columns in other units give the same fit."""

import numpy as np
import pytest

from gnomon.linear import BayesianRidge, LinearRegression, Perceptron


@pytest.mark.parametrize("times_x, times_y", [(1.0, 1e8), (1e-8, 1.0), (1e8, 1e-8), (1e-6, 1e6)])
def test_evidence_does_not_depend_on_units(times_x, times_y):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.0] + 0.3 * rng.normal(size=40)
    options = dict(alpha_1=0.0, alpha_2=0.0, lambda_1=0.0, lambda_2=0.0, tol=1e-10, max_iter=1000)
    one = BayesianRidge(**options).fit(X, y)
    other = BayesianRidge(**options).fit(X * times_x, y * times_y)
    np.testing.assert_allclose(other.coef_ * times_x / times_y, one.coef_, rtol=1e-6)


def test_lsqr_sees_small_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 1.0, 1.0] + 0.1 * rng.normal(size=60)
    size = np.array([1e-8, 1.0, 1e8])
    even, uneven = (LinearRegression(solver="lsqr").fit(X * s, y) for s in (np.ones(3), size))
    np.testing.assert_allclose(uneven.coef_ * size, even.coef_, rtol=1e-6)


@pytest.mark.parametrize("method", ["error", "margins", "mistakes"])
def test_labels_of_another_length_are_refused(method):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Perceptron().fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        getattr(model, method)(X, [1])
