"""Small facts of choosing and judging: the ends of ranges, intervals by hand, the least data."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.svm import LinearSVC

from gnomon.core.errors import DataError
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.selection import (
    CalibratedClassifier,
    ConformalClassifier,
    ConformalRegressor,
    LockedTestSet,
    auc_interval,
    bootstrap_error,
    compare_scores,
    criteria_table,
    evaluate,
    information_criteria,
    three_way_split,
    winner_bias,
)


@pytest.mark.parametrize(
    ("n", "aicc"), [(4, 24 + 12), (3, np.inf), (2, np.inf), (1, np.inf), (14, 25.0909091)]
)
def test_the_correction_of_aic_ends_where_rows_do(n, aicc):
    found = information_criteria(-10.0, 2, n)
    assert found.aic == 24.0 and found.aicc == pytest.approx(aicc)
    assert found.bic == pytest.approx(20 + 2 * np.log(n))
    assert found.mdl == pytest.approx((10 + np.log(n)) / np.log(2))
    half = information_criteria(-10.0, 2, n, convention="halved")
    assert half[:3] == pytest.approx([value / 2 for value in found[:3]]) and half.mdl == found.mdl


def test_without_free_numbers_all_criteria_are_the_likelihood():
    found = information_criteria(-3.0, 0, 5)
    assert found[:3] == (6.0, 6.0, 6.0) and found.mdl == pytest.approx(3 / np.log(2))


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_the_winner_of_few_by_counting_all_outcomes(p):
    for candidates, rows in ((1, 1), (1, 4), (2, 1), (3, 2)):
        shares = np.arange(rows + 1) / rows
        chances = stats.binom.pmf(np.arange(rows + 1), rows, p)
        tables = np.meshgrid(*[np.arange(rows + 1)] * candidates)
        chance = np.prod([chances[one] for one in tables], axis=0)
        best = np.max([shares[one] for one in tables], axis=0)
        found = winner_bias(candidates, rows, p)
        assert found.expected_best == pytest.approx((chance * best).sum())
        assert found.optimism == pytest.approx((chance * best).sum() - p)
        assert found.expected_perfect == pytest.approx(candidates * p**rows)
        assert found.any_perfect == pytest.approx(chance[best == 1.0].sum())


def test_a_likelihood_of_residuals_is_the_normal_one_of_their_spread():
    sk = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    rest = y - sk.LinearRegression().fit(X, y).predict(X)
    wanted = stats.norm.logpdf(rest, scale=np.sqrt(np.mean(rest**2))).sum()
    table = criteria_table([LinearRegression().fit(X, y), sk.LinearRegression().fit(X, y)], X, y)
    assert table["log_likelihood"].tolist() == pytest.approx([wanted, wanted])


def test_the_interval_of_an_area_by_all_pairs():
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    s = np.array([0.1, 0.4, 0.35, 0.8, 0.4, 0.9, 0.7])
    above = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
    A = above.mean()
    error = np.sqrt(above.mean(axis=1).var(ddof=1) / 3 + above.mean(axis=0).var(ddof=1) / 4)
    z = stats.norm.ppf(0.9)
    plain = auc_interval(y, s, level=0.8)
    assert plain == pytest.approx((A, A - z * error, min(1.0, A + z * error), error))
    logit = auc_interval(y, s, method="logit", level=0.8)
    center, half = np.log(A / (1 - A)), z * error / (A * (1 - A))
    ends = [1 / (1 + np.exp(-center - side * half)) for side in (-1, 1)]
    assert logit == pytest.approx((A, *ends, error))
    assert auc_interval(y, s, level=0.9999).high == 1.0 and auc_interval(1 - y, s, level=0.9999).low == 0.0


def test_test_data_may_be_opened_once_and_each_spare_once():
    locked = LockedTestSet(np.arange(3.0)[:, None], [7, 8, 9], n_spares=2)
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            seen += locked.open()[1].tolist()
            assert locked.next_spare() is locked and locked.uses == 0
        seen += locked.open()[1].tolist()
    assert seen == [7, 8, 9] and locked.spares == 0
    for spares in (-1, 3):
        with pytest.raises(DataError, match="between 0 and 2"):
            LockedTestSet(np.arange(3.0)[:, None], n_spares=spares)


# parts


@pytest.mark.parametrize("fractions", [(0.6, 0.2, 0.2), (0.2, 0.2, 0.6), (0.8, 0.1, 0.1), (0.1, 0.8, 0.1)])
@pytest.mark.parametrize("seed", range(4))
def test_moments_are_cut_where_the_shares_are_nearest(fractions, seed):
    rng = np.random.default_rng(seed)
    times = rng.choice([1, 2, 3, 5, 8, 13, 21, 34], p=rng.dirichlet(np.ones(8)), size=40)
    moments = np.unique(times)
    reached = [np.mean(times <= moment) for moment in moments]
    first = int(np.argmin([abs(share - fractions[0]) for share in reached]))
    second = int(np.argmin([abs(share - fractions[0] - fractions[1]) for share in reached]))
    second = max(second, first + 1)
    if second > len(moments) - 2:  # the last moment is for the test
        second, first = len(moments) - 2, min(first, len(moments) - 3)
    parts = three_way_split(40, fractions, times=times)
    assert parts.train.tolist() == np.flatnonzero(times <= moments[first]).tolist()
    between = (times > moments[first]) & (times <= moments[second])
    assert parts.validation.tolist() == np.flatnonzero(between).tolist()
    assert parts.test.tolist() == np.flatnonzero(times > moments[second]).tolist()
    assert all(len(part) for part in parts)


def test_three_moments_are_three_parts():
    parts = three_way_split(9, (0.1, 0.1, 0.8), times=[7, 7, 7, 7, 7, 7, 7, 8, 9])
    assert [len(part) for part in parts] == [7, 1, 1]
    parts = three_way_split(5, (0.9, 0.05, 0.05), times=[1, 2, 3, 4, 5])
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3], [4]]
    with pytest.raises(DataError, match="2 different moments"):
        three_way_split(4, times=[1, 2, 1, 2])
    for options in ({"times": [1, 2, 3]}, {"groups": [1, 2, 3]}):
        with pytest.raises(DataError, match="each of 4 rows; it has 3"):
            three_way_split(4, **options)


def test_groups_of_one_row_have_the_shares():
    for seed in range(3):
        parts = three_way_split(20, (0.5, 0.3, 0.2), groups=np.arange(20), random_state=seed)
        assert [len(part) for part in parts] == [10, 6, 4]
        assert sorted(np.concatenate(parts).tolist()) == list(range(20))
    one, two = (three_way_split(20, groups=np.arange(20), random_state=s).train.tolist() for s in (0, 1))
    assert one != two
    sizes = three_way_split(30, (0.4, 0.3, 0.3), groups=np.repeat(np.arange(10), 3), random_state=0)
    assert [len(part) for part in sizes] == [12, 9, 9]


# comparisons


@pytest.mark.parametrize("test", ["5x2", "5x2 f"])
def test_halves_that_never_differ(test):
    same = compare_scores(np.full((5, 2), 0.8), np.full((5, 2), 0.8), test=test)
    assert (same.difference, same.low, same.high, same.p_value, same.statistic) == (0.0, 0.0, 0.0, 1.0, 0.0)
    worse = compare_scores(np.full((5, 2), 0.75), np.full((5, 2), 0.5), test=test)
    assert (worse.difference, worse.low, worse.high, worse.p_value) == (0.25, 0.25, 0.25, 0.0)
    with pytest.raises(DataError, match=r"shape \(5, 2\); got"):
        compare_scores(np.zeros(10), np.ones(10), test=test)


@pytest.mark.parametrize("options", [{"test": "t"}, {"n_train": 9, "n_test": 1}])
def test_differences_that_never_vary_have_no_error(options):
    same = compare_scores([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], **options)
    assert same[:5] == (0.0, 0.0, 0.0, 0.0, 1.0)
    worse = compare_scores([0.5, 0.75, 1.0], [0.75, 1.0, 1.25], **options)
    assert worse[:5] == (-0.25, -0.25, -0.25, -np.inf, 0.0)


def test_scores_that_never_differ_have_no_rank():
    same = compare_scores([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], test="wilcoxon")
    assert same.p_value == 1.0 and same.difference == 0.0 and same.test == "Wilcoxon"


# cross-validation


def test_folds_that_lack_a_class_answer_for_the_classes_they_know():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]]), np.array([0, 0, 1, 1, 2, 2])
    found = evaluate(LogisticRegression(), X, y, cv=[([0, 2], [1, 3, 4]), ([0, 2, 4], [0, 2, 5])])
    assert found.predictions.tolist() == [0, 0, 1, 1, 1, 2]
    assert found.scores == pytest.approx([2 / 3, 1.0]) and found.pooled == pytest.approx(5 / 6)


# wrappers


def test_a_classifier_of_scores_is_calibrated_by_their_logistic():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    for y in ((X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])):
        y = np.array(["u", "v", "w"])[y]
        model = CalibratedClassifier(LinearSVC(random_state=0), method="sigmoid", cv=3).fit(X, y)
        d = model.estimator_.decision_function(X)
        S = np.column_stack([expit(-d), expit(d)]) if d.ndim == 1 else expit(d)
        np.testing.assert_allclose(model._scores(model.estimator_, X, len(model.classes_)), S)
        P = model.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert model.predict(X).tolist() == [model.classes_[k] for k in P.argmax(axis=1)]
        assert np.mean(model.predict(X) == y) > 0.8


def test_conformal_models_say_what_theirs_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    number = ConformalRegressor(LinearRegression(), random_state=0).fit(X, 2 * X[:, 0] + rng.normal(size=40))
    np.testing.assert_array_equal(number.predict(X), number.estimator_.predict(X))
    y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    label = ConformalClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert label.predict(X).tolist() == label.classes_[label.estimator_.predict(X)].tolist()
    assert np.mean(label.predict(X) == y) > 0.9
    np.testing.assert_allclose(label.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
def test_too_few_scores_promise_nothing(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    options = {"calibration_size": 0.5} if method == "split" else {}
    model = ConformalRegressor(LinearRegression(), method=method, random_state=0, **options).fit(X, y)
    n = 4 if method == "split" else 8
    for level, finite in ((n / (n + 1), True), (n / (n + 1) + 1e-6, False), (0.5, True)):
        low, high = model.predict_interval(X, level)
        assert np.isfinite(low).all() == np.isfinite(high).all() == finite
        assert (low < high).all()
        if not finite:
            assert (low == -np.inf).all() and (high == np.inf).all()


# errors by resampling


class Noting(RegressorMixin, BaseEstimator):
    """Predicts the mean, and notes which rows each fit has seen."""

    fits = []

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        Noting.fits.append([int(row) for row in X[:, 0]])
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("n_resamples", [1, 2, 25])
@pytest.mark.parametrize("method", ["oob", ".632", ".632+"])
def test_rows_left_out_are_averaged_row_by_row(n_resamples, method):
    X, y = np.arange(9.0)[:, None], np.array([0.0, 1, 5, 2, 2, 8, 1, 0, 3])
    Noting.fits = []
    found = bootstrap_error(Noting(), X, y, method=method, n_resamples=n_resamples, random_state=0)
    whole = [rows for rows in Noting.fits if rows == list(range(9))]
    samples = [rows for rows in Noting.fits if rows != list(range(9))]
    assert len(whole) == 1 and len(samples) == n_resamples
    rates = []
    for i in range(9):
        errors = [(y[i] - np.mean(y[rows])) ** 2 for rows in samples if i not in rows]
        rates += [np.mean(errors)] if errors else []
    assert found.out_of_bag == pytest.approx(np.mean(rates))
    assert found.standard_error == pytest.approx(np.std(rates, ddof=1) / np.sqrt(len(rates)))
    assert found.training == pytest.approx(y.var()) == pytest.approx(found.no_information)
    w = 1.0 if method == "oob" else 0.632  # a mean does not overfit its rows
    assert found.weight == w
    outside = min(found.out_of_bag, y.var()) if method == ".632+" else found.out_of_bag
    assert found.error == pytest.approx((1 - w) * y.var() + w * outside)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_resamples": 0}, "at least 1; got 0"),
        ({"method": ".62"}, "got '.62'"),
        ({"n_resamples": -3}, "got -3"),
    ],
)
def test_errors_by_resampling_that_cannot_be_asked_for(options, words):
    with pytest.raises(DataError, match=words):
        bootstrap_error(Noting(), np.zeros((3, 1)), np.zeros(3), **options)


@pytest.mark.parametrize(("candidates", "rows", "p"), [(0, 5, 0.5), (5, 0, 0.5), (1, 1, 0.0), (1, 1, 1.0)])
def test_winners_of_nothing_are_refused(candidates, rows, p):
    with pytest.raises(DataError):
        winner_bias(candidates, rows, p)


def test_probabilities_of_many_classes_are_cooled_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.5])
    model = CalibratedClassifier(LogisticRegression(C=100.0), method="temperature", cv=3).fit(X, y)
    (one,) = model.maps_
    S = model.estimator_.predict_proba(X)
    wanted = S ** (1 / one.parameters[0])
    np.testing.assert_allclose(model.predict_proba(X), wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-9)
    each = CalibratedClassifier(LogisticRegression(C=100.0), method="isotonic", cv=3).fit(X, y)
    assert len(each.maps_) == 3
    P = np.column_stack([part(each.estimator_.predict_proba(X)[:, k]) for k, part in enumerate(each.maps_)])
    sums = P.sum(axis=1, keepdims=True)
    wanted = np.where(sums > 0, P / np.where(sums > 0, sums, 1), 1 / 3)
    np.testing.assert_allclose(each.predict_proba(X), wanted, rtol=1e-12)
