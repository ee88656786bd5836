"""Compile the loops of the family."""

from collections.abc import Sequence

import numpy as np

from gnomon.topics.lda import LatentDirichletAllocation


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit by every inference to a few words."""
    X = np.array([[2, 1, 0], [0, 1, 3]])
    for method in ("batch", "online", "em", "gibbs"):
        model = LatentDirichletAllocation(2, learning_method=method, max_iter=2, n_burn=10, n_samples=1)
        model.fit(X).transform(X)
