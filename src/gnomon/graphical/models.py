"""What may stand where a model is asked for: a network, an undirected model, or a list of factors."""

from __future__ import annotations

from typing import Any

from gnomon.core.errors import DataError
from gnomon.graphical.factor import Factor
from gnomon.graphical.net import Net


def net_or_factors(model: Any) -> tuple[Net | None, list[Factor]]:
    """Return the network behind a model, or the factors of one that is none."""
    if isinstance(model, Net):
        return model, []
    if hasattr(model, "_network"):
        return model._network(), []
    factors = getattr(model, "factors", model)
    if isinstance(factors, Factor):
        factors = [factors]
    try:
        found = list(factors)
    except TypeError:
        found = []
    if not found or not all(isinstance(factor, Factor) for factor in found):
        raise DataError(
            f"model must be a BayesianNetwork, a MarkovRandomField, a FactorGraph or factors; got {model!r}."
        )
    return None, found


def net_of(model: Any) -> Net:
    """Return the network behind a model that must be one."""
    net, _ = net_or_factors(model)
    if net is None:
        raise DataError(f"model must be a BayesianNetwork; got {type(model).__name__}.")
    return net
