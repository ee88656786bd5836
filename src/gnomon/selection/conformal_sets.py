"""Sets of classes that keep their promise, around any classifier with probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order
from gnomon.core.validate import one_each
from gnomon.selection.held_out import SHARE, Conformal, group_of_rows, rank_of, score_quantile
from gnomon.selection.intervals import check_level
from gnomon.selection.wrapping import labeled_rows


def _mixed(words: Array) -> Array:
    """Return words of 64 bits mixed so that every bit depends on all (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class ConformalClassifier(ClassifierMixin, Conformal):
    r"""Sets of classes with a guaranteed coverage around any classifier with probabilities.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Gaussian naive Bayes when not given.
    method : {"split", "cv+"}, default="split"
    rule : {"lac", "aps"}, default="lac"
        "lac", one minus the probability of the class: the smallest sets on average. "aps", the probabilities of all
        classes at least as likely, added up: sets whose size follows the difficulty of the row (Romano, Sesia and
        Candès, Classification with valid and adaptive coverage, 2020).
    randomized : bool, default=True
        Let a random share of the last class count, for "aps": coverage is exact; otherwise it is higher. The share is
        drawn from the row's probabilities and the seed, so that a row has the same set alone and among others.
    conditional : {None, "class"}, default=None
        "class" keeps the promise within every true class; for "split".
    calibration_size, cv, random_state
        As in `ConformalRegressor`.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 600)
    >>> X = rng.normal(size=(600, 2)) + 1.5 * np.column_stack([y == 1, y == 2])
    >>> model = ConformalClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> sets = model.predict_set(X[400:], level=0.9)
    >>> bool(0.83 < sets[np.arange(200), y[400:]].mean() <= 0.98)
    True
    """

    _default = ("gnomon.bayes", "GaussianNB")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "method": [StrOptions({"split", "cv+"})],
        "rule": [StrOptions({"lac", "aps"})],
        "randomized": ["boolean"],
        "conditional": [StrOptions({"class"}), None],
        "calibration_size": [SHARE],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        rule: str = "lac",
        randomized: bool = True,
        conditional: str | None = None,
        calibration_size: float = 0.25,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.rule = rule
        self.randomized = randomized
        self.conditional = conditional
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: Any, groups: Any) -> None:
        check_parameters(self)
        rows, classes, codes = labeled_rows(X, y, self._base(), "sets need")
        if self.method == "cv+" and (groups is not None or self.conditional):
            raise DataError("groups and conditional need method='split'.")
        if groups is not None and self.conditional:
            raise DataError("give groups or conditional='class', not both.")
        groups = None if groups is None else group_of_rows(groups, len(codes))
        self.classes_ = classes
        self.seed_ = draw_seed(generator(self.random_state))
        folds = self._folds(len(codes)) if self.method == "cv+" else [self._class_parts(codes)]

        def score(model: Any, X: Any, codes: Array) -> Array:
            return self._scores(self._probabilities(model, X))[np.arange(len(codes)), codes]

        scores, fold_of = self._held_out(folds, rows, codes, score)
        held = np.flatnonzero(~np.isnan(scores))
        self.estimator_ = self.models_[0] if self.method == "split" else clone(self._base()).fit(rows, codes)
        self.fold_of_ = fold_of[held]
        self.held_scores_ = scores[held]
        by = classes[codes] if self.conditional else groups
        self._keep_scores(scores[held], by, held)

    def _class_parts(self, codes: Array) -> tuple[Array, Array]:
        """Part the rows so that every class is learned from."""
        train, held = self._parts(len(codes))
        missing = np.setdiff1d(np.arange(codes.max() + 1), codes[train])
        back = [held[codes[held] == k][0] for k in missing]
        kept = np.setdiff1d(held, back)
        if not len(kept):
            raise DataError(
                f"n_samples={len(codes)} is too few: every class must be learned from, and some rows calibrate."
            )
        return np.sort(np.append(train, back).astype(int)), kept

    def _probabilities(self, model: Any, X: Any) -> Array:
        found = model.predict_proba(X)
        k = len(self.classes_)
        if found.shape[1] == k:
            return found
        P = np.zeros((len(found), k))
        P[:, np.asarray(model.classes_, dtype=int)] = found
        return P

    def _scores(self, P: Array) -> Array:
        """Return the score of every class for every row: how unlikely it is, given what is likelier."""
        if self.rule == "lac":
            return 1.0 - P
        order = np.argsort(-P, axis=1, kind="stable")
        ranked = np.take_along_axis(P, order, axis=1)
        u = self._shares(P) if self.randomized else np.zeros((len(P), 1))
        cumulated = np.cumsum(ranked, axis=1) - u * ranked
        table = np.empty_like(P)
        np.put_along_axis(table, order, cumulated, axis=1)
        return table

    def _shares(self, P: Array) -> Array:
        """Return a number between 0 and 1 for every row, drawn by the seed and the row's probabilities.

        A row has the same set alone and among others, today and tomorrow; over rows the numbers are uniform.
        """
        words = (
            np.rint(P * 2.0**24).astype(np.int64).view(np.uint64)
        )  # without the last bits, which sums may change
        key = np.full(len(P), self.seed_ & (2**64 - 1), dtype=np.uint64)
        for column in words.T:
            key = _mixed(key ^ column)
        return (key >> np.uint64(11)).astype(float)[:, None] / 2**53

    def _check_loaded(self) -> None:
        classes = getattr(getattr(self, "estimator_", None), "classes_", None)
        if classes is not None and len(classes) != len(self.classes_):
            raise ModelFileError("its classifier has another number of classes than it. Get a new copy.")

    def predict(self, X: Any) -> Array:
        """Return the most probable class."""
        check_is_fitted(self, "estimator_")
        return self.classes_[np.asarray(self.estimator_.predict(X), dtype=int)]

    def predict_proba(self, X: Any) -> Array:
        """Return the classifier's probabilities."""
        check_is_fitted(self, "estimator_")
        return self._probabilities(self.estimator_, X)

    def predict_set(self, X: Any, level: float = 0.9, *, groups: Any = None) -> Array:
        """Return which classes are in the set of each row: booleans of shape (n, classes).

        Parameters
        ----------
        X : rows
        level : float, default=0.9
            Promised coverage.
        groups : array, optional
            The group of every row, when fitted with groups.
        """
        check_is_fitted(self, "estimator_")
        check_level(level)
        if self.method == "cv+":
            return self._from_folds(X, level)
        table = self._scores(self._probabilities(self.models_[0], X))
        if self.conditional:
            q = np.array(
                [score_quantile(self.scores_.get(c, np.empty(0)), level) for c in self.classes_.tolist()]
            )
            return table <= q + 1e-12
        return table <= self._limits(len(table), level, groups)[:, None] + 1e-12

    def _from_folds(self, X: Any, level: float) -> Array:
        """Keep a class unless its score is above too many of the held-out scores, each by its own fold's model."""

        def beaten(k: int) -> Array:
            ranked = np.sort(self.held_scores_[self.fold_of_ == k])
            scores = self._scores(self._probabilities(self.models_[k], X))
            return np.searchsorted(ranked, scores - 1e-12)

        total = np.sum(list(in_order(beaten, range(len(self.models_)))), axis=0)
        return np.asarray(total < rank_of(len(self.held_scores_), level))

    def coverage(self, X: Any, y: Any, level: float = 0.9, *, groups: Any = None) -> Any:
        """Return a table of the coverage on new rows, by group, with exact intervals, and the mean size of a set."""
        sets = self.predict_set(X, level, groups=groups if self.grouped_ and not self.conditional else None)
        y = one_each(y, len(sets))
        place = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        inside = sets[np.arange(len(sets)), place] & (
            self.classes_[place] == y
        )  # a class never seen is missed
        return self._coverage(inside, sets.sum(axis=1).astype(float), groups)
