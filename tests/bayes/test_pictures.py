"""Pictures show the numbers they were given."""

import numpy as np
import pytest

from gnomon import plot
from gnomon.bayes import (
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    bayes_rule,
    expected_risk,
    gaussian_rule_1d,
    loss_matrix,
    maximum_entropy,
    project,
)


def test_posterior_over_the_outcomes():
    table = JointTable.from_counts([[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]])
    ax = plot.path(np.arange(5), table.posterior().T, ["light", "heavy"])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1, 1, 4 / 7, 2 / 5, 1 / 3])


def test_risk_of_every_decision_against_the_prior():
    priors = np.linspace(0.01, 0.99, 50)
    posteriors = np.array([bayes_rule([1 - p, p], [0.2, 0.7]).posterior for p in priors])
    risks = expected_risk(posteriors, loss_matrix("reject", 2, cost=0.3))
    ax = plot.path(priors, risks, ["first", "second", "reject"])
    assert len(ax.lines) == 3
    np.testing.assert_allclose(ax.lines[2].get_ydata(), 0.3)


def test_bars_show_the_largest():
    ax = plot.bars(np.arange(-5.0, 6.0), [f"w{i}" for i in range(11)], n=4)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["w0", "w1", "w9", "w10"]
    assert [bar.get_width() for bar in ax.patches] == [-5, -4, 4, 5]


def test_maximum_entropy_as_bars():
    die = maximum_entropy(np.arange(1, 7), [4.2])
    ax = plot.bars(die.p, [str(k) for k in range(1, 7)], x_label="probability")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], die.p)


def test_class_densities_shade_the_bayes_error():
    model = GaussianNB(priors=[0.5, 0.5], var_smoothing=0).fit([[-1.0], [1], [0], [2]], [0, 0, 1, 1])
    x = np.linspace(-6, 7, 2000)
    ax = plot.class_densities(model, x=x)
    _, error = gaussian_rule_1d([0, 1], [1, 1])
    lost = np.minimum(ax.lines[0].get_ydata(), ax.lines[1].get_ydata())
    assert np.trapezoid(lost, x) == pytest.approx(error, abs=1e-4)
    with pytest.raises(ValueError, match="one column"):
        plot.class_densities(GaussianNB().fit(np.eye(4), [0, 0, 1, 1]))


def test_two_projections_in_the_simplex():
    f = [0.5, 0.6, -0.2]
    points = [project(f, "hyperplane", "euclidean"), project(f, "simplex", "euclidean")]
    ax = plot.simplex(points, ["hyperplane", "simplex"])
    assert [text.get_text() for text in ax.texts][:2] == ["hyperplane", "simplex"]
    np.testing.assert_allclose(ax.collections[0].get_offsets()[1], [0.55, 0], atol=1e-12)


def test_fisher_axis_separates_better_than_the_difference_of_means():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 2)) @ np.array([[4.0, 3.9], [0.0, 1.0]]) + np.outer(y, [2.0, 0.0])
    model = LinearDiscriminantAnalysis().fit(X, y)
    axes = [model.scalings_[:, 0], model.means_[1] - model.means_[0]]

    def separation(axis):
        a, b = X[y == 0] @ axis, X[y == 1] @ axis
        return abs(a.mean() - b.mean()) / np.sqrt(a.var() + b.var())

    assert separation(axes[0]) > 2 * separation(axes[1])
    ax = plot.projected_classes(X, y, axes[0])
    assert sum(patch.get_height() for patch in ax.patches) == 400
