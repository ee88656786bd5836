"""Weighted order statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.quantiles import lower_medians, weighted_median, weighted_quantile


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 4)), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.25, 0.5, 0.9]),
)
def test_weights_are_repetitions_and_only_ratios_count(pairs, q):
    x, w = (np.array(part, dtype=float) for part in zip(*pairs))
    if not w.any():
        w[:] = 1
    copies = np.repeat(x, w.astype(int))
    found = weighted_quantile(x, w, q)
    assert found == weighted_quantile(copies, np.ones(len(copies)), q)
    assert found == weighted_quantile(x, 7.3 * w, q)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=15))
def test_median_is_numpys(x):
    assert weighted_median(np.array(x, dtype=float), np.ones(len(x))) == pytest.approx(np.median(x))


def test_quantile_minimizes_the_pinball_loss():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=40), rng.integers(1, 5, 40).astype(float)
    for q in (0.2, 0.5, 0.83):
        found = weighted_quantile(x, w, q)

        def loss(b, q=q):
            return (w * np.where(x > b, q * (x - b), (1 - q) * (b - x))).sum()

        assert all(loss(found) <= loss(b) + 1e-9 for b in x)


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 4)), min_size=1, max_size=12))
def test_the_compiled_median_is_the_same(pairs):
    from gnomon.loops.absolute import weighted_median as compiled

    x, w = (np.array(part, dtype=float) for part in zip(*pairs))
    assert compiled(x.copy(), w.copy()) == weighted_median(x, w)


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_lower_median_is_the_first_entry_with_half_of_the_weight(pairs):
    x, w = (np.array(part, dtype=float) for part in zip(*pairs))
    if not w.any():
        w[:] = 1
    copies = np.sort(np.repeat(x, w.astype(int)))
    expected = copies[(len(copies) - 1) // 2]
    assert lower_medians(np.column_stack([x, -x]), w).tolist() == [expected, -copies[len(copies) // 2]]
