"""Steps on few dense rows in one compiled loop, against the same steps by sums over chunks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.core.rows import MemoryRows
from gnomon.linear import LinearSVC, LinearSVR
from gnomon.loops import few_rows
from gnomon.losses.margin import Logistic, SquaredHinge
from gnomon.losses.residual import SquaredEpsilonInsensitive
from gnomon.solvers import interior, newton, terms

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [1.0, 20.0, 0.1]
CLASSES = (X @ [1.0, 0.1, 5.0] + RNG.normal(size=40) > 0).astype(int)
NUMBERS = X @ [1.0, 0.1, 5.0] + RNG.normal(size=40)
WEIGHT = RNG.integers(0, 3, size=40).astype(float)


@pytest.fixture
def by_chunks(monkeypatch):
    """Switch the compiled loops off."""
    return lambda: monkeypatch.setattr(terms, "FEW_PRODUCTS", 0)


def objective(loss, intercept, *, ridge=0.3, free=False):
    strength = np.full(3 + intercept, ridge)
    strength[-1] = 0.0 if free else ridge
    positive = 1 if loss is not SquaredEpsilonInsensitive else None
    made = SquaredEpsilonInsensitive(0.2) if positive is None else loss()
    return newton.Objective(terms.Model(made, intercept, positive), strength, 40.0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [SquaredHinge, Logistic, SquaredEpsilonInsensitive])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_newton_steps_are_those_of_sums(loss, intercept, dtype, by_chunks):
    problem = objective(loss, intercept)
    y = NUMBERS if loss is SquaredEpsilonInsensitive else CLASSES
    rows = MemoryRows(X.astype(dtype), y, WEIGHT, classes=None if y is NUMBERS else np.arange(2))
    theta = np.random.default_rng(1).normal(size=3 + intercept)
    assert terms.few(rows, len(theta))
    few = newton.newton_start(rows, problem, theta)
    quick = newton.newton_step(rows, problem, few)
    by_chunks()
    slow = newton.newton_start(rows, problem, theta)
    for one, other in ((few, slow), (quick, newton.newton_step(rows, problem, slow))):
        assert_allclose(one.value, other.value, rtol=1e-12)
        for name in ("theta", "gradient", "hessian"):
            size = np.abs(getattr(other, name)).max()
            assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9 * size)
    assert quick.value < few.value


def test_a_singular_hessian_goes_the_general_way():
    rows = MemoryRows(np.ones((6, 2)), np.arange(6) % 2, classes=np.arange(2))
    problem = newton.Objective(terms.Model(Logistic(), False, 1), np.zeros(2), 6.0)
    state = newton.newton_start(rows, problem, np.array([1.0, 0.0]))
    arguments = terms.loop_arguments(rows, problem.model)
    room = np.empty(2), np.empty(2), np.empty((2, 2))
    assert few_rows.newton_step(*arguments, problem.ridge, *state[:4], *room)[1] == -1
    p = 1.0 / (1.0 + np.exp(-1.0))  # all scores are 1, and half of the rows are of class 1
    assert_allclose(newton.newton_step(rows, problem, state).theta.sum(), 1.0 - (p - 0.5) / (p * (1.0 - p)))


def test_no_step_is_made_at_the_optimum():
    rows = MemoryRows(X, CLASSES, WEIGHT, classes=np.arange(2))
    problem = objective(SquaredHinge, True)
    state = newton.newton_start(rows, problem, np.zeros(4))
    for _ in range(30):
        state = newton.newton_step(rows, problem, state)
    upward = state._replace(gradient=-np.ones(4), hessian=1e-6 * np.eye(4))  # no step along this one is lower
    assert newton.newton_step(rows, problem, upward) is upward


def machine(blocks):
    cost = 2.0 * WEIGHT
    ones = np.ones(40)
    if blocks == 1:
        sign = np.where(CLASSES == 1, 1.0, -1.0)
        return interior.Machine(np.array([1.0, 1.0, 1.0, 0.0]), (sign,), (ones,), (cost,), True)
    offsets = (NUMBERS - 0.1, -NUMBERS - 0.1)
    return interior.Machine(np.array([1.0, 1.0, 1.0, 0.5]), (ones, -ones), offsets, (cost, cost), True)


@pytest.mark.parametrize("blocks", [1, 2])
def test_interior_steps_are_those_of_sums(blocks, by_chunks):
    rows, problem = MemoryRows(X), machine(blocks)
    start = interior.machine_start(rows, problem)
    quick = [start]
    for _ in range(6):
        quick.append(interior.machine_step(rows, problem, quick[-1]))
    by_chunks()
    for before, after in zip(quick, quick[1:]):
        with np.errstate(all="ignore"):
            slow = interior.machine_step(rows, problem, before)
        assert_allclose(after.theta, slow.theta, rtol=1e-7, atol=1e-9)
        assert_allclose(after.alpha, slow.alpha, rtol=1e-7, atol=1e-7)
        assert_allclose([after.primal, after.dual], [slow.primal, slow.dual], rtol=1e-8)
        live = np.concatenate(problem.costs) > 0
        assert_allclose(after.s[live], slow.s[live], rtol=1e-6, atol=1e-7)
        assert (after.alpha[~live] == 0).all()
    assert quick[-1].primal - quick[-1].dual < quick[1].primal - quick[1].dual


def test_values_of_a_machine_by_hand():
    rows, ones = np.array([[1.0], [3.0]]), np.ones(2)
    signs, offsets, costs = (np.array([1.0, -1.0]),), (ones,), (np.array([2.0, 1.0]),)
    primal, dual = few_rows.machine_values(
        rows, np.array([1.0, 0.0]), signs, offsets, costs, np.array([0.5, -1.0]), np.array([0.5, 0.25])
    )  # scores −½ and ½: slacks 3/2 and 3/2; Σ α y x = ½ − ¾
    assert primal == 0.125 + 2 * 1.5 + 1.5
    assert dual == 0.75 - 0.5 * 0.25**2


def test_left_to_gain_by_hand():
    gap, free = few_rows.left_to_gain(np.array([2.0, -3.0, 1.0]), np.array([4.0, 0.0, 0.5]))
    assert (gap, free) == (0.5 * (1.0 + 2.0), 3.0)
    assert np.isnan(few_rows.left_to_gain(np.array([2.0, np.nan]), np.array([4.0, 0.0]))[0])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("free", [True, False])
def test_classifiers_end_at_the_same_optimum(loss, free, by_chunks):
    y = np.arange(40) % 3
    found = LinearSVC(loss=loss, regularize_intercept=not free).fit(X, y, sample_weight=WEIGHT)
    by_chunks()
    other = LinearSVC(loss=loss, regularize_intercept=not free).fit(X, y, sample_weight=WEIGHT)
    assert_allclose(found.primal_, other.primal_, rtol=1e-11)
    assert_allclose(found.coef_, other.coef_, atol=1e-5)
    assert found.converged_ and found.gap_ <= found.tol * max(1.0, found.primal_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressors_end_at_the_same_optimum(loss, by_chunks):
    found = LinearSVR(loss=loss, epsilon=0.1).fit(X, NUMBERS, sample_weight=WEIGHT)
    by_chunks()
    other = LinearSVR(loss=loss, epsilon=0.1).fit(X, NUMBERS, sample_weight=WEIGHT)
    assert_allclose(found.coef_, other.coef_, atol=1e-6)
    assert_allclose(found.trace_.objective[-1], other.trace_.objective[-1], rtol=1e-11)
    assert found.converged_ and len(found.trace_.certificate) == found.n_iter_
