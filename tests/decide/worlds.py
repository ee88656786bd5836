"""Processes that several tests share."""

import numpy as np

from gnomon.decide import MDP

T2 = np.array([[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [1.0, 0.0]]])
R2 = np.array([[0.0, -1.0], [2.0, 0.0]])
V2 = np.array([1340 / 109, 1640 / 109])


def two_states(**options):
    """The two-state process whose optimal values are 1340/109 and 1640/109."""
    return MDP(T2, R2, **{"discount": 0.9, "layout": "sas", **options})


def six_states(discount):
    """Six states and three actions by a formula."""
    s, a, t = np.ogrid[:6, :3, :6]
    w = ((s + 1) * (a + 2) + 7 * t) % 5 + 3 * (t == (s + a) % 6)
    r = ((3 * np.arange(6)[:, None] + 5 * np.arange(3)) % 7) - 2
    return MDP(w / w.sum(axis=2, keepdims=True), r, discount=discount, layout="sas")


def plain_values(mdp, discount, sweeps=5000):
    """Value iteration by the formula, on dense arrays."""
    T = mdp.rows_.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    V = np.zeros(mdp.n_states)
    for _ in range(sweeps):
        Q = np.where(mdp.available, mdp.expected_rewards_ + discount * T @ V, -np.inf)
        V = Q.max(axis=1)
    return V
