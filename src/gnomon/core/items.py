"""Items: data that are no rows of numbers, only things that can be compared: words, sequences, objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.rows import Rows


class Items(Rows):
    """A list of things, with a target and a weight for each."""

    in_memory = True
    n_features = 1
    dtype = np.dtype(object)

    def __init__(
        self, X: list[Any], y: Array | None = None, weight: Array | None = None, classes: Array | None = None
    ) -> None:
        self.X, self.y, self.classes = X, y, classes
        self.n_rows = len(X)
        self.weighted = weight is not None
        self.weight = np.ones(len(X)) if weight is None else weight
