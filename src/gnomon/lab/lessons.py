"""Lessons: demonstrations of the courses as ready scenes, with three sentences and one thing to try."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple


class Lesson(NamedTuple):
    """A scene with its words."""

    name: str
    title: str
    models: list[dict[str, Any]]  # one, or two side by side: name and settings
    data: dict[str, Any]
    sentences: tuple[str, str, str]
    attempt: str  # the one thing to try


def _read(entry: dict[str, Any]) -> Lesson:
    models = [{**model, "settings": _with_none(model["settings"])} for model in entry["models"]]
    return Lesson(**{**entry, "models": models, "sentences": tuple(entry["sentences"])})


def _with_none(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with None where the file has an empty word, for TOML has no word for nothing."""
    return {name: None if value == "" else value for name, value in settings.items()}


LESSONS: tuple[Lesson, ...] = tuple(
    _read(entry)
    for entry in tomllib.loads(files("gnomon.lab").joinpath("lessons.toml").read_text(encoding="utf-8"))[
        "lesson"
    ]
)
