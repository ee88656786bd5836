"""What all kernel machines share: parameters, workspace, prediction from support vectors."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import shared
from gnomon.core.validate import Reads, check_fitted, warn
from gnomon.kernels.base import Kernel, things
from gnomon.kernels.inner import Linear, Polynomial
from gnomon.kernels.using import KERNEL, TakesKernel, gamma_of
from gnomon.solvers.kernel_rows import KernelRows, expansion
from gnomon.solvers.pairs import NO_LIMIT, PairProblem, Pairs

FEW = 500  # rows up to which machines are trained one after another
LARGEST = 1e150  # entry of a kernel matrix: multipliers are its inverse, and must keep their digits
SMALL = (
    2**20
)  # cells of a sparse table that is worked on as a dense one: quicker, and the same to the last bit
FIRM = 1e-5  # tolerance below which rows of the kernel are kept in double precision

COMMON: dict[str, list[Any]] = {
    **KERNEL,
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "verbose": ["verbose"],
    "random_state": ["random_state", np.random.Generator],
}
del COMMON["kernel_params"]


class Work(NamedTuple):
    """The workspace of a fit: the kernel, the rows that count, and the problems over them."""

    kernel: Kernel
    gamma: float
    rows: KernelRows
    kept: Array  # numbers of the rows with a weight
    shift: Any  # what was subtracted from the rows of a linear kernel
    problems: list[PairProblem]
    data: Any  # of the fit


class MachineState(NamedTuple):
    """Where every problem stands, and what is known of the whole."""

    pairs: tuple[Pairs, ...]
    kept: Array
    gamma: float
    extra: dict[str, Any]


class KernelMachine(TakesKernel, Learner):
    """A machine whose problems are solved pair by pair."""

    _by_matrices: ClassVar[bool] = True
    _stop: ClassVar[str] = "self"
    _draws: ClassVar[bool] = False
    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _centers_linear: ClassVar[bool] = True  # rows of a linear kernel may be shifted: Σβ = 0

    # subclasses: the problems of their data, and what they keep

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> list[PairProblem]:
        raise NotImplementedError

    def _special(self, work: Work, data: Any) -> dict[str, Any]:
        """Return facts that a fit by another way than pairs has found."""
        return {}

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **more: Any
    ) -> Any:
        if sample_weight is not None and none_counts(sample_weight):
            raise DataError(
                "Invalid input - all samples have zero or negative weights. At least one row must have a sample_weight "
                "above 0, and no row one below 0."
            )
        return super()._read(X, y, sample_weight, reset=reset, **more)

    # the loop

    def _limit(self) -> int:
        return 10**9

    def _check_data(self, data: Any) -> None:
        """Raise an error for data that the machine cannot learn from."""

    def _prepare(self, data: Any) -> Work:
        self._check_data(data)
        kept = np.flatnonzero(data.weight > 0) if data.weighted else np.arange(data.n_rows)
        X, weight = self._chosen(data, kept), data.weight[kept]
        things_ = self._of_things or (isinstance(X, np.ndarray) and X.dtype.kind == "O")
        gamma = 1.0 if self._precomputed or things_ else gamma_of(self.gamma, X, weight)
        kernel = self._kernel_for(data.n_features, gamma)
        if kernel.requires_vector_input and not self._precomputed:
            kernel._check(data.n_features)
        shift = None
        if self._centers_linear and isinstance(kernel, Linear) and isinstance(X, np.ndarray):
            shift = weight @ X.astype(np.float64) / weight.sum()
            X = X - shift
        if sparse.issparse(X) and kernel.requires_vector_input and np.prod(X.shape) <= SMALL:
            X = X.toarray()
        single = self.tol >= FIRM
        rows = KernelRows(kernel, X, megabytes=float(self.cache_size), single=single)
        largest = float(np.abs(rows.diagonal).max(initial=0.0))
        bounded = kernel.is_psd is True and not self._precomputed  # no entry exceeds the diagonal
        if not largest <= LARGEST or not (bounded or rows.full is None or np.isfinite(rows.full).all()):
            raise DataError(
                f"the kernel matrix has entries that are not finite or above {LARGEST:g}: entries of X are too large "
                "for this kernel. Scale the columns, or lower gamma or degree."
            )
        return Work(kernel, gamma, rows, kept, shift, self._problems(rows, data, kept), data)

    def _offset(self, data: Any, kept: Array, at: Array, beta: Array) -> float:
        """Return what centering the rows of a linear kernel has added to the intercept."""
        named = isinstance(self.kernel, str) and self.kernel == "linear"
        if not (named or isinstance(self.kernel, Linear)) or not isinstance(data.X, np.ndarray):
            return 0.0
        X, weight = data.X[kept], data.weight[kept]
        middle = weight @ X.astype(np.float64) / weight.sum()
        return float((beta @ (X[at] - middle)) @ middle)

    def _chosen(self, data: Any, kept: Array) -> Any:
        if len(kept) == data.n_rows:
            return data.X
        return data.X[np.ix_(kept, kept)] if self._precomputed else data.X[kept]

    def _steps_allowed(self) -> int:
        return NO_LIMIT if self.max_iter == -1 else max(1, int(self.max_iter))

    def _start(self, work: Work, rng: Any) -> MachineState:
        return MachineState(tuple(p.start() for p in work.problems), work.kept, work.gamma, {})

    def _step(self, work: Work, state: MachineState) -> tuple[MachineState, Report]:
        count = max(4000, 4 * work.rows.n)
        jobs = list(zip(work.problems, state.pairs, strict=True))
        pairs = tuple(shared(lambda job: job[0].advance(job[1], count), jobs, alone=work.rows.n < FEW))
        dual = sum(value_of(p, now) for p, now in zip(work.problems, pairs, strict=True))
        return state._replace(pairs=pairs), self._told(dual, pairs, float(self.tol))

    def _told(self, value: float, pairs: Any, tol: float) -> Report:
        """Report where the problems stand: what has ended above the tolerance has not converged."""
        worst, ended = max(now.violation for now in pairs), all(now.done for now in pairs)
        return Report(
            value, certificate=worst, done=ended and worst <= tol, stalled=ended and not worst <= tol
        )

    def _finish(self, work: Work, state: MachineState) -> MachineState:
        pairs = tuple(
            now if now.done else now._replace(R=p.residuals(now.beta))
            for p, now in zip(work.problems, state.pairs, strict=True)
        )
        return state._replace(pairs=pairs)

    def _warn_not_converged(self, run: Any) -> None:
        from sklearn.exceptions import ConvergenceWarning

        limit, state = self._steps_allowed(), run.state
        made = max((now.steps for now in state.pairs), default=state.extra.get("sweeps", 0))
        why = (
            f"terminated early (max_iter={limit})"
            if made >= limit
            else "stopped where rounding hides the rest"
        )
        warn(
            f"Solver {why}.  Consider pre-processing your data with StandardScaler or MinMaxScaler, or raise max_iter: "
            f"the conditions of optimality are violated by {run.trace.certificate[-1]:.3g}, and tol={self.tol:g}.",
            ConvergenceWarning,
        )

    def _attributes(self, state: MachineState) -> dict[str, Any]:
        return {}

    def _keep(self, run: Any, data: Any) -> None:
        steps = np.array([now.steps for now in run.state.pairs], dtype=np.int64)
        learned = {**self._learned(run), "n_pair_steps_": steps, "converged_": bool(run.converged)}
        learned["_gamma_"] = run.state.gamma
        learned["_sparse_"] = bool(data.sparse)
        learned["shape_fit_"] = (data.n_rows, data.n_features)
        self._adopt({**learned, **self._describe(run.state, data)}, data)

    # prediction

    def _support(self, data: Any, rows: Array) -> Any:
        """Return the support vectors; with a given matrix there are none to keep."""
        if self._precomputed:
            return np.empty((0, 0))
        return data.X[rows]

    def _coefficients(self) -> Array:
        """Return the coefficients as a dense matrix with one column a machine; says so where nothing is fitted."""
        check_fitted(self)
        dual = self.dual_coef_.toarray() if sparse.issparse(self.dual_coef_) else self.dual_coef_
        return np.ascontiguousarray(dual.T)

    def _fitted_kernel(self) -> Kernel:
        return self._kernel_for(getattr(self, "n_features_in_", 1), self._gamma_)

    def _expand(self, X: Any, coef: Array) -> Array:
        """Return Σ_j coef_jm k(x, support_j) of every row asked for, and every column of `coef`."""
        asked = self._asked(X)
        if self._precomputed:
            return np.asarray(asked[:, self.support_], dtype=np.float64) @ coef
        kernel = self._fitted_kernel()
        if (
            isinstance(kernel, Linear)
            and isinstance(asked, np.ndarray)
            and isinstance(self.support_vectors_, np.ndarray)
        ):
            return asked @ self._planes(coef)
        if not len(self.support_):
            return np.zeros((asked.shape[0], coef.shape[1]))
        support = self.support_vectors_
        if sparse.issparse(support) != sparse.issparse(asked):
            support, asked = sparse.csr_array(support), sparse.csr_array(asked)
        return expansion(kernel, asked, things(support) if self._of_things else support, coef)

    @property
    def coef_(self) -> Any:
        """Weights of the columns, for a linear kernel: computed from `dual_coef_`, so they cannot be written to."""
        if not (
            isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")
        ):
            raise AttributeError("coef_ is only available when using a linear kernel")
        if "dual_coef_" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute 'coef_' before it is fitted"
            )
        found = self._linear_coef()
        (found.data if sparse.issparse(found) else found).flags.writeable = False
        return found

    def _linear_coef(self) -> Any:
        if sparse.issparse(self.support_vectors_):
            return self.dual_coef_ @ self.support_vectors_
        return self._planes(self.dual_coef_.T).T

    def _planes(self, coef: Array) -> Array:
        """Return w = Σ coef_i x_i of every column; around the mean of the rows where coefficients sum to zero."""
        support = self.support_vectors_.astype(np.float64)
        balanced = np.abs(coef.sum(axis=0)) <= 1e-9 * np.abs(coef).sum(axis=0)
        if len(support) and balanced.all():
            support = support - support.mean(axis=0)
        return support.T @ coef

    def _check_loaded(self) -> None:
        if "support_" not in vars(self):
            return
        count, dual = len(self.support_), self.dual_coef_
        whole = np.issubdtype(np.asarray(self.support_).dtype, np.integer)
        wrong = not whole or dual.ndim != 2 or dual.shape[1] != count
        if not self._precomputed:
            wrong = wrong or self.support_vectors_.shape[0] != count
            if hasattr(self, "n_features_in_"):
                wrong = wrong or self.support_vectors_.shape[1] != self.n_features_in_
        elif count:
            wrong = (
                wrong or int(np.min(self.support_)) < 0 or int(np.max(self.support_)) >= self.n_features_in_
            )
        classes = len(getattr(self, "classes_", ()))
        machines = classes * (classes - 1) // 2 if classes else 1
        wrong = wrong or len(dual) != max(classes - 1, 1) or np.shape(self.intercept_) != (machines,)
        if wrong:
            raise ModelFileError("the support vectors and their coefficients do not fit together.")


def none_counts(sample_weight: Any) -> bool:
    """Tell whether weights are numbers of which none is above zero; what else is wrong with them is said later.

    >>> none_counts([0.0, -1.0]), none_counts([0.0, 1.0]), none_counts([0.0, np.nan]), none_counts(["a"])
    (True, False, False, False)
    """
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(weight.ndim == 1 and weight.size and (weight <= 0).all())


def value_of(problem: PairProblem, now: Pairs) -> float:
    """Return the dual objective, to be minimized."""
    return float(-0.5 * now.beta @ (problem.target + now.R) + problem.epsilon * np.abs(now.beta).sum())


def boundary_terms(kernel: Kernel) -> bool:
    """Tell whether a kernel has a finite polynomial map."""
    return isinstance(kernel, Linear) or (isinstance(kernel, Polynomial) and kernel.is_psd is True)
