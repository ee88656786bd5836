"""Tasks for networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.randomness import generator


def make_copy_task(
    n: int, length: int = 5, width: int = 4, *, random_state: Any = None
) -> tuple[Array, Array]:
    """Make sequences of random bits to be remembered and said again after a sign.

    Parameters
    ----------
    n : int
        Sequences.
    length, width : int
        Steps and bits of what is to be copied.
    random_state : int or None

    Returns
    -------
    X : array (n, 2·length + 1, width + 1)
        The bits, then a one in the last column, then zeros.
    Y : array (n, 2·length + 1, width)
        NaN up to the sign, then the bits.

    Examples
    --------
    >>> X, Y = make_copy_task(1, 2, 1, random_state=0)
    >>> X[0].T.tolist()
    [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]]
    >>> Y[0].T.tolist()
    [[nan, nan, nan, 1.0, 1.0]]
    """
    if min(n, length, width) < 1:
        raise ValueError(f"n, length and width must be at least 1; got {n}, {length}, {width}.")
    bits = generator(random_state).integers(0, 2, size=(n, length, width)).astype(float)
    X = np.zeros((n, 2 * length + 1, width + 1))
    X[:, :length, :width], X[:, length, width] = bits, 1.0
    Y = np.full((n, 2 * length + 1, width), np.nan)
    Y[:, length + 1 :] = bits
    return X, Y
