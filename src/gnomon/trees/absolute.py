"""Regression trees under the absolute error: medians in the leaves, cuts by Fenwick trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.randomness import generator
from gnomon.loops.absolute import absolute_scan, weighted_median
from gnomon.trees import pruning
from gnomon.trees.nodes import LEAF, Tree
from gnomon.trees.sparse_columns import sparse_columns

Array = np.ndarray


class _Grower:
    """Grows one tree node by node; a node is a set of row numbers."""

    def __init__(self, X: Any, y: Array, weight: Array, reps: Array, growth: Any, rng: Any) -> None:
        self.sparse = sparse_columns(X) if sparse.issparse(X) else None
        self.X = X if self.sparse is not None else np.ascontiguousarray(X.T, dtype=np.float64)
        self.y = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        self.wr = np.stack([weight, reps], axis=1)
        levels, ranks = np.unique(self.y[:, 0], return_inverse=True)
        self.levels, self.ranks = levels[:, None], ranks.astype(np.int32)
        self.growth, self.total, self.rng = growth, weight.sum(), rng
        self.nodes: list[dict[str, Any]] = []
        self.d = X.shape[1]

    def column(self, f: int) -> Array:
        """Return a column; that of a sparse X is filled when it is asked for, one at a time."""
        return self.X[f] if self.sparse is None else self.sparse.column(f)

    def add(self, rows: Array, depth: int) -> int:
        y, w = self.y[rows, 0], self.wr[rows, 0]
        median = weighted_median(y.copy(), w.copy())
        loss = float((w * np.abs(y - median)).sum())
        node = {
            "rows": rows,
            "depth": depth,
            "value": median,
            "loss": loss,
            "weight": w.sum(),
            "feature": LEAF,
        }
        node |= {"gain": 0.0, "threshold": -2.0, "left": -1, "right": -1, "order": 0, "missing": 0}
        self.nodes.append(node)
        if self._may_split(node, y):
            self._search(node)
        return len(self.nodes) - 1

    def _may_split(self, node: dict[str, Any], y: Array) -> bool:
        g, reps = self.growth, self.wr[node["rows"], 1].sum()
        large = reps >= max(g.min_samples_split, 2 * g.min_samples_leaf) and node["depth"] < g.max_depth
        return large and node["weight"] >= 2 * g.min_weight_leaf and y.min() < y.max()

    def _search(self, node: dict[str, Any]) -> None:
        d, g = self.d, self.growth
        features = np.arange(d) if g.max_features >= d else self.rng.permutation(d)
        seen, tie = 0, 1e-12 * node["loss"]
        for f in features:
            x = self.column(f)
            order = node["rows"][np.argsort(x[node["rows"]], kind="stable")]
            best = np.zeros(4)
            seen += absolute_scan(
                order, x, self.ranks, self.y, self.wr, self.levels, g.min_samples_leaf, g.min_weight_leaf,
                node["loss"], best,
            )  # fmt: skip
            better = node["feature"] < 0 or best[0] > node["gain"] + tie
            if best[3] > 0 and better and best[0] >= g.min_impurity_decrease * self.total - tie:
                heavier = int(best[2] > node["weight"] - best[2])
                gap = np.isnan(x[node["rows"]]).any()
                node |= {"feature": int(f), "gain": max(best[0], 0.0), "threshold": best[1]}
                node["missing"] = 0 if gap else heavier
            if seen >= g.max_features:
                return

    def run(self) -> Tree:
        frontier = [self.add(np.arange(len(self.y)), 0)]
        splits, limit = 0, self.growth.max_leaf_nodes
        while frontier and (limit == 0 or splits + 1 < limit):
            key = (lambda t: -self.nodes[t]["gain"]) if limit else (lambda t: -t)
            at = min(frontier, key=key)
            frontier.remove(at)
            node = self.nodes[at]
            if node["feature"] < 0:
                continue
            splits += 1
            left = self.column(node["feature"])[node["rows"]] <= node["threshold"]
            node["order"] = splits
            node["right"] = self.add(node["rows"][~left], node["depth"] + 1)
            node["left"] = self.add(node["rows"][left], node["depth"] + 1)
            frontier += [node["right"], node["left"]]
        for t in frontier:
            self.nodes[t]["feature"] = LEAF
        return self._tree()

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
            column("value", np.float64)[:, None, None],
            column("loss", np.float64) / weight,
            np.array([len(node["rows"]) for node in nodes]),
            weight,
            np.where(inner, column("gain", np.float64), 0.0),
            column("order", np.int64),
            empty,
            empty,
            empty,
        )


def check_absolute(model: Any, y: Array) -> None:
    """Refuse what trees of the absolute error do not know."""
    if model._categories or model.monotonic_cst is not None or getattr(model, "splitter", "best") == "random":
        raise DataError(
            "criterion='absolute_error' knows no categories, monotone constraints or random splits; "
            "use 'squared_error'."
        )
    if y.ndim == 2 and y.shape[1] > 1:
        raise DataError("criterion='absolute_error' takes one output; fit one tree per output.")


def grow_from_rows(X: Any, y: Array, weight: Array, reps: Array, growth: Any, rng: Any) -> Tree:
    """Grow a tree that minimizes the absolute error on these rows."""
    return _Grower(X, y, weight, reps, growth, rng).run()


def grow_absolute(model: Any, rows: Any) -> Tree:
    """Grow the tree of a model."""
    from gnomon.trees.base import growth_of, positive
    from gnomon.trees.growing import repetitions

    check_absolute(model, rows.y)
    X, y, weight = positive(rows)
    reps = repetitions(weight)
    growth = growth_of(model, weight, reps, rows.n_features)
    tree = grow_from_rows(X, y, weight, reps, growth, generator(model.random_state))
    return pruning.prune_tree(tree, model.ccp_alpha) if model.ccp_alpha > 0 else tree
