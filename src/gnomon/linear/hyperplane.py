"""Half-spaces: what every linear classifier can tell about its boundary, and one made by hand."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import per_row
from gnomon.core.validate import check_fitted, matrix


def score_rows(chunk, coef, intercept):
    """Return x·coef + intercept for the rows of a chunk; coef is (d, k)."""
    scores = chunk.X @ coef
    return scores + intercept


class LinearClassifierMixin(ClassifierMixin):
    """Scores, distances and margins of a classifier with `coef_` (k, d) and `intercept_` (k,)."""

    boundary: str = "negative"

    def decision_function(self, X: Any) -> Array:
        """Return the scores f(x) = w·x + b: one a row for two classes, else one a class."""
        rows = self._rows(X)
        known = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        coef = np.ascontiguousarray(np.atleast_2d(known).T)
        scores = per_row(score_rows, rows, coef, np.asarray(self.intercept_))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """Return the class of every row; f(x) = 0 goes to the first class unless ``boundary="positive"``."""
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return self.classes_[scores.argmax(axis=1)]
        right = scores >= 0 if self.boundary == "positive" else scores > 0
        return self.classes_[right.astype(int)]

    def signed_distance(self, X: Any) -> Array:
        """Return f(x)/‖w‖: the distance of each row, positive on the side of the second class."""
        return self.decision_function(X) / self._length()

    def functional_margin(self, X: Any, y: Any) -> Array:
        """Return y·f(x) with y coded −1 and +1."""
        check_consistent_length(X, y)
        return self._signs(y) * self.decision_function(X)

    def margins(self, X: Any, y: Any) -> Array:
        """Return y·f(x)/‖w‖, the distance to the boundary, negative for rows on the wrong side."""
        return self.functional_margin(X, y) / self._length()

    def margin(self, X: Any, y: Any) -> float:
        """Return the smallest of the margins."""
        return float(self.margins(X, y).min())

    def project(self, X: Any) -> Array:
        """Return the foot of every row on the boundary."""
        w = self._normal()
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        return X - np.outer(self.decision_function(X) / (w @ w), w)

    def margin_boundaries(self) -> tuple[tuple[Array, float], tuple[Array, float]]:
        """Return (w, b − 1) and (w, b + 1): the lines f = 1 and f = −1, at distance 1/‖w‖."""
        w, b = self._normal(), float(np.ravel(self.intercept_)[0])
        return (w, b - 1.0), (w, b + 1.0)

    def half_spaces(self) -> dict[Any, tuple[Array, float]]:
        """Return for each class the (w, b) with w·x + b > 0 on its side."""
        w, b = self._normal(), float(np.ravel(self.intercept_)[0])
        return {self.classes_[0]: (-w, -b), self.classes_[1]: (w, b)}

    def violators(self, X: Any, y: Any, level: float = 1.0) -> Array:
        """Return the rows with y·f(x) < level."""
        return np.flatnonzero(self.functional_margin(X, y) < level)

    def mistakes(self, X: Any, y: Any) -> Array:
        """Return the rows with y·f(x) ≤ 0: boundary points count as mistakes for both classes."""
        check_consistent_length(X, y)
        if len(self.classes_) > 2:
            return np.flatnonzero(self.predict(X) != column_or_1d(y))
        return np.flatnonzero(self.functional_margin(X, y) <= 0.0)

    def error(self, X: Any, y: Any) -> float:
        """Return the share of mistakes: training error on training rows, test error on new ones."""
        return len(self.mistakes(X, y)) / len(np.asarray(y))

    def _normal(self) -> Array:
        if self.coef_.ndim == 2 and self.coef_.shape[0] != 1:
            raise DataError(
                f"{type(self).__name__} has {len(self.classes_)} classes; a hyperplane has two sides."
            )
        w = np.ravel(self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_).astype(float)
        if not np.any(w):
            raise DegenerateError(
                "w = 0: there is no boundary to measure from. Fit with less penalty, or other data."
            )
        return w

    def _length(self) -> float:
        return float(np.linalg.norm(self._normal()))

    def _signs(self, y: Any) -> Array:
        self._normal_or_zero()
        y = column_or_1d(y)
        strange = ~np.isin(y, self.classes_)
        if strange.any():
            raise DataError(
                f"y holds {y[strange].tolist()[0]!r}, which is not one of the classes {self.classes_.tolist()}."
            )
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def _normal_or_zero(self) -> None:
        if len(self.classes_) != 2:
            raise DataError(f"margins need two classes; {type(self).__name__} has {len(self.classes_)}.")

    def _adopt(self, attributes: dict[str, Any], rows: Any = None) -> None:
        """Keep the learned attributes; coefficients take the precision of the data."""
        if rows is not None and rows.dtype == np.float32:
            narrow = {k: attributes[k].astype(np.float32) for k in ("coef_", "intercept_") if k in attributes}
            attributes = {**attributes, **narrow}
        super()._adopt(attributes, rows)


class SparseCoefficients:
    """Learned coefficients that may be kept as a sparse matrix."""

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, which takes less memory where more than half of it is zero."""
        check_fitted(self)
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again."""
        check_fitted(self)
        self.coef_ = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return self


class LinearClassifier(LinearClassifierMixin):
    r"""A half-space given by hand: predict the second class where :math:`w\cdot x + b > r`.

    For geometry and for checking what a learner found; every learned linear classifier has the same methods.
    It learns nothing, so it has no `fit`.

    Parameters
    ----------
    coef : array of shape (d,)
    intercept : float, default=0.0
    classes : pair, default=(-1, 1)
    threshold : float, default=0.0
        r; it is folded into the intercept, b − r.
    boundary : {"negative", "positive"}, default="negative"
        Which class owns the points with f(x) = 0.

    Attributes
    ----------
    coef_ : array of shape (1, d)
    intercept_ : array of shape (1,)
        b − r.
    classes_ : array of shape (2,)

    Examples
    --------
    >>> plane = LinearClassifier([3.0, 4.0], -5.0)
    >>> plane.signed_distance([[3.0, 4.0], [0.0, 0.0]])
    array([ 4., -1.])
    >>> plane.project([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """

    def __init__(self, coef=(1.0,), intercept=0.0, *, classes=(-1, 1), threshold=0.0, boundary="negative"):
        self.coef = coef
        self.intercept = intercept
        self.classes = classes
        self.threshold = threshold
        self.boundary = boundary

    @property
    def coef_(self) -> Array:
        """Normal vector, as a row."""
        return np.atleast_2d(np.asarray(self.coef, dtype=float))

    @property
    def intercept_(self) -> Array:
        """Intercept with the threshold folded in."""
        return np.array([float(self.intercept) - float(self.threshold)])

    @property
    def classes_(self) -> Array:
        """The two classes, in the order given."""
        return np.asarray(self.classes)

    @property
    def n_features_in_(self) -> int:
        """Width of the rows."""
        return int(np.size(self.coef))

    def _rows(self, X: Any) -> MemoryRows:
        found = matrix(X, allow_sparse=True)
        if found.shape[1] != self.n_features_in_:
            raise DataError(
                f"coef has {self.n_features_in_} entries and X {found.shape[1]} columns; they must agree."
            )
        return MemoryRows(found)


class PushForward(NamedTuple):
    """Weights in the mapped space, whether they are exact, and what is missing if not."""

    coef: Array
    exists: bool
    residual: float


def pull_back(coef_z: Any, A: Any) -> Array:
    """Return θ_x = Aᵀθ_z: the weights on x that equal θ_z on the features z = A x.

    >>> pull_back([2.0], [[1.0, 0.5]])
    array([2., 1.])
    """
    return np.asarray(A, dtype=float).T @ np.asarray(coef_z, dtype=float)


def push_forward(coef_x: Any, A: Any, *, tol: float = 1e-10) -> PushForward:
    """Return the θ_z with Aᵀθ_z = θ_x, if θ_x lies in the row space of A; else the nearest and the residual.

    >>> push_forward([2.0, 1.0], [[1.0, 0.5]]).coef
    array([2.])
    """
    A, coef_x = np.asarray(A, dtype=float), np.asarray(coef_x, dtype=float)
    coef = np.linalg.pinv(A.T) @ coef_x
    residual = float(np.linalg.norm(A.T @ coef - coef_x))
    return PushForward(coef, residual <= tol * max(1.0, float(np.linalg.norm(coef_x))), residual)


def fold_intercept(coef: Any, intercept: float) -> Array:
    """Return (w, b): weights through the origin for rows with a 1 appended. `unfold` is slicing it off.

    >>> fold_intercept([1.0, 2.0], -3.0)
    array([ 1.,  2., -3.])
    """
    return np.append(np.asarray(coef, dtype=float), float(intercept))


def encode_labels(y: Any, code: str = "pm1", *, classes: Any = None) -> Array:
    """Return labels as −1/+1 (``"pm1"``), 0/1 (``"01"``) or one column a class (``"onehot"``).

    >>> encode_labels(["no", "yes", "no"])
    array([-1.,  1., -1.])
    >>> encode_labels(["a", "c", "b"], "onehot")
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """
    from gnomon.core.errors import nearest
    from gnomon.core.validate import encode

    classes, codes = encode(y, classes)
    if code == "onehot":
        return np.eye(len(classes))[codes]
    if code not in ("pm1", "01"):
        raise ValueError(
            f"code must be 'pm1', '01' or 'onehot'; got {code!r}.{nearest(code, ('pm1', 'onehot'))}"
        )
    if len(classes) != 2:
        raise DataError(f"code={code!r} needs two classes; y has {len(classes)}. Use code='onehot'.")
    return 2.0 * codes - 1.0 if code == "pm1" else codes.astype(float)
