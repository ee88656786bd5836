"""Growing one tree from sparse columns: only entries that are not zero are kept, sorted and moved.

Column f owns the entries ``starts[f]..starts[f + 1]`` of `rows` and `values`, sorted by value, missing ones last. A
node has a list of the columns in which some row of it is not zero, each with its range of entries: `lists` holds
lines (column, begin, end) and `spans` the lines of every node, columns in ascending order. What the zeros of a
column add up to is the total of the node less the sums of the other entries, so a search costs as much as there are
entries. Draws, ties and limits are those of `loops.grow`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.grow import bound_children, measure_node, next_node, place_children
from gnomon.loops.search import (
    B_FOUND,
    BEST,
    CREATED,
    FEATURE,
    GAIN,
    HI,
    IMPURITY,
    KEY,
    LEFT,
    LO,
    LOST,
    LOWER,
    MASK,
    MISSING_LEFT,
    RIGHT,
    THRESHOLD,
    UPPER,
    WEIGHT,
    ZEROS,
    adopt_best,
    best_cut,
    clear_notes,
)
from gnomon.loops.trees import BARE, ENTRY, ERROR, POISSON, TIE, draw_feature, loss_of


class SparseLines(NamedTuple):
    """Entries that are not zero, and which of them belong to which node."""

    rows: np.ndarray  # (entries,) int32
    values: np.ndarray  # (entries,) float64
    lists: np.ndarray  # (2, room, 3) int64: column, begin, end; two places, from one of which lists move on
    spans: np.ndarray  # (nodes, 2) int64: the lines of every node
    features: np.ndarray  # (d,) 0, 1, 2, ... between two searches
    swaps: np.ndarray  # (d,) where a drawn feature came from
    line_of: np.ndarray  # (d,) -1 between two searches
    spare: np.ndarray  # (entries or rows,) int32
    spare_values: np.ndarray  # (entries,)


@compiled(**BARE)
def add_entry(groups, g, w, r, i, classify, labels, target, center):
    """Add a row to the statistics of a group."""
    groups[g, 0] += r
    groups[g, 1] += w
    if classify:
        groups[g, 2 + labels[i]] += w
    for o in range(0 if classify else center.size):
        groups[g, 2 + o] += w * (target[i, o] - center[o])


@compiled(**BARE)
def new_group(groups, marks, g, x):
    """Begin a group at the value x."""
    for k in range(groups.shape[1]):
        groups[g, k] = 0.0
    marks[g, 0] = marks[g, 1] = marks[g, 2] = x


@compiled(**BARE)
def groups_of_entries(values, rows, size, labels, target, wr, classify, center, total, groups, marks, notes):
    """Groups of equal values along the entries of a node of `size` rows, the zeros among them; returns how many."""
    g, zeros, has_zeros = np.int64(-1), np.int64(-1), size > rows.size
    m, last = center.size, np.nan
    for at in range(rows.size):
        i, x = rows[at], values[at]
        if x != x:
            add_entry(notes, LOST, wr[i, 0], wr[i, 1], i, classify, labels, target, center)
            continue
        if has_zeros and zeros < 0 and x > 0.0:
            g += 1
            zeros = g
            new_group(groups, marks, g, 0.0)
        if x != last:
            g += 1
            new_group(groups, marks, g, x)
            last = x
        add_entry(groups, g, wr[i, 0], wr[i, 1], i, classify, labels, target, center)
    if not has_zeros:
        return g + 1
    if zeros < 0:
        g += 1
        zeros = g
        new_group(groups, marks, g, 0.0)
    for k in range(m + 2):
        rest = total[k] - notes[LOST, k]
        for h in range(g + 1):
            if h != zeros:
                rest -= groups[h, k]
        groups[zeros, k] = max(rest, 0.0) if classify or k < 2 else rest
    return g + 1


@compiled(**BARE)
def search_lines(lines, place, node, kinds, labels, target, wr, rules, ints, floats, total, value, groups, marks,
                 notes):  # fmt: skip
    """Best split of a node into its record: as `loops.search.search_node`, from the entries that are not zero."""
    lists, features, m = lines.lists[place], lines.features, rules.n_stats
    begin, end, d = lines.spans[node, 0], lines.spans[node, 1], lines.features.size
    center = (notes[ZEROS] if rules.criterion >= POISSON else value)[:m]
    tie = TIE * abs(floats[IMPURITY] * floats[WEIGHT])
    parent, key = loss_of(rules.criterion, total, m), np.uint64(ints[KEY])
    draws = rules.max_features < d
    if draws:
        for at in range(begin, end):
            lines.line_of[lists[at, 0]] = at
    tried, met, drawn, draw = 0, 0, 0, key
    while tried < rules.max_features and met < end - begin:
        line = begin + met
        if draws:
            draw = mix(draw)
            lines.swaps[drawn] = draw_feature(features, drawn, draw)
            line = lines.line_of[features[drawn]]
            drawn += 1
            if line < 0:
                continue
        met += 1
        f, first, last = lists[line, 0], lists[line, 1], lists[line, 2]
        notes[BEST, B_FOUND] = 0.0
        clear_notes(notes)
        n_groups = groups_of_entries(lines.values[first:last], lines.rows[first:last], ints[HI] - ints[LO], labels,
                                     target, wr, rules.criterion <= ERROR, center, total, groups, marks,
                                     notes)  # fmt: skip
        tried += best_cut(rules, kinds[f], n_groups, center, key, f, total, parent, floats, tie, groups, None, marks,
                          notes, None, None)  # fmt: skip
        adopt_best(f, notes[BEST], False, tie, None, ints, floats, None, node)
    for at in range(drawn - 1, -1, -1):  # undo the draws
        j = lines.swaps[at]
        features[at], features[j] = features[j], features[at]
    if draws:
        for at in range(begin, end):
            lines.line_of[lists[at, 0]] = -1


@compiled(**BARE)
def mark_rows(lines, place, node, order, ints, floats, side):
    """side[i] = 1 for the rows of a node that go left; returns how many."""
    lists, threshold = lines.lists[place], floats[THRESHOLD]
    low, high = lines.spans[node, 0], lines.spans[node, 1] - 1
    while low < high:
        middle = (low + high) // 2
        if lists[middle, 0] < ints[FEATURE]:
            low = middle + 1
        else:
            high = middle
    zero, left = np.uint8(0.0 <= threshold), 0
    for k in range(ints[LO], ints[HI]):
        side[order[0, k]] = zero
    for k in range(lists[low, 1], lists[low, 2]):
        x = lines.values[k]
        side[lines.rows[k]] = x <= threshold if x == x else ints[MISSING_LEFT] == 1
    for k in range(ints[LO], ints[HI]):
        left += side[order[0, k]]
    return left


@compiled(**BARE)
def part_rows(line, lo, hi, side, spare):
    """Stable partition of the rows of a node."""
    a, b = lo, 0
    for k in range(lo, hi):
        i = line[k]
        spare[b] = i
        line[a] = i
        a += side[i]
        b += 1 - side[i]
    for k in range(b):
        line[a + k] = spare[k]


@compiled(**BARE)
def part_entries(rows, values, first, last, side, spare, spare_values):
    """Stable partition of entries; returns where those of the right side begin."""
    a, b = first, 0
    for k in range(first, last):
        i, x = rows[k], values[k]
        spare[b], spare_values[b] = i, x
        rows[a], values[a] = i, x
        a += side[i]
        b += 1 - side[i]
    for k in range(b):
        rows[a + k], values[a + k] = spare[k], spare_values[k]
    return a


@compiled(**BARE)
def move_list(lines, place, node, used):
    """Copy the list of a node to the other place, from line `used` on; returns where it ends."""
    begin, end = lines.spans[node, 0], lines.spans[node, 1]
    lines.spans[node, 0] = used
    for at in range(begin, end):
        for k in range(3):
            lines.lists[1 - place, used, k] = lines.lists[place, at, k]
        used += 1
    lines.spans[node, 1] = used
    return used


@compiled(**BARE)
def part_lists(lines, place, node, first, used, side):
    """Give the two children from `first` on their lists, behind line `used`; returns where they end."""
    lists = lines.lists[place]
    begin, end = lines.spans[node, 0], lines.spans[node, 1]
    lines.spans[first, 0] = used
    for at in range(begin, end):
        a, b = lists[at, 1], lists[at, 2]
        middle = part_entries(lines.rows, lines.values, a, b, side, lines.spare, lines.spare_values)
        lists[at, 2] = middle  # the left part stays in the parent's list until it is copied
        if middle < b:
            lists[used, 0], lists[used, 1], lists[used, 2] = lists[at, 0], middle, b
            used += 1
    lines.spans[first + 1, 0], lines.spans[first + 1, 1] = lines.spans[first, 0], used
    lines.spans[first, 0] = used
    for at in range(begin, end):
        if lists[at, 1] < lists[at, 2]:
            lists[used, 0], lists[used, 1], lists[used, 2] = lists[at, 0], lists[at, 1], lists[at, 2]
            used += 1
    lines.spans[first, 1] = used
    return used


@compiled(**ENTRY)
def grow_entries(lines, n_lists, kinds, labels, target, wr, rules, order, side, ints, floats, values, frontier, total,
                 groups, marks, notes):  # fmt: skip
    """Grow the tree below node 0, whose list has `n_lists` lines; returns the number of nodes."""
    best_first, place = rules.max_leaf_nodes > 0, 0
    node, first, n_nodes, n_leaves, waiting, used = -1, 0, 1, 1, 0, n_lists
    while True:
        for child in range(first, n_nodes):
            floats[child, LOWER], floats[child, UPPER] = -np.inf, np.inf
            ints[child, MASK] = measure_node(order, labels, target, wr, rules, ints[child], floats[child],
                                             total[child - first], values[child])  # fmt: skip
        if rules.constrained and node >= 0:
            bound_children(
                rules.criterion <= ERROR, kinds[ints[node, FEATURE], 1], node, first, floats, values
            )
        for child in range(n_nodes - 1, first - 1, -1):
            if ints[child, MASK] > 0:
                search_lines(lines, place, child, kinds, labels, target, wr, rules, ints[child], floats[child],
                             total[child - first], values[child], groups, marks, notes)  # fmt: skip
                if floats[child, GAIN] + 1e-15 < rules.min_decrease:
                    ints[child, FEATURE] = -1
                if ints[child, FEATURE] >= 0:
                    frontier[waiting] = child
                    waiting += 1
        if waiting == 0 or (best_first and n_leaves >= rules.max_leaf_nodes):
            break
        at = next_node(best_first, frontier, waiting, floats)
        node = frontier[at]
        if used + 2 * (lines.spans[node, 1] - lines.spans[node, 0]) > lines.lists.shape[1]:
            used = 0
            for k in range(waiting):
                used = move_list(lines, place, frontier[k], used)
            place = 1 - place
        waiting -= 1
        frontier[at] = frontier[waiting]
        n_left = mark_rows(lines, place, node, order, ints[node], floats[node], side)
        part_rows(order[0], ints[node, LO], ints[node, HI], side, lines.spare)
        first = n_nodes
        used = part_lists(lines, place, node, first, used, side)
        ints[node, LEFT], ints[node, RIGHT], ints[node, CREATED] = first, first + 1, n_leaves
        place_children(ints, node, first, n_left)
        n_nodes += 2
        n_leaves += 1
    for k in range(waiting):
        ints[frontier[k], FEATURE] = -1
    return n_nodes
