"""Options of ensembles that limit or change their trees, each seen in the trees themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    CascadeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HaarFeatures,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(2)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * RNG.normal(size=200)
LABELS = np.digitize(Y, [-0.7, 0.7])
FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def target(cls):
    return LABELS if cls.__name__.endswith("Classifier") else Y


def trees(model):
    return [tree.tree_ for tree in np.ravel(model.estimators_)]


@pytest.mark.parametrize("cls", [*FORESTS, GradientBoostingClassifier])
def test_no_leaf_has_less_than_its_share_of_the_weight(cls):
    model = cls(n_estimators=4, min_weight_fraction_leaf=0.1, random_state=0).fit(X, target(cls))
    free = cls(n_estimators=4, random_state=0).fit(X, target(cls))
    assert max(tree.n_leaves for tree in trees(model)) > 2
    for tree in trees(model):
        assert tree.weighted_n_node_samples[tree.is_leaf].min() >= 0.1 * tree.weighted_n_node_samples[0]
    depth = 1.0 if cls is GradientBoostingClassifier else 0.1  # whose trees have three levels at most
    assert any(t.weighted_n_node_samples[t.is_leaf].min() < depth * 0.1 * 200 for t in trees(free))


@pytest.mark.parametrize("cls", [ExtraTreesRegressor, RandomForestRegressor])
def test_limits_of_the_trees_of_a_forest(cls):
    given = {"n_estimators": 4, "random_state": 0}
    assert {t.n_leaves for t in trees(cls(max_leaf_nodes=7, **given).fit(X, Y))} == {7}
    pruned, whole = cls(ccp_alpha=0.02, **given).fit(X, Y), cls(**given).fit(X, Y)
    assert all(1 < p.n_leaves < w.n_leaves for p, w in zip(trees(pruned), trees(whole), strict=True))
    for tree in trees(cls(min_impurity_decrease=0.02, **given).fit(X, Y)):
        share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
        inner = np.flatnonzero(~tree.is_leaf)
        left, right = tree.children_left[inner], tree.children_right[inner]
        parts = share[left] * tree.impurity[left] + share[right] * tree.impurity[right]
        assert (share[inner] * tree.impurity[inner] - parts).min() >= 0.02 - 1e-12


def test_no_node_of_few_rows_is_split():
    model = GradientBoostingClassifier(n_estimators=3, max_depth=6, min_samples_split=40, random_state=0)
    for tree in trees(model.fit(X, LABELS)):
        assert tree.n_node_samples[~tree.is_leaf].min() >= 40
        assert tree.max_depth > 1


@pytest.mark.parametrize("l2", [0.0, 7.0, 300.0])
def test_leaves_are_shrunk_by_the_penalty(l2):
    """The best step of a leaf is the sum of residuals over its rows and the penalty."""
    model = HistGradientBoostingRegressor(
        max_iter=1, learning_rate=1.0, max_leaf_nodes=4, l2_regularization=l2, early_stopping=False
    ).fit(X, Y)
    tree = model.rounds_[0][0]
    leaf = tree.apply(X)
    assert tree.n_leaves > 1
    for k in np.unique(leaf):
        residuals = (Y - Y.mean())[leaf == k]
        assert_allclose(tree.value[k, 0, 0], residuals.sum() / (len(residuals) + l2), rtol=1e-6)


@pytest.mark.parametrize("cls", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
@pytest.mark.parametrize("n_bins", [2, 5])
def test_a_column_has_a_threshold_less_than_bins(cls, n_bins):
    model = cls(max_iter=30, max_bins=n_bins, early_stopping=False).fit(X, target(cls))
    found = [(f, t) for r in model.rounds_ for tree in r
             for f, t in zip(tree.feature, tree.threshold, strict=True) if f >= 0]  # fmt: skip
    for column in range(3):
        assert 1 <= len({t for f, t in found if f == column}) <= n_bins - 1


def test_weights_of_classes_are_weights_of_rows():
    given = {"max_iter": 5, "early_stopping": False, "random_state": 0}
    weight = np.array([1.0, 3.0, 0.5])
    by_class = HistGradientBoostingClassifier(class_weight=dict(enumerate(weight)), **given).fit(X, LABELS)
    by_row = HistGradientBoostingClassifier(**given).fit(X, LABELS, sample_weight=weight[LABELS])
    assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-12)
    balanced = HistGradientBoostingClassifier(class_weight="balanced", **given).fit(X, LABELS)
    fair = 200 / (3 * np.bincount(LABELS))
    by_row = HistGradientBoostingClassifier(**given).fit(X, LABELS, sample_weight=fair[LABELS])
    assert_allclose(balanced.predict_proba(X), by_row.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("cls", [BaggingClassifier, BaggingRegressor])
def test_columns_are_drawn_with_and_without_replacement(cls):
    wide = np.column_stack([X, X + 1.0])
    for repeated in (False, True):
        model = cls(n_estimators=12, bootstrap_features=repeated, random_state=0).fit(wide, target(cls))
        drawn = model.estimators_features_
        assert all(len(columns) == 6 for columns in drawn)
        assert any(len(set(columns)) < 6 for columns in drawn) == repeated


def test_a_cascade_has_only_the_kinds_asked_for_and_stops_at_its_goal():
    patches = RNG.uniform(size=(120, 8, 8))
    y = np.arange(120) % 2
    patches[y == 1, :, :4] += 0.7  # the left half is brighter
    every = HaarFeatures(8)
    named = {box.tobytes(): kind for box, kind in zip(every.boxes_, every.kinds_, strict=True)}
    goal = {"window": 8, "max_stages": 6, "random_state": 0}
    for kinds in (("2h",), ("2v", "4"), ("3h", "3v")):
        model = CascadeClassifier(kinds=kinds, target_false_positive=0.05, **goal).fit(patches, y)
        used = [named[box.tobytes()] for stage in model.stages_ for box in stage.boxes]
        assert used and set(used) <= set(kinds)
    far = CascadeClassifier(kinds=("2h",), target_false_positive=0.999, **goal).fit(patches, y)
    assert len(far.stages_) <= 1
    rates = CascadeClassifier(target_false_positive=0.2, **goal).fit(patches, y).stage_rates_
    reached = np.cumprod(rates[:, 1])
    assert (reached[:-1] >= 0.2).all()
