"""Closer looks at the best model: as much as there is time for, on values that tell something."""

import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from gnomon.core.threads import threads
from gnomon.report import after, drawings
from gnomon.report.clock import Clock
from gnomon.report.columns import CATEGORY, NUMBER
from gnomon.report.looks import _groups, _settings
from gnomon.report.pictures import _plane
from gnomon.report.words import settings
from gnomon.selection import calibration


def test_importances_ask_as_many_rows_as_the_time_allows(monkeypatch):
    now = [0.0]

    def score(model, frame, y):
        now[0] += 1.0
        return 0.0

    monkeypatch.setattr(after, "time", SimpleNamespace(monotonic=lambda: now[0]))
    rows = np.arange(5000)
    problem = SimpleNamespace(task=SimpleNamespace(score=score), frame=rows, y=rows)
    run = SimpleNamespace(
        fitted={3: None}, splits={3: (None, rows)}, some=lambda all_, count: all_[:count], problem=problem
    )
    with threads(1):  # a shuffle of ten columns in two folds takes 20 s with 250 rows
        found = [after._affordable(run, 10, seconds) for seconds in (19.0, 21.0, 81.0, 321.0, np.inf)]
    assert found == [(0, 0), (250, 1), (1000, 1), (2000, 2), (2000, 2)]


def test_a_combination_takes_as_long_as_its_parts():
    clock = Clock(0.0, 60.0)
    clock.note("a", 100, 2.0)
    clock.note("b", 100, 3.0)
    run = SimpleNamespace(clock=clock, problem=SimpleNamespace(frame=range(200)))
    both = SimpleNamespace(model=SimpleNamespace(estimators=[("a", None), ("b", None)]))
    assert after.last_fit(run, SimpleNamespace(name="both", candidate=both)) == pytest.approx(10.0)
    alone = SimpleNamespace(model=object())
    assert after.last_fit(run, SimpleNamespace(name="a", candidate=alone)) == pytest.approx(4.0)


def test_values_of_a_column_that_is_mostly_zero_are_not_two():
    column = pl.Series("gain", [0.0] * 900 + [float(k) for k in range(1, 101)])
    values = _settings(column, NUMBER)
    assert len(values) >= 10 and values[0] == 0.0 and values == sorted(set(values))
    even = _settings(pl.Series("x", np.arange(1000)), NUMBER)
    np.testing.assert_array_equal(even, np.quantile(np.arange(1000), np.linspace(0.02, 0.98, 12)).round())
    assert _settings(pl.Series("few", [3, 1, 2] * 30), NUMBER) == [1, 2, 3]
    assert _settings(pl.Series("kind", ["b", "a", None, "b"]), CATEGORY) == ["a", "b"]


def test_groups_of_numbers_are_thirds_with_their_ends():
    found = dict(_groups(pl.Series("x", np.arange(1, 301)), NUMBER))
    assert list(found) == ["up to 101", "above 101, up to 200", "above 200"]
    assert [int(mask.sum()) for mask in found.values()] == [100, 100, 100]
    assert _groups(pl.Series("x", [1.0] * 90 + [2, 3, 4, 5, 6]), NUMBER) == []


def test_counts_are_not_drawn_over_each_other():
    p = np.concatenate([np.linspace(0.0, 0.05, 900), np.linspace(0.2, 1.0, 100)])
    y = (np.random.default_rng(0).random(1000) < p).astype(int)
    found = calibration(y, p, strategy="quantile")
    drawn = drawings.calibrated(SimpleNamespace(calibration=found))
    shown = re.findall(r">(\d+)</text>", drawn)
    assert 2 <= shown.count("100") < len(found.counts) == 10


def test_settings_of_a_calibrated_model_are_its_own():
    assert settings({"estimator__C": 0.1}) == "C=0.1" and settings({}) == "defaults"


def test_importances_come_largest_first():
    """A model that looks at `b` alone and a little at `c`; shuffling `a` costs nothing."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=60) for name in "abc"})
    y = frame["b"].to_numpy() + 0.1 * frame["c"].to_numpy()

    def score(model, some, truth):
        told = some["b"].to_numpy() + 0.1 * some["c"].to_numpy()
        return -float(np.mean((told - truth) ** 2))

    model = SimpleNamespace(encoder_=SimpleNamespace(columns=lambda: ["a", "b", "c"]))
    halves = np.split(np.arange(60), 2)
    run = SimpleNamespace(
        problem=SimpleNamespace(task=SimpleNamespace(score=score), frame=frame, y=y),
        fitted={0: model, 1: model},
        splits={0: (halves[1], halves[0]), 1: (halves[0], halves[1])},
        some=lambda rows, count: rows[:count],
        interrupted=False,
        seed=0,
        ratio=1.0,
    )
    found = after.importance(run)
    assert list(found) == ["b", "c", "a"]
    assert found["b"].mean > 50 * found["c"].mean > 0.0 == found["a"].mean


def test_rows_of_one_two_and_three_columns_are_drawn_in_a_plane():
    X = np.array([[0.0, 5.0, 0.1], [4.0, 6.0, 0.0], [8.0, 7.5, -0.1]])
    plane, names = _plane(X[:, :2], ["x", "y"])
    assert names == ["x", "y"] and plane.tolist() == X[:, :2].tolist()
    plane, names = _plane(X[:, :1], ["x"])
    assert names == ["x", "row"] and plane.tolist() == [[0, 0], [4, 1], [8, 2]]
    plane, names = _plane(X, ["x", "y", "z"])
    assert names[0] == "first principal axis" and plane.shape == (3, 2)
    assert np.var(plane[:, 0]) > np.var(plane[:, 1])


def test_a_closer_look_has_its_share_of_the_time():
    clock = Clock(0.0, None)
    assert after._share(SimpleNamespace(clock=clock), 0.3) == 30.0
    spare = SimpleNamespace(limited=True, spare=lambda: 20.0)
    assert after._share(SimpleNamespace(clock=spare), 0.3) == pytest.approx(6.0)
