"""The race: the strong first, survivors on more rows, settings last; stopped at any moment it knows something."""

import re
import time
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from gnomon.core.threads import threads
from gnomon.report import after, compare, measuring, menu, race
from gnomon.report import clock as clock_module
from gnomon.report.clock import Clock, OutOfTimeError
from gnomon.report.entries import Entry, chosen_elsewhere, fold_interval, rank
from gnomon.report.menu import STRONG, Candidate, candidates
from gnomon.report.snippet import snippet
from gnomon.report.stacking import combine, learn_weights, other_folds
from gnomon.report.tasks import pose


def two_moons(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n) > 0, "in", "out")
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})


def straight(n):
    """A table that linear models understand."""
    return two_moons(n).with_columns(y=pl.when(pl.col("a") > 0.2).then(pl.lit("in")).otherwise(pl.lit("out")))


@pytest.fixture
def small_looks(monkeypatch):
    """First looks at tables that tests can afford."""
    monkeypatch.setattr(measuring, "LOOKS", (40, 80))
    monkeypatch.setenv("GNOMON_NUM_THREADS", "2")


def test_the_strongest_goes_first_looks_choose_among_the_others_and_the_best_is_completed(small_looks):
    seen = []
    names = [
        "GaussianNB",
        "DecisionTreeClassifier",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ]
    names += ["LogisticRegression", "LinearSVC"]
    result = compare(
        two_moons(400),
        "y",
        models=names,
        repeats=1,
        time_budget=1000.0,
        watch=lambda words, *_: seen.append(words),
    )
    steps = [" ".join(words.split(" · ")[0].split()) for words in seen if words[:6] != "always"]
    assert steps[:4] == [
        "GaussianNB is compiled",
        "GaussianNB on 40 rows",
        "GaussianNB on 80 rows",
        "GaussianNB folds 1 to 2 of 5",
    ]
    small = [step for step in steps if step.endswith("on 40 rows")]
    closer = [step.split()[0] for step in steps if step.endswith("on 80 rows")]
    assert len(small) == len(names) and len(closer) == 1 + 3  # of the five others the better three
    first = [step.split()[0] for step in steps if step.endswith("folds 1 to 2 of 5")]
    assert set(first[:4]) == set(closer) and max(steps.index(s) for s in small) < steps.index(
        f"{first[1]} folds 1 to 2 of 5"
    )
    later = next(step.split()[0] for step in steps if step.endswith("folds 3 to 4 of 5"))
    few = {e.name: np.mean(e.scores[:2]) for e in result.entries if e.name in closer and not e.tuned}
    assert later not in few or few[later] == max(few.values())  # the best is completed before the others
    assert {entry.name for entry in result.ranked} >= set(names)  # with time enough all are measured
    assert result.best.name in ("QuadraticDiscriminantAnalysis", "GaussianNB", "DecisionTreeClassifier")
    assert any("leading: " in words and "s left" in words for words in seen)
    assert any(re.match(r"\w+ settings, folds 1 to 2 of 5", words) for words in seen)
    assert seen[-1].startswith(f"{result.best.name} is looked at closely")


def test_the_number_of_threads_changes_no_score(small_looks):
    names = ["DecisionTreeClassifier", "LogisticRegression"]
    with threads(1):
        one = compare(two_moons(300), "y", models=names, repeats=1)
    with threads(3):
        three = compare(two_moons(300), "y", models=names, repeats=1)
    assert {e.name: e.scores for e in one.entries} == {e.name: e.scores for e in three.entries}
    assert one.importance == three.importance and one.curve == three.curve
    assert one.dependence == three.dependence and one.settings == three.settings


def test_where_time_is_short_models_learn_from_fewer_rows_and_it_is_said(small_looks, monkeypatch):
    monkeypatch.setattr(Clock, "guess", lambda self, name, rows: rows / 4.0)
    result = compare(
        straight(1600),
        "y",
        models=["GaussianNB", "LinearDiscriminantAnalysis"],
        repeats=1,
        time_budget=1500.0,  # two folds and the last fit of 1280 rows take 1280 s, more than 60% of it
    )
    assert result.most_rows == 640 and result.best.complete
    assert "the models of the folds learned from 640 rows each" in result.to_html()
    assert result.model.n_rows_ == 1600 and snippet(result)  # the last fit has time for all


def test_the_last_fit_takes_fewer_rows_too_where_there_is_no_time(small_looks, monkeypatch):
    monkeypatch.setattr(Clock, "guess", lambda self, name, rows: rows / 4.0)
    monkeypatch.setattr(Clock, "spare", lambda self: 10.0)
    result = compare(
        straight(1600),
        "y",
        models=["GaussianNB", "LinearDiscriminantAnalysis"],
        repeats=1,
        time_budget=1500.0,
    )
    assert result.model.n_rows_ == 640 and snippet(result) == ""
    assert "The saved model learned from 640 of the 1600 rows" in result.to_html()


def test_where_the_time_went_is_written_down():
    result = compare(two_moons(200), "y", models=["GaussianNB", "DecisionTreeClassifier"], repeats=1)
    assert {"reading", "compiling", "folds", "settings", "the last fit", "closer looks"} <= set(result.spent)
    assert sum(result.spent.values()) == pytest.approx(result.seconds, abs=0.05)
    assert "Compiling is counted as no model" in result.to_html()


def test_the_clock_takes_what_is_inside_from_what_is_around(monkeypatch):
    now = [5.0]
    monkeypatch.setattr(clock_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clock = Clock(0.0, None)
    with clock.doing("folds"):
        now[0] += 1.0
        with clock.doing("compiling"):
            now[0] += 10.0
        now[0] += 2.0
    assert clock.ledger == {"the rest": 5.0, "folds": 3.0, "compiling": 10.0}


def test_without_a_budget_everything_is_measured_and_there_are_no_looks(small_looks):
    seen = []
    names = ["GaussianNB", "LinearDiscriminantAnalysis"]
    result = compare(two_moons(300), "y", models=names, repeats=1, watch=lambda words, *_: seen.append(words))
    assert seen and not any(re.search(r"on \d+ rows", words) for words in seen)
    assert all(entry.complete for entry in result.ranked) and len(result.ranked) == 3


def test_stopped_in_the_middle_it_reports_what_it_knows(tmp_path):
    def stop(words, done, total):
        if words.startswith("LinearDiscriminantAnalysis fold"):
            raise KeyboardInterrupt

    names = ["GaussianNB", "LinearDiscriminantAnalysis", "LogisticRegression"]
    result = compare(straight(200), "y", models=names, repeats=1, watch=stop)
    assert result.interrupted and result.best.name == "GaussianNB"
    assert {entry.name: entry.failure for entry in result.entries if not entry.finished} == {
        "LinearDiscriminantAnalysis": "not done before it was stopped",
        "LogisticRegression": "not done before it was stopped",
    }
    assert "2 models could not be measured before it was stopped." in repr(result)
    assert result.model.n_rows_ == 160  # the model of the first fold: no further fit is waited for
    paths = result.write(tmp_path)
    assert "It was stopped" in paths["report"].read_text()


def test_stopped_in_the_last_fit_the_model_of_a_fold_is_kept(monkeypatch, tmp_path):
    fit = race.Race.fit

    def stop(self, entry, rows, settings, seconds=None):
        if seconds == np.inf:
            raise KeyboardInterrupt
        return fit(self, entry, rows, settings, seconds)

    monkeypatch.setattr(race.Race, "fit", stop)
    result = compare(two_moons(200), "y", models=["GaussianNB", "DecisionTreeClassifier"], repeats=1)
    assert result.interrupted and result.model.n_rows_ == 160 and not result.importance
    assert "one fold" in result.write(tmp_path)["report"].read_text()


def test_stopped_while_it_is_looked_at_closely_the_report_goes_without(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(after, "importance", stop)
    result = compare(straight(200), "y", models=["GaussianNB"], repeats=1)
    assert result.interrupted and result.model.n_rows_ == 200 and not result.importance and not result.curve
    assert "fitted again, settings included, on all 200 rows" in result.to_html()


def test_a_fit_that_runs_is_asked_to_stop():
    problem = pose(two_moons(300), "y")
    run = race.Race(problem, 3, 1, 0, Clock(time.monotonic(), None), None)
    chosen = candidates("classification", ["GradientBoostingClassifier"])[1]
    entry = Entry(chosen.name, False, chosen, n_folds=3)
    asked = run.stop
    run.halt()
    run.stop = asked  # as a fit that had begun before the stop sees it
    assert run.fit(entry, np.arange(300), {}).model_.n_iter_ == 1
    with pytest.raises(OutOfTimeError):
        run.clock.check()


def a_race(monkeypatch, table=None, budget=100.0):
    """A race of which only the test moves the clock, and an entry that learns at once."""
    now = [0.0]
    for module in (clock_module, measuring, after):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    problem = pose(two_moons(300) if table is None else table, "y")
    run = race.Race(problem, 3, 1, 0, Clock(0.0, budget), None)
    chosen = candidates("classification", ["GaussianNB"])[1]
    return run, Entry(chosen.name, False, chosen, n_folds=3), now


@pytest.mark.parametrize(("gone", "left"), [(30.0, 70.0), (99.0, 1.0), (99.99, 0.05), (140.0, 0.05)])
def test_a_fit_may_take_the_time_that_is_left_and_a_moment_when_it_is_over(monkeypatch, gone, left):
    run, entry, now = a_race(monkeypatch)
    asked = []
    monkeypatch.setattr(measuring, "stop_in", lambda model, seconds, stop: asked.append(seconds) or model)
    now[0] = gone
    run.fit(entry, np.arange(300), {})
    run.fit(entry, np.arange(300), {}, seconds=7.0)
    entry.baseline = True
    run.fit(entry, np.arange(300), {})
    assert asked == pytest.approx([left, 7.0, np.inf])


def test_a_look_notes_the_fit_and_the_answers_to_all_rows_of_the_fold(monkeypatch):
    monkeypatch.setattr(measuring, "LOOKS", (40, 50))
    run, entry, now = a_race(monkeypatch, straight(300))
    run.clock.note(entry.name, 1, 0.0)  # it is compiled
    fit, score = run.fit, run.problem.task.score

    def slow_fit(*given):
        now[0] += 8.0
        return fit(*given)

    def slow_score(*given):
        now[0] += 3.0
        return score(*given)

    monkeypatch.setattr(run, "fit", slow_fit)
    run.problem = run.problem._replace(task=run.problem.task._replace(score=slow_score))
    run.look(entry, 0)
    assert run.clock.spent[entry.name][-1] == (40, 8.0 + 3.0 * 100 / 50)  # 50 of 100 rows were asked
    assert [count for count, _ in entry.looks] == [40] and 0.8 < entry.looked <= 1.0


def test_few_rows_are_drawn_with_a_row_of_every_class(monkeypatch):
    table = two_moons(300).with_columns(y=pl.Series(["a"] * 296 + ["b", "c"] * 2))
    run, _, _ = a_race(monkeypatch, table)
    rows = np.arange(50, 300)
    for count in (1, 10, 249):
        kept = run.some(rows, count)
        assert count <= len(kept) <= count + 2 and (np.diff(kept) > 0).all() and kept.min() >= 50
        assert set(run.problem.y[kept]) == {"a", "b", "c"}
        assert kept.tolist() == run.some(rows, count).tolist()
    assert 100 < run.some(rows, 100).mean() < 250  # drawn from everywhere
    assert run.some(rows, 250) is rows and run.some(rows, 1000) is rows
    run.problem = run.problem._replace(time="a")
    assert run.some(rows, 10).tolist() == list(range(290, 300))  # the latest
    run.problem = run.problem._replace(time=None, group=np.repeat(np.arange(30), 10))
    assert run.some(rows, 10).tolist() == list(range(50, 60))


def test_a_calibration_needs_three_rows_of_every_class_in_every_fold(monkeypatch):
    for rare, can in ((3, False), (4, False), (5, True), (150, True)):  # three folds take two of five
        table = two_moons(300).with_columns(y=pl.Series(["a"] * (300 - rare) + ["b"] * rare))
        run, _, _ = a_race(monkeypatch, table)
        assert run.can_calibrate() == can


def test_the_leader_has_the_better_mean_of_the_folds_that_both_have(monkeypatch):
    run, entry, _ = a_race(monkeypatch)
    run.clock.note("GaussianNB", 150, 4.0)
    entry.scores = [0.7, 0.7, 0.1]
    run._maybe_leads(entry, {0: "a", 2: "c"})
    assert run.leader is entry and run.clock.reserve == 3.0 + 3.0 + 2 * 8.0  # the page, the looks, two fits
    other = Entry("GaussianNB", True, scores=[0.7, 0.6])
    run._maybe_leads(other, {0: "d"})
    assert run.leader is entry and run.fitted == {0: "a", 2: "c"}
    run._maybe_leads(entry, {1: "b"})
    assert run.fitted == {0: "a", 1: "b", 2: "c"}
    other.scores[1] = 0.8
    run._maybe_leads(other, {0: "d"})
    assert run.leader is other and run.fitted == {0: "d"} and run.clock.reserve == 6.0


def test_two_folds_are_tried_in_any_time_and_more_where_they_end_in_time(monkeypatch):
    run, entry, now = a_race(monkeypatch)
    run.clock.note(entry.name, 200, 30.0)
    with threads(1):
        entry.scores = [0.5, 0.5]
        found = []
        for seconds in (69.0, 71.0):
            now[0] = seconds
            found.append(run._in_time(entry, 3))
        assert found == [True, False] and run._in_time(Entry("GaussianNB", False, scores=[0.5]), 3)
    now[0] = 101.0
    assert run._in_time(Entry("always", True), 3)
    with pytest.raises(OutOfTimeError):
        run._in_time(entry, 3)


@pytest.mark.parametrize(
    ("found", "kept"),
    [([0.8, 0.8, 0.8], True), ([0.7, 0.7, 0.7], True), ([0.9, 0.8, 0.3], False), ([0.9, 0.9], False)],
)
def test_settings_are_kept_where_they_are_no_worse_in_all_folds(monkeypatch, found, kept):
    run, entry, _ = a_race(monkeypatch)
    entry.scores, entry.seconds, run.leader, run.fitted = [0.7, 0.7, 0.7], 1.0, entry, {0: "before"}

    def measure(better, settings):
        assert settings is None
        better.scores, better.seconds, better.chosen = list(found), 5.0, [{"k": 1}] * 3
        run.leader, run.fitted = better, {0: "after"}

    monkeypatch.setattr(run, "measure", measure)
    run._tune(entry)
    assert entry.searched and entry.tuned == kept and entry.seconds == 6.0 and run.leader is entry
    one, other = (found, [0.7, 0.7, 0.7]) if kept else ([0.7, 0.7, 0.7], found)
    assert (entry.scores, entry.not_kept) == (one, other) and len(entry.chosen) == 3 * kept
    assert run.fitted == {0: "after" if kept else "before"}


@pytest.mark.parametrize(("seconds", "rows"), [(0.001, 1000), (3.0, 250), (1000.0, 125)])
def test_rows_are_halved_until_the_first_model_fits_or_looks_are_as_large(monkeypatch, seconds, rows):
    """Two folds and the last fit in six tenths of the time; twice the rows of the last look are the fewest."""
    monkeypatch.setattr(measuring, "LOOKS", (40, 80))
    run, entry, _ = a_race(monkeypatch, two_moons(1500))
    run.clock.note(
        entry.name, 100, seconds
    )  # of 3 s, 500 rows take 15 s: four of them just do not end in 60 s
    run._afford(entry)
    assert run.rows == rows and run.most_rows == (None if rows == 1000 else rows)
    assert all(len(train) == rows and len(test) == 500 for train, test in run.splits)


def test_who_was_not_measured_is_told_what_a_first_look_gave(monkeypatch):
    run, entry, _ = a_race(monkeypatch)
    entry.scores = [0.7, 0.8]
    looked = Entry("looked", False, looks=[(40, 0.5), (80, 0.625)], scores=[0.5])
    failed, nothing = Entry("failed", False, failure="it fell"), Entry("nothing", False)
    run.entries = [entry, looked, failed, nothing]
    run._close()
    assert [e.failure for e in run.entries] == [
        "",
        "not done within the time budget; accuracy 0.625 at a first look with 80 rows",
        "it fell",
        "not done within the time budget",
    ]
    run.entries = [failed, Entry("new", False)]
    with pytest.raises(race.NothingFinishedError, match=r"failed: it fell; new: not done within the time"):
        run._close()


def test_a_learning_curve_ends_with_the_scores_of_the_folds(monkeypatch):
    run, entry, _ = a_race(monkeypatch)
    run.measure(entry, {})
    found = after.learning_curve(run, entry, {}, 10.0)
    assert list(found) == [20, 50, 100, 200] and found[200] == entry.scores
    run.clock.spent = {entry.name: [(100, 4.0)]}  # three folds of 100 rows take 12 s
    assert after.learning_curve(run, entry, {}, 11.9) == {}
    assert list(after.learning_curve(run, entry, {}, 12.0)) == [20, 50, 100, 200]


@pytest.mark.parametrize("why", ["stopped", "in time", "few folds", "a baseline", "few rows"])
def test_no_learning_curve_where_it_would_mislead(monkeypatch, why):
    table = two_moons(297 if why == "few rows" else 300).with_row_index("t")
    run, entry, _ = a_race(monkeypatch, table)
    run.measure(entry, {})
    if why == "stopped":
        run.halt()
    elif why == "in time":
        run.problem = run.problem._replace(time="t")
    elif why == "few folds":
        entry.scores.pop()
    elif why == "a baseline":
        entry.baseline = True
    assert after.learning_curve(run, entry, {}, 10.0) == {}


def test_stopped_before_anything_is_known_it_stops():
    def stop(words, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(two_moons(60), "y", models=["GaussianNB"], repeats=1, watch=stop)


def test_compiling_is_not_the_models_time(monkeypatch):
    fit, late = race.Race.fit, [0.0]

    def slow_first(self, entry, rows, settings, seconds=None):
        late[0] += 1000.0 if len(rows) <= measuring.WARM_ROWS else 1.0
        return fit(self, entry, rows, settings, seconds)

    monkeypatch.setattr(race.Race, "fit", slow_first)
    monkeypatch.setattr(measuring, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + late[0]))
    result = compare(two_moons(300), "y", models=["GaussianNB"], repeats=1)
    assert late[0] > 1000 and 5 <= next(e for e in result.entries if e.name == "GaussianNB").seconds < 1000


def test_settings_are_chosen_where_they_help():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 300)
    table = pl.DataFrame({"x": x, "y": np.sin(2 * x) + 0.1 * rng.normal(size=300)})
    result = compare(table, "y", models=["DecisionTreeRegressor"], repeats=1)
    assert result.best.searched and result.settings == {"max_depth": 8}
    assert result.model.model_.max_depth == 8


def test_a_candidate_stays_as_it_was():
    table = two_moons(120)
    chosen = candidates("classification", ["DecisionTreeClassifier"])[1]
    before = repr(chosen.model.get_params())
    problem = pose(table, "y")
    run = race.Race(problem, 3, 1, 0, Clock(time.monotonic(), None), None)
    run.run([chosen])
    assert run.entries[0].searched and repr(chosen.model.get_params()) == before


def test_the_clock_guesses_from_what_fits_took():
    clock = Clock(time.monotonic(), 100.0)
    clock.note("m", 1000, 1.0)
    clock.note("m", 4000, 2.0)
    assert clock.guess("m", 16_000) == pytest.approx(6.0)  # a second for each 3000 rows more
    clock.note("n", 1000, 1.0)
    clock.note("n", 2000, 4.0)
    assert clock.guess("n", 4000) == pytest.approx(16.0)  # the square
    clock.compiled(7.0)
    assert clock.guess("other", 10) == 7.0
    clock.reserve = 1000.0
    assert 72 < clock.left() <= 77  # three tenths at most are kept for the end; compiling is given back
    clock.compiled(1000.0)
    assert 85 < clock.left() <= 90  # up to a limit
    with pytest.raises(OutOfTimeError):
        Clock(time.monotonic() - 10, 5.0).check()


def test_fewer_folds_are_compared_on_the_same_folds():
    whole = Entry("whole", False, scores=[0.9, 0.8, 0.7, 0.6], n_folds=4)
    part = Entry("part", False, scores=[0.85, 0.75], n_folds=4)
    better = Entry("better", False, scores=[0.95, 0.86], n_folds=4)
    assert [entry.name for entry in rank([part, whole, better], 1 / 3)] == ["better", "whole", "part"]


def test_an_interval_has_the_freedom_of_one_drawing():
    scores = [0.9, 0.8, 0.85, 0.95, 0.75] * 2
    found = fold_interval(scores, 0.25, per_draw=5)
    half = 2.7764451051977987 * np.sqrt((1 / 10 + 0.25) * np.var(scores, ddof=1))  # t with 4 degrees
    assert found.mean == pytest.approx(0.85) and found.high - found.mean == pytest.approx(half)
    assert fold_interval(scores, 0.25).high < found.high


def test_a_perfect_share_of_rows_is_not_certain():
    low = 1.96**2 / (50 + 1.96**2)  # Wilson's end for 0 wrong of 50, a third of the rows
    entry = Entry("m", False, scores=[1.0] * 5, n_folds=5, tested=np.ones(150, dtype=bool))
    (found,) = rank([entry], 0.25, 5, rates=True)
    assert found.interval.low == pytest.approx(1 - low, abs=1e-4) and found.interval.mean == 1.0
    (found,) = rank([entry], 0.25, 5)
    assert found.interval.low == 1.0  # an error may well be 0


def test_the_interval_of_the_best_covers_choosing_it():
    lucky = Entry("lucky", False, scores=[0.9, 0.78, 0.79, 0.8], n_folds=4)
    steady = Entry("steady", False, scores=[0.7, 0.82, 0.81, 0.8], n_folds=4)
    first, _ = rank([lucky, steady], 1 / 3, 4)
    chosen = [0.7, 0.78, 0.79, 0.8]  # without fold 1 steady is better, without any other lucky
    np.testing.assert_array_equal(chosen_elsewhere(np.array([lucky.scores, steady.scores]), 4), chosen)
    elsewhere, own = fold_interval(chosen, 1 / 3, 4), fold_interval(lucky.scores, 1 / 3, 4)
    assert elsewhere.low < own.low
    assert first.name == "lucky" and first.interval.mean == pytest.approx(0.8175)
    assert first.interval.low == pytest.approx(elsewhere.low)
    alone = rank([Entry("lucky", False, scores=list(lucky.scores), n_folds=4)], 1 / 3, 4)[0]
    assert alone.interval == own  # nothing was chosen
    twice = Entry("lucky", False, scores=list(lucky.scores), n_folds=4, not_kept=list(steady.scores))
    assert rank([twice], 1 / 3, 4)[0].interval == first.interval  # a search is a choice too


def test_the_interval_of_the_best_of_many_equals_covers_new_rows():
    rng, covered, draws, rows = np.random.default_rng(0), 0, 100, 200
    for _ in range(draws):
        right = rng.random((8, 5, rows // 5)) < 0.8  # eight models that are right in four of five rows
        entries = [
            Entry(str(k), False, scores=list(one.mean(axis=1)), n_folds=5, tested=np.ones(rows, dtype=bool))
            for k, one in enumerate(right)
        ]
        best = rank(entries, 0.25, 5, rates=True)[0]
        covered += best.interval.low <= rng.binomial(rows // 2, 0.8) / (rows // 2) <= best.interval.high
    assert covered >= 0.9 * draws  # without looking at how the best was chosen it is 0.82


def test_folds_are_chosen_within_one_drawing():
    scores = np.array([[0.9, 0.5, 0.1, 0.2], [0.6, 0.7, 0.8, 0.9]])
    np.testing.assert_array_equal(chosen_elsewhere(scores, 2), [0.6, 0.5, 0.8, 0.9])


def test_strong_models_go_first():
    names = [candidate.name for candidate in candidates("classification", n_rows=50_000)]
    assert names[1] == STRONG[0] and "SVC" not in names
    assert all(isinstance(c, Candidate) for c in candidates("regression"))


# Combinations


def test_weights_are_those_of_the_best_mean():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(learn_weights(np.stack([y + 1, y - 1]), y), [0.5, 0.5])
    np.testing.assert_array_equal(learn_weights(np.stack([y, y - 1]), y), [1.0, 0.0])


def test_a_combination_wins_where_members_complete_each_other(tmp_path):
    import gnomon

    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 6))
    y = (
        3 * x[:, 0]
        + 2 * x[:, 1]
        - x[:, 2]
        + 3.0 * (x[:, 3] > 0) * (x[:, 4] > 0)
        + 0.3 * rng.normal(size=1500)
    )
    table = pl.DataFrame(x, schema=[f"x{j}" for j in range(6)]).with_columns(y=y)
    result = compare(table, "y", models=["LinearRegression", "DecisionTreeRegressor"], repeats=1)
    assert result.best.name.startswith("combination of ")
    assert result.best.interval.mean > result.ranked[1].interval.mean
    path = result.write(tmp_path)["model"]
    np.testing.assert_array_equal(gnomon.load(path).predict(table), result.model.predict(table))


def test_small_tables_drawn_twice_have_combinations_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 6))
    y = 2 * x[:, 0] + 4.0 * (x[:, 3] > 0) * (x[:, 4] > 0) + 0.3 * rng.normal(size=900)
    table = pl.DataFrame(x, schema=[f"x{j}" for j in range(6)]).with_columns(y=y)
    result = compare(table, "y", models=["LinearRegression", "DecisionTreeRegressor"])
    assert result.repeats == 2 and result.best.name.startswith("combination of ")
    assert len(result.best.scores) == 10 and result.importance and result.dependence


def test_under_time_weights_come_from_the_past_alone():
    assert [other_folds(k, 4, in_time=True) for k in range(3)] == [[], [0], [0, 1]]
    assert [other_folds(k, 2, in_time=False) for k in range(4)] == [[1], [0], [3], [2]]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1800, 4))
    y = 2 * x[:, 0] + 4.0 * (x[:, 1] > 0) * (x[:, 2] > 0) + 1.5 * rng.normal(size=1800)
    table = pl.DataFrame(x, schema=list("abcd")).with_columns(y=y, t=pl.Series(np.arange(1800) * 2.5))
    run = race.Race(pose(table, "y", time="t"), 5, 1, 0, Clock(time.monotonic(), None), None)
    run.run(candidates("regression", ["LinearRegression", "DecisionTreeRegressor"])[1:])
    entry = combine(run)
    assert entry is not None and entry.complete
    first = run.splits[0][1]
    said = np.mean([member.by_fold[0] for member in run.entries], axis=0)  # no past: equal weights
    np.testing.assert_allclose(entry.told.said[first], said)


def test_a_model_that_loads_slowly_waits_until_others_were_looked_at(small_looks, monkeypatch):
    monkeypatch.setitem(menu.SLOW_START, "trees", 500.0)
    seen = []
    names = ["GaussianNB", "DecisionTreeClassifier", "QuadraticDiscriminantAnalysis", "LogisticRegression"]
    compare(
        two_moons(400), "y", models=names, repeats=1, time_budget=1000.0, watch=lambda w, *_: seen.append(w)
    )
    looked = [words.split()[0] for words in seen if " on 40 rows" in words]
    assert "DecisionTreeClassifier" not in looked and len(looked) == 3
    assert any(words.startswith("DecisionTreeClassifier fold 5 of 5") for words in seen)


def test_a_fit_that_the_time_cuts_short_is_said_to_be_so(monkeypatch):
    left = Clock.left
    started = []

    def over_after_the_first_fit_began(self):
        return left(self) if len(started) < 2 else 0.0

    fit = race.Race.fit

    def begin(self, entry, rows, settings, seconds=None):
        if not entry.baseline:
            started.append(len(rows))
        return fit(self, entry, rows, settings, seconds)

    monkeypatch.setenv("GNOMON_NUM_THREADS", "2")
    monkeypatch.setattr(Clock, "left", over_after_the_first_fit_began)
    monkeypatch.setattr(race.Race, "fit", begin)
    result = compare(straight(200), "y", models=["GaussianNB"], repeats=1, time_budget=1000.0)
    entry = next(e for e in result.entries if not e.baseline)
    assert len(entry.scores) == 2 and entry.warned == [measuring.CUT_SHORT]
    assert "1 model did not get through all folds" in repr(result)


def test_only_the_baseline_was_measured_and_the_headline_says_so():
    result = compare(two_moons(200), "y", models=["GaussianNB"], repeats=1, time_budget=1e-6)
    assert repr(result).startswith(
        "No model could be measured, only the baseline (always the most frequent class)"
    )
    assert "Give it more time: --time-budget." in repr(result) and "columns say little" not in repr(result)


def test_scores_without_probabilities_are_calibrated(tmp_path):
    path = tmp_path / "t.csv"
    table = two_moons(200).with_columns(
        y=pl.when(pl.col("a") + 0.3 * pl.col("b") > 0.2).then(pl.lit("in")).otherwise(pl.lit("out"))
    )
    table.write_csv(path)
    result = compare(path, "y", models=["LinearSVC"], metric="log_loss", repeats=1)
    assert result.best.name == "LinearSVC" and result.best.told.probabilities
    assert "Where to decide" in result.to_html()
    np.testing.assert_allclose(result.model.predict_proba(table).sum(axis=1), 1.0)
    space = {}
    exec(snippet(result), space)
    np.testing.assert_array_equal(space["model"].predict_proba(table), result.model.predict_proba(table))
