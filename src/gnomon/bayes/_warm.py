"""Compile the loops of the family."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from gnomon.bayes.categories import CategoricalNB
from gnomon.bayes.counts import MultinomialNB
from gnomon.bayes.naive import GaussianNB


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a few numbers."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 1.0]]), [0, 1, 0, 1]
    holes = X.copy()
    holes[0, 0] = np.nan
    for dtype in dtypes:
        GaussianNB().fit(X.astype(dtype), y)
        GaussianNB().fit(holes.astype(dtype), y)
        MultinomialNB().fit(sparse.csr_array(X.astype(dtype)), y)
    CategoricalNB().fit(X, y).predict(X)
