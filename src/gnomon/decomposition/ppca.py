"""Probabilistic PCA: principal components as a Gaussian model, with missing entries and uncertainty."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import fix_signs
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Report
from gnomon.core.sums import Chunk, total
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE, warn
from gnomon.decomposition._latent import (
    LatentLinear,
    LatentState,
    Work,
    canonical,
    em_on_covariance,
    em_on_rows,
    latent_sums,
    log_likelihood,
)
from gnomon.decomposition._scatter import Scatter, scatter_sums
from gnomon.decomposition._spectra import bic_rank, ppca_parameters
from gnomon.distributions.factors import principal_factors


def filled_scatter(chunk: Chunk, means: Any) -> Scatter:
    """Moments of the rows with holes filled by column means."""
    X = np.asarray(chunk.X, dtype=np.float64)
    return scatter_sums(chunk._replace(X=np.where(np.isnan(X), means, X)))


class ProbabilisticPCA(LatentLinear):
    r"""Probabilistic principal component analysis (Tipping and Bishop 1999).

    .. math:: z \sim N(0, I_K), \quad x \mid z \sim N(\mu + W z, \sigma^2 I)
        \quad\Rightarrow\quad x \sim N(\mu,\; W W^T + \sigma^2 I)

    Maximum likelihood is a closed form, W = U(Λ − σ²I)^{1/2} with the leading eigenpairs of the covariance
    (divisor n) and σ² the mean of the other eigenvalues. With missing entries EM maximizes the likelihood of what
    was observed, exactly where entries are missing at random. Unlike `PCA` it has a density, so it imputes with
    uncertainty, scores novelty, and chooses K by BIC. Use `FactorAnalysis` where columns have noise of their own
    size.

    Parameters
    ----------
    n_components : int, "bic", "aic" or None
        K < p; None takes p − 1, a criterion chooses (complete rows only).
    method : {"auto", "closed_form", "em"}
        "auto" is the closed form unless entries are missing or `loadings_precision` is positive.
    noise_variance : float, optional
        A known σ²; learned when not given.
    loadings_precision : float, default=0.0
        τ of the prior W ~ N(0, 1/τ): the objective is then ln L − (τ/2)‖W‖², and the trace shows it.
    max_iter : int, default=1000
        EM steps at most.
    tol : float, default=1e-6
        Stop when the objective changes by less than this share of it, taken in units in which the mean variance
        of the columns is 1: whether a table is in meters or millimeters changes no step.
    init : "pca" or tuple (mean, W, noise_variance)
        Where EM starts; W has shape (p, K).
    min_noise_variance : float, default=1e-12
        σ² is at least this share of the mean variance of the columns.
    random_state : int, RandomState, Generator or None
        For `sample`.

    Attributes
    ----------
    components_ : array of shape (K, p)
        Wᵀ.
    mean_ : array of shape (p,)
    noise_variance_ : float
        σ².
    log_likelihood_, weight_ : float
        Of the training rows, and their number.
    n_parameters_ : int
    gradient_norm_ : float
        ‖∂objective/∂W‖ before the last EM step; 0 for the closed form.
    trace_ : Trace
        The objective before every EM step.

    Examples
    --------
    >>> X = np.array([[1, 2, 0], [2, 1, 1], [3, 4, 1], [4, 3, 2], [5, 6, 0], [6, 5, 2.0]])
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> round(model.noise_variance_, 6), round(model.log_likelihood_, 6)
    (0.559534, -27.105576)
    >>> X[1, 1] = np.nan
    >>> ProbabilisticPCA(1, tol=1e-10).fit(X).impute(X)[1].round(4)
    array([2.   , 2.892, 1.   ])
    """

    _stop: ClassVar[str] = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"bic", "aic"}), None],
        "method": [StrOptions({"auto", "closed_form", "em"})],
        "noise_variance": [POSITIVE, None],
        "loadings_precision": [NOT_NEGATIVE],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "init": [StrOptions({"pca"}), tuple, list],
        "min_noise_variance": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        method: str = "auto",
        noise_variance: float | None = None,
        loadings_precision: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
        init: Any = "pca",
        min_noise_variance: float = 1e-12,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.noise_variance = noise_variance
        self.loadings_precision = loadings_precision
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.min_noise_variance = min_noise_variance
        self.random_state = random_state

    # the hooks

    def _prepare(self, rows: Any) -> Work:
        work = super()._prepare(rows)
        if not work.variances.mean() > 0:
            raise DegenerateError("no column of X has any variance; probabilistic PCA needs some.")
        return work

    def _start(self, work: Work, rng: Any) -> LatentState:
        p = len(work.means)
        K = self._rank(work)
        if not isinstance(self.init, str):
            return self._given(work, p, K)
        sums = work.sums if work.sums is not None else total(filled_scatter, work.rows, work.means)
        W, noise = principal_factors(sums.scatter / sums.weight, K, self.noise_variance, self._floor(work))
        mean = sums.mean if work.sums is not None else work.means
        return LatentState(mean, np.ascontiguousarray(W), np.full(p, noise), -np.inf, 0.0, work.weight)

    def _step(self, work: Work, state: LatentState) -> tuple[LatentState, Report]:
        tau = self.loadings_precision
        if self._closed(work):
            _, _, value, _ = em_on_covariance(work.covariance, work.weight, state.W, state.psi, 0.0, None)
            return state._replace(log_likelihood=value), Report(value, certificate=0.0, done=True)
        penalty = 0.5 * tau * float((state.W**2).sum())
        isotropic = None if self.noise_variance is not None else True
        if work.sums is not None:
            mean, entries = work.sums.mean, work.weight * len(state.mean)
            W, psi, value, slope = em_on_covariance(
                work.covariance, work.weight, state.W, state.psi, tau, isotropic
            )
        else:
            found = total(latent_sums, work.rows, state.mean, state.W, state.psi)
            value, entries = float(found.log_likelihood), float(found.counts.sum())
            mean, W, psi, slope = em_on_rows(found, state.mean, state.W, state.psi, tau, isotropic)
        psi = np.maximum(psi, self._floor(work)) if isotropic else psi
        objective = value - penalty
        size = abs(objective + 0.5 * entries * np.log(work.variances.mean()))
        done = abs(objective - state.log_likelihood) <= self.tol * max(1.0, size)
        fresh = LatentState(mean, np.ascontiguousarray(W), psi, objective, slope, work.weight)
        return fresh, Report(objective, certificate=slope, done=bool(done))

    def _finish(self, work: Work, state: LatentState) -> LatentState:
        if self.noise_variance is None and state.psi[0] <= self._floor(work) * (1 + 1e-9):
            warn(
                f"the noise variance reached its floor, {state.psi[0]:.3g}: the rows lie in a subspace and the "
                "likelihood is unbounded. Lower n_components, or give noise_variance.",
                ConvergenceWarning,
            )
        state = state._replace(W=canonical(state.W, state.psi))
        if not self._closed(work):  # the likelihood of what is returned, not of the step before
            state = state._replace(log_likelihood=log_likelihood(work, state))
        return state

    def _attributes(self, state: LatentState) -> dict[str, Any]:
        p, K = state.W.shape
        return {
            "components_": np.ascontiguousarray(fix_signs(state.W).T),
            "mean_": state.mean,
            "noise_variance_": float(state.psi[0]),
            "log_likelihood_": float(state.log_likelihood),
            "weight_": float(state.weight),
            "gradient_norm_": float(state.gradient),
            "n_components_": K,
            "n_parameters_": int(ppca_parameters(p, K)) - (self.noise_variance is not None),
        }

    # how

    def _closed(self, work: Work) -> bool:
        complete = work.sums is not None and self.loadings_precision == 0.0
        if self.method == "closed_form" and not complete:
            raise DataError(
                "method='closed_form' needs complete rows of X and loadings_precision=0; use method='em'."
            )
        return complete and self.method != "em"

    def _floor(self, work: Work) -> float:
        return max(self.min_noise_variance * float(work.variances.mean()), 1e-300)

    def _rank(self, work: Work) -> int:
        p = len(work.means)
        if self.n_components is None:
            return max(1, p - 1)
        if isinstance(self.n_components, str):
            if work.sums is None:
                raise DataError(
                    f"n_components={self.n_components!r} needs complete rows of X; give a number, and compare "
                    "bic() of several fits."
                )
            values = np.maximum(np.linalg.eigvalsh(work.covariance)[::-1], 0.0)
            return bic_rank(values, work.weight, criterion=self.n_components)
        if self.n_components >= max(p, 2):
            raise DataError(
                f"n_components={self.n_components} must be below the number of features, {p}: with as many "
                "components as columns nothing is left for the noise."
            )
        return int(self.n_components)

    def _given(self, work: Work, p: int, K: int) -> LatentState:
        try:
            mean, W, noise = (np.array(part, dtype=np.float64) for part in self.init)
        except (TypeError, ValueError) as error:
            raise DataError("init must be 'pca' or a tuple (mean, W, noise_variance).") from error
        if mean.shape != (p,) or W.shape != (p, K) or noise.size != 1 or not noise > 0:
            raise DataError(
                f"init must hold a mean of shape ({p},), W of shape ({p}, {K}) and a positive noise variance."
            )
        noise = noise if self.noise_variance is None else self.noise_variance
        return LatentState(mean, np.ascontiguousarray(W), np.full(p, float(noise)), -np.inf, 0.0, work.weight)
