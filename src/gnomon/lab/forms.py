"""The settings of a model as a form: from its parameter constraints and its docstring."""

from __future__ import annotations

import ast
import inspect
import math
import re
from typing import Any

from gnomon.core.parameters import Interval, Options, StrOptions
from gnomon.lab.learners import start_settings
from gnomon.lab.material import RefusedError

HIDDEN = {
    "n_jobs", "verbose", "verbose_interval", "copy", "copy_X", "copy_x", "warm_start", "callbacks", "memory", "device",
    "dtype", "order",
    "estimator", "estimators", "layers", "preprocessing", "path", "cache_size",
}  # fmt: skip
MAX_WHOLE = 10_000  # of any whole number that the page sets, so that no setting asks for all the memory
MAX_PRODUCT = 1_000_000  # of several whole numbers, such as the sizes of layers
MAX_TEXT = 200


def form(cls: type) -> list[dict[str, Any]]:
    """Return one field for every setting that the page may change."""
    told, rules, start = _documented(cls), getattr(cls, "_parameter_constraints", {}), start_settings(cls)
    fields = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if name in HIDDEN or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        default = None if parameter.default is inspect.Parameter.empty else parameter.default
        value = start.get(name, default)
        if not _plain(value) or value == "deprecated":
            continue
        field = _field(rules.get(name), value)
        fields.append(
            {
                "name": name,
                "value": value,
                "default": default if _plain(default) else None,
                "about": told.get(name, ""),
                **field,
            }
        )
    return fields


def _plain(value: Any) -> bool:
    """Tell whether a value is data that a page can show: a number, a word, nothing, or a few of them."""
    if isinstance(value, tuple | list):
        return all(_plain(part) for part in value) and len(value) <= 20
    return value is None or isinstance(value, bool | int | float | str)


def _field(rules: Any, value: Any) -> dict[str, Any]:
    """Return how a setting is asked for: a box to tick, words to choose from, a number with its limits, or text."""
    rules = list(rules) if isinstance(rules, list | tuple) else []
    words = sorted({str(word) for rule in rules if isinstance(rule, StrOptions) for word in rule.options})
    numeric = next((rule for rule in rules if isinstance(rule, Interval)), None)
    empty = any(rule is None for rule in rules)
    if isinstance(value, bool) and (not rules or any(r == "boolean" or r is bool for r in rules)):
        return {"kind": "tick"}
    if words and numeric is None:
        return {"kind": "choice", "options": words, "none": empty}
    if numeric is not None and not isinstance(value, str | tuple | list):
        whole = numeric.type.__name__ == "Integral" and isinstance(value, int | None)
        return {
            "kind": "number", "whole": whole, "none": empty or value is None,
            "low": _limit(numeric.left), "high": _limit(numeric.right),
            "open": [numeric.closed in ("right", "neither"), numeric.closed in ("left", "neither")],
            "options": words,
        }  # fmt: skip
    options = next((sorted(map(str, rule.options)) for rule in rules if isinstance(rule, Options)), words)
    return {"kind": "text", "options": options}


def _limit(value: Any) -> float | None:
    return float(value) if value is not None and abs(value) < 1e300 else None


def _documented(cls: type) -> dict[str, str]:
    """Return the words of the docstring about every parameter.

    >>> from gnomon.cluster import KMeans
    >>> "centers" in _documented(KMeans)["n_clusters"]
    True
    """
    lines = (inspect.getdoc(cls) or "").splitlines()
    try:
        start = next(i for i, line in enumerate(lines) if line == "Parameters" and set(lines[i + 1]) == {"-"})
    except (StopIteration, IndexError):
        return {}
    told: dict[str, str] = {}
    current: list[str] = []
    more: set[str] = set()  # texts that have a sentence already
    for place in range(start + 2, len(lines)):
        line = lines[place]
        if place + 1 < len(lines) and lines[place + 1] and set(lines[place + 1]) == {"-"}:
            break
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            current = [name.strip() for name in names.split(",")]
            told |= dict.fromkeys(current, kind.strip())
        elif line.strip():
            for name in current:
                told[name] = (
                    f"{told[name]} {line.strip()}" if told[name] in more else f"{told[name]}. {line.strip()}"
                )
                more.add(told[name])
    return {name: re.sub(r"`+", "", text).strip()[:400] for name, text in told.items()}


def read_settings(cls: type, given: Any) -> dict[str, Any]:
    """Return the settings of a page as Python values; only plain data, only names of the form, within the lab's limits.

    >>> from gnomon.cluster import KMeans
    >>> read_settings(KMeans, {"n_clusters": 4, "init": "random"})
    {'n_clusters': 4, 'init': 'random'}
    """
    if not isinstance(given, dict):
        raise RefusedError("settings are names with values.")
    fields = {field["name"]: field for field in form(cls)}
    read = {}
    for name, value in given.items():
        if name not in fields:
            raise RefusedError(f"{cls.__name__} has no setting {str(name)[:40]!r} that the lab can change.")
        read[name] = _read(name, value, fields[name])
    return read


def _read(name: str, value: Any, field: dict[str, Any]) -> Any:
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise RefusedError(f"{name} is longer than {MAX_TEXT} characters.")
        if field["kind"] == "text":
            value = _literal(value)
    if isinstance(value, list):
        value = tuple(value)
    if not _plain(value):
        raise RefusedError(f"{name} must be a number, a word, or a few of them.")
    known = name == "random_state" or value == field["default"] or value == field["value"]
    if _largest(value) > MAX_WHOLE and not known:
        raise RefusedError(
            f"{name} is {_largest(value)}; the lab goes up to {MAX_WHOLE}. Use Python for more."
        )
    if isinstance(value, tuple) and not known and _product(value) > MAX_PRODUCT:
        raise RefusedError(f"{name} multiplies to {_product(value)}; the lab goes up to {MAX_PRODUCT}.")
    return value


def _literal(text: str) -> Any:
    """Return a number, a tuple or a word: plain data, never code."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _largest(value: Any) -> int:
    if isinstance(value, tuple | list):
        return max((_largest(part) for part in value), default=0)
    return abs(value) if isinstance(value, int) and not isinstance(value, bool) else 0


def _product(value: Any) -> int:
    """Return the product of the whole numbers of a tuple, in which zero counts as one."""
    if isinstance(value, tuple | list):
        return math.prod(_product(part) for part in value)
    return max(1, _largest(value))
