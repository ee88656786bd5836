"""Rules for bandits: which arm next. Each keeps its numbers for many runs at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.decide.evaluation import softmax


class ArmRule:
    """What all rules have: `choose` and `update` for one run, `begin`, `choose` and `learn` for many at once."""

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        """Return the numbers that many runs begin with."""
        K = bandit if isinstance(bandit, int) else bandit.n_arms
        if K < 1:
            raise DataError("a bandit needs at least one arm.")
        return {"n": np.zeros((n_runs, K)), "mean": np.zeros((n_runs, K)), "t": 0}

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        """Return an arm for every run."""
        raise NotImplementedError

    def learn(self, state: dict[str, Any], arms: Array, rewards: Array, context: Any = None) -> None:
        """Take the pay of every run in."""
        runs = np.arange(len(arms))
        state["t"] += 1
        state["n"][runs, arms] += 1
        state["mean"][runs, arms] += (rewards - state["mean"][runs, arms]) / state["n"][runs, arms]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"


def best_arms(values: Array, rng: Any) -> Array:
    """Return the largest of every row; of equals, one at random."""
    ties = values == values.max(axis=1, keepdims=True)
    return np.where(ties, rng.random(values.shape), -1.0).argmax(axis=1)


class UCB1(ArmRule):
    r"""The arm that could be best: mean plus a bonus for what is not known (Auer, Cesa-Bianchi and Fischer 2002).

    .. math:: \arg\max_a\ \bar x_a + c \sqrt{2 \ln t / n_a}

    Every arm is played once first. Regret grows with ln t.

    Parameters
    ----------
    scale : float
        c; 1 for pay between 0 and 1.

    Examples
    --------
    >>> state = {"n": np.array([[10.0, 5.0, 1.0]]), "mean": np.array([[0.5, 0.6, 0.3]]), "t": 16}
    >>> UCB1().indices(state).round(4), UCB1().choose(state)
    (array([[1.2447, 1.6531, 2.6548]]), array([2]))
    """

    def __init__(self, scale: float = 1.0) -> None:
        if not scale > 0:
            raise DataError(f"scale must be above 0; got {scale!r}.")
        self.scale = scale

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        state = super().begin(bandit, n_runs, n_steps)
        if 0 < n_steps < state["n"].shape[1]:
            raise DataError(
                f"UCB1 plays every arm once first: n_steps={n_steps} is less than the {state['n'].shape[1]} arms."
            )
        return state

    def indices(self, state: dict[str, Any]) -> Array:
        """Return the upper bounds; infinite for arms never played."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bonus = self.scale * np.sqrt(2.0 * np.log(max(state["t"], 1)) / state["n"])
        return np.where(state["n"] == 0, np.inf, state["mean"] + bonus)

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        return self.indices(state).argmax(axis=1)


class ThompsonBandit(ArmRule):
    r"""Draw a mean for every arm from its posterior, play the largest (Thompson 1933).

    Beta–Bernoulli for pay of 0 and 1, Normal-Gamma otherwise. Reaches the lower bound of Lai and Robbins.

    Parameters
    ----------
    prior : pair or four numbers
        (a, b) of the Beta, or (m, κ, a, b) of the Normal-Gamma.

    Examples
    --------
    >>> rule = ThompsonBandit()
    >>> state = rule.begin(2, 1)
    >>> state["wins"], state["losses"] = np.array([[2.0, 1.0]]), np.array([[1.0, 2.0]])
    >>> rule.selection_probabilities(state).round(6)
    array([[0.757143, 0.242857]])
    """

    def __init__(self, prior: Any = (1.0, 1.0)) -> None:
        if len(prior) not in (2, 4) or min(prior[-2:]) <= 0 or (len(prior) == 4 and prior[1] <= 0):
            raise DataError(f"prior must be (a, b) or (m, kappa, a, b) with positive numbers; got {prior!r}.")
        self.prior = tuple(prior)

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        state = super().begin(bandit, n_runs, n_steps)
        shape = state["n"].shape
        state |= {"wins": np.zeros(shape), "losses": np.zeros(shape), "squares": np.zeros(shape)}
        if len(self.prior) == 2 and getattr(bandit, "kind", "bernoulli") != "bernoulli":
            raise DataError("pay is not 0 or 1; give a Normal-Gamma prior (m, kappa, a, b).")
        return state

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        rng = generator(rng) if rng is None else rng
        return self.draws(state, rng).argmax(axis=1)

    def draws(self, state: dict[str, Any], rng: Any) -> Array:
        """Draw a mean for every arm."""
        if len(self.prior) == 2:
            return rng.beta(self.prior[0] + state["wins"], self.prior[1] + state["losses"])
        m0, k0, a0, b0 = self.prior
        n, mean = state["n"], state["mean"]
        kappa = k0 + n
        b = b0 + state["squares"] / 2 + k0 * n * (mean - m0) ** 2 / (2 * kappa)
        precision = rng.standard_gamma(a0 + n / 2) / b
        return (k0 * m0 + n * mean) / kappa + rng.standard_normal(n.shape) / np.sqrt(kappa * precision)

    def learn(self, state: dict[str, Any], arms: Array, rewards: Array, context: Any = None) -> None:
        runs = np.arange(len(arms))
        if len(self.prior) == 2 and not np.isin(rewards, (0.0, 1.0)).all():
            raise DataError("a Beta prior needs pay of 0 or 1; give (m, kappa, a, b).")
        off = rewards - state["mean"][runs, arms]
        super().learn(state, arms, rewards)
        state["squares"][runs, arms] += off * (rewards - state["mean"][runs, arms])
        state["wins"][runs, arms] += rewards
        state["losses"][runs, arms] += 1.0 - rewards

    def selection_probabilities(
        self, state: dict[str, Any], n_draws: int = 10_000, random_state: Any = None
    ) -> Array:
        """Return the chance of every arm to be played next: by quadrature for two Beta arms, else by drawing."""
        if len(self.prior) == 2 and state["n"].shape[1] == 2:
            from scipy.integrate import quad
            from scipy.stats import beta

            a, b = self.prior[0] + state["wins"], self.prior[1] + state["losses"]
            first = [
                quad(
                    lambda x, i=i: beta.pdf(x, a[i, 0], b[i, 0]) * beta.cdf(x, a[i, 1], b[i, 1]),
                    0,
                    1,
                    epsabs=1e-12,
                )[0]
                for i in range(len(a))
            ]
            return np.column_stack([first, 1.0 - np.array(first)])
        rng = generator(random_state)
        K = state["n"].shape[1]
        picks = np.stack([self.draws(state, rng).argmax(axis=1) for _ in range(n_draws)])
        return np.stack([(picks == a).mean(axis=0) for a in range(K)], axis=1)


class GradientBandit(ArmRule):
    r"""Preferences climbed by stochastic gradient: H_a += α(r − r̄)(1{a played} − π_a), π = softmax(H).

    r̄ is the mean of the rewards before this one.

    Parameters
    ----------
    learning_rate : float
        α.
    baseline : bool
        Without it r̄ is 0.

    Examples
    --------
    >>> rule = GradientBandit(0.1)
    >>> state = rule.begin(3, 1)
    >>> rule.learn(state, np.array([0]), np.array([1.0]))
    >>> state["H"].round(4)
    array([[ 0.0667, -0.0333, -0.0333]])
    """

    def __init__(self, learning_rate: float = 0.1, *, baseline: bool = True) -> None:
        if not learning_rate > 0:
            raise DataError(f"learning_rate must be above 0; got {learning_rate!r}.")
        self.learning_rate, self.baseline = learning_rate, baseline

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        state = super().begin(bandit, n_runs, n_steps)
        return state | {"H": np.zeros(state["n"].shape), "paid": np.zeros(n_runs)}

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        rng = generator(rng) if rng is None else rng
        return _drawn(softmax(state["H"]), rng)

    def learn(self, state: dict[str, Any], arms: Array, rewards: Array, context: Any = None) -> None:
        chances = softmax(state["H"])
        runs = np.arange(len(arms))
        off = rewards - (state["paid"] if self.baseline else 0.0)
        chosen = np.zeros_like(chances)
        chosen[runs, arms] = 1.0
        state["H"] = state["H"] + self.learning_rate * off[:, None] * (chosen - chances)
        super().learn(state, arms, rewards)
        state["paid"] = state["paid"] + (rewards - state["paid"]) / state["t"]


def _drawn(chances: Array, rng: Any) -> Array:
    u = rng.random(len(chances))[:, None]
    return np.minimum((np.cumsum(chances, axis=1) <= u).sum(axis=1), chances.shape[1] - 1)


class Exp3(ArmRule):
    r"""Exponential weights for pay that an opponent may choose (Auer et al. 2002): no assumption about the arms.

    .. math:: p_a = (1-\gamma)\frac{w_a}{\sum w} + \frac{\gamma}{K}, \qquad
        w_a \leftarrow w_a \exp(\gamma\, \hat r_a / K),\quad \hat r_a = r/p_a

    Pay must lie between 0 and 1. Regret grows with √(t K ln K) at most; against arms that do not change the other
    rules are better.

    Parameters
    ----------
    gamma : float in (0, 1], optional
        Share of pure exploration; by default the best for the number of steps.

    Examples
    --------
    >>> from gnomon.decide import Bandit
    >>> trace = Bandit.bernoulli([0.1, 0.9]).run(Exp3(), 1000, n_runs=20, random_state=0)
    >>> bool(trace.regret[:, -1].mean() < 100)
    True
    """

    def __init__(self, gamma: float | None = None) -> None:
        if gamma is not None and not 0.0 < gamma <= 1.0:
            raise DataError(f"gamma must be above 0 and at most 1; got {gamma!r}.")
        self.gamma = gamma

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        state = super().begin(bandit, n_runs, n_steps)
        K = state["n"].shape[1]
        best = min(1.0, float(np.sqrt(K * np.log(max(K, 2)) / ((np.e - 1) * max(n_steps, 1)))))
        return state | {"log_w": np.zeros(state["n"].shape), "gamma": self.gamma or best}

    def chances(self, state: dict[str, Any]) -> Array:
        """Return the chance of every arm."""
        g, K = state["gamma"], state["n"].shape[1]
        return (1.0 - g) * softmax(state["log_w"]) + g / K

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        rng = generator(rng) if rng is None else rng
        return _drawn(self.chances(state), rng)

    def learn(self, state: dict[str, Any], arms: Array, rewards: Array, context: Any = None) -> None:
        if ((rewards < 0) | (rewards > 1)).any():
            raise DataError("Exp3 needs pay between 0 and 1; scale it.")
        runs, K = np.arange(len(arms)), state["n"].shape[1]
        p = self.chances(state)[runs, arms]
        state["log_w"][runs, arms] += state["gamma"] * rewards / p / K
        super().learn(state, arms, rewards)


class LinearBandit(ArmRule):
    r"""Arms with features: pay is xᵀθ plus noise, and what one arm teaches helps the others.

    With A = λI + Σxxᵀ and θ̂ = A⁻¹Σrx: ``"ucb"`` plays the largest xᵀθ̂ + c√(xᵀA⁻¹x) (LinUCB, Li et al. 2010),
    ``"thompson"``
    draws θ from N(θ̂, c²A⁻¹) (Agrawal and Goyal 2013).

    Parameters
    ----------
    rule : {"ucb", "thompson"}
    scale : float
        c.
    alpha : float
        λ.

    Examples
    --------
    >>> from gnomon.decide import Bandit
    >>> world = Bandit.linear([1.0, -1.0, 0.5], n_arms=4, scale=0.1)
    >>> trace = world.run(LinearBandit(scale=0.3), 300, n_runs=20, random_state=0)
    >>> bool(trace.regret[:, -1].mean() < 15)
    True
    """

    def __init__(self, rule: str = "ucb", *, scale: float = 1.0, alpha: float = 1.0) -> None:
        if rule not in ("ucb", "thompson"):
            raise DataError(f"rule must be 'ucb' or 'thompson'; got {rule!r}.")
        if not (scale > 0 and alpha > 0):
            raise DataError(f"scale and alpha must be above 0; got {scale!r} and {alpha!r}.")
        self.rule, self.scale, self.alpha = rule, scale, alpha

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        if getattr(bandit, "kind", None) != "linear":
            raise DataError("LinearBandit needs arms with features: Bandit.linear(weights, n_arms).")
        d = len(bandit.weights)
        state = super().begin(bandit, n_runs, n_steps)
        return state | {
            "inverse": np.tile(np.eye(d) / self.alpha, (n_runs, 1, 1)),
            "sums": np.zeros((n_runs, d)),
        }

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        inverse = state["inverse"]
        theta = np.einsum("rij,rj->ri", inverse, state["sums"])
        if self.rule == "thompson":
            rng = generator(rng) if rng is None else rng
            root = np.linalg.cholesky(inverse)
            theta = theta + self.scale * np.einsum("rij,rj->ri", root, rng.standard_normal(theta.shape))
            return np.einsum("rkj,rj->rk", context, theta).argmax(axis=1)
        spread = np.einsum("rki,rij,rkj->rk", context, inverse, context)
        return (np.einsum("rkj,rj->rk", context, theta) + self.scale * np.sqrt(np.maximum(spread, 0))).argmax(
            axis=1
        )

    def learn(self, state: dict[str, Any], arms: Array, rewards: Array, context: Any = None) -> None:
        super().learn(state, arms, rewards)
        x = context[np.arange(len(arms)), arms]
        turned = np.einsum("rij,rj->ri", state["inverse"], x)
        scale = 1.0 / (1.0 + np.einsum("ri,ri->r", x, turned))
        state["inverse"] = (
            state["inverse"] - scale[:, None, None] * turned[:, :, None] * turned[:, None, :]
        )  # Sherman–Morrison
        state["sums"] = state["sums"] + rewards[:, None] * x
