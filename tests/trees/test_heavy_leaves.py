"""Leaves that must hold a share of all weight."""

import numpy as np
import pytest
import sklearn.tree as peers
from numpy.testing import assert_allclose

from gnomon import trees


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_leaves_are_heavy_enough(kind, share):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(80, 3)), rng.random(80) + 0.1
    y = X[:, 0] + X[:, 1] ** 2
    y = (y > 1).astype(int) if kind == "Classifier" else y
    ours = getattr(trees, f"DecisionTree{kind}")(min_weight_fraction_leaf=share, random_state=0).fit(
        X, y, sample_weight=w
    )
    theirs = getattr(peers, f"DecisionTree{kind}")(min_weight_fraction_leaf=share, random_state=0).fit(
        X, y, sample_weight=w
    )
    if (
        kind == "Regressor"
    ):  # of classes scikit-learn may split a pure node, whose impurity is rounded to 3e-16
        assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert_allclose(ours.predict(X), theirs.predict(X))
    weights = np.bincount(ours.apply(X), weights=w)
    assert weights[weights > 0].min() >= share * w.sum() * (1 - 1e-12)
