"""Tables for learners from rows: small functions; their arguments are sliders, their source is code to take away.

Each returns what `iterate` is given, in order. The functions stand alone (imports inside), because the page shows
their source as the first lines of the program that gives the same run.
"""

from __future__ import annotations

from typing import Any


def moons(n: int = 200, noise: float = 0.2, seed: int = 0) -> Any:
    """Two half moons."""
    from sklearn.datasets import make_moons

    return make_moons(n, noise=noise, random_state=seed)


def blobs(n: int = 200, groups: int = 3, spread: float = 1.0, seed: int = 0) -> Any:
    """Round clouds, and which one a point is from."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, centers=groups, cluster_std=spread, random_state=seed)


def rings(n: int = 200, noise: float = 0.08, seed: int = 0) -> Any:
    """One ring inside another."""
    from sklearn.datasets import make_circles

    return make_circles(n, noise=noise, factor=0.45, random_state=seed)


def quadrants(n: int = 200, noise: float = 0.1, seed: int = 0) -> Any:
    """Opposite quadrants of a square have the same class."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X + noise * rng.normal(size=X.shape), y


def two_clouds(n: int = 120, distance: float = 3.0, seed: int = 0) -> Any:
    """Two clouds that a line may or may not part."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + distance * (y[:, None] - 0.5) * [1.0, 0.6], y


def iris() -> Any:
    """Fisher's irises: length and width of the petals."""
    from sklearn.datasets import load_iris

    flowers = load_iris()
    return flowers.data[:, 2:], flowers.target


def digits(n: int = 300) -> Any:
    """Handwritten digits of eight by eight pixels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:n] / 16, y[:n]


def digit_pictures(n: int = 200) -> Any:
    """Handwritten digits without their names."""
    from sklearn.datasets import load_digits

    return (load_digits().data[:n] / 16,)


def rectangle(n: int = 100, seed: int = 0) -> Any:
    """Points inside a rectangle are positive."""
    import numpy as np

    X = np.random.default_rng(seed).uniform(0, 1, size=(n, 2))
    return X, ((X > [0.2, 0.3]) & (X < [0.7, 0.8])).all(axis=1).astype(int)


def bits(n: int = 60, columns: int = 5, seed: int = 0) -> Any:
    """Rows of bits; the first must be 1 and the second 0."""
    import numpy as np

    X = np.random.default_rng(seed).integers(0, 2, size=(n, columns))
    return X, (X[:, 0] == 1) & (X[:, 1] == 0)


def wave(n: int = 80, noise: float = 0.2, seed: int = 0) -> Any:
    """A sine curve with noise."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, size=(n, 1)), axis=0)
    return X, np.sin(X[:, 0]) + noise * rng.normal(size=n)


def line(n: int = 40, noise: float = 0.5, outlier: float = 8.0, seed: int = 0) -> Any:
    """A straight line, and one point that is far off."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, size=(n, 1)), axis=0)
    y = 1 + 0.8 * X[:, 0] + noise * rng.normal(size=n)
    y[-1] += outlier
    return X, y


def positive_wave(n: int = 80, seed: int = 0) -> Any:
    """Counts whose rate grows and falls."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 3, size=(n, 1)), axis=0)
    return X, 1.0 + rng.poisson(np.exp(0.3 + 0.6 * X[:, 0]))


def sparse_line(n: int = 60, columns: int = 12, noise: float = 0.5, seed: int = 0) -> Any:
    """Many columns, of which three count."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, 3 * X[:, 0] - 2 * X[:, 1] + X[:, 2] + noise * rng.normal(size=n)


def geyser() -> Any:
    """Old Faithful: how long an eruption lasts, and how long one waits for the next."""
    from gnomon.datasets import load_old_faithful

    return (load_old_faithful().data,)


def clouds(n: int = 300, groups: int = 3, spread: float = 1.0, seed: int = 0) -> Any:
    """Round clouds without names."""
    from sklearn.datasets import make_blobs

    return (make_blobs(n, centers=groups, cluster_std=spread, random_state=seed)[0],)


def stretched_clouds(n: int = 300, seed: int = 0) -> Any:
    """Three clouds that are longer than wide."""
    import numpy as np
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(n, centers=3, random_state=seed)
    return (X @ np.array([[0.6, -0.6], [-0.4, 0.8]]),)


def rings_without_names(n: int = 200, noise: float = 0.05, seed: int = 0) -> Any:
    """One ring inside another, without names."""
    from sklearn.datasets import make_circles

    return (make_circles(n, noise=noise, factor=0.45, random_state=seed)[0],)


def plane_in_space(n: int = 200, columns: int = 6, noise: float = 0.3, seed: int = 0) -> Any:
    """Columns that are nearly sums of two hidden ones."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, 2)) * [3.0, 1.5] @ rng.normal(size=(2, columns))
        + noise * rng.normal(size=(n, columns)),
    )


def two_views(n: int = 100, seed: int = 0) -> Any:
    """Two views of the same hidden number."""
    import numpy as np

    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 1))
    return hidden + rng.normal(size=(n, 3)), hidden + rng.normal(size=(n, 2))


def holes(n: int = 120, missing: float = 0.2, seed: int = 0) -> Any:
    """Three columns that hang together, with entries missing."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.8, 0.3], [0.0, 0.6, 0.5], [0.0, 0.0, 0.4]])
    X[rng.random(X.shape) < missing] = np.nan
    return (X,)


def positive_parts(n: int = 80, seed: int = 0) -> Any:
    """Sums of two bars on a grid of four by four."""
    import numpy as np

    rng = np.random.default_rng(seed)
    parts = np.zeros((4, 4, 4))
    parts[0, 0], parts[1, 2], parts[2, :, 1], parts[3, :, 3] = 1, 1, 1, 1
    return (rng.gamma(1.0, size=(n, 4)) @ parts.reshape(4, 16),)


def categories(n: int = 150, columns: int = 3, seed: int = 0) -> Any:
    """Codes 0 to 3 in every column, and three classes that prefer some of them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = (y[:, None] + rng.integers(0, 3, size=(n, columns)) * rng.integers(0, 2, size=(n, columns))) % 4
    return X.astype(float), y


def codes(n: int = 150, columns: int = 4, seed: int = 0) -> Any:
    """Codes that follow from each other, column by column, most of the time."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = np.empty((n, columns))
    X[:, 0] = rng.integers(0, 3, size=n)
    for j in range(1, columns):
        X[:, j] = np.where(rng.random(n) < 0.75, X[:, j - 1], rng.integers(0, 3, size=n))
    return (X,)


def bernoulli_groups(n: int = 150, columns: int = 6, seed: int = 0) -> Any:
    """Bits of three groups with preferences of their own."""
    import numpy as np

    rng = np.random.default_rng(seed)
    chances = rng.beta(0.5, 0.5, size=(3, columns))
    return ((rng.random((n, columns)) < chances[np.arange(n) % 3]).astype(float),)


def coin_triples(n: int = 200, seed: int = 0) -> Any:
    """Heads in ten throws, of two coins that nobody sees."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (rng.binomial(10, np.where(rng.random(n) < 0.4, 0.3, 0.8)).astype(float)[:, None],)


def waiting_times(n: int = 200, seed: int = 0) -> Any:
    """Waiting times of two kinds."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (rng.exponential(np.where(rng.random(n) < 0.5, 1.0, 8.0))[:, None],)


def count_groups(n: int = 150, seed: int = 0) -> Any:
    """Counts of three groups, in two columns."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (rng.poisson(np.array([[2, 9], [8, 2], [14, 12]])[np.arange(n) % 3]).astype(float),)


def word_counts(n: int = 60, words: int = 12, seed: int = 0) -> Any:
    """Documents about one of three subjects, as counts of words."""
    import numpy as np

    rng = np.random.default_rng(seed)
    subjects = rng.dirichlet(np.full(words, 0.3), size=3)
    return (np.array([rng.multinomial(30, subjects[i % 3]) for i in range(n)], dtype=float),)


def stories(n: int = 60, length: int = 20, seed: int = 0) -> Any:
    """Short stories of the sea, the kitchen and the stadium, as counts of twelve words."""
    import numpy as np

    rng = np.random.default_rng(seed)
    subjects = 0.02 + 0.23 * np.repeat(np.eye(3), 4, axis=1)  # four words of every subject
    mixed = rng.dirichlet(np.full(3, 0.2), size=n) @ subjects
    return (np.array([rng.multinomial(length, p / p.sum()) for p in mixed], dtype=float),)


def labeled_counts(n: int = 90, words: int = 8, seed: int = 0) -> Any:
    """Counts of words, and which of three subjects a document is about."""
    import numpy as np

    rng = np.random.default_rng(seed)
    subjects, y = rng.dirichlet(np.full(words, 0.5), size=3), np.arange(n) % 3
    return np.array([rng.multinomial(20, subjects[label]) for label in y], dtype=float), y


def labeled_bits(n: int = 120, columns: int = 6, seed: int = 0) -> Any:
    """Bits with preferences, and their group."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return (rng.random((n, columns)) < rng.beta(0.5, 0.5, size=(2, columns))[y]).astype(float), y


def half_labeled(n: int = 200, labeled: int = 10, seed: int = 0) -> Any:
    """Two clouds with a few names; -1 is no name."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 3.0 * y[:, None]
    return X, np.where(np.arange(n) < labeled, y, -1)
