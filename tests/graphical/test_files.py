"""Network files: round trips, all forms of the grammar, and files that are broken."""

import gzip

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.datasets import load_network
from gnomon.graphical import BayesianNetwork, read_network, write_network
from graphical.randomly import random_network

FORMATS = ("bif", "xmlbif", "net")


def assert_same(one, other):
    assert (
        one.variables_ == other.variables_ and one.parents_ == other.parents_ and one.states_ == other.states_
    )
    for name in one.variables_:
        np.testing.assert_array_equal(one.tables_[name], other.tables_[name])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(12))
def test_read_of_write_is_the_same_network(format, seed):
    model = random_network(seed, zeros=seed % 2 == 0)
    model = read_network(write_network(model, format=format), format=format)  # rows sum to one by now
    assert_same(model, read_network(write_network(model, format=format), format=format))


@pytest.mark.parametrize("name", ["asia.bif", "asia.xmlbif", "asia.net", "asia.bif.gz", "asia.xml"])
def test_ending_tells_the_format(tmp_path, name):
    asia, path = load_network("asia"), tmp_path / name
    write_network(asia, path)
    assert_same(asia, read_network(path))
    assert_same(asia, read_network(str(path)))
    if name.endswith("gz"):
        assert gzip.decompress(path.read_bytes()).startswith(b"network")


def test_all_of_the_bif_grammar():
    text = """
    // a comment
    network "chest clinic" { property author nobody; }
    variable "long name" { type discrete [ 2 ] { "state one", b }; property position = (1, 2); }
    variable y { type discrete[3]{ 0, 1, 2 }; } /* another
    comment */
    variable z { type discrete [ 2 ] { t, f }; }
    probability ( "long name" ) { table 0.25, 0.75; }
    probability ( y | "long name" ) { ( b ) 0.1, 0.2, 0.7; default 0.3, 0.3, 0.4; }
    probability ( z | y, "long name" ) { table 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4; }
    """
    model = read_network(text)
    assert model.states_["long name"] == ["state one", "b"]
    np.testing.assert_allclose(model.tables_["y"], [[0.3, 0.3, 0.4], [0.1, 0.2, 0.7]])
    assert model.tables_["z"][0, 1, 0] == pytest.approx(0.2) and model.tables_["z"][2, 0, 1] == pytest.approx(
        0.5
    )
    assert_same(model, read_network(write_network(model)))


def test_rounded_rows_are_scaled_and_wrong_ones_named():
    good = "variable a { type discrete [ 3 ] { x, y, z }; } probability ( a ) { table 0.333, 0.333, 0.333; }"
    np.testing.assert_allclose(read_network(good).tables_["a"], 1 / 3)
    with pytest.raises(DataError, match="'a' sums to 0.9"):
        read_network(good.replace("0.333, 0.333, 0.333", "0.3, 0.3, 0.3"))


BROKEN = {
    "undeclared parent": ("probability ( tub | asia )", "probability ( tub | europe )", "'tub' names 'europe'"),
    "no number": ("table 0.01, 0.99", "table 0.01, abc", "'asia' holds 'abc'"),
    "short row": ("(yes) 0.05, 0.95;", "(yes) 0.05;", "'tub' has 1 numbers"),
    "unknown state": ("(yes) 0.05", "(maybe) 0.05", "'asia' has no state 'maybe'"),
    "lost row": ("(yes) 0.05, 0.95;", "", "'tub' lacks some of its rows"),
    "count of states": ("[ 2 ]", "[ 3 ]", "'asia' announces 3 states and names 2"),
    "twice": ("probability ( tub | asia )", "probability ( asia | tub )", "'asia' is given twice"),
    "nonsense": ("variable asia", "thing asia", "found 'thing'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_names_the_node(name):
    text = write_network(load_network("asia"))
    old, new, message = BROKEN[name]
    assert old in text
    with pytest.raises(DataError, match=message):
        read_network(text.replace(old, new, 1))


@pytest.mark.parametrize("format", FORMATS)
def test_file_cut_anywhere_is_an_error(format):
    text = write_network(load_network("asia"), format=format)
    for end in range(40, len(text.rstrip()) - 1, 37):
        with pytest.raises(DataError):
            read_network(text[:end], format=format)
    if format != "xmlbif":
        start = text.index("probability ( dysp" if format == "bif" else "potential (dysp")
        with pytest.raises(DataError, match="the file ends in the middle of the table of 'dysp'"):
            read_network(text[: start + 24], format=format)
    table = text.index("probability ( dysp") if format == "bif" else text.rindex("dysp")
    with pytest.raises(DataError, match="dysp"):
        read_network(text[: table + 40], format=format)


def test_no_such_file():
    with pytest.raises(DataError, match="no file 'nothing.bif'"):
        read_network("nothing.bif")
    with pytest.raises(DataError, match="format must be"):
        write_network(load_network("asia"), format="dot")
    with pytest.raises(DataError, match="NET files name nodes"):
        write_network(BayesianNetwork(nodes=["a b"], tables={"a b": [1.0]}), format="net")


def test_xml_entities_are_refused():
    with pytest.raises(DataError, match="entities"):
        read_network('<!DOCTYPE x [<!ENTITY a "b">]><BIF></BIF>')
