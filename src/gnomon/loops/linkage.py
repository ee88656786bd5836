"""Agglomerative linkage. Distances come condensed (row-major upper triangle) and are overwritten.

Ties go to the lower index where the algorithm has a choice. Merges are written as (slot, slot, height,
size) in the order they are found; `label_merges` turns them into the layout of a tree.
"""

import numpy as np

from gnomon.loops._compile import compiled

COMPLETE, AVERAGE, WEIGHTED, WARD, CENTROID, MEDIAN = range(6)
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


@compiled
def updated(method, dx, dy, dxy, nx, ny, nk):
    """Lance–Williams: the distance of k to the union of x and y (squared for ward, centroid and median)."""
    if method == COMPLETE:
        return max(dx, dy)
    if method == AVERAGE:
        return (nx * dx + ny * dy) / (nx + ny)
    if method == WEIGHTED:
        return 0.5 * (dx + dy)
    if method == WARD:
        return ((nx + nk) * dx + (ny + nk) * dy - nk * dxy) / (nx + ny + nk)
    if method == CENTROID:
        n = nx + ny
        return nx / n * dx + ny / n * dy - nx * ny / (n * n) * dxy
    return 0.5 * dx + 0.5 * dy - 0.25 * dxy


@compiled
def nearest_of(D, m, x, size):
    """The living slot nearest to x, and its distance; ties go to the lower slot."""
    best, at = np.inf, -1
    place = x - 1
    for k in range(x):
        if size[k] > 0.0 and (D[place] < best or at < 0):
            best, at = D[place], k
        place += m - k - 2
    place = x * (2 * m - x - 1) // 2
    for k in range(x + 1, m):
        if size[k] > 0.0 and (D[place] < best or at < 0):
            best, at = D[place], k
        place += 1
    return at, best


@compiled
def first_neighbors(D, m, neighbor, distance):
    """Nearest neighbor of every slot in one pass through the matrix."""
    for i in range(m):
        distance[i] = np.inf
        neighbor[i] = -1
    place = 0
    for i in range(m - 1):
        best, at = distance[i], neighbor[i]
        for j in range(i + 1, m):
            value = D[place]
            place += 1
            if value < distance[j]:
                distance[j] = value
                neighbor[j] = i
            if value < best:
                best, at = value, j
        distance[i], neighbor[i] = best, at


@compiled
def merge_into(D, m, x, y, size, method):
    """Replace the distances of slot y by those of the union of x and y (x < y); x dies."""
    nx, ny = size[x], size[y]
    dxy = D[x * (2 * m - x - 1) // 2 + y - x - 1]
    px, py = x - 1, y - 1
    for k in range(x):
        if size[k] > 0.0:
            D[py] = updated(method, D[px], D[py], dxy, nx, ny, size[k])
        px += m - k - 2
        py += m - k - 2
    px = x * (2 * m - x - 1) // 2
    py += m - x - 2
    for k in range(x + 1, y):
        if size[k] > 0.0:
            D[py] = updated(method, D[px], D[py], dxy, nx, ny, size[k])
        px += 1
        py += m - k - 2
    px += 1
    py = y * (2 * m - y - 1) // 2
    for k in range(y + 1, m):
        if size[k] > 0.0:
            D[py] = updated(method, D[px], D[py], dxy, nx, ny, size[k])
        px += 1
        py += 1
    size[x] = 0.0
    size[y] = nx + ny


@compiled
def squeeze(D, m, size, names, place):
    """Move the living slots together, in place; returns how many there are."""
    count = 0
    for i in range(m):
        place[i] = count
        if size[i] > 0.0:
            count += 1
    write, read = 0, 0
    for i in range(m):
        if size[i] == 0.0:
            read += m - i - 1
            continue
        for j in range(i + 1, m):
            if size[j] > 0.0:
                D[write] = D[read]
                write += 1
            read += 1
    for i in range(m):
        if size[i] > 0.0:
            size[place[i]] = size[i]
            names[place[i]] = names[i]
    return count


@compiled
def chain_condensed(D, n, size, method, merges, heights):
    """Nearest-neighbor chain: for linkages under which a merge brings nothing closer.

    Such linkages keep a nearest neighbor valid until it is merged itself, so neighbors are remembered.
    """
    m = n
    names = np.arange(n)
    chain = np.empty(n, np.int64)
    neighbor = np.empty(n, np.int64)
    distance = np.empty(n)
    fresh = np.ones(n, np.bool_)  # the remembered neighbor is still right
    place = np.empty(n, np.int64)
    first_neighbors(D, m, neighbor, distance)
    length, alive, start = 0, n, 0
    for step in range(n - 1):
        if length == 0:
            while size[start] == 0.0:
                start += 1
            chain[0] = start
            length = 1
        while True:
            x = chain[length - 1]
            if not fresh[x] or size[neighbor[x]] == 0.0 or neighbor[x] == x:
                neighbor[x], distance[x] = nearest_of(D, m, x, size)
                fresh[x] = True
            if length > 1:
                before = chain[length - 2]
                if neighbor[x] == before:
                    break
                a, b = min(x, before), max(x, before)
                if D[a * (2 * m - a - 1) // 2 + b - a - 1] <= distance[x]:
                    break
            chain[length] = neighbor[x]
            length += 1
        x, y = min(chain[length - 1], chain[length - 2]), max(chain[length - 1], chain[length - 2])
        length -= 2
        merges[step, 0], merges[step, 1] = names[x], names[y]
        heights[step] = D[x * (2 * m - x - 1) // 2 + y - x - 1]
        merge_into(D, m, x, y, size, method)
        alive -= 1
        fresh[y] = False
        for k in range(m):  # whoever was nearest to x or y must look again
            if size[k] > 0.0 and (neighbor[k] == y or neighbor[k] == x):
                fresh[k] = False
        if alive < 0.6 * m and m > 64:
            old = m
            m = squeeze(D, old, size, names, place)
            for i in range(length):
                chain[i] = place[chain[i]]
            shift_neighbors(old, place, neighbor, distance, fresh)
            for i in range(m, old):
                size[i] = 0.0
            start = 0


@compiled
def shift_neighbors(old, place, neighbor, distance, fresh):
    """Renumber the remembered neighbors after a squeeze."""
    for i in range(old):
        if i + 1 == old or place[i + 1] > place[i]:
            at = place[i]
            if at <= i:
                fresh[at] = fresh[i]
                distance[at] = distance[i]
                neighbor[at] = place[neighbor[i]]


@compiled
def chain_ward(T, size, neighbor, distance, merges, heights):
    """Nearest-neighbor chain for Ward's linkage from centroids: the columns of T, overwritten. Squared
    heights.
    """
    d, n = T.shape
    m = n
    names = np.arange(n)
    chain = np.empty(n, np.int64)
    fresh = np.ones(n, np.bool_)
    place = np.empty(n, np.int64)
    part = np.empty(STRIP)
    here = np.empty(d)
    length, alive, start = 0, n, 0
    for step in range(n - 1):
        if length == 0:
            while size[start] == 0.0:
                start += 1
            chain[0] = start
            length = 1
        while True:
            x = chain[length - 1]
            if not fresh[x] or size[neighbor[x]] == 0.0 or neighbor[x] == x:
                for j in range(d):
                    here[j] = T[j, x]
                best, at = np.inf, -1
                for first in range(0, m, STRIP):
                    last = min(first + STRIP, m)
                    strip_distances(T, here, first, last, part)
                    for k in range(first, last):
                        part[k - first] *= 2.0 * size[x] * size[k] / (size[x] + size[k])
                    for k in range(first, last):
                        if part[k - first] < best and size[k] > 0.0 and k != x:
                            best, at = part[k - first], k
                neighbor[x], distance[x] = at, best
                fresh[x] = True
            if length > 1:
                before = chain[length - 2]
                if neighbor[x] == before:
                    break
                gap = 0.0
                for j in range(d):
                    gap += (T[j, x] - T[j, before]) ** 2
                if gap * 2.0 * size[x] * size[before] / (size[x] + size[before]) <= distance[x] * (
                    1.0 + 1e-14
                ):
                    break
            chain[length] = neighbor[x]
            length += 1
        x, y = min(chain[length - 1], chain[length - 2]), max(chain[length - 1], chain[length - 2])
        length -= 2
        merges[step, 0], merges[step, 1] = names[x], names[y]
        gap, total = 0.0, size[x] + size[y]
        for j in range(d):
            gap += (T[j, x] - T[j, y]) ** 2
            T[j, y] += size[x] / total * (T[j, x] - T[j, y])
        heights[step] = gap * 2.0 * size[x] * size[y] / total
        size[x], size[y] = 0.0, total
        alive -= 1
        fresh[y] = False
        for k in range(m):
            if neighbor[k] == y or neighbor[k] == x:
                fresh[k] = False
        if alive < 0.6 * m and m > 64:
            old, m = m, 0
            for i in range(old):
                place[i] = m
                if size[i] > 0.0:
                    m += 1
            for i in range(old):
                if size[i] > 0.0:
                    at = place[i]
                    for j in range(d):
                        T[j, at] = T[j, i]
                    names[at] = names[i]
            shift_neighbors(old, place, neighbor, distance, fresh)
            for i in range(old):
                if size[i] > 0.0:
                    size[place[i]] = size[i]
            for i in range(m, old):
                size[i] = 0.0
            for i in range(length):
                chain[i] = place[chain[i]]
            start = 0


@compiled
def after(D, m, x, size):
    """The living slot after x that is nearest to it."""
    best, at = np.inf, -1
    place = x * (2 * m - x - 1) // 2
    for k in range(x + 1, m):
        if size[k] > 0.0 and D[place] < best:
            best, at = D[place], k
        place += 1
    return at, best


@compiled
def generic_condensed(D, n, size, method, merges, heights):
    """Always merge the closest pair, whatever the linkage does to the others. Heights may fall."""
    neighbor = np.empty(n, np.int64)
    distance = np.full(n, np.inf)
    for i in range(n - 1):
        neighbor[i], distance[i] = after(D, n, i, size)
    for step in range(n - 1):
        while True:
            x = 0
            for i in range(1, n):
                if distance[i] < distance[x]:
                    x = i
            y = neighbor[x]
            if y >= 0 and size[y] > 0.0 and D[x * (2 * n - x - 1) // 2 + y - x - 1] == distance[x]:
                break
            neighbor[x], distance[x] = after(D, n, x, size)
        merges[step, 0], merges[step, 1] = x, y
        heights[step] = distance[x]
        merge_into(D, n, x, y, size, method)
        distance[x] = np.inf
        for k in range(y):  # the union may have come closer
            if size[k] > 0.0:
                value = D[k * (2 * n - k - 1) // 2 + y - k - 1]
                if value < distance[k]:
                    distance[k] = value
                    neighbor[k] = y
        neighbor[y], distance[y] = after(D, n, y, size)


@compiled
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
    size[:n] = weight
    for s in range(n - 1):
        a, b = find(parent, merges[s, 0]), find(parent, merges[s, 1])
        new = n + s
        parent[a], parent[b] = new, new
        size[new] = size[a] + size[b]
        Z[s, 0], Z[s, 1] = min(a, b), max(a, b)
        Z[s, 2], Z[s, 3] = heights[s], size[new]
