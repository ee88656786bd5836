"""Soft, kernel, mini-batch and other relatives of k-means; features, codebooks, how many clusters."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import rel_entr
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from gnomon.cluster import (
    ClusterFeatures,
    CodewordHistogram,
    KernelKMeans,
    KMeans,
    KMedians,
    KRepresentatives,
    MiniBatchKMeans,
    SoftKMeans,
    VectorQuantizer,
    choose_k,
    distortion,
    voronoi_cells,
)
from gnomon.cluster.kernel import distances
from gnomon.cluster.quantize import coded_bits
from gnomon.cluster.representatives import divergence
from gnomon.core.errors import DataError

FIVE = np.array([[0.0], [1.0], [2.0], [4.0], [5.0]])
LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
FOUR = np.array([[0.0], [1.0], [4.0], [5.0]])


def blobs(n=300, d=2, k=3, seed=0, apart=6.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] * apart + rng.normal(size=(n, d))


# soft k-means


def test_soft_kmeans_by_hand():
    models = list(SoftKMeans(2, stiffness=0.5, init=[[1.0], [2.0]], tol=0, max_iter=3).iterate(FIVE))
    r = models[0].predict_proba(FIVE)[:, 0]
    np.testing.assert_allclose(r, [0.8175745, 0.6224593, 0.3775407, 0.0758582, 0.0293122], atol=1e-7)
    np.testing.assert_allclose(models[1].cluster_centers_.ravel(), [0.9504821, 3.3056945], atol=1e-7)
    np.testing.assert_allclose(models[2].cluster_centers_.ravel(), [0.8498123, 3.9699703], atol=1e-7)
    np.testing.assert_allclose(models[3].trace_.objective, [5.7417926, 2.0387011, 1.2991626], atol=1e-7)
    end = SoftKMeans(2, stiffness=0.5, init=[[1.0], [2.0]], tol=1e-14).fit(FIVE)
    np.testing.assert_allclose(end.cluster_centers_.ravel(), [0.9820548, 4.3915793], atol=1e-6)
    assert end.free_energy_ == pytest.approx(1.1554689, abs=1e-7)


def test_soft_kmeans_free_energy_falls_and_rows_sum_to_one():
    X = blobs()
    model = SoftKMeans(4, stiffness=0.3, random_state=0).fit(X)
    assert (np.diff(model.trace_.objective) <= 1e-9).all()
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1)


def test_soft_kmeans_at_small_stiffness_merges_all_centers():
    with pytest.warns(UserWarning, match="coincide"):
        model = SoftKMeans(2, stiffness=0.02, init=[[1.0], [2.0]], tol=1e-16, max_iter=5000).fit(FIVE)
    np.testing.assert_allclose(model.cluster_centers_, 2.4, atol=1e-5)
    np.testing.assert_allclose(model.responsibilities_, 0.5, atol=1e-5)


def test_soft_kmeans_at_large_stiffness_is_kmeans():
    X = blobs()
    hard = KMeans(3, init=X[:3].copy(), tol=0).fit(X)
    soft = SoftKMeans(3, init=X[:3].copy(), stiffness=200.0, tol=0, max_iter=100).fit(X)
    np.testing.assert_array_equal(hard.labels_, soft.labels_)


# kernel k-means


def energy_of(K, labels):
    """Return the energy of a labeling and the distances of all rows to its clusters."""
    D, sizes, within = distances(K, np.array(labels), np.ones(len(K)), 2, np.diagonal(K))
    return np.trace(K) - sizes @ within, D


def test_kernel_energy_by_hand():
    K = np.exp(-((FOUR - FOUR.T) ** 2))
    energy, D = energy_of(K, [0, 0, 1, 1])
    assert energy == pytest.approx(1.2642411, abs=1e-7)
    np.testing.assert_allclose(D[1], [0.3160603, 1.6838162], atol=1e-7)
    assert energy_of(K, [0, 1, 1, 1])[0] == pytest.approx(1.7546647, abs=1e-7)
    assert energy_of(FOUR @ FOUR.T, [0, 0, 1, 1])[0] == pytest.approx(1)
    assert energy_of(FOUR @ FOUR.T, [0, 1, 1, 1])[0] == pytest.approx(8.6666667, abs=1e-7)
    assert KernelKMeans(2, gamma=1.0, init=[0, 0, 1, 1]).fit(FOUR).energy_ == pytest.approx(
        1.2642411, abs=1e-7
    )


def test_linear_kernel_is_kmeans():
    X = blobs(200, 3, 4)
    labels = np.arange(200) % 4
    plain = KMeans(4, init=labels, tol=0).fit(X)
    kernel = KernelKMeans(4, kernel="linear", init=labels).fit(X)
    np.testing.assert_array_equal(plain.labels_, kernel.labels_)
    assert kernel.energy_ == pytest.approx(plain.inertia_)
    assert (np.diff(kernel.trace_.objective) <= 1e-9).all()
    np.testing.assert_array_equal(kernel.predict(X), kernel.labels_)


def test_indefinite_kernel_is_shifted():
    K = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    model = KernelKMeans(2, kernel="precomputed", random_state=0).fit(K)
    assert model.shift_ == pytest.approx(-np.linalg.eigvalsh(K)[0])
    assert (np.diff(model.trace_.objective) <= 1e-9).all()


def test_rings_fall_apart_under_an_rbf_kernel():
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    X = np.vstack([np.c_[np.cos(t), np.sin(t)] * 0.3, np.c_[np.cos(t), np.sin(t)] * 5])
    model = KernelKMeans(2, gamma=0.5, n_init=20, random_state=0).fit(X)
    assert len(set(model.labels_[:60])) == 1


# any distance with its own center


def test_kmedians_by_hand():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [10, 10], [10, 12], [100, 10]])
    model = KMedians(2, init=X[[0, 3]]).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[0, 0], [10, 10]])
    assert model.inertia_ == 94


@pytest.mark.parametrize("distance", ["l1", "sqeuclidean", "cosine", "hamming", "kl"])
def test_representatives_never_get_worse(distance):
    rng = np.random.default_rng(0)
    X = (
        rng.dirichlet(np.ones(4), size=120)
        if distance != "hamming"
        else rng.integers(0, 3, size=(120, 4)).astype(float)
    )
    model = KRepresentatives(4, distance=distance, init="random", random_state=0).fit(X)
    assert (np.diff(model.trace_.objective) <= 1e-9).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_relative_entropies_to_centers():
    """D(x‖c) = Σ x ln(x/c): zero at itself, infinite where the center has no mass."""
    X = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    centers = np.array([[0.4, 0.6, 0.0], [0.2, 0.3, 0.5]])
    expected = rel_entr(X[:, None], centers).sum(axis=2)
    assert expected[1, 1] == 0 and np.isinf(expected[1:, 0]).all() and expected[0].max() < np.inf
    np.testing.assert_allclose(divergence(X, centers), expected, atol=1e-15)


def test_l1_centers_are_medians():
    X = blobs(101, 3, 1)
    np.testing.assert_allclose(KMedians(1).fit(X).cluster_centers_[0], np.median(X, axis=0))


def test_a_distance_without_its_center_points_to_kmedoids():
    with pytest.raises(DataError, match="KMedoids"):
        KRepresentatives(2, distance=lambda X, C: np.zeros((len(X), len(C)))).fit(LINE)


# mini-batches


def test_minibatch_comes_close_to_kmeans():
    X = blobs(6000, 4, 8)
    full = min(KMeans(8, random_state=s).fit(X).inertia_ for s in range(3))
    batch = MiniBatchKMeans(8, random_state=0).fit(X)
    assert batch.inertia_ < 1.15 * full
    assert batch.n_steps_ >= 1
    np.testing.assert_array_equal(batch.predict(X), batch.labels_)


def test_a_center_that_no_row_has_come_to_stays_where_it_is():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    for rows in (X, csr_array(X)):
        model = MiniBatchKMeans(2, init=np.array([[1.0], [900.0]]), reassignment_ratio=0.0)
        model.partial_fit(rows)
        assert model.cluster_centers_.ravel().tolist() == [1.5, 900.0]
        model.partial_fit(rows * 0)
        assert model.cluster_centers_.ravel().tolist() == [0.75, 900.0]


def test_minibatch_partial_fit_learns():
    X = blobs(2000, 2, 3)
    model = MiniBatchKMeans(3, random_state=0)
    for start in range(0, 2000, 200):
        model.partial_fit(X[start : start + 200])
    assert -model.score(X) < 2 * KMeans(3, n_init=5, random_state=0).fit(X).inertia_


# costs and cells


def test_distortions_by_hand():
    X = np.array([[0.0], [1.0], [3.0]])
    labels = np.zeros(3)
    assert distortion(X, labels, "pairwise", metric="euclidean").total == 6
    assert distortion(X, labels, "pairwise").total == 14
    assert distortion(X, labels, "diameter", metric="euclidean").total == 3
    assert distortion(X, labels, "centroid").total == pytest.approx(14 / 3)


def test_pairs_cost_size_times_centroid():
    X = blobs(50, 3, 2)
    labels = np.arange(50) % 3
    pairs, centers = distortion(X, labels, "pairwise"), distortion(X, labels, "centroid")
    np.testing.assert_allclose(pairs.clusters, np.bincount(labels) * centers.clusters)


def test_cells_tile_the_box_and_hold_their_points():
    rng = np.random.default_rng(0)
    centers = rng.random((6, 2))
    cells = voronoi_cells(centers, (0, 1, 0, 1))
    area = [
        0.5 * abs(np.dot(c[:, 0], np.roll(c[:, 1], 1)) - np.dot(c[:, 1], np.roll(c[:, 0], 1))) for c in cells
    ]
    assert sum(area) == pytest.approx(1)
    for k, cell in enumerate(cells):
        inside = cell.mean(axis=0)
        assert ((centers - inside) ** 2).sum(axis=1).argmin() == k


# choosing k


def test_relative_drop_by_hand():
    found = choose_k(LINE, range(1, 7), "relative_drop", KMeans(algorithm="optimal_1d"))
    np.testing.assert_allclose(found.scores[1:5], [0.9740260, 0.375, 0.6, 0.5], atol=1e-7)
    assert found.best_k == 2 and np.isnan(found.scores[5])


def test_gap_by_hand():
    reference = np.linspace(0, 12, 6)[:, None]
    found = choose_k(LINE, [1, 2, 3], "gap", KMeans(algorithm="optimal_1d"), reference=[reference])
    np.testing.assert_allclose(found.scores, [-0.4238142, 1.7509375, 1.2401119], atol=1e-7)
    assert found.best_k == 2


def test_mdl_by_hand():
    found = choose_k(LINE, [1, 2, 3, 4], "mdl", KMeans(algorithm="optimal_1d"))
    np.testing.assert_allclose(found.scores, [20.0409701, 15.0396379, 17.3309290, 18.2833588], atol=1e-6)
    X = np.array([0, 0.5, 1, 5, 5.5, 6, 20, 20.5, 21])[:, None]
    found = choose_k(X, range(1, 6), "mdl", KMeans(algorithm="optimal_1d"))
    np.testing.assert_allclose(
        found.scores, [34.2369091, 29.4920403, 21.1867135, 23.9989113, 26.2810854], atol=1e-6
    )
    assert found.best_k == 3


def test_elbow_by_hand():
    """The depth below the chord from (1, ln J₁) to (5, ln J₅); six clusters cost nothing and are left out."""
    found = choose_k(LINE, range(1, 7), "elbow", KMeans(algorithm="optimal_1d"))
    J = found.costs
    assert J == pytest.approx([154, 4, 2.5, 1, 0.5, 0])
    chord = np.log(154) + np.log(0.5 / 154) * np.arange(5) / 4
    np.testing.assert_allclose(
        found.scores, [*((chord - np.log(J[:5])) / np.log(154 / 0.5)), np.nan], atol=1e-12
    )
    assert found.best_k == 2


def test_references_lie_along_the_axes_of_the_data():
    """On a line at 45°, points of the box fill a square: each coordinate has the line's whole variance, L²/12."""
    x = np.linspace(0.0, 1.0, 400)
    X = np.column_stack([x, x]) + [7.0, -3.0]
    gaps = {
        kind: choose_k(X, [1, 2], "gap", KMeans(n_init=1), reference=kind, random_state=0).scores
        for kind in ("box", "pca")
    }
    assert gaps["pca"] == pytest.approx([0.0, 0.0], abs=0.06)
    assert gaps["box"][0] == pytest.approx(0.0, abs=0.06) and gaps["box"][1] > 0.4
    with pytest.raises(DataError, match="not 'box', 'pca' or a list"):
        choose_k(X, [1, 2], "gap", reference="ball")


def test_errors_of_gaps_are_over_references():
    references = [np.linspace(0, top, 6)[:, None] for top in (6.0, 12.0, 30.0)]
    found = choose_k(LINE, [1, 2, 3], "gap", KMeans(algorithm="optimal_1d"), reference=references)
    single = [
        choose_k(LINE, [1, 2, 3], "gap", KMeans(algorithm="optimal_1d"), reference=[one]).scores
        for one in references
    ]
    np.testing.assert_allclose(found.scores, np.mean(single, axis=0))
    np.testing.assert_allclose(found.errors, np.std(single, axis=0) * np.sqrt(1 + 1 / 3))


def test_silhouettes_where_they_are_defined():
    from sklearn.metrics import silhouette_score

    found = choose_k(LINE, range(1, 7), "silhouette", KMeans(algorithm="optimal_1d"))
    assert np.isnan(found.scores[[0, 5]]).all() and found.best_k == 2
    assert found.scores[1] == pytest.approx(silhouette_score(LINE, [0, 0, 0, 1, 1, 1]))


def test_stability_is_agreement_and_for_mixtures_their_score():
    X = blobs(40, 2, 2, apart=12.0)
    found = choose_k(X, [1, 2], "stability", n_splits=3, random_state=0)
    assert np.isnan(found.scores[0]) and found.scores[1] == 1.0 and found.best_k == 2
    mixture = pytest.importorskip("gnomon.mixture").GaussianMixture(random_state=0)
    scores = choose_k(X, [1, 2], "stability", mixture, n_splits=3, random_state=0).scores
    assert np.isnan(scores[0]) and scores[1] == pytest.approx(
        mixture.set_params(n_components=2).fit(X).score(X), abs=0.5
    )


@pytest.mark.parametrize(
    ("k_values", "method", "options", "message"),
    [
        ([], "gap", {}, "positive and ascending"),
        ([2, 2], "gap", {}, "positive and ascending"),
        ([3, 2], "gap", {}, "positive and ascending"),
        ([0, 1], "gap", {}, "positive and ascending"),
        ([1, 2], "gab", {}, "Did you mean 'gap'"),
        ([1, 2], "bic", {}, "needs a mixture"),
        ([2], "downstream", {}, "needs y"),
        ([2], "downstream", {"y": [0, 0, 1, 1, 1, 1]}, "a classifier"),
        (
            [2],
            "downstream",
            {"y": [0, -1, 1, 1, -1, 1], "classifier": LogisticRegression()},
            "two labeled rows",
        ),
    ],
)
def test_what_does_not_choose_is_named(k_values, method, options, message):
    with pytest.raises(DataError, match=message):
        choose_k(LINE, k_values, method, **options)


@pytest.mark.parametrize("method", ["silhouette", "stability", "elbow"])
def test_well_separated_clusters_are_counted(method):
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])[rng.integers(3, size=150)] + rng.normal(
        size=(150, 2)
    )
    assert choose_k(X, [1, 2, 3, 4, 5], method, random_state=0).best_k == 3


def test_gap_finds_no_structure_in_uniform_points():
    chosen = []
    for seed in range(12):
        X = np.random.default_rng(seed).random((100, 2))
        chosen.append(choose_k(X, [1, 2, 3, 4], "gap", KMeans(n_init=3), random_state=seed).best_k)
    assert np.mean(np.array(chosen) == 1) >= 0.8


def test_downstream_counts_what_the_classifier_needs():
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0], [10, 10], [0, 10], [10, 0]])
    group = rng.integers(4, size=200)
    X = corners[group] + rng.normal(size=(200, 2))
    y = np.where(rng.random(200) < 0.4, (group >= 2).astype(int), -1)
    found = choose_k(X, [2, 3, 4, 6], "downstream", y=y, classifier=LogisticRegression(), random_state=0)
    assert found.best_k == 4 and found.scores[2] == 0


def test_bic_chooses_among_mixtures():
    mixture = pytest.importorskip("gnomon.mixture")
    X = blobs(300, 2, 2, apart=12.0)
    assert choose_k(X, [1, 2, 3], "bic", mixture.GaussianMixture(random_state=0)).best_k == 2


# codebooks


def test_coded_sizes_by_hand():
    assert coded_bits(1024 * 1024, 32, 0, False) == 5_242_880
    assert coded_bits(1024 * 1024, 32, 3, False) - 5_242_880 == 96 * 8
    units, original = 512 * 512, 1024 * 1024 * 8
    assert coded_bits(units, 200, 0, True) / original == pytest.approx(0.2388705, abs=1e-7)
    assert coded_bits(units, 4, 0, True) / original == pytest.approx(0.0625)


@pytest.mark.parametrize("patch", [None, (2, 2), (3, 2)])
def test_coding_twice_changes_nothing(patch):
    image = np.random.default_rng(0).integers(0, 256, size=(9, 7, 3)).astype(float)
    model = VectorQuantizer(5, patch_shape=patch, random_state=0).fit(image)
    once = model.transform(image)
    assert once.shape == image.shape
    if patch is None:
        np.testing.assert_array_equal(model.transform(once), once)
        assert model.distortion_ == pytest.approx(((image - once) ** 2).sum())
        assert model.psnr(image) == pytest.approx(10 * np.log10(255**2 / ((image - once) ** 2).mean()))


def test_patches_at_the_edge_repeat_it():
    image = np.array([[1.0, 1.0, 9.0], [1.0, 1.0, 9.0], [5.0, 5.0, 7.0]])
    model = VectorQuantizer(4, patch_shape=(2, 2)).fit(image)
    assert sorted(model.codebook_.tolist()) == [[1] * 4, [5] * 4, [7] * 4, [9] * 4]
    codes = model.encode(image)
    assert codes.shape == (2, 2) and len(set(codes.ravel().tolist())) == 4
    np.testing.assert_array_equal(model.decode(codes), image)
    assert model.decode(codes[:1]).shape == (2, 4, 1)  # of another picture
    assert model.decode(codes[0]).tolist() == model.codebook_[codes[0]].tolist()
    assert model.n_units_ == 4 and model.bits(False) == 8.0 and model.bits() == 8.0 + 8 * 4 * 4
    assert model.bits(False, True, n_units=10) == 20.0 and model.ratio_ == (8 + 128) / (8 * 4 * 4)
    with pytest.raises(DataError, match="two or three dimensions; X has 4"):
        VectorQuantizer(2, patch_shape=(2, 2)).fit(np.zeros((2, 2, 2, 2)))


def test_rows_of_no_weight_are_no_codes():
    X, w = np.array([[0.0], [1.0], [5.0]]), np.array([1.0, 2.0, 0.0])
    model = VectorQuantizer(2).fit(X, sample_weight=w)
    assert model.codebook_.tolist() == [[0.0], [1.0]] and model.distortion_ == 0.0
    one = VectorQuantizer(1).fit(X, sample_weight=w)
    assert one.codebook_[0, 0] == pytest.approx(2 / 3) and one.distortion_ == pytest.approx(2 / 3)


def test_enough_codes_lose_nothing():
    image = np.random.default_rng(0).integers(0, 3, size=(8, 8, 3)) * 100.0
    model = VectorQuantizer(27, random_state=0).fit(image)
    np.testing.assert_array_equal(model.transform(image), image)
    assert model.psnr(image) == np.inf


def test_codeword_counts():
    songs = [blobs(50, 3, 4, seed=s) for s in range(4)]
    model = CodewordHistogram(6, random_state=0).fit(songs)
    counts = model.transform(songs)
    np.testing.assert_array_equal(counts.sum(axis=1), 50)
    np.testing.assert_array_equal(np.bincount(model.discretize(songs[1]), minlength=6), counts[1])
    shares = CodewordHistogram(6, normalize=True, random_state=0).fit_transform([songs[0], songs[1][:7]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    for wrong, message in (
        ([], "no sequences"),
        ([songs[0], songs[0][:, :1]], "the same columns"),
        ([np.zeros((2, 2, 2))], "shape"),
    ):
        with pytest.raises(DataError, match=message):
            CodewordHistogram(6).fit(wrong)
    with pytest.raises(DataError, match="columns, and the codebook"):
        model.discretize(songs[0][:, :1])


# features


def test_features_by_hand():
    centers = KMeans(2, init=np.array([[0.0], [12.0]]))
    query = np.array([[0.0], [7.0]])
    make = {
        kind: ClusterFeatures(centers, kind=kind).fit(LINE).transform(query)
        for kind in ("indicator", "distance", "squared_distance", "relative_distance", "soft")
    }
    np.testing.assert_allclose(make["distance"], [[1, 11], [6, 4]])
    np.testing.assert_allclose(make["relative_distance"], [[0.0833333, 0.9166667], [0.6, 0.4]], atol=1e-7)
    np.testing.assert_allclose(make["indicator"], [[1, 0], [0, 1]])
    np.testing.assert_allclose(make["squared_distance"], [[1, 121], [36, 16]])
    np.testing.assert_allclose(make["soft"], [[1, 0], [1 / (1 + np.exp(20)), 1]], atol=1e-8)
    both = ClusterFeatures(centers, append=True).fit(LINE)
    assert both.transform(query).shape == (2, 3)
    assert both.get_feature_names_out().tolist() == ["x0", "cluster0", "cluster1"]
    np.testing.assert_array_equal(both.transform(query), [[0, 1, 0], [7, 0, 1]])
    same = ClusterFeatures(KMeans(1), kind="relative_distance").fit(np.ones((3, 1)))
    assert same.transform(np.ones((2, 1))).tolist() == [[1.0], [1.0]]


def test_kernel_kmeans_has_the_same_bits_on_any_number_of_blas_threads():
    X = np.random.default_rng(0).normal(size=(500, 40))
    found = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = KernelKMeans(5, gamma=0.01, n_init=2, random_state=0).fit(X)
            found.append((model.labels_, model.energy_, model.within_, model.predict(X)))
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)


def test_energy_is_of_the_kernel_that_was_given():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(30, 30))
    K, w = K + K.T, rng.integers(1, 4, 30).astype(float)
    model = KernelKMeans(2, kernel="precomputed", random_state=0).fit(K, sample_weight=w)
    energy = (w * np.diagonal(K)).sum()
    for k in range(2):
        own = np.flatnonzero(model.labels_ == k)
        energy -= w[own] @ K[np.ix_(own, own)] @ w[own] / w[own].sum()
    assert model.shift_ > 0 and model.energy_ == pytest.approx(energy)


def test_mini_batches_do_not_depend_on_the_unit_of_weights():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(80, 2)), rng.uniform(size=80)
    one, other = (
        MiniBatchKMeans(3, batch_size=20, random_state=0).fit(X, sample_weight=w)
        for w in (weight, weight / 4)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.cluster_centers_, other.cluster_centers_)
    twice = MiniBatchKMeans(3, batch_size=20, random_state=0).fit(np.repeat(X, 2, axis=0))
    same = MiniBatchKMeans(3, batch_size=20, random_state=0).fit(X, sample_weight=np.full(80, 2.0))
    np.testing.assert_allclose(same.cluster_centers_, twice.cluster_centers_)
