"""Rows in an order of their own: shuffled rows give it again, and only copies are counted together."""

import numpy as np
import pytest
from scipy import sparse

from gnomon.core.canonical import _stable_order, order_by_key, order_by_value, rows_differ
from gnomon.linear import Perceptron, SGDClassifier
from gnomon.linear.online._epochs import canonical
from gnomon.linear.online.perceptron import Perceptron as _Reader


def keyed(X, y, keys):
    return order_by_key(
        keys,
        lambda a, b: rows_differ(X[a], X[b]) | (y[a] != y[b]),
        lambda rows: np.column_stack([X[rows], y[rows]]),
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_key_gives_one_order_of_values(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(60, 2)).astype(float), rng.integers(0, 2, size=60)
    perm = rng.permutation(60)
    tables = []
    for rows in (np.arange(60), perm):
        A, b = X[rows], y[rows]
        order, fresh = keyed(A, b, A[:, 1])  # a key that many different rows share
        tables.append(np.column_stack([A, b])[order])
        assert np.array_equal(np.sort(order), np.arange(60))
        assert fresh.sum() == len(np.unique(np.column_stack([A, b]), axis=0))
        assert np.array_equal(fresh[1:], (tables[-1][1:] != tables[-1][:-1]).any(axis=1))
    assert np.array_equal(*tables)


def test_order_by_value_is_that_of_sorted_tuples():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(30, 3)), rng.integers(0, 2, size=30)
    order = order_by_value(y, X)
    assert [(y[i], *X[i]) for i in order] == sorted((b, *a) for a, b in zip(X, y, strict=True))


def test_sparse_rows_are_told_apart_like_dense_ones():
    A, B = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 3.0]])
    assert rows_differ(A, B).tolist() == [False, True]
    assert rows_differ(sparse.csr_array(A), sparse.csr_array(B)).tolist() == [False, True]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("huge", [1e20, 1e300])
def test_a_huge_column_merges_no_rows_of_different_labels(form, huge):
    """The key of a row is a float: beside 1e20 neither the label nor a small column is seen in it."""
    X = np.array([[huge, 0.0], [huge, 0.0], [huge, 1.0], [huge, 0.0]])
    y = np.array([0, 1, 1, 0])
    found = canonical(_Reader()._plain_read(form(X), y))
    rows = found.X.toarray() if sparse.issparse(found.X) else found.X
    told = {(*row.tolist(), int(label)): w for row, label, w in zip(rows, found.y, found.weight, strict=True)}
    assert told == {(huge, 0.0, 0): 2.0, (huge, 0.0, 1): 1.0, (huge, 1.0, 1): 1.0}


def test_rows_of_weight_zero_are_neither_kept_nor_part_their_copies():
    X, y = np.array([[1.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 0, 1])
    found = canonical(_Reader()._plain_read(X, y, [1.0, 0.0, 2.0, 1.0]))
    order = np.argsort(found.X[:, 0])
    assert found.X[order].ravel().tolist() == [1.0, 2.0] and found.weight[order].tolist() == [3.0, 1.0]


@pytest.mark.parametrize("cls", [Perceptron, SGDClassifier])
def test_order_of_rows_does_not_matter_beside_a_huge_column(cls):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(40, 2.0**60), rng.integers(0, 3, size=40)]).astype(float)
    y, perm = (X[:, 1] > 1).astype(int), rng.permutation(40)
    one = cls(random_state=0, max_iter=3, tol=None).fit(X, y)
    other = cls(random_state=0, max_iter=3, tol=None).fit(X[perm], y[perm])
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("values", [3, 5000, 2**62])
def test_whole_keys_are_put_in_order_as_a_stable_sort_does(values):
    keys = np.random.default_rng(0).integers(0, values, size=20_000).astype(np.uint64)
    np.testing.assert_array_equal(_stable_order(keys), np.argsort(keys, kind="stable"))
    few = np.arange(20_000, dtype=np.uint64)[::-1].copy()
    few[::40] = few[1]  # one key in forty
    np.testing.assert_array_equal(_stable_order(few), np.argsort(few, kind="stable"))
