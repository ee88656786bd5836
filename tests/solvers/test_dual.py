"""Dual coordinate ascent on hinges: its optimum is that of a dense program, and its pace is foretold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse

from gnomon.core.rows import MemoryRows
from gnomon.solvers.dual import _packed, dual_machine, dual_start, dual_step, passes_left, squared_norms
from gnomon.solvers.margin_programs import hinge_program
from gnomon.solvers.maximum_margin import Margin, l1_dual

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=40))
COST = RNG.uniform(0.2, 2.0, 40)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("constant", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("squared", [False, True])
def test_passes_end_at_the_optimum_of_the_program(form, constant, squared):
    rows = MemoryRows(form(X))
    machine = dual_machine(squared_norms(rows.X), Y, COST, constant, squared=squared)
    state, rng = dual_start(rows, machine), np.random.default_rng(1)
    assert len(state.theta) == 3 + (constant > 0) and not state.theta.any() and not state.alpha.any()
    duals = []
    for _ in range(300):
        state = dual_step(rows, machine, state, rng)
        duals.append(state.dual)
        if state.primal - state.dual < 1e-7:
            break
    Z = np.c_[X, np.full(40, constant)] if constant else X
    theta, _, value, _ = hinge_program(
        Y[:, None] * Z, np.ones(Z.shape[1]), COST, "squared_hinge" if squared else "hinge"
    )
    assert (np.diff(duals) > -1e-9).all()
    assert state.primal == pytest.approx(value, rel=1e-3) and state.dual == pytest.approx(value, rel=1e-3)
    assert 0 <= state.primal - state.dual + 1e-9 < 1e-4
    assert_allclose(state.theta, theta, atol=5e-3)
    scores = Z @ state.theta
    slack = np.maximum(0, 1 - Y * scores)
    assert state.primal == pytest.approx(
        0.5 * state.theta @ state.theta + (COST * slack ** (2 if squared else 1)).sum()
    )
    assert_allclose(state.theta, (state.alpha * Y) @ Z, atol=1e-6)
    assert_allclose(state.scores, scores, atol=1e-6)
    assert (state.alpha >= 0).all() and (squared or (state.alpha <= COST + 1e-9).all())
    lost = (state.alpha**2 / (4 * COST)).sum() if squared else 0.0
    assert state.dual == pytest.approx(state.alpha.sum() - 0.5 * state.theta @ state.theta - lost, abs=1e-6)


def test_rows_without_cost_have_no_weight():
    cost = COST.copy()
    cost[::3] = 0.0
    for squared in (False, True):
        rows = MemoryRows(X)
        machine = dual_machine(squared_norms(X), Y, cost, 0.0, squared=squared)
        state, rng = dual_start(rows, machine), np.random.default_rng(1)
        for _ in range(50):
            state = dual_step(rows, machine, state, rng)
        assert not state.alpha[::3].any()
        left = np.arange(40) % 3 > 0
        kind = "squared_hinge" if squared else "hinge"
        value = hinge_program(Y[left, None] * X[left], np.ones(3), cost[left], kind)[2]
        assert state.primal == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_packed_rows_have_room_for_their_columns_and_values(dtype):
    """Four entries take two words of columns and as many words as four values fill."""
    rows = MemoryRows(sparse.csr_array(np.array([[1.0, 0, 2, 0, 3, 4, 5], [0] * 7, [0, 6, 0, 0, 0, 0, 0]])))
    starts, pairs, values = _packed(rows, np.dtype(dtype))
    assert starts.tolist() == [0, 2, 2, 3]  # five entries, none, one
    assert pairs.nbytes == 3 * (16 + 4 * np.dtype(dtype).itemsize) and values.dtype == dtype


def test_squared_lengths_of_rows():
    holes = np.where(RNG.random((5, 4)) < 0.5, 0.0, RNG.normal(size=(5, 4)))
    for form in (np.asarray, sparse.csr_array):
        assert_allclose(squared_norms(form(holes)), (holes**2).sum(axis=1))


@pytest.mark.parametrize(
    ("gains", "goal", "expected"),
    [
        ([8.0, 4.0, 2.0], 0.5, 2),  # halved by every pass: 1 and ½ are still to come
        ([9.0, 3.0, 1.0], 1 / 27, 3),
        ([8.0, 4.0, 2.0], 2.0, 0),
        ([8.0, 4.0], 0.5, np.inf),
        ([2.0, 4.0, 8.0], 0.5, np.inf),
        ([8.0, 4.0, 2.0], 0.0, np.inf),
    ],
)
def test_passes_that_are_left_follow_from_the_pace(gains, goal, expected):
    assert passes_left(gains, goal) == pytest.approx(expected)


def sparse_margin(C, intercept):
    return Margin(np.empty(0), np.empty(0), 1, C, intercept, 0.0, "squared_hinge", True, "newton", None)


@pytest.mark.parametrize("intercept", [False, True])
def test_dual_of_an_absolute_penalty_by_hand(intercept):
    rows = MemoryRows(np.array([[-1.0], [1.0]]), np.array([0, 1]))
    margin, end = sparse_margin(1.0, intercept), [0.0] * intercept
    # |w| + 2 (1 − w)² is least at w = ¾, where it is 7/8; each multiplier is there 2 · ¼
    assert l1_dual(margin, rows, np.array([0.75, *end])) == pytest.approx(0.875)
    for w in (0.0, 0.3, 0.9, 2.0):
        assert l1_dual(margin, rows, np.array([w, *end])) <= 0.875 + 1e-12
    # at w = 0 multipliers of 2 pull by 4: a quarter of them is feasible, and worth 1 − ¼²(2)
    assert l1_dual(margin, rows, np.array([0.0, *end])) == pytest.approx(1 - 2 * 0.25 / 4)


def test_a_class_without_slack_says_nothing_of_a_free_intercept():
    rows = MemoryRows(np.array([[-1.0], [1.0]]), np.array([0, 1]))
    assert l1_dual(sparse_margin(1.0, True), rows, np.array([0.0, 5.0])) == 0.0
    assert l1_dual(sparse_margin(1.0, True), rows, np.array([0.0, -5.0])) == 0.0


def test_the_dual_is_below_the_least_value():
    rng = np.random.default_rng(0)
    rows = MemoryRows(X, (Y > 0).astype(int), COST)
    C = 0.7

    def primal(theta):
        slack = np.maximum(0, 1 - Y * (X @ theta[:3] + theta[3]))
        return np.abs(theta[:3]).sum() + C * (COST * slack**2).sum()

    least = min(
        optimize.minimize(primal, rng.normal(size=4), method="Powell", tol=1e-12).fun for _ in range(3)
    )
    for scale in (0.0, 0.1, 0.5, 1.0):
        assert l1_dual(sparse_margin(C, True), rows, scale * rng.normal(size=4)) <= least + 1e-6
