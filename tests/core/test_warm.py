"""Loops are compiled before they are needed: family by family, side by side, and told."""

import logging

import numpy as np
import pytest

import gnomon
from gnomon import _warm
from gnomon.core.threads import thread_count


class Helpers:
    """In place of joblib's processes: calls here, and an error at the family that is named."""

    asked: list[str] = []
    dies_at = None

    def __init__(self, count, return_as):
        assert (count, return_as) == (2, "generator")

    def __call__(self, tasks):
        for _, (name, dtypes, count), _ in tasks:
            if name == self.dies_at:
                raise RuntimeError(f"no memory for {name}")
            assert (dtypes, count) == (("float64",), 2)
            self.asked.append(name)
            yield len(name) / 2


@pytest.fixture
def helpers(monkeypatch):
    monkeypatch.setattr(_warm, "Parallel", Helpers)
    monkeypatch.setattr(Helpers, "asked", [])
    monkeypatch.setattr(_warm, "_seconds", None)  # nothing is compiled here
    return Helpers


def test_families_are_compiled_side_by_side_and_told_of(helpers):
    said = []
    with gnomon.threads(2), gnomon.progress(lambda *what: said.append(what)):
        assert gnomon.warm_up("topics", "association", "topics") == {"topics": 3.0, "association": 5.5}
    assert helpers.asked == ["association", "topics"]  # the longest first
    assert said == [("compiling (once)", done, 2) for done in range(3)]


def test_processes_of_their_own_tell_their_seconds(monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", None)  # found anew where the work is done
    with gnomon.threads(2):
        found = gnomon.warm_up("topics", "selection")
    assert list(found) == ["topics", "selection"] and min(found.values()) > 0


@pytest.mark.parametrize("reason", ["one thread", "no cache", "no interpreter"])
def test_it_is_done_here_where_other_processes_are_no_help(reason, monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", lambda name, dtypes: 1.5)
    monkeypatch.setattr(_warm, "_side_by_side", None)
    if reason == "no cache":
        from gnomon.loops import _compile

        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        monkeypatch.setattr(_compile, "_home", lambda: None)
    if reason == "no interpreter":
        monkeypatch.setattr(_warm.sys, "executable", "")
    with gnomon.threads(1 if reason == "one thread" else 2):
        assert gnomon.warm_up("topics", "association") == {"topics": 1.5, "association": 1.5}


def test_what_fails_elsewhere_is_made_up_for_here(helpers, monkeypatch, caplog):
    monkeypatch.setattr(helpers, "dies_at", "topics")
    monkeypatch.setattr(_warm, "_seconds", lambda name, dtypes: 7.0)
    with gnomon.threads(2), caplog.at_level(logging.INFO, logger="gnomon._warm"):
        found = gnomon.warm_up("topics", "bayes", "association")
    assert found == {"association": 5.5, "topics": 7.0, "bayes": 7.0}
    assert "no memory for topics" in caplog.text


def test_helping_processes_compile_for_as_many_threads(monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", lambda name, dtypes: thread_count())
    assert [_warm._there("topics", ("float64",), count) for count in (1, 3)] == [1, 3]


def test_a_family_without_loops_is_refused_before_any_work():
    with pytest.raises(ValueError, match="'toppics' is no family with loops to compile.*topics"):
        gnomon.warm_up("association", "toppics")


@pytest.mark.parametrize(
    "asked, given", [("float32", ("float32",)), ((np.float64, "f4"), ("float64", "float32"))]
)
def test_loops_are_compiled_for_the_types_that_are_asked_for(asked, given, monkeypatch):
    told = []
    monkeypatch.setattr(_warm, "_seconds", lambda name, dtypes: told.append((name, dtypes)) or 1.0)
    gnomon.warm_up("bayes", dtypes=asked)
    assert told == [("bayes", given)]


@pytest.mark.parametrize("asked", [(), "float16", ("float64", int)])
def test_a_type_without_loops_is_refused_before_any_work(asked, monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", None)
    with pytest.raises(ValueError, match="'float64', 'float32' or both"):
        gnomon.warm_up("bayes", dtypes=asked)


def test_families_fit_rows_of_the_types_that_are_asked_for(monkeypatch):
    from gnomon.neural import _warm as family

    seen = []

    class Network(family.MLPClassifier):
        def fit(self, X, y):
            seen.append(X.dtype.name)
            return super().fit(X, y)

    monkeypatch.setattr(family, "MLPClassifier", Network)
    gnomon.warm_up("neural")
    gnomon.warm_up("neural", dtypes=("float32", "float64"))
    assert seen == ["float64", "float32", "float64"]
