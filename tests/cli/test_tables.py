"""Tables that are not in order are refused with the place and the cure; those in order are read whole."""

import datetime
import re

import polars as pl
import pytest

from gnomon.core.errors import DataError
from gnomon.report import read_table
from gnomon.report.forms import understand

GOOD = "x,y\n" + "\n".join(f"{i},{i % 2}" for i in range(20)) + "\n"

BROKEN = {
    "ragged, short": (GOOD + "7\n", r"line 22 of .* has 1 cells and the header has 2"),
    "ragged, long": (GOOD + "7,1,9\n", r"line 22 of .* has 3 cells and the header has 2"),
    "mixed types": (GOOD + "seven,1\n", r"column 'x' mixes numbers and words: row 21 has 'seven'"),
    "infinite": (GOOD + "inf,1\n", r"column 'x', row 21: 'inf' is not a finite number"),
    "same name twice": (GOOD.replace("x,y", "y,y"), r"two columns named 'y' \(columns 1 and 2\)"),
    "empty": ("", r"is empty: its first line must name the columns"),
    "header only": ("x,y\n", r"has a header and no rows"),
    "open quote": (GOOD + '7,"1\n', r"quote in the wrong place|never closed"),
    "stray quote": (GOOD + '7,1"2\n', r"quote|mixes numbers and words: row 21"),  # as Polars reads it
    "zero byte": (GOOD + "7,\0\n", r"line 22 of .* zero byte"),
    "one value": (GOOD.replace(",1\n", ",0\n"), r"target 'y' has the same value"),
    "few rows": ("x,y\n1,0\n2,1\n", r"has 2 usable rows"),
    "lonely class": (
        "x,y\n" + "1,0\n2,0\n3,0\n" * 4 + "9,1\n",
        r"class .*1.* of 'y' has a single row.*--missing",
    ),
    "nothing to learn from": ("x,y\n" + "1,0\n1,1\n" * 10, r"no column is left to learn from"),
    "too large to be squared": (
        "x,y\n" + "\n".join(f"{i * i},{i}e200" for i in range(30)) + "\n",
        r"the target 'y' is 2.9e\+201 in row 30, too large",
    ),
    "names for classes": (
        "x,y\n" + "\n".join(f"{i * i},n{i}" for i in range(30)) + "\n",
        r"30 different values in 30 rows",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_tables_give_code_3_a_clear_message_and_no_file(gnomon, tmp_path, fault):
    text, message = BROKEN[fault]
    (tmp_path / "bad.csv").write_text(text, newline="")
    done = gnomon("compare", "bad.csv", "--target", "y", "--models", "GaussianNB")
    assert done.code == 3 and done.out == ""
    assert done.err.startswith("gnomon: ") and "Traceback" not in done.err
    assert re.search(message, done.err), done.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]
    assert (tmp_path / "bad.csv").read_bytes() == text.encode()


def test_what_can_go_on_goes_on(gnomon, tmp_path):
    (tmp_path / "lonely.csv").write_text(GOOD.replace("0,0", "0,0\n3,7", 1))
    done = gnomon("compare", "lonely.csv", "--target", "y", "--models", "GaussianNB")
    assert done.code == 0 and "a class of one row cannot be learned and tested: 7 of y" in done.out, done.err
    (tmp_path / "stray.csv").write_text(GOOD + "unknown,1\nseven,0\n")
    done = gnomon("compare", "stray.csv", "--target", "y", "--models", "GaussianNB")
    assert done.code == 3 and "--missing 'seven'" in done.err
    done = gnomon("compare", "stray.csv", "--target", "y", "--models", "GaussianNB", "--missing", "seven")
    assert done.code == 0, done.err


def test_a_stray_word_offers_every_option_that_goes_on(gnomon, tmp_path):
    (tmp_path / "stray.csv").write_text(
        "x,z,y\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(30)) + "six,7,1\nseven,8,0\n"
    )
    command = ("compare", "stray.csv", "--target", "y", "--models", "GaussianNB")
    done = gnomon(*command)
    assert done.code == 3 and "row 31 has 'six', and 1 more row has something that is no number" in done.err
    assert "--exclude 'x'" in done.err and "--missing 'six,seven'" in done.err
    assert gnomon(*command, "--missing", "six,seven").code == 0
    assert gnomon(*command, "--exclude", "x").code == 0
    for more in ((), ("--out", "said.csv"), ("--out", "said.parquet")):  # the model does not need the column
        done = gnomon("predict", "gnomon-report/best.gnomon", "stray.csv", *more)
        assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "said.parquet")["x"].to_list()[-2:] == ["six", "seven"]


def test_classes_of_one_row_are_named_all_at_once(gnomon, tmp_path):
    rows = "".join(f"{i * i % 7},{'ab'[i % 2]}\n" for i in range(30)) + "1,c\n2,d\n3,e\n"
    (tmp_path / "lonely.csv").write_text("x,y\n" + rows)
    command = ("compare", "lonely.csv", "--target", "y", "--models", "GaussianNB")
    done = gnomon(*command)
    assert done.code == 3 and "and so have 2 more" in done.err and "--missing 'c,d,e'" in done.err
    assert gnomon(*command, "--missing", "c,d,e").code == 0


def test_an_empty_target_is_said_to_be_empty(gnomon, tmp_path):
    (tmp_path / "empty.csv").write_text("x,y\n" + "1,\n" * 30)
    done = gnomon("compare", "empty.csv", "--target", "y")
    assert done.code == 3 and "the target 'y' is empty in every row" in done.err


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_may_end_as_on_any_system(gnomon, tmp_path, end):
    text = end.join(["x;y", *(f"{i},5;{'ab'[i % 2]}" for i in range(30)), ""])
    (tmp_path / "t.csv").write_text(text, newline="")
    table = read_table(tmp_path / "t.csv")
    assert table.columns == ["x", "y"] and table["x"].to_list() == [f"{i},5" for i in range(30)]
    assert gnomon("compare", "t.csv", "--target", "y", "--models", "GaussianNB").code == 0
    done = gnomon("predict", "gnomon-report/best.gnomon", "t.csv", "--out", "p.csv")
    assert done.code == 0 and len(read_table(tmp_path / "p.csv")) == 30


def test_numbers_too_long_to_be_told_apart_are_names(tmp_path):
    big = [10**25 + i for i in range(30)]
    lines = [f"{i},{value},{2**60 + i % 3}" for i, value in enumerate(big)]
    (tmp_path / "t.csv").write_text("x,big,few\n" + "\n".join(lines) + "\n")
    table = read_table(tmp_path / "t.csv")
    assert table["big"].to_list() == [str(value) for value in big]
    assert table["few"].n_unique() == 3 and table["few"].dtype == pl.String
    read, forms, _ = understand(table)
    assert read.equals(table) and forms == {}
    (tmp_path / "far.csv").write_text("x\n1e30\n2e30\n9007199254740993\n")
    assert read_table(tmp_path / "far.csv")["x"].dtype == pl.Float64


def test_postal_codes_are_names_and_padded_numbers_are_not(tmp_path):
    (tmp_path / "t.csv").write_text("zip,month,n\n01234,01,0100\n98765,12,12345\n")
    table = read_table(tmp_path / "t.csv")
    assert table["zip"].to_list() == ["01234", "98765"]
    assert table["month"].to_list() == [1, 12] and table["n"].to_list() == [100, 12345]


def test_a_file_without_names_and_a_table_of_a_target_alone_are_said_to_be_so(gnomon, tmp_path):
    (tmp_path / "bare.csv").write_text("1.5,2,a\n" * 20)
    done = gnomon("compare", "bare.csv", "--target", "y")
    assert done.code == 2 and "The first line of the file must name the columns." in done.err
    (tmp_path / "alone.csv").write_text("y\n" + "a\nb\n" * 20)
    done = gnomon("compare", "alone.csv", "--target", "y")
    assert done.code == 3 and "no column besides the target" in done.err


def test_long_ids_of_parquet_are_left_out_with_the_reason():
    from gnomon.report.columns import describe

    ids, few = describe(
        pl.DataFrame({"code": [2**62 + 7 * i for i in range(40)], "far": [2**60, 2**61] * 20})
    )
    assert ids.kind == "left out" and "different ones would be the same" in ids.done
    assert few.kind == "number"


def test_two_rows_of_a_class_are_enough_for_scores_without_probabilities(gnomon, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i + (i % 2) / 9},c{i // 2}\n" for i in range(60)))
    done = gnomon("compare", "t.csv", "--target", "y", "--models", "LinearSVC", "--folds", "2")
    assert done.code == 0 and "left out" not in done.out and "LinearSVC" in done.out


def test_missing_and_foreign_files(gnomon, tmp_path):
    assert gnomon("compare", "no.csv", "--target", "y").code == 3
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    done = gnomon("compare", "table.xlsx", "--target", "y")
    assert done.code == 3 and ".csv, .tsv" in done.err
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    assert gnomon("compare", "bad.parquet", "--target", "y").code == 3
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in gnomon("compare", "folder.csv", "--target", "y").err


@pytest.mark.parametrize(("encoding", "said"), [("latin1", "line 3 .*byte 0xe9"), ("utf-16", "is UTF-16")])
def test_wrong_encodings_are_named_with_the_way_to_convert(tmp_path, encoding, said):
    path = tmp_path / "table.csv"
    path.write_bytes("x,y\n1,a\n2,é\n".encode(encoding))
    with pytest.raises(DataError, match=f"{said}.*iconv"):
        read_table(path)


def test_a_huge_cell_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1," + "a" * 2**21 + "\n2,b\n")
    with pytest.raises(DataError, match="longer than 1,048,576 characters"):
        read_table(path)


def test_a_huge_line_is_never_held_in_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "table.csv"
    path.write_text("x,y\n1," + "a" * 2**24 + "\n")
    tracemalloc.start()
    with pytest.raises(DataError, match="line 2 of table.csv is longer than 4,096 characters"):
        read_table(path, max_line=4096)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_cells_become_numbers_dates_truth_values_and_words(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        'n, x ,when,yes,word,hole\n1,0.5,2024-01-02,true,a,?\n\n2, 1e3,2024-02-03,FALSE,"b, c",4\n3,NA,,,,NaN\n'
    )
    assert read_table(path).to_dict(as_series=False) == {
        "n": [1, 2, 3],
        "x": [0.5, 1000.0, None],
        "when": [datetime.date(2024, 1, 2), datetime.date(2024, 2, 3), None],
        "yes": [True, False, None],
        "word": ["a", "b, c", None],
        "hole": [None, 4, None],
    }


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separators_are_found_in_the_header(tmp_path, mark):
    path = tmp_path / "table.csv"
    path.write_text("\ufeff" + f"a{mark}b\n1{mark}x\n2{mark}y\n", encoding="utf-8")
    assert read_table(path).rows() == [(1, "x"), (2, "y")]


def test_every_format_gives_the_same_table(tmp_path):
    table = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.5], "c": ["x", "y", None]})
    table.write_csv(tmp_path / "t.csv")
    table.write_csv(tmp_path / "t.tsv", separator="\t")
    table.write_parquet(tmp_path / "t.parquet")
    table.write_ipc(tmp_path / "t.arrow")
    for name in ("t.csv", "t.tsv", "t.parquet", "t.arrow"):
        assert read_table(tmp_path / name).equals(table), name


def test_infinite_numbers_of_parquet_are_refused(tmp_path):
    pl.DataFrame({"x": [1.0, float("inf")]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'x', row 2: inf is not a finite number"):
        read_table(tmp_path / "t.parquet")
