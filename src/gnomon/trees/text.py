"""Trees in words: indented text, rules, and the path of one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.trees.nodes import Tree


def feature_names(model: Any) -> list[str]:
    """Return the names of the features, made up where there are none."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def leaf_text(model: Any, node: int, decimals: int = 2) -> str:
    """Return what a leaf says: its class with the weights of all classes, or its value."""
    tree: Tree = model.tree_
    if hasattr(model, "classes_"):
        weights = tree.value[node, 0] * tree.weighted_n_node_samples[node]
        counts = "/".join(f"{w:.{0 if float(w).is_integer() else decimals}f}" for w in weights)
        return f"{model.classes_[tree.value[node, 0].argmax()]} ({counts})"
    return ", ".join(f"{v:.{decimals}f}" for v in tree.value[node, :, 0])


def tests(model: Any, node: int, decimals: int = 2) -> list[tuple[int, str]]:
    """Return the children of a node with the test that leads to each."""
    tree: Tree = model.tree_
    name = feature_names(model)[tree.feature[node]]
    children = tree.children(node)
    if len(tree.branch_start) and tree.branch_start[node] >= 0:
        values = model.categories_[int(tree.feature[node])]
        start, count = tree.branch_start[node], tree.branch_count[node]
        table = tree.branches[start : start + count]
        return [(c, f"{name} in {{{', '.join(map(str, values[table == c]))}}}") for c in children]
    t = tree.threshold[node]
    side = ["", " or missing"] if not tree.missing_go_to_left[node] else [" or missing", ""]
    if not np.isfinite(t):
        return [(children[0], f"{name} present"), (children[1], f"{name} missing")]
    number = f"{t:.{decimals}f}"
    missing = side if getattr(model, "_shows_missing", False) else ["", ""]
    return [(children[0], f"{name} <= {number}{missing[0]}"), (children[1], f"{name} > {number}{missing[1]}")]


def export_text(model: Any, *, decimals: int = 2) -> str:
    """Return a fitted tree as indented text.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    >>> print(export_text(model))
    |--- x0 <= 2.50
    |   |--- a (2/0)
    |--- x0 > 2.50
    |   |--- b (0/1)
    """
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, test = stack.pop()
        if test:
            lines.append("|   " * (depth - 1) + "|--- " + test)
        if model.tree_.feature[node] < 0:
            lines.append("|   " * depth + "|--- " + leaf_text(model, node, decimals))
            continue
        stack += [(child, depth + 1, text) for child, text in reversed(tests(model, node, decimals))]
    return "\n".join(lines)


def rules_of(model: Any) -> list[str]:
    """Return one conjunction per leaf."""
    found: list[str] = []
    stack: list[tuple[int, list[str]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        if model.tree_.feature[node] < 0:
            found.append(f"{' and '.join(path) or 'always'} -> {leaf_text(model, node)}")
            continue
        stack += [(child, [*path, text]) for child, text in reversed(tests(model, node))]
    return found


def explain_row(model: Any, x: Any) -> list[str]:
    """Return the tests that a row passes and the leaf at the end."""
    if hasattr(x, "columns"):
        row = x
    else:
        row = np.asarray(x, dtype=object if model.categories_ else np.float64).reshape(1, -1)
    path = model.decision_path(row).indices
    lines = []
    for node, child in zip(path[:-1], path[1:]):
        lines.append(dict(tests(model, int(node)))[int(child)])
    return [*lines, leaf_text(model, int(path[-1]))]
