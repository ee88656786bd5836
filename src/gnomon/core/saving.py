"""Saving: models and checkpoints in files that hold data only, never code.

A file is a short prefix, a JSON header, the raw bytes of its arrays and a SHA-256 over all of it::

    magic | format | length of header | length of arrays | header | arrays | SHA-256

Nothing is compressed and arrays follow each other without gaps, so a file can claim no more memory than it
has bytes. The header is described in `gnomon.core.encoding`.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from gnomon import __version__
from gnomon.core.decoding import Decoder, read_arrays
from gnomon.core.encoding import Encoder, class_name
from gnomon.core.errors import ModelFileError

__all__ = ["load", "pack", "save", "unpack", "write_atomically"]

_MAGIC = b"\x93gnomon\n"
_FORMAT = 1
_PREFIX = struct.Struct("<8sIQQ")  # magic, format, length of the header, length of the arrays
_DIGEST = hashlib.sha256().digest_size


def save(model: Any, path: str | os.PathLike[str], *, trusted: Iterable[type] = ()) -> None:
    """Write a fitted or unfitted model to one file that holds data only, never code.

    The file appears whole or not at all. Callbacks are not saved: they belong to a fit, not to its result.
    For a scikit-learn pipeline with gnomon's models inside, use ``skops.io.dump``.

    Parameters
    ----------
    model : object
        An estimator of gnomon, or any other object of a gnomon class.
    path : str or path
        Where to write it; the ending is free, ``.gnomon`` is usual.
    trusted : iterable of classes, optional
        Your own classes among the model's parts; `load` must be given the same.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gnomon.core.steps import Report
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.gnomon"
    >>> save(Report(2.5), path)
    >>> load(path).objective
    2.5
    """
    if not Encoder(trusted).knows(type(model)):
        raise TypeError(
            f"model must be an object of gnomon; got {class_name(type(model))}. Use "
            "skops.io.dump for objects of other libraries, or name your own classes in `trusted`."
        )
    write_atomically(path, _pack(model, "model", trusted))


def load(path: str | os.PathLike[str], *, trusted: Iterable[type] = ()) -> Any:
    """Read a model that `save` wrote.

    Only gnomon's own classes, the classes in `trusted`, NumPy and SciPy arrays and plain containers are ever
    made. A damaged, foreign or hostile file raises `ModelFileError`; nothing in it is run.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of classes, optional
        Your own classes that the file may hold.
    """
    path = Path(path)
    with _trouble_with(path.name), path.open("rb") as file:
        _lengths(file.read(_PREFIX.size), os.fstat(file.fileno()).st_size)  # before the rest is read
        file.seek(0)
        model = _unpack(file.read(), "model", trusted)
        if not Encoder(trusted).knows(type(model)):
            raise ModelFileError("there is no model in it. Models are written by gnomon.save(model, path).")
        return model


def pack(tree: Any, *, trusted: Iterable[type] = ()) -> bytes:
    """Return a tree of named tuples, containers, numbers and arrays as bytes with a checksum.

    >>> unpack(pack({"step": 3, "centers": (0.5, None)}))
    {'step': 3, 'centers': (0.5, None)}
    """
    return _pack(tree, "checkpoint", trusted)


def unpack(data: bytes, *, trusted: Iterable[type] = ()) -> Any:
    """Return the tree that `pack` wrote; a torn, foreign or hostile one raises `ModelFileError`."""
    with _trouble_with("the checkpoint"):
        return _unpack(data, "checkpoint", trusted)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that after any interruption it is the old one or the new one, never a part.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and then renamed.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:64]}.{uuid4().hex}.part")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    _flush_folder(folder)


def _flush_folder(folder: str) -> None:
    """Make a rename last through a power cut, where the system lets a folder be flushed."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _trouble_with(name: str) -> Iterator[None]:
    """Whatever goes wrong while reading becomes a ModelFileError; a missing file stays what it is."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {name}: {error}") from error.__cause__
    except OSError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"cannot load {name}: its content is not what gnomon writes ({type(error).__name__}: {error}). "
            "Get the file again from where it was saved."
        ) from error


def _lengths(prefix: bytes, size: int) -> tuple[int, int]:
    """Check the prefix of a file of `size` bytes; return the lengths of its header and its arrays."""
    if prefix[:8] != _MAGIC:
        raise ModelFileError("it is not a gnomon file. Models are written by gnomon.save(model, path).")
    if len(prefix) < _PREFIX.size:
        raise ModelFileError("it is cut short. Copy it again, or save the model again.")
    _, version, header, arrays = _PREFIX.unpack(prefix)
    if version != _FORMAT:
        raise ModelFileError(
            f"it has file format {version}, this gnomon reads {_FORMAT}. Install a newer gnomon."
        )
    if _PREFIX.size + header + arrays + _DIGEST != size:
        raise ModelFileError(
            f"it has {size} bytes and should have {_PREFIX.size + header + arrays + _DIGEST}. "
            "Copy it again, or save the model again."
        )
    return header, arrays


def _pack(tree: Any, kind: str, trusted: Iterable[type]) -> bytes:
    encoder = Encoder(trusted)
    body = encoder.encode(tree, kind)
    entries = {"kind": kind, "gnomon": __version__, "arrays": encoder.table(), "tree": body}
    header = json.dumps(entries).encode()
    blobs = [array.tobytes("A") for array in encoder.arrays]  # as they lie, C or Fortran
    prefix = _PREFIX.pack(_MAGIC, _FORMAT, len(header), sum(map(len, blobs)))
    digest = hashlib.sha256()
    for part in (prefix, header, *blobs):
        digest.update(part)
    return b"".join([prefix, header, *blobs, digest.digest()])


def _unpack(data: bytes, kind: str, trusted: Iterable[type]) -> Any:
    header_length, _ = _lengths(data[: _PREFIX.size], len(data))
    view, start = memoryview(data), _PREFIX.size + header_length
    if hashlib.sha256(view[:-_DIGEST]).digest() != view[-_DIGEST:]:
        raise ModelFileError("its checksum is wrong: it was changed or damaged. Get a new copy.")
    header = json.loads(str(view[_PREFIX.size : start], "utf-8"))
    if header["kind"] != kind:
        raise ModelFileError(f"it holds a {header['kind']}, not a {kind}.")
    arrays = list(read_arrays(header["arrays"], view[start:-_DIGEST]))
    return Decoder(arrays, str(header["gnomon"]), trusted).decode(header["tree"])
