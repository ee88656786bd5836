"""Evidence that cannot be: which part of it contradicts itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.core.errors import ZeroEvidenceError


class ImpossibleEvidenceError(ZeroEvidenceError):
    """The evidence has probability zero under the model."""


def impossible(
    net: Any, evidence: Mapping[int, int], feasible: Callable[[Mapping[int, int]], bool]
) -> ImpossibleEvidenceError:
    """Return the error that names a smallest part of the evidence with probability zero.

    Pieces are dropped one after the other as long as the rest stays impossible.
    """
    rest = dict(evidence)
    for v in list(evidence):
        fewer = {u: code for u, code in rest.items() if u != v}
        if not feasible(fewer):
            rest = fewer
    words = ", ".join(f"{net.variables[v]}={net.states[v][code]}" for v, code in sorted(rest.items()))
    if not rest:
        return ImpossibleEvidenceError("the model or the soft evidence gives probability zero to everything.")
    return ImpossibleEvidenceError(
        f"the evidence is impossible: {words} has probability zero under the model. "
        "Check these states, or learn the tables with a prior that leaves no zeros."
    )
