"""Generators of tables with a story: for every kind the rows, the target and the truth behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError
from gnomon.core.randomness import generator
from gnomon.datasets.simulated import _chosen


def make_table(kind: str, n_samples: int = 200, *, random_state: Any = None, **options: Any) -> Bunch:
    """Draw a table with a story.

    Parameters
    ----------
    kind : str
        "random features": one perfect feature among many useless ones (``n_features=2000``). "uniform noise": x even on
        [-3, 3], targets that have nothing to do with it. "genes": many more features than rows, few that matter
        (``n_features=1000, n_informative=10``). "subgroups": two groups, labels harder to predict in the smaller one
        (``gap=0.15, share=0.2``). "species": an environment on a grid and counts of a species that prefers some of it
        (``size=20``). "survey": answers of two hidden groups to the questions of a survey. "baskets": purchases around
        patterns (``n_items=20``). "ratings": a low-rank matrix with holes (``n_items=30, rank=2, density=0.3,
        noise=0.3``). "songs": liked or not, from hidden tastes (``n_items=30, rank=2``).
        "income": a plane over education and seniority, income = 5.9 education + 0.17 seniority − 50 + noise
        (``noise=5``). "omitted variable": y = b x₀ + c x₁ + noise with correlated columns, so that x₀ alone seems to
        have the effect b + ρc and not b (``effect=-1, confounder=2, correlation=0.95, noise=0.3``). "far points": two
        classes that a line parts, and points far on the right side, which drag least squares toward them
        (``n_far=5, distance=12``). "coin triples": three tosses of a coin that is drawn anew from two each time; the
        target is which it was (``weight=0.4, heads=(0.9, 0.2)``).
    n_samples : int, default=200
    random_state : int, RandomState, Generator or None
    **options
        Of the kind.

    Returns
    -------
    Bunch
        `data`, `target` where there is one, and the truth.

    Examples
    --------
    >>> table = make_table("random features", 8, random_state=0)
    >>> table.data.shape, bool((table.data[:, table.perfect] == table.target).all())
    ((8, 2000), True)
    """
    make = _chosen(kind, _TABLES, n_samples)
    return make(n_samples, generator(random_state), **options)


def _random_features(n: int, rng: np.random.Generator, n_features: int = 2000) -> Bunch:
    X, y = rng.integers(0, 2, (n, n_features)), rng.integers(0, 2, n)
    perfect = int(rng.integers(n_features))
    X[:, perfect] = y
    return Bunch(data=X, target=y, perfect=perfect)


def _uniform_noise(n: int, rng: np.random.Generator) -> Bunch:
    return Bunch(data=rng.uniform(-3, 3, (n, 1)), target=rng.normal(size=n))


def _genes(n: int, rng: np.random.Generator, n_features: int = 1000, n_informative: int = 10) -> Bunch:
    if not 0 <= n_informative <= n_features:
        raise DataError(f"n_informative must lie between 0 and n_features={n_features}; got {n_informative}.")
    y = rng.permutation(np.arange(n) % 2)
    pathways = rng.normal(size=(n, 20)) @ rng.normal(0, 0.5, (20, n_features))
    X = pathways + rng.normal(size=(n, n_features))
    informative = np.sort(rng.permutation(n_features)[:n_informative])
    X[:, informative] += np.outer(2 * y - 1, rng.choice([-1.0, 1.0], n_informative))
    return Bunch(data=X, target=y, informative=informative)


def _subgroups(n: int, rng: np.random.Generator, gap: float = 0.15, share: float = 0.2) -> Bunch:
    if not (0 <= gap <= 0.4 and 0 < share < 1):
        raise DataError(f"gap must lie in [0, 0.4] and share in (0, 1); got {gap} and {share}.")
    group = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, 2] = group + 0.5 * rng.normal(size=n)  # a stand-in for the group
    p = np.where(X[:, 0] + X[:, 1] > 0, 0.9, 0.1)
    p = np.where(group == 1, 0.5 + (p - 0.5) * (0.4 - gap) / 0.4, p)
    return Bunch(
        data=X,
        target=(rng.random(n) < p).astype(int),
        groups=np.array(["large", "small"])[group],
        probability=p,
    )


def _species(n: int, rng: np.random.Generator, size: int = 20) -> Bunch:
    u = np.linspace(-1, 1, size)
    east, north = np.meshgrid(u, u)
    features = np.column_stack([east.ravel(), north.ravel(), (east * north).ravel()])
    weights = np.array([1.0, -2.0, 1.5])
    p = np.exp(features @ weights)
    p /= p.sum()
    return Bunch(data=features, counts=rng.multinomial(n, p), weights=weights, probability=p)


def _survey(n: int, rng: np.random.Generator) -> Bunch:
    from gnomon.datasets.lessons import LESSONS

    sizes = LESSONS["survey"]["n_values"]
    group = rng.integers(0, 2, n)
    X = np.empty((n, len(sizes)), dtype=int)
    for j, k in enumerate(sizes):
        tables = rng.dirichlet(np.ones(k), size=2)
        X[:, j] = (rng.random(n)[:, None] > np.cumsum(tables, axis=1)[group]).sum(axis=1).clip(max=k - 1)
    return Bunch(data=X, groups=group, n_values=np.array(sizes), kinds=list(LESSONS["survey"]["kinds"]))


def _baskets(
    n: int, rng: np.random.Generator, n_items: int = 20, patterns: Any = ((0, 1), (2, 3, 4))
) -> Bunch:
    X = rng.random((n, n_items)) < 0.08
    for pattern in patterns:
        if max(pattern) >= n_items:
            raise DataError(f"patterns name items from 0 to {n_items - 1}; got {tuple(pattern)}.")
        X[np.ix_(rng.random(n) < 0.3, list(pattern))] = True
    return Bunch(
        data=X, patterns=tuple(map(tuple, patterns)), baskets=[np.flatnonzero(row).tolist() for row in X]
    )


def _ratings(
    n: int,
    rng: np.random.Generator,
    n_items: int = 30,
    rank: int = 2,
    density: float = 0.3,
    noise: float = 0.3,
) -> Bunch:
    if not 0 < density <= 1:
        raise DataError(f"density must lie in (0, 1]; got {density}.")
    users, items = rng.normal(size=(n, rank)), rng.normal(size=(n_items, rank))
    full = 3 + users @ items.T / np.sqrt(rank)
    seen = rng.random(full.shape) < density
    values = np.clip(np.round(full + noise * rng.normal(size=full.shape)), 1, 5)
    return Bunch(data=np.where(seen, values, np.nan), full=full, users=users, items=items)


def _songs(n: int, rng: np.random.Generator, n_items: int = 30, rank: int = 2) -> Bunch:
    users, items = rng.normal(size=(n, rank)), rng.normal(size=(n_items, rank))
    p = 1 / (1 + np.exp(-2 * users @ items.T))
    return Bunch(data=(rng.random(p.shape) < p).astype(int), probability=p, users=users, items=items)


def _income(n: int, rng: np.random.Generator, noise: float = 5.0) -> Bunch:
    X = np.c_[rng.uniform(10, 22, size=n), rng.uniform(20, 190, size=n)]
    y = X @ (5.9, 0.17) - 50.0 + noise * rng.normal(size=n)
    return Bunch(data=X, target=y, feature_names=["education", "seniority"], coef=np.array([5.9, 0.17]))


def _omitted_variable(
    n: int,
    rng: np.random.Generator,
    effect: float = -1.0,
    confounder: float = 2.0,
    correlation: float = 0.95,
    noise: float = 0.3,
) -> Bunch:
    if not -1 <= correlation <= 1:
        raise DataError(f"correlation must be in [-1, 1]; got {correlation}.")
    X = rng.normal(size=(n, 2))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    coef = np.array([effect, confounder])
    return Bunch(data=X, target=X @ coef + noise * rng.normal(size=n), coef=coef)


def _far_points(n: int, rng: np.random.Generator, n_far: int = 5, distance: float = 12.0) -> Bunch:
    if not 0 <= n_far <= n:
        raise DataError(f"n_far must lie between 0 and n_samples={n}; got {n_far}.")
    near = n - n_far
    half = near // 2
    left = rng.normal([-2.0, 0.0], 0.6, size=(half, 2))
    right = rng.normal([2.0, 0.0], 0.6, size=(near - half, 2))
    far = rng.normal([distance, -distance / 2], 0.6, size=(n_far, 2))
    return Bunch(data=np.vstack([left, right, far]), target=np.repeat([0, 1], [half, n - half]))


def _coin_triples(
    n: int, rng: np.random.Generator, weight: float = 0.4, heads: tuple[float, float] = (0.9, 0.2)
) -> Bunch:
    if not all(0 <= p <= 1 for p in (weight, *heads)):
        raise DataError(f"weight and heads are probabilities; got {weight} and {heads}.")
    coins = (rng.random(n) >= weight).astype(int)
    return Bunch(data=(rng.random((n, 3)) < np.asarray(heads)[coins, None]).astype(int), target=coins)


_TABLES = {
    "random features": _random_features,
    "uniform noise": _uniform_noise,
    "genes": _genes,
    "subgroups": _subgroups,
    "species": _species,
    "survey": _survey,
    "baskets": _baskets,
    "ratings": _ratings,
    "songs": _songs,
    "income": _income,
    "omitted variable": _omitted_variable,
    "far points": _far_points,
    "coin triples": _coin_triples,
}
