"""Least squares: hand-computed fits, every rank, agreement with QR, and what the fit says of itself."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse, stats
from sklearn.datasets import load_diabetes

import gnomon
from gnomon.core.errors import DataError
from gnomon.linear import LinearRegression, Ridge
from gnomon.losses import SquaredError

A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
YA = np.array([1.0, 2.0, 3.0, 5.0])
B = np.array([[0.0], [1.0], [2.0]])
YB = np.array([1.0, 2.0, 4.0])


def seeded(seed, n=40, d=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, size=d) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + noise * rng.normal(size=n) + 1.0


# oracles


def test_three_points_by_hand():
    """R1."""
    model = LinearRegression().fit(B, YB)
    np.testing.assert_allclose([model.intercept_, model.coef_[0]], [5 / 6, 3 / 2], rtol=1e-9)
    np.testing.assert_allclose(model.predict(B), [5 / 6, 7 / 3, 23 / 6], rtol=1e-9)
    np.testing.assert_allclose(model.trace_[-1], 1 / 6, rtol=1e-9)
    np.testing.assert_allclose(model.score(B, YB), 27 / 28, rtol=1e-9)


def test_moments_and_likelihood_by_hand():
    """R3."""
    model = LinearRegression().fit(B, YB)
    np.testing.assert_allclose(model.noise_variance_, 1 / 18, rtol=1e-9)
    table = model.summary()
    np.testing.assert_allclose(table.noise_variance, 1 / 6, rtol=1e-9)
    np.testing.assert_allclose(table.standard_error, [np.sqrt(5 / 36), np.sqrt(1 / 12)], rtol=1e-9)
    np.testing.assert_allclose(model.log_likelihood(B, YB), 0.078742037230228, rtol=1e-9)
    times = np.arange(1, len(YB) + 1)
    repeated = model.log_likelihood(np.repeat(B, times, axis=0), np.repeat(YB, times))
    np.testing.assert_allclose(model.log_likelihood(B, YB, sample_weight=times), repeated, rtol=1e-12)
    unscaled = model.covariance("ml") / model.noise_variance_
    np.testing.assert_allclose(unscaled, [[5 / 6, -1 / 2], [-1 / 2, 1 / 2]], rtol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd", "lsqr"])
def test_collinear_columns_get_the_shortest_answer(solver):
    """R4."""
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.array([1.0, 2.0, 2.0])
    model = LinearRegression(fit_intercept=False, solver=solver)
    if solver == "lsqr":
        model.fit(X, y)
    else:
        with pytest.warns(linalg.LinAlgWarning, match="x0, x1 are linearly dependent"):
            model.fit(X, y)
        assert model.rank_ == 1 and not model.unique_ and model.condition_number_ == np.inf
    np.testing.assert_allclose(model.coef_, 11 / 28, rtol=1e-9)
    np.testing.assert_allclose(((y - model.predict(X)) ** 2).sum(), 5 / 14, rtol=1e-9)


def test_four_points_by_hand():
    """R7, R8."""
    model = LinearRegression().fit(A, YA)
    np.testing.assert_allclose([*model.coef_, model.intercept_], [1.375, -0.125, -0.375], rtol=1e-9)
    plain = LinearRegression(fit_intercept=False).fit(A, YA)
    np.testing.assert_allclose(plain.coef_, [38 / 29, -11 / 58], rtol=1e-9)
    positive = LinearRegression(positive=True).fit(A, YA)
    np.testing.assert_allclose(
        [*positive.coef_, positive.intercept_], [1.3, 0.0, -0.5], rtol=1e-9, atol=1e-12
    )


def test_weighted_points_by_hand():
    """R9."""
    model = LinearRegression().fit(B, YB, sample_weight=[1, 2, 1])
    np.testing.assert_allclose([model.intercept_, model.coef_[0]], [0.75, 1.5], rtol=1e-9)


# properties


@given(st.integers(0, 10_000), st.booleans())
def test_residuals_are_orthogonal_to_columns(seed, intercept):
    X, y = seeded(seed)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    r = y - model.predict(X)
    size = np.linalg.norm(X) * np.linalg.norm(y)
    assert np.abs(X.T @ r).max() <= 1e-10 * size
    assert model.optimality_ <= 1e-10
    if intercept:
        assert abs(r.sum()) <= 1e-10 * np.abs(y).sum()


@given(st.integers(0, 10_000))
def test_ones_column_equals_intercept(seed):
    X, y = seeded(seed)
    a = LinearRegression().fit(X, y)
    b = LinearRegression(fit_intercept=False).fit(np.c_[np.ones(len(X)), X], y)
    np.testing.assert_allclose(b.coef_, [a.intercept_, *a.coef_], rtol=1e-8, atol=1e-9)


@given(st.integers(0, 10_000))
def test_weight_is_repetition_and_zero_is_deletion(seed):
    X, y = seeded(seed)
    s = np.random.default_rng(seed).integers(0, 4, size=len(X))
    a, b = LinearRegression().fit(X, y, s), LinearRegression().fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose([a.intercept_, *a.coef_], [b.intercept_, *b.coef_], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-9)
    np.testing.assert_allclose(a.summary().standard_error, b.summary().standard_error, rtol=1e-9)


@given(st.integers(0, 10_000))
def test_permuting_rows_or_columns_changes_nothing_else(seed):
    X, y = seeded(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    a, b = LinearRegression().fit(X, y), LinearRegression().fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(b.coef_, a.coef_[columns], rtol=1e-9, atol=1e-11)


@given(st.integers(0, 10_000), st.floats(-1e3, 1e3).filter(lambda c: abs(c) > 1e-3))
def test_scaling_follows_the_formula(seed, c):
    X, y = seeded(seed)
    a = LinearRegression().fit(X, y)
    np.testing.assert_allclose(
        LinearRegression().fit(X, c * y).coef_, c * a.coef_, rtol=1e-8, atol=1e-9 * abs(c)
    )
    Z = X.copy()
    Z[:, 1] *= c
    np.testing.assert_allclose(
        LinearRegression().fit(Z, y).coef_[1], a.coef_[1] / c, rtol=1e-8, atol=1e-9 / abs(c)
    )


@given(st.integers(0, 10_000))
def test_another_column_never_raises_the_residual_sum(seed):
    X, y = seeded(seed)
    extra = np.random.default_rng(seed + 1).normal(size=(len(X), 1))
    assert (
        LinearRegression().fit(np.hstack([X, extra]), y).trace_[-1]
        <= LinearRegression().fit(X, y).trace_[-1] + 1e-9
    )


@given(st.integers(0, 10_000), st.integers(1, 39))
def test_parts_add_up_to_the_whole(seed, cut):
    X, y = seeded(seed)
    whole = LinearRegression().fit(X, y)
    parts = LinearRegression().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-10)
    again = LinearRegression.from_sums(parts.sums_)
    np.testing.assert_array_equal(again.coef_, parts.coef_)
    assert again.n_features_in_ == 4


# accuracy and rank


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6])
def test_as_accurate_as_qr(condition):
    rng = np.random.default_rng(7)
    U, _ = np.linalg.qr(rng.normal(size=(2000, 20)))
    V, _ = np.linalg.qr(rng.normal(size=(20, 20)))
    X = (U * np.geomspace(1.0, 1.0 / condition, 20)) @ V.T
    w = rng.normal(size=20)
    y = X @ w
    model = LinearRegression(fit_intercept=False).fit(X, y)
    Q, R = np.linalg.qr(X)
    by_qr = linalg.solve_triangular(R, Q.T @ y)
    assert model.solver_ == "cholesky"
    assert np.linalg.norm(model.coef_ - by_qr) <= 1e-8 * np.linalg.norm(by_qr)


def test_units_do_not_decide_the_rank():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 4)) * [1e-12, 1.0, 1e12, 1e3]
    w = np.array([1e12, 1.0, 1e-12, 1e-3])
    model = LinearRegression().fit(X, X @ w + 2.0)
    assert model.rank_ == 4
    np.testing.assert_allclose(model.coef_, w, rtol=1e-9)


def test_beyond_cholesky_the_rank_is_revealed():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 5))
    X[:, 4] = X[:, 0] + 1e-9 * X[:, 4]  # condition 1e9: hard, and still of full rank
    model = LinearRegression().fit(X, X @ np.ones(5))
    assert model.solver_ == "svd" and model.rank_ == 5
    np.testing.assert_allclose(model.coef_, 1.0, rtol=1e-5)
    X[:, 4] = X[:, 0] - X[:, 1]
    with pytest.warns(linalg.LinAlgWarning, match="x0, x1, x4 are"):
        model = LinearRegression().fit(X, X @ np.ones(5))
    expected = np.linalg.pinv(X - X.mean(axis=0)) @ (X - X.mean(axis=0)) @ np.ones(5)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [60, 1100])
def test_more_columns_than_rows(intercept, weighted, d):
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(30, d)) + 1.0, rng.normal(size=30)
    s = rng.integers(1, 4, size=30) if weighted else np.ones(30)
    model = LinearRegression(fit_intercept=intercept).fit(X, y, s)
    mean = (s @ X / s.sum(), s @ y / s.sum()) if intercept else (0.0, 0.0)
    root = np.sqrt(s)[:, None]
    inverse = np.linalg.pinv(
        root * (X - mean[0]), rcond=1e-12
    )  # centering leaves a singular value of rounding
    expected = inverse @ (root[:, 0] * (y - mean[1]))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8, atol=1e-11)
    assert model.rank_ == 30 - intercept and not model.unique_
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-8)


def test_constant_column_gets_no_coefficient():
    X, y = seeded(11)
    Z = np.c_[X, np.full(len(X), 1e6 / 3)]
    model = LinearRegression().fit(Z, y)
    np.testing.assert_allclose(model.coef_, [*LinearRegression().fit(X, y).coef_, 0.0], rtol=1e-9, atol=1e-12)
    assert model.rank_ == 4 and not model.unique_
    assert (
        np.isnan(model.summary().standard_error[-1])
        and np.isfinite(model.summary().standard_error[1:-1]).all()
    )


def test_large_offset_keeps_its_digits():
    rng = np.random.default_rng(12)
    t = rng.normal(size=(500, 2))
    y = t @ [2.0, -1.0] + 3.0
    model = LinearRegression().fit(t + [1e8, 0.0], y)
    exact = LinearRegression().fit(
        np.round(t * 2**20) / 2**20 + [1e8, 0.0], np.round(t * 2**20) / 2**20 @ [2.0, -1.0]
    )
    np.testing.assert_allclose(model.coef_, [2.0, -1.0], rtol=1e-7)
    np.testing.assert_allclose(exact.coef_, [2.0, -1.0], rtol=1e-7)


# options


def test_loop_and_matrix_forms_of_prediction_agree():
    X, y = seeded(13)
    model = LinearRegression().fit(X, y)
    for x, value in zip(X, model.predict(X), strict=True):
        total = model.intercept_
        for j in range(len(x)):
            total += model.coef_[j] * x[j]
        assert abs(total - value) <= 1e-12 * (abs(value) + 1)


def test_half_mean_squared_error_is_the_empirical_risk():
    X, y = seeded(19)
    model = LinearRegression().fit(X[:30], y[:30])
    risk = SquaredError().value(y[:30], model.predict(X[:30])).mean()  # on new rows, the test risk
    np.testing.assert_allclose(risk, 0.5 * model.noise_variance_, rtol=1e-9)
    assert SquaredError().value(y[30:], model.predict(X[30:])).mean() > 0


def test_parameters_are_fixed_in_number():
    """A parametric model: what it keeps does not grow with the rows."""
    sizes = {n: gnomon_size(LinearRegression().fit(*seeded(20, n=n))) for n in (40, 400)}
    assert sizes[40] == sizes[400]


def gnomon_size(model):
    return sum(np.size(part) for part in (*model.sums_, model.coef_, model.intercept_))


def test_several_targets_are_several_fits():
    X, y = seeded(14)
    Y = np.c_[y, y**2, -y]
    model = LinearRegression().fit(X, Y)
    for t in range(3):
        one = LinearRegression().fit(X, Y[:, t])
        np.testing.assert_allclose(model.coef_[t], one.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(
            model.summary(target=t).standard_error, one.summary().standard_error, rtol=1e-8
        )
    assert model.predict(X).shape == Y.shape == model.predict_interval(X)[0].shape


@pytest.mark.parametrize("d", [20, 1500])
@pytest.mark.parametrize("intercept", [False, True])
def test_sparse_rows_fit_like_dense_ones(d, intercept):
    rng = np.random.default_rng(15)
    X = sparse.random_array((2000, d), density=0.05, format="csr", rng=rng)
    y = X @ rng.normal(size=d) + 0.1 * rng.normal(size=2000)
    a = LinearRegression(fit_intercept=intercept, tol=1e-9).fit(X, y)
    b = LinearRegression(fit_intercept=intercept).fit(X.toarray(), y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-7)


def test_positive_coefficients_satisfy_their_conditions():
    X, y = seeded(16, n=200, d=8)
    model = LinearRegression(positive=True).fit(X, y)
    assert (model.coef_ >= 0).all() and model.optimality_ <= 1e-10
    Z, t = X - X.mean(axis=0), y - y.mean()
    from scipy.optimize import nnls

    np.testing.assert_allclose(model.coef_, nnls(Z, t)[0], rtol=1e-7, atol=1e-9)


def test_float32_in_float32_out():
    X, y = seeded(17)
    model = LinearRegression().fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_.dtype == np.float32 and model.sums_.xx.dtype == np.float64
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-4)


# intervals


def test_intervals_are_students():
    X, y = seeded(18)
    model = LinearRegression().fit(X, y)
    Z = np.c_[np.ones(len(X)), X]
    inverse = np.linalg.inv(Z.T @ Z)
    variance = ((y - model.predict(X)) ** 2).sum() / (len(X) - 5)
    h = np.einsum("ij,jk,ik->i", Z, inverse, Z)
    t = stats.t.ppf(0.95, len(X) - 5)
    low, high = model.predict_interval(X, level=0.9)
    np.testing.assert_allclose((high - low) / 2, t * np.sqrt(variance * (1 + h)), rtol=1e-9)
    low, high = model.predict_interval(X, level=0.9, kind="mean")
    np.testing.assert_allclose((high - low) / 2, t * np.sqrt(variance * h), rtol=1e-9)
    np.testing.assert_allclose(model.predict_distribution(X).mean(), model.predict(X), rtol=1e-12)


def test_no_degree_of_freedom_left():
    model = LinearRegression().fit([[0.0], [1.0]], [1.0, 2.0])
    with pytest.warns(UserWarning, match="no degree of freedom"):
        assert np.isnan(model.summary().standard_error).all()


def test_summary_reads_well():
    text = str(LinearRegression().fit(B, YB).summary())
    assert "intercept" in text and "0.37268" in text and "Assumes" in text


# bad input


@pytest.mark.parametrize(
    "X, y, options, message",
    [
        (np.full((3, 1), 1e200), YB, {}, "column 0"),
        (B, np.array([1e200, 0.0, 1.0]), {}, "squares of y"),
        (B, YB, {"solver": "choleski"}, "must be a str among"),
        (np.array([[np.nan], [1.0], [2.0]]), YB, {}, "NaN"),
        (B, YB[:2], {}, "inconsistent"),
        (B.ravel(), YB, {}, "2D"),
    ],
)
def test_bad_input_is_named(X, y, options, message):
    X = X * np.array([[1.0], [-1.0], [1.0]]) if X.shape == (3, 1) and X[0, 0] == 1e200 else X
    with pytest.raises(ValueError, match=message):
        LinearRegression(**options).fit(X, y)


def test_unknown_interval_and_noise():
    model = LinearRegression().fit(B, YB)
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        model.predict_interval(B, kind="means")
    with pytest.raises(ValueError, match="noise must be"):
        model.covariance(noise="unbaised")


def test_lsqr_needs_memory(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="in memory"):
        LinearRegression(solver="lsqr").fit(tmp_path / "t.parquet", "y")
    model = LinearRegression().fit(tmp_path / "t.parquet", "y")
    np.testing.assert_allclose(model.coef_, [1.5], rtol=1e-12)


def test_saved_and_loaded(tmp_path):
    model = LinearRegression().fit(A, YA)
    gnomon.save(model, tmp_path / "m.gnomon")
    again = gnomon.load(tmp_path / "m.gnomon")
    np.testing.assert_array_equal(again.predict(A), model.predict(A))
    np.testing.assert_allclose(again.summary().p, model.summary().p)


# parity


@pytest.mark.parity
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}])
def test_same_as_scikit_learn(options):
    from sklearn.linear_model import LinearRegression as Peer

    X, y = load_diabetes(return_X_y=True)
    ours, theirs = LinearRegression(**options).fit(X, y), Peer(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    if "positive" not in options:
        np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-6)


@pytest.mark.parity
def test_same_as_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    X, y = load_diabetes(return_X_y=True)
    theirs = api.OLS(y, api.add_constant(X)).fit()
    table = LinearRegression().fit(X, y).summary()
    np.testing.assert_allclose(table.estimate, theirs.params, rtol=1e-7)
    np.testing.assert_allclose(table.standard_error, theirs.bse, rtol=1e-7)
    np.testing.assert_allclose(table.p, theirs.pvalues, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(np.c_[table.lower, table.upper], theirs.conf_int(), rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_summary_tells_how_well_the_line_fits(intercept):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 1)) + 1.0
    y = 0.7 * X[:, 0] + rng.normal(size=25)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    table = model.summary()
    rest = y - model.predict(X)
    around = y - y.mean() if intercept else y
    r2 = 1.0 - (rest @ rest) / (around @ around)
    assert table.fit.r2 == pytest.approx(r2, rel=1e-12)
    assert table.fit.adjusted_r2 == pytest.approx(
        1.0 - (1.0 - r2) * (25 - intercept) / (24 - intercept), rel=1e-12
    )
    assert table.fit.f == pytest.approx(table.t[-1] ** 2, rel=1e-10)  # one slope: F is the square of t
    assert table.fit.f_p == pytest.approx(table.p[-1], rel=1e-9)
    assert table.fit.log_likelihood == pytest.approx(model.log_likelihood(X, y), rel=1e-12)
    assert table.fit.aic == pytest.approx(2 * (2 + intercept) - 2 * table.fit.log_likelihood, rel=1e-12)
    assert table.fit.bic == pytest.approx(
        np.log(25) * (2 + intercept) - 2 * table.fit.log_likelihood, rel=1e-12
    )
    assert f"R² {r2:.4f}" in str(table)


def test_nearly_dependent_columns_added_up_piece_by_piece_are_told():
    X, y = linalg.hilbert(12)[:, :6], np.sin(np.arange(12.0))
    for model in (LinearRegression(), Ridge(1e-12)):
        model.partial_fit(X[:8], y[:8])
        with pytest.warns(linalg.LinAlgWarning, match="nearly dependent.*Use fit on all rows"):
            model.partial_fit(X[8:], y[8:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearRegression().partial_fit(X[:, :2], y)
        LinearRegression().fit(X, y)


@pytest.mark.parametrize(
    ("shape", "form", "solver"),
    [
        ((5, 8), np.asarray, "dual"),
        ((8, 8), np.asarray, "svd"),
        ((9, 8), np.asarray, "svd"),
        ((30, 8), np.asarray, "cholesky"),
        ((5, 8), sparse.csr_array, "svd"),
        ((30, 8), sparse.csr_array, "cholesky"),
    ],
)
def test_the_solver_follows_from_the_shape(shape, form, solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    if solver == "svd" and shape[0] >= 8:
        X[:, 1] = X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearRegression().fit(form(X), y)
    assert model.solver_ == solver
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(Z, rcond=1e-10) @ y, atol=1e-8)
