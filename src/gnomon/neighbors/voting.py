"""How neighbors are counted: each as often as its row, nearer ones more where that is asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.neighbors.search_index import Found


class Ballot(NamedTuple):
    """Who votes for a query, one below the other: query, position in the index, distance, weight."""

    n_queries: int
    query: Array
    rows: Array
    distances: Array
    weight: Array


def rule(weights: Any, distances: Array, query: Array, n: int) -> Array:
    """Return the weight of every neighbor by its distance; at distance zero, those neighbors alone count."""
    if weights is None or isinstance(weights, str) and weights == "uniform":
        return np.ones(len(distances))
    if callable(weights):
        return np.asarray(weights(distances), dtype=np.float64)
    hit = np.bincount(query, weights=distances == 0, minlength=n) > 0
    near = hit[query]
    least = np.full(n, np.inf)
    np.minimum.at(least, query, np.where(np.isfinite(distances), distances, np.inf))
    least = np.where(np.isfinite(least) & (least > 0), least, 1.0)
    with np.errstate(divide="ignore"):  # relative to the nearest: 1 / d itself may be infinite
        return np.where(near, distances == 0, least[query] / np.where(near, 1.0, distances))


def shares(weight: Array, k: float) -> Array:
    """Return how much of every neighbor belongs to the first k, row by row: each counts as often as its row.

    >>> shares(np.array([[2.0, 1.0, 4.0]]), 5)
    array([[2., 1., 2.]])
    """
    reach = np.minimum(np.cumsum(weight, axis=1), k)
    return np.diff(reach, axis=1, prepend=0.0)


def of_nearest(distances: Array, rows: Array, part: Array | None, weights: Any) -> Ballot:
    """Return the ballot of the k nearest; `part` says how much of each counts."""
    n, k = rows.shape
    query = np.repeat(np.arange(n), k)
    if callable(weights):
        given = np.asarray(weights(distances), dtype=np.float64)
        if given.shape != distances.shape:
            raise DataError(f"weights must return an array of shape {distances.shape}; got {given.shape}.")
        weight = given.ravel()
    elif part is None:
        weight = rule(weights, distances.ravel(), query, n)
    else:
        weight = np.zeros(n * k)
        counted = part.ravel() > 0
        weight[counted] = rule(weights, distances.ravel()[counted], query[counted], n)
    if part is not None:
        weight = (
            np.where(part.ravel() > 0, weight, 0.0) * part.ravel()
        )  # a function may say infinity for nobody
    return Ballot(n, query, rows.ravel(), distances.ravel(), weight)


def of_radius(found: Found, row_weight: Array | None, weights: Any) -> Ballot:
    """Return the ballot of all within a radius."""
    n = len(found.ends) - 1
    query = np.repeat(np.arange(n), np.diff(found.ends))
    if callable(weights):
        parts = [weights(found.distances[a:b]) for a, b in zip(found.ends[:-1], found.ends[1:], strict=True)]
        weight = np.concatenate([*[np.asarray(part, dtype=np.float64) for part in parts], np.empty(0)])
    else:
        weight = rule(weights, found.distances, query, n)
    if row_weight is not None:
        weight = weight * row_weight[found.rows]
    return Ballot(n, query, found.rows, found.distances, weight)


def count(ballot: Ballot, codes: Array, n_classes: int) -> Array:
    """Return the votes for every class, (n, n_classes)."""
    place = ballot.query * n_classes + codes[ballot.rows]
    votes = np.bincount(place, weights=ballot.weight, minlength=ballot.n_queries * n_classes)
    return votes.astype(np.float64).reshape(ballot.n_queries, n_classes)  # of nobody NumPy counts in integers


def average(ballot: Ballot, y: Array) -> tuple[Array, Array]:
    """Return the weighted mean and standard deviation of the neighbors' targets, (n, t) each.

    Means are taken around the first neighbor's target, so that a common shift of y costs no digits.
    """
    n = ballot.n_queries
    total = np.bincount(ballot.query, weights=ballot.weight, minlength=n)
    first = np.zeros(n, dtype=np.int64)
    first[ballot.query[::-1]] = ballot.rows[::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = ballot.weight / total[ballot.query]
    mean, spread = np.empty((n, y.shape[1])), np.empty((n, y.shape[1]))
    for j in range(y.shape[1]):
        anchor = y[first, j]
        gap = y[ballot.rows, j] - anchor[ballot.query]
        rise = np.bincount(ballot.query, weights=share * gap, minlength=n)
        square = np.bincount(ballot.query, weights=share * (gap - rise[ballot.query]) ** 2, minlength=n)
        mean[:, j], spread[:, j] = anchor + rise, np.sqrt(square)
    empty = total == 0
    mean[empty], spread[empty] = np.nan, np.nan
    return mean, spread


def quantiles(ballot: Ballot, y: Array, level: float) -> tuple[Array, Array]:
    """Return the central interval of the neighbors' targets: weighted quantiles (1 ± level) / 2, (n,) each."""
    if not 0 < level < 1:
        raise DataError(f"level={level} must be between 0 and 1, such as 0.9.")
    order = np.lexsort((y[ballot.rows], ballot.query))
    query, weight, value = ballot.query[order], ballot.weight[order], y[ballot.rows][order]
    total = np.bincount(query, weights=weight, minlength=ballot.n_queries)
    reached = np.cumsum(weight)
    start = np.concatenate([[0.0], np.cumsum(total)])[query]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (reached - start) / total[query]
    ends = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        enough = np.flatnonzero((share >= q * (1 - 1e-12)) & (weight > 0))
        out = np.full(ballot.n_queries, np.nan)
        out[query[enough[::-1]]] = value[enough[::-1]]
        ends.append(out)
    return ends[0], ends[1]
