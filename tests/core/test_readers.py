"""Pictures, sentences, ratings, runs and lists as they are read: shapes, codes, parts and refusals, by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError
from gnomon.core.ids import coded, pair_columns
from gnomon.core.images import read_images
from gnomon.core.items import Items
from gnomon.core.rating_columns import numbers_of, times_of
from gnomon.core.rating_splits import check_split, held_out
from gnomon.core.ratings import RatingMatrix
from gnomon.core.tables import run_lengths, whole_sequences
from gnomon.core.tokens import read_sentences

BYTES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def test_bytes_are_shares_of_255_and_numbers_stay():
    found = read_images(BYTES)
    assert found.X.shape == (2, 1, 3, 4) and found.X.dtype == np.float32
    assert_allclose(found.X[:, 0], BYTES / 255, rtol=1e-6)
    assert found.scaling == 255 and found.y is None and found.classes is None
    plain = read_images(BYTES.astype(float))
    assert_allclose(plain.X[:, 0], BYTES)
    assert plain.facts() == {"image_shape_": (1, 3, 4), "input_scaling_": 1.0, "n_features_in_": 12}
    assert_array_equal(plain.weight, [1, 1])
    assert not plain.is_weighted


def test_channels_and_flat_rows_find_their_place():
    last = np.arange(24.0).reshape(1, 2, 3, 4)
    assert_allclose(read_images(last, data_format="channels_last").X[0, 3], last[0, :, :, 3])
    assert_allclose(read_images(last).X, last)
    assert read_images(np.arange(12.0).reshape(2, 6), input_shape=(2, 3)).X.tolist()[1] == [
        [[6, 7, 8], [9, 10, 11]]
    ]
    assert read_images(np.arange(12.0).reshape(2, 6), dims=1).X.shape == (2, 1, 6)
    signal = np.arange(12.0).reshape(1, 6, 2)
    assert_allclose(read_images(signal, dims=1, data_format="channels_last").X, signal.transpose(0, 2, 1))


def test_targets_and_weights_come_along():
    found = read_images(BYTES, ["b", "a"], [2.0, 3.0], target="class")
    assert found.classes.tolist() == ["a", "b"] and found.y.tolist() == [1, 0]
    one = found.take([1])
    assert len(one) == 1 and one.y.tolist() == [0] and one.weight.tolist() == [3] and one.is_weighted
    assert one.facts()["classes_"].tolist() == ["a", "b"]
    assert read_images(BYTES, [1, 2.5], target="number").y.tolist() == [1, 2.5]
    assert found.digest() != read_images(BYTES, ["b", "b"], [2.0, 3.0], target="class").digest()


@pytest.mark.parametrize(
    ("X", "options", "told"),
    [
        (None, {}, "None"),
        (BYTES.astype(complex), {}, "Complex"),
        (BYTES.astype(str), {}, "dtype"),
        (BYTES[:0], {}, "no images"),
        (np.full((1, 2, 2), np.nan), {}, "NaN"),
        (BYTES, {"shape": (1, 4, 3)}, "learned from"),
        (BYTES, {"target": "class"}, "y is missing"),
        (BYTES, {"target": "class", "y": [1, 2, 3]}, "inconsistent"),
        (BYTES, {"target": "class", "y": [1.0, np.nan]}, "among its labels"),
        (BYTES, {"target": "number", "y": [1.0, np.inf]}, "NaN or infinity"),
        (np.ones((2, 6)), {"input_shape": (2, 2)}, "has 4"),
        (np.ones((2, 6)), {}, "input_shape"),
        (np.ones((2, 2, 2, 2, 2)), {}, "height, width"),
        (np.ones((2, 2, 2, 2)), {"dims": 1}, "channels, length"),
    ],
)
def test_what_is_no_picture_is_refused(X, options, told):
    with pytest.raises(DataError, match=told):
        read_images(X, **options)


# ratings

USERS, ITEMS = ["b", "a", "b", "a", "b"], ["x", "x", "y", "x", "x"]
STARS, TIMES = [1.0, 2.0, 3.0, 5.0, 4.0], [5.0, 2.0, 1.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("rule", "expected", "when"),
    [("last", [5, 1, 3], [3, 5, 1]), ("mean", [3.5, 2.5, 3], [3, 5, 1]), ("sum", [7, 5, 3], [3, 5, 1])],
)
def test_ratings_given_twice_are_one(rule, expected, when):
    R = RatingMatrix(USERS, ITEMS, STARS, times=TIMES, duplicates=rule)
    assert R.users.tolist() == [0, 1, 1] and R.items.tolist() == [0, 0, 1]
    assert R.values.tolist() == expected and R.times.tolist() == when
    untimed = RatingMatrix(USERS, ITEMS, STARS, duplicates=rule)
    assert untimed.values.tolist() == ([5, 4, 3] if rule == "last" else expected)
    with pytest.raises(DataError, match=r"'a' has rated item 'x' more than once"):
        RatingMatrix(USERS, ITEMS, STARS)


def test_tables_of_ratings_keep_names_of_rows_without_any():
    import pandas as pd

    table = pd.DataFrame([[np.nan, 2.0, 0.0], [np.nan] * 3], index=["u", "v"], columns=["p", "q", "r"])
    R = RatingMatrix.from_dense(table)
    assert R.user_names.tolist() == ["u", "v"] and R.item_names.tolist() == ["p", "q", "r"]
    assert R.values.tolist() == [2, 0] and R.items.tolist() == [1, 2]
    assert_allclose(R.user_mean(), [1, np.nan])
    assert_allclose(R.item_mean(), [np.nan, 2, 0])
    from scipy import sparse

    S = sparse.csr_array(([2.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert RatingMatrix.from_sparse(S).values.tolist() == [2, 0]
    assert RatingMatrix.from_sparse(S, explicit_zeros=False).values.tolist() == [2]
    assert RatingMatrix.from_sparse(S).n_users == 3
    with pytest.raises(DataError, match="2 names for 3"):
        RatingMatrix.from_sparse(S, user_names=["a", "b"])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: check_split(0.0, "random", None), "between 0 and 1"),
        (lambda: check_split(1.0, "random", None), "between 0 and 1"),
        (lambda: check_split(0.5, "days", None), "by must be"),
        (lambda: check_split(0.5, "time", None), "needs the times"),
        (lambda: check_split(0.5, "user_time", None), "needs the times"),
        (lambda: coded(np.array(["a", "z"]), ["a", "b"], "user"), "'z' is not among user_names"),
        (lambda: coded(np.array(["a"]), ["a", "a"], "user"), "unique"),
        (lambda: pair_columns(np.ones((2, 3))), "two columns"),
        (lambda: pair_columns(np.ones(2)), "two columns"),
        (lambda: numbers_of(["a"]), "must be numbers"),
        (lambda: numbers_of([1j]), "of the kind"),
        (lambda: numbers_of([1.0, np.nan]), "rating 1 is nan"),
        (lambda: numbers_of(np.ones((2, 2))), "vector"),
        (lambda: times_of([1.0], 2), "2 finite numbers"),
        (lambda: times_of([1.0, np.inf], 2), "2 finite numbers"),
        (lambda: times_of(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), 2), "time 1 is missing"),
    ],
)
def test_what_is_no_rating_is_refused(call, told):
    with pytest.raises(DataError, match=told):
        call()
    check_split(0.5, "user_time", np.ones(2))
    check_split(0.5, "user", None)


def test_dates_are_nanoseconds_and_one_column_is_a_vector():
    assert times_of(np.array(["1970-01-01T00:00:01"], dtype="datetime64[s]"), 1).tolist() == [1e9]
    assert times_of(np.array([3], dtype="timedelta64[D]"), 1).tolist() == [3]
    assert numbers_of([[1], [2]]).tolist() == [1, 2]


def test_latest_ratings_are_held_out():
    users, times = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([4.0, 1, 3, 2, 6, 5, 0])
    rng = np.random.default_rng(0)
    assert held_out(users, times, 0.3, "time", rng).tolist() == [0, 0, 0, 0, 1, 1, 0]
    assert held_out(users, times, 0.5, "user_time", rng).tolist() == [1, 0, 1, 0, 1, 0, 1]
    assert held_out(users, times, 0.3, "leave_one_out", rng).tolist() == [1, 0, 0, 0, 1, 0, 0]
    chosen = held_out(users, None, 0.5, "user", rng)
    assert np.bincount(users, chosen).tolist() == [2, 1, 1]
    assert held_out(users, None, 0.3, "random", rng).sum() == 2
    assert np.bincount(users, held_out(users, None, 0.3, "leave_one_out", rng)).tolist() == [1, 1, 0]


# sequences, sentences, lists


@pytest.mark.parametrize("cuts", [[12], [1] * 12, [3, 4, 5], [2, 2, 1, 7], [5, 1, 6]])
def test_batches_are_regrouped_into_whole_sequences(cuts):
    pa = pytest.importorskip("pyarrow")
    labels = np.array([7, 7, 7, 2, 2, 2, 2, 2, 5, 9, 9, 9])
    table = pa.record_batch({"name": labels, "x": np.arange(12)})
    begins = np.cumsum([0, *cuts[:-1]])
    batches = [table.slice(int(b), n) for b, n in zip(begins, cuts, strict=True)]
    found = list(whole_sequences(batches, "name"))
    assert [x for batch in found for x in batch.column("x").to_pylist()] == list(range(12))
    ends = [int(batch.column("x")[-1].as_py()) for batch in found]
    assert set(ends) <= {2, 7, 8, 11}
    assert run_lengths(labels).tolist() == [3, 5, 1, 3]


def test_words_in_order_behind_the_end():
    found = read_sentences(["the dog saw the cat", ["a", "dog"]], end=".")
    assert found.vocabulary == (".", "a", "cat", "dog", "saw", "the")
    assert [codes.tolist() for codes in found.codes] == [[5, 3, 4, 5, 2], [1, 3]]
    common = read_sentences(["the dog saw the cat", ["a", "dog"]], end=".", min_count=2)
    assert common.vocabulary == (".", "<unk>", "dog", "the")
    assert [codes.tolist() for codes in common.codes] == [[3, 2, 1, 3, 1], [1, 2]]
    assert len(common.take([1])) == 1 and common.take(1).codes[0].tolist() == [1, 2]
    for X, options, told in [
        (["the ."], {"end": "."}, "is a word of a sentence"),
        (["the", ""], {"end": "."}, "sentence 1 of X is empty"),
        ([], {"end": "."}, "no sentences"),
        (["a b"], {"end": ".", "vocabulary": (".", "a")}, "'b' is not in the vocabulary of 2 words"),
    ]:
        with pytest.raises(DataError, match=told):
            read_sentences(X, **options)


def test_parts_of_lists_keep_their_weights_and_classes():
    things = Items(["p", "q", "r"], np.array([1, 0, 1]), np.array([1.0, 2, 3]), np.array(["no", "yes"]))
    part = things.take([2, 0])
    assert part.X == ["r", "p"] and part.y.tolist() == [1, 1] and part.weight.tolist() == [3, 1]
    assert part.facts()["classes_"].tolist() == ["no", "yes"] and part.weighted
    assert Items(["p"]).facts() == {} and Items(["p"]).weight.tolist() == [1]
    assert len({things.digest(), part.digest(), Items(["p"]).digest(), Items(["q"]).digest()}) == 4
