"""Promises: what holds for every fit of a class, declared where the class is and tested by the contract."""

from __future__ import annotations

from typing import NamedTuple

EXACT = "exact"


class Promises(NamedTuple):
    """What a class promises of its fits.

    Each is ``"exact"``, or ``"statistical: why"`` where it holds on average alone, or ``"no: why"``. The contract
    tests what is exact; a promise that is not made needs its reason. Where an argument decides, `_promises` is a
    property.

    >>> Promises(order="no: rows are visited as they come").order
    'no: rows are visited as they come'
    """

    order: str = EXACT  # the order of the units does not matter
    weights: str = EXACT  # a weight of two is the unit twice, a weight of zero is no unit
    threads: str = EXACT  # the same bits on any number of threads
    resumes: str = EXACT  # a killed fit goes on from its checkpoint to the same bits
    places: str = EXACT  # the same answer from memory, from files and from a cluster, where those are read

    def faults(self) -> list[str]:
        """Return what is declared in other words than these."""
        return [
            f"{name}={said!r}"
            for name, said in self._asdict().items()
            if said != EXACT and not (said.startswith(("statistical: ", "no: ")) and said.partition(": ")[2])
        ]
