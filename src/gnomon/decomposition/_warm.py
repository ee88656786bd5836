"""Compile the loops of the family."""

import warnings
from collections.abc import Sequence

import numpy as np

from gnomon.decomposition.factor import FactorAnalysis
from gnomon.decomposition.nmf import NMF
from gnomon.decomposition.ppca import ProbabilisticPCA


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a few numbers."""
    X = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 1.0], [3.0, 4.0, 1.5], [4.0, 3.0, 2.0]])
    holes = X.copy()
    holes[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            for kind in (ProbabilisticPCA, FactorAnalysis):
                kind(1, max_iter=2).fit(holes.astype(dtype)).transform(X.astype(dtype))
            for rows in (X, holes):
                NMF(1, max_iter=2).fit(rows.astype(dtype)).transform(rows.astype(dtype))
            NMF(1, solver="mu", beta_loss="kullback-leibler", max_iter=2).fit(X.astype(dtype)).transform(X)
