"""Options of forests, bags and votes: limits of every tree, repeated columns, columns of votes."""

import numpy as np
import pytest
import sklearn.ensemble as peers
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from gnomon import ensemble


@pytest.mark.parametrize(
    "name", ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"]
)
def test_every_tree_of_a_forest_keeps_the_limits(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int) ^ (X[:, 1] > 0)
    plain = getattr(ensemble, name)(3, bootstrap=False, random_state=0).fit(X, y)
    heavy = clone(plain).set_params(min_weight_fraction_leaf=0.2).fit(X, y)
    for leaves in heavy.apply(X).T:
        counts = np.bincount(leaves)
        assert counts[counts > 0].min() >= 12
    split = clone(plain).set_params(min_samples_split=61).fit(X, y)
    assert (split.apply(X) == split.apply(X)[:1]).all()
    assert len(np.unique(plain.apply(X)[:, 0])) > 3


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_columns_drawn_with_replacement_repeat(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    y = (X[:, 0] > 0).astype(int)
    bag = getattr(ensemble, f"Bagging{kind}")
    twice = bag(n_estimators=8, bootstrap_features=True, random_state=0).fit(X, y)
    once = bag(n_estimators=8, max_features=0.5, random_state=0).fit(X, y)
    assert all(len(c) == 6 for c in twice.estimators_features_)
    assert any(len(set(c)) < 6 for c in twice.estimators_features_)
    assert all(len(set(c)) == len(c) == 3 for c in once.estimators_features_)
    votes = [
        m.predict_proba(X[:, c]) if kind == "Classifier" else m.predict(X[:, c])
        for m, c in zip(twice.estimators_, twice.estimators_features_, strict=True)
    ]
    assert_allclose(
        (twice.predict_proba if kind == "Classifier" else twice.predict)(X), np.mean(votes, axis=0)
    )


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_votes_as_columns_or_by_member(voting):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    members = [("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2, random_state=0))]
    for flat in (True, False):
        ours = (
            ensemble.VotingClassifier(members, voting=voting, flatten_transform=flat).fit(X, y).transform(X)
        )
        theirs = peers.VotingClassifier(members, voting=voting, flatten_transform=flat).fit(X, y).transform(X)
        assert ours.shape == theirs.shape
        assert_allclose(ours, theirs)
