"""Boosting: what ends it, what it starts from, and how it goes on."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline

from gnomon.core.errors import DataError
from gnomon.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)


def table(seed=0, n=120, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + rng.normal(size=n), [0.0] if classes == 2 else [-0.5, 0.5])


def test_a_score_of_given_rows_ends_boosting():
    X, y = table()
    model = HistGradientBoostingClassifier(
        max_iter=100, early_stopping=True, scoring="accuracy", n_iter_no_change=4, tol=0.0, min_samples_leaf=5
    )
    model.fit(X[:80], y[:80], X_val=X[80:], y_val=y[80:])
    scores = [accuracy_score(y[80:], guess) for guess in model.staged_predict(X[80:])]
    np.testing.assert_allclose(model.validation_score_, scores)
    assert model.n_iter_ == len(scores) < 100
    assert max(scores[-4:]) <= scores[-5]  # no better for four rounds, and never before
    assert all(max(scores[k + 1 : k + 5]) > scores[k] for k in range(len(scores) - 5))


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "loss"])
def test_without_held_out_rows_the_training_rows_are_judged_by(scoring):
    X, y = table(classes=3)
    model = HistGradientBoostingClassifier(
        max_iter=60,
        early_stopping=True,
        scoring=scoring,
        validation_fraction=None,
        n_iter_no_change=3,
        tol=0.02,
    ).fit(X, y)
    assert model.n_iter_ < 60 and len(model.validation_score_) == 0
    if scoring is None:
        expected = [accuracy_score(y, guess) for guess in model.staged_predict(X)]
        np.testing.assert_allclose(model.train_score_, expected)
    elif scoring == "neg_log_loss":
        expected = [np.log(p[np.arange(len(y)), y]).mean() for p in model.staged_predict_proba(X)]
        np.testing.assert_allclose(model.train_score_, expected)


def test_given_rows_come_in_pairs_and_with_early_stopping():
    X, y = table(n=30)
    for given in ({"X_val": X}, {"y_val": y}):
        with pytest.raises(DataError, match="was not provided"):
            HistGradientBoostingClassifier().fit(X, y, **given)
    with pytest.raises(DataError, match="early_stopping"):
        HistGradientBoostingClassifier(early_stopping=False).fit(X, y, X_val=X, y_val=y)


def test_infinite_entries_are_the_largest_numbers():
    X, y = np.array([-np.inf, 0.0, 1.0, np.inf])[:, None], np.array([0.0, 1.0, 1.0, 2.0])
    model = HistGradientBoostingRegressor(min_samples_leaf=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)
    far = np.array([[1.7e308], [-1.7e308]])
    np.testing.assert_array_equal(model.predict(far), model.predict(X)[[3, 0]])


@pytest.mark.parametrize("kind", [HistGradientBoostingRegressor, GradientBoostingRegressor])
def test_a_warm_start_goes_on_from_the_scores_of_the_rows_it_is_given(kind):
    X, y = table()
    other, target = table(1, n=90)
    rounds = "max_iter" if kind is HistGradientBoostingRegressor else "n_estimators"
    model = kind(**{rounds: 3}, warm_start=True, random_state=0).fit(X, y)
    start = model.predict(other)
    model.set_params(**{rounds: 4}).fit(other, target)
    tree = model.rounds_[3][0]
    step = tree.value[tree.apply(other), 0, 0]
    np.testing.assert_allclose(model.predict(other), start + step)
    leaf = tree.apply(other) == tree.apply(other)[0]
    assert step[0] == pytest.approx(0.1 * (target - start)[leaf].mean())
    assert model.n_iter_ == 4 and len(model.fit(other, target).rounds_) == 4
    with pytest.raises(DataError, match=f"{rounds}=2 must be larger than or equal to n_iter_=4"):
        model.set_params(**{rounds: 2}).fit(other, target)


def test_scores_out_of_the_bag_fall_by_the_improvements():
    X, y = table(classes=3)
    model = GradientBoostingClassifier(n_estimators=6, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_scores_.shape == model.oob_improvement_.shape == (6,)
    assert model.oob_score_ == model.oob_scores_[-1]
    start = np.log(np.bincount(y) / len(y))  # the loss before the first round, of about these rows
    assert model.oob_scores_[0] + model.oob_improvement_[0] == pytest.approx(-start[y].mean(), rel=0.05)
    warm = GradientBoostingRegressor(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=5, subsample=0.5).fit(X, y)
    np.testing.assert_array_equal(warm.oob_scores_[:3], np.zeros(3))
    assert (warm.oob_scores_[3:] > 0).all()


def test_constraints_by_name_are_those_by_place():
    import pandas as pd

    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = HistGradientBoostingRegressor(max_iter=5, monotonic_cst={"b": -1, "a": 1}).fit(frame, y)
    placed = HistGradientBoostingRegressor(max_iter=5, monotonic_cst=[1, -1, 0]).fit(frame, y)
    np.testing.assert_array_equal(named.predict(frame), placed.predict(frame))
    free = HistGradientBoostingRegressor(max_iter=5).fit(frame, y)
    assert (named.predict(frame) != free.predict(frame)).any()
    for rows in (frame, X):
        with pytest.raises(DataError, match="'z'"):
            HistGradientBoostingRegressor(monotonic_cst={"z": 1}).fit(rows, y)
    with pytest.raises(DataError, match=r"names \['u', 'v', 'w', 'x', 'y', 'z'\]"):  # in order
        HistGradientBoostingRegressor(monotonic_cst=dict.fromkeys("zxvuwya", 1)).fit(frame, y)


def test_trees_of_boosting_have_its_parameters():
    X, y = table(n=40)
    model = GradientBoostingRegressor(
        n_estimators=2, max_features=0.7, min_impurity_decrease=0.01, max_depth=2
    )
    assert not hasattr(model, "max_features_")
    trees = model.fit(X, y).estimators_.ravel()
    assert model.max_features_ == trees[0].max_features_ == 2
    assert [tree.get_params()["min_impurity_decrease"] for tree in trees] == [0.01, 0.01]
    assert [tree.get_params()["max_depth"] for tree in trees] == [2, 2]


def test_boosting_starts_from_a_model():
    X, y = table()
    target = 2.0 * X[:, 0] - X[:, 1]
    model = GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(X, target)
    np.testing.assert_allclose(model.predict(X), target, atol=1e-9)
    for classes in (2, 3):
        X, y = table(classes=classes)
        for init, weight in ((DummyClassifier(), np.arange(120) + 1.0), (DummyClassifier(), None)):
            one = GradientBoostingClassifier(n_estimators=5, init=init, random_state=0).fit(X, y, weight)
            other = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y, weight)
            np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X))
            stages = list(one.staged_predict_proba(X))
            np.testing.assert_allclose(stages[-1], one.predict_proba(X))
    with pytest.raises(DataError, match="Pipeline does not support sample weights"):
        GradientBoostingRegressor(init=make_pipeline(DummyRegressor())).fit(X, y, np.ones(120))
