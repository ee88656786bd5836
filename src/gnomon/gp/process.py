"""What every fit of a process shares: rows or things, starts between bounds, and starting again."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.items import Items
from gnomon.core.linalg import Array
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner
from gnomon.kernels import RBF, ConstantKernel
from gnomon.kernels.base import things


def default_kernel() -> Any:
    """Return the kernel that is meant where none is given."""
    return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")


class GaussianProcess(Learner):
    """A model that climbs the evidence of a kernel's hyper-parameters. Subclasses write `_codes(y)`."""

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    kernel: Any
    optimizer: Any
    n_restarts_optimizer: int

    # reading

    def _takes_rows(self, X: Any) -> bool:
        """Say whether X is a table of numbers; a kernel on strings or sets takes a list of things."""
        matrix = hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object)
        return bool(getattr(self.kernel, "requires_vector_input", True)) or matrix

    def _codes(self, y: Any) -> tuple[Any, Array]:
        """Return the classes, where there are any, and the targets as numbers."""
        raise NotImplementedError

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if self._takes_rows(X):
            return super()._read(X, y, sample_weight, reset=reset, **options)
        if reset:
            check_parameters(self)
        items = things(X)
        classes, codes = (None, None) if y is None else self._codes(y)
        if reset and (codes is None or len(codes) != len(items)):
            raise DataError(f"y must hold one target for each of the {len(items)} items of X.")
        return Items(items, codes, None, classes)  # type: ignore[arg-type]

    # starts

    def _climbs(self, kernel: Any) -> bool:
        return self.optimizer is not None and kernel is not None and kernel.n_dims > 0

    def _starts(self) -> int:
        return 1 + (self.n_restarts_optimizer if self._climbs(self.kernel) else 0)

    def _bounds(self, kernel: Any) -> Array:
        """Return the bounds of θ; for random starts they must be finite."""
        bounds = np.asarray(kernel.bounds, dtype=np.float64).reshape(-1, 2)
        if self.n_restarts_optimizer and not np.isfinite(bounds).all():
            raise ValueError(
                "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite."
            )
        return bounds

    def _start(self, kernel: Any, draws: Any) -> Array:
        """Return where the climb begins: the kernel's own θ, or with `draws` a random one between the bounds."""
        if not self._climbs(kernel):
            return kernel.theta
        low, high = self._bounds(kernel).T
        return np.clip(kernel.theta, low, high) if draws is None else draws.uniform(low, high)
