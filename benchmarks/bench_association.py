"""Frequent sets and rules against PyFIM and mlxtend: the same baskets, the same sets.

The baskets are generated in the likeness of the field's usual data: mushroom and chess (dense), retail and
kosarak (sparse), accidents and webdocs (long). Everybody's whole call is timed, from the caller's baskets to
the answer: PyFIM reads lists and returns tuples, mlxtend reads a boolean table and returns a frame of
frozensets, so lists go with the former and tables with the latter. Our frame holds codes and makes a frozenset
when somebody looks at it; in the cases "as frozensets" everybody ends with all of them made. Where the answer is
large, that is most of the time: a frozenset of nine items takes six times the memory of a tuple.
PyFIM leaves out the sets that hold nothing but items of every basket, hence one or three sets fewer there.
"""

from __future__ import annotations

import math

import numpy as np

from case import Case


def skewed(n, power):
    weight = (1.0 + np.arange(n)) ** -power
    return weight / weight.sum()


def mushroom(n=8000, seed=0):
    """22 questions with 109 answers in all; two dozen kinds fix most of the answers."""
    rng = np.random.default_rng(seed)
    levels = [6, 4, 10, 2, 9, 2, 2, 2, 12, 2, 5, 4, 4, 9, 9, 1, 4, 3, 5, 9, 6, 7]
    kinds = np.array([[rng.choice(k, p=skewed(k, 2)) for k in levels] for _ in range(23)])
    kind = rng.choice(len(kinds), n, p=skewed(len(kinds), 1))
    answers = kinds[kind]
    free = rng.random(kinds.shape) < 0.3
    for j, k in enumerate(levels):
        own = free[kind, j]
        answers[own, j] = rng.choice(k, own.sum(), p=skewed(k, 1.5))
    return (answers + np.cumsum([0, *levels[:-1]])).tolist()


def yes_or_no(n, chances, factors, seed):
    """Correlated answers that are yes with the given chances."""
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    loads = 0.8 * rng.normal(size=(factors, len(chances)))
    hidden = rng.normal(size=(n, factors)) @ loads + rng.normal(size=(n, len(chances)))
    return hidden / np.sqrt((loads**2).sum(axis=0) + 1) < ndtri(chances)


def chess(n=3200, seed=0):
    """37 questions of two answers, one of them usual."""
    rng = np.random.default_rng(seed)
    table = yes_or_no(n, 1 - 0.5 * rng.random(37) ** 2, 3, seed)
    return (2 * np.arange(37) + ~table).tolist()


def accidents(n=30_000, seed=0):
    """460 things that may be so, 40 at a time, 30 of them usual."""
    rng = np.random.default_rng(seed)
    chances = np.concatenate([1 - 0.6 * rng.random(30) ** 1.5, 0.15 * rng.random(430) ** 3])
    return [np.flatnonzero(row).tolist() for row in yes_or_no(n, chances, 2, seed)]


def bought(n, p, power, lengths, seed, patterns=0):
    """Baskets of the given lengths with popular items, some of them with one of a few patterns in them."""
    rng = np.random.default_rng(seed)
    weight = skewed(p, power)
    own = np.split(rng.choice(p, lengths.sum(), p=weight), np.cumsum(lengths)[:-1])
    together = [rng.choice(p, rng.integers(2, 6), p=weight) for _ in range(patterns)]
    which = rng.exponential(patterns / 5, size=n).astype(int)
    return [
        np.unique(np.concatenate([one, together[i]]) if i < patterns else one).tolist()
        for one, i in zip(own, which)
    ]


def retail(n=88_000):
    rng = np.random.default_rng(1)
    return bought(n, 16_000, 0.9, 1 + rng.poisson(rng.gamma(1.2, 7.0, n)), 0, patterns=300)


def kosarak(n=200_000):
    rng = np.random.default_rng(1)
    return bought(n, 40_000, 1.2, 1 + np.minimum(400, 2 * rng.pareto(1.3, n)).astype(int), 0)


def webdocs(n=5000):
    rng = np.random.default_rng(1)
    return bought(n, 40_000, 1.0, 10 + rng.poisson(rng.gamma(1.0, 250.0, n)), 0)


def wide(n=1000):
    """Long baskets in which nothing goes with anything: all is in the pairs."""
    rng = np.random.default_rng(0)
    return [np.flatnonzero(rng.random(2000) < 0.1).tolist() for _ in range(n)]


def market(n=20_000, p=500, mean=13.8, seed=0):
    """Baskets made of overlapping patterns."""
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(p, rng.integers(2, 7), replace=False) for _ in range(200)]
    weight = rng.exponential(size=len(patterns))
    made = []
    for length in rng.poisson(mean, size=n):
        basket: set[int] = set()
        while len(basket) < length:
            one = patterns[rng.choice(len(patterns), p=weight / weight.sum())]
            basket.update(one[rng.random(len(one)) < 0.85].tolist())
        made.append(sorted(basket))
    return made


def framed(made):
    import pandas as pd

    from gnomon.association import TransactionEncoder

    encoder = TransactionEncoder().fit(made)
    return pd.DataFrame(encoder.transform(made), columns=encoder.columns_)


def small_dense():
    return framed(chess(1000))


def whole_chess():
    return framed(chess())


def small_sparse():
    return framed(bought(10_000, 1000, 1.0, 1 + np.random.default_rng(1).poisson(5, 10_000), 0))


def small_long():
    return framed(accidents(2000))


def markets():
    return framed(market())


def mine(library, name, support):
    def run(baskets):
        if library == "pyfim":
            import fim

            least = math.ceil(len(baskets) * support - 1e-9)  # as a count: percentages are rounded there
            return getattr(fim, name)(baskets, supp=-least, zmin=1, report="a")
        if library == "mlxtend":
            import mlxtend.frequent_patterns as module
        else:
            import gnomon.association as module
        return getattr(module, name)(baskets, support)

    return run


def mine_whole(library, name, support):
    """As `mine`, to the end that every set is a frozenset with its count beside it."""
    find = mine(library, name, support)

    def run(baskets):
        found = find(baskets)
        if library == "pyfim":
            return [(frozenset(items), count) for items, count in found]
        return list(zip(found["itemsets"], found["count"].tolist()))

    return run


def number(result, data):
    return float(len(result))


def rules(library):
    def run(sets):
        if library == "gnomon":
            from gnomon.association import association_rules
        else:
            from mlxtend.frequent_patterns import association_rules
        return association_rules(sets, metric="confidence", min_threshold=0.5)

    return run


def sets_for_rules():
    from gnomon.association import eclat

    return eclat(market(), 0.004)


BASKETS = {
    "dense mushroom-like 8k x 22": (mushroom, 0.2),
    "dense chess-like 3.2k x 37": (chess, 0.7),
    "sparse retail-like 88k x 16k": (retail, 0.001),
    "sparse kosarak-like 200k x 40k": (kosarak, 0.005),
    "long accidents-like 30k x 40 of 460": (accidents, 0.45),
    "long webdocs-like 5k x 173 of 40k": (webdocs, 0.35),
    "long noise 1k x 200 of 2k": (wide, 0.02),
    "market 20k x 14 of 500": (market, 0.01),
}
TABLES = {
    "dense chess-like 1k x 74": (small_dense, 0.85),
    "dense chess-like 3.2k x 74": (whole_chess, 0.75),
    "sparse 10k x 1k": (small_sparse, 0.002),
    "long accidents-like 2k x 460": (small_long, 0.6),
    "market 20k x 500": (markets, 0.01),
}
CASES = [
    *(
        Case(
            f"sets of lists{end}, {kind}, {support:.1%} ({name})",
            data=data,
            ours=how("gnomon", name, support),
            peers={"pyfim": how("pyfim", name, support)},
            quality=number,
            better="higher",
            goal=1.5,
        )
        for kind, (data, support) in BASKETS.items()
        for name in ("eclat", "fpgrowth", "apriori")
        for how, end in ((mine, ""), (mine_whole, " as frozensets"))
    ),
    *(
        Case(
            f"sets of a table, {kind}, {support:.1%} ({name})",
            data=data,
            ours=mine("gnomon", name, support),
            peers={"mlxtend": mine("mlxtend", name, support)},
            quality=number,
            better="higher",
            goal=40,
        )
        for kind, (data, support) in TABLES.items()
        for name in ("fpgrowth", "apriori", "fpmax")
    ),
    Case(
        "rules of frequent sets, confidence 0.5",
        data=sets_for_rules,
        ours=rules("gnomon"),
        peers={"mlxtend": rules("mlxtend")},
        quality=number,
        better="higher",
        goal=20,
    ),
]
