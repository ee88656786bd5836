"""One Gaussian with holes: EM over the missing entries."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from gnomon.core.linalg import Array, cholesky
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.sums import per_row, total
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads
from gnomon.distributions.base import Family
from gnomon.distributions.moments import DiagonalMoments, FullMoments
from gnomon.distributions.normal import Gaussian
from gnomon.mixture.completion import Completion, completed
from gnomon.mixture.em import BaseMixture
from gnomon.mixture.starts import uniforms


def available_sums(chunk: Any) -> DiagonalMoments:
    """Moments of the observed entries, column by column."""
    return Gaussian(covariance_type="diag").statistics(chunk.X, chunk.weight)


def filled_sums(chunk: Any, center: Array, spread: Array, seed: int) -> FullMoments:
    """Moments of the rows with holes filled by center + spread·noise."""
    X = np.asarray(chunk.X, dtype=np.float64)
    fill = np.broadcast_to(center, X.shape)
    if np.any(spread > 0):
        fill = center + spread * ndtri(uniforms(X, seed, X.shape[1]))
    return Gaussian().statistics(np.where(np.isnan(X), fill, X), chunk.weight)


def solid(family: Any) -> Gaussian:
    """Return the stack with as little on the diagonal as makes a singular covariance definite."""
    C = family.covariances[0]
    _, added = cholesky(C, jitter=1e-12, what="the covariance")
    if added == 0:
        return family
    return family.replace(covariances=(C + added * np.eye(len(C)))[None])


class MissingGaussian(OneToOneFeatureMixin, TransformerMixin, BaseMixture):
    r"""Multivariate normal distribution of incomplete rows, and what it says about the missing entries.

    .. math:: \max_{\mu, \Sigma} \sum_i w_i \ln N(x_{i,o_i};\; \mu_{o_i}, \Sigma_{o_i o_i})

    The E-step completes every row by its conditional mean :math:`\hat x_i` and covariance :math:`\hat V_i`;
    the M-step takes the mean of :math:`\hat x_i` and the mean of
    :math:`(\hat x_i - \mu)(\hat x_i - \mu)^T + \hat V_i` — without :math:`\hat V_i` the variances would
    shrink. Exact when entries are missing at random. It is the one-component case of `GaussianMixture`.

    Parameters
    ----------
    init : {"zero", "mean", "available", "random"}, default="zero"
        First guess: holes filled with zeros, column means or random draws; or column means and variances of
        the present values without correlations.
    max_iter : int, default=1000
        Steps at most.
    tol : float, default=1e-8
        Stop when the log-likelihood per row changes by less.
    reg_covar : float, default=0.0
        Added to the diagonal of the covariance.
    random_state : int, RandomState, Generator or None
        For ``init="random"``.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
    covariance_ : array of shape (n_features, n_features)
    trace_ : Trace
        Log-likelihood of the observed entries in every E-step.

    Examples
    --------
    >>> X = np.array([[1, 2], [2, 3], [3, 5], [4, np.nan], [6, np.nan]])
    >>> model = MissingGaussian(tol=1e-12).fit(X)
    >>> model.mean_.round(3), model.transform(X)[3:, 1].round(3)
    (array([3.2  , 5.133]), array([6.333, 9.333]))
    """

    n_components: ClassVar[int] = 1
    algorithm: ClassVar[str] = "em"
    weights_init: ClassVar[None] = None
    _reads = Reads(nan=True, scales=True, min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "init": [StrOptions({"zero", "mean", "available", "random"})],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "reg_covar": [NOT_NEGATIVE],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        *,
        init: str = "zero",
        max_iter: int = 1000,
        tol: float = 1e-8,
        reg_covar: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MissingGaussian:  # type: ignore[override]
        """Learn mean and covariance from incomplete rows.

        Parameters
        ----------
        X : array, DataFrame, Dask collection, Arrow dataset, or path of Parquet files
            The rows; NaN marks entries that were not observed. Rows without any entry are allowed.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array or column name, optional
            How many times each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        return super().fit(X, y, sample_weight)

    def _first(self, rows: Any, K: int, missing: bool, rng: np.random.Generator) -> tuple[Array, Family]:
        family = Gaussian(reg_covar=self.reg_covar)
        columns = Gaussian(covariance_type="diag").estimate(total(available_sums, rows))
        if self.init == "available":
            return np.ones(1), family.replace(means=columns.means, covariances=columns.covariance_matrices())
        center = np.zeros(rows.n_features) if self.init == "zero" else columns.means[0]
        spread = np.sqrt(columns.variance()[0]) * (self.init == "random")
        start = family.estimate(total(filled_sums, rows, center, spread, draw_seed(rng)))
        return np.ones(1), solid(start)

    def _maximize(self, state: Any, found: Any) -> tuple[Array, Family]:
        weights, family = super()._maximize(state, found)
        return weights, solid(family)

    def _named(self, family: Any) -> dict[str, Any]:
        return {"mean_": np.array(family.means[0]), "covariance_": np.array(family.covariances[0])}

    @property
    def components_(self) -> Gaussian:
        """The distribution as a stack of one."""
        return Gaussian(self.mean_, self.covariance_, reg_covar=self.reg_covar)

    def posterior(self, X: Any) -> Completion:
        """Return mean and covariance of the missing entries of every row, given the observed ones."""
        return Completion(*per_row(completed, self._rows(X), self.components_, np.zeros(1)))

    def transform(self, X: Any) -> Array:
        """Return X with every missing entry replaced by its conditional mean."""
        return self.posterior(X).mean

    def impute(self, X: Any) -> Array:
        """Return `transform(X)`, by the name that mixtures and factor models have for it."""
        return self.transform(X)

    def sample_imputations(self, X: Any, n: int = 1, random_state: Any = None) -> Array:
        """Draw n completed copies of X, shape (n, n_rows, n_features)."""
        mean, covariance = self.posterior(X)
        rng = generator(self.random_state if random_state is None else random_state)
        out = np.repeat(mean[None], n, axis=0)
        for i in np.flatnonzero(np.diagonal(covariance, axis1=1, axis2=2).any(axis=1)):
            values, vectors = np.linalg.eigh(covariance[i])
            noise = rng.standard_normal((n, len(values))) * np.sqrt(np.maximum(values, 0.0))
            out[:, i] += noise @ vectors.T
        return out
