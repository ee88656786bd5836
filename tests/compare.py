"""Comparisons that say where two values part: bit by bit, and up to rounding."""

import struct
from collections import deque
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

CLOCKS = ("seconds",)  # of a trace: no two runs take the same time


def difference(a, b, where="value"):
    """None when two values are the same in type and bits, else the place where they first differ."""
    if type(a) is not type(b):
        return f"{where}: {type(a).__name__} and {type(b).__name__}"
    parts = _parts(a)
    if parts is None:
        return None if _same_leaf(a, b) else f"{where}: {a!r} and {b!r}"
    others = _parts(b)
    if list(parts) != list(others):
        return f"{where}: parts {list(parts)} and {list(others)}"
    found = (difference(parts[key], others[key], f"{where}.{key}") for key in parts)
    return next((place for place in found if place is not None), None)


def equal(a, b):
    """The same value, type by type and bit by bit."""
    return difference(a, b) is None


def _parts(value):
    """The named parts of a value, or None for a leaf."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple | deque):
        return dict(enumerate(value))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return dict(enumerate([value.shape, *value.ravel()]))
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, np.random.RandomState):
        return value.get_state(legacy=False)
    if isinstance(value, np.random.SeedSequence):
        return value.state
    if sp.issparse(value):
        names = ("data", "row", "col") if value.format == "coo" else ("data", "indices", "indptr")
        return {"shape": value.shape, **{name: getattr(value, name) for name in names}}
    if isinstance(value, BaseEstimator) or type(value).__module__.startswith("gnomon"):
        return {
            k: v for k, v in getattr(value, "__dict__", {}).items() if not _passing(type(value), k)
        } or None
    return None


def _passing(cls, name):
    """Whether an attribute says nothing about a value: clocks, and what is computed from the rest."""
    return name in CLOCKS or isinstance(getattr(cls, name, None), cached_property)


def _same_leaf(a, b):
    if isinstance(a, np.ndarray):
        same_form = a.dtype == b.dtype and a.shape == b.shape
        return same_form and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    if callable(a):
        return a is b or getattr(a, "__qualname__", a) == getattr(b, "__qualname__", b)
    return a == b


def assert_same_bits(a, b, where="value"):
    place = difference(a, b, where)
    assert place is None, f"not the same bits: {place}"


def assert_agree(a, b, *, rtol, where=""):
    """The same keys, labels equal, numbers equal up to `rtol` of the largest."""
    assert list(a) == list(b), f"{where}: {list(a)} and {list(b)}"
    for key in a:
        one, other = dense(a[key]), dense(b[key])
        assert one.shape == other.shape, f"{where}{key}: shapes {one.shape} and {other.shape}"
        if one.dtype.kind in "fc":
            finite = np.abs(one[np.isfinite(one)])
            atol = rtol * (finite.max() if finite.size else 1.0)
            np.testing.assert_allclose(other, one, rtol=rtol, atol=atol, err_msg=f"{where}{key}")
        else:
            np.testing.assert_array_equal(other, one, err_msg=f"{where}{key}")


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)
