"""What models around another model share: its tags, the columns it saw, and which one is taken when none is given."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, get_tags

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


class WrapsEstimator:
    """A model with a parameter `estimator`, kept as `estimator_` when it is fitted."""

    _default: ClassVar[tuple[str, str]]  # package and class of the model that is taken when none is given

    def _base(self) -> Any:
        """Return the model that is wrapped, not fitted."""
        given = self.estimator  # type: ignore[attr-defined]
        return given if given is not None else getattr(import_module(self._default[0]), self._default[1])()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen by `fit`."""
        return int(self.estimator_.n_features_in_)  # type: ignore[attr-defined]

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns seen by `fit`."""
        return self.estimator_.feature_names_in_  # type: ignore[attr-defined]


class NamedMembers:
    """A model with a parameter `estimators`, a list of (name, model): members are parameters, too, by their names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with the members and theirs (name__parameter) when `deep`."""
        found: dict[str, Any] = super().get_params(deep=False)  # type: ignore[misc]
        for name, model in self._pairs() if deep else []:
            found[name] = model
            if hasattr(model, "get_params") and not isinstance(model, type):
                found |= {f"{name}__{key}": value for key, value in model.get_params(deep=True).items()}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters: the list, then members by name, then what is left (name__parameter or one of our own)."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        pairs = self._pairs()
        if any(name in params for name, _ in pairs):
            self.estimators = [(name, params.pop(name, model)) for name, model in pairs]
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _pairs(self) -> list[tuple[str, Any]]:
        """The members; none when the list is not one of pairs, which `fit` refuses."""
        given = self.estimators
        pairs = list(given) if isinstance(given, list | tuple) else []
        fine = all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs)
        return pairs if fine else []

    def _check_names(self) -> None:
        """Refuse names that are taken twice, hold "__", or are parameters of the model itself."""
        names = [name for name, _ in self._pairs()]
        own = set(super().get_params(deep=False))  # type: ignore[misc]
        if len(set(names)) < len(names):
            raise DataError(f"Names provided are not unique: {names}; give every member a name of its own.")
        if taken := sorted(own.intersection(names)):
            raise DataError(
                f"Estimator names conflict with constructor arguments: {taken}; rename the members."
            )
        if odd := [name for name in names if "__" in name]:
            raise DataError(
                f"Estimator names must not contain __: got {odd}; it parts members and parameters."
            )


def input_names(estimator: Any, given: Any = None) -> Array:
    """Return the names of the columns that an estimator was fitted to: those given, its own, or x0, x1, …."""
    own = getattr(estimator, "feature_names_in_", None)
    width = getattr(estimator, "n_features_in_", None)
    if given is None:
        made = [f"x{j}" for j in range(width or 0)] if own is None else own
        return np.asarray(made, dtype=object)
    names = np.asarray(given, dtype=object)
    if own is not None and not np.array_equal(own, names):
        raise ValueError(f"input_features is not equal to feature_names_in_; the fit saw {list(own)}.")
    if width is not None and len(names) != width:
        raise ValueError(
            f"input_features should have length equal to number of features ({width}), got {len(names)}"
        )
    return names
