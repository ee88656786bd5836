"""Coordinate descent in Gram form, piece by piece: gaps, designs, extrapolation and exact steps, by slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse

from gnomon.linear import ElasticNet
from gnomon.solvers import coordinate, correlations, working_sets
from gnomon.solvers.coordinate import (
    Design,
    Penalized,
    anderson,
    dual_check,
    extrapolated_sweeps,
    gap_below,
    is_ridge,
    newton_on_signs,
    solve_gram,
    take_step,
)
from gnomon.solvers.correlations import Correlations
from gnomon.solvers.working_sets import MomentEngine, WorkingSetEngine

RNG = np.random.default_rng(0)
A = RNG.normal(size=(30, 6)) + [0, 1, 2, 0, 0, -3]
Y = A @ [1.0, -2.0, 0, 0, 0.5, 0] + RNG.normal(size=30)
WEIGHT = RNG.uniform(0.5, 2.0, 30)


def lasso_objective(A, y, w, t, mu):
    return 0.5 * np.sum((y - A @ w) ** 2) + np.sum(t * np.abs(w)) + 0.5 * mu * w @ w


def slow(A, y, t, mu, positive=False, sweeps=5000):
    """Coordinate descent as in a textbook."""
    w = np.zeros(A.shape[1])
    for _ in range(sweeps):
        for j in range(len(w)):
            rest = y - A @ w + A[:, j] * w[j]
            z = A[:, j] @ rest
            size = max((z if positive else abs(z)) - t, 0.0)
            w[j] = np.sign(z) * size / (A[:, j] @ A[:, j] + mu)
    return w


# the certificate


def check_of(A, y, w, pen):
    r = y - A @ w
    return dual_check(float(r @ r), float(y @ r), float(y @ y), w, A.T @ r, pen)


def test_gaps_of_one_feature_by_hand():
    one, two = np.array([[1.0]]), np.array([2.0])
    # ½(2 − w)² + |w| is least at w = 1, where it is 3/2
    found = check_of(one, two, np.array([1.0]), Penalized(1.0, 0.0))
    assert found.primal == 1.5 and found.gap == pytest.approx(0, abs=1e-15) and found.scale == 1.0
    # at w = 0: the residual 2 is scaled to ½ of it; the dual is ½·4 − ½·¼·4 = 3/2, the primal 2
    found = check_of(one, two, np.array([0.0]), Penalized(1.0, 0.0))
    assert (found.primal, found.gap, found.scale) == (2.0, 0.5, 0.5)
    # at w = 4 the residual is −2 and its product with y negative: zero is the best multiple
    found = check_of(one, two, np.array([4.0]), Penalized(1.0, 0.0))
    assert (found.primal, found.gap, found.scale) == (6.0, 6.0, 0.0)
    # a slope below the threshold leaves the best multiple free: w = 0 is the answer for t = 3
    found = check_of(one, two, np.array([0.0]), Penalized(3.0, 0.0))
    assert (found.primal, found.gap, found.scale) == (2.0, 0.0, 1.0)
    # with a ridge of one: ½·1 + 1 + ½ at w = 1; the slope is 1 − 1 = 0; best = 2·1/(1 + 1)
    found = check_of(one, two, np.array([1.0]), Penalized(1.0, 1.0))
    assert (found.primal, found.scale) == (2.0, 1.0) and found.gap == pytest.approx(2.0 - (2 - 1))
    # a negative slope is no matter where coefficients must be positive
    found = check_of(one, -two, np.array([0.0]), Penalized(1.0, 0.0, True))
    assert (found.primal, found.gap, found.scale) == (2.0, 0.0, 1.0)
    nothing = check_of(one, 0 * two, np.array([0.0]), Penalized(1.0, 0.0))
    assert nothing[:2] == (0.0, 0.0)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_the_dual_value_is_that_of_the_scaled_residual(mu, positive):
    rng = np.random.default_rng(1)
    for _ in range(20):
        w = rng.normal(size=6) * (rng.random(6) < 0.5)
        w = np.abs(w) if positive else w
        t = rng.uniform(0.5, 30)
        found = check_of(A, Y, w, Penalized(t, mu, positive))
        Z, target = np.vstack([A, np.sqrt(mu) * np.eye(6)]), np.r_[Y, np.zeros(6)]
        r = target - Z @ w
        slopes = Z.T @ r
        top = slopes.max() if positive else np.abs(slopes).max()
        scale = np.clip(target @ r / (r @ r), 0, min(1.0, t / max(top, 1e-300)))
        theta = scale * r
        primal = lasso_objective(A, Y, w, t, mu)
        assert found.primal == pytest.approx(primal) and found.scale == pytest.approx(scale)
        dual = 0.5 * target @ target - 0.5 * np.sum((target - theta) ** 2)
        assert found.gap == pytest.approx(primal - dual, abs=1e-9)
        best = lasso_objective(A, Y, slow(A, Y, t, mu, positive, 300), t, mu)
        assert dual <= best + 1e-9 <= primal + 2e-9


def test_without_a_threshold_the_slope_bounds_the_gap():
    w = np.array([1.0, 0, -1, 0.5, 0, 2])
    slope = A.T @ (Y - A @ w)
    ridge = check_of(A, Y, w, Penalized(0.0, 2.0))
    assert ridge.primal == pytest.approx(lasso_objective(A, Y, w, 0, 2.0)) and ridge.scale == 1.0
    assert ridge.gap == pytest.approx(np.sum((slope - 2.0 * w) ** 2) / 4.0)
    plain = check_of(A, Y, w, Penalized(0.0, 0.0))
    assert plain.gap == pytest.approx(np.abs(slope).max() * (1.0 + 4.5))
    w = np.abs(w)
    slope = A.T @ (Y - A @ w) - 2.0 * w
    held = np.where(w > 0, slope, np.maximum(slope, 0))  # what pulls below zero is held there
    assert check_of(A, Y, w, Penalized(0.0, 2.0, True)).gap == pytest.approx(held @ held / 4.0)
    assert held @ held < slope @ slope


def test_a_gap_in_gram_form():
    G, q, yy, pen = A.T @ A, A.T @ Y, float(Y @ Y), Penalized(3.0, 0.5)
    w = np.array([0.5, 0, -1, 0, 0, 0.1])
    gap = check_of(A, Y, w, pen).gap
    assert gap_below(q, yy, pen, gap * 1.001)(w, q - G @ w)
    assert not gap_below(q, yy, pen, gap * 0.999)(w, q - G @ w)


# one Gram matrix


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize(("t", "mu"), [(3.0, 0.0), (3.0, 2.0), (0.0, 2.0), (200.0, 0.0)])
@pytest.mark.parametrize("warm", [False, True])
def test_a_gram_matrix_is_solved_to_the_optimum(t, mu, positive, warm):
    G, q = A.T @ A, A.T @ Y
    w = np.full(6, 0.3) if warm else np.zeros(6)
    g, pen = q - G @ w, Penalized(t, mu, positive)
    sweeps = solve_gram(G, np.full(6, t), pen, w, g, gap_below(q, Y @ Y, pen, 1e-12 * (Y @ Y)), 1000)
    assert_allclose(w, slow(A, Y, t, mu, positive, 400), atol=1e-5)
    assert_allclose(g, q - G @ w, atol=1e-10)
    assert (sweeps == 0) == (t == 0.0 and not positive)  # with a ridge alone the first step is the answer


def test_thresholds_of_their_own():
    G, q, t = A.T @ A, A.T @ Y, np.array([0.0, 5, 10, 0, 1000, 2])
    w, g = np.zeros(6), q.copy()
    solve_gram(G, t, Penalized(5.0, 0.0), w, g, lambda w, g: False, 60)
    slope = q - G @ w
    assert_allclose(slope[w != 0], (t * np.sign(w))[w != 0], atol=1e-8)
    assert w[4] == 0 and (np.abs(slope) <= t + 1e-8).all()


def test_sweeps_that_move_nothing_end_it():
    G, q = np.diag([1.0, 4.0]), np.array([3.0, 8.0])
    w, g = np.zeros(2), q.copy()
    never = lambda w, g: False  # noqa: E731
    assert solve_gram(G, np.ones(2), Penalized(1.0, 0.0), w, g, never, 100, floor=1e-30) == 2
    assert_allclose(w, [2.0, 1.75])


def test_coefficients_are_positive_without_a_threshold_too():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 6)) + [0, 1, 2, 0, 0, -3], rng.normal(size=30)
        expected = optimize.nnls(np.vstack([X, np.sqrt(3.0) * np.eye(6)]), np.r_[y, np.zeros(6)])[0]
        model = ElasticNet(alpha=0.1, l1_ratio=0.0, positive=True, fit_intercept=False, tol=1e-12).fit(X, y)
        assert_allclose(model.coef_, expected, atol=1e-5)
        assert model.coef_.min() >= 0.0


@pytest.mark.parametrize(
    ("t", "pen", "expected"),
    [
        ([0.0, 0], Penalized(0, 1.0), True),
        ([0.0, 0], Penalized(0, 0.0), False),
        ([0.0, 0], Penalized(0, 1.0, True), False),
        ([0.0, 1], Penalized(0, 1.0), False),
    ],
)
def test_a_ridge_alone_is_one_linear_system(t, pen, expected):
    assert is_ridge(np.array(t), pen) is expected


def test_the_best_combination_of_iterates_of_a_line_is_its_end():
    M, b = np.array([[0.9, 0.05], [0.1, 0.7]]), np.array([1.0, 2.0])
    points = [np.zeros(2)]
    for _ in range(3):
        points.append(M @ points[-1] + b)
    mix = anderson(np.array(points))
    assert mix.sum() == pytest.approx(1.0)
    assert_allclose(mix @ points[1:], np.linalg.solve(np.eye(2) - M, b), rtol=1e-4)
    assert_allclose(anderson(np.ones((4, 2))), 1 / 3)  # nothing moves: all are as good
    assert anderson(np.array([[0.0], [np.inf], [1.0]])) is None


@pytest.mark.parametrize("positive", [False, True])
def test_extrapolation_keeps_slopes_and_never_rises(positive):
    rng = np.random.default_rng(2)
    jumped = 0
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(12, 6)) @ np.diag([3, 3, 3, 1, 1, 1]) + 2.0
        y, t, pen = rng.normal(size=12), np.full(6, 0.3), Penalized(0.3, 0.2, positive)
        G, q = X.T @ X, X.T @ y
        w = np.abs(rng.normal(size=6))
        g, twin = q - G @ w, w.copy()
        made, largest = extrapolated_sweeps(G, t, pen, w, g, 5)
        for _ in range(made):
            before = twin.copy()
            for j in range(6):
                z = q[j] - G[j] @ twin + G[j, j] * twin[j]
                size = max((z if positive else abs(z)) - 0.3, 0.0)
                twin[j] = np.sign(z) * size / (G[j, j] + 0.2)
        assert largest == pytest.approx(((twin - before) ** 2 * (np.diagonal(G) + 0.2)).max(), rel=1e-6)
        assert_allclose(g, q - G @ w, atol=1e-8)
        mine, theirs = (lasso_objective(X, y, v, 0.3, 0.2) for v in (w, twin))
        assert mine <= theirs + 1e-10 and (made == 5 or largest == 0.0)
        assert not positive or w.min() >= 0
        jumped += not np.allclose(w, twin)
    assert jumped > 5


def test_few_sweeps_are_not_extrapolated():
    G, q = A.T @ A, A.T @ Y
    w, g = np.zeros(6), q.copy()
    assert extrapolated_sweeps(G, np.ones(6), Penalized(1.0, 0.0), w, g, 2)[0] == 2
    at_rest, slopes = np.zeros(2), np.array([0.5, -0.5])
    assert extrapolated_sweeps(np.eye(2), np.ones(2), Penalized(1.0, 0.0), at_rest, slopes, 5) == (1, 0.0)


def test_the_optimum_of_given_signs_is_one_step_away():
    t, mu = np.full(6, 3.0), 0.5
    G, q, best = A.T @ A, A.T @ Y, slow(A, Y, 3.0, 0.5)
    w = best + 1e-3 * np.sign(best)
    g = q - G @ w
    assert newton_on_signs(G, t, Penalized(3.0, mu), w, g)
    assert_allclose(w, best, atol=1e-9)
    assert_allclose(g, q - G @ w, atol=1e-9)
    zero, slopes = np.zeros(6), q.copy()
    assert newton_on_signs(G, t, Penalized(3.0, mu), zero, slopes)
    assert not zero.any() and (slopes == q).all()
    wrong = np.array([[1.0, 2.0], [2.0, 1.0]])  # no Gram matrix: it has no Cholesky factor
    w, g = np.ones(2), np.ones(2)
    assert not newton_on_signs(wrong, np.zeros(2), Penalized(1.0, 0.0), w, g)
    assert w.tolist() == [1, 1]


def test_steps_that_do_not_lower_the_objective_are_not_made():
    w, g = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    S, t = np.arange(2), np.zeros(2)
    uphill = take_step(w, g, S, np.array([-1.0, 0.0]), t, 0.0, lambda delta: delta)
    assert uphill is False and w.tolist() == [1, 2] and g.tolist() == [1, 0]
    assert take_step(w, g, S, np.array([1.0, 0.0]), t, 0.0, lambda delta: delta) is True
    assert w.tolist() == [2, 2] and g.tolist() == [0, 0]
    # ½(w − 1)² per coordinate: a step of twice the way is as good as none, and is made
    w, g = np.array([0.0]), np.array([1.0])
    assert take_step(w, g, S[:1], np.array([2.0]), np.zeros(1), 0.0, lambda delta: delta) is True


def test_the_first_to_change_its_sign_stops_alone():
    # ½‖w‖² − q·w + |w₁| + |w₂| with a step that would carry both over zero
    G = np.array([[1.0, -0.99], [-0.99, 1.0]])
    w, step = np.array([1.0, 4.0]), np.array([-2.0, -5.0])
    q = G @ (w + step) + np.array([1.0, 1.0])
    g, S, t = q - G @ w, np.arange(2), np.ones(2)

    def value(v):
        return 0.5 * v @ G @ v - q @ v + np.abs(v).sum()

    before, both = value(w), value(np.zeros(2))
    whole = take_step(w, g, S, step, t, 0.0, G.__matmul__)
    assert value(w) <= before
    if both <= before:
        assert whole and not w.any()
    else:
        assert not whole and w[0] == 0.0 and w[1] == pytest.approx(4.0 - 0.5 * 5.0)
    assert_allclose(g, q - G @ w, atol=1e-12)


# designs and engines


def centered(X, y, weight, intercept):
    s = np.ones(len(y)) if weight is None else weight
    if intercept:
        X, y = X - s @ X / s.sum(), y - s @ y / s.sum()
    return np.sqrt(s)[:, None] * X, np.sqrt(s) * y


@pytest.mark.parametrize("piece", [2**19, 64])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_design_is_its_centered_rows(monkeypatch, intercept, weight, piece):
    monkeypatch.setattr(coordinate, "PIECE", piece)
    X = np.asfortranarray(np.hstack([A + 5 * k for k in range(30)]))
    design, (Z, target) = Design(X, Y, weight, intercept), centered(X, Y, weight, intercept)
    r, cols = RNG.normal(size=30), np.r_[np.arange(0, 180, 2), 5]
    assert design.n_features == 180 and design.intercept is intercept and design.has_columns()
    assert_allclose(design.y, target, atol=1e-12)
    assert design.yy == pytest.approx(target @ target)
    assert design.mass == pytest.approx(30 if weight is None else weight.sum())
    assert_allclose(design.correlate(r), Z.T @ r, atol=1e-8)
    assert_allclose(design.correlate_some(cols, r), Z[:, cols].T @ r, atol=1e-8)
    assert_allclose(design.columns(cols), Z[:, cols].T, atol=1e-10)
    assert (design.entries(), design.entries(cols)) == (30 * 180, 30 * 91)
    assert (design.lengths() >= np.linalg.norm(Z, axis=0) - 1e-9).all()
    s = np.ones(30) if weight is None else weight
    assert_allclose(design.lengths(), np.sqrt(s @ X**2), rtol=1e-12)
    assert not Design(np.ascontiguousarray(X), Y, None, False).has_columns()
    assert not Design(X.astype(np.float32, order="F"), Y, None, False).has_columns()


@pytest.mark.parametrize("anchors", [2, 3, 40])
def test_correlations_that_may_matter_are_the_present_ones(monkeypatch, anchors):
    monkeypatch.setattr(correlations, "ANCHORS", anchors)
    X = np.asfortranarray(RNG.normal(size=(30, 200)))
    known = Correlations(Design(X, Y, None, False), Y)
    assert_allclose(known.values, X.T @ Y)
    w, r = np.zeros(200), Y.copy()
    w[[3, 7]] = 1.0
    for k in range(8):
        r = r - 0.05 * X[:, 3 * k]
        index = np.array([k, k + 50])
        known.move(r, index, X[:, index].T @ r)
        truth, level = X.T @ r, np.quantile(np.abs(X.T @ r), 0.95)
        assert_allclose(known.values[index], truth[index])
        known.refresh(w, level)
        matters = (np.abs(truth) >= level) | (w != 0)
        assert_allclose(known.values[matters], truth[matters], atol=1e-10)
        assert (np.abs(known.values[~matters]) < level).all()


def test_correlations_go_on_from_a_snapshot():
    X = np.asfortranarray(RNG.normal(size=(30, 200)))
    design = Design(X, Y, None, False)
    known, w = Correlations(design, Y), np.zeros(200)
    for k in range(3):
        known.move(Y - 0.1 * k * X[:, k], np.array([k]), X[:, [k]].T @ (Y - 0.1 * k * X[:, k]))
    other = Correlations(design, 0 * Y)
    other.restore(known.snapshot())
    for one in (known, other):
        one.move(Y - 0.2 * X[:, 5], np.array([5]), X[:, [5]].T @ (Y - 0.2 * X[:, 5]))
        one.refresh(w, 8.0)
    np.testing.assert_array_equal(known.values, other.values)
    np.testing.assert_array_equal(known.stamp, other.stamp)


@pytest.mark.parametrize("pen", [Penalized(6.0, 0.0), Penalized(6.0, 2.0), Penalized(6.0, 0.5, True)])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_engines_end_at_the_optimum_of_the_twin(pen, weight):
    X = np.asfortranarray(np.hstack([A, RNG.normal(size=(30, 20))]))
    Z, target = centered(X, Y, weight, True)
    expected = slow(Z, target, *pen, sweeps=600)
    value, goal = lasso_objective(Z, target, expected, pen.t, pen.mu), 1e-10 * (target @ target)
    wide = WorkingSetEngine(Design(X, Y, weight, True))
    whole = MomentEngine(Z.T @ Z, Z.T @ target, target @ target)
    for engine in (wide, whole):
        for _ in range(40):
            check = engine.advance(pen, goal)
            if check.gap <= goal:
                break
        assert check.gap <= goal and engine.sweeps > 0
        assert check.primal == pytest.approx(value, rel=1e-9)
        assert_allclose(engine.w, expected, atol=1e-4)
        used = engine.w != 0
        assert_allclose(engine.corr[used], (Z.T @ (target - Z @ engine.w))[used], atol=1e-8)
    assert (wide.position[wide.index] == np.arange(len(wide.index))).all()
    m = len(wide.index)
    assert_allclose(wide.G[:m, :m], Z[:, wide.index].T @ Z[:, wide.index], atol=1e-9)
    assert_allclose(wide.q, Z[:, wide.index].T @ target, atol=1e-9)


def test_a_working_set_grows_by_the_steepest(monkeypatch):
    monkeypatch.setattr(working_sets, "ROOM", 5)
    X = np.asfortranarray(RNG.normal(size=(30, 50)))
    engine = WorkingSetEngine(Design(X, Y, None, False))
    slope = X.T @ Y
    pen = Penalized(0.01, 0.0)
    assert set(engine._invited(pen, 0.0)) == set(np.argsort(-np.abs(slope))[:5])
    assert set(engine._invited(Penalized(0.01, 0.0, True), 0.0)) == set(np.argsort(-slope)[:5])
    edge = np.sort(np.abs(slope))[-3]
    assert set(engine._invited(pen, edge)) == set(np.argsort(-np.abs(slope))[:3])
    engine.advance(pen, 1e-3, rounds=50)
    assert len(engine.index) == 5
    room = max(5, 2 * np.count_nonzero(engine.w))
    newcomers = engine._invited(pen, 0.0)
    assert len(newcomers) == room and not set(newcomers) & set(engine.index)


def test_accuracy_asked_for_rises_when_the_set_stays():
    X = np.asfortranarray(A)
    engine = WorkingSetEngine(Design(X, Y, None, False))
    assert engine._accuracy(1.0, True) == 0.5
    assert engine._accuracy(1.0, False) == pytest.approx(0.05)
    assert engine._accuracy(1.0, False) == pytest.approx(0.005)
    assert engine._accuracy(1.0, True) == 0.5
    assert engine._accuracy(0.01, False) == pytest.approx(0.005)
    engine.restart()
    assert engine._accuracy(3.0, False) == 1.5
    moments = MomentEngine(A.T @ A, A.T @ Y, Y @ Y)
    asked = []
    for _ in range(3):
        moments._ask(1.0)
        asked.append(moments.asked)
    assert_allclose(asked, [0.5, 0.05, 0.005])
    moments.restart()
    assert moments.asked is None


def test_moments_tell_of_every_sweep():
    G, q, yy = A.T @ A, A.T @ Y, float(Y @ Y)
    for pen in (Penalized(6.0, 0.5), Penalized(0.0, 0.5)):
        engine, told = MomentEngine(G, q, yy), []
        for _ in range(200):
            some, check = engine.steps(pen, 1e-10 * yy, 3)
            told += some
            assert 1 <= len(some) <= 4
            if engine.turn is None and check.gap <= 1e-10 * yy:
                break
        assert check.primal == pytest.approx(lasso_objective(A, Y, engine.w, *pen[:2]))
        assert told[-1] == (check.primal, check.gap)
        assert (engine.sweeps > 0) == (pen.t > 0)
        values = [value for value, _ in told]
        assert (np.diff(values) <= 1e-9 * values[0]).all()
        assert_allclose(engine.w, slow(A, Y, *pen[:2], sweeps=600), atol=1e-5)


def test_an_engine_goes_on_from_a_snapshot():
    X = np.asfortranarray(np.hstack([A, RNG.normal(size=(30, 20))]))
    pen, design = Penalized(2.0, 0.1), Design(X, Y, None, True)
    for make in (
        lambda: WorkingSetEngine(design),
        lambda: MomentEngine(X.T @ X, X.T @ Y, Y @ Y),
    ):
        one, other = make(), make()
        one.advance(Penalized(20.0, 0.1), 1e-2)
        one.advance(pen, 1e-2)
        other.restore(one.snapshot())
        assert one.advance(pen, 1e-9) == other.advance(pen, 1e-9)
        np.testing.assert_array_equal(one.w, other.w)
        assert one.sweeps == other.sweeps and one.asked == other.asked


def test_sparse_rows_are_a_design_too():
    X = sparse.csr_array(np.where(RNG.random((30, 6)) < 0.5, A, 0.0))
    design, Z = Design(X, Y, WEIGHT, True), centered(X.toarray(), Y, WEIGHT, True)[0]
    assert_allclose(design.correlate(Y), Z.T @ Y, atol=1e-10)
