"""Noise with heavy tails: absolute, quantile, Huber and Student-t fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from gnomon.linear import (
    HuberRegressor,
    LaplaceRegression,
    LinearRegression,
    QuantileRegressor,
    StudentTRegression,
)
from gnomon.linear.robust.quantile import weighted_quantile
from gnomon.solvers.quantile_program import Interior, Program, certificate

LINE = np.arange(5.0)[:, None]
WILD = np.array([0.0, 1.0, 2.0, 3.0, 20.0])


def seeded(seed, n=40, d=3, df=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.standard_t(df, size=n)


def check_loss(model, X, y, q=0.5, alpha=0.0):
    r = y - model.predict(X)
    return np.mean(np.where(r > 0, q * r, (q - 1) * r)) + alpha * np.abs(model.coef_).sum()


# oracles


def test_location_of_five_numbers():
    """R39."""
    X, y = np.zeros((5, 1)), np.array([0.0, 0.0, 1.0, 2.0, 10.0])
    assert LinearRegression().fit(X, y).intercept_ == pytest.approx(2.6, rel=1e-9)
    assert LaplaceRegression().fit(X, y).intercept_ == 1.0
    cauchy = StudentTRegression(scale=1.0, tol=1e-14, random_state=0).fit(X, y)
    np.testing.assert_allclose(cauchy.intercept_, 0.6344365153, rtol=1e-6)
    objective = np.log1p((y - cauchy.intercept_) ** 2).sum()
    np.testing.assert_allclose(objective, 6.3398583571, rtol=1e-6)
    grid = np.linspace(9.3, 9.35, 100_001)
    values = np.log1p((y[:, None] - grid) ** 2).sum(axis=0)
    second = values.argmin()
    np.testing.assert_allclose([grid[second], values[second]], [9.3212567, 17.5830], rtol=1e-5)


def test_line_with_one_wild_row():
    """R40."""
    lad = LaplaceRegression().fit(LINE, WILD)
    np.testing.assert_allclose([lad.intercept_, lad.coef_[0]], [0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(np.abs(WILD - lad.predict(LINE)).sum(), 16.0, rtol=1e-9)
    least = LinearRegression().fit(LINE, WILD)
    np.testing.assert_allclose([least.intercept_, least.coef_[0]], [-3.2, 4.2], rtol=1e-9)
    cauchy = StudentTRegression(scale=1.0, tol=1e-14, random_state=0).fit(LINE, WILD)
    np.testing.assert_allclose([cauchy.intercept_, cauchy.coef_[0]], [-0.0313792, 1.0313978], rtol=2e-5)
    objective = np.log1p((WILD - cauchy.predict(LINE)) ** 2).sum()
    np.testing.assert_allclose(objective, 5.5432195402, rtol=1e-6)
    with pytest.warns(UserWarning, match="no maximum"):
        assert StudentTRegression(random_state=0).fit(LINE, WILD).collapsed_


def test_diabetes():
    """R41, R42."""
    X, y = load_diabetes(return_X_y=True)
    lad = LaplaceRegression().fit(X, y)
    np.testing.assert_allclose(np.abs(y - lad.predict(X)).sum(), 19024.343303158, rtol=1e-9)
    huber = HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose([huber.intercept_, huber.scale_], [151.30079, 37.32867], rtol=1e-3)


# properties


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.5, 0.8]))
def test_fit_is_a_vertex_with_a_closed_gap(seed, q):
    X, y = seeded(seed)
    model = QuantileRegressor(quantile=q, alpha=0.0).fit(X, y)
    assert (np.abs(y - model.predict(X)) < 1e-8).sum() >= 4  # as many rows as parameters
    assert model.dual_gap_ <= 1e-9 * max(model.trace_[-1], 1.0)
    below = (y < model.predict(X) - 1e-8).mean()
    assert below <= q <= below + 4.5 / len(y) + 1e-12


def test_gap_counts_what_an_infeasible_dual_point_may_lose():
    """One row x = 1, y = 1, τ = ½, b = 2 and d = ¼: loss ½ exceeds rd = −¼ by ¾, and Aᵀd·b = ½ is no bound."""
    program = Program(np.ones((1, 1)), np.ones(1), np.full(1, 0.5), np.ones(1), 1, None)
    state = Interior(
        np.full(1, 0.75), np.full(1, 0.25), np.ones(1), np.ones(1), np.ones(1), program, np.ones(1), 0.0, 0.0
    )
    assert certificate(state, np.full(1, 2.0)) == (0.75, 0.5)


def test_a_fit_that_rounding_stops_says_its_gap(monkeypatch):
    monkeypatch.setattr("gnomon.linear.robust.quantile.NEAR", -1.0)  # nothing is near enough
    X, y = seeded(0)
    with pytest.warns(ConvergenceWarning, match="ended with a duality gap of"):
        model = QuantileRegressor(alpha=0.0).fit(X, y)
    assert not model.converged_


@given(st.integers(0, 10_000))
def test_moving_a_row_outward_leaves_the_fit(seed):
    X, y = seeded(seed)
    model = LaplaceRegression().fit(X, y)
    r = y - model.predict(X)
    moved = y + 100.0 * (r == r.max())
    again = LaplaceRegression().fit(X, moved)
    old = np.abs(moved - model.predict(X)).sum()
    np.testing.assert_allclose(np.abs(moved - again.predict(X)).sum(), old, rtol=1e-9)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9), st.sampled_from([0.25, 0.5, 0.9]))
def test_location_is_the_weighted_quantile(values, q):
    y = np.array(values, dtype=float)
    s = np.arange(1.0, len(y) + 1)
    found = weighted_quantile(y, s, q)
    cost = [(s * np.where(y > b, q * (y - b), (q - 1) * (y - b))).sum() for b in [found, *y]]
    assert cost[0] <= min(cost[1:]) + 1e-9


@given(st.integers(0, 10_000))
def test_weight_is_repetition(seed):
    X, y = seeded(seed)
    s = np.random.default_rng(seed).integers(0, 3, size=len(y))
    R, t = np.repeat(X, s, axis=0), np.repeat(y, s)
    for make in (lambda: LaplaceRegression(alpha=0.01), lambda: HuberRegressor(tol=1e-9)):
        a, b = make().fit(X, y, s), make().fit(R, t)
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-5, atol=1e-6)
    a, b = (StudentTRegression(3.0, n_init=2).fit(*data) for data in ((X, y, s), (R, t)))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10_000), st.sampled_from([1.0, 3.0, "learn"]))
def test_em_never_lowers_the_likelihood(seed, df):
    X, y = seeded(seed)
    model = StudentTRegression(df, n_init=3, random_state=0, max_iter=200, tol=1e-8).fit(X, y)
    values = model.trace_.objective
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1]) + 1e-12).all()


def test_many_degrees_of_freedom_are_least_squares():
    X, y = seeded(1, df=30)
    model = StudentTRegression(1e7, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-5)


def test_influence_of_one_row_is_bounded():
    X, y = seeded(2)
    base = StudentTRegression(1.0, scale=1.0, random_state=0).fit(X, y).coef_
    shifts = []
    for size in (1e2, 1e4, 1e6):
        wild = y.copy()
        wild[0] += size
        shifts.append(
            np.abs(StudentTRegression(1.0, scale=1.0, random_state=0).fit(X, wild).coef_ - base).max()
        )
    assert abs(shifts[2] - shifts[1]) < 1e-3 and max(shifts) < 0.2


def test_degrees_of_freedom_are_found():
    X, y = seeded(3, n=4000, df=4.0)
    model = StudentTRegression("learn", n_init=2, tol=1e-9).fit(X, y)
    assert 3.2 < model.df_ < 5.0 and abs(model.scale_ - 1.0) < 0.06


@given(st.integers(0, 10_000))
def test_huber_objective_falls_and_its_gradient_vanishes(seed):
    X, y = seeded(seed)
    model = HuberRegressor(tol=1e-9, max_iter=200).fit(X, y)
    assert (np.diff(model.trace_.objective) <= 1e-9).all()
    r = (y - model.predict(X)) / model.scale_
    psi = np.clip(r, -1.35, 1.35)
    np.testing.assert_allclose(X.T @ psi, 1e-4 * model.coef_, atol=1e-6)
    np.testing.assert_array_equal(model.outliers_, np.abs(r) > 1.35)


@pytest.mark.parity
def test_same_as_scikit_learn():
    import sklearn.linear_model as peers

    X, y = load_diabetes(return_X_y=True)
    for q, alpha in [(0.2, 0.0), (0.5, 0.01), (0.9, 0.003)]:
        ours, theirs = (m.QuantileRegressor(quantile=q, alpha=alpha).fit(X, y) for m in (_OURS, peers))
        a, b = check_loss(ours, X, y, q, alpha), check_loss(theirs, X, y, q, alpha)
        np.testing.assert_allclose(a, b, rtol=1e-9)
    Z, t = seeded(4, n=300)
    ours, theirs = HuberRegressor(tol=1e-8).fit(Z, t), peers.HuberRegressor(tol=1e-8, max_iter=1000).fit(Z, t)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-4)


class _OURS:
    QuantileRegressor = QuantileRegressor


@pytest.mark.parametrize("epsilon", [1.0, 1.01, 1.05, 1.35])
def test_huber_reaches_the_minimum_where_hardly_a_row_is_within_the_bound(epsilon):
    """No smaller objective is found by a general minimizer from the answer, or by scikit-learn."""
    from sklearn.datasets import make_regression
    from sklearn.linear_model import HuberRegressor as Theirs

    X, y = make_regression(100, 20, noise=1.0, random_state=0)

    def objective(model):
        r, s = np.abs(y - model.predict(X)), model.scale_
        loss = np.where(r < epsilon * s, r * r / s, 2 * epsilon * r - epsilon**2 * s)
        return len(y) * s + loss.sum() + model.alpha * model.coef_ @ model.coef_

    model = HuberRegressor(epsilon=epsilon, max_iter=1000).fit(X, y)
    assert objective(model) <= objective(Theirs(epsilon=epsilon, max_iter=10000).fit(X, y)) * (1 + 1e-4)
    assert not model.converged_ or model.trace_.certificate[-1] <= model.tol


@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("largest", [0, 2**20])
def test_quantiles_of_sparse_rows_are_those_of_dense_ones(alpha, largest, monkeypatch):
    from scipy import sparse

    from gnomon.linear import QuantileRegressor

    monkeypatch.setattr("gnomon.linear.robust.quantile.SMALL", largest)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.4)
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=200)
    weight = rng.integers(1, 4, size=200).astype(float)
    dense, thin = (
        QuantileRegressor(quantile=0.7, alpha=alpha).fit(rows, y, weight) for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    assert thin.intercept_ == pytest.approx(dense.intercept_, abs=1e-6)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_what_the_penalty_leaves_out_is_exactly_zero(fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    y = X[:, :4] @ [4.0, -3.0, 2.0, 1.0] + 0.1 * rng.normal(size=120)
    model = QuantileRegressor(quantile=0.6, alpha=0.1, fit_intercept=fit_intercept).fit(X, y)
    assert (model.coef_[:4] != 0.0).all() and (model.coef_[4:] == 0.0).all()


@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_a_fit_of_quantiles_ends_with_the_first_step_that_closes_the_gap(alpha):
    X, y = seeded(0)
    model = QuantileRegressor(quantile=0.3, alpha=alpha).fit(X, y)
    gaps = model.trace_.certificate
    assert gaps[-1] <= 1e-10 and (gaps[:-1] > 1e-10 * model.trace_.objective[-1]).all()
    assert model.n_iter_ == len(gaps) <= 12


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_traces_end_at_the_objective_that_is_written_down(alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.laplace(size=30)
    s = rng.integers(0, 4, 30).astype(float)

    def ends(model, loss, penalty, mean=True):
        model.fit(X, y, sample_weight=s)
        lost = s @ loss(y - model.predict(X)) / (s.sum() if mean else 1.0)
        value = lost + alpha * penalty(model.coef_)
        assert model.trace_.objective[-1] == pytest.approx(value, rel=1e-9)
        return model

    def size(w):
        return np.abs(w).sum()

    lad = ends(LaplaceRegression(alpha=alpha), np.abs, size)
    assert lad.scale_ == pytest.approx(s @ np.abs(y - lad.predict(X)) / s.sum())
    ends(QuantileRegressor(quantile=0.3, alpha=alpha), lambda r: np.maximum(0.3 * r, -0.7 * r), size)
    half = QuantileRegressor(alpha=alpha / 2).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(half.coef_, lad.coef_, atol=1e-9)
    huber = HuberRegressor(alpha=alpha, tol=1e-9).fit(X, y, sample_weight=s)

    def forgiving(r):
        z = np.abs(r) / huber.scale_
        return huber.scale_ * (1 + np.where(z <= 1.35, z**2, 2 * 1.35 * z - 1.35**2))

    ends(HuberRegressor(alpha=alpha, tol=1e-9), forgiving, lambda w: (w**2).sum(), mean=False)
