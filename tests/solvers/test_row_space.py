"""L-BFGS in the row space: the same optimum as Newton's method on all columns, and what it says of it is true."""

import numpy as np
import pytest

from gnomon import threads
from gnomon.core.callbacks import Checkpoint
from gnomon.linear import LogisticRegression
from gnomon.linear.likelihood._solvers import RowSpaceLBFGS
from gnomon.solvers import newton, row_space
from killing import Killed

KINDS = [
    "plain",
    "uneven",
    "weighted",
    "far",
    "repeated rows",
    "constant columns",
    "ten classes",
    "one row a class",
]


def wide(kind="plain", n=60, d=700):
    rng = np.random.default_rng(0)
    k = 10 if kind == "ten classes" else 2
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) / np.sqrt(d) + rng.gumbel(size=(n, k))).argmax(axis=1)
    weight = None
    if kind == "uneven":
        X = X * np.geomspace(1e-2, 1e2, d)
    elif kind == "weighted":
        weight = rng.integers(0, 4, size=n).astype(float)
    elif kind == "far":
        X = X + 20.0 * rng.normal(size=d)
    elif kind == "repeated rows":
        X, y = np.repeat(X[:20], 3, axis=0), np.repeat(y[:20], 3)
    elif kind == "constant columns":
        X[:, ::2] = 3.0
    elif kind == "one row a class":
        X, y = X[:2], np.arange(2)
    return X, y, weight


def newton_of(X, y, weight=None, **options):
    solver = "newton-cg" if len(np.unique(y)) > 2 else "newton-cholesky"
    return LogisticRegression(solver=solver, tol=1e-10, **options).fit(X, y, weight)


def in_row_space(model, X, y, weight=None):
    return isinstance(model._solver(model._read(X, y, weight)), RowSpaceLBFGS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{}, {"fit_intercept": False}, {"regularize_intercept": True}, {"C": 1e-4}, {"C": 1e3}],
    ids=str,
)
def test_ends_at_the_optimum_of_newton(kind, options):
    X, y, weight = wide(kind)
    model = LogisticRegression(**options)
    assert in_row_space(model, X, y, weight)
    model.fit(X, y, weight)
    truth = newton_of(X, y, weight, **options)
    assert model.converged_ and model.gradient_norm_ <= 1e-4
    assert truth.objective_ * (1 - 1e-9) <= model.objective_ <= truth.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_value_and_certificate_are_those_of_the_weights(kind):
    X, y, weight = wide(kind)
    for options in ({}, {"fit_intercept": False}, {"regularize_intercept": True}):
        model = LogisticRegression(max_iter=1, **options).fit(X, y, weight)
        rows = model._read(X, y, weight)
        theta = np.column_stack([model.coef_, model.intercept_]).T
        theta = theta if model.fit_intercept else theta[:-1]
        found = newton.evaluate(
            rows,
            model._objective(rows),
            np.ascontiguousarray(theta if kind == "ten classes" else theta[:, 0]),
        )
        np.testing.assert_allclose(model.objective_, found.value, rtol=1e-9)
        truth = newton.violation(model._objective(rows), found.gradient)
        np.testing.assert_allclose(model.gradient_norm_, truth, rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "far", "ten classes"])
def test_a_small_tolerance_is_met(kind):
    X, y, _ = wide(kind)
    model = LogisticRegression(tol=1e-10).fit(X, y)
    truth = newton_of(X, y)
    assert model.converged_ and model.gradient_norm_ <= 1e-10
    np.testing.assert_allclose(model.coef_, truth.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, truth.intercept_, atol=1e-6)


def test_a_tolerance_below_rounding_ends_where_steps_on_all_columns_do():
    X, y, _ = wide("uneven")
    with pytest.warns(UserWarning, match="did not converge"):
        model = LogisticRegression(tol=1e-300, C=100.0).fit(X, y)
    truth = newton_of(X, y, C=100.0)
    np.testing.assert_allclose(model.objective_, truth.objective_, rtol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "far", "weighted", "ten classes"])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"regularize_intercept": True}], ids=str)
def test_a_warm_start_begins_where_it_was_told(kind, options):
    X, y, weight = wide(kind)
    model = LogisticRegression(warm_start=True, **options).fit(X, y, weight)
    rng = np.random.default_rng(1)
    model.coef_ = model.coef_ + rng.normal(scale=0.01, size=model.coef_.shape)
    model.intercept_ = model.intercept_ + (0.1 if model.fit_intercept else 0.0)
    solver = model._prepare(model._read(X, y, weight))
    state = model._first_state(solver, 0, 0)
    found = newton.evaluate(solver.rows, solver.objective, state.theta())
    np.testing.assert_allclose(state.inner.value, found.value, rtol=1e-9)
    model.set_params(C=0.1).fit(X, y, weight)
    truth = newton_of(X, y, weight, C=0.1, **options)
    np.testing.assert_allclose(model.objective_, truth.objective_, rtol=1e-6)


def test_float32_agrees():
    X, y, _ = wide()
    narrow = LogisticRegression().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-4)


def test_tiles_are_the_whole_product():
    X = np.random.default_rng(0).normal(size=(1100, 30))
    np.testing.assert_allclose(row_space.gram(X), X @ X.T, atol=1e-12)
    narrow = np.tile(X.astype(np.float32), (1, 150))  # more columns than are worked on at a time
    np.testing.assert_allclose(row_space.gram(narrow), 150 * (X @ X.T), rtol=1e-4, atol=1e-2)


def test_two_loops_is_the_explicit_inverse():
    rng = np.random.default_rng(0)
    M, A = (
        Z @ Z.T + np.eye(6) for Z in rng.normal(size=(2, 6, 6))
    )  # the metric, and a Hessian H = M⁻¹ A of it

    def vector(v):
        return np.stack([v, M @ v])[:, :, None]

    moves = rng.normal(size=(4, 6))
    pairs = tuple(
        row_space.Pair(vector(s), vector(np.linalg.solve(M, A @ s)), float(s @ A @ s)) for s in moves
    )
    last = pairs[-1].change[0, :, 0]
    H = np.eye(6) * pairs[-1].bend / (last @ M @ last)
    for s in moves:  # the BFGS update, written out
        y, bend = np.linalg.solve(M, A @ s), s @ A @ s
        V = np.eye(6) - np.outer(y, M @ s) / bend
        H = (np.eye(6) - np.outer(s, M @ y) / bend) @ H @ V + np.outer(s, M @ s) / bend
    g = rng.normal(size=6)
    np.testing.assert_allclose(row_space.two_loops(vector(g), pairs), vector(H @ g), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["plain", "ten classes"])
def test_one_thread_equals_many(kind):
    X, y, _ = wide(kind, n=700, d=1500)
    with threads(1):
        one = LogisticRegression().fit(X, y)
    with threads(3):
        many = LogisticRegression().fit(X, y)
    assert np.array_equal(one.coef_, many.coef_)


def test_iterates_show_every_step_and_are_the_fit(monkeypatch):
    monkeypatch.setattr(row_space, "ITERATIONS", 10)
    X, y, _ = wide("uneven")
    models = list(LogisticRegression(C=1e3, tol=1e-9).iterate(X, y))
    values = [model.objective_ for model in models[1:]]
    assert len(values) > 1 and np.all(np.diff(values) <= 1e-12 * values[0])
    whole = LogisticRegression(C=1e3, tol=1e-9).fit(X, y)
    assert np.array_equal(models[-1].coef_, whole.coef_)


def test_tall_rows_and_maximum_likelihood_go_elsewhere():
    X, y, _ = wide()
    assert not in_row_space(LogisticRegression(C=np.inf), X, y)
    assert not in_row_space(LogisticRegression(), np.vstack([X] * 10), np.tile(y, 10))
    assert not in_row_space(LogisticRegression(l1_ratio=0.5), X, y)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["uneven", "ten classes"])
def test_a_killed_fit_goes_on(kind, warm, monkeypatch, tmp_path):
    monkeypatch.setattr(row_space, "ITERATIONS", 10)
    X, y, _ = wide(kind)

    def model(*callbacks):
        made = LogisticRegression(warm_start=warm, tol=1e-8)
        if warm:
            made.fit(X[::2], y[::2])
        return made.set_callbacks(*callbacks)

    whole = model(Checkpoint(tmp_path / "whole", every_seconds=0)).fit(X, y)
    assert whole.n_iter_[0] > 2
    with pytest.raises(KeyboardInterrupt):
        model(Checkpoint(tmp_path / "fit", every_seconds=0), Killed(2)).fit(X, y)
    resumed = model(Checkpoint(tmp_path / "fit", every_seconds=0)).fit(X, y)
    assert np.array_equal(resumed.coef_, whole.coef_) and resumed.n_iter_ == whole.n_iter_
