"""The BIF format: ``variable X { type discrete [ 2 ] { a, b }; }`` and ``probability ( X | Y ) { (a) .1, .9; }``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.graphical.factor import state_code
from gnomon.graphical.files import Declared, FileError, numbers
from gnomon.graphical.net import Net

COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
TOKENS = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}()\[\]|;,])|([^\s{}()\[\]|;,"]+)')
PLAIN = re.compile(r"[^\s{}()\[\]|;,\"/]+")


class Tokens:
    """The words of a file, taken one after the other."""

    def __init__(self, text: str) -> None:
        bare = COMMENTS.sub(lambda match: match.group() if match.group()[0] == '"' else " ", text)
        found = TOKENS.findall(bare)
        self.words = [mark or word or quoted for quoted, mark, word in found]
        self.quoted = [not mark and not word for _, mark, word in found]
        self.place = 0
        self.inside = "the file"

    def peek(self) -> str:
        """Return the next word, or nothing at the end."""
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        """Return the next word; the end of the file is an error that names what was being read."""
        if self.place >= len(self.words):
            raise FileError(f"the file ends in the middle of {self.inside}; it is cut short.")
        self.place += 1
        return self.words[self.place - 1]

    def expect(self, word: str) -> None:
        """Take a word that must come next."""
        found = self.take()
        if found != word:
            raise FileError(f"in {self.inside}: expected {word!r}, found {found!r}.")

    def until(self, *ends: str) -> list[str]:
        """Take the words up to one of the ends, which is taken too; commas are left out."""
        begin = self.place
        words = self.words
        try:
            while words[self.place] not in ends:
                self.place += 1
        except IndexError:
            raise FileError(f"the file ends in the middle of {self.inside}; it is cut short.") from None
        self.place += 1
        return [word for word in words[begin : self.place - 1] if word != ","]

    def scope(self) -> tuple[str, list[str]]:
        """Take ``( child | parents )`` and return the names; what comes next is the child's table."""
        self.expect("(")
        self.inside = f"the table of {self.peek()!r}"
        names = [word for word in self.until(")") if word != "|"]
        return (names[0], names[1:]) if names else ("", [])

    def skip_block(self) -> None:
        """Take a block in braces and all within."""
        self.expect("{")
        depth = 1
        while depth:
            word = self.take()
            depth += (word == "{") - (word == "}")


def parse_bif(text: str) -> Declared:
    """Return what a BIF file declares."""
    tokens = Tokens(text)
    declared = Declared({}, {}, {})
    while tokens.peek():
        word = tokens.take()
        if word == "network":
            tokens.until("{")
            tokens.place -= 1
            tokens.inside = "the network block"
            tokens.skip_block()
        elif word == "variable":
            _variable(tokens, declared)
        elif word == "probability":
            _probability(tokens, declared)
        else:
            raise FileError(f"expected 'network', 'variable' or 'probability', found {word!r}.")
        tokens.inside = "the file"
    if not declared.states:
        raise FileError("the file declares no variable.")
    return declared


def _variable(tokens: Tokens, declared: Declared) -> None:
    name = tokens.take()
    tokens.inside = f"variable {name!r}"
    if name in declared.states:
        raise FileError(f"variable {name!r} is declared twice.")
    tokens.expect("{")
    states: list[str] = []
    while (word := tokens.take()) != "}":
        if word == "type":
            kind = tokens.take()
            if kind != "discrete":
                raise FileError(f"variable {name!r} is of type {kind!r}; only discrete ones can be read.")
            tokens.expect("[")
            size = tokens.take()
            tokens.expect("]")
            tokens.expect("{")
            states = tokens.until("}")
            if not size.isdigit() or len(states) != int(size):
                raise FileError(f"variable {name!r} announces {size} states and names {len(states)}.")
            if tokens.peek() == ";":
                tokens.take()
        else:
            tokens.until(";")
    if not states:
        raise FileError(f"variable {name!r} has no states.")
    declared.states[name] = states


def _probability(tokens: Tokens, declared: Declared) -> None:
    tokens.inside = "a probability block"
    child, parents = tokens.scope()
    if child in declared.tables:
        raise FileError(f"the table of {child!r} is given twice.")
    for name in (child, *parents):
        if name not in declared.states:
            raise FileError(f"the table of {child!r} names {name!r}, which is not declared as a variable.")
    tokens.expect("{")
    shape = [len(declared.states[name]) for name in (*parents, child)]
    table = np.full(shape, np.nan)
    while (word := tokens.take()) != "}":
        if word == "table":
            table = _whole(numbers(tokens.until(";"), child), shape, child)
        elif word == "default":
            table = np.where(np.isnan(table), _default(tokens, child, shape), table)
        elif word == "(":
            states = tokens.until(")")
            if len(states) != len(parents):
                raise FileError(f"a row of {child!r} names {len(states)} states of {len(parents)} parents.")
            place = tuple(
                state_code(declared.states[parent], state, parent)
                for parent, state in zip(parents, states, strict=True)
            )
            table[place] = _row(tokens, child, shape[-1])
        else:
            tokens.until(";")  # a property
    declared.parents[child], declared.tables[child] = parents, table.ravel()


def _default(tokens: Tokens, child: str, shape: list[int]) -> Array:
    """One row for all that are not given; some programs write the whole table here."""
    flat = numbers(tokens.until(";"), child)
    if len(flat) == np.prod(shape):
        return _whole(flat, shape, child)
    return _checked(flat, child, shape[-1])


def _row(tokens: Tokens, child: str, size: int) -> Array:
    return _checked(numbers(tokens.until(";"), child), child, size)


def _checked(row: Array, child: str, size: int) -> Array:
    if len(row) != size:
        raise FileError(f"a row of {child!r} has {len(row)} numbers and its variable {size} states.")
    return row


def _whole(flat: Array, shape: list[int], child: str) -> Array:
    """A flat table lists the child's states slowest, as the format's grammar says (child first)."""
    if flat.size != np.prod(shape):
        raise FileError(f"the table of {child!r} needs {int(np.prod(shape))} numbers; it has {flat.size}.")
    return np.moveaxis(flat.reshape([shape[-1], *shape[:-1]]), 0, -1)


def format_bif(net: Net) -> str:
    """Return a network as BIF text."""
    lines = ["network unnamed {", "}"]
    for name, states in zip(net.variables, net.states, strict=True):
        words = ", ".join(quoted(state) for state in states)
        lines += [f"variable {quoted(name)} {{", f"  type discrete [ {len(states)} ] {{ {words} }};", "}"]
    for v, name in enumerate(net.variables):
        parents = net.parents[v]
        scope = " | ".join(
            [quoted(name), ", ".join(quoted(net.variables[p]) for p in parents)][: 1 + bool(parents)]
        )
        lines.append(f"probability ( {scope} ) {{")
        if not parents:
            lines.append(f"  table {_digits(net.tables[v])};")
        for place in np.ndindex(*[net.cards[p] for p in parents]) if parents else ():
            states = ", ".join(quoted(net.states[p][k]) for p, k in zip(parents, place, strict=True))
            lines.append(f"  ({states}) {_digits(net.tables[v][place])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def quoted(word: Any) -> str:
    """Return a name as the format writes it: in quotes where it has spaces or marks."""
    text = str(word)
    return text if PLAIN.fullmatch(text) else '"' + text.replace('"', "'") + '"'


def _digits(row: Array) -> str:
    return ", ".join(repr(float(p)) for p in row)
