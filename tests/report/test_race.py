"""The race: the strong first, survivors on more rows, settings last; stopped at any moment it knows something."""

import time
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from gnomon.report import compare, menu, race
from gnomon.report.clock import Clock, OutOfTimeError
from gnomon.report.entries import Entry, rank
from gnomon.report.menu import STRONG, Candidate, candidates
from gnomon.report.snippet import snippet
from gnomon.report.stacking import combine, learn_weights, other_folds
from gnomon.report.tasks import pose


def two_moons(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n) > 0, "in", "out")
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})


@pytest.fixture
def small_looks(monkeypatch):
    """First looks at tables that tests can afford."""
    monkeypatch.setattr(race, "LOOKS", (40, 80))


def test_looks_come_first_and_only_survivors_are_measured_next(small_looks):
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
    looks = [place for place, words in enumerate(seen) if " on 40 rows" in words]
    folds = [place for place, words in enumerate(seen) if "fold 1 of 5" in words and words[:6] != "always"]
    assert len(looks) == len(names) and max(looks) < min(folds)
    assert sum(" on 80 rows" in words for words in seen) == 3  # the better half
    first = [seen[place].split()[0] for place in folds[:3]]
    assert set(first) == {seen[p].split()[0] for p in range(len(seen)) if " on 80 rows" in seen[p]}
    assert {entry.name for entry in result.ranked} >= set(names)  # with time enough all are measured
    assert result.best.name in ("QuadraticDiscriminantAnalysis", "GaussianNB", "DecisionTreeClassifier")
    assert any("leading: " in words and "s left" in words for words in seen)


def test_without_a_budget_everything_is_measured_and_there_are_no_looks(small_looks):
    seen = []
    names = ["GaussianNB", "LinearDiscriminantAnalysis"]
    result = compare(two_moons(300), "y", models=names, repeats=1, watch=lambda words, *_: seen.append(words))
    assert not any(" rows" in words for words in seen)
    assert all(entry.complete for entry in result.ranked) and len(result.ranked) == 3


def test_stopped_in_the_middle_it_reports_what_it_knows(tmp_path):
    def stop(words, done, total):
        if words.startswith("LinearDiscriminantAnalysis fold 2"):
            raise KeyboardInterrupt

    names = ["GaussianNB", "LinearDiscriminantAnalysis", "LogisticRegression"]
    easy = two_moons(200).with_columns(
        y=pl.when(pl.col("a") > 0.2).then(pl.lit("in")).otherwise(pl.lit("out"))
    )
    result = compare(easy, "y", models=names, repeats=1, watch=stop)
    assert result.interrupted and result.best.name == "GaussianNB"
    assert {entry.name: entry.failure for entry in result.entries if not entry.finished} == {
        "LinearDiscriminantAnalysis": "not done before it was stopped",
        "LogisticRegression": "not done before it was stopped",
    }
    assert "2 models could not be measured before it was stopped." in repr(result)
    assert result.model.n_rows_ == 160  # the model of the first fold: no further fit is waited for
    paths = result.write(tmp_path)
    assert "It was stopped" in paths["report"].read_text()


def test_stopped_before_anything_is_known_it_stops():
    def stop(words, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(two_moons(60), "y", models=["GaussianNB"], repeats=1, watch=stop)


def test_compiling_is_not_the_models_time(monkeypatch):
    fit, late = race.Race.fit, [0.0]

    def slow_first(self, entry, rows, settings):
        late[0] += 1000.0 if len(rows) <= race.WARM_ROWS else 1.0
        return fit(self, entry, rows, settings)

    monkeypatch.setattr(race.Race, "fit", slow_first)
    monkeypatch.setattr(race, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + late[0]))
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
    assert 70 < clock.left() <= 75  # a quarter at most is kept for the end
    with pytest.raises(OutOfTimeError):
        Clock(time.monotonic() - 10, 5.0).check()


def test_fewer_folds_are_compared_on_the_same_folds():
    whole = Entry("whole", False, scores=[0.9, 0.8, 0.7, 0.6], n_folds=4)
    part = Entry("part", False, scores=[0.85, 0.75], n_folds=4)
    better = Entry("better", False, scores=[0.95, 0.86], n_folds=4)
    assert [entry.name for entry in rank([part, whole, better], 1 / 3)] == ["better", "whole", "part"]


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
    names = ["DecisionTreeClassifier", "GaussianNB", "QuadraticDiscriminantAnalysis", "LogisticRegression"]
    compare(
        two_moons(400), "y", models=names, repeats=1, time_budget=1000.0, watch=lambda w, *_: seen.append(w)
    )
    looked = [words.split()[0] for words in seen if " on 40 rows" in words]
    assert "DecisionTreeClassifier" not in looked and len(looked) == 3
    assert any(words.startswith("DecisionTreeClassifier fold 5") for words in seen)


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
