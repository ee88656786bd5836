"""Message passing on factor graphs: exact on trees, an approximation that says so elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import Tags

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.graphs import FactorData
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, check_fitted
from gnomon.graphical.decoding import decode, log_value, named_messages
from gnomon.graphical.factor import Factor, state_code
from gnomon.graphical.factor_graphs import FactorGraph
from gnomon.graphical.models import net_or_factors
from gnomon.graphical.offsets import ints, starts
from gnomon.loops import messages as loops


class GraphArrays(NamedTuple):
    """A factor graph as the loops read it."""

    edge_start: Array  # by factor
    table_start: Array  # by factor
    tables: Array
    factor: Array  # by edge
    variable: Array
    stride: Array
    card: Array
    start: Array  # where an edge's message begins
    variable_start: Array
    variable_edge: Array


class Workspace(NamedTuple):
    """What a run of messages works on."""

    graph: GraphArrays
    belief_start: Array
    log_scale: float
    tree: bool
    order: tuple[Array, Array]  # of a tree: edges, and whether the message goes to the variable
    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    scopes: tuple[tuple[str, ...], ...]


class MessageState(NamedTuple):
    """All messages, both ways, and what they say."""

    inward: Array  # variables to factors
    outward: Array  # factors to variables
    residual: float
    value: float  # Bethe, or the log value of the assignment
    beliefs: Array
    factor_beliefs: Array
    codes: Array  # of the assignment
    exact: bool
    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    scopes: tuple[tuple[str, ...], ...]


class BeliefPropagation(Learner):
    r"""Sum-product and max-product message passing on a factor graph.

    .. math:: \mu_{f \to x}(x) = \sum_{\text{others}} f \prod_{y \ne x} \mu_{y \to f}(y), \qquad
              \mu_{x \to f}(x) = \prod_{g \ne f} \mu_{g \to x}(x)

    On a tree two passes give every marginal exactly; on a chain this is forward–backward, and with
    ``semiring="max"`` Viterbi. With loops the messages go round until they change no more: an approximation even
    when it converges (`exact_` is False), and it may not converge, which is reported and not hidden. Damping helps
    it to; it does not move the fixed points.

    Parameters
    ----------
    semiring : {"sum", "max"}, default="sum"
        Marginals, or the most probable joint state.
    schedule : {"auto", "tree", "flooding", "residual"}, default="auto"
        Two passes on a tree; all messages at once; always the message that would change most. "auto" is "tree" where
        there are no loops, else "residual".
    max_iter : int, default=200
        Rounds.
    tol : float, default=1e-9
        Largest change of a message at which to stop.
    damping : float in [0, 1), default=0.0
        Share of the old message that is kept.

    Attributes
    ----------
    beliefs_ : dict of arrays
        (Approximate) marginals by variable; max-marginals scaled to sum to one with ``semiring="max"``.
    factor_beliefs_ : list of arrays
    log_partition_ : float
        ln Z on trees, its Bethe value otherwise; the log value of `assignment_` with ``semiring="max"``.
    assignment_ : dict
        A most probable joint state (``semiring="max"``); ties go to the first state, see `unique_`.
    unique_ : bool
    exact_ : bool
        Whether the graph has no loops.
    residual_ : float
        Largest change in the last round.
    messages_ : dict of arrays
        By (factor number, variable) from factors to variables, and by (variable, factor number) the other way.

    Examples
    --------
    >>> graph = FactorGraph(
    ...     [
    ...         Factor("B", [0.6, 0.4]),
    ...         Factor(["A", "B"], [[4, 1], [1, 2]]),
    ...         Factor(["B", "C"], [[1, 2], [2, 1]]),
    ...     ]
    ... )
    >>> found = BeliefPropagation().fit(graph)
    >>> found.beliefs_["A"].round(4), round(float(np.exp(found.log_partition_)), 6), found.exact_
    (array([0.6667, 0.3333]), 12.6, True)
    """

    _monotone: ClassVar[bool] = False
    _stop: ClassVar[str] = "certificate"
    _unit: ClassVar[str] = "round"
    _promises: ClassVar[Promises] = Promises(
        order="no: rounding and the schedule follow the order of the factors; fixed points do not",
        weights="no: factors have no weights",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "semiring": [StrOptions({"sum", "max"})],
        "schedule": [StrOptions({"auto", "tree", "flooding", "residual"})],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "damping": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        semiring: str = "sum",
        schedule: str = "auto",
        max_iter: int = 200,
        tol: float = 1e-9,
        damping: float = 0.0,
    ) -> None:
        self.semiring = semiring
        self.schedule = schedule
        self.max_iter = max_iter
        self.tol = tol
        self.damping = damping

    def fit(self, graph: Any, y: Any = None, *, evidence: Mapping[str, Any] | None = None) -> Self:
        """Pass messages until they change no more.

        Parameters
        ----------
        graph : FactorGraph, BayesianNetwork, MarkovRandomField or list of Factor
        y : ignored
            There is no target.
        evidence : dict, optional
            Observed states by variable.
        """
        return self._learn(self._read_graph(graph, y, evidence), X=graph)

    def iterate(
        self, graph: Any, y: Any = None, *, evidence: Mapping[str, Any] | None = None
    ) -> Iterator[Self]:
        """Yield the fitted model after every round of messages."""
        yield from self._iterate(self._read_graph(graph, y, evidence))

    def _read_graph(self, graph: Any, y: Any, evidence: Mapping[str, Any] | None) -> FactorData:
        check_parameters(self)
        if isinstance(y, Mapping):
            raise DataError("y is ignored, and it looks like evidence: give it by name, evidence={...}.")
        net, factors = net_or_factors(graph)
        whole = FactorGraph(net.factors() if net is not None else factors)
        factors = [_held(factor, whole, evidence or {}) for factor in whole.factors if factor.variables]
        for name in evidence or {}:
            if name not in whole.states:
                raise DataError(f"the graph has no variable {name!r}, and evidence names it.")
        facts: dict[str, Any] = {
            "variables_": whole.variables,
            "states_": {v: list(s) for v, s in whole.states.items()},
        }
        scale = sum(factor.log_scale for factor in whole.factors)
        constants = [float(f.table) for f in whole.factors if not f.variables]
        if 0.0 in constants:
            raise ZeroEvidenceError("a factor without variables is zero: every joint state has value zero.")
        scale += sum(map(math.log, constants))
        facts["log_scale_"] = float(scale)
        return FactorData([f.variables for f in factors], [f.table for f in factors], facts)

    def _prepare(self, data: Any) -> Workspace:
        known = data.known
        work = workspace(data.scopes, data.tables, known["variables_"], known["states_"], known["log_scale_"])
        if self.schedule == "tree" and not work.tree:
            raise DataError("schedule='tree' needs a graph without loops; use 'flooding' or 'residual'.")
        return work

    def _start(self, work: Workspace, rng: Any) -> MessageState:
        ones = np.ones(int(work.graph.start[-1] + work.graph.card[-1]) if len(work.graph.card) else 0)
        return self._state_of(work, ones, ones.copy(), np.inf)

    def _step(self, work: Workspace, state: MessageState) -> tuple[MessageState, Report]:
        graph, maximize = work.graph, self.semiring == "max"
        inward, outward = state.inward.copy(), state.outward.copy()
        schedule = self.schedule
        if schedule == "auto":
            schedule = "tree" if work.tree else "residual"
        if schedule == "tree":
            loops.sweep_tree(graph, inward, outward, *work.order, maximize)
            change = 0.0
        elif schedule == "flooding":
            change = loops.flood(
                graph, inward, outward, float(self.damping), maximize, np.empty_like(outward)
            )
        else:
            change = self._residual_round(graph, inward, outward, maximize)
        new = self._state_of(work, inward, outward, float(change))
        return new, Report(new.value if np.isfinite(new.value) else None, certificate=float(change))

    def _residual_round(self, graph: GraphArrays, inward: Array, outward: Array, maximize: bool) -> float:
        fresh, residual = np.empty_like(outward), np.zeros(len(graph.card))
        for e in range(len(graph.card)):
            loops.from_variable(graph, graph.variable[e], e, outward, inward)
        loops.propose(graph, inward, outward, maximize, fresh, residual)
        left = loops.send_residual(
            graph, inward, outward, float(self.damping), maximize, fresh, residual, len(graph.card)
        )
        for e in range(len(graph.card)):
            loops.from_variable(graph, graph.variable[e], e, outward, inward)
        return float(left)

    def _state_of(self, work: Workspace, inward: Array, outward: Array, residual: float) -> MessageState:
        beliefs, of_factors = np.empty(int(work.belief_start[-1])), np.empty(len(work.graph.tables))
        loops.variable_beliefs(work.graph, outward, beliefs, work.belief_start)
        loops.factor_beliefs(work.graph, inward, of_factors)
        empty = np.add.reduceat(of_factors, work.graph.table_start[:-1]) == 0
        if residual < np.inf and empty.any():
            raise ZeroEvidenceError(
                "the factors and the evidence give value zero to every joint state (Z = 0): nothing is left of the "
                f"factor over {list(work.scopes[int(empty.argmax())])}. Check the states observed near it."
            )
        if self.semiring == "max":
            codes = decode(work, inward, beliefs)
            value = log_value(work, codes)
        else:
            codes = np.zeros(0, dtype=np.int64)
            value = float(loops.bethe(work.graph, of_factors, beliefs, work.belief_start)) + work.log_scale
        names = (work.tree, work.names, work.states, work.scopes)
        return MessageState(inward, outward, residual, value, beliefs, of_factors, codes, *names)

    def _attributes(self, state: MessageState) -> dict[str, Any]:
        states = dict(zip(state.names, state.states, strict=True))
        cards = [len(own) for own in state.states]
        beliefs = dict(zip(state.names, np.split(state.beliefs, np.cumsum(cards)[:-1]), strict=True))
        shapes = [[len(states[v]) for v in scope] for scope in state.scopes]
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        parts = np.split(state.factor_beliefs, ends)
        found = {
            "beliefs_": beliefs,
            "factor_beliefs_": [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)],
            "messages_": named_messages(state.scopes, states, state.inward, state.outward),
            "log_partition_": state.value,
            "exact_": state.exact,
            "residual_": state.residual,
        }
        if self.semiring == "max":
            found["assignment_"] = {v: states[v][k] for v, k in zip(state.names, state.codes, strict=True)}
            found["unique_"] = all(np.isclose(b, b.max(), rtol=1e-9).sum() == 1 for b in beliefs.values())
        return found

    def marginal(self, variable: str) -> Factor:
        """Return the belief of a variable as a factor."""
        check_fitted(self)
        if variable not in self.beliefs_:
            raise DataError(f"the graph has no variable {variable!r}.")
        return Factor([variable], self.beliefs_[variable], {variable: self.states_[variable]})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        tags.requires_fit = True
        return tags


def _held(factor: Factor, graph: FactorGraph, evidence: Mapping[str, Any]) -> Factor:
    """Return a factor with zeros where the evidence is contradicted."""
    table = factor.table
    for name, state in evidence.items():
        if name in factor.variables:
            axis = factor.variables.index(name)
            keep = np.zeros(table.shape[axis])
            keep[state_code(factor.states[name], state, name)] = 1.0
            table = table * keep.reshape([-1 if i == axis else 1 for i in range(table.ndim)])
    return Factor._made(factor.variables, np.ascontiguousarray(table), factor.states, 0.0)


def workspace(
    scopes: Sequence[Sequence[str]],
    tables: Sequence[Array],
    variables: Sequence[str],
    states: Any,
    log_scale: float,
) -> Workspace:
    """Return the arrays of a graph and, where it is a tree, the order of its two passes."""
    index = {name: v for v, name in enumerate(variables)}
    factor, variable, stride, card = [], [], [], []
    for f, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        for axis, name in enumerate(scope):
            factor.append(f)
            variable.append(index[name])
            stride.append(math.prod(table.shape[axis + 1 :]))
            card.append(table.shape[axis])
    by_variable: list[list[int]] = [[] for _ in variables]
    for e, v in enumerate(variable):
        by_variable[v].append(e)
    cards = [card[own[0]] for own in by_variable]
    graph = GraphArrays(
        starts([len(scope) for scope in scopes]),
        starts([table.size for table in tables]),
        np.concatenate([np.ravel(table) for table in tables]),
        ints(factor),
        ints(variable),
        ints(stride),
        ints(card),
        starts(card)[:-1],
        starts([len(own) for own in by_variable]),
        ints([e for own in by_variable for e in own]),
    )
    order, tree = tree_order(graph)
    named = (tuple(variables), tuple(tuple(states[v]) for v in variables), tuple(tuple(s) for s in scopes))
    return Workspace(graph, starts(cards), log_scale, tree, order, *named)


def tree_order(graph: GraphArrays) -> tuple[tuple[Array, Array], bool]:
    """Return the edges from the leaves to the roots and back with their directions, and whether it is a forest."""
    n_variables, n_factors = len(graph.variable_start) - 1, len(graph.edge_start) - 1
    seen_v, seen_f = np.zeros(n_variables, bool), np.zeros(n_factors, bool)
    down: list[tuple[int, bool]] = []  # away from the root: (edge, goes to the variable)
    tree = True
    for root in range(n_variables):
        if seen_v[root]:
            continue
        seen_v[root] = True
        waiting = [(root, -1)]
        for v, by in waiting:
            for j in range(graph.variable_start[v], graph.variable_start[v + 1]):
                e = int(graph.variable_edge[j])
                f = int(graph.factor[e])
                if e == by:
                    continue
                if seen_f[f]:
                    tree = False
                    continue
                seen_f[f] = True
                down.append((e, False))
                for other in range(graph.edge_start[f], graph.edge_start[f + 1]):
                    if other == e:
                        continue
                    u = int(graph.variable[other])
                    if seen_v[u]:
                        tree = False
                        continue
                    seen_v[u] = True
                    down.append((other, True))
                    waiting.append((u, other))
    up = [(e, not to_variable) for e, to_variable in reversed(down)]
    both = [*up, *down]
    return (ints([e for e, _ in both]), np.array([way for _, way in both], dtype=bool)), tree
