"""The base of all kernels: how one is called, combined, differentiated and written down.

A kernel writes `_tile`, the matrix between two blocks of rows, and `_diag`; `_gradients` where it has
hyper-parameters, `_map` where its features can be written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import is_finite
from gnomon.core.threads import one_blas_thread
from gnomon.kernels.tiles import fill

MAX_FEATURES = 2_000_000
WIDE = (1e-5, 1e5)  # the usual bounds of a hyper-parameter


class Kernel(SklearnKernel):  # type: ignore[misc]
    r"""A kernel: an inner product :math:`k(x, z) = \phi(x)\cdot\phi(z)` of features that need not be written down.

    Kernels are called like scikit-learn's and work in its Gaussian processes; its kernels work in sums and
    products with these. ``k(X)`` is the Gram matrix of the rows, ``k(X, Z)`` that between two sets of rows,
    ``k.diag(X)`` its diagonal. Free hyper-parameters are the logarithms in ``k.theta``, with ``k.bounds``.

    New kernels are made from old ones: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``, ``k ** 3``, ``k.exp()``,
    ``k.scaled(f)``, ``k.normalized()``, ``k.on(columns)``, ``k.warp(g)``. Each rule keeps a kernel a kernel.

    Examples
    --------
    >>> from gnomon.kernels import RBF, Linear
    >>> k = 2.0 * RBF(1.0) + Linear()
    >>> k([[0.0], [1.0]]).round(4)
    array([[2.    , 1.2131],
           [1.2131, 3.    ]])
    >>> k.theta.round(4)
    array([0.6931, 0.    ])
    """

    tiled: ClassVar[bool] = True  # may be computed in blocks of rows

    # what a kernel writes

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        """Return a new matrix of k(a, b); `same` says that A and B are the same rows, in the same order."""
        raise NotImplementedError

    def _diag(self, A: Any) -> Array:
        """Return k(a, a) of every row."""
        raise NotImplementedError

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        """Yield ∂K/∂theta_j of every free hyper-parameter, in their order; K is ``_tile(A, A, True)``."""
        yield from ()

    def _map(self, A: Array, max_degree: int | None) -> Array:
        """Return the features of dense rows."""
        raise DataError(
            f"{type(self).__name__} has no finite feature map; use the kernel itself, Nystroem or RBFSampler."
        )

    def _quick(self, X: Any) -> Callable[[Array, int, int], Array] | None:
        """Return a function from row numbers and two ends to that part of the rows of k(X) in float32, or None."""
        return None

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return int(self._map(np.zeros((1, d)), max_degree).shape[1])

    def _check(self, d: int) -> None:
        """Raise an error where the parameters break a rule, for rows of `d` columns."""

    @property
    def is_psd(self) -> bool | None:
        """Whether every Gram matrix is positive semi-definite; None where that is not known."""
        return True

    def is_stationary(self) -> bool:
        """Return whether k depends on x − z alone."""
        return False

    # what every kernel has

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the kernel matrix of the rows of X, or between those of X and Y.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        Y : array or sparse matrix of shape (m, d), optional
        eval_gradient : bool, default=False
            Return also the derivatives by `theta`, of shape (n, n, n_dims). Only without Y.
        """
        A, B = self._pair(X, Y)
        if not eval_gradient:
            with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # overflow is refused below
                K = fill(self._tile, A, B) if self.tiled else self._tile(A, A if B is None else B, B is None)
            return self._finite(K)
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._tile(A, A, True)
            slopes = [self._finite(slope) for slope in self._gradients(A, self._finite(K))]
        return K, (np.stack(slopes, axis=2) if slopes else np.empty((*K.shape, 0)))

    def _finite(self, K: Any) -> Any:
        if isinstance(K, np.ndarray) and K.dtype.kind == "f" and not (is_finite(K) or np.isfinite(K).all()):
            raise DataError(
                f"values of {type(self).__name__} overflow or are not numbers on these rows: X has entries too large "
                "for it. Scale the columns of X, or choose another kernel."
            )
        return K

    def diag(self, X: Any) -> Array:
        """Return k(x, x) of every row, without the rest of the matrix."""
        A, _ = self._pair(X, None)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._finite(self._diag(A))

    def weighted_gradient(self, X: Any, W: Array) -> Array:
        """Return Σ_ij W_ij ∂K_ij/∂theta of a symmetric W, without the three-dimensional array."""
        A, _ = self._pair(X, None)
        return self._weighted(A, np.asarray(W, dtype=np.float64))

    def _weighted(self, A: Any, W: Array) -> Array:
        K = self._tile(A, A, True)
        return np.array([float(np.vdot(W, slope)) for slope in self._gradients(A, K)])

    def feature_map(self, X: Any, *, max_degree: int | None = None) -> Array:
        """Return explicit features: ``feature_map(X) @ feature_map(Z).T`` is ``k(X, Z)``.

        Kernels with infinitely many features (RBF, Exponential) need `max_degree` and give the features up
        to that degree.
        """
        A, _ = self._pair(X, None)
        A = A.toarray() if sparse.issparse(A) else A
        if self.requires_vector_input:
            within(self.feature_dim(A.shape[1], max_degree))
        return self._map(A, max_degree)

    def _pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Return X and Y as checked rows."""
        if not self.requires_vector_input:
            return things(X), None if Y is None else things(Y)
        A = rows_of(X, "X")
        B = None if Y is None else rows_of(Y, "Y")
        if B is not None and A.shape[1] != B.shape[1]:
            raise DataError(f"X has {A.shape[1]} columns and Y has {B.shape[1]}; they must agree.")
        self._check(A.shape[1])
        return A, B

    # algebra

    def exp(self) -> Kernel:
        """Return exp(k), a kernel because it is a sum of powers with positive coefficients."""
        from gnomon.kernels.composed import Exp

        return Exp(self)

    def scaled(self, f: Any) -> Kernel:
        """Return f(x) k(x, z) f(z) for a function from rows to one number each."""
        from gnomon.kernels.composed import Scaled

        return Scaled(self, f)

    def normalized(self) -> Kernel:
        """Return k(x, z)/√(k(x, x) k(z, z)), zero where a diagonal entry is zero."""
        from gnomon.kernels.composed import Normalized

        return Normalized(self)

    def on(self, columns: Any) -> Kernel:
        """Return the kernel of some columns of the rows."""
        from gnomon.kernels.composed import OnColumns

        return OnColumns(self, columns)

    def warp(self, g: Any) -> Kernel:
        """Return k(g(x), g(z)) for a function from rows to rows."""
        from gnomon.kernels.composed import Warped

        return Warped(self, g)

    def __add__(self, other: Any) -> Kernel:
        from gnomon.kernels.algebra import Sum

        return Sum(self, self._operand(other))

    def __radd__(self, other: Any) -> Kernel:
        from gnomon.kernels.algebra import Sum

        return Sum(self._operand(other), self)

    def __mul__(self, other: Any) -> Kernel:
        from gnomon.kernels.algebra import Product

        return Product(self, self._operand(other))

    def __rmul__(self, other: Any) -> Kernel:
        from gnomon.kernels.algebra import Product

        return Product(self._operand(other), self)

    def __pow__(self, exponent: Any) -> Kernel:
        from gnomon.kernels.algebra import Exponentiation

        return Exponentiation(self, exponent)

    def __sub__(self, other: Any) -> Kernel:
        raise TypeError(
            "the difference of two kernels need not be a kernel, so there is no k1 - k2. Use "
            "FunctionKernel(..., is_psd=None) where you know what you do."
        )

    __rsub__ = __neg__ = lambda self, other=None: Kernel.__sub__(self, other)

    def _operand(self, other: Any) -> Any:
        from gnomon.kernels.constant import ConstantKernel

        if isinstance(other, SklearnKernel):
            return other
        if not isinstance(other, Real):
            raise TypeError(f"a kernel can be combined with kernels and numbers; got {type(other).__name__}.")
        if other < 0:
            raise ValueError(f"a kernel times or plus a negative number is no kernel; got {other}.")
        return ConstantKernel(float(other))

    # words

    def __repr__(self) -> str:
        given = []
        for name, parameter in signature(type(self).__init__).parameters.items():
            if name == "self":
                continue
            value = getattr(self, name)
            if parameter.default is parameter.empty or not _equal(value, parameter.default):
                given.append(f"{name}={_written(value)}")
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)  # type: ignore[attr-defined]
        return mine.keys() == theirs.keys() and all(_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}


def numeric(kernel: Kernel, name: str) -> Hyperparameter:
    """Return the specification of a hyper-parameter with an attribute `name` and one `name`_bounds."""
    value = getattr(kernel, name)
    count = len(value) if np.iterable(value) else 1
    return Hyperparameter(name, "numeric", getattr(kernel, f"{name}_bounds"), count)


def is_free(kernel: Kernel, name: str) -> bool:
    """Tell whether a hyper-parameter is part of `theta`."""
    bounds = getattr(kernel, f"{name}_bounds")
    return not (isinstance(bounds, str) and bounds == "fixed")


def positive(kernel: Kernel, *names: str) -> None:
    """Raise an error where one of the parameters is not above zero."""
    for name in names:
        value = getattr(kernel, name)
        if value is not None and not np.all(np.asarray(value, dtype=float) > 0):
            raise DataError(f"{name} of {type(kernel).__name__} must be positive; got {value}.")


def within(count: int) -> None:
    """Raise an error where there would be too many features."""
    if count > MAX_FEATURES:
        raise DataError(
            f"the explicit map would have {count} features, more than {MAX_FEATURES}. Use the kernel itself, "
            "or Nystroem."
        )


def rows_of(X: Any, name: str) -> Any:
    """Return X as finite rows: a matrix of floats or a CSR array."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if X.dtype.kind != "f":
            X = X.astype(np.float64)
        if not np.isfinite(X.data).all():
            raise DataError(f"{name} has NaN or infinite entries; kernels take none.")
        return X
    X = np.asarray(X)
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    X = np.atleast_2d(X)
    if X.ndim != 2:
        raise DataError(f"{name} must be a matrix with one row each; its shape is {X.shape}.")
    if not (is_finite(X) or np.isfinite(X).all()):
        raise DataError(f"{name} has NaN or infinite entries; kernels take none.")
    return X


def things(X: Any) -> Any:
    """Return rows of any kind as an array that can be sliced."""
    if sparse.issparse(X) or isinstance(X, np.ndarray):
        return X
    out = np.empty(len(X), dtype=object)
    out[:] = list(X) if not isinstance(X, list) else X
    return out


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(np.array_equal(a, b)) if np.iterable(a) or np.iterable(b) else bool(a == b)
    except (TypeError, ValueError):
        return a is b


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return repr(value.item() if isinstance(value, np.generic) else value)
