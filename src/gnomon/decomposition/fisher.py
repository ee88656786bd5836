"""Fisher's discriminant as a projection: axes that part the classes most, relative to their spread."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.closed_form import Additive
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, fix_signs, symmetric_eigen
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import COUNT, Reads, check_fitted, warn
from gnomon.decomposition._projecting import scores_of
from gnomon.distributions.moments import FullMoments, full_moments


def class_moments(chunk: Chunk, n_classes: int) -> FullMoments:
    """Weight, mean and scatter of every class."""
    weights = np.zeros((len(chunk.y), n_classes))
    weights[np.arange(len(chunk.y)), chunk.y] = chunk.weight
    return full_moments(np.asarray(chunk.X, dtype=np.float64), weights, None)


class FisherProjection(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Additive):
    r"""Projection onto the axes that separate classes best.

    .. math:: J(w) = \frac{w^T S_b w}{w^T S_w w}, \qquad S_b w = J\, S_w w

    The leading generalized eigenvectors; with q classes at most q − 1 have J > 0. Two classes give
    :math:`w \propto S_w^{-1}(\mu_2 - \mu_1)` and the threshold half-way between the projected means. Unlike `PCA` it
    looks at the labels. `predict` gives the class whose mean is nearest in the projection; for probabilities use
    `gnomon.bayes.LinearDiscriminantAnalysis`, whose axes these are.

    Parameters
    ----------
    n_components : int, optional
        Axes to keep; min(q − 1, p) when not given.
    weighting : {"sample", "class", "scatter"}
        "sample": S_w and S_b are means over rows. "class": every class counts alike, S_w = Σ_j cov_j and
        S_b = (1/q) Σ_j (μ_j − μ)(·)ᵀ. "scatter": sums, not means; for two classes S_b = (μ_1 − μ_2)(·)ᵀ.
    criterion : {"fisher", "mean_difference"}
        "mean_difference" takes w ∝ μ_2 − μ_1 (more classes: the axes of the means), the baseline to compare with.
    shrinkage : float or "auto", optional
        s of (1 − s)S_w + s·tr(S_w)/p·I; "auto" takes p/(p + n), as does, with a warning, a singular S_w.
    solver : {"eigen"}
        Kept for scikit-learn.

    Attributes
    ----------
    scalings_ : array of shape (p, K)
        Axes with wᵀS_w w = 1.
    components_ : array of shape (K, p)
        The same with unit length.
    criterion_values_ : array of shape (K,)
        J of every axis.
    explained_variance_ratio_ : array of shape (K,)
    means_ : array of shape (q, p)
    xbar_ : array of shape (p,)
    within_, between_ : arrays of shape (p, p)
    direction_, threshold_ : array of shape (p,), float
        For two classes: S_w⁻¹(μ_2 − μ_1) and the projected midpoint.
    sums_ : moments of the classes, to which `partial_fit` adds.

    Examples
    --------
    >>> X = [[4, 2], [2, 4], [2, 3], [3, 6], [4, 4], [9, 10], [6, 8], [9, 5], [8, 7], [10, 8]]
    >>> model = FisherProjection().fit(X, [0] * 5 + [1] * 5)
    >>> model.criterion_values_.round(4), model.components_.round(4)
    (array([7.6254]), array([[0.9088, 0.4173]]))
    """

    _reads = Reads(y="class", scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, None],
        "weighting": [StrOptions({"sample", "class", "scatter"})],
        "criterion": [StrOptions({"fisher", "mean_difference"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "solver": [StrOptions({"eigen"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        weighting: str = "sample",
        criterion: str = "fisher",
        shrinkage: Any = None,
        solver: str = "eigen",
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.criterion = criterion
        self.shrinkage = shrinkage
        self.solver = solver

    def _statistics(self, rows: Any) -> FullMoments:
        if len(rows.classes) < 2:
            raise DataError(f"y must hold at least 2 classes; it holds one class, {rows.classes[0]!r}.")
        return total(class_moments, rows, len(rows.classes))

    def _estimate(self, sums: FullMoments) -> dict[str, Any]:
        n, p = sums.weight[:, 0], sums.mean.shape[1]
        if (n <= 0).any():
            raise DataError("a class has no row of positive weight; drop it from y.")
        if not np.isfinite(sums.scatter).all():
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        Sw, Sb, center = self._scatters(sums, n)
        inner = self._regular(Sw, float(n.sum()))
        q = len(n)
        K = min(q - 1, p) if self.n_components is None else int(self.n_components)
        if K > min(q - 1, p):
            raise DataError(
                f"n_components={K} must not exceed min(classes - 1, features) = {min(q - 1, p)}; lower it."
            )
        if self.criterion == "fisher":
            values, W = symmetric_eigen(Sb, K, inner)
            every = linalg.eigh(Sb, inner, eigvals_only=True)
            values = np.maximum(values, 0.0)
            whole = float(np.maximum(every, 0.0).sum())
        else:
            values, W, whole = self._axes_of_means(sums, inner, Sb, center, n, K)
        found = {
            "scalings_": W,
            "components_": np.ascontiguousarray((W / np.linalg.norm(W, axis=0)).T),
            "criterion_values_": values,
            "explained_variance_ratio_": values / whole if whole > 0 else np.zeros(K),
            "means_": sums.mean,
            "xbar_": center,
            "within_": Sw,
            "between_": Sb,
        }
        if q == 2:
            gap = sums.mean[1] - sums.mean[0]
            w = linalg.solve(inner, gap, assume_a="pos") if self.criterion == "fisher" else gap
            found |= {"direction_": w, "threshold_": float(0.5 * (sums.mean[0] + sums.mean[1]) @ w)}
        return found

    def _scatters(self, sums: FullMoments, n: Array) -> tuple[Array, Array, Array]:
        center = (n / n.sum()) @ sums.mean
        gaps = sums.mean - center
        if self.weighting == "sample":
            Sw, Sb = sums.scatter.sum(axis=0) / n.sum(), (gaps * (n / n.sum())[:, None]).T @ gaps
        elif self.weighting == "class":
            Sw, Sb = (sums.scatter / n[:, None, None]).sum(axis=0), gaps.T @ gaps / len(n)
        else:
            Sw = sums.scatter.sum(axis=0)
            gap = sums.mean[0] - sums.mean[1]
            Sb = np.outer(gap, gap) if len(n) == 2 else (gaps * n[:, None]).T @ gaps
        return Sw, Sb, center

    def _regular(self, Sw: Array, n: float) -> Array:
        p = len(Sw)
        if self.shrinkage is not None:
            s = p / (p + n) if self.shrinkage == "auto" else float(self.shrinkage)
            Sw = (1.0 - s) * Sw + s * Sw.trace() / p * np.eye(p)
        size = np.sqrt(Sw.diagonal())
        safe = np.where(size > 0, size, 1.0)
        scaled = Sw / safe[:, None] / safe
        if (size > 0).all() and linalg.eigvalsh(scaled, subset_by_index=[0, 0])[0] >= 1e-12:
            return Sw
        warn(
            "the scatter within the classes is singular: columns of X are constant or repeat others, or there are "
            "fewer rows than columns. It is shrunk a little; set shrinkage, or apply PCA first."
        )
        share = p / (p + n)
        mean = float(Sw.trace()) / p
        return (1.0 - share) * Sw + share * (mean if mean > 0 else 1.0) * np.eye(p)

    def _axes_of_means(
        self, sums: FullMoments, Sw: Array, Sb: Array, center: Array, n: Array, K: int
    ) -> tuple[Array, Array, float]:
        gaps = (sums.mean - center) * np.sqrt(n)[:, None]
        W = fix_signs(linalg.svd(gaps, full_matrices=False)[2][:K].T)
        W = W / np.sqrt(np.einsum("pk,pq,qk->k", W, Sw, W))
        values = np.einsum("pk,pq,qk->k", W, Sb, W)
        return values, W, float(linalg.eigh(Sb, Sw, eigvals_only=True).sum())

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from more rows; the result is the same as from all of them at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes, where the first rows do not have every one.

        Returns
        -------
        self
            The fitted model.
        """
        first = not hasattr(self, "sums_")
        return self._add(
            self._read(X, y, sample_weight, reset=first, classes=classes if first else self.classes_)
        )

    @property
    def _n_features_out(self) -> int:
        return self.scalings_.shape[1]

    def _check_loaded(self) -> None:
        if "scalings_" in vars(self):
            d = self.n_features_in_
            check_shapes(self, {"xbar_": (d,), "means_": (len(self.classes_), d)})
            check_shapes(self, {"scalings_": (d, self.scalings_.shape[-1])})

    def transform(self, X: Any) -> Array:
        """Return the coordinates of the rows along the axes, about the overall mean."""
        check_fitted(self)
        return per_row(scores_of, self._rows(X), self.xbar_, self.scalings_)

    def decision_function(self, X: Any) -> Array:
        """Return w·x − threshold for two classes, positive on the side of the second; else minus half the squared
        distance to every projected mean.
        """
        check_fitted(self)
        rows = self._rows(X)
        if hasattr(self, "direction_"):
            return per_row(scores_of, rows, np.zeros(self.n_features_in_), self.direction_) - self.threshold_
        Z = per_row(scores_of, rows, self.xbar_, self.scalings_)
        centers = (self.means_ - self.xbar_) @ self.scalings_
        return -0.5 * ((Z[:, None, :] - centers) ** 2).sum(axis=2)

    def predict(self, X: Any) -> Array:
        """Return the class whose mean is nearest in the projection; ties go to the first."""
        found = self.decision_function(X)
        codes = (found > 0).astype(int) if found.ndim == 1 else found.argmax(axis=1)
        return self.classes_[codes]

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """Draw histograms of the classes along the first axis; return the Axes."""
        from gnomon.plot import projected_classes

        return projected_classes(X, y, self.components_[0], ax=ax)
