"""A step on the support: it never makes things worse, and stops where a coordinate reaches zero."""

import numpy as np
from numpy.testing import assert_allclose

from gnomon.solvers.coordinate import take_step


def objective(G, q, t, mu, w):
    return 0.5 * w @ G @ w - q @ w + 0.5 * mu * w @ w + t * np.abs(w).sum()


def test_newton_steps_fall_and_stop_at_the_first_zero():
    rng, stopped = np.random.default_rng(0), 0
    for _ in range(1000):
        A, t, mu = rng.normal(size=(12, 6)), 2.0, 0.1
        G, q, w = A.T @ A, 3.0 * rng.normal(size=6), rng.normal(size=6)
        w[0] = 0.0
        S, g = np.flatnonzero(w), q - G @ w
        slope = g[S] - mu * w[S] - t * np.sign(w[S])
        step = np.linalg.solve(G[np.ix_(S, S)] + mu * np.eye(5), slope)
        before, old = objective(G, q, t, mu, w), w.copy()
        whole = take_step(w, g, S, step, np.full(5, t), mu, G[:, S].__matmul__)
        assert objective(G, q, t, mu, w) < before
        assert (old * w >= 0.0).all()
        assert_allclose(g, q - G @ w, rtol=1e-9, atol=1e-9)
        if not whole:
            stopped += 1
            assert np.count_nonzero(w[S] == 0.0) == 1
    assert stopped > 5
