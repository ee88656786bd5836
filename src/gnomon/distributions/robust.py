"""Heavy-tailed families: Laplace, Student t, and the multivariate Student t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.quantiles import weighted_median
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base, keep_where_empty
from gnomon.distributions.kept_rows import KeptRows, keep
from gnomon.distributions.normal import Gaussian


@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Family):
    r"""Double-exponential distribution: least absolute deviations.

    .. math:: p(x) = \frac{1}{2b} e^{-|x - m|/b}

    Maximum likelihood: m is the weighted median (the midpoint, if an interval of values serves), b the mean
    absolute deviation.

    Parameters
    ----------
    location, scale : array-like of shape (K, d), optional
        m and b.

    Examples
    --------
    >>> model = Laplace().fit([0, 0, 1, 2, 10])
    >>> model.location, model.scale
    (array([[1.]]), array([[2.4]]))
    """

    location: Any = None
    scale: Any = None
    _parameters = ("location", "scale")

    def _check_parameters(self) -> None:
        self._require(self.scale >= 0, "scale", "at least 0")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.any(self.scale == 0):
            raise DegenerateError(
                "Laplace: a scale is zero, so there is no density; the sample was constant."
            )
        each = [
            np.where(np.isnan(X), 0.0, -np.abs(X - m) / b - np.log(2.0 * b)).sum(axis=1)
            for m, b in zip(self.location, self.scale, strict=True)
        ]
        return np.stack(each, axis=1)

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> KeptRows:
        return keep(X, weights, self.n_features if self.fitted else None)

    def estimate(self, statistics: KeptRows, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("Laplace has no conjugate prior here; use prior=None.")
        location = statistics.each(weighted_median)
        scale = statistics.each(lambda x, w: w @ np.abs(x - weighted_median(x, w)) / w.sum())
        empty = np.isnan(location)
        return self.replace(
            location=keep_where_empty(location, self.location, empty, "location"),
            scale=keep_where_empty(scale, self.scale, empty, "scale"),
        )

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.laplace(self.location[labels], self.scale[labels])

    def mean(self) -> Array:
        return np.array(self.location)

    def variance(self) -> Array:
        return 2.0 * self.scale**2

    def mode(self) -> Array:
        return np.array(self.location)

    def entropy(self, base: float | None = None) -> Array:
        return in_base((1.0 + np.log(2.0 * self.scale)).sum(axis=1), base)

    def kl(self, other: Self) -> Array:
        gap = np.abs(self.location - other.location)
        inner = (self.scale * np.exp(-gap / self.scale) + gap) / other.scale
        return np.maximum((np.log(other.scale / self.scale) + inner - 1.0).sum(axis=1), 0.0)

    def to_scipy(self) -> Any:
        from scipy.stats import laplace

        return laplace(self.location, self.scale)


class ScaledMoments(NamedTuple):
    """Sums behind one EM step of a t distribution; u is the expected precision of an observation."""

    weight: Array  # (K, d): Σ w
    scaled: Array  # (K, d): Σ w u
    first: Array  # (K, d): Σ w u (x − center)
    second: Array  # Σ w u (x − center)²: (K, d), or (K, d, d) for the multivariate family
    tail: Array  # (K, d): Σ w (ln u − u)


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(Family):
    r"""Student's t by degrees of freedom, location and scale; with one degree of freedom, Cauchy.

    .. math:: p(x) \propto \left(1 + \frac{(x-m)^2}{\nu s^2}\right)^{-(\nu+1)/2}

    A normal distribution whose precision varies from row to row: EM weighs each row by u = (ν+1)/(ν+δ²), so
    outliers count little. `estimate` is one such step from the stack's own parameters; without any, and in `fit`,
    the step is repeated from several starts and the best kept.

    Parameters
    ----------
    df, location, scale : array-like of shape (K, d), optional
        ν, m and s. Give `df` alone to fit the other two.
    learn_df : bool, default False
        Whether the degrees of freedom are estimated too.

    Examples
    --------
    >>> StudentT(3, 0, 2).log_density(1).round(6)
    array([[-1.854121]])
    >>> StudentT(df=1).fit([0, 0, 1, 2, 10]).location.round(4)
    array([[0.5921]])
    """

    df: Any = 3.0
    location: Any = None
    scale: Any = None
    learn_df: bool = False
    _parameters = ("location", "scale", "df")

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        return (
            super()._promoted(given) if "location" in given else {"df": np.array(given["df"], float, ndmin=2)}
        )

    def _check_parameters(self) -> None:
        self._require(self.df > 0, "df", "above 0")
        if self.scale is not None:
            self._require(self.scale >= 0, "scale", "at least 0")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.any(self.scale == 0):
            raise DegenerateError("StudentT: a scale is zero, so there is no density.")
        each = []
        for v, m, s in zip(self.df, self.location, self.scale, strict=True):
            constant = gammaln((v + 1.0) / 2.0) - gammaln(v / 2.0) - 0.5 * np.log(v * np.pi) - np.log(s)
            terms = constant - (v + 1.0) / 2.0 * np.log1p(((X - m) / s) ** 2 / v)
            each.append(np.where(np.isnan(X), 0.0, terms).sum(axis=1))
        return np.stack(each, axis=1)

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> ScaledMoments | KeptRows:
        if not self.fitted:  # there is no center to add up around yet
            return keep(X, weights, None)
        X = as_rows(X, self.n_features)
        weights = as_weights(weights, len(X))
        present = ~np.isnan(X)
        rows = []
        for w, v, m, s in zip(weights.T, self.df, self.location, self.scale, strict=True):
            z = np.where(present, X - m, 0.0)
            u = (v + 1.0) / (v + (z / s) ** 2)
            tail = digamma((v + 1.0) / 2.0) - np.log((v + (z / s) ** 2) / 2.0) - u
            w = present * w[:, None]
            rows.append([(w * t).sum(axis=0) for t in (np.ones_like(u), u, u * z, u * z * z, tail)])
        return ScaledMoments(*(np.stack(part) for part in zip(*rows, strict=True)))

    def _start(self, X: Array, weights: Array) -> Self:
        """Median and mean absolute deviation of every component."""
        guess = Laplace().estimate(KeptRows(X, weights))
        scale = np.where(guess.scale > 0, guess.scale, 1.0)
        return self.replace(location=guess.location, scale=scale, df=np.broadcast_to(self.df, scale.shape))

    def estimate(self, statistics: ScaledMoments | KeptRows, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("StudentT has no conjugate prior here; use prior=None.")
        if isinstance(statistics, KeptRows):
            return self.fit(statistics.values, statistics.weights)
        weight, scaled, first, second, tail = statistics
        with np.errstate(divide="ignore", invalid="ignore"):
            step = first / scaled
            scale = np.sqrt(np.maximum(second - step * first, 0.0) / weight)
        empty = weight <= 0
        df = learned_df(tail / np.where(empty, 1.0, weight), self.df) if self.learn_df else self.df
        return self.replace(
            location=np.where(empty, self.location, self.location + step),
            scale=np.where(empty, self.scale, scale),
            df=np.where(empty, self.df, df),
        )

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None, prior: Any = None) -> Self:
        X = as_rows(X, None)
        if len(X) == 0:
            raise DataError("StudentT.fit needs at least one row.")
        weights = as_weights(sample_weight, len(X))
        first = self._start(X, weights)
        quarters = np.nanquantile(X, [0.25, 0.75], axis=0)
        starts = [
            first,
            *(first.replace(location=np.broadcast_to(q, first.location.shape)) for q in quarters),
        ]
        runs = [repeat_steps(start, X, weights) for start in starts]
        return max(runs, key=lambda run: float((run.log_density(X) * weights).sum()))

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return self.location[labels] + self.scale[labels] * rng.standard_t(self.df[labels])

    def mean(self) -> Array:
        return np.where(self.df > 1, self.location, np.nan)

    def variance(self) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            finite = self.scale**2 * self.df / (self.df - 2.0)
        return np.where(self.df > 2, finite, np.where(self.df > 1, np.inf, np.nan))

    def mode(self) -> Array:
        return np.array(self.location)

    def to_scipy(self) -> Any:
        from scipy.stats import t

        return t(self.df, self.location, self.scale)

    def parameter_count(self) -> int:
        return self.location.size * (3 if self.learn_df else 2)


def repeat_steps(model: Any, X: Array, weights: Array, tol: float = 1e-12, max_iter: int = 5000) -> Any:
    """Repeat the EM step of a t distribution until its location and scale stand still."""
    for _ in range(max_iter):
        new = model.estimate(model.statistics(X, weights))
        moved = max(np.abs(new.location - model.location).max(), np.abs(new.scale - model.scale).max())
        model = new
        if moved <= tol * (1.0 + np.abs(model.location).max()) or np.any(model.scale == 0):
            break
    return model


def learned_df(tail: Array, df: Array) -> Array:
    """Solve ln(ν/2) + 1 − ψ(ν/2) + mean(ln u − u) = 0 for ν by Newton's method on ln ν."""
    target = 1.0 + tail
    v = np.array(np.broadcast_to(df, tail.shape), dtype=np.float64)
    for _ in range(50):
        value = np.log(v / 2.0) - digamma(v / 2.0) + target
        slope = 1.0 - v / 2.0 * polygamma(1, v / 2.0)  # derivative in ln ν, always negative
        v *= np.exp(np.clip(-value / slope, -1.0, 1.0))
        v = np.clip(v, 1e-2, 1e6)
    return v


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateStudentT(Family):
    r"""Multivariate t with d columns; the predictive distribution of a Gaussian with unknown parameters.

    .. math:: p(x) \propto \left(1 + \delta^2/\nu\right)^{-(\nu+d)/2}, \quad \delta^2 = (x-m)^T S^{-1} (x-m)

    Parameters
    ----------
    df : array-like of shape (K,), default 3
        Degrees of freedom, kept as given.
    location : array-like of shape (K, d), optional
        Centers.
    scale : array-like of shape (K, d, d), optional
        Scale matrices S.

    Examples
    --------
    >>> MultivariateStudentT(3, [0, 0], [[2, 0.5], [0.5, 1]]).log_density([1, -1]).round(6)
    array([[-3.533674]])
    """

    df: Any = 3.0
    location: Any = None
    scale: Any = None
    _parameters = ("location", "scale", "df")

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        if "location" not in given:
            return {"df": np.array(given["df"], dtype=np.float64, ndmin=1)}
        shape = Gaussian(given["location"], given["scale"])
        K = shape.n_components
        df = np.array(np.broadcast_to(np.asarray(given["df"], dtype=np.float64).ravel(), (K,)))
        return {"location": np.array(shape.means), "scale": np.array(shape.covariances), "df": df}

    @property
    def _shape(self) -> Gaussian:
        return Gaussian(self.location, self.scale)

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.isnan(X).any():
            raise DataError("MultivariateStudentT: rows must be complete.")
        d, v, shape = self.n_features, self.df, self._shape
        constant = gammaln((v + d) / 2.0) - gammaln(v / 2.0) - d / 2.0 * np.log(v * np.pi)
        return constant - 0.5 * shape.log_determinants - (v + d) / 2.0 * np.log1p(shape.mahalanobis(X) / v)

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> ScaledMoments | KeptRows:
        if not self.fitted:  # there is no center to add up around yet
            return keep(X, weights, None)
        X = as_rows(X, self.n_features)
        weights = as_weights(weights, len(X))
        d, K = X.shape[1], weights.shape[1]
        u = (self.df + d) / (self.df + self._shape.mahalanobis(X))
        first, second = np.empty((K, d)), np.empty((K, d, d))
        for k in range(K):
            z = X - self.location[k]
            scaled = z * (weights[:, k] * u[:, k])[:, None]
            first[k], second[k] = scaled.sum(axis=0), scaled.T @ z
        masses = [(weights * t).sum(axis=0)[:, None] for t in (np.ones_like(u), u, np.log(u) - u)]
        return ScaledMoments(masses[0], masses[1], first, second, masses[2])

    def _start(self, X: Array, weights: Array) -> Self:
        guess = Gaussian(reg_covar=1e-12).fit(X, weights)
        return self.replace(location=guess.means, scale=guess.covariances)

    def estimate(self, statistics: ScaledMoments | KeptRows, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("MultivariateStudentT has no conjugate prior here; use prior=None.")
        if isinstance(statistics, KeptRows):
            return self.fit(statistics.values, statistics.weights)
        weight, scaled, first, second, _ = statistics
        keep_old = weight <= 0
        step = first / np.where(keep_old, 1.0, scaled)
        scatter = second - step[:, :, None] * first[:, None, :]
        scale = (scatter + np.swapaxes(scatter, 1, 2)) / 2.0 / np.where(keep_old, 1.0, weight)[:, :, None]
        return self.replace(
            location=np.where(keep_old, self.location, self.location + step),
            scale=np.where(keep_old[:, :, None], self.scale, scale),
        )

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None, prior: Any = None) -> Self:
        X = as_rows(X, None)
        if len(X) == 0:
            raise DataError("MultivariateStudentT.fit needs at least one row.")
        weights = as_weights(sample_weight, len(X))
        return repeat_steps(self._start(X, weights), X, weights)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        spread = np.sqrt(self.df[labels] / rng.chisquare(self.df[labels]))
        return self.location[labels] + spread[:, None] * (
            self._shape.sample(labels, rng) - self.location[labels]
        )

    def mean(self) -> Array:
        return np.where(self.df[:, None] > 1, self.location, np.nan)

    def variance(self) -> Array:
        v = self.df[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            finite = np.diagonal(self.scale, axis1=1, axis2=2) * v / (v - 2.0)
        return np.where(v > 2, finite, np.where(v > 1, np.inf, np.nan))

    def mode(self) -> Array:
        return np.array(self.location)

    def entropy(self, base: float | None = None) -> Array:
        return in_base(
            np.array([self.select(k).to_scipy().entropy() for k in range(self.n_components)]), base
        )

    def to_scipy(self) -> Any:
        """Return a single distribution of ``scipy.stats``."""
        from scipy.stats import multivariate_t

        if self.n_components > 1:
            raise DataError("scipy.stats holds one multivariate t at a time; select a component first.")
        return multivariate_t(self.location[0], self.scale[0], df=self.df[0])

    def parameter_count(self) -> int:
        K, d = self.location.shape
        return K * (d + d * (d + 1) // 2)
