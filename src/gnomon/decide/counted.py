"""Counting: a model of the world from moves that were seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.decide.averages import expectation
from gnomon.decide.logs import check_log, read_log
from gnomon.decide.process import MDP

UNVISITED = ("uniform", "self_loop", "optimistic", "error")


class RewardPosterior(NamedTuple):
    """Normal-Gamma beliefs about the mean reward of every pair."""

    m: Array
    kappa: Array
    a: Array
    b: Array


class EmpiricalModel:
    r"""Chances and rewards estimated by counting moves.

    .. math:: \hat T(s,a,s') = \frac{N(s,a,s') + c}{N(s,a) + cS}, \qquad
        \hat R(s,a,s') = \text{mean reward of that move}

    It learns through sums only, so models of several logs are added: ``one + two`` is the model of both.

    Parameters
    ----------
    n_states, n_actions : int
    prior_count : float
        c, added to every successor; above 0 it is the posterior mean of a symmetric Dirichlet.
    unvisited : {"uniform", "self_loop", "optimistic", "error"}
        What to assume of pairs never seen: any state may follow; nothing happens; nothing happens and the best
        reward is
        paid; or refuse.
    default_reward : float
        Reward of pairs never seen.

    Attributes
    ----------
    counts_ : (S·A, S) CSR array
    visits_ : (S, A) array
    coverage_ : float
        Share of the pairs that were seen.

    Examples
    --------
    >>> model = EmpiricalModel(2, 2).update_many([(0, 1, -1, 1), (0, 1, -1, 0), (0, 1, -1, 1), (1, 0, 2, 1)])
    >>> model.transition_estimate()[0, 1].round(3), model.coverage_
    (array([0.333, 0.667]), 0.5)
    """

    expectation = staticmethod(expectation)

    def __init__(
        self,
        n_states: int,
        n_actions: int,
        *,
        prior_count: float = 0.0,
        unvisited: str = "uniform",
        default_reward: float = 0.0,
    ) -> None:
        if n_states < 1 or n_actions < 1:
            raise DataError(f"n_states and n_actions must be at least 1; got {n_states} and {n_actions}.")
        if not prior_count >= 0:
            raise DataError(f"prior_count must not be negative; got {prior_count!r}.")
        if unvisited not in UNVISITED:
            raise DataError(
                f"unvisited must be one of {UNVISITED}; got {unvisited!r}.{nearest(unvisited, UNVISITED)}"
            )
        self.n_states, self.n_actions = int(n_states), int(n_actions)
        self.prior_count, self.unvisited, self.default_reward = (
            float(prior_count),
            unvisited,
            float(default_reward),
        )
        shape, pairs = (self.n_states * self.n_actions, self.n_states), self.n_states * self.n_actions
        self.counts_, self.reward_sums_ = sparse.csr_array(shape), sparse.csr_array(shape)
        self.ends_, self.end_rewards_ = np.zeros(pairs), np.zeros(pairs)
        self._n, self._mean, self._squares = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)

    def update(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool = False
    ) -> EmpiricalModel:
        """Count one move; return self."""
        return self.update_many([(state, action, reward, next_state, terminated)])

    def update_many(self, transitions: Any) -> EmpiricalModel:
        """Count moves given as `QLearning.learn_from` takes them; return self."""
        log = read_log(transitions)
        check_log(log, self.n_states, self.n_actions)
        self._count(
            log["state"] * self.n_actions + log["action"], log["next_state"], log["reward"], log["terminated"]
        )
        return self

    def _count(self, rows: Array, to: Array, rewards: Array, over: Array) -> None:
        on, pairs = ~over, len(self.ends_)
        places = (rows[on], to[on])
        self.counts_ = self.counts_ + sparse.csr_array((np.ones(on.sum()), places), shape=self.counts_.shape)
        self.reward_sums_ = self.reward_sums_ + sparse.csr_array(
            (rewards[on], places), shape=self.counts_.shape
        )
        self.ends_ = self.ends_ + np.bincount(rows[over], minlength=pairs)
        self.end_rewards_ = self.end_rewards_ + np.bincount(rows[over], rewards[over], minlength=pairs)
        n = np.bincount(rows, minlength=pairs).astype(float)
        mean = np.divide(np.bincount(rows, rewards, minlength=pairs), n, out=np.zeros(pairs), where=n > 0)
        squares = np.bincount(rows, (rewards - mean[rows]) ** 2, minlength=pairs)
        self._n, self._mean, self._squares = _pooled((self._n, self._mean, self._squares), (n, mean, squares))

    def __add__(self, other: EmpiricalModel) -> EmpiricalModel:
        if (self.n_states, self.n_actions) != (other.n_states, other.n_actions):
            raise DataError("models of different numbers of states or actions cannot be added.")
        made = self.empty()
        made.counts_, made.reward_sums_ = self.counts_ + other.counts_, self.reward_sums_ + other.reward_sums_
        made.ends_, made.end_rewards_ = self.ends_ + other.ends_, self.end_rewards_ + other.end_rewards_
        made._n, made._mean, made._squares = _pooled(
            (self._n, self._mean, self._squares), (other._n, other._mean, other._squares)
        )
        return made

    def empty(self) -> EmpiricalModel:
        """Return a model of the same kind that has seen nothing."""
        return EmpiricalModel(
            self.n_states, self.n_actions, prior_count=self.prior_count, unvisited=self.unvisited,
            default_reward=self.default_reward,
        )  # fmt: skip

    # estimates

    @property
    def visits_(self) -> Array:
        """How often each pair was seen."""
        return self._n.reshape(self.n_states, self.n_actions)

    @property
    def coverage_(self) -> float:
        """Share of the pairs that were seen."""
        return float((self._n > 0).mean())

    def transition_estimate(self) -> Array:
        """Return T̂ as (S, A, S); what a row lacks to one is the chance of an end."""
        return self.to_mdp(None).rows_.toarray().reshape(self.n_states, self.n_actions, self.n_states)

    def reward_estimate(self) -> tuple[Array, Array]:
        """Return the mean reward of every pair, and its standard error (NaN for fewer than two visits)."""
        n, shape = self._n, (self.n_states, self.n_actions)
        mean = np.where(n > 0, self._mean, self.default_reward)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.where(n > 1, np.sqrt(self._squares / (n - 1) / n), np.nan)
        return mean.reshape(shape), error.reshape(shape)

    def reward_posterior(
        self, prior: tuple[float, float, float, float] = (0.0, 1.0, 1.0, 1.0)
    ) -> RewardPosterior:
        r"""Return the Normal-Gamma posterior (m, κ, a, b) of every pair's mean reward.

        κ = κ₀ + n, m = (κ₀m₀ + n x̄)/κ, a = a₀ + n/2, b = b₀ + ½Σ(x − x̄)² + κ₀n(x̄ − m₀)²/(2κ).
        """
        m0, k0, a0, b0 = check_reward_prior(prior)
        n, shape = self._n, (self.n_states, self.n_actions)
        kappa = k0 + n
        m = (k0 * m0 + n * self._mean) / kappa
        b = b0 + self._squares / 2 + k0 * n * (self._mean - m0) ** 2 / (2 * kappa)
        return RewardPosterior(
            m.reshape(shape), kappa.reshape(shape), (a0 + n / 2).reshape(shape), b.reshape(shape)
        )

    def to_mdp(self, discount: float | None, available: Any = None) -> MDP:
        """Return the estimated process, to plan in.

        Parameters
        ----------
        discount : float or None
        available : (S, A) bool array, optional
            Which actions there are; nothing is assumed of the others.
        """
        S, A = self.n_states, self.n_actions
        unseen = self._n == 0
        allowed = np.ones((S, A), dtype=bool) if available is None else np.asarray(available, dtype=bool)
        if self.unvisited == "error" and (unseen & allowed.ravel()).any():
            missing = [divmod(int(row), A) for row in np.flatnonzero(unseen & allowed.ravel())[:10]]
            raise DataError(
                f"pairs (state, action) that were never seen: {missing}; explore more, or choose another `unvisited`."
            )
        total = self._n + self.prior_count * S
        expected = np.where(unseen, self.default_reward, self._mean)
        if self.prior_count > 0:
            rows = sparse.csr_array((self.counts_.toarray() + self.prior_count) / total[:, None])
            ends = self.ends_ / total
        else:
            scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
            rows = sparse.csr_array(sparse.diags_array(scale) @ self.counts_)
            rows = sparse.csr_array(rows + self._assumed(unseen))
            ends = self.ends_ * scale
            if self.unvisited == "optimistic":
                expected = np.where(unseen, self._mean[~unseen].max(initial=self.default_reward), expected)
        rows.sum_duplicates()
        per_entry = np.repeat(expected, np.diff(rows.indptr))
        return MDP._of(rows, per_entry, ends.reshape(S, A), expected.reshape(S, A), discount, allowed=allowed)

    def _assumed(self, unseen: Array) -> Any:
        """Rows of the pairs that were never seen."""
        S, A = self.n_states, self.n_actions
        which = np.flatnonzero(unseen)
        if self.unvisited == "uniform":
            places = (np.repeat(which, S), np.tile(np.arange(S), len(which)))
            return sparse.csr_array((np.full(len(which) * S, 1.0 / S), places), shape=(S * A, S))
        return sparse.csr_array((np.ones(len(which)), (which, which // A)), shape=(S * A, S))

    def plan(self, discount: float, **options: Any) -> Any:
        """Return `solve` of the estimated process."""
        from gnomon.decide.programs import solve

        return solve(self.to_mdp(discount), **options)


def _pooled(one: tuple[Array, ...], two: tuple[Array, ...]) -> tuple[Array, ...]:
    """Counts, means and squares of two samples together."""
    n = one[0] + two[0]
    off = two[1] - one[1]
    share = np.divide(two[0], n, out=np.zeros_like(n), where=n > 0)
    return n, one[1] + off * share, one[2] + two[2] + off**2 * one[0] * share


def check_reward_prior(prior: Any) -> tuple[float, float, float, float]:
    """Return (m, κ, a, b) after checking that the last three are positive."""
    m, kappa, a, b = (float(value) for value in prior)
    if not (np.isfinite(m) and kappa > 0 and a > 0 and b > 0):
        raise DataError(
            f"a Normal-Gamma prior is (m, kappa, a, b) with the last three above 0; got {prior!r}."
        )
    return m, kappa, a, b
