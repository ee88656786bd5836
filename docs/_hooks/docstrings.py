"""A griffe extension: docstrings as Markdown, so that formulas show."""

from __future__ import annotations

import sys
from pathlib import Path

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from markdown_of import to_markdown


class Markdown(griffe.Extension):
    """Rewrites every docstring as it is collected."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        if obj.docstring and not getattr(obj.docstring, "_is_markdown", False):
            obj.docstring.value = to_markdown(obj.docstring.value)
            obj.docstring._is_markdown = True  # type: ignore[attr-defined]
