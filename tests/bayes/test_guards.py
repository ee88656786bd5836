"""What is no probability, no outcome and no loss is refused before any work; what is offered works."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from gnomon.bayes import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    IncrementalBayes,
    LinearDiscriminantAnalysis,
    MinimumRiskClassifier,
    MultinomialNB,
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


GROUPS = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, 0.2], [4.0, 5.0], [5.0, 4.5], [4.2, 4.0]])
HALVES = [0, 0, 0, 1, 1, 1]


def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum():
    with pytest.warns(UserWarning, match="sum to 4, not to 1"):
        model = LinearDiscriminantAnalysis(priors=[1, 3]).fit(GROUPS, HALVES)
    np.testing.assert_array_equal(model.priors_, [0.25, 0.75])
    exact = LinearDiscriminantAnalysis(priors=[0.25, 0.75]).fit(GROUPS, HALVES)
    np.testing.assert_array_equal(model.intercept_, exact.intercept_)
    with pytest.raises(DataError, match=r"priors must be non-negative; got \[1.5, -0.5\]"):
        LinearDiscriminantAnalysis(priors=[1.5, -0.5]).fit(GROUPS, HALVES)


def test_classes_of_single_rows_have_no_spread():
    with pytest.raises(
        DataError, match="The number of samples must be more than the number of classes: there are 2"
    ):
        LinearDiscriminantAnalysis().fit(GROUPS[2:4], ["a", "b"])
    with pytest.raises(DegenerateError, match="y has only 1 sample in class 'b'"):
        QuadraticDiscriminantAnalysis().fit(GROUPS[:4], ["a", "a", "a", "b"])
    QuadraticDiscriminantAnalysis(reg_param=0.1).fit(GROUPS[:4], ["a", "a", "a", "b"])


class Halved:
    """Half the covariance; its fit returns nothing."""

    def fit(self, X):
        self.covariance_ = np.cov(X.T, bias=True) / 2


@pytest.mark.parametrize("learner", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_covariance_estimator_need_not_return_itself(learner):
    plain, halved = learner().fit(GROUPS, HALVES), learner(covariance_estimator=Halved()).fit(GROUPS, HALVES)
    np.testing.assert_allclose(np.array(halved.covariance_), np.array(plain.covariance_) / 2, rtol=1e-6)


def test_small_pseudo_counts_are_raised_with_a_warning_unless_forced():
    X, y = [[1, 0], [1, 1]], [0, 1]
    with pytest.warns(UserWarning, match="alpha too small"):
        raised = MultinomialNB(alpha=0.0, force_alpha=False).fit(X, y)
    np.testing.assert_allclose(np.exp(raised.feature_log_prob_[0, 1]), 1e-10)
    assert MultinomialNB(alpha=0.0).fit(X, y).feature_log_prob_[0, 1] == -np.inf
    with pytest.raises(ValueError, match="here 2; its shape is"):
        MultinomialNB(alpha=[1.0, 2.0, 3.0]).fit(X, y)
    with pytest.warns(UserWarning, match="alpha too small"):  # in one column of two
        raised = MultinomialNB(alpha=[1.0, 0.0], force_alpha=False).fit(X, y)
    np.testing.assert_allclose(np.exp(raised.feature_log_prob_), [[1, 5e-11], [2 / 3, 1 / 3]], rtol=1e-9)


@pytest.mark.parametrize("learner", [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB])
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_pseudo_counts_of_columns_are_finite_and_not_negative(learner, wrong):
    with pytest.raises(ValueError, match="alpha"):
        learner(alpha=[1.0, wrong]).fit([[1, 0], [1, 1]], [0, 1])
    with pytest.raises(ValueError, match="alpha"):
        learner(alpha=wrong).fit([[1, 0], [1, 1]], [0, 1])


@pytest.mark.parametrize(
    ("least", "told"),
    [
        ([[3, 2], [2, 4]], "should have shape"),
        ([2, 2, 2], "should have shape"),
        ([2.5, 2], "should have integral type"),
    ],
)
def test_numbers_of_categories_are_whole_and_one_a_column(least, told):
    with pytest.raises(ValueError, match=f"'min_categories' {told}"):
        CategoricalNB(min_categories=least).fit([[0, 0], [1, 1]], [0, 1])
    assert CategoricalNB(min_categories=[3, 2]).fit([[0, 0], [1, 1]], [0, 1]).n_categories_.tolist() == [3, 2]


@pytest.mark.parametrize("far", [1e4, 1e8, 1e12])
@pytest.mark.parametrize(
    "learner",
    [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), BayesClassifier()],
)
def test_rows_of_weight_zero_lose_no_digits_of_the_others(learner, far):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    alone = learner.fit(X, y).predict_log_proba(X)
    beside = learner.fit(
        np.vstack([[[far, -far]], X]), np.append(0, y), sample_weight=np.append(0.0, np.ones(30))
    )
    np.testing.assert_allclose(beside.predict_log_proba(X), alone, rtol=1e-9)


def test_codes_that_are_no_categories_are_refused():
    for X, told in [
        ([[0.0], [2e6]], "recode"),
        ([[0.0], [-1.0]], "Negative"),
        ([[np.nan], [-1.0]], "Negative"),
    ]:
        with pytest.raises(ValueError, match=told):
            CategoricalNB().fit(X, [0, 1])


def test_collinear_columns_keep_a_little_deviation():
    X = np.array([[0.0, 0], [1, 2], [2, 4], [0, 1], [1, 0], [3, 1]])
    with pytest.warns(UserWarning, match="collinear in class number 0"):
        model = QuadraticDiscriminantAnalysis(tol=0.01).fit(X, [0, 0, 0, 1, 1, 1])
    own = X[:3].std(axis=0)
    # the correlation has the eigenvalues 2 along (1, 1) and, raised, 2 · 0.01² along (1, −1)
    expected = np.outer(own, own) * np.array([[1 + 1e-4, 1 - 1e-4], [1 - 1e-4, 1 + 1e-4]])
    np.testing.assert_allclose(
        model.covariance_[0] / expected, model.covariance_[0][0, 0] / expected[0, 0], rtol=1e-9
    )
    np.testing.assert_allclose(
        model.covariance_[1] / np.cov(X[3:].T), model.covariance_[1][0, 0] / np.var(X[3:, 0], ddof=1)
    )


@pytest.mark.parametrize(
    ("shape", "rate", "estimate", "unseen"),
    [(3.0, 2.0, "mean", 1.5), (3.0, 2.0, "map", 1.0), (0.0, 0.0, "mean", 0.0)],
)
def test_a_rate_that_nobody_saw_is_that_of_the_prior(shape, rate, estimate, unseen):
    X = [[1.0, np.nan], [3.0, np.nan], [2.0, 4.0], [0.0, 6.0]]
    model = PoissonNB(shape=shape, rate=rate, estimate=estimate).fit(X, [0, 0, 1, 1])
    a = shape - (estimate == "map")
    seen = [[(4 + a) / (2 + rate), unseen], [(2 + a) / (2 + rate), (10 + a) / (2 + rate)]]
    np.testing.assert_allclose(model.rates_, seen)


def test_classes_with_one_mean_have_no_axis_that_parts_them():
    X = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -0.5], [1.0, 0.0], [-1.0, 0.5], [0.0, -0.5]])
    model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.explained_variance_ratio_, 0)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_a_quadratic_rule_is_between_two_classes_that_may_occur():
    X = np.random.default_rng(0).normal(size=(30, 2))
    two, three = np.arange(30) % 2, np.arange(30) % 3
    assert len(QuadraticDiscriminantAnalysis().fit(X, two).quadratic_) == 3
    assert not hasattr(QuadraticDiscriminantAnalysis().fit(X, three), "quadratic_")
    assert not hasattr(QuadraticDiscriminantAnalysis(priors=[1.0, 0.0]).fit(X, two), "quadratic_")
