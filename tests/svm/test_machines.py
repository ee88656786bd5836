"""Support vector machines: numbers by hand, certificates, other ways to the same answer, awkward rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn import svm as peer
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import gnomon
from gnomon.core.errors import DataError
from gnomon.kernels import RBF, FunctionKernel, Linear, Polynomial
from gnomon.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM, convex_hull
from gnomon.svm.special import NotSeparableError

D6 = np.array([[0, 0], [1, 0], [2, 1], [1, 2], [3, 3], [2.5, 1.5]])
Y6 = np.array([0, 0, 0, 1, 1, 1])
S4 = np.array([[0, 1, 2.5, 1.5, 3, 4]]).T, np.array([0, 0, 0, 1, 1, 1])
XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, 0, 0])
THREE = (
    np.array([[2, 0], [3, 1], [1, 1], [0, 2], [1, 3], [-1, -1], [-2, -1.0]]),
    np.array([0, 0, 0, 1, 1, 2, 2]),
)
SIX = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [1.2, 1.0]]), np.array([0, 0, 0, 1, 1, 1])
LINE = np.arange(6.0)[:, None], np.array([0, 1, 1.5, 3.5, 4, 5.2])


def linear(**options):
    return SVC(kernel="linear", **options)


def cloud(n=60, d=3, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 - 0.5 + noise * rng.normal(size=n) > 0).astype(int)


# -- by hand ---------------------------------------------------------------------------------------------------


def test_hard_margin_by_hand():
    m = linear(C=np.inf).fit([[0.0, 0], [2, 0]], [0, 1])
    assert m.coef_[0] == pytest.approx([1, 0]) and m.intercept_ == pytest.approx([-1])
    assert m.dual_coef_full_ == pytest.approx([0.5, 0.5]) and (m.dual_, m.margin_) == pytest.approx((0.5, 1))
    X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    m = linear(C=np.inf).fit(X, [1, 1, 1, 0, 0, 0])
    assert m.coef_[0] == pytest.approx([2, 2]) and m.intercept_[0] == pytest.approx(-3)
    assert (m.margin_, m.dual_) == pytest.approx((0.3535534, 4))
    m = linear(C=np.inf).fit([[0.0, 0], [0, 2], [3, 1], [4, 1]], [0, 0, 1, 1])
    assert m.dual_coef_full_ == pytest.approx([1 / 9, 1 / 9, 2 / 9, 0], abs=1e-9)
    assert m.coef_[0] == pytest.approx([2 / 3, 0], abs=1e-9) and m.margin_ == pytest.approx(1.5)
    m = linear(C=np.inf).fit([[-1.0, 1], [0, -1], [1.5, 1]], [1, 0, 1])
    assert m.dual_coef_full_ == pytest.approx([0.3, 0.5, 0.2]) and m.margin_ == pytest.approx(1)


def test_exclusive_or_by_hand():
    X = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    y = [1, 1, 0, 0]
    m = SVC(C=np.inf, kernel=Polynomial(2, 1, 1)).fit(X, y)
    assert m.dual_coef_full_ == pytest.approx([1 / 8] * 4) and m.intercept_[0] == pytest.approx(0, abs=1e-9)
    assert m.decision_function(X) == pytest.approx([1, 1, -1, -1]) and m.dual_ == pytest.approx(0.25)
    m = SVC(C=np.inf, kernel="poly", degree=2, gamma=1.0, coef0=0.0).fit(X, y)
    assert m.decision_function(X) == pytest.approx([1, 1, -1, -1]) and m.dual_ == pytest.approx(0.25)
    X, y = XOR
    m = SVC(C=np.inf, gamma=1.0).fit(X, y)
    assert m.dual_coef_full_ == pytest.approx([2.5026503] * 4, abs=1e-6) and m.dual_ == pytest.approx(
        5.0053006
    )
    assert m.decision_function([[0.2, 0.1]]) == pytest.approx([0.5914739], abs=1e-6)
    m = SVC(C=0.5, gamma=1.0).fit(X, y)
    assert m.dual_coef_full_ == pytest.approx([0.5] * 4)
    assert np.abs(m.decision_function(X)) == pytest.approx([0.1997882] * 4, abs=1e-6)


def test_soft_margin_by_hand():
    X, y = S4
    m = linear(C=10).fit(X, y)
    assert m.coef_ == pytest.approx(1) and m.intercept_ == pytest.approx(-2)
    assert m.dual_coef_full_ == pytest.approx([0, 5.5, 10, 10, 5.5, 0]) and m.dual_ == pytest.approx(30.5)
    assert m.slack_ == pytest.approx([0, 0, 1.5, 1.5, 0, 0], abs=1e-9)
    m = linear(C=1).fit(X, y)
    assert m.coef_ == pytest.approx(1) and m.intercept_ == pytest.approx(-2) and m.dual_ == pytest.approx(3.5)
    assert m.dual_coef_full_ == pytest.approx([0, 1, 1, 1, 1, 0])
    assert m.point_types_[[1, 4]].tolist() == ["margin_error"] * 2 and m.slack_[[1, 4]] == pytest.approx(
        0, abs=1e-9
    )
    m = linear(C=0.1).fit(X, y)
    assert (
        m.coef_ == pytest.approx(0.5)
        and m.intercept_ == pytest.approx(-1)
        and m.dual_ == pytest.approx(0.475)
    )
    assert m.dual_coef_full_ == pytest.approx([0.1] * 6)
    m = linear(C=0.1).fit([[0.0], [2.0]], [0, 1])
    assert m.coef_ == pytest.approx(0.2) and m.intercept_interval_ == pytest.approx((-1, 0.6))
    assert m.intercept_ == pytest.approx(-0.2)


def test_six_points_by_hand():
    m = linear(C=1).fit(D6, Y6)
    assert m.coef_[0] == pytest.approx([1 / 3, 1]) and m.intercept_ == pytest.approx(-4 / 3)
    assert m.dual_coef_full_ == pytest.approx([0, 2 / 9, 1, 1 / 3, 0, 8 / 9], abs=1e-9)
    assert m.slack_ == pytest.approx([0, 0, 4 / 3, 0, 0, 0], abs=1e-9) and m.primal_ == pytest.approx(17 / 9)
    assert m.margin_ == pytest.approx(0.9486833) and m.support_fraction_ == pytest.approx(4 / 6)
    for C in (5, 50, np.inf):
        m = linear(C=C).fit(D6, Y6)
        assert m.coef_[0] == pytest.approx([1, 3]) and m.intercept_ == pytest.approx(-6)
        assert m.dual_coef_full_ == pytest.approx(
            [0, 0, 5, 1, 0, 4], abs=1e-7
        ) and m.primal_ == pytest.approx(5)


def test_slack_budget_by_hand():
    m = linear(slack_budget=1).fit(D6, Y6)
    assert m.coef_[0] == pytest.approx([0.5, 1.5]) and m.intercept_ == pytest.approx(-2.5)
    assert (m.primal_, m.C_) == pytest.approx((1.25, 2.5))
    m = linear(slack_budget=0.5).fit(D6, Y6)
    assert m.coef_[0] == pytest.approx([0.75, 2.25]) and m.intercept_ == pytest.approx(-4.25)
    m = linear(slack_budget=6).fit(D6, Y6)
    assert not m.dual_coef_full_.any() and np.isfinite(m.decision_function(D6)).all()
    with pytest.raises(ValueError, match=r"total slack of any surface of this kernel is 3"):
        linear(slack_budget=2.9).fit(*S4)
    X, y = cloud()
    soft = SVC(C=0.7).fit(X, y)
    m = SVC(slack_budget=soft.slack_.sum()).fit(X, y)
    assert m.decision_function(X) == pytest.approx(soft.decision_function(X), abs=1e-5)
    assert m.C_ == pytest.approx(0.7, rel=1e-4)


def test_squared_slack_by_hand():
    m = linear(slack="l2").fit(D6, Y6)
    assert m.coef_[0] == pytest.approx([2 / 17, 18 / 17]) and m.intercept_ == pytest.approx(-1.4705882)
    assert m.dual_coef_full_ == pytest.approx([0, 0, 28 / 17, 8 / 17, 0, 20 / 17], abs=1e-8)
    assert (m.primal_, m.dual_) == pytest.approx((28 / 17, 28 / 17))
    m = linear(slack="l2").fit([[0.0], [2.0]], [0, 1])
    assert (
        m.coef_ == pytest.approx(0.8)
        and m.slack_ == pytest.approx([0.2, 0.2])
        and m.primal_ == pytest.approx(0.4)
    )
    m = linear(slack="l2").fit(*S4)
    assert m.coef_ == pytest.approx(5 / 11) and m.intercept_ == pytest.approx(-10 / 11)
    assert m.primal_ == pytest.approx(3.7272727)
    X, y = cloud()
    m = SVC(slack="l2", C=2.0, gamma=0.4).fit(X, y)
    K = RBF(1 / np.sqrt(0.8))(X)
    hard = SVC(C=np.inf, kernel="precomputed").fit(K + np.eye(len(K)) / 4.0, y)
    assert hard.dual_coef_full_ == pytest.approx(m.dual_coef_full_, abs=1e-6)


def test_counted_slack_by_hand():
    x, y = np.array([[0, 1, 2, 3, 4.5, 10]]).T, [0, 0, 1, 0, 1, 1]
    m = linear(slack="l0").fit(x, y)
    assert m.coef_ == pytest.approx(4 / 3) and m.intercept_ == pytest.approx(-5)
    assert np.flatnonzero(m.slack_ > 1e-9).tolist() == [2]
    assert m.kkt_violation_ == 0.0 and m.gap_ == 0.0 and m.primal_ == m.dual_ == pytest.approx(8 / 9)
    soft = linear(C=1).fit(x, y)
    assert soft.coef_ == pytest.approx(4 / 7) and soft.intercept_ == pytest.approx(-11 / 7)
    with pytest.raises(ValueError, match="at most 60 rows"):
        SVC(slack="l0").fit(*cloud(61))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_counted_slack_is_the_smallest_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 1)), rng.permutation([0, 0, 0, 0, 1, 1, 1, 1])
    order = np.argsort(X[:, 0])
    s = y[order]
    best = min(min((s[:k] == a).sum() + (s[k:] != a).sum() for a in (0, 1)) for k in range(9))
    assert (linear(slack="l0").fit(X, y).slack_ > 1e-7).sum() == best


def test_gaussian_kernel_by_hand():
    X, y = SIX
    m = SVC(gamma=0.5).fit(X, y)
    assert m.dual_coef_full_ == pytest.approx([0.0557013, 1, 1, 0.2986750, 0.7570263, 1], abs=1e-6)
    assert m.intercept_ == pytest.approx(-0.0330761, abs=1e-6) and m.primal_ == pytest.approx(
        2.6497877, abs=1e-6
    )
    assert m.decision_function([[1.0, 1.0]]) == pytest.approx([-0.1144132], abs=1e-6)
    m = SVC(gamma=0.5).fit(X, y, sample_weight=[1, 1, 1, 1, 1, 3])
    assert m.dual_coef_full_ == pytest.approx([0.5707860, 1, 1, 0, 0.5899849, 1.9808012], abs=1e-6)
    assert m.intercept_ == pytest.approx(0.1981681, abs=1e-6)


def test_separating_conic():
    axis = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    X, y = np.vstack([axis, 2 * axis]), [0] * 4 + [1] * 4
    m = SVC(C=np.inf, kernel=Polynomial(2, 1, 1)).fit(X, y)
    found = m.boundary_polynomial()
    named = dict(zip(found.terms, found.coef, strict=True))
    wanted = {"1": -5 / 3, "x0": 0, "x1": 0, "x0^2": 2 / 3, "x0 x1": 0, "x1^2": 2 / 3}
    assert named == pytest.approx(wanted, abs=1e-8)
    assert m.primal_ == pytest.approx(4 / 9) and found(X) == pytest.approx(m.decision_function(X))
    line = linear().fit(D6, Y6).boundary_polynomial()
    assert dict(zip(line.terms, line.coef, strict=True)) == pytest.approx({"1": -4 / 3, "x0": 1 / 3, "x1": 1})
    with pytest.raises(ValueError, match="no polynomial"):
        SVC().fit(D6, Y6).boundary_polynomial()


def test_iris_by_the_book():
    X, y = load_iris(return_X_y=True)
    two = y < 2
    for C in (1.0, np.inf):
        m = linear(C=C).fit(X[two], y[two])
        assert m.coef_[0] == pytest.approx([0.0460343, -0.5217219, 1.0031640, 0.4641791], abs=1e-6)
        assert m.intercept_ == pytest.approx(-1.4505601, abs=1e-6) and sorted(m.support_) == [23, 41, 98]
        assert m.margin_ == pytest.approx(0.8175565)
    two = y > 0
    m = SVC(gamma=0.5).fit(X[two], y[two])
    assert m.n_support_.tolist() == [15, 17] and (m.point_types_ == "margin_error").sum() == 21
    assert m.intercept_ == pytest.approx(0.1236921, abs=1e-6) and m.dual_ == pytest.approx(
        18.4231541, abs=1e-6
    )
    assert (m.predict(X[two]) != y[two]).sum() == 3


@pytest.mark.parametrize(
    ("kind", "C", "W", "value"),
    [
        ("crammer_singer", 1.0, [[0.625, -0.125], [-0.25, 0.5], [-0.375, -0.375]], 1.25),
        ("weston_watkins", 1.0, [[0.625, -0.125], [-0.25, 0.5], [-0.375, -0.375]], 1.25),
        ("crammer_singer", 0.1, [[0.4, -0.15], [-0.1, 0.35], [-0.3, -0.2]], 0.3525),
        ("weston_watkins", 0.1, [[0.4, -0.1], [-0.1, 0.4], [-0.3, -0.3]], 0.39),
    ],
)
def test_all_classes_in_one_machine(kind, C, W, value):
    m = linear(multi_class=kind, C=C).fit(*THREE)
    assert m.coef_ == pytest.approx(np.array(W), abs=1e-5) and m.primal_ == pytest.approx(value, abs=1e-6)
    assert 0 <= m.gap_ < 1e-6 and m.coef_.sum(axis=0) == pytest.approx([0, 0], abs=1e-9)


def test_two_classes_in_one_machine_are_the_binary_machine_at_half_the_price():
    X, y = cloud(30)
    X = X - X.mean(axis=0)
    kernel = RBF(1.0)
    one = SVC(kernel=kernel, multi_class="crammer_singer", C=0.5).fit(X, y)
    other = SVC(kernel=kernel, multi_class="weston_watkins", C=0.5).fit(X, y)
    assert one.decision_function(X) == pytest.approx(other.decision_function(X), abs=1e-4)


def test_one_against_one_by_hand():
    m = linear().fit(*THREE)
    assert m.coef_ == pytest.approx(np.array([[1, -1], [0.5, 0.5], [0.2, 0.6]]), abs=1e-9)
    assert m.intercept_ == pytest.approx([1, 0, -0.2], abs=1e-9)
    assert m.decision_function(THREE[0]).shape == (7, 3) and (m.predict(THREE[0]) == THREE[1]).all()
    rest = linear(multi_class="ovr", C=100).fit(*THREE)
    assert (rest.predict(THREE[0]) == THREE[1]).all() and rest.coef_.shape == (3, 2)


def test_regression_by_hand():
    m = SVR(kernel="linear", epsilon=0.25).fit(*LINE)
    assert (
        m.coef_ == pytest.approx(1) and m.intercept_ == pytest.approx(0.25) and m.primal_ == pytest.approx(1)
    )
    assert m.support_.tolist() == [2, 3] and m.dual_coef_[0] == pytest.approx([-1, 1])
    m = SVR(kernel="linear", C=10, epsilon=0.1).fit(*LINE)
    assert m.coef_ == pytest.approx(1.05) and m.intercept_ == pytest.approx(-0.1)
    assert m.dual_coef_[0] == pytest.approx([2.2375, -10, 10, -2.2375]) and m.primal_ == pytest.approx(
        8.05125
    )


def test_reduced_set_by_hand():
    m = SVC(kernel=RBF(np.sqrt(0.5)), C=1.0).fit([[-0.5], [0.5], [9.0]], [1, 1, 0])
    m.support_vectors_, m.dual_coef_ = np.array([[-0.5], [0.5]]), np.array([[1.0, 1.0]])
    small = m.reduce(1)
    assert small.support_vectors_ == pytest.approx(0, abs=1e-6) and small.dual_coef_ == pytest.approx(
        1.5576016
    )
    assert small.reduction_error_ == pytest.approx(0.3096362, abs=1e-6)
    X, y = cloud(80)
    for kernel in ("rbf", "poly"):
        m = SVC(kernel=kernel, coef0=1.0).fit(X, y)
        small = m.reduce(8)
        assert len(small.support_vectors_) == 8 and (np.diff(small.reduction_error_path_) <= 1e-12).all()
        same = m.reduce(1000)
        assert same.decision_function(X) == pytest.approx(m.decision_function(X))
    assert (SVC().fit(X, y).reduce(12).predict(X) == SVC().fit(X, y).predict(X)).mean() > 0.9
    with pytest.raises(ValueError, match="at least 1"):
        m.reduce(0)


def gap_squared(m, Z, gamma):
    """‖w − its projection on the span of φ(Z)‖², straight from the definition."""
    kernel, c = RBF(np.sqrt(0.5 / gamma)), m.dual_coef_[0]
    cross = kernel(Z, m.support_vectors_) @ c
    return c @ kernel(m.support_vectors_) @ c - cross @ np.linalg.solve(kernel(Z), cross)


def test_a_reduced_set_is_a_stationary_point_and_says_its_distance():
    X, y = cloud(60, d=2)
    m = SVC(gamma=0.5, C=2.0).fit(X, y)
    small = m.reduce(4, max_iter=500)
    error = gap_squared(m, small.support_vectors_, 0.5)
    assert small.reduction_error_ == pytest.approx(error) == pytest.approx(small.reduction_error_path_[-1])
    assert len(small.reduction_error_path_) == 4
    for i in range(4):
        for j in range(2):
            side = np.zeros((4, 2))
            side[i, j] = 1e-4
            ends = [gap_squared(m, small.support_vectors_ + sign * side, 0.5) for sign in (1, -1)]
            assert abs(ends[0] - ends[1]) / 2e-4 < 1e-3 * m.dual_
    assert small.n_support_.tolist() == [(small.dual_coef_ < 0).sum(), (small.dual_coef_ >= 0).sum()]


def test_one_vector_goes_to_the_heavier_of_two_crowds():
    m = SVC(kernel=RBF(1.0)).fit([[-0.5], [0.5], [9.0]], [1, 1, 0])
    m.support_vectors_ = np.array([[0.0], [0.4], [0.9], [6.0], [6.9]])
    m.dual_coef_ = np.array([[1.0, 1.0, 1.0, -3.0, -2.0]])
    grid = np.linspace(-3.0, 10.0, 13_001)[:, None]
    heights = np.abs(m.dual_coef_[0] @ RBF(1.0)(m.support_vectors_, grid))
    small = m.reduce(1)
    assert small.support_vectors_[0] == pytest.approx(grid[heights.argmax()], abs=1e-3)
    assert np.abs(small.dual_coef_) == pytest.approx(heights.max(), abs=1e-6)


def test_a_reduced_machine_decides_alike_on_average_over_the_old_support_vectors():
    X, y = cloud(60, d=2)
    for options in ({"gamma": 0.5}, {"kernel": "poly", "coef0": 1.0, "degree": 2}):
        m = SVC(**options).fit(X, y)
        old = m.support_vectors_
        small = m.reduce(2)
        assert small.decision_function(old).mean() == pytest.approx(m.decision_function(old).mean())


def test_hulls():
    assert convex_hull([[0.0, 0], [2, 0], [1, 0], [2, 2], [1, 1], [0, 2], [0, 0]]).tolist() == [0, 1, 3, 5]
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)
    assert convex_hull(np.vstack([cube, cube.mean(axis=0)])).tolist() == list(range(8))
    assert convex_hull([[3.0], [1.0], [2.0]]).tolist() == [1, 0]
    found = gnomon.linear.nearest_hulls(D6, Y6)
    assert found.u == pytest.approx([2.2, 1.6]) and found.v == pytest.approx([2, 1])
    assert found.distance == pytest.approx(0.6324555)
    assert linear(C=np.inf).fit(D6, Y6).margin_ == pytest.approx(found.distance / 2)


# -- certificates and properties --------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 100.0]))
def test_conditions_of_optimality(n, seed, C):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)), 1)  # contradictory duplicates happen
    y = np.append([0, 1], rng.integers(0, 2, n - 2)) if n > 2 else np.array([0, 1])
    m = SVC(C=C, gamma=0.5, tol=1e-6).fit(X, y)
    s = np.where(y == 1, 1.0, -1.0)
    alpha, margin = m.dual_coef_full_, s * m.decision_function(X)
    assert abs(alpha @ s) <= 1e-9 * C and (alpha >= 0).all() and (alpha <= C).all()
    assert -1e-9 * max(1, m.primal_) <= m.gap_ <= m.kkt_violation_ * C * n + 1e-9 * max(1, m.primal_)
    assert (margin[alpha == 0] >= 1 - 1e-4).all() and (margin[alpha == C] <= 1 + 1e-4).all()
    free = (alpha > 1e-8 * C) & (alpha < C * (1 - 1e-8))
    assert margin[free] == pytest.approx(1, abs=1e-4)
    assert m.slack_ == pytest.approx(np.maximum(0, 1 - margin), abs=1e-9)
    assert m.primal_ <= 2 * C * min((y == 0).sum(), (y == 1).sum()) + 1e-6


def test_three_ways_to_one_machine():
    X, y = cloud(40)
    for options in ({"C": 1.0}, {"C": 50.0, "slack": "l2"}, {"C": 3.0, "kernel": "linear"}):
        a, b = SVC(**options).fit(X, y), SVC(solver="qp", **options).fit(X, y)
        assert a.decision_function(X) == pytest.approx(b.decision_function(X), abs=1e-5)
        assert a.primal_ == pytest.approx(b.primal_, rel=1e-6)
    X, y = cloud(20, seed=3)
    a, b = SVC(C=np.inf, gamma=2.0).fit(X, y), SVC(C=np.inf, gamma=2.0, solver="qp").fit(X, y)
    assert a.decision_function(X) == pytest.approx(b.decision_function(X), abs=1e-5)
    assert SVC(C=np.inf, gamma=2.0, solver="hull").fit(X, y).dual_ == pytest.approx(a.dual_)


def test_an_explicit_map_gives_the_same_machine():
    X, y = cloud(50)
    k = Polynomial(2, 0.5, 1.0)
    a, b = SVC(kernel=k).fit(X, y), linear().fit(k.feature_map(X), y)
    assert a.decision_function(X) == pytest.approx(b.decision_function(k.feature_map(X)), abs=1e-6)
    c = SVC(kernel="precomputed").fit(k(X), y)
    assert c.decision_function(k(X)) == pytest.approx(a.decision_function(X), abs=1e-6)
    line = gnomon.linear.LinearSVC(loss="hinge", regularize_intercept=False, tol=1e-10).fit(X, y)
    assert linear().fit(X, y).coef_[0] == pytest.approx(line.coef_[0], abs=1e-4)


def test_rows_without_weight_can_be_deleted():
    X, y = cloud(60)
    m = SVC(C=2.0).fit(X, y)
    kept = m.dual_coef_full_ > 0
    gamma = 1 / (X.shape[1] * X.var())
    m = SVC(C=2.0, gamma=gamma).fit(X, y)
    less = SVC(C=2.0, gamma=gamma).fit(X[kept], y[kept])
    assert less.decision_function(X) == pytest.approx(m.decision_function(X), abs=1e-6)
    twice = np.r_[np.arange(60), np.flatnonzero(~kept)[:3]]
    again = SVC(C=2.0, gamma=gamma).fit(X[twice], y[twice])
    assert again.decision_function(X) == pytest.approx(m.decision_function(X), abs=1e-6)


def test_path_over_prices():
    X, y = cloud(60)
    path = SVC(gamma=0.5).path(X, y, [0.01, 0.1, 1, 10, 100])
    assert (np.diff(path.margins) <= 1e-9).all() and (np.diff(path.slack_sums) <= 1e-6).all()
    assert len(path.models) == 5 and path.training_errors[-1] <= path.training_errors[0]
    with pytest.raises(ValueError, match="positive prices"):
        SVC().path(X, y, [0.0])


def test_report_of_conditions():
    m = linear().fit(D6, Y6)
    report = m.kkt_report(D6, Y6)
    assert report.alpha == pytest.approx(m.dual_coef_full_) and report.violations.max() < 1e-9
    assert report.kinds.tolist() == m.point_types_.tolist() and "margin_error" in str(report)
    wrong = linear().fit(D6, Y6)
    wrong.intercept_ = wrong.intercept_ + 0.1
    assert wrong.kkt_report(D6, Y6).violations.max() == pytest.approx(0.1)
    assert m.geometric_margins(D6, Y6)[1] == pytest.approx(m.margin_)


@pytest.mark.parametrize("shift", [-0.25, 0.0, 0.25])
@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_violations_are_distances_from_the_conditions(slack, shift):
    X, y = cloud()
    m = SVC(gamma=0.4, slack=slack, C=2.0, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    m.intercept_ = m.intercept_ + shift
    report = m.kkt_report(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * m.decision_function(X)
    price = 2.0 * np.where(y == 1, 3.0, 1.0)
    for i, (kind, a) in enumerate(zip(m.point_types_, m.dual_coef_full_)):
        if slack == "l2":
            wrong = abs(max(0.0, 1.0 - margins[i]) - a / (2.0 * price[i]))
        elif a == 0.0:
            assert kind == "outside"
            wrong = max(0.0, 1.0 - margins[i])
        elif a > price[i] * (1 - 1e-6):
            assert kind == "margin_error"
            wrong = max(0.0, margins[i] - 1.0)
        else:
            assert kind == "on_margin"
            wrong = abs(1.0 - margins[i])
        assert report.violations[i] == pytest.approx(wrong, abs=1e-12)
    assert report.margins == pytest.approx(margins) and report.slack == pytest.approx(
        np.maximum(0, 1 - margins)
    )
    assert report.gap == m.gap_
    first = str(report).splitlines()[1].split()
    assert (
        first[0] == "0"
        and float(first[2]) == pytest.approx(margins[0], rel=1e-5)
        and first[4] in m.point_types_
    )


def test_questions_to_the_wrong_machine_or_rows_are_refused():
    three = linear().fit(*THREE)
    for ask in (
        lambda: three.kkt_report(*THREE),
        lambda: three.geometric_margins(*THREE),
        lambda: three.reduce(1),
        lambda: three.boundary_polynomial(),
        lambda: linear().path(*THREE, [1.0]),
    ):
        with pytest.raises(DataError, match="for a machine of two classes"):
            ask()
    two = linear().fit(D6, Y6)
    with pytest.raises(DataError, match="must hold the 6 rows of the fit; it has 5"):
        two.kkt_report(D6[:5], Y6[:5])
    with pytest.raises(DataError, match=r"\[7\], which the machine has not seen"):
        two.geometric_margins(D6, [0, 0, 0, 1, 1, 7])
    for Cs in ([1.0, 0.0], [[1.0]], 2.0):
        with pytest.raises(DataError, match="vector of positive prices"):
            two.path(D6, Y6, Cs)


def test_the_path_counts_what_its_machines_do():
    X, y = cloud()
    path = SVC(gamma=0.5).path(X, y, [0.01, 1.0, 100.0])
    for k, (C, m) in enumerate(zip(path.Cs, path.models, strict=True)):
        assert m.C == C and path.margins[k] == m.margin_
        assert path.slack_sums[k] == pytest.approx(m.slack_.sum())
        assert path.training_errors[k] == round(60 * (1 - m.score(X, y))) and path.n_support[k] == len(
            m.support_
        )
    assert (np.diff(path.margins) <= 0).all() and (np.diff(path.slack_sums) <= 1e-9).all()


def test_scaling_moves_the_hard_margin():
    m, wide = linear(C=np.inf).fit(D6, Y6), linear(C=np.inf).fit(10 * D6, Y6)
    assert wide.coef_ == pytest.approx(m.coef_ / 10) and wide.margin_ == pytest.approx(10 * m.margin_)


def test_not_separable_is_proven():
    X, y = S4
    with pytest.raises(NotSeparableError, match="hulls") as caught:
        linear(C=np.inf).fit(X, y)
    a = caught.value.certificate
    assert a[y == 1] @ X[y == 1] == pytest.approx(a[y == 0] @ X[y == 0], abs=1e-6)
    with pytest.raises(NotSeparableError):
        SVC(C=np.inf).fit([[0.0], [0.0]], [0, 1])


@pytest.mark.parametrize("seed", range(4))
def test_separable_iff_a_linear_program_says_so(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(7, 2)), np.array([0, 0, 0, 1, 1, 1, 1])
    s = np.where(y == 1, 1.0, -1.0)
    A = -s[:, None] * np.column_stack([X, np.ones(7)])
    feasible = optimize.linprog(np.zeros(3), A, -np.ones(7), bounds=[(None, None)] * 3).status == 0
    try:
        linear(C=np.inf).fit(X, y)
    except NotSeparableError:
        assert not feasible
    else:
        assert feasible


# -- peers ---------------------------------------------------------------------------------------------------


@pytest.mark.parity
@pytest.mark.parametrize(
    "options", [{}, {"kernel": "linear"}, {"kernel": "poly"}, {"C": 30.0}, {"class_weight": "balanced"}]
)
def test_same_as_libsvm(options):
    X, y = cloud(200, 4)
    ours, theirs = SVC(**options).fit(X, y), peer.SVC(tol=1e-6, **options).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-4)
    X, y = load_iris(return_X_y=True)
    ours, theirs = SVC(**options).fit(X, y), peer.SVC(tol=1e-6, **options).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-3)
    assert ours.support_.tolist() == theirs.support_.tolist() and ours.dual_coef_ == pytest.approx(
        theirs.dual_coef_, abs=1e-3
    )
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parity
def test_smaller_gap_than_libsvm_at_equal_tolerance():
    X, y = cloud(400, 4)
    s = np.where(y == 1, 1.0, -1.0)
    ours, theirs = SVC(gamma=0.5).fit(X, y), peer.SVC(gamma=0.5).fit(X, y)
    K = RBF(1.0)(X)
    beta = np.zeros(len(X))
    beta[theirs.support_] = theirs.dual_coef_[0]
    f = K @ beta
    primal = 0.5 * beta @ f + np.maximum(0, 1 - s * (f + theirs.intercept_)).sum()
    gap = primal - (np.abs(beta).sum() - 0.5 * beta @ f)
    assert ours.gap_ < 1e-3 * gap and ours.decision_function(X) == pytest.approx(
        theirs.decision_function(X), abs=2e-3
    )


@pytest.mark.parity
def test_other_machines_same_as_libsvm():
    X, y = cloud(80)
    t = X[:, 0] * 2 + X[:, 1] ** 2 + 5
    for kernel in ("rbf", "linear"):
        a, b = SVR(kernel=kernel).fit(X, t), peer.SVR(kernel=kernel, tol=1e-6, max_iter=10**6).fit(X, t)
        assert a.predict(X) == pytest.approx(b.predict(X), abs=1e-4)
        a, b = NuSVR(kernel=kernel).fit(X, t), peer.NuSVR(kernel=kernel, tol=1e-6, max_iter=10**6).fit(X, t)
        assert a.predict(X) == pytest.approx(b.predict(X), abs=1e-4)
        a, b = (
            OneClassSVM(kernel=kernel, nu=0.3).fit(X),
            peer.OneClassSVM(kernel=kernel, nu=0.3, tol=1e-6, max_iter=10**6).fit(X),
        )
        assert a.decision_function(X) == pytest.approx(b.decision_function(X), abs=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize("nu", [0.5, 0.8])
def test_nu_machines_same_as_libsvm(nu):
    X, y = cloud(80)
    a, b = NuSVC(nu=nu).fit(X, y), peer.NuSVC(nu=nu, tol=1e-6, max_iter=10**6).fit(X, y)
    assert a.decision_function(X) == pytest.approx(b.decision_function(X), abs=1e-3)
    assert (a.slack_ > 1e-7).mean() <= nu <= a.support_fraction_ + 1e-9


# -- probabilities, rows of other kinds -------------------------------------------------------------------------


def test_probabilities_agree_with_predictions():
    for X, y in (cloud(120), load_iris(return_X_y=True)):
        m = SVC(probability=True).fit(X, y)
        p = m.predict_proba(X)
        assert p.sum(axis=1) == pytest.approx(1) and (m.classes_[p.argmax(axis=1)] == m.predict(X)).all()
        assert m.predict_log_proba(X) == pytest.approx(np.log(p))
    assert not hasattr(SVC(), "predict_proba")


def test_left_out_decisions_are_refits():
    from gnomon.svm.certificates import Machine
    from gnomon.svm.probabilities import left_out

    X, y = cloud(40, noise=0.2)
    m = SVC(gamma=0.5, C=1.0).fit(X, y)
    s = np.where(y == 1, 1.0, -1.0)
    K = RBF(1.0)(X)
    machine = Machine(
        np.arange(40), s, s * m.dual_coef_full_, np.ones(40), m.intercept_[0], (0, 0), m.slack_, {}
    )
    found = left_out(machine, K)
    exact = np.array(
        [
            SVC(gamma=0.5).fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[[i]])[0]
            for i in range(40)
        ]
    )
    assert np.abs(found - exact).mean() < 0.1 and found[m.dual_coef_full_ == 0] == pytest.approx(
        exact[m.dual_coef_full_ == 0], abs=1e-6
    )


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_left_out_decisions_are_exact_where_no_other_row_changes_its_kind(C):
    """Free rows and rows at their bound; the kernel's diagonal is not one, and prices differ."""
    from gnomon.svm.certificates import Machine
    from gnomon.svm.probabilities import left_out

    X, y = cloud(50, d=2, noise=0.5)
    kernel = 2.5 * RBF(0.8)
    weight = np.where(y == 1, 2.0, 1.0)
    m = SVC(kernel=kernel, C=C, tol=1e-10).fit(X, y, sample_weight=weight)
    s = np.where(y == 1, 1.0, -1.0)
    machine = Machine(
        np.arange(50), s, s * m.dual_coef_full_, C * weight, m.intercept_[0], (0, 0), m.slack_, {}
    )
    found, met = left_out(machine, kernel(X)), set()
    for i in range(50):
        rest = np.delete(np.arange(50), i)
        alone = SVC(kernel=kernel, C=C, tol=1e-10).fit(X[rest], y[rest], sample_weight=weight[rest])
        if (alone.point_types_ == m.point_types_[rest]).all():
            assert alone.decision_function(X[[i]])[0] == pytest.approx(found[i], abs=1e-5)
            met.add(m.point_types_[i])
    assert "outside" in met and len(met) >= 2


def test_the_temperature_is_the_likeliest_and_its_probabilities_are_shares():
    from gnomon.svm.probabilities import best_temperature

    rng = np.random.default_rng(0)
    codes, weight = rng.integers(0, 3, 80), rng.uniform(0.5, 2.0, 80)
    scores = rng.normal(size=(80, 3)) + 1.5 * np.eye(3)[codes]

    def loss(a):
        z = a * scores
        return weight @ (np.log(np.exp(z).sum(axis=1)) - z[np.arange(80), codes]) + 0.01 * np.log(a) ** 2

    a = best_temperature(scores, codes, weight)
    assert all(loss(a) <= loss(factor * a) for factor in (0.5, 0.999, 1.001, 2.0))
    perfect = best_temperature(10.0 * np.eye(3)[codes], codes, weight)
    assert 1.0 < perfect < np.exp(8)  # a little of a prior keeps it finite


def test_nu_that_the_weights_of_classes_do_not_allow():
    X, y = cloud(40)
    y[:30] = 0
    y[30:] = 1  # the smaller class is a quarter
    NuSVC(nu=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"nu=0.51 is above 0.5, twice the share of the smaller class"):
        NuSVC(nu=0.51).fit(X, y)
    with pytest.warns(UserWarning, match=r"nu=0.5 is above 0.2\d+, the largest there is"):
        light = NuSVC(nu=0.5, class_weight={0: 1.0, 1: 0.4}).fit(X, y)
    most = 2 * 10 * 0.4 / (30 + 10 * 0.4)
    same = NuSVC(nu=most, class_weight={0: 1.0, 1: 0.4}).fit(X, y)
    assert light.decision_function(X) == pytest.approx(same.decision_function(X))


def test_sparse_rows_and_single_precision():
    X, y = cloud(60, 5)
    X = X * (X > -0.2)
    for kernel in ("rbf", "linear", "poly"):
        dense, thin = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(sparse.csr_matrix(X), y)
        assert thin.decision_function(sparse.csr_matrix(X)) == pytest.approx(
            dense.decision_function(X), abs=1e-6
        )
        assert sparse.issparse(thin.support_vectors_) and sparse.issparse(thin.dual_coef_)


def test_strings_and_sets():
    words = ["aab", "aba", "abb", "zzx", "zxx", "xzz"]
    shared = FunctionKernel(lambda a, b: len(set(a) & set(b)) + sum(c in b for c in a), vectorized=False)
    m = SVC(kernel=shared + 1.0).fit(words, [0, 0, 0, 1, 1, 1])
    assert m.predict(["bba", "xxz"]).tolist() == [0, 1]


def test_rows_kept_in_a_small_cache():
    X, y = cloud(700, 4)
    whole, part = SVC(gamma=0.5).fit(X, y), SVC(gamma=0.5, cache_size=0.5).fit(X, y)
    assert part.decision_function(X) == pytest.approx(whole.decision_function(X), abs=2e-3)
    assert part.gap_ >= -1e-9 and part.kkt_violation_ <= 1e-3
    firm = SVC(gamma=0.5, cache_size=0.5, tol=1e-6, shrinking=False).fit(X, y)
    assert firm.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-5)


# -- awkward -------------------------------------------------------------------------------------------------


def test_one_class_one_row_no_weight():
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        SVC().fit([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="class"):
        SVC().fit([[1.0]], [1])
    with pytest.raises(ValueError, match="zero weight"):
        SVC().fit([[1.0], [2.0]], [0, 1], sample_weight=[1, 0])
    assert SVR().fit([[1.0]], [3.0]).predict([[5.0]]) == pytest.approx([3.0])
    assert OneClassSVM().fit([[1.0]]).predict([[1.0]]).tolist() == [1]


def test_contradictory_duplicates_and_constant_kernels():
    m = SVC().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    assert m.predict([[1.0]]).tolist() == [1] and np.isfinite(m.decision_function([[7.0]])).all()
    m = SVC(gamma=0.0).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert m.predict([[9.0]]).tolist() == [1]
    m = SVC(kernel=lambda A, B: np.zeros((len(A), len(B)))).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert m.predict([[9.0]]).tolist() == [0]


def test_prices_near_zero_and_infinity():
    X, y = cloud(30)
    tiny, huge = SVC(C=1e-10).fit(X, y), SVC(C=1e10, gamma=5.0).fit(X, y)
    assert np.isfinite(tiny.decision_function(X)).all() and tiny.margin_ > 1e6
    hard = SVC(C=np.inf, gamma=5.0).fit(X, y)
    assert huge.decision_function(X) == pytest.approx(hard.decision_function(X), abs=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_shifted_columns(kernel):
    X, y = cloud(50)
    X = np.round(X * 2**10) / 2**10  # exact after the shift
    near, far = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(X + 1e8, y)
    assert far.decision_function(X + 1e8) == pytest.approx(near.decision_function(X), abs=1e-5)
    a, b = SVR(kernel=kernel).fit(X, X[:, 0]), SVR(kernel=kernel).fit(X + 1e8, X[:, 0])
    assert b.predict(X + 1e8) == pytest.approx(a.predict(X), abs=1e-5)


def test_indefinite_kernels_end_and_say_so():
    X, y = cloud(40)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        m = SVC(kernel=lambda A, B: -(A @ B.T), C=5.0).fit(X, y)
    assert np.isfinite(m.decision_function(X)).all()


def test_steps_run_out():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        m = SVC(max_iter=1, C=100.0).fit(*cloud(60))
    assert m.n_pair_steps_.tolist() == [1]


def test_options_that_do_not_go_together():
    X, y = cloud(20)
    with pytest.raises(ValueError, match="slack_budget goes with"):
        SVC(slack="l2", slack_budget=1.0).fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        SVC(slack_budget=1.0).fit(*THREE)
    with pytest.raises(ValueError, match="hard margin"):
        SVC(solver="hull").fit(X, y)
    with pytest.raises(ValueError, match="square"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(*THREE).predict(THREE[0])
    with pytest.raises(ValueError, match="infeasible"):
        NuSVC(nu=0.9).fit([[0.0], [1], [2], [3]], [0, 0, 0, 1])
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVC().fit(X, y).coef_
    with pytest.raises(ValueError, match="overflow"):
        SVC(kernel="poly", degree=40, gamma=1e10).fit(1e5 * X, y)
    with pytest.raises(ValueError, match="two classes"):
        SVC().fit(*THREE).geometric_margins(*THREE)


def test_watching_a_fit():
    X, y = cloud(60)
    models = list(SVC(C=10.0).iterate(X, y))
    assert (
        models[-1].gap_ <= models[0].gap_
        and models[-1].trace_.objective[-1] <= models[-1].trace_.objective[0]
    )
    assert models[-1].decision_function(X) == pytest.approx(SVC(C=10.0).fit(X, y).decision_function(X))


def test_hostile_files(tmp_path):
    m = SVC().fit(*cloud(20))
    gnomon.save(m, tmp_path / "m")
    assert gnomon.load(tmp_path / "m").gap_ == m.gap_
    m.dual_coef_ = m.dual_coef_[:, :-1]
    gnomon.save(m, tmp_path / "m")
    with pytest.raises(gnomon.core.errors.ModelFileError, match="do not fit together"):
        gnomon.load(tmp_path / "m")


def test_linear_objects_are_linear():
    m = SVC(kernel=Linear()).fit(D6, Y6)
    assert m.coef_[0] == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize("cache_size", [0.5, 2.5, 200])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_working_sets_of_a_cache_end_where_the_whole_matrix_does(cache_size, tol):
    """700 rows are 2 MB in single precision and 4 MB in double: rows replaced, or all of them there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=700) > 1).astype(int)
    model = SVC(cache_size=cache_size, tol=tol).fit(X, y)
    exact = SVC(solver="qp").fit(X, y)
    assert model.gap_ <= 1e-9 * model.primal_
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), rtol=0, atol=1e-5)


def test_a_step_depends_on_its_state_alone():
    from gnomon.kernels import RBF
    from gnomon.solvers.kernel_rows import KernelRows
    from gnomon.solvers.pairs import PairProblem

    rng = np.random.default_rng(1)
    X, sign = rng.normal(size=(1200, 4)), np.where(rng.random(1200) < 0.5, -1.0, 1.0)
    low, high = np.where(sign > 0, 0.0, -1.0), np.where(sign > 0, 1.0, 0.0)

    def problem():
        return PairProblem(KernelRows(RBF(), X, megabytes=3, single=True), np.arange(1200), sign, low, high)

    one = problem()
    first = one.advance(one.start(), 700)
    assert not first.done
    goes_on, resumed = one.advance(first, 10_000), problem().advance(first, 10_000)
    assert goes_on.steps == resumed.steps
    np.testing.assert_array_equal(goes_on.beta, resumed.beta)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_nu_machines_are_those_of_scikit_learn(kernel):
    """ν·n/2 is no whole number, so that a multiplier is free and the intercept unique. libsvm's kernel is float32."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=80)
    theirs = peer.NuSVC(kernel=kernel, nu=0.37, tol=1e-10).fit(X, y > 0)
    ours = NuSVC(kernel=kernel, nu=0.37).fit(X, y > 0)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-5)
    theirs = peer.NuSVR(kernel=kernel, nu=0.37, tol=1e-10).fit(X, y)
    ours = NuSVR(kernel=kernel, nu=0.37).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [1e150, 1e300])
def test_entries_near_the_end_of_the_numbers_are_refused(size):
    X = np.random.default_rng(0).normal(size=(12, 2)) * size
    for model in (SVC(kernel="linear"), NuSVC(kernel="linear"), SVR(kernel="linear")):
        with pytest.raises(DataError, match="too large"):
            model.fit(X, np.repeat([0, 1], 6))
    if size == 1e300:
        with pytest.raises(DataError, match="variance overflows"):
            SVC().fit(X, np.repeat([0, 1], 6))


def test_a_machine_that_cannot_end_stops_and_says_so():
    X = np.random.default_rng(0).normal(size=(12, 2)) * 1e70
    with pytest.warns(ConvergenceWarning, match="Solver terminated early"):
        SVC(kernel="linear").fit(X, np.repeat([0, 1], 6))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        NuSVC(kernel="linear", max_iter=3).fit(X / 1e70, np.repeat([0, 1], 6))


@pytest.mark.parametrize("shift", [0.0, 5.0, -300.0])
def test_the_hull_is_the_same_wherever_the_points_lie(shift):
    from scipy.spatial import ConvexHull

    P = np.random.default_rng(3).normal(size=(60, 2)) + shift
    found = convex_hull(P)
    assert sorted(found) == sorted(ConvexHull(P).vertices)
    a, b, c = P[found], P[np.roll(found, -1)], P[np.roll(found, -2)]
    (u, v), (s, t) = (b - a).T, (c - b).T
    assert (u * t - v * s > 0).all()  # counter-clockwise
