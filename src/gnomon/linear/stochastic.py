"""Stochastic gradient learners: one row (or a batch) at a time, for every loss, and from streams."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads, warn
from gnomon.linear import _batches, _epochs
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.linear.least_squares import LinearPrediction
from gnomon.losses import margin, residual
from gnomon.loops import stochastic as loops
from gnomon.solvers.schedules import Schedule, named_schedule

MARGIN_LOSSES = {
    "hinge": margin.Hinge,
    "log_loss": margin.Logistic,
    "modified_huber": margin.ModifiedHuber,
    "squared_hinge": margin.SquaredHinge,
    "perceptron": margin.Perceptron,
    "exponential": margin.Exponential,
    "sigmoid_squared": margin.SigmoidSquared,
}


def residual_loss(name: str, epsilon: float) -> Any:
    """Return the regression loss that an estimator names."""
    return {
        "squared_error": residual.SquaredError,
        "huber": lambda: residual.Huber(max(epsilon, 1e-300)),
        "epsilon_insensitive": lambda: residual.EpsilonInsensitive(epsilon),
        "squared_epsilon_insensitive": lambda: residual.SquaredEpsilonInsensitive(epsilon),
        "absolute": residual.Absolute,
        "cauchy": residual.StudentT,
    }[name]()


RESIDUAL_LOSSES = (
    "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "absolute", "cauchy",
)  # fmt: skip

RULES: dict[str, Any] = {
    "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "epsilon": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
    "eta0": [Interval(Real, 0, None, closed="left")],
    "power_t": [Interval(Real, None, None, closed="neither")],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "average": ["boolean", Interval(Integral, 0, None, closed="left")],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "nesterov": ["boolean"],
    "optimizer": [StrOptions({"sgd", "adagrad"})],
    "learning_rate": [StrOptions({"constant", "optimal", "invscaling", "inverse", "adaptive"}), Schedule],
}


class Stochastic(_epochs.Mixed, Learner):
    """The loop that classifier and regressor share."""

    _stop: ClassVar[str] = "self"

    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None) -> Self:
        """Learn from the data, from zero or from given weights.

        Parameters
        ----------
        X, y : array or sparse matrix of shape (n, d), array of shape (n,)
        coef_init, intercept_init : array, optional
            Where to begin.
        sample_weight : array, optional

        Returns
        -------
        self
        """
        rows = self._read(X, y, sample_weight)
        rows.initial = (coef_init, intercept_init)
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
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
        if classes is None and sample_weight is None and self._quick(X, y):
            return self
        first = not hasattr(self, "pass_")
        rows = self._more_rows(X, y, classes, sample_weight, first)
        state = self.pass_ if not first else self._start(rows, generator(self.random_state))
        state, _ = self._epoch(self._ready(rows), state)
        known = (
            {}
            if first
            else {
                k: v
                for k, v in vars(self).items()
                if k in ("n_features_in_", "feature_names_in_", "classes_")
            }
        )
        self._adopt({**known, **self._attributes(state), "n_iter_": 1}, rows if first else None)
        return self

    # -- the fast way for rows of a stream ---------------------------------------------------------------------

    def _quick(self, X, y) -> bool:
        """Make a pass over a small float64 array without further ado; False if there is more to check."""
        state = getattr(self, "pass_", None)
        if state is None or type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) > 16:
            return False
        if (
            X.shape[1] != self.n_features_in_
            or "feature_names_in_" in self.__dict__
            or not X.flags.c_contiguous
        ):
            return False
        if len(X) != len(y) or not np.isfinite(X.sum()) or self._batched() or self.average:
            return False
        targets = self._quick_targets(y)
        if targets is None:
            return False
        setup = self._setup(state)
        ones, order = np.ones(len(X)), np.arange(len(X))
        for k in range(len(targets)):
            found = loops.sgd_dense(
                X, targets[k], ones, order, *setup[:8], self.fit_intercept, setup[8], state.coef[k], state.intercept[k],
                state.steps, state.average[k], 0.0, -1.0, state.owed[k], state.debt,
            )  # fmt: skip
            state.intercept[k] = found[0]
        if not np.isfinite(state.intercept).all():
            raise DataError("the weights left the finite numbers; lower eta0 or scale the columns.")
        self.__dict__["pass_"] = state._replace(steps=found[1], debt=found[4])
        self.__dict__["t_"] = found[1] + 1.0
        return True

    def _setup(self, state):
        """Numbers of loss, schedule and penalty, worked out once and kept."""
        key = (self.loss, self.alpha, self.eta0, self.power_t, self.penalty, self.l1_ratio, state.rate)
        known = self.__dict__.get("_numbers")
        if known is None or known[0] != key or isinstance(self.learning_rate, Schedule):
            loss, schedule, (alpha, ratio) = self._loss(), self._schedule(), self._strength()
            a, b = schedule.numbers
            numbers = (
                loss.code,
                *map(float, loss.parameters),
                schedule.code,
                float(a) * state.rate,
                float(b),
                alpha,
                ratio,
            )
            known = self.__dict__["_numbers"] = (key, (*numbers, ratio > 0.0 and alpha > 0.0))
        return known[1]

    # -- the loop ------------------------------------------------------------------------------------------------

    def _start(self, rows, rng):
        return _epochs.start_pass(rows, self._n_outputs(rows), draw_seed(rng), zero_like_clip=True)

    def _first_state(self, rows, seed, index):
        known = getattr(self, "pass_", None)
        if (
            self.warm_start
            and known is not None
            and known.coef.shape == (self._n_outputs(rows), rows.n_features)
        ):
            copies = {name: getattr(known, name).copy() for name in ("coef", "intercept", "average", "owed")}
            return known._replace(**copies, best=np.inf, waited=0)
        return self._start(rows, stream(seed, index))

    def _ready(self, rows):
        if not hasattr(rows, "loops"):
            rows.loops = _epochs.prepare_rows(rows.X)
            rows.targets = self._targets(rows)
            rows.scale = self._row_weights(rows)
            rows.parts = None
        return rows

    def _step(self, rows, state):
        rows = self._ready(rows)
        if self.early_stopping and rows.parts is None:
            rows.parts = _epochs.split(rows, self.validation_fraction, state.seed)
        new, loss = self._epoch(rows, state)
        watched = -self._validate(rows, new) if self.early_stopping else loss
        scale = 1.0 if self.early_stopping else float(rows.weight.sum())
        new = _epochs.judge(new, watched, scale, self.tol, 0)
        done = _epochs.tired(new, self.tol, self.n_iter_no_change)
        if done and self.learning_rate == "adaptive" and self.eta0 * new.rate > 1e-6:
            new, done = new._replace(rate=new.rate / 5.0, waited=0), False
        full = self.batch_size == "full"
        objective = self._objective(rows, new) if full else loss / float(rows.weight.sum())
        if full and self.tol is not None and state.epoch > 0:
            done = abs(objective - state.facts["objective"]) <= self.tol * max(1.0, abs(objective))
        return new._replace(facts={**(new.facts or {}), "objective": objective}), Report(
            objective, done=bool(done)
        )

    def _epoch(self, rows, state):
        """One pass over the rows for every output; returns the new state and the loss met on the way."""
        if self._batched():
            return _batches.batched_pass(self, rows, state)
        order = self._order(rows, state)
        setup, X, targets, weight = self._setup(state), rows.loops, rows.targets, rows.scale
        coef, owed, average = state.coef.copy(), state.owed.copy(), state.average.copy()
        intercept, average_intercept = state.intercept.copy(), state.average_intercept.copy()
        start = float(self.average) if self.average else -1.0
        loop, total = loops.sgd_csr if sparse.issparse(X) else loops.sgd_dense, 0.0
        for k in range(len(targets)):
            found = loop(
                *_epochs.dense_or_parts(X), targets[k], weight[k], order, *setup[:8], self.fit_intercept, setup[8],
                coef[k], intercept[k], state.steps, average[k], average_intercept[k], start, owed[k], state.debt,
            )  # fmt: skip
            intercept[k], average_intercept[k] = found[0], found[3]
            total += found[2]
        return state._replace(
            coef=coef, intercept=intercept, average=average, average_intercept=average_intercept, owed=owed,
            steps=found[1], debt=found[4], epoch=state.epoch + 1,
        ), total  # fmt: skip

    def _order(self, rows, state):
        order = _epochs.row_order(self.order, self.shuffle, rows.n_rows, state.seed, state.epoch)
        if rows.parts is None:
            return order
        return order[np.isin(order, rows.parts[0])]

    def _batched(self):
        return self.batch_size != 1 or self.momentum > 0 or self.optimizer != "sgd"

    def _objective(self, rows, state):
        """Mean loss plus penalty, over all rows."""
        loss, (alpha, ratio) = self._loss(), self._strength()
        Z = rows.loops @ state.coef.T + state.intercept
        value = sum(float(np.sum(w * loss.value(y, z))) for y, z, w in zip(rows.targets, Z.T, rows.scale))
        w = state.coef
        return value / float(rows.weight.sum()) + alpha * (
            ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * np.sum(w * w)
        )

    def _strength(self):
        if self.penalty is None:
            return 0.0, 0.0
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio)
        return float(self.alpha), float(ratio)

    def _schedule(self):
        loss = self._loss()
        typical = np.sqrt(1.0 / np.sqrt(self.alpha)) if self.alpha > 0 else 1.0
        slope = abs(float(loss.gradient(1.0, -typical)))
        if self.learning_rate == "optimal" and not self.alpha > 0:
            raise ValueError("learning_rate='optimal' needs alpha above 0; use 'invscaling' or 'constant'.")
        if self.learning_rate in ("constant", "invscaling", "adaptive", "inverse") and not self.eta0 > 0:
            raise ValueError(f"learning_rate={self.learning_rate!r} needs eta0 above 0; got {self.eta0!r}.")
        return named_schedule(self.learning_rate, self.eta0 or 1.0, self.power_t, self.alpha or 1.0, slope)

    def _shown(self, state):
        if self.average and state.steps + 1.0 > float(self.average):
            return state.average, state.average_intercept
        return state.coef, state.intercept

    def _more_rows(self, X, y, classes, sample_weight, first):
        return self._plain_read(X, y, sample_weight, reset=first)


class SGDRegressor(LinearPrediction, RegressorMixin, Stochastic):
    r"""Linear regression by stochastic gradient descent.

    .. math:: J(w, b) = \frac1n\sum_i \ell(y_i, w\cdot x_i + b) + \alpha R(w)

    For streams and for data too large for anything else; elsewhere `Ridge` and `Lasso` are faster and exact. Scale
    the columns first; rates between 0.001 and 0.1 then work.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "absolute", "cauchy"}
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon, random_state, learning_rate, \
eta0, power_t, early_stopping, validation_fraction, n_iter_no_change, warm_start, average
        As in scikit-learn; `learning_rate` may also be ``"inverse"`` (eta0/(k+1)) or a `gnomon.solvers.Schedule`.
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
    >>> model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.1, batch_size="full", max_iter=1, tol=None)
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

    def partial_fit(self, X, y, sample_weight=None) -> Self:
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

    def _loss(self):
        return residual_loss(self.loss, self.epsilon)

    def _n_outputs(self, rows):
        return 1

    def _targets(self, rows):
        return np.asarray(rows.y, dtype=float)[None]

    def _row_weights(self, rows):
        return rows.weight[None]

    def _quick_targets(self, y):
        values = np.asarray(y, dtype=np.float64)
        return values[None] if values.ndim == 1 and np.isfinite(values).all() else None

    def _validate(self, rows, state):
        test = rows.parts[1]
        found = rows.X[test] @ state.coef[0] + state.intercept[0]
        y = rows.targets[0][test]
        return 1.0 - float(np.sum((y - found) ** 2)) / max(float(np.sum((y - y.mean()) ** 2)), 1e-300)

    def _attributes(self, state):
        coef, intercept = self._shown(state)
        return {"coef_": coef[0], "intercept_": intercept, "t_": state.steps + 1.0, "pass_": state}


def _has_probabilities(model):
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={model.loss!r}")
    return True


class SGDClassifier(LinearClassifierMixin, Stochastic):
    r"""Linear classifier by stochastic gradient descent, for every loss.

    .. math:: J(w, b) = \frac1n\sum_i \ell\bigl(y_i(w\cdot x_i + b)\bigr) + \alpha R(w)

    With ``loss="hinge"`` a support vector machine, with ``"log_loss"`` logistic regression. More than two classes are
    taken one against the rest. For streams and very large data; elsewhere `LinearSVC` and `LogisticRegression` are
    faster and come with a certificate.

    Parameters
    ----------
    loss : {"hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "exponential", "sigmoid_squared", \
"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
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
    ...     "log_loss", penalty=None, fit_intercept=False, learning_rate="constant", eta0=0.5, order="given",
    ...     max_iter=1, tol=None,
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
                f"The number of classes has to be greater than one; got {len(rows.classes)} class: {rows.classes[0]!r}."
            )
        return rows

    def _more_rows(self, X, y, classes, sample_weight, first):
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={np.asarray(classes)!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit; give the weights as a dict."
            )
        return self._plain_read(X, y, sample_weight, reset=first, classes=classes if first else self.classes_)

    def _loss(self):
        if self.loss in MARGIN_LOSSES:
            return MARGIN_LOSSES[self.loss]()
        return residual_loss(self.loss, self.epsilon)

    def _n_outputs(self, rows):
        return 1 if len(rows.classes) <= 2 else len(rows.classes)

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _row_weights(self, rows):
        weight = _epochs.row_weights(rows, self.class_weight)
        return np.broadcast_to(weight, rows.targets.shape)

    def _quick_targets(self, y):
        codes = np.searchsorted(self.classes_, y)
        if self.class_weight is not None or codes.ndim != 1 or (codes >= len(self.classes_)).any():
            return None
        if not (self.classes_[codes] == y).all():
            return None
        if len(self.classes_) <= 2:
            return np.where(codes == 1, 1.0, -1.0)[None]
        return np.where(codes == np.arange(len(self.classes_))[:, None], 1.0, -1.0)

    def _validate(self, rows, state):
        test = rows.parts[1]
        scores = rows.X[test] @ state.coef.T + state.intercept
        found = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(found == rows.y[test]))

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


class Pegasos(LinearClassifierMixin, _epochs.Mixed, Learner):
    r"""Support vector machine by Pegasos: stochastic subgradient steps of the mean hinge plus (α/2)‖w‖².

    .. math:: w \leftarrow (1 - \eta_t\alpha)\,w + \eta_t\,y_i x_i\,[y_i(w\cdot x_i + b) \le 1],\quad \eta_t = 1/(\alpha t)

    For two classes. A lesson more than a tool: `LinearSVC` reaches the optimum with a certificate.

    Parameters
    ----------
    alpha : float, default=1e-4
    n_updates : int, optional
        Single steps; by default `max_iter` passes.
    max_iter : int, default=20
    schedule : {"pegasos", "inverse"} or Schedule, default="pegasos"
        1/(αt), or 1/t, which is slow for small α.
    project : bool, default=False
        Keep ‖w‖ ≤ 1/√α.
    average : bool, default=False
        Return the mean iterate.
    fit_intercept, regularize_intercept : bool
    order : "random", "given", "shuffle" or array of row numbers, default="random"
    random_state : int, optional

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_
    trace_
        Exact objective after every pass.

    Examples
    --------
    >>> X, y = [[-1.0, 1], [0, -1], [1.5, 1]], [1, -1, 1]
    >>> model = Pegasos(0.5, schedule="inverse", fit_intercept=False, order="given", max_iter=2).fit(X, y)
    >>> model.coef_.round(6)
    array([[0.159766, 1.159245]])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _stop: ClassVar[str] = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_updates": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        n_updates=None,
        max_iter=20,
        schedule="pegasos",
        project=False,
        average=False,
        fit_intercept=True,
        regularize_intercept=False,
        order="random",
        random_state=None,
    ):
        self.alpha = alpha
        self.n_updates = n_updates
        self.max_iter = max_iter
        self.schedule = schedule
        self.project = project
        self.average = average
        self.fit_intercept = fit_intercept
        self.regularize_intercept = regularize_intercept
        self.order = order
        self.random_state = random_state

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._plain_read(X, y, sample_weight, reset=reset, **options)
        if y is not None and len(rows.classes) != 2:
            from sklearn.utils.multiclass import type_of_target

            if len(rows.classes) < 2:
                raise DataError(
                    f"Pegasos needs two classes; the data contain only one class: {rows.classes[0]!r}."
                )
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(rows.classes[rows.y])}. Wrap it in OneVsRestClassifier."
            )
        return rows

    def __sklearn_tags__(self):
        """Two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _start(self, rows, rng):
        return _epochs.start_pass(rows, 1, draw_seed(rng))

    def _limit(self):
        return int(self.max_iter)

    def _step(self, rows, state):
        X, y = _epochs.prepare_rows(rows.X), np.where(rows.y == 1, 1.0, -1.0)
        X = X.toarray() if sparse.issparse(X) else X
        order = self._drawn(rows, state)
        left = len(order) if self.n_updates is None else int(self.n_updates - state.steps)
        first, power = self._rate()
        coef, average = state.coef.copy(), state.average.copy()
        b, t, avg_b, clipped = loops.pegasos_dense(
            X, y, order[:left], float(self.alpha), first, power, self.fit_intercept, float(self.regularize_intercept),
            self.project, coef[0], state.intercept[0], state.steps, average[0], state.average_intercept[0],
        )  # fmt: skip
        if clipped:
            warn(
                f"{clipped} steps would have turned the weights around (rate·alpha > 1); they were cut at zero."
            )
        new = state._replace(
            coef=coef, average=average, intercept=np.array([b]), average_intercept=np.array([avg_b]), steps=t,
            epoch=state.epoch + 1,
        )  # fmt: skip
        w, c = self._shown(new)
        slack = np.maximum(0.0, 1.0 - y * (X @ w[0] + c[0]))
        objective = float(np.average(slack, weights=rows.weight)) + 0.5 * self.alpha * float(w[0] @ w[0])
        done = new.epoch >= self.max_iter or (self.n_updates is not None and t >= self.n_updates)
        return new, Report(objective, done=done)

    def _drawn(self, rows, state):
        """Rows of one pass; at random, a row is as likely as its weight is large."""
        if not (isinstance(self.order, str) and self.order == "random"):
            return _epochs.row_order(self.order, False, rows.n_rows, state.seed, state.epoch)
        share = np.cumsum(rows.weight)
        places = stream(state.seed, state.epoch).random(int(np.ceil(share[-1]))) * share[-1]
        return np.minimum(np.searchsorted(share, places, side="right"), rows.n_rows - 1)

    def _rate(self):
        if self.schedule == "pegasos":
            return 1.0 / self.alpha, 1.0
        if self.schedule == "inverse":
            return 1.0, 1.0
        if isinstance(self.schedule, Schedule) and self.schedule.code in (0, 1):
            a, b = self.schedule.numbers
            return float(a), float(b)
        raise ValueError(
            f"schedule must be 'pegasos', 'inverse', Constant or an inverse power; got {self.schedule!r}."
        )

    def _shown(self, state):
        return (state.average, state.average_intercept) if self.average else (state.coef, state.intercept)

    def _attributes(self, state):
        coef, intercept = self._shown(state)
        return {"coef_": coef.copy(), "intercept_": intercept.copy()}
