"""Frequent sets where some cells are not known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.association.baskets import Baskets, baskets_of
from gnomon.association.found import Found, frame_of
from gnomon.association.ranks import least_count, ranked
from gnomon.association.search import counter, search_fpgrowth


def mine_with_unknown(df: Any, min_support: float, use_colnames: bool, longest: int, limit: int) -> Any:
    """Return the frequent sets of a table with NaN cells, in the way of mlxtend.

    A set is looked at when it is frequent with every unknown cell taken as true, and its items are each
    frequent among
    the baskets that know them. It is kept when count ≥ t (N − baskets that do not know all of it).
    """
    baskets = baskets_of(df, null_values=True)
    known = baskets.to_csr().astype(np.int8)
    if baskets.unknown is None:
        unknown = sparse.csr_array(known.shape, dtype=np.int8)
    else:
        unknown = sparse.csr_array(baskets.unknown).astype(np.int8)
    least = least_count(baskets.n, min_support, None)
    hopeful = _as_baskets(known + unknown, baskets)
    data = ranked(hopeful, least)
    knowing = baskets.n - unknown.sum(axis=0)
    good = known.sum(axis=0) >= min_support * knowing - 1e-9
    kept, shares = [], []
    for one in search_fpgrowth(data, longest, limit):
        sets = one.sets[good[one.sets].all(axis=1)]
        counts = _count(known, sets)
        aware = _count(sparse.csr_array(1 - unknown.toarray()), sets)  # as large as the table that was given
        enough = (counts >= min_support * aware - 1e-9) & (aware > 0)
        if enough.any():
            kept.append(Found(sets[enough], counts[enough]))
            shares.append(counts[enough] / aware[enough])
    named = bool(use_colnames) or (baskets.named and not hasattr(df, "columns"))
    frame = frame_of(kept, baskets, named)
    frame["support"] = np.concatenate(shares) if shares else np.zeros(0)
    return frame


def _as_baskets(table: Any, like: Baskets) -> Baskets:
    table = sparse.csr_array(table)
    table.sort_indices()
    return Baskets(table.indptr.astype(np.int64), table.indices.astype(np.int32), like.names, like.named)


def _count(table: Any, sets: Any) -> Any:
    table = sparse.csr_array(table)
    table.sort_indices()
    starts, items = table.indptr.astype(np.int64), table.indices.astype(np.int32)
    return counter(starts, items, table.shape[1])(np.ascontiguousarray(sets, dtype=np.int32))
