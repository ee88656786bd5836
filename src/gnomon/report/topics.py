"""Topics: which public name does what the courses teach."""

from __future__ import annotations

import csv
from importlib import import_module
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import NamedTuple

import gnomon
from gnomon._lazy import PACKAGES

HIDDEN = {"core", "loops", "cli"}


class Topic(NamedTuple):
    """A public name with what it does and the topics of the courses that it covers."""

    name: str
    about: str
    topics: list[str]


def search(words: str = "", limit: int | None = None) -> list[Topic]:
    """Return the public names whose own name, family or topics contain every word; all when none is given.

    >>> [topic.name for topic in search("perceptron bound")][:1]
    ['gnomon...']
    """
    wanted = words.lower().replace("-", " ").replace("_", " ").split()
    covered = _covered()
    names = sorted({*_public(), *covered})
    found = [name for name in names if all(w in _text(name, covered.get(name, [])) for w in wanted)]
    found.sort(key=lambda name: not any(w in name.rpartition(".")[2].lower() for w in wanted))
    return [Topic(name, _about(name), covered.get(name, [])) for name in found[:limit]]


def _text(name: str, topics: list[str]) -> str:
    return " ".join([name, *topics]).lower().replace("_", " ").replace(".", " ")


def _public() -> list[str]:
    for family in gnomon._subpackages():
        import_module(f"gnomon.{family}")
    return [f"{p}.{name}" for p, names in PACKAGES.items() if p.split(".")[1] not in HIDDEN for name in names]


def _covered() -> dict[str, list[str]]:
    """Return the topics of every name of the map."""
    covered: dict[str, list[str]] = {}
    with _map().open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream):
            covered.setdefault(line["api"], []).append(line["id"])
    return covered


def _map() -> Path:
    """Return the map: in an installed package beside this file, in a checkout among the documents."""
    packaged = Path(str(files("gnomon.report").joinpath("syllabus.csv")))
    return packaged if packaged.is_file() else Path(gnomon.__file__).parents[2] / "docs" / "syllabus.csv"


def _about(name: str) -> str:
    """Return the first line of a name's docstring."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            thing = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part, None)
        return (getdoc(thing) or "").partition("\n")[0]
    return ""
