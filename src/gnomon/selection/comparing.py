"""Is the difference real? Tests of two models on the same rows or folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.core.validate import vector
from gnomon.selection.areas import delong_parts
from gnomon.selection.intervals import check_level, corrected_error

ALL_SIGNS = 16  # up to so many differences, every choice of signs is tried
FEW_SIZES = 8  # up to so many different sizes, signs are drawn size by size
SIGNS_AT_ONCE = 256


class Comparison(NamedTuple):
    """The difference of two models (first minus second), its interval, and how surprising it is without one."""

    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    test: str
    probabilities: tuple[float, float, float] | None = None  # first lower, the same, first higher

    def __str__(self) -> str:
        told = f"difference {self.difference:.4g} [{self.low:.4g}, {self.high:.4g}], {self.test}"
        if self.probabilities is not None:
            low, same, high = self.probabilities
            return f"{told}: lower with probability {low:.2f}, practically the same {same:.2f}, higher {high:.2f}"
        verdict = "hardly chance" if self.p_value < 0.05 else "may well be chance"
        return f"{told}: p = {self.p_value:.3g}, {verdict}"


LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "zero_one": lambda y, p: (y != p).astype(float),
    "squared": lambda y, p: (y - p) ** 2,
    "absolute": lambda y, p: np.abs(y - p),
}
PREDICTION_TESTS = ("mcnemar", "mcnemar chi2", "bootstrap", "paired_t", "permutation", "delong")


def compare_predictions(
    y: Any,
    pred_a: Any,
    pred_b: Any,
    *,
    test: str = "mcnemar",
    loss: Any = "zero_one",
    level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Comparison:
    r"""Compare two models by their predictions for the same test rows.

    The difference is that of mean losses, the first model's minus the second's (of areas under the curve for "delong").
    McNemar's test looks only at the rows on which one is right and the other wrong: of the b + c such rows, b is
    binomial with probability ½ if the models are equally good.

    Parameters
    ----------
    y : array of shape (n,)
        The truth.
    pred_a, pred_b : arrays of shape (n,)
        Predictions; scores of the positive class for "delong".
    test : {"mcnemar", "mcnemar chi2", "bootstrap", "paired_t", "permutation", "delong"}, default="mcnemar"
        "mcnemar" is exact, "mcnemar chi2" the corrected χ² of textbooks.
    loss : {"zero_one", "squared", "absolute"} or callable, default="zero_one"
        ``loss(y, prediction)`` returns one number a row. McNemar's tests take "zero_one" alone.
    level : float, default=0.95
    n_resamples : int, default=10000
        For "bootstrap" and "permutation".
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> y = [0] * 13 + [1] * 7
    >>> a, b = [1] * 3 + [0] * 10 + [1] * 7, [0] * 3 + [1] * 10 + [1] * 7
    >>> round(compare_predictions(y, a, b).p_value, 6)
    0.092285
    """
    if test not in PREDICTION_TESTS:
        raise DataError(
            f"test must be one of {PREDICTION_TESTS}; got {test!r}.{nearest(test, PREDICTION_TESTS)}"
        )
    check_level(level)
    _check_resamples(n_resamples)
    y, a, b = np.asarray(y), np.asarray(pred_a), np.asarray(pred_b)
    if not (y.ndim == 1 and len(y) == len(a) == len(b)) or not len(y):
        raise DataError(f"y and both predictions must have one length; got {len(y)}, {len(a)} and {len(b)}.")
    if test == "delong":
        return _delong(y, a, b, level)
    if test.startswith("mcnemar") and loss != "zero_one":
        raise DataError("McNemar's test counts right and wrong: take loss='zero_one' or another test.")
    one, other = _losses(y, a, loss), _losses(y, b, loss)
    if test.startswith("mcnemar"):
        return _mcnemar(one, other, test, level)
    difference = one - other
    if test == "paired_t":
        return _t(difference, 0.0, level, "paired t-test")
    if test == "permutation":
        p = _sign_flips(difference, n_resamples, random_state)
        ends = _t(difference, 0.0, level, "")
        return Comparison(ends.difference, ends.low, ends.high, ends.difference, p, "permutation test")
    return _bootstrap(difference, level, n_resamples, random_state)


def _check_resamples(n_resamples: int) -> None:
    if n_resamples < 2:
        raise DataError(f"n_resamples must be at least 2; got {n_resamples}.")


def _losses(y: Array, prediction: Array, loss: Any) -> Array:
    if not callable(loss) and loss not in LOSSES:
        raise DataError(
            f"loss must be one of {tuple(LOSSES)} or callable; got {loss!r}.{nearest(loss, LOSSES)}"
        )
    values = np.asarray((loss if callable(loss) else LOSSES[loss])(y, prediction), dtype=float)
    if values.shape != y.shape or not np.isfinite(values).all():
        raise DataError("losses must be one finite number a row; clip predictions of infinite loss first.")
    return values


def _mcnemar(one: Array, other: Array, test: str, level: float) -> Comparison:
    b, c, n = int((one > other).sum()), int((one < other).sum()), len(one)
    difference = (b - c) / n
    error = np.sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n
    half = stats.norm.isf((1 - level) / 2) * error
    if test == "mcnemar":
        p = min(1.0, 2 * float(stats.binom.cdf(min(b, c), b + c, 0.5))) if b + c else 1.0
        return Comparison(difference, difference - half, difference + half, float(b - c), p, "McNemar, exact")
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c) if b + c else 0.0
    p = float(stats.chi2.sf(statistic, 1))
    return Comparison(difference, difference - half, difference + half, statistic, p, "McNemar, corrected χ²")


def _t(difference: Array, ratio: float, level: float, name: str) -> Comparison:
    k, mean = len(difference), float(difference.mean())
    if k < 2:
        raise DataError("a t-test needs at least two differences.")
    error = corrected_error(difference, ratio)
    if error == 0.0:
        return Comparison(mean, mean, mean, np.inf * np.sign(mean) if mean else 0.0, float(mean == 0), name)
    statistic = mean / error
    half = error * float(stats.t.isf((1 - level) / 2, k - 1))
    p = float(2 * stats.t.sf(abs(statistic), k - 1))
    return Comparison(mean, mean - half, mean + half, statistic, p, name)


def _sign_flips(difference: Array, n_resamples: int, random_state: Any) -> float:
    """Return how often random signs give a mean as far from zero: all of them when there are few differences."""
    d = difference[difference != 0]
    if not len(d):
        return 1.0
    values, how_many = np.unique(np.abs(d), return_counts=True)
    if len(d) <= ALL_SIGNS or len(values) > FEW_SIZES:
        pair = np.array([[0], [1]])
        return float(flip_p_values(np.column_stack([d, -d]) / 2, pair, n_resamples, random_state)[0])
    rng = generator(random_state)  # signs of differences of one size are binomial
    sums = sum(v * (2 * rng.binomial(m, 0.5, n_resamples) - m) for v, m in zip(values, how_many))
    return float((1 + np.sum(np.abs(sums) >= _far(d[:, None])[0])) / (1 + n_resamples))


def _far(D: Array) -> Array:
    """Return sums from which on a sum counts as far from zero as the one seen, whatever was lost by rounding."""
    return np.abs(D.sum(axis=0)) - 1e-12 * np.abs(D).sum(axis=0)


def flip_p_values(S: Array, pairs: Array, n_resamples: int, random_state: Any) -> Array:
    """Return the p-value of every pair of columns under random signs of their differences, row by row.

    One choice of signs serves all pairs, and signs of differences are differences of signed columns.
    """
    n = len(S)
    S = S - S.mean(axis=1, keepdims=True)  # differences stay, and small ones are not drowned
    i, j = pairs
    far = _far(S[:, i] - S[:, j])
    if n <= ALL_SIGNS:
        signed = (1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)) @ S
        return (np.abs(signed[:, i] - signed[:, j]) >= far).mean(axis=0)
    key = draw_seed(generator(random_state))

    def some(start: int) -> Array:
        rows = min(SIGNS_AT_ONCE, n_resamples - start)
        bits = np.frombuffer(stream(key, start).bytes(-(-rows * n // 8)), dtype=np.uint8)
        signed = (2.0 * np.unpackbits(bits, count=rows * n).reshape(rows, n) - 1.0) @ S
        return (np.abs(signed[:, i] - signed[:, j]) >= far).sum(axis=0)

    found = in_order(some, range(0, n_resamples, SIGNS_AT_ONCE), "permutations")
    return (1 + np.sum(list(found), axis=0)) / (1 + n_resamples)


def resampled_p_values(S: Array, pairs: Array, n_resamples: int, random_state: Any) -> Array:
    """Return the bootstrap p-value of every pair of columns; rows are resampled together."""
    from gnomon.selection.resampling import bootstrap

    centered = S - S.mean(axis=1, keepdims=True)
    means = bootstrap("mean", centered, n_resamples=n_resamples, random_state=random_state).replicates
    means = means[:, pairs[0]] - means[:, pairs[1]]
    tail = np.minimum((means <= 0).sum(axis=0), (means >= 0).sum(axis=0))
    return np.minimum(1.0, 2.0 * (tail + 1) / (n_resamples + 1))


def _bootstrap(difference: Array, level: float, n_resamples: int, random_state: Any) -> Comparison:
    """Resample the differences; where they take few values, their counts are multinomial, whatever n."""
    values, counts = np.unique(difference, return_counts=True)
    if len(values) <= 64:
        drawn = generator(random_state).multinomial(len(difference), counts / counts.sum(), n_resamples)
        means = drawn @ values / len(difference)
    else:
        from gnomon.selection.resampling import bootstrap

        means = bootstrap("mean", difference, n_resamples=n_resamples, random_state=random_state).replicates
    mean = float(difference.mean())
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    tail = min(np.sum(means <= 0), np.sum(means >= 0))
    p = min(1.0, 2 * float(tail + 1) / (n_resamples + 1))
    spread = float(means.std())
    return Comparison(mean, float(low), float(high), mean / spread if spread else 0.0, p, "bootstrap")


def _delong(y: Array, a: Array, b: Array, level: float) -> Comparison:
    parts_a, parts_b = delong_parts(y, a), delong_parts(y, b)
    if min(len(parts_a.positive), len(parts_a.negative)) < 2:
        raise DegenerateError(
            "the variance of an area needs two rows of each class; y has one row of one of them."
        )
    difference = parts_a.auc - parts_b.auc
    variance = sum(
        float(np.var(one - other, ddof=1)) / len(one)
        for one, other in ((parts_a.positive, parts_b.positive), (parts_a.negative, parts_b.negative))
    )
    error = np.sqrt(variance)
    if error == 0.0:
        return Comparison(difference, difference, difference, 0.0, float(difference == 0), "DeLong")
    half = stats.norm.isf((1 - level) / 2) * error
    p = float(2 * stats.norm.sf(abs(difference) / error))
    return Comparison(difference, difference - half, difference + half, difference / error, p, "DeLong")


SCORE_TESTS = ("corrected_t", "t", "wilcoxon", "permutation", "5x2", "5x2 f", "bayesian")


def compare_scores(
    scores_a: Any,
    scores_b: Any,
    *,
    test: str = "corrected_t",
    n_train: float | None = None,
    n_test: float | None = None,
    level: float = 0.95,
    rope: float = 0.01,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Comparison:
    r"""Compare two models by their scores on the same folds.

    .. math:: t = \bar d \Big/ \sqrt{s^2\,(1/k + n_{\text{test}}/n_{\text{train}})}

    Folds share training rows, so that a plain t-test says "different" far too often. The corrected test allows for it;
    "5x2" takes five repetitions of two halves (Dietterich, 1998; its F form by Alpaydin, 1999); "bayesian" returns
    the posterior probabilities that the first is lower, within `rope`, or higher (Benavoli and others, 2017).

    Parameters
    ----------
    scores_a, scores_b : arrays of shape (k,), or (5, 2) for "5x2"
    test : {"corrected_t", "t", "wilcoxon", "permutation", "5x2", "5x2 f", "bayesian"}, default="corrected_t"
    n_train, n_test : numbers
        Rows of a training and of a test part (or their shares); needed by "corrected_t" and "bayesian".
    level : float, default=0.95
    rope : float, default=0.01
        Differences that do not matter, for "bayesian".
    n_resamples, random_state
        For "permutation" of more than sixteen differences.

    Examples
    --------
    >>> d = [0.02, 0.01, 0.03, -0.01, 0.02, 0.0, 0.04, 0.01, 0.02, 0.01]
    >>> found = compare_scores(d, np.zeros(10), n_train=9, n_test=1)
    >>> round(found.statistic, 6), round(found.p_value, 6)
    (2.277042, 0.048798)
    """
    if test not in SCORE_TESTS:
        raise DataError(f"test must be one of {SCORE_TESTS}; got {test!r}.{nearest(test, SCORE_TESTS)}")
    check_level(level)
    _check_resamples(n_resamples)
    a, b = np.asarray(scores_a, dtype=float), np.asarray(scores_b, dtype=float)
    if a.shape != b.shape or a.size < 2:
        raise DataError(
            f"both models need a score for each of two folds or more; got {a.shape} and {b.shape}."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError("scores must be finite; drop the folds that could not be scored, in both.")
    difference = a - b
    if test.startswith("5x2"):
        return _five_by_two(difference, test, level)
    difference = vector(difference, name="scores")
    if test in ("corrected_t", "bayesian"):
        if n_train is None or n_test is None:
            raise DataError(
                f"{test!r} needs n_train and n_test, the rows that folds learn from and are tested on."
            )
        if not (n_train > 0 and n_test > 0):
            raise DataError(f"n_train and n_test must be positive; got {n_train} and {n_test}.")
        if rope < 0:
            raise DataError(f"rope must not be negative; got {rope}.")
        ratio = n_test / n_train
        if test == "corrected_t":
            return _t(difference, ratio, level, "corrected t-test")
        return _bayesian(difference, ratio, level, rope)
    if test == "t":
        return _t(difference, 0.0, level, "t-test")
    ends = _t(difference, 0.0, level, "")
    if test == "wilcoxon":
        if not difference.any():
            return ends._replace(p_value=1.0, test="Wilcoxon")
        found = stats.wilcoxon(difference)
        return ends._replace(statistic=float(found.statistic), p_value=float(found.pvalue), test="Wilcoxon")
    p = _sign_flips(difference, n_resamples, random_state)
    return ends._replace(statistic=ends.difference, p_value=p, test="permutation test")


def _five_by_two(d: Array, test: str, level: float) -> Comparison:
    if d.shape != (5, 2):
        raise DataError(f"5x2 takes five repetitions of two halves, shape (5, 2); got {d.shape}.")
    mean = d.mean(axis=1, keepdims=True)
    s2 = ((d - mean) ** 2).sum(axis=1)
    error = np.sqrt(s2.mean())
    center = float(d.mean())
    half = float(stats.t.isf((1 - level) / 2, 5)) * error
    ends = (center, center - half, center + half)
    if error == 0.0:
        return Comparison(*ends, 0.0, float(center == 0), test)
    if test == "5x2":
        t = float(d[0, 0] / error)
        return Comparison(*ends, t, float(2 * stats.t.sf(abs(t), 5)), "5×2 t-test")
    f = float((d**2).sum() / (2 * s2.sum()))
    return Comparison(*ends, f, float(stats.f.sf(f, 10, 5)), "5×2 F-test")


def _bayesian(difference: Array, ratio: float, level: float, rope: float) -> Comparison:
    ends = _t(difference, ratio, level, "Bayesian t-test")
    error = corrected_error(difference, ratio)
    if error == 0.0:
        d = ends.difference
        return ends._replace(probabilities=(float(d < -rope), float(abs(d) <= rope), float(d > rope)))
    posterior = stats.t(len(difference) - 1, ends.difference, error)
    low, high = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    return ends._replace(probabilities=(low, 1.0 - low - high, high))
