"""Options of clusterings."""

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_allclose

from gnomon.cluster import AgglomerativeClustering, MiniBatchKMeans


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_heights_and_counts_of_a_tree_as_in_scikit_learn(linkage):
    X = np.random.default_rng(0).normal(size=(25, 3))
    ours = AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    theirs = peers.AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(X)
    assert_allclose(np.sort(ours.distances_), np.sort(theirs.distances_))
    assert ours.n_leaves_ == theirs.n_leaves_ == 25
    assert ours.n_connected_components_ == theirs.n_connected_components_ == 1


def test_too_few_rows_to_seed_from_are_raised():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(RuntimeWarning, match="init_size=10 should be at least n_clusters=20"):
        model = MiniBatchKMeans(20, init_size=10, random_state=0).fit(X)
    same = MiniBatchKMeans(20, init_size=60, random_state=0).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, same.cluster_centers_)
