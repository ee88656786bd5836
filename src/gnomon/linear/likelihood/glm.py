"""Generalized linear models: one Newton step for several kinds of response."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, stats
from sklearn.base import RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total, total_weight
from gnomon.core.validate import Reads, warn
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import rows_that_count
from gnomon.linear.squares.least_squares import KeepsPrecision, check_magnitude, linear_values
from gnomon.losses import Gamma, Logistic, Poisson, SquaredError
from gnomon.solvers import lbfgs, nested
from gnomon.solvers.newton import NewtonState, Objective, evaluate, newton_start, newton_step, violation
from gnomon.solvers.terms import Model, cut


class Family(NamedTuple):
    """A response: its loss (half the deviance), the inverse of its link, and where its values lie."""

    loss: Any
    mean: Any  # score -> mean
    score: Any  # mean -> score
    support: str
    lowest: float
    open_end: bool  # whether `lowest` itself is excluded
    positive: int | None = None  # for losses of labels


def _logistic(z: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * z))


FAMILIES = {
    "gaussian": Family(SquaredError(), lambda z: z, lambda m: m, "all numbers", -np.inf, False),
    "bernoulli": Family(Logistic(), _logistic, lambda m: np.log(m / (1 - m)), "0 and 1", 0.0, False, 1),
    "poisson": Family(Poisson(), np.exp, np.log, "numbers of at least 0", 0.0, False),
    "gamma": Family(Gamma(), np.exp, np.log, "positive numbers", 0.0, True),
}


class TargetSums(NamedTuple):
    """Weight and sum of the target, with its extremes."""

    weight: float
    total: float
    low: float
    high: float
    binary: bool

    def merge(self, other: TargetSums) -> TargetSums:
        """Add the sums, widen the range."""
        return TargetSums(
            self.weight + other.weight,
            self.total + other.total,
            min(self.low, other.low),
            max(self.high, other.high),
            self.binary and other.binary,
        )


def target_sums(chunk: Any) -> TargetSums:
    """Range and mean of the target of one chunk."""
    y, s = chunk.y, chunk.weight
    return TargetSums(s.sum(), s @ y, y.min(), y.max(), bool(((y == 0.0) | (y == 1.0)).all()))


def empty_value(chunk: Any, score: float, family: str) -> float:
    """Weighted loss of one chunk when all rows have the same score."""
    return float(chunk.weight @ FAMILIES[family].loss.value(_targets(chunk, family), score))


def _targets(chunk: Any, family: str) -> Array:
    positive = FAMILIES[family].positive
    return chunk.y if positive is None else np.where(chunk.y == positive, 1.0, -1.0)


def deviance_rows(chunk: Any, coef: Array, intercept: float, family: str) -> Array:
    """Weighted deviance, and weighted squared Pearson residual, of each row."""
    kind = FAMILIES[family]
    z = chunk.X @ coef + intercept
    mean = kind.mean(z)
    pearson = (chunk.y - mean) ** 2 / _variance(family, mean)
    return np.column_stack(
        [2.0 * chunk.weight * kind.loss.value(_targets(chunk, family), z), chunk.weight * pearson]
    )


def _variance(family: str, mean: Array) -> Array:
    """Variance of the response in units of the dispersion."""
    spread = {"gaussian": lambda m: np.ones_like(m), "bernoulli": lambda m: m * (1 - m), "gamma": np.square}
    return spread.get(family, lambda m: m)(mean)


class GeneralizedLinearRegressor(KeepsPrecision, RegressorMixin, CentersColumns, Learner):
    r"""Generalized linear model.

    .. math:: \min_{w,b}\; \frac{1}{2W}\sum_i s_i\, d(y_i, g^{-1}(x_i^\top w + b)) + \frac{\alpha}{2}\lVert
    w\rVert^2

    with the deviance d of the family. Linear, logistic and Poisson regression share the gradient Xᵀ(μ − y)
    of their canonical links, and one Newton step (iteratively reweighted least squares) serves them all.
    Use it for counts (``"poisson"``), for yes and no (``"bernoulli"``), for positive amounts whose spread
    grows with their size (``"gamma"``, log link).

    Parameters
    ----------
    family : {"gaussian", "bernoulli", "poisson", "gamma"}, default="gaussian"
    alpha : float, default=0.0
        Penalty; with 0 the standard errors are those of maximum likelihood.
    fit_intercept : bool, default=True
    max_iter : int, default=100
    tol : float, default=1e-8
        On the largest entry of the gradient of the objective.
    warm_start : bool, default=False

    Attributes
    ----------
    coef_, intercept_, n_iter_, trace_
    deviance_ : float
    dispersion_ : float
        Pearson's χ² over its degrees of freedom; 1 by definition for Bernoulli and Poisson responses.
    standard_errors_ : array of shape (d,) or (d + 1,)
        Of the coefficients, the intercept last.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = GeneralizedLinearRegressor("poisson").fit(x, [1, 2, 4, 9])
    >>> model.predict([[4.0]]).round(3)
    array([18.737])
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _stop = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions(set(FAMILIES))],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        family: str = "gaussian",
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-8,
        warm_start: bool = False,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start

    # hooks

    def _family(self) -> Family:
        return FAMILIES[self.family]

    def _prepare(self, rows: Any) -> Any:
        return rows_that_count(rows)

    def _start(self, rows: Any, rng: Any) -> Any:
        known = self._check_target(rows)
        theta = np.zeros(rows.n_features + self.fit_intercept)
        if self.fit_intercept:
            mean = known.total / known.weight
            if self.family == "bernoulli":
                mean = np.clip(mean, 1e-3, 1 - 1e-3)
            theta[-1] = self._family().score(mean if self.family == "gaussian" else max(mean, 1e-10))
        objective = self._objective(known.weight, len(theta))
        if self.family != "gaussian" and nested.is_worthwhile(rows, objective):
            state = nested.start(rows, objective, theta, fresh=True)
            if state.value <= total(empty_value, rows, theta[-1] if self.fit_intercept else 0.0, self.family):
                return state
        return newton_start(rows, objective, theta)

    def _step(self, rows: Any, state: Any) -> tuple[Any, Report]:
        objective = self._objective(total_weight(rows), len(state.theta))
        step = newton_step if isinstance(state, NewtonState) else lbfgs.step
        state = step(rows, objective, state)
        return state, Report(state.value / objective.weight, float(violation(objective, state.gradient)))

    def _finish(self, rows: Any, state: Any) -> Any:
        """Add the deviance and the curvature at the solution."""
        objective = self._objective(total_weight(rows), len(state.theta))
        hessian = evaluate(rows, objective, state.theta, curved=True).hessian
        coef, intercept = self._split(state.theta)
        deviance, pearson = per_row(deviance_rows, rows, coef, intercept, self.family).sum(axis=0)
        freedom = max(objective.weight - len(state.theta), 0.0)
        dispersion = pearson / freedom if freedom > 0 else np.nan
        fixed = self.family in ("bernoulli", "poisson")
        self._warn_runaway(state.theta)
        return NewtonState(*state[:3], hessian, (deviance, 1.0 if fixed else dispersion))

    def _attributes(self, state: Any) -> dict[str, Any]:
        coef, intercept = self._split(state.theta)
        found = {"coef_": coef, "intercept_": intercept}
        known = (
            isinstance(state, NewtonState) and isinstance(state.factor, tuple) and state.hessian is not None
        )
        if known and np.ndim(state.factor[1]) == 0:
            deviance, dispersion = state.factor
            covariance = linalg.pinvh(state.hessian) * dispersion
            errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
            found |= {
                "deviance_": float(deviance),
                "dispersion_": float(dispersion),
                "covariance_": covariance,
                "standard_errors_": errors,
            }
        return found

    def _state(self) -> Any:
        return np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_

    def _first_state(self, rows: Any, seed: int, index: int) -> Any:
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return self._start(rows, None)
        known = self._check_target(rows)
        theta = np.asarray(self._state(), dtype=np.float64)
        return newton_start(rows, self._objective(known.weight, len(theta)), theta)

    def _read(self, *args: Any, **options: Any) -> Any:
        return cut(super()._read(*args, **options))

    # inside

    def _objective(self, weight: float, size: int) -> Objective:
        family = self._family()
        ridge = np.full(size, self.alpha * weight)
        if self.fit_intercept:
            ridge[-1] = 0.0
        return Objective(Model(family.loss, self.fit_intercept, family.positive), ridge, weight)

    def _split(self, theta: Array) -> tuple[Array, float]:
        return (theta[:-1], float(theta[-1])) if self.fit_intercept else (theta, 0.0)

    def _check_target(self, rows: Any) -> TargetSums:
        check_magnitude(rows)
        known = total(target_sums, rows)
        family = self._family()
        low = known.low <= family.lowest if family.open_end else known.low < family.lowest
        if low or (family.positive is not None and not known.binary):
            raise DataError(
                f"Some value(s) of y are out of the valid range of the {self.family} family, which is "
                f"{family.support}; y runs from {known.low:g} to {known.high:g}."
            )
        return known

    def _warn_runaway(self, theta: Array) -> None:
        runaway = (
            self.alpha == 0.0 and self.family != "gaussian" and np.abs(theta[:-1]).max(initial=0.0) > 1e3
        )
        if runaway:
            warn("the coefficients grow without bound: the likelihood has no maximum. Use alpha > 0.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family in ("poisson", "gamma")
        return tags

    # prediction

    def predict(self, X: Any) -> Array:
        """Return the mean of the response at each row."""
        z = per_row(linear_values, self._rows(X), self.coef_, self.intercept_)
        return self._family().mean(z)

    def predict_distribution(self, X: Any) -> Any:
        """Return the fitted law of the response at each row, a frozen ``scipy.stats`` distribution."""
        mean = self.predict(X)
        if self.family == "gaussian":
            return stats.norm(mean, np.sqrt(self.dispersion_))
        if self.family == "gamma":
            return stats.gamma(1.0 / self.dispersion_, scale=mean * self.dispersion_)
        return stats.poisson(mean) if self.family == "poisson" else stats.bernoulli(mean)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return D², the share of the deviance that the model explains."""
        rows = self._read(X, y, sample_weight, reset=False)
        self._check_target(rows)
        found = per_row(deviance_rows, rows, self.coef_, self.intercept_, self.family)[:, 0].sum()
        known = total(target_sums, rows)
        empty = self._family().score(known.total / known.weight)
        null = per_row(deviance_rows, rows, np.zeros_like(self.coef_), empty, self.family)[:, 0].sum()
        return float(1.0 - found / null) if null > 0 else float(found == 0)


class _WithDefaults(GeneralizedLinearRegressor):
    """A family with scikit-learn's name, defaults and arguments."""

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "newton-cholesky",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{k: v for k, v in GeneralizedLinearRegressor._parameter_constraints.items() if k != "family"},
        "solver": [StrOptions({"lbfgs", "newton-cholesky"})],
        "verbose": ["verbose"],
    }


class PoissonRegressor(_WithDefaults):
    r"""Poisson regression with log link: counts whose mean is exp(x·w + b).

    .. math:: \min_{w,b} \frac1W\sum_i s_i\,(\mu_i - y_i \ln\mu_i) + \frac{\alpha}{2}\lVert w\rVert^2

    scikit-learn's name, scaling and arguments; see `GeneralizedLinearRegressor` for what else it offers. The
    solver is Newton's whichever name is given.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> PoissonRegressor(alpha=0.0).fit(x, [1, 2, 4, 9]).coef_.round(4)
    array([0.7478])
    """

    family = "poisson"


class GammaRegressor(_WithDefaults):
    r"""Gamma regression with log link: positive amounts whose spread is proportional to their mean.

    .. math:: \min_{w,b} \frac1W\sum_i s_i\Bigl(\frac{y_i}{\mu_i} + \ln\mu_i\Bigr) + \frac{\alpha}{2}\lVert
    w\rVert^2

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> GammaRegressor(alpha=0.0).fit(x, [1.0, 2.0, 4.0, 8.0]).coef_.round(4)
    array([0.6932])
    """

    family = "gamma"
