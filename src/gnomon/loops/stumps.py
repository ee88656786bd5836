"""Weighted-error stumps from columns sorted once: prefix sums of class weights, all cuts in one pass."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import ENTRY


@compiled(**ENTRY)
def boundaries(columns, order, first, last, cut):
    """cut[f, k] = 1 where a threshold fits between sorted places k and k+1 (NaN is not expected)."""
    for f in range(first, last):
        for k in range(order.shape[1] - 1):
            cut[f, k] = columns[f, order[f, k + 1]] > columns[f, order[f, k]]
        cut[f, order.shape[1] - 1] = 0


@compiled(**ENTRY)
def signed_stumps(order, cut, signed, total, first, last, tie, best, place):
    """Two classes: the cut of every feature with the largest |sum left - sum right| of signed weights.

    best[f] = the weight answered right minus the weight answered wrong; place[f] = sorted place, -1: none.
    """
    for f in range(first, last):
        line, here = order[f], cut[f]
        running, top, at = 0.0, -np.inf, -1
        for k in range(line.size):
            running += signed[line[k]]
            if here[k]:
                edge = abs(running - (total - running))
                if edge > top + tie:
                    top, at = edge, k
        best[f], place[f] = top, at


@compiled
def class_stumps(order, cut, labels, w, total, first, last, tie, best, place):
    """Any number of classes: best[f] = weight that the best class on each side gets right."""
    n_classes = total.size
    left = np.empty(n_classes)
    for f in range(first, last):
        line, here = order[f], cut[f]
        left[:] = 0.0
        top, at = -np.inf, -1
        for k in range(line.size):
            left[labels[line[k]]] += w[line[k]]
            if here[k]:
                a = b = -1.0
                for c in range(n_classes):
                    a, b = max(a, left[c]), max(b, total[c] - left[c])
                if a + b > top + tie:
                    top, at = a + b, k
        best[f], place[f] = top, at


@compiled
def coded_stumps(codes, signed, total, first, last, tie, best, place):
    """Two classes on byte codes (features, rows): best[f] as above, place[f] = last code on the left."""
    hist = np.empty(256)
    seen = np.empty(256, np.uint8)
    for f in range(first, last):
        line = codes[f]
        hist[:] = 0.0
        seen[:] = 0
        for i in range(line.size):
            hist[line[i]] += signed[i]
            seen[line[i]] = 1
        top_code = 255
        while top_code > 0 and seen[top_code] == 0:
            top_code -= 1
        running, top, at = 0.0, -np.inf, -1
        for c in range(top_code):
            if seen[c]:
                running += hist[c]
                edge = abs(running - (total - running))
                if edge > top + tie:
                    top, at = edge, c
        best[f], place[f] = top, at
