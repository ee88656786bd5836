"""A Markov decision process as an object: chances, rewards, and the questions that need nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.decide import bellman, forms
from gnomon.decide.moving import Moving
from gnomon.decide.questions import Questions, start_of
from gnomon.decide.sources import Sources


class MDP(Sources, Questions, Moving):
    r"""A Markov decision process: states, actions, chances, rewards, discount and start.

    .. math:: \max_\pi\ \mathbb{E}\Big[\sum_{t \ge 0} \gamma^t\, r(s_t, a_t)\Big],
        \qquad s_{t+1} \sim T(s_t, a_t, \cdot)

    A state must sum up the past: given it, the future does not depend on what came before. Where it cannot be
    seen, use `ActionHMM`. What a row of T lacks to one is the chance that the episode ends; terminal states, random
    halting and Gymnasium's ``terminated`` are all of this one kind. The object is not changed by anything.

    Parameters
    ----------
    transitions : array or sparse
        (S, A, S), (A, S, S), a list of A sparse S×S matrices, or one sparse (S·A, S) whose row s·A + a is T(s, a, ·).
    rewards : float or array
        A number; (S,) together with `reward_on`; (S, A); (S, A, S), dense or as sparse rows.
    discount : float in [0, 1], optional
        γ; without it the planner must be given one.
    start : int or (S,) array, optional
        Where episodes begin; by default anywhere with equal chance.
    termination : (S,) or (S, A) array, optional
        The chance that the episode ends after the move; with the row it sums to one.
    terminal : sequence of int
        States in which any action is paid once and ends the episode.
    available : (S, A) bool array, optional
        Which actions there are; the others have the value −∞.
    layout : {"sas", "ass", "rows"}, optional
        The order of the axes; told from the shape where S ≠ A.
    reward_on : {"action", "state", "next_state"}
        With one reward a state: paid on leaving it, or on arrival.
    reward_noise : float
        Standard deviation of noise that simulation adds to rewards.
    state_names, action_names : sequence of str, optional
        Names for tables and pictures.

    Attributes
    ----------
    n_states, n_actions : int
    rows_ : (S·A, S) CSR array
    expected_rewards_ : (S, A) array
    row_sums_ : (S, A) array
        One minus the chance of an end.
    max_successors_ : int

    Examples
    --------
    >>> T = [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]]
    >>> mdp = MDP(T, [[0, -1], [2, 0]], discount=0.9, layout="sas")
    >>> mdp.backup([0.0, 2.0])[0].round(2)
    array([0.62, 3.44])
    >>> mdp.evaluate([1, 0]).value.round(4)
    array([12.2936, 15.0459])
    """

    def __init__(
        self,
        transitions: Any,
        rewards: Any,
        *,
        discount: float | None = None,
        start: Any = None,
        termination: Any = None,
        terminal: Iterable[int] = (),
        available: Any = None,
        layout: str | None = None,
        reward_on: str = "action",
        reward_noise: float = 0.0,
        state_names: Any = None,
        action_names: Any = None,
    ) -> None:
        rows, A = forms.stacked_rows(transitions, layout)
        S = rows.shape[1]
        allowed = self._allowed(available, S, A)
        rows = self._checked_chances(rows, allowed)
        ends = self._checked_ends(termination, terminal, rows, allowed, S, A)
        blocked = (~allowed).ravel() | (np.isin(np.arange(S), list(terminal)).repeat(A))
        if blocked.any():
            rows = forms.canonical(sparse.diags_array((~blocked).astype(float)) @ rows)
        pays, end_pays, known = forms.entry_rewards(rewards, reward_on, rows, S, A)
        self._set(
            rows,
            pays,
            ends,
            end_pays,
            discount,
            start,
            allowed,
            reward_noise,
            state_names,
            action_names,
            known,
        )

    def _set(
        self,
        rows: Any,
        pays: Array,
        ends: Array,
        end_pays: Array,
        discount: float | None = None,
        start: Any = None,
        allowed: Array | None = None,
        noise: float = 0.0,
        state_names: Any = None,
        action_names: Any = None,
        expected: Array | None = None,
    ) -> None:
        """Keep a process that is already in the one form."""
        S = rows.shape[1]
        A = rows.shape[0] // S
        self.n_states, self.n_actions = S, A
        self.rows_, self._pays = forms.with_short_indices(rows), np.ascontiguousarray(pays, dtype=np.float64)
        self._ends, self._end_pays = (
            np.asarray(ends, dtype=np.float64),
            np.asarray(end_pays, dtype=np.float64),
        )
        self.available = np.ones((S, A), dtype=bool) if allowed is None else allowed
        self.discount = None if discount is None else bellman.check_discount(discount)
        self.start_ = start_of(start, S)
        if not (np.isfinite(noise) and noise >= 0):
            raise DataError(f"reward_noise must be at least 0; got {noise!r}.")
        self.reward_noise = float(noise)
        self.state_names, self.action_names = (
            _names(state_names, S, "state"),
            _names(action_names, A, "action"),
        )
        self.row_sums_ = np.asarray(rows.sum(axis=1)).reshape(S, A)
        self.expected_rewards_ = (
            self._mean_rewards() if expected is None else np.where(self.available, expected, 0.0)
        )

    def _mean_rewards(self) -> Array:
        rows = self.rows_
        summed = np.add.reduceat(
            np.append(rows.data * self._pays, 0.0), np.minimum(rows.indptr[:-1], rows.nnz)
        )
        summed[np.diff(rows.indptr) == 0] = 0.0
        return summed.reshape(self._ends.shape) + self._ends * self._end_pays

    # reading

    @staticmethod
    def _allowed(available: Any, S: int, A: int) -> Array:
        if available is None:
            return np.ones((S, A), dtype=bool)
        allowed = np.asarray(available, dtype=bool)
        if allowed.shape != (S, A):
            raise DataError(f"available must have shape ({S}, {A}); got {allowed.shape}.")
        if not allowed.any(axis=1).all():
            raise DataError(
                f"state {int(np.argmin(allowed.any(axis=1)))} has no available action; every state needs one."
            )
        return allowed

    @staticmethod
    def _checked_chances(rows: Any, allowed: Array) -> Any:
        rows = forms.canonical(rows)
        bad = np.flatnonzero(~(rows.data >= 0))
        if len(bad):
            row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
            s, a = divmod(row, allowed.shape[1])
            raise DataError(
                f"transitions must not be negative or NaN; T(state {s}, action {a}, state "
                f"{rows.indices[bad[0]]}) is {rows.data[bad[0]]}."
            )
        return rows

    @staticmethod
    def _checked_ends(
        termination: Any, terminal: Iterable[int], rows: Any, allowed: Array, S: int, A: int
    ) -> Array:
        ends = np.zeros((S, A))
        if termination is not None:
            given = np.asarray(termination, dtype=np.float64)
            if given.shape not in ((S,), (S, A)) or not ((given >= 0) & (given <= 1)).all():
                raise DataError(
                    f"termination must hold chances of shape ({S},) or ({S}, {A}); got shape {given.shape}."
                )
            ends += given[:, None] if given.ndim == 1 else given
        sums = np.asarray(rows.sum(axis=1)).reshape(S, A) + ends
        last = np.asarray(sorted(terminal), dtype=np.int64)
        if len(last) and (last[0] < 0 or last[-1] >= S):
            wrong = last[0] if last[0] < 0 else last[-1]
            raise DataError(f"terminal names state {wrong}, and there are {S} states.")
        checked = allowed.copy()
        checked[last] = False
        off = np.argwhere(checked & ~(np.abs(sums - 1.0) <= 1e-8))
        if len(off):
            s, a = off[0].tolist()
            raise DataError(
                f"the chances of state {s}, action {a} sum to {sums[s, a]:.10g}, not to one. Divide "
                f"the row by its sum, or give "
                "what is missing as `termination` if the episode may end there."
            )
        ends[~allowed] = 1.0
        ends[last] = 1.0
        return ends

    @classmethod
    def _of(cls, *parts: Any, **more: Any) -> MDP:
        made = MDP.__new__(MDP)
        made._set(*parts, **more)
        return made

    # facts

    @property
    def reward_bounds_(self) -> tuple[float, float]:
        """The smallest and the largest reward that can be paid in one step, without noise."""
        paid = np.concatenate([self._pays, self._end_pays[(self._ends > 0) & self.available]])
        return (float(paid.min()), float(paid.max())) if len(paid) else (0.0, 0.0)

    @cached_property
    def max_row_sum_(self) -> float:
        """The largest chance of going on."""
        return float(self.row_sums_[self.available].max())

    @cached_property
    def min_row_sum_(self) -> float:
        """The smallest chance of going on."""
        return float(self.row_sums_[self.available].min())

    @property
    def max_successors_(self) -> int:
        """How many states an action can lead to at most."""
        return int(np.diff(self.rows_.indptr).max(initial=0))

    @property
    def effective_horizon(self) -> float:
        """1/(1 − γ): how many steps ahead count.

        >>> MDP([[[1.0]]], 1.0, discount=0.9, layout="sas").effective_horizon.__round__(6)
        10.0
        """
        g = bellman.discount_of(self, None)
        return float("inf") if g == 1.0 else 1.0 / (1.0 - g)

    def __repr__(self) -> str:
        size = f"{self.n_states} states, {self.n_actions} actions, {self.rows_.nnz} transitions"
        return f"{type(self).__name__}({size}, discount={self.discount})"

    _digested: ClassVar[tuple[str, ...]] = (
        "rows_",
        "_pays",
        "_ends",
        "_end_pays",
        "available",
        "start_",
        "discount",
        "reward_noise",
    )

    # changed copies

    def _like(self, **changes: Any) -> MDP:
        parts = {
            "rows": self.rows_, "pays": self._pays, "ends": self._ends, "end_pays": self._end_pays,
            "discount": self.discount, "start": self.start_, "allowed": self.available,
            "expected": None if {"rows", "pays"} & set(changes) else self.expected_rewards_,
            "noise": self.reward_noise, "state_names": self.state_names, "action_names": self.action_names,
        }  # fmt: skip
        return MDP._of(**{**parts, **changes})

    def with_discount(self, discount: float) -> MDP:
        """Return the same process with another discount."""
        return self._like(discount=discount)

    def with_halt(self, discount: float | None = None, *, explicit: bool = False) -> MDP:
        """Return the undiscounted process that stops with probability 1 − γ after every step; its values are the same.

        Parameters
        ----------
        discount : float, optional
            That of the process by default; 1 changes nothing.
        explicit : bool
            Add a visible state "halt" that ends the episode instead of shortened rows.
        """
        g = bellman.discount_of(self, discount)
        if g == 1.0:
            return self
        S, A = self.n_states, self.n_actions
        ends = 1.0 - g * self.row_sums_
        paid = ((self.row_sums_ * (1.0 - g)) * self._going_reward() + self._ends * self._end_pays) / ends
        if not explicit:
            return self._like(
                rows=self.rows_ * g, ends=np.where(self.available, ends, 1.0), end_pays=paid, discount=1.0
            )
        wide = sparse.vstack([self.rows_ * g, sparse.csr_array((A, S))], format="csr")
        halts = sparse.csr_array(np.append((self.row_sums_ * (1.0 - g)).ravel(), np.zeros(A))[:, None])
        rows = forms.canonical(sparse.hstack([wide, halts], format="csr"))
        expected = np.vstack([self.expected_rewards_, np.zeros(A)])
        old = np.vstack([self._ends, np.ones(A)])
        names = None if self.state_names is None else [*self.state_names, "halt"]
        return self._like(
            rows=rows, pays=np.repeat(expected.ravel(), np.diff(rows.indptr)), ends=old, end_pays=expected,
            discount=1.0, start=np.append(self.start_, 0.0), state_names=names,
            allowed=np.vstack([self.available, np.ones(A, dtype=bool)]),
        )  # fmt: skip

    def _going_reward(self) -> Array:
        """Mean reward of the moves that do not end the episode."""
        paid = self.expected_rewards_ - self._ends * self._end_pays
        return np.divide(paid, self.row_sums_, out=np.zeros_like(paid), where=self.row_sums_ > 0)

    def reachable(self, states: Any = None) -> Array:
        """Return which states can be reached from the given ones (by default, from where episodes begin)."""
        begin = np.flatnonzero(self.start_ > 0) if states is None else np.atleast_1d(states)
        return bellman.reachable(bellman.state_graph(self), begin)

    def save(self, path: Any) -> None:
        """Write the process to a file; `gnomon.load` reads it."""
        from gnomon.core.saving import save

        save(self, path)

    def _check_loaded(self) -> None:
        """Refuse arrays that the compiled loops could not trust."""
        S, A, rows = self.n_states, self.n_actions, self.rows_
        fine = rows.shape == (S * A, S) and rows.data.dtype == np.float64 and len(self._pays) == rows.nnz
        fine = fine and len(rows.data) == len(rows.indices) == rows.nnz and (np.diff(rows.indptr) >= 0).all()
        fine = fine and (not rows.nnz or (rows.indices.min() >= 0 and rows.indices.max() < S))
        for table in (self._ends, self._end_pays, self.expected_rewards_, self.available, self.row_sums_):
            fine = fine and np.shape(table) == (S, A)
        if not (fine and np.shape(self.start_) == (S,) and self.available.any(axis=1).all()):
            raise ModelFileError("it holds a process whose arrays do not fit together.")

    def plot(self, policy: Any = None, ax: Any = None) -> Any:
        """Draw a small process: states on a circle, a dot for every action, chances and rewards at the arrows.

        Parameters
        ----------
        policy : policy of the process, optional
            Its actions are drawn in color.
        ax : matplotlib Axes, optional
        """
        from gnomon.plot.decide import mdp_graph

        return mdp_graph(self, policy, ax=ax)


def _names(names: Any, count: int, what: str) -> list[str] | None:
    if names is None:
        return None
    words = [str(name) for name in names]
    if len(words) != count:
        raise DataError(f"{what}_names must have {count} names; got {len(words)}.")
    return words
