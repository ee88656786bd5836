"""Sweeps of dynamic programming over stacked rows. Arrays in, arrays out.

Row ``s * A + a`` of the CSR arrays (indptr, indices, data) is T(s, a, .); what a row lacks to one is the chance
that the episode ends. ``r`` is (S, A), ``alive`` (S, A) is 0 for actions that are not to be looked at. Ties go to the
lower action. Only states ``begin <= s < end`` are written, so that chunks of states are independent.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

BLOCK = np.uint64(128)  # states whose products are waiting for their largest


@compiled(**PART)
def row_product(indptr, indices, data, row, V):
    """sum_t T(s, a, t) V[t] of one row. Unsigned places need no look at their sign, which halves the time."""
    total = 0.0
    for j in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
        total += data[j] * V[np.uint64(indices[j])]
    return total


@compiled
def backup_states(indptr, indices, data, r, alive, V, discount, begin, end, margin, best, choice):
    """best[s] = max_a r(s, a) + discount * sum_t T(s, a, t) V[t], choice[s] the action; returns min and max of
    best - V. An action that is worse than the best by more than margin is dropped from alive.

    Products of a block of states come first, then their largest: a choice among actions is a guess for the
    processor, and a wrong one would throw away the products it has begun.
    """
    A = np.uint64(r.shape[1])
    rewards, live = r.reshape(-1), alive.reshape(-1)
    q = np.empty(BLOCK * A)
    low, high = np.inf, -np.inf
    for first in range(np.uint64(begin), np.uint64(end), BLOCK):
        last = min(first + BLOCK, np.uint64(end))
        shift = first * A
        for row in range(shift, last * A):
            q[row - shift] = row_product(indptr, indices, data, row, V) if live[row] else 0.0
        for row in range(shift, last * A):
            q[row - shift] = rewards[row] + discount * q[row - shift] if live[row] else -np.inf
        for s in range(first, last):
            at = (s - first) * A
            top, chosen = q[at], np.uint64(0)
            for a in range(np.uint64(1), A):
                chosen = a if q[at + a] > top else chosen
                top = q[at + a] if q[at + a] > top else top
            best[s] = top
            choice[s] = chosen
            change = top - V[s]
            low = change if change < low else low
            high = change if change > high else high
            if margin < np.inf:
                for a in range(A):
                    if top - q[at + a] > margin:
                        live[s * A + a] = 0
    return low, high


@compiled
def action_values(indptr, indices, data, r, alive, V, discount, begin, end, Q):
    """Q[s, a] = r(s, a) + discount * sum_t T(s, a, t) V[t]; -inf where the action is not alive."""
    A = r.shape[1]
    for s in range(begin, end):
        for a in range(A):
            if not alive[s, a]:
                Q[s, a] = -np.inf
                continue
            row = s * A + a
            total = row_product(indptr, indices, data, row, V)
            Q[s, a] = r[s, a] + discount * total


@compiled
def sweep_in_place(indptr, indices, data, r, alive, discount, order, V):
    """V[s] = its backup, one state after the other, each seeing the newest values; returns the largest change."""
    A = r.shape[1]
    change = 0.0
    for s in order:
        top = -np.inf
        for a in range(A):
            if alive[s, a]:
                row = s * A + a
                total = row_product(indptr, indices, data, row, V)
                top = max(top, r[s, a] + discount * total)
        change = max(change, abs(top - V[s]))
        V[s] = top
    return change


@compiled
def sweep_chain(indptr, indices, data, r, discount, begin, end, V, out):
    """out[s] = r[s] + discount * sum_t P(s, t) V[t], for a chain P with one row a state."""
    for s in range(np.uint64(begin), np.uint64(end)):
        out[s] = r[s] + discount * row_product(indptr, indices, data, s, V)


@compiled(**PART)
def _sink(heap, where, priority, at, size):
    state = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and priority[heap[child + 1]] > priority[heap[child]]:
            child += 1
        if priority[heap[child]] <= priority[state]:
            break
        heap[at] = heap[child]
        where[heap[at]] = at
        at = child
    heap[at] = state
    where[state] = at


@compiled(**PART)
def _rise(heap, where, priority, at):
    state = heap[at]
    while at > 0 and priority[heap[(at - 1) // 2]] < priority[state]:
        heap[at] = heap[(at - 1) // 2]
        where[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = state
    where[state] = at


@compiled
def sweep_by_priority(
    indptr, indices, data, r, alive, discount, back_indptr, back_rows, back_data, goal, V, priority
):
    """Back up the state that promises the largest change, S times or until none promises more than goal.

    ``back_*`` are the columns of T: which rows lead into a state. priority[s] bounds how much a backup of s can
    still change V[s]; it is kept between calls. Returns how many states were backed up.
    """
    S, A = r.shape
    heap = np.arange(S)
    where = np.arange(S)
    for at in range(S // 2 - 1, -1, -1):
        _sink(heap, where, priority, at, S)
    for done in range(S):
        s = heap[0]
        if priority[s] <= goal:
            return done
        top = -np.inf
        for a in range(A):
            if alive[s, a]:
                row = s * A + a
                total = row_product(indptr, indices, data, row, V)
                top = max(top, r[s, a] + discount * total)
        change = abs(top - V[s])
        V[s] = top
        priority[s] = 0.0
        _sink(heap, where, priority, 0, S)
        for j in range(back_indptr[s], back_indptr[s + 1]):
            before = back_rows[j] // A
            added = discount * back_data[j] * change
            if added > 0.0 and alive[before, back_rows[j] % A]:
                # changes that came since the last backup of `before` add up
                priority[before] += added
                _rise(heap, where, priority, where[before])
    return S


@compiled
def reach(indptr, indices, seen, queue, count):
    """seen[t] = 1 for everything reachable from the first count states of queue along rows of a square CSR matrix."""
    begin = 0
    while begin < count:
        s = queue[begin]
        begin += 1
        for j in range(indptr[s], indptr[s + 1]):
            t = indices[j]
            if not seen[t]:
                seen[t] = 1
                queue[count] = t
                count += 1
    return count
