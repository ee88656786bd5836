"""What learners of one row at a time share: the kernel matrix, the state, and signs of the classes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Learner
from gnomon.core.validate import Reads
from gnomon.kernels.using import TakesKernel


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
        classes = len(getattr(self, "classes_", ()))
        wrong = wrong or (classes and len(self.dual_coef_) != (1 if classes == 2 else classes))
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
