"""Columns as they come: how cells are written is found, said, kept with the model, and never guessed anew."""

import datetime

import numpy as np
import polars as pl
import pytest

from gnomon.core.errors import DataError
from gnomon.report import compare
from gnomon.report.columns import describe
from gnomon.report.encoder import TableEncoder
from gnomon.report.features import Bag, Means, as_days, date_parts, means_of_others
from gnomon.report.forms import COMMA, POINT, TRUTH, check_plain, find_form, read_form, understand
from gnomon.report.leaks import find_leaks
from gnomon.report.tasks import pose

WRITTEN = {
    "decimal commas": (["1,5", "-2,25", "10"], COMMA, [1.5, -2.25, 10.0]),
    "both marks": (["1.234,50", "12,5", "1.000.000"], COMMA, [1234.5, 12.5, 1e6]),
    "thousands": (["1,234", "12", "1,000,000.5"], POINT, [1234.0, 12.0, 1000000.5]),
    "percent": (["12.3%", "4 %", "-1%"], POINT, [12.3, 4.0, -1.0]),
    "currency": (["$1,200.00", "-$15", "$0.5"], POINT, [1200.0, -15.0, 0.5]),
    "euro behind": (["1.200,00 €", "15 €", "EUR 3,5"], COMMA, [1200.0, 15.0, 3.5]),
    "Swiss": (["1'200.50", "12", "1'000"], POINT, [1200.5, 12.0, 1000.0]),
    "unknown": (["$5", "unknown", "N/A"], POINT, [5.0, None, None]),
    "yes and no": (["Yes", "no", "YES"], TRUTH, [True, False, True]),
    "day first": (
        ["31/12/2020", "1/2/2021"],
        "%d/%m/%Y",
        [datetime.date(2020, 12, 31), datetime.date(2021, 2, 1)],
    ),
    "month first": (
        ["12/31/2020", "1/2/2021"],
        "%m/%d/%Y",
        [datetime.date(2020, 12, 31), datetime.date(2021, 1, 2)],
    ),
    "points": (
        ["31.12.2020", "1.2.2021"],
        "%d.%m.%Y",
        [datetime.date(2020, 12, 31), datetime.date(2021, 2, 1)],
    ),
    "three decimals": (["0,942", "-0,105", "1,234"], COMMA, [0.942, -0.105, 1.234]),
    "time of the day": (["23:59", "0:30"], "%H:%M", [datetime.time(23, 59), datetime.time(0, 30)]),
    "with its zone": (
        ["2020-12-31T10:30:00+02:00", "2021-01-01T00:00:00+00:00"],
        "%Y-%m-%dT%H:%M:%S%z",
        [datetime.datetime(2020, 12, 31, 8, 30), datetime.datetime(2021, 1, 1)],
    ),
    "with time": (
        ["2020-12-31T10:30", "2021-01-01T00:00"],
        "%Y-%m-%dT%H:%M",
        [datetime.datetime(2020, 12, 31, 10, 30), datetime.datetime(2021, 1, 1)],
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_forms_are_found_and_read(name):
    words, form, values = WRITTEN[name]
    column = pl.Series("x", words)
    assert find_form(column) == form
    assert read_form(column, form).to_list() == values


@pytest.mark.parametrize(
    "words",
    [
        ["a", "b"],
        ["0123", "0456"],
        ["1,23,4", "5"],
        ["v1.2", "v1.3"],
        ["12/13/14/15", "2"],
        ["555 1234", "555 9876"],
    ],
)
def test_words_stay_words(words):
    assert find_form(pl.Series("x", words)) is None


def test_times_of_the_day_are_shares_of_it():
    column = read_form(pl.Series("t", ["06:00", "18:30"]), "%H:%M")
    assert as_days(column).tolist() == [0.25, 18.5 / 24]
    assert date_parts(column)[:, 2].tolist() == [6.0, 18.0]
    kind = describe(pl.DataFrame({"t": column}))[0]
    assert kind.kind == "date" and kind.done.startswith("the share of the day")


def test_a_cell_in_another_form_is_named():
    with pytest.raises(DataError, match="column 'x', row 2: 'seven' is no number with a decimal comma"):
        read_form(pl.Series("x", ["1,5", "seven"]), COMMA)


def test_numbers_with_a_point_are_refused_where_commas_were_learned():
    check_plain(pl.Series("x", [1.0, 20.0]), COMMA)
    with pytest.raises(DataError, match="learned with decimal commas"):
        check_plain(pl.Series("x", [1.234]), COMMA)


def test_the_form_goes_with_the_encoder():
    table = pl.DataFrame({"x": ["1,5", "2,5", "4,5"]})
    frame, forms, said = understand(table)
    assert frame["x"].to_list() == [1.5, 2.5, 4.5] and forms == {"x": COMMA}
    assert said["x"] == "numbers written with decimal commas"
    encoder = TableEncoder(["x"], scale=False, forms=forms).fit(frame)
    assert encoder.transform(pl.DataFrame({"x": ["1.000", "3,25"]})).ravel().tolist() == [1000.0, 3.25]


def test_dates_give_days_and_the_parts_that_differ():
    days = pl.Series("day", [datetime.date(2024, 1, 1), datetime.date(2024, 1, 9), None])
    assert date_parts(days)[:2].tolist()[0][:2] == [1.0, 1.0]  # a Monday in January
    encoder = TableEncoder(dates=["day"], scale=False).fit(days.to_frame())
    assert encoder.names() == ["day", "weekday of day", "day is missing"]
    assert encoder.transform(days.to_frame()).tolist() == [[19723, 1, 0], [19731, 2, 0], [19727, 1.5, 1]]


def test_texts_without_a_word_that_comes_twice_have_no_columns():
    for texts in (["alpha", "beta", None], ["12 34", "a", ""]):
        bag = Bag.learned(pl.Series("note", texts))
        assert bag.words == [] and bag.matrix(pl.Series("note", ["alpha alpha", None])).shape == (2, 0)


def test_words_are_weighted_by_how_often_and_how_rarely_they_come():
    bag = Bag.learned(pl.Series("note", ["red red red blue", "red", "blue green green", "blue", None]))
    assert bag.words == ["blue", "red"]  # green stands in one text only
    np.testing.assert_allclose(bag.weights, np.log(6 / np.array([4, 3])) + 1)
    found = bag.matrix(pl.Series("note", ["Red red red, blue!", "nothing", None]))
    raw = np.array([1.0, 1 + np.log(3)]) * bag.weights
    np.testing.assert_allclose(found, [raw / np.linalg.norm(raw), [0, 0], [0, 0]])
    many = pl.Series("note", ["aa bb cc", "aa bb cc", "aa bb", "aa"])
    assert Bag.learned(many, most=2).words == ["aa", "bb"]


def test_every_column_has_a_sentence_that_is_true():
    n, rng = 60, np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "shuffled": rng.permutation(n),
            "customer_id": rng.choice(10**6, n, replace=False),
            "city": [f"c{k}" for k in rng.integers(0, 25, n)],
            "review": [f"the {k} film was {'good' if k % 2 else 'bad'} and long" for k in range(n)],
            "price": [f"${k},000.00" for k in range(1, n + 1)],
            "kind": [None if k % 6 == 0 else "ab"[k % 2] for k in range(n)],
            "y": rng.normal(size=n),
        }
    )
    done = {column.name: column for column in pose(table, "y").columns}
    assert (
        done["shuffled"].done == done["customer_id"].done == "an id: every row has a whole number of its own"
    )
    assert done["city"].kind == "category" and "how frequent a value is" in done["city"].done
    assert done["review"].kind == "text" and done["price"].kind == "number"
    assert done["price"].done == "numbers written with a currency and marks of thousands; standardized"
    assert done["kind"].done.endswith("10 missing: a value of their own")


def test_leaks_are_named_and_honest_columns_are_not():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 200)
    table = pl.DataFrame(
        {
            "copy": [{"no": "A", "yes": "B"}[v] for v in y],
            "after": np.where(y == "yes", 10.0, 0.0) + rng.normal(size=200),
            "fine": np.where(y == "yes", 1.0, 0.0) + rng.normal(size=200),
        }
    )
    said = find_leaks(table, y, describe(table), "y", True)
    assert len(said) == 2 and said[0].startswith("copy is y under another name")
    assert said[1].startswith("after alone predicts y almost perfectly") and "--exclude 'after'" in said[1]
    numbers = rng.normal(size=200)
    table = pl.DataFrame({"scaled": 3 * numbers + 1, "noisy": numbers + rng.normal(size=200)})
    said = find_leaks(table, numbers, describe(table), "y", False)
    assert len(said) == 1 and said[0].startswith("scaled is y under another name")


def test_a_comparison_warns_of_leaks_before_anything_is_believed(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    table = pl.DataFrame({"x": rng.normal(size=80), "code": np.where(y == 1, "paid", "open"), "y": y})
    table.write_csv(tmp_path / "t.csv")
    told = gnomon("compare", "t.csv", "--target", "y", "--models", "GaussianNB")
    assert "warning: code is y under another name" in told.out and "--exclude 'code'" in told.out
    page = (tmp_path / "gnomon-report" / "report.html").read_text()
    assert "Look at this first" in page and "code is y under another name" in page
    clean = gnomon(
        "compare", "t.csv", "--target", "y", "--models", "GaussianNB", "--exclude", "code", "--json"
    )
    assert clean.json()["warnings"] == []


def test_copies_of_rows_are_counted():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(100, 3)), schema=["a", "b", "c"])
    y = rng.normal(size=100)
    assert find_leaks(table, y, describe(table), "y", False) == []
    twice = pl.concat([table, table[:10]])
    assert find_leaks(twice, np.append(y, y[:10]), describe(twice), "y", False)[0].startswith(
        "20 rows are there more"
    )


def test_classes_keep_their_words():
    table = pl.DataFrame({"x": np.arange(20.0) ** 2, "member": ["yes", "no"] * 10, "y": ["Yes", "No"] * 10})
    problem = pose(table, "y")
    assert set(problem.y) == {"Yes", "No"} and problem.frame["member"].to_list()[:2] == [True, False]


def test_means_of_a_category_are_drawn_to_the_mean_and_never_hold_the_rows_own_answer():
    words = pl.Series("c", ["a", "a", "b"])
    found = Means.learned(words, np.array([[1.0], [3.0], [8.0]]))
    assert found.usual == [4.0]
    assert found.table == {"a": [(4 + 10 * 4.0) / 12], "b": [(8 + 10 * 4.0) / 11]}
    np.testing.assert_array_equal(found.matrix(pl.Series(["b", "z"])), [found.table["b"], [4.0]])
    alone = pl.Series(
        "c", [f"v{i}" for i in range(50)]
    )  # every value once: only the mean of other rows is left
    y = np.random.default_rng(0).normal(size=(50, 1))
    told = means_of_others(alone, y)
    assert len(np.unique(told.round(12))) == 5 and abs(np.corrcoef(told[:, 0], y[:, 0])[0, 1]) < 0.6
    moved = y.copy()
    moved[7] += 100.0
    assert means_of_others(alone, moved)[7] == told[7]


def test_a_category_of_many_values_tells_its_mean_answer():
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 60, 1200)
    effect = rng.normal(size=60) * 3
    table = pl.DataFrame({"town": [f"t{k}" for k in towns], "x": rng.normal(size=1200)})
    table = table.with_columns(y=effect[towns] + 0.3 * rng.normal(size=1200))
    result = compare(table, "y", models=["LinearRegression"], repeats=1)
    assert "mean answer for town" in result.model.encoder_.names()
    assert result.best.interval.mean > -0.6  # the RMSE; 19 towns of 60 alone leave 2.4
    town = next(c for c in result.problem.columns if c.name == "town")
    assert town.done.endswith("and the mean y of other rows with its value")
    assert len(result.model.encoder_.names()) == result.model.matrix(table).shape[1]
