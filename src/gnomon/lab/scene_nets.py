"""Scenes of networks: what the units answer, the weights of every layer, and filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, matrix, numbers


def net_panels(model: Any, material: Material) -> list[Panel]:
    """Return the weights of a network, layer by layer; filters as small pictures."""
    weights = getattr(model, "coefs_", None)
    if isinstance(weights, list):
        named = {f"weights of layer {k + 1}": np.asarray(w).T for k, w in enumerate(weights)}
    elif isinstance(getattr(model, "weights_", None), dict):
        named = {str(name): np.asarray(value) for name, value in model.weights_.items()}
    else:
        return []
    panels = []
    for name, value in list(named.items())[:6]:
        if value.ndim == 4:
            filters = value.reshape(-1, *value.shape[2:])[:12]
            panels.append(
                {"kind": "images", "title": f"filters: {name}", "images": [numbers(f, 4) for f in filters]}
            )
        elif value.ndim == 2 and max(value.shape) <= 80:
            panels.append(matrix(name, value, diverging=True))
    return panels
