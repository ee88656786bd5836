"""Passive-aggressive learners with a kernel: the smallest change that mends a row."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.steps import Report
from gnomon.core.validate import Reads
from gnomon.kernels.online import Gram, MistakeDriven, MistakeState, SignedClasses
from gnomon.kernels.using import KERNEL


class Aggressive(MistakeDriven):
    """What both passive–aggressive learners do in a pass."""

    KINDS: ClassVar[dict[str, int]] = {}
    shuffle: Any
    loss: Any
    C: Any

    def _rows_in_order(self, state: MistakeState, n: int) -> Array:
        return stream(state.seed, state.passes).permutation(n) if self.shuffle else np.arange(n)

    def _step(self, work: Gram, state: MistakeState) -> tuple[MistakeState, Report]:
        from gnomon.loops import kernel_mistakes as loops

        n, order = len(work.K), self._rows_in_order(state, len(work.K))
        coef, lag, F = state.coef.copy(), state.lag.copy(), state.F.copy()
        total, last, taus = 0.0, state.steps, np.zeros(n)
        for k, target in enumerate(work.targets):
            taus = np.zeros(n)
            loss, last = loops.aggressive_pass(
                work.K, target, float(self.fit_intercept), self.KINDS[self.loss], float(self.C),
                float(getattr(self, "epsilon", 0.0)), order, state.steps, coef[k], lag[k], F[k], taus,
            )  # fmt: skip
            total += loss / n
        past = state.log if len(work.targets) == 1 else np.zeros(0)
        done = state.passes + 1 >= self.max_iter
        fresh = MistakeState(
            coef, lag, F, last, state.passes + 1, state.seed, done, np.concatenate([past, taus])
        )
        return fresh, Report(total, done=done)

    def _more(self, state: MistakeState) -> dict[str, Any]:
        return {"step_sizes_": state.log}


class KernelPassiveAggressiveClassifier(SignedClasses, Aggressive):
    r"""The passive–aggressive classifier in the space of a kernel.

    .. math:: \tau = \min(C, \ell/\kappa),\quad \ell = \max(0, 1 - y_tf(x_t)),\; \kappa = k(x_t, x_t) + o,
              \qquad f \mathrel{+}= \tau y_t(k(x_t, \cdot) + o)

    Each row moves the function just far enough to have its margin, at a price of at most C. Made for streams; for a set
    of rows that can be seen at once use `gnomon.svm.SVC`. For :math:`\frac\lambda2\lVert\theta-\theta_{old}\rVert^2 +
    \mathrm{hinge}` use C = 1/λ.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    C : float, default=1.0
        ``np.inf`` with "hinge" for steps without limit.
    loss : {"hinge", "squared_hinge", "zero_one"}, default="hinge"
        PA-I, PA-II (τ = ℓ/(κ + 1/2C)), or steps just past the boundary where they are cheap enough.
    fit_intercept : bool, default=False
    max_iter : int, default=5
        Passes.
    average : bool, default=False
        The mean of the functions after every step.
    shuffle : bool, default=False
    gamma, degree, coef0, kernel_params
        Of the kernel.
    random_state

    Attributes
    ----------
    dual_coef_, support_, support_vectors_, intercept_
    step_sizes_ : array
        τ of every step.
    trace_
        Mean loss of every pass.

    Examples
    --------
    >>> X, y = [[0.0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    >>> KernelPassiveAggressiveClassifier(gamma=0.5, max_iter=1).fit(X, y).step_sizes_.round(4)
    array([1.    , 0.6321, 1.    , 1.    ])
    """

    KINDS: ClassVar[dict[str, int]] = {"hinge": 0, "squared_hinge": 1, "zero_one": 2}
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge", "zero_one"})],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        C: float = 1.0,
        loss: str = "hinge",
        fit_intercept: bool = False,
        max_iter: int = 5,
        average: bool = False,
        shuffle: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.shuffle = shuffle
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.random_state = random_state


class KernelPassiveAggressiveRegressor(RegressorMixin, Aggressive):
    r"""Passive–aggressive regression in the space of a kernel: each row ends at most ε from its target.

    .. math:: \ell = \max(0, |y_t - f(x_t)| - \epsilon),\qquad f \mathrel{+}= \mathrm{sign}(y_t - f(x_t))\,\tau
              (k(x_t, \cdot) + o)

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    C : float, default=1.0
    epsilon : float, default=0.1
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    fit_intercept, max_iter, average, shuffle, gamma, degree, coef0, kernel_params, random_state
        As in `KernelPassiveAggressiveClassifier`.

    Examples
    --------
    >>> model = KernelPassiveAggressiveRegressor("linear", C=10.0, epsilon=0.0, max_iter=1).fit(
    ...     [[1.0], [2.0]], [1.0, 2.0]
    ... )
    >>> model.predict([[3.0]])
    array([3.])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    KINDS: ClassVar[dict[str, int]] = {"epsilon_insensitive": 3, "squared_epsilon_insensitive": 4}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelPassiveAggressiveClassifier._parameter_constraints,
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = False,
        max_iter: int = 5,
        average: bool = False,
        shuffle: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.shuffle = shuffle
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """Return the value of every row."""
        return self._scores(X)[:, 0]
