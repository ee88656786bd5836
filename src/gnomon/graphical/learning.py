"""Tables from data: counts where all is observed, expected counts (EM) where something is missing or hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk, MemoryRows
from gnomon.core.sums import total, total_weight
from gnomon.core.validate import warn
from gnomon.graphical import dags
from gnomon.graphical.counting import estimate, family_tables, mode, prior_counts, split, tie
from gnomon.graphical.factor import states_of
from gnomon.graphical.junction_tree import JunctionTree
from gnomon.graphical.net import Net, build, check_table, graph_of
from gnomon.graphical.sampling import log_probabilities
from gnomon.loops import junction as loops


class TablesState(NamedTuple):
    """A network on its way: names, graph, tables, and the counts they come from."""

    variables: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]
    counts: tuple[Array, ...]
    unseen: tuple[Array, ...]
    objective: float
    log_likelihood: float

    def net(self) -> Net:
        """Return the network."""
        return Net(self.variables, self.states, self.parents, self.tables)


class Work(NamedTuple):
    """What a fit of tables prepares once."""

    net: Net  # without tables
    rows: Any  # codes; distinct ones where some are missing
    place: Array  # column of every variable, -1 for a hidden one
    scopes: list[tuple[int, ...]]
    alphas: list[Array]  # pseudo-counts, as they are added to counts
    complete: list[Array] | None  # counts where nothing is missing
    weight: float
    start: tuple[Array, ...] | None  # tables to start from
    tree: JunctionTree | None


def prepare(model: Any, rows: Any) -> Work:
    """Join the declared network with the columns of the data."""
    net, place = join(model, rows)
    scopes = [net.family(v) for v in range(len(net))]
    shapes = {name: tuple(net.cards[u] for u in scopes[v]) for v, name in enumerate(net.variables)}
    given = prior_counts(model.prior, shapes, model.equivalent_sample_size, model.pseudo_counts)
    alphas = [given[name] for name in net.variables]
    weight = total_weight(rows)
    if not weight > 0:
        raise DataError("sample_weight must not be zero for all rows.")
    hidden = np.flatnonzero(place < 0)
    counts, missing = None, 0.0
    if not len(hidden):
        counts, missing, _ = family_tables(
            rows, [tuple(place[u] for u in s) for s in scopes], _column_cards(net, place)
        )
    if not len(hidden) and missing == 0:
        return Work(net, rows, place, scopes, alphas, counts, weight, None, None)
    _warn_of_one_state(net, hidden)
    start = _given_tables(model, net)
    tree = JunctionTree(_uniform(net))
    return Work(net, _distinct_rows(rows), place, scopes, alphas, None, weight, start, tree)


def _column_cards(net: Net, place: Array) -> list[int]:
    cards = [0] * (int(place.max()) + 1)
    for v, column in enumerate(place):
        cards[column] = net.cards[v]
    return cards


def join(model: Any, rows: Any) -> tuple[Net, Array]:
    """Return the graph with the states of all variables, and the column of each (-1: hidden)."""
    labels, found = list(rows.labels), dict(zip(rows.labels, rows.states, strict=True))
    variables, parents = graph_of(model.edges, [*model.nodes, *labels], model.states, model.tables)
    dags.topological_order(parents, variables)
    declared, states = dict(model.states or {}), []
    for name in variables:
        if name in found:
            states.append(found[name])
        elif name in declared:
            states.append(states_of(declared[name], name))
        elif model.tables and name in model.tables:
            states.append(tuple(range(np.shape(model.tables[name])[-1])))
        else:
            raise DataError(
                f"variable {name!r} is no column of X (n_features = {len(labels)}) and has no states; a hidden "
                "variable needs them: "
                f"states={{{name!r}: [...]}}.{nearest(name, labels)}"
            )
    place = np.array([labels.index(name) if name in found else -1 for name in variables], dtype=np.int64)
    return Net(variables, states, parents, ()), place


def _uniform(net: Net) -> Net:
    shapes = [tuple(net.cards[u] for u in net.family(v)) for v in range(len(net))]
    return net.replace([np.full(shape, 1.0 / shape[-1]) for shape in shapes])


def _given_tables(model: Any, net: Net) -> tuple[Array, ...] | None:
    if not model.tables:
        return None
    given = build(net.edges(), net.variables, net.named_states, model.tables)
    _warn_symmetric(given)
    return given.tables


def _warn_symmetric(net: Net) -> None:
    """Warn of tables that do not tell the states of a parent apart: EM would never part them."""
    for v in range(len(net)):
        children = [c for c in range(len(net)) if v in net.parents[c]]
        same = all(np.ptp(net.tables[c], axis=net.parents[c].index(v)).max() < 1e-12 for c in children)
        if children and same and net.cards[v] > 1 and not net.parents[v]:
            warn(
                f"the starting tables treat all states of {net.variables[v]!r} alike; if it is hidden, EM cannot "
                "tell them apart. Leave tables out for a random start."
            )


def _warn_of_one_state(net: Net, hidden: Array) -> None:
    """Warn of hidden variables that cannot vary: the network says the same without them."""
    for v in hidden:
        if net.cards[v] == 1:
            warn(
                f"the hidden variable {net.variables[v]!r} has one state, {net.states[v][0]!r}, and so explains "
                "nothing. Give it two states or more, or leave it out."
            )


def _distinct_rows(rows: Any) -> Any:
    """Return each different row once, with its weight, where the rows are in memory."""
    if not rows.in_memory:
        return rows
    different, place = np.unique(rows.X, axis=0, return_inverse=True)
    weight = np.bincount(place.ravel(), rows.weight, len(different))
    kept = weight > 0
    return MemoryRows(np.ascontiguousarray(different[kept]), None, weight[kept])


# the state


def start(model: Any, work: Work, rng: np.random.Generator) -> TablesState:
    """Return the first tables: given ones, or random rows near hidden variables and available counts elsewhere."""
    net = work.net
    nothing = tuple(np.zeros([net.cards[u] for u in scope]) for scope in work.scopes)
    unseen = tuple(np.zeros(part.shape[:-1], dtype=bool) for part in nothing)
    if work.start is not None:
        tables: Any = work.start
    elif work.complete is not None:
        tables = _uniform(net).tables
    else:
        tables = _first_tables(work, rng)
    return TablesState(
        net.variables, net.states, net.parents, tuple(tables), nothing, unseen, -np.inf, -np.inf
    )


def _first_tables(work: Work, rng: np.random.Generator) -> list[Array]:
    net, place = work.net, work.place
    observed = [v for v in range(len(net)) if all(place[u] >= 0 for u in work.scopes[v])]
    scopes = [tuple(int(place[u]) for u in work.scopes[v]) for v in observed]
    counted = (
        dict(zip(observed, family_tables(work.rows, scopes, _column_cards(net, place))[0], strict=True))
        if observed
        else {}
    )
    tables = []
    for v, scope in enumerate(work.scopes):
        shape = [net.cards[u] for u in scope]
        if v in counted and counted[v].any():  # a column of which no cell is seen is hidden
            tables.append(estimate(counted[v] + 1.0 / shape[-1], np.zeros(shape))[0])
        else:
            tables.append(rng.dirichlet(np.full(shape[-1], 2.0), size=shape[:-1] or None))
    return tables


class Expected(NamedTuple):
    """Expected counts and the log-likelihood of rows."""

    counts: Array
    log_likelihood: float
    impossible: float  # rows of probability zero


def expect_chunk(chunk: Chunk, place: Array, tree: Any, base: Array, hard: bool) -> Expected:
    """Partial expected counts of all families (of the best completions when `hard`)."""
    codes = np.full((len(chunk.X), len(place)), -1, dtype=np.int64)
    seen = np.flatnonzero(place >= 0)
    codes[:, seen] = chunk.X[:, place[seen]]
    counts, logs = np.zeros(int(tree.family_table_start[-1])), np.empty(len(codes))
    if hard:
        done = codes.copy()
        loops.row_answers(tree, base, codes, True, logs, done, -1, np.empty((0, 0)))
        _count_completed(tree, done, chunk.weight, logs, counts)
    else:
        loops.expected_counts(tree, base, codes, chunk.weight, counts, logs)
    counted = chunk.weight > 0
    bad = float((logs[counted] == -np.inf).sum())
    return Expected(counts, float(chunk.weight[counted] @ logs[counted]) if not bad else 0.0, bad)


def _count_completed(tree: Any, codes: Array, weight: Array, logs: Array, counts: Array) -> None:
    """Add the completed rows to the counts of the families."""
    good = logs > -np.inf
    for v in range(len(tree.family_home)):
        home, begin = tree.family_home[v], tree.family_start[v]
        axes = tree.axis[tree.axis_start[home] : tree.axis_start[home + 1]]
        strides = tree.to_family[begin : begin + len(axes)]
        cell = codes[good][:, axes] @ strides
        size = int(tree.family_table_start[v + 1] - tree.family_table_start[v])
        start = int(tree.family_table_start[v])
        counts[start : start + size] += np.bincount(cell, weight[good], size)


def step(model: Any, work: Work, state: TablesState) -> tuple[TablesState, float, bool]:
    """One EM step (the whole answer where nothing is missing): new state, objective, whether it is the last."""
    if work.complete is not None:
        new = maximize(model, work, state, work.complete)
        log_likelihood = float(sum(xlogy(n, t).sum() for n, t in zip(work.complete, new.tables, strict=True)))
        objective = log_likelihood + log_prior(model, work, new.tables)
        return new._replace(objective=objective, log_likelihood=log_likelihood), objective, True
    work.tree.set_tables(state.tables)
    found = total(
        expect_chunk, work.rows, work.place, work.tree._arrays, work.tree._base, model.algorithm == "hard"
    )
    if found.impossible:
        raise DataError(
            f"{int(found.impossible)} different rows of X are impossible under the starting tables: they have zeros "
            "where the data have not. Start from other tables."
        )
    objective = found.log_likelihood + log_prior(model, work, state.tables)
    counts = split(found.counts, work.scopes, work.net.cards)
    new = maximize(model, work, state, counts)
    done = abs(objective - state.objective) <= model.tol * work.weight
    return new._replace(objective=objective, log_likelihood=found.log_likelihood), objective, done


def maximize(model: Any, work: Work, state: TablesState, counts: Sequence[Array]) -> TablesState:
    """Return the tables that the counts and the prior make best."""
    alphas = work.alphas
    if model.tied:
        counts = tie(list(counts), work.net.variables, model.tied)
    tables, unseen = [], []
    for v, (n, alpha) in enumerate(zip(counts, alphas, strict=True)):
        if model.point == "mode" and model.prior != "mle":
            table, empty = mode(n, alpha, work.net.variables[v])
        else:
            table, empty = estimate(n, alpha)
        tables.append(table)
        unseen.append(np.asarray(n.sum(axis=-1) <= 0) if model.prior != "mle" else empty)
    return state._replace(tables=tuple(tables), counts=tuple(counts), unseen=tuple(unseen))


def log_prior(model: Any, work: Work, tables: Sequence[Array]) -> float:
    """Return what the pseudo-counts add to the objective: Σ α ln θ (its maximum is the table (N + α)/Σ)."""
    less = 1.0 if model.point == "mode" and model.prior != "mle" else 0.0
    if model.prior == "mle":
        return 0.0
    return float(
        sum(xlogy(alpha - less, table).sum() for alpha, table in zip(work.alphas, tables, strict=True))
    )


def log_marginal_likelihood(counts: Sequence[Array], alphas: Sequence[Array]) -> float:
    """Return ln P(data | graph), the Dirichlet tables integrated out."""
    value = 0.0
    for n, alpha in zip(counts, alphas, strict=True):
        value += float((gammaln(alpha.sum(-1)) - gammaln(alpha.sum(-1) + n.sum(-1))).sum())
        value += float((gammaln(alpha + n) - gammaln(alpha)).sum())
    return value


def check_fitted_arrays(variables: Any, states: Any, parents: Any, tables: Any) -> Net:
    """Return the network of learned attributes; raises where they cannot be one."""
    index = {name: v for v, name in enumerate(variables)}
    own = [tuple(states[name]) for name in variables]
    numbers = [tuple(index[p] for p in parents[name]) for name in variables]
    dags.topological_order(numbers, variables)
    for v, name in enumerate(variables):
        check_table(np.asarray(tables[name]), variables, own, numbers[v], v)
    return Net(
        variables, own, numbers, [np.ascontiguousarray(tables[name], dtype=np.float64) for name in variables]
    )


# rows


def answer_chunk(
    chunk: Chunk, place: Array, tables: Any, parents: Any, cards: Any, states: Any, tree: Any, base: Any,
    what: str, target: int,
) -> Any:  # fmt: skip
    """ln P, the best completion or the margin of one variable of every row of a chunk."""
    codes = np.full((len(chunk.X), len(place)), -1, dtype=np.int64)
    seen = np.flatnonzero(place >= 0)
    codes[:, seen] = chunk.X[:, place[seen]]
    logs = np.zeros(len(codes))
    open_rows = (codes < 0).any(axis=1) if what != "proba" else np.ones(len(codes), dtype=bool)
    done = codes.copy()
    proba = np.zeros((len(codes), cards[target])) if what == "proba" else np.zeros((0, 0))
    if not open_rows.all() and what == "score":
        logs[~open_rows] = complete_logs(codes[~open_rows], tables, parents, cards)
    if open_rows.any():
        part, some = logs[open_rows], done[open_rows]
        asked = target if what == "proba" else -1  # no margin to write otherwise
        loops.row_answers(tree, base, codes[open_rows], what == "complete", part, some, asked, proba)
        logs[open_rows], done[open_rows] = part, some
    return {"score": logs, "proba": proba, "complete": (done, logs)}[what]


def complete_logs(codes: Array, tables: Any, parents: Any, cards: Any) -> Array:
    """Return ln P of rows without a missing cell."""
    net = Net([str(v) for v in range(len(tables))], [range(k) for k in cards], parents, tables)
    return log_probabilities(net, codes)
