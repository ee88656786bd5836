"""Labels on grids: sweeps and maximum flow. Arrays in, arrays out; unary[r, c, k] is the cost of label k."""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def local_costs(labels, unary, coupling, r, c, costs):
    """costs[k] = unary cost plus the coupling to neighbors of other labels."""
    rows, columns = labels.shape
    for k in range(costs.shape[0]):
        costs[k] = unary[r, c, k]
    for side in range(4):
        i, j = r + (side == 1) - (side == 0), c + (side == 3) - (side == 2)
        if 0 <= i < rows and 0 <= j < columns:
            for k in range(costs.shape[0]):
                if k != labels[i, j]:
                    costs[k] += coupling


@compiled
def icm_sweep(labels, unary, coupling):
    """Give every site the label of least local cost, keeping the current one in ties; returns changes."""
    changes, costs = 0, np.empty(unary.shape[2])
    for r in range(labels.shape[0]):
        for c in range(labels.shape[1]):
            local_costs(labels, unary, coupling, r, c, costs)
            best = labels[r, c]
            for k in range(costs.shape[0]):
                if costs[k] < costs[best]:
                    best = k
            if best != labels[r, c]:
                labels[r, c] = best
                changes += 1
    return changes


@compiled
def gibbs_sweep(labels, unary, coupling, beta, uniforms):
    """Redraw every site at inverse temperature beta, first the black squares of a checkerboard, then the white."""
    costs = np.empty(unary.shape[2])
    for color in range(2):
        for r in range(labels.shape[0]):
            for c in range((r + color) % 2, labels.shape[1], 2):
                local_costs(labels, unary, coupling, r, c, costs)
                least, total = costs.min(), 0.0
                for k in range(costs.shape[0]):
                    costs[k] = np.exp(-beta * (costs[k] - least))
                    total += costs[k]
                goal, mass, k = uniforms[r, c] * total, costs[0], 0
                while mass <= goal and k < costs.shape[0] - 1:
                    k += 1
                    mass += costs[k]
                labels[r, c] = k


@compiled
def mean_field_sweep(q, unary, coupling):
    """q[r, c] ∝ exp(−unary − coupling · expected disagreement), site by site; returns the largest change."""
    rows, columns, states = q.shape
    change, new = 0.0, np.empty(states)
    for r in range(rows):
        for c in range(columns):
            for k in range(states):
                new[k] = -unary[r, c, k]
            for side in range(4):
                i, j = r + (side == 1) - (side == 0), c + (side == 3) - (side == 2)
                if 0 <= i < rows and 0 <= j < columns:
                    for k in range(states):
                        new[k] -= coupling * (1.0 - q[i, j, k])
            top, total = new.max(), 0.0
            for k in range(states):
                new[k] = np.exp(new[k] - top)
                total += new[k]
            for k in range(states):
                value = new[k] / total
                change = max(change, abs(value - q[r, c, k]))
                q[r, c, k] = value
    return change


@compiled
def max_flow(first, target, back, room, source, sink, level, queue, place, path):
    """Maximum flow by Dinic's method on edges in compressed rows (back[e] is the reverse of e); room is used up.

    Returns the flow. Nodes that the source still reaches afterwards are on its side of a minimum cut.
    """
    total, tiny = 0.0, 1e-12 * max(1.0, room.max())
    n = first.shape[0] - 1
    while True:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for e in range(first[u], first[u + 1]):
                v = target[e]
                if room[e] > tiny and level[v] < 0:
                    level[v] = level[u] + 1
                    queue[tail] = v
                    tail += 1
        if level[sink] < 0:
            return total
        for u in range(n):
            place[u] = first[u]
        depth, u = 0, source
        while True:
            if u == sink:
                pushed, cut = np.inf, 0
                for d in range(depth):
                    if room[path[d]] < pushed:
                        pushed, cut = room[path[d]], d
                for d in range(depth):
                    room[path[d]] -= pushed
                    room[back[path[d]]] += pushed
                total += pushed
                depth = cut
                u = target[back[path[cut]]]
            found = False
            while place[u] < first[u + 1]:
                e = place[u]
                if room[e] > tiny and level[target[e]] == level[u] + 1:
                    found = True
                    break
                place[u] += 1
            if found:
                path[depth] = place[u]
                depth += 1
                u = target[place[u]]
            elif depth == 0:
                break
            else:
                depth -= 1
                u = target[back[path[depth]]]
                place[u] += 1
