"""Options whose value decides something small: precomputed products, solvers, warm starts, floors and ranks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning

from gnomon.linear import (
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    GeneralizedLinearRegressor,
    HuberRegressor,
    Lasso,
    LassoCV,
    LassoLars,
    LinearRegression,
    LpRegression,
    PoissonRegressor,
    QuantileRegressor,
    StudentTRegression,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + 3.0 + 0.3 * RNG.normal(size=80)
COUNTS = RNG.poisson(np.exp(0.3 * X[:, 0] + 0.5)) + 0.0


@pytest.mark.parametrize("cls", [Lasso, ElasticNet, LassoCV, ElasticNetCV])
def test_precomputed_products_and_drawn_columns_reach_the_same_optimum(cls):
    given = {"tol": 1e-12, **({"alpha": 0.05} if cls in (Lasso, ElasticNet) else {"cv": 3, "n_alphas": 10})}
    plain = cls(**given).fit(X, Y)
    for other in ({"precompute": True}, {"precompute": False}, {"selection": "random", "random_state": 3}):
        model = cls(**given, **other).fit(X, Y)
        assert_allclose(model.coef_, plain.coef_, atol=1e-9)
        assert_allclose(model.intercept_, plain.intercept_, atol=1e-9)


def test_a_path_without_an_intercept_is_the_lasso_without_one():
    for given in ({}, {"eps": 1e-3}, {"precompute": X.T @ X}, {"precompute": False}):
        path = LassoLars(0.05, fit_intercept=False, **given).fit(X, Y)
        assert path.intercept_ == 0.0
        expected = Lasso(0.05, fit_intercept=False, tol=1e-14).fit(X, Y)
        assert_allclose(path.coef_, expected.coef_, atol=1e-8)


@pytest.mark.parametrize("cls", [PoissonRegressor, GammaRegressor])
def test_every_solver_finds_the_one_optimum(cls):
    y = COUNTS + (1.0 if cls is GammaRegressor else 0.0)
    found = [cls(alpha=0.1, solver=solver, tol=1e-10).fit(X, y) for solver in ("lbfgs", "newton-cholesky")]
    assert_allclose(found[0].coef_, found[1].coef_, atol=1e-8)
    mean = np.exp(X @ found[0].coef_ + found[0].intercept_)
    residual = (y - mean) if cls is PoissonRegressor else (y - mean) / mean
    assert_allclose(X.T @ residual / 80, 0.1 * found[0].coef_, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(alpha=0.1, tol=1e-8),
        GammaRegressor(alpha=0.1, tol=1e-8),
        GeneralizedLinearRegressor("poisson", alpha=0.1, tol=1e-8),
        HuberRegressor(alpha=0.1, tol=1e-8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_warm_start_begins_where_the_last_fit_ended(model):
    y = Y if isinstance(model, HuberRegressor) else COUNTS + 1.0
    cold = model.fit(X, y)
    steps, coef = int(np.max(cold.n_iter_)), cold.coef_.copy()
    again = model.set_params(warm_start=True).fit(X, y)
    assert int(np.max(again.n_iter_)) < steps
    assert_allclose(again.coef_, coef, atol=1e-6)
    assert int(np.max(model.set_params(warm_start=False).fit(X, y).n_iter_)) == steps


def test_the_rank_is_that_of_singular_values_above_the_threshold():
    Z = np.column_stack([X, X[:, 0] + 1e-6 * COUNTS])
    assert LinearRegression(solver="svd").fit(Z, Y).rank_ == 5
    with pytest.warns(LinAlgWarning, match="linearly dependent"):
        loose = LinearRegression(solver="svd", rank_tol=1e-4).fit(Z, Y)
    assert loose.rank_ == 4
    assert not loose.unique_


def test_more_random_starts_are_never_worse():
    few, many = (
        LpRegression(0.5, alpha=0.2, n_init=k, random_state=0, max_iter=500).fit(X, Y).objective_
        for k in (1, 12)
    )
    assert many <= few + 1e-12


def test_solvers_of_quantiles_are_names_only():
    plain = QuantileRegressor(quantile=0.3, alpha=0.01).fit(X, Y)
    for given in ({"solver": "highs"}, {"solver": "interior-point"}, {"solver_options": {"presolve": False}}):
        assert_array_equal(QuantileRegressor(quantile=0.3, alpha=0.01, **given).fit(X, Y).coef_, plain.coef_)


@pytest.mark.parametrize("floor", [1e-3, 1e-2])
def test_a_scale_that_collapses_stops_at_its_floor(floor):
    y = X @ [1.0, -2.0, 0.0, 0.5]  # all rows on one plane
    with pytest.warns(UserWarning, match="shrank to its floor"):
        model = StudentTRegression(scale_floor=floor, random_state=0).fit(X, y)
    assert model.collapsed_ and model.scale_ == pytest.approx(floor * y.std(), rel=1e-6)
    assert_allclose(model.coef_, [1.0, -2.0, 0.0, 0.5], atol=1e-6)
