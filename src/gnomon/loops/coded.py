"""Growing one tree from byte codes: the quick way of forests. Codes of numeric columns only; 255 is missing.

Nodes come out in preorder; their random numbers come from their paths. The rows of a small node are copied
together, so that the work on its subtree stays in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.coded_cuts import (
    CODE,
    FOUND,
    NEXT,
    SCORE,
    SIDE,
    best_cut,
    gather,
    measure_numbers,
    measure_two,
    random_cut,
)
from gnomon.loops.coded_cuts_classes import best_of_classes, measure_classes, random_of_classes
from gnomon.loops.draws import mix
from gnomon.loops.trees import BARE, ENTRY, MISSING_CODE, TIE, draw_feature

NUMBERS, TWO_CLASSES, CLASSES = 0, 1, 2
LO, HI, DEPTH, PARENT = range(4)  # a node that waits
FEATURE, RIGHT, MISSING_LEFT, ROWS = range(4)  # whole numbers of a node
THRESHOLD, IMPURITY, TOTAL, GAIN = range(4)  # floats of a node


class CodedRules(NamedTuple):
    """When and how to split."""

    kind: int  # NUMBERS, TWO_CLASSES or CLASSES
    width: int  # values of a node: one, or a share for every class
    random: bool
    max_depth: int
    max_features: int
    block: int  # rows of a node that are copied together; 0: never
    min_split: float  # weight of a node that may be split
    min_leaf: float  # weight of a leaf
    min_decrease: float  # already times the total weight


class Rows(NamedTuple):
    """What a node is split from: code f of row i is codes[f * step_f + i * step_i]."""

    codes: np.ndarray
    step_f: int
    step_i: int
    order: np.ndarray  # uint32
    w: np.ndarray
    y: np.ndarray  # class or number


class Work(NamedTuple):
    """Work arrays of one growing tree."""

    weights: np.ndarray  # (n,) of a node's rows
    moments: np.ndarray  # (n,) of a node's rows; the class where there are many
    own: np.ndarray  # (n,) uint8 codes of a node's rows
    spare: np.ndarray  # (n,) uint32
    sums: np.ndarray  # 256 times weight and moments; zero between calls
    present: np.ndarray  # (257,) int64 the codes that occur
    total: np.ndarray  # weight and moments of a node
    left: np.ndarray  # the same of a left side
    cut: np.ndarray  # (6,) of a feature
    best: np.ndarray  # (6,) of a node
    features: np.ndarray  # (d,) int64, in natural order between calls
    swaps: np.ndarray  # (d,) int64


# A node


@compiled(**BARE)
def keep_better(f, cut, best_f, best, tie):
    """Take over the cut of feature f when it beats the best; ties go to the lower feature."""
    ahead = cut[SCORE] > best[SCORE] + tie or (cut[SCORE] >= best[SCORE] - tie and f < best_f)
    if cut[FOUND] == 0.0 or (best_f >= 0 and not ahead):
        return best_f
    for k in range(6):
        best[k] = cut[k]
    return f


@compiled(**BARE)
def cut_feature(rows, f, lo, hi, limits, rules, key, tie, work):
    """Best or random cut of a feature, into work.cut; returns whether the feature varies."""
    weights, moments, total, cut, n = work.weights, work.moments, work.total, work.cut, hi - lo
    if rules.random:
        gather(rows.codes, f * rows.step_f, rows.step_i, rows.order, lo, hi, work.own)
        if rules.kind == CLASSES:
            return random_of_classes(work.own, n, limits, 512 * f, key, weights, moments, total, rules.min_leaf,
                                     tie, work.left, cut)  # fmt: skip
        return random_cut(
            work.own, n, limits, 512 * f, key, weights, moments, total, rules.min_leaf, tie, cut
        )
    if rules.kind == CLASSES:
        return best_of_classes(rows.codes, f * rows.step_f, rows.step_i, rows.order, lo, hi, weights, moments,
                               work.sums, work.present, total, rules.min_leaf, tie, work.left, cut)  # fmt: skip
    return best_cut(rows.codes, f * rows.step_f, rows.step_i, rows.order, lo, hi, weights, moments, work.sums,
                    work.present, total, rules.min_leaf, tie, cut)  # fmt: skip


@compiled(**BARE)
def search(rows, lo, hi, limits, rules, key, tie, work):
    """Best cut over features in random order, into work.best; returns its feature, or -1."""
    features, swaps = work.features, work.swaps
    best_f, tried, at, draw = -1, 0, 0, key
    while at < features.size and tried < rules.max_features:
        swaps[at] = at
        if rules.max_features < features.size:
            draw = mix(draw)
            swaps[at] = draw_feature(features, at, draw)
        f = features[at]
        at += 1
        work.cut[FOUND] = 0.0
        tried += cut_feature(rows, f, lo, hi, limits, rules, key ^ mix(np.uint64(f)), tie, work)
        best_f = keep_better(f, work.cut, best_f, work.best, tie)
    for k in range(at - 1, -1, -1):
        j = swaps[k]
        features[k], features[j] = features[j], features[k]
    return best_f


@compiled(**BARE)
def threshold_of(random, best, limits, base):
    """Where to cut: between the codes on both sides; +inf when only missing rows go right."""
    if random:
        return best[NEXT]
    if best[NEXT] < 0.0:
        return np.inf
    a, b = limits[base + 2 * np.int64(best[CODE]) + 1], limits[base + 2 * np.int64(best[NEXT])]
    middle = a + (b - a) * 0.5
    return middle if middle < b else a


@compiled(**BARE)
def partition(codes, start, step, order, lo, hi, code, missing_left, spare):
    """Bring the rows that go left to the front, in their order; returns how many."""
    a, b = lo, 0
    for k in range(lo, hi):
        i = order[k]
        c = codes[start + step * np.int64(i)]
        go = np.int64(missing_left if c == MISSING_CODE else c <= code)
        order[a], spare[b] = i, i
        a += go
        b += 1 - go
    for k in range(b):
        order[a + k] = spare[k]
    return a - lo


@compiled(**BARE)
def split(rows, lo, hi, depth, limits, rules, key, work, ints, floats, values, node):
    """Measure a node and split it where it pays; returns how many rows go left, 0 for a leaf."""
    if rules.kind == TWO_CLASSES:
        found = measure_two(
            rows.order, lo, hi, rows.w, rows.y, work.weights, work.moments, work.total, values, node
        )
    elif rules.kind == CLASSES:
        found = measure_classes(
            rows.order, lo, hi, rows.w, rows.y, work.weights, work.moments, work.total, values, node
        )
    else:
        found = measure_numbers(
            rows.order, lo, hi, rows.w, rows.y, work.weights, work.moments, work.total, values, node
        )
    best, weight, impurity = work.best, work.total[0], found[0]
    ints[node, FEATURE], ints[node, RIGHT], ints[node, MISSING_LEFT], ints[node, ROWS] = -2, -1, 0, hi - lo
    floats[node, THRESHOLD], floats[node, IMPURITY] = -2.0, impurity
    floats[node, TOTAL], floats[node, GAIN] = weight, 0.0
    if not found[1] or depth >= rules.max_depth or weight < max(rules.min_split, 2.0 * rules.min_leaf):
        return 0
    factor = weight * (2.0 if rules.kind == TWO_CLASSES else 1.0)
    f = search(rows, lo, hi, limits, rules, key, TIE * impurity * weight / factor, work)
    if f < 0 or factor * best[SCORE] + 1e-15 < rules.min_decrease:
        return 0
    ints[node, FEATURE], ints[node, MISSING_LEFT] = f, best[SIDE] > 0.0
    floats[node, THRESHOLD] = threshold_of(rules.random, best, limits, 512 * f)
    floats[node, GAIN] = factor * best[SCORE]
    return partition(rows.codes, f * rows.step_f, rows.step_i, rows.order, lo, hi, np.int64(best[CODE]),
                     best[SIDE] > 0.0, work.spare)  # fmt: skip


# A tree


@compiled(**BARE)
def copy_rows(rows, lo, hi, near):
    """Bring the codes, weights and targets of a node's rows together, row by row."""
    order, d = rows.order, near.step_i
    for f in range(d):
        for k in range(lo, hi):
            near.codes[(k - lo) * d + f] = rows.codes[f * rows.step_f + np.int64(order[k])]
    for k in range(lo, hi):
        near.w[k - lo], near.y[k - lo], near.order[k - lo] = rows.w[order[k]], rows.y[order[k]], k - lo


@compiled(**BARE)
def wait(waiting, keys, top, lo, hi, depth, parent, key):
    """Let a node wait for its turn; `parent` is the one whose right child it is, -1: none."""
    waiting[top, LO], waiting[top, HI], waiting[top, DEPTH], waiting[top, PARENT] = lo, hi, depth, parent
    keys[top] = key


@compiled(**ENTRY)
def grow_codes(rows, near, limits, rules, work, waiting, keys, ints, floats, values):
    """Grow the tree whose root waits, left before right; `near` has room for the rows of a small node.

    Fills one record per node, in preorder (the left child follows its parent), and returns their number.
    """
    top, node, base = 1, -1, -1  # base: how many wait beside the rows that are copied, -1: none are
    while top > 0:
        top -= 1
        node += 1
        lo, hi, depth, parent = waiting[top, LO], waiting[top, HI], waiting[top, DEPTH], waiting[top, PARENT]
        key = keys[top]
        if parent >= 0:
            ints[parent, RIGHT] = node
        if top < base:
            base = -1
        if base < 0 and hi - lo <= rules.block:
            copy_rows(rows, lo, hi, near)
            lo, hi, base = 0, hi - lo, top
        here = near if base >= 0 else rows
        left = split(here, lo, hi, depth, limits, rules, key, work, ints, floats, values, node)
        if left > 0:
            wait(waiting, keys, top, lo + left, hi, depth + 1, node, mix(key ^ np.uint64(3)))
            wait(waiting, keys, top + 1, lo, lo + left, depth + 1, np.int64(-1), mix(key ^ np.uint64(1)))
            top += 2
    return node + 1
