"""Rules for constructor arguments that linear models share."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import warn

SEED: list[Any] = ["random_state", np.random.Generator, np.random.SeedSequence]
JOBS: list[Any] = [Integral, None]
ORDER: list[Any] = [StrOptions({"given", "random", "shuffle", "random_mistake"}), "array-like", None]
BATCH: list[Any] = [Interval(Integral, 1, None, closed="left"), StrOptions({"full"})]


def warn_of_ratio(penalty: str, name: str, value: Any) -> None:
    """Say that a mixture is ignored because the old `penalty` says otherwise."""
    warn(
        f"Inconsistent values: penalty={penalty} with {name}={value}. Only penalty='elasticnet' takes a mixture, so "
        f"{name} is ignored; leave penalty out to use it."
    )
