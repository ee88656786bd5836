"""Sums over labelled rows: what a generative classifier learns from, class by class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk
from gnomon.distributions.base import Family
from gnomon.distributions.moments import DiagonalMoments, FullMoments, TiedMoments
from gnomon.distributions.normal import Gaussian
from gnomon.loops import classes as loops


class ClassSums(NamedTuple):
    """The weight of every class, and the statistics of its rows."""

    weight: Array  # (K,)
    statistics: Any

    @property
    def n_features(self) -> int:
        return int(
            np.shape(self.statistics.mean if hasattr(self.statistics, "mean") else self.statistics)[-1]
        )


def class_weights(chunk: Chunk, n_classes: int) -> Array:
    """Return Σw of every class."""
    return np.bincount(chunk.y, weights=chunk.weight, minlength=n_classes)


def holes(chunk: Chunk) -> int:
    """Partial sum of the number of missing entries; nothing is counted where there is none."""
    return int(np.isnan(chunk.X).sum()) if np.isnan(chunk.X.sum(dtype=np.float64)) else 0


def class_sums(chunk: Chunk, family: Family, n_classes: int) -> ClassSums:
    """Return the statistics of a family for every class."""
    if isinstance(family, Gaussian) and (family._is_diagonal or not holes(chunk)):
        return normal_sums(chunk, family.covariance_type, n_classes)
    weight = class_weights(chunk, n_classes)
    member = np.zeros((len(chunk.weight), n_classes))
    member[np.arange(len(member)), chunk.y] = chunk.weight
    return ClassSums(weight, family.statistics(chunk.X, member))


def normal_sums(chunk: Chunk, kind: str, n_classes: int) -> ClassSums:
    """Return the moments of every class for a kind of covariance; a diagonal one alone passes over missing entries."""
    weight = class_weights(chunk, n_classes)
    moments = {"tied": tied_moments, "full": full_moments, "fixed": full_moments}.get(kind, diagonal_moments)
    return ClassSums(weight, moments(chunk, weight))


def diagonal_moments(chunk: Chunk, weight: Array) -> DiagonalMoments:
    """Return means and squared deviations of every class and column, about a row near them all."""
    K, d = len(weight), chunk.X.shape[1]
    counted = chunk.X[np.flatnonzero(chunk.weight)[:64]]
    shift = np.nan_to_num(counted.astype(np.float64)).mean(axis=0) if len(counted) else np.zeros(d)
    first, second = np.zeros((K, d)), np.zeros((K, d))
    mass = np.repeat(weight[:, None], d, axis=1)
    loops.class_moments(chunk.X, chunk.y, chunk.weight, shift, first, second)
    if np.isnan(first).any():  # an entry is missing: once more, leaving such entries out
        mass, first, second = np.zeros((K, d)), np.zeros((K, d)), np.zeros((K, d))
        loops.observed_class_moments(chunk.X, chunk.y, chunk.weight, shift, mass, first, second)
    step = np.divide(first, mass, out=np.zeros_like(mass), where=mass > 0)
    return DiagonalMoments(mass, shift + step, np.maximum(second - step * first, 0.0))


def class_means(chunk: Chunk, weight: Array, shift: Array) -> Array:
    """Return the mean of every class about `shift`; zero where a class has no row."""
    member = sparse.csr_array(
        (chunk.weight, chunk.y, np.arange(len(chunk.y) + 1)), shape=(len(chunk.y), len(weight))
    )
    sums = member.T @ (chunk.X - shift)
    return np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)


def tied_moments(chunk: Chunk, weight: Array) -> TiedMoments:
    """Return the means and one scatter within the classes: total scatter less that between the means."""
    some = weight.sum() > 0
    shift = np.average(chunk.X, axis=0, weights=chunk.weight) if some else np.zeros(chunk.X.shape[1])
    Z = chunk.X - shift
    Z *= np.sqrt(chunk.weight)[:, None]
    offsets = class_means(chunk, weight, shift)
    spread = offsets * np.sqrt(weight)[:, None]
    return TiedMoments(weight[:, None].copy(), shift + offsets, Z.T @ Z - spread.T @ spread)


def full_moments(chunk: Chunk, weight: Array) -> FullMoments:
    """Return mean and scatter of every class, one matrix product each over its own rows."""
    K, d = len(weight), chunk.X.shape[1]
    means, scatter = np.zeros((K, d)), np.zeros((K, d, d))
    order = np.argsort(chunk.y, kind="stable")
    ends = np.cumsum(np.bincount(chunk.y, minlength=K))
    for k, end in enumerate(ends):
        rows = order[ends[k - 1] if k else 0 : end]
        if weight[k] > 0:
            w = chunk.weight[rows]
            Z = chunk.X[rows].astype(np.float64)
            means[k] = w @ Z / weight[k]
            Z -= means[k]
            Z *= np.sqrt(w)[:, None]
            scatter[k] = Z.T @ Z
    return FullMoments(weight[:, None].copy(), means, scatter)
