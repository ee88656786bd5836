"""L-BFGS on sums over rows: the same optimum as Newton's method, on wide data of every kind."""

import numpy as np
import pytest
from scipy import sparse

from gnomon import threads
from gnomon.linear import LogisticRegression
from gnomon.solvers import lbfgs, newton


def wide(seed=0, n=1500, d=700, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, k)) / np.sqrt(d) + rng.gumbel(size=(n, k))).argmax(axis=1)


def objective_of(model, X, y):
    rows = model._read(X, y)
    return rows, model._objective(rows)


def test_two_loops_is_the_explicit_inverse():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    pairs = tuple(lbfgs.Pair(s, A @ s, s @ A @ s) for s in rng.normal(size=(4, 6)))
    scale = rng.uniform(0.5, 2.0, size=6)
    H = np.diag(scale) * pairs[-1].bend / (pairs[-1].change @ (scale * pairs[-1].change))
    for s, y, _ in pairs:  # the BFGS update, written out
        V = np.eye(6) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    g = rng.normal(size=6)
    np.testing.assert_allclose(lbfgs.two_loops(g, pairs, scale), H @ g, rtol=1e-10)


@pytest.mark.parametrize("kind", ["dense", "sparse", "uneven", "ten classes", "weighted"])
def test_wide_data_end_at_the_optimum_of_newton(kind):
    X, y = wide(k=10 if kind == "ten classes" else 2)
    weight = None
    if kind == "sparse":
        X = sparse.csr_array(np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.abs(X), 0.0))
    elif kind == "uneven":
        X = X * np.geomspace(1e-2, 1e2, X.shape[1])
    elif kind == "weighted":
        weight = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float)
    model = LogisticRegression().fit(X, y, weight)
    truth = LogisticRegression(solver="newton-cg", tol=1e-9).fit(X, y, weight)
    assert model.converged_ and model.gradient_norm_ <= 1e-4
    assert model.objective_ <= truth.objective_ * (1 + 1e-6)
    assert model.objective_ >= truth.objective_ * (1 - 1e-9)


def test_the_objective_falls_at_every_step_and_the_decrement_with_it():
    X, y = wide()
    rows, objective = objective_of(LogisticRegression(), X, y)
    state = first = lbfgs.start(rows, objective, np.zeros(701))
    for _ in range(25):
        new = lbfgs.step(rows, objective, state)
        assert new.value <= state.value
        state = new
    g = state.gradient
    inverse = lbfgs.two_loops(g, state.pairs, state.scale)
    assert state.decrement() == pytest.approx(0.5 * g @ inverse, rel=1e-12)
    assert 0.0 < state.decrement() < 1e-2 * first.decrement()


def test_conjugate_gradients_take_over():
    X, y = wide()
    rows, objective = objective_of(LogisticRegression(), X, y)
    state = lbfgs.start(rows, objective, np.zeros(701))._replace(k=lbfgs.PATIENCE)
    new = lbfgs.step(rows, objective, state)
    assert isinstance(new, newton.NewtonState) and new.value < state.value
    again = lbfgs.step(rows, objective, new)
    assert isinstance(again, newton.NewtonState) and again.value < new.value


def test_bits_do_not_depend_on_threads():
    X, y = wide(n=6000)
    with threads(1):
        one = LogisticRegression().fit(X, y)
    with threads(2):
        two = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_warm_start_and_huge_columns():
    X, y = wide()
    model = LogisticRegression(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= max(2, first // 2)
    far = LogisticRegression(C=1e-12).fit(1e6 * X, y)
    near = LogisticRegression().fit(X, y)
    assert far.objective_ * 1e12 == pytest.approx(near.objective_, rel=1e-5)


@pytest.mark.parametrize("solver", ["liblinear", "sag", "saga"])
def test_names_of_other_methods_mean_auto(solver):
    X, y = wide(n=400, d=30)
    np.testing.assert_array_equal(
        LogisticRegression(solver=solver).fit(X, y).coef_, LogisticRegression().fit(X, y).coef_
    )
