"""Voting: a committee of different models."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.parameters import InvalidParameterError, StrOptions
from gnomon.core.routing import route, routing_enabled, with_config
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads
from gnomon.core.wrapping import NamedMembers, input_names

Array = np.ndarray

_RULES: dict[str, Any] = {
    "estimators": [list],
    "weights": ["array-like", None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class _Voting(TransformerMixin, NamedMembers, OneStep):
    _kind: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = _RULES

    @property
    def named_estimators(self) -> Bunch:
        """The members by name."""
        return Bunch(**dict(self.estimators))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the members.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The rows, for all members; sparse or with missing values where every member takes them.
        y : array of shape (n,)
            The target.
        sample_weight : array of shape (n,), optional
            Weights of the rows; every member must take them.
        **fit_params
            Metadata for `fit` of the members, where scikit-learn's routing is enabled and they ask for it.

        Returns
        -------
        self
            The fitted committee.
        """
        if routing_enabled() and sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        rows = self._read(X, y, sample_weight)
        if fit_params:
            routed = route(self, "fit", fit_params)
            rows.given = {name: dict(routed[name].fit) for name, _ in self._members()}
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which members are given metadata that `fit` is called with."""
        router = MetadataRouter(owner=self)
        for name, model in self.estimators:
            if not isinstance(model, str):
                router.add(**{name: model}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _input(self, y: str) -> Reads:
        """Return what is read: missing values are left to the members, sparse rows must be for all of them."""
        tags = self._member_tags()
        return Reads(y=y, nan=True, sparse=bool(tags) and all(tag.sparse for tag in tags))

    def _member_tags(self) -> list[Any]:
        """What the members that tell say about their input."""
        models = [pair[1] for pair in self.estimators if isinstance(pair, tuple) and len(pair) == 2]
        return [get_tags(model).input_tags for model in models if hasattr(model, "__sklearn_tags__")]

    def _members(self) -> list[tuple[str, Any]]:
        if not self.estimators or any(not isinstance(pair, tuple) for pair in self.estimators):
            raise DataError("estimators must be a list of (name, model) pairs, at least one.")
        if not all(isinstance(name, str) for name, _ in self.estimators):
            raise DataError("estimators must be (name, model) pairs with names that are strings.")
        self._check_names()
        members = [(name, model) for name, model in self.estimators if not isinstance(model, str)]
        if not members:
            raise DataError("every member is dropped; at least one must stay.")
        for name, model in members:
            if not self._is_kind(model):
                raise DataError(f"member {name!r} is a {type(model).__name__}; it should be a {self._kind}.")
        if self.weights is not None and len(self.weights) != len(self.estimators):
            raise DataError(f"weights has {len(self.weights)} entries for {len(self.estimators)} estimators.")
        return members

    def _solve(self, rows: Any) -> dict[str, Any]:
        members = self._members()
        y = rows.y if rows.classes is None else rows.classes[rows.y]
        metadata = rows.given

        def one(pair: tuple[str, Any]) -> Any:
            model = clone(pair[1])
            if metadata is not None:
                model.fit(rows.X, y, **metadata[pair[0]])
                return model
            if rows.weighted:
                if not has_fit_parameter(model, "sample_weight"):
                    raise InvalidParameterError(
                        f"member {pair[0]!r} ({type(model).__name__}) does not support sample weights; "
                        "drop it or the weights."
                    )
                model.fit(rows.X, y, sample_weight=rows.weight)
                return model
            model.fit(rows.X, y)
            return model

        fitted = list(in_order(with_config(one), members))
        return {"estimators_": fitted}

    def _names(self) -> list[str]:
        return [name for name, model in self.estimators if not isinstance(model, str)]

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name, "drop" for those that were left out."""
        fitted = dict(zip(self._names(), self.estimators_))
        return Bunch(**{name: fitted.get(name, model) for name, model in self.estimators})

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self)
        input_names(self, input_features)
        start = type(self).__name__.lower()
        return np.array([f"{start}_{name}" for name in self._columns()], dtype=object)

    def _columns(self) -> list[str]:
        return self._names()

    def _weight(self) -> Array | None:
        if self.weights is None:
            return None
        kept = [not isinstance(model, str) for _, model in self.estimators]
        return np.asarray(self.weights, dtype=np.float64)[kept]

    @classmethod
    def _committee(cls, models: list[Any], parameters: dict[str, Any]) -> Any:
        self = cls([(f"model{i}", model) for i, model in enumerate(models)], **parameters)
        self.estimators_ = list(models)
        self.n_features_in_ = models[0].n_features_in_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        members = self._member_tags()
        tags.input_tags.allow_nan = bool(members) and all(tag.allow_nan for tag in members)
        return tags


def _is_soft(model: Any) -> bool:
    if model.voting == "hard":
        raise AttributeError("predict_proba is not available when voting='hard'; use voting='soft'.")
    return True


class VotingClassifier(ClassifierMixin, _Voting):
    r"""Different classifiers that vote.

    .. math:: \text{hard: } \arg\max_k \sum_m w_m \mathbb{1}\{f_m(x) = k\}, \qquad
              \text{soft: } \arg\max_k \sum_m w_m \hat p_m(k \mid x)

    Ties go to the lowest class. If m members have equal error variance and pairwise correlation :math:`\rho`,
    their average has variance :math:`\rho\sigma^2 + (1-\rho)\sigma^2/m`: members should be good and
    different.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Members; "drop" leaves one out.
    voting : {"hard", "soft"}, default="hard"
    weights : array, optional
    n_jobs, flatten_transform, verbose
        As in scikit-learn.

    Attributes
    ----------
    estimators_, named_estimators_, classes_

    Examples
    --------
    >>> from gnomon.trees import DecisionStump, DecisionTreeClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> VotingClassifier([("stump", DecisionStump()), ("tree", DecisionTreeClassifier())]).fit(X, y).predict(
    ...     X
    ... )
    array([0, 0, 1, 1])
    """

    _kind = "classifier"
    _is_kind = staticmethod(is_classifier)

    @property
    def _reads(self) -> Reads:
        return self._input("class")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RULES,
        "voting": [StrOptions({"hard", "soft"})],
        "flatten_transform": ["boolean"],
    }

    def __init__(
        self, estimators, *, voting="hard", weights=None, n_jobs=None, flatten_transform=True, verbose=False
    ):
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    @classmethod
    def from_fitted(cls, models: list[Any], **parameters: Any) -> Any:
        """Return a committee of classifiers that are already fitted on the same classes."""
        self = cls._committee(models, parameters)
        self.classes_ = models[0].classes_
        return self

    def _columns(self) -> list[str]:
        if self.voting == "hard":
            return self._names()
        if not self.flatten_transform:
            raise DataError("columns have names with flatten_transform=True only.")
        return [f"{name}{k}" for name in self._names() for k in range(len(self.classes_))]

    def _probabilities(self, X: Any) -> Array:
        rows = self._rows(X)
        return np.array([model.predict_proba(rows.X) for model in self.estimators_])

    def _codes(self, X: Any) -> Array:
        rows = self._rows(X)
        return np.stack([np.searchsorted(self.classes_, m.predict(rows.X)) for m in self.estimators_], axis=1)

    @available_if(_is_soft)
    def predict_proba(self, X: Any) -> Array:
        """Return the weighted mean of the members' probabilities; needs ``voting="soft"``."""
        return np.average(self._probabilities(X), axis=0, weights=self._weight())

    def predict(self, X: Any) -> Array:
        """Return the class the committee votes for."""
        if self.voting == "soft":
            best = self.predict_proba(X).argmax(axis=1)
        else:
            codes = self._codes(X)
            weight = np.ones(codes.shape[1]) if self.weights is None else self._weight()
            votes = np.stack([(codes == k) @ weight for k in range(len(self.classes_))], axis=1)
            best = votes.argmax(axis=1)
        return self.classes_[best]

    def transform(self, X: Any) -> Array:
        """Return the members' votes (hard) or probabilities (soft)."""
        if self.voting == "hard":
            return self._codes(X)
        found = self._probabilities(X)
        return np.hstack(found) if self.flatten_transform else found


class VotingRegressor(RegressorMixin, _Voting):
    r"""The weighted mean of different regressors.

    .. math:: f(x) = \sum_m w_m f_m(x) / \sum_m w_m

    Parameters
    ----------
    estimators : list of (str, regressor)
    weights : array, optional
    n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    estimators_, named_estimators_

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0]
    >>> members = [("flat", DecisionTreeRegressor(max_depth=1)), ("deep", DecisionTreeRegressor())]
    >>> VotingRegressor(members).fit(X, y).predict(X)
    array([1.25, 1.75, 9.  ])
    """

    _kind = "regressor"
    _is_kind = staticmethod(is_regressor)

    @property
    def _reads(self) -> Reads:
        return self._input("number")

    def __init__(self, estimators, *, weights=None, n_jobs=None, verbose=False):
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_fitted(cls, models: list[Any], **parameters: Any) -> Any:
        """Return a committee of regressors that are already fitted."""
        return cls._committee(models, parameters)

    def _each(self, X: Any) -> Array:
        rows = self._rows(X)
        return np.stack([model.predict(rows.X) for model in self.estimators_], axis=1)

    def transform(self, X: Any) -> Array:
        """Return the members' predictions as columns."""
        return self._each(X)

    def predict(self, X: Any) -> Array:
        """Return the weighted mean of the members."""
        return np.average(self._each(X), axis=1, weights=self._weight())
