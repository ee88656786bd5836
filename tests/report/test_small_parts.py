"""Small parts of the report, each by itself: intervals of few folds, chunks of files, rules that would be too many."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gnomon.bayes import GaussianNB
from gnomon.core.errors import DataError
from gnomon.linear import Ridge
from gnomon.report.columns import QuestionError
from gnomon.report.contest import Comparison
from gnomon.report.entries import Entry, fold_interval
from gnomon.report.measuring import LOOKS
from gnomon.report.race import Race
from gnomon.report.rules import _sets
from gnomon.report.serving import read_chunks
from gnomon.report.single import predictions
from gnomon.report.tasks import pose


@pytest.mark.parametrize(("per_draw", "freedom"), [(None, 3), (2, 1), (1, 1), (3, 2), (9, 3)])
def test_freedom_of_an_interval_is_that_of_one_drawing(per_draw, freedom):
    values = np.array([0.2, 0.5, 0.4, 0.9])
    found = fold_interval(values, 0.25, per_draw)
    error = np.sqrt(values.var(ddof=1) * (1 / 4 + 0.25))
    assert found.mean == pytest.approx(0.5)
    assert found.high - found.mean == pytest.approx(stats.t(freedom).ppf(0.975) * error)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_tables_are_read_in_parts(tmp_path, ending):
    frame = pl.DataFrame({"a": [1.0, float("nan"), 3.0, 4.0, 5.0], "b": list("vwxyz")})
    path = tmp_path / f"table{ending}"
    (frame.write_parquet if ending == ".parquet" else frame.write_ipc)(path)
    parts = list(read_chunks(path, 2, [], []))
    assert [len(raw) for raw, _ in parts] == [2, 2, 1]
    assert pl.concat([raw for raw, _ in parts])["b"].to_list() == list("vwxyz")
    assert pl.concat([read for _, read in parts])["a"].to_list() == [1.0, None, 3.0, 4.0, 5.0]


def test_sets_that_would_be_too_many_are_not_looked_for():
    from gnomon.association import eclat

    few = [["a", "b"], ["a"], ["a", "b"]]
    found = _sets(few, 0.5, False)
    assert len(found) == len(eclat(few, 0.5)) == 3
    many = [[f"i{j}" for j in range(60)]] * 5
    assert _sets(many, 0.5, False) is None
    assert len(_sets([["a", "b", "c"]] * 3, 0.5, True)) == 7


def test_ratings_become_a_problem():
    frame = pl.DataFrame(
        {
            "user": [f"u{i % 6}" for i in range(36)],
            "item": [f"i{i // 6}" for i in range(36)],
            "rating": [i % 5 + 1.0 for i in range(36)],
        }
    )
    problem = pose(frame, "rating", task="recommend")
    assert problem.target == "rating" and problem.menu == "recommend"
    assert sorted(problem.y.tolist()) == sorted(frame["rating"].to_list())
    assert problem.said[-2:] == [
        "user is the user, item the item and rating the rating.",
        "36 ratings of 6 items by 6 users: 100.00% of the table is filled.",
    ]
    last = pl.DataFrame({"user": ["u0", "u1", None], "item": ["i0", "i0", "i1"], "rating": [5.0, None, 2.0]})
    again = pose(pl.concat([frame, last]), "rating", task="recommend")
    assert again.y.tolist()[-1] == 5.0 and len(again.y) == 36
    assert again.said[-3:-1] == [
        "2 rows without a user, an item or a rating were left out.",
        "pairs rated again: 1; the last rating of each counts.",
    ]
    for name in ("user", "item"):
        with pytest.raises(
            DataError, match=f"column '{name}' differs in every row, so no {name} has two ratings"
        ):
            pose(
                frame.unique(name).with_columns(rating=pl.Series(np.arange(6.0))), "rating", task="recommend"
            )
    with pytest.raises(DataError, match="infinite"):
        pose(frame.with_columns(rating=pl.lit(np.inf)), "rating", task="recommend")
    with pytest.raises(DataError, match="must hold numbers to be the ratings"):
        pose(frame.with_columns(rating=pl.lit("good")), "rating", task="recommend")
    with pytest.raises(DataError, match="all ratings are 3: there is nothing to predict"):
        pose(frame.with_columns(rating=pl.lit(3.0)), "rating", task="recommend")


def test_models_that_cannot_be_told_from_the_best():
    entries = [Entry(str(p), False, p_value=p) for p in (None, 0.2, None, 0.05, 0.06)]
    result = Comparison.__new__(Comparison)
    result.entries = [*entries, Entry("0.9", False, p_value=0.9, failure="it failed")]
    assert result.best is entries[0] and result.ranked == entries
    assert [entry.name for entry in result.equals()] == ["0.2", "0.06"]
    assert [entry.name for entry in result.equals(0.01)] == ["0.2", "0.05", "0.06"]


def test_scores_of_looks_where_nothing_else_is_known():
    whole, partly, broken = (Entry(name, False) for name in ("whole", "partly", "broken"))
    whole.looks = [(rows, 0.5 + k) for k, rows in enumerate(LOOKS)]
    partly.looks = whole.looks[:-1]
    broken.looks, broken.failure = list(whole.looks), "it failed"
    race = Race.__new__(Race)
    race.entries, race.splits, race.leader, race.fitted = [whole, partly, broken], [0, 1, 2], None, {0: 1}
    race._promote_looks()
    assert whole.scores == [0.5 + k for k in range(len(LOOKS))] and whole.n_folds == 3
    assert partly.scores == broken.scores == [] and race.leader is whole and race.fitted == {}


@pytest.mark.parametrize("positive", [None, "no", "yes"])
def test_the_positive_class_is_said_from_a_probability_on(positive):
    X, y = np.arange(40.0)[:, None], np.where(np.arange(40) % 7 < np.arange(40) / 6, "yes", "no")
    model = GaussianNB().fit(X, y)
    if positive:
        model.positive_ = positive
    frame = pl.DataFrame({"x": X[:, 0], "predicted": np.zeros(40)})
    P = model.predict_proba(X)[:, 0 if positive == "no" else 1]
    for threshold in (0.2, P[11], 0.9):
        found, said = predictions(model, frame.select("x"), threshold=threshold)
        one, other = ("no", "yes") if positive == "no" else ("yes", "no")
        assert found["predicted"].to_list() == np.where(P >= threshold, one, other).tolist() and said == []
    found, _ = predictions(model, frame.select("x"), proba=True)
    assert found["predicted"].to_list() == model.predict(X).tolist()
    np.testing.assert_array_equal(found.select("P(no)", "P(yes)").to_numpy(), model.predict_proba(X))


def test_predictions_that_a_model_cannot_give_are_named():
    frame = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "predicted": [0.0] * 4})
    three = GaussianNB(var_smoothing=1e-2).fit(frame.select("x").to_numpy(), [0, 1, 2, 2])
    line = Ridge().fit(frame.to_numpy(), [0.0, 1.0, 2.0, 3.0])
    assert predictions(line, frame)[0].columns == ["x", "predicted", "predicted (model)"]
    for model, options, message in (
        (three, {"threshold": 0.5}, "parts two classes; the model has 3"),
        (line, {"threshold": 0.5}, "Ridge has no predict_proba; leave out --threshold"),
        (line, {"proba": True}, "leave out --proba"),
        (line, {"interval": 0.9}, "leave out --interval"),
    ):
        with pytest.raises(QuestionError, match=message):
            predictions(model, frame.select("x") if model is three else frame, **options)
    with pytest.raises(DataError, match="fitted to 1 columns; the table has 2"):
        predictions(three, frame)
