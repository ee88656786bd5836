"""Grid worlds: chances, values by hand, drawings."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.decide import FiniteHorizon, GridWorld, ValueIteration, solve


def by_cell(grid, V):
    return {grid.cell(s): round(float(v), 7) for s, v in enumerate(V)}


def test_small_grid():
    grid = GridWorld.small()
    model = solve(grid)
    expected = {(0, 0): 0.7607866, (0, 1): 0.8780488, (0, 2): 1, (1, 0): 0.6680078, (1, 2): -1}
    expected |= {(2, 0): 0.5787963, (2, 1): 0.5082114, (2, 2): 0.3032002}
    assert by_cell(grid, model.V_) == pytest.approx(expected, abs=1e-7)
    assert grid.arrows(model.policy_) == "→→●\n↑■●\n↑←←"


def test_small_grid_iterates():
    grid = GridWorld.small()
    steps = [by_cell(grid, model.iterate_) for model in ValueIteration().iterate(grid)]
    inside = [cell for cell in steps[2] if cell not in grid.terminals]
    assert {cell: steps[2][cell] for cell in inside if steps[2][cell]} == {(0, 1): 0.72}
    assert (steps[3][0, 0], steps[3][0, 1]) == (0.5184, 0.8496)
    assert (steps[4][0, 0], steps[4][0, 1], steps[4][1, 0]) == (0.658368, 0.872928, 0.373248)


def test_small_grid_without_discount():
    grid = GridWorld.small(discount=1.0, living_reward=-0.04)
    expected = {(0, 0): 0.89375, (0, 1): 0.95, (1, 0): 0.84375, (2, 0): 0.7875, (2, 1): 0.7375, (2, 2): 0.5}
    for method in ("policy_iteration", "value_iteration", "linear_program"):
        model = solve(grid, method)
        found = by_cell(grid, model.V_)
        assert {cell: found[cell] for cell in expected} == pytest.approx(expected, abs=1e-7)
        assert grid.arrows(model.policy_) == "→→●\n↑■●\n↑←←"


def test_each_side_has_the_slip():
    grid = GridWorld.small()
    T = grid.rows_.toarray().reshape(8, 4, 8)
    at = grid.state
    row = T[at((2, 0)), 0]
    assert (row[at((1, 0))], row[at((2, 0))], row[at((2, 1))]) == pytest.approx((0.8, 0.1, 0.1))
    row = T[at((0, 1)), 1]
    assert (row[at((0, 2))], row[at((0, 1))]) == pytest.approx((0.8, 0.2))


def test_random_policy_on_the_small_grid():
    grid = GridWorld.small()
    found = by_cell(grid, grid.evaluate(np.full((8, 4), 0.25)).value)
    expected = {(0, 0): 0.2344319, (0, 1): 0.5049949, (1, 0): 0.0680609}
    expected |= {(2, 0): -0.0680609, (2, 1): -0.2344319, (2, 2): -0.5049949}
    assert {cell: found[cell] for cell in expected} == pytest.approx(expected, abs=1e-7)


def test_classic_grid():
    grid = GridWorld.classic(discount=1.0, living_reward=-0.04)
    model = solve(grid)
    expected = [
        [0.8115582, 0.8678082, 0.9178082, 1],
        [0.7615582, np.nan, 0.6602740, -1],
        [0.7053082, 0.6553082, 0.6114155, 0.3879249],
    ]
    np.testing.assert_allclose(grid.as_grid(model.V_), expected, atol=1e-7)
    assert grid.arrows(model.policy_) == "→→→●\n↑■↑●\n↑←←←"
    patient = GridWorld.classic()
    model = solve(patient)
    expected = [
        [0.6449692, 0.7443801, 0.8477663],
        [0.5663145, np.nan, 0.5718590],
        [0.4906840, 0.4308445, 0.4754711],
    ]
    np.testing.assert_allclose(patient.as_grid(model.V_)[:, :3], expected, atol=1e-7)
    assert patient.arrows(model.policy_).split("\n")[2][2] == "↑"
    careful = GridWorld.classic(discount=1.0, living_reward=-0.01)
    model = solve(careful)
    assert model.V_[careful.state((2, 3))] == pytest.approx(0.796875)
    assert careful.arrows(model.policy_) == "→→→●\n↑■←●\n↑←←↓"


def test_charging_station():
    grid = GridWorld.charging_station((1, 3), (0, 2))
    np.testing.assert_allclose(solve(grid).V_, [7.70969661, 8.78048780, 10], atol=1e-8)


def test_grid_from_text_is_the_grid_by_hand():
    drawn = GridWorld.from_text("...G\n.#.F\nS...", {"G": 1.0, "F": -1.0})
    made = GridWorld.classic(start=(2, 0))
    np.testing.assert_array_equal(drawn.rows_.toarray(), made.rows_.toarray())
    np.testing.assert_array_equal(drawn.start_, made.start_)
    honey = GridWorld.from_text("..H", {"H": (2.0, "stays")})
    assert not honey.terminals and honey.expected_rewards_[2].tolist() == [2.0] * 4
    with pytest.raises(DataError, match="'x' at"):
        GridWorld.from_text(".x.")


def test_eight_moves_and_a_grid_that_obeys():
    grid = GridWorld((3, 3), terminals={(0, 2): 1.0}, moves=8, move_probability=1.0, slip_probability=0.0)
    model = solve(grid)
    assert model.V_[grid.state((2, 0))] == pytest.approx(0.81)
    assert grid.arrows(model.policy_).split("\n")[2][0] == "↗"
    slipping = GridWorld((3, 3), moves=8)
    row = slipping.rows_.toarray().reshape(9, 8, 9)[slipping.state((1, 1)), 0]
    assert row[slipping.state((0, 0))] == row[slipping.state((0, 2))] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GridWorld((2, 2), move_probability=0.8, slip_probability=0.2), "for each side"),
        (lambda: GridWorld((2, 2), walls=[(0, 0)], terminals={(0, 0): 1.0}), "wall"),
        (lambda: GridWorld((2, 2), discount=1.0), "FiniteHorizon"),
        (lambda: GridWorld((2, 2), moves=6), "4 or 8"),
        (lambda: GridWorld((2, 2)).as_grid([1.0]), "4 states"),
        (lambda: GridWorld((2, 2)).state((5, 5)), "outside"),
    ],
)
def test_bad_grids_are_named(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_utility_that_stops_counting():
    grid = GridWorld.small(discount=None)
    # rewards of s_0..s_N are N + 1 state rewards: horizon N + 1
    model = FiniteHorizon(3).fit(grid)
    assert model.values_[1][grid.state((0, 2))] == 1.0
    assert model.values_[2][grid.state((0, 1))] == pytest.approx(0.8)
