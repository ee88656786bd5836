"""The parts of `loops.grow.grow` one by one, for large nodes that all threads split together.

They are compiled when the first large node is met: small data do not pay for them.
"""

from __future__ import annotations

from gnomon.loops._compile import compiled
from gnomon.loops.grow import child_key, mark_sides, measure_node, partition
from gnomon.loops.search import search_node
from gnomon.loops.trees import ENTRY


@compiled(**ENTRY)
def measure(rules, order, labels, target, wr, ints, floats, total, value):
    """Fill a node's totals and value; returns whether it may be split."""
    return measure_node(order, labels, target, wr, rules, ints, floats, total, value)


@compiled(**ENTRY)
def search_part(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value,
                key, first, last, masks, best_mask, groups, ranked, marks, notes, power, keys, features):  # fmt: skip
    """Best split of a node over the features first..last-1, into its record."""
    search_node(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value, key,
                first, last, masks, 0, best_mask, groups, ranked, marks, notes, power, keys,
                features)  # fmt: skip


@compiled(**ENTRY)
def mark(columns, codes, order, ints, floats, masks, side):
    """side[i] = 1 for the rows that go left; returns how many."""
    return mark_sides(columns, codes, order, ints, floats, masks, 0, side)


@compiled(**ENTRY)
def part_lines(order, columns, first, last, lo, hi, n_left, side, spare, spare_x):
    """Stable partition of the lines first..last-1 of `order` and of the sorted values beside them."""
    partition(order, columns, first, last, lo, hi, n_left, side, spare, spare_x)


@compiled(**ENTRY)
def keys_of_children(key):
    """The random keys of the left and the right child."""
    return child_key(key, 0), child_key(key, 1)
