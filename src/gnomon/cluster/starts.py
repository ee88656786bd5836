"""Rows to start from, chosen by hand: k-means++ and farthest-first traversal as functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.cluster.frame import frame_of
from gnomon.cluster.seeding import Sample, farthest_first_rows, plus_plus
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.rows import MemoryRows
from gnomon.core.validate import matrix, weights


def _sample_of_matrix(X: Any, sample_weight: Any, k: int) -> Sample:
    X = matrix(X, allow_sparse=True)
    n = X.shape[0]
    if not 1 <= k <= n:
        raise DataError(f"n_clusters={k} must be between 1 and the number of rows, {n}.")
    weight = np.ones(n) if sample_weight is None else weights(sample_weight, n)
    return Sample(X, weight, frame_of(MemoryRows(X, None, weight)))


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[Array, Array]:
    r"""Choose starting centers by k-means++.

    The first row is drawn in proportion to its weight, every further one in proportion to
    :math:`w_i\min_z\lVert x_i-z\rVert^2` over the rows z chosen so far. With `n_local_trials` draws the one
    that lowers the cost most is kept. For single draws
    :math:`E[\mathrm{cost}]\le8(\ln k+2)\,\mathrm{OPT}`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows to choose from.
    n_clusters : int
        How many to choose.
    sample_weight : array of shape (n_samples,), optional
        How many times each row counts.
    x_squared_norms : ignored
        Present for scikit-learn's signature; distances are not computed from norms.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. Row order and repetition do not matter to the draw.
    n_local_trials : int, optional
        Draws per center; 1 is the plain rule, the default is ``2 + floor(log(n_clusters))``.

    Returns
    -------
    centers : array of shape (n_clusters, n_features)
        The chosen rows.
    indices : array of shape (n_clusters,)
        Their row numbers.

    Examples
    --------
    >>> centers, indices = kmeans_plusplus([[0.0], [0.1], [10.0], [10.1]], 2, random_state=0)
    >>> sorted(int(round(x)) for x in centers.ravel())
    [0, 10]
    """
    sample = _sample_of_matrix(X, sample_weight, n_clusters)
    seeds = plus_plus(sample, n_clusters, generator(random_state), n_local_trials)
    chosen = sample.X[seeds.rows]
    return (chosen.toarray() if sparse.issparse(chosen) else chosen.copy()), seeds.rows


def farthest_first(X: Any, n_clusters: int, *, first: int | None = 0, random_state: Any = None) -> Array:
    """Choose rows that are far from each other: each next one is the farthest from those chosen so far.

    The traversal is within a factor of two of the best possible radius. Ties go to the lower row.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows to choose from.
    n_clusters : int
        How many to choose.
    first : int or None
        The row to begin with; None draws one.
    random_state : int, RandomState, Generator or None
        For the draw.

    Returns
    -------
    array of shape (n_clusters,)
        Row numbers, in the order of choice.

    Examples
    --------
    >>> farthest_first([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]], 3)
    array([0, 5, 4])
    """
    sample = _sample_of_matrix(X, None, n_clusters)
    if first is None:
        first = int(sample.pick(sample.weight, generator(random_state).random(1))[0])
    if not 0 <= first < len(sample.order):
        raise DataError(f"first={first} is not a row of X, which has {len(sample.order)}.")
    return farthest_first_rows(sample, n_clusters, first).rows
