"""Several starts of a factorization: the best of them, or the mean of their predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.recommend.answers import FactorAnswers


class SeveralStarts(FactorAnswers):
    """A factorization that hands J of every start, and for averages its vectors, to the next one."""

    def _run(self, data: Any, work: Any, watch: Any, position: Any) -> Any:
        """Leave J of this start, and for averages its vectors, to the next one."""
        run = super()._run(data, work, watch, position)
        state = run.state
        work.memory["runs"] = [*state.runs, run.objective()]
        if self.combine == "average":
            U, V, bu, bi = state.earlier
            final = self._finish(work, state)
            work.memory["earlier"] = (
                np.hstack([U, final.U]),
                np.hstack([V, final.V]),
                bu + final.user_bias,
                bi + final.item_bias,
            )
        return run

    def _keep(self, run: Any, data: Any) -> None:
        learned = self._learned(run)
        memory = getattr(data, "memory", {})
        if memory.get("runs"):
            learned["runs_"] = np.array(memory["runs"])
        if "earlier" in memory:
            U, V, bu, bi = memory["earlier"]
            n = len(memory["runs"])
            learned |= {
                "user_factors_": U / n,
                "item_factors_": V,
                "user_bias_": bu / n,
                "item_bias_": bi / n,
            }
        self._adopt(learned, data)

    def _better(self, one: float, other: float) -> bool:
        return one < other - 1e-10 * abs(other)
