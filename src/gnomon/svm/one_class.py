"""One-class machines: the part of space where the rows are."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import Reads
from gnomon.solvers.grouped_pairs import fill_up
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import PairProblem, optimum
from gnomon.svm.machine import COMMON, KernelMachine, MachineState, Work


class OneClassSVM(OutlierMixin, KernelMachine):
    r"""One-class support vector machine.

    .. math:: \min \tfrac12\lVert w\rVert^2 - \rho + \tfrac1{\nu n}\sum_i\max(0, \rho - w\cdot\phi(x_i))

    Finds a region that holds most of the rows: at most a share ν is left outside, at least a share ν are support
    vectors. For telling what is unlike all that was seen; where densities are wanted use a mixture.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As in `SVC`.
    nu : float, default=0.5

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, offset_
        As in scikit-learn.

    Examples
    --------
    >>> model = OneClassSVM(nu=0.25, gamma=0.5).fit([[0.0], [0.2], [0.1], [5.0]])
    >>> model.predict([[0.1], [3.0]])
    array([ 1, -1])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in COMMON.items() if name != "random_state"
    } | {"nu": [Interval(Real, 0.0, 1.0, closed="right")]}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    _centers_linear: ClassVar[bool] = False  # Σβ is not zero, so a shift of the rows would change the answer

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> list[PairProblem]:
        weight = data.weight[kept] / data.weight.max()  # solved by the largest, multiplied again at the end
        size = float(np.abs(rows.diagonal).max(initial=0.0)) or 1.0
        tol = float(self.tol) * max(1e-300, size * float(self.nu) * weight.sum())  # the scale of the slopes
        return [
            PairProblem(
                rows, np.arange(len(kept)), np.zeros(len(kept)), np.zeros(len(kept)), weight,
                tol=min(float(self.tol), tol), shrinking=bool(self.shrinking), max_steps=self._steps_allowed(),
            )
        ]  # fmt: skip

    def _start(self, work: Work, rng: Any) -> MachineState:
        problem = work.problems[0]
        first = fill_up(float(self.nu) * problem.high.sum(), problem.high)
        return MachineState((problem.start(first),), work.kept, work.gamma, {})

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        now, most = state.pairs[0], float(data.weight.max())
        weight = data.weight[state.kept] / most
        ends = optimum(now.beta, now.R, np.zeros(len(weight)), weight, 0.0)
        ends = {name: ends[name] * most for name in ("intercept", "violation")}
        ends["intercept"] += ends["violation"] + 1e-10 * abs(
            ends["intercept"]
        )  # rows on the boundary are inside
        full = np.zeros(data.n_rows)
        full[state.kept] = now.beta * most
        used = np.flatnonzero(full)
        dual = full[used][None]
        return {
            "support_": used.astype(np.int32),
            "support_vectors_": self._support(data, used),
            "n_support_": np.array([len(used)], dtype=np.int32),
            "dual_coef_": sparse.csr_array(dual) if data.sparse else dual,
            "intercept_": np.array([ends["intercept"]]),
            "offset_": -ends["intercept"],
            "kkt_violation_": ends["violation"],
        }

    def score_samples(self, X: Any) -> Array:
        """Return w·φ(x) of every row; high where rows are many."""
        return self._expand(X, self._coefficients())[:, 0]

    def decision_function(self, X: Any) -> Array:
        """Return the score less the threshold: positive inside."""
        return self.score_samples(X) + self.intercept_[0]

    def predict(self, X: Any) -> Array:
        """Return +1 for rows inside and −1 for those outside; rows on the boundary, up to rounding, are inside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
