"""One benchmark case: the same work done by us and by the peers, measured side by side in one process.

    Case("kmeans n=200k d=20 k=50", data=make, ours=fit_ours, peers={"scikit-learn": fit_theirs},
         quality=inertia, better="lower")

`data()` (or `data(size)` when `sizes` are given) makes the input, untimed. Where the shape is told, as sizes or as the
numbers of a `partial(make, 200_000, 20)`, a case is also measured at two shapes drawn around it. Every contender is
called with the data and returns its result; `quality(result, data)` judges the result. A contender imports its library
itself; what is not installed is reported as missing. The name of a peer is that of its package, as pip knows it, with
the variant in parentheses: "scikit-learn (elkan)".
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import random
import resource
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

OURS = "gnomon"
SMALL = 8  # numbers below it say what kind of table it is (classes, columns of a plane), not how large
WIDE = 1.5  # a drawn number is at most so many times the told one, or its inverse
LONG = 30.0  # seconds; a contender whose run takes longer is run once, and its memory is not known


@dataclass
class Case:
    name: str
    ours: Callable[..., Any]
    peers: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    data: Callable[..., Any] | None = None
    quality: Callable[[Any, Any], float] | None = None
    better: str = "lower"  # or "higher": which quality is the better one
    tolerance: float = 1e-6  # how much worse, relatively, our quality may be
    floors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # bare calls nobody can beat
    sizes: Sequence[int] = ()  # data(size) for each; the last one is the case, all together the sweep
    goal: float | None = None  # the ratio to the best peer we want
    note: str = ""  # why the work is not quite the same, if it is not

    def contenders(self) -> dict[str, Callable[..., Any]]:
        return {OURS: self.ours, **self.peers, **self.floors}

    def make(self, size: int | None = None) -> tuple[Any, ...]:
        """Return the arguments of every contender."""
        if self.data is None:
            return ()
        if not self.sizes:
            return (self.data(),)
        return (self.data(self.sizes[-1] if size is None else size),)

    def around(self, rng: random.Random) -> Case | None:
        """Return the same case at a shape drawn around its own, named by the shape; None where none is told."""
        if self.sizes:
            size = drawn(self.sizes[-1], rng)
            return replace(self, name=f"n = {size:,}", sizes=[size])
        if not isinstance(self.data, partial):
            return None
        args = [drawn(value, rng) for value in self.data.args]
        named = {key: drawn(value, rng) for key, value in self.data.keywords.items()}
        shape = [f"{new:,}" for new, old in zip(args, self.data.args, strict=True) if sized(old)]
        shape += [f"{key} = {new:,}" for key, new in named.items() if sized(self.data.keywords[key])]
        return (
            replace(self, name=" x ".join(shape), data=partial(self.data.func, *args, **named))
            if shape
            else None
        )

    def as_good(self, mine: float, theirs: float) -> bool:
        """Say whether our quality is at least that of a peer, up to the tolerance."""
        slack = self.tolerance * max(abs(mine), abs(theirs))
        return mine <= theirs + slack if self.better == "lower" else mine >= theirs - slack


def sized(value: Any) -> bool:
    """Say whether a number of a shape may be drawn anew."""
    return type(value) is int and value >= SMALL


def drawn(value: Any, rng: random.Random) -> Any:
    """Return a size near the one given, never itself; anything else as it is."""
    if not sized(value):
        return value
    factor = WIDE ** (rng.choice((-1, 1)) * rng.uniform(0.25, 1.0))
    return max(SMALL, round(value * factor))


@dataclass
class Figures:
    """What is known of one contender in one case."""

    seconds: list[float] = field(default_factory=list)
    quality: float | None = None
    memory_mb: float | None = None
    sweep: list[float] = field(default_factory=list)  # best seconds at each of the case's sizes
    trouble: str = ""  # "missing: hmmlearn", or the error it ended with

    @property
    def best(self) -> float:
        return min(self.seconds, default=math.nan)


def call(contender: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, Any]:
    """Return the seconds and the result of one run."""
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        result = contender(*args)
        return time.perf_counter() - start, result


def trouble(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(OURS):
        return f"missing: {error.name}"
    return f"failed: {type(error).__name__}: {error}".splitlines()[0][:200]


def time_rounds(case: Case, args: tuple[Any, ...], figures: dict[str, Figures], seconds: float) -> None:
    """Fill in the seconds: a warm-up round, then rounds in turning order until the time is spent."""
    running = {}
    for name, contender in case.contenders().items():
        try:
            elapsed, result = call(contender, args)
            if case.quality and name not in case.floors:
                figures[name].quality = float(case.quality(result, *args))
            if name == OURS or elapsed < LONG:
                running[name] = contender
            else:
                figures[name].seconds.append(elapsed)
        except Exception as error:
            figures[name].trouble = trouble(error)
    names, spent, rounds = list(running), 0.0, 0
    while names and rounds < 9 and (rounds < 2 or spent < seconds):
        for name in names:
            elapsed, _ = call(running[name], args)
            figures[name].seconds.append(elapsed)
            spent += elapsed
        names = names[1:] + names[:1]
        rounds += 1


def sweep_sizes(case: Case, figures: dict[str, Figures], seconds: float) -> None:
    """Fill in the best time of every contender at every size; the largest is the case itself."""
    for size in case.sizes[:-1]:
        small = {name: Figures() for name in figures}
        time_rounds(case, case.make(size), small, seconds / len(case.sizes))
        for name, row in small.items():
            figures[name].sweep.append(row.best)
    for row in figures.values():
        row.sweep.append(row.best)


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return b of the line log(seconds) = a + b log(size): the cost grows as size**b."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return rise / sum((a - mean_x) ** 2 for a in x)


def peak_memory(
    contender: Callable[..., Any], args: tuple[Any, ...], limit: float = 2 * LONG
) -> float | None:
    """Return by how many MB a second run of the contender raises the memory of a process of its own.

    The first run imports and compiles. The process is forked, so the data are there and count for nobody.
    """
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call(contender, args)
            before = reset_peak()
            call(contender, args)
            answer = (resource_peak() - before) / 1024
            os.write(send, json.dumps(max(answer, 0.0)).encode())
        finally:
            os._exit(0)
    os.close(send)
    deadline = time.monotonic() + limit
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            break
        time.sleep(0.005)
    with os.fdopen(receive) as stream:
        text = stream.read()
    return float(text) if text else None


def reset_peak() -> float:
    """Give freed memory back, forget the peak where the system can, and return the memory in use, in kB."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as stream:
            stream.write("5")
        return _status("VmRSS")
    except (OSError, AttributeError):
        return resource_peak()


def resource_peak() -> float:
    """Return the peak memory of this process in kB."""
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _status(key: str) -> float:
    with open("/proc/self/status") as stream:
        return next(float(line.split()[1]) for line in stream if line.startswith(key))


def measure_around(case: Case, seed: int, seconds: float, count: int = 2) -> dict[str, dict[str, Figures]]:
    """Return the figures of every contender at shapes drawn around the case's own, by shape.

    The seed and the name of the case decide the shapes: all the numbers of a day can be had again.
    """
    rng = random.Random(f"{seed} {case.name}")
    found = {}
    for near in filter(None, (case.around(rng) for _ in range(count))):
        found[near.name] = {name: Figures() for name in near.contenders()}
        time_rounds(near, near.make(), found[near.name], seconds / 4)
    return found


def measure(
    case: Case, *, seconds: float = 20.0, memory: bool = True, sweep: bool = True
) -> dict[str, Figures]:
    """Return everything about a case. Memory first: a process that has run OpenMP must not be forked."""
    figures = {name: Figures() for name in case.contenders()}
    args = case.make()
    if memory:
        for name, contender in case.contenders().items():
            figures[name].memory_mb = peak_memory(contender, args)
    time_rounds(case, args, figures, seconds)
    if sweep and case.sizes:
        sweep_sizes(case, figures, seconds)
    return figures
