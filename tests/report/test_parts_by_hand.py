"""Parts of a report worked out by hand: metrics, leaks, roles of columns, baskets, weights, time, cards, choices."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from gnomon.core.errors import DataError
from gnomon.report import rules
from gnomon.report.baselines import BASELINES, MajorityClass, MeanValue
from gnomon.report.card import card, formula
from gnomon.report.clock import Clock, stop_in
from gnomon.report.columns import (
    CATEGORY,
    DATE,
    NUMBER,
    OUT,
    TEXT,
    QuestionError,
    column_named,
    describe,
    words_in,
)
from gnomon.report.documents import WordCounts, pose_documents
from gnomon.report.grids import fixed, settings_of, usual
from gnomon.report.leaks import find_leaks
from gnomon.report.metrics import AMOUNTS, CLASSES, Answers, ask, codes, positive_class
from gnomon.report.ratings import PairEncoder, pose_ratings
from gnomon.report.single import predictions
from gnomon.report.stacking import learn_weights, often

near = pytest.approx

# Metrics


def test_scores_of_classes_of_which_there_are_no_rows():
    """Balanced accuracy and one against the rest are means over the classes that are there."""
    y = np.array(["a", "a", "a", "b", "b", "b"])
    classes = np.array(["a", "b", "c"])
    P = np.array([[6, 3, 1], [2, 7, 1], [5, 1, 4], [1, 8, 1], [3, 2, 5], [4, 5, 1]]) / 10.0
    told = Answers(classes[P.argmax(axis=1)], P, True, classes)  # a, b, a, b, c, b
    assert CLASSES["accuracy"].value(y, told) == near(4 / 6)
    assert CLASSES["balanced_accuracy"].value(y, told) == near((2 / 3 + 2 / 3) / 2)
    assert CLASSES["f1"].value(y, told) == near((4 / 5 + 4 / 6 + 0) / 3)
    of_a = np.mean([(p > q) + 0.5 * (p == q) for p in P[:3, 0] for q in P[3:, 0]])
    of_b = np.mean([(p > q) + 0.5 * (p == q) for p in P[3:, 1] for q in P[:3, 1]])
    assert CLASSES["auc"].value(y, told) == near((of_a + of_b) / 2)
    own = P[np.arange(6), np.searchsorted(classes, y)]
    assert CLASSES["log_loss"].value(y, told) == near(-np.log(own).mean())
    truth = np.eye(3)[np.searchsorted(classes, y)]
    assert CLASSES["brier"].value(y, told) == near(((P - truth) ** 2).sum(axis=1).mean())
    z = np.array(["a", "b", "z", "b", "b", "b"])  # z was never seen: its probability was 0
    assert codes(z, classes).tolist() == [0, 1, -1, 1, 1, 1] and codes(np.array(["0"]), classes).tolist() == [
        -1
    ]
    wide = np.column_stack([P, np.zeros(6)])
    truth = np.eye(4)[[0, 1, 3, 1, 1, 1]]
    assert CLASSES["brier"].value(z, told) == near(((wide - truth) ** 2).sum(axis=1).mean())
    alone = CLASSES["auc"].value(np.array(["a", "a"]), told._replace(scores=P[:2]))
    assert np.isnan(alone)


def test_two_classes_are_judged_by_the_rarer():
    assert positive_class(np.array(["b", "a", "b"])) == "a" and positive_class(np.array(["a", "b"])) == "b"
    y = np.array(["a", "b", "b", "b", "a"])
    p = np.array([0.9, 0.8, 0.3, 0.1, 0.2])  # of a
    told = Answers(np.where(p > 0.5, "a", "b"), np.column_stack([p, 1 - p]), True, np.array(["a", "b"]))
    assert CLASSES["f1"].value(y, told) == near(2 * 0.5 * 0.5 / 1.0)
    assert CLASSES["auc"].value(y, told) == near(4 / 6)  # 0.9 beats three, 0.2 one
    assert CLASSES["brier"].value(y, told) == near(np.mean((p - (y == "a")) ** 2))
    for name in ("log_loss", "brier"):
        with pytest.raises(DataError, match="has no probabilities"):
            CLASSES[name].value(y, told._replace(probabilities=False))
    assert CLASSES["auc"].value(y, told._replace(probabilities=False)) == near(4 / 6)
    with pytest.raises(DataError, match="has no probabilities, which the AUC needs"):
        CLASSES["auc"].value(y, told._replace(scores=None))


def test_amounts_at_their_ends():
    y, said = np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0])
    assert np.isnan(AMOUNTS["r2"].value(y, Answers(said)))
    assert AMOUNTS["rmse"].value(y, Answers(said)) == near(np.sqrt(5 / 3))
    with pytest.raises(QuestionError, match="not negative"):
        AMOUNTS["poisson"].value(-y, Answers(said))
    y, said = np.array([0.0, 4.0]), np.array([-1.0, 2.0])
    low = 2e-6  # a millionth of the mean instead of a rate below zero
    assert AMOUNTS["poisson"].value(y, Answers(said)) == near(2 * (low + 4 * np.log(2.0) - 2.0) / 2)


def test_a_model_is_asked_for_no_more_than_is_needed():
    class Decides:
        classes_ = np.array(["a", "b"])

        def decision_function(self, X):
            raise AssertionError

    table = SimpleNamespace(
        model_=Decides(), predict=lambda f: ["a", "b"], decision_function=lambda f: np.array([-1.0, 2.0])
    )
    assert ask(table, None, "labels").scores is None and ask(table, None, "probabilities").scores is None
    told = ask(table, None, "order")
    assert told.scores.tolist() == [[1.0, -1.0], [-2.0, 2.0]] and not told.probabilities
    assert told.classes.tolist() == ["a", "b"]


# Leaks


def leaks(frame, y, classes):
    return [line.split(" ")[0] for line in find_leaks(frame, y, describe(frame), "y", classes)]


def test_only_columns_that_know_the_target_are_leaks():
    rng = np.random.default_rng(0)
    n = 400
    y = rng.uniform(-1.0, 1.0, n)
    tie = rng.integers(0, 30, n)
    frame = pl.DataFrame(
        {
            "double": -2.0 * y + 5.0,  # the same number in other units
            "close": y + 0.005 * rng.normal(size=n),  # the nearest number tells it
            "rough": y + 0.2 * rng.normal(size=n),
            "bent": np.exp(y),
            "holes": np.where(np.arange(n) % 9 == 0, np.nan, 3.0 * y),
        }
    )
    frame = frame.with_columns(pl.col("holes").fill_nan(None))
    assert leaks(frame, y, False) == ["double", "close", "bent", "holes"]
    mean = rng.normal(size=30)[tie]
    frame = pl.DataFrame({"code": [f"c{k}" for k in tie], "other": [f"o{k}" for k in rng.integers(0, 5, n)]})
    assert leaks(frame, mean + 0.01 * rng.normal(size=n), False) == ["code"]
    assert leaks(frame, mean + rng.normal(size=n), False) == []
    kinds = np.array(list("abc"))[tie % 3]
    assert leaks(frame, kinds, True) == ["code"]  # every code has one kind, though a kind has many codes
    frame = frame.with_columns(same=pl.Series([{"a": "x", "b": "y", "c": "z"}[k] for k in kinds]))
    assert leaks(frame.select("code", "same"), kinds, True) == ["code", "same"]
    few = frame.head(39)
    assert leaks(few.select("code"), kinds[:39], True) == []  # too few rows to tell


def test_copies_of_rows_are_a_leak_from_one_in_a_hundred_on():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(398, 3)), schema=["a", "b", "c"])
    y = rng.normal(size=398)
    two = pl.concat([frame, frame[:2]]), np.append(y, y[:2])  # four of 400 are there twice
    three = pl.concat([frame, frame[:3]]), np.append(y, y[:3])
    assert leaks(*two, False) == [] and leaks(*three, False) == ["6"]
    assert leaks(three[0].select("a", "b"), three[1], False) == []  # two columns repeat by nature
    assert leaks(three[0], np.append(y, y[:3] + 1.0), False) == []  # with other targets they are no copies


# Ratings, documents


@pytest.mark.parametrize(
    ("names", "target", "roles"),
    [
        (["rating", "movieId", "userId"], None, ("userId", "movieId", "rating")),
        (["a", "b", "c"], None, ("a", "b", "c")),
        (["Stars", "x", "Product"], None, ("x", "Product", "Stars")),
        (["a", "b", "c"], "a", ("b", "c", "a")),
        (["when", "song", "member", "value"], None, ("member", "song", "value")),
        (["user", "item", "rating", "points"], "points", ("user", "item", "points")),
    ],
)
def test_columns_of_ratings_are_found_by_their_names(names, target, roles):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.integers(1, 4, 60) for name in names})
    pairs, y, columns, rating, said = pose_ratings(frame, target)
    assert (*pairs.columns, rating) == roles
    assert said[0] == f"{roles[0]} is the user, {roles[1]} the item and {roles[2]} the rating."
    done = {c.name: (c.kind, c.done, c.missing, c.distinct) for c in columns}
    assert done[roles[0]] == ("id", "the user", 0, 3) and done[roles[1]] == ("id", "the item", 0, 3)
    assert {c.name for c in columns} == set(names) - {rating} and len(y) == 9
    assert said[-1] == "9 ratings of 3 items by 3 users: 100.00% of the table is filled."
    assert all(done[name] == (OUT, "not used", 0, 3) for name in set(names) - set(roles))


def test_pairs_and_what_they_have_not_seen():
    frame = pl.DataFrame({"user": [1, 2, 1], "item": ["a", "b", "b"]})
    encoder = PairEncoder().fit(frame)
    assert encoder.transform(frame).tolist() == [[1, "a"], [2, "b"], [1, "b"]]
    new = pl.DataFrame({"user": [1, 7, 8, 8], "item": ["c", "c", "a", "a"]})
    assert encoder.unseen(new) == {"user": 2, "item": 1} and encoder.unseen(frame) == {}
    with pytest.raises(DataError, match="'user' is empty in row 2"):
        encoder.transform(pl.DataFrame({"user": [1, None], "item": ["a", "b"]}))
    with pytest.raises(DataError, match="no column 'item'"):
        encoder.transform(pl.DataFrame({"user": [1]}))
    with pytest.raises(DataError, match="ratings need three columns"):
        pose_ratings(frame, None)


def test_the_texts_are_those_with_most_words():
    frame = pl.DataFrame(
        {"name": ["ann b", "bob c", None], "text": ["one two three", "a b c d e", None], "n": [1, 2, 3]}
    )
    held, columns, name, said = pose_documents(frame, describe(frame))
    assert name == "text" and held.columns == ["text"] and len(held) == 2
    assert said == [
        "The documents are the texts of text, 4 words each on average.",
        "1 rows without text were left out.",
    ]
    assert [c.kind for c in columns] == [OUT, TEXT, OUT]
    with pytest.raises(DataError, match="no column holds texts"):
        pose_documents(frame.select("name", "n"), describe(frame.select("name", "n")))
    counts = WordCounts("text", 3).fit(
        pl.DataFrame({"text": ["boat sea sea", "boat wind", "sea wind", "law court", "law", None]})
    )
    assert counts.words_ == ["boat", "law", "sea"]  # of the frequent the most frequent; court stands once
    found = counts.transform(pl.DataFrame({"text": ["sea sea boat", None]}))
    assert found.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


# Baskets


def test_tables_that_hold_baskets():
    pairs = pl.DataFrame({"b": [1, 1, 2, 3, 2], "i": ["x", "y", "x", None, "z"]})
    assert rules._of_table(pairs, "t") == (
        [["x", "y"], ["x", "z"]],
        3,
        ["A row is an item: i, in the basket b."],
    )
    for x in ([0, 1, 1], [0.0, 1.0, 1.0], [False, True, True]):
        assert rules._is_flag(pl.Series("x", [*x, None]))
    for x in ([0, 1, 2], [0.0, 0.5], [-1, 1], ["0", "1"]):
        assert not rules._is_flag(pl.Series("x", x))
    ticks = pl.DataFrame({"id": [7, 8, 9], "x": [0, 1, 1], "y": [True, False, None]})
    baskets, count, said = rules._of_table(ticks, "t")
    assert baskets == [["y"], ["x"], ["x"]] and count == 2
    assert said == ["A row is a basket, and 2 columns of 0 and 1 are the items.", "Not used: id."]
    answers = pl.DataFrame(
        {"id": [1, 2, 3, 4], "sex": ["f", "m", "f", "m"], "age": [10, 20, 30, 30], "one": [1, 1, 1, 1]}
    )
    baskets, count, said = rules._of_table(answers, "t")
    assert count == len({item for basket in baskets for item in basket}) == 4
    assert [len(basket) for basket in baskets] == [2] * 4 and baskets[2] == baskets[2]
    assert said[-1] == "Not used: id, one."
    with pytest.raises(DataError, match="t holds no baskets"):
        rules._of_table(pl.DataFrame({"id": [1, 2, 3], "sex": ["f", "m", "f"], "one": [1.5, 1.5, 1.5]}), "t")


def test_rules_that_a_shorter_one_says_already_are_left_out():
    import pandas as pd

    b = frozenset("b")
    table = pd.DataFrame(
        {
            "antecedents": [frozenset("a"), frozenset("ac"), frozenset("ad"), frozenset("ac")],
            "consequents": [b, b, b, frozenset("e")],
            "support": [0.4, 0.2, 0.2, 0.2], "confidence": [0.8, 0.85, 0.99, 0.9],
            "confidence low": [0.7, 0.75, 0.9, 0.7], "confidence high": [0.9] * 4,
            "lift": [2.0, 2.1, 2.5, 1.5], "lift low": [1.5, 1.4, 1.8, 1.9], "fisher q": [0.01, 0.01, 0.05, 0.04],
        }
    )  # fmt: skip
    assert rules._said_by_less(table).tolist() == [False, True, False, False]
    kept = rules._kept(table, 50)
    assert [("".join(sorted(a)), n) for a, n in zip(kept["antecedents"], kept["count"])] == [
        ("ac", 10),
        ("ad", 10),
        ("a", 20),
    ]
    assert list(kept.columns) == rules.COLUMNS
    assert len(rules._kept(table.assign(**{"fisher q": 0.051}), 50)) == 0
    assert len(rules._kept(table.assign(lift=1.0), 50)) == len(rules._kept(None, 50)) == 0


# Choices


def test_weights_are_chosen_greedily_twelve_times():
    rng = np.random.default_rng(0)
    y, classes = rng.integers(0, 3, 40), np.arange(3)
    said = rng.dirichlet(np.ones(3), (4, 40)) + np.eye(3)[y] * np.array([0.5, 0.8, 0.8, 0.2])[:, None, None]
    said /= said.sum(axis=2, keepdims=True)
    numbers = y + rng.normal(size=(4, 40)) * np.array([0.5, 0.6, 2.0, 0.7])[:, None]
    for table, kinds in ((said, classes), (numbers, None)):
        picked = []
        for _ in range(12):

            def loss(k, picked=picked, table=table, kinds=kinds):
                mean = np.mean([table[j] for j in [*picked, k]], axis=0)
                return np.mean((mean - y) ** 2) if kinds is None else -np.log(mean[np.arange(40), y]).mean()

            picked.append(min(range(4), key=loss))
        assert_allclose(learn_weights(table, y, kinds), np.bincount(picked, minlength=4) / 12)
        assert len(set(picked)) > 1


def test_settings_that_are_usual_and_those_chosen_most_often():
    model = SimpleNamespace(get_params=lambda: {"a": 3, "b": "x"})
    candidate = SimpleNamespace(
        model=model, grid={"a": [1, 2, 3], "b": ["p", "q", "r", "s"], "c": [9], "d": [1, 2]}
    )
    assert fixed(candidate) == {"c": 9} and set(settings_of(candidate)) == {"a", "b", "d"}
    assert usual(candidate) == {"c": 9, "a": 3, "b": "r", "d": 2}
    chosen = [{"k": 2}, {"k": 1}, {"k": 1}, {"k": 2}]
    assert often(SimpleNamespace(chosen=chosen)) == {"k": 2} and often(SimpleNamespace(chosen=[])) == {}


def test_baselines_say_the_same_of_every_row():
    X, y = np.zeros((5, 1)), np.array(["b", "a", "b", "c", "b"])
    model = MajorityClass().fit(X, y)
    assert model.predict(X[:2]).tolist() == ["b", "b"]
    assert_allclose(model.predict_proba(X[:2]), [[0.2, 0.6, 0.2]] * 2)
    assert MeanValue().fit(X, [1, 2, 3, 4, 10]).predict(X[:3]).tolist() == [4.0] * 3
    made = {name: one.make() for name, one in BASELINES.items()}
    assert {type(model).__name__ for model in made.values()} >= {
        "MajorityClass",
        "MeanValue",
        "MeanRecommender",
    }
    assert made["density"].covariance_type == "diag" and made["sequence of symbols"].emissionprob_prior == 1.1
    assert all(made[name].n_components == 1 for name in made if name.startswith("sequence"))
    assert made["density of counts"].n_components == made["topics"].n_components == 1


# Time


def test_the_clock_keeps_a_reserve_and_gives_compiling_back(monkeypatch):
    from gnomon.report import clock as module

    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clock = Clock(90.0, 50.0)
    assert clock.limited and clock.elapsed() == 10.0 and clock.left() == 40.0 and clock.spare() == 37.0
    clock.reserve = 5.0
    assert clock.left() == 35.0
    clock.reserve = 500.0
    assert clock.left() == 25.0  # three tenths of fifty at most
    clock.compiled(2.0)
    clock.compiled(1.0)
    assert clock.left() == 28.0 and clock.spare() == 40.0 and clock.compiling == 2.0
    clock.compiled(100.0)
    assert clock.grace == 20.0
    clock.note("m", 100, 4.0)
    assert clock.fits("m", 100, 11.0) and not clock.fits("m", 100, 11.3)  # 45 seconds are left
    clock.check()
    now[0] = 145.0
    with pytest.raises(module.OutOfTimeError):
        clock.check()
    free = Clock(0.0, None)
    assert not free.limited and free.fits("m", 10**9, 1e9) and free.guess("m", 10) == 0.0
    free.stopped, free.starting["m"], free.compiling = True, 3.0, 2.0
    assert free.guess("m", 10) == 5.0
    with pytest.raises(module.OutOfTimeError):
        free.check()


@pytest.mark.parametrize(
    ("fits", "rows", "seconds"),
    [
        ([(100, 2.0)], 50, 1.0),
        ([(100, 2.0), (100, 4.0)], 200, 8.0),  # no growth is known: in proportion, from the last
        ([(100, 0.05), (200, 9.0)], 400, 18.0),  # the first too short to tell
        ([(100, 1.0), (200, 8.0)], 400, 8.0 * 2**2.5),  # the cube is not believed
        ([(100, 1.0), (200, 4.0)], 50, 4.0 / 16),
        ([(100, 4.0), (400, 4.0)], 100, 2.0),  # a root at least
        ([(100, 4.0), (400, 4.0)], 800, 4.0),  # the same for any rows
        ([(100, 4.0), (400, 7.0)], 800, 11.0),
        ([(100, 4.0), (400, 3.0)], 800, 3.0),
    ],
)
def test_times_of_fits_are_guessed_from_two(fits, rows, seconds):
    clock = Clock(0.0, 60.0)
    for count, took in fits:
        clock.note("m", count, took)
    assert clock.guess("m", rows) == near(seconds)


def test_models_are_told_when_to_stop():
    class Told:
        def set_callbacks(self, *callbacks):
            self.callbacks = callbacks

    request = object()
    model = stop_in(Told(), 5.0, request)
    limit, asked = model.callbacks
    assert asked is request and type(limit).__name__ == "TimeBudget"
    assert stop_in(Told(), np.inf, request).callbacks == (request,)
    assert not hasattr(stop_in(Told(), np.inf), "callbacks")
    assert len(stop_in(Told(), 0.0).callbacks) == 1
    plain = object()
    assert stop_in(plain, 1.0) is plain


# Cards and columns


def test_formulas_of_docstrings():
    class Same:
        r"""First.

        .. math:: a + b
                  = c

        Later.
        """

    class Below:
        """First.

        .. math::

            x = 1
              + 2

        More text.
        """

    class Without:
        """Nothing."""

    assert formula(Same) == "a + b\n= c" and formula(Below) == "x = 1\n  + 2" and formula(Without) == ""


def test_a_card_tells_what_was_learned():
    from gnomon.cluster import KMeans
    from gnomon.linear import LinearRegression

    X = np.arange(16.0).reshape(8, 2) ** 1.5
    model = LinearRegression().fit(X, X[:, 0])
    found = card(model)
    assert found["model"] == "gnomon.linear.LinearRegression" and found["changed"] == []
    assert found["data"]["features"] == 2 and found["learned"]["coef_"].startswith("[")
    clusters = KMeans(4, random_state=0).fit(X)
    told = card(clusters)
    assert (
        told["changed"] == ["n_clusters", "random_state"]
        and told["learned"]["cluster_centers_"] == "array (4, 2)"
    )
    assert told["fit"]["steps"] == len(clusters.trace_) and told["fit"]["objective"] == list(clusters.trace_)
    assert (
        told["fit"]["converged"] is True
        and "trace_" not in told["learned"]
        and "n_features_in_" not in told["learned"]
    )


@pytest.mark.parametrize(
    ("values", "kind", "done"),
    [
        (pl.Series("x", [None, None]), OUT, "nothing in it"),
        (pl.Series("x", [1.0, 1.0]), OUT, "the same value in every row"),
        (pl.Series("x", [1.0, None]), NUMBER, "standardized; 1 missing"),
        (pl.Series("x", list(range(5, 27))), OUT, "it counts the rows"),
        (pl.Series("x", list(range(5, 25))), NUMBER, "standardized"),  # twenty rows only
        (pl.Series("x", list(range(27, 5, -1))), OUT, "an id"),
        (pl.Series("x", [k * 2 for k in range(30)]), NUMBER, "standardized"),
        (pl.Series("user_id", [k * 2 for k in range(30)]), OUT, "an id"),
        (pl.Series("x", [1e151, 1.0]), OUT, "numbers beyond 1e+150"),
        (pl.Series("x", [1e150, 1.0]), NUMBER, "standardized"),
        (pl.Series("x", [2**53 + 1, 2**53, 5]), OUT, "whole numbers so long"),
        (pl.Series("x", [2**53, 2**53 - 1, 5]), NUMBER, "standardized"),
        (pl.Series("x", [[1], [2]]), OUT, "List(Int64) is no number"),
        (pl.Series("x", [True, False]), NUMBER, "standardized"),
        (pl.Series("x", ["a", "b"]), CATEGORY, "a column of 0 and 1 for every value but"),
        (pl.Series("x", [f"v{k}" for k in range(20)]), CATEGORY, "a column of 0 and 1 for every value but"),
        (pl.Series("x", [f"v{k}" for k in range(21)] * 2), CATEGORY, "19 most frequent values, one for the other 2"),
        (pl.Series("x", [f"v{k}" for k in range(21)] * 2 + ["v0"]), CATEGORY, "each of the 19 most"),
        (pl.Series("x", [f"v{k}" for k in range(21)] + ["v0"] * 20), OUT, "nearly every row has a value of its own"),
        (pl.Series("x", [f"a b c v{k}" for k in range(21)]), TEXT, "a text"),
        (pl.Series("x", [f"a b v{k}" for k in range(21)]), OUT, "nearly every row"),
        (pl.Series("x", [f"a b c v{k}" for k in range(21)] * 5), CATEGORY, "each of the 19"),
    ],
    ids=range(22),
)  # fmt: skip
def test_kinds_of_columns(values, kind, done):
    (found,) = describe(values.to_frame())
    assert found.kind == kind and done in found.done
    assert found.missing == values.null_count()


def test_words_and_names_of_columns():
    assert words_in(pl.Series(["one", " two  words ", "and three words"])) == near(2.0)
    dates = describe(pl.DataFrame({"d": pl.Series(["2024-01-02", None]).str.to_date()}))[0]
    assert dates.kind == DATE and dates.done.endswith("1 missing: the median, and a column that says so")
    many = pl.DataFrame({"c": [f"v{k % 30}" for k in range(90)]})
    assert describe(many, target="y")[0].done.endswith("; and the mean y of other rows with its value")
    assert "mean" not in describe(many)[0].done
    written = describe(pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, 1.0]}), {"a": "in euro", "b": "in euro"})
    assert written[0].done == "in euro; standardized" and written[1].done == "the same value in every row"
    wide = pl.DataFrame({f"c{k}": [1] for k in range(13)})
    with pytest.raises(QuestionError, match=r"no column 'x' to be the target.* c11, \.\.\.\.$"):
        column_named(wide, "x", "target")
    bare = pl.DataFrame({"1.5": [1], "-2": [2], "z": [3]})
    with pytest.raises(QuestionError, match="The first line of the file must name the columns"):
        column_named(bare, "x", "target")
    with pytest.raises(QuestionError) as told:
        column_named(bare.drop("-2"), "x", "target")
    assert "first line" not in str(told.value)


def test_predictions_do_not_take_a_name_twice():
    model = SimpleNamespace(predict=lambda rows: rows[:, 0] * 2, n_features_in_=2)
    frame = pl.DataFrame({"a": [1.0, 2.0], "predicted": [0.0, 0.0]})
    found, said = predictions(model, frame)
    assert found.columns == ["a", "predicted", "predicted (model)"] and said == []
    assert found["predicted (model)"].to_list() == [2.0, 4.0]
    with pytest.raises(DataError, match="fitted to 2 columns; the table has 1"):
        predictions(model, frame.select("a"))
    named = SimpleNamespace(predict=lambda rows: rows["b"].to_numpy(), feature_names_in_=["b"])
    assert predictions(named, pl.DataFrame({"a": [1.0], "b": [3.0]}))[0]["predicted"].to_list() == [3.0]
    with pytest.raises(DataError, match="no column 'b'"):
        predictions(named, frame)
    with pytest.raises(QuestionError, match="has no predict_proba; leave out --proba"):
        predictions(named, pl.DataFrame({"b": [3.0]}), proba=True)
    with pytest.raises(QuestionError, match="has no predict_interval; leave out --interval"):
        predictions(named, pl.DataFrame({"b": [3.0]}), interval=0.9)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r":math:`\alpha\lVert w\rVert_1`", "α‖w‖_1"),
        (r":math:`\frac{a+b}{2}` of ``x``", "(a+b)/2 of x"),
        (r":math:`\tfrac12`", "1/2"),
        (r":math:`\frac ab`", "a/b"),
        (r":math:`\frac{ab}{c}`", "ab/c"),
        (r":math:`x^2 + x^{10} + x^{ab}`", "x² + x¹⁰ + x^(ab)"),
        (r":math:`w^\top x_{ij} + x_{k}`", "wᵀ x_(ij) + x_k"),
        (r":math:`\sqrt{n}`", "√(n)"),
        (r":math:`\binom{n}{k}`", "C(n, k)"),
        (r":math:`\sqrt{\frac{a}{b}}`", "√(a/b)"),
        (r":class:`~gnomon.A` and :func:`f`", "gnomon.A and f"),
        (r":math:`\hat y \le \bar y`", "y\u0302 ≤ y\u0304"),
    ],
    ids=range(12),
)
def test_formulas_in_characters(written, said):
    from gnomon.report.plain import plain

    assert plain(written) == said


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.inf, 2.0], "'y' is infinite in row 2"),
        ([1.0, 2.0, -np.inf], "'y' is infinite in row 3"),
        ([1.0, -2e150, 1e10], "'y' is -2e.150 in row 2, too large to be squared"),
    ],
    ids=range(3),
)
def test_targets_that_cannot_be_squared_are_named(values, words):
    from gnomon.report.targets import numbers

    with pytest.raises(DataError, match=words):
        numbers(pl.Series("y", values))
    assert numbers(pl.Series("y", [1, -2, 3])).tolist() == [1.0, -2.0, 3.0]
