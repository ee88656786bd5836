"""Kernels of the inner product x·z."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels.algebra import inverse_root, needed, power, whole_power
from gnomon.kernels.base import WIDE, Kernel, is_free, numeric, positive
from gnomon.kernels.monomials import exponents, monomials
from gnomon.kernels.tiles import dense, dot_products, square_norms


class Linear(Kernel):
    r"""The inner product :math:`x\cdot z`; its features are the columns themselves.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    def __init__(self) -> None:
        pass

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return dot_products(A, B)

    def _diag(self, A: Any) -> Array:
        return square_norms(A)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return dense(A)


class DotProduct(Kernel):
    r"""The inner product with an offset, :math:`\sigma_0^2 + x\cdot z`: Bayesian linear regression.

    Parameters
    ----------
    sigma_0 : float, default=1.0
        Standard deviation of the offset.
    sigma_0_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> DotProduct(2.0)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[5.]])
    """

    def __init__(self, sigma_0: float = 1.0, sigma_0_bounds: Any = WIDE) -> None:
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds

    @property
    def hyperparameter_sigma_0(self) -> Hyperparameter:
        """The offset's standard deviation."""
        return numeric(self, "sigma_0")

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = dot_products(A, B)
        K += self.sigma_0**2
        return K

    def _diag(self, A: Any) -> Array:
        return square_norms(A) + self.sigma_0**2

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        if is_free(self, "sigma_0"):
            yield np.full_like(K, 2.0 * self.sigma_0**2)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return np.hstack([np.full((len(A), 1), float(self.sigma_0)), dense(A)])


class Polynomial(Kernel):
    r"""The polynomial kernel :math:`(\gamma\,x\cdot z + c_0)^p`; homogeneous with :math:`c_0 = 0`.

    Its features are all monomials of degree p of the columns of :math:`\sqrt\gamma\,x` and :math:`\sqrt{c_0}`,
    :math:`\binom{d+p}{p}` in number, each with the root of its multinomial coefficient.

    Parameters
    ----------
    degree : int, default=3
        p. A fraction needs ``allow_indefinite=True``: it gives no kernel in general.
    gamma : float, optional
        1/columns by default.
    coef0 : float, default=1
        c₀, at least 0 for a kernel.
    allow_indefinite : bool, default=False
    gamma_bounds, coef0_bounds : pair of floats or "fixed", default="fixed"

    Examples
    --------
    >>> k = Polynomial(2, gamma=1.0)
    >>> k([[1.0, 2.0]], [[3.0, -1.0]])
    array([[4.]])
    >>> k.feature_map([[1.0, 2.0]]).round(4)
    array([[1.    , 1.4142, 2.8284, 1.    , 2.8284, 4.    ]])
    """

    def __init__(
        self,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        allow_indefinite: bool = False,
        gamma_bounds: Any = "fixed",
        coef0_bounds: Any = "fixed",
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.allow_indefinite = allow_indefinite
        self.gamma_bounds = gamma_bounds
        self.coef0_bounds = coef0_bounds

    @property
    def hyperparameter_coef0(self) -> Hyperparameter:
        """The offset."""
        return numeric(self, "coef0")

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """The scale."""
        return numeric(self, "gamma")

    @property
    def is_psd(self) -> bool | None:
        """Known for whole degrees and offsets of at least zero."""
        return True if float(self.degree).is_integer() and self.degree >= 0 and self.coef0 >= 0 else None

    def _check(self, d: int) -> None:
        whole_power(self.degree, self.allow_indefinite, "degree")
        if not self.allow_indefinite:
            positive(self, "gamma")

    def _base(self, A: Any, B: Any) -> Array:
        K = dot_products(A, B)
        K *= self._gamma(A)
        K += self.coef0
        return K

    def _gamma(self, A: Any) -> float:
        return 1.0 / max(1, A.shape[1]) if self.gamma is None else float(self.gamma)

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return power(self._base(A, B), self.degree)

    def _diag(self, A: Any) -> Array:
        return power(self._gamma(A) * square_norms(A) + self.coef0, self.degree)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        outer = self.degree * power(self._base(A, A), self.degree - 1) if self.degree else np.zeros_like(K)
        if is_free(self, "coef0"):
            yield outer * self.coef0
        if is_free(self, "gamma"):
            yield outer * self._gamma(A) * dot_products(A, A)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        if self.is_psd is None:
            raise DataError(
                f"degree={self.degree} with coef0={self.coef0} has no feature map: the degree must be a whole "
                "number, and neither may be negative."
            )
        p, A = int(self.degree), np.sqrt(self._gamma(A)) * dense(A)
        degrees = range(p + 1) if self.coef0 else [p]
        terms = exponents(A.shape[1], degrees)
        total = terms.sum(axis=1)
        offset = np.array([np.sqrt(comb(p, int(q)) * float(self.coef0) ** (p - int(q))) for q in total])
        return monomials(A, terms, "multinomial") * offset

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return C(d+p, p), or C(d+p−1, p) where coef0 is zero."""
        p = int(self.degree)
        return comb(d + p, p) if self.coef0 else comb(d + p - 1, p)


class PolynomialSum(Kernel):
    r"""The sum of powers :math:`\sum_{q=1}^p (x\cdot z)^q`, all orders up to p with equal weight.

    Examples
    --------
    >>> PolynomialSum(2)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    >>> PolynomialSum(2).feature_dim(1000)
    501500
    """

    def __init__(self, degree: int = 2) -> None:
        self.degree = degree

    def _check(self, d: int) -> None:
        if not float(self.degree).is_integer() or self.degree < 1:
            raise DataError(f"degree of PolynomialSum must be a whole number from 1; got {self.degree}.")

    def _of(self, product: Array) -> Array:
        out = product.copy()
        for _ in range(int(self.degree) - 1):
            out += 1.0
            out *= product
        return out

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return self._of(dot_products(A, B))

    def _diag(self, A: Any) -> Array:
        return self._of(square_norms(A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        terms = exponents(A.shape[1], range(1, int(self.degree) + 1))
        return monomials(dense(A), terms, "multinomial")

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return C(d+p, p) − 1."""
        return comb(d + int(self.degree), int(self.degree)) - 1


class Exponential(Kernel):
    r"""The exponential kernel :math:`e^{x\cdot z}`, a sum of all powers over their factorials.

    Examples
    --------
    >>> Exponential()([[0.6, -0.4]], [[1.0, 0.5]]).round(6)
    array([[1.491825]])
    """

    def __init__(self) -> None:
        pass

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = dot_products(A, B)
        return np.exp(K, out=K)

    def _diag(self, A: Any) -> Array:
        return np.exp(square_norms(A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        terms = exponents(A.shape[1], range(needed(max_degree, "Exponential") + 1))
        return monomials(dense(A), terms, "factorial")

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features up to a degree there are."""
        top = needed(max_degree, "Exponential")
        return comb(d + top, top)


class Cosine(Kernel):
    r"""The cosine of the angle, :math:`x\cdot z/\lVert x\rVert\lVert z\rVert`; 0 for a row of zeros.

    Examples
    --------
    >>> Cosine()([[3.0, 4.0]], [[4.0, 3.0]]).round(2)
    array([[0.96]])
    """

    def __init__(self) -> None:
        pass

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = dot_products(A, B)
        K *= inverse_root(square_norms(A))[:, None]
        K *= inverse_root(square_norms(B))
        return K

    def _diag(self, A: Any) -> Array:
        return (square_norms(A) > 0).astype(np.float64)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return inverse_root(square_norms(A))[:, None] * dense(A)


class Sigmoid(Kernel):
    r"""The function :math:`\tanh(\gamma\,x\cdot z + c_0)`: called a kernel, but positive semi-definite only by luck.

    Examples
    --------
    >>> Sigmoid(1.0, coef0=-1.0)([[1.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.7616]])
    """

    def __init__(self, gamma: float | None = None, coef0: float = 1.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_psd(self) -> bool | None:
        """Not known."""
        return None

    def _of(self, product: Array, columns: int) -> Array:
        gamma = 1.0 / max(1, columns) if self.gamma is None else float(self.gamma)
        return np.tanh(gamma * product + self.coef0)

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return self._of(dot_products(A, B), A.shape[1])

    def _diag(self, A: Any) -> Array:
        return self._of(square_norms(A), A.shape[1])


class Chi2(Kernel):
    r"""The χ² kernel of histograms, :math:`\exp(-\gamma\sum_j (x_j-z_j)^2/(x_j+z_j))`.

    With ``gamma=None`` the additive form :math:`-\sum_j (x_j-z_j)^2/(x_j+z_j)`, which is no kernel but adds a
    constant to become one on any sample. Entries must not be negative.

    Examples
    --------
    >>> Chi2(1.0)([[1.0, 0.0]], [[0.5, 0.5]]).round(4)
    array([[0.5134]])
    """

    def __init__(self, gamma: float | None = 1.0) -> None:
        self.gamma = gamma

    @property
    def is_psd(self) -> bool | None:
        """True for the exponential form."""
        return True if self.gamma is not None else None

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        A, B = dense(A), dense(B)
        if min(A.min(initial=0.0), B.min(initial=0.0)) < 0:
            raise DataError("X contains negative values; the chi2 kernel is for histograms.")
        total = np.zeros((len(A), len(B)))
        for x, z in zip(A.T, B.T, strict=True):
            both = x[:, None] + z
            total += np.divide((x[:, None] - z) ** 2, both, out=np.zeros_like(both), where=both > 0)
        return -total if self.gamma is None else np.exp(-float(self.gamma) * total)

    def _diag(self, A: Any) -> Array:
        return np.full(A.shape[0], 0.0 if self.gamma is None else 1.0)
