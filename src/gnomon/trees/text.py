"""Trees in words: indented text, rules, and the path of one row."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.validate import check_fitted
from gnomon.trees.nodes import Tree


def feature_names(model: Any) -> list[str]:
    """Return the names of the features, made up where there are none."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _count(weight: Any, decimals: int) -> str:
    """Return a weight as text, whole ones without decimals."""
    return f"{weight:.{0 if float(weight).is_integer() else decimals}f}"


def leaf_text(
    model: Any, node: int, decimals: int = 2, classes: Any = None, *, show_weights: bool = True
) -> str:
    """Return what a leaf says: its class with the weights of all classes, or its value."""
    tree: Tree = model.tree_
    if tree.value.shape[1] > 1 and hasattr(model, "classes_"):
        named = [f"{one[v.argmax()]}" for one, v in zip(classes or model.classes_, tree.value[node])]
        size = f" ({_count(tree.weighted_n_node_samples[node], decimals)})"
        return ", ".join(named) + (size if show_weights else "")
    if hasattr(model, "classes_"):
        best = (model.classes_ if classes is None else classes)[tree.value[node, 0].argmax()]
        if not show_weights:
            return str(best)
        weights = tree.value[node, 0] * tree.weighted_n_node_samples[node]
        counts = "/".join(_count(w, decimals) for w in weights)
        return f"{best} ({counts})"
    return ", ".join(f"{v:.{decimals}f}" for v in tree.value[node, :, 0])


def tests(model: Any, node: int, decimals: int = 2, names: Any = None) -> list[tuple[int, str]]:
    """Return the children of a node with the test that leads to each."""
    tree: Tree = model.tree_
    name = (feature_names(model) if names is None else names)[tree.feature[node]]
    children = tree.children(node)
    if len(tree.branch_start) and tree.branch_start[node] >= 0:
        values = model.categories_[int(tree.feature[node])]
        start, count = tree.branch_start[node], tree.branch_count[node]
        table = tree.branches[start : start + count]
        return [(c, f"{name} in {{{', '.join(map(str, values[table == c]))}}}") for c in children]
    t = tree.threshold[node]
    if not np.isfinite(t):
        return [(children[0], f"{name} present"), (children[1], f"{name} missing")]
    number = f"{t:.{decimals}f}"
    return [(children[0], f"{name} <= {number}"), (children[1], f"{name} > {number}")]


def _named(given: Any, count: int, name: str) -> list[str] | None:
    """Return names that a user gives, one each, as text."""
    if given is None:
        return None
    if len(given) != count:
        raise DataError(f"{name} must hold {count} names, one each; got {len(given)}.")
    return [str(one) for one in given]


def _named_classes(given: Any, model: Any) -> Any:
    """Return the names of classes that a user gives; a list of lists for several outputs."""
    seen = getattr(model, "classes_", ())
    if given is None or model.tree_.value.shape[1] == 1 or not len(seen):
        return _named(given, len(seen), "class_names")
    if len(given) != len(seen):
        raise DataError(f"class_names must hold one list for each of {len(seen)} outputs; got {len(given)}.")
    return [_named(names, len(one), "class_names") for names, one in zip(given, seen)]


def export_text(
    model: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int | None = None,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = True,
) -> str:
    """Return a fitted tree as indented text.

    Parameters
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or DecisionStump
    feature_names, class_names : array of names, optional
        One for each column and each class; by default those that the model has seen.
    max_depth : int, optional
        Nodes below this depth are one line that says how deep they go.
    spacing : int, default=3
        Columns by which a level is moved to the right.
    decimals : int, default=2
        Digits of thresholds, values and weights.
    show_weights : bool, default=True
        Whether the leaves tell the weights of all classes.

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
    check_fitted(model)
    _check_layout(max_depth, spacing, decimals)
    names = _named(feature_names, model.n_features_in_, "feature_names")
    classes = _named_classes(class_names, model)
    indent, mark = "|" + " " * spacing, "|" + "-" * spacing + " "
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, test = stack.pop()
        if test:
            lines.append(indent * (depth - 1) + mark + test)
        if model.tree_.feature[node] < 0:
            says = leaf_text(model, node, decimals, classes, show_weights=show_weights)
        elif max_depth is not None and depth > max_depth:
            says = f"truncated branch of depth {_depth_below(model.tree_, node)}"
        else:
            below = tests(model, node, decimals, names)
            stack += [(child, depth + 1, text) for child, text in reversed(below)]
            continue
        lines.append(indent * depth + mark + says)
    return "\n".join(lines)


def _check_layout(max_depth: Any, spacing: Any, decimals: Any) -> None:
    asked = {"max_depth": (max_depth, 0), "spacing": (spacing, 1), "decimals": (decimals, 0)}
    for name, (value, least) in asked.items():
        optional = name == "max_depth" and value is None
        if not optional and (not isinstance(value, Integral) or value < least):
            raise DataError(f"{name} must be an integer of at least {least}; got {value!r}.")


def _depth_below(tree: Tree, node: int) -> int:
    """Return how many levels of nodes a branch has."""
    deepest, stack = 0, [(node, 1)]
    while stack:
        at, depth = stack.pop()
        deepest = max(deepest, depth)
        if tree.feature[at] >= 0:
            stack += [(child, depth + 1) for child in tree.children(at)]
    return deepest


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
