"""What every model of neighbors has: data of any kind, one search index, and questions to it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics import DistanceMetric
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.items import Items
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.validate import Reads, encode, warn, weights
from gnomon.neighbors.choose_index import build
from gnomon.neighbors.metrics import NAMES, SEQUENCES, resolve
from gnomon.neighbors.search_index import Found, Index, len_of

METRIC_RULES: dict[str, Any] = {
    "algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree", "vp_tree"})],
    "leaf_size": [Interval(Integral, 1, None, closed="left")],
    "p": [Interval(Real, 0, None, closed="right"), None],
    "metric": [StrOptions(set(NAMES)), callable, DistanceMetric],
    "metric_params": [dict, None],
    "n_jobs": [Integral, None],
}


class Searching(OneStep):
    """A model that keeps its rows in an index and asks it. Subclasses write `_answers(data)`."""

    algorithm: str
    leaf_size: int
    p: float
    metric: Any
    metric_params: dict[str, Any] | None
    index_: Index
    _target: ClassVar[str | None] = None

    # reading

    @property
    def _reads(self) -> Reads:  # type: ignore[override]
        return Reads(
            sparse=not self._sequences and self.metric != "nan_euclidean",
            nan=self.metric == "nan_euclidean",
            y=self._target,
        )

    @property
    def _sequences(self) -> bool:
        return isinstance(self.metric, str) and self.metric in SEQUENCES

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.string = self._sequences
        return tags

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if self._sequences or (callable(self.metric) and not _numeric(X)):
            return self._read_items(X, y, sample_weight, reset)
        _refuse_words(X, self.metric)
        if self.metric == "precomputed":
            _refuse_formats(X)
        rows = super()._read(_rows_of_index(X), y, sample_weight, reset=reset, **options)
        if self.metric == "precomputed":
            _check_distances(rows.X, rows.n_rows if reset else None)
        return rows

    def _read_items(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Items:
        """Return sequences, or whatever the user's metric compares."""
        if reset:
            check_parameters(self)
        items = _items(X)
        codes, classes = None, None
        if reset and self._target is not None:
            if y is None:
                raise DataError("y is missing: give one target for each item of X.")
            if self._target == "class":
                classes, codes = encode(y)
            else:
                codes = np.asarray(y, dtype=np.float64)
            if len(codes) != len(items):
                raise DataError(f"X has {len(items)} items and y has {len(codes)}; they must agree.")
        weight = None if sample_weight is None else weights(sample_weight, len(items))
        return Items(items, codes, weight, classes)

    def _query(self, X: Any) -> Any:
        """Return what the index is asked about: a matrix, or a list of items."""
        check_is_fitted(self)
        if self._sequences or (callable(self.metric) and not _numeric(X)):
            return _items(X)
        if self.metric == "precomputed":
            return self._distances_to(X)
        _refuse_words(X, self.metric)
        return self._rows(X).X

    def _distances_to(self, X: Any) -> Any:
        """Return given distances of queries to the training rows that count."""
        _refuse_formats(X)
        D = self._rows(X).X
        _check_distances(D, None)
        return D if self.kept_ is None else D[:, self.kept_]

    # learning

    def _answers(self, data: Any) -> dict[str, Any]:
        """Return what is learned beside the index."""
        return {}

    def _solve(self, data: Any) -> dict[str, Any]:
        X, kept = data.X, None
        if data.weighted and (data.weight <= 0).any():
            kept = np.flatnonzero(data.weight > 0)
            X = [X[i] for i in kept] if isinstance(X, list) else X[kept]
            X = X[:, kept] if self.metric == "precomputed" else X
        if self.metric == "minkowski" and "p" in (self.metric_params or {}):
            warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
            )
        metric = resolve(self.metric, 2.0 if self.p is None else self.p, self.metric_params, X)
        index = build(X, metric, self.algorithm, self.leaf_size, int(getattr(self, "n_neighbors", None) or 5))
        return {
            "index_": index,
            "kept_": kept,
            "effective_metric_": metric.name if metric.name != "callable" else self.metric,
            "effective_metric_params_": dict(self.metric_params or {}),
            "n_samples_fit_": len(data),
            "row_weight_": _positive(data.weight) if data.weighted else None,
            **self._answers(data),
        }

    def _check_loaded(self) -> None:
        """Refuse a file whose index would lead a compiled search astray."""
        index = getattr(self, "index_", None)
        if index is None:
            return
        if not isinstance(index, Index):
            raise ModelFileError("it has no search index.")
        index.check()
        unit = getattr(index.metric, "unit", 1.0)
        if type(unit) is not float or not 0.0 < unit < math.inf:
            raise ModelFileError(f"the unit of its distances cannot be {unit!r}. Get a new copy.")
        for name in ("row_weight_", "kept_"):
            values = getattr(self, name)
            if values is not None and len(values) != index.n_rows:
                raise ModelFileError(f"its {name} does not fit its rows.")

    # asking

    def _nearest(self, X: Any, k: int | None) -> tuple[Array, Array]:
        """Return distances and positions in the index; without X, of the training rows without themselves."""
        k = self._check_k(k, X is None, X=X)
        with self._threads():
            if X is not None:
                return self.index_.nearest(self._query(X), k)
            check_is_fitted(self)
            values, rows = self.index_.nearest(self.index_.rows, k + 1, prepared=True)
        return without_self(values, rows)

    def _check_k(self, k: Any, own: bool, n: int | None = None, X: Any = None) -> int:
        """Return k, checked against the n rows that are there, the training rows by default."""
        check_is_fitted(self)
        k = self.n_neighbors if k is None else k  # type: ignore[attr-defined]
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        n = self.index_.n_rows if n is None else n
        if k > n - own:
            sign, rest = ("<", ": a row is not its own neighbor") if own else ("<=", "")
            raise DataError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n}, "
                f"n_samples = {n if X is None else len_of(X)}{rest}. Lower n_neighbors."
            )
        return int(k)

    def _within(self, X: Any, radius: float | None) -> Found:
        check_is_fitted(self)
        radius = self.radius if radius is None else radius  # type: ignore[attr-defined]
        if not isinstance(radius, Real) or not radius >= 0:
            raise DataError(f"radius must be one number, not negative; got {radius!r}.")
        with self._threads():
            if X is not None:
                return self.index_.within(self._query(X), float(radius))
            found = self.index_.within(self.index_.rows, float(radius), prepared=True)
        query = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
        keep = query != found.rows
        counts = np.bincount(query[keep], minlength=len(found.ends) - 1)
        return Found(np.concatenate([[0], np.cumsum(counts)]), found.distances[keep], found.rows[keep])

    def _ballot(self, X: Any) -> Any:
        """Return who votes for every query, and how much."""
        raise NotImplementedError

    def _training_rows(self, positions: Array) -> Array:
        """Return the numbers of the training rows at positions of the index."""
        return positions if self.kept_ is None else self.kept_[positions]


def without_self(values: Array, rows: Array) -> tuple[Array, Array]:
    """Drop every row from its own list of one too many; where equals have crowded it out, the last."""
    n, k = rows.shape
    own = rows == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return values[~own].reshape(n, k - 1), rows[~own].reshape(n, k - 1)


def _positive(weight: Array) -> Array:
    return weight[weight > 0]


def _numeric(X: Any) -> bool:
    if sparse.issparse(X) or hasattr(X, "columns"):
        return True
    if isinstance(X, np.ndarray):
        return X.dtype != object and X.ndim == 2
    try:
        return np.asarray(X, dtype=np.float64).ndim == 2
    except (TypeError, ValueError):
        return False


def _items(X: Any) -> list[Any]:
    if isinstance(X, str):
        raise DataError(f"X must be a sequence of sequences, such as a list of words; got the string {X!r}.")
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    items = [str(item) if isinstance(item, np.str_) else item for item in values]
    if not items:
        raise DataError("X is empty; give at least one item.")
    if not all(hasattr(item, "__len__") for item in items):
        raise DataError("metric='edit' compares sequences: strings, or lists of symbols; X has other items.")
    return [item if isinstance(item, str) else tuple(_plain(s) for s in item) for item in items]


def _plain(symbol: Any) -> Any:
    return symbol.item() if isinstance(symbol, np.generic) else symbol


def _rows_of_index(X: Any) -> Any:
    """Return the rows of a tree of scikit-learn or of a model of neighbors; whatever else as it is."""
    if type(X).__name__ in ("KDTree", "BallTree") and hasattr(X, "data"):
        return np.asarray(X.data)
    if isinstance(X, Searching):
        check_is_fitted(X)
        metric = X.index_.metric
        if metric.whiten is not None or metric.name in ("cosine", "correlation") or X.kept_ is not None:
            raise DataError("X is a model whose metric has changed its rows; give the rows themselves.")
        return X.index_.rows
    return X


def _refuse_formats(X: Any) -> None:
    if sparse.issparse(X) and X.format in ("dok", "bsr"):
        raise TypeError(
            f"Sparse matrix in {X.format.upper()!r} format is not supported due to its handling of explicit zeros; "
            "give distances as CSR."
        )


def _refuse_words(X: Any, metric: Any) -> None:
    some = X[0] if isinstance(X, list | tuple) and len(X) else X
    words = isinstance(some, str) or (isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "US")
    if words:
        raise DataError(f"X has strings, and metric={metric!r} needs numbers; metric='edit' compares words.")


def _check_distances(D: Any, n: int | None) -> None:
    values = D.data if sparse.issparse(D) else D
    if values.size and values.min() < 0:
        raise DataError("Negative values in data passed to precomputed distance matrix.")
    if n is not None and D.shape != (n, n):
        raise DataError(f"Precomputed matrix must be square: X of metric='precomputed' has shape {D.shape}.")
