"""What a fitted non-negative factorization is asked: usage of parts, reconstructions, likelihood, criteria."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, per_row
from gnomon.core.validate import check_fitted, matrix
from gnomon.decomposition import _nonnegative as nn
from gnomon.decomposition._nonnegative_rows import dense_rows


def usage(chunk: Chunk, H: Array, o: nn.Options) -> Array:
    """W of new rows, the parts held fixed; a row with missing entries changes nothing for the others."""
    X = chunk.X
    if sparse.issparse(X):
        return nn.pass_over(chunk, H, None, o)[0]
    gaps = np.isnan(X).any(axis=1)
    W = np.zeros((len(X), len(H)))
    for part, holes in ((~gaps, False), (gaps, True)):
        if part.any():
            some = chunk._replace(X=X[part], weight=chunk.weight[part])
            W[part] = nn.pass_over(some, H, None, o._replace(holes=holes))[0]
    return W


def exact(o: nn.Options) -> nn.Options:
    """The same pass, with every row solved to the end."""
    return o._replace(sweeps=10000, ratio=1e-9)


class FactorQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The answers of a fitted factorization."""

    beta_loss: Any
    l1_ratio: float

    def _check_loaded(self) -> None:
        """Compiled loops trust the number of columns."""
        found = vars(self)
        if "components_" in found:
            shape = np.shape(found["components_"])
            if len(shape) != 2 or shape[1] != found.get("n_features_in_"):
                raise ModelFileError(f"components_ of shape {shape} do not fit its columns.")

    def _beta(self) -> float:
        return nn.beta_of(self.beta_loss)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Array:
        """Return the usage W of new rows, the parts held fixed; every row is solved on its own."""
        rows = self._rows(X)
        if rows.in_memory and rows.sparse and np.isnan(rows.X.data).any():
            rows = dense_rows(rows)
        p = rows.n_features
        l1, l2 = self.l1_ratio, 1.0 - self.l1_ratio
        penalty = nn.Penalty(self.alpha_W * l1 * p, self.alpha_W * l2 * p)
        solver = "cd" if self._beta() == 2.0 else "mu"  # one optimum, and this way is quick
        o = nn.Options(self._beta(), penalty, solver, False, 2000, 1e-7, True)
        if solver == "cd":
            o = exact(o)
        found = per_row(usage, rows, np.asarray(self.components_, dtype=np.float64), o)
        return found.astype(rows.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return WH for usages W in rows, as float32 where W is."""
        check_fitted(self)
        W = np.asarray(X)
        found = W @ self.components_
        return found.astype(np.float32) if W.dtype == np.float32 else found

    def loglik(self, X: Any) -> float:
        """Return the log-likelihood of X: Poisson for Kullback–Leibler, Gaussian with profiled variance for squares."""
        beta = self._beta()
        if beta not in (1.0, 2.0):
            raise DataError("loglik is defined for the squared and the Kullback–Leibler loss.")
        X = matrix(X, nan=True, allow_sparse=True)
        W, loss, constant, count = self.transform(X), 0.0, 0.0, 0
        for part, block in nn.dense_blocks(X):
            loss += nn.divergence(block, self.inverse_transform(W[part]), beta)
            constant += nn.poisson_constant(block) if beta == 1.0 else 0.0
            count += int((~np.isnan(block)).sum())
        if beta == 1.0:
            return -loss - constant
        return float(-0.5 * count * (np.log(2.0 * np.pi * 2.0 * loss / count) + 1.0))

    def _criterion(self, X: Any, price: float, scale: str) -> float:
        if scale not in ("full", "half"):
            raise DataError(f"scale must be 'full' or 'half'; got {scale!r}.")
        n, p = np.shape(X)
        count = (n + p) * len(self.components_)
        value = -2.0 * self.loglik(X) + price * count
        return value if scale == "full" else value / 2.0

    def aic(self, X: Any, *, scale: str = "full") -> float:
        """Return −2 log-likelihood + 2(n + p)K; ``scale="half"`` gives half of it."""
        return self._criterion(X, 2.0, scale)

    def bic(self, X: Any, *, scale: str = "full") -> float:
        """Return −2 log-likelihood + (n + p)K ln(np): the entries are the observations."""
        return self._criterion(
            X, float(np.log(np.size(X) if not sparse.issparse(X) else np.prod(X.shape))), scale
        )

    def top_features(self, n: int = 10) -> list[list[str]]:
        """Return the names of the largest entries of every part, largest first."""
        check_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        order = np.argsort(-self.components_, axis=1, kind="stable")[:, :n]
        return [[str(names[j]) for j in row] for row in order]

    def plot(self, shape: Any = None, ax: Any = None, *, X: Any = None) -> Any:
        """Draw the parts, as images of this shape where it is given; with rows X their update of W; return the Axes."""
        if X is None:
            from gnomon.plot import images

            return images(self, shape, ax=ax)
        from gnomon.plot.projections import multiplicative_update

        return multiplicative_update(X, self.transform(X), self.components_, ax)
