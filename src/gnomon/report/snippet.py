"""The winner as a few lines of Python that give it again, bit by bit."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from gnomon.report.menu import bare

if TYPE_CHECKING:
    from gnomon.report.contest import Comparison

OPTIONS = ("task", "exclude", "group", "time", "missing")


def snippet(result: Comparison) -> str:
    """Return Python code that fits the best model again, exactly."""
    candidate = result.best.candidate
    cls = type(candidate.model) if candidate is not None else None
    if cls is None or cls.__module__ == "gnomon.report.baselines":
        return ""
    if result.model.n_rows_ < len(result.problem.frame):  # stopped, or no time for all rows
        return ""
    settings, calibrated = result.settings, ""
    if candidate is not None and bare(candidate.model) is not candidate.model:
        cls, calibrated = type(bare(candidate.model)), ", probabilities=True"
        settings = {name.removeprefix("estimator__"): value for name, value in settings.items()}
    if result.best.name.startswith("combination"):
        names = ("estimators", "voting", "weights")
        own = candidate.model.get_params(deep=False) if candidate is not None else {}
        settings = {name: own[name] for name in names if name in own}
    source = repr(result.source or "table.csv")
    asked = {"missing": result.options.get("missing"), "words": result.options.get("exclude")}
    missing = "".join(f", {name}={value!r}" for name, value in asked.items() if value)
    extra = "".join(f", {k}={result.options[k]!r}" for k in OPTIONS if result.options.get(k))
    sequence = f", sequence={result.problem.sequence!r}" if result.options.get("sequence") else ""
    said = ", ".join(f"{name!r}: {value!r}" for name, value in settings.items())
    return "\n".join(
        [
            "from gnomon.report import read_table",
            "from gnomon.report.single import prepare",
            *_imports(said),
            "",
            f"table = read_table({source}{missing})",
            f"settings = {{{said}}}",
            f"job = prepare({cls.__name__!r}, table, {result.problem.target!r}, settings=settings, "
            f"random_state={result.random_state}{extra}{sequence}{calibrated})",
            "model = job.model.fit(job.problem.frame, job.problem.y)",
            "model.predict(table)",
        ]
    )


def _imports(said: str) -> list[str]:
    """Return the imports of the classes that settings are made of."""
    from gnomon.report.menu import families

    lines: set[str] = set()
    for name in set(re.findall(r"\b([A-Z]\w+)\(", said)):
        for family in ("kernels", *families()):
            if name in getattr(import_module(f"gnomon.{family}"), "__all__", ()):
                lines.add(f"from gnomon.{family} import {name}")
                break
    return sorted(lines)
