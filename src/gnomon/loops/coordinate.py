"""Sweeps of coordinate descent for least squares with an ℓ1 and a ridge penalty, on a Gram matrix.

They keep the slopes g = q − G w. A coordinate's move is w_j ← S(g_j + ‖x_j‖² w_j, t_j) / (‖x_j‖² + mu).
Outputs are written in place.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def shrink(z, t, positive):
    """Soft threshold; one-sided when only positive values are allowed."""
    if z > t:
        return z - t
    if z < -t and not positive:
        return z + t
    return 0.0


@compiled(fastmath=True)
def subtract_row(g, G, j, delta):
    """g -= delta G[j]."""
    for k in range(len(g)):
        g[k] -= delta * G[j, k]


@compiled(**PART)
def gram_sweep(G, t, mu, positive, w, g):
    """One cyclic sweep over all coordinates; returns the largest δ² ‖x_j‖²."""
    largest = 0.0
    for j in range(len(w)):
        curvature = G[j, j] + mu
        if curvature <= 0.0:
            continue
        old = w[j]
        new = shrink(g[j] + G[j, j] * old, t[j], positive) / curvature
        if new != old:
            w[j] = new
            subtract_row(g, G, j, new - old)
            largest = max(largest, (new - old) ** 2 * curvature)
    return largest


@compiled
def gram_sweeps(G, t, mu, positive, w, g, n_sweeps):
    """Sweeps while they move something; returns the largest δ² ‖x_j‖² of the last one."""
    largest = 0.0
    for _ in range(n_sweeps):
        largest = gram_sweep(G, t, mu, positive, w, g)
        if largest == 0.0:
            break
    return largest


@compiled(**PART)
def gap_between(rr, yr, t, size, top):
    """Objective, and what it is above the dual value at the best feasible multiple of the residual, for t > 0.

    rr is ‖r‖² + mu‖w‖², yr = yᵀr, size = ‖w‖₁ and top the steepest slope.
    """
    scale = min(max(yr / rr, 0.0), t / max(t, top)) if rr > 0.0 else 0.0
    primal = 0.5 * rr + t * size
    return primal, max(primal - scale * yr + 0.5 * scale * scale * rr, 0.0)


@compiled
def gram_gap(q, yy, t, mu, positive, w, g):
    """Objective and duality gap of a point from its slopes g = q − Gw, for t > 0."""
    wq, wg, ww, size, top = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(w)):
        slope = g[j] - mu * w[j]
        top = max(top, slope if positive else abs(slope))
        if w[j] != 0.0:
            wq += w[j] * q[j]
            wg += w[j] * g[j]
            ww += w[j] * w[j]
            size += abs(w[j])
    yr = yy - wq
    return gap_between(max(yr - wg, 0.0) + mu * ww, yr, t, size, top)


@compiled
def gram_descent(G, q, yy, t, mu, positive, w, g, goal, n_sweeps, told):
    """Cyclic sweeps until the gap is at most `goal`; told = objective and gap after each of them.

    Returns their number and the largest δ² ‖x_j‖² of the last one.
    """
    made, largest = 0, 0.0
    thresholds = np.full(len(w), t)
    for _ in range(n_sweeps):
        largest = gram_sweep(G, thresholds, mu, positive, w, g)
        told[made, 0], told[made, 1] = gram_gap(q, yy, t, mu, positive, w, g)
        made += 1
        if told[made - 1, 1] <= goal or largest == 0.0:
            break
    return made, largest


@compiled
def fill_stale(corr, lengths, away, stamp, w, level, out):
    """List the features whose correlations may have reached the level, and those in use; returns their number.

    corr[j] was computed when the residual was away[stamp[j]] from where it is; 0 means now.
    """
    count = 0
    for j in range(len(corr)):
        far = away[stamp[j]]
        if far > 0.0 and (w[j] != 0.0 or abs(corr[j]) + lengths[j] * far >= level):
            out[count] = j
            count += 1
    return count


@compiled(fastmath=True)
def distances(points, r, out):
    """out[a] = ‖points[a] − r‖ for the first points."""
    for a in range(len(out)):
        total = 0.0
        for i in range(len(r)):
            total += (points[a, i] - r[i]) ** 2
        out[a] = np.sqrt(total)


@compiled(fastmath=True)
def column_dots(X, cols, r, out):
    """out[c] = X[:, cols[c]] · r, for X in column order."""
    for c in range(len(cols)):
        j, total = cols[c], 0.0
        for i in range(len(r)):
            total += X[i, j] * r[i]
        out[c] = total


@compiled(fastmath=True)
def column_squares(X, u, out):
    """out[j] = Σ_i u[i] X[i, j]², for X in column order."""
    for j in range(X.shape[1]):
        total = 0.0
        for i in range(X.shape[0]):
            total += u[i] * X[i, j] * X[i, j]
        out[j] = total


@compiled(fastmath=True)
def add_rows(G, index, u, out):
    """out += Σ_a u[a] G[index[a]], four rows at a time; G may have more columns than out."""
    full = len(index) - len(index) % 4
    for a in range(0, full, 4):
        i, j, k, l = index[a], index[a + 1], index[a + 2], index[a + 3]
        for c in range(len(out)):
            out[c] += u[a] * G[i, c] + u[a + 1] * G[j, c] + u[a + 2] * G[k, c] + u[a + 3] * G[l, c]
    for a in range(full, len(index)):
        subtract_row(out, G, index[a], -u[a])


@compiled
def gather_square(G, index, out):
    """out = G[index][:, index]."""
    for a in range(len(index)):
        row = index[a]
        for b in range(len(index)):
            out[a, b] = G[row, index[b]]


@compiled
def mirror_upper(A):
    """Copy the upper triangle of a square matrix to the lower one, in tiles that stay in cache."""
    n, tile = len(A), 32
    for top in range(0, n, tile):
        for left in range(top, n, tile):
            for i in range(top, min(top + tile, n)):
                for j in range(max(left, i + 1), min(left + tile, n)):
                    A[j, i] = A[i, j]


@compiled
def gram_violation(t, mu, positive, w, g):
    """Largest distance of a slope from what optimality allows."""
    worst = 0.0
    for j in range(len(w)):
        slope = g[j] - mu * w[j]
        if w[j] > 0.0:
            miss = abs(slope - t[j])
        elif w[j] < 0.0:
            miss = abs(slope + t[j])
        elif positive:
            miss = max(0.0, slope - t[j])
        else:
            miss = max(0.0, abs(slope) - t[j])
        worst = max(worst, miss)
    return worst
