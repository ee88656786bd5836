"""The formula of a model as MathML, which browsers draw without a script."""

from __future__ import annotations

import html
import inspect
import re
from functools import cache


@cache
def formula_of(cls: type) -> str:
    """Return the first formula of a class's docstring as MathML; as code where it cannot be converted."""
    from gnomon.report.card import formula

    for base in inspect.getmro(cls):
        latex = formula(base)
        if latex:
            return mathml(latex)
    return ""


def mathml(latex: str) -> str:
    """Return a formula as MathML."""
    try:
        from latex2mathml.converter import convert

        return str(convert(_known(latex), display="block"))
    except Exception:
        return f"<code>{html.escape(latex)}</code>"


def _known(latex: str) -> str:
    """Write what the converter does not know in terms that it knows."""
    latex = re.sub(r"\\operatorname\*?\{([^}]*)\}", r"\\mathrm{\1}", latex.strip())
    latex = re.sub(r"\\(lVert|rVert)\b", r"\\|", latex)
    return re.sub(r"\\(lvert|rvert)\b", "|", latex)
