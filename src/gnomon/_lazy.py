"""Lazy packages: a public name is imported from its file at first use.

Every subpackage of gnomon ends with one call::

    from gnomon._lazy import attach

    __getattr__, __dir__, __all__ = attach(__name__, {"KMeans": "kmeans", "k_means_cost": "kmeans"})

so that ``import gnomon.cluster`` costs nothing until ``gnomon.cluster.KMeans`` is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

PACKAGES: dict[str, dict[str, str]] = {}  # what every lazy package offers: public name -> file


def attach(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package whose names load on first use.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : mapping of str to str
        Public name -> the file inside the package that defines it, without ``.py``; ``"folder.file"`` in a
        part of it. A name must differ from its file or folder, because Python binds an imported one to the
        package under its name.
    """
    places = {file.partition(".")[0] for file in names.values()}
    for name in names:
        if name in places:
            raise ImportError(f"{package}.{name} is both a public name and a file; rename the file")
    PACKAGES[package] = dict(names)
    public = sorted(names)

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}.{_nearest(name, public)}")
        value = getattr(import_module(f"{package}.{names[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next access is a plain attribute
        return value

    def listing() -> list[str]:
        return public

    return get, listing, list(public)


def _nearest(word: str, options: list[str]) -> str:
    """Return " Did you mean 'KMeans'?" when one of the options is close, else nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, options, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
