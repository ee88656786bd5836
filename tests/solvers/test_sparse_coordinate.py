"""Sparse columns: products with the rows a fit touches, sweeps and gaps against dense linear algebra."""

import numpy as np
import pytest
from scipy import sparse

from gnomon import threads
from gnomon.linear import ElasticNet, enet_path
from gnomon.solvers import sparse_coordinate, sparse_gram
from gnomon.solvers.coordinate import Penalized, dual_check
from gnomon.solvers.sparse_coordinate import SparseDesign, SparseEngine, by_columns
from gnomon.solvers.sparse_gram import SparseGram


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


def exact_check(engine, A, b, pen):
    """The certificate from the dense twin."""
    r = b - A @ engine.w
    return dual_check(float(r @ r), float(r @ b), float(b @ b), engine.w, A.T @ r, pen)


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
def test_touched_rows_are_enough(monkeypatch, intercept, weighted):
    X, y, weight = problem()
    weight = weight if weighted else None
    design, (A, b) = SparseDesign(X, y, weight, intercept), dense_twin(X, y, weight, intercept)
    w, S = np.zeros(200), np.array([3, 50, 51, 199])
    w[S] = [1.0, -2.0, 0.5, 3.0]
    r, fitted = design.residual(S, w)
    np.testing.assert_allclose(r, b - A @ w, atol=1e-12)
    np.testing.assert_allclose(design.by_touched_rows(S, w, r, fitted), A.T @ (b - A @ w), atol=1e-12)
    monkeypatch.setattr(sparse_coordinate, "DENSE", 10**9)
    assert design.by_touched_rows(S, w, r, fitted) is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("enough", [1, 10**9])  # always on threads; never
def test_some_columns_are_correlated(monkeypatch, enough, intercept, weighted):
    monkeypatch.setattr(sparse_coordinate, "ENOUGH", enough)
    X, y, weight = problem()
    weight = weight if weighted else None
    design, (A, _) = SparseDesign(X, y, weight, intercept), dense_twin(X, y, weight, intercept)
    cols, r = np.array([0, 7, 8, 60, 199]), np.random.default_rng(3).normal(size=60)
    np.testing.assert_allclose(design.correlate_some(cols, r), A[:, cols].T @ r, atol=1e-12)
    np.testing.assert_allclose(design.lengths(), np.linalg.norm(A, axis=0), atol=1e-7)
    assert design.entries(cols) == np.count_nonzero(X.toarray()[:, cols])
    assert len(design.correlate_some(cols[:0], r)) == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_gram_matrix_of_columns_that_enter_one_after_another(intercept, weighted):
    X, y, weight = problem(density=0.2)
    weight = weight if weighted else None
    design, (A, b) = SparseDesign(X, y, weight, intercept), dense_twin(X, y, weight, intercept)
    gram, rng = SparseGram(design), np.random.default_rng(4)
    for size in (1, 3, 0, 1, 40, 2, 1):
        assert not len(gram.enter(np.sort(rng.choice(200, size, replace=False))))
        Z, m = A[:, gram.index], len(gram.index)
        assert len(np.unique(gram.index)) == m
        np.testing.assert_allclose(gram.G[:m, :m], Z.T @ Z, atol=1e-12)
        np.testing.assert_allclose(gram.q, Z.T @ b, atol=1e-12)
        w = rng.normal(size=m) * (rng.random(m) < 0.5)
        np.testing.assert_allclose(gram.slopes(w), Z.T @ (b - Z @ w), atol=1e-11)


def test_gram_matrix_of_many_columns_keeps_the_fullest(monkeypatch):
    monkeypatch.setattr(sparse_gram, "ALWAYS", 5)
    X, y, _ = problem()
    design = SparseDesign(X, y, None, False)
    gram, A = SparseGram(design), X.toarray()
    assert not len(gram.enter(np.arange(5))) and gram.index.tolist() == [0, 1, 2, 3, 4]
    light = gram.enter(np.arange(150))
    assert sorted([*gram.index, *light]) == list(range(150))
    assert design.sizes[gram.index].min() >= design.sizes[light].max()
    more = gram.enter(np.arange(200))
    assert sorted([*gram.index, *more]) == list(range(200)) and set(light) <= set(more)
    Z, m = A[:, gram.index], len(gram.index)
    np.testing.assert_allclose(gram.G[:m, :m], Z.T @ Z, atol=1e-12)


def test_features_that_are_not_looked_at_cannot_matter(monkeypatch):
    monkeypatch.setattr(sparse_coordinate, "DENSE", 10**9)  # never by the rows that are touched
    rng, looks = np.random.default_rng(6), []
    X = sparse.random_array((200, 3000), density=0.05, rng=rng).tocsr()
    y = X[:, :5] @ rng.normal(size=5) + 0.1 * rng.normal(size=200)
    y, yy = y - y.mean(), float(np.sum((y - y.mean()) ** 2))
    whole = SparseDesign.correlate
    monkeypatch.setattr(SparseDesign, "correlate", lambda self, r: looks.append(1) or whole(self, r))
    engine, A = SparseEngine(SparseDesign(X, y, None, False)), X.toarray()
    for t in np.geomspace(1.0, 0.2, 50) * np.abs(A.T @ y).max():
        pen = Penalized(t, 0.0)
        for _ in range(50):
            if engine.check(pen, 1e-8 * yy).gap <= 1e-8 * yy:
                break
            engine.advance(pen, 1e-8 * yy)
        exact = exact_check(engine, A, y, pen)
        assert exact.gap <= 1e-8 * yy
        assert engine.check(pen).gap == pytest.approx(exact.gap, abs=1e-12 * yy)
    assert len(looks) < 25  # of 50 penalties


def test_gap_of_the_features_in_use_is_at_most_the_whole():
    X, y, _ = problem(density=0.1)
    engine = SparseEngine(SparseDesign(X, y, None, True))
    engine.advance(Penalized(0.5, 0.0), 1e-9)
    for t in (0.4, 0.2, 0.05):
        pen = Penalized(t, 0.0)
        assert 0.0 < engine.check(pen, 1e-12).gap <= engine.check(pen).gap


@pytest.mark.parametrize("full", [0, 1, 2])  # no column, some, more of them in the Gram matrix
@pytest.mark.parametrize(
    "options", [{"l1_ratio": 1.0}, {"l1_ratio": 0.5}, {"l1_ratio": 0.9, "positive": True}]
)
def test_sweeps_on_the_residual_and_on_the_gram_matrix_agree(monkeypatch, options, full):
    X, y, _ = problem(n=80, p=300, density=0.1, seed=3)
    options = {**options, "eps": 1e-2, "tol": 1e-9}
    on_gram = enet_path(X, y, **options)
    for name, value in {"ALWAYS": 0, "SHARE": 0, "FULL": full}.items():
        monkeypatch.setattr(sparse_gram, name, value)
    in_turn = enet_path(X, y, **options)
    assert max(on_gram[2].max(), in_turn[2].max()) <= 1e-9 * (y @ y) / 80
    values = [objectives(X, y, *path[:2], options["l1_ratio"]) for path in (on_gram, in_turn)]
    np.testing.assert_allclose(*values, atol=2e-9 * (y @ y) / 80)


@pytest.mark.parametrize("pen", [Penalized(0.4, 0.0), Penalized(0.4, 0.5), Penalized(0.4, 0.1, True)])
@pytest.mark.parametrize("intercept", [False, True])
def test_turns_end_at_the_gap_asked_for(monkeypatch, intercept, pen):
    for name, value in {"ALWAYS": 0, "SHARE": 0, "FULL": 1}.items():
        monkeypatch.setattr(sparse_gram, name, value)
    X, y, weight = problem(density=0.1)
    engine, (A, b) = SparseEngine(SparseDesign(X, y, weight, intercept)), dense_twin(X, y, weight, intercept)
    for _ in range(40):
        check = engine.advance(pen, 1e-9)
        exact = exact_check(engine, A, b, pen)
        assert check.gap == pytest.approx(exact.gap, rel=1e-9, abs=1e-12)
        if check.gap <= 1e-9:
            break
    assert check.gap <= 1e-9 and 0 < len(engine.gram.index) < np.count_nonzero(engine.w)


def test_line_through_two_answers_is_tried(monkeypatch):
    for name, value in {"ALWAYS": 0, "SHARE": 0, "FULL": 0}.items():
        monkeypatch.setattr(sparse_gram, name, value)
    X, y, _ = problem(density=0.1)
    engine = SparseEngine(SparseDesign(X, y, None, False))
    for t in (0.5, 0.49):
        while engine.advance(Penalized(t, 0.0), 1e-12).gap > 1e-12:
            continue
    engine.trail, last = [*engine.trail[-1:], (engine.at, engine.S, engine.w[engine.S])], engine.w.copy()
    before = engine._primal(last, y - X @ last, Penalized(0.48, 0.0))
    engine._foresee(Penalized(0.48, 0.0))
    np.testing.assert_allclose(engine.r, y - X @ engine.w, atol=1e-12)
    assert engine._primal(engine.w, engine.r, Penalized(0.48, 0.0)) < before
    assert not np.any(engine.w[last == 0.0])


def objectives(X, y, alphas, coefs, l1_ratio):
    loss = np.sum((y[:, None] - X @ coefs) ** 2, axis=0) / (2 * len(y))
    size, square = np.abs(coefs).sum(axis=0), 0.5 * np.sum(coefs**2, axis=0)
    return loss + alphas * (l1_ratio * size + (1 - l1_ratio) * square)


@pytest.mark.parametrize("pen", [Penalized(0.7, 0.0), Penalized(0.7, 0.4, True), Penalized(0.0, 0.4)])
def test_sweep_is_coordinate_descent(pen):
    X, y, _ = problem()
    engine, (A, b) = SparseEngine(SparseDesign(X, y, None, True)), dense_twin(X, y, None, True)
    cols, r, w = np.arange(0, 200, 3), b.copy(), np.zeros(200)
    engine._sweep(cols, r, pen, 2)
    for j in [*cols, *cols]:
        z = A[:, j] @ (b - A @ w) + A[:, j] @ A[:, j] * w[j]
        size = max((z if pen.positive else abs(z)) - pen.t, 0.0)
        w[j] = np.sign(z) * size / (A[:, j] @ A[:, j] + pen.mu) if A[:, j].any() else 0.0
    np.testing.assert_allclose(engine.w, w, atol=1e-12)
    np.testing.assert_allclose(r, b - A @ w, atol=1e-12)


@pytest.mark.parametrize("pen", [Penalized(0.4, 0.0), Penalized(0.4, 0.5), Penalized(0.4, 0.1, True)])
def test_certificate_is_that_of_all_features(pen):
    X, y, weight = problem(density=0.1)
    engine, (A, b) = SparseEngine(SparseDesign(X, y, weight, True)), dense_twin(X, y, weight, True)
    for _ in range(40):
        check = engine.advance(pen, 1e-9)
        exact = exact_check(engine, A, b, pen)
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


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_ridge_alone_is_exact_under_any_tolerance(alpha):
    X, y, _ = problem(n=80, p=30, density=0.5)
    model = ElasticNet(alpha=alpha, l1_ratio=0.0).fit(X.toarray(), y)
    A, b = dense_twin(X, y, None, True)
    expected = np.linalg.solve(A.T @ A + 80 * alpha * np.eye(30), A.T @ b)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-11)


def test_one_thread_and_many_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(sparse_coordinate, "ENOUGH", 1)
    X, y, _ = problem(n=200, p=500)
    with threads(1):
        alone = enet_path(X, y, l1_ratio=0.9, eps=1e-2, tol=1e-8)[1]
    with threads(4):
        together = enet_path(X, y, l1_ratio=0.9, eps=1e-2, tol=1e-8)[1]
    np.testing.assert_array_equal(alone, together)
