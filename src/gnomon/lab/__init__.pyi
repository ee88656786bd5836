# Written by scripts/stubs from the package's `attach` call; do not edit.
from .server import serve as serve
from .widget import show as show

__all__ = ["serve", "show"]
