"""Ratings on a cluster of processes."""

import numpy as np
import pandas as pd
import pytest

from gnomon.datasets import make_ratings
from gnomon.recommend import MatrixFactorization, RatingMatrix

dd = pytest.importorskip("dask.dataframe")


def test_alternating_least_squares_on_a_cluster(client):
    R = make_ratings(30, 10, rank=2, density=0.5, noise=0.3, random_state=0)[0]
    pairs, values = R.pairs()
    frame = pd.DataFrame({"user": pairs[:, 0].astype(int), "item": pairs[:, 1].astype(int), "rating": values})
    model = MatrixFactorization(2, biases=True, regularization=0.5, iterations=100, tol=1e-3, random_state=0)
    here = model.fit(RatingMatrix.from_frame(frame)).predict_matrix()
    there = model.fit(dd.from_pandas(frame, npartitions=4)).predict_matrix()
    np.testing.assert_allclose(there, here, rtol=1e-9)
