"""Every recommender on awkward data: newcomers among others, a pair twice, NaN, empty users, one rating, constants."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnomon.core.errors import DataError
from gnomon.loops.factors import solve_rows, squared_errors
from gnomon.recommend import (
    AlternatingLeastSquares,
    BayesianMatrixFactorization,
    BayesianPersonalizedRanking,
    ContentBasedRecommender,
    GreedyFactorization,
    HybridFactorization,
    ItemItemRecommender,
    KNNRecommender,
    MatrixFactorization,
    MeanRecommender,
    NuclearNormCompletion,
    PopularityRecommender,
)
from recommend.data import R56

RATINGS = [
    MeanRecommender("biases", regularization=1.0),
    PopularityRecommender(),
    KNNRecommender(2),
    KNNRecommender(2, mode="item"),
    MatrixFactorization(2, iterations=200, random_state=0),
    MatrixFactorization(2, solver="sgd", biases=True, iterations=5, random_state=0),
    MatrixFactorization(2, solver="sgd", biases=True, implicit=True, iterations=5, random_state=0),
    MatrixFactorization(2, solver="cd", iterations=200, random_state=0),
    BayesianMatrixFactorization(2, n_burn=2, n_samples=3, random_state=0),
    GreedyFactorization(2),
    NuclearNormCompletion(),
    HybridFactorization(2, iterations=50, random_state=0),
]
CLICKS = [
    AlternatingLeastSquares(2, random_state=0),
    AlternatingLeastSquares(2, use_cg=False, random_state=0),
    BayesianPersonalizedRanking(2, iterations=3, random_state=0),
    ItemItemRecommender(3),
]
ALL = [*RATINGS, *CLICKS]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_newcomers_in_a_batch_change_nothing_for_the_others(model):
    model.fit(sp.csr_array(np.nan_to_num(R56)) if model in CLICKS else R56)
    known = [(0, 4), (3, 0), (2, 2)]
    mixed = [("new", 4), (0, 4), (0, "new"), (3, 0), ("new", None), (2, 2), (-1, 99)]
    answers = model.predict(mixed)
    assert np.isfinite(answers).all()
    assert answers[[1, 3, 5]].tolist() == model.predict(known).tolist()
    assert model.predict_source(mixed)[[0, 2, 4]].tolist()[0] == "item mean"
    lists, scores = model.recommend(np.array([0, 77, 2]), N=3)
    assert lists.shape == scores.shape == (3, 3) and np.isfinite(scores[1]).all()
    alone = model.recommend(0, N=3)[0]
    assert lists[0][: len(alone)].tolist() == alone.tolist()


@pytest.mark.parametrize("model", CLICKS, ids=repr)
def test_a_user_who_has_nothing_gets_what_is_popular(model):
    X = np.nan_to_num(R56)
    X[3] = 0
    model.fit(sp.csr_array(X))
    for who in ([3, "new"], [3, 99]):
        lists, scores = model.recommend(who, N=4)
        assert lists[0].tolist() == lists[1].tolist() == [0, 1, 3, 2]
        np.testing.assert_allclose(scores[0], [0.8, 0.8, 0.8, 0.6], rtol=1e-6)  # of five users


@pytest.mark.parametrize("N", [0, -1, 2.5, "3", None, True])
@pytest.mark.parametrize("model", [MeanRecommender(), KNNRecommender(2), *CLICKS[1:]], ids=repr)
def test_lengths_of_lists_are_named(model, N):
    model.fit(sp.csr_array(np.nan_to_num(R56)))
    with pytest.raises(DataError, match="N must be an integer of at least 1"):
        model.recommend(0, N=N)
    with pytest.raises(DataError, match="N must be an integer of at least 1"):
        model.similar_items(0, N=N)
    if not isinstance(model, ItemItemRecommender):
        with pytest.raises(DataError, match="N must be an integer of at least 1"):
            model.similar_users(0, N=N)


@pytest.mark.parametrize("model", RATINGS, ids=repr)
def test_a_pair_that_is_rated_twice_is_named(model):
    with pytest.raises(DataError, match=r"user 'a' has rated item 'x' more than once.*duplicates='last'"):
        model.fit([("a", "x"), ("b", "x"), ("a", "x")], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("model", CLICKS, ids=repr)
def test_a_pair_that_is_clicked_twice_is_added_up(model):
    twice = model.fit([("a", "x"), ("b", "y"), ("a", "x"), ("a", "y")], [1, 2, 3, 1])
    assert twice.ratings_.toarray().tolist() == [[4, 1], [0, 2]]
    expected = twice.recommend(["a", "b"], N=2, filter_already_liked_items=False)[1]
    once = model.fit([("a", "x"), ("b", "y"), ("a", "y")], [4, 2, 1])
    found = once.recommend(["a", "b"], N=2, filter_already_liked_items=False)[1]
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("model", ALL, ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_ratings_that_are_no_numbers_are_named(model, bad):
    with pytest.raises(DataError, match=r"rating 1 is (nan|inf)"):
        model.fit([("a", "x"), ("b", "x")], [1.0, bad])


@pytest.mark.parametrize("model", CLICKS, ids=repr)
def test_negative_counts_are_named(model):
    with pytest.raises(DataError, match="the smallest is -2"):
        model.fit([("a", "x"), ("b", "x")], [1.0, -2.0])


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_one_rating_constant_ratings_and_users_without_any(model):
    model.fit([("a", "x")], [4.0])
    assert np.isfinite(model.predict([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")])).all()
    assert len(model.recommend("a")[0]) == 0 and model.recommend("b")[0].tolist() == ["x"]
    same = model.fit(sp.csr_array(np.full((4, 5), 3.0))).predict_matrix()
    assert np.isfinite(same).all()
    if model in RATINGS and not isinstance(model, BayesianMatrixFactorization):  # three draws are noisy
        assert np.ptp(same) < 0.2
    empty = sp.csr_array((np.array([1.0, 2.0]), (np.array([0, 2]), np.array([0, 3]))), shape=(3, 5))
    model.fit(empty)
    assert np.isfinite(model.predict_matrix()).all()
    assert set(model.recommend(1, N=5)[0].tolist()) == set(range(5))  # nothing was seen


def test_content_without_ratings_of_a_user():
    features = np.eye(5)
    table = sp.csr_array((np.array([1.0, 2.0]), (np.array([0, 2]), np.array([0, 3]))), shape=(3, 5))
    model = ContentBasedRecommender().fit(table, item_features=features)
    assert not model.coef_[1].any()
    assert model.predict_matrix()[1].tolist() == [1.0, 1.5, 1.5, 2.0, 1.5]  # means of items, or of all
    assert model.predict_source([(1, 0), (1, 1)]).tolist() == ["item mean", "global mean"]


# rows of least squares


@pytest.mark.parametrize("k", [1, 3, 4, 5, 8, 9, 17, 33, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_equal_numpy(k, dtype):
    """As many entries as a row can have on either side of k, of a block, and of four at a time."""
    rng = np.random.default_rng(k)
    counts = np.array([0, 1, 2, 3, 4, 5, 8, 15, 33, 63, 64, 65, 70, 130])
    starts = np.concatenate([[0], np.cumsum(counts)])
    others = np.concatenate([rng.permutation(150)[:c] for c in counts]).astype(np.int32)
    V = rng.normal(size=(150, k)).astype(dtype)
    w, t = rng.uniform(0.5, 2, len(others)), rng.normal(size=len(others))
    ridge = rng.uniform(0.5, 1, len(counts))
    for base in (np.zeros((0, 0)), 2 * np.eye(k) + 0.1):
        out, errors = np.empty((len(counts), k), dtype), np.empty(len(counts))
        assert solve_rows(0, len(counts), starts, others, w, t, V, base, ridge, out) == -1
        squared_errors(0, len(counts), starts, others, t, V, out, errors)
        for r, (low, high) in enumerate(zip(starts[:-1], starts[1:])):
            v = V[others[low:high]].astype(np.float64)
            A = (v.T * w[low:high]) @ v + ridge[r] * np.eye(k) + (base if len(base) else 0)
            u = np.linalg.solve(A, v.T @ t[low:high]) if high > low else np.zeros(k)
            np.testing.assert_allclose(out[r], u, rtol=0, atol=1e-11 if dtype == np.float64 else 1e-5)
            np.testing.assert_allclose(errors[r], ((t[low:high] - v @ out[r]) ** 2).sum(), atol=1e-10)


def test_a_row_that_is_not_determined_is_returned():
    V, out = np.ones((3, 2)), np.empty((2, 2))
    starts, others = np.array([0, 2, 4]), np.array([0, 1, 1, 2], dtype=np.int32)
    assert (
        solve_rows(0, 2, starts, others, np.ones(4), np.ones(4), V, np.zeros((0, 0)), np.zeros(2), out) == 0
    )


# requests that used to be answered wrongly


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("model", [MatrixFactorization, AlternatingLeastSquares])
def test_starts_must_be_finite(model, side):
    start = np.ones((5, 2)), np.ones((6, 2))
    start[side][3, 1] = np.nan
    with pytest.raises(DataError, match="init must hold finite numbers"):
        model(2, init=start).fit(sp.csr_array(np.nan_to_num(R56, nan=1.0)))


@pytest.mark.parametrize("init", [np.ones((5, 2)), np.ones((6, 3)), (np.ones((6, 2)), np.ones((6, 2)))])
def test_starts_have_the_shapes_of_the_factors(init):
    """Five users and six items."""
    with pytest.raises(DataError, match="init must hold item factors of shape [(]6, 2[)], or a pair"):
        MatrixFactorization(2, init=init).fit(R56)


@pytest.mark.parametrize("level", [0.0, 1.0, 2.0, np.nan])
def test_levels_of_intervals(level):
    model = MatrixFactorization(1, noise_variance=0.5, prior_precision=1.0, iterations=200, random_state=0)
    with pytest.raises(DataError, match="level must lie between 0 and 1"):
        model.fit(R56).predict_interval([(0, 4)], level=level)


def test_reasons_for_an_unknown_user_need_the_row_of_this_user():
    clicks = sp.csr_array(np.nan_to_num(R56))
    model = AlternatingLeastSquares(2, random_state=0).fit(clicks)
    known = model.explain(4, clicks, 2)
    assert model.explain("new", clicks[[4]], 2)[:2] == known[:2]
    with pytest.raises(DataError, match="give the row of this user alone"):
        model.explain("new", clicks, 2)


def test_a_new_user_rates_an_item_once():
    model = MatrixFactorization(2, random_state=0).fit(R56)
    for answer in (model.fold_in, model.predict_new):
        with pytest.raises(DataError, match="more than once"):
            answer([(0, 5.0), (1, 3.0), (0, 3.0)])


def test_a_length_in_place_of_interactions_is_named():
    model = AlternatingLeastSquares(2, random_state=0).fit(sp.csr_array(np.nan_to_num(R56)))
    with pytest.raises(DataError, match="Give N by its name"):
        model.recommend([0, 1], 3)


def test_fold_in_takes_a_dict_or_pairs():
    model = AlternatingLeastSquares(2, random_state=0).fit(sp.csr_array(np.nan_to_num(R56)))
    told = {0: 3.0, 4: 1.0, "unknown": 2.0}
    expected = model.recalculate_user(None, sp.csr_array(np.array([[3.0, 0, 0, 0, 1, 0]])))[0]
    assert model.fold_in(told).tolist() == model.fold_in(list(told.items())).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("X", "y", "told"),
    [
        ([("a", "x"), ("b", "y")], None, "must hold numbers, NaN where"),
        (
            [("a", "x"), ("b", "y")],
            np.array(["2020-01-01"] * 2, dtype="datetime64[D]"),
            "they are of the kind datetime",
        ),
        (
            [("a", "x"), ("b", "y")],
            np.array([1, 2], dtype="timedelta64[s]"),
            "they are of the kind timedelta",
        ),
        ([("a", "x"), ("b", "y")], [[1.0], [2.0, 3.0]], "must be numbers"),
        ([("a", "x"), ("b", "y")], [1.0, 2j], "they are of the kind complex"),
        ([("a", "x"), ("b", "x")], [1e300, 2e300], "up to 2e.300, are too large for float64"),
    ],
)
def test_what_is_no_rating_is_named(X, y, told):
    with pytest.raises(DataError, match=told):
        MatrixFactorization(2, random_state=0).fit(X, y)


def test_counts_that_are_too_large_for_exact_solutions_are_named():
    model = AlternatingLeastSquares(2, use_cg=False, dtype=np.float64, iterations=2, random_state=0)
    with pytest.raises(DataError, match="too large for float64"):
        model.fit([("a", "x"), ("b", "x")], [1e300, 2e300])


def test_files_that_hold_no_table_are_named(tmp_path):
    model = MeanRecommender()
    with pytest.raises(FileNotFoundError, match="there is no file .*none.csv.; text is taken for the path"):
        model.fit(tmp_path / "none.csv")
    (tmp_path / "bad.parquet").write_text("hello")
    with pytest.raises(DataError, match="bad.parquet. cannot be read as a table"):
        model.fit(tmp_path / "bad.parquet")
    (tmp_path / "good.csv").write_text("who,what,stars\nann,tea,5\nbob,tea,3\n")
    assert model.fit(tmp_path / "good.csv").predict([("eve", "tea")]).tolist() == [4.0]


@pytest.mark.parametrize("model", [ContentBasedRecommender(), HybridFactorization(1, random_state=0)])
@pytest.mark.parametrize(
    ("features", "told"),
    [
        ({"x": [1, 2], "y": [1]}, "of 'y' has 1 numbers, that of 'x' 2"),
        ({"x": ["red"], "y": ["blue"]}, "of 'x' must be numbers"),
        ({"x": [1, np.nan], "y": [1, 2]}, "of 'x' must be a vector of numbers"),
        ({"x": [[1]], "y": [[2]]}, "of 'x' must be a vector"),
        ([["red"], ["blue"]], "must hold numbers alone"),
        (pd.DataFrame({"color": ["red", "blue"]}, index=["x", "y"]), "encode columns of text"),
    ],
)
def test_features_that_are_no_numbers_are_named(model, features, told):
    with pytest.raises(DataError, match=f"item_features .*{told}|item_features {told}"):
        model.fit([("a", "x"), ("a", "y")], [1.0, 2.0], item_features=features)


def test_one_number_is_a_feature_and_new_features_are_looked_at():
    model = HybridFactorization(1, one_hot=False, random_state=0)
    one = model.fit([("a", "x"), ("a", "y")], [1.0, 2.0], item_features={"x": 1, "y": 2})
    assert one.predict([("a", "z")], item_features={"z": 3})[0] == pytest.approx(3.0, abs=0.3)
    for bad, told in (
        (np.nan, "without NaN"),
        ("red", "must be numbers"),
        ([1, 2], "has 2 features; the fit had 1"),
    ):
        with pytest.raises(DataError, match=told):
            one.predict([("a", "z")], item_features={"z": bad})
    with pytest.raises(DataError, match="encode columns of text"):
        one.predict([("a", "z")], item_features=pd.DataFrame({"color": ["red"]}, index=["z"]))


@pytest.mark.parametrize("bad", [None, [1, 2], {"x": "good"}, [("x", 1, 2)], {"x": None}])
def test_ratings_of_a_new_user_that_are_none_are_named(bad):
    model = MatrixFactorization(1, random_state=0).fit([("a", "x"), ("a", "y")], [1.0, 2.0])
    with pytest.raises(DataError, match="ratings of a new user must be"):
        model.fold_in(bad)
    with pytest.raises(DataError, match="ids must be strings, numbers or the like"):
        model.fold_in([(["x"], 2.0)])
