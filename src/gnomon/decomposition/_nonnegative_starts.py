"""Where a non-negative factorization starts: parts of singular vectors, or factors that were given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.core.sums import Chunk, total
from gnomon.decomposition import singular
from gnomon.decomposition._nonnegative import TINY
from gnomon.decomposition._nonnegative_rows import NonNegativeWork, replaced_rows
from gnomon.decomposition._scatter import scatter_sums


def first_factors(
    work: NonNegativeWork, K: int, init: str | None, solver: str, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return W and H to begin with; W has no rows where those of X are not in memory."""
    rows, mean, p = work.rows, work.mean, work.rows.n_features
    fits = K <= min(rows.n_rows, p)
    if init in ("nndsvd", "nndsvda", "nndsvdar") and not fits:
        raise DataError(
            f"init = '{init}' can only be used when n_components <= min(n_samples, n_features); n_components "
            f"is {K}."
        )
    if init is None:
        init = "nndsvda" if fits else "random"
    level = np.sqrt(mean / K) if mean > 0 else 1.0  # the size of an entry of W or H, whatever the scale of X
    if init == "random" or mean == 0:
        H = level * np.abs(rng.standard_normal((K, p)))
        return (np.full((rows.n_rows, K), level) if rows.in_memory else np.zeros((0, K))), H
    source = rows if work.fill is None else replaced_rows(rows, work.fill)
    H, V, factors = nndsvd(source, K, rng)
    W = np.zeros((0, K))
    if rows.in_memory:
        W = np.maximum(np.asarray(source.X @ V, dtype=np.float64), 0.0) * factors
    if init == "nndsvda" or (init == "nndsvd" and solver == "mu"):
        H, W = np.where(H == 0, 0.1 * level, H), np.where(W == 0, 0.1 * level, W)
    elif init == "nndsvdar":
        H = np.where(H == 0, level * rng.random(H.shape) / 100.0, H)
        W = np.where(W == 0, level / 200.0, W)
    return W, H


def direction_parts(chunk: Chunk, V: Array, s: Array) -> Array:
    """Σ w u₊² and Σ w u₋² of the left vectors."""
    U = (chunk.X @ V) / s
    return np.stack([chunk.weight @ np.maximum(U, 0.0) ** 2, chunk.weight @ np.minimum(U, 0.0) ** 2])


def nndsvd(rows: Any, K: int, seed: Any) -> tuple[Array, Array, Array]:
    """Non-negative parts of the leading singular vectors (Boutsidis and Gallopoulos 2008).

    Returns H, and V and factors such that W = max(±(X V), 0)·factors.
    """
    p = rows.n_features
    if p <= 1500 or not rows.in_memory:
        second = total(scatter_sums, rows).about_origin().scatter
        values, V = symmetric_eigen(second, K)
        s = np.sqrt(np.maximum(values, 0.0))
    else:
        X = rows.X if not rows.weighted else sparse.diags_array(np.sqrt(rows.weight)) @ rows.X
        s, Vt = singular.leading_directions(X, K, seed)
        V = Vt.T
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(K)] < 0, -1.0, 1.0)
    s = np.where(s > 1e-12 * max(float(s[0]), TINY), s, 0.0)
    safe = np.where(s > 0, s, np.inf)
    up, down = np.sqrt(total(direction_parts, rows, V, safe))
    H, factors, V_signed = np.zeros((K, p)), np.zeros(K), np.zeros_like(V)
    for k in range(K):
        sides = [(up[k], np.maximum(V[:, k], 0.0), 1.0), (down[k], np.maximum(-V[:, k], 0.0), -1.0)]
        u, v, sign = max(sides, key=lambda side: side[0] * np.linalg.norm(side[1]))
        length = float(np.linalg.norm(v))
        if s[k] == 0 or length == 0 or u == 0:
            continue
        H[k] = np.sqrt(s[k] * u * length) * v / length
        factors[k] = np.sqrt(s[k] * u * length) / u / s[k]
        V_signed[:, k] = sign * V[:, k]
    return H, V_signed, factors


def given_factors(rows: Any, K: int, solver: str) -> tuple[Array, Array]:
    """Return the W and H that a user gave; K = 0 takes as many components as they have."""
    W, H = rows.given or (None, None)
    if W is None or H is None:
        raise DataError("init='custom' needs W and H: give both to fit or fit_transform.")
    K = K or len(np.atleast_2d(H))
    W = _checked(W, (rows.n_rows, K), "input W")
    H = _checked(H, (K, rows.n_features), "input H")
    if solver == "mu" and (not W.any(axis=0).all() or not H.any(axis=1).all()):
        raise DataError("init='custom' with solver='mu' must be positive: zeros never leave.")
    return W, H


def _checked(table: Any, shape: tuple[int, int], name: str) -> Array:
    """A given W or H: of the right shape, and not negative."""
    values = np.array(table, dtype=np.float64)
    if values.ndim != 2 or values.shape != shape:
        which = "shape"
        if values.ndim == 2:
            which = "first dimension" if values.shape[0] != shape[0] else "second dimension"
        raise DataError(
            f"Array with wrong {which} passed to NMF ({name}): expected {shape}, got {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"Negative values in data passed to NMF ({name}); starts must be at least 0.")
    if values.max(initial=0.0) == 0:
        raise DataError(f"Array passed to NMF ({name}) is full of zeros; zeros never leave.")
    return values
