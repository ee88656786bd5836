"""Byte codes of columns. NaN becomes 255; X is read-only and may be float32."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import ENTRY


@compiled(**ENTRY)
def code_rows(X, edges, categories, first, codes):
    """codes[f, first + i] = how many borders of column f lie below X[i, f]; an unknown category counts as
    missing.
    """
    one = np.uint64(1)
    for f in range(X.shape[1]):
        borders, line, n_categories = edges[f], codes[f], categories[f]
        for i in range(X.shape[0]):
            v, at, step = X[i, f], np.uint64(0), np.uint64(128)
            while step > np.uint64(0):  # borders beyond the last bin are +inf
                at += step * np.uint64(v > borders[at + step - one])
                step >>= one
            known = v == v and (n_categories == 0 or (v >= 0 and v < n_categories))
            line[first + i] = at if known else np.uint64(255)


@compiled(**ENTRY)
def pack_codes(codes, first, last, words):
    """words[i, b] = the codes of the features 8b..8b+7 of row i, one byte each, for rows first..last-1."""
    for b in range(words.shape[1]):
        for i in range(first, last):
            words[i, b] = 0
        for j in range(min(8, codes.shape[0] - 8 * b)):
            line, shift = codes[8 * b + j], 8 * j
            for i in range(first, last):
                words[i, b] |= line[i] << shift
