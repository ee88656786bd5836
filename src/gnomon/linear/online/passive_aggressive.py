"""Passive–aggressive learners: move just far enough to be right about the present row."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import Reads
from gnomon.linear._rows import check_classes
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.linear.online import _epochs
from gnomon.linear.online._aggressive import one_pass
from gnomon.linear.online._epochs import squared_lengths
from gnomon.linear.online._mistakes import COMMON, MistakeDriven, Origin
from gnomon.linear.online._streams import ONES, StreamedClasses, StreamedNumbers
from gnomon.linear.squares.least_squares import LinearPrediction
from gnomon.loops import aggressive as loops


class Aggressive(MistakeDriven):
    """What both passive–aggressive learners do in a pass."""

    def _fresh_facts(self, work):
        return {"taus": np.zeros(work.targets.shape), "map": Origin(work.rows)}

    def _numbers(self, *, average):
        """Return kind and bounds of the steps, as the loops want them."""
        kind, epsilon = self.KINDS[self.loss], float(getattr(self, "epsilon", 0.0))
        return kind, float(self.C), epsilon, self.fit_intercept, average

    def _epoch(self, work, state):
        taus = state.facts["taus"].copy()
        numbers, order = self._numbers(average=bool(self.average)), self._order(work, state)
        new, loss = one_pass(work, order, numbers, state, taus)
        new = new._replace(facts={**state.facts, "taus": taus})
        return new, loss, loss / work.mass, False

    def _quick_pass(self, state, X, targets, order):
        taus, norms = np.zeros((len(targets), len(X))), squared_lengths(X, self.fit_intercept)
        for k in range(len(targets)):
            state.intercept[k], _, steps, _ = loops.aggressive_dense(
                X,
                targets[k],
                ONES,
                norms,
                order,
                *self._numbers(average=False),
                state.coef[k],
                state.intercept[k],
                state.average[k],
                0.0,
                state.steps,
                taus[k],
            )
        sizes = taus[0] if len(taus) == 1 else taus
        self._shown_in_place(state, steps, coef_=self._table(state.coef), step_sizes_=sizes)

    def _table(self, coef):
        """Weights in the shape that they are shown in."""
        return coef

    def _attributes(self, state):
        coef, intercept = self._final(state)
        taus = _epochs.in_given_rows(state.facts["map"], state.facts["taus"])
        found = {
            "coef_": self._table(coef.copy()),
            "intercept_": intercept.copy(),
            "t_": state.steps + 1.0,
            "pass_": state,
        }
        return found | {"step_sizes_": taus[0] if len(taus) == 1 else taus}


class PassiveAggressiveClassifier(SparseCoefficients, LinearClassifierMixin, StreamedClasses, Aggressive):
    r"""Passive–aggressive classifier: move just far enough to be right about the present row.

    .. math:: w \leftarrow \arg\min_v\; \tfrac{1}{2C}\lVert v - w\rVert^2 + \ell(y_i, v\cdot x_i)

    Steps are τ = min(C, ℓ/‖x‖²) for the hinge, ℓ/(‖x‖²+1/(2C)) for its square; with an intercept ‖x‖²+1. For
    streams; sensitive to wrong labels when C is large. With (λ/2)‖θ−θ_k‖² use C = 1/λ.

    Parameters
    ----------
    C : float, default=1.0
        Longest step; ``np.inf`` always reaches the margin.
    loss : {"hinge", "squared_hinge", "zero_one"}, default="hinge"
        ``"zero_one"`` flips the sign of the score where that costs less than the mistake.
    average : bool, default=False
        Mean of the weights after every step.
    order : None, "given", "random" or array of row numbers
    fit_intercept, max_iter, tol, shuffle, class_weight, warm_start, random_state, …
        As in `Perceptron`.
    early_stopping, validation_fraction, n_iter_no_change
        As in `Perceptron`: the score is the accuracy on rows held out.

    Attributes
    ----------
    coef_, intercept_, classes_, t_, n_iter_, trace_
    step_sizes_ : array of shape (n,)
        τ of the last visit of every row (after `partial_fit`, of the rows of the last call).

    Examples
    --------
    >>> X, y = [[-1.0, 1], [0, -1], [1.5, 1]], [1, -1, 1]
    >>> model = PassiveAggressiveClassifier(fit_intercept=False, order="given", max_iter=1, tol=None).fit(
    ...     X, y
    ... )
    >>> model.coef_.round(6), model.step_sizes_.round(6)
    (array([[-0.153846,  1.230769]]), array([0.5     , 0.5     , 0.230769]))
    """

    KINDS: ClassVar[dict[str, int]] = {"hinge": 0, "squared_hinge": 1, "zero_one": 2}
    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge", "zero_one"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="hinge",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        class_weight=None,
        average=False,
        order=None,
        boundary="negative",
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average
        self.order = order
        self.boundary = boundary

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._plain_read(X, y, sample_weight, reset=reset, **options)
        if y is not None:
            check_classes(rows, type(self).__name__)
        return rows

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _weights(self, rows):
        return _epochs.row_weights(rows, self.class_weight)


class PassiveAggressiveRegressor(LinearPrediction, RegressorMixin, StreamedNumbers, Aggressive):
    r"""Passive–aggressive regression: w ← w + sign(r)·τ·x with τ = min(C, max(0, |r| − ε)/‖x‖²).

    Parameters
    ----------
    C, loss, epsilon
        ``"epsilon_insensitive"`` or ``"squared_epsilon_insensitive"``, for which τ = ℓ/(‖x‖² + 1/(2C)).
    average, order, fit_intercept, max_iter, tol, shuffle, …
        As in `PassiveAggressiveClassifier`; with `early_stopping` the score is R² on rows held out.

    Attributes
    ----------
    coef_, intercept_, t_, step_sizes_, n_iter_, trace_

    Examples
    --------
    >>> X, y = [[1.0, 0], [1, 1], [1, 2]], [1.0, 2, 4]
    >>> model = PassiveAggressiveRegressor(fit_intercept=False, order="given", max_iter=1, tol=None).fit(X, y)
    >>> model.coef_.round(6), model.step_sizes_.round(6)
    (array([1.7, 1.1]), array([0.9, 0.5, 0.3]))
    """

    KINDS: ClassVar[dict[str, int]] = {"epsilon_insensitive": 3, "squared_epsilon_insensitive": 4}
    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="epsilon_insensitive",
        epsilon=0.1,
        random_state=None,
        warm_start=False,
        average=False,
        order=None,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.order = order

    def _targets(self, rows):
        return np.asarray(rows.y, dtype=float)[None]

    def _weights(self, rows):
        return rows.weight

    def _table(self, coef):
        return coef[0]
