"""Capacity: margins, nested models, and the risk that is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.theory.bounds import vc_bound


def margin_capacity(radius: float, margin: float, dim: float) -> float:
    """Return min(R²/γ², d) + 1, the capacity of hyperplanes of a margin on points within a ball."""
    return float(min((radius / margin) ** 2, dim) + 1)


class Capacity(NamedTuple):
    """Capacity of a machine with a margin, beside its training error."""

    capacity: float
    radius: float  # of the ball around the mean of the rows
    margin: float  # 1 / ‖w‖
    training_error: float
    separates: bool  # False: the margin is a soft one, and some rows are inside it


def svm_capacity(model: Any, X: Any, y: Any) -> Capacity:
    r"""Return the margin capacity of a fitted machine, linear or with a kernel.

    .. math:: \min(R^2/\gamma^2,\; d) + 1

    bounds the VC dimension of hyperplanes that keep the margin :math:`\gamma` on points within a ball of radius R. For
    a machine trained on those points it is a guide, not a theorem: the margin was chosen after looking.

    Compare machines by it: features dropped, projections and larger margins lower it, training error rises. In the
    space of a kernel the radius is that of the rows around their mean there, and the dimension bounds nothing.

    Parameters
    ----------
    model : fitted classifier of two classes with `coef_`, or `SVC`
        Margins are at ±1, as in `LinearSVC`.
    X, y : rows and labels

    Examples
    --------
    >>> from gnomon.linear import LinearSVC
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    >>> found = svm_capacity(LinearSVC(C=1e3, loss="hinge").fit(X, y), X, y)
    >>> round(found.margin, 3), round(found.capacity, 3), found.separates
    (1.0, 2.0, True)
    """
    X = np.asarray(matrix(X), dtype=float)
    if hasattr(model, "coef_"):
        w = np.asarray(model.coef_, dtype=float).ravel()
        if w.size != X.shape[1]:
            raise DataError(
                f"the model has {w.size} weights, and X has {X.shape[1]} columns; give two classes."
            )
        length, dimension = float(np.linalg.norm(w)), float(X.shape[1])
        radius = float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    elif hasattr(model, "_fitted_kernel"):
        margin = float(np.max(model.margin_)) if np.ndim(model.margin_) == 0 else np.nan
        length, dimension = 1.0 / margin if margin > 0 else 0.0, np.inf
        K = np.asarray(model._fitted_kernel()(X))
        radius = float(np.sqrt(np.maximum(np.diagonal(K) - 2.0 * K.mean(axis=1) + K.mean(), 0.0).max()))
    else:
        length = 0.0
    if not length > 0.0:
        raise DataError("the model has no weights `coef_` that differ from zero, and so no margin.")
    wrong = float(np.mean(model.predict(X) != np.asarray(y)))
    inside = np.abs(model.decision_function(X)) < 1.0 - 1e-3
    margin = 1.0 / length
    return Capacity(
        margin_capacity(radius, margin, dimension), radius, margin, wrong, not (wrong or inside.any())
    )


class StructuralRisk(NamedTuple):
    """Nested models, and the one whose guaranteed error is smallest."""

    training_errors: Array
    penalties: Array
    bounds: Array
    best_index: int
    best: Any  # the fitted model; None when errors were given
    rises: list[int]  # models that fit worse than the one before: an optimizer failed


def structural_risk(
    models: Sequence[Any],
    capacities: Sequence[float],
    X: Any = None,
    y: Any = None,
    *,
    n: int | None = None,
    delta: float = 0.05,
    split_delta: bool = True,
    gap: Callable[..., Any] = vc_bound,
) -> StructuralRisk:
    r"""Structural risk minimization: choose among nested models by training error plus a bound on the gap.

    .. math:: \hat k = \arg\min_k \hat E_k + \mathrm{gap}(n, d_k, \delta_k)

    With ``split_delta=True`` every model gets :math:`\delta/K`, and the guarantee holds for the chosen one.

    Parameters
    ----------
    models : sequence of classifiers, or of training errors
        From the smallest class to the largest. Classifiers are fitted to X and y; with errors, give n.
    capacities : sequence of numbers
        VC dimensions, not falling.
    X, y : rows and labels
    n : int
        Rows behind the training errors, when those are given.
    delta : float, default=0.05
    split_delta : bool, default=True
    gap : callable, default=`vc_bound`
        ``gap(n=, delta=, d=)`` returns a `Bound` or a number.

    Examples
    --------
    >>> errors = [0.30, 0.18, 0.10, 0.09, 0.085, 0.084]
    >>> found = structural_risk(errors, range(2, 8), n=500, split_delta=False)
    >>> found.best_index, found.bounds.round(4)
    (2, array([0.494 , 0.4028, 0.3469, 0.3579, 0.3716, 0.3877]))
    """
    dims = np.asarray(list(capacities), dtype=float)
    if len(models) < 2 or len(dims) != len(models):
        raise DataError(f"give at least two models with a capacity each; got {len(models)} and {len(dims)}.")
    if (np.diff(dims) < 0).any():
        raise DataError(f"capacities must not fall along the nest; got {dims.tolist()}.")
    fitted: list[Any] = []
    if hasattr(models[0], "fit"):
        fitted = [clone(model).fit(X, y) for model in models]
        errors = np.array([1.0 - model.score(X, y) for model in fitted])
        n = len(np.asarray(y))
    else:
        errors = np.asarray(models, dtype=float)
        if n is None:
            raise DataError("n must be given with training errors: the number of rows behind them.")
    share = delta / len(dims) if split_delta else delta
    penalties = np.array([float(gap(n=n, delta=share, d=d)) for d in dims])
    bounds = errors + penalties
    best = int(bounds.argmin())
    rises = (np.flatnonzero(np.diff(errors) > 1e-12) + 1).tolist()
    return StructuralRisk(errors, penalties, bounds, best, fitted[best] if fitted else None, rises)
