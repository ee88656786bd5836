"""Warming up: compile the loops of the families before they are needed."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import gnomon
from gnomon.core.errors import nearest
from gnomon.core.threads import in_order, thread_count

log = logging.getLogger(__name__)


def warm_up(*families: str) -> dict[str, float]:
    """Compile the loops of the given families, or of all, and keep them for later processes.

    A family takes part by having a file ``_warm.py`` whose function ``warm_up()`` calls each of its loops on
    a few numbers. Run it once after installing, or while an image is built, and no first fit has to wait. Families are
    compiled side by side, in as many processes as there are threads (`gnomon.threads`); ``with gnomon.progress():``
    shows how far it is.

    Parameters
    ----------
    *families : str
        Names such as ``"cluster"``; all that have loops when none is given.

    Returns
    -------
    dict
        Seconds spent on each family; they add up to more than the time that passes.
    """
    known = families_with_loops()
    for name in families:
        if name not in known:
            raise ValueError(f"{name!r} is no family with loops to compile.{nearest(name, known)}")
    names = list(dict.fromkeys(families or known))
    apart = len(names) > 1 and thread_count() > 1 and _can_part()
    found = in_order(_elsewhere if apart else _seconds, names, "compiling (once)", alone=not apart)
    return dict(zip(names, found, strict=True))


def families_with_loops() -> list[str]:
    """Return the names of the families that have something to compile."""
    return [name for name in gnomon._subpackages() if find_spec(f"gnomon.{name}._warm")]


def _can_part() -> bool:
    """Tell whether other processes can compile for this one: they must be startable, and the results kept on disk."""
    from gnomon.loops import _compile

    return bool(sys.executable) and bool(os.environ.get("NUMBA_CACHE_DIR") or _compile._home())


def _elsewhere(family: str) -> float:
    """Compile a family in a process of its own; compilers take turns within one process, not among several."""
    here = str(Path(gnomon.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {here!r}); import gnomon; print(gnomon.warm_up({family!r})[{family!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        log.info("%s is compiled here: its own process failed\n%s", family, done.stderr)
        return _seconds(family)
    return float(done.stdout.split()[-1])


def _seconds(family: str) -> float:
    begin = time.perf_counter()
    import_module(f"gnomon.{family}._warm").warm_up()
    seconds = time.perf_counter() - begin
    log.info("warmed up %s in %.1f s", family, seconds)
    return seconds
