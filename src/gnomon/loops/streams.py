"""The first numbers of a stream of `core.randomness`, without the stream: for many short passes in one call.

NumPy's Philox-4x64-10 with the key (seed, index) gives four words for each value of a counter that begins at 1.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
FACTORS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)  # added to the key after every round


@compiled(**PART)
def high_half(a, b):
    """The upper 64 bits of the product of two 64-bit words."""
    a_low, a_high, b_low, b_high = a & LOW, a >> HALF, b & LOW, b >> HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    other = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> HALF) + (other >> HALF)


@compiled(**PART)
def four_words(seed, index, counter):
    """The words of a stream at one value of the counter."""
    key, other = np.uint64(seed), np.uint64(index)
    a, b, c, d = np.uint64(counter), np.uint64(0), np.uint64(0), np.uint64(0)
    for turn in range(10):
        if turn > 0:
            key, other = key + STEPS[0], other + STEPS[1]
        low, high = FACTORS[0] * a, high_half(FACTORS[0], a)
        last, top = FACTORS[1] * c, high_half(FACTORS[1], c)
        a, b, c, d = top ^ b ^ key, last, high ^ d ^ other, low
    return a, b, c, d


@compiled
def stream_seed(seed, index):
    """What `core.randomness.draw_seed` draws first from stream `index` of `seed`."""
    for word in four_words(
        seed, index, 1
    ):  # below 2⁶³ − 1: the upper half of word·(2⁶³ − 1), if that is fair
        top = (word & np.uint64(1)) << np.uint64(63)
        if top - word >= np.uint64(2):
            return np.int64((word >> np.uint64(1)) - np.uint64(top < word))
    return np.int64(-1)


@compiled
def fill_uniform(seed, index, out):
    """The first numbers in [0, 1) of stream `index` of `seed`, as `Generator.random` draws them."""
    for k in range(0, len(out), 4):
        words = four_words(seed, index, k // 4 + 1)
        for l in range(min(4, len(out) - k)):
            out[k + l] = np.float64(words[l] >> np.uint64(11)) / 9007199254740992.0
