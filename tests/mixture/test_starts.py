"""How a mixture begins: labels of one component alone, equal means, holes without rows; and the bare loop of EM."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.core.rows import Chunk
from gnomon.distributions import Gaussian
from gnomon.distributions.moments import DiagonalMoments
from gnomon.mixture import (
    AspectModel,
    BinomialMixture,
    GaussianMixture,
    PoissonMixture,
    beliefs,
    expected_complete_loglik,
    run_em,
    starts,
)
from gnomon.mixture.framework import bound_gap, lower_bound

CENTERS = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
GROUP = np.repeat([0, 1, 2], 30)
X = CENTERS[GROUP] + np.random.default_rng(0).normal(size=(90, 2))


def first_means(model, X, **options):
    return next(iter(model.iterate(X, **options))).means_


@pytest.mark.parametrize("init", ["kmeans", "k-means++"])
@pytest.mark.parametrize("group", [0, 1, 2])
@pytest.mark.parametrize("name", [0, 1, 2])
def test_a_start_gives_the_labeled_rows_their_own_center(init, group, name):
    labels = np.full(90, -1)
    labels[np.flatnonzero(group == GROUP)[:4]] = name
    means = first_means(GaussianMixture(3, init_params=init, random_state=1), X, labels=labels)
    assert_allclose(means[name], CENTERS[group], atol=1)


def test_labels_with_holes_are_judged_by_the_columns_they_have():
    labels, holes = np.full(90, -1), X.copy()
    labels[:3], labels[30:33] = 2, 1
    holes[:3, 1] = holes[30:33, 1] = np.nan  # the first column tells the groups apart
    means = first_means(GaussianMixture(3, random_state=1), holes, labels=labels)
    assert means[2, 0] < 5 and means[1, 0] > 15


def test_equal_means_are_moved_by_a_thousandth_of_the_deviation():
    two = np.repeat([[0.0, 0.0], [1.0, 1e6]], 5, axis=0)
    model = GaussianMixture(4, init_params="overall", covariance_type="diag", reg_covar=1e-9, random_state=0)
    with pytest.warns(Warning) as told:
        means = first_means(model, two)
    assert any("starting means coincide" in str(one.message) for one in told)
    gaps = np.abs(means[:, None] - two[None, [0, -1]]).min(axis=1) / two.std(axis=0)
    assert (gaps < 5e-3).all()
    assert len(np.unique(means, axis=0)) == 4
    assert (gaps > 0).any(axis=1).sum() == 2


@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_the_size_of_all_weights_does_not_matter(scale):
    plain = GaussianMixture(3, random_state=0).fit(X, sample_weight=np.ones(90))
    found = GaussianMixture(3, random_state=0).fit(X, sample_weight=np.full(90, scale))
    assert_allclose(found.means_, plain.means_, rtol=1e-6)
    assert_allclose(found.weights_, plain.weights_, rtol=1e-6)
    assert_allclose(found.covariances_, plain.covariances_, rtol=1e-6)


def test_more_rows_must_have_the_columns_of_the_first():
    model = GaussianMixture(2, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.column_stack([X, X]))


def test_a_group_without_entries_of_a_column_starts_like_all_rows():
    counts = np.array([[1.0, 4.0], [2.0, 8.0], [1.0, 6.0], [50.0, np.nan], [52.0, np.nan]])
    start = next(iter(PoissonMixture(2, random_state=0).iterate(counts, labels=[0, 0, 0, 1, 1])))
    assert_allclose(start.components_.rate, [[4 / 3, 6], [51, 6]])
    normal = next(
        iter(GaussianMixture(2, covariance_type="diag", reg_covar=0, random_state=0).iterate(counts))
    )
    order = np.argsort(normal.means_[:, 0])
    assert_allclose(normal.means_[order], [[4 / 3, 6], [51, 6]])
    assert_allclose(normal.covariances_[order], [[2 / 9, 8 / 3], [1, 8 / 3]])


def test_the_bare_loop_returns_the_last_of_everything():
    def e_step(t):
        return t + 1, -t * t

    found = run_em(e_step, lambda e: (e - 1) / 2, 4.0, max_iter=2, tol=0)  # 4, 2, 1
    assert (found.parameters, found.expected, found.log_likelihood) == (1.0, 3.0, -4.0)
    assert found.trace.objective.tolist() == [-16, -4] and not found.converged
    found = run_em(e_step, lambda e: (e - 1) / 2, 4.0, max_iter=9, tol=4)  # the gains are 12 and 3
    assert (found.parameters, found.log_likelihood, found.converged) == (0.5, -1.0, True)


def test_what_has_no_share_adds_nothing_though_it_is_impossible():
    joint = np.log([[0.25, 0.5], [1.0, 0.125]])
    joint[1, 0] = -np.inf
    assert expected_complete_loglik(joint, [[0.5, 0.5], [0.0, 1.0]]) == pytest.approx(
        np.log(1 / 8) / 2 - np.log(8)
    )
    assert expected_complete_loglik(joint[:1], [[1.0, 0.0]]) == pytest.approx(-np.log(4))
    assert expected_complete_loglik(joint, [[0.5, 0.5], [0.5, 0.5]]) == -np.inf


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_every_component_starts_with_the_variances_of_all_rows(kind):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = GaussianMixture(3, init_params="overall", covariance_type=kind, reg_covar=0, random_state=0)
    start = next(iter(model.iterate(holes)))
    variance = np.nanvar(holes, axis=0)
    expected = {"full": [np.diag(variance)] * 3, "tied": np.diag(variance), "diag": [variance] * 3}[kind]
    assert_allclose(start.covariances_, expected)
    assert_allclose(start.weights_, 1 / 3)
    whole = next(iter(model.iterate(X))).covariances_
    S = np.cov(X.T, bias=True)
    assert_allclose(whole, {"full": [S] * 3, "tied": S, "diag": [np.diag(S)] * 3}[kind])


def test_components_that_start_equal_are_told():
    model = GaussianMixture(2, init_params="overall", means_init=[[5.0, 5.0], [5.0, 5.0]], random_state=0)
    with pytest.warns(ConvergenceWarning, match="components 0 and 1 are identical"):
        model.fit(X + 100)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        GaussianMixture(3, random_state=0).fit(X)
    assert not any("identical" in str(one.message) for one in told)


@pytest.mark.parametrize(("top", "expected"), [(0, 1), (1, 1), (6.5, 7), (7, 7)])
def test_as_many_throws_as_the_largest_count(top, expected):
    counts = np.array([[0.0], [top], [0.0], [top]])
    start = next(iter(BinomialMixture(1, random_state=0).iterate(counts)))
    assert start.components_.n == expected
    assert_allclose(start.components_.p, top / 2 / expected)


def test_topics_of_a_document_of_one_word():
    counts = np.array([[4.0, 2, 0, 0], [3, 3, 0, 0], [0, 0, 3, 1], [0, 1, 2, 2]])
    model = AspectModel(2, random_state=0, max_iter=200).fit(counts)
    rows = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 0, 0]])
    found = model.fold_in(rows)
    assert_allclose(found[:2], model.fold_in(5 * rows)[:2], atol=1e-9)
    assert_allclose(found[2], model.weights_)
    best = model.components_[:, [0, 3]].argmax(axis=0)  # one word is likeliest under one topic alone
    assert found[:2].argmax(axis=1).tolist() == best.tolist() and found[:2].max(axis=1).min() > 0.9


def test_a_first_assignment_spreads_a_share_of_every_row():
    counts = np.array([[1.0], [2.0], [1.0], [50.0], [52.0]])
    start = next(iter(PoissonMixture(2, random_state=0).iterate(counts)))
    far = PoissonMixture._blur / 2
    low = ((1 - far) * 4 + far * 102) / ((1 - far) * 3 + far * 2)
    high = (far * 4 + (1 - far) * 102) / (far * 3 + (1 - far) * 2)
    order = np.argsort(start.components_.rate[:, 0])
    assert_allclose(start.components_.rate[order, 0], [low, high])
    assert_allclose(start.weights_[order], np.array([(1 - far) * 3 + far * 2, far * 3 + (1 - far) * 2]) / 5)


@pytest.mark.parametrize("wrong", [[[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [-1.0, 1.0]]])
def test_every_given_precision_is_positive(wrong):
    with pytest.raises(ValueError, match="should be positive"):
        GaussianMixture(2, covariance_type="diag", precisions_init=wrong).fit(X)
    given = GaussianMixture(2, covariance_type="diag", precisions_init=np.abs(wrong) + 1.0, random_state=0)
    assert_allclose(next(iter(given.iterate(X))).covariances_, 1 / (np.abs(wrong) + 1.0))


def test_free_numbers_of_an_aspect_model():
    counts = np.random.default_rng(0).poisson(3.0, (5, 7)) + 1.0
    assert AspectModel(3, random_state=0).fit(counts).n_parameters_ == 2 + 3 * 4 + 3 * 6


# the parts of a start


def chunk(X, y=None, weight=None):
    X = np.asarray(X, dtype=float)
    y = None if y is None else np.asarray(y, dtype=float)
    return Chunk(X, y, np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float), 0)


HOLES = [[1.0, np.nan], [2.0, 3.0], [np.nan, np.nan], [4.0, 5.0]]


def test_what_is_known_before_the_first_step():
    found = starts.overview(chunk(HOLES, [1, -1, 0, 1], [1, 2, 3, 4]), 3)
    assert (found.rows, found.missing, found.known) == (10, 3, 3)
    assert found.entries.tolist() == [7, 6] and found.labels.tolist() == [3, 5, 0]
    none = starts.overview(chunk(HOLES), 2)
    assert (none.rows, none.known) == (4, 0) and none.labels.tolist() == [0, 0]


def test_random_numbers_follow_from_values_and_seed():
    U = starts.uniforms(X, 7, 4)
    assert U.shape == (90, 4) and 0 < U.min() and U.max() < 1
    assert_allclose(U.mean(), 0.5, atol=0.06)
    assert_allclose(U.var(), 1 / 12, atol=0.02)
    assert np.abs(np.corrcoef(U.T) - np.eye(4)).max() < 0.35
    order = np.random.default_rng(1).permutation(90)
    np.testing.assert_array_equal(starts.uniforms(X[order], 7, 4), U[order])
    np.testing.assert_array_equal(starts.uniforms(X, 7, 2), U[:, :2])
    assert not np.isclose(starts.uniforms(X, 8, 4), U).any()
    assert len(np.unique(U)) == U.size


def test_random_shares_are_summed():
    found = starts.random_sums(chunk(X, weight=np.arange(90.0)), Gaussian(covariance_type="diag"), 3, 5)
    U = starts.uniforms(X, 5, 3)
    resp = U / U.sum(axis=1, keepdims=True) * np.arange(90.0)[:, None]
    assert_allclose(found.mass, resp.sum(axis=0))
    assert_allclose(found.statistics.mean, resp.T @ X / resp.sum(axis=0)[:, None])


@pytest.mark.parametrize("blur", [0.0, 0.3])
def test_rows_go_to_the_nearest_center_or_to_their_label(blur):
    labels = np.where(np.arange(90) % 10 == 0, 2, -1)
    found = starts.nearest_sums(chunk(X, labels, GROUP + 1), Gaussian(covariance_type="diag"), CENTERS, blur)
    resp = (1 - blur) * np.eye(3)[GROUP] + blur / 3
    resp[labels == 2] = [0, 0, 1]
    resp *= (GROUP + 1)[:, None]
    assert_allclose(found.mass, resp.sum(axis=0))
    assert_allclose(found.statistics.mean, resp.T @ X / resp.sum(axis=0)[:, None])


def test_labeled_rows_by_hand():
    found = starts.label_sums(chunk(HOLES, [1, 0, -1, 1], [1, 2, 3, 4]), 3)
    assert found.weight.tolist() == [[2, 2], [5, 4], [0, 0]]
    assert found.sums.tolist() == [[4, 6], [17, 20], [0, 0]]
    labeled = starts.LabelSums(
        np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [40.0, 0.0], [0.5, 19.0]])
    )
    # label 1 was seen near 20 in the first column alone, label 2 near (½, 19)
    assert starts.renumbered(CENTERS, labeled).tolist() == [[0, 0], [20, 0], [0, 20]]
    assert starts.renumbered(CENTERS[::-1], labeled).tolist() == [[0, 0], [20, 0], [0, 20]]


@pytest.mark.parametrize(("label", "told"), [(-2, "-2"), (3, "3"), (0.5, "0.5")])
def test_labels_are_components_or_unknown(label, told):
    assert starts.check_labels(chunk(X[:3], [-1, 0, 2]), 3) == (0,)
    with pytest.raises(DataError, match=f"from 0 to 2; one is {told}"):
        starts.check_labels(chunk(X[:3], [-1, label, 2]), 3)


def test_columns_that_a_component_never_saw_are_those_of_all():
    weight = np.array([[1.0, 2.0], [3.0, 0.0]])
    moments = DiagonalMoments(weight, np.array([[1.0, 5.0], [5.0, 0.0]]), np.array([[0.0, 4.0], [3.0, 0.0]]))
    found = starts.filled(moments)
    assert found.weight.tolist() == [[1, 2], [3, 1]]
    assert found.mean.tolist() == [[1, 5], [5, 5]]
    assert found.scatter.tolist() == [[0, 4], [3, 2]]
    three = DiagonalMoments(
        np.array([[1.0], [3.0], [0.0]]), np.array([[1.0], [5.0], [0.0]]), np.zeros((3, 1))
    )
    assert starts.filled(three).mean[2] == 4 and starts.filled(three).scatter[2] == pytest.approx(3)
    full = DiagonalMoments(weight + 1, moments.mean, moments.scatter)
    assert starts.filled(full) is full


def test_correlations_begin_at_those_of_the_rough_start():
    rough = starts.rough(Gaussian(covariance_type="full", reg_covar=0.5))
    assert rough._is_diagonal and rough.reg_covar == 0.5
    plain = Gaussian(covariance_type="diag")
    assert starts.rough(plain) is plain
    simple = plain.replace(means=CENTERS, covariances=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    full = starts.refined(Gaussian(covariance_type="full"), simple, np.ones(3))
    assert_allclose(full.means, CENTERS)
    assert_allclose(full.covariances[1], np.diag([3.0, 4.0]))
    tied = starts.refined(Gaussian(covariance_type="tied"), simple, np.array([2.0, 1.0, 1.0]))
    assert_allclose(tied.covariances, np.diag([2.5, 3.5]))
    assert starts.refined(plain, simple, np.ones(3)) is simple


def test_bounds_of_a_distribution_by_hand():
    joint, q = np.log([[0.1, 0.3], [0.2, 0.2]]), np.array([[0.5, 0.5], [1.0, 0.0]])
    expected = 0.5 * np.log(0.1) + 0.5 * np.log(0.3) + np.log(0.2)
    assert expected_complete_loglik(joint, q) == pytest.approx(expected)
    assert lower_bound(joint, q) == pytest.approx(expected + np.log(2))
    assert bound_gap(joint, q) == pytest.approx(2 * np.log(0.4) - expected - np.log(2))
    assert bound_gap(joint, [[0.25, 0.75], [0.5, 0.5]]) == pytest.approx(0, abs=1e-12)


def test_a_fall_of_the_likelihood_is_told():
    with pytest.warns(ConvergenceWarning, match="fell by 1 to -2"):
        run_em(lambda t: (t, -float(t)), lambda e: e + 1, 1, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_em(
            lambda t: (t, -1e9 - float(t)), lambda e: e + 1, 1, max_iter=2, tol=2.0
        )  # rounding, of so much


def kl_by_draws(q, p, n=200_000):
    draws = q.rvs(n, random_state=0)
    draws = draws.T if draws.ndim == 2 else draws
    gap = q.logpdf(draws) - p.logpdf(draws)
    return gap.mean(), 5 * gap.std() / np.sqrt(n)


def test_how_far_a_belief_about_weights_is_from_its_prior():
    q, p = np.array([3.0, 1.5, 4.0]), np.array([1.0, 2.0, 0.5])
    mean, error = kl_by_draws(stats.dirichlet(q), stats.dirichlet(p))
    assert beliefs.weight_divergence(q, p) == pytest.approx(mean, abs=error)
    assert beliefs.weight_divergence(q, q) == pytest.approx(0, abs=1e-12)
    sticks, prior = np.array([[3.0, 1.5], [2.0, 0.7]]), np.array([[1.0, 1.0], [2.0, 3.0]])
    pairs = [kl_by_draws(stats.beta(*sticks[:, k]), stats.beta(*prior[:, k])) for k in range(2)]
    assert beliefs.weight_divergence(sticks, prior) == pytest.approx(
        sum(mean for mean, _ in pairs), abs=sum(error for _, error in pairs)
    )
    assert beliefs.weight_divergence(sticks, sticks) == pytest.approx(0, abs=1e-12)


def test_expected_weights_and_their_logs():
    q = np.array([3.0, 1.5, 4.0])
    draws = stats.dirichlet(q).rvs(200_000, random_state=1)
    assert_allclose(beliefs.expected_log_weights(q), np.log(draws).mean(axis=0), atol=0.02)
    sticks = np.array([[3.0, 1.5, 2.0], [2.0, 0.7, 1.0]])
    V = np.random.default_rng(2).beta(*sticks[:, None], size=(200_000, 3))
    weights = V * np.c_[np.ones(200_000), np.cumprod(1 - V, axis=1)[:, :-1]]
    assert_allclose(beliefs.expected_log_weights(sticks), np.log(weights).mean(axis=0), atol=0.03)
    means = beliefs.stick_means(sticks)
    assert means.sum() == pytest.approx(1.0)
    assert_allclose(means / means[0], weights.mean(axis=0) / weights.mean(axis=0)[0], rtol=0.02)


def wishart_belief(seed, d=2):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return rng.normal(size=d), rng.uniform(0.5, 3), d + rng.uniform(1, 4), A @ A.T + np.eye(d)


def test_how_far_a_belief_about_a_normal_is_from_its_prior():
    (m, kappa, v, S), (m0, kappa0, v0, S0) = wishart_belief(1), wishart_belief(2)
    belief = beliefs.Belief(np.ones(1), m[None], np.array([kappa]), np.array([v]), (S / v)[None])
    prior = beliefs.Belief(np.ones(1), m0[None], np.array([kappa0]), np.array([v0]), (S0 / v0)[None])
    family = Gaussian(covariance_type="full").replace(means=m[None], covariances=(S / v)[None])
    n, rng = 100_000, np.random.default_rng(3)
    precisions = stats.wishart(v, np.linalg.inv(S)).rvs(n, random_state=4)
    covariances = np.linalg.inv(precisions)
    mu = m + np.einsum("nab,nb->na", np.linalg.cholesky(covariances / kappa), rng.normal(size=(n, 2)))

    def log_density(m, kappa, v, S):
        gaps = mu - m
        square = np.einsum("na,nab,nb->n", gaps, precisions, gaps)
        normal = 0.5 * (2 * np.log(kappa / (2 * np.pi)) + np.linalg.slogdet(precisions)[1] - kappa * square)
        return normal + stats.wishart(v, np.linalg.inv(S)).logpdf(precisions.transpose(1, 2, 0))

    gap = log_density(m, kappa, v, S) - log_density(m0, kappa0, v0, S0)
    found = beliefs.normal_divergence(family, belief, prior, S0)
    assert found == pytest.approx(gap.mean(), abs=5 * gap.std() / np.sqrt(n))
    assert beliefs.normal_divergence(family, belief, belief, S) == pytest.approx(0, abs=1e-9)
    x = np.array([0.3, -0.7])
    square = np.einsum("na,nab,nb->n", x - mu, precisions, x - mu)
    expected = (0.5 * (np.linalg.slogdet(precisions)[1] - 2 * np.log(2 * np.pi) - square)).mean()
    said = stats.multivariate_normal(m, S / v).logpdf(x) + beliefs.log_precision_offset(belief, 2)[0]
    assert said == pytest.approx(expected, abs=0.05)
