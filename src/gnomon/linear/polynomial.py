"""Polynomial features: every product of columns up to a degree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, groupby
from math import comb, factorial, prod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin

from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import Reads, check_fitted
from gnomon.linear.basis import finite, overflow

MAX_FEATURES = 10_000_000


class PolynomialFeatures(TransformerMixin, Estimator):
    r"""Powers and products of the columns.

    As in scikit-learn, with two more options: ``cross_terms=False`` keeps powers of single columns only, and
    ``scaling`` makes inner products of the new columns equal to polynomial kernels:

    ====================  ===============================================================
    ``"kernel"``          φ(x)·φ(x′) = (coef0 + x·x′)^p (the constant is part of it)
    ``"kernel-sum"``      φ(x)·φ(x′) = Σ_{q=1}^p (x·x′)^q
    ``"quadratic-form"``  coefficients are the entries of A and b in xᵀAx + bᵀx (degree 2)
    ====================  ===============================================================

    Parameters
    ----------
    degree : int or (int, int), default=2
        Highest degree, or lowest and highest.
    interaction_only : bool, default=False
        Products of distinct columns only.
    include_bias : bool, default=True
        A column of ones (with ``scaling="kernel"`` it is coef0^{p/2}).
    order : {"C", "F"}, default="C"
    cross_terms : bool, default=True
    scaling : {None, "kernel", "kernel-sum", "quadratic-form"}, default=None
    coef0 : float, default=1.0

    Attributes
    ----------
    powers_ : array of shape (n_output_features_, n_features_in_)
        Exponents of every new column.
    n_output_features_ : int

    Examples
    --------
    >>> PolynomialFeatures(2, include_bias=False).fit_transform([[1.0, 2.0]])
    array([[1., 2., 1., 2., 4.]])
    >>> PolynomialFeatures(2, include_bias=False, cross_terms=False).fit([[1.0, 2.0]]).get_feature_names_out()
    array(['x0', 'x1', 'x0^2', 'x1^2'], dtype=object)
    """

    _reads = Reads(sparse=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 0, None, closed="left"), "array-like"],
        "interaction_only": ["boolean"],
        "include_bias": ["boolean"],
        "order": [StrOptions({"C", "F"})],
        "cross_terms": ["boolean"],
        "scaling": [None, StrOptions({"kernel", "kernel-sum", "quadratic-form"})],
        "coef0": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        degree: Any = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: str = "C",
        cross_terms: bool = True,
        scaling: str | None = None,
        coef0: float = 1.0,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order
        self.cross_terms = cross_terms
        self.scaling = scaling
        self.coef0 = coef0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the columns; `y` is ignored."""
        rows = self._read(X)
        _ = rows.X  # looked through
        low, high = self._degrees()
        self._check(rows.n_features, high)
        terms = self._terms(rows.n_features, low, high)
        if not terms and high == 0:
            raise ValueError(
                "Setting degree to zero and include_bias to False would result in an empty output."
            )
        self._adopt({"_terms_": terms, "n_output_features_": len(terms)}, rows)
        return self

    @property
    def powers_(self) -> Array:
        """Exponents of every new column."""
        powers = np.zeros((len(self._terms_), self.n_features_in_), dtype=np.int64)
        for row, term in zip(powers, self._terms_, strict=True):
            np.add.at(row, list(term), 1)
        return powers

    def transform(self, X: Any) -> Any:
        """Return the new columns; those of sparse rows are sparse, of CSC in CSC and of all others in CSR."""
        given, X = X, self._rows(X).X
        if sparse.issparse(X):
            out = _sparse_products(X.tocsc(), self._terms_, self._factors())
            out = out if given.format == "csc" else out.tocsr()
            matrix = sparse.csc_matrix if out.format == "csc" else sparse.csr_matrix
            return matrix(out) if isinstance(given, sparse.spmatrix) else out
        out = np.empty((len(X), len(self._terms_)), dtype=X.dtype, order=self.order)
        with np.errstate(over="ignore"):
            _fill_products(X, self._terms_, out)
            if self.scaling is not None:
                np.multiply(out, self._factors(), out=out, casting="same_kind")
        return finite(out)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names such as ``x0 x1^2``."""
        check_fitted(self)
        names = input_features
        if names is None:
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return np.array([_monomial_name(names, term) for term in self._terms_], dtype=object)

    # inside

    def _degrees(self) -> tuple[int, int]:
        if isinstance(self.degree, Integral):
            return 0, int(self.degree)
        whole = len(self.degree) == 2 and all(isinstance(v, Integral) for v in self.degree)
        if not whole or not 0 <= self.degree[0] <= self.degree[1]:
            raise ValueError(
                f"degree=(low, high) needs two integers with 0 <= low <= high; got {self.degree}."
            )
        return int(self.degree[0]), int(self.degree[1])

    def _check(self, d: int, degree: int) -> None:
        if self.scaling == "quadratic-form" and (degree != 2 or not self.cross_terms):
            raise ValueError(f"scaling='quadratic-form' needs degree=2 and cross terms; degree is {degree}.")
        if self.scaling and self.interaction_only:
            raise ValueError("scaling goes with all powers; use interaction_only=False.")
        if not self.cross_terms:
            count = d * degree + 1
        elif self.interaction_only:
            count = sum(comb(d, q) for q in range(min(d, degree) + 1))
        else:
            count = comb(d + degree, degree)
        if count > MAX_FEATURES:
            raise ValueError(
                f"{count} columns would come out of {d}; lower the degree or use cross_terms=False."
            )

    def _terms(self, d: int, low: int, high: int) -> list[tuple[int, ...]]:
        """Columns of each product: by total degree, then in lexicographic order."""
        bias = [()] if self.include_bias else []
        degrees = range(max(low, 1), high + 1)
        if not self.cross_terms:
            return bias + [(j,) * q for q in degrees for j in range(d)]
        choose = combinations if self.interaction_only else combinations_with_replacement
        return bias + [t for q in degrees for t in choose(range(d), q)]

    def _factors(self) -> Array:
        """What each monomial is multiplied by."""
        degree = np.array([len(term) for term in self._terms_])
        ways = np.array([_orders(term) for term in self._terms_])
        if self.scaling == "kernel":
            p = self._degrees()[1]
            left = np.array([comb(p, int(q)) for q in degree])
            return np.sqrt(ways * left * float(self.coef0) ** (p - degree))
        if self.scaling == "kernel-sum":
            return np.sqrt(ways)
        if self.scaling == "quadratic-form":
            return np.where(degree == 2, ways, 1.0)
        return np.ones(len(degree))


def _fill_products(X: Array, terms: Sequence[tuple[int, ...]], out: Array) -> None:
    """Write the product of every term to its column; terms that differ in their last factor are made together."""
    first = int(bool(terms) and not terms[0])
    out[:, :first] = 1.0
    known: dict[tuple[int, ...], Array] = {}  # products by their factors
    for prefix, group in groupby(terms[first:], key=lambda term: term[:-1]):
        made = list(group)
        end, lasts = first + len(made), slice(made[0][-1], made[-1][-1] + 1)  # neighbors
        if not prefix:
            out[:, first:end] = X[:, lasts]
        else:
            column = known.get(prefix)
            column = X[:, list(prefix)].prod(axis=1) if column is None else column
            np.multiply(column[:, None], X[:, lasts], out=out[:, first:end])
        known.update(zip(made, out[:, first:end].T, strict=True))
        first = end


def _sparse_products(X: Any, terms: Sequence[tuple[int, ...]], factors: Array) -> Any:
    """Return the products of the columns of a CSC matrix; terms that differ in their last factor are made together."""
    X.sum_duplicates()
    n, bias = X.shape[0], bool(terms) and not terms[0]
    parts = [(np.arange(n), np.full(n, factors[0], dtype=X.dtype), np.array([n]))] if bias else []
    first = int(bias)
    for prefix, group in groupby(terms[first:], key=lambda term: term[:-1]):
        lasts = [term[-1] for term in group]  # neighbors
        edges = X.indptr[lasts[0] : lasts[-1] + 2]
        entries = slice(edges[0], edges[-1])
        rows, values = X.indices[entries], X.data[entries]
        if prefix:
            with np.errstate(over="ignore"):
                values = values * _dense_product(X, prefix)[rows]
        kept = values != 0
        counts = np.diff(np.append(0, np.cumsum(kept))[edges - edges[0]])
        factor = np.repeat(factors[first : first + len(lasts)], counts).astype(X.dtype)
        parts.append((rows[kept], values[kept] * factor, counts))
        first += len(lasts)
    if not parts:
        return sparse.csc_array((n, 0), dtype=X.dtype)
    rows, values, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    edges = np.append(0, np.cumsum(counts, dtype=np.int64))
    if not np.isfinite(values).all():
        raise overflow(int(np.searchsorted(edges, np.argmin(np.isfinite(values)), side="right")) - 1)
    return sparse.csc_array((values, rows, edges), shape=(n, len(terms)))


def _dense_product(X: Any, term: tuple[int, ...]) -> Array:
    """Return the product of columns of a CSC matrix as a dense vector."""
    whole = np.ones(X.shape[0], dtype=X.dtype)
    for j, power in Counter(term).items():
        entries, column = slice(X.indptr[j], X.indptr[j + 1]), np.zeros_like(whole)
        column[X.indices[entries]] = X.data[entries] ** power
        whole *= column
    return whole


def _orders(term: tuple[int, ...]) -> float:
    """In how many orders the factors of a product can be written."""
    return factorial(len(term)) / prod(map(factorial, Counter(term).values()))


def _monomial_name(names: Sequence[str], term: tuple[int, ...]) -> str:
    parts = [str(names[j]) + (f"^{e}" if e > 1 else "") for j, e in Counter(term).items()]
    return " ".join(parts) or "1"
