"""Hugin's NET format: ``node X { states = ("a" "b"); }`` and ``potential (X | Y) { data = ((.1 .9)(.2 .8)); }``."""

from __future__ import annotations

import re

import numpy as np

from gnomon.core.linalg import Array
from gnomon.graphical.bif import Tokens
from gnomon.graphical.files import Declared, FileError, numbers
from gnomon.graphical.net import Net


def parse_net(text: str) -> Declared:
    """Return what a NET file declares. Its data list the child's states fastest."""
    tokens = Tokens(re.sub(r"%[^\n]*", " ", text).replace("=", " = "))
    declared = Declared({}, {}, {})
    while tokens.peek():
        word = tokens.take()
        if word == "net":
            tokens.inside = "the net block"
            tokens.skip_block()
        elif word in ("node", "discrete"):
            _node(
                tokens,
                declared,
                tokens.take() if tokens.peek() != "node" else (tokens.take(), tokens.take())[1],
            )
        elif word == "potential":
            _potential(tokens, declared)
        elif word in ("continuous", "decision", "utility", "class"):
            raise FileError(
                f"the file has a {word!r} block ({tokens.peek()!r}); only discrete nodes can be read."
            )
        else:
            raise FileError(f"expected 'net', 'node' or 'potential', found {word!r}.")
        tokens.inside = "the file"
    if not declared.states:
        raise FileError("the file declares no node.")
    return declared


def _node(tokens: Tokens, declared: Declared, name: str) -> None:
    tokens.inside = f"node {name!r}"
    if name in declared.states:
        raise FileError(f"node {name!r} is declared twice.")
    tokens.expect("{")
    while (word := tokens.take()) != "}":
        tokens.expect("=")
        if word == "states":
            tokens.expect("(")
            declared.states[name] = tokens.until(")")
        tokens.until(";")
    if name not in declared.states:
        raise FileError(f"node {name!r} has no states.")


def _potential(tokens: Tokens, declared: Declared) -> None:
    tokens.inside = "a potential"
    child, parents = tokens.scope()
    if child not in declared.states:
        raise FileError(f"the table of {child!r} belongs to no declared node.")
    if child in declared.tables:
        raise FileError(f"the table of {child!r} is given twice.")
    tokens.expect("{")
    while (word := tokens.take()) != "}":
        if word != "data":
            tokens.until(";")
            continue
        tokens.expect("=")
        words = [part for part in tokens.until(";") if part not in "()"]
        declared.tables[child] = numbers(words, child)
    declared.parents[child] = parents
    if child not in declared.tables:
        raise FileError(f"the table of {child!r} has no data.")


def format_net(net: Net) -> str:
    """Return a network as NET text."""
    lines = ["net", "{", "}"]
    for name, states in zip(net.variables, net.states, strict=True):
        words = " ".join(f'"{state}"' for state in states)
        lines += [f"node {_plain(name)}", "{", f"  states = ({words});", "}"]
    for v, name in enumerate(net.variables):
        given = " ".join(_plain(net.variables[p]) for p in net.parents[v])
        scope = f"{_plain(name)} | {given}" if given else _plain(name)
        lines += [f"potential ({scope})", "{", f"  data = {_nested(net.tables[v])};", "}"]
    return "\n".join(lines) + "\n"


def _plain(name: str) -> str:
    if not re.fullmatch(r"\w+", name):
        raise FileError(
            f"NET files name nodes by letters, digits and '_'; {name!r} is none. Write BIF or XMLBIF."
        )
    return name


def _nested(table: Array) -> str:
    if table.ndim == 1:
        return "(" + " ".join(repr(float(p)) for p in table) + ")"
    return "(" + "".join(_nested(part) for part in np.asarray(table)) + ")"
