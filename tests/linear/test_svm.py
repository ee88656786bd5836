"""Linear machines against the numbers of the courses, their optimality conditions and scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import InfeasibleError
from gnomon.linear import LinearSVC, LinearSVR, NotSeparableError
from gnomon.loops import dual as loops
from gnomon.solvers import dual, maximum_margin
from gnomon.solvers.optimality import stationarity

T6 = np.array([0, 1, 2.5, 1.5, 3, 4])[:, None], np.array([-1, -1, -1, 1, 1, 1])
FREE = {"loss": "hinge", "regularize_intercept": False}


def primal(model, X, y, C, squared=False):
    s = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0, 1 - s * (X @ model.coef_[0] + model.intercept_[0]))
    return 0.5 * model.coef_[0] @ model.coef_[0] + C * np.sum(slack**2 if squared else slack)


def test_hard_margin_by_hand():
    X, y = np.array([[0.0, 0], [0, 2], [3, 1], [4, 1]]), [-1, -1, 1, 1]
    model = LinearSVC(C=np.inf, **FREE).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_full_, [1 / 9, 1 / 9, 2 / 9, 0], atol=1e-6)
    np.testing.assert_allclose(model.coef_[0], [2 / 3, 0], atol=1e-7)
    assert model.intercept_[0] == pytest.approx(-1, abs=1e-6)
    assert model.margin_ == pytest.approx(1.5, abs=1e-6)
    assert model.primal_ == pytest.approx(2 / 9, abs=1e-8)
    assert model.margin(X, y) == pytest.approx(1.5, abs=1e-6)
    X, y = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]]), [1, 1, 1, -1, -1, -1]
    model = LinearSVC(C=np.inf, **FREE).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), [2, 2, -3], atol=1e-5)
    assert model.margin_ == pytest.approx(1 / (2 * np.sqrt(2)), rel=1e-6)
    assert model.dual_ == pytest.approx(4, abs=1e-6)
    assert model.dual_coef_full_.sum() == pytest.approx(8, abs=1e-4)  # dual = ½‖w‖² = ½Σα


@pytest.mark.parametrize("solver", ["auto", "qp"])
def test_soft_margin_by_hand(solver):
    model = LinearSVC(C=10, solver=solver, **FREE).fit(*T6)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [1, -2], atol=1e-6)
    np.testing.assert_allclose(model.slack_, [0, 0, 1.5, 1.5, 0, 0], atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_full_, [0, 5.5, 10, 10, 5.5, 0], atol=1e-4)
    assert model.dual_ == pytest.approx(30.5, abs=1e-5)
    assert list(model.point_types_) == [
        "outside",
        "on_margin",
        "margin_error",
        "margin_error",
        "on_margin",
        "outside",
    ]


@pytest.mark.parametrize("solver", ["auto", "qp"])
def test_bounds_with_zero_slack_and_the_intercept_interval(solver):
    model = LinearSVC(C=1, solver=solver, **FREE).fit(*T6)
    # rows at the bound with zero slack: an interior point ends within the root of its gap
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [1, -2], atol=1e-4)
    np.testing.assert_allclose(model.dual_coef_full_, [0, 1, 1, 1, 1, 0], atol=1e-4)
    assert model.dual_ == pytest.approx(3.5, abs=1e-6)
    model = LinearSVC(C=0.01, solver=solver, **FREE).fit(*T6)
    assert model.coef_[0, 0] == pytest.approx(0.05, abs=1e-6)
    np.testing.assert_allclose(model.dual_coef_full_, 0.01, atol=1e-7)
    np.testing.assert_allclose(model.intercept_interval_, [-1, 0.8], atol=1e-5)
    assert model.intercept_[0] == pytest.approx(-0.1, abs=1e-5)


def test_squared_hinge_by_hand():
    model = LinearSVC(regularize_intercept=False).fit(*T6)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [5 / 11, -10 / 11], atol=1e-7)
    assert model.primal_ == pytest.approx(41 / 11, abs=1e-8)
    model = LinearSVC().fit(*T6)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [65 / 167, -120 / 167], atol=1e-7)


def test_penalized_intercept_of_the_hinge():
    model = LinearSVC(loss="hinge").fit(*T6)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [2 / 3, -1], atol=1e-5)


def test_lambda_form():
    X, y = np.array([[-1.0, 1], [0, -1], [1.5, 1]]), [1, -1, 1]
    model = LinearSVC(loss="hinge", fit_intercept=False, C=1 / (0.5 * 3)).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [0, 1], atol=1e-6)
    assert 0.5 * primal(model, X, y, 1 / 1.5) == pytest.approx(0.25, abs=1e-8)


def test_slack_budget():
    for budget, w, b in ((3, 1, -2), (3.5, 0.5, -1), (4, 0.4, None), (6, 0, None)):
        model = LinearSVC(slack_budget=budget, **FREE).fit(*T6)
        assert model.coef_[0, 0] == pytest.approx(w, abs=1e-4)
        if b is not None:
            assert model.intercept_[0] == pytest.approx(b, abs=1e-3)
    with pytest.raises(InfeasibleError, match="smallest possible total slack, 3"):
        LinearSVC(slack_budget=2.9, **FREE).fit(*T6)


def test_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearSVC(**FREE).fit(X, y)
    assert model.primal_ == pytest.approx(26.52546, abs=1e-5)
    assert model.score(X, y) == pytest.approx(0.98770, abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "value", "slopes"),
    [("weston_watkins", 6.25, [-0.5, 0, 0.5]), ("crammer_singer", 43 / 9, [-1 / 3, 0, 1 / 3])],
)
def test_multiclass_machines(kind, value, slopes):
    model = LinearSVC(multi_class=kind, regularize_intercept=False).fit(
        np.arange(6.0)[:, None], [0, 1, 0, 2, 1, 2]
    )
    assert model.primal_ == pytest.approx(value, abs=1e-5)
    np.testing.assert_allclose(model.coef_.ravel(), slopes, atol=1e-5)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-8)


def test_not_separable_says_why():
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=np.inf, **FREE).fit([[0.0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0])
    np.testing.assert_allclose(caught.value.certificate, 0.25, atol=1e-8)


def data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 50.0), st.booleans())
def test_optimality_conditions(seed, C, squared):
    X, y = data(seed)
    if len(set(y)) < 2:
        return
    model = LinearSVC(C=C, loss="squared_hinge" if squared else "hinge", regularize_intercept=False).fit(X, y)
    alpha = model.dual_coef_full_
    assert abs(alpha @ y) <= 1e-4 * C * len(y)
    np.testing.assert_allclose(model.coef_[0], X.T @ (alpha * y), atol=1e-4 * max(1, C))
    assert primal(model, X, y, C, squared) == pytest.approx(model.primal_, rel=1e-5)
    dual = (
        alpha.sum() - 0.5 * np.sum((X.T @ (alpha * y)) ** 2) - (np.sum(alpha**2) / (4 * C) if squared else 0)
    )
    assert dual == pytest.approx(model.primal_, rel=1e-4)
    assert model.kkt_violation_ < 1e-3 * max(1, C)


def test_support_vectors_are_all_that_matters():
    X, y = data(3)
    model = LinearSVC(**FREE).fit(X, y)
    again = LinearSVC(**FREE).fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_folded_intercept_sparse_and_weights(loss):
    X, y = data(1)
    a = LinearSVC(loss=loss).fit(X, y)
    b = LinearSVC(loss=loss, fit_intercept=False).fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(np.append(a.coef_, a.intercept_), b.coef_[0], atol=1e-5)
    np.testing.assert_allclose(LinearSVC(loss=loss).fit(sparse.csr_array(X), y).coef_, a.coef_, atol=1e-4)
    weight = np.arange(len(y)) % 3
    c = LinearSVC(loss=loss).fit(X, y, weight)
    d = LinearSVC(loss=loss).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(c.coef_, d.coef_, atol=1e-5)


def test_wide_data_take_dual_coordinate_descent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1500))
    y = rng.integers(0, 2, size=50)
    model = LinearSVC(loss="hinge", tol=1e-6, C=0.01).fit(X, y)
    assert model.converged_
    s = 2.0 * y - 1
    assert 0.5 * (model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2) + 0.01 * np.maximum(
        0, 1 - s * (X @ model.coef_[0] + model.intercept_[0])
    ).sum() == pytest.approx(model.primal_, rel=1e-6)


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn.svm import SVC
    from sklearn.svm import LinearSVC as Theirs
    from sklearn.svm import LinearSVR as TheirSVR

    X, y = load_iris(return_X_y=True)
    ours, theirs = LinearSVC().fit(X, y), Theirs(tol=1e-8, max_iter=10**6, dual=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    two = y < 2
    ours, theirs = LinearSVC(**FREE).fit(X[two], y[two]), SVC(kernel="linear", tol=1e-9).fit(X[two], y[two])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    ours = LinearSVC(penalty="l1", tol=1e-6, C=0.1).fit(X[two], y[two])
    theirs = Theirs(penalty="l1", tol=1e-8, C=0.1, dual=False, max_iter=10**5, intercept_scaling=1e4).fit(
        X[two], y[two]
    )
    assert (
        ours.primal_
        <= 1.02
        * theirs.C
        * np.sum(np.maximum(0, 1 - (2 * y[two] - 1) * theirs.decision_function(X[two])) ** 2)
        + np.abs(theirs.coef_).sum()
    )
    rng = np.random.default_rng(0)
    t = X[:, 0] + 0.1 * rng.normal(size=len(X))
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        ours = LinearSVR(loss=loss, epsilon=0.1, tol=1e-8).fit(X, t)
        theirs = TheirSVR(loss=loss, epsilon=0.1, tol=1e-9, max_iter=10**6).fit(X, t)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l1_gap_is_a_duality_gap(fit_intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"penalty": "l1", "C": 0.05, "fit_intercept": fit_intercept}
    best = LinearSVC(tol=1e-9, **options).fit(X, y)
    for max_iter in (1, 2, 4):
        with pytest.warns(Warning):
            early = LinearSVC(tol=1e-9, max_iter=max_iter, **options).fit(X, y)
        assert early.dual_ <= best.primal_ + 1e-9 <= early.primal_ + 2e-9
        assert early.gap_ == pytest.approx(early.primal_ - early.dual_, abs=1e-9)
    assert 0.0 <= best.gap_ <= 1e-9 * max(1.0, best.primal_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize(("wide", "high"), [(1e8, 1.0), (1.0, 1e8), (1e8, 1e8), (1e-8, 1.0)])
def test_regression_on_huge_entries_ends_soon(loss, wide, high):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=60)
    model = LinearSVR(loss=loss).fit(wide * X, high * y)
    assert model.n_iter_ < 200
    assert model.converged_
    if wide == 1e8:
        np.testing.assert_allclose(model.coef_ * wide / high, [1, 2, 3], atol=0.1)


@pytest.mark.parametrize(
    "model", [LinearSVC(loss="hinge"), LinearSVR(), LinearSVR(loss="squared_epsilon_insensitive")]
)
def test_machines_that_need_all_rows_say_so_of_files(tmp_path, model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0], "y": [0, 0, 1, 1]})
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="memory"):
        model.fit(str(tmp_path / "rows.parquet"), "y")


def test_squared_hinge_fits_from_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    a = LinearSVC().fit(str(tmp_path / "rows.parquet"), "y")
    np.testing.assert_allclose(a.coef_, LinearSVC().fit(X, y).coef_, rtol=1e-6, atol=1e-8)


def sparse_wide(n=6000, d=700, seed=5):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.02, rng=rng).tocsr()
    return X, (X @ (5 * rng.normal(size=d)) + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    "n", [6000, 900]
)  # rows above and below the number up to which nothing is left to gain
def test_wide_sparse_machine_ends_at_the_optimum(n):
    X, y = sparse_wide(n)
    model = LinearSVC().fit(X, y)
    assert model.converged_ and (np.diff(model.trace_.objective) <= 0).all()
    truth = LinearSVC(tol=1e-10).fit(X.toarray(), y)
    assert truth.primal_ * (1 - 1e-10) <= model.primal_ <= truth.primal_ * (1 + 1e-7)
    slack = np.maximum(0.0, 1.0 - (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0]))
    value = 0.5 * (np.sum(model.coef_**2) + model.intercept_[0] ** 2) + slack @ slack
    assert model.primal_ == pytest.approx(value, rel=1e-12)


def few_rows(kind, seed=3):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((300, 3000), density=0.02, rng=rng).tocsr()
    y = (X @ rng.normal(size=3000) + rng.logistic(size=300) > 0).astype(int)
    if kind == "alike":  # far from orthogonal: every row has the same large part
        X = sparse.csr_array(
            X + sparse.csr_array(np.full((300, 1), 5.0)) @ sparse.csr_array(np.ones((1, 3000)))
        )
    weight = rng.integers(0, 3, size=300).astype(float) if kind == "weighted" else None
    return X.toarray() if kind == "dense" else X, y, weight


@pytest.mark.parametrize("kind", ["sparse", "dense", "weighted", "alike"])
@pytest.mark.parametrize("intercept", [True, False])
def test_few_rows_of_many_columns_end_at_the_optimum(kind, intercept):
    X, y, weight = few_rows(kind)
    model = LinearSVC(fit_intercept=intercept).fit(X, y, weight)
    assert model.converged_ and model.gap_ <= 1e-9 * model.primal_
    cost = np.ones(len(y)) if weight is None else weight
    slack = np.maximum(0.0, 1.0 - (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0]))
    value = 0.5 * (np.sum(model.coef_**2) + model.intercept_[0] ** 2) + cost @ slack**2
    assert model.primal_ == pytest.approx(value, rel=1e-10)
    pull = 2.0 * cost * slack * (2 * y - 1)
    np.testing.assert_allclose(X.T @ pull, model.coef_[0], atol=1e-4 * np.abs(model.coef_).max())
    if intercept:
        assert pull.sum() == pytest.approx(model.intercept_[0], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_wide_machine_describes_its_rows(loss):
    X, y, _ = few_rows("sparse")
    X = sparse.csr_array(X + sparse.csr_array(0.3 * np.ones((300, 1))) @ sparse.csr_array(np.eye(1, 3000)))
    y = np.where(np.arange(300) < 200, 1, y)  # uneven classes: an intercept away from zero
    model = LinearSVC(loss=loss).fit(X, y)
    scores = X @ model.coef_[0] + model.intercept_[0]
    assert abs(model.intercept_[0]) > 0.1
    np.testing.assert_allclose(model.slack_, np.maximum(0.0, 1.0 - (2 * y - 1) * scores), atol=1e-10)
    assert model.kkt_violation_ <= 1e-5
    off = X.T @ (model.dual_coef_full_ * (2 * y - 1)) - model.coef_[0]
    assert model.kkt_violation_ >= np.abs(off).max() - 1e-12


def test_weights_that_are_a_known_sum_are_off_by_what_differs():
    X, y, _ = few_rows("sparse")
    model = LinearSVC()
    rows = model._read(X, y)
    problem = model._problem(rows, 1)
    solved = maximum_margin.advance(problem, rows, maximum_margin.begin(problem, rows), 0, 1e-4)
    alpha = np.where(np.arange(300) % 3, solved.alpha, 0.0)
    expected = X.T @ (alpha * problem.y) - solved.theta[:-1]
    np.testing.assert_allclose(stationarity(problem, rows.X, solved, alpha), expected, atol=1e-12)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_passes_go_to_the_end_on_small_rows_only(loss, monkeypatch):
    X, y, _ = few_rows("sparse")
    gaps, passes = [], []
    for small in (X.nnz, X.nnz - 1):
        monkeypatch.setattr(maximum_margin, "SMALL", small)
        model = LinearSVC(loss=loss, random_state=0).fit(X, y)
        rows = model._read(X, y)
        problem = model._problem(rows, 1)
        solved = maximum_margin.advance(problem, rows, maximum_margin.begin(problem, rows), 0, model.tol)
        gaps.append(model.gap_ / model.primal_)
        passes.append(solved.inner.epoch)
    assert passes[1] < passes[0]
    assert gaps[0] <= 1e-12 < gaps[1] <= 1e-5


@pytest.mark.parametrize(("before", "looks", "after"), [(np.inf, [5e-6, 8e-6], 5e-6), (2e-3, [3e-3], 3e-3)])
def test_the_hinge_keeps_the_better_of_two_good_looks_and_else_goes_on(before, looks, after, monkeypatch):
    X, y, _ = few_rows("sparse")
    model = LinearSVC(loss="hinge", tol=1e-4)
    rows = model._read(X, y)
    problem, gaps = model._problem(rows, 1), iter(looks)

    def look(margin, rows, solved, rng, *until):
        inner = solved.inner._replace(epoch=solved.inner.epoch + 1, gain=1e-9)
        return solved._replace(inner=inner, gap=next(gaps))

    monkeypatch.setattr(maximum_margin, "_dual", look)
    start = maximum_margin.begin(problem, rows)._replace(gap=before)
    found = maximum_margin.advance(problem, rows, start, 0, model.tol)
    assert found.gap == after and found.stalled == (after <= model.tol)
    assert found.inner.epoch == 1
    assert next(gaps, None) is None


def test_rows_that_are_alike_leave_dual_coordinate_descent():
    X, y, _ = few_rows("alike")
    model = LinearSVC()
    rows = model._read(X, y)
    problem = model._problem(rows, 1)
    solved = maximum_margin.begin(problem, rows)
    assert isinstance(solved.inner, dual.DualState)
    for _ in range(3):
        solved = maximum_margin.advance(problem, rows, solved, 0, 1e-4)
    assert not isinstance(solved.inner, dual.DualState)


def test_a_free_intercept_keeps_to_the_primal():
    X, y, _ = few_rows("sparse")
    model = LinearSVC(regularize_intercept=False).fit(X, y)
    slack = np.maximum(0.0, 1.0 - (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0]))
    assert slack @ (2 * y - 1) == pytest.approx(0.0, abs=1e-4)


def test_light_passes_end_at_the_same_multipliers_to_the_last_digits(monkeypatch):
    X, y, weight = few_rows("weighted")
    model = LinearSVC()
    rows = model._read(X, y, weight)
    machine = maximum_margin._dual_machine(model._problem(rows, 1))
    found = []
    for light in (False, True):
        monkeypatch.setattr(dual, "is_light", lambda rows, norms, light=light: light)
        state, rng = dual.dual_start(rows, machine), np.random.default_rng(0)
        for _ in range(8):
            state = dual.dual_step(rows, machine, state, rng)
        found.append(state)
    assert state.theta.dtype == np.float64
    np.testing.assert_allclose(found[1].alpha, found[0].alpha, atol=1e-9 * found[0].alpha.max())
    np.testing.assert_allclose(state.theta[:-1], X.T @ (state.alpha * machine.y), atol=1e-12)
    assert abs(state.primal - state.dual) <= 1e-12 * state.primal


def test_passes_end_when_one_gains_too_little():
    X, y, _ = few_rows("sparse")
    model = LinearSVC()
    rows = model._read(X, y)
    machine = maximum_margin._dual_machine(model._problem(rows, 1))
    start = dual.dual_start(rows, machine)
    states = [dual.dual_step(rows, machine, start, np.random.default_rng(0), k) for k in range(1, 30)]
    values = np.array([state.dual for state in states])
    gains = np.diff(values) / values[1:]
    last = int(np.argmax(gains <= 1e-6)) + 1
    np.testing.assert_allclose([state.gain for state in states[4:12]], gains[3:11], rtol=0.02)
    later = dual.dual_step(rows, machine, states[4], np.random.default_rng(1), 1)
    assert later.gain == pytest.approx((later.dual - states[4].dual) / later.dual, rel=0.02)
    found = dual.dual_step(rows, machine, start, np.random.default_rng(0), 99, 1e-6)
    assert found.epoch == last + 1 and found.left == 0.0
    np.testing.assert_array_equal(found.alpha, states[last].alpha)
    impatient = dual.dual_step(rows, machine, start, np.random.default_rng(0), 99, 1e-6, 0.5)
    assert impatient.epoch == dual.PASSES and impatient.left > 0.5


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_passes_over_sparse_rows_are_those_over_dense_ones(loss, intercept, monkeypatch):
    rng = np.random.default_rng(4)
    X = sparse.csr_array(np.where(rng.random((60, 25)) < 0.15, rng.normal(size=(60, 25)), 0.0))
    assert set(np.diff(X.indptr) % 4) == {0, 1, 2, 3} and 0 in np.diff(X.indptr)
    y, found = rng.integers(0, 2, size=60), []
    for data, light in ((X.toarray(), False), (X, False), (X, True)):
        monkeypatch.setattr(dual, "is_light", lambda rows, norms, light=light: light)
        model = LinearSVC(loss=loss, fit_intercept=intercept)
        rows = model._read(data, y)
        machine = maximum_margin._dual_machine(model._problem(rows, 1))
        found.append(dual.dual_step(rows, machine, dual.dual_start(rows, machine), np.random.default_rng(0)))
    dense, wide, light = found
    np.testing.assert_allclose(wide.alpha, dense.alpha, atol=1e-12)
    np.testing.assert_allclose(light.alpha, dense.alpha, atol=1e-4)
    np.testing.assert_allclose(wide.theta, dense.theta, atol=1e-12)
    assert wide.primal == pytest.approx(dense.primal, rel=1e-12)
    assert wide.dual == pytest.approx(dense.dual, rel=1e-12)


def test_shrinking_drops_rows_that_press_against_their_bound():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = np.zeros((40, loops.WIDTH))
        table[:, loops.TOP] = rng.choice([1.0, np.inf], size=40)
        alpha = np.clip(rng.normal(0.5, 1.0, size=40), 0.0, 1.0)
        slope = table[:, loops.SLOPE] = rng.normal(size=40)
        table[:, loops.ALPHA] = alpha
        rows = rng.permutation(40)[:30]
        low, high = alpha <= 0.0, alpha >= table[:, loops.TOP]
        rise = max([slope[i] for i in rows if not low[i]] + [0.0])
        fall = min([slope[i] for i in rows if not high[i]] + [0.0])
        safe = [low[i] and slope[i] > rise > 0.0 or high[i] and slope[i] < fall < 0.0 for i in rows]
        kept = rows.copy()
        assert kept[: loops.shrink(table, kept)].tolist() == [i for i, out in zip(rows, safe) if not out]


def test_rows_that_rest_come_back_within_a_run():
    X, y = sparse_wide(900, 1500)
    model = LinearSVC(C=0.1, loss="hinge")
    rows = model._read(X, y)
    machine = maximum_margin._dual_machine(model._problem(rows, 1))
    found = dual.dual_step(rows, machine, dual.dual_start(rows, machine), np.random.default_rng(0), 60)
    assert found.primal - found.dual <= 1e-4 * found.primal


def test_shrunk_passes_of_the_hinge_end_at_the_same_optimum(monkeypatch):
    X, y = sparse_wide(900, 1500)
    model = LinearSVC(C=0.1, loss="hinge", tol=1e-8, random_state=0).fit(X, y)
    monkeypatch.setattr(dual, "ROUND", 1)  # every pass over all rows
    whole = LinearSVC(C=0.1, loss="hinge", tol=1e-8, random_state=0).fit(X, y)
    assert 0.0 < np.mean(model.dual_coef_full_ == 0.1) and 0.0 < np.mean(model.dual_coef_full_ == 0.0)
    assert model.primal_ == pytest.approx(whole.primal_, rel=1e-8)
    assert model.gap_ <= 1e-8 * model.primal_


def test_passes_left_at_the_pace_of_the_last():
    assert dual.passes_left([8.0, 4.0, 2.0], 0.25) == pytest.approx(3.0)
    assert dual.passes_left([8.0, 4.0, 2.0], 2.0) == 0.0
    assert dual.passes_left([2.0, 4.0, 2.0], 0.25) == np.inf
    assert dual.passes_left([8.0, 4.0], 1.0) == np.inf


def test_an_empty_row_without_intercept_costs_its_price():
    X = sparse.csr_array(np.vstack([np.eye(2000)[:400], np.zeros((1, 2000))]))
    y = np.arange(401) % 2
    model = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-9).fit(X, y)
    assert maximum_margin.choose(model._problem(model._read(X, y), 1), model._read(X, y), "auto") == "dual"
    assert model.primal_ == pytest.approx(0.5 * 400 + 1.0) and model.gap_ <= 1e-9 * model.primal_
    assert model.dual_coef_full_[-1] == 1.0 and model.slack_[-1] == 1.0


def test_light_passes_leave_what_float32_cannot_hold():
    X, y, _ = few_rows("sparse")
    model = LinearSVC()
    for table, light in ((X, True), (1e16 * X, False), (X.toarray(), False)):
        rows = model._read(table, y)
        assert dual.is_light(rows, dual.squared_norms(rows.X)) == light


@pytest.mark.parametrize("kind", ["crammer_singer", "weston_watkins"])
def test_rows_without_weight_do_not_move_joint_machines(kind):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + y[:, None]
    X[:20] *= 50
    weight = np.r_[np.zeros(20), np.ones(70)]
    options = {"multi_class": kind, "loss": "hinge"}
    given = LinearSVC(**options).fit(X, y, sample_weight=weight)
    without = LinearSVC(**options).fit(X[20:], y[20:])
    np.testing.assert_allclose(given.coef_, without.coef_, atol=1e-9)
    assert given.converged_ and given.gap_ <= 1e-4


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("far", [1e8, 1e100])
def test_regression_does_not_look_at_rows_of_weight_zero(loss, far):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=30)
    alone = LinearSVR(loss=loss, tol=1e-10).fit(X, y)
    beside = LinearSVR(loss=loss, tol=1e-10).fit(
        np.vstack([X, [[far, far]]]), np.append(y, far), sample_weight=np.append(np.ones(30), 0.0)
    )
    np.testing.assert_allclose(beside.coef_, alone.coef_, rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 1000])
def test_the_certificate_of_several_machines_is_that_of_the_worst(steps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-0.5, 0.5])
    options = {"loss": "hinge", "max_iter": steps, "tol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = LinearSVC(**options).fit(X, y)
        alone = [LinearSVC(**options).fit(X, y == k) for k in range(3)]
    worst = [model.trace_.certificate[-1] for model in alone]
    assert whole.trace_.certificate[-1] == pytest.approx(max(worst), rel=1e-6, abs=1e-12)
    assert whole.trace_.objective[-1] == pytest.approx(sum(model.trace_.objective[-1] for model in alone))
