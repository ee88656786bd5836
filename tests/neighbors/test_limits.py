"""Where searches must say no, and where numbers are at the ends of what floats hold."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import BallTree, KDTree

from gnomon.core.errors import DataError
from gnomon.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    kneighbors_graph,
    radius_neighbors_graph,
)

rng = np.random.default_rng(5)
X, Q = rng.normal(size=(300, 3)), rng.normal(size=(9, 3))


def twin(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


# Trees of vantage points


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "correlation", "braycurtis", "nan_euclidean"])
def test_no_vantage_points_without_the_triangle_inequality(metric):
    with pytest.raises(DataError, match="triangle inequality"):
        NearestNeighbors(algorithm="vp_tree", metric=metric).fit(X)


def test_a_function_that_is_no_metric_is_compared_with_all():
    def square(a, b):
        return float(((a - b) ** 2).sum())

    distances, rows = NearestNeighbors(n_neighbors=4, metric=square).fit(X).kneighbors(Q)
    expected = twin(cdist(Q, X, "sqeuclidean"), 4)
    np.testing.assert_allclose(distances, expected[0])
    np.testing.assert_array_equal(rows, expected[1])
    with pytest.raises(DataError, match="triangle inequality"):
        NearestNeighbors(algorithm="vp_tree", metric=square).fit(X)
    with pytest.raises(DataError, match="triangle inequality"):  # longer one way than the other
        NearestNeighbors(algorithm="vp_tree", metric=lambda a, b: abs(a[0] - b[0]) + (a[0] > b[0])).fit(X)


def test_words_with_a_price_for_each_direction():
    words = ["abcd", "bcd", "abc", "xbcd", "ab"] * 5
    options = {"metric": "edit", "metric_params": {"costs": (1.0, 3.0, 2.0)}}
    with pytest.raises(DataError, match="symmetric"):
        NearestNeighbors(algorithm="vp_tree", **options).fit(words)
    distances = NearestNeighbors(n_neighbors=1, **options).fit(["abcd", "b"]).kneighbors(["bcd", "bcd"])[0]
    assert distances.tolist() == [[1.0], [1.0]]  # insert "a", rather than delete twice


@pytest.mark.parametrize("metric", ["canberra", "haversine", "jaccard"])
def test_a_kd_tree_bounds_no_such_metric(metric):
    with pytest.raises(DataError, match="kd_tree"):
        NearestNeighbors(algorithm="kd_tree", metric=metric).fit(X[:, :2])


# The ends of floats


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree", "auto"])
@pytest.mark.parametrize(
    ("p", "scale"),
    [(2, 2.0**-900), (2, 2.0**700), (3, 2.0**-600), (50, 2.0**27), (50, 2.0**-100), (200, 2.0**90)],
)
def test_powers_that_are_no_floats(p, scale, algorithm):
    plain = NearestNeighbors(n_neighbors=5, p=p, algorithm=algorithm).fit(X)
    scaled = NearestNeighbors(n_neighbors=5, p=p, algorithm=algorithm).fit(X * scale)
    expected, rows = plain.kneighbors(Q)
    found = scaled.kneighbors(Q * scale)
    np.testing.assert_array_equal(found[1], rows)
    np.testing.assert_allclose(found[0] / scale, expected, rtol=1e-14)
    near = scaled.radius_neighbors(Q * scale, scale, return_distance=False)
    for a, b in zip(near, plain.radius_neighbors(Q, 1.0, return_distance=False), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean"])
def test_whitened_rows_far_from_zero(metric):
    grid = np.round(X * 64) / 64  # exact beside 1e8
    here = NearestNeighbors(n_neighbors=6, metric=metric).fit(grid).kneighbors(grid[:50])
    there = NearestNeighbors(n_neighbors=6, metric=metric).fit(grid + 1e8).kneighbors(grid[:50] + 1e8)
    np.testing.assert_allclose(there[0], here[0], rtol=1e-10)
    np.testing.assert_array_equal(there[1], here[1])


def test_an_inverse_covariance_may_be_singular_but_not_indefinite():
    flat = np.diag([1.0, 4.0, 0.0])
    distances = NearestNeighbors(n_neighbors=3, metric="mahalanobis", metric_params={"VI": flat}).fit(X)
    expected = twin(cdist(Q * [1, 2, 0], X * [1, 2, 0]), 3)[0]
    np.testing.assert_allclose(distances.kneighbors(Q)[0], expected)
    with pytest.raises(DataError, match="negative eigenvalues"):
        NearestNeighbors(metric="mahalanobis", metric_params={"VI": np.diag([1.0, -1.0, 1.0])}).fit(X)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean"])
def test_sparse_rows_are_whitened(metric):
    dense = NearestNeighbors(n_neighbors=3, metric=metric).fit(X).kneighbors(Q)
    thin = NearestNeighbors(n_neighbors=3, metric=metric).fit(sparse.csr_array(X))
    np.testing.assert_allclose(thin.kneighbors(sparse.csr_array(Q))[0], dense[0])


# Votes and graphs


def test_weights_that_are_all_zero():
    model = KNeighborsClassifier(3, weights=lambda d: (d < 0.1).astype(float)).fit(X, rng.integers(0, 2, 300))
    assert model.predict_proba(X[:1]).sum() == 1.0
    with pytest.raises(DataError, match="zero weights.*row is 1"):
        model.predict([X[0], [50.0, 50.0, 50.0]])


def test_a_graph_of_distances_holds_enough_neighbors():
    D = sparse.csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])
    model = NearestNeighbors(n_neighbors=1, metric="precomputed").fit(D)
    with pytest.raises(DataError, match="2 neighbors per samples are required, but some samples have only 1"):
        model.kneighbors()
    assert model.kneighbors(D)[1].ravel().tolist() == [1, 0, 1]
    for form in (sparse.dok_array, sparse.bsr_array):
        with pytest.raises(TypeError, match="explicit zeros"):
            model.kneighbors(form(D))


def test_graphs_of_a_model_keep_its_metric():
    model = NearestNeighbors(metric="l1").fit(X[:20])
    same = kneighbors_graph(model, 3, metric="l1")
    np.testing.assert_array_equal(same.toarray(), kneighbors_graph(X[:20], 3, metric="l1").toarray())
    with pytest.raises(DataError, match="leave it out"):
        kneighbors_graph(model, 3, metric="euclidean")
    with pytest.raises(DataError, match="leave it out"):
        radius_neighbors_graph(model, 3.0, p=1)


def test_the_two_places_of_p():
    with pytest.warns(SyntaxWarning, match="metric_params"):
        model = NearestNeighbors(n_neighbors=2, metric_params={"p": 1}).fit(X)
    expected = NearestNeighbors(n_neighbors=2, p=1).fit(X).kneighbors(Q)
    np.testing.assert_array_equal(model.kneighbors(Q)[0], expected[0])


def test_rows_out_of_trees_and_metrics_as_objects():
    expected = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(Q)
    for rows in (KDTree(X), BallTree(X), NearestNeighbors().fit(X)):
        found = KNeighborsRegressor(2).fit(rows, X[:, 0]).kneighbors(Q)
        np.testing.assert_array_equal(found[1], expected[1])
    with pytest.raises(DataError, match="rows themselves"):
        NearestNeighbors().fit(NearestNeighbors(metric="cosine").fit(X))
    told = NearestNeighbors(n_neighbors=2, metric=DistanceMetric.get_metric("euclidean")).fit(X).kneighbors(Q)
    np.testing.assert_allclose(told[0], expected[0])
    np.testing.assert_array_equal(told[1], expected[1])


@pytest.mark.parametrize("radius", [-1.0, np.nan, "far", np.ones(9)])
def test_a_radius_is_one_number(radius):
    with pytest.raises(DataError, match="radius must be one number"):
        NearestNeighbors().fit(X).radius_neighbors(Q, radius)
