"""Figures of a fit of latent classes, each from its definition."""

import numpy as np
import pytest
from scipy.stats import chi2

from gnomon.core.errors import DataError
from gnomon.mixture import latent_class_test

RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    "shape, k, spare", [((2, 2), 1, 1), ((4, 4), 2, 2), ((2, 3, 2), 1, 7), ((3, 3), 2, -1)]
)
def test_figures_of_a_table_of_counts(shape, k, spare):
    table = RNG.integers(3, 30, size=shape) + 0.0
    model, joint, distance, alone, parameters, left, gain, misfit, p_value = latent_class_test(table, k)
    P, independent = table / table.sum(), np.ones(())
    for axis in range(P.ndim):
        others = tuple(other for other in range(P.ndim) if other != axis)
        independent = np.multiply.outer(independent, P.sum(axis=others))
    assert joint.sum() == pytest.approx(1.0) and joint.shape == shape
    assert distance == pytest.approx((P * np.log(P / joint)).sum(), abs=1e-12)
    assert alone == pytest.approx((P * np.log(P / independent)).sum(), abs=1e-12)
    assert parameters == k - 1 + k * sum(size - 1 for size in shape) and left == spare
    assert misfit == pytest.approx(2 * table.sum() * distance, abs=1e-9)
    assert gain == pytest.approx(2 * table.sum() * (alone - distance), abs=1e-9)
    if k == 1:
        np.testing.assert_allclose(joint, independent, atol=1e-7)
    if spare > 0:
        assert p_value == pytest.approx(chi2.sf(misfit, spare))
    else:
        assert np.isnan(p_value)


def test_the_number_of_rows_is_told_with_a_table_of_shares():
    P = np.array([[0.4, 0.1], [0.2, 0.3]])
    few, many = (latent_class_test(P, 1, n=n) for n in (50, 500))
    assert many[7] == pytest.approx(10 * few[7], rel=1e-9)
    assert few[7] == pytest.approx(2 * 50 * few[2], rel=1e-9)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_tables_that_hold_no_shares(wrong):
    table = np.ones((2, 2))
    table[0, 1] = wrong
    with pytest.raises(DataError, match="finite, not negative"):
        latent_class_test(table, 1)
    with pytest.raises(DataError, match="not all zero"):
        latent_class_test(np.zeros((2, 2)), 1)
