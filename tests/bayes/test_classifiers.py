"""Generative classifiers: numbers of the course, properties, parity with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.special import ndtr
from sklearn import discriminant_analysis, naive_bayes
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from gnomon.bayes import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    gaussian_rule_1d,
    two_normals,
)
from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions import Gaussian, Poisson, Product

K = np.array([[4, 2], [2, 4], [2, 3], [3, 6], [4, 4], [9, 10], [6, 8], [9, 5], [8, 7], [10, 8]], dtype=float)
KY = np.repeat([0, 1], 5)
SPAM = np.array([0, 4, 1, 0, 4, 0, 5, 5, 1, 3, 2])
MAIL = np.array([1, 3, 4, 1, 1, 4, 0, 1, 1, 0, 0])
NEW = np.array([[0, 2, 1, 0, 2, 0, 3, 1, 0, 1, 0]])


def blobs(n=200, d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    A = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ A + 3 * rng.normal(size=(k, d))[y], y


def counts(n=200, d=12, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.poisson(rng.gamma(1.0, 2.0, size=(k, d))[y]).astype(float), y


def test_gaussian_naive_bayes_by_hand():
    X = [[1, 2], [2, 1], [3, 4], [6, 5], [7, 8], [8, 6]]
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.theta_, [[2, 7 / 3], [7, 19 / 3]], rtol=1e-12)
    np.testing.assert_allclose(model.var_, [[2 / 3, 14 / 9]] * 2, rtol=1e-12)
    assert model.predict_proba([[4.5, 4]])[0, 0] == pytest.approx(0.7020633699, abs=1e-10)
    assert model.predict_proba([[4.5, np.nan]])[0, 0] == pytest.approx(0.5, abs=1e-12)


def test_categorical_naive_bayes_by_hand():
    X = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [1, 1], [0, 0], [2, 0]]
    model = CategoricalNB().fit(X, [0, 0, 1, 1, 0, 1, 1, 1])
    np.testing.assert_allclose(
        model.predict_proba([[0, 1], [1, 0]])[:, 0], [0.7159090909, 0.1299303944], atol=1e-10
    )


def test_documents_by_hand():
    X = [
        SPAM,
        [1, 2, 0, 0, 3, 1, 4, 2, 1, 2, 1],
        [1, 3, 4, 1, 1, 4, 0, 1, 1, 0, 1],
        [2, 1, 2, 3, 0, 2, 1, 1, 2, 1, 0],
    ]
    y = ["+", "+", "-", "-"]
    assert MultinomialNB().fit(X, y).predict_log_proba(NEW)[0, 1] == pytest.approx(-7.0105102828, abs=1e-9)
    assert BernoulliNB().fit(X, y).predict_proba(NEW)[0, 0] == pytest.approx(27 / 29, rel=1e-12)


def test_poisson_naive_bayes_by_hand():
    model = PoissonNB().fit([SPAM, MAIL], ["spam", "email"])
    np.testing.assert_allclose(model.rates_, (np.array([MAIL, SPAM]) + 1) / 2)
    assert model.log_odds(NEW)[0, 0] == pytest.approx(4.7227628920, abs=1e-9)
    likely = PoissonNB(shape=0, rate=0).fit([SPAM, MAIL], ["spam", "email"])
    assert likely.joint_log_likelihood(NEW)[0, 0] == -np.inf


def test_pet_documents():
    words = np.log([[0.5, 0.4, 0.05, 0.05], [0.1, 0.1, 0.5, 0.3]])
    model = MultinomialNB(alpha=0, class_prior=[0.2, 0.8])
    model.fit([[10, 8, 1, 1], [1, 1, 5, 3]], [0, 1])
    np.testing.assert_allclose(model.feature_log_prob_, words, rtol=1e-12)
    weights, offset = model.log_odds_weights()
    np.testing.assert_allclose(
        -weights, [1.6094379124, 1.3862943611, -2.3025850930, -1.7917594692], atol=1e-10
    )
    document = np.array([[3, 2, 1, 0]])
    assert model.predict_proba(document)[0, 0] == pytest.approx(0.9803921569, abs=1e-10)
    np.testing.assert_allclose(np.exp(document @ model.feature_log_prob_.T), [[0.001, 5e-6]], rtol=1e-12)
    ml = MultinomialNB(alpha=0).fit(np.vstack([document, [[0, 0, 0, 1]]]), [0, 1])
    np.testing.assert_allclose(np.exp(ml.feature_log_prob_[0]), [1 / 2, 1 / 3, 1 / 6, 0], rtol=1e-12)
    smooth = MultinomialNB().fit(np.vstack([document, [[0, 0, 0, 1]]]), [0, 1])
    np.testing.assert_allclose(np.exp(smooth.feature_log_prob_[0]), [0.4, 0.3, 0.2, 0.1], rtol=1e-12)


def test_linear_discriminant_by_hand():
    model = LinearDiscriminantAnalysis().fit(K, KY)
    np.testing.assert_allclose(model.coef_, [[4.26910299, 1.96013289]], atol=1e-8)
    assert model.intercept_[0] == pytest.approx(-35.50664452, abs=1e-8)
    np.testing.assert_allclose(model.covariance_, [[1.32, -0.12], [-0.12, 2.2]], rtol=1e-12)
    assert model.predict_proba([[6, 5]])[0, 1] == pytest.approx(0.4771753428, abs=1e-10)


def test_fisher_with_classes_counted_alike():
    model = LinearDiscriminantAnalysis(weighting="class", threshold="midpoint").fit(K, KY)
    np.testing.assert_allclose(2 * model.covariance_, [[2.64, -0.24], [-0.24, 4.4]], rtol=1e-12)
    unit = model.scalings_[:, 0] / np.linalg.norm(model.scalings_[:, 0])
    np.testing.assert_allclose(unit, [0.9087855843, 0.4172634200], atol=1e-9)
    np.testing.assert_allclose(model.coef_ / 2, [[2.134551495, 0.980066445]], atol=1e-9)
    assert -model.intercept_[0] / 2 == pytest.approx(17.7533222591, abs=1e-9)


def test_fisher_ratio_is_the_top_eigenvalue_of_between_against_within():
    model = LinearDiscriminantAnalysis(weighting="class").fit(K, KY)
    means = np.array([K[KY == 0].mean(axis=0), K[KY == 1].mean(axis=0)])
    between = (means - means.mean(axis=0)).T @ (means - means.mean(axis=0)) / 2
    within = sum(np.cov(K[KY == k].T, ddof=0) for k in (0, 1))
    w = model.scalings_[:, 0]
    assert (w @ between @ w) / (w @ within @ w) == pytest.approx(3.8127076412, abs=1e-9)
    assert model.ratios_[0] / 2 == pytest.approx(3.8127076412, abs=1e-9)


def test_quadratic_discriminant_by_hand():
    model = QuadraticDiscriminantAnalysis().fit(K, KY)
    np.testing.assert_allclose(
        model.covariance_, [[[0.8, -0.2], [-0.2, 1.76]], [[1.84, -0.04], [-0.04, 2.64]]], rtol=1e-12
    )
    assert model.decision_function([[6, 5]])[0] == pytest.approx(3.2055511684, abs=1e-9)
    A, b, c = model.quadratic_
    x = np.array([6.0, 5.0])
    assert x @ A @ x + b @ x + c == pytest.approx(3.2055511684, abs=1e-9)


def test_spherical_discriminant_by_hand():
    model = LinearDiscriminantAnalysis(covariance_type="spherical").fit(K, KY)
    assert model.covariance_[0, 0] == pytest.approx(1.76, rel=1e-12)
    np.testing.assert_allclose(-model.coef_, [[-3.0681818182, -2.1590909091]], atol=1e-9)
    assert -model.intercept_[0] == pytest.approx(29.7954545455, abs=1e-9)


def test_two_normals_by_hand():
    w, t, error = two_normals([1, 2], [-1, 0], [[2, 0.5], [0.5, 1]])
    np.testing.assert_allclose([*w, t], [4 / 7, 12 / 7, 12 / 7], rtol=1e-12)
    assert error == pytest.approx(0.1425247037, abs=1e-10)
    _, shifted, _ = two_normals([1, 2], [-1, 0], [[2, 0.5], [0.5, 1]], priors=[0.2, 0.8])
    assert shifted - t == pytest.approx(np.log(4), rel=1e-12)
    w, t, _ = two_normals([1, 0], [-1, 0], [[1, 0.5], [0.5, 1]])
    np.testing.assert_allclose([*w, t], [8 / 3, -4 / 3, 0], atol=1e-12)


def test_one_dimensional_rules():
    regions, error = gaussian_rule_1d([0, 1], [1, 1])
    assert regions == [(0.5, np.inf)]
    assert error == pytest.approx(0.3085375387, abs=1e-10)
    regions, error = gaussian_rule_1d([0, 1], [1, 0.25])
    np.testing.assert_allclose(regions, [(0.3812080449, 2.2854586217)], atol=1e-9)
    assert error == pytest.approx(0.2266940674, abs=1e-9)
    assert gaussian_rule_1d([0, 1], [1, 0.25], [0.8, 0.2]) == ([], 0.2)


@pytest.mark.parametrize(
    ("means", "variances", "priors"),
    [
        ([0, 1], [1, 1], [0.3, 0.7]),
        ([1, 0], [1, 1], [0.3, 0.7]),  # the second on the left
        ([0, 0], [1, 1], [0.4, 0.6]),
        ([0, 0], [1, 1], [0.6, 0.4]),
        ([0, 0], [1, 4], [0.5, 0.5]),  # the outside of an interval
        ([0, 0], [4, 1], [0.5, 0.5]),
        ([2, -1], [1, 4], [0.5, 0.5]),
        ([2, -1], [4, 1], [0.2, 0.8]),
        ([0, 1], [1, 0.25], [0.8, 0.2]),
        ([0, 1], [0.25, 1], [0.01, 0.99]),
        ([0, 1], [1, 2], [0.0, 1.0]),
        ([0, 1], [1, 2], [1.0, 0.0]),
    ],
)
def test_regions_are_where_the_second_class_is_more_probable(means, variances, priors):
    regions, error = gaussian_rule_1d(means, variances, priors)
    x = np.linspace(-25, 25, 50_001)
    first, second = (p * stats.norm.pdf(x, m, np.sqrt(v)) for p, m, v in zip(priors, means, variances))
    inside = np.any([(low < x) & (x < high) for low, high in regions] or [x * 0 > 1], axis=0)
    clear = np.abs(second - first) > 1e-12
    assert (inside == (second > first))[clear].all()
    assert all(a[1] < b[0] for a, b in zip(regions, regions[1:])) and len(regions) <= 2
    assert error == pytest.approx(np.minimum(first, second).sum() * (x[1] - x[0]), abs=1e-5)
    for wrong, kind in (([1, 0], DegenerateError), ([1, -1], DegenerateError), ([1, 1, 1], DataError)):
        with pytest.raises(kind):
            gaussian_rule_1d(means, wrong)


def test_what_a_posterior_says_in_other_words():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [9.0]]), np.repeat([3, 5, 8], 2)
    model = GaussianNB().fit(X, y)
    P, Q = model.predict_proba(X), [[0.5], [4.0]]
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    np.testing.assert_allclose(model.log_odds(X), np.log(P[:, 1:] / P[:, :1]))
    joint = model.joint_log_likelihood(Q)
    np.testing.assert_allclose(model.predict_joint_log_proba(Q), joint)
    np.testing.assert_allclose(model.score_samples(Q), np.log(np.exp(joint).sum(axis=1)))
    rows, labels = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y).sample(3000, random_state=0)
    assert set(labels.tolist()) == {3, 5, 8} and rows.shape == (3000, 1)
    assert np.abs(np.bincount(labels)[[3, 5, 8]] / 3000 - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 3000)
    assert [rows[labels == k].mean() for k in (3, 5, 8)] == pytest.approx([0.5, 3.5, 7.5], abs=0.3)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.2, 0.3], "must match number of classes"),
        ([-0.5, 1.5], "non-negative"),
        ([0.5, 0.6], "sum of the priors should be 1"),
        ([0.5, 0.5 - 1e-6], "sum of the priors should be 1"),
        ("even", "among {'uniform'} or None"),
    ],
)
def test_priors_that_are_none(priors, message):
    with pytest.raises(ValueError, match=message):
        BayesClassifier(priors=priors).fit([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])


def test_classes_of_partial_fit_are_told_once():
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="on the first call"):
        GaussianNB().partial_fit(X, y)
    model = GaussianNB().partial_fit(X[:2], y[:2], classes=[0, 1])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X[2:], y[2:], classes=[0, 1, 2])
    model.partial_fit(X[2:], y[2:], classes=[1, 0])
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X, y).theta_)


@given(st.floats(-2, 2), st.floats(0.2, 4), st.floats(0.1, 0.9), st.floats(-3, 3))
def test_no_threshold_beats_the_bayes_error(mean, variance, prior, threshold):
    _, best = gaussian_rule_1d([0, mean], [1, variance], [1 - prior, prior])
    right = ndtr((threshold - mean) / np.sqrt(variance))
    above = (1 - prior) * ndtr(-threshold) + prior * right
    below = (1 - prior) * ndtr(threshold) + prior * (1 - right)
    assert best <= min(above, below, prior, 1 - prior) + 1e-12


MODELS = [
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    BayesClassifier("laplace"),
]
COUNTS = [
    MultinomialNB(),
    BernoulliNB(),
    ComplementNB(),
    PoissonNB(),
    CategoricalNB(),
    BayesClassifier("poisson"),
]


@pytest.mark.parametrize("model", MODELS + COUNTS, ids=lambda m: type(m).__name__)
def test_probabilities_sum_to_one_and_agree_with_the_decision(model):
    X, y = counts() if model in COUNTS else blobs()
    model.fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.log(P), model.predict_log_proba(X), atol=1e-9)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("model", [*MODELS[:3], *COUNTS[:5]], ids=lambda m: type(m).__name__)
def test_partial_fit_in_any_pieces_is_fit(model):
    X, y = counts(seed=1) if model in COUNTS else blobs(seed=1)
    whole = model.fit(X, y).predict_proba(X)
    pieces = type(model)(**model.get_params())
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 5):
        pieces._add(pieces._read(X[rows], y[rows], reset=not hasattr(pieces, "sums_"), classes=[0, 1, 2]))
    np.testing.assert_allclose(pieces.predict_proba(X), whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model", [MultinomialNB(), BernoulliNB(), ComplementNB(), PoissonNB()], ids=lambda m: type(m).__name__
)
def test_sparse_equals_dense(model):
    X, y = counts(seed=2)
    X[X < 3] = 0
    dense = model.fit(X, y).predict_log_proba(X)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_allclose(
            model.fit(form(X), y).predict_log_proba(form(X)), dense, rtol=1e-12, atol=1e-12
        )


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_missing_column_is_a_dropped_column(seed):
    X, y = blobs(n=60, seed=seed)
    full, part = GaussianNB(var_smoothing=0).fit(X, y), GaussianNB(var_smoothing=0).fit(X[:, 1:], y)
    holes = X.copy()
    holes[:, 0] = np.nan
    np.testing.assert_allclose(full.predict_proba(holes), part.predict_proba(X[:, 1:]), rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_linear_rules_are_linear(seed):
    X, y = counts(n=60, k=2, seed=seed)
    for model in (MultinomialNB(), BernoulliNB(), PoissonNB()):
        weights, offset = model.fit(X, y).log_odds_weights()
        Z = (X > 0).astype(float) if isinstance(model, BernoulliNB) else X
        np.testing.assert_allclose(model.log_odds(X)[:, 0], Z @ weights + offset, atol=1e-9)
        np.testing.assert_allclose(
            model.explain(X)[:, 1].sum(axis=1) + offset, model.log_odds(X)[:, 0], atol=1e-9
        )


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_discriminants_do_not_depend_on_the_coordinates(seed):
    X, y = blobs(n=80, d=3, seed=seed)
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        before = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(model.fit(X @ A + 5, y).predict_proba(X @ A + 5), before, atol=1e-6)


def test_equal_covariances_make_quadratic_linear():
    X, y = blobs(n=100, k=2, seed=3)
    centered = X[y == 0] - X[y == 0].mean(axis=0)
    Z, labels = np.vstack([centered, centered + 2]), np.repeat([0, 1], len(centered))
    linear = LinearDiscriminantAnalysis().fit(Z, labels).decision_function(X)
    quadratic = QuadraticDiscriminantAnalysis().fit(Z, labels).decision_function(X)
    np.testing.assert_allclose(quadratic, linear, atol=1e-8)


def test_boundary_passes_through_the_midpoint():
    model = LinearDiscriminantAnalysis(priors="uniform").fit(K, KY)
    assert model.decision_function(model.means_.mean(axis=0)[None])[0] == pytest.approx(0, abs=1e-9)


def test_mixed_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = np.column_stack([rng.normal(3 * y), rng.poisson(1 + 4 * y)])
    mixed = Product([Gaussian(covariance_type="diag"), Poisson()], [[0], [1]])
    model = BayesClassifier(mixed).fit(X, y)
    single = [BayesClassifier(f).fit(X[:, [j]], y) for j, f in enumerate(["gaussian", "poisson"])]
    parts = sum(m.log_odds(X[:, [j]])[:, 0] for j, m in enumerate(single)) - np.log(
        np.mean(y) / (1 - np.mean(y))
    )
    np.testing.assert_allclose(model.log_odds(X)[:, 0], parts, rtol=1e-6, atol=1e-6)
    rows, labels = model.sample(500, random_state=0)
    assert model.score(rows, labels) > 0.9


def test_long_documents_do_not_underflow():
    X = np.full((2, 50), 400.0)
    X[0, :25] += 1
    P = MultinomialNB().fit(X, [0, 1]).predict_proba(X * 100)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_impossible_row_goes_to_the_largest_prior():
    model = MultinomialNB(alpha=0).fit([[1, 0, 0], [0, 1, 0], [0, 1, 0]], [0, 1, 1])
    assert model.predict([[0, 0, 3]]).tolist() == [1]
    np.testing.assert_allclose(model.predict_proba([[0, 0, 3]]), [[1 / 3, 2 / 3]])


def test_unseen_category_counts_as_missing():
    model = CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[7, 1]]), model.predict_proba([[np.nan, 1]]))


def test_errors_name_class_and_column():
    with pytest.raises(DegenerateError, match="class number 0 has no observed entry in column 1"):
        GaussianNB().fit([[1, np.nan], [2, np.nan], [3, 4.0]], [0, 0, 1])
    with pytest.raises(DegenerateError, match="class number 0 are all alike.*reg_param"):
        QuadraticDiscriminantAnalysis().fit([[1.0, 2], [1, 2], [3, 4], [4, 6.5], [5, 5]], [0, 0, 1, 1, 1])
    with pytest.raises(DegenerateError, match="variance of column 0 is zero in component 0"):
        GaussianNB(var_smoothing=0).fit([[1.0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.0]])
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        BayesClassifier("gausian").fit([[1.0], [2]], [0, 1])


@pytest.mark.parity
def test_same_as_scikit_learn():
    X, y = blobs(n=300, d=5, seed=4)
    C, labels = counts(n=300, seed=4)
    w = np.random.default_rng(0).random(300)
    pairs = [
        (GaussianNB(), naive_bayes.GaussianNB(), X, y, {"sample_weight": w}),
        (MultinomialNB(), naive_bayes.MultinomialNB(), C, labels, {"sample_weight": w}),
        (BernoulliNB(), naive_bayes.BernoulliNB(), C, labels, {"sample_weight": w}),
        (ComplementNB(), naive_bayes.ComplementNB(), C, labels, {"sample_weight": w}),
        (ComplementNB(norm=True), naive_bayes.ComplementNB(norm=True), C, labels, {}),
        (CategoricalNB(), naive_bayes.CategoricalNB(), C.astype(int), labels, {"sample_weight": w}),
        (
            LinearDiscriminantAnalysis(),
            discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr"),
            X,
            y,
            {},
        ),
    ]
    for ours, theirs, data, target, options in pairs:
        found = ours.fit(data, target, **options).predict_proba(data)
        np.testing.assert_allclose(
            found, theirs.fit(data, target, **options).predict_proba(data), rtol=1e-8, atol=1e-10
        )


@pytest.mark.parity
def test_quadratic_covariances_are_scikit_learns():
    X, y = blobs(n=300, d=5, seed=5)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(
        X, y
    )
    ours = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)


@parametrize_with_checks(
    [LinearDiscriminantAnalysis(weighting="class"), LinearDiscriminantAnalysis(covariance_type="diag")]
)
def test_contract_of_variants(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:Variables are collinear")
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 + 0.1])
@pytest.mark.parametrize("settings", [{}, {"weighting": "class"}, {"shrinkage": 0.1}], ids=str)
def test_a_constant_column_says_nothing_about_classes(value, settings):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None] * [1.0, 0.0]
    zeros, values = (np.column_stack([X, np.full(60, c)]) for c in (0.0, value))
    expected = LinearDiscriminantAnalysis(**settings).fit(zeros, y).predict_proba(zeros)
    found = LinearDiscriminantAnalysis(**settings).fit(values, y).predict_proba(values)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e8])
def test_general_classifier_does_not_depend_on_the_units_of_a_column(scale):
    X, y = load_iris(return_X_y=True)
    units = np.array([scale, 1.0, 1.0, 1.0])
    plain = BayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(BayesClassifier().fit(X * units, y).predict_proba(X * units), plain, atol=1e-9)


@pytest.mark.parametrize("kind", [BernoulliNB, PoissonNB])
def test_missing_counts_are_left_out_of_every_sum(kind):
    rng = np.random.default_rng(0)
    X, y, w = rng.poisson(1.3, size=(60, 4)).astype(float), rng.integers(0, 3, 60), rng.random(60)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = kind().fit(X, y, sample_weight=w)
    expected = np.zeros((60, 3))
    for k in range(3):
        expected[:, k] = np.log(w[y == k].sum() / w.sum())
        for j in range(4):
            seen = (y == k) & ~np.isnan(X[:, j])
            if kind is BernoulliNB:
                on = (w[seen] @ (X[seen, j] > 0) + 1.0) / (w[seen].sum() + 2.0)
                log_p = np.where(X[:, j] > 0, np.log(on), np.log(1.0 - on))
            else:
                rate = (w[seen] @ X[seen, j] + 1.0) / (w[seen].sum() + 1.0)
                log_p = stats.poisson.logpmf(X[:, j], rate)
            expected[:, k] += np.where(np.isnan(X[:, j]), 0.0, log_p)
    found = model.joint_log_likelihood(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    halves = (
        kind()
        .partial_fit(X[:30], y[:30], [0, 1, 2], w[:30])
        .partial_fit(X[30:], y[30:], sample_weight=w[30:])
    )
    np.testing.assert_allclose(halves.joint_log_likelihood(X), expected, atol=1e-12)
    np.testing.assert_allclose(
        kind().fit(sparse.csr_array(X), y, w).joint_log_likelihood(X), expected, atol=1e-12
    )
    np.testing.assert_allclose(model.joint_log_likelihood(sparse.csr_array(X)), expected, atol=1e-12)


@pytest.mark.parametrize("p1", [0.2, 0.5, 0.9])
def test_error_of_two_normals_is_the_mass_on_the_wrong_side(p1):
    mu1, mu2, covariance = np.array([1.0, 2.0]), np.array([-1.0, 0.5]), np.array([[2.0, 0.5], [0.5, 3.0]])
    w, t, error = two_normals(mu1, mu2, covariance, priors=[p1, 1 - p1])
    spread = np.sqrt(w @ covariance @ w)  # w·x is normal in either class
    wrong = p1 * stats.norm.cdf(t, mu1 @ w, spread) + (1 - p1) * stats.norm.sf(t, mu2 @ w, spread)
    assert error == pytest.approx(wrong, rel=1e-12)
