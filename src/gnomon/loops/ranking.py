"""Bayesian personalized ranking: draws of a user, an item the user has and another, and a step for each draw.

The entries of user a are items[starts[a]:starts[a + 1]], ascending. Blocks of entries that share neither users nor
items may be worked on at the same time.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix

AHEAD = 256  # draws made before their steps are taken, so that their vectors can be fetched meanwhile


@compiled(**PART)
def drawn(key, n):
    """A number below n < 2^32 from a counter."""
    return np.int64(((mix(key) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled(**PART)
def holds(items, low, high, item):
    """Whether the ascending items[low:high] hold the item; halves without a branch, which would be guessed wrong."""
    n = high - low
    while n > 1:
        half = n >> 1
        low += half * np.int64(items[low + half] <= item)
        n -= half
    return n == 1 and items[low] == item


@compiled
def deal_users(low, high, group, starts, items, edges, users, liked):
    """The entries of users low..high, those of one group of items after those of the group before.

    group[i] is the group of item i; edges[g] is where group g begins among users and liked.
    """
    number = np.zeros(len(edges), dtype=np.int64)
    for e in range(starts[low], starts[high]):
        number[group[items[e]] + 1] += 1
    edges[0] = starts[low]
    for g in range(1, len(edges)):
        edges[g] = edges[g - 1] + number[g]
    cursor = edges.copy()
    for a in range(low, high):
        for e in range(starts[a], starts[a + 1]):
            g = group[items[e]]
            users[cursor[g]], liked[cursor[g]] = a, items[e]
            cursor[g] += 1


@compiled(fastmath=True)
def bpr_steps(seed, first, users, liked, others, starts, items, rate, reg, verify, U, V, biases):
    """As many draws as there are entries (users, liked), numbered from `first`; the other item is one of `others`.

    Returns how many pairs were in order already, and how many draws were left out because the user has the other
    item too (or, without `verify`, because both items are the same).
    """
    n_draws, k = len(users), U.shape[1]
    keep = U.dtype.type(1.0 - rate * reg)
    who, has, lacks = np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64)
    right = skipped = 0
    for begin in range(0, n_draws, AHEAD):
        made = 0
        for draw in range(begin, min(begin + AHEAD, n_draws)):
            key = np.uint64(seed) + np.uint64(2 * (first + draw))
            e = drawn(key, n_draws)
            a, i, j = users[e], liked[e], others[drawn(key + np.uint64(1), len(others))]
            who[made], has[made], lacks[made] = a, i, j
            if verify:
                out = holds(items, starts[a], starts[a + 1], j)
            else:
                out = i == j
            made += not out
            skipped += out
        for draw in range(made):
            i, j = has[draw], lacks[draw]
            u, v, w = U[who[draw]], V[i], V[j]
            dot = U.dtype.type(0)
            for l in range(k):
                dot += u[l] * (v[l] - w[l])
            x = np.float64(dot) + biases[i] - biases[j]
            right += x > 0
            s = 1.0 / (1.0 + np.exp(x))
            z = U.dtype.type(rate * s)
            for l in range(k):
                mine, one, other = u[l], v[l], w[l]
                u[l] = keep * mine + z * (one - other)
                v[l] = keep * one + z * mine
                w[l] = keep * other - z * mine
            biases[i] += rate * (s - reg * biases[i])
            biases[j] += rate * (-s - reg * biases[j])
    return right, skipped
