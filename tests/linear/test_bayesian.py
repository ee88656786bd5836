"""Bayesian linear regression: posteriors by hand, sequential equals batch, evidence and its maximum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_diabetes

from gnomon.linear import BayesianLinearRegression, BayesianRidge, Ridge, compare_evidence, log_evidence

ONES = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
YB = np.array([1.0, 2.0, 4.0])
POWERS = np.arange(-2.0, 4.0)[:, None] ** np.arange(3)
YP = np.array([4.1, 0.9, 0.2, 1.3, 3.7, 9.4])
PLAIN = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}


def by_hand():
    return BayesianLinearRegression(1.0, 0.5, fit_intercept=False)


def seeded(seed, n=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)


# oracles


def test_posterior_by_hand():
    """R33, R34."""
    model = by_hand().fit(ONES, YB)
    np.testing.assert_allclose(model.coef_, [34 / 41, 56 / 41], rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, np.array([[11, -6], [-6, 7]]) / 41, rtol=1e-9)
    predictive = model.predict_distribution([[1.0, 3.0]])
    np.testing.assert_allclose(predictive.mean(), 202 / 41, rtol=1e-9)
    np.testing.assert_allclose(predictive.var(), 1.4268292683, rtol=1e-9)
    np.testing.assert_allclose(model.log_evidence_, -5.1104662280, rtol=1e-9)
    np.testing.assert_allclose(model.probability_positive(), [0.9453112604, 0.9995260921], rtol=1e-9)
    np.testing.assert_allclose(model.entropy(), 0.9810910331, rtol=1e-9)
    np.testing.assert_allclose(by_hand().prior(2).entropy(), 2.8378770664, rtol=1e-9)


def test_row_by_row_by_hand():
    """R35."""
    model, means, variances, entropies = by_hand().prior(2), [], [], []
    for x, y in zip(ONES, YB, strict=True):
        variances.append(model.predict_distribution([x]).var()[0])
        entropies.append(model.entropy())
        model.partial_fit([x], [y])
        means.append(model.coef_)
    np.testing.assert_allclose(means[0], [2 / 3, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(means[1], [10 / 11, 8 / 11], rtol=1e-9)
    np.testing.assert_allclose(variances, [1.5, 11 / 6, 41 / 22], rtol=1e-9)
    drops = -np.diff([*entropies, model.entropy()])
    np.testing.assert_allclose(drops, [0.5493061443, 0.6496414921, 0.6578383970], rtol=1e-9)


def test_flat_intercept_by_hand():
    """R36."""
    x, y = np.arange(4.0)[:, None], np.array([1.0, 2.0, 2.5, 4.0])
    model = BayesianLinearRegression(2.0, 0.5).fit(x, y)
    np.testing.assert_allclose(model.coef_, 0.7916666667, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, 1 / 12, rtol=1e-9)
    predictive = model.predict_distribution([[5.0]])
    np.testing.assert_allclose(
        [predictive.mean()[0], predictive.var()[0]], [5.1458333333, 1.6458333333], rtol=1e-9
    )
    np.testing.assert_allclose(model.log_evidence_, -3.5400578967, rtol=1e-9)
    np.testing.assert_allclose(log_evidence(x, y, 2.0, 0.5, fit_intercept=True), -3.5400578967, rtol=1e-9)


def test_evidence_curve_and_its_maximum():
    """R38."""
    curve = log_evidence(POWERS, YP, [0.01, 0.1, 1.0, 10.0], 0.1)
    np.testing.assert_allclose(
        curve, [-14.6902023424, -11.2850274884, -8.3168918117, -9.6122624853], rtol=1e-9
    )
    model = BayesianRidge(fixed_noise_variance=0.1, fit_intercept=False, tol=1e-13, **PLAIN).fit(POWERS, YP)
    np.testing.assert_allclose(model.lambda_, 2.8107432146, rtol=1e-6)
    np.testing.assert_allclose(model.log_evidence_, -7.7373005772, rtol=1e-9)


def test_diabetes():
    """R45."""
    X, y = load_diabetes(return_X_y=True)
    model = BayesianRidge(tol=1e-10).fit(X, y)
    np.testing.assert_allclose([model.alpha_, model.lambda_], [3.41019507e-4, 1.14622962e-5], rtol=1e-6)
    np.testing.assert_allclose(model.coef_[:2], [-4.23356257, -226.32799127], rtol=1e-6)
    np.testing.assert_allclose(model.predict(X[:2], return_std=True)[1], [54.529451, 54.612920], rtol=1e-6)


# properties


@given(st.integers(0, 10_000), st.booleans())
def test_sequential_equals_batch_in_any_order(seed, conjugate):
    X, y = seeded(seed)
    noise = "conjugate" if conjugate else "known"
    options = {"prior_precision": 0.7, "noise_variance": 0.3, "fit_intercept": False, "noise": noise}
    batch, model = BayesianLinearRegression(**options).fit(X, y), BayesianLinearRegression(**options).prior(3)
    for i in np.random.default_rng(seed).permutation(len(y)):
        before = model.covariance_
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if not conjugate:
            assert np.linalg.eigvalsh(before - model.covariance_).min() >= -1e-10
    np.testing.assert_allclose(model.coef_, batch.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.covariance_, batch.covariance_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.log_evidence_, batch.log_evidence_, rtol=1e-9)


@given(st.integers(0, 10_000))
def test_covariance_ignores_the_target_and_predictions_keep_their_noise(seed):
    X, y = seeded(seed)
    a, b = BayesianLinearRegression().fit(X, y), BayesianLinearRegression().fit(X, y[::-1])
    np.testing.assert_array_equal(a.covariance_, b.covariance_)
    assert (a.predict(X, return_std=True)[1] ** 2 >= a.noise_variance).all()


@given(st.integers(0, 10_000), st.floats(0.1, 10.0), st.floats(0.1, 5.0))
def test_mean_is_ridge(seed, lam, s2):
    X, y = seeded(seed)
    for intercept in (False, True):
        model = BayesianLinearRegression(lam, s2, fit_intercept=intercept).fit(X, y)
        expected = Ridge(lam * s2, fit_intercept=intercept).fit(X, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-8, atol=1e-10)


@given(st.integers(0, 10_000))
def test_evidence_is_likelihood_times_prior_over_posterior(seed):
    X, y = seeded(seed)
    w = np.random.default_rng(seed + 1).normal(size=3)
    model = BayesianLinearRegression(0.5, 0.8, fit_intercept=False).fit(X, y)
    joint = stats.norm(X @ w, np.sqrt(0.8)).logpdf(y).sum() + stats.norm(0, np.sqrt(2.0)).logpdf(w).sum()
    np.testing.assert_allclose(model.log_evidence_, joint - model.posterior().logpdf(w), rtol=1e-8)
    direct = stats.multivariate_normal(np.zeros(12), 0.8 * np.eye(12) + X @ X.T / 0.5).logpdf(y)
    np.testing.assert_allclose(model.log_evidence_, direct, rtol=1e-8)
    np.testing.assert_allclose(log_evidence(X, y, 0.5, 0.8), direct, rtol=1e-8)


@given(st.integers(0, 10_000))
def test_entropy_drops_by_the_lemma(seed):
    X, y = seeded(seed)
    model = BayesianLinearRegression(1.0, 0.4, fit_intercept=False).fit(X, y)
    x = np.random.default_rng(seed).normal(size=(1, 3))
    gain = 0.5 * np.log1p(x @ model.covariance_ @ x.T / 0.4)[0, 0]
    before = model.entropy()
    np.testing.assert_allclose(before - model.partial_fit(x, [0.0]).entropy(), gain, rtol=1e-8)


@given(st.integers(0, 10_000))
def test_predictive_is_a_gaussian_process_and_a_kalman_filter(seed):
    X, y = seeded(seed)
    new, lam, s2 = np.random.default_rng(seed).normal(size=(4, 3)), 0.6, 0.3
    model = BayesianLinearRegression(lam, s2, fit_intercept=False).fit(X, y)
    K = X @ X.T / lam + s2 * np.eye(len(X))
    cross = new @ X.T / lam
    np.testing.assert_allclose(model.predict(new), cross @ np.linalg.solve(K, y), rtol=1e-7, atol=1e-9)
    process = s2 * np.eye(4) + new @ new.T / lam - cross @ np.linalg.solve(K, cross.T)
    np.testing.assert_allclose(model.predict(new, return_cov=True)[1], process, rtol=1e-7, atol=1e-9)
    m, P = np.zeros(3), np.eye(3) / lam
    for x, t in zip(X, y, strict=True):
        gain = P @ x / (s2 + x @ P @ x)
        m, P = m + gain * (t - x @ m), P - np.outer(gain, x @ P)
    np.testing.assert_allclose(model.coef_, m, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.covariance_, P, rtol=1e-7, atol=1e-10)


@given(st.integers(0, 10_000))
def test_fixed_point_of_mackay_is_the_maximum(seed):
    X, y = seeded(seed, n=30)
    model = BayesianRidge(fit_intercept=False, tol=1e-12, max_iter=5000, **PLAIN).fit(X, y)
    if np.isinf(model.lambda_):
        return
    e = np.linalg.eigvalsh(X.T @ X)
    gamma = (model.alpha_ * e / (model.lambda_ + model.alpha_ * e)).sum()
    rss = ((y - model.predict(X)) ** 2).sum()
    np.testing.assert_allclose(model.lambda_ * model.coef_ @ model.coef_, gamma, rtol=1e-6)
    np.testing.assert_allclose(model.alpha_ * rss, len(y) - gamma, rtol=1e-6)
    grid = np.exp(np.linspace(-2, 2, 41))
    others = log_evidence(X, y, (model.lambda_ * grid)[:, None], (grid / model.alpha_)[None])
    assert others.max() <= model.log_evidence_ + 1e-8


# conjugate noise, samples, models compared


def test_conjugate_noise_against_quadrature():
    X, y = seeded(3)
    model = BayesianLinearRegression(
        0.5, noise="conjugate", noise_shape=2.0, noise_rate=1.5, fit_intercept=False
    )
    model.fit(X, y)
    grid = np.exp(np.linspace(-6, 6, 4001))
    weights = stats.invgamma(2.0, scale=1.5).pdf(grid) * grid * (np.log(grid[1]) - np.log(grid[0]))
    inner = [
        stats.multivariate_normal(np.zeros(12), s * (np.eye(12) + X @ X.T / 0.5)).logpdf(y) for s in grid
    ]
    np.testing.assert_allclose(model.log_evidence_, np.log((weights * np.exp(inner)).sum()), rtol=1e-6)
    law = model.predict_distribution(X[:1])
    assert law.kwds == {} and law.args[0] == 2 * model.noise_shape_ == 4.0 + 12


def test_samples_follow_the_posterior():
    X, y = seeded(4)
    model = BayesianLinearRegression(1.0, 0.3).fit(X, y)
    draws = model.sample_coef(20_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=4 * np.sqrt(0.1 / 20_000))
    np.testing.assert_allclose(np.cov(draws.T), model.covariance_, atol=0.003)
    values = model.sample_y(X[:2], 20_000, random_state=0)
    law = model.predict_distribution(X[:2])
    np.testing.assert_allclose(values.mean(axis=1), law.mean(), atol=0.03)
    np.testing.assert_allclose(values.std(axis=1), law.std(), rtol=0.03)


def test_marginals_and_joint_blocks():
    model = by_hand().fit(ONES, YB)
    np.testing.assert_allclose(model.posterior(1).std(), np.sqrt(7 / 41))
    np.testing.assert_allclose(model.posterior((0, 1)).cov, model.covariance_)
    low, high = model.credible_intervals(0.9)
    np.testing.assert_allclose(stats.norm(model.coef_, np.sqrt(np.diag(model.covariance_))).cdf(high), 0.95)
    assert (low < model.coef_).all()


def test_evidence_prefers_the_parabola():
    x = np.linspace(-2, 3, 25)
    y = 1 + 0.5 * x + x**2 + 0.3 * np.random.default_rng(0).normal(size=25)
    bases = {f"degree {p}": lambda X, p=p: X ** np.arange(p + 1) for p in range(6)}
    table = compare_evidence(bases, x[:, None], y)
    assert table.names[0] == "degree 2"
    np.testing.assert_allclose(table.probability.sum(), 1.0)
    assert (np.diff(table.log_evidence) <= 0).all()
    fixed = compare_evidence(bases, x[:, None], y, prior_precision=1.0, noise_variance=0.09)
    assert fixed.names[0] == "degree 2"


def test_no_signal_gives_no_coefficients():
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    model = BayesianRidge(fit_intercept=False, max_iter=1000, **PLAIN).fit(X, [1.0, 1.0, -1.0, -1.0])
    assert model.lambda_ == np.inf and model.coef_[0] == 0.0
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"prior_covariance": [[1.0, 2.0], [2.0, 1.0]]}, "prior_covariance"),
        ({"prior_mean": [1.0]}, "prior_mean"),
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"prior_precision": -1.0}, "prior_precision"),
    ],
)
def test_bad_priors(options, message):
    with pytest.raises(ValueError, match=message):
        BayesianLinearRegression(**options).fit(ONES, YB)


def test_flat_prior_needs_independent_columns():
    with pytest.raises(ValueError, match="prior_precision"):
        BayesianLinearRegression(0.0).fit(np.c_[YB, YB], YB)
    with pytest.raises(ValueError, match="fit_intercept=False"):
        BayesianLinearRegression().prior(2)


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn.linear_model import BayesianRidge as Peer

    X, y = load_diabetes(return_X_y=True)
    for intercept in (False, True):
        ours, theirs = (cls(fit_intercept=intercept, tol=1e-10).fit(X, y) for cls in (BayesianRidge, Peer))
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
        np.testing.assert_allclose(ours.sigma_, theirs.sigma_, rtol=1e-5, atol=1e-3)


def test_scores_begin_before_the_first_step():
    X, y = load_diabetes(return_X_y=True)
    given = {"alpha_init": 2e-4, "lambda_init": 1e-3, "fit_intercept": False}
    model = BayesianRidge(compute_score=True, **given, **PLAIN).fit(X, y)
    assert model.scores_.shape == (model.n_iter_ + 1,) and (np.diff(model.scores_) > 0).all()
    np.testing.assert_allclose(model.scores_[0], log_evidence(X, y, 1e-3, 5e3))
    np.testing.assert_array_equal(model.scores_[1:], model.trace_.objective)


def test_covariance_of_exact_data_keeps_its_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 10))
    model = BayesianRidge(fit_intercept=False).fit(X, X @ rng.normal(size=10))
    exact = np.linalg.inv(model.lambda_ * np.eye(10) + model.alpha_ * X.T @ X)
    np.testing.assert_allclose(model.sigma_, exact, rtol=1e-6, atol=1e-6 * exact.max())


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_log_evidence_and_log_hyperpriors(seed):
    X, y = seeded(seed)
    prior = {"alpha_1": 0.7, "alpha_2": 0.3, "lambda_1": 1.1, "lambda_2": 0.4}
    model = BayesianRidge(
        **prior, alpha_init=2.0, lambda_init=0.5, fit_intercept=False, compute_score=True, tol=1e-13
    ).fit(X, y)
    for score, a, lam in ((model.scores_[0], 2.0, 0.5), (model.scores_[-1], model.alpha_, model.lambda_)):
        hyper = 0.7 * np.log(a) - 0.3 * a + 1.1 * np.log(lam) - 0.4 * lam
        assert score == pytest.approx(log_evidence(X, y, lam, 1.0 / a) + hyper, rel=1e-10)
    # the fixed point is a maximum: no other precision scores more
    best = model.scores_[-1]
    for factor in (0.99, 1.01):
        a, lam = model.alpha_, model.lambda_ * factor
        hyper = 0.7 * np.log(a) - 0.3 * a + 1.1 * np.log(lam) - 0.4 * lam
        assert log_evidence(X, y, lam, 1.0 / a) + hyper < best


@pytest.mark.parametrize(("n", "d"), [(30, 4), (5, 9)])
def test_covariance_is_the_inverse_of_both_precisions(n, d):
    X, y = seeded(1, n, d)
    model = BayesianRidge(alpha_init=1.0, lambda_init=1.0).fit(X, y)
    Z = X - X.mean(axis=0)
    exact = np.linalg.inv(model.lambda_ * np.eye(d) + model.alpha_ * Z.T @ Z)
    np.testing.assert_allclose(model.sigma_, exact, rtol=1e-8, atol=1e-10 * exact.max())
    _, std = model.predict(X[:3], return_std=True)
    np.testing.assert_allclose(std**2, 1 / model.alpha_ + np.diag(Z[:3] @ exact @ Z[:3].T))


def test_silent_data_leave_no_covariance():
    X = np.repeat([[1.0], [-1.0]], 4, axis=0)
    model = BayesianRidge(**PLAIN).fit(X, [1.0, -1, 1, -1, 1, -1, 1, -1])
    assert model.lambda_ == np.inf and not model.sigma_.any() and not model.coef_.any()
    assert model.predict([[5.0]], return_std=True)[1] == pytest.approx(1 / np.sqrt(model.alpha_))


@pytest.mark.parametrize(("lam", "s2"), [(0.0, 1.0), (1.0, 0.0), ([1.0, -1.0], 1.0)])
def test_evidence_needs_positive_precision_and_variance(lam, s2):
    with pytest.raises(ValueError, match="must be positive"):
        log_evidence(ONES, YB, lam, s2)
