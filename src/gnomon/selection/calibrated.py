"""A classifier whose probabilities are calibrated by rows it had not seen."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order
from gnomon.core.wrapping import WrapsEstimator
from gnomon.selection.calibrating import METHODS, TINY, CalibrationMap, calibrate
from gnomon.selection.wrapping import check_partition, labeled_rows, learn_at_once, take_rows


class CalibratedClassifier(WrapsEstimator, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are calibrated by rows it had not seen.

    Scores of every row come from a fit that left its fold out; a map is learned from them (for several classes one
    against the rest, then normalized; one temperature for all), and the classifier is fitted once more to all rows.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` or `decision_function`; Gaussian naive Bayes when not given.
    method : {"isotonic", "sigmoid", "beta", "temperature"}, default="sigmoid"
    cv : int or splitter, default=5

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows.
    maps_ : list of CalibrationMap
    classes_ : array

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> from gnomon.selection import calibration
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 1))
    >>> X, y = np.repeat(x, 8, axis=1) + 0.01 * rng.normal(size=(400, 8)), x[:, 0] + rng.normal(size=400) > 0
    >>> plain, mended = GaussianNB().fit(X, y), CalibratedClassifier(GaussianNB()).fit(X, y)
    >>> calibration(y, plain.predict_proba(X)[:, 1]).ece > 2 * calibration(
    ...     y, mended.predict_proba(X)[:, 1]
    ... ).ece
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit"]), None],
        "method": [StrOptions(set(METHODS))],
        "cv": ["cv_object"],
    }

    _default = ("gnomon.bayes", "GaussianNB")
    _promises: ClassVar[Promises] = Promises(order="no: folds are cut by place", weights="no: takes none")

    def __init__(self, estimator: Any = None, *, method: str = "sigmoid", cv: Any = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any) -> CalibratedClassifier:
        """Learn maps from held-out scores, and the classifier from all rows.

        Parameters
        ----------
        X, y : rows and labels
        """
        return learn_at_once(self, X, y)

    def _learn(self, X: Any, y: Any) -> None:
        check_parameters(self)
        rows, classes, codes = labeled_rows(X, y, self._base(), "calibration needs")
        fitted = clone(self._base()).fit(X, codes)
        least = int(np.bincount(codes).min())
        if isinstance(self.cv, int) and least < 2:
            rare = classes.tolist()[np.bincount(codes).argmin()]
            raise DataError(
                f"class {rare!r} of y has {least} row; calibration judges rows that the model has not seen, so "
                "it needs two of each class. Leave the class out, or merge it with another."
            )
        cv = min(self.cv, least) if isinstance(self.cv, int) else self.cv
        folds = list(check_cv(cv, codes, classifier=True).split(rows, codes))
        check_partition(folds, len(codes))

        def held_out(fold: tuple[Array, Array]) -> Array:
            train, test = fold
            return self._scores(
                clone(self._base()).fit(take_rows(rows, train), codes[train]),
                take_rows(rows, test),
                len(classes),
            )

        S = np.empty((len(codes), len(classes)))
        for (_, test), values in zip(folds, in_order(held_out, folds, "folds")):
            S[test] = values
        self.estimator_, self.classes_ = fitted, classes
        self.maps_ = self._learn_maps(S, codes)

    def _learn_maps(self, S: Array, codes: Array) -> list[CalibrationMap]:
        if self.method == "temperature" and S.shape[1] > 2:
            logs = np.log(np.maximum(S, TINY))

            def loss(t: float) -> float:
                z = logs * np.exp(-t)
                top = z.max(axis=1)
                return float(
                    np.sum(top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - z[np.arange(len(z)), codes])
                )

            t = float(np.exp(minimize_scalar(loss, bounds=(-6, 6), method="bounded").x))
            return [CalibrationMap("temperature", np.array([t]), np.empty(0), np.empty(0), True)]
        ks = [1] if S.shape[1] == 2 else range(S.shape[1])
        return [calibrate(S[:, k], codes == k, method=self.method) for k in ks]

    def _scores(self, model: Any, X: Any, k: int) -> Array:
        """Return probabilities of all classes, as the logistic of the scores where there are none."""
        place = np.asarray(model.classes_, dtype=int) if len(model.classes_) < k else np.arange(k)
        if hasattr(model, "predict_proba"):
            found = model.predict_proba(X)
        else:
            d = model.decision_function(X)
            found = np.column_stack([expit(-d), expit(d)]) if d.ndim == 1 else expit(d)
        S = np.zeros((len(found), k))
        S[:, place] = found
        return S

    def predict_proba(self, X: Any) -> Array:
        """Return calibrated probabilities of the classes."""
        check_is_fitted(self, "estimator_")
        k = len(self.classes_)
        S = self._scores(self.estimator_, X, k)
        if k == 2:
            p = self.maps_[0](S[:, 1])
            return np.column_stack([1 - p, p])
        if len(self.maps_) == 1:
            z = np.log(np.maximum(S, TINY)) / self.maps_[0].parameters[0]
            P = np.exp(z - z.max(axis=1, keepdims=True))
        else:
            P = np.column_stack([one(S[:, j]) for j, one in enumerate(self.maps_)])
        total = P.sum(axis=1, keepdims=True)
        return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / k)

    def predict(self, X: Any) -> Array:
        """Return the class of largest calibrated probability."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]
