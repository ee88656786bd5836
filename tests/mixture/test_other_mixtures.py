"""Mixtures of other families, EM in general, and one Gaussian with holes."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions import Exponential, Gaussian, Laplace, Poisson, Product, StudentT
from gnomon.mixture import (
    BayesianGaussianMixture,
    BernoulliMixture,
    BinomialMixture,
    CategoricalMixture,
    ExponentialMixture,
    GaussianMixture,
    MissingGaussian,
    Mixture,
    MultinomialMixture,
    PoissonMixture,
    empirical_joint,
    expected_complete_loglik,
    lower_bound,
    run_em,
)
from gnomon.mixture.framework import bound_gap

QUAKES = """13,14,8,10,16,26,32,27,18,32,36,24,22,23,22,18,25,21,21,14,8,11,14,23,18,
17,19,20,22,19,13,26,13,14,22,24,21,22,26,21,23,24,27,41,31,27,35,26,28,36,
39,21,17,22,17,19,15,34,10,15,22,18,15,20,15,22,19,16,30,27,29,23,20,16,21,
21,25,16,18,15,18,14,10,15,8,15,6,11,8,7,18,16,13,12,13,20,15,16,12,18,15,
16,13,15,16,11,11"""
QUAKES = np.array([float(v) for v in QUAKES.split(",")])[:, None]


def column(*values):
    return np.array(values, dtype=float)[:, None]


def states(model, X, **options):
    """Fitted copies: the start, then after every step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return list(model.iterate(X, **options))


def coins(p, q, lam, **options):
    start = dict(weights_init=[lam, 1 - lam], parameters_init=[[p], [q]])
    return BinomialMixture(2, n_trials=3, ordered=True, **start, **options)


def test_two_coins():
    seen = states(coins(0.3, 0.6, 0.3, tol=1e-13, max_iter=500), column(3, 0, 3, 0, 3))
    assert_allclose(seen[0].predict_proba(column(3, 0))[:, 0], [0.0508474576, 0.6966824645], atol=1e-9)
    assert_allclose(seen[-1].trace_.objective[:2], [-9.3360423651, -5.7837312806], atol=1e-9)
    assert_allclose(seen[1].weights_[0], 0.3091814604, atol=1e-9)
    assert_allclose(seen[1].probabilities_.ravel(), [0.0986749805, 0.8243720930], atol=1e-9)
    assert_allclose(seen[-1].weights_, [0.4, 0.6], atol=1e-6)
    assert_allclose(seen[-1].probabilities_.ravel(), [0, 1], atol=1e-6)
    assert_allclose(seen[-1].trace_[-1], -3.3650583350, atol=1e-9)


def test_equal_coins_never_part_and_are_reported():
    with pytest.warns(ConvergenceWarning, match="identical"):
        model = coins(0.7, 0.7, 0.3).fit(column(3, 0, 3, 0, 3))
    assert_allclose(model.probabilities_.ravel(), [0.6, 0.6], rtol=1e-12)
    assert_allclose(model.weights_[0], 0.3, rtol=1e-12)
    assert_allclose(model.trace_[-1], -10.0951750051, atol=1e-9)


def test_six_groups_of_tosses():
    X = column(3, 2, 0, 1, 3, 0)
    seen = states(coins(0.6, 0.4, 0.5, tol=1e-14, max_iter=2000), X)
    first = [0.7714286, 0.6, 0.2285714, 0.4, 0.7714286, 0.2285714]
    assert_allclose(seen[0].predict_proba(X)[:, 0], first, atol=1e-6)
    assert_allclose(seen[1].probabilities_.ravel(), [0.6920635, 0.3079365], atol=1e-6)
    assert_allclose(seen[-1].probabilities_.ravel(), [0.8726780, 0.1273220], atol=1e-6)
    assert_allclose(seen[-1].trace_[-1], -10.1751927, atol=1e-6)


def test_table_of_triples_is_recovered():
    weight = np.array([0.3076, 0.2412, 0.1548, 0.2964])
    model = coins(0.8, 0.3, 0.5, tol=0, max_iter=1500)
    model.fit(column(0, 1, 2, 3), sample_weight=weight)
    order = np.argsort(-model.probabilities_.ravel())
    assert_allclose(model.probabilities_.ravel()[order], [0.9, 0.2], atol=1e-6)
    assert_allclose(model.weights_[order], [0.4, 0.6], atol=1e-6)


@pytest.mark.parametrize(
    ("K", "cost", "aic", "bic", "weights", "rates"),
    [
        (1, 391.9189282, 785.838, 788.511, [1], [19.3644860]),
        (2, 360.3690436, 726.738, 734.757, [0.6757257, 0.3242743], [15.7771081, 26.8398948]),
        (
            3,
            356.8489391,
            723.698,
            737.062,
            [0.2775667, 0.5927796, 0.1296537],
            [12.7360777, 19.7855210, 31.6298071],
        ),
    ],
)
def test_earthquakes(K, cost, aic, bic, weights, rates):
    model = PoissonMixture(K, random_state=0, tol=1e-13, max_iter=20000).fit(QUAKES)
    order = np.argsort(model.rates_.ravel())
    assert_allclose(-model.trace_[-1], cost, atol=1e-6)
    assert_allclose([model.aic(QUAKES), model.bic(QUAKES)], [aic, bic], atol=1e-3)
    assert_allclose(model.rates_.ravel()[order], rates, atol=1e-4)
    assert_allclose(model.weights_[order], weights, atol=1e-5)


def test_one_step_on_earthquakes():
    model = PoissonMixture(2, weights_init=[0.5, 0.5], parameters_init=[[15], [25]], tol=0, max_iter=2)
    seen = states(model, QUAKES)
    assert_allclose(-seen[-1].trace_.objective, [361.8019391, 361.1028998], atol=1e-6)
    assert_allclose(seen[1].weights_, [0.5487807, 0.4512193], atol=1e-6)
    assert_allclose(seen[1].rates_.ravel(), [14.7682678, 24.9544853], atol=1e-6)


def test_bernoulli_mixture_step():
    X = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])
    theta = np.array([0.7, 0.6, 0.4, 0.3])
    start = dict(weights_init=[0.5, 0.5], parameters_init=[theta, 1 - theta])
    seen = states(BernoulliMixture(2, tol=0, max_iter=2, **start), X)
    first = [0.9245283, 0.8448276, 0.8448276, 0.0754717, 0.1551724, 0.1551724]
    assert_allclose(seen[0].predict_proba(X)[:, 0], first, atol=1e-6)
    assert_allclose(seen[1].probabilities_[0], [0.8713945, 0.6415094, 0.3584906, 0.1286055], atol=1e-6)
    assert_allclose(seen[-1].trace_.objective, [-15.3593162, -13.3659227], atol=1e-6)


def test_multinomial_mixture_step():
    X = np.array([[5, 1, 0], [4, 2, 1], [0, 3, 5], [1, 2, 6]])
    start = dict(weights_init=[0.5, 0.5], parameters_init=[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    seen = states(MultinomialMixture(2, ordered=True, tol=0, max_iter=2, **start), X)
    assert_allclose(seen[-1].trace_.objective, [-28.4739269, -26.8109871], atol=1e-6)
    assert_allclose(seen[1].weights_[0], 0.4845685, atol=1e-6)
    assert_allclose(seen[1].probabilities_[0], [0.6957239, 0.2291442, 0.0751319], atol=1e-6)
    with_coefficient = states(MultinomialMixture(2, tol=0, max_iter=1, **start), X)
    assert_allclose(with_coefficient[-1].trace_[0], -12.4734263, atol=1e-6)


def test_bound_touches_the_likelihood_only_at_the_posterior():
    family = Gaussian([[0], [2]], [[[1]], [[0.5]]])
    joint = family.log_density([0, 1]) + np.log(0.5)
    q = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert_allclose(lower_bound(joint, q), -3.1834753, atol=1e-6)
    assert_allclose(bound_gap(joint, q), 0.1042498, atol=1e-6)
    likelihood = np.logaddexp(*joint.T).sum()
    assert_allclose(likelihood, -3.0792254, atol=1e-6)
    assert_allclose(lower_bound(joint, q) - expected_complete_loglik(joint, q), 0.9980946, atol=1e-6)
    posterior = np.exp(joint - np.logaddexp(*joint.T)[:, None])
    assert_allclose(bound_gap(joint, posterior), 0, atol=1e-12)
    for q in np.random.default_rng(0).dirichlet([1, 1], (20, 2)):
        assert lower_bound(joint, q) <= likelihood + 1e-12
        assert bound_gap(joint, q) >= 0
    heads = np.array([3, 0, 3, 0, 3])[:, None]
    coins_joint = np.log([0.3, 0.7]) + heads * np.log([0.3, 0.6]) + (3 - heads) * np.log([0.7, 0.4])
    uniform = np.full((5, 2), 0.5)
    assert_allclose(lower_bound(coins_joint, uniform), -11.9713734217, atol=1e-9)
    assert_allclose(bound_gap(coins_joint, uniform), 2.6353310566, atol=1e-9)


def test_wrong_m_step_is_reported():
    x = np.array([0.0, 1.0])

    def e_step(mean):
        return x, -((x - mean) ** 2).sum()

    with pytest.warns(ConvergenceWarning, match="fell"):
        run_em(e_step, lambda x: x.sum() + 9, 0.5, max_iter=3, tol=0)


RNG = np.random.default_rng(0)
COUNTS = RNG.poisson([[1, 5, 2], [6, 1, 3]], (40, 2, 3)).reshape(80, 3).astype(float)
BINARY = (RNG.random((40, 2, 4)) < [[0.9, 0.8, 0.2, 0.1], [0.1, 0.3, 0.7, 0.9]]).reshape(80, 4).astype(float)
CODES = np.stack([RNG.permutation(np.arange(80) % 3), BINARY[:, 0], BINARY[:, 3] * 2], axis=1)
CASES = [
    (PoissonMixture(2), COUNTS),
    (MultinomialMixture(2), COUNTS),
    (BernoulliMixture(2), BINARY),
    (BinomialMixture(2, n_trials=20), COUNTS),
    (CategoricalMixture(2), CODES),
    (ExponentialMixture(2), COUNTS + 0.5),
    (Mixture("geometric", 2), COUNTS + 1),
    (Mixture("gamma", 2), COUNTS + 0.5),
    (Mixture("laplace", 2), COUNTS + 0.1 * RNG.standard_normal(COUNTS.shape)),
    (Mixture({(0, 1): "gaussian", (2,): "poisson"}, 2), COUNTS),
]


def name_of(value):
    return repr(value) if isinstance(value, Mixture | PoissonMixture) else type(value).__name__


@pytest.mark.parametrize(("model", "X"), CASES, ids=lambda v: name_of(v) if hasattr(v, "fit") else "")
@pytest.mark.parametrize("algorithm", ["em", "hard"])
def test_likelihood_never_falls(model, X, algorithm):
    model = type(model)(
        **{**model.get_params(), "algorithm": algorithm, "tol": 0, "max_iter": 15, "random_state": 0}
    )
    fitted = states(model, X)[-1]
    trace = fitted.trace_.objective
    assert np.all(np.diff(trace) >= -1e-6 * np.abs(trace[1:]))  # the gaussian adds reg_covar
    proba = fitted.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.array_equal(proba.argmax(axis=1), fitted.predict(X))
    assert fitted.sample(5, random_state=0)[0].shape == (5, X.shape[1])


@pytest.mark.parametrize(("model", "X"), CASES[:6], ids=lambda v: name_of(v) if hasattr(v, "fit") else "")
def test_smoothing_raises_the_penalized_likelihood(model, X):
    options = {"smoothing": 0.7, "tol": 0, "max_iter": 15, "random_state": 0}
    fitted = states(type(model)(**{**model.get_params(), **options}), X)[-1]
    trace = fitted.trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[1:]))


@pytest.mark.parametrize(("model", "X"), CASES, ids=lambda v: name_of(v) if hasattr(v, "fit") else "")
def test_one_component_is_the_plain_fit(model, X):
    one = type(model)(**{**model.get_params(), "n_components": 1}).fit(X)
    stack = one.components_
    plain = stack.fit(X)
    for a, b in zip(stack.parameters.values(), plain.parameters.values(), strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-5)


@pytest.mark.parametrize(("model", "X"), CASES[:6], ids=lambda v: name_of(v) if hasattr(v, "fit") else "")
def test_weight_two_is_the_row_twice(model, X):
    weight = np.ones(len(X))
    weight[:20] = 2
    options = {"random_state": 0, "tol": 0, "max_iter": 5}
    heavy = states(type(model)(**{**model.get_params(), **options}), X, sample_weight=weight)[-1]
    twice = states(type(model)(**{**model.get_params(), **options}), np.vstack([X[:20], X])[::-1])[-1]
    assert_allclose(heavy.predict_proba(X), twice.predict_proba(X), atol=1e-7)


def test_holes_are_left_out():
    X = COUNTS.copy()
    X[RNG.random(X.shape) < 0.2] = np.nan
    fitted = PoissonMixture(2, random_state=0).fit(X)
    dropped = fitted.score_samples(np.where([True, True, False], X, np.nan))
    two = PoissonMixture(
        2, weights_init=fitted.weights_, parameters_init=fitted.rates_[:, :2], max_iter=1, tol=0
    )
    start = states(two, X[:, :2])[0]
    assert_allclose(dropped, start.score_samples(X[:, :2]), rtol=1e-10)


def test_row_impossible_under_every_component_is_an_error():
    start = dict(weights_init=[0.5, 0.5], parameters_init=[[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(DegenerateError, match="impossible"):
        BernoulliMixture(2, **start).fit([[0, 1], [1, 0]])


def test_latent_class_tensor_and_its_marginals():
    model = CategoricalMixture(2, random_state=0, tol=1e-6).fit(CODES)
    table = model.joint_table()
    assert_allclose(table.sum(), 1)
    marginal = np.einsum("k,kl->l", model.weights_, model.probabilities_[:, 0])
    assert_allclose(table.sum(axis=(1, 2)), marginal)
    assert_allclose(table.sum(axis=(1, 2)), empirical_joint(CODES, [3, 3, 3]).sum(axis=(1, 2)), atol=1e-9)
    one = CategoricalMixture(1).fit(CODES).joint_table()
    a, b, c = (empirical_joint(CODES, 3).sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1)))
    assert_allclose(one, np.einsum("a,b,c->abc", a, b, c))


def test_fitting_a_table_is_fitting_its_rows():
    table = empirical_joint(CODES, 3)
    cells = np.argwhere(table > 0).astype(float)
    by_cell = CategoricalMixture(2, random_state=0, tol=0, max_iter=5)
    weighted = states(by_cell, cells, sample_weight=80 * table[table > 0])[-1]
    by_row = states(CategoricalMixture(2, random_state=0, tol=0, max_iter=5), CODES)[-1]
    assert_allclose(weighted.joint_table(), by_row.joint_table(), atol=1e-8)


def test_given_families_are_the_start():
    stack = Product([Gaussian([[0.0], [3.0]], [[[1.0]], [[1.0]]]), Poisson([[1.0], [4.0]])], [[0], [1]])
    assert states(Mixture(stack, 2), COUNTS[:, :2])[0].components_ is stack
    with pytest.raises(DataError, match="n_components=3"):
        Mixture(stack, 3).fit(COUNTS[:, :2])
    with pytest.raises(DataError, match="Did you mean 'poisson'"):
        Mixture("poison").fit(COUNTS)


@pytest.mark.parametrize("family", [Exponential(), Laplace(), StudentT(df=4.0)])
def test_heavy_tails_mix_too(family):
    X = np.vstack([np.abs(RNG.standard_normal((50, 1))), 8 + np.abs(RNG.standard_normal((50, 1)))])
    start = family.fit(X, np.eye(2)[np.arange(100) // 50]) if not family.fitted else family
    model = Mixture(start, 2, tol=1e-8, max_iter=500).fit(X)
    assert np.all(np.diff(model.trace_.objective) >= -1e-9 * abs(model.trace_[-1]))


# one Gaussian with holes

HOLES = np.array([[1, 2], [2, np.nan], [3, 5], [np.nan, 4], [4, 6]])


def test_tail_of_the_column_missing():
    X = np.array([[1, 2], [2, 3], [3, 5], [4, np.nan], [6, np.nan]])
    model = MissingGaussian(tol=1e-15, max_iter=5000).fit(X)
    assert_allclose(model.mean_, [3.2, 77 / 15], atol=1e-6)
    assert_allclose(model.covariance_, [[2.96, 4.44], [4.44, 6.7155556]], atol=1e-6)
    assert_allclose(model.trace_[-1], -9.7289238, atol=1e-6)
    mean, covariance = model.posterior(X)
    assert_allclose(mean[3:, 1], [19 / 3, 28 / 3], atol=1e-6)
    assert_allclose(covariance[3:, 1, 1], 1 / 18, atol=1e-6)


def test_zero_start_step_by_step():
    seen = states(MissingGaussian(tol=1e-15, max_iter=20000), HOLES)
    assert_allclose(seen[0].mean_, [2, 3.4], rtol=1e-12)
    assert_allclose(seen[0].covariance_, [[2, 1.4], [1.4, 4.64]], rtol=1e-12)
    mean, covariance = seen[0].posterior(HOLES)
    assert_allclose([mean[1, 1], covariance[1, 1, 1]], [3.4, 3.66], atol=1e-6)
    assert_allclose([mean[3, 0], covariance[3, 0, 0]], [2.1810345, 1.5775862], atol=1e-6)
    assert_allclose(seen[1].mean_, [2.4362069, 4.08], atol=1e-6)
    assert_allclose(seen[1].covariance_, [[1.3317955, 1.3651034], [1.3651034, 2.5976]], atol=1e-6)
    assert_allclose(seen[-1].trace_.objective[:3], [-13.3644646, -10.8027518, -9.2144901], atol=1e-6)
    last = seen[-1]
    assert_allclose(last.mean_, [2.4842942, 4.0861280], atol=1e-6)
    assert_allclose(last.covariance_, [[1.0035444, 1.3582887], [1.3582887, 1.8621622]], atol=1e-6)
    assert_allclose(last.trace_[-1], -6.0579308, atol=1e-6)
    filled = last.transform(HOLES)
    assert_allclose([filled[1, 1], filled[3, 0]], [3.4306398, 2.4214712], atol=1e-6)
    np.testing.assert_array_equal(last.impute(HOLES), filled)


def test_no_holes_one_step_is_maximum_likelihood():
    X = RNG.standard_normal((20, 3))
    model = MissingGaussian().fit(X)
    assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)
    assert_allclose(model.covariance_, np.cov(X.T, bias=True), rtol=1e-10)


def test_forgetting_the_conditional_covariance_shrinks_variances():
    seen = states(MissingGaussian(max_iter=1, tol=0), HOLES)
    filled = seen[0].transform(HOLES)
    assert np.all(np.diag(np.cov(filled.T, bias=True)) < np.diag(seen[1].covariance_))


def test_fully_missing_rows_change_nothing():
    more = np.vstack([HOLES, np.full((3, 2), np.nan)])
    a = MissingGaussian(tol=1e-15, max_iter=20000, init="mean").fit(HOLES)
    b = MissingGaussian(tol=1e-15, max_iter=20000, init="available").fit(more)
    assert_allclose(a.mean_, b.mean_, atol=1e-5)
    assert_allclose(a.covariance_, b.covariance_, atol=1e-5)
    assert_allclose(b.transform(more)[-1], b.mean_)


def test_is_the_one_component_mixture():
    X = RNG.standard_normal((60, 3)) @ RNG.standard_normal((3, 3))
    X[RNG.random(X.shape) < 0.2] = np.nan
    one = MissingGaussian(tol=1e-12, max_iter=5000).fit(X)
    mixture = GaussianMixture(1, tol=1e-12, max_iter=5000, reg_covar=0).fit(X)
    assert_allclose(one.covariance_, mixture.covariances_[0], atol=1e-4)
    assert_allclose(one.score_samples(X), mixture.score_samples(X), atol=1e-4)
    draws = one.sample_imputations(X, 400, random_state=0)
    mean, covariance = one.posterior(X)
    hole = np.argwhere(np.isnan(X))[0]
    values = draws[:, hole[0], hole[1]]
    assert abs(values.mean() - mean[tuple(hole)]) < 5 * values.std() / 20
    assert_allclose(values.var(), covariance[hole[0], hole[1], hole[1]], rtol=0.3)


def test_random_start_reaches_the_same_optimum():
    a = MissingGaussian(tol=1e-15, max_iter=20000, init="random", random_state=0).fit(HOLES)
    assert_allclose(a.trace_[-1], -6.0579308, atol=1e-5)


@pytest.mark.parametrize("size", [1e155, 1e300])
def test_rows_too_large_to_be_squared_are_named(size):
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[0, 0] = np.nan
    with pytest.raises(DataError, match="huge|large"):
        MissingGaussian().fit(size * X)
    model = MissingGaussian().fit(X)
    for ask in (model.score_samples, model.transform):
        with pytest.raises(DataError, match="so large that their squares overflow"):
            ask(size * X)


@pytest.mark.parametrize("kind", ["full", "diag", "tied", "spherical"])
def test_a_column_that_does_not_vary_is_no_obstacle_to_beliefs(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40) + 8.0 * (np.arange(40) % 2), np.full(40, 0.1)])
    model = BayesianGaussianMixture(n_components=2, covariance_type=kind, random_state=0).fit(X)
    assert len(set(model.predict(X) * 2 + np.arange(40) % 2)) == 2
