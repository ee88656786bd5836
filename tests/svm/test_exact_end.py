"""The end of a fit: pairs of classes share one matrix, and free multipliers are solved for together."""

import warnings

import numpy as np
import pytest
from sklearn import clone
from sklearn import svm as peer
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.threads import threads
from gnomon.solvers.free_multipliers import at_one_slope, equal_slopes
from gnomon.solvers.pairs import FEW
from gnomon.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM


def cloud(n, d=3, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_a_pair_of_classes_is_a_machine_of_its_own(slack):
    X, y = cloud(120, classes=4)
    whole = SVC(gamma=0.5, slack=slack, decision_function_shape="ovo", tol=1e-8).fit(X, y)
    decisions, pair = whole.decision_function(X), 0
    for a in range(4):
        for b in range(a + 1, 4):
            some = (y == a) | (y == b)
            alone = SVC(gamma=0.5, slack=slack, tol=1e-8).fit(X[some], y[some])
            assert -alone.decision_function(X) == pytest.approx(decisions[:, pair], abs=1e-9)
            assert alone.dual_ == pytest.approx(whole.dual_[pair], abs=1e-9)
            pair += 1


@pytest.mark.parametrize(("n", "d", "C", "many"), [(150, 3, 1.0, False), (400, 10, 1e3, True)])
def test_nothing_but_rounding_is_left_of_the_violation(n, d, C, many):
    X, y = cloud(n, d)
    model = SVC(gamma=0.7, C=C, cache_size=1000).fit(X, y)
    assert (np.sum(model.point_types_ == "on_margin") > FEW) == many
    assert model.kkt_violation_ <= 1e-9
    assert 0 <= model.gap_ <= 1e-9 * model.dual_


def test_the_same_for_numbers():
    X, _ = cloud(150)
    y = np.sin(2 * X[:, 0])
    model = SVR(gamma=0.7, C=3.0, epsilon=0.05).fit(X, y)
    slope = y - model.predict(X)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    free = (coef != 0) & (np.abs(coef) < 3.0)
    assert free.sum() > 5
    assert np.abs(slope[free]) == pytest.approx(0.05, abs=1e-9)
    assert (np.abs(slope[coef == 0]) <= 0.05 + 1e-9).all()


def test_rows_that_repeat_leave_a_singular_system():
    X = np.repeat([[0.0], [1.0], [2.5], [1.5], [3.0], [4.0]], 3, axis=0)
    y = np.repeat([0, 0, 0, 1, 1, 1], 3)
    model = SVC(kernel="linear", C=10.0 / 3).fit(X, y)
    assert model.coef_[0] == pytest.approx([1.0], abs=1e-9)
    assert model.intercept_[0] == pytest.approx(-2.0, abs=1e-9)
    assert model.dual_ == pytest.approx(30.5, abs=1e-8)


@pytest.mark.parametrize("classes", [2, 5])
def test_nearer_to_the_solution_than_libsvm_at_the_same_tolerance(classes):
    X, y = cloud(300, classes=classes)
    exact = peer.SVC(gamma=0.5, tol=1e-10, decision_function_shape="ovo").fit(X, y).decision_function(X)
    ours = SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y).decision_function(X)
    theirs = peer.SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y).decision_function(X)
    # libsvm keeps kernel values in single precision, so even its tightest solution is some 1e-7 off
    assert np.abs(ours - exact).max() < 2e-6
    assert np.abs(theirs - exact).max() > 1e-5


def test_one_thread_and_two_give_the_same_bits():
    X, y = cloud(400, classes=5)
    found = []
    for count in (1, 2):
        with threads(count):
            found.append(SVC().fit(X, y))
    assert np.array_equal(found[0].dual_coef_, found[1].dual_coef_)
    assert np.array_equal(found[0].intercept_, found[1].intercept_)


def test_steps_of_two_groups_keep_both_sums_and_end_at_one_slope_each():
    K = np.array([[2.0, 1.0, 0.5, 0.0], [1.0, 3.0, 0.0, 0.5], [0.5, 0.0, 2.0, 1.0], [0.0, 0.5, 1.0, 4.0]])
    slope, groups = np.array([1.0, -1.0, 0.5, 2.0]), np.repeat(np.eye(2), 2, axis=0)
    step = equal_slopes(K, slope, groups)
    assert groups.T @ step == pytest.approx([0.0, 0.0], abs=1e-14)
    left = slope - K @ step
    assert left[0] == pytest.approx(left[1]) and left[2] == pytest.approx(left[3])
    assert abs(left[0] - left[2]) > 0.1  # the groups have slopes of their own


def test_a_multiplier_that_meets_its_bound_stays_there():
    b, up = np.array([0.5, 0.5, 0.5]), np.array([0.6, 1.0, 1.0])
    found = at_one_slope(np.eye(3), b, np.array([1.0, 0.0, -0.2]), np.zeros(3), up, np.ones((3, 1)))
    assert found == pytest.approx([0.6, 0.55, 0.35])  # 0.1 less for two, whose slopes differed by 0.2


def test_a_way_between_bounds_keeps_the_sums_of_its_groups():
    """Slopes that differ by 1e-8 of themselves, under a kernel of one dimension: the way may be long."""
    x = np.linspace(0.0, 1.0, 12)
    slope = 1e8 + 3.0 * x + np.array([1.0, -1.0] * 6)
    groups = np.repeat(np.eye(2), 6, axis=0)
    found = at_one_slope(np.outer(x, x), np.zeros(12), slope, np.full(12, -1e8), np.full(12, 1e8), groups)
    assert np.abs(found).max() > 1e7
    assert groups.T @ found == pytest.approx([0.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("C", [1e3, 1e4, 1e5])
def test_a_price_changes_no_plane_that_is_flat_for_all(C):
    """Of whole numbers: the median of either half is the same, so nothing is gained by a slope."""
    X = np.array([3, 5, 1, 5, 4, 4, 4, 0, 0, 0, 5, 1, 2, 5, 1, 5, 1, 3, 4, 4.0])[:, None]
    y = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0.0])
    model = SVR(kernel="linear", C=C).fit(X, y)
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9 * C)
    assert np.maximum(np.abs(y - model.predict(X)) - 0.1, 0.0).sum() == pytest.approx(6.4, abs=1e-6)


@pytest.mark.parametrize("model", [NuSVC(nu=0.3, gamma=0.7), NuSVR(nu=0.4, gamma=0.7, C=100.0)], ids=type)
def test_shares_end_at_rounding(model):
    X, y = cloud(200)
    model.fit(X, y if isinstance(model, NuSVC) else np.sin(2 * X[:, 0]) + X[:, 1])
    assert model.kkt_violation_ <= 1e-11


def test_one_class_stops_where_rounding_does():
    X, _ = cloud(200)
    model = OneClassSVM(gamma=0.7, nu=0.3).fit(X)
    assert model.kkt_violation_ <= 1e-12
    assert model.n_pair_steps_[0] < 500


@pytest.mark.parametrize("model", [NuSVC(nu=0.25, gamma=0.3), NuSVR(nu=0.3, gamma=0.3, C=20.0)], ids=type)
def test_many_rows_are_solved_in_sets_and_few_at_once_with_one_answer(model, monkeypatch):
    X, y = cloud(700)
    t = y if isinstance(model, NuSVC) else np.sin(2 * X[:, 0]) + X[:, 1]
    in_sets = clone(model).fit(X, t)
    monkeypatch.setattr("gnomon.solvers.grouped_pairs.WORKING_SET", 2 * len(X))
    at_once = clone(model).fit(X, t)
    assert in_sets.kkt_violation_ <= 1e-11 and at_once.kkt_violation_ <= 1e-11
    assert np.array_equal(in_sets.support_, at_once.support_)
    ask = "decision_function" if isinstance(model, NuSVC) else "predict"
    np.testing.assert_allclose(getattr(in_sets, ask)(X), getattr(at_once, ask)(X), rtol=0, atol=1e-10)
    # multipliers are determined less well than scores, and their errors grow with the price that bounds them
    assert in_sets.dual_coef_ == pytest.approx(at_once.dual_coef_, abs=1e-8 * getattr(model, "C", 1.0))
    if isinstance(model, NuSVR):  # half of the price goes to rows above the tube, half to rows below
        beta = in_sets.dual_coef_[0]
        half = 0.5 * 0.3 * 20.0 * len(X)
        assert beta[beta > 0].sum() == pytest.approx(half) and -beta[beta < 0].sum() == pytest.approx(half)


def test_sets_end_at_the_limit_of_steps():
    X, y = cloud(700)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = NuSVC(nu=0.25, max_iter=40).fit(X, y)
    assert model.n_pair_steps_[0] <= 40
    assert model.kkt_violation_ > 1e-3


def on_the_way(K, b, slope, down, up, groups):
    """What `at_one_slope` finds, with a system of its own after each bound that is met."""
    b, slope, left = b.copy(), slope.copy(), np.arange(len(b))
    while len(left):
        step = equal_slopes(K[np.ix_(left, left)], slope[left], groups[left])
        edge = np.where(step > 0, up[left], down[left])
        share = np.divide(edge - b[left], step, out=np.full(len(left), np.inf), where=step != 0)
        first = int(np.argmin(share))
        if share[first] >= 1.0:
            b[left] += step
            break
        b[left] += share[first] * step
        slope -= K[:, left] @ (share[first] * step)
        b[left[first]] = edge[first]
        left = np.delete(left, first)
    return b


def small_problem(n, groups, twice=False):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4))
    X[n // 2 :] = X[: n - n // 2] if twice else X[n // 2 :]
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=-1))
    members = np.eye(groups)[np.arange(n) % groups]
    return K, rng.uniform(0.1, 0.9, n), rng.normal(size=n), np.zeros(n), rng.uniform(0.9, 1.5, n), members


@pytest.mark.parametrize("n", [3, 17, 90])
@pytest.mark.parametrize("groups", [1, 2])
def test_one_inverse_leads_from_bound_to_bound(n, groups):
    K, b, slope, down, up, members = small_problem(n, groups)
    found = at_one_slope(K, b, slope, down, up, members)
    assert found == pytest.approx(on_the_way(K, b, slope, down, up, members), abs=1e-9)
    assert members.T @ found == pytest.approx(members.T @ b, abs=1e-12)
    assert n < 17 or ((found == down) | (found == up)).sum() > 2


@pytest.mark.parametrize("n", [4, 17, 90])
@pytest.mark.parametrize("groups", [1, 2])
def test_rows_that_repeat_with_other_slopes_go_to_a_bound(n, groups):
    """No step gives both of a pair one slope: one of the two is taken as far as it goes."""
    K, b, slope, down, up, members = small_problem(n, groups, twice=True)
    found = at_one_slope(K, b, slope, down, up, members)
    assert members.T @ found == pytest.approx(members.T @ b, abs=1e-12)
    assert (found >= down).all() and (found <= up).all()
    rest = slope - K @ (found - b)
    inside = (found > down) & (found < up)
    for mine in members.T.astype(bool):
        one = rest[mine & inside]
        assert one == pytest.approx(np.full(len(one), one.mean() if len(one) else 0.0), abs=1e-8)
    twin = np.clip(on_the_way(K, b, slope, down, up, members), down, up)

    def rise(x):
        return slope @ (x - b) - 0.5 * (x - b) @ K @ (x - b)

    assert rise(found) > rise(twin)


@pytest.mark.parametrize("model", [SVR(C=100.0), NuSVR(C=100.0)], ids=type)
def test_a_high_price_under_a_linear_kernel_ends_at_rounding(model):
    """Pairs alone take hundreds of thousands of steps here."""
    X = np.random.default_rng(0).normal(size=(150, 4))
    y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=150)
    model.set_params(kernel="linear").fit(X, y)
    assert model.kkt_violation_ <= 1e-9
    assert model.n_pair_steps_[0] < 20_000


def test_a_program_of_numbers_that_overflow_is_not_taken_for_solved():
    X = np.random.default_rng(0).normal(size=(12, 2)) * 1e70
    with pytest.warns(ConvergenceWarning):
        model = SVC(kernel="linear").fit(X, np.repeat([0, 1], 6))
    assert not model.converged_ and model.kkt_violation_ > 1.0


@pytest.mark.parametrize("kind", ["ovr", "crammer_singer"])
def test_a_machine_that_is_stopped_early_has_not_converged_and_says_so(kind):
    X, y = cloud(90, classes=3)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2\).*violated by .*tol=0.001"):
        model = SVC(multi_class=kind, max_iter=2).fit(X, y)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC(multi_class=kind).fit(X, y).converged_
