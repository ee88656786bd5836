"""Compile the loops of recommenders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.recommend.bpr import BayesianPersonalizedRanking
from gnomon.recommend.factorization import MatrixFactorization
from gnomon.recommend.gibbs import BayesianMatrixFactorization
from gnomon.recommend.implicit_als import AlternatingLeastSquares
from gnomon.recommend.item_item import ItemItemRecommender
from gnomon.recommend.neighbors import KNNRecommender


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every model with loops of its own to a few ratings."""
    R = np.array([[5.0, 3, np.nan], [4, np.nan, 1], [1, 2, 5]])
    for dtype in dtypes:
        for solver in ("als", "sgd", "cd"):
            MatrixFactorization(2, solver=solver, dtype=dtype, tol=0, random_state=0).fit(R).predict([(0, 2)])
    clicks = np.nan_to_num(R)
    for use_cg in (True, False):
        AlternatingLeastSquares(2, use_cg=use_cg, iterations=1, random_state=0).fit(clicks)
    BayesianPersonalizedRanking(2, iterations=1, random_state=0).fit(clicks)
    MatrixFactorization(2, solver="sgd", biases=True, implicit=True, random_state=0).fit(R)
    BayesianMatrixFactorization(2, n_burn=1, n_samples=1, random_state=0).fit(R)
    KNNRecommender(2).fit(R).predict([(0, 2)])
    ItemItemRecommender(2).fit(clicks)
