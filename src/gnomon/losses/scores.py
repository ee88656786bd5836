"""Losses of a row of class scores against the code of the true class."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, softmax

from gnomon.core.errors import nearest


class SoftmaxCrossEntropy:
    r"""Cross-entropy of the softmax, :math:`\ln\sum_k e^{z_k} - z_y`.

    Examples
    --------
    >>> SoftmaxCrossEntropy().value([0], [[3.2, 5.1, -1.7]]).round(6)
    array([2.040355])
    """

    is_convex, is_smooth, trainable, lipschitz, link = True, True, True, 0.5, "softmax"

    def value(self, y, scores):
        """Return the loss of every row; `y` holds class codes."""
        scores = np.asarray(scores, dtype=float)
        return -log_softmax(scores, axis=1)[np.arange(len(scores)), np.asarray(y)]

    def gradient(self, y, scores):
        """Return p − onehot(y), row by row."""
        scores = np.asarray(scores, dtype=float)
        gradient = softmax(scores, axis=1)
        gradient[np.arange(len(scores)), np.asarray(y)] -= 1.0
        return gradient


class MulticlassHinge:
    r"""Hinge of score rows, with margin Δ.

    Weston–Watkins sums :math:`\max(0, z_j - z_y + \Delta)` over the wrong classes, Crammer–Singer takes the
    largest of them.

    Parameters
    ----------
    kind : {"weston_watkins", "crammer_singer"}, default="weston_watkins"
    margin : float, default=1.0

    Examples
    --------
    >>> scores = [[3.2, 5.1, -1.7], [2.2, 2.5, -3.1]]
    >>> MulticlassHinge().value([0, 2], scores).round(6)
    array([ 2.9, 12.9])
    >>> MulticlassHinge("crammer_singer").value([0, 2], scores).round(6)
    array([2.9, 6.6])
    """

    is_convex, is_smooth, trainable, lipschitz, link = True, False, True, np.inf, "argmax"
    KINDS = ("weston_watkins", "crammer_singer")

    def __init__(self, kind: str = "weston_watkins", *, margin: float = 1.0) -> None:
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {self.KINDS}; got {kind!r}.{nearest(kind, self.KINDS)}")
        self.kind, self.margin = kind, margin

    def _excess(self, y, scores):
        scores, rows, y = np.asarray(scores, dtype=float), np.arange(len(scores)), np.asarray(y)
        excess = scores - scores[rows, y][:, None] + self.margin
        excess[rows, y] = 0.0
        return excess, rows, y

    def value(self, y, scores):
        """Return the loss of every row; `y` holds class codes."""
        excess, _, _ = self._excess(y, scores)
        if self.kind == "crammer_singer":
            return excess.max(axis=1)
        return np.maximum(excess, 0.0).sum(axis=1)

    def gradient(self, y, scores):
        """Return a subgradient in the scores, row by row (0 where a class is exactly at the margin)."""
        excess, rows, y = self._excess(y, scores)
        if self.kind == "crammer_singer":
            gradient = np.zeros_like(excess)
            worst = excess.argmax(axis=1)
            gradient[rows, worst] += excess[rows, worst] > 0.0
        else:
            gradient = (excess > 0.0).astype(float)
        gradient[rows, y] -= gradient.sum(axis=1)
        return gradient
