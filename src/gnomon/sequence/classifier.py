"""Classification of whole sequences: one model per class, and Bayes' rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.items import Items, listed
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order
from gnomon.core.validate import encode, one_each, probabilities


def as_columns(sequence: Any) -> Array:
    """Return a sequence as a matrix; plain numbers become one column."""
    rows = np.asarray(sequence)
    return rows.reshape(-1, 1) if rows.ndim == 1 else rows


def columns_of(X: Any) -> list[Array]:
    """Return sequences as matrices."""
    sequences = listed(X, "of sequences, each of shape (length, d) or (length,)")
    try:
        return [as_columns(sequence) for sequence in sequences]
    except ValueError as error:
        raise DataError(f"a sequence of X has rows of several lengths: {error}") from None


class HMMClassifier(ClassifierMixin, OneStep):  # type: ignore[misc]
    r"""Classify sequences by the model that explains them best.

    .. math:: p(c \mid x) \propto p(c)\, p(x \mid \text{model}_c)

    Use it for spoken words, gestures, users: sequences of any length with one label each. Any estimator with
    `fit` on rows and `score` on a sequence will do, a mixture for a model without memory among them.

    Parameters
    ----------
    estimator : estimator, optional
        Prototype of the class models; default a `GaussianHMM` with two states.
    priors : {"uniform", "empirical"} or array
        Class probabilities.

    Attributes
    ----------
    classes_ : array
    estimators_ : list
        One fitted model per class.
    priors_ : array

    Examples
    --------
    >>> from gnomon.sequence import PoissonHMM
    >>> X = [[0, 1, 0, 1], [1, 0, 0], [9, 8, 7, 9], [8, 9, 10]]
    >>> model = HMMClassifier(PoissonHMM(1)).fit(X, ["calm", "calm", "wild", "wild"])
    >>> model.predict([[0, 1], [11, 9, 8]])
    array(['calm', 'wild'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [None, HasMethods(["fit", "score"])],
        "priors": [StrOptions({"uniform", "empirical"}), "array-like"],
    }

    def __init__(self, estimator: Any = None, *, priors: Any = "uniform") -> None:
        self.estimator = estimator
        self.priors = priors

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one model to the sequences of every class.

        Parameters
        ----------
        X : list of (length, d) arrays
            The sequences; vectors are sequences of single numbers.
        y : array of labels
            One for each sequence.
        """
        return self._learn(self._read_sequences(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any) -> Iterator[Self]:
        """Yield the fitted classifier; its models are fitted in one step."""
        yield from self._iterate(self._read_sequences(X, y))

    def _read_sequences(self, X: Any, y: Any) -> Items:
        check_parameters(self)
        sequences = columns_of(X)
        classes, codes = encode(one_each(y, len(sequences)))
        return Items(sequences, codes, classes=classes)

    def _solve(self, data: Items) -> dict[str, Any]:
        n = len(data.classes)
        own = [[s for s, code in zip(data.X, data.y, strict=True) if code == c] for c in range(n)]
        return {
            "priors_": self._class_priors(data.y, n),
            "estimators_": [self._fit_one(part) for part in own],
        }

    def _fit_one(self, sequences: list[Array]) -> Any:
        if self.estimator is None:
            from gnomon.sequence.gaussian_hmm import GaussianHMM

            model = GaussianHMM(2, random_state=0)
        else:
            model = clone(self.estimator)
        return model.fit(np.concatenate(sequences), lengths=list(map(len, sequences)))

    def _class_priors(self, codes: Array, n: int) -> Array:
        if isinstance(self.priors, str):
            counts = np.ones(n) if self.priors == "uniform" else np.bincount(codes, minlength=n)
            return counts / counts.sum()
        priors = probabilities(self.priors, name="priors")
        if priors.shape != (n,):
            raise DataError(f"priors must hold {n} probabilities, one for each class; got {priors.shape}.")
        return priors

    @classmethod
    def from_models(cls, models: dict[Any, Any], priors: Any = "uniform") -> Self:
        """Return the classifier of given class models; anything with `score` will do."""
        model = cls(next(iter(models.values())), priors=priors)
        model.classes_, model.estimators_ = np.array(list(models)), list(models.values())
        model.priors_ = model._class_priors(np.arange(len(models)), len(models))
        return model

    def log_likelihoods(self, X: Any) -> Array:
        """Return ln p(sequence | class), (sequences, classes)."""
        check_is_fitted(self, "estimators_")
        sequences = columns_of(X)
        rows = in_order(lambda s: [float(model.score(s)) for model in self.estimators_], sequences)
        return np.array(list(rows)).reshape(len(sequences), len(self.classes_))

    def predict_log_proba(self, X: Any) -> Array:
        """Return ln p(class | sequence)."""
        joint = self.log_likelihoods(X)
        with np.errstate(divide="ignore"):
            joint = joint + np.log(self.priors_)
        evidence = log_sum_exp(joint)
        if np.isneginf(evidence).any():
            raise ZeroEvidenceError(
                f"sequence {int(np.isneginf(evidence).argmax())} is impossible under the model of every class; "
                "smooth the models' probabilities."
            )
        return joint - evidence[:, None]

    def predict_proba(self, X: Any) -> Array:
        """Return p(class | sequence)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of every sequence."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
