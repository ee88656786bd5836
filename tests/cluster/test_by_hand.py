"""Weighted trees on graphs, cuts, codes, features, costs and refusals: small cases worked by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gnomon.cluster import (
    AgglomerativeClustering,
    ClusterFeatures,
    CodewordHistogram,
    KernelKMeans,
    KMeans,
    KMedoids,
    KRepresentatives,
    SoftKMeans,
    SpectralClustering,
    VectorQuantizer,
    balanced_min_cut,
    choose_k,
    cut_tree,
    distortion,
    laplacian,
    linkage,
    min_cut,
    permanent,
    sinkhorn,
    voronoi_cells,
)
from gnomon.cluster.linkages import has_inversions
from gnomon.core.errors import DataError

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


@pytest.mark.parametrize("method", ["ward", "average", "single", "complete"])
def test_weights_count_on_a_graph_as_without_one(method):
    """Where all rows touch each other the graph forbids nothing."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(12, 2)), rng.integers(1, 5, 12).astype(float)
    free = AgglomerativeClustering(3, linkage=method).fit(X, sample_weight=weight)
    bound = AgglomerativeClustering(3, linkage=method, connectivity=np.ones((12, 12)))
    assert_allclose(bound.fit(X, sample_weight=weight).linkage_matrix_, free.linkage_matrix_)
    assert_array_equal(bound.labels_, free.labels_)


def test_heights_of_weighted_rows_on_a_graph_by_hand():
    path = np.diag(np.ones(2), 1)
    model = AgglomerativeClustering(1, connectivity=path).fit([[0.0], [1.0], [4.0]], sample_weight=[2, 2, 1])
    # ΔSSE = 2·2/4 · 1² and 4·1/5 · 3.5²; heights are √(2 ΔSSE)
    assert_allclose(model.distances_, np.sqrt([2.0, 2 * 0.8 * 3.5**2]))
    assert model.linkage_matrix_[:, 3].tolist() == [4, 5]


def test_rows_of_no_weight_leave_the_graph():
    path = np.diag(np.ones(3), 1)
    X, weight = [[0.0], [9.0], [1.0], [5.0]], [1, 0, 1, 1]
    loose = path.copy()
    loose[0, 2] = 1.0
    model = AgglomerativeClustering(2, connectivity=loose).fit(X, sample_weight=weight)
    assert model.labels_.tolist() == [0, 1, 0, 1] and model.n_leaves_ == 3
    seen = []
    AgglomerativeClustering(2, connectivity=lambda Z: seen.append(len(Z)) or np.ones((len(Z), len(Z)))).fit(
        X, sample_weight=weight
    )
    assert seen == [3]
    with pytest.raises(DataError, match=r"shape \(4, 4\); it has \(3, 3\)"):
        AgglomerativeClustering(2, connectivity=np.ones((3, 3))).fit(X)
    with pytest.warns(UserWarning, match="2 components"):
        parted = AgglomerativeClustering(2, connectivity=path).fit(X, sample_weight=weight)
    assert parted.n_connected_components_ == 2 and parted.labels_.tolist() == [0, 1, 0, 1]


def test_cuts_of_a_tree_by_hand():
    Z = linkage(LINE)  # heights 1, 2 and 4
    assert [cut_tree(Z, k).tolist() for k in (1, 2, 3, 4)] == [
        [0] * 4,
        [0, 0, 0, 1],
        [0, 0, 1, 2],
        [0, 1, 2, 3],
    ]
    assert cut_tree(Z, height=2.0).tolist() == [0, 0, 0, 1] and cut_tree(Z, height=0.9).tolist() == [
        0,
        1,
        2,
        3,
    ]
    for arguments in ({}, {"n_clusters": 2, "height": 1.0}):
        with pytest.raises(DataError, match="one of n_clusters and height"):
            cut_tree(Z, **arguments)
    for k in (0, 5):
        with pytest.raises(DataError, match="between 1 and the number of rows, 4"):
            cut_tree(Z, k)
    with pytest.raises(DataError, match="more clusters than samples: 5 of 4"):
        AgglomerativeClustering(5).fit(LINE)
    with pytest.raises(ValueError, match="Exactly one"):
        AgglomerativeClustering(2, distance_threshold=1.0).fit(LINE)
    with pytest.raises(DataError, match="compute_full_tree"):
        AgglomerativeClustering(None, distance_threshold=1.0, compute_full_tree=False).fit(LINE)
    whole = AgglomerativeClustering(None, distance_threshold=1.0, linkage="single").fit(LINE)
    assert whole.n_clusters_ == 4  # a merge at the threshold is not made


def test_scaling_that_has_no_end():
    triangular = [[1.0, 1.0], [1.0, 0.0]]
    slow = sinkhorn(triangular, max_iter=50)
    assert (
        not slow.converged
        and slow.reason == "slow: no total support"
        and slow.n_iter == len(slow.trace) == 50
    )
    never = sinkhorn([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], max_iter=50)
    assert never.reason == "K has no support: its permanent is zero"
    near = sinkhorn([[1.0, 0.5], [0.5, 1.0]], "l1")
    assert near.matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]] and near.converged and near.deviation == 0
    with pytest.raises(DataError, match="row 1 of K is zero"):
        sinkhorn([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(DataError, match="not one of entropy, l1"):
        sinkhorn([[1.0]], "L1")
    assert permanent([[3.0]]) == 3.0 and permanent(np.ones((4, 4))) == 24.0
    for wrong in (np.ones((2, 3)), np.ones((23, 23))):
        with pytest.raises(DataError, match="square matrix of at most 22"):
            permanent(wrong)


def test_sizes_of_coded_rows_by_hand():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [100.0, 0.0], [100.0, 2.0], [50.0, 1.0]])
    model = VectorQuantizer(3, random_state=0, n_init=5).fit(X)
    assert model.distortion_ == pytest.approx(4.0) and len(model.codebook_) == 3
    assert model.bits() == 5 * 2 + 8 * 3 * 2 and model.bits(False, True) == pytest.approx(5 * np.log2(3))
    assert model.bits(n_units=100) == 200 + 48 and model.ratio_ == pytest.approx(58 / 80)
    assert model.psnr(X) == pytest.approx(10 * np.log10(255**2 / 0.4))
    assert_allclose(model.transform(X)[:2], [[0, 1], [0, 1]])
    exact = VectorQuantizer(5).fit(X)
    assert exact.distortion_ == 0.0 and exact.psnr(X) == np.inf and len(exact.codebook_) == 5
    assert VectorQuantizer(4, random_state=0).fit(X, sample_weight=[1, 1, 1, 1, 0]).distortion_ == 0.0
    with pytest.raises(DataError, match="two or three dimensions; X has 4"):
        VectorQuantizer(2, patch_shape=(1, 1)).fit(np.zeros((2, 2, 2, 2)))


def test_counts_of_codewords_by_hand():
    songs = [np.array([[0.0], [0.0], [9.0]]), np.array([[9.0]])]
    model = CodewordHistogram(2, normalize=True, random_state=0).fit(songs)
    quiet = int(model.codebook_.argmin())
    assert_allclose(model.transform(songs)[:, quiet], [2 / 3, 0.0])
    assert_allclose(model.transform(songs).sum(axis=1), 1.0)
    assert model.discretize([[1.0], [8.0]]).tolist() == [quiet, 1 - quiet]
    with pytest.raises(DataError, match="2 columns, and the codebook has 1"):
        model.discretize([[1.0, 2.0]])
    with pytest.raises(DataError, match=r"same columns; they have \[1, 2\]"):
        model.fit([np.zeros((2, 1)), np.zeros((2, 2))])
    with pytest.raises(DataError, match="no sequences"):
        model.fit([])


def test_columns_of_clusters_by_hand():
    X, centers = np.array([[0.0], [4.0], [1.0]]), np.array([[0.0], [4.0]])
    two = KMeans(2, init=centers, max_iter=1)

    def columns(kind, clusterer=two, **more):
        return ClusterFeatures(clusterer, kind=kind, **more).fit(X[:2]).transform(X)

    assert_allclose(columns("indicator"), [[1, 0], [0, 1], [1, 0]])
    assert_allclose(columns("distance"), [[0, 4], [4, 0], [1, 3]])
    assert_allclose(columns("squared_distance"), [[0, 16], [16, 0], [1, 9]])
    assert_allclose(columns("relative_distance"), [[0, 1], [1, 0], [0.25, 0.75]])
    assert_allclose(columns("soft")[2], np.exp([-1.0, -9.0]) / np.exp([-1.0, -9.0]).sum())
    assert_allclose(columns("distance", append=True), [[0, 0, 4], [4, 4, 0], [1, 1, 3]])
    soft = SoftKMeans(2, init=centers, stiffness=0.5)
    fitted = ClusterFeatures(soft, kind="soft").fit(X)
    assert_allclose(fitted.transform(X), fitted.clusterer_.predict_proba(X))
    same = ClusterFeatures(KMeans(1, init=[[5.0]], max_iter=1), kind="relative_distance").fit([[5.0], [5.0]])
    assert same.transform([[5.0], [7.0]]).tolist() == [[1.0], [1.0]]
    heavy = ClusterFeatures(KMeans(1), kind="distance").fit(X[:2], sample_weight=[3, 1])
    assert_allclose(heavy.transform([[1.0]]), [[0.0]])  # the mean of three zeros and a four
    names = ClusterFeatures(two, append=True).fit(X[:2]).get_feature_names_out()
    assert names.tolist() == ["x0", "cluster0", "cluster1"]


def test_costs_with_weights_by_hand():
    X, labels = [[0.0], [1.0], [5.0], [7.0]], ["a", "a", "b", "b"]
    weight = [1.0, 3.0, 1.0, 0.0]
    found = distortion(X, labels, sample_weight=weight)
    assert_allclose(found.clusters, [0.75, 0.0]) and found.total == pytest.approx(0.75)
    pairs = distortion(X, labels, "pairwise", metric="euclidean", sample_weight=weight)
    assert pairs.clusters.tolist() == [3.0, 0.0]  # one row against three copies
    widest = distortion(X, labels, "diameter", metric="euclidean", sample_weight=weight)
    assert widest.clusters.tolist() == [1.0, 0.0] and widest.total == 1.0
    assert distortion(X, labels, "diameter", metric="euclidean").total == 2.0
    medoid = distortion([[0.0], [1.0], [5.0]], [0, 0, 0], metric="euclidean", sample_weight=[1, 1, 4])
    assert medoid.total == 9.0  # from 5: one row at 5 and one at 4
    with pytest.raises(DataError, match="labels has 3 entries for 4 rows"):
        distortion(X, [0, 0, 1])
    with pytest.raises(DataError, match="not one of centroid"):
        distortion(X, labels, "radius")
    with pytest.raises(DataError, match="3 columns"):
        voronoi_cells(np.zeros((2, 3)), (0, 1, 0, 1))
    assert len(voronoi_cells([[0.0, 0.0], [9.0, 0.0]], (-1, 1, -1, 1))[1]) == 0


def test_cuts_that_are_refused_and_trivial_ones():
    W = np.array([[0, 3.0, 0, 0], [3.0, 0, 1.0, 0], [0, 1.0, 0, 3.0], [0, 0, 3.0, 0]])
    assert min_cut(W).value == 1.0 and min_cut(W).labels.tolist() == [0, 0, 1, 1]
    assert min_cut([[5.0]]).value == 0.0
    found = min_cut(W, 1, 3)
    assert (
        found.value == 1.0 and found.labels.tolist() == [0, 0, 1, 1] and found.source_side.tolist() == [0, 1]
    )
    assert_allclose(found.flow[1], [0, 0, 1, 0])
    assert_array_equal(found.flow, -found.flow.T)
    for s, t in ((0, None), (None, 1)):
        with pytest.raises(DataError, match="both s and t"):
            min_cut(W, s, t)
    for s, t in ((0, 0), (-1, 2), (0, 4)):
        with pytest.raises(DataError, match="two different nodes of the 4"):
            min_cut(W, s, t)
    with pytest.raises(DataError, match="square matrix without negative"):
        min_cut(-W, 0, 1)
    uneven = balanced_min_cut(W, sizes=[1, 3])
    assert uneven.value == 3.0 and sorted(np.bincount(uneven.labels)) == [1, 3] and uneven.bound <= 3.0
    assert balanced_min_cut(W, 1).value == 0.0 and balanced_min_cut(W, 4).value == 7.0
    assert balanced_min_cut(W, method="swap").value == 1.0
    for arguments, words in (
        ({"n_clusters": 5}, "between 1 and"),
        ({"n_clusters": 0}, "between 1 and"),
        ({"sizes": [1, 2]}, "sum to the number"),
        ({"sizes": [0, 4]}, "must be positive"),
        ({"method": "exakt"}, "not one of auto"),
    ):
        with pytest.raises(DataError, match=words):
            balanced_min_cut(W, **arguments)
    with pytest.raises(DataError, match="up to 24 nodes"):
        balanced_min_cut(np.ones((25, 25)), method="exact")


def test_medoids_of_distances_by_hand():
    D = np.abs(LINE - LINE.T)
    for method in ("fasterpam", "pam", "alternate"):
        model = KMedoids(2, metric="precomputed", method=method, init=[1, 3]).fit(D)
        assert model.medoid_indices_.tolist() == [1, 3] and model.inertia_ == 3.0
        assert model.labels_.tolist() == [0, 0, 0, 1] and model.n_swaps_ == 0
        # the best swap: 7 stays, and 0 or 3 instead of 1 costs 1 or 2 more
        assert model.swap_gain_ == pytest.approx(1.0)
        assert model.transform(D).tolist() == D[:, [1, 3]].tolist()
    heavy = KMedoids(1, metric="precomputed").fit(D, sample_weight=[1, 1, 5, 1])
    assert heavy.medoid_indices_.tolist() == [2] and heavy.inertia_ == 9.0
    for init in ([0, 0], [0, 4], [-1, 0], [0]):
        with pytest.raises(DataError, match="2 different row numbers"):
            KMedoids(2, metric="precomputed", init=init).fit(D)
    with pytest.raises(DataError, match="must be a square matrix"):
        KMedoids(2, metric="precomputed").fit(D[:3])
    with pytest.raises(DataError, match="negative diagonal"):
        KMedoids(2, metric="precomputed").fit(D - np.eye(4))
    with pytest.raises(DataError, match="n_samples=4 should be >= n_clusters=5"):
        KMedoids(5).fit(LINE)
    own = KMedoids(2, metric=lambda a, b: abs(a[0] - b[0]), init=[1, 3]).fit(LINE)
    assert own.transform([[2.0]]).tolist() == [[1.0, 5.0]] and own.predict([[5.0]]).tolist() == [1]


def test_centers_of_other_distances_by_hand():
    X = np.array([[1.0, 2.0], [1.0, 3.0], [2.0, 3.0], [2.0, 2.0]])
    modes = KRepresentatives(1, distance="hamming", init=[[0.0, 0.0]]).fit(X)
    assert modes.cluster_centers_.tolist() == [[1.0, 2.0]]  # of equals the lowest
    heavy = KRepresentatives(1, distance="hamming", init=[[0.0, 0.0]]).fit(X, sample_weight=[1, 1, 2, 1])
    assert heavy.cluster_centers_.tolist() == [[2.0, 3.0]]
    turned = KRepresentatives(1, distance="cosine", init=[[1.0, 0.0]]).fit([[2.0, 0.0], [0.0, 7.0]])
    assert_allclose(turned.cluster_centers_, [[np.sqrt(0.5)] * 2])
    opposite = KRepresentatives(1, distance="cosine", init=[[1.0, 0.0]]).fit([[2.0, 0.0], [-3.0, 0.0]])
    assert opposite.cluster_centers_.tolist() == [[1.0, 0.0]]  # directions that cancel leave it where it was
    shares = KRepresentatives(1, distance="kl", init=[[0.5, 0.5]]).fit([[1.0, 0.0], [0.5, 0.5]])
    assert_allclose(shares.cluster_centers_, [[0.75, 0.25]])
    assert_allclose(shares.inertia_, np.log(4 / 3) + 0.5 * np.log(2 / 3) + 0.5 * np.log(2))
    assert shares.transform([[0.75, 0.25]])[0, 0] == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(DataError, match="negative entries"):
        KRepresentatives(1, distance="kl").fit([[-1.0, 2.0]])
    with pytest.raises(DataError, match="use KMedoids"):
        KRepresentatives(1, distance=lambda X, C: np.abs(X - C.T)).fit(X[:, :1])
    with pytest.raises(DataError, match="should be >= n_clusters=5"):
        KRepresentatives(5).fit(X)
    with pytest.raises(DataError, match="does not match"):
        KRepresentatives(1, init=[[1.0]]).fit(X)


def test_soft_centers_that_meet_and_their_shares():
    with pytest.warns(UserWarning, match="two centers of SoftKMeans coincide"):
        SoftKMeans(2, stiffness=1e-3, init=[[0.0], [1.0]], max_iter=1000, tol=0.0).fit([[0.0], [1.0], [2.0]])
    model = SoftKMeans(2, stiffness=0.5, init=[[0.0], [4.0]], max_iter=1, tol=0.0).fit([[0.0], [4.0]])
    gap = np.diff(model.cluster_centers_.ravel())[0]
    assert_allclose(model.predict_proba([[2.0], [3.0]])[:, 1], [0.5, 1 / (1 + np.exp(-0.5 * 2 * gap))])
    assert model.labels_.tolist() == [0, 1] and model.predict([[1.0], [3.0]]).tolist() == [0, 1]
    assert_allclose(model.responsibilities_, model.predict_proba([[0.0], [4.0]]))
    for init in ([[0.0]], [[0.0, 1.0], [1.0, 2.0]]):
        with pytest.raises(DataError, match="does not match"):
            SoftKMeans(2, init=init).fit(LINE)
    with pytest.raises(DataError, match="should be >= n_clusters=5"):
        SoftKMeans(5).fit(LINE)


def test_numbers_of_clusters_that_are_refused():
    for ks in ([], [0, 1], [2, 2], [3, 2]):
        with pytest.raises(DataError, match="positive and ascending"):
            choose_k(LINE, ks)
    with pytest.raises(DataError, match="Did you mean 'elbow'"):
        choose_k(LINE, [1, 2], "elbo")
    with pytest.raises(DataError, match="not 'box', 'pca'"):
        choose_k(LINE, [1, 2], reference="ball")
    with pytest.raises(DataError, match="needs a mixture"):
        choose_k(LINE, [1, 2], "bic")
    one = choose_k(LINE, [1], "gap", random_state=0)
    assert one.best_k == 1 and len(one.scores) == len(one.errors) == 1


def test_kernel_clusters_with_weights_by_hand():
    X, weight = [[0.0], [1.0], [5.0]], [1.0, 3.0, 2.0]
    model = KernelKMeans(2, kernel="linear", init=[0, 0, 1]).fit(X, sample_weight=weight)
    assert model.labels_.tolist() == [0, 0, 1] and model.energy_ == pytest.approx(0.75)
    assert_allclose(model.sizes_, [4, 2])
    assert_allclose(model.within_, [0.75**2, 25.0])
    assert model.predict([[2.8], [2.9], [-9.0]]).tolist() == [0, 1, 0]  # the middle is 2.875
    moved = KernelKMeans(2, kernel="linear", init=[1, 0, 0]).fit(X, sample_weight=weight)
    assert moved.labels_.tolist() == [1, 1, 0] and moved.energy_ == pytest.approx(0.75)
    for init in ([0, 0, 2], [0, 0], [-1, 0, 0]):
        with pytest.raises(DataError, match=r"a label in 0\.\.1 for each of the 3 rows"):
            KernelKMeans(2, init=init).fit(X)
    with pytest.raises(DataError, match="n_samples=3 should be >= n_clusters=4"):
        KernelKMeans(4).fit(X)
    for K in ([[1.0, 0.5], [0.4, 1.0]], [[1.0, 0.5]]):
        with pytest.raises(ValueError, match="square"):
            KernelKMeans(1, kernel="precomputed").fit(K)


def test_laplacians_of_a_path_and_a_lonely_node_by_hand():
    W = np.array([[0.0, 2, 0, 0], [2, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
    half = np.sqrt(0.5)
    symmetric = [[1, -half, 0, 0], [-half, 1, -half, 0], [0, -half, 1, 0], [0, 0, 0, 1]]
    walk = [[1, -1, 0, 0], [-0.5, 1, -0.5, 0], [0, -1, 1, 0], [0, 0, 0, 1]]
    for form in (np.asarray, sparse.csr_array):
        found = [laplacian(form(W), kind) for kind in ("unnormalized", "symmetric", "random_walk")]
        found = [L.toarray() if sparse.issparse(L) else L for L in found]
        assert_allclose(found, [np.diag([2.0, 4, 2, 0]) - W, symmetric, walk])
    with pytest.raises(DataError, match="not one of unnormalized"):
        laplacian(W, "normalized")


def test_embeddings_of_two_pairs_by_hand():
    """Two pairs without an edge between them: two eigenvalues of one, and cuts that cost nothing."""
    W = np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 3, 0]])
    for assign in ("kmeans", "discretize", "cluster_qr"):
        with pytest.warns(UserWarning, match="the graph has 2 components"):
            model = SpectralClustering(2, affinity="precomputed", assign_labels=assign, random_state=0).fit(W)
        assert model.labels_.tolist() == [0, 0, 1, 1]
        assert model.cut_ == model.ratio_cut_ == model.normalized_cut_ == 0.0
        assert_allclose(model.eigenvalues_, [1, 1])
        assert model.relaxation_bound_ == pytest.approx(0, abs=1e-12) and model.eigen_residuals_.max() < 1e-12
    bridge = W.copy()
    bridge[1, 2] = bridge[2, 1] = 1.0
    model = SpectralClustering(2, affinity="precomputed", assign_labels="sign").fit(bridge)
    assert model.labels_.tolist() == [0, 0, 1, 1] and model.cut_ == 1.0
    assert model.ratio_cut_ == 1.0 and model.normalized_cut_ == pytest.approx(1 / 3 + 1 / 7)
    assert model.relaxation_bound_ <= model.normalized_cut_
    with pytest.raises(DataError, match="makes two clusters; n_clusters=3"):
        SpectralClustering(3, affinity="precomputed", assign_labels="sign").fit(bridge)
    with pytest.raises(DataError, match="should be >= n_clusters=5"):
        SpectralClustering(5, affinity="precomputed").fit(bridge)
    lengths = SpectralClustering(2, affinity="precomputed", row_scaling="unit", random_state=0).fit(bridge)
    assert_allclose((lengths.embedding_**2).sum(axis=1), 1.0)


def test_the_deviation_after_every_step_of_scaling_by_hand():
    K = np.array(
        [[4.0, 1.0], [1.0, 1.0]]
    )  # row sums 5 and 2: the first step makes 4/5 + 1/√10 and 1/2 + 1/√10
    found = sinkhorn(K, tol=1e-12)
    assert found.trace[0] == pytest.approx(0.5 - 1 / np.sqrt(10))
    assert found.converged and found.reason == "" and found.n_iter == len(found.trace) < 100
    assert found.deviation == found.trace[-1] <= 1e-12
    assert_allclose(found.matrix, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])  # the ratio of products, 4, stays
    even = sinkhorn([[1.0, 0.5], [0.5, 1.0]])
    assert even.n_iter == 1 and even.converged


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_statistics_with_weights_by_hand(form):
    model = KMeans(2, init=[[0.0, 0.0], [10.0, 0.0]], max_iter=1).fit([[0.0, 0.0], [10.0, 0.0]])
    X = form(np.array([[1.0, 2.0], [0.0, 3.0], [9.0, 1.0]]))
    found = model.sufficient_statistics(X, sample_weight=[2.0, 1.0, 3.0])
    assert found.weight.tolist() == [3.0, 3.0]
    assert found.sums.tolist() == [[2.0, 7.0], [27.0, 3.0]]
    assert found.squares.tolist() == [2 * 5 + 9, 3 * 82]


def test_light_rows_move_centers_to_their_mean_too():
    """Of a tenth and three tenths of a row the mean is the same as of one and three."""
    start = [[0.0], [10.0]]
    model = KMeans(2, init=start).partial_fit([[0.0], [10.0]], sample_weight=[0.1, 0.1])
    model.partial_fit([[4.0], [12.0], [12.0]], sample_weight=[0.3, 0.1, 0.1])
    assert_allclose(np.sort(model.cluster_centers_.ravel()), [3.0, 34 / 3])
    assert_allclose(model.counts_, [0.4, 0.3])
    assert model.labels_.tolist() == [0, 1, 1] and model.n_iter_ >= 2
    assert model.inertia_ == pytest.approx(0.3 * 1 + 0.2 * (12 - 34 / 3) ** 2)


def test_inversions_are_of_heights_alone():
    assert not has_inversions(linkage([[0.0], [100.0], [300.0]]))
    assert has_inversions(linkage(np.array([[0.0, 0.0], [200.0, 0.0], [100.0, 180.0]]), "centroid"))
    assert not has_inversions(linkage(np.array([[0.0, 0.0], [200.0, 0.0], [100.0, 180.0]]), "average"))
    assert not has_inversions(np.empty((0, 4)))


def test_tables_of_distances_to_the_nearest_are_square():
    near = SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=2)
    for shape in ((4, 3), (3, 4)):
        with pytest.raises(DataError, match=rf"square table; its shape is \({shape[0]}, {shape[1]}\)"):
            near.fit(np.ones(shape))
    with pytest.raises(DataError, match="row 1 has 1 distances"):
        near.fit(sparse.csr_array(np.array([[0.0, 1, 2], [1, 0, 0], [2, 1, 0]])))
