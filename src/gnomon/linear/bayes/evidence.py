"""Evidence: how probable a linear model makes the data, and the precisions that make them most probable."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import Interval
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row
from gnomon.core.validate import Reads
from gnomon.linear.squares.least_squares import KeepsPrecision, LinearPrediction, check_moments
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.linear.squares.ridge import Ridge
from gnomon.linear.squares.spectrum import Spectrum, spectrum


def log_evidence(
    X: Any, y: Any, prior_precision: Any, noise_variance: Any, *, fit_intercept: bool = False
) -> Any:
    r"""Return ln p(y) of y ~ N(Xw, σ²I), w ~ N(0, I/λ), for one or many precisions λ.

    .. math:: \ln N(y \mid 0,\; \sigma^2 I + \lambda^{-1} XX^\top)

    One decomposition serves all of them, so a curve of evidence against λ costs little more than a point.
    With ``fit_intercept=True`` it is the evidence of the contrasts orthogonal to the constant.

    Parameters
    ----------
    X, y : rows and target
    prior_precision, noise_variance : float or arrays that broadcast
    fit_intercept : bool

    Examples
    --------
    >>> x = np.arange(-2.0, 4.0)
    >>> X = np.column_stack([np.ones(6), x, x**2])
    >>> log_evidence(X, [4.1, 0.9, 0.2, 1.3, 3.7, 9.4], [0.1, 1.0, 10.0], 0.1).round(4)
    array([-11.285 ,  -8.3169,  -9.6123])
    """
    sums = sum_moments(Ridge()._read(X, y))
    view = sums if fit_intercept else sums.without_centering()
    lam, s2 = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (prior_precision, noise_variance))
    )
    if (lam <= 0).any() or (s2 <= 0).any():
        raise DataError("prior_precision and noise_variance must be positive.")
    values = _evidence(spectrum(view), view, lam[..., None], s2[..., None], view.weight - fit_intercept)
    return float(values) if np.ndim(values) == 0 else values


def _evidence(path: Spectrum, view: LinearSums, lam: Any, s2: Any, count: float) -> Any:
    """Evidence from the spectrum; `lam` and `s2` carry a last axis of length one for the directions."""
    e, c2 = path.e, path.c[:, 0] ** 2 / path.e  # squares of Uᵀy
    v = s2 + e / lam
    rest = max(float(view.yy) - float(c2.sum()), 0.0)
    s2 = np.asarray(s2)[..., 0]
    inside = (np.log(v) + c2 / v).sum(axis=-1)
    return -0.5 * (count * np.log(2.0 * np.pi) + inside + (count - len(e)) * np.log(s2) + rest / s2)


class EvidenceState(NamedTuple):
    """Precisions, and what is fixed from the start: moments and spectrum."""

    alpha: float  # precision of the noise
    lam: float  # precision of the coefficients
    z: Array  # coefficients in the basis of eigenvectors
    path: Spectrum
    view: LinearSums
    scores: tuple[float, ...]


def _first_precision(alpha: float, path: Any) -> float:
    """Return 1, or what suits the units of X and y where 1 would drown the data or vanish beside them."""
    told = alpha * float(path.e.max(initial=0.0))
    return 1.0 if told == 0.0 or 1e-6 <= told <= 1e6 else told


class BayesianRidge(LinearPrediction, KeepsPrecision, RegressorMixin, Learner):
    r"""Ridge whose penalty and noise variance are the most probable ones (evidence maximization).

    .. math:: \max_{\lambda,\alpha}\; \ln N(y \mid 0,\; \alpha^{-1} I + \lambda^{-1} XX^\top)

    by MacKay's fixed point with γ = Σ αe/(λ + αe), the number of well-determined directions:
    λ = γ/‖μ‖², α = (n − γ)/RSS (hyperpriors added). One eigendecomposition, then O(d) a step, whatever the
    number of rows. A good default when nobody wants to choose a penalty. When the data show no signal the
    evidence rises as λ → ∞: then `lambda_` is infinite and the coefficients are zero.

    Parameters
    ----------
    max_iter : int, default=300
    tol : float, default=1e-3
        Stop when the coefficients move less than this in total.
    alpha_1, alpha_2, lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the gamma hyperpriors of the noise precision α and the weight precision λ; all 0
        for plain maximum of the evidence.
    alpha_init, lambda_init : float, default=None
    compute_score : bool, default=False
        Keep `scores_`, the log evidence (with hyperpriors) at the start and after every step.
    fit_intercept : bool, default=True
    copy_X, verbose : kept for scikit-learn's sake
    fixed_noise_variance : float, default=None
        Hold the noise variance at this value and find λ alone.

    Attributes
    ----------
    coef_, intercept_
    alpha_ : float
        Precision of the noise.
    lambda_ : float
        Precision of the coefficients.
    sigma_ : array of shape (d, d)
        Posterior covariance of the coefficients.
    log_evidence_ : float
        ln p(y) at the solution, without hyperpriors.
    scores_, n_iter_, trace_

    Examples
    --------
    >>> x = np.arange(-2.0, 4.0)
    >>> X = np.column_stack([np.ones(6), x, x**2])
    >>> plain = dict(alpha_1=0.0, alpha_2=0.0, lambda_1=0.0, lambda_2=0.0, fit_intercept=False, tol=1e-10)
    >>> model = BayesianRidge(fixed_noise_variance=0.1, **plain).fit(X, [4.1, 0.9, 0.2, 1.3, 3.7, 9.4])
    >>> round(model.lambda_, 6), round(model.log_evidence_, 6)
    (2.810743, -7.737301)
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _sense = "max"
    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        **dict.fromkeys(
            ("alpha_1", "alpha_2", "lambda_1", "lambda_2"), [Interval(Real, 0, None, closed="left")]
        ),
        **dict.fromkeys(
            ("alpha_init", "lambda_init", "fixed_noise_variance"),
            [None, Interval(Real, 0, None, closed="neither")],
        ),
        "compute_score": ["boolean"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1.0e-3,
        alpha_1: float = 1.0e-6,
        alpha_2: float = 1.0e-6,
        lambda_1: float = 1.0e-6,
        lambda_2: float = 1.0e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool = False,
        fixed_noise_variance: float | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose
        self.fixed_noise_variance = fixed_noise_variance

    # hooks

    def _start(self, rows: Any, rng: Any) -> EvidenceState:
        sums = sum_moments(rows)
        check_moments(sums)
        view = sums if self.fit_intercept else sums.without_centering()
        path = spectrum(view)
        alpha = 1.0 / (float(sums.yy) / sums.weight + np.finfo(float).eps)
        alpha = alpha if self.alpha_init is None else self.alpha_init
        if self.fixed_noise_variance is not None:
            alpha = 1.0 / self.fixed_noise_variance
        lam = _first_precision(alpha, path) if self.lambda_init is None else self.lambda_init
        first = _mean(path, alpha, lam)
        scores = (self._score(alpha, lam, first, path, view),) if self.compute_score else ()
        return EvidenceState(alpha, lam, first, path, view, scores)

    def _step(self, rows: Any, state: EvidenceState) -> tuple[EvidenceState, Report]:
        alpha, lam, z, path, view, scores = state
        gamma = float((alpha * path.e / (lam + alpha * path.e)).sum())
        size, rss = float(z @ z), self._rss(view, path, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            lam = float(np.divide(gamma + 2.0 * self.lambda_1, size + 2.0 * self.lambda_2))
            noise = float(np.divide(view.weight - gamma + 2.0 * self.alpha_1, rss + 2.0 * self.alpha_2))
        alpha = alpha if self.fixed_noise_variance is not None else min(noise, 1e300)
        silent = not np.isfinite(lam) or lam > 1e12 * alpha * max(float(path.e.max(initial=0.0)), 1e-300)
        lam = np.inf if silent else lam
        fresh = _mean(path, alpha, lam)
        change = float(np.abs(path.V @ (fresh - z)).sum())
        large = max(float(np.abs(path.V @ fresh).sum()), float(np.abs(path.V @ z).sum()))
        score = self._score(alpha, lam, fresh, path, view)
        state = EvidenceState(alpha, lam, fresh, path, view, (*scores, score))
        return state, Report(score, done=silent or change <= self.tol * large, change=change)

    def _attributes(self, state: EvidenceState) -> dict[str, Any]:
        alpha, lam, z, path, view, scores = state
        coef = path.V @ z
        count = view.weight - bool(self.fit_intercept)
        with np.errstate(divide="ignore", invalid="ignore"):
            evidence = float(_evidence(path, view, np.array([lam]), np.array([1.0 / alpha]), count))
        attributes = {
            "coef_": coef,
            "intercept_": float(view.mean_y - view.mean_x @ coef) if self.fit_intercept else 0.0,
            "alpha_": alpha,
            "lambda_": lam,
            "sigma_": _covariance(path, alpha, lam, view.n_features),
            "log_evidence_": evidence,
            "X_offset_": view.mean_x,
        }
        return {**attributes, "scores_": np.array(scores)} if self.compute_score else attributes

    # inside

    def _rss(self, view: LinearSums, path: Spectrum, z: Array) -> float:
        return max(float(view.yy) + float(z @ (path.e * z - 2.0 * path.c[:, 0])), 0.0)

    def _score(self, alpha: float, lam: float, z: Array, path: Spectrum, view: LinearSums) -> float:
        """Log evidence of the centered rows plus log hyperpriors: what the fixed point climbs."""
        value = float(_evidence(path, view, np.array([lam]), np.array([1.0 / alpha]), view.weight))
        prior = self.alpha_1 * np.log(alpha) - self.alpha_2 * alpha
        if np.isfinite(lam):
            prior += self.lambda_1 * np.log(lam) - self.lambda_2 * lam
        return value + float(prior)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of a new observation at each row, with its standard deviation if asked."""
        mean = super().predict(X)
        if not return_std:
            return mean
        q = per_row(variance_of, self._rows(X), self.X_offset_, self.sigma_)
        return mean, np.sqrt(q + 1.0 / self.alpha_)


def variance_of(chunk: Any, center: Array, covariance: Array) -> Array:
    """(x − center)ᵀ Σ (x − center) of each row."""
    Z = (chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X) - center
    return np.einsum("ij,ij->i", Z @ covariance, Z)


def _mean(path: Spectrum, alpha: float, lam: float) -> Array:
    """Posterior mean in the basis of eigenvectors."""
    if np.isinf(lam):
        return np.zeros(len(path.e))
    return alpha * path.c[:, 0] / (lam + alpha * path.e)


def _covariance(path: Spectrum, alpha: float, lam: float, d: int) -> Array:
    """Σ = (λI + αXᵀX)⁻¹, with 1/λ where there are no data."""
    if np.isinf(lam):
        return np.zeros((d, d))
    if len(path.e) == d:  # no direction without data: nothing cancels
        return (path.V / (lam + alpha * path.e)) @ path.V.T
    known = 1.0 / (lam + alpha * path.e) - 1.0 / lam
    return np.eye(d) / lam + (path.V * known) @ path.V.T


class EvidenceTable(NamedTuple):
    """Models, best first."""

    names: list[str]
    log_evidence: Array
    probability: Array  # under equal prior probability of the models
    models: list[Any]


def compare_evidence(
    bases: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    prior_precision: Any = "maximize",
    noise_variance: Any = "maximize",
) -> EvidenceTable:
    """Rank basis expansions by the evidence of the linear model on each.

    Too poor a basis misses the data, too rich a one spreads its bets: evidence prefers the middle (Occam's
    razor).

    Parameters
    ----------
    bases : mapping of name to transformer or function
        Each turns X into columns; include the constant among them where it is wanted.
    X, y : rows and target
    prior_precision, noise_variance : float or "maximize"

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> powers = {f"degree {p}": lambda X, p=p: X ** np.arange(p + 1) for p in range(4)}
    >>> compare_evidence(powers, x, 1 + x[:, 0] ** 2 + 0.05 * np.cos(9 * x[:, 0])).names[0]
    'degree 2'
    """
    if not bases:
        raise DataError("bases is empty; name at least one.")
    fits = [_most_probable(_expand(basis, X), y, prior_precision, noise_variance) for basis in bases.values()]
    values = np.array([evidence for evidence, _ in fits])
    order = np.argsort(-values, kind="stable")
    values = values[order]
    names = [list(bases)[k] for k in order]
    return EvidenceTable(names, values, np.exp(values - log_sum_exp(values)), [fits[k][1] for k in order])


def _expand(basis: Any, X: Any) -> Array:
    return basis.fit_transform(X) if hasattr(basis, "fit_transform") else basis(X)


def _most_probable(Z: Array, y: Any, prior_precision: Any, noise_variance: Any) -> tuple[float, Any]:
    fixed = None if noise_variance == "maximize" else float(noise_variance)
    flat = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
    options = {**flat, "fit_intercept": False, "tol": 1e-8, "max_iter": 5000, "fixed_noise_variance": fixed}
    model = BayesianRidge(**options).fit(Z, y)
    if prior_precision == "maximize":
        return model.log_evidence_, model
    variance = fixed if fixed is not None else 1.0 / model.alpha_
    return log_evidence(Z, y, float(prior_precision), variance), model
