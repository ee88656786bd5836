"""Canonical correlations: the directions of two blocks that agree most, and predicting one block from the other."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, stats
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)

from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted, matrix, warn
from gnomon.decomposition._canonical import (
    Canonical,
    canonical_directions,
    from_rows,
    joint_scatter,
    score_scales,
    without_ties,
)
from gnomon.decomposition._projecting import scores_of
from gnomon.decomposition._scatter import Scatter, check_scatter

TRUSTED = 1e-10  # smallest eigenvalue of a correlation matrix at which cross-products keep enough digits


class CanonicalTest(NamedTuple):
    """Tests that the correlations from each one on are all zero."""

    wilks: Array
    statistic: Array
    dof: Array
    pvalue: Array


class CCA(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MultiOutputMixin,
    RegressorMixin,
    Estimator,
):
    r"""Canonical correlation analysis (Hotelling 1936), and regression through it.

    .. math:: \max_{u, v} u^T X^T Y v \quad \text{subject to} \quad \lVert Xu \rVert = \lVert Yv \rVert = 1

    in successive uncorrelated pairs. The correlations are the cosines of the principal angles between the column
    spaces of the centered blocks, so invertible maps of either block change nothing. One pass over the rows and one
    small SVD, not an iteration; blocks that are nearly dependent are solved from the rows. With fewer rows than
    columns every correlation would be 1: use `reg`.

    Parameters
    ----------
    n_components : int, default=2
        Pairs to keep.
    scale : bool, default=True
        Standardize columns first. It changes weights and loadings, not the correlations.
    max_iter, tol, copy
        Kept for scikit-learn; nothing is iterated.
    center : bool, default=True
        Whether means are taken off first.
    reg : float, default=0.0
        Added to the diagonals of both scatter matrices.
    normalize : {"weights", "unit", "variance"}, default="weights"
        Length of the scores: scikit-learn's, 1, or unit sample variance.
    regression : {"least_squares", "canonical"}, default="least_squares"
        `predict` by :math:`\hat y = \bar y + (x-\bar x) U_q D_q V_q^T S_{yy}` (all pairs: ordinary least squares;
        fewer: reduced rank), or by solving :math:`U_q^T(x-\bar x) = V_q^T(y-\bar y)` for the shortest y.

    Attributes
    ----------
    canonical_correlations_, angles_ : arrays
        All correlations, largest first, and their angles.
    x_weights_, y_weights_, x_loadings_, y_loadings_, x_rotations_, y_rotations_ : arrays
        As in scikit-learn.
    coef_ : array of shape (q, p)
    intercept_ : array of shape (q,)
        As in scikit-learn, `predict` is :math:`(x-\bar x)` times the transposed coefficients plus this, the mean of Y.
    n_samples_ : float

    Examples
    --------
    >>> X = [[1, 2], [2, 1], [3, 5], [4, 3], [5, 6], [6, 8]]
    >>> Y = [[1, 0], [3, 1], [2, 2], [5, 1], [4, 3], [7, 2]]
    >>> model = CCA(2).fit(X, Y)
    >>> model.canonical_correlations_.round(4), model.predict([[3, 3]]).round(4)
    (array([0.9884, 0.4223]), array([[3.4005, 1.2014]]))
    """

    _reads = Reads(y="numbers", scales=True, min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "scale": ["boolean"],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "copy": ["boolean"],
        "center": ["boolean"],
        "reg": [NOT_NEGATIVE],
        "normalize": [StrOptions({"weights", "unit", "variance"})],
        "regression": [StrOptions({"least_squares", "canonical"})],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        max_iter: int = 500,
        tol: float = 1e-06,
        copy: bool = True,
        center: bool = True,
        reg: float = 0.0,
        normalize: str = "weights",
        regression: str = "least_squares",
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
        self.center = center
        self.reg = reg
        self.normalize = normalize
        self.regression = regression

    def _solve(self, rows: Any) -> dict[str, Any]:
        sums = total(joint_scatter, rows)
        check_scatter(sums, rows)
        about = sums if self.center else sums.about_origin()
        p = rows.n_features
        K = int(self.n_components)
        q = len(about.mean) - p
        if sums.n_rows < 2:
            raise DataError("CCA needs at least 2 samples (rows of positive weight).")
        bound = min(p, q, int(sums.n_rows))
        if K > bound:
            raise DataError(
                f"`n_components` upper bound is {bound}, the smallest of columns of X, columns of Y and rows. Got "
                f"{K} instead. Reduce `n_components`."
            )
        size = np.sqrt(sums.scatter.diagonal() / max(sums.weight - 1.0, 1.0))
        varies = size > 1e-13 * np.abs(sums.mean)  # below that a constant, rounded
        for part, name in ((slice(0, p), "X"), (slice(p, None), "Y")):
            if not varies[part].any():
                raise DegenerateError(
                    f"every column of {name} is constant, or so small that its squares vanish; nothing can correlate "
                    "with it."
                )
        std = np.where(varies, size, 1.0) if self.scale else np.ones(p + q)
        S = about.scatter / std[:, None] / std
        if self.center:  # whatever its units: a small column counts, rounding of a constant does not
            S = np.where(varies[:, None] & varies, S, 0.0)
        found = without_ties(self._directions(rows, S, about.mean, std, p), S[:p, :p], S[p:, p:])
        if min(found.ranks) < K:
            raise DataError(
                f"n_components={K} exceeds the rank of a block of columns, {min(found.ranks)}; lower it, or set reg."
            )
        if sums.n_rows - int(self.center) <= max(found.ranks) and self.reg == 0:
            warn(
                "X or Y has as many independent columns as there are rows, so correlations of 1 mean nothing; "
                "set reg, or reduce the columns first."
            )
        one = not rows.in_memory or rows.y.ndim == 1
        return {**self._named(found, S, about, std, p, K), "one_target_": one and q == 1, "n_iter_": [1] * K}

    def _directions(self, rows: Any, S: Array, mean: Array, std: Array, p: int) -> Canonical:
        trusted = all(_smallest(block) > TRUSTED for block in (S[:p, :p], S[p:, p:]))
        if self.reg > 0 or trusted or not rows.in_memory:
            return canonical_directions(S[:p, :p], S[p:, p:], S[:p, p:], self.reg)
        Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        kept = S.diagonal() > 0.0
        X, Y = (rows.X - mean[:p]) / std[:p] * kept[:p], (Y - mean[p:]) / std[p:] * kept[p:]
        return from_rows(X, Y, rows.weight, S[:p, :p], S[p:, p:])

    def _named(self, found: Canonical, S: Array, sums: Scatter, std: Array, p: int, K: int) -> dict[str, Any]:
        Sx, Sy = S[:p, :p], S[p:, p:]
        U, V, D = found.U[:, :K], found.V[:, :K], found.correlations[:K]
        x_weights, x_size = score_scales(Sx, U, found.ranks[0])
        y_weights, y_size = score_scales(Sy, V, found.ranks[1])
        signs = np.where(x_weights[np.abs(x_weights).argmax(axis=0), np.arange(K)] < 0, -1.0, 1.0)
        U, V, x_weights, y_weights = U * signs, V * signs, x_weights * signs, y_weights * signs
        if self.normalize == "unit":
            x_size = y_size = np.ones(K)
        elif self.normalize == "variance":
            x_size = y_size = np.full(K, np.sqrt(max(sums.weight - 1.0, 1.0)))
        x_rotations, y_rotations = U * x_size, V * y_size
        if self.regression == "least_squares":
            B = (U * D) @ (V.T @ Sy)
        else:
            B = U @ linalg.pinv(V)
        coef = (B / std[:p, None] * std[p:]).T
        return {
            "x_weights_": x_weights,
            "y_weights_": y_weights,
            "x_rotations_": x_rotations,
            "y_rotations_": y_rotations,
            "x_loadings_": (Sx @ U) / x_size,
            "y_loadings_": (Sy @ V) / y_size,
            "canonical_correlations_": found.correlations,
            "angles_": np.arccos(found.correlations),
            "coef_": coef,
            "intercept_": sums.mean[p:].copy(),
            "mean_": sums.mean,
            "scale_": std,
            "ranks_": np.array(found.ranks),
            "n_samples_": float(sums.weight),
        }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, Y: Any = None) -> Any:
        """Learn the pairs from two blocks of the same rows.

        Parameters
        ----------
        X : array of shape (n, p)
            The first block.
        y : array of shape (n,) or (n, q)
            The second block; `Y` is another name for it.
        sample_weight : array, optional
            How many times each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        rows = self._read(X, Y if y is None else y, sample_weight)
        self._adopt(self._solve(rows), rows)
        return self

    def transform(self, X: Any, y: Any = None, copy: bool = True, *, Y: Any = None) -> Any:
        """Return the scores of the first block, or a pair of scores where the second block is given."""
        p = self._width()
        axes = self.x_rotations_ / self.scale_[:p, None]
        scores = per_row(scores_of, self._rows(X), self.mean_[:p], axes)
        other = Y if y is None else y
        if other is None:
            return scores
        return scores, self._second(other)

    def _second(self, Y: Any) -> Array:
        p = self._width()
        Y = np.asarray(Y, dtype=np.float64)
        Y = matrix(Y if Y.ndim == 2 else Y.reshape(-1, 1), name="Y")
        if Y.shape[1] != len(self.mean_) - p:
            raise DataError(f"Y has {Y.shape[1]} columns; the model was fitted with {len(self.mean_) - p}.")
        return ((Y - self.mean_[p:]) / self.scale_[p:]) @ self.y_rotations_

    def _width(self) -> int:
        check_fitted(self)
        return int(self.n_features_in_)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the scores of both blocks."""
        return self.fit(X, y, sample_weight).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Return the columns that scores stand for: scores · loadingsᵀ, back on the scale of the data."""
        p = self._width()
        first = np.asarray(X, dtype=np.float64) @ self.x_loadings_.T * self.scale_[:p] + self.mean_[:p]
        if y is None:
            return first
        return first, np.asarray(y, dtype=np.float64) @ self.y_loadings_.T * self.scale_[p:] + self.mean_[p:]

    def predict(self, X: Any, copy: bool = True) -> Array:
        """Return the second block predicted from the first."""
        p = self._width()
        found = per_row(affine, self._rows(X), self.mean_[:p], self.coef_, self.intercept_)
        return found.ravel() if self.one_target_ else found

    def test(self) -> CanonicalTest:
        """Test for every j that the correlations from j on are zero (Bartlett's χ² of Wilks' lambda)."""
        p = self._width()
        q = len(self.mean_) - p
        rho = self.canonical_correlations_
        j = np.arange(len(rho))
        with np.errstate(divide="ignore"):
            logs = np.cumsum(np.log1p(-(rho**2))[::-1])[::-1]
        statistic = -(self.n_samples_ - 1.0 - (p + q + 1) / 2.0) * logs
        dof = (p - j) * (q - j)
        return CanonicalTest(np.exp(logs), statistic, dof, stats.chi2.sf(statistic, dof))

    def _check_loaded(self) -> None:
        if "x_rotations_" in vars(self):
            k, p = self.x_rotations_.shape[-1], self.n_features_in_
            q = len(self.mean_) - p
            check_shapes(self, {"mean_": (p + q,), "scale_": (p + q,)})
            for name in ("weights", "rotations", "loadings"):
                check_shapes(self, {f"x_{name}_": (p, k), f"y_{name}_": (q, k)})

    @property
    def _n_features_out(self) -> int:
        return self.x_rotations_.shape[1]

    def plot(self, X: Any, Y: Any, ax: Any = None) -> Any:
        """Draw the pairs of variates; return the Axes."""
        from gnomon.plot import embedding

        return embedding(self, X, Y, ax=ax, kind="pairs")


def affine(chunk: Chunk, mean: Array, coef: Array, intercept: Array) -> Array:
    """(x − mean) · coefᵀ + intercept: columns far from zero keep their digits."""
    return (np.asarray(chunk.X, dtype=np.float64) - mean) @ coef.T + intercept


def _smallest(S: Array) -> float:
    """The smallest eigenvalue of the block as a correlation matrix; 0 where a column is constant."""
    size = np.sqrt(S.diagonal())
    if not (size > 0).all():
        return 0.0
    return float(linalg.eigvalsh(S / size[:, None] / size, subset_by_index=[0, 0])[0])
