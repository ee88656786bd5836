"""Where EM begins: statistics of a first, rough assignment of the rows.

Every draw depends on the values of a row and the seed, never on the row's place, so the order of the rows and
repetition instead of weight change nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from gnomon.cluster.centers import nearest_labels
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.sampling import hash_rows
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed
from gnomon.core.sums import total
from gnomon.distributions.base import Expectation, Family
from gnomon.distributions.columns import ColumnSums
from gnomon.distributions.columnwise import Product, ProductStatistics
from gnomon.distributions.moments import DiagonalMoments
from gnomon.distributions.normal import Gaussian

CLUSTERED = {
    "kmeans": dict(init="k-means++"),
    "k-means++": dict(init="k-means++", max_iter=1, tol=0.0),
    "random_from_data": dict(init="random", n_init=1, max_iter=1, tol=0.0),
}


class Overview(NamedTuple):
    """What must be known of the data before the first step."""

    rows: Any  # Σ w
    entries: Array  # (d,) weight of the observed entries
    missing: Any  # number of entries that are NaN
    known: Any  # number of rows whose label is given
    labels: Array  # (K,) weight of the rows labeled k


def overview(chunk: Any, K: int) -> Overview:
    """Partial sum of `Overview`."""
    holes = np.isnan(chunk.X)
    entries = chunk.weight @ ~holes
    known, counts = 0, np.zeros(K)
    if chunk.y is not None:
        on = chunk.y >= 0
        known, counts = int(on.sum()), np.bincount(chunk.y[on].astype(np.intp), chunk.weight[on], K)
    return Overview(chunk.weight.sum(), entries, int(holes.sum()), known, counts)


def uniforms(X: Array, seed: int, K: int) -> Array:
    """K numbers in (0, 1) for every row, out of its values and the seed (splitmix64): (n, K)."""
    with np.errstate(over="ignore"):
        z = hash_rows(X)[:, None] + np.uint64(seed & (2**64 - 1))
        z = z + np.arange(1, K + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def _with_labels(resp: Array, chunk: Any) -> Array:
    """Rows with a label belong to it wholly."""
    if chunk.y is not None:
        known = np.flatnonzero(chunk.y >= 0)
        resp[known] = 0.0
        resp[known, chunk.y[known].astype(np.intp)] = 1.0
    return resp * chunk.weight[:, None]


def random_sums(chunk: Any, family: Family, K: int, seed: int) -> Expectation:
    """Statistics of random responsibilities."""
    resp = uniforms(chunk.X, seed, K)
    return _summed(chunk, family, resp / resp.sum(axis=1, keepdims=True))


def nearest_sums(chunk: Any, family: Family, centers: Array, blur: float) -> Expectation:
    """Statistics of the rows nearest to every center; `blur` is the share spread over all components."""
    K = len(centers)
    resp = np.full((len(chunk.X), K), blur / K)
    resp[np.arange(len(resp)), nearest_labels(chunk, centers)] += 1.0 - blur
    return _summed(chunk, family, resp)


def _summed(chunk: Any, family: Family, resp: Array) -> Expectation:
    resp = _with_labels(resp, chunk)
    return Expectation(0.0, resp.sum(axis=0), family.statistics(chunk.X, resp))


def cluster_centers(rows: Any, K: int, kind: str, missing: bool, rng: np.random.Generator) -> Array:
    """Centers of a k-means run, or of its seeds with the rows nearest to them."""
    options: dict[str, Any] = {"n_init": 1, **CLUSTERED[kind], "missing": "ignore" if missing else "error"}
    return KMeans(K, random_state=draw_seed(rng) % 2**31, **options)._learn(rows).cluster_centers_


def start_sums(
    rows: Any, family: Family, K: int, kind: str, missing: bool, rng: np.random.Generator, blur: float = 0.0
) -> Expectation:
    """Statistics of the start `kind`."""
    if kind == "random":
        return total(random_sums, rows, family, K, draw_seed(rng))
    centers = cluster_centers(rows, K, kind, missing, rng)
    if getattr(rows, "y", None) is not None:
        centers = renumbered(centers, total(label_sums, rows, K))
    sums = total(nearest_sums, rows, family, centers, blur)
    if np.all(sums.mass > 0):
        return sums
    return total(nearest_sums, rows, family, centers, 0.1)  # a center without rows gets a share of all


def rough(family: Family) -> Family:
    """Return the family without correlations, whose statistics can leave holes out."""
    if isinstance(family, Product):
        return family._with(rough(part) for part in family.families)
    if isinstance(family, Gaussian) and not family._is_diagonal:
        return Gaussian(covariance_type="diag", reg_covar=family.reg_covar)
    return family


def refined(family: Family, start: Any, mass: Array) -> Family:
    """Return a stack of the family with the parameters of a `rough` one."""
    if isinstance(family, Product):
        return family._with(refined(f, s, mass) for f, s in zip(family.families, start.families, strict=True))
    if not isinstance(family, Gaussian) or family._is_diagonal:
        return start
    matrices = start.covariance_matrices()
    if family.covariance_type == "tied":
        matrices = np.einsum("k,kab->ab", mass / mass.sum(), matrices)
    return family.replace(means=start.means, covariances=matrices)


def filled(statistics: Any) -> Any:
    """Give components that saw no entry of a column the statistics of all rows there."""
    if isinstance(statistics, ProductStatistics):
        return ProductStatistics(tuple(filled(part) for part in statistics.parts))
    if not isinstance(statistics, DiagonalMoments | ColumnSums) or np.all(statistics.weight > 0):
        return statistics
    weight, empty = statistics.weight, statistics.weight <= 0
    whole = weight.sum(axis=0)
    if isinstance(statistics, ColumnSums):
        average = statistics.sums.sum(axis=1, keepdims=True) / whole
        return ColumnSums(np.where(empty, 1.0, weight), np.where(empty, average, statistics.sums))
    mean = (weight * statistics.mean).sum(axis=0) / whole
    scatter = (statistics.scatter + weight * (statistics.mean - mean) ** 2).sum(axis=0) / whole
    return DiagonalMoments(
        np.where(empty, 1.0, weight),
        np.where(empty, mean, statistics.mean),
        np.where(empty, scatter, statistics.scatter),
    )


def first_stack(
    rows: Any,
    family: Family,
    K: int,
    kind: str,
    missing: bool,
    rng: np.random.Generator,
    *,
    blur: float = 0.0,
    prior: Any = None,
) -> tuple[Array, Family]:
    """Return the masses and the components of the start `kind`."""
    if not missing:
        sums = start_sums(rows, family, K, kind, missing, rng, blur)
        return sums.mass, family.estimate(sums.statistics, prior)
    simple = rough(family)
    sums = start_sums(rows, simple, K, kind, missing, rng, blur)
    prior = prior if simple is family else None
    return sums.mass, refined(family, simple.estimate(filled(sums.statistics), prior), sums.mass)


class LabelSums(NamedTuple):
    """Weight and sum of the observed entries of the rows with each label."""

    weight: Array  # (K, d)
    sums: Array  # (K, d)


def label_sums(chunk: Any, K: int) -> LabelSums:
    """Partial sum of `LabelSums`."""
    known = chunk.y >= 0
    table = np.eye(K)[chunk.y[known].astype(np.intp)].T * chunk.weight[known]
    X = chunk.X[known]
    holes = np.isnan(X)
    return LabelSums(table @ ~holes, table @ np.where(holes, 0.0, X))


def renumbered(centers: Array, labeled: LabelSums) -> Array:
    """Give every component with labeled rows the center that fits them best."""
    known = np.flatnonzero((labeled.weight > 0).any(axis=1))
    means = labeled.sums[known] / np.maximum(labeled.weight[known], 1e-300)
    seen = labeled.weight[known] > 0
    gaps = np.where(seen[:, None, :], means[:, None, :] - centers[None], 0.0)
    rows, columns = linear_sum_assignment((gaps**2).sum(axis=2))
    order = np.full(len(centers), -1)
    order[known[rows]] = columns
    order[order < 0] = np.setdiff1d(np.arange(len(centers)), columns)
    return centers[order]


def check_labels(chunk: Any, K: int) -> tuple[Any]:
    """Partial check that labels are −1 or component indices."""
    bad = (chunk.y < -1) | (chunk.y >= K) | (chunk.y != np.rint(chunk.y))
    if bad.any():
        raise DataError(f"labels must be −1 or from 0 to {K - 1}; one is {chunk.y[bad][0]:g}.")
    return (0,)
