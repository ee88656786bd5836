"""The reStructuredText of docstrings as Markdown: formulas, references, notes."""

from __future__ import annotations

import re
from textwrap import dedent

BLOCK = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::(?P<rest>(?:[^\n]*\n?)(?:(?:(?P=indent)[ ]+[^\n]*)?\n)*)", re.MULTILINE
)
INLINE = re.compile(r":math:`([^`]+)`")
ROLE = re.compile(r":(?:func|class|meth|attr|mod|obj|doc|ref|term):`~?([^`<]+?)(?:\s*<[^>]+>)?`")
NOTE = re.compile(r"^(?P<indent>[ ]*)\.\. (?P<kind>note|warning|tip|important)::[ ]*", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Translate the few constructs that docstrings use."""
    text = BLOCK.sub(_block, text + "\n")
    text = INLINE.sub(lambda found: f"${found[1].strip()}$", text)
    text = ROLE.sub(lambda found: f"`{found[1]}`", text)
    return NOTE.sub(r"\g<indent>!!! \g<kind>\n\g<indent>    ", text).rstrip("\n")


def _block(found: re.Match[str]) -> str:
    indent = found["indent"]
    first, _, more = found["rest"].partition("\n")
    formula = "\n".join(part.strip() for part in [first, *dedent(more).splitlines()] if part.strip())
    lines = ["", "$$", *formula.splitlines(), "$$", "", ""]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)
