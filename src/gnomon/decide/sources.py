"""Other ways to make a process: outcomes by a function or a table, Gymnasium, pymdptoolbox, chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.randomness import generator
from gnomon.core.world import Process
from gnomon.decide import forms


class Sources(Process):
    """What makes a process of something else, and a table of a process."""

    @classmethod
    def from_function(
        cls: Any, n_states: int, n_actions: int, outcomes: Callable[[int, int], Iterable[Any]], **options: Any
    ) -> Any:
        """Make a process from a function that lists the outcomes of an action.

        Parameters
        ----------
        n_states, n_actions : int
        outcomes : function (state, action) -> list of (chance, next state, reward[, ends])
        **options
            ``discount``, ``start``, ``state_names``, ``action_names``.

        Examples
        --------
        >>> from gnomon.decide import MDP
        >>> walk = MDP.from_function(
        ...     3, 1, lambda s, a: [(1.0, s + 1, 1.0)] if s < 2 else [(1.0, s, 5.0, True)]
        ... )
        >>> walk.evaluate([0, 0, 0], discount=1.0).value
        array([7., 6., 5.])
        """
        return cls._from_outcomes(
            forms.outcomes_of_function(outcomes, n_states, n_actions), n_states, n_actions, options
        )

    @classmethod
    def _from_outcomes(cls: Any, found: forms.Outcomes, S: int, A: int, options: dict[str, Any]) -> Any:
        if not (found.chances >= 0).all():
            raise DataError(f"chances must not be negative or NaN; the smallest is {np.min(found.chances)}.")
        if not np.isfinite(found.rewards).all():
            raise DataError("rewards must be finite; an outcome pays NaN or infinity.")
        rows, pays, ends, end_pays = forms.merged(found, S, A)
        sums = np.asarray(rows.sum(axis=1)).reshape(S, A) + ends
        off = np.argwhere(~(np.abs(sums - 1.0) <= 1e-8))
        if len(off):
            s, a = off[0].tolist()
            raise DataError(f"the chances of state {s}, action {a} sum to {sums[s, a]:.10g}, not to one.")
        return cls._of(rows, pays, ends, end_pays, **options)

    @classmethod
    def from_gymnasium(cls: Any, env: Any, *, discount: float | None = None) -> Any:
        """Read the transition table ``env.unwrapped.P`` of a Gymnasium environment, and its start where it says.

        Parameters
        ----------
        env : Gymnasium environment
            FrozenLake, Taxi, CliffWalking and others that keep a table.
        discount : float, optional
        """
        inner = getattr(env, "unwrapped", env)
        table = getattr(inner, "P", None)
        if table is None:
            raise DataError(
                f"{type(inner).__name__} has no table P of its transitions; learn in it with QLearning or ModelBased."
            )
        found, S, A = forms.outcomes_of_table(table)
        start = getattr(inner, "initial_state_distrib", None)
        return cls._from_outcomes(found, S, A, {"discount": discount, "start": start})

    @classmethod
    def from_toolbox(cls: Any, P: Any, R: Any, *, discount: float | None = None) -> Any:
        """Take arrays as pymdptoolbox does: P of (A, S, S), R of (S,), (S, A) or (A, S, S).

        Parameters
        ----------
        P : (A, S, S) array or list of sparse matrices
        R : array
        discount : float, optional
        """
        rewards = R
        if not sparse.issparse(R) and np.ndim(R) == 3:
            rewards = np.asarray(R).transpose(1, 0, 2)
        return cls(
            P, rewards, discount=discount, layout="ass", reward_on="state" if np.ndim(R) == 1 else "action"
        )

    @classmethod
    def random(
        cls: Any,
        n_states: int,
        n_actions: int,
        n_successors: int = 5,
        *,
        discount: float | None = None,
        random_state: Any = None,
    ) -> Any:
        """Draw a sparse process: Dirichlet(1) rows on random successors, rewards uniform on [0, 1].

        Parameters
        ----------
        n_states, n_actions, n_successors : int
        discount : float, optional
        random_state : int, Generator or None

        Examples
        --------
        >>> from gnomon.decide import MDP
        >>> MDP.random(50, 3, random_state=0).rows_.shape
        (150, 50)
        """
        rng = generator(random_state)
        count, L = n_states * n_actions, min(n_successors, n_states)
        if L == n_states:
            places = np.tile(np.arange(n_states), (count, 1))
        else:
            places = rng.integers(0, n_states, size=(count, L))
        chances = rng.dirichlet(np.ones(L), size=count)
        rows = sparse.csr_array(
            (chances.ravel(), places.ravel(), np.arange(0, count * L + 1, L)), shape=(count, n_states)
        )
        return cls(rows, rng.random((n_states, n_actions)), discount=discount, layout="rows")

    def to_table(self) -> Any:
        """Return a DataFrame with a row for every outcome: state, action, next_state (−1 = end), probability,
        reward.
        """
        pd = import_pandas()
        sampler = self._sampler
        row = np.repeat(np.arange(self.n_states * self.n_actions), np.diff(sampler.offsets))
        going = sampler.leads_to >= 0
        chance = np.empty(len(row))
        chance[going], chance[~going] = self.rows_.data, self._ends[self._ends > 0]
        table = pd.DataFrame(
            {
                "state": row // self.n_actions,
                "action": row % self.n_actions,
                "next_state": sampler.leads_to,
                "probability": chance,
                "reward": sampler.pays,
            }
        )
        return table[self.available.ravel()[row]].reset_index(drop=True)

    @classmethod
    def from_table(cls: Any, table: Any, **options: Any) -> Any:
        """Make a process from rows of state, action, next_state (−1 = end), probability and reward.

        Parameters
        ----------
        table : DataFrame or mapping of columns
        **options
            ``discount``, ``start``, ``state_names``, ``action_names``.
        """
        names = ("state", "action", "next_state", "probability", "reward")
        s, a, to, p, r = (np.asarray(table[name]) for name in names)
        S, A = int(max(s.max(), to.max())) + 1, int(a.max()) + 1
        found = forms.Outcomes(s * A + a, np.where(to < 0, 0, to), p.astype(float), r.astype(float), to < 0)
        rows, pays, ends, end_pays = forms.merged(found, S, A)
        sums = np.asarray(rows.sum(axis=1)).reshape(S, A) + ends
        allowed = sums > 0
        if not (np.abs(sums[allowed] - 1) <= 1e-8).all() or not allowed.any(axis=1).all():
            raise DataError("the probabilities of every state and action in the table must sum to one.")
        return cls._of(rows, pays, np.where(allowed, ends, 1.0), end_pays, allowed=allowed, **options)
