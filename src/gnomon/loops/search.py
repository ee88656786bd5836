"""The best split of a node: features in random order, each searched the quickest way, the best one kept.

What is None (see `search_node`) is tested for by ``is not None``: the compiler leaves out what depends on it.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.trees import (
    BARE,
    ERROR,
    POISSON,
    SMALL_NODE,
    TIE,
    arrange_categories,
    cumulate,
    cut_between,
    draw_feature,
    first_cut,
    groups_of_codes,
    groups_of_few,
    groups_of_sorted,
    judge,
    loss_of,
    mark_categories,
)

# Columns of the integer and float records of a node.
FEATURE, LEFT, RIGHT, LO, HI, DEPTH, MISSING_LEFT, CODE, MASK, ROWS, CREATED, KEY = range(12)
THRESHOLD, IMPURITY, WEIGHT, REPS, GAIN, LOWER, UPPER = range(7)
N_INT, N_FLOAT = 12, 7

B_GAIN, B_THRESHOLD, B_CODE, B_MISSING_LEFT, B_FOUND = range(5)  # the best split of one feature
PLACE, BEST, LOST, ZEROS = range(4)  # lines of the work array `notes`: (4, max(5, m + 2))


@compiled(**BARE)
def new_order(features):
    """features = 0, 1, 2, ..."""
    for f in range(features.size):
        features[f] = f


@compiled(**BARE)
def group(rules, line, codes, limits, rows, labels, target, wr, center, groups, marks, missing, keys):
    """Bring the rows of a node into groups, the quickest way; returns how many."""
    classify, plain = rules.criterion <= ERROR, rules.plain
    if line is not None:
        return groups_of_sorted(
            line, rows, labels, target, wr, classify, plain, center, groups, marks, missing
        )
    if codes is not None and rows.size <= SMALL_NODE:
        return groups_of_few(
            codes, limits, rows, labels, target, wr, classify, center, groups, marks, missing, keys
        )
    if codes is not None:
        return groups_of_codes(
            codes, limits, rows, labels, target, wr, classify, plain, center, groups, marks, missing
        )
    return 0


@compiled(**BARE)
def search_groups(rules, kinds, line, codes, limits, rows, labels, target, wr, center, key, f, total, parent,
                  floats, tie, groups, ranked, marks, notes, power, keys, best_mask):  # fmt: skip
    """Best split of any column by any criterion, into notes[BEST]; returns whether the column varies."""
    clear_notes(notes)
    n_groups = group(
        rules, line, codes, limits, rows, labels, target, wr, center, groups, marks, notes[LOST], keys
    )
    return best_cut(rules, kinds, n_groups, center, key, f, total, parent, floats, tie, groups, ranked, marks,
                    notes, power, best_mask)  # fmt: skip


@compiled(**BARE)
def clear_notes(notes):
    """Forget the missing rows and the best place of another column."""
    for k in range(notes.shape[1]):
        notes[LOST, k] = notes[PLACE, k] = 0.0


@compiled(**BARE)
def best_cut(rules, kinds, n_groups, center, key, f, total, parent, floats, tie, groups, ranked, marks, notes,
             power, best_mask):  # fmt: skip
    """Best split between the groups of a column, into notes[BEST]; returns whether the column varies."""
    m, classify, shift = rules.n_stats, rules.criterion <= ERROR, 0.0
    missing, place, best = notes[LOST], notes[PLACE], notes[BEST]
    if not classify:
        shift = center[0]
    gap, categorical = missing[0] > 0.0, kinds[0] > 0
    if n_groups == 0 or (n_groups == 1 and not gap):
        return False
    begin, end, pick, lefts = 0, n_groups, np.nan, groups
    if ranked is not None and categorical:
        end, lefts = arrange_categories(classify, m, n_groups, groups, ranked, power), ranked
    if not categorical:
        if rules.random and n_groups > 1:
            begin, pick = first_cut(n_groups, marks, f, key)
            end = begin + 1
        cumulate(groups, n_groups, m)
    for side in range(2 if gap else 1):
        judge(rules, kinds[1], lefts, begin, end, missing, side, total, parent, floats[LOWER], floats[UPPER],
              shift, tie, place)  # fmt: skip
    g = np.int64(place[1])
    best[B_GAIN], best[B_FOUND], best[B_THRESHOLD], best[B_CODE] = place[0], place[4], np.nan, 0.0
    best[B_MISSING_LEFT] = place[2] if gap else place[3] > floats[WEIGHT] - place[3]
    if ranked is not None and categorical:
        mark_categories(m, n_groups, ranked, marks, g, best_mask)
    if not categorical:
        best[B_THRESHOLD], best[B_CODE] = cut_between(g, n_groups, marks, pick), marks[g, 2]
    return True


@compiled(**BARE)
def adopt_best(f, best, categorical, tie, best_mask, ints, floats, masks, node):
    """Take a feature's best split into the node's record when it beats what is there."""
    gain, old = best[B_GAIN], floats[GAIN]
    if best[B_FOUND] == 0.0 or not gain >= -1e3 * tie:
        return
    if ints[FEATURE] >= 0 and not (gain > old + tie or (gain >= old - tie and f < ints[FEATURE])):
        return
    ints[FEATURE], ints[MASK], ints[CODE] = f, categorical, np.int64(best[B_CODE])
    ints[MISSING_LEFT] = np.int64(best[B_MISSING_LEFT])
    floats[GAIN], floats[THRESHOLD] = max(gain, 0.0), best[B_THRESHOLD]
    if masks is not None and categorical:
        for c in range(best_mask.size):
            masks[node, c] = best_mask[c]


@compiled(**BARE)
def search_node(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value,
                key, first, last, masks, node, best_mask, groups, ranked, marks, notes, power, keys,
                features):  # fmt: skip
    """Best split of a node over the features first..last-1 of its random order, into its record.

    Columns are sorted values, or codes with their limits; the others are None. So are masks, best_mask, ranked
    and power where no column is categorical.
    """
    m, lo, hi = rules.n_stats, ints[LO], ints[HI]
    center = (notes[ZEROS] if rules.criterion >= POISSON else value)[:m]
    tie = TIE * abs(floats[IMPURITY] * floats[WEIGHT])
    parent = loss_of(rules.criterion, total, m)
    tried, draw = 0, key
    new_order(features)
    for at in range(first, last):
        if tried >= rules.max_features:
            break
        if rules.max_features < features.size:
            draw = mix(draw)
            draw_feature(features, at, draw)
        f = features[at]
        notes[BEST, B_FOUND] = 0.0
        if columns is not None:
            tried += search_groups(rules, kinds[f], columns[f, lo:hi], None, None, order[f, lo:hi], labels, target,
                                   wr, center, key, f, total, parent, floats, tie, groups, ranked, marks, notes,
                                   power, keys, best_mask)  # fmt: skip
        if codes is not None:
            tried += search_groups(rules, kinds[f], None, codes[f], limits[f], order[0, lo:hi], labels, target, wr,
                                   center, key, f, total, parent, floats, tie, groups, ranked, marks, notes, power,
                                   keys, best_mask)  # fmt: skip
        adopt_best(f, notes[BEST], kinds[f, 0] > 0, tie, best_mask, ints, floats, masks, node)
