"""Policy iteration: evaluate, improve, until nothing improves."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.decide import bellman
from gnomon.decide.evaluation import solve_chain
from gnomon.decide.planners import DISCOUNT, Plan, Planner, Solved
from gnomon.decide.policies import Policy, as_table

FIRST_SWEEPS, MOST_SWEEPS = 5, 200  # of one evaluation with n_sweeps="auto"


class Improving(NamedTuple):
    """A policy with its value, and the policies before it."""

    plan: Plan
    value: Array
    q: Array
    visited: Array  # (k, S) the policies evaluated so far


class PolicyIteration(Planner):
    r"""Policy iteration: solve for the value of a policy, act greedily on it, repeat (Howard 1960).

    .. math:: V^\pi = r_\pi + \gamma P_\pi V^\pi, \qquad \pi'(s) \in \arg\max_a Q^\pi(s, a)

    No state is ever worse off after an improvement, so no policy comes twice and the loop ends, in practice after a
    handful of rounds, at an exact optimum. An action is kept when none is better. With `n_sweeps` each
    evaluation is a few sweeps instead of a solve (modified policy iteration, Puterman and Shin 1978): the quickest
    planner for
    large processes, ended by the same bounds as `ValueIteration`.

    Parameters
    ----------
    discount : float, optional
        γ; that of the process by default.
    n_sweeps : int or "auto", optional
        None solves exactly. 0 is value iteration; "auto" begins with 5 and doubles while the policy stays.
    tol : float
        With `n_sweeps`, the guaranteed error of `V_`.
    max_iter : int
        Improvements at most.
    initial_policy : (S,) array, optional
        By default the actions of largest reward.
    evaluation : {"auto", "dense", "sparse", "iterative", "sweeps", "gauss_seidel"}
        How exact evaluation solves.
    tie_tol : float
        An action must be better by so much, relatively, to replace another.

    Attributes
    ----------
    V_, Q_, policy_, lower_, upper_, gap_, policy_gap_, optimal_actions_, residual_, n_backups_
        As in `ValueIteration`.
    policies_ : (n_iter_, S) array
        The policies evaluated, of exact evaluation.
    trace_, n_iter_, converged_

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP([[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas")
    >>> model = PolicyIteration(initial_policy=[0, 1]).fit(mdp)
    >>> model.policies_.tolist(), model.V_.round(6)
    ([[0, 1], [0, 0], [1, 0]], array([12.293578, 15.045872]))
    >>> PolicyIteration(n_sweeps="auto", tol=1e-8).fit(mdp).V_.round(6)
    array([12.293578, 15.045872])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "discount": [DISCOUNT, None],
        "initial_policy": ["array-like", Policy, None],
        "n_sweeps": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"}), None],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "evaluation": [StrOptions({"auto", "dense", "sparse", "iterative", "sweeps", "gauss_seidel"})],
        "tie_tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        *,
        discount: float | None = None,
        n_sweeps: int | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        initial_policy: Any = None,
        evaluation: str = "auto",
        tie_tol: float = 1e-12,
    ) -> None:
        self.discount, self.n_sweeps, self.tol, self.max_iter = discount, n_sweeps, tol, max_iter
        self.initial_policy, self.evaluation, self.tie_tol = initial_policy, evaluation, tie_tol

    def _start(self, mdp: Any, rng: Any) -> Any:
        plan = self._plan(mdp, np.zeros(mdp.n_states))
        if self.initial_policy is not None:
            plan = plan._replace(policy=as_table(self.initial_policy, mdp))
        if self.n_sweeps is None:
            q = np.where(mdp.available, 0.0, -np.inf)
            return Improving(plan, plan.value, q, np.empty((0, mdp.n_states), dtype=np.int64))
        if self.initial_policy is not None:
            plan = plan._replace(
                value=bellman.sweep_policy(mdp, plan.policy, plan.value, self._discount(mdp))
            )
        sweeps = FIRST_SWEEPS if self.n_sweeps == "auto" else int(self.n_sweeps)
        return plan._replace(sweeps=sweeps)

    def _step(self, mdp: Any, state: Any) -> tuple[Any, Report]:
        return self._exact(mdp, state) if self.n_sweeps is None else self._partial(mdp, state)

    def _exact(self, mdp: Any, state: Improving) -> tuple[Improving, Report]:
        g, plan = self._discount(mdp), state.plan
        P, r = bellman.induced(mdp, plan.policy)
        V = solve_chain(P, r, g, self.evaluation, 1e-12 * max(1.0, float(np.abs(r).max())), state.value)
        Q = bellman.q_values(mdp, V, g)
        best = Q.max(axis=1)
        own = Q[np.arange(mdp.n_states), plan.policy]
        keep = own >= best - self.tie_tol * (1.0 + np.abs(best))
        policy = np.where(keep, plan.policy, Q.argmax(axis=1))
        change = best - V
        below, above = bellman.offsets(float(change.min()), float(change.max()), bellman.contraction(mdp, g))
        found = Plan(
            V, best, policy, plan.alive, below, above, plan.sweeps + 1, plan.backups + int(plan.alive.sum())
        )
        done = bool(keep.all())
        gap = (above - below) / 2 if np.isfinite(above) else float(change.max())
        visited = np.vstack([state.visited, plan.policy])
        report = Report(-float(mdp.start_ @ V), max(gap, 0.0), done=done, change=float(change.max()))
        return Improving(found, V, Q, visited), report

    def _partial(self, mdp: Any, plan: Plan) -> tuple[Plan, Report]:
        """One greedy backup, with bounds, and sweeps of its policy."""
        g = self._discount(mdp)
        best, policy, low, high = bellman.backup(mdp, plan.value, g, plan.alive)
        below, above = bellman.offsets(low, high, bellman.contraction(mdp, g))
        half, change = (above - below) / 2, max(-low, high, 0.0)
        measure = half if np.isfinite(half) else change
        done, sweeps = measure <= self.tol, plan.sweeps
        if self.n_sweeps == "auto" and np.array_equal(policy, plan.policy):
            sweeps = min(2 * sweeps, MOST_SWEEPS)
        V = best
        if not done:
            V = bellman.sweep_policy(mdp, policy, V, g, sweeps)
        backups = plan.backups + int(plan.alive.sum()) + (0 if done else sweeps * mdp.n_states)
        return Plan(V, best, policy, plan.alive, below, above, sweeps, backups), Report(
            measure, measure, done=done, change=change
        )

    def _finish(self, mdp: Any, state: Any) -> Solved | Improving:
        if isinstance(state, Improving):
            return state
        half = (state.above - state.below) / 2
        if not np.isfinite(half):
            P, r = bellman.induced(mdp, state.policy)
            return self._solved(mdp, state, solve_chain(P, r, self._discount(mdp)), float("nan"))
        return self._solved(mdp, state, state.best + (state.above + state.below) / 2, half)

    def _attributes(self, state: Any) -> dict[str, Any]:
        if not isinstance(state, Improving):
            return super()._attributes(state)
        plan = state.plan
        gap = (plan.above - plan.below) / 2
        told = self._told(plan, state.value, state.q, gap if np.isfinite(gap) else float("nan"))
        residual = float(np.abs(plan.best - state.value).max())
        return told | {"policies_": state.visited, "iterate_": state.value, "residual_": residual}
