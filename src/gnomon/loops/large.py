"""The parts of `loops.grow.grow` one by one, for large nodes that all threads split together.

They are compiled when the first large node is met: small data do not pay for them.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.grow import child_key, mark_sides, measure_node, partition
from gnomon.loops.search import HI, LO, search_node
from gnomon.loops.trees import ENTRY, new_notes


@compiled(**ENTRY)
def measure(rules, order, labels, target, wr, ints, floats, total, value):
    """Fill a node's totals and value; returns whether it may be split."""
    return measure_node(order, labels, target, wr, rules, ints, floats, total, value)


@compiled(**ENTRY)
def search_part(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value,
                key, first, last, mask):  # fmt: skip
    """Best split of a node over the features first..last-1, into its record."""
    m, n = rules.n_stats, ints[HI] - ints[LO]
    size = n if rules.exact else 256
    notes, power, keys = new_notes(m, mask.size)
    search_node(columns, codes, limits, kinds, labels, target, wr, rules, order, ints, floats, total, value,
                key, first, last, mask, np.empty(mask.size, np.uint8), np.zeros((size, m + 2)),
                np.zeros((max(mask.size, 512), m + 4)), np.zeros((size, 3)), notes, power, keys,
                np.empty(kinds.shape[0], np.int64))  # fmt: skip


@compiled(**ENTRY)
def mark(columns, codes, exact, order, ints, floats, mask, side):
    """side[i] = 1 for the rows that go left; returns how many."""
    return mark_sides(columns, codes, exact, order, ints, floats, mask, side)


@compiled(**ENTRY)
def part_lines(order, columns, exact, first, last, lo, hi, n_left, side):
    """Stable partition of the lines first..last-1 of `order` and of the sorted values beside them."""
    spare, spare_x = np.empty(hi - lo, order.dtype), np.empty(hi - lo if exact else 1)
    partition(order, columns, exact, first, last, lo, hi, n_left, side, spare, spare_x)


@compiled(**ENTRY)
def keys_of_children(key):
    """The random keys of the left and the right child."""
    return child_key(key, np.int64(0)), child_key(key, np.int64(1))
