"""Ratings: a small table of films, and ratings of any size with a known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import Seed, generator
from gnomon.core.ratings import RatingMatrix

_FILMS = ["Alien", "Amélie", "Blade Runner", "Jaws", "Notting Hill", "Paddington", "The Matrix", "Toy Story"]
_GENRES = ["science fiction", "romance", "family", "suspense"]
_FEATURES = [
    [1, 0, 0, 1],
    [0, 1, 0, 0],
    [1, 0, 0, 0],
    [0, 0, 0, 1],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [1, 0, 0, 1],
    [0, 0, 1, 0],
]
_RATINGS = [
    [5, 2, 5, 4, None, None, 5, 2],
    [4, None, 5, 4, 1, 2, None, 3],
    [1, 5, 2, None, 5, 4, 1, None],
    [None, 4, 1, 2, 5, 3, 2, 3],
    [2, 3, None, 1, 3, 5, 2, 5],
    [1, None, 2, 1, None, 5, 3, 4],
    [5, 1, 4, 5, 2, None, 4, None],
]


def films() -> Bunch:
    """Return seven viewers' ratings of eight films, one to five stars, with holes, and the films' genres.

    Three kinds of taste are in it: science fiction and suspense, romance, and films for families. There are ``ratings``
    (a `RatingMatrix` by viewer and title), ``features`` (title -> genres, 0 or 1), ``genres`` and ``DESCR``.

    >>> films().ratings
    RatingMatrix(44 ratings of 8 items by 7 users)
    >>> films().features["Jaws"]
    array([0., 0., 0., 1.])
    """
    cells = [(a, i, r) for a, row in enumerate(_RATINGS) for i, r in enumerate(row) if r is not None]
    users, items, values = zip(*[(f"viewer {a + 1}", _FILMS[i], r) for a, i, r in cells])
    return Bunch(
        ratings=RatingMatrix(users, items, values, scale=range(1, 6)),
        features={film: np.array(row, dtype=float) for film, row in zip(_FILMS, _FEATURES)},
        genres=list(_GENRES),
        DESCR="Made up for teaching: ratings of eight films by seven viewers, and the genres of the films.",
    )


def make_ratings(
    n_users: int = 100,
    n_items: int = 50,
    *,
    rank: int = 3,
    density: float = 0.2,
    noise: float = 0.3,
    scale: Any = None,
    popularity: float = 0.0,
    random_state: Seed = None,
) -> tuple[RatingMatrix, Array, Array]:
    """Make ratings of low rank: 3 + u·v + noise, with u·v of standard deviation 1.

    Parameters
    ----------
    n_users, n_items : int
        How many.
    rank : int
        Of the truth.
    density : float in (0, 1]
        Share of pairs that are rated, about.
    noise : float
        Standard deviation of the noise.
    scale : sequence of numbers, optional
        Ratings are rounded to the nearest of these.
    popularity : float
        Exponent of a power law: the i-th item is rated in proportion to (i + 1)^(−popularity).
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Returns
    -------
    R : RatingMatrix
    U, V : arrays of shape (n_users, rank) and (n_items, rank)
        The truth: 3 + U Vᵀ.

    Examples
    --------
    >>> R, U, V = make_ratings(20, 10, density=0.5, random_state=0)
    >>> R.n_users, R.n_items, 60 < R.n_ratings < 140
    (20, 10, True)
    """
    if not 0 < density <= 1:
        raise DataError(f"density must lie in (0, 1]; got {density}.")
    rng = generator(random_state)
    U, V = rng.normal(size=(n_users, rank)), rng.normal(size=(n_items, rank)) / np.sqrt(rank)
    weight = (1.0 + np.arange(n_items)) ** -float(popularity)
    wanted = round(density * n_users * n_items)
    if popularity == 0 and n_users * n_items <= 50_000_000:
        cells = rng.choice(n_users * n_items, size=wanted, replace=False)
    else:
        users = rng.integers(0, n_users, size=round(1.2 * wanted) + 10)
        items = rng.choice(n_items, size=len(users), p=weight / weight.sum())
        cells = rng.permutation(np.unique(users * np.int64(n_items) + items))[:wanted]
    users, items = np.divmod(np.sort(cells), n_items)
    values = 3 + np.einsum("ek,ek->e", U[users], V[items]) + noise * rng.normal(size=len(cells))
    if scale is not None:
        from gnomon.recommend import round_ratings

        values = round_ratings(values, scale)
    names = {"user_names": np.arange(n_users), "item_names": np.arange(n_items)}
    return RatingMatrix(users, items, values, **names), U, V
