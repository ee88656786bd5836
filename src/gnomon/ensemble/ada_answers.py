"""What a committee of weighted classifiers answers, at the end and after every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.core.sums import per_row
from gnomon.core.validate import one_each
from gnomon.ensemble.ada_state import tally, votes

Array = np.ndarray


class CommitteeAnswers:
    """Decisions, classes and probabilities from `estimators_` and their weights."""

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        rows = self._rows(X)
        score = np.zeros((rows.n_rows, len(self.classes_)))
        for learner, alpha in zip(self.estimators_, self._scale):
            score += alpha * votes(learner, rows.X, self.classes_)
            yield score

    @property
    def _scale(self) -> Array:
        """What a vote counts."""
        return self.alphas_ if len(self.classes_) <= 2 else self.estimator_weights_

    def _decide(self, score: Array) -> Array:
        return score[:, 1] - score[:, 0] if score.shape[1] == 2 else score

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the decision function after every round."""
        for score in self._staged_scores(X):
            yield self._decide(score).copy()

    def decision_function(self, X: Any) -> Array:
        """Return F(x): positive for ``classes_[1]``; one column per class when there are more than two."""
        return self._decide(per_row(tally, self._rows(X), self.estimators_, self._scale, self.classes_))

    def _labels(self, decision: Array) -> Array:
        if decision.ndim == 1:
            return self.classes_[(decision > 0).astype(int)]
        return self.classes_[decision.argmax(axis=1)]

    def predict(self, X: Any) -> Array:
        """Return the class the committee votes for; a tie gives ``classes_[0]``."""
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield predictions after every round."""
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after every round."""
        for guess in self.staged_predict(X):
            yield float(np.average(guess == one_each(y, len(guess)), weights=sample_weight))

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities: the logistic of twice F (two classes), or a softmax of the votes."""
        return self._probability(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the probabilities after every round."""
        for decision in self.staged_decision_function(X):
            yield self._probability(decision)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _probability(self, decision: Array) -> Array:
        from scipy.special import expit, softmax

        if len(self.classes_) == 1:
            return np.ones((len(decision), 1))
        if decision.ndim == 1:
            p = expit(2 * decision)
            return np.stack([1 - p, p], axis=1)
        return softmax(decision / (len(self.classes_) - 1), axis=1)

    def margins(self, X: Any, y: Any) -> Array:
        r"""Return the normalized margins :math:`y F(x) / \sum_t |\alpha_t|` of two classes, in [-1, 1]."""
        decision = self.decision_function(X)
        sign = np.where(one_each(y, len(decision)) == self.classes_[1], 1.0, -1.0)
        return sign * decision / np.abs(self.alphas_).sum()
