"""Encoding: a tree of values as JSON and arrays, with no way to name code.

JSON's own numbers, strings, booleans and None stand for themselves; everything else is a list that begins
with a tag: ``["tuple", [1, 2]]``, ``["array", 3]``, ``["object", "gnomon.cluster.kmeans:KMeans", {...}]``.
`gnomon.core.decoding` reads it back.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

Array: TypeAlias = npt.NDArray[Any]
Json: TypeAlias = Any

DEPTH = 100  # levels of nesting
DTYPE = re.compile(r"[<>|][biufcSUMm][0-9]+(\[[0-9]*[A-Za-z]+\])?", re.ASCII)
CLASS = re.compile(r"(gnomon(?:\.(?!__)[A-Za-z_]\w*)*):((?!__)[A-Za-z_]\w*)", re.ASCII)
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix")
_PER_FIT = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx")


def class_name(cls: type) -> str:
    """Return the name under which a class is written."""
    return f"{cls.__module__}:{cls.__qualname__}"


class Encoder:
    """Turns a tree into JSON values and a list of arrays; an array met twice is written once."""

    def __init__(self, trusted: Iterable[type]) -> None:
        self.trusted = frozenset(trusted)
        self.arrays: list[Array] = []
        self.places: dict[int, int] = {}  # id of an array -> its place in the list
        self.kept: list[Array] = []  # so that no id is used twice
        self.path: list[str] = []

    def table(self) -> list[Json]:
        """Return what `Decoder` must know to read the arrays again."""
        return [[a.dtype.str, a.shape, "C" if a.flags.c_contiguous else "F"] for a in self.arrays]

    def encode(self, value: Any, step: str) -> Json:
        """Return a value as JSON; `step` says where in the tree it is."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        self.path.append(step)
        if len(self.path) > DEPTH:
            raise self.refusal(f"it contains itself or is nested deeper than {DEPTH} levels.")
        result = self._writer(value)(self, value)
        self.path.pop()
        return result

    def _writer(self, value: Any) -> Callable[[Encoder, Any], Json]:
        if type(value) in _CONTAINERS:
            return _CONTAINERS[type(value)]
        for kind, function in _WRITERS:
            if isinstance(value, kind):
                return function
        if self.knows(type(value)):
            return _write_object
        raise self.refusal(
            f"{type(value).__name__} is not data. Model files hold numbers, strings, containers, arrays and "
            "gnomon's own objects; set functions and other libraries' objects again after loading."
        )

    def items(self, values: Iterable[Any]) -> list[Json]:
        """Encode every item of a sequence."""
        return [self.encode(value, f"[{i}]") for i, value in enumerate(values)]

    def fields(self, values: dict[str, Any]) -> dict[str, Json]:
        """Encode every value of a dict."""
        return {key: self.encode(value, f".{key}") for key, value in values.items()}

    def place(self, value: Array) -> int:
        """Return the place of an array in the file."""
        if not DTYPE.fullmatch(value.dtype.str):
            raise self.refusal(f"arrays of {value.dtype} cannot be saved. Use a plain dtype.")
        if id(value) not in self.places:
            plain = np.asarray(value)
            contiguous = plain.flags.c_contiguous or plain.flags.f_contiguous
            self.places[id(value)] = len(self.arrays)
            self.kept.append(value)
            self.arrays.append(plain if contiguous else plain.copy(order="C"))
        return self.places[id(value)]

    def knows(self, cls: type) -> bool:
        """Whether objects of a class may be written."""
        return cls in self.trusted or CLASS.fullmatch(class_name(cls)) is not None

    def name(self, cls: type) -> str:
        """Return the name of a class that may be written."""
        if not self.knows(cls):
            raise self.refusal(
                f"{class_name(cls)} is not a class of gnomon. Name your own classes in `trusted`."
            )
        return class_name(cls)

    def refusal(self, reason: str) -> TypeError:
        """Return the error that says which part cannot be saved, and why."""
        path = "".join(self.path)
        return TypeError(f"cannot save {path if len(path) < 80 else path[:80] + '...'}: {reason}")


def _write_array(encoder: Encoder, value: Array) -> Json:
    if isinstance(value, np.ma.MaskedArray | np.matrix):
        raise encoder.refusal(f"{type(value).__name__} cannot be saved. Use a plain array.")
    if value.dtype == object:
        return ["objects", value.shape, encoder.items(value.ravel().tolist())]
    return ["array", encoder.place(value)]


def _write_tuple(encoder: Encoder, value: tuple[Any, ...]) -> Json:
    if type(value) is tuple:
        return ["tuple", encoder.items(value)]
    fields = dict(zip(getattr(value, "_fields", ()), value))
    return ["named", encoder.name(type(value)), encoder.fields(fields)]


def _write_dict(encoder: Encoder, value: dict[Any, Any]) -> Json:
    if all(type(key) is str for key in value):
        return ["dict", encoder.fields(value)]
    return ["pairs", [encoder.items(pair) for pair in value.items()]]


def _write_set(encoder: Encoder, value: set[Any] | frozenset[Any]) -> Json:
    return [type(value).__name__, sorted(encoder.items(value), key=json.dumps)]


def _write_type(encoder: Encoder, value: type) -> Json:
    for name in (f"builtins:{value.__name__}", f"numpy:{value.__name__}"):
        if PLAIN_TYPES.get(name) is value:
            return ["type", name]
    return ["type", encoder.name(value)]


def _write_sparse(encoder: Encoder, value: Any) -> Json:
    name = type(value).__name__
    if name not in SPARSE:
        raise encoder.refusal(f"{name} cannot be saved. Use CSR, CSC or COO.")
    index = value.coords if value.format == "coo" else (value.indices, value.indptr)
    return ["sparse", name, value.shape, encoder.items((value.data, *index))]


def _write_generator(encoder: Encoder, value: np.random.Generator) -> Json:
    bits: Any = value.bit_generator
    seed = bits.seed_seq if isinstance(bits.seed_seq, np.random.SeedSequence) else None
    return ["Generator", encoder.encode(seed, ".seed_seq"), encoder.encode(bits.state, ".state")]


def _write_random_state(encoder: Encoder, value: np.random.RandomState) -> Json:
    state: Any = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise encoder.refusal(f"a RandomState over {state['bit_generator']}. Use a Generator.")
    return ["RandomState", encoder.encode(state, ".state")]


def _write_object(encoder: Encoder, value: Any) -> Json:
    state = value.__getstate__()
    attributes: dict[str, Any] = {}
    for part in state if isinstance(state, tuple) else (state,):  # a tuple: __dict__ and __slots__
        attributes.update(part or {})
    cached = {
        key for cls in type(value).__mro__ for key, part in vars(cls).items() if type(part) is cached_property
    }
    attributes = {key: part for key, part in attributes.items() if key not in cached.union(_PER_FIT)}
    requests = attributes.pop("_metadata_request", None)
    written = ["object", encoder.name(type(value)), encoder.fields(attributes)]
    return written if requests is None else [*written, _requested(requests)]


def _cached(cls: type) -> set[str]:
    """Return the names of what an object computes from its other attributes and keeps."""
    return {
        name for base in cls.__mro__ for name, part in vars(base).items() if type(part) is cached_property
    }


def _requested(requests: Any) -> dict[str, dict[str, Any]]:
    """Return what ``set_fit_request(sample_weight=True)`` and its siblings asked for."""
    return {method: dict(r.requests) for method, r in vars(requests).items() if hasattr(r, "requests")}


PLAIN_TYPES: dict[str, type] = {
    **{f"builtins:{t.__name__}": t for t in (bool, int, float, complex, str, bytes, object)},
    **{f"numpy:{t.__name__}": t for t in set(np.sctypeDict.values())},
}

_CONTAINERS: dict[type, Callable[[Encoder, Any], Json]] = {
    list: lambda encoder, value: ["list", encoder.items(value)],
    dict: _write_dict,
    set: _write_set,
    frozenset: _write_set,
    deque: lambda encoder, value: ["deque", encoder.items(value), value.maxlen],
    slice: lambda encoder, value: ["slice", encoder.items((value.start, value.stop, value.step))],
    complex: lambda encoder, value: ["complex", value.real, value.imag],
    bytes: lambda encoder, value: ["bytes", value.hex()],
}

_WRITERS: list[tuple[type, Callable[[Encoder, Any], Json]]] = [
    (np.ndarray, _write_array),
    (np.generic, lambda encoder, value: ["scalar", encoder.place(np.asarray(value))]),
    (np.dtype, lambda encoder, value: ["dtype", value.str]),
    (tuple, _write_tuple),
    (type, _write_type),
    (scipy.sparse.sparray, _write_sparse),
    (scipy.sparse.spmatrix, _write_sparse),
    (np.random.Generator, _write_generator),
    (np.random.RandomState, _write_random_state),
    (np.random.SeedSequence, lambda encoder, value: ["SeedSequence", encoder.encode(value.state, ".state")]),
]
