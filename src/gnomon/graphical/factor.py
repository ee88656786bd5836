"""Table factors: non-negative functions of a few named variables, with their algebra."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, GnomonError, ModelFileError, ZeroEvidenceError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.distributions.information import entropy, mutual_information
from gnomon.distributions.margins import divided, margin, outer_residual, slice_residuals, unfolding_rank

MAX_ENTRIES = 200_000_000  # of one table, or of all tables of a junction tree: 1.6 GB
AXES = 52  # what numpy's einsum can name at once
OPERANDS = 8  # of one contraction; more are multiplied in groups


class TableTooLargeError(GnomonError, MemoryError):
    """A table of the answer would not fit in memory."""


def states_of(names: Sequence[Any], label: str) -> tuple[Any, ...]:
    """Return state names as a tuple, checked to be different."""
    states = tuple(names)
    if len(set(states)) != len(states):
        raise DataError(f"the states of {label!r} must be different; got {list(states)}.")
    if not states:
        raise DataError(f"variable {label!r} has no states; give it at least one.")
    return states


def guard(shape: Sequence[int], max_entries: int, what: str) -> None:
    """Raise `TableTooLargeError` when a table of this shape has too many entries."""
    entries = math.prod(int(size) for size in shape)
    if entries > max_entries:
        raise TableTooLargeError(
            f"{what} needs a table of shape {tuple(shape)}: {entries:.3g} entries, {8 * entries / 2**30:.3g} GiB, "
            f"and max_entries is {max_entries:.3g}. Choose another order, fewer variables or more evidence, or an "
            "approximate method: method='likelihood_weighting' or 'gibbs', or BeliefPropagation."
        )


class Gap(NamedTuple):
    """How far a table is from independence: zero, rank one and zero when the variables are independent."""

    mutual_information: float  # in nats, of the first axis and the others
    rank: int  # the largest of the unfoldings
    residual: float  # largest difference to the outer product of the margins


class Factor:
    r"""A non-negative table over named variables.

    .. math:: \phi(x_1, \dots, x_k) = e^{s} \, T[x_1, \dots, x_k]

    Probabilities, conditional tables, messages and potentials are all factors. The scale :math:`s` is kept apart
    in `log_scale`, so that products of thousands of small numbers neither under- nor overflow.

    Parameters
    ----------
    variables : sequence of str
        Names, one for every axis.
    table : array
        Entries, at least 0; one axis for every variable.
    states : mapping or sequence of sequences, optional
        Names of the states of every variable; 0, 1, … when not given.
    log_scale : float, default=0.0
        The table is multiplied by its exponential.

    Examples
    --------
    >>> rain = Factor(["rain"], [0.25, 0.75], {"rain": ["yes", "no"]})
    >>> wet = Factor(["rain", "wet"], [[0.9, 0.1], [0.2, 0.8]], {"rain": ["yes", "no"], "wet": ["yes", "no"]})
    >>> seen, log_probability = rain.product(wet).reduce({"wet": "yes"}).normalize()
    >>> seen["yes"].round(4), round(float(np.exp(log_probability)), 4)
    (np.float64(0.6), 0.375)
    """

    def __init__(
        self, variables: Sequence[str], table: Any, states: Any = None, *, log_scale: float = 0.0
    ) -> None:
        self.variables = (variables,) if isinstance(variables, str) else tuple(str(v) for v in variables)
        self.table = np.array(table, dtype=np.float64, order="C")
        self.log_scale = float(log_scale)
        if len(set(self.variables)) != len(self.variables):
            raise DataError(f"variables must be different; got {list(self.variables)}.")
        if self.table.ndim != len(self.variables):
            raise DataError(
                f"the table has {self.table.ndim} axes and there are {len(self.variables)} variables."
            )
        if not np.isfinite(self.table).all() or (self.table < 0).any():
            raise DataError(
                f"the table of {list(self.variables)} must hold finite numbers that are at least 0."
            )
        self.states = self._checked_states(states)
        self.log_evidence: float | None = None  # ln P(evidence), on the answer of a query
        self.standard_error: Array | None = None  # of every entry, on an answer from samples
        self.effective_size: float | None = None  # samples that count, on an answer from samples

    def _checked_states(self, states: Any) -> dict[str, tuple[Any, ...]]:
        if states is None:
            states = [range(size) for size in self.table.shape]
        if not isinstance(states, Mapping):
            states = dict(zip(self.variables, states, strict=True))
        found = {}
        for name, size in zip(self.variables, self.table.shape, strict=True):
            if name not in states:
                raise DataError(f"states has no entry for {name!r}.{nearest(name, states)}")
            found[name] = states_of(states[name], name)
            if len(found[name]) != size:
                raise DataError(f"{name!r} has {len(found[name])} states and its axis {size} entries.")
        return found

    @classmethod
    def _made(cls, variables: tuple[str, ...], table: Array, states: dict, log_scale: float = 0.0) -> Factor:
        """Return a factor of parts that are known to be right."""
        factor = cls.__new__(cls)
        factor.variables, factor.table, factor.log_scale = variables, table, log_scale
        factor.states = states
        factor.log_evidence = factor.standard_error = factor.effective_size = None
        return factor

    # reading it

    @property
    def values(self) -> Array:
        """The entries with the scale multiplied in."""
        return self.table * math.exp(self.log_scale)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype)

    def __getitem__(self, assignment: Any) -> Any:
        """Return an entry by the names of its states: ``f["yes"]``, ``f["yes", "no"]`` or ``f[{"rain": "yes"}]``."""
        if isinstance(assignment, Mapping):
            codes = [self._code(name, assignment[name]) for name in self._all_of(assignment)]
        else:
            named = assignment if isinstance(assignment, tuple) else (assignment,)
            if len(named) != len(self.variables):
                raise DataError(f"name a state of each of {list(self.variables)}; got {assignment!r}.")
            codes = [self._code(name, state) for name, state in zip(self.variables, named, strict=True)]
        return self.values[tuple(codes)]

    def _all_of(self, assignment: Mapping[str, Any]) -> tuple[str, ...]:
        for name in self.variables:
            if name not in assignment:
                raise DataError(f"the assignment has no state for {name!r}.{nearest(name, assignment)}")
        return self.variables

    def _axis(self, name: str) -> int:
        if name not in self.variables:
            raise DataError(f"the factor has no variable {name!r}.{nearest(name, self.variables)}")
        return self.variables.index(name)

    def _axes(self, names: Any) -> list[int]:
        return [self._axis(name) for name in ([names] if isinstance(names, str) else names)]

    def _code(self, name: str, state: Any) -> int:
        return state_code(self.states[self.variables[self._axis(name)]], state, name)

    # algebra

    def product(self, *others: Factor) -> Factor:
        """Return the product with other factors; axes are those of this one, then what the others add."""
        return contract([self, *others], None)

    def __mul__(self, other: Any) -> Factor:
        if isinstance(other, Factor):
            return self.product(other)
        return Factor._made(self.variables, self.table * float(other), self.states, self.log_scale)

    __rmul__ = __mul__

    def divide(self, other: Factor) -> Factor:
        """Return the quotient by a factor over some of the variables; 0/0 = 0."""
        for name in other.variables:
            self._axis(name)
        table = divided(self.table, expanded(other, self.variables))
        if not np.isfinite(table).all():
            raise DataError(f"an entry of {list(self.variables)} that is not zero is divided by zero.")
        return Factor._made(self.variables, table, self.states, self.log_scale - other.log_scale)

    __truediv__ = divide

    def sum_out(self, variables: Any) -> Factor:
        """Return the factor with the variables summed out."""
        gone = set(self._axes(variables))
        kept = [i for i in range(self.table.ndim) if i not in gone]
        return self._kept(kept, margin(self.table, kept))

    def max_out(self, variables: Any, *, return_argmax: bool = True) -> Any:
        """Return the factor with the variables maximized out, and which states reach the maximum.

        The second result is an array of the remaining shape with one more axis: state numbers of the maximized
        variables, in the given order; ties go to the first state.
        """
        gone = self._axes(variables)
        kept = [i for i in range(self.table.ndim) if i not in set(gone)]
        flat = self.table.transpose([*kept, *gone]).reshape(*[self.table.shape[i] for i in kept], -1)
        factor = self._kept(kept, flat.max(axis=-1))
        if not return_argmax:
            return factor
        codes = np.unravel_index(flat.argmax(axis=-1), [self.table.shape[i] for i in gone])
        return factor, np.stack(codes, axis=-1)

    def _check_loaded(self) -> None:
        if not isinstance(self.table, np.ndarray) or self.table.ndim != len(self.variables):
            raise ModelFileError("a table in it does not fit its variables. Get a new copy.")

    def _kept(self, kept: Sequence[int], table: Array) -> Factor:
        names = tuple(self.variables[i] for i in kept)
        states = {name: self.states[name] for name in names}
        return Factor._made(names, np.asarray(table, order="C"), states, self.log_scale)

    def reduce(self, evidence: Mapping[str, Any]) -> Factor:
        """Return the slice where the given variables have the given states; other names are left aside."""
        index: list[Any] = [slice(None)] * self.table.ndim
        for name, state in evidence.items():
            if name in self.variables:
                index[self._axis(name)] = self._code(name, state)
        kept = [i for i, part in enumerate(index) if isinstance(part, slice)]
        return self._kept(kept, self.table[tuple(index)])

    def normalize(self) -> tuple[Factor, float]:
        """Return the factor scaled to sum to one, and the logarithm of what it summed to."""
        total = float(self.table.sum())
        if total == 0.0:
            raise ZeroEvidenceError(
                f"all entries over {list(self.variables)} are zero: nothing to normalize."
            )
        scaled = Factor._made(self.variables, self.table / total, self.states)
        return scaled, math.log(total) + self.log_scale

    def permute(self, variables: Sequence[str]) -> Factor:
        """Return the factor with its axes in another order."""
        axes = self._axes(variables)
        if sorted(axes) != list(range(self.table.ndim)):
            raise DataError(f"permute needs each of {list(self.variables)} once; got {list(variables)}.")
        return self._kept(axes, self.table.transpose(axes))

    # what it says

    def entropy(self) -> float:
        """Return the entropy of the normalized table, in nats."""
        return entropy(self.normalize()[0].table)

    def mutual_information(self, A: Any, B: Any) -> float:
        """Return I(A; B) of the normalized table, in nats."""
        a, b = self._axes(A), self._axes(B)
        joint = margin(self.normalize()[0].table, [*a, *b])
        return float(mutual_information(joint.reshape(math.prod(self.table.shape[i] for i in a), -1)))

    def independence_gap(self) -> Gap:
        """Return how far the table of two or more variables is from the outer product of its margins.

        Examples
        --------
        >>> Factor(["a", "b"], np.outer([0.2, 0.8], [0.5, 0.5])).independence_gap()
        Gap(mutual_information=0.0, rank=1, residual=0.0)
        """
        if self.table.ndim < 2:
            raise DataError(f"independence needs two variables or more; the factor is over {self.variables}.")
        P = self.normalize()[0].table
        information = max(0.0, float(mutual_information(P.reshape(P.shape[0], -1))))
        return Gap(information if information > 1e-15 else 0.0, unfolding_rank(P), outer_residual(P))

    def is_independent(self, A: Any, B: Any, given: Any = (), *, tol: float = 1e-9) -> bool:
        """Tell whether the numbers make A and B independent given other variables.

        Every slice of the table of these variables must be the outer product of its margins, that is of rank one.

        Parameters
        ----------
        A, B, given : str or list of str
        tol : float, default=1e-9
            Largest difference to the outer product.
        """
        a, b, c = self._axes(A), self._axes(B), self._axes(given)
        if len({*a, *b, *c}) < len(a) + len(b) + len(c):
            raise DataError("A, B and given must have no variable in common.")
        joint = margin(self.normalize()[0].table, [*c, *a, *b])
        rows = math.prod(self.table.shape[i] for i in a)
        return bool((slice_residuals(joint.reshape(*joint.shape[: len(c)], rows, -1)) <= tol).all())

    def to_table(self) -> Any:
        """Return the factor as a `JointTable` of probabilities."""
        from gnomon.bayes.tables import JointTable

        table = self.normalize()[0].table
        return JointTable(table, list(self.variables), [list(self.states[v]) for v in self.variables])

    def to_frame(self) -> Any:
        """Return a pandas Series of the entries, indexed by state names."""
        pd = import_pandas()
        index = pd.MultiIndex.from_product([self.states[v] for v in self.variables], names=self.variables)
        return pd.Series(self.values.ravel(), index=index, name="value")

    def plot(self, ax: Any = None) -> Any:
        """Draw a factor of one variable as bars and of two as a heat map; return the Axes."""
        from gnomon.plot import bars

        if self.table.ndim == 1:
            return bars(self.values, [str(s) for s in self.states[self.variables[0]]], ax=ax)
        return self.to_table().plot(ax=ax)

    def __repr__(self) -> str:
        if self.table.ndim == 1 and self.table.size <= 6:
            parts = zip(self.states[self.variables[0]], self.values, strict=True)
            return f"Factor({self.variables[0]}: " + ", ".join(f"{s}={p:.6g}" for s, p in parts) + ")"
        sizes = " × ".join(f"{v}[{k}]" for v, k in zip(self.variables, self.table.shape, strict=True))
        return f"Factor({sizes})"


def state_code(states: Sequence[Any], state: Any, name: str) -> int:
    """Return the number of a state; an unknown one is an error that names the variable."""
    for code, known in enumerate(states):
        if known is state or known == state:
            return code
    words = [str(s) for s in states]
    for code, word in enumerate(words):  # 1 and "1", True and "True": a file knows strings alone
        if word == str(state):
            return code
    raise DataError(f"{name!r} has no state {state!r}; its states are {words}.{nearest(state, words)}")


def expanded(factor: Factor, variables: Sequence[str]) -> Array:
    """Return the table with its axes in the order of `variables` and axes of length one for the rest."""
    places = [i for i, name in enumerate(variables) if name in factor.variables]
    order = [factor.variables.index(variables[i]) for i in places]
    shape = [1] * len(variables)
    for place, axis in zip(places, order, strict=True):
        shape[place] = factor.table.shape[axis]
    return factor.table.transpose(order).reshape(shape)


def contract(factors: Sequence[Factor], keep: Sequence[str] | None, max_entries: int = MAX_ENTRIES) -> Factor:
    """Return the product of the factors with all variables but `keep` (None: none) summed out."""
    factors = list(factors)
    while len(factors) > OPERANDS:
        group, factors = factors[:OPERANDS], factors[OPERANDS:]
        later = {v for f in factors for v in f.variables} | set(keep or ())
        mine = [v for v in _scope(group) if keep is None or v in later]
        factors.insert(0, contract(group, mine, max_entries))
    scope = _scope(factors)
    if len(scope) > AXES:
        raise TableTooLargeError(
            f"a product over {len(scope)} variables; {AXES} is the most. Sum some out first."
        )
    states: dict[str, tuple[Any, ...]] = {}
    for factor in factors:
        for name, own in factor.states.items():
            if states.setdefault(name, own) != own:
                raise DataError(
                    f"two factors name the states of {name!r} differently: {states[name]} and {own}."
                )
    kept = scope if keep is None else [name for name in keep if name in states]
    guard([len(states[name]) for name in kept], max_entries, f"the product over {kept}")
    place = {name: i for i, name in enumerate(scope)}
    operands: list[Any] = []
    log_scale = sum(factor.log_scale for factor in factors)
    for factor in factors:
        table, top = factor.table, float(factor.table.max(initial=0.0))
        if top > 0 and not 1e-30 < top < 1e30:  # a product of a few such numbers would leave the floats
            table, log_scale = table / top, log_scale + math.log(top)
        operands += [table, [place[name] for name in factor.variables]]
    table = np.einsum(*operands, [place[name] for name in kept])
    return rescaled(tuple(kept), table, {name: states[name] for name in kept}, log_scale)


def rescaled(variables: tuple[str, ...], table: Array, states: dict, log_scale: float) -> Factor:
    """Return a factor whose scale is moved out of the table where entries have become small or large."""
    largest = float(table.max()) if table.size else 0.0
    if largest > 0 and not 1e-100 < largest < 1e100:
        table, log_scale = table / largest, log_scale + math.log(largest)
    return Factor._made(variables, np.asarray(table, dtype=np.float64, order="C"), states, log_scale)


def _scope(factors: Sequence[Factor]) -> list[str]:
    return list(dict.fromkeys(name for factor in factors for name in factor.variables))
