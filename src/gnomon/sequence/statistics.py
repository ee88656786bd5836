"""Log-densities and weighted statistics of emission families, by blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import add_up
from gnomon.core.threads import in_order
from gnomon.distributions import forms
from gnomon.distributions.moments import tie

BLOCK_ROWS = 16384  # rows of a long sequence that one thread takes at a time


def row_blocks(n: int) -> list[slice]:
    """Cut n rows into blocks of about one size, an even number of them where there are several."""
    count = -(-n // BLOCK_ROWS)
    size = -(-n // (count + count % 2)) if count > 1 else max(n, 1)
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]


def tabulate(emission: Any, X: Array) -> Array:
    """Return ln p(x_t | state), a C-ordered (T, K) table."""
    table = np.empty((len(X), emission.n_components))

    def fill(rows: slice) -> None:
        form = _form_for(emission, X[rows])
        if form is None:
            table[rows] = emission.log_density(X[rows])
        else:
            form.tabulate(X[rows], table[rows])

    for _ in in_order(fill, row_blocks(len(X))):
        pass
    return table


def _form_for(emission: Any, X: Array) -> forms.QuadraticForm | None:
    """The quadratic form of Gaussian emissions, where there is one and no entry is missing."""
    form = getattr(emission, "_form", None)
    return None if form is None or np.isnan(X).any() else form


def gather_statistics(emission: Any, X: Array, weights: Array) -> Any:
    """Return ``emission.statistics(X, weights)``, added over blocks of rows in fixed order."""
    blocks = row_blocks(len(X))
    return add_up(in_order(lambda rows: _block_statistics(emission, X[rows], weights[rows]), blocks))


def _block_statistics(emission: Any, X: Array, weights: Array) -> Any:
    """Gaussian moments come out of one matrix product where their quadratic form allows it."""
    form = _form_for(emission, X)
    if form is None:
        return emission.statistics(X, weights)
    moments = form.moments(form.weighted(X, weights))
    return tie(moments) if emission.covariance_type == "tied" else moments
