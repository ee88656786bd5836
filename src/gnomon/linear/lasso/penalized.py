"""Loss plus penalty: bridge regression for every p, and the template for any smooth loss and penalty."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import total_weight
from gnomon.core.validate import Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear.squares.least_squares import LinearPrediction, check_moments
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.linear.squares.ridge import spectral_coef
from gnomon.losses import L1, L2, ElasticNet, Huber, Lp, SquaredError
from gnomon.losses.base import Loss
from gnomon.losses.penalties import Penalty
from gnomon.solvers.descent import DescentState, Options, accelerated_proximal_step, at
from gnomon.solvers.newton import Objective, evaluate
from gnomon.solvers.terms import Model, cut


class BridgeState(NamedTuple):
    """Coefficients, and the quadratic (1/2)wᵀGw − cᵀw + half that they minimize with a penalty."""

    w: Array
    G: Array
    c: Array
    half: float
    view: LinearSums
    memory: tuple[Array, ...] = ()


def bridge_sweep(state: BridgeState, penalty: Lp) -> BridgeState:
    """Minimize exactly over one coefficient after the other; the objective never rises."""
    w, G = state.w.copy(), state.G
    gradient = G @ w - state.c
    for j in range(len(w)):
        if G[j, j] <= 0.0:
            w[j] = 0.0
            continue
        new = float(penalty.prox(np.array([w[j] - gradient[j] / G[j, j]]), 1.0 / G[j, j])[0])
        if new != w[j]:
            gradient += G[:, j] * (new - w[j])
            w[j] = new
    return state._replace(w=w)


class LpRegression(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Bridge regression: least squares with an ℓp penalty.

    .. math:: \min_{w,b}\; \tfrac{1}{2W}\sum_i s_i(y_i-x_i^\top w-b)^2 + \alpha\sum_j \lvert w_j\rvert^p

    (p = ∞: α·max|w_j|; p = 0: α times the number of non-zeros.) p > 2 punishes large coefficients, p = 2
    spreads them, p = 1 makes some exactly zero, p < 1 more of them, at the price of local minima: then
    several starts are tried.

    Parameters
    ----------
    p : float, default=1.0
        0, positive or infinite.
    alpha : float, default=1.0
        For ‖y − Xw‖² + λ‖w‖ₚᵖ use α = λ/(2n).
    fit_intercept : bool, default=True
    max_iter : int, default=10000
    tol : float, default=1e-8
        Stop when no coefficient moves more than this, relative to the largest.
    n_init : int, default=1
        Random starts besides zero, ridge and lasso, for p < 1.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    coef_, intercept_, n_iter_, trace_
    objective_ : float
    is_global_ : bool
        True for p ≥ 1, where the problem is convex.

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> LpRegression(p=4, alpha=1 / 8, fit_intercept=False).fit(X, y).coef_.round(6)
    array([0.915799, 0.17821 ])
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "p": [Interval(Real, 0, None, closed="both")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        p: float = 1.0,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        tol: float = 1e-8,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        self.p = p
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    # hooks

    def _starts(self) -> int:
        return 1 if self.p >= 1 else 3 + int(self.n_init)

    def _first_state(self, rows: Any, seed: int, index: int) -> BridgeState:
        if not self.p >= 0:
            raise ValueError(f"p must be 0, positive or infinite; got {self.p!r}.")
        sums = sum_moments(rows)
        check_moments(sums)
        view = sums if self.fit_intercept else sums.without_centering()
        W = view.weight
        state = BridgeState(
            np.zeros(view.n_features), view.xx / W, view.xy / W, 0.5 * float(view.yy) / W, view
        )
        if index == 1:
            return state._replace(w=spectral_coef(view, max(self.alpha * W, 1e-10))[:, 0])
        if index == 2:
            return self._swept(state, Lp(self.alpha, p=1.0), 50)
        if index > 2:
            size = np.abs(spectral_coef(view, 1e-8 * W)[:, 0]).max(initial=0.0)
            return state._replace(w=stream(seed, index).normal(0.0, size or 1.0, view.n_features))
        return state

    def _swept(self, state: BridgeState, penalty: Lp, sweeps: int) -> BridgeState:
        for _ in range(sweeps):
            state = bridge_sweep(state, penalty)
        return state

    def _step(self, rows: Any, state: BridgeState) -> tuple[BridgeState, Report]:
        penalty = Lp(self.alpha, p=self.p)
        new = self._accelerated(state, penalty) if self.p == np.inf else bridge_sweep(state, penalty)
        change = float(np.abs(new.w - state.w).max(initial=0.0))
        done = change <= self.tol * max(float(np.abs(new.w).max(initial=0.0)), 1e-300)
        return new, Report(self._value(new, penalty), done=done, change=change)

    def _accelerated(self, state: BridgeState, penalty: Lp) -> BridgeState:
        """One step of FISTA: the largest magnitude does not part into coordinates."""

        def quadratic(w: Array) -> tuple[float, Array]:
            g = state.G @ w
            return state.half + float(w @ (0.5 * g - state.c)), g - state.c

        here = at(quadratic, state.w, memory=state.memory)
        found = accelerated_proximal_step(quadratic, here, Options(penalty=penalty))
        return state._replace(w=found.x, memory=found.memory)

    def _value(self, state: BridgeState, penalty: Lp) -> float:
        return state.half + float(state.w @ (0.5 * state.G @ state.w - state.c)) + penalty.value(state.w)

    def _attributes(self, state: BridgeState) -> dict[str, Any]:
        view = state.view
        return {
            "coef_": state.w,
            "intercept_": float(view.mean_y - view.mean_x @ state.w) if self.fit_intercept else 0.0,
            "objective_": self._value(state, Lp(self.alpha, p=self.p)),
            "is_global_": bool(self.p >= 1),
        }


class _OnCoefficients(Penalty):
    """A penalty that leaves the intercept, the last entry, alone."""

    def __init__(self, penalty: Penalty) -> None:
        self.inner = penalty

    def value(self, w: Any) -> float:
        return self.inner.value(w[:-1])

    def prox(self, w: Any, step: float = 1.0) -> Array:
        return np.append(self.inner.prox(w[:-1], step), w[-1])


class RegularizedRegressor(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Any smooth loss plus any penalty: the template behind the named estimators.

    .. math:: \min_{w,b}\; \tfrac1W\sum_i s_i\,\ell(y_i, x_i^\top w + b) + \Omega(w)

    Solved by accelerated proximal gradient steps (FISTA). Where an estimator has the combination's name
    (`Ridge`, `Lasso`, `HuberRegressor`, …) that one is faster; this one takes losses and penalties of
    `gnomon.losses`, or your own.

    Parameters
    ----------
    loss : {"squared_error", "huber"} or Loss, default="squared_error"
        The squared error is ½r².
    penalty : {"l2", "l1", "elasticnet", "lp"} or Penalty, default="l2"
        A Penalty object brings its own strength.
    alpha : float, default=1.0
    l1_ratio : float, default=0.5
        For ``"elasticnet"``.
    p : float, default=1.5
        For ``"lp"``.
    fit_intercept : bool, default=True
    max_iter : int, default=1000
    tol : float, default=1e-7
        Stop when no parameter moves more than this in a step.

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> RegularizedRegressor(penalty="l1", alpha=0.5).fit(X, y).coef_.round(5)
    array([0.9, 0. ])
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions({"squared_error", "huber"}), Loss],
        "penalty": [StrOptions({"l2", "l1", "elasticnet", "lp"}), Penalty],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "p": [Interval(Real, 0, None, closed="both")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        loss: Any = "squared_error",
        penalty: Any = "l2",
        *,
        alpha: float = 1.0,
        l1_ratio: float = 0.5,
        p: float = 1.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-7,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _read(self, *args: Any, **options: Any) -> Any:
        return cut(super()._read(*args, **options))

    def _loss(self) -> Any:
        loss = (
            {"squared_error": SquaredError(), "huber": Huber()}.get(self.loss)
            if isinstance(self.loss, str)
            else self.loss
        )
        if not loss.is_smooth:
            raise DataError(
                f"{loss!r} has a kink; proximal steps need a smooth loss. Use QuantileRegressor for it."
            )
        return loss

    def _penalty(self) -> Any:
        kinds = {
            "l2": lambda: L2(self.alpha),
            "l1": lambda: L1(self.alpha),
            "elasticnet": lambda: ElasticNet(self.alpha, l1_ratio=self.l1_ratio),
            "lp": lambda: Lp(self.alpha, p=self.p),
        }
        inner = kinds[self.penalty]() if isinstance(self.penalty, str) else self.penalty
        return _OnCoefficients(inner) if self.fit_intercept else inner

    def _function(self, rows: Any) -> Any:
        weight = total_weight(rows)
        model = Model(self._loss(), self.fit_intercept)
        objective = Objective(model, np.zeros(rows.n_features + self.fit_intercept), weight)

        def mean_loss(theta: Array) -> tuple[float, Array]:
            found = evaluate(rows, objective, theta)
            return found.value / weight, found.gradient / weight

        return mean_loss

    def _start(self, rows: Any, rng: Any) -> DescentState:
        return at(self._function(rows), np.zeros(rows.n_features + self.fit_intercept))

    def _step(self, rows: Any, state: DescentState) -> tuple[DescentState, Report]:
        penalty = self._penalty()
        new = accelerated_proximal_step(self._function(rows), state, Options(penalty=penalty))
        change = float(np.abs(new.x - state.x).max(initial=0.0))
        done = change <= self.tol * max(1.0, float(np.abs(new.x).max(initial=0.0)))
        return new, Report(new.value + penalty.value(new.x), done=done, change=change)

    def _attributes(self, state: DescentState) -> dict[str, Any]:
        if self.fit_intercept:
            return {"coef_": state.x[:-1], "intercept_": float(state.x[-1])}
        return {"coef_": state.x, "intercept_": 0.0}
