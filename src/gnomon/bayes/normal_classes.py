"""Normal classes of incomplete rows, and covariances that another estimator shrinks."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.bayes.class_moments import ClassSums, class_sums, holes, normal_sums
from gnomon.bayes.classifier import CHUNK_BYTES, FamilyClassifier, finite
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.sums import total
from gnomon.core.validate import warn
from gnomon.distributions.normal import Gaussian

SHARE = Interval(Real, 0, 1, closed="both")
STEPS = 1000  # of EM at most
SETTLED = 1e-9  # largest change of a mean or covariance, in deviations of its columns


def ledoit_wolf(X: Array) -> Array:
    """Return the covariance of rows, shrunk by the formula of Ledoit and Wolf in units of the deviations."""
    from sklearn.covariance import ledoit_wolf as shrunk

    center, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return shrunk((X - center) / scale)[0] * np.outer(scale, scale)


class NormalClasses(FamilyClassifier):
    """What linear and quadratic discriminants share: missing entries, and covariances made elsewhere."""

    def _solve(self, rows: Any) -> Any:
        matrices = self._covariances_elsewhere(rows)
        if matrices is None:
            return super()._solve(rows)
        sums = self._statistics(rows)
        return {"sums_": sums, **self._estimate(sums, matrices)}, None

    def _statistics(self, rows: Any) -> ClassSums:
        family = self._family()
        sums = total(normal_sums, rows.in_chunks_of(CHUNK_BYTES), family.covariance_type, len(rows.classes))
        doubtful = family._is_diagonal or np.isnan(sums.statistics.mean).any()
        return self._completed(rows) if doubtful and total(holes, rows) else finite(sums)

    def _add(self, rows: Any) -> Any:
        if self._made_elsewhere():
            raise DataError("shrinkage='auto' and covariance_estimator need all rows at once; call fit.")
        if total(holes, rows):
            raise DataError(
                "partial_fit takes complete rows: what is missing is estimated from all rows at once. "
                "Call fit, or use GaussianNB."
            )
        return super()._add(rows)

    # missing entries

    def _completed(self, rows: Any) -> ClassSums:
        """Return the expected moments of the completed rows, by EM from the observed entries of every column."""
        rows, K = rows.in_chunks_of(CHUNK_BYTES), len(rows.classes)
        columns = total(class_sums, rows, Gaussian(covariance_type="diag"), K)
        seen = columns.statistics.weight
        if (seen <= 0).any():
            k, j = np.argwhere(seen <= 0)[0]
            raise DataError(f"class number {k} has no observed entry in column {j}; drop the column.")
        kind = self._family().covariance_type
        if self._family()._is_diagonal:  # columns of a class are independent: none tells of another's holes
            return finite(columns)
        means, variances = columns.statistics.mean, columns.statistics.scatter / seen
        floor = np.where(variances > 0, variances, np.maximum(variances.max(axis=0), 1e-12))
        first = np.stack([np.diag(v) for v in floor])
        family = Gaussian(means, np.average(first, axis=0, weights=columns.weight) if kind == "tied" else first,
                          covariance_type=kind)  # fmt: skip
        for _ in range(STEPS):
            sums = total(class_sums, rows, family, K)
            new = Gaussian(covariance_type=kind, reg_covar=0.0).estimate(sums.statistics)
            change = _change(family, new)
            if change <= SETTLED:
                break
            family = _definite(new)
        else:
            warn(f"the covariances of rows with missing entries still change after {STEPS} steps.")
        return sums

    # covariances made elsewhere

    def _made_elsewhere(self) -> bool:
        return self.covariance_estimator is not None or isinstance(self.shrinkage, str)

    def _shrinkage(self) -> float:
        """Return the weight of the identity in the covariance."""
        if self._made_elsewhere():
            raise DataError(
                "shrinkage='auto' and covariance_estimator need the rows; sums do not tell enough."
            )
        return float(self.shrinkage or 0.0)

    def _covariances_elsewhere(self, rows: Any) -> Array | None:
        """Return the covariances of the classes by `covariance_estimator`, or by Ledoit and Wolf; else None."""
        if not self._made_elsewhere():
            return None
        if self.covariance_estimator is not None and self.shrinkage is not None:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        if not rows.in_memory or rows.weighted or total(holes, rows):
            raise DataError(
                "shrinkage='auto' and covariance_estimator take complete rows in memory without sample_weight; "
                "give shrinkage as a number."
            )
        X = np.asarray(rows.X, dtype=np.float64)
        return np.stack([self._shrunk(X[rows.y == k]) for k in range(len(rows.classes))])

    def _shrunk(self, X: Array) -> Array:
        if self.covariance_estimator is None:
            return ledoit_wolf(X)
        model = clone(self.covariance_estimator, safe=False)
        model.fit(X)
        if not hasattr(model, "covariance_"):
            raise ValueError(
                f"{type(self.covariance_estimator).__name__} does not have a covariance_ attribute after fit."
            )
        return np.asarray(model.covariance_, dtype=np.float64)


def expected_rows(X: Array, shares: Array, means: Array, covariance: Array) -> Array:
    """Return rows whose missing entries are expected values, given the others and the probabilities of the classes."""
    found = np.array(X, dtype=np.float64)
    for i in np.flatnonzero(np.isnan(found).any(axis=1)):
        lost = np.isnan(found[i])
        gaps = found[i, ~lost] - means[:, ~lost]  # (K, observed)
        slopes = np.linalg.lstsq(
            covariance[np.ix_(~lost, ~lost)], covariance[np.ix_(~lost, lost)], rcond=None
        )[0]
        found[i, lost] = shares[i] @ (means[:, lost] + gaps @ slopes)
    return found


def _change(old: Gaussian, new: Gaussian) -> float:
    """Largest change of a mean or covariance, in deviations of the columns."""
    a, b = np.array(old.covariance_matrices()), np.array(new.covariance_matrices())
    scale = np.sqrt(np.maximum(np.einsum("...ii->...i", a), 1e-300))
    square = scale[..., :, None] * scale[..., None, :]
    return float(max(np.abs((new.means - old.means) / scale).max(), np.abs((b - a) / square).max()))


def _definite(family: Gaussian) -> Gaussian:
    """Return the stack with as little on the diagonals as lets rows with holes be completed."""
    C = np.array(family.covariances)
    diagonal = np.einsum("...ii->...i", C)
    level = np.where(diagonal > 0, diagonal, np.maximum(diagonal.max(axis=-1, keepdims=True), 1e-12))
    return family.replace(covariances=C + 1e-12 * level[..., None] * np.eye(C.shape[-1]))
