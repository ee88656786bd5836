"""Splits, cross-validation, tables of errors, proper scores, audits, the map of models."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics, model_selection
from sklearn.base import BaseEstimator, ClassifierMixin

from gnomon import threads
from gnomon.core.errors import DataError
from gnomon.datasets import make_table
from gnomon.linear import LinearRegression, LogisticRegression, Ridge, RidgeCV
from gnomon.selection import (
    LockedTestSet,
    adjust_p_values,
    audit,
    confusion_table,
    error_interval,
    evaluate,
    model_map,
    one_standard_error,
    proper_score,
    three_way_split,
)

near = pytest.approx
SCORE = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.1])
LABEL = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, 0])


def test_three_parts():
    parts = three_way_split(50, stratify=np.arange(50) % 2, random_state=0)
    assert [len(part) for part in parts] == [30, 10, 10]
    assert sorted(np.concatenate(parts)) == list(range(50))
    assert np.mean(parts.test % 2) == 0.5
    again = three_way_split(50, stratify=np.arange(50) % 2, random_state=0)
    assert all((a == b).all() for a, b in zip(parts, again))
    groups = np.arange(60) // 4
    grouped = three_way_split(60, groups=groups, random_state=0)
    sets = [set(groups[part]) for part in grouped]
    assert not (sets[0] & sets[1] or sets[0] & sets[2] or sets[1] & sets[2]) and all(sets)


def test_the_future_never_trains():
    rng = np.random.default_rng(0)
    times = rng.integers(0, 40, 200)
    parts = three_way_split(200, times=times)
    assert times[parts.train].max() < times[parts.validation].min()
    assert times[parts.validation].max() < times[parts.test].min()
    assert len(parts.train) == near(120, abs=12) and len(parts.test) == near(40, abs=12)
    days = np.datetime64("2020-01-01") + times
    assert (three_way_split(200, times=days).train == parts.train).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fractions": (0.5, 0.5, 0.5)}, "sum to one"),
        ({"stratify": [0] * 9 + [1]}, "three parts need three"),
        ({"times": [1.0, np.nan] * 5}, "missing"),
        ({"times": [1] * 10}, "moments"),
        ({"groups": [1] * 10}, "groups"),
        ({"times": range(10), "groups": range(10)}, "one of"),
    ],
)
def test_bad_splits_are_named(options, message):
    with pytest.raises(DataError, match=message):
        three_way_split(10, **options)


def test_locked_test_data_count_their_uses():
    locked = LockedTestSet(np.arange(10)[:, None], np.arange(10), n_spares=1)
    X, y = locked.open()
    assert locked.uses == 1 and len(X) == len(y) == 5 and locked.spares == 1
    with pytest.warns(UserWarning, match="2. time"):
        locked.open()
    fresh, _ = locked.next_spare().open()
    assert locked.uses == 1 and not set(fresh.ravel()) & set(X.ravel())
    with pytest.raises(DataError, match="no spare"):
        locked.next_spare()


def test_every_row_validates_once():
    for splitter in (
        model_selection.KFold(7),
        model_selection.StratifiedKFold(5),
        model_selection.LeaveOneOut(),
    ):
        tests = [test for _, test in splitter.split(np.zeros((40, 1)), np.arange(40) % 2)]
        assert sorted(np.concatenate(tests)) == list(range(40))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1


class Sayer(LinearRegression):
    """Says the first column."""

    def fit(self, X, y):
        self.n_features_in_ = 1
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_pooled_and_averaged_scores_differ():
    y = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0])
    X = np.array([1, 0, 0, 0, 0, 0, 1, 1, 0, 0.0])[:, None]
    folds = [(np.arange(10), part) for part in (np.arange(3), np.arange(3, 6), np.arange(6, 10))]
    found = evaluate(Sayer(), X, y, cv=folds, scoring="neg_mean_absolute_error")
    assert -found.pooled == near(0.3) and -found.mean == near(0.2777778)
    y, s = np.array([1, 0, 1, 0, 1.0]), np.array([0.9, 0.8, 0.7, 0.1, 0.2])[:, None]
    folds = [(np.arange(5), np.arange(3)), (np.arange(5), np.arange(3, 5))]
    area = metrics.make_scorer(metrics.roc_auc_score)
    found = evaluate(Sayer(), s, y, cv=folds, scoring=area)
    assert found.scores == near([0.5, 1.0]) and found.pooled == near(0.6666667)


def test_leaving_one_out_of_a_line():
    X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    found = evaluate(
        LinearRegression(), X, y, cv=model_selection.LeaveOneOut(), scoring="neg_mean_squared_error"
    )
    assert y - found.predictions == near([1, -0.5, 1]) and -found.pooled == near(0.75)


def test_leave_one_out_shortcut_is_refitting():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 4)), rng.normal(size=25)
    slow = evaluate(Ridge(0.7), X, y, cv=model_selection.LeaveOneOut(), scoring="neg_mean_squared_error")
    fast = RidgeCV([0.7], store_cv_results=True).fit(X, y)
    assert np.mean(fast.cv_results_) == near(-slow.pooled, rel=1e-10)


def test_folds_from_sums_are_refits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    folds = model_selection.KFold(5)
    slow = [
        evaluate(Ridge(a), X, y, cv=folds, scoring="neg_mean_squared_error").mean for a in (0.1, 1.0, 10.0)
    ]
    fast = RidgeCV([0.1, 1.0, 10.0], cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    assert fast.best_score_ == near(max(slow), rel=1e-10)


def test_same_as_scikit_learn_and_the_interval_is_corrected():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    found = evaluate(LogisticRegression(max_iter=200), X[:, :5], y, scoring="roc_auc")
    theirs = model_selection.cross_val_score(LogisticRegression(max_iter=200), X[:, :5], y, scoring="roc_auc")
    assert found.scores == near(theirs) and found.pooled == near(found.mean, abs=0.02)
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + found.n_test / found.n_train) * theirs.var(ddof=1))
    assert found.interval.high - found.mean == near(half)
    with threads(1):
        assert (
            evaluate(LogisticRegression(max_iter=200), X[:, :5], y, scoring="roc_auc").scores.tobytes()
            == found.scores.tobytes()
        )


class OneColumn(ClassifierMixin, BaseEstimator):
    """Says whether one column is positive."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)


def test_nested_search_shows_the_optimism_of_the_winner():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.integers(0, 2, 40)  # nothing to find
    search = model_selection.GridSearchCV(OneColumn(), {"column": range(60)}, cv=3)
    found = evaluate(search, X, y, cv=4)
    assert found.optimism > 0.1 and found.mean < 0.65  # the winner seemed far better than it is
    assert np.isnan(evaluate(LogisticRegression(), X, y, cv=4).optimism)


def test_groups_and_series_are_kept_apart():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(20), 5)
    X = rng.normal(size=(20, 3))[person] + 0.01 * rng.normal(size=(100, 3))
    y = rng.integers(0, 2, 20)[person]
    from sklearn.neighbors import KNeighborsClassifier

    near_by = KNeighborsClassifier(1)
    mixed = evaluate(near_by, X, y, cv=model_selection.KFold(5, shuffle=True, random_state=0))
    apart = evaluate(near_by, X, y, cv=model_selection.GroupKFold(5), groups=person)
    assert mixed.pooled > 0.95 > 0.75 > apart.pooled
    series = evaluate(LinearRegression(), X, rng.normal(size=100), cv=model_selection.TimeSeriesSplit(4))
    assert len(series.scores) == 4 and np.isnan(series.predictions[:10]).all()


def test_the_simplest_within_one_standard_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = X[:, 0] + rng.normal(size=80)
    grid = {"alpha": [1000.0, 100.0, 10.0, 1.0, 0.1]}  # from simple to complex
    best = model_selection.GridSearchCV(Ridge(), grid, cv=5).fit(X, y)
    plain = model_selection.GridSearchCV(Ridge(), grid, cv=5, refit=one_standard_error).fit(X, y)
    assert plain.best_params_["alpha"] >= best.best_params_["alpha"]
    with pytest.raises(DataError, match="NaN"):
        one_standard_error({"split0_test_score": np.array([np.nan]), "split1_test_score": np.array([1.0])})
    with pytest.raises(DataError, match="no scores"):
        one_standard_error({})


def test_validation_set_chooses_and_path_is_scored():
    from gnomon.linear import LassoCV

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=120)
    parts = three_way_split(120, random_state=0)
    split = model_selection.PredefinedSplit(np.where(np.isin(np.arange(120), parts.validation), 0, -1))
    keep = np.setdiff1d(np.arange(120), parts.test)
    search = model_selection.GridSearchCV(
        Ridge(), {"alpha": [1e-3, 1.0, 1e3]}, cv=model_selection.PredefinedSplit(split.test_fold[keep])
    )
    assert search.fit(X[keep], y[keep]).best_params_["alpha"] < 1e3
    path = LassoCV(cv=5).fit(X[keep], y[keep])
    assert path.mse_path_.shape[1] == 5 and path.mse_path_.mean(axis=1).argmin() == np.argmin(
        np.abs(path.alphas_ - path.alpha_)
    )
    assert path.score(X[parts.test], y[parts.test]) > 0.7


def test_bad_scores_are_named():
    def broken(model, X, y):
        return np.nan

    with pytest.raises(DataError, match="fold 0 is nan"):
        evaluate(LinearRegression(), np.eye(10), np.arange(10.0), scoring=broken)


def test_confusion_by_hand():
    table = confusion_table(LABEL, (SCORE >= 0.6).astype(int))
    found = table.rates()
    assert [found[name] for name in ("tp", "fp", "fn", "tn")] == [3, 2, 2, 3] and found["mcc"] == near(0.2)
    assert found["tpr"] == near(metrics.recall_score(LABEL, SCORE >= 0.6))
    assert table.risk([[0, 1], [5, 0]]) == near(1.2)
    assert table.risk([[0, np.inf], [0, 0]]) == np.inf  # what must never happen has happened
    assert confusion_table([0, 1], [0, 1]).risk([[0, np.inf], [np.inf, 0]]) == 0.0


def test_confusion_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for y, pred in (
        (rng.integers(0, 4, 200), rng.integers(0, 4, 200)),
        (rng.choice(list("abc"), 100), rng.choice(list("bcd"), 100)),
        (rng.integers(-3, 0, 50), rng.integers(10**6, 10**6 + 2, 50)),
    ):
        w = rng.random(len(y))
        np.testing.assert_array_equal(confusion_table(y, pred).counts, metrics.confusion_matrix(y, pred))
        theirs = metrics.confusion_matrix(y, pred, sample_weight=w)
        np.testing.assert_allclose(confusion_table(y, pred, sample_weight=w).counts, theirs)
    table = confusion_table(y, pred)
    assert table.counts.sum() == len(y) and len(table.per_class()) == len(table.labels)
    assert np.isnan(confusion_table([0, 0], [0, 0], labels=[0, 1]).rates(1)["tpr"])
    with pytest.raises(DataError, match="lacks"):
        confusion_table([0, 2], [0, 1], labels=[0, 1])
    with pytest.raises(DataError, match="no class"):
        confusion_table([0, 1], [0, 1]).rates(7)
    with pytest.raises(DataError, match="not empty"):
        confusion_table([], [])


def test_rows_on_the_boundary():
    s, y = [1.0, 0.0, -2.0, 0.0], [1, 1, -1, -1]
    assert confusion_table(y, s, threshold=0.0, boundary="error").counts.tolist() == [[1, 1], [1, 1]]
    assert confusion_table(y, s, threshold=0.0).counts.tolist() == [[1, 1], [0, 2]]
    assert confusion_table(y, s, threshold=0.0, sample_weight=[1, 0, 1, 0]).accuracy == 1.0
    assert confusion_table([1, 1], [1.0, -1.0], threshold=0.0, labels=[-1, 1]).accuracy == 0.5
    for wrong, message in (
        (lambda: confusion_table([1, 2, 3], [1.0, 2.0, 3.0], threshold=0.0), "two classes"),
        (lambda: confusion_table([1, 1], [1.0, -1.0], threshold=0.0), "one class"),
        (lambda: confusion_table([0, 1], [1.0, np.nan], threshold=0.0), "NaN"),
        (lambda: confusion_table(y, s, threshold=0.0, boundary="wrong"), "boundary"),
    ):
        with pytest.raises(DataError, match=message):
            wrong()


def test_regression_numbers_by_hand():
    y, said = np.array([3, -0.5, 2, 7]), np.array([2.5, 0, 2, 8])
    assert metrics.mean_squared_error(y, said) == near(0.375) and metrics.mean_absolute_error(
        y, said
    ) == near(0.5)
    assert metrics.r2_score(y, said) == near(0.9486081370)
    assert metrics.explained_variance_score(y, said) == near(0.9571734475)
    from gnomon.losses import SquaredError

    assert np.mean(SquaredError().value(y, said)) == near(0.1875)  # the half of the risk


def test_normal_crps_and_draws_agree():
    rng = np.random.default_rng(0)
    y = np.array([0.0, 2.0, -1.0])
    exact = proper_score(y, stats.norm(0.5, 2.0), "crps")
    draws = proper_score(y, rng.normal(0.5, 2.0, (3, 40_000)), "crps")
    assert draws == near(exact, rel=0.02)
    assert proper_score(y, stats.t(1e7, 0.5, 2.0), "crps") == near(exact, rel=1e-3)


@pytest.mark.parametrize("rule", ["log", "brier", "spherical"])
def test_the_truth_does_best(rule):
    truth = np.array([0.2, 0.5, 0.3])
    grid = [
        np.array([a, b, 1 - a - b])
        for a in np.arange(0.05, 0.9, 0.05)
        for b in np.arange(0.05, 0.95 - a, 0.05)
    ]

    def expected(q):
        return sum(p * proper_score([k], q[None], rule)[0] for k, p in enumerate(truth))

    assert min(map(expected, grid)) >= expected(truth) - 1e-12


def test_scores_of_quantiles_and_intervals():
    y = np.array([0.0, 1.0, 5.0])
    assert proper_score(y, np.array([1.0, 1.0, 1.0]), "pinball", level=0.9) == near([0.1, 0.0, 3.6])
    found = proper_score(y, (np.zeros(3), np.full(3, 2.0)), "interval", level=0.9)
    assert found == near([2, 2, 2 + 20 * 3])
    point = np.ones(2)
    assert proper_score([1.0, 2.0], (point, point), "interval", level=0.5) == near([0.0, 4.0])  # no width
    assert proper_score([1], [[1.0, 0.0]], "log")[0] == np.inf  # called impossible
    assert proper_score(y, stats.norm(0, 1), "log") == near(-stats.norm.logpdf(y))
    assert proper_score([3], stats.poisson([2.0]), "log") == near(-stats.poisson.logpmf(3, 2.0))
    for call, message in (
        (lambda: proper_score(y, (np.array([0.0, 1.0, 0.0]), np.full(3, 0.5)), "interval"), "lower ends"),
        (lambda: proper_score([0, 1], [[0.5, 0.6], [0.5, 0.5]], "brier"), "sum one"),
        (lambda: proper_score([5], [[0.5, 0.5]], "log"), "codes"),
        (lambda: proper_score([0], [0.5], "brir"), "Did you mean"),
    ):
        with pytest.raises(DataError, match=message):
            call()


def test_audit_by_hand():
    y, pred = [1, 1, 0, 0, 1, 0, 1, 0, 0, 1], [1, 0, 0, 1, 1, 0, 1, 1, 0, 0]
    found = audit(y, pred, list("AAAABBBBBB"), reference=["A", "B", "C"])
    assert found.table.loc["A", ["tpr", "fpr", "precision", "selection_rate"]].tolist() == near(
        [0.5, 0.5, 0.5, 0.5]
    )
    assert found.table.loc["B", ["tpr", "fpr", "precision", "selection_rate"]].tolist() == near(
        [2 / 3, 1 / 3, 2 / 3, 0.5]
    )
    assert found.excluded == ["C"] and found.small == ["A", "B"]
    assert found.gaps.loc["tpr", "gap"] == near(1 / 6) and (found.gaps["p_adjusted"] > 0.5).all()
    whole = audit(y, pred, ["all"] * 10).table.iloc[0]
    assert whole["tpr"] == near(confusion_table(y, pred).rates()["tpr"])


def test_gaps_between_groups_by_hand():
    rng = np.random.default_rng(0)
    y, pred, group = rng.integers(0, 2, 90), rng.integers(0, 2, 90), np.repeat(list("abc"), 30)
    pred[:30] = 0  # nobody of the first group is selected
    found = audit(y, pred, group, level=0.8)
    rates = {
        "selection_rate": pred == 1,
        "tpr": np.where(y == 1, pred == 1, np.nan),
        "fpr": np.where(y == 0, pred == 1, np.nan),
        "precision": np.where(pred == 1, y == 1, np.nan),
        "accuracy": pred == y,
    }
    p_values = []
    for name, hit in rates.items():
        groups = [hit[group == one][~np.isnan(hit[group == one].astype(float))] for one in "abc"]
        groups = [one.astype(float) for one in groups if len(one)]
        means = np.array([one.mean() for one in groups])
        gap = found.gaps.loc[name]
        assert (gap["gap"], gap["ratio"]) == near((np.ptp(means), means.min() / means.max()))
        table = [[one.sum(), (1 - one).sum()] for one in groups]
        p_values.append(stats.chi2_contingency(table, correction=False).pvalue)
        assert gap["p_value"] == near(p_values[-1])
        ends = error_interval(groups[-1].sum(), len(groups[-1]), level=0.8)
        assert tuple(found.table.loc["c", [f"{name}_low", f"{name}_high"]]) == near(ends)
    assert found.gaps["p_adjusted"].tolist() == near(adjust_p_values(p_values))
    nobody = audit([0, 0], [0, 0], list("ab")).gaps
    assert nobody["p_value"].tolist() == [1.0] * 5 and np.isnan(nobody.loc["selection_rate", "ratio"])


def test_missing_groups_are_a_group_and_columns_are_crossed():
    import pandas as pd

    y, pred = np.arange(8) % 2, np.arange(8) // 2 % 2
    found = audit(y, pred, ["a", None, "a", "b", float("nan"), "b", "a", "a"])
    assert found.table.index.tolist() == ["a", "b", "missing"] and found.table["size"].sum() == 8
    crossed = audit(y, pred, pd.DataFrame({"sex": list("fmfmfmfm"), "old": [0, 0, 1, 1, 0, 0, 1, 1]}))
    assert crossed.table.index.tolist() == ["f × 0", "f × 1", "m × 0", "m × 1"]
    no_positives = audit([0, 0, 1, 1], [0, 1, 1, 0], list("aabb"), scores=[0.1, 0.6, 0.7, 0.3])
    assert np.isnan(no_positives.table.loc["a", "tpr"]) and np.isnan(no_positives.table.loc["a", "auc"])
    with pytest.raises(DataError, match="one entry"):
        audit(y, pred, ["a"])


def test_audits_find_the_gap_and_its_stand_in():
    data = make_table("subgroups", 6000, random_state=0)
    model = LogisticRegression().fit(data.data[:3000], data.target[:3000])
    said, p = model.predict(data.data[3000:]), model.predict_proba(data.data[3000:])[:, 1]
    found = audit(data.target[3000:], said, data.groups[3000:], scores=p)
    assert found.table.loc["large", "accuracy"] > found.table.loc["small", "accuracy"] + 0.05
    assert found.gaps.loc["accuracy", "p_adjusted"] < 1e-3 and "calibration_error" in found.table
    assert found.proxies is None
    told = audit(data.target, data.target, data.groups, features=data.data).proxies
    assert told.index[0] == "x2" and told.loc["x2", "auc"] > 0.9 > 0.55 > told.loc["x0", "auc"] >= 0.5
    assert 0 <= told["explained"].min() < 0.02 and 0.4 < told.loc["x2", "explained"] < 1
    with pytest.raises(DataError, match="one group"):
        audit([0, 1], [0, 1], ["a", "a"], features=np.zeros((2, 1)))
    with pytest.raises(DataError, match="features must have one row"):
        audit([0, 1], [0, 1], ["a", "b"], features=np.zeros((3, 1)))


def test_which_class_is_positive_is_never_guessed():
    none = audit([0, 0, 0], [0, 0, 1], list("aab")).table
    assert (
        none["base_rate"].tolist() == [0, 0] and none["fpr"].tolist() == [0, 1] and none["tpr"].isna().all()
    )
    assert audit([0, 0], [0, 0], list("ab")).table["base_rate"].tolist() == [0, 0]
    assert audit([1, 1], [1, 1], list("ab")).table["tpr"].tolist() == [1, 1]
    assert audit([0, 1, 2], [0, 1, 1], list("aaa"), positive=2).table["tpr"].tolist() == [0]
    for wrong, message in (
        (lambda: audit(["no"], ["no"], ["a"]), "one class only"),
        (lambda: audit([0, 1, 2], [0, 1, 1], list("aaa")), "3 classes"),
        (lambda: audit([0, 1], [0, 1], list("ab"), positive=7), "positive must be one"),
        (lambda: audit([], [], []), "not empty"),
        (lambda: audit([0, 1], [0], list("ab")), "one length"),
    ):
        with pytest.raises(DataError, match=message):
            wrong()


def test_locked_rows_of_any_kind():
    from scipy import sparse

    X, _ = LockedTestSet(sparse.eye(6, format="csc"), np.arange(6), n_spares=1).open()
    assert X.shape == (3, 6)
    with pytest.raises(ValueError, match="inconsistent"):
        LockedTestSet(np.eye(3), [0, 1])
    for times in ([1.0, None, 3.0], [1.0, np.nan, 2.0], np.array(["2020", "NaT", "2021"], dtype="M8[Y]")):
        with pytest.raises(DataError, match="missing"):
            three_way_split(3, times=np.array(times))


def test_forecasts_of_the_wrong_kind_are_refused():
    for wrong, message in (
        (lambda: proper_score([1.0], ([0.0], [2.0]), "interval", level=1.0), "level"),
        (lambda: proper_score([1.0], [0.5], "pinball", level=2.0), "level"),
        (lambda: proper_score([1.0, 2.0], [0.5], "pinball"), "shape"),
        (lambda: proper_score([1, 0], [np.nan, 0.5], "brier"), "probabilities"),
        (lambda: three_way_split(2), "three rows"),
    ):
        with pytest.raises(DataError, match=message):
            wrong()


def test_no_alarm_without_a_gap():
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(100):
        y, pred, group = rng.integers(0, 2, (3, 300))
        alarms += (audit(y, pred, group).gaps["p_adjusted"] < 0.05).any()
    assert alarms <= 12  # five rates at once, five percent in all


def test_map_of_all_models():
    table = model_map()
    assert table.loc["GaussianMixture", ["family", "setting", "generative"]].tolist() == [
        "mixture",
        "unsupervised",
        True,
    ]
    assert table.loc["LogisticRegression", ["setting", "output", "probabilistic", "generative"]].tolist() == [
        "supervised", "labels", True, False,
    ]  # fmt: skip
    assert table.loc["GaussianHMM", "setting"] == "sequential" and table.loc["KMeans", "scales"]
    assert not table.loc["RandomForestClassifier", "parametric"] and table.loc["GaussianNB", "generative"]
    some = model_map(setting="unsupervised", probabilistic=True)
    assert 0 < len(some) < len(table) and (some["setting"] == "unsupervised").all()
    with pytest.raises(DataError, match="Did you mean 'setting'"):
        model_map(seting="x")


# probabilistic, generative, parametric, incremental, iterative, scales, sparse, missing
KINDS = """
    GaussianNB                 bayes         supervised    labels       p g m i t s - n
    LinearSVC                  linear        supervised    labels       - - m - t s x -
    LogisticRegression         linear        supervised    labels       p - m - t s x -
    Ridge                      linear        supervised    numbers      - - m i t s x -
    LinearRegression           linear        supervised    numbers      p - m i t s x -
    GaussianProcessRegressor   gp            supervised    numbers      p - - i t - - -
    KNeighborsRegressor        neighbors     supervised    numbers      - - - - t - x -
    RandomForestClassifier     ensemble      supervised    labels       p - - - t - x n
    DecisionTreeRegressor      trees         supervised    numbers      p - - - t - x n
    KMeans                     cluster       unsupervised  labels       - - m i t s x -
    SoftKMeans                 cluster       unsupervised  labels       p - m - t s - -
    GaussianMixture            mixture       unsupervised  density      p g m i t s - n
    VariationalAutoencoder     neural        unsupervised  density      p g m - t - - -
    LatentDirichletAllocation  topics        unsupervised  coordinates  p g m i t s x -
    TruncatedSVD               decomposition unsupervised  coordinates  - - m - t s x -
    MDS                        decomposition unsupervised  coordinates  - - m - t - - -
    TransactionEncoder         association   unsupervised  coordinates  - - m - - - - -
    NearestNeighbors           neighbors     unsupervised  numbers      - - - - t - x -
    GaussianHMM                sequence      sequential    states       p g m - t s - n
    MarkovRanker               ranking       sequential    numbers      - - m i t - - -
    QLearning                  decide        decision      numbers      - - m i t - - -
"""


@pytest.mark.parametrize("line", KINDS.split("\n")[1:-1], ids=lambda line: line.split()[0])
def test_the_map_says_what_a_model_is(line):
    name, *words, marks = line.split(None, 4)
    row = model_map().loc[name].tolist()
    assert row == words + [mark != "-" for mark in marks.split()]


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b"], [False, True]])
def test_rows_never_tested_have_no_prediction(labels):
    from sklearn.model_selection import TimeSeriesSplit

    X = np.arange(12.0)[:, None]
    y = np.array(labels)[np.arange(12) % 2]
    found = evaluate(LogisticRegression(), X, y, cv=TimeSeriesSplit(3))
    missing = [value is None or value != value for value in found.predictions.tolist()]
    assert missing == [True] * 3 + [False] * 9
    assert found.pooled == pytest.approx(np.mean(found.predictions[3:] == y[3:]))


def test_parts_by_group_are_never_empty():
    for sizes in ([98, 1, 1], [1, 98, 1], [1, 1, 98], [30, 1, 1, 1], [1, 1, 1]):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        for seed in range(8):
            parts = three_way_split(len(groups), groups=groups, random_state=seed)
            assert all(len(part) for part in parts)
            assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
            assert sum(len(set(groups[part].tolist())) for part in parts) == len(sizes)  # none is cut
    for fractions in ((0.5, 0.5), (0.5, 0.6, -0.1), (0.5, 0.5, 0.5), (1.0, 0.0, 0.0)):
        with pytest.raises(DataError, match="three positive numbers"):
            three_way_split(10, fractions)


def test_one_split_has_no_standard_error():
    assert one_standard_error({"split0_test_score": np.array([0.8, 0.9, 0.85])}) == 1
