"""Compile the loops of the family."""

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from gnomon.linear.lasso.sparse import ElasticNet, Lasso
from gnomon.linear.likelihood.logistic import LogisticRegression
from gnomon.linear.margin.svm import LinearSVC
from gnomon.linear.margin.svr import LinearSVR
from gnomon.linear.online.passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from gnomon.linear.online.perceptron import Perceptron
from gnomon.linear.online.stochastic import SGDClassifier, SGDRegressor
from gnomon.linear.online.subgradient import Pegasos
from gnomon.linear.robust.quantile import QuantileRegressor
from gnomon.linear.squares.least_squares import LinearRegression
from gnomon.solvers.coordinate import Penalized
from gnomon.solvers.sparse_coordinate import SparseDesign, SparseEngine

CLASSIFIERS = (
    LogisticRegression,
    LinearSVC,
    Perceptron,
    PassiveAggressiveClassifier,
    SGDClassifier,
    Pegasos,
)
REGRESSORS = (Lasso, ElasticNet, LinearSVR, PassiveAggressiveRegressor, SGDRegressor)


def turns(X, y) -> None:
    """Solve on sparse columns, on their Gram matrix and in turns."""
    engine, pen = SparseEngine(SparseDesign(X, y, None, True)), Penalized(0.01, 0.01)
    engine.advance(pen, 1e-9)
    engine._alternate(engine.gram.index[:1], pen, 1e-9, 50)
    engine.design.by_touched_rows(engine.S, engine.w, engine.r, np.zeros(len(y)))


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every model that has loops to a few numbers."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 1.0], [3.0, 0.0], [0.0, 3.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            for matrix in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
                for model in CLASSIFIERS:
                    model().fit(matrix, y)
                LogisticRegression().fit(matrix, [0, 1, 2, 0, 1, 2])
                for model in REGRESSORS:
                    model().fit(matrix, y.astype(float))
            LinearSVC().fit(sparse.csr_array(np.tile(X, 301).astype(dtype)), y)  # wide
            turns(sparse.csr_array(X.astype(dtype)), y.astype(float))
        QuantileRegressor().fit(X, y)
        LinearRegression().fit(X, y)
