"""The frame in which distances are worked out: its origin, and a unit that is a power of two about as large as rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon.cluster import KMeans
from gnomon.cluster.frame import chunk_frame, column_spread

ROWS = np.array([[1.0, 0.0, 4.0], [0.0, 0.0, -2.0], [3.0, 5.0, 0.0], [0.0, 1.0, 0.0]])
CENTERS = np.array([[0.5, 0.0, 1.0], [1.5, 2.0, 1.0]])


def is_unit_of(scale, size):
    """Tell whether a number times the scale is in (1/2, 1], and the scale a power of two."""
    return np.frexp(scale)[0] == 0.5 and 0.5 < size * scale <= 1.0


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1.0, 1e5, 1e200])
@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_the_unit_of_a_chunk_is_its_farthest_entry(unit, factor):
    X, centers = unit * ROWS, factor * unit * CENTERS
    shift = centers.mean(axis=0)
    dense, thin = chunk_frame(X, centers), chunk_frame(sparse.csr_array(X), centers)
    assert_allclose(dense.shift, shift)
    assert_allclose(thin.shift, shift)
    assert is_unit_of(dense.scale, max(np.abs(X - shift).max(), np.abs(centers - shift).max()))
    assert is_unit_of(thin.scale, max(np.abs(X).max(), np.abs(centers).max()))  # it is not shifted
    assert dense.variance == thin.variance == 0.0
    middle = chunk_frame(np.tile(shift, (3, 1)), centers)  # rows between the centers
    assert is_unit_of(middle.scale, np.abs(centers - shift).max())


def test_a_chunk_of_zeros_or_beyond_the_numbers_has_the_unit_one():
    for X in (np.zeros((3, 2)), np.full((3, 2), 1e-305)):
        for rows in (X, sparse.csr_array(X)):
            assert chunk_frame(rows, np.zeros((1, 2))).scale == 1.0
    with np.errstate(over="ignore"):
        assert chunk_frame(np.full((3, 2), 1e301), np.zeros((1, 2))).scale == 1.0
    assert chunk_frame(np.array([[np.nan, 3.0]]), np.zeros((1, 2))).scale == 0.25
    empty = sparse.csr_array((2, 2))
    assert chunk_frame(empty, np.array([[0.0, 6.0]])).scale == 0.125


@pytest.mark.parametrize("kind", ["dense", "sparse", "holes"])
def test_moments_of_two_parts_are_those_of_the_whole(kind):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.5), rng.integers(0, 4, 30).astype(float)
    if kind == "holes":
        X[rng.random((30, 4)) < 0.3] = np.nan
    rows = sparse.csr_array(X) if kind == "sparse" else X
    parts = [
        column_spread(SimpleNamespace(X=rows[some], weight=w[some])) for some in (slice(0, 11), slice(11, 30))
    ]
    found = parts[0].merge(parts[1])
    seen = ~np.isnan(X) * w[:, None]
    count, values = seen.sum(axis=0), np.nan_to_num(X)
    mean = (seen * values).sum(axis=0) / count
    square = (seen * (values - mean) ** 2).sum(axis=0)
    assert_allclose(found.count, count)
    assert_allclose(found.mean, mean, atol=1e-12)
    assert_allclose(found.square, square)
    assert found.variance() == pytest.approx((square / count).mean())
    assert (found.low <= np.nanmin(X[w > 0], axis=0)).all() and (
        found.high >= np.nanmax(X[w > 0], axis=0)
    ).all()
    assert np.isin(found.low, np.append(X, 0.0)).all() and np.isin(found.high, np.append(X, 0.0)).all()


@pytest.mark.parametrize("unit", [1e-250, 1e-145, 1e-100, 1.0, 1e100])
def test_clusters_do_not_depend_on_the_unit(unit):
    X = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * (np.arange(40) % 3)[:, None]
    plain = KMeans(3, init=X[:3]).fit(X)
    for rows in (unit * X, sparse.csr_array(unit * X)):
        model = KMeans(3, init=unit * X[:3]).fit(rows)
        assert model.labels_.tolist() == plain.labels_.tolist()
        assert_allclose(model.cluster_centers_ / unit, plain.cluster_centers_)
