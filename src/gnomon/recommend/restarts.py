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

    def _with_starts(self, work: Any, state: Any) -> Any:
        """Return the last state with what all starts have left."""
        runs, earlier = work.memory.get("runs", state.runs), work.memory.get("earlier", state.earlier)
        return state._replace(runs=np.array(runs), earlier=earlier)

    def _keep(self, run: Any, data: Any) -> None:
        learned, n = self._learned(run), len(run.state.runs)
        U, V, bu, bi = run.state.earlier
        if n:
            learned["runs_"] = run.state.runs
        if U.shape[1]:
            learned |= {
                "user_factors_": U / n,
                "item_factors_": V,
                "user_bias_": bu / n,
                "item_bias_": bi / n,
            }
        self._adopt(learned, data)

    def _better(self, one: float, other: float) -> bool:
        return one < other - 1e-10 * abs(other)
