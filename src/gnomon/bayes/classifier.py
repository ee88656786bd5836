"""Bayes classifiers: a distribution for every class, and the class that makes the row most probable."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from gnomon.bayes.class_moments import ClassSums, class_sums
from gnomon.core.closed_form import Additive
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.randomness import generator
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads, probabilities, without_overflow
from gnomon.distributions.base import Family
from gnomon.distributions.forms import blocks

CHUNK_BYTES = 4 << 20  # moments of many classes cost to merge


def joint_log(chunk: Chunk, family: Family, log_priors: Array) -> Array:
    """ln π_k + ln p_k(x_i), shape (m, K)."""
    table = family.log_density(chunk.X)
    table += log_priors
    return table


def normalized(joint: Array, prior: Array, *, logs: bool = True) -> Array:
    """Turn ln P(x, k) into ln P(k | x), or P(k | x), in place.

    A row that is impossible under every class, or so far out that its densities are no numbers, tells nothing about
    its class: it gets the prior.
    """

    def normalize(rows: slice) -> None:
        sums = log_sum_exp(joint[rows])
        lost = ~np.isfinite(sums)
        if lost.any():
            with np.errstate(divide="ignore"):
                joint[rows][lost] = np.log(prior)
            sums[lost] = log_sum_exp(joint[rows][lost])
        joint[rows] -= sums[:, None]
        if not logs:
            np.exp(joint[rows], out=joint[rows])

    for _ in in_order(normalize, blocks(len(joint), 8192)):
        pass
    return joint


class ClassPosterior(ClassifierMixin):  # type: ignore[misc]
    """What every classifier with a joint log-density has."""

    def _joint(self, X: Any) -> Array:
        raise NotImplementedError

    def joint_log_likelihood(self, X: Any) -> Array:
        """Return ln π_k + ln p(x | k) for every row and class, shape (n, K)."""
        return self._joint(X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return `joint_log_likelihood` under scikit-learn's name."""
        return self.joint_log_likelihood(X)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of every row; ties go to the first."""
        joint = self._joint(X)
        chosen = joint.argmax(axis=1)
        impossible = ~np.isfinite(joint.max(axis=1))
        if impossible.any():
            chosen[impossible] = int(np.argmax(self.class_prior_))
        return self.classes_[chosen]

    def predict_log_proba(self, X: Any) -> Array:
        """Return ln P(k | x), shape (n, K)."""
        return normalized(self._joint(X), self.class_prior_)

    def predict_proba(self, X: Any) -> Array:
        """Return P(k | x), shape (n, K)."""
        return normalized(self._joint(X), self.class_prior_, logs=False)

    def log_odds(self, X: Any) -> Array:
        """Return ln P(k | x) − ln P(first | x) for every class but the first, shape (n, K − 1)."""
        joint = self._joint(X)
        return joint[:, 1:] - joint[:, :1]

    def score_samples(self, X: Any) -> Array:
        """Return ln p(x), the log-evidence of every row."""
        return without_overflow(log_sum_exp(self._joint(X)))


def class_priors(weight: Array, priors: Any = None) -> Array:
    """Return P(class): as given, "uniform", or the classes' shares of the weight."""
    if priors is None:
        return weight / weight.sum()
    if isinstance(priors, str):
        if priors != "uniform":
            raise ValueError(f"priors must be None, 'uniform' or an array; got {priors!r}.")
        return np.full(len(weight), 1.0 / len(weight))
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != weight.shape:
        raise DataError(
            f"Number of priors must match number of classes: {given.shape} against {len(weight)}."
        )
    if (given < 0).any():
        raise DataError("Priors must be non-negative.")
    if abs(given.sum() - 1.0) > 1e-8:
        raise DataError("The sum of the priors should be 1.")
    return probabilities(given.copy(), name="priors")


def finite(sums: ClassSums) -> ClassSums:
    """Return the sums, or refuse rows whose squares overflow."""
    if hasattr(sums.statistics, "scatter") and not np.isfinite(sums.statistics.scatter).all():
        raise DataError("X has entries so large that their squares overflow; scale the columns.")
    return sums


class FamilyPosterior(ClassPosterior):
    """What every classifier with a stack of distributions has."""

    def _joint(self, X: Any) -> Array:
        rows = self._rows(X)
        with np.errstate(divide="ignore"):
            log_priors = np.log(self.class_prior_)
        return per_row(joint_log, rows, self.family_, log_priors)

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows and their classes from the model.

        Parameters
        ----------
        n : int
            How many rows.
        random_state : int, RandomState or Generator, optional
            Seed.
        """
        rng = generator(random_state)
        codes = rng.choice(len(self.class_prior_), size=n, p=self.class_prior_)
        return self.family_.sample(codes, rng), self.classes_[codes]


class FamilyClassifier(FamilyPosterior, Additive):
    """A classifier with one distribution of a family for every class.

    Subclasses say which family (`_family`) and how its parameters are called (`_named`).
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, nan=True)
    _prior_name: ClassVar[str] = "priors"

    def _family(self) -> Family:
        raise NotImplementedError

    def _named(self, family: Family, sums: ClassSums) -> dict[str, Any]:
        return {}

    def _estimated(self, sums: ClassSums, *covariances: Any) -> Family:
        return self._family().estimate(sums.statistics)

    def _statistics(self, rows: Any) -> ClassSums:
        return finite(total(class_sums, rows.in_chunks_of(CHUNK_BYTES), self._family(), len(rows.classes)))

    def _estimate(self, sums: ClassSums, *covariances: Any) -> dict[str, Any]:
        family = self._estimated(sums, *covariances)
        shares = class_priors(sums.weight, getattr(self, self._prior_name, None))
        facts = {"family_": family, "class_count_": sums.weight, "class_prior_": shares}
        return {**facts, **self._named(family, sums)}

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the result is the same as from all rows at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, needed in the first call
            All classes that will ever come.
        """
        first = not hasattr(self, "sums_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = classes if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} is not the same as on last call to partial_fit, {self.classes_!r}."
            )
        return self._add(self._read(X, y, sample_weight, reset=first, classes=known))
