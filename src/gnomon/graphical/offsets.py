"""Where the parts of one long array begin: how tables of many shapes reach the compiled loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.core.linalg import Array


def ints(values: Sequence[int]) -> Array:
    """Return numbers as the loops read them."""
    return np.array(values, dtype=np.int64)


def starts(sizes: Sequence[int]) -> Array:
    """Return where each part begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)
