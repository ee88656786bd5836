"""Products of families over columns: numbers, counts and categories side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array, Family, as_rows, as_weights


class ProductStatistics(NamedTuple):
    """One statistic per part; each merges by its own rule."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Product(Family):
    r"""Groups of columns that are independent given the component, each with a family of its own.

    .. math:: p_k(x) = \prod_g p^{(g)}_k(x_{C_g})

    Parameters
    ----------
    families : sequence of families
        One per group.
    columns : sequence of sequences of int
        The columns of every group; every column of X in exactly one of them.

    Examples
    --------
    >>> from gnomon.distributions import Gaussian, Poisson
    >>> mixed = Product([Gaussian(covariance_type="diag"), Poisson()], [[0], [1]])
    >>> mixed.fit([[0.5, 2], [1.5, 4]]).mean()
    array([[1., 3.]])
    """

    families: Any
    columns: Any

    def __init__(self, families: Sequence[Family], columns: Sequence[Sequence[int]]) -> None:
        columns = tuple(tuple(int(c) for c in np.atleast_1d(group)) for group in columns)
        flat = sorted(c for group in columns for c in group)
        if len(families) != len(columns) or flat != list(range(len(flat))):
            raise DataError("Product: every column must belong to exactly one of the families.")
        object.__setattr__(self, "families", tuple(families))
        object.__setattr__(self, "columns", columns)

    @property
    def fitted(self) -> bool:
        return all(family.fitted for family in self.families)

    @property
    def n_components(self) -> int:
        return self.families[0].n_components

    @property
    def n_features(self) -> int:
        return sum(map(len, self.columns))

    @property
    def parameters(self) -> dict[str, Array]:
        return {
            f"{name}_{g}": v for g, part in enumerate(self.families) for name, v in part.parameters.items()
        }

    def _with(self, families: Any) -> Self:
        return type(self)(list(families), self.columns)

    def select(self, components: Any) -> Self:
        return self._with(part.select(components) for part in self.families)

    def keeping(self, old: Self, components: Array) -> Self:
        pairs = zip(self.families, old.families, strict=True)
        return self._with(new.keeping(was, components) for new, was in pairs)

    def parameter_count(self) -> int:
        return sum(part.parameter_count() for part in self.families)

    def _groups(self, X: ArrayLike) -> list[tuple[Family, Array]]:
        X = as_rows(X, self.n_features)
        return [
            (part, np.ascontiguousarray(X[:, c])) for part, c in zip(self.families, self.columns, strict=True)
        ]

    def log_density(self, X: ArrayLike) -> Array:
        return sum(part.log_density(block) for part, block in self._groups(X))  # type: ignore[return-value]

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> ProductStatistics:
        X = as_rows(X, self.n_features)
        weights = as_weights(weights, len(X))
        return ProductStatistics(tuple(part.statistics(block, weights) for part, block in self._groups(X)))

    def estimate(self, statistics: ProductStatistics, prior: Any = None) -> Self:
        priors = [None] * len(self.families) if prior is None else prior
        parts = zip(self.families, statistics.parts, priors, strict=True)
        return self._with(part.estimate(s, p) for part, s, p in parts)

    def _spread(self, pieces: list[Array]) -> Array:
        """Put the groups' columns back in their places."""
        out = np.empty((len(pieces[0]), self.n_features))
        for piece, columns in zip(pieces, self.columns, strict=True):
            out[:, columns] = piece
        return out

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return self._spread([part.sample(labels, rng) for part in self.families])

    def mean(self) -> Array:
        return self._spread([part.mean() for part in self.families])

    def variance(self) -> Array:
        return self._spread([part.variance() for part in self.families])

    def mode(self) -> Array:
        return self._spread([part.mode() for part in self.families])

    def entropy(self, base: float | None = None) -> Array:
        return sum(part.entropy(base) for part in self.families)  # type: ignore[return-value]

    def kl(self, other: Self) -> Array:
        return sum(a.kl(b) for a, b in zip(self.families, other.families, strict=True))  # type: ignore[return-value]

    def quantile(self, q: float) -> Array:
        return self._spread([part.quantile(q) for part in self.families])
