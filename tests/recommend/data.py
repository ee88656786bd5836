"""The small tables of the lesson."""

import numpy as np

n = np.nan
R56 = np.array(
    [[5, 3, 4, 1, n, 2], [4, 2, 5, 2, 3, n], [1, 5, 2, 4, 4, 5], [n, 3, 4, 2, 1, 3], [2, 4, n, 5, 5, 4]]
)
Y23 = np.array([[5, n, 7], [1, 2, n]])
Y53 = np.array([[5, n, 7], [n, 2, n], [n, 1, 4], [4, n, n], [n, 3, 6]])


def low_rank(n_users=30, n_items=20, rank=2, noise=0.1, density=0.6, seed=0):
    """A table of low rank with holes."""
    rng = np.random.default_rng(seed)
    Y = (
        3
        + rng.normal(size=(n_users, rank)) @ rng.normal(size=(rank, n_items))
        + noise * rng.normal(size=(n_users, n_items))
    )
    Y[rng.random(Y.shape) > density] = np.nan
    Y[:, 0], Y[0] = np.where(np.isnan(Y[:, 0]), 3.0, Y[:, 0]), np.where(np.isnan(Y[0]), 3.0, Y[0])
    return Y
