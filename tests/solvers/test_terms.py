"""Sums of a smooth linear model, of every kind of rows, against plain formulas; steps of Newton's kin on them."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse, special

from gnomon.core.rows import Chunk, MemoryRows
from gnomon.losses.margin import Logistic, SquaredHinge
from gnomon.losses.scores import SoftmaxCrossEntropy
from gnomon.solvers import lbfgs, nested, newton, sparse_newton, terms
from gnomon.solvers.terms import Model

RNG = np.random.default_rng(0)
N, D, K = 50, 4, 3
X = np.where(RNG.random((N, D)) < 0.7, RNG.normal(size=(N, D)), 0.0)
CODES = RNG.integers(0, K, N)
WEIGHT = RNG.uniform(0.5, 2.0, N)
FORMS = {"dense": np.asarray, "float32": lambda A: A.astype(np.float32), "sparse": sparse.csr_array}


def logistic(y, z):
    p = special.expit(z)
    return np.logaddexp(0, -y * z), p - (y > 0), p * (1 - p)


def squared_hinge(y, z):
    gap = np.maximum(1 - y * z, 0)
    return gap**2, -2 * y * gap, 2.0 * (gap > 0)


def bordered(intercept, A=X):
    return np.c_[A, np.ones(len(A))] if intercept else A


def chunk_of(form):
    A = FORMS[form](X)
    return Chunk(A, CODES, WEIGHT, 0), bordered(True, A.toarray() if form == "sparse" else A.astype(float))


@pytest.mark.parametrize("block", [2**19, 8 * D * 16])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "twin"), [(Logistic(), logistic), (SquaredHinge(), squared_hinge)])
def test_value_slope_and_curvature_of_two_classes(monkeypatch, loss, twin, intercept, form, block):
    monkeypatch.setattr(terms, "BLOCK_BYTES", block)
    chunk, Z = chunk_of(form)
    Z = Z if intercept else Z[:, :D]
    model, theta = Model(loss, intercept, 1), RNG.normal(size=D + intercept)
    value, slope, bend = twin(np.where(CODES == 1, 1.0, -1.0), Z @ theta)
    H = (Z.T * (WEIGHT * bend)) @ Z
    for curved in (True, False):
        found = terms.loss_terms(chunk, theta, model, curved)
        assert found.value == pytest.approx(WEIGHT @ value, rel=1e-6)
        assert_allclose(found.gradient, Z.T @ (WEIGHT * slope), rtol=1e-5, atol=1e-5)
        assert (found.hessian is None) == (not curved)
        if curved:
            assert_allclose(found.hessian, H, rtol=1e-5, atol=1e-5)
    seen = terms.curvature_rows(chunk, theta, model)
    assert_allclose(seen, WEIGHT * bend, rtol=1e-5, atol=1e-6)
    v = RNG.normal(size=D + intercept)
    assert_allclose(terms.hessian_product(chunk, v, model, seen), H @ v, rtol=1e-5, atol=1e-5)
    assert_allclose(terms.mean_curvature(chunk, model, seen), H, rtol=1e-5, atol=1e-5)
    assert_allclose(terms.diagonal_curvature(chunk, model, seen), np.diagonal(H), rtol=1e-5, atol=1e-5)
    index = np.array([0, 2, D]) if intercept else np.array([0, 2])
    some = sparse_newton.working_hessian(chunk, model, seen, index, 0)
    assert_allclose(some, H[np.ix_(index, index)], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("block", [2**19, 8 * D * 16])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
def test_value_slope_and_curvature_of_many_classes(monkeypatch, intercept, form, block):
    monkeypatch.setattr(terms, "BLOCK_BYTES", block)
    chunk, Z = chunk_of(form)
    Z = Z if intercept else Z[:, :D]
    model, theta = Model(SoftmaxCrossEntropy(), intercept, None, K), RNG.normal(size=(D + intercept, K))
    P = special.softmax(Z @ theta, axis=1)
    found = terms.loss_terms(chunk, theta, model, False)
    assert found.value == pytest.approx(-WEIGHT @ np.log(P[np.arange(N), CODES]), rel=1e-6)
    slope = WEIGHT[:, None] * (P - np.eye(K)[CODES])
    assert_allclose(found.gradient, Z.T @ slope, rtol=1e-5, atol=1e-5)
    seen = terms.curvature_rows(chunk, theta, model)
    assert_allclose(seen, P, rtol=1e-5, atol=1e-6)
    v = RNG.normal(size=theta.shape)
    z = Z @ v
    moved = WEIGHT[:, None] * P * (z - (P * z).sum(axis=1, keepdims=True))
    assert_allclose(terms.hessian_product(chunk, v, model, seen), Z.T @ moved, rtol=1e-5, atol=1e-5)
    mean = WEIGHT * (P * (1 - P)).mean(axis=1)
    assert_allclose(terms.mean_curvature(chunk, model, seen), (Z.T * mean) @ Z, rtol=1e-5, atol=1e-5)
    assert_allclose(terms.diagonal_curvature(chunk, model, seen), mean @ Z**2, rtol=1e-5, atol=1e-5)
    index = np.array([1, 3, D]) if intercept else np.array([1, 3])
    for k, block_ in enumerate(terms.class_curvature(chunk, model, seen)):
        whole = (Z.T * (WEIGHT * P[:, k] * (1 - P[:, k]))) @ Z
        assert_allclose(block_, whole, rtol=1e-5, atol=1e-5)
        some = sparse_newton.working_hessian(chunk, model, seen, index, k)
        assert_allclose(some, whole[np.ix_(index, index)], rtol=1e-5, atol=1e-5)


def test_sums_of_a_later_chunk_take_its_own_rows():
    model, theta = Model(Logistic(), True, 1), RNG.normal(size=D + 1)
    whole = Chunk(X, CODES, WEIGHT, 0)
    parts = [Chunk(X[:20], CODES[:20], WEIGHT[:20], 0), Chunk(X[20:], CODES[20:], WEIGHT[20:], 20)]
    seen, v = terms.curvature_rows(whole, theta, model), RNG.normal(size=D + 1)
    for sum_of in (
        lambda c: terms.hessian_product(c, v, model, seen),
        lambda c: terms.mean_curvature(c, model, seen),
        lambda c: terms.diagonal_curvature(c, model, seen),
        lambda c: sparse_newton.working_hessian(c, model, seen, np.arange(D), 0),
    ):
        assert_allclose(sum_of(parts[0]) + sum_of(parts[1]), sum_of(whole), atol=1e-10)


@pytest.mark.parametrize("bend", [np.ones(N), 3.0 * np.ones(N), WEIGHT, WEIGHT * (WEIGHT > 1), np.zeros(N)])
def test_curvature_is_added_to_what_is_there(bend):
    for form in (np.asarray, sparse.csr_array):
        out = np.ones((D + 1, D + 1))
        terms.add_hessian(form(X), bend, out, True)
        Z = bordered(True)
        assert_allclose(out, 1 + (Z.T * bend) @ Z, atol=1e-10)
        out = np.ones((D, D))
        terms.add_hessian(form(X), bend, out, False)
        assert_allclose(out, 1 + (X.T * bend) @ X, atol=1e-10)


def test_few_rows_are_dense_in_memory_and_few():
    def rows(n, **more):
        return SimpleNamespace(n_rows=n, in_memory=True, sparse=False, **more)

    assert terms.few(rows(64), 32) and not terms.few(rows(65), 32) and not terms.few(rows(1), 33)
    assert terms.few(rows(2**16), 1) and not terms.few(rows(2**16 + 1), 1)
    for name in ("sparse", "in_memory"):
        other = rows(5)
        setattr(other, name, name == "sparse")
        assert terms.few(other, 3) is False


def test_blocks_hold_all_rows_once():
    cuts = list(terms.blocks(np.zeros((2**10, 256))))  # 2 kB a row: 256 rows of 2¹⁹ bytes
    assert [(c.start, c.stop) for c in cuts] == [(0, 256), (256, 512), (512, 768), (768, 1024)]
    assert [(c.start, c.stop) for c in terms.blocks(np.zeros((40, 2**14)))] == [(0, 16), (16, 32), (32, 40)]
    assert [(c.start, c.stop) for c in terms.blocks(sparse.csr_array((40, 2**14)))] == [(0, 40)]


def test_rows_cut_for_threads_are_the_same_rows(monkeypatch):
    A = sparse.random_array((1000, 30), density=0.2, rng=RNG, format="csr")
    rows = MemoryRows(A, np.arange(1000) % 2, np.arange(1000.0), classes=np.arange(2))
    monkeypatch.setattr(terms.CutRows, "least_rows", 100)
    monkeypatch.setattr(terms.CutRows, "chunk_bytes", 1)
    cut = terms.cut(rows)
    pieces = list(cut.chunks())
    assert isinstance(cut, terms.CutRows)
    assert len(pieces) % 4 == 0 or len(pieces) == 1
    assert sum(len(c.weight) for c in pieces) == 1000
    assert_allclose(np.concatenate([c.weight for c in pieces]), np.arange(1000.0))
    assert_allclose(np.vstack([c.X.toarray() for c in pieces]), A.toarray())
    assert max(len(c.weight) for c in pieces) <= cut.chunk_rows()
    dense = MemoryRows(X)
    assert terms.cut(dense) is dense


# steps


def problem(ridge=0.3, free=True, n=400, intercept=True):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(n, D)) * [1, 5, 0.2, 1]
    y = (A @ [1, 0.2, -3, 0] + rng.logistic(size=n) > 0).astype(int)
    weight = rng.uniform(0.5, 2, n)
    strength = np.full(D + intercept, ridge)
    if free and intercept:
        strength[-1] = 0.0
    rows = MemoryRows(A, y, weight, classes=np.arange(2))
    return rows, newton.Objective(Model(Logistic(), intercept, 1), strength, float(weight.sum()))


def value_of(rows, objective, theta, l1=0.0):
    Z = bordered(objective.model.intercept, rows.X)
    loss = rows.weight @ np.logaddexp(0, -np.where(rows.y == 1, 1, -1) * (Z @ theta))
    return loss + 0.5 * objective.ridge @ theta**2 + l1 * np.abs(theta[:D]).sum()


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["cholesky", "cg", "diagonal", "lbfgs"])
def test_steps_of_every_kind_end_at_the_same_place(monkeypatch, kind, free):
    rows, objective = problem(free=free)
    best = optimize.minimize(lambda v: value_of(rows, objective, v), np.zeros(D + 1), tol=1e-12)
    state = newton.newton_start(rows, objective, np.zeros(D + 1))
    assert state.value == pytest.approx(value_of(rows, objective, np.zeros(D + 1)))
    if kind == "lbfgs":
        state = lbfgs.start(rows, objective, np.zeros(D + 1))
    for _ in range(60):
        before = state
        if kind == "cholesky":
            state = newton.newton_step(rows, objective, state)
        elif kind == "lbfgs":
            state = lbfgs.step(rows, objective, state)
        else:
            state = newton.newton_cg_step(
                rows, objective, state, tol=1e-10, factor_up_to=0 if kind == "diagonal" else 600
            )
        assert state.value <= before.value + 1e-10
        if newton.violation(objective, state.gradient) < 1e-9:
            break
    assert newton.violation(objective, state.gradient) < 1e-6
    assert_allclose(state.theta, best.x, atol=1e-4)
    assert newton.violation(objective, state.gradient) == np.abs(state.gradient).max() / objective.weight


@pytest.mark.parametrize("large", [10**6, 1])
def test_an_old_hessian_serves_while_steps_shrink_the_gradient(monkeypatch, large):
    monkeypatch.setattr(newton, "LARGE", large)
    monkeypatch.setattr(terms, "FEW_PRODUCTS", 0)
    rows, objective = problem()
    state, kept = newton.newton_start(rows, objective, np.zeros(D + 1)), []
    for _ in range(30):
        new = newton.newton_step(rows, objective, state)
        kept.append(new.factor is not None)
        if new.factor is not None:
            assert new.hessian is None
            assert np.abs(new.gradient).max() <= 0.3 * np.abs(state.gradient).max()
        state = new
        if newton.violation(objective, state.gradient) < 1e-10:
            break
    assert newton.violation(objective, state.gradient) < 1e-10
    assert any(kept) == (large == 1)


def test_a_step_along_the_slope_is_halved_until_it_falls():
    rows, objective = problem()
    state = newton.newton_start(rows, objective, np.zeros(D + 1))
    far = newton.back_track(rows, objective, state, -state.gradient)
    share = np.vdot(far.theta, -state.gradient) / np.vdot(state.gradient, state.gradient)
    power = -np.log2(share)
    assert power == pytest.approx(round(power)) and power > 0
    slope = -state.gradient @ state.gradient

    def enough(step):
        return value_of(rows, objective, -step * state.gradient) <= state.value + 1e-4 * step * slope

    assert enough(share) and not enough(2 * share)
    up = newton.back_track(rows, objective, state._replace(factor=1), state.gradient)
    assert up.factor is None and up.value == state.value and not up.theta.any()


def test_conjugate_gradients_solve_a_system():
    A = RNG.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    b, M = RNG.normal(size=6), np.diag(1 / np.diagonal(A))
    found = newton.conjugate_gradients(A.__matmul__, b, M.__matmul__, 1e-12)
    assert_allclose(A @ found, b, atol=1e-8)
    counted = []
    newton.conjugate_gradients(lambda p: counted.append(1) or A @ p, b, M.__matmul__, 1e-6)
    assert len(counted) <= 7  # directions that are conjugate are as many as unknowns
    counted.clear()
    newton.conjugate_gradients(lambda p: counted.append(1) or A @ p, b, M.__matmul__, 1e-12, max_iter=2)
    assert len(counted) == 2
    rough = newton.conjugate_gradients(A.__matmul__, b, M.__matmul__, 0.3)
    r = b - A @ rough
    assert r @ M @ r <= 0.3**2 * (b @ M @ b)
    assert np.abs(r).max() > 1e-6
    assert_allclose(
        newton.conjugate_gradients(lambda p: -p, b, M.__matmul__, 0.1), M @ b
    )  # no bowl: the slope
    assert not newton.conjugate_gradients(A.__matmul__, 0 * b, M.__matmul__, 0.1).any()


def test_what_is_left_to_gain_is_a_bound():
    rows, objective = problem(free=False)
    best = optimize.minimize(lambda v: value_of(rows, objective, v), np.zeros(D + 1), tol=1e-12).fun
    for _ in range(5):
        theta = RNG.normal(size=D + 1)
        found = newton.evaluate(rows, objective, theta)
        gap = newton.gradient_gap(objective, found.gradient)
        assert gap == pytest.approx(0.5 * np.sum(found.gradient**2 / objective.ridge))
        assert found.value - gap <= best + 1e-9


def test_every_nth_row_has_its_share_of_the_objective():
    rows, objective = problem()
    few, part = newton.every_nth(rows, objective, 3)
    assert_allclose(few.X, rows.X[::3])
    assert_allclose(few.weight, rows.weight[::3])
    share = rows.weight[::3].sum() / rows.weight.sum()
    assert part.weight == pytest.approx(objective.weight * share)
    assert_allclose(part.ridge, objective.ridge * share)
    assert newton.is_representative(few, part)
    assert not newton.is_representative(few, part._replace(weight=0.0))
    lone = MemoryRows(few.X, np.zeros(few.n_rows, dtype=int), classes=np.arange(2))
    assert not newton.is_representative(lone, part)


def test_a_sample_begins_near_the_optimum_of_many_rows():
    rows, objective = problem(n=32_000)
    zero, steps = np.zeros(D + 1), []

    def step(few, part, state):
        steps.append(few.n_rows)
        return newton.newton_step(few, part, state)

    found = newton.sampled_start(rows, objective, zero, step)
    assert 0 < len(steps) <= 8 and set(steps) == {2000}
    few, part = newton.every_nth(rows, objective, 16)
    best = optimize.minimize(lambda v: value_of(few, part, v), zero, tol=1e-12).x
    assert_allclose(found, best, atol=1e-2)
    fewer = MemoryRows(rows.X[1:], rows.y[1:], classes=rows.classes)
    assert newton.sampled_start(fewer, objective, zero, step) is zero
    lost = newton.sampled_start(
        rows, objective, zero, lambda few, part, state: state._replace(theta=zero + 1e3)
    )
    assert lost is zero


# an absolute penalty


def test_slopes_that_a_penalty_allows():
    rows, objective = problem()
    theta, gradient = np.array([1.0, 0.0, -2.0, 0.0, 0.0]), np.array([-3.0, 2.5, 1.0, 0.5, -0.25])
    assert sparse_newton.thresholds(objective, theta, 2.0).tolist() == [2, 2, 2, 2, 0]
    misses = sparse_newton.slope_misses(objective, theta, gradient, 2.0)
    assert misses.tolist() == [1.0, 0.5, 1.0, 0.0, 0.25]
    held = objective._replace(ridge=np.full(5, 0.3))
    assert sparse_newton.thresholds(held, theta, 2.0).tolist() == [2] * 5
    bare = objective._replace(model=Model(Logistic(), False, 1))
    assert sparse_newton.thresholds(bare, theta, 2.0).tolist() == [2] * 5


@pytest.mark.parametrize("l1", [5.0, 40.0])
def test_proximal_newton_ends_where_no_slope_misses(l1):
    rows, objective = problem(ridge=0.0)
    state = sparse_newton.start(rows, objective, np.zeros(D + 1), l1)
    for _ in range(30):
        before, state = state, sparse_newton.step(rows, objective, state, l1, tol=1e-8)
        assert state.value <= before.value + 1e-10
        assert state.value == pytest.approx(value_of(rows, objective, state.theta, l1))
        if state.violation < 1e-9:
            break
    assert state.violation < 1e-8
    Z = bordered(True, rows.X)
    slope = Z.T @ (rows.weight * (special.expit(Z @ state.theta) - rows.y))
    assert_allclose(state.gradient, slope, atol=1e-8)
    w = state.theta[:D]
    assert_allclose(slope[:D][w != 0], -l1 * np.sign(w[w != 0]), atol=1e-4)
    assert (np.abs(slope[:D]) <= l1 + 1e-4).all() and abs(slope[D]) < 1e-4
    assert (w == 0).any() and (w != 0).any()


def test_columns_without_promise_stay_out_of_a_step():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(60, 150))
    y = rng.integers(0, 2, 60)
    rows = MemoryRows(A, y, classes=np.arange(2))
    objective = newton.Objective(Model(Logistic(), True, 1), np.zeros(151), 60.0)
    state = sparse_newton.start(rows, objective, np.zeros(151), 1e-3)
    new = sparse_newton.step(rows, objective, state, 1e-3, tol=1e-6)
    moved = np.flatnonzero(new.theta[:150])
    steepest = np.argsort(-np.abs(state.gradient[:150]))[:99]  # and the intercept: a hundred
    assert 0 < len(moved) <= 99 and set(moved) <= set(steepest)


def test_a_singular_hessian_has_a_pseudo_inverse():
    kind, found = newton.factorize(np.diag([0.5, 0.0]))
    assert kind == "inverse"
    assert_allclose(found, np.diag([2.0, 0.0]), atol=1e-12)
    assert_allclose(newton.solve((kind, found), np.array([3.0, 4.0])), [6.0, 0.0], atol=1e-12)
    kind, found = newton.factorize(np.diag([4.0, 9.0]))
    assert kind == "cholesky"
    assert_allclose(newton.solve((kind, found), np.array([4.0, 9.0])), [1.0, 1.0])


@pytest.mark.parametrize("k", [0, 3])
def test_a_quarter_of_the_rows_tells_the_curvature_of_all(k):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 2)) * [1.0, 3.0]
    y = rng.integers(0, k or 2, 9000)
    model = Model(SoftmaxCrossEntropy(), True, None, k) if k else Model(Logistic(), True, 1)
    rows = MemoryRows(X, y, rng.uniform(0.5, 2, 9000), classes=np.arange(k or 2))
    objective = newton.Objective(model, np.full(3, 0.5), float(rows.weight.sum()))
    theta = 0.3 * rng.normal(size=(3, k) if k else 3)
    state = nested.start(rows, objective, theta, fresh=False)
    centered = theta - theta.mean(axis=1, keepdims=True) if k else theta
    assert_allclose(state.theta, centered)
    found = newton.evaluate(rows, objective, centered)
    assert state.value == pytest.approx(found.value)
    assert_allclose(state.gradient, found.gradient)
    whole = nested.inverse_blocks(rows, objective, centered)
    size = np.abs(whole).max()
    assert_allclose(state.scale, whole, atol=0.15 * size)
    begun = nested.start(rows, objective, theta, fresh=True)
    assert begun.value < state.value and begun.decrement() <= 1e-2 * begun.value
