"""Bayes decision theory: posteriors, losses, and the decision that costs least."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import HasMethods
from gnomon.core.settings import check_parameters
from gnomon.core.validate import probabilities
from gnomon.core.wrapping import WrapsEstimator


class Posterior(NamedTuple):
    """P(h | x), and P(x)."""

    posterior: Array
    evidence: Array


def bayes_rule(prior: Any, likelihood: Any, *, log: bool = False) -> Posterior:
    r"""Return the posterior and the evidence.

    .. math:: P(h \mid x) = \frac{P(x \mid h) P(h)}{\sum_{h'} P(x \mid h') P(h')}

    Parameters
    ----------
    prior : array of shape (K,)
        P(h).
    likelihood : array of shape (K,) or (n, K)
        P(x | h) of one or several observations, or its logarithm.
    log : bool, default=False
        Whether the likelihood is given, and the evidence returned, as a logarithm.

    Examples
    --------
    >>> bayes_rule([0.5, 0.5], [1 / 36, 1 / 38]).posterior.round(6)
    array([0.513514, 0.486486])
    """
    likelihood = np.asarray(likelihood, dtype=np.float64)
    if np.isnan(likelihood).any() or (not log and (likelihood < 0).any()):
        raise DataError("likelihood must not be negative or NaN; give log=True for logarithms.")
    prior = probabilities(prior, name="prior")
    if likelihood.ndim not in (1, 2) or prior.ndim != 1 or likelihood.shape[-1] != len(prior):
        raise DataError(
            f"likelihood needs one column for each of the {prior.size} hypotheses of prior; its shape is "
            f"{likelihood.shape}."
        )
    with np.errstate(divide="ignore"):
        joint = np.log(prior)
        joint = joint + (likelihood if log else np.log(likelihood))
    evidence = log_sum_exp(joint)
    if np.isneginf(evidence).any():
        raise ZeroEvidenceError("the observation is impossible under every hypothesis that the prior allows.")
    return Posterior(np.exp(joint - evidence[..., None]), evidence if log else np.exp(evidence))


def loss_matrix(
    kind: str, n_classes: int | None = None, *, cost: float | None = None, outcomes: Any = None
) -> Array:
    """Return a common loss matrix, ``loss[decision, truth]``.

    Parameters
    ----------
    kind : {"zero_one", "reject", "squared"}
        One for every mistake; the same with one more decision, which costs `cost` whatever the truth; or the
        squared distance between the outcomes.
    n_classes : int
        For "zero_one" and "reject".
    cost : float
        Of rejecting.
    outcomes : array of shape (K, d)
        The points behind the classes, for "squared".

    Examples
    --------
    >>> loss_matrix("reject", 2, cost=0.3)
    array([[0. , 1. ],
           [1. , 0. ],
           [0.3, 0.3]])
    """
    if kind == "squared":
        points = np.asarray(outcomes, dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
        return ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    if kind not in ("zero_one", "reject") or n_classes is None:
        raise ValueError(
            f"kind must be 'zero_one', 'reject' (both with n_classes) or 'squared'; got {kind!r}."
        )
    losses = 1.0 - np.eye(n_classes)
    if kind == "zero_one":
        return losses
    if cost is None:
        raise ValueError("'reject' needs the cost of rejecting.")
    return np.vstack([losses, np.full(n_classes, float(cost))])


def expected_risk(posterior: Any, loss: Any) -> Array:
    """Return R(d | x) = Σ_j loss[d, j] P(j | x) for every decision, shape (…, decisions).

    Infinite losses are allowed: what is impossible costs nothing.

    >>> expected_risk([0.5, 0.3, 0.2], loss_matrix("squared", outcomes=[[0, 0], [1, 0], [0, 2]]))
    array([1.1, 1.5, 3.5])
    """
    P, L = np.asarray(posterior, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if L.ndim != 2 or L.shape[1] != P.shape[-1]:
        raise DataError(f"loss has shape {L.shape}; it needs a column for each of the {P.shape[-1]} classes.")
    if np.isnan(L).any():
        raise DataError("loss has NaN entries.")
    if np.isfinite(L).all():
        return P @ L.T
    with np.errstate(invalid="ignore"):
        terms = P[..., None, :] * L
    return np.where(P[..., None, :] == 0, 0.0, terms).sum(axis=-1)


def decide(posterior: Any, loss: Any = None) -> Array:
    """Return the decision of smallest expected risk for every row; the largest posterior without a loss.

    >>> decide([[0.55, 0.45], [0.9, 0.1]], loss_matrix("reject", 2, cost=0.3)).tolist()
    [2, 0]
    """
    if loss is None:
        return np.asarray(posterior).argmax(axis=-1)
    return expected_risk(posterior, loss).argmin(axis=-1)


class BaseRate(NamedTuple):
    """What a diagnostic test says."""

    positive: float  # P(+)
    given_positive: float  # P(condition | +)
    given_negative: float  # P(condition | −)
    given_two_positives: float  # after two independent positive tests


def base_rate(sensitivity: float, specificity: float, prevalence: float) -> BaseRate:
    """Return how probable a condition is after a test.

    Examples
    --------
    >>> round(base_rate(0.98, 0.97, 0.01).given_positive, 6)
    0.248101
    """
    for name, value in (
        ("sensitivity", sensitivity),
        ("specificity", specificity),
        ("prevalence", prevalence),
    ):
        if not 0.0 <= value <= 1.0:
            raise DataError(f"{name} must be a probability between 0 and 1; got {value!r}.")
    prior = [prevalence, 1.0 - prevalence]
    positive, negative = [sensitivity, 1.0 - specificity], [1.0 - sensitivity, specificity]
    first, evidence = bayes_rule(prior, positive)
    twice = bayes_rule(prior, np.square(positive)).posterior[0]
    return BaseRate(
        float(evidence), float(first[0]), float(bayes_rule(prior, negative).posterior[0]), float(twice)
    )


class MinimumRiskClassifier(WrapsEstimator, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier with probabilities, made to take the decision that costs least.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Fitted on the data.
    loss : array of shape (decisions, classes), optional
        ``loss[decision, truth]``, classes in sorted order; zero-one when not given. More decisions than
        classes are allowed.
    decisions : sequence, optional
        Names of the decisions; the classes when there are as many, else the extra ones are "reject".

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : array
        Classes of the truth.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> model = MinimumRiskClassifier(GaussianNB(), loss=[[0, 10], [1, 0]])
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[1.4]]).tolist()
    [1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "loss": ["array-like", None],
        "decisions": ["array-like", None],
    }

    _default = ("gnomon.bayes", "GaussianNB")

    def __init__(self, estimator: Any = None, loss: Any = None, decisions: Any = None) -> None:
        self.estimator = estimator
        self.loss = loss
        self.decisions = decisions

    def fit(self, X: Any, y: Any, **options: Any) -> MinimumRiskClassifier:
        """Fit the classifier underneath.

        Parameters
        ----------
        X, y, **options
            Handed to the classifier's `fit`.
        """
        check_parameters(self)
        self._check_loss(len(np.unique(np.asarray(y))))
        fitted = clone(self._base()).fit(X, y, **options)
        self._names(fitted.classes_)
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        return self

    def _check_loss(self, n_classes: int) -> None:
        if self.loss is None:
            return
        loss = np.asarray(self.loss, dtype=np.float64)
        if loss.ndim != 2 or loss.shape[1] != n_classes or not np.isfinite(loss).all():
            raise DataError(
                f"loss must be a finite matrix with one column for each of the {n_classes} classes of y and one row "
                f"a decision; its shape is {loss.shape}."
            )

    def _names(self, classes: Array) -> Array:
        count = len(classes) if self.loss is None else len(self.loss)
        if self.decisions is not None:
            if len(self.decisions) != count:
                raise DataError(
                    f"decisions must name all {count} decisions of the loss; got {len(self.decisions)}."
                )
            return np.asarray(self.decisions)
        if count == len(classes):
            return classes
        if count < len(classes):
            return classes[:count]
        return np.asarray([*classes.tolist(), *["reject"] * (count - len(classes))], dtype=object)

    def predict(self, X: Any) -> Array:
        """Return the decision of smallest expected loss for every row."""
        check_is_fitted(self, "estimator_")
        return self._names(self.classes_)[decide(self.predict_proba(X), self.loss)]

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classifier underneath."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(lambda self: self.loss is not None)
    def expected_loss(self, X: Any) -> Array:
        """Return the expected loss of every decision for every row, shape (n, decisions)."""
        return expected_risk(self.predict_proba(X), self.loss)
