"""Decision trees: oracles of the chapter, properties, adversarial data, parity."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression

import gnomon
from gnomon.core.errors import DataError
from gnomon.core.threads import threads
from gnomon.datasets import load_restaurant
from gnomon.trees import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    best_split,
    gain_curve,
    impurity,
    nodes,
    prune,
    prune_cv,
    prune_reduced_error,
)
from gnomon.trees.binning import bin_columns, find_bins

EIGHT = np.arange(1.0, 9)[:, None]
LABELS = np.array([0, 0, 1, 0, 1, 1, 0, 1])
NUMBERS = np.array([1, 1.2, 0.9, 5, 5.2, 9, 9.1, 2])


def iris_ratios():
    X, y = load_iris(return_X_y=True)
    return np.column_stack([X[:, 0] / X[:, 1], X[:, 2] / X[:, 3]]), y


def small_data(seed, n=30, d=3, values=6, classes=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, values, (n, d)).astype(float), rng.integers(0, classes, n)


def splits_in_order(model):
    tree = model.tree_
    order = np.argsort(tree.split_order)
    return [int(t) for t in order if tree.split_order[t] > 0]


def same_tree(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a.tree_, b.tree_))


def test_restaurant_multiway():
    visits = load_restaurant()
    model = DecisionTreeClassifier(criterion="entropy", split="multiway").fit(visits.data, visits.target)
    tree, names = model.tree_, visits.feature_names
    asked = [names[f] for f in tree.feature[splits_in_order(model)]]
    assert asked == ["Patrons", "Hungry", "Type", "Friday"]
    gains = tree.gain[splits_in_order(model)] / tree.weighted_n_node_samples[splits_in_order(model)]
    assert gains == pytest.approx([0.5408521, 0.2516292, 0.5, 1.0], abs=1e-6)
    assert model.score(visits.data, visits.target) == 1.0
    row = visits.data.iloc[[11]].copy()
    row["Type"] = "French"  # the empty branch: a tie of two and two answers with the lowest class
    assert model.predict(row)[0] == "N"
    row["Type"] = "Martian"
    assert model.predict(row)[0] == "N"


def test_iris_ratios_best_first():
    X, y = iris_ratios()
    model = DecisionTreeClassifier(max_leaf_nodes=5).fit(X, y)
    tree, order = model.tree_, splits_in_order(model)
    assert tree.feature[order].tolist() == [0, 1, 0, 1]
    assert tree.threshold[order] == pytest.approx([1.7156863, 2.7247475, 2.3337912, 4.2166667], abs=1e-6)
    assert tree.gain[0] / 150 == pytest.approx(0.3234323, abs=1e-6)
    assert gain_curve(X, y, 1).gains.max() == pytest.approx(0.2679128, abs=1e-6)
    assert model.score(X, y) == pytest.approx(0.8933333, abs=1e-6)
    assert model.feature_importances_ == pytest.approx([0.7069899, 0.2930101], abs=1e-6)
    three = DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)
    assert three.score(X, y) == pytest.approx(0.86)
    assert three.feature_importances_ == pytest.approx([0.7020355, 0.2979645], abs=1e-6)


def test_iris_ratios_entropy_third_split():
    X, y = iris_ratios()
    model = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=5).fit(X, y)
    third = splits_in_order(model)[2]
    assert model.tree_.feature[third] == 0
    assert model.tree_.threshold[third] == pytest.approx(2.2450, abs=5e-5)


def test_exclusive_or_needs_splits_without_gain():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], float), [1, 1, 0, 0]
    assert all(gain_curve(X, y, f).gains == pytest.approx([0]) for f in (0, 1))
    model = DecisionTreeClassifier().fit(X, y)
    assert model.get_depth() == 2
    assert model.score(X, y) == 1.0


def test_eight_points_pruning_path():
    model = DecisionTreeClassifier().fit(EIGHT, LABELS)
    assert model.tree_.threshold[0] == 2.5
    assert model.tree_.gain[0] / 8 == pytest.approx(1 / 6)
    path = model.cost_complexity_pruning_path(EIGHT, LABELS)
    assert path.ccp_alphas == pytest.approx([0, 1 / 12, 1 / 6])
    assert path.n_leaves.tolist() == [6, 2, 1]
    assert path.impurities == pytest.approx([0, 1 / 3, 1 / 2])


def test_regression_best_first():
    model = DecisionTreeRegressor(growth="best_first").fit(EIGHT, NUMBERS)
    assert model.tree_.threshold[splits_in_order(model)][:4].tolist() == [3.5, 7.5, 5.5, 2.5]
    assert 8 * model.impurities_[1:5] == pytest.approx([36.2786667, 15.6741667, 0.0716667, 0.045], abs=1e-6)
    four = DecisionTreeRegressor(max_leaf_nodes=4).fit(EIGHT, NUMBERS)
    assert np.unique(four.predict(EIGHT)) == pytest.approx([1.0333333, 2, 5.1, 9.05], abs=1e-6)
    path = model.cost_complexity_pruning_path(EIGHT, NUMBERS)
    expected = [0, 0.000625, 0.0025, 0.0033333, 1.9503125, 2.5755625, 5.9220417]
    assert path.ccp_alphas == pytest.approx(expected, abs=1e-6)
    assert path.n_leaves.tolist() == [8, 7, 5, 4, 3, 2, 1]


def test_missing_values_choose_a_side():
    x = np.array([1, 2, np.nan, 4, 5, np.nan])[:, None]
    right = DecisionTreeClassifier(max_depth=1).fit(x, [0, 0, 1, 1, 1, 1])
    left = DecisionTreeClassifier(max_depth=1).fit(x, [0, 0, 0, 1, 1, 0])
    for model, side in ((right, 0), (left, 1)):
        assert model.tree_.threshold[0] == 3.0
        assert model.tree_.missing_go_to_left[0] == side
        assert model.tree_.impurity[1:].tolist() == [0, 0]
    split = best_split(x, [0, 0, 1, 1, 1, 1])
    assert split.threshold == 3.0 and not split.missing_left


def test_missing_against_present():
    x = np.array([1, 2, 3, 4, np.nan, np.nan])[:, None]
    model = DecisionTreeClassifier().fit(x, [0, 0, 0, 0, 1, 1])
    assert np.isinf(model.tree_.threshold[0])
    assert model.predict([[9.0], [np.nan]]).tolist() == [0, 1]


def test_unseen_missing_goes_to_the_heavier_child():
    model = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0], [9.0]], [0, 0, 0, 1])
    assert model.predict([[np.nan]]).tolist() == [0]


def test_stump_by_hand():
    stump = DecisionStump().fit(EIGHT[:4], [1, -1, 1, -1], [0.1, 0.4, 0.4, 0.1])
    assert (stump.threshold_, stump.left_value_, stump.right_value_) == (2.5, -1, 1)
    assert stump.error_ == pytest.approx(0.2)


def test_a_stump_that_asks_nothing_by_hand():
    stump = DecisionStump().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"], [1.0, 2.0, 5.0])
    assert (stump.feature_, stump.threshold_) == (-1, np.inf)
    assert (stump.left_value_, stump.right_value_) == ("b", "b")
    assert stump.error_ == pytest.approx(1 / 8)
    assert stump.feature_importances_.tolist() == [0.0]
    assert stump.predict([[0.0], [2.0]]).tolist() == ["b", "b"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_stump_is_the_best_of_all_questions(seed):
    X, y = small_data(seed, n=12, d=2, classes=3)
    w = np.random.default_rng(seed).integers(1, 5, 12).astype(float)
    best = 1 - max(w[y == c].sum() for c in np.unique(y)) / w.sum()
    for f in range(2):
        for t in np.unique(X[:, f])[:-1]:
            right = sum(max(w[s & (y == c)].sum() for c in np.unique(y)) for s in (X[:, f] <= t, X[:, f] > t))
            best = min(best, 1 - right / w.sum())
    assert DecisionStump().fit(X, y, w).error_ == pytest.approx(best, abs=1e-12)


def test_squared_and_absolute_error_of_six_points():
    x, y = np.arange(1.0, 7)[:, None], [1, 2, 1.5, 8, 9, 30]
    squared = DecisionTreeRegressor(max_depth=1).fit(x, y)
    absolute = DecisionTreeRegressor(max_depth=1, criterion="absolute_error").fit(x, y)
    assert squared.tree_.threshold[0] == absolute.tree_.threshold[0] == 5.5
    assert squared.tree_.value[1:].ravel() == pytest.approx([4.3, 30])
    assert absolute.tree_.value[1:].ravel() == pytest.approx([2, 30])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["gini", "entropy", "error"]))
def test_compiled_search_agrees_with_the_obvious_one(seed, criterion):
    X, y = small_data(seed)
    split = best_split(X, y, criterion)
    gains = [gain_curve(X, y, f, criterion) for f in range(3)]
    top = max(curve.gains.max() for curve in gains)
    assert split.gain == pytest.approx(top, abs=1e-12)
    ties = [(f, t) for f, c in enumerate(gains) for t, g in zip(c.thresholds, c.gains) if g > top - 1e-12]
    assert (split.feature, split.threshold) == ties[0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_training_error_never_rises_and_trees_memorize(seed):
    X, y = small_data(seed)
    models = list(DecisionTreeClassifier(random_state=0).iterate(X, y))
    errors = [1 - m.score(X, y) for m in models]
    assert all(b <= a + 1e-12 for a, b in zip(errors, errors[1:]))
    whole = models[-1]
    assert whole.get_n_leaves() <= len(np.unique(X, axis=0))
    best = sum(np.bincount(y[(X == row).all(axis=1)]).max() for row in np.unique(X, axis=0))
    assert whole.score(X, y) == pytest.approx(best / len(y))


def test_iterate_tells_every_candidate():
    models = list(DecisionTreeClassifier().iterate(EIGHT, LABELS))
    assert [m.get_n_leaves() for m in models] == [1, 2, 3, 4, 5, 6]
    assert models[0].candidates_ == pytest.approx([1 / 6])
    assert not hasattr(models[-1], "candidates_")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [0, 1, 2])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=6),
        DecisionTreeClassifier(class_weight={0: 1.0, 1: 4.0, 2: 0.5, 3: 1.0}),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(criterion="absolute_error"),
    ],
)
def test_the_next_split_is_that_of_the_best_candidate(model, outputs, weighted, sparse):
    X, y = small_data(3, n=40, values=5)
    y = np.column_stack([y, (X[:, 1] > 1) + (X[:, 2] > 3)])
    y = y[:, 0] if outputs == 0 else y[:, :outputs]
    y = y.astype(float) if isinstance(model, DecisionTreeRegressor) else y
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else None
    if isinstance(model, DecisionTreeClassifier) and outputs == 2 and model.class_weight:
        model = clone(model).set_params(class_weight=[model.class_weight] * 2)
    steps = list(model.iterate(csr_array(X) if sparse else X, y, weight))
    tree = steps[-1].tree_
    assert len(steps) > 4
    for k, step in enumerate(steps[:-1], start=1):
        node = int(np.flatnonzero(tree.split_order == k)[0])
        best = tree.gain[node] / tree.weighted_n_node_samples[node]
        assert step.candidates_.max() == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert step.candidates_[tree.feature[node]] == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"ccp_alpha": 0.01},
        {"ccp_alpha": 0.01, "max_leaf_nodes": 12},
        {"ccp_alpha": 1.0},
        {"split": "multiway", "categorical_features": [0, 1]},
        {"categorical_features": [0]},
        {"max_bins": 4},
    ],
)
def test_the_splits_of_any_tree_are_shown_one_by_one(options):
    X, y = small_data(1, n=80, classes=2)
    y = (X[:, 0] > 2) ^ (y * (X[:, 1] > 3)).astype(bool)
    whole = DecisionTreeClassifier(**options).fit(X, y)
    steps = list(DecisionTreeClassifier(**options).iterate(X, y))
    splits = [int((one.tree_.feature >= 0).sum()) for one in steps]
    assert splits == list(range(int((whole.tree_.feature >= 0).sum()) + 1))
    assert (len(steps) == 1) == (options.get("ccp_alpha") == 1.0)
    np.testing.assert_array_equal(steps[-1].predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(steps[-1].tree_.threshold, whole.tree_.threshold)
    for before, after in zip(steps, steps[1:]):  # one leaf more is opened, and the others stay
        opened = np.unique(before.apply(X)[before.predict_proba(X)[:, 0] != after.predict_proba(X)[:, 0]])
        assert len(opened) <= 1 and before.tree_.n_leaves < after.tree_.n_leaves


def test_leaf_values_minimize_their_loss():
    X, y = make_regression(60, 3, random_state=0)
    for criterion, power in (("squared_error", 2), ("absolute_error", 1)):
        model = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y)
        leaf, value = model.apply(X), model.predict(X)
        for t in np.unique(leaf):
            here = y[leaf == t]
            loss = (np.abs(here - value[leaf == t][0]) ** power).sum()
            for e in (-0.01, 0.01):
                assert loss <= (np.abs(here - value[leaf == t][0] - e) ** power).sum() + 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_monotone_transforms_and_permutations(seed):
    X, y = small_data(seed)
    model = DecisionTreeClassifier().fit(X, y)
    stretched = DecisionTreeClassifier().fit(np.exp(X / 2), y)
    assert np.array_equal(model.apply(X), stretched.apply(np.exp(X / 2)))
    order = np.random.default_rng(seed).permutation(len(X))
    assert same_tree(model, DecisionTreeClassifier().fit(X[order], y[order]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 3]))
def test_weight_two_is_the_row_twice(seed, leaf):
    X, y = small_data(seed)
    w = np.random.default_rng(seed).integers(0, 4, len(X))
    if len(np.unique(y[w > 0])) < 2:
        return
    options = {"min_samples_leaf": leaf, "max_features": 2, "random_state": 0}
    weighted = DecisionTreeClassifier(**options).fit(X, y, w)
    repeated = DecisionTreeClassifier(**options).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    grid = np.random.default_rng(0).uniform(0, 6, (50, 3))
    missing = sorted(set(weighted.classes_) - set(repeated.classes_))
    if not missing:
        assert np.array_equal(weighted.predict_proba(grid), repeated.predict_proba(grid))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_growth_order_does_not_matter_and_best_first_is_nested(seed):
    X, y = small_data(seed)
    deep = DecisionTreeClassifier(growth="depth_first").fit(X, y)
    best = DecisionTreeClassifier(growth="best_first").fit(X, y)
    assert np.array_equal(deep.tree_.threshold, best.tree_.threshold)
    paths = [DecisionTreeClassifier(max_leaf_nodes=k).fit(X, y).apply(X) for k in (3, 4, 5)]
    for coarse, fine in zip(paths, paths[1:]):
        assert all(len(np.unique(coarse[fine == t])) == 1 for t in np.unique(fine))


def all_prunings(tree, node=0):
    """(impurity, leaves) of every pruning below a node."""
    share = tree.weighted_n_node_samples[node] / tree.weighted_n_node_samples[0]
    found = [(share * tree.impurity[node], 1)]
    if tree.feature[node] >= 0:
        left, right = (all_prunings(tree, c) for c in tree.children(node))
        found += [(a + c, b + d) for a, b in left for c, d in right]
    return found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_pruning_is_optimal_among_all_prunings(seed):
    X, y = small_data(seed, n=12, d=2)
    model = DecisionTreeClassifier(max_leaf_nodes=7).fit(X, y)
    options, sizes = all_prunings(model.tree_), []
    for alpha in (0.0, 0.01, 0.03, 0.1, 0.3):
        cut = prune(model, alpha)
        leaves = cut.tree_.is_leaf
        share = cut.tree_.weighted_n_node_samples[leaves] / cut.tree_.weighted_n_node_samples[0]
        cost = (share * cut.tree_.impurity[leaves]).sum() + alpha * leaves.sum()
        best = min(r + alpha * k for r, k in options)
        assert cost == pytest.approx(best, abs=1e-10)
        smallest = min(k for r, k in options if r + alpha * k < best + 1e-10)
        assert leaves.sum() == smallest
        sizes.append(leaves.sum())
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("kind", ["class", "two words", "number", "numbers", "column"])
def test_no_pruning_makes_fewer_mistakes_on_validation_rows(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (50, 2)).astype(float)
    first = (X[:, 0] > 1) ^ (rng.random(50) < 0.25)
    second = (X[:, 1] > 2).astype(int) + (rng.random(50) < 0.3)
    y = {
        "class": second,
        "two words": np.array([np.where(first, "yes", "no"), np.array(["a", "b", "c"])[second]]).T,
        "number": second + 0.5,
        "numbers": np.column_stack([first + 0.5, second]),
        "column": second[:, None] + 0.5,
    }[kind]
    Tree = DecisionTreeRegressor if kind in ("number", "numbers", "column") else DecisionTreeClassifier
    full = Tree(max_leaf_nodes=7).fit(X[:25], y[:25])

    def mistakes(model):
        said, known = (one.reshape(25, -1) for one in (model.predict(X[25:]), y[25:]))
        return ((said - known) ** 2).sum() if Tree is DecisionTreeRegressor else (said != known).sum()

    found = prune_reduced_error(full, X[25:], y[25:])
    costs = {}
    for inner in prunings(full.tree_):
        cut = prune(full, 0.0)
        cut.tree_ = nodes.select(full.tree_, inner)
        costs[tuple(inner)] = (round(float(mistakes(cut)), 9), int(inner.sum()))
    assert len(costs) > 5 and full.get_n_leaves() == 7
    fewest, inner = min(costs.values())
    assert mistakes(found) == pytest.approx(fewest)
    assert found.get_n_leaves() == inner + 1  # of equals the smallest


def prunings(tree):
    """Every choice of inner nodes whose ancestors are inner too."""
    own, parent = np.flatnonzero(tree.feature >= 0), tree.parents()
    for chosen in product([False, True], repeat=len(own)):
        inner = np.zeros(tree.node_count, dtype=bool)
        inner[own] = chosen
        if all(parent[t] < 0 or inner[parent[t]] for t in np.flatnonzero(inner)):
            yield inner


def test_ccp_alpha_equals_prune():
    X, y = iris_ratios()
    a = DecisionTreeClassifier(ccp_alpha=0.02).fit(X, y)
    b = prune(DecisionTreeClassifier().fit(X, y), 0.02)
    assert np.array_equal(a.tree_.threshold, b.tree_.threshold)


def test_pruning_by_cross_validation_and_by_validation_rows():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    pruned, table = prune_cv(DecisionTreeClassifier(), X, y, cv=5)
    tight, _ = prune_cv(DecisionTreeClassifier(), X, y, cv=5, rule="1se")
    full = DecisionTreeClassifier().fit(X, y)
    assert tight.get_n_leaves() <= pruned.get_n_leaves() < full.get_n_leaves()
    assert table.mean.shape == table.ccp_alphas.shape
    again = prune_reduced_error(full, X[:150], y[:150])
    assert again.score(X[:150], y[:150]) >= full.score(X[:150], y[:150]) - 1e-12
    assert again.get_n_leaves() <= full.get_n_leaves()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
def test_categories_find_the_best_grouping(seed, classes):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (40, 1)).astype(float), rng.integers(0, classes, 40)
    model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y)
    present = np.unique(X)
    best = 0.0
    for bits in range(1, 2 ** (len(present) - 1)):
        left = np.isin(X[:, 0], [c for k, c in enumerate(present) if bits >> k & 1])
        inside = sum(s.sum() * impurity(np.bincount(y[s]), "gini") for s in (left, ~left))
        best = max(best, impurity(np.bincount(y)) - inside / 40)
    assert model.tree_.gain[0] / 40 == pytest.approx(best, abs=1e-12)


def test_unseen_category_goes_to_the_heavier_child():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"color": ["red", "red", "red", "blue"]})
    model = DecisionTreeClassifier().fit(X, [1, 1, 1, 0])
    assert model.predict(pd.DataFrame({"color": ["green", "blue", None]})).tolist() == [1, 0, 1]
    assert "color in {blue}" in model.to_text()


def test_explain_and_rules_agree_with_apply():
    X, y = iris_ratios()
    model = DecisionTreeClassifier(max_leaf_nodes=6).fit(X, y)
    rules = model.rules()
    assert len(rules) == 6
    grid = np.random.default_rng(0).uniform(0, 6, (200, 2))
    for x in grid[:20]:
        hits = [r for r in rules if all(_holds(test, x) for test in r.split(" -> ")[0].split(" and "))]
        assert len(hits) == 1
        assert model.explain(x)[-1] == hits[0].split(" -> ")[1]
    path = model.decision_path(X)
    assert (path[np.arange(len(X)), model.apply(X)] == 1).all()


def _holds(test, x):
    name, sign, number = test.split()
    value = x[int(name[1:])]
    return value <= float(number) if sign == "<=" else value > float(number)


def test_histograms_are_exact_for_few_values():
    X, y = small_data(3, n=400, values=50)
    exact = DecisionTreeClassifier().fit(X, y)
    binned = DecisionTreeClassifier(max_bins=255).fit(X, y)
    a, b = exact.tree_, binned.tree_
    for name in {*a._fields} - {"impurity", "gain"}:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    for name in ("impurity", "gain"):  # sums of 400 weights in another order
        assert_allclose(getattr(a, name), getattr(b, name), atol=400 * 400 * np.finfo(float).eps)
    X = X.copy()
    X[::7, 1] = np.nan
    a, b = DecisionTreeClassifier().fit(X, y), DecisionTreeClassifier(max_bins=255).fit(X, y)
    assert np.array_equal(a.tree_.threshold, b.tree_.threshold)


def test_random_splits_and_feature_subsets_are_reproducible():
    X, y = small_data(0)
    for options in ({"splitter": "random"}, {"max_features": 1}):
        a = DecisionTreeClassifier(random_state=0, **options).fit(X, y)
        b = DecisionTreeClassifier(random_state=0, **options).fit(X, y)
        c = DecisionTreeClassifier(random_state=1, **options).fit(X, y)
        assert same_tree(a, b)
        assert not same_tree(a, c)


def test_one_thread_equals_many():
    X, y = make_classification(20_000, 8, random_state=0)
    with threads(1):
        one = DecisionTreeClassifier(max_depth=6).fit(X, y)
    with threads(4):
        many = DecisionTreeClassifier(max_depth=6).fit(X, y)
    assert same_tree(one, many)


def test_monotone_constraints_hold():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = X[:, 0] + np.sin(6 * X[:, 1]) + rng.normal(0, 0.5, 300)
    model = DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y)
    line = np.linspace(-1, 1, 50)
    for v in (-0.5, 0.1, 0.7):
        assert (np.diff(model.predict(np.column_stack([line, np.full(50, v)]))) >= -1e-12).all()


def test_several_outputs():
    X = np.arange(20.0)[:, None]
    Y = np.column_stack([X[:, 0] > 9, X[:, 0] < 5]).astype(float)
    model = DecisionTreeRegressor().fit(X, Y)
    assert np.array_equal(model.predict(X), Y)
    assert model.n_outputs_ == 2


def test_intervals_and_distributions_of_leaves():
    X, y = np.repeat([0.0, 1.0], 50)[:, None], np.concatenate([np.arange(50.0), np.full(50, 7.0)])
    model = DecisionTreeRegressor(max_depth=1).fit(X, y)
    low, high = model.predict_interval([[0.0], [1.0]], 0.8)
    assert low == pytest.approx([4.9, 7.0]) and high == pytest.approx([44.1, 7.0])
    assert model.predict_distribution([[0.0]]).std() == pytest.approx(y[:50].std())


def test_poisson_splits_lower_the_deviance():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (200, 2))
    y = rng.poisson(np.exp(2 * (X[:, 0] > 0.5)))
    model = DecisionTreeRegressor(criterion="poisson", max_depth=2, min_samples_leaf=10).fit(X, y)
    assert model.tree_.feature[0] == 0
    assert (np.diff(model.impurities_) <= 1e-12).all()
    with pytest.raises(DataError, match="poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, -y)


def test_one_class_is_a_single_leaf():
    model = DecisionTreeClassifier().fit(EIGHT, np.ones(8))
    assert model.get_n_leaves() == 1
    assert model.feature_importances_.tolist() == [0.0]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        DecisionTreeClassifier(max_leaf_nodes=1).fit(EIGHT, LABELS)
    with pytest.raises(ValueError, match="Negative"):
        DecisionTreeClassifier().fit(EIGHT, LABELS, -np.ones(8))
    with pytest.raises(ValueError, match="inf"):
        DecisionTreeClassifier().fit([[np.inf], [1.0]], [0, 1])
    with pytest.raises(DataError, match="max_features"):
        DecisionTreeClassifier(max_features=2).fit(EIGHT, LABELS)
    with pytest.raises(DataError, match="multiway"):
        DecisionTreeClassifier(criterion="gain_ratio").fit(EIGHT, LABELS)


def test_neighboring_floats_separate():
    a = 1.0
    b = np.nextafter(a, 2.0)
    model = DecisionTreeClassifier().fit([[a], [b]], [0, 1])
    assert model.predict([[a], [b]]).tolist() == [0, 1]


def test_saved_trees_predict_the_same(tmp_path):
    X, y = iris_ratios()
    model = DecisionTreeClassifier().fit(X, y)
    gnomon.save(model, tmp_path / "tree.gnomon")
    assert np.array_equal(gnomon.load(tmp_path / "tree.gnomon").predict_proba(X), model.predict_proba(X))


@pytest.mark.parity
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_classification_tree_as_scikit_learn(criterion):
    from sklearn.tree import DecisionTreeClassifier as Peer

    X, y = make_classification(500, 6, n_informative=4, random_state=1)
    X = np.float32(X).astype(float)
    ours = DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(X, y)
    peer = Peer(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    assert ours.tree_.threshold[:2] == pytest.approx(peer.tree_.threshold[:2], rel=1e-6)
    totals = [
        (t.impurity * t.weighted_n_node_samples)[t.children_left < 0].sum() for t in (ours.tree_, peer.tree_)
    ]
    assert totals[0] == pytest.approx(totals[1])  # among equal splits the peer picks one at random


@pytest.mark.parity
def test_same_regression_tree_as_scikit_learn():
    from sklearn.tree import DecisionTreeRegressor as Peer

    X, y = make_regression(300, 5, random_state=1)
    X = np.float32(X).astype(float)
    for options in ({"max_depth": 4}, {"max_leaf_nodes": 9}, {"ccp_alpha": 50.0}):
        ours, peer = DecisionTreeRegressor(**options).fit(X, y), Peer(random_state=0, **options).fit(X, y)
        assert ours.predict(X) == pytest.approx(peer.predict(X))


# prediction and coding loops


@pytest.mark.parametrize("bytes_", [1, 2**13, 2**30])
def test_a_grove_adds_what_its_trees_answer_one_by_one(bytes_, monkeypatch):
    monkeypatch.setattr(nodes, "BLOCK_BYTES", bytes_)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ [1.0, 2.0, 3.0, 4.0]
    trees = [DecisionTreeRegressor(max_depth=d).fit(X, y + d).tree_ for d in range(1, 8)]
    columns = [t % 2 for t in range(7)]
    packed = nodes.pack_trees(trees, [tree.value[:, :, 0] for tree in trees], columns)
    expected = np.zeros((1000, 2))
    for tree, column in zip(trees, columns):
        expected[:, column] += tree.value[tree.apply(X), 0, 0]
    assert np.array_equal(packed.add(X, np.zeros((1000, 2))), expected)
    halves = packed.add(X, packed.add(X, np.zeros((1000, 2)), range(3)), range(3, 7))
    assert np.array_equal(halves, expected)


def test_a_grove_of_one_column_meets_more_rows_than_a_block_can_count():
    X = np.random.default_rng(1).normal(size=(70_000, 1))
    tree = DecisionTreeRegressor(max_depth=6).fit(X, np.sin(X[:, 0])).tree_
    edges = np.sort(tree.threshold[~tree.is_leaf])
    inside = np.searchsorted(edges, X[:, 0])  # leaves lie in order along the only axis
    leaves = np.flatnonzero(tree.is_leaf)[inside]
    assert np.array_equal(tree.apply(X), leaves)
    packed = nodes.pack_trees([tree], [tree.value[:, :, 0]], [0])
    assert np.array_equal(packed.add(X, np.zeros((70_000, 1)))[:, 0], tree.value[leaves, 0, 0])


def test_a_grove_copies_only_columns_that_its_trees_ask_for():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 500))
    tree = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 77] + (X[:, 402] > 0)).tree_
    packed = nodes.pack_trees([tree], [tree.value[:, :, 0]], [0])
    assert set(packed.features.tolist()) == set(tree.feature[~tree.is_leaf].tolist())
    assert np.array_equal(packed.add(X, np.zeros((300, 1)))[:, 0], tree.value[tree.apply(X), 0, 0])


def test_no_trees_add_nothing():
    assert nodes.pack_trees([], [], []).add(np.ones((3, 2)), np.ones((3, 1))).tolist() == [[1.0]] * 3


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_count_the_borders_below(dtype, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(70_000, 3)), dtype=dtype, order=order)
    X[::7, 1], X[:, 2] = np.nan, rng.integers(0, 9, 70_000)
    X[5, 2] = 42  # no category
    bins = find_bins(X, 200, np.array([0, 0, 9]))
    codes = bin_columns(X, bins)
    assert codes[2, 5] == 255
    for f in range(3):
        known = ~np.isnan(X[:, f]) & (X[:, f] < 42)
        assert np.array_equal(codes[f, known], np.searchsorted(bins.edges[f], X[known, f]))
        assert (codes[f, ~known] == 255).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("missing", [False, True])
def test_few_rows_end_where_many_do(dtype, missing, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(200, 4)).astype(dtype)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = np.nansum(X, axis=1) + rng.normal(size=200)
    for model in (DecisionTreeRegressor(), DecisionTreeClassifier()):
        model.fit(X, y if isinstance(model, DecisionTreeRegressor) else y.round(-1))
        assert model.tree_.is_walked_by(X)
        leaves, values = model.apply(X), model.predict(X)
        strided = model.apply(np.repeat(X, 2, axis=0)[::2])
        monkeypatch.setattr(nodes, "WALKED_ROWS", -1)
        np.testing.assert_array_equal(leaves, model.apply(X))
        np.testing.assert_array_equal(values, model.predict(X))
        np.testing.assert_array_equal(strided, leaves)
        monkeypatch.undo()
