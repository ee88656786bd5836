"""The perceptron and the passive–aggressive learners in the space of a kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads, check_fitted, warn
from gnomon.kernels.using import KERNEL, TakesKernel

ORDERS = ("given", "shuffle", "random_mistake")


class Gram(NamedTuple):
    """The workspace: the matrix and the targets of every function that is learned."""

    K: Array
    targets: Array  # (functions, n): ±1, or numbers
    start: Array | None = None  # (functions, n) coefficients to begin with
    fresh: Array | None = None  # rows to present


class MistakeState(NamedTuple):
    """Coefficients so far, the scores of all rows, and what averages need."""

    coef: Array  # (functions, n): mistakes, or signed step sizes
    lag: Array
    F: Array
    steps: int
    passes: int
    seed: int
    clean: bool
    log: Array  # of the rows with mistakes, or of step sizes


class MistakeDriven(TakesKernel, Learner):
    """A function Σ c_i (k(x_i, ·) + o) that grows by one row at a time."""

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "pass"
    _monotone: ClassVar[bool] = False
    _promises: ClassVar[Promises] = Promises(order="no: rows are presented one after the other")
    fit_intercept: Any
    average: Any
    max_iter: Any

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from the rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or things that the kernel knows
        y : array of shape (n,)
        """
        return self._learn(self._read(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Yield a fitted copy of the model at the start and after every pass."""
        yield from self._iterate(self._read(X, y))

    def _targets(self, data: Any) -> Array:
        return np.asarray(data.y, dtype=np.float64)[None]

    def _prepare(self, data: Any) -> Gram:
        K = np.ascontiguousarray(
            data.X if self._precomputed else self._kernel_for(data.n_features)(data.X), dtype=np.float64
        )
        return Gram(K, self._targets(data))

    def _start(self, work: Gram, rng: Any) -> MistakeState:
        zero = np.zeros_like(work.targets)
        return MistakeState(zero, zero.copy(), zero.copy(), 0, 0, draw_seed(rng), False, np.zeros(0))

    def _rows_in_order(self, state: MistakeState, n: int) -> Array:
        raise NotImplementedError

    def _signed(self, state: MistakeState, targets: Array) -> tuple[Array, Array]:
        """Return signed coefficients and lags."""
        return state.coef, state.lag

    def _keep(self, run: Any, data: Any) -> None:
        state = run.state
        coef, lag = self._signed(state, self._targets(data))
        if self.average and state.steps:
            coef = coef - lag / state.steps
        used = np.flatnonzero(coef.any(axis=0))
        offsets = coef.sum(axis=1) if self.fit_intercept else np.zeros(len(coef))
        kept = {
            "support_": used,
            "support_vectors_": data.X[used] if not self._precomputed else np.empty((0, 0)),
            "dual_coef_": np.ascontiguousarray(coef[:, used]),
            "intercept_": offsets,
            "n_iter_": max(1, state.passes),
        }
        self._adopt({**self._learned(run), **kept, **self._more(state)}, data)

    def _more(self, state: MistakeState) -> dict[str, Any]:
        return {}

    def _attributes(self, state: MistakeState) -> dict[str, Any]:
        return {}

    def _scores(self, X: Any) -> Array:
        asked = self._asked(X)
        if self._precomputed:
            return np.asarray(asked[:, self.support_]) @ self.dual_coef_.T + self.intercept_
        if not len(self.support_):
            return np.zeros((asked.shape[0], len(self.dual_coef_))) + self.intercept_
        support = self.support_vectors_
        if sparse.issparse(support) != sparse.issparse(asked):
            support, asked = sparse.csr_array(support), sparse.csr_array(asked)
        kernel = self._kernel_for(getattr(self, "n_features_in_", 1))
        return np.asarray(kernel(asked, support)) @ self.dual_coef_.T + self.intercept_

    def _check_loaded(self) -> None:
        if "dual_coef_" not in vars(self):
            return
        count = len(self.support_)
        wrong = self.dual_coef_.ndim != 2 or self.dual_coef_.shape[1] != count
        if self._precomputed:
            wrong = wrong or (
                count
                and not 0 <= int(np.min(self.support_)) <= int(np.max(self.support_)) < self.n_features_in_
            )
        else:
            wrong = wrong or self.support_vectors_.shape[0] != count
        if wrong:
            raise ModelFileError("support vectors and coefficients do not fit together.")


class SignedClasses(ClassifierMixin):
    """Two classes by the sign of one function, more by the largest of one a class."""

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")

    def _targets(self, data: Any) -> Array:
        return class_signs(data.y, len(data.classes))

    def decision_function(self, X: Any) -> Array:
        """Return the function: one number a row for two classes, one column a class for more."""
        found = self._scores(X)  # type: ignore[attr-defined]
        return found[:, 0] if found.shape[1] == 1 else found

    def predict(self, X: Any) -> Array:
        """Return the class of every row; at zero the first."""
        found = self.decision_function(X)
        return self.classes_[(found > 0).astype(int) if found.ndim == 1 else found.argmax(axis=1)]  # type: ignore[attr-defined]


def class_signs(codes: Array, count: int) -> Array:
    """Return ±1 of every row for every function: one of two classes, else one a class."""
    if count < 2:
        raise DataError("y holds 1 class; a classifier needs rows of at least two classes.")
    if count == 2:
        return np.where(codes == 1, 1.0, -1.0)[None]
    return np.where(codes == np.arange(count)[:, None], 1.0, -1.0)


class KernelPerceptron(SignedClasses, MistakeDriven):
    r"""The perceptron in the space of a kernel.

    .. math:: f(x) = \sum_i\alpha_iy_i\,(k(x_i, x) + o),\qquad \alpha_t \mathrel{+}= 1 \text{ where } y_tf(x_t) \le 0

    α counts the mistakes on every row; o is 1 with an intercept. It ends with a clean pass where the classes can be
    separated, which the RBF kernel does for any labels of distinct rows. Keeps the Gram matrix in memory. For the
    widest margin use `gnomon.svm.SVC`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
    gamma, degree, coef0, kernel_params
        Of the kernel.
    fit_intercept : bool, default=True
    order : {"given", "shuffle", "random_mistake"} or array of row numbers, default="given"
        How rows are presented; "random_mistake" draws one of the present mistakes at a time, and n of them are a pass.
    max_iter : int, default=1000
        Passes at most.
    average : bool, default=False
        Average the function over all presentations; exactly `max_iter` passes are made.
    random_state

    Attributes
    ----------
    mistakes_ : array of shape (n,), or (classes, n)
    mistake_log_ : array
        Rows of the mistakes in their order (of the last class where there are several).
    dual_coef_, support_, support_vectors_, intercept_
    n_iter_, converged_, trace_
        Passes, whether the last was clean, and mistakes per pass.

    Examples
    --------
    >>> X, y = [[-3.0, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]], [1, 1, -1, -1, -1]
    >>> model = KernelPerceptron().fit(X, y)
    >>> model.mistakes_, model.intercept_
    (array([1, 0, 2, 1, 0]), array([-2.]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {
        "fit_intercept": ["boolean"],
        "order": [StrOptions(set(ORDERS)), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        order: Any = "given",
        max_iter: int = 1000,
        average: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.order = order
        self.max_iter = max_iter
        self.average = average
        self.random_state = random_state

    def _rows_in_order(self, state: MistakeState, n: int) -> Array:
        if isinstance(self.order, str):
            return np.arange(n) if self.order == "given" else stream(state.seed, state.passes).permutation(n)
        rows = np.asarray(self.order)
        if (
            rows.ndim != 1
            or rows.dtype.kind not in "iu"
            or not len(rows)
            or rows.min() < 0
            or rows.max() >= n
        ):
            raise DataError(f"order must hold numbers of rows, 0 to {n - 1}; got {self.order!r}.")
        return rows.astype(np.int64)

    def _step(self, work: Gram, state: MistakeState) -> tuple[MistakeState, Report]:
        from gnomon.loops import kernel_mistakes as loops

        n, offset = len(work.K), float(self.fit_intercept)
        coef, lag, F = state.coef.copy(), state.lag.copy(), state.F.copy()
        count, last, logs = 0, state.steps, np.zeros(0, dtype=np.int64)
        chosen = None if self._draws_mistakes else self._rows_in_order(state, n)
        for k, sign in enumerate(work.targets):
            log = np.empty(n if chosen is None else len(chosen), dtype=np.int64)
            if chosen is None:
                made, last = self._random_mistakes(work.K, sign, offset, state, k, coef[k], lag[k], F[k], log)
            else:
                made, last = loops.perceptron_pass(
                    work.K, sign, offset, chosen, state.steps, coef[k], lag[k], F[k], log
                )
            count += made
            logs = log[:made]
        clean = count == 0
        past = state.log if len(work.targets) == 1 else np.zeros(0)
        fresh = MistakeState(
            coef, lag, F, last, state.passes + 1, state.seed, clean, np.concatenate([past, logs])
        )
        if self._draws_mistakes:
            clean = bool((work.targets * F > 0).all())
            fresh = fresh._replace(clean=clean)
        return fresh, Report(float(count), done=clean and not self.average)

    @property
    def _draws_mistakes(self) -> bool:
        return isinstance(self.order, str) and self.order == "random_mistake"

    def _random_mistakes(
        self, K: Array, sign: Array, offset: float, state: MistakeState, k: int, alpha: Array, lag: Array, F: Array,
        log: Array,
    ) -> tuple[int, int]:  # fmt: skip
        rng, step = stream(state.seed + k, state.passes), state.steps
        for count in range(len(K)):
            wrong = np.flatnonzero(sign * F <= 0)
            if not len(wrong):
                return count, step
            t = int(wrong[rng.integers(len(wrong))])
            alpha[t] += 1
            lag[t] += step
            F += sign[t] * (K[t] + offset)
            log[count], step = t, step + 1
        return len(K), step

    def _signed(self, state: MistakeState, targets: Array) -> tuple[Array, Array]:
        return state.coef * targets, state.lag * targets

    def _more(self, state: MistakeState) -> dict[str, Any]:
        mistakes = state.coef.astype(np.int64)
        one = len(mistakes) == 1
        return {
            "mistakes_": mistakes[0] if one else mistakes,
            "mistake_log_": state.log.astype(np.int64),
            "converged_": bool(state.clean),
        }

    def _warn_not_converged(self, run: Any) -> None:
        if not self.average:
            warn(
                f"KernelPerceptron made {run.trace.objective[-1]:.0f} mistakes in its last pass, number "
                f"{self.max_iter}. The classes may not be separable with this kernel; raise max_iter, or use an RBF "
                "kernel or gnomon.svm.SVC.",
                ConvergenceWarning,
            )

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Present new rows once, after those that were presented before.

        Parameters
        ----------
        X, y : rows and their classes
        classes : array, optional
            All classes, needed at the first call.
        """
        from gnomon.loops import kernel_mistakes as loops

        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if self._precomputed:
            raise DataError("partial_fit needs rows and a kernel of them; kernel='precomputed' has none.")
        data = self._read(X, y, reset=first, classes=classes if first else self.classes_)
        signs = class_signs(data.y, len(data.classes))
        kernel, offset = self._kernel_for(data.n_features), float(self.fit_intercept)
        F = np.zeros_like(signs) if first else self._scores(X).T.copy()
        coef = np.zeros_like(signs)
        K, log = np.ascontiguousarray(kernel(data.X)), np.empty(data.n_rows, dtype=np.int64)
        for k, sign in enumerate(signs):
            loops.perceptron_pass(
                K, sign, offset, np.arange(data.n_rows), 0, coef[k], np.zeros(data.n_rows), F[k], log
            )
        signed, used = coef * signs, np.flatnonzero(coef.any(axis=0))
        before = (
            {}
            if first
            else {name: vars(self)[name] for name in ("support_vectors_", "dual_coef_", "intercept_")}
        )
        stack = sparse.vstack if data.sparse else np.vstack
        vectors = data.X[used] if first else stack([before["support_vectors_"], data.X[used]])
        dual = signed[:, used] if first else np.hstack([before["dual_coef_"], signed[:, used]])
        shift = (signed.sum(axis=1) if offset else np.zeros(len(signs))) + (
            0.0 if first else before["intercept_"]
        )
        found = {
            "support_": np.arange(vectors.shape[0]), "support_vectors_": vectors, "dual_coef_": dual,
            "intercept_": shift, "n_iter_": 1 if first else self.n_iter_ + 1, "converged_": not coef.any(),
            "mistakes_": (coef[0] if len(coef) == 1 else coef).astype(np.int64),
        }  # fmt: skip
        check = getattr(self, "feature_names_in_", None)
        self._adopt(found, data)
        if check is not None and not hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = check
        return self

    def plot(self, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Any:
        """Draw the regions and the rows with mistakes, larger for more; see `gnomon.plot.margin`."""
        from gnomon.plot import margin

        check_fitted(self)
        return margin(self, X, y, ax=ax, **options)


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
