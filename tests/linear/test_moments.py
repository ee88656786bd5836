"""Moments: additive over rows, exact at large offsets, the same for dense, sparse and weighted rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gnomon.core.rows import MemoryRows
from gnomon.core.threads import threads
from gnomon.linear.squares.moments import moments, sum_moments


def slow_moments(X, Y, s):
    """Two passes in extended precision."""
    X, Y, s = (np.asarray(a, dtype=np.longdouble) for a in (X, Y, s))
    mx, my = s @ X / s.sum(), s @ Y / s.sum()
    Z, T = X - mx, Y - my
    return [s.sum(), mx, my, (s[:, None] * Z).T @ Z, (s[:, None] * Z).T @ T, s @ (T * T)]


def assert_same(a, b, rtol=1e-12):
    for one, other in zip(a, b, strict=True):
        other = np.asarray(other, dtype=np.float64)
        np.testing.assert_allclose(
            np.asarray(one), other, rtol=rtol, atol=rtol * max(np.abs(other).max(), 1e-300)
        )


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("targets", [0, 1, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_two_passes_in_extended_precision(kind, targets, weighted):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3000, 40)) + 0.5).astype(kind)
    Y = rng.normal(size=(3000, targets)) if targets else rng.normal(size=3000)
    s = rng.integers(0, 3, size=3000).astype(float) if weighted else np.ones(3000)
    assert_same(moments(X, Y, s)[1:], slow_moments(X, Y, s))


def test_large_offsets_lose_no_digits():
    """A column such as 1e8 ± 1, where E[x²] − E[x]² has no digit left."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 3)) + np.array([1e8, 0.0, -1e6])
    y = X[:, 0] - 1e8 + rng.normal(size=5000)
    assert_same(moments(X, y)[4:], slow_moments(X, y, np.ones(5000))[3:], rtol=1e-9)


def test_constant_first_block_then_large_values():
    X = np.concatenate([np.zeros((9000, 1)), 1e8 + np.random.default_rng(2).normal(size=(9000, 1))])
    y = np.arange(18000.0)
    assert_same(moments(X, y)[1:], slow_moments(X, y, np.ones(18000)), rtol=1e-11)


@given(st.lists(st.integers(0, 60), min_size=0, max_size=4), st.booleans())
def test_any_chunking_merges_to_the_whole(cuts, several):
    rng = np.random.default_rng(3)
    X, s = rng.normal(size=(60, 4)) + 10.0, rng.integers(0, 4, size=60).astype(float)
    y = rng.normal(size=(60, 2)) if several else rng.normal(size=60)
    borders = [0, *sorted(cuts), 60]
    parts = [moments(X[a:b], y[a:b], s[a:b]) for a, b in zip(borders, borders[1:], strict=False)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    assert whole.n_rows == (s > 0).sum()
    assert_same(whole, moments(X, y, s), rtol=1e-10)


def test_sparse_rows_give_the_same_record():
    rng = np.random.default_rng(4)
    X = sparse.random_array((500, 30), density=0.1, format="csr", rng=rng)
    y, s = rng.normal(size=500), rng.integers(0, 3, size=500).astype(float)
    for weight in (None, s):
        assert_same(moments(X, y, weight), moments(X.toarray(), y, weight))


def test_thread_count_changes_no_bit():
    rng = np.random.default_rng(5)
    for shape in [(40_000, 20), (3000, 220)]:
        X, y = rng.normal(size=shape), rng.normal(size=shape[0])
        records = []
        for n in (1, 2, 3):
            with threads(n):
                records.append(sum_moments(MemoryRows(X, y)))
        for other in records[1:]:
            for a, b in zip(records[0], other, strict=True):
                assert np.array_equal(a, b)


def test_weight_zero_is_no_row_and_no_rows_are_legal():
    X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])
    assert_same(moments(X, y, np.array([1.0, 0.0, 1.0])), moments(X[[0, 2]], y[[0, 2]]))
    empty = moments(X, y, np.zeros(3))
    assert_same(empty.merge(moments(X, y)), moments(X, y))


def test_loss_and_view_from_the_origin():
    rng = np.random.default_rng(6)
    X, y, w = rng.normal(size=(50, 3)) + 2.0, rng.normal(size=50), rng.normal(size=3)
    record = moments(X, y)
    np.testing.assert_allclose(record.loss(w, 0.7), ((y - X @ w - 0.7) ** 2).sum(), rtol=1e-12)
    raw = record.without_centering()
    np.testing.assert_allclose(raw.xx, X.T @ X, rtol=1e-12)
    np.testing.assert_allclose(raw.xy, X.T @ y, rtol=1e-12)
