"""Information criteria, evidence, weights of models, orders."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, DegenerateError
from gnomon.datasets import load_earthquakes, load_lesson
from gnomon.distributions import Bernoulli, Beta, Conjugate
from gnomon.linear import Lasso, LinearRegression, LogisticRegression
from gnomon.mixture import BayesianGaussianMixture, GaussianMixture, PoissonMixture
from gnomon.selection import (
    choose_order,
    criteria_table,
    information_criteria,
    model_weights,
    n_parameters,
)
from gnomon.solvers import laplace_approximation

near = pytest.approx


def test_order_table_of_the_course():
    lesson = load_lesson("model orders")
    found = information_criteria(-lesson["neg_log_likelihood"], lesson["n_parameters"], lesson["n_samples"])
    assert found.aic.round(1).tolist() == [785.8, 692.6, 676.9, 687.7, 701.8, 720.5, 726.7, 723.7, 727.5]
    assert found.bic.round(1).tolist() == [788.5, 703.3, 701.0, 730.4, 768.6, 816.7, 734.8, 737.1, 746.2]
    assert found.aic.argmin() == found.bic.argmin() == 2
    assert found.aic[6:].argmin() == 1 and found.bic[6:].argmin() == 0
    weights = model_weights(bic=found.bic[1:3])
    assert weights == near([0.235785, 0.764215], abs=1e-5)
    halved = information_criteria(
        -lesson["neg_log_likelihood"], lesson["n_parameters"], 107, convention="halved"
    )
    assert halved.aic == near(found.aic / 2) and halved.bic == near(found.bic / 2)
    assert found.mdl.argmin() == halved.bic.argmin() and halved.bic / np.log(2) == near(found.mdl)


def test_penalties_of_a_factorization():
    K = n_parameters("nmf", rows=100, columns=50, rank=5)
    found = information_criteria(0.0, K, 100 * 50, convention="halved")
    assert found.aic == 750 and found.bic == near(3193.947447)


def test_bic_charges_more_from_eight_rows_on():
    for n in (5, 7, 8, 100):
        found = information_criteria(-10.0, 3, n)
        assert (found.bic >= found.aic) == (n >= 8)
    assert information_criteria(-10.0, 3, 20).aicc == near(26 + 24 / 16)
    assert information_criteria(-10.0, 3, 4).aicc == np.inf
    for bad in (lambda: information_criteria(0, -1, 5), lambda: information_criteria(0, 1, 0)):
        with pytest.raises(DataError):
            bad()


def test_parameter_counts():
    counts = [
        n_parameters("mixture", k=2, d=3, covariance_type=c) for c in ("full", "tied", "diag", "spherical")
    ]
    assert counts == [19, 13, 13, 9]
    assert n_parameters("hmm", states=3, emissions=3 * 5) == 23
    assert n_parameters("hmm", states=3, emissions=3, stationary=True) == 9
    assert n_parameters("ppca", d=5, k=2) == 15
    assert n_parameters("low rank", rows=6, columns=5, rank=2) == 18
    assert n_parameters("joint", levels=[2] * 11) == 2**11 - 1
    assert n_parameters("naive", levels=[2] * 10, n_classes=2) == 21
    assert n_parameters("independent", levels=[2, 3, 4]) == 6
    assert n_parameters("gaussian", d=3) == 9 and n_parameters("poisson mixture", k=4) == 7
    assert n_parameters("network", levels=[2, 2, 2], parents=[[], [0], [0, 1]]) == 7
    assert n_parameters("gaussian naive", n_classes=3, d=4) == 26
    assert n_parameters("poisson naive", n_classes=2, d=5) == 11 and n_parameters("regression", d=4) == 6
    with pytest.raises(DataError, match="Did you mean 'mixture'"):
        n_parameters("mixtur")
    with pytest.raises(DataError, match="low rank"):
        n_parameters("low rank", rows=3)


def test_parameters_of_fitted_models():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    assert n_parameters(LinearRegression().fit(X, y)) == 5
    assert n_parameters(LogisticRegression().fit(X, y > 0)) == 4
    assert n_parameters(GaussianMixture(2, random_state=0).fit(X)) == 19
    assert n_parameters(Lasso(alpha=10.0).fit(X, y)) == 2
    from sklearn.mixture import GaussianMixture as Theirs
    from sklearn.tree import DecisionTreeClassifier

    theirs = Theirs(2, covariance_type="tied", random_state=0).fit(X)
    assert n_parameters(theirs) == theirs._n_parameters()
    assert n_parameters(DecisionTreeClassifier(max_leaf_nodes=5).fit(X, y > 0)) == 5
    with pytest.raises(DataError, match="not known"):
        n_parameters(object())


def test_one_table_for_every_model_with_a_likelihood():
    counts = load_earthquakes().data.astype(float)
    from gnomon.sequence import PoissonHMM

    models = {
        "two Poissons": PoissonMixture(2, random_state=0).fit(counts),
        "chain of two": PoissonHMM(2, random_state=0, n_iter=100).fit(counts),
    }
    table = criteria_table(models, counts)
    for name in models:
        assert table.loc[name, "bic"] == near(models[name].bic(counts), rel=1e-9)
        assert table.loc[name, "aic"] == near(models[name].aic(counts), rel=1e-9)
    assert table["bic"].idxmin().startswith("chain") and table["bic_weight"].sum() == near(1)


def test_tables_of_regressions_and_classifiers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=80)
    model = LinearRegression().fit(X, y)
    table = criteria_table([model], X, y)
    residual = y - model.predict(X)
    assert table["log_likelihood"].iloc[0] == near(-40 * (np.log(2 * np.pi * np.mean(residual**2)) + 1))
    wide = criteria_table([LogisticRegression().fit(X, y > 0)], X, y > 0)
    assert wide["log_likelihood"].iloc[0] < 0 and wide["n_parameters"].iloc[0] == 4
    with pytest.raises(DataError, match="fitted on 3 features"):
        criteria_table([model], X[:, :2], y)
    with pytest.raises(DegenerateError, match="no bound"):
        from sklearn.linear_model import LinearRegression as Theirs

        criteria_table([Theirs().fit(X, X[:, 0] * 0)], X, X[:, 0] * 0)


@pytest.mark.parity
def test_same_criteria_as_scikit_learn():
    from sklearn.mixture import GaussianMixture as Theirs

    X = np.random.default_rng(0).normal(size=(70, 2))
    model = Theirs(2, random_state=0).fit(X)
    row = criteria_table([model], X).iloc[0]
    assert row["aic"] == near(model.aic(X)) and row["bic"] == near(model.bic(X))


def test_evidence_of_thirty_ones_in_a_hundred():
    x = np.repeat([1, 0], [30, 70])
    exact = Conjugate(Bernoulli(), Beta(1.0, 1.0)).log_evidence(x)
    assert exact == near(-63.2572161578)
    log_joint = 30 * np.log(0.3) + 70 * np.log(0.7)

    def joint(p):  # with an even prior
        return (
            float(30 * np.log(p[0]) + 70 * np.log(1 - p[0])),
            np.array([30 / p[0] - 70 / (1 - p[0])]),
            np.array([[-30 / p[0] ** 2 - 70 / (1 - p[0]) ** 2]]),
        )

    assert laplace_approximation(joint, [0.4]).log_evidence == near(-63.2504006394)
    assert -information_criteria(log_joint, 1, 100, convention="halved").bic == near(-63.3890152985)
    with pytest.raises(DegenerateError, match="negative definite"):
        laplace_approximation(lambda x: (0.0, np.zeros(1), np.ones((1, 1))), [0.0])


def test_evidence_of_priors_for_seven_heads():
    x = np.repeat([1, 0], [7, 3])
    priors = [(1, 1), (2, 2), (10, 10), (100, 100), (8, 4)]
    found = [Conjugate(Bernoulli(), Beta(float(a), float(b))).log_evidence(x) for a, b in priors]
    expected = [-7.1853870156, -6.9777476508, -6.8617351384, -6.9176468539, -6.4242794881]
    assert found == near(expected)
    posterior = model_weights(found)
    assert posterior.argmax() == 4 and posterior.sum() == near(1)
    assert model_weights(np.array(found) + 1000) == near(posterior)


def test_model_posterior():
    assert model_weights([0.0, np.log(3)]) == near([0.25, 0.75])
    assert model_weights([0.0, 0.0], prior=[0.9, 0.1]) == near([0.9, 0.1])
    assert model_weights([-np.inf, 0.0]) == near([0, 1])
    for bad in ([np.nan, 0.0], [-np.inf, -np.inf]):
        with pytest.raises(DataError, match="finite"):
            model_weights(bad)
    with pytest.raises(DataError, match="exactly one"):
        model_weights([1.0], bic=[1.0])


def test_criteria_side_by_side():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-4, 1, (70, 2)), rng.normal(4, 1, (70, 2))])
    found = choose_order(
        GaussianMixture(random_state=0), "n_components", [1, 2, 3], X, n_resamples=8, random_state=0
    )
    assert found.best["bic"] == found.best["cv"] == 2 and found.resampled.shape == (8, 3)
    assert found.table.loc[2, "n_parameters"] == 11 and len(found.models) == 3
    # resamples are scored on the original rows: the column is the mean of the resampled scores
    assert -found.resampled.mean(axis=0) == near(found.table["stability"].to_numpy())
    with pytest.raises(DataError, match="no parameter 'n_component'"):
        choose_order(GaussianMixture(), "n_component", [1], X)
    with pytest.raises(DataError, match="criteria"):
        choose_order(GaussianMixture(), "n_components", [1], X, criteria=["bics"])


def test_a_prior_over_the_order_empties_components():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-5, 1, (80, 1)), rng.normal(5, 1, (80, 1))])
    model = BayesianGaussianMixture(
        n_components=6, weight_concentration_prior=1e-3, random_state=0, max_iter=500
    ).fit(X)
    assert (model.weights_ > 0.05).sum() == 2


def test_orders_and_sizes_are_asked_for():
    X = np.random.default_rng(0).normal(size=(40, 1))
    model = GaussianMixture(random_state=0)
    assert choose_order(model, "n_components", [1, 2], X, criteria="aic").best.keys() == {"aic"}
    with pytest.raises(DataError, match="orders is empty"):
        choose_order(model, "n_components", [], X, criteria="aic")
    with pytest.raises(DataError, match=r"takes the sizes \(k: "):
        n_parameters("mixture", k=2)
