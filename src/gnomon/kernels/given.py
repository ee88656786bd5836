"""Kernels that a user brings: features, a function, or the matrix itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels.base import Kernel
from gnomon.kernels.tiles import dot_products, square_norms, wide


class FeatureMapKernel(Kernel):
    r"""The kernel :math:`\phi(x)\cdot\phi(z)` of features given by a function of rows.

    Rows may be anything that `phi` understands: vectors, strings, sets, graphs.

    Parameters
    ----------
    phi : callable
        From n rows to an (n, D) array or sparse matrix.

    Examples
    --------
    >>> k = FeatureMapKernel(lambda words: np.array([[w.count("a"), w.count("b")] for w in words]))
    >>> k(["aab", "ab"])
    array([[5., 3.],
           [3., 2.]])
    """

    tiled: ClassVar[bool] = False

    def __init__(self, phi: Any) -> None:
        self.phi = phi

    @property
    def requires_vector_input(self) -> bool:
        """Rows may be anything."""
        return False

    def _features(self, A: Any) -> Any:
        found = self.phi(A)
        if not sparse.issparse(found):
            found = wide(found)
        if found.ndim != 2 or found.shape[0] != A.shape[0]:
            raise DataError(
                f"phi must give a matrix with {A.shape[0]} rows, one for each of X; got {found.shape}."
            )
        return found

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        features = self._features(A)
        return dot_products(features, features if same else self._features(B))

    def _diag(self, A: Any) -> Array:
        return square_norms(self._features(A))

    def _map(self, A: Any, max_degree: int | None) -> Array:
        found = self._features(A)
        return found.toarray() if sparse.issparse(found) else found


class FunctionKernel(Kernel):
    """A kernel given by a function.

    Parameters
    ----------
    f : callable
        From two sets of rows to the matrix between them, or with ``vectorized=False`` from two rows to a number.
    vectorized : bool, default=True
    is_psd : bool or None, default=None
        What you know of it.
    params : dict, optional
        Named arguments of `f`.

    Examples
    --------
    >>> shared = FunctionKernel(lambda a, b: len(a & b), vectorized=False, is_psd=True)
    >>> shared([{1, 2, 3}, {2, 3}])
    array([[3., 2.],
           [2., 2.]])
    """

    tiled: ClassVar[bool] = False

    def __init__(
        self,
        f: Any,
        vectorized: bool = True,
        is_psd: bool | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.f = f
        self.vectorized = vectorized
        self.__dict__["is_psd"] = is_psd
        self.params = params

    @property
    def is_psd(self) -> bool | None:
        """What the user said."""
        return self.__dict__.get("is_psd")

    @is_psd.setter
    def is_psd(self, value: bool | None) -> None:
        self.__dict__["is_psd"] = value

    @property
    def requires_vector_input(self) -> bool:
        """Rows may be anything."""
        return False

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        options = self.params or {}
        if self.vectorized:
            K = self.f(A, B, **options)
            K = np.array(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)
        else:
            K = np.array([[float(self.f(a, b, **options)) for b in B] for a in A]).reshape(len(A), len(B))
        if K.shape != (A.shape[0], B.shape[0]):
            raise DataError(
                f"the kernel function must give a matrix of shape {(A.shape[0], B.shape[0])}, one entry for "
                f"each pair of rows; got {K.shape}. Say vectorized=False if it takes two rows."
            )
        return K

    def _diag(self, A: Any) -> Array:
        return np.array([self._tile(A[i : i + 1], A[i : i + 1], True)[0, 0] for i in range(A.shape[0])])


class Precomputed(Kernel):
    """The matrix itself: X is already the kernel between the rows asked for and the rows of the fit.

    Examples
    --------
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    tiled: ClassVar[bool] = False

    def __init__(self) -> None:
        pass

    @property
    def is_psd(self) -> bool | None:
        """Not known before the matrix is."""
        return None

    def _pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return super()._pair(X, None)[0], None

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return np.array(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)

    def _diag(self, A: Any) -> Array:
        return np.array(A.diagonal(), dtype=np.float64)
