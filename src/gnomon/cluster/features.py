"""Clusters as inputs of other models."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags

from gnomon.cluster.kmeans import KMeans
from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.validate import Reads
from gnomon.core.wrapping import input_names
from gnomon.loops.distances import pairwise

KINDS = {"indicator", "distance", "squared_distance", "relative_distance", "soft"}


class ClusterFeatures(TransformerMixin, OneStep):
    r"""Describe every row by the clusters it is near to.

    "indicator": one column for each cluster, 1 for the nearest. "distance": distances to the centers.
    "squared_distance": their squares. "relative_distance": distances divided by their sum. "soft": the
    clusterer's own probabilities, or the softmax of minus the squared distances. Fit it on all rows,
    labeled or not, and let a classifier learn from the new columns.

    Parameters
    ----------
    clusterer : estimator, optional
        With `predict`; `KMeans` by default.
    kind : str, default="indicator"
    append : bool, default=False
        Whether to keep the original columns.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusterer.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> model = ClusterFeatures(KMeans(2, init=np.array([[0.0], [12.0]])), kind="distance").fit(X)
    >>> model.transform(np.array([[0.0], [7.0]]))
    array([[ 1., 11.],
           [ 6.,  4.]])
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "clusterer": [HasMethods(["fit", "predict"]), None],
        "kind": [StrOptions(KINDS)],
        "append": ["boolean"],
    }

    def __init__(
        self, clusterer: BaseEstimator | None = None, *, kind: str = "indicator", append: bool = False
    ) -> None:
        self.clusterer = clusterer
        self.kind = kind
        self.append = append

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _solve(self, rows: Any) -> dict[str, Any]:
        model = (
            KMeans(min(8, rows.n_rows), random_state=0) if self.clusterer is None else clone(self.clusterer)
        )
        weight = {"sample_weight": rows.weight} if rows.weighted else {}
        model.fit(rows.X, **weight)
        return {"clusterer_": model, "n_clusters_": self._width(model)}

    def _width(self, model: Any) -> int:
        for name in ("cluster_centers_", "means_"):
            if getattr(model, name, None) is not None:
                return len(getattr(model, name))
        return int(np.max(model.labels_)) + 1

    def _centers(self) -> Array:
        centers = getattr(self.clusterer_, "cluster_centers_", getattr(self.clusterer_, "means_", None))
        if centers is None:
            raise DataError(
                f"kind={self.kind!r} needs centers, and {type(self.clusterer_).__name__} has none."
            )
        return np.asarray(centers)

    def transform(self, X: Any) -> Array:
        """Return the new columns, after the original ones if `append` says so."""
        X = self._rows(X).X
        found = self._columns(X)
        return np.hstack([X, found]) if self.append else found

    def _columns(self, X: Array) -> Array:
        if self.kind == "indicator":
            return np.eye(self.n_clusters_)[self.clusterer_.predict(X)]
        if self.kind == "soft" and hasattr(self.clusterer_, "predict_proba"):
            return np.asarray(self.clusterer_.predict_proba(X))
        if self.kind == "soft":
            logits = -pairwise(X, self._centers(), "sqeuclidean")
            mass = np.exp(logits - logits.max(axis=1, keepdims=True))
            return mass / mass.sum(axis=1, keepdims=True)
        D = pairwise(X, self._centers(), "sqeuclidean" if self.kind == "squared_distance" else "euclidean")
        if self.kind == "relative_distance":
            total = D.sum(axis=1, keepdims=True)
            return np.divide(D, total, out=np.full_like(D, 1 / D.shape[1]), where=total > 0)
        return D

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return cluster0, cluster1, …, after the original names if `append` says so."""
        names = [f"cluster{k}" for k in range(self.n_clusters_)]
        before = list(input_names(self, input_features)) if self.append else []
        return np.array([*before, *names], dtype=object)
