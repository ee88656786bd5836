"""Products of all columns with a moving residual, computed only where they can matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.loops import coordinate as loops

ANCHORS = 40  # residuals at which correlations were computed that are kept
SLACK = 1.0 + 1e-9  # of distances, for rounding


class Correlations:
    """Xᵀr for a residual r that moves: what cannot have reached a level stays as it was.

    The correlation of a feature with the residual cannot have changed by more than its length times the
    distance of the residual from where it was when the correlation was computed. Features that this bound
    keeps below the level are not looked at.

    Attributes
    ----------
    values : array of shape (p,)
        The correlations with the residual, or with the earlier one that `stamp` names.
    """

    def __init__(self, design: Any, r: Array) -> None:
        self.design, self.lengths = design, None
        most = max(2, design.entries() // (2 * max(1, len(r))))  # they take no more memory than half of X
        self.anchors = np.empty((min(ANCHORS, most), len(r)))
        self.renew(r, design.correlate(r))

    def snapshot(self) -> tuple[Any, ...]:
        """Return what was looked at and when, for a checkpoint."""
        return self.values, self.stamp, self.now, self.anchors[: self.now + 1], self.away

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot."""
        values, stamp, self.now, anchors, self.away = snapshot
        self.values, self.stamp = np.array(values), np.array(stamp)
        self.anchors[: self.now + 1] = anchors

    def renew(self, r: Array, values: Array) -> None:
        """Begin again with the correlations of all features with r."""
        self.values, self.stamp, self.now = values, np.zeros(len(values), dtype=np.int32), 0
        self.anchors[0], self.away = r, np.zeros(1)

    def move(self, r: Array, index: Array, values: Array) -> None:
        """Go to the residual r; the correlations of the features in `index` with it are known."""
        if self.now + 1 == len(self.anchors) or not self.design.has_columns():
            return self.renew(r, self.design.correlate(r))
        self.now += 1
        self.anchors[self.now] = r
        self.away = np.empty(self.now + 1)
        loops.distances(self.anchors, r, self.away)
        self.away *= SLACK
        self.values[index], self.stamp[index] = values, self.now

    def refresh(self, w: Array, level: float) -> None:
        """Look at the features in use and those whose correlations may have reached the level."""
        if not self.now:
            return
        r = self.anchors[self.now]
        self.lengths = self.design.lengths() if self.lengths is None else self.lengths
        cols = np.empty(len(w), dtype=np.intp)
        count = loops.fill_stale(self.values, self.lengths, self.away, self.stamp, w, level, cols)
        cols = cols[:count]
        if 2 * self.design.entries(cols) > self.design.entries():
            return self.renew(r.copy(), self.design.correlate(r))
        self.values[cols], self.stamp[cols] = self.design.correlate_some(cols, r), self.now
