"""Draws from the posterior of factor vectors. Every row has a stream of its own, so threads change nothing."""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix, uniform


@compiled(**PART)
def normal(key):
    """A standard normal number from a 64-bit word (Box and Muller)."""
    one = 1.0 - uniform(key)
    two = uniform(mix(key ^ np.uint64(0xD1B54A32D192ED03)))
    return np.sqrt(-2.0 * np.log(one)) * np.cos(2.0 * np.pi * two)


@compiled
def draw_rows(first, last, starts, others, values, V, tau, noise, seed, out):
    """out[r] ~ N(Λ⁻¹ b, Λ⁻¹) with Λ = τ I + Σ v vᵀ / σ² and b = Σ y v / σ²; noise is σ²."""
    k = V.shape[1]
    L = np.empty((k, k))
    b = np.empty(k)
    for r in range(first, last):
        for i in range(k):
            b[i] = 0.0
            for j in range(k):
                L[i, j] = 0.0
            L[i, i] = tau
        for e in range(starts[r], starts[r + 1]):
            v, y = others[e], values[e]
            for i in range(k):
                b[i] += y * V[v, i] / noise
                for j in range(i + 1):
                    L[i, j] += V[v, i] * V[v, j] / noise
        for j in range(k):  # Cholesky, and L w = b on the way
            for i in range(j):
                s = L[j, i]
                for l in range(i):
                    s -= L[j, l] * L[i, l]
                L[j, i] = s / L[i, i]
            s = L[j, j]
            for l in range(j):
                s -= L[j, l] * L[j, l]
            L[j, j] = np.sqrt(s)
            s = b[j]
            for l in range(j):
                s -= L[j, l] * b[l]
            b[j] = s / L[j, j]
        key = mix(np.uint64(seed) + mix(np.uint64(r)))
        for j in range(k):
            b[j] += normal(mix(key + np.uint64(j)))
        for j in range(k - 1, -1, -1):  # Lᵀ u = w + z
            s = b[j]
            for l in range(j + 1, k):
                s -= L[l, j] * b[l]
            b[j] = s / L[j, j]
        for j in range(k):
            out[r, j] = b[j]
