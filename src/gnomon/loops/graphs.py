"""Sweeps over graphs in compressed rows. Arrays in, arrays out; no NaN in, none out."""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled
def turn_edges(indptr, indices, place, source, edge):
    """Group edges by where they lead: source[p] is where edge number edge[p] comes from; place is used up."""
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            p = place[indices[e]]
            source[p] = i
            edge[p] = e
            place[indices[e]] = p + 1


@compiled
def turn_plain_edges(indptr, indices, place, source):
    """The same where all edges weigh alike."""
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            p = place[indices[e]]
            source[p] = i
            place[indices[e]] = p + 1


@compiled(**PART)
def balance(y, weight, leaks, damping, inflow):
    """The factor by which y must grow so that what enters the walk, `inflow`, leaves it: by jumps and leaks."""
    mass, lost = 0.0, 0.0
    for j in range(y.shape[0]):
        mass += y[j] * weight[j]
    for j in leaks:
        lost += y[j] * weight[j]
    return inflow / ((1.0 - damping) * mass + damping * lost)


@compiled
def solve_walk(start, source, share, leaks, damping, right, tol, max_iter, y):
    """Gauss-Seidel on y = damping P' y + right until the L1 change is at most tol; returns (sweeps, change).

    Between sweeps y is scaled so that its mass is right, which takes out the error that fades most slowly.
    """
    change = np.inf
    ones, inflow = np.ones(right.shape[0]), right.sum()
    for sweep in range(max_iter):
        y *= balance(y, ones, leaks, damping, inflow)
        change = 0.0
        for j in range(right.shape[0]):
            total = 0.0
            for e in range(start[j], start[j + 1]):
                total += share[e] * y[source[e]]
            value = damping * total + right[j]
            change += abs(value - y[j])
            y[j] = value
        if change <= tol:
            return sweep + 1, change
    return max_iter, change


@compiled
def solve_plain_walk(start, source, degree, leaks, damping, right, tol, max_iter, z):
    """The same for edges of equal weight, in z = y / degree: no edge weights are read."""
    change = np.inf
    inverse, inflow = 1.0 / degree, right.sum()
    for sweep in range(max_iter):
        z *= balance(z, degree, leaks, damping, inflow)
        change = 0.0
        for j in range(right.shape[0]):
            total = 0.0
            for e in range(start[j], start[j + 1]):
                total += z[source[e]]
            value = (damping * total + right[j]) * inverse[j]
            change += abs(value - z[j]) * degree[j]
            z[j] = value
        if change <= tol:
            return sweep + 1, change
    return max_iter, change
