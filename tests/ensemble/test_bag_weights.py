"""Weights of classes in the bags of a forest: each tree against one tree grown on its sample."""

import numpy as np
import pytest

from gnomon.ensemble import ExtraTreesClassifier, RandomForestClassifier
from gnomon.trees import DecisionTreeClassifier

RNG = np.random.default_rng(3)
Y = np.repeat([0, 1, 2], [30, 12, 6])
X = RNG.normal(size=(48, 2)) + Y[:, None]
WEIGHT = RNG.integers(1, 4, 48).astype(float)


def forest(weighting, weight=None, Forest=RandomForestClassifier, y=Y, **given):
    model = Forest(4, max_depth=2, max_features=None, class_weight=weighting, random_state=0, **given)
    return model.fit(X, y, sample_weight=weight)


def root_shares(model):
    return np.array([tree.value[0].ravel() / tree.value[0].sum() for tree in model.trees_])


def drawn(model, y=Y):
    return np.array([np.bincount(y[sample], minlength=y.max() + 1) for sample in model.estimators_samples_])


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_classes_weigh_the_same_in_every_balanced_bag(weight):
    model = forest("balanced_subsample", weight)
    np.testing.assert_allclose(root_shares(model), np.full((4, 3), 1 / 3), atol=1e-12)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_balanced_weights_are_those_of_all_rows(weight):
    """The counts of a bag times n / (3 n_c) of the whole sample."""
    model = forest("balanced", weight)
    whole = np.bincount(Y, weights=weight)
    shares = drawn(model) / whole
    np.testing.assert_allclose(root_shares(model), shares / shares.sum(1, keepdims=True), atol=1e-12)
    assert np.ptp(root_shares(model)) > 0.01


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("Forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_given_weights_multiply_the_counts(Forest, weight):
    given = {0: 1.0, 1: 2.5, 2: 4.0}
    model = forest(given, weight, Forest, bootstrap=True)
    shares = drawn(model) * np.array([1.0, 2.5, 4.0])
    np.testing.assert_allclose(root_shares(model), shares / shares.sum(1, keepdims=True), atol=1e-12)


def test_counts_alone_without_weights_of_classes():
    model = forest(None, WEIGHT)
    np.testing.assert_allclose(
        root_shares(model), drawn(model) / drawn(model).sum(1, keepdims=True), atol=1e-12
    )


def test_a_tree_of_a_balanced_bag_is_one_tree_of_the_sample():
    model = forest("balanced_subsample")
    for member, sample in zip(model.estimators_, model.estimators_samples_, strict=True):
        twin = DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(X[sample], Y[sample])
        np.testing.assert_allclose(member.predict_proba(X), twin.predict_proba(X), atol=1e-12)


def test_without_bags_a_balanced_subsample_is_balanced():
    every = {"bootstrap": False, "y": Y}
    one = forest("balanced_subsample", WEIGHT, **every)
    np.testing.assert_allclose(root_shares(one), np.full((4, 3), 1 / 3), atol=1e-12)
    np.testing.assert_array_equal(one.predict_proba(X), forest("balanced", WEIGHT, **every).predict_proba(X))


def test_two_outputs_are_balanced_by_the_product_of_their_weights():
    """Each row weighs counts × Π over the outputs of n / (classes × rows of its class), all in the bag."""
    both = np.column_stack([Y > 0, RNG.integers(0, 3, 48)]).astype(int)
    model = RandomForestClassifier(3, max_depth=1, class_weight="balanced_subsample", random_state=0).fit(
        X, both
    )
    for tree, sample in zip(model.trees_, model.estimators_samples_, strict=True):
        bag = both[sample]
        weight = np.ones(len(sample))
        for column in bag.T:
            counts = np.bincount(column)
            weight *= len(sample) / (len(counts) * counts[column])
        root = tree.value[0]
        for shares, column in zip(root, bag.T, strict=True):
            mass = np.bincount(column, weights=weight, minlength=len(shares))
            np.testing.assert_allclose(shares[: len(mass)] / shares.sum(), mass / mass.sum(), atol=1e-12)


def test_errors_out_of_the_bag_are_those_of_the_trees_that_did_not_see_the_row():
    model = RandomForestClassifier(6, max_depth=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="rows are in every bag") as told:
        model.fit(X, Y)
    total, count = np.zeros((48, 3)), np.zeros(48)
    for member, sample in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(48), sample)
        total[out] += member.predict_proba(X[out])
        count[out] += 1
    seen = count > 0
    assert not seen.all()
    assert [str(one.message).split()[0] for one in told] == [str(48 - seen.sum())]
    shares = total[seen] / count[seen, None]
    np.testing.assert_allclose(model.oob_decision_function_[seen], shares, atol=1e-12)
    assert np.isnan(model.oob_decision_function_[~seen]).all()
    assert model.oob_score_ == np.mean(shares.argmax(1) == Y[seen])
    assert model.trace_[-1] == pytest.approx(1 - model.oob_score_)


@pytest.mark.parametrize("Model", [DecisionTreeClassifier, RandomForestClassifier])
def test_a_row_of_weight_two_is_balanced_as_the_row_twice(Model):
    both = np.column_stack([Y > 0, RNG.integers(0, 3, 48)]).astype(int)
    given = (
        {} if Model is DecisionTreeClassifier else {"n_estimators": 1, "bootstrap": False, "random_state": 0}
    )
    model = Model(max_depth=2, max_features=None, class_weight="balanced", **given)
    weighed = model.fit(X, both, sample_weight=WEIGHT).predict_proba(X)
    each = np.repeat(np.arange(48), WEIGHT.astype(int))
    for ours, twice in zip(weighed, model.fit(X[each], both[each]).predict_proba(X), strict=True):
        np.testing.assert_allclose(ours, twice, atol=1e-12)
