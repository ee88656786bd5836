"""Bayesian logistic regression by Laplace: probabilities that know how sure the weights are."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse, stats
from scipy.special import expit

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array, cholesky, log_determinant
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row
from gnomon.core.validate import Reads, check_fitted, without_overflow
from gnomon.linear._rows import check_classes
from gnomon.linear._rules import SEED
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.losses.margin import Logistic
from gnomon.solvers import newton
from gnomon.solvers.terms import Model, cut


class LaplaceState(NamedTuple):
    """Newton's state, the precision of the prior, and the posterior once it is known."""

    inner: newton.NewtonState
    precision: float
    covariance: Array | None = None
    log_evidence: float = np.nan


class BayesianLogisticRegression(LinearClassifierMixin, Learner):
    r"""Logistic regression with a Gaussian prior and Laplace's Gaussian posterior.

    .. math:: p(w\mid D) \approx N(\hat w, \Sigma),\qquad
              \Sigma^{-1} = \lambda I + \sum_i \sigma_i(1-\sigma_i)\,x_i x_i^\top

    Predictions average the sigmoid over the posterior, so they are closer to ½ where data are few. For two
    classes.

    Parameters
    ----------
    prior_precision : float, default=1.0
        λ.
    fit_intercept : bool, default=True
    regularize_intercept : bool, default=True
        Whether b has the prior, too. If not, its flat direction is left out of the evidence.
    predictive : {"probit", "quadrature", "sample", "plugin"}, default="probit"
        σ(a/√(1+πv/8)); Gauss–Hermite; draws of the weights; σ(a) alone.
    n_samples : int, default=1000
        For ``"sample"``.
    maximize_evidence : bool, default=False
        Choose λ by maximizing the evidence (MacKay's fixed point).
    max_iter, tol, random_state

    Attributes
    ----------
    coef_, intercept_, classes_
    covariance_ : array of shape (d + 1, d + 1)
        Of the weights, intercept last.
    log_evidence_ : float
    prior_precision_ : float

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> model = BayesianLogisticRegression().fit(x, [0, 0, 1, 0, 1, 1])
    >>> model.coef_.round(6), round(model.log_evidence_, 6)
    (array([[0.412375]]), -4.874612)
    >>> model.predict_proba([[5.0]])[:, 1].round(6)
    array([0.744002])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class", scales=True)
    _stop: ClassVar[str] = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior_precision": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "regularize_intercept": ["boolean"],
        "random_state": SEED,
        "predictive": [StrOptions({"probit", "quadrature", "sample", "plugin"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "maximize_evidence": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        prior_precision=1.0,
        *,
        fit_intercept=True,
        regularize_intercept=True,
        predictive="probit",
        n_samples=1000,
        maximize_evidence=False,
        max_iter=200,
        tol=1e-10,
        random_state=None,
    ):
        self.prior_precision = prior_precision
        self.fit_intercept = fit_intercept
        self.regularize_intercept = regularize_intercept
        self.predictive = predictive
        self.n_samples = n_samples
        self.maximize_evidence = maximize_evidence
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self):
        """Two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is None:
            return rows
        check_classes(rows, type(self).__name__)
        if len(rows.classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"y has {len(rows.classes)} classes: wrap the model in OneVsRestClassifier."
            )
        return cut(rows)

    def _objective(self, rows, precision):
        ridge = np.full(rows.n_features + self.fit_intercept, precision)
        if self.fit_intercept and not self.regularize_intercept:
            ridge[-1] = 0.0
        return newton.Objective(Model(Logistic(), self.fit_intercept, 1), ridge, float(rows.n_rows))

    def _start(self, rows, rng):
        theta = np.zeros(rows.n_features + self.fit_intercept)
        state = newton.newton_start(rows, self._objective(rows, self.prior_precision), theta)
        return LaplaceState(state, float(self.prior_precision))

    def _step(self, rows, state):
        objective = self._objective(rows, state.precision)
        inner = newton.newton_step(rows, objective, state.inner)
        flat = self.prior_precision == 0.0
        if flat and (np.abs(inner.theta).max() > 1e3 or inner.value < 1e-6 * rows.n_rows):
            raise DegenerateError(
                "prior_precision=0 and the classes look separable: no mode exists. Give a prior."
            )
        change, precision = 0.0, state.precision
        if self.maximize_evidence:
            precision, change = self._mackay(rows, objective, inner)
            inner = newton.newton_start(rows, self._objective(rows, precision), inner.theta)
        violation = newton.violation(objective, inner.gradient)
        return LaplaceState(inner, precision), Report(inner.value, max(violation, change))

    def _mackay(self, rows, objective, inner):
        hessian = newton.evaluate(rows, objective, inner.theta, curved=True).hessian
        held = objective.ridge > 0
        gamma = held.sum() - objective.ridge.max() * np.trace(np.linalg.inv(hessian)[np.ix_(held, held)])
        precision = float(max(gamma, 1e-10) / max(float(inner.theta[held] @ inner.theta[held]), 1e-12))
        return precision, abs(np.log(precision / objective.ridge.max()))

    def _finish(self, rows, state):
        objective = self._objective(rows, state.precision)
        found = newton.evaluate(rows, objective, state.inner.theta, curved=True)
        L, _ = cholesky(found.hessian, jitter=1e-14, what="the posterior precision")
        half = np.linalg.inv(L)
        held = int((objective.ridge > 0).sum())
        evidence = -found.value - 0.5 * float(log_determinant(L))
        evidence += 0.5 * held * np.log(state.precision) if state.precision > 0 else 0.0
        if held < len(L):
            evidence += 0.5 * (len(L) - held) * np.log(2.0 * np.pi)
        return state._replace(covariance=half.T @ half, log_evidence=float(evidence))

    def _attributes(self, state):
        theta = state.inner.theta
        coef = theta[:-1] if self.fit_intercept else theta
        intercept = theta[-1:] if self.fit_intercept else np.zeros(1)
        found = {
            "coef_": coef[None].copy(),
            "intercept_": intercept.copy(),
            "prior_precision_": state.precision,
        }
        if state.covariance is None:
            return found | {"covariance_": _inverse(state.inner.hessian, len(theta))}
        return found | {"covariance_": state.covariance, "log_evidence_": state.log_evidence}

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of both classes, averaged over the posterior as `predictive` says."""
        if self.predictive == "sample":
            p = per_row(mean_of_draws, self._rows(X), self.sample_coef(self.n_samples), self.fit_intercept)
            return np.column_stack([1.0 - p, p])
        a, v = self._moments(X)
        if self.predictive == "quadrature":
            nodes, weight = np.polynomial.hermite_e.hermegauss(64)
            p = expit(a[:, None] + np.sqrt(v)[:, None] * nodes) @ weight / weight.sum()
        else:
            p = expit(a if self.predictive == "plugin" else a / np.sqrt(1.0 + np.pi * v / 8.0))
        p = without_overflow(p)
        return np.column_stack([1.0 - p, p])

    def predict_std(self, X: Any) -> Array:
        """Return the posterior standard deviation of the score of every row."""
        return np.sqrt(self._moments(X)[1])

    def sample_coef(self, n: int) -> Array:
        """Return `n` draws of the weights (intercept last) from the posterior."""
        mean = np.append(self.coef_[0], self.intercept_) if self.fit_intercept else self.coef_[0]
        L = np.linalg.cholesky(self.covariance_)
        return mean + generator(self.random_state).normal(size=(n, len(mean))) @ L.T

    def credible_intervals(self, level: float = 0.95) -> Array:
        """Return lower and upper ends for every weight (intercept last)."""
        mean = np.append(self.coef_[0], self.intercept_) if self.fit_intercept else self.coef_[0]
        half = stats.norm.ppf(0.5 + level / 2) * np.sqrt(np.diag(self.covariance_))
        return np.column_stack([mean - half, mean + half])

    def _moments(self, X):
        """Mean and variance of the score of every row."""
        check_fitted(self)
        mean = np.append(self.coef_[0], self.intercept_) if self.fit_intercept else self.coef_[0]
        return per_row(score_moments, self._rows(X), mean, self.covariance_, self.fit_intercept)


def _inverse(hessian: Array | None, size: int) -> Array:
    """Covariance on the way to the mode: from the Hessian at hand, if there is one."""
    return np.zeros((size, size)) if hessian is None else linalg.pinvh(hessian)


def augmented(chunk, intercept: bool) -> Array:
    """Rows of a chunk, dense, with a one appended where there is an intercept."""
    X = chunk.X.toarray() if sparse.issparse(chunk.X) else np.asarray(chunk.X, dtype=float)
    return np.column_stack([X, np.ones(len(X))]) if intercept else X


def score_moments(chunk, mean, covariance, intercept):
    """Mean and variance of w·x under the posterior."""
    Z = augmented(chunk, intercept)
    return Z @ mean, np.maximum(np.einsum("ij,jk,ik->i", Z, covariance, Z), 0.0)


def mean_of_draws(chunk, draws, intercept):
    """Mean of the sigmoid over draws of the weights."""
    return expit(augmented(chunk, intercept) @ draws.T).mean(axis=1)
