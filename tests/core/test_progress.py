"""Progress of long work: told in the thread that asks, in order, and by the outermost alone."""

import numpy as np
import pytest

from gnomon import progress, threads
from gnomon.core.threads import in_order


def inner(k):
    return sum(in_order(lambda i: i * k, range(3), "inner"))


@pytest.mark.parametrize("count", [1, 2])
def test_the_outermost_work_tells(count):
    told = []
    with threads(count), progress(lambda *one: told.append(one)):
        assert list(in_order(inner, range(4), "outer")) == [0, 3, 6, 9]
        assert list(in_order(inner, iter([1]), "unknown")) == [3]
        assert list(in_order(inner, [1])) == [3]  # without a name only what is inside may tell
    assert told[:7] == [*(("outer", k, 4) for k in range(5)), ("unknown", 0, None), ("unknown", 1, None)]
    assert {one[0] for one in told[7:]} <= {"inner"}


def test_nobody_is_told_outside_and_blocks_nest():
    told = []
    with progress(lambda *one: told.append(("a", *one))):
        with progress(lambda *one: told.append(("b", *one))):
            list(in_order(int, [1], "x"))
        list(in_order(int, [1], "y"))
    list(in_order(int, [1], "z"))
    assert told == [("b", "x", 0, 1), ("b", "x", 1, 1), ("a", "y", 0, 1), ("a", "y", 1, 1)]


def test_an_error_of_the_watcher_ends_the_work():
    def enough(what, done, total):
        if done == 3:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt), progress(enough):
        for one in in_order(int, range(100), "long"):
            seen.append(one)
    assert seen == [0, 1]
    list(in_order(int, range(4), "long"))  # and nobody is told any more


def test_a_bar_is_drawn_on_the_error_stream(capsys):
    with progress():
        assert np.sum(list(in_order(int, range(5), "counting"))) == 10
    assert capsys.readouterr().out == ""
