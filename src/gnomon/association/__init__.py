"""Association: sets of items that occur together, and rules between them."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "TransactionEncoder": "baskets",
        "apriori": "mining",
        "association_rules": "rules",
        "count_itemsets": "lattices",
        "eclat": "mining",
        "encode_survey": "survey",
        "estimate_work": "work",
        "fpgrowth": "mining",
        "fpmax": "mining",
        "lattice": "lattices",
        "read_baskets": "files",
        "rule_measures": "measures",
        "support": "measures",
    },
)
