"""Groups stay together, time goes one way, excluded columns are not seen; what was found can be served."""

import datetime

import numpy as np
import polars as pl
import pytest

import gnomon as library
from gnomon.core.errors import DataError
from gnomon.report import compare, read_table
from gnomon.report.columns import QuestionError
from gnomon.report.looks import decide, errors_by_group
from gnomon.report.serving import explain_row, predict_file, read_for
from gnomon.report.snippet import snippet
from gnomon.report.tasks import pose


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pl.DataFrame(
        {
            "x": x,
            "who": [f"p{i % 12}" for i in range(n)],
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(k)) for k in rng.permutation(n)],
            "y": 2 * x + 0.1 * rng.normal(size=n),
        }
    )


def test_rows_of_one_group_are_never_on_both_sides():
    problem = pose(table(), "y", group="who")
    assert (
        "who" not in problem.frame.columns
        and "All rows of one who are in the same fold (12 groups)" in str(problem.said)
    )
    for train, test in problem.splitter(4, 0).split(problem.frame, problem.y, problem.groups()):
        assert not set(problem.group[train]) & set(problem.group[test])


def test_rules_are_looked_for_by_another_command():
    with pytest.raises(QuestionError, match="rules are not compared; `gnomon compare FILE --task rules`"):
        pose(table(), task="rules")


def test_time_goes_one_way():
    problem = pose(table(), "y", time="day")
    days = problem.frame["day"].to_numpy()
    for train, test in problem.splitter(4, 0).split(problem.frame):
        assert days[train].max() < days[test].min()
    result = compare(table(), "y", models=["LinearRegression"], time_column="day")
    assert result.best.tested.sum() < len(table()) and "steps through time" in result.to_html()


def test_excluded_columns_are_not_seen():
    problem = pose(table(), "y", exclude=["day", "who"])
    assert problem.frame.columns == ["x"]
    with pytest.raises(QuestionError, match="no column 'dya' to be the one to exclude. Did you mean 'day'"):
        pose(table(), "y", exclude=["dya"])


def test_an_uneven_target_is_not_won_by_the_baseline(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = np.where(x + rng.normal(size=600) > 2.3, "ill", "well")
    pl.DataFrame({"x": x, "z": rng.normal(size=600), "y": y}).write_csv(tmp_path / "rare.csv")
    told = gnomon("compare", "rare.csv", "--target", "y", "--models", "GaussianNB", "--json").json()
    assert told["metric"] == "AUC" and told["best"]["model"] == "GaussianNB"
    assert set(told["ranking"][0]["beside"]) == {"accuracy", "balanced accuracy", "log loss"}
    page = (tmp_path / "gnomon-report" / "report.html").read_text()
    assert "Where to decide" in page and "--threshold" in page and len(page) < 2_000_000
    few = gnomon("predict", "gnomon-report/best.gnomon", "rare.csv", "--json").json()["table"]["predicted y"]
    many = gnomon("predict", "gnomon-report/best.gnomon", "rare.csv", "--threshold", "0.05", "--json").json()
    assert many["table"]["predicted y"].count("ill") > few.count("ill")


def test_thresholds_and_errors_by_group_by_hand():
    rng = np.random.default_rng(0)
    x, side = rng.normal(size=300), rng.choice(["l", "r"], 300)
    noise = np.where(side == "r", 3.0, 0.1)
    data = pl.DataFrame({"x": x, "side": side, "y": np.where(x + noise * rng.normal(size=300) > 0, 1, 0)})
    result = compare(data, "y", models=["LogisticRegression"], repeats=1)
    found = decide(result.problem, result.best)
    p = result.best.told.scores[:, list(np.unique(result.problem.y)).index(found.positive)]
    threshold, value = found.best["accuracy"]
    assert value == np.mean((p >= threshold) == (result.problem.y == found.positive))
    groups = {g.value: g for g in errors_by_group(result.problem, result.best, ["side"])}
    mine = side == "r"
    assert groups["r"].rows == mine.sum() and groups["r"].worse and not groups["l"].worse
    assert groups["r"].error.mean == np.mean(result.best.answers[mine] != result.problem.y[mine])


def test_the_snippet_gives_the_winner_again(tmp_path):
    path = tmp_path / "t.csv"
    table().write_csv(path)
    result = compare(path, "y", models=["Ridge", "DecisionTreeRegressor"], exclude=["who"], repeats=1)
    space = {}
    exec(snippet(result), space)
    data = read_table(path)
    np.testing.assert_array_equal(space["model"].predict(data), result.model.predict(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "y", "exclude": ["y"]}, "'y' cannot be the target and excluded"),
        ({"task": "cluster", "group": "who"}, "for tables with a --target"),
        ({"task": "cluster", "time": "day"}, "for tables with a --target"),
        ({}, "name the column to predict with --target, or a task"),
        ({"task": "clustr"}, "there is no task 'clustr'. Did you mean 'cluster'"),
        ({"target": "y", "task": "cluster"}, "has no target; leave out --target y"),
        ({"task": "regression"}, "needs the column to predict"),
        ({"task": "classification"}, "needs the column to predict"),
        ({"target": "z"}, "no column 'z' to be the target"),
        ({"target": "y", "time": "z"}, "no column 'z' to be the time"),
        ({"task": "sequence", "sequence": "z"}, "no column 'z' to be the sequence"),
    ],
)
def test_questions_that_cannot_be_posed(options, message):
    with pytest.raises(QuestionError, match=message):
        pose(table(), **options)


def test_a_sequence_needs_four_parts_and_a_density_whole_rows():
    frame = table().select("x").with_columns(part=pl.Series(np.arange(len(table())) % 4))
    assert pose(frame, task="sequence", sequence="part").said[-1].startswith("The rows of one part form one")
    whole = pose(frame.select("x"), task="sequence")
    assert f"cut into {min(10, len(frame) // 5)} parts" in whole.said[0] and whole.sequence == "(part)"
    with pytest.raises(DataError, match="fewer than four sequences"):
        pose(frame.with_columns(pl.col("part") % 3), task="sequence", sequence="part")
    holes = frame.select(pl.when(pl.col("part") > 0).then("x"), z=pl.col("x") * 2)
    density = pose(holes, task="density")
    left = int((frame["part"] == 0).sum())
    assert density.said[0] == f"{left} rows with missing values were left out."
    assert len(density.frame) == len(frame) - left and density.y is None
    assert not any("left out" in one for one in pose(frame.select("x"), task="density").said)


def test_cells_that_are_missing_do_not_change_what_a_column_is(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "whole,real,truth,day,code,word,half,empty\n"
        "1,0.5,true,2024-01-02,0123,a,1,\n"
        ",,,,,,,\n"
        "-3,2e3,FALSE,2024-02-03,4567,b,unknown,\n"
        "4,,True,,8901,c,2,\n"
    )
    data = read_table(path)
    kinds = [pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.String, pl.String, pl.Int64, pl.String]
    assert data.dtypes == kinds and data["half"].to_list() == [1, None, None, 2]
    assert data["whole"].to_list() == [1, None, -3, 4] and data["truth"].to_list() == [
        True,
        None,
        False,
        True,
    ]
    path.write_text("x\n1\n2\nmany\n\nfew\n4\n")
    with pytest.raises(DataError, match=r"mixes numbers and words: row 3 has 'many', and 1 more row has"):
        read_table(path)
    path.write_text("x\n1\ninf\n")
    with pytest.raises(DataError, match="row 2: 'inf' is not a finite number"):
        read_table(path)


def test_intervals_of_a_winner_cover_as_promised():
    result = compare(table(400), "y", models=["DecisionTreeRegressor"], repeats=1, exclude=["who", "day"])
    new = table(400, seed=1)
    low, high = result.model.predict_interval(new, level=0.9)
    y = new["y"].to_numpy()
    assert 0.84 < np.mean((low <= y) & (y <= high)) < 0.96


def test_large_files_are_predicted_in_parts_and_cells_stay_as_they_were(tmp_path):
    data = pl.DataFrame(
        {"x": ["1,50", "2,25", "0,75", "1.000,00"] * 10, "note": ['a "b"', "c, d", "z", "e"] * 10}
    )
    data = data.with_columns(y=pl.Series(np.arange(40.0) % 4))
    result = compare(data, "y", task="regression", models=["LinearRegression"], repeats=1, folds=2)
    data.drop("y").write_csv(tmp_path / "new.csv", separator=";")
    rows, _ = predict_file(result.model, tmp_path / "new.csv", tmp_path / "said.csv", chunk=7)
    said = pl.read_csv(tmp_path / "said.csv", infer_schema=False)
    assert rows == 40 and said["x"].to_list() == data["x"].to_list()
    np.testing.assert_allclose(
        said["predicted y"].cast(float).to_numpy(), result.model.predict(data), rtol=1e-12
    )
    (tmp_path / "bad.csv").write_text("x;note\n" + "1,5;a\n" * 9 + "seven;b\n")
    with pytest.raises(DataError, match="rows 8 to 10: column 'x', row 3: 'seven'"):
        predict_file(result.model, tmp_path / "bad.csv", tmp_path / "other.csv", chunk=7)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "new.csv", "said.csv"]


def test_predictions_go_to_parquet_in_parts_with_the_types_of_whole_columns(tmp_path):
    codes = ["01", "02", "A1", "B7"] * 10
    data = pl.DataFrame({"code": codes, "x": np.arange(40.0) % 5, "k": list(range(40))})
    data = data.with_columns(y=pl.Series([float(len(c)) + 10 * (c == "01") for c in codes]))
    result = compare(
        data, "y", task="regression", models=["LinearRegression"], repeats=1, folds=2, exclude=["k"]
    )
    new = data.drop("y").sort("code")  # the first parts have codes that look like numbers
    new = new.with_columns(
        note=pl.Series([None] * 20 + ["ok"] * 20), void=pl.Series([None] * 40, dtype=pl.String)
    )
    new.write_csv(tmp_path / "new.csv")
    rows, remarks = predict_file(result.model, tmp_path / "new.csv", tmp_path / "said.parquet", chunk=7)
    said = pl.read_parquet(tmp_path / "said.parquet")
    assert rows == 40 and remarks == []
    assert said.schema["k"] == pl.Int64 and said.schema["x"] == pl.Float64
    assert all(said[name].to_list() == new[name].to_list() for name in ("code", "note", "void"))
    np.testing.assert_allclose(said["predicted y"].to_numpy(), result.model.predict(new), rtol=1e-12)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv", "said.parquet"]


def test_categories_that_look_like_numbers_are_read_as_words(tmp_path):
    data = pl.DataFrame({"code": ["01", "02", "A1"] * 10, "y": [5.0, 1.0, 2.0] * 10})
    data = data.with_columns(x=pl.Series(np.arange(30.0) % 7))
    model = compare(data, "y", task="regression", models=["LinearRegression"], repeats=1, folds=2).model
    pl.DataFrame({"code": ["01"], "x": [1.0]}).write_csv(tmp_path / "one.csv")
    one = read_for(model, tmp_path / "one.csv")
    assert one["code"].to_list() == ["01"] and model.predict(one)[0] == pytest.approx(5.0)


def test_one_row_taken_apart_adds_up(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    data = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": 3 * x[:, 0] - x[:, 1]})
    data.write_csv(tmp_path / "t.csv")
    gnomon("fit", "LinearRegression", "t.csv", "--target", "y")
    found = explain_row(library.load(tmp_path / "model.gnomon"), data, 5)
    assert found.usual + sum(part.moves for part in found.parts) == pytest.approx(found.value)
    assert found.value == pytest.approx(data["y"][4])
    told = gnomon("explain", "model.gnomon", "t.csv", "--row", "5", "--json").json()
    assert {part["column"]: part["moves"] for part in told["parts"]} == {
        p.column: p.moves for p in found.parts
    }
    assert gnomon("explain", "model.gnomon", "t.csv", "--row", "900").code == 2
    assert gnomon("explain", "model.gnomon", "--row", "1").code == 2
