"""Compile the loops of item sets and rules."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from gnomon.association.found import in_lexicographic_order
from gnomon.association.mining import apriori, eclat, fpgrowth, fpmax
from gnomon.association.rules import association_rules
from gnomon.association.work import estimate_work


def warm_up(dtypes: Sequence[str]) -> None:
    """Mine a few baskets in every way; who has no pandas mines none, as all answers are its tables."""
    if find_spec("pandas") is None:
        return
    baskets = [
        ["a", "b", "c"],
        ["a", "b"],
        ["b", "c"],
        ["a", "c", "b"],
    ] * 600  # the same again, for prefix trees
    wide = [[i, (i + 1) % 60, (i + 2) % 60] for i in range(60)]  # more items than a word has bits for
    for function in (apriori, fpgrowth, eclat, fpmax):
        function(baskets, 0.5)
        function(wide, min_count=1)
        function(np.eye(3, dtype=bool, order="F"), 0.3)
    association_rules(eclat(baskets, 0.5), min_threshold=0.5)
    in_lexicographic_order(np.arange(40, dtype=np.int32).reshape(2, 20), np.arange(2))
    estimate_work(baskets, 0.5)
