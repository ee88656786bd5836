"""The decision stump: one question, chosen for the smallest weighted error."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import ModelFileError
from gnomon.core.parameters import StrOptions
from gnomon.core.rows import Chunk
from gnomon.core.sums import per_row
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads
from gnomon.loops.stumps import boundaries, class_stumps, signed_stumps
from gnomon.trees.sparse_columns import SparseColumns, sparse_columns

Array = np.ndarray
BLOCK_WORK = 200_000  # rows times features from which threads pay


class Sorted(NamedTuple):
    """Columns sorted once, for any number of stumps."""

    columns: Array  # (d, n) float64
    order: Array  # (d, n) int32
    cut: Array  # (d, n) uint8: 1 where a threshold fits behind the place

    def column(self, f: int) -> Array:
        """Return a column, row by row."""
        return self.columns[f]

    def border(self, f: int, place: int) -> tuple[float, float]:
        """Return the values on both sides of a cut."""
        return self.columns[f][self.order[f][place]], self.columns[f][self.order[f][place + 1]]


class SortedEntries(NamedTuple):
    """The same for a sparse X: entries that are not zero, and one for all the zeros of a column."""

    entries: SparseColumns
    starts: Array  # (d + 1,) where the entries of each column begin, that of its zeros included
    rows: Array  # (e,) -1 for zeros
    values: Array  # (e,) sorted in every column
    cut: Array  # (e,) whether a threshold fits behind the entry

    def column(self, f: int) -> Array:
        """Return a column, row by row."""
        return self.entries.column(f)

    def border(self, f: int, place: int) -> tuple[float, float]:
        """Return the values on both sides of a cut."""
        return self.values[place], self.values[place + 1]

    def best_cuts(self, stats: Array, gain: Any, tie: float) -> tuple[Array, Array]:
        """Return the best gain of every column and the entry behind which it lies, -inf and -1 where none fits.

        `stats` are numbers of every row, (n, k); ``gain(left, right)`` values what they add up to on both sides.
        """
        d, zero = len(self.starts) - 1, np.flatnonzero(self.rows < 0)
        column = np.repeat(np.arange(d), np.diff(self.starts))
        terms, total = stats[self.rows], stats.sum(axis=0)
        terms[zero] = 0.0
        sums = np.stack([np.bincount(column, weights=term, minlength=d) for term in terms.T], axis=1)
        terms[zero] = total - sums[column[zero]]
        running = np.cumsum(terms, axis=0)
        before = np.vstack([np.zeros((1, len(total))), running])[self.starts[:-1]]
        left = running - before[column]
        value = np.where(self.cut, gain(left, total - left), -np.inf)
        best = np.maximum.reduceat(value, self.starts[:-1])
        found = np.flatnonzero(self.cut & (value >= best[column] - tie))
        place = np.full(d, -1)
        place[column[found][::-1]] = found[::-1]  # the first of them
        return best, place


class Stump(NamedTuple):
    """One question; feature -1 answers `left` always. The sides are class codes."""

    feature: int
    threshold: float
    left: int
    right: int
    error: float  # weighted share of wrong answers

    def answers(self, X: Any) -> Array:
        """Return the class code of every row of X."""
        if self.feature < 0:
            return np.full(X.shape[0], self.left)
        x = X[:, [self.feature]].toarray()[:, 0] if sparse.issparse(X) else X[:, self.feature]
        return np.where(x <= self.threshold, self.left, self.right)


def _blocks(n: int, d: int) -> list[tuple[int, int]]:
    step = d if n * d < BLOCK_WORK else -(-d // 8)
    return [(f, min(f + step, d)) for f in range(0, d, step)]


def sort_columns(X: Any) -> Sorted | SortedEntries:
    """Sort every column of X once; of a sparse one the entries that are not zero."""
    if sparse.issparse(X):
        return _sort_entries(sparse_columns(X))
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


def _sort_entries(entries: SparseColumns) -> SortedEntries:
    """Put one entry for the zeros of every column that has some in its place among the others."""
    d, sizes = len(entries.categories), np.diff(entries.starts)
    with_zeros = np.flatnonzero(sizes < entries.n_rows)
    column = np.repeat(np.arange(d), sizes)
    negative = np.bincount(column[entries.values < 0], minlength=d)
    places = entries.starts[with_zeros] + negative[with_zeros]
    rows, values = np.insert(entries.rows, places, -1), np.insert(entries.values, places, 0.0)
    column = np.insert(column, places, with_zeros)
    cut = np.append((column[1:] == column[:-1]) & (values[1:] > values[:-1]), False)
    starts = np.append(0, np.cumsum(np.bincount(column, minlength=d)))
    return SortedEntries(entries, starts, rows, values, cut)


def fit_stump(
    data: Sorted | SortedEntries, codes: Array, weight: Array, n_classes: int, *, allow_constant: bool = True
) -> Stump:
    """Return the stump with the smallest weighted error over all features and thresholds."""
    shares = np.bincount(codes, weights=weight, minlength=n_classes)
    total, tie = weight.sum(), 1e-12 * weight.sum()
    best, place = _best_places(data, codes, weight, shares, tie)
    right = 0.5 * (best + total) if n_classes == 2 else best  # weight answered right
    f = int(np.argmax(right >= right.max() - tie)) if np.isfinite(right.max()) else -1
    if f < 0 or (allow_constant and shares.max() >= right[f] - tie):
        side = int(np.flatnonzero(shares >= shares.max() - tie)[0])
        return Stump(-1, np.inf, side, side, float(1.0 - shares[side] / total))
    return _stump_at(data, codes, weight, n_classes, f, int(place[f]), tie)


def _best_places(
    data: Sorted | SortedEntries, codes: Array, weight: Array, shares: Array, tie: float
) -> tuple[Array, Array]:
    """Best cut of every column: the weight answered right (less the wrong one for two classes), and its place."""
    signed = np.where(codes == 1, weight, -weight)
    if isinstance(data, SortedEntries) and len(shares) == 2:
        return data.best_cuts(signed[:, None], lambda left, right: np.abs(left - right)[:, 0], tie)
    if isinstance(data, SortedEntries):
        stats = weight[:, None] * (codes[:, None] == np.arange(len(shares)))
        return data.best_cuts(stats, lambda left, right: left.max(axis=1) + right.max(axis=1), tie)
    d, n = data.order.shape
    best, place = np.empty(d), np.empty(d, np.int64)
    arguments: tuple[Any, ...] = (codes.astype(np.int32), weight, shares)
    loop = class_stumps
    if len(shares) == 2:
        arguments, loop = (signed, float(shares[1] - shares[0])), signed_stumps
    work = _blocks(n, d)
    list(in_order(lambda block: loop(data.order, data.cut, *arguments, *block, tie, best, place), work))
    return best, place


def _stump_at(
    data: Any, codes: Array, weight: Array, n_classes: int, f: int, place: int, tie: float
) -> Stump:
    x, (a, b) = data.column(f), data.border(f, place)
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

    _reads = Reads(y="class", sparse=True)
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

    def _check_loaded(self) -> None:
        if "stump_" not in vars(self):
            return
        feature, _, left, right, _ = self.stump_
        if not all(isinstance(number, int | np.integer) for number in (feature, left, right)) or not (
            -1 <= feature < self.n_features_in_
            and 0 <= min(left, right) <= max(left, right) < len(self.classes_)
        ):
            raise ModelFileError(
                "its question or answers do not fit its columns and classes. Get a new copy."
            )

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
