"""Rules for constructor arguments that linear models share."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gnomon.core.parameters import Interval, StrOptions

SEED: list[Any] = ["random_state", np.random.Generator, np.random.SeedSequence]
JOBS: list[Any] = [Integral, None]
ORDER: list[Any] = [StrOptions({"given", "random", "shuffle", "random_mistake"}), "array-like", None]
BATCH: list[Any] = [Interval(Integral, 1, None, closed="left"), StrOptions({"full"})]
