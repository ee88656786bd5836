"""Items: data that are no rows of numbers, only things that can be compared: words, sequences, objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Self

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def listed(X: Any, what: str, *, name: str = "X") -> list[Any]:
    """Return the things of a list, or of anything else that holds things in order.

    >>> listed((1, 2), "of numbers")
    [1, 2]
    """
    if (
        isinstance(X, str | bytes | Mapping | Set)
        or not isinstance(X, Iterable)
        or getattr(X, "ndim", 1) == 0
    ):
        raise DataError(f"{name} must be a list {what}; got {type(X).__name__}.")
    return list(X)


class Items(Data):
    """A list of things, with a target and a weight for each.

    >>> len(Items(["kitten", "sitting"]).take([1]))
    1
    """

    def __init__(
        self, X: list[Any], y: Array | None = None, weight: Array | None = None, classes: Any = None
    ) -> None:
        self.X, self.y, self.classes = X, y, classes
        self.weighted = weight is not None
        self.weight = np.ones(len(X)) if weight is None else weight

    def facts(self) -> dict[str, Any]:
        """Return the classes of the target; things have no columns."""
        return {} if self.classes is None else {"classes_": self.classes}

    def digest(self) -> str:
        """Return a name for the things, their targets and weights."""
        return digest_of(self.X, self.y, self.weight, self.classes)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, units: Any) -> Self:
        """Return some of the things."""
        y = None if self.y is None else self.y[units]
        weight = self.weight[units] if self.weighted else None
        return type(self)([self.X[i] for i in units], y, weight, self.classes)
