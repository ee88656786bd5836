"""What takes long: the same bits on one thread and on two, and it tells how far it is."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV

import gnomon
from gnomon.bayes import GaussianNB
from gnomon.linear import Lasso, LinearRegression, LogisticRegression, Ridge
from gnomon.mixture import GaussianMixture
from gnomon.selection import (
    CalibratedClassifier,
    ConformalClassifier,
    ConformalRegressor,
    auc_interval,
    bias_variance,
    bootstrap,
    bootstrap_error,
    choose_order,
    compare_many,
    compare_scores,
    evaluate,
    jackknife,
    stability_selection,
)
from gnomon.theory import FiniteTable, Intervals, RectangleLearner, Thresholds, simulate_deviation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=90)
SIDES = (Y > 0).astype(int)
SCORES = RNG.normal(0.8, 0.1, (40, 3))
SEARCH = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
LONG = {
    "bootstrap": lambda: bootstrap(np.median, Y, n_resamples=200, random_state=0),
    "bootstrap, bca": lambda: bootstrap("mean", Y, n_resamples=200, method="bca", random_state=0),
    "bootstrap, exact": lambda: bootstrap(np.median, Y[:5], exact=True),
    "jackknife": lambda: jackknife(np.median, Y),
    "area": lambda: auc_interval(SIDES, Y, method="bootstrap", n_resamples=200, random_state=0),
    "bootstrap of pairs": lambda: compare_many(SCORES, test="bootstrap", n_resamples=600, random_state=0),
    "permutation of pairs": lambda: compare_many(SCORES, test="permutation", n_resamples=600, random_state=0),
    "permutation": lambda: compare_scores(*SCORES.T[:2], test="permutation", n_resamples=600, random_state=0),
    "evaluate": lambda: evaluate(LinearRegression(), X, Y)[:6],
    "evaluate, nested": lambda: evaluate(SEARCH, X, Y)[:6],
    "orders": lambda: choose_order(
        GaussianMixture(random_state=0), "n_components", [1, 2], X, n_resamples=3, random_state=0
    ).table.to_numpy(),
    "stability": lambda: stability_selection(Lasso(alpha=0.3), X, Y, n_resamples=9, random_state=0),
    "bias and variance": lambda: bias_variance(
        LinearRegression(),
        lambda rng: (X, Y + rng.normal(size=90)),
        X[:4],
        truth=Y[:4],
        n_sets=9,
        random_state=0,
    ),
    "error by the bootstrap": lambda: bootstrap_error(
        LogisticRegression(), X, SIDES, n_resamples=9, random_state=0
    ),
    "conformal": lambda: ConformalRegressor(method="cv+", random_state=0).fit(X, Y).predict_interval(X),
    "jackknife+": lambda: ConformalRegressor(method="jackknife+").fit(X[:20], Y[:20]).predict_interval(X),
    "sets": lambda: (
        ConformalClassifier(GaussianNB(), method="cv+", random_state=0).fit(X, SIDES).predict_set(X)
    ),
    "calibrated": lambda: CalibratedClassifier(GaussianNB()).fit(X, SIDES).predict_proba(X),
    "deviations": lambda: simulate_deviation(stats.bernoulli(0.3), 20, 0.1, n_trials=600, random_state=0),
    "boxes": lambda: RectangleLearner.game(20, n_trials=50, random_state=0),
    "ghost samples": lambda: Thresholds().ghost_sample(
        (6.0, 1), np.arange(20), 30, 0.1, n_trials=30, random_state=0
    ),
    "adversary": lambda: Intervals(None).adversary(5, n_trials=30, random_state=0),
    "VC search": lambda: FiniteTable(RNG.integers(0, 2, (9, 5))).vc_search(np.arange(5)).dimension,
}


@pytest.mark.parametrize("name", [name for name in LONG if name != "VC search"])
def test_one_thread_and_two_give_the_same_bits(name):
    found = []
    for count in (1, 2):
        with gnomon.threads(count):
            found.append(pickle.dumps(LONG[name]()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", list(LONG))
@pytest.mark.parametrize("count", [1, 2])
def test_it_tells_how_far_it_is(name, count):
    told = []
    with gnomon.threads(count), gnomon.progress(lambda *one: told.append(one)):
        LONG[name]()
    what, _, total = told[0]
    mine = [one for one in told if one[0] == what]
    assert (
        mine[0][1] == 0
        and total
        and [one[1] for one in mine][: total + 1] == list(range(len(mine)))[: total + 1]
    )
    assert mine[-1][1] == total or name == "VC search"  # the search ends when nothing larger is left
    assert LONG[name]() is not None and mine == [one for one in told if one[0] == what]  # silent outside
