"""Generators of whole situations: tables with a story, texts, series and pictures. The truth comes beside the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator


def _chosen(kind: str, kinds: dict[str, Any], n: int) -> Any:
    if kind not in kinds:
        raise DataError(f"kind must be one of {tuple(kinds)}; got {kind!r}.{nearest(kind, kinds)}")
    if n < 1:
        raise DataError(f"the number of rows must be at least 1; got {n}.")
    return kinds[kind]


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
}

_MAIL = {
    "spam": "free money click offer remove your credit now win price",
    "mail": "meeting project report team lunch draft review data thanks schedule",
}
_ROOMS = {
    "kitchen": "pot pan knife bowl jar spoon oven",
    "workshop": "hammer nail saw chisel plank rope",
    "shrine": "lamp statue incense altar coin bowl",
}
_WORDS = {
    "D": ["the", "a", "every"],
    "A": ["old", "small", "good"],
    "N": ["dog", "bird", "man", "book"],
    "V": ["sees", "likes", "reads"],
}


def make_text(
    kind: str = "topics", n_documents: int = 50, *, length: int = 60, random_state: Any = None
) -> Bunch:
    """Draw documents.

    Parameters
    ----------
    kind : {"topics", "bars", "mail", "inventories", "sentences"}
        "topics": words of three topics in random shares. "bars": words are pixels of a 5 × 5 picture, topics its rows
        and columns. "mail": mail and spam. "inventories": what was found in rooms of three uses. "sentences": a stream
        from a small grammar.
    n_documents : int, default=50
    length : int, default=60
        Words of a document, on average.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Bunch
        `counts` (documents × words), `vocabulary`, `documents` as texts, and the truth: `topics`, `shares` or `target`.

    Examples
    --------
    >>> mail = make_text("mail", 20, random_state=0)
    >>> mail.counts.shape[0], sorted(set(mail.target.tolist()))
    (20, ['mail', 'spam'])
    """
    kinds = {
        "topics": _topics,
        "bars": _bars,
        "mail": _mail,
        "inventories": _inventories,
        "sentences": _sentences,
    }
    return _chosen(kind, kinds, n_documents)(n_documents, length, generator(random_state))


def _from_topics(
    n: int, length: int, rng: np.random.Generator, topics: Array, shares: Array, words: list[str]
) -> Bunch:
    sizes = np.maximum(rng.poisson(length, n), 1)
    counts = np.array([rng.multinomial(m, p / p.sum()) for m, p in zip(sizes, shares @ topics)])
    texts = [" ".join(rng.permutation(np.repeat(words, row))) for row in counts]
    return Bunch(counts=counts, vocabulary=list(words), documents=texts, topics=topics, shares=shares)


def _topics(n: int, length: int, rng: np.random.Generator) -> Bunch:
    words = [f"{theme}{i}" for theme in ("sport", "music", "trade") for i in range(10)]
    topics = np.full((3, 30), 0.01)
    for k in range(3):
        topics[k, 10 * k : 10 * k + 10] += rng.dirichlet(np.ones(10))
    topics /= topics.sum(axis=1, keepdims=True)
    return _from_topics(n, length, rng, topics, rng.dirichlet(np.full(3, 0.3), n), words)


def _bars(n: int, length: int, rng: np.random.Generator) -> Bunch:
    pictures = [np.outer(np.eye(5)[k], np.ones(5)) for k in range(5)]
    topics = np.array([p.ravel() / 5 for p in pictures] + [p.T.ravel() / 5 for p in pictures])
    words = [f"pixel{i}" for i in range(25)]
    return _from_topics(n, length, rng, topics, rng.dirichlet(np.full(10, 0.1), n), words)


def _by_class(n: int, length: int, rng: np.random.Generator, lists: dict[str, str], common: str) -> Bunch:
    names = list(lists)
    words = sorted({word for text in lists.values() for word in text.split()} | set(common.split()))
    topics = np.full((len(names), len(words)), 0.2)
    for k, name in enumerate(names):
        topics[k, [words.index(word) for word in lists[name].split()]] += 1.0
    topics /= topics.sum(axis=1, keepdims=True)
    labels = rng.integers(0, len(names), n)
    found = _from_topics(n, length, rng, topics, np.eye(len(names))[labels], words)
    return Bunch(**found, target=np.array(names)[labels])


def _mail(n: int, length: int, rng: np.random.Generator) -> Bunch:
    return _by_class(n, length, rng, _MAIL, "you the to and")


def _inventories(n: int, length: int, rng: np.random.Generator) -> Bunch:
    return _by_class(n, length, rng, _ROOMS, "cup")


def _sentences(n: int, length: int, rng: np.random.Generator) -> Bunch:
    tags = [
        ["D", "A", "N", "V", "D", "N"] if rng.random() < 0.5 else ["D", "N", "V", "D", "A", "N"]
        for _ in range(n)
    ]
    texts = [" ".join(rng.choice(_WORDS[tag]) for tag in line) for line in tags]
    words = sorted({word for group in _WORDS.values() for word in group})
    counts = np.array([[text.split().count(word) for word in words] for text in texts])
    return Bunch(counts=counts, vocabulary=words, documents=texts, tags=tags)


def make_series(kind: str = "sales", n_samples: int = 200, *, random_state: Any = None) -> Bunch:
    """Draw a series.

    Parameters
    ----------
    kind : {"sales", "radar", "bird song"}
        "sales": eight shops that move together, until the pattern breaks at two thirds. "radar": range and bearing of a
        target that turns, with noise. "bird song": frequencies of syllables from four hidden states.
    n_samples : int, default=200
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> sales = make_series("sales", 90, random_state=0)
    >>> sales.data.shape, sales.break_at
    ((90, 8), 60)
    """
    kinds = {"sales": _sales, "radar": _radar, "bird song": _bird_song}
    return _chosen(kind, kinds, n_samples)(n_samples, generator(random_state))


def _sales(n: int, rng: np.random.Generator) -> Bunch:
    season = np.sin(2 * np.pi * np.arange(n) / 52)
    trend = np.cumsum(rng.normal(0, 0.1, n))
    first, second = rng.normal(1, 0.2, 8), np.r_[rng.normal(1, 0.2, 4), rng.normal(-1, 0.2, 4)]
    late = np.arange(n) >= 2 * n // 3
    load = np.where(late[:, None], second, first)
    X = 100 + 10 * (season + trend)[:, None] * load + rng.normal(0, 2, (n, 8))
    return Bunch(data=X, break_at=2 * n // 3, loadings=np.array([first, second]))


def _radar(n: int, rng: np.random.Generator) -> Bunch:
    heading = np.cumsum(rng.normal(0, 0.05, n))
    path = np.cumsum(np.column_stack([np.cos(heading), np.sin(heading)]), axis=0) + [30.0, 10.0]
    seen = np.column_stack([np.hypot(*path.T), np.arctan2(path[:, 1], path[:, 0])])
    return Bunch(data=seen + rng.normal(size=(n, 2)) * [0.5, 0.01], positions=path)


def _bird_song(n: int, rng: np.random.Generator) -> Bunch:
    stay, means = 0.9, np.array([2.0, 3.5, 5.0, 7.0])
    states = np.empty(n, dtype=int)
    states[0] = rng.integers(4)
    for t in range(1, n):
        states[t] = states[t - 1] if rng.random() < stay else (states[t - 1] + rng.integers(1, 4)) % 4
    return Bunch(data=(means[states] + 0.3 * rng.normal(size=n))[:, None], states=states, means=means)


def make_images(
    kind: str = "shapes", n_samples: int = 20, *, size: int = 16, random_state: Any = None
) -> Bunch:
    """Draw pictures with values in [0, 1].

    Parameters
    ----------
    kind : {"ball", "shapes", "faces", "threes", "noisy", "missing"}
        "ball": a disc, its place in `target`. "shapes": squares, discs and crosses. "faces": as `make_face_patches`.
        "threes": handwritten threes of scikit-learn's digits. "noisy" and "missing": a smooth picture with noise, or
        with NaN in a third of its pixels, the clean one in `clean`.
    n_samples : int, default=20
    size : int, default=16
        Pixels of a side; threes have 8.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> images = make_images("ball", 3, random_state=0)
    >>> images.images.shape, images.target.shape
    ((3, 16, 16), (3, 2))
    """
    kinds = {
        "ball": _ball, "shapes": _shapes, "faces": _faces, "threes": _threes, "noisy": _noisy, "missing": _missing,
    }  # fmt: skip
    return _chosen(kind, kinds, n_samples)(n_samples, size, generator(random_state))


def _grid(size: int) -> tuple[Array, Array]:
    line = (np.arange(size) + 0.5) / size
    v, u = np.meshgrid(line, line, indexing="ij")
    return u, v


def _ball(n: int, size: int, rng: np.random.Generator) -> Bunch:
    u, v = _grid(size)
    centers = rng.uniform(0.2, 0.8, (n, 2))
    images = np.array([((u - a) ** 2 + (v - b) ** 2 < 0.02).astype(float) for a, b in centers])
    return Bunch(images=np.clip(images + 0.05 * rng.normal(size=images.shape), 0, 1), target=centers)


def _shapes(n: int, size: int, rng: np.random.Generator) -> Bunch:
    u, v = _grid(size)
    target = rng.integers(0, 3, n)
    images = []
    for kind in target:
        a, b = np.abs(u - rng.uniform(0.35, 0.65)), np.abs(v - rng.uniform(0.35, 0.65))
        square, disc = np.maximum(a, b) < 0.22, a**2 + b**2 < 0.06
        cross = ((a < 0.08) | (b < 0.08)) & (np.maximum(a, b) < 0.28)
        images.append([square, disc, cross][kind].astype(float))
    noise = 0.08 * rng.normal(size=(n, size, size))
    return Bunch(
        images=np.clip(np.array(images) + noise, 0, 1), target=target, names=["square", "disc", "cross"]
    )


def _faces(n: int, size: int, rng: np.random.Generator) -> Bunch:
    from gnomon.datasets.trees import make_face_patches

    images, target = make_face_patches(n, window=size, random_state=rng)
    return Bunch(images=images, target=target)


def _threes(n: int, size: int, rng: np.random.Generator) -> Bunch:
    from sklearn.datasets import load_digits

    digits = load_digits()
    rows = rng.permutation(np.flatnonzero(digits.target == 3))[:n]
    return Bunch(images=digits.images[rows] / 16.0, target=digits.target[rows])


def _smooth(n: int, size: int, rng: np.random.Generator) -> Array:
    u, v = _grid(size)
    waves = rng.uniform(1, 6, (n, 2, 1, 1))
    images = (
        0.5 + 0.25 * np.sin(waves[:, 0] * u + rng.uniform(0, 6, (n, 1, 1))) + 0.25 * np.cos(waves[:, 1] * v)
    )
    return np.clip(images, 0, 1)


def _noisy(n: int, size: int, rng: np.random.Generator) -> Bunch:
    clean = _smooth(n, size, rng)
    return Bunch(images=clean + 0.1 * rng.normal(size=clean.shape), clean=clean)


def _missing(n: int, size: int, rng: np.random.Generator) -> Bunch:
    clean = _smooth(n, size, rng)
    return Bunch(images=np.where(rng.random(clean.shape) < 1 / 3, np.nan, clean), clean=clean)
