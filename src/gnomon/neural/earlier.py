"""What a fit that goes on from an earlier one asks of its data."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError

WORDS = {
    "classes_": "classes",
    "vocabulary_": "vocabulary",
    "image_shape_": "image shape",
    "n_features_in_": "number of columns",
}


def check_same_kind(model: Any, facts: dict[str, Any]) -> None:
    """Say what differs between the data of a warm start and those of the fit before: the weights mean the old ones."""
    for name, word in WORDS.items():
        if name in facts and hasattr(model, name):
            old, new = getattr(model, name), facts[name]
            if np.shape(old) != np.shape(new) or not np.array_equal(np.asarray(old), np.asarray(new)):
                raise DataError(
                    f"warm_start=True goes on from the fit before, whose {word} was {_short(old)}; these data have "
                    f"{_short(new)}. Set warm_start=False to begin anew."
                )


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
