"""Weighted statistics of emission families, by blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import add_up
from gnomon.core.threads import in_order
from gnomon.distributions import forms
from gnomon.distributions.moments import tie

BLOCK_ROWS = 16384


def gather_statistics(emission: Any, X: Array, weights: Array) -> Any:
    """Return ``emission.statistics(X, weights)``, added over blocks of rows in fixed order."""
    if len(X) <= BLOCK_ROWS:
        return _block_statistics(emission, X, weights)
    blocks = [slice(begin, begin + BLOCK_ROWS) for begin in range(0, len(X), BLOCK_ROWS)]
    return add_up(in_order(lambda rows: _block_statistics(emission, X[rows], weights[rows]), blocks))


def _block_statistics(emission: Any, X: Array, weights: Array) -> Any:
    """Gaussian moments come out of one matrix product where their quadratic form allows it."""
    form = getattr(emission, "_form", None)
    if form is None or np.isnan(X).any():
        return emission.statistics(X, weights)
    sums = np.zeros_like(form.eta)
    for rows in forms.blocks(len(X)):
        sums += weights[rows].T @ form.features(X[rows]).T
    moments = form.moments(sums)
    return tie(moments) if emission.covariance_type == "tied" else moments
