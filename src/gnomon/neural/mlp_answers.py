"""What classifier and regressor of dense layers do alike after a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def axes_of(y: Any) -> int:
    """Return the number of axes of a target, sparse or not."""
    return y.ndim if sparse.issparse(y) else np.asarray(y).ndim


def in_batches(model: Any) -> bool:
    """Tell whether a network can learn from a part of the rows."""
    if model.solver != "lbfgs":
        return True
    raise AttributeError(
        "partial_fit is only available for stochastic optimizers; solver='lbfgs' needs all rows at once."
    )
