"""Policies: which action in which state, and what playing them brings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.validate import probabilities
from gnomon.core.world import numbered


class Evaluation(NamedTuple):
    """What playing brought: the mean return with its confidence interval."""

    mean: float
    standard_error: float
    low: float
    high: float
    returns: Array
    lengths: Array


class Acting:
    """What all policies have: they act, play and are judged by playing."""

    def act(self, observation: Any, rng: Any = None, *, step: int = 0) -> Any:
        """Return an action."""
        raise NotImplementedError

    def begin(self) -> None:
        """Forget the last episode, for policies that remember."""

    def rollout(
        self, env: Any, n_episodes: int = 1, *, max_steps: int = 1000, random_state: Any = None
    ) -> list[dict[str, Array]]:
        """Play in an environment; return for every episode its observations, actions, rewards and how it ended.

        Parameters
        ----------
        env : Gymnasium environment or MDP
        n_episodes, max_steps : int
            An episode that has not ended after `max_steps` is cut off.
        random_state : int, Generator or None
            Episode i begins with a reset by the i-th seed drawn from it.
        """
        from gnomon.decide.environments import play_episode

        seed = draw_seed(generator(random_state))
        env = env.to_env() if hasattr(env, "to_env") else env
        return [play_episode(env, self, seed, episode, max_steps) for episode in range(n_episodes)]

    def evaluate(
        self,
        env: Any,
        n_episodes: int = 100,
        *,
        max_steps: int = 1000,
        discount: float = 1.0,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> Evaluation:
        """Play and return the mean return with a confidence interval (Student's t).

        Parameters
        ----------
        env : Gymnasium environment or MDP
        n_episodes, max_steps : int
        discount : float
            1 gives the plain sum of rewards.
        confidence : float
            Of the interval.
        random_state : int, Generator or None
        """
        if n_episodes < 1:
            raise DataError(f"n_episodes must be at least 1; got {n_episodes}.")
        returns, lengths = self._returns(env, n_episodes, max_steps, discount, random_state)
        return summary(returns, lengths, confidence)

    def _returns(
        self, env: Any, n_episodes: int, max_steps: int, discount: float, random_state: Any
    ) -> tuple[Array, Array]:
        from gnomon.decide.returns import discounted_return

        played = self.rollout(env, n_episodes, max_steps=max_steps, random_state=random_state)
        returns = np.array([discounted_return(one["rewards"], discount) for one in played])
        return returns, np.array([len(one["rewards"]) for one in played])


def summary(returns: Array, lengths: Array, confidence: float = 0.95) -> Evaluation:
    """Return mean, standard error and interval of returns."""
    from scipy.stats import t

    n = len(returns)
    mean = float(np.mean(returns))
    error = float(np.std(returns, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    reach = float(t.ppf(0.5 + confidence / 2, n - 1)) * error if n > 1 else float("nan")
    return Evaluation(mean, error, mean - reach, mean + reach, returns, lengths)


class Policy(Acting):
    """A policy over numbered states.

    It is an array to NumPy: ``np.asarray(policy)`` gives the actions (S,), the chances (S, A), or the actions by steps
    to go (H, S).

    Parameters
    ----------
    table : (S,) ints, (S, A) chances, or (H, S) ints
        Row k − 1 of the last form serves k steps before the end.

    Examples
    --------
    >>> policy = Policy.greedy([[0.0, 1.0], [3.0, 2.0]])
    >>> np.asarray(policy), policy.act(0)
    (array([1, 0]), 1)
    >>> Policy([[0.25, 0.75]]).probabilities(0)
    array([0.25, 0.75])
    """

    def __init__(self, table: Any) -> None:
        given = np.asarray(table)
        if given.ndim == 2 and given.dtype.kind == "f":
            self.table = probabilities(given, name="policy")
        elif given.ndim in (1, 2) and given.dtype.kind in "iu":
            self.table = given.astype(np.int64)
        else:
            raise DataError(
                f"a policy is (S,) actions, (S, A) chances or (H, S) actions; got {given.dtype} of shape {given.shape}."
            )

    sizes: tuple[int, ...] | None = None  # of the parts of an observation, where it has parts

    def numbered(self, sizes: tuple[int, ...] | None) -> Policy:
        """Return this policy for observations whose parts have so many values each."""
        if sizes is not None:
            self.sizes = tuple(sizes)
        return self

    @classmethod
    def greedy(cls, Q: Any, *, ties: str = "first", tol: float = 1e-9) -> Policy:
        """Return the policy that takes the best action of every state.

        Parameters
        ----------
        Q : (S, A) array
        ties : {"first", "split"}
            The lowest of equals, or all of them with equal chance.
        tol : float
            How near two actions are equal, with ``ties="split"``.
        """
        Q = np.asarray(Q, dtype=np.float64)
        if Q.ndim != 2 or np.isnan(Q).any():
            raise DataError(f"Q must be an (S, A) table without NaN; its shape is {Q.shape}.")
        if ties == "first":
            return cls(Q.argmax(axis=1))
        best = Q >= Q.max(axis=1, keepdims=True) - tol
        return cls(best / best.sum(axis=1, keepdims=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.table, dtype=dtype)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: Any) -> Any:
        return self.table[index]

    def __repr__(self) -> str:
        kind = "chances" if self.table.dtype.kind == "f" else "actions"
        return f"Policy({kind} of shape {self.table.shape})"

    def _check_loaded(self) -> None:
        """Refuse a table that is no policy."""
        table = self.table
        chances = table.ndim == 2 and table.dtype.kind == "f" and (table >= 0).all()
        chances = chances and (np.abs(table.sum(axis=1) - 1.0) <= 1e-6).all()
        actions = table.ndim in (1, 2) and table.dtype.kind == "i" and (table >= 0).all()
        if not (chances or actions):
            raise ModelFileError("it holds a policy that is neither actions nor chances.")

    def check_actions(self, S: int, A: int) -> None:
        """Refuse a policy from a file that is not one of S states and A actions."""
        fine = self.table.shape[-1] == S and self.table.max(initial=0) < A
        if not (self.table.shape == (S, A) if self.table.dtype.kind == "f" else fine):
            raise ModelFileError(f"it holds a policy that does not fit {S} states and {A} actions.")

    def probabilities(self, state: int) -> Array:
        """Return the chances of the actions in a state, of a policy that has them."""
        if self.table.dtype.kind == "f":
            return self.table[state]
        return np.eye(int(self.table.max()) + 1)[self.table[..., state]]

    def act(self, observation: Any, rng: Any = None, *, step: int = 0) -> int:
        """Return the action in a state; `rng` (anything with ``random()``) is asked where chance decides."""
        state = numbered(observation, self.sizes)
        if self.table.dtype.kind == "f":
            u = generator(rng).random() if rng is None or not hasattr(rng, "random") else rng.random()
            chances = self.table[state]
            return int(min(np.searchsorted(np.cumsum(chances), u, side="right"), np.flatnonzero(chances)[-1]))
        if self.table.ndim == 2:
            return int(self.table[max(len(self.table) - 1 - step, 0), state])
        return int(self.table[state])

    def _returns(
        self, env: Any, n_episodes: int, max_steps: int, discount: float, random_state: Any
    ) -> tuple[Array, Array]:
        if not hasattr(env, "simulate"):
            return super()._returns(env, n_episodes, max_steps, discount, random_state)
        from gnomon.decide.returns import returns_of

        steps = env.simulate(self, n_episodes, max_steps, random_state=random_state)
        lengths = np.bincount(steps["episode"], minlength=n_episodes)
        return returns_of(steps["episode"], steps["reward"], discount), lengths


def as_table(policy: Any, mdp: Any) -> Array:
    """Return the array behind a policy after checking it against a process."""
    table = getattr(policy, "policy_", policy)
    table = np.asarray(getattr(table, "table", table))
    if table.dtype.kind == "b":
        table = table.astype(np.int64)
    S, A = mdp.n_states, mdp.n_actions
    if table.dtype.kind in "iu":
        return _actions(table.astype(np.int64), mdp)
    if table.dtype.kind != "f" or table.shape != (S, A):
        if (
            table.dtype.kind == "f"
            and table.ndim in (1, 2)
            and np.array_equal(table, np.rint(table))
            and table.shape[-1] == S
        ):
            return _actions(table.astype(np.int64), mdp)
        raise DataError(f"policy must be ({S},) actions or ({S}, {A}) chances; its shape is {table.shape}.")
    table = probabilities(table, name="policy")
    if (table[~mdp.available] > 0).any():
        s, a = np.argwhere((table > 0) & ~mdp.available)[0].tolist()
        raise DataError(f"policy takes action {a} in state {s}, where it is not available.")
    return table


def _actions(table: Array, mdp: Any) -> Array:
    S, A = mdp.n_states, mdp.n_actions
    if (
        table.shape == (S, A)
        and table.shape != (S, S)
        and ((table == 0) | (table == 1)).all()
        and (table.sum(axis=1) == 1).all()
    ):
        return as_table(table.astype(np.float64), mdp)
    if table.shape[-1:] != (S,) or table.ndim > 2:
        raise DataError(
            f"policy must have one action for each of the {S} states; its shape is {table.shape}."
        )
    if table.size and (table.min() < 0 or table.max() >= A):
        raise DataError(
            f"policy has action {table.max() if table.max() >= A else table.min()}; actions go from 0 to {A - 1}."
        )
    fine = mdp.available[np.arange(S), table]
    if not fine.all():
        at = tuple(np.argwhere(~fine)[0].tolist())
        raise DataError(f"policy takes action {int(table[at])} in state {at[-1]}, where it is not available.")
    return table


def tables_in_time(policy: Any, mdp: Any) -> Array:
    """Return a policy as (H, S, A) chances in the order of time."""
    table = as_table(policy, mdp)
    if table.dtype.kind == "f":
        return table[None]
    return np.ascontiguousarray(np.eye(mdp.n_actions)[np.atleast_2d(table)[::-1]])
