"""Metadata: what a model is given beside X and y, sent to the parts of it that ask for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from gnomon.core.errors import DataError


def routing_enabled() -> bool:
    """Tell whether scikit-learn routes metadata (``sklearn.set_config(enable_metadata_routing=True)``)."""
    return bool(get_config().get("enable_metadata_routing", False))


def route(model: Any, method: str, given: dict[str, Any]) -> Any:
    """Return what is meant for the methods of the parts: ``route(...)[part][method]`` is a dict.

    `model` is a model that has `get_metadata_routing`, or its router.
    """
    if given and not routing_enabled():
        owner = type(getattr(model, "owner", model)).__name__
        raise DataError(
            f"{owner}.{method} was given {', '.join(given)}; metadata for the parts of a model "
            "is only supported if enable_metadata_routing=True (see sklearn.set_config)."
        )
    return process_routing(model, method, **given)


def takes_weights(member: Any) -> bool:
    """Tell whether the `fit` of a member is to be given `sample_weight`."""
    if routing_enabled():
        return bool(get_routing_for_object(member).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(member, "sample_weight")


def with_config(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function with scikit-learn's settings of this thread, which others do not share."""
    settings = get_config()

    def run(job: Any) -> Any:
        with config_context(**settings):
            return function(job)

    return run


def take_each(given: dict[str, Any], n: int, rows: Any) -> dict[str, Any]:
    """Return the same metadata for some of n rows; what has not one entry a row stays as it is."""
    return {name: _taken(value, n, rows) for name, value in given.items()}


def _taken(value: Any, n: int, rows: Any) -> Any:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n:
        return value
    return np.asarray(value)[rows]
