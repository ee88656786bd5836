"""Steps of clusterings on few rows: random partitions, medians over many steps, units of weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.cluster import KernelKMeans, KMeans, KRepresentatives, SoftKMeans

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
