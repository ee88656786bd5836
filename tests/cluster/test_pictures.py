"""Pictures of clusterings hold what they should."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from gnomon import plot
from gnomon.cluster import AgglomerativeClustering, KMeans, SpectralClustering, choose_k, linkage

X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * (np.arange(40) % 3)[:, None]


def test_half_steps_are_drawn():
    model = KMeans(3, init="random", n_init=1, random_state=0).fit(X)
    ax = plot.kmeans_steps(model)
    assert len(ax.collections) == 2 and len(ax.collections[0].get_offsets()) == len(model.half_steps_)


def test_cells_are_drawn():
    model = KMeans(3, random_state=0).fit(X)
    assert len(plot.voronoi(model, X).patches) == 3
    assert model.plot(X) is not None


def test_cost_against_k_is_drawn():
    found = choose_k(X, [1, 2, 3, 4], "mdl", random_state=0)
    np.testing.assert_array_equal(found.plot().lines[0].get_xdata(), [1, 2, 3, 4])


def test_trees_are_drawn():
    assert len(plot.dendrogram(linkage(X, "ward"), height=5.0).lines) == 40
    assert len(AgglomerativeClustering(3).fit(X).plot().lines) == 40


@pytest.mark.parametrize("what", ["embedding", "eigenvalues", "affinity", "fiedler"])
def test_spectra_are_drawn(what):
    model = SpectralClustering(3, random_state=0).fit(X)
    assert model.plot(what=what).get_title()


def test_tree_of_a_model_is_that_of_its_merges():
    model = AgglomerativeClustering(3).fit(X)
    drawn, merges = plot.dendrogram(model), plot.dendrogram(model.linkage_matrix_)
    for one, other in zip(drawn.lines, merges.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    for wrong in (AgglomerativeClustering(3), KMeans(3), np.zeros((3, 2))):
        with pytest.raises(ValueError, match="gnomon.cluster.linkage"):
            plot.dendrogram(wrong)
