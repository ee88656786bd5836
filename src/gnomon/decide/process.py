"""A Markov decision process as an object: chances, rewards, and the questions that need nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.world import Process
from gnomon.decide import bellman, forms
from gnomon.decide.evaluation import PolicyValue, evaluate, occupancy, policy_gradient
from gnomon.decide.policies import tables_in_time
from gnomon.loops import worlds

STEP = np.dtype(
    [
        ("episode", np.int64),
        ("t", np.int64),
        ("state", np.int64),
        ("action", np.int64),
        ("reward", np.float64),
        ("next_state", np.int64),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
    ]
)


class Sampler(NamedTuple):
    """What compiled loops need to move in a process."""

    offsets: Array
    leads_to: Array
    pays: Array
    keep: Array
    other: Array
    noise: float


class MDP(Process):
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
        self.rows_, self._pays = rows, np.ascontiguousarray(pays, dtype=np.float64)
        self._ends, self._end_pays = (
            np.asarray(ends, dtype=np.float64),
            np.asarray(end_pays, dtype=np.float64),
        )
        self.available = np.ones((S, A), dtype=bool) if allowed is None else allowed
        self.discount = None if discount is None else bellman.check_discount(discount)
        self.start_ = _start(start, S)
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
            raise DataError(f"terminal names state {last[-1]}, and there are {S} states.")
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

    # other ways to make one

    @classmethod
    def _of(cls, *parts: Any, **more: Any) -> MDP:
        made = MDP.__new__(MDP)
        made._set(*parts, **more)
        return made

    @classmethod
    def from_function(
        cls, n_states: int, n_actions: int, outcomes: Callable[[int, int], Iterable[Any]], **options: Any
    ) -> MDP:
        """Make a process from a function that lists the outcomes of an action.

        Parameters
        ----------
        n_states, n_actions : int
        outcomes : function (state, action) -> list of (chance, next state, reward[, ends])
        **options
            ``discount``, ``start``, ``state_names``, ``action_names``.

        Examples
        --------
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
    def _from_outcomes(cls, found: forms.Outcomes, S: int, A: int, options: dict[str, Any]) -> MDP:
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
    def from_gymnasium(cls, env: Any, *, discount: float | None = None) -> MDP:
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
    def from_toolbox(cls, P: Any, R: Any, *, discount: float | None = None) -> MDP:
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
        cls,
        n_states: int,
        n_actions: int,
        n_successors: int = 5,
        *,
        discount: float | None = None,
        random_state: Any = None,
    ) -> MDP:
        """Draw a sparse process: Dirichlet(1) rows on random successors, rewards uniform on [0, 1].

        Parameters
        ----------
        n_states, n_actions, n_successors : int
        discount : float, optional
        random_state : int, Generator or None

        Examples
        --------
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

    # facts

    @property
    def reward_bounds_(self) -> tuple[float, float]:
        """The smallest and the largest reward that can be paid in one step, without noise."""
        paid = np.concatenate([self._pays, self._end_pays[(self._ends > 0) & self.available]])
        return (float(paid.min()), float(paid.max())) if len(paid) else (0.0, 0.0)

    @property
    def max_row_sum_(self) -> float:
        """The largest chance of going on."""
        return float(self.row_sums_[self.available].max())

    @property
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

    # Bellman

    def backup(self, V: Any, discount: float | None = None) -> tuple[Array, Array]:
        r"""Return :math:`\max_a Q` and Q(s, a) = r(s, a) + γ Σ T(s, a, s′) V(s′).

        Parameters
        ----------
        V : (S,) array
        discount : float, optional
            That of the process by default.
        """
        Q = self.q_from_value(V, discount)
        return Q.max(axis=1), Q

    def q_from_value(self, V: Any, discount: float | None = None) -> Array:
        """Return Q(s, a) = r(s, a) + γ Σ T(s, a, s′) V(s′); −∞ for actions that are not available."""
        return bellman.q_values(
            self, bellman.check_values(V, self.n_states), bellman.discount_of(self, discount)
        )

    def residual(self, V: Any, discount: float | None = None) -> float:
        """Return ‖BV − V‖, the largest violation of Bellman's equation."""
        V = bellman.check_values(V, self.n_states)
        return float(np.abs(self.backup(V, discount)[0] - V).max())

    def value_bounds(self, V: Any, discount: float | None = None) -> tuple[Array, Array]:
        r"""Return L ≤ V* ≤ U from one backup of any V; the greedy policy for V is worth at least L.

        With δ = BV − V and stochastic rows these are :math:`BV + \frac{\gamma}{1-\gamma}[\min\delta, \max\delta]`
        (MacQueen 1966; Porteus 1971).

        Examples
        --------
        >>> mdp = MDP(
        ...     [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas"
        ... )
        >>> mdp.value_bounds([0.0, 0.0])
        (array([0., 2.]), array([18., 20.]))
        """
        V = bellman.check_values(V, self.n_states)
        return bellman.value_bounds(self, V, bellman.discount_of(self, discount))

    def optimal_actions(self, Q: Any, tol: float = 1e-9) -> Array:
        """Return which actions are within `tol` of the best, as a boolean (S, A)."""
        Q = np.asarray(Q, dtype=np.float64)
        return Q >= Q.max(axis=1, keepdims=True) - tol

    def sampled_q(
        self,
        Q: Any,
        state: int,
        action: int,
        n_samples: int,
        *,
        discount: float | None = None,
        random_state: Any = None,
    ) -> tuple[float, float]:
        """Return the mean of `n_samples` targets R + γ max Q(s′, ·) of one pair, and its standard error."""
        found, spread = bellman.sampled_targets(
            self, np.asarray(Q, dtype=np.float64).max(axis=1), bellman.discount_of(self, discount), n_samples,
            draw_seed(generator(random_state)), np.array([state * self.n_actions + action]),
        )  # fmt: skip
        return float(found[0]), float(spread[0])

    # policies

    def induced(self, policy: Any) -> tuple[Any, Array]:
        """Return the transition matrix (CSR) and the rewards of the chain that a policy makes."""
        return bellman.induced(self, policy)

    def evaluate(self, policy: Any, **options: Any) -> PolicyValue:
        """Return the value of a policy in every state; see `PolicyValue` and the options below.

        Parameters
        ----------
        policy : (S,) actions, (S, A) chances, (H, S) actions by steps to go, or Policy
        **options
            ``discount``; ``method``: "auto", "dense" (LAPACK), "sparse" (LU), "iterative" (BiCGSTAB), "sweeps",
            "gauss_seidel" or "monte_carlo"; ``tol``; ``horizon``; ``n_episodes``, ``max_steps``, ``random_state``.

        Examples
        --------
        >>> mdp = MDP(
        ...     [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas"
        ... )
        >>> mdp.evaluate([[0.5, 0.5], [0.5, 0.5]]).value.round(6)
        array([0.813397, 2.248804])
        """
        return evaluate(self, policy, **options)

    def compare(self, first: Any, second: Any, **options: Any) -> str:
        """Return how two policies compare in every state: ">=", "<=", "==" or "incomparable"."""
        one, two = self.evaluate(first, **options).value, self.evaluate(second, **options).value
        slack = 1e-9 * (1.0 + np.abs(one).max())
        above, below = bool((one >= two - slack).all()), bool((two >= one - slack).all())
        return {(True, True): "==", (True, False): ">=", (False, True): "<="}.get(
            (above, below), "incomparable"
        )

    def occupancy(self, policy: Any, *, discount: float | None = None, start: Any = None) -> Array:
        """Return d = (I − γPᵀ)⁻¹ p₀: how often, discounted, each state is visited; dᵀr is the value of the start."""
        return occupancy(
            self, policy, discount, self.start_ if start is None else _start(start, self.n_states)
        )

    def policy_gradient(
        self, logits: Any, *, discount: float | None = None, start: Any = None
    ) -> tuple[float, Array]:
        r"""Return J and its exact gradient for the policy softmax(logits) (Sutton et al. 2000).

        .. math:: \partial J / \partial \theta_{sa} = d(s)\, \pi(a|s)\, (Q^\pi(s,a) - V^\pi(s))
        """
        return policy_gradient(
            self, logits, discount, self.start_ if start is None else _start(start, self.n_states)
        )

    @cached_property
    def _sampler(self) -> Sampler:
        """Alias tables of all outcomes; an end is an outcome too."""
        rows = self.rows_
        ending = (self._ends > 0).ravel()
        offsets = np.concatenate([[0], np.cumsum(np.diff(rows.indptr) + ending)]).astype(np.int64)
        at = np.arange(rows.nnz) + np.repeat(offsets[:-1] - rows.indptr[:-1], np.diff(rows.indptr))
        last = offsets[1:][ending] - 1
        leads_to, pays, chances = np.full(offsets[-1], -1), np.empty(offsets[-1]), np.empty(offsets[-1])
        leads_to[at], pays[at], chances[at] = rows.indices, self._pays, rows.data
        pays[last], chances[last] = self._end_pays.ravel()[ending], self._ends.ravel()[ending]
        keep, other = np.empty(offsets[-1]), np.empty(offsets[-1], dtype=np.int64)
        worlds.alias_tables(offsets, chances, keep, other)
        return Sampler(offsets, leads_to, pays, keep, other, self.reward_noise)

    @cached_property
    def _cumulative_start(self) -> Array:
        return np.cumsum(self.start_)

    def simulate(
        self,
        policy: Any,
        n_episodes: int = 1,
        max_steps: int = 1000,
        *,
        start: int | None = None,
        random_state: Any = None,
    ) -> Array:
        """Play episodes; return a structured array with a row for every step.

        Parameters
        ----------
        policy : (S,) actions, (S, A) chances, (H, S) actions by steps to go, or Policy
        n_episodes, max_steps : int
        start : int, optional
            Where every episode begins; drawn from the start distribution by default.
        random_state : int, Generator or None

        Returns
        -------
        structured array
            episode, t, state, action, reward, next_state (−1 after an end), terminated, truncated.
        """
        tables = tables_in_time(policy, self)
        if tables.shape[0] > 1:
            max_steps = min(max_steps, tables.shape[0])
        seed, room = draw_seed(generator(random_state)), max(64, 16 * n_episodes)
        first = -1 if start is None else int(start)
        while True:
            steps, rewards = np.empty((room, 6), dtype=np.int64), np.empty(room)
            written = worlds.play(
                *self._sampler,
                self._cumulative_start,
                tables,
                first,
                seed,
                0,
                n_episodes,
                max_steps,
                steps,
                rewards,
            )
            if written >= 0:
                return _as_steps(steps[:written], rewards[:written])
            room *= 4

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

    def to_env(self, max_steps: int | None = None) -> Any:
        """Return a Gymnasium environment with Discrete spaces that moves as this process does.

        Parameters
        ----------
        max_steps : int, optional
            Truncate episodes after so many steps.
        """
        from gnomon.decide.environments import MDPEnv

        return MDPEnv(self, max_steps)

    def to_table(self) -> Any:
        """Return a DataFrame with a row for every outcome: state, action, next_state (−1 = end), probability,
        reward.
        """
        import pandas as pd

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
    def from_table(cls, table: Any, **options: Any) -> MDP:
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
        """Draw states, actions and chances as a graph."""
        from gnomon import plot

        return plot.mdp_graph(self, policy, ax=ax)


def _start(start: Any, S: int) -> Array:
    if start is None:
        return np.full(S, 1.0 / S)
    if np.ndim(start) == 0:
        if not 0 <= int(start) < S:
            raise DataError(f"start must be a state from 0 to {S - 1}; got {start!r}.")
        return np.eye(1, S, int(start))[0]
    chances = np.asarray(start, dtype=np.float64)
    if chances.shape != (S,) or not (chances >= 0).all() or abs(chances.sum() - 1.0) > 1e-8:
        raise DataError(
            f"start must be a distribution over {S} states; its shape is {chances.shape}, its sum {chances.sum():.6g}."
        )
    return chances.copy()


def _names(names: Any, count: int, what: str) -> list[str] | None:
    if names is None:
        return None
    words = [str(name) for name in names]
    if len(words) != count:
        raise DataError(f"{what}_names must have {count} names; got {len(words)}.")
    return words


def _as_steps(steps: Array, rewards: Array) -> Array:
    found = np.empty(len(steps), dtype=STEP)
    for at, name in enumerate(("episode", "t", "state", "action", "next_state")):
        found[name] = steps[:, at]
    found["reward"], found["truncated"] = rewards, steps[:, 5] == 1
    found["terminated"] = steps[:, 4] < 0
    return found


__all__ = ["MDP", "STEP"]
