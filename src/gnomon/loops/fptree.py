"""FP-growth: a prefix tree of the baskets, and the paths above an item's nodes. Ranks and answers as in `setsearch`.

The tree is three arrays: item, parent and count of every node; the root is node 0. Paths start with the most
frequent item, so what is above a node are its more frequent items. The heaviest nodes of an item come first: then
few words hold the bits of large weights.
"""

import numpy as np

from gnomon.loops._compile import INNER, compiled
from gnomon.loops.setsearch import search_below, with_room


@compiled
def prefix_tree(starts, items):
    """Item, parent and count of the nodes; a child is found by hashing its parent and item."""
    size = 64
    while size < 2 * len(items) + 2:
        size *= 2
    table = np.zeros(size, dtype=np.int32)
    shift = np.uint64(64)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    last = len(table) - 1
    names, parents = np.empty(len(items) + 1, dtype=np.int32), np.empty(len(items) + 1, dtype=np.int64)
    counts = np.zeros(len(items) + 1, dtype=np.int64)
    names[0], parents[0] = -1, -1
    top = 1
    for basket in range(len(starts) - 1):
        at = 0
        counts[0] += 1
        for e in range(starts[basket + 1] - 1, starts[basket] - 1, -1):
            item = items[e]
            key = (np.uint64(at) << np.uint64(24)) ^ np.uint64(item)
            slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> shift)
            child = table[slot]
            while child > 0 and (parents[child] != at or names[child] != item):
                slot = (slot + 1) & last
                child = table[slot]
            if child == 0:
                child = top
                table[slot] = top
                names[top], parents[top] = item, at
                top += 1
            counts[child] += 1
            at = child
    return names[:top], parents[:top], counts[:top]


@compiled
def nodes_by_item(names, order, p):
    """Where the nodes of each item begin in an array of nodes, and the array; those of an item are in a given order."""
    starts = np.zeros(p + 1, dtype=np.int64)
    for node in range(1, len(names)):
        starts[names[node] + 1] += 1
    for item in range(p):
        starts[item + 1] += starts[item]
    cursor = starts.copy()
    nodes = np.empty(len(names) - 1, dtype=np.int64)
    for node in order:
        if node > 0:
            nodes[cursor[names[node]]] = node
            cursor[names[node]] += 1
    return starts, nodes


@compiled(**INNER)
def planes_of(nodes, weights):
    """The weights of nodes beyond one, bit by bit: planes over the paths, and how many words of each are not empty."""
    beyond, most = np.empty(len(nodes), dtype=np.int64), 0
    for i in range(len(nodes)):
        beyond[i] = weights[nodes[i]] - 1
        most = max(most, beyond[i])
    n_planes = 0
    while most >> n_planes:
        n_planes += 1
    planes = np.zeros((n_planes, (len(nodes) + 63) >> 6), dtype=np.uint64)
    ends = np.zeros(n_planes, dtype=np.int64)
    for b in range(n_planes):
        for i in range(len(nodes)):
            if beyond[i] >> b & 1:
                planes[b, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
                ends[b] = (i >> 6) + 1
    return planes, ends


@compiled(**INNER)
def paths_above(nodes, tree, least, counts):
    """The items frequent on the paths above some nodes, their counts, a row of bits each; counts is zero around."""
    names, parents, weights = tree
    touched = 0
    for node in nodes:
        up, weight = parents[node], weights[node]
        while up > 0:
            counts[names[up]] += weight
            touched += 1
            up = parents[up]
    seen = np.empty(min(touched, len(counts)), dtype=np.int64)
    found = np.empty(len(seen), dtype=np.int64)
    kept = 0
    for node in nodes:
        up = parents[node]
        while up > 0:
            item = names[up]
            if counts[item] >= least:
                seen[kept], found[kept] = item, counts[item]
                kept += 1
                counts[item] = -kept  # from here on: where its row is
            elif counts[item] > 0:
                counts[item] = 0
            up = parents[up]
    bits = np.zeros((kept, (len(nodes) + 63) >> 6), dtype=np.uint64)
    for t in range(len(nodes) if kept else 0):
        word, bit = t >> 6, np.uint64(1) << np.uint64(t & 63)
        up = parents[nodes[t]]
        while up > 0:
            if counts[names[up]] < 0:
                bits[-counts[names[up]] - 1, word] |= bit
            up = parents[up]
    for s in range(kept):
        counts[seen[s]] = 0
    return seen[:kept], found[:kept], bits


@compiled
def fp_growth(begin, step, tree, starts, nodes, sizes, least, longest, limit):
    """Every frequent set whose rarest item is begin, begin + step, ..., and how many; above `limit` it ends early."""
    p = len(sizes)
    found = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int64)
    counts = np.zeros(p, dtype=np.int64)
    n = 0
    for first in range(begin, p, step):
        found = with_room(found, n, 1)
        found[0][n], found[1][n], found[2][n] = -1, first, sizes[first]
        if longest < 2:
            n += 1
            continue
        mine = nodes[starts[first] : starts[first + 1]]
        projection = paths_above(mine, tree, least, counts)
        if len(projection[0]) == 0:
            n += 1
            continue
        planes = planes_of(mine, tree[2])
        found, n = search_below(found, n, first, sizes[first], projection, planes, least, longest, limit)
        if n > limit:
            break
    return found[0][:n], found[1][:n], found[2][:n], n
