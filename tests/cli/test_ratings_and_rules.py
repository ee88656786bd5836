"""Ratings and baskets from files: what is found, what is said, and kind words for the wrong file."""

import numpy as np
import polars as pl
import pytest

import gnomon as library
from gnomon.datasets import make_ratings
from gnomon.report import compare
from gnomon.report.rules import find_rules, read


@pytest.fixture
def ratings(tmp_path):
    R, _, _ = make_ratings(30, 20, rank=1, density=0.5, scale=range(1, 6), random_state=0)
    table = {
        "stars": R.values,
        "userId": R.users,
        "film": [f"film {i}" for i in R.items],
        "when": np.arange(len(R)),
    }
    path = tmp_path / "ratings.csv"
    pl.DataFrame(table).write_csv(path)
    return path


def basket_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        one = {item for item in ("tea", "eggs", "jam") if rng.random() < 0.3} | {"salt"}
        if rng.random() < 0.4:
            one |= {"bread", "butter"} if rng.random() < 0.9 else {"bread"}
        elif rng.random() < 0.1:
            one.add("butter")
        made.append(sorted(one))
    return made


def long_table(path):
    rows = [(f"r{b}", item) for b, basket in enumerate(basket_rows()) for item in basket]
    pl.DataFrame(rows, schema=["receipt", "article"], orient="row").write_csv(path)


def lines(path):
    path.write_text("\n".join(",".join(basket) for basket in basket_rows()))


def wide_table(path):
    items = sorted({item for basket in basket_rows() for item in basket})
    rows = [[int(item in basket) for item in items] for basket in basket_rows()]
    pl.DataFrame(rows, schema=items, orient="row").write_csv(path)


def test_recommenders_are_compared_from_file_to_files(gnomon, ratings, tmp_path):
    done = gnomon(
        "compare",
        ratings,
        "--task",
        "recommend",
        "--models",
        "MeanRecommender,MatrixFactorization",
        "--out",
        "made",
    )
    assert done.code == 0, done.err
    assert "userId is the user, film the item and stars the rating." in done.out
    assert "MatrixFactorization predicts stars best" in done.out
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["best.gnomon", "report.html"]
    model = library.load(tmp_path / "made" / "best.gnomon")
    new = pl.DataFrame({"userId": [0, 0, 999], "film": ["film 1", "never seen", "film 2"]})
    assert np.isfinite(model.predict(new)).all()
    assert model.encoder_.unseen(new) == {"userId": 1, "film": 1}
    asked = tmp_path / "new.csv"
    new.write_csv(asked)
    assert "predicted stars" in gnomon("predict", tmp_path / "made" / "best.gnomon", asked).out


def test_a_pair_rated_again_counts_once():
    rows = [(u, i, float((u + i) % 5)) for u in range(6) for i in range(6)]
    table = pl.DataFrame([*rows, (0, 0, 9.0)], schema=["user", "item", "rating"], orient="row")
    result = compare(table, task="recommend", models=["MeanRecommender"], repeats=1)
    assert "pairs rated again: 1; the last rating of each counts." in result.problem.said
    assert len(result.problem.y) == 36 and 9.0 in result.problem.y


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"user": [1, 2], "item": [3, 4]}, "three columns"),
        ({"user": [1, 1] * 9, "item": list(range(18)), "rating": ["good"] * 18}, "must hold numbers"),
        ({"user": list(range(18)), "item": [1, 2] * 9, "rating": [1, 2, 3] * 6}, "differs in every row"),
        ({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1], "rating": [1, 2, 3, 4]}, "at least 10"),
        (
            {"user": [i // 4 for i in range(16)], "item": list(range(4)) * 4, "rating": [3] * 16},
            "nothing to predict",
        ),
    ],
)
def test_a_table_that_holds_no_ratings_is_refused_with_the_reason(gnomon, tmp_path, table, message):
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    done = gnomon("compare", tmp_path / "t.csv", "--task", "recommend")
    assert done.code == 3 and message in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("name", "write"), [("t.csv", long_table), ("t.txt", lines), ("r.csv", lines), ("w.csv", wide_table)]
)
def test_the_planted_rule_is_found_in_every_kind_of_file(tmp_path, name, write):
    write(tmp_path / name)
    found = find_rules(tmp_path / name)
    assert found.n_baskets == 300 and found.n_items == 6
    pairs = {(*a, *b) for a, b in zip(found.rules["antecedents"], found.rules["consequents"])}
    assert pairs == {("bread", "butter"), ("butter", "bread")}  # salt is in every basket, and says nothing
    assert found.rules["count"].tolist() == [sum({"bread", "butter"} <= set(b) for b in basket_rows())] * 2


def test_rules_from_file_to_files(gnomon, tmp_path):
    long_table(tmp_path / "t.csv")
    done = gnomon("compare", tmp_path / "t.csv", "--task", "rules", "--out", "made")
    assert done.code == 0, done.err
    assert "A row is an item: article, in the basket receipt." in done.out
    assert "bread ⇒ butter" in done.out and "2 rules hold more often than by chance" in done.out
    page = (tmp_path / "made" / "report.html").read_text()
    assert page.count("<svg") == 2 and "http://" not in page.replace("http://www.w3.org", "")
    table = pl.read_csv(tmp_path / "made" / "rules.csv")
    assert sorted(zip(table["antecedents"], table["consequents"])) == [
        ("bread", "butter"),
        ("butter", "bread"),
    ]
    told = gnomon("compare", tmp_path / "t.csv", "--task", "rules", "--json", "--min-support", "0.2").json()
    assert told["min_support"] == 0.2 and {tuple(rule["antecedents"]) for rule in told["rules"]} == {
        ("bread",),
        ("butter",),
    }


def test_answers_of_a_survey_are_items(tmp_path):
    rng = np.random.default_rng(0)
    home = rng.choice(["own", "rent"], 200)
    income = np.where(home == "own", 60, 30) + rng.integers(0, 9, 200)
    pl.DataFrame({"home": home, "income": income, "color": rng.choice(["red", "blue"], 200)}).write_csv(
        tmp_path / "s.csv"
    )
    baskets, n_items, said = read(tmp_path / "s.csv")
    assert (
        n_items == 6 and all(len(basket) == 3 for basket in baskets) and "every answer is an item" in said[0]
    )
    found = find_rules(tmp_path / "s.csv")
    assert any("home=own" in a for a in found.rules["antecedents"]) and not any(
        "color" in str(b) for b in found.rules["consequents"]
    )


def test_baskets_without_rules_and_files_without_baskets(gnomon, tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "noise.txt").write_text(
        "\n".join(" ".join(c for c in "abcd" if rng.random() < 0.3) for _ in range(200))
    )
    done = gnomon("compare", tmp_path / "noise.txt", "--task", "rules", "--out", "made")
    assert done.code == 0 and "No rule holds" in done.out
    (tmp_path / "one.csv").write_text("x\n1\n2\n3\n")
    done = gnomon("compare", tmp_path / "one.csv", "--task", "rules", "--out", "other")
    assert done.code == 3 and "holds no baskets" in done.err and not (tmp_path / "other").exists()
    assert gnomon("compare", tmp_path / "none.csv", "--task", "rules").code == 3
    assert gnomon("compare", tmp_path / "noise.txt", "--task", "rules", "--min-support", "7").code == 2
