"""Neighbors: who decided about a query, and where they were wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def neighbors(
    model: Any,
    queries: Any,
    X: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    truth: Any = None,
    shape: Any = None,
) -> Any:
    """Draw queries and lines to the training rows that decide about them; or their mistakes, as pictures.

    Parameters
    ----------
    model : fitted estimator
        With ``kneighbors``.
    queries : array of shape (q, d)
        Rows to ask about.
    X : array of shape (n, d)
        The training rows, in the order of the fit.
    y : array of shape (n,), optional
        Their classes or values: the colors.
    ax : matplotlib Axes, optional
        For the plane of two columns.
    truth : array of shape (q,), optional
        The queries' own classes. Given, the mistakes alone are drawn.
    shape : pair of ints, optional
        Rows are images of this shape: every query is drawn with its neighbors beside it.

    Returns
    -------
    matplotlib Axes, or an array of them for images

    Examples
    --------
    >>> from gnomon.neighbors import NearestNeighbors
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    >>> ax = neighbors(NearestNeighbors(n_neighbors=2).fit(X), [[0.4, 0.1]], X)
    >>> len(ax.lines)
    2
    """
    queries, X = np.atleast_2d(np.asarray(queries, dtype=float)), np.asarray(X, dtype=float)
    if truth is not None:
        wrong = np.flatnonzero(np.asarray(model.predict(queries)) != np.asarray(truth))
        if not len(wrong):
            raise DataError("there is no mistake to draw: the model predicts every query right.")
        queries, truth = queries[wrong], np.asarray(truth)[wrong]
    rows = model.kneighbors(queries, return_distance=False)
    if shape is not None:
        return _gallery(model, queries, X, y, rows, truth, shape)
    if X.shape[1] != 2:
        raise DataError(
            f"the plane has two columns, X has {X.shape[1]}; give shape=(height, width) for images."
        )
    ax = style.axes(ax, x="x0", y="x1", size=(5.5, 4.5))
    _points(ax, X, y)
    for query, near in zip(queries, rows):
        for row in near:
            ax.plot([query[0], X[row, 0]], [query[1], X[row, 1]], color=style.QUIET, linewidth=0.9, zorder=1)
    ax.scatter(queries[:, 0], queries[:, 1], marker="*", s=120, color="black", zorder=4, label="query")
    return ax


def _points(ax: Axes, X: np.ndarray, y: Any) -> None:
    if y is None:
        ax.scatter(X[:, 0], X[:, 1], s=20, color=style.QUIET, zorder=2)
        return
    values = np.asarray(y)
    if values.dtype.kind == "f":
        ax.scatter(X[:, 0], X[:, 1], s=24, c=values, cmap=style.SEQUENTIAL, zorder=2)
        return
    for index, name in enumerate(np.unique(values)):
        mine = X[values == name]
        ax.scatter(mine[:, 0], mine[:, 1], s=24, color=style.color(index), label=str(name), zorder=2)
    ax.legend(frameon=False, fontsize="small")


def _gallery(
    model: Any, queries: np.ndarray, X: np.ndarray, y: Any, rows: np.ndarray, truth: Any, shape: Any
) -> Any:
    """Every query in a line of its own, with its neighbors; titles say the classes."""
    from matplotlib import pyplot

    count, k = min(len(queries), 8), min(rows.shape[1], 6)
    figure, axes = pyplot.subplots(count, k + 1, figsize=(1.1 * (k + 1), 1.35 * count), squeeze=False)
    figure.set_layout_engine("constrained")
    said = model.predict(queries[:count]) if hasattr(model, "predict") else None
    for i in range(count):
        titles = [_title(said, truth, i)] + [
            "" if y is None else str(np.asarray(y)[row]) for row in rows[i, :k]
        ]
        for ax, image, title in zip(axes[i], [queries[i], *X[rows[i, :k]]], titles):
            ax.imshow(np.reshape(image, shape), cmap="gray_r")
            ax.set_title(title, fontsize="small")
            ax.set(xticks=[], yticks=[])
    return axes


def _title(said: Any, truth: Any, i: int) -> str:
    if said is None:
        return "query"
    return f"{said[i]}" if truth is None else f"{truth[i]}, said {said[i]}"
