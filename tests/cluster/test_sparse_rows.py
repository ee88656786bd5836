"""K-means on sparse rows: the partition of the dense ones from the same seed, without a dense copy."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from gnomon.cluster import KMeans, MiniBatchKMeans, kmeans_plusplus


def counts(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, (240, 12)).astype(float)
    X[:80, :4] += 3
    X[80:160, 4:8] += 3
    return X, sparse.csr_array(X), rng.integers(0, 3, 240).astype(float)


@pytest.mark.parametrize("init", ["k-means++", "random", "random_partition", "farthest", "k-means-parallel"])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_as_dense(init, weighted):
    X, S, w = counts()
    w = w if weighted else None
    dense = KMeans(5, init=init, random_state=1, n_init=2).fit(X, sample_weight=w)
    thin = KMeans(5, init=init, random_state=1, n_init=2).fit(S, sample_weight=w)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_allclose(thin.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    assert thin.inertia_ == pytest.approx(dense.inertia_, rel=1e-12) and thin.n_iter_ == dense.n_iter_
    np.testing.assert_array_equal(thin.predict(S), thin.predict(X))
    np.testing.assert_allclose(thin.transform(S), thin.transform(X), atol=1e-7)
    assert thin.score(S) == pytest.approx(thin.score(X), rel=1e-12)


def test_centers_labels_and_functions_as_starts():
    X, S, _ = counts()
    for init in (X[:3], np.arange(240) % 3, lambda X, k, random_state: X[:k]):
        a, b = KMeans(3, init=init, n_init=1).fit(X), KMeans(3, init=_thin(init), n_init=1).fit(S)
        np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-12)
    again = MiniBatchKMeans(3, init=lambda X, k, random_state: X[:k], random_state=0).fit(X)
    assert again.cluster_centers_.shape == (3, 12)


def _thin(init):
    return (lambda X, k, random_state: X[:k].toarray()) if callable(init) else init


def test_empty_clusters_take_the_farthest_rows():
    X, S, _ = counts()
    start = np.vstack([X[0], X[100], np.full(12, 500.0)])
    a, b = KMeans(3, init=start, n_init=1).fit(X), KMeans(3, init=start, n_init=1).fit(S)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert len(np.unique(b.labels_)) == 3


def test_batches_and_seeds():
    X, S, _ = counts()
    a = MiniBatchKMeans(3, random_state=0, batch_size=50).fit(X)
    b = MiniBatchKMeans(3, random_state=0, batch_size=50).fit(S)
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-9)
    a = MiniBatchKMeans(3, random_state=0).partial_fit(X[:100]).partial_fit(X[100:])
    b = MiniBatchKMeans(3, random_state=0).partial_fit(S[:100]).partial_fit(S[100:])
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-9)
    centers, rows = kmeans_plusplus(S, 4, random_state=0)
    np.testing.assert_array_equal(rows, kmeans_plusplus(X, 4, random_state=0)[1])
    np.testing.assert_array_equal(centers, X[rows])


def test_no_dense_copy():
    """Two thousand rows of ten thousand columns are 160 MB when they are filled."""
    X = sparse.random_array((2000, 10_000), density=0.0005, rng=np.random.default_rng(0), format="csr")
    KMeans(2, random_state=0, max_iter=2).fit(X[:20])
    tracemalloc.start()
    KMeans(3, random_state=0, max_iter=3, tol=1.0).fit(X).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24e6, peak
