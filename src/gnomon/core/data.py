"""Data: what a fit learns from, whatever its kind, and how two of them are told apart.

Rows of a table are one kind; sequences, documents, ratings, graphs, images and worlds are others. The loop, the
checkpoints and the contract ask no more of any of them than what `Data` says.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Self

import numpy as np
from scipy import sparse


class Data:
    """What every kind of data can tell of itself."""

    def facts(self) -> dict[str, Any]:
        """Return what a fitted model keeps of its data: widths, names, classes, vocabularies."""
        return {}

    def digest(self) -> str:
        """Return a name for everything in the data that can change what is learned from them."""
        raise NotImplementedError(f"{type(self).__name__} has no digest, so its fits cannot be checkpointed.")

    def __len__(self) -> int:
        """Return the number of units: rows, sequences, documents, ratings, episodes."""
        raise NotImplementedError

    def take(self, units: Any) -> Self:
        """Return data of the same kind made of these units, in this order: folds, bags, batches."""
        raise NotImplementedError(f"{type(self).__name__} cannot be taken apart.")


class UndigestibleError(TypeError):
    """A value of which nobody can tell whether it is the same as another."""


def digest_of(*values: Any) -> str:
    """Return a SHA-256 over the values of numbers, strings, arrays, containers, functions and objects.

    Equal values have equal digests in every process; what cannot be told apart by value is refused.

    >>> digest_of(1, [2.0, "a"]) == digest_of(1, [2.0, "a"]) != digest_of(1, [2.0, "b"])
    True
    >>> import numpy as np
    >>> digest_of(np.int64(3)) == digest_of(np.int64(5))
    False
    """
    found = hashlib.sha256()
    for value in values:
        _feed(found.update, value, 0)
    return found.hexdigest()


_Update = Callable[[Any], None]


def _feed(update: _Update, value: Any, depth: int) -> None:
    """Hash one value: a tag of its type, its length where it has one, and its content."""
    if depth > 100:
        raise UndigestibleError("it contains itself or is nested deeper than 100 levels")
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            update(f"<{kind.__name__}>".encode())
            write(update, value, depth)
            return
    _feed_object(update, value, depth)


def _feed_items(update: _Update, values: Iterable[Any], depth: int) -> None:
    count = 0
    for value in values:
        _feed(update, value, depth + 1)
        count += 1
    update(f"[{count}]".encode())


def _feed_text(update: _Update, value: Any, depth: int) -> None:
    text = str(value).encode("utf-8", "surrogatepass")
    update(f"{len(text)}:".encode())
    update(text)


def _feed_array(update: _Update, value: Any, depth: int) -> None:
    update(f"{value.dtype.str}{value.shape}".encode())
    if isinstance(value, np.ma.MaskedArray):
        _feed_array(update, np.ma.getmaskarray(value), depth)
        value = value.filled()
    if value.dtype == object:
        _feed_items(update, value.ravel().tolist(), depth)
    else:
        update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)


def _feed_sparse(update: _Update, value: Any, depth: int) -> None:
    csr = sparse.csr_array(value)
    update(str(csr.shape).encode())
    for part in (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)):
        _feed_array(update, part, depth)


def _feed_mapping(update: _Update, value: Mapping[Any, Any], depth: int) -> None:
    _feed_items(update, value.items(), depth)  # order is part of it: it may be the order of columns


def _feed_set(update: _Update, value: Any, depth: int) -> None:
    for one in sorted(digest_of(item) for item in value):
        update(one.encode())


def _feed_function(update: _Update, value: Any, depth: int) -> None:
    """A function is its name and, where it is Python, what it does and what it closes over."""
    update(f"{value.__module__}.{getattr(value, '__qualname__', value.__name__)}".encode())
    code = getattr(value, "__code__", None)
    if code is not None:
        _feed_code(update, code, depth)
        _feed_items(update, [value.__defaults__, value.__kwdefaults__], depth)
        cells = value.__closure__ or ()
        _feed_items(update, (cell.cell_contents for cell in cells), depth)
        known = {name: value.__globals__.get(name) for name in sorted(_names(code))}
        _feed_mapping(update, {name: one for name, one in known.items() if isinstance(one, _PLAIN)}, depth)


def _feed_code(update: _Update, code: types.CodeType, depth: int) -> None:
    """Code is its instructions, the names and constants they number, and the functions made inside it."""
    update(code.co_code)
    _feed_items(update, code.co_names, depth)
    for one in code.co_consts:
        write = _feed_code if isinstance(one, types.CodeType) else _feed
        write(update, one, depth + 1)


def _names(code: types.CodeType) -> set[str]:
    inside = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*map(_names, inside))


def _feed_method(update: _Update, value: Any, depth: int) -> None:
    _feed_function(update, value.__func__, depth)
    _feed(update, value.__self__, depth + 1)


def _feed_partial(update: _Update, value: Any, depth: int) -> None:
    _feed_items(update, [value.func, value.args, value.keywords], depth)


def _feed_object(update: _Update, value: Any, depth: int) -> None:
    """An object is its class and its attributes; an estimator its class and its parameters."""
    cls = type(value)
    update(f"<{cls.__module__}.{cls.__qualname__}>".encode())
    if isinstance(value, Data):
        update(value.digest().encode())
    elif hasattr(value, "get_params") and not isinstance(value, type):
        fitted = {name: part for name, part in vars(value).items() if name.endswith("_")}
        _feed_mapping(update, {**value.get_params(deep=False), **fitted}, depth)
    elif hasattr(value, "numpy") and hasattr(value, "detach"):  # a tensor
        _feed_array(update, value.detach().cpu().numpy(), depth)
    elif hasattr(value, "to_numpy") and hasattr(value, "columns"):  # a frame
        _feed_items(update, map(str, value.columns), depth)
        _feed_items(update, (value[name].to_numpy() for name in value.columns), depth)
    elif hasattr(value, "to_numpy"):
        _feed(update, value.to_numpy(), depth + 1)
    elif hasattr(value, "state_dict"):  # a network of PyTorch
        _feed_items(update, [repr(value), dict(value.state_dict())], depth)
    elif type(getattr(value, "__dict__", None)) is dict or hasattr(cls, "__slots__"):
        _feed_mapping(update, _parts(value), depth)
    else:
        raise UndigestibleError(
            f"{cls.__module__}.{cls.__qualname__} cannot be told from another of its kind"
        )


def _parts(value: Any) -> dict[str, Any]:
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return {**found, **getattr(value, "__dict__", {})}


_PLAIN = (bool, int, float, complex, str, bytes, tuple, np.ndarray, np.generic)  # of globals, these alone

_WRITERS: list[tuple[type, Callable[[_Update, Any, int], None]]] = [
    (type(None), lambda update, value, depth: None),
    (enum.Enum, _feed_text),
    (bool, _feed_text),
    (int, _feed_text),
    (float, lambda update, value, depth: update(value.hex().encode())),
    (complex, _feed_text),
    (str, _feed_text),
    (bytes, lambda update, value, depth: update(f"{len(value)}:".encode() + value)),
    (np.ndarray, _feed_array),
    (np.generic, lambda update, value, depth: _feed_array(update, np.asarray(value), depth)),
    (np.dtype, _feed_text),
    (sparse.sparray, _feed_sparse),
    (sparse.spmatrix, _feed_sparse),
    (tuple, _feed_items),
    (list, _feed_items),
    (range, _feed_text),
    (slice, _feed_text),
    (set, _feed_set),
    (frozenset, _feed_set),
    (Mapping, _feed_mapping),
    (np.random.Generator, lambda update, value, depth: _feed(update, value.bit_generator.state, depth + 1)),
    (np.random.RandomState, lambda update, value, depth: _feed(update, value.get_state(), depth + 1)),
    (PurePath, _feed_text),
    (type, lambda update, value, depth: update(f"{value.__module__}.{value.__qualname__}".encode())),
    (functools.partial, _feed_partial),
    (types.FunctionType, _feed_function),
    (types.BuiltinFunctionType, _feed_function),
    (np.ufunc, lambda update, value, depth: update(value.__name__.encode())),
    (types.MethodType, _feed_method),
]
