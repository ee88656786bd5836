"""The dual of the hard and of the soft margin: nearest points of hulls, whole and reduced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.linear import LinearSVC, hull_contains, nearest_hulls, separability
from gnomon.plot import hulls


def test_four_points_by_hand():
    X, y = np.array([[0.0, 0], [0, 2], [3, 1], [4, 1]]), [-1, -1, 1, 1]
    found = nearest_hulls(X, y)
    np.testing.assert_allclose(found.weights, [0.5, 0.5, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose([*found.u, *found.v], [3, 1, 0, 1], atol=1e-12)
    assert found.distance == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(found.coef, [2 / 3, 0.0], atol=1e-12)
    assert found.intercept == pytest.approx(-1.0, rel=1e-12)
    alpha = 2.0 * found.weights / found.distance**2
    np.testing.assert_allclose(alpha, [1 / 9, 1 / 9, 2 / 9, 0], atol=1e-12)


def test_six_points_by_hand():
    X, y = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]]), [1, 1, 1, 0, 0, 0]
    found = nearest_hulls(X, y)
    np.testing.assert_allclose(found.coef, [2.0, 2.0], atol=1e-10)
    assert found.intercept == pytest.approx(-3.0, rel=1e-10)
    assert found.distance / 2 == pytest.approx(1 / (2 * np.sqrt(2)), rel=1e-10)
    assert 2 / found.distance**2 == pytest.approx(4.0, rel=1e-10)  # the dual value


def slow_twin(X, y, cap):
    """The same by a general solver."""
    sign = np.where(y == 1, 1.0, -1.0)
    start = np.where(y == 1, 1 / (y == 1).sum(), 1 / (y == 0).sum())
    sums = [{"type": "eq", "fun": lambda a, k=k: a[y == k].sum() - 1.0} for k in (0, 1)]
    Z = sign[:, None] * X
    found = minimize(
        lambda a: (np.sum((a @ Z) ** 2), 2 * Z @ (a @ Z)),
        start,
        jac=True,
        bounds=[(0, cap)] * len(y),
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return np.sqrt(found.fun)


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [232, 316, 556, 782, 789, 1037, 28121])
def test_specks_of_weight_do_not_end_the_search(seed):
    """Rounding left 1e-17 beside a weight of one in these, and the search ended with a large gap."""
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 3.0]
    found = nearest_hulls(X, np.repeat([0, 1], 10))
    assert found.gap <= 1e-8 * max(found.distance, 1.0)
    assert set(found.weights[found.weights < 1e-12]) <= {0.0}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.5, 0.21]), st.floats(0.0, 4.0))
def test_distance_is_that_of_a_slow_twin_and_the_gap_holds(seed, cap, apart):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 6)
    X = rng.normal(size=(12, 3)) + apart * y[:, None]
    found = nearest_hulls(X, y, max_weight=cap)
    truth = slow_twin(X, y, cap)
    assert found.distance <= truth + 1e-6
    assert found.distance - found.gap <= truth + 1e-6
    assert found.gap <= 1e-9
    np.testing.assert_allclose([found.weights[y == k].sum() for k in (0, 1)], 1.0, rtol=1e-12)
    assert found.weights.min() >= 0.0 and found.weights.max() <= cap


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_margin_is_half_the_distance_and_the_midpoint_lies_on_the_plane(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 10)
    X = rng.normal(size=(20, 2)) + 3.0 * y[:, None]
    found, plane = nearest_hulls(X, y), separability(X, y, margin=True)
    assert (found.distance > 0) == plane.separable
    if not plane.separable:
        np.testing.assert_allclose(found.u, found.v, atol=1e-8)
        assert hull_contains(X[y == 0], found.u, tol=1e-7).inside
        return
    assert plane.margin == pytest.approx(found.distance / 2, rel=1e-6)
    np.testing.assert_allclose(found.coef, plane.coef, rtol=1e-5, atol=1e-7)
    middle = (found.u + found.v) / 2
    assert plane.coef @ middle + plane.intercept == pytest.approx(0.0, abs=1e-6)


def test_many_rows_equal_the_hard_margin():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=4000)
    X = rng.normal(size=(4000, 5)) + 9.0 * y[:, None]
    found = nearest_hulls(X, y)
    keep = np.flatnonzero(found.weights > 0)
    small = LinearSVC(C=np.inf, loss="hinge", regularize_intercept=False).fit(X[keep], y[keep])
    np.testing.assert_allclose(found.coef, small.coef_[0], rtol=1e-6, atol=1e-8)
    assert (np.where(y == 1, 1, -1) * (X @ found.coef + found.intercept)).min() >= 1.0 - 1e-6
    assert found.gap <= 1e-8


def test_reduced_hulls_are_the_soft_margin():
    """With μ = C/Σ₊α the plane has the direction of the soft-margin machine."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 1.5 * y[:, None]
    assert nearest_hulls(X, y).distance == 0.0
    C = 0.3
    machine = LinearSVC(C=C, loss="hinge", regularize_intercept=False).fit(X, y)
    pull = machine.dual_coef_full_[y == 1].sum()
    found = nearest_hulls(X, y, max_weight=C / pull)
    direction = machine.coef_[0] / np.linalg.norm(machine.coef_)
    np.testing.assert_allclose((found.u - found.v) / found.distance, direction, atol=1e-5)
    np.testing.assert_allclose(found.weights * pull, machine.dual_coef_full_, atol=1e-3)


def test_shifted_and_scaled_data_give_the_same_weights():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 8)
    X = rng.normal(size=(16, 2)) + 4.0 * y[:, None]
    plain, moved = nearest_hulls(X, y), nearest_hulls(1e-3 * X + 1e4, y)
    np.testing.assert_allclose(moved.weights, plain.weights, atol=1e-6)
    assert moved.distance == pytest.approx(1e-3 * plain.distance, rel=1e-6)


def test_what_has_no_answer_is_refused():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 0, 1]
    with pytest.raises(InfeasibleError, match="at least 1"):
        nearest_hulls(X, y, max_weight=0.5)
    with pytest.raises(ValueError, match="max_weight"):
        nearest_hulls(X, y, max_weight=2.0)
    with pytest.raises(DataError, match="two classes"):
        nearest_hulls(X, [0, 1, 2, 2])
    with pytest.raises(DataError, match="same point"):
        nearest_hulls(np.ones((4, 2)), y)
    meeting = nearest_hulls([[0.0], [2.0], [1.0]], [0, 0, 1])
    assert meeting.distance == 0.0
    with pytest.raises(DataError, match="meet"):
        _ = meeting.coef


def test_picture_of_hulls():
    X, y = np.array([[0.0, 0], [0, 2], [3, 1], [4, 1], [4, 2]]), [0, 0, 1, 1, 1]
    ax = hulls(X, y)
    assert ax.get_title() == "distance 3, margin 1.5"
    segment = ax.lines[0].get_xydata()
    np.testing.assert_allclose(np.sort(segment[:, 0]), [0.0, 3.0], atol=1e-10)
    corners = ax.patches[1].get_xy()
    assert len(np.unique(corners, axis=0)) == 3
    dashed = hulls(np.vstack([X, [[0.0, 1.0]]]), [*y, 0], max_weight=0.5)
    assert len(dashed.patches) == 4
    with pytest.raises(DataError, match="two features"):
        hulls(np.ones((4, 3)), [0, 0, 1, 1])
