"""The note of a first fit that compiles: said once, late, and only where a person waits."""

import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from gnomon.core import compiling


@pytest.fixture
def session(monkeypatch):
    """A person at a terminal, impatient, and a compiler that is at work."""
    said = []
    screen = types.SimpleNamespace(write=said.append, flush=lambda: None, isatty=lambda: True)
    python = types.SimpleNamespace(stderr=screen, ps1=">>> ", modules={})
    monkeypatch.setattr(compiling, "sys", python)
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    monkeypatch.setattr(compiling, "is_compiling", lambda: True)
    monkeypatch.setattr(compiling, "_told", threading.Event())
    return said


def fit(said, wanted=True):
    with compiling.compiling_noted():
        end = time.monotonic() + 20.0
        while wanted and not said and time.monotonic() < end:
            time.sleep(0.001)


def test_a_long_compilation_is_told_once(session):
    fit(session)
    fit(session, wanted=False)
    assert session == [f"{compiling.NOTE}\n"]


def test_nothing_is_said_in_scripts(session):
    del compiling.sys.ps1
    assert not compiling.someone_waits()
    fit(session, wanted=False)
    assert session == []


def test_a_notebook_has_no_terminal(session):
    compiling.sys.stderr.isatty = lambda: False
    assert not compiling.someone_waits()
    compiling.sys.modules["ipykernel"] = None
    assert compiling.someone_waits()


def test_nothing_is_said_when_nothing_is_compiled(session, monkeypatch):
    monkeypatch.setattr(compiling, "is_compiling", lambda: False)
    compiling._tell()
    assert session == []


def test_the_lock_of_the_compiler_is_known():
    lock = pytest.importorskip("numba.core.compiler_lock").global_compiler_lock
    with ThreadPoolExecutor(1) as elsewhere:
        assert not elsewhere.submit(compiling.is_compiling).result()
        with lock:
            assert elsewhere.submit(compiling.is_compiling).result()
        assert not elsewhere.submit(compiling.is_compiling).result()


def test_a_lock_that_has_moved_means_silence(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba.core.compiler_lock", types.ModuleType("moved"))
    assert not compiling.is_compiling()
