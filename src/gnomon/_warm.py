"""Warming up: compile the loops of the families before they are needed."""

from __future__ import annotations

import logging
import time
from importlib import import_module
from importlib.util import find_spec

import gnomon
from gnomon.core.errors import nearest

log = logging.getLogger(__name__)


def warm_up(*families: str) -> dict[str, float]:
    """Compile the loops of the given families, or of all, and keep them for later processes.

    A family takes part by having a file ``_warm.py`` whose function ``warm_up()`` calls each of its loops on
    a few numbers. Run it once after installing, or while an image is built, and no first fit has to wait.

    Parameters
    ----------
    *families : str
        Names such as ``"cluster"``; all that have loops when none is given.

    Returns
    -------
    dict
        Seconds spent on each family.
    """
    known = [name for name in gnomon._subpackages() if find_spec(f"gnomon.{name}._warm")]
    for name in families:
        if name not in known:
            raise ValueError(f"{name!r} is no family with loops to compile.{nearest(name, known)}")
    return {name: _seconds(name) for name in families or known}


def _seconds(family: str) -> float:
    begin = time.perf_counter()
    import_module(f"gnomon.{family}._warm").warm_up()
    seconds = time.perf_counter() - begin
    log.info("warmed up %s in %.1f s", family, seconds)
    return seconds
