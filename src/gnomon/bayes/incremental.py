"""Belief that moves with every observation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.validate import probabilities
from gnomon.distributions.base import Family


class IncrementalBayes:
    r"""A posterior over a few hypotheses, updated one observation at a time.

    .. math:: P(h \mid x_{1..n}, x) \propto P(x \mid h)\, P(h \mid x_{1..n})

    Kept in logarithms, so a million updates do not underflow.

    Parameters
    ----------
    prior : array of shape (K,)
        P(h).
    likelihoods : table of shape (K, outcomes), fitted family of K distributions, or list of K callables
        P(x | h). A table is looked up by the outcome's number.
    names : sequence of str, optional
        Names of the hypotheses.

    Attributes
    ----------
    posterior_ : array of shape (K,)
        Belief now.
    log_evidence_ : float
        ln P of everything observed.
    history_ : list of arrays
        Belief at the start and after every observation.

    Examples
    --------
    >>> coins = IncrementalBayes([0.75, 0.25], [[0.5, 0.5], [0.4, 0.6]])  # fair, or heads 0.6
    >>> coins.update(1).posterior_.round(4), coins.predictive().round(4)
    (array([0.7143, 0.2857]), array([0.4714, 0.5286]))
    """

    def __init__(self, prior: Any, likelihoods: Any, names: Any = None) -> None:
        self.prior = probabilities(prior, name="prior")
        self.likelihoods = likelihoods
        self.names = list(names) if names is not None else [f"h{k}" for k in range(len(self.prior))]
        if not isinstance(likelihoods, Family) and not callable(likelihoods[0]):
            self.likelihoods = probabilities(likelihoods, name="likelihoods")
        count = self.likelihoods.n_components if isinstance(likelihoods, Family) else len(self.likelihoods)
        if count != len(self.prior) or len(self.names) != count:
            raise DataError(
                f"prior, likelihoods and names must agree; got {len(self.prior)}, {count}, {len(self.names)}."
            )
        self.reset()

    def reset(self) -> IncrementalBayes:
        """Forget all observations."""
        with np.errstate(divide="ignore"):
            self._log = np.log(self.prior)
        self.log_evidence_ = 0.0
        self.history_ = [self.prior.copy()]
        return self

    @property
    def posterior_(self) -> Array:
        """Belief now."""
        return np.exp(self._log)

    def _log_likelihood(self, x: Any) -> Array:
        if isinstance(self.likelihoods, Family):
            return self.likelihoods.log_density(np.atleast_2d(np.asarray(x, dtype=np.float64)))[0]
        with np.errstate(divide="ignore"):
            if isinstance(self.likelihoods, np.ndarray):
                return np.log(self.likelihoods[:, self._outcome(x)])
            return np.log([function(x) for function in self.likelihoods])

    def _outcome(self, x: Any) -> int:
        """Return the number of an outcome of the table, or refuse it."""
        count = self.likelihoods.shape[1]
        if not (isinstance(x, int | float | np.number | np.bool_) and x == int(x) and 0 <= x < count):
            raise DataError(f"an outcome is a whole number from 0 to {count - 1}; got {x!r}.")
        return int(x)

    def update(self, x: Any) -> IncrementalBayes:
        """Take in one observation; one that is impossible under every hypothesis changes nothing."""
        joint = self._log + self._log_likelihood(x)
        evidence = float(log_sum_exp(joint))
        if evidence == -np.inf:
            raise ZeroEvidenceError(f"the observation {x!r} is impossible under every hypothesis still held.")
        self._log = joint - evidence
        self.log_evidence_ += evidence
        self.history_.append(self.posterior_)
        return self

    def update_many(self, observations: Iterable[Any]) -> IncrementalBayes:
        """Take in several observations, in order."""
        for x in observations:
            self.update(x)
        return self

    def predictive(self) -> Any:
        """Return the distribution of the next observation: a vector for a table, else a density function."""
        if isinstance(self.likelihoods, np.ndarray):
            return self.posterior_ @ self.likelihoods
        return lambda x: float(np.exp(log_sum_exp(self._log + self._log_likelihood(x))))

    def plot(self, ax: Any = None) -> Any:
        """Draw the belief in every hypothesis against the number of observations; return the Axes."""
        from gnomon.plot import path

        steps = np.arange(len(self.history_))
        ax = path(steps, np.array(self.history_), self.names, ax=ax)
        ax.set(xlabel="observations", ylabel="posterior", ylim=(-0.02, 1.02))
        return ax
