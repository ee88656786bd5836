"""Classes learned from a few labelled rows and many that are not."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.bayes.classifier import FamilyPosterior, class_priors
from gnomon.bayes.naive import family_named, variance_floor
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.rows import Rows
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import Chunk, total
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads
from gnomon.distributions.base import Expectation, Family


class ClassState(NamedTuple):
    """Probabilities of the classes and the distribution of each."""

    priors: Array
    family: Family
    mass: Array  # (K,) weight of the classes, labelled or not


def labels_of(chunk: Chunk, blank: int) -> Array:
    """Return class codes counted without the code of "no label", which becomes −1; `blank` < 0: all known."""
    if blank < 0:
        return chunk.y
    return np.where(chunk.y == blank, -1, chunk.y - (chunk.y > blank))


def labelled_sums(chunk: Chunk, family: Family, n_classes: int, blank: int) -> Expectation:
    """Statistics of the labelled rows alone."""
    labels = labels_of(chunk, blank)
    member = (labels[:, None] == np.arange(n_classes)) * chunk.weight[:, None]
    return Expectation(0.0, member.sum(axis=0), family.statistics(chunk.X, member))


def expected_sums(chunk: Chunk, family: Family, log_priors: Array, blank: int) -> Expectation:
    """Statistics of all rows: those without a label count for every class by its probability."""
    return family.expect(chunk.X, log_priors, chunk.weight, labels=labels_of(chunk, blank))


class SemiSupervisedBayes(FamilyPosterior, Learner):
    r"""A distribution for every class, from labelled and unlabelled rows together.

    .. math:: \max_\theta \sum_{i\ \text{labelled}} \ln \pi_{y_i} p(x_i \mid \theta_{y_i})
        + \sum_{i\ \text{not}} \ln \sum_k \pi_k\, p(x_i \mid \theta_k)

    EM: rows without a label belong to every class by its posterior probability, rows with one belong to it
    wholly. It begins at the labelled rows alone. Unlabelled rows help as far as the family is right; where it
    is wrong they can do harm, so hold the result against `BayesClassifier` on the labelled rows.

    Parameters
    ----------
    family : str or Family, default="gaussian"
        As in `BayesClassifier`.
    missing : label, default=-1
        The entry of y that means "no label". Where y has fewer than two other labels it is a label like any
        other: a target of −1 and +1 is complete.
    priors : array of shape (K,) or "uniform", optional
        Probabilities of the classes; learned when not given.
    prior : conjugate prior or number, optional
        Of the parameters; a number is a pseudo-count. Without one, a class with few labelled rows may
        collapse on a point: the objective then diverges, and the error says so.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the log-likelihood changes by no more than this share of itself.

    Attributes
    ----------
    family_ : Family
        The fitted stack, one distribution for each class.
    class_prior_, class_count_ : arrays of shape (K,)
        Probabilities and (expected) weights of the classes.
    trace_ : Trace
        Log-likelihood at every step; it never falls when `prior` is None.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.1], [5.0], [5.3], [6.0], [6.2]]
    >>> model = SemiSupervisedBayes().fit(X, [0, 0, -1, -1, 1, 1, -1, -1])
    >>> model.predict([[1.5], [5.6]]).tolist(), model.class_count_.round(6).tolist()
    ([0, 1], [4.0, 4.0])
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True)
    _sense = "max"
    _stop = "relative"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [str, Family],
        "missing": [Integral, str],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "prior": [Family, NOT_NEGATIVE, list, tuple, None],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        family: Any = "gaussian",
        *,
        missing: Any = -1,
        priors: Any = None,
        prior: Any = None,
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> None:
        self.family = family
        self.missing = missing
        self.priors = priors
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol

    def _read(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Rows:
        rows = super()._read(X, y, sample_weight, **options)
        blank = [code for code, label in enumerate(rows.classes) if label == self.missing]
        rows.blank = blank[0] if blank and len(rows.classes) > 2 else -1
        if rows.blank >= 0:
            rows.classes = np.delete(rows.classes, rows.blank)
        return rows

    def _start(self, rows: Any, rng: Any) -> ClassState:
        family = family_named(self.family)
        found = total(labelled_sums, rows, family, len(rows.classes), rows.blank)
        if self.family == "gaussian":
            family = family.replace(reg_covar=variance_floor(found.statistics))
        return self._improved(family, found)

    def _step(self, rows: Any, state: ClassState) -> tuple[ClassState, Report]:
        with np.errstate(divide="ignore"):
            log_priors = np.log(state.priors)
        found = total(expected_sums, rows, state.family, log_priors, rows.blank)
        done = rows.blank < 0  # nothing to guess: the first estimate is the answer
        return (state if done else self._improved(state.family, found)), Report(
            float(found.log_likelihood), done=done
        )

    def _improved(self, family: Family, found: Expectation) -> ClassState:
        if (found.mass <= 0).any():
            raise DataError(f"class number {int(found.mass.argmin())} has no row of positive weight.")
        fitted = family.estimate(found.statistics, self.prior)
        return ClassState(class_priors(found.mass, self.priors), fitted, found.mass)

    def _attributes(self, state: ClassState) -> dict[str, Any]:
        return {"family_": state.family, "class_prior_": state.priors, "class_count_": state.mass}
