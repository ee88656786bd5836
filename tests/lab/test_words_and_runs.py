"""What the lab says in words, and runs without a server: forms, programs, films, experiments, and lines of a run."""

import io
import json
import struct
from numbers import Real
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from scipy import stats
from sklearn.base import BaseEstimator

from gnomon.cluster import KMeans
from gnomon.core.parameters import Interval, Options, StrOptions
from gnomon.ensemble import RandomForestRegressor
from gnomon.lab import film, forms, material, runs
from gnomon.lab.code import program
from gnomon.lab.experiments import CoinPosterior, DeviationExperiment
from gnomon.lab.material import Material, RefusedError, view
from gnomon.lab.panels import number
from gnomon.lab.scene_trees import tree_panels
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

ROWS = np.array([[0.0, 1.0], [0.2, 1.1], [4.0, 5.0], [4.1, 5.2]])


def of(X, y=None, code="X = rows()", names=("a", "b")):
    return Material((X,) if y is None else (X, y), code, list(names), "t", said=("two holes were filled",))


# forms


class Asked(BaseEstimator):
    """Has settings of every kind.

    What it does.

    Parameters
    ----------
    share, part : float, default=0.5
        How much of it. Between ``0`` and 1,
        both included.
    kind : {"one", "two"}
        Which one.

    Attributes
    ----------
    found_ : int
        Not a setting.
    """

    _parameter_constraints = {
        "share": [Interval(Real, 0, 1, closed="left"), None],
        "part": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "kind": [StrOptions({"two", "one"}), None],
        "flag": ["boolean"],
        "level": [Options(int, {2, 1})],
    }

    def __init__(self, share=0.5, part=0.5, kind="one", flag=True, level=1, sizes=(3, 2), verbose=0):
        pass


def test_a_form_has_a_field_for_every_setting():
    fields = {field["name"]: field for field in forms.form(Asked)}
    assert list(fields) == ["share", "part", "kind", "flag", "level", "sizes"]
    share, part = fields["share"], fields["part"]
    assert share["kind"] == "number" and not share["whole"] and share["none"] and not part["none"]
    assert (share["low"], share["high"], share["open"]) == (0.0, 1.0, [False, True])
    assert (part["low"], part["high"], part["open"]) == (0.0, None, [True, True]) and part["options"] == [
        "auto"
    ]
    assert share["about"] == "float, default=0.5. How much of it. Between 0 and 1, both included."
    assert part["about"] == share["about"] and fields["kind"]["about"] == '{"one", "two"}. Which one.'
    assert fields["kind"] == {**fields["kind"], "kind": "choice", "options": ["one", "two"], "none": True}
    assert fields["flag"]["kind"] == "tick" and fields["flag"]["about"] == ""
    assert fields["level"]["kind"] == "text" and fields["level"]["options"] == ["1", "2"]
    assert fields["sizes"]["value"] == (3, 2) and fields["sizes"]["kind"] == "text"


@pytest.mark.parametrize(
    ("value", "plain"),
    [(1, True), ("w", True), (None, True), ((1, ("a",)), True), ([1] * 20, True), ([1] * 21, False), ({}, False),
     ((1, object()), False)],
)  # fmt: skip
def test_plain_settings_are_numbers_words_and_a_few_of_them(value, plain):
    assert forms._plain(value) is plain


@pytest.mark.parametrize(
    ("value", "largest", "product"),
    [
        (-7, 7, 7),
        (2.5, 0, 1),
        (True, 0, 1),
        ("99", 0, 1),
        ((2, -3, 0), 3, 6),
        ([[4], (5, 2)], 5, 40),
        ((), 0, 1),
    ],
)
def test_whole_numbers_of_a_setting(value, largest, product):
    assert forms._largest(value) == largest and forms._product(value) == product


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("(1, 2)", (1, 2)), ("'a'", "a"), ("word", "word"), ("os.exit()", "os.exit()")],
)
def test_text_is_a_number_or_a_word(text, value):
    assert forms._literal(text) == value


def test_settings_at_the_limits_of_the_lab():
    field = {"kind": "text", "default": 20_000, "value": 30_000}
    for value in (10_000, 20_000, 30_000, (1000, 1000)):
        assert forms._read("size", value, field) == value
    assert forms._read("size", [3, 4], field) == (3, 4) and forms._read("size", "[3, 4]", field) == (3, 4)
    assert forms._read("random_state", 10**9, field) == 10**9
    assert forms._read("size", "w" * 200, field) == "w" * 200
    for value, told in (
        (10_001, "size is 10001; the lab goes up to 10000"),
        ((1000, 1001), "size multiplies to 1001000; the lab goes up to 1000000"),
        ("w" * 201, "size is longer than 200 characters"),
        ({"a": 1}, "size must be a number"),
    ):
        with pytest.raises(RefusedError, match=told):
            forms._read("size", value, field)


# programs


def test_a_program_has_the_settings_that_were_changed():
    told = program(KMeans(3, random_state=0), of(ROWS), {})
    lines = told.splitlines()
    assert lines[0] == "from gnomon.cluster import KMeans" and "X = rows()" in lines
    assert "model = KMeans(n_clusters=3, random_state=0)" in lines
    assert lines[-2:] == [
        "for step, fitted in enumerate(model.iterate(X)):",
        "    print(step, fitted.trace_)",
    ]
    assert "model = KMeans()" in program(KMeans(), of(ROWS), {})
    assert "model.iterate(X, y)" in program(KMeans(), of(ROWS, np.ones(4)), {})
    coin = program(CoinPosterior(a=2.0), of(ROWS), {})
    assert "from gnomon.lab.experiments import CoinPosterior" in coin and coin.endswith(
        "print(step, fitted)\n"
    )
    assert "CoinPosterior(a=2.0)" in coin
    asked = program(Asked.__new__(Silent), of(ROWS), {})
    assert asked.endswith("fitted = model.fit(X)\n")
    job = program(KMeans(), of(ROWS, code="job = prepare(1)\ny = job.problem.y"), {})
    assert job.startswith("job = prepare(1)") and "model = job.model.model" in job


class Silent(BaseEstimator):
    def fit(self, X):
        return self


# films


def png(color, size=(2, 1)):
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return struct.pack(">I", len(out.getvalue())) + out.getvalue()


def test_frames_of_a_film_are_cut_at_their_lengths():
    assert film._parts(b"\0\0\0\2ab\0\0\0\0\0\0\0\3cde") == [b"ab", b"", b"cde"]
    assert len(film._parts(b"\0\0\0\1a" * 400)) == 400
    for body in (b"", b"\0\0\0\1a" * 401, b"\0\0\0\3ab", b"\0\0\0\1ab", b"\0\0\0\1a\0\0"):
        with pytest.raises(ValueError, match="between 1 and 400 whole frames"):
            film._parts(body)


def test_a_film_rests_on_its_last_frame():
    with Image.open(io.BytesIO(film.gif(png("red") + png("lime") + png("blue")))) as made:
        times = []
        for k, color in enumerate([(255, 0, 0), (0, 255, 0), (0, 0, 255)]):
            made.seek(k)
            times.append(made.info["duration"])
            assert made.convert("RGB").getpixel((0, 0)) == color
        assert times == [250, 250, 1500] and made.n_frames == 3 and made.info["loop"] == 0


def test_frames_have_at_most_so_many_pixels(monkeypatch):
    monkeypatch.setattr(film, "MAX_PIXELS", 6)
    assert film._frame(png("red", (3, 2))[4:]).size == (3, 2)
    with pytest.raises(ValueError, match="at most 6 pixels"):
        film._frame(png("red", (7, 1))[4:])
    with pytest.raises(ValueError, match="no PNG picture"):
        film._frame(b"GIF89a")


# experiments


def test_a_coin_is_known_better_throw_by_throw():
    models = list(CoinPosterior(2.0, 3.0).iterate(np.array([[1], [0], [1], [1]])))
    assert [(m.heads_, m.tails_) for m in models] == [(0, 0), (1, 0), (1, 1), (2, 1), (3, 1)]
    known = stats.beta(2 + 3, 3 + 1)
    expected = f"3 heads, 1 tails: mean {known.mean():.3f}, deviation {known.std():.3f}."
    assert models[-1].sentence() == expected
    assert (CoinPosterior().a, CoinPosterior().b) == (1.0, 1.0)
    for wrong in (CoinPosterior(0.0), CoinPosterior(1.0, 0.0)):
        with pytest.raises(ValueError, match="must be positive"):
            wrong.fit(np.array([1]))


def test_means_stray_less_often_than_the_bound_says():
    models = list(DeviationExperiment(0.2, max_draws=50, n_trials=300).iterate(stats.bernoulli(0.3)))
    last = models[-1]
    assert last.draws_[0] == 1 and last.draws_[-1] == 50 and (np.diff(last.draws_) > 0).all()
    assert [len(m.draws_) for m in models] == list(range(1, len(models) + 1))
    assert_allclose(last.bounds_, np.minimum(1, 2 * np.exp(-2 * last.draws_ * 0.04)))
    assert (
        last.frequencies_[0] == 1.0 and (last.frequencies_ <= last.bounds_).all()
    )  # one throw is 0.3 or 0.7 off
    said = (
        f"The mean of 50 throws strays in {last.frequencies_[-1]:.1%} of the trials; the bound says at most "
    )
    assert last.sentence() == said + f"{last.bounds_[-1]:.1%}."
    whole = DeviationExperiment(0.2, max_draws=50, n_trials=300).fit(stats.bernoulli(0.3))
    assert_allclose(whole.frequencies_, last.frequencies_)


# rows in the plane


def test_rows_are_drawn_in_their_own_plane_or_that_of_most_variance():
    column, numbers_ = ROWS[:, :1], np.array([1.0, 2.0, 3.0, 4.5])
    shown = view(of(column, numbers_))
    assert_allclose(shown.xy, np.c_[column, numbers_])
    assert shown.axes == ("a", "t") and shown.flat is False
    for y in (None, np.arange(4)):
        shown = view(of(column, y))
        assert_allclose(shown.xy, np.c_[np.arange(4), column]) and shown.axes == (
            "row",
            "a",
        ) and not shown.flat
    shown = view(of(ROWS))
    assert shown.flat is True and shown.axes == ("a", "b")
    assert_allclose([shown.xlim, shown.ylim], [[-0.328, 4.428], [0.664, 5.536]])
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(50, 4)) * [1, 5, 0.1, 3]
    wide[::7, 2] = np.nan
    shown = view(of(wide))
    filled = np.where(np.isnan(wide), np.nanmean(wide, axis=0), wide)
    variances = np.sort(np.linalg.eigvalsh(np.cov(filled.T)))[::-1]
    assert_allclose(shown.xy.var(axis=0, ddof=1), variances[:2])
    assert shown.axes == ("first principal axis", "second principal axis") and not shown.flat
    assert view(of(np.empty((0, 2)))) is None and material.view(of(["words"])) is None


# runs


class Counted(BaseEstimator):
    """Counts its steps, and goes several at once when asked."""

    def __init__(self, n=5, jump=True):
        self.n, self.jump = n, jump

    def iterate(self, X):
        step = 0
        while step <= self.n:
            shown = Counted(self.n)
            shown.trace_ = list(range(step))
            asked = yield shown
            step += (asked or 1) if self.jump else 1
            step = self.n if step > self.n and len(shown.trace_) < self.n else step


@pytest.mark.parametrize("jump", [True, False])
def test_later_steps_are_drawn_less_often(jump):
    found = [step for step, _ in runs.steps(Counted(405, jump), of(ROWS))]
    expected = [*range(100), *range(100, 200, 2), *range(200, 400, 4), 400, 405]
    assert found == expected


def test_a_run_is_a_head_its_steps_and_an_end():
    over = []
    run = runs.Run(runs.Job(KMeans(2, random_state=0), of(ROWS), {}), lambda: over.append(1))
    told = [json.loads(line) for line in run.lines()]
    assert [one["type"] for one in told] == ["head", *["step"] * (len(told) - 2), "end"] and over == [1]
    assert told[0]["model"] == "KMeans" and told[0]["said"] == ["two holes were filled"]
    assert told[0]["code"] == program(KMeans(2, random_state=0), of(ROWS), {})
    assert told[-1]["seconds"] == round(run.seconds, 4) > 0 and len(told) - 2 == len(
        list(KMeans(2).iterate(ROWS))
    )
    assert run.stopped.is_set() and run.fitted.is_set()


def test_a_run_that_fails_says_why():
    class Broken(Silent):
        def fit(self, X):
            raise KeyError("lost")

    run = runs.Run(runs.Job(Broken(), of(ROWS), {}))
    told = [json.loads(line) for line in run.lines()]
    assert [one["type"] for one in told] == ["head", "failed", "end"]
    assert told[1]["said"] == "Broken failed (KeyError): 'lost'"
    assert runs.failure(Silent(), ValueError("no rows")) == "Silent: no rows"


def test_a_run_that_is_stopped_ends_with_its_step(monkeypatch):
    run = runs.Run(runs.Job(Counted(50), of(ROWS), {}))
    run.stop()
    run.thread.start()
    run.thread.join()
    assert run.copies.get()[0] == 0 and run.copies.get() is runs._END
    monkeypatch.setattr(runs, "MAX_SECONDS", -1.0)
    late = runs.Run(runs.Job(Counted(50), of(ROWS), {}))
    late.thread.start()
    late.thread.join()
    assert late.copies.get()[0] == 0
    assert "stopped after -1 seconds" in str(late.copies.get())


def test_lines_are_short_json_without_nan():
    assert runs.line(a=1, b="ü", c=[1, None]) == '{"a":1,"b":"ü","c":[1,null]}\n'
    with pytest.raises(ValueError, match="Out of range"):
        runs.line(a=float("nan"))


# trees, painted points and tables


def test_a_tree_is_drawn_node_by_node():
    X = np.array([[0.0, 0], [1, 0], [2, 0], [3, 5], [3, 6], [4, 9]])
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.array([0, 0, 0, 1, 1, 2]))
    (panel,) = tree_panels(model, Material((X,), "", ["left"]))
    tree = model.tree_
    assert panel["title"] == "the tree" and len(panel["nodes"]) == tree.node_count == 5
    root = panel["nodes"][0]
    cut = tree.threshold[0]
    name = "left" if tree.feature[0] == 0 else "x1"
    assert root["name"] == f"{name} ≤ {cut:.3g}" and root["code"] == 0 and root["leaf"] is False
    assert root["tip"] == f"6 rows, impurity {number(tree.impurity[0])}, 0.5/0.33/0.17"
    assert {node["y"] for node in panel["nodes"]} == {round(1 - (k + 0.5) / 3, 4) for k in range(3)}
    leaves = sorted((node["x"], node["name"], node["code"]) for node in panel["nodes"] if node["leaf"])
    assert [name for _, name, _ in leaves] == ["1/0/0", "0/1/0", "0/0/1"] and [c for *_, c in leaves] == [
        0,
        1,
        2,
    ]
    assert [x for x, *_ in leaves] == [round((k + 0.5) / 3, 4) for k in range(3)]  # leaves are equally wide
    below = {edge["to"] for edge in panel["edges"]}
    assert len(panel["edges"]) == 4 and below == {1, 2, 3, 4} and panel["tree"] is True
    for edge in panel["edges"]:
        one, other = panel["nodes"][edge["from"]], panel["nodes"][edge["to"]]
        assert one["y"] > other["y"]


def test_the_newest_of_a_few_trees_is_drawn_unless_it_is_large():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    data = Material((X, y), "", ["a", "b"])
    forest = RandomForestRegressor(3, max_depth=1, random_state=0).fit(X, y)
    (panel,) = tree_panels(forest, data)
    newest = forest.estimators_[-1].tree_
    assert panel["title"] == "the newest of 3 trees"
    assert panel["nodes"][0]["name"] == f"{'ab'[newest.feature[0]]} ≤ {newest.threshold[0]:.3g}"
    assert (
        panel["nodes"][1]["name"] == f"{number(newest.value[1, 0, 0])}" and panel["nodes"][1]["code"] is None
    )
    whole = DecisionTreeRegressor().fit(X, y)
    assert whole.tree_.node_count > 127 and tree_panels(whole, data) == []
    for leaves, shown in ((64, 1), (65, 0)):  # 127 nodes, and 129
        assert len(tree_panels(DecisionTreeRegressor(max_leaf_nodes=leaves).fit(X, y), data)) == shown
    lone = tree_panels(DecisionTreeRegressor(max_depth=1).fit(X, np.ones(300)), data)
    assert len(lone[0]["nodes"]) == 1 and lone[0]["edges"] == [] and lone[0]["nodes"][0]["x"] == 0.5
    assert tree_panels(KMeans(), data) == [] and tree_panels(SimpleNamespace(estimators_=[]), data) == []


@pytest.mark.parametrize(
    ("points", "paint", "told"),
    [
        ([[0, 0, 9]], "classes", "group between 0 and 8"),
        ([[0, 0, -1]], "classes", "group between 0 and 8"),
        ([[0, 0, 1], [1, 1, -1]], "classes", "group between 0 and 8"),
        ([[0, 0]], "classes", "three finite numbers"),
        ([[0, 2e12, 0]], "clouds", "three finite numbers"),
        ([[0, float("nan"), 0]], "clouds", "three finite numbers"),
        ([0, 0, 0], "clouds", "three finite numbers"),
        ([["a", 0, 0]], "clouds", "three numbers"),
        ([], "clouds", "between 1 and"),
        ("xyz", "clouds", "between 1 and"),
        ([[0, 0, 0]], "words", "of the kind"),
    ],
)
def test_points_that_cannot_be_painted(points, paint, told):
    with pytest.raises(RefusedError, match=told):
        material._painted(points, paint)


def test_points_at_the_limits_are_painted():
    assert material._painted([[0, 1e12, 8], [0, -1e12, 0]], "classes").y.tolist() == [8, 0]
    assert len(material._painted([[0, 0, 0]] * material.MAX_PAINTED, "clouds").X) == material.MAX_PAINTED
    with pytest.raises(RefusedError):
        material._painted([[0, 0, 0]] * (material.MAX_PAINTED + 1), "clouds")


def test_a_table_is_cut_to_what_the_lab_can_draw(monkeypatch):
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4, 5, 6] * 4, "b": ["u", "v"] * 12, "t": [0.0, 1, 2] * 8})
    monkeypatch.setattr(material, "MAX_ROWS", 24)
    model, made = material.from_table(frame, "Ridge", "t", {"alpha": 2.0, "random_state": 3}, "f.csv")
    assert (
        made.X.shape[0] == 24
        and model.alpha == 2.0
        and made.target == "t"
        and len(made.names) == made.X.shape[1]
    )
    assert "read_table('f.csv'), 't'" in made.code and "settings={'alpha': 2.0}, random_state=3)" in made.code
    assert made.code.endswith("y = job.problem.y") and made.y.tolist() == frame["t"].to_list()
    monkeypatch.setattr(material, "MAX_ROWS", 23)
    assert material.from_table(frame, "Ridge", "t", {}, "f.csv")[1].X.shape[0] == 23
    width = made.X.shape[1]
    monkeypatch.setattr(material, "MAX_COLUMNS", width)
    material.from_table(frame, "Ridge", "t", {}, "f.csv")
    monkeypatch.setattr(material, "MAX_COLUMNS", width - 1)
    with pytest.raises(
        RefusedError, match=f"has {width} columns after encoding; the lab draws {width - 1} at most"
    ):
        material.from_table(frame, "Ridge", "t", {}, "f.csv")
