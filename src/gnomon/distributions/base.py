"""The family protocol: an immutable stack of K distributions of one kind over d columns.

Classifiers, mixtures, Markov chains and networks know a family only through this protocol, so each of them is
written once. Parameters carry the component on their first axis; axes that are missing are added in front, so
that a number is one distribution of one column. A family without parameters carries its options only;
``fit`` and ``estimate`` return a new stack with the same options. NaN marks an entry that was not observed
and is integrated out.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.randomness import generator
from gnomon.loops import densities as loops

Array: TypeAlias = NDArray[Any]


def as_rows(X: ArrayLike, d: int | None) -> Array:
    """Return X as an (n, d) float array; a vector is one column when d is 1 or unknown, else one row."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim < 2:
        X = X.reshape(-1, 1) if d in (None, 1) else X.reshape(1, -1)
    if X.ndim != 2 or (d is not None and X.shape[1] != d):
        raise DataError(f"X has shape {X.shape}, but the distribution has {d} columns.")
    return X


def as_weights(weights: ArrayLike | None, n: int) -> Array:
    """Return weights as (n, K); none means one component with weight one."""
    if weights is None:
        return np.ones((n, 1))
    weights = np.asarray(weights, dtype=np.float64)
    weights = weights.reshape(-1, 1) if weights.ndim < 2 else weights
    if weights.ndim != 2 or len(weights) != n:
        raise DataError(f"weights have shape {weights.shape}; expected ({n},) or ({n}, K).")
    return weights


def in_base(nats: Array, base: float | None) -> Array:
    """Change the unit of an entropy from nats to logarithms of `base`."""
    return nats if base is None else nats / np.log(base)


class Expectation(NamedTuple):
    """What one E-step over some rows leaves behind: ln-likelihood, component masses, family statistics."""

    log_likelihood: Any
    mass: Array  # (K,)
    statistics: Any


class Family:
    """A stack of K distributions of one kind over d columns (see the module's text for the protocol)."""

    _parameters: ClassVar[tuple[str, ...]] = ()
    _axes: ClassVar[int] = 2  # axes of every parameter: the component, then the columns

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in self._parameters if getattr(self, name) is not None}
        if given:
            for name, array in self._promoted(given).items():
                array.flags.writeable = False
                object.__setattr__(self, name, array)
            self._check_parameters()

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        """Add missing axes in front and broadcast all parameters against each other."""
        arrays = [np.array(value, dtype=np.float64, ndmin=self._axes) for value in given.values()]
        return dict(zip(given, map(np.array, np.broadcast_arrays(*arrays)), strict=True))

    def _check_parameters(self) -> None:
        """Raise DataError where a parameter is outside its range."""

    def _require(self, holds: Array, name: str, rule: str) -> None:
        """Raise DataError naming the first entry of parameter `name` that breaks `rule`."""
        if not np.all(holds):
            worst = np.asarray(getattr(self, name))[~np.broadcast_to(holds, getattr(self, name).shape)].flat[
                0
            ]
            raise DataError(f"{type(self).__name__}: {name} must be {rule}; got {worst}.")

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _check_loaded(self) -> None:
        """Refuse parameters of a file that the constructor would refuse, or would give another shape."""
        try:
            again = type(self)(**self.__getstate__())
        except Exception as error:
            raise ModelFileError(f"its {type(self).__name__} cannot be: {error} Get a new copy.") from error
        if any(np.shape(value) != np.shape(getattr(self, name)) for name, value in again.parameters.items()):
            raise ModelFileError(f"its {type(self).__name__} has parameters that do not fit. Get a new copy.")
        vars(self).update(again.__getstate__())

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={_short(v)}" for k, v in self.__getstate__().items() if v is not None)
        return f"{type(self).__name__}({shown})"

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def fitted(self) -> bool:
        """Whether the stack has parameters."""
        return getattr(self, self._parameters[0]) is not None

    @property
    def _leading(self) -> Array:
        value = getattr(self, self._parameters[0])
        if value is None:
            raise DataError(f"{type(self).__name__} has no parameters yet; give them, or call fit.")
        return value

    @property
    def n_components(self) -> int:
        """K, the number of distributions in the stack."""
        return self._leading.shape[0]

    @property
    def n_features(self) -> int:
        """d, the number of columns."""
        return self._leading.shape[1]

    @property
    def parameters(self) -> dict[str, Array]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters}

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other parameters or options."""
        return replace(self, **changes)  # type: ignore[type-var]

    def select(self, components: Any) -> Self:
        """Return the stack of the chosen components (an index, a slice or a list of indices)."""
        index = np.atleast_1d(np.arange(self.n_components)[components])
        return self.replace(**{name: value[index] for name, value in self.parameters.items()})

    def keeping(self, old: Self, components: Array) -> Self:
        """Return this stack with the marked components (a mask) as they are in `old`."""
        if not components.any():
            return self
        pairs = {name: (value, getattr(old, name)) for name, value in self.parameters.items()}
        shaped = {name: components.reshape(-1, *[1] * (new.ndim - 1)) for name, (new, _) in pairs.items()}
        return self.replace(**{name: np.where(shaped[name], was, new) for name, (new, was) in pairs.items()})

    def parameter_count(self) -> int:
        """Return the number of free parameters of the whole stack."""
        return sum(value.size for value in self.parameters.values())

    # -- density -----------------------------------------------------------------------------------------

    def log_density(self, X: ArrayLike) -> Array:
        """Return ln p_k(x_i), shape (n, K)."""
        raise NotImplementedError

    def density(self, X: ArrayLike) -> Array:
        """Return p_k(x_i), shape (n, K)."""
        return np.exp(self.log_density(X))

    def log_likelihood(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
        """Return Σ_i w_i ln p_k(x_i) for every component, shape (K,)."""
        table = self.log_density(X)
        return table.sum(axis=0) if sample_weight is None else np.asarray(sample_weight) @ table

    # -- learning ----------------------------------------------------------------------------------------

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Any:
        """Return what `estimate` needs to know about the rows; it adds up over chunks (`core.sums.merge`)."""
        raise NotImplementedError

    def estimate(self, statistics: Any, prior: Any = None) -> Self:
        """Return the stack that maximizes the likelihood (with a prior: the posterior) of the statistics."""
        raise NotImplementedError

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None, prior: Any = None) -> Self:
        """Return the maximum-likelihood (with a prior: maximum-a-posteriori) stack.

        Weights of shape (n, K) fit K distributions at once.
        """
        if np.size(X) == 0:
            raise DataError(f"{type(self).__name__}.fit needs at least one row.")
        return self.estimate(self.statistics(X, sample_weight), prior)

    def expect(
        self, X: Array, log_weights: Array, weight: Array, *, labels: Array | None = None, hard: bool = False
    ) -> Expectation:
        """One E-step of a mixture of this stack: responsibilities of the rows and what they add up to.

        Rows with a label ≥ 0 belong to that component; `hard` gives each row to its likeliest component.
        """
        joint = self.log_density(X)
        joint += log_weights
        total = responsibilities(joint, weight, labels, hard)
        return Expectation(total, joint.sum(axis=0), self.statistics(X, joint))

    # -- drawing -----------------------------------------------------------------------------------------

    def sample(self, labels: ArrayLike, random_state: Any = None) -> Array:
        """Draw one row per label, row i from component labels[i]; a number n means n rows of a single one."""
        if np.ndim(labels) == 0 and self.n_components > 1:
            raise DataError(f"labels must name one of the {self.n_components} components for every row.")
        index = np.zeros(int(labels), dtype=np.intp) if np.ndim(labels) == 0 else np.asarray(labels)  # type: ignore[arg-type]
        return np.asarray(self._draw(index, generator(random_state)), dtype=np.float64)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        raise NotImplementedError

    # -- numbers -----------------------------------------------------------------------------------------

    def mean(self) -> Array:
        """Return the means, shape (K, d)."""
        raise NotImplementedError

    def variance(self) -> Array:
        """Return the variances of the columns, shape (K, d)."""
        raise NotImplementedError

    def mode(self) -> Array:
        """Return the most likely points, shape (K, d)."""
        raise NotImplementedError

    def entropy(self, base: float | None = None) -> Array:
        """Return the entropies, shape (K,), in nats or to the given base."""
        return in_base(self.to_scipy().entropy().sum(axis=-1), base)

    def kl(self, other: Self) -> Array:
        """Return KL(self_k ‖ other_k), shape (K,); a single distribution stands against all."""
        raise NotImplementedError(f"{type(self).__name__} has no closed form of the divergence.")

    def to_scipy(self) -> Any:
        """Return the same distributions as a frozen one of ``scipy.stats``."""
        raise NotImplementedError(f"scipy.stats has no counterpart of {type(self).__name__}.")

    def cdf(self, X: ArrayLike) -> Array:
        """Return P_k(every column ≤ x_i), shape (n, K)."""
        X = as_rows(X, self.n_features)
        return self.to_scipy().cdf(X[:, None, :]).prod(axis=-1)

    def quantile(self, q: float) -> Array:
        """Return the q-quantile of every column, shape (K, d)."""
        return self.to_scipy().ppf(q)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends of the central interval that holds `level` of the mass, each (K, d)."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, separator=", ", threshold=12).replace("\n", "")
    return repr(value)


def responsibilities(joint: Array, weight: Array, labels: Array | None = None, hard: bool = False) -> float:
    """Turn ln(π_k p_k(x_i)) into weighted responsibilities in place; return the weighted log-likelihood."""
    if labels is not None:
        known = labels >= 0
        joint[known[:, None] & (np.arange(joint.shape[1]) != labels[:, None])] = -np.inf
    bad = np.zeros(1, dtype=np.intp)
    total = (loops.harden if hard else loops.soften)(joint, weight, bad)
    if bad[0] > 0:
        raise DegenerateError(
            f"row {bad[0] - 1} of a block is impossible under every component; smooth the probabilities."
        )
    return float(total)


def keep_where_empty(new: Array, old: Array | None, empty: Array, name: str) -> Array:
    """Components that received no weight keep their old parameter; without an old one that is an error."""
    if not np.any(empty):
        return new
    if old is None:
        where = np.argwhere(empty)[0]
        raise DegenerateError(
            f"no weight to estimate {name} from in component {where[0]} (entry {tuple(where)})."
        )
    return np.where(empty, old, new)
