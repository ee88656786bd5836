"""Dask collections: the rows stay on the workers, only statistics travel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.rows import Chunk, Encoding, MemoryRows, Rows
from gnomon.core.tables import assign_roles, run_lengths


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask array or DataFrame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


class DaskRows(Rows):
    """Rows of a Dask array or DataFrame; `y` and the weights are collections alike, or column names.

    The work runs on the current `distributed.Client`, else on Dask's threads. Statistics are combined in the
    order of the partitions, and every task can be run again, so a lost worker changes nothing.
    """

    def __init__(
        self,
        X: Any,
        *,
        target: Any = None,
        weight: Any = None,
        sequence: Any = None,
        nan: bool = False,
        dtype: Any = None,
    ) -> None:
        self.weighted = weight is not None
        features = None
        if hasattr(X, "columns"):
            features, parts = _frame_parts(X, target, weight, sequence)
        else:
            parts = _array_parts(X, target, weight)
        self.parts = parts
        self.n_features = len(features) if features is not None else int(X.shape[1])
        self.feature_names = None if features is None else np.array(features, dtype=object)
        self.dtype = np.dtype(dtype) if dtype is not None else _common_dtype(X, features)
        self.encoding = Encoding(features, self.dtype, nan, None)
        sizes = _compute([_later(_size)(part) for part in parts])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
        self.n_rows = int(sum(sizes))
        self.parts = [part for part, size in zip(parts, sizes, strict=True) if size]
        self.starts = self.starts[np.asarray(sizes) > 0]
        if self.n_rows == 0:
            raise DataError("X is a Dask collection without rows.")
        if sequence is not None:
            self._refuse_cut_sequences(sequence)

    def _refuse_cut_sequences(self, sequence: Any) -> None:
        """Every partition is worked on alone, so a sequence must lie in one of them."""
        ends = _compute([_later(_first_and_last)(part) for part in self.parts])
        for number, (before, after) in enumerate(itertools.pairwise(ends)):
            if before[1] == after[0]:
                name = repr(sequence) if isinstance(sequence, str) else "'name of the column'"
                raise DataError(
                    f"sequence {before[1]!r} lies in partitions {number} and {number + 1}, and a partition "
                    "must hold whole sequences. Where the rows of a sequence follow each other, "
                    f"X.set_index({name}, drop=False, sorted=True) brings them together."
                )

    def learn_classes(self) -> None:
        """Find the classes of the target in one pass."""
        labels = _compute([_later(_labels)(part) for part in self.parts])
        self.classes = np.unique(np.concatenate(labels))
        self.encoding = self.encoding._replace(classes=self.classes)

    def gather(
        self, function: Callable[..., Any], state: tuple[Any, ...], combine: Callable[..., Any]
    ) -> Any:
        """Let every partition do its share; combine the shares in order."""
        work = _later(_share)
        tasks = [
            work(function, part, int(start), self.encoding, state, combine)
            for part, start in zip(self.parts, self.starts, strict=True)
        ]
        return combine(iter(_compute(tasks)))

    def chunks(self) -> Iterator[Chunk]:
        """Bring one partition after the other here, for learners that go through the rows in order."""
        work = _later(_share)
        for part, start in zip(self.parts, self.starts, strict=True):
            yield from _compute([work(_itself, part, int(start), self.encoding, (), list)])[0]


def _itself(chunk: Chunk) -> Chunk:
    return chunk


def _share(
    function: Callable[..., Any],
    part: Any,
    start: int,
    encoding: Encoding,
    state: tuple[Any, ...],
    combine: Any,
) -> Any:
    """On a worker: read the partition as rows in memory, and work through their chunks."""
    X, y, weight, sequence = part
    y = None if y is None else encoding.target(y)
    matrix = X if sparse.issparse(X) else encoding.matrix(X, start)
    weight = None if weight is None else encoding.weights(weight, len(weight))
    lengths = None if sequence is None else run_lengths(np.asarray(sequence))
    return MemoryRows(matrix, y, weight, lengths=lengths, start=start).gather(function, state, combine)


def _later(function: Callable[..., Any]) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False)


def _compute(tasks: list[Any]) -> list[Any]:
    """Run on the current client, or else on Dask's threads."""
    from dask.base import compute

    try:
        from distributed import get_client

        client: Any = get_client()
    except (ImportError, ValueError):
        return list(compute(*tasks, scheduler="threads"))  # type: ignore[no-untyped-call]
    return list(client.gather(client.compute(tasks)))


def _array_parts(X: Any, target: Any, weight: Any) -> list[Any]:
    """Cut arrays alike along the rows; each part is (X, y, weight, None)."""
    X = X.rechunk({1: X.shape[1]}) if X.numblocks[1] > 1 else X
    blocks = X.to_delayed().ravel()
    columns = [_aligned(values, X, name) for values, name in ((target, "y"), (weight, "sample_weight"))]
    whole = _later(lambda *parts: parts)
    return [whole(X, y, w, None) for X, y, w in zip(blocks, *columns, strict=True)]


def _aligned(values: Any, X: Any, name: str) -> list[Any]:
    if values is None:
        return [None] * X.numblocks[0]
    if not is_dask(values):
        raise DataError(
            f"with a Dask array as X, {name} must be a Dask array too; got {type(values).__name__}."
        )
    chunks = {0: X.chunks[0]} if not np.isnan(X.chunks[0]).any() else {}
    values = values.rechunk(chunks) if chunks else values
    return list(values.to_delayed().ravel())


def _frame_parts(X: Any, target: Any, weight: Any, sequence: Any) -> tuple[list[str], list[Any]]:
    """Cut a frame into (X, y, weight, sequence); columns are named, or are series cut like the frame."""
    named: list[Any] = [name if isinstance(name, str) else None for name in (target, weight, sequence)]
    if isinstance(target, list | tuple):
        named[0] = list(target)
    schema = _Names(list(X.columns))
    roles = assign_roles(schema, named[0], named[1], named[2], None)
    others = [
        name if name is not None or values is None else list(values.to_delayed())
        for name, values in zip(named, (target, weight, sequence), strict=True)
    ]
    cut = _later(_columns)
    parts = []
    for index, part in enumerate(X.to_delayed()):
        asked = [
            value[index] if isinstance(value, list) and named[k] is None else value
            for k, value in enumerate(others)
        ]
        parts.append(cut(part, roles.features, *asked))
    return roles.features, parts


class _Names:
    """The part of an Arrow schema that `assign_roles` looks at."""

    def __init__(self, names: list[str]) -> None:
        self.names = names


def _columns(frame: Any, features: list[str], *others: Any) -> tuple[Any, ...]:
    picked = [
        frame[other].to_numpy()
        if isinstance(other, str | list)
        else None
        if other is None
        else np.asarray(other)
        for other in others
    ]
    return (frame[features].to_numpy(), *picked)


def _common_dtype(X: Any, features: list[str] | None) -> np.dtype[Any]:
    kinds = [X.dtype] if features is None else [X.dtypes[name] for name in features]
    for kind, name in zip(kinds, features or ["X"], strict=True):
        if getattr(kind, "kind", "O") not in "iufb":
            raise DataError(f"column {name!r} holds {kind}, and features must be numbers. Encode or drop it.")
    return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)


def _size(part: Any) -> int:
    return int(part[0].shape[0])


def _first_and_last(part: Any) -> list[Any]:
    """The names of the first and the last sequence of a partition, as plain Python values."""
    names = np.asarray(part[3])
    return names[[0, -1]].tolist()


def _labels(part: Any) -> Any:
    return np.unique(np.asarray(part[1]))
