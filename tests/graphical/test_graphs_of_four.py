"""All 543 directed acyclic graphs of four nodes, and undirected ones of five, against definitions by enumeration."""

from collections import defaultdict
from itertools import combinations, permutations, product

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.graphical import treewidth
from gnomon.graphical.binning import bin_edges, put_into_bins
from gnomon.graphical.dags import (
    all_paths,
    apply_meek_rules,
    blocked_reason,
    find_cycle,
    is_polytree,
    markov_blanket,
    moral,
    neighbors_of,
    open_path,
    pattern,
    separated,
    topological_order,
    v_structures,
)
from gnomon.graphical.orderings import minimal_parents

NODES, PAIRS = range(4), list(combinations(range(4), 2))


def graphs():
    """Yield every graph as parents, acyclic or not, with each pair of nodes joined at most once."""
    for kinds in product((None, 0, 1), repeat=len(PAIRS)):
        parents = [[] for _ in NODES]
        for (a, b), kind in zip(PAIRS, kinds, strict=True):
            if kind is not None:
                parents[(b, a)[kind]].append((a, b)[kind])
        yield [tuple(own) for own in parents]


def fits(order, parents):
    return all(order.index(p) < order.index(v) for v, own in enumerate(parents) for p in own)


def acyclic(parents):
    return any(fits(order, parents) for order in permutations(NODES))


def edges(parents):
    return {(p, v) for v, own in enumerate(parents) for p in own}


def closure(parents, nodes):
    """The nodes and all that leads to them."""
    found = set(nodes)
    while more := {p for v in found for p in parents[v]} - found:
        found |= more
    return found


def apart(parents, a, b, given):
    """The criterion of Lauritzen: separated in the moral graph of the ancestors."""
    kept = closure(parents, {a, b, *given})
    links = {frozenset(e) for e in edges(parents) if set(e) <= kept}
    links |= {frozenset(pair) for v in kept for pair in combinations(parents[v], 2)}
    found = {a}
    while more := {w for e in links if e & found for w in e if w not in given} - found:
        found |= more
    return b not in found


DAGS = [parents for parents in graphs() if acyclic(parents)]
CASES = [
    (a, b, given)
    for a, b in PAIRS
    for size in range(3)
    for given in combinations([v for v in NODES if v not in (a, b)], size)
]


@pytest.fixture(scope="module")
def classes():
    """The graphs that say the same of independence."""
    found = defaultdict(list)
    for parents in DAGS:
        found[tuple(apart(parents, *case) for case in CASES)].append(parents)
    return found


def test_independencies_and_classes(classes):
    assert len(DAGS) == 543 and len(classes) == 185  # Robinson 1977; Gillispie and Perlman 2001
    for told, members in classes.items():
        for parents in members:
            assert tuple(separated(parents, [a], [b], given) for a, b, given in CASES) == told
            assert v_structures(parents) == v_structures(members[0])


def test_patterns_are_what_a_class_has_in_common(classes):
    for members in classes.values():
        common = set.intersection(*[edges(one) for one in members])
        loose = {(min(e), max(e)) for e in edges(members[0])} - {(min(e), max(e)) for e in common}
        for parents in members:
            assert pattern(parents) == (common, loose)
        for a, b in [*loose, *[e[::-1] for e in loose]]:  # what follows when one more direction is known
            known = [edges(one) for one in members if (a, b) in edges(one)]
            directed, undirected = apply_meek_rules(4, common | {(a, b)}, loose - {(min(a, b), max(a, b))})
            assert directed == set.intersection(*known)
            assert undirected == loose - {(min(e), max(e)) for e in directed}


def test_paths_are_open_and_closed_as_the_graph_says():
    for parents in DAGS[::5]:
        near = neighbors_of(parents)
        for a, b, given in CASES:
            paths = all_paths(near, a, b, 100)
            wanted = {
                (a, *way, b)
                for size in range(3)
                for way in permutations([v for v in NODES if v not in (a, b)], size)
                if all(v in near[u] for u, v in zip((a, *way), (*way, b), strict=True))
            }
            assert {tuple(path) for path in paths} == wanted and len(paths) == len(wanted)
            assert [len(path) for path in paths] == sorted(len(path) for path in paths)
            assert all_paths(near, a, b, 1) == paths[:1]
            opened = []
            for path in paths:
                why = None
                for u, v, w in zip(path, path[1:], path[2:]):
                    into = (u in parents[v]) + (w in parents[v])
                    if into == 2 and not any(v in closure(parents, [g]) for g in given):
                        why = (v, "collider")
                    elif into < 2 and v in given:
                        why = (v, ("fork", "chain")[into])
                    if why:
                        break
                assert blocked_reason(parents, path, set(given)) == why
                opened += [path] if why is None else []
            found = open_path(parents, a, b, set(given))
            assert (found is None) == (not opened) == apart(parents, a, b, given)
            assert found is None or found in opened


def test_orders_cycles_blankets_and_morals():
    for parents in graphs():
        if not acyclic(parents):
            cycle = find_cycle(parents)
            assert cycle[0] == cycle[-1] and len(set(cycle)) == len(cycle) - 1 > 2
            assert all(u in parents[v] for u, v in zip(cycle, cycle[1:]))
            with pytest.raises(DataError, match=" → ".join("abcd"[v] for v in cycle)):
                topological_order(parents, "abcd")
            continue
        assert find_cycle(parents) == []
        first = next(order for order in permutations(NODES) if fits(order, parents))
        assert topological_order(parents, "abcd") == list(first)
        near, married = neighbors_of(parents), moral(parents)
        for v in NODES:
            children = {c for c in NODES if v in parents[c]}
            assert near[v] == children | set(parents[v])
            spouses = {p for c in children for p in parents[c]} - {v}
            assert markov_blanket(parents, v) == married[v] == near[v] | spouses
        single = all(len(all_paths(near, a, b, 2)) < 2 for a, b in PAIRS)
        assert is_polytree(parents) == single


def test_fewest_parents_along_another_order():
    for parents in DAGS[::29]:
        for order in permutations(NODES):
            for i, v in enumerate(order):
                fewest = next(
                    set(kept)
                    for size in range(i + 1)
                    for kept in combinations(order[:i], size)
                    if all(apart(parents, v, u, kept) for u in order[:i] if u not in kept)
                )
                assert set(minimal_parents(parents, order)[v]) == fewest


def width(links, order):
    """The largest number of neighbors that a node has when it goes, its neighbors being joined."""
    links, most = {frozenset(e) for e in links}, 0
    for v in order:
        near = {w for e in links if v in e for w in e} - {v}
        most = max(most, len(near))
        links = {e for e in links if v not in e} | {frozenset(pair) for pair in combinations(near, 2)}
    return most


def test_widths_of_all_small_graphs():
    pairs = list(combinations("abcde", 2))
    rng = np.random.default_rng(0)
    for code in rng.choice(2**10, size=60, replace=False):
        links = [e for i, e in enumerate(pairs) if code >> i & 1]
        if links:
            names = sorted({v for e in links for v in e})
            least = min(width(links, order) for order in permutations(names))
            low, high, order = treewidth(links, "exact")
            assert low == high == least == width(links, order) and sorted(order) == names
            low, high, order = treewidth(links, "greedy")
            assert low <= least <= high == width(links, order)


def test_bins_hold_equal_shares():
    X = np.column_stack([np.arange(12.0)[::-1], np.arange(12) % 3])
    edges_of = bin_edges(X, 4)
    assert list(edges_of) == ["0"] and edges_of["0"].tolist() == [2.5, 5.5, 8.5]  # three values need no bins
    binned = put_into_bins(X, edges_of)
    assert binned[:, 0].tolist() == [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0] and (binned[:, 1] == X[:, 1]).all()
    weight = np.array([2.0, 1, 1, 1, 1, 0, 1, 3, 1, 1, 1, 1])
    twice = np.repeat(X, weight.astype(int), axis=0)
    for n_bins in (2, 3, 5):
        np.testing.assert_array_equal(bin_edges(X, n_bins, weight)["0"], bin_edges(twice, n_bins)["0"])
    holes = X.copy()
    holes[3] = np.nan
    assert bin_edges(holes, 4)["0"].tolist() == bin_edges(np.delete(X, 3, axis=0), 4)["0"].tolist()
    assert np.isnan(put_into_bins(holes, edges_of)[3]).all()
    assert bin_edges(X, 4, np.ones(3)) == {} == bin_edges(np.array([["a"]]), 4)
    heavy = bin_edges(np.array([[0.0], [1.0], [2.0]]), 2, [10.0, 1.0, 1.0])
    assert heavy["0"].tolist() == [0.5]
    last = bin_edges(np.array([[0.0], [1.0], [2.0]]), 2, [1.0, 1.0, 10.0])
    assert last["0"].tolist() == [1.5]  # no bin stays empty
