"""The Gaussian random walk: a Markov chain over numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, cholesky
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import generator
from gnomon.core.validate import Reads, run_lengths_of
from gnomon.distributions import Gaussian


class GaussianRandomWalk(OneStep):
    r"""Random walk with Gaussian steps.

    .. math:: s_t = s_{t-1} + m + \varepsilon_t, \qquad \varepsilon_t \sim N(0, aI)

    The maximum-likelihood variance a is the mean squared step (about the drift m, where one is fitted). The
    simplest model of prices, positions and other things that move on from where they are; a noisy view of
    one is a `KalmanFilter`.

    Parameters
    ----------
    drift : bool
        Whether steps have a mean of their own.
    covariance : {"isotropic", "diag", "full"}
        Structure of the steps' covariance.

    Attributes
    ----------
    drift_ : (d,) array
    covariance_ : (d, d) array

    Examples
    --------
    >>> GaussianRandomWalk().fit([[0.0], [1.0], [3.0], [2.5]]).covariance_
    array([[1.75]])
    """

    _reads: ClassVar[Reads] = Reads(min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "drift": ["boolean"],
        "covariance": [StrOptions({"isotropic", "diag", "full"})],
    }

    def __init__(self, *, drift: bool = False, covariance: str = "isotropic") -> None:
        self.drift = drift
        self.covariance = covariance

    def fit(self, X: Any, y: Any = None, lengths: Any = None, times: Any = None) -> Self:
        """Learn drift and covariance from the steps.

        Parameters
        ----------
        X : (n, d) array
            Positions of all sequences, one below the other.
        y : ignored
        lengths : sequence of int, optional
            Length of every sequence.
        times : (n,) array, optional
            When they were measured; a step over Δ has mean Δm and covariance ΔΣ.
        """
        return self._learn(self._read_walks(X, lengths, times), X=X, y=y)

    def iterate(self, X: Any, y: Any = None, lengths: Any = None, times: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model after its one step; arguments as in `fit`."""
        yield from self._iterate(self._read_walks(X, lengths, times))

    def _read_walks(self, X: Any, lengths: Any, times: Any) -> Any:
        rows = self._read(X)
        rows.steps = steps_of(np.asarray(rows.X, dtype=np.float64), lengths, times)
        return rows

    def _solve(self, rows: Any) -> dict[str, Any]:
        moves, gaps = rows.steps
        if not len(moves):
            raise DataError("every sequence has a single row: there is no step to learn from.")
        d = moves.shape[1]
        drift = moves.sum(axis=0) / gaps.sum() if self.drift else np.zeros(d)
        rest = (moves - gaps[:, None] * drift) / np.sqrt(gaps)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            C = rest.T @ rest / len(rest)
        if not np.isfinite(C).all():
            raise DataError("X has steps so large that their squares overflow. Scale the columns.")
        if self.covariance == "isotropic":
            C = np.eye(d) * np.trace(C) / d
        elif self.covariance == "diag":
            C = np.diag(np.diag(C))
        return {"drift_": drift, "covariance_": C, "last_": np.asarray(rows.X[-1], dtype=np.float64)}

    def score(self, X: Any, y: Any = None, lengths: Any = None, times: Any = None) -> float:
        """Return ln p of the steps, given where the sequences begin."""
        rows = self._rows(X)
        moves, gaps = steps_of(np.asarray(rows.X, dtype=np.float64), lengths, times)
        rest = (moves - gaps[:, None] * self.drift_) / np.sqrt(gaps)[:, None]
        d = moves.shape[1]
        L, _ = cholesky(self.covariance_, what="covariance of the steps")
        white = np.linalg.solve(L, rest.T)
        logs = (
            len(moves) * (np.log(np.diag(L)).sum() + 0.5 * d * np.log(2 * np.pi))
            + 0.5 * d * np.log(gaps).sum()
        )
        return float(-0.5 * (white**2).sum() - logs)

    def predict_distribution(self, horizon: float = 1, start: Any = None) -> Gaussian:
        """Return N(s + h m, h Σ), `horizon` steps after `start` (default: the last row of the fit)."""
        if not 0 < horizon < np.inf:
            raise DataError(f"horizon must be a time above 0; got {horizon}.")
        here = self.last_ if start is None else np.asarray(start, dtype=np.float64)
        return Gaussian(here + horizon * self.drift_, horizon * self.covariance_[None])

    def sample(self, length: int, start: Any = None, random_state: Any = None) -> Array:
        """Draw `length` positions after `start`."""
        here = self.last_ if start is None else np.asarray(start, dtype=np.float64)
        L = np.linalg.cholesky(self.covariance_)
        noise = generator(random_state).standard_normal((length, len(here)))
        return here + np.cumsum(self.drift_ + noise @ L.T, axis=0)


def steps_of(X: Array, lengths: Any, times: Any) -> tuple[Array, Array]:
    """Return the steps inside sequences and the time each took."""
    inside = np.ones(len(X) - 1, dtype=bool)
    inside[np.cumsum(run_lengths_of(lengths, len(X)))[:-1] - 1] = False
    gaps = np.ones(len(X) - 1) if times is None else np.diff(np.asarray(times, dtype=np.float64))
    if (gaps[inside] <= 0).any():
        raise DataError("times must increase within a sequence.")
    return np.diff(X, axis=0)[inside], gaps[inside]
