"""The XML form of BIF: ``<VARIABLE>`` and ``<DEFINITION>`` elements, parents by ``<GIVEN>``."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np

from gnomon.graphical.files import Declared, FileError, numbers
from gnomon.graphical.net import Net


def parse_xmlbif(text: str) -> Declared:
    """Return what an XMLBIF file declares. Its tables list the child's states fastest."""
    if "<!ENTITY" in text:
        raise FileError("the file declares XML entities; it is not read.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        last = _last_name(text)
        raise FileError(
            f"the file is no whole XML{f' (it ends near {last!r})' if last else ''}: {error}"
        ) from error
    declared = Declared({}, {}, {})
    for element in root.iter("VARIABLE"):
        name = _text(element, "NAME", "a variable")
        states = [(child.text or "").strip() for child in element if child.tag in ("OUTCOME", "VALUE")]
        if name in declared.states:
            raise FileError(f"variable {name!r} is declared twice.")
        if not states:
            raise FileError(f"variable {name!r} has no outcomes.")
        declared.states[name] = states
    for element in root.iter("DEFINITION"):
        child = _text(element, "FOR", "a definition")
        if child not in declared.states:
            raise FileError(f"the table of {child!r} belongs to no declared variable.")
        if child in declared.tables:
            raise FileError(f"the table of {child!r} is given twice.")
        declared.parents[child] = [(given.text or "").strip() for given in element.iter("GIVEN")]
        declared.tables[child] = numbers(
            _text(element, "TABLE", f"the definition of {child!r}").split(), child
        )
    if not declared.states:
        raise FileError("the file declares no variable.")
    return declared


def _last_name(text: str) -> str:
    for tag in ("FOR", "NAME"):
        _, found, rest = text.rpartition(f"<{tag}>")
        if found:
            return rest.partition("<")[0].strip()
    return ""


def _text(element: ElementTree.Element, tag: str, where: str) -> str:
    """The text of a child element; comments inside a table are left out."""
    found = element.find(tag)
    if found is None:
        raise FileError(f"{where} has no <{tag}>.")
    return "".join(found.itertext()).strip()


def format_xmlbif(net: Net) -> str:
    """Return a network as XMLBIF text."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        "<NAME>unnamed</NAME>",
    ]
    for name, states in zip(net.variables, net.states, strict=True):
        outcomes = "".join(f"<OUTCOME>{escape(str(state))}</OUTCOME>" for state in states)
        lines.append(f'<VARIABLE TYPE="nature"><NAME>{escape(name)}</NAME>{outcomes}</VARIABLE>')
    for v, name in enumerate(net.variables):
        given = "".join(f"<GIVEN>{escape(net.variables[p])}</GIVEN>" for p in net.parents[v])
        table = " ".join(repr(float(p)) for p in np.ravel(net.tables[v]))
        lines.append(f"<DEFINITION><FOR>{escape(name)}</FOR>{given}<TABLE>{table}</TABLE></DEFINITION>")
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
