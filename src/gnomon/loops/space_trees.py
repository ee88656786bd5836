"""Space trees: points in boxes or balls, halved again and again, and the nearest of them found by leaving
out what is too far. Arrays in, arrays out; points may be float32, sums are float64.

Points of a leaf lie column by column, so that a scan runs over points, not over columns: a distance is
always the sum over columns from first to last, and has the same bits in every tree and in a scan of all points.
Equal distances go to the lower label. A distance that is NaN counts as infinite.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.distances import HAMMING, HAMMING_COUNT, L1, LINF, LP, NAN_EUCLIDEAN
from gnomon.loops.select import insert, select

SQUARES = 7  # beside the codes of `loops.distances`: the sum of squared differences
FLAT, BOXES, BALLS = range(3)  # how a tree bounds the distance to the points of a node
TINY = 4e-16


@compiled(**PART)
def gap_code(gap, code, p):
    """What one column adds to a distance before its root is taken."""
    if code == SQUARES:
        return gap * gap
    if code == LP:
        return abs(gap) ** p
    return abs(gap)


@compiled(**PART)
def scan(q, block, code, p, out, seen):
    """out[i] = distance of q to the point block[:, i], before the root."""
    d, m = block.shape
    for i in range(m):
        out[i] = 0.0
    if code == SQUARES:
        for j in range(d):
            x = q[j]
            for i in range(m):
                gap = x - np.float64(block[j, i])
                out[i] += gap * gap
    elif code == L1:
        for j in range(d):
            x = q[j]
            for i in range(m):
                out[i] += abs(x - np.float64(block[j, i]))
    elif code == LINF:
        for j in range(d):
            x = q[j]
            for i in range(m):
                out[i] = max(out[i], abs(x - np.float64(block[j, i])))
    elif code == LP:
        for j in range(d):
            x = q[j]
            for i in range(m):
                out[i] += abs(x - np.float64(block[j, i])) ** p
    elif code in (HAMMING, HAMMING_COUNT):
        for j in range(d):
            x = q[j]
            for i in range(m):
                out[i] += x != block[j, i]
    else:  # over the entries that both have
        scan_present(q, block, code, out, seen)


@compiled(**PART)
def scan_present(q, block, code, out, seen):
    """As `scan`, over the columns where neither entry is missing."""
    d, m = block.shape
    for i in range(m):
        seen[i] = 0
    for j in range(d):
        x = q[j]
        for i in range(m):
            gap = x - np.float64(block[j, i])
            if not np.isnan(gap):
                out[i] += gap * gap
                seen[i] += 1
    for i in range(m):
        if seen[i] == 0:
            out[i] = np.inf
        elif code == NAN_EUCLIDEAN:
            out[i] *= d / seen[i]


@compiled
def grow(X, ends, order, keys, lower, upper, split):
    """Halve the points at the middle of their widest column, node by node; boxes of all nodes.

    Node i has the children 2i + 1 and 2i + 2 and the points order[ends[i, 0] : ends[i, 1]]. `split` tells the
    column and the value at which a node was halved.
    """
    n, d = X.shape
    inner = len(ends) // 2
    ends[0, 0], ends[0, 1] = 0, n
    for node in range(len(ends)):
        lo, hi = ends[node, 0], ends[node, 1]
        for j in range(d):
            lower[node, j] = X[order[lo], j]
            upper[node, j] = lower[node, j]
        for i in range(lo + 1, hi):
            row = X[order[i]]
            for j in range(d):
                lower[node, j] = min(lower[node, j], np.float64(row[j]))
                upper[node, j] = max(upper[node, j], np.float64(row[j]))
        if node >= inner:
            continue
        widest = 0
        for j in range(1, d):
            if upper[node, j] - lower[node, j] > upper[node, widest] - lower[node, widest]:
                widest = j
        for i in range(lo, hi):
            keys[i] = X[order[i], widest]
        middle = (lo + hi) // 2
        select(keys, order, lo, hi, middle)
        split[node, 0], split[node, 1] = widest, keys[middle]
        ends[2 * node + 1, 0], ends[2 * node + 1, 1] = lo, middle
        ends[2 * node + 2, 0], ends[2 * node + 2, 1] = middle, hi


@compiled
def lay_out(X, ends, order, points):
    """points = the leaves one after the other, each column by column."""
    d = X.shape[1]
    for node in range(len(ends) // 2, len(ends)):
        lo, hi = ends[node, 0], ends[node, 1]
        block = points[lo * d : hi * d].reshape(d, hi - lo)
        for i in range(lo, hi):
            for j in range(d):
                block[j, i - lo] = X[order[i], j]


@compiled
def enclose(X, ends, order, code, p, center, radius):
    """Balls: the mean of the points of every node, and how far they are from it at most."""
    d = X.shape[1]
    for node in range(len(ends)):
        lo, hi = ends[node, 0], ends[node, 1]
        first = X[order[lo]]
        for j in range(d):
            total = 0.0
            for i in range(lo, hi):
                total += np.float64(X[order[i], j]) - np.float64(first[j])
            center[node, j] = np.float64(first[j]) + total / (hi - lo)
        reach = 0.0
        for i in range(lo, hi):
            reach = max(reach, whole(span(X[order[i]], center[node], code, p), code, p))
        radius[node] = reach


@compiled(**PART)
def span(x, y, code, p):
    """The distance of two points before the root."""
    total = 0.0
    for j in range(x.size):
        part = gap_code(np.float64(x[j]) - np.float64(y[j]), code, p)
        total = max(total, part) if code == LINF else total + part
    return total


@compiled(**PART)
def whole(reduced, code, p):
    """The distance whose root was not taken yet."""
    if code == SQUARES:
        return np.sqrt(reduced)
    return reduced ** (1.0 / p) if code == LP else reduced


@compiled(**PART)
def box_bound(q, lower, upper, code, p):
    """The distance of q to a box, before the root. Rounded like a distance, so it never exceeds one."""
    total = 0.0
    for j in range(q.size):
        gap = max(lower[j] - q[j], q[j] - upper[j])
        if gap > 0.0:
            part = gap_code(gap, code, p)
            total = max(total, part) if code == LINF else total + part
    return total * (1.0 - 1e-12) if code == LP else total


@compiled(**PART)
def ball_bound(q, center, radius, code, p):
    """A distance to the ball, before the root, that is not too large by rounding."""
    away = whole(span(q, center, code, p), code, p)
    rest = away - radius - TINY * (q.size + 8) * (away + radius)
    return gap_code(rest, code, p) * (1.0 - 1e-12) if rest > 0.0 else 0.0


@compiled(**PART)
def bound(tree, node, q, code, p):
    """How near the points of a node can be at least."""
    if tree.mode == FLAT:
        return 0.0
    if tree.mode == BALLS:
        return ball_bound(q, tree.lower[node], tree.upper[node, 0], code, p)
    return box_bound(q, tree.lower[node], tree.upper[node], code, p)


@compiled
def leaf_of(tree, Q, leaf):
    """leaf[i] = the leaf in which query i would lie; queries in that order read the same points."""
    inner = len(tree.ends) // 2
    for i in range(len(Q)):
        node = 0
        while node < inner:
            right = Q[i, np.int64(tree.split[node, 0])] >= tree.split[node, 1]
            node = 2 * node + 1 + right
        leaf[i] = node


@compiled
def nearest_in_tree(tree, Q, code, p, values, labels):
    """The k points nearest to every query, ascending; returns how many points were looked at."""
    d = Q.shape[1]
    n, k = tree.order.size, values.shape[1]
    inner, width = len(tree.ends) // 2, tree.width
    out, seen = np.empty(width), np.empty(width, dtype=np.int64)
    nodes, bounds = np.empty(256, dtype=np.int64), np.empty(256)
    q = np.empty(d)
    looked = 0
    for i in range(len(Q)):
        value, label = values[i], labels[i]
        value[:], label[:] = np.inf, n
        for j in range(d):
            q[j] = Q[i, j]
        nodes[0], bounds[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            if bounds[depth] > value[k - 1]:
                continue
            if node >= inner:
                lo, hi = tree.ends[node, 0], tree.ends[node, 1]
                looked += hi - lo
                scan(q, tree.points[lo * d : hi * d].reshape(d, hi - lo), code, p, out, seen)
                offer(out, tree.order[lo:hi], value, label)
                continue
            left, right = 2 * node + 1, 2 * node + 2
            a, b = bound(tree, left, q, code, p), bound(tree, right, q, code, p)
            nearer, further = (left, right) if a <= b else (right, left)
            nodes[depth], bounds[depth] = further, max(a, b)
            nodes[depth + 1], bounds[depth + 1] = nearer, min(a, b)
            depth += 2
    return looked


@compiled(**PART)
def offer(out, order, value, label):
    """Insert those of the points of a leaf that are near enough into ascending lists."""
    k = value.size
    worst, near = value[k - 1], 0
    for i in range(order.size):
        near += out[i] <= worst
    if near == 0:
        return
    for i in range(order.size):
        found = out[i] if out[i] == out[i] else np.inf
        if found < value[k - 1] or (found == value[k - 1] and order[i] < label[k - 1]):
            insert(found, order[i], value, label)


@compiled
def within(tree, Q, code, p, reach):
    """All points whose distance before the root is at most `reach`: counts by query, labels, distances."""
    d = Q.shape[1]
    inner, width = len(tree.ends) // 2, tree.width
    out, seen = np.empty(width), np.empty(width, dtype=np.int64)
    nodes = np.empty(256, dtype=np.int64)
    counts = np.zeros(len(Q), dtype=np.int64)
    labels, values = np.empty(1024, dtype=np.int64), np.empty(1024)
    q, used = np.empty(d), 0
    for i in range(len(Q)):
        for j in range(d):
            q[j] = Q[i, j]
        nodes[0], depth = 0, 1
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            if node > 0 and bound(tree, node, q, code, p) > reach:
                continue
            if node < inner:
                nodes[depth], nodes[depth + 1] = 2 * node + 2, 2 * node + 1
                depth += 2
                continue
            lo, hi = tree.ends[node, 0], tree.ends[node, 1]
            scan(q, tree.points[lo * d : hi * d].reshape(d, hi - lo), code, p, out, seen)
            while used + hi - lo > values.size:
                labels = np.concatenate((labels, np.empty_like(labels)))
                values = np.concatenate((values, np.empty_like(values)))
            for t in range(hi - lo):
                if out[t] <= reach:
                    labels[used], values[used] = tree.order[lo + t], out[t]
                    used += 1
                    counts[i] += 1
    return counts, labels[:used], values[:used]
