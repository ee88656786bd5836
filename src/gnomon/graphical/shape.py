"""What can be asked of a network's graph alone; mixed into the networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.frames import import_pandas
from gnomon.graphical import dags, orderings, separation
from gnomon.graphical.net import Net


class Shape:
    """Questions about the graph of a network, whatever its variables are."""

    def _network(self) -> Net:
        raise NotImplementedError

    def _graph(self) -> Net:
        raise NotImplementedError

    def d_separated(self, A: Any, B: Any, given: Any = ()) -> bool:
        """Tell whether the graph makes A and B independent given other variables.

        A path is blocked by a chain or fork whose middle is observed, and by a collider of which neither itself
        nor a descendant is. A and B are separated when every path is blocked; then they are independent whatever
        the numbers in the tables. Found in linear time by Bayes ball (Shachter 1998).

        Parameters
        ----------
        A, B, given : str or list of str

        Examples
        --------
        >>> from gnomon.graphical import BayesianNetwork
        >>> lawn = BayesianNetwork([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
        >>> lawn.d_separated("rain", "sprinkler"), lawn.d_separated("rain", "sprinkler", "slippery")
        (True, False)
        """
        return separation.d_separated(self, A, B, given)

    def active_path(self, A: Any, B: Any, given: Any = ()) -> separation.Verdict:
        """Return an open path between A and B, or why each path is blocked.

        Examples
        --------
        >>> from gnomon.graphical import BayesianNetwork
        >>> lawn = BayesianNetwork([("rain", "wet"), ("sprinkler", "wet")])
        >>> print(lawn.active_path("rain", "sprinkler"))
        rain – wet – sprinkler: blocked, wet is a collider, and neither it nor a descendant is observed
        >>> lawn.active_path("rain", "sprinkler", "wet").path
        ['rain', 'wet', 'sprinkler']
        """
        return separation.active_path(self, A, B, given)

    def reachable(self, A: Any, given: Any = ()) -> list[str]:
        """Return the variables that A is connected to by an open path given others."""
        net = self._graph()
        sources = set(net.numbers(A))
        found = dags.reachable(net.parents, sources, net.numbers(given)) - sources
        return [net.variables[v] for v in sorted(found)]

    def markov_blanket(self, variable: str) -> list[str]:
        """Return parents, children and the children's other parents: given these, nothing else matters."""
        net = self._graph()
        return [net.variables[v] for v in sorted(dags.markov_blanket(net.parents, net.number(variable)))]

    def independencies(self, max_given: int | None = 1) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return all (a, b, given) that the graph separates, with up to `max_given` given (None: any number)."""
        return separation.independencies(self, max_given)

    def local_independencies(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return, by node, the non-descendants it is independent of given its parents, and the parents."""
        return separation.local_independencies(self)

    def moral_graph(self) -> list[tuple[str, str]]:
        """Return the undirected edges of the moral graph: parents of a child are joined, directions dropped."""
        net = self._graph()
        near = dags.moral(net.parents)
        return [
            (net.variables[a], net.variables[b]) for a in range(len(net)) for b in sorted(near[a]) if a < b
        ]

    def pattern(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the directed and the undirected edges of the graph's equivalence class."""
        return orderings.pattern_edges(self._graph())

    def equivalent(self, other: Any) -> bool:
        """Tell whether another graph says the same about independence: same skeleton, same unshielded colliders.

        No data can tell equivalent graphs apart (Verma and Pearl 1990).

        Parameters
        ----------
        other : BayesianNetwork, LinearGaussianNetwork, or list of edges among the same variables

        Examples
        --------
        >>> from gnomon.graphical import BayesianNetwork
        >>> chain = BayesianNetwork([("A", "B"), ("B", "C")])
        >>> chain.equivalent([("C", "B"), ("B", "A")]), chain.equivalent([("A", "B"), ("C", "B")])
        (True, False)
        """
        return orderings.equivalent(self, other)

    def is_polytree(self) -> bool:
        """Tell whether there is at most one path between any two nodes, directions aside."""
        return dags.is_polytree(self._graph().parents)

    def plot(self, evidence: Mapping[str, Any] | None = None, ax: Any = None, **options: Any) -> Any:
        """Draw the graph, observed nodes shaded; return the Axes. See `gnomon.plot.network`."""
        from gnomon.plot import network

        return network(self, evidence=evidence, ax=ax, **options)


class Redrawn(Shape):
    """What else can be asked of the graph of a discrete network: other drawings of it, and their cost."""

    def parameter_count(self, structure: str = "network", given: str | None = None) -> int:
        r"""Return how many free numbers the network needs, or another model of the same variables.

        .. math:: \sum_i (|X_i| - 1) \prod_{p \in pa(i)} |X_p|

        Parameters
        ----------
        structure : {"network", "full", "independent", "conditional"}
            Count for the graph, for the whole joint table, for independent variables, or for variables that are
            independent given one: `given`.
        given : str, optional

        Examples
        --------
        >>> from gnomon.graphical import BayesianNetwork
        >>> model = BayesianNetwork(
        ...     [("A", "C"), ("B", "C"), ("C", "D")]
        ... )  # binary, where nothing else is said
        >>> model.parameter_count(), model.parameter_count("full")
        (8, 15)
        """
        return orderings.parameter_count(self._graph(), structure, given)

    def compare_orderings(
        self, orders: Iterable[Sequence[str]] | None = None, *, n_orders: int = 1000
    ) -> Any:
        """Return the parameters that each order of the variables needs, fewest first.

        Parameters
        ----------
        orders : iterable of lists of names, optional
            All n! orders of up to 8 variables when not given, else `n_orders` random ones and that of the model.
        n_orders : int, default=1000

        Returns
        -------
        DataFrame
            Columns `order` and `parameters`.

        Examples
        --------
        >>> from gnomon.graphical import BayesianNetwork
        >>> table = BayesianNetwork([("A", "C"), ("B", "C"), ("C", "D")]).compare_orderings()
        >>> table.parameters.value_counts().sort_index().to_dict()
        {8: 2, 9: 12, 11: 4, 14: 2, 15: 4}
        """
        return orderings.compare_orderings(self._graph(), orders, n_orders)

    def reorder(self, order: Any) -> Any:
        """Return the same distribution drawn along another order of the variables.

        Each variable gets the fewest predecessors that make it independent of the others, and its table by
        inference: the chain rule in that order.
        """
        return type(self)._from_net(orderings.reordered(self._network(), order))  # type: ignore[attr-defined]

    def best_order(self) -> list[str]:
        """Return an order of the variables that needs the fewest parameters (all orders of up to 8 variables)."""
        return list(orderings.compare_orderings(self._graph()).order.iloc[0])

    def reverse_edge(self, a: str, b: str) -> Any:
        """Return the same distribution with the edge a → b turned; each gets the other's parents as well."""
        net = self._network()
        turned = orderings.edge_reversed(net, net.number(a), net.number(b))
        return type(self)._from_net(turned)  # type: ignore[attr-defined]

    def do(self, actions: Mapping[str, Any]) -> Any:
        """Return the network after setting variables from outside: edges into them are cut (Pearl's do).

        Seeing that the grass is wet says something about rain; making it wet does not.
        """
        net = self._network()
        parents, tables = list(net.parents), list(net.tables)
        for v, code in net.evidence(actions).items():
            parents[v], tables[v] = (), np.eye(net.cards[v])[code]
        return type(self)._from_net(Net(net.variables, net.states, parents, tables))  # type: ignore[attr-defined]

    def to_factor_graph(self) -> Any:
        """Return the tables as the factors of a `FactorGraph`."""
        from gnomon.graphical.factor_graphs import FactorGraph

        return FactorGraph(self._network().factors())

    def summary(self) -> Any:
        """Return a DataFrame: states, parents, children, Markov blanket size and parameters of every variable."""
        pd = import_pandas()
        net = self._graph()
        children = dags.children_of(net.parents)
        rows = []
        for v, name in enumerate(net.variables):
            free = (net.cards[v] - 1) * int(np.prod([net.cards[p] for p in net.parents[v]], initial=1))
            parents = [net.variables[p] for p in net.parents[v]]
            blanket = len(dags.markov_blanket(net.parents, v))
            rows.append((name, net.cards[v], parents, [net.variables[c] for c in children[v]], blanket, free))
        columns = ["variable", "states", "parents", "children", "blanket", "parameters"]
        return pd.DataFrame(rows, columns=columns).set_index("variable")
