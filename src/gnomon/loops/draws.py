"""Random numbers from counters, and shuffles: the same bits for the same seed, on any thread."""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def mix(x):
    """Splitmix64: a well mixed 64-bit word from a counter."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled(**PART)
def uniform(x):
    """A number in [0, 1) from a 64-bit word."""
    return np.float64(mix(x) >> np.uint64(11)) / 9007199254740992.0


@compiled
def shuffle(rows, seed):
    """Bring rows into random order, in place: each changes places with one up to its own (Fisher and Yates)."""
    key = mix(np.uint64(seed))
    for i in range(len(rows)):
        j = ((mix(key + np.uint64(i)) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32)
        rows[i], rows[j] = rows[j], rows[i]
