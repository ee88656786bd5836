"""Value iteration: backups until the bounds around the optimal value are tight."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, POSITIVE, warn
from gnomon.decide import bellman
from gnomon.decide.evaluation import solve_chain
from gnomon.decide.planners import DISCOUNT, Plan, Planner, Solved
from gnomon.loops import planning

LOOK_EVERY = 10  # in-place sweeps between two true backups, which alone give bounds


class Sampling(NamedTuple):
    """The state of sampled backups."""

    plan: Plan
    q: Array
    errors: Array
    seed: int


class ValueIteration(Planner):
    r"""Value iteration: the optimal value of a Markov decision process, with a guarantee.

    .. math:: V_{i+1}(s) = \max_a Q_{i+1}(s, a), \qquad Q_{i+1}(s,a) = r(s,a) + \gamma \sum_{s'} T(s,a,s')\, V_i(s')

    V_i is the best that i more steps can bring. Every backup also bounds the optimum from both sides; the fit stops
    when the bounds are `tol` from their middle and returns the middle, which is far sooner than the values
    themselves come to rest. Use `PolicyIteration` when γ is near 1, `FiniteHorizon` when the number of steps is known.
    With γ = 1 there are no bounds: the sweeps stop when they change less than `tol`, and the policy found is
    evaluated exactly.

    Parameters
    ----------
    discount : float, optional
        γ; that of the process by default.
    tol : float
        The guaranteed error of `V_`.
    max_iter : int
        Sweeps at most.
    update : {"jacobi", "gauss_seidel", "prioritized", "sampled"}
        All states at once; in place, in the order of the states; in place, the state with the largest expected change
        first (Moore and Atkeson 1993); or from `n_samples` sampled moves a pair, without the chances.
    extrapolate : bool
        Return the middle of the bounds. Otherwise the last backup, when its change is below tol(1−γ)/γ: the
        classical rule.
    eliminate : bool
        Drop actions that the bounds rule out (MacQueen 1967); the result is the same.
    initial : (S,) or (S, A) array, optional
        Values, or action values, to begin with; zeros by default.
    n_samples : int
        Moves a pair and sweep with ``update="sampled"``.
    random_state : int, Generator or None
        For ``update="sampled"``.

    Attributes
    ----------
    V_, Q_ : (S,), (S, A) arrays
    policy_ : Policy
    lower_, upper_ : (S,) arrays
        lower_ ≤ V* ≤ upper_.
    gap_, policy_gap_ : float
        No entry of `V_` is off by more than `gap_`; no state loses more than `policy_gap_` under `policy_`. NaN where
        there are no bounds.
    optimal_actions_ : (S, A) bool array
    iterate_ : (S,) array
        V_i itself, before extrapolation.
    residual_ : float
        ‖BV − V‖ of `V_`.
    n_backups_ : int
        Row products, to compare planners by.
    standard_errors_ : (S, A) array
        Of the last sampled backup.
    trace_, n_iter_, converged_

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP([[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas")
    >>> model = ValueIteration(tol=1e-8).fit(mdp)
    >>> model.V_.round(6), np.asarray(model.policy_), model.n_iter_
    (array([12.293578, 15.045872]), array([1, 0]), 11)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "discount": [DISCOUNT, None],
        "initial": ["array-like", None],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "update": [StrOptions({"jacobi", "gauss_seidel", "prioritized", "sampled"})],
        "extrapolate": ["boolean"],
        "eliminate": ["boolean"],
        "n_samples": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        discount: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        update: str = "jacobi",
        extrapolate: bool = True,
        eliminate: bool = True,
        initial: Any = None,
        n_samples: int = 10,
        random_state: Any = None,
    ) -> None:
        self.discount, self.tol, self.max_iter = discount, tol, max_iter
        self.update, self.extrapolate, self.eliminate, self.initial = update, extrapolate, eliminate, initial
        self.n_samples, self.random_state = n_samples, random_state

    def _start(self, mdp: Any, rng: Any) -> Any:
        V = self._first_values(mdp)
        plan = self._plan(mdp, V)
        if self.update == "sampled":
            q = np.where(mdp.available, V[:, None], -np.inf)
            return Sampling(plan, q, np.full(q.shape, np.nan), draw_seed(rng))
        if self.update == "prioritized":
            best, policy, low, high = bellman.backup(mdp, V, self._discount(mdp), plan.alive)
            below, above = self._offsets(mdp, low, high)
            priority = np.abs(best - V)
            return Queue(plan._replace(best=best, policy=policy, below=below, above=above), priority)
        return plan

    def _first_values(self, mdp: Any) -> Array:
        if self.initial is None:
            return np.zeros(mdp.n_states)
        given = np.asarray(self.initial, dtype=np.float64)
        if given.ndim < 2:
            return bellman.check_values(given, mdp.n_states, "initial")
        if given.shape != (mdp.n_states, mdp.n_actions) or np.isnan(given).any():
            raise DataError(
                f"initial must be ({mdp.n_states},) or ({mdp.n_states}, {mdp.n_actions}) without NaN; "
                f"got shape {given.shape}."
            )
        if np.isfinite(given[~mdp.available]).any():
            warn("initial gives values to actions that are not available; they are −∞.")
        return bellman.check_values(
            np.where(mdp.available, given, -np.inf).max(axis=1), mdp.n_states, "initial"
        )

    def _offsets(self, mdp: Any, low: float, high: float) -> tuple[float, float]:
        return bellman.offsets(low, high, bellman.contraction(mdp, self._discount(mdp)))

    def _step(self, mdp: Any, state: Any) -> tuple[Any, Report]:
        if self.update == "sampled":
            return self._sampled(mdp, state)
        if self.update == "prioritized":
            return self._prioritized(mdp, state)
        if self.update == "gauss_seidel" and state.sweeps % LOOK_EVERY:
            return self._in_place(mdp, state)
        return self._backed_up(mdp, state)

    def _backed_up(self, mdp: Any, plan: Plan) -> tuple[Plan, Report]:
        """A true backup, with bounds."""
        g, alive = self._discount(mdp), plan.alive
        margin = np.inf
        if self.eliminate and np.isfinite(plan.above - plan.below) and self.update == "jacobi":
            alive, margin = alive.copy(), self._margin(mdp, plan)
        rows = int(np.count_nonzero(alive))
        best, policy, low, high = bellman.backup(mdp, plan.value, g, alive, margin)
        below, above = self._offsets(mdp, low, high)
        found = Plan(best, best, policy, alive, below, above, plan.sweeps + 1, plan.backups + rows)
        return found, self._report(mdp, found, max(-low, high, 0.0))

    def _margin(self, mdp: Any, plan: Plan) -> float:
        """How far an action must be behind, in a backup of `plan.best`, to be ruled out for good.

        V* − best lies in [below, above], so r + γTV* lies in [below, above] times γ and a row sum around a backup of
        best.
        """
        c = bellman.contraction(mdp, self._discount(mdp))
        most = plan.above * (c.high if plan.above > 0 else c.low)
        least = plan.below * (c.high if plan.below < 0 else c.low)
        return (most - least) * (1.0 + 1e-9) + 1e-12 * float(np.abs(plan.best).max())

    def _report(self, mdp: Any, plan: Plan, change: float) -> Report:
        half = (plan.above - plan.below) / 2
        if not np.isfinite(half):  # no discount: the change alone
            return Report(change, change, done=change <= self.tol, change=change)
        if self.extrapolate:
            return Report(half, half, done=half <= self.tol, change=change)
        c = bellman.contraction(mdp, self._discount(mdp)).high
        error = change * c / (1.0 - c)
        return Report(error, error, done=error <= self.tol, change=change)

    def _in_place(self, mdp: Any, plan: Plan) -> tuple[Plan, Report]:
        V = plan.value.copy()
        change = planning.sweep_in_place(
            *bellman.arrays(mdp), plan.alive, self._discount(mdp), np.arange(mdp.n_states), V
        )
        c = self._discount(mdp) * mdp.max_row_sum_
        near = change <= self.tol * (1.0 - c) if c < 1.0 else change <= self.tol
        sweeps = (plan.sweeps // LOOK_EVERY + 1) * LOOK_EVERY if near else plan.sweeps + 1
        found = plan._replace(value=V, sweeps=sweeps, backups=plan.backups + int(plan.alive.sum()))
        return found, Report(None, change=change, info={"change": change})

    def _prioritized(self, mdp: Any, queue: Queue) -> tuple[Queue, Report]:
        """S backups, the most promising first, then a true backup of all for the bounds."""
        g, plan = self._discount(mdp), queue.plan
        V, priority = plan.value.copy(), queue.priority.copy()
        columns = sparse.csc_array(mdp.rows_)
        goal = self.tol * (1.0 - g * mdp.max_row_sum_) / 2 if g * mdp.max_row_sum_ < 1 else self.tol / 2
        done = planning.sweep_by_priority(
            *bellman.arrays(mdp),
            plan.alive,
            g,
            columns.indptr,
            columns.indices,
            columns.data,
            goal,
            V,
            priority,
        )
        best, policy, low, high = bellman.backup(mdp, V, g, plan.alive)
        below, above = self._offsets(mdp, low, high)
        backups = plan.backups + (done + mdp.n_states) * mdp.n_actions
        found = Plan(V, best, policy, plan.alive, below, above, plan.sweeps + 1, backups)
        return Queue(found, np.abs(best - V)), self._report(mdp, found, max(-low, high, 0.0))

    def _sampled(self, mdp: Any, state: Sampling) -> tuple[Sampling, Report]:
        S, A = mdp.n_states, mdp.n_actions
        plan = state.plan
        mean, errors = bellman.sampled_targets(
            mdp, plan.value, self._discount(mdp), self.n_samples, state.seed + plan.sweeps
        )
        q = np.where(mdp.available, mean.reshape(S, A), -np.inf)
        V = q.max(axis=1)
        change = float(np.abs(V - plan.value).max())
        found = plan._replace(
            value=V,
            best=V,
            policy=q.argmax(axis=1),
            sweeps=plan.sweeps + 1,
            backups=plan.backups + S * A * self.n_samples,
        )
        errors = errors.reshape(S, A)
        return Sampling(found, q, errors, state.seed), Report(
            None, change=change, done=change <= self.tol, info={"change": change}
        )

    def _finish(self, mdp: Any, state: Any) -> Solved | Sampling:
        if isinstance(state, Sampling):
            return state
        plan = state.plan if isinstance(state, Queue) else state
        half = (plan.above - plan.below) / 2
        if self.update == "gauss_seidel" and plan.sweeps % LOOK_EVERY != 1:
            plan = self._backed_up(mdp, plan)[0]  # the last sweeps have no bounds of their own
            half = (plan.above - plan.below) / 2
        if not np.isfinite(half):
            P, r = bellman.induced(mdp, plan.policy)
            value = solve_chain(P, r, self._discount(mdp))
            return self._solved(mdp, plan, value, float("nan"))
        middle = plan.best + (plan.above + plan.below) / 2 if self.extrapolate else plan.best
        error = half if self.extrapolate else max(abs(plan.above), abs(plan.below))
        return self._solved(mdp, plan, middle, error)

    def _attributes(self, state: Any) -> dict[str, Any]:
        if isinstance(state, Queue):
            return super()._attributes(state.plan)
        if isinstance(state, Sampling):
            told = self._told(state.plan, state.plan.best, state.q, float("nan"))
            return told | {"standard_errors_": state.errors}
        return super()._attributes(state)


class Queue(NamedTuple):
    """The state of prioritized sweeping."""

    plan: Plan
    priority: Array
