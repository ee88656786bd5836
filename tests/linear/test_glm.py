"""Generalized linear models: one step for all families, scores zero at the optimum, parity with the peers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.rows import MemoryRows
from gnomon.linear import GammaRegressor, GeneralizedLinearRegressor, LinearRegression, PoissonRegressor
from gnomon.solvers import nested
from gnomon.solvers.newton import Objective
from gnomon.solvers.terms import Model


def seeded(family, seed=0, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(scale=0.4, size=d) + 0.3
    draw = {
        "gaussian": lambda: z + rng.normal(size=n),
        "bernoulli": lambda: (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float),
        "poisson": lambda: rng.poisson(np.exp(z)).astype(float),
        "gamma": lambda: rng.gamma(2.0, np.exp(z) / 2.0),
    }
    return X, draw[family]()


@given(st.integers(0, 10_000), st.sampled_from(["gaussian", "bernoulli", "poisson"]))
def test_canonical_links_share_one_gradient(seed, family):
    """At the optimum Xᵀ(μ − y) = 0 and Σ(μ − y) = 0 for every canonical family."""
    X, y = seeded(family, seed)
    model = GeneralizedLinearRegressor(family, tol=1e-10).fit(X, y)
    r = model.predict(X) - y
    np.testing.assert_allclose(np.append(X.T @ r, r.sum()), 0.0, atol=1e-7)
    assert model.converged_ and model.trace_.certificate[-1] <= 1e-10


def test_gaussian_family_is_least_squares():
    X, y = seeded("gaussian")
    model, least = GeneralizedLinearRegressor().fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, least.coef_, rtol=1e-8)
    errors = least.summary().standard_error
    np.testing.assert_allclose(model.standard_errors_, [*errors[1:], errors[0]], rtol=1e-8)
    np.testing.assert_allclose(model.score(X, y), least.score(X, y), rtol=1e-8)


@given(st.integers(0, 10_000), st.sampled_from(["bernoulli", "poisson", "gamma"]))
def test_weight_is_repetition(seed, family):
    X, y = seeded(family, seed, n=60)
    s = np.random.default_rng(seed).integers(0, 3, size=60)
    a = GeneralizedLinearRegressor(family, alpha=0.1).fit(X, y, s)
    b = GeneralizedLinearRegressor(family, alpha=0.1).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-5, atol=1e-7)


def test_poisson_objective_never_rises():
    X, y = seeded("poisson")
    values = [m.trace_[-1] for m in GeneralizedLinearRegressor("poisson").iterate(X, y) if len(m.trace_)]
    assert (np.diff(values) <= 1e-12).all()


def test_laws_of_the_response():
    for family in ("gaussian", "bernoulli", "poisson", "gamma"):
        X, y = seeded(family)
        model = GeneralizedLinearRegressor(family).fit(X, y)
        np.testing.assert_allclose(model.predict_distribution(X).mean(), model.predict(X), rtol=1e-9)
    assert abs(model.dispersion_ - 0.5) < 0.15  # shape 2


@pytest.mark.parametrize("family, y", [("poisson", [1, -1]), ("gamma", [0, 1]), ("bernoulli", [0, 2])])
def test_targets_outside_the_support_are_named(family, y):
    with pytest.raises(ValueError, match=f"valid range of the {family} family"):
        GeneralizedLinearRegressor(family).fit([[0.0], [1.0]], y)


def test_one_answer_alone_is_nearly_sure_and_mirrors_the_other():
    X = np.arange(12.0)[:, None]
    yes, no = (GeneralizedLinearRegressor("bernoulli", alpha=0.1).fit(X, np.full(12, a)) for a in (1.0, 0.0))
    np.testing.assert_allclose(yes.predict(X), 1.0, atol=1e-6)
    assert yes.intercept_ == pytest.approx(-no.intercept_, rel=1e-9)


def test_separable_labels_are_flagged():
    with pytest.warns(UserWarning):
        GeneralizedLinearRegressor("bernoulli", max_iter=60).fit(
            [[0.0], [1e-3], [2e-3], [3e-3]], [0, 0, 1, 1]
        )


@pytest.mark.parity
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_same_as_scikit_learn(alpha):
    import sklearn.linear_model as peers

    for ours, theirs, family in [
        (PoissonRegressor, peers.PoissonRegressor, "poisson"),
        (GammaRegressor, peers.GammaRegressor, "gamma"),
    ]:
        X, y = seeded(family)
        s = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
        a, b = ours(alpha=alpha, tol=1e-9).fit(X, y, s), theirs(alpha=alpha, tol=1e-9).fit(X, y, s)
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=1e-5)
        np.testing.assert_allclose(a.score(X, y, s), b.score(X, y, s), rtol=1e-7)


@pytest.mark.parity
@pytest.mark.parametrize("family", ["poisson", "gamma", "bernoulli"])
def test_same_as_statsmodels(family):
    api = pytest.importorskip("statsmodels.api")
    X, y = seeded(family)
    families = {
        "poisson": api.families.Poisson(),
        "gamma": api.families.Gamma(api.families.links.Log()),
        "bernoulli": api.families.Binomial(),
    }
    theirs = api.GLM(y, api.add_constant(X), family=families[family]).fit(tol=1e-12)
    ours = GeneralizedLinearRegressor(family).fit(X, y)
    np.testing.assert_allclose([ours.intercept_, *ours.coef_], theirs.params, rtol=1e-6)
    np.testing.assert_allclose(ours.deviance_, theirs.deviance, rtol=1e-7)
    if family != "gamma":  # the peer takes expected, we observed curvature; equal for canonical links
        np.testing.assert_allclose(np.roll(ours.standard_errors_, 1), theirs.bse, rtol=1e-6)


@pytest.mark.parametrize("family", ["poisson", "gamma", "bernoulli"])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_rows_by_way_of_samples_end_where_newton_ends(family, intercept, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(34_000, 4)) + 0.3
    z = X @ [0.4, -0.3, 0.2, 0.0]
    draw = {
        "poisson": lambda: rng.poisson(np.exp(z)),
        "gamma": lambda: rng.gamma(2.0, np.exp(z) / 2.0),
        "bernoulli": lambda: rng.random(len(z)) < 1 / (1 + np.exp(-z)),
    }
    y, weight = draw[family]().astype(float), rng.integers(0, 3, size=len(z)).astype(float)
    options = {"alpha": 1e-3, "fit_intercept": intercept, "tol": 1e-9}
    assert nested.is_worthwhile(MemoryRows(X, y), Objective(Model(None, True), np.ones(5), 1.0))
    model = GeneralizedLinearRegressor(family, **options).fit(X, y, weight)
    monkeypatch.setattr(nested, "is_worthwhile", lambda rows, objective: False)
    newton = GeneralizedLinearRegressor(family, **options).fit(X, y, weight)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, newton.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, newton.intercept_, atol=1e-7)
    np.testing.assert_allclose(model.standard_errors_, newton.standard_errors_, rtol=1e-6)
    np.testing.assert_allclose(model.deviance_, newton.deviance_, rtol=1e-9)


def test_counts_that_the_samples_never_see():
    y = np.zeros(34_000)
    y[1::16] = 1.0
    X = np.random.default_rng(0).normal(size=(34_000, 2))
    model = PoissonRegressor(alpha=1e-2, tol=1e-8).fit(X, y)
    assert model.converged_
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-6)


@pytest.mark.parametrize("model", [PoissonRegressor, GammaRegressor])
def test_single_precision_stays(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).astype(np.float32)
    y = np.exp(X[:, 0]) + 0.1
    fitted, double = model().fit(X, y), model().fit(X.astype(np.float64), y)
    assert fitted.coef_.dtype == fitted.predict(X).dtype == np.float32
    assert double.coef_.dtype == double.predict(X).dtype == np.float64
    np.testing.assert_allclose(fitted.predict(X), double.predict(X), rtol=1e-4)
