"""The parts of README.md that are made from the project: the table of families, the table of benchmarks.

scripts/stubs writes them, between the marks, and checks that they are fresh.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import gnomon
from gnomon._lazy import PACKAGES

PROJECT = Path(__file__).resolve().parent.parent
INNER = {"core", "loops"}  # for authors of families
SHOWN = 5  # names of a family, before "and so many more"


def text() -> str:
    """Return README.md with fresh tables."""
    now = (PROJECT / "README.md").read_text(encoding="utf-8")
    return between(between(now, "families", family_table()), "benchmarks", benchmark_table())


def between(text: str, name: str, content: str) -> str:
    """Return the text with new content between the two marks of a name."""
    begin, end = f"<!-- {name}: written by scripts/stubs -->\n", f"<!-- end of {name} -->\n"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{content}\n{end}{rest.split(end)[1]}"


# Families


def family_table() -> str:
    """Return the families that have public names, what they are for and what they stand in for."""
    lines = ["| family | what it is | instead of | names |", "|---|---|---|---|"]
    for family in sorted(set(gnomon._subpackages()) - INNER):
        module = import_module(f"gnomon.{family}")
        if names := PACKAGES.get(f"gnomon.{family}"):
            about = (module.__doc__ or "").partition("\n")[0].rstrip(".")
            said = settings(family)
            lines.append(
                f"| `{family}` | {about} | {said.get('replaces', '')} | {shown(said, list(names))} |"
            )
    return "\n".join([*lines, ""])


def settings(family: str) -> dict[str, str]:
    """Return what stands between the dashes at the top of docs/families/FAMILY.md."""
    path = PROJECT / "docs" / "families" / f"{family}.md"
    head = (
        re.match(r"---\n(.*?)---\n", path.read_text(encoding="utf-8"), re.DOTALL) if path.is_file() else None
    )
    pairs = (line.split(":", 1) for line in head[1].splitlines()) if head else ()
    return {key.strip(): value.strip() for key, value in pairs}


def shown(said: dict[str, str], names: list[str]) -> str:
    """Return a few names, those that the family's file shows or the first ones, and how many there are beyond."""
    ordered = sorted(names, key=lambda name: (name[0].islower(), name))
    few = (
        re.findall(r"\w+", said.get("shows", ""))
        or ordered[: len(names) if len(names) <= SHOWN + 1 else SHOWN]
    )
    more = len(names) - len(few)
    return ", ".join(f"`{name}`" for name in few) + (f" and {more} more" if more else "")


# Benchmarks


def benchmark_table() -> str:
    """Return one line for every file of results: how much longer the best peer takes."""
    lines = ["| family | cases | against | median | least | most |", "|---|--:|---|--:|--:|--:|"]
    for path in sorted((PROJECT / "benchmarks" / "results").glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        lines.append(benchmark_line(report["family"], report["cases"]))
    return "\n".join([*lines, ""])


def benchmark_line(family: str, cases: list[dict[str, Any]]) -> str:
    measured = [peers for case in cases if (peers := timed_peers(case))]
    libraries = sorted({row["name"].partition(" (")[0] for peers in measured for row in peers})
    ratios = [min(row["ratio"] for row in peers) for peers in measured]
    figures = [f"{of(ratios):.1f}×" if ratios else "" for of in (median, min, max)]
    return f"| {family} | {len(cases)} | {', '.join(libraries)} | " + " | ".join(figures) + " |"


def timed_peers(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the peers that finished, so that their time can be compared with ours."""
    return [row for row in case["contenders"] if row["kind"] == "peer" and row.get("ratio") is not None]
