"""Lists and how good they are: the numbers of the lesson and properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, ndcg_score, root_mean_squared_error

from gnomon.core.errors import DataError
from gnomon.recommend import (
    KNNRecommender,
    MeanRecommender,
    PopularityRecommender,
    RatingMatrix,
    evaluate,
    list_metrics,
    ranking_metrics,
    rerank_mmr,
)
from recommend.data import R56, low_rank

SCORES = [0.9, 0.85, 0.8, 0.5]
ALIKE = [[1, 0.95, 0.1, 0.2], [0.95, 1, 0.15, 0.3], [0.1, 0.15, 1, 0.4], [0.2, 0.3, 0.4, 1]]


@pytest.mark.parametrize("t, order", [(1, [0, 1, 2, 3]), (0.7, [0, 2, 1, 3]), (0.5, [0, 2, 3, 1])])
def test_marginal_relevance_of_the_lesson(t, order):
    assert rerank_mmr(SCORES, ALIKE, trade_off=t).tolist() == order
    assert rerank_mmr(SCORES, ALIKE, 2, trade_off=t).tolist() == order[:2]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.integers(1, 12))
def test_marginal_relevance_is_a_choice_without_repeats(seed, t, N):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(9, 3))
    order = rerank_mmr(rng.random(9), V @ V.T, N, t)
    assert len(order) == min(N, 9) == len(set(order.tolist())) and set(order.tolist()) <= set(range(9))


def test_quota():
    scores, groups = [5, 4, 3, 2, 1], ["h", "h", "h", "c", None]
    assert rerank_mmr(scores, groups=groups, max_per_group=2).tolist() == [0, 1, 3, 4]
    assert rerank_mmr(scores, groups=groups, max_per_group=1).tolist() == [0, 3, 4]
    assert rerank_mmr(scores, groups=groups, max_per_group=1, N=2).tolist() == [0, 3]
    assert rerank_mmr(scores, groups=groups, max_per_group=0).tolist() == [4]
    assert rerank_mmr(SCORES, ALIKE, groups="aabb", max_per_group=1, trade_off=0.5).tolist() == [0, 2]
    with pytest.raises(DataError, match="as long as scores"):
        rerank_mmr(scores, groups=["h"], max_per_group=1)
    with pytest.raises(DataError, match="give both"):
        rerank_mmr(scores, groups=groups)


@pytest.mark.parametrize(
    ("scores", "alike", "told"),
    [
        (SCORES, np.eye(3), "similarity must be 4 by 4"),
        ([1.0, 2.0], [[1, np.nan], [np.nan, 1]], "must not be NaN"),
    ],
)
def test_scores_and_similarities_that_cannot_be_are_named(scores, alike, told):
    with pytest.raises(DataError, match=told):
        rerank_mmr(scores, alike)


def test_ranking_metrics_of_the_lesson():
    ranked, relevant = [3, 2, 1, 4, 5], {1, 3, 5}
    at3, at5 = ranking_metrics(ranked, relevant, 3), ranking_metrics(ranked, relevant, 5)
    assert at3["precision"] == pytest.approx(2 / 3) == at3["recall"]
    assert at5["average_precision"] == pytest.approx(34 / 45)
    assert at5["ndcg"] == pytest.approx(0.8854598816) and at3["ndcg"] == pytest.approx(0.7039180890)
    assert at5["mrr"] == at5["hit_rate"] == 1
    worth = {1: 3, 3: 2, 5: 1}
    assert ranking_metrics(ranked, worth, 5, gains="exponential")["ndcg"] == pytest.approx(0.7332063582)
    assert ranking_metrics(ranked, worth, 5, gains="linear")["ndcg"] == pytest.approx(0.8162468467)


def test_linear_ndcg_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    gains, scores = rng.integers(0, 4, size=8).astype(float), rng.permutation(8).astype(float)
    worth = {i: g for i, g in enumerate(gains) if g > 0}
    ours = ranking_metrics(np.argsort(-scores).tolist(), worth, 5, gains="linear")["ndcg"]
    assert ours == pytest.approx(ndcg_score([gains], [scores], k=5))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_metrics_stay_in_their_range_and_perfect_is_one(seed, k):
    rng = np.random.default_rng(seed)
    relevant = set(rng.choice(12, size=rng.integers(1, 6), replace=False).tolist())
    for value in ranking_metrics(rng.permutation(12).tolist(), relevant, k).values():
        assert 0 <= value <= 1
    best = [*relevant, *(set(range(12)) - relevant)]
    perfect = ranking_metrics(best, relevant, k)
    assert perfect["ndcg"] == pytest.approx(1.0) and perfect["average_precision"] == pytest.approx(1.0)


def test_list_metrics_by_hand():
    found = list_metrics(
        [["a", "b"], ["a", "c"]],
        list("abcd"),
        popularity={"a": 0.5, "b": 0.25, "c": 0.125, "d": 1.0},
        similarity=ALIKE,
    )
    assert found["coverage"] == 0.75 and found["novelty"] == pytest.approx((1 + 2 + 1 + 3) / 4)
    assert found["diversity"] == pytest.approx(((1 - 0.95) + (1 - 0.1)) / 2)
    with pytest.raises(DataError, match="not among items"):
        list_metrics([["z"]], list("ab"))


def test_errors_are_those_of_scikit_learn():
    train, test = RatingMatrix.from_dense(low_rank()).split(0.3, random_state=0)
    model = MeanRecommender("item").fit(train)
    pairs, y = test.pairs()
    found = evaluate(model, train, test)
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, model.predict(pairs)))
    assert found["mae"] == pytest.approx(mean_absolute_error(y, model.predict(pairs)))
    assert found["mae"] <= found["rmse"]
    drift = [abs((model.predict(pairs) - y)[test.users == a].mean()) for a in np.unique(test.users)]
    assert found["calibration"] == pytest.approx(np.mean(drift))


def test_evaluation_removes_training_items_and_counts_users():
    train, test = RatingMatrix.from_dense(R56).split(0.3, by="user", random_state=0)
    found = evaluate(PopularityRecommender(), train, test, k=6, refit=True)
    assert found["users"] == len(np.unique(test.users)) and found["skipped"] == 0
    assert found["recall"] == 1.0  # a list of all that is left has everything
    best = evaluate(KNNRecommender(), train, test, k=2, relevant=5, refit=True)
    good = len(np.unique(test.users[test.values >= 5]))
    assert best["users"] == good and best["skipped"] == len(np.unique(test.users)) - good
    some = evaluate(MeanRecommender(), train, test, metrics=["rmse"], refit=True)
    assert list(some) == ["rmse"]


def test_bad_requests_are_named():
    train, test = RatingMatrix.from_dense(R56).split(0.3, random_state=0)
    with pytest.raises(DataError, match="Did you mean 'ndcg'"):
        evaluate(MeanRecommender(), train, test, metrics=["ndgc"], refit=True)
    with pytest.raises(DataError, match="k must"):
        ranking_metrics([1], {1}, 0)
    with pytest.raises(DataError, match="gains"):
        ranking_metrics([1], {1}, gains="huge")
    with pytest.raises(DataError, match="twice"):
        ranking_metrics([1, 1], {1})
    with pytest.raises(DataError, match="trade_off"):
        rerank_mmr(SCORES, ALIKE, trade_off=2)
    assert all(math.isnan(value) for value in ranking_metrics([1], set()).values())


def test_missing_numbers_are_not_ranked_in_silence():
    from gnomon.recommend import round_ratings, similarity

    with pytest.raises(DataError, match="NaN"):
        rerank_mmr([np.nan, 1.0], np.eye(2))
    assert np.isnan(round_ratings([np.nan, 1.4], [1, 2])[0]) and round_ratings([np.nan, 1.4], [1, 2])[1] == 1
    with pytest.raises(DataError, match="positive integer"):
        ranking_metrics([1, 2], {1}, k=1.5)
    with pytest.raises(DataError, match="shrinkage"):
        similarity([[1, 2], [2, 3]], shrinkage=-5)
    with pytest.raises(DataError, match="min_common"):
        similarity([[1, 2], [2, 3]], min_common=0)
