"""Scenes of factors: ratings, topics and components as products of smaller tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, bars, family_of, matrix, numbers


def ratings_panels(model: Any, material: Material) -> list[Panel]:
    """Return the factors of users and items, and what they make of the table of ratings."""
    users, items = getattr(model, "user_factors_", None), getattr(model, "item_factors_", None)
    if users is None or items is None or np.ndim(users) != 2 or np.ndim(items) != 2:
        return []
    users, items = np.asarray(users, dtype=float)[:40], np.asarray(items, dtype=float)[:40]
    panels = [
        matrix("factors of the users", users.T, diverging=True),
        matrix("factors of the items", items.T, diverging=True),
    ]
    if users.shape[1] == items.shape[1]:
        panels.insert(0, matrix("users by items: the product of the factors", users @ items.T))
    return panels


def topic_panels(model: Any, material: Material) -> list[Panel]:
    """Return the words that gather in every topic."""
    if family_of(model) != "topics" and type(model).__name__ != "AspectModel":
        return []
    shares = np.asarray(model.components_, dtype=float)
    shares = shares / shares.sum(axis=1, keepdims=True)
    named = len(material.names) == shares.shape[1] and material.names[0] != "x0"
    words = material.names if named else [f"word {j}" for j in range(shares.shape[1])]
    best = [np.argsort(-row, kind="stable")[:8] for row in shares[:6]]
    return [
        matrix(
            "share of every word in every topic", shares, [f"topic {k}" for k in range(len(shares))], words
        ),
        *[bars(f"topic {k}", [words[j] for j in order], shares[k][order]) for k, order in enumerate(best)],
    ]


def component_panels(model: Any, material: Material) -> list[Panel]:
    """Return the directions or parts that a decomposition has found; parts of pictures as pictures."""
    family = family_of(model)
    parts = getattr(model, "components_", None)
    if family != "decomposition" or parts is None or np.ndim(parts) != 2 or np.shape(parts)[1] > 100:
        return []
    parts = np.asarray(parts, dtype=float)
    side = int(np.sqrt(parts.shape[1]))
    if side * side == parts.shape[1] and side >= 4:
        return [
            {
                "kind": "images",
                "title": "the parts",
                "images": [numbers(p.reshape(side, side), 4) for p in parts[:12]],
            }
        ]
    return [
        matrix(
            "components",
            parts,
            [f"component {k}" for k in range(len(parts))],
            material.names or None,
            diverging=True,
        )
    ]
