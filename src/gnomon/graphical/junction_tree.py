"""Junction trees: all marginals at once, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.graphical import dags
from gnomon.graphical.evidence import impossible
from gnomon.graphical.factor import MAX_ENTRIES, Factor, TableTooLargeError, contract
from gnomon.graphical.junction import arrays_of, graph_of_factors, plan_tree
from gnomon.graphical.net import Net, listed
from gnomon.loops import junction as loops


class JunctionTree:
    r"""A junction tree of a network or of factors: after one calibration every marginal is read off.

    .. math:: P(x) = \frac{\prod_C P(x_C)}{\prod_S P(x_S)}

    The moral graph is triangulated by an elimination order, the maximal cliques are joined by a tree of largest
    separators, and two rounds of messages make all cliques agree (Lauritzen and Spiegelhalter 1988; Jensen's form
    with division). Cost and memory are `total_entries_`, which is known before anything runs: exponential in
    the width of the graph. Where it does not fit, `TableTooLargeError` says so; use sampling or `BeliefPropagation`.

    Parameters
    ----------
    model : BayesianNetwork, MarkovRandomField, FactorGraph or list of Factor
    order : str or list, default="min_fill"
        Elimination order or heuristic, as in `BayesianNetwork.query`.
    max_entries : int, default=200_000_000
        The most numbers that the cliques may hold together.

    Attributes
    ----------
    cliques_, separators_ : lists of tuples of names
    width_ : int
        Size of the largest clique less one.
    total_entries_ : int
    log_evidence_ : float
        ln P(evidence) of the last calibration (ln Z for factors).

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> tree = JunctionTree(load_network("asia")).calibrate({"xray": "yes"})
    >>> tree.width_, round(float(tree.marginal("lung")["yes"]), 6)
    (2, 0.488711)
    """

    def __init__(self, model: Any, order: Any = "min_fill", *, max_entries: int = MAX_ENTRIES) -> None:
        from gnomon.graphical.models import net_or_factors

        net, factors = net_or_factors(model)
        if net is not None:
            families = [net.family(v) for v in range(len(net))]
            neighbors = dags.moral(net.parents)
            tables = net.tables
            variables, states = net.variables, net.states
        else:
            variables, states, families, tables, neighbors = graph_of_factors(factors)
        self._setup(variables, states, families, neighbors, order, max_entries)
        self._shift = 0.0 if net is not None else sum(f.log_scale for f in factors)
        self.set_tables(tables)

    def _setup(self, variables, states, families, neighbors, order, max_entries) -> None:  # type: ignore[no-untyped-def]
        self._net = Net(variables, states, [() for _ in variables], ())
        cards = self._net.cards
        if not isinstance(order, str):
            order = self._net.numbers(order)
        plan = plan_tree(neighbors, cards, order)
        self._plan, self.total_entries_ = plan, plan.total()
        self.width_ = max((len(clique) for clique in plan.cliques), default=1) - 1
        if self.total_entries_ > max_entries:
            raise TableTooLargeError(
                f"the junction tree has width {self.width_} and {self.total_entries_:.3g} entries "
                f"({8 * self.total_entries_ / 2**30:.3g} GiB), and max_entries is {max_entries:.3g}. Try order='best', "
                "fewer variables, or an approximate method: method='likelihood_weighting' or 'gibbs', or "
                "BeliefPropagation."
            )
        self._families = families
        self._arrays = arrays_of(plan, families, cards)
        self._beliefs: Array | None = None
        self._codes, self._soft = np.full(len(variables), -1, dtype=np.int64), np.zeros(len(variables), bool)
        self._likelihoods = np.ones(int(self._arrays.card_start[-1]))
        self._maximized: Array | None = None

    def set_tables(self, tables: Sequence[Array]) -> None:
        """Put other numbers into the same tree."""
        flat = np.concatenate([np.ravel(table) for table in tables]) if len(tables) else np.zeros(0)
        self._base = np.empty(self.total_entries_)
        loops.fill_base(self._arrays, np.ascontiguousarray(flat, dtype=np.float64), self._base)

    @property
    def cliques_(self) -> list[tuple[str, ...]]:
        """The variables of every clique."""
        return [tuple(self._net.variables[v] for v in clique) for clique in self._plan.cliques]

    @property
    def separators_(self) -> list[tuple[str, ...]]:
        """The variables that the two cliques of every edge of the tree share."""
        shared = [set(self._plan.cliques[a]) & set(self._plan.cliques[b]) for a, b in self._plan.edges]
        return [tuple(self._net.variables[v] for v in sorted(both)) for both in shared]

    # evidence

    def calibrate(
        self, evidence: Mapping[str, Any] | None = None, soft_evidence: Mapping[str, Any] | None = None
    ) -> JunctionTree:
        """Enter evidence and send all messages; evidence that was there before is forgotten."""
        self._codes[:], self._soft[:], self._likelihoods[:] = -1, False, 1.0
        return self.update(evidence, soft_evidence)

    def update(
        self, evidence: Mapping[str, Any] | None = None, soft_evidence: Mapping[str, Any] | None = None
    ) -> JunctionTree:
        """Add evidence to what is there and send all messages; a missing state takes evidence back."""
        for name in evidence or {}:
            self._codes[self._net.number(name)] = -1
        for v, code in self._net.evidence(evidence).items():
            self._codes[v] = code
        for v, vector in self._net.likelihoods(soft_evidence).items():
            start = self._arrays.card_start[v]
            self._likelihoods[start : start + len(vector)] = vector
            self._soft[v] = True
        self._beliefs, self.log_evidence_ = self._propagate(False)
        self._maximized = None
        if self.log_evidence_ == -np.inf:
            self._beliefs = None
            raise impossible(self._net, self._observed(), self._feasible)
        self.log_evidence_ += self._shift
        return self

    def _observed(self) -> dict[int, int]:
        return {int(v): int(self._codes[v]) for v in np.flatnonzero(self._codes >= 0)}

    def _feasible(self, evidence: Mapping[int, int]) -> bool:
        codes = np.full_like(self._codes, -1)
        for v, code in evidence.items():
            codes[v] = code
        return self._propagate(False, codes)[1] > -np.inf

    def _propagate(self, maximize: bool, codes: Array | None = None) -> tuple[Array, float]:
        table, size = self._base.copy(), int(self._arrays.message_start[-1])
        total = loops.calibrate(
            self._arrays,
            table,
            self._codes if codes is None else codes,
            self._likelihoods,
            self._soft,
            np.empty(size),
            np.empty(size),
            maximize,
        )
        return table, float(total)

    def _calibrated(self) -> Array:
        if self._beliefs is None:
            self.update()
        return self._beliefs  # type: ignore[return-value]

    # answers

    def marginals(self) -> dict[str, Factor]:
        """Return the distribution of every variable given the evidence, by name."""
        out = np.empty(int(self._arrays.card_start[-1]))
        loops.margins(self._arrays, self._calibrated(), False, out)
        parts = np.split(out, self._arrays.card_start[1:-1]) if len(self._net) else []
        found = {}
        for name, states, part in zip(self._net.variables, self._net.states, parts, strict=True):
            found[name] = Factor._made((name,), part, {name: states})
            found[name].log_evidence = self.log_evidence_
        return found

    def marginal(self, variable: str) -> Factor:
        """Return the distribution of one variable given the evidence."""
        return self.joint([variable])

    def belief(self, clique: int) -> Factor:
        """Return the calibrated table of a clique."""
        begin, end = self._arrays.table_start[clique : clique + 2]
        names = self.cliques_[clique]
        states = {name: self._net.named_states[name] for name in names}
        shape = [len(states[name]) for name in names]
        return Factor._made(names, self._calibrated()[begin:end].reshape(shape), states)

    def joint(self, variables: Any) -> Factor:
        """Return the joint distribution of some variables given the evidence.

        Where no clique holds them all, the cliques between them are multiplied and summed out.
        """
        self._calibrated()
        names = listed(variables)
        wanted = set(self._net.numbers(names))
        sizes = self._plan.sizes
        holding = [c for c, clique in enumerate(self._plan.cliques) if wanted <= set(clique)]
        if holding:
            found = contract([self.belief(min(holding, key=lambda c: sizes[c]))], names)
        else:
            found = self._across(names)
        answer = found.normalize()[0]
        answer.log_evidence = self.log_evidence_
        return answer

    def _across(self, names: list[str]) -> Factor:
        """Multiply P(clique | separator) over the tree from the leaves, keeping what is asked for."""
        tree, wanted = self._arrays, set(names)
        holders = {v: {c for c, own in enumerate(self.cliques_) if v in own} for v in wanted}
        waiting: dict[int, list[Factor]] = {c: [] for c in range(len(self._plan.cliques))}
        alone: list[Factor] = []
        for c in tree.order[::-1]:
            here, up = int(c), int(tree.parent[c])
            parts, own = waiting[here], set(self.cliques_[here])
            if up < 0:
                if parts or wanted & own:
                    scope = {v for part in parts for v in part.variables} | own
                    alone.append(contract([self.belief(here), *parts], [v for v in names if v in scope]))
                continue
            separator = own & set(self.cliques_[up])
            if not parts and all(holders[v] != {here} and v in separator for v in wanted & own):
                continue  # nothing asked for beyond this edge
            belief = self.belief(here)
            below = belief.divide(contract([belief], sorted(separator)))
            scope = {v for part in parts for v in part.variables} | own
            waiting[up].append(contract([below, *parts], [v for v in scope if v in wanted or v in separator]))
        return contract(alone, names)

    def mpe(self) -> tuple[dict[str, Any], float]:
        """Return the most probable joint state given the evidence, and ln of its probability with the evidence."""
        codes, value, _ = self._best()
        return {name: own[k] for name, own, k in zip(self._net.variables, self._net.states, codes)}, value

    def _best(self) -> tuple[Array, float, float]:
        """Codes of the best joint state, its log value, and by how much the second best is below."""
        table, value = self._propagate(True)
        if value == -np.inf:
            raise impossible(self._net, self._observed(), self._feasible)
        codes, out = np.empty(len(self._net), dtype=np.int64), np.empty(len(self._likelihoods))
        loops.best_states(self._arrays, table, codes)
        loops.margins(self._arrays, table, True, out)
        others = np.ones(len(out), dtype=bool)
        others[self._arrays.card_start[:-1] + codes] = False
        # max-margins of a component are relative to its own maximum, which is one
        second = float(out[others].max(initial=0.0))
        gap = math.inf if second == 0.0 else -math.log(min(second, 1.0))
        return codes, value + self._shift, gap

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Draw n joint states given the evidence; returns codes, one column for every variable."""
        rng, tree = generator(random_state), self._arrays
        self._calibrated()
        codes = np.full((n, len(self._net)), -1, dtype=np.int64)
        cards = self._net.cards
        for c in tree.order:
            clique = self._plan.cliques[c]
            up = set(self._plan.cliques[tree.parent[c]]) if tree.parent[c] >= 0 else set()
            known, fresh = [v for v in clique if v in up], [v for v in clique if v not in up]
            if not fresh:
                continue
            axes = [clique.index(v) for v in (*known, *fresh)]
            table = self.belief(int(c)).table.transpose(axes).reshape(math.prod(cards[v] for v in known), -1)
            row = np.zeros(n, dtype=np.int64)
            for v in known:
                row = row * cards[v] + codes[:, v]
            drawn = np.empty(n, dtype=np.int64)
            loops.draw(np.cumsum(table, axis=1), row, rng.random(n), drawn)
            for v, code in zip(fresh, np.unravel_index(drawn, [cards[v] for v in fresh]), strict=True):
                codes[:, v] = code
        return codes

    def __repr__(self) -> str:
        return f"JunctionTree({len(self._plan.cliques)} cliques, width {self.width_}, {self.total_entries_} entries)"
