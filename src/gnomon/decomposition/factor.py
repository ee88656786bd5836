"""Factor analysis: few hidden causes, and noise of its own size in every column."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg, optimize, stats
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Report
from gnomon.core.sums import total
from gnomon.core.trace import Recorder
from gnomon.core.validate import COUNT, NOT_NEGATIVE, check_fitted, numbers, warn
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
from gnomon.decomposition._scatter import Scatter
from gnomon.decomposition.ppca import filled_scatter
from gnomon.decomposition.rotations import rotate_components
from gnomon.distributions.factors import NO_VARIANCE, best_loadings, factor_step, noise_floor
from gnomon.distributions.geometry import LOG_2PI


class FactorTest(NamedTuple):
    """Likelihood-ratio test of the factor model against any covariance."""

    statistic: float
    dof: float
    pvalue: float


def profile_optimum(S: Array, K: int, psi: Array, floor: Array, steps: int) -> tuple[Array, int]:
    """The ψ that maximizes the likelihood with the best loadings put in, by L-BFGS in ln ψ."""

    def value(logs: Array) -> tuple[float, Array]:
        here = np.exp(logs)
        A, theta = best_loadings(S, K, here)
        kept = theta[theta > 1.0]
        cost = logs.sum() + (S.diagonal() / here).sum() + (np.log(kept) - kept + 1.0).sum()
        slope = ((A * A).sum(axis=1) + here - S.diagonal()) / here
        return 0.5 * float(cost), 0.5 * slope

    top = np.log(np.maximum(S.diagonal(), floor) * 2.0)
    found = optimize.minimize(
        value,
        np.log(psi),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(np.log(floor), np.maximum(top, np.log(floor) + 1e-9), strict=True)),
        options={"maxiter": steps, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 20},
    )
    return np.exp(found.x), int(found.nit)


class FactorAnalysis(LatentLinear):
    r"""Factor analysis by maximum likelihood.

    .. math:: z \sim N(0, I_K), \quad x = \mu + A z + \varepsilon, \quad \varepsilon \sim N(0, \Psi),
        \; \Psi \text{ diagonal}

    Columns may have noise of their own size, so rescaling a column rescales its loadings and changes nothing else;
    `ProbabilisticPCA` is the case Ψ = σ²I. All iterations run on the p × p covariance, whatever the number of rows;
    with missing entries EM runs on the rows, exactly where entries are missing at random.

    Parameters
    ----------
    n_components : int, optional
        K; as many as columns when not given. With 0 the columns are independent.
    tol : float, default=1e-2
        Stop when the log-likelihood of all rows rises by less (scikit-learn's unit).
    copy : bool, default=True
        Kept for scikit-learn; X is never written to.
    max_iter : int, default=1000
        Steps at most.
    noise_variance_init : array of shape (p,), optional
        Where ψ starts; half of every column's variance when not given.
    svd_method : {"lapack", "randomized"}
        Kept for scikit-learn; the eigenproblem is always exact.
    iterated_power : int, default=3
        Kept for scikit-learn.
    rotation : {"varimax", "quartimax", "promax"}, optional
        Of the loadings after the fit. Promax is oblique: `factor_correlation_` then differs from I.
    random_state : int, RandomState, Generator or None, default=0
        For `sample`.
    method : {"ecm", "em", "lbfgs"}, default="ecm"
        "ecm": best loadings for ψ by an eigenproblem, then ψ; the same optimum as EM in far fewer steps. "lbfgs"
        works on the profile likelihood, for slow cases. EM is taken where entries are missing or a prior is given.
    loadings_precision : float, default=0.0
        τ of the prior A ~ N(0, 1/τ).
    min_noise_variance : float, default=1e-6
        ψ is at least this share of a column's variance; a column at this floor is a Heywood case.

    Attributes
    ----------
    components_ : array of shape (K, p)
        Loadings Aᵀ.
    noise_variance_ : array of shape (p,)
        The diagonal of Ψ.
    mean_ : array of shape (p,)
    loglike_ : list of float
        Log-likelihood before every step and, without a prior, of the result.
    log_likelihood_, weight_ : float
        Of the training rows under the result, and their number.
    communalities_, uniqueness_ : arrays of shape (p,)
        Share of every column's variance that the factors explain, and the rest.
    heywood_ : array of int
        Columns at the floor.
    factor_correlation_ : array of shape (K, K)
    n_parameters_ : int

    Examples
    --------
    >>> C = [[1, 0.56, 0.48], [0.56, 1, 0.42], [0.48, 0.42, 1]]
    >>> model = FactorAnalysis(1, tol=1e-12).fit_moments(C, n_samples=100)
    >>> model.components_.round(4), model.noise_variance_.round(4)
    (array([[0.8, 0.7, 0.6]]), array([0.36, 0.51, 0.64]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 0, None, closed="left"), None],
        "tol": [NOT_NEGATIVE],
        "copy": ["boolean"],
        "max_iter": [COUNT],
        "noise_variance_init": ["array-like", None],
        "svd_method": [StrOptions({"randomized", "lapack"})],
        "iterated_power": [Interval(Integral, 0, None, closed="left")],
        "rotation": [StrOptions({"varimax", "quartimax", "promax"}), None],
        "random_state": ["random_state"],
        "method": [StrOptions({"ecm", "em", "lbfgs"})],
        "loadings_precision": [NOT_NEGATIVE],
        "min_noise_variance": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-2,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Any = 0,
        method: str = "ecm",
        loadings_precision: float = 0.0,
        min_noise_variance: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state
        self.method = method
        self.loadings_precision = loadings_precision
        self.min_noise_variance = min_noise_variance

    # the hooks

    def _start(self, work: Work, rng: Any) -> LatentState:
        p = len(work.means)
        K = self._rank(p)
        sums = work.sums if work.sums is not None else total(filled_scatter, work.rows, work.means)
        S = sums.scatter / sums.weight
        psi = np.maximum(0.5 * S.diagonal(), self._floor(work))
        if self.noise_variance_init is not None:
            psi = self._given_noise(p)
        mean = sums.mean if work.sums is not None else work.means
        W, values = best_loadings(S, K, psi)
        flat = values < 1.01  # EM cannot leave a factor of zeros
        if flat.any() and self._by_em(work):
            root = np.sqrt(psi)
            axes = fix_signs(linalg.eigh(S / root[:, None] / root)[1][:, ::-1][:, :K])
            W = np.where(flat, 0.1 * root[:, None] * axes, W)
        whole = saturated_log_likelihood(S, work.weight) if work.sums is not None else float("nan")
        return LatentState(mean, np.ascontiguousarray(W), psi, -np.inf, 0.0, work.weight, whole)

    def _step(self, work: Work, state: LatentState) -> tuple[LatentState, Report]:
        floor, n = self._floor(work), work.weight
        if self._by_em(work):
            return self._em_step(work, state, floor)
        S, K = work.covariance, state.W.shape[1]
        if self.method == "lbfgs":
            psi, _ = profile_optimum(S, K, state.psi, floor, self.max_iter)
            W, _, value = factor_step(S, K, psi, floor)
            return state._replace(W=W, psi=psi), Report(n * value, done=True)
        W, psi, value = factor_step(S, K, state.psi, floor)
        return state._replace(W=W, psi=psi), Report(n * value)

    def _em_step(self, work: Work, state: LatentState, floor: Array) -> tuple[LatentState, Report]:
        tau = self.loadings_precision
        penalty = 0.5 * tau * float((state.W**2).sum())
        if work.sums is not None:
            mean = work.sums.mean
            W, psi, value, slope = em_on_covariance(
                work.covariance, work.weight, state.W, state.psi, tau, False
            )
        else:
            found = total(latent_sums, work.rows, state.mean, state.W, state.psi)
            value = float(found.log_likelihood)
            mean, W, psi, slope = em_on_rows(found, state.mean, state.W, state.psi, tau, False)
        psi = np.maximum(psi, floor)
        fresh = LatentState(mean, np.ascontiguousarray(W), psi, value, slope, work.weight, state.saturated)
        return fresh, Report(value - penalty, certificate=slope)

    def _finish(self, work: Work, state: LatentState) -> LatentState:
        if not self._by_em(work):  # loadings that belong to the last ψ
            state = state._replace(W=best_loadings(work.covariance, state.W.shape[1], state.psi)[0])
        state = state._replace(W=canonical(state.W, state.psi))
        heywood = np.flatnonzero(state.psi <= self._floor(work) * (1 + 1e-9))
        real = [int(j) for j in heywood if work.variances[j] > NO_VARIANCE * work.variances.mean()]
        if real and self.n_components is not None:
            warn(
                f"columns {real} of X have no noise of their own (Heywood cases): their variance was raised to "
                f"min_noise_variance={self.min_noise_variance:g} of the whole. Lower n_components.",
                ConvergenceWarning,
            )
        return state._replace(log_likelihood=log_likelihood(work, state))

    def _attributes(self, state: LatentState) -> dict[str, Any]:
        p, K = state.W.shape
        components, correlation = np.ascontiguousarray(fix_signs(state.W).T), np.eye(K)
        if self.rotation is not None and K > 0:
            components, correlation = rotated(components, self.rotation)
        shared = (state.W**2).sum(axis=1)
        floor = 1.0 + 1e-9
        return {
            "components_": components,
            "factor_correlation_": correlation,
            "mean_": state.mean,
            "noise_variance_": state.psi,
            "communalities_": shared / (shared + state.psi),
            "uniqueness_": state.psi / (shared + state.psi),
            "heywood_": np.flatnonzero(state.psi <= floor * self.min_noise_variance * (shared + state.psi)),
            "log_likelihood_": float(state.log_likelihood),
            "saturated_": float(state.saturated),
            "weight_": float(state.weight),
            "n_parameters_": int(2 * p + p * K - K * (K - 1) // 2),
        }

    def _learned(self, run: Any) -> dict[str, Any]:
        learned = super()._learned(run)
        return {**learned, "loglike_": self._told(run.trace, learned["log_likelihood_"])}

    def _told(self, trace: Any, last: float) -> list[float]:
        """The likelihood before every step, and that of the result."""
        before = [float(value) for value in trace.objective]
        return [*before, last] if self.loadings_precision == 0 and np.isfinite(last) else before

    def fit_moments(self, covariance: Any, n_samples: float, mean: Any = None) -> Self:
        """Fit to a covariance matrix (divisor n) instead of rows, as printed in an article.

        Parameters
        ----------
        covariance : array of shape (p, p)
            Or a correlation matrix.
        n_samples : float
            Rows behind it.
        mean : array of shape (p,), optional
            Zero when not given.
        """
        check_parameters(self)
        S = np.asarray(covariance, dtype=np.float64)
        if S.ndim != 2 or S.shape[0] != S.shape[1] or not np.allclose(S, S.T, rtol=1e-8):
            raise DataError(f"covariance must be a symmetric matrix; its shape is {S.shape}.")
        if not np.isfinite(S).all() or np.linalg.eigvalsh(S)[0] < -1e-8 * np.abs(S).max():
            raise DataError("covariance must be finite and positive semi-definite.")
        if not n_samples > 0:
            raise DataError(f"n_samples must be positive; got {n_samples}.")
        center = np.zeros(len(S)) if mean is None else np.asarray(mean, dtype=np.float64)
        sums = Scatter(n_samples, float(n_samples), center, (S + S.T) / 2.0 * n_samples)
        work = Work(None, sums, float(n_samples), center, S.diagonal().copy())
        recorder, state, converged = Recorder(), self._start(work, None), False
        for moment in self._steps(work, state, recorder):
            state, converged = moment.state, moment.converged
        trace = recorder.trace()
        facts = {"trace_": trace, "n_iter_": max(1, len(trace)), "converged_": converged}
        learned = self._attributes(self._finish(work, state))
        values = self._told(trace, learned["log_likelihood_"])
        self._adopt({**facts, **learned, "loglike_": values, "n_features_in_": len(S)})
        return self

    # how

    def _by_em(self, work: Work) -> bool:
        return work.sums is None or self.loadings_precision > 0 or self.method == "em"

    def _floor(self, work: Work) -> Array:
        return noise_floor(np.diag(work.variances), self.min_noise_variance)

    def _rank(self, p: int) -> int:
        K = p if self.n_components is None else int(self.n_components)
        if not 0 <= K <= p:
            raise DataError(f"n_components must lie between 0 and the number of features, {p}; got {K}.")
        if self.n_components is not None and p > 2 and (p - K) ** 2 < p + K:
            most = max(k for k in range(p) if (p - k) ** 2 >= p + k)
            warn(
                f"n_components={K} factors of {p} columns are not identified: a covariance of this size supports "
                f"at most {most}. The covariance is still right; the loadings are one choice of many."
            )
        return K

    def _given_noise(self, p: int) -> Array:
        psi = numbers(self.noise_variance_init, name="noise_variance_init")
        if psi.shape != (p,) or not (psi > 0).all():
            raise DataError(
                f"noise_variance_init dimension does not match n_features: it must hold {p} positive numbers; "
                f"its shape is {psi.shape}."
            )
        return psi.copy()

    def _mixing(self) -> Array | None:
        if self.rotation != "promax":
            return None
        return np.linalg.cholesky(self.factor_correlation_)

    # what a fitted model tells

    def test(self) -> FactorTest:
        """Test the model against an unrestricted covariance; a small p-value asks for more factors.

        The statistic is −2 ln of the ratio of likelihoods with Bartlett's correction, χ² with ((p−K)² − p − K)/2
        degrees of freedom.
        """
        check_fitted(self)
        p, K = len(self.mean_), len(self.components_)
        if not np.isfinite(self.saturated_):
            raise DataError("test() needs complete training rows, and more of them than columns of X.")
        dof = ((p - K) ** 2 - p - K) / 2
        n = self.weight_
        ratio = max(2.0 * (self.saturated_ - self.log_likelihood_) / n, 0.0)
        statistic = ratio * (n - 1.0 - (2 * p + 5) / 6.0 - 2.0 * K / 3.0)
        return FactorTest(statistic, dof, float(stats.chi2.sf(statistic, dof)) if dof > 0 else float("nan"))

    def loadings(self) -> Any:
        """Return the loadings as a pandas table, columns ordered by the factor they load on most, largest first."""
        pd = import_pandas()
        check_fitted(self)
        A = self.components_.T
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(A))])
        top = np.abs(A).argmax(axis=1)
        order = np.lexsort([-np.abs(A).max(axis=1), top])
        table = pd.DataFrame(A, index=list(names), columns=[f"factor {k}" for k in range(A.shape[1])])
        table["communality"] = self.communalities_
        return table.iloc[order]


def rotated(components: Array, method: str) -> tuple[Array, Array]:
    """Rotated loadings with positive largest entries, and the correlation of the factors."""
    turned = rotate_components(components, method)
    place = np.abs(turned).argmax(axis=1)
    signs = np.where(turned[np.arange(len(turned)), place] < 0, -1.0, 1.0)
    turned = turned * signs[:, None]
    if method != "promax":
        return turned, np.eye(len(turned))
    T = linalg.lstsq(components.T, turned.T)[0]  # turned.T = components.T @ T
    inverse = linalg.inv(T)
    return turned, inverse @ inverse.T


def saturated_log_likelihood(S: Array, n: float) -> float:
    """The log-likelihood of an unrestricted Gaussian with this covariance."""
    sign, logs = np.linalg.slogdet(S)
    return float(-0.5 * n * (len(S) * (LOG_2PI + 1.0) + logs)) if sign > 0 else float("inf")
