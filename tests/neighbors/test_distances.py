"""Distances of sparse rows, of yes and no, on a globe, with weights; what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from gnomon.core.errors import DataError
from gnomon.neighbors import cosine_similarity, metric_names, pairwise_distances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)) * (RNG.random((300, 5)) < 0.5)
Z = RNG.normal(size=(7, 5)) * (RNG.random((7, 5)) < 0.5)


@pytest.mark.parametrize("metric", ["euclidean", "l2", "sqeuclidean", "cosine", "manhattan", "l1"])
def test_sparse_rows_have_the_distances_of_dense_ones(metric):
    for a, b in ((X, Z), (X, None)):
        given = None if b is None else sparse.csc_array(b)
        told = pairwise_distances(sparse.csr_array(a), given, metric)
        np.testing.assert_allclose(told, pairwise_distances(a, b, metric), atol=1e-12)


def test_cosines_of_sparse_rows_stay_sparse_if_asked():
    told = cosine_similarity(sparse.csr_array(X), sparse.csr_array(Z), dense_output=False)
    sizes = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Z, axis=1)
    expected = X @ Z.T / np.where(sizes > 0, sizes, 1.0)
    assert sparse.issparse(told)
    np.testing.assert_allclose(told.toarray(), expected, atol=1e-15)
    np.testing.assert_allclose(
        cosine_similarity(sparse.csr_array(X), sparse.csr_array(Z)), expected, atol=1e-15
    )


def test_places_on_a_globe():
    pole, equator, quarter = [np.pi / 2, 1.0], [0.0, 0.0], [0.0, np.pi / 2]
    D = pairwise_distances([pole, equator, quarter], metric="haversine")
    np.testing.assert_allclose(D, np.pi / 2 * (1 - np.eye(3)), atol=1e-15)
    with pytest.raises(DataError, match="haversine needs two columns"):
        pairwise_distances(X, metric="haversine")


def test_columns_that_are_zero_or_not():
    a, b = np.array([[True, True, False, False]]), np.array([[True, False, True, False]])
    by_hand = {"jaccard": 2 / 3, "dice": 1 / 2, "russellrao": 3 / 4, "rogerstanimoto": 4 / 6, "yule": 1.0}
    for metric, expected in by_hand.items():
        assert pairwise_distances(a, b, metric)[0, 0] == pytest.approx(expected, abs=1e-15)
    with pytest.warns(DataConversionWarning, match="converted to boolean for metric jaccard"):
        assert pairwise_distances(3.0 * a, 2.0 * b, "jaccard")[0, 0] == pytest.approx(2 / 3, abs=1e-15)


def test_shares_and_weights_by_hand():
    u, v = [[1.0, 2.0, 0.0]], [[3.0, 2.0, 1.0]]
    assert pairwise_distances(u, v, "braycurtis")[0, 0] == pytest.approx(3 / 9, abs=1e-15)
    assert pairwise_distances(u, v, "canberra")[0, 0] == pytest.approx(2 / 4 + 1.0, abs=1e-15)
    assert pairwise_distances(u, v, "minkowski", p=1, w=[2.0, 5.0, 3.0], n_jobs=2)[0, 0] == pytest.approx(7.0)
    assert pairwise_distances(u, v, "minkowski", p=3, w=[2.0, 5.0, 3.0])[0, 0] == pytest.approx(
        19.0 ** (1 / 3)
    )


def test_what_is_refused():
    with pytest.raises(TypeError, match="'chebyshev' takes no sparse rows"):
        pairwise_distances(sparse.csr_array(X), metric="chebyshev")
    with pytest.raises(DataError, match="columns and Y has"):
        pairwise_distances(sparse.csr_array(X), sparse.csr_array(Z[:, :3]))
    with pytest.raises(DataError, match="a column for each row that they lead to, 4"):
        pairwise_distances(np.zeros((4, 3)), metric="precomputed")
    with pytest.raises(DataError, match="non-negative values"):
        pairwise_distances(-np.ones((2, 2)), metric="precomputed")
    for first in (-1.0, np.inf, np.nan):
        with pytest.raises(DataError, match="w must hold a finite weight"):
            pairwise_distances(X, metric="minkowski", w=[first, 1.0, 1.0, 1.0, 1.0])
    assert {"jaccard", "haversine", "canberra"} <= set(metric_names())
