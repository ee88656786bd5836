"""Models of neighbors: the numbers of the books, limits, weights that repeat rows, files."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.neighbors import (
    EpsilonBallClassifier,
    KernelRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    SoftNeighborsClassifier,
    bayes_error_bounds,
    suggest_k,
)
from gnomon.neighbors.kernel_weights import candidate_gammas

LINE = [[0.0], [1.0], [2.0], [3.0], [10.0]]
LABELS, TARGETS = [0, 0, 1, 1, 1], [0.0, 1.0, 4.0, 9.0, 100.0]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1297], y[:1297], X[1297:], y[1297:]


# k nearest


def test_five_points_by_hand():
    for k, label, value, near in [(1, 0, 1.0, None), (3, 0, 5 / 3, 1.8780488), (5, 1, 22.8, 4.6991259)]:
        assert KNeighborsClassifier(k).fit(LINE, LABELS).predict([[1.4]]) == [label]
        assert KNeighborsRegressor(k).fit(LINE, TARGETS).predict([[1.4]])[0] == pytest.approx(
            value, abs=1e-12
        )
        if near is not None:
            model = KNeighborsRegressor(k, weights="distance").fit(LINE, TARGETS)
            assert model.predict([[1.4]])[0] == pytest.approx(near, abs=1e-7)


def test_mistakes_on_the_digits(digits):
    X, y, Q, t = digits
    model = KNeighborsClassifier().fit(X, y)
    wrong = np.round(500 * model.error_curve(Q, t, [1, 3, 5, 7, 9, 15]))
    assert wrong.tolist() == [20, 16, 17, 22, 22, 23]
    for metric, expected in [("l1", [24, 21, 23]), ("correlation", [20, 17, 19])]:
        curve = KNeighborsClassifier(metric=metric).fit(X, y).error_curve(Q, t, [1, 3, 5])
        assert np.round(500 * curve).tolist() == expected


def test_iris_left_out_one_by_one():
    X, y = load_iris(return_X_y=True)
    curve = KNeighborsClassifier().fit(X, y).loo_error_curve([1, 3, 5, 7, 15])
    assert np.round(150 * curve).tolist() == [6, 6, 5, 5, 4]


def test_who_decided():
    model = KNeighborsClassifier(3, weights="distance").fit(LINE, np.array(["a", "a", "b", "b", "b"]))
    table = model.neighbors_table([[1.4]])
    assert table["row"].to_list() == [1, 2, 0] and table["label"].to_list() == ["a", "b", "a"]
    assert table["place"].to_list() == [1, 2, 3]
    np.testing.assert_allclose(table["distance"], [0.4, 0.6, 1.4])
    votes = model.votes([[1.4]])
    np.testing.assert_allclose(votes[0] / votes.sum(), model.predict_proba([[1.4]])[0])
    assert KNeighborsRegressor(2).fit(LINE, TARGETS).neighbors_table([[1.4]])["label"].to_list() == [1.0, 4.0]


def test_equal_votes_go_to_the_first_class_and_zero_distances_decide():
    assert KNeighborsClassifier(2).fit([[0.0], [1.0]], ["b", "a"]).predict([[0.1]]) == ["a"]
    model = KNeighborsRegressor(3, weights="distance").fit([[0.0], [0.0], [1.0]], [1.0, 3.0, 100.0])
    assert model.predict([[0.0]])[0] == 2.0  # the two at distance zero alone
    far = KNeighborsRegressor(2, weights="distance").fit([[1e-320], [1.0]], [1.0, 3.0])
    assert far.predict([[0.0]])[0] == pytest.approx(1.0)  # 1/d would be infinite


def test_nearest_neighbor_knows_its_rows_and_all_is_the_majority():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 3, size=50)
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1.0
    majority = np.bincount(y).argmax()
    assert (KNeighborsClassifier(50).fit(X, y).predict(X) == majority).all()
    np.testing.assert_allclose(KNeighborsRegressor(50).fit(X, 1.0 * y).predict(X), y.mean())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from(["uniform", "distance"]))
def test_a_weight_is_a_number_of_copies(seed, k, weights):
    rng = np.random.default_rng(seed)
    X, y, times = rng.integers(0, 5, size=(12, 2)) * 1.0, rng.normal(size=12), rng.integers(0, 4, size=12)
    times[0] = 7
    copies = np.repeat(np.arange(12), times)
    Q = rng.normal(2.0, 2.0, size=(5, 2))
    weighted = KNeighborsRegressor(min(k, (times > 0).sum()), weights=weights).fit(X, y, sample_weight=times)
    repeated = KNeighborsRegressor(weighted.n_neighbors, weights=weights).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict(Q), repeated.predict(Q), atol=1e-12)


def test_weights_are_copies_also_among_the_training_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    count = rng.integers(1, 4, 40)
    weighted = KNeighborsClassifier(5).fit(X, y, sample_weight=count)
    copied = KNeighborsClassifier(5).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.loo_error_curve([1, 2, 3, 5]), copied.loo_error_curve([1, 2, 3, 5]))
    np.testing.assert_array_equal(np.repeat(weighted.predict(None), count), copied.predict(None))
    few = KNeighborsClassifier(5).fit(X[:3], [0, 1, 1], sample_weight=[2.0, 2.0, 2.0])  # six rows
    assert few.votes(X[:1]).sum() == 5.0
    with pytest.raises(DataError, match="n_samples_fit = 6"):
        few.set_params(n_neighbors=7).predict(X[:1])


def test_columns_may_change_places_and_rows_turn():
    rng = np.random.default_rng(0)
    X, y, Q = rng.normal(size=(80, 4)), rng.integers(0, 2, size=80), rng.normal(size=(20, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    plain = KNeighborsClassifier(5).fit(X, y).predict(Q)
    np.testing.assert_array_equal(plain, KNeighborsClassifier(5).fit(X[:, ::-1], y).predict(Q[:, ::-1]))
    np.testing.assert_array_equal(plain, KNeighborsClassifier(5).fit(X @ turn, y).predict(Q @ turn))


def test_spread_and_intervals_of_neighbors():
    model = KNeighborsRegressor(4).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 3.0, 4.0])
    mean, std = model.predict([[1.0]], return_std=True)
    assert mean[0] == 2.5 and std[0] == pytest.approx(np.sqrt(1.25))
    assert [end.tolist() for end in model.predict_interval([[1.0]], 0.5)] == [[1.0], [3.0]]
    shifted = KNeighborsRegressor(4).fit([[0.0], [1.0], [2.0], [3.0]], np.array([1.0, 2.0, 3.0, 4.0]) + 1e8)
    assert shifted.predict([[1.0]], return_std=True)[1][0] == pytest.approx(np.sqrt(1.25), abs=1e-7)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_intervals_are_weighted_quantiles(weights):
    """The first value up to which the neighbors have the share (1 ∓ level) / 2 of the weight."""
    rng = np.random.default_rng(0)
    X, y, w, Q = (
        rng.normal(size=(30, 1)),
        rng.normal(size=30),
        rng.integers(1, 4, size=30),
        rng.normal(size=(6, 1)),
    )
    model = RadiusNeighborsRegressor(1.2, weights=weights).fit(X, y, sample_weight=w.astype(float))
    for level in (0.3, 0.9):
        low, high = model.predict_interval(Q, level)
        for i, q in enumerate(Q):
            d = np.abs(X - q)[:, 0]
            near = np.flatnonzero(d <= 1.2)
            near = near[np.argsort(y[near])]
            votes = (
                {"uniform": np.ones(30), "distance": 1 / d}[weights]
                if isinstance(weights, str)
                else weights(d)
            )
            share = np.cumsum(votes[near] * w[near]) / (votes[near] * w[near]).sum()
            ends = [y[near][np.argmax(share >= s - 1e-12)] for s in ((1 - level) / 2, (1 + level) / 2)]
            assert [low[i], high[i]] == ends
    for level in (0.0, 1.0, -0.1, 1.1, np.nan):
        with pytest.raises(DataError, match="must be between 0 and 1, such as 0.9"):
            model.predict_interval(Q, level)


def test_several_outputs():
    y = np.array([["a", "x"], ["a", "y"], ["b", "y"], ["b", "y"], ["b", "y"]])
    model = KNeighborsClassifier(3).fit(LINE, y)
    assert model.predict([[1.4]]).tolist() == [["a", "y"]]
    assert [p.shape for p in model.predict_proba([[1.4]])] == [(1, 2), (1, 2)]


def test_more_rows_come_nearer_to_the_best_error():
    rng = np.random.default_rng(0)

    def sample(n):
        y = rng.integers(0, 2, size=n)
        return rng.normal(size=(n, 2)) + np.array([1.0, 1.0]) * y[:, None], y

    from scipy.stats import norm

    best = norm.cdf(-np.sqrt(2) / 2)
    Q, t = sample(4000)
    gaps = []
    for n in (100, 10_000):
        errors = [
            1 - KNeighborsClassifier(suggest_k(n)).fit(*sample(n)).score(Q, t)
            for _ in range(4 if n == 100 else 1)
        ]
        gaps.append(np.mean(errors) - best)
    assert gaps[1] < gaps[0] / 2 + 0.005


def test_words_are_classified():
    model = KNeighborsClassifier(1, metric="edit").fit(
        ["cat", "bat", "house", "mouse"], ["pet", "pet", "home", "home"]
    )
    assert model.predict(["rat", "houses"]).tolist() == ["pet", "home"]


# within a radius


def test_nobody_in_reach():
    model = RadiusNeighborsClassifier(1.0).fit(LINE, LABELS)
    with pytest.raises(DataError, match="No neighbors found.*\\[1\\]"):
        model.predict([[0.0], [50.0]])
    labeled = RadiusNeighborsClassifier(1.0, outlier_label=1).fit(LINE, LABELS)
    assert labeled.predict([[0.0], [50.0]]).tolist() == [0, 1]
    often = RadiusNeighborsClassifier(1.0, outlier_label="most_frequent").fit(LINE, LABELS)
    assert often.predict_proba([[50.0]]).tolist() == [[0.0, 1.0]]
    with pytest.warns(UserWarning, match="1 of 2"):
        values = RadiusNeighborsRegressor(1.0).fit(LINE, TARGETS).predict([[0.5], [50.0]])
    assert values[0] == 0.5 and np.isnan(values[1])


# memory, soft votes, rules of thumb


def test_memory_knows_only_what_it_saw():
    X, y = [[0.0], [5.0], [1.0], [4.0]], ["+", "+", "-", "-"]
    model = EpsilonBallClassifier(0.5, positive_label="+").fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict([[0.5], [0.51], [4.6]]).tolist() == ["+", "-", "+"]
    away = [[50.0], [60.0], [70.0], [80.0]]
    assert model.score(away, ["+", "-", "+", "-"]) == 0.5
    with pytest.raises(ValueError, match="binary"):
        EpsilonBallClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match="epsilon"):
        EpsilonBallClassifier(-1.0).fit(X, y)


def test_soft_votes_by_hand():
    model = SoftNeighborsClassifier(1.0).fit([[0.0], [1.0], [2.0], [5.0]], [-1, -1, 1, 1])
    np.testing.assert_allclose(
        model.weights([[1.6]])[0], [0.0475097, 0.4287761, 0.5237083, 0.0000059], atol=1e-7
    )
    np.testing.assert_allclose(model.decision_function([[1.6], [1.4]]), [0.0474283, -0.1746773], atol=1e-7)
    assert model.predict([[1e6]]) == [1]  # far away the nearest decides, never 0/0


def test_soft_votes_between_their_limits():
    rng = np.random.default_rng(0)
    X, y, Q = rng.normal(size=(40, 2)), rng.integers(0, 3, size=40), rng.normal(size=(30, 2))
    hard = KNeighborsClassifier(1).fit(X, y).predict(Q)
    np.testing.assert_array_equal(SoftNeighborsClassifier(1e7).fit(X, y).predict(Q), hard)
    flat = SoftNeighborsClassifier(1e-12).fit(X, y)
    np.testing.assert_allclose(flat.predict_proba(Q), np.tile(np.bincount(y) / 40, (30, 1)), atol=1e-9)
    np.testing.assert_allclose(flat.weights(Q).sum(axis=1), 1.0)
    tied = SoftNeighborsClassifier(1e9).fit([[-1.0], [1.0]], [0, 1])
    np.testing.assert_allclose(tied.predict_proba([[0.0]]), [[0.5, 0.5]])


def test_width_of_soft_votes_by_leaving_out():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 1))
    y = (X[:, 0] > 0).astype(int)
    model = SoftNeighborsClassifier("loo").fit(X, y)
    losses = model.loo_path_[:, 1]
    assert model.gamma_ == model.loo_path_[losses.argmin(), 0]
    by_hand = 0.0
    for i in range(60):
        rest = np.arange(60) != i
        P = SoftNeighborsClassifier(float(model.gamma_)).fit(X[rest], y[rest]).predict_proba(X[[i]])
        by_hand -= np.log(P[0, y[i]]) / 60
    assert losses.min() == pytest.approx(by_hand, rel=1e-9)


def test_rules_of_thumb():
    assert [suggest_k(n) for n in (1, 3, 9, 100, 10_000)] == [1, 1, 3, 9, 99]
    lower, upper = bayes_error_bounds(0.18)
    assert lower == pytest.approx(0.1) and upper == 0.18  # 2 · 0.1 · 0.9
    lower, _ = bayes_error_bounds(0.3 * (2 - 1.5 * 0.3), n_classes=3)
    assert lower == pytest.approx(0.3)
    assert bayes_error_bounds(0.9) == (0.5, 0.5)
    with pytest.raises(DataError, match="error"):
        bayes_error_bounds(1.5)


# kernel regression


def test_kernel_regression_by_hand():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    model = KernelRegressor(1.0).fit(X, y)
    np.testing.assert_allclose(
        model.smoother_matrix([[1.5]])[0], [0.0633789, 0.4683105, 0.4683105], atol=1e-7
    )
    assert model.predict([[1.5]])[0] == pytest.approx(2.3415527, abs=1e-7)
    assert KernelRegressor(1.0, normalize=False).fit(X, y).predict([[1.5]])[0] == pytest.approx(
        3.8940039, abs=1e-7
    )
    assert KernelRegressor(1.0, degree=1).fit(X, y).predict([[1.5]])[0] == pytest.approx(2.5807164, abs=1e-7)
    assert KernelRegressor(10.0).fit(X, y).predict([[1.5]])[0] == pytest.approx(2.5, abs=1e-6)
    assert KernelRegressor(0.01).fit(X, y).predict([[1.5]])[0] == pytest.approx(1.6777405, abs=1e-7)
    assert model.predict([[1000.0]])[0] == 4.0
    left = model.loo_predict()
    np.testing.assert_allclose(left, [1.1422776, 2.0, 0.9525741], atol=1e-7)
    assert np.mean((left - y) ** 2) == pytest.approx(3.8638675, abs=1e-7)
    assert model.df_ == pytest.approx(np.trace(model.smoother_matrix(X)))


def test_local_lines_find_lines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 1e8
    y = (X - 1e8) @ [2.0, -1.0] + 3.0
    Q = X[:5] + 0.1
    found = KernelRegressor(0.5, degree=1).fit(X, y).predict(Q)
    np.testing.assert_allclose(found, (Q - 1e8) @ [2.0, -1.0] + 3.0, atol=1e-6)
    constant = np.c_[X, np.ones(40)]
    np.testing.assert_allclose(
        KernelRegressor(0.5, degree=1).fit(constant, y).predict(np.c_[Q, np.ones(5)]), found, atol=1e-6
    )


def test_means_stay_in_the_range_of_the_targets():
    rng = np.random.default_rng(0)
    X, y, Q = rng.normal(size=(30, 1)), rng.normal(size=30), rng.normal(0, 5, size=(50, 1))
    inside = KernelRegressor(3.0).fit(X, y).predict(Q)
    assert inside.min() >= y.min() - 1e-12 and inside.max() <= y.max() + 1e-12
    np.testing.assert_allclose(KernelRegressor(3.0).fit(X, y + 1e6).predict(Q), inside + 1e6, atol=1e-8)
    plain = KernelRegressor(3.0, normalize=False)
    np.testing.assert_allclose(plain.fit(X, 2 * y).predict(Q), 2 * plain.fit(X, y).predict(Q), atol=1e-12)
    assert abs(plain.predict([[1e3]])[0]) == 0.0


def test_width_by_leaving_out():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=50))[:, None]
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=50)
    model = KernelRegressor("loo").fit(X, y)
    fixed = KernelRegressor(float(model.gamma_)).fit(X, y)
    assert model.loo_path_[:, 1].min() == pytest.approx(np.mean((fixed.loo_predict() - y) ** 2), rel=1e-9)
    rest = np.arange(50) != 7
    alone = KernelRegressor(float(model.gamma_)).fit(X[rest], y[rest]).predict(X[[7]])
    assert fixed.loo_predict()[7] == pytest.approx(alone[0])
    assert 0.3 < model.gamma_ < 100


def fitted_twice(cls, X, y, w, *options, **more):
    """Fit with weights, and to rows that are there as often."""
    once = cls(*options, **more).fit(X, y, sample_weight=w.astype(float))
    return once, cls(*options, **more).fit(np.repeat(X, w, axis=0), np.repeat(y, w, axis=0))


@pytest.mark.parametrize("degree", [0, 1])
def test_weights_of_kernel_means_are_copies(degree):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(15, 1)), rng.normal(size=(15, 2)), rng.integers(0, 3, size=15)
    one, other = fitted_twice(KernelRegressor, X, y, w, 2.0, degree=degree)
    assert one.df_ == pytest.approx(other.df_)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)
    np.testing.assert_allclose(np.repeat(one.loo_predict(), w[w > 0], axis=0), other.loo_predict(), rtol=1e-9)
    one, other = fitted_twice(KernelRegressor, X, y, w, "loo", degree=degree)
    few = slice(None, 15 if degree else None)  # a line through one row in reach is anybody's
    np.testing.assert_allclose(one.loo_path_[few], other.loo_path_[few], rtol=1e-6)
    one, other = fitted_twice(SoftNeighborsClassifier, X, y[:, 0] > 0, w, "loo")
    np.testing.assert_allclose(one.loo_path_, other.loo_path_, rtol=1e-9)
    one, other = fitted_twice(SoftNeighborsClassifier, X, y[:, 0] > 0, w, 2.0)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(one.class_share_, other.class_share_)


def test_the_grid_of_widths_depends_on_neither_order_nor_copies():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(1100, 1)), rng.normal(0, 0.01, size=(1100, 1))]
    grid = candidate_gammas(X)
    assert grid.tobytes() == candidate_gammas(rng.permutation(np.r_[X, X[:700]])).tobytes()
    np.testing.assert_allclose(
        candidate_gammas(X[:3] * 0 + [[0.0], [3.0], [5.0]]), np.logspace(-4, 4, 33) / 4
    )
    np.testing.assert_array_equal(candidate_gammas(np.zeros((3, 1))), np.logspace(-4, 4, 33))


def test_spread_around_a_kernel_mean():
    X, y, Q = [[0.0], [1.0], [2.0]], np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 9.0]]), [[1.5], [0.2]]
    for normalize in (True, False):
        model = KernelRegressor(1.0, normalize=normalize).fit(X, y)
        mean, spread = model.predict(Q, return_std=True)
        S = model.smoother_matrix(Q)
        p = S / S.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(mean, S @ y)
        np.testing.assert_allclose(spread**2, [p[i] @ (y - mean[i]) ** 2 for i in range(2)])
    one = KernelRegressor(1.0).fit(X, y[:, 0])
    assert one.predict(Q, return_std=True)[1].shape == (2,)


def test_what_no_width_can_do_is_said():
    with pytest.raises(DataError, match="no plain sum"):
        KernelRegressor(1.0, normalize=False, degree=1).fit(LINE, TARGETS)
    for X, weight in (([[0.0]], [1.0]), ([[0.0], [1.0]], [1.0, 0.0]), ([[0.0], [1.0]], [0.5, 0.5])):
        with pytest.raises(DataError, match="two rows"):
            KernelRegressor("loo").fit(X, np.arange(len(X)), sample_weight=weight)
    far = [[0.0], [1.0], [1e9]]
    with pytest.raises(DataError, match="no width of the grid reaches"):
        KernelRegressor("loo", kernel="tophat").fit(far, [0.0, 1.0, 2.0])


def test_compact_kernels_end():
    for kernel, weight in [("tophat", 1.0), ("epanechnikov", 0.75), ("tricube", (1 - 0.125) ** 3)]:
        plain = KernelRegressor(1.0, kernel=kernel, normalize=False).fit([[0.0]], [2.0])
        assert plain.predict([[0.5]])[0] == pytest.approx(2.0 * weight)
    model = KernelRegressor(1.0, kernel="tricube").fit([[0.0], [0.5]], [1.0, 2.0])
    with pytest.warns(UserWarning, match="1 of 2 rows"):
        assert np.isnan(model.predict([[0.2], [9.0]])).tolist() == [False, True]
    own = KernelRegressor(1.0, kernel=lambda u: np.exp(-(u**2))).fit([[0.0], [1.0]], [0.0, 1.0])
    np.testing.assert_allclose(
        own.predict([[0.3]]), KernelRegressor(1.0).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.3]])
    )


# outliers


def test_one_far_point_stands_out():
    X = np.r_[np.random.default_rng(0).normal(size=(60, 2)), [[9.0, 9.0]]]
    model = LocalOutlierFactor(n_neighbors=10)
    labels = model.fit_predict(X)
    assert labels[-1] == -1 and model.negative_outlier_factor_.argmin() == 60
    new = LocalOutlierFactor(n_neighbors=10, novelty=True).fit(X[:-1])
    assert new.predict([[9.0, 9.0], [0.0, 0.0]]).tolist() == [-1, 1]
    assert not hasattr(new, "fit_predict") and not hasattr(model, "predict")
    share = LocalOutlierFactor(n_neighbors=10, contamination=0.1).fit_predict(X)
    assert (share == -1).sum() == 6


def local_factors(X, Q, k, own):
    """Breunig et al. by loops; with `own` the queries are the rows and none is its own neighbor."""

    def near(q, skip=None):
        rest = [j for j in range(len(X)) if j != skip]
        return sorted(rest, key=lambda j: (np.linalg.norm(X[j] - q), j))[:k]

    def density(q, skip=None):
        gaps = [max(reach[j], np.linalg.norm(X[j] - q)) for j in near(q, skip)]
        return 1 / (np.mean(gaps) + 1e-10)

    reach = [np.linalg.norm(X[near(x, i)[-1]] - x) for i, x in enumerate(X)]
    known = [density(x, i) for i, x in enumerate(X)]
    found = []
    for i, q in enumerate(Q):
        skip = i if own else None
        found.append(np.mean([known[j] for j in near(q, skip)]) / density(q, skip))
    return np.array(found)


@pytest.mark.parametrize("k", [1, 3, 11])
def test_factors_are_their_definition(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    X[5] = X[4]  # a row twice
    X[0] = [6.0, 6.0]
    Q = np.r_[X[:2], rng.normal(0, 3, size=(5, 2))]
    for metric in ("minkowski", "manhattan"):
        model = LocalOutlierFactor(k, metric=metric, novelty=True).fit(X)
        if metric == "minkowski":
            np.testing.assert_allclose(-model.negative_outlier_factor_, local_factors(X, X, k, True))
            np.testing.assert_allclose(-model.score_samples(Q), local_factors(X, Q, k, False))
        np.testing.assert_allclose(model.decision_function(Q), model.score_samples(Q) + 1.5)
        assert model.predict(Q).tolist() == np.where(model.score_samples(Q) < -1.5, -1, 1).tolist()


def test_a_share_of_outliers_sets_the_threshold():
    X = np.random.default_rng(0).normal(size=(41, 2))
    model = LocalOutlierFactor(5, contamination=0.25)
    labels, factors = model.fit_predict(X), model.negative_outlier_factor_
    assert model.offset_ == np.sort(factors)[10]  # a quarter of the way: ten are below it
    assert (labels == -1).sum() == 10 and factors[labels == -1].max() < factors[labels == 1].min()


def test_too_many_neighbors_and_equal_rows_are_said():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.warns(UserWarning, match="greater than the total number of samples"):
        most = LocalOutlierFactor(7).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = LocalOutlierFactor(6).fit(X)
    assert most.n_neighbors_ == again.n_neighbors_ == 5
    same = np.r_[np.zeros((4, 1)), [[1.0]]]
    with pytest.warns(UserWarning, match="Duplicate values"):
        LocalOutlierFactor(2).fit(same)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LocalOutlierFactor(2, novelty=True).fit(same)
    with pytest.raises(ValueError, match="a row is not its own neighbor"):
        LocalOutlierFactor(1).fit(X[:1])


@pytest.mark.parity
def test_same_factors_as_scikit_learn():
    from sklearn import neighbors as theirs

    X = np.random.default_rng(0).normal(size=(100, 3))
    ours = LocalOutlierFactor(n_neighbors=12).fit(X).negative_outlier_factor_
    np.testing.assert_allclose(
        ours, theirs.LocalOutlierFactor(n_neighbors=12).fit(X).negative_outlier_factor_
    )


@pytest.mark.parity
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_same_as_scikit_learn(weights):
    from sklearn import neighbors as theirs

    rng = np.random.default_rng(0)
    X, y, t, Q = (
        rng.normal(size=(200, 3)),
        rng.integers(0, 3, size=200),
        rng.normal(size=200),
        rng.normal(size=(50, 3)),
    )
    for name, arguments, target in [
        ("KNeighborsClassifier", {"n_neighbors": 7}, y),
        ("RadiusNeighborsClassifier", {"radius": 2.5}, y),
        ("KNeighborsRegressor", {"n_neighbors": 7}, t),
        ("RadiusNeighborsRegressor", {"radius": 2.5}, t),
    ]:
        mine = {
            c.__name__: c
            for c in (
                KNeighborsClassifier,
                RadiusNeighborsClassifier,
                KNeighborsRegressor,
                RadiusNeighborsRegressor,
            )
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = X[:50] * 0.9 if name.startswith("Radius") else Q
            a = mine[name](**arguments, weights=weights).fit(X, target)
            b = getattr(theirs, name)(**arguments, weights=weights).fit(X, target)
            np.testing.assert_allclose(a.predict(Z), b.predict(Z), atol=1e-10)
            if hasattr(a, "predict_proba"):
                np.testing.assert_allclose(a.predict_proba(Z), b.predict_proba(Z), atol=1e-10)


# files


def test_the_index_is_saved_with_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 2)), rng.integers(0, 2, size=2500)
    for model in (
        KNeighborsClassifier(3).fit(X, y),
        KNeighborsClassifier(3, algorithm="ball_tree").fit(X[:100], y[:100]),
        KNeighborsClassifier(3, metric="cosine").fit(X[:100], y[:100]),
        KNeighborsRegressor(1, metric="edit").fit(["a", "bb"], [0.0, 1.0]),
    ):
        save(model, tmp_path / "model")
        twin = load(tmp_path / "model")
        assert type(twin.index_) is type(model.index_)
        query = X[:20] if model.metric != "edit" else ["b", "aa"]
        np.testing.assert_array_equal(twin.predict(query), model.predict(query))


def test_impossible_indexes_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, size=300)

    def broken(change, **options):
        model = KNeighborsClassifier(3, **options).fit(X, y)
        change(model)
        with pytest.raises(ModelFileError):
            model._check_loaded()

    def tree(**fields):
        def change(model):
            model.index_.tree = model.index_.tree._replace(
                **{name: make(getattr(model.index_.tree, name)) for name, make in fields.items()}
            )

        return change

    kd = {"algorithm": "kd_tree"}
    broken(tree(order=lambda order: order + 1), **kd)
    broken(tree(ends=lambda ends: ends * 2), **kd)
    broken(tree(points=lambda points: points[:-1]), **kd)
    for column in (-1, 2):
        broken(
            tree(split=lambda split, k=column: np.column_stack([np.full(len(split), k), split[:, 1]])), **kd
        )
    broken(tree(width=lambda width: width + 1), **kd)
    broken(tree(order=lambda order: np.where(order == 0, 1, order)), **kd)
    broken(tree(order=lambda order: order.astype(np.int32)), **kd)
    broken(tree(split=lambda split: split + 7), **kd)
    broken(tree(width=lambda width: width - 1), **kd)
    broken(lambda model: setattr(model, "targets_", model.targets_ + 5), **kd)
    broken(lambda model: setattr(model.index_, "norms", model.index_.norms[:5]), algorithm="brute")
    words = KNeighborsRegressor(1, metric="edit").fit(["a", "bb"], [0.0, 1.0])
    words.index_.words = words.index_.words._replace(codes=words.index_.words.codes + 9)
    with pytest.raises(ModelFileError):
        words._check_loaded()
    vantage = NearestNeighbors(metric="edit", algorithm="vp_tree").fit([f"word {i}" for i in range(50)])
    vantage.index_.nodes[0] = vantage.index_.nodes[0]._replace(near=0)  # a cycle
    with pytest.raises(ModelFileError):
        vantage._check_loaded()


def test_fit_says_what_is_missing():
    with pytest.raises(DataError, match="y is missing"):
        KNeighborsClassifier(metric="edit").fit(["a", "b"], None)
    with pytest.raises(DataError, match="y has 1"):
        KNeighborsClassifier(metric="edit").fit(["a", "b"], [1])
    assert json.dumps(KNeighborsClassifier().get_params()) is not None
