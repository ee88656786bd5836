"""Closed forms: learners whose loop has one step, and those that see their data only through a sum over rows."""

from __future__ import annotations

from typing import Any, Self

from gnomon.core.rows import Rows
from gnomon.core.steps import Report, Unseeded
from gnomon.core.sums import merge
from gnomon.core.trace import Trace


class OneStep(Unseeded):
    """A learner with a closed form: its loop has one step."""

    def _solve(self, rows: Any) -> Any:
        """Return the learned attributes, or a pair of them and the objective."""
        raise NotImplementedError

    def _step(self, work: Any, state: Any) -> tuple[Any, Report]:
        solved = self._solve(work)
        attributes, objective = solved if isinstance(solved, tuple) else (solved, None)
        return attributes, Report(objective, done=True)

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return state

    def _limit(self) -> int:
        return 1


class Additive(OneStep):
    """A closed form that sees its data only through a sum over rows.

    The sum is kept in `sums_`: `partial_fit` adds to it, and `from_sums` fits without any data.
    """

    def _statistics(self, rows: Any) -> Any:
        """Return the sum over the rows."""
        raise NotImplementedError

    def _estimate(self, statistics: Any) -> Any:
        """Return the learned attributes, or a pair of them and the objective, from the sum alone."""
        raise NotImplementedError

    def _solve(self, rows: Any) -> Any:
        return self._from_statistics(self._statistics(rows))

    def _from_statistics(self, statistics: Any) -> tuple[dict[str, Any], float | None]:
        solved = self._estimate(statistics)
        attributes, objective = solved if isinstance(solved, tuple) else (solved, None)
        return {"sums_": statistics, **attributes}, objective

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the result is the same as from all rows at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
            The fitted estimator.
        """
        first = not hasattr(self, "sums_")
        rows = self._read(X, y, sample_weight, reset=first)
        return self._add(rows)

    def _add(self, rows: Rows) -> Self:
        statistics = self._statistics(rows)
        if hasattr(self, "sums_"):
            statistics = merge(self.sums_, statistics)
        self._keep_sums(statistics, rows)
        return self

    def _keep_sums(self, statistics: Any, rows: Rows | None) -> None:
        known = {
            name: getattr(self, name)
            for name in ("n_features_in_", "feature_names_in_", "classes_")
            if hasattr(self, name)
        }
        attributes, objective = self._from_statistics(statistics)
        trace = Trace([objective], [0.0]) if objective is not None else Trace()
        facts = {"trace_": trace, "n_iter_": 1, "converged_": True}
        self._adopt({**known, **facts, **attributes}, rows)

    @classmethod
    def from_sums(cls, sums: Any, **parameters: Any) -> Self:
        """Fit from a sum that was added up elsewhere: on other machines, or another day.

        Parameters
        ----------
        sums : the type of `sums_`
            Sums of several models are combined with their ``merge``.
        **parameters
            Constructor arguments.
        """
        model = cls(**parameters)
        model._keep_sums(sums, None)
        if not hasattr(model, "n_features_in_"):
            model.n_features_in_ = int(sums.n_features)
        return model
