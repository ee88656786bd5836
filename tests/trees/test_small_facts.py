"""Small facts of trees: bins, branches, gains, limits of rows, single leaves, the table behind a chosen pruning."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import KFold

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.trees import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    gain_curve,
    impurity,
    prune,
    prune_cv,
)
from gnomon.trees.binning import bin_columns, find_bins
from gnomon.trees.growing import prepare
from gnomon.trees.nodes import check_trees
from gnomon.trees.problems import signs_by_name


@pytest.mark.parametrize("max_bins", [2, 5, 11, 255])
def test_bins_of_weights_are_those_of_copies(max_bins):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 8, 60), np.full(60, 3.0)])
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(1, 5, 60).astype(float)
    none = np.zeros(3, np.int64)
    ours = find_bins(X, max_bins, none, weight)
    copies = find_bins(np.repeat(X, weight.astype(int), axis=0), max_bins, none)
    for one, other in zip(ours, copies, strict=True):
        np.testing.assert_array_equal(one, other)
    codes = bin_columns(X, ours)
    for f in range(3):
        there = ~np.isnan(X[:, f])
        assert (codes[f][~there] == 255).all()
        values, n = X[there, f], int(ours.n_bins[f])
        assert n <= max_bins and (n == len(np.unique(values)) or n > max_bins // 2)
        for b in range(n):
            inside = values[codes[f][there] == b]
            assert (inside.min(), inside.max()) == (ours.lows[f, b], ours.highs[f, b])
        edges = ours.edges[f, : n - 1]
        np.testing.assert_allclose(edges, (ours.highs[f, : n - 1] + ours.lows[f, 1:n]) / 2)
        assert np.isinf(ours.edges[f, n - 1 :]).all()
        if n < len(np.unique(values)):  # no bin is heavier than its share and one value more
            sizes = np.bincount(codes[f][there], weights=weight[there])
            heaviest = max(weight[X[:, f] == v].sum() for v in np.unique(values))
            assert sizes.max() <= weight[there].sum() / max_bins + heaviest + 1e-9


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_samples_leaf": 4},
        {"max_depth": 2},
        {"min_impurity_decrease": 0.02},
        {"criterion": "entropy"},
    ],
)
def test_branches_of_numbers_are_two(options):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5) ^ (rng.random(50) < 0.1)
    two = DecisionTreeClassifier(**options).fit(X, y)
    many = DecisionTreeClassifier(split="multiway", **options).fit(X, y)
    np.testing.assert_array_equal(many.tree_.feature, two.tree_.feature)
    np.testing.assert_allclose(many.tree_.threshold, two.tree_.threshold, rtol=1e-12)
    np.testing.assert_allclose(many.tree_.value, two.tree_.value, rtol=1e-12)
    np.testing.assert_allclose(many.tree_.gain, two.tree_.gain, atol=1e-9)
    assert two.get_n_leaves() > 2


@pytest.mark.parametrize("rule", ["min", "1se"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_table_behind_a_pruning_by_definition(kind, rule):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.8 * rng.normal(size=60)
    y = (y > 0).astype(int) if kind == "classes" else y
    model = (DecisionTreeClassifier if kind == "classes" else DecisionTreeRegressor)(min_samples_leaf=3)
    folds = KFold(4)
    found, table = prune_cv(model, X, y, cv=folds, rule=rule)
    whole = clone(model).fit(X, y)
    path = whole.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(table.ccp_alphas, path.ccp_alphas)
    alphas = [np.sqrt(a * b) for a, b in zip(path.ccp_alphas, path.ccp_alphas[1:])] + [
        path.ccp_alphas[-1] * 2
    ]
    scores = []
    for train, test in folds.split(X):
        grown = clone(model).fit(X[train], y[train])
        cut = [prune(grown, alpha).predict(X[test]) for alpha in alphas]
        if kind == "classes":
            scores.append([np.mean(said == y[test]) for said in cut])
        else:
            rest = ((y[test] - y[test].mean()) ** 2).sum()
            scores.append([1 - ((y[test] - said) ** 2).sum() / rest for said in cut])
    np.testing.assert_allclose(table.scores, scores, rtol=1e-10, atol=1e-12)
    mean, error = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / 2
    np.testing.assert_allclose(table.mean, mean, atol=1e-12)
    np.testing.assert_allclose(table.error, error, atol=1e-12)
    best = max(k for k in range(len(mean)) if mean[k] >= mean.max() - 1e-12)
    if rule == "1se":
        best = max(k for k in range(len(mean)) if mean[k] >= mean[best] - error[best])
    assert found.get_n_leaves() == table.n_leaves[best]
    np.testing.assert_array_equal(found.predict(X), prune(whole, path.ccp_alphas[best]).predict(X))


def spread_of(weights, criterion):
    """Gini's index or the entropy in bits, by its definition."""
    p = np.array([w for w in weights if w > 0]) / sum(weights)
    return 1 - (p**2).sum() if criterion == "gini" else -(p * np.log2(p)).sum()


class Branching:
    """ID3 by trying everything: nodes in the order in which they are met, a dict each."""

    def __init__(self, X, y, w, counts, criterion, *, leaf=1, split=2, weight=0.0, decrease=0.0, depth=99):
        self.X, self.y, self.w, self.counts, self.criterion = X, y, w, counts, criterion
        self.leaf, self.split, self.least, self.decrease, self.depth = leaf, split, weight, decrease, depth
        self.copies = w if (w == np.floor(w)).all() else np.ones(len(w))
        self.inner = "gini" if criterion == "gini" else "entropy"
        self.nodes = []
        self.grow(np.arange(len(y)), 0, ())

    def shares(self, rows):
        return [self.w[rows][self.y[rows] == k].sum() for k in range(self.y.max() + 1)]

    def splits(self, rows, used):
        for f in range(self.X.shape[1]):
            x = self.X[rows, f]
            if self.counts[f]:
                if f not in used:
                    yield f, np.nan, [rows[x == c] for c in range(self.counts[f])]
            else:
                values = sorted(set(x.tolist()))
                for a, b in zip(values, values[1:]):
                    yield f, (a + b) / 2, [rows[x <= (a + b) / 2], rows[x > (a + b) / 2]]

    def gain(self, rows, parts):
        sizes = [self.w[part].sum() for part in parts]
        inside = sum(s * spread_of(self.shares(part), self.inner) for s, part in zip(sizes, parts) if s)
        found = spread_of(self.shares(rows), self.inner) - inside / sum(sizes)
        if self.criterion == "gain_ratio":
            return found / spread_of(sizes, "entropy") if sum(s > 0 for s in sizes) > 1 else 0.0
        return found

    def grow(self, rows, depth, used):
        node = {"rows": len(rows), "weight": self.w[rows].sum(), "feature": -2, "gain": 0.0, "children": []}
        self.nodes.append(node)
        if not len(rows):
            return
        shares = self.shares(rows)
        node["value"] = np.array(shares) / sum(shares)
        if depth >= self.depth or max(shares) == sum(shares) or self.copies[rows].sum() < self.split:
            return
        best = (-1.0, None)
        for f, cut, parts in self.splits(rows, used):
            full = [part for part in parts if len(part)]
            enough = all(
                self.copies[part].sum() >= self.leaf and self.w[part].sum() >= self.least for part in full
            )
            gain = self.gain(rows, parts)
            if enough and gain > best[0] + 1e-12:
                best = (gain, (f, cut, parts))
        if best[1] is None or best[0] * node["weight"] < self.decrease * self.w.sum() - 1e-12:
            return
        f, cut, parts = best[1]
        node |= {"feature": f, "threshold": cut, "gain": best[0] * node["weight"]}
        for part in parts:
            node["children"].append(len(self.nodes))
            self.grow(part, depth + 1, (*used, f) if self.counts[f] else used)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({}, {}),
        ({"max_depth": 2}, {"depth": 2}),
        ({"min_samples_leaf": 3}, {"leaf": 3, "split": 6}),
        ({"min_samples_split": 13}, {"split": 13}),
        ({"min_weight_fraction_leaf": 0.06}, {"weight": 0.06}),
        ({"min_impurity_decrease": 0.03}, {"decrease": 0.03}),
    ],
    ids=["none", "depth", "leaf", "split", "weight", "decrease"],
)
@pytest.mark.parametrize("kind", ["plain", "copies", "weights"])
def test_trees_of_many_branches_by_trying_everything(kind, options, limits, criterion):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 4, 48), rng.integers(0, 3, 48), rng.integers(0, 5, 48) / 4])
    y = (X[:, 0] + (X[:, 1] == 2) * X[:, 2] * 4 + rng.integers(0, 2, 48)).astype(int) % 3
    w = {"plain": np.ones(48), "copies": rng.integers(1, 4, 48) * 1.0, "weights": rng.uniform(0.2, 3, 48)}[
        kind
    ]
    limits = {**limits, **({"weight": 0.06 * w.sum()} if "weight" in limits else {})}
    model = DecisionTreeClassifier(
        criterion=criterion, split="multiway", categorical_features=[0, 1], **options
    ).fit(X, y, w)
    tree, twin = model.tree_, Branching(X, y, w, [4, 3, 0], criterion, **limits).nodes
    assert tree.node_count == len(twin) > 3
    np.testing.assert_array_equal(tree.feature, [node["feature"] for node in twin])
    np.testing.assert_array_equal(tree.n_node_samples, [node["rows"] for node in twin])
    np.testing.assert_allclose(tree.weighted_n_node_samples, [node["weight"] for node in twin])
    np.testing.assert_allclose(tree.gain, [node["gain"] for node in twin], atol=1e-9)
    splits = 0
    for t, node in enumerate(twin):
        if node["rows"]:
            np.testing.assert_allclose(tree.value[t, 0], node["value"])
        if node["feature"] < 0:
            continue
        splits += 1
        assert tree.split_order[t] == splits and tree.children(t) == node["children"]
        if node["feature"] == 2:
            assert tree.threshold[t] == pytest.approx(node["threshold"])
        for child in node["children"]:  # a branch without rows says what its node says
            if not twin[child]["rows"]:
                np.testing.assert_allclose(tree.value[child, 0], node["value"])


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_a_category_of_all_rows_gains_nothing(criterion):
    """One branch has all rows: neither the gain nor the ratio of nothing to nothing is anything."""
    X = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    options = {"criterion": criterion, "split": "multiway", "categorical_features": [0, 1]}
    for columns, asked in (([0, 1], 1), ([1, 0], 0)):
        tree = DecisionTreeClassifier(**options).fit(X[:, columns], [1, 0, 1, 0]).tree_
        assert tree.feature[0] == asked and tree.gain[0] == pytest.approx(
            4 * (0.5 if criterion == "gini" else 1)
        )
    lonely = DecisionTreeClassifier(**options).fit(X[:, [0, 0]], [1, 0, 1, 0]).tree_
    assert lonely.gain.tolist() == [0.0] * lonely.node_count


def test_classes_of_every_column_of_a_target_are_counted():
    X = np.arange(12.0)[:, None]
    three = np.repeat(["u", "v", "w"], 4)
    two = np.repeat([0, 1], 6)
    tree = DecisionTreeClassifier().fit(X, np.column_stack([two, two + 2 * (X[:, 0] > 8)])).tree_
    assert tree.n_classes.tolist() == [2, 3] and (tree.n_outputs, tree.max_n_classes) == (2, 3)
    back = DecisionTreeClassifier().fit(X, np.column_stack([two + 2 * (X[:, 0] > 8), two])).tree_
    assert back.n_classes.tolist() == [3, 2]
    one = DecisionTreeClassifier().fit(X, three, np.where(three == "w", 0.0, 1.0)).tree_
    assert one.n_classes.tolist() == [3] and one.value.shape[1:] == (1, 3)
    flat = DecisionTreeClassifier().fit(X, np.column_stack([two, np.zeros(12, int)])).tree_
    assert flat.n_classes.tolist() == [2, 1]
    numbers = DecisionTreeRegressor().fit(X, np.column_stack([two, two])).tree_
    assert numbers.n_classes.tolist() == [1, 1] and (numbers.n_outputs, numbers.max_n_classes) == (2, 1)
    assert DecisionTreeRegressor().fit(X, two).tree_.n_classes.tolist() == [1]


@pytest.mark.parametrize("options", [{"min_samples_leaf": 7}, {"min_samples_split": 25}])
@pytest.mark.parametrize("times", [0.15, 0.5, 7.3])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_limits_of_rows_do_not_look_at_weights_that_are_no_numbers_of_rows(kind, times, options):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 30, size=(120, 2)) / 4
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + rng.normal(size=120)
    Model = DecisionTreeClassifier if kind == "classes" else DecisionTreeRegressor
    y = (y > y.mean()).astype(int) if kind == "classes" else y
    w = rng.uniform(0.5, 1.5, 120) * times
    binned, exact = (Model(max_bins=bins, **options).fit(X, y, w).tree_ for bins in (255, None))
    np.testing.assert_array_equal(binned.feature, exact.feature)
    np.testing.assert_allclose(binned.threshold, exact.threshold)
    for tree in (binned, exact):
        sizes = tree.n_node_samples
        if "min_samples_leaf" in options:
            assert sizes[tree.is_leaf].min() >= 7 and sizes[tree.is_leaf].min() < 12
        else:
            assert sizes[~tree.is_leaf].min() >= 25 and sizes[tree.is_leaf].min() < 12


def test_gains_of_thresholds_do_not_see_missing_values_and_rows_without_weight():
    x = np.array([1.0, 2.0, np.nan, 4.0, 4.0, 9.0])
    w = np.array([1.0, 2.0, 5.0, 1.0, 3.0, 0.0])
    y = np.array([0, 1, 1, 1, 0, 2])
    curve = gain_curve(x, y, sample_weight=w)
    np.testing.assert_allclose(curve.thresholds, [1.5, 3.0])
    np.testing.assert_allclose(curve.left_counts, [[1.0, 0.0], [1.0, 2.0]])
    whole = spread_of([4, 3], "gini")
    inside = [6 * spread_of([3, 3], "gini"), 3 * spread_of([1, 2], "gini") + 4 * spread_of([3, 1], "gini")]
    np.testing.assert_allclose(curve.gains, [whole - part / 7 for part in inside])
    t = np.array([0.0, 3.0, 100.0, -1.0, 1.0, 7.0])
    numbers = gain_curve(x[:, None], t, 0, "squared_error", w)
    np.testing.assert_allclose(numbers.left_counts, [1.0, 3.0])

    def left(rows):
        return (w[rows] * (t[rows] - np.average(t[rows], weights=w[rows])) ** 2).sum()

    all_ = [0, 1, 3, 4]
    np.testing.assert_allclose(
        numbers.gains,
        [(left(all_) - left([0]) - left([1, 3, 4])) / 7, (left(all_) - left([0, 1]) - left([3, 4])) / 7],
    )
    for criterion in ("gini", "squared_error"):
        flat = gain_curve(np.full(4, 2.0), [0, 1, 0, 1], criterion=criterion)
        assert [len(part) for part in flat] == [0, 0, 0]


def test_a_single_leaf_is_pruned_checked_and_saved(tmp_path):
    leaf = DecisionTreeRegressor(ccp_alpha=0.1).fit([[0.0], [1.0]], [3.0, 3.0])
    for model in (leaf, prune(leaf, 5.0), prune(leaf, 0.0)):
        assert model.get_n_leaves() == model.tree_.node_count == 1 and model.predict([[9.0]]).tolist() == [
            3.0
        ]
    path = leaf.cost_complexity_pruning_path([[0.0], [1.0]], [3.0, 3.0])
    assert (path.ccp_alphas.tolist(), path.impurities.tolist(), path.n_leaves.tolist()) == ([0.0], [0.0], [1])
    check_trees([leaf.tree_], 1, 1)
    check_trees((leaf.tree_,), 5, None)
    tree = DecisionTreeClassifier().fit([[0.0, 5.0], [0.0, 6.0]], [0, 1]).tree_
    check_trees([leaf.tree_, tree], 2)
    for trees, columns, width in (([tree], 1, 2), ([tree], 2, 3), ([tree], 2, 1), ([leaf.tree_], 1, 2)):
        with pytest.raises(ModelFileError, match="columns or classes"):
            check_trees(trees, columns, width)
    for trees in (tree, [tree, None], {0: tree}):
        with pytest.raises(ModelFileError, match="something else"):
            check_trees(trees, 9)
    save(leaf, tmp_path / "leaf")
    assert load(tmp_path / "leaf").predict([[0.0], [4.0]]).tolist() == [3.0, 3.0]


def test_impurities_before_and_after_every_split_of_many_branches():
    X = np.array([[0.0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [2, 1]])
    y = [0, 1, 1, 0, 1, 0]
    model = DecisionTreeClassifier(split="multiway", categorical_features=[0, 1], criterion="entropy").fit(
        X, y
    )
    tree, leaves, shown = model.tree_, {0}, []
    for step in range(tree.node_count):
        shown.append(sum(tree.weighted_n_node_samples[t] / 6 * tree.impurity[t] for t in leaves))
        inner = [t for t in range(tree.node_count) if tree.split_order[t] == step + 1]
        if not inner:
            break
        leaves = leaves - set(inner) | set(tree.children(inner[0]))
    assert len(shown) == 1 + (tree.split_order > 0).sum() > 2
    np.testing.assert_allclose(model.impurities_, shown, atol=1e-12)
    binary = DecisionTreeClassifier().fit(X, y)
    assert len(binary.impurities_) == binary.get_n_leaves()


def test_poisson_impurity_is_half_the_mean_deviance():
    y, w = np.array([0.0, 2.0, 5.0]), np.array([1.0, 3.0, 2.0])
    mean = (2 * 3 + 5 * 2) / 6
    parts = [mean, 2 * np.log(2 / mean) - 2 + mean, 5 * np.log(5 / mean) - 5 + mean]
    assert impurity(y, "poisson", w) == pytest.approx(np.dot(w, parts) / 6)
    assert impurity([3.0, 3.0], "poisson") == pytest.approx(0.0) and impurity([0.0, 0.0], "poisson") == 0.0
    assert impurity(y, "squared_error", w) == pytest.approx(np.dot(w, (y - mean) ** 2) / 6)
    assert impurity(y, "absolute_error", w) == pytest.approx((2 * 1 + 0 * 3 + 3 * 2) / 6)
    assert impurity(y, "absolute_error") == pytest.approx((2 + 0 + 3) / 3)


@pytest.mark.parametrize("kind", ["stump", "tree"])
def test_balanced_classes_weigh_the_same(kind):
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 1, 1, 2])
    w = np.array([1.0, 1, 1, 1, 2, 3, 1, 0])
    share = np.array([6.0, 4.0, 0.0])
    factor = np.array([10 / (3 * 6), 10 / (3 * 4), 0.0])  # by weight; a class of no weight weighs nothing
    if kind == "tree":
        one = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(X, y, w)
        told = DecisionTreeClassifier(max_depth=1).fit(X, y, w * factor[y])
        np.testing.assert_allclose(one.tree_.value, told.tree_.value)
        np.testing.assert_allclose(one.tree_.weighted_n_node_samples[0], (share * factor).sum())
        given = DecisionTreeClassifier(class_weight={0: 2.0, 1: 1.0, 2: 5.0}, max_depth=1).fit(X, y, w)
        alone = DecisionTreeClassifier(max_depth=1).fit(X, y, w * np.array([2.0, 1.0, 5.0])[y])
        np.testing.assert_allclose(given.tree_.value, alone.tree_.value)
    else:
        stump = DecisionStump().fit(np.column_stack([np.zeros(8), X, X[::-1]]), y > 0, w)
        assert stump.feature_importances_.tolist() == [0.0, 1.0, 0.0]
        none = DecisionStump().fit(np.zeros((4, 2)), [0, 1, 0, 1])
        assert none.feature_importances_.tolist() == [0.0, 0.0]


def test_logarithms_of_shares():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 1, 0])
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
        two = DecisionTreeClassifier(max_depth=1).fit(X, np.column_stack([y, 1 - y]))
        for logs, shares in zip(two.predict_log_proba(X), two.predict_proba(X), strict=True):
            np.testing.assert_array_equal(logs, np.log(shares))


def test_a_question_for_missing_values_is_told_in_words():
    X = np.array([[np.nan], [np.nan], [1.0], [2.0]])
    model = DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])
    assert "x0 present" in model.to_text() and "x0 missing" in model.to_text()
    assert "missing" in " ".join(model.explain([np.nan])) and "present" in " ".join(model.explain([1.5]))


def test_categories_of_a_polars_frame():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["u", "v", "u", None]})
    model = DecisionTreeClassifier(categorical_features=["kind"]).fit(frame, [0, 1, 0, 1])
    twin = DecisionTreeClassifier(categorical_features=["kind"]).fit(frame.to_pandas(), [0, 1, 0, 1])
    assert model.categories_[1].tolist() == twin.categories_[1].tolist() == ["u", "v"]
    assert model.predict(frame).tolist() == twin.predict(frame.to_pandas()).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("max_bins", [None, 4])
def test_columns_of_prepared_rows_can_be_chosen(max_bins):
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[:, 2] = np.arange(20) % 3
    counts = np.array([0, 0, 3, 0])
    chosen = np.array([2, 0])
    some, few = prepare(X, counts, max_bins).choose(chosen), prepare(X[:, chosen], counts[chosen], max_bins)
    assert some.exact == few.exact == (max_bins is None)
    assert some.categories.tolist() == few.categories.tolist() == [3, 0]
    for name in ("columns", "order") if max_bins is None else ("codes",):
        np.testing.assert_array_equal(getattr(some, name), getattr(few, name))
    if max_bins:
        for one, other in zip(some.bins, few.bins, strict=True):
            np.testing.assert_array_equal(one, other)


def test_bins_of_very_many_rows_are_those_of_a_sample(monkeypatch):
    monkeypatch.setattr("gnomon.trees.binning.SAMPLE", 50)
    X = np.random.default_rng(0).normal(size=(500, 2))
    none = np.zeros(2, np.int64)
    found, again = find_bins(X, 8, none), find_bins(X, 8, none)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, other)
    codes = bin_columns(X, found)
    shares = np.array([np.bincount(line, minlength=8) for line in codes]) / 500
    assert found.n_bins.tolist() == [8, 8] and shares.min() > 0.03 and shares.max() < 0.3


def test_signs_of_columns_by_name():
    rows = SimpleNamespace(feature_names=np.array(["a", "b", "c"]))
    assert signs_by_name({"c": -1, "a": 1}, rows) == [1, 0, -1]
    assert signs_by_name([0, 1, 0], rows) == [0, 1, 0] and signs_by_name(None, rows) is None
    with pytest.raises(DataError, match=r"names \['d', 'e'\], and X has the columns \['a', 'b', 'c'\]"):
        signs_by_name({"e": 1, "a": 1, "d": -1}, rows)
    with pytest.raises(DataError, match=r"X has the columns \[\]"):
        signs_by_name({"a": 1}, SimpleNamespace(feature_names=None))


@pytest.mark.parametrize("asked", [None, 0, 1])
def test_all_of_a_stump_rests_on_what_it_asks(asked):
    X = np.zeros((4, 2))
    if asked is not None:
        X[2:, asked] = 1.0
    stump = DecisionStump().fit(X, [0, 0, 1, 1])
    assert stump.feature_importances_.tolist() == [float(asked == f) for f in (0, 1)]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_weight_are_no_border_of_a_stump(sparse):
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    stump = DecisionStump().fit(csr_array(X) if sparse else X, [0, 0, 1, 1], [1.0, 2.0, 0.0, 1.0])
    assert stump.threshold_ == 5.5 and stump.predict(X).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_stump_asks_nothing_where_no_question_is_better(sparse):
    X, y = (
        np.arange(5.0)[:, None],
        [0, 0, 1, 0, 0],
    )  # opposite answers are right three times, one answer four times
    X = csr_array(X) if sparse else X
    constant, asking = DecisionStump().fit(X, y), DecisionStump(allow_constant=False).fit(X, y)
    assert constant.feature_importances_.tolist() == [0.0] and constant.predict(X).tolist() == [0] * 5
    assert asking.feature_importances_.tolist() == [1.0] and (asking.predict(X) == y).sum() == 3
    even = DecisionStump().fit(X, y, [1.0, 1.0, 2.0, 0.0, 0.0])  # here a question is right all four times
    assert even.threshold_ == 1.5 and even.predict(X).tolist() == [0, 0, 1, 1, 1]


def test_zeros_of_sparse_columns_lie_between_the_signs():
    X = np.array([[-0.5, 0.25], [0.0, 0.5], [0.0, 0.0], [0.5, -0.75], [0.75, 0.0], [-1.0, 0.0]])
    for y in np.ndindex(2, 2, 2, 2, 2, 2):
        if len(set(y)) == 2:
            dense, sparse = DecisionStump().fit(X, y), DecisionStump().fit(csr_array(X), y)
            assert (sparse.feature_, sparse.threshold_) == (dense.feature_, dense.threshold_)
            assert sparse.predict(X).tolist() == dense.predict(X).tolist()


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 3.0])])
def test_a_column_without_values_is_one_bin(weight):
    X = np.array([[np.nan, 2.0], [np.nan, np.nan], [np.nan, 1.0]])
    bins = find_bins(X, 8, np.zeros(2, np.int64), weight)
    assert bins.n_bins.tolist() == [1, 2] and np.isinf(bins.edges[0]).all()
    assert bins.edges[1, 0] == 1.5 and np.isinf(bins.edges[1, 1:]).all()
    assert bin_columns(X, bins).tolist() == [[255] * 3, [1, 255, 0]]
