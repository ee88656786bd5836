"""Decoding: what `gnomon.core.encoding` wrote, read back without running anything that a file could choose.

A class is looked up by name only inside gnomon, or among the classes that the caller trusts, and its
objects are made without calling their constructor. Every length, index and position that compiled code
would follow blindly is checked here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import MemberDescriptorType
from typing import Any

import numpy as np
import scipy.sparse

from gnomon import __version__
from gnomon.core.aliases import present_name
from gnomon.core.encoding import CLASS, DEPTH, DTYPE, PLAIN_TYPES, SPARSE, Array, Json, class_name
from gnomon.core.errors import ModelFileError
from gnomon.core.facts import check_facts

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class Decoder:
    """Builds the tree again, out of nothing but what the tags allow."""

    def __init__(self, arrays: list[Array], version: str, trusted: Iterable[type]) -> None:
        self.arrays = arrays
        self.version = version
        self.trusted = {class_name(cls): cls for cls in trusted}
        self.depth = 0

    def decode(self, value: Json) -> Any:
        """Return the value that a piece of JSON stands for."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        self.depth += 1
        if self.depth > DEPTH:
            raise ModelFileError(f"it is nested deeper than {DEPTH} levels. Get it from another source.")
        tag, *rest = value
        result = _READERS[tag](self, *rest)
        self.depth -= 1
        return result

    def items(self, values: list[Json]) -> list[Any]:
        """Decode every item of a list."""
        return [self.decode(value) for value in values]

    def fields(self, values: dict[str, Json]) -> dict[str, Any]:
        """Decode every value of a dict."""
        return {key: self.decode(value) for key, value in values.items()}

    def find(self, name: str) -> type:
        """Return a class by its name: one that the caller trusts, or one that gnomon itself defines."""
        if name in self.trusted:
            return self.trusted[name]
        name = present_name(name)
        match = CLASS.fullmatch(name)
        if match is None:
            raise ModelFileError(
                f"it asks for {name!r}, which is not a class of gnomon. Load it only if you "
                "know its author, and name your own classes in `trusted`."
            )
        try:
            cls = vars(import_module(match[1])).get(match[2])
        except ImportError as error:
            raise ModelFileError(
                f"it needs {name!r}, which does not import here ({error}). {self.cure}"
            ) from error
        if not isinstance(cls, type) or class_name(cls) != name:
            raise ModelFileError(f"it needs {name!r}, which this gnomon does not have. {self.cure}")
        return cls

    @property
    def cure(self) -> str:
        """What to do about a file from another version."""
        return f"It is from gnomon {self.version}, this is {__version__}: install that version or fit again."


def read_arrays(table: list[Json], data: memoryview) -> Iterator[Array]:
    """Yield the arrays, which lie one after the other; together they must use all bytes."""
    start = 0
    for dtype_name, shape, order in table:
        dtype = _dtype(dtype_name)
        if order not in ("C", "F") or not all(type(length) is int and length >= 0 for length in shape):
            raise ModelFileError("an array in it has an impossible shape. Get a new copy.")
        stop = start + math.prod(shape) * dtype.itemsize
        if stop > len(data) or (dtype.itemsize == 0 and math.prod(shape) > 0):
            raise ModelFileError("an array in it is longer than the file. Get a new copy.")
        yield _checked(np.ndarray(tuple(shape), dtype, data[start:stop], order=order).copy(order="K"))
        start = stop
    if start != len(data):
        raise ModelFileError("it has bytes that belong to no array. Get a new copy.")


def _dtype(name: str) -> np.dtype[Any]:
    if not DTYPE.fullmatch(name):
        raise ModelFileError(f"it has an array of {name!r}, which may not be in a model file.")
    return np.dtype(name)


def _checked(array: Array) -> Array:
    """Refuse bytes that are no boolean and no character, on which NumPy itself may stumble."""
    if array.dtype.kind == "b":
        valid = bool((array.view(np.uint8) <= 1).all())
    elif array.dtype.kind == "U" and array.size:
        valid = bool((array.reshape(-1).view(array.dtype.str[0] + "u4") < 0x110000).all())
    else:
        valid = True
    if not valid:
        raise ModelFileError("an array in it holds impossible values. Get a new copy.")
    return array


def _read_scalar(decoder: Decoder, place: int) -> Any:
    if decoder.arrays[place].shape != ():
        raise ModelFileError("it has an array in the place of a number. Get a new copy.")
    return decoder.arrays[place][()]


def _read_objects(decoder: Decoder, shape: list[int], values: list[Json]) -> Array:
    if not all(type(length) is int and length >= 0 for length in shape) or math.prod(shape) != len(values):
        raise ModelFileError("an array of objects in it has an impossible shape. Get a new copy.")
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(decoder.items(values)):
        array[i] = value
    return array.reshape(shape)


def _read_named(decoder: Decoder, name: str, fields: dict[str, Json]) -> Any:
    cls: Any = decoder.find(name)
    values = {**getattr(cls, "_field_defaults", {}), **decoder.fields(fields)}
    if not issubclass(cls, tuple) or sorted(values) != sorted(getattr(cls, "_fields", ())):
        raise ModelFileError(f"its {name} has other fields than this gnomon's. {decoder.cure}")
    return _let_check(tuple.__new__(cls, [values[field] for field in cls._fields]))


def _read_object(decoder: Decoder, name: str, state: dict[str, Json], requests: Json = None) -> Any:
    """Make the object without calling its constructor or ``__setstate__``, then let it check itself."""
    cls = decoder.find(name)
    instance: Any = object.__new__(cls)
    for key, value in decoder.fields(state).items():
        _set_attribute(instance, key, value)
    if requests is not None:
        _set_attribute(instance, "_metadata_request", _request(cls.__name__, requests))
    return _let_check(instance)


def _let_check(instance: Any) -> Any:
    """Let what was read refuse itself: a class whose compiled code trusts its arrays has a ``_check_loaded``."""
    check = getattr(type(instance), "_check_loaded", None)
    if check is not None:
        check(instance)
    if hasattr(instance, "get_params"):
        check_facts(instance)
    return instance


def check_shapes(model: Any, shapes: dict[str, tuple[int, ...]], kinds: str = "fiu") -> None:
    """Refuse a file whose arrays have other shapes than the compiled code of its model will take for granted.

    >>> from types import SimpleNamespace
    >>> check_shapes(SimpleNamespace(coef_=np.zeros((1, 2))), {"coef_": (1, 3)})
    Traceback (most recent call last):
        ...
    gnomon.core.errors.ModelFileError: its coef_ does not fit the rest of it. Get a new copy.
    """
    for name, shape in shapes.items():
        array = getattr(model, name, None)
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind not in kinds:
            raise ModelFileError(f"its {name} does not fit the rest of it. Get a new copy.")


def _set_attribute(instance: Any, key: str, value: Any) -> None:
    """Store in ``__dict__`` or in a slot; nothing may take the place of a method or property."""
    found = next((vars(cls)[key] for cls in type(instance).__mro__ if key in vars(cls)), None)
    if isinstance(found, MemberDescriptorType):
        found.__set__(instance, value)
    elif not key.isidentifier() or key.startswith("__") or callable(found) or hasattr(type(found), "__get__"):
        raise ModelFileError(f"it would replace {type(instance).__name__}.{key}. Do not trust its author.")
    else:
        vars(instance)[key] = value


def _request(owner: str, requests: dict[str, dict[str, Any]]) -> Any:
    from sklearn.utils.metadata_routing import MetadataRequest

    made = MetadataRequest(owner=owner)
    for method, wishes in requests.items():
        for parameter, alias in wishes.items():
            vars(made)[method].add_request(param=parameter, alias=alias)
    return made


def _read_sparse(decoder: Decoder, name: str, shape: list[int], parts: list[Json]) -> Any:
    if name not in SPARSE or not all(type(length) is int for length in shape):
        raise ModelFileError(f"it has a sparse array of kind {name!r}. Get a new copy.")
    data, *index = decoder.items(parts)
    if not all(isinstance(part, np.ndarray) for part in (data, *index)):
        raise ModelFileError("a sparse array in it has parts that are no arrays. Get a new copy.")
    content = (data, tuple(index)) if name.startswith("coo") else (data, *index)
    made = getattr(scipy.sparse, name)(content, shape=tuple(shape))
    if not name.startswith("coo"):  # the constructor of COO has checked every index
        made.check_format(full_check=True)
    return made


def _read_seed(decoder: Decoder, state: Json) -> np.random.SeedSequence:
    values = decoder.decode(state)
    if not 4 <= values["pool_size"] <= 1024:
        raise ModelFileError("it has a seed sequence of an impossible size. Get a new copy.")
    return np.random.SeedSequence(**values)


def _read_generator(decoder: Decoder, seed: Json, state: Json) -> np.random.Generator:
    values = _safe_position(decoder.decode(state))
    if values["bit_generator"] not in _BIT_GENERATORS:
        raise ModelFileError(f"it has a random generator of kind {values['bit_generator']!r}.")
    sequence = decoder.decode(seed)
    bits = getattr(np.random, values["bit_generator"])(0 if sequence is None else sequence)
    bits.state = values
    return np.random.Generator(bits)


def _read_random_state(decoder: Decoder, state: Json) -> np.random.RandomState:
    values = _safe_position(decoder.decode(state))
    made = np.random.RandomState(0)
    made.set_state(values)
    return made


def _safe_position(state: dict[str, Any]) -> dict[str, Any]:
    """NumPy reads the next number at this position without looking."""
    if not (0 <= state["state"].get("pos", 0) <= 624 and 0 <= state.get("buffer_pos", 0) <= 4):
        raise ModelFileError("it has a random generator in an impossible state. Get a new copy.")
    return state


_READERS: dict[str, Callable[..., Any]] = {
    "array": lambda decoder, place: decoder.arrays[place],
    "scalar": _read_scalar,
    "objects": _read_objects,
    "dtype": lambda decoder, name: np.dtype(object) if name == "|O" else _dtype(name),
    "type": lambda decoder, name: PLAIN_TYPES[name] if name in PLAIN_TYPES else decoder.find(name),
    "tuple": lambda decoder, values: tuple(decoder.items(values)),
    "list": lambda decoder, values: decoder.items(values),
    "set": lambda decoder, values: set(decoder.items(values)),
    "frozenset": lambda decoder, values: frozenset(decoder.items(values)),
    "dict": lambda decoder, values: decoder.fields(values),
    "pairs": lambda decoder, pairs: dict(decoder.items(pair) for pair in pairs),
    "deque": lambda decoder, values, length: deque(decoder.items(values), length),
    "slice": lambda decoder, values: slice(*decoder.items(values)),
    "complex": lambda decoder, real, imaginary: complex(real, imaginary),
    "bytes": lambda decoder, digits: bytes.fromhex(digits),
    "named": _read_named,
    "object": _read_object,
    "sparse": _read_sparse,
    "Generator": _read_generator,
    "RandomState": _read_random_state,
    "SeedSequence": _read_seed,
}
