"""Minimum cuts of dense graphs. Arrays in, arrays out."""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def stoer_wagner(W, side):
    """Global minimum cut; W is overwritten, side[v] = 1 on one (non-empty) side. Returns its weight."""
    n = W.shape[0]
    owner = np.eye(n) > 0.5  # owner[v, u]: u has been merged into v
    alive = np.ones(n, np.bool_)
    best = np.inf
    for phase in range(n - 1):
        weight = np.zeros(n)
        added = np.zeros(n, np.bool_)
        before, last = -1, -1
        for _ in range(n - phase):
            pick = -1
            for v in range(n):
                if alive[v] and not added[v] and (pick < 0 or weight[v] > weight[pick]):
                    pick = v
            added[pick] = True
            before, last = last, pick
            for v in range(n):
                if alive[v] and not added[v]:
                    weight[v] += W[pick, v]
        if weight[last] < best:
            best = weight[last]
            for u in range(n):
                side[u] = 1 if owner[last, u] else 0
        for v in range(n):
            W[before, v] += W[last, v]
            W[v, before] = W[before, v]
            owner[before, v] = owner[before, v] or owner[last, v]
        W[before, before] = 0.0
        alive[last] = False
    return best


@compiled
def push_relabel(C, s, t, flow):
    """Maximum flow from s to t by highest-label push–relabel with the gap heuristic; fills the
    antisymmetric flow.
    """
    n = C.shape[0]
    excess = np.zeros(n)
    height = np.zeros(n, np.int64)
    count = np.zeros(2 * n + 1, np.int64)
    tiny = 1e-12 * max(1.0, C.max())
    height[s] = n
    count[0] = n - 1
    for v in range(n):
        if C[s, v] > 0.0:
            flow[s, v], flow[v, s] = C[s, v], -C[s, v]
            excess[v] += C[s, v]
            excess[s] -= C[s, v]
    while True:
        u = -1
        for v in range(n):
            if (
                v != s
                and v != t
                and excess[v] > tiny
                and height[v] < 2 * n
                and (u < 0 or height[v] > height[u])
            ):
                u = v
        if u < 0:
            break
        lowest = 2 * n
        for v in range(n):
            room = C[u, v] - flow[u, v]
            if room > tiny:
                if height[u] == height[v] + 1:
                    send = min(excess[u], room)
                    flow[u, v] += send
                    flow[v, u] -= send
                    excess[u] -= send
                    excess[v] += send
                    if excess[u] <= tiny:
                        break
                    room = C[u, v] - flow[u, v]
                if room > tiny:
                    lowest = min(lowest, height[v])
        if excess[u] > tiny:
            old = height[u]
            height[u] = min(lowest + 1, 2 * n)
            if old < n:
                count[old] -= 1
                if height[u] < n:
                    count[height[u]] += 1
                if count[old] == 0:  # nobody left at this height: all above are cut off from t
                    for v in range(n):
                        if v != s and old < height[v] < n:
                            count[height[v]] -= 1
                            height[v] = n + 1
    return excess[t]


@compiled
def balanced_search(W, room, best_labels, best):
    """Branch and bound over partitions whose part j has room[j] nodes; returns the smallest cut below
    `best`.
    """
    n, k = W.shape[0], room.size
    labels = np.full(n, -1, np.int64)
    cost = np.zeros(n + 1)
    used = np.zeros(k, np.int64)
    depth = 0
    while depth >= 0:
        if depth == n:
            if cost[n] < best:
                best = cost[n]
                best_labels[:] = labels
            depth -= 1
            continue
        c = labels[depth]
        if c >= 0:
            used[c] -= 1
        c += 1
        while c < k:
            fresh = used[c] == 0
            twin = False  # an unused part of the same size was tried before: skip its mirror image
            if fresh:
                for e in range(c):
                    twin |= used[e] == 0 and room[e] == room[c]
            if used[c] < room[c] and not twin:
                extra = 0.0
                for v in range(depth):
                    if labels[v] != c:
                        extra += W[depth, v]
                if cost[depth] + extra < best:
                    break
            c += 1
        if c == k:
            labels[depth] = -1
            depth -= 1
            continue
        labels[depth] = c
        used[c] += 1
        cost[depth + 1] = cost[depth]
        for v in range(depth):
            if labels[v] != c:
                cost[depth + 1] += W[depth, v]
        depth += 1
        if depth < n:
            labels[depth] = -1
    return best


@compiled
def swap_pass(W, labels, k):
    """Kernighan–Lin: swap the best pair until no swap lowers the cut; returns the total gain."""
    n = W.shape[0]
    pull = np.zeros((n, k))
    for i in range(n):
        for j in range(n):
            if i != j:
                pull[i, labels[j]] += W[i, j]
    gained = 0.0
    while True:
        best, a, b = 1e-12, -1, -1
        for i in range(n):
            for j in range(i + 1, n):
                p, q = labels[i], labels[j]
                if p != q:
                    gain = pull[i, q] - pull[i, p] + pull[j, p] - pull[j, q] - 2.0 * W[i, j]
                    if gain > best:
                        best, a, b = gain, i, j
        if a < 0:
            return gained
        p, q = labels[a], labels[b]
        for v in range(n):
            if v != a:
                pull[v, p] -= W[v, a]
                pull[v, q] += W[v, a]
            if v != b:
                pull[v, q] -= W[v, b]
                pull[v, p] += W[v, b]
        labels[a], labels[b] = q, p
        gained += best
