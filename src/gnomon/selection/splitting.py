"""Parts of the data: to learn from, to choose with, to test with once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.selection.tables import warn_once_more
from gnomon.selection.wrapping import indexable_rows, take_rows


class Parts(NamedTuple):
    """Row numbers of three parts, in order."""

    train: Array
    validation: Array
    test: Array


def three_way_split(
    n: Any,
    fractions: Any = (0.6, 0.2, 0.2),
    *,
    stratify: Any = None,
    groups: Any = None,
    times: Any = None,
    random_state: Any = None,
) -> Parts:
    """Part rows into training, validation and test rows.

    Parameters
    ----------
    n : int or array
        How many rows there are, or the rows.
    fractions : three numbers that sum to one
    stratify : array of shape (n,), optional
        Labels whose shares are kept.
    groups : array of shape (n,), optional
        Rows of a group stay together.
    times : array of shape (n,), optional
        The past trains, what comes later validates, the latest tests; rows of one time stay together.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> parts = three_way_split(10, times=[3, 1, 4, 1, 5, 9, 2, 6, 5, 8])
    >>> parts.train, parts.test
    (array([0, 1, 2, 3, 6]), array([5, 9]))
    """
    count = n if isinstance(n, int | np.integer) else len(n)
    if count < 3:
        raise DataError(f"three parts need three rows; there are {count}.")
    shares = np.asarray(fractions, dtype=float)
    if shares.shape != (3,) or (shares <= 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise DataError(f"fractions must be three positive numbers that sum to one; got {fractions}.")
    if sum(one is not None for one in (stratify, groups, times)) > 1:
        raise DataError("give one of stratify, groups and times.")
    if times is not None:
        return _by_time(np.asarray(times), count, shares)
    seed = draw_seed(generator(random_state)) % 2**31
    if groups is not None:
        return _by_group(np.asarray(groups), count, shares, seed)
    labels = None if stratify is None else np.asarray(stratify)
    if labels is not None:
        names, sizes = np.unique(labels, return_counts=True)
        if sizes.min() < 3:
            raise DataError(
                f"stratify: class {names[sizes.argmin()]!r} has {sizes.min()} rows, three parts need three."
            )
    first, test = train_test_split(
        np.arange(count), test_size=_rows(shares[2] * count), stratify=labels, random_state=seed
    )
    train, validation = train_test_split(
        first,
        test_size=_rows(shares[1] / (shares[0] + shares[1]) * len(first)),
        stratify=None if labels is None else labels[first],
        random_state=seed,
    )
    return Parts(np.sort(train), np.sort(validation), np.sort(test))


def _rows(wanted: float) -> int:
    """Return a number of rows, rounded up; a hair above a whole number is rounding."""
    return int(np.ceil(wanted - 1e-9))


def _by_time(times: Array, count: int, shares: Array) -> Parts:
    if len(times) != count:
        raise DataError(f"times must have one entry for each of {count} rows; it has {len(times)}.")
    if any(moment is None or moment != moment for moment in times.tolist()) or (
        times.dtype.kind in "mM" and np.isnat(times).any()
    ):
        raise DataError("times has missing entries; give every row a time, or drop it.")
    moments, codes = np.unique(times, return_inverse=True)
    reached = np.cumsum(np.bincount(codes)) / count  # share of the rows up to each moment
    last_train = int(np.argmin(np.abs(reached - shares[0])))
    last_validation = int(np.argmin(np.abs(reached - shares[0] - shares[1])))
    last_validation = max(last_validation, last_train + 1)
    if last_validation >= len(moments) - 1:
        last_train, last_validation = min(last_train, len(moments) - 3), len(moments) - 2
    if last_train < 0:
        raise DataError(f"times has {len(moments)} different moments; three parts need three.")
    part = np.digitize(codes, [last_train + 0.5, last_validation + 0.5])
    return Parts(*(np.flatnonzero(part == k) for k in range(3)))


def _by_group(groups: Array, count: int, shares: Array, seed: int) -> Parts:
    if len(groups) != count:
        raise DataError(f"groups must have one entry for each of {count} rows; it has {len(groups)}.")
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) < 3:
        raise DataError(f"groups has {len(names)} groups; three parts need three.")
    order = np.random.default_rng(seed).permutation(len(names))
    reached = np.cumsum(np.bincount(codes)[order]) / count
    cuts = [int(np.argmin(np.abs(reached - goal))) + 1 for goal in (shares[0], shares[0] + shares[1])]
    cuts[0] = min(cuts[0], len(names) - 2)
    cuts[1] = min(max(cuts[1], cuts[0] + 1), len(names) - 1)
    part = np.empty(len(names), dtype=int)
    part[order] = np.digitize(np.arange(len(names)), cuts)
    return Parts(*(np.flatnonzero(part[codes] == k) for k in range(3)))


class LockedTestSet:
    """Test data under lock: every look is counted, and from the second on there is a warning.

    Parameters
    ----------
    X, y : test rows
    n_spares : int, default=0
        Cut into so many spare sets besides the first, each good for one look.

    Attributes
    ----------
    uses : int
        How often the data were handed out since the last spare was taken.

    Examples
    --------
    >>> locked = LockedTestSet([[1.0], [2.0]], [0, 1])
    >>> X, y = locked.open()
    >>> locked.uses
    1
    """

    def __init__(self, X: Any, y: Any = None, *, n_spares: int = 0) -> None:
        rows = indexable_rows(X)
        check_consistent_length(rows, y)
        count = rows.shape[0]
        if n_spares < 0 or n_spares + 1 > count:
            raise DataError(f"n_spares must lie between 0 and {count - 1}; got {n_spares}.")
        parts = np.array_split(np.arange(count), n_spares + 1)
        self._sets = [(take_rows(rows, part), None if y is None else np.asarray(y)[part]) for part in parts]
        self.uses = 0

    @property
    def spares(self) -> int:
        """How many spare sets are left."""
        return len(self._sets) - 1

    def open(self) -> tuple[Any, Any]:
        """Return the test rows and labels, and count it."""
        self.uses += 1
        if self.uses > 1:
            warn_once_more(self.uses)
        return self._sets[0]

    def next_spare(self) -> LockedTestSet:
        """Throw the used set away and go on with a fresh one."""
        if not self.spares:
            raise DataError("there is no spare test set left; collect new data.")
        del self._sets[0]
        self.uses = 0
        return self
