"""Frequent sets of items: Apriori, FP-growth and Eclat; closed and maximal sets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from numbers import Integral
from typing import Any

from gnomon.association.baskets import baskets_of, small_table
from gnomon.association.found import Found, frame_of, without_lineage
from gnomon.association.ranks import Ranked, least_count, ranked
from gnomon.association.search import (
    MAX_SETS,
    check_size,
    search_apriori,
    search_closed,
    search_eclat,
    search_fpgrowth,
)
from gnomon.core.errors import DataError
from gnomon.core.threads import threads


def _mine(
    df: Any,
    min_support: Any,
    use_colnames: Any,
    max_len: Any,
    min_count: Any,
    hierarchy: Any,
    max_sets: Any,
    search: Callable[..., Any],
    *,
    guard: bool = True,
) -> Any:
    """Read, search, and return the frame: what all of the functions below have in common."""
    longest, limit = _bounds(max_len, max_sets)

    def enough(n: int) -> int:
        return least_count(n, min_support, min_count)

    baskets: Any = None if hierarchy else small_table(df, enough)
    if baskets is None:
        baskets = baskets_of(df, hierarchy=hierarchy, least=enough)
    least = enough(baskets.n)
    data = ranked(baskets, least)
    if guard:
        check_size(data, longest, limit)
    found = search(data, longest, limit)
    attributes: dict[str, Any] = {"min_count": least}
    if isinstance(found, tuple):
        found, levels = found
        attributes["levels"] = [level._asdict() for level in levels]
    if hierarchy:
        found = without_lineage(found, baskets, hierarchy)
        attributes["hierarchy"] = dict(hierarchy)
    named = bool(use_colnames) or (baskets.named and not hasattr(df, "columns"))
    return frame_of(found, baskets, named, **attributes)


def _bounds(max_len: Any, max_sets: Any) -> tuple[int, int]:
    """Return the most items of a set and the most sets, as numbers."""
    for name, value in (("max_len", max_len), ("max_sets", max_sets)):
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
            raise DataError(f"{name} must be a positive integer or None; got {value!r}.")
    return 2**31 if max_len is None else int(max_len), MAX_SETS if max_sets is None else int(max_sets)


def apriori(
    df: Any,
    min_support: float = 0.5,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    low_memory: bool = False,
    n_jobs: int | None = None,
    *,
    min_count: int | None = None,
    candidates: str = "prefix",
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    r"""Find all frequent sets of items, level by level (Agrawal and Srikant, 1994).

    A set K is frequent when at least a share t of the N baskets hold all of it,

    .. math:: \#\{n : K \subseteq X_n\} \ge \lceil N t \rceil .

    A part of a frequent set is frequent, so candidates of k items are unions of two frequent (k − 1)-sets that
    share all but their last item, and those with an infrequent part are never counted. Counting goes through
    bit sets, 64 baskets a word. `eclat` and `fpgrowth` find the same sets, usually sooner; this one tells what
    it did at every level. Where there are long frequent sets the answer itself is huge: see `estimate_work`,
    and
    `fpmax` and ``eclat(kind="closed")``, which say the same in fewer sets.

    Parameters
    ----------
    df : DataFrame of booleans, array, sparse matrix, list of lists, or path
        The baskets. Lists of items need no encoding. Sparse tables stay sparse.
    min_support : float in (0, 1]
        Share of the baskets; the boundary counts as frequent, and is decided in integers.
    use_colnames : bool
        Whether sets hold column names rather than numbers; items of lists are always names.
    max_len : int, optional
        Items in a set at most.
    verbose, low_memory
        Kept for mlxtend; nothing is printed, and memory is always small.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    min_count : int, optional
        The threshold as a count, instead of `min_support`.
    candidates : {"prefix", "basic"}
        "basic": the textbook's extension of every frequent set by every frequent item, without pruning.
    hierarchy : dict, optional
        Item -> its parent, or a list of parents. Baskets then also hold what is above their items; sets of an
        item and what is above it are left out.
    max_sets : int, optional
        An error when there are more sets than this (10 million); tells so at once where it can.

    Returns
    -------
    DataFrame
        Columns ``support``, ``itemsets`` (frozensets) and ``count``, by size and then in order of the columns.
        The frozensets are made when they are looked at; ``astype({"itemsets": object})`` makes them all at once.
        ``frame.attrs["levels"]`` says what was generated, pruned, counted and kept at each size.

    Examples
    --------
    >>> baskets = [["bread", "milk"], ["bread", "beer"], ["bread", "milk", "beer"], ["milk"]]
    >>> found = apriori(baskets, min_support=0.5)
    >>> [(sorted(items), count) for items, count in zip(found.itemsets, found["count"])]
    [(['beer'], 2), (['bread'], 3), (['milk'], 3), (['beer', 'bread'], 2), (['bread', 'milk'], 2)]
    """
    if candidates not in ("prefix", "basic"):
        raise DataError(f"candidates must be 'prefix' or 'basic'; got {candidates!r}.")

    def search(data: Ranked, longest: int, limit: int) -> Any:
        return search_apriori(data, longest, limit, candidates)

    with _jobs(n_jobs):
        return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search)


def _jobs(n_jobs: int | None) -> Any:
    return threads(n_jobs) if isinstance(n_jobs, int) and n_jobs > 0 else nullcontext()


def eclat(
    df: Any,
    min_support: float = 0.5,
    use_colnames: bool = False,
    max_len: int | None = None,
    *,
    kind: str = "all",
    min_count: int | None = None,
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    """Find frequent sets of items, depth first (Zaki, 2000): all of them, the closed or the maximal ones.

    For every item, from the rarest on, the baskets that hold it are cut out and written as bit sets; longer sets are
    intersections. Items in a quarter of the baskets keep a bit for every basket, and are not cut out. An item that is
    in every basket of a set can join it and all that is found above it without being counted (a perfect extension),
    so items that always come together cost nothing. Memory is that of the baskets, one such cut and the answer. The
    fastest of the three, on dense and on sparse baskets.

    A set is closed when no further item can join it without losing a basket, and maximal when none can join it and
    leave it frequent. Closed sets determine all frequent sets and their counts: the count of a set is the largest
    count of a closed set around it. Each closed set is found once, by prefix-preserving closure extension (Uno, Asai,
    Uchida and Arimura, 2004), in time that grows with their number rather than with that of all frequent sets. Of the
    maximal sets a branch is given up where all that is left of it is frequent together, or lies within one that was
    found (Burdick, Calimlim and Gehrke, 2001).

    Parameters
    ----------
    df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets
        As in `apriori`. `hierarchy` goes with all sets only; of closed and maximal sets those with more than
        `max_len` items are left out.
    kind : {"all", "closed", "maximal"}
        Which sets.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> eclat([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2)["count"].tolist()
    [3, 2, 2]
    >>> eclat([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2, kind="closed").itemsets.map(
    ...     sorted
    ... ).tolist()
    [['bread'], ['bread', 'milk']]
    """
    if kind not in ("all", "closed", "maximal"):
        raise DataError(f"kind must be 'all', 'closed' or 'maximal'; got {kind!r}.")
    if kind == "all":
        return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search_eclat)
    if hierarchy:
        raise DataError(f"hierarchy goes with kind='all' only; kind is {kind!r}.")

    def search(data: Ranked, longest: int, limit: int) -> list[Found]:
        return [one for one in search_closed(data, kind == "maximal", limit) if one.sets.shape[1] <= longest]

    return _mine(df, min_support, use_colnames, max_len, min_count, None, max_sets, search, guard=False)


def fpgrowth(
    df: Any,
    min_support: float = 0.5,
    null_values: bool = False,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    *,
    min_count: int | None = None,
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    """Find all frequent sets of items by prefix trees (Han, Pei and Yin, 2000).

    The baskets, their items from most to least frequent, share their beginnings in a tree. The paths above the nodes of
    an item, each with the number of baskets that took it, are the baskets that hold it; they are written as bit sets
    with weights, which take the place of ever smaller trees, and searched as in `eclat`. Good when many baskets are
    alike or begin alike; where the tree has more than one node for twenty entries of the baskets, it is given up and
    the search is that of `eclat`, as it is for up to 2048 baskets.

    Parameters
    ----------
    df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets
        As in `apriori`.
    null_values : bool
        Whether NaN cells are unknown: a basket with an unknown cell in a set leaves that set's count and its
        denominator, as in mlxtend. Only sets that could be frequent with every unknown cell set are looked at.
    verbose : int
        Kept for mlxtend; nothing is printed.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> fpgrowth([["bread", "milk"], ["bread"], ["milk", "bread"]], min_support=0.6).itemsets.map(
    ...     sorted
    ... ).tolist()
    [['bread'], ['milk'], ['bread', 'milk']]
    """
    if null_values:
        from gnomon.association.unknown import mine_with_unknown

        if min_count is not None or hierarchy:
            raise DataError("null_values=True goes with min_support alone, not with min_count or hierarchy.")
        return mine_with_unknown(df, min_support, use_colnames, *_bounds(max_len, max_sets))
    return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search_fpgrowth)


def fpmax(
    df: Any,
    min_support: float = 0.5,
    null_values: bool = False,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    *,
    min_count: int | None = None,
    max_sets: int | None = None,
) -> Any:
    """Find the maximal frequent sets: those that are part of no other frequent set.

    Their subsets are all frequent sets there are, without their counts.

    Parameters
    ----------
    df, min_support, use_colnames, min_count, max_sets
        As in `apriori`.
    null_values : bool
        Must be False: with unknown cells a part of a frequent set need not be frequent.
    max_len : int, optional
        Maximal sets of more items are left out, as in mlxtend.
    verbose : int
        Kept for mlxtend; nothing is printed.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> fpmax([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2).itemsets.map(sorted).tolist()
    [['bread', 'milk']]
    """
    if null_values:
        raise DataError("fpmax cannot take null_values=True; fill the unknown cells, or use fpgrowth.")
    return eclat(
        df, min_support, use_colnames, max_len, kind="maximal", min_count=min_count, max_sets=max_sets
    )
