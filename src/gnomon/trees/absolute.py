"""Regression trees under the absolute error: medians in the leaves, cuts by Fenwick trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.randomness import generator
from gnomon.loops.absolute import absolute_scan, weighted_median
from gnomon.trees.nodes import LEAF, Tree
from gnomon.trees.sparse_columns import sparse_columns

Array = np.ndarray


def _ranked(y: Array) -> tuple[Array, Array]:
    """Return the different values of every output in order, padded at the end, and the places of the rows in them."""
    found = [np.unique(column, return_inverse=True) for column in y.T]
    size = max(len(levels) for levels, _ in found)
    levels = np.stack([np.pad(levels, (0, size - len(levels)), mode="edge") for levels, _ in found])
    return levels, np.stack([ranks for _, ranks in found]).astype(np.int32)


class _Grower:
    """Grows one tree node by node; a node is a set of row numbers."""

    def __init__(self, X: Any, y: Array, weight: Array, reps: Array, growth: Any, rng: Any) -> None:
        self.sparse = sparse_columns(X) if sparse.issparse(X) else None
        self.X = X if self.sparse is not None else np.ascontiguousarray(X.T, dtype=np.float64)
        self.y = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        self.wr = np.stack([weight, reps], axis=1)
        self.levels, self.ranks = _ranked(self.y)
        self.growth, self.total, self.rng = growth, weight.sum(), rng
        self.nodes: list[dict[str, Any]] = []
        self.d = X.shape[1]
        self.signs = np.zeros(self.d) if growth.monotone is None else growth.monotone

    def column(self, f: int) -> Array:
        """Return a column; that of a sparse X is filled when it is asked for, one at a time."""
        return self.X[f] if self.sparse is None else self.sparse.column(f)

    def measure(self, rows: Array, depth: int) -> dict[str, Any]:
        """Return a node that is not split yet."""
        w = self.wr[rows, 0]
        value = np.array([weighted_median(y.copy(), w.copy()) for y in self.y[rows].T])
        loss = float((w @ np.abs(self.y[rows] - value)).sum()) / len(value)
        node = {"rows": rows, "depth": depth, "value": value, "loss": loss, "weight": w.sum()}
        node |= {"lower": -np.inf, "upper": np.inf, "feature": LEAF, "gain": 0.0, "threshold": -2.0}
        return node | {"left": -1, "right": -1, "order": 0, "missing": 0}

    def add(self, node: dict[str, Any]) -> int:
        """Take a node up and look for its best split."""
        self.nodes.append(node)
        if self._may_split(node):
            self._search(node)
        return len(self.nodes) - 1

    def _may_split(self, node: dict[str, Any]) -> bool:
        g, rows = self.growth, node["rows"]
        large = self.wr[rows, 1].sum() >= max(g.min_samples_split, 2 * g.min_samples_leaf)
        varies = (self.y[rows] != self.y[rows[0]]).any()
        return large and node["depth"] < g.max_depth and node["weight"] >= 2 * g.min_weight_leaf and varies

    def _search(self, node: dict[str, Any]) -> None:
        d, g = self.d, self.growth
        features = np.arange(d) if g.max_features >= d else self.rng.permutation(d)
        seen, tie = 0, 1e-12 * node["loss"]
        for f in features:
            x, varies = self.column(f), False
            values = x[node["rows"]]
            order = np.argsort(values, kind="stable")
            gap = int(np.isnan(values).sum())
            limits = self._limits(node, f, values)
            for missing_left in range(2 if gap else 1):
                rows = node["rows"][np.roll(order, gap * missing_left)]
                best = np.zeros(4)
                varies |= absolute_scan(
                    rows, x, self.ranks, self.y, self.wr, self.levels, limits, node["loss"], best
                )
                better = node["feature"] < 0 or best[0] > node["gain"] + tie
                if best[3] > 0 and better and best[0] >= g.min_impurity_decrease * self.total - tie:
                    heavier = int(best[2] > node["weight"] - best[2])
                    node |= {"feature": int(f), "gain": max(best[0], 0.0), "threshold": best[1]}
                    node["missing"] = missing_left if gap else heavier
            seen += varies
            if seen >= g.max_features:
                return

    def _limits(self, node: dict[str, Any], f: int, values: Array) -> Array:
        """Return what `absolute_scan` wants to know of a column: what a cut must keep to, and a random cut."""
        g, pick = self.growth, np.nan
        if g.random and not np.isnan(values).all():
            low, high = np.nanmin(values), np.nanmax(values)
            pick = max(low, min(self.rng.uniform(low, high), np.nextafter(high, -np.inf)))
        bounds = node["lower"], node["upper"]
        return np.array([g.min_samples_leaf, g.min_weight_leaf, self.signs[f], *bounds, pick])

    def run(self) -> Tree:
        frontier = [self.add(self.measure(np.arange(len(self.y)), 0))]
        splits, limit = 0, self.growth.max_leaf_nodes
        while frontier and (limit == 0 or splits + 1 < limit):
            key = (lambda t: -self.nodes[t]["gain"]) if limit else (lambda t: -t)
            at = min(frontier, key=key)
            frontier.remove(at)
            node = self.nodes[at]
            if node["feature"] < 0:
                continue
            splits += 1
            node["order"] = splits
            left, right = self._children(node)
            node["right"], node["left"] = self.add(right), self.add(left)
            frontier += [node["right"], node["left"]]
        for t in frontier:
            self.nodes[t]["feature"] = LEAF
        return self._tree()

    def _children(self, node: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the two parts of a node, with values that keep to the bounds of monotone splits."""
        x = self.column(node["feature"])[node["rows"]]
        goes_left = np.where(np.isnan(x), node["missing"] == 1, x <= node["threshold"])
        left, right = (
            self.measure(node["rows"][part], node["depth"] + 1) for part in (goes_left, ~goes_left)
        )
        if self.signs.any():
            sign, ends = self.signs[node["feature"]], (left["value"][0], right["value"][0])
            half = float(np.clip(ends, node["lower"], node["upper"]).mean())
            for child, side in ((left, 1), (right, -1)):
                child["lower"] = half if sign * side < 0 else node["lower"]
                child["upper"] = half if sign * side > 0 else node["upper"]
                child["value"] = np.clip(child["value"], child["lower"], child["upper"])
        return left, right

    def _tree(self) -> Tree:
        order, stack = [], [0]
        while stack:
            t = stack.pop()
            order.append(t)
            if self.nodes[t]["left"] >= 0:
                stack += [self.nodes[t]["right"], self.nodes[t]["left"]]
        new = {t: k for k, t in enumerate(order)} | {-1: -1}
        nodes = [self.nodes[t] for t in order]
        empty = np.zeros(0, np.int32)

        def column(name: str, kind: Any) -> Array:
            return np.array([node[name] for node in nodes], dtype=kind)

        inner = column("order", np.int64) > 0
        weight = column("weight", np.float64)
        return Tree(
            np.where(inner, column("feature", np.int32), LEAF).astype(np.int32),
            np.where(inner, column("threshold", np.float64), -2.0),
            np.array([new[node["left"]] for node in nodes], dtype=np.int32),
            np.array([new[node["right"]] for node in nodes], dtype=np.int32),
            np.where(inner, column("missing", np.int8), 0).astype(np.int8),
            np.stack([node["value"] for node in nodes])[:, :, None],
            column("loss", np.float64) / weight,
            np.array([len(node["rows"]) for node in nodes]),
            weight,
            np.where(inner, column("gain", np.float64), 0.0),
            column("order", np.int64),
            empty,
            empty,
            empty,
        )


def check_absolute(rows: Any) -> None:
    """Refuse what trees of the absolute error do not know."""
    if rows.categories:
        raise DataError("criterion='absolute_error' knows no categories; use 'squared_error'.")


def grow_from_rows(X: Any, y: Array, weight: Array, reps: Array, growth: Any, rng: Any) -> Tree:
    """Grow a tree that minimizes the absolute error on these rows."""
    return _Grower(X, y, weight, reps, growth, rng).run()


def grow_absolute(model: Any, rows: Any) -> Tree:
    """Grow the tree of a model."""
    from gnomon.trees.base import growth_of
    from gnomon.trees.problems import positive, repetitions

    check_absolute(rows)
    X, y, weight = positive(rows)
    reps = repetitions(weight)
    growth = growth_of(model, weight, reps, rows.n_features)
    return grow_from_rows(X, y, weight, reps, growth, generator(model.random_state))
