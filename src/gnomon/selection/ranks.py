"""Several models on several data sets, folds or rows: ranks, and which pairs differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.selection.comparing import flip_p_values, resampled_p_values
from gnomon.selection.intervals import adjust_p_values, check_level

PAIR_TESTS = ("wilcoxon", "permutation", "bootstrap")


class ManyComparisons(NamedTuple):
    """Several models on several data sets: mean ranks, whether they differ at all, and which pairs do."""

    names: list[str]
    ranks: Array  # mean rank of each model, 1 is best
    statistic: float  # Friedman's χ²
    p_value: float
    f_statistic: float  # the sharper form of Iman and Davenport
    f_p_value: float
    critical_difference: float  # of mean ranks, Nemenyi
    differences: Array  # (k, k) mean score of the row minus that of the column
    pairs: Array  # (k, k) Holm-adjusted p-values of the test of pairs
    wins: Array  # (k, k) data sets on which the row beats the column; half for ties

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean ranks on a line, with bars over models that do not differ."""
        from gnomon.plot.evaluation import critical_difference

        return critical_difference(self, ax=ax)


def compare_many(
    scores: Any,
    names: Any = None,
    *,
    test: str = "wilcoxon",
    higher_is_better: bool = True,
    level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> ManyComparisons:
    r"""Compare several models over several data sets (or folds, or test rows) by ranks, and pair by pair.

    .. math:: \chi^2_F = \frac{12N}{k(k+1)}\Bigl[\sum_j R_j^2 - \frac{k(k+1)^2}4\Bigr], \qquad
              CD = q_\alpha\sqrt{\frac{k(k+1)}{6N}}

    (Demšar, Statistical comparisons of classifiers over multiple data sets, 2006.) All pairs share the resamples of
    "permutation" and "bootstrap", so that ten models cost little more than two. Rows are taken as independent: for
    folds that share training rows see `compare_scores`.

    Parameters
    ----------
    scores : array of shape (data sets, models)
        Or one row a fold, or one row a test row, such as the losses of every model.
    names : sequence of str, optional
    test : {"wilcoxon", "permutation", "bootstrap"}, default="wilcoxon"
        Of pairs: signed ranks; random signs of the differences (all signs of up to sixteen rows); resampled rows.
    higher_is_better : bool, default=True
    level : float, default=0.95
        Of the critical difference.
    n_resamples : int, default=10000
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.95, 0.9, 0.8], [0.7, 0.65, 0.6]]
    >>> found = compare_many(scores, ["a", "b", "c"])
    >>> found.ranks, round(found.p_value, 4)
    (array([1.  , 2.25, 2.75]), 0.0388)
    """
    if test not in PAIR_TESTS:
        raise DataError(f"test must be one of {PAIR_TESTS}; got {test!r}.{nearest(test, PAIR_TESTS)}")
    check_level(level)
    S = np.asarray(scores, dtype=float)
    if S.ndim != 2 or S.shape[0] < 2 or S.shape[1] < 2 or not np.isfinite(S).all():
        raise DataError(
            "scores must be finite, one row for each of two data sets or more, one column a model."
        )
    n, k = S.shape
    told = [f"model {j}" for j in range(k)] if names is None else [str(name) for name in names]
    if len(told) != k:
        raise DataError(f"scores has {k} columns, and {len(told)} names were given.")
    signed = -S if higher_is_better else S
    per_set = stats.rankdata(signed, axis=1)
    ranks = per_set.mean(axis=0)
    ties = sum(float((c**3 - c).sum()) for row in signed for c in [np.unique(row, return_counts=True)[1]])
    chi2 = 12 * n / (k * (k + 1)) * (float((ranks**2).sum()) - k * (k + 1) ** 2 / 4)
    whole = 1 - ties / (n * k * (k**2 - 1))
    chi2 = chi2 / whole if whole > 0 else 0.0
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-12 else np.inf
    q = _range_quantile(level, k) / np.sqrt(2)
    upper = [(i, j) for i in range(k) for j in range(i + 1, k)]
    p = adjust_p_values(_pair_p_values(S, upper, test, n_resamples, random_state))
    pairs = np.ones((k, k))
    for (i, j), value in zip(upper, p):
        pairs[i, j] = pairs[j, i] = value
    beaten = (signed[:, :, None] < signed[:, None, :]) + 0.5 * (signed[:, :, None] == signed[:, None, :])
    wins = beaten.sum(axis=0)
    np.fill_diagonal(wins, 0.0)
    return ManyComparisons(
        told,
        ranks,
        chi2,
        float(stats.chi2.sf(chi2, k - 1)),
        f,
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        q * np.sqrt(k * (k + 1) / (6 * n)),
        S.mean(axis=0)[:, None] - S.mean(axis=0),
        pairs,
        wins,
    )


def _pair_p_values(
    S: Array, upper: list[tuple[int, int]], test: str, n_resamples: int, random_state: Any
) -> Array:
    if test == "wilcoxon":
        return np.array([_wilcoxon(S[:, i] - S[:, j]) for i, j in upper])
    if n_resamples < 2:
        raise DataError(f"n_resamples must be at least 2; got {n_resamples}.")
    find = flip_p_values if test == "permutation" else resampled_p_values
    return find(S, np.array(upper).T, n_resamples, random_state)


def _range_quantile(level: float, k: int) -> float:
    """Return the quantile of the range of k standard normal numbers, by a fine sum over the largest of them."""
    z = np.linspace(-9.0, 9.0, 4001)
    density, below = stats.norm.pdf(z) * (z[1] - z[0]), stats.norm.cdf(z)

    def excess(q: float) -> float:
        return k * float(density @ ((below - stats.norm.cdf(z - q)) ** (k - 1))) - level

    return float(brentq(excess, 1e-6, 20.0))


def _wilcoxon(difference: Array) -> float:
    return float(stats.wilcoxon(difference).pvalue) if difference.any() else 1.0
