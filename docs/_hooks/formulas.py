"""Formulas as MathML, made while the site is built: browsers draw it themselves, no script is fetched."""

from __future__ import annotations

import html
import logging
import re
from typing import Any

from latex2mathml.converter import convert

log = logging.getLogger("mkdocs.hooks.formulas")
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\s*\\[(\[](?P<latex>.*?)\\[)\]]\s*</(?P=tag)>', re.DOTALL
)


def to_mathml(latex: str, *, block: bool) -> str:
    """Return the formula as MathML, or as code when the converter does not know it."""
    try:
        return convert(tidy(latex), display="block" if block else "inline")
    except Exception as error:
        log.warning("formula shown as text: %s (%s)", latex.strip(), error)
        return f"<code>{html.escape(latex)}</code>"


def tidy(latex: str) -> str:
    """Write what the converter does not know in terms that it knows."""
    latex = html.unescape(latex).strip()
    latex = re.sub(r"\\operatorname\*?\{([^}]*)\}", r"\\mathrm{\1}", latex)
    latex = re.sub(r"\\(lVert|rVert)\b", r"\\|", latex)
    return re.sub(r"\\(lvert|rvert)\b", "|", latex)


def on_page_content(content: str, page: Any = None, **_: object) -> str:
    if re.search(r"^\$\$$", content, re.MULTILINE):
        log.warning(
            "%s: a formula was taken for text; is its docstring indented evenly?", page and page.file.src_uri
        )
    return FORMULA.sub(lambda found: to_mathml(found["latex"], block=found["tag"] == "div"), content)
