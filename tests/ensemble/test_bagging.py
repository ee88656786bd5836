"""Bagging: which rows the members see."""

import numpy as np
import pytest

from gnomon.ensemble import BaggingClassifier, BaggingRegressor
from gnomon.trees import DecisionTreeClassifier


def test_members_without_replacement_see_different_rows():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=5, bootstrap=False, max_samples=0.5, random_state=0
    ).fit(X, y)
    samples = [tuple(np.sort(one)) for one in model.estimators_samples_]
    assert all(len(one) == 20 for one in samples)
    assert len(set(samples)) == 5


def test_members_are_counted_and_their_decisions_averaged():
    from gnomon.linear import LinearSVC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = BaggingClassifier(LinearSVC(), n_estimators=3, random_state=0).fit(X, y)
    mean = np.mean([member.decision_function(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean)
    assert len(model) == 3 and model[1] is model.estimators_[1]
    trees = BaggingClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert not hasattr(trees, "decision_function")
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(trees.predict_log_proba(X), np.log(trees.predict_proba(X)))


def test_samples_are_row_numbers_whatever_the_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    weight = np.r_[np.zeros(10), np.full(20, 2.5)]
    model = BaggingClassifier(n_estimators=3, random_state=0).fit(X, X[:, 0] > 0, sample_weight=weight)
    assert min(s.min() for s in model.estimators_samples_) >= 10
    plain = BaggingClassifier(n_estimators=2, bootstrap=False, random_state=0).fit(X, X[:, 0] > 0, weight)
    np.testing.assert_array_equal(plain.estimators_samples_[0], np.arange(10, 30))


def test_a_fit_that_returns_nothing_still_makes_a_member():
    from sklearn.tree import DecisionTreeClassifier as Theirs

    class Silent(Theirs):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)

    X = np.arange(20.0)[:, None]
    model = BaggingClassifier(Silent(), n_estimators=2, random_state=0).fit(X, X[:, 0] > 9)
    assert model.predict([[1.0], [18.0]]).tolist() == [False, True]


@pytest.mark.parametrize("bag", [BaggingClassifier, BaggingRegressor])
def test_rows_that_are_in_every_bag_have_no_answer(bag):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    kinds = set()
    for seed in range(8):  # two rows: a bag holds both or one of them
        with pytest.warns(UserWarning, match="rows are in every bag"):
            model = bag(n_estimators=1, oob_score=True, random_state=seed).fit(X, y)
        held = set(model.estimators_samples_[0])
        wide = bag is BaggingClassifier
        told = model.oob_decision_function_ if wide else model.oob_prediction_
        assert told.shape == ((2, 2) if wide else (2,))
        for row in range(2):
            assert np.isnan(told[row]).all() == (row in held)
        if len(held) == 1 and wide:  # the other row is said to be of the class of the one that was seen
            assert model.oob_score_ == 0.0
        else:
            assert np.isnan(model.oob_score_)
        kinds.add(len(held))
    assert kinds == {1, 2}


def test_a_share_of_columns_is_one_column_at_least():
    X = np.random.default_rng(0).normal(size=(20, 5))
    for share, count in ((0.05, 1), (0.2, 1), (0.59, 2), (0.8, 4), (3, 3)):
        model = BaggingClassifier(n_estimators=3, max_features=share, random_state=0).fit(X, X[:, 0] > 0)
        assert [len(set(columns)) for columns in model.estimators_features_] == [count] * 3
