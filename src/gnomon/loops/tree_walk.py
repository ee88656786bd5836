"""Rows that walk down one tree of numeric nodes, each alone: for few rows, where packing the tree costs more."""

from gnomon.loops._compile import compiled


@compiled
def end_nodes(X, feature, threshold, left, right, missing_left, out):
    """out[i] = the node in which row i ends; NaN goes where the node says. X is read-only."""
    for i in range(len(out)):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if x <= threshold[node] or (x != x and missing_left[node] > 0):
                node = left[node]
            else:
                node = right[node]
        out[i] = node
