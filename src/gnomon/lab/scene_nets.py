"""Scenes of networks: what the units answer, the weights of every layer, and filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, answer_or_none, limits, line, matrix, numbers, plane

MAX_LAYERS = 6
MAX_UNITS = 12
MAX_WIDTH = 80  # of a table of weights
SIDE = 24  # cells a side of the picture of a unit
PLACES = 80  # at which the curve of a unit is drawn
MAX_PICTURES = 2  # whose activations are shown


def net_panels(model: Any, material: Material) -> list[Panel]:
    """Return what the hidden units answer and the weights, layer by layer; filters as small pictures."""
    weights = getattr(model, "coefs_", None)
    if isinstance(weights, list):
        named = {f"weights of layer {k + 1}": np.asarray(w).T for k, w in enumerate(weights)}
    elif isinstance(getattr(model, "weights_", None), dict):
        named = {str(name): np.asarray(value) for name, value in model.weights_.items()}
    else:
        return []
    panels = [*_hidden_units(model, material), *_activation_maps(model, material)]
    for name, value in list(named.items())[:MAX_LAYERS]:
        if value.ndim == 4:
            panels.append(_pictures(f"filters: {name}", value.reshape(-1, *value.shape[2:])))
        elif value.ndim == 2 and max(value.shape) <= MAX_WIDTH:
            panels.append(matrix(name, value, diverging=True))
    return panels


def _pictures(title: str, pictures: Any, **more: Any) -> Panel:
    return {
        "kind": "images", "title": title, "images": [numbers(p, 4) for p in pictures[:MAX_UNITS]], **more,
    }  # fmt: skip


def _hidden_units(model: Any, material: Material) -> list[Panel]:
    """Return what the units of the first hidden layer answer everywhere: over the plane, along the line, or by row."""
    X = material.X
    if not hasattr(model, "hidden") or not isinstance(X, np.ndarray) or X.ndim != 2:
        return []
    if X.shape[1] == 2:
        xlim, ylim = limits(X[:, 0]), limits(X[:, 1])
        across, up = np.meshgrid(np.linspace(*xlim, SIDE), np.linspace(*ylim, SIDE))
        said = answer_or_none(lambda: model.hidden(np.column_stack([across.ravel(), up.ravel()])))
        if said is None or not said.shape[1]:
            return []
        maps = said.T.reshape(-1, SIDE, SIDE)[:, ::-1]  # the first row of a picture is its upper one
        return [_pictures("what every hidden unit answers over the plane", maps, word="unit")]
    if X.shape[1] == 1:
        xlim = limits(X[:, 0])
        at = np.linspace(*xlim, PLACES)
        said = answer_or_none(lambda: model.hidden(at[:, None]))
        if said is None or not said.shape[1]:
            return []
        lines = [
            line(np.column_stack([at, unit]), color=k, width=1) for k, unit in enumerate(said.T[:MAX_UNITS])
        ]
        title = "what every hidden unit answers along the line"
        return [plane(title, material.names[0], "answer", xlim, limits(said), lines)]
    said = answer_or_none(lambda: model.hidden(X[:MAX_WIDTH]))
    if said is None or not said.shape[1]:
        return []
    return [matrix("what every hidden unit answers to the first rows", said.T[:MAX_UNITS], diverging=True)]


def _activation_maps(model: Any, material: Material) -> list[Panel]:
    """Return what the channels of the first layer see in the first pictures."""
    if not hasattr(model, "activation_maps"):
        return []
    maps = answer_or_none(lambda: model.activation_maps(material.X[:MAX_PICTURES], 0))
    if maps is None or maps.ndim != 4:
        return []
    return [
        _pictures(
            f"picture {k} and what the filters see in it",
            [np.atleast_3d(picture)[..., 0], *seen],
            word="part",
            each=True,
        )
        for k, (picture, seen) in enumerate(zip(np.asarray(material.X, dtype=float), maps))
    ]
