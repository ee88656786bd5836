"""Canonical correlations in feature space."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT, POSITIVE, Reads, check_fitted
from gnomon.decomposition._kernels import KERNELS, centered_kernel, kernel_of, rounding


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneStep):
    r"""Canonical correlations of two blocks in feature space.

    .. math:: \max_{\alpha, \beta} \alpha^T K_x K_y \beta \quad \text{subject to} \quad
        \alpha^T (K_x^2 + \rho K_x) \alpha = \beta^T (K_y^2 + \rho K_y) \beta = 1

    with centered kernel matrices. Without the ridge ρ every correlation would be 1, as kernel blocks have full rank;
    with the linear kernel it is `CCA` with the same `reg`.

    Parameters
    ----------
    n_components : int, default=2
    kernel : str or callable, default="rbf"
        A name such as "linear", "poly" or "rbf", a kernel of `gnomon.kernels`, or a function of two rows.
    gamma, degree, coef0
        Of the kernel, as in `KernelPCA`.
    reg : float, default=1.0
        ρ > 0, in units of the kernel matrix's eigenvalues.

    Attributes
    ----------
    canonical_correlations_ : array
        Regularized correlations, below 1.
    x_dual_coef_, y_dual_coef_ : arrays of shape (n, K)
    X_fit_, Y_fit_ : arrays

    Examples
    --------
    >>> t = np.linspace(0, 6, 40)
    >>> model = KernelCCA(1, gamma=1.0, reg=0.1).fit(np.c_[np.cos(t), np.sin(t)], t[:, None])
    >>> bool(model.canonical_correlations_[0] > 0.95)
    True
    """

    _reads = Reads(y="numbers", min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "reg": [POSITIVE],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        reg: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.reg = reg

    def fit(self, X: Any, y: Any = None, *, Y: Any = None) -> Any:
        """Learn the pairs from two blocks of the same rows."""
        target = Y if y is None else y
        return self._learn(self._read(X, target), X=X, y=target)

    def _solve(self, rows: Any) -> dict[str, Any]:
        Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        blocks = []
        for Z in (np.asarray(rows.X, dtype=np.float64), Y):
            G = self._gram(Z, Z)
            if not np.isfinite(G).all():
                raise DataError("the kernel of X or Y has values that are not finite; scale the columns.")
            K, means, grand = centered_kernel(G)
            values, vectors = linalg.eigh(K)
            good = values > max(1e-12 * max(float(values[-1]), 1e-300) * len(values), rounding(G))
            if not good.any():
                raise DegenerateError(
                    "a block of columns is constant in feature space; nothing can correlate."
                )
            blocks.append((values[good], vectors[:, good], means, grand))
        (lx, Qx, mx, gx), (ly, Qy, my, gy) = blocks
        rho = self.reg
        M = (Qx * np.sqrt(lx / (lx + rho))).T @ (Qy * np.sqrt(ly / (ly + rho)))
        left, D, right = linalg.svd(M, full_matrices=False)
        K = int(self.n_components)
        if K > len(D):
            raise DataError(f"n_components={K} exceeds the rank of the kernel blocks, {len(D)}; lower it.")
        A = (Qx / np.sqrt(lx * (lx + rho))) @ left[:, :K]
        B = (Qy / np.sqrt(ly * (ly + rho))) @ right[:K].T
        signs = np.where(A[np.abs(A).argmax(axis=0), np.arange(K)] < 0, -1.0, 1.0)
        return {
            "canonical_correlations_": np.clip(D[:K], 0.0, 1.0),
            "x_dual_coef_": A * signs,
            "y_dual_coef_": B * signs,
            "X_fit_": np.array(rows.X),
            "Y_fit_": np.array(Y),
            "x_means_": mx,
            "y_means_": my,
            "x_grand_": float(gx),
            "y_grand_": float(gy),
        }

    def _gram(self, A: Array, B: Array) -> Array:
        kernel = kernel_of(self.kernel, A.shape[1], self.gamma, self.degree, self.coef0)
        if (
            self.kernel == "linear"
        ):  # its features are centered anyway, and far from zero products have no digits left
            middle = B.mean(axis=0)
            return np.asarray(kernel(A - middle) if A is B else kernel(A - middle, B - middle))
        return np.asarray(kernel(A) if A is B else kernel(A, B))

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the scores of the first block, or a pair of scores where the second block is given."""
        check_fitted(self)
        X = np.asarray(self._rows(X).X, dtype=np.float64)
        scores = _dual_scores(self._gram(X, self.X_fit_), self.x_dual_coef_, self.x_means_, self.x_grand_)
        if y is None:
            return scores
        Y = np.asarray(y, dtype=np.float64)
        Y = Y if Y.ndim == 2 else Y[:, None]
        return scores, _dual_scores(
            self._gram(Y, self.Y_fit_), self.y_dual_coef_, self.y_means_, self.y_grand_
        )

    @property
    def _n_features_out(self) -> int:
        return self.x_dual_coef_.shape[1]


def _dual_scores(K: Array, dual: Array, means: Array, grand: float) -> Array:
    """Scores of kernel rows, centered with the training means."""
    return (K - K.mean(axis=1, keepdims=True) - means + grand) @ dual
