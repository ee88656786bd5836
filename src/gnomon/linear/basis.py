"""Basis expansions: columns computed from columns, so that linear models draw curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import TransformerMixin

from gnomon.core.errors import DataError, nearest
from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import Reads, check_fitted

QUARTILES = (0.25, 0.5, 0.75)


class Basis(NamedTuple):
    """A map from rows to one or several new columns: its kind, its numbers, the names of the columns."""

    kind: str
    arguments: tuple[Any, ...]
    names: tuple[str, ...]

    def function(self, X: Array) -> Array:
        """Return the new columns of some rows."""
        with np.errstate(over="ignore"):
            return np.asarray(_KINDS[self.kind](X, *self.arguments), dtype=float).reshape(len(X), -1)


def power(j: int, p: float) -> Basis:
    """x_j^p."""
    return Basis("power", (j, p), (f"x{j}^{p:g}",))


def log(j: int) -> Basis:
    """ln x_j; values must be positive."""
    return Basis("log", (j,), (f"log(x{j})",))


def step(j: int, a: float) -> Basis:
    """1 where x_j < a, else 0."""
    return Basis("step", (j, a), (f"x{j}<{a:g}",))


def less(j: int, k: int) -> Basis:
    """1 where x_j < x_k, else 0."""
    return Basis("less", (j, k), (f"x{j}<x{k}",))


def cos(j: int, omega: float = 1.0) -> Basis:
    """cos(ω x_j)."""
    return Basis("cos", (j, omega), (f"cos({omega:g} x{j})",))


def sin(j: int, omega: float = 1.0) -> Basis:
    """sin(ω x_j)."""
    return Basis("sin", (j, omega), (f"sin({omega:g} x{j})",))


def product(j: int, k: int) -> Basis:
    """x_j x_k."""
    return Basis("product", (j, k), (f"x{j} x{k}",))


def rbf(centers: Any, width: float) -> Basis:
    """exp(−‖x − c‖²/(2 width²)) for every center c."""
    if not width > 0:
        raise ValueError(f"width must be positive; got {width}.")
    C = np.atleast_2d(np.asarray(centers, dtype=float))
    return Basis("rbf", (C, width), tuple(f"rbf{i}" for i in range(len(C))))


def sigmoid(weights: Any, bias: float = 0.0) -> Basis:
    """1/(1 + exp(−(w·x + b)))."""
    return Basis("sigmoid", (np.asarray(weights, dtype=float), bias), ("sigmoid",))


def spline(j: int, knots: Any, degree: int = 3) -> Basis:
    """Truncated powers: x, …, x^degree and (x − t)₊^degree for every knot t."""
    t = np.asarray(knots, dtype=float)
    if t.ndim != 1 or (np.diff(t) <= 0).any():
        raise ValueError(f"knots must increase; got {t.tolist()}.")
    powers = [f"x{j}^{q}" for q in range(1, degree + 1)]
    return Basis("spline", (j, t, degree), (*powers, *(f"(x{j}-{v:g})+^{degree}" for v in t)))


def custom(function: Callable[[Any], Any], names: Sequence[str]) -> Basis:
    """Any map from rows to columns: detectors, flattened pixels, expression levels."""
    return Basis("custom", (function,), tuple(names))


def _log(X: Array, j: int) -> Array:
    if (X[:, j] <= 0).any():
        row = int(np.argmax(X[:, j] <= 0))
        raise DataError(f"log of column {j} needs positive values; row {row} holds {X[row, j]:g}.")
    return np.log(X[:, j])


def _rbf(X: Array, C: Array, width: float) -> Array:
    return np.exp(-((X[:, None, :] - C) ** 2).sum(axis=2) / (2.0 * width**2))


def _spline(X: Array, j: int, t: Array, degree: int) -> Array:
    x = X[:, j : j + 1]
    return np.hstack([x ** np.arange(1, degree + 1), np.maximum(x - t, 0.0) ** degree])


_KINDS: dict[str, Callable[..., Any]] = {
    "power": lambda X, j, p: X[:, j] ** p,
    "log": _log,
    "step": lambda X, j, a: X[:, j] < a,
    "less": lambda X, j, k: X[:, j] < X[:, k],
    "cos": lambda X, j, omega: np.cos(omega * X[:, j]),
    "sin": lambda X, j, omega: np.sin(omega * X[:, j]),
    "product": lambda X, j, k: X[:, j] * X[:, k],
    "rbf": _rbf,
    "sigmoid": lambda X, w, bias: 0.5 * (1.0 + np.tanh(0.5 * (X @ w + bias))),
    "spline": _spline,
    "custom": lambda X, function: function(X),
}


class BasisExpansion(TransformerMixin, Estimator):
    r"""Columns g_1(x), …, g_m(x) for a linear model ŷ = Σ w_s g_s(x).

    The functions come from `gnomon.linear.basis` (`power`, `log`, `step`, `less`, `cos`, `sin`, `product`,
    `rbf`, `sigmoid`, `spline`, `custom`) or from recipes by name, which make them for every column: many
    features at once, to be selected by an ℓ1 penalty (`Lasso`, ``LogisticRegression(l1_ratio=1)``).

    Parameters
    ----------
    functions : sequence of Basis or of recipe names
        Recipes: ``"power"`` (squares and cubes), ``"log"`` (positive columns), ``"step"`` (below each
        quartile), ``"cos"``, ``"product"`` (of pairs).
    include_original : bool, default=False
    include_bias : bool, default=False
    max_features : int, default=10000
        Refuse to make more columns than this.

    Examples
    --------
    >>> from gnomon.linear import basis
    >>> BasisExpansion([basis.power(0, 2), basis.step(0, 1.5)]).fit_transform([[1.0], [2.0]])
    array([[1., 1.],
           [4., 0.]])
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "functions": [list, tuple],
        "include_original": ["boolean"],
        "include_bias": ["boolean"],
        "max_features": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        functions: Any = ("power", "product"),
        *,
        include_original: bool = False,
        include_bias: bool = False,
        max_features: int = 10_000,
    ) -> None:
        self.functions = functions
        self.include_original = include_original
        self.include_bias = include_bias
        self.max_features = max_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the functions that recipes make for these columns; `y` is ignored."""
        rows = self._read(X)
        chosen = [g for f in self.functions for g in _cook(f, rows.X)]
        count = rows.n_features * self.include_original + self.include_bias
        count += sum(len(g.names) for g in chosen)
        if count > self.max_features:
            raise ValueError(f"{count} columns would be made; max_features is {self.max_features}.")
        self._adopt({"basis_": chosen, "n_output_features_": count}, rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return the new columns."""
        X = self._rows(X).X.astype(float)
        made = [g.function(X) for g in self.basis_]
        first = [np.ones((len(X), 1))] * self.include_bias + [X] * self.include_original
        return finite(np.hstack([*first, *made])) if first or made else np.zeros((len(X), 0))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns; repeated ones are numbered."""
        check_fitted(self)
        original = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = ["1"] * self.include_bias + list(original) * self.include_original
        names += [name for g in self.basis_ for name in g.names]
        seen: dict[str, int] = {}
        for k, name in enumerate(names):
            seen[name] = seen.get(name, 0) + 1
            names[k] = name if seen[name] == 1 else f"{name}_{seen[name]}"
        return np.array(names, dtype=object)


def _cook(recipe: Basis | str, X: Array) -> list[Basis]:
    """Make the functions of a recipe for every column; a function stays as it is."""
    if isinstance(recipe, Basis):
        return [recipe]
    d, recipe = range(X.shape[1]), str(recipe)
    kitchen: dict[str, Callable[[], list[Basis]]] = {
        "power": lambda: [power(j, p) for j in d for p in (2, 3)],
        "log": lambda: [log(j) for j in d if (X[:, j] > 0).all()],
        "step": lambda: [step(j, float(a)) for j in d for a in sorted(set(np.quantile(X[:, j], QUARTILES)))],
        "cos": lambda: [cos(j) for j in d],
        "product": lambda: [product(j, k) for j, k in combinations(d, 2)],
    }
    if recipe not in kitchen:
        raise ValueError(
            f"functions: unknown recipe {recipe!r}; there are {', '.join(kitchen)}.{nearest(recipe, kitchen)}"
        )
    return kitchen[recipe]()


def finite(columns: Array) -> Array:
    """Refuse columns that left the floating-point range."""
    if not np.isfinite(columns).all():
        raise overflow(int(np.argmin(np.isfinite(columns).all(axis=0))))
    return columns


def overflow(column: int) -> DataError:
    """Return the error of a new column that left the floating-point range."""
    return DataError(f"new column {column} overflows; divide the columns of X by their size first.")
