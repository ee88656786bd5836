"""Priors of every kind of covariance, tables of probabilities, what stacks keep, and predictions by hand."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    Conjugate,
    Dirichlet,
    DirichletMultinomial,
    Exponential,
    Gamma,
    Gaussian,
    Laplace,
    Multinomial,
    NormalInverseWishart,
    Poisson,
    Product,
    StudentT,
    margins,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) @ RNG.normal(size=(3, 3)) + 1
W = RNG.uniform(0, 2, (50, 2))
S = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
M = np.array([0.5, -1.0, 0.0])


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "tied_spherical"])
@pytest.mark.parametrize(("kappa", "df"), [(2.0, 6.0), (0.0, 6.0), (2.0, None), (0.0, None)])
def test_most_probable_covariances_under_an_inverse_wishart(kind, kappa, df):
    """Each free number counts its squares: rows, the prior of the mean, and the inverse-Wishart of that size."""
    found = Gaussian(covariance_type=kind).fit(X, W, prior=NormalInverseWishart(M, kappa, df, S))
    n = W.sum(axis=0)
    average = W.T @ X / n[:, None]
    means = (n[:, None] * average + kappa * M) / (n + kappa)[:, None]
    assert_allclose(found.means, means)
    full = []
    for k in range(2):
        Z = X - means[k]
        full.append((Z * W[:, [k]]).T @ Z + kappa * np.outer(means[k] - M, means[k] - M))
    full, one = np.array(full), float(kappa > 0)
    scale, freedom = (np.zeros((3, 3)), None) if df is None else (S, df)

    def spare(d):
        return 0.0 if freedom is None else freedom + d + 1

    if kind == "full":
        expected = (full + scale) / (n + one + spare(3))[:, None, None]
    elif kind == "tied":
        expected = (full.sum(axis=0) + scale) / (n.sum() + 2 * one + spare(3))
    elif kind == "diag":
        expected = (np.diagonal(full, axis1=1, axis2=2) + np.diag(scale)) / (n + one + spare(1))[:, None]
    elif kind == "spherical":
        expected = (np.trace(full, axis1=1, axis2=2) + np.trace(scale) / 3) / (3 * n + 3 * one + spare(1))
    else:
        expected = (np.trace(full.sum(axis=0)) + np.trace(scale) / 3) / (3 * n.sum() + 6 * one + spare(1))
    assert_allclose(found.covariances, expected)


def test_components_kept_are_those_of_the_other_stack():
    for new, old in [
        (
            Gaussian(np.zeros((2, 1)), [1.0, 2.0], covariance_type="spherical"),
            Gaussian(np.ones((2, 1)), [3.0, 4.0], covariance_type="spherical"),
        ),
        (Gaussian(np.zeros((2, 1)), [[[1.0]], [[2.0]]]), Gaussian(np.ones((2, 1)), [[[3.0]], [[4.0]]])),
        (Poisson([[1.0], [2.0]]), Poisson([[3.0], [4.0]])),
        (
            Product([Poisson([[1.0], [2.0]]), Exponential([[1.0], [2.0]])], [[0], [1]]),
            Product([Poisson([[3.0], [4.0]]), Exponential([[3.0], [4.0]])], [[0], [1]]),
        ),
    ]:
        kept = new.keeping(old, np.array([False, True]))
        for name, value in kept.parameters.items():
            assert_allclose(value[0], new.parameters[name][0])
            assert_allclose(value[1], old.parameters[name][1])
        for name, value in new.keeping(old, np.array([False, False])).parameters.items():
            assert_allclose(value, new.parameters[name])
    tied = Gaussian(np.zeros((2, 1)), [[1.0]], covariance_type="tied")
    kept = tied.keeping(Gaussian(np.ones((2, 1)), [[3.0]], covariance_type="tied"), np.array([True, False]))
    assert kept.means.ravel().tolist() == [1, 0] and kept.covariances.tolist() == [[1.0]]


def test_a_product_has_the_columns_of_its_families():
    mixed = Product(
        [Laplace([[1.0]], [[2.0]]), Gaussian([[0.0, 5.0]], [[1.0, 4.0]], covariance_type="diag")],
        [[1], [2, 0]],
    )
    assert mixed.fitted and mixed.n_features == 3 and mixed.n_components == 1
    assert not Product([Laplace(), Poisson([[1.0]])], [[0], [1]]).fitted
    at = 0.8
    expected = [stats.norm(5, 2).ppf(at), stats.laplace(1, 2).ppf(at), stats.norm(0, 1).ppf(at)]
    assert_allclose(mixed.quantile(at), [expected])
    row = np.array([[4.0, 1.5, -0.3]])
    each = stats.norm(5, 2).logpdf(4), stats.laplace(1, 2).logpdf(1.5), stats.norm().logpdf(-0.3)
    assert_allclose(mixed.log_density(row), [[sum(each)]])
    assert mixed.parameter_count() == 2 + 4
    for columns in ([[0], [0, 1]], [[0], [1]], [[0], [1, 3]]):
        with pytest.raises(DataError, match="exactly one"):
            Product([Laplace([[1.0]], [[2.0]])] * (1 if columns == [[0], [1]] else 2), columns)


def test_predictions_of_the_next_outcome():
    assert_allclose(Conjugate(Bernoulli(), Beta(2, 3)).predictive().p, 0.4)
    assert_allclose(Bernoulli().predictive(1).p, 0.5)
    heads = Conjugate(Binomial(4), Beta(2, 3)).predictive()
    assert isinstance(heads, BetaBinomial)
    x = np.arange(5.0)[:, None]
    assert_allclose(heads.density(x)[:, 0], stats.betabinom(4, 2, 3).pmf(x[:, 0]))
    assert_allclose(Binomial(4).predictive(1).a, 2)
    assert_allclose(
        Conjugate(Categorical(), Dirichlet([1.0, 2, 5])).predictive().p, [[[1 / 8, 2 / 8, 5 / 8]]]
    )
    words = Conjugate(Multinomial(ordered=True), Dirichlet([1.0, 2, 5])).predictive()
    assert_allclose(words.mean(), [[1 / 8, 2 / 8, 5 / 8]])
    assert words.ordered and not Multinomial().predictive(1).ordered
    plain = DirichletMultinomial([1.0, 2, 5]).log_density([1, 1, 0])
    assert_allclose(plain - words.log_density([1, 1, 0]), np.log(2))
    assert_allclose(np.exp(words.log_density([1, 1, 0])), [[1 / 8 * 2 / 9]])


def test_entries_are_cut_where_they_are_told():
    coin = Bernoulli(binarize=0.5).fit([[0.2, np.nan], [0.7, 1.0], [0.9, 0.1], [0.5, np.nan]])
    assert_allclose(coin.p, [[0.5, 0.5]])
    assert_allclose(coin.log_density([[3.0, np.nan], [-3.0, 9.0]]), np.log([[0.5], [0.25]]))


def test_draws_of_a_belief():
    drawn = Conjugate(Poisson(), Gamma(2.0, 4.0)).sample(20_000, 0)
    assert_allclose([drawn.mean(), drawn.var()], [0.5, 0.125], rtol=0.05)


@pytest.mark.parametrize("kind", ["diag", "spherical", "tied_spherical", "identity"])
def test_rows_with_holes_under_independent_columns(kind):
    family = Gaussian(covariance_type=kind).fit(X, W)
    holes = np.where(RNG.random(X.shape) < 0.4, np.nan, X)
    each = stats.norm(family.means, np.sqrt(family.variance())).logpdf(holes[:, None, :])
    assert_allclose(family.log_density(holes), np.nansum(each, axis=2), atol=1e-12)


def test_parts_of_normals_are_scipys():
    full = Gaussian(M, S)
    scipys = stats.multivariate_normal(M, S)
    assert_allclose(full.to_scipy().logpdf(X), scipys.logpdf(X))
    assert_allclose(full.cdf(X[:3])[:, 0], scipys.cdf(X[:3]), atol=1e-4)
    two = Gaussian([M, M + 1], S)
    assert_allclose(two.cdf(X[:3])[:, 1], scipys.cdf(X[:3] - 1), atol=1e-4)
    with pytest.raises(DataError, match="one multivariate"):
        two.to_scipy()
    diag = Gaussian([M, M + 1], np.diag(S), covariance_type="diag").marginal([2, 0])
    assert_allclose(diag.means, [[0, 0.5], [1, 1.5]])
    assert_allclose(diag.covariances, [[3, 2]] * 2)
    assert_allclose(full.quantile(0.9), [stats.norm(M, np.sqrt(np.diag(S))).ppf(0.9)])
    assert_allclose(
        Gaussian(covariance_type="identity").fit(X[:, :1]).cdf([[0.5]]),
        [[stats.norm.cdf(0.5 - X[:, 0].mean())]],
    )
    ball = Gaussian([[1.0, 2.0]], [4.0], covariance_type="spherical").ellipse(0.5, 4)[0]
    assert_allclose(((ball - [1, 2]) ** 2).sum(axis=1), 4 * 2 * np.log(2))


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_tables_and_sums_of_many_rows_are_the_plain_ones(kind):
    many, w = np.tile(X, (30, 1)) + RNG.normal(size=(1500, 3)), RNG.uniform(0, 1, (1500, 2))
    family = Gaussian(covariance_type=kind).fit(X, W)
    table = np.empty((1500, 2))
    family._form.tabulate(many, table)
    assert_allclose(table, family.log_density(many), rtol=1e-10)
    found, plain = family._form.moments(family._form.weighted(many, w)), family.statistics(many, w)
    for a, b in zip(found, plain, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_free_numbers_of_heavy_tails_and_whole_beliefs():
    assert StudentT(3.0, np.zeros((2, 3)), 1.0).parameter_count() == 12
    assert StudentT(3.0, np.zeros((2, 3)), 1.0, learn_df=True).parameter_count() == 18
    assert Dirichlet([2.0, 1.5]).interior and not Dirichlet([2.0, 1.0]).interior
    assert Gamma(1.5, 1.0).interior and not Gamma(1.0, 1.0).interior
    assert Beta(2, 1.5).interior and not Beta(1.0, 2.0).interior and not Beta(2.0, 1.0).interior
    assert_allclose(Dirichlet([2.0, 3.0]).to_scipy().mean(), [0.4, 0.6])
    with pytest.raises(DataError, match="one Dirichlet"):
        Dirichlet([[2.0, 3.0], [1.0, 1.0]]).to_scipy()
    with pytest.raises(DegenerateError, match="component 1"):
        Poisson().fit([[1.0], [2.0]], [[1, 0], [1, 0]])
    with pytest.raises(DegenerateError, match=r"\(1, 0\)"):
        Gaussian(covariance_type="diag").fit([[1.0], [2.0]], [[1, 0], [1, 0]])


# tables of probabilities

P = np.random.default_rng(3).dirichlet(np.ones(24)).reshape(2, 3, 4)


@pytest.mark.parametrize("kept", [[0], [2], [2, 0], [1, 2], [2, 1, 0], []])
def test_a_margin_adds_up_all_other_axes(kept):
    found = margins.margin(P, kept)
    for place in product(*[range(P.shape[a]) for a in kept]):
        expected = sum(
            P[c] for c in product(range(2), range(3), range(4)) if tuple(c[a] for a in kept) == place
        )
        assert found[place] == pytest.approx(expected)


def test_conditionals_and_chains_multiply_back():
    joint, given = margins.conditional(P, [2], [0])
    assert_allclose(joint, P.sum(axis=1).T)
    assert_allclose(given, P.sum(axis=(1, 2))[None])
    a, b, c = margins.chain_factors(P, [1, 0, 2])
    assert_allclose(a, P.sum(axis=(0, 2)))
    assert_allclose(b, (P.sum(axis=2) / P.sum(axis=(0, 2))).T)
    assert_allclose(np.einsum("b,ba,bac->abc", a, b, c), P)
    assert margins.divided(np.array([1.0, 0.0, 2.0]), np.array([0.0, 0.0, 4.0])).tolist() == [np.inf, 0, 0.5]
    assert [m.shape for m in margins.margins(P)] == [(2,), (3,), (4,)]


def test_residuals_are_zero_where_variables_are_independent():
    p, q = np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2])
    assert margins.outer_residual(np.outer(p, q)) < 1e-15
    table = np.array([[0.4, 0.1], [0.1, 0.4]])
    assert margins.outer_residual(table) == pytest.approx(0.15)
    slices = np.stack([0.5 * table, 0.3 * np.full((2, 2), 0.25), np.zeros((2, 2)), 0.2 * np.diag([0.5, 0.5])])
    assert_allclose(margins.slice_residuals(slices), [0.15, 0, 0.25], atol=1e-15)
    assert margins.unfolding_rank(np.multiply.outer(np.outer(p, q), p)) == 1
    assert margins.unfolding_rank(np.multiply.outer(p, table)) == 2
    assert margins.unfolding_rank(P) == 4
