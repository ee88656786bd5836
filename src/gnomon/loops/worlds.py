"""Moving in a process given as arrays. Random numbers come from counters, so a seed says all.

Outcomes of row ``s * A + a`` are ``offsets[row] .. offsets[row + 1]``: where each leads (-1: the episode ends), what
it pays, and the alias table (Walker's) by which one of them is drawn in constant time.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix, uniform


@compiled
def alias_tables(offsets, chances, keep, other):
    """keep[j], other[j]: outcome j stands for itself with chance keep[j], else for other[j] (Vose's way)."""
    for row in range(offsets.shape[0] - 1):
        begin, end = offsets[row], offsets[row + 1]
        n = end - begin
        if n == 0:
            continue
        total = 0.0
        for j in range(begin, end):
            total += chances[j]
        small = np.empty(n, dtype=np.int64)
        large = np.empty(n, dtype=np.int64)
        n_small, n_large = 0, 0
        for j in range(begin, end):
            keep[j] = chances[j] * n / total
            other[j] = j
            if keep[j] < 1.0:
                small[n_small] = j
                n_small += 1
            else:
                large[n_large] = j
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            j, k = small[n_small], large[n_large - 1]
            other[j] = k
            keep[k] -= 1.0 - keep[j]
            if keep[k] < 1.0:
                n_large -= 1
                small[n_small] = k
                n_small += 1
        for i in range(n_small):
            keep[small[i]] = 1.0
        for i in range(n_large):
            keep[large[i]] = 1.0


@compiled
def key_of(seed, index):
    """The key of stream number index of a seed; its numbers are draw(key, 0), draw(key, 1), ..."""
    return np.int64(mix(mix(np.uint64(seed)) + np.uint64(index)))


@compiled
def episode_seed(seed, episode):
    """The seed, of 31 bits, with which an episode's environment is reset."""
    return np.int64(mix(mix(np.uint64(seed)) + np.uint64(2 * episode)) >> np.uint64(33))


@compiled
def draw(key, counter):
    """A number in [0, 1)."""
    return uniform(np.uint64(key) + np.uint64(counter))


@compiled(**PART)
def outcome(offsets, keep, other, row, u):
    """The outcome of a row for a number u in [0, 1)."""
    begin = offsets[row]
    n = offsets[row + 1] - begin
    place = u * n
    j = min(np.int64(place), n - 1)
    return begin + j if place - j < keep[begin + j] else other[begin + j]


@compiled(**PART)
def normal_draw(key, counter):
    """A standard normal number from a stream of its own beside (key, counter)."""
    one = uniform(mix(key ^ np.uint64(0xA5A5A5A5A5A5A5A5)) + np.uint64(2 * counter))
    two = uniform(mix(key ^ np.uint64(0xA5A5A5A5A5A5A5A5)) + np.uint64(2 * counter + 1))
    return np.sqrt(-2.0 * np.log(1.0 - one)) * np.cos(2.0 * np.pi * two)


@compiled
def first_state(cumulative, u):
    """The state that the start distribution, given by its running sums, draws for u."""
    return min(np.searchsorted(cumulative, u * cumulative[-1], side="right"), len(cumulative) - 1)


@compiled
def move(offsets, leads_to, pays, keep, other, noise, row, key, counter):
    """One step from a row: the next state (-1 at the end of the episode) and the reward."""
    j = outcome(offsets, keep, other, row, draw(key, counter))
    reward = pays[j]
    if noise > 0.0:
        reward += noise * normal_draw(np.uint64(key), counter)
    return leads_to[j], reward


@compiled
def play(
    offsets,
    leads_to,
    pays,
    keep,
    other,
    noise,
    cumulative,
    policy,
    start,
    seed,
    first,
    count,
    max_steps,
    out,
    rewards,
):
    """Play episodes first .. first + count - 1 with policy (H, S, A), whose last table serves all later steps.

    out (m, 6): episode, t, state, action, next state (-1 at the end), whether the time was over. Returns the rows
    written, or -1 when m rows are too few.
    """
    A = policy.shape[2]
    written = 0
    for episode in range(first, first + count):
        key = key_of(episode_seed(seed, episode), 0)
        own = key_of(seed, 2 * episode + 1)
        s = start if start >= 0 else first_state(cumulative, draw(key, 0))
        for t in range(max_steps):
            if written == out.shape[0]:
                return -1
            table = policy[min(t, policy.shape[0] - 1)]
            u = draw(own, t)
            a, mass = 0, table[s, 0]
            while u >= mass and a < A - 1:
                a += 1
                mass += table[s, a]
            while table[s, a] == 0.0 and a > 0:  # the sum fell short of one by rounding
                a -= 1
            to, reward = move(offsets, leads_to, pays, keep, other, noise, s * A + a, key, t + 1)
            out[written, 0] = episode
            out[written, 1] = t
            out[written, 2] = s
            out[written, 3] = a
            out[written, 4] = to
            out[written, 5] = to >= 0 and t == max_steps - 1
            rewards[written] = reward
            written += 1
            if to < 0:
                break
            s = to
    return written


@compiled
def sample_targets(
    offsets, leads_to, pays, keep, other, noise, V, discount, rows, n_samples, seed, mean, error
):
    """mean[i], error[i] of reward + discount * V[next] over n_samples moves from rows[i] (Welford's sums)."""
    for i in range(rows.shape[0]):
        key = key_of(seed, rows[i])
        center, squares = 0.0, 0.0
        for k in range(n_samples):
            to, reward = move(offsets, leads_to, pays, keep, other, noise, rows[i], key, k)
            target = reward + (discount * V[to] if to >= 0 else 0.0)
            off = target - center
            center += off / (k + 1)
            squares += off * (target - center)
        mean[i] = center
        error[i] = np.sqrt(squares / (n_samples - 1) / n_samples) if n_samples > 1 else np.nan
