"""Sparse rows: the same trees and committees as from dense ones, whatever the options, and no dense copy."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.linear import LogisticRegression
from gnomon.trees import DecisionStump, DecisionTreeClassifier, DecisionTreeRegressor

OPTIONS = [
    {},
    {"max_depth": 3},
    {"max_leaf_nodes": 6},
    {"max_features": 2, "random_state": 3},
    {"splitter": "random", "random_state": 4},
    {"min_samples_leaf": 3, "min_impurity_decrease": 0.001},
    {"monotonic_cst": [1, 0, -1, 0, 0, 0]},
    {"ccp_alpha": 0.01},
]


def entries(seed, n=80, d=6, density=0.4, *, missing=False):
    """Whole numbers of both signs, so that sums are exact, with many zeros."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < density).astype(float)
    if missing:
        X[rng.random((n, d)) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (rng.random(n) < 0.3)
    return X, y, rng.integers(0, 3, n).astype(float)


def same_tree(a, b):
    for name in ("feature", "children_right", "n_node_samples", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in ("threshold", "value", "impurity", "gain"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9, err_msg=name)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_tree_is_that_of_dense_rows(options, missing, kind):
    X, y, w = entries(1, missing=missing)
    for model, target in ((DecisionTreeClassifier, y > 0), (DecisionTreeRegressor, y * 4.0)):
        for weight in (None, w):
            dense = model(**options).fit(X, target, weight)
            thin = model(**options).fit(kind(X), target, weight)
            same_tree(dense.tree_, thin.tree_)
            np.testing.assert_array_equal(thin.predict(kind(X)), dense.predict(X))
            np.testing.assert_array_equal(thin.apply(kind(X)), thin.apply(X))


@pytest.mark.parametrize("criterion", ["entropy", "error"])
def test_other_impurities(criterion):
    X, y, _ = entries(2)
    dense = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, y)
    same_tree(
        dense.tree_,
        DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(sparse.csr_array(X), y).tree_,
    )


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_losses(criterion):
    X, y, _ = entries(3, n=40)
    dense = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y + 1.0)
    thin = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(sparse.csr_array(X), y + 1.0)
    same_tree(dense.tree_, thin.tree_)


def test_lists_of_columns_move_when_their_room_is_used_up():
    """Many rows with one entry each make the longest lists there can be."""
    n = 400
    X = sparse.csr_array((np.arange(1.0, n + 1), (np.arange(n), np.arange(n) % 97)), shape=(n, 97))
    y = np.arange(n) * 7 % 5
    same_tree(DecisionTreeClassifier().fit(X.toarray(), y).tree_, DecisionTreeClassifier().fit(X, y).tree_)


def test_stored_zeros_and_empty_columns_change_nothing():
    X, y, _ = entries(4)
    X = np.hstack([X, np.zeros((len(X), 2))])
    thin = sparse.csr_array(X)
    stored = sparse.csr_array(
        (np.append(thin.data, 0.0), (np.append(thin.nonzero()[0], 1), np.append(thin.nonzero()[1], 7))),
        shape=X.shape,
    )
    assert stored.nnz == thin.nnz + 1
    same_tree(DecisionTreeClassifier().fit(X, y).tree_, DecisionTreeClassifier().fit(stored, y).tree_)


def test_a_matrix_without_entries_is_a_leaf():
    model = DecisionTreeClassifier().fit(sparse.csr_array((4, 3)), [0, 0, 0, 1])
    assert model.tree_.node_count == 1
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array((2, 3))), [[0.75, 0.25]] * 2)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(8, random_state=0, oob_score=True),
        RandomForestClassifier(5, random_state=0, feature_subset="tree"),
        RandomForestClassifier(5, random_state=0, bootstrap=False, max_leaf_nodes=5),
        ExtraTreesClassifier(8, random_state=0),
        BaggingClassifier(n_estimators=6, random_state=0, max_features=0.7, oob_score=True),
        BaggingClassifier(LogisticRegression(), n_estimators=4, random_state=0),
        AdaBoostClassifier(n_estimators=7),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5),
        GradientBoostingClassifier(n_estimators=6, random_state=0, subsample=0.7),
        DecisionStump(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_of_sparse_rows(model):
    from sklearn.base import clone

    X, y, w = entries(5, n=120)
    for weight in (None, w):
        for target in (y > 0, y):
            dense = clone(model).fit(X, target, sample_weight=weight)
            thin = clone(model).fit(sparse.csr_array(X), target, sample_weight=weight)
            scores = "predict" if isinstance(model, DecisionStump) else "predict_proba"
            np.testing.assert_allclose(
                getattr(thin, scores)(sparse.csc_array(X)), getattr(dense, scores)(X), atol=1e-6
            )
            if hasattr(dense, "oob_score_"):
                assert thin.oob_score_ == dense.oob_score_


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(6, random_state=0),
        BaggingRegressor(n_estimators=5, random_state=0),
        GradientBoostingRegressor(n_estimators=5),
        GradientBoostingRegressor(n_estimators=5, loss="absolute_error", n_iter_no_change=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regressors_of_sparse_rows(model):
    from sklearn.base import clone

    X, y, _ = entries(6, n=120)
    dense = clone(model).fit(X, 4.0 * y)
    thin = clone(model).fit(sparse.csr_array(X), 4.0 * y)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-9)


def test_no_dense_copy():
    """Ten thousand columns of two thousand rows would be 160 MB as numbers and 20 MB as bytes."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 10_000), density=0.0005, rng=rng, format="csr")
    y = rng.integers(0, 2, 2000)
    models = [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(2, max_depth=3, random_state=0)]
    models += [AdaBoostClassifier(n_estimators=2), GradientBoostingClassifier(n_estimators=2)]
    for model in models:
        model.fit(X, y).predict(X)  # compiled
        tracemalloc.start()
        model.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 12e6, (model, peak)


def test_what_sparse_rows_cannot_be():
    X, y, _ = entries(7)
    with pytest.raises(DataError, match="dense"):
        DecisionTreeClassifier(categorical_features=[0]).fit(sparse.csr_array(X), y)
    with pytest.raises(DataError, match="dense"):
        DecisionTreeClassifier(split="multiway").fit(sparse.csr_array(X), y)
