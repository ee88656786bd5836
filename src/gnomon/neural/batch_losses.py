"""Means of losses: over the units of a batch, and over the batches of an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.devices import import_torch


def mean_of(losses: Sequence[Any], masses: Sequence[Any]) -> float:
    """Return the mean of the batches' losses, each with the weight of its units."""
    torch = import_torch()
    values = torch.stack(list(losses)).detach().double()
    tensors = isinstance(masses[0], torch.Tensor)
    mass = torch.stack(list(masses)) if tensors else torch.tensor(masses, device=values.device)
    return float(values @ mass.double() / mass.sum())


def weighted_mean(losses: Any, weight: Any) -> tuple[Any, Any]:
    """Return the mean of the units' losses and what the units weigh; no weights: one each."""
    if weight is None:
        return losses.mean(), float(len(losses))
    mass = weight.sum()
    return (losses * weight).sum() / mass, mass
