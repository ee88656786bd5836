"""Models that change all at once or not at all, however their learning ends."""

from __future__ import annotations

import copy
from typing import Any

from gnomon.core.estimator import is_learned


def unlearned(model: Any) -> Any:
    """Return a copy with the same arguments and nothing learned."""
    twin = copy.copy(model)
    twin.__dict__ = {name: value for name, value in vars(model).items() if not is_learned(name)}
    return twin


def become(model: Any, twin: Any) -> Any:
    """Give `model` everything that `twin` holds, in one assignment, and return it."""
    model.__dict__ = dict(vars(twin))
    return model
