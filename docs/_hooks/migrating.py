"""The tables of docs/migrating.md: other libraries' names, ours, and what differs.

Names that are the same in scikit-learn are found by themselves, with the parameters that differ;
docs/migrating.csv adds the others and the notes.
"""

from __future__ import annotations

import csv
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import gnomon
from gnomon._lazy import PACKAGES

NOTES = Path(__file__).resolve().parents[1] / "migrating.csv"
MARK = re.compile(r"^<!-- names: ([\w, ]+) -->$", re.MULTILINE)


class Move(NamedTuple):
    """A name elsewhere, the name here, and what differs."""

    origin: str
    target: str
    note: str


def written() -> list[Move]:
    with NOTES.open(newline="", encoding="utf-8") as stream:
        return [Move(row["from"], row["to"], row["note"]) for row in csv.DictReader(stream)]


@cache
def same_names() -> tuple[Move, ...]:
    """Return the estimators that have the same name in scikit-learn."""
    from sklearn.utils.discovery import all_estimators

    theirs = dict(all_estimators())
    moves = []
    for family in gnomon._subpackages():
        import_module(f"gnomon.{family}")
        for name in sorted(PACKAGES.get(f"gnomon.{family}", {})):
            ours = getattr(import_module(f"gnomon.{family}"), name)
            if name in theirs and hasattr(ours, "fit"):
                moves.append(Move(public_name(theirs[name]), f"gnomon.{family}.{name}", ""))
    return tuple(moves)


def public_name(thing: Any) -> str:
    """Return the shortest public dotted name of something of scikit-learn."""
    parts = [part for part in thing.__module__.split(".") if not part.startswith("_")]
    for cut in range(1, len(parts) + 1):
        module = ".".join(parts[:cut])
        if getattr(import_module(module), thing.__name__, None) is thing:
            return f"{module}.{thing.__name__}"
    raise ValueError(f"{thing} has no public name")


def moves(library: str) -> list[Move]:
    """Return all names of a library that have one here, sorted by ours."""
    noted = {(move.origin, move.target): move for move in written() if move.origin.startswith(f"{library}.")}
    if library == "sklearn":
        for move in same_names():
            noted.setdefault(move[:2], move)
    return sorted(noted.values(), key=lambda move: (move.target, move.origin))


def find(dotted: str) -> Any:
    """Return what a dotted name stands for."""
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def parameters(move: Move) -> str:
    """Say how the parameters differ, where both are at hand and are alike at all."""
    theirs, ours = (inspect.signature(find(name)).parameters for name in move[:2])
    more, less = [name for name in ours if name not in theirs], [name for name in theirs if name not in ours]
    if not set(ours) & set(theirs) or not hasattr(find(move.target), "fit"):
        return ""
    said = []
    if more:
        said.append("more: " + ", ".join(f"`{name}`" for name in more))
    if less:
        said.append("not here: " + ", ".join(f"`{name}`" for name in less))
    for name in ours:
        if name in theirs and repr(ours[name].default) != repr(theirs[name].default):
            said.append(f"`{name}={ours[name].default!r}` by default")
    return "; ".join(said)


def table(library: str, link: Any) -> str:
    """Return the table of one library, as Markdown."""
    lines = [f"| {library} | gnomon | what differs |", "|---|---|---|"]
    for move in moves(library):
        differs = parameters(move) if library == "sklearn" else ""
        said = ". ".join(text for text in (move.note, differs) if text) or "the same parameters"
        origin = move.origin.removeprefix(f"{library}.")
        lines.append(
            f"| `{origin}` | {link(move.target, move.target.removeprefix('gnomon.'))} | {said} |".replace(
                "||", r"\|\|"
            )
        )
    return "\n".join(['<div class="moves" markdown>', "", *lines, "", "</div>"])


def filled(text: str, link: Any) -> str:
    """Return the page with a table at every mark."""
    return MARK.sub(lambda found: table(found[1], link), text)
