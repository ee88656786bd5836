"""Graph cuts, partitions as matrices, doubly stochastic scaling, spectral clustering."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from gnomon.cluster import (
    SpectralClustering,
    affinity,
    balanced_min_cut,
    check_partition,
    fiedler_vector,
    graph_cut,
    laplacian,
    min_cut,
    partition_matrix,
    permanent,
    sinkhorn,
    spectral_embedding,
    trace_objective,
)
from gnomon.cluster.graphs import count_parts
from gnomon.core.errors import DataError


def graph(n, edges, first=0):
    K = np.zeros((n, n))
    for i, j, w in edges:
        K[i - first, j - first] = K[j - first, i - first] = w
    return K


G6 = graph(6, [(0, 1, 3), (0, 2, 2), (1, 2, 4), (1, 3, 1), (3, 4, 5), (3, 5, 2), (4, 5, 3)])
HALVES = np.array([0, 0, 0, 1, 1, 1])
EIGHT = graph(
    8,
    [
        (1, 2, 2),
        (1, 5, 3),
        (2, 3, 3),
        (2, 5, 2),
        (2, 6, 2),
        (3, 4, 4),
        (3, 7, 2),
        (4, 7, 2),
        (4, 8, 2),
        (5, 6, 3),
        (6, 7, 1),
        (7, 8, 3),
    ],
    first=1,
)
SEVEN = graph(7, [(0, 1, 4), (0, 2, 4), (1, 2, 4), (2, 3, 2), (3, 4, 4), (3, 5, 4), (4, 5, 4), (5, 6, 1)])


def random_graph(n, seed):
    K = np.random.default_rng(seed).random((n, n))
    K = np.triu(K * (K > 0.4), 1)
    return K + K.T


def test_six_nodes_by_hand():
    np.testing.assert_allclose(G6.sum(axis=1), [5, 8, 6, 8, 8, 5])
    values = np.linalg.eigvalsh(laplacian(G6))
    np.testing.assert_allclose(
        values, [0, 0.5844007, 7.2774836, 7.6094086, 11.2731741, 13.2555330], atol=1e-7
    )
    z = fiedler_vector(G6)
    np.testing.assert_allclose(
        z, [0.4361059, 0.3581598, 0.4255948, -0.3547276, -0.4194705, -0.4456625], atol=1e-7
    )
    found = spectral_embedding(G6, 6)
    np.testing.assert_allclose(
        found.eigenvalues, [1, 0.9097257, -0.2895889, -0.3542462, -0.5711351, -0.6947555], atol=1e-7
    )
    for normalization in ("normalized", "ratio"):
        model = SpectralClustering(
            2, affinity="precomputed", assign_labels="sign", normalization=normalization
        )
        np.testing.assert_array_equal(model.fit(G6).labels_, HALVES)


def test_costs_of_a_split_by_hand():
    assert graph_cut(G6, HALVES) == 1
    assert graph_cut(G6, HALVES, "ratio") == pytest.approx(2 / 3)
    assert graph_cut(G6, HALVES, "normalized") == pytest.approx(0.1002506, abs=1e-7)
    assert graph_cut(G6, HALVES, "association") == pytest.approx(1.8997494, abs=1e-7)
    assert graph_cut(G6, [0, 0, 0, 0, 0, 1], "normalized") == pytest.approx(1.1428571, abs=1e-7)
    assert spectral_embedding(G6, 2).bound == pytest.approx(0.0902743, abs=1e-7)
    assert min_cut(G6).value == 1


def test_best_three_way_split():
    best = min(
        product(range(3), repeat=6), key=lambda s: graph_cut(G6, s, "normalized") if len(set(s)) == 3 else 9
    )
    assert graph_cut(G6, best, "normalized") == pytest.approx(1.4276316, abs=1e-7)
    assert adjusted_rand_score(best, [0, 0, 0, 1, 1, 2]) == 1
    model = SpectralClustering(3, affinity="precomputed", random_state=0).fit(G6)
    assert model.normalized_cut_ == pytest.approx(1.4276316, abs=1e-7)


def test_l1_projection_by_hand():
    found = sinkhorn(G6, "l1")
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1)
    assert np.abs(found.matrix - G6).sum() == pytest.approx(34)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(found.matrix), 1 - np.linalg.eigvalsh(laplacian(G6))[::-1], atol=1e-12
    )
    rng = np.random.default_rng(0)
    for _ in range(50):
        F = rng.normal(size=(6, 6))
        F = (F + F.T) / 2
        F[np.diag_indices(6)] += 1 - F.sum(axis=1)
        assert np.abs(F - G6).sum() >= 34 - 1e-9


def test_sinkhorn_by_hand():
    K = np.array([[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 1]])
    found = sinkhorn(K)
    F = found.matrix
    expected = [
        [0.5908866, 0.2814217, 0.1276918],
        [0.2814217, 0.5361310, 0.1824473],
        [0.1276918, 0.1824473, 0.6898609],
    ]
    np.testing.assert_allclose(F, expected, atol=1e-7)
    np.testing.assert_allclose(found.scaling, [0.7686915, 0.7322097, 0.8305787], atol=1e-7)
    assert (F * np.log(F / K) - F + K).sum() == pytest.approx(0.4792268, abs=1e-7)
    permanents = [permanent(K)] + [permanent(sinkhorn(K, max_iter=t, tol=0).matrix) for t in (1, 2, 3)]
    np.testing.assert_allclose(permanents, [1.44, 0.3137255, 0.3146229, 0.3146940], atol=1e-7)


def test_sinkhorn_without_total_support():
    K = np.array([[1.0, 1.0], [1.0, 0.0]])
    assert sinkhorn(K, max_iter=100).matrix[0, 0] == pytest.approx(0.0197917, abs=1e-7)
    slow = sinkhorn(K, max_iter=1000)
    assert slow.matrix[0, 0] == pytest.approx(0.0020002, abs=1e-7) and not slow.converged
    star = sinkhorn(np.array([[1.0, 1, 1], [1, 0, 0], [1, 0, 0]]), max_iter=200)
    assert not star.converged and "no support" in star.reason
    np.testing.assert_allclose(star.matrix.sum(axis=1), [1.4142136, 0.7071068, 0.7071068], atol=1e-6)
    with pytest.raises(DataError, match="row 1"):
        sinkhorn(np.array([[1.0, 0], [0, 0]]))


@pytest.mark.parametrize("seed", range(3))
def test_sinkhorn_is_nearest_in_relative_entropy(seed):
    rng = np.random.default_rng(seed)
    K = rng.random((6, 6)) + 0.1
    K = K + K.T
    found = sinkhorn(K)
    F = found.matrix
    np.testing.assert_allclose(F.sum(axis=1), 1)
    np.testing.assert_allclose(F, found.scaling[:, None] * K * found.scaling)
    here = (F * np.log(F / K) - F + K).sum()
    for _ in range(20):
        E = rng.normal(size=(6, 6))
        E = E + E.T
        E -= E.mean(axis=1, keepdims=True) + E.mean(axis=0) - E.mean()  # rows and columns sum to zero
        other = F + 1e-3 * E
        assert (other * np.log(other / K) - other + K).sum() >= here - 1e-12
    values = [permanent(sinkhorn(K, max_iter=t, tol=0).matrix) for t in range(1, 8)]
    assert (np.diff(values) >= -1e-12).all()


def test_permanent_is_the_sum_over_permutations():
    from itertools import permutations

    A = np.random.default_rng(0).normal(size=(5, 5))
    assert permanent(A) == pytest.approx(sum(np.prod(A[range(5), list(p)]) for p in permutations(range(5))))


def test_block_diagonal_rows_coincide_after_scaling():
    K = graph(5, [(0, 1, 2), (2, 3, 1), (2, 4, 3), (3, 4, 1)])
    assert spectral_embedding(K, 3).eigenvalues == pytest.approx([1, 1, -0.25], abs=1e-7)
    for scaling in ("degree", "unit"):
        E = spectral_embedding(K, 2, row_scaling=scaling).rows
        np.testing.assert_allclose(E[2:], np.tile(E[2], (3, 1)), atol=1e-9)
        np.testing.assert_allclose(E[0], E[1], atol=1e-9)
    raw = spectral_embedding(K, 2, row_scaling="none").rows
    np.testing.assert_allclose(
        np.sqrt((raw[2:] ** 2).sum(axis=1)), [0.6324555, 0.4472136, 0.6324555], atol=1e-7
    )


def test_min_cuts_by_hand():
    found = min_cut(EIGHT)
    assert found.value == 4
    np.testing.assert_array_equal(found.labels, [0, 0, 1, 1, 0, 0, 1, 1])
    assert min_cut(SEVEN).value == 1 and min_cut(SEVEN).labels.tolist() == [0, 0, 0, 0, 0, 0, 1]
    best = min(
        (s for s in product((0, 1), repeat=7) if len(set(s)) == 2),
        key=lambda s: graph_cut(SEVEN, s, "normalized"),
    )
    assert graph_cut(SEVEN, best, "normalized") == pytest.approx(0.1483516, abs=1e-7)
    assert adjusted_rand_score(best, [0, 0, 0, 1, 1, 1, 1]) == 1
    ratios = [graph_cut(SEVEN, s, "ratio") for s in product((0, 1), repeat=7) if len(set(s)) == 2]
    assert min(ratios) == pytest.approx(1.1666667, abs=1e-7)
    balanced = balanced_min_cut(SEVEN)
    assert balanced.value == 2 and adjusted_rand_score(balanced.labels, [0, 0, 0, 1, 1, 1, 1]) == 1
    assert trace_objective(SEVEN, [0, 0, 0, 1, 1, 1, 1]).value == pytest.approx(14.5)
    values = [trace_objective(SEVEN, s).value for s in product((0, 1), repeat=7) if len(set(s)) == 2]
    assert max(values) == pytest.approx(14.5)


def test_two_pairs_under_a_gaussian_affinity():
    K = affinity([[0.0], [1], [4], [5]])
    np.testing.assert_allclose(
        spectral_embedding(K, 4).eigenvalues, [1, 0.9999096, 0.4621413, 0.4620512], atol=1e-7
    )
    assert graph_cut(K, [0, 0, 1, 1], "normalized") == pytest.approx(9.038e-5, abs=1e-8)


def test_partition_matrices_by_hand():
    F = partition_matrix([0, 0, 1], "projection")
    np.testing.assert_allclose(F, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    assert np.trace(F) == 2
    labels = np.array([2, 0, 1, 1, 2, 2])
    G = partition_matrix(labels)
    assert (
        check_partition(G).valid and check_partition(partition_matrix(labels, "indicator"), "indicator").valid
    )
    np.testing.assert_array_equal(check_partition(G).labels, labels)
    np.testing.assert_allclose(partition_matrix(labels, "projection"), G @ G.T)
    P = G @ G.T
    np.testing.assert_allclose(P @ P, P)
    for G, kind, failures in (
        ([[-1.0, 0.0], [0.0, 1.0]], "scaled", ("G has negative entries",)),
        ([[1.0, 0.0], [0.5, 0.5]], "indicator", ("GᵀG is not diagonal",)),
        ([[1.0, 0.0], [0.0, 0.5]], "indicator", ("G1 is not 1",)),
        ([[2.0, -1.0], [0.0, 1.0]], "indicator", ("G has negative entries", "GᵀG is not diagonal")),
    ):
        found = check_partition(G, kind)
        assert set(failures) <= set(found.failures) and not found.valid and found.labels is None
    assert check_partition(np.eye(2) + 1e-10, "indicator").valid
    assert check_partition(np.ones((3, 2))).failures == ("GᵀG is not the identity", "GGᵀ1 is not 1")
    assert (
        "a column is empty"
        in check_partition(np.eye(3)[:, [0, 1, 2]] @ np.diag([1, 1, 0]), "indicator").failures
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_partition_beats_the_bounds(seed):
    K = random_graph(9, seed) + 0.05
    np.fill_diagonal(K, 0)
    rng = np.random.default_rng(seed)
    for k in (2, 3):
        normal, ratio = (spectral_embedding(K, k, normalization=kind) for kind in ("normalized", "ratio"))
        assert normal.residuals.max() < 1e-8
        for _ in range(40):
            labels = rng.permutation(np.arange(9) % k) if rng.random() < 0.5 else rng.integers(k, size=9)
            if len(set(labels)) < k:
                continue
            assert graph_cut(K, labels, "normalized") >= normal.bound - 1e-9
            assert graph_cut(K, labels, "ratio") >= ratio.bound - 1e-9
            assert trace_objective(K, labels).value <= trace_objective(K, labels).bound + 1e-9
            total = graph_cut(K, labels, "normalized") + graph_cut(K, labels, "association")
            assert total == pytest.approx(k)


def test_laplacian_is_semidefinite_with_one_zero_for_each_component():
    K = sparse.block_diag(
        [random_graph(5, 1) + 0.1 * (1 - np.eye(5)), random_graph(4, 2) + 0.1 * (1 - np.eye(4))]
    ).toarray()
    L = laplacian(K)
    values = np.linalg.eigvalsh(L)
    assert (values > -1e-9).all() and (values < 1e-9).sum() == 2
    z = np.random.default_rng(0).normal(size=9)
    assert z @ L @ z == pytest.approx(0.5 * (K * (z[:, None] - z) ** 2).sum())
    d = K.sum(axis=1)
    np.testing.assert_allclose(laplacian(K, "symmetric") @ np.sqrt(d), 0, atol=1e-12)
    np.testing.assert_allclose(laplacian(K, "random_walk") @ np.ones(9), 0, atol=1e-12)
    member = partition_matrix([0, 0, 0, 0, 0, 1, 1, 1, 1], "indicator")
    both = np.trace(member.T @ K @ member)
    assert both + 2 * graph_cut(K, [0] * 5 + [1] * 4) == pytest.approx(K.sum())


@pytest.mark.parametrize("seed", range(5))
def test_min_cut_equals_brute_force(seed):
    K = random_graph(8, seed)
    sides = [s for r in range(1, 5) for s in combinations(range(8), r)]
    best = min(graph_cut(K, np.isin(np.arange(8), s)) for s in sides)
    assert min_cut(K).value == pytest.approx(best)
    assert graph_cut(K, min_cut(K).labels) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_flow_equals_cut(seed):
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 6, size=(7, 7)) * (rng.random((7, 7)) < 0.6).astype(float)
    np.fill_diagonal(C, 0)
    found = min_cut(C, 0, 6)
    inner = [i for i in range(7) if i not in (0, 6)]
    np.testing.assert_allclose(found.flow[inner].sum(axis=1), 0, atol=1e-9)
    assert found.flow[0].sum() == pytest.approx(found.value) and (found.flow <= C + 1e-9).all()
    cuts = []
    for r in range(6):
        for extra in combinations(inner, r):
            side = np.isin(np.arange(7), [0, *extra])
            cuts.append(C[np.ix_(side, ~side)].sum())
    assert found.value == pytest.approx(min(cuts))
    side = np.isin(np.arange(7), found.source_side)
    assert C[np.ix_(side, ~side)].sum() == pytest.approx(found.value)


@pytest.mark.parametrize("k", [2, 3])
def test_balanced_cut_equals_brute_force(k):
    K = random_graph(9, k)
    sizes = np.sort([9 // k + (j < 9 % k) for j in range(k)])
    best = min(
        graph_cut(K, s)
        for s in product(range(k), repeat=9)
        if np.array_equal(np.sort(np.bincount(s, minlength=k)), sizes)
    )
    exact, swap = balanced_min_cut(K, k), balanced_min_cut(K, k, method="swap")
    assert exact.value == pytest.approx(best) and best <= swap.value + 1e-9
    assert exact.bound <= exact.value + 1e-9


def test_disconnected_graphs_and_bad_ones():
    K = graph(4, [(0, 1, 1), (2, 3, 1)])
    assert min_cut(K).value == 0
    with pytest.warns(UserWarning, match="2 components"):
        SpectralClustering(2, affinity="precomputed", random_state=0).fit(K)
    with pytest.raises(DataError, match="not symmetric"):
        spectral_embedding(np.array([[0.0, 1.0], [0.0, 0.0]]), 1)
    with pytest.raises(DataError, match="negative"):
        laplacian(np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert min_cut(np.zeros((1, 1))).value == 0
    for s, t in ((0, 0), (0, 4), (4, 0), (-1, 0), (0, -1), (0, None), (None, 0)):
        with pytest.raises(DataError, match=r"two different nodes|both s and t"):
            min_cut(K, s, t)
    for capacities in (np.ones((2, 3)), np.array([[0.0, -1.0], [1.0, 0.0]])):
        with pytest.raises(DataError, match="square matrix without negative"):
            min_cut(capacities, 0, 1)
    for k, sizes in ((0, None), (5, None), (2, [2, 1]), (2, [4, 0]), (2, [5, -1])):
        with pytest.raises(DataError, match=r"n_clusters=|sizes must be positive"):
            balanced_min_cut(K, k, sizes=sizes)
    with pytest.raises(DataError, match="not one of auto"):
        balanced_min_cut(K, method="fast")
    with pytest.raises(DataError, match="up to 24 nodes"):
        balanced_min_cut(np.ones((25, 25)), method="exact")
    assert balanced_min_cut(K, 4).labels.tolist() == [0, 1, 2, 3] and balanced_min_cut(K, 1).value == 0
    assert sorted(np.bincount(balanced_min_cut(K, sizes=[3, 1]).labels).tolist()) == [1, 3]


@pytest.mark.parametrize("assign", ["kmeans", "discretize", "cluster_qr"])
def test_three_blocks_of_a_graph_are_told_apart(assign):
    truth = np.repeat([0, 1, 2], [4, 6, 9])[np.random.default_rng(0).permutation(19)]
    K = np.where(truth[:, None] == truth, 1.0, 0.01)
    model = SpectralClustering(3, affinity="precomputed", assign_labels=assign, random_state=0).fit(K)
    assert adjusted_rand_score(model.labels_, truth) == 1.0


@pytest.mark.parametrize("assign", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("kind", ["rbf", "nearest_neighbors"])
def test_two_moons_are_told_apart(assign, kind):
    t = np.linspace(0, np.pi, 100)
    X = np.vstack([np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.4 - np.sin(t)]])
    X += 0.02 * np.random.default_rng(0).normal(size=X.shape)
    model = SpectralClustering(2, gamma=40.0, affinity=kind, assign_labels=assign, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 100)) == 1
    assert model.relaxation_bound_ <= model.normalized_cut_ + 1e-12


@pytest.mark.parametrize("normalization", ["ratio", "doubly_stochastic", "none"])
def test_other_normalizations_find_clear_clusters(normalization):
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 0], [6, 0], [0, 6]])[np.arange(90) % 3] + 0.5 * rng.normal(size=(90, 2))
    scaling = "none" if normalization == "ratio" else "unit"
    model = SpectralClustering(3, normalization=normalization, row_scaling=scaling, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, np.arange(90) % 3) == 1


@pytest.mark.parametrize("seed", range(6))
def test_parts_are_those_of_the_sparse_graph(seed):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((40, 40)) < 0.03 * (1 + seed % 3), 1) * rng.random((40, 40))
    K = A + A.T
    expected = sparse.csgraph.connected_components(sparse.csr_array(K), directed=False)[0]
    assert count_parts(K) == count_parts(sparse.csr_array(K)) == expected
    assert (count_parts(np.zeros((3, 3))), count_parts(np.ones((3, 3)))) == (3, 1)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_graphs_of_one_direction_are_clustered_by_the_mean_of_both(form):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(8.0, 1.0, size=(20, 2))])
    K = kneighbors_graph(X, 12, include_self=True).toarray()
    assert (K != K.T).any()
    model = SpectralClustering(2, affinity="precomputed", random_state=0)
    with pytest.warns(UserWarning, match="not symmetric"):
        found = model.fit(form(K)).labels_
    both = SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=12, random_state=0).fit(X)
    np.testing.assert_array_equal(found[:, None] == found, both.labels_[:, None] == both.labels_)
    np.testing.assert_array_equal(sparse.csr_array(model.affinity_matrix_).toarray(), (K + K.T) / 2)


def test_one_wrong_entry_of_many_is_no_symmetric_graph():
    K = np.ones((600, 600))
    K[599, 3] = 1.001
    with pytest.raises(DataError, match="symmetric"):
        graph_cut(K, np.arange(600) % 2)


def test_many_nodes_by_lanczos_agree_with_all_eigenvectors():
    X = np.random.default_rng(0).normal(size=(600, 2))
    K = affinity(X, "nearest_neighbors", n_neighbors=8)
    found = spectral_embedding(K, 5)
    exact = np.linalg.eigvalsh(np.eye(600) - laplacian(K, "symmetric").toarray())[::-1][:5]
    np.testing.assert_allclose(found.eigenvalues, exact, atol=1e-8)
    assert found.residuals.max() < 1e-8


def test_neighbor_graphs():
    X = np.array([[0.0], [1.0], [2.5], [9.0]])
    near = affinity(X, "nearest_neighbors", n_neighbors=1, include_self=False).toarray()
    np.testing.assert_allclose(near, [[0, 1, 0, 0], [1, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0]])
    mutual = affinity(X, "mutual_neighbors", n_neighbors=1, include_self=False).toarray()
    np.testing.assert_allclose(mutual, graph(4, [(0, 1, 1)]))
    ball = affinity(X, "epsilon", radius=1.6, include_self=False).toarray()
    np.testing.assert_allclose(ball, graph(4, [(0, 1, 1), (1, 2, 1)]))


def test_coinciding_eigenvalues_give_the_same_vectors_each_time():
    blocks = np.kron(np.eye(9), np.full((50, 50), 0.02))  # nine parts: eigenvalue 1 nine times
    first, second = (spectral_embedding(blocks, 8) for _ in range(2))
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_allclose(first.eigenvalues, 1.0)


@pytest.mark.filterwarnings("ignore:the graph has 2 components")
def test_distances_to_the_nearest_are_a_graph():
    """The smallest distances of a row are its edges, however many are given."""
    X = np.array([0.0, 1.0, 2.1, 10.0, 11.0, 12.1])[:, None]
    D = np.abs(X - X.T)
    wide = sparse.csr_matrix((D.ravel(), np.indices((6, 6)).reshape(2, -1)), shape=(6, 6))  # zeros stay
    thin = sparse.csr_matrix((D[D < 3], np.nonzero(D < 3)), shape=(6, 6))
    found = [
        SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=2, random_state=0).fit(
            one
        )
        for one in (D, wide, thin)
    ]
    edges = np.array([[1, 1, 0], [1, 1, 0.5], [0, 0.5, 1]])  # two nearest, itself first, of either end
    for model in found:
        np.testing.assert_array_equal(model.affinity_matrix_.toarray()[:3, :3], edges)
        assert len(set(model.labels_[:3])) == len(set(model.labels_[3:])) == 1
        assert model.labels_[0] != model.labels_[3]
    with pytest.raises(DataError, match="n_neighbors=4"):
        SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=4).fit(thin)
