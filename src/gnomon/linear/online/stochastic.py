"""Stochastic gradient learners: one row (or a batch) at a time, for every loss, and from streams."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import Reads
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.linear.online import _epochs
from gnomon.linear.online._sgd import MARGIN_LOSSES, RESIDUAL_LOSSES, RULES, Stochastic, residual_loss
from gnomon.linear.online._streams import StreamedClasses, StreamedNumbers
from gnomon.linear.squares.least_squares import KeepsPrecision, LinearPrediction


class SGDRegressor(LinearPrediction, KeepsPrecision, RegressorMixin, StreamedNumbers, Stochastic):
    r"""Linear regression by stochastic gradient descent.

    .. math:: J(w, b) = \frac1n\sum_i \ell(y_i, w\cdot x_i + b) + \alpha R(w)

    For streams and for data too large for anything else; elsewhere `Ridge` and `Lasso` are faster and exact.
    Scale the columns first; rates between 0.001 and 0.1 then work.

    Parameters
    ----------
    loss : str, default="squared_error"
        ``"squared_error"``, ``"huber"``, ``"epsilon_insensitive"``, ``"squared_epsilon_insensitive"``,
        ``"absolute"`` or ``"cauchy"``.
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon, random_state
        As in scikit-learn.
    learning_rate, eta0, power_t
        As in scikit-learn; `learning_rate` may also be ``"inverse"`` (eta0/(k+1)) or a
        `gnomon.solvers.Schedule`. ``"pa1"`` and ``"pa2"`` make the steps of `PassiveAggressiveRegressor`, with
        C = `eta0`.
    early_stopping, validation_fraction, n_iter_no_change, warm_start, average
        As in scikit-learn.
    batch_size : int or "full", default=1
        Rows in a step; the gradient is their mean.
    order : None, "shuffle", "given", "random" or array of row numbers
    momentum : float, default=0.0
    nesterov : bool, default=False
    optimizer : {"sgd", "adagrad"}, default="sgd"

    Attributes
    ----------
    coef_, intercept_, t_, n_iter_, trace_

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), [1.0, 2.0, 4.0]
    >>> options = {"penalty": None, "learning_rate": "constant", "eta0": 0.1, "max_iter": 1, "tol": None}
    >>> model = SGDRegressor(batch_size="full", **options)
    >>> model.fit(X, y).coef_.round(6), model.intercept_.round(6)
    (array([0.333333]), array([0.233333]))
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = RULES | {"loss": [StrOptions(set(RESIDUAL_LOSSES))]}

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=1e-4,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        random_state=None,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        warm_start=False,
        average=False,
        batch_size=1,
        order=None,
        momentum=0.0,
        nesterov=False,
        optimizer="sgd",
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.order = order
        self.momentum = momentum
        self.nesterov = nesterov
        self.optimizer = optimizer

    def _loss(self):
        return residual_loss(self.loss, self.epsilon)

    def _targets(self, rows):
        return np.asarray(rows.y, dtype=float)[None]

    def _row_weights(self, rows):
        return rows.weight

    def _attributes(self, state):
        coef, intercept = self._shown(state)
        return {"coef_": coef[0], "intercept_": intercept, "t_": state.steps + 1.0, "pass_": state}


def _has_probabilities(model):
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={model.loss!r}")
    return True


class SGDClassifier(SparseCoefficients, LinearClassifierMixin, StreamedClasses, Stochastic):
    r"""Linear classifier by stochastic gradient descent, for every loss.

    .. math:: J(w, b) = \frac1n\sum_i \ell\bigl(y_i(w\cdot x_i + b)\bigr) + \alpha R(w)

    With ``loss="hinge"`` a support vector machine, with ``"log_loss"`` logistic regression. More than two
    classes are taken one against the rest. For streams and very large data; elsewhere `LinearSVC` and
    `LogisticRegression` are faster and come with a certificate.

    Parameters
    ----------
    loss : str, default="hinge"
        ``"hinge"``, ``"log_loss"``, ``"modified_huber"``, ``"squared_hinge"``, ``"perceptron"``,
        ``"exponential"``, ``"sigmoid_squared"``, ``"squared_error"``, ``"huber"``,
        ``"epsilon_insensitive"`` or ``"squared_epsilon_insensitive"``.
    class_weight : dict, "balanced" or None
    boundary : {"negative", "positive"}, default="negative"
    penalty, alpha, l1_ratio, fit_intercept, max_iter, …
        As in `SGDRegressor`; `learning_rate` is ``"optimal"`` by default, 1/(α(t₀+t)).

    Attributes
    ----------
    coef_, intercept_, classes_, t_, n_iter_, trace_

    Examples
    --------
    >>> X, y = [[1.0, 0], [1, 1], [1, 2]], [0, 1, 1]
    >>> model = SGDClassifier(
    ...     "log_loss",
    ...     penalty=None,
    ...     fit_intercept=False,
    ...     learning_rate="constant",
    ...     eta0=0.5,
    ...     order="given",
    ...     max_iter=1,
    ...     tol=None,
    ... )
    >>> model.fit(X, y).coef_.round(6)
    array([[0.209031, 0.636974]])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = RULES | {
        "loss": [StrOptions({*MARGIN_LOSSES, *RESIDUAL_LOSSES} - {"absolute", "cauchy"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        loss="hinge",
        *,
        penalty="l2",
        alpha=1e-4,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
        batch_size=1,
        order=None,
        momentum=0.0,
        nesterov=False,
        optimizer="sgd",
        boundary="negative",
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.order = order
        self.momentum = momentum
        self.nesterov = nesterov
        self.optimizer = optimizer
        self.boundary = boundary

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._plain_read(X, y, sample_weight, reset=reset, **options)
        if y is not None and len(rows.classes) < 2:
            raise DataError(
                "The number of classes has to be greater than one; "
                f"got {len(rows.classes)} class: {rows.classes[0]!r}."
            )
        return rows

    def _loss(self):
        if self.loss in MARGIN_LOSSES:
            return MARGIN_LOSSES[self.loss]()
        return residual_loss(self.loss, self.epsilon)

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _row_weights(self, rows):
        return _epochs.row_weights(rows, self.class_weight)

    def _attributes(self, state):
        coef, intercept = self._shown(state)
        return {"coef_": coef, "intercept_": intercept, "t_": state.steps + 1.0, "pass_": state}

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (``loss="log_loss"`` or ``"modified_huber"`` only)."""
        scores = self.decision_function(X)
        shares = expit(scores) if self.loss == "log_loss" else (np.clip(scores, -1, 1) + 1) / 2
        if scores.ndim == 1:
            return np.column_stack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))
