"""Ridge: hand-computed fits, six views of one answer, and the path from least squares to nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gnomon.linear import LinearRegression, Ridge

A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
YA = np.array([1.0, 2.0, 3.0, 5.0])
DIRECT = ["auto", "cholesky", "dual", "svd", "augmented"]


def seeded(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, size=d) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + rng.normal(size=n) + 1.0


# oracles


@pytest.mark.parametrize("solver", [*DIRECT, "lsqr"])
def test_four_points_by_hand(solver):
    """R10, R11."""
    options = {"solver": solver, "tol": 1e-8}
    one = Ridge(1.0, fit_intercept=False, **options).fit(A, YA)
    ten = Ridge(10.0, fit_intercept=False, **options).fit(A, YA)
    np.testing.assert_allclose(one.coef_, [62 / 59, 3 / 59], rtol=1e-9)
    np.testing.assert_allclose(ten.coef_, [41 / 68, 24 / 68], rtol=1e-9)
    np.testing.assert_allclose([one.dof_, ten.dof_], [58 / 59 + 2 / 3, 58 / 68 + 2 / 12], rtol=1e-9)
    one, ten = Ridge(1.0, **options).fit(A, YA), Ridge(10.0, **options).fit(A, YA)
    np.testing.assert_allclose([*one.coef_, one.intercept_], [19 / 18, 1 / 18, -1 / 36], rtol=1e-9)
    np.testing.assert_allclose([*ten.coef_, ten.intercept_], [29 / 72, 11 / 72, 49 / 36], rtol=1e-9)


def test_another_column_may_raise_the_error_but_not_the_objective():
    """R12: mean-half scale λ = 1 is alpha = n λ = 2."""
    x, y = np.array([[1.0], [2.0]]), np.array([1.0, 1.0])
    both = np.array([[1.0, 0.0], [2.0, 3.0]])
    a, b = (Ridge(2.0, fit_intercept=False).fit(X, y) for X in (x, both))
    half = [0.5 * np.mean((y - m.predict(X)) ** 2) for m, X in ((a, x), (b, both))]
    np.testing.assert_allclose(half, [0.0867346939, 0.1011302796], rtol=1e-8)
    np.testing.assert_allclose(b.coef_, [15 / 41, 3 / 41], rtol=1e-9)
    assert b.trace_[-1] < a.trace_[-1]


def test_standardized_columns():
    """R13, by the option and by scikit-learn's scaler."""
    model = Ridge(2.0, standardize=True).fit(A, YA)
    np.testing.assert_allclose(model.coef_standardized_, [0.9050751337, 0.1597191412], rtol=1e-9)
    np.testing.assert_allclose([*model.coef_, model.intercept_], [17 / 21, 1 / 7, 31 / 84], rtol=1e-9)
    pipe = make_pipeline(StandardScaler(), Ridge(2.0)).fit(A, YA)
    np.testing.assert_allclose(pipe[0].mean_, 2.5)
    np.testing.assert_allclose(pipe[0].scale_, np.sqrt(1.25))
    np.testing.assert_allclose(pipe[1].coef_, model.coef_standardized_, rtol=1e-9)
    np.testing.assert_allclose(pipe.predict(A), model.predict(A), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:columns")
def test_wide_matrix_by_hand():
    """R14."""
    X, y = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([1.0, 2.0])
    for solver in DIRECT:
        model = Ridge(1.0, fit_intercept=False, solver=solver).fit(X, y)
        np.testing.assert_allclose(model.coef_, [3 / 73, 9 / 73, 15 / 73], rtol=1e-9)
    limit = Ridge(0.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(limit.coef_, [-1 / 18, 1 / 9, 5 / 18], rtol=1e-9)


def test_diabetes():
    """R15."""
    X, y = load_diabetes(return_X_y=True)
    model = Ridge(1.0).fit(X, y)
    np.testing.assert_allclose(model.intercept_, 152.133484162896, rtol=1e-9)
    expected = [29.46611189, -83.15427636, 306.35268015, 201.62773437]
    np.testing.assert_allclose(model.coef_[:4], expected, rtol=1e-8)
    np.testing.assert_allclose(model.dof_, 3.94228406, rtol=1e-8)


# properties


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.booleans())
def test_all_views_agree(seed, alpha, intercept):
    X, y = seeded(seed)
    Z, t = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    n, d = Z.shape
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    least = np.linalg.lstsq(Z, t)[0]
    views = [
        Vt.T @ (s / (s**2 + alpha) * (U.T @ t)),
        Vt.T @ (s**2 / (s**2 + alpha) * (Vt @ least)),
        np.linalg.solve(alpha * np.linalg.inv(Z.T @ Z) + np.eye(d), least),
        np.linalg.lstsq(np.vstack([Z, np.sqrt(alpha) * np.eye(d)]), np.append(t, np.zeros(d)))[0],
        Z.T @ np.linalg.solve(Z @ Z.T + alpha * np.eye(n), t),
        np.linalg.solve(Z.T @ Z / 0.5 + alpha / 0.5 * np.eye(d), Z.T @ t / 0.5),  # MAP, noise 0.5
    ]
    for solver in DIRECT:
        coef = Ridge(alpha, fit_intercept=intercept, solver=solver).fit(X, y).coef_
        for view in views:
            np.testing.assert_allclose(coef, view, rtol=1e-10, atol=1e-10 * np.abs(least).max())


@given(st.integers(0, 10_000), st.floats(1e-2, 1e3))
def test_gradient_is_zero_and_objective_is_a_parabola(seed, alpha):
    X, y = seeded(seed)
    model = Ridge(alpha).fit(X, y)
    r = y - model.predict(X)
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(Z.T @ r, alpha * model.coef_, rtol=1e-8, atol=1e-9 * np.abs(X.T @ y).max())
    least = LinearRegression().fit(X, y)
    w = np.random.default_rng(seed).normal(size=4)
    direct = ((y - y.mean() - Z @ w) ** 2).sum() + alpha * w @ w
    by_level_sets = ((Z @ (w - least.coef_)) ** 2).sum() + alpha * w @ w + least.trace_[-1]
    np.testing.assert_allclose(direct, by_level_sets, rtol=1e-9)


@given(st.integers(0, 10_000))
def test_monotone_in_the_penalty(seed):
    X, y = seeded(seed)
    models = [Ridge(alpha).fit(X, y) for alpha in np.geomspace(1e-4, 1e6, 12)]
    length = [np.linalg.norm(m.coef_) for m in models]
    error = [((y - m.predict(X)) ** 2).sum() for m in models]
    dof = [m.dof_ for m in models]
    assert (np.diff(length) <= 1e-12).all() and (np.diff(error) >= -1e-9).all() and (np.diff(dof) < 0).all()
    np.testing.assert_allclose(models[0].coef_, LinearRegression().fit(X, y).coef_, rtol=1e-3, atol=1e-4)
    far = Ridge(1e14).fit(X, y)
    np.testing.assert_allclose(far.predict(X), y.mean(), rtol=1e-6)


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_weight_is_repetition(seed, alpha):
    X, y = seeded(seed)
    s = np.random.default_rng(seed).integers(0, 4, size=len(X))
    a = Ridge(alpha).fit(X, y, s)
    b = Ridge(alpha).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose([a.intercept_, *a.coef_], [b.intercept_, *b.coef_], rtol=1e-9, atol=1e-11)


@given(st.integers(0, 10_000), st.floats(-50, 50).filter(lambda c: abs(c) > 0.01))
def test_scaling_the_target(seed, c):
    X, y = seeded(seed)
    expected = c * Ridge(3.0).fit(X, y).coef_
    np.testing.assert_allclose(Ridge(3.0).fit(X, c * y).coef_, expected, rtol=1e-9, atol=1e-11)


@given(st.integers(0, 10_000), st.integers(1, 29))
def test_parts_add_up_to_the_whole(seed, cut):
    X, y = seeded(seed)
    whole = Ridge(2.0).fit(X, y)
    parts = Ridge(2.0).partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(Ridge.from_sums(parts.sums_, alpha=2.0).coef_, parts.coef_)


# options


def test_penalized_intercept_is_a_column_of_ones():
    X, y = seeded(1)
    model = Ridge(2.0, regularize_intercept=True).fit(X, y)
    ones = Ridge(2.0, fit_intercept=False).fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], ones.coef_, rtol=1e-10)


def test_one_penalty_for_each_target():
    X, y = seeded(2)
    Y = np.c_[y, y[::-1], y]
    for solver in ("auto", "dual", "lsqr"):
        model = Ridge(np.array([0.1, 5.0, 5.0]), solver=solver, tol=1e-8).fit(X, Y)
        for t, alpha in enumerate([0.1, 5.0, 5.0]):
            one = Ridge(alpha).fit(X, Y[:, t])
            np.testing.assert_allclose(model.coef_[t], one.coef_, rtol=1e-8)
    assert Ridge([0.1, 5.0, 5.0]).fit(X, Y).dof_.shape == (3,)


@pytest.mark.parametrize("d", [15, 1400])
@pytest.mark.parametrize("intercept", [False, True])
def test_sparse_rows_fit_like_dense_ones(d, intercept):
    rng = np.random.default_rng(3)
    X = sparse.random_array((900, d), density=0.05, format="csr", rng=rng)
    y = X @ rng.normal(size=d) + rng.normal(size=900) + 2.0
    a = Ridge(0.7, fit_intercept=intercept, tol=1e-7).fit(X, y)
    b = Ridge(0.7, fit_intercept=intercept, solver="cholesky").fit(X.toarray(), y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-8)


def test_wide_rows_use_the_smaller_matrix():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 1200)) + 1.0, rng.normal(size=40)
    s = rng.integers(0, 3, size=40)
    a, b = Ridge(0.5).fit(X, y, s), Ridge(0.5, solver="cholesky").fit(X, y, s)
    assert a.solver_ == "dual" and a.sums_ is None and b.solver_ == "cholesky"
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8, atol=1e-11)


def test_tiny_penalty_on_collinear_columns_is_still_exact():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 6))
    X[:, 5] = X[:, 0] + X[:, 1]
    y = X @ np.ones(6)
    model = Ridge(1e-9).fit(X, y)
    Z = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    expected = Vt.T @ (s / (s**2 + 1e-9) * (U.T @ (y - y.mean())))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-6)


def test_positive_coefficients():
    X, y = seeded(6, n=100, d=8)
    model = Ridge(3.0, positive=True).fit(X, y)
    from scipy.optimize import nnls

    Z = np.vstack([X - X.mean(axis=0), np.sqrt(3.0) * np.eye(8)])
    expected = nnls(Z, np.append(y - y.mean(), np.zeros(8)))[0]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("alpha, message", [(-1.0, "alpha"), ([1.0, 2.0], "alpha has 2"), (np.nan, "alpha")])
def test_bad_penalties(alpha, message):
    with pytest.raises(ValueError, match=message):
        Ridge(alpha).fit(A, YA)


@pytest.mark.parity
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"solver": "lsqr", "tol": 1e-8}])
def test_same_as_scikit_learn(options):
    from sklearn.linear_model import Ridge as Peer

    X, y = load_diabetes(return_X_y=True)
    s = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    for alpha in (1e-3, 1.0, 100.0):
        ours, theirs = Ridge(alpha, **options).fit(X, y, s), Peer(alpha, **options).fit(X, y, s)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-6)


def test_svd_solver_keeps_small_singular_values():
    H = 1.0 / (np.arange(12)[:, None] + np.arange(6) + 1.0)
    y, alpha = H @ np.ones(6) + 1e-3 * np.sin(np.arange(12)), 1e-12
    stacked = np.vstack([H, np.sqrt(alpha) * np.eye(6)])
    exact = np.linalg.lstsq(stacked, np.r_[y, np.zeros(6)], rcond=None)[0]
    found = Ridge(alpha, solver="svd", fit_intercept=False).fit(H, y).coef_
    np.testing.assert_allclose(found, exact, rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd", "augmented", "dual", "lsqr", "saga"])
def test_penalties_of_targets_are_those_of_fits_one_by_one(solver):
    rng = np.random.default_rng(0)
    X, Y, weight = rng.normal(size=(20, 6)), rng.normal(size=(20, 4)), rng.uniform(1, 2, size=20)
    X[:, 5] = X[:, 4] + 1e-2 * rng.normal(size=20)
    alphas = np.array([0.0, 1.0, 1e-6, 1.0])
    together = Ridge(alpha=alphas, solver=solver, tol=1e-14).fit(X, Y, weight)
    for k, alpha in enumerate(alphas):
        alone = Ridge(alpha=alpha, solver=solver, tol=1e-14).fit(X, Y[:, k], weight)
        np.testing.assert_allclose(together.predict(X)[:, k], alone.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd"])
def test_few_rows_and_hardly_any_penalty_give_the_shortest_solution(kind, intercept, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 50)) + 3.0
    y = X @ rng.normal(size=50) + 10.0
    Z, t = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    model = Ridge(1e-16, fit_intercept=intercept, solver=solver).fit(kind(X), y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(Z, t, rcond=1e-12)[0], rtol=1e-7, atol=1e-9)
