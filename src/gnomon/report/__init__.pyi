# Written by scripts/stubs from the package's `attach` call; do not edit.
from .contest import compare as compare
from .tables import read_table as read_table

__all__ = ["compare", "read_table"]
