"""Objects: data whose rows are known by a kernel alone, such as strings, sets and graphs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, vector, weights


class Objects(Data):
    """Things of any kind, with a target and weights."""

    sparse = False
    feature_names = None

    def __init__(self, X: Any, y: Array | None, weight: Array | None, classes: Array | None) -> None:
        self.X, self.y, self._weight, self.classes = X, y, weight, classes
        self.n_rows, self.n_features = len(X), 1
        self.weighted = weight is not None

    @property
    def weight(self) -> Array:
        """The weight of every thing; ones where none were given."""
        return np.ones(len(self.X)) if self._weight is None else self._weight

    def facts(self) -> dict[str, Any]:
        """Return the classes, where there are some."""
        return {} if self.classes is None else {"classes_": self.classes}

    def digest(self) -> str:
        """Return a name for the things, targets and weights."""
        return digest_of(self.X, self.y, self._weight)

    def __len__(self) -> int:
        return self.n_rows

    def take(self, units: Any) -> Self:
        """Return some of the things, in this order."""
        y = None if self.y is None else self.y[units]
        return type(self)(
            self.X[units], y, None if self._weight is None else self._weight[units], self.classes
        )


def read_objects(X: Any, y: Any, sample_weight: Any, target: str | None) -> Objects:
    """Return things with their target (None, "class" or "number") and weights, checked."""
    things = np.empty(len(X), dtype=object)
    things[:] = list(X)
    if not len(things):
        raise DataError("X is empty; at least one thing is needed.")
    classes = None
    if target == "class":
        classes, y = encode(y)
    elif target == "number":
        y = vector(y)
    if target and len(y) != len(things):
        raise DataError(f"X has {len(things)} things and y has {len(y)} entries; they must agree.")
    return Objects(
        things,
        y if target else None,
        None if sample_weight is None else weights(sample_weight, len(things)),
        classes,
    )
