"""The memorizing classifier: positive near a positive it has seen, negative everywhere else."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import NOT_NEGATIVE
from gnomon.neighbors.choose_index import build
from gnomon.neighbors.metrics import NAMES, resolve
from gnomon.neighbors.searching import Searching


class EpsilonBallClassifier(ClassifierMixin, Searching):  # type: ignore[misc]
    r"""Memory as a classifier: positive within ε of a positive training row, negative else.

    .. math:: h(x) = + \iff \min_{i:\,y_i = +} d(x, x_i) \le \varepsilon

    It has no training error as long as no negative row lies within ε of a positive one, and says nothing about the
    rest of the world: on a balanced test set away from all positives its error is exactly one half. Fitting
    the training data is not learning. Use `KNeighborsClassifier` to predict.

    Parameters
    ----------
    epsilon : float, default=0.0
        Reach of a memory.
    metric : str or callable, default="euclidean"
        As in `NearestNeighbors`.
    positive_label : label, optional
        Which class is remembered; the larger label by default.

    Attributes
    ----------
    positive_points_ : array of shape (m, d), or a list of words
        What is remembered.
    classes_ : array of two labels

    Examples
    --------
    >>> model = EpsilonBallClassifier(0.5).fit([[0.0], [5.0], [1.0], [4.0]], [1, 1, -1, -1])
    >>> model.predict([[0.5], [0.51], [4.6]])
    array([ 1, -1,  1])
    """

    _target: ClassVar[str | None] = "class"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [NOT_NEGATIVE],
        "metric": [StrOptions(set(NAMES) - {"precomputed"}), callable],
        "positive_label": [object],
    }
    algorithm: str = "brute"
    leaf_size: int = 30
    metric_params: dict[str, Any] | None = None
    p: float = 2.0

    def __init__(
        self, epsilon: float = 0.0, *, metric: Any = "euclidean", positive_label: Any = None
    ) -> None:
        self.epsilon = epsilon
        self.metric = metric
        self.positive_label = positive_label

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> EpsilonBallClassifier:
        """Remember the positive rows.

        Parameters
        ----------
        X : rows
        y : their two classes

        Returns
        -------
        self
        """
        return self._learn(self._read(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any) -> Any:
        """Yield the fitted model: there is one step."""
        yield from self._iterate(self._read(X, y))

    def _solve(self, data: Any) -> dict[str, Any]:
        classes = data.classes
        if len(classes) > 2:
            raise DataError(
                f"Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(classes)} classes."
            )
        if len(classes) < 2:
            raise DataError("y has one class; EpsilonBallClassifier needs a positive and a negative one.")
        positive = classes[-1] if self.positive_label is None else self.positive_label
        code = np.flatnonzero(classes == positive)
        if not len(code):
            raise DataError(f"positive_label={positive!r} is not among the classes {classes.tolist()}.")
        places = np.flatnonzero(data.y == code[0])
        points = [data.X[i] for i in places] if isinstance(data.X, list) else data.X[places]
        metric = resolve(self.metric, 2.0, None, data.X)
        return {
            "positive_points_": points,
            "positive_code_": int(code[0]),
            "index_": build(points, metric, "auto", 30, 1),
            "kept_": None,
            "row_weight_": None,
            "n_samples_fit_": len(data),
        }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "positive_code_" in vars(self) and (len(self.classes_) != 2 or self.positive_code_ not in (0, 1)):
            raise ModelFileError("its classes are not two that fit its positive one. Get a new copy.")

    def predict(self, X: Any) -> Array:
        """Return the positive class within epsilon of a remembered row, the other one else."""
        query = self._query(X)
        near = self.index_.nearest(query, 1)[0][:, 0] <= self.epsilon
        return self.classes_[np.where(near, self.positive_code_, 1 - self.positive_code_)]
