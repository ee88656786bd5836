"""What is said of the next observation, and how well the data were foretold, where a moment is infinite."""

import numpy as np
import pytest
from scipy import integrate, stats

from gnomon.distributions import (
    Beta,
    Conjugate,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    MultivariateStudentT,
    NormalInverseGamma,
    StudentT,
    csiszar_divergence,
)


def test_next_waiting_time_is_a_lomax():
    predictive = Conjugate(Exponential(), Gamma(2.5, 3.0)).predictive()
    x = np.array([[0.0], [0.7], [40.0]])
    by_integral = [
        integrate.quad(
            lambda r, t=t: stats.expon(scale=1 / r).pdf(t) * stats.gamma(2.5, scale=1 / 3).pdf(r), 0, 60
        )[0]
        for t in x[:, 0]
    ]
    np.testing.assert_allclose(predictive.density(x)[:, 0], by_integral, rtol=1e-6)
    assert predictive.log_density([[-1.0]])[0, 0] == -np.inf
    np.testing.assert_allclose([predictive.mean(), predictive.variance()], [[[2.0]], [[20.0]]])
    drawn = predictive.sample(np.zeros(20_000, dtype=int), 0)
    assert abs(np.median(drawn) - stats.lomax(2.5, scale=3.0).median()) < 0.05


def test_next_number_of_trials_is_beta_geometric():
    predictive = Conjugate(Geometric(), Beta(3.0, 2.0)).predictive()
    x = np.arange(1.0, 400.0)[:, None]
    by_integral = integrate.quad(lambda p: p * (1 - p) ** 3 * stats.beta(3, 2).pdf(p), 0, 1)[0]
    assert predictive.density([[4.0]])[0, 0] == pytest.approx(by_integral, rel=1e-9)
    assert predictive.density(x).sum() == pytest.approx(1.0, abs=1e-6)
    assert predictive.density([[0.0], [1.5]]).tolist() == [[0.0], [0.0]]
    assert predictive.mean()[0, 0] == 2.0
    assert predictive.variance()[0, 0] == 6.0


def test_evidence_where_the_posterior_mean_is_infinite():
    belief = Conjugate(Gaussian(covariance_type="diag"), NormalInverseGamma(0.0, 1.0, 0.4, 1.0))
    expected = belief.predictive().log_density([[1.0]])[0, 0]
    assert belief.log_evidence([[1.0]]) == pytest.approx(expected, rel=1e-9)


def test_divergences_where_the_second_argument_is_zero():
    total_variation = csiszar_divergence(lambda t: 0.5 * np.abs(t - 1), [1.0, 0.0], [0.0, 1.0])
    assert total_variation == pytest.approx(1.0)
    hellinger = csiszar_divergence(lambda t: (np.sqrt(t) - 1) ** 2, [1.0, 0.0], [0.0, 1.0])
    assert hellinger == pytest.approx(2.0)
    assert csiszar_divergence(lambda t: (t - 1) ** 2, [0.5, 0.5], [0.0, 1.0]) == np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        assert csiszar_divergence(lambda t: t * np.log(t), [0.5, 0.5], [0.0, 1.0]) == np.inf


@pytest.mark.parametrize("family", [StudentT(), MultivariateStudentT()])
def test_t_without_parameters_is_estimated_from_its_rows(family):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(80, 2)) + [1.0, -2.0]
    weights = rng.random((80, 2))
    halves = [family.statistics(X[part], weights[part]) for part in (slice(0, 30), slice(30, 80))]
    found = family.estimate(halves[0].merge(halves[1]))
    whole = family.fit(X, weights)
    np.testing.assert_allclose(found.location, whole.location, rtol=1e-12)
    np.testing.assert_allclose(found.location, [[1.0, -2.0]] * 2, atol=0.5)
