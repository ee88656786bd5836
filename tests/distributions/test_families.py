"""What every family must do: agree with scipy.stats, estimate, sample, merge, leave NaN out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.sums import merge
from gnomon.distributions import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    Conjugate,
    Dirichlet,
    DirichletMultinomial,
    Empirical,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    InverseGamma,
    Laplace,
    Multinomial,
    MultivariateStudentT,
    NegativeBinomial,
    Poisson,
    Product,
    StudentT,
    Uniform,
)

ROW = np.array([[0.3, 0.6], [0.9, 0.2]])
COLUMNS = {
    "bernoulli": Bernoulli(ROW),
    "binomial": Binomial(5, ROW),
    "poisson": Poisson(5 * ROW),
    "geometric": Geometric(ROW),
    "negative_binomial": NegativeBinomial(4 * ROW, ROW / 2),
    "beta_binomial": BetaBinomial(6, 3 * ROW, 2 + ROW),
    "exponential": Exponential(ROW),
    "gamma": Gamma(3 * ROW, 2 * ROW),
    "inverse_gamma": InverseGamma(4 + 3 * ROW, 2 * ROW),
    "beta": Beta(3 * ROW, 2 + ROW),
    "uniform": Uniform(ROW - 1, ROW + 1),
    "laplace": Laplace(ROW, 1 + ROW),
    "student": StudentT(3 + ROW, ROW, 1 + ROW),
    "gaussian": Gaussian(ROW, 1 + ROW, covariance_type="diag"),
}
FITTED = {
    **COLUMNS,
    "categorical": Categorical([[[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]], [[0.1, 0.1, 0.8], [0.5, 0.5, 0.0]]]),
    "multinomial": Multinomial([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], n=4),
    "dirichlet": Dirichlet([[2.0, 3.0, 5.0], [1.5, 0.7, 2.0]]),
    "full": Gaussian(ROW, [[[2, 0.5], [0.5, 1]], [[1, -0.3], [-0.3, 0.7]]]),
    "tied": Gaussian(ROW, [[2, 0.5], [0.5, 1]], covariance_type="tied"),
    "spherical": Gaussian(ROW, [0.5, 2.0], covariance_type="spherical"),
    "tied_spherical": Gaussian(ROW, 1.5, covariance_type="tied_spherical"),
    "identity": Gaussian(ROW, covariance_type="identity"),
    "fixed": Gaussian(ROW, [[2, 0.5], [0.5, 1]], covariance_type="fixed"),
    "multivariate_t": MultivariateStudentT(6, ROW, [[2, 0.5], [0.5, 1]]),
    "product": Product([Gaussian(ROW[:, :1], [[[1.0]], [[2.0]]]), Poisson(ROW[:, 1:])], [[0], [1]]),
}
CLOSED = [name for name in FITTED if name not in ("beta_binomial", "student", "multivariate_t")]


def rows_of(name, n=400, seed=0):
    labels = np.random.default_rng(seed).integers(0, 2, n)
    return FITTED[name].sample(labels, seed), labels


@pytest.mark.parametrize("name", COLUMNS)
def test_density_is_scipys(name):
    family = COLUMNS[name]
    X, _ = rows_of(name, 40)
    frozen = family.to_scipy()
    log_density = frozen.logpmf if hasattr(frozen.dist, "logpmf") else frozen.logpdf
    assert_allclose(family.log_density(X), log_density(X[:, None, :]).sum(axis=2), rtol=1e-11, atol=1e-11)
    assert_allclose(family.mean(), frozen.mean(), rtol=1e-12)
    assert_allclose(family.variance(), frozen.var(), rtol=1e-12)
    assert_allclose(family.entropy(), frozen.entropy().sum(axis=1), rtol=1e-8)
    assert_allclose(family.cdf(X), frozen.cdf(X[:, None, :]).prod(axis=2), rtol=1e-12)


@pytest.mark.parametrize("kind", ["full", "tied", "fixed", "spherical", "tied_spherical", "identity"])
def test_gaussian_density_is_scipys(kind):
    family = FITTED[kind]
    X, _ = rows_of(kind, 40)
    each = [
        stats.multivariate_normal(m, C)
        for m, C in zip(family.means, family.covariance_matrices(), strict=True)
    ]
    assert_allclose(family.log_density(X), np.stack([e.logpdf(X) for e in each], axis=1), rtol=1e-11)
    assert_allclose(family.entropy(), [e.entropy() for e in each], rtol=1e-12)


def test_multivariate_densities_are_scipys():
    X, _ = rows_of("multivariate_t", 30)
    t = FITTED["multivariate_t"]
    each = [stats.multivariate_t(m, S, df=6).logpdf(X) for m, S in zip(t.location, t.scale, strict=True)]
    assert_allclose(t.log_density(X), np.stack(each, axis=1), rtol=1e-11)
    X, _ = rows_of("dirichlet", 30)
    each = [stats.dirichlet(a).logpdf(X.T) for a in FITTED["dirichlet"].alpha]
    assert_allclose(FITTED["dirichlet"].log_density(X), np.stack(each, axis=1), rtol=1e-10)
    X, _ = rows_of("multinomial", 30)
    each = [stats.multinomial(4, p).logpmf(X) for p in FITTED["multinomial"].p]
    assert_allclose(FITTED["multinomial"].log_density(X), np.stack(each, axis=1), rtol=1e-11, atol=1e-13)
    alpha = np.array([[2.0, 3, 5]])
    each = stats.dirichlet_multinomial(alpha[0], 4).logpmf(X.astype(int))
    assert_allclose(DirichletMultinomial(alpha).log_density(X)[:, 0], each, rtol=1e-11)


@pytest.mark.parametrize("name", COLUMNS)
def test_cdf_undoes_quantile(name):
    family = COLUMNS[name].select(0)
    q = np.array([family.quantile(u)[0] for u in (0.1, 0.5, 0.9)])
    frozen = family.to_scipy()
    if hasattr(frozen.dist, "logpmf"):
        assert np.all(frozen.cdf(q) >= np.array([[0.1], [0.5], [0.9]]) - 1e-12)
    else:
        assert_allclose(frozen.cdf(q), np.repeat([[0.1], [0.5], [0.9]], 2, axis=1), rtol=1e-9)
    low, high = family.interval(0.8)
    assert np.all(low <= high)


@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"student"}))
def test_samples_follow_the_distribution(name):
    family = COLUMNS[name].select(1)
    x = family.sample(4000, 7)[:, 0]
    frozen = COLUMNS[name].select(1).to_scipy()
    cdf = lambda t: frozen.cdf(np.asarray(t)[:, None, None])[:, 0, 0]  # noqa: E731
    if hasattr(frozen.dist, "logpmf"):
        values, seen = np.unique(x, return_counts=True)
        expected = 4000 * np.exp(frozen.logpmf(values[:, None, None])[:, 0, 0])
        keep = expected >= 5
        statistic = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
        assert stats.chi2(max(keep.sum() - 1, 1)).sf(statistic) > 1e-3
    else:
        assert stats.kstest(x, cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", FITTED)
def test_entropy_is_the_mean_surprise(name):
    family = FITTED[name].select(0)
    if name == "multinomial":
        family = family.replace(n=4)
    x = family.sample(20000, 3)
    surprise = -family.log_density(x)[:, 0]
    assert_allclose(surprise.mean(), family.entropy()[0], atol=5 * surprise.std() / np.sqrt(20000) + 1e-9)


@pytest.mark.parametrize("name", sorted(set(CLOSED) - {"uniform"}))
def test_no_nearby_parameter_is_likelier(name):
    X, labels = rows_of(name)
    weights = np.eye(2)[labels] * np.random.default_rng(1).uniform(0.5, 2, (len(X), 1))
    start = FITTED[name]
    fitted = start.fit(X, weights)

    def value(family):
        return (np.where(weights > 0, family.log_density(X), 0.0) * weights).sum()

    best, rng = value(fitted), np.random.default_rng(2)
    assert best >= value(start) - 1e-9
    if name == "product":
        return
    for _ in range(20):
        changed = {}
        for key, theta in fitted.parameters.items():
            if theta is None or (name == "fixed" and key == "covariances"):
                continue
            factor = 1 + 1e-3 * rng.standard_normal(theta.shape)
            if key == "p" and theta.ndim == 3 or name == "multinomial":
                theta = theta * factor / (theta * factor).sum(axis=-1, keepdims=True)
            elif key == "covariances" and theta.ndim >= 2 and name in ("full", "tied"):
                noise = 1e-3 * rng.standard_normal(theta.shape)
                theta = theta + noise @ np.swapaxes(noise, -1, -2) - 2e-4 * np.eye(2) * rng.random()
            else:
                theta = np.minimum(theta * factor, 1.0) if key == "p" else theta * factor
            changed[key] = theta
        assert value(fitted.replace(**changed)) <= best + 1e-9


@pytest.mark.parametrize("name", sorted(set(FITTED) - {"beta_binomial"}))
def test_statistics_of_two_halves_merge(name):
    X, labels = rows_of(name)
    weights = np.eye(2)[labels]
    family = FITTED[name]
    whole = family.statistics(X, weights)
    halves = merge(family.statistics(X[:150], weights[:150]), family.statistics(X[150:], weights[150:]))
    for a, b in zip(flat(family.estimate(whole)), flat(family.estimate(halves)), strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def flat(family):
    return [value for value in family.parameters.values() if value is not None]


@pytest.mark.parametrize("name", sorted(set(FITTED) - {"beta_binomial"}))
def test_weight_two_is_the_row_twice(name):
    X, labels = rows_of(name, 60)
    weights = np.eye(2)[labels]
    heavy = weights.copy()
    heavy[:20] *= 2
    twice = FITTED[name].fit(np.vstack([X, X[:20]]), np.vstack([weights, weights[:20]]))
    for a, b in zip(flat(FITTED[name].fit(X, heavy)), flat(twice), strict=True):
        assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"beta_binomial"} | {"categorical", "product"}))
def test_missing_column_equals_no_column(name):
    X, _ = rows_of(name, 60)
    family = FITTED[name]
    holes = X.copy()
    holes[:, 1] = np.nan
    other = family.log_density(np.where([True, False], np.nan, X))
    possible = np.isfinite(other)
    alone = family.log_density(X)[possible] - other[possible]
    assert_allclose(family.log_density(holes)[possible], alone, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["full", "tied", "fixed"])
def test_gaussian_with_missing_column_is_the_marginal(name):
    X, _ = rows_of(name, 30)
    holes = np.where([True, False], X, np.nan)
    assert_allclose(
        FITTED[name].log_density(holes), FITTED[name].marginal([0]).log_density(X[:, 0]), rtol=1e-10
    )
    assert_allclose(FITTED[name].log_density(np.full((1, 2), np.nan)), [[0, 0]], atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(FITTED) - {"beta_binomial"}))
def test_a_component_without_rows_keeps_its_parameters(name):
    X, labels = rows_of(name, 80)
    family, weights = FITTED[name], np.zeros((80, 2))
    weights[:, 0] = labels == 0
    found = family.estimate(family.statistics(X, weights))
    alone = family.select(0).estimate(family.select(0).statistics(X[labels == 0]))
    assert_allclose(found.select(0).log_density(X), alone.log_density(X), rtol=1e-9)
    if not name.startswith("tied") and name not in ("fixed", "identity"):
        assert_allclose(found.select(1).log_density(X), family.select(1).log_density(X), rtol=1e-9)


def test_the_ends_of_an_interval_belong_to_it():
    family = Uniform([[0.0, 1.0]], [[2.0, 5.0]])
    rows = [[0.0, 1.0], [2.0, 5.0], [-0.1, 1.0], [2.0, 5.1], [1.0, np.nan], [3.0, np.nan]]
    expected = np.log([1 / 8, 1 / 8, 1e-320, 1e-320, 1 / 2, 1e-320])
    expected[expected < -700] = -np.inf
    assert_allclose(family.log_density(rows)[:, 0], expected)
    wider, shifted = Uniform([[-1.0, 1.0]], [[3.0, 5.0]]), Uniform([[0.1, 1.0]], [[3.0, 5.0]])
    assert family.kl(wider)[0] == pytest.approx(np.log(2)) and family.kl(shifted)[0] == np.inf
    assert wider.kl(family)[0] == np.inf


@pytest.mark.parametrize("name", FITTED)
def test_survives_pickle_and_is_immutable(name):
    family = FITTED[name]
    X, _ = rows_of(name, 20)
    before = family.log_density(X)
    assert np.array_equal(pickle.loads(pickle.dumps(family)).log_density(X), before)
    with pytest.raises(Exception):  # noqa: B017 - frozen dataclasses raise FrozenInstanceError
        family.covariance_type = "other"
    for value in flat(family):
        assert not value.flags.writeable


@pytest.mark.parametrize("name", FITTED)
def test_divergence_is_zero_only_at_itself(name):
    family = FITTED[name]
    try:
        assert_allclose(family.kl(family), 0, atol=1e-12)
    except NotImplementedError:
        pytest.skip("no closed form")
    a, b = family.select(0), family.select(1)
    assert a.kl(b)[0] > 0
    x = (a.replace(n=4) if name == "multinomial" else a).sample(40000, 1)
    with np.errstate(invalid="ignore"):
        ratio = (a.log_density(x) - b.log_density(x))[:, 0]
    if np.all(np.isfinite(ratio)):
        assert_allclose(ratio.mean(), a.kl(b)[0], atol=6 * ratio.std() / 200)


MODES = {
    **FITTED,
    "certain": Bernoulli([[0.0, 1.0]]),
    "all_heads": Binomial(5, [[1.0, 0.0]]),
    "multinomial_by_parts": Multinomial([[0.15, 0.3, 0.55], [1 / 3, 1 / 3, 1 / 3]], n=5),
    "waiting_less_than_one": NegativeBinomial([[0.5, 1.0]], [[0.2, 0.3]]),
    "skewed_beta": Beta([[1.0, 3.0]], [[2.0, 0.5]]),
    "waiting": Gamma([[1.0, 0.5]], [[2.0, 3.0]]).replace(shape=[[1.0, 1.5]]),
}


@pytest.mark.parametrize("name", MODES)
def test_no_point_is_likelier_than_the_mode(name):
    family = MODES[name]
    for k in range(family.n_components):
        one = family.select(k)
        best = one.log_density(one.mode())[0, 0]
        assert np.all(one.log_density(one.sample(300, 5)) <= best + 1e-9)


@pytest.mark.parametrize("name", sorted(set(FITTED) - {"categorical"}))
def test_mean_and_variance_are_those_of_draws(name):
    family = FITTED[name].select(1)
    x = family.sample(20000, 11)
    error = np.sqrt(x.var(axis=0) / len(x)) + 1e-9
    assert np.all(np.abs(x.mean(axis=0) - family.mean()[0]) < 5 * error)
    squares = (x - x.mean(axis=0)) ** 2
    spread = squares.std(axis=0) / np.sqrt(len(x)) + 1e-9
    assert np.all(np.abs(squares.mean(axis=0) - family.variance()[0]) < 8 * spread)


@pytest.mark.parametrize("name", FITTED)
def test_entropy_in_bits(name):
    assert_allclose(FITTED[name].entropy(2) * np.log(2), FITTED[name].entropy())


def test_moments_of_a_t_where_they_are_none():
    family = StudentT([[0.5, 1.0, 1.5, 2.0, 3.0]], np.ones((1, 5)), np.full((1, 5), 2.0))
    assert_allclose(family.mean(), [[np.nan, np.nan, 1, 1, 1]])
    assert_allclose(family.variance(), [[np.nan, np.nan, np.inf, np.inf, 12]])


@pytest.mark.parametrize("name", sorted(set(CLOSED) - {"product", "negative_binomial"}))
def test_divergences_of_one_and_of_many(name):
    family = FITTED[name]
    both = family.kl(family.select([1, 0]))
    one, other = family.select(0), family.select(1)
    assert_allclose(both, [one.kl(other)[0], other.kl(one)[0]], rtol=1e-9)


def test_sure_events_are_legal():
    sure = Bernoulli([[0.0, 1.0]])
    assert_allclose(sure.log_density([[0, 1], [1, 1]]), [[0], [-np.inf]])
    assert_allclose(Poisson(0).log_density([0, 1]), [[0], [-np.inf]])
    assert_allclose(Binomial(3, [[0.0], [1.0]]).log_density([[3], [0]]), [[-np.inf, 0], [0, -np.inf]])
    assert_allclose(Categorical([0.0, 1.0]).log_density([1, 0, 5]), [[0], [-np.inf], [-np.inf]])
    assert sure.entropy() == 0


def test_outside_the_support_is_impossible():
    assert Exponential(1).log_density(-1) == -np.inf
    assert Gamma(2, 1).log_density(-1) == -np.inf
    assert Gamma(1, 2).log_density(0) == np.log(2)
    assert InverseGamma(2, 1).log_density(0) == -np.inf
    assert Beta(2, 3).log_density(1.5) == -np.inf
    assert_allclose(Beta(1, 2).log_density([0.0, 1.0]), [[np.log(2)], [-np.inf]])
    assert Uniform(0, 1).log_density(2) == -np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.5), "between 0 and 1"),
        (lambda: Poisson(-1), "at least 0"),
        (lambda: Categorical([0.5, 0.6]), "sum to 1"),
        (lambda: Multinomial([0.5, 0.6]), "sum to 1"),
        (lambda: Poisson(1).log_density(1.5), "whole numbers"),
        (lambda: Bernoulli(0.5).log_density(2), "whole numbers"),
        (lambda: Gaussian([0, 0], [[1, 2], [2, 1]]).log_density([0, 0]), "smallest eigenvalue is -1"),
        (lambda: Gaussian([0, 0], [[1, 0.5], [0, 1]]), "symmetric"),
        (lambda: Gaussian(covariance_type="ful"), "Did you mean 'full'"),
        (lambda: Gaussian([0, 0], [1.0, 2, 3], covariance_type="diag"), "must have shape"),
        (lambda: Gaussian().fit(np.empty((0, 2))), "at least one row"),
        (lambda: Gaussian().fit([1.0, 1.0]).log_density(1), "not positive definite"),
        (lambda: Gaussian(covariance_type="diag").fit([1.0, 1.0]).log_density(1), "raise reg_covar"),
        (lambda: Laplace().fit([1.0, 1.0]).log_density(1), "scale is zero"),
        (lambda: NegativeBinomial().fit([1, 1, 1]), "use Poisson"),
        (lambda: Poisson().log_density(1), "no parameters yet"),
        (lambda: Exponential().fit([0.0, 0.0]), "rate is infinite"),
        (lambda: Gaussian().fit([[1.0, np.nan], [2.0, 1.0]]), "MissingGaussian"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises((DataError, DegenerateError), match=message):
        make()


def test_empirical_distribution():
    sample = Empirical().fit([2.0, 1, 2, 4])
    assert_allclose(sample.density([1, 2, 3, 4]).ravel(), [0.25, 0.5, 0, 0.25])
    assert_allclose([sample.mean().item(), sample.variance().item()], [2.25, 1.1875])
    assert_allclose(sample.cdf([0, 2, 9]).ravel(), [0, 0.75, 1])
    assert sample.quantile(0.5).item() == 2
    assert set(sample.sample(100, 0).ravel()) == {1, 2, 4}


def test_negative_binomial_maximum_likelihood():
    x = NegativeBinomial(3, 0.4).sample(3000, 0)
    fitted = NegativeBinomial().fit(x)
    assert_allclose([fitted.r.item(), fitted.p.item()], [3, 0.4], rtol=0.1)
    for factor in (0.99, 1.01):
        assert fitted.replace(r=fitted.r * factor).log_likelihood(x) < fitted.log_likelihood(x)


def test_student_degrees_of_freedom():
    x = StudentT(4, 1, 2).sample(20000, 0)
    fitted = StudentT(df=10, learn_df=True).fit(x)
    assert_allclose([fitted.df.item(), fitted.location.item(), fitted.scale.item()], [4, 1, 2], rtol=0.1)


def test_multivariate_student_fit_is_stationary():
    X = MultivariateStudentT(4, [1, 2], [[2, 0.5], [0.5, 1]]).sample(500, 0)
    fitted = MultivariateStudentT(4).fit(X)
    best = fitted.log_likelihood(X)
    rng = np.random.default_rng(0)
    for _ in range(10):
        moved = fitted.replace(location=fitted.location + 1e-3 * rng.standard_normal((1, 2)))
        assert moved.log_likelihood(X) < best


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=30),
    st.lists(st.integers(0, 30), min_size=1, max_size=30),
)
def test_predictives_multiply_to_the_evidence(first, second):
    belief = Conjugate(Poisson(), Gamma(2, 1))
    chain, total = belief, 0.0
    for x in first + second:
        total += chain.predictive().log_density(x).item()
        chain = chain.update([x])
    assert_allclose(belief.log_evidence(first + second), total, rtol=1e-9)
    batch = belief.update(first).update(second)
    assert_allclose(batch.prior.shape, chain.prior.shape)
    assert_allclose(batch.prior.rate, chain.prior.rate)


def test_sparse_multinomial_equals_dense():
    from scipy.sparse import csr_matrix

    X = np.random.default_rng(0).poisson(0.5, (30, 6))
    family = Multinomial(np.full((2, 6), 1 / 6))
    assert_allclose(family.log_density(csr_matrix(X)), family.log_density(X), rtol=1e-12)
    assert_allclose(family.fit(csr_matrix(X)).p, family.fit(X).p)
    zero = Multinomial([0, 0.2, 0.2, 0.2, 0.2, 0.2])
    assert_allclose(zero.log_density(csr_matrix(X)), zero.log_density(X))
