"""What estimators that take a kernel share: its parameters, its Gram matrices, and rows of any kind."""

from __future__ import annotations

from numbers import Number, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.gram import read_objects
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.kernels.base import Kernel, things
from gnomon.kernels.names import NAMES, as_kernel

KERNEL: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(NAMES)), SklearnKernel, callable],
    "gamma": [Interval(Real, 0, None, closed="left"), None],
    "degree": [Interval(Real, 0, None, closed="left"), None],
    "coef0": [Interval(Real, None, None, closed="neither"), None],
    "kernel_params": [dict, None],
}


class TakesKernel:
    """An estimator with the parameters kernel, gamma, degree, coef0 and kernel_params."""

    _by_matrices: ClassVar[bool] = False  # whether a function takes two matrices, not two rows
    kernel: Any

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _of_things(self) -> bool:
        """Whether rows may be anything the kernel knows."""
        return isinstance(self.kernel, Kernel) and not self.kernel.requires_vector_input

    def _takes_as_things(self, X: Any) -> bool:
        """Tell whether X is left as it is: no table of numbers, and a kernel that may know what it holds."""
        if self._of_things:
            return not is_matrix(X)
        return callable(self.kernel) and not isinstance(self.kernel, SklearnKernel) and is_things(X)

    def _kernel_for(self, d: int, gamma: Any = None) -> Kernel:
        """Return the kernel object for rows of `d` columns."""
        degree, coef0 = getattr(self, "degree", None), getattr(self, "coef0", None)
        return as_kernel(
            self.kernel,
            d=d,
            gamma=getattr(self, "gamma", None) if gamma is None else gamma,
            degree=3 if degree is None else degree,
            coef0=1.0 if coef0 is None else coef0,
            params=getattr(self, "kernel_params", None),
            vectorized=self._by_matrices,
        )

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **more: Any
    ) -> Any:
        if self._takes_as_things(X):
            check_parameters(self)
            return read_objects(X, y, sample_weight, "class" if self._reads.y == "class" else self._reads.y)  # type: ignore[attr-defined]
        if self._precomputed and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported; give a dense matrix.")
        rows = super()._read(X, y, sample_weight, reset=reset, **more)  # type: ignore[misc]
        if reset and self._precomputed and rows.n_rows != rows.n_features:
            raise DataError(
                "Precomputed matrix must be a square matrix. "
                f"Input is a {rows.n_rows}x{rows.n_features} matrix: one entry for each pair of rows."
            )
        return rows

    def _asked(self, X: Any) -> Any:
        """Return the rows to predict for, as the kernel takes them."""
        if self._takes_as_things(X):
            check_is_fitted(self)
            return things(X)
        return self._rows(X).X  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._precomputed
        if self._precomputed:
            tags.input_tags.sparse = False
        return tags


def is_matrix(X: Any) -> bool:
    """Tell whether X is a table of numbers."""
    if sparse.issparse(X) or hasattr(X, "iloc") or hasattr(X, "columns"):
        return True
    try:
        X = np.asarray(X)
        return X.dtype.kind in "iufb" and X.ndim == 2
    except ValueError:
        return False


def is_things(X: Any) -> bool:
    """Tell whether X is a sequence of strings, sets or the like, not of numbers or of rows of numbers.

    >>> is_things(["ab", "b"]), is_things([{1, 2}, {3}]), is_things([1.0, 2.0]), is_things([[1.0, None]])
    (True, True, False, False)
    """
    if not isinstance(X, (list, tuple, np.ndarray)) or not len(X) or np.ndim(X[0]):
        return False
    return not any(
        one is None or isinstance(one, (Number, np.generic)) and not isinstance(one, str) for one in X
    )


def weighted_variance(X: Any, weight: Array) -> float:
    """Return the population variance of all entries, rows counted by their weights."""
    total = float(weight.sum()) * X.shape[1]
    if sparse.issparse(X):
        mean = float(weight @ np.asarray(X.sum(axis=1), dtype=float).ravel()) / total
        squares = float(weight @ np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()) / total
        return float(np.maximum(0.0, squares - mean * mean))  # NaN where both overflow
    mean = float(weight @ X.sum(axis=1, dtype=np.float64)) / total
    return float(weight @ ((X - mean) ** 2).sum(axis=1, dtype=np.float64)) / total


def gamma_of(setting: Any, X: Any, weight: Array) -> float:
    """Return the number behind gamma: "scale" is 1/(d·Var), "auto" 1/d."""
    if isinstance(setting, str):
        if setting == "auto":
            return 1.0 / X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            spread = weighted_variance(X, weight)
        if not np.isfinite(spread):
            raise DataError(
                "entries of X are too large: its variance overflows, and gamma='scale' with it. Scale the columns."
            )
        return 1.0 / (X.shape[1] * spread) if spread > 0 and np.isfinite(1.0 / spread) else 1.0
    return float(setting)
