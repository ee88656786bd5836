"""Covariances of a class that cannot be inverted: deviations that are too small are raised, by hand for two columns."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.bayes import QuadraticDiscriminantAnalysis
from gnomon.core.errors import DataError, DegenerateError

SQUARE = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])  # covariance 4/n · I before any turn
LABELS = np.repeat([0, 1], 4)


def rows(C):
    """Four rows of mean 0 and covariance C (by n), and a round class far from them."""
    L = np.linalg.cholesky(C)
    return np.vstack([SQUARE @ L.T, SQUARE + 9])


def fitted(C, **given):
    model = QuadraticDiscriminantAnalysis(**given).fit(rows(C), LABELS)
    return np.array(model.covariance_)


SCALE = fitted(np.eye(2))[0, 0, 0]  # 1 or 4/3


@pytest.mark.parametrize("r", [0.99, -0.99])
@pytest.mark.parametrize("tol", [0.1, 0.5])
def test_small_deviations_are_raised_to_a_share_of_the_largest(r, tol):
    """Correlations have the axes (1, ±1)/√2 with 1 ± r; the smaller is raised to tol² times the larger."""
    s = np.array([2.0, 5.0])
    C = np.array([[s[0] ** 2, r * s[0] * s[1]], [r * s[0] * s[1], s[1] ** 2]])
    with pytest.warns(UserWarning, match="collinear in class number 0"):
        found = fitted(C, tol=tol)
    large = 1 + abs(r)
    small = tol**2 * large
    raised = (large + small) / 2 * np.eye(2) + np.sign(r) * (large - small) / 2 * np.eye(2)[::-1]
    assert_allclose(found[0], SCALE * raised * np.outer(s, s), rtol=1e-9)
    assert_allclose(found[1], SCALE * np.eye(2), atol=1e-12)


def test_deviations_that_are_large_enough_stay():
    """(1 - r) / (1 + r) = 0.05² + a little."""
    ratio = 0.05**2 * 1.001
    r = (1 - ratio) / (1 + ratio)
    C = np.array([[1.0, r], [r, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(fitted(C, tol=0.05)[0], SCALE * C, rtol=1e-9)
    with pytest.warns(UserWarning, match="class number 0"):
        fitted(C, tol=0.0501)


def test_a_column_that_is_constant_in_a_class_has_a_deviation_of_tol():
    X = rows(np.eye(2))
    X[:4, 1] = 3.0
    X[:4, 0] *= 7.0
    with pytest.warns(UserWarning, match="class number 0"):
        model = QuadraticDiscriminantAnalysis(tol=0.01).fit(X, LABELS)
    assert_allclose(model.covariance_[0], SCALE * 49 * np.diag([1.0, 1e-4]), rtol=1e-9, atol=1e-12)
    assert_allclose(model.covariance_[1], SCALE * np.eye(2), atol=1e-12)


def test_alike_rows_and_single_rows_are_refused():
    X = rows(np.eye(2))
    X[4:] = 9.0
    with pytest.raises(DegenerateError, match="rows of class number 1 are all alike"):
        QuadraticDiscriminantAnalysis().fit(X, LABELS)
    with pytest.raises(DegenerateError, match="only 1 sample in class 5"):
        QuadraticDiscriminantAnalysis().fit(rows(np.eye(2)), [3] * 7 + [5])
    with pytest.raises(DataError, match="got 1 class"):
        QuadraticDiscriminantAnalysis().fit(X, np.zeros(8, int))
    model = QuadraticDiscriminantAnalysis(reg_param=0.5).fit(X, LABELS)
    assert_allclose(model.covariance_, [0.5 * (SCALE + 1) * np.eye(2), 0.5 * np.eye(2)], atol=1e-12)


@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_shrinkage_is_a_multiple_of_the_mean_variance(weight):
    C = np.array([[4.0, 1.0], [1.0, 2.0]])
    expected = (1 - weight) * C + weight * 3.0 * np.eye(2)
    assert_allclose(fitted(C, shrinkage=weight)[0], SCALE * expected, rtol=1e-9)
    both = fitted(C, shrinkage=weight, reg_param=0.5)[0]
    assert_allclose(both, 0.5 * SCALE * expected + 0.5 * np.eye(2), rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_the_same_answer_with_holes_that_tell_nothing(kind):
    """A row of nothing but holes in each class changes no covariance."""
    X = rows(np.array([[4.0, 1.0], [1.0, 2.0]]))
    more = np.vstack([X, np.full((2, 2), np.nan)])
    model = QuadraticDiscriminantAnalysis(covariance_type=kind)
    whole = model.fit(X, LABELS).covariance_
    assert_allclose(model.fit(more, [*LABELS, 0, 1]).covariance_, whole, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_independent_columns_are_estimated_from_what_is_seen(kind):
    """Columns of a class that do not depend on each other: means and variances of the entries that are there."""
    X = np.array([[0.0, 1], [2, np.nan], [4, 5], [9, 9], [8, 10], [np.nan, 11]])
    y = np.repeat([0, 1], 3)
    model = QuadraticDiscriminantAnalysis(covariance_type=kind).fit(X, y)
    assert_allclose(model.means_, [[2, 3], [8.5, 10]])
    squares = np.array([[8.0, 8], [0.5, 2]])
    counts = np.array([[3.0, 2], [2, 3]])
    pooled = np.repeat(squares.sum(1, keepdims=True) / counts.sum(1, keepdims=True), 2, axis=1)
    expected = squares / counts if kind == "diag" else pooled
    assert_allclose(np.diagonal(model.covariance_, axis1=1, axis2=2), expected)
    assert_allclose(model.predict(X), y)
