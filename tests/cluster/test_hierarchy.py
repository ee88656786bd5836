"""Agglomerative clustering: heights by hand, a brute-force twin, SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster.hierarchy import linkage as peer_linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering as Peer
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from gnomon.cluster import AgglomerativeClustering, cophenetic_distances, cut_tree, linkage
from gnomon.cluster.linkages import METHODS, has_inversions
from gnomon.core.errors import DataError

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
SIX = np.array([[0.0, 0], [1, 0], [0, 2], [5, 5], [6, 5], [5, 7.5]])
HEIGHTS = {
    "single": [1, 2, 4],
    "complete": [1, 3, 7],
    "average": [1, 2.5, 5.6666667],
    "weighted": [1, 2.5, 5.25],
    "centroid": [1, 2.5, 5.6666667],
    "median": [1, 2.5, 5.25],
    "ward": [1, 2.8867513, 6.9402209],
}


@pytest.mark.parametrize("method", METHODS)
def test_heights_by_hand(method):
    np.testing.assert_allclose(linkage(LINE, method)[:, 2], HEIGHTS[method], atol=1e-7)


def test_centroids_may_invert():
    Z = linkage(np.array([[0.0, 0], [2, 0], [1, 1.8]]), "centroid")
    np.testing.assert_allclose(Z[:, 2], [2, 1.8])
    assert has_inversions(Z) and not has_inversions(linkage(LINE, "ward"))


def test_six_points_by_hand():
    Z = linkage(SIX, "average")
    np.testing.assert_allclose(Z[:, 2], [1, 1, 2.1180340, 2.5962912, 7.3157309], atol=1e-7)
    np.testing.assert_allclose(linkage(SIX, "ward")[2:, 2], [2.3804761, 2.9439203, 12.4532459], atol=1e-7)
    np.testing.assert_allclose(linkage(SIX, "single")[2:, 2], [2, 2.5, 5.8309519], atol=1e-7)
    np.testing.assert_array_equal(cut_tree(Z, 2), [0, 0, 0, 1, 1, 1])
    assert np.corrcoef(cophenetic_distances(Z), pdist(SIX))[0, 1] == pytest.approx(0.9644416, abs=1e-7)
    assert linkage(SIX, "average", "l1")[-1, 2] == pytest.approx(10.1666667)


@pytest.mark.parametrize("rows", [LINE, LINE[:1]])
def test_linkages_of_other_names_are_refused(rows):
    for method in ("nearest", "Ward", None):
        with pytest.raises(DataError, match="method"):
            linkage(rows, method)


def test_single_linkage_chains():
    X = np.array([0, 1, 2.1, 3.3, 4.6, 6])[:, None]
    np.testing.assert_array_equal(
        AgglomerativeClustering(2, linkage="single").fit(X).labels_, [0, 0, 0, 0, 0, 1]
    )
    np.testing.assert_array_equal(
        AgglomerativeClustering(2, linkage="complete").fit(X).labels_, [0, 0, 0, 0, 1, 1]
    )


def brute(X, method):
    """Merge the closest pair, computing every distance between clusters from its definition."""
    clusters = [[i] for i in range(len(X))]
    D = squareform(pdist(X))
    heights = []

    def apart(a, b):
        block = D[np.ix_(a, b)]
        if method in ("single", "complete", "average"):
            return {"single": block.min, "complete": block.max, "average": block.mean}[method]()
        gap = ((X[a].mean(axis=0) - X[b].mean(axis=0)) ** 2).sum()
        return np.sqrt(gap * (2 * len(a) * len(b) / (len(a) + len(b)) if method == "ward" else 1))

    while len(clusters) > 1:
        pairs = [(apart(a, b), i, j) for i, a in enumerate(clusters) for j, b in enumerate(clusters) if i < j]
        d, i, j = min(pairs)
        heights.append(d)
        clusters[i] += clusters.pop(j)
    return np.array(heights)


@pytest.mark.parametrize("method", ["single", "complete", "average", "centroid", "ward"])
def test_equals_brute_force(method):
    X = np.random.default_rng(0).normal(size=(25, 3))
    np.testing.assert_allclose(linkage(X, method)[:, 2], brute(X, method))


@pytest.mark.parity
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (150, 2), (400, 40)])
def test_same_as_scipy(method, shape):
    X = np.random.default_rng(1).normal(size=shape)
    ours, peer = linkage(X, method), peer_linkage(X, method)
    np.testing.assert_allclose(ours[:, 2:], peer[:, 2:])
    np.testing.assert_array_equal(ours[:, :2], np.sort(peer[:, :2], axis=1))
    np.testing.assert_allclose(linkage(pdist(X), method, "precomputed")[:, 2], peer[:, 2])
    np.testing.assert_allclose(linkage(squareform(pdist(X)), method, "precomputed")[:, 2], peer[:, 2])


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "ward"])
def test_heights_never_fall_and_order_does_not_matter(method):
    X = np.random.default_rng(2).normal(size=(200, 2))
    Z = linkage(X, method)
    assert (np.diff(Z[:, 2]) >= 0).all() and len(Z) == 199
    order = np.random.default_rng(3).permutation(200)
    np.testing.assert_allclose(linkage(X[order], method)[:, 2], Z[:, 2])


def test_ward_height_is_the_growth_of_scatter():
    X = np.random.default_rng(4).normal(size=(30, 2))
    Z = linkage(X, "ward")

    def scatter(k):
        labels = cut_tree(Z, k)
        return sum(((X[labels == j] - X[labels == j].mean(axis=0)) ** 2).sum() for j in range(k))

    for s in range(29):
        assert Z[s, 2] ** 2 / 2 == pytest.approx(scatter(29 - s) - scatter(30 - s), abs=1e-9)


def test_single_linkage_clusters_are_components():
    from scipy.sparse.csgraph import connected_components

    X = np.random.default_rng(5).random((80, 2))
    D = squareform(pdist(X))
    for h in (0.05, 0.1, 0.2):
        _, parts = connected_components(D <= h)
        assert adjusted_rand_score(parts, cut_tree(linkage(X), height=h)) == 1


@pytest.mark.parametrize("method", ["average", "ward", "centroid"])
def test_weight_is_that_many_coincident_rows(method):
    X = np.random.default_rng(6).normal(size=(20, 2))
    times = np.random.default_rng(7).integers(1, 4, size=20)
    one = linkage(X, method, sample_weight=times)
    two = linkage(np.repeat(X, times, axis=0), method)
    np.testing.assert_allclose(one[:, 2], two[-19:, 2], atol=1e-7)


@pytest.mark.parametrize("method", ["ward", "complete", "average", "single"])
def test_connectivity_as_in_scikit_learn(method):
    X = np.random.default_rng(8).normal(size=(80, 2))
    graph = kneighbors_graph(X, 8)
    ours = AgglomerativeClustering(4, linkage=method, connectivity=graph).fit(X)
    peer = Peer(4, linkage=method, connectivity=graph).fit(X)
    assert adjusted_rand_score(ours.labels_, peer.labels_) == 1


def test_loose_graphs_are_joined_with_a_warning():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    graph = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    with pytest.warns(UserWarning, match="2 components"):
        model = AgglomerativeClustering(2, connectivity=graph).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_one_row_has_an_empty_tree_and_bad_input_is_refused():
    assert linkage(np.zeros((1, 2)), "ward").shape == (0, 4)
    with pytest.raises(DataError, match="NaN"):
        linkage(np.array([np.nan]), "single", "precomputed")
    with pytest.raises(DataError, match="Euclidean"):
        linkage(LINE, "ward", "l1")


def test_threshold_cuts_by_height():
    model = AgglomerativeClustering(None, distance_threshold=2.6, linkage="average").fit(LINE)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1])
    np.testing.assert_array_equal(model.children_, [[0, 1], [2, 4], [3, 5]])
    assert model.distances_[1] == 2.5
    at = AgglomerativeClustering(None, distance_threshold=2.5, linkage="average").fit(LINE)
    assert at.n_clusters_ == 3  # as in scikit-learn, a merge at the threshold itself is not made


def test_ward_needs_euclidean_distances_also_with_connectivity():
    with pytest.raises(ValueError, match="Ward can only work with euclidean"):
        AgglomerativeClustering(2, metric="l1", connectivity=np.ones((4, 4))).fit(LINE)


def test_negative_distances_are_refused():
    with pytest.raises(DataError, match="must not be negative; the smallest is -2"):
        linkage([1.0, -2.0, 3.0], metric="precomputed")


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_centers_and_matrix_give_one_tree(method):
    """Up to 32 columns the tree comes from centers, beyond from the condensed matrix."""
    X = np.random.default_rng(3).normal(size=(300, 5))
    wide = np.hstack([X, np.zeros((300, 30))])
    assert_allclose(linkage(wide, method), linkage(X, method), rtol=1e-10)


@pytest.mark.parametrize("method", ["complete", "average", "weighted", "centroid", "median", "ward"])
def test_large_trees_agree_with_scipy(method):
    X = np.random.default_rng(4).normal(size=(700, 3))
    assert_allclose(linkage(X, method), peer_linkage(X, method), rtol=1e-9)


@pytest.mark.parametrize(
    "method", ["ward", "centroid", "median", "average", "complete", "weighted", "single"]
)
def test_weights_count_the_same_from_centers_and_from_distances(method):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(12, 3)), rng.integers(1, 4, size=12).astype(float)
    wide = np.hstack([X, np.zeros((12, 40))])  # too wide for centers
    from_centers = linkage(X, method, sample_weight=weight)
    np.testing.assert_allclose(linkage(wide, method, sample_weight=weight), from_centers, rtol=1e-10)
    copies = linkage(np.repeat(X, weight.astype(int), axis=0), method)
    if method != "median" and method != "weighted":  # these two count merges, not rows
        np.testing.assert_allclose(np.sort(copies[:, 2])[-11:], np.sort(from_centers[:, 2]), rtol=1e-10)


@pytest.mark.parametrize("method", ["ward", "centroid", "median", "average"])
def test_huge_weights_end(method):
    X = np.random.default_rng(0).normal(size=(12, 3))
    plain, heavy = linkage(X, method), linkage(X, method, sample_weight=np.full(12, 1e300))
    np.testing.assert_array_equal(heavy[:, :2], plain[:, :2])
    scale = 1e150 if method == "ward" else 1.0
    np.testing.assert_allclose(heavy[:, 2], scale * plain[:, 2], rtol=1e-10)


def test_ward_takes_euclidean_distances_under_both_names():
    X = np.random.default_rng(0).normal(size=(12, 2))
    chain = np.abs(np.subtract.outer(np.arange(12), np.arange(12))) == 1
    for connectivity in (None, chain):
        one, other = (
            AgglomerativeClustering(3, metric=m, connectivity=connectivity).fit(X)
            for m in ("euclidean", "l2")
        )
        np.testing.assert_array_equal(one.labels_, other.labels_)
    with pytest.raises(DataError, match="compute_full_tree"):
        AgglomerativeClustering(None, distance_threshold=1.0, compute_full_tree=False).fit(X)
