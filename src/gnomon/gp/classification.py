"""Gaussian process classification: a latent function for every question between classes."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.gaussian_process.kernels import CompoundKernel
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DegenerateError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, Reads, encode
from gnomon.gp.ascent import Ascent, Objective, begin, climb, slope
from gnomon.gp.laplace import Laplace, approximate, evidence_gradient, latent, probability
from gnomon.gp.process import GaussianProcess, default_kernel
from gnomon.gp.work import warn_at_bounds
from gnomon.kernels.base import things


class Question(NamedTuple):
    """Which of two groups of classes a row belongs to."""

    X: Any
    labels: Array  # 1 for the second group
    classes: tuple[int, int]  # codes; -1: all others


class Work(NamedTuple):
    """The questions of a fit, and the kernel that each begins with."""

    kernels: list[Any]
    questions: list[Question]


class GaussianProcessClassifier(ClassifierMixin, GaussianProcess):  # type: ignore[misc]
    r"""Classification by a Gaussian process: probabilities that know how far the data are.

    .. math:: P(y=1\mid x) = \int \sigma(f)\,N(f \mid \bar f(x), \operatorname{var} f(x))\,df,\qquad f\sim GP(0, k)

    The posterior of the latent function f is approximated by a normal at its mode (Laplace); hyper-parameters are
    found by climbing the approximate log evidence. More than two classes are asked about one by one (each against the
    rest) or in pairs. Costs n³ a step: for up to a few thousand rows.

    Parameters
    ----------
    kernel, optimizer, n_restarts_optimizer, copy_X_train, random_state
        As in `GaussianProcessRegressor`. Restarts are joint for all questions.
    max_iter_predict : int, default=100
        Steps of Newton's method to the mode, at most.
    warm_start : bool, default=False
        Begin with the hyper-parameters of the fit before.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        In pairs there are votes but no probabilities.
    n_jobs : int, optional
        Threads; all by default.
    max_iter : int, default=200
        Steps of the climb.

    Attributes
    ----------
    classes_ : array
    n_classes_ : int
    kernel_ : Kernel
        With the hyper-parameters found; for more than two classes a compound of one kernel a question.
    log_marginal_likelihood_value_ : float
        Approximate log evidence, the mean over the questions.
    trace_ : Trace
        It after every step.

    Examples
    --------
    >>> model = GaussianProcessClassifier().fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 0, 1])
    >>> model.predict_proba([[0.0], [1.5], [4.0]])[:, 1].round(5)
    array([0.49296, 0.52099, 0.51142])
    >>> round(model.log_marginal_likelihood_value_, 6)
    -3.711133
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [AnyKernel, None],
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "max_iter_predict": [COUNT],
        "warm_start": ["boolean"],
        "copy_X_train": ["boolean"],
        "random_state": ["random_state"],
        "multi_class": [StrOptions({"one_vs_rest", "one_vs_one"})],
        "n_jobs": [Integral, None],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Any = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
        max_iter: int = 200,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.max_iter = max_iter

    _reads: ClassVar[Reads] = Reads(y="class")

    def _codes(self, y: Any) -> tuple[Any, Array]:
        return encode(y)

    def fit(self, X: Any, y: Any) -> GaussianProcessClassifier:
        """Learn the latent functions.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
            Classes.

        Returns
        -------
        self
        """
        if isinstance(self.kernel, CompoundKernel):
            raise ValueError("kernel cannot be a CompoundKernel")
        self._learn(self._read(X, y), X=X, y=y)
        for fit in self.fits_ if self.optimizer is not None else ():
            warn_at_bounds(fit.kernel)
        return self

    def iterate(self, X: Any, y: Any) -> Any:
        """Yield a fitted copy of the model at the start and after every step of the climb."""
        yield from self._iterate(self._read(X, y))

    # the hooks

    def _prepare(self, data: Any) -> Work:
        K = len(data.classes)
        if K < 2:
            raise ValueError(
                f"GaussianProcessClassifier requires 2 or more distinct classes; got {K} class (only class "
                f"{data.classes[0]} is present)"
            )
        questions = _questions(data.X, data.y, K, self.multi_class)
        kernel = default_kernel() if self.kernel is None else self.kernel
        kernels = [clone(kernel) for _ in questions]
        if self.warm_start and hasattr(self, "fits_") and len(self.fits_) == len(kernels):
            kernels = [clone(fit.kernel) for fit in self.fits_]
        return Work(kernels, questions)

    def _objective(self, kernel: Any, question: Question, gradient: bool) -> Objective:
        zero = np.zeros(len(question.labels))

        def value(theta: Array) -> tuple[float, Array, Any]:
            chosen = kernel.clone_with_theta(theta)
            try:
                fit, K = approximate(chosen, question.X, question.labels, zero, self.max_iter_predict)
                slopes = evidence_gradient(fit, K) if gradient and len(theta) else np.zeros_like(theta)
            except DegenerateError:
                return -np.inf, np.zeros_like(theta), None
            return fit.evidence, slopes, fit

        return value

    def _first_state(self, work: Work, seed: int, index: int) -> tuple[Ascent, ...]:
        draws, states = stream(seed, index) if index else None, []
        for kernel, question in zip(work.kernels, work.questions, strict=True):
            theta = self._start(kernel, draws)
            state = begin(self._objective(kernel, question, self.optimizer is not None), theta)
            if state.fit is None:
                raise DegenerateError(
                    f"the kernel {kernel} has no finite matrix on X; scale the columns, or choose another kernel."
                )
            states.append(state)
        return tuple(states)

    def _step(self, work: Work, states: tuple[Ascent, ...]) -> tuple[tuple[Ascent, ...], Report]:
        new = []
        for kernel, question, state in zip(work.kernels, work.questions, states, strict=True):
            bounds = np.asarray(kernel.bounds, dtype=np.float64).reshape(-1, 2)
            if self.optimizer is None or not len(state.theta):
                new.append(state._replace(done=True))
            elif callable(self.optimizer):
                new.append(self._outside(kernel, question, state, bounds))
            else:
                new.append(climb(self._objective(kernel, question, True), bounds, state))
        value = float(np.mean([state.value for state in new]))
        left = max(
            slope(state.theta, state.gradient, np.asarray(kernel.bounds).reshape(-1, 2))
            for state, kernel in zip(new, work.kernels, strict=True)
        )
        return tuple(new), Report(value, left, done=all(state.done for state in new))

    def _outside(self, kernel: Any, question: Question, state: Ascent, bounds: Array) -> Ascent:
        """Run an optimizer of the user on minus the log evidence."""

        def loss(theta: Array, eval_gradient: bool = True) -> Any:
            value, slopes, _ = self._objective(kernel, question, eval_gradient)(np.asarray(theta))
            return (-value, -slopes) if eval_gradient else -value

        theta, _ = self.optimizer(loss, state.theta, bounds=bounds)
        return begin(self._objective(kernel, question, False), np.asarray(theta))._replace(done=True)

    def _snapshot(self, state: tuple[Ascent, ...]) -> Any:
        return [one._replace(fit=None)._asdict() for one in state]

    def _restore(self, work: Work, snapshot: Any) -> tuple[Ascent, ...]:
        states = []
        for saved, kernel, question in zip(snapshot, work.kernels, work.questions, strict=True):
            fit = self._objective(kernel, question, False)(saved["theta"])[2]
            states.append(Ascent(**{**saved, "fit": fit}))
        return tuple(states)

    def _attributes(self, state: tuple[Ascent, ...]) -> dict[str, Any]:
        return {
            "fits_": [one.fit for one in state],
            "log_marginal_likelihood_value_": float(np.mean([one.value for one in state])),
        }

    def _keep(self, run: Any, data: Any) -> None:
        self._adopt({**self._learned(run), "n_classes_": len(data.classes)}, data)

    @property
    def kernel_(self) -> Any:
        """The kernel found, or a compound of one for each question."""
        check_is_fitted(self)
        kernels = [fit.kernel for fit in self.fits_]
        return kernels[0] if len(kernels) == 1 else CompoundKernel(kernels)

    def _check_loaded(self) -> None:
        for fit in getattr(self, "fits_", []):
            n = len(fit.labels)
            if (
                not isinstance(fit, Laplace)
                or fit.factor.shape != (n, n)
                or len(fit.X) != n
                or len(fit.slope) != n
            ):
                raise ModelFileError("its latent functions do not fit its rows.")

    # what a fitted model says

    def _asked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._rows(X).X if self._takes_rows(X) else things(X)

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Return mean and variance of the latent function: (q,) each for two classes, else (q, questions)."""
        rows = self._asked(X)
        found = [latent(fit, rows) for fit in self.fits_]
        mean, variance = (np.column_stack(part) for part in zip(*found, strict=True))
        return (mean[:, 0], variance[:, 0]) if len(found) == 1 else (mean, variance)

    def predict_proba(self, X: Any, method: str = "quadrature") -> Array:
        """Return P(c | x), (q, K).

        Parameters
        ----------
        X : rows
        method : {"quadrature", "probit", "map"}, default="quadrature"
            The sigmoid averaged over the latent normal, its approximation σ(m/√(1 + πv/8)), or σ at the
            mean.
        """
        check_is_fitted(self)
        if len(self.fits_) > 1 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. Use one_vs_rest mode "
                "instead."
            )
        mean, variance = self.latent_mean_and_variance(X)
        if mean.ndim == 1:
            p = probability(mean, variance, method)
            return np.column_stack([1.0 - p, p])
        P = np.column_stack([probability(mean[:, k], variance[:, k], method) for k in range(mean.shape[1])])
        return P / P.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return the most probable class; of equals the first."""
        mean, variance = self.latent_mean_and_variance(X)
        if mean.ndim == 1:
            return self.classes_[(mean > 0).astype(int)]
        if self.multi_class == "one_vs_rest":
            P = np.column_stack([probability(mean[:, k], variance[:, k]) for k in range(mean.shape[1])])
            return self.classes_[P.argmax(axis=1)]
        votes = np.zeros((len(mean), self.n_classes_))
        for column, (a, b) in enumerate(combinations(range(self.n_classes_), 2)):
            P = probability(mean[:, column], variance[:, column])
            np.add.at(votes, (np.arange(len(P)), np.where(P > 0.5, b, a)), 1.0)
            votes[:, a] += 1e-3 * (0.5 - P)  # of equal votes the surer
            votes[:, b] += 1e-3 * (P - 0.5)
        return self.classes_[votes.argmax(axis=1)]

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the approximate log evidence at some hyper-parameters, the mean over the questions.

        Parameters
        ----------
        theta : array, optional
            Logarithms of the hyper-parameters: of one kernel for all questions, or of all kernels one after the other;
            those of the fit by default.
        eval_gradient : bool, default=False
            Also return the gradient by theta; for two classes.
        clone_kernel : bool, default=True
            False: the fitted kernels themselves take these hyper-parameters, as in scikit-learn.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=np.float64)
        if eval_gradient and len(self.fits_) > 1:
            raise NotImplementedError(
                "Gradient of log-marginal-likelihood not implemented for multi-class GPC."
            )
        size = self.fits_[0].kernel.n_dims
        if len(theta) not in (size, size * len(self.fits_)):
            raise ValueError(
                f"Shape of theta must be either {size} or {size * len(self.fits_)}. Obtained theta with shape "
                f"{len(theta)}."
            )
        values = []
        for k, fit in enumerate(self.fits_):
            part = theta if len(theta) == size else theta[k * size : (k + 1) * size]
            question = Question(fit.X, fit.labels, (0, 1))
            if not clone_kernel:
                fit.kernel.theta = part
            values.append(self._objective(fit.kernel, question, eval_gradient)(part))
        value = np.mean([one[0] for one in values])
        return (value, values[0][1]) if eval_gradient else value

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """Draw the regions of the classes (two columns), paler where the model is less sure."""
        from gnomon.plot.regions import decision_regions

        return decision_regions(self, X, y, ax=ax)


def _questions(X: Any, y: Array, K: int, multi_class: str) -> list[Question]:
    if K == 2:
        return [Question(X, (y == 1).astype(np.float64), (0, 1))]
    if multi_class == "one_vs_rest":
        return [Question(X, (y == k).astype(np.float64), (-1, k)) for k in range(K)]
    found = []
    for a, b in combinations(range(K), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        found.append(Question(X[rows], (y[rows] == b).astype(np.float64), (a, b)))
    return found
