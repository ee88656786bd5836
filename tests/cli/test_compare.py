"""A comparison is honest: nothing leaks, the intervals are the published ones, the same seed gives the same."""

import numpy as np
import polars as pl
import pytest

import gnomon as library
from gnomon.report import compare
from gnomon.report.columns import QuestionError, describe
from gnomon.report.encoder import TableEncoder, TableModel
from gnomon.report.menu import candidates, families, find_model
from gnomon.report.tasks import pose

QUICK = ["--models", "GaussianNB,LinearDiscriminantAnalysis"]


def test_classification_from_file_to_files(gnomon, flowers, tmp_path):
    done = gnomon("compare", flowers, "--target", "kind", *QUICK, "--out", "made")
    assert done.code == 0, done.err
    assert "kind holds 3 different words, so this is classification." in done.out
    assert "Missing values in height (5) are filled with the median" in done.out
    assert "Missing values in color (4) are a value of their own." in done.out
    assert "Categories become columns of 0 and 1: color." in done.out
    assert "predicts kind best: accuracy 0." in done.out
    lines = [line.split()[0] for line in done.out.splitlines() if " ± " in line][:3]
    assert set(lines) == {"GaussianNB", "LinearDiscriminantAnalysis", "always"} and lines[2] == "always"
    assert "\x1b" not in done.out
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["best.gnomon", "report.html"]
    model = library.load(tmp_path / "made" / "best.gnomon")
    new = pl.DataFrame({"height": [-1.0, 2.0, None], "color": ["red", "blue", None]})
    assert set(model.predict(new)) <= {"daisy", "rose", "tulip"}


def test_json_has_everything_and_nothing_else(gnomon, line):
    done = gnomon("compare", line, "--target", "y", "--models", "LinearRegression,Ridge", "--json")
    told = done.json()
    assert told["task"] == "regression" and told["better"] == "lower" and told["rows"] == 40
    assert [entry["baseline"] for entry in told["ranking"]] == [False, False, True]
    first = told["ranking"][0]
    assert first["low"] < first["score"] < first["high"] and first["p_value"] is None
    assert len(first["folds"]) == 10 and first["score"] == pytest.approx(np.mean(first["folds"]))
    assert first["score"] == pytest.approx(0.1, abs=0.03)  # the noise that was put in
    assert told["importance"]["x"]["mean"] > 1
    assert set(told["files"]) == {"report", "model"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "knid"], "there is no column 'knid' to be the target. Did you mean 'kind'?"),
        (["--target", "kind", "--models", "GausianNB"], "no model 'GausianNB'. Did you mean 'GaussianNB'?"),
        (["--target", "kind", "--models", "KMeans"], "KMeans is not made for classification"),
        (["--task", "clustr"], "there is no task 'clustr'. Did you mean 'cluster'?"),
        (["--target", "kind", "--task", "cluster"], "has no target"),
        (["--task", "regression"], "needs the column to predict"),
        ([], "name the column to predict with --target, or a task"),
        (["--target", "kind", "--folds", "1"], "--folds"),
        (["--target", "kind", "--out", "flowers.csv"], "is a file; give a folder"),
        (["--targt", "kind"], "--targt"),
    ],
)
def test_wrong_use_is_code_2_with_the_cure(gnomon, flowers, tmp_path, arguments, message):
    done = gnomon("compare", flowers, *arguments)
    assert done.code == 2 and message in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["flowers.csv"]


def test_errors_for_scripts(gnomon, flowers):
    done = gnomon("compare", flowers, "--target", "knid", "--json")
    assert done.code == 2 and done.json()["exit_code"] == 2 and "Did you mean 'kind'" in done.json()["error"]


def test_truth_values_are_classes():
    table = pl.DataFrame({"x": np.arange(20.0) ** 2, "y": [i > 9 for i in range(20)]})
    result = compare(table, "y", models=["DecisionTreeClassifier"], repeats=1)
    assert result.problem.task.name == "classification" and set(result.model.predict(table)) == {
        "true",
        "false",
    }


def test_regression_of_words_is_bad_data(gnomon, flowers):
    done = gnomon("compare", flowers, "--target", "kind", "--task", "regression")
    assert done.code == 3 and "holds words" in done.err


def test_time_budget_leaves_models_out_and_says_so(flowers):
    result = compare(flowers, "kind", models=["GaussianNB"], time_budget=1e-9)
    assert [entry.name for entry in result.ranked] == ["always the most frequent class"]
    assert result.entries[1].failure == "not done within the time budget"


def test_a_model_that_fails_is_named_and_the_others_go_on(line):
    table = pl.read_csv(line)
    result = compare(table, "y", models=["PoissonRegressor", "LinearRegression"], repeats=1)
    assert [entry.name for entry in result.ranked] == ["LinearRegression", "always the mean"]
    assert result.entries[-1].name == "PoissonRegressor" and result.entries[-1].failure


def test_groups(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-5, 1, size=(30, 2)), rng.normal(5, 1, size=(30, 2))])
    pl.DataFrame(rows, schema=["a", "b"]).write_csv(tmp_path / "two.csv")
    told = gnomon(
        "compare", "two.csv", "--task", "cluster", "--models", "KMeans", "--folds", "3", "--json"
    ).json()
    assert told["best"] == {"model": "KMeans", "settings": {"n_clusters": 2}}
    assert 0.7 < told["ranking"][0]["score"] < 1


def test_densities_are_told_in_the_units_of_the_table():
    rng = np.random.default_rng(0)
    small = pl.DataFrame({"x": rng.normal(size=300)})
    large = small.select(pl.col("x") * 1000)
    one = compare(small, task="density", models=["GaussianMixture"], repeats=1, folds=3)
    other = compare(large, task="density", models=["GaussianMixture"], repeats=1, folds=3)
    base = next(entry for entry in one.ranked if entry.baseline)
    assert base.interval.mean == pytest.approx(-0.5 * np.log(2 * np.pi * np.e), abs=0.06)
    assert one.best.interval.mean - other.best.interval.mean == pytest.approx(np.log(1000), abs=1e-6)


def test_sequences_of_counts(gnomon, tmp_path):
    from gnomon.datasets import load_earthquakes

    pl.DataFrame({"count": load_earthquakes().data[:, 0]}).write_csv(tmp_path / "quakes.csv")
    done = gnomon(
        "compare", "quakes.csv", "--task", "sequence", "--models", "PoissonHMM", "--folds", "3", "--json"
    )
    told = done.json()
    assert told["task"] == "sequence of counts" and "cut into 10 parts" in told["said"][0]
    assert told["best"]["model"] == "PoissonHMM" and told["best"]["settings"]["n_components"] >= 2


def test_sequences_with_a_name_stay_whole():
    table = pl.DataFrame({"who": list("aabbccddee"), "x": np.arange(10.0) ** 2})
    problem = pose(table, task="sequence", sequence="who")
    for train, test in problem.splitter(5, 0).split(table, None, problem.groups()):
        assert not set(table["who"][train]) & set(table["who"][test])
    model = TableModel(sequence="who")
    assert model._lengths(problem.frame)["lengths"].tolist() == [2, 2, 2, 2, 2]


# Nothing leaks


def test_encoder_knows_only_the_rows_it_was_fitted_to():
    table = pl.DataFrame({"x": [1.0, 3.0, None, 1000.0], "c": ["a", "a", "b", "z"]})
    encoder = TableEncoder.of(describe(table)).fit(table[:3])
    assert encoder.median_.tolist() == [2.0] and encoder.center_.tolist() == [2.0]
    assert encoder.names() == ["x", "x is missing", "c = b"]
    assert encoder.transform(table)[:, 1:].tolist() == [[0, 0], [0, 0], [1, 1], [0, 0]]
    assert encoder.unseen(table) == {"c": 1}


def test_noise_with_many_categories_is_not_predicted():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"code": [f"c{i}" for i in rng.integers(0, 60, size=200)], "y": rng.choice(["yes", "no"], size=200)}
    )
    result = compare(table, "y", models=["LogisticRegression", "DecisionTreeClassifier"], repeats=1)
    assert all(abs(entry.interval.mean - 0.5) < 0.12 for entry in result.ranked)
    assert "No model is clearly better than the baseline" in repr(result)


def test_rare_values_share_a_column():
    table = pl.DataFrame({"c": list("aaabbbccdef")})
    encoder = TableEncoder(categories=["c"], max_values=3).fit(table)
    assert encoder.values_ == {"c": ["a", "b", "(rare)"]}
    found = encoder.transform(table)
    assert encoder.names() == ["c = b", "c = (rare)", "how frequent c is"]
    assert found[:, :2].sum(axis=0).tolist() == [3, 5]
    np.testing.assert_allclose(found[:, 2] * 11, [3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 1])


def test_columns_that_say_nothing_are_left_out():
    n = 30
    table = pl.DataFrame(
        {
            "row": range(n),
            "one": [7] * n,
            "none": [None] * n,
            "name": [f"n{i}" for i in range(n)],
            "list": [[1]] * n,
            "x": [i * i % 11 for i in range(n)],
            "day": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, n), eager=True),
        }
    )
    kinds = {column.name: column.kind for column in describe(table)}
    assert {name for name, kind in kinds.items() if kind != "left out"} == {"x", "day"}


# Same seed, same answer


def test_same_seed_same_numbers_on_one_thread_or_two(flowers):
    def told():
        numbers = compare(flowers, "kind", models=["LogisticRegression"], repeats=1, random_state=3).to_dict()
        return [entry["folds"] for entry in numbers["ranking"]], numbers["importance"]

    with library.threads(1):
        one = told()
    with library.threads(2):
        assert told() == one


# The menu comes from the library


@pytest.mark.parametrize("menu", ["classification", "regression", "cluster", "density", "sequence"])
def test_every_name_on_the_menu_can_be_made_and_set(menu):
    served = candidates(menu)
    assert len(served) > 1 and (served[0].baseline or menu == "cluster")
    for candidate in served:
        for name, values in candidate.grid.items():
            assert name in candidate.model.get_params() and values


def test_a_family_without_a_menu_joins_by_itself(monkeypatch):
    from gnomon.report import menu

    monkeypatch.setattr(menu, "families", lambda: ["trees"])
    monkeypatch.setattr(menu, "find_spec", lambda name: None)
    names = [candidate.name for candidate in candidates("classification")]
    assert {"DecisionStump", "DecisionTreeClassifier"} <= set(names)
    assert "DecisionTreeRegressor" not in names


def test_models_are_found_by_name_and_by_family():
    assert find_model("KMeans") is find_model("cluster.KMeans") is find_model("gnomon.cluster.KMeans")
    assert find_model("ElasticNet").__module__.startswith("gnomon.linear")  # not the penalty of this name
    assert "report" not in families()
    with pytest.raises(QuestionError, match="Did you mean 'KMeans'"):
        find_model("KMeens")


def test_one_long_word_does_not_make_every_cell_long():
    import tracemalloc

    table = pl.DataFrame({"c": ["a", "b"] * 2000 + ["x" * 900_000]})
    tracemalloc.start()
    matrix = TableEncoder(categories=["c"]).fit(table).transform(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert matrix.sum(axis=0).tolist() == [2000, 1] and peak < 2**23
