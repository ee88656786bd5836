"""What all tabular agents share: episodes in a process (compiled) or in an environment, with the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted as check_fitted

from gnomon.core.errors import DataError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.promises import Promises
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Report
from gnomon.core.trace import Recorder
from gnomon.core.validate import COUNT
from gnomon.core.watching import Run
from gnomon.core.world import EnvironmentWorld, Process, read_world
from gnomon.decide.bellman import check_discount
from gnomon.decide.planners import DISCOUNT, PROMISES, WorldLearner, one_world
from gnomon.decide.policies import Evaluation, Policy
from gnomon.loops import worlds

AGENT: dict[str, Any] = {
    "discount": [DISCOUNT],
    "n_episodes": [COUNT],
    "max_steps": [COUNT],
    "n_steps": [COUNT, None],
    "random_state": ["random_state"],
}


class Played(NamedTuple):
    """What an episode was like."""

    total: float
    length: int
    truncated: bool


class Agent(WorldLearner):
    """An agent: a learner whose steps are episodes and whose trace holds their returns."""

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "episode"
    _monotone: ClassVar[bool] = False
    _promises: ClassVar[Promises] = PROMISES

    def _read_world(self, world: Any) -> Any:
        check_parameters(self)
        check_discount(self.discount)
        return read_world(one_world(world))

    def _limit(self) -> int:
        return int(self.n_episodes) if getattr(self, "n_steps", None) is None else int(self.n_steps)

    def _steps(self, work: Any, state: Any, recorder: Recorder) -> Iterator[Any]:
        try:
            yield from super()._steps(work, state, recorder)
        except WorldError as error:
            error.trace = recorder.trace()
            raise

    def fit(self, world: Any, y: Any = None) -> Self:
        """Learn by acting in a process or an environment.

        Parameters
        ----------
        world : MDP or Gymnasium environment
            Episode i begins with a reset by the i-th seed drawn from `random_state`. An environment that fails raises
            `WorldError`, whose ``agent`` is a fitted copy with all that was learned before the episode that failed.
        y : ignored
            For scikit-learn's tools.

        Returns
        -------
        self
        """
        data = self._read_world(world)
        try:
            return self._learn(data, X=world)
        except WorldError as error:
            state = getattr(error, "state", None)
            if state is not None:
                trace = error.trace
                error.agent = self._copy(Run(state, trace, len(trace), False), data)
                error.add_note(
                    f"{len(trace)} episodes were learned before; they are kept in the error's `agent`."
                )
            raise

    @property
    def returns_(self) -> Array:
        """The return of every episode."""
        check_fitted(self)
        return self.trace_["return"]

    @property
    def lengths_(self) -> Array:
        """The length of every episode."""
        check_fitted(self)
        return self.trace_["length"].astype(np.int64)

    def score(self, world: Any, y: Any = None) -> float:
        """Return the mean return of the learned policy over a hundred episodes."""
        return self.evaluate(world).mean

    def evaluate(self, world: Any, n_episodes: int = 100, **options: Any) -> Evaluation:
        """Play by the learned policy; return the mean return with its confidence interval.

        Parameters
        ----------
        world : MDP or Gymnasium environment
        n_episodes : int
        **options
            Of `Policy.evaluate`: ``max_steps``, ``discount``, ``confidence``, ``random_state``.
        """
        check_fitted(self)
        return self.policy_.evaluate(world, n_episodes, **{"random_state": 0, **options})

    def plot(self, ax: Any = None) -> Any:
        """Draw the return of every episode."""
        from gnomon import plot

        return plot.return_curve({type(self).__name__: [self]}, ax=ax)


class TabularWork(NamedTuple):
    """The world of a fit, with its numbers of states and actions."""

    world: Any
    S: int
    A: int
    available: Array  # (S, A) uint8


def tabular_work(world: Any) -> TabularWork:
    """Return a world whose states and actions are numbered."""
    A, S = world.n_actions, world.n_states
    on = world.available if isinstance(world, Process) else np.ones((S, A), dtype=bool)
    return TabularWork(world, S, A, np.ascontiguousarray(on).view(np.uint8))


def episode_keys(seed: int, episode: int) -> tuple[int, Any]:
    """Return the seed of an episode's reset and the key of the agent's own random numbers."""
    return int(worlds.episode_seed(seed, episode)), worlds.key_of(seed, 2 * episode + 1)


def state_number(world: EnvironmentWorld, observation: Any) -> int:
    """Return the number of an observation, after checking that it is one."""
    number = world.number(observation)
    if not 0 <= number < world.n_states:
        raise WorldError(
            f"the environment showed {observation!r}, which is none of its {world.n_states} observations."
        )
    return number


def finished_policy(world: Any, Q: Array) -> Policy:
    """Return the greedy policy; it knows how the world numbers observations."""
    return Policy(Q.argmax(axis=1)).numbered(getattr(world, "sizes", None))


def report_of(played: Played, done: bool = False, **more: float) -> Report:
    """Return what an episode tells the trace."""
    info = {
        "return": played.total,
        "length": float(played.length),
        "truncated": float(played.truncated),
        **more,
    }
    return Report(None, done=done, info=info)


def first_table(initial: Any, S: int, A: int, available: Array) -> Array:
    """Return the table to begin with: one number for all, or one each; −∞ where there is no action."""
    given = np.asarray(initial, dtype=np.float64)
    if given.ndim and given.shape != (S, A):
        raise DataError(f"initial_q must be a number or ({S}, {A}); got shape {given.shape}.")
    if np.isnan(given).any():
        raise DataError("initial_q has NaN entries.")
    return np.where(available.astype(bool), np.broadcast_to(given, (S, A)), -np.inf)
