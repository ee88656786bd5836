# Written by scripts/stubs from the package's `attach` call; do not edit.
from .baskets import TransactionEncoder as TransactionEncoder
from .files import read_baskets as read_baskets
from .lattices import count_itemsets as count_itemsets
from .lattices import lattice as lattice
from .measures import rule_measures as rule_measures
from .measures import support as support
from .mining import apriori as apriori
from .mining import eclat as eclat
from .mining import fpgrowth as fpgrowth
from .mining import fpmax as fpmax
from .rules import association_rules as association_rules
from .survey import encode_survey as encode_survey
from .work import estimate_work as estimate_work

__all__ = ["TransactionEncoder", "apriori", "association_rules", "count_itemsets", "eclat", "encode_survey", "estimate_work", "fpgrowth", "fpmax", "lattice", "read_baskets", "rule_measures", "support"]
