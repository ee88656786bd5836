"""Pictures of topics: words as bars, a document in colors, mixtures as stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def topics(
    model: Any,
    names: Any = None,
    ax: Axes | None = None,
    *,
    n: int = 8,
    documents: Any = None,
    document: Any = None,
) -> Axes:
    """Draw the likeliest words of every topic; or how documents divide among topics; or one document in colors.

    Parameters
    ----------
    model : fitted topic model with `components_`
    names : sequence of str, optional
        The words.
    ax : Axes, optional
        Where to draw.
    n : int, default=8
        Words a topic.
    documents : array or sparse matrix, optional
        Counts of documents whose shares are drawn as stacked bars.
    document : array, optional
        Counts of one document whose words are written in the color of their topic.

    Examples
    --------
    >>> from gnomon.topics import LatentDirichletAllocation
    >>> X = np.array([[4, 2, 0, 0], [0, 0, 3, 1]])
    >>> model = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> ax = topics(model, ["ball", "team", "vote", "law"], n=2)
    >>> len(ax.patches)
    4
    """
    table = np.asarray(getattr(model, "topic_word_", model.components_))
    words = [f"x{j}" for j in range(table.shape[1])] if names is None else [str(name) for name in names]
    if documents is not None:
        return _mixtures(model, documents, ax)
    if document is not None:
        return _document(model, document, words, ax)
    return _words(table / table.sum(axis=1, keepdims=True), words, ax, n)


def _words(table: np.ndarray, words: list[str], ax: Axes | None, n: int) -> Axes:
    K = len(table)
    n = min(n, table.shape[1])
    ax = style.axes(ax, size=(2.2 * K + 0.5, 0.3 * n + 1))
    top = float(table.max()) * 1.05
    for k, row in enumerate(table):
        best = np.argsort(-row, kind="stable")[:n]
        ax.barh(np.arange(n), row[best] / top, left=1.6 * k, color=style.color(k), alpha=0.45, height=0.85)
        for place, j in enumerate(best):
            ax.text(1.6 * k + 0.03, place, words[j], va="center", fontsize="small")
    ax.set_xticks([1.6 * k + 0.5 for k in range(K)], [f"topic {k}" for k in range(K)])
    ax.xaxis.tick_top()
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    ax.invert_yaxis()
    ax.set_xlim(-0.1, 1.6 * K)
    return ax


def _mixtures(model: Any, documents: Any, ax: Axes | None) -> Axes:
    shares = np.asarray(model.transform(documents), dtype=np.float64)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    ax = style.axes(ax, x="document", y="share of topics")
    below = np.zeros(len(shares))
    for k, column in enumerate(shares.T):
        ax.bar(
            np.arange(len(shares)), column, bottom=below, color=style.color(k), width=0.9, label=f"topic {k}"
        )
        below += column
    ax.legend(frameon=False, fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.15))
    return ax


def _document(model: Any, document: Any, words: list[str], ax: Axes | None) -> Axes:
    row = np.asarray(document.toarray() if hasattr(document, "toarray") else document, dtype=np.float64)
    row = row.reshape(1, -1)
    _, columns, shares = model.assign(row)
    ax = style.axes(ax, size=(7, 2.5))
    x, y = 0.0, 0.0
    for j, share in zip(columns, shares):
        text = words[j] if row[0, j] == 1 else f"{words[j]} ×{row[0, j]:g}"
        ax.text(x, y, text, color=style.color(int(np.argmax(share))), fontsize="medium")
        x += 0.022 * (len(text) + 2)
        if x > 0.9:
            x, y = 0.0, y - 1.0
    ax.set_xlim(0, 1)
    ax.set_ylim(y - 1, 1)
    ax.set_axis_off()
    return ax
