"""Options of clusterings: starts, stops, ways to measure and to cut, against peers and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster import hierarchy
from sklearn import cluster as peers
from sklearn.metrics import adjusted_rand_score

from gnomon import cluster

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
GROUP = np.arange(60) % 3
X = CENTERS[GROUP] + 0.5 * RNG.normal(size=(60, 2))
STARTS = ["k-means++", "farthest", "k-means-parallel", "random", "random_partition"]
FAMILY = [
    cluster.KMeans,
    cluster.MiniBatchKMeans,
    cluster.KMedians,
    cluster.KRepresentatives,
    cluster.SoftKMeans,
]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def labels_of(model):
    return model.labels_ if hasattr(model, "labels_") else model.predict(X)


@quiet
@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("cls", FAMILY, ids=[cls.__name__ for cls in FAMILY])
def test_every_start_finds_groups_that_lie_apart(cls, init):
    model = cls(3, init=init, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(labels_of(model), GROUP) == 1.0


@quiet
@pytest.mark.parametrize("cls", [cls for cls in FAMILY if cls is not cluster.MiniBatchKMeans], ids=str)
def test_starts_are_what_their_names_say(cls):
    def first(init, seed=0, k=3):
        return next(iter(cls(k, init=init, n_init=1, random_state=seed).iterate(X))).cluster_centers_

    far = first("farthest")
    assert len({tuple(center) for center in far.round(1)}) == 3
    assert (first("random", 0) != first("random", 1)).any()
    whole = X.mean(axis=0) if cls in (cluster.KMeans, cluster.SoftKMeans) else np.median(X, axis=0)
    spread = np.abs(first("random_partition") - whole).max()
    assert spread < 6.0


@quiet
@pytest.mark.parametrize("cls", FAMILY, ids=[cls.__name__ for cls in FAMILY])
def test_more_starts_and_fewer_steps(cls):
    Z = RNG.random((80, 2))

    def cost(**options):
        model = cls(7, init="random", **options).fit(Z)
        d = np.abs(Z[:, None] - model.cluster_centers_).sum(axis=2)
        e = ((Z[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
        return (d if cls in (cluster.KMedians, cluster.KRepresentatives) else e).min(axis=1).sum()

    ones, tens = ([cost(n_init=n, random_state=s) for s in range(5)] for n in (1, 10))
    assert np.mean(tens) <= np.mean(ones)
    if cls is cluster.MiniBatchKMeans:
        return
    for steps in (1, 3):
        assert cls(7, max_iter=steps, tol=0.0, random_state=0, init="random").fit(Z).n_iter_ <= steps
    loose = cls(7, tol=1e9, random_state=0, init="random").fit(Z)
    tight = cls(7, tol=0.0, random_state=0, init="random").fit(Z)
    assert loose.n_iter_ < tight.n_iter_ and loose.n_iter_ <= 2


def test_trials_of_a_seed_take_the_best():
    many, one = (
        [
            cluster.KMeans(3, n_init=1, max_iter=1, n_local_trials=n, random_state=s).fit(X).inertia_
            for s in range(20)
        ]
        for n in (20, 1)
    )
    assert np.mean(many) < np.mean(one)


def test_centers_by_a_rule_of_ones_own():
    def least(rows, weight):
        return np.average(rows, axis=0, weights=weight)

    def far(rows, centers):
        return ((rows[:, None] - centers) ** 2).sum(axis=2)

    ours = cluster.KRepresentatives(3, distance=far, center=least, init=CENTERS).fit(X)
    means = cluster.KMeans(3, init=CENTERS, n_init=1).fit(X)
    assert_allclose(ours.cluster_centers_, means.cluster_centers_, rtol=1e-9)


def test_seeds_of_few_rows_and_labels_left_out():
    without = cluster.MiniBatchKMeans(3, compute_labels=False, random_state=0).fit(X)
    with_labels = cluster.MiniBatchKMeans(3, random_state=0).fit(X)
    assert not hasattr(without, "labels_") and hasattr(with_labels, "labels_")
    assert_allclose(without.cluster_centers_, with_labels.cluster_centers_)
    few = [
        cluster.MiniBatchKMeans(3, init_size=4, n_init=1, max_iter=1, random_state=s).fit(X) for s in range(3)
    ]
    all_rows = [
        cluster.MiniBatchKMeans(3, init_size=60, n_init=1, max_iter=1, random_state=s).fit(X)
        for s in range(3)
    ]
    assert any((a.cluster_centers_ != b.cluster_centers_).any() for a, b in zip(few, all_rows, strict=True))


@pytest.mark.parametrize(
    "linkage", ["single", "complete", "average", "weighted", "centroid", "median", "ward"]
)
def test_linkages_as_in_scipy(linkage):
    Z = RNG.random((25, 3))
    ours = cluster.AgglomerativeClustering(4, linkage=linkage).fit(Z)
    theirs = hierarchy.linkage(Z, linkage)
    assert_allclose(ours.distances_, theirs[:, 2], rtol=1e-9)
    expected = hierarchy.cut_tree(theirs, 4)[:, 0] if linkage not in ("centroid", "median") else None
    if expected is not None:
        assert adjusted_rand_score(ours.labels_, expected) == 1.0
    other = cluster.AgglomerativeClustering(4, linkage=linkage, memory="nowhere").fit(Z)
    np.testing.assert_array_equal(other.labels_, ours.labels_)


def test_medoids_stop_after_so_many_passes():
    Z = RNG.random((60, 2))
    short = cluster.KMedoids(6, init="random", max_iter=1, method="pam", random_state=0)
    short.fit(Z)
    long = cluster.KMedoids(6, init="random", method="pam", random_state=0).fit(Z)
    assert short.n_iter_ == 1 and long.n_iter_ > 1 and long.inertia_ < short.inertia_


def test_histograms_of_codes_and_starts_of_codebooks():
    songs = [X[:10], X[10:16], X[16:40]]
    counts = cluster.CodewordHistogram(3, random_state=0).fit(songs).transform(songs)
    shares = cluster.CodewordHistogram(3, normalize=True, random_state=0).fit(songs).transform(songs)
    assert counts.sum(axis=1).tolist() == [10, 6, 24]
    assert_allclose(shares, counts / counts.sum(axis=1, keepdims=True))
    picture = RNG.integers(0, 256, (12, 12))
    few, many = (
        [cluster.VectorQuantizer(6, n_init=n, random_state=s).fit(picture).distortion_ for s in range(6)]
        for n in (1, 10)
    )
    assert np.mean(many) <= np.mean(few)


def test_eigenvectors_of_a_spectral_clustering():
    model = cluster.SpectralClustering(3, n_components=5, gamma=0.5, random_state=0, n_init=3).fit(X)
    other = cluster.SpectralClustering(
        3, n_components=5, gamma=0.5, random_state=0, n_init=3, eigen_solver="arpack", eigen_tol=0.1
    ).fit(X)
    assert model.embedding_.shape == (60, 5) and (other.labels_ == model.labels_).all()
    default = cluster.SpectralClustering(3, gamma=0.5, random_state=0).fit(X)
    assert default.embedding_.shape == (60, 3)
    assert_allclose(default.eigenvalues_, model.eigenvalues_[:3], atol=1e-9)


@pytest.mark.parametrize(
    ("affinity", "formula"),
    [
        ("poly", lambda a, b: (0.7 * (a @ b) + 0.5) ** 2),
        ("laplacian", lambda a, b: np.exp(-0.7 * np.abs(a - b).sum())),
        (lambda a, b, power: (a @ b + 1.0) ** power, lambda a, b: (a @ b + 1.0) ** 2),
    ],
    ids=["poly", "laplacian", "function"],
)
def test_similarities_by_a_kernel(affinity, formula):
    rows = np.abs(X)
    model = cluster.SpectralClustering(
        3, affinity=affinity, gamma=0.7, degree=2, coef0=0.5, random_state=0,
        kernel_params={"power": 2} if callable(affinity) else None,
    ).fit(rows)  # fmt: skip
    expected = np.array([[formula(a, b) for b in rows] for a in rows])
    found = model.affinity_matrix_
    off = ~np.eye(60, dtype=bool)
    assert_allclose(np.asarray(found)[off], expected[off], rtol=1e-9)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_heights_and_counts_of_a_tree_as_in_scikit_learn(linkage):
    X = np.random.default_rng(0).normal(size=(25, 3))
    ours = cluster.AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    theirs = peers.AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    assert_allclose(np.sort(ours.distances_), np.sort(theirs.distances_))
    assert ours.n_leaves_ == theirs.n_leaves_ == 25
    assert ours.n_connected_components_ == theirs.n_connected_components_ == 1


def test_too_few_rows_to_seed_from_are_raised():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(RuntimeWarning, match="init_size=10 should be at least n_clusters=20"):
        model = cluster.MiniBatchKMeans(20, init_size=10, random_state=0).fit(X)
    same = cluster.MiniBatchKMeans(20, init_size=60, random_state=0).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, same.cluster_centers_)


@pytest.mark.parametrize("seed", range(3))
def test_five_rounds_draw_about_two_rows_for_each_cluster(seed, monkeypatch):
    from gnomon.cluster import seeding

    drawn, choose = [], seeding.plus_plus

    def count(sample, k, rng):
        drawn.append(len(sample.X))
        return choose(sample, k, rng)

    monkeypatch.setattr(seeding, "plus_plus", count)
    X = np.random.default_rng(seed).normal(size=(3000, 2))
    cluster.KMeans(20, init="k-means-parallel", n_init=1, max_iter=1, random_state=seed).fit(X)
    assert len(drawn) == 1 and abs(drawn[0] - 201) < 60  # the first, and five times forty; four deviations


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_a_round_draws_about_two_rows_for_each_cluster(rounds, monkeypatch):
    from gnomon.cluster import seeding
    from gnomon.cluster.frame import frame_of
    from gnomon.core.rows import MemoryRows

    drawn, choose = [], seeding.plus_plus

    def count(sample, k, rng):
        drawn.append(len(sample.X))
        return choose(sample, k, rng)

    monkeypatch.setattr(seeding, "plus_plus", count)
    rows = MemoryRows(np.random.default_rng(0).normal(size=(3000, 2)))
    sample = seeding.Sample(rows.X, rows.weight, frame_of(rows))
    found = seeding.parallel(sample, 20, np.random.default_rng(0), rounds)
    mean = 40 * rounds  # beside the first row; the variance is at most the mean
    assert len(drawn) == 1 and abs(drawn[0] - 1 - mean) < 3 * np.sqrt(mean)
    np.testing.assert_array_equal(found.centers, rows.X[found.rows])


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_an_embedding_count_by_their_directions_alone(seed):
    from gnomon.cluster.rotations import discretize

    rng = np.random.default_rng(seed)
    E = np.eye(3)[rng.integers(0, 3, 60)] + 0.45 * rng.normal(size=(60, 3))
    lengths = 10.0 ** rng.uniform(-3, 3, (60, 1))
    labels = discretize(E, np.random.default_rng(1))
    assert discretize(E * lengths, np.random.default_rng(1)).tolist() == labels.tolist()
    unit = E / np.linalg.norm(E, axis=1, keepdims=True)
    U, S, Vt = np.linalg.svd(
        np.eye(3)[labels].T @ unit
    )  # the best rotation to these labels says the same labels
    assert (unit @ (Vt.T @ U.T)).argmax(axis=1).tolist() == labels.tolist()


@pytest.mark.parametrize("append", [False, True])
def test_features_of_clusters_by_hand(append):
    rows = np.array([[0.0, 0.0], [3.0, 4.0], [8.0, 1.0], [40.0, 0.0]])
    D = np.sqrt(((rows[:, None] - CENTERS) ** 2).sum(axis=2))
    soft = np.exp(-(D**2 - (D**2).min(axis=1, keepdims=True)))
    wanted = {
        "indicator": np.eye(3)[D.argmin(axis=1)], "distance": D, "squared_distance": D**2,
        "relative_distance": D / D.sum(axis=1, keepdims=True), "soft": soft / soft.sum(axis=1, keepdims=True),
    }  # fmt: skip
    for kind, columns in wanted.items():
        inner = cluster.KMeans(3, init=CENTERS, max_iter=1)
        model = cluster.ClusterFeatures(inner, kind=kind, append=append).fit(CENTERS)
        assert_allclose(model.transform(rows), np.hstack([rows, columns]) if append else columns, atol=1e-12)
    same = cluster.ClusterFeatures(cluster.KMeans(1), kind="relative_distance").fit(np.ones((3, 2)))
    assert_allclose(same.transform(np.ones((2, 2))), 1.0)


@pytest.mark.parametrize("include_self", [True, False])
def test_similarities_of_graphs_by_hand(include_self):
    rows = np.array([[0.0], [1.0], [1.5], [4.0]])
    D = np.abs(rows - rows.T)
    assert_allclose(cluster.affinity(rows, gamma=0.7), np.exp(-0.7 * D**2))
    near = D <= 1.0
    np.fill_diagonal(near, include_self)
    assert_allclose(cluster.affinity(rows, "epsilon", include_self=include_self).toarray(), near)
    to = np.zeros((4, 4))
    for i, row in enumerate(D + (0 if include_self else np.diag([np.inf] * 4))):
        to[i, np.argsort(row)[:2]] = 1.0
    for kind, wanted in (("nearest_neighbors", (to + to.T) / 2), ("mutual_neighbors", np.minimum(to, to.T))):
        found = cluster.affinity(rows, kind, n_neighbors=2, include_self=include_self)
        assert_allclose(found.toarray(), wanted)


def test_rows_of_no_weight_are_no_start_of_a_cluster():
    """A far row of no weight would be drawn first by its distance alone, and part nothing."""
    rows = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [300.0]])
    weight = np.array([1.0, 1, 1, 1, 1, 1, 0])
    for seed in range(10):
        model = cluster.KernelKMeans(2, kernel="linear", n_init=1, random_state=seed).fit(
            rows, sample_weight=weight
        )
        assert len(set(model.labels_[:3])) == len(set(model.labels_[3:6])) == 1
        assert model.labels_[0] != model.labels_[3] and model.energy_ == pytest.approx(4 * 0.01)
