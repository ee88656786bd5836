"""What a margin says of the capacity of a machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError


def svm_capacity(model: Any, X: Any) -> int:
    r"""Return the bound :math:`\min\{\lceil R^2/\gamma^2\rceil, d\} + 1` on the VC dimension at a machine's margin.

    R is the radius of the rows around the origin of the space of the kernel, γ the margin, d the number of columns (for
    a linear kernel; in other spaces the first term stands alone).

    Parameters
    ----------
    model : fitted SVC of two classes
    X : rows

    Examples
    --------
    >>> from gnomon.svm import SVC
    >>> X = [[-1.0, 1], [0, -1], [1.5, 1]]
    >>> svm_capacity(SVC(kernel="linear", C=float("inf")).fit(X, [1, 0, 1]), X)
    3
    """
    margin = getattr(model, "margin_", None)
    if margin is None or np.ndim(margin):
        raise DataError("svm_capacity needs a fitted machine of two classes with a margin_.")
    kernel = model._fitted_kernel()
    radius = float(np.max(kernel.diag(X)))
    ratio = float(np.ceil(radius / margin**2 - 1e-9)) if np.isfinite(margin) else 0.0
    if hasattr(model, "coef_"):
        ratio = min(ratio, float(model.n_features_in_))
    return int(ratio) + 1
