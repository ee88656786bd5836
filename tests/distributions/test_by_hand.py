"""Families of low rank, of categories, of beliefs and of samples: numbers by hand, by integrals and by SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.sums import merge
from gnomon.distributions import (
    Beta,
    Categorical,
    Conjugate,
    Dirichlet,
    Empirical,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    InverseGamma,
    LowRankGaussian,
    Multinomial,
    MultivariateStudentT,
    NegativeBinomial,
    NormalInverseGamma,
    NormalInverseWishart,
    StudentT,
)

# -- categories ------------------------------------------------------------------------------------------


CODES = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 0.0], [np.nan, 0.0]])


@pytest.mark.parametrize(
    ("n_levels", "expected"),
    [
        (None, [[2 / 5, 3 / 5, 0], [4 / 7, 1 / 7, 2 / 7]]),
        (3, [[2 / 6, 3 / 6, 1 / 6], [4 / 7, 1 / 7, 2 / 7]]),
        ([2, 4], [[2 / 5, 3 / 5, 0, 0], [4 / 8, 1 / 8, 2 / 8, 1 / 8]]),
    ],
)
def test_pseudo_counts_go_to_the_levels_of_the_column(n_levels, expected):
    found = Categorical(n_levels=n_levels).fit(CODES, prior=1)
    assert_allclose(found.p, [expected], rtol=1e-12)
    assert found.parameter_count() == np.sum(np.array(expected) > 0) - 2


def test_a_dirichlet_prior_of_categories_adds_its_concentrations_less_one():
    found = Categorical().fit(CODES, prior=Dirichlet([2.0, 1.0, 3.0]))
    assert_allclose(found.p, [[[2 / 4, 2 / 4, 0], [4 / 7, 0, 3 / 7]]], rtol=1e-12)
    assert_allclose(Categorical().fit(CODES).p, [[[1 / 3, 2 / 3, 0], [3 / 4, 0, 1 / 4]]], rtol=1e-12)


def test_counts_of_parts_with_other_levels_merge():
    family, w = Categorical(), np.array([[1.0, 0.5], [2.0, 0.0], [0.5, 3.0], [1.0, 1.0]])
    parts = [family.statistics(CODES[part], w[part]) for part in (slice(0, 1), slice(1, 4))]
    expected = np.array([[[1, 2.5, 0], [2.5, 0, 2]], [[0.5, 3, 0], [4.5, 0, 0]]])
    for found in (merge(*parts), merge(*parts[::-1])):
        assert_allclose(found.counts, expected, rtol=1e-12)


def test_moments_and_draws_of_categories():
    family = Categorical([[[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]], [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]])
    assert_allclose(family.mean(), [[1.3, 0.1], [0.5, 1.4]])
    assert_allclose(family.variance(), [[0.3 + 2.0 - 1.69, 0.09], [0.25, 0.2 + 2.4 - 1.96]])
    assert family.mode().tolist() == [[2, 0], [0, 2]]
    labels = np.repeat([0, 1], 20_000)
    X = family.sample(labels, 0)
    for k in (0, 1):
        for j in (0, 1):
            shares = np.bincount(X[labels == k, j].astype(int), minlength=3) / 20_000
            assert_allclose(shares, family.p[k, j], atol=0.015)
    assert_allclose(family.select(0).kl(family.select(1)), np.inf)
    other = Categorical([[[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]])
    by_hand = 0.2 * np.log(0.4) + 0.3 * np.log(1.2) + 0.5 * np.log(2) + 0.9 * np.log(1.8) + 0.1 * np.log(0.2)
    assert_allclose(family.select(0).kl(other), by_hand)


def test_the_likeliest_counts_are_the_best_of_all():
    p = np.array([0.45, 0.35, 0.2])
    for n in range(1, 8):
        every = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
        best = max(stats.multinomial(n, p).logpmf(x) for x in every)
        assert_allclose(stats.multinomial(n, p).logpmf(Multinomial(p, n=n).mode()[0]), best)
    family = Multinomial(p, n=6)
    assert_allclose(family.variance(), [6 * p * (1 - p)])
    uniform = Multinomial([1 / 3, 1 / 3, 1 / 3])
    gap = (p * np.log(3 * p)).sum()
    assert_allclose([Multinomial(p).kl(uniform), family.kl(uniform)], [[gap], [6 * gap]])
    assert_allclose(Multinomial(p, n=6, ordered=True).entropy(), [-6 * (p * np.log(p)).sum()])
    assert family.parameter_count() == 2


def test_a_belief_about_categories_needs_as_many_levels_as_the_data():
    belief = Conjugate(Categorical(), Dirichlet([1.0, 2.0, 3.0]))
    assert_allclose(belief.update([0, 1, 1]).prior.alpha, [[2, 4, 3]])
    with pytest.raises(DataError, match="4 levels"):
        belief.update([0, 3])
    with pytest.raises(DataError, match="one column"):
        belief.update([[0, 1], [1, 0]])
    assert_allclose(Conjugate(Categorical(n_levels=4), 1.0).update([0, 1, 1]).prior.alpha, [[3, 4, 2, 2]])


# -- samples ---------------------------------------------------------------------------------------------


def test_samples_in_two_columns_with_two_weights():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [4.0, 3.0]])
    sample = Empirical().fit(X, [[1, 0], [1, 1], [1, 0], [1, 3]])
    assert_allclose(sample.support, [[0, 1], [2, 0], [4, 3]])
    assert_allclose(sample.weights, [[0.5, 0.25, 0.25], [0, 0.25, 0.75]])
    assert_allclose(sample.density([[2, 0], [0, 1], [0, 0]]), [[0.25, 0.25], [0.5, 0], [0, 0]])
    assert_allclose(sample.mean(), [[1.5, 1.25], [3.5, 2.25]])
    assert_allclose(sample.variance(), [[5 - 2.25, 2.75 - 1.5625], [13 - 12.25, 6.75 - 5.0625]])
    assert_allclose(sample.mode(), [[0, 1], [4, 3]])
    assert_allclose(sample.cdf([[2, 1], [2, 0], [4, 3]]), [[0.75, 0.25], [0.25, 0.25], [1, 1]])
    assert_allclose(sample.entropy(2), [1.5, 2 - 0.75 * np.log2(3)])
    labels = np.repeat([0, 1], 4000)
    drawn = sample.sample(labels, 0)
    assert_allclose(drawn[labels == 0].mean(axis=0), [1.5, 1.25], atol=0.1)
    assert_allclose(drawn[labels == 1].mean(axis=0), [3.5, 2.25], atol=0.1)
    assert set(map(tuple, drawn[labels == 1])) == {(2, 0), (4, 3)}
    with pytest.raises(DataError, match="single column"):
        sample.quantile(0.5)


def test_quantiles_of_a_sample_are_the_first_points_with_the_mass():
    sample = Empirical([[3.0], [1.0], [2.0]], [[0.5, 0.25, 0.25], [0, 0, 1]])
    for q, expected in [
        (0, [1, 1]),
        (0.25, [1, 2]),
        (0.26, [2, 2]),
        (0.5, [2, 2]),
        (0.51, [3, 2]),
        (1, [3, 2]),
    ]:
        assert sample.quantile(q).ravel().tolist() == expected
    assert_allclose(Empirical([[3.0], [1.0]]).weights, [[0.5, 0.5]])
    for weights in ([[0.5, 0.25, 0.26]], [[1.5, -0.5, 0]], [[0.5, 0.5]]):
        with pytest.raises(DataError, match="one per point"):
            Empirical([[3.0], [1.0], [2.0]], weights)


# -- low rank --------------------------------------------------------------------------------------------


W = np.array(
    [[[1.0, 0.5], [0.3, -1.0], [0.0, 2.0], [1.5, 0.2]], [[0.2, 0.0], [0.1, 0.4], [1.0, 1.0], [-2.0, 0.3]]]
)
MU, PSI = np.array([[0.0, 1, 2, 3], [1, -1, 0, 0.5]]), np.array([[0.5, 1.0, 0.2, 2.0], [1.5, 0.3, 0.7, 0.9]])
LOW = LowRankGaussian(MU, W, PSI, rank=2, noise="diag")
FULL = [stats.multivariate_normal(m, w @ w.T + np.diag(p)) for m, w, p in zip(MU, W, PSI, strict=True)]


def test_low_rank_is_the_gaussian_with_that_covariance():
    X = np.random.default_rng(0).normal(size=(20, 4)) * 2
    assert_allclose(LOW.log_density(X), np.stack([f.logpdf(X) for f in FULL], axis=1), rtol=1e-11)
    assert_allclose(LOW.covariance_matrices(), [f.cov for f in FULL])
    assert_allclose(LOW.variance(), [np.diagonal(f.cov) for f in FULL])
    assert_allclose(LOW.mean(), MU)
    assert_allclose(LOW.mode(), MU)
    assert_allclose(LOW.entropy(), [f.entropy() for f in FULL])
    assert_allclose(LOW.kl(LOW.select([1, 0])), LOW.gaussian.kl(LOW.gaussian.select([1, 0])))
    assert_allclose(LOW.kl(LOW.gaussian), 0, atol=1e-12)
    holes = X.copy()
    holes[:, [1, 3]] = np.nan
    seen = [stats.multivariate_normal(f.mean[[0, 2]], f.cov[np.ix_([0, 2], [0, 2])]) for f in FULL]
    assert_allclose(
        LOW.log_density(holes), np.stack([f.logpdf(X[:, [0, 2]]) for f in seen], axis=1), rtol=1e-11
    )


def test_draws_of_low_rank_have_its_moments():
    labels = np.repeat([0, 1], 40_000)
    X = LOW.sample(labels, 0)
    for k in (0, 1):
        assert_allclose(X[labels == k].mean(axis=0), MU[k], atol=0.06)
        assert_allclose(np.cov(X[labels == k].T), FULL[k].cov, atol=0.12)


def test_parameters_of_low_rank_are_counted_less_rotations():
    assert LOW.parameter_count() == 2 * (4 + 8 - 1 + 4)
    assert LOW.replace(noise="spherical").parameter_count() == 2 * (4 + 8 - 1 + 1)
    shared = LowRankGaussian(MU, W[0], PSI[0], rank=2)
    assert shared.loadings.shape == (2, 4, 2) and shared.noises.shape == (2, 4)
    for wrong in (
        {"means": MU},
        {"means": MU, "loadings": W},
        {"means": MU, "loadings": W[:, :3], "noises": PSI},
        {"means": MU, "loadings": W, "noises": 0 * PSI},
        {"means": MU, "loadings": np.where(W == 0.5, np.inf, W), "noises": PSI},
        {"rank": 0},
        {"noise": "full"},
    ):
        with pytest.raises(DataError):
            LowRankGaussian(**wrong)


def test_equal_noise_is_the_mean_of_the_eigenvalues_that_are_left():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)), rng.uniform(0, 2, (60, 2))
    found = LowRankGaussian(rank=2).fit(X, w)
    for k in (0, 1):
        S = np.cov(X.T, aweights=w[:, k], bias=True)
        values, vectors = np.linalg.eigh(S)
        noise = values[:2].mean()
        expected = (vectors[:, 2:] * (values[2:] - noise)) @ vectors[:, 2:].T
        assert_allclose(found.means[k], w[:, k] @ X / w[:, k].sum())
        assert_allclose(found.noises[k], noise)
        assert_allclose(found.loadings[k] @ found.loadings[k].T, expected, rtol=1e-9, atol=1e-10)


def test_no_noises_nearby_are_likelier_than_those_of_the_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(80, 6)) * [0.5, 1, 2, 1, 0.3, 1]
    model = LowRankGaussian(rank=2, noise="diag")
    found = model.fit(X)
    best = found.log_likelihood(X)[0]
    assert best > LowRankGaussian(rank=2).fit(X).log_likelihood(X)[0]
    for _ in range(20):
        near = found.replace(
            noises=found.noises * (1 + 0.01 * rng.normal(size=6)),
            loadings=found.loadings + 0.01 * rng.normal(size=(6, 2)),
        )
        assert near.log_likelihood(X)[0] < best
    again = found.fit(X).log_likelihood(X)[0]  # from its own noises
    assert best - 1e-9 <= again < best + 0.05
    assert_allclose(np.diagonal(found.covariance_matrices()[0]), X.var(axis=0), rtol=1e-3)


def test_a_constant_column_has_a_little_noise_of_its_own():
    X = np.c_[np.random.default_rng(0).normal(size=(50, 3)), np.ones(50)]
    found = LowRankGaussian(rank=1, noise="diag").fit(X)
    assert_allclose(found.noises[0, 3], 1e-12 * X.var(axis=0).mean(), rtol=1e-6)
    assert_allclose(found.loadings[0, 3], 0, atol=1e-9)
    flat = LowRankGaussian(rank=1, noise="diag", min_noise=0.5).fit(np.c_[X[:, 0], 2 * X[:, 0], X[:, 1]])
    assert_allclose(flat.noises[0, :2], 0.5 * np.array([1, 4]) * X[:, 0].var())


def test_low_rank_without_weight_keeps_what_it_was():
    X = np.random.default_rng(0).normal(size=(30, 4))
    w = np.stack([np.zeros(30), np.ones(30)], axis=1)
    found = LOW.estimate(LOW.statistics(X, w))
    for name in ("means", "loadings", "noises"):
        assert_allclose(getattr(found, name)[0], getattr(LOW, name)[0])
    assert_allclose(found.means[1], X.mean(axis=0))
    with pytest.raises(DegenerateError, match="component 0"):
        LowRankGaussian().fit(X, w)
    with pytest.raises(DataError, match="below the number of columns"):
        LowRankGaussian(rank=4).fit(X)
    with pytest.raises(DataError, match="missing"):
        LowRankGaussian().fit(np.where(X > 1, np.nan, X))
    with pytest.raises(DataError, match="prior"):
        LowRankGaussian().fit(X, prior=1)
    with pytest.raises(DegenerateError, match="no column"):
        LowRankGaussian().fit(np.ones((5, 3)))


# -- beliefs ---------------------------------------------------------------------------------------------


NIG = NormalInverseGamma([[1.0, -1.0]], [[2.0, 0.5]], [[3.0, 2.5]], [[4.0, 1.5]])
SCALE = np.array([[2.0, 0.5], [0.5, 1.0]])
NIW = NormalInverseWishart([1.0, -1.0], 2.0, 6.0, SCALE)


def test_a_belief_about_mean_and_variance_is_scipys():
    mean, variance = np.array([[0.5, -0.7]]), np.array([[1.3, 0.6]])
    each = stats.invgamma(NIG.shape, scale=NIG.rate).logpdf(variance)
    each = each + stats.norm(NIG.location, np.sqrt(variance / NIG.kappa)).logpdf(mean)
    assert_allclose(NIG.log_density(mean, variance), each.sum(axis=1))
    assert_allclose(NIG.mean()[1], [np.diag([4 / 2, 1.5 / 1.5])])
    assert_allclose(NIG.mode()[1], [np.diag([4 / 4.5, 1.5 / 4])])
    spread = np.sqrt([[4 / 6, 1.5 / 1.25]])
    assert_allclose(NIG.interval(0.9), stats.t([[6.0, 5.0]], NIG.location, spread).interval(0.9))
    next_spread = np.sqrt([[4 * 3 / 6, 1.5 * 1.5 / 1.25]])
    assert_allclose(NIG.predictive().quantile(0.9), stats.t([[6.0, 5.0]], NIG.location, next_spread).ppf(0.9))
    means, variances = NIG.sample(40_000, 0)
    assert_allclose(means.mean(axis=0), [1, -1], atol=0.05)
    assert_allclose(
        np.median(variances, axis=0), stats.invgamma(NIG.shape[0], scale=NIG.rate[0]).median(), rtol=0.03
    )
    standard = (means - NIG.location) * np.sqrt(NIG.kappa / variances)
    assert_allclose(standard.std(axis=0), 1, atol=0.02)
    with pytest.raises(DegenerateError, match="infinite"):
        NormalInverseGamma(0.0, 1.0, 1.0, 1.0).mean()


def test_a_belief_about_mean_and_covariance_is_scipys():
    mean, C = np.array([0.5, -0.7]), np.array([[1.0, 0.2], [0.2, 0.8]])
    expected = stats.invwishart(6, SCALE).logpdf(C) + stats.multivariate_normal([1, -1], C / 2).logpdf(mean)
    assert_allclose(NIW.log_density(mean, C), [expected])
    flat = NormalInverseWishart([1.0, -1.0], 0.0, 6.0, SCALE)
    assert_allclose(flat.log_density(mean, C), [stats.invwishart(6, SCALE).logpdf(C)])
    only_mean = NormalInverseWishart([1.0, -1.0], 2.0, None, SCALE)
    assert_allclose(only_mean.log_density(mean, C), [stats.multivariate_normal([1, -1], C / 2).logpdf(mean)])
    assert_allclose(NIW.mean()[1], [SCALE / 3])
    assert_allclose(NIW.mode()[1], [SCALE / 10])
    spread = np.sqrt(np.diagonal(SCALE) / (2 * 5))
    assert_allclose(NIW.interval(0.9), np.array(stats.t(5, [1, -1], spread).interval(0.9))[:, None])
    t = NIW.predictive()
    assert_allclose([t.df[0], *t.location[0]], [5, 1, -1])
    assert_allclose(t.scale[0], SCALE * 3 / 10)
    means, matrices = NIW.sample(20_000, 0)
    assert_allclose(matrices.mean(axis=0), SCALE / 3, rtol=0.08)
    assert_allclose(np.cov(means.T), SCALE / 3 / 2, rtol=0.12)
    assert_allclose(means.mean(axis=0), [1, -1], atol=0.03)
    for df in (1.0, 0.5):
        with pytest.raises(DataError, match="d − 1"):
            NormalInverseWishart([0.0, 0.0], 1.0, df, SCALE)
    with pytest.raises(DegenerateError, match="infinite"):
        NormalInverseWishart([0.0, 0.0], 1.0, 3.0, SCALE).mean()


def test_a_belief_after_rows_by_the_textbook():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, -1.0]])
    average, scatter = X.mean(axis=0), np.cov(X.T, bias=True) * 3
    gap = average - [1, -1]
    after = NIW.posterior(Gaussian().statistics(X))
    assert_allclose(after.location[0], (2 * np.array([1, -1]) + 3 * average) / 5)
    assert_allclose([after.kappa[0], after.df[0]], [5, 9])
    assert_allclose(after.scale[0], SCALE + scatter + 2 * 3 / 5 * np.outer(gap, gap))
    after = NIG.posterior(Gaussian(covariance_type="diag").statistics(X))
    assert_allclose(after.kappa, NIG.kappa + 3)
    assert_allclose(after.shape, NIG.shape + 1.5)
    assert_allclose(after.location, (NIG.kappa * NIG.location + 3 * average) / (NIG.kappa + 3))
    between = NIG.kappa * 3 / (NIG.kappa + 3) * (average - NIG.location) ** 2
    assert_allclose(after.rate, NIG.rate + (np.diagonal(scatter) + between) / 2)
    with pytest.raises(DataError, match="full"):
        NIW.posterior(Gaussian(covariance_type="diag").statistics(X))


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_the_mode_of_one_column_is_that_of_both_beliefs(kind):
    x, prior = np.array([[1.0], [2.0], [4.0]]), NormalInverseGamma(0.5, 2.0, 1.5, 3.0)
    found = Gaussian(covariance_type=kind).fit(x, prior=prior)
    mean, variance = prior.posterior(Gaussian(covariance_type="diag").statistics(x)).mode()
    assert_allclose(found.means, mean)
    assert_allclose(np.ravel(found.covariances), np.ravel(variance))
    with pytest.raises(DataError, match="diag"):
        Gaussian(covariance_type="spherical").fit(x, prior=prior)


def test_a_known_covariance_and_a_belief_about_the_mean():
    known, prior = np.array([[2.0, 0.5], [0.5, 1.0]]), Gaussian([1.0, 0.0], [[1.0, 0.3], [0.3, 2.0]])
    X = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, -1.0]])
    after = Conjugate(Gaussian(covariances=known, covariance_type="fixed"), prior).update(X)
    precision = np.linalg.inv(prior.covariances[0]) + 3 * np.linalg.inv(known)
    mean = np.linalg.solve(
        precision,
        np.linalg.solve(prior.covariances[0], prior.means[0]) + 3 * np.linalg.solve(known, X.mean(axis=0)),
    )
    assert_allclose(after.prior.means[0], mean)
    assert_allclose(after.prior.covariances[0], np.linalg.inv(precision))
    assert_allclose(after.predictive().covariances[0], np.linalg.inv(precision) + known)


def test_central_intervals_of_shares_are_those_of_betas():
    low, high = Dirichlet([[2.0, 3.0, 5.0], [1.0, 1.0, 2.0]]).interval(0.8)
    each = stats.beta([[2, 3, 5], [1, 1, 2]], [[8, 7, 5], [3, 3, 2]])
    assert_allclose(low, each.ppf(0.1))
    assert_allclose(high, each.ppf(0.9))


def test_the_shortest_interval_of_every_column():
    belief = Conjugate(Exponential(), Gamma([[2.0, 5.0]], [[1.0, 3.0]]))
    low, high = belief.interval(0.8, kind="hpd")
    frozen = stats.gamma([[2.0, 5.0]], scale=[[1.0, 1 / 3]])
    assert_allclose(frozen.cdf(high) - frozen.cdf(low), 0.8)
    assert_allclose(frozen.pdf(high), frozen.pdf(low), rtol=1e-3)  # else one end could move and gain


# -- moments at the edge of existence --------------------------------------------------------------------


def test_moments_that_are_infinite():
    shape = np.array([[0.5, 1.0, 1.5, 2.0, 3.0]])
    inf = np.inf
    waiting = Exponential().predictive(Gamma(shape, 2.0))
    assert_allclose(waiting.mean(), [[inf, inf, 4, 2, 1]])
    assert_allclose(waiting.variance(), [[inf, inf, inf, inf, 3]])
    assert_allclose(waiting.mode(), np.zeros((1, 5)))
    inverse = InverseGamma(shape, 2.0)
    assert_allclose(inverse.mean(), [[inf, inf, 4, 2, 1]])
    assert_allclose(inverse.variance(), [[inf, inf, inf, inf, 1]])
    assert_allclose(inverse.mode(), 2 / (shape + 1))
    trials = Geometric().predictive(Beta(shape, 2.0))
    assert_allclose(trials.mean(), [[inf, inf, 5, 3, 2]])
    assert_allclose(trials.variance(), [[inf, inf, inf, inf, 6]])
    assert_allclose(trials.mode(), np.ones((1, 5)))
    t = MultivariateStudentT([0.5, 2.0, 4.0], np.ones((3, 2)), np.eye(2))
    assert_allclose(t.variance()[2], [2, 2])


def test_missing_entries_of_the_next_observations_count_for_nothing():
    waiting = Exponential().predictive(Gamma([[2.0, 3.0]], [[1.0, 4.0]]))
    one = stats.lomax([2.0, 3.0], scale=[1.0, 4.0]).logpdf(0.7)
    assert_allclose(waiting.log_density([[0.7, np.nan], [np.nan, 0.7]]).ravel(), one)
    assert_allclose(waiting.log_density([[0.7, 0.7], [0.7, -1.0]]).ravel(), [one.sum(), -np.inf])
    trials = Geometric().predictive(Beta([[2.0, 3.0]], [[1.0, 4.0]]))
    first = np.log([2 / 3, 3 / 7])
    assert_allclose(trials.log_density([[1, np.nan], [np.nan, 1], [1, 1]]).ravel(), [*first, first.sum()])
    assert_allclose(NegativeBinomial(3.0, 0.25).log_density([[np.nan], [1.0]]).ravel(), [0, np.log(9 / 256)])
    assert np.isfinite(StudentT(3.0, 0.0, 1.0).log_density([[np.nan]])).all()


def test_draws_of_the_next_number_of_trials():
    trials = Geometric().predictive(Beta(4.0, 2.0))
    x = trials.sample(20_000, 0)[:, 0]
    for value in (1, 2, 3):
        assert_allclose((x == value).mean(), trials.density([[float(value)]])[0, 0], atol=0.015)


def test_one_wrong_row_of_a_table_is_enough_to_refuse_it():
    for p in ([[0.5, 0.5], [0.9, 0.3]], [[0.9, 0.3], [0.5, 0.5]]):
        with pytest.raises(DataError, match="must sum to 1; got 1.2"):
            Categorical(p)


def test_a_belief_about_variances_is_for_independent_columns():
    X, prior = np.array([[1.0, 2.0], [2.0, 0.0], [4.0, 1.0]]), NormalInverseGamma([[0.0, 0.0]], 1.0, 2.0, 2.0)
    for kind in ("full", "tied", "spherical"):
        with pytest.raises(DataError, match="diag"):
            Gaussian(covariance_type=kind).fit(X, prior=prior)


def test_a_step_of_a_multivariate_t_by_hand():
    """Rows count u = (3 + 2)/(3 + δ²): 5/4, 5/7 and 1; a component without weight stays."""
    X, w = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]), np.array([1.0, 2.0, 0.5])
    before = MultivariateStudentT(3.0, [[0.0, 0.0], [5.0, 6.0]], [np.eye(2), 2 * np.eye(2)])
    after = before.estimate(before.statistics(X, np.column_stack([w, 0 * w])))
    mass = w * [5 / 4, 5 / 7, 1.0]
    center = mass @ X / mass.sum()
    scale = sum(m * np.outer(x - center, x - center) for m, x in zip(mass, X)) / 3.5
    assert_allclose(after.location, [center, [5, 6]], rtol=1e-12)
    assert_allclose(after.scale, [scale, 2 * np.eye(2)], rtol=1e-12)


def test_a_belief_about_a_mean_that_no_row_speaks_of_stays():
    """N(1, 3) and rows 1 and 2 of variance 2: precision 1/3 + 2/2, and a mean of (1/3 + 3/2)/(4/3)."""
    family = Gaussian(covariances=2.0, covariance_type="fixed")
    after = family.posterior(family.statistics([[1.0], [2.0]], [[1, 0], [1, 0]]), Gaussian(1, 3))
    assert_allclose(after.means.ravel(), [1.375, 1.0])
    assert_allclose(after.covariances.ravel(), [0.75, 3.0])
