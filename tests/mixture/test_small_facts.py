"""Penalties, criteria, draws, completed rows and refused priors of mixtures, written out on few rows."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.mixture import AspectModel, BayesianGaussianMixture, GaussianMixture, PoissonMixture

COUNTS = np.array([[0.0], [1.0], [3.0], [7.0], [6.0]])
X = np.random.default_rng(0).normal(size=(60, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
X[30:] += 4


@pytest.mark.parametrize("concentration", [None, 3.0, [2.0, 5.0]])
def test_one_step_under_a_prior_of_the_weights(concentration):
    weights, rates = np.array([0.3, 0.7]), np.array([[1.0], [6.0]])
    model = PoissonMixture(
        2, weights_init=weights, parameters_init=rates, weight_concentration=concentration, max_iter=1, tol=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one step is not enough
        model.fit(COUNTS)
    joint = np.log(weights) + stats.poisson(rates[:, 0]).logpmf(COUNTS)
    a = np.broadcast_to(1.0 if concentration is None else concentration, 2)
    objective = np.logaddexp(*joint.T).sum() + ((a - 1) * np.log(weights)).sum()
    assert_allclose(model.trace_.objective, [objective])
    resp = np.exp(joint - np.logaddexp(*joint.T)[:, None])
    pseudo = resp.sum(axis=0) + a - 1
    assert_allclose(model.weights_, pseudo / pseudo.sum())
    assert_allclose(model.rates_, (resp.T @ COUNTS) / resp.sum(axis=0)[:, None])


def test_a_price_above_all_rows_empties_every_component():
    model = PoissonMixture(2, weight_concentration=[1e-9, 1e-9], random_state=0)
    with pytest.raises(DataError, match="empties every component"):
        model.fit(np.array([[1.0], [2.0]]), sample_weight=[0.5, 0.5])


def test_criteria_are_prices_of_free_numbers():
    model = GaussianMixture(2, random_state=0).fit(X)
    free = 1 + 2 * 3 + 2 * 6
    loglik = model.score_samples(X).sum()
    assert model.n_parameters_ == free
    assert model.aic(X) == pytest.approx(-2 * loglik + 2 * free)
    assert model.bic(X) == pytest.approx(-2 * loglik + np.log(60) * free)
    one, label = model.sample(1, random_state=0)
    assert one.shape == (1, 3) and label.shape == (1,)
    for n in (0, -1):
        with pytest.raises(ValueError, match="at least one sample"):
            model.sample(n)


def test_missing_entries_are_mixed_by_what_is_seen():
    model = GaussianMixture(2, random_state=0).fit(X)
    rows = X[[0, 5, 40, 50, 20]].copy()
    rows[0, 1] = rows[1, [0, 2]] = rows[2, 1] = rows[3, 2] = np.nan
    found = model.impute_distribution(rows)
    for row, mean, spread in zip(rows, found.mean, found.covariance, strict=True):
        o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        shares, means, covariances = [], [], []
        for w, mu, C in zip(model.weights_, model.means_, model.covariances_, strict=True):
            shares.append(w * stats.multivariate_normal(mu[o], C[np.ix_(o, o)]).pdf(row[o]))
            gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            means.append(mu[m] + gain @ (row[o] - mu[o]))
            covariances.append(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])
        r = np.array(shares) / np.sum(shares)
        center = r @ np.array(means)
        expected = np.zeros((3, 3))
        expected[np.ix_(m, m)] = sum(
            a * (C + np.outer(b - center, b - center)) for a, b, C in zip(r, means, covariances, strict=True)
        )
        filled = row.copy()
        filled[m] = center
        assert_allclose(mean, filled, rtol=1e-7)
        assert_allclose(spread, expected, rtol=1e-7, atol=1e-10)
    assert_allclose(model.impute(rows), found.mean)


@pytest.mark.parametrize(
    ("options", "data", "told"),
    [
        ({"covariance_prior": np.diag([1.0, 1.0, -1.0])}, X, "positive definite"),
        ({"covariance_prior": np.diag([1.0, 1.0, 0.0])}, X, "positive definite"),
        ({"covariance_prior": np.ones((2, 2))}, X, "positive definite|shape|broadcast"),
        ({"degrees_of_freedom_prior": 2.0}, X, "must be greater than 2, but got 2.000"),
        ({"mean_prior": [0.0, 1.0]}, X, "mean_prior must have shape"),
        ({"n_components": 61}, X, "n_samples >= n_components"),
        ({}, np.c_[X, np.full(60, np.nan)], "no observed entry"),
        ({"covariance_prior": [1.0, 0.0, 1.0], "covariance_type": "diag"}, X, "positive definite"),
    ],
)
def test_what_is_no_prior_is_refused(options, data, told):
    with pytest.raises(ValueError, match=told):
        BayesianGaussianMixture(**{"n_components": 2, "random_state": 0, **options}).fit(data)


def test_as_many_components_as_rows_are_allowed():
    model = BayesianGaussianMixture(n_components=4, random_state=0, max_iter=200).fit(X[[0, 10, 30, 50]])
    assert_allclose(model.weights_.sum(), 1)
    default = BayesianGaussianMixture(n_components=2, random_state=0).fit(X)
    same = dict(mean_precision_prior=1.0, degrees_of_freedom_prior=3.0)
    told = BayesianGaussianMixture(n_components=2, random_state=0, **same).fit(X)
    assert_allclose(told.means_, default.means_)
    assert_allclose(told.lower_bound_, default.lower_bound_)


@pytest.mark.parametrize("process", ["dirichlet_process", "dirichlet_distribution"])
def test_weights_of_a_belief_are_its_expectations(process):
    model = BayesianGaussianMixture(
        n_components=3, weight_concentration_prior_type=process, random_state=0
    ).fit(X)
    a = np.asarray(model.weight_concentration_)
    if process == "dirichlet_distribution":
        expected = a / a.sum()
    else:
        stick = a[0] / (a[0] + a[1])
        expected = np.array([stick[0], stick[1] * (1 - stick[0]), stick[2] * (1 - stick[1]) * (1 - stick[0])])
        expected = expected / expected.sum()
        mass = a[0] - 1
        assert_allclose(a[1] - a[1][2], [mass[1] + mass[2], mass[2], 0], atol=1e-9)
    assert_allclose(model.weights_, expected, rtol=1e-9)


TWO = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 3.0]])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: PoissonMixture(2, parameters_init=[[1.0], [2.0]]).fit(TWO), "2 components of 2 columns"),
        (lambda: PoissonMixture(2, parameters_init=[[1.0, 2.0]]).fit(TWO), "it has 1 of 2"),
        (lambda: PoissonMixture(2, weights_init=[1.0]).fit(TWO), r"shape \(2,\); got \(1,\)"),
        (lambda: PoissonMixture(2, weights_init=[1.5, -0.5]).fit(TWO), "must be probabilities"),
        (lambda: PoissonMixture(2, weights_init=[0.5, 0.5001]).fit(TWO), "must be probabilities"),
        (lambda: AspectModel(2).fit(np.zeros((2, 2))), "all its entries are zero"),
        (
            lambda: AspectModel(2, drop_empty=False).fit(TWO[:, [0, 0]] * [1.0, 0.0]),
            "document 0 has no counts",
        ),
        (lambda: AspectModel(2, drop_empty=False).fit(TWO[2:] * [1.0, 0.0]), "word 1 has no counts"),
        (lambda: AspectModel(1, init=([1.0], [[0.25] * 4], [[1.0]])).fit(TWO), "init must hold arrays"),
        (lambda: AspectModel(1, init=([1.0], [[0.5] * 2], [[0.5] * 2])).fit(TWO), "init must hold arrays"),
        (
            lambda: AspectModel(1, init=([0.5] * 2, [[0.25] * 4], [[0.5] * 2])).fit(TWO),
            "init must hold arrays",
        ),
        (lambda: AspectModel(1, init=([1.0], [[0.25] * 4], [[1.0, 0.0]])).fit(TWO), "probability zero"),
        (lambda: GaussianMixture(2, random_state=0).fit(X).conditional(X[0]), "at least one of them NaN"),
        (lambda: GaussianMixture(2, random_state=0).fit(X).conditional([np.nan, 1]), "one row of 3 entries"),
        (lambda: gaussian("diag", [[1.0] * 3, [1.0, 0.0, 1.0]]), "should be positive"),
        (lambda: gaussian("spherical", [1.0, 0.0]), "should be positive"),
        (lambda: gaussian("full", [np.eye(3), -np.eye(3)]), "symmetric, positive-definite"),
        (lambda: gaussian("tied", [np.eye(3), np.eye(3)]), "precisions_init must have shape"),
    ],
)
def test_starts_and_questions_that_are_none_are_refused(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def gaussian(kind, precisions):
    return GaussianMixture(2, covariance_type=kind, precisions_init=precisions, random_state=0).fit(X)


def test_topics_that_start_equal_are_told():
    with pytest.warns(UserWarning, match="all topics are identical"):
        AspectModel(2, init=([0.5] * 2, [[0.25] * 4] * 2, [[0.5] * 2] * 2)).fit(TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one topic is no pair of equal ones
        one = AspectModel(1, max_iter=50).fit(TWO)
    assert_allclose(one.components_, [TWO.sum(axis=0) / TWO.sum()])


def test_empty_documents_and_words_are_dropped_where_asked():
    wide = np.zeros((5, 3))
    wide[np.ix_([0, 1, 3, 4], [0, 2])] = TWO
    model = AspectModel(1, drop_empty=True, max_iter=50).fit(wide)
    assert_allclose(model.components_, [[10 / 19, 0.0, 9 / 19]])
    assert_allclose(model.transform(wide), np.ones((5, 1)))


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 2.0])
def test_smoothing_of_rates_adds_rows_of_one(smoothing):
    model = PoissonMixture(1, smoothing=smoothing, random_state=0, tol=1e-12).fit(COUNTS)
    rate = (17 + smoothing) / (5 + smoothing)  # so many rows of one more
    assert_allclose(model.rates_, [[rate]])
    loglik = stats.poisson(rate).logpmf(COUNTS).sum()
    assert_allclose(model.trace_.objective[-1], loglik + smoothing * (np.log(rate) - rate), rtol=1e-9)


def test_topics_are_looked_for_until_they_stay():
    model = AspectModel(2, random_state=0, max_iter=50).fit(TWO @ [[1.0, 2, 0, 1], [0, 1, 3, 1]])
    row, words = np.array([[3.0, 1.0, 0.0, 2.0]]), model.components_

    def once(topics):
        resp = topics[:, None] * words
        return (resp / resp.sum(axis=0)) @ row[0] / row.sum()

    one = once(model.weights_)
    assert_allclose(model.fold_in(row, max_iter=1)[0], one)
    assert_allclose(model.fold_in(row, max_iter=3, tol=0.0)[0], once(once(one)))
    assert_allclose(model.fold_in(row, tol=1.0)[0], one)
    moved = np.abs(one - model.weights_).max()
    assert_allclose(model.fold_in(row, tol=0.99 * moved, max_iter=2)[0], once(one))
