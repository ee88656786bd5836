"""The kernel perceptron: every mistake adds its row to the decision."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.steps import Report
from gnomon.core.validate import check_fitted, warn
from gnomon.kernels.online import Gram, MistakeDriven, MistakeState, SignedClasses, class_signs
from gnomon.kernels.using import KERNEL

ORDERS = ("given", "shuffle", "random_mistake")


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
