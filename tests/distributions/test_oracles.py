"""Numbers of the syllabus: exact fractions to 1e-12, closed forms to 1e-9, iterative limits to 1e-6."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.core.errors import DegenerateError
from gnomon.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Conjugate,
    Dirichlet,
    Gamma,
    Gaussian,
    Laplace,
    Multinomial,
    MultivariateStudentT,
    NormalInverseGamma,
    Poisson,
    StudentT,
    compare_priors,
    conditional_entropy,
    cross_entropy,
    entropy,
    huffman_lengths,
    jensen_shannon,
    kl_divergence,
    mutual_information,
    relative_entropy,
)


@pytest.mark.parametrize(
    ("ones", "zeros", "ml", "mean", "most_probable"),
    [(2, 0, 1, 2 / 3, 3 / 4), (55, 45, 0.55, 57 / 104, 56 / 102), (7, 3, 0.7, 9 / 14, 2 / 3)],
)
def test_coin_with_beta_prior(ones, zeros, ml, mean, most_probable):
    tosses = [1] * ones + [0] * zeros
    belief = Conjugate(Bernoulli(), Beta(2, 2)).update(tosses)
    assert_allclose(belief.ml(tosses).p, ml, rtol=1e-12)
    assert_allclose(belief.mean().p, mean, rtol=1e-12)
    assert_allclose(belief.map().p, most_probable, rtol=1e-12)
    assert_allclose(Bernoulli().fit(tosses, prior=Beta(2, 2)).p, most_probable, rtol=1e-12)


def test_evidence_of_ordered_tosses_prefers_a_moderate_prior():
    priors = [Beta(1, 1), Beta(0.5, 0.5), Beta(2, 2), Beta(10, 10), Beta(100, 100)]
    found = compare_priors(Bernoulli(), [1] * 7 + [0] * 3, priors)
    expected = [-7.1853870156, -7.5138046198, -6.9777476508, -6.8617351384, -6.9176468539]
    assert_allclose(found.log_evidence, expected, atol=1e-9)
    assert_allclose(found.weights.sum(), 1)
    assert found.weights.argmax() == 3


def test_dirichlet_update_and_density():
    prior = Dirichlet([2, 3, 5])
    codes = [0, 2, 2, 2, 2]
    belief = Conjugate(Categorical(n_levels=3), prior)
    assert_allclose(belief.update(codes).mean().p[0, 0], [0.2, 0.2, 0.6], rtol=1e-12)
    assert_allclose(prior.mode(), [[1 / 7, 2 / 7, 4 / 7]], rtol=1e-12)
    assert_allclose(belief.log_evidence(codes), -4.2696974497, atol=1e-9)
    assert_allclose(prior.log_density([0.2, 0.3, 0.5]), [[2.1406542258]], atol=1e-9)
    assert_allclose(prior.entropy(), [-1.4611820247], atol=1e-9)


def test_dirichlet_concentration_sets_the_spread_of_draws():
    variances = [Dirichlet(np.full(10, g)).variance()[0, 0] for g in (1, 10, 0.1)]
    assert_allclose(variances, [0.0081818182, 0.0008910891, 0.045], atol=1e-9)


def test_gamma_poisson():
    belief = Conjugate(Poisson(), Gamma(2, 1))
    after = belief.update([3, 5, 4])
    assert (after.prior.shape.item(), after.prior.rate.item()) == (14, 4)
    assert (after.prior.mean().item(), after.prior.mode().item()) == (3.5, 3.25)
    assert_allclose(after.predictive().density([0, 4]).ravel(), [0.0439804651, 0.1674776111], atol=1e-9)
    assert_allclose(belief.log_evidence([3, 5, 4]), -6.6132622449, atol=1e-9)


def test_normal_with_known_variance():
    belief = Conjugate(Gaussian(covariances=1.0, covariance_type="fixed"), Gaussian(0, 4))
    after = belief.update([1, 2, 3])
    assert_allclose(after.prior.means, 24 / 13, rtol=1e-12)
    assert_allclose(after.prior.covariances, 4 / 13, rtol=1e-12)
    assert_allclose(belief.log_evidence([1, 2, 3]), -5.5008287399, atol=1e-9)
    assert_allclose(after.predictive().covariances, 1 + 4 / 13, rtol=1e-12)


def test_normal_inverse_gamma():
    belief = Conjugate(Gaussian(covariance_type="diag"), NormalInverseGamma(0, 1, 1, 1))
    after = belief.update([1, 2, 4])
    values = [getattr(after.prior, name).item() for name in ("location", "kappa", "shape", "rate")]
    assert_allclose(values, [1.75, 4, 2.5, 5.375], rtol=1e-12)
    t = after.predictive()
    assert_allclose([t.df.item(), t.location.item(), t.scale.item()], [5, 1.75, 1.6393596311], atol=1e-9)
    assert_allclose(t.log_density(0), [[-2.0788585108]], atol=1e-9)
    assert_allclose(belief.log_evidence([1, 2, 4]), -7.3696763447, atol=1e-9)


def test_pet_document():
    document = np.array([[3, 2, 1, 0]])  # dog dog cat dog cat tulip
    words = Multinomial([[0.5, 0.4, 0.05, 0.05], [0.1, 0.1, 0.5, 0.3]], ordered=True)
    assert_allclose(words.density(document), [[0.001, 5e-6]], rtol=1e-12)
    assert_allclose(np.diff(-words.log_density(document)), [[5.2983173665]], atol=1e-9)
    weights = [1.6094379124, 1.3862943611, -2.3025850930, -1.7917594692]
    assert_allclose(-np.diff(np.log(words.p), axis=0)[0], weights, atol=1e-9)
    assert_allclose(Multinomial().fit(document).p, [[1 / 2, 1 / 3, 1 / 6, 0]], rtol=1e-12)
    assert_allclose(Multinomial().fit(document, prior=1).p, [[0.4, 0.3, 0.2, 0.1]], rtol=1e-12)
    joint = words.density(document)[0] * [0.2, 0.8]
    assert_allclose(joint[0] / joint.sum(), 0.9803921569, atol=1e-9)


FIVE = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [1, 6]], dtype=float)


@pytest.mark.parametrize(
    ("kind", "covariances", "log_likelihood"),
    [
        ("full", [[[0.8, 0], [0, 4.8]]], -17.5530662485),
        ("spherical", [2.8], -19.3374824180),
        ("identity", None, -23.1893853320),
    ],
)
def test_gaussian_maximum_likelihood(kind, covariances, log_likelihood):
    model = Gaussian(covariance_type=kind).fit(FIVE)
    assert_allclose(model.means, [[1, 2]], rtol=1e-12)
    if covariances is not None:
        assert_allclose(model.covariances, covariances, atol=1e-12)
    assert_allclose(model.log_likelihood(FIVE), [log_likelihood], atol=1e-9)


def test_gaussian_conditioning_entropy_and_divergence():
    model = Gaussian([1, -1], [[2, 0.8], [0.8, 1]])
    given = model.condition([0], [2])
    assert_allclose([given.means.item(), given.covariances.item()], [-0.6, 0.68], rtol=1e-12)
    assert_allclose(model.entropy(), [2.9916194163], atol=1e-9)
    centered = Gaussian([0, 0], [[2, 0.8], [0.8, 1]])
    assert_allclose(centered.kl(Gaussian([0, 0], np.eye(2))), [0.3462576501], atol=1e-9)


@pytest.mark.parametrize(
    ("distribution", "x", "expected"),
    [
        (Laplace(0, 2), 1, -1.8862943611),
        (StudentT(3, 0, 2), 1, -1.8541214455),
        (Poisson(2.5), 4, -2.0128909029),
        (MultivariateStudentT(3, [0, 0], [[2, 0.5], [0.5, 1]]), [1, -1], -3.5336736477),
        (Multinomial([0.5, 0.3, 0.2]), [3, 2, 1], -2.0024805005),
        (Multinomial([0.5, 0.3, 0.2], ordered=True), [3, 2, 1], -6.0968250628),
    ],
)
def test_log_densities(distribution, x, expected):
    assert_allclose(distribution.log_density(x), [[expected]], atol=1e-9)


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        (Bernoulli(0.3), 0.6108643021),
        (Gaussian(0, 4), 2.1120857138),
        (Laplace(0, 2), 2.3862943611),
        (Beta(2, 3), -0.2349066498),
        (StudentT(3, 0, 1), 1.7734775719),
        (Gamma(2, 3), 0.4786033762),
        (Poisson(2.5), 1.8307266079),
    ],
)
def test_entropies(distribution, expected):
    assert_allclose(distribution.entropy(), [expected], atol=1e-9)


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        (Poisson(2), Poisson(3), 0.1890697838),
        (Gaussian(0, 1), Gaussian(1, 4), 0.4431471806),
        (Dirichlet([2, 3, 5]), Dirichlet([1, 1, 1]), 0.7680348442),
    ],
)
def test_divergences(p, q, expected):
    assert_allclose(p.kl(q), [expected], atol=1e-9)


def test_robust_locations():
    x = [0, 0, 1, 2, 10]
    laplace = Laplace().fit(x)
    assert (laplace.location.item(), laplace.scale.item()) == (1, 2.4)
    assert_allclose(laplace.log_likelihood(x), [-12.8430795896], atol=1e-9)
    assert_allclose(Gaussian().fit(x).log_likelihood(x), [-13.7348299310], atol=1e-9)
    cauchy = StudentT(df=1).fit(x)
    assert_allclose([cauchy.location.item(), cauchy.scale.item()], [0.5921339625, 0.8859322251], atol=1e-6)
    assert_allclose(cauchy.log_likelihood(x), [-12.0430396886], atol=1e-6)


def test_relative_entropies():
    p, q = [0.5, 0.5], [0.25, 0.75]
    assert_allclose([kl_divergence(p, q), kl_divergence(q, p)], [0.1438410362, 0.1308120359], atol=1e-9)
    assert_allclose(relative_entropy([2, 1], [1, 1]), 0.3862943611, atol=1e-9)
    assert_allclose(jensen_shannon(p, q), 0.0338220756, atol=1e-9)
    assert_allclose(cross_entropy(p, q), entropy(p) + kl_divergence(p, q), rtol=1e-12)


def test_weather_entropies_in_bits():
    assert_allclose([entropy([p, 1 - p], 2) for p in (8 / 9, 4 / 9)], [0.5032583348, 0.9910760598], atol=1e-9)
    table = np.array([[0.24, 0.01], [0.25, 0.50]])
    assert_allclose(entropy(table, 2), 1.5605730473, atol=1e-9)
    rows = [entropy(row / row.sum(), 2) for row in table]
    assert_allclose(rows, [0.2422921891, 0.9182958341], atol=1e-9)
    assert_allclose(conditional_entropy(table, given=0, base=2), 0.7492949228, atol=1e-9)
    assert_allclose(mutual_information(table, 2), 0.2504165189, atol=1e-9)
    assert_allclose(conditional_entropy(table, given=1, base=2), 0.5608616055, atol=1e-9)


def test_count_table_information():
    table = np.array([[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]]) / 22
    assert_allclose(mutual_information(table), 0.1984382479, atol=1e-9)
    assert_allclose(mutual_information(table, 2), 0.2862858761, atol=1e-9)
    assert_allclose(conditional_entropy(table, given=1), 0.4570435260, atol=1e-9)


def test_huffman_code():
    p = np.array([0.4, 0.3, 0.2, 0.1])
    assert_allclose(entropy(p, 2), 1.8464393447, atol=1e-9)
    assert_allclose(p @ huffman_lengths(p), 1.9, rtol=1e-12)


def test_flat_beta_without_data_has_no_mode():
    with pytest.raises(DegenerateError, match="no unique mode"):
        Conjugate(Bernoulli(), Beta(1, 1)).map()
    edge = Conjugate(Bernoulli(), Beta(1, 1)).update([1, 1])
    assert edge.map().p == 1
    assert not edge.interior
