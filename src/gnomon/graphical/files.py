"""Network files: BIF, XMLBIF and Hugin's NET, read and written."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.graphical.net import Net, build, normalized

ROUNDED = 1e-3  # how far from one a row of a file may sum; its numbers have a few digits


class FileError(DataError):
    """A network file is damaged, cut short, or not of its format."""


class Declared(NamedTuple):
    """What a file says: states by variable, and parents and flat table by child (child's axis last)."""

    states: dict[str, list[str]]
    parents: dict[str, list[str]]
    tables: dict[str, Array]


def read_network(source: Any, format: str | None = None) -> Any:
    """Read a Bayesian network from a BIF, XMLBIF or NET file, or from its text.

    Rows that sum to one but for the rounding of their digits are scaled. Whatever is wrong is an error that
    names the variable.

    Parameters
    ----------
    source : path or str
        A file (``.gz`` is unpacked), or the text itself.
    format : {"bif", "xmlbif", "net"}, optional
        Known by the ending of the file or the first letters of the text.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> text = '''
    ... network coins {}
    ... variable x { type discrete [ 2 ] { heads, tails }; }
    ... variable y { type discrete [ 2 ] { yes, no }; }
    ... probability ( x ) { table 0.5, 0.5; }
    ... probability ( y | x ) { (heads) 0.9, 0.1; (tails) 0.2, 0.8; }
    ... '''
    >>> read_network(text).query("x", {"y": "yes"})
    Factor(x: heads=0.818182, tails=0.181818)
    """
    from gnomon.graphical.bif import parse_bif
    from gnomon.graphical.hugin import parse_net
    from gnomon.graphical.network import BayesianNetwork
    from gnomon.graphical.xmlbif import parse_xmlbif

    text, ending = _text_of(source)
    kind = _format(format, ending, text)
    declared = {"bif": parse_bif, "xmlbif": parse_xmlbif, "net": parse_net}[kind](text)
    return BayesianNetwork._from_net(net_of_file(declared))


def write_network(model: Any, path: Any = None, format: str | None = None) -> str:
    """Return a network as the text of a file, and write it where a path is given.

    Numbers are written with all their digits, so reading the file gives the same tables.

    Parameters
    ----------
    model : BayesianNetwork
    path : path, optional
        ``.gz`` is packed.
    format : {"bif", "xmlbif", "net"}, optional
        By the ending of the path; "bif" when there is none.
    """
    from gnomon.graphical.bif import format_bif
    from gnomon.graphical.hugin import format_net
    from gnomon.graphical.xmlbif import format_xmlbif

    name = str(path or "")
    kind = _format(format or ("bif" if path is None else None), _ending(name), "")
    text = {"bif": format_bif, "xmlbif": format_xmlbif, "net": format_net}[kind](model._network())
    if path is not None:
        data = text.encode("utf-8")
        Path(path).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return text


def _text_of(source: Any) -> tuple[str, str]:
    if isinstance(source, str) and ("{" in source or "<" in source):
        return source, ""
    if not isinstance(source, str | os.PathLike):
        raise DataError(f"source must be a path or the text of a network file; got {type(source).__name__}.")
    path = Path(source)
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}. Check the path.")
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8"), _ending(str(path))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FileError(f"{str(path)!r} is no readable network file: {error}") from error


def _ending(name: str) -> str:
    return Path(name.removesuffix(".gz")).suffix.lstrip(".").lower()


def _format(given: str | None, ending: str, text: str) -> str:
    known = {"bif": "bif", "xmlbif": "xmlbif", "bifxml": "xmlbif", "xml": "xmlbif", "net": "net"}
    if given is not None:
        if given not in ("bif", "xmlbif", "net"):
            raise DataError(f"format must be 'bif', 'xmlbif' or 'net'; got {given!r}.{nearest(given, known)}")
        return given
    if ending in known:
        return known[ending]
    start = text.lstrip()[:4000]
    if start.startswith("<"):
        return "xmlbif"
    return (
        "net"
        if start.startswith(("net", "%"))
        and not start.startswith("network")
        or "node " in start
        and "potential" in text
        else "bif"
    )


def net_of_file(declared: Declared) -> Net:
    """Return the network of a file, after checking that it is whole."""
    edges, tables = [], {}
    for name in declared.states:
        if name not in declared.tables:
            raise FileError(f"the file has no probabilities for {name!r}; it may be cut short.")
    for child, parents in declared.parents.items():
        for parent in parents:
            if parent not in declared.states:
                raise FileError(
                    f"the table of {child!r} names the parent {parent!r}, which is not declared."
                    f"{nearest(parent, declared.states)}"
                )
            edges.append((parent, child))
        shape = [len(declared.states[name]) for name in (*parents, child)]
        flat = declared.tables[child]
        if flat.size != np.prod(shape):
            raise FileError(
                f"the table of {child!r} needs {int(np.prod(shape))} numbers for {shape}; it has {flat.size}."
            )
        table = flat.reshape(shape)
        if np.isnan(table).any():
            raise FileError(f"the table of {child!r} lacks some of its rows, and has no default.")
        sums = table.sum(axis=-1, keepdims=True)
        near = np.abs(sums - 1) <= ROUNDED
        tables[child] = np.where(near, normalized(table), table)
    return build(edges, declared.states, declared.states, tables)


def number(word: str, name: str) -> float:
    """Return a number of a table, or say where it is none."""
    try:
        return float(word)
    except ValueError:
        raise FileError(f"the table of {name!r} holds {word!r}, which is no number.") from None


def numbers(words: Sequence[str], name: str) -> Array:
    """Return the numbers of a table."""
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return np.array([number(word, name) for word in words])
