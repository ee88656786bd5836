"""What models around another model share: its tags, the columns it saw, and which one is taken when none is given."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from sklearn.utils import Tags, get_tags

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
