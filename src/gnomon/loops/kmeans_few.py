"""Assignment of few rows or few columns to few centers, without the screens and bounds of `loops.kmeans`; same labels.

X is read-only, C-ordered and free of NaN.
"""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.kmeans import TILE, add_residuals, add_weights, squared_distance
from gnomon.loops.streams import fill_uniform


@compiled
def assign_few(X, start, stop, centers, scale, labels, near):
    """Give rows start..stop−1 their nearest centers and distances²; return how many labels changed.

    Distances are summed directly in float64, in units of 1/scale; ties go to the lower index.
    """
    changed = 0
    for i in range(start, stop):
        label, nearest = 0, np.inf
        for c in range(centers.shape[0]):
            d = squared_distance(X[i], centers[c], scale)
            if d < nearest:
                label, nearest = c, d
        near[i] = nearest
        if labels[i] != label:
            labels[i] = label
            changed += 1
    return changed


@compiled(fastmath=True)
def add_squares(column, center, scale, first, out):
    """out[i] += ((column[i] − center)·scale)², or becomes it where this is the first column."""
    if first:
        for i in range(len(column)):
            gap = (column[i] - center) * scale
            out[i] = gap * gap
    else:
        for i in range(len(column)):
            gap = (column[i] - center) * scale
            out[i] += gap * gap


@compiled
def assign_narrow(X, start, stop, centers, scale, labels, near):
    """The same as `assign_few` for up to three columns: row beside row, so that several go at a time.

    The terms of a sum come in the order of the columns, as they do in `squared_distance` of so few.
    """
    d, changed = X.shape[1], 0
    columns, distance = np.empty((d, TILE)), np.empty(TILE)
    nearest, where = np.empty(TILE), np.empty(TILE, np.int32)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        rows, known = X[first:last], labels[first:last]
        m = len(rows)
        for j in range(d):
            column = columns[j]
            for i in range(m):
                column[i] = rows[i, j]
        for i in range(m):
            nearest[i], where[i] = np.inf, 0
        for c in range(len(centers)):
            for j in range(d):
                add_squares(columns[j, :m], centers[c, j], scale, j == 0, distance)
            code = np.int32(c)
            for i in range(m):
                less = distance[i] < nearest[i]
                nearest[i] = distance[i] if less else nearest[i]
                where[i] = code if less else where[i]
        near[first:last] = nearest[:m]
        for i in range(m):
            changed += known[i] != where[i]
            known[i] = where[i]
    return changed


@compiled
def pass_in_batches(X, order, edges, seed, batch, scale, ratio, tol, patience, state, centers, counts, costs):
    """Passes of mini-batch k-means, each of one batch of `edges[-1]` rows drawn from its own stream.

    `edges` are the cumulative weights of the rows in `order`; state = (smoothed cost, the best so far, batches since),
    as in `cluster.minibatch`. centers and counts are changed in place, costs[p] is the smoothed cost after a pass.
    The last pass is the first that moves the centers by at most `tol` (squared, in units of 1/scale²), or after which
    the smoothed cost has not fallen for `patience` batches; a pass in which a center has got too few rows is not made.
    Returns how many were, the state, and how far the last one moved the centers.
    """
    smooth, best, idle = state
    n, (k, d) = int(np.ceil(edges[-1])), centers.shape
    last = np.searchsorted(edges, edges[-1])
    rows, weight, u = np.empty((n, d), X.dtype), np.ones(n), np.empty(n)
    labels, near = np.zeros(n, np.int32), np.empty(n)
    sums, added, moved = np.empty((k, d)), np.empty(k), np.empty((k, d))
    made, shift = 0, 0.0
    while made < len(costs):
        fill_uniform(seed, batch + made, u)
        for i in range(n):
            rows[i] = X[order[min(np.searchsorted(edges, u[i] * edges[-1], side="right"), last)]]
        assign_few(rows, 0, n, centers, scale, labels, near)
        sums[:], added[:] = 0.0, 0.0
        cost = add_residuals(rows, weight, 0, n, centers, scale, labels, sums) / scale / scale / n
        add_weights(weight, 0, n, labels, added)
        added += counts
        if ratio > 0.0 and (batch + made + 1) % 10 == 0 and added.min() < ratio * added.max():
            break
        shift = 0.0
        for c in range(k):
            counts[c] = added[c]
            for j in range(d):
                moved[c, j] = centers[c, j] + sums[c, j] / (added[c] if added[c] > 0.0 else 1.0)
                gap = (moved[c, j] - centers[c, j]) * scale
                shift += gap * gap
        centers[:] = moved
        smooth = cost if not np.isfinite(smooth) else 0.9 * smooth + 0.1 * cost
        idle = 0 if smooth < best else idle + 1
        best = min(smooth, best)
        costs[made] = smooth
        made += 1
        if idle >= patience or shift <= tol:
            break
    return made, smooth, best, idle, shift
