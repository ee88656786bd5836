"""Names become codes: the place of each among the known ones, -1 for what is not there."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.core.ids import coded, codes_of, column_of, is_many, pair_columns

NAMES = {
    "a range": np.arange(4),
    "sorted numbers": np.array([-2.5, 0.0, 7.0]),
    "numbers out of order": np.array([5, 1, 3]),
    "words out of order": np.array(["b", "abc", "a"]),
    "truth": np.array([True, False]),
    "objects": np.array(["a", 3, ("b", 1)], dtype=object),
    "dates": np.array(["2024-03-01", "2023-01-01"], dtype="M8[D]"),
}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_its_place(name):
    names = NAMES[name]
    places = np.random.default_rng(0).integers(0, len(names), 20)
    np.testing.assert_array_equal(codes_of(names[places], names), places)


def test_what_is_not_there_has_none():
    assert codes_of(np.array([np.nan, 1.0, 2.0, np.inf, 5.0]), np.array([5.0, 1.0])).tolist() == [
        -1,
        1,
        -1,
        -1,
        0,
    ]
    assert codes_of(np.array([1.5, 3.0, np.nan]), np.arange(4)).tolist() == [-1, 3, -1]
    assert codes_of(np.array(["abcd", "", "a"]), np.array(["b", "a"])).tolist() == [-1, -1, 1]
    assert codes_of(np.array(["1"]), np.array([1, 2])).tolist() == [-1]
    assert codes_of(np.array([True, False]), np.array([0, 1])).tolist() == [1, 0]
    assert codes_of([], np.array([1])).tolist() == [] and codes_of([1], np.array([])).tolist() == [-1]


KINDS = {
    "numbers": [3, 1, 7, 0, 2],
    "a range": [0, 1, 2, 3],
    "one": [0],
    "not quite a range": [0, 2, 1, 3],
    "halves": [0.5, 2.0, -1.0],
    "words": ["b", "abc", "", "a"],
    "pairs": [("a", 1), ("a", 2), "a", 1],
    "none": [],
}
ASKED = [
    [0, 1, 2, 3, 4, -1],
    [0.5, 2.0, 3.0, -1.0, 1e300],
    ["a", "abc", "c", ""],
    [("a", 1), "a", ("b", 1)],
    [],
]


@pytest.mark.parametrize("names", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("asked", ASKED, ids=["whole", "real", "words", "pairs", "none"])
def test_codes_are_places_in_the_list(names, asked):
    expected = [names.index(one) if one in names else -1 for one in asked]
    found = codes_of(column_of(asked), column_of(names))
    assert found.tolist() == expected and found.dtype == np.int64


def test_ids_are_learned_in_order_or_given():
    for values in ([3, 1, 3, 7], ["b", "a", "b"], [0.5, -1.0, 0.5], [("b", 1), ("a", 2), ("b", 1)]):
        names, codes = coded(column_of(values), None, "user")
        assert names.tolist() == sorted(set(values)) and [names.tolist()[c] for c in codes] == values
    mixed, codes = coded(
        column_of(["a", 2, ("c",), 1, "a"]), None, "user"
    )  # by kind, then as they are written
    assert mixed.tolist() == [1, 2, "a", ("c",)] and codes.tolist() == [2, 1, 3, 0, 2]
    names, codes = coded(column_of(["b", "a"]), ["b", "c", "a"], "user")
    assert names.tolist() == ["b", "c", "a"] and codes.tolist() == [0, 2]
    for values, given, told in [
        (["a"], ["a", "b", "a"], "item_names must be unique"),
        (["a", "z"], ["a", "b"], "item 'z' is not among item_names"),
        ([5], [1, 2], "item 5 is not among"),
        (np.array([1.0, np.nan]), None, "is NaN"),
        (["a", None], None, "is missing"),
        ([("a",), float("nan")], None, "is missing"),
    ]:
        with pytest.raises(DataError, match=told):
            coded(column_of(values), given, "item")


def test_one_id_or_several():
    assert all(is_many(one) for one in ([1], np.array([1]), {1, 2}, pd.Series([1]), {"a": 1}))
    assert not any(
        is_many(one)
        for one in ("ab", b"ab", ("a", 1), frozenset([1]), 3, 2.5, None, np.array(1), np.int64(3))
    )


def test_pairs_in_every_form():
    for X in (
        [("a", 1), ("b", 2)],
        np.array([["a", 1], ["b", 2]], dtype=object),
        pd.DataFrame({"u": ["a", "b"], "i": [1, 2], "more": 0}),
    ):
        users, items = pair_columns(X)
        assert list(users) == ["a", "b"] and list(items) == [1, 2]
    assert [list(part) for part in pair_columns(pair for pair in [(1, 2)])] == [[1], [2]]
    for wrong in (
        np.zeros((2, 3)),
        np.zeros(2),
        pd.DataFrame({"u": [1]}),
        "ab",
        b"ab",
        3,
        ["ab"],
        [(1, 2), (1,)],
        [(1, 2, 3)],
        [1],
    ):
        with pytest.raises(DataError, match="two columns|pairs"):
            pair_columns(wrong)


def test_columns_keep_their_kind():
    assert column_of([1, 2]).dtype.kind == "i" and column_of(["a", "bc"]).dtype.kind == "U"
    for mixed in ([1, "a"], [True, 1], [1, 2.5], [(1, 2), (3, 4)], [None], []):
        found = column_of(mixed)
        assert found.dtype == object and found.tolist() == mixed
    given = np.array([1.5, 2.0])
    assert column_of(given) is given and column_of(pd.Series([3, 4])).tolist() == [3, 4]
