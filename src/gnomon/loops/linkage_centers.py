"""Linkage of points under squared Euclidean distance, without a matrix of distances. Arrays in, arrays out.

``T`` has one column for each cluster, its center, and is overwritten. A cluster that is no more has an
infinite center, so that nothing is near it. Merges are written as in the condensed twin.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.linkage import MEDIAN, WARD, smallest

STRIP = 512  # columns worked on at once


@compiled(fastmath=True)
def strip_distances(T, x, first, last, out):
    """out[k − first] = Σ_j (T[j, k] − x[j])² for first ≤ k < last; T has one column for each point."""
    m = last - first
    total = out[:m]
    total[:] = 0.0
    for j in range(T.shape[0]):
        c = x[j]
        row = T[j, first:last]
        for k in range(m):
            gap = row[k] - c
            total[k] += gap * gap


@compiled
def prim(T, names, edges, lengths):
    """Minimum spanning tree under squared Euclidean distance; the columns of T are the points and are
    reordered.
    """
    d, n = T.shape
    shortest = np.full(n, np.inf)
    origin = np.zeros(n, np.int64)
    part = np.empty(STRIP)
    here = np.empty(d)
    current = 0
    for step in range(n - 1):
        left = n - 1 - step
        for j in range(d):
            here[j] = T[j, current]
            T[j, current] = T[j, left]
        name = names[current]
        names[current] = names[left]
        shortest[current] = shortest[left]
        origin[current] = origin[left]
        best, at = np.inf, 0
        for first in range(0, left, STRIP):
            last = min(first + STRIP, left)
            strip_distances(T, here, first, last, part)
            for k in range(first, last):
                if part[k - first] < shortest[k]:
                    shortest[k] = part[k - first]
                    origin[k] = name
                if shortest[k] < best:
                    best, at = shortest[k], k
        edges[step, 0] = origin[at]
        edges[step, 1] = names[at]
        lengths[step] = best
        current = at


@compiled(fastmath=True)
def fill_distances(T, size, x, first, last, method, here, out):
    """out[k - first] = distance of cluster x to cluster k; `here` is scratch for the center of x."""
    for j in range(T.shape[0]):
        here[j] = T[j, x]
    strip_distances(T, here, first, last, out)
    if method == WARD:
        for k in range(first, last):
            out[k - first] *= 2.0 * size[k] * (size[x] / (size[x] + size[k]))


@compiled(**PART)
def nearest_after(T, size, x, m, method, here, part, bits):
    """The cluster after x that is nearest to it, and its distance; ties go to the lower one, none is -1.

    `here` and `part` are scratch, `bits` a view of `part`.
    """
    best, at = np.inf, -1
    for first in range(x + 1, m, STRIP):
        last = min(first + STRIP, m)
        fill_distances(T, size, x, first, last, method, here, part)
        k = smallest(bits, last - first)
        if part[k] < best:
            best, at = part[k], first + k
    return at, best


@compiled
def first_neighbors(T, size, begin, end, method, neighbor, distance):
    """Nearest later cluster of every cluster in [begin, end)."""
    here, part = np.empty(T.shape[0]), np.empty(STRIP)
    bits = part.view(np.int64)
    for x in range(begin, end):
        neighbor[x], distance[x] = nearest_after(T, size, x, T.shape[1], method, here, part, bits)


@compiled(**PART)
def tell_earlier(T, size, x, method, stamp, here, part, neighbor, distance, seen):
    """Clusters before x hear that x is now their nearest, where it is."""
    for first in range(0, x, STRIP):
        last = min(first + STRIP, x)
        fill_distances(T, size, x, first, last, method, here, part)
        for k in range(first, last):
            if part[k - first] < distance[k]:
                distance[k] = part[k - first]
                neighbor[k] = x
                seen[k] = stamp[x]


@compiled(**PART)
def join(T, size, x, y, method):
    """Move the center of x to that of the union of x and y; y is no more."""
    share = 0.5 if method == MEDIAN else size[y] / (size[x] + size[y])
    for j in range(T.shape[0]):
        T[j, x] += share * (T[j, y] - T[j, x])
    T[0, y] = np.inf
    size[x] += size[y]
    size[y] = 1.0


@compiled(**PART)
def move_together(T, size, names, neighbor, distance, stamp, seen, m, place):
    """Close the gaps that dead clusters left; returns how many clusters live."""
    count = 0
    for i in range(m):
        place[i] = count if stamp[i] >= 0 else -1
        count += stamp[i] >= 0
    for j in range(T.shape[0]):
        for i in range(m):
            if place[i] >= 0:
                T[j, place[i]] = T[j, i]
    for i in range(m):
        at = place[i]
        if at >= 0:
            size[at], names[at], distance[at] = size[i], names[i], distance[i]
            stamp[at], seen[at] = stamp[i], seen[i]
            neighbor[at] = place[neighbor[i]] if neighbor[i] >= 0 else -1
    return count


@compiled
def link_centers(T, size, method, neighbor, distance, merges, heights):
    """Always merge the closest pair of clusters (ward, centroid, median).

    Every cluster remembers the nearest one after it, as it was when it looked. That distance is a lower bound
    for ever under Ward's linkage, and while earlier clusters are told of unions that came closer. So only the
    cluster with the smallest bound has to look again, and only if its neighbor has changed since. Returns
    whether all distances were finite; nothing can be merged otherwise.
    """
    d, n = T.shape
    m, alive = n, n
    names, place = np.arange(n), np.empty(n, np.int64)
    stamp, seen = np.zeros(n, np.int64), np.zeros(n, np.int64)  # changes of a cluster; those its friend saw
    here, part = np.empty(d), np.empty(STRIP)
    bits, order = part.view(np.int64), distance.view(np.int64)
    for step in range(n - 1):
        x = smallest(order, m)
        while neighbor[x] < 0 or stamp[neighbor[x]] != seen[x]:
            neighbor[x], distance[x] = nearest_after(T, size, x, m, method, here, part, bits)
            seen[x] = stamp[neighbor[x]] if neighbor[x] >= 0 else 0
            x = smallest(order, m)
            if not distance[x] < np.inf:
                return False
        y = neighbor[x]
        merges[step, 0], merges[step, 1], heights[step] = names[x], names[y], distance[x]
        join(T, size, x, y, method)
        stamp[x] += 1
        stamp[y], distance[y] = -1, np.inf
        if method != WARD:
            tell_earlier(T, size, x, method, stamp, here, part, neighbor, distance, seen)
        neighbor[x], distance[x] = nearest_after(T, size, x, m, method, here, part, bits)
        seen[x] = stamp[neighbor[x]] if neighbor[x] >= 0 else 0
        alive -= 1
        if alive < 0.7 * m and m > 64:
            m = move_together(T, size, names, neighbor, distance, stamp, seen, m, place)
    return True
