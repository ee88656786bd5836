"""Cross-validated logistic regression: the penalty that predicts held-out classes best."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import OneStep
from gnomon.core.threads import in_order
from gnomon.core.validate import POSITIVE, Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import check_classes
from gnomon.linear._rules import JOBS, SEED
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.linear.logistic import LogisticRegression


class LogisticRegressionCV(LinearClassifierMixin, CentersColumns, OneStep):
    r"""Logistic regression whose C (and ρ) score best on held-out rows.

    .. math:: (\hat C, \hat\rho) = \arg\max \frac1F\sum_f \text{score}(\text{model}_{C,\rho}^{(-f)}, f)

    Folds run side by side on the threads; within a fold every C starts from the one before.

    Parameters
    ----------
    Cs : int or array, default=10
        That many values between 1e-4 and 1e4, or the values.
    l1_ratios : list, default=(0.0,)
    fit_intercept, class_weight, solver, tol, max_iter
        As in `LogisticRegression`.
    cv : int, splitter or None
        Five stratified folds by default.
    scoring : str or callable, optional
        Accuracy by default.
    refit : bool, default=True
    n_jobs, random_state, verbose, dual, penalty, intercept_scaling
        Accepted for compatibility.

    Attributes
    ----------
    C_, l1_ratio_ : float
    Cs_ : array
    scores_ : array of shape (n_folds, n_l1_ratios, n_Cs)
    coef_, intercept_, classes_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0]).fit(*load_iris(return_X_y=True))
    >>> model.C_
    100.0
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "refit": ["boolean"],
        "l1_ratios": ["array-like", None],
        "fit_intercept": ["boolean"],
        "dual": ["boolean"],
        "penalty": LogisticRegression._parameter_constraints["penalty"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "solver": LogisticRegression._parameter_constraints["solver"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
        "intercept_scaling": [POSITIVE],
        "random_state": SEED,
        "boundary": LogisticRegression._parameter_constraints["boundary"],
    }

    def __init__(
        self,
        *,
        Cs=10,
        l1_ratios=(0.0,),
        fit_intercept=True,
        cv=None,
        dual=False,
        penalty="deprecated",
        scoring=None,
        solver="auto",
        tol=1e-4,
        max_iter=100,
        class_weight=None,
        n_jobs=None,
        verbose=0,
        refit=True,
        intercept_scaling=1.0,
        random_state=None,
        boundary="negative",
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.boundary = boundary

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is not None:
            check_classes(rows, type(self).__name__)
        return rows

    def _model(self, C, ratio):
        return LogisticRegression(
            C=C,
            l1_ratio=ratio,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            warm_start=True,
        )

    def _solve(self, rows):
        Cs = (
            np.logspace(-4, 4, self.Cs)
            if isinstance(self.Cs, Integral)
            else np.sort(np.asarray(self.Cs, dtype=float))
        )
        ratios = [0.0] if self.l1_ratios is None else list(self.l1_ratios)
        y = rows.classes[rows.y]
        folds = list(check_cv(self.cv, y, classifier=True).split(np.empty((rows.n_rows, 1)), rows.y))
        tasks = [(fold, ratio) for fold in folds for ratio in ratios]
        scores = np.array(list(in_order(lambda task: self._scores(rows, y, Cs, *task), tasks)))
        scores = scores.reshape(len(folds), len(ratios), len(Cs))
        best = np.unravel_index(np.argmax(scores.mean(axis=0)), scores.shape[1:])
        C, ratio = float(Cs[best[1]]), float(ratios[best[0]])
        weight = rows.weight if rows.weighted else None
        model = self._model(C, ratio).fit(rows.X, y, weight)
        return {
            "coef_": model.coef_,
            "intercept_": model.intercept_,
            "C_": C,
            "l1_ratio_": ratio,
            "Cs_": Cs,
            "scores_": scores,
        }, float(scores.mean(axis=0)[best])

    def _scores(self, rows, y, Cs, fold, ratio):
        """Score the held-out rows for every C."""
        train, test = fold
        weight = rows.weight[train] if rows.weighted else None
        model, found = self._model(float(Cs[0]), ratio), []
        scorer = check_scoring(model, scoring=self.scoring)
        for C in Cs:
            model.set_params(C=float(C)).fit(rows.X[train], y[train], weight)
            found.append(scorer(model, rows.X[test], y[test]))
        return found

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        return LogisticRegression.predict_proba(self, X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return its logarithm."""
        return LogisticRegression.predict_log_proba(self, X)
