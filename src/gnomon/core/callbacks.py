"""Callbacks of the library's own: a time budget and checkpoints. scikit-learn's work on every learner too."""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import ModelFileError
from gnomon.core.saving import pack, unpack, write_atomically

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

    def restore(self, estimator: Any, rows: Any) -> Position | None:
        """Return where the fit of this model on these rows stood, or None when there is no file."""
        self._owner = fingerprint(estimator, rows)
        self._types = state_types(estimator)
        self._last = time.monotonic()
        if not self.path.exists():
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

    def offer(self, position: Callable[[], Position]) -> None:
        """Write the position when it is time."""
        if time.monotonic() - self._last >= self.every_seconds:
            write_atomically(
                self.path, pack({"owner": self._owner, "position": position()}, trusted=self._types)
            )
            self._last = time.monotonic()

    def clear(self) -> None:
        """Remove the file of a fit that has ended."""
        self.path.unlink(missing_ok=True)


def state_types(estimator: Any) -> list[type]:
    """Return the NamedTuples that stand beside a learner's class: its state is made of them."""
    beside = vars(sys.modules[type(estimator).__module__]).values()
    return [
        one for one in beside if isinstance(one, type) and issubclass(one, tuple) and hasattr(one, "_fields")
    ]


def fingerprint(estimator: Any, rows: Any) -> dict[str, str]:
    """Name a model and its data, so that a checkpoint is not taken for another's."""
    parameters = sorted((name, _plain(value)) for name, value in estimator.get_params(deep=True).items())
    return {
        "model": f"{type(estimator).__module__}.{type(estimator).__qualname__}",
        "parameters": hashlib.sha256(repr(parameters).encode()).hexdigest(),
        "data": _data_digest(rows),
    }


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    return f"{type(value).__name__}:{value if isinstance(value, int | float | str | bool | tuple) else ''}"


def _data_digest(rows: Any) -> str:
    """Hash the shape of the data and up to a thousand of its rows."""
    digest = hashlib.sha256(repr((rows.n_rows, rows.n_features, str(rows.dtype))).encode())
    if rows.in_memory:
        chosen = np.unique(np.linspace(0, rows.n_rows - 1, 1000).astype(int))
        picked = rows.X[chosen]
        parts = [picked.toarray() if sparse.issparse(picked) else picked, rows.weight[chosen]]
        for part in parts if rows.y is None else [*parts, rows.y[chosen]]:
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
