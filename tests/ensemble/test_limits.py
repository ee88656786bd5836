"""Limits of the trees of an ensemble, its draws of rows and columns, and its seeds of trees, class by class."""

import numpy as np
import pytest
import sklearn.ensemble as peers
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor as PeerTree

from gnomon import ensemble, trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 8))
NUMBERS = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * RNG.normal(size=80)
CLASSES = (NUMBERS > 0).astype(int) + (NUMBERS > 1)
FORESTS = ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"]
forests = pytest.mark.parametrize("name", FORESTS)


def made(name, **options):
    model = getattr(ensemble, name)(**{"n_estimators": 4, "bootstrap": False, "random_state": 0, **options})
    return model.fit(X, CLASSES if name.endswith("Classifier") else NUMBERS)


def leaves(model):
    return [np.unique(column, return_counts=True)[1] for column in model.apply(X).T]


@forests
def test_leaves_of_every_tree(name):
    assert all(counts.min() >= 11 for counts in leaves(made(name, min_samples_leaf=11)))
    assert all(counts.min() >= 16 for counts in leaves(made(name, min_samples_leaf=0.2)))
    assert all(len(counts) <= 5 for counts in leaves(made(name, max_leaf_nodes=5)))
    assert all(len(counts) == 1 for counts in leaves(made(name, min_impurity_decrease=1e9)))
    whole, gained, pruned = (
        np.mean([len(counts) for counts in leaves(made(name, **limit))])
        for limit in ({}, {"min_impurity_decrease": 0.02}, {"ccp_alpha": 0.03})
    )
    assert gained < whole and pruned < whole


@pytest.mark.parametrize("name", FORESTS[1::2])
def test_slopes_that_are_asked_for(name):
    model = made(name, monotonic_cst=[1, -1, 0, 0, 0, 0, 0, 0], n_estimators=8)
    line = np.zeros((50, 8))
    for column, sign in ((0, 1), (1, -1)):
        rows = line.copy()
        rows[:, column] = np.linspace(-2, 2, 50)
        assert (sign * np.diff(model.predict(rows)) >= -1e-12).all()


@forests
def test_few_rows_for_every_tree(name):
    model = made(name, bootstrap=True, max_samples=5, n_estimators=10)
    assert max(len(counts) for counts in leaves(model)) <= 5
    shared = made(name, bootstrap=True, max_samples=0.5, n_estimators=10)
    full = made(name, bootstrap=True, n_estimators=10)
    assert np.mean([len(c) for c in leaves(shared)]) < np.mean([len(c) for c in leaves(full)])


@forests
@pytest.mark.parametrize(("word", "few"), [("sqrt", 2), ("log2", 3), (0.5, 4), (2, 2)])
def test_columns_a_split_looks_at(name, word, few):
    words, number = (made(name, max_features=value, max_depth=4) for value in (word, few))
    assert_allclose(words.predict(X), number.predict(X))
    by_tree = made(name, max_features=word, feature_subset="tree", max_depth=5)
    importances = [tree.feature_importances_ for tree in by_tree.estimators_]
    assert all((one > 0).sum() <= few for one in importances)
    by_split = made(name, max_features=word, max_depth=5)
    assert any((tree.feature_importances_ > 0).sum() > few for tree in by_split.estimators_)


@pytest.mark.parametrize(
    ("name", "criterion"),
    [(n, c) for n in FORESTS[::2] for c in ("gini", "entropy", "log_loss", "error")]
    + [(n, c) for n in FORESTS[1::2] for c in ("squared_error", "friedman_mse", "poisson")],
)
def test_what_a_split_minimizes(name, criterion):
    classes = name.endswith("Classifier")
    y = CLASSES if classes else np.exp(NUMBERS)
    model = getattr(ensemble, name)(
        1, criterion=criterion, max_depth=1, max_features=None, bootstrap=False, random_state=0
    ).fit(X, y)
    if name.startswith("Extra"):  # the cut is drawn; what remains is a split of the rows
        assert len(np.unique(model.apply(X))) == 2
        return
    impurity = {
        "gini": lambda v: 1 - (np.bincount(v, minlength=3) ** 2).sum() / len(v) ** 2,
        "entropy": lambda v: -sum(p * np.log(p) for p in np.bincount(v) / len(v) if p > 0),
        "log_loss": lambda v: -sum(p * np.log(p) for p in np.bincount(v) / len(v) if p > 0),
        "error": lambda v: 1 - np.bincount(v).max() / len(v),
        "squared_error": np.var,
        "friedman_mse": np.var,
        "poisson": lambda v: np.mean(v * np.log(v / v.mean())),
    }[criterion]

    def cost(left):
        if criterion == "friedman_mse":
            return -left.sum() * (~left).sum() * (y[left].mean() - y[~left].mean()) ** 2
        return left.sum() * impurity(y[left]) + (~left).sum() * impurity(y[~left])

    every = [cost(X[:, j] <= cut) for j in range(8) for cut in np.sort(X[:, j])[:-1]]
    leaf = model.apply(X)[:, 0]
    assert cost(leaf == leaf[0]) == pytest.approx(min(every), rel=1e-9)


def test_weights_of_classes_are_weights_of_rows():
    for name in FORESTS[::2]:
        balanced = made(name, class_weight="balanced")
        count = np.bincount(CLASSES)
        weight = (80 / (3 * count))[CLASSES]
        plain = getattr(ensemble, name)(4, bootstrap=False, random_state=0).fit(
            X, CLASSES, sample_weight=weight
        )
        assert_allclose(balanced.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("name", ["ExtraTreesRegressor", "RandomForestRegressor"])
def test_error_out_of_bag_and_rows_of_leaves(name):
    model = made(name, bootstrap=True, oob_score=True, n_estimators=40)
    residual = NUMBERS - model.oob_prediction_
    assert model.oob_score_ == pytest.approx(
        1 - (residual**2).sum() / ((NUMBERS - NUMBERS.mean()) ** 2).sum()
    )
    assert model.oob_score_ < model.score(X, NUMBERS)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_bags_draw_and_go_on(kind):
    y = CLASSES if kind == "Classifier" else NUMBERS
    cls = getattr(ensemble, f"Bagging{kind}")
    few = cls(n_estimators=5, max_samples=10, bootstrap=False, random_state=0).fit(X, y)
    assert all(len(rows) == len(set(rows)) == 10 for rows in few.estimators_samples_)
    many = cls(n_estimators=5, max_samples=0.5, random_state=0).fit(X, y)
    assert all(len(rows) == 40 for rows in many.estimators_samples_)
    assert any(len(set(rows)) < 40 for rows in many.estimators_samples_)
    warm = cls(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    first = list(warm.estimators_)
    warm.set_params(n_estimators=6).fit(X, y)
    assert len(warm.estimators_) == 6 and all(
        a is b for a, b in zip(first, warm.estimators_[:3], strict=True)
    )
    whole = cls(n_estimators=6, random_state=0).fit(X, y)
    assert_allclose(warm.predict(X), whole.predict(X))


def test_error_of_bags_of_regressors():
    model = ensemble.BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, NUMBERS)
    expected = np.full(80, np.nan)
    for i in range(80):
        said = [
            tree.predict(X[i : i + 1, columns])[0]
            for tree, rows, columns in zip(
                model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
            )
            if i not in set(rows)
        ]
        expected[i] = np.mean(said)
    assert_allclose(model.oob_prediction_, expected)


BOOSTED = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_split": 30}, {"min_weight_fraction_leaf": 0.15}, {"min_samples_leaf": 12}, {"max_leaf_nodes": 3},
        {"min_impurity_decrease": 0.05}, {"ccp_alpha": 0.05}, {"criterion": "squared_error"}, {"init": "zero"},
        {"criterion": "friedman_mse"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", BOOSTED)
def test_boosting_limits_as_in_scikit_learn(name, options):
    y = (CLASSES > 0).astype(int) if name.endswith("Classifier") else NUMBERS
    weight = np.random.default_rng(1).random(80) + 0.5  # no two splits are equally good
    model = getattr(ensemble, name)(n_estimators=5, random_state=0, **options).fit(X, y, sample_weight=weight)
    peer = getattr(peers, name)(n_estimators=5, random_state=0, **options).fit(X, y, sample_weight=weight)
    answer = "decision_function" if name.endswith("Classifier") else "predict"
    assert_allclose(
        np.ravel(getattr(model, answer)(X)), np.ravel(getattr(peer, answer)(X)), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.85])
def test_alpha_is_the_share_of_rows_below(alpha):
    model = ensemble.GradientBoostingRegressor(
        loss="quantile", alpha=alpha, n_estimators=1, learning_rate=1.0, max_depth=1, random_state=0
    ).fit(X, NUMBERS)
    said = model.predict(X)
    for value in np.unique(said):
        leaf = NUMBERS[said == value]
        assert (leaf < value - 1e-9).mean() <= alpha + 1e-9 and (leaf <= value + 1e-9).mean() >= alpha - 1e-9


@pytest.mark.parametrize("name", BOOSTED)
def test_boosting_ends_without_progress(name):
    y = CLASSES if name.endswith("Classifier") else NUMBERS
    rounds = [
        getattr(ensemble, name)(
            n_estimators=40, n_iter_no_change=k, tol=1e9, validation_fraction=0.3, random_state=0
        ).fit(X, y).n_estimators_
        for k in (2, 5)
    ]  # fmt: skip
    assert rounds[1] - rounds[0] == 3 and rounds[0] <= 3
    assert getattr(ensemble, name)(n_estimators=6, random_state=0).fit(X, y).n_estimators_ == 6


@pytest.mark.parametrize("name", BOOSTED)
@pytest.mark.parametrize(("word", "few"), [("sqrt", 2), ("log2", 3)])
def test_columns_of_a_boosted_split(name, word, few):
    y = CLASSES if name.endswith("Classifier") else NUMBERS
    by_word, by_number = (
        getattr(ensemble, name)(n_estimators=3, max_features=value, random_state=0).fit(X, y)
        for value in (word, few)
    )
    assert_allclose(by_word.predict(X), by_number.predict(X))


def test_shrunken_stages():
    tree = PeerTree(max_depth=1, random_state=0)
    rows, y = X[:, :1], NUMBERS - NUMBERS.mean()
    model = ensemble.StagewiseAdditiveModel(estimator=tree, n_estimators=3, shrinkage=0.3).fit(rows, y)
    score = model.predict(rows)
    start = np.zeros(80)
    for _ in range(3):
        h = clone(tree).fit(rows, y - start).predict(rows)
        start += 0.3 * ((y - start) @ h / (h @ h)) * h
    assert_allclose(score - score.mean(), start - start.mean(), atol=1e-8)


def test_what_a_stump_minimizes():
    x, y = np.arange(10.0)[:, None], np.array([0, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    assert (trees.DecisionStump("error").fit(x, y).predict(x) != y).sum() == 1


@pytest.mark.parametrize(("word", "few"), [("sqrt", 2), ("log2", 3)])
def test_columns_a_tree_looks_at(word, few):
    for cls, y in ((trees.DecisionTreeClassifier, CLASSES), (trees.DecisionTreeRegressor, NUMBERS)):
        by_word, by_number = (cls(max_features=value, random_state=0).fit(X, y) for value in (word, few))
        assert_allclose(by_word.predict(X), by_number.predict(X))
        assert (by_word.predict(X[:, ::-1]) != cls(random_state=0).fit(X, y).predict(X[:, ::-1])).any()


def test_limits_and_ways_of_a_regression_tree():
    model = trees.DecisionTreeRegressor(min_samples_split=30).fit(X, NUMBERS)
    peer = PeerTree(min_samples_split=30).fit(X, NUMBERS)
    assert_allclose(model.predict(X), peer.predict(X))
    friedman = trees.DecisionTreeRegressor(criterion="friedman_mse", max_depth=3).fit(X, NUMBERS)
    assert_allclose(friedman.predict(X), PeerTree(max_depth=3).fit(X, NUMBERS).predict(X))
    for growth in ("auto", "depth_first"):
        assert_allclose(trees.DecisionTreeRegressor(growth=growth, max_depth=4).fit(X, NUMBERS).predict(X),
                        PeerTree(max_depth=4).fit(X, NUMBERS).predict(X))  # fmt: skip
