"""Likelihood and pseudo-likelihood of log-linear models, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.graphical.factor import Factor
from gnomon.graphical.junction_tree import JunctionTree
from gnomon.loops import junction as loops


class Likelihood(NamedTuple):
    """A mean log-likelihood (or pseudo-likelihood) of parameters, to be maximized."""

    evaluate: Callable[[Array], tuple[float, Array]]
    size: int
    named: tuple[Any, ...]  # variables, states, scopes
    weight: float  # of all rows
    exact: bool


def exact_likelihood(
    rows: Any, scopes: Sequence[tuple[int, ...]], cards: Sequence[int], counts: Sequence[Array], weight: float,
    alpha: float, named: tuple[Any, ...],
) -> Likelihood:  # fmt: skip
    """Mean of θ·x − ln Z: the gradient is observed less expected shares, from one calibrated junction tree."""
    names = [str(v) for v in range(len(cards))]
    factors = [Factor([names[v] for v in scope], np.ones([cards[v] for v in scope])) for scope in scopes]
    tree = JunctionTree(factors)
    observed = np.concatenate([table.ravel() for table in counts]) / weight
    empty = np.full((1, len(tree._net)), -1, dtype=np.int64)

    def evaluate(theta: Array) -> tuple[float, Array]:
        parts, tops = _exponentials(theta, scopes, cards)
        tree.set_tables(parts)
        expected, log_z = np.zeros(len(theta)), np.empty(1)
        loops.expected_counts(tree._arrays, tree._base, empty, np.ones(1), expected, log_z)
        if not np.isfinite(log_z[0]):  # a step so long that every factor but one entry vanished
            return -np.inf, np.zeros(len(theta))
        value = float(theta @ observed) - float(log_z[0]) - tops - 0.5 * alpha * float(theta @ theta)
        return value, observed - expected - alpha * theta

    return Likelihood(evaluate, len(observed), named, weight, True)


def _exponentials(
    theta: Array, scopes: Sequence[Sequence[int]], cards: Sequence[int]
) -> tuple[list[Array], float]:
    """exp θ of every factor with its largest entry at one, and what was taken out."""
    parts, tops, place = [], 0.0, 0
    for scope in scopes:
        size = math.prod(cards[v] for v in scope)
        part = theta[place : place + size]
        top = float(part.max())
        parts.append(np.exp(part - top))
        tops += top
        place += size
    return parts, tops


def pseudo_likelihood(
    rows: Any, scopes: Sequence[tuple[int, ...]], cards: Sequence[int], counts: Sequence[Array], weight: float,
    alpha: float, named: tuple[Any, ...],
) -> Likelihood:  # fmt: skip
    """Mean of Σᵢ ln p(xᵢ | the others of the row): concave in θ, and no normalizer in sight."""
    if not rows.in_memory:
        raise DataError("method='pseudo' needs the rows of X in memory.")
    counted = rows.weight > 0
    codes, place = np.unique(rows.X[counted], axis=0, return_inverse=True)
    share = np.bincount(place.ravel(), rows.weight[counted], len(codes)) / weight
    offsets = np.concatenate(
        [[0], np.cumsum([math.prod(cards[v] for v in scope) for scope in scopes])]
    ).astype(int)
    steps = [[math.prod(cards[u] for u in scope[i + 1 :]) for i in range(len(scope))] for scope in scopes]
    cells = [
        offsets[f] + codes[:, list(scope)].astype(np.int64) @ np.array(steps[f], dtype=np.int64)
        for f, scope in enumerate(scopes)
    ]
    members: list[list[tuple[int, int]]] = [[] for _ in cards]
    for f, scope in enumerate(scopes):
        for i, v in enumerate(scope):
            members[v].append((f, steps[f][i]))

    def evaluate(theta: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.zeros(len(theta))
        for v, k in enumerate(cards):
            moves = np.arange(k) - codes[:, v, None]  # (rows, states)
            places = [cells[f][:, None] + step * moves for f, step in members[v]]
            scores = sum(theta[place] for place in places) if places else np.zeros(moves.shape)
            logs = scores - logsumexp(scores, axis=1, keepdims=True)
            own = codes[:, v]
            value += float(share @ np.take_along_axis(logs, own[:, None].astype(int), 1)[:, 0])
            for place in places:
                flat = place.ravel()
                gradient -= np.bincount(flat, (share[:, None] * np.exp(logs)).ravel(), len(theta))
                here = np.take_along_axis(place, own[:, None].astype(int), 1)[:, 0]
                gradient += np.bincount(here, share, len(theta))
        return value - 0.5 * alpha * float(theta @ theta), gradient - alpha * theta

    return Likelihood(evaluate, int(offsets[-1]), named, weight, False)
