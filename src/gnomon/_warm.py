"""Warming up: compile the loops of the families before they are needed."""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import gnomon
from gnomon.core.errors import nearest
from gnomon.core.progress import told
from gnomon.core.threads import thread_count, threads

log = logging.getLogger(__name__)

LONG = ("cluster", "association", "linear", "ensemble", "graphical", "sequence", "recommend")  # they begin


def warm_up(*families: str, dtypes: Sequence[Any] = ("float64",)) -> dict[str, float]:
    """Compile the loops of the given families, or of all, and keep them for later processes.

    A family takes part by having a file ``_warm.py`` whose function ``warm_up(dtypes)`` calls each of its loops on
    a few numbers. Run it once after installing, or while an image is built, and no first fit has to wait. Families are
    compiled side by side, in as many processes as there are threads (`gnomon.threads`); ``with gnomon.progress():``
    shows how far it is.

    Parameters
    ----------
    *families : str
        Names such as ``"cluster"``; all that have loops when none is given.
    dtypes : sequence of {"float64", "float32"}
        Types of the rows that will be fitted. Rows of ``float32`` have loops of their own: ask for both where
        you have such rows.

    Returns
    -------
    dict
        Seconds spent on each family; they add up to more than the time that passes.
    """
    known = families_with_loops()
    for name in families:
        if name not in known:
            raise ValueError(f"{name!r} is no family with loops to compile.{nearest(name, known)}")
    dtypes = _floats(dtypes)
    names = sorted(dict.fromkeys(families or known), key=lambda name: name not in LONG)
    apart = len(names) > 1 and thread_count() > 1 and _can_part()
    found = _side_by_side(names, dtypes) if apart else (_seconds(name, dtypes) for name in names)
    return dict(zip(names, told(found, "compiling (once)", len(names)), strict=True))


def families_with_loops() -> list[str]:
    """Return the names of the families that have something to compile."""
    return [name for name in gnomon._subpackages() if find_spec(f"gnomon.{name}._warm")]


def _floats(dtypes: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of the types, each once."""
    found = tuple(
        dict.fromkeys(np.dtype(dtype).name for dtype in ([dtypes] if isinstance(dtypes, str) else dtypes))
    )
    if not found or not {"float64", "float32"}.issuperset(found):
        raise ValueError(f"dtypes={dtypes!r}: loops are compiled for rows of 'float64', 'float32' or both.")
    return found


def _can_part() -> bool:
    """Tell whether other processes can compile for this one: they must be startable, and the results kept on disk."""
    from gnomon.loops import _compile

    return bool(sys.executable) and bool(os.environ.get("NUMBA_CACHE_DIR") or _compile._home())


def _side_by_side(names: list[str], dtypes: tuple[str, ...]) -> Iterator[float]:
    """Compile families in a few processes, each taking one after another; what fails there is compiled here.

    Compilers take turns within one process, not among several.
    """
    count, done = thread_count(), 0
    try:
        tasks = (delayed(_there)(name, dtypes, count) for name in names)
        for seconds in Parallel(count, return_as="generator")(tasks):
            yield seconds
            done += 1
    except Exception as error:
        log.info("the rest is compiled here: %s", error)
        yield from (_seconds(name, dtypes) for name in names[done:])


def _there(family: str, dtypes: tuple[str, ...], count: int) -> float:
    """Compile in a helping process what this one would: loops for one thread and for several may differ."""
    _stay()
    with threads(count):
        return _seconds(family, dtypes)


def _stay() -> None:
    """Let joblib keep this process, though it grows: what is compiled is no leak, and to begin anew takes seconds."""
    with suppress(ImportError):
        from joblib.externals.loky import process_executor

        process_executor._MAX_MEMORY_LEAK_SIZE = math.inf


def _seconds(family: str, dtypes: tuple[str, ...]) -> float:
    begin = time.perf_counter()
    import_module(f"gnomon.{family}._warm").warm_up(dtypes)
    seconds = time.perf_counter() - begin
    log.info("warmed up %s in %.1f s", family, seconds)
    return seconds
