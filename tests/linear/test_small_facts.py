"""Small facts of linear models: deviances by definition, a penalized intercept as a column, names of columns."""

import numpy as np
import pytest
from scipy import special, stats

from gnomon.linear import BasisExpansion, GeneralizedLinearRegressor, LinearSVC, basis

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 2))
MEAN = np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1] + 0.5)
TARGETS = {
    "gaussian": MEAN + RNG.normal(size=40),
    "bernoulli": (RNG.random(40) < MEAN / (1 + MEAN)).astype(float),
    "poisson": RNG.poisson(MEAN).astype(float),
    "gamma": RNG.gamma(2.0, MEAN / 2.0),
}
WEIGHTS = RNG.uniform(0.5, 3.0, size=40)


def deviance(family, y, m):
    """Twice the distance of the log-likelihood from that of a mean at every target."""
    return {
        "gaussian": lambda: (y - m) ** 2,
        "bernoulli": lambda: -2 * stats.bernoulli.logpmf(y, m),
        "poisson": lambda: 2 * (special.xlogy(y, y / m) - y + m),
        "gamma": lambda: 2 * (y / m - 1 - np.log(y / m)),
    }[family]()


def variance(family, m):
    return {"gaussian": np.ones_like(m), "bernoulli": m * (1 - m), "poisson": m, "gamma": m**2}[family]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize("family", TARGETS)
def test_deviance_and_dispersion_by_definition(family, alpha, intercept):
    y, s = TARGETS[family], WEIGHTS
    model = GeneralizedLinearRegressor(family, alpha=alpha, fit_intercept=intercept).fit(X, y, s)
    m = model.predict(X)
    assert model.deviance_ == pytest.approx(s @ deviance(family, y, m), rel=1e-8)
    pearson = s @ ((y - m) ** 2 / variance(family, m)) / (s.sum() - 2 - intercept)
    fixed = family in ("bernoulli", "poisson")
    assert model.dispersion_ == (1.0 if fixed else pytest.approx(pearson, rel=1e-8))
    null = s @ deviance(family, y, np.full(40, s @ y / s.sum()))
    assert model.score(X, y, s) == pytest.approx(1 - model.deviance_ / null, rel=1e-8)
    if family != "gamma":  # a canonical link: the curvature is the information
        Z = np.column_stack([X, np.ones(40)]) if intercept else X
        ridge = np.diag([alpha * s.sum()] * 2 + [0.0] * intercept)
        covariance = np.linalg.inv((Z.T * s * variance(family, m)) @ Z + ridge) * model.dispersion_
        np.testing.assert_allclose(model.standard_errors_, np.sqrt(np.diag(covariance)), rtol=1e-6)


@pytest.mark.parametrize("scaling", [1.0, 3.0, 0.2])
@pytest.mark.parametrize("options", [{"loss": "hinge"}, {}, {"multi_class": "crammer_singer"}])
def test_a_penalized_intercept_is_the_weight_of_a_constant_column(scaling, options):
    y = (X @ [1.0, -0.5] + 0.7 * RNG.normal(size=40) + 0.8 > 0).astype(int)
    if "multi_class" in options:
        y = y + (X[:, 0] > 1)
    options = {"C": 0.3, "tol": 1e-8, "max_iter": 100_000, "random_state": 0, **options}
    ours = LinearSVC(intercept_scaling=scaling, **options).fit(X, y)
    wide = LinearSVC(fit_intercept=False, **options).fit(np.column_stack([X, np.full(40, scaling)]), y)
    np.testing.assert_allclose(ours.coef_, wide.coef_[:, :2], atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, scaling * wide.coef_[:, 2], atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("original", [True, False])
def test_new_columns_come_after_the_constant_and_the_old_ones(bias, original):
    model = BasisExpansion(
        [basis.power(1, 2), basis.power(1, 2)], include_bias=bias, include_original=original
    )
    made = model.fit_transform(X)
    wanted = [np.ones(40)] * bias + [X[:, 0], X[:, 1]] * original + [X[:, 1] ** 2] * 2
    np.testing.assert_allclose(made, np.column_stack(wanted))
    names = ["1"] * bias + ["x0", "x1"] * original + ["x1^2", "x1^2_2"]
    assert model.get_feature_names_out().tolist() == names and model.n_output_features_ == len(names)
    model.set_params(max_features=len(names)).fit(X)
    with pytest.raises(ValueError, match=f"{len(names)} columns would be made"):
        model.set_params(max_features=len(names) - 1).fit(X)


def test_knots_of_a_spline_increase():
    columns = BasisExpansion([basis.spline(0, [-0.5, 0.5], degree=2)]).fit_transform(X)
    x = X[:, 0]
    wanted = [x, x**2, np.maximum(x + 0.5, 0) ** 2, np.maximum(x - 0.5, 0) ** 2]
    np.testing.assert_allclose(columns, np.column_stack(wanted))
    for knots in ([1.0, 1.0], [2.0, 1.0], [[1.0]]):
        with pytest.raises(ValueError, match="knots must increase"):
            basis.spline(0, knots)
