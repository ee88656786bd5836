"""What a Markov chain of order one is like: its classes, its long run, its times of passage."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.validate import probabilities
from gnomon.sequence.structure import (
    Absorption,
    ChainStructure,
    Stationary,
    absorbing_analysis,
    chain_structure,
    stationary_distribution,
)
from gnomon.sequence.symbols import encode_symbols


class ChainAnalysis:
    """Questions to a chain, answered from its transition matrix."""

    startprob_: Array
    transmat_: Any
    states_: Array

    def n_step(self, t: int) -> Array:
        """Return the matrix of `t`-step transition probabilities, by repeated squaring."""
        M = self._first_order()
        return np.linalg.matrix_power(M.toarray() if sparse.issparse(M) else M, t)

    def state_distribution(self, t: int, start: Any = None) -> Array:
        """Return the distribution of the state after `t` steps from `start` (a distribution; default
        `startprob_`).
        """
        M = self._first_order()
        w = self.startprob_ if start is None else probabilities(start, name="start")
        if t > M.shape[0] and not sparse.issparse(M):
            return w @ np.linalg.matrix_power(M, t)
        for _ in range(t):
            w = M.T @ w
        return w

    def structure(self, tol: float = 0.0) -> ChainStructure:
        """Return communicating classes, periods and absorbing states (indices into `states_`)."""
        return chain_structure(self._first_order(), tol)

    def stationary(self, **options: Any) -> Stationary:
        """Return the stationary distribution; options as in `stationary_distribution`."""
        return stationary_distribution(self._first_order(), **options)

    def absorbing(self, states: Any = None) -> Absorption:
        """Return absorption probabilities and times, after making `states` (names) absorbing."""
        named = None if states is None else encode_symbols(np.asarray(states), self.states_)
        return absorbing_analysis(self._first_order(), named)

    def first_passage(self) -> Array:
        """Return the mean number of steps from i to the first visit of j; the diagonal holds mean
        return times.
        """
        M = self._first_order()
        M = M.toarray() if sparse.issparse(M) else M
        found = stationary_distribution(M)
        w = found.distribution
        if (w == 0).any():
            raise DegenerateError(
                "first passage times are infinite: some states are transient. Use absorbing()."
            )
        Z = np.linalg.inv(np.eye(len(M)) - M + w)
        times = (np.diag(Z) - Z) / w
        np.fill_diagonal(times, 1.0 / w)
        return times

    def mixing(self) -> dict[str, Any]:
        """Return the second largest eigenvalue modulus, the spectral gap, the entropy rate and whether
        time can run backwards.
        """
        M = self._first_order()
        M = M.toarray() if sparse.issparse(M) else M
        w = stationary_distribution(M).distribution
        second = np.sort(np.abs(np.linalg.eigvals(M)))[-2] if len(M) > 1 else 0.0
        flow = w[:, None] * M
        entropy = -(flow[M > 0] * np.log(M[M > 0])).sum()
        reversible = bool(np.allclose(flow, flow.T, rtol=1e-9, atol=1e-14))
        return {
            "second": float(second),
            "gap": float(1 - second),
            "entropy_rate": float(entropy),
            "reversible": reversible,
        }

    def _order(self) -> int:
        size, K = self.transmat_.shape
        return 1 if K == 1 else round(np.log(size) / np.log(K))

    def _first_order(self) -> Any:
        check_is_fitted(self, "transmat_")
        if self._order() > 1:
            raise DataError(f"this question needs a chain of order 1; the order is {self._order()}.")
        return self.transmat_
