"""Criteria of trees: several outputs at once, medians, random cuts, missing values, events."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gnomon.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


def entropy(column):
    share = np.unique(column, return_counts=True)[1] / len(column)
    return float(-(share * np.log2(share)).sum())


def test_entropy_of_two_columns_is_their_mean_in_every_node():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(1)
    y = np.stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])], axis=1).astype(int)
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=3).fit(X, y).tree_
    inside = tree.decision_path(X).toarray().astype(bool)
    for node in range(tree.node_count):
        mean = np.mean([entropy(column) for column in y[inside[:, node]].T])
        assert tree.impurity[node] == pytest.approx(mean, abs=1e-12)
    assert tree.n_classes.tolist() == [2, 3]
    assert (tree.n_outputs, tree.max_n_classes) == (2, 3)


def test_entropy_of_two_columns_takes_the_cut_of_largest_gain():
    X = np.arange(8.0)[:, None]
    y = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0], [1, 0], [1, 2]])

    def loss(k):
        parts = y[:k], y[k:]
        return sum(len(part) * np.mean([entropy(column) for column in part.T]) for part in parts)

    best = min(range(1, 8), key=loss)
    for criterion in ("entropy", "log_loss"):
        tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
        assert tree.threshold[0] == best - 0.5
        assert tree.gain[0] == pytest.approx(loss(0) - loss(best) if best else 0.0)


def test_medians_of_two_outputs_by_trying_every_cut():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))

    def loss(part):
        return np.abs(part - np.median(part, axis=0)).sum() / 2 if len(part) else 0.0

    cuts = [(loss(y[X[:, f] <= t]) + loss(y[X[:, f] > t]), f) for f in (0, 1) for t in np.sort(X[:, f])[:-1]]
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    tree, left = model.tree_, X[:, model.tree_.feature[0]] <= model.tree_.threshold[0]
    assert tree.feature[0] == min(cuts)[1]
    assert tree.impurity[0] * 15 - tree.gain[0] == pytest.approx(min(cuts)[0])
    np.testing.assert_allclose(model.predict(X[left]), np.tile(np.median(y[left], axis=0), (left.sum(), 1)))


@pytest.mark.parametrize("x", [[np.nan, 2, np.nan, 4, 5, 6], [1, 2, 3, 4, np.nan, np.nan]])
def test_missing_values_go_where_the_absolute_error_is_least(x):
    X, y = np.array(x)[:, None], np.array([1.0, 1.0, 1.0, 9.0, 9.0, 9.0])
    if np.isnan(x[0]):  # those on the left have small targets
        y = np.array([1.0, 1.0, 1.0, 9.0, 9.0, 9.0])
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("least", [1, 3])
def test_sides_of_missing_values_by_trying_both(least):
    rng = np.random.default_rng(7)
    n, at = np.nan, 0
    for x, y in [
        (
            [1, 2, 3, 4, 5, 6, n],
            [0, 0, 10, 10, 10, 0, 0],
        ),  # the largest and the missing are like the smallest
        ([1, 2, 3, 4, 5, 6, n, n], [0, 0, 10, 10, 0, 0, 0, 0]),
        *((np.where(rng.random(9) < 0.3, n, rng.permutation(9)), rng.integers(0, 9, 9)) for _ in range(20)),
    ]:
        x, y, cuts = np.array(x, dtype=float), np.array(y, dtype=float), []
        for t in np.unique(x[~np.isnan(x)]):
            for side in (False, True):
                left = (x <= t) | (np.isnan(x) & side)
                if min(left.sum(), (~left).sum()) >= least:
                    cuts.append(sum(np.abs(part - np.median(part)).sum() for part in (y[left], y[~left])))
        model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1, min_samples_leaf=least)
        predicted = model.fit(x[:, None], y).predict(x[:, None])
        at += model.get_n_leaves() == 2
        whole = np.abs(y - np.median(y)).sum()
        assert np.abs(y - predicted).sum() == pytest.approx(min([whole, *cuts]))
    assert at > 10


@pytest.mark.parametrize("criterion", ["absolute_error", "squared_error"])
@pytest.mark.parametrize(
    ("options", "leaves"),
    [
        ({"min_samples_split": 6}, 2),
        ({"min_samples_split": 7}, 1),
        ({"min_samples_split": 4}, 2),
        ({"min_samples_split": 3}, 4),
        ({"min_samples_leaf": 3}, 2),
        ({"min_samples_leaf": 4}, 1),
        ({"min_weight_fraction_leaf": 0.5}, 2),
        ({"max_depth": 1}, 2),
    ],
    ids=str,
)
def test_six_rows_are_split_as_far_as_they_may(criterion, options, leaves):
    X, y = (
        np.arange(6.0)[:, None],
        np.array([0.0, 0.0, 3.0, 10.0, 10.0, 14.0]),
    )  # three and three, then 2 and 1
    model = DecisionTreeRegressor(criterion=criterion, **options).fit(X, y)
    assert model.get_n_leaves() == leaves
    assert leaves == 1 or model.tree_.threshold[0] == 2.5
    leaf = model.tree_.feature < 0
    for child in (model.tree_.children_left, model.tree_.children_right):
        assert (child[leaf] == -1).all() and (child[~leaf] > 0).all()


@pytest.mark.parametrize("sign", [-1, 1])
def test_medians_keep_to_a_monotone_constraint(sign):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    model = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[sign, 0], max_depth=5).fit(X, y)
    line = np.linspace(-3, 3, 50)
    for other in (-1.0, 0.0, 1.0):
        steps = np.diff(model.predict(np.stack([line, np.full(50, other)], axis=1)))
        assert (steps * sign >= 0).all()
    assert len(np.unique(model.predict(X))) > 2


def test_random_cuts_lie_between_the_values_of_a_node():
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    models = [
        DecisionTreeRegressor(criterion="absolute_error", splitter="random", max_depth=1, random_state=s).fit(
            X, y
        )
        for s in (0, 0, 1, 2)
    ]
    cuts = [float(model.tree_.threshold[0]) for model in models]
    assert cuts[0] == cuts[1] and len(set(cuts)) == 3
    assert all(X.min() <= cut < X.max() for cut in cuts)
    forest = ExtraTreesRegressor(5, criterion="absolute_error", random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), y)


def test_events_are_on_both_sides_of_a_cut():
    rng = np.random.default_rng(4)
    X, y = rng.uniform(size=(200, 2)), rng.exponential(size=200)
    y[X[:, 0] < 0.5] = 0.0
    y[:3] = 0.1
    model = DecisionTreeRegressor(criterion="poisson").fit(X, y)
    assert model.tree_.node_count > 3
    assert (model.predict(X) > 0).all()


def test_a_tree_predicts_by_its_arrays():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    model = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(model.tree_.predict(X), model.predict_proba(X))
    path = model.decision_path(X).toarray()
    np.testing.assert_array_equal(path, model.tree_.decision_path(X).toarray())
    np.testing.assert_array_equal(path.sum(axis=0), model.tree_.n_node_samples)
    both = DecisionTreeRegressor().fit(X, np.stack([y, -y], axis=1)).tree_
    np.testing.assert_array_equal(both.predict(X)[:, :, 0], np.stack([y, -y], axis=1))
    assert both.n_classes.tolist() == [1, 1]


def test_whole_numbers_are_no_shares():
    for name in ("min_samples_split", "max_features", "min_samples_leaf"):
        value = {"min_samples_split": 1, "max_features": 0, "min_samples_leaf": 0}[name]
        with pytest.raises(ValueError, match=name):
            DecisionTreeClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])
    assert DecisionTreeClassifier(min_samples_split=1.0).fit([[0.0], [1.0]], [0, 1]).get_n_leaves() == 2


def test_importances_want_a_fit():
    with pytest.raises(NotFittedError):
        _ = DecisionTreeClassifier().feature_importances_


@pytest.mark.parametrize("sign", [-1, 1])
def test_medians_of_siblings_are_parted_by_their_mean(sign):
    rng = np.random.default_rng(5)
    x, y = rng.uniform(size=300), rng.uniform(size=300)
    tree = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[sign]).fit(x[:, None], y).tree_
    value = tree.value[:, 0, 0]
    bounds = {0: (-np.inf, np.inf)}
    for t in range(tree.node_count):
        low, high = bounds[t]
        assert low - 1e-12 <= value[t] <= high + 1e-12
        left, right = tree.children_left[t], tree.children_right[t]
        if left >= 0:
            between = (value[left] + value[right]) / 2
            ends = [(low, between), (between, high)][::sign]
            bounds[left], bounds[right] = ends


@pytest.mark.parametrize("signs", [[1], [1, 0.8], [2, 0], ["up", "no"]])
def test_constraints_that_are_no_signs_are_refused(signs):
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    for learner in (DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor):
        with pytest.raises(ValueError, match="monotonic_cst must hold"):
            learner(monotonic_cst=signs).fit(X, y)


def test_constraints_want_one_direction():
    X = np.arange(12.0).reshape(6, 2)
    three, outputs = np.arange(6) % 3, np.stack([np.arange(6) % 2] * 2, axis=1)
    for learner in (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier):
        with pytest.raises(ValueError, match="two classes"):
            learner(monotonic_cst=[1, 0]).fit(X, three)
        with pytest.raises(ValueError, match="one output"):
            learner(monotonic_cst=[1, 0]).fit(X, outputs)
    for learner in (DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor):
        with pytest.raises(ValueError, match="one output"):
            learner(monotonic_cst=[1, 0]).fit(X, outputs)
        one, column = (
            learner(monotonic_cst=[1, 0], random_state=0).fit(X, y).predict(X).ravel()
            for y in (outputs[:, 0], outputs[:, :1])
        )
        np.testing.assert_array_equal(one, column)  # a single column is one output
