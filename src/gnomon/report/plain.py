r"""Docstrings for a terminal: formulas in TeX become characters, marks of code go.

>>> plain(r"Lasso penalty :math:`\alpha\lVert w\rVert_1`; ``gamma=None`` is 1/columns.")
'Lasso penalty α‖w‖_1; gamma=None is 1/columns.'
"""

from __future__ import annotations

import re

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "ell": "ℓ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "theta": "θ", "Delta": "Δ",
    "Omega": "Ω", "Sigma": "Σ", "sum": "Σ", "prod": "Π", "approx": "≈", "propto": "∝", "cdot": "·", "le": "≤",
    "ge": "≥", "ne": "≠", "in": "∈", "mid": "|", "lVert": "‖", "rVert": "‖", "langle": "⟨", "rangle": "⟩",
    "infty": "∞", "partial": "∂", "top": "ᵀ", "dots": "…", "times": "×", "to": "→", "leftarrow": "←",
}  # fmt: skip
RAISED = dict(zip("0123456789+-T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", strict=True))
GROUP = r"\{([^{}]*)\}"


def first_line(docstring: str) -> str:
    r"""Return what a docstring says first, on one line and without markup.

    >>> first_line("One line,\nbroken.\n\nMore.")
    'One line, broken.'
    """
    return plain(" ".join(docstring.partition("\n\n")[0].split()))


def plain(text: str) -> str:
    """Return a line of a docstring without markup."""
    text = re.sub(r":math:`([^`]*)`", lambda found: _characters(found[1]), text)
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def _characters(tex: str) -> str:
    """Return a formula in characters: short ones read well, long ones can be read."""
    tex = re.sub(r"\\[,;:! ]|\\(?:bigl|bigr|left|right|mathbf|mathrm|operatorname|text)(?![a-z])", " ", tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda found: LETTERS.get(found[1], found[0]), tex).replace("^ᵀ", "ᵀ")
    tex = re.sub(r"\\hat\s*(\w)", "\\1\u0302", tex)
    tex = re.sub(r"\\bar\s*(\w)", "\\1\u0304", tex)
    tex = re.sub(r"\\[td]?frac\s*(\w)\s*(\w)", r"\1/\2", tex)
    before = None
    while before != tex:
        before = tex
        tex = re.sub(rf"\\[td]?frac\s*{GROUP}\s*{GROUP}", _quotient, tex)
        tex = re.sub(rf"\\binom\s*{GROUP}\s*{GROUP}", r"C(\1, \2)", tex)
        tex = re.sub(rf"\\sqrt\s*{GROUP}", r"√(\1)", tex)
        tex = re.sub(rf"\^{GROUP}", _raised, tex)
        tex = re.sub(
            rf"_{GROUP}", lambda found: f"_{found[1]}" if len(found[1]) < 2 else f"_({found[1]})", tex
        )
    tex = re.sub(r"\^([0-9T])", lambda found: RAISED[found[1]], tex)
    tex = re.sub(r"\\([A-Za-z]+)\s*(?=([^\W_])?)", lambda found: found[1] + " " * bool(found[2]), tex)
    tex = re.sub(r"([·‖⟨]) (?=\w)", r"\1", tex)
    return re.sub(r"\s+", " ", tex.replace("{", "").replace("}", "").replace("\\", "")).strip()


def _quotient(found: re.Match[str]) -> str:
    top, bottom = (part if re.fullmatch(r"[\w\\]+", part) else f"({part})" for part in found.groups())
    return f"{top}/{bottom}"


def _raised(found: re.Match[str]) -> str:
    inside = found[1]
    if all(letter in RAISED for letter in inside):
        return "".join(RAISED[letter] for letter in inside)
    return f"^({inside})"
