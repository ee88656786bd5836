"""Moments and counts per class, in one reading of the rows. Inputs are read-only; accumulators are float64.

NaN marks an entry that was not observed and is left out.
"""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def class_moments(X, codes, weight, shift, first, second):
    """first, second [k, j] += Σ w z, Σ w z² over the rows of class k, with z = x_j − shift[j]."""
    for i in range(X.shape[0]):
        k, w = codes[i], weight[i]
        for j in range(X.shape[1]):
            z = X[i, j] - shift[j]
            first[k, j] += w * z
            second[k, j] += w * z * z


@compiled
def observed_class_moments(X, codes, weight, shift, mass, first, second):
    """The same where entries may be missing: mass[k, j] += Σ w over the rows whose entry j is there."""
    for i in range(X.shape[0]):
        k, w = codes[i], weight[i]
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                z = X[i, j] - shift[j]
                mass[k, j] += w
                first[k, j] += w * z
                second[k, j] += w * z * z


@compiled
def csr_class_sums(indptr, indices, data, codes, weight, sums):
    """sums[k, j] += Σ w x_j over the rows of class k."""
    for i in range(len(indptr) - 1):
        k, w = codes[i], weight[i]
        for p in range(indptr[i], indptr[i + 1]):
            sums[k, indices[p]] += w * data[p]


@compiled
def category_counts(X, codes, weight, counts):
    """counts[k, j, x_j] += w; entries that are NaN are left out."""
    for i in range(X.shape[0]):
        k, w = codes[i], weight[i]
        for j in range(X.shape[1]):
            x = X[i, j]
            if x >= 0:
                counts[k, j, int(x)] += w


@compiled
def category_scores(X, tables, sizes, scores):
    """scores[i, k] += Σ_j tables[j, x_ij, k]; entries that are NaN or no known category are left out."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[i, j]
            if x >= 0 and x < sizes[j]:
                for k in range(scores.shape[1]):
                    scores[i, k] += tables[j, int(x), k]
