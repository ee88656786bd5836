"""K-medoids: exemplars by hand, by brute force, and against each other."""

from itertools import combinations

import numpy as np
import pytest

from gnomon.cluster import KMedoids
from gnomon.core.errors import DataError
from gnomon.loops.distances import pairwise

LINE = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [15.0]])


def best_cost(D, k):
    return min(D[:, list(m)].min(axis=1).sum() for m in combinations(range(len(D)), k))


def test_medoids_on_a_line():
    model = KMedoids(2, metric="l1").fit(LINE)
    np.testing.assert_array_equal(np.sort(model.medoid_indices_), [1, 4])
    assert model.inertia_ == 8
    assert KMedoids(3, metric="l1").fit(LINE).inertia_ == 4
    squared = KMedoids(2, metric="sqeuclidean").fit(LINE)
    np.testing.assert_array_equal(np.sort(squared.medoid_indices_), [1, 4])
    assert squared.inertia_ == pytest.approx(22)


def test_words_under_the_edit_distance():
    words = ["cat", "cart", "care", "dog", "dig", "fog"]
    model = KMedoids(2, metric="edit").fit(words)
    assert {words[i] for i in model.medoid_indices_} == {"cart", "dog"}
    assert model.inertia_ == 4 and model.cluster_centers_ is None
    assert model.predict(["cord"])[0] == model.labels_[1]


def test_swaps_leave_the_trap_of_alternating():
    X = np.array([[14.0, 6], [4, 19], [3, 6], [12, 15], [12, 17], [0, 7], [11, 8]])
    costs = {
        m: KMedoids(2, metric="l1", method=m, init=[0, 1]).fit(X).inertia_
        for m in ("alternate", "pam", "fasterpam")
    }
    assert costs == {"alternate": 45, "pam": 37, "fasterpam": 37}
    assert best_cost(pairwise(X, X, "l1"), 2) == 37


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate"])
@pytest.mark.parametrize("init", ["build", "lab", "k-medoids++", "random"])
def test_cost_never_rises_and_medoids_are_rows(method, init):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = KMedoids(4, method=method, init=init, random_state=0).fit(X)
    assert (np.diff(model.trace_.objective) <= 1e-12).all()
    np.testing.assert_array_equal(model.cluster_centers_, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("seed", range(4))
def test_no_single_swap_improves_a_fixed_point(seed):
    X = np.random.default_rng(seed).normal(size=(25, 2))
    D = pairwise(X, X)
    for method in ("fasterpam", "pam"):
        model = KMedoids(3, method=method, init="random", random_state=seed).fit(X)
        assert model.swap_gain_ >= -1e-9
        for place in range(3):
            for other in range(25):
                medoids = model.medoid_indices_.copy()
                medoids[place] = other
                assert D[:, medoids].min(axis=1).sum() >= model.inertia_ - 1e-9


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate"])
def test_rows_that_are_many_times_there(method):
    X = np.repeat([[0.0], [1.0], [10.0], [11.0], [30.0]], [3, 1, 1, 3, 2], axis=0)
    model = KMedoids(3, metric="l1", method=method).fit(X)
    assert sorted(model.cluster_centers_.ravel()) == [0.0, 11.0, 30.0]
    assert model.inertia_ == best_cost(pairwise(X, X, "l1"), 3) == 2.0


def test_one_medoid_is_the_row_of_smallest_total_distance():
    X = np.random.default_rng(1).normal(size=(40, 3))
    assert KMedoids(1).fit(X).medoid_indices_[0] == pairwise(X, X).sum(axis=1).argmin()


def test_alternating_keeps_the_best_member_of_each_cluster():
    X = np.random.default_rng(2).normal(size=(50, 2))
    model = KMedoids(4, method="alternate", random_state=0).fit(X)
    D = pairwise(X, X)
    for k, medoid in enumerate(model.medoid_indices_):
        mine = np.flatnonzero(model.labels_ == k)
        assert D[np.ix_(mine, mine)].sum(axis=0).min() == pytest.approx(D[mine, medoid].sum())


def test_weights_are_repetitions():
    X = np.random.default_rng(3).normal(size=(30, 2))
    times = np.random.default_rng(4).integers(1, 4, size=30)
    one = KMedoids(3).fit(X, sample_weight=times)
    two = KMedoids(3).fit(np.repeat(X, times, axis=0))
    assert one.inertia_ == pytest.approx(two.inertia_)


def test_asymmetric_distances_go_from_point_to_medoid():
    D = np.array([[0.0, 1, 9], [5, 0, 9], [1, 1, 0]])
    assert KMedoids(1, metric="precomputed").fit(D).medoid_indices_[0] == 1
    assert KMedoids(1, metric="precomputed").fit(D.T).medoid_indices_[0] == 2


def test_samples_serve_many_rows():
    X = np.random.default_rng(5).normal(size=(3000, 2))
    sampled = KMedoids(4, sample=200, random_state=0).fit(X)
    full = KMedoids(4, init="lab", random_state=0).fit(X)
    assert sampled.inertia_ < 1.05 * full.inertia_ and len(sampled.labels_) == 3000


def test_bad_distances_are_refused():
    with pytest.raises(DataError, match="square"):
        KMedoids(2, metric="precomputed").fit(np.ones((3, 2)))
    with pytest.raises(DataError, match="negative diagonal"):
        KMedoids(2, metric="precomputed").fit(-np.eye(3))
    with pytest.raises(ValueError, match="NaN"):
        KMedoids(2, metric="precomputed").fit(np.full((3, 3), np.nan))
