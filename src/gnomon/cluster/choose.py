"""How many clusters there are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.model_selection import cross_val_score

from gnomon.cluster.features import ClusterFeatures
from gnomon.cluster.kmeans import KMeans
from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.validate import matrix

METHODS = ("relative_drop", "elbow", "gap", "mdl", "bic", "aic", "silhouette", "stability", "downstream")


class ChooseK(NamedTuple):
    """The chosen number of clusters, and the table behind the choice."""

    best_k: int
    k_values: Array
    scores: Array  # what the method compares, one for each k (NaN where it does not apply)
    costs: Array  # objective of the fitted models
    errors: Array | None = None  # standard errors, where the method has them

    def plot(self, ax: Any = None) -> Any:
        """Draw costs and scores against k."""
        from gnomon.plot.cluster import choose_k as draw

        return draw(self, ax=ax)


def choose_k(
    X: Any,
    k_values: Any,
    method: str = "gap",
    estimator: Any = None,
    *,
    y: Any = None,
    classifier: Any = None,
    features: str = "indicator",
    n_references: int = 10,
    reference: Any = "box",
    precision: float = 1e-6,
    n_splits: int = 10,
    random_state: Any = None,
) -> ChooseK:
    r"""Choose the number of clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    k_values : sequence of int
        Candidates, ascending.
    method : str, default="gap"
        "relative_drop": largest :math:`(J_{k-1}-J_k)/J_{k-1}` with :math:`J_k>0`. "elbow": farthest below
        the chord of (k, ln J). "gap": smallest k with :math:`\mathrm{Gap}(k)\ge\mathrm{Gap}(k+1)-s_{k+1}`.
        "mdl": shortest two-part code. "bic", "aic": of a mixture given as `estimator`. "silhouette":
        largest mean silhouette. "stability": clusterings of bootstrap samples agree most (adjusted Rand).
        "downstream": smallest cross-validated error of `classifier` on cluster features of the rows whose
        `y` is not -1.
    estimator : estimator, optional
        `KMeans` by default; its ``n_clusters`` or ``n_components`` is set.
    y, classifier, features
        For "downstream": labels with -1 where unknown, a classifier, and the kind of `ClusterFeatures`.
    n_references : int, default=10
        Reference data sets of the gap statistic.
    reference : "box", "pca" or list of arrays
        Where they come from: uniform in the bounding box, in the box of the principal axes, or given.
    precision : float, default=1e-6
        Of the data, for "mdl": the cost is not taken below that of rounding errors.
    n_splits : int, default=10
        Bootstrap samples of "stability"; folds of "downstream" are at most 5.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    ChooseK

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> choose_k(X, range(1, 7), "relative_drop", KMeans(algorithm="optimal_1d")).best_k
    2
    """
    if method not in METHODS:
        raise DataError(f"method={method!r} is not one of {list(METHODS)}.{nearest(method, METHODS)}")
    X = matrix(X)
    ks = np.array(list(k_values), dtype=int)
    if len(ks) == 0 or (np.diff(ks) <= 0).any() or ks[0] < 1:
        raise DataError("k_values must be positive and ascending.")
    rng = generator(random_state)
    seed = int(rng.integers(2**31))
    models = [_fitted(estimator, k, X, seed) for k in ks]
    costs = np.array([_objective(model, X) for model in models])
    if method == "gap":
        return _gap(X, ks, costs, estimator, n_references, reference, rng, seed)
    if method == "downstream":
        scores = _downstream(X, y, models, classifier, features)
        return ChooseK(int(ks[np.argmin(np.round(scores, 12))]), ks, scores, costs)
    if method == "stability":
        scores = np.array(
            [_stability(X, model, k, estimator, n_splits, seed) for k, model in zip(ks, models, strict=True)]
        )
        return ChooseK(int(ks[np.nanargmax(scores)]), ks, scores, costs)
    scores = SCORES[method](X, ks, costs, models, precision)
    small = method in ("mdl", "bic", "aic")
    best = np.nanargmin(scores) if small else np.nanargmax(scores)
    return ChooseK(int(ks[best]), ks, scores, costs)


def _fitted(estimator: Any, k: int, X: Array, seed: int) -> Any:
    model = KMeans(n_init=10) if estimator is None else clone(estimator)
    name = (
        "n_components"
        if "n_components" in model.get_params() and "n_clusters" not in model.get_params()
        else "n_clusters"
    )
    options = {name: int(k)}
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        options["random_state"] = seed
    return model.set_params(**options).fit(X)


def _objective(model: Any, X: Array) -> float:
    return float(model.inertia_) if hasattr(model, "inertia_") else float(-model.score(X) * len(X))


def relative_drop(X: Array, ks: Array, costs: Array, models: Any, precision: float) -> Array:
    """(J_{k−1} − J_k)/J_{k−1} where both ks are candidates and J_k > 0."""
    scores = np.full(len(ks), np.nan)
    for i in range(1, len(ks)):
        if ks[i] == ks[i - 1] + 1 and costs[i] > 1e-12 * costs[0]:
            scores[i] = (costs[i - 1] - costs[i]) / costs[i - 1]
    return scores


def elbow(X: Array, ks: Array, costs: Array, models: Any, precision: float) -> Array:
    """Vertical distance below the chord of the curve (k, ln J), both scaled to [0, 1]."""
    used = costs > 1e-12 * costs[0]
    x, y = ks[used].astype(float), np.log(costs[used])
    x, y = (x - x[0]) / max(x[-1] - x[0], 1e-300), (y - y[-1]) / max(y[0] - y[-1], 1e-300)
    scores = np.full(len(ks), np.nan)
    scores[used] = (1 - x) - y
    return scores


def mdl(X: Array, ks: Array, costs: Array, models: Any, precision: float) -> Array:
    """Nats of a two-part code: residuals, labels, parameters."""
    n, d = X.shape
    lengths = []
    for k, cost, model in zip(ks, costs, models, strict=True):
        J = max(cost, n * d * precision**2 / 12)
        sizes = np.bincount(model.labels_, minlength=k)
        sizes = sizes[sizes > 0]
        residuals = n * d / 2 * np.log(2 * np.pi * np.e * J / (n * d))
        lengths.append(residuals - sizes @ np.log(sizes / n) + (k * d + k) / 2 * np.log(n))
    return np.array(lengths)


def silhouettes(X: Array, ks: Array, costs: Array, models: Any, precision: float) -> Array:
    """Mean silhouette; undefined for one cluster or n."""
    found = []
    for model in models:
        count = len(np.unique(model.labels_))
        found.append(silhouette_score(X, model.labels_) if 1 < count < len(X) else np.nan)
    return np.array(found)


def _criterion(name: str) -> Any:
    def scores(X: Array, ks: Array, costs: Array, models: Any, precision: float) -> Array:
        if not hasattr(models[0], name):
            raise DataError(
                f"method={name!r} needs a mixture as estimator; {type(models[0]).__name__} has no {name}."
            )
        return np.array([getattr(model, name)(X) for model in models])

    return scores


SCORES = {
    "relative_drop": relative_drop,
    "elbow": elbow,
    "mdl": mdl,
    "silhouette": silhouettes,
    "bic": _criterion("bic"),
    "aic": _criterion("aic"),
}


def _gap(
    X: Array,
    ks: Array,
    costs: Array,
    estimator: Any,
    count: int,
    reference: Any,
    rng: np.random.Generator,
    seed: int,
) -> ChooseK:
    references = (
        reference if not isinstance(reference, str) else [_uniform(X, reference, rng) for _ in range(count)]
    )
    tiny = np.finfo(float).tiny
    logs = np.array(
        [
            [np.log(max(_objective(_fitted(estimator, k, matrix(R), seed), R), tiny)) for k in ks]
            for R in references
        ]
    )
    gaps = logs.mean(axis=0) - np.log(np.maximum(costs, tiny))
    errors = logs.std(axis=0) * np.sqrt(1 + 1 / len(logs))
    enough = gaps[:-1] >= gaps[1:] - errors[1:]
    best = int(np.argmax(enough)) if enough.any() else int(np.argmax(gaps))
    return ChooseK(int(ks[best]), ks, gaps, costs, errors)


def _uniform(X: Array, kind: str, rng: np.random.Generator) -> Array:
    if kind == "box":
        return rng.uniform(X.min(axis=0), X.max(axis=0), size=X.shape)
    if kind == "pca":
        center = X.mean(axis=0)
        axes = np.linalg.svd(X - center, full_matrices=False)[2]
        turned = (X - center) @ axes.T
        return rng.uniform(turned.min(axis=0), turned.max(axis=0), size=turned.shape) @ axes + center
    raise DataError(f"reference={kind!r} is not 'box', 'pca' or a list of arrays.")


def _stability(X: Array, model: Any, k: int, estimator: Any, n_splits: int, seed: int) -> float:
    """Mean agreement of the fit with fits to bootstrap samples; for mixtures their score on all rows."""
    if k == 1:
        return np.nan
    rng, found = np.random.default_rng(seed), []
    for _ in range(n_splits):
        rows = rng.integers(len(X), size=len(X))
        other = _fitted(estimator, k, X[rows], seed)
        if hasattr(other, "score_samples"):
            found.append(float(other.score(X)))
        else:
            found.append(adjusted_rand_score(model.predict(X), other.predict(X)))
    return float(np.mean(found))


def _downstream(X: Array, y: Any, models: Any, classifier: Any, features: str) -> Array:
    if y is None or classifier is None:
        raise DataError("method='downstream' needs y (with -1 where unknown) and a classifier.")
    y = np.asarray(y)
    known = y != -1
    folds = int(min(5, np.bincount(np.unique(y[known], return_inverse=True)[1]).min()))
    if folds < 2:
        raise DataError("method='downstream' needs at least two labeled rows of every class.")
    errors = []
    for model in models:
        maker = ClusterFeatures(model, kind=features).fit(X)
        columns = maker.transform(X[known])
        errors.append(1 - cross_val_score(clone(classifier), columns, y[known], cv=folds).mean())
    return np.array(errors)
