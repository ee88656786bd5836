"""What conformal wrappers share: rows held out, their scores by group, and coverage on new rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, LeaveOneOut, check_cv
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.core.wrapping import WrapsEstimator
from gnomon.selection.intervals import check_level, error_interval
from gnomon.selection.wrapping import check_partition, learn_at_once, take_rows

SHARE = Interval(Real, 0, 1, closed="neither")


def rank_of(n: int, level: float) -> int:
    """Return ⌈(n + 1) level⌉, the rank of the score that new rows stay below with that probability."""
    return int(np.ceil((n + 1) * level - 1e-9))


class Conformal(WrapsEstimator, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both wrappers share: a fitted model, held-out scores, and groups with quantiles of their own."""

    _promises: ClassVar[Promises] = Promises(
        order="no: rows are parted by their place", weights="no: takes none"
    )

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit the model and keep held-out scores.

        Parameters
        ----------
        X, y : rows and targets
        groups : array of shape (n,), optional
            A promise is kept within every group; for "split".
        """
        return learn_at_once(self, X, y, groups)

    def _parts(self, n: int) -> tuple[Array, Array]:
        """Return rows to learn from and rows to calibrate with, at random."""
        held = max(1, int(round(self.calibration_size * n)))
        if held >= n:
            raise DataError(f"n_samples={n} is too few to learn from some rows and calibrate with others.")
        order = stream(draw_seed(generator(self.random_state)), 0).permutation(n)
        return np.sort(order[held:]), np.sort(order[:held])

    def _folds(self, n: int) -> list[tuple[Array, Array]]:
        if self.method == "jackknife+":
            return list(LeaveOneOut().split(np.empty((n, 1))))
        if isinstance(self.cv, int):
            if n < 2:
                raise DataError(f"n_samples={n}: folds need at least two rows.")
            rng = draw_seed(generator(self.random_state)) % 2**31
            return list(KFold(min(self.cv, n), shuffle=True, random_state=rng).split(np.empty((n, 1))))
        return check_partition(list(check_cv(self.cv).split(np.empty((n, 1)))), n)

    def _held_out(
        self, folds: list[tuple[Array, Array]], X: Any, y: Array, score: Callable[[Any, Any, Array], Array]
    ) -> tuple[Array, Array]:
        """Keep a model a fold as `models_`; return the scores of the rows each left out, and the fold of every row."""

        def learned(fold: tuple[Array, Array]) -> tuple[Any, Array]:
            train, test = fold
            model = clone(self._base()).fit(take_rows(X, train), y[train])
            return model, score(model, take_rows(X, test), y[test])

        scores, fold_of = np.full(len(y), np.nan), np.zeros(len(y), dtype=int)
        self.models_ = []
        for k, ((_, test), (model, found)) in enumerate(zip(folds, in_order(learned, folds, "folds"))):
            scores[test], fold_of[test] = found, k
            self.models_.append(model)
        return scores, fold_of

    def _keep_scores(self, scores: Array, groups: Any, rows: Array) -> None:
        """Sort the scores of every group; the key None holds them all."""
        self.scores_ = {None: np.sort(scores)}
        self.grouped_ = groups is not None
        if groups is not None:
            mine = groups[rows]
            self.scores_ |= {group: np.sort(scores[mine == group]) for group in np.unique(mine).tolist()}

    def _limits(self, n: int, level: float, groups: Any) -> Array:
        """Return for every row the score that new rows stay below with probability `level`."""
        check_level(level)
        if not self.grouped_:
            if groups is not None:
                raise DataError("groups were not given to fit; fit with groups to have a promise for each.")
            return np.full(n, score_quantile(self.scores_[None], level))
        if groups is None:
            raise DataError("the model was fitted with groups; give the group of every row.")
        groups = group_of_rows(groups, n)
        known = {
            group: score_quantile(scores, level)
            for group, scores in self.scores_.items()
            if group is not None
        }
        strange = [group for group in np.unique(groups).tolist() if group not in known]
        if strange:
            raise DataError(
                f"groups holds {strange[:3]}, which fit has not seen; there are {list(known)[:8]}."
            )
        return np.array([known[group] for group in groups.tolist()])

    def coverage_band(self, level: float = 0.9, probability: float = 0.95) -> tuple[float, float]:
        """Return between which values the true coverage lies, over all calibration sets, with this probability.

        With n scores that have no ties, the coverage of the split method follows a Beta distribution.
        """
        check_is_fitted(self, "estimator_")
        n = len(self.scores_[None])
        k = rank_of(n, level)
        if k > n:
            return 1.0, 1.0
        ends = stats.beta.ppf([(1 - probability) / 2, (1 + probability) / 2], k, n + 1 - k)
        return float(ends[0]), float(ends[1])

    def _coverage(self, inside: Array, size: Array, groups: Any) -> Any:
        pd = import_pandas()
        names, codes = (
            (["all"], np.zeros(len(inside), int))
            if groups is None
            else np.unique(groups, return_inverse=True)
        )
        rows = []
        for code in range(len(names)):
            mine = codes == code
            low, high = error_interval(int(inside[mine].sum()), int(mine.sum()), method="exact")
            rows.append((int(mine.sum()), float(inside[mine].mean()), low, high, float(size[mine].mean())))
        columns = ["rows", "coverage", "low", "high", "size"]
        return pd.DataFrame(rows, index=pd.Index(list(names), name="group"), columns=columns)


def group_of_rows(groups: Any, n: int) -> Array:
    """Return the group of every row as a vector; raise when there are more or fewer than rows."""
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise DataError(f"groups must have one entry for each of {n} rows; its shape is {groups.shape}.")
    return groups


def score_quantile(ranked: Array, level: float) -> float:
    """Return the ⌈(n + 1) level⌉-th smallest score; infinite when there are too few of them."""
    k = rank_of(len(ranked), level)
    return float(ranked[k - 1]) if k <= len(ranked) else np.inf
