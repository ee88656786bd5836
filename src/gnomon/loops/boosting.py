"""Histogram boosting: gradients, histograms of whole numbers, split search and best-first growth of one tree.

Gradients and curvatures are rounded to whole numbers before they are added, so a histogram is the same in
any order of addition and a child's is exactly its parent's minus its sibling's. Two widths: *wide* rows hold
g and (count, h) in two 64-bit words; *narrow* rows hold count, g and h in one word, added in blocks of 2^12
rows and rounded at random (by row), which halves the work and is used for many rows with bounded gradients.
Codes come as words of eight bytes, one per feature; 255 is missing.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import INNER, TIE, mix

BLOCK_BITS = 12
H_BITS, G_BITS = 24, 26  # of a narrow word; the count has the rest
LOG, SQUARED, POISSON, GAMMA, EXPONENTIAL, GIVEN = 0, 1, 2, 3, 4, 5

# leaf records
START, END, DEPTH, SLOT, NODE, B_FEATURE, B_CODE, B_MISSING_LEFT, B_CATEGORICAL = range(9)
GSUM, HSUM, COUNT, B_GAIN, B_GLEFT, B_HLEFT, B_CLEFT, LO_VALUE, HI_VALUE = range(9)
N_LEAF_INT, N_LEAF_FLOAT = 9, 9


@compiled
def gradients(loss, y, raw, w, first, last, g, h):
    """g, h = weight times first and second derivative of the loss at raw;
    returns (loss sum, max |g|, max h).
    """
    total = top_g = top_h = 0.0
    for i in range(first, last):
        f, t, wi = raw[i], y[i], w[i]
        if loss == LOG:
            e = np.exp(-abs(f))
            p = 1.0 / (1.0 + e) if f >= 0 else e / (1.0 + e)
            total += wi * (np.log1p(e) + max(f, 0.0) - t * f)
            gi, hi = p - t, e / ((1.0 + e) * (1.0 + e))
        elif loss == SQUARED:
            gi, hi = f - t, 1.0
            total += wi * 0.5 * gi * gi
        elif loss == POISSON:
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


@compiled
def softmax_gradients(y, raw, w, k, first, last, g, h):
    """The same for class k of a softmax; returns (loss sum, max |g|, max h). raw is (classes, n)."""
    total = top_g = top_h = 0.0
    n_classes = raw.shape[0]
    for i in range(first, last):
        top = raw[0, i]
        for c in range(1, n_classes):
            top = max(top, raw[c, i])
        z = 0.0
        for c in range(n_classes):
            z += np.exp(raw[c, i] - top)
        p = np.exp(raw[k, i] - top) / z
        t = 1.0 if y[i] == k else 0.0
        if t > 0.0:
            total += w[i] * (np.log(z) + top - raw[k, i])
        g[i], h[i] = w[i] * (p - t), w[i] * p * (1.0 - p)
        top_g, top_h = max(top_g, abs(g[i])), max(top_h, h[i])
    return total, top_g, top_h


@compiled
def pack_rows(g, h, reps, g_scale, h_scale, count_shift, narrow, salt, first, last, packed):
    """packed[i] = whole numbers for the histograms; narrow words are rounded at random, by row."""
    for i in range(first, last):
        if narrow:
            r = mix(np.uint64(i) ^ salt)
            a = np.float64(r >> np.uint64(40)) / 16777216.0
            b = np.float64((r >> np.uint64(16)) & np.uint64(0xFFFFFF)) / 16777216.0
            gi = np.int64(np.floor(g[i] * g_scale + a))
            hi = np.int64(np.floor(h[i] * h_scale + b))
            packed[i, 0] = (np.int64(1) << (G_BITS + H_BITS)) + (gi << H_BITS) + hi
        else:
            packed[i, 0] = np.int64(np.round(g[i] * g_scale))
            packed[i, 1] = (np.int64(reps[i]) << count_shift) + np.int64(np.round(h[i] * h_scale))


@compiled(**INNER)
def fill_narrow(words, packed, rows, local, out):
    """Add rows to the histograms of eight features; out is (2048, 3): g, h, count."""
    mask = np.uint64(255)
    for begin in range(0, rows.size, 1 << BLOCK_BITS):
        for c in range(2048):
            local[c] = 0
        for at in range(begin, min(begin + (1 << BLOCK_BITS), rows.size)):
            i = rows[at]
            v, p = words[i], packed[at]
            local[v & mask] += p
            local[np.uint64(256) + ((v >> np.uint64(8)) & mask)] += p
            local[np.uint64(512) + ((v >> np.uint64(16)) & mask)] += p
            local[np.uint64(768) + ((v >> np.uint64(24)) & mask)] += p
            local[np.uint64(1024) + ((v >> np.uint64(32)) & mask)] += p
            local[np.uint64(1280) + ((v >> np.uint64(40)) & mask)] += p
            local[np.uint64(1536) + ((v >> np.uint64(48)) & mask)] += p
            local[np.uint64(1792) + ((v >> np.uint64(56)) & mask)] += p
        for c in range(2048):
            p = local[c]
            if p != 0:
                hi = p & ((np.int64(1) << H_BITS) - 1)
                rest = (p - hi) >> H_BITS
                gi = rest & ((np.int64(1) << G_BITS) - 1)
                if gi >= (np.int64(1) << (G_BITS - 1)):
                    gi -= np.int64(1) << G_BITS
                out[c, 0] += gi
                out[c, 1] += hi
                out[c, 2] += (rest - gi) >> G_BITS


@compiled(**INNER)
def fill_wide(words, packed, rows, count_shift, out):
    """The same for wide rows."""
    for at in range(rows.size):
        i = rows[at]
        v, a, b = words[i], packed[i, 0], packed[i, 1]
        for j in range(8):
            c = 256 * j + np.int64((v >> np.uint64(8 * j)) & np.uint64(255))
            out[c, 0] += a
            out[c, 1] += b
    low = (np.int64(1) << count_shift) - 1
    for c in range(2048):
        b = out[c, 1]
        out[c, 1] = b & low
        out[c, 2] = b >> count_shift


@compiled
def histograms(words, packed, rows, first, last, parent, small, sibling, count_shift, narrow):
    """Fill small[first..last) over word blocks and set sibling = parent - small (may be the same array)."""
    local = np.empty(2048, np.int64)
    own = np.empty(rows.size if narrow else 0, np.int64)
    for at in range(own.size):
        own[at] = packed[rows[at], 0]
    for b in range(first, last):
        out = small[b]
        for c in range(2048):
            out[c, 0] = out[c, 1] = out[c, 2] = 0
        if narrow:
            fill_narrow(words[b], own, rows, local, out)
        else:
            fill_wide(words[b], packed, rows, count_shift, out)
        if parent.shape[0] > 0:
            for c in range(2048):
                for k in range(3):
                    sibling[b, c, k] = parent[b, c, k] - out[c, k]


@compiled(**INNER)
def try_split(gl, hl, cl, g, h, c, l2, min_leaf, min_h, sign, lower, upper, parent):
    """Gain of a split, or -inf when a side is too small or the monotone order is broken."""
    gr, hr, cr = g - gl, h - hl, c - cl
    if cl < min_leaf or cr < min_leaf or hl < min_h or hr < min_h:
        return -np.inf
    a, b = -gl / (hl + l2), -gr / (hr + l2)
    if sign == 0 and lower == -np.inf and upper == np.inf:
        return gl * gl / (hl + l2) + gr * gr / (hr + l2) - parent
    a, b = min(max(a, lower), upper), min(max(b, lower), upper)
    if (b - a) * sign < 0.0:
        return -np.inf
    return -(2.0 * gl * a + (hl + l2) * a * a) - (2.0 * gr * b + (hr + l2) * b * b) - parent


@compiled
def find_split(hist, n_bins, kinds, allowed, first, last, scales, rule, leaf_i, leaf_f, best_i, best_f, mask):
    """Best split of a leaf over the features first..last-1, from its histograms, into best_i and best_f.

    scales = (g, h) units; rule = (l2, min_samples_leaf, min_hessian). best_f[0] < 0: none.
    """
    l2, min_leaf, min_h = rule[0], rule[1], rule[2]
    g, h, c = leaf_f[GSUM], leaf_f[HSUM], leaf_f[COUNT]
    lower, upper = leaf_f[LO_VALUE], leaf_f[HI_VALUE]
    value = min(max(-g / (h + l2), lower), upper)
    parent = -(2.0 * g * value + (h + l2) * value * value)
    best_f[0] = -1.0
    tie = TIE * abs(parent)
    order = np.empty(256, np.int64)
    keys = np.empty(256)
    for f in range(first, last):
        if allowed.size > 0 and allowed[f] == 0:
            continue
        block, base, n = hist[f // 8], 256 * (f % 8), n_bins[f]
        categorical, sign = kinds[f, 0] > 0, kinds[f, 1]
        gm, hm, cm = block[base + 255, 0] * scales[0], block[base + 255, 1] * scales[1], block[base + 255, 2]
        if categorical:
            n = rank_categories(block, base, n, l2, scales, order, keys)
        for side in range(2 if cm > 0 else 1):
            gl = gm if side == 1 else 0.0
            hl = hm if side == 1 else 0.0
            cl = float(cm) if side == 1 else 0.0
            for k in range(n if cm > 0 and side == 0 else n - 1):
                at = base + (order[k] if categorical else k)
                if block[at, 2] == 0:
                    continue
                gl += block[at, 0] * scales[0]
                hl += block[at, 1] * scales[1]
                cl += block[at, 2]
                if c - cl < min_leaf:
                    break
                gain = try_split(gl, hl, cl, g, h, c, l2, min_leaf, min_h, sign, lower, upper, parent)
                if gain > best_f[0] + TIE * abs(best_f[0]) + tie and gain > tie:
                    best_f[0], best_f[1], best_f[2], best_f[3] = gain, gl, hl, cl
                    best_i[0], best_i[1], best_i[2], best_i[3] = f, k, side, 1 if categorical else 0
        if categorical and best_f[0] > 0.0 and best_i[0] == f:
            for code in range(256):
                mask[code] = 0
            for k in range(best_i[1] + 1):
                mask[order[k]] = 1
            if best_i[2] == 1:
                mask[255] = 1
    if best_f[0] > 0.0 and hist.shape[0] > 0:
        f = best_i[0]
        if hist[f // 8, 256 * (f % 8) + 255, 2] == 0:  # no missing rows: they follow the heavier side
            best_i[2] = 1 if best_f[3] > c - best_f[3] else 0


@compiled(**INNER)
def rank_categories(block, base, n, l2, scales, order, keys):
    """Order the present categories by gradient over curvature; returns their number."""
    m = 0
    for code in range(n):
        if block[base + code, 2] > 0:
            key = block[base + code, 0] * scales[0] / (block[base + code, 1] * scales[1] + l2 + 1e-12)
            at = m
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, code
            m += 1
    return m


@compiled
def partition_rows(column, code, missing_left, categorical, mask, rows, first, last, left, spare):
    """Stable partition of rows[first:last]: left ones to left[:n], others to spare; returns n."""
    a = b = 0
    for k in range(first, last):
        i = rows[k]
        c = np.int64(column[i])
        if categorical == 1:
            go = np.int64(mask[c])
        else:
            go = np.int64(c <= code)
        if c == 255:
            go = missing_left
        left[a] = i
        spare[b] = i
        a += go
        b += 1 - go
    return a


@compiled
def leaf_sums(g, h, rows, first, last):
    """Sums of gradients and curvatures over some rows."""
    a = b = 0.0
    for k in range(first, last):
        a += g[rows[k]]
        b += h[rows[k]]
    return a, b


@compiled
def set_rows(out, rows, first, last, value):
    """out[rows] = value."""
    for k in range(first, last):
        out[rows[k]] = value
