"""What the page can choose from: models with their words, data and settings, and the topics of the courses."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from gnomon.lab import forms, learners, material
from gnomon.lab.formulas import formula_of
from gnomon.lab.lessons import LESSONS
from gnomon.report.plain import first_line


@cache
def everything() -> list[dict[str, str]]:
    """Return every model with its family."""
    return [
        {"name": name, "family": package.removeprefix("gnomon.")}
        for name, package in learners.catalog().items()
    ]


@cache
def topics() -> list[dict[str, str]]:
    """Return the topics of the courses whose name in the library is a model."""
    from gnomon.report.topics import search

    known = learners.catalog()
    return [
        {"topic": topic, "model": found.name.split(".")[2]}
        for found in search()
        if len(found.name.split(".")) > 2 and found.name.split(".")[2] in known
        for topic in found.topics
    ]


@cache
def lessons() -> list[dict[str, Any]]:
    """Return the lessons, each with the family of its first model."""
    known = learners.catalog()
    return [
        {**lesson._asdict(), "family": known[lesson.models[0]["model"]].split(".")[1]} for lesson in LESSONS
    ]


def describe(cls: type) -> dict[str, Any]:
    """Return the form of a model, its data with their sliders, and its words."""
    text = inspect.getdoc(cls) or ""
    offered = learners.data_for(cls)
    return {
        "name": cls.__name__,
        "family": cls.__module__.split(".")[1],
        "about": first_line(text),
        "formula": formula_of(cls),
        "steps": hasattr(cls, "iterate"),
        "form": forms.form(cls),
        "data": [
            {
                "name": sample.__name__,
                "about": first_line(inspect.getdoc(sample) or ""),
                "sliders": material.sliders(sample),
            }
            for sample in offered
        ],
        "paint": _paint(offered),
    }


@cache
def _paint(offered: tuple[Any, ...]) -> list[str]:
    """Return which kinds of points can be painted for a model that learns from these samples."""
    found = {material.gather({"sample": sample.__name__}, offered).paint for sample in offered[:2]}
    return sorted(kind for kind in found if kind)
