"""A network as a classifier: naive, tree-augmented, or searched."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.rows import Chunk
from gnomon.core.settings import check_parameters
from gnomon.core.sums import per_row, total
from gnomon.core.validate import POSITIVE, Reads, check_fitted
from gnomon.graphical.binning import bin_edges, put_into_bins
from gnomon.graphical.columns import READS, CodedMemory, read_columns
from gnomon.graphical.counting import Counts, count_chunk, estimate, families_of, prior_counts, split
from gnomon.graphical.learning import check_fitted_arrays
from gnomon.graphical.net import Net
from gnomon.graphical.structure import information, spanning_tree
from gnomon.loops import junction as loops


def with_class(chunk: Chunk) -> Chunk:
    """The codes of a chunk with the class as one more column."""
    return chunk._replace(X=np.column_stack([chunk.X, chunk.y]).astype(np.int32))


def class_counts(chunk: Chunk, families: Any) -> Counts:
    """Partial counts of families of which the class is the last column."""
    return count_chunk(with_class(chunk), families)


class ClassPairs(NamedTuple):
    """Counts of all pairs of states, one matrix for every class."""

    counts: Array


def class_pairs(chunk: Chunk, starts: Array, size: int, classes: int) -> ClassPairs:
    """Partial counts of pairs of states within every class."""
    out = np.zeros((classes, size, size))
    hot = np.zeros((len(chunk.X), size))
    rows, columns = np.nonzero(chunk.X >= 0)
    hot[rows, starts[columns] + chunk.X[rows, columns]] = 1.0
    for k in range(classes):
        mine = chunk.y == k
        out[k] = hot[mine].T @ (hot[mine] * chunk.weight[mine, None])
    return ClassPairs(out)


class BayesianNetworkClassifier(ClassifierMixin, OneStep):
    r"""A classifier that is a Bayesian network with the class among its variables.

    .. math:: \arg\max_c P(c, x) = \arg\max_c P(c \mid pa) \prod_{j \in \text{children}} P(x_j \mid pa_j, c)

    The naive structure makes all columns independent given the class. The tree-augmented one (Friedman et al. 1997)
    gives each column one more parent, along the tree of largest conditional mutual information, and is exact and
    quick to find. Columns hold states: put numbers into bins first. Missing cells are summed out exactly when
    predicting, and left out of the counts of their families when learning.

    Parameters
    ----------
    structure : {"tan", "naive", "search"} or BayesianNetwork, default="tan"
        "search" climbs from the naive structure under BIC. A network brings its edges; `target` names its class.
    prior : {"bdeu", "k2", "mle", "dirichlet"}, default="bdeu"
        Pseudo-counts of the tables, as in `BayesianNetwork`.
    equivalent_sample_size : float, default=1.0
    pseudo_counts : float, optional
        Of "dirichlet"; 1.0 makes the naive structure `CategoricalNB`.
    max_parents : int, default=2
        Beside the class, for "search".
    target : str, default="class"
        Name of the class variable in the network.
    root : str, optional
        Of the tree; the first column when not given.
    states : dict, optional
        Names of the states by column; found in the data when not given.
    n_bins : int, optional
        Put columns of more different numbers than this into so many bins of about equal counts (tables in memory).

    Attributes
    ----------
    network_ : BayesianNetwork
    classes_ : array
    conditional_information_ : array of shape (d, d)
        I(Xᵢ; Xⱼ | class), with "tan".
    bin_edges_ : dict of arrays
        Inner edges of the bins, by column (by place in an array without names), with `n_bins`.

    Examples
    --------
    >>> X = [[int(b) for b in row] for row in "00 00 01 11 11 00 00 01 11 11 11 10".split()]
    >>> y = [0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0]
    >>> BayesianNetworkClassifier().fit(X, y).predict([[0, 1], [1, 0]])
    array([1, 0])
    """

    @property
    def _reads(self) -> Reads:  # type: ignore[override]
        """A search looks at the rows again and again; counts are sums."""
        return READS._replace(y="class", scales=READS.scales and self.structure != "search")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "structure": [StrOptions({"tan", "naive", "search"}), HasMethods("query")],
        "prior": [StrOptions({"bdeu", "k2", "mle", "dirichlet"})],
        "equivalent_sample_size": [POSITIVE],
        "pseudo_counts": [Interval(Real, 0, None, closed="left"), None],
        "max_parents": [Interval(Integral, 0, None, closed="left")],
        "target": [str],
        "root": [str, None],
        "states": [dict, None],
        "n_bins": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        structure: Any = "tan",
        *,
        prior: str = "bdeu",
        equivalent_sample_size: float = 1.0,
        pseudo_counts: float | None = None,
        max_parents: int = 2,
        target: str = "class",
        root: str | None = None,
        states: Any = None,
        n_bins: int | None = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.equivalent_sample_size = equivalent_sample_size
        self.pseudo_counts = pseudo_counts
        self.max_parents = max_parents
        self.target = target
        self.root = root
        self.states = states
        self.n_bins = n_bins

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
            if not isinstance(self.structure, str) and not hasattr(self.structure, "_graph"):
                raise DataError("structure must be 'tan', 'naive', 'search' or a BayesianNetwork.")
        edges = bin_edges(X, self.n_bins, sample_weight) if self.n_bins is not None else {}
        X = put_into_bins(X, edges)
        rows = read_columns(
            self, X, sample_weight, y=y, states=self.states, reset=reset, reads=self._reads
        ).rows
        rows.given = edges or None
        return rows

    # learning

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        labels = list(rows.labels)
        name = self.target
        while name in labels:
            name += "_"
        parents, more = self._parents(rows, labels)
        d = len(labels)
        cards = [*(len(own) for own in rows.states), len(rows.classes)]
        scopes = [(*own, v) for v, own in enumerate(parents)]
        counts = split(total(class_counts, rows, families_of(scopes, cards)).counts, scopes, cards)
        names = [*labels, name]
        shapes = {names[v]: counts[v].shape for v in range(d + 1)}
        alphas = prior_counts(self.prior, shapes, self.equivalent_sample_size, self.pseudo_counts)
        tables = [estimate(counts[v], alphas[names[v]])[0] for v in range(d + 1)]
        log_likelihood = float(
            sum((n[n > 0] * np.log(t[n > 0])).sum() for n, t in zip(counts, tables, strict=True))
        )
        found = {
            "variables_": names,
            "states_": {
                **dict(zip(labels, map(list, rows.states), strict=True)),
                name: rows.classes.tolist(),
            },
            "parents_": {names[v]: [names[p] for p in own] for v, own in enumerate(parents)},
            "tables_": dict(zip(names, tables, strict=True)),
            "target_": name,
            **({"bin_edges_": rows.given or {}} if self.n_bins is not None else {}),
            **more,
        }
        return found, log_likelihood

    def _parents(self, rows: Any, labels: list[str]) -> tuple[list[tuple[int, ...]], dict[str, Any]]:
        """Return the parents of all columns and of the class, which is the last variable."""
        d = len(labels)
        naive: list[tuple[int, ...]] = [*((d,) for _ in labels), ()]
        if not isinstance(self.structure, str):
            return self._given_parents(labels), {}
        if self.structure == "naive" or d < 2:
            return naive, {}
        if self.structure == "tan":
            weights = self._conditional_information(rows)
            if self.root is not None and self.root not in labels:
                raise DataError(f"root must be a column of X; got {self.root!r}.")
            tree = spanning_tree(weights, 0 if self.root is None else labels.index(self.root))
            return [*((*own, d) for own in tree), ()], {"conditional_information_": weights}
        return self._searched(rows, labels), {}

    def _given_parents(self, labels: list[str]) -> list[tuple[int, ...]]:
        net = self.structure._graph()
        if self.target not in net.variables:
            raise DataError(f"the given structure has no variable {self.target!r}; name its class in target.")
        names = [*labels, self.target]
        for name in net.variables:
            if name not in names:
                raise DataError(f"the given structure has the variable {name!r}, which is no column of X.")
        place = {name: v for v, name in enumerate(names)}
        known = {name: net.parents[net.index[name]] for name in net.variables}
        return [tuple(place[net.variables[p]] for p in known.get(name, ())) for name in names]

    def _conditional_information(self, rows: Any) -> Array:
        """Return I(Xᵢ; Xⱼ | class) for all pairs of columns."""
        starts = np.concatenate([[0], np.cumsum([len(own) for own in rows.states])])
        counts = total(class_pairs, rows, starts, int(starts[-1]), len(rows.classes)).counts
        d = len(starts) - 1
        found = np.zeros((d, d))
        for i in range(d):
            for j in range(i + 1, d):
                block = counts[:, starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
                mass = block.sum(axis=(1, 2))
                value = sum(m * information(part) for m, part in zip(mass, block, strict=True))
                found[i, j] = found[j, i] = value / max(float(mass.sum()), 1e-300)
        return found

    def _searched(self, rows: Any, labels: list[str]) -> list[tuple[int, ...]]:
        """Climb from the naive structure; the class keeps its children and gets no parents."""
        from gnomon.graphical.search import HillClimbSearch

        if not rows.in_memory:
            raise DataError("structure='search' needs the rows of X in memory.")
        name = "\0class"
        whole = (rows.X >= 0).all(axis=1) & (rows.weight > 0)  # a search counts complete rows alone
        if not whole.any():
            return [*((len(labels),) for _ in labels), ()]
        codes = np.column_stack([rows.X, rows.y])[whole].astype(np.int32)
        joined = CodedMemory(codes, None, rows.weight[whole])
        joined.labels, joined.states = [*labels, name], [*rows.states, tuple(rows.classes.tolist())]
        search = HillClimbSearch(
            max_parents=self.max_parents + 1,
            required=[(name, label) for label in labels],
            forbidden=[(label, name) for label in labels],
        )
        found = search._learn(joined)
        return [tuple(np.flatnonzero(column).tolist()) for column in found.adjacency_.T]

    # what was learned

    @property
    def network_(self) -> Any:
        """The network, class and all."""
        from gnomon.graphical.network import BayesianNetwork

        check_fitted(self)
        return BayesianNetwork._from_net(self._net())

    def _net(self) -> Net:
        return check_fitted_arrays(self.variables_, self.states_, self.parents_, self.tables_)

    def _check_loaded(self) -> None:
        if "tables_" in self.__dict__:
            try:
                self._net()
            except Exception as error:
                raise ModelFileError(f"the file holds no network: {error}") from error

    def predict_log_proba(self, X: Any) -> Array:
        """Return ln P(class | observed cells), one column for every class."""
        check_fitted(self)
        net, X = self._net(), put_into_bins(X, getattr(self, "bin_edges_", {}))
        known = {name: own for name, own in self.states_.items() if name != self.target_}
        reads = self._reads._replace(y=None)
        rows = read_columns(
            self, X, states=known, names=list(known), reset=False, reads=reads, unknown="missing"
        ).rows
        v = net.index[self.target_]
        blanket = [u for u in range(len(net)) if u == v or v in net.parents[u]]
        tree = _tree(net)
        with np.errstate(divide="ignore"):
            logs = [np.log(net.tables[u]) for u in blanket]
        scopes = [net.family(u) for u in blanket]
        return per_row(class_logs, rows, v, scopes, logs, len(self.classes_), tree._arrays, tree._base)

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | observed cells), one column for every class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of every row."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the network; return the Axes."""
        return self.network_.plot(ax=ax, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _tree(net: Net) -> Any:
    from gnomon.graphical.junction_tree import JunctionTree

    return JunctionTree(net)


def class_logs(
    chunk: Chunk,
    target: int,
    scopes: Sequence[Sequence[int]],
    logs: Sequence[Array],
    classes: int,
    tree: Any,
    base: Array,
) -> Array:
    """ln P(class | row): a sum of logarithms for complete rows, a junction tree for rows with missing cells."""
    codes = np.insert(chunk.X.astype(np.int64), target, -1, axis=1)
    missing = (np.delete(codes, target, axis=1) < 0).any(axis=1)
    out = np.zeros((len(codes), classes))
    full = codes[~missing]
    joint = np.zeros((len(full), classes))
    for scope, table in zip(scopes, logs, strict=True):
        axis = list(scope).index(target)
        index = tuple(full[:, u] for u in scope if u != target)
        moved = np.moveaxis(table, axis, -1)
        joint += moved[index] if index else moved
    with np.errstate(invalid="ignore"):
        total_ = logsumexp(joint, axis=1, keepdims=True)
        out[~missing] = np.where(np.isfinite(total_), joint - total_, -np.log(classes))
    if missing.any():
        part = np.ascontiguousarray(codes[missing])
        said, proba = np.empty(len(part)), np.zeros((len(part), classes))
        loops.row_answers(tree, base, part, False, said, part.copy(), target, proba)
        proba[said == -np.inf] = 1.0 / classes
        with np.errstate(divide="ignore"):
            out[missing] = np.log(proba)
    return out
