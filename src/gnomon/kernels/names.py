"""Names of kernels, as estimators take them: a word, an object or a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from gnomon.core.errors import DataError, nearest
from gnomon.kernels.base import Kernel
from gnomon.kernels.composed import Warped
from gnomon.kernels.constant import ConstantKernel
from gnomon.kernels.given import FunctionKernel, Precomputed
from gnomon.kernels.inner import Chi2, Cosine, Exponential, Linear, Polynomial, PolynomialSum, Sigmoid
from gnomon.kernels.stationary import RBF, Laplacian

NAMES = (
    "additive_chi2",
    "chi2",
    "cosine",
    "exponential",
    "laplacian",
    "linear",
    "poly",
    "poly_sum",
    "polynomial",
    "precomputed",
    "rbf",
    "sigmoid",
)


def as_kernel(
    kernel: Any,
    *,
    d: int,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1.0,
    params: dict[str, Any] | None = None,
    vectorized: bool = False,
) -> Kernel:
    """Return the kernel object behind a name, an object or a function.

    Parameters
    ----------
    kernel : str, Kernel or callable
    d : int
        Columns of the rows; ``gamma=None`` means 1/d.
    gamma, degree, coef0 : float
        Arguments of the named kernels.
    params : dict, optional
        Named arguments of a function.
    vectorized : bool, default=False
        Whether a function takes two matrices or two rows.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, SklearnKernel):
        return Warped(kernel, _same)
    if isinstance(kernel, str):
        return _named(kernel, 1.0 / max(1, d) if gamma is None else float(gamma), degree, coef0, gamma)
    if callable(kernel):
        return FunctionKernel(kernel, vectorized=vectorized, params=params)
    raise DataError(f"kernel must be a name, a Kernel or a function; got {type(kernel).__name__}.")


def _same(X: Any) -> Any:
    """Return rows as they are, dense."""
    return X.toarray() if sparse.issparse(X) else X


def _named(name: str, gamma: float, degree: float, coef0: float, given: float | None) -> Kernel:
    if name not in NAMES:
        raise DataError(f"kernel={name!r} is not one of {list(NAMES)}.{nearest(name, NAMES)}")
    if name in ("rbf", "laplacian") and gamma == 0:
        return ConstantKernel(1.0, "fixed")
    if name == "rbf":
        return RBF(1.0 / np.sqrt(2.0 * gamma), "fixed")
    if name in ("poly", "polynomial"):
        return Polynomial(degree, gamma, coef0, allow_indefinite=True)
    if name == "laplacian":
        return Laplacian(gamma)
    if name == "sigmoid":
        return Sigmoid(gamma, coef0)
    if name == "chi2":
        return Chi2(1.0 if given is None else gamma)
    if name == "additive_chi2":
        return Chi2(None)
    if name == "poly_sum":
        return PolynomialSum(int(degree))
    plain = {"linear": Linear, "cosine": Cosine, "exponential": Exponential, "precomputed": Precomputed}
    return plain[name]()
