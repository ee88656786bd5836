"""The decision stump: one question, chosen for the smallest weighted error."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin

from gnomon.core.parameters import StrOptions
from gnomon.core.rows import Chunk
from gnomon.core.steps import OneStep
from gnomon.core.sums import per_row
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads
from gnomon.loops.stumps import boundaries, class_stumps, signed_stumps

Array = np.ndarray
BLOCK_WORK = 200_000  # rows times features from which threads pay


class Sorted(NamedTuple):
    """Columns sorted once, for any number of stumps."""

    columns: Array  # (d, n) float64
    order: Array  # (d, n) int32
    cut: Array  # (d, n) uint8: 1 where a threshold fits behind the place


class Stump(NamedTuple):
    """One question; feature -1 answers `left` always. The sides are class codes."""

    feature: int
    threshold: float
    left: int
    right: int
    error: float  # weighted share of wrong answers

    def answers(self, X: Array) -> Array:
        """Return the class code of every row of X."""
        if self.feature < 0:
            return np.full(len(X), self.left)
        return np.where(X[:, self.feature] <= self.threshold, self.left, self.right)


def _blocks(n: int, d: int) -> list[tuple[int, int]]:
    step = d if n * d < BLOCK_WORK else -(-d // 8)
    return [(f, min(f + step, d)) for f in range(0, d, step)]


def sort_columns(X: Array) -> Sorted:
    """Sort every column of X once."""
    n, d = X.shape
    sorted_ = Sorted(
        np.ascontiguousarray(X.T, dtype=np.float64), np.empty((d, n), np.int32), np.empty((d, n), np.uint8)
    )

    def one(block: tuple[int, int]) -> None:
        for f in range(*block):
            sorted_.order[f] = np.argsort(sorted_.columns[f])
        boundaries(sorted_.columns, sorted_.order, *block, sorted_.cut)

    list(in_order(one, _blocks(n, d)))
    return sorted_


def fit_stump(
    data: Sorted, codes: Array, weight: Array, n_classes: int, *, allow_constant: bool = True
) -> Stump:
    """Return the stump with the smallest weighted error over all features and thresholds."""
    d, n = data.order.shape
    shares = np.bincount(codes, weights=weight, minlength=n_classes)
    total, tie = weight.sum(), 1e-12 * weight.sum()
    best, place = np.empty(d), np.empty(d, np.int64)
    if n_classes == 2:
        signed = np.where(codes == 1, weight, -weight)
        arguments = (signed, float(shares[1] - shares[0]))
        loop = signed_stumps
    else:
        arguments = (codes.astype(np.int32), weight, shares)
        loop = class_stumps
    work = _blocks(n, d)
    list(in_order(lambda block: loop(data.order, data.cut, *arguments, *block, tie, best, place), work))
    right = 0.5 * (best + total) if n_classes == 2 else best  # weight answered right
    f = int(np.argmax(right >= right.max() - tie)) if np.isfinite(right.max()) else -1
    if f < 0 or (allow_constant and shares.max() >= right[f] - tie):
        side = int(np.flatnonzero(shares >= shares.max() - tie)[0])
        return Stump(-1, np.inf, side, side, float(1.0 - shares[side] / total))
    return _stump_at(data, codes, weight, n_classes, f, int(place[f]), tie)


def _stump_at(
    data: Sorted, codes: Array, weight: Array, n_classes: int, f: int, place: int, tie: float
) -> Stump:
    x, order = data.columns[f], data.order[f]
    a, b = x[order[place]], x[order[place + 1]]
    threshold = a + (b - a) / 2
    threshold = threshold if threshold < b else a
    left = x <= threshold
    both = np.bincount(codes + n_classes * ~left, weights=weight, minlength=2 * n_classes)
    sides = both.reshape(2, n_classes)
    if n_classes == 2:  # opposite answers; a tie puts the second class on the left
        first = int(sides[0][1] + sides[1][0] >= sides[0][0] + sides[1][1] - tie)
        values = (first, 1 - first)
    else:
        values = tuple(int(np.flatnonzero(s >= s.max() - tie)[0]) for s in sides)
    wrong = np.where(left, codes != values[0], codes != values[1])
    return Stump(f, float(threshold), *values, float(weight[wrong].sum() / weight.sum()))


def _answers(chunk: Chunk, stump: Stump) -> Array:
    return stump.answers(chunk.X)


class DecisionStump(ClassifierMixin, OneStep):
    r"""The one-split classifier with the smallest weighted error: the weak learner of boosting.

    .. math:: \min_{j, t, a, b} \sum_i w_i \,
              \mathbb{1}\{ y_i \ne (a \text{ if } x_{ij} \le t \text{ else } b) \}

    All features and thresholds are tried: one sort per feature, then one pass. Ties go to the lowest feature,
    the lowest threshold, and ``classes_[1]`` on the left. A tree of depth one with another impurity may have
    a larger error; the theory of boosting needs this one.

    Parameters
    ----------
    criterion : {"error"}, default="error"
        What is minimized.
    allow_constant : bool, default=True
        Answer with one class when no threshold beats that.

    Attributes
    ----------
    feature_, threshold_ : int, float
        The question; feature -1 when the answer is constant.
    left_value_, right_value_ : class labels
        The answers.
    error_ : float
        Weighted training error.
    classes_ : array

    Examples
    --------
    >>> stump = DecisionStump().fit([[1.0], [2.0], [3.0], [4.0]], [1, -1, 1, -1], [0.1, 0.4, 0.4, 0.1])
    >>> stump.threshold_, stump.left_value_.item(), round(stump.error_, 6)
    (2.5, -1, 0.2)
    """

    _reads = Reads(y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({"error"})],
        "allow_constant": ["boolean"],
    }

    def __init__(self, criterion="error", *, allow_constant=True):
        self.criterion = criterion
        self.allow_constant = allow_constant

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        keep = rows.weight > 0
        found = fit_stump(
            sort_columns(rows.X[keep]),
            rows.y[keep],
            rows.weight[keep],
            len(rows.classes),
            allow_constant=self.allow_constant,
        )
        return self._facts(found, rows.classes), found.error

    @staticmethod
    def _facts(found: Stump, classes: Array) -> dict[str, Any]:
        return {
            "stump_": found,
            "feature_": found.feature,
            "threshold_": found.threshold,
            "left_value_": classes[found.left],
            "right_value_": classes[found.right],
            "error_": found.error,
        }

    def predict(self, X: Any) -> Array:
        """Return the answer for each row."""
        rows = self._rows(X)
        return self.classes_[per_row(_answers, rows, self.stump_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def feature_importances_(self) -> Array:
        """One for the feature that is asked, zero for the others."""
        found = np.zeros(self.n_features_in_)
        if self.feature_ >= 0:
            found[self.feature_] = 1.0
        return found
