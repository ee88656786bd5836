"""Topics: which public name does what the courses teach."""

from __future__ import annotations

import ast
import csv
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import gnomon
from gnomon._lazy import PACKAGES
from gnomon.report.plain import first_line

HIDDEN = {"core", "loops", "cli"}


class Topic(NamedTuple):
    """A public name with what it does and the topics of the courses that it covers."""

    name: str
    about: str
    topics: list[str]


def search(words: str = "") -> list[Topic]:
    """Return the public names whose name, description or topics contain every word; all when none is given.

    >>> search("lasso path")[0][:2]
    ('gnomon.linear.lasso_path', '...')
    """
    wanted = words.lower().replace("-", " ").replace("_", " ").split()
    covered = _covered()
    topics = [Topic(name, _about(name), covered.get(name, [])) for name in sorted({*_public(), *covered})]
    found = [topic for topic in topics if all(word in _text(topic) for word in wanted)]
    return sorted(found, key=lambda topic: -sum(word in topic.name.lower() for word in wanted))


def _text(topic: Topic) -> str:
    return " ".join([topic.name, topic.about, *topic.topics]).lower().translate(str.maketrans("_.-", "   "))


def _public() -> list[str]:
    families = [f"gnomon.{family}" for family in gnomon._subpackages() if family not in HIDDEN]
    for family in families:
        import_module(family)
    return [f"{family}.{name}" for family in families for name in PACKAGES.get(family, {})]


def _covered() -> dict[str, list[str]]:
    """Return the topics of every name of the map, by their titles."""
    titles = {line["id"]: line["title"] for line in _lines("topics.csv")}
    covered: dict[str, list[str]] = {}
    for line in _lines("syllabus.csv"):
        title = titles.get(line["id"]) or line["id"].replace("_", " ")
        covered.setdefault(line["api"], []).append(title)
    return covered


def _lines(name: str) -> list[dict[str, str]]:
    """Return a table of the map: in an installed package beside this file, in a checkout among the documents."""
    packaged = Path(str(files("gnomon.report").joinpath(name)))
    path = packaged if packaged.is_file() else Path(gnomon.__file__).parents[2] / "docs" / name
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _about(name: str) -> str:
    """Return the first line of a name's docstring, read from its file: nothing has to be imported for it."""
    package = next((p for p in PACKAGES if name.startswith(f"{p}.")), None)
    if package is None:
        return ""
    public, *inner = name.removeprefix(f"{package}.").split(".")
    return _first_lines(package, PACKAGES[package].get(public, public)).get((inner or [public])[-1], "")


@cache
def _first_lines(package: str, file: str) -> dict[str, str]:
    path = files(package).joinpath(f"{file.replace('.', '/')}.py")
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    documented = ast.ClassDef | ast.FunctionDef
    nodes = [node for node in ast.parse(source).body if isinstance(node, documented)]
    return {node.name: first_line(ast.get_docstring(node) or "") for node in nodes}
