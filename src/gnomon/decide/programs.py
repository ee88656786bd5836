"""Planning as a linear program, planning for a number of steps, and the choice among planners."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.utils.validation import check_is_fitted as check_fitted

from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, InfeasibleError, nearest
from gnomon.core.linalg import Array
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT
from gnomon.core.world import Process
from gnomon.decide import bellman
from gnomon.decide.evaluation import solve_chain
from gnomon.decide.improvement import PolicyIteration
from gnomon.decide.planners import DISCOUNT, Planner, check_states, one_world
from gnomon.decide.policies import Policy
from gnomon.decide.sweeps import ValueIteration

SMALL = 500  # states up to which `solve` evaluates policies exactly
METHODS = (
    "auto",
    "value_iteration",
    "policy_iteration",
    "modified_policy_iteration",
    "linear_program",
    "prioritized_sweeping",
)


class Optimum(NamedTuple):
    """What a linear program found."""

    value: Array
    q: Array
    policy: Array
    occupancy: Array  # (S, A)
    below: float
    above: float
    best: Array


class LinearProgram(Planner):
    r"""The optimal value as a linear program, whose dual tells how often each action is taken.

    .. math:: \min_V \sum_s p_0(s) V(s) \quad\text{subject to}\quad V(s) \ge r(s,a) + \gamma \sum_{s'} T(s,a,s') V(s')

    The dual variables are the discounted occupancy of state–action pairs under an optimal policy. Useful where further
    linear constraints are to be added, and as an independent check; `PolicyIteration` is quicker. Solved by HiGHS.

    Parameters
    ----------
    discount : float, optional
        γ; that of the process by default.

    Attributes
    ----------
    V_, Q_, policy_, lower_, upper_, gap_, optimal_actions_
        As in `ValueIteration`.
    occupancy_ : (S, A) array
        Of an optimal policy, from weights p₀ mixed with a little of every state.

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP([[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas")
    >>> LinearProgram().fit(mdp).V_.round(6)
    array([12.293578, 15.045872])
    """

    _unit: ClassVar[str] = "step"
    _parameter_constraints: ClassVar[dict[str, Any]] = {"discount": [DISCOUNT, None]}

    def __init__(self, *, discount: float | None = None) -> None:
        self.discount = discount

    def _limit(self) -> int:
        return 1

    def _start(self, mdp: Any, rng: Any) -> Any:
        return None

    def _step(self, mdp: Any, state: Any) -> tuple[Optimum, Report]:
        g = self._discount(mdp)
        S, A = mdp.n_states, mdp.n_actions
        on = mdp.available.ravel()
        which = sparse.csr_array(
            (np.ones(S * A), np.repeat(np.arange(S), A), np.arange(S * A + 1)), shape=(S * A, S)
        )
        M = sparse.csr_array(which - g * mdp.rows_)[on]
        weight = 0.5 * mdp.start_ + 0.5 / S  # every state counts, or its value would be free
        found = linprog(
            weight, A_ub=-M, b_ub=-mdp.expected_rewards_.ravel()[on], bounds=(None, None), method="highs"
        )
        if found.status != 0:
            raise InfeasibleError(
                f"the linear program has no solution ({found.message}); with discount 1 every policy "
                f"must come to an end."
            )
        taken = np.zeros(S * A)
        taken[on] = -found.ineqlin.marginals
        policy = np.where(mdp.available, taken.reshape(S, A), -np.inf).argmax(axis=1)
        P, r = bellman.induced(mdp, policy)
        V = solve_chain(P, r, g)  # the vertex, to machine precision
        q = bellman.q_values(mdp, V, g)
        best = q.max(axis=1)
        below, above = bellman.offsets(
            float((best - V).min()), float((best - V).max()), bellman.contraction(mdp, g)
        )
        gap = (above - below) / 2
        return Optimum(V, q, policy, taken.reshape(S, A), below, above, best), Report(
            float(weight @ V), max(gap, 0.0) if np.isfinite(gap) else None, done=True
        )

    def _attributes(self, state: Any) -> dict[str, Any]:
        if state is None:
            return {}
        top = state.q.max(axis=1, keepdims=True)
        gap = (state.above - state.below) / 2
        return {
            "V_": state.value,
            "Q_": state.q,
            "policy_": Policy(state.policy),
            "optimal_actions_": state.q >= top - 1e-9 * (1.0 + np.abs(top)),
            "lower_": state.best + state.below,
            "upper_": state.best + state.above,
            "gap_": float(gap) if np.isfinite(gap) else float("nan"),
            "occupancy_": state.occupancy,
        }


class Horizon(NamedTuple):
    """Values by steps to go, filled as far as the recursion came."""

    values: Array  # (k + 1, S)
    q: Array  # (k, S, A)
    policies: Array  # (k, S)


class FiniteHorizon(Planner):
    r"""The best actions when a given number of steps is left: backward recursion, without discount by default.

    .. math:: V_k(s) = \max_a \Big[ r(s,a) + \gamma \sum_{s'} T(s,a,s')\, V_{k-1}(s') \Big], \qquad V_0 = 0

    The best action may depend on the steps left. By the principle of optimality it is the best first action,
    followed by
    the best continuation with one step less.

    Parameters
    ----------
    horizon : int
        Number of decisions H.
    discount : float
        γ.
    terminal_value : (S,) array, optional
        What a state is worth when no step is left.

    Attributes
    ----------
    values_ : (H + 1, S) array
        By steps to go.
    q_values_ : (H, S, A) array
    policies_ : (H, S) array
        Row k − 1: the actions with k steps to go.
    changes_ : dict of state to list of int
        For states whose action depends on the steps left, the numbers of steps at which it changes.
    V_, Q_, policy_
        With all steps to go; `policy_` keeps all rows.

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP([[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], layout="sas")
    >>> model = FiniteHorizon(4).fit(mdp)
    >>> model.values_[4].round(3), model.changes_
    (array([3.768, 6.496]), {0: [2]})
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "horizon": [COUNT],
        "discount": [DISCOUNT],
        "terminal_value": ["array-like", None],
    }
    _per_step: ClassVar[bool] = True

    def __init__(self, horizon: int = 10, *, discount: float = 1.0, terminal_value: Any = None) -> None:
        self.horizon, self.discount, self.terminal_value = horizon, discount, terminal_value

    def _read_world(self, world: Any) -> Any:
        check_parameters(self)
        world, discount = one_world(world), bellman.check_discount(self.discount)
        if hasattr(world, "with_discount"):
            return super()._read_world(world.with_discount(0.0 if discount == 1.0 else discount))
        return super()._read_world(world)

    def _discount(self, mdp: Any) -> float:
        return 0.0 if self.discount == 1.0 else float(self.discount)  # only to pass the check of endless sums

    def _limit(self) -> int:
        return int(self.horizon)

    def _start(self, mdp: Any, rng: Any) -> None:
        return None  # without a step there is nothing to decide

    def _end(self, mdp: Any) -> Horizon:
        S, A = mdp.n_states, mdp.n_actions
        last = (
            np.zeros(S)
            if self.terminal_value is None
            else bellman.check_values(self.terminal_value, S, "terminal_value")
        )
        return Horizon(last[None], np.empty((0, S, A)), np.empty((0, S), dtype=np.int64))

    def _step(self, mdp: Any, state: Horizon | None) -> tuple[Horizon, Report]:
        state = self._end(mdp) if state is None else state
        q = bellman.q_values(mdp, state.values[-1], float(self.discount))
        V, actions = q.max(axis=1), q.argmax(axis=1)
        grown = Horizon(
            np.vstack([state.values, V]),
            np.concatenate([state.q, q[None]]),
            np.vstack([state.policies, actions]),
        )
        return grown, Report(
            None, done=len(grown.policies) == self.horizon, info={"value": float(mdp.start_ @ V)}
        )

    def _attributes(self, state: Horizon) -> dict[str, Any]:
        return {
            "values_": state.values,
            "q_values_": state.q,
            "policies_": state.policies,
            "policy_": Policy(state.policies),
            "V_": state.values[-1],
            "Q_": state.q[-1],
            "changes_": _changes(state.policies),
        }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "policies_" in vars(self):
            check_shapes(self, {"policies_": (len(self.policies_), int(self.n_states_))}, kinds="iu")

    def predict(self, states: Any, steps_to_go: int | None = None) -> Array:
        """Return the best actions with so many steps to go (all of them by default)."""
        check_fitted(self)
        states = np.arange(self.policies_.shape[1]) if isinstance(one_world(states), Process) else states
        k = len(self.policies_) if steps_to_go is None else int(steps_to_go)
        if not 1 <= k <= len(self.policies_):
            raise DataError(f"steps_to_go must be from 1 to {len(self.policies_)}; got {steps_to_go}.")
        return self.policies_[k - 1][check_states(states, self.policies_.shape[1])]

    def score(self, world: Any, y: Any = None) -> float:
        """Return the expected value of the start with all steps to go."""
        check_fitted(self)
        return float(world.start_ @ world.evaluate(self.policies_, discount=self.discount).value[-1])

    def plot(self, world: Any = None, ax: Any = None) -> Any:
        """Draw the best action of every state against the steps to go."""
        from gnomon.plot.decide import horizon_actions

        return horizon_actions(self, world, ax=ax)


def _changes(policies: Array) -> dict[int, list[int]]:
    turning = np.argwhere(policies[1:] != policies[:-1])
    found: dict[int, list[int]] = {}
    for k, s in turning.tolist():
        found.setdefault(s, []).append(k + 2)
    return found


def solve(mdp: Any, method: str = "auto", **options: Any) -> Any:
    """Return a fitted planner for a process.

    Up to 500 states are solved by exact policy iteration, more by modified policy iteration. Agents that learn have
    the same
    attributes (`V_`, `Q_`, `policy_`), so a known and an unknown model are handled alike.

    Parameters
    ----------
    mdp : MDP
    method : str
        "auto", "value_iteration", "policy_iteration", "modified_policy_iteration", "linear_program" or
        "prioritized_sweeping".
    **options
        Constructor arguments of the planner, ``discount`` and ``tol`` for instance.

    Examples
    --------
    >>> from gnomon.decide import GridWorld, solve
    >>> print(solve(GridWorld.small()).policy_)
    Policy(actions of shape (8,))
    """
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    if method == "auto":
        method = "policy_iteration" if mdp.n_states <= SMALL else "modified_policy_iteration"
    made: Any
    if method == "value_iteration":
        made = ValueIteration(**options)
    elif method == "prioritized_sweeping":
        made = ValueIteration(**{"update": "prioritized", **options})
    elif method == "linear_program":
        made = LinearProgram(**options)
    else:
        made = PolicyIteration(**{"n_sweeps": None if method == "policy_iteration" else "auto", **options})
    return made.fit(mdp)
