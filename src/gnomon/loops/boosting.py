"""Histogram boosting: gradients, histograms of whole numbers, split search and partition of the rows.

Gradients and curvatures are rounded to whole numbers before they are added, so a histogram is the same in
any order of addition and a child's is exactly its parent's minus its sibling's. A cell of a histogram holds
two words: the sum of g, and count and sum of h together (``count << count_shift | h``). Rows come in two
widths: *wide* rows hold the two words of a cell; *narrow* rows hold count, g and h in one word, added in
blocks of 2^12 rows and rounded at random (by row), which halves the work and is used for many rows with
bounded gradients. Codes come as words of eight bytes, one per feature; 255 is missing.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import INNER, TIE, mix

BLOCK = 1 << 12  # narrow rows added before their sums could run over
STRIP = 128  # rows fetched together
FAR, SPARSE = 1 << 18, 16  # rows whose words outgrow the caches; one row in how many is few
H_BITS, G_BITS = 24, 26  # of a narrow word; the count has the rest
SQUARED, POISSON, GAMMA, EXPONENTIAL, GIVEN = 0, 1, 2, 3, 4
GAIN, G_LEFT, H_LEFT, COUNT_LEFT, PLACE, MISSING_LEFT = range(6)  # of a split found; GAIN <= 0: none


@compiled
def gradients(loss, y, raw, w, first, last, g, h):
    """g, h = weight times first and second derivative of the loss at raw;
    returns (loss sum, max |g|, max h).
    """
    total = top_g = top_h = 0.0
    for i in range(first, last):
        f, t, wi = raw[i], y[i], w[i]
        if loss == SQUARED:
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


@compiled(fastmath=True)
def logistic_gradients(y, raw, w, shrunk, g, h):
    """The same for two classes, given shrunk = exp(-|raw|); the loss lacks the sum of w log(1 + shrunk)."""
    total = top_g = top_h = 0.0
    for i in range(y.size):
        f, e = raw[i], shrunk[i]
        q = 1.0 / (1.0 + e)
        p = q if f >= 0.0 else e * q
        a, b = w[i] * (p - y[i]), w[i] * (e * q * q)
        g[i], h[i] = a, b
        total += w[i] * (max(f, 0.0) - y[i] * f)
        top_g, top_h = max(top_g, abs(a)), max(top_h, b)
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
def fetch(words, packed, rows, first, strip, own):
    """Bring the words and numbers of some rows together."""
    for at in range(rows.size):
        i = rows[at]
        own[at, 0] = packed[i, 0]
        own[at, own.shape[1] - 1] = packed[i, own.shape[1] - 1]
        for b in range(strip.shape[1]):
            strip[at, b] = words[i, first + b]


@compiled(**INNER)
def add_narrow(words, packed, rows, first, local):
    """Add rows to the packed histograms of the features in the words from `first` on."""
    for i in rows:
        p = packed[i, 0]
        for b in range(local.shape[0] // 8):
            v = words[i, first + b]
            for j in range(8):
                local[8 * b + j, np.int64((v >> np.uint64(8 * j)) & np.uint64(255))] += p


@compiled(**INNER)
def add_wide(words, packed, rows, first, out):
    """Add rows to the cells of the features in the words from `first` on."""
    for i in rows:
        p, q = packed[i, 0], packed[i, 1]
        for b in range(out.shape[0]):
            v = words[i, first + b]
            for j in range(8):
                c = np.int64((v >> np.uint64(8 * j)) & np.uint64(255))
                out[b, 256 * j + c, 0] += p
                out[b, 256 * j + c, 1] += q


@compiled(**INNER)
def unpack_narrow(local, count_shift, out):
    """Move the packed sums of eight features into cells; nothing is left behind."""
    for c in range(2048):
        p = local[c >> 8, c & 255]
        local[c >> 8, c & 255] = 0
        h = p & ((np.int64(1) << H_BITS) - 1)
        rest = p >> H_BITS
        g = (rest << (64 - G_BITS)) >> (64 - G_BITS)  # the low bits, with their sign
        out[c, 0] += g
        out[c, 1] += (((rest - g) >> G_BITS) << count_shift) + h


@compiled
def histograms(words, packed, rows, first, last, count_shift, narrow, out):
    """out[first:last] = the histograms of some rows over the word blocks first..last-1.

    Few rows among many are fetched strip by strip first, so that their loads wait for memory side by side.
    """
    blocks = last - first
    sparse = words.shape[0] > FAR and SPARSE * rows.size < words.shape[0]
    strip, own = np.empty((STRIP, blocks), np.uint64), np.empty((STRIP, packed.shape[1]), np.int64)
    inside = np.arange(STRIP).astype(rows.dtype)
    local = np.zeros((8 * blocks if narrow else 0, 256), np.int64)
    out[first:last] = 0
    size = STRIP if sparse else BLOCK
    for begin in range(0, rows.size, size):
        part = rows[begin : begin + size]
        if sparse:
            fetch(words, packed, part, first, strip, own)
        if narrow and sparse:
            add_narrow(strip, own, inside[: part.size], 0, local)
        elif narrow:
            add_narrow(words, packed, part, first, local)
        elif sparse:
            add_wide(strip, own, inside[: part.size], 0, out[first:last])
        else:
            add_wide(words, packed, part, first, out[first:last])
        done = begin + part.size
        if narrow and (done % BLOCK == 0 or done == rows.size):
            for b in range(blocks):
                unpack_narrow(local[8 * b : 8 * b + 8], count_shift, out[first + b])


@compiled
def subtract(parent, child, first, last):
    """parent -= child, over the word blocks first..last-1: what is left is the sibling's."""
    for b in range(first, last):
        for c in range(2048):
            parent[b, c, 0] -= child[b, c, 0]
            parent[b, c, 1] -= child[b, c, 1]


@compiled(**INNER)
def cumulate_cells(cells, order, n, ranked, scales, count_shift, left):
    """left = g, h and count of everything up to each of the first n cells (in order, where ranked)."""
    low = (np.int64(1) << count_shift) - 1
    g = q = np.int64(0)
    for k in range(n):
        at = order[k] if ranked else k
        g += cells[at, 0]
        q += cells[at, 1]
        left[0, k], left[1, k], left[2, k] = g * scales[0], (q & low) * scales[1], q >> count_shift


@compiled(**INNER)
def free_gains(left, n, extra, sums, rule, parent, gains):
    """gains[k] = what a split after cell k gains, `extra` going left too; -inf where a side is too small."""
    l2, min_leaf, min_h = rule[0], rule[1], rule[2]
    g, h, c = sums[0], sums[1], sums[2]
    for k in range(n):
        gl, hl, cl = left[0, k] + extra[0], left[1, k] + extra[1], left[2, k] + extra[2]
        gr, hr, cr = g - gl, h - hl, c - cl
        large = (cl >= min_leaf) & (cr >= min_leaf) & (hl >= min_h) & (hr >= min_h)
        gain = gl * gl / (hl + l2) + gr * gr / (hr + l2) - parent
        gains[k] = gain if large else -np.inf


@compiled(**INNER)
def bound_gains(left, n, extra, sums, rule, parent, sign, gains):
    """The same where values are bounded, and fall or rise from left to right as `sign` says."""
    l2, lower, upper = rule[0], sums[3], sums[4]
    free_gains(left, n, extra, sums, rule, parent, gains)
    for k in range(n):
        if gains[k] > -np.inf:
            gl, hl = left[0, k] + extra[0], left[1, k] + extra[1]
            gr, hr = sums[0] - gl, sums[1] - hl
            a = min(max(-gl / (hl + l2), lower), upper)
            b = min(max(-gr / (hr + l2), lower), upper)
            gain = -(2.0 * gl * a + (hl + l2) * a * a) - (2.0 * gr * b + (hr + l2) * b * b) - parent
            gains[k] = gain if (b - a) * sign >= 0.0 else -np.inf


@compiled(**INNER)
def first_best(gains, n, tie):
    """The first of the candidates whose gain is the largest, up to rounding."""
    top = -np.inf
    for k in range(n):
        top = gains[k] if gains[k] > top else top
    k = 0
    while k < n and gains[k] < top - TIE * abs(top) - tie:
        k += 1
    return k


@compiled
def find_splits(hist, n_bins, kinds, allowed, first, last, scales, count_shift, rule, sums, found):
    """found[f] = the best split of a leaf by each of the features first..last-1.

    scales = (g, h) units; rule = (l2, min_samples_leaf, min_hessian); sums = (g, h, count, lowest and highest
    value) of the leaf.
    """
    value = min(max(-sums[0] / (sums[1] + rule[0]), sums[3]), sums[4])
    parent = -(2.0 * sums[0] * value + (sums[1] + rule[0]) * value * value)
    tie = TIE * abs(parent)
    bounded = sums[3] > -np.inf or sums[4] < np.inf
    left, gains, extra = np.empty((3, 256)), np.empty(256), np.zeros(3)
    order, keys = np.empty(256, np.int64), np.empty(256)
    for f in range(first, last):
        found[f, GAIN] = -1.0
        if allowed.size > 0 and allowed[f] == 0:
            continue
        cells, n, ranked = hist[f // 8, 256 * (f % 8) : 256 * (f % 8) + 256], n_bins[f], kinds[f, 0] > 0
        if ranked:
            n = rank_categories(cells, n, rule[0], scales, count_shift, order, keys)
        cumulate_cells(cells, order, n, ranked, scales, count_shift, left)
        gap = (cells[255, 1] >> count_shift) > 0
        for side in range(2 if gap else 1):
            extra[0] = side * cells[255, 0] * scales[0]
            extra[1] = side * (cells[255, 1] & ((np.int64(1) << count_shift) - 1)) * scales[1]
            extra[2] = side * (cells[255, 1] >> count_shift)
            m = n if gap and side == 0 else n - 1
            if bounded or kinds[f, 1] != 0:
                bound_gains(left, m, extra, sums, rule, parent, kinds[f, 1], gains)
            else:
                free_gains(left, m, extra, sums, rule, parent, gains)
            k = first_best(gains, m, tie)
            if k < m and gains[k] > tie and gains[k] > found[f, GAIN] + TIE * abs(found[f, GAIN]) + tie:
                found[f, GAIN], found[f, PLACE], found[f, MISSING_LEFT] = gains[k], k, side
                found[f, G_LEFT], found[f, H_LEFT] = left[0, k] + extra[0], left[1, k] + extra[1]
                found[f, COUNT_LEFT] = left[2, k] + extra[2]


@compiled
def best_feature(found):
    """The lowest feature whose split gains most, up to rounding; -1: none gains."""
    best = -1
    for f in range(found.shape[0]):
        if found[f, GAIN] > 0.0 and (best < 0 or found[f, GAIN] > found[best, GAIN] * (1.0 + TIE)):
            best = f
    return best


@compiled
def sides_of(cells, n_categories, split, count, l2, scales, count_shift, goes_left):
    """goes_left[code] = 1 for the codes on the left of a split; missing rows, if there were none, go with the
    heavier side.
    """
    goes_left[:] = 0
    order, place = np.arange(256), np.int64(split[PLACE])
    if n_categories > 0:
        rank_categories(cells, n_categories, l2, scales, count_shift, order, np.empty(256))
    for k in range(place + 1):
        goes_left[order[k]] = 1
    gap = (cells[255, 1] >> count_shift) > 0
    goes_left[255] = split[MISSING_LEFT] if gap else 2.0 * split[COUNT_LEFT] > count


@compiled(**INNER)
def rank_categories(cells, n, l2, scales, count_shift, order, keys):
    """Order the present categories by gradient over curvature; returns their number."""
    m = 0
    for code in range(n):
        if cells[code, 1] >> count_shift > 0:
            h = (cells[code, 1] & ((np.int64(1) << count_shift) - 1)) * scales[1]
            key = cells[code, 0] * scales[0] / (h + l2 + 1e-12)
            at = m
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, code
            m += 1
    return m


@compiled
def partition_rows(column, goes_left, rows, left, right):
    """Stable partition by the side of every code: rows to left[:n] and right; returns n."""
    a = b = 0
    for i in rows:
        go = np.int64(goes_left[column[i]])
        left[a] = right[b] = i
        a += go
        b += 1 - go
    return a


@compiled
def leaf_sums(g, h, rows):
    """Sums of gradients and curvatures over some rows."""
    a = b = 0.0
    for i in rows:
        a += g[i]
        b += h[i]
    return a, b


@compiled
def set_rows(out, rows, value):
    """out[rows] = value."""
    for i in rows:
        out[i] = value
