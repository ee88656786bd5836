"""Arithmetic of arrays of probabilities, one axis for every variable: margins, conditionals, independence.

Shared by joint tables, factors and networks. Nothing here knows names; axes are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.core.linalg import Array


def margin(P: Array, kept: Sequence[int]) -> Array:
    """Return the sum over all axes but `kept`, with the kept ones in the given order.

    >>> margin(np.arange(6.0).reshape(2, 3), [1])
    array([3., 5., 7.])
    """
    rest = tuple(i for i in range(P.ndim) if i not in set(kept))
    return np.transpose(P.sum(axis=rest), np.argsort(np.argsort(kept)))


def divided(a: Array, b: Array) -> Array:
    """Return a / b with 0/0 = 0; what is divided by zero and is not zero stays infinite.

    >>> divided(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    shape = np.broadcast_shapes(a.shape, b.shape)
    with np.errstate(divide="ignore"):
        return np.divide(a, b, out=np.zeros(shape), where=(b != 0) | (a != 0))


def conditional(P: Array, target: Sequence[int], given: Sequence[int]) -> tuple[Array, Array]:
    """Return P(target, given) with the target's axes first, and P(given) in a shape to divide by."""
    joint = margin(P, [*target, *given])
    return joint, joint.sum(axis=tuple(range(len(target))), keepdims=True)


def chain_factors(P: Array, order: Sequence[int]) -> list[Array]:
    """Return P(a), P(b | a), P(c | a, b), … in the order of the axes given; 0/0 = 0."""
    factors = []
    for position in range(len(order)):
        joint = margin(P, order[: position + 1])
        factors.append(divided(joint, joint.sum(axis=-1, keepdims=True)))
    return factors


def margins(P: Array) -> list[Array]:
    """Return the margin of every axis."""
    return [margin(P, [axis]) for axis in range(P.ndim)]


def outer_residual(P: Array) -> float:
    """Return max |P − outer product of its margins|: zero exactly when the variables are independent."""
    outer: Array = np.ones(())
    for one in margins(P):
        outer = np.multiply.outer(outer, one)
    return float(np.abs(P - outer).max())


def slice_residuals(joint: Array) -> Array:
    """Return the residual of every slice joint[..., a, b], each scaled to sum to one; empty slices are left out."""
    pairs = joint.reshape(-1, *joint.shape[-2:])
    total = pairs.sum(axis=(1, 2))
    pairs = pairs[total > 0] / total[total > 0, None, None]
    outer = pairs.sum(axis=2)[:, :, None] * pairs.sum(axis=1)[:, None, :]
    return np.abs(pairs - outer).max(axis=(1, 2))


def unfolding_rank(P: Array) -> int:
    """Return the largest rank among the unfoldings of a table."""
    unfolded = [np.moveaxis(P, i, 0).reshape(P.shape[i], -1) for i in range(P.ndim)]
    return max(int(np.linalg.matrix_rank(matrix)) for matrix in unfolded)
