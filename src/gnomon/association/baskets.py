"""Baskets: sets of items, from lists, tables, sparse matrices and files."""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.settings import check_parameters
from gnomon.core.threads import shared

SMALL_TABLE = 2**18  # cells that stay near the processor while they are counted or turned
SPREAD = 4  # integers that lie this many times wider than there are entries are looked up one by one


class Baskets(NamedTuple):
    """Which basket holds which items, row by row."""

    starts: Array  # (n + 1,) int64
    items: Array  # column numbers, ascending in every basket
    names: list[Any]  # of the columns
    named: bool  # whether items have names rather than numbers to the user
    unknown: Any = None  # CSR of cells that are NaN, where they may be

    @property
    def n(self) -> int:
        """How many baskets there are."""
        return len(self.starts) - 1

    def to_csr(self) -> sparse.csr_array:
        """Return the baskets as a boolean matrix."""
        ones = np.ones(len(self.items), dtype=bool)
        return sparse.csr_array((ones, self.items, self.starts), shape=(self.n, len(self.names)))


class Table(NamedTuple):
    """A boolean table, cut to its frequent columns."""

    cells: Array  # (n, p)
    columns: Array  # (p,) their numbers in the whole table
    counts: Array  # (p,) baskets that hold each
    names: list[Any]  # of all columns
    named: bool

    @property
    def n(self) -> int:
        """How many baskets there are."""
        return len(self.cells)

    def to_baskets(self) -> Baskets:
        """Return the baskets, without what is not frequent."""
        starts, items = _true_cells(self.cells)
        return Baskets(starts, self.columns[items].astype(np.int32), self.names, self.named)


def small_table(data: Any, least: Callable[[int], int]) -> Table | None:
    """Return the frequent columns of a frame or array of booleans; None where it is something else, or large."""
    if _is_frame(data):
        names, named = _unique_names(data), True
        if not names or _all_sparse(data, names):
            return None
        cells = data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        cells, names, named = data, list(range(data.shape[1])), False
    else:
        return None
    if cells.dtype != bool or not 0 < cells.size <= SMALL_TABLE:
        return None
    counts = _column_counts(cells)
    kept = np.flatnonzero(counts >= least(len(cells)))
    return Table(_chosen_columns(cells, kept), kept, counts[kept], names, named)


def _is_frame(data: Any) -> bool:
    return hasattr(type(data), "columns") and hasattr(
        type(data), "dtypes"
    )  # of the class: theirs are made anew


def baskets_of(
    data: Any,
    *,
    null_values: bool = False,
    hierarchy: Any = None,
    least: Callable[[int], int] | None = None,
) -> Baskets:
    """Return the baskets of a boolean table, a sparse matrix, a list of sets of items, or a file.

    `least` tells of the number of baskets in how many an item must be; baskets of a table may then lack rarer items.
    """
    if isinstance(data, str | os.PathLike):
        from gnomon.association.files import read_data

        data = read_data(data)
    if sparse.issparse(data):
        found = _from_matrix(data, range(data.shape[1]), named=False)
    elif _is_frame(data):
        found = _from_frame(data, null_values, None if hierarchy else least)
    elif isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "biuf":
        found = _from_table(
            data, list(range(data.shape[1])), null_values, None if hierarchy else least, named=False
        )
    else:
        names, starts, items = codes_of(data)
        found = Baskets(starts, items, names, named=True)
    if hierarchy:
        from gnomon.association.hierarchies import with_ancestors

        found = with_ancestors(found, hierarchy)
    return found


def codes_of(transactions: Any, names: Any = None) -> tuple[list[Any], Array, Array]:
    """Return the sorted items, and the baskets as codes into them; an item counts once a basket.

    With `names` given, an item that is not among them is an error.
    """
    from gnomon.loops.setorder import tidied

    lists = _lists(transactions)
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    integers = _integers(lists) if names is None else None
    if integers is not None:
        names, codes = integers
        return names, *tidied(lengths, codes, len(names))
    seen: dict[Any, int] = defaultdict(count().__next__)  # item -> number, in order of appearance
    try:
        codes = np.fromiter(map(seen.__getitem__, chain.from_iterable(lists)), np.int64, int(lengths.sum()))
    except TypeError as error:
        raise DataError(f"items must be strings, numbers or the like: {error}.") from None
    if names is None:
        missing = [item for item in seen if item is None or item != item]
        if missing:
            i = next(i for i, one in enumerate(lists) if any(item is None or item != item for item in one))
            raise DataError(f"basket {i} holds {missing[0]}, which is no item; leave missing entries out.")
        names = sorted_items(set(seen))
    place = {name: code for code, name in enumerate(names)}
    try:
        new = np.fromiter(map(place.__getitem__, seen), dtype=np.int64, count=len(seen))
    except KeyError as error:
        i = next(i for i, one in enumerate(lists) if any(item not in place for item in one))
        raise DataError(
            f"basket {i} holds {error.args[0]!r}, which was not among the items of fit; fit again."
        ) from None
    return list(names), *tidied(lengths, new[codes], len(place))


def _integers(lists: list[Any]) -> tuple[list[Any], Array] | None:
    """Return the sorted items and the codes of all entries where items are integers close together; else None."""
    from gnomon.loops.setorder import numbered

    flat = array("q")
    try:
        for one in lists:
            flat.fromlist(one if type(one) is list else list(one))
    except (TypeError, OverflowError):
        return None
    if not flat:
        return None
    values = np.frombuffer(flat, dtype=np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low > SPREAD * len(values):
        return None
    found, codes = numbered(values, low, high)
    return found.tolist(), codes


def _lists(transactions: Any) -> list[Any]:
    if isinstance(transactions, str | bytes) or not isinstance(transactions, Iterable):
        raise DataError(f"baskets must be a list of lists of items; got {type(transactions).__name__}.")
    lists = list(transactions)
    if set(map(type, lists)) <= {list, tuple, set, frozenset}:
        return lists
    for i, one in enumerate(lists):
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise DataError(f"basket {i} must be a list or set of items; it is {one!r}.")
    return [one if isinstance(one, list | tuple | set | frozenset) else list(one) for one in lists]


def sorted_items(items: set[Any]) -> list[Any]:
    """Return items in order; those of several kinds by the names of the kinds."""
    try:
        return sorted(items)
    except TypeError:  # of several kinds
        return sorted(items, key=lambda item: (type(item).__name__, str(item)))


def _from_frame(frame: Any, null_values: bool, least: Any = None) -> Baskets:
    names = _unique_names(frame)
    if _all_sparse(frame, names):
        return _from_matrix(frame.sparse.to_coo(), names)
    if hasattr(frame, "to_numpy"):
        table = frame.to_numpy()
    else:
        table = np.asarray(frame)
    if table.dtype == object:
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "the columns must hold True and False (or 0 and 1); encode baskets with TransactionEncoder "
                "or pass them as a list of lists."
            ) from None
    return _from_table(table, names, null_values, least)


def _unique_names(frame: Any) -> list[Any]:
    names = list(frame.columns)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"column {twice!r} appears twice; item names must be unique.")
    return names


def _all_sparse(frame: Any, names: list[Any]) -> bool:
    return bool(names) and _is_sparse(frame[names[0]].dtype) and all(map(_is_sparse, frame.dtypes))


def _is_sparse(kind: Any) -> bool:
    return hasattr(kind, "fill_value") and hasattr(kind, "subtype")


def _from_table(
    table: Array, names: list[Any], null_values: bool, least: Any = None, *, named: bool = True
) -> Baskets:
    unknown = None
    if table.dtype.kind == "f":
        missing = np.isnan(table)
        if missing.any():
            if not null_values:
                column = int(np.flatnonzero(missing.any(axis=0))[0])
                raise DataError(
                    f"column {names[column]!r} has NaN; fill it, or pass null_values=True for unknown cells."
                )
            unknown = sparse.csr_array(missing)
            table = np.where(missing, 0, table)
    if table.dtype != bool:
        other = (table != 0) & (table != 1)
        if other.any():
            column = int(np.flatnonzero(other.any(axis=0))[0])
            value = table[other[:, column], column][0]
            raise DataError(f"column {names[column]!r} must hold True/False or 0/1; it holds {value}.")
        table = table != 0
    if least is None or not table.size:
        return Baskets(*_true_cells(table), names, named, unknown)
    counts = _column_counts(table)
    kept = np.flatnonzero(counts >= least(len(table)))
    chosen = table if len(kept) == len(names) else _chosen_columns(table, kept)
    starts, items = _true_cells(chosen, int(counts[kept].sum()))
    return Baskets(starts, kept[items].astype(np.int32), names, named, unknown)


def _chosen_columns(table: Array, kept: Array) -> Array:
    return table[:, kept] if table.flags.f_contiguous else table.take(kept, axis=1)


def _column_counts(table: Array) -> Array:
    """Return how many cells of each column are true."""
    from gnomon.loops.setorder import add_rows, sum_rows

    counts = np.zeros(table.shape[1], dtype=np.int64)
    if table.flags.f_contiguous:
        lines, k = table.T.view(np.uint8), max(1, SMALL_TABLE // len(table))
        shared(lambda i: sum_rows(lines[i : i + k], counts[i : i + k]), range(0, len(lines), k))
    else:
        add_rows(np.ascontiguousarray(table).view(np.uint8), counts)
    return counts


def _true_cells(table: Array, total: int | None = None) -> tuple[Array, Array]:
    """Return where each row begins and the columns that are true in it; memory is read in the order it lies in."""
    from gnomon.loops.setorder import true_cells, turned

    by_column = table.flags.f_contiguous and not table.flags.c_contiguous
    if by_column and table.size <= SMALL_TABLE:
        by_column, table = False, np.ascontiguousarray(table)
    lines = np.ascontiguousarray(table.T if by_column else table)
    cells = lines.reshape(-1).view(np.uint8)
    words = cells[: len(cells) // 8 * 8].view(np.uint64)
    total = int(np.count_nonzero(lines)) if total is None else total
    starts, found = true_cells(cells, words, *lines.shape, total)
    if not by_column:
        return starts, found
    _, _, row_starts, columns, _ = turned(starts, found, len(table), np.arange(len(table), dtype=np.int32))
    return row_starts, columns


def _from_matrix(matrix: Any, names: Iterable[Any], *, named: bool = True) -> Baskets:
    A = sparse.csr_array(matrix)
    if A.has_sorted_indices is False or not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    values = np.asarray(A.data)
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        raise DataError(
            f"a sparse table of baskets must hold 0 and 1; it holds {values[~np.isin(values, (0, 1))][0]}. "
            "Use matrix > 0 for counts."
        )
    if len(values) and not values.all():
        A = A.copy()
        A.eliminate_zeros()
    return Baskets(A.indptr.astype(np.int64), A.indices.astype(np.int32), list(names), named)


class TransactionEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn lists of items into a table with one column per item.

    Parameters
    ----------
    hierarchy : dict, optional
        Item -> what is above it (or a list of several): ``{"ale": "beer", "beer": "drink"}``. What is
        above an item is in every basket that holds it.

    Attributes
    ----------
    columns_ : list
        The items, sorted: what the columns stand for.
    columns_mapping_ : dict
        Item -> column.

    Examples
    --------
    >>> encoder = TransactionEncoder().fit([["milk", "tea"], ["tea"]])
    >>> encoder.columns_, encoder.transform([["milk"], []]).tolist()
    (['milk', 'tea'], [[True, False], [False, False]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"hierarchy": [dict, None]}

    def __init__(self, *, hierarchy: Any = None) -> None:
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the items of some baskets.

        Parameters
        ----------
        X : list of lists
            The baskets.
        y : None
            Not used.
        """
        check_parameters(self)
        names, starts, items = codes_of(X)
        if self.hierarchy:
            from gnomon.association.hierarchies import with_ancestors

            names = with_ancestors(Baskets(starts, items, names, named=True), self.hierarchy).names
        columns = sorted_items(set(names))
        mapping = {name: column for column, name in enumerate(columns)}
        vars(self).update(columns_=columns, columns_mapping_=mapping)  # both or neither
        return self

    def transform(self, X: Any, sparse: bool = False) -> Any:
        """Return the boolean table of the baskets, an array or (``sparse=True``) a CSR matrix."""
        check_is_fitted(self)
        lists = _lists(X)
        if self.hierarchy:
            from gnomon.association.hierarchies import ancestors_of

            above = ancestors_of(self.hierarchy)
            lists = [set(one).union(*(above.get(item, ()) for item in one)) for one in lists]
        _, starts, items = codes_of(lists, self.columns_)
        table = Baskets(starts, items, self.columns_, named=True).to_csr()
        return table if sparse else table.toarray()

    def fit_transform(self, X: Any, y: Any = None, sparse: bool = False) -> Any:
        """Fit and transform the same baskets."""
        return self.fit(X).transform(X, sparse=sparse)

    def inverse_transform(self, array: Any) -> list[list[Any]]:
        """Return the baskets of a boolean table as lists of items."""
        check_is_fitted(self)
        found = baskets_of(array)
        return [
            [self.columns_[item] for item in found.items[low:high]]
            for low, high in zip(found.starts[:-1], found.starts[1:])
        ]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the items."""
        check_is_fitted(self)
        return np.array(self.columns_, dtype=object)
