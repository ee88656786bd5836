"""Optimism under uncertainty: what is not known well is taken to be as good as can be."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import COUNT, NOT_NEGATIVE, NUMBER
from gnomon.decide.counted import EmpiricalModel
from gnomon.decide.modeled import NEVER, Counting, Learned, Work, planned
from gnomon.decide.process import MDP
from gnomon.decide.tabular import AGENT


class OptimisticPlanning(Counting):
    r"""Optimism under uncertainty: what is not known well is taken to be as good as can be.

    A pair seen fewer than `known_after` times is worth :math:`r_{max}/(1-\gamma)`, as if it led for ever to the best
    reward; the others are
    as counted. Acting greedily on that plan either collects or learns (R-max, Brafman and Tennenholtz 2002). With
    `bonus` c the
    reward of a pair is raised by c/√N instead (Strehl and Littman 2008).

    Parameters
    ----------
    discount : float
        γ below 1.
    reward_max : float
        No reward may be larger.
    known_after : int
        Visits after which a pair is known; with `bonus`, one.
    bonus : float, optional
    n_episodes, max_steps, n_steps, random_state
        As in `QLearning`.

    Attributes
    ----------
    known_ : (S, A) bool array
    model_, Q_, V_, policy_, visits_, coverage_, n_replans_, returns_, trace_
        As in `ModelBased`.

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = OptimisticPlanning(discount=0.9, reward_max=1.0, n_episodes=100, random_state=0).fit(grid)
    >>> agent.coverage_ > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "reward_max": [NUMBER],
        "known_after": [COUNT],
        "bonus": [NOT_NEGATIVE, None],
    }

    def __init__(
        self,
        *,
        discount: float = 0.95,
        reward_max: float = 1.0,
        known_after: int = 5,
        bonus: float | None = None,
        n_episodes: int = 100,
        max_steps: int = 1000,
        n_steps: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.discount, self.reward_max, self.known_after, self.bonus = (
            discount,
            reward_max,
            known_after,
            bonus,
        )
        self.n_episodes, self.max_steps, self.n_steps, self.random_state = (
            n_episodes,
            max_steps,
            n_steps,
            random_state,
        )

    def _when(self) -> Any:
        return "known" if self.bonus is None else "doubling"

    def _known_after(self) -> int:
        return int(self.known_after) if self.bonus is None else 1

    def _limits(self, visits: Array) -> Array:
        if self.bonus is not None:
            return super()._limits(visits)
        return np.where(visits < self.known_after, int(self.known_after), NEVER)

    def _check(self, rewards: Array) -> None:
        if len(rewards) and rewards.max() > self.reward_max:
            raise DataError(
                f"a reward of {rewards.max():g} was paid, above reward_max={self.reward_max:g}; raise it."
            )

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        return optimistic_values(
            model,
            float(self.discount),
            float(self.reward_max),
            self._known_after(),
            self.bonus,
            Q,
            work.rule.available.astype(bool),
        )

    def _attributes(self, state: Learned) -> dict[str, Any]:
        return super()._attributes(state) | {"known_": state.model.visits_ >= self._known_after()}


def optimistic_values(
    model: EmpiricalModel,
    discount: float,
    reward_max: float,
    known_after: int,
    bonus: float | None,
    Q: Array,
    available: Array,
) -> Array:
    """Return the action values of the plan that believes the best of what is not known."""
    S, A = model.n_states, model.n_actions
    n = model._n
    unknown = n < known_after
    scale = np.where(unknown, 0.0, np.divide(1.0, n, out=np.zeros_like(n), where=n > 0))
    rows = sparse.diags_array(scale) @ model.counts_
    which = np.flatnonzero(unknown)
    rows = sparse.csr_array(
        rows + sparse.csr_array((np.ones(len(which)), (which, which // A)), shape=(S * A, S))
    )
    added = 0.0 if bonus is None else bonus * np.sqrt(scale)
    expected = np.where(unknown, reward_max, model._mean + added)
    ends = np.where(unknown, 0.0, model.ends_ * scale)
    rows.sum_duplicates()
    mdp = MDP._of(
        rows, np.repeat(expected, np.diff(rows.indptr)), ends.reshape(S, A), expected.reshape(S, A), discount,
        allowed=available,
    )  # fmt: skip
    q = planned(mdp, Q)
    top = reward_max / (1.0 - discount)
    return np.where(available, np.where(unknown.reshape(S, A), top, q), -np.inf)
