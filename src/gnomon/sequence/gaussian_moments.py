"""Gaussian parameters from weighted moments with hmmlearn's priors, for every covariance type, with a
floor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array

NOTHING = 1e-10  # less expected mass than this leaves parameters as they were


class GaussianPrior(NamedTuple):
    """Normal prior of the means and the added scatter and mass of the covariances."""

    mean: Any
    mean_weight: Any
    scatter: Any  # added to the scatter (to its diagonal, for a number)
    mass: Any  # added to the divisor


def outer(A: Array) -> Array:
    """Outer products of the rows with themselves."""
    return A[:, :, None] * A[:, None, :]


def total_variance(moments: Any) -> Array:
    """Variance of every column over all states together."""
    w = np.broadcast_to(moments.weight, moments.mean.shape)
    mass = np.maximum(w.sum(axis=0), 1e-300)
    middle = (w * moments.mean).sum(axis=0) / mass
    within = moments.scatter
    if within.ndim == 3:
        within = np.diagonal(within, axis1=1, axis2=2)
    spread = (
        within.sum(axis=0) if moments.scatter.shape[0] == len(w) and within.ndim == 2 else np.diagonal(within)
    )
    if moments.scatter.ndim == 2 and moments.scatter.shape != w.shape:  # tied: one matrix
        spread = np.diagonal(moments.scatter)
    return (spread + (w * (moments.mean - middle) ** 2).sum(axis=0)) / mass


def floors(variance: Array, min_covar: float) -> Array:
    """Smallest variance allowed in every column: `min_covar`, or that share of a column that varies
    less than 1.
    """
    return min_covar * np.where(variance > 0, np.minimum(variance, 1.0), 1.0)


def update_means(old: Array, moments: Any, prior: GaussianPrior) -> Array:
    """Weighted means, drawn to the prior's."""
    mass = moments.weight + prior.mean_weight
    drawn = moments.weight * moments.mean + np.asarray(prior.mean_weight) * prior.mean
    return np.where(mass > NOTHING, drawn / np.where(mass > NOTHING, mass, 1.0), old)


def update_covariances(
    old: Array,
    kind: str,
    means: Array,
    moments: Any,
    prior: GaussianPrior,
    min_covar: float,
    tied: bool = False,
) -> Array:
    """(prior scatter + scatter about the new means) / (prior mass + mass), floored; empty states keep
    theirs.
    """
    gap, pull = moments.mean - means, means - prior.mean
    w, extra = moments.weight, np.asarray(prior.mass, dtype=float)
    floor = floors(total_variance(moments), min_covar)
    if kind in ("diag", "spherical"):
        scatter = moments.scatter + w * gap**2 + prior.mean_weight * pull**2 + prior.scatter
        mass = extra + w
        found = scatter / np.where(mass > NOTHING, mass, 1.0)
        if kind == "diag":
            return np.where(mass > NOTHING, np.maximum(found, floor), old)
        found = np.maximum(found.mean(axis=1), floor.mean())
        return np.where(mass.min(axis=1) > NOTHING, found, old)
    d = means.shape[1]
    added = (
        prior.scatter * np.eye(d) if np.ndim(prior.scatter) == 0 else np.asarray(prior.scatter, dtype=float)
    )
    shift = w[:, :, None] * outer(gap) + np.asarray(prior.mean_weight) * outer(pull)
    if kind == "tied":
        mass = float(extra + w.sum())
        return _floored(
            (moments.scatter + shift.sum(axis=0) + added) / mass if mass > NOTHING else old, floor
        )
    mass = (extra + w)[:, :, None]
    found = (moments.scatter + shift + added) / np.where(mass > NOTHING, mass, 1.0)
    return np.where(mass > NOTHING, np.stack([_floored(C, floor) for C in found]), old)


def _floored(C: Array, floor: Array) -> Array:
    """Raise eigenvalues below the floor, measured in units of the floor of every column."""
    unit = np.sqrt(floor)
    scaled = C / np.outer(unit, unit)
    try:
        np.linalg.cholesky(scaled - (1.0 - 1e-12) * np.eye(len(C)))
        return C
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((scaled + scaled.T) / 2.0)
        return (vectors * np.maximum(values, 1.0)) @ vectors.T * np.outer(unit, unit)


def gaussian_log_prior(family: Any, prior: GaussianPrior) -> float:
    """−½ Σ [tr Σ⁻¹(prior scatter + weight·pull²) + mass·ln|Σ|], up to a constant."""
    pull, kind = family.means - prior.mean, family.covariance_type
    d = family.means.shape[1]
    if kind in ("diag", "spherical"):
        variance = family.variance()
        terms = (prior.mean_weight * pull**2 + prior.scatter) / variance + prior.mass * np.log(variance)
        return float(-0.5 * np.broadcast_to(terms, variance.shape).sum())
    added = (
        prior.scatter * np.eye(d) if np.ndim(prior.scatter) == 0 else np.asarray(prior.scatter, dtype=float)
    )
    precisions, logs = family.precisions(), family.log_determinants
    means = float((precisions * (np.asarray(prior.mean_weight) * outer(pull))).sum())
    if kind == "tied":
        precisions, logs = precisions[:1], logs[:1]
    return float(-0.5 * (means + (precisions * added).sum() + (prior.mass * logs).sum()))
