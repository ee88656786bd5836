"""Numbers of evaluation by their definitions: rates, intervals of differences, ranks, parameters, parts of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import PredefinedSplit

from gnomon.core.errors import DataError
from gnomon.selection import (
    bootstrap,
    compare_many,
    compare_predictions,
    compare_scores,
    confusion_table,
    evaluate,
    n_parameters,
    three_way_split,
)

RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 3, 90)
SAID = np.where(RNG.random(90) < 0.6, KIND, RNG.integers(0, 3, 90))


@pytest.mark.parametrize("positive", [0, 1, 2])
def test_rates_of_a_class_against_the_rest(positive):
    truth, told = KIND == positive, SAID == positive
    hit, miss = (truth & told).sum(), (truth & ~told).sum()
    false, right = (~truth & told).sum(), (~truth & ~told).sum()
    found = confusion_table(KIND, SAID).rates(positive)
    assert (found["tp"], found["fn"], found["fp"], found["tn"]) == (hit, miss, false, right)
    precision, recall = hit / told.sum(), hit / truth.sum()
    wanted = {
        "tpr": recall, "fnr": 1 - recall, "fpr": told[~truth].mean(), "tnr": 1 - told[~truth].mean(),
        "precision": precision, "accuracy": (truth == told).mean(), "f1": 2 / (1 / precision + 1 / recall),
        "selection_rate": told.mean(), "base_rate": truth.mean(), "mcc": np.corrcoef(truth, told)[0, 1],
        "balanced_accuracy": (recall + (~told)[~truth].mean()) / 2,
    }  # fmt: skip
    assert found == pytest.approx(wanted | {"tp": hit, "fn": miss, "fp": false, "tn": right})
    if positive == 2:
        assert confusion_table(KIND, SAID).rates() == found


@pytest.mark.parametrize("test", ["mcnemar", "mcnemar chi2"])
def test_differences_of_paired_answers(test):
    y = np.zeros(40, dtype=int)
    a, b = np.repeat([1, 0, 1, 0], [9, 4, 5, 22]), np.repeat([0, 1, 1, 0], [9, 4, 5, 22])
    d = (a != y).astype(float) - (b != y)
    found = compare_predictions(y, a, b, test=test, level=0.9)
    half = stats.norm.ppf(0.95) * d.std() / np.sqrt(40)
    assert (found.difference, found.low, found.high) == pytest.approx(
        (d.mean(), d.mean() - half, d.mean() + half)
    )
    if test == "mcnemar":
        assert found.statistic == 5 and found.p_value == pytest.approx(stats.binomtest(4, 13).pvalue)
    else:
        assert found.statistic == pytest.approx((9 - 4 - 1) ** 2 / 13)
        assert found.p_value == pytest.approx(stats.chi2(1).sf(16 / 13))
    same = compare_predictions(y, a, a, test=test)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_mean_ranks_by_the_book():
    """Friedman's statistic is that of scipy, ties included; Iman and Davenport's follows from it."""
    rng = np.random.default_rng(1)
    for S in (rng.random((7, 4)), rng.integers(0, 3, (9, 5)) / 2.0):
        n, k = S.shape
        found = compare_many(S, level=0.95)
        theirs = stats.friedmanchisquare(*S.T)
        assert (found.statistic, found.p_value) == pytest.approx(tuple(theirs))
        f = (n - 1) * theirs.statistic / (n * (k - 1) - theirs.statistic)
        assert found.f_statistic == pytest.approx(f)
        assert found.f_p_value == pytest.approx(stats.f(k - 1, (k - 1) * (n - 1)).sf(f))
        assert_allclose(found.ranks, stats.rankdata(-S, axis=1).mean(axis=0))
        assert_allclose(compare_many(S, higher_is_better=False).ranks, k + 1 - found.ranks)
        q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
        assert found.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), rel=1e-4)
        for i in range(k):
            for j in range(k):
                beats = (S[:, i] > S[:, j]).sum() + 0.5 * (S[:, i] == S[:, j]).sum()
                assert found.wins[i, j] == (beats if i != j else 0.0)
                assert found.differences[i, j] == pytest.approx(S[:, i].mean() - S[:, j].mean())
    clear = compare_many(np.tile([3.0, 2.0, 1.0], (4, 1)))
    assert clear.statistic == pytest.approx(8.0) and clear.f_statistic == np.inf and clear.f_p_value == 0.0
    even = compare_many(np.ones((3, 2)))
    assert even.statistic == 0.0 and even.p_value == 1.0 and even.wins.tolist() == [[0, 1.5], [1.5, 0]]


@pytest.mark.parametrize(
    ("difference", "rope", "shares"),
    [(0.5, 0.25, (0, 0, 1)), (0.25, 0.25, (0, 1, 0)), (-0.25, 0.25, (0, 1, 0)), (-0.5, 0.25, (1, 0, 0)),
     (0.0, 0.0, (0, 1, 0))],
)  # fmt: skip
def test_differences_that_are_all_the_same_are_certain(difference, rope, shares):
    b = np.arange(5.0)
    found = compare_scores(b + difference, b, test="bayesian", n_train=80, n_test=20, rope=rope)
    assert found.probabilities == shares and found.difference == difference


class Shares(ClassifierMixin, BaseEstimator):
    """Says the shares of the classes that it has seen, or one more for the last."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[self.shares_.argmax()], len(X))

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


def test_a_class_that_a_fold_has_not_seen_has_no_probability():
    y = np.array([0, 0, 1, 0, 1, 1, 2, 2, 2, 0])  # all of class 2 are tested in the second fold
    fold = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])

    def brier(truth, P):
        return -float(((np.eye(3)[truth] - P) ** 2).sum(axis=1).mean()) if np.ndim(P) == 2 else 0.0

    from sklearn.metrics import make_scorer

    found = evaluate(
        Shares(), np.zeros((10, 1)), y, cv=PredefinedSplit(fold),
        scoring=make_scorer(brier, response_method="predict_proba")
    )  # fmt: skip
    first, second = np.array([1, 1, 3]) / 5, np.array([3, 2, 0]) / 5
    P = np.where(fold[:, None] == 0, first, second)
    assert found.pooled == pytest.approx(-((np.eye(3)[y] - P) ** 2).sum(axis=1).mean())


def fitted():
    from gnomon.bayes import BernoulliNB, GaussianNB, MultinomialNB
    from gnomon.linear import Lasso, LinearRegression, LogisticRegression
    from gnomon.mixture import GaussianMixture
    from gnomon.trees import DecisionTreeRegressor

    X = np.random.default_rng(0).integers(0, 3, (60, 5)).astype(float)
    y, three = X[:, 0] + 0.1 * X[:, 1], np.arange(60) % 3
    sparse_ = Lasso(alpha=0.1).fit(X, y)
    tree = DecisionTreeRegressor(max_leaf_nodes=7).fit(X, y)
    return {
        "counts of three classes": (MultinomialNB().fit(X, three), 2 + 3 * 4),
        "bits of three classes": (BernoulliNB().fit(X, three), 2 + 3 * 5),
        "normals of three classes": (GaussianNB().fit(X, three), 2 + 2 * 3 * 5),
        "a plane": (LinearRegression().fit(X, y), 5 + 1 + 1),  # its noise too
        "a plane through zero": (LinearRegression(fit_intercept=False).fit(X, y), 5 + 1),
        "few of a plane": (sparse_, np.count_nonzero(sparse_.coef_) + 2),
        "two classes": (LogisticRegression().fit(X, three > 0), 6),
        "three classes": (LogisticRegression().fit(X, three), 18),
        "leaves": (tree, 7),
        "two normals": (GaussianMixture(2, covariance_type="diag", random_state=0).fit(X), 1 + 10 + 10),
    }


def test_free_parameters_of_fitted_models():
    for name, (model, count) in fitted().items():
        if not any(hasattr(model, own) for own in ("n_parameters_", "dof_", "degrees_of_freedom_")):
            assert n_parameters(model) == count, name
    with pytest.raises(DataError, match="free parameters of object are not known"):
        n_parameters(object())


@pytest.mark.parametrize("fractions", [(0.5, 0.3, 0.2), (0.6, 0.1, 0.3), (0.2, 0.2, 0.6)])
@pytest.mark.parametrize("labels", [None, np.arange(100) % 2])
def test_three_parts_have_their_shares(fractions, labels):
    parts = three_way_split(100, fractions, stratify=labels, random_state=0)
    assert [len(part) for part in parts] == [round(100 * share) for share in fractions]
    assert sorted(np.concatenate(parts)) == list(range(100))
    assert all((np.diff(part) > 0).all() for part in parts)
    if labels is not None:
        assert all(labels[part].sum() == len(part) / 2 for part in parts)


@pytest.mark.parametrize(
    "fractions", [(1.0, 0.5, 0.5), (0.5, 0.5, 0.5), (0.4, 0.3, 0.3 - 1e-6), (0.5, 0.5), (1.2, -0.1, -0.1)]
)
def test_shares_that_are_none(fractions):
    with pytest.raises(DataError, match="three positive numbers that sum to one"):
        three_way_split(10, fractions)


def test_ends_of_a_mean_with_many_resamples_at_the_estimate():
    """Half of the resamples that equal the estimate count as below; the acceleration is that of the rows left out."""
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 4.0, 10.0])
    found = bootstrap(lambda rows: rows.mean(), x, method="bca", n_resamples=999, random_state=0)
    same = np.mean(found.replicates == 2.5)
    z0 = stats.norm.ppf(np.mean(found.replicates < 2.5) + 0.5 * same)
    left = np.array([np.delete(x, i).mean() for i in range(8)])
    pull = left.mean() - left
    a = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    z = z0 + stats.norm.ppf([0.025, 0.975])
    ends = np.quantile(found.replicates, stats.norm.cdf(z0 + z / (1 - a * z)))
    assert same > 0.02 and abs(z0) > 0.02 and a > 0.05 and [found.low, found.high] == pytest.approx(ends)


def test_ends_do_not_depend_on_the_unit_and_need_no_acceleration():
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 4.0, 10.0])
    options = {"method": "bca", "n_resamples": 499, "random_state": 0}
    whole, small = (bootstrap(lambda rows: rows.mean(), unit * x, **options) for unit in (1.0, 2.0**-10))
    assert (1024 * small.low, 1024 * small.high) == pytest.approx((whole.low, whole.high))
    middle = bootstrap(
        np.median, x, **options
    )  # the same median whichever row is left out: nothing accelerates
    below = np.mean(middle.replicates < 1.0) + 0.5 * np.mean(middle.replicates == 1.0)
    z = 2 * stats.norm.ppf(below) + stats.norm.ppf([0.025, 0.975])
    assert [middle.low, middle.high] == pytest.approx(
        np.quantile(middle.replicates, stats.norm.cdf(z)).tolist()
    )
