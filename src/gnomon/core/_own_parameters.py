"""The rules of `gnomon.core.parameters` without scikit-learn's: an interval, a choice, methods, a type."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse


class InvalidParameterError(ValueError, TypeError):
    """An argument breaks its rule."""


class RealNotInt(Real):
    """A number that is written as one with a fraction: 1.0, not 1."""


RealNotInt.register(float)
RealNotInt.register(np.floating)


class Interval:
    """Numbers of a type between two ends; `closed` says which ends belong to it."""

    def __init__(self, type: Any, left: Any, right: Any, *, closed: str) -> None:
        self.type, self.left, self.right, self.closed = type, left, right, closed

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value keeps the rule."""
        if not isinstance(value, self.type) or value != value:  # NaN keeps no rule
            return False
        low = -math.inf if self.left is None else self.left
        high = math.inf if self.right is None else self.right
        above = value >= low if self.closed in ("left", "both") or self.left is None else value > low
        below = value <= high if self.closed in ("right", "both") or self.right is None else value < high
        return bool(above and below)

    def __str__(self) -> str:
        name = "an int" if self.type is Integral else "a float" if self.type is Real else self.type.__name__
        opening = "[" if self.closed in ("left", "both") else "("
        closing = "]" if self.closed in ("right", "both") else ")"
        low = "-inf" if self.left is None else self.left
        high = "inf" if self.right is None else self.right
        return f"{name} in the range {opening}{low}, {high}{closing}"


class Options:
    """One of a few values of a type."""

    def __init__(self, type: type, options: Iterable[Any], *, deprecated: Any = None) -> None:
        self.type, self.options = type, list(options)

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value keeps the rule."""
        return isinstance(value, self.type) and value in self.options

    def __str__(self) -> str:
        return f"a {self.type.__name__} among {{{', '.join(map(repr, self.options))}}}"


class StrOptions:
    """One of a few words."""

    def __init__(self, options: Iterable[str], *, deprecated: Any = None) -> None:
        self.options = set(options)

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value keeps the rule."""
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return "a str among {" + ", ".join(map(repr, sorted(self.options))) + "}"


class HasMethods:
    """An object with some methods."""

    def __init__(self, methods: str | Iterable[str]) -> None:
        self.methods = [methods] if isinstance(methods, str) else list(methods)

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value keeps the rule."""
        return all(callable(getattr(value, name, None)) for name in self.methods)

    def __str__(self) -> str:
        return "an object implementing " + " and ".join(map(repr, self.methods))


class Hidden:
    """A rule that is kept but not told."""

    def __init__(self, constraint: Any) -> None:
        self.constraint = constraint


_WORDS: dict[str, Any] = {
    "array-like": lambda value: (
        not isinstance(value, str) and (hasattr(value, "__len__") or hasattr(value, "shape"))
    ),
    "sparse matrix": sparse.issparse,
    "random_state": lambda value: (
        value is None or isinstance(value, np.random.RandomState) or (isinstance(value, Integral) and int(value) >= 0)
    ),
    "boolean": lambda value: isinstance(value, bool | np.bool_),
    "verbose": lambda value: isinstance(value, Integral | bool | np.bool_) and int(value) >= 0,
    "missing_values": lambda value: value is None or isinstance(value, str | Real),
    "nan": lambda value: isinstance(value, Real) and math.isnan(value),
    "cv_object": lambda value: value is None or isinstance(value, Integral) or hasattr(value, "__iter__")
    or hasattr(value, "split"),
}  # fmt: skip


def _keeps(rule: Any, value: Any) -> bool:
    if isinstance(rule, Hidden):
        rule = rule.constraint
    if rule is None:
        return value is None
    if rule is callable:
        return callable(value)
    if isinstance(rule, str):
        return bool(_WORDS[rule](value)) if rule in _WORDS else True
    if isinstance(rule, type):
        return isinstance(value, rule)
    return bool(rule.is_satisfied_by(value))


def validate_parameter_constraints(constraints: Any, params: dict[str, Any], caller_name: str) -> None:
    """Raise `InvalidParameterError` for the first value that breaks all of its rules."""
    for name, value in params.items():
        rules = constraints.get(name, "no_validation")
        if rules == "no_validation" or any(_keeps(rule, value) for rule in rules):
            continue
        told = " or ".join(str(rule) for rule in rules if not isinstance(rule, Hidden))
        raise InvalidParameterError(
            f"The {name!r} parameter of {caller_name} must be {told}. Got {value!r} instead."
        )
