"""Variational Gaussian mixtures: distributions over the parameters instead of point estimates."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.steps import Report
from gnomon.core.sums import total
from gnomon.core.validate import POSITIVE
from gnomon.distributions.base import Expectation
from gnomon.distributions.normal import Gaussian
from gnomon.mixture import starts
from gnomon.mixture.beliefs import (
    Belief,
    expected_log_weights,
    log_precision_offset,
    normal_divergence,
    stick_means,
    weight_divergence,
)
from gnomon.mixture.gaussian import GaussianMixture, overall_sums
from gnomon.mixture.passes import expectation


class VariationalState(NamedTuple):
    """The posterior belief and what the last E-step said."""

    weights: Array
    family: Gaussian
    log_likelihood: float
    mass: float
    belief: Belief
    prior: Belief


class BayesianGaussianMixture(GaussianMixture):
    r"""Gaussian mixture with distributions over its parameters, fitted by variational inference.

    .. math:: \ln p(X) \ge \sum_i \ln \sum_k e^{E[\ln \pi_k] + E[\ln N(x_i; \mu_k, \Lambda_k)]}
              - KL(q(\pi) \Vert p) - \sum_k KL(q(\mu_k, \Lambda_k) \Vert p)

    Surplus components get weights near zero, so `n_components` is only an upper limit; the prior keeps
    components from collapsing. The bound never falls for full covariances.

    Parameters
    ----------
    n_components : int, default=1
        Largest number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}
    tol : float, default=1e-3
        Stop when the bound per row changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonal of the observed covariances.
    max_iter, n_init : int
        Steps at most; number of starts.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The first assignment.
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}
        Stick breaking, or one Dirichlet distribution.
    weight_concentration_prior : float, optional
        γ; by default 1/K. Small values use few components.
    mean_precision_prior : float, optional
        κ₀, by default 1.
    mean_prior : array of shape (n_features,), optional
        m₀, by default the mean of X.
    degrees_of_freedom_prior : float, optional
        ν₀, by default the number of columns.
    covariance_prior : float or array, optional
        S₀, by default the covariance of X.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the rows does not matter to it.
    warm_start : bool, default=False
        Whether `fit` starts from the earlier solution.
    verbose, verbose_interval : int
        Print a line after every so many steps.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : arrays
        Expected weights and means, and the covariances behind the expected precisions.
    weight_concentration_, mean_precision_, degrees_of_freedom_ : arrays
        The rest of the posterior; the same names with ``_prior_`` hold the prior.
    lower_bound_, trace_ : float, Trace
        Evidence lower bound per row, and in total after every step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) + 9])
    >>> model = BayesianGaussianMixture(n_components=5, random_state=0, max_iter=500, tol=1e-5).fit(X)
    >>> int((model.weights_ > 0.05).sum())
    2
    """

    algorithm: ClassVar[str] = "em"
    weights_init: ClassVar[None] = None
    means_init: ClassVar[None] = None
    precisions_init: ClassVar[None] = None
    weight_concentration: ClassVar[None] = None
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: GaussianMixture._parameter_constraints[name]
            for name in (
                "n_components",
                "tol",
                "reg_covar",
                "max_iter",
                "n_init",
                "random_state",
                "warm_start",
                "verbose",
                "verbose_interval",
            )
        },
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
        "weight_concentration_prior_type": [StrOptions({"dirichlet_process", "dirichlet_distribution"})],
        "weight_concentration_prior": [POSITIVE, None],
        "mean_precision_prior": [POSITIVE, None],
        "mean_prior": ["array-like", None],
        "degrees_of_freedom_prior": [POSITIVE, None],
        "covariance_prior": ["array-like", POSITIVE, None],
    }

    def __init__(
        self,
        *,
        n_components: int = 1,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    # the three hooks

    def _start(self, rows: Any, rng: np.random.Generator) -> VariationalState:
        K = self.n_components
        if rows.n_rows < K:
            raise DataError(
                f"Expected n_samples >= n_components but got n_components = {K}, n_samples = {rows.n_rows}."
            )
        seen = total(starts.overview, rows, K)
        if np.any(seen.entries <= 0):
            raise DataError(
                f"column {rows.names()[int(np.argmin(seen.entries > 0))]!r} has no observed entry."
            )
        missing = bool(seen.missing)
        prior = self._prior_belief(rows, missing)
        family = Gaussian(covariance_type="diag" if missing else self.covariance_type)
        sums = starts.start_sums(rows, family, K, self.init_params, missing, rng)
        if missing:
            sums = sums._replace(
                statistics=_as_matrices(starts.filled(sums.statistics), self.covariance_type)
            )
        belief = self._update(sums, prior)
        return self._state_of(belief, prior, -np.inf, float(seen.rows))

    def _state_of(self, belief: Belief, prior: Belief, bound: float, mass: float) -> VariationalState:
        sticks = belief.concentration
        weights = stick_means(sticks) if sticks.ndim == 2 else sticks / sticks.sum()
        family = Gaussian(belief.location, belief.covariances, covariance_type=self.covariance_type)
        return VariationalState(weights, family, bound, mass, belief, prior)

    def _step(self, rows: Any, state: VariationalState) -> tuple[VariationalState, Report]:  # type: ignore[override]
        d = rows.n_features
        offset = log_precision_offset(state.belief, d)
        logs = expected_log_weights(state.belief.concentration)
        found = total(expectation, rows, state.family, logs, False, offset)
        bound = float(found.log_likelihood) - self._divergence(state)
        change = abs(bound - state.log_likelihood) / state.mass
        fresh = self._state_of(self._update(found, state.prior), state.prior, bound, state.mass)
        return fresh, Report(bound, done=bool(change < self.tol), change=change)

    def _divergence(self, state: VariationalState) -> float:
        S = np.asarray(state.prior.covariances)
        d = state.family.n_features
        scale = S if S.ndim == 2 else np.eye(d) * S
        weights = weight_divergence(state.belief.concentration, state.prior.concentration)
        return weights + normal_divergence(state.family, state.belief, state.prior, scale)

    # prior and posterior

    def _prior_belief(self, rows: Any, missing: bool) -> Belief:
        """The prior, with scikit-learn's defaults."""
        K, d, kind = self.n_components, rows.n_features, self.covariance_type
        gamma = 1.0 / K if self.weight_concentration_prior is None else float(self.weight_concentration_prior)
        sticks = self.weight_concentration_prior_type == "dirichlet_process"
        concentration = np.stack([np.ones(K), np.full(K, gamma)]) if sticks else np.full(K, gamma)
        kappa = 1.0 if self.mean_precision_prior is None else float(self.mean_precision_prior)
        dof = float(d) if self.degrees_of_freedom_prior is None else float(self.degrees_of_freedom_prior)
        if dof <= d - 1.0:
            raise DataError(f"degrees_of_freedom_prior must be greater than {d - 1}, but got {dof:.3f}.")
        overall = Gaussian(covariance_type="diag" if missing or kind in ("diag", "spherical") else "full")
        moments = total(overall_sums, rows, overall)
        location = (
            moments.mean[0] if self.mean_prior is None else np.asarray(self.mean_prior, dtype=np.float64)
        )
        if location.shape != (d,):
            raise DataError(f"mean_prior must have shape ({d},); got {location.shape}.")
        return Belief(
            concentration, location[None], np.array([kappa]), np.array([dof]), self._scale(moments, d)
        )

    def _scale(self, moments: Any, d: int) -> Array:
        """S₀ in the shape of the covariance type: the given one, or the covariance of X."""
        kind = self.covariance_type
        shape = {"full": (d, d), "tied": (d, d), "diag": (d,), "spherical": ()}[kind]
        if self.covariance_prior is not None:
            S = np.asarray(self.covariance_prior, dtype=np.float64)
            S = S * np.eye(d) if S.ndim == 0 and len(shape) == 2 else np.broadcast_to(S, shape)
            if S.shape != shape or np.any(
                np.linalg.eigvalsh(S if S.ndim == 2 else np.diag(np.atleast_1d(S))) <= 0
            ):
                raise DataError(f"covariance_prior must be positive definite of shape {shape}.")
            return S
        S = moments.scatter[0] / max(float(moments.weight[0, 0]) - 1.0, 1.0)
        if kind == "spherical":
            S = np.asarray(S.mean())
        elif len(shape) == 2 and S.ndim == 1:
            S = np.diag(S)
        spread = np.diagonal(S) if S.ndim == 2 else S
        floor = np.finfo(np.float64).eps * max(1.0, float(np.max(spread)))
        flat = np.where(spread < floor, floor, 0.0)  # a column that does not vary has no spread to believe in
        return S + (np.diag(flat) if S.ndim == 2 else flat)

    def _update(self, found: Expectation, prior: Belief) -> Belief:
        """The posterior belief from the statistics of an E-step."""
        mass, mean = found.mass + 10.0 * np.finfo(np.float64).eps, found.statistics.mean
        kappa = prior.kappa[0] + mass
        gap = mean - prior.location
        location = (prior.kappa[0] * prior.location + mass[:, None] * mean) / kappa[:, None]
        shrink = mass * prior.kappa[0] / kappa
        dof, covariances = self._spread(found, mass, gap, shrink, prior)
        return Belief(self._concentrate(mass, prior), location, kappa, dof, covariances)

    def _concentrate(self, mass: Array, prior: Belief) -> Array:
        if prior.concentration.ndim == 1:
            return prior.concentration + mass
        after = np.append(np.cumsum(mass[::-1])[-2::-1], 0.0)
        return prior.concentration + np.stack([mass, after])

    def _spread(
        self, found: Any, mass: Array, gap: Array, shrink: Array, prior: Belief
    ) -> tuple[Array, Array]:
        """Degrees of freedom and scale over them."""
        scatter, S, kind = found.statistics.scatter, prior.covariances, self.covariance_type
        K, d = gap.shape
        if kind == "tied":
            dof = np.full(K, prior.dof[0] + mass.sum() / K)
            inner = scatter + mass.sum() * self.reg_covar * np.eye(d) + (shrink[:, None] * gap).T @ gap
            return dof, (S + inner / K) / dof[0]
        dof = prior.dof[0] + mass
        if kind == "full":
            outer = shrink[:, None, None] * gap[:, :, None] * gap[:, None, :]
            inner = scatter + mass[:, None, None] * self.reg_covar * np.eye(d)
            return dof, (S + inner + outer) / dof[:, None, None]
        inner = scatter + mass[:, None] * self.reg_covar + shrink[:, None] * gap**2
        if kind == "diag":
            return dof, (S + inner) / dof[:, None]
        return dof, (S + inner.mean(axis=1)) / dof

    # attributes

    def _attributes(self, state: Any) -> dict[str, Any]:
        belief, prior = state.belief, state.prior
        sticks = belief.concentration
        return {
            **super()._attributes(state),
            "weight_concentration_": tuple(sticks) if sticks.ndim == 2 else sticks,
            "mean_precision_": belief.kappa,
            "degrees_of_freedom_": belief.dof if self.covariance_type != "tied" else float(belief.dof[0]),
            "weight_concentration_prior_": float(np.ravel(prior.concentration)[-1]),
            "mean_precision_prior_": float(prior.kappa[0]),
            "mean_prior_": prior.location[0],
            "degrees_of_freedom_prior_": float(prior.dof[0]),
            "covariance_prior_": prior.covariances,
        }

    def _belief(self) -> Belief:
        dof = np.broadcast_to(self.degrees_of_freedom_, (self.n_components,))
        return Belief(
            np.asarray(self.weight_concentration_), self.means_, self.mean_precision_, dof, self.covariances_
        )

    def _log_weights(self) -> Array:
        belief = self._belief()
        return expected_log_weights(belief.concentration) + log_precision_offset(belief, self.n_features_in_)

    def _state(self) -> Any:
        sticks = np.asarray(self.weight_concentration_).ndim == 2
        gamma = np.full(self.n_components, self.weight_concentration_prior_)
        prior = Belief(
            np.stack([np.ones_like(gamma), gamma]) if sticks else gamma,
            self.mean_prior_[None],
            np.array([self.mean_precision_prior_]),
            np.array([self.degrees_of_freedom_prior_]),
            self.covariance_prior_,
        )
        before = super()._state()
        return self._state_of(self._belief(), prior, before.log_likelihood, before.mass)

    @available_if(lambda self: False)  # the prior depends on all rows
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Not offered; use `GaussianMixture` with priors."""


def _as_matrices(moments: Any, kind: str) -> Any:
    """Diagonal moments in the shape that a covariance type expects."""
    if kind in ("diag", "spherical"):
        return moments
    from gnomon.distributions.moments import FullMoments, tie

    matrices = moments.scatter[:, :, None] * np.eye(moments.mean.shape[1])
    full = FullMoments(moments.weight[:, :1], moments.mean, matrices)
    return tie(full) if kind == "tied" else full
