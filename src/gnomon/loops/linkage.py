"""Agglomerative linkage. Distances come condensed (row-major upper triangle) and are overwritten.

Ties go to the lower index where the algorithm has a choice. Merges are written as (slot, slot), with their
heights, in the order they are found; `label_merges` turns them into the layout of a tree.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled

COMPLETE, AVERAGE, WEIGHTED, WARD, CENTROID, MEDIAN = range(6)


@compiled
def prim_condensed(D, n, edges, lengths):
    """Minimum spanning tree of condensed distances."""
    shortest = np.full(n, np.inf)
    origin = np.zeros(n, np.int64)
    done = np.zeros(n, np.bool_)
    current = 0
    for step in range(n - 1):
        done[current] = True
        best, at = np.inf, -1
        for k in range(n):
            if not done[k]:
                a, b = min(k, current), max(k, current)
                value = D[a * (2 * n - a - 1) // 2 + b - a - 1]
                if value < shortest[k]:
                    shortest[k] = value
                    origin[k] = current
                if shortest[k] < best or at < 0:
                    best, at = shortest[k], k
        edges[step, 0] = origin[at]
        edges[step, 1] = at
        lengths[step] = best
        current = at


@compiled(**PART)
def smallest(bits, m):
    """The first of the smallest of m numbers, none negative, given as bits: these sort like the numbers."""
    best = bits[0]
    for i in range(1, m):
        best = min(best, bits[i])
    at = 0
    while bits[at] != best:
        at += 1
    return at


@compiled(**PART)
def row_starts(m, base):
    """base[i] + j is the place of the pair (i, j), i < j, among m slots."""
    for i in range(m):
        base[i] = i * (2 * m - i - 1) // 2 - i - 1


@compiled(**PART)
def fetch(D, base, m, x, row):
    """row[k] = the distance of slots k and x."""
    for k in range(x):
        row[k] = D[base[k] + x]
    row[x] = 0.0
    for k in range(x + 1, m):
        row[k] = D[base[x] + k]


@compiled(**PART)
def store(D, base, m, x, row):
    """The way back."""
    for k in range(x):
        D[base[k] + x] = row[k]
    for k in range(x + 1, m):
        D[base[x] + k] = row[k]


@compiled(**PART)
def unite(row, other, dxy, nx, ny, size, m, method):
    """Lance-Williams: row = distances to the union of x and y (squared for ward, centroid and median).

    `row` and `other` hold the distances to x and to y, which have sizes nx and ny and lie dxy apart.
    """
    n = nx + ny
    if method == COMPLETE:
        for k in range(m):
            row[k] = max(row[k], other[k])
    elif method == WARD:
        for k in range(m):
            nk = size[k]
            row[k] = max(((nx + nk) * row[k] + (ny + nk) * other[k] - nk * dxy) / (n + nk), 0.0)
    else:
        a, b = (nx / n, ny / n) if method in (AVERAGE, CENTROID) else (0.5, 0.5)
        c = -a * b * dxy if method in (CENTROID, MEDIAN) else 0.0
        for k in range(m):
            row[k] = max(a * row[k] + b * other[k] + c, 0.0)


@compiled(**PART)
def nearest_after(later, gone, x, m, part, bits):
    """The living slot after x that is nearest to it, and its distance; ties go to the lower one, none is -1.

    `later` holds the distances to slots x + 1 to m - 1; gone[k] is infinite where slot k is no more, else 0;
    `part` is scratch and `bits` a view of it.
    """
    if x + 1 >= m:
        return -1, np.inf
    end = gone[x + 1 : m]
    for k in range(m - x - 1):
        part[k] = later[k] + end[k]
    at = smallest(bits, m - x - 1)
    return (x + 1 + at, part[at]) if part[at] < np.inf else (-1, np.inf)


@compiled(**PART)
def tell_earlier(row, gone, x, stamp, neighbor, distance, seen):
    """Slots before x hear that x is their nearest, where it is."""
    for k in range(x):
        if row[k] <= distance[k] and gone[k] == 0.0:
            distance[k], neighbor[k], seen[k] = row[k], x, stamp[x]


@compiled(**INNER)
def squeeze(D, base, m, stamp, seen, neighbor, distance, size, names, gone, place):
    """Move the living slots together, in place; returns their number."""
    living = np.flatnonzero(stamp[:m] >= 0)
    count, write = living.shape[0], 0
    place[:] = -1
    for i in range(count):
        a = living[i]
        place[a] = i
        source, out = D[base[a] + a + 1 : base[a] + m], D[write : write + count - i - 1]
        for j in range(count - i - 1):
            out[j] = source[living[i + 1 + j] - a - 1]
        write += count - i - 1
    for i in range(count):
        a = living[i]
        size[i], names[i], distance[i], stamp[i], seen[i] = size[a], names[a], distance[a], stamp[a], seen[a]
        neighbor[i] = place[neighbor[a]] if neighbor[a] >= 0 else -1
        gone[i] = 0.0
    row_starts(count, base)
    return count


@compiled
def link_condensed(D, n, size, method, merges, heights):
    """Always merge the closest pair of clusters. Heights may fall under centroid and median linkage.

    Every slot remembers the nearest one after it, as it was when it looked: a lower bound, since slots are
    told of unions that came closer. So only the slot with the smallest bound has to look again, and only if
    its neighbor has changed since. Looking goes along a row of the triangle, never across. Returns whether all
    distances stayed finite; nothing can be merged otherwise.
    """
    m, alive = n, n
    names, place, base = np.arange(n), np.empty(n, np.int64), np.empty(n, np.int64)
    neighbor, distance, gone = np.empty(n, np.int64), np.empty(n), np.zeros(n)
    stamp, seen = np.zeros(n, np.int64), np.zeros(n, np.int64)  # changes of a slot; those its friend saw
    row, other, part = np.empty(n), np.empty(n), np.empty(n)
    bits, order = part.view(np.int64), distance.view(np.int64)
    row_starts(m, base)
    for x in range(n):
        neighbor[x], distance[x] = nearest_after(D[base[x] + x + 1 : base[x] + m], gone, x, m, part, bits)
    for step in range(n - 1):
        x = smallest(order, m)
        while neighbor[x] < 0 or stamp[neighbor[x]] != seen[x]:
            neighbor[x], distance[x] = nearest_after(D[base[x] + x + 1 : base[x] + m], gone, x, m, part, bits)
            seen[x] = stamp[neighbor[x]] if neighbor[x] >= 0 else 0
            x = smallest(order, m)
            if not distance[x] < np.inf:
                return False
        y = neighbor[x]
        merges[step, 0], merges[step, 1], heights[step] = names[x], names[y], distance[x]
        fetch(D, base, m, x, row)
        fetch(D, base, m, y, other)
        unite(row, other, other[x], size[x], size[y], size, m, method)
        store(D, base, m, x, row)
        size[x] += size[y]
        stamp[x] += 1
        stamp[y], distance[y], gone[y] = -1, np.inf, np.inf
        tell_earlier(row, gone, x, stamp, neighbor, distance, seen)
        neighbor[x], distance[x] = nearest_after(row[x + 1 : m], gone, x, m, part, bits)
        seen[x] = stamp[neighbor[x]] if neighbor[x] >= 0 else 0
        alive -= 1
        if alive < 0.75 * m and m > 64:
            m = squeeze(D, base, m, stamp, seen, neighbor, distance, size, names, gone, place)
    return True


@compiled(**PART)
def find(parent, i):
    """Root of i, with path halving."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def label_merges(merges, heights, weight, Z):
    """Z[s] = (lower id, higher id, height, size) of merges in the given order; ids above n are earlier
    merges.
    """
    n = weight.size
    parent = np.arange(2 * n - 1)
    size = np.zeros(2 * n - 1)
    for i in range(n):
        size[i] = weight[i]
    for s in range(n - 1):
        a, b = find(parent, merges[s, 0]), find(parent, merges[s, 1])
        new = n + s
        parent[a], parent[b] = new, new
        size[new] = size[a] + size[b]
        Z[s, 0], Z[s, 1] = min(a, b), max(a, b)
        Z[s, 2], Z[s, 3] = heights[s], size[new]
