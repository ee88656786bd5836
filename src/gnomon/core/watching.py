"""Watching: who is told of a fit while it runs, and what a finished run is."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

from gnomon.core.callbacks import Checkpoint, Position, TraceLog
from gnomon.core.data import Data
from gnomon.core.trace import Trace


class Run(NamedTuple):
    """A finished run from one start."""

    state: Any
    trace: Trace
    n_iter: int
    converged: bool

    def objective(self) -> float:
        """Return the last objective."""
        return self.trace[-1] if len(self.trace) else math.nan


class Printed:
    """The trace as lines on the screen: what `verbose` asks for."""

    def __init__(self, every: int) -> None:
        self.every = every

    def tell(self, row: dict[str, Any]) -> None:
        """Print a row of the trace when its turn has come."""
        start, unit = ("start" in row), next(name for name in row if name != "start")
        if row[unit] % self.every == 0:
            before = f"Start {row['start']}, iteration" if start else "Iteration"
            numbers = (
                f"{name} = {value:.8g}"
                for name, value in row.items()
                if name not in ("start", unit, "seconds") and value is not None
            )
            sys.stdout.write(", ".join([f"{before} {row[unit]}", *numbers]) + "\n")


class Watch:
    """Those who watch a fit: scikit-learn's callbacks, a checkpoint where there is one, the screen where asked."""

    def __init__(self, learner: Any, source: Data, given: dict[str, Any], starts: int) -> None:
        self.learner, self.source, self.many = learner, source, starts > 1
        weight = given.get("sample_weight")
        self.data = {"X": given.get("X"), "y": given.get("y")}
        self.data["metadata"] = {} if weight is None else {"sample_weight": weight}
        callbacks = getattr(learner, "_skl_callbacks", [])
        self.active = bool(callbacks)
        self.checkpoint = next((one for one in callbacks if isinstance(one, Checkpoint)), None)
        self.logs: list[Any] = [one for one in callbacks if isinstance(one, TraceLog)]
        if getattr(learner, "verbose", None):
            self.logs.append(Printed(int(getattr(learner, "verbose_interval", 1))))
        self.stopped = False
        self.steps = learner._announced(source)
        self.root: Any = None
        if self.active:
            self.root = learner._init_callback_context(max_subtasks=starts if self.many else self.steps)
            self.root.call_on_fit_task_begin(estimator=learner, **self.data)

    def sees_steps(self) -> bool:
        """Tell whether somebody is told of every step."""
        return self.active or bool(self.logs)

    def resume(self) -> Position | None:
        """Return where an interrupted fit stood."""
        if self.checkpoint is None:
            return None
        position = self.checkpoint.restore(self.learner, self.source)
        return None if position is None else position._replace(best=_as_run(position.best))

    def begin(self, index: int) -> None:
        """Open the context of one start."""
        self.start = {"start": index} if self.many else {}
        self.context = self.root
        if self.many and self.active:
            self.context = self.root.subcontext(task_name=f"start {index}", max_subtasks=self.steps)
            self.context.call_on_fit_task_begin(estimator=self.learner, **self.data)

    def step(self, attributes: Any) -> bool:
        """Tell of one step; return whether somebody wants to stop."""
        if not self.active:
            return False
        inner = self.context.subcontext(task_name="step")
        inner.call_on_fit_task_begin(estimator=self.learner, **self.data)
        stop = inner.call_on_fit_task_end(
            estimator=self.learner, reconstruction_attributes=attributes, **self.data
        )
        self.stopped = self.stopped or bool(stop)
        return bool(stop)

    def tell(self, row: Any) -> None:
        """Write the newest row of the trace where it is asked for."""
        for one in self.logs:
            one.tell({**self.start, **row()})

    def keep(self, position: Any) -> None:
        """Offer the position to the checkpoint, which writes it when it is time."""
        if self.checkpoint is not None:
            self.checkpoint.offer(position)

    def end(self) -> None:
        """Close the context of one start."""
        if self.many and self.active:
            self.context.call_on_fit_task_end(estimator=self.learner, **self.data)

    def finish(self, attributes: Any) -> None:
        """Close the fit; its checkpoint has served."""
        if self.active:
            self.root.call_on_fit_task_end(
                estimator=self.learner, reconstruction_attributes=attributes, **self.data
            )
        if self.checkpoint is not None:
            self.checkpoint.clear()


def _as_run(best: Any) -> Run | None:
    return None if best is None else Run(*best)
