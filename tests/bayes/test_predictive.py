"""Classifiers that average over their parameters instead of plugging in an estimate."""

import numpy as np
import pytest

from gnomon.bayes import BayesClassifier
from gnomon.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Conjugate,
    Dirichlet,
    Gamma,
    Gaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [5, 9, 2])
CASES = {
    "bernoulli": (Bernoulli(), Beta(2.0, 3.0), RNG.integers(2, size=(16, 3))),
    "poisson": (Poisson(), Gamma(2.0, 1.5), RNG.poisson(3.0, size=(16, 3))),
    "categorical": (
        Categorical(),
        Dirichlet([1.0, 2.0, 1.5]),
        RNG.permuted(np.tile([0, 1, 2, 0], 4))[:, None],
    ),
    "diagonal": (
        Gaussian(covariance_type="diag"),
        NormalInverseGamma(np.zeros(2), 1.0, 2.0, 1.0),
        RNG.normal(size=(16, 2)),
    ),
    "full": (
        Gaussian(covariance_type="full"),
        NormalInverseWishart(np.zeros(2), 1.0, 5.0, np.eye(2)),
        RNG.normal(size=(16, 2)),
    ),
}


@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
@pytest.mark.parametrize("case", CASES)
def test_each_class_has_the_distribution_of_its_own_rows(case, estimate):
    family, prior, X = CASES[case]
    model = BayesClassifier(family, prior=prior, estimate=estimate).fit(X, Y)
    alone = [getattr(Conjugate(family, prior).update(X[Y == k]), estimate)() for k in range(3)]
    joint = np.column_stack([one.log_density(np.asarray(X, float))[:, 0] for one in alone])
    joint += np.log(np.bincount(Y) / len(Y))
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_the_rule_of_succession():
    model = BayesClassifier("bernoulli", prior=Beta(1, 1), estimate="predictive")
    model.fit([[1], [1], [1], [0], [0]], [0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.family_.p.ravel(), [4 / 5, 1 / 4])


def test_few_rows_make_a_predictive_classifier_less_sure():
    X, y = [[-1.0], [-1.2], [1.0], [1.2]], [0, 0, 1, 1]
    prior = NormalInverseGamma(0.0, 0.1, 1.0, 0.1)
    sure = BayesClassifier(prior=prior).fit(X, y).predict_proba([[4.0]])[0, 1]
    unsure = BayesClassifier(prior=prior, estimate="predictive").fit(X, y).predict_proba([[4.0]])[0, 1]
    assert 0.5 < unsure < sure


def test_averaging_without_a_prior_is_refused():
    with pytest.raises(ValueError, match="needs a conjugate prior"):
        BayesClassifier(estimate="predictive").fit([[0.0], [1.0]], [0, 1])
