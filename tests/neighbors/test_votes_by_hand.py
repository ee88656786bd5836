"""Votes, kernels and units of neighbors by slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.core.errors import DataError
from gnomon.neighbors import bayes_error_bounds, suggest_k
from gnomon.neighbors.kernel_weights import candidate_gammas, in_blocks, log_kernel, normalized
from gnomon.neighbors.metrics import resolve, unit_of
from gnomon.neighbors.searching import without_self
from gnomon.neighbors.voting import Ballot, average, count, of_nearest, of_radius, quantiles, rule, shares

RNG = np.random.default_rng(0)
D = np.array([[0.0, 0.0, 2.0], [0.5, 1.0, 4.0], [1e-320, 2e-320, 1.0], [np.inf, 3.0, 3.0]])
ROWS = np.array([[0, 1, 2], [2, 0, 3], [1, 3, 0], [3, 2, 1]])
PART = np.array([[1.0, 2.0, 0.0], [2.0, 0.5, 0.0], [1.0, 1.0, 1.0], [1.0, 3.0, 1.0]])


def nearness(row, counted):
    """One over the distance, relative to the nearest; where some distance is zero those neighbors alone count."""
    d = np.where(counted, row, np.inf)
    if (d == 0).any():
        return (d == 0).astype(float)
    return np.where(np.isfinite(d), d[np.isfinite(d)].min() / np.where(d > 0, d, 1.0), 0.0)


@pytest.mark.parametrize("weights", ["uniform", "distance", None, lambda d: 1.0 / (1.0 + d)])
@pytest.mark.parametrize("part", [None, PART])
def test_ballots_of_the_nearest(weights, part):
    found = of_nearest(D, ROWS, part, weights)
    assert found.n_queries == 4 and found.query.tolist() == np.repeat(range(4), 3).tolist()
    assert found.rows.tolist() == ROWS.ravel().tolist() and (found.distances == D.ravel()).all()
    counted = np.ones(D.shape) if part is None else part
    if callable(weights):
        wanted = weights(D) * counted
    elif weights == "distance":
        wanted = np.array([nearness(row, own > 0) for row, own in zip(D, counted)]) * counted
    else:
        wanted = counted
    assert_allclose(found.weight.reshape(4, 3), wanted)


def test_ballots_within_a_radius():
    class Found:
        ends, rows = np.array([0, 2, 2, 5]), np.array([1, 0, 2, 1, 3])
        distances = np.array([0.5, 1.0, 2.0, 1.0, 4.0])

    w = np.array([1.0, 2.0, 0.5, 3.0])
    for weights, plain in (
        ("uniform", [1, 1, 1, 1, 1]),
        ("distance", [1, 0.5, 0.5, 1, 0.25]),
        (lambda d: d + d.sum(), [2.0, 2.5, 9.0, 8.0, 11.0]),
    ):
        found = of_radius(Found, w, weights)
        assert_allclose(found.weight, np.array(plain) * w[Found.rows])
        assert_allclose(of_radius(Found, None, weights).weight, plain)
        assert found.query.tolist() == [0, 0, 2, 2, 2] and found.n_queries == 3
    with pytest.raises(DataError, match="must return an array of shape"):
        of_nearest(D, ROWS, None, lambda d: d[:, :1])


def some_ballot(n=5, rows=9, votes=40, seed=0):
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(0, n - 1, votes))  # nobody votes for the last
    return Ballot(n, query, rng.integers(0, rows, votes), rng.random(votes), rng.integers(0, 3, votes) * 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_counts_means_and_quantiles_of_a_ballot(seed):
    ballot, rng = some_ballot(seed=seed), np.random.default_rng(seed)
    codes, y = rng.integers(0, 3, 9), rng.normal(size=(9, 2)) + 1e6
    votes, (mean, spread) = count(ballot, codes, 3), average(ballot, y)
    low, high = quantiles(ballot, y[:, 0], 0.6)
    assert votes.dtype == np.float64 and votes.shape == (5, 3)
    for q in range(5):
        mine = ballot.query == q
        w, r = ballot.weight[mine], ballot.rows[mine]
        assert_allclose(votes[q], [w[codes[r] == c].sum() for c in range(3)])
        if not w.sum():
            assert np.isnan([*mean[q], *spread[q], low[q], high[q]]).all()
            continue
        center = w @ y[r] / w.sum()
        assert_allclose(mean[q], center)
        assert_allclose(spread[q], np.sqrt(w @ (y[r] - center) ** 2 / w.sum()), rtol=1e-6)
        order = np.argsort(y[r, 0], kind="stable")
        order = order[w[order] > 0]
        reached = np.cumsum(w[order]) / w.sum()
        for share, end in ((0.2, low[q]), (0.8, high[q])):
            assert end == y[r[order], 0][np.flatnonzero(reached >= share * (1 - 1e-12))[0]]
    for level in (0.0, 1.0, -0.5):
        with pytest.raises(DataError, match="between 0 and 1"):
            quantiles(ballot, y[:, 0], level)


def test_shares_of_the_first_k():
    assert shares(np.array([[2.0, 1.0, 4.0], [5.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), 5).tolist() == [
        [2, 1, 2], [5, 0, 0], [1, 1, 1],
    ]  # fmt: skip
    assert shares(np.array([[0.5, 0.5, 3.0]]), 2.5).tolist() == [[0.5, 0.5, 1.5]]
    assert rule("distance", np.array([np.inf]), np.array([0]), 1).tolist() == [0.0]


def test_a_row_leaves_its_own_list():
    rows = np.array([[0, 2, 1], [2, 0, 3], [1, 2, 0], [3, 1, 2]])
    values = np.arange(12.0).reshape(4, 3)
    found, left = without_self(values, rows)
    assert left.tolist() == [[2, 1], [2, 0], [1, 0], [1, 2]]  # the second was crowded out by equals
    assert found.tolist() == [[1, 2], [3, 4], [6, 8], [10, 11]]


@pytest.mark.parametrize("gamma", [0.25, 2.0])
def test_kernels_of_squared_distances(gamma):
    squares = np.array([0.0, 0.1, 0.5, 1.0 / gamma, 1.001 / gamma, 9.0 / gamma])
    u = np.sqrt(gamma * squares)
    inside = u <= 1
    wanted = {
        "rbf": np.exp(-(u**2)), "tophat": inside * 1.0, "epanechnikov": np.clip(1 - u**2, 0, None),
        "tricube": np.clip(1 - u**3, 0, None) ** 3,
    }  # fmt: skip
    for kernel, value in wanted.items():
        assert_allclose(np.exp(log_kernel(squares, gamma, kernel)), value, atol=1e-12)
    assert_allclose(
        np.exp(log_kernel(squares, gamma, lambda u: 2.0 - u)), np.clip(2 - u, 0, None), atol=1e-12
    )
    with pytest.raises(DataError, match="Did you mean 'tricube'"):
        log_kernel(squares, gamma, "tricubic")


def test_weights_of_a_row_sum_to_one_or_are_none():
    logs = np.array([[0.0, np.log(3.0), -np.inf], [-np.inf] * 3, [1000.0, 1000.0, 0.0], [-1e5, -1e5, -1e5]])
    assert_allclose(normalized(logs), [[0.25, 0.75, 0], [0, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3])
    parts = list(in_blocks(lambda part: part, 10, 2**18))
    assert [(part.start, part.stop) for part in parts] == [(k, k + 2) for k in range(0, 10, 2)]
    assert [(p.start, p.stop) for p in in_blocks(lambda part: part, 3, 2**30)] == [(0, 1), (1, 2), (2, 3)]
    assert [(p.start, p.stop) for p in in_blocks(lambda part: part, 3, 0)] == [(0, 3)]


def test_the_grid_of_widths_is_around_the_median_nearest_neighbor():
    X = np.array([[0.0], [1.0], [3.0], [3.0], [9.0]])  # nearest squares 1, 1, 4, 36
    grid = candidate_gammas(X)
    assert len(grid) == 33 and grid[16] == pytest.approx(1 / 2.5)
    assert (grid[0] * 2.5, grid[-1] * 2.5) == pytest.approx((1e-4, 1e4))
    assert candidate_gammas(np.ones((4, 2)))[16] == pytest.approx(1.0)


@pytest.mark.parametrize("n", range(1, 40))
def test_odd_roots(n):
    k = suggest_k(n)
    assert k % 2 == 1 and k * k <= n < (k + 2) ** 2


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("best", [0.0, 0.05, 0.3, 0.5])
def test_the_error_of_the_nearest_neighbor_brackets_the_best(best, classes):
    measured = best * (2 - classes / (classes - 1) * best)  # the most that 1-NN can have
    low, high = bayes_error_bounds(measured, classes)
    assert (low, high) == pytest.approx((best, measured))
    assert bayes_error_bounds(1.0, classes) == (1 - 1 / classes,) * 2
    for error, count_ in ((-0.1, 2), (1.1, 2), (0.1, 1)):
        with pytest.raises(DataError, match="must be"):
            bayes_error_bounds(error, count_)


@pytest.mark.parametrize("p", [2.0, 3.0, 5.0])
@pytest.mark.parametrize("width", [1e-250, 1e-140, 1.0, 1e50, 1e140, 1e250])
def test_units_keep_powers_of_differences_in_the_numbers(p, width):
    X = np.array([[0.0, 1.0], [width, 1.0], [0.25 * width, 1.0]])
    unit = unit_of(X, p)
    assert np.frexp(unit)[0] == 0.5  # a power of two, exact
    if abs(np.log2(width)) * p < 400:
        assert unit == 1.0
    else:
        top = width * unit
        assert 0.5 <= top < 1.0 if p == 2 else 1e100 < top**p < 1e300
    metric = resolve("minkowski", p, None, X)
    sums = np.abs((X[1] - X[0]) * metric.unit) ** p
    assert metric.finish(np.array([sums.sum()]), 2)[0] == pytest.approx(width, rel=1e-12)
    reach = metric.reach(width, 2)
    assert sums.sum() <= reach <= sums.sum() * (1 + 1e-10)
    assert unit_of(X, np.inf) == unit_of(X, 1) == 1.0 and unit_of(np.ones((3, 2)), p) == 1.0


def test_error_curves_need_some_k():
    from gnomon.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(3).fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    with pytest.raises(DataError, match="k_values is empty"):
        model.loo_error_curve([])


@pytest.mark.parametrize(
    "change",
    [
        {"near": 0}, {"far": 0}, {"near": 10**6}, {"far": 10**6}, {"point": 50}, {"items": np.array([0, 1])},
        {"items": np.array([], dtype=np.int64)},
    ],
    ids=range(7),
)  # fmt: skip
def test_branches_of_a_vantage_point_tree_lead_on(change):
    from gnomon.core.errors import ModelFileError
    from gnomon.neighbors import NearestNeighbors

    index = NearestNeighbors(metric="edit", algorithm="vp_tree").fit([f"word {i}" for i in range(50)]).index_
    index.check()
    root = index.nodes[0]
    index.nodes[0] = root._replace(**change)
    with pytest.raises(ModelFileError, match="points beyond its rows"):
        index.check()
    index.nodes[0] = root
    leaf = next(k for k, node in enumerate(index.nodes) if node.point < 0)
    for items in ([50], [-1]):
        index.nodes[leaf] = index.nodes[leaf]._replace(items=np.array(items))
        with pytest.raises(ModelFileError, match="points beyond its rows"):
            index.check()
