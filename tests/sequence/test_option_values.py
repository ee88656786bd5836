"""Options of sequence models: names for scikit-learn's and hmmlearn's sake, sizes, and a classifier of one's own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from gnomon.sequence import (
    GMMHMM,
    CategoricalHMM,
    GaussianHMM,
    KalmanFilter,
    MultinomialHMM,
    PoissonHMM,
    TokenClassifier,
)

RNG = np.random.default_rng(1)
NUMBERS = np.repeat([[0.0], [4.0], [0.0]], 30, axis=0) + RNG.normal(size=(90, 1))
SYMBOLS = RNG.integers(0, 3, size=(90, 1))
TRIALS = RNG.multinomial(5, [0.2, 0.3, 0.5], size=90)
MODELS = [
    (GaussianHMM(2, random_state=0), NUMBERS),
    (GMMHMM(2, n_mix=2, random_state=0), NUMBERS),
    (CategoricalHMM(2, random_state=0), SYMBOLS),
    (PoissonHMM(2, random_state=0), SYMBOLS),
    (MultinomialHMM(2, n_trials=5, random_state=0), TRIALS),
]


@pytest.mark.parametrize("model, X", MODELS, ids=[type(model).__name__ for model, _ in MODELS])
def test_both_names_of_the_arithmetic_mean_the_same(model, X):
    log, scaled = (clone(model).set_params(implementation=name).fit(X) for name in ("log", "scaling"))
    assert scaled.score(X) == log.score(X)
    assert_array_equal(scaled.transmat_, log.transmat_)


def test_sizes_where_no_array_tells_them():
    X = RNG.normal(size=(20, 2))
    told = KalmanFilter(n_dim_state=2, n_dim_obs=2).filter(X)
    given = KalmanFilter(np.eye(2), np.eye(2), np.eye(2), np.eye(2)).filter(X)
    assert_allclose(told.means, given.means, rtol=1e-13)
    states, seen = KalmanFilter(n_dim_state=3, n_dim_obs=3).sample(5, random_state=0)
    assert np.shape(states) == np.shape(seen) == (5, 3)


class SaysNoun(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), X.shape[0]
        return self

    def predict(self, X):
        return np.full(X.shape[0], "noun")


def test_tags_of_a_classifier_of_ones_own():
    words = [["the", "dog", "barks"], ["a", "cat"]]
    tags = [["det", "noun", "verb"], ["det", "noun"]]
    model = TokenClassifier(SaysNoun()).fit(words, tags)
    assert model.estimator_.seen_ == 5
    assert [list(one) for one in model.predict(words)] == [["noun"] * 3, ["noun"] * 2]
    usual = TokenClassifier().fit(words, tags)
    assert [list(one) for one in usual.predict(words)] == tags
