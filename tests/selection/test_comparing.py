"""Intervals, tests of two and of many models, areas under curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score, roc_curve

from gnomon import threads
from gnomon.core.errors import DataError, DegenerateError
from gnomon.selection import (
    adjust_p_values,
    auc_bounds,
    auc_interval,
    compare_many,
    compare_predictions,
    compare_scores,
    error_interval,
)
from gnomon.selection.intervals import score_interval

near = pytest.approx
SCORE = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.1])
LABEL = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, 0])
FOLDS = np.array([0.02, 0.01, 0.03, -0.01, 0.02, 0, 0.04, 0.01, 0.02, 0.01])


def test_error_intervals_by_hand():
    assert error_interval(45, 50) == near((0.7863976856, 0.9565242351))
    assert error_interval(45, 50, method="exact") == near((0.7818646336, 0.9667249064))
    assert error_interval(450, 1000, method="hoeffding") == near((0.45 - 0.0429469408, 0.45 + 0.0429469408))
    assert np.isnan(error_interval(0, 0)).all()
    assert error_interval(0, 5)[0] == 0 and error_interval(5, 5)[1] == 1
    with pytest.raises(DataError, match="between 0 and n"):
        error_interval(6, 5)
    with pytest.raises(DataError, match="Did you mean 'wilson'"):
        error_interval(1, 5, method="wilsom")


@pytest.mark.parametrize(
    ("method", "least"), [("exact", 0.95), ("hoeffding", 0.95), ("wilson", 0.929792), ("jeffreys", 0.888745)]
)
def test_error_intervals_cover(method, least):
    """By summation, not by chance: the coverage at n = 30 over a grid of rates; two promise it on average alone.

    Their least coverage on the grid was worked out apart: 0.9297925 of Wilson's at 0.3, 0.8887459 of Jeffreys' at 0.92.
    """
    low, high = error_interval(np.arange(31), 30, method=method)
    p = np.linspace(0.05, 0.95, 91)[:, None]
    covered = (stats.binom.pmf(np.arange(31), 30, p) * ((low <= p) & (p <= high))).sum(axis=1)
    assert covered.mean() >= 0.945 and covered.min() >= least
    if method in ("wilson", "jeffreys"):
        assert covered.mean() <= 0.96 and covered.min() <= least + 2e-6


def test_the_interval_of_jeffreys_is_a_posterior():
    k = np.arange(1, 30)
    low, high = error_interval(k, 30, method="jeffreys", level=0.9)
    posterior = stats.beta(k + 0.5, 30 - k + 0.5)
    assert posterior.cdf(low) == near(np.full(29, 0.05)) and posterior.sf(high) == near(np.full(29, 0.05))
    assert (
        error_interval(0, 30, method="jeffreys")[0] == 0 and error_interval(30, 30, method="jeffreys")[1] == 1
    )


def test_interval_is_the_corrected_resampled_t():
    a = np.random.default_rng(0).normal(0.8, 0.1, 10)
    error = np.sqrt((1 / 10 + 0.25) * np.var(a, ddof=1))
    assert score_interval(a, 0.25) == near((a.mean(), *stats.t.interval(0.95, 9, loc=a.mean(), scale=error)))
    plain = score_interval(a)
    assert plain.high - plain.mean == near(stats.sem(a) * stats.t.ppf(0.975, 9))


def test_adjusted_p_values_by_hand():
    assert adjust_p_values([0.01, 0.04, 0.03, 0.005]) == near([0.03, 0.06, 0.06, 0.02])
    assert adjust_p_values([0.01, 0.04, 0.03, 0.005], "bonferroni") == near([0.04, 0.16, 0.12, 0.02])
    p = np.random.default_rng(0).random(20) ** 2
    assert adjust_p_values(p, "bh") == near(stats.false_discovery_control(p))
    assert adjust_p_values([]).tolist() == []
    assert adjust_p_values([0.01, np.nan, 0.03]) == near([0.02, np.nan, 0.03], nan_ok=True)
    assert adjust_p_values([0.01, np.nan, 0.03], "bh") == near([0.02, np.nan, 0.03], nan_ok=True)
    with pytest.raises(DataError, match="holm"):
        adjust_p_values([0.1], "hol")


def mcnemar(b, c, rest=10):
    y = np.zeros(b + c + rest)
    return y, np.r_[np.ones(b), np.zeros(c + rest)], np.r_[np.zeros(b), np.ones(c), np.zeros(rest)]


def test_mcnemar_by_hand():
    exact = compare_predictions(*mcnemar(3, 10))
    assert exact.p_value == near(0.0922851562) and exact.difference == near(-7 / 23)
    corrected = compare_predictions(*mcnemar(3, 10), test="mcnemar chi2")
    assert corrected.statistic == near(2.7692307692) and corrected.p_value == near(0.0960923295)
    assert "may well be chance" in str(exact)


def test_comparisons_are_antisymmetric_and_same_is_same():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    a, b = (np.where(rng.random(200) < share, y, 1 - y) for share in (0.9, 0.8))
    for test in ("mcnemar", "mcnemar chi2", "paired_t", "permutation", "bootstrap"):
        one = compare_predictions(y, a, b, test=test, random_state=0)
        other = compare_predictions(y, b, a, test=test, random_state=0)
        assert one.difference == near(-other.difference)
        assert one.p_value == near(other.p_value, rel=0.2)
        assert one.low < one.difference < one.high and one.difference < 0
        assert compare_predictions(y, a, a, test=test, random_state=0).p_value == 1.0


def test_delong_is_antisymmetric():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    a, b = y + rng.normal(size=100), y + 2 * rng.normal(size=100)
    one, other = compare_predictions(y, a, b, test="delong"), compare_predictions(y, b, a, test="delong")
    assert one.difference == near(-other.difference) and one.p_value == near(other.p_value)
    assert one.difference == near(roc_auc_score(y, a) - roc_auc_score(y, b))
    assert compare_predictions(y, a, 3 * a, test="delong").p_value == 1.0


def test_paired_tests_keep_their_level():
    """Two models that are equally good: alarms at 5 percent."""
    rng = np.random.default_rng(1)
    alarms = dict.fromkeys(("mcnemar", "paired_t", "bootstrap", "permutation"), 0)
    for trial in range(400):
        y = np.zeros(120)
        a, b = rng.random((2, 120)) < 0.2
        for test in alarms:
            alarms[test] += (
                compare_predictions(y, a, b, test=test, n_resamples=500, random_state=trial).p_value < 0.05
            )
    assert alarms["mcnemar"] <= 20 + 3 * np.sqrt(19)
    assert all(count <= 20 + 3.5 * np.sqrt(19) for count in alarms.values())


def test_fold_tests_by_hand():
    zero = np.zeros(10)
    plain = compare_scores(FOLDS, zero, test="t")
    assert plain.statistic == near(3.3084657994) and plain.p_value == near(0.0091061538)
    corrected = compare_scores(FOLDS, zero, n_train=9, n_test=1)
    assert corrected.statistic == near(2.2770423281) and corrected.p_value == near(0.0487979344)
    assert compare_scores(FOLDS, zero, test="wilcoxon").p_value == near(stats.wilcoxon(FOLDS).pvalue)


def test_permutation_of_folds_is_enumeration():
    signs = 1 - 2 * ((np.arange(1024)[:, None] >> np.arange(10)) & 1)
    by_hand = np.mean(np.abs(signs @ FOLDS) >= FOLDS.sum() - 1e-12)
    assert compare_scores(FOLDS, np.zeros(10), test="permutation").p_value == near(by_hand)


def test_five_by_two():
    d = np.array([[0.02, 0.01], [0.03, -0.01], [0.02, 0.0], [0.01, 0.02], [0.0, 0.01]])
    s2 = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    t = d[0, 0] / np.sqrt(s2.mean())
    found = compare_scores(d, np.zeros((5, 2)), test="5x2")
    assert found.statistic == near(t) and found.p_value == near(2 * stats.t.sf(t, 5))
    f = (d**2).sum() / (2 * s2.sum())
    assert compare_scores(d, np.zeros((5, 2)), test="5x2 f").p_value == near(stats.f.sf(f, 10, 5))


def test_bayesian_comparison():
    found = compare_scores(FOLDS, np.zeros(10), test="bayesian", n_train=9, n_test=1, rope=0.01)
    assert sum(found.probabilities) == near(1)
    posterior = stats.t(9, FOLDS.mean(), np.sqrt((1 / 10 + 1 / 9) * FOLDS.var(ddof=1)))
    assert found.probabilities[2] == near(posterior.sf(0.01)) and "practically the same" in str(found)


def test_uncorrected_folds_cry_wolf():
    """Ten folds that share their training rows: a common part makes the plain t-test far too sure."""
    rng = np.random.default_rng(0)
    plain = corrected = 0
    for _ in range(300):
        shared = rng.normal(0, 1 / np.sqrt(9))
        d = shared + rng.normal(0, 1, 10)
        plain += compare_scores(d, np.zeros(10), test="t").p_value < 0.05
        corrected += compare_scores(d, np.zeros(10), n_train=9, n_test=1).p_value < 0.05
    assert plain > 40 and corrected < 28


def test_many_models():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4)) * 0.02 + [0.8, 0.8, 0.85, 0.7]
    found = compare_many(scores, list("abcd"))
    assert found.statistic == near(stats.friedmanchisquare(*(-scores.T)).statistic)
    assert found.ranks.argmin() == 2 and found.pairs[2, 3] < 0.05
    assert found.wins[2, 3] == 12 and (found.wins + found.wins.T)[0, 1] == 12
    assert found.critical_difference == near(2.569 * np.sqrt(4 * 5 / 72), rel=1e-3)
    assert found.differences[2, 3] == near((scores[:, 2] - scores[:, 3]).mean())
    same = compare_many(np.ones((5, 3)))
    assert same.p_value == 1 and (same.ranks == 2).all()
    ties = np.round(scores, 2)
    assert compare_many(ties).statistic == near(stats.friedmanchisquare(*(-ties.T)).statistic)


@pytest.mark.parametrize("rows", [9, 40])
def test_pairs_of_many_models_are_those_of_two(rows):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(rows, 3)) * 0.05 + [0.8, 0.8, 0.83]
    found = compare_many(scores, test="permutation", n_resamples=20_000, random_state=0)
    single = [
        compare_scores(
            scores[:, i], scores[:, j], test="permutation", n_resamples=20_000, random_state=7
        ).p_value
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    told = adjust_p_values(single)
    wide = (
        0.0 if rows <= 16 else 4 * 3 * np.sqrt(0.25 / 20_000) * np.sqrt(2)
    )  # all signs, or two samples of them
    assert [found.pairs[0, 1], found.pairs[0, 2], found.pairs[1, 2]] == near(told, abs=wide + 1e-12)
    drawn = compare_many(scores, test="bootstrap", n_resamples=4000, random_state=0)
    means = (scores[:, 0] - scores[:, 2])[np.random.default_rng(5).integers(0, rows, (4000, rows))].mean(
        axis=1
    )
    p = min(1.0, 2 * (min((means <= 0).sum(), (means >= 0).sum()) + 1) / 4001)
    assert drawn.pairs[0, 2] == near(min(1.0, 3 * p), abs=3 * 2 * 4 * np.sqrt(0.25 / 4000) * np.sqrt(2))
    with pytest.raises(DataError, match="Did you mean 'permutation'"):
        compare_many(scores, test="permutations")


def test_signs_that_cancel_are_no_evidence():
    """The sum is zero but for rounding: every choice of signs is as far from it."""
    d = np.array([0.1, 0.2, 0.3, -0.15, -0.25, -0.2])
    assert 0 < abs(d.sum()) < 1e-15 or d.sum() == 0
    assert compare_scores(d, np.zeros(6), test="permutation").p_value == 1.0
    assert compare_scores(np.tile(d, 20), np.zeros(120), test="permutation", random_state=0).p_value == 1.0


def test_a_perfect_area_is_not_certain():
    found = auc_interval([0, 0, 0, 1, 1], [1, 2, 3, 4, 5])
    assert (found.auc, found.high) == (1.0, 1.0) and found.low == near(0.025**0.5)
    assert auc_interval([1, 1, 1, 0, 0], [1, 2, 3, 4, 5], method="logit")[:3] == near((0, 0, 1 - 0.025**0.5))
    weighted = auc_interval([0, 1], [1, 2], sample_weight=[9, 4])
    assert weighted.low == near(0.025**0.25)
    rng, level, missed = (
        np.random.default_rng(0),
        0.9,
        0,
    )  # an area of 0.97: often all in order, and still covered
    for _ in range(300):
        y = np.repeat([0, 1], 8)
        low = auc_interval(y, rng.normal(size=16) + 2.66 * y, level=level).low
        missed += low > stats.norm.cdf(2.66 / np.sqrt(2))
    assert missed <= stats.binom.ppf(1 - 1e-4, 300, 0.1)


def test_area_by_hand():
    found = auc_interval(LABEL, SCORE)
    assert found.auc == near(0.7) and found.standard_error == near(0.1843908891)
    assert average_precision_score(LABEL, SCORE) == near(0.7277777778)
    assert brier_score_loss(LABEL, SCORE) == near(0.22525) and log_loss(LABEL, SCORE) == near(0.6322050780)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=4, max_size=30))
def test_area_is_that_of_pairs(rows):
    y, s = np.array(rows).T
    if len(set(y)) < 2:
        return
    a, b = s[y == 1][:, None], s[y == 0]
    pairs = np.mean((a > b) + 0.5 * (a == b))
    assert auc_interval(y, s).auc == near(pairs) == near(roc_auc_score(y, s))
    assert auc_interval(1 - y, s).auc == near(1 - pairs)
    assert auc_interval(y, np.exp(s)).auc == near(pairs)
    fpr, tpr, _ = roc_curve(y, s)
    assert (np.diff(fpr) >= 0).all() and (np.diff(tpr) >= 0).all()
    low, high = auc_bounds(pairs, fpr=fpr)
    interior = np.array([tpr[fpr <= f].max() for f in fpr])
    least = np.array([tpr[fpr >= f].min() for f in fpr])
    assert (least <= high + 1e-9).all() and (interior >= low - 1e-9).all()


def test_weights_are_repetitions():
    w = np.array([2, 1, 1, 3, 1, 1, 2, 1, 1, 1])
    weighted = auc_interval(LABEL, SCORE, sample_weight=w)
    repeated = auc_interval(np.repeat(LABEL, w), np.repeat(SCORE, w))
    assert weighted == near(repeated)


@pytest.mark.parametrize("method", ["delong", "logit", "bootstrap"])
def test_area_intervals_cover(method):
    """Two normal classes one apart: the true area is Φ(1/√2)."""
    truth, rng, covered = stats.norm.cdf(1 / np.sqrt(2)), np.random.default_rng(0), 0
    for trial in range(200):
        y = np.repeat([0, 1], 60)
        found = auc_interval(y, y + rng.normal(size=120), method=method, n_resamples=400, random_state=trial)
        covered += found.low <= truth <= found.high
    assert 178 <= covered <= 200


def test_bootstrap_of_areas_is_the_same_on_any_number_of_threads():
    found = []
    for count in (1, 2):
        with threads(count):
            found.append(auc_interval(LABEL, SCORE, method="bootstrap", n_resamples=300, random_state=5))
    assert found[0] == found[1]


def test_bounds_on_rates_by_hand():
    assert auc_bounds(0.75, fpr=1 / 8) == near((0, 6 / 7))
    assert auc_bounds(0.95, fpr=0.1) == near((0.5, 1))
    assert auc_bounds(0.95, tpr=0.9) == near((0.0, 0.5))
    assert auc_bounds(0.8, fpr=0.0) == near((0, 0.8)) and auc_bounds(0.8, fpr=1.0) == near((0.8, 1))
    with pytest.raises(DataError, match="fpr or tpr"):
        auc_bounds(0.9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: auc_interval([1, 1, 1], [0.1, 0.2, 0.3]), DegenerateError, "one class"),
        (lambda: auc_interval([0, 1], [0.1, np.nan]), DataError, "NaN"),
        (lambda: auc_interval([0, 1, 2], [0.1, 0.2, 0.3]), DataError, "two classes"),
        (lambda: compare_predictions([0, 1], [0, 1], [0]), DataError, "one length"),
        (
            lambda: compare_predictions([0.0, 1], [0, 1], [0, np.inf], test="paired_t", loss="squared"),
            DataError,
            "finite",
        ),
        (lambda: compare_predictions([0, 1], [0, 1], [0, 1], loss="squared"), DataError, "McNemar"),
        (lambda: compare_scores([0.1, 0.2], [0.1, 0.1]), DataError, "n_train"),
        (lambda: compare_scores([0.1], [0.1], test="t"), DataError, "two folds"),
        (lambda: compare_scores([0.1, np.nan], [0.1, 0.2], test="t"), DataError, "finite"),
        (lambda: compare_scores([0.1, 0.2], [0.1, 0.2], test="5x2"), DataError, "five repetitions"),
        (lambda: compare_many([[1, 2]]), DataError, "two data sets"),
        (lambda: compare_many(np.eye(3), test="bootstrap", n_resamples=1), DataError, "n_resamples"),
        (lambda: compare_scores([1, 2], [1, 1], n_train=0, n_test=1), DataError, "positive"),
        (lambda: compare_scores([1, 2], [1, 1], n_train=9, n_test=-1), DataError, "positive"),
        (
            lambda: compare_scores([1, 2], [1, 1], n_train=9, n_test=1, test="bayesian", rope=-1.0),
            DataError,
            "rope",
        ),
        (lambda: compare_predictions([0, 1], [0, 1], [1, 1], n_resamples=0), DataError, "n_resamples"),
        (lambda: score_interval([0.8, 0.9], -1.0), DataError, "ratio"),
        (lambda: adjust_p_values([0.1, 1.5]), DataError, "between 0 and 1"),
        (lambda: score_interval([0.5]), DataError, "at least two"),
        (lambda: score_interval([0.5, 0.6], level=1.0), DataError, "level"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_rates_at_the_ends_of_a_curve():
    assert auc_bounds(1.0, fpr=0.0) == (0.0, 1.0) and auc_bounds(0.0, fpr=1.0) == (0.0, 1.0)
    assert auc_bounds(1.0, tpr=0.0) == (0.0, 0.0) and auc_bounds(1.0, tpr=1.0) == (0.0, 1.0)
    assert auc_bounds(0.0, tpr=0.0) == (0.0, 1.0) and auc_bounds(0.0, tpr=1.0) == (1.0, 1.0)


def test_nobody_beats_himself():
    found = compare_many([[0.9, 0.8, 0.8], [0.7, 0.6, 0.65]])
    assert found.wins.tolist() == [[0, 2, 2], [0, 0, 0.5], [0, 1.5, 0]]
    assert np.diagonal(found.pairs).tolist() == [1, 1, 1]


def test_one_row_of_a_class_has_no_variance():
    with pytest.raises(DegenerateError, match="two rows of each class"):
        compare_predictions([1, 0, 0], [0.1, 0.2, 0.3], [0.3, 0.4, 0.1], test="delong")
