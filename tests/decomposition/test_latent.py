"""Probabilistic PCA, factor analysis, the low-rank family: numbers by hand, twins, holes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

import gnomon
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.decomposition import PCA, FactorAnalysis, ProbabilisticPCA, rotate_components
from gnomon.distributions import Gaussian, LowRankGaussian
from gnomon.mixture import Mixture

Y6 = np.array([(1, 2, 0), (2, 1, 1), (3, 4, 1), (4, 3, 2), (5, 6, 0), (6, 5, 2)], dtype=float)
HOLED = Y6.copy()
HOLED[[1, 2, 4], [1, 2, 0]] = np.nan
START = (Y6.mean(axis=0), np.ones((3, 1)), 1.0)
R5 = np.array(
    [
        (1, 0.5, 0.4, 0.3, 0.2),
        (0.5, 1, 0.45, 0.35, 0.25),
        (0.4, 0.45, 1, 0.4, 0.3),
        (0.3, 0.35, 0.4, 1, 0.5),
        (0.2, 0.25, 0.3, 0.5, 1),
    ]
)
R3 = [[1, 0.56, 0.48], [0.56, 1, 0.42], [0.48, 0.42, 1]]


def factor_rows(n=300, p=6, K=2, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(p, K))
    return rng.normal(size=(n, K)) @ A.T + rng.normal(size=(n, p)) * np.linspace(0.3, 1.2, p) + 5


def holes(X, share=0.2, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def steps(model, X, count):
    """The fitted models at the start and after each of the first steps."""
    found = []
    for one in model.iterate(X):
        found.append(one)
        if len(found) > count:
            break
    return found


# probabilistic PCA by hand


def test_closed_form_of_one_component():
    model = ProbabilisticPCA(1).fit(Y6)
    assert model.noise_variance_ == pytest.approx(0.5595343624, rel=1e-9)
    assert_allclose(np.abs(model.components_[0]), [1.5597788645, 1.5296513111, 0.2205757764], rtol=1e-9)
    assert np.sum(model.components_**2) == pytest.approx(5.3809312751 - 0.5595343624, rel=1e-9)
    assert model.log_likelihood_ == pytest.approx(-27.1055759530, rel=1e-10)
    assert model.score(Y6) * 6 == pytest.approx(-27.1055759530, rel=1e-10)


def test_closed_form_of_two_components():
    model = ProbabilisticPCA(2).fit(Y6)
    C = model.components_.T @ model.components_
    assert model.noise_variance_ == pytest.approx(0.0866712825, rel=1e-8)
    assert_allclose(np.diag(C), [2.8299953842, 2.8299953842, 0.5799953842], rtol=1e-9)
    assert_allclose(C[[0, 1], [2, 2]], [2 / 3, 0], atol=1e-10)
    assert model.log_likelihood_ == pytest.approx(-23.3482310721, rel=1e-10)


def test_one_em_step_by_hand():
    fixed = ProbabilisticPCA(1, method="em", noise_variance=1.0, init=START, max_iter=2, tol=0)
    first, second, third = steps(fixed, Y6, 2)
    means, covariances = first.posterior(Y6)
    assert_allclose(covariances, 0.25)
    assert_allclose(means[:, 0], [-1.25, -1, 0, 0.25, 0.75, 1.25])
    assert_allclose(second.components_, [[1.44, 1.28, 0.32]])
    assert_allclose(third.trace_.objective, [-30.6997766810, -28.0325640366], rtol=1e-10)
    learned = steps(ProbabilisticPCA(1, method="em", init=START, max_iter=2, tol=0), Y6, 2)
    assert_allclose(learned[1].components_, [[1.44, 1.28, 0.32]])
    assert learned[1].noise_variance_ == pytest.approx(0.8422222222)
    assert learned[2].trace_[1] == pytest.approx(-27.6600210963, rel=1e-10)


def test_one_penalized_step_by_hand():
    model = ProbabilisticPCA(1, noise_variance=1.0, loadings_precision=1.0, init=START, max_iter=2, tol=0)
    _, second, third = steps(model, Y6, 2)
    assert_allclose(second.components_, [[1.2413793103, 1.1034482759, 0.275862069]], rtol=1e-9)
    assert_allclose(third.trace_.objective, [-32.1997766810, -29.6195358389], rtol=1e-10)


def test_limits_with_known_noise():
    em = ProbabilisticPCA(1, method="em", noise_variance=1.0, init=START, tol=1e-15, max_iter=3000).fit(Y6)
    closed = ProbabilisticPCA(1, noise_variance=1.0).fit(Y6)
    for model in (em, closed):
        assert_allclose(np.abs(model.components_[0]), [1.4868248418, 1.4581064152, 0.2102589998], rtol=1e-6)
        assert model.log_likelihood_ == pytest.approx(-27.9466841483, rel=1e-9)
    prior = ProbabilisticPCA(
        1, noise_variance=1.0, loadings_precision=1.0, init=START, tol=1e-15, max_iter=3000
    ).fit(Y6)
    assert_allclose(np.abs(prior.components_[0]), [1.106285037, 1.0849168403, 0.1564450491], rtol=1e-6)
    assert prior.trace_[-1] == pytest.approx(-29.5171286212, rel=1e-9)


def test_six_rows_with_three_holes():
    start = (np.array([3.2, 4, 1]), np.ones((3, 1)), 1.0)
    first = steps(ProbabilisticPCA(1, init=start, max_iter=2, tol=0), HOLED, 2)
    assert_allclose(first[1].mean_, [3.3066936356, 3.9330766671, 0.9967519100], rtol=1e-9)
    assert_allclose(first[1].components_[0], [1.4549132132, 0.9125909026, 0.4872135047], rtol=1e-9)
    assert first[1].noise_variance_ == pytest.approx(0.9168735579, rel=1e-9)
    assert_allclose(first[2].trace_.objective, [-25.1581046394, -23.6325510946], rtol=1e-10)
    model = ProbabilisticPCA(1, init=start, max_iter=20_000, tol=1e-14).fit(HOLED)
    assert model.log_likelihood_ == pytest.approx(-23.0806955892, rel=1e-9)
    assert_allclose(model.mean_, [3.5997121259, 3.8164569336, 0.9925481433], rtol=1e-5)
    assert_allclose(np.abs(model.components_[0]), [1.7315216113, 1.2033024349, 0.2290169458], rtol=1e-5)
    assert model.noise_variance_ == pytest.approx(0.5790688683, rel=1e-5)
    believed = model.impute_distribution(HOLED)
    assert_allclose(
        believed.mean[[1, 2, 4], [1, 2, 0]], [2.8987416018, 0.9552888595, 5.5982727557], rtol=1e-5
    )
    assert_allclose(
        believed.covariance[[1, 2, 4], [1, 2, 0], [1, 2, 0]],
        [0.8100682965, 0.5851127292, 1.4139730821],
        rtol=1e-4,
    )
    assert_allclose(model.impute(HOLED), believed.mean)


def test_iris_likelihoods_and_criteria():
    X = load_iris().data
    models = [ProbabilisticPCA(k).fit(X) for k in (1, 2, 3)]
    assert_allclose(
        [m.log_likelihood_ for m in models],
        [-470.6694583210, -404.9627801561, -379.9146301223],
        rtol=1e-9,
    )
    assert_allclose([m.bic() for m in models], [986.434634, 870.053184, 829.978154], rtol=1e-8)
    assert ProbabilisticPCA("bic").fit(X).n_components_ == 3
    assert models[0].aic() == pytest.approx(2 * 470.669458321 + 2 * 9)
    assert models[0].bic(X) == pytest.approx(models[0].bic())


# probabilistic PCA, properties


@given(st.integers(0, 1000))
@settings(max_examples=8, deadline=None)
def test_em_climbs_to_the_closed_form(seed):
    X = factor_rows(60, 5, 2, seed)
    rng = np.random.default_rng(seed)
    start = (X.mean(axis=0), rng.normal(size=(5, 2)), 1.0)
    em = ProbabilisticPCA(2, method="em", init=start, tol=1e-13, max_iter=20_000).fit(X)
    assert (np.diff(em.trace_.objective) >= -1e-8).all()
    closed = ProbabilisticPCA(2).fit(X)
    assert em.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-6)
    assert_allclose(em.get_covariance(), closed.get_covariance(), atol=2e-2)


def test_holes_that_are_not_there_change_no_step():
    X = factor_rows(40, 4, 2)
    start = (X.mean(axis=0), np.random.default_rng(0).normal(size=(4, 2)), 0.7)
    from gnomon.core.rows import Chunk
    from gnomon.decomposition._latent import em_on_covariance, em_on_rows, latent_sums

    mean, W, noise = start
    psi = np.full(4, noise)
    S = np.cov(X.T, bias=True)
    chunk = Chunk(X, None, np.ones(40), 0)
    for tau in (0.0, 1.0):
        a, psi_a, value_a, slope_a = em_on_covariance(S, 40.0, W, psi, tau, True)
        found = latent_sums(chunk, mean, W, psi)
        center, b, psi_b, slope_b = em_on_rows(found, mean, W, psi, tau, True)
        assert_allclose(b, a, atol=1e-10)
        assert_allclose(center, mean, atol=1e-10)
        assert_allclose(psi_b, psi_a, rtol=1e-10)
        assert found.log_likelihood == pytest.approx(value_a)
        assert slope_b == pytest.approx(slope_a)


@pytest.mark.parametrize("kind", [ProbabilisticPCA, FactorAnalysis])
def test_density_of_what_was_observed(kind):
    X = holes(factor_rows())
    X[3] = np.nan
    model = kind(2, tol=1e-3).fit(X)
    assert (np.diff(model.trace_.objective) >= -1e-8 * abs(model.trace_[-1])).all()
    C = model.get_covariance()
    for i in (0, 1, 2, 5):
        o = ~np.isnan(X[i])
        twin = multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(X[i, o])
        assert model.score_samples(X[i : i + 1])[0] == pytest.approx(twin, rel=1e-8)
    assert model.score_samples(X[3:4])[0] == 0.0
    assert_allclose(model.transform(X[3:4]), 0)
    family = Gaussian(model.mean_, C)
    i = int(np.flatnonzero(np.isnan(X).sum(axis=1) == 2)[0])
    o = np.flatnonzero(~np.isnan(X[i]))
    twin = family.condition(o, X[i, o])
    believed = model.impute_distribution(X[i : i + 1])
    m = np.isnan(X[i])
    assert_allclose(believed.mean[0, m], twin.means[0], rtol=1e-8)
    assert_allclose(believed.covariance[0][np.ix_(m, m)], twin.covariances[0], rtol=1e-6)
    assert_allclose(believed.mean[0, ~m], X[i, ~m])
    assert_allclose(model.get_precision() @ C, np.eye(6), atol=1e-8)


def test_no_noise_is_pca():
    X = factor_rows(50, 5, 2)
    model, pca = ProbabilisticPCA(2, noise_variance=1e-10).fit(X), PCA(2).fit(X)
    scores = pca.transform(X)
    latent = model.transform(X) * np.sqrt(np.sum(model.components_**2, axis=1))
    assert_allclose(latent, scores, atol=1e-4)


def test_rotations_and_scales():
    X = factor_rows(100, 4, 1)
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    a, b = ProbabilisticPCA(1).fit(X), ProbabilisticPCA(1).fit(X @ Q)
    assert_allclose(Q.T @ a.get_covariance() @ Q, b.get_covariance(), atol=1e-9)
    scale = np.array([1.0, 10.0, 0.1, 3.0])
    c, d = FactorAnalysis(1, tol=1e-10).fit(X), FactorAnalysis(1, tol=1e-10).fit(X * scale)
    assert_allclose(np.abs(d.components_), np.abs(c.components_ * scale), rtol=1e-5)
    assert_allclose(d.communalities_, c.communalities_, rtol=1e-5)


def test_shift_costs_no_digits():
    X = factor_rows(200, 5, 2)
    for kind in (ProbabilisticPCA, FactorAnalysis):
        for data in (X, holes(X)):
            plain, shifted = kind(2, tol=1e-9).fit(data), kind(2, tol=1e-9).fit(data + 1e8)
            assert shifted.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-5)
            assert_allclose(shifted.get_covariance(), plain.get_covariance(), rtol=1e-3, atol=1e-3)


def test_bad_input():
    X = factor_rows(20, 4, 1)
    with pytest.raises(DataError, match="n_components=4"):
        ProbabilisticPCA(4).fit(X)
    empty = X.copy()
    empty[:, 2] = np.nan
    with pytest.raises(DataError, match="no observed entry"):
        ProbabilisticPCA(1).fit(empty)
    with pytest.raises(DataError, match="complete rows"):
        ProbabilisticPCA("bic").fit(holes(X))
    with pytest.raises(DataError, match="closed_form"):
        ProbabilisticPCA(1, method="closed_form").fit(holes(X))
    with pytest.raises(DegenerateError, match="variance"):
        ProbabilisticPCA(1).fit(np.ones((5, 3)))
    with pytest.raises(DataError, match="init must hold"):
        ProbabilisticPCA(1, init=(0, 0, 0)).fit(X)
    with pytest.warns(UserWarning, match="unbounded"):
        ProbabilisticPCA(2).fit(np.c_[X[:, :1], X[:, :1], X[:, :1] * 2, X[:, 1]])


# factor analysis


def test_three_columns_by_hand():
    for method in ("ecm", "em", "lbfgs"):
        model = FactorAnalysis(1, tol=1e-13, method=method, max_iter=5000).fit_moments(R3, 100)
        assert_allclose(model.components_, [[0.8, 0.7, 0.6]], atol=1e-5)
        assert_allclose(model.noise_variance_, [0.36, 0.51, 0.64], atol=1e-5)
        assert model.log_likelihood_ == pytest.approx(-391.5605143014, rel=1e-9)
    means, covariances = model.posterior([[1, 0, 2]])
    assert means[0, 0] == pytest.approx(0.9526070900, abs=1e-5)
    assert covariances[0, 0, 0] == pytest.approx(0.2325007100, abs=1e-5)


@pytest.mark.parametrize("method", ["ecm", "em", "lbfgs"])
def test_five_columns(method):
    options = dict(tol=1e-13, method=method, max_iter=100_000)
    one = FactorAnalysis(1, **options).fit_moments(R5, 100)
    assert_allclose(
        one.noise_variance_, [0.63721146, 0.55134517, 0.56467554, 0.63204938, 0.76614883], atol=1e-6
    )
    assert one.log_likelihood_ / 100 == pytest.approx(-6.6216285478, rel=1e-9)
    assert_allclose(one.components_, [[0.6023193, 0.6698170, 0.6597912, 0.6065893, 0.4835816]], atol=1e-6)
    two = FactorAnalysis(2, **options).fit_moments(R5, 100)
    assert_allclose(two.noise_variance_, [0.5456842, 0.4483439, 0.6010230, 0.3899537, 0.5850998], atol=1e-5)
    assert two.log_likelihood_ / 100 == pytest.approx(-6.5446304449, rel=1e-9)
    assert_allclose(two.communalities_ + two.uniqueness_, 1)


def test_prior_on_loadings_shrinks_them():
    X = factor_rows(30, 5, 1)
    free, tight = FactorAnalysis(1).fit(X), FactorAnalysis(1, loadings_precision=20.0).fit(X)
    assert np.sum(tight.components_**2) < np.sum(free.components_**2)
    assert (np.diff(tight.trace_.objective) >= -1e-9).all()


def test_rotations_keep_the_likelihood():
    X = factor_rows(200, 8, 3)
    plain = FactorAnalysis(3, tol=1e-8).fit(X)
    for rotation in ("varimax", "quartimax", "promax"):
        turned = FactorAnalysis(3, tol=1e-8, rotation=rotation).fit(X)
        assert turned.score(X) == pytest.approx(plain.score(X), rel=1e-9)
        assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-8)
        assert turned.transform(X).shape == (200, 3)
    assert_allclose(np.diag(turned.factor_correlation_), 1)
    means, covariances = turned.posterior(X[:2])
    assert_allclose(means, turned.transform(X[:2]))
    A = plain.components_
    varimax = rotate_components(A)
    assert_allclose(varimax.T @ varimax, A.T @ A, atol=1e-10)
    spread = lambda B: np.sum(np.var(B**2, axis=1))  # noqa: E731
    rng = np.random.default_rng(0)
    for _ in range(20):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        assert spread(Q @ A) <= spread(varimax) + 1e-9
    assert_allclose(rotate_components(Q @ A, "procrustes", target=A), A, atol=1e-8)
    with pytest.raises(DataError, match="target"):
        rotate_components(A, "procrustes")
    with pytest.raises(DataError, match="varimax"):
        rotate_components(A, "varimx")


def test_factors_are_tested_and_told():
    X = factor_rows(500, 8, 2)
    assert FactorAnalysis(1, tol=1e-8).fit(X).test().pvalue < 1e-3
    fine = FactorAnalysis(2, tol=1e-8).fit(X)
    assert fine.test().pvalue > 0.01 and fine.test().dof == 13
    table = fine.loadings()
    assert table.shape == (8, 3) and "communality" in table
    with pytest.warns(UserWarning, match="at most 1"):
        FactorAnalysis(2).fit(X[:, :3])
    with pytest.raises(DataError, match="noise_variance_init"):
        FactorAnalysis(1, noise_variance_init=[1.0]).fit(X)
    with pytest.raises(DataError, match="covariance"):
        FactorAnalysis(1).fit_moments([[1.0, 2.0], [0.0, 1.0]], 10)


def test_files_are_rows(tmp_path):
    import pandas as pd

    X = holes(factor_rows(2000, 4, 1))
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcd")).to_parquet(path)
    for kind in (ProbabilisticPCA, FactorAnalysis):
        a, b = kind(1).fit(str(path)), kind(1).fit(X)
        assert_allclose(a.get_covariance(), b.get_covariance(), rtol=1e-6)


# the family


def test_family_is_the_model():
    X = factor_rows(200, 5, 2)
    ppca, fa = ProbabilisticPCA(2).fit(X), FactorAnalysis(2, tol=1e-8).fit(X)
    for model, noise in ((ppca, "spherical"), (fa, "diag")):
        family = LowRankGaussian(rank=2, noise=noise).fit(X)
        assert family.log_likelihood(X)[0] == pytest.approx(model.log_likelihood_, rel=1e-6)
        assert_allclose(model.family().log_density(X)[:, 0], model.score_samples(X), rtol=1e-9)
        assert family.parameter_count() == model.n_parameters_
        draws = family.sample(5000, random_state=0)
        assert_allclose(np.cov(draws.T), family.covariance_matrices()[0], atol=0.5)
    gap = holes(X)
    assert_allclose(family.log_density(gap), family.gaussian.log_density(gap))
    assert family.entropy().shape == (1,)
    assert family.kl(family)[0] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("noise", ["spherical", "diag"])
def test_mixture_of_projections(noise):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 6, 1)) * 3
    X = np.r_[rng.normal(size=(200, 1)) @ A.T, 4 + rng.normal(size=(200, 1)) @ B.T]
    X = X + 0.3 * rng.normal(size=X.shape)
    model = Mixture(LowRankGaussian(rank=1, noise=noise), 2, random_state=0).fit(X)
    labels = model.predict(X)
    share = np.mean(labels[:200] == labels[0])
    assert share > 0.97 and np.mean(labels[200:] != labels[0]) > 0.97
    assert (np.diff(model.trace_.objective) >= -1e-6).all()


def test_family_says_what_is_wrong():
    with pytest.raises(DataError, match="noise"):
        LowRankGaussian(noise="diagonal")
    with pytest.raises(DataError, match="rank"):
        LowRankGaussian(rank=0)
    with pytest.raises(DataError, match="together"):
        LowRankGaussian(means=[0.0, 0.0])
    with pytest.raises(DataError, match="loadings"):
        LowRankGaussian([0.0, 0.0], [[1.0]], [1.0, 1.0])
    with pytest.raises(DataError, match="below"):
        LowRankGaussian(rank=3).fit(Y6)
    with pytest.raises(DataError, match="missing"):
        LowRankGaussian(rank=1).fit(HOLED)
    with pytest.raises(DegenerateError, match="variance"):
        LowRankGaussian(rank=1).fit(np.ones((4, 2)))


@pytest.mark.parametrize("method", ["ecm", "em", "lbfgs"])
def test_no_factor_means_independent_columns(method):
    X = np.random.default_rng(0).normal(size=(30, 4)) * [1, 2, 3, 4]
    model = FactorAnalysis(0, method=method).fit(X)
    assert model.components_.shape == (0, 4) and model.transform(X).shape == (30, 0)
    assert_allclose(model.get_covariance(), np.diag(X.var(axis=0)), rtol=1e-10)


@pytest.mark.parametrize("name", ["components_", "mean_"])
@pytest.mark.parametrize("kind", [FactorAnalysis, ProbabilisticPCA])
def test_files_whose_columns_do_not_fit_are_refused(kind, name, tmp_path):
    model = kind(1).fit(Y6)
    setattr(model, name, getattr(model, name)[..., :-1])
    gnomon.save(model, tmp_path / "model.gnomon")
    with pytest.raises(ModelFileError, match="columns"):
        gnomon.load(tmp_path / "model.gnomon")


# units


@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_units_of_a_table_with_holes_change_no_step(scale):
    X = holes(factor_rows(60))
    plain, scaled = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(X * scale)
    assert scaled.n_iter_ == plain.n_iter_
    assert_allclose(scaled.get_covariance() / scale**2, plain.get_covariance(), rtol=1e-7)
    assert_allclose(scaled.impute(X * scale) / scale, plain.impute(X), rtol=1e-7)


def test_columns_of_very_different_units_keep_their_factors():
    X = factor_rows()
    units = np.array([1e-6, 1.0, 1e6, 3.0, 1e3, 0.1])
    plain, scaled = FactorAnalysis(2, tol=1e-10).fit(X), FactorAnalysis(2, tol=1e-10).fit(X * units)
    assert_allclose(scaled.communalities_, plain.communalities_, rtol=1e-5)
    assert_allclose(scaled.noise_variance_ / units**2, plain.noise_variance_, rtol=1e-5)


def test_constant_column_has_a_little_noise_and_no_factor():
    X = np.c_[factor_rows(), np.full(300, 0.1)]
    model = FactorAnalysis(2, tol=1e-8).fit(X)
    assert_allclose(model.components_[:, -1], 0, atol=1e-12)
    assert_allclose(model.noise_variance_[-1], 1e-12 * X.var(axis=0).mean(), rtol=1e-6)


def test_rows_without_any_entry_change_nothing():
    X = holes(factor_rows(80))
    more = np.r_[X, np.full((10, 6), np.nan)]
    plain, padded = (ProbabilisticPCA(2, tol=1e-12, max_iter=20_000).fit(one) for one in (X, more))
    assert_allclose(padded.get_covariance(), plain.get_covariance(), rtol=1e-3, atol=1e-4)
    assert_allclose(padded.score_samples(more)[80:], 0, atol=1e-12)
    assert_allclose(padded.impute(more)[80:], np.tile(padded.mean_, (10, 1)), rtol=1e-12)


@pytest.mark.parametrize("kind", [ProbabilisticPCA, FactorAnalysis])
def test_weights_of_rows_with_holes_are_repetitions(kind):
    X, w = holes(factor_rows(60)), np.random.default_rng(2).integers(1, 5, 60)
    weighted, repeated = kind(2).fit(X, sample_weight=w.astype(float)), kind(2).fit(np.repeat(X, w, axis=0))
    assert_allclose(weighted.get_covariance(), repeated.get_covariance(), rtol=1e-7)


def test_variances_of_columns_with_holes_keep_their_digits_far_from_zero():
    X = holes(factor_rows(200))
    model = ProbabilisticPCA(2)
    work = model._prepare(model._read(X + 1e8))
    assert_allclose(work.variances, np.nanvar(X + 1e8, axis=0), rtol=1e-6)
