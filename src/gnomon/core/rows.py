"""Rows: the data of a fit, wherever they live, read in chunks whose borders the data alone decide.

A learner sees its data as `Rows`. `MemoryRows` cuts arrays into chunks for the thread pool, `TableRows` reads
record batches of Parquet files that need not fit in memory, `DaskRows` sends the work to the partitions. All
three answer one question: apply this function to every chunk and combine the results in order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread

CHUNK_BYTES = 2**21  # of X; large enough to hide the cost of a Python call, small enough to stay in cache
CHUNK_ROWS = 1024  # at least
SPARSE_BYTES = 2**24  # of a sparse X: its statistics are often wider than its rows


class Chunk(NamedTuple):
    """A block of consecutive rows."""

    X: Any  # (m, d) C-contiguous ndarray or CSR array
    y: Array | None  # (m,) or (m, t); class codes for classifiers
    weight: Array  # (m,) float64
    start: int  # index of the first row in the whole
    lengths: Array | None = None  # of the sequences in the chunk, when rows form sequences


class Rows(Data):
    """What every kind of rows has."""

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]
    feature_names: Array | None = None
    classes: Array | None = None  # of the target, sorted; chunks carry codes into them
    weighted: bool = False
    in_memory: bool = False
    sparse: bool = False  # CSR
    given: Any = None  # what else a fit was told beside its rows: points to start from
    categories: dict[int, Array] | None = None  # of columns read as codes, by their position
    outputs: Any = None  # the classes of every column of a target that has several
    known_weight: float | None = None  # the sum of the weights, once somebody has added it up

    def gather(
        self, function: Callable[..., Any], state: tuple[Any, ...], combine: Callable[..., Any]
    ) -> Any:
        """Return ``combine`` of the iterator of ``function(chunk, *state)``, in the order of the chunks."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.n_rows

    def facts(self) -> dict[str, Any]:
        """Return the number and names of the columns, and the classes of the target."""
        found: dict[str, Any] = {"n_features_in_": self.n_features}
        if self.feature_names is not None:
            found["feature_names_in_"] = self.feature_names
        if self.classes is not None:
            found["classes_"] = self.classes
        if self.categories is not None:
            found["categories_"] = dict(self.categories)
        return found

    def digest(self) -> str:
        """Return a name for all entries, weights, targets and lengths, read chunk by chunk."""
        chunks = self.gather(_chunk_digest, (), list)
        return digest_of(
            self.n_rows, self.n_features, self.feature_names, self.classes, chunks, self._beside()
        )

    def _beside(self) -> dict[str, Any]:
        """Return what else a fit was told: names of attributes that a family adds, and their values."""
        return {} if self.given is None else {"given": self.given}

    def unchecked(self) -> Rows:
        """Return these rows for a sum that would show any bad entry in its result.

        Whoever takes them looks at the result, and asks the checked rows for `X` where it is not finite.
        """
        return self

    def in_chunks_of(self, size: int, least: int | None = None) -> Rows:
        """Return these rows in chunks of about so many bytes and at least so many rows, where they are in memory."""
        return self

    def names(self) -> list[str]:
        """Return the feature names, made up where the data have none."""
        if self.feature_names is not None:
            return [str(name) for name in self.feature_names]
        return [f"x{column}" for column in range(self.n_features)]


def _chunk_digest(chunk: Chunk) -> str:
    return digest_of(chunk.X, chunk.y, chunk.weight, chunk.lengths)


class MemoryRows(Rows):
    """Rows of arrays in memory.

    A large matrix need not be looked through before the work begins. With ``check`` given, every chunk is
    looked at just before its first use, when it is about to be in cache anyway, and ``check(chunk.X)`` raises
    the error. Whoever asks for all of `X` has all of it looked through.
    """

    in_memory = True
    chunk_bytes = CHUNK_BYTES
    least_rows: int | None = None  # CHUNK_ROWS

    def __init__(
        self,
        X: Any,
        y: Array | None = None,
        weight: Array | None = None,
        *,
        feature_names: Array | None = None,
        classes: Array | None = None,
        lengths: Array | None = None,
        start: int = 0,
        check: Callable[[Any], None] | None = None,
    ) -> None:
        self._X, self.y, self._check = X, y, check
        self.n_rows, self.n_features = X.shape
        self.dtype, self.sparse = X.dtype, sparse.issparse(X)
        self.weighted = weight is not None
        self._weight = weight
        self.feature_names, self.classes, self.lengths = feature_names, classes, lengths
        self.start = start

    @property
    def X(self) -> Any:
        """The matrix, known to be finite where it must be."""
        if self._check is not None:
            if not is_finite(self._X):
                self._check(self._X)
            self._check = None
        return self._X

    def take(self, units: Any) -> MemoryRows:
        """Return the rows with these numbers, or the sequences where rows form sequences."""
        units = np.asarray(units)
        lengths = None
        if self.lengths is not None:
            ends = np.cumsum(self.lengths)
            lengths = self.lengths[units]
            units = np.concatenate([np.arange(ends[i] - self.lengths[i], ends[i]) for i in units])
        weight = None if self._weight is None else self._weight[units]
        y = None if self.y is None else self.y[units]
        names = self.feature_names
        return MemoryRows(
            self.X[units], y, weight, feature_names=names, classes=self.classes, lengths=lengths
        )

    def _beside(self) -> dict[str, Any]:
        own = set(vars(MemoryRows(np.empty((0, 1))))) | {"n_rows", "n_features", "dtype", "known_weight"}
        return {name: value for name, value in sorted(vars(self).items()) if name not in own}

    def unchecked(self) -> MemoryRows:
        """Return these rows without the look at their entries."""
        rows = copy.copy(self)
        rows._check = None
        return rows

    def in_chunks_of(self, size: int, least: int | None = None) -> MemoryRows:
        """Return these rows in chunks of about so many bytes and at least so many rows.

        Large ones are for statistics that cost to merge; few long rows are work for several threads only in small ones.
        """
        rows = copy.copy(self)
        rows.chunk_bytes, rows.least_rows = size, least
        return rows

    @property
    def weight(self) -> Array:
        """The weight of every row; ones where none were given."""
        if self._weight is None:
            return np.ones(self.n_rows)
        return self._weight

    def chunks(self) -> Iterator[Chunk]:
        """Return the chunks; borders depend on the number and width of rows, and on where sequences end."""
        _ = self.X  # looked through
        return self._cut()

    def _cut(self) -> Iterator[Chunk]:
        ones = None if self.weighted else np.ones(min(self.chunk_rows(), self.n_rows))
        for begin, end, lengths in self._borders():
            if self.sparse:
                block = csr_rows(self._X, begin, end)
            else:
                block = np.require(self._X[begin:end], requirements=["C", "A", "W"])
            if ones is None:
                weight = self.weight[begin:end]
            else:
                weight = ones[: end - begin] if end - begin <= len(ones) else np.ones(end - begin)
            y = None if self.y is None else self.y[begin:end]
            yield Chunk(block, y, weight, self.start + begin, lengths)

    def chunk_rows(self) -> int:
        """Return how many rows a chunk has at most."""
        if sparse.issparse(self._X):
            return max(CHUNK_ROWS, int(SPARSE_BYTES * self.n_rows / max(1, 12 * self._X.nnz)))
        least = CHUNK_ROWS if self.least_rows is None else self.least_rows
        return max(least, self.chunk_bytes // max(1, self._X.itemsize * self.n_features))

    def _borders(self) -> Iterator[tuple[int, int, Array | None]]:
        step = self.chunk_rows()
        if self.lengths is None:
            for begin in range(0, self.n_rows, step):
                yield begin, min(begin + step, self.n_rows), None
            return
        ends = np.cumsum(self.lengths)
        first, begin = 0, 0
        while first < len(ends):  # whole sequences only; a long one is a chunk of its own
            last = max(first + 1, int(np.searchsorted(ends, begin + step, side="right")))
            yield begin, int(ends[last - 1]), self.lengths[first:last]
            first, begin = last, int(ends[last - 1])

    def gather(
        self, function: Callable[..., Any], state: tuple[Any, ...], combine: Callable[..., Any]
    ) -> Any:
        """Work through the chunks on the thread pool."""
        if self.lengths is None and self.n_rows <= self.chunk_rows():
            with one_blas_thread():
                return combine(function(chunk, *state) for chunk in self.chunks())
        check = self._check
        if combine is join:
            combine = partial(join, n=self.n_rows)

        def work(chunk: Chunk) -> Any:
            if check is not None and not is_finite(chunk.X):
                check(chunk.X)
            return function(chunk, *state)

        found = combine(in_order(work, self._cut()))
        self._check = None
        return found


def csr_rows(X: Any, begin: int, end: int) -> Any:
    """X[begin:end] of a CSR matrix without a copy of its entries."""
    entries = slice(X.indptr[begin], X.indptr[end])
    rows = type(X)((end - begin, X.shape[1]), dtype=X.dtype)
    rows.data, rows.indices = X.data[entries], X.indices[entries]
    rows.indptr = X.indptr[begin : end + 1] - entries.start
    return rows


def sparse_blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Rows of a CSR matrix in blocks of few entries, and where each is; entries are not copied."""
    size = max(64, 2**16 * X.shape[0] // max(1, X.nnz))
    for start in range(0, X.shape[0], size):
        part = slice(start, min(start + size, X.shape[0]))
        yield part, csr_rows(X, part.start, part.stop)


def is_finite(X: Array) -> bool:
    """Tell whether no entry of a matrix of floats is NaN or infinite; False may also mean a sum too large."""
    if X.size < 2**20:
        return bool(np.isfinite(X.sum(dtype=np.float64)))
    blocks = np.array_split(X, X.size // 2**18)
    return all(in_order(lambda block: bool(np.isfinite(block.sum(dtype=np.float64))), blocks))


class Encoding(NamedTuple):
    """How raw columns become the arrays of a chunk; shared by tables and Dask partitions."""

    features: Sequence[str] | None  # names of the feature columns of a frame; None for plain arrays
    dtype: np.dtype[Any]
    nan: bool  # whether missing values may pass
    classes: Array | None  # of the target, or None for a numeric one

    def matrix(self, X: Any, start: int) -> Array:
        """Return a block of X as a finite C-ordered matrix, or say which row and column is wrong."""
        block = np.require(X, dtype=self.dtype, requirements=["C", "A", "W"])
        if not self.nan and not np.isfinite(block.sum(dtype=np.float64)):
            self._refuse(block, start)
        return block

    def _refuse(self, block: Array, start: int) -> None:
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = bad[0]
            name = self.features[column] if self.features else f"x{column}"
            raise DataError(
                f"X has {block[row, column]} in column {name!r}, row {start + row}. "
                "Impute or drop it; this model needs finite numbers."
            )

    def target(self, y: Any) -> Array:
        """Return class codes or numbers."""
        values = np.asarray(y)
        if self.classes is None:
            return np.asarray(values, dtype=np.float64)
        codes = np.searchsorted(self.classes, values)
        codes = np.minimum(codes, len(self.classes) - 1)
        if not np.array_equal(self.classes[codes], values):
            strange = values[self.classes[codes] != values][0]
            raise DataError(f"y holds the class {strange!r}, which is not among {self.classes.tolist()}.")
        return codes

    def weights(self, weight: Any, m: int) -> Array:
        """Return the weights of a block, checked."""
        if weight is None:
            return np.ones(m)
        values = np.asarray(weight, dtype=np.float64)
        if not np.isfinite(values).all() or (values < 0).any():
            raise DataError("sample_weight must be finite and not negative; drop or mend those rows.")
        return values


def join(parts: Iterable[Any], n: int | None = None) -> Any:
    """Concatenate row-wise results, `n` rows in all where that is known; tuples of arrays field by field."""
    parts = iter(parts)
    first = next(parts)
    if isinstance(first, tuple):
        return tuple(join(field, n) for field in zip(first, *parts, strict=True))
    if sparse.issparse(first):
        return sparse.vstack([first, *parts], format="csr")
    if n is None or first.dtype.kind not in "fiub" or len(first) >= n:
        return np.concatenate([first, *parts])
    return _filled(np.empty((n, *first.shape[1:]), dtype=first.dtype), first, parts)


def _filled(out: Array, first: Array, parts: Iterator[Array]) -> Array:
    """Write parts one below the other as they come: memory never holds them all beside the result."""
    used = 0
    for part in chain([first], parts):
        if part.dtype != out.dtype or used + len(part) > len(out):
            return np.concatenate([out[:used], part, *parts])
        out[used : used + len(part)] = part
        used += len(part)
    return out[:used]
