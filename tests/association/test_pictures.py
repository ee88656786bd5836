"""Pictures of lattices and rules, asserted on the artists."""

import numpy as np
import pytest

from association.test_itemsets import BASKETS
from gnomon import plot
from gnomon.association import apriori, association_rules, eclat, lattice
from gnomon.core.errors import DataError


def test_lattice_shows_what_is_alive():
    items = ["Bread", "Milk", "Diapers", "Beer"]
    found = apriori(BASKETS, 0.6)
    ax = plot.itemset_lattice(items, found)
    assert len(ax.texts) == 16 and len(ax.lines) == 32
    counts = {group.get_label(): len(group.get_offsets()) for group in ax.collections}
    status = list(lattice(items, found).status.values())
    assert counts == {name: status.count(name) for name in ("frequent", "infrequent", "pruned")}
    assert counts["frequent"] == 9  # eight sets and the empty one


def test_rules_in_three_pictures():
    rules = association_rules(eclat(BASKETS, 0.4), min_threshold=0.7)
    ax = plot.rules(rules)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), rules[["support", "confidence"]])
    np.testing.assert_allclose(ax.collections[0].get_array(), rules["lift"])
    graph = plot.rules(rules, kind="graph", limit=5)
    assert len([text for text in graph.texts if text.get_text() == ""]) == 5
    matrix = plot.rules(rules, kind="matrix", limit=5)
    assert np.ma.count(matrix.images[0].get_array()) == 5
    with pytest.raises(DataError, match="kind"):
        plot.rules(rules, kind="pie")
    with pytest.raises(DataError, match="no rules"):
        plot.rules(rules[:0])
