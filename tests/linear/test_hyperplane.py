"""Half-spaces, separability, circles, fewest errors, label codes and the pictures of linear classifiers."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DegenerateError
from gnomon.datasets import load_lesson, make_table
from gnomon.linear import (
    BayesianLogisticRegression,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    OutputCodeClassifier,
    Perceptron,
    RidgeClassifier,
    circle_separability,
    encode_labels,
    feasible_region,
    hull_contains,
    minimize_zero_one,
    pull_back,
    separability,
)
from gnomon.linear.codes import code_matrix, decode
from gnomon.linear.hyperplane import fold_intercept, push_forward
from gnomon.linear.margin.hulls import weight_constraints

mpl.use("Agg")


def test_distances_and_projection_by_hand():
    plane = LinearClassifier([3.0, 4.0], -5.0)
    np.testing.assert_allclose(plane.signed_distance([[3, 4], [0, 0]]), [4, -1])
    np.testing.assert_allclose(plane.project([[3.0, 4.0]]), [[0.6, 0.8]])
    (w, up), (_, down) = plane.margin_boundaries()
    assert (up, down) == (-6.0, -4.0)
    np.testing.assert_allclose(w, [3, 4])
    assert set(plane.half_spaces()) == {-1, 1}
    with pytest.raises(DegenerateError, match="no boundary"):
        LinearClassifier([0.0, 0.0]).signed_distance([[1, 1]])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(-3, 3))
def test_scaling_threshold_and_folding_change_nothing(seed, c, r):
    rng = np.random.default_rng(seed)
    w, b, X = rng.normal(size=3), rng.normal(), rng.normal(size=(20, 3))
    a, scaled = LinearClassifier(w, b), LinearClassifier(c * w, c * b)
    np.testing.assert_array_equal(a.predict(X), scaled.predict(X))
    np.testing.assert_allclose(a.signed_distance(X), scaled.signed_distance(X), atol=1e-10)
    foot = a.project(X)
    np.testing.assert_allclose(foot @ w + b, 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(foot - X, axis=1), np.abs(a.signed_distance(X)), atol=1e-9)
    np.testing.assert_array_equal(
        LinearClassifier(w, b, threshold=r).predict(X), LinearClassifier(w, b - r).predict(X)
    )
    folded = LinearClassifier(fold_intercept(w, b)).predict(np.column_stack([X, np.ones(20)]))
    np.testing.assert_array_equal(folded, a.predict(X))


def test_margins_mistakes_and_boundary_rule():
    plane, X, y = LinearClassifier([1.0], 0.0), [[-1.0], [0.0], [2.0]], [1, -1, 1]
    np.testing.assert_allclose(plane.functional_margin(X, y), [-1, 0, 2])
    np.testing.assert_array_equal(plane.mistakes(X, y), [0, 1])
    assert plane.error(X, y) == pytest.approx(2 / 3)
    np.testing.assert_array_equal(plane.violators(X, y), [0, 1])
    assert plane.predict([[0.0]])[0] == -1
    assert LinearClassifier([1.0], boundary="positive").predict([[0.0]])[0] == 1
    assert plane.margin(X, y) == -1.0


def test_feature_maps():
    A = np.vstack([np.full(6, 1 / 6), np.r_[np.full(3, 1 / 3), np.full(3, -1 / 3)]])
    np.testing.assert_allclose(pull_back([2, 3], A), np.r_[np.full(3, 4 / 3), np.full(3, -2 / 3)])
    found = push_forward(pull_back([2, 3], A), A)
    np.testing.assert_allclose(found.coef, [2, 3])
    assert found.exists
    assert not push_forward([1.0, 1.0], [[1.0, 0.0]]).exists


def test_gates():
    gate = load_lesson("not")
    assert np.all(weight_constraints(gate.data, gate.target)[:, :2] @ [1, -2] > 0)
    gate = load_lesson("and")
    ones = np.column_stack([np.ones(4), gate.data])
    np.testing.assert_array_equal((ones @ [-1.5, 1, 1] > 0).astype(int), gate.target)
    gate = load_lesson("and3")
    assert not separability(gate.data, gate.target, origin=True).separable
    assert separability(gate.data, gate.target).separable
    np.testing.assert_array_equal(
        LinearClassifier([1, 1, 1], -2.5, classes=(0, 1)).predict(gate.data), gate.target
    )


def test_xor_is_not_separable():
    X, y = load_lesson("xor").data, load_lesson("xor").target
    found = separability(X, y)
    assert not found.separable
    np.testing.assert_allclose(found.certificate, 0.25, atol=1e-8)
    assert minimize_zero_one(X, y).n_errors == 1
    assert minimize_zero_one(X, y, origin=True).n_errors == 2
    assert minimize_zero_one(X, y).proven


def test_origin_matters():
    assert not separability([[1.0], [2.0]], [1, 0], origin=True).separable
    assert separability([[1.0], [2.0]], [1, 0]).separable
    assert not separability([[0.0], [2.0]], [1, 0], origin=True).separable


def test_circles():
    toy = load_lesson("circle")
    assert not circle_separability(toy.data, toy.target, center="origin").separable
    found = circle_separability(toy.data, toy.target)
    assert found.separable
    inside = np.linalg.norm(toy.data - found.center, axis=1) < found.radius
    np.testing.assert_array_equal(inside, toy.target == found.inside)
    np.testing.assert_array_equal(found.predict(toy.data), toy.target)
    far = np.linalg.norm(toy.data - [-1, -1], axis=1)
    np.testing.assert_allclose(far, [2, 2, 2 * np.sqrt(2), 3 * np.sqrt(2)])
    assert not separability(toy.data, toy.target, origin=True).separable
    wide = separability(toy.data, toy.target, margin=True)
    np.testing.assert_allclose([*wide.coef, wide.intercept], [-1, -1, 1], atol=1e-6)
    assert wide.margin == pytest.approx(np.sqrt(0.5), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 9))
def test_certificate_exactly_when_not_separable(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, size=n)
    if len(set(y)) < 2:
        return
    found = separability(X, y)
    assert found.separable == (found.certificate is None)
    if found.separable:
        assert np.all(np.where(y == 1, 1, -1) * (X @ found.coef + found.intercept) > 0)
        assert minimize_zero_one(X, y).n_errors == 0
    else:
        alpha, s = found.certificate, np.where(y == 1, 1.0, -1.0)
        assert alpha.min() >= -1e-12
        scale = np.abs(X).max()
        np.testing.assert_allclose([*(X.T @ (alpha * s) / scale), alpha @ s, alpha.sum() - 1], 0, atol=1e-8)
        assert not separability(np.vstack([X, X[:1] + 1]), np.append(y, 1)).separable


def test_hulls_and_regions():
    square = [[0.0, 0], [2, 0], [0, 2], [2, 2]]
    inside = hull_contains(square, [1.0, 1.0])
    assert inside.inside
    np.testing.assert_allclose(inside.weights @ square, [1, 1])
    assert not hull_contains(square, [3.0, 1.0]).inside
    corners = feasible_region(load_lesson("three points").data, load_lesson("three points").target)
    assert np.all(
        weight_constraints(load_lesson("three points").data, [1, 0, 1])[:, :2] @ corners.mean(axis=0) > 0
    )
    assert len(feasible_region([[1.0, 0.0], [1.0, 0.0]], [0, 1])) <= 4


def test_encodings():
    np.testing.assert_array_equal(encode_labels(["no", "yes"]), [-1, 1])
    np.testing.assert_array_equal(encode_labels(["no", "yes"], "01"), [0, 1])
    np.testing.assert_array_equal(np.eye(3)[[2, 0, 1]], encode_labels(["c", "a", "b"], "onehot"))


def test_least_squares_is_dragged():
    x = np.array([-3.0, -2, -1, 1, 2, 3])
    y = np.sign(x)
    model = RidgeClassifier(alpha=0.0).fit(x[:, None], y)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [3 / 7, 0], atol=1e-9)
    far, labels = np.r_[x, 20, 21, 22], np.r_[y, 1, 1, 1]
    for targets in ("pm1", "01"):
        model = RidgeClassifier(alpha=0.0, targets=targets).fit(far[:, None], labels)
        assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(1.3703703704, abs=1e-9)
        assert list(model.mistakes(far[:, None], labels)) == [3]
    assert len(LogisticRegression().fit(far[:, None], labels).mistakes(far[:, None], labels)) == 0


@pytest.mark.parametrize("p", [1, 1.5, 4, 0.5])
def test_bridge_classifier_is_a_minimum(p):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], size=40)
    model = RidgeClassifier(alpha=2.0, p=p).fit(X, y)

    def cost(w, b):
        return np.sum((y - X @ w - b) ** 2) + 2 * np.sum(np.abs(w) ** p)

    w, b = model.coef_[0], model.intercept_[0]
    assert all(
        cost(w + 1e-3 * rng.normal(size=3), b + 1e-3 * rng.normal()) >= cost(w, b) - 1e-9 for _ in range(50)
    )


def test_bayesian_logistic_by_hand():
    x, t = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
    model = BayesianLogisticRegression().fit(x, t)
    np.testing.assert_allclose(
        [model.coef_[0, 0], model.intercept_[0]], [0.4123753392, -0.5869746091], atol=1e-7
    )
    expected = [[0.1362854648, -0.1747123171], [-0.1747123171, 0.6602776628]]
    np.testing.assert_allclose(model.covariance_, expected, atol=1e-7)
    assert model.log_evidence_ == pytest.approx(-4.8746124472, abs=1e-7)
    for way, p in (("plugin", 0.8138013359), ("probit", 0.7440018403), ("quadrature", 0.7406747598)):
        assert model.set_params(predictive=way).predict_proba([[5.0]])[0, 1] == pytest.approx(p, abs=1e-7)
    p = model.set_params(predictive="sample", n_samples=20000, random_state=0).predict_proba([[5.0]])[0, 1]
    assert p == pytest.approx(0.7406747598, abs=0.01)


@pytest.mark.parametrize(("precision", "variance"), [(1.0, 0.6910216031), (0.1, 3.4463649444)])
def test_laplace_variance_of_two_points(precision, variance):
    model = BayesianLogisticRegression(precision, fit_intercept=False).fit([[-1.0], [1.0]], [-1, 1])
    assert model.covariance_[0, 0] == pytest.approx(variance, abs=1e-7)


def test_evidence_is_maximal_where_it_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X @ [1.5, -1, 0] + rng.logistic(size=80) > 0).astype(int)
    best = BayesianLogisticRegression(maximize_evidence=True, tol=1e-8).fit(X, y)
    near = [BayesianLogisticRegression(best.prior_precision_ * f).fit(X, y).log_evidence_ for f in (0.5, 2.0)]
    assert best.log_evidence_ >= max(near)


def test_output_codes_by_hand():
    M = code_matrix(4)
    np.testing.assert_array_equal(
        (M + 1) / 2, [[1] * 7, [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1, 0]]
    )
    apart = [np.sum(M[i] != M[j]) for i in range(4) for j in range(i)]
    assert set(apart) == {4}
    np.testing.assert_allclose(decode(M, [[1, -1, 1, 1, -1, 1, 1]])[0], [2, 4, 2, 4])
    scores = [[0.2, -1.5, 0.3, 2, -0.1, 0.4, 0.9]]
    np.testing.assert_allclose(decode(M, scores, "loss")[0], [5.8, 7.3, 4.3, 8.4])
    for i in range(4):
        for flip in range(7):
            word = M[i].copy()
            word[flip] *= -1  # distance 4 corrects one wrong answer
            assert decode(M, [word])[0].argmin() == i


@pytest.mark.parametrize("code", ["exhaustive", "one_vs_rest", "one_vs_one", "random"])
def test_reductions_reproduce_separated_classes(code):
    rng = np.random.default_rng(0)
    centers = 10 * np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    X = np.repeat(centers, 10, axis=0) + rng.normal(size=(40, 2))
    y = np.repeat(list("abcd"), 10)
    from sklearn.neighbors import KNeighborsClassifier

    model = OutputCodeClassifier(KNeighborsClassifier(1), code=code, random_state=0, code_size=3).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("K", [2, 3, 7])
def test_every_column_of_a_random_code_asks_something(K):
    for seed in range(30):
        M = code_matrix(K, "random", code_size=2.5, random_state=seed)
        assert M.shape == (K, int(2.5 * K)) and set(M.ravel()) == {-1.0, 1.0}
        assert (np.abs(M.sum(axis=0)) < K).all() and len(np.unique(M, axis=0)) == K


def test_scikit_learns_reductions_take_our_learners():
    from sklearn.datasets import load_iris, make_multilabel_classification
    from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
    from sklearn.multioutput import MultiOutputClassifier

    X, y = load_iris(return_X_y=True)
    assert OneVsRestClassifier(Perceptron()).fit(X, y).score(X, y) > 0.6
    pairs = OneVsOneClassifier(LinearSVC()).fit(X, y)
    assert len(pairs.estimators_) == 3
    assert pairs.score(X, y) > 0.95
    X, Y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
    assert MultiOutputClassifier(LogisticRegression()).fit(X, Y).predict(X).shape == (100, 3)


@pytest.mark.parity
def test_cross_validation_same_as_scikit_learn():
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegressionCV as Theirs

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0], tol=1e-6).fit(X, y)
    theirs = Theirs(
        Cs=[0.01, 0.1, 1.0], tol=1e-6, l1_ratios=(0,), use_legacy_attributes=False, scoring="accuracy"
    ).fit(X, y)
    assert np.ravel(theirs.C_)[0] == ours.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_far_points_and_pictures():
    import matplotlib.pyplot as plt

    from gnomon import plot

    rows = make_table("far points", 45, random_state=0)
    X, y = rows.data, rows.target
    model = LinearSVC(loss="hinge", regularize_intercept=False).fit(X, y)
    axes = [plot.loss_curves(), plot.margin(model, X, y), plot.weight_space(*_toy())[1]]
    axes += list(plot.compare_classifiers([RidgeClassifier(), LogisticRegression(), LinearSVC()], X, y))
    assert all(ax.has_data() for ax in axes)
    plt.close("all")


def _toy():
    toy = load_lesson("three points")
    return toy.data, toy.target


def test_quadratic_features_separate_xor():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    toy = load_lesson("xor")
    model = make_pipeline(PolynomialFeatures(2), Perceptron(tol=None)).fit(toy.data, toy.target)
    assert model.score(toy.data, toy.target) == 1.0


@pytest.mark.parametrize("p", [1.5, 4])
def test_bridge_classifier_far_from_the_origin_has_no_slope_left(p):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) + [3.0, -2.0, 1.0]
    y = np.where(X[:, 0] + rng.normal(size=40) > 2.5, 1.0, -1.0)
    model = RidgeClassifier(alpha=2.0, p=p).fit(X, y)
    w = model.coef_[0]
    rest = X @ w + model.intercept_[0] - y
    assert abs(rest.sum()) < 1e-9
    slope = 2 * X.T @ rest + 2 * p * np.sign(w) * np.abs(w) ** (p - 1)
    np.testing.assert_allclose(slope, 0.0, atol=1e-3)


def test_a_column_of_a_code_may_ask_of_one_row():
    from gnomon.neighbors import KNeighborsClassifier

    X, y = np.array([[0.0], [5.0], [6.0]]), ["a", "b", "b"]
    with pytest.warns(UserWarning, match="single class"):
        model = OutputCodeClassifier(KNeighborsClassifier(1), code=np.array([[1, 1], [-1, 0]])).fit(X, y)
    assert model.estimators_[1] == 1.0 and list(model.predict(X)) == y
