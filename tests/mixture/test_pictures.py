"""Pictures of mixtures and distributions draw what they say."""

import numpy as np
import pytest

from gnomon import plot
from gnomon.distributions import Bernoulli, Beta, Conjugate, Gaussian, Poisson
from gnomon.mixture import GaussianMixture, MissingGaussian, PoissonMixture

pyplot = pytest.importorskip("matplotlib.pyplot")
RNG = np.random.default_rng(0)
X = np.vstack([RNG.standard_normal((30, 2)), RNG.standard_normal((30, 2)) + 5])


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def test_two_columns_show_an_ellipse_per_component_and_level():
    ax = GaussianMixture(2, random_state=0).fit(X).plot(X)
    assert len(ax.lines) == 4


def test_one_column_shows_components_and_their_sum():
    ax = GaussianMixture(2, random_state=0).fit(X[:, :1]).plot(X[:, :1])
    assert len(ax.lines) == 3
    total = sum(line.get_ydata() for line in ax.lines[:2])
    assert np.allclose(total, ax.lines[2].get_ydata())
    counts = RNG.poisson(3, (50, 1))
    assert len(PoissonMixture(2, random_state=0).fit(counts).plot(counts).lines) == 3


def test_bound_touches_the_likelihood_at_the_current_parameter():
    x = np.array([0.0, 1.0, 4.0])

    def joint(t):
        return Gaussian([[0.0], [t]], 1.0).log_density(x) + np.log(0.5)

    def likelihood(t):
        return np.logaddexp(*joint(t).T).sum()

    ax = plot.em_bound(np.linspace(1, 6, 51), likelihood, joint, 3.0)
    curve, bound = (line.get_ydata() for line in ax.lines[:2])
    assert np.all(bound <= curve + 1e-12)
    assert abs(curve[20] - bound[20]) < 1e-12


def test_filled_cells_are_framed():
    holes = X.copy()
    holes[[0, 3], [1, 0]] = np.nan
    assert len(plot.imputed_matrix(MissingGaussian().fit(holes), holes).patches) == 2


def test_densities_and_beliefs():
    assert len(plot.density(Poisson([[2.0], [6.0]]), [1, 2, 3]).lines) == 2
    ax = plot.belief_update(Conjugate(Bernoulli(), Beta(2, 2)), [1, 1, 0])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "prior",
        "likelihood, scaled",
        "posterior",
    ]
    ax = plot.likelihood_curve(Bernoulli(), [1, 1, 0], np.linspace(0.1, 0.9, 9), prior=Beta(2, 2))
    assert np.isclose(ax.lines[1].get_xdata()[0], 2 / 3)
    assert len(plot.dirichlet_draws([np.full(10, g) for g in (0.1, 1, 10)], n_draws=2).patches) == 60
