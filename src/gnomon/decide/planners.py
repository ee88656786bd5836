"""What all planners share: they learn from a process, bound the optimal value at every step, and give a policy."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted as check_fitted

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.promises import Promises
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner
from gnomon.core.validate import warn
from gnomon.core.watching import Run
from gnomon.core.world import Process, World
from gnomon.decide import bellman
from gnomon.decide.policies import Policy

PROMISES = Promises(
    order="no: a world has no rows to put in order", weights="no: a world has no rows to weigh"
)


class Plan(NamedTuple):
    """Where a planner stands. `value` was backed up to `best` by the actions of `policy`."""

    value: Array  # (S,) what the next sweep begins with
    best: Array  # (S,) a backup of some value
    policy: Array  # (S,) its actions
    alive: Array  # (S, A) uint8: actions not yet ruled out
    below: float  # best + below <= V* <= best + above
    above: float
    sweeps: int  # since the begin, or of the last evaluation
    backups: int  # row products so far


class Solved(NamedTuple):
    """A finished plan with what only the end can tell."""

    plan: Plan
    value: Array
    q: Array
    gap: float
    residual: float


class WorldLearner(Learner):
    """A learner whose data are a world."""

    def fit(self, world: Any, y: Any = None) -> Self:
        """Learn from a process or an environment.

        Parameters
        ----------
        world : MDP or Gymnasium environment
        y : ignored
            For scikit-learn's tools.

        Returns
        -------
        self
        """
        return self._learn(self._read_world(world), X=world)

    def iterate(self, world: Any) -> Iterator[Self]:
        """Yield a fitted copy at the start and after every step; the model itself is left as it was."""
        yield from self._iterate(self._read_world(world))

    def _read_world(self, world: Any) -> Any:
        raise NotImplementedError

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _per_step: ClassVar[bool] = False  # whether the policy has a row of actions for each step to go

    def predict(self, states: Any) -> Array:
        """Return the best action of every state given.

        Parameters
        ----------
        states : int, array of int, or the world itself for all of its states
        """
        check_fitted(self)
        states = np.arange(self.n_states_) if isinstance(one_world(states), World) else states
        return np.asarray(self.policy_)[check_states(states, self.n_states_)]

    def _check_loaded(self) -> None:
        """Refuse a policy that does not fit the world it was learned in."""
        policy = vars(self).get("policy_")
        if isinstance(policy, Policy) and hasattr(self, "n_states_"):
            policy.check_actions(int(self.n_states_), int(self.n_actions_))
            if policy.table.dtype.kind != "f" and policy.table.ndim != 1 + self._per_step:
                raise ModelFileError("it holds a policy that does not fit its world. Get a new copy.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


DISCOUNT = Interval(Real, 0, 1, closed="both")


def one_world(world: Any) -> Any:
    """Return the world of a list that holds nothing else: this is how scikit-learn's tools hand one on."""
    if (
        isinstance(world, list)
        and world
        and isinstance(world[0], World)
        and all(one is world[0] for one in world)
    ):
        return world[0]
    return world


def check_states(states: Any, S: int) -> Array:
    """Return states as integers after checking that they exist."""
    found = np.asarray(states)
    if found.dtype.kind == "f" and np.array_equal(found, np.rint(found)):
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise DataError(f"states must be whole numbers from 0 to {S - 1}; got {found.dtype}.")
    if found.size and (found.min() < 0 or found.max() >= S):
        raise DataError(
            f"states go from 0 to {S - 1}; got {found.min() if found.min() < 0 else found.max()}."
        )
    return found


class Planner(WorldLearner):
    """A planner: `fit` takes an MDP."""

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "sweep"
    _promises: ClassVar[Promises] = PROMISES

    def _read_world(self, world: Any) -> Process:
        check_parameters(self)
        world = one_world(world)
        if not isinstance(world, Process):
            raise DataError(
                f"{type(self).__name__} plans in an MDP; got {type(world).__name__}. For an "
                f"environment with a table use "
                "MDP.from_gymnasium(env); in others learn with QLearning, ModelBased or DQN."
            )
        g = self._discount(world)
        if g * world.max_row_sum_ >= 1.0:
            bellman.check_can_end(world)
        return world

    def _discount(self, mdp: Any) -> float:
        return bellman.discount_of(mdp, self.discount)

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        self.discount_ = self._discount(data)

    def _warn_not_converged(self, run: Run) -> None:
        gap = run.trace.certificate
        if gap is None or not len(gap):
            reached = "sampled values have no bounds"
        else:
            reached = f"the guaranteed error is {gap[-1]:.3g}"
        if getattr(self, "tol", None):
            warn(
                f"{type(self).__name__} did not converge in {self._limit()} {self._unit}s: {reached}, "
                f"and tol={self.tol:g}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _plan(self, mdp: Any, V: Array) -> Plan:
        alive = np.array(mdp.available, dtype=np.uint8)
        policy = np.where(mdp.available, mdp.expected_rewards_, -np.inf).argmax(axis=1)
        return Plan(V, V, policy, alive, -np.inf, np.inf, 0, 0)

    def _solved(self, mdp: Any, plan: Plan, value: Array, gap: float) -> Solved:
        q = bellman.q_values(mdp, value, self._discount(mdp))
        return Solved(plan, value, q, gap, float(np.abs(q.max(axis=1) - value).max()))

    def _attributes(self, state: Any) -> dict[str, Any]:
        if isinstance(state, Plan):
            half = (state.above - state.below) / 2
            middle = state.best + (state.above + state.below) / 2 if np.isfinite(half) else state.best
            return self._told(state, middle, None, half)
        return self._told(state.plan, state.value, state.q, state.gap) | {"residual_": state.residual}

    def _told(self, plan: Plan, value: Array, q: Array | None, gap: float) -> dict[str, Any]:
        told = {
            "V_": value,
            "policy_": Policy(plan.policy),
            "gap_": float(gap),
            "policy_gap_": float(plan.above - plan.below),
            "lower_": plan.best + plan.below,
            "upper_": plan.best + plan.above,
            "n_backups_": plan.backups,
            "iterate_": plan.best,
        }
        if q is not None:
            told |= {"Q_": q, "optimal_actions_": q >= q.max(axis=1, keepdims=True) - _tie(q)}
        return told

    def score(self, world: Any, y: Any = None) -> float:
        """Return the exact expected value of the policy from the process's start."""
        check_fitted(self)
        g = bellman.discount_of(world, self.discount)
        return float(world.start_ @ world.evaluate(self.policy_, discount=g).value)

    def plot(self, world: Any = None, ax: Any = None) -> Any:
        """Draw the certified gap of every step or, given a grid world, its values and arrows."""
        from gnomon import plot

        if world is not None:
            return plot.grid_map(world, self.V_, policy=self.policy_, ax=ax)
        return plot.return_curve(self, ax=ax)


def _tie(q: Array) -> Any:
    return 1e-9 * (1.0 + np.abs(q.max(axis=1, keepdims=True)))
