"""The settings of an estimator: what its constructor was given, checked by its rules."""

from __future__ import annotations

import re
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gnomon.core.errors import DataError, nearest
from gnomon.core.parameters import InvalidParameterError, validate_parameter_constraints

SIMPLE = frozenset((int, float, str, bool, type(None)))  # types of which equal values stay equal


def check_parameters(estimator: Any) -> None:
    """Check constructor arguments by the class's rules; an unknown option is answered with the nearest."""
    cls: Any = type(estimator)
    values = tuple(getattr(estimator, name) for name in parameter_names(cls))
    types = tuple(map(type, values))
    if SIMPLE.issuperset(types):
        _check_once(cls, types, values)
    else:
        _check_values(cls, values)


@lru_cache(maxsize=256)
def parameter_names(cls: Any) -> tuple[str, ...]:
    """Return the names of a class's constructor arguments, read once: looking at a signature takes long."""
    return tuple(BaseEstimator._get_param_names.__func__(cls))


@lru_cache(maxsize=1024)
def _check_once(cls: Any, types: tuple[type, ...], values: tuple[Any, ...]) -> None:
    """Check values of simple types; those that passed are not looked at again."""
    _check_values(cls, values)


def _check_values(cls: Any, values: tuple[Any, ...]) -> None:
    rules = {name: _with_generators(rule) for name, rule in cls._parameter_constraints.items()}
    given = dict(zip(parameter_names(cls), values, strict=True))
    try:
        validate_parameter_constraints(rules, given, cls.__name__)
    except InvalidParameterError as error:
        match = re.match(r"The '(\w+)' parameter", str(error))
        value = given.get(match.group(1)) if match else None
        options = [word for word in re.findall(r"'([^']+)'", str(error)) if word != value]
        hint = nearest(value, options) if isinstance(value, str) else ""
        raise InvalidParameterError(_in_order(str(error)) + hint) from None


def _in_order(text: str) -> str:
    """Return a message with its options in the order of the alphabet: sets have none.

    >>> _in_order("a str among {'b', 'a'}")
    "a str among {'a', 'b'}"
    """
    return re.sub(r"\{([^{}]*)\}", lambda found: "{" + ", ".join(sorted(found[1].split(", "))) + "}", text)


def _with_generators(rule: Any) -> Any:
    """Let NumPy's generators pass wherever scikit-learn takes a `random_state`."""
    if isinstance(rule, list) and "random_state" in rule:
        return [*rule, np.random.Generator, np.random.SeedSequence]
    return rule


def count_of(n: Any, name: str, least: int = 0) -> int:
    """Return a number of things, checked to be whole and not too small.

    >>> count_of(3, "horizon", 1)
    3
    """
    if isinstance(n, bool) or not isinstance(n, Integral) or n < least:
        raise DataError(f"{name} must be a whole number, at least {least}; got {n!r}.")
    return int(n)
