"""Small machines by hand: votes of nobody, budgets, weights of classes, hulls of few points, and polynomials."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError
from gnomon.kernels import RBF, Polynomial
from gnomon.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM, convex_hull

TWO, SIDES = [[-1.0], [1.0]], [0, 1]
X = np.array([[0.0, 0], [1, 0], [2, 1], [1, 2], [3, 3], [2.5, 1.5]])
Y = np.array([0, 0, 0, 1, 1, 1])


def test_a_decision_of_zero_is_the_first_class():
    model = SVC(kernel="linear").fit(TWO, SIDES)
    assert model.decision_function([[0.0]]).tolist() == [0.0]
    assert model.predict([[0.0], [1e-9], [-1e-9]]).tolist() == [0, 1, 0]


def test_a_budget_that_lets_all_err_asks_for_no_weights():
    """Two rows against one: the constant −1 costs the one row a slack of 2."""
    model = SVC(kernel="linear", slack_budget=2.0).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert model.C_ == 0.0 and not model.dual_coef_full_.any() and model.coef_.tolist() == [[0.0]]
    assert model.intercept_.tolist() == [-1.0] and model.intercept_interval_ == (-1.0, -1.0)
    assert model.slack_.tolist() == [0.0, 0.0, 2.0] and model.predict([[5.0]]).tolist() == [0]
    assert (model.primal_, model.gap_, model.kkt_violation_, model.margin_) == (0.0, 0.0, 0.0, np.inf)
    less = SVC(kernel="linear", slack_budget=1.9).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert less.C_ > 0 and less.slack_.sum() == pytest.approx(1.9)
    weighed = SVC(kernel="linear", slack_budget=1.0)
    weighed.fit([[0.0], [1.0], [5.0]], [0, 0, 1], sample_weight=[1, 1, 0.5])
    assert weighed.C_ == 0.0  # half a row costs one


def test_a_budget_counts_weights():
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
    model = SVC(kernel="linear", slack_budget=1.0).fit(X, Y, sample_weight=weight)
    assert weight @ model.slack_ == pytest.approx(1.0)
    same = SVC(kernel="linear", C=model.C_, tol=1e-8).fit(X, Y, sample_weight=weight)
    assert_allclose(same.coef_, model.coef_, rtol=1e-5)
    assert model.primal_ == pytest.approx(0.5 * (model.coef_**2).sum())


@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_the_dense_program_takes_weights(slack):
    weight = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 0.5])
    for price in (0.5, 20.0):
        options = {"kernel": "linear", "C": price, "slack": slack, "class_weight": {1: 2.0}}
        pairs = SVC(tol=1e-9, **options).fit(X, Y, sample_weight=weight)
        dense = SVC(solver="qp", **options).fit(X, Y, sample_weight=weight)
        assert_allclose(dense.dual_coef_full_, pairs.dual_coef_full_, atol=1e-6)
        assert_allclose(dense.decision_function(X), pairs.decision_function(X), atol=1e-6)
        assert dense.dual_coef_full_[2] == 0 and dense.slack_[2] == 0 and dense.point_types_[2] == "outside"
        cost = price * weight * np.where(Y == 1, 2.0, 1.0)
        square = 0.5 * (dense.coef_**2).sum()
        power = 1 if slack == "l1" else 2
        assert dense.primal_ == pytest.approx(square + cost @ dense.slack_**power)
        assert dense.class_weight_.tolist() == [1.0, 2.0]
    repeated = SVC(C=2.0, slack=slack, tol=1e-9).fit(
        np.repeat(X, [1, 2, 0, 3, 1, 1], axis=0), np.repeat(Y, [1, 2, 0, 3, 1, 1])
    )
    weighed = SVC(C=2.0, slack=slack, gamma=repeated._gamma_, tol=1e-9).fit(
        X, Y, sample_weight=[1, 2, 0, 3, 1, 1]
    )
    assert_allclose(weighed.decision_function(X), repeated.decision_function(X), atol=1e-7)


def test_weights_of_classes_by_hand():
    balanced = SVC(class_weight="balanced").fit(TWO * 2, [0, 1, 1, 1], sample_weight=[3, 1, 1, 1])
    assert balanced.class_weight_.tolist() == [1.0, 1.0]
    plain = SVC(class_weight="balanced").fit(TWO * 2, [0, 1, 1, 1])
    assert plain.class_weight_ == pytest.approx([4 / 2, 4 / 6])
    with pytest.raises(ValueError, match=r"\[7\], are not in class_weight"):
        SVC(class_weight={7: 1.0}).fit(TWO, SIDES)
    with pytest.raises(DataError, match="same class, 1"):
        SVC(class_weight={0: 0.0}).fit(TWO, SIDES)
    with pytest.raises(DataError, match="class 2 have zero weight"):
        SVC(class_weight={2: 0.0}).fit([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_one_class_by_hand():
    """Of two rows the nearer one carries all; every threshold between the two is optimal, and the middle is taken."""
    model = OneClassSVM(kernel="linear", nu=0.5).fit([[1.0], [3.0]])
    assert_allclose(model.score_samples([[1.0], [2.0]]), [1.0, 2.0])
    assert model.offset_ == pytest.approx(2.0) and model.intercept_[0] == -model.offset_
    assert_allclose(model.decision_function([[2.0], [1.5]]), [0.0, -0.5], atol=1e-8)
    assert model.predict([[1.0], [3.0], [2.0], [1.99]]).tolist() == [-1, 1, 1, -1]
    assert model.support_.tolist() == [0] and model.n_support_.tolist() == [1]
    # the nearer row may carry no more than one: two of three rows' worth is 1.5
    more = OneClassSVM(kernel="linear", nu=0.5).fit([[5.0], [1.0], [3.0]])
    assert_allclose(more.dual_coef_, [[1.0, 0.5]])
    assert more.support_.tolist() == [1, 2]
    assert more.offset_ == pytest.approx(2.5 * 3) and more.predict([[1.0], [3.0]]).tolist() == [-1, 1]
    heavy = OneClassSVM(kernel="linear", nu=0.5).fit([[5.0], [1.0], [3.0]], sample_weight=[10, 10, 10])
    assert_allclose(heavy.dual_coef_, [[10.0, 5.0]])
    assert_array_equal(heavy.predict([[1.0], [3.0]]), [-1, 1])


def test_tubes_by_hand():
    """Targets 0 and 2 at −1 and 1, a tube of ½: slope ½ is the flattest that fits both."""
    model = SVR(kernel="linear", epsilon=0.5, C=10.0).fit(TWO, [0.0, 2.0])
    assert_allclose(model.coef_, [[0.5]], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(1.0)
    assert_allclose(model.slack_, 0, atol=1e-9)
    assert_allclose(model.dual_coef_, [[-0.25, 0.25]], atol=1e-9)
    assert model.primal_ == pytest.approx(0.125) and model.dual_ == pytest.approx(0.125)
    dear = SVR(kernel="linear", epsilon=0.5, C=0.1).fit(TWO, [0.0, 2.0])
    assert_allclose(dear.coef_, [[0.2]])
    assert dear.slack_.sum() == pytest.approx(0.6)
    assert dear.primal_ == pytest.approx(0.02 + 0.1 * 0.6) and dear.gap_ == pytest.approx(0, abs=1e-9)
    low, high = dear.intercept_interval_
    assert (low, high) == pytest.approx((0.7, 1.3)) and dear.intercept_[0] == pytest.approx(1.0)
    ignored = SVR(kernel="linear", epsilon=0.5, C=10.0).fit(
        [[-1.0], [0.0], [1.0]], [0.0, 99.0, 2.0], [1, 0, 1]
    )
    assert_allclose(ignored.coef_, [[0.5]], atol=1e-9)
    assert ignored.slack_[1] == 0
    assert ignored.support_.tolist() == [0, 2] and ignored.n_support_.tolist() == [2]


def test_scale_of_the_weights_does_not_matter_to_shares():
    weight = np.array([1.0, 2, 1, 1, 2, 1])
    first = NuSVC(nu=0.4, kernel="linear", tol=1e-9).fit(X, Y, sample_weight=weight)
    again = NuSVC(nu=0.4, kernel="linear", tol=1e-9).fit(X, Y, sample_weight=10 * weight)
    assert_allclose(first.decision_function(X), again.decision_function(X), atol=1e-7)
    assert not hasattr(first, "margin_") and not hasattr(first, "gap_")
    a = NuSVR(nu=0.4, C=2.0, kernel="linear", tol=1e-9).fit(X, X[:, 0] ** 2, sample_weight=weight)
    b = NuSVR(nu=0.4, C=1.0, kernel="linear", tol=1e-9).fit(X, X[:, 0] ** 2, sample_weight=2 * weight)
    assert_allclose(a.predict(X), b.predict(X), atol=1e-7)
    c = NuSVR(nu=0.4, C=2.0, kernel="linear", tol=1e-9).fit(X, X[:, 0] ** 2 + 1000, sample_weight=weight)
    assert_allclose(a.predict(X) + 1000, c.predict(X), atol=1e-6)
    assert a.epsilon_ == pytest.approx(c.epsilon_)


def test_probabilities_of_two_classes_are_logistic():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 2))
    t = (Z[:, 0] + rng.normal(size=40) > 0).astype(int)
    model = SVC(kernel="linear", probability=True).fit(Z, t)
    P = model.predict_proba(Z)
    assert_allclose(P[:, 1], 1 / (1 + np.exp(-model.temperature_ * model.decision_function(Z))))
    assert_allclose(P.sum(axis=1), 1)
    assert_allclose(model.predict_log_proba(Z), np.log(P))
    far = model.predict_log_proba([[1e6, 0.0]])
    assert far[0, 1] == 0.0 and far[0, 0] == -np.inf


def test_hulls_of_few_points():
    assert convex_hull([[0.0, 0], [1, 1], [2, 2]]).tolist() == [0, 2]
    assert convex_hull([[1.0, 1], [1, 1]]).tolist() == [0] and convex_hull([[5.0], [5.0]]).tolist() == [0]
    assert convex_hull([[1.0, 2, 3]]).tolist() == [0]
    assert convex_hull([[0.0, 0, 0], [1, 1, 1], [2, 2, 2]]).tolist() == [0, 2]
    assert convex_hull([[2.0, 0], [0, 0], [0, 3]]).tolist() == [1, 0, 2]  # around from the lowest on the left
    assert convex_hull([[0.0, 3], [2, 0], [0, 0]]).tolist() == [2, 1, 0]


def test_the_boundary_of_linear_and_polynomial_machines():
    model = SVC(kernel="linear").fit(X, Y)
    line = model.boundary_polynomial()
    assert_allclose(line.coef, [model.intercept_[0], *model.coef_[0]])
    assert line.terms.tolist() == [
        "1",
        "x0",
        "x1",
    ]
    assert line.powers.tolist() == [[0, 0], [1, 0], [0, 1]]
    points = np.random.default_rng(0).normal(size=(8, 2))
    for kernel in (Polynomial(2, 0.5, 1.0), Polynomial(3, 2.0, 0.5), Polynomial(2, 0.5, 0.0)):
        curved = SVC(kernel=kernel, C=3.0).fit(X, Y)
        assert_allclose(curved.boundary_polynomial()(points), curved.decision_function(points), atol=1e-8)
    with pytest.raises(DataError, match="is no polynomial"):
        SVC(kernel="rbf").fit(X, Y).boundary_polynomial()


def test_reduced_sets_of_many_vectors_and_of_none():
    model = SVC(gamma=0.5, C=5.0).fit(X, Y)
    count = len(model.support_)
    same = model.reduce(count)
    assert same.reduction_error_ == 0.0 and same.reduction_error_path_.tolist() == [0.0]
    assert_allclose(same.decision_function(X), model.decision_function(X))
    with pytest.raises(DataError, match="n_vectors must be at least 1"):
        model.reduce(0)
    for kernel in (RBF(1.0), Polynomial(2, 1.0, 1.0)):
        model = SVC(kernel=kernel, C=5.0).fit(X, Y)
        small = model.reduce(2)
        w, z = model.dual_coef_[0], small.dual_coef_[0]
        A, B = model.support_vectors_, small.support_vectors_
        square = w @ kernel(A) @ w - 2 * w @ kernel(A, B) @ z + z @ kernel(B) @ z
        assert small.reduction_error_ == pytest.approx(square, abs=1e-8) and len(z) == 2
        assert len(small.reduction_error_path_) == 2 and np.diff(small.reduction_error_path_)[0] <= 0


@pytest.mark.parametrize("kind", ["crammer_singer", "weston_watkins"])
def test_weights_in_one_machine_of_all_classes_are_copies(kind):
    Z, t = np.vstack([X, [[5.0, 0.0], [4.0, 1.0]]]), np.array([0, 0, 0, 1, 1, 1, 2, 2])
    copies = [1, 2, 0, 1, 3, 1, 1, 2]
    options = {"kernel": "linear", "multi_class": kind, "C": 0.7, "tol": 1e-9}
    weighed = SVC(**options).fit(Z, t, sample_weight=copies)
    repeated = SVC(**options).fit(np.repeat(Z, copies, axis=0), np.repeat(t, copies))
    assert_allclose(weighed.decision_function(Z), repeated.decision_function(Z), atol=1e-5)
    assert weighed.primal_ == pytest.approx(repeated.primal_) and weighed.gap_ == pytest.approx(0, abs=1e-6)
    assert weighed.predict(Z).tolist() == weighed.decision_function(Z).argmax(axis=1).tolist()
    twice = SVC(**{**options, "class_weight": {2: 2.0}}).fit(Z, t)
    again = SVC(**options).fit(Z, t, sample_weight=[1, 1, 1, 1, 1, 1, 2, 2])
    assert_allclose(twice.decision_function(Z), again.decision_function(Z), atol=1e-5)


@pytest.mark.parametrize(("kind", "loss"), [("crammer_singer", 1.0), ("weston_watkins", 2.0)])
def test_a_row_at_the_origin_costs_the_same_whatever_the_planes(kind, loss):
    """Planes through the origin have no say there: the slack is 1, of each of two other classes or of the worst."""
    Z, t = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    options = {"kernel": "linear", "multi_class": kind, "C": 0.7, "max_iter": 1000}
    without = SVC(**options).fit(Z, t)
    for label in (0, 1, 2):
        found = SVC(**options).fit(np.vstack([Z, [[0.0, 0.0]]]), np.append(t, label))
        assert found.converged_ and found.n_pair_steps_[0] < 1000
        assert found.kkt_violation_ <= 1e-3 and found.gap_ == pytest.approx(0, abs=1e-6)
        assert found.primal_ == pytest.approx(without.primal_ + 0.7 * loss)
        assert_allclose(found.decision_function(Z), without.decision_function(Z), atol=1e-4)


def test_the_least_budget_there_is():
    """Without slack the hard margin; where classes overlap, the least slack of any plane, which is 3."""
    none = SVC(kernel="linear", slack_budget=0.0).fit(X, Y)
    assert_allclose(none.coef_, [[1.0, 3.0]], rtol=1e-6)
    assert_allclose(none.intercept_, [-6.0], rtol=1e-6)
    assert none.C_ >= 5 - 1e-6 and none.slack_.sum() <= 1e-8
    overlap = np.array([[0.0], [1.0], [2.5], [1.5], [3.0], [4.0]])
    least = SVC(kernel="linear", slack_budget=3.0).fit(overlap, Y)
    assert_allclose(least.coef_, [[1.0]], rtol=1e-6)
    assert least.slack_.sum() == pytest.approx(3.0)


def test_weights_of_columns_are_sums_over_the_support():
    """Also where the coefficients of one class sum to zero and those of another do not."""
    model = SVC(kernel="linear", multi_class="crammer_singer", C=10.0).fit(X[:3] + 1, [0, 1, 2])
    assert len(model.support_) == 3
    model.dual_coef_ = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 0.0, 3.0]])
    assert_allclose(model.coef_, model.dual_coef_ @ (X[:3] + 1))
    assert_allclose(model.decision_function(X), X @ model.coef_.T)


def test_counted_slack_of_separable_rows_is_the_hard_margin():
    rows, side = (
        [[-1.0, 1.0], [0.0, -1.0], [1.5, 1.0]],
        [1, 0, 1],
    )  # three support vectors: 0.3 + 0.2 against 0.5
    hard = SVC(kernel="linear", C=np.inf).fit(rows, side)
    counted = SVC(kernel="linear", slack="l0").fit(rows, side)
    assert_allclose(counted.dual_coef_full_, [0.3, 0.5, 0.2], atol=1e-8)
    assert_allclose(counted.coef_, hard.coef_, atol=1e-8)
    assert_allclose(counted.intercept_, hard.intercept_, atol=1e-8)
    assert_allclose(counted.intercept_interval_, [0.0, 0.0], atol=1e-8)
    assert_allclose(counted.slack_, 0.0, atol=1e-8)


@pytest.mark.parametrize("limit", [1, 60])
@pytest.mark.parametrize("kind", ["crammer_singer", "weston_watkins"])
def test_passes_over_all_classes_are_counted_and_bounded(kind, limit):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    model = SVC(kernel="linear", C=1e3, tol=1e-12, multi_class=kind, max_iter=limit).fit(rows, labels)
    assert model.n_pair_steps_.tolist() == [limit] and model.kkt_violation_ > 1e-9
