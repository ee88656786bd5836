"""Naive Bayes with counts in the columns. Sparse matrices stay sparse."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn.utils import Tags

from gnomon.bayes.classifier import FamilyClassifier, class_priors
from gnomon.bayes.count_sums import CountSums, binarized, count_sums, scores, without_holes
from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import StrOptions
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import NOT_NEGATIVE, NUMBER, Reads, warn

SMALL = 1e-10  # the least pseudo-count that is used unless `force_alpha` says otherwise
NEVER = 1e-300  # the share of what was never seen, where no pseudo-count lifts it: 0·ln 0 is no number


class CountClassifier(FamilyClassifier):
    """Naive Bayes whose joint log-density is linear in the counts; subclasses give weights and offsets."""

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, sparse=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NOT_NEGATIVE, "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _threshold(self) -> float | None:
        return None

    def _alpha(self) -> Array | float:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        wrong = ~((alpha >= 0) & np.isfinite(alpha))
        if wrong.any():
            raise ValueError(f"All values in alpha must be greater than 0, or 0; got {alpha[wrong].flat[0]}.")
        if not self.force_alpha and (alpha < SMALL).any():
            warn(f"alpha too small will result in numeric errors, setting alpha = {SMALL:.1e}.")
            return np.maximum(alpha, SMALL)
        return alpha

    def _column_alpha(self, n_features: int) -> Array | float:
        """Return alpha where every column may have its own."""
        alpha = self._alpha()
        if np.ndim(alpha) and np.shape(alpha) != (n_features,):
            raise ValueError(
                f"When alpha is an array, it should contains `n_features` numbers, here {n_features}; its shape is "
                f"{np.shape(alpha)}."
            )
        return alpha

    def _linear(self, sums: CountSums) -> tuple[dict[str, Any], Array, Array]:
        """Return attributes of the model, the weights (K, d) and what every column adds to the offsets (K, d)."""
        raise NotImplementedError

    def _statistics(self, rows: Any) -> CountSums:
        return total(count_sums, rows, len(rows.classes), self._threshold())

    def _shares(self, weight: Array) -> dict[str, Array]:
        """Return the attributes that tell of the classes alone."""
        prior = self.class_prior if self.class_prior is not None else None if self.fit_prior else "uniform"
        shares = class_priors(weight, prior)
        with np.errstate(divide="ignore"):
            return {"class_count_": weight, "class_prior_": shares, "class_log_prior_": np.log(shares)}

    def _estimate(self, sums: CountSums) -> dict[str, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            attributes, weights, offsets = self._linear(sums)
        counts = {"feature_count_": sums.counts, "_weights_": weights, "_offsets_": offsets.sum(axis=1)}
        counts |= {"_parts_": offsets} if self._reads.nan else {}
        return {**self._shares(sums.weight), **counts, **attributes}

    def _joint(self, X: Any) -> Array:
        rows = self._rows(X)
        offsets = self._offsets_ + self.class_log_prior_
        parts = self._parts() if self._reads.nan else None
        return scores(rows, self._weights_, offsets, self._threshold(), parts)

    def _parts(self) -> Array:
        """Return what every column adds to the offsets; models of older files do not hold it."""
        if not hasattr(self, "_parts_"):
            with np.errstate(divide="ignore", invalid="ignore"):
                self._parts_ = self._linear(self.sums_)[2]
        return self._parts_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are no counts
        return tags

    def log_odds_weights(self) -> tuple[Array, float]:
        """Return the weights and the offset of the linear log-odds of the second class, for two classes."""
        if len(self.classes_) != 2:
            raise ValueError(f"log-odds are between two classes; this model has {len(self.classes_)}.")
        offsets = self._offsets_ + self.class_log_prior_
        return self._weights_[1] - self._weights_[0], float(offsets[1] - offsets[0])

    def explain(self, X: Any) -> Array:
        """Return what every column adds to the log-odds of each class against the first, (n, K, d)."""
        X = self._rows(X).X
        X = without_holes(binarized(X.toarray() if sparse.issparse(X) else X, self._threshold()))[0]
        return X[:, None, :] * (self._weights_ - self._weights_[0])

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, Array]:
        """Not offered: the length of a row is no part of this model."""
        raise NotImplementedError(
            f"{type(self).__name__} has no model of how long a row is; it cannot sample."
        )


class MultinomialNB(CountClassifier):
    r"""Naive Bayes for word counts.

    .. math:: \ln P(k \mid x) = \ln \pi_k + \sum_j x_j \ln \theta_{kj} + \text{const}, \qquad
              \theta_{kj} = \frac{N_{kj} + \alpha}{N_k + \alpha V}

    The rule is linear in the counts, fits in one pass over the non-zeros, and is the baseline for text. The
    order of words does not matter; nor does the length of a document, except through its counts. A missing count
    (NaN) is refused, for the shares of all words sum to one; `PoissonNB` leaves it out.

    Parameters
    ----------
    alpha : float or array of shape (d,), default=1.0
        Pseudo-count of every word; 0 gives maximum likelihood, and words never seen in a class rule it out.
    force_alpha : bool, default=True
        Take an alpha below 1e-10 as it is; False raises it to that, with a warning.
    fit_prior : bool, default=True
        Learn the probabilities of the classes; uniform otherwise.
    class_prior : array of shape (K,), optional
        Probabilities of the classes.

    Attributes
    ----------
    feature_log_prob_ : array of shape (K, d)
        ln θ.
    feature_count_, class_count_, class_log_prior_, class_prior_
        Counts and priors.

    Examples
    --------
    >>> words = [[3, 2, 1, 0], [0, 0, 2, 2]]  # dog, cat, tulip, rose
    >>> model = MultinomialNB().fit(words, ["pets", "flowers"])
    >>> model.predict([[1, 0, 1, 0]]).tolist()
    ['pets']
    """

    def _linear(self, sums: CountSums) -> tuple[dict[str, Any], Array, Array]:
        smoothed = sums.counts + self._column_alpha(sums.n_features)
        logs = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
        return {"feature_log_prob_": logs}, logs, np.zeros((len(logs), 1))


class ComplementNB(CountClassifier):
    r"""Multinomial naive Bayes from the counts of all *other* classes; steadier when classes are unbalanced.

    .. math:: w_{kj} = -\ln \frac{\alpha + \sum_{c \ne k} N_{cj}}{\sum_i (\alpha + \sum_{c \ne k} N_{ci})}

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in `MultinomialNB`; the priors count only when there is a single class.
    norm : bool, default=False
        Divide the weights of every class by their sum.

    Examples
    --------
    >>> model = ComplementNB().fit([[3, 0], [0, 2], [0, 4]], [0, 1, 1])
    >>> model.predict([[2, 1]]).tolist()
    [0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountClassifier._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _linear(self, sums: CountSums) -> tuple[dict[str, Any], Array, Array]:
        others = sums.counts.sum(axis=0) - sums.counts + self._column_alpha(sums.n_features)
        logs = np.log(others / others.sum(axis=1, keepdims=True))
        if self.norm and not (logs.sum(axis=1) < 0).all():
            raise DegenerateError(
                "norm=True divides by the sum of the weights of a class, which is zero: X has a single column "
                "that counts. Use norm=False."
            )
        weights = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        return (
            {"feature_log_prob_": weights, "feature_all_": sums.counts.sum(axis=0)},
            weights,
            np.zeros((len(logs), 1)),
        )

    def _joint(self, X: Any) -> Array:
        rows = self._rows(X)
        priors = self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))
        return scores(rows, self._weights_, priors)


class BernoulliNB(CountClassifier):
    r"""Naive Bayes for columns that are on or off; absence counts too.

    .. math:: \ln P(k \mid x) = \ln \pi_k + \sum_j x_j \ln \theta_{kj} + (1 - x_j) \ln (1 - \theta_{kj})
              + \text{const}, \qquad \theta_{kj} = \frac{N_{kj} + \alpha}{N_k + 2 \alpha}

    A missing entry (NaN) is left out of both sums, in learning and in prediction.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in `MultinomialNB`; alpha counts for on and for off.
    binarize : float or None, default=0.0
        Columns above it are on; None takes X as zeros and ones.

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 0, 0])
    >>> model.predict_proba([[1, 0]]).round(3)
    array([[0.25, 0.75]])
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, sparse=True, nan=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountClassifier._parameter_constraints,
        "binarize": [None, NUMBER],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

    def _threshold(self) -> float | None:
        return self.binarize

    def _linear(self, sums: CountSums) -> tuple[dict[str, Any], Array, Array]:
        alpha = self._column_alpha(sums.n_features)
        rows = sums.seen + 2.0 * alpha
        on, off = (
            np.log(np.maximum(counts / rows, NEVER))
            for counts in (sums.counts + alpha, sums.seen - sums.counts + alpha)
        )
        return {"feature_log_prob_": on}, on - off, off


def log_factorials(chunk: Chunk) -> Array:
    """Return Σ_j ln x_j! of every row."""
    X = without_holes(chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X)[0]
    return gammaln(X + 1.0).sum(axis=1)


class PoissonNB(CountClassifier):
    r"""Naive Bayes with a Poisson count in every column.

    .. math:: \ln P(k \mid x) = \ln \pi_k + \sum_j x_j \ln \lambda_{kj} - \lambda_{kj} + \text{const}, \qquad
              \lambda_{kj} = \frac{\sum_i x_{ij} + a}{n_k + b}

    The rate is the mean count of the word in a document of the class, so long documents count for more than
    in `MultinomialNB`. A missing count (NaN) is left out, in learning and in prediction.

    Parameters
    ----------
    shape, rate : float, default=1.0
        Of the Gamma prior on the rates; 0 and 0 give maximum likelihood.
    estimate : {"mean", "map"}, default="mean"
        Posterior mean, or mode (a − 1 in the numerator).
    fit_prior, class_prior
        As in `MultinomialNB`.

    Examples
    --------
    >>> model = PoissonNB().fit([[0, 4], [1, 3]], ["spam", "mail"])
    >>> model.rates_
    array([[1. , 2. ],
           [0.5, 2.5]])
    """

    _reads: ClassVar[Reads] = Reads(y="class", scales=True, sparse=True, positive=True, nan=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "shape": [NOT_NEGATIVE],
        "rate": [NOT_NEGATIVE],
        "estimate": [StrOptions({"mean", "map"})],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }

    def __init__(
        self,
        *,
        shape: float = 1.0,
        rate: float = 1.0,
        estimate: str = "mean",
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.shape = shape
        self.rate = rate
        self.estimate = estimate
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _linear(self, sums: CountSums) -> tuple[dict[str, Any], Array, Array]:
        shape = self.shape - (1.0 if self.estimate == "map" else 0.0)
        rates = np.maximum(sums.counts + shape, 0.0) / (sums.seen + self.rate)
        rates = np.where(sums.seen + self.rate > 0, rates, 0.0)
        return {"rates_": rates}, np.log(rates), -rates

    def joint_log_likelihood(self, X: Any) -> Array:
        """Return ln π_k + ln p(x | k) for every row and class, shape (n, K)."""
        return self._joint(X) - per_row(log_factorials, self._rows(X))[:, None]

    def score_samples(self, X: Any) -> Array:
        """Return ln p(x), the log-evidence of every row."""
        return log_sum_exp(self.joint_log_likelihood(X))
