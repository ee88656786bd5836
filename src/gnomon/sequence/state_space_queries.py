"""What a linear Gaussian state-space model can be asked: states, likelihoods, forecasts, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.settings import count_of
from gnomon.core.validate import matrix, run_lengths_of
from gnomon.distributions import Gaussian
from gnomon.sequence.linear_gaussian import (
    Filtered,
    Smoothed,
    at,
    filter_rows,
    smooth_rows,
)
from gnomon.sequence.online import OnlineKalman


class StateSpaceQueries:
    """Questions about sequences, for a model that has `_one` and `_model`."""

    def filter(self, X: Any, U: Any = None, *, steady: bool = True) -> Filtered:
        """Return moments of the state given the rows up to it; `steady` allows the gain once it is constant."""
        model, X = self._one(X, U)
        return filter_rows(model, X, self.form, steady)

    def smooth(self, X: Any, U: Any = None) -> Smoothed:
        """Return moments of the state given all rows (Rauch–Tung–Striebel), with lag-one covariances."""
        model, X = self._one(X, U)
        return smooth_rows(model, filter_rows(model, X, self.form))

    def loglikelihood(self, X: Any, U: Any = None) -> float:
        """Return ln p of one sequence."""
        return self.filter(X, U).loglik

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Return ln p of all sequences together."""
        if hasattr(self, "n_features_in_"):
            X = self._rows(X).X
        X = np.asarray(matrix(X, nan=True), dtype=np.float64)
        ends = np.cumsum(run_lengths_of(lengths, len(X)))
        return float(sum(self.filter(part).loglik for part in np.split(X, ends[:-1])))

    def predict_distribution(self, X: Any, horizon: int = 1, U: Any = None) -> Gaussian:
        """Return the distribution N(D m, D P D' + V) of the observation `horizon` steps after the end of X.

        The steps ahead have no controls, and with `times` each takes one unit of time.
        """
        model, X = self._one(X, U)
        found = filter_rows(model, X, self.form)
        m, P = found.means[-1], found.covariances[-1]
        C, D = model.C[-1], model.D[-1]
        Q = model.Q[-1] if model.gaps is None else model.Q[-1] / model.gaps[-1]
        c = self.transition_offsets
        offset = np.zeros(len(m)) if c is None else np.atleast_2d(np.asarray(c, dtype=np.float64))[-1]
        for _ in range(count_of(horizon, "horizon", 1)):
            m, P = C @ m + offset, C @ P @ C.T + Q
        return Gaussian(D @ m + model.e[-1], (D @ P @ D.T + model.V[-1])[None])

    def online(self) -> OnlineKalman:
        """Return a session that predicts and updates one measurement at a time."""
        model = self._model(None)
        return OnlineKalman(model, self.control_matrices)

    def steady_state(self) -> tuple[Array, Array, Array]:
        """Return predicted and filtered covariance and the gain to which a constant model settles (Riccati)."""
        model = self._model(None)
        C, Q, D, V = (M[0] for M in (model.C, model.Q, model.D, model.V))
        P = linalg.solve_discrete_are(C.T, D.T, Q, V)
        gain = linalg.solve(D @ P @ D.T + V, D @ P, assume_a="pos").T
        return P, P - gain @ D @ P, gain

    def sample(self, n_timesteps: int, random_state: Any = None) -> tuple[Array, Array]:
        """Draw states and observations."""
        rng = generator(self.random_state if random_state is None else random_state)
        model = self._model(None, n_timesteps)
        d, p = len(model.m0), model.D.shape[1]
        s = rng.multivariate_normal(model.m0, model.P0, method="eigh")
        states, observations = np.empty((n_timesteps, d)), np.empty((n_timesteps, p))
        for t in range(n_timesteps):
            if t > 0 or model.before:
                noise = rng.multivariate_normal(np.zeros(d), at(model.Q, t), method="eigh")
                s = at(model.C, t) @ s + at(model.c, t) + noise
            states[t] = s
            seen = rng.multivariate_normal(np.zeros(p), at(model.V, t), method="eigh")
            observations[t] = at(model.D, t) @ s + at(model.e, t) + seen
        return states, observations
