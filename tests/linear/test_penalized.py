"""Bridge regression for every p, and the template of loss and penalty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.linear import ElasticNet, HuberRegressor, Lasso, LpRegression, RegularizedRegressor, Ridge
from gnomon.losses import Huber, Lp, Pinball, lp_norm

A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
YA = np.array([1.0, 2.0, 3.0, 5.0])


def seeded(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def test_norms_by_hand():
    """R29."""
    w = [3.0, -4.0, 0.0]
    found = [lp_norm(w, p) for p in (1, 2, 4, 0.5, np.inf, 0)]
    np.testing.assert_allclose(found, [7, 5, 4.2845722950, 13.9282032303, 4, 2], rtol=1e-9)


@pytest.mark.parametrize(
    "p, w, value",
    [
        (1, 1.5, 1.75),
        (2, 1.0, 2.0),
        (0.5, 1.8144020186, 1.3814440192),
        (1.5, ((np.sqrt(34.25) - 1.5) / 4) ** 2, 1.9541872808),  # 2u² + 1.5u − 4 = 0 with u = √w
        (4, 0.8351223484813665, 1.8433476230),  # 2w³ + w − 2 = 0
    ],
)
def test_scalar_minima_by_hand(p, w, value):
    """R30: (2 − w)² + |w|^p, by the proximal step and by the estimator."""
    np.testing.assert_allclose(Lp(0.5, p=p).prox([2.0]), [w], rtol=1e-9)
    model = LpRegression(p, 0.5, fit_intercept=False, tol=1e-13, random_state=0).fit([[1.0]], [2.0])
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-6)
    np.testing.assert_allclose(2 * model.objective_, value, rtol=1e-6)


@pytest.mark.parametrize(
    "p, coef, objective", [(4, [0.9157993, 0.1782100], 1.6339064649), (1, [1.1166666667, 0.0], 1.5916666667)]
)
def test_four_points_by_hand(p, coef, objective):
    """R31."""
    model = LpRegression(p, 1 / 8, fit_intercept=False, tol=1e-12).fit(A, YA)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(8 * model.objective_, objective, rtol=1e-8)


def test_largest_magnitude_by_hand():
    """R32: X = I, ‖b − w‖² + 2·max|w|, so α = 2/(2n)."""
    model = LpRegression(np.inf, 1 / 3, fit_intercept=False, tol=1e-12).fit(np.eye(3), [3.0, -1.0, 2.5])
    np.testing.assert_allclose(model.coef_, [2.25, -1.0, 2.25], rtol=1e-6)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.4, 2.0, 3.0]))
def test_objective_never_rises(seed, p):
    X, y = seeded(seed)
    model = LpRegression(p, 0.1, random_state=0).fit(X, y)
    assert (np.diff(model.trace_.objective) <= 1e-12).all()
    assert model.is_global_ == (p >= 1)
    zero = 0.5 * np.mean((y - y.mean()) ** 2)
    assert model.objective_ <= zero + 1e-12


@given(st.integers(0, 10_000))
def test_special_cases_are_ridge_and_lasso(seed):
    X, y = seeded(seed)
    square = LpRegression(2, 0.1, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(square.coef_, Ridge(2 * len(y) * 0.1).fit(X, y).coef_, rtol=1e-7, atol=1e-9)
    one = LpRegression(1, 0.1, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(one.coef_, Lasso(0.1, tol=1e-12).fit(X, y).coef_, rtol=1e-5, atol=1e-6)


def test_smaller_p_is_sparser():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 10))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=50)
    counts = [np.count_nonzero(LpRegression(p, 0.05, random_state=0).fit(X, y).coef_) for p in (0, 0.5, 1, 2)]
    assert counts == sorted(counts) and counts[0] == 2 and counts[-1] == 10


@pytest.mark.parametrize("p", [-1.0, np.nan])
def test_bad_p(p):
    with pytest.raises(ValueError, match="p"):
        LpRegression(p).fit(A, YA)


def test_template_gives_the_named_estimators():
    X, y = seeded(1)
    n = len(y)
    pairs = [
        (RegularizedRegressor(penalty="l2", alpha=0.2), Ridge(0.2 * n)),
        (RegularizedRegressor(penalty="l1", alpha=0.2), Lasso(0.2, tol=1e-12)),
        (
            RegularizedRegressor(penalty="elasticnet", alpha=0.2, l1_ratio=0.3),
            ElasticNet(0.2, l1_ratio=0.3, tol=1e-12),
        ),
        (RegularizedRegressor(penalty="lp", alpha=0.2, p=1.5), LpRegression(1.5, 0.2)),
        (RegularizedRegressor(penalty=Lp(0.2, p=np.inf)), LpRegression(np.inf, 0.2, tol=1e-12)),
    ]
    for ours, named in pairs:
        np.testing.assert_allclose(ours.fit(X, y).coef_, named.fit(X, y).coef_, rtol=1e-4, atol=1e-5)


def test_template_with_another_loss():
    X, y = seeded(2)
    huber = HuberRegressor(alpha=0.0, tol=1e-10).fit(X, y)
    model = RegularizedRegressor(Huber(1.35 * huber.scale_), alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, huber.coef_, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="kink"):
        RegularizedRegressor(Pinball(0.5)).fit(X, y)
