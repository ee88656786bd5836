"""Gradients checked by differences: errors are told relative to the slopes, however small, and kinks are found."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.solvers import check_gradient


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("error", [0.0, 0.1, 1.0])
def test_errors_are_relative_to_the_largest_slope(size, error):
    center = np.array([1.0, -2.0, 0.5])

    def wrong(x):
        gradient = size * (x - center)
        gradient[0] += error * size * 2.0  # the largest slope at zero is 2 size
        return 0.5 * size * ((x - center) ** 2).sum(), gradient

    largest = max(2.0, abs(-1.0 + 2.0 * error))
    assert check_gradient(wrong, np.zeros(3)) == pytest.approx(2.0 * error / largest, abs=1e-6)


def test_a_kink_is_infinitely_wrong_and_a_flat_place_right():
    assert check_gradient(lambda x: (np.abs(x).sum(), np.sign(x)), np.array([1.0, 0.0])) == np.inf
    assert check_gradient(lambda x: (np.abs(x).sum(), np.sign(x)), np.array([1.0, 0.5])) < 1e-6
    assert check_gradient(lambda x: (3.0, np.zeros(2)), np.array([1.0, 0.5])) == 0.0


def test_shapes_that_do_not_agree_are_refused():
    with pytest.raises(DataError, match="a number first"):
        check_gradient(lambda x: (x, x), np.zeros(2))
    with pytest.raises(DataError, match=r"shape \(1,\), and the point \(2,\)"):
        check_gradient(lambda x: (x.sum(), x[:1]), np.zeros(2))
