"""Limits of growth hold for every way to grow, and what contradicts itself is refused."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor, prune


def categories():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(60, 3))
    y = ((codes[:, 0] == 1) ^ (codes[:, 1] == 2)).astype(int)
    return pd.DataFrame(codes.astype(str)).astype("category"), y


def multiway(**limits):
    X, y = categories()
    return DecisionTreeClassifier(split="multiway", criterion="entropy", **limits).fit(X, y).tree_


def test_leaves_of_a_multiway_tree_have_enough_rows():
    assert multiway().n_node_samples[multiway().is_leaf].min() < 5
    assert multiway(min_samples_leaf=5).n_node_samples[multiway(min_samples_leaf=5).is_leaf].min() >= 5


def test_small_nodes_of_a_multiway_tree_are_not_split():
    tree = multiway(min_samples_split=30)
    assert tree.n_node_samples[~tree.is_leaf].min() >= 30
    assert multiway().n_leaves > tree.n_leaves


def test_splits_of_a_multiway_tree_gain_enough():
    tree = multiway(min_impurity_decrease=0.2)
    assert (tree.gain[~tree.is_leaf] >= 0.2 * 60 - 1e-9).all()
    assert multiway().n_leaves > tree.n_leaves


def test_a_multiway_tree_is_pruned():
    X, y = categories()
    assert multiway().n_leaves > 1 == multiway(ccp_alpha=10.0).n_leaves
    full = DecisionTreeClassifier(split="multiway", criterion="entropy").fit(X, y)
    for alpha in (0.05, 0.1, 0.2, 0.3):
        assert multiway(ccp_alpha=alpha).n_leaves == prune(full, alpha).get_n_leaves()


def test_a_multiway_tree_draws_no_thresholds():
    X, y = categories()
    with pytest.raises(DataError, match="splitter='random'"):
        DecisionTreeClassifier(split="multiway", splitter="random").fit(X, y)


@pytest.mark.parametrize(
    "settings", [{"split": "multiway", "max_leaf_nodes": 4}, {"growth": "depth_first", "max_leaf_nodes": 4}]
)
def test_limits_that_cannot_hold_are_refused(settings):
    X, y = categories()
    with pytest.raises(DataError, match="max_leaf_nodes"):
        DecisionTreeClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("times", [1e-3, 10.0, 1e6])
def test_absolute_errors_do_not_depend_on_the_size_of_weights(times):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.round(rng.normal(size=60))
    one = DecisionTreeRegressor(criterion="absolute_error", random_state=0).fit(X, y, np.full(60, 1.5))
    other = DecisionTreeRegressor(criterion="absolute_error", random_state=0).fit(
        X, y, np.full(60, 1.5 * times)
    )
    np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
