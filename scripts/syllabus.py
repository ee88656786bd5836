"""The map from the courses' topics to the library: docs/syllabus.csv, made of docs/syllabus.d/*.csv.

    scripts/syllabus            assemble the fragments and write docs/syllabus.csv
    scripts/syllabus --check    say what is wrong: stale file, double id, lost name or test

A line is id,api,test: the topic, the public name that does it, and the test (path::function) that shows it.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
HEADER = ["id", "api", "test"]


class Line(NamedTuple):
    id: str
    api: str
    test: str
    source: str  # the fragment and the line in it, for messages


def fragments(project: Path) -> list[Path]:
    return sorted((project / "docs" / "syllabus.d").glob("*.csv"))


def read(file: Path) -> Iterator[Line]:
    with file.open(newline="", encoding="utf-8") as stream:
        reader = csv.reader(stream)
        header = next(reader, None)
        if header != HEADER:
            raise SystemExit(f"{file.name}: the first line must be {','.join(HEADER)}, not {header}")
        for row in reader:
            if not row:
                continue
            source = f"{file.name}:{reader.line_num}"
            if len(row) != len(HEADER):
                raise SystemExit(f"{source}: {len(row)} fields instead of {len(HEADER)}")
            yield Line(*(field.strip() for field in row), source)


def assemble(project: Path) -> list[Line]:
    return [line for file in fragments(project) for line in read(file)]


def as_csv(lines: list[Line]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(line[:3] for line in lines)
    return text.getvalue()


@cache
def missing_name(dotted: str) -> str:
    """Say why a dotted public name cannot be reached, or nothing."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            thing = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and (module == error.name or module.startswith(error.name + ".")):
                continue  # not a module: try its parent
            return f"importing {module} needs {error.name}"
        for name in parts[cut:]:
            if not hasattr(thing, name):
                return f"{dotted} does not exist: {getattr(thing, '__name__', thing)} has no {name}"
            thing = getattr(thing, name)
        return ""
    return f"{dotted} does not import"


@cache
def missing_test(project: Path, node: str) -> str:
    """Say why a test path::function cannot be found, or nothing."""
    path, _, name = node.partition("::")
    if not name:
        return f"test {node!r} is not of the form path::function"
    if not (project / path).is_file():
        return f"there is no file {path}"
    text = (project / path).read_text(encoding="utf-8")
    for part in name.split("[")[0].split("::"):
        if not re.search(rf"^\s*(async def|def|class)\s+{re.escape(part)}\b", text, re.MULTILINE):
            return f"{path} has no {part}"
    return ""


def faults(project: Path, lines: list[Line]) -> Iterator[str]:
    first: dict[str, str] = {}
    for line in lines:
        if line.id in first:
            yield f"{line.source}: {line.id} stands in {first[line.id]} already"
        first.setdefault(line.id, line.source)
        for fault in (missing_name(line.api), missing_test(project, line.test)):
            if fault:
                yield f"{line.source}: {line.id}: {fault}"


def check(project: Path) -> list[str]:
    """Return everything that is wrong with the map."""
    lines = assemble(project)
    wrong = list(faults(project, lines))
    whole = project / "docs" / "syllabus.csv"
    if not whole.is_file() or whole.read_text(encoding="utf-8") != as_csv(lines):
        wrong.append("docs/syllabus.csv differs from its fragments: run scripts/syllabus and commit it")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only look, change nothing")
    if parser.parse_args().check:
        wrong = check(PROJECT)
        print("\n".join(wrong) or f"{len(assemble(PROJECT))} topics, all found")
        return bool(wrong)
    lines = assemble(PROJECT)
    (PROJECT / "docs" / "syllabus.csv").write_text(as_csv(lines), encoding="utf-8")
    print("\n".join(faults(PROJECT, lines)) or f"docs/syllabus.csv: {len(lines)} topics, all found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
