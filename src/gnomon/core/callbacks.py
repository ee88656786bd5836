"""Callbacks of the library's own: a time budget, a stop from outside, a log of the trace, checkpoints.

scikit-learn's work on every learner too.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from gnomon import __version__
from gnomon.core.data import Data, UndigestibleError, digest_of
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import pack, unpack, write_atomically
from gnomon.core.validate import warn

log = logging.getLogger(__name__)


class Position(NamedTuple):
    """Where a fit stands: enough to go on from."""

    seed: int
    start: int
    state: Any
    trace: Any
    best: Any
    converged: bool = False


class _Callback:
    """A callback that only listens."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin of a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Begin of a task."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """End of a task; True asks to stop."""
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """End of a fit."""


class TimeBudget(_Callback):
    """Stop a fit at the first step that ends after so many seconds.

    The model is then fitted as far as it got: `converged_` is False and nothing is warned about.

    Parameters
    ----------
    seconds : float
        Time from the begin of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.core.callbacks import TimeBudget
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> KMeans(5, random_state=0).set_callbacks(TimeBudget(60)).fit(X).converged_
    True
    """

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise ValueError(f"TimeBudget needs seconds > 0; got {seconds}.")
        self.seconds = seconds

    def setup(self, estimator: Any, context: Any) -> None:
        """Start the clock."""
        self._deadline = time.monotonic() + self.seconds

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Say stop when the time is over."""
        return time.monotonic() >= self._deadline


class StopRequest(_Callback):
    """Stop a fit from another thread, at the end of the step that is running.

    The model is then fitted as far as it got, as with `TimeBudget`. The request holds until `clear`.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.core.callbacks import StopRequest
    >>> stop = StopRequest()
    >>> stop.set()  # a button, a signal handler, another thread
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> KMeans(5, random_state=0).set_callbacks(stop).fit(X).n_iter_
    1
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask every fit that has this callback to stop."""
        self._event.set()

    def clear(self) -> None:
        """Take the request back."""
        self._event.clear()

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Say stop when it was asked for."""
        return self._event.is_set()


class TraceLog(_Callback):
    """Write a line of JSON after every step, for whoever watches a long fit from outside.

    A line holds the number of the step (under the name of its unit), ``start`` where there are several, the
    objective, the seconds and every named column of the trace: ``{"epoch": 3, "objective": 0.21, "seconds": 1.4,
    "validation_loss": 0.25}``. What is not a number is null. A fit adds to the file.

    Parameters
    ----------
    path : path
        The file; its folder must be there.

    Examples
    --------
    >>> import numpy as np, tempfile, os, json
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.core.callbacks import TraceLog
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.jsonl")
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = KMeans(5, n_init=1, random_state=0).set_callbacks(TraceLog(path)).fit(X)
    >>> len(open(path).readlines()) == model.n_iter_
    True
    """

    def __init__(self, path: Any) -> None:
        self.path = Path(path)

    def setup(self, estimator: Any, context: Any) -> None:
        """Say before the work begins that nothing could be written."""
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the log {self.path} lies in no folder: make {self.path.parent} first.")

    def tell(self, row: dict[str, Any]) -> None:
        """Write one line, whole."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


class Checkpoint(_Callback):
    """Write where a fit stands, so that a killed one goes on.

    ``fit`` with the same model, data and checkpoint goes on from the file, and ends with the same bits as an
    undisturbed run. When a fit ends, the file is removed. A file that is torn, or that belongs to another
    model or other data, is refused; it is never overwritten by a fit it does not belong to.

    Parameters
    ----------
    path : path
        The file to write. It is replaced as a whole, never in part.
    every_seconds : float, default=60
        Time between two writes; 0 writes after every step.
    """

    def __init__(self, path: Any, every_seconds: float = 60.0) -> None:
        if every_seconds < 0:
            raise ValueError(f"every_seconds must not be negative; got {every_seconds}.")
        self.path = Path(path)
        self.every_seconds = every_seconds

    def setup(self, estimator: Any, context: Any) -> None:
        """Start the clock."""
        self._last = time.monotonic()

    def restore(self, estimator: Any, data: Data) -> Position | None:
        """Return where the fit of this model on these data stood, or None when there is no file."""
        self._check_folder()
        self._owner = fingerprint(estimator, data)
        self._types = state_types(estimator)
        self._last = time.monotonic()
        self._mine = self.path.exists()  # checked below; a file that appears later is another fit's
        if not self._mine:
            return None
        content = unpack(self.path.read_bytes(), trusted=self._types)
        if not isinstance(content, dict) or set(content) != {"owner", "position"}:
            raise ModelFileError(f"{self.path} is no checkpoint; give another path.")
        if content["owner"] != self._owner:
            different = [key for key, value in self._owner.items() if content["owner"].get(key) != value]
            raise ModelFileError(
                f"{self.path} belongs to another fit: the {' and the '.join(different)} differ. "
                "Give another path, or delete the file if that fit is not needed any more."
            )
        log.info("going on from %s", self.path)
        position: Position = content["position"]
        return position

    def _check_folder(self) -> None:
        """Say before the work begins that nothing could be written."""
        folder = self.path.parent
        if not folder.is_dir():
            raise ModelFileError(f"the checkpoint {self.path} lies in no folder: make {folder} first.")
        if not os.access(folder, os.W_OK):
            raise ModelFileError(f"the checkpoint {self.path} cannot be written: {folder} is read-only.")

    def offer(self, position: Callable[[], Position]) -> None:
        """Write the position when it is time; a write that fails is warned about, and the fit goes on."""
        if time.monotonic() - self._last < self.every_seconds or self._taken():
            return
        content = pack({"owner": self._owner, "position": position()}, trusted=self._types)
        try:
            write_atomically(self.path, content)
            self._mine = True
        except OSError as error:
            warn(
                f"the checkpoint {self.path} could not be written ({error}); the fit goes on, and tries "
                "again later.",
                UserWarning,
            )
        self._last = time.monotonic()

    def _taken(self) -> bool:
        """Tell whether another fit writes to the same file; it is left alone then, and this one goes on without."""
        if self._mine or not self.path.exists():
            return False
        warn(
            f"the checkpoint {self.path} belongs to another fit that began meanwhile; this one goes on without. "
            "Give each fit a path of its own.",
            UserWarning,
        )
        self.every_seconds = float("inf")
        return True

    def clear(self) -> None:
        """Remove the file of a fit that has ended."""
        if self._mine:
            self.path.unlink(missing_ok=True)


def state_types(estimator: Any) -> list[type]:
    """Return the NamedTuples that stand beside a learner's class or its bases: its state is made of them."""
    modules = {cls.__module__ for cls in type(estimator).__mro__ if issubclass(cls, BaseEstimator)}
    beside = [one for name in sorted(modules) for one in vars(sys.modules[name]).values()]
    return [
        one for one in beside if isinstance(one, type) and issubclass(one, tuple) and hasattr(one, "_fields")
    ]


def fingerprint(estimator: Any, data: Data) -> dict[str, str]:
    """Name a model, its settings, its data and the version, so that a checkpoint is not taken for another's."""
    return {
        "model": f"{type(estimator).__module__}.{type(estimator).__qualname__}",
        "parameters": _parameter_digest(estimator),
        "data": data.digest(),
        "version": __version__,
    }


def _parameter_digest(estimator: Any) -> str:
    """Hash the value of every parameter; one that has none worth the name is refused."""
    found = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        try:
            found.append((name, digest_of(value)))
        except UndigestibleError as error:
            raise TypeError(
                f"a fit of {type(estimator).__name__} cannot be checkpointed: of its parameter {name} nobody can "
                f"tell whether it is the same when the fit goes on ({error})."
            ) from None
    return digest_of(found)
