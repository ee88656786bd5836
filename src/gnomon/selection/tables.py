"""Counts of right and wrong answers, and the rates that follow from them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.validate import weights as check_weights
from gnomon.selection.intervals import error_interval


class ConfusionTable(NamedTuple):
    """Counts with one row for each true class and one column for each predicted class."""

    counts: Array
    labels: Array

    @property
    def accuracy(self) -> float:
        """Share of rows on the diagonal."""
        return float(np.trace(self.counts) / self.counts.sum())

    def rates(self, positive: Any = None) -> dict[str, float]:
        """Return the rates of one class against the rest: tpr (recall), fpr, precision, f1, mcc and others.

        A rate whose denominator is zero is NaN.
        """
        k = len(self.labels) - 1 if positive is None else self._place(positive)
        tp, fn = self.counts[k, k], self.counts[k].sum() - self.counts[k, k]
        fp = self.counts[:, k].sum() - tp
        tn = self.counts.sum() - tp - fn - fp
        root = np.sqrt(float(tp + fp) * float(tp + fn) * float(tn + fp) * float(tn + fn))
        with np.errstate(invalid="ignore", divide="ignore"):
            pairs = {
                "tpr": (tp, tp + fn),
                "fpr": (fp, fp + tn),
                "tnr": (tn, fp + tn),
                "fnr": (fn, tp + fn),
                "precision": (tp, tp + fp),
                "accuracy": (tp + tn, self.counts.sum()),
                "f1": (2 * tp, 2 * tp + fp + fn),
                "selection_rate": (tp + fp, self.counts.sum()),
                "base_rate": (tp + fn, self.counts.sum()),
                "mcc": (float(tp) * float(tn) - float(fp) * float(fn), root),
            }
            found = {name: float(np.float64(a) / np.float64(b)) for name, (a, b) in pairs.items()}
        found["balanced_accuracy"] = (found["tpr"] + found["tnr"]) / 2
        return {"tp": float(tp), "fp": float(fp), "fn": float(fn), "tn": float(tn), **found}

    def per_class(self, level: float = 0.95) -> Any:
        """Return a DataFrame with recall, its Wilson interval, precision and F1 of every class."""
        pd = import_pandas()
        rows = []
        for label in self.labels:
            found = self.rates(label)
            low, high = error_interval(found["tp"], found["tp"] + found["fn"], level=level)
            rows.append((found["tp"] + found["fn"], found["tpr"], low, high, found["precision"], found["f1"]))
        columns = ["support", "recall", "recall_low", "recall_high", "precision", "f1"]
        return pd.DataFrame(rows, index=pd.Index(self.labels, name="class"), columns=columns)

    def risk(self, loss: Any) -> float:
        """Return the mean loss; ``loss[truth, prediction]``, infinite where something must never happen."""
        loss = np.asarray(loss, dtype=float)
        if loss.shape != self.counts.shape or np.isnan(loss).any():
            raise DataError(
                f"loss must be a table of shape {self.counts.shape} without NaN; got {loss.shape}."
            )
        happened = self.counts > 0
        return float((self.counts[happened] * loss[happened]).sum() / self.counts.sum())

    def plot(self, ax: Any = None) -> Any:
        """Draw the table."""
        from gnomon.plot import heat_map

        ax = heat_map(self.counts, self.labels, self.labels, ax=ax, fmt="g")
        ax.set(xlabel="predicted", ylabel="true")
        return ax

    def _place(self, label: Any) -> int:
        found = np.flatnonzero(self.labels == label)
        if not len(found):
            raise DataError(f"there is no class {label!r}; there are {self.labels.tolist()}.")
        return int(found[0])


def confusion_table(
    y: Any,
    pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    threshold: float | None = None,
    boundary: str = "label",
) -> ConfusionTable:
    """Count how often each class was taken for each other.

    Parameters
    ----------
    y, pred : arrays of shape (n,)
        True and predicted labels. Labels that occur in one alone are counted as well.
    labels : sequence, optional
        Classes in the order of the table; sorted by default.
    sample_weight : array of shape (n,), optional
    threshold : float, optional
        With it, `pred` holds scores of two classes: the larger label is predicted at or above the threshold. The
        training error of a linear rule is ``1 - confusion_table(y, scores, threshold=0.0).accuracy``.
    boundary : {"label", "error"}, default="label"
        A score at the threshold counts as the larger label, or as an error whatever the class.

    Returns
    -------
    ConfusionTable
        With `rates`, `per_class`, `risk` under a loss, and `plot`.

    Examples
    --------
    >>> table = confusion_table([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    >>> table.counts
    array([[3, 2],
           [2, 3]])
    >>> round(table.rates()["mcc"], 6), table.risk([[0, 1], [5, 0]])
    (0.2, 1.2)
    >>> confusion_table([1, 1, -1, -1], [1.0, 0.0, -2.0, 0.0], threshold=0.0, boundary="error").accuracy
    0.5
    """
    y, pred = np.asarray(y), np.asarray(pred)
    if boundary not in ("label", "error"):
        raise DataError(f"boundary must be 'label' or 'error'; got {boundary!r}.")
    if y.ndim != 1 or y.shape != pred.shape or not len(y):
        raise DataError(
            f"y and pred must be vectors of one length, not empty; got {y.shape} and {pred.shape}."
        )
    if threshold is not None:
        pred = _decided(y, pred, labels, threshold, boundary)
    names, a, b = _codes(y, pred)
    if labels is not None:
        wanted = np.asarray(labels)
        place = {label: i for i, label in enumerate(wanted.tolist())}
        strange = [label for label in names.tolist() if label not in place]
        if strange:
            raise DataError(f"labels lacks {strange[:3]}, which occur in the data.")
        new = np.array([place[label] for label in names.tolist()])
        names, a, b = wanted, new[a], new[b]
    k = len(names)
    w = None if sample_weight is None else check_weights(sample_weight, len(y))
    counts = np.bincount(a * k + b, w, minlength=k * k).reshape(k, k)
    return ConfusionTable(counts, names)


def _decided(y: Array, scores: Array, labels: Any, threshold: float, boundary: str) -> Array:
    """Return the label that every score stands for."""
    classes = np.unique(y if labels is None else np.asarray(labels))
    if len(classes) > 2 or np.isnan(scores.astype(float)).any():
        raise DataError(
            f"a threshold parts scores without NaN of two classes; there are {len(classes)} classes."
        )
    if len(classes) < 2:
        raise DataError("y has one class only; give both in labels to know which one the scores are for.")
    said = classes[(scores >= threshold).astype(int)]
    if boundary == "error":
        other = np.where(y == classes[1], classes[0], classes[1])
        said = np.where(scores == threshold, other, said)
    return said


def _codes(y: Array, pred: Array) -> tuple[Array, Array, Array]:
    """Return the labels and the codes of both vectors; small whole numbers need no sorting."""
    whole = y.dtype.kind in "bui" and pred.dtype.kind in "bui"
    if whole:
        low = min(int(y.min()), int(pred.min()))
        span = max(int(y.max()), int(pred.max())) - low + 1
        if span <= 1024:
            a, b = y.astype(np.int64) - low, pred.astype(np.int64) - low
            there = (np.bincount(a, minlength=span) + np.bincount(b, minlength=span)) > 0
            if there.all():
                return np.arange(low, low + span), a, b
            new = np.cumsum(there) - 1
            return np.flatnonzero(there) + low, new[a], new[b]
    names, codes = np.unique(np.concatenate([y, pred]), return_inverse=True)
    return names, codes[: len(y)], codes[len(y) :]


def warn_once_more(uses: int) -> None:
    """Warn that test data were looked at again."""
    warnings.warn(
        f"the test data are used for the {uses}. time; what is chosen by them is no longer tested by them.",
        stacklevel=3,
    )
