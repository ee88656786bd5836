"""How good is a model? Cross-validation with scores by fold and pooled, and an honest interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.selection.intervals import Interval, score_interval
from gnomon.selection.wrapping import indexable_rows, take_rows

RESPONSES = ("predict", "predict_proba", "decision_function")


class Evaluation(NamedTuple):
    """Scores of a model on rows it had not learned from."""

    scores: Array  # one a fold
    pooled: float  # of all held-out predictions together; NaN when a row was tested twice or never
    train_scores: Array
    interval: Interval  # of the mean of the folds, corrected for what they share
    n_train: float  # rows that a fold learned from, on average
    n_test: float
    predictions: Array | None  # held-out prediction of every row; NaN or None where there is none
    models: list[Any]  # one a fold
    optimism: float  # of a search: its best inner score minus its outer score; NaN for other models

    @property
    def mean(self) -> float:
        """Mean of the fold scores."""
        return float(self.scores.mean())


class _Held(BaseEstimator):  # type: ignore[misc]
    """Stands for a model whose answers are known already."""

    def __init__(self, answers: Any = None, classes: Any = None, kind: Any = None) -> None:
        self.answers, self.classes, self.kind = answers, classes, kind
        for name, found in (answers or {}).items():
            setattr(self, name, _saying(name, found))
        if classes is not None:
            self.classes_ = classes

    def fit(self, X: Any, y: Any = None) -> _Held:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.kind
        return tags


def _saying(name: str, found: Array) -> Any:
    """Return a method of that name that gives a known answer; scikit-learn's scorers look at the name."""

    def answer(X: Any) -> Array:
        return found

    answer.__name__ = name
    return answer


def evaluate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> Evaluation:
    """Cross-validate a model: scores by fold and pooled, training scores, and an interval.

    Pooled scores of all held-out predictions and means of fold scores are different numbers. Areas under a curve and R²
    of small folds should be pooled. A search (`GridSearchCV` and its like) is cross-validated with its choice inside:
    nested, and `optimism` says how much its own best score flatters. Preprocessing belongs inside the estimator, in a
    pipeline; what is fitted to all rows before has seen the test rows.

    Parameters
    ----------
    estimator : estimator
    X, y : data
    cv : int or splitter, default=5
        Stratified for classifiers; `GroupKFold` with groups, `TimeSeriesSplit` for series.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score by default.
    groups : array of shape (n,), optional
    level : float, default=0.95

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from sklearn.model_selection import LeaveOneOut
    >>> found = evaluate(
    ...     LinearRegression(),
    ...     [[0.0], [1.0], [2.0]],
    ...     [1.0, 2.0, 4.0],
    ...     cv=LeaveOneOut(),
    ...     scoring="neg_mean_squared_error",
    ... )
    >>> round(-found.pooled, 6)
    0.75
    """
    rows = indexable_rows(X)
    y_ = None if y is None else np.asarray(y)
    n = rows.shape[0]
    splitter = check_cv(cv, y_, classifier=is_classifier(estimator))
    folds = list(splitter.split(rows, y_, groups))
    scorer = check_scoring(estimator, scoring)
    classes = np.unique(y_) if is_classifier(estimator) and y_ is not None else None

    def one(fold: tuple[Array, Array]) -> tuple[Any, float, float, dict[str, Any]]:
        train, test = fold
        part, rest = take_rows(rows, train), take_rows(rows, test)
        labels = (None, None) if y_ is None else (y_[train], y_[test])
        model = clone(estimator).fit(part) if y_ is None else clone(estimator).fit(part, labels[0])
        said = {name: _answer(model, name, rest, classes) for name in RESPONSES if hasattr(model, name)}
        return model, float(scorer(model, rest, labels[1])), float(scorer(model, part, labels[0])), said

    done = list(in_order(one, folds, "folds"))
    scores, train_scores = np.array([d[1] for d in done]), np.array([d[2] for d in done])
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise DataError(
            f"the score of fold {bad[0]} is {scores[bad[0]]}; look at its {len(folds[bad[0]][1])} rows."
        )
    sizes = [float(np.mean([len(part) for part in parts])) for parts in zip(*folds)]
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n)
    answers = _joined(folds, [d[3] for d in done], n)
    pooled = (
        _pool(scorer, answers, estimator, rows, y_, classes, np.flatnonzero(tested))
        if tested.max() == 1
        else np.nan
    )
    ratio = sizes[1] / sizes[0]
    found = score_interval(scores, ratio, level) if len(scores) > 1 else Interval(scores[0], np.nan, np.nan)
    inner = [d[0].best_score_ for d in done if hasattr(d[0], "best_score_")]
    optimism = float(np.mean(inner)) - float(scores.mean()) if inner else float("nan")
    predictions = _with_holes(answers.get("predict"), tested > 0)
    return Evaluation(
        scores, float(pooled), train_scores, found, *sizes, predictions, [d[0] for d in done], optimism
    )


def _answer(model: Any, name: str, X: Any, classes: Array | None) -> Any:
    try:
        found = np.asarray(getattr(model, name)(X))
    except Exception:  # a method that is there but cannot answer is not needed unless the scorer asks for it
        return None
    mine = getattr(model, "classes_", None)
    if name == "predict" or classes is None or found.ndim == 1 or mine is None or len(mine) == len(classes):
        return found
    whole = np.zeros((len(found), len(classes)))
    whole[:, np.searchsorted(classes, mine)] = found
    return whole


def _joined(folds: Any, said: list[dict[str, Any]], n: int) -> dict[str, Array]:
    """Return held-out answers in the order of the rows."""
    joined = {}
    for name in RESPONSES:
        parts = [answers.get(name) for answers in said]
        if any(part is None for part in parts) or len({part.ndim for part in parts}) != 1:
            continue
        whole = np.zeros((n, *parts[0].shape[1:]), dtype=np.result_type(*parts))
        for (_, test), part in zip(folds, parts):
            whole[test] = part
        joined[name] = whole
    return joined


def _with_holes(found: Array | None, known: Array) -> Array | None:
    """Return predictions that are NaN (None for words) where there is none."""
    if found is None or known.all():
        return found
    marked = found.astype(float if found.dtype.kind in "biuf" else object)
    marked[~known] = np.nan if marked.dtype.kind == "f" else None
    return marked


def _pool(scorer: Any, answers: Any, estimator: Any, X: Any, y: Any, classes: Any, rows: Array) -> float:
    """Score all held-out answers at once; NaN where the scorer needs more than answers."""
    from sklearn.utils import get_tags

    held = _Held(
        {name: found[rows] for name, found in answers.items()}, classes, get_tags(estimator).estimator_type
    )
    try:
        if not hasattr(scorer, "_score_func"):  # the estimator's own score
            from sklearn.metrics import accuracy_score, r2_score

            measure = accuracy_score if classes is not None else r2_score
            return float(measure(y[rows], answers["predict"][rows]))
        return float(scorer(held, take_rows(X, rows), None if y is None else y[rows]))
    except (KeyError, AttributeError, TypeError):
        return float("nan")


def one_standard_error(results: Any) -> int:
    r"""Choose the simplest candidate within one standard error of the best; for ``GridSearchCV(refit=...)``.

    Candidates must be listed from simple to complex. With the mean scores :math:`s_j` over k folds, the first j with
    :math:`s_j \ge s_* - \hat\sigma_*/\sqrt k` is taken.

    Parameters
    ----------
    results : dict
        `cv_results_` of a search.

    Examples
    --------
    >>> results = {
    ...     f"split{i}_test_score": np.array(s)
    ...     for i, s in enumerate([[0.82, 0.82], [0.86, 0.83], [0.81, 0.86]])
    ... }
    >>> one_standard_error(results)
    0
    """
    splits = [
        np.asarray(v, dtype=float)
        for name, v in results.items()
        if name.startswith("split") and "_test_" in name
    ]
    if not splits:
        raise DataError("results holds no scores of splits; give the cv_results_ of a search.")
    S = np.array(splits)
    if np.isnan(S).any():
        raise DataError(
            f"candidate {int(np.flatnonzero(np.isnan(S).any(axis=0))[0])} has a score that is NaN."
        )
    mean = S.mean(axis=0)
    best = int(mean.argmax())
    error = S[:, best].std(ddof=1) / np.sqrt(len(S)) if len(S) > 1 else 0.0
    return int(np.flatnonzero(mean >= mean[best] - error)[0])
