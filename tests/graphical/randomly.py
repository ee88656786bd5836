"""Random small networks and evidence, and a twin that answers by walking through all joint states."""

from itertools import product

import numpy as np

from gnomon.graphical import BayesianNetwork


def random_network(seed, n=None, most_states=3, zeros=False, tree=False):
    """A network of a few variables with random arrows and tables; some tables have zeros."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8)) if n is None else n
    names = [f"v{i}" for i in rng.permutation(n)]
    cards = rng.integers(1 if rng.random() < 0.1 else 2, most_states + 1, size=n)
    edges, tables, states = [], {}, {}
    for i, name in enumerate(names):
        if tree:
            parents = [int(rng.integers(i))] if i and rng.random() < 0.9 else []
        else:
            parents = [j for j in range(i) if rng.random() < 0.45][:3]
        shape = [cards[j] for j in parents]
        table = rng.dirichlet(np.ones(cards[i]), size=shape or None)
        if zeros and rng.random() < 0.5:
            table = np.where(table < 0.3, 0.0, table) + 1e-300
            table = np.where(table < 1e-200, 0.0, table)
            table[..., 0] += table.sum(axis=-1) == 0
            table = table / table.sum(axis=-1, keepdims=True)
        edges += [(names[j], name) for j in parents]
        tables[name] = table
        states[name] = [f"s{k}" for k in range(cards[i])]
    return BayesianNetwork(edges, states=states, tables=tables, nodes=names)


def random_evidence(model, seed, possible=True):
    """Some variables with states that can occur together, and one variable that is left open."""
    rng = np.random.default_rng(seed + 1)
    names = list(model.variables_)
    count = int(rng.integers(0, len(names)))
    chosen = list(rng.permutation(names))[:count]
    row = model.sample(1, random_state=seed).iloc[0]
    return {name: row[name] for name in chosen}


def walk(model):
    """Every joint state with its probability, straight from the tables."""
    names, tables, parents, states = model.variables_, model.tables_, model.parents_, model.states_
    for codes in product(*(range(len(states[name])) for name in names)):
        at = dict(zip(names, codes))
        p = 1.0
        for name in names:
            p *= tables[name][tuple(at[q] for q in parents[name]) + (at[name],)]
        yield {name: states[name][at[name]] for name in names}, p


def twin(model, wanted, evidence, soft=None):
    """P(wanted | evidence) as a dict of tuples of states, and P(evidence)."""
    found, total = {}, 0.0
    for row, p in walk(model):
        if any(row[name] != state for name, state in evidence.items()):
            continue
        for name, likelihood in (soft or {}).items():
            p *= likelihood[model.states_[name].index(row[name])]
        key = tuple(row[name] for name in wanted)
        found[key] = found.get(key, 0.0) + p
        total += p
    return {key: p / total for key, p in found.items()}, total
