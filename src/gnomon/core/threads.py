"""Threads: the one pool of the library.

Work is cut into pieces by the data alone and results are handed out in the order of the pieces, so the
number of threads changes nothing but the time. BLAS runs on one thread inside, for the same reason.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator
from functools import lru_cache
from types import TracebackType
from typing import Any, TypeVar

import joblib
from threadpoolctl import LibController, ThreadpoolController

from gnomon.core.progress import told

Item = TypeVar("Item")
Result = TypeVar("Result")

_local = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def thread_count() -> int:
    """Return how many threads the library uses.

    It is what the enclosing ``with threads(n)`` says, else the environment's ``GNOMON_NUM_THREADS`` or
    ``OMP_NUM_THREADS`` (joblib sets the latter in its workers), else the processors this process may use.
    """
    chosen = getattr(_local, "count", None)
    if chosen is not None:
        return int(chosen)
    for name in ("GNOMON_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
    return _processors()


@lru_cache(maxsize=1)
def _processors() -> int:
    return int(joblib.cpu_count())


class threads:  # noqa: N801 - reads as a verb: with threads(2): ...
    """Use `n` threads inside the block.

    >>> with threads(1):
    ...     thread_count()
    1
    """

    def __init__(self, n: int) -> None:
        if n < 1:
            raise ValueError(f"threads(n) needs n of at least 1; got {n}.")
        self.n = n

    def __enter__(self) -> threads:
        self.before = getattr(_local, "count", None)
        _local.count = self.n
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        _local.count = self.before


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], what: str | None = None, *, alone: bool = False
) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in order, computed on the pool a few items ahead.

    A call from inside a worker runs serially, so nested parallelism neither deadlocks nor oversubscribes. Work that has
    a name, `what`, tells how far it is to those who watch (`gnomon.progress`). With `alone` the calling thread does it
    all: for work of less than a tenth of a millisecond an item, which is what handing it over costs.
    """
    if what is not None:
        yield from told(
            in_order(function, items, alone=alone), what, len(items) if isinstance(items, Sized) else None
        )
        return
    alone = alone or getattr(_local, "inside", False) or (isinstance(items, Sized) and len(items) < 2)
    count = 1 if alone else thread_count()
    with one_blas_thread():
        if count == 1:
            yield from map(function, items)
        else:
            yield from _ahead(_pool(count), function, items, 2 * count)


def shared(function: Callable[[Item], Result], items: Iterable[Item], *, alone: bool = False) -> list[Result]:
    """Return ``[function(item) for item in items]``; the calling thread does its share of the items.

    For rounds of short work: one waking per helper, and the caller begins at once. A helper that the pool
    cannot lend is not waited for; `alone` asks for none.
    """
    items = list(items)
    alone = alone or len(items) < 2 or getattr(_local, "inside", False)
    count = 1 if alone else thread_count()
    with one_blas_thread():
        if count == 1:
            return [function(item) for item in items]
        waiting, helpers = deque(enumerate(items)), min(count, len(items)) - 1
        found: list[Any] = [None] * len(items)
        pool = _pool(count)
        others = [pool.submit(_take, function, waiting, found) for _ in range(helpers)]
        try:
            _take(function, waiting, found)
        finally:
            _local.inside = False
            for other in others:
                if not other.cancel():
                    other.result()
    return found


def _take(function: Callable[[Item], Result], waiting: deque[tuple[int, Item]], found: list[Any]) -> None:
    """Do what waits until nothing does; an error leaves nothing waiting."""
    _local.inside = True
    try:
        while (next_ := _pop(waiting)) is not None:
            found[next_[0]] = function(next_[1])
    except BaseException:
        waiting.clear()
        raise


def _pop(waiting: deque[Item]) -> Item | None:
    try:
        return waiting.popleft()
    except IndexError:  # another thread was quicker
        return None


def _ahead(
    pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item], depth: int
) -> Iterator[Result]:
    """Keep at most `depth` items under way; an error cancels what has not begun and waits for what has, so that nothing
    works on for a fit that is over. A forgotten generator only cancels: the collector may close it in any thread and
    under any lock.
    """
    pending: deque[Future[Result]] = deque()
    try:
        for item in items:
            pending.append(pool.submit(_as_worker, function, item))
            if len(pending) >= depth:
                yield _next(pending)
        while pending:
            yield _next(pending)
    except GeneratorExit:
        _cancel(pending)
        raise
    except BaseException:
        wait(_cancel(pending))
        raise


def _next(pending: deque[Future[Result]]) -> Result:
    """Return the first result; until it is there it counts as pending."""
    found = pending[0].result()
    pending.popleft()
    return found


def _cancel(pending: Iterable[Future[Result]]) -> list[Future[Result]]:
    """Cancel what has not begun; return the rest."""
    return [future for future in pending if not future.cancel()]


class _EnoughError(Exception):
    """Nobody wants the results that are left."""


def end(results: Iterator[Any]) -> None:
    """End the results of `in_order` before their end: when this returns, nothing works on them."""
    with contextlib.suppress(_EnoughError, StopIteration):
        results.throw(_EnoughError)  # type: ignore[attr-defined]


def _as_worker(function: Callable[[Item], Result], item: Item) -> Result:
    _local.inside = True
    return function(item)


def _pool(count: int) -> ThreadPoolExecutor:
    with _lock:
        if count not in _pools:
            _pools[count] = ThreadPoolExecutor(count, thread_name_prefix="gnomon")
        return _pools[count]


def _forget_pools() -> None:
    """A forked child has none of its parent's threads: start afresh."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_forget_pools)


class one_blas_thread(ContextDecorator):  # noqa: N801 - reads as a phrase: with one_blas_thread(): ...
    """Limit BLAS to one thread inside the block or function; nested blocks and worker threads cost nothing.

    BLAS keeps one count for the whole process, so the outermost block of any thread sets it and the last
    one to leave gives it back.
    """

    _depth = 0
    _before: tuple[tuple[LibController, int], ...] = ()  # those that had more threads than one
    _guard = threading.Lock()

    def __enter__(self) -> None:
        cls = one_blas_thread
        with cls._guard:
            cls._depth += 1
            if cls._depth == 1:
                found = ((library, library.get_num_threads()) for library in _blas())
                cls._before = tuple((library, count) for library, count in found if count != 1)
                _set_counts((library, 1) for library, _ in cls._before)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        cls = one_blas_thread
        with cls._guard:
            cls._depth -= 1
            if cls._depth == 0:
                _set_counts(cls._before)


def _set_counts(counts: Iterable[tuple[LibController, int]]) -> None:
    """Set the count of threads of every library, whatever thread asks.

    threadpoolctl lets one thread alone set the counts of OpenBLAS, the first that did, until that one lets go; what
    others ask for it passes over in silence.
    """
    for library, count in counts:
        library.set_num_threads(count)
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


@lru_cache(maxsize=1)
def _blas() -> tuple[LibController, ...]:
    """Return the BLAS libraries of this process, whose counts of threads are set without the cost of a search."""
    import scipy.linalg  # noqa: F401 - its BLAS must be loaded to be found

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return tuple(library for library in found if library.get_num_threads() is not None)
