"""Principal components from batches: exact sums for narrow rows, a rank-K update for wide ones."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.sums import merge
from gnomon.core.trace import Trace
from gnomon.core.validate import COUNT, Reads
from gnomon.decomposition import _spectra, singular
from gnomon.decomposition._projecting import BasePCA
from gnomon.decomposition._scatter import sum_scatter

NARROW = 2000  # columns up to which the whole scatter matrix is kept


class IncrementalPCA(BasePCA):
    r"""Principal components of rows that come in batches.

    Up to 2000 columns the scatter matrix is added up, so any split into batches gives the answer of `PCA` on all rows.
    Beyond, each batch updates the K kept directions by an SVD of [S Vᵀ; centered batch; shift of the mean] (Ross et al.
    2008): memory K·p, and a small loss.

    Parameters
    ----------
    n_components : int, optional
        Components to keep; min(rows of the first batch, columns) when not given.
    whiten : bool, default=False
        Divide scores by their deviation.
    copy : bool, default=True
        Kept for scikit-learn.
    batch_size : int, optional
        Rows a batch in `fit`; 5·p when not given.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, noise_variance_, n_components_
        As in `PCA`.
    var_ : array of shape (p,)
        Variances of the columns (divisor n).
    n_samples_seen_ : int
    weight_ : float
        Sum of the weights of these rows.
    batch_size_ : int

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]])
    >>> model = IncrementalPCA(2, batch_size=2).fit(X)
    >>> model.explained_variance_.round(6), model.n_samples_seen_
    (array([5.333333, 1.333333]), 4)
    """

    _reads = Reads(sparse=True, scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [COUNT, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def _solve(self, rows: Any) -> dict[str, Any]:
        p = rows.n_features
        size = 5 * p if self.batch_size is None else int(self.batch_size)
        if p <= NARROW or not rows.in_memory:
            return {**self._of_sums(sum_scatter(rows), rows.n_rows, rows.n_rows), "batch_size_": size}
        found: dict[str, Any] = {}
        counted = np.flatnonzero(rows.weight > 0)
        for start in range(0, len(counted), size):
            part = counted[start : start + size]
            found = self._updated(found, _dense(rows.X[part]), rows.weight[part])
        return {**found, "batch_size_": size}

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Learn from one more batch.

        Parameters
        ----------
        X : array or sparse matrix
            The batch.
        y : ignored
            Present for scikit-learn's conventions.
        check_input : bool
            Kept for scikit-learn.

        Returns
        -------
        self
            The fitted model.
        """
        first = not hasattr(self, "components_")
        rows = self._read(X, reset=first)
        batch = rows.n_rows
        if not first and self.n_components is not None and self.n_components != self.n_components_:
            raise DataError(
                f"Number of input features has changed from {self.n_components_} to {self.n_components} components "
                "between calls to partial_fit; start a new model with this n_components."
            )
        if rows.n_features <= NARROW:
            sums = sum_scatter(rows)
            kept = None if first else self.n_components_
            found = self._of_sums(sums if first else merge(self.sums_, sums), batch, kept, grow=first)
        else:
            found = self._updated({} if first else vars(self), _dense(rows.X), rows.weight)
        names = {"feature_names_in_": self.feature_names_in_} if hasattr(self, "feature_names_in_") else {}
        facts = {"trace_": Trace(), "n_iter_": 1, "converged_": True}
        self._adopt({**names, **facts, **found}, rows)
        return self

    def _count(self, batch: float, p: int, seen: float) -> int:
        if self.n_components is None:
            return int(min(batch, p))
        K = int(self.n_components)
        if K > p:
            raise DataError(
                f"n_components={K} invalid for n_features={p}, need more rows than columns for IncrementalPCA "
                "processing; lower n_components."
            )
        if K > seen:
            raise DataError(
                f"n_components={K} must be less or equal to the batch number of samples {int(seen)} for the first "
                "partial_fit call; give larger batches, or lower n_components."
            )
        return K

    def _of_sums(self, sums: Any, batch: float, kept: Any, *, grow: bool = True) -> dict[str, Any]:
        p = len(sums.mean)
        K = self._count(batch, p, sums.n_rows) if grow or kept is None else int(kept)
        found = _spectra.of_scatter(sums, K)
        return {
            **self._from_spectrum(found, K),
            "sums_": sums,
            "var_": sums.scatter.diagonal() / sums.weight,
            "n_samples_seen_": int(sums.n_rows),
            "weight_": float(sums.weight),
        }

    def _updated(self, old: dict[str, Any], X: Array, weight: Array) -> dict[str, Any]:
        """The kept directions after one more batch of wide rows."""
        n, p = X.shape
        before = float(
            old.get("weight_", old.get("n_samples_seen_", 0))
        )  # files of old have rows of weight one
        mass = float(weight.sum())
        K = int(old["n_components_"]) if before else self._count(n, p, n)
        mean = np.average(X, axis=0, weights=weight)
        count = before + mass
        Z = (X - mean) * np.sqrt(weight)[:, None]
        square, center = (Z * Z).sum(axis=0), mean
        if before:
            gap = old["mean_"] - mean
            Z = np.vstack(
                [
                    old["singular_values_"][:, None] * old["components_"],
                    Z,
                    np.sqrt(before * mass / count) * gap,
                ]
            )
            square = square + old["var_"] * before + before * mass / count * gap**2
            center = (before * old["mean_"] + mass * mean) / count
        _, s, Vt = singular.signed(*singular.thin_svd(Z))
        values = np.zeros(K)
        values[: min(K, len(s))] = s[:K] ** 2
        seen = int(old.get("n_samples_seen_", 0)) + n
        spectrum = _spectra.Spectrum(seen, count, center, values, Vt[:K], float(square.sum()))
        return {
            **self._from_spectrum(spectrum, min(K, len(Vt))),
            "var_": square / count,
            "n_samples_seen_": seen,
            "weight_": count,
        }


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
