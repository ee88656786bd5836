"""A run: a fit that hands out its steps while it goes on, as lines of JSON, and stops when nobody reads them.

One thread learns and keeps the fitted copies; another turns them into pictures. While the fit goes on, pictures
take a small share of the time; when it is over they are made as fast as can be.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gnomon.core.errors import GnomonError
from gnomon.core.steps import FEW_ENTRIES
from gnomon.core.threads import one_blas_thread
from gnomon.lab.code import program
from gnomon.lab.formulas import formula_of
from gnomon.lab.material import Material, RefusedError, view
from gnomon.lab.scenes import frame, shown_points

MAX_SECONDS = 120.0
EVERY_STEP = 100  # after so many steps every second one is drawn, after twice as many every fourth, ...
SHARE = 0.025  # of the time, for pictures while a fit goes on
HEAD_START = 0.5  # seconds in which a short fit can end before anything is drawn
_END = object()


class Job(NamedTuple):
    """A model that is ready to be fitted, and what it is fitted to."""

    model: Any
    material: Material
    settings: dict[str, Any]


def stride(step: int) -> int:
    """Return how many steps further the next picture is: one at first, then more and more.

    >>> [stride(step) for step in (0, 99, 100, 200, 400)]
    [1, 1, 2, 4, 8]
    """
    found = 1
    while step >= EVERY_STEP * found:
        found *= 2
    return found


def steps(model: Any, material: Material) -> Iterator[tuple[int, Any]]:
    """Yield the fitted copies that are drawn, with their numbers; the last one always."""
    if not hasattr(model, "iterate"):
        yield 0, model.fit(*material.given)
        return
    walk = model.iterate(*material.given)
    step, copy = 0, next(walk, None)
    while copy is not None:
        yield step, copy
        step, copy = _ahead(walk, step, copy)


def _ahead(walk: Any, step: int, copy: Any) -> tuple[int, Any]:
    """Return the next copy that is drawn with its number; None where the run is over."""
    due, found = step + stride(step), None
    with contextlib.suppress(StopIteration):
        while step < due:  # not everyone can go several steps at once
            told = len(getattr(copy, "trace_", ()))
            copy = found = walk.send(due - step if due > step + 1 else None)
            step += max(1, len(getattr(copy, "trace_", ())) - told)
    return step, found


class Run:
    """A fit in a thread of its own."""

    def __init__(self, job: Job, over: Callable[[], None] = lambda: None) -> None:
        self.job, self.over = job, over
        self.copies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stopped, self.fitted = threading.Event(), threading.Event()
        self.seconds = 0.0
        self.thread = threading.Thread(target=self._learn, name="gnomon lab fit", daemon=True)

    def stop(self) -> None:
        """Let the fit end with its current step."""
        self.stopped.set()

    def _learn(self) -> None:
        size = getattr(self.job.material.X, "size", None)  # of arrays: other data have steps of another kind
        few = isinstance(size, int) and size < FEW_ENTRIES  # the steps are short: one limit for all of them
        with one_blas_thread() if few else contextlib.nullcontext():
            self._hand_out_steps()

    def _hand_out_steps(self) -> None:
        begun = time.perf_counter()
        try:
            for step, copy in steps(self.job.model, self.job.material):
                self.seconds = time.perf_counter() - begun
                self.copies.put((step, copy))
                if self.stopped.is_set():
                    break
                if self.seconds > MAX_SECONDS:
                    self.copies.put(RefusedError(f"the fit was stopped after {MAX_SECONDS:.0f} seconds."))
                    break
        except Exception as error:
            self.copies.put(error)
        finally:
            self.fitted.set()
            self.copies.put(_END)
            self.over()

    def lines(self) -> Iterator[str]:
        """Yield the head, every step and the end of the run, a JSON object each."""
        self.thread.start()
        self.fitted.wait(HEAD_START)
        model, material, settings = self.job
        points = view(material)
        try:
            yield line(
                type="head", model=type(model).__name__, said=list(material.said),
                points=shown_points(material, points),
                formula=formula_of(type(model)), code=program(model, material, settings),
            )  # fmt: skip
            while (found := self.copies.get()) is not _END:
                if isinstance(found, Exception):
                    yield line(type="failed", said=failure(model, found))
                    continue
                begun = time.perf_counter()
                yield line(type="step", **frame(found[1], found[0], material, points))
                if not self.fitted.is_set():
                    self.fitted.wait((1 / SHARE - 1) * (time.perf_counter() - begun))
            yield line(type="end", seconds=round(self.seconds, 4))
        finally:
            self.stop()


def failure(model: Any, error: Exception) -> str:
    """Return why a fit failed, in a sentence."""
    if isinstance(error, GnomonError | ValueError):
        return f"{type(model).__name__}: {error}"
    return f"{type(model).__name__} failed ({type(error).__name__}): {error}"


def line(**values: Any) -> str:
    """Return one line of the stream."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
