"""Where zero lies does not matter: columns far from it give the same slopes, and no false certificate."""

import numpy as np
import pytest

from gnomon.linear import (
    GeneralizedLinearRegressor,
    HuberRegressor,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    RegularizedRegressor,
    StudentTRegression,
    _centering,
    separability,
)

MODELS = [
    (LogisticRegression(), "class"),
    (LogisticRegression(C=np.inf), "class"),
    (LogisticRegressionCV(Cs=[0.1, 10.0]), "class"),
    (LinearSVC(loss="hinge", regularize_intercept=False), "class"),
    (LinearSVC(regularize_intercept=False), "class"),
    (LinearSVR(regularize_intercept=False), "number"),
    (HuberRegressor(), "number"),
    (RegularizedRegressor(penalty="l2"), "number"),
    (GeneralizedLinearRegressor("gamma"), "positive"),
    (PoissonRegressor(), "count"),
    (StudentTRegression(), "number"),
]


def sample(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    z = X @ [1.0, -0.5] + 0.5 * rng.normal(size=60)
    targets = {"class": (z > 0).astype(int), "number": z, "positive": np.exp(z), "count": np.round(np.exp(z))}
    return X, targets[kind]


@pytest.mark.parametrize("shift", [1e3, 1e6, 1.7e9])
@pytest.mark.parametrize("model, kind", MODELS, ids=lambda one: str(one)[:40])
def test_slopes_do_not_depend_on_where_zero_lies(model, kind, shift):
    X, y = sample(kind)
    near = model.fit(X, y)
    slopes, said = near.coef_, near.predict(X)
    far = model.fit(X + shift, y)
    digits = 1e-6 + 100 * shift * np.finfo(float).eps  # the shift itself rounds the columns
    np.testing.assert_allclose(far.coef_, slopes, rtol=digits, atol=digits)
    if kind == "class":
        assert (far.predict(X + shift) == said).mean() > 0.98
    else:
        np.testing.assert_allclose(far.predict(X + shift), said, rtol=1e-5, atol=1e-5 + 1e-6 * shift / 1e9)


def test_standard_error_of_the_intercept_is_that_of_the_given_columns():
    X, y = sample("count")
    near, far = (PoissonRegressor(alpha=0.0).fit(X + shift, y) for shift in (0.0, 1e4))
    np.testing.assert_allclose(far.standard_errors_[:-1], near.standard_errors_[:-1], rtol=1e-6)
    slopes = near.covariance_[:-1, :-1]
    ones = np.ones(2) * 1e4
    expected = near.covariance_[-1, -1] + ones @ slopes @ ones - 2 * ones @ near.covariance_[-1, :-1]
    assert far.standard_errors_[-1] == pytest.approx(np.sqrt(expected), rel=1e-6)


def test_timestamps_are_separable():
    X = 1.7e9 + np.arange(4.0)[:, None]
    found = separability(X, [0, 0, 1, 1], margin=True)
    assert found.separable and found.margin == pytest.approx(0.5)
    assert -found.intercept / found.coef[0] == pytest.approx(1.7e9 + 1.5, rel=1e-15)
    plane = LinearSVC(C=np.inf, loss="hinge", regularize_intercept=False).fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(plane.predict(X), [0, 0, 1, 1])


@pytest.mark.parametrize("d", [1, 700])
def test_a_penalized_intercept_knows_where_zero_lies(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, d)) / np.sqrt(d) + 100.0
    y = (X.sum(axis=1) - 100.0 * d + rng.logistic(size=50) > 0).astype(int)
    model = LogisticRegression(regularize_intercept=True, tol=1e-8).fit(X, y)
    z = X @ model.coef_[0] + model.intercept_[0]
    slope = 1.0 / (1.0 + np.exp(-z)) - y
    np.testing.assert_allclose(X.T @ slope, -model.coef_[0], atol=1e-5)
    np.testing.assert_allclose(slope.sum(), -model.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("place", [0.0, 100.0, 3000.0])
def test_slopes_that_certify_a_wide_model_are_those_of_its_weights(place):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 700)) / np.sqrt(700) + place
    y = (X.sum(axis=1) - place * 700 + rng.logistic(size=50) > 0).astype(int)
    model = LogisticRegression(regularize_intercept=True, tol=1e-8).fit(X, y)
    w = np.append(model.coef_[0], model.intercept_)
    Z = np.column_stack([X, np.ones(50)])
    slope = Z.T @ (1.0 / (1.0 + np.exp(-Z @ w)) - y) + w
    assert model.converged_ or place == 3000.0  # where rounding may leave more than tol, and it says so
    assert np.abs(slope).max() / 50 == pytest.approx(model.gradient_norm_, rel=0.1, abs=1e-12 * (1 + place))


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_ends_of_columns_are_those_of_all_chunks(place, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3))
    at = {"first": 0, "middle": 150, "last": 299}[place]
    X[at] = [9.0, -9.0, 9.0]
    monkeypatch.setattr(_centering, "LARGE", 1)
    monkeypatch.setattr(_centering, "CHUNK_BYTES", 400)
    low, high = _centering._ends_of(PoissonRegressor()._read(X, np.ones(300)))
    np.testing.assert_array_equal([low, high], [X.min(axis=0), X.max(axis=0)])
    X[at, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        _centering._ends_of(PoissonRegressor()._read(X, np.ones(300)))


@pytest.mark.parametrize("place", [0.0, 1.0, 20.0, 28.0, 40.0, 1e9])
def test_some_rows_never_prove_wrongly_that_no_column_is_far(place):
    """Columns of growing spread: where the few rows seen say "near", so do all of them."""
    rng = np.random.default_rng(0)
    for n in (5, 64, 1000):
        X = place + rng.uniform(-0.5, 0.5, (n, 2)) * np.array([1.0, 0.2])
        low, high = X.min(axis=0), X.max(axis=0)
        far = (np.abs(low + high) / 2 > _centering.FAR * (high - low)).any()
        assert not (_centering._near_by_some(X) and far)
    assert _centering._near_by_some(X) == (place <= 1.0)


def test_a_column_that_few_rows_do_not_tell_of_is_looked_at_whole(monkeypatch):
    """Nearly constant in the rows of the first look, but not far: nothing is moved. Far away: it is."""
    monkeypatch.setattr(_centering, "LARGE", 1)
    X = np.ones((1000, 1))
    X[1] = -1.0
    read = PoissonRegressor()._read
    assert not _centering._near_by_some(X)
    assert not hasattr(_centering.near_zero(read(X, np.ones(1000))), "center")
    assert _centering.near_zero(read(X + 1e3, np.ones(1000))).center == [1e3]
