"""The container of ratings: forms, ids, duplicates, splits."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnomon.core.errors import DataError
from gnomon.recommend import MatrixFactorization, MeanRecommender, RatingMatrix, round_ratings
from recommend.data import R56, low_rank


def test_triples_sparse_dense_and_frames_are_the_same_matrix(tmp_path):
    dense = RatingMatrix.from_dense(R56)
    rows, columns = np.nonzero(~np.isnan(R56))
    triples = RatingMatrix(rows[::-1], columns[::-1], R56[rows, columns][::-1])
    thin = RatingMatrix.from_sparse(sp.csr_array((R56[rows, columns], (rows, columns)), shape=R56.shape))
    frame = pd.DataFrame({"who": rows, "what": columns, "how": R56[rows, columns]})
    long = RatingMatrix.from_frame(frame, "who", "what", "how")
    frame.to_parquet(tmp_path / "r.parquet")
    frame.to_csv(tmp_path / "r.csv", index=False)
    for other in (
        triples,
        thin,
        long,
        RatingMatrix.from_frame(tmp_path / "r.parquet"),
        RatingMatrix.from_frame(tmp_path / "r.csv", "who", "what", "how"),
    ):
        np.testing.assert_array_equal(other.to_dense(), dense.to_dense())
        assert other.digest() == dense.digest()
    assert (dense.n_users, dense.n_items, dense.n_ratings, dense.density) == (5, 6, 26, 26 / 30)
    assert "26 ratings of 6 items by 5 users" in repr(dense)


def test_means_and_shift_by_hand():
    R = RatingMatrix.from_dense(R56)
    np.testing.assert_allclose(R.user_mean(), [3, 3.2, 3.5, 2.6, 4])
    assert R.global_mean() == pytest.approx(3.2692307692)
    np.testing.assert_allclose(R.item_mean(), np.nanmean(R56, axis=0))
    shifted = R.shift(3)
    np.testing.assert_allclose(shifted.user_mean(), R.user_mean() - 3)
    assert R.values.max() == 5 and shifted.values.max() == 2


def test_ids_of_any_type():
    R = RatingMatrix(["b", "a", "b"], [("x", 1), ("y", 2), ("y", 2)], [1, 2, 3])
    assert R.user_names.tolist() == ["a", "b"] and R.item_names.tolist() == [("x", 1), ("y", 2)]
    mixed = RatingMatrix([1, "a", 2.5], ["u", "u", "v"], [1, 2, 3])
    model = MeanRecommender("item").fit(mixed)
    assert model.predict([(1, "u"), ("a", "v"), ("nobody", "u"), (2.5, "w")]).tolist() == [1.5, 3.0, 1.5, 3.0]
    assert model.predict_source([(1, "u"), ("nobody", "u"), (2.5, "w"), (0, 0)]).tolist() == [
        "model",
        "item mean",
        "user mean",
        "global mean",
    ]


def test_stored_zeros_are_ratings():
    S = sp.csr_array((np.array([0.0, 4.0]), (np.array([0, 1]), np.array([0, 1]))), shape=(2, 2))
    assert RatingMatrix.from_sparse(S).values.tolist() == [0.0, 4.0]
    assert RatingMatrix.from_sparse(S, explicit_zeros=False).values.tolist() == [4.0]


def test_duplicates_follow_the_rule():
    users, items, ratings, times = ["a", "a", "b"], ["x", "x", "x"], [1, 4, 2], [9, 3, 1]
    with pytest.raises(DataError, match="user 'a' has rated item 'x' more than once.*duplicates"):
        RatingMatrix(users, items, ratings)
    assert RatingMatrix(users, items, ratings, duplicates="last").values.tolist() == [4, 2]
    assert RatingMatrix(users, items, ratings, times=times, duplicates="last").values.tolist() == [1, 2]
    assert RatingMatrix(users, items, ratings, duplicates="mean").values.tolist() == [2.5, 2]
    assert RatingMatrix(users, items, ratings, duplicates="sum").values.tolist() == [5, 2]


def test_bad_ratings_are_named():
    with pytest.raises(DataError, match="rating 1 is nan"):
        RatingMatrix([1, 2], [1, 2], [3, np.nan])
    with pytest.raises(DataError, match="rating 6 is not on the scale"):
        RatingMatrix([1], [1], [6], scale=range(1, 6))
    with pytest.raises(DataError, match="one length; got 2, 1 and 1"):
        RatingMatrix([1, 2], [1], [3])
    with pytest.raises(DataError, match="numbers"):
        RatingMatrix([1], [1], ["good"])
    with pytest.raises(DataError, match="user id of a rating is missing"):
        RatingMatrix([None, "a"], [1, 2], [3, 4])
    with pytest.raises(DataError, match="item id of a rating is NaN"):
        RatingMatrix([1, 2], np.array([1.0, np.nan]), [3, 4])
    with pytest.raises(DataError, match="no ratings"):
        MeanRecommender().fit(np.full((2, 2), np.nan))
    with pytest.raises(DataError, match="user 3 is not among user_names"):
        RatingMatrix([3], [1], [1], user_names=[1, 2])
    with pytest.raises(DataError, match="two columns"):
        MeanRecommender().fit(np.ones((3, 3)), [1, 2, 3])
    with pytest.raises(DataError, match="no column 'z'"):
        RatingMatrix.from_frame(pd.DataFrame({"a": [1], "b": [1], "c": [1]}), "z")


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (pd.to_datetime(["2020-01-01", None]), "time 1 is missing"),
        (["monday", "tuesday"], "of the kind <U"),
        ([1.0, np.nan], "2 finite numbers or dates"),
        ([1.0], "2 finite numbers or dates"),
    ],
)
def test_times_that_are_none_are_named(times, told):
    with pytest.raises(DataError, match=told):
        RatingMatrix([1, 1], [1, 2], [5, 4], times=times)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_complex_ratings_are_refused_in_every_form(form):
    with pytest.raises(DataError, match="must (hold|be) numbers"):
        MeanRecommender().fit(form(np.array([[1 + 2j, 2], [3, 4]])))


def test_dates_part_the_ratings_as_numbers_do():
    days = pd.to_datetime(["2020-01-03", "2020-01-02", "2021-01-01", "2019-01-01"])
    R = RatingMatrix([1, 1, 2, 2], [1, 2, 1, 2], [5, 4, 3, 2], times=days)
    train, test = R.split(0.5, by="time")
    assert train.values.tolist() == [4, 2] and test.values.tolist() == [5, 3]


@pytest.mark.parametrize("by", ["random", "user", "leave_one_out", "time", "user_time"])
def test_splits_part_the_ratings(by):
    rng = np.random.default_rng(0)
    Y = low_rank()
    users, items = np.nonzero(~np.isnan(Y))
    R = RatingMatrix(users, items, Y[users, items], times=rng.permutation(len(users)))
    train, test = R.split(0.25, by=by, random_state=0)
    assert len(train) + len(test) == len(R) and train.n_users == test.n_users == R.n_users
    both = np.sort(np.concatenate([train.values, test.values]))
    np.testing.assert_array_equal(both, np.sort(R.values))
    again = R.split(0.25, by=by, random_state=0)[1]
    assert again.digest() == test.digest()
    if by in ("random", "time"):
        assert len(test) == round(0.25 * len(R))
    if by == "time":
        assert train.times.max() < test.times.min()
    if by == "user":
        share = np.bincount(test.users, minlength=30) / np.bincount(R.users, minlength=30)
        assert (np.abs(share - 0.25) < 0.1).all()
    if by == "leave_one_out":
        assert (np.bincount(test.users) == 1).all()
    if by in ("leave_one_out", "user_time"):
        for a in range(R.n_users):
            assert train.times[train.users == a].max() < test.times[test.users == a].min()


def test_splits_refuse_nonsense():
    R = RatingMatrix.from_dense(R56)
    with pytest.raises(DataError, match="needs the times"):
        R.split(0.1, by="time")
    with pytest.raises(DataError, match="test must lie"):
        R.split(1.5)
    with pytest.raises(DataError, match="by must be"):
        R.split(0.1, by="luck")


def test_forms_give_the_same_model():
    R = RatingMatrix.from_dense(R56)
    pairs, y = R.pairs()
    fits = [
        MatrixFactorization(2, random_state=0).fit(*given)
        for given in ((R,), (R56,), (pairs, y), (R.to_csr(),), (pd.DataFrame(pairs, columns=["u", "i"]), y))
    ]
    for model in fits[1:]:
        np.testing.assert_array_equal(model.user_factors_, fits[0].user_factors_)


def test_relabeling_changes_nothing():
    pairs, y = RatingMatrix.from_dense(R56).pairs()
    names = np.array(list("zyxwv"))
    renamed = [(names[a], f"film {i}") for a, i in pairs]
    plain = MeanRecommender("biases", regularization=1.0).fit(pairs, y).predict(pairs)
    other = MeanRecommender("biases", regularization=1.0).fit(renamed, y).predict(renamed)
    np.testing.assert_allclose(plain, other)


def test_rounding_to_what_exists():
    assert round_ratings([2.5, 3.49, 0.2, 9], range(1, 6)).tolist() == [3, 3, 1, 5]
    assert round_ratings([0.6, 2.9], [0.5, 2.0, 4.0]).tolist() == [0.5, 2.0]
    assert round_ratings([7.0], [3]).tolist() == [3.0]
    with pytest.raises(DataError, match="options"):
        round_ratings([1.0], [])
    model = MatrixFactorization(2, rating_options=range(1, 6), random_state=0).fit(R56)
    assert set(model.predict_matrix(round=True).ravel()) <= {1, 2, 3, 4, 5}


def test_largest_is_a_stable_sort():
    from gnomon.recommend.base import LONG_LIST, largest

    rng = np.random.default_rng(0)
    for width in (1, 5, 63, 64, 65, 300, 400):
        scores = rng.integers(0, 9, size=(7, width)).astype(np.float32)
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        for n in (1, 3, width, LONG_LIST + 1, 10**6):
            columns, values = largest(scores, n)
            expected = np.argsort(-scores, axis=1, kind="stable")[:, : min(n, width)]
            np.testing.assert_array_equal(columns, expected)
            np.testing.assert_array_equal(values, np.take_along_axis(scores, expected, axis=1))
    assert largest(np.zeros((2, 0)), 3)[0].shape == (2, 0)
