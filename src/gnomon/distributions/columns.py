"""Families of independent columns whose log-density is linear in a few features of the entry.

    ln p_k(x) = Σ_j [ Σ_s T_s(x_j) η_s(k, j) − A(k, j) + ln h(x_j) ]

so the table of all log-densities is a matrix product, and Σ w T_s(x) is all that an estimate needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base, keep_where_empty


class ColumnSums(NamedTuple):
    """Weight that was observed and weighted feature sums, per component and column."""

    weight: Array  # (K, d)
    sums: Array  # (S, K, d)


def product(features: Array, natural: Array) -> Array:
    """Return features @ natural.T where −∞ times zero is zero and −∞ times a positive feature is −∞."""
    impossible = np.isneginf(natural)
    if not impossible.any():
        return features @ natural.T
    out = features @ np.where(impossible, 0.0, natural).T
    out[(features > 0).astype(np.float64) @ impossible.T.astype(np.float64) > 0] = -np.inf
    return out


def times(a: Array, b: Array) -> Array:
    """Return a·b with 0·∞ = 0."""
    with np.errstate(invalid="ignore"):
        return np.where(a == 0, 0.0, a * b)


class ColumnFamily(Family):
    """Independent columns in exponential-family form; subclasses give features and natural parameters."""

    _filler = 1.0  # a legal value that stands in for a missing entry and is then left out

    def _features(self, X: Array) -> tuple[Array, ...]:
        """T_s(x), each (n, d)."""
        raise NotImplementedError

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        """η_s and A, each (K, d)."""
        raise NotImplementedError

    def _expected_features(self) -> tuple[Array, ...]:
        """E_k[T_s(x)], each (K, d)."""
        raise NotImplementedError

    def _log_base(self, X: Array) -> Array | float:
        """ln h(x), (n, d) or a number; −∞ outside the support."""
        return 0.0

    def _check(self, X: Array) -> None:
        """Raise DataError for entries that are no outcomes at all."""

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        """Maximum-likelihood parameters; division by an empty weight may give NaN."""
        raise NotImplementedError

    def _observed(self, X: ArrayLike) -> tuple[Array, Array | None]:
        X = as_rows(X, self.n_features if self.fitted else None)
        missing = np.isnan(X)
        if not missing.any():
            self._check(X)
            return X, None
        X = np.where(missing, self._filler, X)
        self._check(X)
        return X, (~missing).astype(np.float64)

    def log_density(self, X: ArrayLike) -> Array:
        X, present = self._observed(as_rows(X, self.n_features))
        natural, normalizer = self._natural()
        with np.errstate(divide="ignore", invalid="ignore"):
            features, base = self._features(X), np.broadcast_to(self._log_base(X), X.shape)
        if present is not None:
            features = tuple(feature * present for feature in features)
            base = times(present, base)
        out = (
            -(present @ normalizer.T)
            if present is not None
            else np.tile(-normalizer.sum(axis=1), (len(X), 1))
        )
        for feature, eta in zip(features, natural, strict=True):
            out += product(feature, eta)
        out += base.sum(axis=1)[:, None]
        return out

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> ColumnSums:
        X, present = self._observed(X)
        weights = as_weights(weights, len(X))
        with np.errstate(divide="ignore"):
            features = self._features(X)
        if present is None:
            weight = np.repeat(weights.sum(axis=0)[:, None], X.shape[1], axis=1)
        else:
            weight, features = weights.T @ present, tuple(feature * present for feature in features)
        return ColumnSums(weight, np.stack([weights.T @ feature for feature in features]))

    def estimate(self, statistics: ColumnSums, prior: Any = None) -> Self:
        if prior is not None:
            return self._at_mode(self.posterior(statistics, prior))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self._maximize(statistics)
        empty = statistics.weight <= 0
        return self.replace(**{k: keep_where_empty(v, getattr(self, k), empty, k) for k, v in found.items()})

    def posterior(self, statistics: ColumnSums, prior: Any) -> Any:
        """Return the conjugate prior after the data."""
        raise DataError(f"{type(self).__name__} has no conjugate prior here; use prior=None.")

    def _at_mode(self, belief: Any) -> Self:
        return self.replace(**{self._parameters[-1]: belief.mode()})

    def _at_mean(self, belief: Any) -> Self:
        return self.replace(**{self._parameters[-1]: belief.mean()})

    def kl(self, other: Self) -> Array:
        (ours, ours_A), (theirs, theirs_A) = self._natural(), other._natural()
        with np.errstate(invalid="ignore"):
            gap = (
                theirs_A
                - ours_A
                + sum(
                    times(E, a - b) for E, a, b in zip(self._expected_features(), ours, theirs, strict=True)
                )
            )
        return np.maximum(gap.sum(axis=1), 0.0)

    def _entropy_without_base(self, base: float | None) -> Array:
        """Entropy when ln h = 0 on the support."""
        natural, normalizer = self._natural()
        each = normalizer - sum(
            times(E, eta) for E, eta in zip(self._expected_features(), natural, strict=True)
        )
        return in_base(each.sum(axis=1), base)


LOG_FACTORIALS = gammaln(np.arange(1.0, 2050.0))


def log_factorial(X: Array) -> Array:
    """Return ln x!, from a table where all entries are small whole numbers."""
    if X.size and X.min() >= 0 and X.max() < len(LOG_FACTORIALS):
        codes = X.astype(np.intp)
        if np.array_equal(codes, X):
            return LOG_FACTORIALS[codes]
    return gammaln(X + 1.0)


def require_counts(
    X: Array, name: str, top: float = np.inf, bottom: float = 0.0, *, fractional: bool = False
) -> None:
    """Raise DataError unless all entries are whole numbers (to 1e-9) between bottom and top.

    ``fractional`` counts may lie between the whole numbers.
    """
    if not X.size or (X.min() >= bottom and X.max() <= top and (fractional or np.array_equal(X, np.rint(X)))):
        return
    whole = fractional | (np.abs(X - np.rint(X)) <= 1e-9)
    wrong = ~whole | (X < bottom) | (X > top)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        limit = f" up to {top:g}" if np.isfinite(top) else ""
        kind = "numbers" if fractional else "whole numbers"
        raise DataError(f"{name} needs {kind} from {bottom:g}{limit}; row {i}, column {j} is {X[i, j]}.")
