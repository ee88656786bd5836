"""What a mixture computes from a chunk of rows: the E-step, densities, posteriors, labels, scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array, log_sum_exp
from gnomon.distributions.base import Expectation, Family


def expectation(
    chunk: Any, family: Family, log_weights: Array, hard: bool, offset: Array | None = None
) -> Expectation:
    """Partial sum of an E-step."""
    labels = None if chunk.y is None else chunk.y.astype(np.int64)
    shifted = log_weights if offset is None else log_weights + offset
    return family.expect(chunk.X, shifted, chunk.weight, labels=labels, hard=hard)


def log_joint(chunk: Any, family: Family, log_weights: Array) -> Array:
    """Return ln π_k + ln p_k(x_i)."""
    return family.log_density(chunk.X) + log_weights


def log_densities(chunk: Any, family: Family, log_weights: Array) -> Array:
    """Return ln p(x_i)."""
    return log_sum_exp(log_joint(chunk, family, log_weights))


def posteriors(chunk: Any, family: Family, log_weights: Array) -> Array:
    """Return p(k | x_i)."""
    joint = log_joint(chunk, family, log_weights)
    total_ = log_sum_exp(joint)
    lost = ~np.isfinite(total_)
    if lost.any():  # impossible under every component: nothing was learned from the row
        joint[lost], total_[lost] = log_weights, 0.0
    return np.exp(joint - total_[:, None])


def labels_of(chunk: Any, family: Family, log_weights: Array) -> Array:
    """Return argmax_k p(k | x_i), ties to the lower index."""
    return log_joint(chunk, family, log_weights).argmax(axis=1)


def score_sums(chunk: Any, family: Family, log_weights: Array) -> Array:
    """Return Σ w ln p(x) and Σ w."""
    return np.array([chunk.weight @ log_densities(chunk, family, log_weights), chunk.weight.sum()])


def log(weights: Array) -> Array:
    """ln with ln 0 = −∞."""
    with np.errstate(divide="ignore"):
        return np.log(weights)
