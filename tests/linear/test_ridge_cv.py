"""Ridge paths and the choice of the penalty: every shortcut against the refits it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit

from gnomon.core.errors import DataError
from gnomon.linear import Ridge, RidgeCV, ridge_path

ALPHAS = np.array([1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0])


def seeded(seed, n=25, d=3, t=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return X, rng.normal(size=(n, t)) if t else X @ rng.normal(size=d) + rng.normal(size=n)


def omitted(X, y, alpha, intercept, s=None):
    """Leave-one-out errors by refitting; a weight is that many rows, of which one is left out."""
    s = np.ones(len(y)) if s is None else s
    errors = []
    for i in range(len(y)):
        less = s.astype(float)
        less[i] -= min(1.0, less[i])
        model = Ridge(alpha, fit_intercept=intercept).fit(X, y, less)
        errors.append(y[i] - model.predict(X[i : i + 1])[0])
    return np.array(errors)


def test_leave_one_out_residuals_by_hand():
    """R3: (1, −1/2, 1)."""
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    model = RidgeCV([0.0], store_cv_results=True).fit(x, y)
    np.testing.assert_allclose(model.cv_results_[:, 0], [1.0, 0.25, 1.0], rtol=1e-9)
    held = RidgeCV([0.0], store_cv_results=True, scoring="neg_mean_squared_error").fit(x, y)
    np.testing.assert_allclose(y - held.cv_results_[:, 0], [1.0, -0.5, 1.0], rtol=1e-9)


def test_diabetes():
    """R44."""
    X, y = load_diabetes(return_X_y=True)
    model = RidgeCV(ALPHAS).fit(X, y)
    expected = [
        3000.65707967,
        3000.39244740,
        3004.61662106,
        3327.65510456,
        4851.09765153,
        5794.72542221,
        5939.81814747,
    ]
    assert model.alpha_ == 0.01
    np.testing.assert_allclose(-model.scores_, expected, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, Ridge(0.01).fit(X, y).coef_, rtol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([0.01, 1.0, 30.0]), st.booleans(), st.booleans())
def test_leave_one_out_equals_refitting(seed, alpha, intercept, weighted):
    X, y = seeded(seed)
    s = np.random.default_rng(seed).integers(1, 4, size=len(y)) if weighted else None
    model = RidgeCV([alpha], fit_intercept=intercept).fit(X, y, s)
    errors = omitted(X, y, alpha, intercept, s)
    np.testing.assert_allclose(-model.best_score_, np.average(errors**2, weights=s), rtol=1e-7)


@given(st.integers(0, 10_000))
def test_weight_is_repetition(seed):
    X, y = seeded(seed)
    s = np.random.default_rng(seed).integers(0, 3, size=len(y))
    a = RidgeCV(ALPHAS).fit(X, y, s)
    b = RidgeCV(ALPHAS).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-8)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8)


def test_generalized_cross_validation():
    X, y = seeded(1)
    model = RidgeCV(ALPHAS, gcv_mode="gcv").fit(X, y)
    for alpha, score in zip(ALPHAS, model.scores_, strict=True):
        fit = Ridge(alpha).fit(X, y)
        rss, freedom = ((y - fit.predict(X)) ** 2).sum(), len(y) - fit.dof_ - 1
        np.testing.assert_allclose(-score, len(y) * rss / freedom**2, rtol=1e-9)


@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_folds_equal_refitting(cv, intercept, scoring):
    X, y = seeded(2, n=41)
    ours = RidgeCV(ALPHAS, cv=cv, pool=False, fit_intercept=intercept, scoring=scoring).fit(X, y)
    search = GridSearchCV(Ridge(fit_intercept=intercept), {"alpha": ALPHAS}, cv=cv, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(ours.scores_, search.cv_results_["mean_test_score"], rtol=1e-7)
    assert ours.alpha_ == search.best_params_["alpha"]


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_pooled_scores_all_held_out_rows_together(scoring):
    X, y = seeded(3, n=23)
    model = RidgeCV(ALPHAS, cv=KFold(5), scoring=scoring).fit(X, y)
    for alpha, score in zip(ALPHAS, model.scores_, strict=True):
        held = np.empty(len(y))
        for train, test in KFold(5).split(X):
            held[test] = Ridge(alpha).fit(X[train], y[train]).predict(X[test])
        np.testing.assert_allclose(
            score, 1 - ((y - held) ** 2).sum() / ((y - y.mean()) ** 2).sum(), rtol=1e-8
        )


def test_a_penalty_for_each_target():
    X, Y = seeded(4, t=2)
    both = RidgeCV(ALPHAS, alpha_per_target=True).fit(X, Y)
    for t in range(2):
        one = RidgeCV(ALPHAS).fit(X, Y[:, t])
        assert both.alpha_[t] == one.alpha_
        np.testing.assert_allclose(both.coef_[t], one.coef_, rtol=1e-9)
    shared = RidgeCV(ALPHAS).fit(X, Y)
    np.testing.assert_allclose(shared.scores_, both.scores_.mean(axis=0), rtol=1e-9)


@given(st.integers(0, 10_000), st.booleans())
def test_path_equals_single_fits(seed, intercept):
    X, y = seeded(seed)
    path = ridge_path(X, y, ALPHAS, fit_intercept=intercept)
    for k, alpha in enumerate(ALPHAS):
        one = Ridge(alpha, fit_intercept=intercept).fit(X, y)
        np.testing.assert_allclose(path.coefs[:, k], one.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(path.intercepts[k], one.intercept_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(path.dofs[k], one.dof_, rtol=1e-9)
        np.testing.assert_allclose(path.train_errors[k], np.mean((y - one.predict(X)) ** 2), rtol=1e-8)


def test_path_of_several_targets():
    X, Y = seeded(5, t=2)
    path = ridge_path(X, Y, ALPHAS)
    assert path.coefs.shape == (2, 3, 7) and path.intercepts.shape == (2, 7)
    np.testing.assert_allclose(path.coefs[1], ridge_path(X, Y[:, 1], ALPHAS).coefs, rtol=1e-10)


@pytest.mark.parametrize(
    "alphas, options, message",
    [
        ([], {}, "empty"),
        ([1.0, -1.0], {}, r"alphas\[1\] == -1.0, must be >= 0"),
        ([1.0, np.inf], {}, "finite"),
        ([1.0], {"cv": 3, "alpha_per_target": True}, "cv=None"),
    ],
)
def test_bad_options(alphas, options, message):
    X, y = seeded(6)
    with pytest.raises(ValueError, match=message):
        RidgeCV(alphas, **options).fit(X, y)


def test_penalties_are_numbers():
    X, y = seeded(6)
    with pytest.raises(TypeError, match=r"alphas\[1\] must be an instance of float, not str"):
        RidgeCV([1.0, "2"]).fit(X, y)


def test_leverage_one_is_named():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    with pytest.raises(DataError, match="leverage 1"):
        RidgeCV([0.0, 1.0]).fit(X, np.arange(4.0))
    alone = RidgeCV([0.0]).fit(X, np.arange(4.0))  # nothing is to be chosen
    np.testing.assert_allclose(alone.coef_, Ridge(0.0).fit(X, np.arange(4.0)).coef_, atol=1e-12)
    assert alone.best_score_ == -np.inf


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn.linear_model import RidgeCV as Peer

    X, y = load_diabetes(return_X_y=True)
    for options in ({}, {"fit_intercept": False}, {"scoring": "neg_mean_absolute_error"}):
        ours, theirs = RidgeCV(ALPHAS, **options).fit(X, y), Peer(ALPHAS, **options).fit(X, y)
        assert ours.alpha_ == theirs.alpha_
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_few_rows_of_many_columns_lose_no_digits(intercept, weighted):
    rng = np.random.default_rng(0)
    X, alphas = rng.normal(size=(10, 40)), (1e-4, 1e-2, 1.0, 1e6)
    y = X @ rng.normal(size=40) + rng.normal(size=10)
    s = np.ones(10) if weighted else None
    model = RidgeCV(alphas, fit_intercept=intercept, scoring="r2", store_cv_results=True).fit(X, y, s)
    for j, alpha in enumerate(alphas):
        for i in range(10):
            rest = np.arange(10) != i
            single = Ridge(alpha, fit_intercept=intercept, solver="svd").fit(X[rest], y[rest])
            np.testing.assert_allclose(model.cv_results_[i, j], single.predict(X[i : i + 1])[0], rtol=1e-6)
