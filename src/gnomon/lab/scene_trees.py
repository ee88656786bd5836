"""Scenes of trees: one that grows, and a forest that votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import (
    Panel,
    answer_or_none,
    data_points,
    family_of,
    graph,
    limits,
    number,
    plane,
    surface,
)

MAX_NODES = 127
VOTES = 40  # a side of the grid on which votes are drawn


def tree_panels(model: Any, material: Material) -> list[Panel]:
    """Return a tree as it has grown so far, or the newest tree of a few."""
    tree = getattr(model, "tree_", None)
    title = "the tree"
    members = getattr(model, "estimators_", None)
    if tree is None and isinstance(members, list | np.ndarray) and len(members):
        newest = np.ravel(np.asarray(members, dtype=object))[-1]
        tree, title = getattr(newest, "tree_", None), f"the newest of {len(members)} trees"
    if tree is None or not hasattr(tree, "children") or tree.node_count > MAX_NODES:
        return []
    places: dict[int, float] = {}
    _spread(tree, 0, 0.0, 1.0, places)
    depth, deepest = tree.depth, max(1, tree.max_depth)
    names = material.names
    nodes, edges = [], []
    for node, x in places.items():
        leaf = tree.feature[node] < 0
        value = tree.value[node, 0]
        told = f"{number(value[0])}" if len(value) == 1 else "/".join(f"{share:.2g}" for share in value)
        feature = int(tree.feature[node])
        name = (
            told
            if leaf
            else f"{names[feature] if feature < len(names) else f'x{feature}'} ≤ {tree.threshold[node]:.3g}"
        )
        nodes.append(
            {
                "id": node, "x": round(x, 4), "y": round(1 - (depth[node] + 0.5) / (deepest + 1), 4), "name": name,
                "code": int(np.argmax(value)) if len(value) > 1 else None, "leaf": bool(leaf),
                "tip": f"{int(tree.n_node_samples[node])} rows, impurity {number(tree.impurity[node])}, {told}",
            }
        )  # fmt: skip
        edges += [{"from": node, "to": child} for child in tree.children(node)]
    where = {node["id"]: place for place, node in enumerate(nodes)}
    edges = [{"from": where[e["from"]], "to": where[e["to"]]} for e in edges]
    return [graph(title, nodes, edges, tree=True)]


def _spread(tree: Any, node: int, low: float, high: float, places: dict[int, float]) -> None:
    places[node] = (low + high) / 2
    below = tree.children(node)
    each = (high - low) / max(1, sum(_leaves(tree, child) for child in below))  # leaves are equally wide
    for child in below:
        width = each * _leaves(tree, child)
        _spread(tree, child, low, low + width, places)
        low += width


def _leaves(tree: Any, node: int) -> int:
    below = tree.children(node)
    return sum(_leaves(tree, child) for child in below) if below else 1


def vote_panels(model: Any, material: Material) -> list[Panel]:
    """Return how the members of a forest vote over the plane: for the second of two classes, else for the winner."""
    X, names = material.X, [str(name) for name in getattr(model, "classes_", ())]
    if family_of(model) != "ensemble" or len(names) < 2:
        return []
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != 2:
        return []
    xlim, ylim = limits(X[:, 0]), limits(X[:, 1])
    across, up = np.meshgrid(np.linspace(*xlim, VOTES), np.linspace(*ylim, VOTES))
    cells = np.column_stack([across.ravel(), up.ravel()])
    shares = answer_or_none(lambda: np.asarray(model.predict_proba(cells)))
    if shares is None:
        return []
    two = len(names) == 2
    field = surface(
        shares[:, 1] if two else shares.max(axis=1),
        xlim,
        ylim,
        (VOTES, VOTES),
        low=0 if two else 1 / len(names),
        high=1,
    )
    known = {name: place for place, name in enumerate(names)}
    points = data_points([known.get(str(label), 35) for label in np.ravel(material.y)])
    title = f"share of the votes for {names[1] if two else 'the winner'}, from dark to bright"
    return [plane(title, *material.names[:2], xlim, ylim, [field, points])]
