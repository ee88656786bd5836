"""Weights of torch modules and optimizers as plain arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.devices import import_torch
from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array


def arrays_of(module: Any) -> dict[str, Array]:
    """Return weights and buffers of a module as arrays of their own."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def load_weights(module: Any, weights: dict[str, Array]) -> None:
    """Write arrays into the weights of a module."""
    torch = import_torch()
    module.load_state_dict({name: torch.as_tensor(np.array(value)) for name, value in weights.items()})


def place_weights(module: Any, weights: dict[str, Array], device: Any) -> None:
    """Give a module without memory these weights, without a copy where the device is the CPU."""
    torch = import_torch()
    tensors = {
        name: torch.as_tensor(value if value.flags.writeable else value.copy(), device=device)
        for name, value in weights.items()
    }
    module.load_state_dict(tensors, assign=True)
    for name, buffer in module.named_buffers():
        if buffer.is_meta:
            raise ModelFileError(f"the network has a part {name!r} without values.")


def plain(tree: Any) -> Any:
    """Return a tree of tensors as one of arrays; keys as text."""
    if isinstance(tree, dict):
        return {str(key): plain(value) for key, value in tree.items()}
    if hasattr(tree, "detach"):
        return tree.detach().cpu().numpy().copy()
    return tree


def load_optimizer(optimizer: Any, kept: dict[str, Any]) -> None:
    """Give an optimizer back what it remembered; torch would trust it."""
    torch = import_torch()
    shapes = [tuple(weight.shape) for group in optimizer.param_groups for weight in group["params"]]
    for key, part in kept.items():
        for name, value in part.items():
            array = np.asarray(value)
            fits = str(key).isdigit() and int(key) < len(shapes) and array.dtype.kind in "fiub"
            if not fits or array.shape != (() if name == "step" else shapes[int(key)]):
                raise ModelFileError(
                    "what its optimizer remembers does not fit its weights. Get a new copy, or `fit` anew."
                )
    state = {
        int(key): {
            name: torch.as_tensor(np.array(value)) if isinstance(value, np.ndarray) else value
            for name, value in part.items()
        }
        for key, part in kept.items()
    }
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
