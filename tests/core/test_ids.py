"""Names become codes: the place of each among the known ones, -1 for what is not there."""

import numpy as np
import pytest

from gnomon.core.ids import codes_of

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
