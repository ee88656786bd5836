"""Steps: the one loop of the library, and the base class of everything that learns.

A learner is three functions over an immutable state: `_start` makes one, `_step` improves it and tells the
objective, `_attributes` turns it into what users see. The loop below records the trace, judges convergence,
drives scikit-learn's callbacks and writes checkpoints; no learner has code of its own for any of it.

What a fit needs beside its data (sorted columns, Gram blocks, a copy on a device) is its workspace: `_prepare`
makes it once, start and step are handed it in place of the data, and it is dropped at the end.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, ClassVar, NamedTuple, Self

from gnomon.core.callback_support import CallbackSupportMixin, callback_management_context
from gnomon.core.callbacks import Position
from gnomon.core.compiling import compiling_noted
from gnomon.core.convergence import Convergence, Moment
from gnomon.core.data import Data
from gnomon.core.errors import interruptible
from gnomon.core.estimator import Estimator
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.rows import MemoryRows
from gnomon.core.threads import one_blas_thread, threads
from gnomon.core.trace import Recorder, Trace
from gnomon.core.watching import Run, Watch

log = logging.getLogger(__name__)

FEW_ENTRIES = 2**14  # of X


class Report(NamedTuple):
    """What a step tells of itself."""

    objective: float | None  # None: this learner has no objective
    certificate: float | None = None  # duality gap or optimality violation
    done: bool = False  # nothing is left to do
    change: float | None = None  # the learner's own measure of movement, for the message
    info: dict[str, float] = {}  # named columns of the trace: validation loss, perplexity, return
    stalled: bool = False  # nothing more can be done, whether the goal is reached or not


class Learner(Convergence, CallbackSupportMixin, Estimator):  # type: ignore[misc]
    """An estimator that learns in steps.

    Subclasses write `_start`, `_step` and `_attributes`. They get `fit`, `iterate`, `trace_`, `n_iter_`,
    `converged_`, several starts (`n_init`), `warm_start`, callbacks and checkpoints.
    """

    _unit: ClassVar[str] = "step"  # what one step is: "epoch", "sweep", "episode"
    _draws: ClassVar[bool] = True  # False for learners whose start and steps leave nothing to chance

    # what a subclass writes

    def _prepare(self, data: Any) -> Any:
        """Return what start and step work on: the data, or a workspace made from them once for this fit."""
        return data

    def _start(self, work: Any, rng: Any) -> Any:
        """Return the state to begin with."""
        raise NotImplementedError

    def _step(self, work: Any, state: Any) -> tuple[Any, Any]:
        """Return a better state and the objective, or a `Report`."""
        raise NotImplementedError

    def _stretch(self, work: Any, state: Any, most: int) -> tuple[Any, Any]:
        """Return the state after up to `most` steps, and a list with the report of each; or one step, as `_step` does.

        Asked instead of `_step` where nobody sees the states between. The numbers must be those of single steps, and
        only the last report may be done or stalled: it is for learners that decide by `Report.done` alone.
        """
        return self._step(work, state)

    def _attributes(self, state: Any) -> dict[str, Any]:
        """Return the learned attributes of a state; enough to predict with."""
        raise NotImplementedError

    def _finish(self, work: Any, state: Any) -> Any:
        """Return the state after the last step, made consistent where the steps leave it half-way."""
        return state

    def _snapshot(self, state: Any) -> Any:
        """Return the state as a tree of numbers, strings, arrays and tuples, for a checkpoint."""
        return state

    def _restore(self, work: Any, snapshot: Any) -> Any:
        """Return the state behind a snapshot."""
        return snapshot

    def _state(self) -> Any:
        """Return the state behind the learned attributes; this is what makes `warm_start` work."""
        raise NotImplementedError(
            f"{type(self).__name__} cannot start from an earlier fit; use warm_start=False."
        )

    def _announced(self, data: Any) -> int | None:
        """Return how many steps a progress bar announces for these data; None where nobody knows."""
        return self._limit()

    def _starts(self) -> int:
        """Return how many starts are tried."""
        return int(getattr(self, "n_init", 1))

    # what every learner has

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the data.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix, Dask collection, Arrow dataset, or path of Parquet files
            The rows to learn from.
        y : array or column name, optional
            The target, where the model has one.
        sample_weight : array or column name, optional
            How many times each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._learn(self._read(X, y, sample_weight), X=X, y=y, sample_weight=sample_weight)

    def iterate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step.

        The copies are independent, so they can be kept, compared and drawn. Only the first start is
        followed where `n_init` asks for several. The model itself is left as it was. Where few of many steps are
        looked at, ``send(k)`` in place of ``next`` goes k steps ahead and makes no copies on the way.
        """
        yield from self._iterate(self._read(X, y, sample_weight))

    def _iterate(self, data: Data) -> Generator[Self, int | None, None]:
        recorder, ahead = Recorder(unit=self._unit), None
        with self._threads():  # held while it works, not while the caller looks at a copy
            work = self._prepare(data)
            state = self._first_state(work, self._first_seed(), 0)
            copy = None if state is None else self._copy(Run(state, recorder.trace(), 0, False), data)
        if copy is not None:
            ahead = yield copy
        moments = self._steps(work, state, recorder)
        while True:
            with self._threads(), _calm(data):
                seen = deque(itertools.islice(moments, ahead or 1), maxlen=1)
                if not seen:
                    return
                moment = seen[0]
                count = len(recorder.objective)
                last = moment.last() or count >= self._limit()
                state = self._finish(work, moment.state) if last else moment.state
                copy = self._copy(Run(state, recorder.trace(), count, moment.converged), data)
            ahead = yield copy

    def _copy(self, run: Run, data: Data) -> Self:
        copy = self._unfitted()
        copy._keep(run, data)
        return copy

    def _learn(self, data: Data, **given: Any) -> Self:
        """Run the loop on data already read and keep the result; an error leaves the model as it was."""
        with (
            interruptible(),
            compiling_noted(),
            self._threads(),
            _calm(data),
            callback_management_context(self),
        ):
            run = self._best_run(data, given)
        self._keep(run, data)
        return self

    def _keep(self, run: Run, data: Data) -> None:
        self._adopt(self._learned(run), data)

    def _learned(self, run: Run) -> dict[str, Any]:
        facts = {"trace_": run.trace, "n_iter_": max(1, run.n_iter), "converged_": run.converged}
        return {**facts, **self._attributes(run.state)}

    # the loop

    def _best_run(self, data: Data, given: dict[str, Any]) -> Run:
        """Run from every start and return the best."""
        starts = self._starts()
        watch = Watch(self, data, given, starts)
        position = watch.resume() or Position(self._first_seed(), 0, None, None, None)
        work = self._prepare(data)
        best: Any = self._run_again(work, position.best)
        for index in range(position.start, starts):
            run = self._run(data, work, watch, position._replace(start=index, best=best))
            position = position._replace(state=None, trace=None, converged=False)
            if best is None or self._better(run.objective(), best.objective()):
                best = run
            if watch.stopped:
                break
        if not best.converged and not watch.stopped:
            self._warn_not_converged(best)
        best = best._replace(state=self._finish(work, best.state))
        watch.finish(lambda: self._reconstruction(best, data))
        return best

    def _run_again(self, work: Any, best: Run | None) -> Run | None:
        """Return the best run before a checkpoint, its state restored."""
        return None if best is None else best._replace(state=self._restore(work, best.state))

    def _run(self, data: Data, work: Any, watch: Watch, position: Position) -> Run:
        """Run from one start, telling the callbacks of every step."""
        if position.state is None:
            state = self._first_state(work, position.seed, position.start)
        else:
            state = self._restore(work, position.state)
        recorder, converged = Recorder(position.trace, unit=self._unit), position.converged
        recorder.watched = watch.sees_steps()
        quiet = not recorder.watched and watch.checkpoint is None
        watch.begin(position.start)
        for moment in () if converged else self._steps(work, state, recorder):
            state, converged = moment.state, moment.converged
            if quiet:
                continue
            run = Run(state, recorder.trace, len(recorder.objective), converged)  # type: ignore[arg-type]
            watch.tell(recorder.last)
            watch.keep(lambda: self._position(position, state, recorder.trace(), converged))  # noqa: B023
            if watch.step(lambda: self._reconstruction(run._replace(trace=recorder.trace()), data)):  # noqa: B023
                break
        watch.end()
        return Run(state, recorder.trace(), len(recorder.objective), converged)

    def _position(self, position: Position, state: Any, trace: Trace, converged: bool) -> Position:
        """Return where the run stands, with states that can be written."""
        best = position.best
        best = None if best is None else best._replace(state=self._snapshot(best.state))
        return position._replace(state=self._snapshot(state), trace=trace, converged=converged, best=best)

    def _steps(self, work: Any, state: Any, recorder: Recorder) -> Iterator[Moment]:
        """Yield the moments of a run until it converges or the steps are used up."""
        tol = float(getattr(self, "tol", None) or 0.0)
        clock = time.perf_counter() - (recorder.seconds[-1] if recorder.seconds else 0.0)
        limit, heard = self._limit(), log.isEnabledFor(logging.DEBUG)
        while (index := len(recorder.objective)) < limit:
            if recorder.watched:
                state, told = self._step(work, state)
            else:
                state, told = self._stretch(work, state, limit - index)
            for index, one in enumerate(told if type(told) is list else (told,), index):  # noqa: B020
                report = one if isinstance(one, Report) else Report(float(one))
                previous = recorder.objective[-1] if recorder.objective else math.inf
                objective = self._finite(report.objective, index)
                recorder.add(objective, time.perf_counter() - clock, report.certificate, report.info)
                if heard:
                    log.debug(
                        "%s %s %d: objective %.10g", type(self).__name__, self._unit, index + 1, objective
                    )
            converged = report.done or self._converged(report, objective, previous, tol)
            moment = Moment(state, report, converged)
            yield moment
            if moment.last():
                return

    def _first_state(self, work: Any, seed: int, index: int) -> Any:
        if getattr(self, "warm_start", False) and self.__sklearn_is_fitted__():
            return self._state()
        return self._start(work, stream(seed, index) if self._draws else None)

    def _reconstruction(self, run: Run, data: Data) -> dict[str, Any]:
        """Return what scikit-learn's callbacks need to make a fitted copy."""
        shell = self._unfitted()
        shell._keep(run, data)
        return {name: value for name, value in vars(shell).items() if name.endswith("_")}

    def _seed(self) -> Any:
        return getattr(self, "random_state", 0)  # without one a learner draws nothing

    def _first_seed(self) -> int:
        """Draw the seed of all starts; where none is drawn, a generator of the user's goes on as it does elsewhere."""
        given = self._seed()
        if not self._draws and (given is None or (type(given) is int and given >= 0)):
            return 0
        return draw_seed(None if given is None else generator(given))

    def _threads(self) -> Any:
        jobs = getattr(self, "n_jobs", None)
        return threads(jobs) if isinstance(jobs, int) and jobs > 0 else contextlib.nullcontext()


def _calm(data: Data) -> Any:
    """Keep BLAS on one thread through a fit to few rows, where asking for it pass by pass takes longest."""
    few = isinstance(data, MemoryRows) and data.n_rows * data.n_features < FEW_ENTRIES
    return one_blas_thread() if few else contextlib.nullcontext()


class Unseeded(Learner):
    """A learner that draws no start, and decides by itself when it is done."""

    _stop: ClassVar[str] = "self"
    _draws: ClassVar[bool] = False

    def _start(self, work: Any, rng: Any) -> Any:
        return None

    def _first_state(self, work: Any, seed: int, index: int) -> Any:
        return None

    def _starts(self) -> int:
        return 1


__all__ = ["Learner", "MemoryRows", "Report", "Run", "Unseeded"]
