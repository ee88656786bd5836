"""Characters stand where the numbers are: dots of a plot, ends of intervals; settings are as they are written."""

import json
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
import typer

from gnomon.cli.app import _left as left
from gnomon.cli.app import check_folder, listed, parse
from gnomon.cli.screen import Screen, exit_code
from gnomon.cli.showing import intervals, show_row, show_rules, sparkline
from gnomon.cli.watching import COLORS, _groups, _picture, dots, watch_fit
from gnomon.report.columns import QuestionError

BITS = {
    (0, 0): 1,
    (1, 0): 2,
    (2, 0): 4,
    (3, 0): 64,
    (0, 1): 8,
    (1, 1): 16,
    (2, 1): 32,
    (3, 1): 128,
}  # braille


def pixels(lines):
    """Places (column, row from below) of the dots in lines of braille."""
    found = set()
    for i, line in enumerate(reversed([line.plain for line in lines])):
        for j, letter in enumerate(line):
            code = 0 if letter == " " else ord(letter) - 0x2800
            found |= {
                (2 * j + across, 4 * i + 3 - down) for (down, across), bit in BITS.items() if code & bit
            }
    return found


def test_dots_are_where_the_points_are():
    points = np.random.default_rng(0).normal(size=(40, 2)) * [3.0, 0.1] + [5.0, -2.0]
    lines = dots(points, np.zeros(40, dtype=int), 20, 6)
    assert len(lines) == 6 and all(len(line.plain) == 20 for line in lines)
    unit = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    assert pixels(lines) == {(round(a * 39), round(b * 23)) for a, b in unit}


def test_dots_of_one_column_and_of_one_point():
    assert pixels(dots(np.array([[1.0], [2.0], [5.0]]), np.zeros(3, dtype=int), 4, 2)) == {
        (0, 0),
        (2, 0),
        (7, 0),
    }
    assert pixels(dots(np.array([[3.0, 3.0]]), np.zeros(1, dtype=int), 4, 2)) == {(0, 0)}


def test_dots_have_the_colors_of_their_groups():
    points = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    groups = np.array([0, 1, len(COLORS) + 2])
    lines = dots(points, groups, 3, 3)
    seen = [str(line.spans[0].style) for line in reversed(lines)]
    assert seen == [COLORS[0], COLORS[1], COLORS[2]]


def test_rows_are_grouped_by_class_or_by_the_fifth_of_their_prediction():
    class Says:
        def __init__(self, values):
            self.values = np.asarray(values)

        def predict(self, X):
            return self.values

    assert _groups(Says(["b", "a", "b"]), np.zeros((3, 1))).tolist() == [1, 0, 1]
    assert _groups(Says([0.5, 0.1, 0.5]), np.zeros((3, 1))).tolist() == [1, 0, 1]
    assert _groups(Says(np.arange(20.0)), np.zeros((20, 1))).tolist() == np.repeat(range(5), 4).tolist()
    assert _groups(object(), np.zeros((3, 1))).tolist() == [0, 0, 0]


def test_intervals_share_one_scale():
    ends = [(-2.0, 3.0, 0.5), (0.0, 8.0, 6.0), (1.0, 1.0, 1.0)]
    for line, (low, high, mean) in zip(intervals(ends, 31), ends):
        start, stop, dot = (round((value + 2.0) * 3) for value in (low, high, mean))
        assert line[dot] == "●" and len(line) == stop + 1
        if low < high:
            assert line[start] == "├" and line[stop] == "┤" and set(line[:start]) <= {" "}
            assert all(line[k] == "─" for k in range(start + 1, stop) if k != dot)
    assert intervals([(4.0, 4.0, 4.0)], 5) == ["●"]


def test_settings_are_literals_or_words():
    assert parse(None) == {} and parse(["a=[1, 2]", "b=x=y", "c="]) == {"a": [1, 2], "b": "x=y", "c": ""}
    with pytest.raises(typer.BadParameter, match="not of the form name=value"):
        parse(["C"])
    assert listed(None) is None and listed("a, b,,c ") == ["a", "b", "c"] and listed("") == []


def test_time_that_is_left_is_never_less_than_a_little(monkeypatch):
    from gnomon.cli import app

    monkeypatch.setattr(app, "monotonic", lambda: 103.0)
    assert left(60.0, 100.0) == 57.0
    assert left(app.LEAST_TIME + 2.0, 100.0) == app.LEAST_TIME
    assert left(app.LEAST_TIME / 2, 100.0) == app.LEAST_TIME / 2


def test_files_that_cannot_be_written_are_refused_first(tmp_path):
    check_folder(None)
    check_folder(tmp_path / "new.csv")
    for out, words in ((tmp_path / "no" / "x.csv", "there is no folder"), (tmp_path, "is a folder")):
        with pytest.raises(typer.BadParameter, match=words):
            check_folder(out)


def test_errors_have_the_exit_code_of_their_kind():
    from gnomon.core.errors import DataError
    from gnomon.report.columns import QuestionError

    codes = [
        exit_code(error) for error in (QuestionError("?"), OSError("?"), DataError("?"), ValueError("?"))
    ]
    assert codes == [2, 2, 3, 3] and exit_code(KeyError("?")) is None


def test_what_moves_an_answer_stands_in_columns(capsys):
    part = namedtuple("Part", "column value moves")
    found = namedtuple("Found", "answer label value usual parts")
    told = found(
        "rose", "P(rose)", 0.75, 0.33333, [part("height", "1.5", 0.25), part("color", "red", -10.125)]
    )
    show_row(Screen(False), told, 7)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row 7: rose"
    assert lines[1] == "P(rose) is 0.75; for other rows of the table it is 0.3333 on average."
    table = lines[3:]
    assert [line.split() for line in table] == [
        ["column", "value", "moves", "it", "by"],
        ["height", "1.5", "+0.25"],
        ["color", "red", "-10.12"],
    ]
    assert len({len(line) for line in table}) == 1  # numbers end where their heading ends
    assert table[1].index("1.5") == table[2].index("red") == table[0].index("value")
    show_row(Screen(True), told, 7)
    assert json.loads(capsys.readouterr().out)["parts"][1] == {
        "column": "color",
        "value": "red",
        "moves": -10.125,
    }


def test_a_model_without_steps_is_not_watched():
    job = SimpleNamespace(model=SimpleNamespace(model=object()))
    with pytest.raises(QuestionError, match="object has no steps to watch"):
        watch_fit(Screen(False), job, 3, 0.0, None)


def test_numbers_of_rules_end_where_their_headings_end(capsys):
    rows = [
        ["a ⇒ b", "5", "0.1", "0.25", "0.1 to 0.9", "1.5", "0.01"],
        ["c ⇒ d", "12345678", "0.12345", "1", "0 to 1", "12.25", "0"],
    ]
    found = SimpleNamespace(
        said=["two baskets"], rules=rows, rows=lambda n: rows[:n], answer=lambda: "2 rules", to_dict=dict
    )
    show_rules(Screen(False), found, {"report": "r.html", "rules": "r.csv"})
    lines = capsys.readouterr().out.splitlines()
    head, one, other = lines[2:5]
    for name, a, b in [("baskets", "5", "12345678"), ("confidence", "0.25", "1"), ("lift", "1.5", "12.25")]:
        end = max(head.index(name) + len(name), other.index(f" {b} ") + 1 + len(b))
        assert one[:end].endswith(f" {a}") and other[:end].endswith(f" {b}"), name
    assert one.index("0.1 to 0.9") == other.index("0 to 1") == head.index("95% interval")
    assert one.endswith(" 0.01") and other.endswith(" 0") and len(one) == len(other)
    assert lines[0] == "two baskets" and lines[6] == "2 rules" and lines[-1].split() == ["rules", "r.csv"]


def test_a_long_line_is_not_broken_in_a_pipe(capsys):
    said = " ".join(["word"] * 60)
    Screen(False).say(said)
    assert capsys.readouterr().out == said + "\n"
    Screen(True).say(said)
    assert capsys.readouterr().out == ""


def test_tables_in_a_pipe_are_lines_of_aligned_columns(capsys):
    Screen(False).table(["name", "n"], [["ab", "1"], ["c", "10"]], numeric=(1,))
    assert capsys.readouterr().out == "name   n\nab     1\nc     10\n"


def test_bars_of_a_curve_stand_on_its_lowest_value():
    assert sparkline([5.0, 6.0, 7.0, 12.0]) == sparkline([-3.0, -2.0, -1.0, 4.0]) == "▁▂▃█"
    assert sparkline([2.0, 2.0]) == "▁▁"


def test_every_column_of_the_curve_of_the_objective_has_its_dot():
    values = np.random.default_rng(0).permutation(120).astype(float)
    model = SimpleNamespace(trace_=SimpleNamespace(objective=values))
    lines = list(_picture(model, np.zeros((3, 2)), 7).renderables)
    assert lines[0].plain.endswith(f"step 7: objective {values[-1]:.8g}") and lines[-6].plain == "objective"
    assert pixels(lines[-5:]) == {(i, round(19 * v / 119)) for i, v in enumerate(values)}
