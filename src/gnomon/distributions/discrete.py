"""Families of categories: categorical codes, multinomial counts, Dirichlet-multinomial, empirical."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import entr, gammaln, rel_entr

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base, keep_where_empty
from gnomon.distributions.columns import log_factorial, product, require_counts
from gnomon.distributions.counting import log
from gnomon.distributions.simplex import Dirichlet
from gnomon.loops import densities as loops


def as_dirichlet(prior: Any) -> Dirichlet:
    """A Dirichlet prior as it is; a number or vector λ is pseudo-counts, Dirichlet(λ+1)."""
    return prior if isinstance(prior, Dirichlet) else Dirichlet(np.asarray(prior, dtype=np.float64) + 1.0)


MOST_LEVELS = 2**16  # larger codes are numbers, not categories


class LevelCounts(NamedTuple):
    """Weight of every level of every column."""

    counts: Array  # (K, d, L)

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Add, after giving both the same number of levels."""
        top = max(self.counts.shape[2], other.counts.shape[2])
        return LevelCounts(_widen(self.counts, top) + _widen(other.counts, top))


def _widen(counts: Array, top: int) -> Array:
    return np.pad(counts, ((0, 0), (0, 0), (0, top - counts.shape[2])))


@dataclass(frozen=True, eq=False, repr=False)
class Categorical(Family):
    r"""Independent columns of category codes 0, 1, ….

    .. math:: p(x) = \prod_j p_{j, x_j}

    Maximum likelihood gives the relative frequencies: the empirical distribution. A `Dirichlet` prior, or a
    number
    of pseudo-counts per level, gives the posterior mode. Columns with fewer levels are padded with zeros.

    Parameters
    ----------
    p : array-like of shape (K, d, L), optional
        Probability of every level of every column.
    n_levels : int or sequence of int, optional
        Number of levels, or one per column; by default the largest code seen, plus one, in each column.
    fractional : bool, default False
        Whether numbers between the codes are rounded down instead of refused.

    Examples
    --------
    >>> Categorical().fit([0, 1, 1, 2]).p
    array([[[0.25, 0.5 , 0.25]]])
    >>> Categorical(n_levels=4).fit([0, 0, 0, 1, 1, 2], prior=1).p
    array([[[0.4, 0.3, 0.2, 0.1]]])
    """

    p: Any = None
    n_levels: Any = None
    fractional: bool = False
    _parameters = ("p",)
    _axes = 3

    def _check_parameters(self) -> None:
        self._require(self.p >= 0, "p", "at least 0")
        sums = self.p.sum(axis=2)
        if np.any(np.abs(sums - 1.0) > 1e-8):
            raise DataError(
                f"Categorical: probabilities must sum to 1; got {sums[np.abs(sums - 1) > 1e-8][0]}."
            )

    def _codes(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features if self.fitted else None)
        missing = np.isnan(X)
        known = np.where(missing, 0.0, X)
        require_counts(known, "Categorical", fractional=self.fractional)
        if known.size and known.max() >= MOST_LEVELS:
            raise DataError(
                f"Categorical: X has codes up to {known.max():g}; number them 0, 1, 2, … in every column."
            )
        return np.where(missing, -1, np.floor(known + 1e-9)).astype(np.int64)

    def log_density(self, X: ArrayLike) -> Array:
        codes = self._codes(X)
        out = np.zeros((len(codes), self.n_components))
        loops.add_code_columns(codes, np.ascontiguousarray(log(self.p).transpose(1, 2, 0)), out)
        return out

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> LevelCounts:
        codes = self._codes(X)
        weights = np.ascontiguousarray(as_weights(weights, len(codes)))
        top = max(self._levels(codes.shape[1]).max(), codes.max(initial=0) + 1)
        counts = np.zeros((codes.shape[1], top, weights.shape[1]))
        loops.count_code_columns(codes, weights, counts)
        return LevelCounts(np.ascontiguousarray(counts.transpose(2, 0, 1)))

    def _levels(self, d: int) -> Array:
        """Smallest number of levels every column must have."""
        if self.n_levels is not None:
            return np.broadcast_to(np.asarray(self.n_levels, dtype=np.int64), (d,))
        return (
            (self.p > 0).any(axis=0).cumsum(axis=1).argmax(axis=1) + 1
            if self.fitted
            else np.ones(d, np.int64)
        )

    def _legal(self, counts: Array) -> Array:
        """Which levels exist: (d, L); a level exists when declared or seen."""
        seen = np.any(counts > 0, axis=0)
        last = np.where(seen.any(axis=1), counts.shape[2] - seen[:, ::-1].argmax(axis=1), 1)
        return np.arange(counts.shape[2]) < np.maximum(last, self._levels(counts.shape[1]))[:, None]

    def estimate(self, statistics: LevelCounts, prior: Any = None) -> Self:
        counts = statistics.counts
        if prior is not None:
            extra = (
                prior.alpha[:, None, :] - 1.0 if isinstance(prior, Dirichlet) else np.asarray(prior, float)
            )
            counts = np.maximum(np.where(self._legal(counts), counts + extra, 0.0), 0.0)
        whole = counts.sum(axis=2, keepdims=True)
        with np.errstate(invalid="ignore"):
            return self.replace(
                p=keep_where_empty(counts / whole, self._wide(counts.shape[2]), whole <= 0, "p")
            )

    def _wide(self, top: int) -> Array | None:
        return _widen(self.p, max(top, self.p.shape[2])) if self.fitted else None

    def posterior(self, statistics: LevelCounts, prior: Any) -> Dirichlet:
        """Return the Dirichlet belief about the probabilities after the data (one column)."""
        if statistics.counts.shape[1] != 1:
            raise DataError("the posterior of Categorical is given for one column at a time.")
        alpha, counts = as_dirichlet(prior).alpha, statistics.counts[:, 0]
        unseen = alpha.shape[1] - counts.shape[1]
        if alpha.shape[1] > 1 and unseen < 0:
            raise DataError(f"X has {counts.shape[1]} levels, but the prior only {alpha.shape[1]}.")
        return Dirichlet(alpha + np.pad(counts, [(0, 0), (0, max(0, unseen))]))

    def predictive(self, prior: Any) -> Categorical:
        """Return the distribution of the next code under a Dirichlet belief."""
        return self._at_mean(as_dirichlet(prior))

    def _at_mean(self, belief: Dirichlet) -> Self:
        return self.replace(p=belief.mean()[:, None, :])

    def _at_mode(self, belief: Dirichlet) -> Self:
        return self.replace(p=belief.mode()[:, None, :])

    def parameter_count(self) -> int:
        return int(self.n_components * (self._levels(self.n_features) - 1).sum())

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        u = rng.random((len(labels), self.n_features))
        bars = self.p.cumsum(axis=2)
        bars /= bars[:, :, -1:]
        out = np.empty(u.shape)
        for j in range(self.n_features):
            for k in np.unique(labels):
                rows = labels == k
                out[rows, j] = np.searchsorted(bars[k, j], u[rows, j], side="right")
        return out

    def mean(self) -> Array:
        return self.p @ np.arange(self.p.shape[2], dtype=np.float64)

    def variance(self) -> Array:
        levels = np.arange(self.p.shape[2], dtype=np.float64)
        return (self.p * (levels - self.mean()[:, :, None]) ** 2).sum(axis=2)

    def mode(self) -> Array:
        return self.p.argmax(axis=2).astype(np.float64)

    def entropy(self, base: float | None = None) -> Array:
        return in_base(entr(self.p).sum(axis=(1, 2)), base)

    def kl(self, other: Self) -> Array:
        return rel_entr(self.p, other.p).sum(axis=(1, 2))


class WordCounts(NamedTuple):
    """Weighted totals of every word."""

    totals: Array  # (K, V)


@dataclass(frozen=True, eq=False, repr=False)
class Multinomial(Family):
    r"""Rows of counts over V words, given their total.

    .. math:: p(x) = \frac{n!}{\prod_v x_v!} \prod_v p_v^{x_v}

    ``ordered=True`` drops the coefficient: the likelihood of a document as a sequence of words. The total n
    is not modeled. Rows may be a SciPy sparse matrix.

    Parameters
    ----------
    p : array-like of shape (K, V), optional
        Word probabilities.
    ordered : bool, default False
        Whether to leave out the multinomial coefficient.
    n : int, optional
        Number of words per row, needed by `sample`, `mean` and `variance` only.
    fractional : bool, default False
        Whether counts may lie between the whole numbers.

    Examples
    --------
    >>> Multinomial([0.5, 0.3, 0.2]).log_density([3, 2, 1]).round(6)
    array([[-2.002481]])
    >>> Multinomial([0.5, 0.3, 0.2], ordered=True).log_density([3, 2, 1]).round(6)
    array([[-6.096825]])
    """

    p: Any = None
    ordered: bool = False
    n: int | None = None
    fractional: bool = False
    _parameters = ("p",)

    def _check_parameters(self) -> None:
        self._require(self.p >= 0, "p", "at least 0")
        if np.any(np.abs(self.p.sum(axis=1) - 1.0) > 1e-8):
            raise DataError(f"Multinomial: probabilities must sum to 1; got sums {self.p.sum(axis=1)}.")

    def _counts(self, X: Any) -> Any:
        if sparse.issparse(X):
            require_counts(X.data[:, None].astype(np.float64), "Multinomial", fractional=self.fractional)
            return X
        X = as_rows(X, self.n_features if self.fitted else None)
        if np.isnan(X).any():
            raise DataError("Multinomial: a count is missing; the row's total would be unknown.")
        require_counts(X, "Multinomial", fractional=self.fractional)
        return X

    def log_density(self, X: Any) -> Array:
        X = self._counts(X)
        eta = log(self.p)
        if sparse.issparse(X):
            lost = np.isneginf(eta)
            out = np.asarray(X @ np.where(lost, 0.0, eta).T)
            if lost.any():
                out[np.asarray(X @ lost.T.astype(np.float64)) > 0] = -np.inf
        else:
            out = product(X, eta)
        return out if self.ordered else out + self._coefficient(X)[:, None]

    def _coefficient(self, X: Any) -> Array:
        if not sparse.issparse(X):
            return gammaln(X.sum(axis=1) + 1.0) - log_factorial(X).sum(axis=1)
        logs = X.copy().astype(np.float64)
        logs.data = gammaln(logs.data + 1.0)
        return gammaln(np.asarray(X.sum(axis=1)).ravel() + 1.0) - np.asarray(logs.sum(axis=1)).ravel()

    def statistics(self, X: Any, weights: ArrayLike | None = None) -> WordCounts:
        X = self._counts(X)
        weights = as_weights(weights, X.shape[0])
        return WordCounts(np.asarray((X.T @ weights).T if sparse.issparse(X) else weights.T @ X))

    def estimate(self, statistics: WordCounts, prior: Any = None) -> Self:
        if prior is not None:
            return self._at_mode(self.posterior(statistics, prior))
        whole = statistics.totals.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return self.replace(p=keep_where_empty(statistics.totals / whole, self.p, whole <= 0, "p"))

    def posterior(self, statistics: WordCounts, prior: Any) -> Dirichlet:
        """Return the Dirichlet belief about the probabilities after the data."""
        return Dirichlet(as_dirichlet(prior).alpha + statistics.totals)

    def predictive(self, prior: Any) -> DirichletMultinomial:
        """Return the distribution of the next row of counts under a Dirichlet belief."""
        return DirichletMultinomial(as_dirichlet(prior).alpha, ordered=self.ordered)

    def _at_mean(self, belief: Dirichlet) -> Self:
        return self.replace(p=belief.mean())

    def _at_mode(self, belief: Dirichlet) -> Self:
        return self.replace(p=belief.mode())

    def parameter_count(self) -> int:
        return self.n_components * (self.n_features - 1)

    def _size(self) -> int:
        if self.n is None:
            raise DataError("Multinomial: give n, the number of words per row.")
        return self.n

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.multinomial(self._size(), self.p[labels])

    def mean(self) -> Array:
        return self._size() * self.p

    def variance(self) -> Array:
        return self._size() * self.p * (1.0 - self.p)

    def mode(self) -> Array:
        """Return the most likely counts: whole parts first, then the best remaining increments."""
        n, out = self._size(), []
        for p in self.p:
            x = np.floor(n * p)
            while x.sum() < n:
                with np.errstate(divide="ignore"):
                    x[np.argmax(p / (x + 1.0))] += 1.0
            out.append(x)
        return np.stack(out)

    def entropy(self, base: float | None = None) -> Array:
        if self.ordered:
            return in_base(self._size() * entr(self.p).sum(axis=1), base)
        return in_base(
            np.array([self.select(k).to_scipy().entropy() for k in range(self.n_components)]), base
        )

    def kl(self, other: Self) -> Array:
        """Return the divergence per word (times n when n is given)."""
        return (self.n or 1) * rel_entr(self.p, other.p).sum(axis=1)

    def to_scipy(self) -> Any:
        """Return a single distribution of ``scipy.stats``."""
        from scipy.stats import multinomial

        if self.n_components > 1:
            raise DataError("scipy.stats holds one multinomial at a time; select a component first.")
        return multinomial(self._size(), self.p[0])


@dataclass(frozen=True, eq=False, repr=False)
class DirichletMultinomial(Family):
    r"""Counts whose word probabilities are drawn from a Dirichlet distribution.

    .. math::
        p(x) = \frac{n!}{\prod x_v!} \frac{\Gamma(A)}{\Gamma(A+n)}
        \prod_v \frac{\Gamma(\alpha_v + x_v)}{\Gamma(\alpha_v)}, \qquad A = \sum_v \alpha_v

    Parameters
    ----------
    alpha : array-like of shape (K, V)
        Concentrations.
    ordered : bool, default False
        Whether to leave out the coefficient.

    Examples
    --------
    >>> DirichletMultinomial([2, 3, 5], ordered=True).log_density([1, 0, 4]).round(6)
    array([[-4.269697]])
    """

    alpha: Any
    ordered: bool = False
    _parameters = ("alpha",)

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        require_counts(X, "DirichletMultinomial")
        n, A = X.sum(axis=1), self.alpha.sum(axis=1)
        each = [(gammaln(a + X) - gammaln(a)).sum(axis=1) for a in self.alpha]
        out = np.stack(each, axis=1) + gammaln(A) - gammaln(n[:, None] + A)
        return out if self.ordered else out + (gammaln(n + 1.0) - gammaln(X + 1.0).sum(axis=1))[:, None]

    def mean(self) -> Array:
        """Return the mean of one word."""
        return self.alpha / self.alpha.sum(axis=1, keepdims=True)
