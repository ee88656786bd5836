"""Loops are compiled before they are needed: family by family, side by side, and told."""

import logging

import pytest

import gnomon
from gnomon import _warm


def test_families_are_compiled_side_by_side_and_told_of(monkeypatch):
    told, asked = [], []
    monkeypatch.setattr(_warm, "_elsewhere", lambda name: asked.append(name) or len(name) / 2)
    monkeypatch.setattr(_warm, "_seconds", None)  # nothing is compiled here
    with gnomon.threads(2), gnomon.progress(lambda *what: told.append(what)):
        assert gnomon.warm_up("topics", "association", "topics") == {"topics": 3.0, "association": 5.5}
    assert sorted(asked) == ["association", "topics"]
    assert told == [("compiling (once)", done, 2) for done in range(3)]


def test_a_process_of_its_own_tells_its_seconds(monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", None)
    assert _warm._elsewhere("topics") > 0


@pytest.mark.parametrize("reason", ["one thread", "no cache", "no interpreter"])
def test_it_is_done_here_where_other_processes_are_no_help(reason, monkeypatch):
    monkeypatch.setattr(_warm, "_seconds", lambda name: 1.5)
    monkeypatch.setattr(_warm, "_elsewhere", None)
    if reason == "no cache":
        from gnomon.loops import _compile

        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        monkeypatch.setattr(_compile, "_home", lambda: None)
    if reason == "no interpreter":
        monkeypatch.setattr(_warm.sys, "executable", "")
    with gnomon.threads(1 if reason == "one thread" else 2):
        assert gnomon.warm_up("topics", "association") == {"topics": 1.5, "association": 1.5}


def test_a_process_that_fails_is_made_up_for_here(monkeypatch, caplog):
    monkeypatch.setattr(_warm, "_seconds", lambda name: 2.5)
    with caplog.at_level(logging.INFO, logger="gnomon._warm"):
        assert _warm._elsewhere("no_such_family") == 2.5
    assert "no_such_family" in caplog.text


def test_a_family_without_loops_is_refused_before_any_work():
    with pytest.raises(ValueError, match="'toppics' is no family with loops to compile.*topics"):
        gnomon.warm_up("association", "toppics")
