"""Folds of cross-validated models: metadata goes to the splitter and to the scorer that ask for it."""

from __future__ import annotations

from typing import Any, Self

from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from gnomon.core.routing import route, routing_enabled, take_each


def scorer_of(scoring: Any) -> Any:
    """Return the scorer of that name, which takes weights, or the scorer that was given."""
    if not isinstance(scoring, str):
        return scoring
    scorer = get_scorer(scoring)
    return scorer.set_score_request(sample_weight=True) if routing_enabled() else scorer


class RoutesFolds:
    """A `fit` that hands metadata, such as groups of rows, to the splitter and to the scorer."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn from the data.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix
            The rows to learn from.
        y : array or column name
            The target.
        sample_weight : array or column name, optional
            How many times each row counts.
        **params
            Metadata for the splitter and the scorer, such as `groups`, where scikit-learn's routing is enabled
            and they ask for it.

        Returns
        -------
        self
            The fitted estimator.
        """
        if sample_weight is not None and routing_enabled():
            params["sample_weight"] = sample_weight
        rows = self._read(X, y, sample_weight)  # type: ignore[attr-defined]
        if params:
            routed = route(self, "fit", params)
            scored = dict(routed["scorer"]["score"]) if "scorer" in routed else {}
            rows.given = {"splitter": dict(routed["splitter"]["split"]), "scorer": scored}
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)  # type: ignore[attr-defined, no-any-return]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who is given metadata: the model itself, the splitter, and the scorer where there is one."""
        return self._router().add_self_request(self)

    def _router(self) -> MetadataRouter:
        router = MetadataRouter(owner=self)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))  # type: ignore[attr-defined]
        scorer = self._get_scorer()
        if scorer is not None:
            pairs = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            router.add(scorer=scorer, method_mapping=pairs)
        return router

    def _get_scorer(self) -> Any:
        """Return what is asked about held-out rows, or None where their losses are added up."""
        return None

    def _for_splitter(self, rows: Any) -> dict[str, Any]:
        """Return what the splitter is given beside X and y."""
        return {} if rows.given is None else rows.given["splitter"]  # type: ignore[no-any-return]

    def _for_scorer(self, rows: Any, part: Any) -> dict[str, Any]:
        """Return what the scorer is given about some rows: their weights, unless routing decides otherwise."""
        weight = {"sample_weight": rows.weight[part]} if rows.weighted else {}
        if rows.given is None:
            return weight
        asked = take_each(rows.given["scorer"], rows.n_rows, part)
        return {name: weight.get(name, value) for name, value in asked.items()}
