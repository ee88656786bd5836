"""What boosting on histograms shares: bins once, trees grown leaf by leaf, rows to be judged by."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.rows import is_finite
from gnomon.core.threads import shared
from gnomon.ensemble.boosting_base import Boosted, BoostState, TrainingData
from gnomon.ensemble.histogram import Grown, Histogrammer, Limits, pack, to_tree
from gnomon.ensemble.judging import Judge, by_score
from gnomon.loops.histograms import EVEN, NARROW, WIDE
from gnomon.losses.boosting import Objective
from gnomon.trees import categories as cats
from gnomon.trees.binning import bin_columns, find_bins
from gnomon.trees.problems import NO_LIMIT, check_one_direction, checked_signs, positive, signs_by_name

Array = np.ndarray
HEAVIEST = 1e100  # sums of weighted gradients stay far from the end of the numbers

RULES: dict[str, Any] = {
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
    "l2_regularization": [Interval(Real, 0, None, closed="left")],
    "max_features": [Interval(Real, 0, 1, closed="right")],
    "max_bins": [Interval(Integral, 2, 255, closed="both")],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "monotonic_cst": ["array-like", dict, None],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
    "early_stopping": ["boolean", StrOptions({"auto"})],
    "scoring": [str, callable, None],
    "validation_fraction": [
        Interval(Real, 0, 1, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
        None,
    ],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state", np.random.Generator],
}


class HistBoosted(Boosted):
    """Boosted trees on histograms; subclasses say what they predict."""

    @property
    def is_categorical_(self) -> Array | None:
        """Which columns hold categories; None where none does."""
        found = cats.counts(self.categories_, self.n_features_in_) > 0
        return found if found.any() else None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Add trees until `max_iter` rounds are done or the rows that are judged by get no better.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            NaN marks a missing value; infinite entries are the largest numbers.
        y : array of shape (n,)
            The target.
        sample_weight : array of shape (n,), optional
            How many times each row counts.
        X_val, y_val, sample_weight_val : arrays, optional
            Rows to be judged by, in place of a share of the others.

        Returns
        -------
        self
            The fitted model.
        """
        if (X_val is None) != (y_val is None):
            given, other = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise DataError(f"{given} is provided, but {other} was not provided; give both or neither.")
        if X_val is not None and self.early_stopping is False:
            raise DataError(
                "X_val and y_val are passed to fit while at the same time early_stopping=False; set it to True."
            )
        rows = self._read(X, y, sample_weight)
        rows.given = None if X_val is None else (X_val, y_val, sample_weight_val)
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    def _read(self, X: Any, *others: Any, **options: Any) -> Any:
        return super()._read(_finite(X), *others, **options)

    def _rows(self, X: Any, **options: Any) -> Any:
        return super()._rows(_finite(X), **options)

    def _given_rows(self, rows: Any) -> tuple[Array, Array, Array] | None:
        if rows.given is None:
            return None
        X, y, weight = rows.given
        reader = clone(self)
        reader.n_features_in_ = rows.n_features
        if rows.feature_names is not None:
            reader.feature_names_in_ = rows.feature_names
        codes = cats.encode(_finite(X), rows.categories)
        held = reader._read(codes, y, weight, reset=False, classes=rows.classes)
        X, y, weight = positive(held)
        y = np.asarray(y, dtype=np.float64)
        return X, y, self._weighted(rows.classes, y, weight)

    def _attributes(self, state: BoostState) -> dict[str, Any]:
        return {"validation_score_": np.zeros(0), **super()._attributes(state)}

    def _judge_by(self, objective: Objective, rows: Any) -> Judge:
        if isinstance(self.scoring, str) and self.scoring == "loss":
            return super()._judge_by(objective, rows)
        return by_score(self, self.scoring, rows.classes, weighted=rows.weighted)

    def _limit(self) -> int:
        return int(self.max_iter)

    def _stops_early(self, n: int) -> bool:
        return n > 10_000 if self.early_stopping == "auto" else bool(self.early_stopping)

    def _make_grower(
        self, rows: Any, X: Array, y: Array, weight: Array, reps: Array, objective: Objective
    ) -> Histogrammer:
        d = X.shape[1]
        if weight.sum() > HEAVIEST:
            raise DataError(f"sample_weight sums to {weight.sum():.3g}; divide it, {HEAVIEST:g} is the most.")
        bins = find_bins(X, self.max_bins, cats.counts(rows.categories, d), weight)
        limits = Limits(
            NO_LIMIT if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            NO_LIMIT if self.max_depth is None else int(self.max_depth),
            float(self.min_samples_leaf),
            float(self.l2_regularization),
        )
        if self.max_leaf_nodes is None:
            depth = min(limits.max_depth, 40)
            limits = limits._replace(max_leaf_nodes=int(min(2.0**depth, max(2, len(X)))))
        even = bool((weight == weight[0]).all() and (reps == 1).all())
        codes = pack(bin_columns(X, bins), bins)
        width = EVEN if even and objective.even else NARROW if even and objective.bounded else WIDE
        return Histogrammer(codes, limits, self._signs(rows), reps, width=width)

    def _signs(self, rows: Any) -> Array | None:
        """Return the directions in which columns may move the answer."""
        check_one_direction(self.monotonic_cst, rows)
        signs = signs_by_name(self.monotonic_cst, rows)
        if isinstance(signs, list | tuple | np.ndarray) and any(
            signs[j] for j in rows.categories if j < len(signs)
        ):
            raise DataError("monotonic_cst orders categories, which have no order; put 0 there.")
        return checked_signs(signs, rows.n_features)

    def _one_tree(
        self, data: TrainingData, k: int, state: BoostState, g: Array, h: Array, tops: Any, rng: Any
    ) -> Any:
        grower: Histogrammer = data.grower
        grown = grower.grow(g, h, *tops, draw_seed(rng), self.max_features)
        if data.objective.newton:
            values, step = grower.values(g, h, grown, self.learning_rate)
        else:
            values, step = self._order_statistics(data, state.raw[k], grown)
        return to_tree(grown, values, grower.codes.bins, self.l2_regularization), step

    def _order_statistics(self, data: TrainingData, raw: Array, grown: Grown) -> tuple[Array, Array]:
        """Shrunken values of the nodes and of the rows, where they are medians or quantiles of residuals."""
        values, step = np.zeros(len(grown.turns)), np.empty(len(grown.rows))

        def one(leaf: int) -> None:
            inside = grown.rows[slice(*grown.ranges[leaf])]
            value = data.objective.leaf_value(data.y[inside] - raw[inside], data.weight[inside])
            values[leaf] = step[inside] = value * self.learning_rate

        shared(one, grown.leaves)
        return values, step


def _finite(X: Any) -> Any:
    """Return a matrix whose infinite entries are the largest numbers of its type."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return X
    with np.errstate(invalid="ignore"):
        plain = is_finite(X) or not np.isinf(X).any()
    return X if plain else np.nan_to_num(X, nan=np.nan)
