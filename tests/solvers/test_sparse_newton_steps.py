"""Proximal Newton under an absolute penalty: thresholds and misses by hand, the optimum by its conditions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from gnomon.core.rows import MemoryRows
from gnomon.losses import Logistic
from gnomon.solvers import newton, sparse_newton
from gnomon.solvers.terms import Model

RNG = np.random.default_rng(0)


def problem(n, d, intercept, ridge, weight=None):
    X, y = RNG.normal(size=(n, d)), RNG.integers(0, 2, n)
    rows = MemoryRows(X, y, weight, classes=np.arange(2))
    mass = float(n if weight is None else weight.sum())
    return rows, X, 2.0 * y - 1, newton.Objective(Model(Logistic(), intercept, 1), np.array(ridge), mass)


@pytest.mark.parametrize(
    ("intercept", "ridge", "l1", "expected"),
    [
        (True, [1.0, 1.0, 0.0], 0.5, [0.5, 0.5, 0.0]),
        (True, [1.0, 1.0, 2.0], 0.5, [0.5, 0.5, 0.5]),
        (True, [0.0, 0.0, 0.0], 0.0, [0.0, 0.0, 0.0]),
        (False, [0.0, 0.0, 0.0], 0.5, [0.5, 0.5, 0.5]),
    ],
)
def test_a_free_intercept_has_no_threshold(intercept, ridge, l1, expected):
    objective = newton.Objective(Model(Logistic(), intercept, 1), np.array(ridge), 1.0)
    assert_allclose(sparse_newton.thresholds(objective, np.zeros(3), l1), expected)
    assert_allclose(
        sparse_newton.thresholds(objective, np.zeros((3, 2)), l1),
        np.repeat(np.array(expected)[:, None], 2, 1),
    )


@pytest.mark.parametrize(
    ("theta", "gradient", "miss"),
    [
        (0.0, 0.3, 0.0),
        (0.0, -0.5, 0.0),
        (0.0, 0.8, 0.3),
        (0.0, -0.9, 0.4),
        (2.0, -0.5, 0.0),
        (2.0, 0.1, 0.6),
        (2.0, -0.7, 0.2),
        (-2.0, 0.5, 0.0),
        (-2.0, 0.1, 0.4),
        (-2.0, -0.1, 0.6),
    ],
)
def test_how_far_a_slope_is_from_the_penalty(theta, gradient, miss):
    objective = newton.Objective(Model(Logistic(), False, 1), np.zeros(1), 1.0)
    found = sparse_newton.slope_misses(objective, np.array([theta]), np.array([gradient]), 0.5)
    assert_allclose(found, [miss], atol=1e-15)


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 13.0)])
@pytest.mark.parametrize(
    ("intercept", "ridge", "penalized"),
    [(True, [0.3, 0.2, 0.0], 2), (True, [0.3, 0.2, 0.1], 3), (False, [0.3, 0.2], 2)],
)
def test_a_state_by_its_formulas(intercept, ridge, penalized, weight):
    rows, X, sign, objective = problem(12, 2, intercept, ridge, weight)
    Z = np.column_stack([X, np.ones(12)]) if intercept else X
    w = np.ones(12) if weight is None else weight
    theta = np.array([0.5, -1.0, 0.7])[: Z.shape[1]]
    state = sparse_newton.start(rows, objective, theta, 0.8)
    smooth = (w * np.logaddexp(0, -sign * (Z @ theta))).sum() + (ridge * theta**2).sum() / 2
    assert_allclose(state.value, smooth + 0.8 * np.abs(theta[:penalized]).sum())
    gradient = -Z.T @ (w * sign * expit(-sign * (Z @ theta))) + np.array(ridge) * theta
    assert_allclose(state.gradient, gradient)
    t = np.where(np.arange(len(theta)) < penalized, 0.8, 0.0)
    assert_allclose(state.violation, np.abs(gradient + t * np.sign(theta)).max() / w.sum())


@pytest.mark.parametrize("intercept", [True, False])
def test_steps_end_where_the_conditions_hold(intercept):
    rows, X, sign, objective = problem(60, 8, intercept, [0.1] * 8 + [0.0] * intercept)
    Z = np.column_stack([X, np.ones(60)]) if intercept else X
    state = sparse_newton.start(rows, objective, np.zeros(Z.shape[1]), 4.0)
    values = [state.value]
    for _ in range(30):
        state = sparse_newton.step(rows, objective, state, 4.0, tol=1e-12)
        values.append(state.value)
    assert (np.diff(values) <= 1e-12).all()
    theta = state.theta
    slope = -Z.T @ (sign * expit(-sign * (Z @ theta))) + objective.ridge * theta
    on = theta[:8] != 0
    assert 0 < on.sum() < 8
    assert_allclose(slope[:8][on], -4.0 * np.sign(theta[:8][on]), rtol=1e-7)
    assert (np.abs(slope[:8][~on]) <= 4.0).all()
    assert_allclose(slope[8:], 0, atol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_step_moves_at_most_the_hundred_features_that_miss_most(intercept):
    rows, X, sign, objective = problem(40, 300, intercept, [0.0] * (300 + intercept))
    state = sparse_newton.start(rows, objective, np.zeros(300 + intercept), 0.1)
    misses = np.abs(state.gradient[:300]) - 0.1
    assert (misses > 0).sum() > 200
    new = sparse_newton.step(rows, objective, state, 0.1, tol=1e-8)
    moved = np.flatnonzero(new.theta[:300])
    assert len(moved) > 10
    assert set(moved) <= set(np.argsort(-misses)[:100])
    assert new.value < state.value
    if intercept:
        assert new.theta[-1] != 0
