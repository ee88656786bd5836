"""Linear discriminant analysis: normal classes with a common covariance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.special import expit
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.bayes.class_moments import ClassSums
from gnomon.bayes.classifier import class_priors, normalized
from gnomon.bayes.normal_classes import SHARE, NormalClasses, expected_rows
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array, cholesky, fix_signs, symmetric_eigen
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.sums import Chunk, per_row
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, warn, without_overflow
from gnomon.distributions.base import Family
from gnomon.distributions.normal import Gaussian


def without_rounding(covariance: Array, means: Array) -> Array:
    """Return the covariance with zeros where a variance is no more than the rounding of the means."""
    least = (8.0 * np.finfo(np.float64).eps * np.abs(means).max(axis=0)) ** 2
    varies = np.diagonal(covariance) > least
    return np.where(varies[:, None] & varies, covariance, 0.0)


def affine(chunk: Chunk, weights: Array, offsets: Array) -> Array:
    """Return x·w + b for every column of weights."""
    return chunk.X @ weights + offsets


def whitener(covariance: Array, tol: float) -> Array:
    """Return W of shape (d, rank) with WᵀΣW = I; directions without variance are left out."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    scale = np.where(deviation > 0, deviation, 1.0)
    values, vectors = symmetric_eigen(covariance / np.outer(scale, scale))
    kept = values > tol**2 * max(float(values[0]), 0.0)
    if not kept.any():
        raise DegenerateError(
            "the columns do not vary within the classes; there is nothing to discriminate by."
        )
    if not kept.all():
        warn(f"Variables are collinear: {int((~kept).sum())} directions without variance are left out.")
    return (vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None]


def rescaled_priors(weight: Array, priors: Any) -> Array:
    """Return P(class) as given, divided by its sum, with a warning, where that is not 1."""
    if priors is None or isinstance(priors, str):
        return class_priors(weight, priors)
    given = np.asarray(priors, dtype=np.float64)
    if (given < 0).any():
        raise DataError(f"priors must be non-negative; got {given.tolist()}.")
    if given.sum() > 0 and abs(given.sum() - 1.0) > 1e-8:
        warn(f"the priors sum to {given.sum():g}, not to 1; they are divided by that.")
        given = given / given.sum()
    return class_priors(weight, given)


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NormalClasses):  # type: ignore[misc]
    r"""Normal classes with one covariance: the rule is linear, and its axes separate the classes best.

    .. math:: \delta_k(x) = x^T \Sigma^{-1} \mu_k - \tfrac12 \mu_k^T \Sigma^{-1} \mu_k + \ln \pi_k, \qquad
              \Sigma = \frac1n \sum_i (x_i - \mu_{y_i})(x_i - \mu_{y_i})^T

    Strong when there are few rows and the classes are about normal. Missing entries (NaN) are estimated by EM and
    integrated out of the rule. `transform` projects on the axes that
    maximize the variance between the classes against that within (Fisher). Covariances divide by n.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Kept for scikit-learn's sake: all three give the same answer here. A singular covariance is handled by
        leaving out the directions without variance, with a warning.
    shrinkage : float between 0 and 1, or "auto", optional
        Weight of a multiple of the identity in the covariance; "auto" is the weight of Ledoit and Wolf.
    priors : array of shape (K,) or "uniform", optional
        Probabilities of the classes; their shares of the data when not given.
    n_components : int, optional
        Axes to keep in `transform`, at most min(K − 1, d).
    store_covariance : bool, default=False
        Kept for scikit-learn's sake: `covariance_` is always there.
    tol : float, default=1e-4
        A direction with less than this share of the largest deviation has none.
    covariance_estimator : estimator, optional
        Has `fit` and `covariance_`; it is asked for the covariance of every class. Not beside `shrinkage`.
    weighting : {"sample", "class"}, default="sample"
        "class" counts the covariance of every class alike, whatever its size.
    threshold : {"bayes", "midpoint"}, default="bayes"
        "midpoint" leaves the priors out of the rule.
    covariance_type : {"full", "diag", "spherical"}, default="full"
        What the common covariance may be.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Of the linear rule; one row for two classes, else one for each.
    means_, covariance_, priors_, xbar_ : arrays
        Means of the classes, common covariance, probabilities, overall mean.
    scalings_, explained_variance_ratio_, ratios_ : arrays
        Fisher axes in columns, their shares of the variance between, and their Fisher ratios.

    Examples
    --------
    >>> X = [[4, 2], [2, 4], [2, 3], [3, 6], [4, 4], [9, 10], [6, 8], [9, 5], [8, 7], [10, 8]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [0] * 5 + [1] * 5)
    >>> model.coef_.round(6), model.predict_proba([[6, 5]]).round(6)
    (array([[4.269103, 1.960133]]), array([[0.522825, 0.477175]]))
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True, min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [SHARE, StrOptions({"auto"}), None],
        "covariance_estimator": [HasMethods("fit"), None],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "n_components": [COUNT, None],
        "store_covariance": ["boolean"],
        "tol": [NOT_NEGATIVE],
        "weighting": [StrOptions({"sample", "class"})],
        "threshold": [StrOptions({"bayes", "midpoint"})],
        "covariance_type": [StrOptions({"full", "diag", "spherical"})],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        weighting: str = "sample",
        threshold: str = "bayes",
        covariance_type: str = "full",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.weighting = weighting
        self.threshold = threshold
        self.covariance_type = covariance_type

    def _family(self) -> Family:
        return Gaussian(covariance_type="full" if self.weighting == "class" else "tied")

    def _covariance(self, sums: ClassSums, matrices: Array | None) -> Array:
        """Return the covariance within the classes, of the type asked for."""
        moments = sums.statistics
        if matrices is not None:
            shares = rescaled_priors(sums.weight, self.priors) if self.weighting == "sample" else None
            return np.average(matrices, axis=0, weights=shares)
        if self.weighting == "class":
            found = (moments.scatter / moments.weight[:, :, None]).mean(axis=0)
        else:
            found = moments.scatter / sums.weight.sum()
        found, d = without_rounding(found, moments.mean), len(found)
        if self.covariance_type == "diag":
            found = np.diag(np.diagonal(found))
        elif self.covariance_type == "spherical":
            found = np.eye(d) * np.trace(found) / d
        if weight := self._shrinkage():
            found = (1 - weight) * found + weight * np.trace(found) / d * np.eye(d)
        return found

    def _estimate(self, sums: ClassSums, matrices: Array | None = None) -> dict[str, Any]:
        means, covariance, K = sums.statistics.mean, self._covariance(sums, matrices), len(sums.weight)
        self._require_two_classes(sums)
        priors = rescaled_priors(sums.weight, self.priors)
        W = whitener(covariance, self.tol)
        axes, ratios = self._axes(W, means, priors, sums)
        center = (sums.weight / sums.weight.sum()) @ means
        coef = (means - center) @ W @ W.T  # around the center: the same differences, of smaller numbers
        intercept = -0.5 * np.einsum("kd,kd->k", means - center, coef) - coef @ center
        if self.threshold == "bayes":
            with np.errstate(divide="ignore"):
                intercept = intercept + np.log(priors)
        if K == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        share = ratios / ratios.sum() if ratios.sum() > 0 else ratios
        limit = min(K - 1, means.shape[1], axes.shape[1])
        kept = limit if self.n_components is None else min(self.n_components, limit)
        if self.n_components is not None and self.n_components > min(K - 1, means.shape[1]):
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1); got {self.n_components}."
            )
        facts = {"coef_": coef, "intercept_": intercept, "means_": means, "covariance_": covariance}
        more = {"priors_": priors, "class_prior_": priors, "xbar_": center, "scalings_": axes[:, :limit]}
        last = {
            "ratios_": ratios[:limit],
            "explained_variance_ratio_": share[:kept],
        }
        return {**facts, **more, **last, "class_count_": sums.weight}

    def _solve(self, rows: Any) -> Any:
        if rows.n_rows <= len(rows.classes):
            raise DataError(
                f"The number of samples must be more than the number of classes: there are {rows.n_rows} rows of "
                f"{len(rows.classes)} classes, which leaves no spread within them."
            )
        facts, objective = super()._solve(rows)
        if rows.dtype == np.float32:
            facts |= {name: facts[name].astype(np.float32) for name in ("coef_", "intercept_")}
        return facts, objective

    def _require_two_classes(self, sums: ClassSums) -> None:
        if (sums.weight > 0).sum() < 2:
            raise DataError("The number of classes has to be greater than one; got 1 class.")
        if (sums.weight <= 0).any():
            raise DataError("a class has no row yet; give partial_fit rows of every class first.")

    def _axes(self, W: Array, means: Array, priors: Array, sums: ClassSums) -> tuple[Array, Array]:
        """Return the axes that maximize variance between over variance within, and these ratios."""
        shares = np.full(len(priors), 1.0 / len(priors)) if self.weighting == "class" else priors
        spread = (means - shares @ means) * np.sqrt(shares)[:, None]
        _, singular, right = linalg.svd(spread @ W, full_matrices=False)
        return fix_signs(W @ right.T), singular**2

    def _scores(self, X: Any) -> Array:
        rows = self._rows(X)
        scores = per_row(affine, rows, np.ascontiguousarray(self.coef_.T), self.intercept_)
        return self._observed_scores(rows) if np.isnan(scores).any() else scores

    def _observed_scores(self, rows: Any) -> Array:
        """ln π_k + ln p_k of the entries that are there; log-odds for two classes."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.priors_) if self.threshold == "bayes" else np.zeros(len(self.priors_))
        family = Gaussian(self.means_, self.covariance_, covariance_type="tied")
        table = per_row(joint, rows, family, logs)
        return table[:, 1:] - table[:, :1] if len(self.priors_) == 2 else table

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of the second class for two classes, else δ_k(x) less its value for the mean row.

        Where entries are missing, δ_k is ln π_k plus the log-density of the others.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the most probable class of every row; ties go to the first."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """Return P(k | x), shape (n, K)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return normalized(scores, self.priors_, logs=False)

    def predict_log_proba(self, X: Any) -> Array:
        """Return ln P(k | x), shape (n, K)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return normalized(scores, self.priors_)

    def _joint(self, X: Any) -> Array:
        rows = self._rows(X)
        family = Gaussian(self.means_, self.covariance_, covariance_type="tied")
        return without_overflow(per_row(joint, rows, family, np.log(self.priors_)))

    def _check_loaded(self) -> None:
        if "scalings_" in vars(self):
            check_shapes(self, {"scalings_": (int(self.n_features_in_), *np.shape(self.scalings_)[-1:])})

    def transform(self, X: Any) -> Array:
        """Project on the Fisher axes, shape (n, n_components); missing entries by their expected values."""
        rows = self._rows(X)
        axes = self.scalings_[:, : self._n_features_out]
        found = per_row(affine, rows, np.ascontiguousarray(axes), -self.xbar_ @ axes)
        if np.isnan(found).any():  # the expected place of a row with missing entries
            if not rows.in_memory:
                raise DataError(
                    "rows with missing entries must be in memory to be projected; load the table first."
                )
            shares = normalized(self._joint(X), self.priors_, logs=False)
            found = (expected_rows(rows.X, shares, self.means_, self.covariance_) - self.xbar_) @ axes
        return found

    @property
    def _n_features_out(self) -> int:
        return len(self.explained_variance_ratio_)

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows and their classes from the model."""
        from gnomon.core.randomness import generator

        rng = generator(random_state)
        codes = rng.choice(len(self.priors_), size=n, p=self.priors_)
        return Gaussian(self.means_, self.covariance_, covariance_type="tied").sample(
            codes, rng
        ), self.classes_[codes]


def joint(chunk: Chunk, family: Family, log_priors: Array) -> Array:
    """Return ln π_k + ln p_k(x)."""
    return family.log_density(chunk.X) + log_priors


def two_normals(mu1: Any, mu2: Any, covariance: Any, priors: Any = None) -> tuple[Array, float, float]:
    r"""Return the optimal hyperplane between two normal classes with a common covariance.

    Class 1 is chosen where w·x > t, with w = Σ⁻¹(μ₁ − μ₂) and t = ½(μ₁ + μ₂)·w − ln(π₁/π₂).

    Parameters
    ----------
    mu1, mu2 : arrays of shape (d,)
        Means.
    covariance : array of shape (d, d)
        Common covariance.
    priors : pair of floats, optional
        Probabilities of the classes; equal when not given.

    Returns
    -------
    weights, threshold, error : array, float, float
        The hyperplane, and the Bayes error, Φ(−Δ/2) for equal priors.

    Examples
    --------
    >>> w, t, error = two_normals([1, 2], [-1, 0], [[2, 0.5], [0.5, 1]])
    >>> w.round(6), round(t, 6), round(error, 6)
    (array([0.571429, 1.714286]), 1.714286, 0.142525)
    """
    from scipy.special import ndtr

    mu1, mu2 = np.asarray(mu1, dtype=float), np.asarray(mu2, dtype=float)
    L, _ = cholesky(np.asarray(covariance, dtype=float), what="covariance")
    w = linalg.cho_solve((L, True), mu1 - mu2)
    distance = float(np.sqrt(w @ (mu1 - mu2)))
    p1, p2 = (0.5, 0.5) if priors is None else (float(p) for p in priors)
    offset = float(np.log(p1 / p2))
    error = p1 * ndtr(-distance / 2 - offset / distance) + p2 * ndtr(-distance / 2 + offset / distance)
    return w, float(0.5 * (mu1 + mu2) @ w - offset), float(error)
