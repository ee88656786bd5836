"""Quadratic discriminant analysis: normal classes with a covariance each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.bayes.class_moments import ClassSums
from gnomon.bayes.classifier import class_priors
from gnomon.bayes.normal_classes import SHARE, NormalClasses
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.validate import NOT_NEGATIVE, Reads, warn, without_overflow
from gnomon.distributions.base import Family
from gnomon.distributions.normal import Gaussian


class QuadraticDiscriminantAnalysis(NormalClasses):
    r"""Normal classes with a covariance each: the boundaries are quadrics.

    .. math:: \ln P(k \mid x) = \ln \pi_k - \tfrac12 \ln |\Sigma_k|
              - \tfrac12 (x - \mu_k)^T \Sigma_k^{-1} (x - \mu_k) + \text{const}

    More flexible than `LinearDiscriminantAnalysis`, and in need of more rows: every class estimates d(d+1)/2
    covariances. They divide by the class's weight. Missing entries (NaN) are estimated by EM and integrated out of
    the rule.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Kept for scikit-learn's sake: both give the same answer here.
    shrinkage : float between 0 and 1, or "auto", optional
        Weight of a multiple of the identity in every covariance; "auto" is the weight of Ledoit and Wolf.
    priors : array of shape (K,) or "uniform", optional
        Probabilities of the classes; their shares of the data when not given.
    reg_param : float between 0 and 1, default=0.0
        Weight of the identity in every covariance.
    store_covariance : bool, default=False
        Kept for scikit-learn's sake: `covariance_` is always there.
    tol : float, default=1e-4
        Deviations below this share of the largest are raised to it, with a warning.
    covariance_estimator : estimator, optional
        Has `fit` and `covariance_`; it is asked for the covariance of every class. Not beside `shrinkage`.
    covariance_type : {"full", "diag", "spherical"}, default="full"
        What the covariances may be.

    Attributes
    ----------
    means_, priors_ : arrays
        Means and probabilities of the classes.
    covariance_ : list of arrays of shape (d, d)
        Covariance of every class.
    scalings_, rotations_ : lists of arrays
        Variances of every class along its axes, largest first, and the axes in columns.
    quadratic_ : tuple (A, b, c), for two classes
        Log-odds of the second class are xᵀAx + b·x + c.

    Examples
    --------
    >>> X = [[4, 2], [2, 4], [2, 3], [3, 6], [4, 4], [9, 10], [6, 8], [9, 5], [8, 7], [10, 8]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [0] * 5 + [1] * 5)
    >>> model.decision_function([[6, 5]]).round(6)
    array([3.205551])
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True, min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [SHARE, StrOptions({"auto"}), None],
        "covariance_estimator": [HasMethods("fit"), None],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "reg_param": [SHARE],
        "store_covariance": ["boolean"],
        "tol": [NOT_NEGATIVE],
        "covariance_type": [StrOptions({"full", "diag", "spherical"})],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        covariance_type: str = "full",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance_type = covariance_type

    def _family(self) -> Family:
        return Gaussian(covariance_type=self.covariance_type)

    def _solve(self, rows: Any) -> Any:
        if rows.in_memory:
            counts = np.bincount(rows.y, minlength=len(rows.classes))
            if 1 in counts and not self.reg_param and not self._made_elsewhere():
                label = rows.classes.tolist()[int(np.argmax(counts == 1))]
                raise DegenerateError(
                    f"y has only 1 sample in class {label!r}, which therefore has no covariance. "
                    "Give more rows, raise reg_param, or use LinearDiscriminantAnalysis."
                )
        return super()._solve(rows)

    def _estimated(self, sums: ClassSums, elsewhere: Array | None = None) -> Gaussian:
        self._require_rows(sums)
        found = Gaussian(covariance_type=self.covariance_type).estimate(sums.statistics)
        d = found.n_features
        matrices = found.covariance_matrices()
        if elsewhere is not None:
            matrices = elsewhere
        elif weight := self._shrinkage():
            level = np.trace(matrices, axis1=1, axis2=2)[:, None, None] / d
            matrices = (1 - weight) * matrices + weight * level * np.eye(d)
        if self.reg_param:
            matrices = (1 - self.reg_param) * matrices + self.reg_param * np.eye(d)
        return Gaussian(found.means, self._regular(np.asarray(matrices), sums.weight))

    def _require_rows(self, sums: ClassSums) -> None:
        if len(sums.weight) < 2:
            raise DataError("The number of classes has to be greater than one; got 1 class.")
        if (sums.weight <= 0).any():
            raise DataError("a class has no row; every class needs rows before the model can be used.")

    def _regular(self, matrices: Array, weight: Array) -> Array:
        """Return covariances that can be inverted: deviations below the tolerance are raised to it."""
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        for k in np.flatnonzero(~variances.any(axis=1) & (weight > 0)):
            raise DegenerateError(
                f"the rows of class number {k} are all alike, so it has no covariance. "
                f"Raise reg_param (now {self.reg_param}), or use LinearDiscriminantAnalysis."
            )
        scale = np.sqrt(variances)
        scale = np.where(scale > 0, scale, scale.max(axis=1, keepdims=True))
        square = scale[:, :, None] * scale[:, None, :]
        values, vectors = np.linalg.eigh(matrices / square)
        floor = max(self.tol, 1e-6) ** 2 * values[:, -1:]
        low = values[:, 0] < floor[:, 0]
        for k in np.flatnonzero(low):
            warn(f"Variables are collinear in class number {k}; their smallest deviations are raised to tol.")
        if not low.any():
            return matrices
        raised = (vectors * np.maximum(values, floor)[:, None, :]) @ np.swapaxes(vectors, 1, 2) * square
        return np.where(low[:, None, None], raised, matrices)

    def _named(self, family: Any, sums: ClassSums) -> dict[str, Any]:
        priors = class_priors(sums.weight, self.priors)
        values, vectors = np.linalg.eigh(family.covariances)
        facts = {"means_": family.means, "covariance_": list(family.covariances), "priors_": priors}
        facts |= {
            "scalings_": list(values[:, ::-1]),
            "rotations_": [fix_signs(turn[:, ::-1]) for turn in vectors],
        }
        if len(priors) == 2 and (priors > 0).all():
            facts["quadratic_"] = quadratic_rule(family, priors)
        return facts

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of the second class for two classes, else ln P(x, k) of every class."""
        table = without_overflow(self._joint(X))
        return table[:, 1] - table[:, 0] if len(self.classes_) == 2 else table


def quadratic_rule(family: Gaussian, priors: Array) -> tuple[Array, Array, float]:
    """Return A, b, c of the log-odds xᵀAx + b·x + c of the second of two normal classes."""
    P, means = family.precisions(), family.means
    A = 0.5 * (P[0] - P[1])
    b = P[1] @ means[1] - P[0] @ means[0]
    squares = means[1] @ P[1] @ means[1] - means[0] @ P[0] @ means[0]
    determinants = family.log_determinants[1] - family.log_determinants[0]
    return A, b, float(np.log(priors[1] / priors[0]) - 0.5 * (determinants + squares))
