"""Rules for constructor arguments that linear models share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import warn

SEED: list[Any] = ["random_state", np.random.Generator, np.random.SeedSequence]
JOBS: list[Any] = [Integral, None]
ORDER: list[Any] = [StrOptions({"given", "random", "shuffle", "random_mistake"}), "array-like", None]
BATCH: list[Any] = [Interval(Integral, 1, None, closed="left"), StrOptions({"full"})]


def listed_penalties(alphas: Any) -> np.ndarray:
    """Return the penalties that a user has listed as a vector; each must be a number that is not negative."""
    values = np.ravel(np.asarray(alphas, dtype=object))
    for i, value in enumerate(values):
        if not isinstance(value, Real):
            raise TypeError(f"alphas[{i}] must be an instance of float, not {type(value).__name__}.")
        if not value >= 0:
            raise DataError(f"alphas[{i}] == {value}, must be >= 0.0.")
    return values.astype(np.float64)


def warn_of_ratio(penalty: str, name: str, value: Any) -> None:
    """Say that a mixture is ignored because the old `penalty` says otherwise."""
    warn(
        f"Inconsistent values: penalty={penalty} with {name}={value}. Only penalty='elasticnet' takes a mixture, so "
        f"{name} is ignored; leave penalty out to use it."
    )
