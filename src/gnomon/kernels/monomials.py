"""Monomials with the coefficients that make their inner products polynomial kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from gnomon.core.linalg import Array


def exponents(d: int, degrees: Iterable[int]) -> Array:
    """Return the exponent vectors of all monomials of some total degrees.

    By total degree as given, then in descending lexicographic order.

    >>> exponents(2, [2])
    array([[2, 0],
           [1, 1],
           [0, 2]])
    """
    found = []
    for degree in degrees:
        for chosen in combinations_with_replacement(range(d), degree):
            row = np.zeros(d, dtype=np.int64)
            np.add.at(row, list(chosen), 1)
            found.append(row)
    return np.array(found, dtype=np.int64).reshape(len(found), d)


def monomials(X: Array, terms: Array, scaling: str) -> Array:
    """Return c_n Π x_i^{n_i} for every exponent vector n of `terms`.

    With "multinomial" c_n² = (Σn)!/Πn_i!, so that inner products of one degree p are (x·z)^p; with
    "factorial" c_n² = 1/Πn_i!, so that they are (x·z)^p/p!.
    """
    out = np.empty((len(X), len(terms)))
    for k, term in enumerate(terms):
        below = prod(factorial(int(e)) for e in term)
        top = factorial(int(term.sum())) if scaling == "multinomial" else 1
        out[:, k] = np.sqrt(top / below)
        for column in np.flatnonzero(term):
            out[:, k] *= X[:, column] ** int(term[column])
    return out


def names(terms: Array, columns: Sequence[str]) -> Array:
    """Return each monomial as text, such as ``x0^2 x1``; the constant is ``1``."""
    found = []
    for term in terms:
        parts = [f"{columns[j]}^{term[j]}" if term[j] > 1 else str(columns[j]) for j in np.flatnonzero(term)]
        found.append(" ".join(parts) or "1")
    return np.array(found, dtype=object)
