"""The order in which the leaves of a boosted tree are split: the largest gain first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import frexp, ldexp
from typing import Any

import numpy as np

from gnomon.loops import histograms as loop

Array = np.ndarray


@dataclass(slots=True, eq=False)
class Node:
    """A node of a growing tree: the rows start..end, its sums and best split, and its histograms."""

    start: int
    end: int
    depth: int
    key: int  # of its random numbers
    record: Array  # see `loops.gains`
    gain: float
    hist: Any = None  # None: filled when needed
    goes_left: Any = None  # for every code, once it is split
    children: tuple[Node, ...] = ()
    index: int = -1  # among the nodes of the tree; what was split ahead of its turn has none yet

    @property
    def size(self) -> int:
        """Rows inside."""
        return self.end - self.start

    @property
    def sums(self) -> Array:
        """Sums of g and h, and the number of rows."""
        return self.record[: loop.LOWER]


def up_to_rounding(gain: float) -> float:
    """Return a gain to some nine digits: what is equal but for rounding is a tie, and the older leaf wins.

    >>> up_to_rounding(0.1 + 0.2) == up_to_rounding(0.3)
    True
    """
    mantissa, power = frexp(gain)
    return ldexp(round(mantissa * 2**30), power)


class Frontier:
    """The leaves of a tree, and whose turn it is.

    The leaf with the largest gain is taken into the tree next. Leaves may be split before it is known whether
    their turn comes; what was split in vain stays a leaf, so the tree does not depend on it.
    """

    def __init__(self, root: Node, max_leaf_nodes: int) -> None:
        self.nodes: list[Node] = []
        self.most, self.n_leaves = max_leaf_nodes, 1
        self.queue: list[tuple[float, int, Node]] = []  # leaves of the tree by gain
        self._enter(root)

    def due(self) -> Node | None:
        """The leaf to split next; None when the tree is complete."""
        while self.queue and self.n_leaves < self.most:
            leaf = self.queue[0][-1]
            if not leaf.children:
                return leaf
            heappop(self.queue)
            self.n_leaves += 1
            for child in leaf.children:
                self._enter(child)
        return None

    @property
    def room(self) -> int:
        """How many splits the tree may still have."""
        return self.most - self.n_leaves

    def left_out(self) -> float:
        """The largest gain of a leaf of the complete tree: what gained more was split."""
        return self.queue[0][-1].gain if self.queue else 0.0

    def rival(self) -> float:
        """Gain of the leaf after the one that is due."""
        return max((leaf.gain for *_, leaf in self.queue[1:3]), default=0.0)

    def waiting(self, likely: float) -> list[Node]:
        """Leaves that are not split and gain more than `likely`, of the tree and below it, large ones first."""
        found, below = [], [leaf for *_, leaf in self.queue]
        while below:
            leaf = below.pop()
            below += leaf.children
            if not leaf.children and leaf.gain > likely:
                found.append(leaf)
        return sorted(found, key=lambda leaf: (-leaf.size, leaf.start))

    def split_in_vain(self) -> Iterator[Node]:
        """Yield the leaves of the complete tree that were split all the same."""
        for node in self.nodes:
            if node.children and node.children[0].index < 0:
                yield node

    def _enter(self, node: Node) -> None:
        node.index = len(self.nodes)
        self.nodes.append(node)
        if node.gain > 0:
            heappush(self.queue, (-up_to_rounding(node.gain), node.index, node))
