"""Walking rows down trees. All trees of a model lie in one set of arrays; `roots` says where each begins.

A node with `feature` below 0 is a leaf. A numeric node sends x <= threshold left; a categorical one looks its
child up in `branches` (the last entry is for unseen categories; a node that names itself ends the walk).
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled

BLOCK = 64


@compiled
def branch_of(x, node, branch_start, branch_count, branches):
    """Child of a categorical node."""
    start, count = branch_start[node], branch_count[node]
    if x >= 0.0 and x < count:
        return branches[start + np.int64(x)]
    return branches[start + count]


@compiled
def step(X, i, node, feature, threshold, left, right, missing_left, branch_start, branch_count, branches):
    """One step down; a walk that ends at an inner node returns -1 - node."""
    x = X[i, feature[node]]
    if branch_start.size > 0 and branch_start[node] >= 0:
        if x == x or missing_left[node] < 0:
            child = branch_of(x, node, branch_start, branch_count, branches)
            return -1 - node if child == node else child
        return left[node] if missing_left[node] > 0 else right[node]
    if x <= threshold[node]:
        return left[node]
    if x > threshold[node]:
        return right[node]
    return left[node] if missing_left[node] > 0 else right[node]


@compiled
def leaves(X, first, last, root, feature, threshold, left, right, missing_left, branch_start, branch_count,
           branches, out):  # fmt: skip
    """out[i - first] = the node in which row i ends, for one tree; rows walk in blocks to hide latency."""
    at = np.empty(BLOCK, np.int64)
    who = np.empty(BLOCK, np.int64)
    for begin in range(first, last, BLOCK):
        active = min(BLOCK, last - begin)
        for k in range(active):
            at[k], who[k] = root, begin + k
        while active > 0:
            still = 0
            for k in range(active):
                node, i = at[k], who[k]
                if feature[node] < 0:
                    out[i - first] = node
                    continue
                child = step(X, i, node, feature, threshold, left, right, missing_left,
                             branch_start, branch_count, branches)  # fmt: skip
                if child < 0:
                    out[i - first] = node
                    continue
                at[still], who[still] = child, i
                still += 1
            active = still


@compiled
def add_values(X, first, last, roots, feature, threshold, left, right, missing_left, branch_start,
               branch_count, branches, values, columns, out):  # fmt: skip
    """out[i, columns[t]:] += values[leaf of tree t] over all trees, in the order of the trees."""
    width = values.shape[1]
    leaf = np.empty(last - first, np.int64)
    for t in range(roots.size):
        leaves(X, first, last, roots[t], feature, threshold, left, right, missing_left, branch_start,
               branch_count, branches, leaf)  # fmt: skip
        c = columns[t]
        for k in range(last - first):
            for o in range(width):
                out[first + k, c + o] += values[leaf[k], o]
