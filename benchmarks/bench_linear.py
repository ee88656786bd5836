"""Regression against the peers: the same problem, the same objective, side by side."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case

ALPHAS = np.geomspace(1e-2, 1e4, 20)


def plane(n, d=100, noise="normal"):
    """Return rows, a target that is linear in them, and noise with thin or heavy tails."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    error = rng.standard_t(2.0, size=n) if noise == "heavy" else rng.normal(size=n)
    return X, X @ rng.normal(size=d) + error


def ours(name, **options):
    def fit(data):
        import gnomon.linear

        return getattr(gnomon.linear, name)(**options).fit(*data)

    return fit


def theirs(name, **options):
    def fit(data):
        import sklearn.linear_model

        return getattr(sklearn.linear_model, name)(**options).fit(*data)

    return fit


def gram(data):
    X, y = data
    return X.T @ X, X.T @ y


def leave_one_out(data):
    """What leaving every row out needs: X'X, the rows in its eigenvectors, their squares by every penalty."""
    X, _ = data
    values, V = np.linalg.eigh(X.T @ X)
    U = X @ V
    U *= U
    return U @ (1.0 / (values[:, None] + ALPHAS))


def squares(model, data, alpha=0.0):
    X, y = data
    r = y - X @ model.coef_ - model.intercept_
    return r @ r + alpha * model.coef_ @ model.coef_


def absolute(model, data):
    X, y = data
    return np.abs(y - X @ model.coef_ - model.intercept_).sum()


def huber(model, data, epsilon=1.35, alpha=1e-4):
    X, y = data
    s = model.scale_
    z = np.abs(y - X @ model.coef_ - model.intercept_) / s
    loss = np.where(z <= epsilon, z**2, 2 * epsilon * z - epsilon**2)
    return (s + s * loss).sum() + alpha * model.coef_ @ model.coef_


def our_inference(data):
    from gnomon.linear import LinearRegression

    return LinearRegression().fit(*data).summary().standard_error.sum()


def their_inference(data):
    import statsmodels.api as api

    return api.OLS(data[1], api.add_constant(data[0])).fit().bse.sum()


def counts(n, d=50):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, rng.poisson(np.exp(X @ rng.normal(scale=0.1, size=d))).astype(float)


CASES = [
    Case(
        "LinearRegression n=200k d=100",
        data=plane,
        ours=ours("LinearRegression"),
        peers={"scikit-learn": theirs("LinearRegression")},
        floors={"X'X and X'y by BLAS": gram},
        quality=squares,
        sizes=[25_000, 50_000, 100_000, 200_000],
        goal=5.0,
    ),
    Case(
        "least squares with standard errors n=200k d=100",
        data=partial(plane, 200_000),
        ours=our_inference,
        peers={"statsmodels": their_inference},
        quality=lambda total, data: abs(total),
        tolerance=1e-8,
        goal=10.0,
    ),
    Case(
        "Ridge n=200k d=100",
        data=partial(plane, 200_000),
        ours=ours("Ridge", alpha=1.0),
        peers={"scikit-learn": theirs("Ridge", alpha=1.0)},
        floors={"X'X and X'y by BLAS": gram},
        quality=lambda model, data: squares(model, data, alpha=1.0),
        goal=1.0,
    ),
    Case(
        "LinearRegression n=1M d=50",
        data=partial(plane, 1_000_000, d=50),
        ours=ours("LinearRegression"),
        peers={"scikit-learn": theirs("LinearRegression")},
        floors={"X'X and X'y by BLAS": gram},
        quality=squares,
        goal=5.0,
    ),
    Case(
        "Ridge n=1M d=50",
        data=partial(plane, 1_000_000, d=50),
        ours=ours("Ridge", alpha=1.0),
        peers={"scikit-learn": theirs("Ridge", alpha=1.0)},
        floors={"X'X and X'y by BLAS": gram},
        quality=lambda model, data: squares(model, data, alpha=1.0),
        goal=1.0,
    ),
    Case(
        "RidgeCV leave-one-out, 20 penalties, n=20k d=100",
        data=partial(plane, 20_000),
        ours=ours("RidgeCV", alphas=ALPHAS),
        peers={"scikit-learn": theirs("RidgeCV", alphas=ALPHAS)},
        floors={"X'X and XV by BLAS": leave_one_out},
        quality=lambda model, data: -model.best_score_,
        goal=2.0,
    ),
    Case(
        "RidgeCV 5 folds, 20 penalties, n=20k d=100",
        data=partial(plane, 20_000),
        ours=ours("RidgeCV", alphas=ALPHAS, cv=5, pool=False),
        peers={"scikit-learn": theirs("RidgeCV", alphas=ALPHAS, cv=5)},
        quality=lambda model, data: -model.best_score_,
        goal=2.0,
    ),
    Case(
        "BayesianRidge n=50k d=100",
        data=partial(plane, 50_000),
        ours=ours("BayesianRidge"),
        peers={"scikit-learn": theirs("BayesianRidge")},
        quality=squares,
        goal=3.0,
    ),
    Case(
        "HuberRegressor n=50k d=100",
        data=partial(plane, 50_000, noise="heavy"),
        ours=ours("HuberRegressor"),
        peers={"scikit-learn": theirs("HuberRegressor", max_iter=1000)},
        quality=huber,
        goal=1.5,
    ),
    Case(
        "QuantileRegressor median n=5k d=10",
        data=partial(plane, 5_000, d=10, noise="heavy"),
        ours=ours("QuantileRegressor", alpha=0.0),
        peers={"scikit-learn": theirs("QuantileRegressor", alpha=0.0)},
        quality=absolute,
        goal=3.0,
    ),
    Case(
        "PoissonRegressor n=100k d=50",
        data=partial(counts, 100_000),
        ours=ours("PoissonRegressor", alpha=1e-3, tol=1e-6),
        peers={
            f"scikit-learn ({solver})": theirs(
                "PoissonRegressor", alpha=1e-3, tol=1e-6, solver=solver, max_iter=1000
            )
            for solver in ("lbfgs", "newton-cholesky")
        },
        quality=lambda model, data: -model.score(*data),
        goal=1.0,
    ),
]
