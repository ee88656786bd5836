"""Pictures and sentences of a report: what is drawn where and in which color, what is said, and when something else."""

import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from gnomon.plot import style
from gnomon.report import drawings, markup, page, pictures, words
from gnomon.report.columns import CATEGORY, NUMBER, OUT, Column
from gnomon.report.contest import Comparison
from gnomon.report.entries import Entry
from gnomon.report.looks import Decision, Dependence, Group
from gnomon.report.metrics import Answers
from gnomon.selection.intervals import Interval

QUIET = to_rgba(style.QUIET)


@pytest.fixture
def kept(monkeypatch):
    """What the pictures draw, on axes that can be asked: a list of axes, descriptions and sizes."""
    found = []

    def keep(draw, alt, size=(6.4, 3.6)):
        ax = style.axes(Figure(figsize=size).add_subplot())
        draw(ax)
        found.append(SimpleNamespace(ax=ax, alt=alt, size=size))
        return "drawn"

    monkeypatch.setattr(pictures, "svg", keep)
    monkeypatch.setattr(drawings, "svg", keep)
    return found


def made(entries=(), sign=-1, y=None, task="regression", **facts):
    """A comparison of which only some facts are known."""
    result = Comparison.__new__(Comparison)
    of_task = SimpleNamespace(
        sign=sign, metric="RMSE", name=task, limits=(0.0, np.inf), answer="predicts {target} best"
    )
    result.problem = SimpleNamespace(
        task=of_task, target="y", y=y, sequence=None, menu=task, time=None, frame=range(100), said=["Said."],
        warned=["Look."], columns=[],
    )  # fmt: skip
    result.entries = list(entries)
    for name, value in facts.items():
        setattr(result, name, value)
    return result


def entry(name, mean=None, half=0.5, baseline=False, **facts):
    interval = None if mean is None else Interval(-mean, -mean - half, -mean + half)
    return Entry(name, baseline, interval=interval, **facts)


def color(artist):
    return to_rgba(artist.get_color())


# Pictures


def test_a_picture_is_an_element_of_the_page():
    text = pictures.svg(lambda ax: ax.set_xlabel("hello"), "what <is> drawn", (3.0, 2.0))
    assert text.startswith("<svg viewBox=") and text.endswith("</svg>")
    assert 'style="max-width: 288px"' in text  # three inches of 72 points, four thirds of a pixel each
    assert 'aria-label="what &lt;is&gt; drawn"' in text and ">hello</text>" in text
    assert "<metadata" not in text and "<?xml" not in text and pictures.INK not in text
    assert "var(--ink)" in text and "font-size: 10px; font-family: var(--sans)" in text
    assert text == pictures.svg(lambda ax: ax.set_xlabel("hello"), "what <is> drawn", (3.0, 2.0))
    wide = pictures.svg(lambda ax: None, "")
    assert "max-width: 614px" in wide and 'viewBox="0 0 460.8 259.2"' in wide
    for name in re.findall(r' id="([^"]*)"', text):
        assert f"#{name}" in text  # other names are left out: a page has each once
    with pytest.raises(ValueError, match="without a size"):
        pictures._for_page("<svg></svg>", "")


def test_names_beside_a_picture_are_short():
    assert pictures.short("a" * 28) == "a" * 28 and pictures.short("a" * 29) == "a" * 27 + "…"
    assert pictures.short("abcdef", 4) == "abc…"


def test_the_ranking_has_the_best_on_top(kept):
    entries = [
        entry("best", 1.0),
        entry("other", 2.0),
        entry("base", 3.0, 4.0, True),
        Entry("x", False, failure="no"),
    ]
    assert pictures.ranking(made(entries)) == "drawn"
    (one,) = kept
    lines = one.ax.lines
    ends = [[0.5, 1.5], [1.5, 2.5], [0.0, 7.0]]  # an error is never negative
    for row in range(3):
        bar, dot = lines[2 * row : 2 * row + 2]
        assert_allclose(bar.get_xydata(), np.column_stack([ends[row], [row, row]]))
        assert_allclose(dot.get_xydata(), [[row + 1.0, row]])
        wanted = to_rgba(style.color(0)) if row == 0 else QUIET
        assert color(bar) == color(dot) == wanted
        assert (bar.get_linewidth(), bar.get_alpha(), dot.get_markersize(), dot.get_marker()) == (
            3,
            0.5,
            7,
            "o",
        )
        assert bar.get_solid_capstyle() == "round"
    assert_allclose(lines[6].get_xdata(), 1.0)
    assert color(lines[6]) == QUIET and lines[6].get_linewidth() == 0.8 and lines[6].get_linestyle() == ":"
    assert [t.get_text() for t in one.ax.get_yticklabels()] == ["best", "other", "base"]
    assert one.ax.get_yticks().tolist() == [0, 1, 2] and one.ax.yaxis_inverted()
    assert not one.ax.spines["left"].get_visible()
    assert one.ax.yaxis.get_major_ticks()[0].tick1line.get_markersize() == 0
    assert one.ax.get_xlabel() == "RMSE on unseen rows, with 95% intervals (smaller is better)"
    assert one.size == pytest.approx((7.6, 2.02))
    assert one.alt == "Scores with 95% intervals: best 1.00 ± 0.50; other 2.00 ± 0.50; base 3.0 ± 4.0"
    pictures.ranking(made([entry("best", -1.0)], sign=1))
    assert kept[1].ax.get_xlabel().endswith("(larger is better)")


def test_twelve_importances_are_bars(kept):
    losses = {f"c{k}": Interval(1.0 - k / 20, 0.5 - k / 20, 1.5 - k / 20) for k in range(13)}
    pictures.importance(made(importance=losses))
    (one,) = kept
    assert len(one.ax.patches) == 12 and len(one.ax.lines) == 13
    for row, (bar, line) in enumerate(zip(one.ax.patches, one.ax.lines)):
        box = bar.get_bbox()
        assert_allclose([box.x0, box.x1, box.y0, box.y1], [0, 1 - row / 20, row - 0.31, row + 0.31])
        assert bar.get_facecolor() == to_rgba(style.color(0), 0.85)
        assert_allclose(line.get_xydata(), [[0.5 - row / 20, row], [1.5 - row / 20, row]], atol=1e-12)
        assert color(line) == QUIET and line.get_linewidth() == 1.5
    last = one.ax.lines[12]
    assert_allclose(last.get_xdata(), 0.0)
    assert color(last) == QUIET and last.get_linewidth() == 0.8
    assert [t.get_text() for t in one.ax.get_yticklabels()] == list(losses)[:12] and one.ax.yaxis_inverted()
    assert one.ax.get_xlabel() == "how much worse the RMSE gets"
    assert one.size == pytest.approx((4.8, 4.12)) and one.alt.startswith(
        "Importance of the columns: c0 1.00; c1 0.95"
    )


@pytest.mark.parametrize(("classes", "side"), [(3, 3.1), (20, 7.0), (21, None)])
def test_confusions_of_at_most_twenty_classes(kept, classes, side):
    rng = np.random.default_rng(0)
    y, said = np.tile(np.arange(classes), 5), rng.integers(0, classes, 5 * classes)
    tested = np.arange(len(y)) != 2
    one = entry("m", 1.0, told=Answers(said), tested=tested)
    drawn = pictures.close_up(made([one], y=y, task="classification"), one)
    if side is None:
        assert drawn == "" and not kept
        return
    table = np.zeros((classes, classes))
    np.add.at(table, (y[tested], said[tested]), 1)
    assert_allclose(kept[0].ax.images[0].get_array(), table)
    assert {t.get_text() for t in kept[0].ax.texts} == {f"{v:.0f}" for v in table.ravel()}
    assert (kept[0].ax.get_xlabel(), kept[0].ax.get_ylabel()) == ("predicted", "true")
    assert kept[0].size == pytest.approx((side + 1.2, side))
    right, rows = int(np.trace(table)), 5 * classes - 1
    assert kept[0].alt == f"Confusion matrix of m: {right} of {rows} rows on the diagonal"
    assert pictures.close_up(made(y=y), entry("m", 1.0)) == ""  # nothing was said


@pytest.mark.parametrize("rows", [40, 1500, 4001])
def test_predicted_values_against_true_ones(kept, rows):
    rng = np.random.default_rng(0)
    y = rng.normal(size=rows + 1)
    said, tested = y + 0.5 * rng.normal(size=rows + 1), np.arange(rows + 1) > 0
    one = entry("m", 1.0, told=Answers(said), tested=tested)
    pictures.close_up(made([one], y=y), one)
    ax, truth, answers = kept[0].ax, y[1:], said[1:]
    points = ax.collections[0]
    some = np.arange(rows) if rows <= 1500 else np.linspace(0, rows - 1, 1500).astype(int)
    assert_allclose(points.get_offsets(), np.column_stack([truth, answers])[some])
    assert points.get_sizes().tolist() == [10] and points.get_alpha() == 0.55
    assert_allclose(points.get_facecolor(), [to_rgba(style.color(0), 0.55)])
    assert points.get_linewidth().tolist() == [0]
    low, high = min(truth.min(), answers.min()), max(truth.max(), answers.max())
    ends = (low - 0.08 * (high - low), high + 0.08 * (high - low))
    assert_allclose([ax.get_xlim(), ax.get_ylim(), *ax.lines[0].get_xydata().T], [ends] * 4)
    assert color(ax.lines[0]) == QUIET and ax.lines[0].get_linewidth() == 1
    assert (ax.get_xlabel(), ax.get_ylabel(), kept[0].size) == ("true y", "predicted", (4.6, 4.2))
    share = 1 - ((truth - answers) ** 2).mean() / truth.var()
    assert kept[0].alt == f"Predicted against true values of m: R squared {words.number(share)}"


def test_an_objective_of_three_steps_is_drawn(kept):
    def of(*values):
        return entry("m", 1.0, trace=SimpleNamespace(objective=np.array(values), unit="step"))

    assert (
        pictures.trace(of(3.0, 2.0))
        == pictures.trace(of(3.0, 2.0, np.nan))
        == pictures.trace(entry("m"))
        == ""
    )
    assert not kept and pictures.trace(of(3.0, 2.0, 1.5)) == "drawn"
    assert kept[0].ax.lines[0].get_ydata().tolist() == [3.0, 2.0, 1.5] and kept[0].size == (4.8, 2.6)
    assert kept[0].alt == "Objective of m over 3 steps, from 3.00 to 1.50"


def grouped(X, labels, **more):
    encoder = SimpleNamespace(names=lambda: ["a", "b", "c"][: X.shape[1]], columns=lambda: ["a"], **more)
    return SimpleNamespace(
        model_=SimpleNamespace(predict=None),
        encoder_=encoder,
        matrix=lambda frame: X,
        predict=lambda frame: labels,
    )


@pytest.mark.parametrize("rows", [30, 3001])
def test_groups_are_points_in_the_plane(kept, rows):
    X = np.random.default_rng(0).normal(size=(rows, 2))
    labels = np.arange(rows) % 3
    pictures.groups(made(model=grouped(X, labels)))
    (one,) = kept
    some = np.arange(rows) if rows <= 1500 else np.linspace(0, rows - 1, 1500).astype(int)
    for k, points in enumerate(one.ax.collections):
        assert_allclose(points.get_offsets(), X[some[labels[some] == k]])
        assert_allclose(points.get_facecolor(), [to_rgba(style.color(k), 0.7)])
        assert points.get_sizes().tolist() == [12] and points.get_linewidth().tolist() == [0]
    assert len(one.ax.collections) == 3 and (one.ax.get_xlabel(), one.ax.get_ylabel()) == ("a", "b")
    counts = ", ".join(str(c) for c in np.bincount(labels))
    assert one.alt == f"The rows in 3 groups of {counts}" and one.size == (4.8, 3.8)
    silent = grouped(X, labels)
    silent.model_ = object()
    assert pictures.groups(made(model=silent)) == "" and len(kept) == 1


def test_planes_of_one_and_of_three_columns():
    X = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 5.0, 2.0] + 7.0
    place, names = pictures._plane(X[:, :1], ["a"])
    assert_allclose(place, np.column_stack([X[:, 0], np.arange(20)]))
    assert names == ["a", "row"]
    place, names = pictures._plane(X, ["a", "b", "c"])
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    assert_allclose(np.cov(place.T), np.diag(values[:2]), atol=1e-9)
    assert_allclose(place.mean(axis=0), 0.0, atol=1e-9)
    assert names == ["first principal axis", "second principal axis"]


@pytest.mark.parametrize("symbols", [0, 12, 13])
def test_states_color_the_first_rows_of_a_sequence(kept, symbols):
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=500), np.repeat([1, 0, 2], [150, 240, 110])
    codes = np.arange(500.0) % max(symbols, 1)
    kinds = [f"symbol number {k} of many" for k in range(symbols)]
    model = grouped(codes[:, None], labels, values_={"a": kinds})
    result = made(model=model)
    result.problem.sequence, result.problem.frame = "part", pl.DataFrame({"a": values})
    if symbols:
        result.problem.menu = "sequence of symbols"
    pictures.groups(result)
    (one,) = kept
    shown = (codes if symbols else values)[:400]
    assert_allclose(one.ax.lines[0].get_ydata(), shown)
    assert color(one.ax.lines[0]) == QUIET and one.ax.lines[0].get_linewidth() == 0.8
    for k, points in enumerate(one.ax.collections):
        here = np.flatnonzero(labels[:400] == k)
        assert_allclose(points.get_offsets(), np.column_stack([here, shown[here]]))
        assert_allclose(points.get_facecolor(), [to_rgba(style.color(k))])
        assert points.get_sizes().tolist() == [14] and points.get_zorder() == 3
    texts = [t.get_text() for t in one.ax.get_legend().get_texts()]
    assert texts == ["state 0", "state 1", "state 2"] and not one.ax.get_legend().get_frame_on()
    assert (one.ax.get_xlabel(), one.ax.get_ylabel(), one.size) == ("row", "a", (7.2, 2.8))
    assert one.alt == "a over the first 400 rows, colored by hidden state"
    ticks = [t.get_text() for t in one.ax.get_yticklabels()]
    assert (ticks == [f"{k[:15]}…" for k in kinds]) == (symbols == 12)


# More pictures


def decision(**facts):
    grid = np.array([0.25, 0.5, 0.75])
    curves = {"accuracy": np.array([0.6, 0.8, 0.7]), "f1": np.array([0.9, 0.5, 0.4])}
    best = {"accuracy": (0.5, 0.8), "f1": (0.25, 0.9)}
    usual = {"accuracy": 0.8, "f1": 0.5}
    facts = {"ece": 0.01, "ece_if_calibrated": 0.006, **facts}
    return Decision("yes", grid, curves, best, usual, SimpleNamespace(**facts))


def test_thresholds_and_their_best(kept):
    found = decision()
    drawings.thresholds(found)
    (one,) = kept
    for place, name in enumerate(("accuracy", "f1")):
        line, dot = one.ax.lines[2 * place : 2 * place + 2]
        assert_allclose(line.get_xydata(), np.column_stack([found.thresholds, found.curves[name]]))
        assert_allclose(dot.get_xydata(), [found.best[name]])
        assert color(line) == color(dot) == to_rgba(style.color(place)) and dot.get_markersize() == 5
    half = one.ax.lines[4]
    assert_allclose(half.get_xdata(), 0.5)
    assert color(half) == QUIET and (half.get_linewidth(), half.get_linestyle()) == (0.8, ":")
    assert one.ax.get_xlabel() == "called yes from this probability on"
    assert one.ax.get_ylabel() == "on unseen rows" and not one.ax.get_legend().get_frame_on()
    assert one.size == (4.8, 3.4)
    assert one.alt.lower() == (
        "decision thresholds: accuracy is best from 0.50 on, 0.800; f1 is best from 0.25 on, 0.900"
    )


def test_a_curve_of_many_rows_is_drawn_from_some(kept, monkeypatch):
    asked = []
    monkeypatch.setattr(drawings.plot, "roc", lambda y, p, ax, **more: asked.append((y, p, more)))
    rng = np.random.default_rng(0)
    for rows in (20_000, 30_001):
        y = np.where(rng.random(rows) < 0.4, "b", "a")
        p = rng.random(rows)
        told = Answers(None, np.column_stack([1 - p, p]), True, np.array(["a", "b"]))
        one = entry("m", 1.0, told=told, tested=np.ones(rows, dtype=bool))
        assert drawings.roc(made([one], y=y, task="classification")) == "drawn"
        some = np.arange(rows) if rows == 20_000 else np.linspace(0, rows - 1, 20_000).astype(int)
        positive = "b" if (y == "b").sum() < rows / 2 else "a"
        assert asked[-1][0].tolist() == (y[some] == positive).astype(int).tolist()
        assert_allclose(asked[-1][1], (p if positive == "b" else 1 - p)[some])
        assert asked[-1][2] == {"n_resamples": 100} and kept[-1].size == (4.8, 3.8)
        assert kept[-1].alt == "ROC curve of m on unseen rows"
    assert drawings.roc(made([entry("m", 1.0)], y=y, task="classification")) == ""


def test_dependence_on_numbers_and_on_words(kept):
    means = [Interval(1.0, 0.5, 1.25), Interval(2.0, 1.0, 3.5)]
    drawings.dependence("x", Dependence([10.0, 20.0], means, "mean predicted y"))
    drawings.dependence("w", Dependence(["a", "a very long word indeed"], means, "mean predicted y"))
    line, words_ = (one.ax for one in kept)
    assert_allclose(line.lines[0].get_xydata(), [[10, 1], [20, 2]])
    assert color(line.lines[0]) == to_rgba(style.color(0)) and line.lines[0].get_markersize() == 4
    band = line.collections[0].get_paths()[0].vertices
    assert {tuple(v) for v in band} == {(10.0, 0.5), (10.0, 1.25), (20.0, 1.0), (20.0, 3.5)}
    assert_allclose(line.collections[0].get_facecolor(), [to_rgba(style.color(0), 0.15)])
    assert line.collections[0].get_linewidth().tolist() == [0]
    assert (line.get_xlabel(), line.get_ylabel()) == ("x", "mean predicted y")
    assert kept[0].alt == "Partial dependence on x: 10.0: 1.00; 20.0: 2.00" and kept[0].size == (4.2, 2.8)
    assert_allclose(words_.lines[0].get_xydata(), [[1, 0], [2, 1]])
    ends = np.array(words_.collections[0].get_segments())
    assert_allclose(ends, [[[0.5, 0], [1.25, 0]], [[1.0, 1], [3.5, 1]]])
    assert words_.lines[1].get_markersize() == 6  # caps of three points on each side
    assert [t.get_text() for t in words_.get_yticklabels()] == ["a", "a very long word …"]
    assert words_.get_xlabel() == "mean predicted y"
    assert kept[1].alt == "Partial dependence on w: a: 1.00; a very long word indeed: 2.00"


def test_groups_of_rows_and_the_learning_curve(kept):
    found = [
        Group("k", v, 30, Interval(m, m - 0.1, m + 0.3), False) for v, m in (("a", 0.2), ("b" * 40, 0.5))
    ]
    drawings.groups(found, 0.4, "error")
    ax = kept[0].ax
    assert_allclose(ax.lines[0].get_xydata(), [[0.2, 0], [0.5, 1]])
    assert_allclose(ax.collections[0].get_segments(), [[[0.1, 0], [0.5, 0]], [[0.4, 1], [0.8, 1]]])
    assert_allclose(ax.lines[-1].get_xdata(), 0.4)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["k: a", "k: " + "b" * 30 + "…"]
    assert ax.get_xlabel() == "error on unseen rows, with 95% intervals"
    assert kept[0].size == pytest.approx((7.0, 1.56)) and kept[0].alt.startswith(
        "error by group: k a 0.200; k bb"
    )
    curve = {20: [-3.0, -2.0], 50: [-2.0, -1.0], 100: [-1.0, -1.0]}
    drawings.learning(made([entry("m", 1.0)], curve=curve))
    ax = kept[1].ax
    assert_allclose(ax.lines[0].get_xydata(), [[20, 2.5], [50, 1.5], [100, 1.0]])
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].max(), band[:, 1].min()) == (3.0, 1.0)  # one standard error, 0.5, around 2.5
    assert (ax.get_xlabel(), ax.get_ylabel(), kept[1].size) == ("rows learned from", "RMSE", (4.8, 3.0))
    assert kept[1].alt == "Learning curve of m: 20 rows 2.50; 50 rows 1.50; 100 rows 1.00"


# Sentences


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"), (0.94444, "0.944"), (-2.0, "-2.00"), (54.4966, "54.5"), (999999.0, "999999"), (1e6, "1e+06"),
        (1e-4, "0.000100"), (0.99e-4, "9.9e-05"), (123456.0, "123456"), (1.23456e9, "1.23e+09"),
    ],
)  # fmt: skip
def test_numbers_for_people(value, said):
    assert words.number(value) == said
    assert words.number(0.123456, 2) == "0.12"


@pytest.mark.parametrize(
    ("mean", "half", "said"),
    [
        (54.7123, 2.43, "54.7 ± 2.4"), (54.7123, 24.3, "55 ± 24"), (0.5, 0.012, "0.500 ± 0.012"),
        (2.0, 0.0, "2.00 ± 0"), (2.0, 1e-5, "2.00 ± 1e-05"),
        (1e6, 2.0, "1e+06 ± 2.0"), (3.0, 1e-4, "3.00000 ± 0.00010"),
    ],
)  # fmt: skip
def test_a_score_has_the_digits_that_its_interval_allows(mean, half, said):
    assert words.score(made(), entry("m", mean, half)) == said and words.score(made(), entry("m")) == ""


def test_the_answer_in_words():
    best, base = (
        entry("M", 1.0, n_folds=2, scores=[1, 1]),
        entry("base", 2.0, baseline=True, n_folds=2, scores=[1, 1]),
    )
    near = entry("N", 1.1, p_value=0.4, n_folds=2, scores=[1])
    facts = {"interrupted": False, "time_budget": 9.0, "too_large": {}}
    said = "M predicts y best: RMSE 1.00 ± 0.50"
    clear = "The baseline (base) has 2.00 ± 0.50."
    assert (
        words.answer(made([best, base], **facts)) == f"{said}; better than every other model tried. {clear}"
    )
    assert words.answer(made([best], **facts)) == f"{said}."
    assert words.answer(made([best, near, base], **facts)) == (
        f"{said}; not distinguishable from N. {clear} 1 model did not get through all folds."
    )
    base.p_value = 0.3
    assert words.answer(made([best, base], **facts)).endswith(
        "from base. No model is clearly better than the baseline (base): "
        "there are too few rows, or the columns say little."
    )
    late = [Entry("late", False, failure=words.NO_TIME), Entry("later", False, failure=words.STOPPED)]
    assert words.answer(made([base, *late], **facts)) == (
        "No model could be measured, only the baseline (base): RMSE 2.00 ± 0.50. "
        "2 models could not be measured within 9 s. Give it more time: --time-budget."
    )
    facts |= {"interrupted": True, "time_budget": None, "too_large": {"SVC": 50}}
    broken = Entry("b", False, failure="it failed")
    assert words.answer(made([base, late[0], broken], **facts)) == (
        "No model could be measured, only the baseline (base): RMSE 2.00 ± 0.50. 1 model could not be measured before "
        "it was stopped, 1 model stayed away from 100 rows and 1 model failed."
    )
    facts["interrupted"] = False
    assert "could not be measured within the time" in words.untried(made([base, late[0]], **facts))
    alone = words.answer(made([base], **{**facts, "too_large": {}}))
    assert alone.startswith("base predicts y best") and alone.endswith("say little.")


@pytest.mark.parametrize(
    ("p", "said"), [(None, "best"), (0.0009, "< 0.001"), (0.001, "0.001"), (0.25, "0.250")]
)
def test_p_values_in_words(p, said):
    assert words.p_value(entry("m", 1.0, p_value=p)) == said


def test_decisions_and_groups_in_words():
    first, second = words.decision_in_words(decision())
    assert first == (
        "A row is called yes from probability 0.5 on. F1 would be best from 0.25 on (0.900 instead of 0.500): "
        "gnomon predict best.gnomon new.csv --threshold 0.25."
    )
    assert second.startswith(
        "Probabilities are off by 0.010 on average (0.006 by chance), which is about what chance"
    )
    off = words.decision_in_words(decision(ece=0.012))[1]
    assert "more than chance gives: do not take them at their word" in off
    some = [Group("k", v, 30, Interval(0.2, 0.1, 0.3), v == "b") for v in "ab"]
    assert words.groups_in_words(some).startswith(
        "It is worse than on average (the line) where k b. Many groups"
    )
    assert words.groups_in_words(some[:1]).startswith("No group of rows stands out")


@pytest.mark.parametrize(
    ("last", "help_"),
    [
        ([-1.0, -1.2, -0.8], True),
        ([-2.0, -2.0, -2.0], False),
        ([-2.5, -2.9, -2.7], False),
        ([-1.0, -2.2, -1.9], False),
    ],
)
def test_whether_more_rows_would_help(last, help_):
    curve = {10: [-9.0] * 3, 50: [-2.0, -2.1, -1.9], 100: last}
    said = words.curve_in_words(made(curve=curve))
    gain = abs(np.mean(last) + 2.0)
    assert said.startswith(f"From 50 to 100 rows the RMSE changed by {words.number(gain, 2)}")
    assert ("so more rows are likely to help" in said) == help_
    assert ("would probably not help much" in said) != help_


def test_how_it_was_done_in_words():
    encoder = SimpleNamespace(columns=lambda: [f"c{k}" for k in range(41)])
    best = entry("M", 1.0, scores=[1.0] * 10)
    facts = {
        "repeats": 2, "importance": {"a": 1}, "model": SimpleNamespace(encoder_=encoder, n_rows_=100),
        "most_rows": None, "random_state": 7, "interrupted": False, "seconds": 3.21,
        "spent": {"the rest": 1.0, "folds": 2.0, "x": 0.04},
    }  # fmt: skip
    said = words.how(made([best], **facts))
    assert said[0].startswith("Nested cross-validation: 5 outer folds, drawn 2 times measure a model on rows")
    assert "Seed 7. The saved model was fitted again, settings included, on all 100 rows." in said
    assert (
        said[-2] == "Seconds: 3.2 in all (folds 2.0, the rest 1.0). Compiling is counted as no model's time."
    )
    assert said[-1] == "Importance was measured for the first 40 columns only." and len(said) == 6
    encoder.columns = lambda: list("ab")
    result = made([best], **{**facts, "repeats": 1, "most_rows": 60, "spent": {}, "interrupted": True})
    result.model.n_rows_, result.problem.time = 60, "day"
    said = words.how(result)
    assert said[0].startswith(
        "10 steps through time, in the order of day, each tested on what comes next, measure"
    )
    assert said[1].startswith(
        "There was no time for all rows: the models of the folds learned from 60 rows each."
    )
    assert said[-2] == "Seed 7. It was stopped: the saved model learned from the training rows of one fold."
    assert said[-1] == "Seconds: 3.2 in all." and len(said) == 6
    result.interrupted = False
    assert words.how(result)[-2].endswith("learned from 60 of the 100 rows: there was no time for all.")


def test_a_comparison_as_plain_values():
    best = entry(
        "M", 1.0, scores=[-1.0, -2.0], n_folds=2, beside={"mae": [1.0, 2.0]}, seconds=1.23456, p_value=None,
        chosen=[{"k": 1}], warned=["slow"],
    )  # fmt: skip
    late = Entry("late", False, failure="no time")
    result = made(
        [best, late], interrupted=False, too_large={"SVC": 50}, time_budget=None, settings={"k": 1}, folds=5, repeats=2,
        importance={"a": Interval(1.0, 0.5, 1.5)}, random_state=3, seconds=2.34567, spent={"folds": 1.23456},
    )  # fmt: skip
    found = result.to_dict()
    assert found["ranking"] == [
        {
            "model": "M", "baseline": False, "score": 1.0, "low": 0.5, "high": 1.5, "p_value": None,
            "folds": [1.0, 2.0], "chosen": [{"k": 1}], "beside": {"mae": 1.5}, "complete": True,
            "seconds": 1.235, "warnings": ["slow"],
        }
    ]  # fmt: skip
    assert found["not_tried"] == {"late": "no time", "SVC": "takes at most 50 rows"}
    assert found["left_out"] == {"late": "no time"} and found["better"] == "lower"
    assert found["best"] == {"model": "M", "settings": {"k": 1}} and found["seconds"] == 2.346
    assert found["importance"] == {"a": {"mean": 1.0, "low": 0.5, "high": 1.5}} and found["spent"] == {
        "folds": 1.235
    }
    assert (found["rows"], found["folds"], found["repeats"], found["seed"]) == (100, 5, 2, 3)
    assert (found["task"], found["target"], found["metric"]) == ("regression", "y", "RMSE")
    assert (found["said"], found["warnings"], found["answer"]) == (["Said."], ["Look."], repr(result))
    assert {"gnomon", "Python", "numpy", "polars"} <= set(found["versions"])
    result.problem.task.sign = 1
    assert result.to_dict()["better"] == "higher"


# The page


def column(name, kind, done="done", missing=0, distinct=2):
    return Column(name, kind, missing, distinct, done)


def test_the_head_of_the_page_counts_the_columns_in_use():
    result = made(
        [entry("M", 1.0, n_folds=1, scores=[1]), entry("N", 2.0, n_folds=1, scores=[1])], source="/a/b/t.csv",
        interrupted=False, too_large={}, time_budget=None,
    )  # fmt: skip
    result.problem.columns = [column("a", NUMBER), column("b", OUT), column("c", CATEGORY)]
    head = page._header(result)
    assert "gnomon compare · t.csv · 100 rows, 2 columns used · 20" in head
    assert "<h1>M predicts y best: RMSE 1.00 ± 0.50.</h1>" in head
    assert '<p class="lead">Better than every other model tried.</p>' in head
    result.source = ""
    assert "gnomon compare · a table · " in page._header(result)


def test_tables_of_the_page():
    found = markup.table(
        "c", ["m", "x", "y", "z"], [["a", "1", "2", "<3"], ["b", "4", "5", "6"]], numeric=2, best=True
    )
    assert found == (
        '<div class="scroll"><table><caption>c</caption><thead><tr><th scope="col">m</th><th scope="col" class="n">x'
        '</th><th scope="col" class="n">y</th><th scope="col">z</th></tr></thead><tbody><tr class="best">'
        '<th scope="row">a</th><td class="n">1</td><td class="n">2</td><td>&lt;3</td></tr>'
        '<tr><th scope="row">b</th><td class="n">4</td><td class="n">5</td><td>6</td></tr></tbody></table></div>'
    )
    assert '<tr class="best">' not in markup.table("c", ["m"], [["a"]])
    assert page.figure("") == page.pair(page.figure("")) == "" and page.figure("p", "c", "wide") == (
        '<figure class="wide">p<figcaption>c</figcaption></figure>'
    )
    assert page.pair(page.figure("p")) == '<div class="pair"><figure>p</figure></div>'


def test_rows_of_the_ranking_and_other_metrics():
    one = entry(
        "M", 1.0, seconds=1.25, chosen=[{"k": 1}, {"k": 2}, {"k": 2}, {"k": 1}], beside={"mae": [1.0, 2.0]}
    )
    other = entry("N", 2.0, p_value=0.25, seconds=0.04, chosen=[{}], beside={"r2": [0.5]})
    result = made([one, other, Entry("L", False, failure="too slow")])
    found = page._ranking(result)
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", found)
    assert cells[5:] == [
        "M",
        "1.00 ± 0.50",
        "best",
        "1.2 s",
        "k=1",
        "N",
        "2.00 ± 0.50",
        "0.250",
        "0.0 s",
        "defaults",
    ]
    assert found.count('class="n"') == 9 and found.count('class="best"') == 1
    beside = page._beside(result)
    assert re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", beside) == [
        "model", "mae", "r2", "M", "1.50", "–", "N", "–", "0.500",
    ]  # fmt: skip
    assert beside.count('class="n"') == 6 and page._beside(made([entry("M", 1.0)])) == ""
    assert page._left_out(result) == "<h3>Not in the ranking</h3><ul><li>L: too slow</li></ul>"
    assert page._left_out(made([one])) == ""
    result.problem.columns = [column("a", NUMBER, "standardized", 3, 7)]
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", page._columns(result))
    assert (
        cells[5:] == ["a", "7", "3", "number", "standardized"]
        and page._columns(result).count('class="n"') == 4
    )


def test_details_of_a_model_are_drawn_once(monkeypatch):
    monkeypatch.setattr(page.pictures, "close_up", lambda result, entry: f"close {entry.name}")
    monkeypatch.setattr(page.pictures, "trace", lambda entry: f"trace {entry.name}")
    best = entry("M", 1.0, scores=[-1.0, -0.5], warned=["a", "b", "c", "d"])
    other = entry("N", 2.0, scores=[-2.0])
    result = made([best, other])
    first, second = page._details(result, best), page._details(result, other)
    assert "<p>Folds: 1.00, 0.500.</p>" in first and "figure" not in first
    assert (
        re.findall(r"Warned: (\w)", first) == ["a", "b", "c"]
        and '<span class="soft">1.00 ± 0.50</span>' in first
    )
    assert "<figure>close N</figure><figure>trace N</figure>" in second and "Warned" not in second
