"""Several columns of classes: one tree or forest for all of them."""

import numpy as np
import pytest
from sklearn.base import clone

from gnomon import load, save
from gnomon.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    first = np.where(X[:, 0] > 0, "yes", "no")
    second = np.where(X[:, 1] > 0.3, "red", np.where(X[:, 2] > 0, "green", "blue"))
    return X, np.stack([first, second], axis=1)


def test_the_split_has_the_largest_mean_gain_by_hand():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    root = (0.5 + 0.375) / 2  # Gini's indices of the two columns
    assert model.tree_.impurity[0] == pytest.approx(root)
    assert model.tree_.feature[0] == 0
    np.testing.assert_allclose(model.tree_.impurity[1:], [0.0, (0.0 + 0.5) / 2])
    np.testing.assert_allclose(model.tree_.value[2], [[0.0, 1.0], [0.5, 0.5]])


def test_same_column_twice_is_the_tree_of_one():
    X, y = table()
    for options in (
        {},
        {"max_depth": 3},
        {"ccp_alpha": 0.01},
        {"min_impurity_decrease": 0.01},
        {"max_leaf_nodes": 5},
    ):
        one = DecisionTreeClassifier(**options).fit(X, y[:, 1])
        two = DecisionTreeClassifier(**options).fit(X, y[:, [1, 1]])
        np.testing.assert_array_equal(one.tree_.feature, two.tree_.feature)
        np.testing.assert_allclose(one.tree_.impurity, two.tree_.impurity, atol=1e-12)
        np.testing.assert_allclose(two.predict_proba(X)[1], one.predict_proba(X), atol=1e-12)
        np.testing.assert_array_equal(two.predict(X)[:, 0], one.predict(X))


@pytest.mark.parity
@pytest.mark.parametrize(
    "weight", [None, "balanced", [{"no": 1, "yes": 3}, {"red": 1, "green": 2, "blue": 5}]]
)
def test_same_as_scikit_learn(weight):
    from sklearn.tree import DecisionTreeClassifier as Theirs

    X, y = table(1)
    ours = DecisionTreeClassifier(max_depth=2, class_weight=weight).fit(X, y)
    theirs = Theirs(max_depth=2, class_weight=weight).fit(X, y)
    for a, b in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(9, random_state=0, oob_score=True),
        ExtraTreesClassifier(9, random_state=0),
        RandomForestClassifier(9, random_state=0, class_weight="balanced_subsample"),
    ],
)
def test_forests_of_several_outputs(model, tmp_path):
    X, y = table(2)
    model = clone(model).fit(X, y)
    shares = model.predict_proba(X)
    assert [s.shape for s in shares] == [(120, 2), (120, 3)] and model.n_classes_ == [2, 3]
    for s in shares:
        np.testing.assert_allclose(s.sum(axis=1), 1.0)
    assert (model.predict(X) == y).mean() > 0.95
    mean = [np.mean([tree.predict_proba(X)[o] for tree in model.estimators_], axis=0) for o in range(2)]
    np.testing.assert_allclose(shares[1], mean[1], atol=1e-12)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    if model.oob_score:
        assert 0.5 < model.oob_score_ < 1.0 and model.oob_decision_function_.shape == (120, 3, 2)


def test_samples_paths_and_parameters_of_a_forest():
    X, y = table(3)
    weight = np.r_[np.zeros(20), np.ones(100)]
    model = RandomForestClassifier(4, random_state=0, max_depth=3).fit(X, y[:, 0], weight)
    samples = model.estimators_samples_
    assert [len(s) for s in samples] == [100] * 4 and min(s.min() for s in samples) >= 20
    again = DecisionTreeClassifier(max_depth=3, max_features="sqrt", max_bins=255)
    assert model.estimators_[0].get_params()["max_depth"] == 3
    assert type(model.estimator_) is type(again)
    paths, starts = model.decision_path(X)
    assert paths.shape == (120, starts[-1]) and len(starts) == 5
    leaves = model.apply(X)
    for t in range(4):
        assert paths[np.arange(120), starts[t] + leaves[:, t]].sum() == 120
    plain = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(X, y[:, 0])
    np.testing.assert_array_equal(plain.estimators_samples_[1], np.arange(120))


def test_the_tree_of_a_sample_is_that_of_the_forest():
    X, y = table(4)
    model = RandomForestRegressor(2, random_state=1, max_features=None, max_bins=None).fit(X, X[:, 0] * 3)
    rows = model.estimators_samples_[1]
    tree = DecisionTreeRegressor().fit(X[rows], X[rows, 0] * 3)
    np.testing.assert_allclose(tree.predict(X), model.estimators_[1].predict(X))


def test_forest_of_medians():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + np.where(rng.random(80) < 0.1, 50.0, 0.0)
    forest = RandomForestRegressor(10, criterion="absolute_error", max_depth=3, random_state=0).fit(X, y)
    rows = forest.estimators_samples_[0]
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=3).fit(X[rows], y[rows])
    np.testing.assert_allclose(forest.estimators_[0].predict(X), tree.predict(X))
    assert np.median(np.abs(forest.predict(X) - X[:, 0])) < 1.0


def test_trees_of_a_warm_start_are_judged_later():
    X, y = table(5)
    whole = RandomForestClassifier(12, random_state=0, oob_score=True).fit(X, y[:, 0])
    parts = RandomForestClassifier(5, random_state=0, warm_start=True).fit(X, y[:, 0])
    parts.set_params(n_estimators=12, oob_score=True).fit(X, y[:, 0])
    np.testing.assert_allclose(parts.oob_decision_function_, whole.oob_decision_function_)
    with pytest.warns(UserWarning, match="without increasing"):
        parts.fit(X, y[:, 0])
    assert parts.oob_score_ == whole.oob_score_
