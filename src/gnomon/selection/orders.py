"""Choosing by resampling: orders of models, and features that stay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.selection.criteria import information_criteria, log_likelihood_of, n_parameters

CRITERIA = ("aic", "aicc", "bic", "mdl", "cv", "stability")


class OrderChoice(NamedTuple):
    """What every criterion says about the order of a model."""

    table: Any  # DataFrame: one row an order; smaller is better in every column of a criterion
    best: dict[str, Any]  # criterion -> order
    models: list[Any]  # fitted to all rows
    resampled: Array | None  # (resamples, orders) log-likelihood a row, on all rows, of fits to resamples

    def plot(self, ax: Any = None) -> Any:
        """Draw the criteria against the order."""
        from gnomon.plot import path

        columns = [name for name in self.table.columns if name in CRITERIA]
        values = self.table[columns].to_numpy(dtype=float)
        return path(
            self.table.index.to_numpy(),
            values - values.min(axis=0),
            columns,
            ax=ax,
            x_label=str(self.table.index.name),
            y_label="above the best",
        )


def choose_order(
    model: Any,
    parameter: str,
    orders: Any,
    X: Any,
    y: Any = None,
    *,
    criteria: Any = ("aic", "bic", "cv", "stability"),
    cv: Any = 5,
    n_resamples: int = 20,
    random_state: Any = None,
) -> OrderChoice:
    """Fit a model for every order (components, states, ranks, degrees) and let several criteria speak.

    "cv" is minus the held-out log-likelihood a row, "stability" minus the log-likelihood a row that fits to bootstrap
    samples give to the *original* rows. Criteria may disagree: AIC aims at prediction, BIC at the true order. A prior
    over orders is another way: `gnomon.mixture.BayesianGaussianMixture` empties the components it does not need.

    Parameters
    ----------
    model : estimator with a likelihood
    parameter : str
        Its parameter that is the order.
    orders : sequence
    X, y : data
    criteria : sequence of {"aic", "aicc", "bic", "mdl", "cv", "stability"}
    cv : int or splitter, default=5
    n_resamples : int, default=20
        For "stability".
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> from gnomon.mixture import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-5, 1, 60), rng.normal(5, 1, 60)])[:, None]
    >>> choose_order(GaussianMixture(random_state=0), "n_components", [1, 2, 3], X, random_state=0).best[
    ...     "bic"
    ... ]
    2
    """
    pd = import_pandas()
    criteria, orders = (criteria,) if isinstance(criteria, str) else tuple(criteria), list(orders)
    if not orders:
        raise DataError("orders is empty; give the orders to choose from.")
    strange = [name for name in criteria if name not in CRITERIA]
    if strange or not len(criteria):
        raise DataError(f"criteria must be among {CRITERIA}; got {strange}.{nearest(strange[:1], CRITERIA)}")
    if parameter not in model.get_params():
        raise DataError(
            f"{type(model).__name__} has no parameter {parameter!r}.{nearest(parameter, model.get_params())}"
        )
    if n_resamples < 1:
        raise DataError(f"n_resamples must be at least 1; got {n_resamples}.")
    X = np.asarray(X, dtype=float)
    seed, n = draw_seed(generator(random_state)), len(X)
    folds = list(check_cv(cv).split(X)) if "cv" in criteria else []

    def judged(order: Any) -> tuple[Any, dict[str, float], list[float]]:
        fresh = clone(model).set_params(**{parameter: order})
        fitted = _fit(clone(fresh), X, y, np.arange(n))
        L, K = log_likelihood_of(fitted, X, y), n_parameters(fitted)
        row = {"log_likelihood": L, "n_parameters": K, **information_criteria(L, K, n)._asdict()}
        held = sum(_likelihood(_fit(clone(fresh), X, y, train), X, y, test) for train, test in folds)
        again = []
        if "stability" in criteria:
            for b in range(n_resamples):
                rows = np.sort(stream(seed, b).integers(0, n, n))
                again.append(_likelihood(_fit(clone(fresh), X, y, rows), X, y, np.arange(n)) / n)
        row |= {"cv": -held / n, "stability": -float(np.mean(again)) if again else np.nan}
        return fitted, row, again

    found = list(in_order(judged, orders, "orders"))
    columns = ["log_likelihood", "n_parameters", *criteria]
    table = pd.DataFrame([row for _, row, _ in found], index=pd.Index(orders, name=parameter))[columns]
    best = {name: orders[int(np.nanargmin(table[name].to_numpy(dtype=float)))] for name in criteria}
    resampled = np.array([again for *_, again in found]).T if "stability" in criteria else None
    return OrderChoice(table, best, [fitted for fitted, *_ in found], resampled)


def _fit(model: Any, X: Array, y: Any, rows: Array) -> Any:
    return model.fit(X[rows]) if y is None else model.fit(X[rows], np.asarray(y)[rows])


def _likelihood(model: Any, X: Array, y: Any, rows: Array) -> float:
    return log_likelihood_of(model, X[rows], None if y is None else np.asarray(y)[rows])


class StableFeatures(NamedTuple):
    """How often each feature is selected in subsamples, and what that promises."""

    frequencies: Array
    selected: Array  # features at or above the threshold
    mean_selected: float  # features selected in a subsample, on average
    expected_false: float  # bound on the expected number of wrongly selected features


def stability_selection(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 100,
    threshold: float = 0.8,
    resample: str = "half",
    random_state: Any = None,
) -> StableFeatures:
    r"""Count how often a sparse model selects each feature when it sees other rows.

    .. math:: E[V] \le \frac{1}{2\pi - 1}\,\frac{q^2}{p}

    is the expected number of wrongly selected features, for q features selected in half of the rows on average
    (Meinshausen and Bühlmann, Stability selection, 2010).

    Parameters
    ----------
    estimator : estimator with `coef_` or `feature_importances_`
        A feature is selected where that is not zero.
    X, y : data
    n_resamples : int, default=100
    threshold : float, default=0.8
        The share :math:`\pi` of resamples from which a feature is kept; above one half.
    resample : {"half", "bootstrap"}, default="half"
        Half of the rows without replacement, for which the bound is proved, or a bootstrap sample.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> from gnomon.datasets import make_sparse_regression
    >>> from gnomon.linear import Lasso
    >>> X, y, coef = make_sparse_regression(200, 30, 3, random_state=0)
    >>> stability_selection(Lasso(alpha=0.3), X, y, n_resamples=20, random_state=0).selected
    array([ 0, 10, 20])
    """
    if not 0.5 < threshold <= 1:
        raise DataError(f"threshold must lie above 1/2, up to 1; got {threshold}.")
    if n_resamples < 1:
        raise DataError(f"n_resamples must be at least 1; got {n_resamples}.")
    if resample not in ("half", "bootstrap"):
        raise DataError(f"resample must be 'half' or 'bootstrap'; got {resample!r}.")
    X, y = np.asarray(X), np.asarray(y)
    n, seed = len(X), draw_seed(generator(random_state))

    def once(b: int) -> Array:
        rng = stream(seed, b)
        rows = rng.permutation(n)[: n // 2] if resample == "half" else rng.integers(0, n, n)
        model = clone(estimator).fit(X[rows], y[rows])
        weight = getattr(model, "coef_", getattr(model, "feature_importances_", None))
        if weight is None:
            raise DataError(f"{type(model).__name__} has neither coef_ nor feature_importances_.")
        return np.any(np.atleast_2d(weight) != 0, axis=0)

    chosen = np.array(list(in_order(once, range(n_resamples), "subsamples")))
    frequencies, q = chosen.mean(axis=0), float(chosen.sum(axis=1).mean())
    bound = q**2 / X.shape[1] / (2 * threshold - 1)
    return StableFeatures(frequencies, np.flatnonzero(frequencies >= threshold), q, bound)
