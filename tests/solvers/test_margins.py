"""Newton's method in the margins of sparse rows against dense twins."""

import numpy as np
import pytest
from scipy import sparse

from gnomon.core.rows import MemoryRows
from gnomon.core.threads import threads
from gnomon.loops.margins import slope_along
from gnomon.losses.margin import SquaredHinge
from gnomon.solvers import margins, newton
from gnomon.solvers.terms import Model, cut


def problem(seed=0, n=400, d=150, *, intercept=True, weighted=True, free=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.1, format="csr", rng=rng, dtype=dtype)
    y = (X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0).astype(int)
    weight = rng.integers(0, 3, size=n).astype(float) if weighted else None
    ridge = np.full(d + intercept, 0.5)
    if free:
        ridge[-1] = 0.0
    rows = cut(MemoryRows(X, y, weight, classes=np.arange(2)))
    return rows, newton.Objective(Model(SquaredHinge(), intercept, 1), ridge, float(n))


def solve(rows, objective, state, goal=1e-18, steps=40):
    for _ in range(steps):
        state = margins.step(rows, objective, state, goal)
    return state


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_state_is_what_the_sums_say(intercept, dtype):
    rows, objective = problem(intercept=intercept, dtype=dtype)
    theta = np.random.default_rng(1).normal(size=len(objective.ridge))
    state = margins.start(rows, objective, theta)
    truth = newton.evaluate(rows, objective, theta)
    assert state.value == pytest.approx(truth.value, rel=1e-12)
    np.testing.assert_allclose(state.gradient, truth.gradient, atol=1e-10 * np.abs(truth.gradient).max())
    for _ in range(3):  # margins that are carried along stay those of theta
        state = margins.step(rows, objective, state, 1e-9)
    truth = newton.evaluate(rows, objective, state.theta)
    assert state.value == pytest.approx(truth.value, rel=1e-12)
    np.testing.assert_allclose(state.gradient, truth.gradient, atol=1e-10 * np.abs(state.theta).max())


@pytest.mark.parametrize("free", [True, False])
def test_same_optimum_as_cholesky_steps(free):
    rows, objective = problem(free=free)
    zero = np.zeros(len(objective.ridge))
    state = newton.newton_start(rows, objective, zero)
    for _ in range(30):
        state = newton.newton_step(rows, objective, state)
    found = solve(rows, objective, margins.start(rows, objective, zero))
    np.testing.assert_allclose(found.theta, state.theta, atol=1e-8)


def test_value_never_rises():
    rows, objective = problem(2)
    state = margins.start(rows, objective, np.zeros(len(objective.ridge)))
    for _ in range(15):
        new = margins.step(rows, objective, state, 1e-9)
        assert new.value <= state.value
        state = new


def test_weight_two_is_the_row_twice():
    rows, objective = problem()
    often = np.repeat(np.arange(rows.n_rows), rows.weight.astype(int))
    twice = cut(MemoryRows(rows.X[often], rows.y[often], classes=rows.classes))
    zero = np.zeros(len(objective.ridge))
    one, other = (solve(r, objective, margins.start(r, objective, zero)) for r in (rows, twice))
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-9)


def test_same_bits_on_any_number_of_threads():
    rows, objective = problem(n=3000, d=40, weighted=False)
    found = []
    for count in (1, 2, 5):
        with threads(count):
            found.append(solve(rows, objective, margins.start(rows, objective, np.zeros(41)), steps=5))
    assert all(np.array_equal(found[0].theta, other.theta) for other in found[1:])


@pytest.mark.parametrize("intercept", [True, False])
def test_entries_that_are_all_one_need_not_be_read(intercept, monkeypatch):
    rows, objective = problem(intercept=intercept)
    rows.X.data[:] = 1.0
    assert margins.has_ones(rows) and not margins.has_ones(problem()[0])
    theta = np.random.default_rng(2).normal(size=len(objective.ridge))
    short = margins.step(rows, objective, margins.start(rows, objective, theta), 1e-9)
    monkeypatch.setattr(margins, "has_ones", lambda rows: False)
    long = margins.step(rows, objective, margins.start(rows, objective, theta), 1e-9)
    np.testing.assert_allclose(short.theta, long.theta, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(short.gradient, long.gradient, atol=1e-11 * np.abs(theta).max())


def test_no_row_inside_the_margin():
    X = sparse.csr_array(np.array([[3.0, 0.0], [0.0, 3.0]]))
    rows = cut(MemoryRows(X, np.array([0, 1]), classes=np.arange(2)))
    objective = newton.Objective(Model(SquaredHinge(), False, 1), np.full(2, 1e-3), 2.0)
    state = margins.start(rows, objective, np.array([-1.0, 1.0]))
    assert state.value == pytest.approx(1e-3)
    found = solve(rows, objective, state)
    truth = 3 * 2 / (1e-3 + 2 * 9)  # of (1 − 3t)² + ½ 10⁻³ t²
    np.testing.assert_allclose(found.theta, [-truth, truth], rtol=1e-8)


def test_slope_along_is_the_derivative():
    rng = np.random.default_rng(3)
    m, moves, weight = rng.normal(size=50), rng.normal(size=50), rng.random(50)

    def value(t):
        return float(weight @ np.maximum(0.0, 1.0 - m - t * moves) ** 2)

    slope, bend = slope_along(m, moves, weight, 0.4)
    h = 1e-5
    assert slope == pytest.approx((value(0.4 + h) - value(0.4 - h)) / (2 * h), rel=1e-6)
    assert bend == pytest.approx(2 * weight[1 - m - 0.4 * moves > 0] @ moves[1 - m - 0.4 * moves > 0] ** 2)


def test_sets_have_ones_only():
    for entries, expected in (([1.0, 1.0, 1.0], True), ([1.0, 2.0, 1.0], False), ([0.5, 2.0, 3.0], False)):
        X = sparse.csr_array((entries, [0, 1, 0], [0, 2, 3]), shape=(2, 2))
        assert margins.has_ones(MemoryRows(X)) is expected
