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
                whose = "`y` has" if name == "classes_" else "X has"
                raise DataError(
                    f"warm_start can only be used where {whose} the same {word} as in the previous call to fit. "
                    f"Previously got {_short(old)}, {whose} {_short(new)}. Set warm_start=False to begin anew."
                )


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
