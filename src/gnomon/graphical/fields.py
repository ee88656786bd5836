"""Markov random fields: undirected models, their normalizer, and learning them from data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import generator
from gnomon.core.settings import check_parameters, count_of
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total_weight
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads
from gnomon.graphical.answers import Explanation, to_frame
from gnomon.graphical.columns import READS, read_columns
from gnomon.graphical.counting import family_tables
from gnomon.graphical.factor import MAX_ENTRIES, Factor
from gnomon.graphical.inference import inference_plan
from gnomon.graphical.junction import graph_of_factors, plan_tree
from gnomon.graphical.junction_tree import JunctionTree
from gnomon.graphical.net import Net
from gnomon.graphical.partition import annealed, mean_field
from gnomon.graphical.pseudo import Likelihood, exact_likelihood, pseudo_likelihood
from gnomon.graphical.sampling import sweep, sweep_arrays
from gnomon.loops import factor_gibbs as gibbs_loops
from gnomon.solvers.lbfgs import Pair, two_loops

EXACT_ENTRIES = 1_000_000  # of the junction tree up to which "auto" learns by the exact likelihood


class FieldState(NamedTuple):
    """Log-linear parameters with value and slope, and the curvature seen on the way."""

    theta: Array
    value: float  # mean log-likelihood less the penalty
    gradient: Array
    pairs: tuple[Pair, ...]
    variables: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    scopes: tuple[tuple[str, ...], ...]
    weight: float  # of all rows
    exact: bool  # whether the value is of the likelihood, or of the pseudo-likelihood


class MarkovRandomField(DensityMixin, Learner):
    r"""An undirected model: a product of factors, normalized.

    .. math:: p(x) = \frac{1}{Z} \prod_c \phi_c(x_c)

    Factors say which joint states of a few neighbors go well together; unlike the tables of a Bayesian network they
    are no probabilities, and the normalizer Z couples them all. Give `factors` and ask; or give the scopes alone
    (tuples of names) and `fit` their log-linear parameters.

    Parameters
    ----------
    factors : list of Factor or of tuples of names
        For `fit`, the scopes; all pairs of columns when there are none.
    states : dict, optional
        States of the variables that scopes name; found in the data when not given.
    method : {"auto", "exact", "pseudo"}, default="auto"
        What `fit` maximizes: the likelihood, whose gradient needs exact marginals, or the pseudo-likelihood
        ∏ p(xᵢ | neighbors), which needs none (Besag 1975). "auto" is exact where the junction tree is small.
    alpha : float, default=0.0
        Weight of a penalty ½α‖θ‖² on the parameters, per row.
    max_iter, tol
        Steps, and the largest entry of the gradient (a difference of probabilities) at which to stop.

    Attributes
    ----------
    factors_ : list of Factor
        Learned.
    log_likelihood_ : float
        ln p of all rows, without the penalty, where the likelihood was maximized.
    pseudo_log_likelihood_ : float
        Σ ln p(xᵢ | neighbors) over all rows, without the penalty, where the pseudo-likelihood was maximized instead.

    Examples
    --------
    >>> field = MarkovRandomField(
    ...     [Factor(["a", "b"], [[3, 1], [1, 3]]), Factor(["b", "c"], [[1, 2], [2, 1]])]
    ... )
    >>> round(float(np.exp(field.log_partition())), 6), field.query("a", {"c": 0})
    (24.0, Factor(a: 0=0.416667, 1=0.583333))
    """

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "certificate"
    _reads: ClassVar[Reads] = READS._replace(nan=False)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [list, tuple],
        "states": [dict, None],
        "method": [StrOptions({"auto", "exact", "pseudo"})],
        "alpha": [NOT_NEGATIVE],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        factors: Sequence[Any] = (),
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        method: str = "auto",
        alpha: float = 0.0,
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.factors = factors
        self.states = states
        self.method = method
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def from_bayesian_network(cls, model: Any) -> MarkovRandomField:
        """Return the tables of a network as factors; Z is then one."""
        return cls(model._network().factors())

    # what is there

    def _factors(self) -> list[Factor]:
        if "factors_" in self.__dict__:
            return list(self.factors_)
        found = list(self.factors)
        if not found or not all(isinstance(factor, Factor) for factor in found):
            raise NotFittedError(
                "This MarkovRandomField instance is not fitted yet and its factors have no tables. Call 'fit' "
                "with data, or give Factor objects."
            )
        return found

    def to_factor_graph(self) -> Any:
        """Return the factors as a `FactorGraph`."""
        from gnomon.graphical.factor_graphs import FactorGraph

        return FactorGraph(self._factors())

    def query(self, variables: Any, evidence: Mapping[str, Any] | None = None, **options: Any) -> Factor:
        """Return P(variables | evidence) exactly; options as in `inference_plan`."""
        return inference_plan(self._factors(), variables, evidence, **options).run()

    def marginals(self, evidence: Mapping[str, Any] | None = None) -> dict[str, Factor]:
        """Return the distribution of every variable given the evidence, by name."""
        return JunctionTree(self._factors()).calibrate(evidence).marginals()

    def mpe(self, evidence: Mapping[str, Any] | None = None) -> Explanation:
        """Return the most probable joint state; `log_probability` is the log of its unnormalized value."""
        tree = JunctionTree(self._factors()).calibrate(evidence)
        codes, value, gap = tree._best()
        net = tree._net
        states = {name: own[code] for name, own, code in zip(net.variables, net.states, codes, strict=True)}
        return Explanation(states, value, value - tree.log_evidence_, gap)

    def log_partition(
        self, method: str = "exact", *, max_entries: int = MAX_ENTRIES, n_chains: int = 200, n_steps: int = 500,
        random_state: Any = None,
    ) -> float:  # fmt: skip
        """Return ln Z.

        Parameters
        ----------
        method : {"exact", "bethe", "mean_field", "ais"}
            By elimination; the Bethe value of loopy propagation; a lower bound; annealed importance sampling
            (Neal 2001), unbiased for Z.
        max_entries : int
            The largest table that "exact" may make. Beyond it `TableTooLargeError` names the alternatives.
        n_chains, n_steps, random_state
            Of the annealing.
        """
        factors = self._factors()
        if method == "exact":
            plan = inference_plan(factors, [], order="min_fill")
            return plan._log_aside(max_entries)
        if method == "bethe":
            from gnomon.graphical.propagation import BeliefPropagation

            return float(BeliefPropagation(damping=0.3, max_iter=1000, tol=1e-8).fit(factors).log_partition_)
        if method == "mean_field":
            return mean_field(factors)[1][-1]
        if method == "ais":
            chains, steps = count_of(n_chains, "n_chains", 1), count_of(n_steps, "n_steps", 1)
            return annealed(factors, chains, steps, random_state)
        raise DataError(f"method must be 'exact', 'bethe', 'mean_field' or 'ais'; got {method!r}.")

    def sample(
        self,
        n: int = 1,
        *,
        method: str = "exact",
        random_state: Any = None,
        burn_in: int = 200,
        chains: int = 10,
    ) -> Any:
        """Draw rows of states: from the junction tree, or by Gibbs sweeps; returns a DataFrame."""
        factors, n = self._factors(), count_of(n, "n")
        if method == "exact":
            tree = JunctionTree(factors)
            return to_frame(tree._net, tree.calibrate().sample(n, random_state))
        if method != "gibbs":
            raise DataError(f"method must be 'exact' or 'gibbs'; got {method!r}.")
        variables, states, scopes, tables, _ = graph_of_factors(factors)
        net = Net(variables, states, [() for _ in variables], ())
        if any((table == 0).any() for table in tables):
            raise DegenerateError(
                "some factor has zeros, so Gibbs sweeps may never leave part of the space; use 'exact'."
            )
        arrays, logs = sweep_arrays(scopes, tables, net.cards)
        rng, chains = generator(random_state), max(1, min(count_of(chains, "chains", 1), n))
        codes = np.column_stack([rng.integers(k, size=chains) for k in net.cards])
        free = np.arange(len(net))
        sweep(arrays, logs, codes, rng, free, count_of(burn_in, "burn_in"))
        kept = [codes[:0]]
        for _ in range(-(-n // chains)):
            sweep(arrays, logs, codes, rng, free, 1)
            kept.append(codes.copy())
        return to_frame(net, np.concatenate(kept)[:n])

    # learning

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
        return read_columns(
            self, X, sample_weight, states=self._given_states(), reset=reset, reads=self._reads
        ).rows

    def _given_states(self) -> dict[str, Any]:
        known = dict(self.states or {})
        for factor in self.factors:
            if isinstance(factor, Factor):
                known.update(factor.states)
        return known

    def _scopes(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        given = [tuple(f.variables) if isinstance(f, Factor) else tuple(f) for f in self.factors]
        if not given:
            given = list(combinations(labels, 2)) or [(labels[0],)]
        for scope in given:
            for name in scope:
                if name not in labels:
                    raise DataError(
                        f"factors name {name!r}, which is no column of X; hidden variables cannot be learned here."
                    )
        alone = [name for name in labels if not any(name in scope for scope in given)]
        return [*given, *((name,) for name in alone)]

    def _prepare(self, rows: Any) -> Likelihood:
        labels = list(rows.labels)
        scopes = self._scopes(labels)
        numbers = [tuple(labels.index(name) for name in scope) for scope in scopes]
        cards = [len(own) for own in rows.states]
        counts, missing, _ = family_tables(rows, numbers, cards)
        if missing:
            raise DataError("X has missing cells; impute them first (BayesianNetwork.transform does).")
        near: list[set[int]] = [set() for _ in labels]
        for scope in numbers:
            for v in scope:
                near[v] |= set(scope) - {v}
        entries = plan_tree(near, cards, "min_fill").total()
        exact = self.method == "exact" or (self.method == "auto" and entries <= EXACT_ENTRIES)
        named = (tuple(labels), tuple(rows.states), tuple(scopes))
        kind = exact_likelihood if exact else pseudo_likelihood
        return kind(rows, numbers, cards, counts, total_weight(rows), self.alpha, named)

    def _start(self, work: Likelihood, rng: Any) -> FieldState:
        theta = np.zeros(work.size)
        value, gradient = work.evaluate(theta)
        return FieldState(theta, value, gradient, (), *work.named, work.weight, work.exact)

    def _step(self, work: Likelihood, state: FieldState) -> tuple[FieldState, Report]:
        """One step of L-BFGS uphill, with a line search that accepts a sufficient rise."""
        direction = two_loops(state.gradient, state.pairs, np.ones(len(state.theta)))
        slope = float(direction @ state.gradient)
        if not slope > 0:
            direction, slope = state.gradient, float(state.gradient @ state.gradient)
        length = 1.0 if state.pairs else min(1.0, 1.0 / (1e-12 + np.abs(direction).max()))
        for _ in range(40):
            theta = state.theta + length * direction
            value, gradient = work.evaluate(theta)
            if value >= state.value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            return state, Report(state.value, certificate=float(np.abs(state.gradient).max()), done=True)
        move, change = theta - state.theta, state.gradient - gradient
        bend = float(move @ change)
        pairs = state.pairs
        if bend > 1e-16 * float(change @ change):
            pairs = (*pairs, Pair(move, change, bend))[-20:]
        new = state._replace(theta=theta, value=value, gradient=gradient, pairs=pairs)
        return new, Report(value, certificate=float(np.abs(gradient).max()))

    def _attributes(self, state: FieldState) -> dict[str, Any]:
        states, factors, place = dict(zip(state.variables, state.states, strict=True)), [], 0
        for scope in state.scopes:
            shape = [len(states[name]) for name in scope]
            size = math.prod(shape)
            table = state.theta[place : place + size].reshape(shape)
            top = float(table.max())
            own = {name: states[name] for name in scope}
            factors.append(Factor._made(scope, np.exp(table - top), own, top))
            place += size
        mean = state.value + 0.5 * self.alpha * float(state.theta @ state.theta)
        name = "log_likelihood_" if state.exact else "pseudo_log_likelihood_"
        return {"factors_": factors, name: float(state.weight * mean)}

    def score_samples(self, X: Any) -> Array:
        """Return ln p of every row."""
        factors = self._factors()
        variables, states, scopes, tables, _ = graph_of_factors(factors)
        known = dict(zip(variables, states, strict=True))
        labels = list(self.columns_) if "columns_" in self.__dict__ else variables
        found = read_columns(
            self, X, states=known, names=labels, reset=False, reads=self._reads, unknown="warn"
        )
        log_z = self.log_partition()
        arrays, logs = sweep_arrays(scopes, tables, [len(own) for own in states])
        place = np.array([found.names.index(name) for name in variables])
        shift = sum(factor.log_scale for factor in factors) - log_z
        return per_row(field_logs, found.rows, arrays, logs, place, shift)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of ln p over the rows."""
        return float(self.score_samples(X).mean())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the factor graph; return the Axes."""
        return self.to_factor_graph().plot(ax=ax, **options)

    def __sklearn_is_fitted__(self) -> bool:
        given = len(self.factors) > 0 and all(isinstance(factor, Factor) for factor in self.factors)
        return "factors_" in self.__dict__ or given

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def field_logs(chunk: Any, arrays: Any, logs: Array, place: Array, shift: float) -> Array:
    """ln p of the rows of a chunk."""
    codes = np.ascontiguousarray(chunk.X[:, place], dtype=np.int64)
    strange = (codes < 0).any(axis=1)  # states that the model does not know have probability zero
    out = np.empty(len(codes))
    gibbs_loops.log_values(arrays, logs, np.maximum(codes, 0), out)
    return np.where(strange, -np.inf, out + shift)
