"""The perceptron's mistake bound, by hand and against runs in every order."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DataError
from gnomon.linear import Perceptron, separability
from gnomon.plot import path
from gnomon.theory import perceptron_bound
from gnomon.theory.perceptron import _longest

NEAR = np.array([[-1.0, 1.0], [0.0, -1.0], [1.5, 1.0]])
FAR = np.array([[-1.0, 1.0], [0.0, -1.0], [10.0, 1.0]])
SIDES = np.array([1, -1, 1])
FIVE = np.array([[-3.0, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]])
FIVE_SIDES = np.array([1, 1, -1, -1, -1])


def test_bounds_by_hand():
    near, far = perceptron_bound(NEAR, SIDES, [0, 1]), perceptron_bound(FAR, SIDES, [0, 1])
    assert near.margin == 1.0 and near.radius**2 == pytest.approx(3.25, rel=1e-14)
    assert near.bound == pytest.approx(3.25, rel=1e-14)
    assert far.bound == pytest.approx(101.0, rel=1e-14)
    offset = perceptron_bound(FIVE, FIVE_SIDES, [-1, 1], -1.0)
    assert offset.margin == pytest.approx(1 / np.sqrt(3), rel=1e-14)
    assert offset.radius**2 == pytest.approx(14.0, rel=1e-14)
    assert offset.bound == pytest.approx(42.0, rel=1e-13)


def test_signed_unit_vectors_attain_the_bound():
    X = np.diag([-1.0, 1, -1, 1, -1, 1])
    y = np.array([1, 1, -1, 1, -1, -1])
    found = perceptron_bound(X, y, np.diagonal(X) * y)
    assert found.bound == pytest.approx(6.0, rel=1e-13)
    longest = found.longest_mistake_sequence()
    assert sorted(longest.rows) == list(range(6)) and longest.complete
    np.testing.assert_array_equal(longest.coef, np.diagonal(X) * y)


def brute_force(X, y, limit):
    """The longest run of mistakes, one order after another."""
    Z, best = y[:, None] * X, 0
    stack = [(np.zeros(X.shape[1]), 0)]
    while stack:
        theta, k = stack.pop()
        best = max(best, k)
        if k < limit:
            stack += [(theta + z, k + 1) for z in Z if z @ theta <= 0.0]
    return best


@pytest.mark.parametrize("X", [NEAR, np.array([[-1.0, 1], [0, -1], [3, 1]])])
def test_the_longest_sequence_is_that_of_brute_force(X):
    found = perceptron_bound(X, SIDES, [0, 1]).longest_mistake_sequence()
    assert found.complete
    assert len(found.rows) == brute_force(X, SIDES, 12)


def test_the_longest_sequence_beats_cycles_and_respects_the_bound():
    found = perceptron_bound(FAR, SIDES, [0, 1]).longest_mistake_sequence()
    assert 6 <= len(found.rows) <= 101 and found.complete
    theta = np.zeros(2)
    for i in found.rows:
        assert SIDES[i] * (FAR[i] @ theta) <= 0.0
        theta += SIDES[i] * FAR[i]
    np.testing.assert_array_equal(theta, found.coef)
    assert (SIDES * (FAR @ theta) > 0.0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0))
def test_no_order_and_no_start_exceeds_the_bound(seed, reach):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(4, 2)).astype(float)
    theta = rng.normal(size=2)
    y = np.where(X @ theta > 0, 1, -1)
    if len(set(y)) < 2 or np.abs(X @ theta).min() < 0.05:
        return
    start = reach * rng.normal(size=2)
    found = perceptron_bound(X, y, theta, coef_init=start)
    bound = found.bound
    for order in itertools.permutations(range(4)):
        model = Perceptron(fit_intercept=False, order=np.array(order), tol=None, max_iter=2000)
        assert model.fit(X, y, coef_init=start).n_mistakes_ <= bound + 1e-9
    for one in (found, perceptron_bound(X, y, theta)):
        assert len(one.longest_mistake_sequence().rows) <= one.bound + 1e-9


def test_the_bound_from_a_start_is_where_the_curves_cross():
    start = np.array([3.0, -2.0])
    found = perceptron_bound(NEAR, SIDES, [0, 1], coef_init=start)
    a, k = start[1], found.bound
    assert (a + k * found.margin) ** 2 == pytest.approx(start @ start + k * found.radius**2, rel=1e-12)
    away = perceptron_bound(NEAR, SIDES, [0, 1], coef_init=[0.0, -50.0])
    assert away.bound >= 50.0


def test_progress_lies_between_the_curves_and_can_be_drawn():
    model = Perceptron(fit_intercept=False, order="given", tol=None, keep_log=True).fit(FAR, SIDES)
    weights = np.array([coef for _, coef, _ in model.mistake_log_])
    np.testing.assert_array_equal(weights, [[-1, 1], [9, 2], [8, 3], [7, 4], [6, 5], [5, 6]])
    found = perceptron_bound(FAR, SIDES, [0, 1]).progress(weights)
    assert (found.projection >= found.floor - 1e-12).all()
    assert (found.norm <= found.ceiling + 1e-12).all()
    np.testing.assert_allclose(found.cosine, found.projection / found.norm)
    ax = path(np.arange(1, 7), np.column_stack(found[:4]), found._fields[:4], x_label="mistakes")
    assert len(ax.lines) == 4


def test_the_widest_margin_gives_the_least_bound():
    widest = separability(NEAR, SIDES, origin=True, margin=True)
    best = perceptron_bound(NEAR, SIDES, widest.coef)
    assert best.margin == pytest.approx(widest.margin, rel=1e-9)
    for angle in np.linspace(0, 2 * np.pi, 50):
        theta = np.array([np.cos(angle), np.sin(angle)])
        if (SIDES * (NEAR @ theta)).min() > 0:
            assert best.bound <= perceptron_bound(NEAR, SIDES, theta).bound + 1e-9


def test_wrong_weights_are_refused_by_row():
    with pytest.raises(DataError, match="row 1"):
        perceptron_bound(NEAR, SIDES, [0.0, 1.0], intercept=2.0)
    with pytest.raises(DataError, match="zero"):
        perceptron_bound(NEAR, SIDES, [0.0, 0.0])
    with pytest.raises(DataError, match="one entry for each"):
        perceptron_bound(NEAR, SIDES, [1.0])
    with pytest.raises(DataError, match="two classes"):
        perceptron_bound(NEAR, [0, 1, 2], [0.0, 1.0])
    with pytest.raises(DataError, match="at most 10"):
        perceptron_bound(
            np.arange(-5.0, 6.0)[:, None] - 0.5, [0] * 6 + [1] * 5, [1.0]
        ).longest_mistake_sequence()


def test_the_search_stops_where_it_is_told_on_data_no_plane_separates():
    found = _longest(np.array([[1.0], [-2.0]]), np.zeros(1), 9)
    assert len(found.rows) == 9 and not found.complete


def test_the_search_begins_at_the_start_and_knows_the_offset():
    start = np.array([3.0, -4.0])
    found = perceptron_bound(NEAR, SIDES, [0, 1], coef_init=start).longest_mistake_sequence()
    theta = start.copy()
    for i in found.rows:
        assert SIDES[i] * (NEAR[i] @ theta) <= 0.0
        theta += SIDES[i] * NEAR[i]
    np.testing.assert_array_equal(theta, found.coef)
    assert (SIDES * (NEAR @ theta) > 0.0).all() and len(found.rows) >= 5  # the cycle of the course makes five
    shifted = perceptron_bound(FIVE, FIVE_SIDES, [-1, 1], -1.0).longest_mistake_sequence(30)
    weights = shifted.coef
    assert weights.shape == (3,) and (FIVE_SIDES * (FIVE @ weights[:2] + weights[2]) > 0).all()


def test_progress_by_hand():
    found = perceptron_bound(NEAR, SIDES, [0, 2], coef_init=[3.0, 4.0])
    told = found.progress([[0.0, 0.0], [5.0, 12.0]])
    assert told.projection.tolist() == [0.0, 12.0] and told.norm.tolist() == [0.0, 13.0]
    assert told.cosine.tolist() == [0.0, pytest.approx(12 / 13)]
    assert told.floor.tolist() == [5.0, 6.0]  # 4 + kγ
    assert told.ceiling == pytest.approx(np.sqrt([25 + 3.25, 25 + 6.5]))


def test_a_search_that_ends_early_is_not_complete():
    found = perceptron_bound(NEAR, SIDES, [0, 1])
    for most, rows, complete in ((0, 0, False), (1, 1, False), (2, 2, False), (3, 2, True)):
        longest = found.longest_mistake_sequence(most)
        assert (len(longest.rows), longest.complete) == (rows, complete)


def test_rows_and_labels_of_a_bound_must_fit():
    with pytest.raises(DataError, match="3 rows and y 2"):
        perceptron_bound(NEAR, SIDES[:2], [0.0, 1.0])
    with pytest.raises(DataError, match="row 2 has margin 0"):
        perceptron_bound([[0.0, 1.0], [1.0, -1.0], [1.0, 0.0]], [1, -1, 1], [0.0, 1.0])
    ten = perceptron_bound(np.array([[-1.0], [1.0]] * 5), [0, 1] * 5, [1.0])
    assert ten.longest_mistake_sequence().complete


def test_the_states_of_a_search_are_bounded(monkeypatch):
    from gnomon.theory import perceptron

    found = perceptron_bound(FAR, SIDES, [0, 1])
    met = sum(len(np.unique(list(layer), axis=0)) for layer in _layers(SIDES[:, None] * FAR))
    monkeypatch.setattr(perceptron, "MOST_STATES", met)
    assert found.longest_mistake_sequence().complete
    monkeypatch.setattr(perceptron, "MOST_STATES", met - 1)
    with pytest.raises(DataError, match=f"met {met} different weights"):
        found.longest_mistake_sequence()


def _layers(Z):
    """The weights that 1, 2, … mistakes lead to."""
    layer = [np.zeros(2)]
    while layer := [w + z for w in np.unique(layer, axis=0) for z in Z if z @ w <= 0]:
        yield layer
