"""Steps, schedules and approximations against the numbers of the courses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DataError, DegenerateError, DivergenceError
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
from gnomon.solvers.descent import METHODS, DescentState, Options, two_loops


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


def test_two_loops_is_the_explicit_inverse():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    S, g = rng.normal(size=(4, 6)), rng.normal(size=6)
    H = np.eye(6) * (S[-1] @ A @ S[-1]) / np.sum((A @ S[-1]) ** 2)
    for s in S:  # the BFGS update, written out
        V = np.eye(6) - np.outer(A @ s, s) / (s @ A @ s)
        H = V.T @ H @ V + np.outer(s, s) / (s @ A @ s)
    np.testing.assert_allclose(two_loops(g, S, S @ A), H @ g, rtol=1e-9)
    np.testing.assert_array_equal(two_loops(g, S[:0], S[:0]), g)


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


# every method against its formula


def test_adam_is_its_formula():
    for eps, used in ((0.0, 1e-8), (0.5, 0.5)):
        x, m, v = np.array([1.0, -2.0]), 0.0, 0.0
        expected = []
        for k in range(1, 5):
            g = bowl(x)[1]
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            x = x - 0.3 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + used)
            expected.append(x)
        found = minimize(bowl, [1.0, -2.0], method="adam", learning_rate=0.3, max_iter=4, tol=0.0, eps=eps)
        np.testing.assert_allclose(found.path[1:], expected, atol=1e-12)


@pytest.mark.parametrize("method", ["gd", "momentum", "nesterov", "adagrad", "adam"])
def test_the_rate_of_a_step_is_that_of_its_number(method):
    seen = []

    class Told(Constant):
        def __call__(self, k):
            seen.append(k)
            return super().__call__(k)

    minimize(bowl, [1.0, 1.0], method=method, learning_rate=Told(0.01), max_iter=4, tol=0.0)
    assert seen == [0, 1, 2, 3]


def test_a_small_number_keeps_adagrad_from_dividing_by_nothing():
    found = minimize(bowl, [1.0, 1.0], method="adagrad", learning_rate=0.5, max_iter=1, eps=1.0)
    np.testing.assert_allclose(found.x, 1.0 - 0.5 * np.array([1 / 2, 10 / 11]))


def test_newton_where_the_curvature_is_no_bowl():
    def hill(w):
        return np.cos(w[0]), np.array([-np.sin(w[0])]), np.array([[-np.cos(w[0])]])

    found = minimize(hill, [0.1], method="newton", max_iter=1)
    assert found.x[0] == pytest.approx(0.1 + np.tan(0.1))  # downhill, by the size of the curvature

    def trough(w):
        return w[0] ** 2 + w[1], np.array([2 * w[0], 1.0]), np.diag([2.0, 0.0])

    found = minimize(trough, [3.0, 1.0], method="newton", max_iter=1)
    np.testing.assert_allclose(found.x, [0.0, 1.0 - 1.0 / 2e-8])  # no less than 1e-8 of the largest curvature


def test_newton_halves_steps_that_go_too_far():
    def bent(w):  # a step from w ends at −w³
        s = np.sqrt(1 + w @ w)
        return s, w / s, np.eye(1) / s**3

    path = minimize(bent, [2.0], method="newton", max_iter=2).path
    np.testing.assert_allclose(np.ravel(path), [2.0, -0.5, 0.125], atol=1e-12)
    hessian = minimize(
        lambda w: bent(w)[:2], [2.0], method="newton", max_iter=1, hessian=lambda w: bent(w)[2]
    )
    assert hessian.x[0] == pytest.approx(-0.5)


def test_newton_asks_for_a_share_of_what_the_slope_promises():
    # the value falls by 5e-5 of the step, which is too little for a slope of one, until the step is 2⁻³
    def stair(w):
        return -w[0] if w[0] < 0.2 else -5e-5 * w[0], np.array([-1.0]), np.eye(1)

    assert minimize(stair, [0.0], method="newton", max_iter=1).x[0] == 0.125
    # a rise by as much as rounding may make is none
    flat = minimize(
        lambda w: (1e6 + 5e-10 * (w[0] > 0), np.array([-1e-20]), np.eye(1)),
        [0.0],
        method="newton",
        max_iter=1,
        tol=0.0,
    )
    assert flat.x[0] == 1e-20


def test_newton_stays_where_the_slope_lies():
    found = minimize(lambda w: (w @ w, -2 * w, 2 * np.eye(1)), [1.0], method="newton", max_iter=3)
    assert found.x.tolist() == [1.0] and found.n_iter == 3 and not found.converged


def quadratic(A, b):
    return lambda w: (0.5 * w @ A @ w - b @ w, A @ w - b)


def test_pairs_of_lbfgs_are_the_last_moves():
    A, b = np.diag([1.0, 3.0, 9.0, 27.0]), np.ones(4)
    f, x = quadratic(A, b), np.array([3.0, -1.0, 2.0, 1.0])
    state, moves = DescentState(x, *f(x)), []
    for k in range(1, 5):
        new = METHODS["lbfgs"](f, state, Options(memory=2))
        moves.append(new.x - state.x)
        S, Y = new.memory
        np.testing.assert_array_equal(S, moves[-2:])
        np.testing.assert_allclose(Y, S @ A, atol=1e-9)
        assert new.k == k and new.value < state.value
        state = new


@pytest.mark.parametrize(("unit", "size"), [(False, 7.0), (True, 5.0)])
def test_the_first_trial_of_lbfgs_is_short(unit, size):
    seen = []

    def f(w):
        seen.append(w.copy())
        return 0.5 * w @ w, w

    minimize(f, [3.0, -4.0], method="lbfgs", max_iter=1, unit_start=unit)
    np.testing.assert_allclose(seen[1], np.array([3.0, -4.0]) * (1 - 1 / size))


def test_a_short_gradient_is_not_stretched():
    seen = []

    def f(w):
        seen.append(w.copy())
        return 0.5 * w @ w, w

    minimize(f, [0.3, -0.4], method="lbfgs", max_iter=1)
    np.testing.assert_allclose(seen[1], 0.0, atol=1e-15)  # the whole gradient, as long as 0.7


def soft(z, t):
    return np.sign(z) * np.maximum(np.abs(z) - t, 0.0)


def test_proximal_steps_by_hand():
    found = minimize(
        lambda w: (0.5 * w @ w, w), [2.0], method="proximal", penalty=L1(0.1), max_iter=3, tol=0.0
    )
    x, step, expected = 2.0, 1.0, []
    for _ in range(3):
        step *= 1.5
        while step > 1.0:  # the curvature is one: longer steps are not safe
            step *= 0.5
        x = soft(x - step * x, 0.1 * step)
        expected.append(x)
    np.testing.assert_allclose(np.ravel(found.path[1:]), expected, atol=1e-12)
    np.testing.assert_allclose(found.trace, [0.5 * x @ x + 0.1 * np.abs(x).sum() for x in found.path])


def test_momentum_of_fista_by_hand():
    A, b = np.diag([1.0, 0.05]), np.array([1.0, 1.0])
    found = minimize(quadratic(A, b), [0.0, 0.0], method="fista", penalty=L1(0.1), max_iter=4, tol=0.0)
    assert np.all(np.diff(found.trace) < 0)  # so momentum never began again
    x, ahead, t, step = np.zeros(2), np.zeros(2), 1.0, 1.0
    for k in range(4):
        step *= 1.5
        while True:
            new = soft(ahead - step * (A @ ahead - b), 0.1 * step)
            move = new - ahead
            if 0.5 * move @ A @ move <= move @ move / (2 * step) + 1e-14:
                break
            step *= 0.5
        later = (1 + np.sqrt(1 + 4 * t**2)) / 2
        ahead, x, t = new + (t - 1) / later * (new - x), new, later
        np.testing.assert_allclose(found.path[k + 1], x, atol=1e-10)


def test_momentum_begins_again_when_the_objective_rises():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 20))
    A = A.T @ A / 40 + 1e-3 * np.eye(20)
    b = rng.normal(size=20)
    found = minimize(
        quadratic(A, b), np.zeros(20), method="fista", penalty=L1(0.05), tol=1e-12, max_iter=3000
    )
    assert np.all(np.diff(found.trace) <= 1e-14)
    slope = A @ found.x - b
    used = found.x != 0
    np.testing.assert_allclose(slope[used], -0.05 * np.sign(found.x[used]), atol=1e-6)
    assert np.abs(slope[~used]).max(initial=0) <= 0.05 + 1e-6


def test_coordinates_one_after_the_other_or_in_blocks():
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0])
    one = minimize(quadratic(A, b), [4.0, 4.0], method="coordinate", max_iter=1)
    first = (1.0 - 4.0) / 2.0
    np.testing.assert_allclose(one.x, [first, (-1.0 - first) / 3.0], atol=1e-6)
    both = minimize(quadratic(A, b), [4.0, 4.0], method="coordinate", blocks=[[0, 1]], max_iter=1)
    np.testing.assert_allclose(both.x, np.linalg.solve(A, b), atol=1e-5)
    np.testing.assert_allclose(both.gradient, A @ both.x - b, atol=1e-12)
    assert one.n_iter == both.n_iter == 1


# where a descent ends


def test_slopes_as_small_as_the_tolerance_end_it():
    def half(w):
        return (0.5 * w @ w, w)

    at_once = minimize(half, [0.5, -0.25], method="gd", tol=0.5)
    assert at_once.n_iter == 0 and at_once.converged and len(at_once.path) == 1
    later = minimize(half, [0.5, -0.25], method="gd", tol=0.49, learning_rate=0.5)
    assert later.n_iter == 1 and later.converged
    never = minimize(half, [0.5], method="gd", tol=0.0, max_iter=2)
    assert never.n_iter == 2 and not never.converged and len(never.trace) == 3
    shrunk = minimize(
        lambda w: (0.5 * (w - 1) @ (w - 1), w - 1),
        [0.0],
        method="gd",
        decay=1.0,
        learning_rate=0.2,
        tol=1e-10,
    )
    assert shrunk.converged and shrunk.x[0] == pytest.approx(0.5, abs=1e-9)  # w − 1 + λw = 0
    near = minimize(half, [1.0], method="proximal", penalty=L1(0.0), tol=0.2, max_iter=50)
    assert near.converged and abs(near.path[-1][0] - near.path[-2][0]) <= 0.2
    assert abs(near.path[-2][0] - near.path[-3][0]) > 0.2
    moved = minimize(half, [0.0], method="proximal", penalty=L1(1.0), tol=0.0)
    assert moved.n_iter == 1 and moved.converged  # a move has to be seen


def test_divergence_is_a_hundred_million_times_the_start():
    def slide(w):
        return w[0], np.array([-1e7])

    for start in (0.0, 10.0):
        options = dict(method="gd", learning_rate=0.1)
        limit = 1e8 * max(1.0, start)
        steps = int(limit / 1e6 - start / 1e6)
        assert minimize(slide, [start], max_iter=steps, **options).value <= limit
        with pytest.raises(DivergenceError, match=f"from {start:.3g} to"):
            minimize(slide, [start], max_iter=steps + 1, **options)
    with pytest.raises(DivergenceError, match="from 1 to nan"):
        minimize(lambda w: (1.0 if w[0] == 1 else np.nan, np.ones(1)), [1.0], method="gd", max_iter=1)


def test_stable_rates_with_a_ridge():
    limit, best = stable_learning_rate([[1.0, 0.0], [0.0, 2.0]], alpha=0.5)  # curvatures ½ + ½ and 2 + ½
    assert limit == pytest.approx(2 / 2.5) and best == pytest.approx(2 / 3.5)


def test_ways_to_go_through_the_rows():
    def made(mode):
        return list(batches(7, 3, np.random.default_rng(0), mode=mode))

    assert [b.tolist() for b in made("given")] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [len(b) for b in made("shuffle")] == [len(b) for b in made("random")] == [3, 3, 1]
    assert np.concatenate(made("shuffle")).tolist() == np.random.default_rng(0).permutation(7).tolist()
    assert np.concatenate(made("random")).tolist() == np.random.default_rng(0).integers(7, size=7).tolist()
    with pytest.raises(ValueError, match="Did you mean 'shuffle'"):
        next(batches(7, 3, np.random.default_rng(0), mode="shufle"))


# gradients and modes


def test_a_wrong_gradient_is_measured_by_the_larger_one():
    def claims(told):
        return lambda w: (w @ w, np.array(told))  # the truth at (1, 2) is (2, 4)

    assert check_gradient(claims([2.0, 3.0]), [1.0, 2.0]) == pytest.approx(1 / 4, abs=1e-6)
    assert check_gradient(claims([2.0, 8.0]), [1.0, 2.0]) == pytest.approx(4 / 8, abs=1e-6)
    assert check_gradient(claims([-2.0, 4.0]), [1.0, 2.0]) == pytest.approx(4 / 4, abs=1e-6)
    assert check_gradient(lambda w: (0.0, np.zeros(2)), [1.0, 2.0]) == 0.0
    W = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert check_gradient(lambda W: (np.sum(W**3), 3 * W**2), W) < 1e-7
    with pytest.raises(DataError, match=r"returned shape \(2,\)"):
        check_gradient(lambda w: (w, w), [1.0, 2.0])
    with pytest.raises(DataError, match=r"shape \(1,\), and the point \(2,\)"):
        check_gradient(lambda w: (w @ w, w[:1]), [1.0, 2.0])


def test_differences_are_taken_near_the_point():
    seen = []

    def f(w):
        seen.append(w.copy())
        return w @ w, 2 * w

    check_gradient(f, [0.5, -8.0], eps=2.0**-10)
    h = 2.0**-10
    expected = [[0.5, -8], [0.5 + h, -8], [0.5 - h, -8], [0.5, -8 + 8 * h], [0.5, -8 - 8 * h]]
    np.testing.assert_array_equal(seen[:5], expected)


def test_a_kink_is_no_strong_bend_and_no_rounding():
    def kinked(w):
        return (np.abs(w[1] - 3.0) + w[0] ** 2, np.array([2 * w[0], 0.0]))

    assert check_gradient(kinked, [1.0, 3.0]) == np.inf
    assert check_gradient(lambda w: (1e6 * (w @ w), 2e6 * w), [0.0]) == 0.0
    assert np.isfinite(check_gradient(lambda w: (1e8 + 1e-3 * w[0], np.array([1e-3])), [0.3]))
    assert check_gradient(lambda w: (abs(w[0] - 100.0), np.ones(1)), [100.0]) == np.inf
    assert check_gradient(lambda w: (abs(w[0]), np.zeros(1)), [0.0]) == np.inf


@pytest.mark.parametrize("curvature", [0.0, -2.0])
def test_a_place_without_a_peak_has_no_gaussian(curvature):
    H = np.diag([2.0, curvature])
    with pytest.raises(DegenerateError, match="negative definite"):
        laplace_approximation(lambda w: (-0.5 * w @ H @ w, -H @ w, -H), [0.0, 0.0])


def test_laplace_of_one_parameter_that_is_no_gaussian():
    # w a − e^w b is highest at ln(a/b), where it bends by −a
    a, b = 3.0, 2.0
    found = laplace_approximation(
        lambda w: (a * w[0] - b * np.exp(w[0]), a - b * np.exp(w), -b * np.exp(w)[:, None]), [0.0]
    )
    assert found.mean[0] == pytest.approx(np.log(a / b))
    assert found.covariance[0, 0] == pytest.approx(1 / a)
    expected = a * np.log(a / b) - a + 0.5 * np.log(2 * np.pi) - 0.5 * np.log(a)
    assert found.log_evidence == pytest.approx(expected)
