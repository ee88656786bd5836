"""Pieces: fits that are a list of independent parts, such as the folds of a cross-validated model, and a last step."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

from gnomon.core.steps import Report, Run, Unseeded
from gnomon.core.threads import end, in_order

ENDLESS = 2**31 - 1  # steps: the list of pieces ends earlier


def n_folds(cv: Any) -> int | None:
    """Return how many folds a setting `cv` means, or None where that shows only with the data."""
    if cv is None:
        return 5
    if isinstance(cv, Integral):
        return int(cv)
    try:
        return int(cv.get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return None


class Done(NamedTuple):
    """The results of the pieces so far, and what users see of them."""

    results: tuple[Any, ...]
    attributes: dict[str, Any]


class Pieces:
    """The workspace: what is to be done, and the results that threads work out a few pieces ahead."""

    def __init__(self, learner: InPieces, plan: Any) -> None:
        self.learner, self.plan = learner, plan
        self.tasks = list(learner._tasks(plan))
        self.ahead: Iterator[Any] | None = None
        self.place = 0

    def result(self, place: int) -> Any:
        """Return the result of one piece; they are asked for in order, from the first or after a pause."""
        if self.ahead is None or place != self.place:
            self.ahead = in_order(self._work, self.tasks[place:])
        found = next(self.ahead)
        self.place = place + 1
        if self.place == len(self.tasks):
            self.close()  # gives BLAS its threads back
        return found

    def close(self) -> None:
        """Let nothing work on."""
        if self.ahead is not None:
            end(self.ahead)

    def _work(self, task: Any) -> Any:
        return self.learner._piece(self.plan, task)


class InPieces(Unseeded):
    """A learner whose steps are independent pieces, worked on side by side, and a last one that puts them together.

    Subclasses write `_plan`, `_tasks`, `_piece`, `_so_far` and `_conclude`. Whoever watches sees a fitted model after
    every piece; a killed fit goes on with the pieces that are missing.
    """

    def _plan(self, data: Any) -> Any:
        """Return what all pieces work on."""
        raise NotImplementedError

    def _tasks(self, plan: Any) -> list[Any]:
        """Return what tells one piece from another."""
        raise NotImplementedError

    def _piece(self, plan: Any, task: Any) -> Any:
        """Return the result of one piece: numbers, strings, arrays, and tuples of them."""
        raise NotImplementedError

    def _so_far(self, plan: Any, results: tuple[Any, ...]) -> tuple[dict[str, Any], dict[str, float]]:
        """Return the attributes of a model that could be used after these pieces, and columns of the trace."""
        raise NotImplementedError

    def _conclude(self, plan: Any, results: tuple[Any, ...]) -> tuple[dict[str, Any], float | None]:
        """Return the attributes after all pieces, and the objective."""
        raise NotImplementedError

    def _prepare(self, data: Any) -> Pieces:
        return Pieces(self, self._plan(data))

    def _run(self, data: Any, work: Pieces, watch: Any, position: Any) -> Run:
        try:
            return super()._run(data, work, watch, position)
        finally:
            work.close()

    def _step(self, work: Pieces, state: Done | None) -> tuple[Done, Report]:
        results = () if state is None else state.results
        if len(results) < len(work.tasks):
            results = (*results, work.result(len(results)))
            attributes, info = self._so_far(work.plan, results)
            return Done(results, attributes), Report(None, info=info)
        attributes, objective = self._conclude(work.plan, results)
        return Done(results, attributes), Report(objective, done=True)

    def _attributes(self, state: Done) -> dict[str, Any]:
        return state.attributes

    def _limit(self) -> int:
        return ENDLESS
