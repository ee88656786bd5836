"""Pegasos: the support vector machine by stochastic subgradients."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads, warn
from gnomon.linear._rules import ORDER, SEED
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.linear.online import _epochs
from gnomon.loops import stochastic as loops
from gnomon.solvers.schedules import Schedule

DRAWS = 1000  # a row and pass at most, however heavy the rows


class Pegasos(LinearClassifierMixin, _epochs.Mixed, Learner):
    r"""Support vector machine by Pegasos: stochastic subgradient steps of the mean hinge plus (α/2)‖w‖².

    .. math:: w \leftarrow (1 - \eta_t\alpha) w + \eta_t y_i x_i [y_i f(x_i) \le 1],\; \eta_t = 1/(\alpha t)

    For two classes. A lesson more than a tool: `LinearSVC` reaches the optimum with a certificate.

    Parameters
    ----------
    alpha : float, default=1e-4
    n_updates : int, optional
        Single steps; by default `max_iter` passes.
    max_iter : int, default=20
    schedule : {"pegasos", "inverse"} or Schedule, default="pegasos"
        1/(αt), or 1/t, which is slow for small α.
    bound_norm : bool, default=False
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
    _monotone: ClassVar[bool] = False  # single steps may go up
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_updates": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": SEED,
        "schedule": [StrOptions({"pegasos", "inverse"}), Schedule],
        "bound_norm": ["boolean"],
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "regularize_intercept": ["boolean"],
        "order": ORDER,
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        n_updates=None,
        max_iter=20,
        schedule="pegasos",
        bound_norm=False,
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
        self.bound_norm = bound_norm
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
                f"{type_of_target(rows.classes[rows.y])}: y has {len(rows.classes)} classes. "
                "Wrap the model in OneVsRestClassifier."
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
            X,
            y,
            order[:left],
            float(self.alpha),
            first,
            power,
            self.fit_intercept,
            float(self.regularize_intercept),
            self.bound_norm,
            coef[0],
            state.intercept[0],
            state.steps,
            average[0],
            state.average_intercept[0],
        )
        if clipped:
            warn(f"{clipped} steps with rate·alpha > 1 would have turned the weights; they were cut.")
        new = state._replace(
            coef=coef,
            average=average,
            intercept=np.array([b]),
            average_intercept=np.array([avg_b]),
            steps=t,
            epoch=state.epoch + 1,
        )
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
        draws = int(np.ceil(min(share[-1], DRAWS * rows.n_rows)))
        places = stream(state.seed, state.epoch).random(draws) * share[-1]
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
