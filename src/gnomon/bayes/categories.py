"""Naive Bayes with category codes in the columns."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import Tags

from gnomon.bayes.class_moments import class_weights
from gnomon.bayes.counts import CountClassifier
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import COUNT, Reads, warn
from gnomon.loops import classes as loops


class CategorySums(NamedTuple):
    """Counts of every class, column and category; merging widens to the largest category."""

    weight: Array  # (K,)
    sizes: Array  # (d,) categories seen in every column
    counts: Array  # (K, d, V)

    @property
    def n_features(self) -> int:
        return len(self.sizes)

    def merge(self, other: CategorySums) -> CategorySums:
        """Add two counts of the same columns."""
        width = max(self.counts.shape[2], other.counts.shape[2])
        counts = widened(self.counts, width) + widened(other.counts, width)
        return CategorySums(self.weight + other.weight, np.maximum(self.sizes, other.sizes), counts)


def widened(counts: Array, width: int) -> Array:
    """Return counts with room for `width` categories."""
    return np.pad(counts, [(0, 0), (0, 0), (0, width - counts.shape[2])])


def category_sums(chunk: Chunk, n_classes: int) -> CategorySums:
    """Count categories per class and column."""
    X = np.ascontiguousarray(chunk.X, dtype=np.float64)
    present = np.where(np.isnan(X), -1.0, X)
    if (present < 0).any() and (X < 0).any():
        raise DataError(
            "Negative values in data passed to CategoricalNB (input X): categories are codes 0, 1, 2, …."
        )
    if (present != np.floor(present)).any():
        warn("X holds numbers between the category codes 0, 1, 2, …; they are cut to whole numbers.")
    if present.max() > 1e6:
        raise DataError(f"X holds the category code {present.max():.0f}; recode categories to 0, 1, 2, ….")
    sizes = present.max(axis=0).astype(np.int64) + 1
    counts = np.zeros((n_classes, X.shape[1], max(1, int(sizes.max()))))
    loops.category_counts(X, chunk.y, chunk.weight, counts)
    return CategorySums(class_weights(chunk, n_classes), sizes, counts)


def category_joint(chunk: Chunk, tables: Array, sizes: Array, log_priors: Array) -> Array:
    """Sum the log-probabilities of every row's categories; unknown and missing ones are left out."""
    scores = np.tile(log_priors, (len(chunk.X), 1))
    loops.category_scores(np.ascontiguousarray(chunk.X, dtype=np.float64), tables, sizes, scores)
    return scores


def log_shares(counts: Array) -> Array:
    """Return the logarithm of every entry's share of its row."""
    return np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))


class CategoricalNB(CountClassifier):
    r"""Naive Bayes for columns of category codes.

    .. math:: P(k \mid x) \propto \pi_k \prod_j \theta_{kj x_j}, \qquad
              \theta_{kjv} = \frac{N_{kjv} + \alpha}{N_k + \alpha K_j}

    Missing entries and categories never seen in training are left out of the product.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in `MultinomialNB`; alpha counts for every category.
    min_categories : int or array of shape (d,), optional
        Room for at least so many categories in a column.

    Attributes
    ----------
    category_count_, feature_log_prob_ : lists of d arrays of shape (K, categories)
        Counts and log-probabilities.
    n_categories_ : array of shape (d,)
        Categories of every column.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [1, 1], [0, 0], [2, 0]]
    >>> model = CategoricalNB().fit(X, [0, 0, 1, 1, 0, 1, 1, 1])
    >>> model.predict_proba([[0, 1], [1, 0]])[:, 0].round(6)
    array([0.715909, 0.12993 ])
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountClassifier._parameter_constraints,
        "min_categories": [None, "array-like", COUNT],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.min_categories = min_categories

    def _check_loaded(self) -> None:
        if "_tables_" not in vars(self):
            return
        d, levels, K = np.shape(self._tables_)
        check_shapes(self, {"_tables_": (d, levels, K), "n_categories_": (d,), "class_log_prior_": (K,)})
        if self.n_features_in_ != d or self.n_categories_.max() > levels:
            raise ModelFileError("its tables do not fit its columns and their categories. Get a new copy.")

    def _statistics(self, rows: Any) -> CategorySums:
        return total(category_sums, rows, len(rows.classes))

    def _estimate(self, sums: CategorySums) -> dict[str, Any]:  # type: ignore[override]
        sizes = self._sizes(sums)
        counts = widened(sums.counts, max(sums.counts.shape[2], int(sizes.max())))
        each = [counts[:, j, :size] for j, size in enumerate(sizes)]
        alpha = self._alpha()
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = [log_shares(one + alpha) for one in each]
        tables = np.zeros((len(sizes), counts.shape[2], len(sums.weight)))
        for j, table in enumerate(logs):
            tables[j, : sizes[j]] = table.T
        found = {"category_count_": each, "feature_log_prob_": logs, "n_categories_": sizes}
        return {**self._shares(sums.weight), **found, "_tables_": tables}

    def _sizes(self, sums: CategorySums) -> Array:
        if (sums.sizes <= 0).any():
            raise DataError(f"column {int((sums.sizes <= 0).argmax())} of X has no observed entry; drop it.")
        if self.min_categories is None:
            return sums.sizes
        least = np.asarray(self.min_categories)
        if least.ndim and least.shape != sums.sizes.shape:
            raise ValueError(
                f"'min_categories' should have shape {sums.sizes.shape}, one number a column; got {least.shape}."
            )
        if least.dtype.kind not in "iu":
            raise ValueError(f"'min_categories' should have integral type; got {least.dtype}.")
        return np.maximum(sums.sizes, least.astype(np.int64))

    def _joint(self, X: Any) -> Array:
        rows = self._rows(X)
        return per_row(category_joint, rows, self._tables_, self.n_categories_, self.class_log_prior_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def log_odds_weights(self) -> Any:
        """Not offered: the rule is linear in one-hot columns, which is what `feature_log_prob_` holds."""
        raise NotImplementedError("CategoricalNB is linear in one-hot columns; see feature_log_prob_.")

    def explain(self, X: Any) -> Array:
        """Return what every column adds to the log-odds of each class against the first, (n, K, d)."""
        X = self._rows(X).X
        known = (X >= 0) & (X < self.n_categories_)
        codes = np.where(known, X, 0).astype(np.int64)
        table = self._tables_[np.arange(X.shape[1]), codes]  # (n, d, K)
        return np.where(known[:, None, :], (table - table[:, :, :1]).transpose(0, 2, 1), 0.0)
