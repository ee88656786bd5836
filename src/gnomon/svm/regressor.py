"""Support vector regression: a tube around the targets, and a price for what is outside."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from gnomon.core.errors import InfeasibleError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import Reads
from gnomon.solvers.hulls import nearest_points
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import PairProblem, optimum
from gnomon.svm.machine import COMMON, KernelMachine, MachineState


class TubeRegressor(RegressorMixin, KernelMachine):
    """What regression machines share."""

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")

    def predict(self, X: Any) -> Array:
        """Return the value of every row."""
        return self._expand(X, self._coefficients())[:, 0] + self.intercept_[0]

    def _kept_machine(self, state: MachineState, data: Any, beta: Array, intercept: float) -> dict[str, Any]:
        full = np.zeros(data.n_rows)
        full[state.kept] = beta
        used = np.flatnonzero(full)
        dual = full[used][None]
        return {
            "support_": used.astype(np.int32),
            "support_vectors_": self._support(data, used),
            "n_support_": np.array([len(used)], dtype=np.int32),
            "dual_coef_": sparse.csr_array(dual) if data.sparse else dual,
            "intercept_": np.array([intercept - self._offset(data, state.kept, np.arange(len(beta)), beta)]),
        }


class SVR(TubeRegressor):
    r"""Support vector regression with an insensitive tube.

    .. math:: \min \tfrac12\lVert w\rVert^2 + \sum_i C_i\max(0, |y_i - f(x_i)| - \epsilon)

    Residuals below ε cost nothing, so rows inside the tube do not matter; larger ones cost in proportion, so that
    single targets far out pull little. Use `gnomon.kernels.KernelRidge` when squared errors are meant. A sample weight
    multiplies C. `tol` is in units of the standard deviation of y. ``C=np.inf`` is the hard tube: the flattest function
    with every row inside; where there is none, `InfeasibleError`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, shrinking, cache_size, verbose, max_iter
        As in `SVC`.
    epsilon : float, default=0.1
        Half the width of the tube.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_
        As in scikit-learn; `coef_` for a linear kernel.
    slack_ : array of shape (n,)
        What is outside the tube.
    primal_, dual_, gap_, kkt_violation_ : float
    intercept_interval_ : (float, float)

    Examples
    --------
    >>> X, y = [[0.0], [1], [2], [3], [4], [5]], [0, 1, 1.5, 3.5, 4, 5.2]
    >>> model = SVR(kernel="linear", epsilon=0.25).fit(X, y)
    >>> model.coef_.round(4), model.intercept_.round(4), round(model.primal_, 4)
    (array([[1.]]), array([0.25]), 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in COMMON.items() if name != "random_state"
    } | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _row_costs(self, data: Any, kept: Array) -> Array:
        return float(self.C) * data.weight[kept]

    def _middle(self, data: Any, kept: Array) -> tuple[Array, float, float]:
        """Return the targets around their mean, the mean, and their spread."""
        y, weight = data.y[kept], data.weight[kept]
        mean = float(weight @ y / weight.sum())
        return y - mean, mean, float(np.sqrt(weight @ (y - mean) ** 2 / weight.sum()))

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> list[PairProblem]:
        target, _, spread = self._middle(data, kept)
        cost = self._row_costs(data, kept)
        if self.C == np.inf:
            check_tube(rows, target, float(self.epsilon), spread or 1.0)
        return [
            PairProblem(
                rows, np.arange(len(kept)), target, -cost, cost, epsilon=float(self.epsilon),
                tol=float(self.tol) * (spread or 1.0), shrinking=bool(self.shrinking), max_steps=self._steps_allowed(),
            )
        ]  # fmt: skip

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        now, cost = state.pairs[0], self._row_costs(data, state.kept)
        target, mean, _ = self._middle(data, state.kept)
        ends = optimum(now.beta, now.R, -cost, cost, float(self.epsilon))
        b = ends["intercept"]
        f = target - now.R
        outside = np.maximum(0.0, np.abs(now.R - b) - self.epsilon)
        if self.C == np.inf:
            outside = np.zeros_like(outside)
        square = float(now.beta @ f)
        primal = 0.5 * square + (float(cost @ outside) if self.C < np.inf else 0.0)
        dual = float(now.beta @ target - self.epsilon * np.abs(now.beta).sum() - 0.5 * square)
        slack = np.zeros(data.n_rows)
        slack[state.kept] = outside
        found = self._kept_machine(state, data, now.beta, b + mean)
        off = found["intercept_"][0] - b
        return found | {
            "slack_": slack,
            "primal_": primal,
            "dual_": dual,
            "gap_": primal - dual,
            "kkt_violation_": ends["violation"],
            "intercept_interval_": (ends["interval"][0] + off, ends["interval"][1] + off),
        }


def check_tube(source: KernelRows, target: Array, epsilon: float, spread: float) -> None:
    """Raise an error where no function of the kernel has all targets within epsilon.

    There is one where the rows with their targets raised by epsilon can be separated from the same rows with their
    targets lowered by it: where the hulls of the two sets do not meet (Bi & Bennett, 2003). Without width the sets are
    the same, and nothing is said here.
    """
    if not epsilon:
        return
    n = source.n
    rows, sign = np.tile(np.arange(n), 2), np.repeat([1.0, -1.0], n)
    height = (np.tile(target, 2) + epsilon * sign) / max(spread, epsilon)
    size = float(np.abs(source.diagonal).max(initial=0.0)) or 1.0

    def block(some: Array) -> Array:
        return source.block(rows[some], rows[some]) / size + np.outer(height[some], height[some])

    def scores(signed: Array) -> Array:
        flat = source.scores(signed[:n] + signed[n:]) / size
        return np.tile(flat, 2) + height * float(height @ signed)

    found = nearest_points(block, scores, sign, goal=1e-11)
    if found.distance <= 1e-7 or found.gap >= found.distance:
        raise InfeasibleError(
            "the hard tube (C=inf) does not exist: no function of this kernel has all rows within "
            f"epsilon={epsilon:g}. Give a finite C, a wider tube, or a kernel that can tell the rows apart."
        )
