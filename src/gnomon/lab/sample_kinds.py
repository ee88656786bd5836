"""Sequences, pictures, ratings, graphs and worlds; as in `sample_rows`, arguments are sliders and the source is code.

Each returns what `iterate` is given, in order. The functions stand alone (imports inside), because the page shows
their source as the first lines of the program that gives the same run.
"""

from __future__ import annotations

from typing import Any


def regimes(n: int = 150, noise: float = 0.7, seed: int = 0) -> Any:
    """One long sequence that stays in one of three states for a while."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (np.array([-3.0, 0.0, 3.0])[np.arange(n) // 15 % 3][:, None] + noise * rng.normal(size=(n, 1)),)


def casino(n: int = 200, seed: int = 0) -> Any:
    """A casino that changes its die now and then."""
    from gnomon.datasets import make_casino

    return (make_casino(n, random_state=seed)[0].reshape(-1, 1),)


def count_regimes(n: int = 150, seed: int = 0) -> Any:
    """Counts whose rate changes every now and then."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (rng.poisson(1 + 7 * (np.arange(n) // 15 % 3))[:, None].astype(float),)


def trial_regimes(n: int = 90, seed: int = 0) -> Any:
    """Eight balls in four boxes, with shares that change."""
    import numpy as np

    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(4), size=3)[np.arange(n) // 10 % 3]
    return (np.array([rng.multinomial(8, share) for share in shares], dtype=float),)


def faces(n: int = 200, seed: int = 0) -> Any:
    """Small pictures with and without a face."""
    from gnomon.datasets import make_face_patches

    return make_face_patches(n, window=12, random_state=seed)


def walk(n: int = 60, seed: int = 0) -> Any:
    """The steps of a walker in the plane, seen with noise."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return (np.cumsum(rng.normal(size=(n, 2)), axis=0) + 0.5 * rng.normal(size=(n, 2)),)


def journeys(n: int = 20, seed: int = 0) -> Any:
    """Readings of a robot in a corridor, and the moves between them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return ([(rng.integers(0, 2, size=6), rng.integers(0, 2, size=5)) for _ in range(n)],)


def labeled_sequences(n: int = 24, seed: int = 0) -> Any:
    """Short sequences of numbers, each with a name."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return [rng.normal(2.0 * label, size=(8, 2)) for label in y], y


def summed_sequences(n: int = 24, seed: int = 0) -> Any:
    """Short sequences of numbers, and the sum of each."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(4 + i % 3, 2)) for i in range(n)]
    return X, np.array([x.sum() for x in X])


def songs(n: int = 24, seed: int = 0) -> Any:
    """Sequences of vectors, of a few lengths."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return ([rng.normal(3.0 * (i % 3), size=(5 + i % 4, 2)) for i in range(n)],)


def letters(n: int = 30, seed: int = 0) -> Any:
    """Sequences of letters that like to repeat."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return ([list("abc" * 3 if rng.random() < 0.5 else "cab" * 3) for _ in range(n)],)


def tagged_sentences(n: int = 30, seed: int = 0) -> Any:
    """Four words each, and their parts of speech."""
    import numpy as np

    rng = np.random.default_rng(seed)
    words = {"D": ["a", "the"], "N": ["dog", "cat", "bird"], "V": ["sees", "barks", "runs"]}
    tags = [["D", "N", "V", "N"] if rng.random() < 0.5 else ["N", "V", "D", "N"] for _ in range(n)]
    return [[str(rng.choice(words[tag])) for tag in sentence] for sentence in tags], tags


def spoken_words(repeats: int = 5, seed: int = 0) -> Any:
    """Two words, spoken a few times."""
    from gnomon.datasets import make_toy_words

    return make_toy_words(["one", "two"], repeats, random_state=seed)


def copies(n: int = 16, seed: int = 0) -> Any:
    """Bits to say again."""
    from gnomon.datasets import make_copy_task

    return make_copy_task(n, 2, 2, random_state=seed)


def bars(n: int = 90, noise: float = 0.2, seed: int = 0) -> Any:
    """Small pictures of three kinds: a bright row, a bright column, or neither."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X, y = noise * rng.normal(size=(n, 6, 6)), rng.permutation(np.arange(n) % 3)
    for image, label, at in zip(X, y, rng.integers(0, 6, size=n)):
        image[at, :] += label == 1
        image[:, at] += label == 2
    return X, y


def measured_bars(n: int = 90, seed: int = 0) -> Any:
    """Small pictures, and how bright each is."""
    import numpy as np

    X = np.random.default_rng(seed).gamma(1.0, size=(n, 6, 6))
    return X, X.mean(axis=(1, 2))


def ratings(n: int = 200, seed: int = 0) -> Any:
    """Who rated which film how."""
    import numpy as np

    rng = np.random.default_rng(seed)
    cells = rng.permutation(12 * (n // 6 + 2))[:n]
    pairs = np.column_stack([cells // 12, cells % 12])
    tastes = rng.normal(size=(2, n + 12, 2))
    y = 3 + (tastes[0][pairs[:, 0]] * tastes[1][pairs[:, 1]]).sum(axis=1)
    return pairs, np.clip(np.round(2 * y) / 2, 0.5, 5)


def baskets(n: int = 60, seed: int = 0) -> Any:
    """Baskets of a few things."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return ([list(rng.choice(list("abcdef"), size=rng.integers(1, 5), replace=False)) for _ in range(n)],)


def games(n: int = 40, seed: int = 0) -> Any:
    """Who played whom, and the points."""
    import numpy as np

    rng = np.random.default_rng(seed)
    pairs = [rng.choice(6, size=2, replace=False) for _ in range(n)]
    return (
        [(f"team {a}", f"team {b}", int(rng.poisson(20 + a)), int(rng.poisson(20 + b))) for a, b in pairs],
    )


def ring_of_factors(n: int = 6, strength: float = 0.6, seed: int = 0) -> Any:
    """Variables in a ring that like to agree with their neighbors."""
    import numpy as np

    from gnomon.graphical import Factor

    rng = np.random.default_rng(seed)
    agree = np.exp(strength * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    pairs = [Factor((f"v{i}", f"v{(i + 1) % n}"), agree) for i in range(n)]
    return ([*pairs, *[Factor((f"v{i}",), rng.uniform(0.5, 1.5, size=2)) for i in range(n)]],)


def coin(heads: float = 0.3) -> Any:
    """A coin that shows heads so often."""
    from scipy.stats import bernoulli

    return (bernoulli(heads),)


def throws(n: int = 60, heads: float = 0.3, seed: int = 0) -> Any:
    """Throws of a coin: 1 is heads."""
    import numpy as np

    return ((np.random.default_rng(seed).random((n, 1)) < heads).astype(int),)


def small_grid(slip: float = 0.1, living_reward: float = -0.04) -> Any:
    """The classic grid of three by four: a wall, a goal and a pit."""
    from gnomon.decide import GridWorld

    return (
        GridWorld(
            (3, 4),
            walls=[(1, 1)],
            terminals={(0, 3): 1.0, (1, 3): -1.0},
            living_reward=living_reward,
            move_probability=1 - 2 * slip,
            slip_probability=slip,
            start=(2, 0),
            discount=0.99,
        ),
    )


def cliff(slip: float = 0.05) -> Any:
    """A walk along a cliff."""
    from gnomon.decide import GridWorld

    return (
        GridWorld(
            (4, 8),
            terminals={(3, 7): 10.0, **{(3, j): -10.0 for j in range(1, 7)}},
            living_reward=-0.2,
            move_probability=1 - 2 * slip,
            slip_probability=slip,
            start=(3, 0),
            discount=0.97,
        ),
    )
