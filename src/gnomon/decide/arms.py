"""Bandits: one state, several arms of unknown pay, and what playing them costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator


class BanditTrace(NamedTuple):
    """What runs of a rule brought."""

    actions: Array  # (runs, steps)
    rewards: Array  # (runs, steps)
    regret: Array  # (runs, steps), Σ(μ* − μ of the arm played)
    pulls: Array  # (runs, arms)
    estimates: Array  # (runs, arms)
    lower_bound: (
        Array  # (steps,), what no consistent rule can beat in the long run; NaN where it is not known
    )

    @property
    def best_share(self) -> Array:
        """Share of the runs that play a best arm, step by step."""
        gain = np.diff(self.regret, axis=1, prepend=0.0)
        return (np.abs(gain) < 1e-12).mean(axis=0)


class Bandit:
    r"""Arms that pay at random: adverts, treatments, slot machines.

    Parameters
    ----------
    means : (K,) array
        Mean pay of every arm; with `features`, not needed.
    kind : {"bernoulli", "gaussian", "linear"}
        Pay 0 or 1; normal pay; or normal pay around xᵀθ for arms that show features x anew at every step.
    scale : float
        Standard deviation of normal pay.
    weights : (d,) array
        θ of the linear kind.
    n_arms : int
        Arms of the linear kind.

    Examples
    --------
    >>> from gnomon.decide import UCB1
    >>> trace = Bandit.bernoulli([0.2, 0.5, 0.7]).run(UCB1(), 1000, n_runs=50, random_state=0)
    >>> bool(trace.regret[:, -1].mean() < 100)  # a random rule loses 233
    True
    """

    def __init__(
        self,
        means: Any = None,
        *,
        kind: str = "bernoulli",
        scale: float = 1.0,
        weights: Any = None,
        n_arms: int = 5,
    ) -> None:
        if kind not in ("bernoulli", "gaussian", "linear"):
            raise DataError(f"kind must be 'bernoulli', 'gaussian' or 'linear'; got {kind!r}.")
        if not scale > 0:
            raise DataError(f"scale must be above 0; got {scale!r}.")
        self.kind, self.scale = kind, float(scale)
        self.weights = np.atleast_1d(np.asarray(0.0 if weights is None else weights, dtype=np.float64))
        if kind == "linear":
            self.means, self.n_arms = np.full(n_arms, np.nan), int(n_arms)
            return
        self.means = np.asarray(means, dtype=np.float64)
        self.n_arms = len(np.atleast_1d(self.means))
        if self.means.ndim != 1 or not self.n_arms or not np.isfinite(self.means).all():
            raise DataError("means must be a list with one finite number an arm, and at least one arm.")
        if kind == "bernoulli" and not ((self.means >= 0) & (self.means <= 1)).all():
            raise DataError(f"chances of a Bernoulli bandit lie between 0 and 1; got {self.means.tolist()}.")

    @classmethod
    def bernoulli(cls, p: Any) -> Bandit:
        """Return arms that pay 1 with these chances, else 0."""
        return cls(p)

    @classmethod
    def gaussian(cls, means: Any, scale: float = 1.0) -> Bandit:
        """Return arms that pay normal numbers."""
        return cls(means, kind="gaussian", scale=scale)

    @classmethod
    def linear(cls, weights: Any, n_arms: int = 5, scale: float = 1.0) -> Bandit:
        """Return arms that show features and pay xᵀθ plus noise."""
        return cls(kind="linear", weights=weights, n_arms=n_arms, scale=scale)

    def to_mdp(self, discount: float) -> Any:
        """Return the process of one state in which every arm leads back; Q*(a) = μ_a + γμ*/(1 − γ)."""
        from gnomon.decide.process import MDP

        return MDP(np.ones((1, self.n_arms, 1)), self.means[None, :], discount=discount, layout="sas")

    def lower_bound(self, n_steps: int) -> Array:
        r"""Return :math:`\ln t \sum_a \Delta_a / KL(\mu_a, \mu^*)`: no rule that is good everywhere does better for
        long
        (Lai and Robbins 1985).
        """
        t = np.arange(1, n_steps + 1)
        if self.kind == "linear":
            return np.full(n_steps, np.nan)
        best = self.means.max()
        gaps = best - self.means[self.means < best]
        if self.kind == "gaussian":
            apart = gaps**2 / (2 * self.scale**2)
        else:
            p = self.means[self.means < best]
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = np.where(p > 0, p * np.log(p / best), 0.0) + (1 - p) * np.log((1 - p) / (1 - best))
        return np.log(t) * float((gaps / apart).sum())

    def run(self, rule: Any, n_steps: int, *, n_runs: int = 100, random_state: Any = None) -> BanditTrace:
        """Play a rule many times at once.

        Parameters
        ----------
        rule : bandit rule
            `EpsilonGreedy`, `UCB1`, `ThompsonBandit`, `GradientBandit`, `Exp3`, `LinearBandit`, or anything with
            their methods.
        n_steps, n_runs : int
        random_state : int, Generator or None

        Returns
        -------
        BanditTrace
        """
        if n_steps < 1 or n_runs < 1:
            raise DataError(f"n_steps and n_runs must be at least 1; got {n_steps} and {n_runs}.")
        rng = generator(random_state)
        runs = np.arange(n_runs)
        state = rule.begin(self, n_runs, n_steps)
        actions, rewards = np.empty((n_runs, n_steps), dtype=np.int64), np.empty((n_runs, n_steps))
        lost = np.empty((n_runs, n_steps))
        for t in range(n_steps):
            context = self._context(rng, n_runs)
            arms = rule.choose(state, rng, context)
            means = self.means[None, :] if context is None else context @ self.weights
            mean = np.broadcast_to(means, (n_runs, self.n_arms))[runs, arms]
            paid = self._pay(mean, rng)
            rule.learn(state, arms, paid, context)
            actions[:, t], rewards[:, t] = arms, paid
            lost[:, t] = means.max(axis=1) - mean
        pulls = np.stack([(actions == a).sum(axis=1) for a in range(self.n_arms)], axis=1)
        earned = np.stack(
            [np.where(actions == a, rewards, 0.0).sum(axis=1) for a in range(self.n_arms)], axis=1
        )
        estimates = np.divide(earned, pulls, out=np.full(pulls.shape, np.nan), where=pulls > 0)
        return BanditTrace(
            actions, rewards, np.cumsum(lost, axis=1), pulls, estimates, self.lower_bound(n_steps)
        )

    def _context(self, rng: Any, n_runs: int) -> Array | None:
        if self.kind != "linear":
            return None
        x = rng.normal(size=(n_runs, self.n_arms, len(self.weights)))
        return x / np.linalg.norm(x, axis=2, keepdims=True)

    def _pay(self, mean: Array, rng: Any) -> Array:
        if self.kind == "bernoulli":
            return (rng.random(mean.shape) < mean).astype(float)
        return mean + self.scale * rng.standard_normal(mean.shape)
