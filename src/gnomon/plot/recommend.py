"""Pictures of recommenders: the table with its holes, a map of items, and what the starts came to."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.ratings import read_ratings
from gnomon.plot.style import QUIET, SEQUENTIAL, axes, color


def rating_matrix(R: Any, model: Any = None, ax: Any = None, *, numbers: bool | None = None) -> Any:
    """Draw ratings as colored cells, blank where there are none; with a model the blanks are its predictions.

    Parameters
    ----------
    R : RatingMatrix, sparse matrix, or table with NaN
    model : fitted recommender, optional
        Cells that were rated get a frame then.
    ax : Axes, optional
    numbers : bool, optional
        Whether to write the ratings into the cells; by default when there are at most 150.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = rating_matrix([[5, np.nan], [1, 2]])
    >>> [text.get_text() for text in ax.texts]
    ['5', '1', '2']
    """
    ratings = read_ratings(R)
    if ratings.n_users * ratings.n_items > 4_000_000:
        raise DataError("the table is too large to draw; take some users and items of it.")
    table = ratings.to_dense()
    rated = ~np.isnan(table)
    if model is not None:
        table = np.where(rated, table, model.predict_matrix(ratings.user_names, ratings.item_names))
    ax = axes(ax, title="Ratings" if model is None else "Ratings, completed", x="item", y="user")
    picture = ax.imshow(np.ma.masked_invalid(table), cmap=SEQUENTIAL, aspect="auto")
    if table.size <= 150 if numbers is None else numbers:
        for a, i in zip(*np.nonzero(~np.isnan(table))):
            light = picture.norm(table[a, i]) > 0.6
            text = f"{table[a, i]:.3g}"
            ax.text(i, a, text, ha="center", va="center", color="black" if light else "white", fontsize=8)
    if model is not None and table.size <= 2500:
        from matplotlib.patches import Rectangle

        for a, i in zip(*np.nonzero(rated)):
            ax.add_patch(Rectangle((i - 0.5, a - 0.5), 1, 1, fill=False, edgecolor=color(1), linewidth=1.5))
    if ratings.n_users <= 40:
        ax.set_yticks(range(ratings.n_users), [str(name) for name in ratings.user_names])
    if ratings.n_items <= 40:
        turned = 45 if max(len(str(name)) for name in ratings.item_names) > 3 else 0
        names = [str(name) for name in ratings.item_names]
        ax.set_xticks(range(ratings.n_items), names, rotation=turned, ha="right" if turned else "center")
    ax.figure.colorbar(picture, ax=ax, label="rating")
    return ax


def item_map(model: Any, names: Any = None, ax: Any = None, *, users: bool = True) -> Any:
    """Draw items, and users, as points of the plane: their vectors on the two axes of largest spread of the items.

    A user likes what lies in the same direction.

    Parameters
    ----------
    model : fitted factorization
    names : sequence, optional
        Of the items; their ids by default, where there are at most 60.
    ax : Axes, optional
    users : bool
        Whether to draw the users too.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gnomon.recommend import MatrixFactorization
    >>> model = MatrixFactorization(2, random_state=0, iterations=300).fit(
    ...     [[5, 3, np.nan], [4, np.nan, 1], [1, 2, 5]]
    ... )
    >>> len(item_map(model).texts)
    3
    """
    where = model.item_map()
    ax = axes(ax, title="Map of items", x="first axis", y="second axis", size=(6, 5))
    if users:
        ax.scatter(*model.user_map().T, s=10, color=QUIET, marker="x", label="users")
    ax.scatter(*where.T, s=22, color=color(0), label="items")
    if names is None and len(where) <= 60:
        names = model.items_
    for point, name in zip(where, [] if names is None else names):
        ax.annotate(str(name), point, xytext=(3, 3), textcoords="offset points", fontsize=8)
    if users:
        ax.legend(frameon=False)
    return ax
