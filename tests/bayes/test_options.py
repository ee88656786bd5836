"""Options of naive Bayes and discriminants against scikit-learn; independence of tables by hand."""

import numpy as np
import pytest
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as PeerLDA

from gnomon import bayes
from gnomon.bayes import JointTable


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
@pytest.mark.parametrize("settings", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_priors_and_counts_as_in_scikit_learn(name, settings):
    rng = np.random.default_rng(3)
    X, y, w = rng.integers(0, 4, (40, 5)), np.repeat([0, 1, 2], [20, 12, 8]), rng.random(40) + 0.2
    ours = getattr(bayes, name)(alpha=0.5, **settings).fit(X, y, sample_weight=w)
    theirs = getattr(peers, name)(alpha=0.5, **settings).fit(X, y, sample_weight=w)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert_allclose(ours.class_log_prior_, theirs.class_log_prior_)
    assert_allclose(ours.class_count_, theirs.class_count_)
    for kept in ("feature_count_", "category_count_"):
        if hasattr(theirs, kept):
            for a, b in zip(getattr(ours, kept), getattr(theirs, kept), strict=True):
                assert_allclose(a, b)


@pytest.mark.parametrize("cut", [None, 0.0, 1.0, 2.5])
def test_bernoulli_rows_are_cut_as_in_scikit_learn(cut):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 4, (40, 5)).astype(float), np.repeat([0, 1], 20)
    X = (X > 1).astype(float) if cut is None else X
    ours, theirs = (kind.BernoulliNB(binarize=cut).fit(X, y) for kind in (bayes, peers))
    assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_gaussian_counts_and_floor_as_in_scikit_learn():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)) * [1, 10, 0.1], np.repeat([0, 1], [20, 10])
    X[y == 1, 1] = 2.0  # a constant column of a class has the floor alone
    ours, theirs = (kind.GaussianNB(var_smoothing=1e-3).fit(X, y) for kind in (bayes, peers))
    assert ours.epsilon_ == pytest.approx(theirs.epsilon_) == pytest.approx(1e-3 * X.var(axis=0).max())
    assert_allclose(ours.var_, theirs.var_)
    assert ours.class_count_.tolist() == [20, 10]
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))


def test_discriminants_kept_are_the_first():
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(c, 1, (15, 4)) for c in (0, 2, 5, 9)]) * [1, 2, -1, 3]
    X[:30, 1] += 7
    y = np.repeat(np.arange(4), 15)
    whole = bayes.LinearDiscriminantAnalysis().fit(X, y)
    theirs = PeerLDA(n_components=2).fit(X, y)
    ours = bayes.LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    Z, peer = ours.transform(X), theirs.transform(X)
    assert Z.shape == (60, 2) and whole.transform(X).shape == (60, 3)
    assert_allclose(np.abs(Z - Z.mean(0)), np.abs(peer - peer.mean(0)), atol=1e-8)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_allclose(ours.predict_proba(X), whole.predict_proba(X))


def test_pairs_that_are_independent_though_the_three_are_not():
    P = np.zeros((2, 2, 2))
    for a in (0, 1):
        for b in (0, 1):
            P[a, b, a ^ b] = 0.25  # the parity of two coins
    table = JointTable(P, axes=["a", "b", "c"])
    assert table.independent_pairs() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert table.independence_residual() == pytest.approx(0.125) and not table.is_independent()
    tilted = JointTable(np.multiply.outer([0.3, 0.7], [[0.4, 0.1], [0.1, 0.4]]), axes=["a", "b", "c"])
    assert tilted.independent_pairs() == [("a", "b"), ("a", "c")]
    assert tilted.independence_residual() == pytest.approx(0.7 * 0.15)
    assert JointTable(np.outer([0.3, 0.7], [0.5, 0.5])).is_independent()
    sizes = JointTable(np.full((2, 3, 4), 1 / 24))
    assert [sizes.parameter_count(m) for m in ("full", "independent", "conditional")] == [23, 6, 11]
    assert JointTable(np.outer([0.3, 0.7], [0.5, 0.5])).expectation([2.0, 4.0]) == pytest.approx(3.4)
