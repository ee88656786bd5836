"""Lessons that put several parts together."""

import numpy as np
import pytest
from sklearn.model_selection import learning_curve

from gnomon import plot
from gnomon.bayes import (
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    maximum_entropy,
)
from gnomon.datasets import load_lesson, make_table
from gnomon.distributions import relative_entropy
from gnomon.linear import LogisticRegression


def test_lessons_are_complete():
    bmi = JointTable.from_counts(**load_lesson("bmi"))
    assert bmi.bayes_error() == pytest.approx(3 / 11)
    weather = load_lesson("weather")
    assert JointTable(**weather).mutual_information(base=2) == pytest.approx(0.2504165189, abs=1e-9)
    spam = load_lesson("spam_words")
    assert len(spam["words"]) == spam["counts"].shape[1] == 11
    pets = load_lesson("pets")
    assert (
        MultinomialNB()
        .fit(pets["probabilities"], pets["classes"])
        .score(pets["probabilities"], pets["classes"])
        == 1
    )
    with pytest.raises(ValueError, match="Did you mean 'weather'"):
        load_lesson("wether")


def test_hidden_coins_have_the_promised_frequencies():
    rows = make_table("coin triples", 50_000, random_state=0)
    tosses, coins = rows.data, rows.target
    shares = np.bincount(tosses.sum(axis=1), minlength=4) / 50_000
    np.testing.assert_allclose(shares, [0.3076, 0.2412, 0.1548, 0.2964], atol=0.01)
    assert np.mean(coins == 0) == pytest.approx(0.4, abs=0.01)


def test_gibbs_family_fitted_by_likelihood_is_the_maximum_entropy_solution():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 2))
    sample = rng.dirichlet(np.ones(6))
    best = maximum_entropy(features, sample @ features)

    def likelihood(weights):
        logits = features @ weights
        return sample @ (logits - np.log(np.exp(logits).sum()))

    top = likelihood(best.weights)
    for step in rng.normal(size=(50, 2)) * 0.1:
        assert likelihood(best.weights + step) <= top + 1e-12
    assert relative_entropy(sample, best.p) == pytest.approx(sample @ np.log(sample) - top, abs=1e-9)


def test_generative_models_learn_faster_and_discriminative_ones_catch_up():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 15)) + 0.35 * y[:, None]
    errors = {}
    for model in (LinearDiscriminantAnalysis(), LogisticRegression(C=1e6)):
        _, _, scores = learning_curve(model, X, y, train_sizes=[40, 1500], cv=5, shuffle=True, random_state=0)
        errors[type(model).__name__] = 1 - scores.mean(axis=1)
    assert errors["LinearDiscriminantAnalysis"][0] <= errors["LogisticRegression"][0] + 0.01
    assert abs(errors["LinearDiscriminantAnalysis"][1] - errors["LogisticRegression"][1]) < 0.02


def test_mean_difference_and_fisher_directions():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) * [5, 1] + np.outer(y, [2, 2])
    model = LinearDiscriminantAnalysis().fit(X, y)
    difference = model.means_[1] - model.means_[0]

    def ratio(w):
        return (w @ difference) ** 2 / (w @ model.covariance_ @ w)

    assert ratio(model.scalings_[:, 0]) > ratio(difference)
    assert model.ratios_[0] == pytest.approx(ratio(model.scalings_[:, 0]) / 4, rel=1e-9)


def test_boundaries_of_several_classifiers_on_one_picture():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    for model in (
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        LogisticRegression(),
        GaussianNB(),
    ):
        ax = plot.decision_regions(model.fit(X, y), X, y)
        assert ax.has_data()
