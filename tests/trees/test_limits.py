"""Limits of growth hold for every way to grow, and what contradicts itself is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.trees import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    information_gain,
    prune,
)


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


def test_a_node_too_small_for_two_leaves_is_not_split():
    X = pd.DataFrame({"same": pd.Categorical(["a"] * 7, categories=["a", "b"])})  # one branch has all rows
    y = [0, 1, 0, 1, 1, 1, 0]
    for rows, nodes in ((3, 2), (4, 1)):
        tree = DecisionTreeClassifier(split="multiway", min_samples_leaf=rows).fit(X, y).tree_
        assert tree.node_count == nodes


def test_missing_values_of_a_multiway_tree_use_the_table_of_branches():
    tree = multiway()
    assert (tree.missing_go_to_left[~tree.is_leaf] == -1).all()


def test_small_nodes_of_a_tree_of_medians_are_not_split():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    for least in (2, 9, 30):
        options = {"min_samples_split": least, "min_samples_leaf": 2}
        tree = DecisionTreeRegressor(criterion="absolute_error", **options).fit(X, y).tree_
        sizes = tree.n_node_samples
        assert sizes[~tree.is_leaf].min() >= max(least, 4) and sizes[tree.is_leaf].min() >= 2
        assert (least > 9) or sizes[~tree.is_leaf].min() <= 12  # nothing else holds them up


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


@pytest.mark.parametrize(
    ("asked", "columns", "looks"),
    [("sqrt", 3, 1), ("sqrt", 9, 3), ("log2", 1, 1), ("log2", 8, 3), (0.1, 5, 1), (0.5, 5, 2), (4, 5, 4), (None, 5, 5)],
)  # fmt: skip
def test_a_split_looks_at_one_column_at_least(asked, columns, looks):
    X = np.random.default_rng(0).normal(size=(20, columns))
    model = DecisionTreeClassifier(max_features=asked, random_state=0).fit(X, X[:, 0] > 0)
    assert model.max_features_ == looks


def test_targets_of_a_leaf_are_those_of_its_rows_in_any_order():
    rng = np.random.default_rng(0)
    X = rng.permutation(60)[:, None].astype(float)
    y = X[:, 0] ** 2 + rng.normal(size=60)
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    leaf = model.apply(X)
    low, high = model.predict_interval(X, 0.5)
    for t in np.unique(leaf):
        quarters = np.quantile(y[leaf == t], [0.25, 0.75])
        np.testing.assert_allclose(low[leaf == t], quarters[0])
        np.testing.assert_allclose(high[leaf == t], quarters[1])
        spread = model.predict_distribution(X[leaf == t][:1])
        assert spread.std() == pytest.approx(y[leaf == t].std()) and spread.mean() == pytest.approx(
            y[leaf == t].mean()
        )


PARTS = {
    "numbers": DecisionTreeRegressor(min_samples_leaf=3),
    "classes": DecisionTreeClassifier(criterion="entropy", random_state=0),
    "categories": DecisionTreeRegressor(categorical_features=[3], min_samples_leaf=4),
    "few columns": DecisionTreeClassifier(max_features=2, random_state=1),
    "random cuts": DecisionTreeRegressor(splitter="random", random_state=2, max_depth=6),
    "least gain": DecisionTreeRegressor(min_impurity_decrease=0.05),
    "bins": DecisionTreeRegressor(max_bins=20, min_samples_leaf=5),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_tree_grown_by_parts_is_the_tree_grown_whole(name, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    X[:, 3] = rng.integers(0, 6, size=400)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] + (X[:, 3] == 2) * 2.0) + 0.3 * rng.normal(size=400)
    y = (y > 0.5).astype(int) if isinstance(PARTS[name], DecisionTreeClassifier) else y
    whole = clone(PARTS[name]).fit(X, y)
    monkeypatch.setattr("gnomon.trees.growing.LARGE_NODE", 40)
    parts = clone(PARTS[name]).fit(X, y)
    assert whole.tree_.node_count > 5
    for field, a, b in zip(whole.tree_._fields, whole.tree_, parts.tree_, strict=True):
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=field)
        else:
            np.testing.assert_array_equal(a, b, err_msg=field)


def test_walks_that_cannot_end_are_refused():
    """A branch may name its own node: a category that no row has had ends there. Earlier nodes are a circle."""
    X = np.array([[0.0], [0], [1], [1], [3], [3]])  # the column has no 2
    model = DecisionTreeClassifier(split="multiway", categorical_features=[0]).fit(X, [0, 0, 1, 1, 0, 1])
    tree = model.tree_
    assert 0 in tree.branches and model.predict_proba([[2.0]])[0] == pytest.approx([0.5, 0.5])
    tree._check_loaded()
    last = len(tree.branches) - 1
    for name, change in (
        ("branches", np.where(tree.branches > 0, tree.node_count, 0)),
        ("branches", np.full(last + 1, -1)),
        ("branches", tree.branches[:last]),
        ("branch_count", tree.branch_count - 100),
        ("branch_start", tree.branch_start[:-1]),
    ):
        with pytest.raises(ModelFileError, match="nowhere|fit each other"):
            tree._replace(**{name: change.astype(np.int32)})._check_loaded()
    plain = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 0]).tree_
    plain._check_loaded()
    for name, change in (
        ("children_right", np.where(plain.children_right > 0, 0, -1)),
        ("children_right", np.where(plain.children_right > 0, plain.node_count, -1)),
        ("children_left", np.where(plain.children_left > 0, plain.children_left + 1, -1)),
    ):
        with pytest.raises(ModelFileError, match="nowhere"):
            plain._replace(**{name: change.astype(np.int32)})._check_loaded()


DAMAGES = {
    "a list": ("feature", list, "no arrays"),
    "one feature less": ("feature", lambda a: a[:-1], "fit each other"),
    "one weight less": ("weighted_n_node_samples", lambda a: a[:-1], "fit each other"),
    "one value less": ("value", lambda a: a[:-1], "fit each other"),
    "features of two columns": ("feature", lambda a: np.stack([a, a], axis=1), "fit each other"),
    "features that are no whole numbers": ("feature", lambda a: a.astype(float), "fit each other"),
    "children that are no whole numbers": ("children_left", lambda a: a.astype(float), "fit each other"),
    "branches that are no whole numbers": ("branches", lambda a: a.astype(float), "fit each other"),
    "values of two dimensions": ("value", lambda a: a[:, 0], "fit each other"),
    "values that are whole numbers": ("value", lambda a: a.astype(int), "fit each other"),
    "gains of two columns": ("gain", lambda a: np.stack([a, a], axis=1), "wrong shape"),
    "branches of two columns": ("branches", lambda a: a[None], "wrong shape"),
    "thresholds that are whole numbers": ("threshold", lambda a: a.astype(int), "nowhere"),
    "a left child that is the node": ("children_left", lambda a: a - (a == 1), "nowhere"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_arrays_that_make_no_tree_are_refused(name):
    X = np.arange(16.0).reshape(8, 2)
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1, 0, 0, 1, 0, 1]).tree_
    tree._check_loaded()
    DecisionTreeClassifier().fit(X, np.zeros(8)).tree_._check_loaded()  # a single leaf
    field, change, words = DAMAGES[name]
    with pytest.raises(ModelFileError, match=words):
        tree._replace(**{field: change(getattr(tree, field))})._check_loaded()
    with pytest.raises(ModelFileError, match="fit each other"):
        tree._replace(**{part: getattr(tree, part)[:0] for part in tree._fields})._check_loaded()


@pytest.mark.parametrize(
    "change",
    [
        {"feature": 2},
        {"feature": -2},
        {"left": 2},
        {"right": 2},
        {"left": -1},
        {"feature": 0.0},
        {"right": 1.0},
    ],
)
def test_a_question_that_a_saved_stump_cannot_ask_is_refused(change, tmp_path):
    model = DecisionStump().fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
    save(model, tmp_path / "sound")
    assert load(tmp_path / "sound").predict([[0.0, 9.0]]).tolist() == [0]
    for sound in ({"feature": 1}, {"feature": -1}, {"left": 1, "right": 1}):
        model.stump_ = model.stump_._replace(**sound)
        save(model, tmp_path / "other")
        load(tmp_path / "other")
    model.stump_ = model.stump_._replace(**change)
    save(model, tmp_path / "broken")
    with pytest.raises(ModelFileError, match="question or answers"):
        load(tmp_path / "broken")


@pytest.mark.parametrize(
    "change",
    [
        lambda y, starts: (y, starts[:-1]),
        lambda y, starts: (y, starts.astype(float)),
        lambda y, starts: (y, starts - 1),
        lambda y, starts: (y, starts[::-1].copy()),
        lambda y, starts: (y[:-1], starts),
        lambda y, starts: (y, np.zeros_like(starts)),
    ],
)
def test_targets_of_leaves_in_a_file_have_to_fit_its_tree(change, tmp_path):
    model = DecisionTreeRegressor(max_depth=2).fit(np.arange(8.0)[:, None], np.arange(8.0) ** 2)
    save(model, tmp_path / "sound")
    low, high = load(tmp_path / "sound").predict_interval([[0.0]], 1.0)
    inside = model.apply(np.arange(8.0)[:, None]) == model.apply([[0.0]])
    assert (low[0], high[0]) == (0.0, np.arange(8.0)[inside].max() ** 2)
    model.leaf_targets_ = change(*model.leaf_targets_)
    save(model, tmp_path / "broken")
    with pytest.raises(ModelFileError, match="targets of its leaves"):
        load(tmp_path / "broken")


WORDS = pd.DataFrame({"place": list("abcabcab"), "size": np.arange(8.0), "kind": list("xyxyyxyx")})
KINDS = np.array([0, 1, 0, 0, 1, 0, 0, 1])


@pytest.mark.parametrize(
    ("asked", "rows", "columns"),
    [
        ("from_dtype", WORDS, [0, 2]),
        ("from_dtype", WORDS[["size"]], []),
        (["kind"], WORDS[["size", "kind"]], [1]),
        (["kind", "place"], WORDS, [0, 2]),
        ([0, 2], WORDS, [0, 2]),
        ([True, False, True], WORDS, [0, 2]),
        (np.array([True, False, True]), WORDS.to_numpy(), [0, 2]),
        ([0, 2], WORDS.to_numpy(), [0, 2]),
        ([0], np.array([[3.0, 1.0], [5.0, 2.0]] * 4), [0]),
        (None, np.array([[3.0, 1.0], [5.0, 2.0]] * 4), []),
        ([], np.array([[3.0, 1.0], [5.0, 2.0]] * 4), []),
    ],
)
def test_columns_of_categories_are_named_in_many_ways(asked, rows, columns):
    model = DecisionTreeClassifier(categorical_features=asked).fit(rows, KINDS)
    assert sorted(model.categories_) == columns
    for j, values in model.categories_.items():
        seen = rows.iloc[:, j] if hasattr(rows, "iloc") else rows[:, j]
        assert values.tolist() == sorted(set(seen.tolist()))
    assert (model.predict(rows) == KINDS).mean() >= 0.5


@pytest.mark.parametrize(
    ("asked", "rows", "words"),
    [
        ([True, False], np.zeros((8, 3)), "mask of shape"),
        (["kind"], np.zeros((8, 3)), "X has none"),
        ([3], np.zeros((8, 3)), "from 0 to 2"),
        ([-1], np.zeros((8, 3)), "from 0 to 2"),
    ],
)
def test_columns_of_categories_that_are_not_there_are_named(asked, rows, words):
    with pytest.raises(DataError, match=words):
        DecisionTreeClassifier(categorical_features=asked).fit(rows, KINDS)


def test_a_category_that_is_missing_or_new_goes_somewhere():
    rows = WORDS.copy()
    rows.loc[[1, 4], "kind"] = None
    model = DecisionTreeClassifier(categorical_features=["place", "kind"], max_depth=2).fit(rows, KINDS)
    assert model.categories_[2].tolist() == ["x", "y"]
    strange = pd.DataFrame({"place": ["q"], "size": [1.0], "kind": [None]})
    assert model.predict_proba(strange).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "table", [[[0.0, 0.0]], [[1.0, -1e-9]], [1.0, 2.0], [[1.0, np.inf]], [[np.nan, 1.0]]]
)
def test_what_is_no_table_of_counts_is_refused(table):
    with pytest.raises(DataError, match="table of finite numbers"):
        information_gain(table)
    assert information_gain([[1.0, 0.0], [0.0, 1.0]]) == 1.0
    assert information_gain([[0.0, 0.0], [2.0, 2.0]]) == 0.0
