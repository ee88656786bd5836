"""Generators of texts, series and pictures. The truth comes beside the data."""

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
