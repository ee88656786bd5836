"""Gibbs sweeps over factors of discrete variables. Arrays in, arrays out; codes are changed in place."""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def place_of(arrays, row, f):
    """Where the entry of factor f that a row selects lies among all tables."""
    place = arrays.table_start[f]
    for k in range(arrays.scope_start[f], arrays.scope_start[f + 1]):
        place += arrays.strides[k] * row[arrays.scope[k]]
    return place


@compiled
def sweep(arrays, logs_of, codes, free, uniforms):
    """codes[c, free[j]] is drawn given all others of its row, for j in turn; uniforms[c, j] decides."""
    logs = np.empty(arrays.cards.max())
    for c in range(codes.shape[0]):
        row = codes[c]
        for j in range(free.shape[0]):
            v = free[j]
            states, top = arrays.cards[v], -np.inf
            for k in range(states):
                row[v] = k
                value = 0.0
                for e in range(arrays.member_start[v], arrays.member_start[v + 1]):
                    value += logs_of[place_of(arrays, row, arrays.member[e])]
                logs[k] = value
                top = max(top, value)
            total = 0.0
            for k in range(states):
                total += np.exp(logs[k] - top)
            goal, k = uniforms[c, j] * total, 0
            mass = np.exp(logs[0] - top)
            while mass <= goal and k < states - 1:
                k += 1
                mass += np.exp(logs[k] - top)
            row[v] = k


@compiled
def log_values(arrays, logs_of, codes, out):
    """out[c] = the sum of the logarithms of all factors at a row."""
    for c in range(codes.shape[0]):
        value = 0.0
        for f in range(arrays.scope_start.shape[0] - 1):
            value += logs_of[place_of(arrays, codes[c], f)]
        out[c] = value
