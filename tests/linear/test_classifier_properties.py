"""Properties of linear classifiers that hold for any data."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon import threads
from gnomon.linear import (
    BayesianLogisticRegression,
    LinearSVC,
    LogisticRegression,
    OutputCodeClassifier,
    PassiveAggressiveClassifier,
    Pegasos,
    Perceptron,
    SGDClassifier,
    pull_back,
    separability,
)
from gnomon.linear.codes import code_matrix
from gnomon.linear.hyperplane import push_forward
from gnomon.solvers import newton

SEEDS = st.integers(0, 10**6)
few = settings(max_examples=15, deadline=None)


def overlapping(seed, n=40, d=3, k=2):
    """Rows of k classes that no plane separates, all classes present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) + 2.0 * rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


# -- geometry ------------------------------------------------------------------------------------------------


@few
@given(SEEDS, st.integers(1, 3), st.integers(3, 6))
def test_weights_go_back_and_forth_through_a_feature_map(seed, m, d):
    rng = np.random.default_rng(seed)
    A, theta, x = rng.normal(size=(m, d)), rng.normal(size=m), rng.normal(size=(5, d))
    np.testing.assert_allclose(x @ pull_back(theta, A), (x @ A.T) @ theta, atol=1e-12)
    back = push_forward(pull_back(theta, A), A)
    assert back.exists
    np.testing.assert_allclose(back.coef, theta, atol=1e-8)
    assert not push_forward(rng.normal(size=d) + 10.0, A[:1]).exists or d == 1


@few
@given(SEEDS, st.integers(3, 8))
def test_more_rows_never_make_classes_separable(seed, n):
    X, y = overlapping(seed, n=n + 3, d=2)
    assume(len(set(y[:n])) == 2)
    if not separability(X[:n], y[:n]).separable:
        assert not separability(X, y).separable


# -- support vector machines ---------------------------------------------------------------------------------


@few
@given(SEEDS, st.sampled_from(["hinge", "squared_hinge"]), st.booleans())
def test_weights_grow_with_the_price_of_slack(seed, loss, penalized):
    X, y = overlapping(seed)
    options = {"loss": loss, "regularize_intercept": penalized}
    machines = [LinearSVC(C=C, **options).fit(X, y) for C in (0.01, 0.1, 1.0, 10.0)]
    lengths = [np.hypot(np.linalg.norm(m.coef_), m.intercept_[0] * penalized) for m in machines]
    assert (np.diff(lengths) >= -1e-5).all()
    for C, machine in zip((0.01, 0.1, 1.0, 10.0), machines):
        assert machine.primal_ <= C * len(y) * (1 + 1e-12)  # what w = 0 costs


@few
@given(SEEDS, st.sampled_from(["hinge", "squared_hinge"]))
def test_rows_without_a_multiplier_can_go(seed, loss):
    X, y = overlapping(seed)
    model = LinearSVC(loss=loss).fit(X, y)
    kept = model.support_
    assume(len(set(y[kept])) == 2)
    again = LinearSVC(loss=loss).fit(X[kept], y[kept])
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-4)


@few
@given(SEEDS)
def test_dear_slack_is_the_hard_margin(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 10)
    X = rng.normal(size=(20, 2)) + 7.0 * y[:, None]
    assume(separability(X, y).separable)
    free = {"loss": "hinge", "regularize_intercept": False}
    hard, dear = LinearSVC(C=np.inf, **free).fit(X, y), LinearSVC(C=1e5, **free).fit(X, y)
    np.testing.assert_allclose(dear.coef_, hard.coef_, rtol=1e-3, atol=1e-4)
    assert hard.dual_ == pytest.approx(0.5 * np.sum(hard.coef_**2), rel=1e-6)
    assert hard.dual_coef_full_.sum() == pytest.approx(np.sum(hard.coef_**2), rel=1e-4)


# -- logistic regression -------------------------------------------------------------------------------------


@few
@given(SEEDS, st.floats(0.1, 10.0))
def test_logistic_derivatives_and_convexity(seed, C):
    X, y = overlapping(seed)
    model = LogisticRegression(C=C)
    rows = model._read(X, y)
    objective, rng = model._objective(rows), np.random.default_rng(seed)
    theta, way = rng.normal(size=4), rng.normal(size=4)
    value = lambda t: newton.evaluate(rows, objective, theta + t * way).value  # noqa: E731
    found = newton.evaluate(rows, objective, theta, curved=True)
    h = 1e-4
    assert (value(h) - value(-h)) / (2 * h) == pytest.approx(found.gradient @ way, rel=1e-5, abs=1e-5)
    bend = (value(h) - 2 * value(0.0) + value(-h)) / h**2
    assert bend == pytest.approx(way @ found.hessian @ way, rel=1e-4, abs=1e-4)
    assert value(0.5) <= 0.5 * (value(0.0) + value(1.0)) + 1e-9


@few
@given(SEEDS, st.sampled_from([2, 3]))
def test_every_solver_ends_at_the_same_optimum(seed, k):
    X, y = overlapping(seed, k=k)
    truth = LogisticRegression(tol=1e-10).fit(X, y)
    for solver in ("newton-cholesky", "newton-cg", "lbfgs", "liblinear", "saga"):
        model = LogisticRegression(solver=solver, tol=1e-9, max_iter=1000).fit(X, y)
        np.testing.assert_allclose(model.coef_, truth.coef_, atol=1e-5)
    P = truth.predict_proba(X)
    for c in range(k):  # calibration in the large
        assert P[:, c].sum() == pytest.approx(np.sum(y == c), abs=1e-6)


@few
@given(SEEDS, st.floats(0.1, 10.0))
def test_softmax_probabilities_and_the_symmetric_optimum(seed, C):
    X, y = overlapping(seed, k=4)
    model = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    P = model.predict_proba(10.0 * X)
    assert (P > 0.0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-7)


@few
@given(SEEDS, st.sampled_from([2, 3]))
def test_class_weights_are_sample_weights(seed, k):
    X, y = overlapping(seed, k=k)
    price = {c: 0.5 + c for c in range(k)}
    weight = np.array([price[c] for c in y])
    for model in (LogisticRegression(tol=1e-10), LinearSVC(tol=1e-8)):
        by_class = type(model)(**{**model.get_params(), "class_weight": price}).fit(X, y)
        np.testing.assert_allclose(by_class.coef_, model.fit(X, y, weight).coef_, atol=1e-6)


@few
@given(SEEDS, st.floats(0.2, 5.0))
def test_laplace_covariance_and_moderation(seed, precision):
    X, y = overlapping(seed, d=2)
    model = BayesianLogisticRegression(precision).fit(X, y)
    design, s = np.column_stack([X, np.ones(len(X))]), 2.0 * y - 1.0

    def slope(theta):
        shares = 1.0 / (1.0 + np.exp(s * (design @ theta)))
        return precision * theta - design.T @ (s * shares)

    mode, h = np.append(model.coef_, model.intercept_), 1e-5
    hessian = np.array([(slope(mode + h * e) - slope(mode - h * e)) / (2 * h) for e in np.eye(3)])
    np.testing.assert_allclose(model.covariance_, np.linalg.inv(hessian), rtol=1e-4, atol=1e-6)
    far = 3.0 * X
    plain = 1.0 / (1.0 + np.exp(-(far @ model.coef_.ravel() + model.intercept_)))
    moderated = model.predict_proba(far)[:, 1]
    assert (np.abs(moderated - 0.5) <= np.abs(plain - 0.5) + 1e-12).all()
    assert ((moderated - 0.5) * (plain - 0.5) >= -1e-12).all()


# -- codes and seeds -----------------------------------------------------------------------------------------


@few
@given(SEEDS, st.integers(3, 6))
def test_a_code_corrects_half_its_distance(seed, k):
    rng = np.random.default_rng(seed)
    M = code_matrix(k, "exhaustive")
    D = min(int(np.sum(a != b)) for i, a in enumerate(M) for b in M[:i])
    assert D == 2 ** (k - 2)
    for c in range(k):
        word = M[c].copy()
        wrong = rng.choice(len(word), size=(D - 1) // 2, replace=False)
        word[wrong] *= -1
        assert np.sum(M != word, axis=1).argmin() == c
    X, y = np.repeat(np.eye(k), 4, axis=0), np.repeat(np.arange(k), 4)
    model = OutputCodeClassifier(LinearSVC(C=100.0), code="exhaustive").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize(
    "learner", [SGDClassifier, Perceptron, PassiveAggressiveClassifier, Pegasos], ids=lambda c: c.__name__
)
def test_a_seed_fixes_the_answer_on_any_number_of_threads(learner):
    X, y = overlapping(2, n=300, k=2)
    options = {"max_iter": 5, "random_state": 7}
    options |= {} if learner is Pegasos else {"tol": None}
    with threads(1):
        one = learner(**options).fit(X, y)
    with threads(2):
        two = learner(**options).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert (learner(**{**options, "random_state": 8}).fit(X, y).coef_ != one.coef_).any()


def test_a_tie_between_two_code_words_is_the_lower_class():
    """One symmetric line through the origin: zero is as far from either word."""
    model = OutputCodeClassifier(LinearSVC(fit_intercept=False), code=[[-1], [1]], decoding="loss")
    model.fit([[-1.0], [1.0]], ["a", "b"])
    X = [[-0.5], [0.0], [0.5]]
    np.testing.assert_array_equal(np.sign(model.decision_function(X)), [-1, 0, 1])
    assert model.predict(X).tolist() == ["a", "a", "b"]
