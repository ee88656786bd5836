"""The losses of boosted trees are those of linear models: the same slopes, in the units that trees use."""

from types import SimpleNamespace

import numpy as np
import pytest

from gnomon import losses
from gnomon.core.errors import DataError
from gnomon.losses import boosting

Z = np.linspace(-2.0, 2.0, 9)
NUMBERS = np.array([0.5, 1.5, 2.0, -1.0, 0.0, 3.0, 0.25, 1.0, 2.5])
SIGNS = np.where(np.arange(9) % 2, 1.0, -1.0)


def slopes(loss, y, raw):
    g, h = np.empty((2, 1, len(y)))
    loss.derivatives(y, raw[None], np.ones(len(y)), g, h)
    return g[0], h[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "target", "same"),
    [
        (boosting.SquaredError(), losses.SquaredError(), NUMBERS, NUMBERS),
        (boosting.LogLoss(), losses.Logistic(), (SIGNS + 1.0) / 2.0, SIGNS),
        (boosting.Exponential(), losses.Exponential(), SIGNS, SIGNS),
        (boosting.Poisson(), losses.Poisson(), np.abs(NUMBERS), np.abs(NUMBERS)),
        (boosting.Gamma(), losses.Gamma(), np.abs(NUMBERS) + 1.0, np.abs(NUMBERS) + 1.0),
        (boosting.Quantile(0.3), losses.Pinball(0.3), NUMBERS, NUMBERS),
        (boosting.Quantile(0.5, 2.0), losses.Absolute(), NUMBERS, NUMBERS),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "derivatives") else "",
)
def test_slopes_are_those_of_linear_models(ours, theirs, target, same):
    g, h = slopes(ours, target, Z)
    expected = theirs.gradient(same, Z)
    ratio = g @ expected / (expected @ expected)  # halves and wholes of one loss
    assert ratio in (pytest.approx(1.0), pytest.approx(0.5))
    np.testing.assert_allclose(g, ratio * expected, rtol=1e-12, atol=1e-15)
    if theirs.is_smooth and not isinstance(ours, boosting.Gamma):
        np.testing.assert_allclose(h, ratio * theirs.curvature(same, Z), rtol=1e-12)


def test_huber_learns_its_kink_from_the_residuals():
    ours = boosting.Huber(0.75)
    g, _ = slopes(ours, NUMBERS, Z)
    np.testing.assert_allclose(g, losses.Huber(ours.delta).gradient(NUMBERS, Z), rtol=1e-12, atol=1e-15)


CLASSES = np.array([0.0, 2.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.5, 2.0, 0.25, 1.0])
EVERY = [
    (boosting.SquaredError(), NUMBERS),
    (boosting.LogLoss(), (SIGNS + 1.0) / 2.0),
    (boosting.SoftmaxLoss(3), CLASSES),
    (boosting.Exponential(), SIGNS),
    (boosting.Poisson(), np.abs(NUMBERS)),
    (boosting.Gamma(), np.abs(NUMBERS) + 1.0),
    (boosting.Quantile(0.3), NUMBERS),
    (boosting.Quantile(0.5, 2.0), NUMBERS),
    (boosting.Huber(0.75), NUMBERS),
]
every = pytest.mark.parametrize(("loss", "y"), EVERY, ids=lambda value: type(value).__name__)


@pytest.mark.parametrize(("loss", "y"), EVERY[:-1], ids=lambda value: type(value).__name__)
def test_a_start_is_the_best_constant(loss, y):
    """Not that of Huber's loss, whose kink depends on the residuals: it is their median."""
    start = loss.start(y, WEIGHTS)
    assert start.shape == (loss.n_raw,)

    def cost(constants):
        return loss.loss(y, np.repeat(constants[:, None], len(y), axis=1), WEIGHTS)

    for k in range(loss.n_raw):
        for size in (1e-3, -1e-3, 0.1, -0.1):
            assert cost(start + size * np.eye(loss.n_raw)[k]) >= cost(start)


@every
def test_slopes_and_curvatures_are_those_of_the_weighted_sum_and_tops_the_largest(loss, y):
    raw = 0.9 * np.random.default_rng(0).normal(size=(loss.n_raw, len(y)))
    g, h = np.empty((2, loss.n_raw, len(y)))
    whole = loss.loss(y, raw, WEIGHTS) * WEIGHTS.sum()
    told = loss.derivatives(y, raw, WEIGHTS, g, h)
    assert sum(part for part, _, _ in told) == pytest.approx(whole)
    for k in range(loss.n_raw):
        assert told[k][1:] == (np.abs(g[k]).max(), h[k].max()) and (h[k] >= 0).all()
        if isinstance(loss, boosting.Huber):
            continue  # its kink moves with the residuals
        for i in range(len(y)):
            moved = raw.copy()
            moved[k, i] += 1e-6
            rise = loss.loss(y, moved, WEIGHTS) * WEIGHTS.sum() - whole
            assert rise / 1e-6 == pytest.approx(g[k, i], abs=1e-4)
            if loss.newton:
                above, _ = sides = np.empty((2, loss.n_raw, len(y)))
                loss.derivatives(y, moved, WEIGHTS, *sides)
                assert (above[k, i] - g[k, i]) / 1e-6 == pytest.approx(h[k, i], abs=1e-4)


@pytest.mark.parametrize("q", [0.1, 0.3, 0.5, 0.6, 0.95])
def test_leaves_take_the_quantile_of_repeated_rows(q):
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 30):
        y, w = rng.normal(size=n), rng.integers(1, 5, size=n)
        want = np.quantile(np.repeat(y, w), q, method="median_unbiased" if q == 0.5 else "inverted_cdf")
        assert boosting.leaf_quantile(y, w.astype(float), q) == pytest.approx(want)
    assert boosting.Quantile(q).leaf_value(y, np.ones(n)) == boosting.leaf_quantile(y, np.ones(n), q)


@pytest.mark.parametrize(
    "loss",
    [boosting.LogLoss(), boosting.SoftmaxLoss(3), boosting.Exponential()],
    ids=lambda loss: type(loss).__name__,
)
def test_scores_mean_the_probabilities_that_are_best_for_them(loss):
    """Rows of one score, with classes in the proportions that the score means, have no slope."""
    raw = np.random.default_rng(2).normal(size=loss.n_raw)
    p = loss.mean(raw[:, None])[0]
    assert p.sum() == pytest.approx(1.0)
    y = np.arange(float(len(p))) if not isinstance(loss, boosting.Exponential) else np.array([-1.0, 1.0])
    table = np.repeat(raw[:, None], len(p), axis=1)
    g, h = np.empty((2, loss.n_raw, len(p)))
    loss.derivatives(y, table, p, g, h)
    np.testing.assert_allclose(g.sum(axis=1), 0.0, atol=1e-12)


def test_targets_outside_the_domain_are_refused():
    for loss, bad in (
        (boosting.Poisson(), [1.0, -1.0]),
        (boosting.Poisson(), [0.0, 0.0]),
        (boosting.Gamma(), [1.0, 0.0]),
    ):
        with pytest.raises(DataError, match="needs"):
            loss.check(np.array(bad))
    boosting.Poisson().check(np.array([0.0, 1.0]))
    boosting.Gamma().check(np.array([0.5, 1.0]))


def test_huber_is_square_up_to_the_quantile_of_the_residuals_and_straight_beyond():
    r = np.array([0.5, -1.0, 2.0, -3.0, 8.0])
    value, slope = (loss := boosting.Huber(0.8)).pieces(r, np.ones(5))
    d = loss.delta
    assert 2.0 < d < 8.0
    straight = [d * (8.0 - d / 2.0)]
    square = [0.5 * one**2 if abs(one) <= d else d * (abs(one) - d / 2.0) for one in r[:4]]
    np.testing.assert_allclose(value, square + straight)
    np.testing.assert_allclose(slope, np.clip(r, -d, d))


def test_starts_of_one_class_alone_are_far_but_finite():
    ones, tiny = np.ones(4), np.finfo(float).eps
    far = np.log((1 - tiny) / tiny)
    np.testing.assert_allclose(boosting.LogLoss().start(ones, ones), [far], rtol=1e-12)
    np.testing.assert_allclose(boosting.LogLoss().start(0 * ones, ones), [-far], rtol=1e-12)
    half = 0.5 * np.log((1 - 1e-15) / 1e-15)
    np.testing.assert_allclose(boosting.Exponential().start(ones, ones), [half], rtol=1e-4)
    np.testing.assert_allclose(boosting.Exponential().start(-ones, ones), [-half], rtol=1e-4)
    start = boosting.SoftmaxLoss(3).start(np.array([0.0, 2.0, 2.0, 0.0]), ones)
    assert start.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(start[0] - start[1:], [np.log(0.5 / tiny), 0.0], atol=1e-12)


def test_a_leaf_of_hubers_loss_is_its_median_and_the_mean_of_what_is_left_cut_at_the_kink():
    loss, w = boosting.Huber(0.5), np.array([1.0, 2.0, 1.0, 1.0])
    assert loss.start(np.array([1.0, 5.0, 2.0, 9.0]), w) == [5.0]
    loss.pieces(np.array([-2.0, 2.0]), np.ones(2))  # the kink is at 2
    # residuals less their median 5: -4, 0, -3, 4; cut at 2: -2, 0 (twice), -2, 2
    assert loss.leaf_value(np.array([1.0, 5.0, 2.0, 9.0]), w) == pytest.approx(5.0 - 2.0 / 5.0)


@pytest.mark.parametrize(
    ("loss", "kind", "facts"),
    [
        ("quantile", boosting.Quantile, {"q": 0.2, "scale": 1.0}),
        ("absolute_error", boosting.Quantile, {"q": 0.5, "scale": 2.0}),
        ("huber", boosting.Huber, {"alpha": 0.2}),
        ("squared_error", boosting.SquaredError, {}),
        ("poisson", boosting.Poisson, {}),
        ("gamma", boosting.Gamma, {}),
    ],
)
@pytest.mark.parametrize("word", ["quantile", "alpha"])
def test_the_names_of_losses(loss, kind, facts, word):
    """Both words for the share of a quantile are known; Huber's is `alpha`."""
    model = (
        SimpleNamespace(loss=loss, alpha=0.2)
        if loss == "huber"
        else SimpleNamespace(loss=loss, **{word: 0.2})
    )
    found = boosting.objective_of(model, 0)
    assert type(found) is kind and vars(found).items() >= facts.items()


def test_the_number_of_classes_chooses_the_loss():
    log = SimpleNamespace(loss="log_loss")
    assert [type(boosting.objective_of(log, k)) for k in (1, 2, 3)] == [
        boosting.LogLoss,
        boosting.LogLoss,
        boosting.SoftmaxLoss,
    ]
    assert boosting.objective_of(log, 5).n_raw == 5
    exponential = SimpleNamespace(loss="exponential")
    assert type(boosting.objective_of(exponential, 2)) is boosting.Exponential
    for k in (1, 3):
        with pytest.raises(DataError, match=f"two classes; y has {k}"):
            boosting.objective_of(exponential, k)


def test_many_rows_are_cut_into_even_parts_that_miss_none():
    for n in (1, 16_384, 16_385, 262_145, 1_000_003):
        parts = boosting.chunks(n)
        assert parts[0][0] == 0 and parts[-1][1] == n
        assert all(a[1] == b[0] for a, b in zip(parts, parts[1:]))
        sizes = [hi - lo for lo, hi in parts]
        assert max(sizes) - min(sizes) <= 1 and max(sizes) <= boosting.CHUNK
        assert len(parts) == 1 if n <= boosting.WHOLE else len(parts) >= 4
