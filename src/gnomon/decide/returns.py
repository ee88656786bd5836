"""Returns: what a sequence of rewards is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.decide.bellman import check_discount


def discounted_return(
    rewards: Any, discount: float = 1.0, *, horizon: int | None = None, all_steps: bool = False
) -> Any:
    r"""Return :math:`\sum_t \gamma^t r_t`, by Horner's rule from the end.

    With all rewards at most R in size it is at most R/(1 − γ) in size. A utility that stops counting after N steps is
    ``horizon=N`` with ``discount=1``.

    Parameters
    ----------
    rewards : sequence, or (episodes, steps) array padded with NaN
        What was paid.
    discount : float
        γ.
    horizon : int, optional
        Count so many rewards only.
    all_steps : bool
        Return what follows from every step on, not the first alone.

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> MDP.discounted_return([0, 0, 1, -1, 2], 0.9, all_steps=True)
    array([1.3932, 1.548 , 1.72  , 0.8   , 2.    ])
    >>> MDP.discounted_return([1, 1, 1, 1], horizon=3)
    3.0
    """
    g = check_discount(discount)
    R = np.asarray(rewards, dtype=np.float64)
    if R.ndim not in (1, 2) or R.shape[-1] == 0:
        raise DataError(
            f"rewards must be a sequence, or episodes × steps, and not empty; its shape is {R.shape}."
        )
    if horizon is not None:
        if horizon < 1:
            raise DataError(f"horizon must be at least 1; got {horizon}.")
        R = R[..., :horizon]
    gone = np.isnan(R)
    if R.ndim == 1 and gone.any():
        raise DataError("rewards must not be NaN.")
    table = np.where(gone, 0.0, R)
    out = np.empty_like(table)
    total = np.zeros(R.shape[:-1])
    for t in range(R.shape[-1] - 1, -1, -1):
        total = table[..., t] + g * total
        out[..., t] = total
    if all_steps:
        return np.where(gone, np.nan, out)
    return float(out[0]) if R.ndim == 1 else out[:, 0]


def returns_of(episodes: Array, rewards: Array, discount: float) -> Array:
    """Return the discounted return of every episode, from steps laid end to end."""
    begins = np.flatnonzero(np.append(True, episodes[1:] != episodes[:-1]))
    t = np.arange(len(rewards)) - np.repeat(begins, np.diff(np.append(begins, len(rewards))))
    return np.add.reduceat(rewards * discount**t, begins)
