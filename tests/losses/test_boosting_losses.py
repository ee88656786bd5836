"""The losses of boosted trees are those of linear models: the same slopes, in the units that trees use."""

import numpy as np
import pytest

from gnomon import losses
from gnomon.losses import boosting

Z = np.linspace(-2.0, 2.0, 9)
NUMBERS = np.array([0.5, 1.5, 2.0, -1.0, 0.0, 3.0, 0.25, 1.0, 2.5])
SIGNS = np.where(np.arange(9) % 2, 1.0, -1.0)


def slopes(loss, y, raw):
    g, h = np.empty(len(y)), np.empty(len(y))
    loss.derivatives(y, raw[None], np.ones(len(y)), 0, g, h)
    return g, h


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
