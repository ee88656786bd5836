"""Steps, schedules and approximations against the numbers of the courses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DivergenceError
from gnomon.losses import L1, L2
from gnomon.solvers import (
    Constant,
    Exponential,
    InverseDecay,
    InvScaling,
    PegasosSchedule,
    StepDecay,
    batches,
    check_gradient,
    laplace_approximation,
    minimize,
    stable_learning_rate,
)
from gnomon.solvers.descent import two_loops


def bowl(w):
    return 0.5 * (w[0] ** 2 + 10 * w[1] ** 2), np.array([w[0], 10 * w[1]]), np.diag([1.0, 10.0])


def path(method, k, **options):
    return minimize(bowl, [1.0, 1.0], method=method, max_iter=k, tol=0.0, **options).path[1:]


def test_exact_updates():
    np.testing.assert_allclose(path("gd", 2, learning_rate=0.1), [[0.9, 0], [0.81, 0]], atol=1e-12)
    expected = [[0.95, 0.5], [0.8575, -0.2], [0.731375, -0.73]]
    np.testing.assert_allclose(path("momentum", 3, learning_rate=0.05, momentum=0.9), expected, atol=1e-12)
    expected = [[0.5, 0.5], [0.2763932023, 0.2763932023], [0.1563987360, 0.1563987360]]
    np.testing.assert_allclose(path("adagrad", 3, learning_rate=0.5), expected, atol=1e-9)
    np.testing.assert_allclose(path("newton", 1), [[0, 0]], atol=1e-15)
    np.testing.assert_allclose(path("gd", 1, learning_rate=0.1, decay=0.5), [[0.85, -0.05]], atol=1e-12)
    v1 = -0.05 * np.array([1.0, 10.0])
    w1 = 1.0 + v1
    v2 = 0.9 * v1 - 0.05 * np.array([1.0, 10.0]) * (w1 + 0.9 * v1)
    np.testing.assert_allclose(path("nesterov", 2, learning_rate=0.05), [w1, w1 + v2], atol=1e-12)


def test_adagrad_groups_and_silent_coordinates():
    shared = minimize(
        bowl, [1.0, 1.0], method="adagrad", learning_rate=0.5, max_iter=1, group=np.array([0, 0])
    ).x
    np.testing.assert_allclose(shared, 1.0 - 0.5 * np.array([1, 10]) / np.sqrt(101))
    flat = minimize(
        lambda w: (w[0] ** 2, np.array([2 * w[0], 0.0])), [1.0, 3.0], method="adagrad", max_iter=5
    ).x
    assert flat[1] == 3.0


def rosenbrock(w):
    a, b = 1 - w[0], w[1] - w[0] ** 2
    return a * a + 100 * b * b, np.array([-2 * a - 400 * w[0] * b, 200 * b])


def test_lbfgs_on_rosenbrock():
    found = minimize(rosenbrock, [-1.2, 1.0], method="lbfgs", tol=1e-8)
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-6)
    assert found.n_iter <= 60


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_lbfgs_with_exact_search_ends_a_quadratic(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    A = A @ A.T + np.eye(d)
    x, S, Y = rng.normal(size=d), np.empty((0, d)), np.empty((0, d))
    g = A @ x
    first = np.abs(g).max()
    for _ in range(d + 1):
        p = -two_loops(g, S, Y)
        step = -(g @ p) / (p @ A @ p) if p @ A @ p > 0 else 0.0
        x, new = x + step * p, g + step * A @ p
        if np.abs(new).max() < 1e-10 * first:
            g = new
            break
        S, Y, g = np.vstack([S, step * p]), np.vstack([Y, new - g]), new
    assert np.abs(g).max() <= 1e-6 * first


@pytest.mark.parametrize("method", ["newton", "lbfgs", "coordinate", "fista", "proximal"])
def test_every_method_finds_the_bottom(method):
    options = {"penalty": L2(0.0)} if method in ("fista", "proximal") else {}
    found = minimize(
        bowl, [3.0, -2.0], method=method, tol=1e-9 if options else 1e-6, max_iter=5000, **options
    )
    np.testing.assert_allclose(found.x, 0, atol=1e-5)
    assert np.all(np.diff(found.trace) <= 1e-12)
    assert found.converged and found.n_iter < 5000
    short = minimize(bowl, [3.0, -2.0], method=method, tol=1e-300, max_iter=1, **options)
    assert short.n_iter == 1 and (not short.converged or np.abs(short.gradient).max() <= 1e-300)


@pytest.mark.parametrize(
    ("function", "options", "told"),
    [
        ("bowl", {}, "function must be callable; got 'bowl'"),
        (lambda w: float(w @ w), {}, "must return its value and its gradient; it returned float"),
        (lambda w: (w @ w, 2 * w), {"method": "newton"}, "its value, its gradient and its Hessian"),
        (lambda w: (w * w, 2 * w), {}, r"shapes are \(2,\) and \(2,\)"),
        (lambda w: (w @ w, 2.0), {}, r"of the shape of start, \(2,\)"),
        (bowl, {"method": "fista"}, "needs a penalty"),
        (bowl, {"method": "proximal", "penalty": "l1"}, "must be one of gnomon.losses"),
        (bowl, {"momentun": 0.5}, "no option 'momentun'.*Did you mean 'momentum'"),
        (bowl, {"method": "bfgs"}, "Did you mean 'lbfgs'"),
    ],
)
def test_what_cannot_be_minimized_is_told_in_our_words(function, options, told):
    with pytest.raises(ValueError, match=told):
        minimize(function, [1.0, 2.0], **options)


def test_proximal_methods_agree_on_the_lasso():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)

    def loss(w):
        r = X @ w - y
        return 0.5 * r @ r, X.T @ r

    from gnomon.linear import Lasso

    exact = Lasso(alpha=3 / 30, fit_intercept=False, tol=1e-13).fit(X, y).coef_
    for method in ("fista", "proximal"):
        found = minimize(loss, np.zeros(5), method=method, penalty=L1(3.0), tol=1e-12, max_iter=10000).x
        np.testing.assert_allclose(found, exact, atol=1e-6)


def test_divergence_and_unknown_methods_are_named():
    with pytest.raises(DivergenceError, match="lower learning_rate"):
        minimize(bowl, [1.0, 1.0], method="gd", learning_rate=1.0)
    with pytest.raises(ValueError, match="Did you mean 'momentum'"):
        minimize(bowl, [1.0, 1.0], method="momentun")


def test_schedules():
    np.testing.assert_allclose([InverseDecay(1.0)(k) for k in range(5)], [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    expected = [0.5, 0.4204482076, 0.3799178428, 0.3535533906, 0.3343701525]
    np.testing.assert_allclose([InvScaling(0.5, 0.25)(k) for k in range(5)], expected, atol=1e-10)
    np.testing.assert_allclose(
        [Exponential(0.5, 0.9)(k) for k in range(5)], [0.5, 0.45, 0.405, 0.3645, 0.32805]
    )
    np.testing.assert_allclose([StepDecay(0.1, 0.5, 2)(k) for k in range(5)], [0.1, 0.1, 0.05, 0.05, 0.025])
    assert PegasosSchedule(0.25)(1) == 2.0
    flags = [InverseDecay(1).robbins_monro, Constant(1).robbins_monro, Exponential(1, 0.9).robbins_monro]
    assert flags == [True, False, False]
    assert [InvScaling(1, p).robbins_monro for p in (0.4, 0.5, 0.6, 1.0, 1.1)] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_compiled_rates_are_the_schedules():
    from gnomon.loops.stochastic import learning_rate
    from gnomon.solvers import Optimal

    for schedule in (
        Constant(0.3),
        InverseDecay(2.0),
        InvScaling(0.5, 0.25),
        Exponential(0.5, 0.9),
        Optimal(1e-3),
    ):
        for k in range(6):
            assert learning_rate(schedule.code, *schedule.numbers, float(k)) == pytest.approx(schedule(k))


def test_stable_rate_of_the_courses():
    limit, best = stable_learning_rate([[1, 0], [1, 1], [1, 2]])
    assert limit == pytest.approx(0.8377223398, abs=1e-10)
    assert best == pytest.approx(0.75, abs=1e-12)


def test_gradient_check_finds_a_wrong_gradient():
    assert check_gradient(rosenbrock, [0.3, -0.7]) < 1e-7
    assert check_gradient(lambda w: (w @ w, w), [1.0, 2.0]) > 0.1


def test_batches_cover_the_rows():
    rng = np.random.default_rng(0)
    assert sorted(np.concatenate(list(batches(7, 3, rng))).tolist()) == list(range(7))
    assert len(np.concatenate(list(batches(7, 3, rng, mode="random")))) == 7


def test_variance_of_a_batch_gradient_falls_with_its_size():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=500)
    means = [rows[next(batches(500, 25, rng, mode="random"))].mean() for _ in range(4000)]
    assert np.var(means) == pytest.approx(rows.var() / 25, rel=0.1)


def test_laplace_of_a_gaussian_is_exact():
    S = np.array([[2.0, 0.3], [0.3, 1.0]])
    P = np.linalg.inv(S)
    m = np.array([1.0, -2.0])
    found = laplace_approximation(lambda w: (-0.5 * (w - m) @ P @ (w - m), -P @ (w - m), -P), [0.0, 0.0])
    np.testing.assert_allclose(found.mean, m, atol=1e-9)
    np.testing.assert_allclose(found.covariance, S, atol=1e-9)
    assert found.log_evidence == pytest.approx(np.log(2 * np.pi) + 0.5 * np.log(np.linalg.det(S)))


def test_a_plateau_lowers_the_rate():
    from gnomon.solvers import ReduceOnPlateau

    schedule = ReduceOnPlateau(1.0, factor=0.5, patience=2)
    assert [schedule.watch(1.0) for _ in range(7)] == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25]
    assert schedule(0) == 0.25
