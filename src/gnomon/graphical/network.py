"""Bayesian networks: a joint distribution as a graph with a small table at every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from sklearn.base import DensityMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.parameters import StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE, Reads
from gnomon.graphical import dags, learning
from gnomon.graphical.answers import Answers
from gnomon.graphical.columns import READS, read_columns, width_of
from gnomon.graphical.factor import states_of
from gnomon.graphical.net import Net, build, graph_of
from gnomon.graphical.row_answers import RowAnswers
from gnomon.graphical.shape import Redrawn

_NETS: WeakKeyDictionary[Any, tuple[tuple[Any, ...], Net]] = WeakKeyDictionary()


def given_attribute(net: Net, name: str) -> Any:
    """Return what `fit` would have learned, of a network that was given by its tables."""
    names = net.variables
    if name == "variables_":
        return list(names)
    if name == "states_":
        return {v: list(own) for v, own in zip(names, net.states, strict=True)}
    if name == "parents_":
        return {v: [names[p] for p in own] for v, own in zip(names, net.parents, strict=True)}
    return net.parameter_count() if name == "n_parameters_" else dict(zip(names, net.tables, strict=True))


class BayesianNetwork(RowAnswers, Answers, Redrawn, DensityMixin, Learner):
    r"""A Bayesian network over discrete variables.

    .. math:: P(x_1, \dots, x_n) = \prod_i P(x_i \mid x_{pa(i)})

    A directed acyclic graph says what depends directly on what; a table at every node says how. From a story:
    give `edges`, `tables` and `states`, then `query`. From data: give `edges` (or learn them, see
    `HillClimbSearch`), then `fit`. From a file: `read_network`. Exact answers cost exponentially in the width of
    the graph, which is announced (`inference_plan`, `treewidth`) and guarded; beyond it, sample.

    Parameters
    ----------
    edges : list of pairs (parent, child)
    states : dict, optional
        Names of the states of every variable; found in the data, or 0, 1, … when not given. A variable that has
        states here but no column in the data is hidden.
    tables : dict, optional
        P(child | parents) by child: one axis for every parent, in the order of its edges, then the child. With `fit`
        on data with holes or hidden variables, where EM starts.
    nodes : list of str
        Variables, in order; needed only for those without edges, or to fix the order.
    prior : {"mle", "k2", "bdeu", "dirichlet"}, default="mle"
        Pseudo-counts: none, one a cell, `equivalent_sample_size` spread over the cells of each table, or
        `pseudo_counts`.
    equivalent_sample_size : float, default=10.0
    pseudo_counts : float or dict of arrays, optional
    point : {"mean", "mode"}, default="mean"
        Which point of the Dirichlet posterior becomes the table.
    tied : list of lists of names, optional
        Variables of each group share one table.
    algorithm : {"em", "hard"}, default="em"
        With missing cells or hidden variables: expected counts, or counts of the most probable completions.
    max_iter, tol, n_init, random_state
        Of EM: steps, change of the objective per row at which it stops, starts, seed.

    Attributes
    ----------
    variables_ : list of str
    states_, parents_, tables_ : dicts by variable
    n_parameters_ : int
    posterior_tables_ : dict of arrays
        Counts plus pseudo-counts: the Dirichlet posterior of every row.
    unseen_ : dict of boolean arrays
        Parent configurations without data.
    log_likelihood_ : float
    log_marginal_likelihood_ : float
        ln P(data | graph), with complete data and positive pseudo-counts.
    trace_ : Trace
        Log-likelihood of the observed cells (plus the log prior), before every step of EM.

    Examples
    --------
    >>> model = BayesianNetwork(
    ...     [("rain", "wet"), ("sprinkler", "wet")],
    ...     states={"rain": ["yes", "no"], "sprinkler": ["on", "off"], "wet": ["yes", "no"]},
    ...     tables={
    ...         "rain": [0.25, 0.75],
    ...         "sprinkler": [0.5, 0.5],
    ...         "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.0, 1.0]]],
    ...     },
    ... )
    >>> model.query("rain", {"wet": "yes"})
    Factor(rain: yes=0.411765, no=0.588235)
    >>> model.query("rain", {"wet": "yes", "sprinkler": "on"})
    Factor(rain: yes=0.268293, no=0.731707)
    """

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    _reads: ClassVar[Reads] = READS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "edges": [list, tuple],
        "states": [dict, None],
        "tables": [dict, None],
        "nodes": [list, tuple],
        "prior": [StrOptions({"mle", "k2", "bdeu", "dirichlet"})],
        "equivalent_sample_size": [POSITIVE],
        "pseudo_counts": [dict, Real, None],
        "point": [StrOptions({"mean", "mode"})],
        "tied": [list, tuple, None],
        "algorithm": [StrOptions({"em", "hard"})],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "n_init": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        edges: Sequence[tuple[str, str]] = (),
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Mapping[str, Any] | None = None,
        nodes: Sequence[str] = (),
        prior: str = "mle",
        equivalent_sample_size: float = 10.0,
        pseudo_counts: Any = None,
        point: str = "mean",
        tied: Sequence[Sequence[str]] | None = None,
        algorithm: str = "em",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        self.edges = edges
        self.states = states
        self.tables = tables
        self.nodes = nodes
        self.prior = prior
        self.equivalent_sample_size = equivalent_sample_size
        self.pseudo_counts = pseudo_counts
        self.point = point
        self.tied = tied
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    # building it

    def add_variable(self, name: str, states: Sequence[Any]) -> Self:
        """Declare a variable and its states."""
        self.nodes = [*(v for v in self.nodes if v != name), name]
        self.states = {**(self.states or {}), name: list(states_of(states, name))}
        return self

    def add_edge(self, a: str, b: str) -> Self:
        """Add an edge a → b; one that closes a cycle is an error that prints it."""
        edges = [*self.edges, (a, b)]
        variables, parents = graph_of(edges, self.nodes, self.states, self.tables)
        dags.topological_order(parents, variables)
        self.edges = edges
        return self

    def set_table(self, name: str, table: Any, parents: Sequence[str] | None = None) -> Self:
        """Set P(name | parents); `parents` adds the edges, in this order of axes. Entries of 0 and 1 are fine."""
        if parents is not None:
            kept = [edge for edge in self.edges if edge[1] != name]
            self.edges = [*kept, *((parent, name) for parent in parents)]
        self.tables = {**(self.tables or {}), name: table}
        return self

    @classmethod
    def _from_net(cls, net: Net, **options: Any) -> Self:
        """Return a model that was given by its tables."""
        states = {name: list(own) for name, own in zip(net.variables, net.states, strict=True)}
        tables = dict(zip(net.variables, net.tables, strict=True))
        model = cls(net.edges(), states=states, tables=tables, nodes=list(net.variables), **options)
        _NETS[model] = (model._source(), net)
        return model

    @classmethod
    def from_model(cls, model: Any, **options: Any) -> Self:
        """Return another model of the library as a network: naive Bayes, a mixture, a hidden Markov model.

        Parameters
        ----------
        model : estimator
            A fitted CategoricalNB, BernoulliNB, CategoricalMixture, BernoulliMixture, LatentClassModel,
            CategoricalHMM or MarkovChain.
        **options
            ``n_steps`` of a hidden Markov model or chain (default 3).
        """
        from gnomon.graphical.views import net_of_model

        return cls._from_net(net_of_model(model, **options))

    def _source(self) -> tuple[Any, ...]:
        """What the network depends on: the learned attributes, or the parameters."""
        if "tables_" in self.__dict__:
            return (self.__dict__["tables_"],)
        states, tables = self.states or {}, self.tables or {}
        return (*self.edges, *states, *states.values(), *tables, *tables.values(), *self.nodes)

    def _network(self) -> Net:
        """Return the network, learned or given; it is built once."""
        source = self._source()
        kept = _NETS.get(self)
        if kept is not None and len(kept[0]) == len(source) and all(a is b for a, b in zip(kept[0], source)):
            return kept[1]
        if "tables_" in self.__dict__:
            learned = (self.__dict__[name] for name in ("variables_", "states_", "parents_", "tables_"))
            net = learning.check_fitted_arrays(*learned)
        elif self.tables:
            net = build(self.edges, self.nodes, self.states, self.tables)
        else:
            raise NotFittedError(
                "This BayesianNetwork instance is not fitted yet and has no tables. Call 'fit' with data, or give "
                "tables."
            )
        _NETS[self] = (source, net)
        return net

    def __getattr__(self, name: str) -> Any:
        if (
            name in ("variables_", "states_", "parents_", "tables_", "n_parameters_")
            and "tables" in self.__dict__
        ):
            return given_attribute(self._network(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _graph(self) -> Net:
        """Return the graph, with or without tables."""
        if "tables_" in self.__dict__ or self.tables:
            return self._network()
        variables, parents = graph_of(self.edges, self.nodes, self.states, self.tables)
        dags.topological_order(parents, variables)
        known = dict(self.states or {})
        return Net(variables, [tuple(known.get(name, (0, 1))) for name in variables], parents, ())

    @property
    def order_(self) -> list[str]:
        """The variables, parents before children."""
        net = self._network()
        return [net.variables[v] for v in net.order]

    @property
    def children_(self) -> dict[str, list[str]]:
        """The children of every variable."""
        net = self._network()
        names = net.variables
        return {names[v]: [names[c] for c in own] for v, own in enumerate(dags.children_of(net.parents))}

    # learning

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
        declared = graph_of(self.edges, self.nodes, self.states, self.tables)[0]
        names = declared if declared and width_of(X) == len(declared) else None
        return read_columns(self, X, sample_weight, states=self.states, names=names, reset=reset).rows

    def _prepare(self, data: Any) -> Any:
        return learning.prepare(self, data)

    def _start(self, work: Any, rng: Any) -> learning.TablesState:
        return learning.start(self, work, rng)

    def _step(self, work: Any, state: learning.TablesState) -> tuple[learning.TablesState, Report]:
        new, objective, done = learning.step(self, work, state)
        return new, Report(objective, done=done)

    def _attributes(self, state: learning.TablesState) -> dict[str, Any]:
        names = list(state.variables)
        alphas = learning.prior_counts(
            self.prior,
            {name: table.shape for name, table in zip(names, state.tables, strict=True)},
            self.equivalent_sample_size,
            self.pseudo_counts,
        )
        counts = dict(zip(names, state.counts, strict=True))
        found = {
            "variables_": names,
            "states_": {name: list(own) for name, own in zip(names, state.states, strict=True)},
            "parents_": {
                name: [names[p] for p in own] for name, own in zip(names, state.parents, strict=True)
            },
            "tables_": dict(zip(names, state.tables, strict=True)),
            "posterior_tables_": {name: counts[name] + alphas[name] for name in names},
            "unseen_": dict(zip(names, state.unseen, strict=True)),
            "n_parameters_": state.net().parameter_count(),
            "log_likelihood_": state.log_likelihood,
        }
        if self.prior != "mle" and all((alpha > 0).all() for alpha in alphas.values()):
            value = learning.log_marginal_likelihood(list(state.counts), [alphas[name] for name in names])
            found["log_marginal_likelihood_"] = value
        return found

    def _check_loaded(self) -> None:
        if "tables_" in self.__dict__:
            try:
                self._network()
            except Exception as error:
                raise ModelFileError(f"the file holds no network: {error}") from error

    def __sklearn_is_fitted__(self) -> bool:
        return "tables_" in self.__dict__ or bool(self.tables)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if self.__sklearn_is_fitted__():
            try:
                net = self._network()
            except DataError:
                return super().__repr__(N_CHAR_MAX)
            edges = sum(len(own) for own in net.parents)
            return f"BayesianNetwork({len(net)} variables, {edges} edges, {net.parameter_count()} parameters)"
        return super().__repr__(N_CHAR_MAX)
