"""Quantile programs, many classes, circles, sparse engines and wide machines: by hand and by slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse

from gnomon.core.errors import DataError
from gnomon.core.rows import MemoryRows
from gnomon.linear import LinearSVC
from gnomon.losses.margin import Logistic, SquaredHinge
from gnomon.solvers import (
    lbfgs,
    margins,
    near_margin,
    newton,
    row_space,
    schedules,
    sparse_gram,
    sparse_newton,
)
from gnomon.solvers.gram_inverse import GramSolver, KeptInverse
from gnomon.solvers.margin_programs import multiclass_program
from gnomon.solvers.maximum_margin import Margin, RowFacts, advance, begin
from gnomon.solvers.quantile_program import (
    Program,
    Units,
    _dual_reach,
    _normal_solver,
    _reach,
    certificate,
    check_losses,
    crossover,
    interior_start,
    interior_step,
    primal_value,
    scaled,
)
from gnomon.solvers.separation import circle_between, quasi_separable, soft_plane
from gnomon.solvers.sparse_coordinate import SparseDesign
from gnomon.solvers.terms import Model

RNG = np.random.default_rng(0)

# quantiles


def quantile_program(tau=0.3, n=25, p=3, alpha=0.0, form=np.asarray):
    rng = np.random.default_rng(4)
    A, s = rng.normal(size=(n, p)), rng.uniform(0.5, 2, n)
    y = A @ np.arange(1.0, p + 1) + rng.normal(size=n)
    low, cap = (1 - tau) * s, s
    if alpha:  # a row for every penalized coefficient
        A, y = np.vstack([A, np.eye(p)]), np.r_[y, np.zeros(p)]
        low, cap = np.r_[low, np.full(p, alpha)], np.r_[cap, np.full(p, 2 * alpha)]
    units = Units(np.zeros(p), np.ones(p), 0.0, 1.0, np.eye(p))
    return Program(form(A), y, low, cap, n, units)


def least(program):
    A = program.A.toarray() if sparse.issparse(program.A) else program.A
    m, p = A.shape
    cost = np.r_[np.zeros(p), program.cap - program.low, program.low]
    bounds = [(None, None)] * p + [(0, None)] * (2 * m)
    return optimize.linprog(cost, A_eq=np.hstack([A, np.eye(m), -np.eye(m)]), b_eq=program.y, bounds=bounds)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.8])
def test_quantile_programs_end_at_the_linear_optimum(tau, alpha, form):
    program = quantile_program(tau, alpha=alpha, form=form)
    state = interior_start(program)
    assert_allclose(state.z - state.w, program.A @ state.beta - program.y, atol=1e-9)
    assert min(state.z.min(), state.w.min()) > 0 and (state.x + state.slack == program.cap).all()
    assert state.value == state.least == pytest.approx(primal_value(program, state.beta))
    before = state
    for _ in range(30):
        state = interior_step(state)
        assert min(state.x.min(), state.slack.min(), state.z.min(), state.w.min()) > 0
        assert_allclose(state.x + state.slack, program.cap)
        assert state.least <= before.least and state.least == pytest.approx(primal_value(program, state.best))
        assert state.value == pytest.approx(primal_value(program, state.beta))
        before = state
        if certificate(state, state.best)[0] < 1e-10:
            break
    found = least(program)
    assert state.least == pytest.approx(found.fun, rel=1e-8)
    vertex = crossover(state)
    assert primal_value(program, vertex) == pytest.approx(found.fun, rel=1e-11)
    r = program.y - program.A @ vertex
    assert (np.abs(r) < 1e-9).sum() >= 3
    if alpha:
        assert (vertex == 0).sum() == (np.abs(r[25:]) < 1e-9).sum()


def test_check_losses_by_hand():
    program = quantile_program(0.25, n=3)
    s = program.cap
    r = np.array([2.0, -4.0, 0.0])
    assert check_losses(program, r) == pytest.approx(0.25 * s[0] * 2 + 0.75 * s[1] * 4)


def test_how_far_a_step_may_go():
    x, slack = np.array([1.0, 2.0]), np.array([3.0, 1.0])
    assert _reach(x, np.array([-2.0, 0.0]), slack) == pytest.approx(0.99995 * 0.5)
    assert _reach(x, np.array([0.0, 4.0]), slack) == pytest.approx(0.99995 * 0.25)
    assert _reach(x, np.array([-2.0, 4.0]), slack) == pytest.approx(0.99995 * 0.25)
    assert _reach(x, np.array([0.1, -0.1]), slack) == 1.0
    assert _dual_reach(x, np.array([-2.0, 1.0]), slack, np.array([-1.0, 1.0])) == pytest.approx(0.99995 * 0.5)
    assert _dual_reach(x, np.array([2.0, 1.0]), slack, np.array([-12.0, 1.0])) == pytest.approx(
        0.99995 * 0.25
    )
    assert _dual_reach(x, np.array([2.0, 1.0]), slack, np.array([2.0, 1.0])) == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_normal_equations_are_solved(form):
    A, q, b = RNG.normal(size=(9, 3)), RNG.uniform(0.5, 2, 9), RNG.normal(size=3)
    assert_allclose(_normal_solver(form(A), q)(b), np.linalg.solve((A.T * q) @ A, b))
    A[:, 2] = A[:, 0]
    b = (A.T * q) @ A @ b
    found = _normal_solver(form(A), q)(b)
    assert_allclose((A.T * q) @ A @ found, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_columns_and_targets_of_nothing_keep_their_units(form):
    X, y, s = np.array([[0.0, 2.0], [0.0, -8.0], [0.0, 0.0]]), np.full(3, 7.0), np.array([1.0, 2.0, 1.0])
    for intercept in (True, False):
        Z, target, units = scaled(form(X), y, s, intercept=intercept)
        Z = Z.toarray() if sparse.issparse(Z) else Z
        assert (Z[:, 0] == 0).all() and units.scale[0] == 1.0
        assert units.center == (7.0 if intercept else 0.0) and units.size == (1.0 if intercept else 7.0)
        assert_allclose(target, 0.0 if intercept else 1.0)
        mean = -3.5 if intercept and form is np.asarray else 0.0
        assert units.mean[1] == mean and units.scale[1] == np.abs(X[:, 1] - mean).max()
        assert_allclose(Z[:, 1], (X[:, 1] - mean) / units.scale[1])
    flat = np.full((3, 1), 1e8)
    flat[0] += 1e-8
    assert (scaled(flat, y, s, intercept=True)[0] == 0).all()


# many classes


@pytest.mark.parametrize("kind", ["weston_watkins", "crammer_singer"])
@pytest.mark.parametrize(("intercept", "price"), [(False, 0.0), (True, 0.0), (True, 0.5)])
def test_many_classes_are_at_the_least_of_their_objective(kind, intercept, price):
    rng = np.random.default_rng(2)
    X, y, cost = rng.normal(size=(12, 2)), np.arange(12) % 3, rng.uniform(0.5, 2, 12)
    table, value, gap = multiclass_program(
        X, y, cost, K=3, kind=kind, intercept=intercept, price=price, margin=1.5
    )
    Z = np.c_[X, np.ones(12)] if intercept else X
    assert table.shape == (3, Z.shape[1]) and 0 <= gap < 1e-8

    def objective(W):
        scores = Z @ W.T
        behind = np.maximum(0, 1.5 - scores[np.arange(12), y][:, None] + scores)
        behind[np.arange(12), y] = 0
        loss = behind.sum(axis=1) if kind == "weston_watkins" else behind.max(axis=1)
        square = W[:, :2] ** 2
        return 0.5 * square.sum() + (0.5 * price * (W[:, 2] ** 2).sum() if intercept else 0.0) + cost @ loss

    loose = (
        1e-4 if intercept and price == 0.0 else 1e-7
    )  # a constant in all intercepts is free: the system is singular
    assert objective(table) == pytest.approx(value, rel=loose)
    for size in (1.0, 0.1, 1e-2, 1e-3):
        for _ in range(100):
            assert objective(table + size * rng.normal(size=table.shape)) >= value * (1 - loose)
    if intercept and price == 0.0:
        assert table[:, 2].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_circles_by_hand(scale):
    X = scale * np.array([[0.0], [2.0], [-2.0]])
    center, radius = circle_between(X, np.array([1.0, -1, -1]), 1e-9)  # as far inside as outside: r² = ½·4
    assert center[0] == pytest.approx(0, abs=1e-9) and radius == pytest.approx(scale * np.sqrt(2))
    center, radius = circle_between(X + scale * 3, np.array([1.0, -1, -1]), 1e-9)
    assert center[0] == pytest.approx(3 * scale) and radius == pytest.approx(scale * np.sqrt(2))


def test_a_circle_must_clear_the_tolerance():
    X, s = (
        np.array([[0.0], [2.0], [-2.0]]),
        np.array([1.0, -1, -1]),
    )  # cleared by 2, a half of the largest square
    assert circle_between(X, s, 0.4) is not None and circle_between(X, s, 0.6) is None
    X = 0.1 * X  # cleared by 0.02, of squares below one
    assert circle_between(X, s, 0.015) is not None and circle_between(X, s, 0.03) is None


def test_planes_of_least_slack_by_hand():
    rows = np.array([[1.0, 0.0], [2.0, 0.0]])
    for margin, least_w in ((0.0, 1.0), (4.0, 4.0)):
        theta, core = soft_plane(rows, np.array([], dtype=int), margin)
        assert theta[0] >= least_w - 1e-9 and not core.any()
    assert quasi_separable(np.array([[1e-9], [2e-9]]), np.array([-1.0, 1.0]))


# rates


@pytest.mark.parametrize(
    ("name", "kind", "rates"),
    [
        ("constant", schedules.Constant, [0.5, 0.5]),
        ("adaptive", schedules.Constant, [0.5, 0.5]),
        ("invscaling", schedules.InvScaling, [0.5, 0.5 / 2**0.25]),
        ("inverse", schedules.InverseDecay, [0.5, 0.25]),
        ("optimal", schedules.Optimal, [1 / (0.01 * 200 / 10**0.5), 1 / (0.01 * (1 + 200 / 10**0.5))]),
    ],
)
def test_rates_by_name(name, kind, rates):
    made = schedules.named_schedule(name, 0.5, 0.25, 0.01, 2.0)
    assert type(made) is kind and [made(k) for k in (0, 1)] == pytest.approx(rates)
    assert schedules.named_schedule(made, 9.0, 9.0, 9.0) is made


def test_unknown_rates_are_told():
    with pytest.raises(ValueError, match="Did you mean 'constant'"):
        schedules.named_schedule("constnat", 0.5, 0.25, 0.01)


# sparse Gram matrices and kept inverses


def test_full_columns_and_worthwhile_matrices_by_hand(monkeypatch):
    monkeypatch.setattr(sparse_gram, "ALWAYS", 3)
    dense = np.zeros((12, 8))
    for j, size in enumerate([12, 1, 4, 2, 3, 1, 9, 2]):
        dense[:size, j] = 1.0
    gram = sparse_gram.SparseGram(SparseDesign(sparse.csr_array(dense), np.ones(12), None, False))
    new = np.arange(8)
    # by size: columns 0, 6, 2, 4, 3, 7, 1, 5 get ranks 0 … 7; full are those of more than half as many entries
    assert gram._full(new).tolist() == [True, False, True, False, True, False, True, False]
    assert gram._worth(new[:3]) and gram._worth(new[:4])  # 16 ≤ 4·19
    assert gram._worth(new)  # 64 ≤ 4·34
    thin = np.eye(8)
    other = sparse_gram.SparseGram(SparseDesign(sparse.csr_array(thin), np.ones(8), None, False))
    assert other._worth(new[:4]) and not other._worth(new[:5])  # 16 ≤ 4·4 < 25 − 5
    assert not len(other.enter(new[:3])) and not other._worth(new[3:5])


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_gram_solver_ends_at_the_optimum(mu):
    A = RNG.normal(size=(40, 12)) + 1.0
    G, q, yy = A.T @ A, A.T @ A[:, 0] + RNG.normal(size=12), 500.0
    solver, w = GramSolver(), np.zeros(12)
    for t in (20.0, 5.0, 1.0):
        g = q - G @ w
        sweeps = solver.solve((G, q, yy, t, mu, False), w, g, 1e-12, 500, 0.0)
        assert sweeps > 0 and np.any(w)
        slope = q - G @ w - mu * w
        assert_allclose(slope[w != 0], t * np.sign(w[w != 0]), atol=1e-5)
        assert (np.abs(slope) <= t + 1e-5).all()
        assert_allclose(g, q - G @ w, atol=1e-8)
    other = GramSolver()
    other.restore(solver.snapshot())
    assert other.hard == solver.hard and (other.kept.S == solver.kept.S).all()
    assert other.kept.mu == solver.kept.mu and (other.kept.M == solver.kept.M).all()


def test_an_inverse_is_kept_for_a_ridge_near_its_own():
    A = RNG.normal(size=(30, 12))
    G, kept = A.T @ A, KeptInverse()
    support = np.arange(9)
    assert kept.follow(G, support, 2.0) and kept.mu == 2.0
    assert kept.follow(G, support, 1.0) and kept.mu == 2.0  # a half of it: conjugate gradients mend the rest
    assert kept.follow(G, support, 0.99) and kept.mu == 0.99
    assert kept.follow(G, support, 1.5) and kept.mu == 1.5  # a larger one needs another
    assert kept.follow(G, np.r_[0:8, 9], 1.5)
    assert kept.S.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9]  # what came is last: the inverse was changed
    assert_allclose(kept.M, np.linalg.inv(G[np.ix_(kept.S, kept.S)] + 1.5 * np.eye(9)), atol=1e-8)
    assert kept.follow(G, np.r_[11, 1:8], 1.5) and sorted(kept.S) == [1, 2, 3, 4, 5, 6, 7, 11]
    assert_allclose(kept.M, np.linalg.inv(G[np.ix_(kept.S, kept.S)] + 1.5 * np.eye(8)), atol=1e-8)
    b = RNG.normal(size=8)
    assert_allclose(kept.solve(b, 1.0), np.linalg.solve(G[np.ix_(kept.S, kept.S)] + np.eye(8), b), rtol=1e-4)
    assert len(kept.solve(np.empty(0), 1.0)) == 0 if not len(kept.S) else True


# wide machines


def wide_rows(form, n=40, d=90):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0)
    y = (X @ rng.normal(size=d) > 0).astype(int)
    weight = rng.uniform(0.5, 2, n)
    rows = MemoryRows(form(X), y, weight, classes=np.arange(2))
    return rows, X, np.where(y == 1, 1.0, -1.0), weight


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("most", [5000, 10])
def test_wide_squared_hinges_end_at_the_optimum(monkeypatch, form, most):
    monkeypatch.setattr(near_margin, "MOST_WIDE_ROWS", most)
    rows, X, sign, weight = wide_rows(form)
    objective = newton.Objective(Model(SquaredHinge(), True, 1), np.full(91, 0.5), 40.0)
    state = near_margin.start(rows, objective, np.zeros(91))
    kind = (
        margins.MarginState
        if form is not np.asarray
        else lbfgs.LbfgsState
        if most == 10
        else newton.NewtonState
    )
    assert isinstance(state, kind) and (kind is not lbfgs.LbfgsState or state.k == -100)
    for _ in range(400):
        before, state = state, near_margin.step(rows, objective, state, 1e-8)
        assert state.value <= before.value
        if newton.gradient_gap(objective, state.gradient) <= 1e-8 * state.value:
            break
    Z = np.c_[X, np.ones(40)]

    def value(v):
        slack = np.maximum(0, 1 - sign * (Z @ v))
        return weight @ slack**2 + 0.25 * v @ v, -2 * Z.T @ (weight * sign * slack) + 0.5 * v

    best = optimize.minimize(
        value, np.zeros(91), jac=True, method="L-BFGS-B", options=dict(ftol=1e-15, gtol=1e-10)
    )
    assert state.value == pytest.approx(best.fun, rel=1e-7) == value(state.theta)[0]
    assert_allclose(state.gradient, value(state.theta)[1], atol=1e-8)


def test_weights_of_uneven_columns_are_in_their_units():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 3))
    y = np.sign(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=60))
    scale = np.array([1.0, 2.0**20, 2.0**-3])
    # a column times s is a weight divided by s, and its square in the penalty too: only the fit of the latter moves
    model = LinearSVC(loss="hinge", C=1e4, tol=1e-9).fit(X * scale, y)
    w, b = model.coef_[0], model.intercept_[0]
    Z = X * scale

    def value(w, b):
        return 0.5 * w @ w + 1e4 * np.maximum(0, 1 - y * (Z @ w + b)).sum()

    assert value(w, b) == pytest.approx(float(model.primal_), rel=1e-5)
    for size in (1e-2, 1e-4):
        for _ in range(50):
            move = rng.normal(size=4)
            assert value(w + size * move[:3] / scale, b + size * move[3]) >= value(w, b) * (1 - 1e-6)


# the row space


@pytest.mark.parametrize(
    ("n", "d", "k", "ridge", "expected"),
    [
        (100, 200, 0, 1.0, True), (100, 199, 0, 1.0, False), (3000, 6000, 0, 1.0, True), (3001, 6002, 0, 1.0, False),
        (3001, 6002, 2, 1.0, True), (6001, 12002, 9, 1.0, False), (100, 200, 0, 0.0, False),
    ],
)  # fmt: skip
def test_few_rows_are_worth_a_gram_matrix(n, d, k, ridge, expected):
    rows = MemoryRows(np.broadcast_to(0.0, (n, d)))
    objective = newton.Objective(Model(Logistic(), False, 1, k), np.full(d, ridge), 1.0)
    assert row_space.is_worthwhile(rows, objective) is expected
    assert not row_space.is_worthwhile(rows, objective._replace(weight=0.0))
    assert not row_space.is_worthwhile(MemoryRows(sparse.csr_array((n, d))), objective)


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("tile", [512, 7])
def test_the_space_of_centered_rows(monkeypatch, ridge, tile):
    monkeypatch.setattr(row_space, "TILE", tile)
    monkeypatch.setattr(row_space, "COLUMNS", 13)
    rng = np.random.default_rng(7)
    X, weight = rng.normal(size=(20, 50)) + 3.0, rng.uniform(0.5, 2, 20)
    rows = MemoryRows(X, np.arange(20) % 2, weight, classes=np.arange(2))
    objective = newton.Objective(Model(Logistic(), True, 1), np.r_[np.ones(50), ridge], weight.sum())
    space = row_space.space_of(rows, objective)
    if ridge:
        assert_allclose(space.gram, X @ X.T + 1.0) and space.length == 0.0
        assert not space.share.any() and not space.center.any()
    else:
        mean = weight @ X / weight.sum()
        assert_allclose(space.center, mean)
        assert_allclose(space.gram, (X - mean) @ (X - mean).T, atol=1e-9)
        assert_allclose(space.share, weight / weight.sum())
        assert space.length == pytest.approx(np.trace(space.gram) / 20)
    bare = row_space.space_of(rows, objective._replace(model=Model(Logistic(), False, 1)))
    assert_allclose(bare.gram, X @ X.T) and bare.length == 0.0
    assert_allclose(row_space._slopes_of(X, weight[:, None]), (weight @ X)[:, None])


# one maximum-margin problem, by every method


def margin_rows(n=40, d=3):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, d))
    y = (X @ np.arange(1, d + 1) + rng.normal(size=n) > 0.3).astype(int)
    weight = rng.uniform(0.5, 2, n)
    return MemoryRows(X, y, weight, classes=np.arange(2)), X, np.where(y == 1, 1.0, -1.0), weight


@pytest.mark.parametrize(
    ("method", "loss", "l1", "d"),
    [
        ("interior", "hinge", False, 3),
        ("dual", "hinge", False, 3),
        ("qp", "hinge", False, 3),
        ("qp", "squared_hinge", False, 3),
        ("newton", "squared_hinge", False, 3),
        ("wide", "squared_hinge", False, 200),
        ("wide", "squared_hinge", False, 3),
        ("sparse", "squared_hinge", True, 3),
    ],
)
@pytest.mark.parametrize("ridge", [1.0, 0.25])
def test_every_method_ends_at_the_least_of_its_objective(method, loss, l1, d, ridge):
    rows, X, sign, weight = margin_rows(d=d)
    C, power = 0.7, 1 if loss == "hinge" else 2
    held = 0.0 if l1 else ridge
    problem = Margin(sign, C * weight, 1, C, True, held, loss, l1, method, RowFacts(rows))
    solved = begin(problem, rows)
    assert not solved.theta.any() and solved.primal == np.inf and len(solved.theta) == d + 1
    for _ in range(200):
        solved = advance(problem, rows, solved, 0, 1e-8)
        if solved.stalled or solved.gap <= 1e-10:
            break
    Z = np.c_[X, np.ones(40)]

    def value(theta):
        slack = np.maximum(0, 1 - sign * (Z @ theta))
        w = theta[:d]
        size = np.abs(w).sum() if l1 else 0.5 * w @ w + 0.5 * held * theta[d] ** 2
        return size + C * weight @ slack**power

    assert solved.primal == pytest.approx(value(solved.theta), rel=1e-6)
    assert solved.gap <= 1e-4 and solved.gap >= 0
    rng = np.random.default_rng(9)
    for size in (1.0, 0.1, 1e-2, 1e-3):
        for _ in range(50):
            assert value(solved.theta + size * rng.normal(size=d + 1)) >= solved.primal * (1 - 1e-5)
    if solved.alpha is not None and not l1:
        assert solved.alpha.min() >= 0
        assert_allclose(solved.theta[:d], (solved.alpha * sign) @ X, atol=1e-4)


def test_squares_that_overflow_are_told():
    rows, X, sign, weight = margin_rows()
    huge = MemoryRows(1e200 * X, rows.y, weight, classes=np.arange(2))
    problem = Margin(sign, weight, 1, 1.0, True, 1.0, "squared_hinge", False, "newton", RowFacts(huge))
    with pytest.raises(DataError, match="overflow"), np.errstate(all="ignore"):
        solved = begin(problem, huge)
        for _ in range(5):
            solved = advance(problem, huge, solved, 0, 1e-6)


def test_steps_along_a_penalty_are_halved_until_they_fall():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(50, 2))
    rows = MemoryRows(X, rng.integers(0, 2, 50), classes=np.arange(2))
    objective = newton.Objective(Model(Logistic(), False, 1), np.zeros(2), 50.0)
    state = sparse_newton.start(rows, objective, np.zeros(2), 0.5)
    down = -state.gradient
    far = sparse_newton._search(rows, objective, state, 100.0 * down, 0.5)
    share = far.theta @ down / (100 * down @ down)
    power = -np.log2(share)
    assert power == pytest.approx(round(power)) and power > 0 and far.value < state.value

    def promise(step):
        return step * (100 * state.gradient @ down + 0.5 * np.abs(100 * down).sum())

    def value(step):
        return sparse_newton.start(rows, objective, 100 * step * down, 0.5).value

    assert value(share) <= state.value + 1e-4 * min(promise(share), 0) + 1e-12
    assert value(2 * share) > state.value + 1e-4 * min(promise(2 * share), 0)
    assert sparse_newton._search(rows, objective, state, -down, 0.5) is state
