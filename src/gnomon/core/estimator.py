"""What every estimator of the library has: one way to read data, one way to keep what was learned."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags

from gnomon.core.data import Data
from gnomon.core.promises import Promises
from gnomon.core.rows import Rows
from gnomon.core.settings import SIMPLE, check_parameters, parameter_names
from gnomon.core.validate import Reads, check_fitted, read


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that reads its data through the library's door."""

    _reads: ClassVar[Reads] = Reads()
    _promises: ClassVar[Promises] = Promises()
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return list(parameter_names(kind))

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Rows:
        """Return the rows to learn from, after checking the parameters; `self` is not changed."""
        if reset:
            check_parameters(self)
        options.setdefault("reads", self._reads)
        return read(self, X, y, sample_weight, reset=reset, **options)

    def _rows(self, X: Any, **options: Any) -> Rows:
        """Return the rows to predict for."""
        check_fitted(self)
        return read(self, X, reads=self._reads._replace(y=None), reset=False, **options)

    def _adopt(self, attributes: dict[str, Any], data: Data | None = None) -> None:
        """Replace everything learned by `attributes` and what the data tell of themselves, at once."""
        fresh = {**attributes, **(data.facts() if data is not None else {})}
        own = vars(self)
        kept = {name: own[name] for name in own if name[-1] != "_" or not is_learned(name)}
        self.__dict__ = {**kept, **fresh}

    def _unfitted(self) -> Self:
        """Return scikit-learn's clone; its long way is spared where settings are but numbers and words."""
        cls: Any = type(self)
        settings = {name: getattr(self, name) for name in parameter_names(cls)}
        noted = any(
            name.startswith(("_sk", "_metadata")) for name in vars(self)
        )  # by scikit-learn, for clones
        if noted or not all(map(_is_simple, settings.values())):
            return clone(self)
        return cls(**settings)  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return any(name[-1] == "_" and is_learned(name) for name in vars(self))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._reads.sparse
        tags.input_tags.allow_nan = self._reads.nan
        tags.input_tags.positive_only = self._reads.positive
        tags.target_tags.required = self._reads.y is not None and not self._reads.optional_y
        tags.target_tags.multi_output = self._reads.y == "numbers"
        return tags


def _is_simple(value: Any) -> bool:
    return type(value) in SIMPLE or (type(value) is tuple and all(map(_is_simple, value)))


def is_learned(name: str) -> bool:
    """Tell whether an attribute is one that `fit` sets, by scikit-learn's convention."""
    return name.endswith("_") and not name.startswith("__")
