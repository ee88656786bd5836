"""Families that the whole contract has not been seen to hold for yet, and what is known of them.

Their estimators have tests of their own; the contract takes them in with ``GNOMON_CONTRACT=all`` or when a run asks for
their names with ``-k``. A family leaves this list when its contract runs without a failure; none may enter it.
"""

UNPROVEN = {
    "association": "not seen whole",
    "decide": "not seen whole",
    "decomposition": "not seen whole",
    "graphical": "awkward tables: text, one column, a constant column",
    "neural": "not seen whole",
    "recommend": "not seen whole",
    "selection": "not seen whole",
    "theory": "not seen whole",
    "topics": "not seen whole",
}
