"""The exact end of a small kernel machine: multipliers strictly between their bounds are solved for together.

The problem and its arrays are those of `smo`. What lies between the bounds has one slope at the optimum, which is a
linear system; a multiplier that meets a bound on the way stays there. NaN ends in no step.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled
from gnomon.loops.smo import pair_steps, slopes, take_row


@compiled
def finish(source, places, columns, K, known, diag, low, high, epsilon, floor, goal, most, target, beta, R):
    """Take turns of solving for the free multipliers and of pairs until only rounding is left.

    Returns (violation, done). Not done: more than `most` are free or their system is singular. Writes beta and R.
    """
    n = len(R)
    patient, most_pairs = False, 2 * n + 100  # the next turn solves better than many more pairs
    residuals(source, places, columns, K, known, diag, target, beta, R)
    best = violation(low, high, epsilon, beta, R)
    old_beta, old_R = beta.copy(), R.copy()
    for _ in range(12):
        if not best > goal:
            return best, True
        if not solve_free(source, places, columns, K, known, diag, low, high, epsilon, most, beta, R):
            copy_both(old_beta, old_R, beta, R)
            return best, False
        residuals(source, places, columns, K, known, diag, target, beta, R)
        left = max(goal, 1e-3 * min(best, violation(low, high, epsilon, beta, R)))
        pair_steps(
            source, places, columns, K, known, diag, low, high, epsilon, floor, left, most_pairs, beta, R
        )
        residuals(source, places, columns, K, known, diag, target, beta, R)
        found = violation(low, high, epsilon, beta, R)
        if not found < best:
            copy_both(old_beta, old_R, beta, R)
            if patient:
                return best, True
            patient, most_pairs = True, 10 * n + 1000
            continue
        best = found
        copy_both(beta, R, old_beta, old_R)
    return best, True


@compiled(**PART)
def copy_both(beta, R, into_beta, into_R):
    """Copy both, entry by entry: Numba compiles seconds of words for a slice that is given an array."""
    for t in range(len(beta)):
        into_beta[t], into_R[t] = beta[t], R[t]


@compiled(**PART)
def violation(low, high, epsilon, beta, R):
    """By how much the best slope upward exceeds the best downward; zero where there is none."""
    top, bottom, _ = slopes(low, high, epsilon, beta, R)
    return max(0.0, top - bottom) if np.isfinite(top) and np.isfinite(bottom) else 0.0


@compiled(**PART)
def residuals(source, places, columns, K, known, diag, target, beta, R):
    """R = target − Kβ, summed anew in the order of the rows."""
    for t in range(len(R)):
        R[t] = target[t]
    for j in range(len(beta)):
        b = beta[j]
        if b != 0.0:
            if not known[j]:
                take_row(source, places, columns, diag, j, K, known)
            row = K[j]
            for t in range(len(R)):
                R[t] -= b * np.float64(row[t])


@compiled(**INNER)
def solve_free(source, places, columns, K, known, diag, low, high, epsilon, most, beta, R):
    """Give the free multipliers one slope, the others held; False where that is no work for this loop.

    Writes beta; R is not brought up to date.
    """
    free = np.empty(most, np.int64)
    m = 0
    for t in range(len(beta)):
        if low[t] < beta[t] < high[t] and (epsilon == 0.0 or beta[t] != 0.0):
            if m == most:
                return False
            free[m] = t
            m += 1
    slope = np.empty(m)
    size = 0.0
    for a in range(m):
        i = free[a]
        if not known[i]:
            take_row(source, places, columns, diag, i, K, known)
        slope[a] = R[i] - (np.sign(beta[i]) * epsilon if epsilon else 0.0)
        size += diag[i] / m
    L, step, level = np.empty((m, m)), np.empty(m), np.empty(m)
    while m:
        for a in range(m):
            for b in range(a + 1):
                # a constant more changes no answer whose sum is zero, and lifts what only the sum holds
                L[a, b] = (diag[free[a]] if a == b else np.float64(K[free[a], free[b]])) + size
        if not factored(L, m):
            return False
        for a in range(m):
            step[a], level[a] = slope[a], 1.0
        solved(L, m, step)
        solved(L, m, level)
        shift = step[:m].sum() / level[:m].sum()
        share, first = 1.0, -1
        for a in range(m):
            i = free[a]
            step[a] -= shift * level[a]
            up, down = high[i], low[i]
            if epsilon and beta[i] < 0.0:
                up = min(up, 0.0)
            if epsilon and beta[i] > 0.0:
                down = max(down, 0.0)
            room = up - beta[i] if step[a] > 0.0 else down - beta[i]
            if step[a] != 0.0 and room / step[a] < share:
                share, first = room / step[a], a
        if not np.isfinite(step[:m].sum()):
            return False
        for a in range(m):
            change = 0.0
            for b in range(m):
                kernel = diag[free[a]] if a == b else np.float64(K[free[a], free[b]])
                change += kernel * step[b]
            slope[a] -= share * change
        for a in range(m):
            i = free[a]
            if a == first:
                up = 0.0 if epsilon and beta[i] < 0.0 else high[i]
                down = 0.0 if epsilon and beta[i] > 0.0 else low[i]
                beta[i] = up if step[a] > 0.0 else down
            else:
                beta[i] = min(max(beta[i] + share * step[a], low[i]), high[i])
        if first < 0:
            return True
        for a in range(first, m - 1):
            free[a], slope[a] = free[a + 1], slope[a + 1]
        m -= 1
    return True


@compiled(fastmath=True)
def factored(L, m):
    """Replace the lower half of a matrix by its Cholesky factor; False where a pivot is rounding alone."""
    for a in range(m):
        own = L[a, a]
        for b in range(a):
            total = L[a, b]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            L[a, b] = total / L[b, b]
        total = own
        for c in range(a):
            total -= L[a, c] * L[a, c]
        if not total > 1e-12 * own:
            return False
        L[a, a] = np.sqrt(total)
    return True


@compiled(fastmath=True)
def solved(L, m, x):
    """Replace x by the solution of L Lᵀ z = x."""
    for a in range(m):
        total = x[a]
        for c in range(a):
            total -= L[a, c] * x[c]
        x[a] = total / L[a, a]
    for a in range(m - 1, -1, -1):
        x[a] /= L[a, a]
        for c in range(a):
            x[c] -= L[a, c] * x[a]
