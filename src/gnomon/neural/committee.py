"""Ensembles of networks: the average, or the vote, of several that differ in their seed."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from gnomon.core.errors import DataError
from gnomon.core.estimator import is_learned
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order, threads
from gnomon.core.validate import COUNT, check_fitted, one_each


class NetworkEnsemble(ClassifierMixin, BaseEstimator):
    """Several networks that differ in their random start: average their probabilities, or let them vote.

    Networks of one kind make different mistakes when they start from different weights; their average is nearly
    always better
    than one of them (seven AlexNets: 15.4 % instead of 18.2 % top-5 error), and their disagreement says how sure
    they are.

    Parameters
    ----------
    estimator : classifier with `random_state`
    n_estimators : int, default=7
    combine : {"average", "vote"}, default="average"
        Mean probability, or majority of labels; ties go to the first class.
    vary : tuple, default=("seed",)
        What differs: "seed" (weights and shuffles), "rows" (each learns from a bootstrap sample).
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimators_ : list
    member_scores_ : array (n_estimators,)
        Accuracy of every member on the training data.
    classes_ : array

    Examples
    --------
    >>> from gnomon.neural import MLPClassifier
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]] * 5, [0, 0, 1, 1] * 5
    >>> net = MLPClassifier((4,), solver="lbfgs")
    >>> NetworkEnsemble(net, 3, random_state=0).fit(X, y).predict([[0.1], [0.9]])
    array([0, 1])
    """

    _promises: ClassVar[Promises] = Promises(
        order="statistical: as far as its members promise it",
        weights="statistical: as far as its members promise it",
        threads="statistical: as far as its members promise it",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "n_estimators": [COUNT],
        "combine": [StrOptions({"average", "vote"})],
        "vary": ["array-like"],
        "n_jobs": [None, int],
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator, n_estimators=7, *, combine="average", vary=("seed",), n_jobs=None, random_state=None
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.combine = combine
        self.vary = vary
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every member.

        Parameters
        ----------
        X, y, sample_weight
            As the members' `fit` takes them.

        Returns
        -------
        self
        """
        check_parameters(self)
        if not is_classifier(self.estimator):
            raise DataError(f"estimator must be a classifier; {type(self.estimator).__name__} is none.")
        strange = set(self.vary) - {"seed", "rows"}
        if strange:
            raise ValueError(f"vary may hold 'seed' and 'rows'; got {sorted(map(str, strange))}.")
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        if more and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"{type(self.estimator).__name__} takes no sample_weight.")
        if y is not None and np.shape(np.asarray(y))[:1] == (1,):
            raise DataError("members are compared on the rows they learn from; give two, not n_samples=1.")
        rng = generator(self.random_state)
        seeds = [draw_seed(rng) % (2**31 - 1) for _ in range(self.n_estimators)]
        with threads(self.n_jobs) if self.n_jobs and self.n_jobs > 0 else threads(1):
            members = list(in_order(lambda seed: self._member(seed, X, y, more), seeds))
        classes = members[0].classes_
        if any(not np.array_equal(member.classes_, classes) for member in members):
            raise DataError("the members have seen different classes; give more data, or vary=('seed',).")
        scores = np.array([np.mean(member.predict(X) == np.asarray(y)) for member in members])
        learned = {"estimators_": members, "classes_": classes, "member_scores_": scores}
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(members[0], name):
                learned[name] = getattr(members[0], name)
        kept = {name: value for name, value in vars(self).items() if not is_learned(name)}
        self.__dict__ = {**kept, **learned}  # at once: nothing of an earlier fit stays
        return self

    def _member(self, seed, X, y, more):
        member = clone(self.estimator)
        if "seed" in self.vary and "random_state" in member.get_params(deep=False):
            member.set_params(random_state=seed)
        if "rows" not in self.vary:
            return member.fit(X, y, **more)
        rows = np.random.default_rng(seed).integers(0, len(X), size=len(X))
        picked = {name: np.asarray(value)[rows] for name, value in more.items()}
        return member.fit(np.asarray(X)[rows], np.asarray(y)[rows], **picked)

    def _each(self, X: Any) -> Array:
        check_fitted(self)
        return np.stack([member.predict_proba(X) for member in self.estimators_])

    def predict_proba(self, X: Any) -> Array:
        """Return the mean probability of every class, or its share of the votes."""
        if self.combine == "average":
            return self._each(X).mean(axis=0)
        check_fitted(self)
        votes = np.stack([member.predict(X) for member in self.estimators_])
        return (votes[:, :, None] == self.classes_).mean(axis=0)

    def predict_spread(self, X: Any) -> tuple[Array, Array]:
        """Return mean and standard deviation of the members' probabilities: how far they disagree."""
        each = self._each(X)
        return each.mean(axis=0), each.std(axis=0)

    def predict(self, X: Any) -> Array:
        """Return the class of every row."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return self.classes_[chosen]

    def growing_scores(self, X: Any, y: Any) -> Array:
        """Return the accuracy of the average of the first 1, 2, ... members."""
        each = self._each(X)
        sums = np.cumsum(each, axis=0)
        y = one_each(y, sums.shape[1])
        return np.array([np.mean(self.classes_[total.argmax(axis=1)] == y) for total in sums])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.estimator)
        except Exception:  # not an estimator: `fit` says so
            return tags
        tags.input_tags = inner.input_tags
        return tags
