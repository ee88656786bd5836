"""What every test and doctest shares: pictures are drawn in memory and closed again."""

import os
import sys

import pytest

os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_ignore_collect(collection_path):
    """The hooks of the site are tested by tests/house/test_docs.py, where mkdocs is installed."""
    return True if "_hooks" in collection_path.parts else None


def pytest_collection_modifyitems(items):
    """Workers must name tests alike: an object's address in a name differs from one to the next."""
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"{named[0]}: give its parameters `ids`, or the object a `__repr__`.")
