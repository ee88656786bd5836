"""Conjugate Bayesian estimation: a family, a belief about its parameter, and what the data do to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import log_sum_exp
from gnomon.distributions.base import Array, Family
from gnomon.distributions.discrete import Categorical
from gnomon.distributions.normal import Gaussian


@dataclass(frozen=True)
class Conjugate:
    r"""A family with a conjugate prior on its parameter.

    - `Bernoulli`, `Binomial`, `Geometric` with `Beta`: Bernoulli, beta-binomial or beta-geometric predictions;
    - `Categorical`, `Multinomial` with `Dirichlet`: categorical, Dirichlet-multinomial;
    - `Poisson`, `Exponential` with `Gamma`: negative binomial, Lomax;
    - `Gaussian` of fixed or identity covariance with a `Gaussian` prior on the mean: Gaussian;
    - `Gaussian`, diagonal, with `NormalInverseGamma`: Student t;
    - `Gaussian`, full, with `NormalInverseWishart`: multivariate Student t.

    Parameters
    ----------
    family : family
        The likelihood; its parameter need not be given.
    prior : distribution
        The belief about the parameter; after `update` it is the posterior.

    Examples
    --------
    >>> from gnomon.distributions import Bernoulli, Beta
    >>> belief = Conjugate(Bernoulli(), Beta(2, 2)).update([1, 1])
    >>> belief.prior
    Beta(a=[[4.]], b=[[2.]])
    >>> belief.map().p, belief.mean().p.round(6)
    (array([[0.75]]), array([[0.666667]]))
    """

    family: Family
    prior: Any

    def update(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Conjugate:
        """Return the belief after the rows X; no rows change nothing."""
        if np.size(X) == 0:
            return self
        family: Any = self.family
        return Conjugate(family, family.posterior(family.statistics(X, sample_weight), self.prior))

    def map(self) -> Any:
        """Return the family at the most probable parameter."""
        return self.family._at_mode(self.prior)  # type: ignore[attr-defined]

    def mean(self) -> Any:
        """Return the family at the expected parameter."""
        return self.family._at_mean(self.prior)  # type: ignore[attr-defined]

    def ml(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the maximum-likelihood fit, which ignores the prior."""
        return self.family.fit(X, sample_weight)

    def predictive(self) -> Any:
        """Return the distribution of the next observation, the parameter averaged out."""
        return self.family.predictive(self.prior)  # type: ignore[attr-defined]

    @property
    def interior(self) -> bool:
        """Whether the most probable parameter lies inside its range."""
        return bool(getattr(self.prior, "interior", True))

    def log_evidence(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return ln p(X), the parameter averaged out.

        By Bayes' rule it is ln p(X|θ) + ln p(θ) − ln p(θ|X) at every θ; the posterior mean is used, or the most
        probable θ where that mean is infinite.
        """
        if np.size(X) == 0:
            return 0.0
        after = self.update(X, sample_weight)
        at = _finite(after)
        likelihood = at.log_likelihood(X, sample_weight).sum()
        return float(likelihood + _log_belief(self.prior, at) - _log_belief(after.prior, at))

    def sample(self, n: int, random_state: Any = None) -> Any:
        """Draw n parameters from the belief."""
        return self.prior.sample(n, random_state)

    def interval(self, level: float = 0.95, *, kind: str = "equal") -> tuple[Array, Array]:
        """Return the credible interval of the parameter: equal tails, or the shortest (``kind="hpd"``)."""
        if kind == "equal":
            return self.prior.interval(level)
        if kind != "hpd":
            raise DataError(f"kind must be 'equal' or 'hpd'; got {kind!r}.")
        return shortest_interval(self.prior, level)


def _finite(belief: Conjugate) -> Any:
    """Return the family at a parameter that is finite: the mean, else the mode."""
    try:
        at = belief.mean()
        if all(np.isfinite(value).all() for value in at.parameters.values() if value is not None):
            return at
    except (DataError, DegenerateError):
        pass
    return belief.map()


def _log_belief(belief: Any, at: Any) -> float:
    """ln density of the belief at the parameter of a family."""
    if isinstance(belief, Gaussian):
        return float(belief.log_density(at.means).sum())
    if isinstance(at, Gaussian):
        spread = np.diagonal(at.covariance_matrices(), axis1=1, axis2=2)
        wishart = not hasattr(belief, "rate")
        return float(belief.log_density(at.means, at.covariance_matrices() if wishart else spread).sum())
    value = getattr(at, at._parameters[-1])
    return float(belief.log_density(value[:, 0] if isinstance(at, Categorical) else value).sum())


def shortest_interval(belief: Any, level: float) -> tuple[Array, Array]:
    """The shortest interval with mass `level`, column by column (highest density for one-humped beliefs)."""
    frozen = belief.to_scipy()
    shape = np.shape(frozen.mean())
    low, high = np.empty(shape), np.empty(shape)
    for place in np.ndindex(shape):

        def width(q: float, place: tuple[int, ...] = place) -> float:
            return float(frozen.ppf(q + level)[place] - frozen.ppf(q)[place])

        q = minimize_scalar(width, bounds=(0.0, 1.0 - level), method="bounded", options={"xatol": 1e-10}).x
        low[place], high[place] = frozen.ppf(q)[place], frozen.ppf(q + level)[place]
    return low, high


class PriorComparison(NamedTuple):
    """Log evidence of every prior and their posterior weights under equal prior odds."""

    log_evidence: Array
    weights: Array


def compare_priors(family: Family, X: ArrayLike, priors: Sequence[Any]) -> PriorComparison:
    """Return how well each prior foretold the data: a vague prior spreads its bets and pays for it.

    >>> from gnomon.distributions import Bernoulli, Beta
    >>> heads = [1] * 7 + [0] * 3
    >>> compare_priors(Bernoulli(), heads, [Beta(1, 1), Beta(10, 10)]).log_evidence.round(6)
    array([-7.185387, -6.861735])
    """
    evidence = np.array([Conjugate(family, prior).log_evidence(X) for prior in priors])
    return PriorComparison(evidence, np.exp(evidence - log_sum_exp(evidence)))
