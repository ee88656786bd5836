"""Swaps of k-medoids on a distance matrix D[i, m]: from point i to candidate m. Weights are per point.

The rows of T are the columns of D, so that all distances to one candidate are contiguous; for symmetric
distances T is D itself.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

STRIP = 32


@compiled
def two_nearest(T, medoids, near, second, first, after):
    """near[i], second[i]: places in `medoids` of the two closest; first[i], after[i] their distances."""
    n = first.size
    for i in range(n):
        first[i], after[i] = np.inf, np.inf
        near[i], second[i] = -1, -1
    for place in range(medoids.size):
        row = T[medoids[place]]
        for i in range(n):
            d = row[i]
            if d < first[i]:
                after[i], second[i] = first[i], near[i]
                first[i], near[i] = d, place
            elif d < after[i]:
                after[i], second[i] = d, place


@compiled
def removal_losses(weight, near, first, after, loss):
    """loss[m] = what removing medoid m alone would cost."""
    loss[:] = 0.0
    for i in range(first.size):
        loss[near[i]] += weight[i] * (after[i] - first[i])


@compiled(**PART)
def swap_gain(row, weight, near, first, after, loss, delta):
    """Return the best medoid to replace by a candidate whose distances are `row`, and the change of the
    cost.
    """
    n = first.size
    shared = 0.0
    for c in range(len(loss)):
        delta[c] = loss[c]
    for start in range(0, n, STRIP):
        stop = min(start + STRIP, n)
        closer = 0
        part, limit = row[start:stop], after[start:stop]
        for i in range(part.size):
            closer += part[i] < limit[i]
        if closer == 0:
            continue
        for i in range(start, stop):
            d = row[i]
            if d < after[i]:
                if d < first[i]:
                    shared += weight[i] * (d - first[i])
                    delta[near[i]] += weight[i] * (first[i] - after[i])
                else:
                    delta[near[i]] += weight[i] * (d - after[i])
    best = 0
    for m in range(1, delta.size):
        if delta[m] < delta[best]:
            best = m
    return best, delta[best] + shared


@compiled(**PART)
def replace(T, medoids, place, candidate, weight, near, second, first, after, loss):
    """Put `candidate` in the place of a medoid and mend the caches; returns the new cost."""
    medoids[place] = candidate
    new = T[candidate]
    cost = 0.0
    for i in range(first.size):
        d = new[i]
        if near[i] == place or second[i] == place:
            if near[i] == place:
                if d <= after[i]:
                    first[i] = d
                else:
                    first[i], near[i] = after[i], second[i]
                    after[i], second[i] = rescan(T, medoids, i, near[i])
            elif d < first[i]:
                after[i], second[i] = first[i], near[i]
                first[i], near[i] = d, place
            else:
                after[i], second[i] = rescan(T, medoids, i, near[i])
        elif d < first[i]:
            after[i], second[i] = first[i], near[i]
            first[i], near[i] = d, place
        elif d < after[i]:
            after[i], second[i] = d, place
        cost += weight[i] * first[i]
    removal_losses(weight, near, first, after, loss)
    return cost


@compiled(**PART)
def rescan(T, medoids, i, mine):
    """Distance and place of the closest medoid to i other than the one at place `mine`."""
    best, at = np.inf, -1
    for place in range(medoids.size):
        if place != mine and (T[medoids[place], i] < best or at < 0):
            best, at = T[medoids[place], i], place
    return best, at


@compiled
def eager_pass(
    T, weight, medoids, is_medoid, near, second, first, after, loss, start, idle, tol, cost, delta
):
    """Try every candidate once, from `start` on, swapping as soon as one improves.

    `idle` counts the tries since the last swap; at n no swap is left. Returns (next candidate, idle, swaps,
    cost).
    """
    n = first.size
    swaps, x = 0, start
    for _ in range(n):
        if idle >= n:
            break
        if not is_medoid[x] and weight[x] > 0.0:
            place, change = swap_gain(T[x], weight, near, first, after, loss, delta)
            if change < -tol * cost:
                is_medoid[medoids[place]] = False
                is_medoid[x] = True
                cost = replace(T, medoids, place, x, weight, near, second, first, after, loss)
                swaps += 1
                idle = 0
        idle += 1
        x = x + 1 if x + 1 < n else 0
    return x, idle, swaps, cost


@compiled
def best_swap(T, weight, is_medoid, near, first, after, loss, delta):
    """Return the best (place, candidate, change) over all swaps; ties go to the lower candidate."""
    place, candidate, change = -1, -1, np.inf
    for x in range(first.size):
        if not is_medoid[x] and weight[x] > 0.0:
            p, c = swap_gain(T[x], weight, near, first, after, loss, delta)
            if c < change:
                place, candidate, change = p, x, c
    return place, candidate, change


@compiled
def build(T, weight, k, medoids):
    """Greedy start: the row of smallest total distance, then always the one that lowers the cost most."""
    n = weight.size
    first = np.full(n, np.inf)
    for place in range(k):
        best, at = np.inf, -1
        for x in range(n):
            row = T[x]
            total = 0.0
            for i in range(n):
                total += weight[i] * min(row[i], first[i])
            if total < best and weight[x] > 0.0:
                taken = False
                for m in range(place):
                    taken |= medoids[m] == x
                if not taken:
                    best, at = total, x
        medoids[place] = at
        row = T[at]
        for i in range(n):
            first[i] = min(first[i], row[i])


@compiled
def best_members(T, weight, labels, medoids):
    """Replace each medoid by the member of its cluster with the smallest summed distance; ties stay or go
    low.
    """
    n = labels.size
    best = np.full(medoids.size, np.inf)
    found = medoids.copy()
    for x in range(n):
        if weight[x] <= 0.0:
            continue
        c = labels[x]
        row = T[x]
        total = 0.0
        for i in range(n):
            if labels[i] == c:
                total += weight[i] * row[i]
        if total < best[c]:
            best[c] = total
            found[c] = x
    for c in range(len(found)):
        medoids[c] = found[c]
