"""Hidden Markov models with Gaussian emissions, under hmmlearn's names."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.distributions import Gaussian
from gnomon.sequence import starts
from gnomon.sequence.gaussian_moments import (
    GaussianPrior,
    floors,
    gaussian_log_prior,
    update_covariances,
    update_means,
)
from gnomon.sequence.hidden import SHARED, HiddenMarkov

TYPES = {"diag", "full", "spherical", "tied"}
GAUSSIAN: dict[str, Any] = {
    **SHARED,
    "covariance_type": [StrOptions(TYPES)],
    "min_covar": [Interval(Real, 0, None, closed="left")],
    "means_prior": [Real, "array-like"],
    "means_weight": [Interval(Real, 0, None, closed="left"), "array-like"],
    "covars_prior": [Real, "array-like"],
    "covars_weight": [Real, "array-like"],
}


def pooled_covariance(X: Array, kind: str, K: int, min_covar: float) -> Array:
    """Covariance of all rows, in the shape of `kind`, the same for every state."""
    Z = starts.filled(X)
    C = np.atleast_2d(np.cov(Z.T, bias=True)) if len(Z) > 1 else np.zeros((X.shape[1],) * 2)
    variance = np.diag(C) + floors(np.diag(C), min_covar)
    full = C + np.diag(variance - np.diag(C))
    shapes = {"diag": (np.tile(variance, (K, 1))), "spherical": np.full(K, variance.mean()), "tied": full}
    return shapes[kind] if kind in shapes else np.tile(full, (K, 1, 1))


class GaussianHMM(HiddenMarkov):
    r"""Hidden Markov model with Gaussian emissions.

    .. math:: p(x_t \mid s_t = k) = N(x_t;\, \mu_k, \Sigma_k)

    For real-valued measurements of a process that moves between regimes. Signature, defaults and attributes
    are hmmlearn's. The variance update ``(covars_prior + Σγ(x−μ)²) / (max(covars_weight − 1, 0) + Σγ)`` has
    hmmlearn's small prior switched on; set ``covars_prior=0`` for plain maximum likelihood. `trace_` holds
    the penalized log-likelihood, which never falls. Missing entries (NaN) are integrated out.

    Parameters
    ----------
    n_components : int
        Number of hidden states.
    covariance_type : {"diag", "full", "spherical", "tied"}
    min_covar : float
        Smallest variance, relative to the column's where that is below 1.
    startprob_prior, transmat_prior : float or array
        Dirichlet concentrations.
    means_prior, means_weight, covars_prior, covars_weight : float or array
        Priors of means and covariances.
    algorithm, random_state, n_iter, tol, verbose, params, init_params, implementation
        As in `HMM`; the letters are s, t, m(eans), c(ovariances).
    start, end, n_init, method, transmat_mask
        As in `HMM`.

    Attributes
    ----------
    means_ : (K, d) array
    covars_ : (K, d, d) array
        Full matrices whatever the type; set them in the type's own shape.
    startprob_, transmat_, endprob_, monitor_, trace_, n_parameters_

    Examples
    --------
    >>> X = np.array([0, 1, 0, 9, 10, 11, 9, 1, 0, 0.5]).reshape(-1, 1)
    >>> model = GaussianHMM(2, random_state=0, n_iter=50).fit(X)
    >>> np.sort(model.means_.ravel()).round(2), model.predict(X)[:5] != model.predict(X)[0]
    (array([0.42, 9.75]), array([False, False, False,  True,  True]))
    """

    _letters: ClassVar[str] = "mc"
    _parameter_constraints: ClassVar[dict[str, Any]] = GAUSSIAN

    def __init__(
        self,
        n_components: int = 1,
        covariance_type: str = "diag",
        min_covar: float = 1e-3,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        means_prior: Any = 0,
        means_weight: Any = 0,
        covars_prior: Any = 1e-2,
        covars_weight: Any = 1,
        algorithm: str = "viterbi",
        random_state: Any = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stmc",
        init_params: str = "stmc",
        implementation: str = "log",
        *,
        start: str = "free",
        end: bool = False,
        n_init: int = 1,
        method: str = "em",
        transmat_mask: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.min_covar = min_covar
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation
        self.start = start
        self.end = end
        self.n_init = n_init
        self.method = method
        self.transmat_mask = transmat_mask

    @property
    def covars_(self) -> Array:
        """Covariances as full matrices, (K, d, d)."""
        return np.array(self._emission().covariance_matrices())

    @covars_.setter
    def covars_(self, covars: Any) -> None:
        self._covars_ = np.array(covars, dtype=np.float64)

    def _own_shape(self, covars: Array, d: int) -> Array:
        """Covariances in the type's own shape; full matrices are accepted for every type."""
        K, kind = self.n_components, self.covariance_type
        shape = {"diag": (K, d), "full": (K, d, d), "tied": (d, d), "spherical": (K,)}[kind]
        if covars.shape == shape:
            return covars
        if covars.shape == (K, d, d):
            diagonal = np.diagonal(covars, axis1=1, axis2=2)
            return {"diag": diagonal, "tied": covars[0], "spherical": diagonal.mean(axis=1)}[kind]
        if kind == "spherical" and covars.size == K:
            return covars.reshape(K)
        if kind == "spherical" and covars.shape == (K, d):
            return covars.mean(axis=1)
        raise DataError(f"covars_ of type {kind!r} must have shape {shape}; got {covars.shape}.")

    def _emission(self) -> Gaussian:
        for name, stored in (("means_", "means_"), ("covars_", "_covars_")):
            if not hasattr(self, stored):
                raise DataError(f"set {name}, or call fit.")
        means = np.atleast_2d(np.asarray(self.means_, dtype=np.float64))
        covars = self._own_shape(self._covars_, means.shape[1])
        return Gaussian(means, covars, covariance_type=self.covariance_type)

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Gaussian:
        K = self.n_components
        if self._is_fresh("m", "means_"):
            means, _ = starts.spread_centers(X, K, rng)
        else:
            means = self._given("means_", (K, X.shape[1]))
        if self._is_fresh("c", "_covars_"):
            covars = pooled_covariance(X, self.covariance_type, K, self.min_covar)
        else:
            covars = self._own_shape(self._covars_, X.shape[1])
        return Gaussian(means, covars, covariance_type=self.covariance_type)

    def _prior(self, d: int) -> GaussianPrior:
        less = 1.0 if self.covariance_type in ("diag", "spherical") else float(d)
        mass = np.maximum(np.asarray(self.covars_weight, dtype=float) - less, 0.0)
        return GaussianPrior(
            np.asarray(self.means_prior, dtype=float), self.means_weight, self.covars_prior, mass
        )

    def _maximize_emission(self, emission: Gaussian, statistics: Any) -> Gaussian:
        prior = self._prior(emission.n_features)
        means, covars = emission.means, emission.covariances
        if "m" in self.params:
            means = update_means(means, statistics, prior)
        if "c" in self.params:
            covars = update_covariances(
                covars, self.covariance_type, means, statistics, prior, self.min_covar
            )
        return emission.replace(means=means, covariances=covars)

    def _emission_log_prior(self, emission: Gaussian) -> float:
        return gaussian_log_prior(emission, self._prior(emission.n_features))

    def _emission_attributes(self, emission: Gaussian) -> dict[str, Any]:
        return {"means_": np.array(emission.means), "_covars_": np.array(emission.covariances)}
