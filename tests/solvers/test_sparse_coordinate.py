"""Sparse columns: products with the rows a fit touches, sweeps and gaps against dense linear algebra."""

import numpy as np
import pytest
from scipy import sparse

from gnomon import threads
from gnomon.linear import ElasticNet, enet_path
from gnomon.loops import coordinate_sparse as loops
from gnomon.solvers import sparse_coordinate
from gnomon.solvers.coordinate import Penalized, dual_check
from gnomon.solvers.sparse_coordinate import SparseDesign, SparseEngine, by_columns


def problem(n=60, p=200, density=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=density, rng=rng).tocsr()
    return X, rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)


def dense_twin(X, y, weight, intercept):
    """Rows √s(x − x̄) and √s(y − ȳ), filled."""
    weight = np.ones(len(y)) if weight is None else weight
    A, root = X.toarray(), np.sqrt(weight)
    if intercept:
        A, y = A - weight @ A / weight.sum(), y - weight @ y / weight.sum()
    return root[:, None] * A, root * y


@pytest.mark.parametrize("pieces", [1, 8])
def test_columns_of_rows(monkeypatch, pieces):
    monkeypatch.setattr(sparse_coordinate, "PIECES", pieces)
    monkeypatch.setattr(sparse_coordinate, "ENOUGH", 1)
    X, _, v = problem()
    parts = by_columns((X.indptr.astype(np.int64), X.indices, X.data), v, 200)
    expected = sparse.csc_array(sparse.diags_array(v) @ X)
    for found, wanted in zip(parts, (expected.indptr, expected.indices, expected.data)):
        np.testing.assert_array_equal(found, wanted)


def test_columns_of_rows_without_entries():
    X = sparse.csr_array((3, 4))
    indptr, indices, data = by_columns((X.indptr.astype(np.int64), X.indices, X.data), np.ones(3), 4)
    assert indptr.tolist() == [0] * 5 and len(indices) == len(data) == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0, 10**9])  # always by the rows that are touched; always by all columns
def test_touched_rows_are_enough(monkeypatch, share, intercept, weighted):
    monkeypatch.setattr(sparse_coordinate, "DENSE", share)
    X, y, weight = problem()
    weight = weight if weighted else None
    design, (A, b) = SparseDesign(X, y, weight, intercept), dense_twin(X, y, weight, intercept)
    w, S = np.zeros(200), np.array([3, 50, 51, 199])
    w[S] = [1.0, -2.0, 0.5, 3.0]
    r, corr = design.look(S, w)
    np.testing.assert_allclose(r, b - A @ w, atol=1e-12)
    np.testing.assert_allclose(corr, A.T @ (b - A @ w), atol=1e-12)


@pytest.mark.parametrize("pen", [Penalized(0.7, 0.0), Penalized(0.7, 0.4, True), Penalized(0.0, 0.4)])
def test_compiled_gap_is_the_gap_on_some_columns(pen):
    X, y, _ = problem()
    design, (A, b) = SparseDesign(X, y, None, True), dense_twin(X, y, None, True)
    cols, w = np.arange(0, 200, 3), np.zeros(200)
    w[cols[::2]] = np.abs(np.random.default_rng(1).normal(size=len(cols[::2])))
    r, shift = b - A @ w, 0.3
    found = loops.csc_gap(
        cols, *design.parts, design.mean, design.mass, design.v, b, *pen, w, r + shift * design.v, shift
    )
    expected = dual_check(r @ r, r @ b, b @ b, w[cols], A[:, cols].T @ r, pen)
    assert found == pytest.approx(expected.gap, rel=1e-10)


@pytest.mark.parametrize("pen", [Penalized(0.4, 0.0), Penalized(0.4, 0.5), Penalized(0.4, 0.1, True)])
def test_certificate_is_that_of_all_features(pen):
    X, y, weight = problem(density=0.1)
    engine, (A, b) = SparseEngine(SparseDesign(X, y, weight, True)), dense_twin(X, y, weight, True)
    for _ in range(40):
        check = engine.advance(pen, 1e-9)
        r = b - A @ engine.w
        exact = dual_check(r @ r, r @ b, b @ b, engine.w, A.T @ r, pen)
        assert check.gap == pytest.approx(exact.gap, rel=1e-9, abs=1e-12)
        assert check.primal == pytest.approx(exact.primal, rel=1e-12)
        if check.gap <= 1e-9:
            break
    assert check.gap <= 1e-9 and np.count_nonzero(engine.w) > 10


def test_path_of_sparse_data_is_that_of_dense_data():
    X, y, _ = problem(n=80, p=300, density=0.1, seed=2)
    for l1_ratio in (1.0, 0.5):
        alphas, coefs, gaps = enet_path(X, y, l1_ratio=l1_ratio, eps=1e-2, tol=1e-9)
        dense = enet_path(X.toarray(), y, l1_ratio=l1_ratio, alphas=alphas, tol=1e-9)
        assert gaps.max() <= 1e-9 * (y @ y) / 80
        r, s = y[:, None] - X @ coefs, y[:, None] - X @ dense[1]
        np.testing.assert_allclose(np.sum(r * r, axis=0), np.sum(s * s, axis=0), rtol=1e-3)


def test_ridge_alone_is_solved_too():
    X, y, _ = problem(density=0.2)
    model = ElasticNet(alpha=0.5, l1_ratio=0.0, tol=1e-12).fit(X, y)
    A, b = dense_twin(X, y, None, True)
    expected = np.linalg.solve(A.T @ A + 60 * 0.5 * np.eye(200), A.T @ b)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-5)


def test_one_thread_and_many_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(sparse_coordinate, "ENOUGH", 1)
    X, y, _ = problem(n=200, p=500)
    with threads(1):
        alone = enet_path(X, y, l1_ratio=0.9, eps=1e-2, tol=1e-8)[1]
    with threads(4):
        together = enet_path(X, y, l1_ratio=0.9, eps=1e-2, tol=1e-8)[1]
    np.testing.assert_array_equal(alone, together)
