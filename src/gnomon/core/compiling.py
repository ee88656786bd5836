"""A word to the person who waits: a first fit that compiles for long says so, in interactive sessions alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds after which a person wonders
NOTE = "compiling (once): later fits will not wait; gnomon.warm_up() compiles everything beforehand"

_told = threading.Event()


@contextmanager
def compiling_noted() -> Iterator[None]:
    """Say once in a session that a fit is compiling, if it still is after some seconds and somebody waits for it."""
    if _told.is_set() or not someone_waits():
        yield
        return
    timer = threading.Timer(PATIENCE, _tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def someone_waits() -> bool:
    """Tell whether this is a session of a person: Python's prompt on a terminal, IPython, or a notebook."""
    if "ipykernel" in sys.modules:
        return True
    prompt = hasattr(sys, "ps1") or "IPython" in sys.modules
    return prompt and sys.stderr is not None and sys.stderr.isatty()


def is_compiling() -> bool:
    """Tell whether Numba is at work in another thread; one that is not loaded, or has moved its lock, is not."""
    compiler = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(getattr(compiler, "global_compiler_lock", None), "_lock", None)
    if lock is None:
        return False
    free = lock.acquire(blocking=False)
    if free:
        lock.release()
    return not free


def _tell() -> None:
    if is_compiling() and not _told.is_set():
        _told.set()
        sys.stderr.write(f"{NOTE}\n")
        sys.stderr.flush()
