"""Cross-validated logistic regression: the penalty that predicts held-out classes best."""

from __future__ import annotations

import inspect
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer_names, make_scorer
from sklearn.model_selection import check_cv

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.pieces import InPieces, n_folds
from gnomon.core.routing import route, routing_enabled
from gnomon.core.validate import POSITIVE, Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear._folds import RoutesFolds, scorer_of
from gnomon.linear._rows import check_classes, compute_weights
from gnomon.linear._rules import JOBS, SEED, warn_of_ratio
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.linear.likelihood.logistic import LogisticRegression


def with_labels(scorer: Any, classes: Array) -> Any:
    """Return a scorer that knows all the classes, for a fold may lack some; others come back as they are."""
    known = inspect.signature(scorer._score_func).parameters if hasattr(scorer, "_score_func") else {}
    if "labels" not in known or "labels" in scorer._kwargs:
        return scorer
    options = {"labels": classes}
    if "pos_label" in known and len(classes) == 2:
        options["pos_label"] = classes[1]
    return make_scorer(
        scorer._score_func,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign > 0,
        **options | scorer._kwargs,
    )


def legacy_attributes(facts: dict[str, Any], classes: list[Any], *, flat: bool) -> dict[str, Any]:
    """Return what was learned by class and with the values of C first; `flat` leaves out the axis of ρ."""
    paths = np.moveaxis(facts["coefs_paths_"], (3, 0, 2, 1), (0, 1, 2, 3))  # class, fold, C, ρ, parameter
    scores, n_iter = (np.swapaxes(facts[name], 1, 2) for name in ("scores_", "n_iter_"))
    if flat:
        paths, scores, n_iter = paths[:, :, :, 0], scores[:, :, 0], n_iter[:, :, 0]
    known = classes[1:] if len(classes) == 2 else classes
    return {
        "C_": np.full(len(known), facts["C_"]),
        "l1_ratio_": np.full(len(known), facts["l1_ratio_"]),
        "coefs_paths_": dict(zip(known, paths.copy(), strict=True)),
        "scores_": {one: scores.copy() for one in known},
        "n_iter_": n_iter[None].copy(),
    }


def _table(model: LogisticRegression) -> Array:
    """Return the parameters of a model, one row a class, intercept last."""
    coef = np.asarray(model.coef_, dtype=np.float64)
    return np.column_stack([coef, model.intercept_]) if model.fit_intercept else coef


class Plan(NamedTuple):
    """What the folds share."""

    rows: Any
    Cs: Array
    ratios: Array
    folds: list[tuple[Array, Array]]
    class_weight: dict[Any, float] | None


class LogisticRegressionCV(RoutesFolds, SparseCoefficients, LinearClassifierMixin, CentersColumns, InPieces):
    r"""Logistic regression whose C (and ρ) score best on held-out rows.

    .. math:: (\hat C, \hat\rho) = \arg\max \frac1F\sum_f \text{score}(\text{model}_{C,\rho}^{(-f)}, f)

    Folds run side by side on the threads; within a fold every C starts from the one before. Every step of the fit is
    one fold (for one ρ); the last chooses and fits all rows.

    Parameters
    ----------
    Cs : int or array, default=10
        That many values between 1e-4 and 1e4, or the values.
    l1_ratios : list, optional
        Values of ρ to choose from; 0, ridge, when not given.
    fit_intercept, class_weight, solver, tol, max_iter
        As in `LogisticRegression`; ``class_weight="balanced"`` counts all rows, not those of a fold.
    cv : int, splitter or None
        Five stratified folds by default.
    scoring : str or callable, optional
        Accuracy by default. Held-out rows count by their weights.
    refit : bool, default=True
        Fit all rows with the C and ρ of the best mean score. If False, `coef_`, `intercept_`, `C_` and `l1_ratio_` are
        means over the best models of the folds.
    penalty : {"l1", "l2", "elasticnet"}, optional
        Old way to say `l1_ratios`.
    use_legacy_attributes : bool, default=False
        Shape what was learned as scikit-learn did before 1.10: `C_` and `l1_ratio_` hold a number for every class,
        `scores_` and `coefs_paths_` are dictionaries by class, and all have the values of C before those of ρ.
    n_jobs, random_state, verbose, dual, intercept_scaling
        Accepted for compatibility.

    Attributes
    ----------
    C_, l1_ratio_ : float
    Cs_, l1_ratios_ : array
    scores_, n_iter_ : array of shape (n_folds, n_l1_ratios, n_Cs)
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_Cs, K or 1, d + 1)
        Coefficients of all models, intercepts last (d without an intercept).
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
        "use_legacy_attributes": ["boolean"],
        "boundary": LogisticRegression._parameter_constraints["boundary"],
    }

    def __init__(
        self,
        *,
        Cs=10,
        l1_ratios=None,
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
        use_legacy_attributes=False,
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
        self.use_legacy_attributes = use_legacy_attributes
        self.boundary = boundary

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is not None:
            check_classes(rows, type(self).__name__)
        return rows

    def _model(self, C, ratio, class_weight):
        return LogisticRegression(
            C=C,
            l1_ratio=ratio,
            fit_intercept=self.fit_intercept,
            class_weight=class_weight,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            warm_start=True,
        )

    def _penalties(self):
        """Return the values of C, rising, and those of ρ."""
        whole = isinstance(self.Cs, Integral)
        Cs = np.logspace(-4, 4, self.Cs) if whole else np.sort(np.asarray(self.Cs, dtype=float))
        if not len(Cs) or not (Cs > 0).all():
            raise ValueError(f"Cs must hold numbers above 0; got {self.Cs!r}.")
        if self.penalty is None:
            raise ValueError("penalty=None leaves nothing to choose; use LogisticRegression(C=np.inf).")
        given = [0.0] if self.l1_ratios is None else list(self.l1_ratios)
        if self.penalty == "elasticnet" and self.l1_ratios is None:
            raise ValueError("penalty='elasticnet' needs l1_ratios, a list of numbers between 0 and 1.")
        ratios = {"l1": [1.0], "l2": [0.0]}.get(self.penalty, given)
        if self.l1_ratios is not None and list(ratios) != given:
            warn_of_ratio(self.penalty, "l1_ratios", self.l1_ratios)
        if not ratios or not all(isinstance(ratio, Real) and 0 <= ratio <= 1 for ratio in ratios):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={self.l1_ratios!r})."
            )
        return Cs, np.array(ratios, dtype=float)

    def _plan(self, rows):
        Cs, ratios = self._penalties()
        splitter, y = check_cv(self.cv, rows.y, classifier=True), rows.classes[rows.y]
        folds = list(splitter.split(np.empty((rows.n_rows, 1)), y, **self._for_splitter(rows)))
        by_class = None if self.class_weight is None else compute_weights(self.class_weight, rows)
        by_class = None if by_class is None else dict(zip(rows.classes.tolist(), by_class, strict=True))
        return Plan(rows, Cs, ratios, folds, by_class)

    def _tasks(self, plan):
        return list(np.ndindex(len(plan.folds), len(plan.ratios)))

    def _piece(self, plan, task):
        f, i = task
        return self._path(plan.rows, plan.Cs, plan.class_weight, plan.folds[f][0], plan.ratios[i])

    def _so_far(self, plan, results):
        """Until the penalty is chosen, the model is that of the last fold for the middle one of the values of C."""
        paths, counts = results[-1]
        f, i = divmod(len(results) - 1, len(plan.ratios))
        middle = (len(plan.Cs) - 1) // 2
        facts = {"C_": float(plan.Cs[middle]), "l1_ratio_": float(plan.ratios[i])}
        facts |= self._shaped(paths[middle], plan.rows) | {"n_iter_": counts[None, None]}
        return facts, {"fold": f + 1.0, "l1_ratio": facts["l1_ratio_"], "newton_steps": float(counts.sum())}

    def _conclude(self, plan, results):
        rows, Cs, ratios, folds, by_class = plan
        grid = (len(folds), len(ratios), len(Cs))
        paths = np.array([path for path, _ in results]).reshape(*grid, *results[0][0].shape[1:])
        n_iter = np.array([counts for _, counts in results]).reshape(grid)
        scores = self._scores(rows, folds, paths)
        C, ratio, table = self._chosen(rows, Cs, ratios, by_class, paths, scores)
        if getattr(rows, "center", None) is not None and self.fit_intercept:
            paths[..., -1] -= paths[..., :-1] @ rows.center
        facts = {"C_": C, "l1_ratio_": ratio, "coefs_paths_": paths, "scores_": scores, "n_iter_": n_iter}
        if self.use_legacy_attributes:
            facts = legacy_attributes(facts, rows.classes.tolist(), flat=self.l1_ratios is None)
        facts |= {"Cs_": Cs, "l1_ratios_": ratios}
        return facts | self._shaped(table, rows), float(scores.mean(axis=0).max())

    def _shaped(self, table, rows):
        """Return a table of parameters as attributes."""
        intercept = table[:, -1].copy() if self.fit_intercept else np.zeros(len(table))
        return {"coef_": table[:, : rows.n_features].copy(), "intercept_": intercept}

    def _announced(self, rows):
        folds = n_folds(self.cv)
        return None if folds is None else folds * len(self._penalties()[1]) + 1

    def _path(self, rows, Cs, class_weight, train, ratio):
        """Return the parameters of the models of one fold for every C, intercepts last, and their steps."""
        model, found, counts = self._model(float(Cs[0]), float(ratio), class_weight), [], []
        weight = rows.weight[train] if rows.weighted else None
        part = model._read(
            rows.X[train], rows.classes[rows.y[train]], weight, classes=rows.classes
        )  # a class may be missing here
        for C in Cs:
            model.set_params(C=float(C))._learn(part)
            found.append(_table(model))
            counts.append(int(model.n_iter_[0]))
        return np.array(found), np.array(counts)

    def _scores(self, rows, folds, paths):
        """Return what every model scores on the rows held out; scorers are asked one after the other."""
        model = LogisticRegression()
        scorer, width = with_labels(self._get_scorer(), rows.classes), rows.n_features
        scores = np.empty(paths.shape[:3])
        for f, (_, test) in enumerate(folds):
            X, y = rows.X[test], rows.classes[rows.y[test]]
            given = self._for_scorer(rows, test)
            for i, j in np.ndindex(scores.shape[1:]):
                table = paths[f, i, j]
                intercept = table[:, -1] if self.fit_intercept else np.zeros(len(table))
                model._adopt({"coef_": table[:, :width], "intercept_": intercept}, rows)
                scores[f, i, j] = scorer(model, X, y, **given)
        return scores

    def _chosen(self, rows, Cs, ratios, class_weight, paths, scores):
        """Return C, ρ and the parameters: of a fit to all rows, or the means of the best of every fold."""
        if self.refit:
            means = scores.mean(axis=0)
            at = np.unravel_index(np.argmax(means.T), means.T.shape)  # of equals the smallest C
            C, ratio = float(Cs[at[0]]), float(ratios[at[1]])
            weight = rows.weight if rows.weighted else None
            model = self._model(C, ratio, class_weight).fit(rows.X, rows.classes[rows.y], weight)
            return C, ratio, _table(model)
        best = [np.unravel_index(np.argmax(one.T), one.T.shape) for one in scores]
        table = np.mean([paths[f, i, j] for f, (j, i) in enumerate(best)], axis=0)
        js, is_ = zip(*best, strict=True)
        return float(Cs[list(js)].mean()), float(ratios[list(is_)].mean()), table

    def _get_scorer(self):
        return scorer_of(self.scoring or "accuracy")

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return what `scoring` says of the predictions; accuracy by default.

        Where scikit-learn's routing is enabled, the scorer is given the weights and other metadata it asks for.
        """
        given = params if sample_weight is None else {"sample_weight": sample_weight, **params}
        if params or (given and routing_enabled()):
            given = route(self._router(), "score", given)["scorer"]["score"]
        return self._get_scorer()(self, X, y, **given)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        return LogisticRegression.predict_proba(self, X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return its logarithm."""
        return LogisticRegression.predict_log_proba(self, X)
