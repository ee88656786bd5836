"""Features written down: the truncated map of the RBF kernel, and similarities to the rows of the fit."""

from __future__ import annotations

from math import sqrt
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags

from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.promises import Promises
from gnomon.core.validate import Reads, check_fitted
from gnomon.kernels.base import within
from gnomon.kernels.monomials import exponents, names
from gnomon.kernels.stationary import RBF
from gnomon.kernels.tiles import wide
from gnomon.kernels.using import KERNEL, TakesKernel


class NamedColumns(TransformerMixin, Estimator):
    """A transformer whose columns are numbered after the class."""

    def _width(self) -> int:
        raise NotImplementedError

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the new columns."""
        check_fitted(self)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{j}" for j in range(self._width())], dtype=object)


class TruncatedRBFMap(NamedColumns):
    r"""The features of the RBF kernel up to a degree.

    .. math:: \phi_n(x) = e^{-\gamma\lVert x\rVert^2}\prod_i\frac{(\sqrt{2\gamma}x_i)^{n_i}}{\sqrt{n_i!}},
              \quad \textstyle\sum_i n_i \le J

    Inner products are at most P(N > J) from the kernel, N Poisson of mean :math:`2\gamma\lVert x\rVert\lVert z\rVert`.
    For few columns near the origin; `Nystroem` and `RBFSampler` serve many columns.

    Parameters
    ----------
    gamma : float, default=0.5
    max_degree : int, default=4

    Examples
    --------
    >>> TruncatedRBFMap(max_degree=1).fit_transform([[0.6, -0.4]]).round(4)
    array([[ 0.7711,  0.4626, -0.3084]])
    """

    _reads: ClassVar[Reads] = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "max_degree": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, gamma: float = 0.5, *, max_degree: int = 4) -> None:
        self.gamma = gamma
        self.max_degree = max_degree

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the columns; `y` is ignored."""
        rows = self._read(X)
        _ = rows.X  # looked through
        self._check_count(rows.n_features)
        self._adopt({"powers_": exponents(rows.n_features, range(int(self.max_degree) + 1))}, rows)
        return self

    def _kernel(self) -> RBF:
        return RBF(1.0 / sqrt(2.0 * float(self.gamma)))

    def transform(self, X: Any) -> Array:
        """Return the features."""
        rows = self._rows(X)
        self._check_count(rows.n_features)  # the degree may have been set, or come from a file
        return self._kernel()._map(wide(rows.X), int(self.max_degree))

    def _check_count(self, d: int) -> None:
        within(self._kernel().feature_dim(d, int(self.max_degree)))

    def _check_loaded(self) -> None:
        if "powers_" in vars(self):
            check_shapes(self, {"powers_": (len(self.powers_), self.n_features_in_)}, kinds="iu")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return monomials such as ``x0^2 x1``."""
        check_fitted(self)
        given = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return names(self.powers_, list(given if input_features is None else input_features))


class KernelExpansion(TakesKernel, NamedColumns):
    r"""The rows of the fit as features: :math:`\phi(x) = (k(x_1, x), \dots, k(x_n, x))`, or each times its label.

    A linear model on them is a kernel machine without its penalty.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    signed : bool, default=False
        Multiply by the labels, which must be −1 and 1.
    gamma, degree, coef0, kernel_params
        Of the kernel.

    Examples
    --------
    >>> KernelExpansion("linear", signed=True).fit_transform([[1.0], [2.0]], [1, -1])
    array([[ 1., -2.],
           [ 2., -4.]])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number", optional_y=True)
    _promises: ClassVar[Promises] = Promises(order="no: every row of the fit is a column, in its place")
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {"signed": ["boolean"]}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        signed: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.signed = signed
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self.signed)
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows, and their labels where features are signed."""
        rows = self._read(X, y if self.signed else None)
        signs = None
        if self.signed:
            if rows.y is None or not np.isin(rows.y, (-1, 1)).all():
                raise DataError(
                    "signed=True multiplies features by labels, so it requires y to be passed, each −1 or 1 (got "
                    f"{'none' if rows.y is None else np.unique(rows.y)[:4].tolist()}). Say signed=False otherwise."
                )
            signs = rows.y
        self._adopt({"X_fit_": rows.X, "signs_": signs}, rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return k(x, x_i) for every row of the fit, times its label."""
        asked = self._asked(X)
        if self._precomputed:
            K = wide(asked)
        else:
            K = np.asarray(self._kernel_for(self.n_features_in_)(asked, self.X_fit_))
        return K if self.signs_ is None else K * self.signs_

    def _width(self) -> int:
        return int(self.X_fit_.shape[0])

    def _check_loaded(self) -> None:
        if "X_fit_" in vars(self) and self.signs_ is not None and len(self.signs_) != self.X_fit_.shape[0]:
            raise ModelFileError("there must be one sign for each row.")
