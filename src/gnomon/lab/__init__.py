"""The lab: watch any learner learn, in a browser or a notebook."""

from gnomon._lazy import attach

_FILES = {
    "server": ["serve"],
    "widget": ["show"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
