"""A griffe extension: docstrings as Markdown, so that formulas show, and every default as the signature has it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from markdown_of import to_markdown

SECTION = re.compile(r"^Parameters\n-+\n(?P<body>.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)
HEAD = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : *(?P<kind>.*))?$")


class Markdown(griffe.Extension):
    """Rewrites every docstring as it is collected."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        if obj.docstring and not getattr(obj.docstring, "_is_markdown", False):
            text = with_defaults(unbroken(obj.docstring.value), defaults_of(obj))
            obj.docstring.value = to_markdown(text)
            obj.docstring._is_markdown = True  # type: ignore[attr-defined]


def unbroken(text: str) -> str:
    """Return the text with lines that end in a backslash joined to the next, which may stand at the margin."""
    return inspect.cleandoc(re.sub(r" *(?<!\\)\\\n\s*", " ", text))


def defaults_of(obj: griffe.Object) -> dict[str, str]:
    """Return the defaults that a function or class has in its signature, as they are written there."""
    if not (obj.is_class or obj.is_function):
        return {}
    named = {p.name: str(p.default) for p in obj.parameters if p.default is not None}
    return {name: value for name, value in named.items() if value not in ("()", "{}")}  # stars


def with_defaults(text: str, defaults: Mapping[str, str]) -> str:
    """Return a numpydoc text in which every parameter stands by itself, with its default."""
    return SECTION.sub(
        lambda found: found[0].replace(found["body"], "".join(entries(found["body"], defaults))), text
    )


def entries(body: str, defaults: Mapping[str, str]) -> Iterator[str]:
    """Return the parameters of a section, one by one."""
    pieces = re.split(r"^(?=\S)", body, flags=re.MULTILINE)
    for piece in pieces:
        head, newline, description = piece.partition("\n")
        found = HEAD.match(head)
        if not found:
            yield piece
            continue
        for name in found["names"].split(", "):
            yield f"{name}{kind(found['kind'], defaults.get(name))}{newline}{description}"


def kind(said: str | None, default: str | None) -> str:
    """Return what follows a parameter's name: its type or choices, and the default."""
    if not said:
        return ""
    said = re.sub(r",? *(optional|default[ :=].*)$", "", said)
    choices = re.match(r"^\{(.*)\}(.*)$", said)
    if choices:
        said = " or ".join(re.split(r", *", choices[1])) + choices[2]
    return f" : {said}, default={default}" if default is not None else f" : {said}"
