"""Which cases of the contract run: all for one estimator of every family and kind, a fixed sample for its siblings.

``GNOMON_CONTRACT=all`` runs everything, and so does a run that asks for names with ``-k``.
"""

import os
from zlib import crc32

from contract.discovery import SUBJECTS

SHARE = (
    6  # one case in so many of the awkward inputs runs for an estimator whose family has its turn elsewhere
)
SAMPLED = (
    "test_input",
    "test_weights",
    "test_target",
    "test_bad_rows_at_predict_are_refused",
    "test_other_names_at_predict_are_refused",
    "test_labels_come_back",
)


def kind(subject):
    """The family of an estimator and what it predicts: siblings read their data through the same door."""
    return (*subject.cls.__module__.split(".")[:2], subject.target)


def representatives():
    """The first subject of every kind."""
    first = {}
    for subject in SUBJECTS:
        first.setdefault(kind(subject), subject)
    return set(map(repr, first.values()))


def pytest_collection_modifyitems(config, items):
    if os.environ.get("GNOMON_CONTRACT") == "all" or config.option.keyword:
        return
    whole, kept, left = representatives(), [], []
    for item in items:
        sampled = getattr(item, "originalname", None) in SAMPLED and "contract" in item.path.parts
        subject = repr(item.callspec.params["subject"]) if sampled else None
        keep = not sampled or subject in whole or crc32(item.name.encode()) % SHARE == 0
        (kept if keep else left).append(item)
    items[:] = kept
    if left:
        config.hook.pytest_deselected(items=left)
