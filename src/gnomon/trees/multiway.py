"""Multiway trees (ID3): one branch per category, empty branches answer with their parent's majority."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.trees.nodes import LEAF, Tree
from gnomon.trees.problems import Growth, repetitions
from gnomon.trees.splits import impurity

Array = np.ndarray


class _Grower:
    """Grows one tree; numeric features get a two-way split and may be used again."""

    def __init__(
        self, X: Array, y: Array, weight: Array, n_classes: int, counts: Array, criterion: str, growth: Growth
    ) -> None:
        self.growth, self.reps, self.total = growth, repetitions(weight), float(weight.sum())
        self.X, self.y, self.weight, self.n_classes = X, y, weight, n_classes
        self.counts, self.ratio = counts, criterion == "gain_ratio"
        self.criterion = "entropy" if self.ratio else criterion
        self.nodes: list[dict[str, Any]] = []

    def shares(self, rows: Array) -> Array:
        return np.bincount(self.y[rows], weights=self.weight[rows], minlength=self.n_classes)

    def gain(self, rows: Array, parts: list[Array]) -> float:
        """Improvement of a split into parts, divided by the split's entropy for the gain ratio."""
        whole, pieces = self.shares(rows), [self.shares(part) for part in parts]
        sizes = np.array([piece.sum() for piece in pieces])
        inside = sum(s * impurity(p, self.criterion) for s, p in zip(sizes, pieces) if s > 0) / sizes.sum()
        found = impurity(whole, self.criterion) - inside
        if not self.ratio:
            return float(found)
        spread = impurity(sizes, "entropy")
        return float(found / spread) if spread > 0 else 0.0

    def best(self, rows: Array, used: frozenset[int]) -> tuple[float, int, float]:
        """Return gain, feature and threshold (NaN for categories) of the best split; -1 for none."""
        top = (-np.inf, -1, np.nan)
        for f in range(self.X.shape[1]):
            for gain, threshold in self.candidates(rows, f, used):
                if gain > top[0] + 1e-12 and self.allows(self.parts(rows, f, threshold)):
                    top = (gain, f, threshold)
        return top

    def parts(self, rows: Array, f: int, threshold: float) -> list[Array]:
        """Return the rows of every branch of a split."""
        x = self.X[rows, f]
        if self.counts[f] > 0:
            return [rows[x == c] for c in range(self.counts[f])]
        return [rows[x <= threshold], rows[~(x <= threshold)]]

    def allows(self, parts: list[Array]) -> bool:
        """Tell whether every branch that has rows has enough of them."""
        limit = self.growth
        return all(
            self.reps[part].sum() >= limit.min_samples_leaf
            and self.weight[part].sum() >= limit.min_weight_leaf
            for part in parts
            if len(part)
        )

    def candidates(self, rows: Array, f: int, used: frozenset[int]) -> list[tuple[float, float]]:
        x = self.X[rows, f]
        if self.counts[f] > 0:
            if f in used or len(np.unique(x[~np.isnan(x)])) < 1:
                return []
            return [(self.gain(rows, [rows[x == c] for c in range(self.counts[f])]), np.nan)]
        values = np.unique(x[~np.isnan(x)])
        cuts = values[:-1] + np.diff(values) / 2
        return [(self.gain(rows, [rows[x <= t], rows[~(x <= t)]]), t) for t in cuts]

    def add(self, rows: Array, depth: int, parent: Array | None) -> int:
        share = self.shares(rows)
        total = share.sum()
        value = share / total if total > 0 else parent
        node: dict[str, Any] = {"feature": LEAF, "threshold": -2.0, "left": -1, "right": -1, "table": None}
        node |= {"value": value, "weight": total, "rows": len(rows), "gain": 0.0, "order": 0, "missing": 0}
        node["impurity"] = impurity(share, self.criterion) if total > 0 else 0.0
        self.nodes.append(node)
        return len(self.nodes) - 1

    def grow(self, at: int, rows: Array, depth: int, used: frozenset[int], max_depth: float) -> None:
        node = self.nodes[at]
        large = self.reps[rows].sum() >= self.growth.min_samples_split
        if depth >= max_depth or node["impurity"] <= 1e-12 or len(rows) < 2 or not large:
            return
        gain, f, threshold = self.best(rows, used)
        least = self.growth.min_impurity_decrease * self.total
        if f < 0 or gain * node["weight"] < least - 1e-12 * node["impurity"] * node["weight"]:
            return
        node |= {"feature": f, "threshold": threshold, "gain": max(gain, 0.0) * node["weight"]}
        node["order"] = 1 + sum(other["order"] > 0 for other in self.nodes)
        parts, below = self.parts(rows, f, threshold), used | ({f} if self.counts[f] > 0 else set())
        children = []
        for part in parts:
            child = self.add(part, depth + 1, node["value"])
            children.append(child)
            if len(part):
                self.grow(child, part, depth + 1, below, max_depth)
        node["left"], node["right"] = children[0], children[-1]
        if self.counts[f] > 0:
            node |= {"table": [*children, at], "missing": -1}  # an unseen category ends the walk here


def grow_multiway(
    X: Array, y: Array, weight: Array, n_classes: int, counts: Array, criterion: str, growth: Growth
) -> Tree:
    """Grow an ID3 tree."""
    grower = _Grower(X, y, weight, n_classes, counts, criterion, growth)
    everything = np.arange(len(X))
    root = grower.add(everything, 0, None)
    grower.grow(root, everything, 0, frozenset(), growth.max_depth)
    nodes = grower.nodes

    def column(name: str, kind: Any) -> Array:
        return np.array([node[name] for node in nodes], dtype=kind)

    start, count, branches = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes), np.int32), []
    for t, node in enumerate(nodes):
        if node["table"] is not None:
            start[t], count[t] = len(branches), len(node["table"]) - 1
            branches += node["table"]
    return Tree(
        column("feature", np.int32),
        column("threshold", np.float64),
        column("left", np.int32),
        column("right", np.int32),
        column("missing", np.int8),
        column("value", np.float64)[:, None, :],
        column("impurity", np.float64),
        column("rows", np.int64),
        column("weight", np.float64),
        column("gain", np.float64),
        column("order", np.int64),
        start,
        count,
        np.array(branches, dtype=np.int32),
    )
