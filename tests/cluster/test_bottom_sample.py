"""The sample that seeds k-means from files: the distinct rows of smallest hash, however they arrive."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.cluster import sampling
from gnomon.core.sums import Chunk, merge


def slow_sample(X, weight, size):
    """Sort all rows, add up the copies, keep the first."""
    found = {}
    for row, w in zip(X, weight, strict=True):
        if w > 0:
            found[tuple(row)] = found.get(tuple(row), 0.0) + w
    rows = np.array(list(found))
    order = np.lexsort((sampling.fine_hash(rows), sampling.hash_rows(rows)))[:size]
    return rows[order], np.array(list(found.values()))[order]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 400),
    levels=st.sampled_from([2, 5, 1000]),
    cuts=st.integers(1, 20),
    size=st.integers(1, 60),
)
def test_any_cut_of_the_rows_gives_the_same_sample(seed, n, levels, cuts, size):
    rng = np.random.default_rng(seed)
    X = rng.integers(levels, size=(n, 2)).astype(float)
    weight = rng.integers(3, size=n).astype(float)
    weight[0] = 1.0
    keep, sampling.SAMPLE = sampling.SAMPLE, size
    try:
        parts = [
            sampling.bottom_rows(Chunk(X[part], None, weight[part], 0))
            for part in np.array_split(np.arange(n), cuts)
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = merge(whole, part)
        (kept,) = whole.compact().parts
    finally:
        sampling.SAMPLE = keep
    points, mass = slow_sample(X, weight, size)
    np.testing.assert_array_equal(kept.points, points)
    np.testing.assert_array_equal(kept.weight, mass)
