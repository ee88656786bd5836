"""Experiments of the courses that are no learners of the library; they have `iterate`, so the lab runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from gnomon.theory import concentration_bound, simulate_deviation


class DeviationExperiment(BaseEstimator):
    r"""How often a mean strays, beside what Hoeffding's inequality promises.

    .. math:: P(|\bar x - \mu| \ge \varepsilon) \le 2 e^{-2 n \varepsilon^2}

    Parameters
    ----------
    epsilon : float, default=0.1
        The deviation that counts.
    max_draws : int, default=200
        The largest number of throws whose mean is taken.
    n_trials : int, default=1000
        How often every mean is taken.
    random_state : int, default=0
        Same seed, same throws.

    Examples
    --------
    >>> from scipy.stats import bernoulli
    >>> *_, last = DeviationExperiment(max_draws=40).iterate(bernoulli(0.3))
    >>> bool((last.frequencies_ <= last.bounds_).all())
    True
    """

    def __init__(
        self, epsilon: float = 0.1, max_draws: int = 200, n_trials: int = 1000, random_state: int = 0
    ) -> None:
        self.epsilon = epsilon
        self.max_draws = max_draws
        self.n_trials = n_trials
        self.random_state = random_state

    def iterate(self, X: Any) -> Iterator[Self]:
        """Yield the experiment with one more number of throws each time."""
        draws = np.unique(np.geomspace(1, self.max_draws, 30).astype(int))
        bounds = [min(1.0, concentration_bound(n=int(n), epsilon=self.epsilon).value) for n in draws]
        frequencies: list[float] = []
        for n in draws:
            found = simulate_deviation(
                X, int(n), self.epsilon, n_trials=self.n_trials, random_state=self.random_state
            )
            frequencies.append(found.frequency)
            shown = clone(self)
            shown.draws_, shown.bounds_ = draws[: len(frequencies)], np.array(bounds[: len(frequencies)])
            shown.frequencies_ = np.array(frequencies)
            yield shown

    def sentence(self) -> str:
        """Return what the newest number of throws has shown."""
        strays, bound = self.frequencies_[-1], self.bounds_[-1]
        said = f"The mean of {self.draws_[-1]} throws strays in {strays:.1%} of the trials"
        return f"{said}; the bound says at most {bound:.1%}."

    def fit(self, X: Any) -> Self:
        """Run the whole experiment."""
        *_, last = self.iterate(X)
        self.draws_, self.bounds_, self.frequencies_ = last.draws_, last.bounds_, last.frequencies_
        return self


class CoinPosterior(BaseEstimator):
    r"""What is known of a coin, throw by throw.

    .. math:: p(\theta \mid x) = \mathrm{Beta}(\theta \mid a + h, b + t)

    Parameters
    ----------
    a, b : float, default=1.0
        The prior, as heads and tails seen before.

    Examples
    --------
    >>> [model.heads_ for model in CoinPosterior().iterate(np.array([[1], [0], [1]]))]
    [0, 1, 1, 2]
    """

    def __init__(self, a: float = 1.0, b: float = 1.0) -> None:
        self.a = a
        self.b = b

    def iterate(self, X: Any) -> Iterator[Self]:
        """Yield the posterior before the first throw and after every one."""
        throws = np.ravel(X)
        for n in range(len(throws) + 1):
            yield clone(self).fit(throws[:n])

    def sentence(self) -> str:
        """Return what is known after the throws so far."""
        from scipy.stats import beta

        known = beta(self.a + self.heads_, self.b + self.tails_)
        return (
            f"{self.heads_} heads, {self.tails_} tails: mean {known.mean():.3f}, deviation {known.std():.3f}."
        )

    def fit(self, X: Any) -> Self:
        """Count heads and tails."""
        if self.a <= 0 or self.b <= 0:
            raise ValueError(f"a and b must be positive; they are {self.a} and {self.b}.")
        throws = np.ravel(X)
        self.heads_, self.tails_ = int((throws > 0).sum()), int((throws <= 0).sum())
        return self
