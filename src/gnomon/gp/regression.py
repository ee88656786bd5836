"""Gaussian process regression: functions before the data, and after."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils import Tags

from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, Reads
from gnomon.gp import exact, inducing
from gnomon.gp.ascent import Ascent, begin, climb, slope
from gnomon.gp.process import GaussianProcess, default_kernel
from gnomon.gp.queries import Queries
from gnomon.gp.work import Work, outside_optimum, prepared, variances, warn_at_bounds


class GaussianProcessRegressor(Queries, RegressorMixin, GaussianProcess):  # type: ignore[misc]
    r"""Regression by a Gaussian process: a distribution over functions, conditioned on the data.

    .. math:: f \sim GP(0, k),\quad y = f(x) + \varepsilon,\qquad
        \bar f(x) = k_x^T A^{-1} y,\quad \operatorname{var} f(x) = k(x,x) - k_x^T A^{-1} k_x,\quad
        A = K + \operatorname{diag}(\alpha)

    The kernel says what functions are likely; its free hyper-parameters are found by climbing the log evidence
    :math:`\ln p(y) = -\frac12 y^TA^{-1}y - \frac12\ln|A| - \frac n2\ln 2\pi`, from the given start and from random
    ones: it has several tops, and a length scale at its bound with all variance in the noise is one of them. Honest
    about what it does not know: far from the data it says the prior. An exact fit costs n³; with ``inducing=m`` a bound
    on the evidence with m inducing points costs n·m² a step, in memory or from Parquet files.

    Bayesian linear regression is the special case of a linear kernel.

    Parameters
    ----------
    kernel : Kernel, optional
        Of `gnomon.kernels` or of scikit-learn; by default 1 · RBF(1) with nothing to learn. Noise is a
        `WhiteKernel` that is added, or `alpha`.
    alpha : float or array of shape (n,), default=1e-10
        Variance of the noise beside the kernel's: of all rows, or known for each.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        The built-in climb (quasi-Newton within bounds), a function ``(objective, theta, bounds)`` that returns
        theta and the least of minus the log evidence, or None: the kernel is taken as it is.
    n_restarts_optimizer : int, default=0
        Further starts, drawn uniformly in the logarithms between the bounds.
    normalize_y : bool, default=False
        Center and scale the targets first; good where they are far from zero.
    copy_X_train : bool, default=True
        Kept for scikit-learn; X is never written to.
    n_targets : int, optional
        Columns of y; only used to draw from a prior before there is any.
    random_state : int, RandomState, Generator or None
        Where restarts come from.
    inducing : int or array of shape (m, d), optional
        Inducing points: how many, chosen one after the other where the process is least certain, or where.
    max_iter : int, default=200
        Steps of the climb from each start.

    Attributes
    ----------
    kernel_ : Kernel
        With the hyper-parameters found.
    X_train_, y_train_ : arrays
        The data, targets as the process sees them (exact processes alone).
    L_ : array of shape (n, n)
        Lower Cholesky factor of A.
    alpha_ : array
        :math:`A^{-1}y`.
    inducing_points_ : array of shape (m, d)
        Of a sparse process.
    log_marginal_likelihood_value_ : float
        The log evidence, or the bound on it.
    jitter_ : float
        What had to be added to the diagonal.
    trace_ : Trace
        The log evidence after every step.

    Examples
    --------
    >>> from gnomon.kernels import RBF
    >>> model = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.01)
    >>> model = model.fit([[-1.0], [0.0], [1.0], [2.0]], [0.5, 0.0, -0.3, 1.2])
    >>> mean, std = model.predict([[0.5], [3.0]], return_std=True)
    >>> mean.round(4), std.round(4)
    (array([-0.3807,  1.2086]), array([0.1322, 0.7234]))
    >>> round(model.log_marginal_likelihood_value_, 5)
    -4.7938
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [None, AnyKernel],
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "copy_X_train": ["boolean"],
        "n_targets": [COUNT, None],
        "random_state": ["random_state"],
        "inducing": [COUNT, "array-like", None],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: Any = 1e-10,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Any = None,
        inducing: Any = None,
        max_iter: int = 200,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.inducing = inducing
        self.max_iter = max_iter

    # reading

    @property
    def _reads(self) -> Reads:  # type: ignore[override]
        return Reads(y="numbers", scales=self.inducing is not None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _codes(self, y: Any) -> tuple[Any, Array]:
        return None, np.asarray(y, dtype=np.float64)

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Condition the process on the data, with the hyper-parameters of the largest evidence found.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d); with inducing points also the path of Parquet files
        y : array of shape (n,) or (n, t), or a column name

        Returns
        -------
        self
        """
        self._learn(self._read(X, y), X=X, y=y)
        if self.optimizer is not None:
            warn_at_bounds(self.kernel_)
        return self

    def iterate(self, X: Any, y: Any) -> Any:
        """Yield a fitted copy of the model at the start and after every step of the climb."""
        yield from self._iterate(self._read(X, y))

    # the hooks

    def _prepare(self, data: Any) -> Work:
        kernel = default_kernel() if self.kernel is None else clone(self.kernel)
        return prepared(self, data, kernel)

    def _first_state(self, work: Work, seed: int, index: int) -> Ascent:
        theta = self._start(work.kernel, stream(seed, index) if index else None)
        if not self._climbs(work.kernel) or callable(self.optimizer):
            return begin(work.objective(self._climbs(work.kernel)), theta)
        return work.start(theta, self._bounds(work.kernel))

    def _step(self, work: Work, state: Ascent) -> tuple[Ascent, Report]:
        if not self._climbs(work.kernel):
            return state._replace(done=True), Report(state.value, done=True)
        bounds = self._bounds(work.kernel)
        if callable(self.optimizer):
            theta = outside_optimum(self.optimizer, work, state.theta, bounds)
            return begin(work.objective(False), theta)._replace(done=True), Report(work.last, done=True)
        new = climb(work.objective(True), bounds, state)
        if new.done and work.repoint(new):
            new = begin(work.objective(True), new.theta)
        certificate = slope(new.theta, new.gradient, bounds)
        return new, Report(new.value, certificate, done=new.done)

    def _snapshot(self, state: Ascent) -> Any:
        points = getattr(state.fit, "points", None)
        return state._replace(fit=None)._asdict() | {"points": points}

    def _restore(self, work: Work, snapshot: Any) -> Ascent:
        saved = dict(snapshot)
        work.points = saved.pop("points")
        fit = work.objective(False)(saved["theta"])[2]
        return Ascent(**{**saved, "fit": fit})

    def _attributes(self, state: Ascent) -> dict[str, Any]:
        fit = state.fit
        shared = {
            "kernel_": fit.kernel,
            "log_marginal_likelihood_value_": float(state.value),
            "jitter_": float(fit.jitter),
            "fit_": fit,
        }
        if isinstance(fit, inducing.Sparse):
            return {**shared, "inducing_points_": fit.points}
        return {
            **shared,
            "X_train_": fit.X,
            "L_": fit.factor,
        }

    def _keep(self, run: Any, data: Any) -> None:
        found = self._learned(run)
        work, fit = prepared(self, data, found["kernel_"]), found["fit_"]
        found.update(y_mean_=work.plan.shift, y_scale_=work.plan.scale, flat_=work.flat)
        if isinstance(fit, exact.Exact):
            found["y_train_"] = fit.y[:, 0] if work.flat else fit.y
            found["alpha_"] = fit.dual[:, 0] if work.flat else fit.dual
        self._adopt(found, data)

    def _check_loaded(self) -> None:
        fit = getattr(self, "fit_", None)
        if fit is None:
            return
        size = len(fit.factor)
        rows = fit.points if isinstance(fit, inducing.Sparse) else fit.X
        if fit.factor.shape != (size, size) or len(rows) != size:
            raise ModelFileError("its factor does not fit its rows.")
        if not 0 < np.size(self.y_mean_) == np.size(self.y_scale_) or np.ndim(self.y_mean_) != 1:
            raise ModelFileError("its y_mean_ and y_scale_ do not fit each other.")

    # evidence

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log evidence at some hyper-parameters, or the bound on it.

        Parameters
        ----------
        theta : array, optional
            Logarithms of the free hyper-parameters; those of the fit by default.
        eval_gradient : bool, default=False
            Also return the gradient by theta.
        clone_kernel : bool, default=True
            False: the fitted kernel itself takes these hyper-parameters, as in scikit-learn.
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        if isinstance(self.fit_, inducing.Sparse):
            raise DataError(
                "the evidence of a sparse process needs the rows, which are not kept; read trace_."
            )
        theta = np.asarray(theta, dtype=np.float64)
        kernel = self.kernel_.clone_with_theta(theta) if clone_kernel else self.kernel_
        kernel.theta = theta
        try:
            fit = exact.posterior(kernel, self.fit_.X, self.fit_.y, self.fit_.noise)
        except DegenerateError:
            return (-np.inf, np.zeros_like(kernel.theta)) if eval_gradient else -np.inf
        value = np.float64(fit.evidence)
        return (value, exact.evidence_gradient(fit)) if eval_gradient else value

    def loo_predict(self) -> tuple[Array, Array]:
        r"""Return mean and variance of every training target given all others, in closed form.

        .. math:: \mu_i = y_i - [A^{-1}y]_i/[A^{-1}]_{ii},\qquad \sigma_i^2 = 1/[A^{-1}]_{ii}

        Returns
        -------
        mean : array of shape (n,) or (n, t)
        variance : array of shape (n,) or (n, t)
            Of the target, noise included.
        """
        self._exact_only("loo_predict")
        mean, variance = exact.left_out(self.fit_)
        return self._shaped(mean), self._spread(variance)

    def partial_fit(self, X: Any, y: Any, alpha: Any = None) -> GaussianProcessRegressor:
        """Condition on more rows; the kernel stays as it is, and so do shift and scale of the targets.

        The factor grows by the new rows alone, so m rows more cost m·n².

        Parameters
        ----------
        X, y : more rows and their targets
        alpha : float or array, optional
            Noise of the new rows; that of the model by default.

        Returns
        -------
        self
        """
        if not hasattr(self, "kernel_"):
            return self._fit_with(X, y, self.alpha if alpha is None else alpha)
        self._exact_only("partial_fit")
        rows = self._read(X, y, reset=False).X
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if targets.shape != (len(rows), len(self.y_mean_)):
            raise DataError(
                f"y must hold {len(self.y_mean_)} target(s) for each of the {len(rows)} rows of X, as in the "
                f"fit; its shape is {np.shape(y)}."
            )
        noise = variances(self.alpha if alpha is None else alpha, len(rows))
        fit = exact.appended(
            self.fit_, rows, (targets - self.y_mean_) / self.y_scale_, np.zeros(len(rows)) + noise
        )
        self.fit_, self.X_train_, self.L_, self.jitter_ = fit, fit.X, fit.factor, fit.jitter
        self.y_train_ = fit.y[:, 0] if self.flat_ else fit.y
        self.alpha_ = fit.dual[:, 0] if self.flat_ else fit.dual
        self.log_marginal_likelihood_value_ = fit.evidence
        return self

    def _fit_with(self, X: Any, y: Any, alpha: Any) -> GaussianProcessRegressor:
        """Fit with the noise of these rows; the parameter stays as it is."""
        own, self.alpha = self.alpha, alpha
        try:
            return self.fit(X, y)
        finally:
            self.alpha = own

    def _exact_only(self, name: str) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if isinstance(self.fit_, inducing.Sparse):
            raise DataError(f"{name} needs an exact process; fit with inducing=None.")

    def plot(self, X: Any, y: Any = None, ax: Any = None, *, draws: int = 3) -> Any:
        """Draw the mean, the band of new observations and some functions over one column."""
        from gnomon.plot.fits import predictive_band

        return predictive_band(self, X, y, ax=ax, draws=draws)
