"""Progress of long work that is no fit: resamples, folds, trials, orders of a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

Result = TypeVar("Result")
Tell = Callable[[str, int, int | None], Any]  # what goes on, how much is done, and of how many

_local = threading.local()


class progress:  # noqa: N801 - reads as a phrase: with progress(): ...
    """Show how far long work is, inside the block: a bar, or calls of a function.

    Resampling, cross-validation and simulations tell; a fit tells scikit-learn's callbacks, such as its `ProgressBar`.
    An error that the function raises ends the work.

    Parameters
    ----------
    tell : callable, optional
        ``tell(what, done, total)``, called in the thread that asked for the work; a bar on the terminal by default.

    Examples
    --------
    >>> from gnomon.selection import bootstrap
    >>> told = []
    >>> with progress(lambda what, done, total: told.append((what, done, total))):
    ...     found = bootstrap("mean", [1.0, 2.0, 4.0], n_resamples=100, random_state=0)
    >>> told
    [('bootstrap', 0, 2), ('bootstrap', 1, 2), ('bootstrap', 2, 2)]
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self.tell = tell

    def __enter__(self) -> progress:
        self.before: Tell | None = getattr(_local, "tell", None)
        self.bar: Any = None
        _local.tell = self.tell or self._on_a_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        _local.tell = self.before
        if self.bar is not None:
            self.bar.stop()

    def _on_a_bar(self) -> Tell:
        from rich.console import Console
        from rich.progress import Progress

        self.bar = bar = Progress(console=Console(stderr=True), transient=True)
        tasks: dict[str, Any] = {}
        bar.start()

        def tell(what: str, done: int, total: int | None) -> None:
            task = tasks[what] if what in tasks else tasks.setdefault(what, bar.add_task(what))
            bar.update(task, completed=done, total=total)

        return tell


def told(results: Iterable[Result], what: str, total: int | None) -> Iterator[Result]:
    """Yield the results, and tell of each; what is computed meanwhile tells nothing of its own."""
    tell = getattr(_local, "tell", None)
    if tell is None:
        yield from results
        return
    tell(what, 0, total)
    done, rest = 0, iter(results)
    while True:
        _local.tell = None
        try:
            result = next(rest)
        except StopIteration:
            return
        finally:
            _local.tell = tell
        done += 1
        tell(what, done, total)
        yield result
