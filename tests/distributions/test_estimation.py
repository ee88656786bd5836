"""Estimation principles, conjugate properties and information measures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gnomon.core.errors import DataError
from gnomon.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Conjugate,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Multinomial,
    Poisson,
    conditional_entropy,
    cross_entropy,
    csiszar_divergence,
    entropy,
    entropy_from_counts,
    estimate,
    huffman_lengths,
    jensen_shannon,
    kl_divergence,
    log_sum_gap,
    maximum_likelihood,
    mutual_information,
    relative_entropy,
)
from gnomon.distributions.information import surprise

PAIRS = [
    (Bernoulli(), Beta(2, 3), [1, 0, 1, 1, 0, 1]),
    (Binomial(4), Beta(2, 3), [3, 1, 4]),
    (Geometric(), Beta(2, 3), [3, 1, 4]),
    (Categorical(n_levels=3), Dirichlet([1, 2, 3]), [0, 1, 2, 2]),
    (Multinomial(), Dirichlet([1, 2, 3]), [[1, 2, 0], [0, 1, 4]]),
    (Poisson(), Gamma(2, 3), [3, 1, 4]),
    (Exponential(), Gamma(2, 3), [3.0, 1.0, 0.4]),
    (Gaussian(covariances=2.0, covariance_type="fixed"), Gaussian(1, 3), [3.0, 1.0, 0.4]),
]


def parts(belief):
    return list(belief.parameters.values())


@pytest.mark.parametrize(("family", "prior", "X"), PAIRS)
def test_two_batches_are_one(family, prior, X):
    whole = Conjugate(family, prior).update(X)
    split = Conjugate(family, prior).update(X[:1]).update(X[1:])
    for a, b in zip(parts(whole.prior), parts(split.prior), strict=True):
        assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("family", "prior", "X"), PAIRS)
def test_no_data_leave_the_prior(family, prior, X):
    assert Conjugate(family, prior).update([]).prior is prior
    assert Conjugate(family, prior).log_evidence([]) == 0


@pytest.mark.parametrize(("family", "prior", "X"), PAIRS)
def test_mean_and_mode_approach_maximum_likelihood(family, prior, X):
    many = np.full(len(X), 1e7)
    belief = Conjugate(family, prior).update(X, many)
    ml = parts(family.fit(X))[0]
    assert_allclose(parts(belief.mean())[0], ml, atol=1e-5)
    assert_allclose(parts(belief.map())[0], ml, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 50), st.integers(0, 50), st.floats(0.1, 20), st.floats(0.1, 20))
def test_posterior_mean_lies_between_prior_and_data(ones, zeros, a, b):
    if ones + zeros == 0:
        return
    belief = Conjugate(Bernoulli(), Beta(a, b)).update([1, 0], [ones, zeros])
    low, high = sorted([a / (a + b), ones / (ones + zeros)])
    assert low - 1e-12 <= belief.mean().p.item() <= high + 1e-12


def test_flat_prior_gives_maximum_likelihood():
    x = [1, 0, 1, 1]
    assert_allclose(estimate(Bernoulli(), x, "map", Beta(1, 1)).p, estimate(Bernoulli(), x).p)
    codes = [0, 1, 1, 2]
    flat = estimate(Categorical(), codes, "map", Dirichlet([1, 1, 1]))
    assert_allclose(flat.p, estimate(Categorical(), codes, "map").p)


def test_maximum_likelihood_minimizes_cross_entropy():
    codes = np.array([0, 1, 1, 2, 2, 2])
    empirical = np.bincount(codes) / 6
    best = estimate(Categorical(), codes).p[0, 0]
    rng = np.random.default_rng(0)
    for q in rng.dirichlet(np.ones(3), 50):
        assert cross_entropy(empirical, q) >= cross_entropy(empirical, best)
    likelihood = estimate(Categorical(), codes).log_likelihood(codes)[0]
    assert_allclose(-likelihood / 6, cross_entropy(empirical, best))


def test_pseudo_counts_are_exponents():
    lam = 2.0
    by_count = Multinomial().fit([[3, 2, 1, 0]], prior=lam).p
    by_mode = Multinomial().fit([[3, 2, 1, 0]], prior=Dirichlet(np.full(4, lam + 1))).p
    by_mean = Conjugate(Multinomial(), Dirichlet(np.full(4, lam))).update([[3, 2, 1, 0]]).mean().p
    assert_allclose(by_count, by_mode, rtol=1e-12)
    assert_allclose(by_count, by_mean, rtol=1e-12)


def test_shortest_interval_is_shorter():
    belief = Conjugate(Bernoulli(), Beta(2, 8))
    (low, high), (a, b) = belief.interval(0.9), belief.interval(0.9, kind="hpd")
    assert (b - a).item() < (high - low).item()
    assert_allclose(belief.prior.cdf(b) - belief.prior.cdf(a), 0.9, rtol=1e-6)
    assert_allclose(belief.prior.density(a), belief.prior.density(b), rtol=1e-3)


def test_improper_prior_becomes_proper_with_data():
    belief = Conjugate(Bernoulli(), Beta(0, 0)).update([1, 0, 1])
    assert_allclose(belief.mean().p, 2 / 3)
    with pytest.raises(Exception, match="improper"):
        Beta(0, 1).log_density(0.5)


def test_predictive_method_and_its_errors():
    assert_allclose(
        estimate(Poisson(), [3, 5, 4], "predictive", Gamma(2, 1)).density(0), 0.0439804651, atol=1e-9
    )
    with pytest.raises(DataError, match="needs a prior"):
        estimate(Poisson(), [1], "mean")
    with pytest.raises(DataError, match="Did you mean 'mean'"):
        estimate(Poisson(), [1], "meam")


def test_numeric_maximum_likelihood_agrees_with_the_closed_form():
    x = np.array([0.5, 1.0, 3.0, 7.0])

    def log_gamma(x, theta):
        return Gamma(*theta).log_density(x)[:, 0]

    found = maximum_likelihood(log_gamma, x, [1.0, 1.0], [(1e-6, None)] * 2)
    closed = Gamma().fit(x)
    assert_allclose(found.parameters, [closed.shape.item(), closed.rate.item()], rtol=1e-4)
    assert np.abs(found.gradient).max() < 1e-3


MASSES = st.lists(st.floats(0.0, 10.0), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(MASSES, MASSES)
def test_relative_entropy_and_log_sum_gap_are_never_negative(x, y):
    y = np.array(y) + 1e-3
    assert relative_entropy(x, y) >= 0
    assert log_sum_gap(x, y) >= -1e-9
    assert relative_entropy(x, x) <= 1e-12


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 10.0), min_size=6, max_size=6))
def test_chain_rule_of_entropy(masses):
    P = np.array(masses).reshape(2, 3) / sum(masses)
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    assert_allclose(entropy(P), entropy(rows) + conditional_entropy(P, given=0), rtol=1e-10)
    assert_allclose(entropy(P), entropy(columns) + conditional_entropy(P, given=1), rtol=1e-10)
    assert_allclose(mutual_information(P), mutual_information(P.T), atol=1e-12)
    assert conditional_entropy(P, given=0) <= entropy(columns) + 1e-12
    assert 0 <= entropy(rows) <= np.log(2) + 1e-12
    assert_allclose(kl_divergence(columns, np.full(3, 1 / 3)), np.log(3) - entropy(columns), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 10.0), min_size=2, max_size=12))
def test_huffman_is_within_one_bit(masses):
    p = np.array(masses) / sum(masses)
    lengths = huffman_lengths(p)
    assert entropy(p, 2) <= p @ lengths + 1e-12 < entropy(p, 2) + 1
    assert_allclose((0.5**lengths).sum(), 1)


def test_f_divergences():
    p, f = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert_allclose(csiszar_divergence(lambda t: t * np.log(t), p, f), kl_divergence(p, f))
    assert_allclose(csiszar_divergence(lambda t: np.abs(t - 1) / 2, p, f), 0.25)
    assert csiszar_divergence(np.square, [0.5, 0.5], [1.0, 0.0]) == np.inf
    assert kl_divergence([0.5, 0.5], [1, 0]) == np.inf
    assert jensen_shannon([1, 0], [0, 1], 2) == 1
    assert_allclose(surprise([0.5], 2), 1)


def test_entropy_from_counts():
    assert_allclose(entropy_from_counts([2, 2]), np.log(2))
    assert_allclose(entropy_from_counts([2, 2], correction="miller_madow"), np.log(2) + 1 / 8)


@pytest.mark.parametrize("bad", [[-0.1, 1.1], [0.5, 0.6], [np.nan, 1.0]])
def test_no_silent_normalization(bad):
    with pytest.raises(DataError):
        entropy(bad)
    with pytest.raises(DataError):
        kl_divergence(bad, [0.5, 0.5])
