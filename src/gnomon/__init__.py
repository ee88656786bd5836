"""gnomon: one library for all of classical machine learning.

Subpackages load when they are first used: ``gnomon.cluster.KMeans`` needs no further import. A family
appears here by being a folder of the package.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0.dev0"

_FUNCTIONS = {
    "save": "core.saving",
    "load": "core.saving",
    "threads": "core.threads",
    "progress": "core.progress",
    "TimeBudget": "core.callbacks",
    "Checkpoint": "core.callbacks",
    "StopRequest": "core.callbacks",
    "TraceLog": "core.callbacks",
    "warm_up": "_warm",
}


def _subpackages() -> list[str]:
    """Names of the public folders of this package."""
    from os import scandir
    from os.path import isfile, join

    return sorted(
        entry.name
        for folder in __path__
        for entry in scandir(folder)
        if entry.name[0] not in "._" and isfile(join(entry.path, "__init__.py"))
    )


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _FUNCTIONS:
        value = getattr(import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    elif name in _subpackages():
        value = import_module(f"{__name__}.{name}")
    else:
        from gnomon._lazy import _nearest

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{_nearest(name, __dir__())}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_FUNCTIONS, "__version__", *_subpackages()])


__all__ = [name for name in __dir__() if not name.startswith("_")]
