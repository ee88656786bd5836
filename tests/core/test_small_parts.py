"""Parts that learners share: things with targets, members by name, names of columns, metadata, rows and blocks."""

import weakref

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from gnomon.core.array_checks import canonical_csr, refuse_dates, refuse_negative, unmasked
from gnomon.core.errors import DataError
from gnomon.core.gram import read_objects
from gnomon.core.linalg import aligned, fix_signs, symmetric_eigen
from gnomon.core.pieces import n_folds
from gnomon.core.randomness import copied
from gnomon.core.ratings import RatingMatrix, read_ratings
from gnomon.core.routing import route, routing_enabled, take_each, takes_weights
from gnomon.core.rows import Encoding, MemoryRows, join, sparse_blocks
from gnomon.core.settings import count_of
from gnomon.core.sums import total_weight
from gnomon.core.tokens import read_series
from gnomon.core.validate import encode, one_each, run_lengths_of, sequences
from gnomon.core.wrapping import input_names
from gnomon.ensemble import VotingClassifier


def test_things_keep_targets_weights_and_order():
    found = read_objects([[1], "two", {3}], ["b", "a", "b"], [1.0, 2.0, 3.0], "class")
    assert found.classes.tolist() == ["a", "b"] and found.y.tolist() == [1, 0, 1]
    part = found.take(np.array([2, 0]))
    assert part.X.tolist() == [{3}, [1]] and part.y.tolist() == [1, 1] and part.weight.tolist() == [3, 1]
    assert part.weighted and len(part) == 2 and part.facts()["classes_"].tolist() == ["a", "b"]
    plain = read_objects(["x", "y"], None, None, None)
    assert plain.y is None and plain.weight.tolist() == [1, 1] and plain.facts() == {} and not plain.weighted
    assert plain.take(np.array([1])).y is None
    assert read_objects(["x"], [2.5], None, "number").y.tolist() == [2.5]
    for X, y, target, told in [
        ([], [], None, "empty"),
        (["x"], [1, 2], "number", "must agree"),
        (["x"], [1, 2], "class", "must agree"),
    ]:
        with pytest.raises(DataError, match=told):
            read_objects(X, y, None, target)


# members


def committee(**more):
    pairs = [("a", LogisticRegression(C=2.0)), ("b", KNeighborsClassifier(n_neighbors=3))]
    return VotingClassifier(pairs, **more)


def test_members_are_parameters_by_their_names():
    model = committee()
    deep, flat = model.get_params(), model.get_params(deep=False)
    assert deep["a"] is model.estimators[0][1] and deep["a__C"] == 2.0 and deep["b__n_neighbors"] == 3
    assert "a" not in flat and "a__C" not in flat and "estimators" in flat
    model.set_params(a__C=5.0, b=LogisticRegression(C=7.0))
    assert model.get_params()["a__C"] == 5.0 and model.get_params()["b__C"] == 7.0
    assert [name for name, _ in model.estimators] == ["a", "b"]
    model.set_params(estimators=[("c", LogisticRegression(C=9.0))], c__C=1.5)
    assert model.get_params()["c__C"] == 1.5 and "a" not in model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(d=LogisticRegression())
    assert "x" not in VotingClassifier([("x", 1, 2)]).get_params()


@pytest.mark.parametrize(
    ("names", "told"),
    [(["a", "a"], "not unique"), (["a", "weights"], "conflict"), (["a", "b__c"], "must not contain __")],
)
def test_names_of_members_are_their_own(names, told):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    model = VotingClassifier([(name, LogisticRegression()) for name in names])
    with pytest.raises(DataError, match=told):
        model.fit(X, y)


def test_names_of_columns_are_given_learned_or_counted():
    class Fitted:
        n_features_in_ = 2

    one, named = Fitted(), Fitted()
    named.feature_names_in_ = np.array(["p", "q"], dtype=object)
    assert input_names(one).tolist() == ["x0", "x1"] and input_names(named).tolist() == ["p", "q"]
    assert input_names(one, ["u", "v"]).tolist() == ["u", "v"] and input_names(
        named, ["p", "q"]
    ).tolist() == ["p", "q"]
    assert input_names(object()).tolist() == []
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        input_names(named, ["q", "p"])
    with pytest.raises(ValueError, match=r"number of features \(2\), got 3"):
        input_names(one, ["u", "v", "w"])


# metadata


def test_metadata_are_taken_row_by_row():
    given = {"w": [1.0, 2.0, 3.0], "short": [1, 2], "word": "abc", "number": 4}
    found = take_each(given, 3, np.array([2, 0]))
    assert found["w"].tolist() == [3, 1]
    assert found["short"] == [1, 2] and found["word"] == "abc" and found["number"] == 4


def test_weights_are_given_to_those_that_take_them():
    assert takes_weights(Ridge()) and not takes_weights(KNeighborsClassifier())
    assert not routing_enabled()
    with pytest.raises(DataError, match="VotingClassifier.fit was given sample_weight"):
        route(committee(), "fit", {"sample_weight": 1})
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        assert routing_enabled()
        assert takes_weights(Ridge().set_fit_request(sample_weight=True))
        assert not takes_weights(Ridge().set_fit_request(sample_weight=False))


def test_folds_that_a_setting_means():
    from sklearn.model_selection import LeaveOneOut, ShuffleSplit

    assert n_folds(None) == 5 and n_folds(3) == 3 and n_folds(np.int64(4)) == 4
    assert n_folds(ShuffleSplit(7)) == 7 and n_folds(LeaveOneOut()) is None and n_folds([1, 2]) is None


# rows


def test_rows_are_taken_by_number_or_by_sequence():
    X, y, w = np.arange(12.0).reshape(6, 2), np.arange(6) % 2, np.arange(6.0)
    part = MemoryRows(X, y, w, feature_names=["p", "q"]).take([4, 1])
    assert_array_equal(part.X, X[[4, 1]])
    assert part.y.tolist() == [0, 1] and part.weight.tolist() == [4, 1] and part.feature_names == ["p", "q"]
    runs = MemoryRows(X, y, w, lengths=np.array([1, 3, 2])).take([2, 0])
    assert_array_equal(runs.X, X[[4, 5, 0]])
    assert runs.lengths.tolist() == [2, 1] and runs.weight.tolist() == [4, 5, 0]
    assert list(MemoryRows(X).names()) == ["x0", "x1"] and list(
        MemoryRows(X, feature_names=["p", "q"]).names()
    ) == ["p", "q"]
    assert total_weight(MemoryRows(X, y, w)) == 15 and total_weight(MemoryRows(X)) == 6


def test_blocks_of_sparse_rows_are_all_rows():
    X = sparse.random(5000, 40, density=0.9, format="csr", random_state=0)
    pieces = list(sparse_blocks(X))
    assert len(pieces) > 1
    assert [part.start for part, _ in pieces[1:]] == [part.stop for part, _ in pieces[:-1]]
    assert_allclose(sparse.vstack([rows for _, rows in pieces]).toarray(), X.toarray())
    assert all(part.stop - part.start == rows.shape[0] for part, rows in pieces)
    assert sum(1 for _ in sparse_blocks(sparse.csr_array((0, 3)))) == 0


def test_results_of_chunks_are_one_below_the_other():
    a, b = np.ones((2, 3)), np.zeros((1, 3))
    for n in (None, 3):
        assert_array_equal(join([a, b], n), np.vstack([a, b]))
        assert join([a.astype(np.float32), b], n).dtype == np.float64
    assert_array_equal(join([a, b], 2), np.vstack([a, b]))
    assert [part.tolist() for part in join([(a[:, 0], a[:, 1]), (b[:, 0], b[:, 1])], 3)] == [[1, 1, 0]] * 2
    assert join([sparse.csr_array(a), sparse.csr_array(b)]).toarray().tolist() == np.vstack([a, b]).tolist()
    assert join([np.array(["p"]), np.array(["longer"])], 2).tolist() == ["p", "longer"]


def test_results_of_chunks_are_not_held_beside_the_whole():
    met, most = [], 0

    def chunks():
        nonlocal most
        for i in range(8):
            chunk = np.full(2, float(i))
            met.append(weakref.ref(chunk))
            yield chunk
            del chunk
            most = max(most, sum(one() is not None for one in met))

    assert join(chunks(), 16).tolist() == np.repeat(np.arange(8.0), 2).tolist()
    assert most <= 3  # the first, the last and the one before


def test_targets_of_blocks_are_codes_of_known_classes():
    known = Encoding(None, np.dtype(np.float64), False, np.array(["a", "b"]))
    assert known.target(["b", "a"]).tolist() == [1, 0]
    assert known._replace(classes=None).target([2, 3]).tolist() == [2.0, 3.0]
    for wrong in (["b", "z"], ["A", "b"]):
        with pytest.raises(DataError, match="which is not among"):
            known.target(wrong)
    assert known.weights(None, 2).tolist() == [1, 1] and known.weights([0, 2], 2).tolist() == [0, 2]
    for wrong in ([-1.0], [np.nan]):
        with pytest.raises(DataError, match="not negative"):
            known.weights(wrong, 1)
    found, codes = encode(np.array(["b", "a", "b"]))
    assert found.tolist() == ["a", "b"] and codes.tolist() == [1, 0, 1]
    assert encode(np.array(["b"]), ["c", "b", "a"])[1].tolist() == [1]
    for column in ([[7], [5], [7]], [["b"], ["a"], ["b"]]):  # a table of one column is its labels
        assert encode(column)[1].tolist() == encode(column, np.unique(column))[1].tolist() == [1, 0, 1]
    with pytest.raises(DataError, match=r"\['z'\] in y do not exist"):
        encode(np.array(["b", "z"]), ["a", "b"])


def test_lengths_make_up_the_rows():
    X, offsets = sequences([[1.0], [2.0], [3.0]], [1, 2])
    assert offsets.tolist() == [0, 1, 3] and X.shape == (3, 1)
    assert run_lengths_of(None, 4).tolist() == [4]
    for lengths, told in [
        ([1, 1], "sum to 2"),
        ([[3]], "positive"),
        ([3.0], "positive"),
        ([4, -1], "positive"),
        ([3, 0], "positive"),
    ]:
        with pytest.raises(DataError, match=told):
            run_lengths_of(lengths, 3)
    assert one_each((1, 2), 2).tolist() == [1, 2]
    for wrong in (3, [1], [1, 2, 3]):
        with pytest.raises(DataError, match="one entry for each of the 2 rows"):
            one_each(wrong, 2)
    assert count_of(np.int32(2), "n", 2) == 2
    for wrong in (True, 1.0, 1, "2"):
        with pytest.raises(DataError, match="whole number, at least 2"):
            count_of(wrong, "n", 2)


# ratings


def stars():
    return RatingMatrix(
        ["b", "a", "b", "c"],
        ["y", "x", "x", "y"],
        [1.0, 2.0, 3.0, 5.0],
        times=[4.0, 3, 2, 1],
        scale=[1, 2, 3, 4, 5],
    )


def test_parts_and_numbers_of_ratings():
    R = stars()
    assert R.values.tolist() == [2, 3, 1, 5] and R.density == pytest.approx(4 / 6)
    part = R.take([3, 0])
    assert part.values.tolist() == [2, 5] and part.times.tolist() == [3, 1] and part.n_users == 3
    pairs, values = R.pairs()
    assert pairs.tolist() == [["a", "x"], ["b", "x"], ["b", "y"], ["c", "y"]] and values.tolist() == [
        2,
        3,
        1,
        5,
    ]
    moved = R.shift(3)
    assert moved.values.tolist() == [-1, 0, -2, 2] and moved.scale.tolist() == [-2, -1, 0, 1, 2]
    assert R.values.tolist() == [2, 3, 1, 5]
    by = R.by_item()
    assert (by.starts.tolist(), by.others.tolist(), by.values.tolist()) == (
        [0, 2, 4],
        [0, 1, 1, 2],
        [2, 3, 1, 5],
    )
    by = R.by_user()
    assert (by.starts.tolist(), by.others.tolist()) == ([0, 1, 3, 4], [0, 0, 1, 1])
    assert_allclose(R.unconstrained_fit(1.0), [[1, 0], [1.5, 0.5], [0, 2.5]])
    assert_allclose(R.to_csr().toarray(), [[2, 0], [3, 1], [0, 5]])
    assert (R.global_mean(), R.user_mean().tolist(), R.item_mean().tolist()) == (2.75, [2, 2, 5], [2.5, 3])
    train, test = R.split(0.25, by="time")
    assert test.values.tolist() == [1] and train.values.tolist() == [2, 3, 5] and test.n_items == 2
    assert repr(R) == "RatingMatrix(4 ratings of 2 items by 3 users)"
    with pytest.raises(DataError, match="rating 2 is not on the scale"):
        RatingMatrix(["a"], ["x"], [2.0], scale=[1, 3])
    with pytest.raises(DataError, match="of one length"):
        RatingMatrix(["a"], ["x", "y"], [2.0])
    with pytest.raises(DataError, match="duplicates must be"):
        RatingMatrix(["a"], ["x"], [2.0], duplicates="first")
    with pytest.raises(DataError, match="no ratings"):
        read_ratings(np.full((2, 2), np.nan))
    assert read_ratings([("a", "x"), ("b", "x")], [1, 2]).values.tolist() == [1, 2]


# ragged sequences


def test_series_of_vectors_and_of_codes():
    vectors = read_series([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ["b", "a"], target="class")
    assert vectors.width == 2 and not vectors.tokens and list(vectors.y) == [1, 0]
    assert vectors.facts()["classes_"].tolist() == ["a", "b"]
    part = vectors.take([1])
    assert len(part) == 1 and part.items[0].tolist() == [[3, 4], [5, 6]] and part.y == [0]
    codes = read_series([[0, 3], [1]], [0.5, 1.5], target="number")
    assert codes.tokens and codes.width == 4 and list(codes.y) == [0.5, 1.5]
    tagged = read_series([[0, 3], [1]], [["N", "V"], ["N"]], target="class", each=True)
    assert [tags.tolist() for tags in tagged.y] == [[0, 1], [0]] and tagged.classes.tolist() == ["N", "V"]
    assert read_series([[0]]).take(0).y is None

    class Learned:
        n_features_in_, reads_tokens_ = 4, True

    assert read_series([[1], [2]], like=Learned()).width == 4
    for X, options, told in [
        ([[4]], {"like": Learned()}, "5 features or codes"),
        ([[0.5]], {"like": Learned()}, "sequences of vectors"),
        ([], {}, "no sequences"),
        ([[-1]], {}, "negative codes"),
        ([np.zeros((0, 2))], {}, "empty sequence"),
        ([[np.nan]], {}, "sequence 0 of X has NaN"),
        ([[1]], {"target": "number"}, "one target for each"),
        ([[1]], {"target": "number", "y": [np.inf]}, "NaN or infinity"),
        ([[1, 2]], {"target": "class", "each": True, "y": [["N"]]}, r"y\[0\] has 1 entries"),
    ]:
        with pytest.raises(DataError, match=told):
            read_series(X, **options)


# linear algebra


@pytest.mark.parametrize("n", [3, 40, 90])
@pytest.mark.parametrize("k", [None, 2])
def test_leading_eigenvectors_solve_their_equation(n, k):
    A = np.random.default_rng(n).normal(size=(n, n))
    A = A + A.T
    values, vectors = symmetric_eigen(A) if k is None else symmetric_eigen(A, k)
    assert_allclose(values, np.sort(np.linalg.eigvalsh(A))[::-1][:k], atol=1e-9)
    assert_allclose(A @ vectors, vectors * values, atol=1e-8)
    assert_allclose(vectors, fix_signs(vectors))
    assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-10)


def test_memory_begins_with_a_line_and_twins_draw_alike():
    for shape, dtype in [((3, 8), np.float64), ((5,), np.float32), (7, np.int16)]:
        made = aligned(shape, dtype)
        assert made.ctypes.data % 64 == 0 and made.dtype == dtype
        made[...] = 1
        assert made.sum() == made.size == np.prod(shape)
    rng = np.random.RandomState(3)
    rng.normal(size=3)
    twin = copied(rng)
    assert twin.normal(size=5).tolist() == rng.normal(size=5).tolist()


@pytest.mark.parametrize(
    "X",
    [
        np.array(["2024-01-01"], dtype="M8[D]"),
        np.array([3], dtype="m8[s]"),
        pd.DataFrame({"a": [1], "b": pd.to_datetime(["2024"])}),
        pd.Series(pd.to_timedelta(["1h"])),
        np.array([[1, np.datetime64("2024")]], dtype=object),
    ],
    ids=["days", "spans", "a column", "a series", "objects"],
)
def test_dates_are_no_numbers(X):
    with pytest.raises(DataError, match="rows holds dates or spans of time"):
        refuse_dates(X, "rows")
    for fine in (
        np.ones(2),
        pd.DataFrame({"date": [1.0]}),
        np.array([[1, "2024"]], dtype=object),
        [1],
        sparse.eye_array(2),
    ):
        refuse_dates(fine)


def test_masked_and_negative_entries():
    hidden = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert_array_equal(unmasked(hidden, True, "X"), [[1, np.nan], [3, 4]])
    shown = np.ma.masked_array([[1, 2]], mask=False)
    for nan in (True, False):
        found = unmasked(shown, nan, "X")
        assert type(found) is np.ndarray and found.tolist() == [[1, 2]]
    plain = np.ones(2)
    assert unmasked(plain, False, "X") is plain
    with pytest.raises(DataError, match="y has masked entries"):
        unmasked(hidden, False, "y")
    for table in (np.array([[0.0, 2.0]]), np.array([[np.nan, 0.0]]), sparse.csr_array([[0.0, 1.0]])):
        refuse_negative(table, "Counts")
    for table in (np.array([[0.0, -1e-300]]), sparse.csr_array([[0.0, -1.0]])):
        with pytest.raises(DataError, match="passed to Counts"):
            refuse_negative(table, "Counts")


def test_rows_in_canonical_form_leave_the_callers_alone():
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    found = canonical_csr(twice)
    assert found.has_canonical_format and found.indices.tolist() == [0, 1] and found.data.tolist() == [2, 5]
    assert twice.indices.tolist() == [1, 0, 1] and twice.data.tolist() == [1, 2, 4]
    assert_array_equal(canonical_csr(np.eye(2)).toarray(), np.eye(2))
