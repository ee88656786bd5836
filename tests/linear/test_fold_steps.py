"""Cross-validated models show their folds: each is a step with a name, and a killed fit does not repeat it."""

import numpy as np
import pytest
from sklearn.base import clone

import gnomon
from compare import assert_same_bits
from gnomon.core.callbacks import Checkpoint
from gnomon.linear import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV, lars_path, lasso_path
from killing import Killed


def table(classes=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, -2.0, 0.0, 0.0] + 0.3 * rng.normal(size=60)
    return X, (y > 0).astype(int) if classes else y


MODELS = [
    (LassoCV(cv=4, n_alphas=7), False, 5),
    (ElasticNetCV(l1_ratio=[0.3, 0.9], cv=3, n_alphas=5), False, 7),
    (RidgeCV([0.1, 1.0, 10.0], cv=4), False, 5),
    (RidgeCV([0.1, 1.0, 10.0], cv=3, scoring="neg_mean_absolute_error", pool=False), False, 4),
    (LogisticRegressionCV(Cs=3, cv=3), True, 4),
    (LogisticRegressionCV(Cs=3, cv=3, l1_ratios=[0.0, 0.5]), True, 7),
]


@pytest.mark.parametrize("model, classes, steps", MODELS, ids=repr)
def test_every_fold_is_a_step_and_the_last_fits_all_rows(model, classes, steps):
    X, y = table(classes)
    seen = list(clone(model).iterate(X, y))
    fitted = clone(model).fit(X, y)
    assert len(seen) == len(fitted.trace_) == steps
    assert np.isnan(fitted.trace_.objective[:-1]).all() and np.isfinite(fitted.trace_.objective[-1])
    assert_same_bits(fitted.coef_, seen[-1].coef_)
    assert all(one.predict(X).shape == y.shape for one in seen)


def test_the_columns_of_the_trace_are_the_best_of_every_fold():
    X, y = table()
    model = LassoCV(cv=4, n_alphas=7).fit(X, y)
    np.testing.assert_array_equal(model.trace_["held_out_error"][:-1], model.mse_path_.min(axis=0))
    np.testing.assert_array_equal(model.trace_["alpha"][:-1], model.alphas_[model.mse_path_.argmin(axis=0)])
    assert model.trace_[-1] == model.mse_path_.mean(axis=1).min()
    first = next(iter(clone(model).iterate(X, y)))
    train = np.arange(60) >= 15
    alone = gnomon.linear.Lasso(first.alpha_, tol=1e-12).fit(X[train], y[train])
    np.testing.assert_allclose(first.coef_, alone.coef_, atol=1e-2)


@pytest.mark.parametrize("model, classes, steps", MODELS, ids=repr)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_killed_fit_goes_on_with_the_folds_that_are_missing(
    model, classes, steps, threads, tmp_path, monkeypatch
):
    X, y = table(classes)
    whole, cls, asked = clone(model).fit(X, y), type(model), []
    piece = cls._piece

    def counted(self, plan, task):
        asked.append(task)
        return piece(self, plan, task)

    path = tmp_path / "fit.checkpoint"
    with gnomon.threads(threads):
        with pytest.raises(KeyboardInterrupt):
            clone(model).set_callbacks(Checkpoint(path, every_seconds=0), Killed(2)).fit(X, y)
        monkeypatch.setattr(cls, "_piece", counted)
        again = clone(model).set_callbacks(Checkpoint(path, every_seconds=0)).fit(X, y)
    assert len(asked) == steps - 3  # two folds were done, and the last step is no fold
    assert_same_bits(again.coef_, whole.coef_)
    assert len(again.trace_) == steps


def test_the_folds_of_a_ridge_are_ridges():
    X, y = table()
    seen = list(RidgeCV([0.1, 1.0, 10.0], cv=4).iterate(X, y))
    for fold, one in enumerate(seen[:-1]):
        held = np.arange(15 * fold, 15 * fold + 15)
        train = np.setdiff1d(np.arange(60), held)
        alone = gnomon.linear.Ridge(one.alpha_).fit(X[train], y[train])
        np.testing.assert_allclose(one.coef_, alone.coef_, rtol=1e-10)
        error = np.mean((alone.predict(X[held]) - y[held]) ** 2)
        np.testing.assert_allclose(seen[-1].trace_["held_out_error"][fold], error, rtol=1e-10)
    assert seen[-1].trace_[-1] == seen[-1].best_score_


def test_a_generator_of_folds_is_used_up_once():
    X, y = table()
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    seen = LassoCV(cv=iter(folds), n_alphas=5).fit(X, y)
    assert_same_bits(seen.coef_, LassoCV(cv=folds, n_alphas=5).fit(X, y).coef_)
    assert len(seen.trace_) == 3


def test_paths_tell_of_every_penalty_and_every_knot():
    X, y = table()
    told = []
    with gnomon.progress(lambda *what: told.append(what)):
        alphas, coefs, _ = lasso_path(X, y, n_alphas=6)
        knots = lars_path(X, y, method="lasso").alphas
    assert told[:7] == [("path of penalties", done, 6) for done in range(7)]
    assert told[7:] == [("knots of the path", done, None) for done in range(len(knots))]
    assert_same_bits(lasso_path(X, y, n_alphas=6)[1], coefs)
