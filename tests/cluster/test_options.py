"""Options of clusterings: heights of a tree against scikit-learn."""

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_allclose

from gnomon.cluster import AgglomerativeClustering


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_heights_and_counts_of_a_tree_as_in_scikit_learn(linkage):
    X = np.random.default_rng(0).normal(size=(25, 3))
    ours = AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    theirs = peers.AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    assert_allclose(np.sort(ours.distances_), np.sort(theirs.distances_))
    assert ours.n_leaves_ == theirs.n_leaves_ == 25
    assert ours.n_connected_components_ == theirs.n_connected_components_ == 1
