"""A Kalman filter fed in real time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.sequence.linear_gaussian import LinearGaussian, singular


class OnlineKalman:
    """Current belief about the state: ``predict`` moves time on, ``update`` takes in a measurement.

    Attributes
    ----------
    mean, covariance : arrays
        Of the state, given everything so far.
    loglik : float
        ln p of the measurements so far.
    """

    def __init__(self, model: LinearGaussian, control: Any = None) -> None:
        if max(map(len, (model.C, model.Q, model.D, model.V))) > 1:
            raise DataError("a session needs a model that does not change with time.")
        self.model, self.control = model, control
        self.mean, self.covariance = model.m0.copy(), model.P0.copy()
        self.loglik, self.count = 0.0, 0

    def predict(self, dt: float | None = None, u: Any = None) -> tuple[Array, Array]:
        """Move one step (or `dt`, by which the process noise grows) on; return the predicted moments."""
        C, Q = self.model.C[0], self.model.Q[0]
        self.mean = C @ self.mean + self.model.c[0]
        if u is not None:
            G = np.asarray(self.control, dtype=np.float64).reshape(len(self.mean), -1)
            self.mean = self.mean + G @ np.atleast_1d(u)
        self.covariance = C @ self.covariance @ C.T + (Q if dt is None else dt * Q)
        return self.mean, self.covariance

    def update(self, x: Any) -> tuple[Array, Array]:
        """Take in a measurement (NaN components were not seen); return the filtered moments."""
        x = np.atleast_1d(np.asarray(x, dtype=np.float64))
        seen = ~np.isnan(x)
        D, V = self.model.D[0][seen], self.model.V[0][np.ix_(seen, seen)]
        self.count += 1
        if not seen.any():
            return self.mean, self.covariance
        residual = x[seen] - self.model.e[0][seen] - D @ self.mean
        try:
            factor = linalg.cho_factor(D @ self.covariance @ D.T + V, lower=True)
        except linalg.LinAlgError:
            singular(self.count - 1)
        gain = linalg.cho_solve(factor, D @ self.covariance).T
        keep = np.eye(len(self.mean)) - gain @ D
        self.mean = self.mean + gain @ residual
        self.covariance = keep @ self.covariance @ keep.T + gain @ V @ gain.T
        logs = np.log(np.diag(factor[0])).sum()
        square = residual @ linalg.cho_solve(factor, residual)
        self.loglik += float(-0.5 * (square + len(residual) * np.log(2 * np.pi)) - logs)
        return self.mean, self.covariance
