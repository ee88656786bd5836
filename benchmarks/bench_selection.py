"""Evaluation against scikit-learn, SciPy and MAPIE: the same statistic, the same resamples in number."""

from __future__ import annotations

from functools import cache

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


def our_intervals(data):
    from gnomon.linear import LinearRegression
    from gnomon.selection import ConformalRegressor

    model = ConformalRegressor(LinearRegression(), method="cv+", cv=10, random_state=0).fit(data[0], data[1])
    return model.predict_interval(data[2], 0.9)


def mapie_intervals(data):
    from mapie.regression import CrossConformalRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold

    folds = KFold(10, shuffle=True, random_state=0)
    model = CrossConformalRegressor(LinearRegression(), confidence_level=0.9, method="plus", cv=folds)
    ends = model.fit_conformalize(data[0], data[1]).predict_interval(data[2])[1]
    return ends[:, 0, 0], ends[:, 1, 0]


def miss(found, data):
    low, high = found
    return abs(float(np.mean((low <= data[3]) & (data[3] <= high))) - 0.9)


def squares(found, data):
    return float(np.mean((found - data[1]) ** 2))


CASES = [
    Case("bootstrap of a mean n=10k B=10k", data=lambda: numbers(10_000), ours=our_bootstrap,
         peers={"scipy": scipy_bootstrap}, goal=20.0),
    Case("area with interval n=100k", data=lambda: scored(100_000), ours=our_delong,
         peers={"scikit-learn (200 resamples)": looped_area}, goal=20.0, note="DeLong against a loop of resamples"),
    Case("paired bootstrap of two areas n=10k B=2k", data=lambda: scored(10_000), ours=our_area_difference,
         peers={"scikit-learn (loop)": looped_area_difference}, goal=50.0),
    Case("isotonic calibration n=1M", data=lambda: forecasts(1_000_000), ours=our_isotonic,
         peers={"scikit-learn": their_isotonic}, quality=squares, goal=1.0),
    Case("confusion table n=10M", data=lambda: labels(10_000_000), ours=our_table,
         peers={"scikit-learn": their_table}, goal=5.0),
    Case("conformal cv+ n=5k, 5k new rows", data=lambda: line(5000), ours=our_intervals,
         peers={"mapie": mapie_intervals},
         quality=miss, tolerance=0.5, goal=3.0),
]  # fmt: skip
