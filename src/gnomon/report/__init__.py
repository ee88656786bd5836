"""Reports: models compared on a table, in one page that needs no network."""

from gnomon._lazy import attach

_FILES = {
    "contest": ["compare"],
    "tables": ["read_table"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
