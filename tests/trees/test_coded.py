"""Trees grown from byte codes against a slow and obvious twin; packed walks against a step by step descent."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gnomon.core.randomness import draw_seed, generator
from gnomon.core.threads import threads
from gnomon.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor, coded, nodes

FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]
MASK = 2**64 - 1


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def uniform(x):
    return (mixed(x) >> 11) / 2**53


def loss(y, w, classes):
    """Weight times impurity."""
    if classes:
        shares = np.bincount(y, weights=w) / w.sum()
        return w.sum() * (1 - shares @ shares)
    return w @ (y - w @ y / w.sum()) ** 2


class Twin:
    """Grows a tree by trying everything; a node is a list [feature, threshold, left, right] or a leaf's rows."""

    def __init__(self, X, y, w, *, random, max_features, classes):
        self.X, self.y, self.w = X, y, w
        self.random, self.max_features, self.classes = random, max_features, classes
        self.lost = []  # which side missing values take, in preorder

    def order(self, key):
        """Features in the order in which the node may ask for them, drawn one by one."""
        features = list(range(self.X.shape[1]))
        if self.max_features < len(features):
            for at in range(len(features)):
                key = mixed(key)
                j = at + (((key >> 32) * (len(features) - at)) >> 32)
                features[at], features[j] = features[j], features[at]
        return features

    def cuts(self, x, f, key):
        """Thresholds and the side of missing values; one random threshold where there are two values."""
        values, gap = np.unique(x[~np.isnan(x)]), np.isnan(x).any()
        if len(values) == 0 or (len(values) == 1 and not gap):
            return []
        if len(values) == 1:
            return [(np.inf, 0)]
        if self.random:
            t = values[0] + uniform(key ^ mixed(f)) * (values[-1] - values[0])
            return [(t, 0), (t, 1)] if gap else [(t, None)]
        middles = (values[:-1] + values[1:]) / 2
        if not gap:
            return [(t, None) for t in middles]
        return [(t, 0) for t in (*middles, np.inf)] + [(t, 1) for t in middles]

    def gain(self, rows, x, cut):
        left = np.where(np.isnan(x), cut[1] == 1, x <= cut[0])
        parts = [rows[left], rows[~left]]
        inside = sum(loss(self.y[part], self.w[part], self.classes) for part in parts)
        return loss(self.y[rows], self.w[rows], self.classes) - inside, left

    def grow(self, rows, key):
        if len(np.unique(self.y[rows])) == 1:
            return rows
        tie = 1e-9 * loss(self.y[rows], self.w[rows], self.classes)
        best, tried = None, 0
        for f in self.order(key):
            x = self.X[rows, f]
            cuts = self.cuts(x, f, key)
            if tried == self.max_features or not cuts:
                continue
            tried += 1
            own = max((self.gain(rows, x, cut)[0] for cut in cuts), default=None)
            first = next(cut for cut in cuts if self.gain(rows, x, cut)[0] > own - tie)
            if best is None or own > best[0] + tie or (own > best[0] - tie and f < best[1]):
                best = own, f, first
        if best is None:
            return rows
        _, f, cut = best
        left = self.gain(rows, self.X[rows, f], cut)[1]
        self.lost.append(cut[1])
        children = [self.grow(rows[left], mixed(key ^ 1)), self.grow(rows[~left], mixed(key ^ 3))]
        return [f, cut[0], *children]


def assert_same(twin, tree, y, w, classes):
    """Compare node by node, in preorder."""
    waiting, node = [twin], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            assert tree.feature[node] == one[0], node
            assert tree.threshold[node] == pytest.approx(one[1], rel=1e-12), node
            waiting += [one[3], one[2]]
        else:
            assert tree.feature[node] < 0 and tree.n_node_samples[node] == len(one)
            value = np.average(y[one] == 1 if classes else y[one], weights=w[one])
            assert tree.value[node].ravel()[min(1, tree.value[node].size - 1)] == pytest.approx(value)
        node += 1
    assert node == tree.node_count


@pytest.mark.parametrize("kind", ["two", "many", "numbers"])
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("max_features", [2, 5])
def test_codes_grow_the_obvious_tree(kind, splitter, gaps, max_features):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 40, (90, 5)).astype(float) ** 2  # few values: a bin for each
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    y = rng.normal(size=90) if kind == "numbers" else rng.integers(0, 2 if kind == "two" else 4, 90)
    w = rng.integers(1, 4, 90).astype(float)
    model = DecisionTreeRegressor if kind == "numbers" else DecisionTreeClassifier
    options = {"splitter": splitter, "max_features": max_features, "max_bins": 255}
    tree = model(**options, random_state=3).fit(X, y, w).tree_
    twin = Twin(X, y, w, random=splitter == "random", max_features=max_features, classes=kind != "numbers")
    grown = twin.grow(np.arange(90), draw_seed(generator(3)))
    assert_same(grown, tree, y, w, kind != "numbers")
    sides = tree.missing_go_to_left[tree.feature >= 0]
    assert [side for side, lost in zip(sides, twin.lost) if lost is not None] == [
        lost for lost in twin.lost if lost is not None
    ]


def test_features_are_drawn_without_preference():
    """Each of six features comes first in a sixth of the nodes."""
    twin = Twin(np.zeros((1, 6)), None, None, random=False, max_features=2, classes=True)
    first = np.bincount([twin.order(mixed(key))[0] for key in range(6000)], minlength=6)
    assert (abs(first - 1000) < 4 * np.sqrt(6000 * 1 / 6 * 5 / 6)).all()
    assert all(sorted(twin.order(key)) == list(range(6)) for key in range(50))


@pytest.mark.parametrize("Forest", FORESTS)
def test_copied_rows_grow_the_same_trees(Forest, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=700) > 1).astype(int)
    grown = []
    for size in (0, 6 * 50, 2**16):
        monkeypatch.setattr(coded, "BLOCK_BYTES", size)
        grown.append(Forest(3, random_state=0).fit(X, y).trees_)
    for other in grown[1:]:
        for a, b in zip(grown[0], other):
            assert all(np.array_equal(one, two) for one, two in zip(a, b))


@pytest.mark.parametrize("Forest", FORESTS)
def test_trees_have_the_same_bits_on_any_number_of_threads(Forest):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X) @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=3000) > 0).astype(int)
    with threads(1):
        one = Forest(5, random_state=0).fit(X, y)
        expected = one.predict(X)
    with threads(2):
        two = Forest(5, random_state=0).fit(X, y)
        assert np.array_equal(two.predict(X), expected)
    for a, b in zip(one.trees_, two.trees_):
        assert all(np.array_equal(field, other) for field, other in zip(a, b))


def test_weights_that_are_no_repetitions():
    rng = np.random.default_rng(2)
    X, y, w = rng.integers(0, 9, (200, 3)).astype(float), rng.normal(size=200), rng.random(200) + 0.1
    tree = DecisionTreeRegressor(max_bins=255, max_depth=3).fit(X, y, w).tree_
    exact = DecisionTreeRegressor(max_depth=3).fit(X, y, w).tree_
    assert np.array_equal(tree.feature, exact.feature)
    assert_allclose(tree.threshold, exact.threshold)
    assert_allclose(tree.value, exact.value)
    assert_allclose(tree.gain, exact.gain, atol=1e-12 * exact.gain.max())


# prediction


def descend(tree, x):
    """Walk one row down by the definition of `Tree`."""
    node = 0
    while tree.feature[node] >= 0:
        v, side = x[tree.feature[node]], tree.missing_go_to_left[node]
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if np.isnan(v) and side >= 0:
            child = left if side > 0 else right
        elif len(tree.branch_start) and tree.branch_start[node] >= 0:
            count = int(tree.branch_count[node])
            child = int(tree.branches[tree.branch_start[node] + (int(v) if 0 <= v < count else count)])
        else:
            child = left if v <= tree.threshold[node] else right
        if child == node:
            break
        node = child
    return node


@pytest.mark.parametrize("growth", ["numbers", "categories", "multiway"])
def test_packed_walk_is_the_descent_by_definition(growth):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, (300, 4)).astype(float)
    y = ((X[:, 0] * 7 + X[:, 1] * 3) % 4 > 1).astype(int) + (X[:, 2] > 3)
    if growth == "multiway":
        model = DecisionTreeClassifier(criterion="entropy", split="multiway", categorical_features=[0, 1])
    else:
        X[rng.random(X.shape) < 0.1] = np.nan
        model = DecisionTreeClassifier(categorical_features=[0, 1] if growth == "categories" else None)
    tree = model.fit(X, y).tree_
    assert (len(tree.branch_start) > 0) == (growth != "numbers")
    new = rng.integers(-1, 8, (150, 4)).astype(float)  # unseen categories too
    new[rng.random(new.shape) < 0.1] = np.nan
    assert tree.apply(new).tolist() == [descend(tree, x) for x in new]


@pytest.mark.parametrize("classes", [2, 3])
def test_forest_of_categories_averages_its_trees(classes):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": pd.Categorical(rng.choice(list("pqrst"), 200)), "b": rng.normal(size=200)})
    y = (frame["a"].cat.codes + (frame["b"] > 0)) % classes
    forest = RandomForestClassifier(7, random_state=0).fit(frame, y)
    X = forest._rows(frame).X
    mean = sum(tree.value[[descend(tree, x) for x in X], 0] for tree in forest.trees_) / 7
    assert_allclose(forest.predict_proba(frame), mean, rtol=0, atol=7 * np.finfo(float).eps)


def test_groves_of_several_categorical_trees_share_a_table():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 5, (200, 2)).astype(float)
    y = rng.normal(size=200) + X[:, 0] % 2
    trees = [
        DecisionTreeRegressor(max_depth=d, categorical_features=[0, 1]).fit(X, y).tree_ for d in (1, 2, 4)
    ]
    packed = nodes.pack_trees(trees, [tree.value[:, :, 0] for tree in trees], [0, 0, 0])
    expected = sum(tree.value[tree.apply(X), 0, 0] for tree in trees)
    assert_allclose(packed.add(X, np.zeros((200, 1)))[:, 0], expected)


def test_predictions_follow_a_new_fit():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    model = RandomForestRegressor(3, random_state=0, warm_start=True).fit(X, y)
    model.predict(X)
    grown = model.set_params(n_estimators=9).fit(X, y).predict(X)
    assert np.array_equal(grown, RandomForestRegressor(9, random_state=0).fit(X, y).predict(X))


def test_streams_decide_the_trees():
    """A tree comes from its own stream, so the first tree of a larger forest is the same."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    few, many = (ExtraTreesClassifier(k, random_state=0).fit(X, y) for k in (1, 4))
    assert np.array_equal(few.trees_[0].threshold, many.trees_[0].threshold)
    twin = Twin(X, y, np.ones(80), random=True, max_features=1, classes=True)
    key = draw_seed(np.random.default_rng(many.estimators_[2].random_state))
    assert_same(twin.grow(np.arange(80), key), many.trees_[2], y, np.ones(80), True)
