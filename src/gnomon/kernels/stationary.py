"""Kernels of a distance between rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gamma as gamma_function
from scipy.special import kv
from sklearn.gaussian_process.kernels import Hyperparameter

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.kernels.algebra import needed
from gnomon.kernels.base import WIDE, Kernel, is_free, numeric, positive
from gnomon.kernels.monomials import exponents, monomials
from gnomon.kernels.tiles import dense, scaled, square_norms, squared_distances, tiled


class Radial(Kernel):
    """A kernel g(s) of the scaled squared distance s = Σ (x_j − z_j)²/ℓ_j²."""

    length_scale: Any

    def _value(self, s: Array) -> Array:
        """Return g(s); may write to s."""
        raise NotImplementedError

    def _slope(self, s: Array) -> Array:
        """Return −2 g′(s), times s zero at zero; may write to s."""
        raise NotImplementedError

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        """The length scale, or one for each column."""
        return numeric(self, "length_scale")

    def is_stationary(self) -> bool:
        """Return True."""
        return True

    def _check(self, d: int) -> None:
        positive(self, "length_scale")
        count = np.size(self.length_scale)
        if np.ndim(self.length_scale) > 1:
            raise ValueError("length_scale cannot be of dimension greater than 1")
        if np.ndim(self.length_scale) and count not in (1, d):
            raise DataError(
                f"Anisotropic kernel must have the same number of dimensions as data ({count}!={d}): "
                f"length_scale has {count} entries and the rows have {d} columns."
            )

    def _scaled(self, A: Any) -> Any:
        return scaled(A, np.asarray(self.length_scale, dtype=np.float64))

    def _squares(self, A: Any, B: Any, same: bool) -> Array:
        return squared_distances(A, B, same, self.length_scale)

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return self._value(self._squares(A, B, same))

    def _quick(self, X: Any) -> Callable[[Array, int, int], Array] | None:
        if not isinstance(X, np.ndarray):
            return None
        near = np.asarray((X - X.mean(axis=0, dtype=np.float64)) / self.length_scale, dtype=np.float32)
        if not np.isfinite(norms := np.einsum("ij,ij->i", near, near)).all():
            return None
        turned = np.ascontiguousarray(near.T)
        turned *= -2.0

        def rows(chosen: Array, first: int, last: int) -> Array:
            s = near[chosen] @ turned[:, first:last]
            s += norms[chosen, None]
            s += norms[first:last]
            np.maximum(s, 0.0, out=s)
            own = np.flatnonzero((chosen >= first) & (chosen < last))
            s[own, chosen[own] - first] = 0.0
            return self._value(s)

        return rows

    def _diag(self, A: Any) -> Array:
        return np.ones(A.shape[0])

    def _length_gradients(self, A: Any) -> Iterator[Array]:
        if not is_free(self, "length_scale"):
            return
        s = self._squares(A, A, True)
        if np.size(self.length_scale) == 1:
            yield self._slope(s.copy()) * s
            return
        slope, columns = self._slope(s), dense(self._scaled(A))
        for x in columns.T:
            yield slope * (x[:, None] - x) ** 2

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        yield from self._length_gradients(A)

    def _length_weighted(self, A: Any, W: Array) -> Array:
        """Σ_ij M_ij (x_i − x_j)² of every column, tile by tile: Σ_i r_i x_i² + Σ_j c_j x_j² − 2 xᵀM x."""
        if not is_free(self, "length_scale"):
            return np.zeros(0)
        one = np.size(self.length_scale) == 1
        x = np.zeros((A.shape[0], 1)) if one else dense(self._scaled(A))
        squares = (x := x - x.mean(axis=0)) ** 2
        height, width, corners = tiled(A)

        def part(corner: tuple[int, int]) -> Array:
            i, j = (slice(corner[0], corner[0] + height), slice(corner[1], corner[1] + width))
            same = i == j
            s = self._squares(A[i], A[i] if same else A[j], same)
            M = self._slope(s.copy() if one else s)
            M *= W[i, j]
            if one:
                found = np.array([float(np.vdot(M, s))])
            else:
                found = M.sum(axis=1) @ squares[i] + M.sum(axis=0) @ squares[j]
                found -= 2.0 * np.einsum("ij,ij->j", x[i], M @ x[j])
            return found if same else 2.0 * found

        return np.sum(shared(part, corners), axis=0)

    def _weighted(self, A: Any, W: Array) -> Array:
        return self._length_weighted(A, W)


class RBF(Radial):
    r"""The Gaussian kernel :math:`\exp(-\frac12\sum_j (x_j-z_j)^2/\ell_j^2)`.

    The kernel to begin with: smooth, and able to separate any labels of distinct points. Widths of other books:
    ``gamma`` :math:`= 1/(2\ell^2)`, so that :math:`e^{-\lVert x-z\rVert^2/2\sigma^2}` has ℓ = σ and
    :math:`e^{-\lVert x-z\rVert^2/b}` has ℓ = √(b/2).

    Parameters
    ----------
    length_scale : float or array of one a column, default=1.0
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> RBF(1.0)([[0.0]], [[0.8]]).round(7)
    array([[0.726149]])
    """

    def __init__(self, length_scale: Any = 1.0, length_scale_bounds: Any = WIDE) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds

    @property
    def anisotropic(self) -> bool:
        """Whether every column has a length scale of its own."""
        return bool(np.iterable(self.length_scale) and len(self.length_scale) > 1)

    def _value(self, s: Array) -> Array:
        s *= -0.5
        return np.exp(s, out=s)

    _slope = _value

    def _map(self, A: Array, max_degree: int | None) -> Array:
        A = dense(self._scaled(A))
        terms = exponents(A.shape[1], range(needed(max_degree, "RBF") + 1))
        height = np.exp(-0.5 * square_norms(A))[:, None]
        near = np.where(
            height > 0, A, 0.0
        )  # farther out every feature is 0, though its monomial may overflow
        return height * monomials(near, terms, "factorial")

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features up to a degree there are."""
        top = needed(max_degree, "RBF")
        return comb(d + top, top)


class Matern(Radial):
    r"""The Matérn kernel, whose functions are differentiable ⌈ν⌉ − 1 times.

    .. math:: k = \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t),\quad t = \sqrt{2\nu}\,r,\;
              r^2 = \textstyle\sum_j (x_j-z_j)^2/\ell_j^2

    ν = ½ is :math:`e^{-r}`, 3/2 :math:`(1+\sqrt3r)e^{-\sqrt3r}`, 5/2
    :math:`(1+\sqrt5r+\frac53r^2)e^{-\sqrt5r}`, ∞ the RBF. These are fast; others take Bessel functions.

    Parameters
    ----------
    length_scale : float or array of one a column, default=1.0
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
    nu : float, default=1.5
        Smoothness; not optimized.

    Examples
    --------
    >>> Matern(1.0, nu=2.5)([[0.0]], [[0.8]]).round(7)
    array([[0.6444563]])
    """

    def __init__(self, length_scale: Any = 1.0, length_scale_bounds: Any = WIDE, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu

    def _check(self, d: int) -> None:
        super()._check(d)
        positive(self, "nu")

    def _value(self, s: Array) -> Array:
        if self.nu == np.inf:
            return np.exp(-0.5 * s)
        t = np.sqrt(2.0 * self.nu * s)
        if self.nu == 0.5:
            return np.exp(-t)
        if self.nu == 1.5:
            return (1.0 + t) * np.exp(-t)
        if self.nu == 2.5:
            return (1.0 + t + t * t / 3.0) * np.exp(-t)
        return bessel_part(self.nu, t)

    def _slope(self, s: Array) -> Array:
        nu = self.nu
        if nu == np.inf:
            return np.exp(-0.5 * s)
        t = np.sqrt(2.0 * nu * s)
        if nu == 0.5:
            return np.divide(np.exp(-t), t, out=np.zeros_like(t), where=t > 0)
        if nu == 1.5:
            return 3.0 * np.exp(-t)
        if nu == 2.5:
            return 5.0 / 3.0 * (1.0 + t) * np.exp(-t)
        safe = np.where(t > 0, t, 1.0)
        near = 2.0 * nu * (2.0 ** (1.0 - nu) / gamma_function(nu)) * safe ** (nu - 1.0) * kv(nu - 1.0, safe)
        return np.where(t > 0, near, nu / (nu - 1.0) if nu > 1 else 0.0)


def bessel_part(nu: float, t: Array) -> Array:
    """Return 2^{1−ν} t^ν K_ν(t)/Γ(ν), which is 1 at 0 and 0 far away."""
    safe = np.where(t > 0, t, 1.0)
    found = 2.0 ** (1.0 - nu) / gamma_function(nu) * safe**nu * kv(nu, safe)
    found = np.where(np.isfinite(found), found, 0.0)
    return np.where(t > np.finfo(float).eps, found, 1.0)


class RationalQuadratic(Radial):
    r"""The rational quadratic kernel :math:`(1 + \frac{\lVert x-z\rVert^2}{2\alpha\ell^2})^{-\alpha}`.

    A mixture of RBF kernels of all length scales; for α → ∞ one RBF is left.

    Parameters
    ----------
    length_scale : float, default=1.0
    alpha : float, default=1.0
    length_scale_bounds, alpha_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> RationalQuadratic(1.0, alpha=1.0)([[0.0]], [[0.8]]).round(7)
    array([[0.7575758]])
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        alpha: float = 1.0,
        length_scale_bounds: Any = WIDE,
        alpha_bounds: Any = WIDE,
    ) -> None:
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds

    @property
    def hyperparameter_alpha(self) -> Hyperparameter:
        """The weight of far scales."""
        return numeric(self, "alpha")

    def _check(self, d: int) -> None:
        if np.size(self.length_scale) > 1:
            raise AttributeError(
                "RationalQuadratic kernel only supports isotropic version, please use a single scalar for "
                "length_scale"
            )
        super()._check(d)
        positive(self, "alpha")

    def _value(self, s: Array) -> Array:
        return np.exp(-self.alpha * np.log1p(s / (2.0 * self.alpha)))

    def _slope(self, s: Array) -> Array:
        return np.exp(-(self.alpha + 1.0) * np.log1p(s / (2.0 * self.alpha)))

    def _alpha_gradients(self, A: Any, K: Array) -> Iterator[Array]:
        if is_free(self, "alpha"):
            s = self._squares(A, A, True)
            base = s / (2.0 * self.alpha)
            yield K * (s / (2.0 * (1.0 + base)) - self.alpha * np.log1p(base))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        yield from self._alpha_gradients(A, K)
        yield from self._length_gradients(A)

    def _weighted(self, A: Any, W: Array) -> Array:
        return Kernel._weighted(self, A, W)


class Laplacian(Kernel):
    r"""The Laplacian kernel :math:`e^{-\gamma\lVert x-z\rVert_1}`; ``gamma=None`` is 1/columns.

    Examples
    --------
    >>> Laplacian(1.0)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.1353]])
    """

    def __init__(self, gamma: float | None = None, gamma_bounds: Any = "fixed") -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """The inverse width."""
        return numeric(self, "gamma")

    def is_stationary(self) -> bool:
        """Return True."""
        return True

    def _check(self, d: int) -> None:
        positive(self, "gamma")

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        gamma = 1.0 / A.shape[1] if self.gamma is None else float(self.gamma)
        return np.exp(-gamma * cdist(dense(A), dense(B), "cityblock"))

    def _diag(self, A: Any) -> Array:
        return np.ones(A.shape[0])

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        if is_free(self, "gamma"):
            yield K * np.log(np.maximum(K, 1e-300))
