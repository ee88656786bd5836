"""Pairs of multipliers, two at a time, for kernel machines.

    minimize ½ βᵀKβ − tᵀβ + ε‖β‖₁,   Σβ fixed,   low ≤ β ≤ high

`R` = t − Kβ is kept up to date. A pair (i, j) moves β_i up and β_j down; i is the row that gains most, j the one
with which the pair gains most to second order. K is the kernel between the rows (any float). NaN in K or R ends in no
step. Ties go to the lower index.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.ordering import put_in_order

DONE, LIMIT = 0, 1


@compiled
def pair_steps(source, places, columns, K, known, diag, low, high, epsilon, floor, tol, max_steps, beta, R):
    """Make steps until none gains more than tol or max_steps are made; returns (code, steps). Writes beta and R.

    Row i of K is source[places[i], columns], and is copied when it is first asked for (known[i] = 0).
    """
    n = len(R)
    steps = 0
    top, bottom, i = slopes(low, high, epsilon, beta, R)
    while True:
        if not top - bottom > tol:
            return DONE, steps
        if steps >= max_steps:
            return LIMIT, steps
        if not known[i]:
            take_row(source, places, columns, diag, i, K, known)
        first = K[i]
        j, best = -1, -1.0
        own = diag[i]
        for t in range(n):
            if beta[t] > low[t]:
                fall = R[t] + (epsilon if beta[t] <= 0.0 else -epsilon)
                gain = top - fall
                if gain > 0.0:
                    bend = own + diag[t] - 2.0 * np.float64(first[t])
                    if not bend > floor:
                        bend = floor
                    if gain * gain > best * bend:
                        best = gain * gain / bend
                        j = t
        if j < 0 or j == i:
            return DONE, steps
        if not known[j]:
            take_row(source, places, columns, diag, j, K, known)
        second = K[j]
        step = move(i, j, own + diag[j] - 2.0 * np.float64(first[j]), floor, top, epsilon, low, high, beta, R)
        steps += 1
        top, bottom, i = -np.inf, np.inf, -1
        for t in range(n):
            r = R[t] - step * (np.float64(first[t]) - np.float64(second[t]))
            R[t] = r
            b = beta[t]
            if b < high[t]:
                rise = r - epsilon if b >= 0.0 else r + epsilon
                if rise > top:
                    top = rise
                    i = t
            if b > low[t]:
                fall = r + epsilon if b <= 0.0 else r - epsilon
                if fall < bottom:
                    bottom = fall


@compiled
def take_row(source, places, columns, diag, i, K, known):
    """K[i] = source[places[i], columns] with diag[i] on the diagonal; known[i] = 1."""
    row = source[places[i]]
    for t in range(len(columns)):
        K[i, t] = row[columns[t]]
    K[i, i] = diag[i]
    known[i] = 1


@compiled
def subtract_rows(K, places, change, first, last, R):
    """R[t] −= Σ_k change[k] K[places[k], t] for first ≤ t < last, summed in the order of k."""
    for k in range(len(places)):
        row = K[places[k]]
        c = change[k]
        for t in range(first, last):
            R[t] -= c * np.float64(row[t])


@compiled
def slopes(low, high, epsilon, beta, R):
    """The largest slope upward with its row, and the smallest downward."""
    top, bottom, i = -np.inf, np.inf, -1
    for t in range(len(R)):
        b = beta[t]
        if b < high[t]:
            rise = R[t] - epsilon if b >= 0.0 else R[t] + epsilon
            if rise > top:
                top = rise
                i = t
        if b > low[t]:
            fall = R[t] + epsilon if b <= 0.0 else R[t] - epsilon
            bottom = min(bottom, fall)
    return top, bottom, i


@compiled(**PART)
def move(i, j, bend, floor, top, epsilon, low, high, beta, R):
    """Move β_i up and β_j down as far as it gains and the bounds (and zero, where ε bends) allow."""
    fall = R[j] + (epsilon if beta[j] <= 0.0 else -epsilon)
    if not bend > floor:
        bend = floor
    step = (top - fall) / bend
    up = high[i] if beta[i] >= 0.0 or epsilon == 0.0 else min(0.0, high[i])
    down = low[j] if beta[j] <= 0.0 or epsilon == 0.0 else max(0.0, low[j])
    room_i, room_j = up - beta[i], beta[j] - down
    step = min(step, room_i, room_j)
    beta[i] = up if step == room_i else beta[i] + step
    beta[j] = down if step == room_j else beta[j] - step
    return step


@compiled
def grouped_steps(K, column, group, diag, low, high, floor, tol, max_steps, beta, R):
    """The same with both rows of a pair from one group, for machines with a sum to keep in each group.

    Variable v belongs to row column[v] of the full matrix K; groups are 0 and 1. Returns (code, steps, violation).
    """
    n = len(R)
    steps = 0
    step, i, j = 0.0, 0, 0
    top, bottom, rows = np.empty(2), np.empty(2), np.empty(2, np.int64)
    while True:
        top[:], bottom[:], rows[:] = -np.inf, np.inf, -1
        first, second = K[column[i]], K[column[j]]
        for v in range(n):
            r = R[v]
            if step != 0.0:
                r -= step * (np.float64(first[column[v]]) - np.float64(second[column[v]]))
                R[v] = r
            g = group[v]
            if r > top[g] and beta[v] < high[v]:
                top[g] = r
                rows[g] = v
            if r < bottom[g] and beta[v] > low[v]:
                bottom[g] = r
        g = 0 if top[0] - bottom[0] >= top[1] - bottom[1] else 1
        gap = top[g] - bottom[g]
        if not gap > tol:
            return DONE, steps, gap
        if steps >= max_steps:
            return LIMIT, steps, gap
        i = rows[g]
        first = K[column[i]]
        own = diag[column[i]]
        j, best = np.int64(-1), -1.0
        for v in range(n):
            if group[v] == g and beta[v] > low[v]:
                gain = top[g] - R[v]
                if gain > 0.0:
                    bend = own + diag[column[v]] - 2.0 * np.float64(first[column[v]])
                    if not bend > floor:
                        bend = floor
                    if gain * gain > best * bend:
                        best = gain * gain / bend
                        j = v
        if j < 0:
            return DONE, steps, gap
        bend = own + diag[column[j]] - 2.0 * np.float64(first[column[j]])
        step = move(i, j, bend, floor, top[g], 0.0, low, high, beta, R)
        steps += 1


@compiled
def _take(K, A, S, i, fresh):
    """Give row i the multipliers `fresh`, and tell all scores."""
    for m in range(A.shape[1]):
        change = fresh[m] - A[i, m]
        if change != 0.0:
            A[i, m] = fresh[m]
            for s in range(len(S)):
                S[s, m] += change * K[i, s]


@compiled
def simplex_sweep(K, code, cost, A, S, order):
    """One pass of Crammer–Singer over the rows: each row's multipliers are solved exactly, the others held.

    A (n, k): multipliers with Σ_m A_im = 0 and A_im ≤ cost_i [m = y_i]; S = K A are the scores. Returns the largest
    violation met.
    """
    n, k = A.shape
    worst = 0.0
    fresh = np.empty(k)
    for i in order:
        y = code[i]
        high, low_ = -np.inf, np.inf
        for m in range(k):
            slope = S[i, m] + (0.0 if m == y else 1.0)
            high = max(high, slope)
            if A[i, m] < (cost[i] if m == y else 0.0):
                low_ = min(low_, slope)
        violation = high - low_
        worst = max(worst, violation)
        if not violation > 0.0:
            continue
        bend = K[i, i]
        if not bend > 0.0:  # nothing bends: all of the cost goes to the steepest other class, or nothing does
            worst_class = 1 if y == 0 else 0
            for m in range(k):
                if m != y and S[i, m] > S[i, worst_class]:
                    worst_class = m
            mass = cost[i] if 1.0 + S[i, worst_class] > S[i, y] else 0.0
            for m in range(k):
                fresh[m] = mass if m == y else (-mass if m == worst_class else 0.0)
            _take(K, A, S, i, fresh)
            continue
        # minimize ½ bend ‖a‖² + Σ b_m a_m over Σ a = 0, a_m ≤ cost [m = y]: a_m = min(bound_m, (θ − b_m)/bend)
        b = np.empty(k)
        for m in range(k):
            b[m] = S[i, m] + (0.0 if m == y else 1.0) - bend * A[i, m]
        d = np.empty(k)
        for m in range(k):
            d[m] = b[m] + (bend * cost[i] if m == y else 0.0)
        put_in_order(d, 0, k)
        total = d[k - 1] - bend * cost[i]
        r = 1
        while r < k and total < r * d[k - 1 - r]:
            total += d[k - 1 - r]
            r += 1
        theta = total / r
        for m in range(k):
            bound = cost[i] if m == y else 0.0
            fresh[m] = min(bound, (theta - b[m]) / bend)
        _take(K, A, S, i, fresh)
    return worst


@compiled
def pairwise_sweep(K, code, cost, A, S, order):
    """One pass of Weston–Watkins: for every row and other class one exact step within [0, cost].

    A (n, k): A_im is the multiplier of s_y − s_m ≥ 1 for m ≠ y; S (n, k) are the scores. Returns the largest violation.
    """
    n, k = A.shape
    worst = 0.0
    for i in order:
        y = code[i]
        for m in range(k):
            if m == y:
                continue
            slope = 1.0 - S[i, y] + S[i, m]  # the objective rises with A_im at this rate
            if A[i, m] <= 0.0:
                violation = max(slope, 0.0)
            elif A[i, m] >= cost[i]:
                violation = max(-slope, 0.0)
            else:
                violation = abs(slope)
            worst = max(worst, violation)
            if violation > 0.0:
                if K[i, i] > 0.0:
                    fresh = min(max(A[i, m] + slope / (2.0 * K[i, i]), 0.0), cost[i])
                else:  # nothing bends: to the bound
                    fresh = cost[i] if slope > 0.0 else 0.0
                change = fresh - A[i, m]
                if change != 0.0:
                    A[i, m] = fresh
                    for s in range(n):
                        S[s, y] += change * K[i, s]
                        S[s, m] -= change * K[i, s]
    return worst
