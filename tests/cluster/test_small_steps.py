"""Steps of clusterings on few rows: random partitions, medians over many steps, units of weights."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.cluster import (
    KernelKMeans,
    KMeans,
    KRepresentatives,
    MiniBatchKMeans,
    SoftKMeans,
    SpectralClustering,
    distortion,
    spectral_embedding,
)
from gnomon.cluster.graphs import neighbor_graph
from gnomon.cluster.rotations import cluster_qr, discretize

LINE = np.array([[0.0], [1], [2], [3], [4], [20], [21], [22], [30], [31]])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2)) + 4.0 * RNG.integers(0, 2, (40, 1))


def test_a_random_partition_into_single_rows_starts_at_the_rows():
    """As many parts as rows: no uniform partition fills them all, so every row is a part of its own."""
    for model in (KMeans, SoftKMeans):
        given = {"stiffness": 1e6} if model is SoftKMeans else {}
        found = model(10, init="random_partition", n_init=1, max_iter=1, random_state=0, **given).fit(LINE)
        assert_allclose(np.sort(found.cluster_centers_.ravel()), LINE.ravel(), atol=1e-9)


def test_medians_move_until_no_label_changes():
    steps = list(KRepresentatives(2, init=[[0.0], [1.0]], max_iter=50, tol=0).iterate(LINE))
    assert len(steps) > 3
    centers = np.array([[0.0], [1.0]])
    labels = np.abs(LINE - centers.T).argmin(axis=1)
    while True:  # the slow twin
        centers = np.array([[np.median(LINE[labels == k])] for k in range(2)])
        again = np.abs(LINE - centers.T).argmin(axis=1)
        if (again == labels).all():
            break
        labels = again
    model = KRepresentatives(2, init=[[0.0], [1.0]], max_iter=50, tol=0).fit(LINE)
    assert_array_equal(model.labels_, labels)
    assert 3 <= model.n_iter_ < 20
    cost = np.abs(LINE - centers.T).min(axis=1).sum()
    assert np.abs(LINE - model.cluster_centers_.T).min(axis=1).sum() == pytest.approx(cost)
    assert labels.tolist() == [0] * 5 + [1] * 5


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_unit_of_weights_moves_no_soft_center(unit):
    weight = RNG.uniform(0.5, 1.5, 40)
    start = X[[0, 5, 9]]
    model = SoftKMeans(3, stiffness=0.7, init=start, max_iter=1, tol=0).fit(X, sample_weight=unit * weight)
    odds = np.exp(-0.7 * ((X[:, None] - start) ** 2).sum(axis=2))
    r = weight[:, None] * odds / odds.sum(axis=1, keepdims=True)
    assert_allclose(model.cluster_centers_, r.T @ X / r.sum(axis=0)[:, None], rtol=1e-9)


def test_a_soft_center_that_no_row_belongs_to_stays():
    start = np.array([[0.0, 0.0], [1e6, 1e6]])
    model = SoftKMeans(2, stiffness=1.0, init=start, max_iter=3, tol=0).fit(X)
    assert_allclose(model.cluster_centers_, [X.mean(axis=0), start[1]])
    assert_array_equal(model.predict(X), 0)


def test_starts_of_the_wrong_shape_are_refused():
    for model in (SoftKMeans, KRepresentatives):
        with pytest.raises(ValueError, match=r"initial centers \(1, 2\) does not match"):
            model(2, init=[[0.0, 1.0]]).fit(X)
        with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2"):
            model(2).fit(X[:1])
        assert len(model(2, init=X[:2]).fit(X[:2]).cluster_centers_) == 2


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_seeds_are_drawn_by_their_distance(kernel):
    """Rows equal to a seed are at distance 0 and never the next one: two groups of equal rows part at once."""
    rows = np.array([[1.0, 2.0]] * 6 + [[3.0, -1.0]] * 2)
    for seed in range(15):
        first = next(iter(KernelKMeans(2, kernel=kernel, n_init=1, random_state=seed).iterate(rows)))
        assert len(set(first.labels_[:6])) == len(set(first.labels_[6:])) == 1
        assert first.labels_[0] != first.labels_[7]
        assert first.energy_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_batches_move_centers_to_their_weighted_mean_in_any_unit(unit):
    weight = unit * RNG.uniform(0.5, 1.5, 40)
    model = MiniBatchKMeans(2, init=np.array([[0.0, 0.0], [1e6, 1e6]]), n_init=1)
    for part in (slice(0, 15), slice(15, 40)):
        model.partial_fit(X[part], sample_weight=weight[part])
    assert_allclose(model.cluster_centers_, [np.average(X, axis=0, weights=weight), [1e6, 1e6]])
    assert model.n_steps_ == 2


@pytest.mark.parametrize("include_self", [False, True])
def test_a_row_has_all_others_as_neighbors_at_most(include_self):
    most = 10 if include_self else 9
    whole = neighbor_graph(LINE, most, include_self).toarray()
    assert_array_equal(whole, np.ones((10, 10)) - (not include_self) * np.eye(10))
    assert neighbor_graph(LINE, 1, include_self).sum() == 10
    for k in (0, most + 1):
        with pytest.raises(ValueError, match=f"n_neighbors={k} must be between 1 and {most}"):
            neighbor_graph(LINE, k, include_self)


def test_an_embedding_has_at_least_one_and_at_most_all_dimensions():
    K = np.exp(-np.abs(LINE - LINE.T))
    for k in (0, 11):
        with pytest.raises(
            ValueError, match=f"n_components={k} must be between 1 and the number of nodes, 10"
        ):
            spectral_embedding(K, k)
    degree = K.sum(axis=1)
    exact = np.linalg.eigvalsh(K / np.sqrt(np.outer(degree, degree)))[::-1]
    for k in (1, 3, 10):
        assert_allclose(spectral_embedding(K, k).eigenvalues, exact[:k], atol=1e-8)


@pytest.mark.parametrize("way", [cluster_qr, lambda E: discretize(E, np.random.default_rng(0))])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_turned_indicators_are_turned_back(way, k):
    labels = np.r_[np.arange(k), np.random.default_rng(1).integers(0, k, 20)]
    turn = np.linalg.qr(np.random.default_rng(k).normal(size=(k, k)))[0]
    found = way(np.eye(k)[labels] / np.sqrt(np.bincount(labels)) @ turn)
    assert len(set(zip(found, labels, strict=True))) == len(set(found)) == k


@pytest.mark.parametrize("way", ["kmeans", "discretize", "cluster_qr"])
def test_every_way_of_labels_is_its_own(way, monkeypatch):
    asked = []
    for name in ("cluster_qr", "discretize"):
        monkeypatch.setattr(
            f"gnomon.cluster.spectral.{name}",
            lambda E, *_, name=name: asked.append(name) or np.zeros(len(E), int),
        )
    K = np.kron(np.eye(2), np.ones((4, 4))) + 0.01
    found = SpectralClustering(2, affinity="precomputed", assign_labels=way, random_state=0).fit(K).labels_
    assert asked == ([] if way == "kmeans" else [way])
    assert way != "kmeans" or found.tolist() == [0] * 4 + [1] * 4


def test_only_graphs_in_parts_are_warned_about():
    K = np.kron(np.eye(2), np.ones((4, 4)))
    model = SpectralClustering(2, affinity="precomputed", assign_labels="cluster_qr")
    for graph, parts in ((K, 2), (K + 0.01, 1)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(graph)
        assert [str(one.message).split(";")[0] for one in told] == ["the graph has 2 components"] * (
            parts > 1
        )


@pytest.mark.parametrize("kind", ["centroid", "pairwise", "diameter"])
@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "manhattan"])
def test_distortions_of_every_kind_by_loops(kind, metric):
    far = {
        "sqeuclidean": lambda a, b: ((a - b) ** 2).sum(),
        "euclidean": lambda a, b: np.sqrt(((a - b) ** 2).sum()),
        "manhattan": lambda a, b: np.abs(a - b).sum(),
    }[metric]
    weight, labels = RNG.uniform(0.5, 2, 40), RNG.integers(0, 3, 40)
    costs = []
    for k in range(3):
        rows, w = X[labels == k], weight[labels == k]
        D = np.array([[far(a, b) for b in rows] for a in rows])
        mean = np.average(rows, axis=0, weights=w)
        costs.append(
            {
                "centroid": sum(v * far(a, mean) for a, v in zip(rows, w, strict=True))
                if metric == "sqeuclidean"
                else min(sum(w * line) for line in D),
                "pairwise": sum(w[i] * w[j] * D[i, j] for i in range(len(w)) for j in range(i)),
                "diameter": D.max(),
            }[kind]
        )
    found = distortion(X, labels, kind, metric=metric, sample_weight=weight)
    assert_allclose(found.clusters, costs)
    assert_allclose(found.total, max(costs) if kind == "diameter" else sum(costs))
    with pytest.raises(ValueError, match="labels has 39 entries for 40 rows"):
        distortion(X, labels[1:], kind)
