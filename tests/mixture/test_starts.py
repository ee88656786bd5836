"""How a mixture begins: labels of one component alone, equal means, holes without rows; and the bare loop of EM."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from gnomon.mixture import (
    AspectModel,
    BinomialMixture,
    GaussianMixture,
    PoissonMixture,
    expected_complete_loglik,
    run_em,
)

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
