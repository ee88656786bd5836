"""Rows of a stream: `partial_fit`, and the quick way for a few rows at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gnomon.core.decoding import check_shapes
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.linear.online import _epochs

QUICK_ROWS = 16  # rows that go the quick way
KEPT = ("n_features_in_", "feature_names_in_", "classes_")


class Streamed(_epochs.Mixed):
    """One pass over some more rows, from where the last call left the weights.

    A learner has `_pass_over(work, state)`, the pass itself, and `_quick_pass(state, X, targets)`, the same
    for a small array that needs no further check, in place.
    """

    def _check_loaded(self) -> None:
        state = vars(self).get("pass_")
        if state is None:
            return
        classes, d = len(getattr(self, "classes_", ())), int(self.n_features_in_)
        k = classes if classes > 2 else 1
        shapes = {"coef": (k, d), "intercept": (k,), "average": (k, d), "average_intercept": (k,)}
        check_shapes(state, shapes if state.owed is None else {**shapes, "owed": (k, d)}, "f")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over some more rows.

        Parameters
        ----------
        X, y : array or sparse matrix of shape (n, d), array of shape (n,)
        classes : array, optional
            All classes there will ever be; needed in the first call of a classifier.
        sample_weight : array, optional

        Returns
        -------
        self
        """
        if self.early_stopping:
            raise ValueError(
                "early_stopping should be False with partial_fit: rows that come cannot be held out."
            )
        if classes is None and sample_weight is None and self._quick(X, y):
            return self
        first = not hasattr(self, "pass_")
        rows = self._more_rows(X, y, classes, sample_weight, first)
        work = self._prepare(rows)
        state = self._start(work, generator(self.random_state)) if first else self.pass_
        state = self._pass_over(work, state)
        known = {} if first else {name: value for name, value in vars(self).items() if name in KEPT}
        self._adopt({**known, **self._attributes(state), "n_iter_": 1}, rows if first else None)
        return self

    def _more_rows(self, X, y, classes, sample_weight, first):
        return self._plain_read(X, y, sample_weight, reset=first)

    def _quick(self, X, y) -> bool:
        """Make a pass over a small float64 array without further ado; False if there is more to check."""
        known = self.__dict__
        if "pass_" not in known or type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2:
            return False
        n, d = X.shape
        if n > QUICK_ROWS or n != len(y) or d != known["n_features_in_"] or "feature_names_in_" in known:
            return False
        if not X.flags.c_contiguous or not np.isfinite(X.sum()) or not self._can_be_quick():
            return False
        targets = self._quick_targets(y)
        if targets is None:
            return False
        state = known["pass_"]
        order = ONE_ROW if n == 1 else _epochs.row_order(self.order, self.shuffle, n, state.seed, state.epoch)
        self._quick_pass(state, X, targets, order)
        return True

    def _can_be_quick(self) -> bool:
        raise NotImplementedError

    def _quick_targets(self, y) -> Array | None:
        """Numbers as one row of targets."""
        values = np.asarray(y, dtype=np.float64)
        return values[None] if values.ndim == 1 and np.isfinite(values).all() else None


ONE_ROW = np.zeros(1, dtype=np.int64)
ONES = np.ones(QUICK_ROWS)


class StreamedClasses(Streamed):
    """The same for classifiers, whose classes are named in the first call."""

    def _more_rows(self, X, y, classes, sample_weight, first):
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={np.asarray(classes)!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit; give the weights as a dict."
            )
        return self._plain_read(X, y, sample_weight, reset=first, classes=classes if first else self.classes_)

    def _quick_targets(self, y):
        """Signs of the classes, one row a machine."""
        classes = self.classes_
        codes = np.searchsorted(classes, y)
        if self.class_weight is not None or codes.ndim != 1 or codes.max() >= len(classes):
            return None
        if not (classes[codes] == y).all():
            return None
        if len(classes) <= 2:
            return np.where(codes == 1, 1.0, -1.0)[None]
        return np.where(codes == np.arange(len(classes))[:, None], 1.0, -1.0)


class StreamedNumbers(Streamed):
    """The same for regressors, which have no classes."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Make one pass over some more rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, None, sample_weight)
