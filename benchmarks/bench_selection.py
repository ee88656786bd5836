"""Evaluation against scikit-learn, SciPy and MAPIE: the same statistic, the same resamples in number."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from case import Case


@cache
def numbers(n):
    return np.random.default_rng(0).exponential(size=n)


@cache
def scored(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return y, y + rng.normal(size=n), y + 1.3 * rng.normal(size=n)


@cache
def forecasts(n):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return p, (rng.random(n) < p**1.5).astype(int)


@cache
def labels(n):
    rng = np.random.default_rng(0)
    return rng.integers(0, 10, n), rng.integers(0, 10, n)


@cache
def line(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 5000, 10))
    y = X @ np.arange(10.0) + rng.normal(size=n + 5000)
    return X[:n], y[:n], X[n:], y[n:]


def our_bootstrap(x):
    from gnomon.selection import bootstrap

    found = bootstrap("mean", x, n_resamples=10_000, random_state=0)
    return found.low, found.high


def scipy_bootstrap(x):
    from scipy.stats import bootstrap

    found = bootstrap(
        (x,), np.mean, n_resamples=10_000, method="percentile", batch=100, rng=0
    ).confidence_interval
    return found.low, found.high


def our_delong(data):
    from gnomon.selection import auc_interval

    return auc_interval(data[0], data[1]).auc


def looped_area(data):
    from sklearn.metrics import roc_auc_score

    y, s, _ = data
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, len(y), len(y)) for _ in range(200)]
    areas = [roc_auc_score(y[r], s[r]) for r in rows]
    return (roc_auc_score(y, s), np.quantile(areas, [0.025, 0.975]))[0]


def looped_delong(data):
    y, s, _ = data
    a, b = s[y == 1], s[y == 0]
    above = np.array([np.mean(b < x) + np.mean(b == x) / 2 for x in a])
    below = np.array([np.mean(a > x) + np.mean(a == x) / 2 for x in b])
    return (above.mean(), np.sqrt(above.var(ddof=1) / len(a) + below.var(ddof=1) / len(b)))[0]


@cache
def ten_models(n):
    """Held-out predictions of ten classifiers in ten folds."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return y, np.array([np.where(rng.random(n) < 0.2 + 0.005 * k, 1 - y, y) for k in range(10)])


PAIRS = [(i, j) for i in range(10) for j in range(i)]


def our_bootstrap_of_pairs(data):
    from gnomon.selection import compare_many

    return compare_many((data[1] != data[0]).T, test="bootstrap", n_resamples=500, random_state=0).pairs


def looped_bootstrap_of_pairs(data):
    from sklearn.metrics import accuracy_score

    y, said = data
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(500):
        rows = rng.integers(0, len(y), len(y))
        scores.append([accuracy_score(y[rows], one[rows]) for one in said])
    S = np.array(scores)
    return [2 * min(np.mean(S[:, i] <= S[:, j]), np.mean(S[:, i] >= S[:, j])) for i, j in PAIRS]


def our_permutation_of_pairs(data):
    from gnomon.selection import compare_many

    return compare_many((data[1] != data[0]).T, test="permutation", n_resamples=50, random_state=0).pairs


def looped_permutation_of_pairs(data):
    from sklearn.metrics import accuracy_score

    y, said = data
    rng, p = np.random.default_rng(0), []
    for i, j in PAIRS:
        seen, count = abs(accuracy_score(y, said[i]) - accuracy_score(y, said[j])), 0
        for _ in range(50):
            swap = rng.random(len(y)) < 0.5
            one, other = np.where(swap, said[j], said[i]), np.where(swap, said[i], said[j])
            count += abs(accuracy_score(y, one) - accuracy_score(y, other)) >= seen - 1e-12
        p.append((1 + count) / 51)
    return p


@cache
def fold_scores():
    return np.random.default_rng(0).normal(0.8, 0.02, (10, 10))


def our_permutation_of_folds(S):
    from gnomon.selection import compare_many

    return compare_many(S, test="permutation").pairs


def looped_permutation_of_folds(S):
    from scipy.stats import permutation_test

    return [
        permutation_test((S[:, i], S[:, j]), lambda a, b: np.mean(a - b), permutation_type="samples").pvalue
        for i, j in PAIRS
    ]


def our_area_difference(data):
    from gnomon.selection.areas import bootstrap_auc

    found = bootstrap_auc(data[0], [data[1], data[2]], 2000, 0)
    return float((found[:, 0] - found[:, 1]).mean())


def looped_area_difference(data):
    from sklearn.metrics import roc_auc_score

    y, a, b = data
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        rows = rng.integers(0, len(y), len(y))
        found.append(roc_auc_score(y[rows], a[rows]) - roc_auc_score(y[rows], b[rows]))
    return float(np.mean(found))


def our_isotonic(data):
    from gnomon.selection import calibrate

    return calibrate(*data)(data[0])


def their_isotonic(data):
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(*data).predict(data[0])


def our_table(data):
    from gnomon.selection import confusion_table

    return confusion_table(*data).counts


def their_table(data):
    from sklearn.metrics import confusion_matrix

    return confusion_matrix(*data)


def our_intervals(method):
    def intervals(data):
        from gnomon.linear import LinearRegression
        from gnomon.selection import ConformalRegressor

        model = ConformalRegressor(LinearRegression(), method=method, cv=10, random_state=0)
        return model.fit(data[0], data[1]).predict_interval(data[2], 0.9)

    return intervals


def mapie_split(data):
    from mapie.regression import SplitConformalRegressor
    from sklearn.linear_model import LinearRegression

    X, y, new, _ = data
    order = np.random.default_rng(0).permutation(len(y))
    held, learn = order[: len(y) // 4], order[len(y) // 4 :]
    model = SplitConformalRegressor(LinearRegression(), confidence_level=0.9, prefit=False).fit(
        X[learn], y[learn]
    )
    ends = model.conformalize(X[held], y[held]).predict_interval(new)[1]
    return ends[:, 0, 0], ends[:, 1, 0]


def mapie_cross(jackknife):
    def intervals(data):
        from mapie.regression import CrossConformalRegressor
        from sklearn.linear_model import LinearRegression
        from sklearn.model_selection import KFold, LeaveOneOut

        folds = LeaveOneOut() if jackknife else KFold(10, shuffle=True, random_state=0)
        model = CrossConformalRegressor(LinearRegression(), confidence_level=0.9, method="plus", cv=folds)
        ends = model.fit_conformalize(data[0], data[1]).predict_interval(data[2])[1]
        return ends[:, 0, 0], ends[:, 1, 0]

    return intervals


def miss(found, data):
    """How far the coverage lies outside the band that split conformal has by chance: equal coverage is zero."""
    from scipy.stats import betabinom

    (low, high), rows, scores = found, len(data[3]), len(data[1]) // 4
    k = int(np.ceil(0.9 * (scores + 1)))
    least, most = betabinom.ppf([1e-3, 1 - 1e-3], rows, k, scores + 1 - k) / rows
    share = float(np.mean((low <= data[3]) & (data[3] <= high)))
    return max(least - share, share - most, 0.0)


def squares(found, data):
    return float(np.mean((found - data[1]) ** 2))


CASES = [
    Case("bootstrap of a mean n=10k B=10k", data=partial(numbers, 10_000), ours=our_bootstrap,
         peers={"scipy": scipy_bootstrap}, goal=20.0),
    Case("area with interval n=100k", data=partial(scored, 100_000), ours=our_delong,
         peers={"scikit-learn (200 resamples)": looped_area}, goal=20.0, note="DeLong against a loop of resamples"),
    Case("DeLong's interval n=20k", data=partial(scored, 20_000), ours=our_delong,
         peers={"numpy (loop)": looped_delong}, goal=20.0),
    Case("bootstrap of all pairs, 10 models, 10 folds of 500 rows, B=500", data=partial(ten_models, 5000),
         ours=our_bootstrap_of_pairs, peers={"scikit-learn (loop)": looped_bootstrap_of_pairs}, goal=20.0),
    Case("permutation of all pairs, 10 models, 10 folds of 500 rows, B=50", data=partial(ten_models, 5000),
         ours=our_permutation_of_pairs, peers={"scikit-learn (loop)": looped_permutation_of_pairs}, goal=20.0),
    Case("permutation of fold scores, 10 models, 10 folds, all signs", data=fold_scores,
         ours=our_permutation_of_folds, peers={"scipy (loop)": looped_permutation_of_folds}, goal=20.0),
    Case("paired bootstrap of two areas n=10k B=2k", data=partial(scored, 10_000), ours=our_area_difference,
         peers={"scikit-learn (loop)": looped_area_difference}, goal=50.0),
    Case("isotonic calibration n=1M", data=partial(forecasts, 1_000_000), ours=our_isotonic,
         peers={"scikit-learn": their_isotonic}, quality=squares, goal=1.0),
    Case("confusion table n=10M", data=partial(labels, 10_000_000), ours=our_table,
         peers={"scikit-learn": their_table}, goal=5.0),
    Case("conformal split n=5k, 5k new rows", data=partial(line, 5000), ours=our_intervals("split"),
         peers={"mapie": mapie_split}, quality=miss, goal=3.0),
    Case("conformal cv+ n=5k, 5k new rows", data=partial(line, 5000), ours=our_intervals("cv+"),
         peers={"mapie": mapie_cross(False)}, quality=miss, goal=3.0),
    Case("conformal jackknife+ n=500, 5k new rows", data=partial(line, 500), ours=our_intervals("jackknife+"),
         peers={"mapie": mapie_cross(True)}, quality=miss, goal=3.0),
]  # fmt: skip
