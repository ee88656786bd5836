"""What bagging shares between classes and numbers: samples of rows and columns, members on threads, rows left out."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.parameters import HasMethods, Interval
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.routing import route, take_each, takes_weights, with_config
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads, warn
from gnomon.ensemble.sampling import draw_counts, make_pool, n_draws
from gnomon.trees.problems import positive

Array = np.ndarray

RULES: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
        None,
    ],
    "max_features": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")],
    "bootstrap": ["boolean"],
    "bootstrap_features": ["boolean"],
    "oob_score": ["boolean", callable],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose"],
}


class BagState(NamedTuple):
    """Members so far with the features and rows they saw."""

    members: tuple[Any, ...]
    features: tuple[Array, ...]
    counts: tuple[Array, ...]
    seed: int


class Bagging(MetaEstimatorMixin, Learner):
    """Many members of one kind, each on a sample; subclasses say what they predict together."""

    _stop = "self"
    _target: ClassVar[str] = "class"
    _default: ClassVar[Any] = None

    @property
    def _reads(self) -> Reads:
        """What is read: missing values are left to the members."""
        return Reads(y=self._target, nan=True, sparse=bool(get_tags(self._base()).input_tags.sparse))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._base()).input_tags.allow_nan
        return tags

    def _limit(self) -> int:
        return int(self.n_estimators)

    def _base(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the members.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Members of sparse rows get them in the format they were given in.
        y : array
            The target.
        sample_weight : array of shape (n,), optional
            Rows are drawn in proportion to it; whole numbers are repetitions.
        **fit_params
            Metadata for `fit` of the members, where scikit-learn's routing is enabled and they ask for it.

        Returns
        -------
        self
            The fitted committee.
        """
        metadata = dict(route(self, "fit", fit_params).estimator.fit)
        rows = self._read(X, y, sample_weight)
        if metadata or sparse.issparse(X):
            rows.given = (type(X).__name__ if sparse.issparse(X) else None), metadata
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which methods of the members get what the methods of the committee are given."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="decision_function", callee="decision_function")
        for caller in ("predict", "predict_proba", "predict_log_proba"):
            mapping.add(caller=caller, callee=self._asks())
        return MetadataRouter(owner=self).add(estimator=self._base(), method_mapping=mapping)

    def _asks(self) -> str:
        """Return the name of the method of the members that predictions are made of."""
        return "predict"

    def iterate(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Any]:
        """Yield a fitted copy of the committee; a committee without members is left out."""
        yield from (copy for copy in super().iterate(X, y, sample_weight) if copy.estimators_)

    def _start(self, rows: Any, rng: Any) -> BagState:
        if self.oob_score and not self.bootstrap:
            raise DataError("oob_score needs bootstrap=True: without it no row is out of the bag.")
        return BagState((), (), (), draw_seed(rng))

    def _state(self) -> BagState:
        grown = len(self._bag_.members)
        if self.n_estimators < grown:
            raise DataError(
                f"n_estimators={self.n_estimators} must be at least {grown} when warm_start=True: "
                "the old members are kept."
            )
        if self.n_estimators == grown:
            warn("Warm-start fitting without increasing n_estimators does not fit new members.")
        return self._bag_

    def _step(self, rows: Any, state: BagState) -> tuple[BagState, Report]:
        kept, (X, y, weight) = np.flatnonzero(rows.weight > 0), positive(rows)
        pool = make_pool(X, y, weight)
        n = X.shape[0]
        size = n_draws(self.max_samples, pool.size if self.bootstrap else n)
        width = (
            self.max_features
            if isinstance(self.max_features, Integral)
            else int(self.max_features * X.shape[1])
        )
        first, last = len(state.members), self.n_estimators
        labels = rows.y if rows.classes is None else rows.classes[rows.y]

        def one(index: int) -> tuple[Any, Array, Array]:
            rng = stream(state.seed, index)
            if self.bootstrap:
                counts = draw_counts(pool, size, rng)
            else:
                counts = weight.copy()
                if size < n:
                    counts[pool.order[np.sort(rng.permutation(n)[size:])]] = 0.0
            features = np.arange(X.shape[1])
            if width < X.shape[1] or self.bootstrap_features:
                features = np.sort(rng.choice(X.shape[1], max(1, width), replace=self.bootstrap_features))
            drawn = np.zeros(rows.n_rows)
            drawn[kept] = counts
            return self._member(rows, labels, drawn, features, rng), features, counts

        grown = list(in_order(with_config(one), range(first, last)))
        state = BagState(
            state.members + tuple(member for member, _, _ in grown),
            state.features + tuple(features for _, features, _ in grown),
            state.counts + tuple(counts for _, _, counts in grown),
            state.seed,
        )
        return state, Report(None, done=True)

    def _member(self, rows: Any, y: Array, drawn: Array, features: Array, rng: Any) -> Any:
        """Return a member that saw each row as often as it was drawn: by weights, or by repetition."""
        X, member, n = rows.X, clone(self._base()), rows.n_rows
        seed = int(rng.integers(2**31))
        member.set_params(**{name: seed for name in member.get_params() if name.endswith("random_state")})
        whole = len(features) == X.shape[1] and (features == np.arange(X.shape[1])).all()
        part, (kind, metadata) = X if whole else X[:, features], rows.given or (None, {})
        given = (lambda rows: rows) if kind is None else getattr(sparse, kind)
        if takes_weights(member):
            member.fit(given(part), y, **{**metadata, "sample_weight": drawn})
            return member
        chosen = np.repeat(np.arange(n), np.round(drawn).astype(np.int64))
        member.fit(given(part[chosen]), y[chosen], **take_each(metadata, n, chosen))
        return member

    def _attributes(self, state: BagState) -> dict[str, Any]:
        facts = {
            "estimators_": list(state.members),
            "estimator_": self._base(),
            "estimators_features_": list(state.features),
            "_bag_": state,
        }
        return facts

    def _check_loaded(self) -> None:
        known, width = vars(self).get("classes_"), getattr(self, "n_features_in_", 0)
        for features in vars(self).get("estimators_features_", []):
            columns = np.asarray(features)
            if columns.ndim != 1 or columns.dtype.kind not in "iu" or not len(columns):
                raise ModelFileError("the columns of a member of it are no columns. Get a new copy.")
            if not 0 <= int(columns.min()) <= int(columns.max()) < width:
                raise ModelFileError(f"a member of it looks at columns beyond the {width}. Get a new copy.")
        for member in vars(self).get("estimators_", []):
            if known is not None and not np.isin(getattr(member, "classes_", known), known).all():
                raise ModelFileError("a member of it knows other classes than it. Get a new copy.")

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def _keep(self, run: Any, rows: Any) -> None:
        super()._keep(run, rows)
        self._kept_ = np.flatnonzero(rows.weight > 0)
        if self.oob_score:
            X, y, _ = positive(rows)
            self._score_oob(X, y)

    @property
    def estimators_samples_(self) -> list[Array]:
        """Rows that each member saw, repeated as drawn."""
        if not self.bootstrap:
            return [self._kept_[c > 0] for c in self._bag_.counts]
        return [np.repeat(self._kept_, np.round(c).astype(np.int64)) for c in self._bag_.counts]

    def _outputs(self, X: Array, member: Any, features: Array, **metadata: Any) -> Array:
        raise NotImplementedError

    def _each(self, X: Any, caller: str = "predict", given: Any = None) -> Iterator[Array]:
        """Yield what every member says; `given` are metadata that a method of ours was called with."""
        rows = self._rows(X)
        metadata = route(self, caller, given or {}).estimator[self._asks()]
        pairs = list(zip(self.estimators_, self.estimators_features_))
        yield from in_order(with_config(lambda pair: self._outputs(rows.X, *pair, **metadata)), pairs)

    def _oob(self, X: Array) -> tuple[Array, Array]:
        n = X.shape[0]
        total, count = None, np.zeros(n)
        for member, features, counts in zip(*self._bag_[:3]):
            out = np.flatnonzero(counts == 0)
            if not len(out):
                continue
            found = self._outputs(X[out], member, features)
            total = np.zeros((n, *found.shape[1:])) if total is None else total
            total[out] += found
            count[out] += 1
        missing = int(np.count_nonzero(count == 0))
        if missing:
            warn(f"{missing} rows are in every bag and have no out-of-bag prediction; use more members.")
        if total is None:
            total = np.zeros((n, len(self.classes_)) if self._target == "class" else n)
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / (count if total.ndim == 1 else count[:, None]), count > 0

    def _score_oob(self, X: Array, y: Array) -> None:
        raise NotImplementedError
