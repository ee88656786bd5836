"""From centered moments to Gaussian parameters, for every covariance type, with or without a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DegenerateError
from gnomon.distributions.base import Array

if TYPE_CHECKING:
    from gnomon.distributions.normal import Gaussian


def estimated(family: Gaussian, statistics: Any, prior: Any) -> dict[str, Array]:
    """Maximum-likelihood (or, with a prior, most probable) means and covariances.

    Components without weight keep what they had.
    """
    if prior is not None:
        statistics, extra = prior.absorb(statistics, family.covariance_type)
    else:
        extra = 0.0
    weight, empty = statistics.weight, statistics.weight <= 0
    means = _kept(statistics.mean, family.means, empty, "means")
    kind = family.covariance_type
    if kind in ("identity", "fixed"):
        return {"means": means, "covariances": family.covariances}
    divisor = _divisor(kind, weight) + extra
    none = divisor <= 0
    safe = np.where(none, 1.0, divisor)
    scatter = statistics.scatter
    if kind == "full":
        found, none = scatter / safe[:, None, None], none[:, None, None]
    elif kind == "spherical":
        found = scatter.sum(axis=1) / safe
    elif kind == "tied_spherical":
        found = scatter.sum() / safe
    else:  # tied, diag
        found = scatter / safe
    found = _regularized(np.asarray(found), kind, family.reg_covar)
    return {"means": means, "covariances": _kept(found, family.covariances, none, "covariances")}


def _divisor(kind: str, weight: Array) -> Array:
    """Number of squares behind every variance; weight is (K, d) for diagonal types, else (K, 1)."""
    if kind == "full":
        return weight[:, 0]
    if kind == "spherical":
        return weight.sum(axis=1)
    return weight if kind == "diag" else np.asarray(weight.sum())


def _regularized(covariances: Array, kind: str, reg_covar: Any) -> Array:
    if not np.any(reg_covar):
        return covariances
    return covariances + (
        reg_covar * np.eye(covariances.shape[-1]) if kind in ("full", "tied") else reg_covar
    )


def _kept(new: Array, old: Array | None, empty: Array, name: str) -> Array:
    if not np.any(empty):
        return new
    if old is None:
        k = np.argwhere(np.broadcast_to(empty, new.shape))[0]
        raise DegenerateError(
            f"no observed weight to estimate {name} from, at entry {tuple(int(i) for i in k)}."
        )
    return np.where(empty, old, new)
