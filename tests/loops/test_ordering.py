"""Sorting in place, against NumPy's, and what a loop says to an array of another shape."""

import numpy as np
import pytest

from gnomon.loops._compile import compiled
from gnomon.loops.ordering import put_in_order, put_in_order_by


@compiled
def sort_middle(values, low, high):
    put_in_order(values, low, high)


@compiled
def sort_pairs(keys, values):
    put_in_order_by(keys, values)


@compiled
def fill(out, values):
    out[:] = values


@pytest.mark.parametrize("n", [0, 1, 2, 3, 14, 15, 200])
def test_order_within_bounds(n):
    values = np.random.default_rng(n).integers(0, 50, n + 4)  # some equal
    expected = np.concatenate([values[:2], np.sort(values[2 : n + 2]), values[n + 2 :]])
    sort_middle(values, 2, n + 2)
    assert values.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 14, 15, 200])
def test_values_go_with_their_keys(n):
    keys = np.random.default_rng(n).permutation(n)
    order = np.argsort(keys)
    values = np.arange(n)
    sort_pairs(keys, values)
    assert keys.tolist() == list(range(n))
    assert values.tolist() == order.tolist()


def test_array_of_another_shape_is_not_assigned():
    out = np.zeros(3)
    with pytest.raises(ValueError, match="another shape|broadcast"):
        fill(out, np.ones(2))
    assert out.tolist() == [0.0, 0.0, 0.0]
