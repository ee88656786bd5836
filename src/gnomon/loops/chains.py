"""Recursions of hidden Markov chains over many sequences laid end to end. Arrays in, arrays out.

``offsets`` (S + 1,) holds where each sequence begins; ``A`` is (1, K, K), or (T, K, K) with A[t] leading
into row t. ``B`` holds emission densities divided by their row maximum, so only a row that no reachable
state can emit makes the scaled recursions vanish: they then return its position (else -1) and the log twin
takes over. Nothing is allocated inside the time loop, nothing of size T x K x K exists anywhere. Inputs hold
no NaN; ``-inf`` is an impossible event.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled
def shift_rows(B, shift):
    """shift[t] = max_k B[t, k] and B[t] -= shift[t]; a row of -inf keeps -inf with shift 0."""
    for t in range(B.shape[0]):
        top = B[t, 0]
        for k in range(1, B.shape[1]):
            top = max(top, B[t, k])
        if top == -np.inf:
            top = 0.0
        shift[t] = top
        for k in range(B.shape[1]):
            B[t, k] -= top


@compiled(fastmath=True)
def carry(row, M, out):
    """out = row M."""
    K = row.shape[0]
    for j in range(K):
        out[j] = 0.0
    for i in range(K):
        a = row[i]
        for j in range(K):
            out[j] += a * M[i, j]


@compiled(fastmath=True)
def filter_states(start, A, B, offsets, alpha, scale):
    """alpha[t] = p(state | rows up to t), scale[t] its normalizer; returns the first row that vanished,
    or -1.

    The next row is begun from the one not yet divided by its normalizer, so that nobody waits for a division.
    """
    K = start.shape[0]
    row = np.empty(K)
    ahead = np.empty(K)
    M = A[0].copy()
    for n in range(offsets.shape[0] - 1):
        inverse = 1.0
        for j in range(K):
            ahead[j] = start[j]
        for t in range(offsets[n], offsets[n + 1]):
            total = 0.0
            for j in range(K):
                row[j] = ahead[j] * (B[t, j] * inverse)
                total += row[j]
            if not total > 1e-280:
                return t
            scale[t] = total
            inverse = 1.0 / total
            if A.shape[0] > 1 and t + 1 < offsets[n + 1]:
                for i in range(K):
                    for j in range(K):
                        M[i, j] = A[t + 1, i, j]
            carry(row, M, ahead)
            for j in range(K):
                alpha[t, j] = row[j] * inverse
    return -1


@compiled(fastmath=True)
def smooth_states(A, end, B, offsets, alpha, scale, counts, mass):
    """Turn filtered alpha into posteriors in place; counts += sum_t alpha[t-1] w[t]' (times A: expected
    transitions).

    mass[n] = sum_k alpha[T_n, k] end[k]; returns the last row of a sequence that cannot end, or -1.
    With (T, K, K) transitions counts already carries the factor A.
    """
    K = A.shape[1]
    w = np.empty(K)
    beta = np.empty(K)
    back = A[0].T.copy()
    for n in range(offsets.shape[0] - 1):
        last = offsets[n + 1] - 1
        mass[n] = 1.0
        if last < offsets[n]:
            continue
        total = 0.0
        for k in range(K):
            total += alpha[last, k] * end[k]
        if not total > 1e-280:
            return last
        mass[n] = total
        for k in range(K):
            beta[k] = end[k] / total
        for t in range(last, offsets[n] - 1, -1):
            inverse = 1.0 / scale[t]
            for j in range(K):
                w[j] = beta[j] * (B[t, j] * inverse)
                alpha[t, j] *= beta[j]
            if t == offsets[n]:
                break
            if A.shape[0] == 1:
                carry(w, back, beta)
                for i in range(K):
                    a = alpha[t - 1, i]
                    for j in range(K):
                        counts[i, j] += a * w[j]
            else:
                pull(A[t], alpha[t - 1], w, beta, counts)
    return -1


@compiled(fastmath=True)
def pull(M, a, w, beta, counts):
    """beta = M w, and counts += (a w') o M."""
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(w.shape[0]):
            total += M[i, j] * w[j]
            counts[i, j] += a[i] * w[j] * M[i, j]
        beta[i] = total


@compiled(fastmath=True)
def backward_table(A, end, B, offsets, scale, beta):
    """beta[t] = A (B[t+1] o beta[t+1]) / scale[t+1], beta[T] = end: the scaled backward table."""
    K = A.shape[1]
    w = np.empty(K)
    for n in range(offsets.shape[0] - 1):
        for t in range(offsets[n + 1] - 1, offsets[n] - 1, -1):
            if t == offsets[n + 1] - 1:
                for k in range(K):
                    beta[t, k] = end[k]
                continue
            M = A[t + 1] if A.shape[0] > 1 else A[0]
            for j in range(K):
                w[j] = B[t + 1, j] * beta[t + 1, j] / scale[t + 1]
            for i in range(K):
                total = 0.0
                for j in range(K):
                    total += M[i, j] * w[j]
                beta[t, i] = total


@compiled(**PART)
def log_add(values):
    """ln sum exp(values); all -inf gives -inf."""
    top = values[0]
    for k in range(1, values.shape[0]):
        top = max(top, values[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(values.shape[0]):
        total += np.exp(values[k] - top)
    return top + np.log(total)


@compiled
def log_filter(log_start, log_A, log_B, offsets, alpha):
    """Fill alpha[t, k] = ln p(x_1..t, state k); returns the first impossible row, or -1."""
    K = log_start.shape[0]
    term = np.empty(K)
    for n in range(offsets.shape[0] - 1):
        for t in range(offsets[n], offsets[n + 1]):
            M = log_A[t] if log_A.shape[0] > 1 else log_A[0]
            top = -np.inf
            for j in range(K):
                if t == offsets[n]:
                    alpha[t, j] = log_start[j] + log_B[t, j]
                else:
                    for i in range(K):
                        term[i] = alpha[t - 1, i] + M[i, j]
                    alpha[t, j] = log_add(term) + log_B[t, j]
                top = max(top, alpha[t, j])
            if top == -np.inf:
                return t
    return -1


@compiled
def log_smooth(log_A, log_end, log_B, offsets, alpha, counts, log_p):
    """Turn log alpha into posteriors in place and add expected transitions (A included) to counts, in
    logs.
    """
    K = log_A.shape[1]
    term = np.empty(K)
    beta = np.empty(K)
    w = np.empty(K)
    for n in range(offsets.shape[0] - 1):
        last = offsets[n + 1] - 1
        log_p[n] = 0.0
        if last < offsets[n]:
            continue
        for k in range(K):
            beta[k] = log_end[k]
            term[k] = alpha[last, k] + log_end[k]
        evidence = log_add(term)
        if evidence == -np.inf:
            return last
        log_p[n] = evidence
        for t in range(last, offsets[n] - 1, -1):
            M = log_A[t] if log_A.shape[0] > 1 else log_A[0]
            for j in range(K):
                w[j] = log_B[t, j] + beta[j]
                alpha[t, j] = np.exp(alpha[t, j] + beta[j] - evidence)
            if t == offsets[n]:
                break
            for i in range(K):
                for j in range(K):
                    term[j] = M[i, j] + w[j]
                    counts[i, j] += np.exp(alpha[t - 1, i] + term[j] - evidence)
                beta[i] = log_add(term)
    return -1


@compiled
def best_paths(log_start, log_A, log_end, log_B, offsets, path, back, score):
    """Viterbi: the most probable path of every sequence, ties to the lowest state; back (longest, K) is
    scratch.
    """
    K = log_start.shape[0]
    delta = np.empty(K)
    ahead = np.empty(K)
    arg = np.empty(K, np.int64)
    for n in range(offsets.shape[0] - 1):
        first = offsets[n]
        for j in range(K):
            delta[j] = log_start[j]
        for t in range(first, offsets[n + 1]):
            if t > first:
                M = log_A[t] if log_A.shape[0] > 1 else log_A[0]
                relax(delta, M, ahead, arg)
                for j in range(K):
                    delta[j] = ahead[j]
                    back[t - first, j] = arg[j]
            for j in range(K):
                delta[j] += log_B[t, j]
        best = 0
        for j in range(K):
            delta[j] += log_end[j]
            if delta[j] > delta[best]:
                best = j
        score[n] = delta[best] if offsets[n + 1] > first else 0.0
        for t in range(offsets[n + 1] - 1, first - 1, -1):
            path[t] = best
            best = back[t - first, best]


@compiled(**PART)
def relax(delta, M, ahead, arg):
    """ahead[j] = max_i delta[i] + M[i, j], arg[j] the lowest such i."""
    K = delta.shape[0]
    for j in range(K):
        ahead[j] = delta[0] + M[0, j]
        arg[j] = 0
    for i in range(1, K):
        d = delta[i]
        for j in range(K):
            v = d + M[i, j]
            better = v > ahead[j]
            ahead[j] = v if better else ahead[j]
            arg[j] = i if better else arg[j]


@compiled(**PART)
def advance(log_start, log_A, log_B, first, t, delta, ahead, arg):
    """Move the Viterbi scores to row t."""
    K = delta.shape[0]
    if t == first:
        for j in range(K):
            delta[j] = log_start[j] + log_B[t, j]
        return
    relax(delta, log_A[t] if log_A.shape[0] > 1 else log_A[0], ahead, arg)
    for j in range(K):
        delta[j] = ahead[j] + log_B[t, j]


@compiled(**PART)
def copy_row(row, table, t):
    """table[t] = row."""
    for j in range(row.shape[0]):
        table[t, j] = row[j]


@compiled
def best_paths_lean(log_start, log_A, log_end, log_B, offsets, path, score):
    """Viterbi without stored pointers: scores are kept every sqrt(T) rows, the argmax rule is applied
    again.
    """
    K = log_start.shape[0]
    delta = np.empty(K)
    ahead = np.empty(K)
    arg = np.empty(K, np.int64)
    for n in range(offsets.shape[0] - 1):
        first = offsets[n]
        T = offsets[n + 1] - first
        score[n] = 0.0
        if T == 0:
            continue
        stride = int(np.ceil(np.sqrt(T)))
        kept = np.empty(((T + stride - 1) // stride, K))
        block = np.empty((stride, K))
        for t in range(T):
            advance(log_start, log_A, log_B, first, first + t, delta, ahead, arg)
            if t % stride == 0:
                copy_row(delta, kept, t // stride)
        best = 0
        for j in range(K):
            delta[j] += log_end[j]
            if delta[j] > delta[best]:
                best = j
        score[n] = delta[best]
        path[first + T - 1] = best
        for part in range(kept.shape[0] - 1, -1, -1):
            begin = part * stride
            stop = min(begin + stride, T)
            for j in range(K):
                delta[j] = kept[part, j]
            copy_row(delta, block, 0)
            for t in range(begin + 1, stop):
                advance(log_start, log_A, log_B, first, first + t, delta, ahead, arg)
                copy_row(delta, block, t - begin)
            for t in range(min(stop, T - 1) - 1, begin - 1, -1):
                after = first + t + 1
                M = log_A[after] if log_A.shape[0] > 1 else log_A[0]
                state = path[after]
                best = 0
                for i in range(1, K):
                    if block[t - begin, i] + M[i, state] > block[t - begin, best] + M[best, state]:
                        best = i
                path[first + t] = best


@compiled(**PART)
def draw(cumulative, u):
    """The first k with cumulative[k] > u (the last one when rounding leaves none)."""
    low, high = 0, cumulative.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def walk(start, A, uniforms, states):
    """Draw a chain by inversion: start (cumulative, over tuples of the first states), A (tuples, K)
    cumulative rows.
    """
    size, K = A.shape
    code = draw(start, uniforms[0])
    order = 1
    tuples = K
    while tuples < size:
        order += 1
        tuples *= K
    rest = code
    for t in range(order - 1, -1, -1):
        if t < states.shape[0]:
            states[t] = rest % K
        rest //= K
    for t in range(order, states.shape[0]):
        state = draw(A[code], uniforms[t])
        states[t] = state
        code = (code * K + state) % size


@compiled
def sample_backward(A, end, alpha, uniforms, paths):
    """Draw paths[m] ~ p(states | rows) from the filtered alpha of one sequence, last row first."""
    T, K = alpha.shape
    weight = np.empty(K)
    for m in range(paths.shape[0]):
        for t in range(T - 1, -1, -1):
            total = 0.0
            for k in range(K):
                if t == T - 1:
                    follow = end[k]
                else:
                    M = A[t + 1] if A.shape[0] > 1 else A[0]
                    follow = M[k, paths[m, t + 1]]
                total += alpha[t, k] * follow
                weight[k] = total
            paths[m, t] = draw(weight, uniforms[m, t] * total)
