"""Parts of the pair solver by hand: slopes, rows at rest, faces of free multipliers, intercepts; dense programs."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse

from gnomon.core.errors import DataError
from gnomon.core.rows import MemoryRows
from gnomon.kernels import RBF, Linear
from gnomon.solvers import interior, pairs
from gnomon.solvers.free_multipliers import at_one_slope, equal_slopes
from gnomon.solvers.hulls import _trade
from gnomon.solvers.interior import Machine, machine_start, machine_step, machine_values, quadratic_program
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.maximum_margin import (
    Iterate,
    Margin,
    RowFacts,
    _relative,
    choose,
    even_columns,
    goal,
    hinge_machine,
    ridge_of,
    smooth_objective,
)
from gnomon.solvers.optimality import describe, kkt
from gnomon.solvers.pairs import ActiveRows, PairProblem, largest, optimum

RNG = np.random.default_rng(0)


def test_largest_values_the_first_of_equals():
    values = np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0])
    assert sorted(largest(values, 2)) == [1, 3]
    assert sorted(largest(values, 4)) == [1, 2, 3, 4]
    assert largest(values, 6).tolist() == largest(values, 9).tolist() == list(range(6))
    assert largest(values, 1).tolist() == [1]


def active(beta, R, epsilon=0.0, low=-1.0, high=1.0):
    n = len(beta)
    return ActiveRows(
        np.array(beta, dtype=float),
        np.array(R, dtype=float),
        np.full(n, low),
        np.full(n, high),
        np.ones(n),
        epsilon,
    )


def test_slopes_up_and_down_by_hand():
    rise, fall = active([1, 0, -1, 0.5], [1, 2, 3, 4]).slopes()
    assert rise.tolist() == [-np.inf, 2, 3, 4] and fall.tolist() == [1, 2, np.inf, 4]
    rise, fall = active([1, 0, -1, 0.5, -0.5], [1, 2, 3, 4, 5], epsilon=0.25).slopes()
    assert rise.tolist() == [-np.inf, 1.75, 3.25, 3.75, 5.25]
    assert fall.tolist() == [0.75, 2.25, np.inf, 3.75, 5.25]


def test_rows_that_would_only_move_away_from_their_bound():
    part = active(
        [0, 0.5, 1, 1, 1, -1, -1, -1], [1, 2, 3, 2, 0, 0, 1, 3]
    )  # 3 can rise and 0 can fall: so may all
    assert not part.stays().any()
    part = active([0, 0.5, 1, 1, -1, -1], [1, 2, 3.5, 2, -0.5, 3])
    assert part.stays().tolist() == [False, False, True, False, True, False]
    part = active([0, 0, 0.5, -0.5], [1.5, 9, 2.0, 1.0], epsilon=0.5)  # slopes between 1½ and 1½
    assert part.stays().tolist() == [False, False, False, False]
    part = active([0, 0.5, -0.5], [1.5, 2.0, 1.0], epsilon=0.5)
    assert part.stays().tolist() == [True, False, False]


@pytest.mark.parametrize("seed", range(4))
def test_the_step_to_one_slope(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(7, 9))
    K, slope, groups = A @ A.T, rng.normal(size=7), np.eye(2)[np.arange(7) % 2]
    for G in (groups, np.ones((7, 1)), np.c_[groups, np.zeros(7)]):
        step = equal_slopes(K, slope, G)
        left = slope - K @ step
        for members in G.T.astype(bool):
            if members.any():
                assert step[members].sum() == pytest.approx(0, abs=1e-9)
                assert_allclose(left[members], left[members].mean(), atol=1e-9)


def test_of_many_steps_to_one_slope_a_short_one():
    K = np.ones((4, 4)) + np.diag([1.0, 1, 0, 0])  # the last two rows are one row twice
    K[2:, :2] = K[:2, 2:] = 0.5
    slope = np.array([1.0, -1, 0, 0])
    step = equal_slopes(K, slope, np.ones((4, 1)))
    assert step[2] == pytest.approx(step[3], abs=1e-9)
    left = slope - K @ step
    assert_allclose(left, left[0], atol=1e-8)
    assert equal_slopes(np.zeros((1, 1)), np.ones(1), np.ones((1, 1))) == pytest.approx(0)


def test_faces_are_left_where_a_bound_is_met():
    K, ones = np.eye(3), np.ones((3, 1))
    b, slope = np.array([0.5, 0.5, 0.5]), np.array([0.3, 0.0, -0.3])
    inside = at_one_slope(K, b, slope, np.zeros(3), np.ones(3), ones)
    assert_allclose(inside, [0.8, 0.5, 0.2])  # the mean slope is zero: steps are the slopes
    # a slope of 3 would go to 1½ + ...: the first stops at one, the others share what it took
    found = at_one_slope(K, b, np.array([3.0, 0.0, -1.0]), np.zeros(3), np.ones(3), ones)
    assert found[0] == pytest.approx(1.0) and found.sum() == pytest.approx(1.5)
    exact = optimize.minimize(
        lambda v: 0.5 * np.sum((v - b) ** 2) - np.array([3.0, 0, -1]) @ (v - b),
        b,
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1.5},
        tol=1e-12,
    ).x
    assert_allclose(found, exact, atol=1e-6)
    lower = at_one_slope(K, b, -np.array([3.0, 0.0, -1.0]), np.zeros(3), np.ones(3), ones)
    assert_allclose(lower, 1 - found, atol=1e-12)
    groups = np.array([[1.0, 0], [1, 0], [0, 1]])
    apart = at_one_slope(K, b, np.array([0.4, 0.0, 9.0]), np.zeros(3), np.ones(3), groups)
    assert_allclose(apart, [0.7, 0.3, 0.5])
    assert b.tolist() == [0.5] * 3


def test_intercepts_from_slopes_by_hand():
    low, high = -np.ones(4), np.ones(4)

    def said(beta, R, epsilon=0.0, n=4):
        found = optimum(np.array(beta, float), np.array(R, float), low[:n], high[:n], epsilon)
        return found["intercept"], found["interval"], found["violation"]

    assert said([0.5, -0.5, 1, -1], [1, 3, 9, -9]) == (2.0, (2.0, 2.0), 2.0)  # free rows: their mean
    assert said([1, -1, 1, -1], [2, 1, 3, 0]) == (1.5, (1.0, 2.0), 0.0)  # 1 ≤ b ≤ 2
    assert said([1, -1, 1, -1], [1, 2, 3, 0]) == (1.5, (1.0, 2.0), 1.0)
    assert said([1, 1], [5, 4], n=2) == (4.0, (-np.inf, 4.0), 0.0)
    assert said([-1, -1], [5, 4], n=2) == (5.0, (5.0, np.inf), 0.0)
    b, interval, violation = said(
        [0.5, 0, -0.5], [2, 1.4, 1.1], 0.5, 3
    )  # r − ε of the first, r + ε of the last
    assert b == pytest.approx(1.55) and interval == (b, b) and violation == pytest.approx(0.1)
    assert said([0, 0], [1, 2], 0.75, 2) == (1.5, (1.25, 1.75), 0.0)


@pytest.mark.parametrize("limit", [100, 0])
@pytest.mark.parametrize("ridge", [None, 0.3])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("megabytes", [100, 0.001])
def test_pairs_end_at_the_optimum_of_a_program(monkeypatch, megabytes, epsilon, ridge, limit):
    monkeypatch.setattr(pairs, "EXACT_WORK", 2 * 10**9 if limit else 0)
    X = RNG.normal(size=(40, 3))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    more = None if ridge is None else np.full(40, ridge)
    target = np.sign(X[:, 0] + 0.3 * RNG.normal(size=40)) if not epsilon else np.sin(2 * X[:, 0])
    low, high = (
        (np.full(40, -2.0), np.full(40, 2.0))
        if epsilon
        else (np.minimum(2 * target, 0), np.maximum(2 * target, 0))
    )
    source = KernelRows(RBF(1.0), X, megabytes=megabytes, single=False)
    problem = PairProblem(source, np.arange(40), target, low, high, epsilon=epsilon, ridge=more, tol=1e-6)
    now = problem.start()
    assert not now.done and now.steps == 0 and not now.beta.any() and (target == now.R).all()
    for _ in range(50):
        now = problem.advance(now, 10_000)
        if now.done:
            break
    Q = K + (0 if ridge is None else ridge * np.eye(40))
    assert now.done and now.steps > 0 and now.beta.sum() == pytest.approx(0, abs=1e-9)
    assert (now.beta >= low).all() and (now.beta <= high).all()
    assert_allclose(now.R, target - Q @ now.beta, atol=1e-9)
    assert problem.advance(now, 5) is now
    rise = now.R - epsilon * np.where(now.beta >= 0, 1, -1)
    fall = now.R + epsilon * np.where(now.beta <= 0, 1, -1)
    top, bottom = rise[now.beta < high].max(), fall[now.beta > low].min()
    assert max(0.0, top - bottom) == pytest.approx(now.violation, abs=1e-12)
    assert now.violation <= (1e-9 if limit else 1e-6)
    again = problem.start(now.beta)
    assert_allclose(again.R, now.R, atol=1e-9)


@pytest.mark.parametrize("megabytes", [10, 0.001])
def test_steps_are_counted_and_bounded(megabytes):
    X = RNG.normal(size=(60, 2))
    y = np.sign(RNG.normal(size=60))
    source = KernelRows(RBF(0.3), X, megabytes=megabytes, single=False)
    problem = PairProblem(
        source, np.arange(60), y, np.minimum(100 * y, 0), np.maximum(100 * y, 0), tol=1e-9, max_steps=25
    )
    now = problem.advance(problem.start(), 10)
    assert now.steps == 10 and not now.done
    now = problem.advance(problem.advance(now, 10), 10)
    assert now.steps == 25 and now.done and now.violation > 1e-9
    assert_allclose(now.R, problem.residuals(now.beta), atol=1e-12)


def test_single_precision_keeps_what_fits():
    X = RNG.normal(size=(700, 3))
    for megabytes, kept in ((1.9, True), (1.8, False)):  # 700² numbers of four bytes are 1.87 MiB
        rows = KernelRows(RBF(1.0), X, megabytes=megabytes, single=True)
        assert (rows.full is not None) is kept and rows.dtype == np.float32
    for megabytes, kept in ((3.8, np.float64), (3.7, None)):  # 3.74 MiB
        rows = KernelRows(RBF(1.0), X, megabytes=megabytes, single=False)
        assert (None if rows.full is None else rows.full.dtype) == kept and rows.dtype == np.float64
    assert KernelRows(Linear(), X, megabytes=0.0, single=True).bytes == 1


# dense programs


@pytest.mark.parametrize("seed", range(6))
def test_conditions_of_a_dense_program_hold(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 5))
    Q, c = A @ A.T, rng.normal(size=5)
    G, h = rng.normal(size=(9, 5)), rng.normal(size=9) - 1.0
    found = quadratic_program(Q, c, G, h)
    slack = G @ found.x - h
    assert_allclose(Q @ found.x + c, G.T @ found.multipliers, atol=1e-9)
    assert slack.min() > -1e-9 and found.multipliers.min() >= 0
    assert_allclose(slack * found.multipliers, 0, atol=1e-9)
    assert found.gap == pytest.approx(slack @ found.multipliers, abs=1e-9) and 1 < found.n_iter < 25
    short = quadratic_program(Q, c, G, h, max_iter=1)
    assert short.n_iter == 1 and not short.x.any()
    rough = quadratic_program(Q, c, G, h, tol=1e-3)
    assert rough.n_iter < found.n_iter
    size = 1 + abs(0.5 * rough.x @ Q @ rough.x + c @ rough.x)
    assert np.abs(Q @ rough.x + c - G.T @ rough.multipliers).max() <= 1e-3 * size


def test_a_linear_program_is_one_without_curvature():
    found = quadratic_program(
        np.zeros((2, 2)),
        np.array([1.0, 2.0]),
        np.vstack([np.eye(2), [[1.0, 1.0]]]),
        np.array([0.0, 0.0, 3.0]),
    )
    assert_allclose(found.x, [3, 0], atol=1e-7)
    assert_allclose(found.multipliers, [0, 1, 1], atol=1e-7)


# hinge machines


def hinge_rows(n=30, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sign(X @ [1.0, -1.0, 0.0] + 0.4 * rng.normal(size=n) + 0.2)
    return X, y, rng.uniform(0.2, 2.0, n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("free", [True, False])
def test_interior_points_end_at_the_optimum_of_the_program(monkeypatch, form, free):
    monkeypatch.setattr("gnomon.solvers.terms.FEW_PRODUCTS", 0)
    X, y, cost = hinge_rows()
    cost[::7] = 0.0
    ridge = np.array([1.0, 1.0, 1.0, 0.0 if free else 1.0])
    rows, machine = MemoryRows(form(X)), Machine(ridge, (y,), (np.ones(30),), (cost,), True)
    state = machine_start(rows, machine)
    assert_allclose(state.s, state.xi - 1.0)
    assert_allclose(state.alpha, 0.5 * cost)
    assert (state.xi == 2.0).all() and not state.theta.any()
    for _ in range(20):
        with np.errstate(all="ignore"):
            state = machine_step(rows, machine, state)
        if state.primal - state.dual <= 1e-9:
            break
    assert state.primal - state.dual <= 1e-9
    Z = np.c_[X, np.ones(30)]
    slack = np.maximum(0, 1 - y * (Z @ state.theta))
    assert state.primal == pytest.approx(0.5 * ridge @ state.theta**2 + cost @ slack)
    live = cost > 0

    def value(v):
        return 0.5 * ridge @ v[:4] ** 2 + cost[live] @ v[4:]

    constraints = {
        "type": "ineq",
        "fun": lambda v: y[live] * (Z[live] @ v[:4]) - 1 + v[4:],
        "jac": lambda v: np.c_[y[live, None] * Z[live], np.eye(live.sum())],
    }
    first = np.r_[np.zeros(4), np.ones(live.sum())]
    best = optimize.minimize(
        value,
        first,
        jac=lambda v: np.r_[ridge * v[:4], cost[live]],
        bounds=[(None, None)] * 4 + [(0, None)] * live.sum(),
        constraints=constraints,
        method="SLSQP",
        options=dict(maxiter=500, ftol=1e-12),
    )
    assert state.primal == pytest.approx(best.fun, rel=1e-6)
    assert_allclose(state.theta[ridge > 0], ((state.alpha * y) @ Z)[ridge > 0], atol=1e-6)
    assert (state.alpha >= 0).all() and (state.alpha <= cost + 1e-9).all() and not state.alpha[~live].any()
    norm = ((state.alpha * y) @ Z)[ridge > 0]
    assert state.dual == pytest.approx(state.alpha.sum() - 0.5 * norm @ norm)


def test_values_of_a_machine_of_two_blocks_by_hand():
    rows = MemoryRows(np.array([[1.0], [3.0]]))
    one = np.ones(2)
    machine = Machine(
        np.array([2.0, 0.0]), (one, -one), (np.array([1.0, 2.0]), -np.array([1.0, 2.0])), (one, 3 * one), True
    )
    A = interior._Rows(rows, machine)
    theta = np.array([0.5, -1.0])  # scores −½ and ½: 1½ short above, and none below
    found = machine_values(A, machine, theta, np.array([0.5, 1.0, 0.25, 0.0]))
    assert found["primal"] == 0.25 + (1.5 + 1.5)
    pull = 0.5 * 1 + 1.0 * 3 - 0.25 * 1
    assert found["dual"] == pytest.approx(0.5 * 1 + 1.0 * 2 - 0.25 * 1 - 0.5 * pull**2 / 2.0)


# which solver


def margin(**more):
    values = dict(
        y=np.array([1.0, -1.0]), cost=np.ones(2), positive=1, C=1.0, intercept=True, intercept_ridge=1.0,
        loss="hinge", l1=False, method="interior", facts=None,
    )  # fmt: skip
    return Margin(**{**values, **more})


def shape(n, d, form="dense"):
    X = np.zeros((n, d)) if form == "dense" else sparse.csr_array((n, d))
    return MemoryRows(X)


@pytest.mark.parametrize(
    ("options", "rows", "solver", "expected"),
    [
        ({}, shape(10, 3), "qp", "qp"),
        ({"C": np.inf}, shape(10, 3), "auto", "qp"),
        ({"l1": True, "loss": "squared_hinge"}, shape(10, 3), "auto", "sparse"),
        ({"loss": "squared_hinge"}, shape(10, 599), "auto", "newton"),
        ({"loss": "squared_hinge"}, shape(10, 600), "auto", "wide"),
        ({"loss": "squared_hinge", "intercept": False}, shape(10, 600), "auto", "newton"),
        ({}, shape(10, 1199), "auto", "interior"),
        ({}, shape(10, 1200), "auto", "dual"),
        ({"intercept": False, "intercept_ridge": 0.0}, shape(10, 1201), "auto", "dual"),
        ({"intercept": False}, shape(1000, 100, "sparse"), "auto", "interior"),
        ({"intercept": False}, shape(1001, 1000, "sparse"), "auto", "dual"),
        ({"intercept": False}, shape(5001, 1000, "sparse"), "auto", "interior"),
        ({"intercept": False}, shape(5000, 1000, "sparse"), "auto", "dual"),
    ],
)
def test_the_solver_follows_from_loss_and_shape(options, rows, solver, expected):
    assert choose(margin(**options), rows, solver) == expected


def test_a_free_intercept_of_wide_hinges_is_refused():
    with pytest.raises(DataError, match="1201 parameters is beyond LinearSVC"):
        choose(margin(intercept_ridge=0.0), shape(10, 1200), "auto")


def test_ridges_and_goals():
    assert ridge_of(margin(intercept_ridge=0.25), 2).tolist() == [1, 1, 0.25]
    assert ridge_of(margin(intercept=False), 2).tolist() == [1, 1]
    rows = MemoryRows(np.zeros((6, 2)))
    made = smooth_objective(margin(C=4.0), rows)
    assert made.ridge.tolist() == [0.25] * 3 and made.weight == 6.0
    assert smooth_objective(margin(C=4.0, l1=True), rows).ridge.tolist() == [0] * 3
    known = margin(objective=made)
    assert smooth_objective(known, rows) is made
    assert goal(shape(5000, 1), 1e-4) == 1e-13 and goal(shape(5001, 1), 1e-4) == 1e-4
    assert goal(shape(5, 1), 1e-15) == 1e-15 and goal(shape(5, 1), 1e-4, l1=True) == 1e-4


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_columns_of_unlike_size_are_made_even(form):
    X = np.array([[1e-6, 3.0, 0.0], [-4e-6, 1.0, 0.0]])
    rows = MemoryRows(form(X), np.array([0, 1]), np.array([1.0, 2.0]), classes=np.arange(2))
    even, scale = even_columns(rows)
    assert scale.tolist() == [2.0**-18, 4.0, 1.0]  # 4e-6 is 2⁻¹⁷·⁹, 3 is 2¹·⁵⁸
    A = even.X.toarray() if sparse.issparse(even.X) else even.X
    assert_allclose(A * scale, X)
    assert even.weight.tolist() == [1, 2] and even.y.tolist() == [0, 1]
    alike = MemoryRows(form(X * [1e6, 1, 1]))
    same, ones = even_columns(alike)
    assert same is alike and ones.tolist() == [1, 1, 1]
    large = MemoryRows(form(np.array([[3e4], [-(2.0**15)]])))
    assert even_columns(large)[1].tolist() == [2.0**15]  # the intercept's column is one
    facts = RowFacts(rows)
    made, machine, by = hinge_machine(margin(facts=facts), rows)
    assert made is facts.even[0] and by.tolist() == [2.0**-18, 4.0, 1.0, 1.0]
    assert_allclose(machine.ridge, [2.0**36, 1 / 16, 1, 1])
    assert_allclose(facts.norms, (X**2).sum(axis=1))


# what a solution says


def test_a_described_hinge_by_hand():
    # w = 1, b = 0: margins 2, 1, ½ and a row on the wrong side
    X, y = np.array([[2.0], [-1.0], [0.5], [-3.0]]), np.array([1.0, -1.0, 1.0, 1.0])
    cost = np.full(4, 2.0)
    made = margin(y=y, cost=cost, intercept_ridge=1.0)
    alpha = np.array([1e-6, 1.0, 2.0 - 1e-6, 2.0])
    told, b = describe(made, X, Iterate(None, np.array([1.0, 0.0]), 1.0, 0.0, alpha))
    assert b == 0.0
    assert told["dual_coef_full_"].tolist() == [0, 1, 2, 2]
    assert told["point_types_"].tolist() == ["outside", "on_margin", "margin_error", "margin_error"]
    assert told["support_"].tolist() == [1, 2, 3] and told["support_fraction_"] == 0.75
    assert told["slack_"].tolist() == [0, 0, 0.5, 4] and told["margin_"] == 1.0
    assert told["intercept_interval_"] == (0.0, 0.0)
    pull = abs(1 * 1.0 + 2 * 0.5 + 2 * -3.0 - 1.0)  # Σ αyx − w, and Σ αy = 3 − 0 for the intercept's column
    assert told["kkt_violation_"] >= pull - 1e-12
    wide, _ = describe(made, X, Iterate(None, np.array([0.0, 0.5]), 1.0, 0.0, alpha))
    assert wide["margin_"] == np.inf and wide["slack_"].tolist() == [0.5, 1.5, 0.5, 0.5]
    twice, _ = describe(made, X, Iterate(None, np.array([2.0, 0.5]), 1.0, 0.0, alpha))
    assert twice["margin_"] == 0.5


def test_a_described_squared_hinge_by_hand():
    X, y, cost = np.array([[2.0], [-0.5]]), np.array([1.0, -1.0]), np.array([2.0, 3.0])
    made = margin(y=y, cost=cost, loss="squared_hinge")
    told, _ = describe(made, X, Iterate(None, np.array([1.0, 0.0]), 1.0, 0.0))
    assert told["dual_coef_full_"].tolist() == [0, 2 * 3 * 0.5]  # α = 2 cost ξ
    assert told["point_types_"].tolist() == ["outside", "on_margin"]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_the_largest_violation_by_hand(loss, ridge):
    X, y, cost = np.array([[1.0], [-1.0], [3.0]]), np.array([1.0, -1.0, 1.0]), np.full(3, 2.0)
    made = margin(y=y, cost=cost, loss=loss, intercept_ridge=ridge, intercept=ridge == 0.0)
    theta = np.array([0.5, 0.0]) if made.intercept else np.array([0.5])
    solved, base = Iterate(None, theta, 0.0, 0.0), 0.5 * X[:, 0]
    for alpha in ([0.25, 0.25, 0.0], [0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.1, 0.4, 0.3]):
        a = np.array(alpha)
        m = y * (base + 0.1)
        found = [abs((a * y) @ X[:, 0] - 0.5), abs(a @ y) if ridge == 0.0 else 0.0]
        for k in range(3):
            if a[k] == 0:
                found.append(max(0, 1 - m[k]))
            elif loss == "squared_hinge":
                found.append(abs(1 - m[k] - a[k] / 4.0))
            elif a[k] < 2.0:
                found.append(abs(1 - m[k]))
            else:
                found.append(max(0, m[k] - 1))
        assert kkt(made, X, solved, 0.1, a, base) == pytest.approx(max(found))


@pytest.mark.parametrize("b", [0.25, -0.25])
def test_rows_without_multipliers_ask_for_the_margin(b):
    X, y = np.array([[1.0], [2.0]]), np.ones(2)
    made = margin(y=y, cost=np.ones(2), intercept_ridge=0.0)
    zero = Iterate(None, np.zeros(2), 0.0, 0.0)
    assert kkt(made, X, zero, b, np.zeros(2), np.array([0.5, 2.0])) == pytest.approx(0.5 - b)
    assert kkt(made, X, zero, b, np.zeros(2), np.array([5.0, 2.0])) == 0.0


def test_gaps_are_shares_of_values_above_one():
    for primal, dual, expected in ((4.0, 3.0, 0.25), (0.5, 0.25, 0.25), (2.0, 3.0, 0.5), (-4.0, -5.0, 0.25)):
        assert _relative(SimpleNamespace(primal=primal, dual=dual)) == expected


@pytest.mark.parametrize(
    ("violation", "weights", "cap", "expected"),
    [
        (0.4, [0.6, 0.4], 1.0, [0.4, 0.6]),  # a step of 0.4/2
        (4.0, [0.6, 0.4], 1.0, [0.0, 1.0]),
        (4.0, [0.6, 0.2], 0.5, [0.3, 0.5]),  # no more than the cap
        (4.0, [0.1, 0.2], 0.5, [0.0, 0.3]),
        (0.0, [0.6, 0.4], 1.0, [0.6, 0.4]),
    ],
)
def test_weight_goes_from_the_worst_row_to_the_best(violation, weights, cap, expected):
    a = np.array(weights)
    _trade(np.eye(2), a, cap, violation, 0, 1)
    assert_allclose(a, expected, atol=1e-15)
    a = np.array(weights)
    _trade(np.ones((2, 2)), a, cap, violation, 0, 1)  # one row twice: nothing is gained
    assert a.tolist() == weights
