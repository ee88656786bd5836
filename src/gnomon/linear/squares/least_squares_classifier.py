"""Classification by least squares on labels: fast, closed form, and a warning about squared loss."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.closed_form import OneStep
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT, Reads
from gnomon.linear._rows import check_classes, weigh_classes
from gnomon.linear._rules import SEED
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.linear.squares.ridge import Ridge
from gnomon.losses.penalties import Lp
from gnomon.solvers.descent import minimize


class RidgeClassifier(LinearClassifierMixin, OneStep):
    r"""Least squares on labels with a ridge (or ℓp) penalty.

    .. math:: \min_{w,b}\; \sum_i s_i\,(t_i - w\cdot x_i - b)^2 + \alpha\sum_j|w_j|^p

    with t = ±1 (or 0 and 1), one column of targets a class beyond two; the largest score wins. ``alpha=0`` is
    the plain least-squares classifier. The squared loss also punishes rows that are too right, so far but
    correct points drag the boundary: use `LogisticRegression` or `LinearSVC` then.

    Parameters
    ----------
    alpha : float, default=1.0
    fit_intercept : bool, default=True
    copy_X, max_iter, tol, solver, positive, random_state
        As in `Ridge`.
    class_weight : dict, "balanced" or None
    targets : {"pm1", "01"}, default="pm1"
        Labels −1, +1 with threshold 0, or 0, 1 with threshold ½: the same with an intercept. Without one and
        with 0 and 1, scores shrink to 0 as alpha grows, so everything becomes the first class.
    p : float, default=2
        Power of the penalty.
    boundary : {"negative", "positive"}, default="negative"

    Attributes
    ----------
    coef_, intercept_, classes_
        The threshold is folded into `intercept_`.

    Examples
    --------
    >>> x = np.array([-3.0, -2, -1, 1, 2, 3])[:, None]
    >>> model = RidgeClassifier(alpha=0.0).fit(x, [0, 0, 0, 1, 1, 1])
    >>> model.coef_.round(6)
    array([[0.428571]])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "copy_X": ["boolean"],
        "max_iter": [COUNT, None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": Ridge._parameter_constraints["solver"],
        "positive": ["boolean"],
        "random_state": SEED,
        "targets": [StrOptions({"pm1", "01"})],
        "p": [Interval(Real, 0, None, closed="left")],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        class_weight=None,
        solver="auto",
        positive=False,
        random_state=None,
        targets="pm1",
        p=2,
        boundary="negative",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.targets = targets
        self.p = p
        self.boundary = boundary

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is None:
            return rows
        check_classes(rows, type(self).__name__)
        return weigh_classes(rows, self.class_weight)

    def _solve(self, rows):
        K = len(rows.classes)
        T = np.eye(K)[rows.y] if K > 2 else (rows.y == 1).astype(float)[:, None]
        if self.targets == "pm1":
            T = 2.0 * T - 1.0
        coef, intercept = self._ridge(rows, T) if self.p == 2 else self._bridge(rows, T)
        threshold = 0.5 if self.targets == "01" and K == 2 else 0.0
        return {"coef_": coef, "intercept_": intercept - threshold}

    def _ridge(self, rows, T):
        model = Ridge(
            self.alpha,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            solver=self.solver,
            positive=self.positive,
        ).fit(rows.X, T, rows.weight if rows.weighted else None)
        return np.atleast_2d(model.coef_), np.broadcast_to(np.ravel(model.intercept_), (T.shape[1],)).copy()

    def _bridge(self, rows, T):
        """Any power, by accelerated proximal gradients on the centered rows."""
        X = rows.X.toarray() if rows.sparse else np.asarray(rows.X, dtype=float)
        s = rows.weight
        mean = s @ X / s.sum() if self.fit_intercept else np.zeros(X.shape[1])
        middle = s @ T / s.sum() if self.fit_intercept else np.zeros(T.shape[1])
        root = np.sqrt(s)[:, None]
        Z, Y = root * (X - mean), root * (T - middle)
        penalty = Lp(self.alpha, p=self.p)
        coef = np.array([_fista(Z, y, penalty) for y in Y.T])
        return coef, middle - coef @ mean


def _fista(Z: Array, y: Array, penalty: Lp) -> Array:
    def loss(w):
        r = Z @ w - y
        return float(r @ r), 2.0 * (Z.T @ r)

    starts = [np.zeros(Z.shape[1])]
    if not penalty.is_convex:  # zero may be a trap: also begin at least squares
        starts.append(np.linalg.lstsq(Z, y, rcond=None)[0])
    found = [minimize(loss, w, method="fista", penalty=penalty, tol=1e-10, max_iter=5000) for w in starts]
    return min(found, key=lambda one: one.value).x
