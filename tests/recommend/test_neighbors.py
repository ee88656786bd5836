"""Baselines, similarities, neighbors, content: the numbers of the lesson, and twins."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn.linear_model import Ridge

from gnomon.core.errors import DataError, ModelFileError
from gnomon.recommend import (
    ContentBasedRecommender,
    KNNRecommender,
    MeanRecommender,
    PopularityRecommender,
    RatingMatrix,
    similarity,
)
from recommend.data import R56, Y23, low_rank, n

# oracles


def test_two_common_ratings_correlate_wholly():
    assert similarity([[5, 3, n], [4, 2, 1]], 0, 1) == pytest.approx(1.0)


def test_similarities_of_the_lesson():
    want = {
        (0, 1): 0.7481900559,
        (0, 2): -0.7833494518,
        (0, 3): 0.9486832981,
        (0, 4): -0.9694584179,
        (1, 2): -0.8401680504,
        (1, 3): 0.5477225575,
        (2, 4): 0.7453559925,
        (3, 4): -0.9045340337,
    }
    table = similarity(R56)
    for (a, b), value in want.items():
        assert table[a, b] == pytest.approx(value, rel=1e-9) == similarity(R56, a, b)
    items = similarity(R56, mode="item")[4]
    np.testing.assert_allclose(
        items, [-0.6546536707, 0.5291502622, -0.5, 0.8783100657, 1.0, 0.7205766921], rtol=1e-9
    )
    assert similarity(R56, 0, 1, kind="cosine") == pytest.approx(0.9601920576, rel=1e-9)
    assert similarity(R56, 4, 3, kind="adjusted_cosine", mode="item") == pytest.approx(0.7149666756, rel=1e-9)


def test_other_similarities_by_hand():
    R = [[5, 3, n, 1], [4, n, 2, 3]]
    assert similarity(R, 0, 1, kind="msd") == pytest.approx(1 / (1 + (1 + 4) / 2))
    assert similarity(R, 0, 1, kind="jaccard") == pytest.approx(2 / 4)
    assert similarity(R, 0, 1, kind="cosine", shrinkage=2) == pytest.approx(
        23 / np.sqrt(26 * 25) * 2 / (2 + 2)
    )
    assert np.isnan(similarity(R, 0, 1, min_common=3)) and np.isnan(similarity([[3, 3], [1, 2]], 0, 1))


def test_predictions_of_user_neighbors():
    for k, value, ids in [(1, 1.4, [3]), (2, 2.0172918420, [3, 1]), (3, 2.1697495849, [3, 1, 2])]:
        model = KNNRecommender(k).fit(R56)
        assert model.predict([(0, 4)])[0] == pytest.approx(value, rel=1e-9)
        assert model.neighbors(0, 4)[0].tolist() == ids
    assert KNNRecommender(4).fit(R56).predict([(0, 4)])[0] == pytest.approx(2.1220451295, rel=1e-9)
    ids, weights = KNNRecommender(2).fit(R56).neighbors(0, 4)
    np.testing.assert_allclose(weights, [0.9486832981, 0.7481900559], rtol=1e-9)


def test_predictions_of_item_neighbors():
    for k, value in [(1, 1.45), (2, 1.5852022003), (3, 1.8997024092), (5, 1.9377257078)]:
        model = KNNRecommender(k, mode="item").fit(R56)
        assert model.predict([(0, 4)])[0] == pytest.approx(value, rel=1e-9)
    assert KNNRecommender(1, mode="item").fit(R56).neighbors(0, 4)[0].tolist() == [3]


def test_biases_of_the_lesson():
    model = MeanRecommender("biases", regularization=1.0).fit(R56)
    assert model.global_mean_ == pytest.approx(3.2692307692)
    users = [-0.2365782493, -0.0296816976, 0.1965384615, -0.6158885942, 0.6944562334]
    items = [-0.3403315650, 0.1075, 0.5217374005, -0.3925, -0.0644694960, 0.1769098143]
    np.testing.assert_allclose(model.user_bias_, users, atol=1e-10)
    np.testing.assert_allclose(model.item_bias_, items, atol=1e-10)
    assert model.predict([(0, 4)])[0] == pytest.approx(2.9681830239, rel=1e-9)


def test_itself_as_a_neighbor_returns_the_rating():
    model = KNNRecommender(1, include_self=True).fit(R56)
    rows, columns = np.nonzero(~np.isnan(R56))
    np.testing.assert_allclose(model.predict(np.column_stack([rows, columns])), R56[rows, columns])


def test_unconstrained_fit_of_the_lesson():
    assert RatingMatrix.from_dense(Y23).unconstrained_fit(1.0).tolist() == [[2.5, 0, 3.5], [0.5, 1, 0]]


def test_content_of_the_lesson():
    features = np.array([[1.0, 0], [1, 1], [0, 1], [2, 1]])
    plain = ContentBasedRecommender().fit([[5, 3, 1, n]], item_features=features)
    np.testing.assert_allclose(plain.coef_, [[2.5, 0.5]])
    np.testing.assert_allclose(plain.predict_matrix(), [[2.5, 3, 0.5, 5.5]])
    moved = ContentBasedRecommender(offset="shift").fit([[5, 3, 1, n]], item_features=features)
    np.testing.assert_allclose(moved.coef_, [[1, -1]])
    np.testing.assert_allclose(moved.predict_matrix(), [[4, 3, 2, 4]])
    np.testing.assert_allclose(plain.explain(0, 3), [5.0, 0.5])


def test_more_features_may_raise_the_training_error_of_ridge():
    def error(features):
        model = ContentBasedRecommender(regularization=2.0).fit([[1, 1]], item_features=np.array(features))
        return float(np.mean((model.predict([(0, 0), (0, 1)]) - 1) ** 2) / 2)

    # λ = 1 with the data term averaged over two points is λ = 2 with their sum
    small, large = error([[1.0], [2.0]]), error([[1.0, 0], [2.0, 3]])
    assert (small, large) == pytest.approx((0.0867346939, 0.1011302796), rel=1e-8)


# twins and properties


def test_similarity_equals_scipy_on_the_common_set():
    Y = low_rank(12, 15, seed=3)
    table = similarity(Y)
    for a in range(12):
        for b in range(a):
            both = ~np.isnan(Y[a]) & ~np.isnan(Y[b])
            if both.sum() >= 2:
                assert table[a, b] == pytest.approx(pearsonr(Y[a, both], Y[b, both])[0], abs=1e-10)
    np.testing.assert_allclose(table, table.T)
    assert np.nanmax(np.abs(table)) <= 1.0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(-5, 5))
def test_correlation_ignores_scale_and_shift(seed, a, b):
    Y = low_rank(6, 10, seed=seed)
    other = Y.copy()
    other[2] = a * Y[2] + b
    np.testing.assert_allclose(similarity(Y)[2], similarity(other)[2], atol=1e-8)


def knn_by_definition(Y, k, a, i):
    table, means = similarity(Y), np.nanmean(Y, axis=1)
    raters = [b for b in range(len(Y)) if b != a and not np.isnan(Y[b, i]) and not np.isnan(table[a, b])]
    raters = sorted(raters, key=lambda b: (-table[a, b], b))[:k]
    top = sum(table[a, b] * (Y[b, i] - means[b]) for b in raters)
    bottom = sum(abs(table[a, b]) for b in raters)
    return means[a] + (top / bottom if bottom else 0.0)


def test_knn_equals_its_definition():
    Y = low_rank(15, 9, density=0.5, seed=1)
    for k in (1, 3, 20):
        model = KNNRecommender(k).fit(Y)
        for a in range(15):
            for i in range(9):
                assert model.predict([(a, i)])[0] == pytest.approx(knn_by_definition(Y, k, a, i))


def test_knn_moves_with_the_target_and_not_with_a_neighbor():
    Y = low_rank(12, 9, seed=5)
    base = KNNRecommender(3).fit(Y).predict_matrix()
    up = Y.copy()
    up[3] += 2
    moved = KNNRecommender(3).fit(up).predict_matrix()
    np.testing.assert_allclose(moved[3], base[3] + 2, atol=1e-9)
    np.testing.assert_allclose(np.delete(moved, 3, 0), np.delete(base, 3, 0), atol=1e-9)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(KNNRecommender(3).fit(Y[order]).predict_matrix(), base[order], atol=1e-9)


def test_content_equals_ridge_per_user():
    Y, rng = low_rank(8, 12, seed=2), np.random.default_rng(0)
    for d in (3, 20):  # fewer and more features than ratings
        features = rng.normal(size=(12, d))
        model = ContentBasedRecommender(regularization=0.7, offset="user_mean").fit(Y, item_features=features)
        for a in range(8):
            seen = ~np.isnan(Y[a])
            ridge = Ridge(0.7, fit_intercept=False).fit(features[seen], Y[a, seen] - Y[a, seen].mean())
            np.testing.assert_allclose(model.coef_[a], ridge.coef_, atol=1e-8)
            assert model.explain(a, 0).sum() + Y[a, seen].mean() == pytest.approx(model.predict([(a, 0)])[0])


def test_content_knows_new_items_and_binary_labels():
    films = {"alien": [1.0, 0.0], "jaws": [1.0, 0.2], "up": [0.0, 1.0]}
    pairs = [("ann", "alien"), ("ann", "up"), ("bob", "jaws"), ("bob", "up")]
    model = ContentBasedRecommender(regularization=0.1, binary=True).fit(
        pairs, [1, 0, 0, 1], item_features=films
    )
    assert model.predict(pairs).tolist() == [1, 0, 0, 1]
    assert model.predict_items("ann", [[0.9, 0.1], [0.1, 0.9]]).tolist() == [1, 0]
    assert model.predict_items("new", [[1.0, 0.0]]).tolist() == [0.5]
    strong = ContentBasedRecommender(regularization=1e6, binary=True).fit(
        pairs, [1, 0, 0, 1], item_features=films
    )
    assert strong.predict(pairs).tolist() == [0, 0, 0, 0]
    signs = ContentBasedRecommender(regularization=0.1, binary=True).fit(
        pairs, [1, -1, -1, 1], item_features=films
    )
    assert signs.predict(pairs).tolist() == [1, -1, -1, 1]
    cut = ContentBasedRecommender(regularization=0.1, binary=True, threshold=3).fit(
        pairs, [5, 1, 2, 4], item_features=films
    )
    assert cut.predict(pairs).tolist() == [1, 0, 0, 1]
    with pytest.raises(DataError, match="threshold"):
        ContentBasedRecommender(binary=True).fit(pairs, [5, 1, 2, 4], item_features=films)
    with pytest.raises(DataError, match="no row for 'up'"):
        ContentBasedRecommender().fit(pairs, [5, 1, 2, 4], item_features={"alien": [1], "jaws": [1]})


def test_content_without_penalty_takes_the_smallest_solution():
    features = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    with pytest.warns(UserWarning, match="1 users have too few ratings"):
        model = ContentBasedRecommender(regularization=0).fit([[2, 3]], item_features=features)
    np.testing.assert_allclose(model.coef_[0], np.linalg.pinv(features) @ [2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as many ratings as weights are enough
        known = ContentBasedRecommender(regularization=0).fit([[2, 3]], item_features=features[:, :2])
    np.testing.assert_allclose(known.coef_[0], [-1, 3])


def test_means_and_popularity():
    for level, value in [("user", 3.0), ("item", 3.25), ("global", 3.2692307692)]:
        assert MeanRecommender(level).fit(R56).predict([(0, 4)])[0] == pytest.approx(value)
    model = PopularityRecommender().fit([[1, 2, n, 5], [n, 3, n, 1], [n, 1, 4, 1]])
    assert model.counts_.tolist() == [1, 3, 1, 3]
    ids, scores = model.recommend("somebody", N=4)
    assert ids.tolist() == [3, 1, 2, 0] and scores.tolist() == [3, 3, 1, 1]  # ties go to the better mean
    assert model.recommend(1)[0].tolist() == [2, 0]
    liked = PopularityRecommender(threshold=3).fit([[1, 2, n, 5], [n, 3, n, 1], [n, 1, 4, 1]])
    assert liked.counts_.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(("diversity", "second"), [(0.4, 1), (0.6, 2)])
def test_variety_weighs_likeness_against_counts(diversity, second):
    """Two twins with two ratings each, sixty others with one: the twin is worth 1 − 2·diversity, they nothing."""
    pairs = [(user, item) for user in (100, 101) for item in (0, 1)] + [(k, k) for k in range(2, 62)]
    model = PopularityRecommender().fit(pairs, np.full(len(pairs), 3.0))
    assert model.recommend("new", N=13, diversity=diversity)[0][:2].tolist() == [0, second]


# awkward ratings


def test_one_rating_and_constant_ratings():
    for model in (MeanRecommender("biases"), KNNRecommender(), PopularityRecommender()):
        assert (
            model.fit([("a", "x")], [4.0]).predict([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")]).tolist()
            == [4.0] * 4
        )
    same = np.full((4, 5), 3.0)
    same[2, 3] = n
    for model in (MeanRecommender("biases"), KNNRecommender()):
        np.testing.assert_allclose(model.fit(same).predict_matrix(), 3.0)


def test_users_without_ratings_are_newcomers():
    R = RatingMatrix.from_dense([[5, 3, n], [n, n, n], [1, n, 2]])
    model = KNNRecommender().fit(R)
    assert model.predict([(1, 0)])[0] == 3.0 and model.predict_source([(1, 0)])[0] == "item mean"
    ids, scores = model.recommend(1)
    assert len(ids) == 3 and np.isfinite(scores).all()


def test_too_many_to_compare_are_refused(monkeypatch):
    from gnomon.recommend import neighbors

    monkeypatch.setattr(neighbors, "MOST_COMPARED", 5)
    KNNRecommender().fit(R56)
    with pytest.raises(DataError, match="mode='item' compares 6 items"):
        KNNRecommender(mode="item").fit(R56)


def test_tables_of_a_spoiled_file_are_refused():
    model = KNNRecommender().fit(R56)
    model._check_loaded()
    for name in ("similarities_", "means_", "user_means_", "item_means_"):
        spoiled = copy.copy(model)
        setattr(spoiled, name, getattr(model, name)[:-1])
        with pytest.raises(ModelFileError):
            spoiled._check_loaded()


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("data", lambda values: values[:-1]),
        ("indices", lambda values: values[:-1]),
        ("indices", lambda values: np.where(values == 5, 6, values)),
        ("indices", lambda values: values - 1),
        ("indptr", lambda values: values[:-1]),
        ("indptr", lambda values: np.append(1, values[1:])),
        ("indptr", lambda values: np.append(values[:-1], values[-1] - 1)),
        ("indptr", lambda values: values[[0, 2, 1, 3, 4, 5]]),
    ],
)
def test_ratings_of_a_spoiled_file_are_refused(part, change):
    model = MeanRecommender().fit(R56)
    model._check_loaded()
    setattr(model.ratings_, part, change(getattr(model.ratings_, part)))
    with pytest.raises(ModelFileError, match="ratings do not fit"):
        model._check_loaded()


def test_ratings_of_other_users_and_items_are_refused():
    for name in ("users_", "items_"):
        model = MeanRecommender().fit(R56)
        setattr(model, name, getattr(model, name)[:-1])
        with pytest.raises(ModelFileError, match="ratings do not fit"):
            model._check_loaded()
