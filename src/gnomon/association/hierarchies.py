"""Hierarchies of items: what is above an item is in every basket that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.association.baskets import Baskets, sorted_items
from gnomon.core.errors import DataError


def ancestors_of(hierarchy: Mapping[Any, Any]) -> dict[Any, set[Any]]:
    """Return everything above each item, from a mapping of items to a parent or several; a cycle is an error."""
    above = {
        child: set(parent) if isinstance(parent, list | tuple | set | frozenset) else {parent}
        for child, parent in hierarchy.items()
    }
    found: dict[Any, set[Any]] = {}

    def climb(item: Any, path: tuple[Any, ...]) -> set[Any]:
        if item in path:
            raise DataError(f"the hierarchy runs in a circle through {item!r}.")
        if item not in found:
            parents = above.get(item, set())
            found[item] = parents.union(*(climb(one, (*path, item)) for one in parents))
        return found[item]

    for item in above:
        climb(item, ())
    return found


def with_ancestors(baskets: Baskets, hierarchy: Mapping[Any, Any]) -> Baskets:
    """Return the baskets with everything above their items in them too (Srikant and Agrawal, 1995)."""
    if baskets.unknown is not None:
        raise DataError("hierarchy and null_values cannot be combined.")
    above = ancestors_of(hierarchy)
    new = sorted_items(
        set().union(*(above[name] for name in baskets.names if name in above)) - set(baskets.names)
    )
    names = [*baskets.names, *new]
    place = {name: code for code, name in enumerate(names)}
    pairs = [(place[name], place[other]) for name in baskets.names if name in above for other in above[name]]
    links = sparse.eye_array(len(baskets.names), len(names), dtype=np.int32, format="lil")
    for child, parent in pairs:
        links[child, parent] = 1
    whole = sparse.csr_array(baskets.to_csr().astype(np.int32) @ sparse.csr_array(links))
    whole.sort_indices()
    return Baskets(whole.indptr.astype(np.int64), whole.indices.astype(np.int32), names, baskets.named)
