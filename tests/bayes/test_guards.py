"""What is no probability, no outcome and no loss is refused before any work; what is offered works."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from gnomon.bayes import (
    BayesClassifier,
    BernoulliNB,
    ComplementNB,
    GaussianNB,
    IncrementalBayes,
    MinimumRiskClassifier,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    SemiSupervisedBayes,
    base_rate,
    bayes_rule,
    maximum_entropy,
)
from gnomon.core.errors import DataError, DegenerateError
from gnomon.mixture import Mixture


@pytest.mark.parametrize("x", [-1, 2, 0.7, "1"])
def test_what_is_no_outcome_is_refused(x):
    belief = IncrementalBayes([0.5, 0.5], [[0.5, 0.5], [0.1, 0.9]])
    with pytest.raises(DataError, match="whole number from 0 to 1"):
        belief.update(x)
    assert len(belief.history_) == 1


@pytest.mark.parametrize("given", [(1.2, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0.5, np.nan)])
def test_base_rate_takes_probabilities(given):
    with pytest.raises(DataError, match="between 0 and 1"):
        base_rate(*given)


def test_bayes_rule_takes_likelihoods():
    with pytest.raises(DataError, match="must not be negative"):
        bayes_rule([0.5, 0.5], [-1.0, 2.0])
    with pytest.raises(DataError, match="each of the 2 hypotheses"):
        bayes_rule([0.5, 0.5], [0.1, 0.2, 0.3])
    assert bayes_rule([0.5, 0.5], [-1.0, -2.0], log=True).posterior.sum() == pytest.approx(1.0)


def test_maximum_entropy_says_when_it_is_not_there():
    with pytest.warns(ConvergenceWarning, match="a constraint is off by"):
        maximum_entropy([1, 2, 3, 4, 5, 6], [5.9], max_iter=3)


@pytest.mark.parametrize("loss", [[[0, 1, 2], [1, 0, 2]], [0, 1], [[0, np.inf], [1, 0]]])
def test_loss_is_checked_before_the_fit(loss):
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(DataError, match="one column for each of the 2 classes"):
        MinimumRiskClassifier(loss=loss).fit(X, np.arange(10) % 2)


def test_joint_of_poisson_is_that_of_the_evidence():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(3.0, size=(30, 2)), np.arange(30) % 3
    model = PoissonNB().fit(X, y)
    np.testing.assert_allclose(
        logsumexp(model.joint_log_likelihood(X), axis=1), model.score_samples(X), rtol=1e-12
    )
    rates, prior = model.rates_, np.exp(model.class_log_prior_)
    from scipy.stats import poisson

    slow = poisson.logpmf(X[:, None, :], rates).sum(axis=2) + np.log(prior)
    np.testing.assert_allclose(model.joint_log_likelihood(X), slow, rtol=1e-10)


def test_student_t_wherever_it_is_offered():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.standard_t(3, size=(60, 2)) + 6.0 * y[:, None]
    assert BayesClassifier("student_t").fit(X, y).score(X, y) > 0.9
    assert SemiSupervisedBayes("student_t").fit(X, np.where(np.arange(60) < 20, y, -1)).score(X, y) > 0.9
    labels = Mixture("student_t", 2, random_state=0).fit(X).predict(X)
    assert max((labels == y).mean(), (labels != y).mean()) > 0.9


@pytest.mark.parametrize("model", [GaussianNB(), QuadraticDiscriminantAnalysis(), BayesClassifier("laplace")])
def test_rows_out_of_reach_get_the_prior(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], [10, 30])
    with np.errstate(over="ignore"):
        said = model.fit(X, y).predict_proba([[1e300, -1e300], [0.0, 0.0]])
    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1.0)


def test_bernoulli_without_pseudo_counts_knows_impossible_rows():
    model = BernoulliNB(alpha=0).fit([[1, 0], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 1])
    np.testing.assert_allclose(
        model.predict_proba([[1, 0], [0, 1], [1, 1]]), [[1, 0], [0, 1], [0.5, 0.5]], atol=1e-12
    )


def test_a_single_column_cannot_be_normed():
    with pytest.raises(DegenerateError, match="norm=False"):
        ComplementNB(norm=True).fit([[1.0], [2.0]], [0, 1])
