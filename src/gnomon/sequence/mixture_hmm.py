"""Hidden Markov models whose states emit from mixtures of Gaussians, under hmmlearn's names."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import Interval
from gnomon.core.randomness import generator
from gnomon.core.sums import merge
from gnomon.distributions import Gaussian
from gnomon.distributions.moments import DiagonalMoments, FullMoments
from gnomon.sequence import starts
from gnomon.sequence.discrete_hmm import dirichlet_log_prior
from gnomon.sequence.gaussian_hmm import GAUSSIAN, pooled_covariance
from gnomon.sequence.gaussian_moments import (
    GaussianPrior,
    gaussian_log_prior,
    update_covariances,
    update_means,
)
from gnomon.sequence.hidden import HiddenMarkov, normalized_rows
from gnomon.sequence.recursions import log
from gnomon.sequence.statistics import gather_statistics


class MixtureSums(NamedTuple):
    """Expected mass of every part of every mixture, (K, M), and the moments of all parts, state by state."""

    mass: Array
    moments: Any

    def merge(self, other: MixtureSums) -> MixtureSums:
        return MixtureSums(self.mass + other.mass, merge(self.moments, other.moments))


class MixtureStack(NamedTuple):
    """A stack of K mixtures of M Gaussians each, with the family protocol; `parts` is the flat stack of
    K·M.
    """

    weights: Array  # (K, M)
    parts: Gaussian

    @property
    def n_components(self) -> int:
        return len(self.weights)

    @property
    def n_features(self) -> int:
        return self.parts.n_features

    def _joint(self, X: Array) -> Array:
        """ln w_m N_m(x), (n, K, M)."""
        return self.parts.log_density(X).reshape(-1, *self.weights.shape) + log(self.weights)

    def log_density(self, X: Array) -> Array:
        return log_sum_exp(self._joint(X))

    def statistics(self, X: Array, weights: Array) -> MixtureSums:
        joint = self._joint(X)
        top = joint.max(axis=2, keepdims=True)
        share = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
        share *= (weights / np.maximum(share.sum(axis=2), 1e-300))[:, :, None]
        moments = gather_statistics(self.parts, X, np.ascontiguousarray(share.reshape(len(X), -1)))
        return MixtureSums(share.sum(axis=0), moments)

    def sample(self, labels: Any, random_state: Any = None) -> Array:
        rng = generator(random_state)
        bars = np.cumsum(self.weights, axis=1)[labels]
        part = (rng.random((len(bars), 1)) * bars[:, -1:] >= bars).sum(axis=1)
        return self.parts.sample(np.asarray(labels) * self.weights.shape[1] + part, rng)

    def mean(self) -> Array:
        K, M = self.weights.shape
        return np.einsum("km,kmd->kd", self.weights, self.parts.mean().reshape(K, M, -1))

    def variance(self) -> Array:
        K, M = self.weights.shape
        means = self.parts.mean().reshape(K, M, -1)
        spread = self.parts.variance().reshape(K, M, -1) + (means - self.mean()[:, None]) ** 2
        return np.einsum("km,kmd->kd", self.weights, spread)

    def parameter_count(self) -> int:
        return int(self.weights.size - len(self.weights) + self.parts.parameter_count())

    def estimate(self, statistics: MixtureSums) -> MixtureStack:
        """Plain maximum likelihood, used to perturb starts."""
        weights = normalized_rows(statistics.mass, self.weights)
        return MixtureStack(weights, self.parts.estimate(statistics.moments))


class GMMHMM(HiddenMarkov):
    r"""Hidden Markov model whose states emit from mixtures of Gaussians.

    .. math:: p(x_t \mid s_t = k) = \sum_m w_{km}\, N(x_t;\, \mu_{km}, \Sigma_{km})

    For states whose measurements have several modes (sounds of one phoneme from many speakers). With one
    part per state it is `GaussianHMM` without the variance prior. Signature, defaults and attributes are
    hmmlearn's.

    Parameters
    ----------
    n_components, n_mix : int
        Number of hidden states, and of Gaussians in each.
    min_covar : float
        Smallest variance, relative to the column's where that is below 1.
    startprob_prior, transmat_prior, weights_prior : float or array
        Dirichlet concentrations.
    means_prior, means_weight : float or array
        Normal prior of the means.
    covars_prior, covars_weight : float or array, optional
        Inverse-gamma (diag, spherical: shape and scale) or inverse-Wishart (full, tied: scale and degrees)
        prior; none by default.
    covariance_type : {"diag", "full", "spherical", "tied"}
        "tied" shares one matrix among the parts of a state.
    algorithm, random_state, n_iter, tol, verbose, params, init_params, implementation
        As in `HMM`; the letters are s, t, m(eans), c(ovariances), w(eights).
    start, end, n_init, method, transmat_mask
        As in `HMM`.

    Attributes
    ----------
    weights_ : (K, M) array
    means_ : (K, M, d) array
    covars_ : array
        (K, M, d), (K, M, d, d), (K, M) or, tied, (K, d, d).
    startprob_, transmat_, endprob_, monitor_, trace_, n_parameters_

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> modes = np.concatenate([rng.choice([-4, 4], 100), rng.choice([-1, 1], 100)])
    >>> X = (modes + rng.normal(0, 0.3, 200)).reshape(-1, 1)
    >>> model = GMMHMM(2, n_mix=2, n_iter=100, n_init=5, random_state=0).fit(X)
    >>> path = model.predict(X)
    >>> [int(half.sum()) for half in np.split(path == path[0], 2)]
    [100, 0]
    """

    _letters: ClassVar[str] = "mcw"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GAUSSIAN,
        "n_mix": [Interval(Integral, 1, None, closed="left")],
        "weights_prior": [Interval(Real, 0, None, closed="left"), "array-like"],
        "covars_prior": [None, Real, "array-like"],
        "covars_weight": [None, Real, "array-like"],
    }

    def __init__(
        self,
        n_components: int = 1,
        n_mix: int = 1,
        min_covar: float = 1e-3,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        weights_prior: Any = 1.0,
        means_prior: Any = 0.0,
        means_weight: Any = 0.0,
        covars_prior: Any = None,
        covars_weight: Any = None,
        algorithm: str = "viterbi",
        covariance_type: str = "diag",
        random_state: Any = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stmcw",
        init_params: str = "stmcw",
        implementation: str = "log",
        *,
        start: str = "free",
        end: bool = False,
        n_init: int = 1,
        method: str = "em",
        transmat_mask: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_mix = n_mix
        self.min_covar = min_covar
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.weights_prior = weights_prior
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight
        self.algorithm = algorithm
        self.covariance_type = covariance_type
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

    def _flat(self, means: Array, covars: Array) -> Gaussian:
        """All parts of all states as one stack; tied matrices are repeated."""
        K, M, d = means.shape
        kind = self.covariance_type
        shape = {"diag": (K, M, d), "full": (K, M, d, d), "spherical": (K, M), "tied": (K, d, d)}[kind]
        if covars.shape != shape:
            raise DataError(f"covars_ of type {kind!r} must have shape {shape}; got {covars.shape}.")
        if kind == "tied":
            covars = np.repeat(covars, M, axis=0)
        return Gaussian(
            means.reshape(K * M, d),
            covars.reshape(K * M, *covars.shape[2:]) if kind != "tied" else covars,
            covariance_type="full" if kind == "tied" else kind,
        )

    def _emission(self) -> MixtureStack:
        for name in ("weights_", "means_", "covars_"):
            if not hasattr(self, name):
                raise DataError(f"set {name}, or call fit.")
        weights, means, covars = (
            np.asarray(a, dtype=np.float64) for a in (self.weights_, self.means_, self.covars_)
        )
        if means.ndim != 3:
            raise DataError(f"means_ must have shape (n_components, n_mix, columns); got {means.shape}.")
        return MixtureStack(weights, self._flat(means, covars))

    def _start_emission(self, X: Array, rng: np.random.Generator) -> MixtureStack:
        K, M, kind = self.n_components, self.n_mix, self.covariance_type
        fresh = self._is_fresh("w", "weights_")
        weights = np.full((K, M), 1.0 / M) if fresh else self._given("weights_", (K, M))
        if self._is_fresh("m", "means_"):
            means = self._spread_means(X, rng)
        else:
            means = self._given("means_", (K, M, X.shape[1]))
        if self._is_fresh("c", "covars_"):
            count = K if kind == "tied" else K * M
            covars = pooled_covariance(X, "full" if kind == "tied" else kind, count, self.min_covar)
            covars = covars if kind == "tied" else covars.reshape(K, M, *covars.shape[1:])
        else:
            covars = np.asarray(self.covars_, dtype=np.float64)
        return MixtureStack(weights, self._flat(means, covars))

    def _spread_means(self, X: Array, rng: np.random.Generator) -> Array:
        """Centers of the states, then centers within the rows of each."""
        K, M = self.n_components, self.n_mix
        Z = starts.filled(X)
        centers, labels = starts.spread_centers(Z, K, rng)
        means = np.empty((K, M, X.shape[1]))
        for k in range(K):
            own = Z[labels == k]
            means[k] = starts.spread_centers(own, M, rng)[0] if len(own) else centers[k]
        return means

    def _prior(self, d: int) -> GaussianPrior:
        diagonal = self.covariance_type in ("diag", "spherical")
        shape, scale = self.covars_prior, self.covars_weight
        if diagonal:
            added = 2.0 * (0.0 if scale is None else np.asarray(scale, dtype=float))
            mass = 1.0 + 2.0 * ((-1.5 if shape is None else np.asarray(shape, dtype=float)) + 1.0)
        else:
            added = 0.0 if shape is None else np.asarray(shape, dtype=float)
            mass = (-(2.0 + d) if scale is None else np.asarray(scale, dtype=float)) + d + 2.0
        return GaussianPrior(np.asarray(self.means_prior, dtype=float), self.means_weight, added, mass)

    def _maximize_emission(self, emission: MixtureStack, statistics: MixtureSums) -> MixtureStack:
        weights, parts = emission.weights, emission.parts
        K, M = weights.shape
        if "w" in self.params:
            extra = np.asarray(self.weights_prior, dtype=float) - 1.0
            weights = normalized_rows(np.maximum(statistics.mass + extra, 0.0), weights)
        moments = self._by_part(statistics.moments)
        prior = self._prior(parts.n_features)
        means, covars = parts.means, parts.covariances
        if "m" in self.params:
            means = update_means(means, moments, prior)
        if "c" in self.params:
            covars = update_covariances(covars, parts.covariance_type, means, moments, prior, self.min_covar)
            if self.covariance_type == "tied":
                covars = self._tie(covars, moments.weight[:, 0], K, M)
        return MixtureStack(weights, parts.replace(means=means, covariances=covars))

    @staticmethod
    def _by_part(moments: Any) -> Any:
        if isinstance(moments, DiagonalMoments | FullMoments):
            return moments
        raise DataError("mixtures need moments of every part.")

    @staticmethod
    def _tie(covars: Array, mass: Array, K: int, M: int) -> Array:
        """Average the matrices of a state's parts by their mass."""
        share = mass.reshape(K, M) / np.maximum(mass.reshape(K, M).sum(axis=1, keepdims=True), 1e-300)
        tied = np.einsum("km,kmab->kab", share, covars.reshape(K, M, *covars.shape[1:]))
        return np.repeat(tied, M, axis=0)

    def _emission_log_prior(self, emission: MixtureStack) -> float:
        value = dirichlet_log_prior(self.weights_prior, emission.weights)
        return value + gaussian_log_prior(emission.parts, self._prior(emission.n_features))

    def _emission_attributes(self, emission: MixtureStack) -> dict[str, Any]:
        K, M = emission.weights.shape
        covars = np.array(emission.parts.covariances)
        covars = covars[::M] if self.covariance_type == "tied" else covars.reshape(K, M, *covars.shape[1:])
        means = np.array(emission.parts.means).reshape(K, M, -1)
        return {"weights_": np.array(emission.weights), "means_": means, "covars_": covars}
