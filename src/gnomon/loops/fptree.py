"""FP-growth: prefix trees of baskets and of the baskets that hold an item. Ranks as in `itemsets`.

A tree is a run of nodes in shared arrays: item, count, parent, first child, next sibling, next node of the same
item. Its root is the first node of the run. Trees of deeper conditions follow one another, like a stack.
"""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.itemsets import doubled, doubled_rows


@compiled
def insert(nodes, top, root, path, length, weight, heads):
    """Put path[0:length] (largest rank first) below the root with its weight; return the new end of the nodes."""
    at = root
    for i in range(length):
        item = path[i]
        child, last = nodes[at, 3], -1
        while child >= 0 and nodes[child, 0] != item:
            last, child = child, nodes[child, 4]
        if child < 0:
            child = top
            top += 1
            nodes[child, 0], nodes[child, 1], nodes[child, 2] = item, 0, at
            nodes[child, 3], nodes[child, 4] = -1, -1
            nodes[child, 5] = heads[item]
            heads[item] = child
            if last < 0:
                nodes[at, 3] = child
            else:
                nodes[last, 4] = child
        nodes[child, 1] += weight
        at = child
    return top


@compiled
def fp_growth(starts, items, p, least, longest, limit):
    """Every frequent set, as `itemsets.frequent_sets` tells them."""
    parents = np.empty(1024, dtype=np.int64)
    added = np.empty(1024, dtype=np.int32)
    sizes = np.empty(1024, dtype=np.int64)
    nodes = np.empty((max(1024, len(items) + 1), 6), dtype=np.int64)
    path = np.empty(p + 1, dtype=np.int64)
    heads = np.full((4, p), -1, dtype=np.int64)  # per depth: the first node of every item
    n = 0
    nodes[0] = -1
    top = 1
    for basket in range(len(starts) - 1):
        length = starts[basket + 1] - starts[basket]
        for i in range(length):
            path[i] = items[starts[basket + 1] - 1 - i]
        top = insert(nodes, top, 0, path, length, 1, heads[0])
    total = np.zeros(p, dtype=np.int64)
    roots, tops = np.zeros(p + 2, np.int64), np.zeros(p + 2, np.int64)
    at, above = np.zeros(p + 2, np.int64), np.full(p + 2, -1, np.int64)
    untouched = np.ones(p + 2, np.uint8)
    tops[0] = top
    depth = 0
    while depth >= 0:
        root = roots[depth]
        # a tree that is one path: every choice of its items
        if untouched[depth]:
            untouched[depth] = 0
            node, one_path = root, True
            while nodes[node, 3] >= 0:
                node = nodes[node, 3]
                if nodes[node, 4] >= 0:
                    one_path = False
                    break
            if one_path:
                base = n
                node = nodes[root, 3]
                while node >= 0:
                    made = n
                    for s in range(base - 1, made):
                        origin = above[depth] if s < base else s
                        length = depth + 1
                        up = s
                        while up >= base:
                            length += 1
                            up = parents[up]
                        if length > longest:
                            continue
                        if n == len(parents):
                            parents, added, sizes = doubled(parents), doubled(added), doubled(sizes)
                        parents[n], added[n], sizes[n] = origin, nodes[node, 0], nodes[node, 1]
                        n += 1
                    if n > limit:
                        return parents[:n], added[:n], sizes[:n]
                    node = nodes[node, 3]
                node = nodes[root, 3]
                while node >= 0:
                    heads[depth, nodes[node, 0]] = -1
                    node = nodes[node, 3]
                depth -= 1
                continue
        item = at[depth]
        if item >= p:
            depth -= 1
            continue
        at[depth] += 1
        link = heads[depth, item]
        heads[depth, item] = -1
        if link < 0:
            continue
        count, node = 0, link
        while node >= 0:
            count += nodes[node, 1]
            node = nodes[node, 5]
        if count < least:
            continue
        if n == len(parents):
            parents, added, sizes = doubled(parents), doubled(added), doubled(sizes)
        parents[n], added[n], sizes[n] = above[depth], item, count
        n += 1
        if n > limit:
            return parents[:n], added[:n], sizes[:n]
        if depth + 2 > longest:
            continue
        node, needed = link, 0
        while node >= 0:
            up = nodes[node, 2]
            while up > root:
                total[nodes[up, 0]] += nodes[node, 1]
                needed += 1
                up = nodes[up, 2]
            node = nodes[node, 5]
        while tops[depth] + needed + 1 > len(nodes):
            nodes = doubled_rows(nodes)
        fresh = tops[depth]
        nodes[fresh] = -1
        top = fresh + 1
        if depth + 1 == len(heads):
            heads = doubled_rows(heads)
            heads[depth + 1 :] = -1
        node = link
        while node >= 0:
            length, up = 0, nodes[node, 2]
            while up > root:
                if total[nodes[up, 0]] >= least:
                    path[length] = nodes[up, 0]
                    length += 1
                up = nodes[up, 2]
            for i in range(length // 2):  # the walk up meets small ranks first
                path[i], path[length - 1 - i] = path[length - 1 - i], path[i]
            top = insert(nodes, top, fresh, path, length, nodes[node, 1], heads[depth + 1])
            node = nodes[node, 5]
        node = link
        while node >= 0:
            up = nodes[node, 2]
            while up > root:
                total[nodes[up, 0]] = 0
                up = nodes[up, 2]
            node = nodes[node, 5]
        if top > fresh + 1:
            depth += 1
            roots[depth], tops[depth], at[depth], above[depth] = fresh, top, item + 1, n - 1
            untouched[depth] = 1
    return parents[:n], added[:n], sizes[:n]
