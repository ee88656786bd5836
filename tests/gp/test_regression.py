"""Gaussian process regression: the numbers of the books, refits, slopes, bounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gnomon import load, save
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.gp import GaussianProcessRegressor
from gnomon.gp.ascent import begin, climb
from gnomon.gp.inducing import choose
from gnomon.gp.work import chosen_rows, chosen_targets, prepared
from gnomon.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    FunctionKernel,
    Linear,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

FOUR = np.array([[-1.0], [0.0], [1.0], [2.0]]), np.array([0.5, 0.0, -0.3, 1.2])
NOISE = np.array([0.1, -0.05, 0.08, -0.1, 0.05, 0.02, -0.08, 0.1, -0.03, 0.04])
TEN = np.arange(0, 5, 0.5)[:, None], np.sin(np.arange(0, 5, 0.5)) + NOISE


def full(length=1.0, noise=0.1):
    return ConstantKernel(1.0) * RBF(length) + WhiteKernel(noise)


def fixed(X, y, **options):
    return GaussianProcessRegressor(full(noise=0.01), optimizer=None, **options).fit(X, y)


# The numbers of the books


def test_two_points_by_hand():
    k = RBF(np.sqrt(0.5), "fixed")  # exp(−(x − z)²)
    for alpha, mean, variance in [(0.1, 0.5305618, 0.1735961), (0.0, 0.5693490, 0.1131811)]:
        model = GaussianProcessRegressor(k, alpha=alpha).fit([[0.0], [1.0]], [0.0, 1.0])
        found, std = model.predict([[0.5]], return_std=True)
        assert found[0] == pytest.approx(mean, abs=1e-7) and std[0] ** 2 == pytest.approx(variance, abs=1e-7)
    noisy = GaussianProcessRegressor(k, alpha=0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    assert noisy.log_marginal_likelihood_value_ == pytest.approx(-2.3856690, abs=1e-7)


def test_four_points():
    model = fixed(*FOUR)
    value, slopes = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(-4.7937992, abs=1e-7)
    np.testing.assert_allclose(slopes, [-0.0916212, -1.5803942, 0.0165178], atol=1e-7)
    Q = [[0.5], [3.0]]
    mean, std = model.predict(Q, return_std=True)
    np.testing.assert_allclose(mean, [-0.3807049, 1.2085684], atol=1e-7)
    np.testing.assert_allclose(std, [0.1657856, 0.7302840], atol=1e-7)
    quiet = model.predict_distribution(Q)
    np.testing.assert_allclose(quiet.var(), [0.0174849, 0.5233147], atol=1e-7)
    covariance = model.predict(Q, return_cov=True)[1] - 0.01 * np.eye(2)
    np.testing.assert_allclose(covariance, [[0.0174849, 0.0276942], [0.0276942, 0.5233147]], atol=1e-7)


def test_learned_scales():
    model = GaussianProcessRegressor(full()).fit(*TEN)
    np.testing.assert_allclose(np.exp(model.kernel_.theta), [0.741175, 1.711344, 0.0078653], rtol=1e-4)
    assert model.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-6)
    mean, std = model.predict([[2.25]], return_std=True)
    assert mean[0] == pytest.approx(0.7750721, abs=1e-5) and std[0] == pytest.approx(0.1034051, abs=1e-5)
    assert model.trace_[-1] == model.log_marginal_likelihood_value_
    assert (np.diff(model.trace_.objective) >= 0).all() and model.converged_


def test_bayesian_linear_regression_is_a_process():
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 4.0])
    process = GaussianProcessRegressor(ConstantKernel(0.5) * Linear(), alpha=0.5, optimizer=None).fit(X, y)
    told = process.predict_distribution([[1.0, 1.5]], noise=True)
    assert told.mean()[0] == pytest.approx(2.7) and told.var()[0] == pytest.approx(0.7)
    S = np.linalg.inv(2.0 * np.eye(2) + X.T @ X / 0.5)  # the posterior of the weights
    q = np.array([1.0, 1.5])
    assert q @ S @ X.T @ y / 0.5 == pytest.approx(2.7) and q @ S @ q + 0.5 == pytest.approx(0.7)
    evidence = multivariate_normal(np.zeros(3), 0.5 * X @ X.T + 0.5 * np.eye(3)).logpdf(y)
    assert process.log_marginal_likelihood_value_ == pytest.approx(evidence)


# Refits and slopes


def test_evidence_is_the_density_of_the_targets():
    X, y = TEN
    model = fixed(X, y)
    direct = multivariate_normal(np.zeros(10), model.kernel_(X) + 1e-10 * np.eye(10)).logpdf(y)
    assert model.log_marginal_likelihood_value_ == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("normalize_y", [False, True])
def test_rows_left_out_in_closed_form(normalize_y):
    X, y = TEN
    model = fixed(X, y)
    mean, variance = model.loo_predict()
    for i in range(10):
        rest = np.arange(10) != i
        other = fixed(X[rest], y[rest])
        m, s = other.predict(X[[i]], return_std=True)
        assert mean[i] == pytest.approx(m[0], rel=1e-6)
        assert variance[i] == pytest.approx(s[0] ** 2 + 1e-10, rel=1e-6)
    scaled = fixed(X, y + 100, normalize_y=normalize_y)
    assert scaled.loo_predict()[0].shape == (10,)


def test_more_rows_later_are_all_rows_at_once():
    X, y = TEN
    whole = fixed(X, y)
    grown = fixed(X[:4], y[:4]).partial_fit(X[4:7], y[4:7]).partial_fit(X[7:], y[7:])
    np.testing.assert_allclose(grown.L_, whole.L_, atol=1e-12)
    np.testing.assert_allclose(grown.predict([[2.2]]), whole.predict([[2.2]]))
    assert grown.log_marginal_likelihood_value_ == pytest.approx(whole.log_marginal_likelihood_value_)
    fresh = GaussianProcessRegressor(full(), optimizer=None).partial_fit(X, y)
    assert fresh.log_marginal_likelihood() == pytest.approx(
        fixed(X, y).log_marginal_likelihood(fresh.kernel_.theta)
    )


def test_noise_of_rows_that_come_later():
    X, y = TEN
    noise = np.linspace(0.01, 0.3, 10)
    whole = fixed(X, y, alpha=noise)
    grown = GaussianProcessRegressor(full(noise=0.01), optimizer=None)
    grown.partial_fit(X[:4], y[:4], alpha=noise[:4]).partial_fit(X[4:], y[4:], alpha=noise[4:])
    np.testing.assert_allclose(grown.predict([[2.2]]), whole.predict([[2.2]]))
    np.testing.assert_allclose(grown.loo_predict(), whole.loo_predict())
    assert grown.alpha == 1e-10  # the parameter is the user's
    for wrong, match in [
        ({"y": [1.0, np.nan]}, "NaN"),
        ({"y": [[1.0, 2.0], [3.0, 4.0]]}, r"1 target"),
        ({"y": [1.0, 2.0], "alpha": -0.1}, "none negative"),
        ({"y": [1.0, 2.0], "alpha": [0.1, 0.1, 0.1]}, r"3 != 2"),
    ]:
        with pytest.raises(ValueError, match=match):
            grown.partial_fit(X[:2], **wrong)
    assert len(grown.X_train_) == 10


def test_a_bound_is_named_as_it_was_given():
    kernel = WhiteKernel(noise_level_bounds=(1e-5, 1e-3)) + RBF(length_scale_bounds=(1e3, 1e5))
    with pytest.warns(ConvergenceWarning) as record:
        GaussianProcessRegressor(kernel).fit(*TEN)
    text = " ".join(str(one.message) for one in record)
    assert "k1__noise_level is close to the specified upper bound 0.001." in text
    assert "k2__length_scale is close to the specified lower bound 1000.0." in text


@pytest.mark.parametrize(
    "kernel",
    [
        full(),
        ConstantKernel(2.0) * Matern([0.7, 1.3], nu=2.5) + WhiteKernel(0.3),
        RationalQuadratic(1.0, 0.8) + DotProduct(0.5) + WhiteKernel(0.3),
        ExpSineSquared(1.0, 2.0).on([0]) * RBF(2.0) + WhiteKernel(0.3),
    ],
    ids=str,
)
@pytest.mark.parametrize("inducing", [None, 6])
def test_slopes_are_differences(kernel, inducing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 2)), rng.normal(size=(25, 2))
    model = GaussianProcessRegressor(kernel, inducing=inducing, alpha=np.linspace(0.01, 0.2, 25))
    work = prepared(model, model._read(X, y), clone(kernel))
    value = work.objective(True)
    theta = kernel.theta + 0.1
    value(theta)
    slopes = value(theta)[1]
    for j, e in enumerate(1e-5 * np.eye(len(theta))):
        difference = (value(theta + e)[0] - value(theta - e)[0]) / 2e-5
        assert slopes[j] == pytest.approx(difference, rel=1e-5, abs=1e-5)


def test_scikit_learns_kernels_work():
    from sklearn.gaussian_process import kernels as theirs

    model = GaussianProcessRegressor(
        theirs.ConstantKernel(1.0) * theirs.RBF(1.0) + theirs.WhiteKernel(0.1)
    ).fit(*TEN)
    assert model.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-6)


# Properties


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_data_never_add_doubt(seed):
    rng = np.random.default_rng(seed)
    X, y, Q = rng.normal(size=(8, 1)), rng.normal(size=8), rng.normal(size=(5, 1))
    before = fixed(X[:5], y[:5]).predict(Q, return_std=True)[1]
    after = fixed(X, y).predict(Q, return_std=True)[1]
    prior = np.sqrt(full(noise=0.01).diag(Q))
    assert (after <= before + 1e-9).all() and (before <= prior + 1e-9).all()
    other = fixed(X, -3 * y).predict(Q, return_std=True)[1]
    np.testing.assert_allclose(after, other)  # the targets do not change it


def test_without_noise_it_passes_through_the_data():
    X, y = FOUR
    model = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, y, atol=1e-10)
    np.testing.assert_allclose(std, 0.0, atol=1e-7)


def test_noise_of_every_row():
    X, y = FOUR
    sure = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=[1e-6, 1e6, 1e-6, 1e-6]).fit(X, y)
    without = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=1e-6).fit(X[[0, 2, 3]], y[[0, 2, 3]])
    np.testing.assert_allclose(sure.predict([[0.3]]), without.predict([[0.3]]), atol=1e-5)
    with pytest.raises(ValueError, match=r"3 != 4"):
        GaussianProcessRegressor(alpha=[1.0, 1.0, 1.0]).fit(X, y)


def test_targets_far_from_zero():
    X, y = TEN
    plain = GaussianProcessRegressor(full(), normalize_y=True).fit(X, y)
    far = GaussianProcessRegressor(full(), normalize_y=True).fit(X, 1000.0 * y + 1e8)
    np.testing.assert_allclose(far.predict([[2.2]]), 1000.0 * plain.predict([[2.2]]) + 1e8, rtol=1e-12)
    np.testing.assert_allclose(
        far.predict([[2.2]], return_std=True)[1],
        1000.0 * plain.predict([[2.2]], return_std=True)[1],
        rtol=1e-3,
    )
    shifted = GaussianProcessRegressor(full()).fit(X + 1e8, y)
    assert shifted.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-5)


def test_draws_have_the_moments_of_the_posterior():
    model = fixed(*FOUR)
    Q = np.array([[0.5], [3.0]])
    draws = model.sample_y(Q, 20_000, random_state=0)
    mean, covariance = model.predict(Q, return_cov=True)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.02)
    prior = GaussianProcessRegressor(RBF(1.0))
    assert prior.predict(Q).tolist() == [0.0, 0.0]
    wide = prior.sample_y(np.linspace(0, 1, 200)[:, None], 500, random_state=1)  # nearly singular
    assert wide.shape == (200, 500) and wide.std() == pytest.approx(1.0, abs=0.1)


def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 3, 60)[:, None]
    k = full(noise=0.1)
    y = GaussianProcessRegressor(k).sample_y(X, 1, random_state=3)[:, 0]
    model = GaussianProcessRegressor(k, optimizer=None).fit(X[::2], y[::2])
    lower, upper = model.predict_interval(X[1::2], 0.9)
    inside = np.mean((lower <= y[1::2]) & (y[1::2] <= upper))
    assert 0.75 <= inside <= 1.0
    narrow = model.predict_interval(X[1::2], 0.9, noise=False)
    assert (narrow[1] - narrow[0] < upper - lower).all()
    del rng


def test_where_to_look_next():
    model = fixed([[0.0]], [1.0])
    pool = np.array([[0.0], [1.0], [5.0], [-5.0], [4.9]])
    assert model.next_query(pool).tolist() == [2]
    assert model.next_query(pool, 2).tolist() == [2, 3]  # beside the first there is nothing to learn
    with pytest.raises(DataError, match="pool"):
        model.next_query(pool, 9)


def test_several_targets():
    X, y = TEN
    two = fixed(X, np.c_[y, 2 * y])
    one = fixed(X, y)
    np.testing.assert_allclose(
        two.predict([[2.2]])[0], [one.predict([[2.2]])[0], 2 * one.predict([[2.2]])[0]]
    )
    assert two.sample_y(X[:3], 4).shape == (3, 2, 4)
    assert two.predict(X[:3], return_cov=True)[1].shape == (3, 3, 2)


def test_starts_and_optimizers():
    X, y = TEN
    stuck = GaussianProcessRegressor(full(1e-4, 1e-4)).fit(X, y)
    again = GaussianProcessRegressor(full(1e-4, 1e-4), n_restarts_optimizer=6, random_state=0).fit(X, y)
    assert again.log_marginal_likelihood_value_ >= stuck.log_marginal_likelihood_value_ - 1e-9
    assert again.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-5)

    def search(objective, theta, bounds):
        from scipy.optimize import minimize

        found = minimize(objective, theta, jac=True, bounds=bounds, method="L-BFGS-B")
        return found.x, found.fun

    own = GaussianProcessRegressor(full(), optimizer=search).fit(X, y)
    assert own.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-5)


def test_climbing_stays_within_bounds():
    bounds = np.array([[-1.0, 0.5], [-1.0, 1.0]])

    def top(t):
        gap = t[1] - t[0]
        return -((t[0] - 2) ** 2) - 10 * gap**2, np.array([-2 * (t[0] - 2) + 20 * gap, -20 * gap]), None

    state = begin(top, np.zeros(2))
    for _ in range(50):
        state = climb(top, bounds, state)
    np.testing.assert_allclose(state.theta, [0.5, 0.5], atol=1e-4)
    assert state.done


# Inducing points


def wavy(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def test_all_rows_as_inducing_points_are_the_exact_process():
    X, y = wavy(60)
    k = ConstantKernel(2.0) * RBF([1.0, 2.0]) + WhiteKernel(0.05)
    exact = GaussianProcessRegressor(k, optimizer=None).fit(X, y)
    sparse = GaussianProcessRegressor(k, optimizer=None, inducing=X).fit(X, y)
    assert sparse.log_marginal_likelihood_value_ == pytest.approx(
        exact.log_marginal_likelihood_value_, abs=1e-4
    )
    Q = wavy(20, 1)[0]
    for a, b in zip(exact.predict(Q, return_cov=True), sparse.predict(Q, return_cov=True)):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_the_bound_is_below_and_rises_with_the_points():
    X, y = wavy(200)
    k = ConstantKernel(2.0) * RBF([1.0, 2.0]) + WhiteKernel(0.05)
    exact = GaussianProcessRegressor(k, optimizer=None).fit(X, y).log_marginal_likelihood_value_
    bounds = [
        GaussianProcessRegressor(k, optimizer=None, inducing=m).fit(X, y).log_marginal_likelihood_value_
        for m in (5, 20, 60)
    ]
    assert bounds[0] < bounds[1] < bounds[2] <= exact + 1e-6


def test_a_sparse_process_learns_its_scales():
    X, y = wavy(300)
    k = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(k, inducing=50).fit(X, y)
    assert model.kernel_.k2.noise_level == pytest.approx(0.01, rel=0.3)
    assert len(model.inducing_points_) <= 50 and (np.diff(model.trace_.objective) >= -1e-6).all()
    Q, t = wavy(100, 5)
    mean, std = model.predict(Q, return_std=True)
    assert np.mean(np.abs(mean - t) < 2 * std) > 0.85
    with pytest.raises(DataError, match="exact"):
        model.loo_predict()


def test_rows_from_a_file(tmp_path):
    import polars

    X, y = wavy(400)
    path = tmp_path / "rows.parquet"
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_parquet(path)
    k = ConstantKernel(2.0) * RBF([1.0, 2.0]) + WhiteKernel(0.05)
    here = GaussianProcessRegressor(k, optimizer=None, inducing=X[:30], normalize_y=True).fit(X, y)
    there = GaussianProcessRegressor(k, optimizer=None, inducing=X[:30], normalize_y=True).fit(path, "y")
    assert there.log_marginal_likelihood_value_ == pytest.approx(
        here.log_marginal_likelihood_value_, rel=1e-9
    )
    np.testing.assert_allclose(there.predict(X[:5]), here.predict(X[:5]), rtol=1e-7)


# A climb over many rows begins on some of them


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr("gnomon.gp.work.SAMPLE", 60)


@pytest.mark.parametrize("inducing", [None, 40])
def test_a_climb_on_a_sample_saves_steps_and_loses_no_evidence(inducing, monkeypatch):
    X, y = wavy(300)
    k = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    alone = GaussianProcessRegressor(k, inducing=inducing).fit(X, y)
    monkeypatch.setattr("gnomon.gp.work.SAMPLE", 60)
    ahead = GaussianProcessRegressor(k, inducing=inducing).fit(X, y)
    assert ahead.n_iter_ < alone.n_iter_
    assert ahead.log_marginal_likelihood_value_ >= alone.log_marginal_likelihood_value_ - 1e-3
    assert ahead.trace_.objective[0] > alone.trace_.objective[0]


def test_the_sample_is_the_same_from_a_file_and_keeps_the_noise_of_its_rows(tmp_path, small_sample):
    import polars

    X, y = wavy(200)
    path = tmp_path / "rows.parquet"
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_parquet(path)
    k = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(k, inducing=20, alpha=np.linspace(0.01, 0.02, 200))
    works = [model._prepare(model._read(*data)) for data in ((X, y), (path, "y"))]
    here, there = (work._sampled() for work in works)
    assert len(here.data) == 60 and np.array_equal(here.data.X, there.data.X)
    assert np.array_equal(here.y, there.y) and np.array_equal(here.noise, there.noise)
    row = np.flatnonzero((X == here.data.X[7]).all(axis=1))[0]
    assert here.noise[7] == model.alpha[row] and here.y[7, 0] == y[row]


def test_inducing_points_of_a_very_smooth_kernel(small_sample):
    X, y = wavy(400)
    k = ConstantKernel(100.0) * RBF([3.0, 4.0]) + WhiteKernel(0.01)
    model = GaussianProcessRegressor(k, inducing=100, optimizer=None).fit(X, y)
    exact = GaussianProcessRegressor(k, optimizer=None).fit(X, y)
    assert len(model.inducing_points_) < 100  # the others would be nothing but rounding
    lost = exact.log_marginal_likelihood_value_ - model.log_marginal_likelihood_value_
    assert -1e-3 < lost < 0.5


@pytest.mark.filterwarnings("ignore:.*close to the specified upper bound")
def test_inducing_points_are_chosen_again_for_the_kernel_found_where_that_gains():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (150, 2))
    y = np.sin(9 * X[:, 1]) + 0.05 * rng.normal(size=150)
    k = RBF([0.3, 3.0], length_scale_bounds=(1e-2, 1e2)) + WhiteKernel(
        0.01
    )  # it looks along the wrong column
    model = GaussianProcessRegressor(k, inducing=6).fit(X, y)
    first = choose(model._read(X, y), k, 6)
    assert not np.array_equal(first, model.inducing_points_)
    assert (np.diff(model.trace_.objective) >= -1e-9).all() and model.converged_
    kept = GaussianProcessRegressor(k, inducing=first).fit(X, y)
    np.testing.assert_array_equal(kept.inducing_points_, first)
    assert model.log_marginal_likelihood_value_ > kept.log_marginal_likelihood_value_ + 1.0


def test_chosen_rows_of_a_later_chunk_are_counted_from_its_start():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    chosen = np.array([1, 5, 12, 13, 19])
    found = [
        [part(SimpleNamespace(X=X[a:b], y=y[a:b], start=a), chosen) for a, b in ((0, 6), (6, 12), (12, 20))]
        for part in (chosen_rows, chosen_targets)
    ]
    np.testing.assert_array_equal(np.concatenate(found[0]), X[chosen])
    np.testing.assert_array_equal(np.concatenate(found[1]), y[chosen])


def test_more_rows_keep_what_was_added_to_the_diagonal_and_must_be_finite():
    X = np.linspace(0, 1, 30)[:, None]
    model = GaussianProcessRegressor(RBF(10.0), alpha=0.0, optimizer=None).fit(X, X[:, 0])
    jitter = model.jitter_
    assert jitter > 0  # the rows are nearly one
    model.partial_fit([[50.0]], [0.0])
    assert model.jitter_ == jitter
    several = GaussianProcessRegressor(RBF(1.0), alpha=0.1).fit(X, np.hstack([X, X]))
    with pytest.raises(DataError, match=r"2 target\(s\) for each of the 1 rows"):
        several.partial_fit([[3.0]], [[1.0, 2.0, 3.0]])
    for wrong in ([[1.0, np.nan]], [[np.inf, 1.0]]):
        with pytest.raises(ValueError, match="y contains"):
            several.partial_fit([[3.0]], wrong)


# Errors and files


def test_contradictions_are_named():
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 2.0])
    with pytest.raises(DegenerateError, match="duplicate rows 1 and 2"):
        GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.0).fit(X, y)
    agreed = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.0).fit(X, [0.0, 1.0, 1.0])
    assert agreed.predict([[1.0]])[0] == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(DegenerateError, match="positive definite"):
        GaussianProcessRegressor(FunctionKernel(lambda A, B: -A @ B.T), alpha=0.0).fit(X[:2], y[:2])
    with pytest.raises(DataError, match="noise"):
        GaussianProcessRegressor(RBF(1.0), alpha=0.0, inducing=2).fit(X, y)
    for points in (np.ones((0, 1)), np.ones((2, 3))):
        with pytest.raises(DataError, match="points of 1 columns"):
            GaussianProcessRegressor(full(), inducing=points).fit(X, y)
    for noise in (-np.ones(3), np.ones(2)):
        with pytest.raises(DataError, match="one variance for each of the 3 rows"):
            fixed(*FOUR).predict_distribution(X, noise=noise)
    with pytest.raises(DataError, match="added"):
        GaussianProcessRegressor(RBF(1.0) * WhiteKernel(1.0), inducing=2).fit(X, y)
    with pytest.raises(RuntimeError, match="At most one"):
        fixed(*FOUR).predict(X, return_std=True, return_cov=True)


def test_one_row_and_constant_columns():
    one = fixed([[1.0, 5.0]], [2.0])
    assert one.predict([[1.0, 5.0]])[0] == pytest.approx(2.0 / 1.01, rel=1e-6)
    X, y = TEN
    flat = GaussianProcessRegressor(full()).fit(np.c_[X, np.full(10, 7.0)], y)
    assert flat.log_marginal_likelihood_value_ == pytest.approx(0.1794096, abs=1e-6)


@pytest.mark.parametrize("inducing", [None, 4])
def test_saved_and_loaded(inducing, tmp_path):
    X, y = TEN
    model = GaussianProcessRegressor(full(), inducing=inducing, normalize_y=True).fit(X, y)
    save(model, tmp_path / "model")
    twin = load(tmp_path / "model")
    for a, b in zip(model.predict(X, return_std=True), twin.predict(X, return_std=True)):
        np.testing.assert_array_equal(a, b)
    twin.fit_ = twin.fit_._replace(factor=twin.fit_.factor[:2, :2])
    with pytest.raises(ModelFileError):
        twin._check_loaded()


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
    from sklearn.gaussian_process import kernels as k

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=80)
    ours = GaussianProcessRegressor(ConstantKernel(1.0) * RBF([1.0] * 3) + WhiteKernel(0.1)).fit(X, y)
    theirs = Theirs(k.ConstantKernel(1.0) * k.RBF([1.0] * 3) + k.WhiteKernel(0.1)).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-4
    same = GaussianProcessRegressor(theirs.kernel_, optimizer=None).fit(X, y)
    for a, b in zip(same.predict(X, return_cov=True), theirs.predict(X, return_cov=True)):
        np.testing.assert_allclose(a, b, atol=1e-8)
