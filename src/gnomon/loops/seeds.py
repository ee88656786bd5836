"""Loops of the starts of k-means: keys of rows, and the draw of k-means++. X is as in `loops.kmeans`."""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.kmeans import squared_distance


@compiled
def mix(bits, keys):
    """Fold every row of 32-bit words into a 64-bit key; equal rows have equal keys."""
    for i in range(bits.shape[0]):
        h = np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            h = (h ^ np.uint64(bits[i, j])) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(29)
        h = (h ^ (h >> np.uint64(32))) * np.uint64(0xC4CEB9FE1A85EC53)
        keys[i] = h ^ (h >> np.uint64(31))


@compiled
def try_seeds(X, start, stop, weight, scale, seeds, apart, closest, owner, trial, potential):
    """trial[i, t] = min(closest[i], ‖x_i − seeds[t]‖²) and potential[t] += Σw·trial.

    apart[t, a] is the squared distance between seed t and the chosen seed a. A row whose own seed is nearer
    than half of that cannot be nearer to seed t (triangle inequality), so its distance is not computed.
    """
    for i in range(start, stop):
        now = closest[i]
        mine = owner[i]
        for t in range(seeds.shape[0]):
            value = now
            if apart[t, mine] < 4.0 * now:
                value = min(now, squared_distance(X[i], seeds[t], scale))
            trial[i, t] = value
            potential[t] += weight[i] * value


@compiled
def take_seed(start, stop, weight, trial, t, seed, rank, width, closest, owner, buckets):
    """Adopt column t of `trial`; buckets[r] += Σw·closest over the rows of rank r·width..(r+1)·width−1."""
    for i in range(start, stop):
        value = trial[i, t]
        if value < closest[i]:
            closest[i] = value
            owner[i] = seed
        buckets[rank[i] // width] += weight[i] * closest[i]
