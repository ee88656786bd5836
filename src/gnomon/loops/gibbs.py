"""Gibbs sweeps over discrete networks. Arrays in, arrays out; codes are changed in place."""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def place_of(arrays, row, v):
    """Where the entry of a row's family of v lies among all tables."""
    place = arrays.table_start[v]
    for k in range(arrays.family_start[v], arrays.family_start[v + 1]):
        place += arrays.strides[k] * row[arrays.family[k]]
    return place


@compiled
def sweep(arrays, codes, free, uniforms):
    """codes[c, free[j]] is drawn given all others of its row, for j in turn; uniforms[c, j] decides."""
    logs = np.empty(arrays.cards.max())
    for c in range(codes.shape[0]):
        row = codes[c]
        for j in range(free.shape[0]):
            v = free[j]
            states, top = arrays.cards[v], -np.inf
            for k in range(states):
                row[v] = k
                value = arrays.logs[place_of(arrays, row, v)]
                for e in range(arrays.child_start[v], arrays.child_start[v + 1]):
                    value += arrays.logs[place_of(arrays, row, arrays.child[e])]
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
