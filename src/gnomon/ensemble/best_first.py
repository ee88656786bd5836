"""The order in which the leaves of a boosted tree are split: the largest gain first, by many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import frexp, ldexp
from typing import Any

import numpy as np

from gnomon.core.threads import shared
from gnomon.loops import histograms as loop

Array = np.ndarray


@dataclass(slots=True, eq=False)
class Node:
    """A node of a growing tree: the rows start..end, its sums and best split, and its histograms."""

    start: int
    end: int
    depth: int
    path: int  # 1 for the root; 2p and 2p + 1 for the children of p
    record: Array  # see `loops.histograms`
    gain: float = 0.0
    hist: Any = None
    goes_left: Any = None  # for every code, once it is split
    children: tuple[Node, ...] = ()
    index: int = -1  # among the nodes of the tree; a node split ahead of its turn has none yet
    begun: bool = False  # some thread splits it, or has done so

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

    The leaf with the largest gain is taken into the tree next. While one thread splits it, the others split
    the leaves that will probably follow: those that gain more than `likely`, the least gain of the last tree.
    What was split in vain stays a leaf, so the tree is the same on any number of threads.
    """

    def __init__(self, root: Node, max_leaf_nodes: int, likely: float) -> None:
        self.nodes: list[Node] = []
        self.most, self.n_leaves, self.likely, self.least = max_leaf_nodes, 1, likely, 0.0
        self.early = 0  # leaves begun that are not yet taken in
        self.queue: list[tuple[float, int, Node]] = []  # leaves of the tree by gain
        self.ahead: list[tuple[float, int, Node]] = []  # leaves nobody has begun, of the tree or below it
        self.number, self.failed, self.turn = count(), False, threading.Condition()
        self._note(root)
        self._enter(root)

    def due(self) -> Node | None:
        """The leaf to split next; None when the tree is complete."""
        while self.queue and self.n_leaves < self.most:
            leaf = self.queue[0][-1]
            if not leaf.children:
                return leaf
            self.least = heappop(self.queue)[-1].gain
            self.n_leaves += 1
            self.early -= 1
            for child in leaf.children:
                self._enter(child)
        return None

    def begin(self) -> Node | None:
        """Take a leaf to split, waiting for one if need be; None when the tree is complete."""
        with self.turn:
            while (leaf := self.due()) is not None and not self.failed:
                if leaf.begun:
                    leaf = self._next_ahead()
                if leaf is not None:
                    leaf.begun = True
                    self.early += 1
                    return leaf
                self.turn.wait()
        return None

    def end(self, leaf: Node, children: tuple[Node, ...]) -> None:
        """Hand in the children of a leaf."""
        with self.turn:
            leaf.children = children
            for child in children:
                self._note(child)
            self.turn.notify_all()

    def split_all(self, split: Callable[[Node], tuple[Node, ...]], n_threads: int) -> None:
        """Split leaves on all threads until the tree is complete."""

        def work(_: int) -> None:
            try:
                while (leaf := self.begin()) is not None:
                    self.end(leaf, split(leaf))
            except BaseException:
                with self.turn:
                    self.failed = True
                    self.turn.notify_all()
                raise

        shared(work, range(n_threads))

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

    def _note(self, node: Node) -> None:
        if node.gain > 0:
            heappush(self.ahead, (-node.gain, next(self.number), node))

    def _next_ahead(self) -> Node | None:
        while self.ahead and self.ahead[0][-1].begun:
            heappop(self.ahead)
        room = self.n_leaves + self.early < self.most
        if room and self.ahead and self.ahead[0][-1].gain > self.likely:
            return heappop(self.ahead)[-1]
        return None
