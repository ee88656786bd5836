"""Distances: by hand, against SciPy, and where cancellation bites."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.core.errors import DataError
from gnomon.loops.distances import METRICS, edit_table, nearest_rows, pairwise
from gnomon.neighbors import pairwise_distances

A = np.random.default_rng(0).normal(size=(70, 5))
B = np.random.default_rng(1).normal(size=(40, 5))


def test_four_numbers_by_hand():
    u, v = np.array([[1.0, 2, 3, 4]]), np.array([[2.0, 1, 4, 3]])
    expected = {
        "correlation": 0.4,
        "cosine": 1 / 15,
        "l1": 4,
        "l2": 2,
        "linf": 1,
        "hamming": 1,
        "hamming_count": 4,
    }
    for metric, value in expected.items():
        assert pairwise(u, v, metric)[0, 0] == pytest.approx(value)
    assert pairwise_distances(u, v, "minkowski", p=3)[0, 0] == pytest.approx(1.5874011, abs=1e-7)
    assert pairwise(u, 3 * v + 7, "correlation")[0, 0] == pytest.approx(0.4)
    assert pairwise(u, -v, "correlation")[0, 0] == pytest.approx(1.6)


def test_powers_by_hand():
    expected = {1: 7, 1.5: 5.5842504, 2: 5, 3: 4.4979414, 10: 4.0219741, np.inf: 4}
    for p, value in expected.items():
        assert pairwise_distances([[0.0, 0]], [[3.0, 4]], "minkowski", p=p)[0, 0] == pytest.approx(
            value, abs=1e-7
        )
    with pytest.raises(DataError, match="at least 1"):
        pairwise_distances(A, B, "minkowski", p=0.5)


def test_missing_entries_by_hand():
    found = pairwise_distances([[1, np.nan, 3]], [[2.0, 5, 1]], "nan_euclidean")
    assert found[0, 0] == pytest.approx(2.7386128, abs=1e-7)


@pytest.mark.parametrize(
    "a, b, d",
    [
        ("kitten", "sitting", 3),
        ("flaw", "lawn", 2),
        ("", "abc", 3),
        ("intention", "execution", 5),
        ("ab", "ba", 2),
    ],
)
def test_edit_distances_by_hand(a, b, d):
    assert edit_table([a], [b])[0, 0] == d == edit_table([b], [a])[0, 0]


@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_as_scipy(metric, dtype):
    X, Y = A.astype(dtype), B.astype(dtype)
    np.testing.assert_allclose(
        pairwise(X, Y, metric), cdist(X, Y, metric), rtol=1e-6 if dtype == np.float32 else 1e-10
    )


def test_mahalanobis_and_its_like():
    V = np.cov(A, rowvar=False)
    ours = pairwise_distances(A, B, "mahalanobis")
    np.testing.assert_allclose(ours, cdist(A, B, "mahalanobis", VI=np.linalg.inv(V)))
    np.testing.assert_allclose(pairwise_distances(A, B, "mahalanobis", VI=np.linalg.inv(V)), ours)
    np.testing.assert_allclose(
        pairwise_distances(A, B, "seuclidean"), cdist(A, B, "seuclidean", V=A.var(axis=0, ddof=1))
    )


def test_far_from_the_origin_nothing_is_lost():
    X = 1e8 + np.arange(6.0)[:, None]
    np.testing.assert_array_equal(pairwise(X, X), np.abs(X - X.T))
    Y = np.vstack([A, A + 1e-9])
    D = pairwise(Y, Y)
    assert (D >= 0).all() and (np.diagonal(D) == 0).all()
    np.testing.assert_allclose(D[np.arange(70), np.arange(70) + 70], np.sqrt(5) * 1e-9, rtol=1e-6)


def test_rows_without_a_direction():
    X = np.array([[0.0, 0], [0, 0], [1, 1]])
    np.testing.assert_allclose(pairwise(X, X, "cosine"), [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-15)
    flat = np.array([[2.0, 2], [0, 1]])
    np.testing.assert_allclose(pairwise(flat, flat, "correlation"), [[0, 1], [1, 0]], atol=1e-15)


@pytest.mark.parametrize(
    "metric", [m for m in METRICS if m not in ("sqeuclidean", "cosine", "correlation", "nan_euclidean")]
)
def test_metrics_are_metrics(metric):
    D = pairwise(A[:20], A[:20], metric, 3.0)
    np.testing.assert_allclose(D, D.T)
    assert (np.diagonal(D) == 0).all()
    assert (D[:, None] <= D[:, :, None] + D[None] + 1e-9).all()


@pytest.mark.parametrize("metric", ["euclidean", "l1", "cosine"])
def test_nearest_rows_are_the_smallest_distances(metric):
    index, value = nearest_rows(A, B, 4, metric)
    D = cdist(A, B, {"l1": "cityblock"}.get(metric, metric))
    np.testing.assert_array_equal(index, np.argsort(D, axis=1, kind="stable")[:, :4])
    np.testing.assert_allclose(value, np.sort(D, axis=1)[:, :4])


def test_ties_go_to_the_lower_row():
    index, _ = nearest_rows(np.array([[0.0]]), np.array([[1.0], [-1.0], [1.0]]), 3)
    np.testing.assert_array_equal(index, [[0, 1, 2]])


def test_unknown_metrics_are_answered_with_the_nearest():
    with pytest.raises(DataError, match="Did you mean 'euclidean'"):
        pairwise(A, B, "euclidian")
