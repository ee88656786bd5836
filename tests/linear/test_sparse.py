"""Lasso and elastic net against the numbers of the courses, their optimality conditions and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.linear import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path, lasso_path
from gnomon.solvers.coordinate import Penalized, dual_check

A = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]])
Y = np.array([1.0, 2, 3, 5])


def objective(model, X, y, alpha, rho=1.0):
    r = y - X @ model.coef_ - model.intercept_
    w = model.coef_
    return r @ r / (2 * len(y)) + alpha * rho * np.abs(w).sum() + 0.5 * alpha * (1 - rho) * w @ w


def kkt_violation(model, X, y, alpha, rho=1.0):
    r = y - X @ model.coef_ - model.intercept_
    slope = X.T @ (r - r.mean()) / len(y) - alpha * (1 - rho) * model.coef_
    on = model.coef_ != 0
    off = np.maximum(np.abs(slope) - alpha * rho, 0)
    return max(np.abs(slope - alpha * rho * np.sign(model.coef_))[on].max(initial=0), off[~on].max(initial=0))


@pytest.mark.parametrize(
    ("alpha", "coef", "intercept", "value"),
    [(1, 0.5, 1.5, 0.9375), (0.5, 0.9, 0.5, 0.5875), (0.25, 1.1, 0.0, 0.3375), (0.1, 1.22, -0.3, 0.1635)],
)
def test_lasso_by_hand(alpha, coef, intercept, value):
    model = Lasso(alpha=alpha, tol=1e-12).fit(A, Y)
    np.testing.assert_allclose(model.coef_, [coef, 0], atol=1e-9)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-9)
    assert objective(model, A, Y, alpha) == pytest.approx(value, rel=1e-9)
    assert model.trace_[-1] == pytest.approx(value, rel=1e-9)


def test_everything_is_zero_from_alpha_max():
    assert not Lasso(alpha=1.625).fit(A, Y).coef_.any()
    assert Lasso(alpha=1.62, tol=1e-12).fit(A, Y).coef_[0] > 0


def test_identity_design_is_soft_threshold():
    model = Lasso(alpha=1 / 6, fit_intercept=False, tol=1e-12).fit(np.eye(3), [3, -1, 0.2])
    np.testing.assert_allclose(model.coef_, [2.5, -0.5, 0], atol=1e-9)


def test_elastic_net_by_hand():
    model = ElasticNet(alpha=0.5, l1_ratio=0.5, tol=1e-13).fit(A, Y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], [11 / 12, 0, 11 / 24], atol=1e-9)
    model = ElasticNet(alpha=0.25, l1_ratio=0.2, tol=1e-13).fit(A, Y)
    np.testing.assert_allclose(
        [*model.coef_, model.intercept_], [1.0811688312, 0.0097402597, 0.0227272727], atol=1e-9
    )


def test_diabetes():
    X, y = load_diabetes(return_X_y=True)
    model = Lasso(alpha=0.5, tol=1e-12).fit(X, y)
    expected = np.zeros(10)
    expected[[2, 3, 6, 8]] = [471.01358164, 136.51689768, -58.34009251, 408.02186539]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-5)
    assert model.intercept_ == pytest.approx(152.1334841629)
    assert objective(model, X, y, 0.5) == pytest.approx(2152.122992589, rel=1e-9)
    assert lasso_path(X, y - y.mean(), n_alphas=2)[0][0] == pytest.approx(2.1480435755)
    np.testing.assert_array_equal(model.support_, [2, 3, 6, 8])


def problem(n, d, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    w = np.where(rng.random(d) < 0.2, rng.normal(size=d), 0.0)
    return X, X @ w + noise * rng.normal(size=n)


@pytest.mark.parametrize("shape", [(80, 12), (40, 90), (30, 400)])
@pytest.mark.parametrize("rho", [1.0, 0.5])
def test_the_gap_is_a_bound_and_the_optimum_is_reached(shape, rho):
    X, y = problem(*shape)
    model = ElasticNet(alpha=0.05, l1_ratio=rho, tol=1e-10).fit(X, y)
    assert kkt_violation(model, X, y, 0.05, rho) < 1e-5
    loose = ElasticNet(alpha=0.05, l1_ratio=rho, tol=1e-2).fit(X, y)
    assert objective(loose, X, y, 0.05, rho) - objective(model, X, y, 0.05, rho) <= loose.dual_gap_ * (
        1 + 1e-9
    )


def test_dual_point_is_feasible():
    X, y = problem(40, 90)
    model = Lasso(alpha=0.1, tol=1e-8).fit(X, y)
    theta = model.dual_point_
    assert np.abs((X - X.mean(axis=0)).T @ theta).max() <= 1 + 1e-9
    yc, t = y - y.mean(), len(y) * 0.1
    dual = 0.5 * yc @ yc - 0.5 * t**2 * np.sum((theta - yc / t) ** 2)
    assert objective(model, X, y, 0.1) - dual / len(y) == pytest.approx(model.dual_gap_, abs=1e-9)


def test_gap_below_zero_is_an_error_of_that_size():
    """Rounding can put the dual value above the objective: that certifies nothing."""
    w, pen = np.array([1.0]), Penalized(1.0, 0.0)
    assert dual_check(1.0, 1.0, 1.0, w, np.zeros(1), pen).gap == 1.0
    assert dual_check(1.0, 9.0, 1.0, w, np.zeros(1), pen).gap == 7.0  # primal 1.5, dual 8.5


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 0.9), st.sampled_from([0.3, 0.7, 1.0]), st.booleans())
def test_optimality_for_any_problem(seed, share, rho, wide):
    X, y = problem(20, 50 if wide else 6, seed)
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y) / rho
    model = ElasticNet(alpha=share * top, l1_ratio=rho, tol=1e-11).fit(X, y)
    assert kkt_violation(model, X, y, share * top, rho) < 1e-4 * top


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 5))
def test_scaling_the_target_scales_the_coefficients(seed, c):
    X, y = problem(25, 8, seed)
    a = Lasso(alpha=0.1, tol=1e-12).fit(X, y)
    b = Lasso(alpha=0.1 * c, tol=1e-12).fit(X, c * y)
    np.testing.assert_allclose(b.coef_, c * a.coef_, atol=1e-5 * c)


@pytest.mark.parametrize("rho", [1.0, 0.6])
def test_sparse_and_dense_agree(rho):
    rng = np.random.default_rng(1)
    X = sparse.random_array((60, 80), density=0.1, rng=rng, format="csr")
    y = X.toarray() @ rng.normal(size=80) + rng.normal(size=60)
    weight = rng.integers(0, 4, size=60).astype(float)
    for s in (None, weight):
        a = ElasticNet(alpha=0.01, l1_ratio=rho, tol=1e-11).fit(X, y, s)
        b = ElasticNet(alpha=0.01, l1_ratio=rho, tol=1e-11).fit(X.toarray(), y, s)
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-4)
        assert a.intercept_ == pytest.approx(b.intercept_, abs=1e-5)


@pytest.mark.parametrize("shape", [(30, 5), (20, 40)])
def test_weights_are_repetitions(shape):
    X, y = problem(*shape)
    weight = np.arange(len(y)) % 3
    a = Lasso(alpha=0.1, tol=1e-12).fit(X, y, weight)
    b = Lasso(alpha=0.1, tol=1e-12).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)


def test_duplicated_columns_share_under_elastic_net():
    X, y = problem(40, 3)
    coef = ElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-14).fit(np.column_stack([X, X[:, 0]]), y).coef_
    assert coef[0] == pytest.approx(coef[3], abs=1e-6)
    lasso = Lasso(alpha=0.1, tol=1e-10).fit(np.column_stack([X, X[:, 0]]), y)
    assert lasso.converged_


def test_path_equals_cold_solves_and_positive_is_positive():
    X, y = problem(30, 60)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    alphas, coefs, gaps = enet_path(Xc, yc, l1_ratio=0.8, n_alphas=12, eps=1e-2, tol=1e-11)
    assert (gaps <= 1e-11 * yc @ yc / len(y) * 1.0001).all()
    for alpha, coef in zip(alphas[1:], coefs.T[1:]):
        cold = ElasticNet(alpha=alpha, l1_ratio=0.8, fit_intercept=False, tol=1e-12).fit(Xc, yc)
        np.testing.assert_allclose(cold.coef_, coef, atol=1e-4)
    model = Lasso(alpha=0.05, positive=True, tol=1e-10).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert model.coef_.any()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_limits_are_ridge_and_least_squares():
    X, y = problem(50, 6)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    ridge = np.linalg.solve(Xc.T @ Xc + 50 * 0.3 * np.eye(6), Xc.T @ yc)
    np.testing.assert_allclose(
        ElasticNet(alpha=0.3, l1_ratio=0.0, tol=1e-14).fit(X, y).coef_, ridge, atol=1e-6
    )
    np.testing.assert_allclose(
        Lasso(alpha=0.0, tol=1e-12).fit(X, y).coef_, np.linalg.lstsq(Xc, yc)[0], atol=1e-6
    )


def test_constant_column_and_constant_target():
    X, y = problem(30, 4)
    X[:, 2] = 7.0
    assert Lasso(alpha=0.01).fit(X, y).coef_[2] == 0.0
    assert not Lasso(alpha=0.1).fit(X, np.ones(30)).coef_.any()
    assert Lasso(alpha=0.01).fit(sparse.csr_array(X), y).coef_[2] == 0.0


def test_far_offsets_lose_nothing():
    X, y = problem(200, 5)
    far = X + 1e7
    np.testing.assert_allclose(
        Lasso(alpha=0.05, tol=1e-12).fit(far, y).coef_,
        Lasso(alpha=0.05, tol=1e-12).fit(X, y).coef_,
        atol=1e-6,
    )


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn import linear_model as sk

    X, y = problem(60, 100)
    ours = LassoCV(n_alphas=20, tol=1e-8).fit(X, y)
    theirs = sk.LassoCV(alphas=20, tol=1e-8, max_iter=100000).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    ours = ElasticNetCV(l1_ratio=[0.5, 0.9], n_alphas=10, tol=1e-8).fit(X, y)
    theirs = sk.ElasticNetCV(l1_ratio=[0.5, 0.9], alphas=10, tol=1e-8, max_iter=100000).fit(X, y)
    assert (ours.alpha_, ours.l1_ratio_) == pytest.approx((theirs.alpha_, theirs.l1_ratio_))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_parquet_gives_the_same(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = problem(300, 4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    a = Lasso(alpha=0.1, tol=1e-10).fit(str(tmp_path / "rows.parquet"), "y")
    np.testing.assert_allclose(a.coef_, Lasso(alpha=0.1, tol=1e-10).fit(X, y).coef_, atol=1e-8)


def test_fold_without_weight_is_refused_in_words():
    X = np.random.default_rng(0).normal(size=(90, 3))
    with pytest.raises(DataError, match="fold 0 has no weight"):
        LassoCV(cv=3).fit(X, X[:, 0], sample_weight=np.r_[np.ones(30), np.zeros(60)])


def test_penalties_may_be_counted_and_listed_ones_are_looked_at():
    X, y = load_diabetes(return_X_y=True)
    assert_same = np.testing.assert_array_equal
    assert_same(enet_path(X, y, alphas=3)[0], enet_path(X, y, n_alphas=3)[0])
    with pytest.raises(DataError, match=r"alphas\[1\] == -1, must be >= 0.0."):
        LassoCV(alphas=(0.1, -1)).fit(X, y)
    with pytest.raises(TypeError, match=r"alphas\[2\] must be an instance of float, not str"):
        lasso_path(X, y, alphas=(0.1, 1.0, "1"))
    assert_same(LassoCV(alphas=3).fit(X, np.ones(len(y))).alphas_, [1e-15] * 3)
    model = ElasticNetCV(l1_ratio=[0.5, 0.9], alphas=[0.1, 1.0]).fit(X, y)
    assert_same(model.alphas_, [1.0, 0.1])
    assert ElasticNetCV(l1_ratio=[0.5, 0.9], alphas=4).fit(X, y).alphas_.shape == (2, 4)


@pytest.mark.parametrize("learner", [LassoCV, ElasticNetCV])
def test_too_few_working_sets_are_told(learner):
    X = np.random.default_rng(0).normal(size=(60, 200)) + np.arange(60)[:, None]
    y = X[:, :40].sum(axis=1)
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 "):
        learner(max_iter=1, tol=1e-14, alphas=[1e-4], cv=2).fit(X, y)


@pytest.mark.parametrize("learner", [Lasso(0.1), ElasticNet(0.1), LassoCV(), ElasticNetCV()])
@pytest.mark.parametrize("shape", [(24, 6), (6, 24)])
def test_small_sparse_tables_give_the_bits_of_dense_ones(learner, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.5)
    y, weight = rng.normal(size=shape[0]), rng.random(shape[0])
    dense, thin = (clone(learner).fit(Z, y, weight) for Z in (X, sparse.csc_array(X)))
    np.testing.assert_array_equal(thin.coef_, dense.coef_)
    np.testing.assert_array_equal(thin.intercept_, dense.intercept_)
