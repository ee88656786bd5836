"""AdaBoost: weak rules in sequence, each on the rows that the last ones got wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads, check_fitted, warn
from gnomon.ensemble.ada_answers import CommitteeAnswers
from gnomon.ensemble.ada_state import AdaState, AdaWork
from gnomon.ensemble.sampling import draw_counts, make_pool
from gnomon.trees.problems import positive
from gnomon.trees.stump import DecisionStump, fit_stump, sort_columns

Array = np.ndarray
CHANCE = 1e-12  # an error this close to one half is chance


class AdaBoostClassifier(
    ClassNamePrefixFeaturesOutMixin,
    CommitteeAnswers,
    ClassifierMixin,
    TransformerMixin,
    MetaEstimatorMixin,
    Learner,
):
    r"""Boosting by reweighting (or resampling) of the rows.

    .. math:: \epsilon_t = \sum_i w_t(i) \mathbb{1}\{f_t(x_i) \ne y_i\}, \quad
              \alpha_t = \tfrac12 \ln \tfrac{1-\epsilon_t}{\epsilon_t}, \quad
              w_{t+1}(i) = \tfrac{1}{Z_t} w_t(i) e^{-\alpha_t y_i f_t(x_i)}

    and :math:`F = \sum_t \alpha_t f_t` decides by its sign. The training error is at most
    :math:`\prod_t Z_t \le \exp(-2 \sum_t (\tfrac12 - \epsilon_t)^2)`: an edge over chance that
    lasts drives it to zero.
    More than two classes use SAMME. Noisy labels gather weight without end; prefer
    `GradientBoostingClassifier` there.

    Parameters
    ----------
    estimator : classifier, optional
        The weak learner; a `DecisionStump` by default. It must take `sample_weight` unless `resample` is set.
    n_estimators : int, default=50
    learning_rate : float, default=1.0
        Factor on every weight; the bounds hold for 1.
    random_state : int, RandomState, Generator or None
    resample : bool, default=False
        Draw a sample of n rows from the weights instead of passing the weights on.
    when_worse : {"flip", "stop"}, default="flip"
        Use a learner that is worse than chance with a negative weight, or stop.
    store_weights : bool, default=True
        Keep the weights of the rows after every round in `sample_weights_`.

    Attributes
    ----------
    estimators_ : list
    estimator_weights_, estimator_errors_ : arrays
        Weights on scikit-learn's scale (twice `alphas_` for two classes) and weighted errors.
    alphas_, normalizers_ : arrays
        Half log-odds and :math:`Z_t`.
    sample_weights_ : array of shape (rounds + 1, n)
    training_errors_ : array
        Training error of the committee after every round.
    bound_, bound_edge_ : float
        :math:`\prod Z_t` and :math:`\exp(-2\sum(\frac12-\epsilon_t)^2)`.
    trace_ : Trace
        Mean exponential loss; for two classes it equals the product of the normalizers.

    Examples
    --------
    >>> X = np.array(
    ...     [[1, 1], [2, 4], [5, 8], [7, 9], [8, 7], [4, 3], [3, 2], [6, 5], [9, 6], [10, 10]], float
    ... )
    >>> y = np.repeat([1, -1], 5)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.alphas_.round(4), round(model.bound_, 4), model.training_errors_
    (array([0.4236, 0.6496, 0.9229]), 0.5162, array([0.3, 0.3, 0. ]))
    """

    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
        "resample": ["boolean"],
        "when_worse": [StrOptions({"flip", "stop"})],
        "store_weights": ["boolean"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        resample=False,
        when_worse="flip",
        store_weights=True,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.resample = resample
        self.when_worse = when_worse
        self.store_weights = store_weights

    @property
    def _reads(self) -> Reads:
        known = self.estimator is None or bool(get_tags(self.estimator).input_tags.sparse)
        return Reads(y="class", sparse=known)

    def _limit(self) -> int:
        return int(self.n_estimators)

    # the loop

    def _read(self, X: Any, *others: Any, **options: Any) -> Any:
        rows = super()._read(X, *others, **options)
        if sparse.issparse(X):
            plain = "csr_array" if isinstance(X, sparse.sparray) else "csr_matrix"
            rows.given = type(X).__name__ if X.format in ("csr", "csc") else plain
        return rows

    def _start(self, work: AdaWork, rng: Any) -> AdaState:
        w = work.weight / work.weight.sum()
        score = np.zeros((len(work.y), len(work.classes)))
        return AdaState((), (), (), (), (w,), (), score, draw_seed(rng), False)

    def _prepare(self, rows: Any) -> AdaWork:
        X, y, weight = positive(rows)
        if (
            not self._stumps()
            and not self.resample
            and not has_fit_parameter(self.estimator, "sample_weight")
        ):
            raise DataError(
                f"{type(self.estimator).__name__} doesn't support sample_weight, which AdaBoost puts on the "
                "rows; use resample=True or another estimator."
            )
        columns = sort_columns(X) if self._stumps() else None
        given = X if rows.given is None else getattr(sparse, rows.given)(X)
        return AdaWork(given, y, weight, rows.classes, columns)

    def _stumps(self) -> bool:
        return self.estimator is None or type(self.estimator) is DecisionStump

    def _step(self, work: AdaWork, state: AdaState) -> tuple[AdaState, Report]:
        y = work.y
        w, n_classes = state.weights[-1], len(work.classes)
        learner, guess = self._weak(work, state, w)
        wrong = guess != y
        error = 0.0 if n_classes == 1 else float(w[wrong].sum())
        if self._useless(error, n_classes):
            if not state.learners:
                raise DegenerateError(
                    f"the first weak learner is no better than chance (weighted error {error:.6g}); "
                    "use a richer estimator."
                )
            return state._replace(done=True), Report(self._loss(state), done=True)
        if error <= 0.0:
            alpha = 1.0 + sum(abs(a) for a in state.alphas)
            state = self._added(y, state, learner, alpha, 0.0, 1.0, w, guess)
            return state, Report(self._loss(state), done=True)
        odds = np.log((1 - error) / error)
        alpha = self.learning_rate * (0.5 * odds if n_classes <= 2 else odds + np.log(n_classes - 1))
        with np.errstate(over="ignore", invalid="ignore"):
            right = np.exp(-alpha) if n_classes <= 2 else 1.0
            new = np.where(wrong, w * np.exp(alpha), w * right)
        z = float(new.sum())
        if not np.isfinite(z):
            warn(
                f"the weights of the rows left the numbers in round {len(state.learners) + 1}, where boosting "
                f"ends; lower learning_rate (now {self.learning_rate:g})."
            )
            state = self._added(y, state, learner, float(alpha), error, 1.0, w, guess)
            return state._replace(done=True), Report(self._loss(state), done=True)
        state = self._added(y, state, learner, float(alpha), error, z, new / z, guess)
        return state, Report(self._loss(state), done=len(state.learners) >= self.n_estimators)

    def _useless(self, error: float, n_classes: int) -> bool:
        if n_classes > 2:
            return error >= 1 - 1 / n_classes - CHANCE
        return abs(error - 0.5) <= CHANCE or (error > 0.5 and self.when_worse == "stop")

    def _weak(self, work: AdaWork, state: AdaState, w: Array) -> tuple[Any, Array]:
        """Fit a weak learner on the weights; return it and its class codes for all rows."""
        X, y, _, classes, sorted_ = work
        if self._stumps() and not self.resample:
            constant = self.estimator is None or self.estimator.allow_constant
            found = fit_stump(sorted_, y, w, len(classes), allow_constant=constant)
            return self._as_stump(work, found), self._answers(work, found)
        learner = clone(self.estimator) if self.estimator is not None else DecisionStump()
        rng = stream(state.seed, len(state.learners))
        if "random_state" in learner.get_params():
            learner.set_params(random_state=int(rng.integers(2**31)))
        if self.resample:
            counts = self._resample(X, y, w, rng)
            chosen = np.repeat(np.arange(len(y)), counts.astype(np.int64))
            learner.fit(X[chosen], classes[y[chosen]])
        else:
            learner.fit(X, classes[y], sample_weight=w)
        return learner, np.searchsorted(classes, learner.predict(X))

    def _resample(self, X: Array, y: Array, w: Array, rng: Any) -> Array:
        pool = make_pool(X, y, w)
        for _ in range(10):
            counts = draw_counts(pool._replace(whole=False), len(y), rng)
            if len(np.unique(y[counts > 0])) > 1:
                break
        return counts

    def _answers(self, work: AdaWork, found: Any) -> Array:
        if found.feature < 0:
            return np.full(len(work.y), found.left)
        return np.where(work.columns.column(found.feature) <= found.threshold, found.left, found.right)

    def _as_stump(self, work: AdaWork, found: Any) -> DecisionStump:
        stump = DecisionStump()
        stump.__dict__.update(DecisionStump._facts(found, work.classes))
        stump.classes_, stump.n_features_in_ = work.classes, work.X.shape[1]
        return stump

    def _added(
        self,
        y: Array,
        state: AdaState,
        learner: Any,
        alpha: float,
        error: float,
        z: float,
        w: Array,
        guess: Array,
    ) -> AdaState:
        score = state.score.copy()
        score[np.arange(len(y)), guess] += alpha
        wrong = float(np.mean(score.argmax(axis=1) != y))
        weights = (*state.weights, w) if self.store_weights else (w,)
        return state._replace(
            learners=(*state.learners, learner),
            alphas=(*state.alphas, alpha),
            errors=(*state.errors, error),
            normalizers=(*state.normalizers, z if error > 0 else 0.0),
            weights=weights,
            training_errors=(*state.training_errors, wrong),
            score=score,
        )

    def _loss(self, state: AdaState) -> float:
        """Mean exponential loss, zero after a perfect learner.

        For two classes it is the product of the normalizers. For K classes a right vote counts
        exp(-(K - 1) alpha / K) and a wrong one exp(alpha / K), where the normalizers count 1 and exp(alpha).
        """
        n_classes = state.score.shape[1]
        right = 0.0 if n_classes <= 2 else (n_classes - 1) / n_classes * sum(state.alphas)
        with np.errstate(divide="ignore"):
            return float(np.exp(np.log(state.normalizers).sum() - right))

    def _attributes(self, state: AdaState) -> dict[str, Any]:
        two = state.score.shape[1] <= 2
        alphas, errors = np.array(state.alphas), np.array(state.errors)
        facts: dict[str, Any] = {
            "estimators_": list(state.learners),
            "estimator_": DecisionStump() if self.estimator is None else self.estimator,
            "alphas_": alphas if two else alphas / 2,
            "estimator_weights_": 2 * alphas if two else alphas,
            "estimator_errors_": errors,
            "normalizers_": np.array(state.normalizers),
            "training_errors_": np.array(state.training_errors),
            "bound_": float(np.prod(state.normalizers)),
            "bound_edge_": float(np.exp(-2 * ((0.5 - errors) ** 2).sum())),
            "n_classes_": state.score.shape[1],
        }
        if self.store_weights:
            facts["sample_weights_"] = np.array(state.weights)
        return facts

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Add weak learners; see `Learner.fit`. They get sparse rows in the format given, CSR for odd ones."""
        return super().fit(X, y, sample_weight)

    # prediction

    def transform(self, X: Any) -> Array:
        """Return the answers of the weak learners as columns: -1 or +1 (two classes), else class codes."""
        rows = self._rows(X)
        columns = [np.searchsorted(self.classes_, learner.predict(rows.X)) for learner in self.estimators_]
        found = np.stack(columns, axis=1) if columns else np.zeros((rows.n_rows, 0))
        return (2.0 * found - 1.0) if len(self.classes_) == 2 else found

    @property
    def _n_features_out(self) -> int:
        return len(self.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def feature_importances_(self) -> Array:
        """Importances of the weak learners, averaged with their weights."""
        check_fitted(self)
        weight = np.abs(self.estimator_weights_)
        return np.average([m.feature_importances_ for m in self.estimators_], axis=0, weights=weight)

    def plot(self, X: Any = None, y: Any = None, ax: Any = None, *, kind: str = "error") -> Any:
        """Draw training error and bounds against the round, with the error on X and y where they are given.

        ``kind="margins"`` draws the cumulative distribution of the margins of X and y instead.
        """
        from gnomon.plot.trees import boosting_curves, margin_distribution

        return (
            margin_distribution(self, X, y, ax=ax)
            if kind == "margins"
            else boosting_curves(self, X, y, ax=ax)
        )
