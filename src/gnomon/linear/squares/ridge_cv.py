"""The choice of the ridge penalty by cross-validation, without refitting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.pieces import InPieces, n_folds
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads
from gnomon.linear._folds import RoutesFolds, scorer_of
from gnomon.linear.squares.least_squares import LinearPrediction, check_moments
from gnomon.linear.squares.moments import LinearSums, moments, sum_moments
from gnomon.linear.squares.normal import as_columns
from gnomon.linear.squares.spectrum import Spectrum, check_alphas, losses_of, spectrum, spectrum_of_rows


class Omission(NamedTuple):
    """Σ s e² and, for the message, the largest leverage, of leave-one-out errors e."""

    errors: Array  # (t, A)
    top: Array

    def merge(self, other: Omission) -> Omission:
        """Add the errors; keep the larger leverage."""
        return Omission(self.errors + other.errors, np.maximum(self.top, other.top))


def omitted_residuals(
    chunk: Any, view: LinearSums, path: Spectrum, alphas: Array, constant: float
) -> tuple[Array, Array]:
    """Return (m, t, A) errors of each row when it is left out, and the largest leverage.

    A weight counts as repeated rows, so one repetition is left out: e/(1 − min(s, 1)·h).
    """
    dense = chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X
    Q = (dense - view.mean_x) @ path.V  # (m, r)
    inverse = 1.0 / (path.e[:, None] + alphas)  # (r, A)
    h = (Q * Q) @ inverse + constant
    residual = (as_columns(chunk.y) - view.mean_y)[:, :, None] - _fitted(Q, path.c, inverse)
    left = 1.0 - np.minimum(chunk.weight, 1.0)[:, None] * h
    with np.errstate(divide="ignore", invalid="ignore"):
        return residual / left[:, None, :], (h * (chunk.weight > 0)[:, None]).max(axis=0)


def _fitted(Q: Array, c: Array, inverse: Array) -> Array:
    shrunk = c[:, :, None] * inverse[:, None, :]
    t, A = shrunk.shape[1:]
    return (Q @ shrunk.reshape(len(c), t * A)).reshape(len(Q), t, A)


def omission_sums(chunk: Any, *state: Any) -> Omission:
    """Weighted squared leave-one-out errors of one chunk."""
    errors, top = omitted_residuals(chunk, *state)
    errors = errors[chunk.weight > 0]
    return Omission(np.einsum("i,ita->ta", chunk.weight[chunk.weight > 0], errors * errors), top)


def omitted_rows(chunk: Any, *state: Any) -> Array:
    """The errors themselves, for scores other than the squared error."""
    return omitted_residuals(chunk, *state)[0]


class _Given(BaseEstimator):
    """Stands in for a fitted model whose predictions are known."""

    _estimator_type = "regressor"

    def predict(self, X: Array) -> Array:
        return X


class Plan(NamedTuple):
    """The workspace: moments of all rows and of the folds."""

    rows: Any
    alphas: Array
    view: LinearSums
    path: Spectrum
    folds: Sequence[tuple[Array, Array]]  # rows to learn from, and rows held out; none without folds
    trained: Sequence[LinearSums]  # moments of either, fold by fold
    held: Sequence[LinearSums]


class RidgeCV(RoutesFolds, LinearPrediction, MultiOutputMixin, RegressorMixin, InPieces):
    r"""Ridge with its penalty chosen by cross-validation.

    The default leaves out one row at a time, exactly and without refitting:

    .. math:: e_i^{(-i)} = \frac{e_i}{1 - h_{ii}(\alpha)}

    One pass gives the moments, one eigendecomposition serves all penalties, a second pass gives all errors.
    With ``cv=k`` the moments of the folds are combined, one decomposition a fold; the rows are not read
    again.

    Parameters
    ----------
    alphas : array of shape (A,), default=(0.1, 1.0, 10.0)
    fit_intercept : bool, default=True
    scoring : str or callable, default=None
        None: mean squared error for leave-one-out, R² with `cv`.
    cv : int, splitter or None
        None is leave-one-out.
    gcv_mode : {"auto", "svd", "eigen", "gcv"}, default=None
        ``"gcv"`` takes generalized cross-validation n·RSS/(n − tr H)²; the other names mean leave-one-out.
    store_cv_results : bool, default=False
        Keep `cv_results_`: squared errors (or predictions, with `scoring`) of every row; with `cv`, scores
        of folds.
    alpha_per_target : bool, default=False
        Choose a penalty for each target (leave-one-out only).
    pool : bool, default=True
        With `cv`, score all held-out predictions together instead of averaging the scores of the folds.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
    best_score_ : float or array
    scores_ : array of shape (A,) or (n_targets, A)
        The score of every penalty; larger is better.
    coef_, intercept_, cv_results_

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(x[:, None], 2 * x + 1).alpha_
    np.float64(0.01)
    """

    _reads = Reads(sparse=True, y="numbers", scales=True, min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alphas": ["array-like", Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "scoring": [None, StrOptions(set(get_scorer_names())), callable],
        "cv": ["cv_object"],
        "gcv_mode": [None, StrOptions({"auto", "svd", "eigen", "gcv"})],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
        "pool": ["boolean"],
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        pool: bool = True,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.pool = pool

    def _plan(self, rows: Any) -> Plan:
        alphas = check_alphas(self.alphas)
        if self.cv is not None and self.alpha_per_target:
            raise ValueError("alpha_per_target=True needs leave-one-out: use cv=None.")
        sums = sum_moments(rows)
        check_moments(sums)
        view = sums if self.fit_intercept else sums.without_centering()
        plan = Plan(rows, alphas, view, spectrum_of_rows(rows, view, self.fit_intercept), (), (), ())
        if self.cv is None:
            return plan
        if not rows.in_memory:
            raise DataError("folds need the rows in memory; use cv=None for tables and Dask.")
        splits = list(check_cv(self.cv).split(rows.X, rows.y, **self._for_splitter(rows)))
        held = [_moments_of(rows, test) for _, test in splits]
        return plan._replace(folds=splits, trained=_training_moments(rows, splits, held), held=held)

    def _tasks(self, plan: Plan) -> list[int]:
        return list(range(len(plan.folds)))

    def _announced(self, rows: Any) -> int | None:
        folds = 0 if self.cv is None else n_folds(self.cv)
        return None if folds is None else folds + 1

    def _piece(self, plan: Plan, fold: int) -> tuple[Array, Array, Array]:
        """Return coefficients (d, t, A) and intercepts (t, A) of a fold, and what they lose on its held-out rows.

        The losses follow from the moments of these rows, which are not read again.
        """
        sums = plan.trained[fold]
        view = sums if self.fit_intercept else sums.without_centering()
        coef = spectrum(view).coef(plan.alphas)
        intercept = np.atleast_1d(view.mean_y)[:, None] - np.tensordot(view.mean_x, coef, axes=1)
        return coef, intercept, losses_of(plan.held[fold], coef, intercept)

    def _so_far(self, plan: Plan, results: Any) -> tuple[dict[str, Any], dict[str, float]]:
        """Until all rows are fitted, the model is that of the last fold, with the penalty that loses least on it."""
        coef, intercept, losses = results[-1]
        best, held = int(losses.sum(axis=0).argmin()), plan.held[len(results) - 1]
        info = {
            "alpha": float(plan.alphas[best]),
            "held_out_error": float(losses[:, best].sum() / max(held.weight, 1e-300)),
        }
        facts = self._shaped(plan, coef[:, :, best], intercept[:, best])
        return {**facts, "alpha_": plan.alphas[best]}, info

    def _conclude(self, plan: Plan, results: Any) -> tuple[dict[str, Any], float | None]:
        rows, alphas, view, path, *_ = plan
        if self.cv is not None:
            scores, table = self._fold_scores(plan, results)
        elif self.gcv_mode == "gcv":
            scores, table = self._generalized(view, path, alphas), None
        else:
            scores, table = self._leave_one_out(rows, view, path, alphas)
        if not self.alpha_per_target:
            scores = scores.mean(axis=0, keepdims=True)
        told = float(scores.max()) if self.cv is not None else np.nan  # what the chosen penalty scores
        return self._choice(scores, table, plan), told if np.isfinite(told) else None

    def _shaped(self, plan: Plan, coef: Array, intercept: Any) -> dict[str, Any]:
        """Return coefficients (d, t) and intercepts as attributes."""
        several = np.ndim(plan.view.mean_y)
        kind = np.float32 if plan.rows.dtype == np.float32 else np.float64
        if not several:
            intercept = np.ravel(intercept)[0]
        return {
            "coef_": np.ascontiguousarray(coef.T if several else coef[:, 0]).astype(kind),
            "intercept_": np.asarray(intercept).astype(kind)[()] if self.fit_intercept else 0.0,
        }

    def _choice(self, scores: Array, results: Any, plan: Plan) -> dict[str, Any]:
        """Fit the best penalty; ties go to the first."""
        _, alphas, view, path, *_ = plan
        best = np.broadcast_to(scores.argmax(axis=1), (path.c.shape[1],))
        coef = path.coef(alphas)[:, np.arange(len(best)), best]  # (d, t)
        intercept = view.mean_y - view.mean_x @ (coef if np.ndim(view.mean_y) else coef[:, 0])
        shared = not self.alpha_per_target or np.ndim(view.mean_y) == 0
        attributes = {
            **self._shaped(plan, coef, intercept),
            "alpha_": alphas[best[0]] if shared else alphas[best],
            "best_score_": scores[0].max() if shared else scores.max(axis=1),
            "scores_": scores[0] if shared else scores,
        }
        return {**attributes, "cv_results_": results} if self.store_cv_results else attributes

    def _generalized(self, view: LinearSums, path: Spectrum, alphas: Array) -> Array:
        coef = path.coef(alphas)
        intercept = np.atleast_1d(view.mean_y)[:, None] - np.tensordot(view.mean_x, coef, axes=1)
        freedom = view.weight - path.dof(alphas) - bool(self.fit_intercept)
        with np.errstate(divide="ignore"):
            return -view.weight * losses_of(view, coef, intercept) / freedom**2

    def _leave_one_out(
        self, rows: Any, view: LinearSums, path: Spectrum, alphas: Array
    ) -> tuple[Array, Array | None]:
        constant = 1.0 / view.weight if self.fit_intercept else 0.0
        state = (view, path, alphas, constant)
        if self.scoring is None and not self.store_cv_results:
            found = total(omission_sums, rows, *state)
            if len(alphas) == 1 and _is_full(found.top):  # nothing is to be chosen
                return np.full_like(found.errors, -np.inf), None
            _check_leverage(found.top, alphas)
            return -found.errors / view.weight, None
        errors = per_row(omitted_rows, rows, *state)  # (n, t, A)
        if not np.isfinite(errors).all():
            _check_leverage(np.ones(len(alphas)), alphas)
        Y, s = as_columns(rows.y), rows.weight
        if self.scoring is None:
            results, scores = errors**2, -np.einsum("i,ita->ta", s, errors**2) / s.sum()
        else:
            results = Y[:, :, None] - errors
            scores = self._scored(results, Y, self._for_scorer(rows, slice(None)))
        return scores, results[:, 0] if rows.y.ndim == 1 else results

    def _get_scorer(self) -> Any:
        return scorer_of(self.scoring)

    def _scored(self, predictions: Array, Y: Array, extra: dict[str, Any]) -> Array:
        """Scores (t, A), or (1, A) when targets share a penalty."""
        given, score = _Given(), self._get_scorer()
        last = range(predictions.shape[2])
        if self.alpha_per_target or Y.shape[1] == 1:
            targets = range(Y.shape[1])
            return np.array(
                [[score(given, predictions[:, t, a], Y[:, t], **extra) for a in last] for t in targets]
            )
        return np.array([[score(given, predictions[:, :, a], Y, **extra) for a in last]])

    # folds

    def _fold_scores(self, plan: Plan, results: Any) -> tuple[Array, Array]:
        """Scores of the penalties, and their table by fold: R² from the losses, or what a scorer says."""
        if self.scoring is None:
            losses = [found[2] for found in results]
            spreads = [np.atleast_1d(one.yy)[:, None] for one in plan.held]
            together = reduce(LinearSums.merge, plan.held)
            with np.errstate(divide="ignore", invalid="ignore"):
                each = 1.0 - np.stack(losses) / np.stack(spreads)  # (k, t, A)
                pooled = 1.0 - np.sum(losses, axis=0) / np.atleast_1d(together.yy)[:, None]
            return (pooled if self.pool else each.mean(axis=0)), each.mean(axis=1)
        tests = [test for _, test in plan.folds]
        held = [self._held_out(plan.rows, *pair) for pair in zip(tests, results, strict=True)]
        Y = as_columns(plan.rows.y)
        groups = [np.concatenate(tests)] if self.pool else tests
        pairs = zip([np.concatenate(held)] if self.pool else held, groups, strict=True)
        scores = np.stack([self._scored(p, Y[g], self._for_scorer(plan.rows, g)) for p, g in pairs])
        return scores.mean(axis=0), scores[:, 0]

    def _held_out(self, rows: Any, test: Array, found: Any) -> Array:
        """Predictions for the held-out rows of a fold, (rows, t, A)."""
        coef, intercept, _ = found
        flat = rows.X[test] @ coef.reshape(len(coef), -1)
        return flat.reshape(len(test), *intercept.shape) + intercept


def _is_full(top: Array) -> bool:
    return bool((top >= 1.0 - 1e-12).any())


def _check_leverage(top: Array, alphas: Array) -> None:
    if _is_full(top):
        alpha = alphas[int(np.argmax(top))]
        raise DataError(
            f"with alpha={alpha:g} a row has leverage 1: the fit passes through it whatever its value, so "
            "leaving it out has no answer. Use a larger alpha or cv=5."
        )


def _moments_of(rows: Any, index: Array) -> LinearSums:
    if len(index) and np.array_equal(index, np.arange(index[0], index[0] + len(index))):
        part: Any = slice(int(index[0]), int(index[-1]) + 1)
    else:
        part = index
    weight = rows.weight[part] if rows.weighted else None
    return sum_moments(MemoryRows(rows.X[part], rows.y[part], weight))


def _training_moments(
    rows: Any, splits: list[tuple[Array, Array]], folds: list[LinearSums]
) -> list[LinearSums]:
    """Moments of all rows but the fold's: merged from the other folds when the folds part the rows."""
    tests = [test for _, test in splits]
    parted = np.array_equal(np.sort(np.concatenate(tests)), np.arange(rows.n_rows))
    if not parted or any(len(a) + len(b) != rows.n_rows for a, b in splits):
        return [_moments_of(rows, train) for train, _ in splits]
    empty = moments(np.zeros((0, rows.n_features)), rows.y[:0])
    before, after = [empty], [empty]
    for one, other in zip(folds, folds[::-1], strict=True):
        before.append(before[-1].merge(one))
        after.append(other.merge(after[-1]))
    return [before[k].merge(after[len(folds) - 1 - k]) for k in range(len(folds))]
