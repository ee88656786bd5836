"""Conditioning of joint Gaussians: by hand, in steps, at the edges."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions import condition_gaussian

THREE = np.array([0.0, 1.0, 2.0]), np.array([[4.0, 2.0, 0.6], [2.0, 3.0, 0.5], [0.6, 0.5, 1.0]])


def test_by_hand():
    mean, cov = condition_gaussian([1.0, -1.0], [[2.0, 0.8], [0.8, 1.0]], [0], [2.0])
    assert mean[0] == pytest.approx(-0.6) and cov[0, 0] == pytest.approx(0.68)
    mean, cov = condition_gaussian(*THREE, [1], [2.0])
    np.testing.assert_allclose(mean, [2 / 3, 13 / 6])
    np.testing.assert_allclose(cov, [[8 / 3, 4 / 15], [4 / 15, 11 / 12]])
    mean, cov = condition_gaussian(*THREE, [1, 2], [2.0, 1.0])
    assert mean[0] == pytest.approx(0.3272727, abs=1e-7) and cov[0, 0] == pytest.approx(2.5890909, abs=1e-7)


def test_two_steps_are_one_and_none_is_nothing():
    once = condition_gaussian(*THREE, [1, 2], [2.0, 1.0])
    first = condition_gaussian(*THREE, [1], [2.0])
    for a, b in zip(once, condition_gaussian(*first, [1], [1.0])):
        np.testing.assert_allclose(a, b)
    for a, b in zip(THREE, condition_gaussian(*THREE, [], [])):
        np.testing.assert_array_equal(a, b)
    mean, cov = condition_gaussian(*THREE, [0, 1, 2], [0.0, 0.0, 0.0])
    assert mean.shape == (0,) and cov.shape == (0, 0)


def test_missing_entries_and_masks():
    expected = condition_gaussian(*THREE, [1], [2.0])
    for a, b in zip(expected, condition_gaussian(*THREE, values=[np.nan, 2.0, np.nan])):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(expected, condition_gaussian(*THREE, [False, True, False], [2.0])):
        np.testing.assert_array_equal(a, b)


def test_exact_relations():
    cov = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])  # the first two are one
    mean, rest = condition_gaussian(np.zeros(3), cov, [0, 1], [2.0, 2.0])
    assert mean[0] == pytest.approx(1.0) and rest[0, 0] == pytest.approx(0.75)
    with pytest.raises(DegenerateError, match="no mass"):
        condition_gaussian(np.zeros(3), cov, [0, 1], [2.0, 3.0])
    with pytest.raises(DegenerateError, match="eigenvalue"):
        condition_gaussian(np.zeros(2), [[-1.0, 0.0], [0.0, 1.0]], [0], [1.0])
    with pytest.raises(DataError, match="observed"):
        condition_gaussian(np.zeros(2), np.eye(2), [5], [1.0])
    with pytest.raises(DataError, match="shape"):
        condition_gaussian(np.zeros(2), np.eye(3), [0], [1.0])
