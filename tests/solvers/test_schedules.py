"""Learning rates: what they promise, their values by hand, and what is none."""

import pytest

from gnomon.solvers import schedules


@pytest.mark.parametrize(
    ("schedule", "flags"),
    [
        (schedules.Constant(0.1), (True, False, False)),
        (schedules.InverseDecay(1.0), (True, True, True)),
        (schedules.InvScaling(1.0, 1.0), (True, True, True)),
        (schedules.InvScaling(1.0, 1.01), (False, True, True)),
        (schedules.InvScaling(1.0, 0.5), (True, False, True)),
        (schedules.InvScaling(1.0, 0.0), (True, False, False)),
        (schedules.LinearDecay(1.0, 0.2, 4), (True, False, False)),
        (schedules.LinearDecay(1.0, 0.0, 4), (False, True, True)),
        (schedules.Exponential(1.0, 0.9), (False, True, True)),
        (schedules.Exponential(1.0, 1.0), (True, False, False)),
        (schedules.Exponential(1.0, 0.9, floor=0.01), (True, False, False)),
        (schedules.Optimal(0.1), (True, True, True)),
    ],
)
def test_what_a_schedule_promises(schedule, flags):
    assert (schedule.sum_diverges, schedule.squares_converge, schedule.vanishes) == flags
    assert schedule.robbins_monro == (flags[0] and flags[1])
    assert schedule.glie == (flags[0] and flags[2])


def test_rates_by_hand():
    assert [schedules.VisitDecay(2.0, 0.5, 3.0)(k) for k in (0, 5)] == [1.0, 2.0 / 3.0]
    assert [schedules.LinearDecay(1.0, 0.0, 2)(k) for k in (0, 1, 2, 3)] == [1.0, 0.5, 0.0, 0.0]
    assert [schedules.PegasosSchedule(0.25)(k) for k in (0, 1)] == [4.0, 2.0]
    assert schedules.Optimal(0.01, first_slope=2.0)(3) == pytest.approx(1 / (0.01 * (3 + 200 / 10**0.5)))
    assert repr(schedules.Exponential(0.5, 0.9, 0.1)) == "Exponential(0.5, 0.9, 0.1)"


def test_the_rate_falls_when_patience_ends():
    falling = schedules.ReduceOnPlateau(0.8, factor=0.5, patience=2)
    assert [falling.watch(s) for s in (3.0, 2.0, 2.5, 2.5, 2.5, 1.0, 1.5, 1.5, 1.5)] == [
        0.8,
        0.8,
        0.8,
        0.8,
        0.4,
        0.4,
        0.4,
        0.4,
        0.2,
    ]
    assert falling(7) == 0.2


@pytest.mark.parametrize(
    "make",
    [
        lambda: schedules.Constant(0.0),
        lambda: schedules.InverseDecay(-1.0),
        lambda: schedules.LinearDecay(1.0, -0.1, 3),
        lambda: schedules.LinearDecay(1.0, 0.1, 0),
        lambda: schedules.VisitDecay(1.0, -0.1),
        lambda: schedules.VisitDecay(1.0, 1.0, -1.0),
        lambda: schedules.Exponential(1.0, 1.1, floor=0.1),
        lambda: schedules.Exponential(1.0, 0.9, floor=-0.1),
        lambda: schedules.PegasosSchedule(0.0),
    ],
)
def test_rates_that_are_none_are_named(make):
    with pytest.raises(ValueError, match="must be above 0|needs"):
        make()


def test_a_rate_that_does_not_fall_may_have_a_floor():
    stays = schedules.Exponential(0.5, 1.0, floor=0.1)
    assert [stays(k) for k in (0, 7)] == [0.5, 0.5]
    assert schedules.Exponential(0.5, 2.0)(3) == 4.0  # without a floor it may even rise
