"""Classes by the vote of neighbors: the k nearest, or all within a radius."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, warn
from gnomon.neighbors.asking import KNearest, WithinRadius
from gnomon.neighbors.searching import Searching
from gnomon.neighbors.tables import mistakes, table
from gnomon.neighbors.voting import count


class Votes(ClassifierMixin, Searching):  # type: ignore[misc]
    """What every classifier by votes has."""

    _target: ClassVar[str | None] = "class"
    weights: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        several = reset and y is not None and np.asarray(y).ndim == 2 and np.asarray(y).shape[1] > 1
        if not several:
            return super()._read(X, y, sample_weight, reset=reset, **options)
        y = np.asarray(y)
        if len(y) != (X.shape[0] if hasattr(X, "shape") else len(X)):
            raise DataError(f"X and y have inconsistent numbers of samples: y has {len(y)}.")
        pairs = [encode(column) for column in y.T]
        data = super()._read(X, y[:, 0], sample_weight, reset=reset, **options)
        data.y = np.column_stack([codes for _, codes in pairs])
        data.classes = [classes for classes, _ in pairs]
        return data

    def _answers(self, data: Any) -> dict[str, Any]:
        codes = data.y if data.weighted is False else data.y[data.weight > 0]
        return {"targets_": codes, "outputs_2d_": codes.ndim == 2}

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "index_"):
            return
        for codes, classes in self._outputs():
            if len(codes) != self.index_.n_rows or codes.min() < 0 or codes.max() >= len(classes):
                raise ModelFileError("its targets do not fit its rows and classes.")

    def _outputs(self) -> list[tuple[Array, Array]]:
        """Return codes and classes of every output."""
        check_is_fitted(self)
        if not self.outputs_2d_:
            return [(self.targets_, self.classes_)]
        return list(zip(self.targets_.T, self.classes_, strict=True))

    def _counts(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        ballot = self._ballot(X)
        found = [count(ballot, codes, len(classes)) for codes, classes in self._outputs()]
        empty = np.flatnonzero(~(np.abs(found[0].sum(axis=1)) > 0))  # nor is NaN a vote
        if len(empty):
            raise DataError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if "
                f"you are using a user-defined function. The first such row is {empty[0]}."
            )
        return found

    def votes(self, X: Any) -> Any:
        """Return the votes for every class: (n, K), or a list of them for several outputs."""
        found = self._counts(X)
        return found if self.outputs_2d_ else found[0]

    def predict(self, X: Any) -> Array:
        """Return the class with most votes; of equals the first in `classes_`."""
        chosen = [
            classes[votes.argmax(axis=1)]
            for votes, (_, classes) in zip(self._counts(X), self._outputs(), strict=True)
        ]
        return np.column_stack(chosen) if self.outputs_2d_ else chosen[0]

    def predict_proba(self, X: Any) -> Any:
        """Return every class's share of the votes: (n, K), or a list of them for several outputs."""
        found = [shares_of(votes) for votes in self._counts(X)]
        return found if self.outputs_2d_ else found[0]


def shares_of(votes: Array) -> Array:
    """Divide every row by its sum; a row without votes stays zero."""
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.zeros_like(votes), where=total > 0)


class KNeighborsClassifier(Votes, KNearest):
    r"""Classification by the majority of the k nearest rows.

    .. math:: \hat y(x) = \arg\max_c \sum_{i\in N_k(x)} \omega_i\,[y_i = c]

    There is nothing to learn but the rows themselves; the answer follows any boundary as rows grow dense, and is
    consistent when k → ∞ and k/n → 0 (`suggest_k` is a start). With k = 1 the error is at most twice that of the best
    possible rule in the limit (`bayes_error_bounds`), but mislabeled rows are repeated. Bring the columns to
    comparable scales first, and expect little in many columns, where all rows are about equally far.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows that vote. With weights, rows are counted as often as they weigh.
    weights : {"uniform", "distance"} or callable, default="uniform"
        :math:`\omega = 1`; :math:`1/d`, and where some d is zero those rows alone; or a function of the
        distances.
    algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `NearestNeighbors`.

    Attributes
    ----------
    classes_ : array, or a list of them for several outputs
    index_ : Index
        The rows, ready to be searched; saved with the model.
    effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_
        As in scikit-learn.

    Examples
    --------
    >>> model = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [3.0], [10.0]], [0, 0, 1, 1, 1])
    >>> model.predict([[1.4]]), model.votes([[1.4]])
    (array([0]), array([[2., 1.]]))
    """

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; without X, of every training row by its neighbors without itself."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def neighbors_table(self, X: Any) -> Any:
        """Return who decided: query, place, row, distance, weight and label of every neighbor.

        Parameters
        ----------
        X : rows to ask about, or None for the training rows without themselves

        Returns
        -------
        polars DataFrame
            One line for each neighbor of each query, nearest first.
        """
        labels = np.column_stack([classes[codes] for codes, classes in self._outputs()])
        return table(self, self._ballot(X), labels)

    def error_curve(self, X: Any, y: Any, k_values: Any) -> Array:
        """Return the share of mistakes on labeled rows for many k from one search.

        Parameters
        ----------
        X, y : rows and their classes
        k_values : sequence of int

        Returns
        -------
        array of shape (len(k_values),)
        """
        return mistakes(self, X, y, k_values)

    def loo_error_curve(self, k_values: Any) -> Array:
        """Return the share of mistakes on the training rows for many k, each row without itself."""
        return mistakes(self, None, None, k_values)

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """Draw the regions of the classes (two columns)."""
        from gnomon.plot.regions import decision_regions

        return decision_regions(self, X, y, ax=ax)


class RadiusNeighborsClassifier(Votes, WithinRadius):
    r"""Classification by the majority of all rows within a radius.

    .. math:: \hat y(x) = \arg\max_c \sum_{i:\,d(x, x_i)\le r} \omega_i\,[y_i = c]

    Better than k nearest where rows are unevenly dense and far rows should say nothing. A query without any row in
    reach is an outlier: it gets `outlier_label`, or is an error.

    Parameters
    ----------
    radius : float, default=1.0
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `KNeighborsClassifier`.
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        What a query without neighbors is called; None: an error that names the rows.

    Attributes
    ----------
    classes_, index_, effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_
        As in `KNeighborsClassifier`.
    outlier_label_ : label or list, or None

    Examples
    --------
    >>> model = RadiusNeighborsClassifier(1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict_proba([[1.4]])
    array([[0.5, 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WithinRadius._parameter_constraints,
        "outlier_label": [Real, str, np.generic, "array-like", None],
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        outlier_label: Any = None,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            radius,
            weights=weights,
            algorithm=algorithm,
            leaf_size=leaf_size,
            p=p,
            metric=metric,
            metric_params=metric_params,
            n_jobs=n_jobs,
        )
        self.outlier_label = outlier_label

    def _answers(self, data: Any) -> dict[str, Any]:
        found = super()._answers(data)
        codes = found["targets_"].reshape(len(found["targets_"]), -1)
        classes = data.classes if found["outputs_2d_"] else [data.classes]
        weight = data.weight[data.weight > 0]
        labels = [
            _outlier(given, codes[:, j], classes[j], weight)
            for j, given in enumerate(_each(self.outlier_label, len(classes)))
        ]
        none = self.outlier_label is None
        found["outlier_label_"] = None if none else labels if found["outputs_2d_"] else labels[0]
        return found

    def _counts(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        ballot = self._ballot(X)
        alone = np.bincount(ballot.query, weights=ballot.weight != 0, minlength=ballot.n_queries) == 0
        if alone.any() and self.outlier_label_ is None:
            rows = np.flatnonzero(alone)
            raise DataError(
                f"No neighbors found for test samples {rows[:8]}{'...' if len(rows) > 8 else ''}, you can try "
                f"using larger radius, giving a label for outliers, or considering removing them from your "
                f"dataset. Now radius={self.radius}."
            )
        found = [count(ballot, codes, len(classes)) for codes, classes in self._outputs()]
        if alone.any():
            self._label_outliers(found, alone)
        return found

    def _label_outliers(self, found: list[Array], alone: Array) -> None:
        """Give queries without neighbors one vote for the label of outliers, where it is a class."""
        for votes, (_, classes), label in zip(
            found, self._outputs(), _each(self.outlier_label_, len(found)), strict=True
        ):
            place = np.flatnonzero(classes == label)
            if len(place):
                votes[alone, place[0]] = 1.0
            else:
                warn(
                    f"Outlier label {label!r} is not in training classes. All class probabilities of "
                    "outliers will be assigned with 0."
                )

    def predict(self, X: Any) -> Array:
        """Return the class with most votes; of equals the first in `classes_`; outliers as asked."""
        columns = []
        outputs = self._outputs()
        labels = _each(self.outlier_label_, len(outputs))
        for votes, (_, classes), label in zip(self._counts(X), outputs, labels, strict=True):
            alone = votes.sum(axis=1) == 0
            if alone.any():
                chosen = classes[votes.argmax(axis=1)].astype(np.result_type(classes, np.asarray(label)))
                chosen[alone] = label
            else:
                chosen = classes[votes.argmax(axis=1)]
            columns.append(chosen)
        return np.column_stack(columns) if self.outputs_2d_ else columns[0]


def _each(label: Any, n: int) -> list[Any]:
    """Return one label for every output."""
    if isinstance(label, list | tuple | np.ndarray):
        if len(label) != n:
            raise DataError(
                f"The length of outlier_label: {len(label)} is inconsistent with the {n} outputs."
            )
        return list(label)
    return [label] * n


def _outlier(given: Any, codes: Array, classes: Array, weight: Array) -> Any:
    """Return what outliers are called."""
    if given is None or not (isinstance(given, str) and given == "most_frequent"):
        if given is not None and np.ndim(given) > 0:
            raise TypeError("The outlier_label of classifiers must be a scalar for each output.")
        if given is not None and isinstance(given, str) != (classes.dtype.kind in "UOS"):
            raise TypeError(
                f"The outlier_label of classes {classes} is not of their kind: {given!r} is {type(given)}."
            )
        return given
    return classes[np.bincount(codes, weights=weight, minlength=len(classes)).argmax()]
