"""What learners that pass over the rows again and again share: orders, targets, stopping, validation,
partial_fit.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.canonical import order_by_key, rows_differ
from gnomon.core.errors import DataError, DivergenceError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import stream
from gnomon.core.rows import MemoryRows
from gnomon.linear._rows import compute_weights
from gnomon.loops import draws, fused, products
from gnomon.loops.streams import stream_seed
from gnomon.solvers.terms import parts

MERGED_ROWS = 20_000  # rows from which equal ones are not looked for unless there are weights
ORDERS = ("given", "random", "shuffle", "random_mistake")


class Pass(NamedTuple):
    """Weights of all outputs after some passes, their running averages, and the history of the loss."""

    coef: Array  # (k, d)
    intercept: Array  # (k,)
    average: Array  # (k, d): mean, or what the mean is computed from
    average_intercept: Array
    steps: float
    epoch: int
    seed: int
    loss: float = np.inf
    best: float = np.inf
    waited: int = 0
    facts: dict[str, Any] | None = None
    owed: Array | None = None  # what ℓ1 clipping still asks of every weight
    debt: float = 0.0
    rate: float = 1.0  # factor of the adaptive schedule


class PassWork:
    """The workspace of a learner in passes: its rows as the loops read them, targets and weights of every output."""

    def __init__(self, rows: Any, targets: Array, weights: Array, fit_intercept: bool) -> None:
        self.rows, self.n_rows = rows, rows.n_rows
        self.X = prepare_rows(rows.X)
        self.targets = targets  # (k, n)
        self.weights = np.broadcast_to(weights, targets.shape)
        self.rates = self.weights[
            0
        ]  # length of the step at every row, for learners that take steps of fixed length
        self.mass = float(rows.weight.sum())
        self.fit_intercept = fit_intercept
        self.parts: tuple[Array, Array] | None = None  # rows to learn from and rows held out

    @cached_property
    def norms(self) -> Array:
        """Return what a step along a row divides by."""
        return squared_lengths(self.X, self.fit_intercept)

    def hold_out(self, fraction: float, seed: int) -> None:
        """Choose the rows to validate on, once."""
        if self.parts is None:
            self.parts = hold_out(self.rows, fraction, seed)

    def held_out_score(self, coef: Array, intercept: Array) -> float:
        """Accuracy on the rows held out or, where there are no classes, R²."""
        rows, test = self.rows, self.parts[1]  # type: ignore[index]
        scores = rows.X[test] @ coef.T + intercept
        if rows.classes is None:
            y = self.targets[0][test]
            spread = float(np.sum((y - y.mean()) ** 2))
            return 1.0 - float(np.sum((y - scores[:, 0]) ** 2)) / max(spread, 1e-300)
        found = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(found == rows.y[test]))


def squared_lengths(X: Any, fit_intercept: bool) -> Array:
    """Return ‖x‖² of every row, and one more for the intercept."""
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=float).ravel() + float(fit_intercept)


def dense_or_parts(X: Any) -> tuple[Any, ...]:
    """Return the arguments by which loops know the rows."""
    return parts(X) if sparse.issparse(X) else (X,)


def prepare_rows(X: Any) -> Any:
    """Return rows that loops can read: float64, C-ordered or CSR."""
    if sparse.issparse(X):
        return X if X.dtype == np.float64 else X.astype(np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def row_order(order: Any, shuffle: bool, n: int, seed: int, epoch: int) -> Array:
    """Return the rows of one pass."""
    if order is None:
        order = "shuffle" if shuffle else "given"
    if isinstance(order, str):
        if order not in ORDERS:
            raise ValueError(
                f"order must be one of {ORDERS} or row numbers; got {order!r}.{nearest(order, ORDERS)}"
            )
        if order == "shuffle":
            return shuffled(stream_seed(seed, epoch), n)
        return stream(seed, epoch).integers(n, size=n) if order == "random" else np.arange(n)
    index = np.asarray(order, dtype=np.int64)
    if index.ndim != 1 or len(index) == 0 or index.min() < 0 or index.max() >= n:
        raise DataError(f"order must list rows between 0 and {n - 1}.")
    return index


def shuffled(seed: int, n: int) -> Array:
    """Return a random permutation, several times faster than NumPy's."""
    order = np.arange(n)
    draws.shuffle(order, seed)
    return order


def signs(rows: Any) -> Array:
    """Return ±1 targets, one row a machine: a single one for two classes, else one a class."""
    codes, K = rows.y, len(rows.classes)
    positives = [1] if K <= 2 else range(K)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in positives])


def row_weights(rows: Any, class_weight: Any) -> Array:
    """Return the weight of every row, classes' weights included."""
    return rows.weight if class_weight is None else rows.weight * compute_weights(class_weight, rows)[rows.y]


def start_pass(rows: Any, k: int, seed: int, *, zero_like_clip: bool = False) -> Pass:
    """Begin at zero, or where the caller of `fit` wants to begin."""
    d = rows.n_features
    coef, intercept = np.zeros((k, d)), np.zeros(k)
    given = getattr(rows, "initial", None)
    if given is not None:
        coef = _shaped(given[0], (k, d), "coef_init") if given[0] is not None else coef
        intercept = _shaped(given[1], (k,), "intercept_init") if given[1] is not None else intercept
    owed = np.zeros((k, d)) if zero_like_clip else None
    return Pass(coef, intercept, np.zeros((k, d)), np.zeros(k), 0.0, 0, seed, owed=owed)


def _shaped(value, shape, name):
    array = np.array(value, dtype=float)
    if array.size != np.prod(shape):
        raise DataError(
            f"Provided {name} does not match dataset: it has {array.size} entries and needs shape {shape}."
        )
    if not np.isfinite(array).all():
        raise DataError(f"{name} must be finite.")
    return array.reshape(shape)


def refuse_divergence(loss: float) -> None:
    """Raise where the loss of a pass is no finite number."""
    if not math.isfinite(loss):
        raise DivergenceError(
            "the loss left the finite numbers; lower the learning rate, or scale the columns."
        )


def judge(state: Pass, loss: float, n: float, tol: float | None, patience: int) -> Pass:
    """Take note of the loss of a pass; `waited` counts passes without an improvement of tol·n."""
    refuse_divergence(loss)
    waited = 0 if tol is None or loss <= state.best - tol * n else state.waited + 1
    return state._replace(loss=loss, best=min(loss, state.best), waited=waited)


def out_of_patience(state: Pass, tol: float | None, patience: int) -> bool:
    """Tell whether scikit-learn's rule says stop."""
    return tol is not None and state.waited >= patience


def split(rows: MemoryRows, fraction: float, seed: int) -> tuple[Array, Array]:
    """Return rows to learn from and rows to validate on, by class where there are classes."""
    rng = stream(seed, 2**31)
    mask = np.zeros(rows.n_rows, dtype=bool)
    groups = (
        [np.arange(rows.n_rows)]
        if rows.classes is None
        else [np.flatnonzero(rows.y == k) for k in range(len(rows.classes))]
    )
    for group in groups:
        take = max(1, round(fraction * len(group))) if len(group) > 1 else 0
        mask[rng.permutation(group)[:take]] = True
    return np.flatnonzero(~mask), np.flatnonzero(mask)


def hold_out(rows: MemoryRows, fraction: float, seed: int) -> tuple[Array, Array]:
    """Return the same, and refuse data of which nothing can be held out."""
    train, test = split(rows, fraction, seed)
    if not len(test) or not len(train):
        raise DataError(
            f"early_stopping=True needs rows to learn from and rows to validate on; {rows.n_rows} rows and "
            f"validation_fraction={fraction:g} leave {len(train)} and {len(test)}. Give more rows, or set "
            "early_stopping=False."
        )
    return train, test


def canonical(rows: MemoryRows) -> MemoryRows:
    """Return the distinct rows in an order that depends on their values alone, weights of equal rows added
    up.

    A stochastic learner that shuffles these sees the same for a row of weight two as for the row twice.
    """
    X, y = prepare_rows(rows.X), np.asarray(rows.y, dtype=np.float64)
    probe = _probe(rows.n_features + 1)
    key = np.empty(rows.n_rows)
    if sparse.issparse(X):
        products.csr_dot(*parts(X), probe[:-1], key)
    else:
        fused.row_scores(X, probe[:-1], key)
    key += probe[-1] * y
    weight, sure = rows.weight, np.where(np.isnan(key), np.inf, key)  # of entries whose sum overflows
    order, fresh = order_by_key(
        sure, lambda a, b: rows_differ(X[a], X[b]) | (y[a] != y[b]), lambda some: _tables(X, y, some)
    )
    counts = weight[order] > 0.0
    group, order = np.cumsum(fresh)[counts], order[counts]
    fresh = np.append(True, group[1:] != group[:-1])
    group = np.cumsum(fresh) - 1
    merged = np.bincount(group, weights=weight[order])
    first = order[fresh]
    found = MemoryRows(
        rows.X[first], rows.y[first], merged, feature_names=rows.feature_names, classes=rows.classes
    )
    found.origin, found.n_given = first, rows.n_rows
    return found


@lru_cache(maxsize=4)
def _probe(size: int) -> Array:
    """Return random numbers, always the same."""
    return stream(1, 0).normal(size=size)


def _tables(X: Any, y: Array, some: Array) -> Array:
    """Return rows and their targets as one matrix."""
    return np.column_stack([X[some].toarray() if sparse.issparse(X) else X[some], y[some]])


def in_given_rows(rows: Any, values: Array) -> Array:
    """Return counts of the canonical rows as counts of the rows given (k, n)."""
    origin = getattr(rows, "origin", None)
    if origin is None:
        return values
    out = np.zeros((len(values), rows.n_given), dtype=values.dtype)
    out[:, origin] = values
    return out


class Mixed:
    """Reads rows into canonical order where the learner is free to shuffle them."""

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        return super()._read(X, y, sample_weight, reset=reset, **options)

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = self._plain_read(X, y, sample_weight, reset=reset, **options)
        free = self.order is None and getattr(self, "shuffle", True)
        free = free or (isinstance(self.order, str) and self.order == "random")
        return (
            canonical(rows)
            if y is not None and free and (rows.n_rows <= MERGED_ROWS or rows.weighted)
            else rows
        )
