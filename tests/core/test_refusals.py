"""Ids, ratings, tokens and plain arrays that cannot be read are refused with the rule that they break."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gnomon.core import validate
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.facts import check_facts
from gnomon.core.ids import coded, codes_of, column_of, pair_columns
from gnomon.core.ratings import RatingMatrix, read_ratings
from gnomon.core.tokens import check_sentences, read_series
from gnomon.core.trace import Trace
from gnomon.core.world import numbered

FRAME = pd.DataFrame({"u": [1, 2], "i": [3, 4], "r": [5.0, 1.0]})


def ratings(**options):
    return RatingMatrix(["a", "a", "b"], [1, 2, 1], [5.0, 3.0, 4.0], **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RatingMatrix([1], [1, 2], [3.0, 4.0]), "of one length; got 1, 2 and 2"),
        (lambda: RatingMatrix([1, 2], [1, 2], [3.0]), "of one length; got 2, 2 and 1"),
        (lambda: ratings(scale=[3, 4]), r"rating 5 is not on the scale \[3.0, 4.0\]"),
        (lambda: ratings(duplicates="first"), "duplicates must be .*; got 'first'"),
        (lambda: RatingMatrix([1, 1], [2, 2], [1.0, 2.0]), "rated"),
        (lambda: ratings(user_names=["a", "a", "b"]), "user_names must be unique"),
        (lambda: ratings(user_names=["a", "c"]), "user 'b' is not among user_names"),
        (lambda: RatingMatrix(np.array([1.0, np.nan]), [1, 2], [1, 2]), "the user id of a rating is NaN"),
        (lambda: RatingMatrix([1, 2], ["x", None], [1, 2]), "the item id of a rating is missing"),
        (lambda: RatingMatrix([1, 2], [1, 2], ["a", "b"]), "ratings must be numbers"),
        (lambda: RatingMatrix([1], [2], np.array(["2020-01-01"], "M8[D]")), "of the kind datetime64"),
        (lambda: RatingMatrix([1, 2], [1, 2], np.ones((2, 2))), "ratings must be a vector"),
        (lambda: RatingMatrix([1, 2], [1, 2], [1.0, np.inf]), "rating 1 is inf"),
        (lambda: ratings(times=[1, 2]), "times must be 3 finite numbers or dates"),
        (lambda: ratings(times=[1, 2, np.nan]), "times must be 3 finite numbers"),
        (lambda: ratings(times=np.array(["2020", "NaT", "2021"], "M8[Y]")), "time 1 is missing"),
        (lambda: ratings(times=["x", "y", "z"]), "they are of the kind <U1"),
        (lambda: RatingMatrix.from_dense(np.ones(3)), "two dimensions"),
        (lambda: RatingMatrix.from_dense([["a"]]), "must hold numbers"),
        (lambda: RatingMatrix.from_frame(FRAME[["u", "i"]]), "columns for user, item and rating"),
        (lambda: RatingMatrix.from_frame(FRAME, user="x"), "there is no column 'x'"),
        (lambda: RatingMatrix.from_frame(FRAME, time="t"), "there is no column 't'"),
        (lambda: RatingMatrix.from_dense(np.ones((2, 2)), user_names=["a"]), "user_names has 1 names for 2 codes"),
        (lambda: ratings().split(0.5, by="items"), "by must be"),
        (lambda: ratings().split(0.0), "test must lie between 0 and 1"),
        (lambda: ratings().split(1.0), "test must lie between 0 and 1"),
        (lambda: ratings().split(0.5, by="time"), "by='time' needs the times"),
        (lambda: ratings().split(0.5, by="user_time"), "by='user_time' needs the times"),
        (lambda: read_ratings(None), "X is None"),
        (lambda: read_ratings(np.full((2, 2), np.nan)), "there are no ratings"),
        (lambda: read_ratings(sparse.csr_array((2, 2))), "there are no ratings"),
        (lambda: pair_columns(FRAME[["u"]]), "must have two columns, user and item"),
        (lambda: pair_columns(np.ones((2, 3))), "must have two columns, user and item"),
        (lambda: pair_columns("ab"), "must hold .user, item. pairs; got str"),
        (lambda: pair_columns(["ab", "cd"]), "two ids in every row"),
        (lambda: pair_columns([(1, 2, 3)]), "two ids in every row"),
        (lambda: codes_of([["a"]], np.array(["a"], dtype=object)), "ids must be strings, numbers or the like"),
    ],
)  # fmt: skip
def test_ratings_and_ids(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_ids_are_sorted_where_they_can_be_and_told_apart_by_type_where_not():
    names, codes = coded(column_of([3, 1, 3, 2]), None, "user")
    assert names.tolist() == [1, 2, 3] and codes.tolist() == [2, 0, 2, 1]
    names, codes = coded(column_of(["b", 1, "a", 1]), None, "user")
    assert sorted(map(str, names)) == ["1", "a", "b"]
    assert [names[c] for c in codes] == ["b", 1, "a", 1]
    assert coded(column_of([5, 7]), [7, 5], "user")[1].tolist() == [1, 0]


def test_codes_of_a_range_end_with_it():
    assert codes_of([-1, 0, 3, 4], np.arange(4)).tolist() == [-1, 0, 3, -1]
    assert codes_of([0, 1, 2, 4], np.array([0, 2, 4])).tolist() == [0, -1, 1, 2]  # begins and ends like one
    assert codes_of([0], np.array([0])).tolist() == [0] and codes_of([1], np.array([0])).tolist() == [-1]
    assert codes_of([1, 2, 3], np.arange(1, 4)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: check_sentences([]), "no sentences"),
        (lambda: check_sentences([["a"], []]), "sentence 1 of X is empty"),
        (lambda: check_sentences("a b"), "X must be a list of sentences"),
        (lambda: read_series([]), "no sequences"),
        (lambda: read_series([[1, 2], [-1]]), "negative codes"),
        (lambda: read_series([[1.0], []]), "empty sequence|sequence 1"),
        (lambda: read_series([np.ones((2, 2, 2))]), "numbers of shape .length, d.; it has float64"),
        (lambda: read_series([["a"]]), "sequence 0 of X must be numbers"),
        (lambda: read_series([[1.0, np.inf]]), "sequence 0 of X has NaN or infinity"),
        (lambda: read_series([[1, 2]], None, target="class"), "one target for each of the 1 sequences"),
        (lambda: read_series([[1, 2]], [1, 2], target="number"), "one target for each of the 1 sequences"),
        (lambda: read_series([[1], [2]], [1.0, np.nan], target="number"), "y has NaN or infinity"),
        (lambda: read_series([[1, 2]], [[0]], target="class", each=True), r"y\[0\] has 1 entries, .* 0 has 2"),
    ],
)  # fmt: skip
def test_sentences_and_sequences(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_width_of_sequences_is_one_more_than_the_largest_code_or_the_columns():
    assert read_series([[0, 3], [1]]).width == 4
    assert read_series([np.ones((2, 3)), np.ones((5, 3))]).width == 3
    assert read_series([[0.5, 1.0], [2.0]]).width == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: validate.vector([[1.0]]), "must be a vector of one dimension; its shape is"),
        (lambda: validate.vector([1.0], n=2), "must be a vector of length 2"),
        (lambda: validate.vector([1.0, np.nan]), "y has NaN or infinite entries"),
        (lambda: validate.vector("a"), "must be a vector of numbers; this str is none"),
        (lambda: validate.numbers([[1], [1, 2]], name="m"), "m must be an array of numbers"),
        (lambda: validate.one_each([1, 2], 3), "one entry for each of the 3 rows"),
        (lambda: validate.one_each(5, 1), "one entry for each of the 1 rows"),
        (lambda: validate.without_overflow(np.array([np.nan])), "their squares overflow"),
        (lambda: validate.probabilities([0.5, -0.5, 1.0]), "must not be negative or NaN; its smallest entry is -0.5"),
        (lambda: validate.probabilities([np.nan, 1.0]), "must not be negative or NaN"),
        (lambda: validate.probabilities([0.5, 0.4]), "must sum to one; it sums to"),
        (lambda: validate.probabilities([]), "must sum to one"),
        (lambda: validate.run_lengths_of([1.0, 2.0], 3), "lengths must be positive integers"),
        (lambda: validate.run_lengths_of([0, 3], 3), "lengths must be positive integers"),
        (lambda: validate.run_lengths_of([1, 3], 3), "lengths sum to 4, and X has 3 rows"),
        (lambda: validate.graph(np.ones((2, 3))), "must be a square adjacency matrix"),
        (lambda: validate.graph([[0.0, -1.0], [-1.0, 0.0]]), "has negative weights; its smallest is -1"),
        (lambda: validate.graph([[0.0, 1.0], [2.0, 0.0]], symmetric=True), "must be symmetric"),
        (lambda: validate.matrix([[np.nan]]), "NaN"),
        (lambda: validate.matrix([[np.inf]], nan=True), "infinity"),
    ],
)  # fmt: skip
def test_plain_arrays(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_right_is_read():
    assert np.isnan(validate.matrix([[np.nan, 1.0]], nan=True)).sum() == 1
    assert sparse.issparse(validate.matrix(sparse.eye_array(2), allow_sparse=True))
    with pytest.raises(TypeError):
        validate.matrix(sparse.eye_array(2))
    assert validate.run_lengths_of(None, 4).tolist() == [4]
    assert validate.probabilities([[0.25, 0.75], [1.0, 0.0]]).shape == (2, 2)
    assert validate.probabilities([[0.25, 1.0], [0.75, 0.0]], axis=0)[0, 1] == 1.0
    assert validate.graph([[0.0, 1.0], [2.0, 0.0]]).toarray().tolist() == [[0, 1], [2, 0]]


def test_parts_of_an_observation_make_one_number():
    sizes = (2, 3, 4)
    found = [numbered((a, b, c), sizes) for a in range(2) for b in range(3) for c in range(4)]
    assert found == list(range(24))
    assert numbered(np.int64(5), None) == 5
    with pytest.raises(ValueError, match="shorter|longer"):
        numbered((1, 2), sizes)


def test_a_trace_has_a_certificate_only_where_one_was_given():
    plain = Trace([3.0, 2.0], [0.1, 0.2])
    assert (
        plain.certificate is None and len(plain) == 2 and list(plain) == [3.0, 2.0] and plain.unit == "step"
    )
    told = Trace([3.0], [0.1], [0.5], {"loss": [7]}, "epoch")
    assert told.certificate.tolist() == [0.5] and told["loss"].tolist() == [7.0] and told.unit == "epoch"


def test_pairs_may_come_in_any_form():
    for X in (
        [(1, "a"), (2, "b")],
        np.array([(1, "a"), (2, "b")], dtype=object),
        pd.DataFrame({"u": [1, 2], "i": ["a", "b"]}),
    ):
        users, items = pair_columns(X)
        assert list(users) == [1, 2] and list(items) == ["a", "b"]


LABELS = np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"n_features_in_": -1}, "number of columns is -1"),
        ({"n_features_in_": True}, "number of columns is True"),
        ({"n_features_in_": 2.0}, "number of columns is 2.0"),
        ({"n_features_in_": 2, "coef_": np.zeros((1, 3))}, "coef_ does not fit its 2 columns"),
        ({"classes_": np.array(["a", "a"])}, "classes_ are not different labels"),
        ({"classes_": np.array([])}, "classes_ are not different labels"),
        ({"classes_": np.zeros((2, 1))}, "classes_ are not different labels"),
        ({"classes_": [LABELS, np.array([1, 1])]}, "classes_ are not different labels"),
        ({"classes_": LABELS, "n_classes_": 2}, "n_classes_ is not the number of its 3 classes"),
        ({"classes_": LABELS, "n_classes_": 3.0}, "n_classes_ is not the number"),
        ({"classes_": LABELS, "coef_": np.zeros((1, 2)), "n_features_in_": 2}, "coef_ does not fit its 3 classes"),
        ({"classes_": LABELS, "coef_": np.zeros((4, 2)), "n_features_in_": 2}, "coef_ does not fit its 3 classes"),
        (
            {"classes_": LABELS, "coef_": np.zeros((3, 2)), "n_features_in_": 2, "intercept_": np.zeros(2)},
            "coef_ does not fit its 3 classes",
        ),
        ({"startprob_": np.ones(2), "transmat_": np.ones((2, 3))}, "transmat_ does not fit its startprob_"),
        ({"startprob_": np.ones(2), "transmat_": np.ones(2)}, "transmat_ does not fit its startprob_"),
        ({"startprob_": np.ones((2, 1)), "transmat_": np.ones((2, 2))}, "transmat_ does not fit its startprob_"),
        (
            {"startprob_": np.ones(2), "transmat_": np.ones((2, 2)), "emissionprob_": np.ones((3, 4))},
            "emissionprob_ does not fit its startprob_",
        ),
    ],
)  # fmt: skip
def test_loaded_models_that_no_fit_can_have_left(facts, message):
    with pytest.raises(ModelFileError, match=message):
        check_facts(SimpleNamespace(**facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"n_features_in_": 0},
        {"n_features_in_": np.int64(2), "coef_": np.zeros(2)},
        {"classes_": LABELS, "n_classes_": np.int64(3)},
        {"classes_": LABELS, "coef_": np.zeros((3, 2)), "n_features_in_": 2, "intercept_": 0.0},
        {"classes_": LABELS[:2], "coef_": np.zeros((1, 2)), "n_features_in_": 2, "intercept_": np.zeros(1)},
        {"classes_": np.arange(4), "coef_": np.zeros((6, 2)), "n_features_in_": 2, "intercept_": np.zeros(6)},
        {"startprob_": np.ones(2), "transmat_": np.ones((2, 2)), "emissionprob_": np.ones((2, 4))},
        {"startprob_": np.ones(2), "transmat_": np.ones((3, 2, 2))},
    ],
)  # fmt: skip
def test_loaded_models_that_a_fit_can_have_left(facts):
    check_facts(SimpleNamespace(**facts))
