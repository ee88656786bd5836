"""Compile the loops of resampling and calibration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.selection.areas import auc_interval
from gnomon.selection.calibrating import calibrate
from gnomon.selection.resampling import bootstrap


def warm_up(dtypes: Sequence[str]) -> None:
    """Resample and calibrate a few numbers."""
    x, y = np.arange(8.0), np.arange(8) % 2
    bootstrap("mean", x, n_resamples=4, random_state=0)
    bootstrap(np.median, x, n_resamples=4, random_state=0)
    auc_interval(y, x, method="bootstrap", n_resamples=4, random_state=0)
    calibrate(x / 8, y)
