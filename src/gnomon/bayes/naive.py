"""Naive Bayes with numbers in the columns: Gaussian, and any mixture of families."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.bayes.class_moments import ClassSums
from gnomon.bayes.classifier import FamilyClassifier
from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.sums import per_row
from gnomon.core.validate import NOT_NEGATIVE, Reads
from gnomon.distributions.base import Family
from gnomon.distributions.conjugate import Conjugate
from gnomon.distributions.moments import DiagonalMoments


def overall_variance(moments: DiagonalMoments) -> Array:
    """Return the variance of every column over all classes together."""
    mass = moments.weight.sum(axis=0)
    if (mass <= 0).any():
        raise DataError(f"column {int((mass <= 0).argmax())} has no observed entry; drop it.")
    mean = (moments.weight * moments.mean).sum(axis=0) / mass
    between = (moments.weight * (moments.mean - mean) ** 2).sum(axis=0)
    return (moments.scatter.sum(axis=0) + between) / mass


def variance_floor(moments: DiagonalMoments) -> Array:
    """Return what is added to the variances of every column: it follows the column's units."""
    variance = overall_variance(moments)
    return 1e-9 * np.where(variance > 0, variance, 1.0)  # a constant column tells no class from another


class GaussianNB(FamilyClassifier):
    r"""Naive Bayes with a normal distribution for every class and column.

    .. math:: P(k \mid x) \propto \pi_k \prod_j N(x_j; \mu_{kj}, \sigma_{kj}^2)

    Fast, with nothing to tune, and often better than its assumption deserves: columns are taken to be
    independent within a class. Missing entries (NaN) are left out of the product, which is exact. Where
    columns are correlated, `LinearDiscriminantAnalysis` or `QuadraticDiscriminantAnalysis` use that.

    Parameters
    ----------
    priors : array of shape (K,), optional
        Probabilities of the classes; their shares of the data when not given.
    var_smoothing : float, default=1e-9
        This share of the largest column variance is added to every variance.

    Attributes
    ----------
    theta_, var_ : arrays of shape (K, d)
        Mean and variance of every class and column.
    class_prior_, class_count_ : arrays of shape (K,)
        Probabilities and weights of the classes.
    epsilon_ : float
        What was added to the variances.
    sums_ : ClassSums
        The moments behind the fit; `partial_fit` adds to them.

    Examples
    --------
    >>> X = [[1, 2], [2, 1], [3, 4], [6, 5], [7, 8], [8, 6]]
    >>> model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict_proba([[4.5, 4.0], [4.5, float("nan")]])[:, 0].round(6)
    array([0.702063, 0.5     ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [NOT_NEGATIVE],
    }

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _family(self) -> Family:
        from gnomon.distributions.normal import Gaussian

        return Gaussian(covariance_type="diag")

    def _estimated(self, sums: ClassSums) -> Family:
        epsilon = self.var_smoothing * float(overall_variance(sums.statistics).max())
        unseen = np.zeros_like(sums.statistics.mean)
        start = self._family().replace(means=unseen, covariances=unseen + 1.0, reg_covar=epsilon)
        self._require_observed(sums)
        return start.estimate(sums.statistics)

    def _require_observed(self, sums: ClassSums) -> None:
        missing = (sums.statistics.weight <= 0) & (sums.weight[:, None] > 0)
        if missing.any():
            k, j = np.argwhere(missing)[0]
            raise DegenerateError(f"class number {k} has no observed entry in column {j}; drop the column.")

    def _named(self, family: Any, sums: ClassSums) -> dict[str, Any]:
        return {"theta_": family.means, "var_": family.covariances, "epsilon_": family.reg_covar}

    def explain(self, X: Any) -> Array:
        """Return what every column adds to the log-odds of each class against the first, (n, K, d)."""
        return per_row(column_scores, self._rows(X), self.theta_, self.var_)


def column_scores(chunk: Any, means: Array, variances: Array) -> Array:
    """ln N(x_j; μ_kj, σ²_kj) less that of the first class; 0 where x_j is missing."""
    Z = chunk.X[:, None, :] - means
    table = -0.5 * (Z * Z / variances + np.log(variances))
    return np.nan_to_num(table - table[:, :1])


FAMILIES = {
    "gaussian": ("normal", "Gaussian", {"covariance_type": "diag", "reg_covar": 1e-9}),
    "bernoulli": ("counting", "Bernoulli", {}),
    "poisson": ("counting", "Poisson", {}),
    "geometric": ("counting", "Geometric", {}),
    "categorical": ("discrete", "Categorical", {}),
    "multinomial": ("discrete", "Multinomial", {"ordered": True}),
    "exponential": ("positive", "Exponential", {}),
    "laplace": ("robust", "Laplace", {}),
    "student_t": ("robust", "StudentT", {}),
}


def family_named(name: Any) -> Family:
    """Return the family of a name such as "gaussian"; a family is returned as it is."""
    from importlib import import_module

    if isinstance(name, Family):
        return name
    if name not in FAMILIES:
        raise ValueError(
            f"unknown family {name!r}; known are {', '.join(FAMILIES)}.{nearest(name, FAMILIES)}"
        )
    module, cls, options = FAMILIES[name]
    return getattr(import_module(f"gnomon.distributions.{module}"), cls)(**options)


class BayesClassifier(FamilyClassifier):
    r"""Any family of distributions as a classifier.

    .. math:: \hat k(x) = \arg\max_k \; \pi_k \, p(x \mid \theta_k)

    The general form behind the named classifiers: one distribution of the family for every class, estimated
    from the rows of that class. A `Product` of families over the columns gives naive Bayes with a family for
    each column. Missing entries are integrated out by the family.

    Parameters
    ----------
    family : str or Family, default="gaussian"
        "gaussian" (independent columns), "bernoulli", "poisson", "categorical", "multinomial", "laplace", …,
        or an unfitted family such as ``Gaussian(covariance_type="full")`` or a `Product`.
    priors : array of shape (K,) or "uniform", optional
        Probabilities of the classes; their shares of the data when not given.
    prior : conjugate prior or number, optional
        Makes every estimate the most probable one under the prior; a number is a pseudo-count.
    estimate : {"map", "mean", "predictive"}, default="map"
        With a conjugate prior: take the most probable parameters, the expected ones, or average over all of
        them by their posterior probability. The last is the full Bayes answer: with few rows in a class its
        density has heavier tails (a Student t for a normal, a negative binomial for a Poisson).

    Attributes
    ----------
    family_ : Family
        The fitted stack, one distribution for each class.
    class_prior_, class_count_ : arrays of shape (K,)
        Probabilities and weights of the classes.

    Examples
    --------
    >>> model = BayesClassifier("poisson").fit([[1], [2], [9], [7]], ["few", "few", "many", "many"])
    >>> model.predict([[3], [6]]).tolist()
    ['few', 'many']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [str, Family],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "prior": [Family, NOT_NEGATIVE, list, tuple, None],
        "estimate": [StrOptions({"map", "mean", "predictive"})],
    }

    def __init__(
        self, family: Any = "gaussian", *, priors: Any = None, prior: Any = None, estimate: str = "map"
    ) -> None:
        self.family = family
        self.priors = priors
        self.prior = prior
        self.estimate = estimate

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True)

    def _family(self) -> Family:
        return family_named(self.family)

    def _estimated(self, sums: ClassSums) -> Family:
        empty = sums.weight <= 0
        if empty.any():
            raise DegenerateError(
                f"class number {int(empty.argmax())} has no row; leave it out of `classes`."
            )
        family: Any = self._family()
        if self.family == "gaussian":
            family = family.replace(reg_covar=variance_floor(sums.statistics))
        if self.estimate == "map":
            return family.estimate(sums.statistics, self.prior)
        if not isinstance(self.prior, Family) or not hasattr(family, "posterior"):
            raise ValueError(
                f"estimate={self.estimate!r} needs a conjugate prior, such as Beta for 'bernoulli' or "
                f"NormalInverseGamma for 'gaussian'; got prior={self.prior!r}."
            )
        belief = Conjugate(family, family.posterior(sums.statistics, self.prior))
        return belief.mean() if self.estimate == "mean" else belief.predictive()
