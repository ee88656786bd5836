"""Gaussian mixtures: hand-computed steps, properties of EM, priors, labels, missing entries."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions import Gaussian
from gnomon.mixture import GaussianMixture

TYPES = ["full", "tied", "diag", "spherical", "tied_spherical", "identity"]


def column(*values):
    return np.array(values, dtype=float)[:, None]


def states(model, X, **options):
    """Fitted copies: the start, then after every step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return list(model.iterate(X, **options))


def groups(n=120, d=3, k=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    return 3.0 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def made(weights, means, covariances, kind="full"):
    """A fitted mixture with these parameters."""
    family = Gaussian(means, covariances, covariance_type=kind)
    return GaussianMixture(len(weights))._made(np.asarray(weights, dtype=float), family)


# oracles


def test_spherical_start_with_overall_variance():
    X = column(0, 1, 9, 10)
    options = dict(covariance_type="spherical", init_params="overall", means_init=[[0], [10]], reg_covar=0)
    seen = states(GaussianMixture(2, tol=0, max_iter=60, **options), X)
    assert_allclose(seen[0].covariances_, [20.5, 20.5], atol=1e-9)
    assert_allclose(seen[0].predict_proba(X)[:, 0], [0.9197551, 0.8755796, 0.1244204, 0.0802449], atol=1e-6)
    assert_allclose(seen[1].means_.ravel(), [1.3989062, 8.6010938], atol=1e-6)
    assert_allclose(seen[1].covariances_, [7.5321236, 7.5321236], atol=1e-6)
    assert_allclose(seen[-1].trace_.objective[:3], [-12.1049389, -10.7077531, -7.4747341], atol=1e-6)
    assert_allclose(seen[-1].trace_[-1], -5.6757541, atol=1e-6)
    assert_allclose(seen[-1].means_.ravel(), [0.5, 9.5], atol=1e-6)
    assert_allclose(seen[-1].covariances_, 0.25, atol=1e-6)


SIX = column(-1, 0, 1, 4, 5, 6)
SIX_START = dict(
    weights_init=[0.5, 0.5], means_init=[[0], [4]], precisions_init=[[[1.0]], [[1.0]]], reg_covar=0
)


def test_one_step_on_six_points():
    seen = states(GaussianMixture(2, tol=0, max_iter=2, **SIX_START), SIX)
    assert_allclose(seen[1].weights_, [0.4970023, 0.5029977], atol=1e-6)
    assert_allclose(seen[1].means_.ravel(), [-0.0055691, 4.9757046], atol=1e-6)
    assert_allclose(seen[1].covariances_.ravel(), [0.6664752, 0.7601981], atol=1e-6)
    assert_allclose(seen[-1].trace_.objective, [-13.1536811, -11.4697677], atol=1e-6)
    prior = states(GaussianMixture(2, tol=0, max_iter=1, weight_concentration=2, **SIX_START), SIX)
    assert_allclose(prior[1].weights_, [0.4977517, 0.5022483], atol=1e-6)


def test_identity_covariance():
    X = column(0, 1, 2, 4, 5)
    model = GaussianMixture(
        2, covariance_type="identity", weights_init=[0.5, 0.5], means_init=[[1], [4]], tol=0, max_iter=300
    )
    seen = states(model, X)
    assert_allclose(
        seen[0].predict_proba(X)[:, 0], [0.9994472, 0.9890131, 0.8175745, 0.0109869, 0.0005528], atol=1e-6
    )
    assert_allclose(seen[1].weights_[0], 0.5635149, atol=1e-6)
    assert_allclose(seen[1].means_.ravel(), [0.9479337, 4.2746597], atol=1e-6)
    assert_allclose(seen[-1].trace_.objective[:2], [-9.3358139, -9.1648133], atol=1e-6)
    assert_allclose(seen[-1].weights_[0], 0.5920563, atol=1e-6)
    assert_allclose(seen[-1].means_.ravel(), [0.9995829, 4.4324518], atol=1e-6)
    assert_allclose(seen[-1].trace_[-1], -9.1375955, atol=1e-6)


ROWS = np.array([[0, 0], [1, 0.5], [0.5, 1], [4, 4], [5, 4.5], [4, 5.5]])
PRECISIONS = {
    "full": np.tile(np.eye(2), (2, 1, 1)),
    "tied": np.eye(2),
    "diag": np.ones((2, 2)),
    "spherical": np.ones(2),
}


@pytest.mark.parametrize(
    ("kind", "after"),
    [("full", -11.6519938), ("tied", -12.4197887), ("diag", -12.1380620), ("spherical", -12.2539990)],
)
def test_covariance_types_after_one_step(kind, after):
    start = dict(weights_init=[0.5, 0.5], means_init=[[0, 0], [4, 4]], precisions_init=PRECISIONS[kind])
    seen = states(GaussianMixture(2, covariance_type=kind, reg_covar=0, tol=0, max_iter=2, **start), ROWS)
    assert_allclose(seen[-1].trace_.objective, [-18.1860545, after], atol=1e-6)
    if kind == "full":
        assert_allclose(seen[1].covariances_[0], [[0.1666684, 0.0833363], [0.0833363, 0.1666684]], atol=1e-6)
        assert_allclose(
            seen[1].covariances_[1], [[0.2226067, -0.0551303], [-0.0551303, 0.3893441]], atol=1e-6
        )


def test_hard_em():
    X = column(0, 1, 2, 6, 7, 11)
    start = dict(weights_init=[0.5, 0.5], means_init=[[0], [6]], precisions_init=[1.0, 1.0], reg_covar=0)
    model = GaussianMixture(2, covariance_type="spherical", algorithm="hard", tol=1e-12, **start).fit(X)
    assert_allclose(model.trace_.objective[:2], [-25.1725143, -14.3749842], atol=1e-6)
    assert_allclose(model.means_.ravel(), [1, 8], rtol=1e-12)
    assert_allclose(model.covariances_, [2 / 3, 14 / 3], rtol=1e-12)
    assert_allclose(model.trace_[-1], model.trace_[1])


def test_density_and_posterior_of_two_normals():
    X = column(0, 1, 2, 3)
    even = made([0.5, 0.5], [[0], [2]], [[[1]], [[0.5]]])
    assert_allclose(np.exp(even.score_samples(X)), [0.2046379, 0.2247622, 0.3090903, 0.1059928], atol=1e-6)
    assert_allclose(even.predict_proba(X)[:, 1], [0.0252482, 0.4617185, 0.9126615, 0.9790936], atol=1e-6)
    odd = made([0.8, 0.2], [[0], [2]], [[[1]], [[0.5]]])
    assert_allclose(np.exp(odd.score_samples(X)), [0.3212205, 0.2350873, 0.1560307, 0.0450562], atol=1e-6)
    assert_allclose(odd.predict_proba(X)[:, 1], [0.0064339, 0.1765759, 0.7231777, 0.9213099], atol=1e-6)


def test_information_criteria_of_six_points():
    one = GaussianMixture(1, reg_covar=0).fit(SIX)
    assert_allclose(
        [one.trace_[-1], one.bic(SIX), one.aic(SIX)], [-14.3154331, 32.2143851, 32.6308661], atol=1e-6
    )
    two = GaussianMixture(2, reg_covar=0, tol=1e-12, max_iter=1000, random_state=0).fit(SIX)
    assert_allclose(
        [two.trace_[-1], two.bic(SIX), two.aic(SIX)], [-11.4560929, 31.8709832, 32.9121858], atol=1e-6
    )


def test_all_labels_known():
    X = np.array([[0, 0], [2, 0], [0, 4], [10, 10], [12, 14]], dtype=float)
    model = GaussianMixture(2, covariance_type="spherical", reg_covar=0).fit(X, labels=[0, 0, 0, 1, 1])
    assert_allclose(model.weights_, [0.6, 0.4], rtol=1e-12)
    assert_allclose(model.means_, [[2 / 3, 4 / 3], [11, 12]], rtol=1e-12)
    assert_allclose(model.covariances_, [2.2222222222, 2.5], rtol=1e-9)


def test_row_with_a_hole():
    model = made([0.5, 0.5], [[0, 0], [4, 4]], np.tile(np.eye(2), (2, 1, 1)))
    row = np.array([[0, np.nan]])
    assert_allclose(model.score_samples(row), [-1.6117503], atol=1e-6)
    assert_allclose(model.predict_proba(row)[0, 0], 0.9996646, atol=1e-6)


def test_moments_and_conditional():
    model = made([0.3, 0.7], [[0, 0], [2, 1]], [[[1, 0.5], [0.5, 2]], [[0.5, 0], [0, 1]]])
    mean, covariance = model.moments()
    assert_allclose(mean, [1.4, 0.7], rtol=1e-12)
    assert_allclose(covariance, [[1.49, 0.57], [0.57, 1.51]], rtol=1e-12)
    given = model.conditional([1, np.nan])
    assert_allclose(given.weights_, [0.3331724, 0.6668276], atol=1e-6)
    assert_allclose(given.means_.ravel(), [0.5, 1], rtol=1e-12)
    assert_allclose(given.covariances_.ravel(), [1.75, 1], rtol=1e-12)
    assert_allclose(model.impute([[1, np.nan]]), [[1, 0.8334138]], atol=1e-6)
    assert_allclose(quad(lambda y: np.exp(given.score_samples([[y]])[0]), -20, 20)[0], 1, atol=1e-8)


def test_numbers_of_parameters():
    X = np.random.default_rng(0).normal(size=(60, 4))
    counts = [
        GaussianMixture(3, covariance_type=kind, random_state=0).fit(X).n_parameters_ for kind in TYPES[:4]
    ]
    assert counts == [44, 24, 26, 17]


# properties


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("algorithm", ["em", "hard"])
def test_likelihood_never_falls(kind, algorithm):
    options = dict(covariance_type=kind, algorithm=algorithm, reg_covar=0, tol=0, max_iter=25, random_state=1)
    model = states(GaussianMixture(3, init_params="overall", **options), groups())[-1]
    trace = model.trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[1:]))


@pytest.mark.parametrize("kind", TYPES[:5])
def test_penalized_likelihood_never_falls(kind):
    priors = dict(
        covariance_prior=2.0,
        covariance_dof=6.0,
        mean_prior=np.ones(3),
        mean_precision=2.0,
        weight_concentration=3.0,
    )
    model = GaussianMixture(
        3, covariance_type=kind, reg_covar=0, tol=0, max_iter=40, random_state=1, **priors
    )
    trace = states(model, groups())[-1].trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[1:]))


def test_inverse_wishart_prior_formula():
    X = groups()
    S, nu = 2.0 * np.eye(3), 7.0
    model = GaussianMixture(1, reg_covar=0, covariance_prior=S, covariance_dof=nu).fit(X)
    assert_allclose(
        model.covariances_[0], (S + len(X) * np.cov(X.T, bias=True)) / (nu + len(X) + 3 + 1), rtol=1e-10
    )
    shrunk = GaussianMixture(1, mean_prior=np.ones(3), mean_precision=30.0).fit(X)
    assert_allclose(shrunk.means_[0], (30.0 + len(X) * X.mean(axis=0)) / (30.0 + len(X)), rtol=1e-10)


def test_gradient_vanishes_at_convergence():
    X = groups(200, 2, 2)
    model = GaussianMixture(2, reg_covar=0, tol=1e-14, max_iter=5000, random_state=0).fit(X)
    base = model.score(X)
    h = 1e-5
    for k in range(2):
        for j in range(2):
            for sign in (1, -1):
                means = model.means_.copy()
                means[k, j] += sign * h
                moved = made(model.weights_, means, model.covariances_)
                assert abs(moved.score(X) - base) / h < 1e-4
    assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    assert_allclose(model.weights_.sum(), 1, rtol=1e-12)


def test_permuted_components_have_the_same_likelihood():
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    order = [2, 0, 1]
    other = made(model.weights_[order], model.means_[order], model.covariances_[order])
    assert_allclose(other.score_samples(X), model.score_samples(X), rtol=1e-10)


def test_equal_starting_means_stay_equal_and_are_reported():
    start = dict(weights_init=[0.3, 0.7], means_init=[[1.0], [1.0]], precisions_init=[1.0, 1.0])
    with pytest.warns(ConvergenceWarning, match="identical"):
        model = GaussianMixture(2, covariance_type="spherical", **start).fit(SIX)
    assert_allclose(model.means_[0], model.means_[1])
    assert_allclose(model.weights_, [0.3, 0.7], atol=1e-12)


@pytest.mark.parametrize("kind", TYPES)
def test_one_component_is_the_plain_fit(kind):
    X = groups()
    model = GaussianMixture(1, covariance_type=kind, reg_covar=0).fit(X)
    plain = Gaussian(covariance_type=kind).fit(X)
    assert_allclose(model.means_, plain.means, rtol=1e-10)
    assert_allclose(model.score_samples(X), plain.log_density(X)[:, 0], rtol=1e-9)


def test_full_covariance_ends_no_lower_than_spherical():
    X = groups()
    ball = GaussianMixture(
        3, covariance_type="spherical", reg_covar=0, tol=1e-10, max_iter=500, random_state=0
    ).fit(X)
    start = dict(weights_init=ball.weights_, means_init=ball.means_)
    precisions = ball.precisions_[:, None, None] * np.eye(3)
    full = GaussianMixture(3, reg_covar=0, precisions_init=precisions, **start).fit(X)
    assert full.score(X) >= ball.score(X) - 1e-12


def test_tiny_covariance_gives_k_means_labels():
    from gnomon.cluster import KMeans

    X = groups()
    centers = KMeans(3, random_state=0, tol=0).fit(X)
    tiny = made(np.full(3, 1 / 3), centers.cluster_centers_, np.full(3, 1e-6), "spherical")
    assert np.array_equal(tiny.predict(X), centers.labels_)


def test_concentration_empties_surplus_components():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 20])
    few = GaussianMixture(
        6, weight_concentration=1e-3, random_state=0, tol=1e-10, max_iter=3000, init_params="random", n_init=3
    ).fit(X)
    assert np.sum(few.weights_ == 0) > 0
    even = GaussianMixture(2, weight_concentration=1e9, random_state=0).fit(X)
    assert_allclose(even.weights_, 0.5, atol=1e-6)
    ml = GaussianMixture(2, random_state=0).fit(X)
    assert_allclose(GaussianMixture(2, random_state=0, weight_concentration=1.0).fit(X).means_, ml.means_)


def test_samples_match_weights_and_moments():
    model = made([0.3, 0.7], [[0, 0], [5, 1]], [[[1, 0.5], [0.5, 2]], [[0.5, 0], [0, 1]]])
    X, labels = model.sample(40000, random_state=0)
    assert abs(np.mean(labels == 1) - 0.7) < 4 * np.sqrt(0.21 / 40000)
    mean, covariance = model.moments()
    assert_allclose(X.mean(axis=0), mean, atol=0.05)
    assert_allclose(np.cov(X.T), covariance, atol=0.15)
    _, grouped = model.sample(50, random_state=0, ordered=True)
    assert np.all(np.diff(grouped) >= 0)


def test_density_integrates_to_one():
    model = made([0.3, 0.7], [[0], [3]], [[[1]], [[0.2]]])
    assert_allclose(
        quad(lambda x: np.exp(model.score_samples([[x]])[0]), -15, 15, points=[0, 3])[0], 1, atol=1e-8
    )


def test_weight_two_is_the_row_twice_and_order_is_irrelevant():
    X = groups()
    weight = np.ones(len(X))
    weight[:30] = 2
    for init in ("kmeans", "random", "k-means++", "random_from_data", "overall"):
        options = dict(init_params=init, random_state=3, max_iter=5, tol=0)
        heavy = states(GaussianMixture(3, **options), X, sample_weight=weight)[-1]
        twice = states(GaussianMixture(3, **options), np.vstack([X[:30], X]))[-1]
        back = states(GaussianMixture(3, **options), np.vstack([X[:30], X])[::-1])[-1]
        assert_allclose(heavy.means_, twice.means_, rtol=1e-8, atol=1e-8)
        assert_allclose(back.means_, twice.means_, rtol=1e-8, atol=1e-8)


def test_semi_supervised_labels_are_kept():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 3])
    labels = np.full(120, -1)
    labels[:5], labels[60:65] = 1, 0  # the other way round than k-means would number them
    model = GaussianMixture(2, random_state=0).fit(X, labels=labels)
    assert model.means_[0].mean() > 2 > model.means_[1].mean()
    with pytest.raises(DataError, match="labels must be"):
        GaussianMixture(2).fit(X, labels=np.full(120, 2))


def with_holes(share=0.2, seed=0):
    X = groups(200, 3, 2, seed)
    X[np.random.default_rng(seed + 1).random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("kind", TYPES)
def test_missing_entries_likelihood_never_falls(kind):
    options = dict(covariance_type=kind, reg_covar=0, tol=0, max_iter=20, random_state=0)
    model = states(GaussianMixture(2, **options), with_holes())[-1]
    trace = model.trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[1:]))


def test_imputed_entries_have_a_distribution():
    X = with_holes()
    model = GaussianMixture(2, random_state=0).fit(X)
    mean, covariance = model.impute_distribution(X)
    seen = ~np.isnan(X)
    assert_allclose(mean[seen], X[seen])
    assert_allclose(np.diagonal(covariance, axis1=1, axis2=2)[seen], 0)
    assert np.all(np.diagonal(covariance, axis1=1, axis2=2)[~seen] > 0)
    i = int(np.flatnonzero((~seen).sum(axis=1) == 1)[0])
    given = model.conditional(X[i])
    assert_allclose(mean[i][~seen[i]], given.moments()[0], rtol=1e-9)
    assert_allclose(covariance[i][~seen[i]][:, ~seen[i]], given.moments()[1], rtol=1e-9)


def test_marginal_is_the_mixture_of_marginals():
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    holes = X.copy()
    holes[:, 1] = np.nan
    assert_allclose(model.marginal([0, 2]).score_samples(X[:, [0, 2]]), model.score_samples(holes), rtol=1e-9)


def test_partial_fit_learns_from_batches():
    X = groups(600, 2, 2)
    model = GaussianMixture(2, random_state=0)
    for batch in np.array_split(X, 3):
        model.partial_fit(batch)
    whole = GaussianMixture(2, random_state=0).fit(X)
    assert model.score(X) > whole.score(X) - 0.1
    assert_allclose(model.sums_.mass.sum(), 600)


def test_warm_start_goes_on():
    X = groups()
    model = GaussianMixture(3, max_iter=2, warm_start=True, random_state=0, tol=0, reg_covar=0).fit(X)
    first = model.trace_[-1]
    assert model.fit(X).trace_[0] >= first - 1e-9


# adversarial


def test_collapsing_component_is_named():
    X = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9])
    with pytest.raises(DegenerateError, match="component"):
        GaussianMixture(2, reg_covar=0, random_state=0).fit(X)
    assert np.isfinite(GaussianMixture(2, random_state=0).fit(X).lower_bound_)


def test_duplicated_rows_and_too_many_components():
    X = np.repeat(column(0.0, 1.0), 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(3, random_state=0).fit(X)
    assert np.all(np.isfinite(model.means_))
    with pytest.raises(DataError, match="n_samples >= n_components"):
        GaussianMixture(11).fit(X)


def test_as_many_components_as_rows():
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = GaussianMixture(6, random_state=0).fit(X)
    assert np.isfinite(model.score(X))


def test_empty_column_is_an_error():
    X = with_holes()
    X[:, 1] = np.nan
    with pytest.raises(DataError, match="'x1' has no observed entry"):
        GaussianMixture(2).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"means_init": [[0.0, 1.0]]}, "means_init must have shape"),
        ({"weights_init": [0.5, 0.6]}, "probabilities"),
        ({"precisions_init": [[1.0]]}, "precisions_init must have shape"),
        ({"covariance_type": "fixed"}, "needs precisions_init"),
    ],
)
def test_wrong_starts_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        GaussianMixture(2, **options).fit(SIX)


# parity


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_same_steps_as_scikit_learn(kind):
    from sklearn.mixture import GaussianMixture as Peer

    X = groups()
    shape = {"full": (3, 1, 1), "tied": None, "diag": (3, 1), "spherical": None}[kind]
    eye = {"full": np.eye(3), "tied": np.eye(3), "diag": np.ones(3), "spherical": np.ones(3)}[kind]
    start = dict(
        weights_init=np.full(3, 1 / 3),
        means_init=X[:3],
        precisions_init=np.tile(eye, shape) if shape else eye,
    )
    ours = GaussianMixture(3, covariance_type=kind, tol=1e-5, max_iter=500, **start).fit(X)
    theirs = Peer(3, covariance_type=kind, tol=1e-5, max_iter=500, **start).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    for name in (
        "weights_",
        "means_",
        "covariances_",
        "precisions_",
        "precisions_cholesky_",
        "lower_bounds_",
    ):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


def test_chunks_and_parquet_agree(tmp_path, monkeypatch):
    import pandas as pd

    import gnomon.core.rows

    X = with_holes()
    options = dict(random_state=0, tol=0, max_iter=6, init_params="random")
    whole = states(GaussianMixture(2, **options), X)[-1]
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=["a", "b", "c"]).to_parquet(path)
    stored = states(GaussianMixture(2, **options), path)[-1]
    assert_allclose(stored.means_, whole.means_, rtol=1e-9)
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_ROWS", 16)
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_BYTES", 16)
    cut = states(GaussianMixture(2, **options), X)[-1]
    assert_allclose(cut.covariances_, whole.covariances_, rtol=1e-9)
    assert stats.entropy(cut.weights_) > 0


def test_components_follow_what_is_written_into_the_model():
    """The factors are kept between predictions, and made anew where means or covariances have changed."""
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = GaussianMixture(2, random_state=0).fit(X)
    first = model.components_
    assert model.components_ is first
    before = model.predict([[5.0]])
    model.means_[:] = model.means_[::-1].copy()
    assert model.components_ is not first
    assert model.predict([[5.0]]) != before
    model.reg_covar = 0.5
    assert model.components_.reg_covar == 0.5


@pytest.mark.parametrize("name", ["weights_init", "means_init", "precisions_init"])
@pytest.mark.parametrize("value", [[[1.0], [2.0, 3.0]], [["a", "b"], ["c", "d"]]])
def test_ragged_starts_are_refused_by_name(name, value):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(DataError, match=f"{name} must be an array of numbers"):
        GaussianMixture(2, **{name: value}).fit(X)
