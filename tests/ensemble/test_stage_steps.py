"""Coefficients of stagewise models by hand: closed forms, one Newton step, halved steps, searches."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from gnomon.core.errors import DataError
from gnomon.ensemble import StagewiseAdditiveModel

LINE = np.arange(5.0)[:, None]
SIGNS = np.array([-1.0, -1, 1, 1, -1])  # the best stump is wrong in one row
WEIGHT = np.array([1.0, 2, 1, 3, 1])


class Slope:
    """Predicts x, whatever it is given."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **given):
        return self

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def first(loss, y, weight=None, X=LINE, **given):
    return StagewiseAdditiveModel(loss, n_estimators=1, **given).fit(X, y, sample_weight=weight).coefs_[0]


@pytest.mark.parametrize("search", ["exact", "newton", "golden"])
@pytest.mark.parametrize("shrinkage", [1.0, 0.25])
def test_a_step_of_squares_is_a_regression_on_the_learner(search, shrinkage):
    y, x = np.array([1.0, -2, 3, 0, 2]), LINE[:, 0]
    step = (WEIGHT * y * x).sum() / (WEIGHT * x * x).sum()
    found = first("squared", y, WEIGHT, estimator=Slope(), line_search=search, shrinkage=shrinkage)
    assert found == pytest.approx(shrinkage * step, rel=1e-5)


def test_a_step_of_exponential_loss_is_half_the_log_odds_of_being_right():
    assert first("exponential", SIGNS) == pytest.approx(0.5 * np.log(4))
    assert first("exponential", SIGNS, WEIGHT) == pytest.approx(0.5 * np.log(7))  # 1 of 8 is wrong
    assert first("exponential", SIGNS[:4], X=LINE[:4]) == 18.0  # never wrong


def test_a_newton_step_of_logistic_loss_at_zero():
    """Slopes there are -t/2 and curvatures 1/4: the step is 2 Σ w h t / Σ w."""
    assert first("logistic", SIGNS, line_search="newton") == pytest.approx(2 * 3 / 5, rel=1e-6)
    assert first("logistic", SIGNS, WEIGHT, line_search="newton") == pytest.approx(2 * 6 / 8, rel=1e-6)


@pytest.mark.parametrize("search", ["exact", "golden"])
def test_the_best_step_of_logistic_loss_is_the_log_odds(search):
    assert first("logistic", SIGNS, WEIGHT, line_search=search) == pytest.approx(np.log(7), abs=1e-6)
    assert first("exponential", SIGNS, WEIGHT, line_search="golden") == pytest.approx(np.log(7) / 2, abs=1e-6)


def test_a_newton_step_that_goes_too_far_is_halved():
    """√(1 + (t - f)²) at f = 0, t = 3: t (1 + t²) = 30 is beyond 6, where the loss is as at 0: 15, 7.5, 3.75."""
    loss = lambda f, t: np.sqrt(1 + (t - f) ** 2)  # noqa: E731
    constant = first(loss, [3.0, 3.0], X=[[1.0], [1.0]], estimator=Slope(), line_search="newton")
    assert constant == pytest.approx(3.75, rel=2e-3)


def test_a_newton_step_without_curvature_lowers_the_loss():
    step = first("absolute", [-1.0, 1.0], X=LINE[:2], line_search="newton")
    assert 0 < step <= 2


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_a_step_of_absolute_loss_is_a_median_of_ratios(weight):
    y = np.array([9.0, 2, 6, 3, 16])  # y / x = -, 2, 3, 1, 4; row 0 does not move
    w = np.ones(5) if weight is None else weight
    found = first("absolute", y, weight, estimator=Slope())
    risk = lambda a: (w * np.abs(y - a * LINE[:, 0])).sum()  # noqa: E731
    assert found in (1.0, 2.0, 3.0, 4.0)
    assert risk(found) == min(risk(a) for a in (1.0, 2.0, 3.0, 4.0))


def test_learners_are_fitted_to_the_negative_slope_with_the_weights():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(30, 1)), rng.normal(size=30), rng.uniform(0.5, 2, 30)
    model = StagewiseAdditiveModel("squared", estimator=LinearRegression(), n_estimators=1).fit(
        X, y, sample_weight=w
    )
    twin = LinearRegression().fit(X, 2 * y, sample_weight=w)
    np.testing.assert_allclose(model.estimators_[0].coef_, twin.coef_)
    assert model.coefs_[0] == pytest.approx(0.5)
    np.testing.assert_allclose(model.predict(X), twin.predict(X) / 2)


def test_a_stage_without_slope_ends_the_model():
    tree = DecisionTreeRegressor(random_state=0)
    model = StagewiseAdditiveModel("squared", estimator=tree, n_estimators=9).fit(LINE, [1.0, 4, 2, 8, 5])
    assert len(model.coefs_) == 1
    np.testing.assert_allclose(model.predict(LINE), [1, 4, 2, 8, 5])


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("wrong", [0.0, 2.0])
def test_losses_of_margins_need_signs(loss, wrong):
    with pytest.raises(DataError, match=f"loss='{loss}' needs targets -1 and \\+1"):
        first(loss, [-1.0, 1, 1, 1, wrong])


def test_the_trace_is_the_weighted_loss_after_every_stage():
    y = np.array([1.0, -2, 3, 0, 2])
    model = StagewiseAdditiveModel("squared", n_estimators=3).fit(LINE, y, sample_weight=WEIGHT)
    staged = np.zeros(5)
    for stump, step, loss in zip(model.estimators_, model.coefs_, np.asarray(model.trace_), strict=True):
        staged += step * (2.0 * stump.answers(LINE) - 1)
        assert loss == pytest.approx((WEIGHT * (y - staged) ** 2).sum())
    np.testing.assert_allclose(model.predict(LINE), staged)
