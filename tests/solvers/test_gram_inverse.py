"""The kept inverse and the engines of sparse paths against plain linear algebra."""

import numpy as np
import pytest
from scipy import sparse

from gnomon.linear import enet_path
from gnomon.loops import coordinate as loops
from gnomon.solvers.coordinate import Design, Penalized, dual_check
from gnomon.solvers.gram_inverse import KeptInverse
from gnomon.solvers.sparse_coordinate import SparseDesign
from gnomon.solvers.working_sets import MomentEngine, WorkingSetEngine


def gram(p=40, n=60, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, p))
    return A.T @ A


def test_inverse_follows_a_changing_support():
    G, kept, rng = gram(), KeptInverse(), np.random.default_rng(1)
    support = np.arange(20)
    for _ in range(30):
        assert kept.follow(G, support, 0.0)
        assert sorted(kept.S) == sorted(support)
        np.testing.assert_allclose(kept.M @ G[np.ix_(kept.S, kept.S)], np.eye(len(support)), atol=1e-8)
        out = rng.choice(support, 2, replace=False)
        new = rng.choice(np.setdiff1d(np.arange(40), support), 2, replace=False)
        support = np.union1d(np.setdiff1d(support, out), new)


@pytest.mark.parametrize("mu", [3.0, 2.0, 1.0, 0.1])
def test_inverse_for_a_larger_ridge_serves_a_smaller_one(mu):
    G, kept, b = gram(), KeptInverse(), np.arange(40.0)
    kept.follow(G, np.arange(40), 3.0)
    kept.follow(G, np.arange(40), mu)
    expected = np.linalg.solve(G + mu * np.eye(40), b)
    np.testing.assert_allclose(kept.solve(b, mu), expected, atol=1e-5 * np.abs(expected).max())


def test_singular_gram_matrix_is_told():
    kept = KeptInverse()
    assert not kept.follow(np.array([[1.0, 2.0], [2.0, 1.0]]), np.arange(2), 0.0)
    assert kept.follow(np.eye(2), np.arange(2), 0.0)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("mu", [0.0, 2.0])
def test_compiled_gap_is_the_gap(mu, positive):
    rng = np.random.default_rng(2)
    A, y = rng.normal(size=(30, 8)), rng.normal(size=30)
    w = np.where(rng.random(8) < 0.5, np.abs(rng.normal(size=8)), 0.0)
    q, yy = A.T @ y, float(y @ y)
    g = q - A.T @ (A @ w)
    r = y - A @ w
    expected = dual_check(float(r @ r), float(r @ y), yy, w, g, Penalized(4.0, mu, positive))
    primal, gap = loops.gram_gap(q, yy, 4.0, mu, positive, w, g)
    assert gap == pytest.approx(expected.gap, rel=1e-10) and primal == pytest.approx(
        expected.primal, rel=1e-10
    )


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_working_sets_and_moments_agree(l1_ratio):
    rng = np.random.default_rng(3)
    X, y = np.asfortranarray(rng.normal(size=(50, 200))), rng.normal(size=50)
    alphas = np.geomspace(0.5, 0.01, 30) * np.abs(X.T @ y).max() / 50
    engine = WorkingSetEngine(Design(X, y, None, False))
    whole = MomentEngine(X.T @ X, X.T @ y, y @ y)
    for alpha in alphas:
        pen = Penalized(50 * alpha * l1_ratio, 50 * alpha * (1 - l1_ratio))
        values = []
        for solver in (engine, whole):
            solver.restart()
            for _ in range(50):
                if solver.check(pen).gap <= 1e-9 * float(y @ y):
                    break
                solver.advance(pen, 1e-9 * float(y @ y))
            check = solver.check(pen)
            assert check.gap <= 1e-9 * float(y @ y)
            values.append(check.primal)
        assert values[0] == pytest.approx(values[1], abs=2e-9 * float(y @ y))


def test_equal_columns_share_a_path():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 5))
    X, y = np.hstack([X, X, X]), rng.normal(size=20)
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=1.0, tol=1e-8)
    assert gaps.max() <= 1e-8 * (y @ y) / 20
    single = enet_path(X[:, :5], y, l1_ratio=1.0, alphas=alphas, tol=1e-8)[1]
    np.testing.assert_allclose(coefs.reshape(3, 5, -1).sum(axis=0), single, atol=1e-3)


def test_columns_and_rows_in_memory_give_the_same_moments():
    from gnomon.linear import LinearRegression

    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 4)) + [0, 1, 1e4, 1e8]
    y, weight = X @ [1, 2, 3, 4] + rng.normal(size=3000), rng.integers(1, 3, size=3000).astype(float)
    for options in ({}, {"sample_weight": weight}):
        a = LinearRegression().fit(X, y, **options).sums_
        b = LinearRegression().fit(np.asfortranarray(X), y, **options).sums_
        np.testing.assert_allclose(a.xx, b.xx, rtol=1e-7, atol=1e-7 * np.abs(a.xx).max())
        np.testing.assert_allclose(a.mean_x, b.mean_x, rtol=1e-12)


def test_features_that_are_not_looked_at_cannot_matter(monkeypatch):
    rng, looks = np.random.default_rng(6), []
    X = np.asfortranarray(rng.normal(size=(60, 3000)))
    y = X[:, :5] @ rng.normal(size=5) + 0.1 * rng.normal(size=60)
    whole = Design.correlate
    monkeypatch.setattr(Design, "correlate", lambda self, r: looks.append(1) or whole(self, r))
    engine, yy = WorkingSetEngine(Design(X, y, None, False)), float(y @ y)
    for t in np.geomspace(1.0, 0.2, 50) * np.abs(X.T @ y).max():
        pen = Penalized(t, 0.0)
        for _ in range(50):
            if engine.check(pen).gap <= 1e-8 * yy:
                break
            engine.advance(pen, 1e-8 * yy)
        r = y - X @ engine.w
        exact = dual_check(float(r @ r), float(r @ y), yy, engine.w, X.T @ r, pen)
        assert exact.gap <= 1e-8 * yy
        assert engine.check(pen).gap == pytest.approx(exact.gap, abs=1e-12 * yy)
    assert len(looks) < 25  # of 50 penalties


@pytest.mark.parametrize("intercept", [False, True])
def test_sparse_columns_are_correlated_in_pieces(monkeypatch, intercept):
    monkeypatch.setattr("gnomon.solvers.sparse_coordinate.ENOUGH", 1)
    rng = np.random.default_rng(7)
    X, weight = sparse.random_array((50, 101), density=0.1, rng=rng).tocsr(), rng.random(50)
    r, design = rng.normal(size=50), SparseDesign(X, rng.normal(size=50), weight, intercept)
    A = X.toarray() - (weight @ X.toarray() / weight.sum() if intercept else 0.0)
    np.testing.assert_allclose(design.correlate(r), (np.sqrt(weight)[:, None] * A).T @ r, atol=1e-12)
