"""Losses and penalties: loop and object agree, gradients and conjugates are right, bounds hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gnomon import losses as L  # noqa: N812
from gnomon.loops.losses import fill_losses

MARGIN = [
    L.ZeroOne(),
    L.Perceptron(),
    L.Hinge(),
    L.Hinge(kink="inactive"),
    L.SquaredHinge(),
    L.ModifiedHuber(),
    L.Logistic(),
    L.Logistic(base=2.0),
    L.Exponential(),
    L.SquaredMargin(),
    L.SigmoidSquared(),
]
RESIDUAL = [
    L.SquaredError(),
    L.Absolute(),
    L.Huber(1.35),
    L.EpsilonInsensitive(0.3),
    L.SquaredEpsilonInsensitive(0.3),
    L.Pinball(0.8),
    L.StudentT(2.0, 0.7),
]
COUNTS = [L.Poisson(), L.Gamma()]
EVERY = [*MARGIN, *RESIDUAL, *COUNTS]


def targets(loss, n, rng):
    if loss in MARGIN:
        return rng.choice([-1.0, 1.0], size=n)
    return (
        rng.poisson(3, size=n) + (1.0 if isinstance(loss, L.Gamma) else 0.0)
        if loss in COUNTS
        else rng.normal(size=n)
    )


@pytest.mark.parametrize("loss", EVERY, ids=repr)
def test_loop_and_object_agree(loss):
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(size=200) * 2, [0.0, 1.0, -1.0, 30.0, -30.0]])
    y = targets(loss, len(z), rng)
    value, slope, bend = np.empty((3, len(z)))
    fill_losses(loss.code, *loss.parameters, y, z, value, slope, bend)
    np.testing.assert_allclose(value, loss.value(y, z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(slope, loss.gradient(y, z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(bend, loss.curvature(y, z), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("loss", EVERY, ids=repr)
def test_derivatives_match_finite_differences(loss):
    rng = np.random.default_rng(1)
    z, h = rng.normal(size=300) * 1.5, 1e-6
    y = targets(loss, 300, rng)
    u = y * z if loss in MARGIN else y - z
    smooth = np.all([np.abs(u - k) > 1e-3 for k in (*loss.kink, 1.0, -1.0, 1.35, -1.35, 0.3, -0.3)], axis=0)
    y, z = y[smooth], z[smooth]
    numeric = (loss.value(y, z + h) - loss.value(y, z - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, z), numeric, atol=2e-5 * (1 + np.abs(numeric).max()))
    numeric = (loss.gradient(y, z + h) - loss.gradient(y, z - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, z), numeric, atol=2e-4 * (1 + np.abs(numeric).max()))
    if np.isfinite(loss.lipschitz):
        assert np.abs(loss.curvature(y, z)).max() <= loss.lipschitz * (1 + 1e-9)


@pytest.mark.parametrize("loss", [one for one in EVERY if one.is_convex], ids=repr)
def test_conjugate_is_the_supremum(loss):
    rng = np.random.default_rng(2)
    for y in targets(loss, 5, rng):
        for z0 in rng.normal(size=4):
            a = float(loss.gradient(y, z0))
            top = -minimize_scalar(
                lambda z, y=y, a=a: float(loss.value(y, z)) - a * z,
                bounds=(-60, 60),
                method="bounded",
                options={"xatol": 1e-10},
            ).fun
            assert float(loss.conjugate(y, a)) == pytest.approx(top, abs=1e-4)
            other = float(rng.normal())
            assert (
                float(loss.conjugate(y, a)) + float(loss.value(y, other)) >= a * other - 1e-9
            )  # Fenchel–Young


def test_numbers_of_the_courses():
    m = np.array([-2, -1, 0, 0.5, 1, 2])
    np.testing.assert_allclose(
        L.Logistic().value(1, m),
        [2.1269280110, 1.3132616875, 0.6931471806, 0.4740769842, 0.3132616875, 0.1269280110],
        atol=1e-10,
    )
    np.testing.assert_allclose(
        L.SigmoidSquared().value(1, m),
        [0.3879017463, 0.2672233227, 0.125, 0.0712684783, 0.0361647441, 0.0071046683],
        atol=1e-10,
    )
    np.testing.assert_allclose(L.ModifiedHuber().value(1, m), [8, 4, 1, 0.25, 0, 0])
    np.testing.assert_allclose(L.SquaredError().value(1, [10, 0]), [40.5, 0.5])
    assert L.SigmoidSquared().gradient(1, [-10.0])[0] == pytest.approx(-4.539374686e-5, rel=1e-9)
    assert L.Logistic().gradient(1, [-10.0])[0] == pytest.approx(-0.9999546021, abs=1e-10)


def test_score_losses_of_the_courses():
    scores, y = [[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]], [0, 1, 2]
    np.testing.assert_allclose(L.MulticlassHinge().value(y, scores), [2.9, 0, 12.9])
    assert L.MulticlassHinge().value(y, scores).mean() == pytest.approx(5.2666666667)
    np.testing.assert_allclose(L.MulticlassHinge("crammer_singer").value(y, scores), [2.9, 0, 6.6])
    soft = L.SoftmaxCrossEntropy()
    np.testing.assert_allclose(soft.value(y, scores), [2.0403551528, 0.0791317783, 6.1564772017], atol=1e-10)
    p = soft.gradient([0], scores[:1])[0] + [1, 0, 0]
    np.testing.assert_allclose(p, [0.1299825390, 0.8690495352, 0.0009679258], atol=1e-10)
    rows = [[10.0, -2, 3], [10, 9, 9], [10, -100, -100], [10, 9.1, 9]]
    np.testing.assert_allclose(L.MulticlassHinge().value([0] * 4, rows), [0, 0, 0, 0.1], atol=1e-12)
    found = soft.value([0] * 4, rows)
    np.testing.assert_allclose(found, [9.176050496e-4, 0.5514447139, 0, 0.5734900091], atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(st.floats(-30, 30))
def test_surrogates_lie_above_zero_one(m):
    step = float(L.ZeroOne().value(1, m))
    for loss in (L.Hinge(), L.SquaredHinge(), L.Exponential(), L.Logistic(base=2.0)):
        assert float(loss.value(1, m)) >= step * (1 - 1e-15)
    assert float(L.Perceptron().value(1, m)) <= float(L.Hinge().value(1, m))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-20, 20), min_size=3, max_size=3), st.integers(0, 2), st.floats(-50, 50))
def test_score_losses_have_their_order_and_invariance(z, y, c):
    row = np.array([z])
    ww, cs = (L.MulticlassHinge(kind).value([y], row)[0] for kind in L.MulticlassHinge.KINDS)
    assert ww >= cs >= 0
    soft = L.SoftmaxCrossEntropy()
    assert soft.value([y], row + c)[0] == pytest.approx(soft.value([y], row)[0], abs=1e-9)
    assert soft.gradient([y], row).sum() == pytest.approx(0, abs=1e-12)
    numeric = [
        (soft.value([y], row + 1e-6 * e)[0] - soft.value([y], row - 1e-6 * e)[0]) / 2e-6 for e in np.eye(3)
    ]
    np.testing.assert_allclose(soft.gradient([y], row)[0], numeric, atol=1e-7)


def test_wrong_labels_are_named():
    with pytest.raises(ValueError, match="encode_labels"):
        L.Hinge().value([0, 1], [0.1, 0.2])


PENALTIES = [
    L.L2(0.7),
    L.L1(0.7),
    L.ElasticNet(0.7, l1_ratio=0.4),
    L.Lp(0.7, p=1.5),
    L.Lp(0.7, p=4),
    L.Lp(0.7, p=0.5),
    L.Lp(0.7, p=0),
    L.Lp(0.7, p=np.inf),
    L.GroupL2(0.7, [0, 0, 1]),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: f"{type(p).__name__}{getattr(p, 'p', '')}")
def test_proximal_step_is_a_minimizer(penalty):
    rng = np.random.default_rng(0)
    for _ in range(10):
        z = rng.normal(size=3) * 2
        w = penalty.prox(z, 0.6)

        def cost(v, z=z):
            return 0.5 * np.sum((v - z) ** 2) + 0.6 * penalty.value(v)

        best = cost(w)
        for size in (1e-3, 0.1, 1.0):
            assert all(cost(w + size * rng.normal(size=3)) >= best - 1e-12 for _ in range(30))
        assert all(cost(np.where(np.arange(3) == j, 0.0, w)) >= best - 1e-12 for j in range(3))


@pytest.mark.parametrize("penalty", PENALTIES[:3] + PENALTIES[-1:], ids=lambda p: type(p).__name__)
def test_penalty_conjugate(penalty):
    rng = np.random.default_rng(0)
    g = 0.4 * rng.uniform(-1, 1, size=3)
    for _ in range(50):
        w = rng.normal(size=3)
        assert penalty.value(w) + penalty.conjugate(g) >= g @ w - 1e-12


@pytest.mark.parametrize("penalty", PENALTIES[:3] + PENALTIES[-1:], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("step", [0.3, 1.0])
def test_conjugates_are_reached_at_slopes(penalty, step):
    """What a proximal step moves, over its size, is a slope g at the point w it ends at: f(w) + f*(g) = g·w."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        z = 3 * rng.normal(size=3)
        w = penalty.prox(z, step)
        g = (z - w) / step
        assert penalty.value(w) + penalty.conjugate(g) == pytest.approx(g @ w, abs=1e-12)


def test_conjugates_are_infinite_where_no_slope_is():
    for penalty in (L.L1(0.7), L.ElasticNet(0.7, l1_ratio=1.0), L.GroupL2(0.7, [0, 0, 1])):
        assert penalty.conjugate(np.array([0.0, -0.7, 0.7])) == 0.0
        assert penalty.conjugate(np.array([0.0, 0.71, 0.0])) == np.inf
    assert L.GroupL2(0.7, [0, 0, 1]).conjugate(np.array([0.6, 0.6, 0.0])) == np.inf  # no slope as a pair
    assert L.L2(0.0).conjugate(np.zeros(3)) == 0.0 and L.L2(0.0).conjugate(np.eye(3)[0]) == np.inf


def test_groups_are_rows_of_a_matrix_or_named():
    W = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    rows, named = L.GroupL2(2.0), L.GroupL2(2.0, [0, 0, 1, 1, 2, 2])
    assert rows.value(W) == pytest.approx(11.0) == pytest.approx(named.value(W.ravel()))
    assert rows.dual_norm(W) == 5.0 == named.dual_norm(W.ravel())
    np.testing.assert_allclose(rows.prox(W, 0.1).ravel(), named.prox(W.ravel(), 0.1))


def test_scalar_prox_of_the_courses():
    for p, w, value in (
        (1, 1.5, 1.75),
        (2, 1, 2),
        (0.5, 1.8144020186, 1.3814440192),
        (1.5, ((34.25**0.5 - 1.5) / 4) ** 2, 1.9541872808),
        (4, 0.8351223485, 1.8433476230),  # the root of 2w³ + w = 2
    ):
        found = L.Lp(0.5, p=p).prox([2.0])[0]  # min (2-w)² + |w|^p is min ½(w-2)² + ½|w|^p
        assert found == pytest.approx(w, abs=1e-9)
        assert (2 - found) ** 2 + abs(found) ** p == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(L.Lp(1.0, p=np.inf).prox([3.0, -1.0, 2.5]), [2.25, -1, 2.25])


def test_lp_norms_of_the_courses():
    expected = {1: 7, 2: 5, 4: 4.2845722950, 0.5: 13.9282032303, np.inf: 4, 0: 2}
    for p, value in expected.items():
        assert L.lp_norm([3, -4, 0], p) == pytest.approx(value, abs=1e-9)
    with pytest.raises(ValueError, match="p must be"):
        L.lp_norm([1.0], -1)
    for p in (0, 0.5, 2, np.inf):
        assert L.lp_norm([0.0, 0.0], p) == 0.0


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75, 1.25, 3.0])
def test_scalar_prox_is_the_best_of_a_grid(p):
    grid = np.linspace(0.0, 3.0, 30_001)
    for t in (0.05, 0.3, 0.6, 1.2):
        for a in (0.2, 0.55, 0.9, 1.3, 2.9):
            found = float(L.Lp(1.0, p=p).prox([-a], t)[0])
            assert found <= 0.0
            worth = 0.5 * (-found - a) ** 2 + t * (-found) ** p
            best = 0.5 * (grid - a) ** 2 + t * grid**p
            assert worth <= best.min() + 1e-12
            assert -found == pytest.approx(grid[best.argmin()], abs=1e-4)
    assert L.Lp(1.0, p=p).prox([0.0], 2.0)[0] == 0.0


E, LN3 = np.e, np.log(3.0)
ENDS = [  # loss, target, least slope, its conjugate, largest slope, its conjugate
    (L.Perceptron(), 1, -1, 0, 0, 0),
    (L.Hinge(), 1, -1, -1, 0, 0),
    (L.SquaredHinge(), 1, None, None, 0, 0),
    (L.ModifiedHuber(), 1, -4, 0, 0, 0),
    (L.Logistic(), 1, -1, 0, 0, 0),
    (L.Logistic(base=E**2), 1, -0.5, 0, 0, 0),
    (L.Exponential(), 1, None, None, 0, 0),
    (L.Absolute(), 0, -1, 0, 1, 0),
    (L.Huber(2.0), 0, -2, 2, 2, 2),
    (L.EpsilonInsensitive(0.3), 0, -1, 0.3, 1, 0.3),
    (L.Pinball(0.75), 0, -0.75, 0, 0.25, 0),
    (L.Poisson(), 3, -3, 3 - 3 * LN3, None, None),
    (L.Gamma(), 3, None, None, 1, LN3 + 1),
]


@pytest.mark.parametrize(("loss", "y", "low", "at_low", "high", "at_high"), ENDS, ids=lambda v: repr(v)[:20])
def test_conjugates_end_where_slopes_end(loss, y, low, at_low, high, at_high):
    """The ends still belong to the domain, with the limit of a z - loss; beyond them the conjugate is infinite."""
    for end, value, out in ((low, at_low, -1e-6), (high, at_high, 1e-6)):
        if end is not None:
            assert float(loss.conjugate(y, end)) == pytest.approx(value, abs=1e-12)
            assert float(loss.conjugate(y, end + out)) == np.inf
            assert np.isfinite(loss.conjugate(y, end - out))


@pytest.mark.parametrize("loss", [one for one in EVERY if np.isfinite(one.lipschitz)], ids=repr)
def test_lipschitz_is_the_least_bound_of_the_curvature(loss):
    bends = np.abs(loss.curvature(np.ones(200_001), np.linspace(-10.0, 12.0, 200_001)))
    assert bends.max() == pytest.approx(loss.lipschitz, rel=1e-4)


def test_the_log_losses_of_counts_are_zero_at_their_best_score_and_know_zero_counts():
    for loss in COUNTS:
        y = np.array([1.0, 2.0, 7.0])
        np.testing.assert_allclose(loss.value(y, np.log(y)), 0.0, atol=1e-14)
    np.testing.assert_allclose(L.Poisson().value([0.0], [0.5]), np.exp(0.5))
    assert float(L.Poisson().conjugate(0.0, 1.0)) == pytest.approx(-1.0)  # sup z - e^z at z = 0


@pytest.mark.parametrize("kind", L.MulticlassHinge.KINDS)
def test_slopes_of_the_multiclass_hinge_are_those_of_its_value(kind):
    rng = np.random.default_rng(0)
    for margin in (1.0, 2.5):
        loss, y = L.MulticlassHinge(kind, margin=margin), rng.integers(0, 4, size=30)
        scores = 2 * rng.normal(size=(30, 4))
        gradient = loss.gradient(y, scores)
        for k in range(4):
            side = 1e-6 * np.eye(4)[k]
            numeric = (loss.value(y, scores + side) - loss.value(y, scores - side)) / 2e-6
            np.testing.assert_allclose(gradient[:, k], numeric, atol=1e-6)
    at_margin = np.array([[1.0, 0.0, -1.0]])
    assert not L.MulticlassHinge(kind).gradient([0], at_margin).any()
    np.testing.assert_array_equal(L.MulticlassHinge(kind).gradient([0], [[1.0, 0.5, -1.0]]), [[-1, 1, 0]])


def test_parameters_outside_their_range_are_refused():
    for make in (
        lambda: L.Huber(0.0),
        lambda: L.StudentT(df=0.0),
        lambda: L.StudentT(scale=-1.0),
        lambda: L.EpsilonInsensitive(-0.1),
        lambda: L.SquaredEpsilonInsensitive(-0.1),
        lambda: L.Pinball(0.0),
        lambda: L.Pinball(1.0),
        lambda: L.Hinge(kink="activ"),
        lambda: L.MulticlassHinge("weston"),
        lambda: L.Lp(1.0, p=-0.5),
        lambda: L.Lp(1.0, p=np.nan),
        lambda: L.lp_norm([1.0], np.nan),
    ):
        with pytest.raises(ValueError, match="must be"):
            make()
    assert L.EpsilonInsensitive(0.0).value(0.0, [-2.0]) == 2.0


def test_what_is_not_convex_says_that_it_has_no_conjugate():
    for one, arguments in ((L.SigmoidSquared(), (1, 0.0)), (L.StudentT(), (0.0, 0.0)), (L.Lp(p=0.5), (0.0,))):
        assert not one.is_convex
        with pytest.raises(NotImplementedError, match=f"{type(one).__name__} has no conjugate"):
            one.conjugate(*arguments)
    assert L.Lp(p=1).is_convex and L.Lp(p=np.inf).is_convex and not L.Lp(p=0).is_convex


def test_losses_name_the_parameters_that_make_them():
    assert repr(L.Huber(1.5)).startswith("Huber(delta=1.5")
    assert repr(L.Pinball(0.25)).startswith("Pinball(tau=0.25")
    assert L.Hinge().kink == (1.0,) and L.Absolute().kink == (0.0,)
    assert L.EpsilonInsensitive(0.3).kink == (-0.3, 0.3) and L.SquaredEpsilonInsensitive(0.3).is_smooth


def test_the_ball_of_the_largest_magnitude_takes_all_within_it():
    """The proximal step of t max|w| is what is left beyond the nearest point with sum |u| <= t."""
    penalty = L.Lp(1.0, p=np.inf)
    np.testing.assert_array_equal(penalty.prox([0.5, -0.25, 0.25], 1.0), np.zeros(3))
    np.testing.assert_array_equal(penalty.prox([3.0, -1.0], 0.0), [3.0, -1.0])
    np.testing.assert_allclose(penalty.prox([3.0, -3.0, 1.0], 2.0), [2.0, -2.0, 1.0])


def test_a_group_without_size_stays_at_zero():
    rows = L.GroupL2(1.0)
    np.testing.assert_array_equal(rows.prox([[0.0, 0.0], [3.0, 4.0]], 5.0), np.zeros((2, 2)))
    np.testing.assert_array_equal(rows.prox([[0.0, 0.0], [3.0, 4.0]], 0.0), [[0.0, 0.0], [3.0, 4.0]])


def test_below_one_a_tie_gives_zero():
    assert L.Lp(1.0, p=0).prox([2.0, -2.0, 2.1], 2.0).tolist() == [0.0, 0.0, 2.1]
    assert L.Lp(2.0, p=2).prox([5.0]).tolist() == [1.0]
