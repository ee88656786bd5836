"""Byte codes of columns. NaN becomes 255; X is read-only and may be float32."""

from __future__ import annotations

from gnomon.loops._compile import compiled


@compiled
def code_column(x, edges, n_categories, codes):
    """codes[i] = how many borders lie below x[i]; an unknown category counts as missing."""
    for i in range(x.size):
        v = x[i]
        if v != v or (n_categories > 0 and not (v >= 0 and v < n_categories)):
            codes[i] = 255
            continue
        at = 0
        step = 128
        while step > 0:  # borders beyond the last bin are +inf
            at += step * (v > edges[at + step - 1])
            step >>= 1
        codes[i] = at


@compiled
def pack_codes(codes, first, last, words):
    """words[i, b] = the codes of the features 8b..8b+7 of row i, one byte each, for rows first..last-1."""
    for b in range(words.shape[1]):
        for i in range(first, last):
            words[i, b] = 0
        for j in range(min(8, codes.shape[0] - 8 * b)):
            line, shift = codes[8 * b + j], 8 * j
            for i in range(first, last):
                words[i, b] |= line[i] << shift
