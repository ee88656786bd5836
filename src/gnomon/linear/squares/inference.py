"""What a least-squares fit says about its own uncertainty: standard errors, intervals, likelihood."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, stats
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.sums import per_row
from gnomon.linear.squares.moments import LinearSums
from gnomon.linear.squares.normal import column_scale

ASSUMES = (
    "Assumes: the mean is linear in the features; errors are independent of each other and of the "
    "features, with one variance; p values and intervals also that they are Gaussian."
)


class Goodness(NamedTuple):
    """How well a least-squares line fits: against the mean, or against zero where it has no intercept."""

    r2: float
    adjusted_r2: float
    f: float  # that all slopes are zero
    f_p: float
    log_likelihood: float
    aic: float  # the noise variance counts as a parameter
    bic: float

    def __str__(self) -> str:
        return (
            f"R² {self.r2:.4f} (adjusted {self.adjusted_r2:.4f}), F {self.f:.4g} (p {self.f_p:.4g}), "
            f"log-likelihood {self.log_likelihood:.6g}, AIC {self.aic:.6g}, BIC {self.bic:.6g}"
        )


def goodness(n: float, slopes: int, intercept: bool, rss: float, tss: float) -> Goodness:
    """Return R², F, the likelihood and its criteria from sums of squares; weights count as repeated rows."""
    freedom, parameters = n - slopes - intercept, slopes + intercept + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        left, rss, tss = np.float64(1.0) * freedom, np.float64(rss), np.float64(tss)
        r2 = 1.0 - rss / tss
        f = ((tss - rss) / slopes) / (rss / left) if slopes else np.float64(np.nan)
        likelihood = -0.5 * n * (np.log(2.0 * np.pi * rss / n) + 1.0)
        adjusted = 1.0 - (1.0 - r2) * (n - intercept) / left
    return Goodness(
        float(r2), float(adjusted), float(f), float(stats.f.sf(f, slopes, freedom)), float(likelihood),
        float(2.0 * parameters - 2.0 * likelihood), float(np.log(n) * parameters - 2.0 * likelihood),
    )  # fmt: skip


class Summary(NamedTuple):
    """Estimate, standard error, t statistic, p value and interval of every coefficient."""

    names: list[str]
    estimate: Array
    standard_error: Array
    t: Array
    p: Array
    lower: Array
    upper: Array
    level: float
    degrees_of_freedom: float
    noise_variance: float
    fit: Goodness

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, one row per coefficient."""
        pd = import_pandas()
        columns = ["estimate", "standard_error", "t", "p", "lower", "upper"]
        return pd.DataFrame({name: getattr(self, name) for name in columns}, index=self.names)

    def __str__(self) -> str:
        head = f"{'':>16} {'estimate':>12} {'std. error':>12} {'t':>9} {'p':>8}   {self.level:.0%} interval"
        lines = [
            f"{name[:16]:>16} {e:12.5g} {s:12.5g} {t:9.3f} {p:8.4f}   [{lo:.5g}, {hi:.5g}]"
            for name, e, s, t, p, lo, hi in zip(*self[:7], strict=True)
        ]
        return "\n".join([head, *lines, str(self.fit), ASSUMES])


def unscaled_covariance(sums: LinearSums, *, intercept: bool) -> Array:
    """Return (XᵀX)⁺ of the design with its ones column first; NaN where the data decide nothing."""
    view = sums if intercept else sums.without_centering()
    scale = column_scale(view)
    values, V = linalg.eigh(view.xx * np.outer(scale, scale))
    kept = values > 1e-13 * max(float(values[-1]), 0.0)
    V = V * scale[:, None]
    inverse = (V[:, kept] / values[kept]) @ V[:, kept].T
    open_ended = np.abs(V[:, ~kept]).sum(axis=1) > 1e-7 * np.maximum(scale, np.finfo(float).tiny)
    open_ended |= scale == 0.0
    if not intercept:
        return _blank(inverse, open_ended)
    cross = inverse @ view.mean_x
    corner = 1.0 / view.weight + view.mean_x @ cross
    full = np.block([[np.array([[corner]]), -cross[None]], [-cross[:, None], inverse]])
    free = bool((open_ended & (view.mean_x != 0.0)).any())
    return _blank(full, np.append(free, open_ended))


def _blank(matrix: Array, rows: Array) -> Array:
    matrix[rows] = np.nan
    matrix[:, rows] = np.nan
    return matrix


def leverage_of(chunk: Any, sums: LinearSums, root: Array) -> Array:
    """xᵀ(XᵀX)⁺x of each row, x centered and with the ones column; `root` is a square root of the inverse."""
    dense = chunk.X.toarray() if hasattr(chunk.X, "toarray") else chunk.X
    Z = (dense - sums.mean_x) @ root
    return np.einsum("ij,ij->i", Z, Z)


def _row_likelihood(chunk: Any, coef: Array, intercept: Array, variance: Array) -> Array:
    r = chunk.y - (chunk.X @ coef.T + intercept)
    density = -0.5 * np.log(2.0 * np.pi * variance) - r * r / (2.0 * variance)
    return chunk.weight * (density.sum(axis=1) if density.ndim == 2 else density)


class GaussianInference:
    """Methods of a least-squares model that has coef_, intercept_, sums_, rank_ and noise_variance_."""

    def _view(self) -> LinearSums:
        check_is_fitted(self)
        if self.sums_ is None:
            raise DataError(
                "the moments of so many columns were not kept; fit on fewer columns for inference."
            )
        return self.sums_ if self.fit_intercept else self.sums_.without_centering()

    def _noise(self, noise: str) -> Array:
        """Noise variance: RSS/n ("ml") or RSS/(n − rank) ("unbiased")."""
        if noise not in ("ml", "unbiased"):
            raise ValueError(
                f"noise must be 'unbiased' or 'ml'; got {noise!r}.{nearest(noise, ['unbiased', 'ml'])}"
            )
        if noise == "ml":
            return self.noise_variance_
        if self._freedom() <= 0:
            warnings.warn(
                f"{self.sums_.weight:g} rows for {self.rank_ + self.fit_intercept} parameters leave no "
                "degree of freedom: the unbiased noise variance is NaN. Use noise='ml' or more rows.",
                stacklevel=3,
            )
            return np.full_like(self.noise_variance_, np.nan)
        return self.noise_variance_ * (self.sums_.weight / self._freedom())

    def _freedom(self) -> float:
        return float(self.sums_.weight - self.rank_ - bool(self.fit_intercept))

    def covariance(self, noise: str = "unbiased") -> Array:
        r"""Return the covariance :math:`\hat\sigma^2 (X^\top X)^{-1}` of (intercept, coefficients).

        The intercept comes first when there is one. Coefficients that the data do not determine get NaN.
        With several targets the first axis runs over them.
        """
        self._view()
        unscaled = unscaled_covariance(self.sums_, intercept=self.fit_intercept)
        return np.multiply.outer(self._noise(noise), unscaled)

    def summary(self, level: float = 0.95, noise: str = "unbiased", target: int = 0) -> Summary:
        """Return estimates with standard errors, t statistics, p values and intervals, and how well they fit.

        Intervals are Student's with n − rank degrees of freedom; weights count as repeated rows.
        ``print`` it, or take ``.to_frame()``.
        """
        covariance = np.atleast_3d(self.covariance(noise).T).T[target]
        estimate = np.atleast_2d(self.coef_)[target].astype(np.float64)
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))
        if self.fit_intercept:
            estimate = np.append(np.atleast_1d(self.intercept_)[target], estimate)
            names = ["intercept", *names]
        freedom = self._freedom()
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(np.diagonal(covariance))
            t = estimate / error
        p = 2.0 * stats.t.sf(np.abs(t), freedom)
        half = error * stats.t.ppf(0.5 + level / 2.0, freedom)
        variance = float(np.atleast_1d(self._noise(noise))[target])
        view = self._view()
        rss = float(np.atleast_1d(self.noise_variance_)[target]) * view.weight
        fit = goodness(
            view.weight, int(self.rank_), bool(self.fit_intercept), rss, float(np.atleast_1d(view.yy)[target])
        )
        return Summary(
            names, estimate, error, t, p, estimate - half, estimate + half, level, freedom, variance, fit
        )

    def _leverage(self, X: Any) -> Array:
        view = self._view()
        scale = column_scale(view)
        values, V = linalg.eigh(view.xx * np.outer(scale, scale))
        kept = values > 1e-13 * max(float(values[-1]), 0.0)
        root = scale[:, None] * V[:, kept] / np.sqrt(values[kept])
        h = per_row(leverage_of, self._rows(X), view, root)
        return h + 1.0 / view.weight if self.fit_intercept else h

    def predict_distribution(self, X: Any) -> Any:
        """Return the distribution of a new observation at each row: a frozen ``scipy.stats.t``."""
        return self._distribution(X, new=1.0)

    def _distribution(self, X: Any, *, new: float) -> Any:
        h = self._leverage(X)
        variance = self._noise("unbiased")
        scale = np.sqrt(np.multiply.outer(new + h, variance))
        return stats.t(self._freedom(), loc=self.predict(X), scale=scale)

    def predict_interval(
        self, X: Any, level: float = 0.95, *, kind: str = "observation"
    ) -> tuple[Array, Array]:
        """Return lower and upper ends of the interval for a new observation, or for the mean, at each row.

        Parameters
        ----------
        X : rows
        level : float
            Probability that the interval covers.
        kind : {"observation", "mean"}
        """
        if kind not in ("observation", "mean"):
            raise ValueError(
                f"kind must be 'observation' or 'mean'; got {kind!r}.{nearest(kind, ['observation', 'mean'])}"
            )
        lower, upper = self._distribution(X, new=float(kind == "observation")).interval(level)
        return lower, upper

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None, *, noise: str = "ml") -> float:
        """Return Σ ln N(y | prediction, noise variance) over the rows (and targets)."""
        check_is_fitted(self)
        rows = self._read(X, y, sample_weight, reset=False)
        variance = self._noise(noise)
        return float(per_row(_row_likelihood, rows, self.coef_, self.intercept_, variance).sum())
