"""The space of all sets of items: its levels, its size, and the part of it that is alive."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

from gnomon.core.errors import DataError

MOST_ITEMS = 12  # 4096 sets; nobody can look at more


class Lattice(NamedTuple):
    """All subsets of some items, by size, and what is known of each."""

    levels: list[list[frozenset[Any]]]
    edges: list[tuple[frozenset[Any], frozenset[Any]]]  # a set, and the same with one item more
    status: dict[frozenset[Any], str]  # "frequent", "infrequent" (counted) or "pruned" (never looked at)


def lattice(items: Iterable[Any], itemsets: Any = None) -> Lattice:
    """Return the lattice of all subsets of a few items.

    Parameters
    ----------
    items : iterable
        At most twelve.
    itemsets : frame of `apriori`, or iterable of sets, optional
        The frequent sets. A set all of whose parts are frequent but which itself is not has been counted: it is
        "infrequent". What lies above an infrequent set is "pruned".

    Returns
    -------
    Lattice
        ``levels`` (sets by size, the empty one first), ``edges`` and ``status``.

    Examples
    --------
    >>> found = lattice("ab", [{"a"}])
    >>> [(sorted(one), found.status[one]) for level in found.levels for one in level]
    [([], 'frequent'), (['a'], 'frequent'), (['b'], 'infrequent'), (['a', 'b'], 'pruned')]
    """
    names = list(dict.fromkeys(items))
    if len(names) > MOST_ITEMS:
        raise DataError(
            f"a lattice of {len(names)} items has 2^{len(names)} sets; give at most {MOST_ITEMS}."
        )
    levels = [[frozenset(one) for one in combinations(names, k)] for k in range(len(names) + 1)]
    edges = [(one, one | {item}) for level in levels for one in level for item in names if item not in one]
    if itemsets is None:
        return Lattice(levels, edges, {one: "frequent" for level in levels for one in level})
    listed = itemsets["itemsets"] if hasattr(itemsets, "columns") else itemsets
    frequent = {frozenset(one) for one in listed} | {frozenset()}
    status = {}
    for level in levels:
        for one in level:
            if one in frequent:
                status[one] = "frequent"
            elif all(one - {item} in frequent for item in one):
                status[one] = "infrequent"
            else:
                status[one] = "pruned"
    return Lattice(levels, edges, status)


def count_itemsets(p: int, k: int | None = None, *, rules: bool = False) -> int:
    r"""Return how many sets of k out of p items there are, :math:`\binom{p}{k}`; all :math:`2^p` without k. Exactly.

    Parameters
    ----------
    p, k : int
        Items in all; items in a set.
    rules : bool
        Whether to count rules instead: :math:`2^k - 2` of a set of k items for each such set, and
        :math:`3^p - 2^{p+1} + 1` over all sets of p items.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> count_itemsets(10_000, 5), count_itemsets(6), count_itemsets(6, rules=True)
    (832500291625002000, 64, 602)
    """
    if p < 0 or (k is not None and k < 0):
        raise DataError(f"p and k must not be negative; got p={p}, k={k}.")
    if k is None:
        return 3**p - 2 ** (p + 1) + 1 if rules else 2**p
    return math.comb(p, k) * (max(0, 2**k - 2) if rules else 1)
