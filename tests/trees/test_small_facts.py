"""Small facts of trees: bins of weights and of copies, branches of numbers, the table behind a chosen pruning."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor, prune, prune_cv
from gnomon.trees.binning import bin_columns, find_bins


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
