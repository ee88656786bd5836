"""Histogram boosting: gradients, their rounding to whole numbers, and the values of leaves.

How histograms are filled from the whole numbers and splits found is in `loops.histograms`. Narrow words are
rounded at random (by row), which is lost in the noise of many rows with bounded gradients.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.histograms import EVEN, G_BITS, H_BITS, NARROW
from gnomon.loops.trees import ENTRY

POISSON, GAMMA, EXPONENTIAL = range(3)
NARROW_ONE, NARROW_H, EVEN_ONE = (
    G_BITS[NARROW] + H_BITS[NARROW],
    H_BITS[NARROW],
    G_BITS[EVEN],
)  # where a count is


@compiled(**ENTRY)
def gradients(loss, y, raw, w, first, last, g, h):
    """g, h = weight times first and second derivative of the loss at raw;
    returns (loss sum, max |g|, max h).
    """
    total = top_g = top_h = 0.0
    for i in range(first, last):
        f, t, wi = raw[i], y[i], w[i]
        if loss == POISSON:
            e = np.exp(f)
            gi, hi = e - t, e
            total += wi * (e - t * f)
        elif loss == GAMMA:
            e = t * np.exp(-f)
            gi, hi = 1.0 - e, e
            total += wi * (f + e)
        else:  # exponential, y in {-1, +1}
            e = np.exp(-t * f)
            gi, hi = -t * e, e
            total += wi * e
        g[i], h[i] = wi * gi, wi * hi
        top_g, top_h = max(top_g, abs(g[i])), max(top_h, h[i])
    return total, top_g, top_h


@compiled(fastmath={"reassoc"}, **ENTRY)
def squared_gradients(y, raw, w, g, h):
    """g and h of half the squared error; returns the loss."""
    total = 0.0
    for i in range(y.size):
        residual = raw[i] - y[i]
        g[i], h[i] = w[i] * residual, w[i]
        total += g[i] * residual
    return 0.5 * total


@compiled(fastmath=True, **ENTRY)
def logistic_gradients(y, raw, w, shrunk, g, h):
    """g and h for two classes, given shrunk = exp(-|raw|); returns the loss without the sum of
    w log(1 + shrunk).
    """
    total = 0.0
    for i in range(y.size):
        f, e = raw[i], shrunk[i]
        q = 1.0 / (1.0 + e)
        p = q if f >= 0.0 else e * q
        g[i], h[i] = w[i] * (p - y[i]), w[i] * (e * q * q)
        total += w[i] * (max(f, 0.0) - y[i] * f)
    return total


@compiled(**ENTRY)
def tops(g, h, out):
    """out = the bits of max |g| and max h (h is not negative): bits of numbers without a sign are ordered as these."""
    top_g = top_h = np.int64(0)
    for i in range(g.size):
        top_g = max(top_g, g[i] & np.int64(0x7FFFFFFFFFFFFFFF))
        top_h = max(top_h, h[i])
    out[0], out[1] = top_g, top_h


@compiled(**ENTRY)
def softmax_gradients(y, w, first, shares, total, g, h):
    """g and h of every class of a softmax, (classes, rows), for the rows from `first` on whose exponentials of scores
    are `shares`; total = their sums.
    """
    n_classes, n = shares.shape
    total[:] = 0.0
    for k in range(n_classes):
        for i in range(n):
            total[i] += shares[k, i]
    for k in range(n_classes):
        for i in range(n):
            p, weight = shares[k, i] / total[i], w[first + i]
            t = 1.0 if y[first + i] == k else 0.0
            g[k, first + i], h[k, first + i] = weight * (p - t), weight * p * (1.0 - p)


@compiled(**ENTRY)
def pack_narrow(g, h, g_scale, h_scale, salt, first, last, packed):
    """packed[i] = count, g and h as one whole number, rounded at random; returns the sums of g, h and count."""
    total_g = total_h = np.int64(0)
    for i in range(first, last):
        r = mix(np.uint64(i) ^ salt)
        a = np.float64(np.int32(r >> np.uint64(40))) / 16777216.0
        b = np.float64(np.int32((r >> np.uint64(16)) & np.uint64(0xFFFFFF))) / 16777216.0
        gi = np.int64(np.int32(np.floor(g[i] * g_scale + a)))  # short numbers: several rows at a time
        hi = np.int64(np.int32(np.floor(h[i] * h_scale + b)))
        packed[i] = (np.int64(1) << NARROW_ONE) + (gi << NARROW_H) + hi
        total_g += gi
        total_h += hi
    return total_g, total_h, np.int64(last - first)


@compiled(**ENTRY)
def pack_even(g, g_scale, first, last, packed):
    """packed[i] = count and g as one whole number; returns the sums of g and count."""
    total = np.int64(0)
    for i in range(first, last):
        gi = np.int64(np.rint(g[i] * g_scale))
        packed[i] = (np.int64(1) << EVEN_ONE) + gi
        total += gi
    return total, np.int64(last - first)


@compiled(**ENTRY)
def pack_wide(g, h, reps, g_scale, h_scale, count_shift, first, last, packed):
    """packed[i] = g; count and h as whole numbers; returns the sums of g, h and repetitions."""
    total_g = total_h = count = np.int64(0)
    for i in range(first, last):
        gi, hi = np.int64(np.rint(g[i] * g_scale)), np.int64(np.rint(h[i] * h_scale))
        packed[i, 0], packed[i, 1] = gi, (np.int64(reps[i]) << count_shift) + hi
        count += np.int64(reps[i])
        total_g += gi
        total_h += hi
    return total_g, total_h, count


@compiled(**ENTRY)
def leaf_sums(g, h, rows, leaves, sums):
    """sums[k] = the sums of g and h over leaf k, whose rows are leaves[k, 0]..leaves[k, 1]."""
    for k in range(leaves.shape[0]):
        a = b = 0.0
        for i in rows[leaves[k, 0] : leaves[k, 1]]:
            a += g[i]
            b += h[i]
        sums[k, 0], sums[k, 1] = a, b


@compiled(**ENTRY)
def spread(values, rows, leaves, first, last, step):
    """step[i] = the value of row i's leaf, for the rows first..last-1; the rows of a leaf are in order."""
    for k in range(leaves.shape[0]):
        inside = rows[leaves[k, 0] : leaves[k, 1]]
        for at in range(np.searchsorted(inside, first), np.searchsorted(inside, last)):
            step[inside[at]] = values[k]
