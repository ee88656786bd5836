"""How a fit of a hidden Markov model goes, under hmmlearn's names, and monitors that users bring along."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Monitor(NamedTuple):
    """How the fit went."""

    tol: float
    n_iter: int
    iter: int
    converged: bool
    history: Any
    verbose: bool = False


class Monitored:
    """A model that has a monitor before its fit too, which then tells that nothing has been done."""

    def __getattr__(self, name: str) -> Any:
        if name != "monitor_":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return Monitor(self.tol, self.n_iter, 0, False, deque(), self.verbose)


def own_monitor(model: Any) -> Any:
    """Return the monitor that a user has set on a model, or None: it has `report` and `converged`."""
    found = vars(model).get("monitor_")
    return found if hasattr(found, "report") else None
