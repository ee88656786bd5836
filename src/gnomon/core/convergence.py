"""Convergence: when a run is at its end, which of several is best, and what is said where none came to an end."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DivergenceError
from gnomon.core.validate import warn


class Moment(NamedTuple):
    """Where a run stands after a step."""

    state: Any
    report: Any
    converged: bool

    def last(self) -> bool:
        """Tell whether no step follows."""
        return self.converged or self.report.stalled


class Convergence:
    """How a learner judges its objective."""

    _sense: ClassVar[str] = "min"  # or "max": which way the objective goes
    _monotone: ClassVar[bool] = True  # False for stochastic learners, whose objective may rise on the way
    _stop: ClassVar[str] = (
        "objective"  # "objective", "relative", "certificate" or "self" (by Report.done alone)
    )

    def _limit(self) -> int:
        """Return how many steps there are at most."""
        return int(self.max_iter)  # type: ignore[attr-defined]

    def _converged(self, report: Any, objective: float, previous: float, tol: float) -> bool:
        change = abs(objective - previous)
        if self._stop == "objective":
            return change <= tol
        if self._stop == "relative":
            return change <= tol * max(1.0, abs(objective))
        return self._stop == "certificate" and report.certificate is not None and report.certificate <= tol

    def _finite(self, objective: float | None, index: int) -> float:
        if objective is None:
            return math.nan
        if not math.isfinite(objective):
            raise DivergenceError(
                f"the objective of {type(self).__name__} is {objective} at iteration {index + 1}. "
                "Look for entries of X that are huge, and scale the columns."
            )
        return float(objective)

    def _better(self, one: float, other: float) -> bool:
        """Tell whether an objective is better by more than rounding; of equals the first start is kept."""
        margin = 1e-10 * abs(other)
        return one > other + margin if self._sense == "max" else one < other - margin

    def _warn_not_converged(self, run: Any) -> None:
        tol = getattr(self, "tol", None)
        if not tol:
            return
        values = run.trace.objective
        if self._stop == "certificate" and run.trace.certificate is not None and len(run.trace.certificate):
            last = f"its certificate is {run.trace.certificate[-1]:.3g}"
        elif len(values) > 1:
            last = f"the last change of the objective was {abs(values[-1] - values[-2]):.3g}"
        else:
            last = "it made a single step"
        warn(
            f"{type(self).__name__} did not converge in max_iter={self._limit()} steps: {last}, "
            f"and tol={tol:g}. Raise max_iter or tol, or scale the columns.",
            ConvergenceWarning,
        )
