"""Options of Bayesian classifiers: shares of classes that are not learned, and any classifier under a loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.bayes import BernoulliNB, CategoricalNB, ComplementNB, MinimumRiskClassifier, MultinomialNB
from gnomon.linear import LogisticRegression

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 3, size=(60, 4))
LABELS = np.repeat([0, 1, 2], [10, 20, 30])


@pytest.mark.parametrize("cls", [MultinomialNB, BernoulliNB, CategoricalNB, ComplementNB])
def test_shares_of_classes_are_learned_or_equal(cls):
    learned = cls().fit(COUNTS, LABELS)
    assert_allclose(np.exp(learned.class_log_prior_), np.array([1, 2, 3]) / 6, rtol=1e-12)
    equal = cls(fit_prior=False).fit(COUNTS, LABELS)
    assert_allclose(np.exp(equal.class_log_prior_), 1 / 3, rtol=1e-12)
    if cls is not ComplementNB:  # which compares the classes by what they are not, whatever their shares
        odds = np.log(equal.predict_proba(COUNTS)) - np.log(learned.predict_proba(COUNTS))
        difference = odds[:, 0] - odds[:, 2]
        assert_allclose(difference, np.log(3.0), rtol=1e-9)


def test_any_classifier_decides_by_what_its_mistakes_cost():
    X, loss = RNG.normal(size=(60, 2)) + LABELS[:, None], RNG.uniform(size=(3, 3))
    model = MinimumRiskClassifier(LogisticRegression(), loss=loss).fit(X, LABELS)
    P = LogisticRegression().fit(X, LABELS).predict_proba(X)
    assert_array_equal(model.predict(X), (P @ loss.T).argmin(axis=1))
    assert isinstance(model.estimator_, LogisticRegression)
