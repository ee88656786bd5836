"""K-means: hand-made examples, properties, awkward data, and scikit-learn's answers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster import KMeans, MiniBatchKMeans, farthest_first, kmeans_plusplus, lloyd
from gnomon.core.callbacks import TimeBudget
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.threads import threads
from gnomon.loops import kmeans_few

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
PAIRS = np.array([[0.0, 100.0, 200.0, 300.0]]).T + np.array([[-1.0, 1.0]])
ALGORITHMS = ["lloyd", "hamerly", "yinyang", "elkan", "auto"]
STARTS = ["k-means++", "random", "random_partition", "farthest", "k-means-parallel"]


def blobs(n=600, d=3, k=5, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] * 4 + spread * rng.normal(size=(n, d))


def cost(X, centers, weight=None):
    d = ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
    return d.sum() if weight is None else weight @ d


# hand-made examples


def test_two_clusters_on_a_line():
    model = KMeans(2, init=np.array([[0.0], [12.0]])).fit(LINE)
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [1, 11])
    np.testing.assert_allclose(model.half_steps_, [[10, 4]])
    assert model.inertia_ == 4 and model.n_iter_ == 2
    assert KMeans(1).fit(LINE).inertia_ == pytest.approx(154)


def test_optimal_costs_on_a_line():
    costs = [KMeans(k, algorithm="optimal_1d").fit(LINE).inertia_ for k in range(1, 7)]
    np.testing.assert_allclose(costs, [154, 4, 2.5, 1, 0.5, 0], atol=1e-12)


def test_a_bad_start_stays_bad():
    X = PAIRS.reshape(-1, 1)
    stuck = KMeans(4, init=np.array([[40.0], [199.0], [201.0], [300.0]])).fit(X)
    np.testing.assert_allclose(stuck.cluster_centers_.ravel(), [50, 199, 201, 300])
    np.testing.assert_allclose(stuck.half_steps_, [[10406, 10006]])
    assert stuck.inertia_ == pytest.approx(10006)
    good = KMeans(4, init=np.array([[0.0], [100.0], [200.0], [300.0]])).fit(X)
    assert good.inertia_ == pytest.approx(8)


def test_seven_points_by_hand():
    X = np.array([[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5], [4.5, 5], [3.5, 4.5]])
    model = KMeans(2, init=X[[0, 3]]).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[1.25, 1.5], [3.9, 5.1]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(model.half_steps_, [[33.25, 12.2083333333], [11.2256944444, 8.525]])


def test_weights_by_hand():
    model = KMeans(2, init=np.array([[0.0], [12.0]])).fit(LINE, sample_weight=[1, 1, 4, 1, 1, 1])
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [1.5, 11])
    assert model.inertia_ == pytest.approx(5.5)


def test_plus_plus_draws_pairs_with_the_right_probability():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    exact = {
        (0, 1): 0.0030860,
        (0, 2): 0.2499624,
        (0, 3): 0.2747253,
        (1, 2): 0.2191781,
        (1, 3): 0.2499624,
        (2, 3): 0.0030860,
    }
    rng = np.random.default_rng(0)
    draws = 3000
    seen = dict.fromkeys(exact, 0)
    for _ in range(draws):
        _, rows = kmeans_plusplus(X, 2, random_state=rng, n_local_trials=1)
        seen[tuple(sorted(rows))] += 1
    chi = sum((seen[pair] - draws * p) ** 2 / (draws * p) for pair, p in exact.items())
    assert chi < 20.5  # 99.9 % quantile at 5 degrees of freedom


def test_seeding_cost_meets_the_guarantee():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    rng = np.random.default_rng(1)
    costs = [cost(X, kmeans_plusplus(X, 2, random_state=rng, n_local_trials=1)[0]) for _ in range(2000)]
    assert np.mean(costs) == pytest.approx(
        1473 / 511, abs=1.0
    )  # four standard errors: one draw in 160 costs 145
    assert np.mean(costs) <= 8 * (np.log(2) + 2) * 1.0  # the optimum is 1


def test_farthest_first_by_hand():
    np.testing.assert_array_equal(farthest_first([[0.0], [1], [2], [10], [11], [30]], 3), [0, 5, 4])
    X = [[0.0, 0], [0, 1], [5, 5], [6, 5], [0, 9], [1, 8]]
    np.testing.assert_array_equal(farthest_first(X, 3), [0, 4, 3])


# properties


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(6, 30), st.integers(1, 3)), elements=st.floats(-1e3, 1e3)),
    st.integers(1, 5),
)
def test_cost_never_rises_and_the_end_is_a_fixed_point(X, k):
    with pytest.warns(ConvergenceWarning) if len(np.unique(X, axis=0)) < k else _nothing():
        model = KMeans(k, init="random", n_init=1, tol=0, random_state=0).fit(X)
    halves = model.half_steps_.ravel()
    room = 1e-9 * max(1.0, halves.max(initial=0.0))
    assert (np.diff(halves) <= room).all()
    distance = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_allclose(distance[np.arange(len(X)), model.labels_], distance.min(axis=1), atol=room)
    for j in np.unique(model.labels_):
        np.testing.assert_allclose(model.cluster_centers_[j], X[model.labels_ == j].mean(axis=0), atol=1e-9)


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.parametrize("shape", [(2000, 20, 30), (3000, 2, 60), (1500, 5, 7), (700, 1, 5)])
def test_every_algorithm_takes_the_same_steps(shape):
    n, d, k = shape
    X = blobs(n, d, k)
    init = X[:k].copy()
    first, *others = [KMeans(k, init=init, algorithm=name, tol=0).fit(X) for name in ALGORITHMS]
    for other in others:
        np.testing.assert_array_equal(other.cluster_centers_, first.cluster_centers_)
        np.testing.assert_array_equal(other.labels_, first.labels_)
        np.testing.assert_array_equal(other.trace_.objective, first.trace_.objective)


def test_ties_go_to_the_lower_index():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    for name in ALGORITHMS:
        model = KMeans(2, init=np.array([[4.0], [0.0]]), algorithm=name, max_iter=1, tol=10).fit(X)
        assert model.half_steps_[0, 0] == 1 + 4 + 1
        assert KMeans(2, init=np.array([[1.0], [3.0]]), algorithm=name).fit(X).labels_[2] == 0


def test_optimal_is_never_beaten():
    X = np.random.default_rng(3).normal(size=(300, 1))
    for k in (2, 5, 9):
        best = KMeans(k, algorithm="optimal_1d").fit(X).inertia_
        others = [KMeans(k, random_state=s, tol=0).fit(X).inertia_ for s in range(5)]
        assert best <= min(others) * (1 + 1e-12)


def test_more_clusters_cost_less_and_n_clusters_cost_nothing():
    X = blobs(40, 2, 4)
    costs = [min(KMeans(k, random_state=s).fit(X).inertia_ for s in range(20)) for k in (1, 2, 3, 4, 5)]
    assert (np.diff(costs) <= 0).all()
    assert costs[0] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
    assert KMeans(40, init="random", n_init=1, random_state=0).fit(X).inertia_ == pytest.approx(0, abs=1e-18)


def test_restarts_keep_the_best():
    X = blobs(300, 2, 8)
    model = KMeans(8, init="random", n_init=12, random_state=0).fit(X)
    assert len(model.restarts_) == 12 and model.inertia_ == model.restarts_.min()
    assert model.inertia_ <= KMeans(8, init="random", n_init=3, random_state=0).fit(X).inertia_


@pytest.mark.parametrize("init", STARTS)
def test_order_of_rows_does_not_matter(init):
    X = blobs(200, 3, 4)
    order = np.random.default_rng(1).permutation(len(X))
    one = KMeans(4, init=init, n_init=1, random_state=7).fit(X)
    two = KMeans(4, init=init, n_init=1, random_state=7).fit(X[order])
    np.testing.assert_allclose(two.cluster_centers_, one.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(two.labels_, one.labels_[order])


@pytest.mark.parametrize("init", STARTS)
def test_weight_two_is_the_row_twice(init):
    X = blobs(120, 2, 4)
    times = np.random.default_rng(2).integers(0, 4, size=len(X))
    one = KMeans(4, init=init, n_init=1, random_state=3).fit(X, sample_weight=times)
    two = KMeans(4, init=init, n_init=1, random_state=3).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(two.cluster_centers_, one.cluster_centers_, rtol=1e-9)
    assert two.inertia_ == pytest.approx(one.inertia_)


def test_translation_rotation_and_scale_move_the_centers_along():
    X = blobs(200, 2, 3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    model = KMeans(3, init=X[:3].copy()).fit(X)
    moved = KMeans(3, init=3 * X[:3] @ turn.T + 5).fit(3 * X @ turn.T + 5)
    np.testing.assert_array_equal(moved.labels_, model.labels_)
    np.testing.assert_allclose(moved.cluster_centers_, 3 * model.cluster_centers_ @ turn.T + 5)


def test_cells_are_convex():
    X = blobs(200, 2, 4)
    model = KMeans(4, random_state=0).fit(X)
    rng = np.random.default_rng(0)
    for _ in range(200):
        i, j = rng.integers(len(X), size=2)
        if model.labels_[i] == model.labels_[j]:
            between = X[i] + np.linspace(0, 1, 7)[:, None] * (X[j] - X[i])
            assert (model.predict(between) == model.labels_[i]).all()


def test_plus_plus_takes_no_duplicate_while_others_remain():
    X = np.repeat([[0.0], [1.0], [5.0]], [50, 2, 1], axis=0)
    for seed in range(20):
        assert len(np.unique(kmeans_plusplus(X, 3, random_state=seed)[0])) == 3


def test_one_thread_equals_many():
    X = blobs(30000, 4, 12)
    with threads(1):
        one = KMeans(12, random_state=0).fit(X)
    with threads(4):
        many = KMeans(12, random_state=0).fit(X)
    np.testing.assert_array_equal(one.cluster_centers_, many.cluster_centers_)
    assert one.inertia_ == many.inertia_


def test_float32_agrees_with_float64():
    X = blobs(2000, 4, 6).astype(np.float32)
    one = KMeans(6, random_state=0).fit(X)
    two = KMeans(6, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_, rtol=1e-10)
    assert one.transform(X).dtype == np.float32


def test_files_and_dask_agree_with_memory(tmp_path):
    import pandas as pd

    da = pytest.importorskip("dask.array")
    X = blobs(5000, 4, 6)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=700)
    here = KMeans(6, random_state=0).fit(X)
    for rows in (str(tmp_path / "x.parquet"), da.from_array(X, chunks=(1100, 4))):
        there = KMeans(6, random_state=0).fit(rows)
        np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-10)
        np.testing.assert_array_equal(there.labels_, here.labels_)
        assert there.n_iter_ == here.n_iter_


def test_statistics_add_over_blocks():
    X = blobs(500, 3, 4)
    model = KMeans(4, random_state=0).fit(X)
    whole = model.sufficient_statistics(X)
    halves = [model.sufficient_statistics(part) for part in (X[:200], X[200:])]
    for all_of_it, a, b in zip(whole, *halves, strict=True):
        np.testing.assert_allclose(all_of_it, a + b, rtol=1e-12)
    np.testing.assert_allclose(whole.sums / whole.weight[:, None], model.cluster_centers_)


def test_partial_fit_moves_centers_to_the_mean_of_all_rows():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = KMeans(2, random_state=0).partial_fit(X)
    model.partial_fit(np.array([[2.0], [12.0], [12.0]]))
    np.testing.assert_allclose(np.sort(model.cluster_centers_.ravel()), [1.0, 11.25])
    np.testing.assert_allclose(np.sort(model.counts_), [3, 4])


def test_iterate_hands_out_every_step():
    X = blobs(400, 2, 5)
    models = list(KMeans(5, init="random", n_init=1, random_state=0, tol=0).iterate(X))
    costs = [m.inertia_ for m in models]
    assert len(models) > 3 and (np.diff(costs) <= 1e-9).all()
    final = KMeans(5, init="random", n_init=1, random_state=0, tol=0).fit(X)
    np.testing.assert_array_equal(models[-1].cluster_centers_, final.cluster_centers_)


# awkward data


def test_empty_cluster_takes_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    init = np.array([[0.5], [1000.0]])
    model = KMeans(2, init=init).fit(X)
    np.testing.assert_allclose(np.sort(model.cluster_centers_.ravel()), [1, 50])
    with pytest.raises(DegenerateError, match="cluster 1 has no rows"):
        KMeans(2, init=init, empty_cluster="error").fit(X)
    dropped = KMeans(2, init=init, empty_cluster="drop").fit(X)
    assert dropped.n_clusters_ == 1 and dropped.cluster_centers_.item() == pytest.approx(13.25)


def test_fewer_distinct_rows_than_clusters_warns():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\)"):
        model = KMeans(3, random_state=0).fit(X)
    assert model.inertia_ == 0


def test_missing_entries_are_ignored():
    X = blobs(300, 3, 3, spread=0.3)
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    model = KMeans(3, missing="ignore", random_state=0, tol=0).fit(holes)
    assert (np.diff(model.half_steps_.ravel()) <= 1e-9).all()
    full = KMeans(3, random_state=0).fit(X)
    np.testing.assert_allclose(
        np.sort(model.cluster_centers_, axis=0), np.sort(full.cluster_centers_, axis=0), atol=0.3
    )
    for k in range(3):
        mine = holes[model.labels_ == k]
        np.testing.assert_allclose(model.cluster_centers_[k], np.nanmean(mine, axis=0))
    with pytest.raises(ValueError, match="NaN"):
        KMeans(3).fit(holes)


def test_missing_on_complete_data_changes_nothing():
    X = blobs(300, 3, 3)
    one = KMeans(3, random_state=0).fit(X)
    two = KMeans(3, random_state=0, missing="ignore").fit(X)
    np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_)


@pytest.mark.parametrize("factor", [1e-200, 1e-30, 1e30, 1e140])
def test_huge_and_tiny_numbers(factor):
    X = blobs(200, 2, 3)
    one = KMeans(3, random_state=0, init=X[:3].copy()).fit(X)
    two = KMeans(3, random_state=0, init=X[:3] * factor).fit(X * factor)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(two.cluster_centers_ / factor, one.cluster_centers_)


def test_far_from_the_origin():
    X = blobs(500, 2, 4, spread=0.1)
    one = KMeans(4, init=X[:4].copy(), tol=0).fit(X)
    two = KMeans(4, init=X[:4] + 1e6, tol=0).fit(X + 1e6)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert two.inertia_ == pytest.approx(one.inertia_, rel=1e-6)


def test_too_many_clusters_is_an_error():
    with pytest.raises(DataError, match="n_samples=3 should be >= n_clusters=5"):
        KMeans(5).fit(np.zeros((3, 2)))
    with pytest.raises(DataError, match="single column"):
        KMeans(2, algorithm="optimal_1d").fit(np.zeros((3, 2)))
    with pytest.raises(DataError, match="shape of the initial centers"):
        KMeans(2, init=np.zeros((3, 2))).fit(np.zeros((5, 2)))


def test_labels_and_functions_start_a_fit():
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert KMeans(2, init=labels).fit(LINE).inertia_ == pytest.approx(4)
    assert KMeans(2, init=lambda X, k, random_state: X[[0, 5]]).fit(LINE).inertia_ == pytest.approx(4)


# scikit-learn


@pytest.mark.parity
@pytest.mark.parametrize("shape", [(1000, 3, 6), (2000, 10, 20), (500, 1, 4)])
def test_same_as_scikit_learn(shape):
    n, d, k = shape
    X = blobs(n, d, k)
    init = X[:k].copy()
    weight = np.random.default_rng(0).random(n)
    for w in (None, weight):
        ours = KMeans(k, init=init).fit(X, sample_weight=w)
        peer = PeerKMeans(k, init=init, n_init=1).fit(X, sample_weight=w)
        assert ours.n_iter_ == peer.n_iter_
        np.testing.assert_array_equal(ours.labels_, peer.labels_)
        np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_)
        assert ours.inertia_ == pytest.approx(peer.inertia_)
        np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-9)
        assert ours.score(X, sample_weight=w) == pytest.approx(peer.score(X, sample_weight=w))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("k", [3, 70])
def test_every_step_is_that_of_a_slow_twin(algorithm, k):
    """Bounds and carried sums change nothing: labels, means and cost of each step, written plainly."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(3000, 4)) * [1.0, 3.0, 0.1, 1.0] + 5.0
    weight = rng.integers(0, 3, len(X)).astype(float)
    centers = X[:k].copy()
    for steps in range(1, 8):
        gaps = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        labels = gaps.argmin(axis=1)
        counts = np.bincount(labels, weight, k)[:, None]
        sums = np.zeros((k, 4))
        np.add.at(sums, labels, weight[:, None] * X)
        centers = np.where(counts > 0, sums / np.maximum(counts, 1), centers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KMeans(k, init=X[:k], algorithm=algorithm, max_iter=steps, tol=0.0)
            model.fit(X, sample_weight=weight)
        if (counts == 0).any():
            return  # where an empty one goes is another rule
        gaps = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-12)
        np.testing.assert_array_equal(model.labels_, gaps.argmin(axis=1))
        assert model.inertia_ == pytest.approx(weight @ gaps.min(axis=1), rel=1e-12)


def test_a_start_far_away_costs_no_digits():
    """Sums about an anchor round at the distance from it; a far anchor must be left behind."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    model = KMeans(2, init=np.array([[1e9, -1e9], [-1e9, 1e9]]), tol=0.0).fit(X)
    assert model.n_iter_ > 3
    means = [X[model.labels_ == k].mean(axis=0) for k in range(2)]
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12)
    assert model.inertia_ == pytest.approx(cost(X, np.array(means)), rel=1e-13)


def test_empty_clusters_take_far_rows_though_entries_are_missing():
    X = np.r_[np.zeros((20, 2)), [[5.0, 5.0], [9.0, np.nan]]]
    start = np.array([[0.0, 0.0], [100.0, 100.0], [200.0, 200.0]])
    model = KMeans(3, missing="ignore", init=start, n_init=1).fit(X)
    assert sorted(np.bincount(model.labels_)) == [1, 1, 20]
    assert sorted(map(tuple, model.cluster_centers_.tolist())) == [(0.0, 0.0), (5.0, 5.0), (9.0, 0.0)]


def test_dates_are_no_numbers():
    X = np.array([["2020-01-01"], ["NaT"], ["2020-03-01"]], dtype="M8[D]")
    with pytest.raises(DataError, match="dates"):
        KMeans(2).fit(X)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="dates"):
        KMeans(2).fit(pandas.DataFrame({"a": [1.0, 2.0, 3.0], "day": pandas.date_range("2020", periods=3)}))


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("narrow", [0, lloyd.NARROW])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_rows_get_the_labels_of_many(model, k, narrow, d, monkeypatch):
    rng = np.random.default_rng(k)
    X = np.concatenate([rng.normal(size=(60, d)), rng.integers(0, 3, size=(60, d))])  # ties, too
    weight = rng.integers(0, 3, size=120)
    found = model(k, random_state=0, max_iter=20).fit(X, sample_weight=weight)
    assert X.size * k <= lloyd.FEW_PRODUCTS
    monkeypatch.setattr(lloyd, "FEW_PRODUCTS", 0)
    monkeypatch.setattr(lloyd, "NARROW", narrow)
    other = model(k, random_state=0, max_iter=20).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(found.labels_, other.labels_)
    np.testing.assert_array_equal(found.cluster_centers_, other.cluster_centers_)
    np.testing.assert_array_equal(found.trace_.objective, other.trace_.objective)
    np.testing.assert_array_equal(found.predict(X), other.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_rows_side_by_side_have_the_distances_of_single_ones(d, dtype):
    rng = np.random.default_rng(d)
    X = np.concatenate([rng.normal(size=(1000, d)), rng.integers(0, 3, size=(300, d))]).astype(dtype)
    centers = np.concatenate([rng.normal(size=(6, d)), rng.integers(0, 3, size=(3, d))])
    found = []
    for loop in (kmeans_few.assign_few, kmeans_few.assign_narrow):
        labels, near = np.zeros(1300, np.int32), np.zeros(1300)
        found.append((loop(X, 7, 1291, centers, 0.5, labels, near), labels, near))
    assert found[0][0] == found[1][0] > 0
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-15)
    distances = np.square(0.5 * (X[7:1291, None].astype(float) - centers)).sum(axis=2)
    np.testing.assert_allclose(found[1][2][7:1291], distances.min(axis=1), rtol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"max_iter": 3}, {"max_no_improvement": None, "tol": 1e-3}, {"reassignment_ratio": 0.9}]
)
def test_passes_over_batches_that_nobody_sees_have_the_same_bits(options):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(70, 3)), rng.integers(0, 3, size=70)
    unseen = MiniBatchKMeans(4, random_state=0, **options).fit(X, sample_weight=weight)
    watched = MiniBatchKMeans(4, random_state=0, **options).set_callbacks(TimeBudget(1e9))
    seen = watched.fit(X, sample_weight=weight)
    for name in ("cluster_centers_", "labels_", "counts_", "inertia_", "n_iter_", "n_steps_", "converged_"):
        np.testing.assert_array_equal(getattr(unseen, name), getattr(seen, name))
    np.testing.assert_array_equal(unseen.trace_.objective, seen.trace_.objective)


@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize(
    ("init", "words"),
    [
        ([[1.0, 2.0], [3.0]], "init must be an array of numbers"),
        ([["a", "b"], ["c", "d"]], "init must be an array of numbers"),
        ([[np.nan, 2.0], [3.0, 4.0]], "not finite"),
        ([[1.0], [2.0]], "does not match"),
    ],
)
def test_centers_that_are_none_are_refused(model, init, words):
    with pytest.raises(DataError, match=words):
        model(2, init=init).fit(np.arange(20.0).reshape(10, 2))
