"""The best split of a node: features in random order, each searched the quickest way, the best one kept."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.counts import (
    C_CODE,
    C_FOUND,
    C_GAIN,
    C_NEXT,
    C_SIDE,
    C_WEIGHT,
    cut_counts,
    fetch_rows,
    forget,
    random_cut,
    spread,
    tally,
)
from gnomon.loops.trees import (
    ERROR,
    GINI,
    INNER,
    MISSING_CODE,
    POISSON,
    SMALL_NODE,
    TIE,
    cumulate,
    cut_between,
    enumerate_categories,
    first_cut,
    groups_of_codes,
    groups_of_few,
    groups_of_sorted,
    judge,
    loss_of,
    mark_categories,
    mix,
    order_categories,
    uniform,
)

# Columns of the integer and float records of a node.
FEATURE, LEFT, RIGHT, LO, HI, DEPTH, MISSING_LEFT, CODE, MASK, ROWS, CREATED, KEY = range(12)
THRESHOLD, IMPURITY, WEIGHT, REPS, GAIN, LOWER, UPPER = range(7)
N_INT, N_FLOAT = 12, 7

B_GAIN, B_THRESHOLD, B_CODE, B_MISSING_LEFT, B_FOUND = range(5)  # the best split of one feature


@compiled(**INNER)
def by_counts(rules):
    """Whether class counts by code are all that a split needs."""
    return not rules.exact and rules.criterion == GINI and rules.plain > 0 and not rules.constrained


@compiled(**INNER)
def draw_feature(rules, at, key, features):
    """Bring a random one of the features from `at` on to that place (Fisher-Yates); returns the next key.

    When all features are tried they keep their natural order.
    """
    if rules.max_features >= features.size or at >= features.size - 1:
        return key
    key = mix(key)
    j = at + np.int64(key % np.uint64(features.size - at))
    features[at], features[j] = features[j], features[at]
    return key


@compiled(**INNER)
def search_counts(rules, codes, f, limits, order, lo, hi, key, parent, total, tie, work, best):
    """Best cut of a numeric column of codes by class counts; returns 1, 0 for a constant column, or -1 when
    a random cut meets missing values, which this way cannot place.
    """
    least = max(rules.min_samples_leaf, rules.min_weight_leaf, 1.0)
    gap, cut = False, work.cut
    if rules.random:
        low, high, gap = spread(codes, f, order, lo, hi, work)
        if gap or low == high:
            return -1 if gap else 0
        x = limits[f, low, 0] + uniform(key) * (limits[f, high, 1] - limits[f, low, 0])
        random_cut(hi - lo, limits, f, low, high, x, parent, total, least, work)
    else:
        n = tally(codes, f, order, lo, hi, work)
        gap = work.seen[MISSING_CODE] > 0
        cut_counts(n, parent, total, least, tie, work)
        forget(n, work)
        if n < 2:
            return 0
    code, after = np.int64(cut[C_CODE]), np.int64(cut[C_NEXT])
    best[B_THRESHOLD] = np.inf
    if after >= 0:
        a, b = limits[f, code, 1], limits[f, after, 0]
        middle = a + (b - a) * 0.5
        best[B_THRESHOLD] = middle if middle < b else a
    best[B_GAIN], best[B_CODE], best[B_FOUND] = cut[C_GAIN], code, cut[C_FOUND]
    best[B_MISSING_LEFT] = cut[C_SIDE] if gap else 2.0 * cut[C_WEIGHT] > total[1]
    return 1


@compiled(**INNER)
def search_groups(rules, kinds, exact_values, codes, limits, rows, labels, target, wr, center, key, f, total,
                  parent, floats, tie, groups, ranked, marks, best_mask, best):  # fmt: skip
    """Best split of any column by any criterion; returns whether the column varies."""
    m, classify, shift = rules.n_stats, rules.criterion <= ERROR, 0.0
    if not classify:
        shift = center[0]
    missing, place = np.zeros(m + 2), np.zeros(5)
    if rules.exact:
        n_groups = groups_of_sorted(
            exact_values, rows, labels, target, wr, classify, rules.plain, center, groups, marks, missing
        )
    elif rows.size <= SMALL_NODE:
        n_groups = groups_of_few(
            codes, limits, rows, labels, target, wr, classify, center, groups, marks, missing
        )
    else:
        n_groups = groups_of_codes(
            codes, limits, rows, labels, target, wr, classify, rules.plain, center, groups, marks, missing
        )
    gap, categorical = missing[0] > 0.0, kinds[0] > 0
    if n_groups == 0 or (n_groups == 1 and not gap):
        return False
    begin, end, pick, lefts = 0, n_groups, np.nan, groups
    every = categorical and m > 2 and n_groups <= 10
    if every:
        enumerate_categories(n_groups, m, groups, ranked)
        end, lefts = 2 ** (n_groups - 1), ranked
    else:
        if categorical:
            order_categories(classify, m, n_groups, groups, ranked)
            lefts = ranked
        elif rules.random and n_groups > 1:
            begin, pick = first_cut(n_groups, marks, f, key)
            end = begin + 1
        cumulate(lefts, n_groups, m)
    for side in range(2 if gap else 1):
        judge(rules, kinds[1], lefts, begin, end, missing, side, total, parent, floats[LOWER], floats[UPPER],
              shift, tie, place)  # fmt: skip
    g = np.int64(place[1])
    best[B_GAIN], best[B_FOUND], best[B_THRESHOLD], best[B_CODE] = place[0], place[4], np.nan, 0.0
    best[B_MISSING_LEFT] = place[2] if gap else place[3] > floats[WEIGHT] - place[3]
    if categorical:
        mark_categories(every, m, n_groups, ranked, marks, g, best_mask)
    else:
        best[B_THRESHOLD], best[B_CODE] = cut_between(rules.exact, g, n_groups, marks, pick), marks[g, 2]
    return True


@compiled(**INNER)
def adopt_best(f, best, categorical, tie, best_mask, ints, floats, mask):
    """Take a feature's best split into the node's record when it beats what is there."""
    gain, old = best[B_GAIN], floats[GAIN]
    if best[B_FOUND] == 0.0 or not gain >= -1e3 * tie:
        return
    if ints[FEATURE] >= 0 and not (gain > old + tie or (gain >= old - tie and f < ints[FEATURE])):
        return
    ints[FEATURE], ints[MASK], ints[CODE] = f, categorical, np.int64(best[B_CODE])
    ints[MISSING_LEFT] = np.int64(best[B_MISSING_LEFT])
    floats[GAIN], floats[THRESHOLD] = max(gain, 0.0), best[B_THRESHOLD]
    if categorical:
        for c in range(mask.size):
            mask[c] = best_mask[c]


@compiled(**INNER)
def search_node(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value,
                key, first, last, mask, groups, ranked, marks, work):  # fmt: skip
    """Best split of a node over the features first..last-1 of its random order, into its record."""
    m, lo, hi = rules.n_stats, ints[LO], ints[HI]
    best, best_mask = np.zeros(5), np.zeros(mask.size, np.uint8)
    features = np.empty(kinds.shape[0], np.int64)
    for f in range(features.size):
        features[f] = f
    center = np.zeros(m) if rules.criterion == POISSON else value
    tie = TIE * abs(floats[IMPURITY] * floats[WEIGHT])
    parent = loss_of(rules.criterion, total, m)
    counted = by_counts(rules)
    if counted:
        fetch_rows(order, lo, hi, labels, wr, work)
    tried, draw = 0, key
    for at in range(first, last):
        if tried >= rules.max_features:
            break
        draw = draw_feature(rules, at, draw, features)
        f = features[at]
        best[B_FOUND], varies = 0.0, -1
        if counted and kinds[f, 0] == 0:
            varies = search_counts(rules, codes, f, limits, order, lo, hi, key ^ mix(np.uint64(f)), parent,
                                   total, tie, work, best)  # fmt: skip
        if varies < 0:
            line = f if rules.exact else 0
            own = 0 if rules.exact else f
            varies = search_groups(
                rules, kinds[f], columns[line, lo:hi], codes[own], limits[own], order[line, lo:hi], labels,
                target, wr, center, key, f, total, parent, floats, tie, groups, ranked, marks, best_mask, best,
            )  # fmt: skip
        tried += varies
        adopt_best(f, best, kinds[f, 0] > 0, tie, best_mask, ints, floats, mask)
