"""Pictures of clusterings: steps of k-means, cells, trees, spectra, and how many clusters there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.validate import matrix
from gnomon.plot.style import QUIET, SEQUENTIAL, axes, color, limits


def voronoi(model: Any, X: Any = None, ax: Any = None) -> Any:
    """Draw the cells of the centers of a fitted model in the plane, and the rows of X in their colors.

    Parameters
    ----------
    model : estimator with `cluster_centers_` of two columns
    X : array of shape (n_samples, 2), optional
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import KMeans
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    >>> len(voronoi(KMeans(2, random_state=0).fit(X), X).patches)
    2
    """
    from matplotlib.patches import Polygon

    from gnomon.cluster import voronoi_cells

    centers = np.asarray(model.cluster_centers_)
    points = centers if X is None else np.vstack([np.asarray(X, dtype=float), centers])
    box = (*limits(points[:, 0]), *limits(points[:, 1]))
    ax = axes(ax, title="Cells of the centers", x="x0", y="x1")
    for k, cell in enumerate(voronoi_cells(centers, box)):
        ax.add_patch(Polygon(cell, facecolor=color(k), alpha=0.18, edgecolor=QUIET, linewidth=1))
    if X is not None:
        labels = model.predict(X)
        ax.scatter(*np.asarray(X, dtype=float).T, s=14, c=[color(k) for k in labels])
    ax.scatter(*centers.T, marker="X", s=90, c=[color(k) for k in range(len(centers))], edgecolor="black")
    ax.set_xlim(*box[:2])
    ax.set_ylim(*box[2:])
    return ax


def kmeans_steps(model: Any, ax: Any = None) -> Any:
    """Draw the cost after every assignment and after every move of the centers; it never rises.

    For a film of the clusters themselves, draw `voronoi` for each model of ``KMeans(...).iterate(X)``.

    Parameters
    ----------
    model : fitted KMeans
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import KMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> kmeans_steps(KMeans(2, init=np.array([[0.0], [12.0]])).fit(X)).get_ylabel()
    'cost'
    """
    halves = np.asarray(model.half_steps_)
    ax = axes(ax, title="Half-steps of k-means", x="iteration", y="cost")
    steps = np.arange(1, len(halves) + 1)
    ax.plot(
        np.repeat(steps, 2) + np.tile([-0.25, 0.25], len(steps)), halves.ravel(), color=QUIET, linewidth=1
    )
    ax.scatter(steps - 0.25, halves[:, 0], color=color(0), label="after assignment", zorder=3)
    ax.scatter(steps + 0.25, halves[:, 1], color=color(1), label="after the means", zorder=3)
    ax.legend(frameon=False)
    return ax


def choose_k(result: Any, ax: Any = None) -> Any:
    """Draw the cost against k, the score that chose, and the choice.

    Parameters
    ----------
    result : ChooseK
        What `gnomon.cluster.choose_k` returned.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import choose_k as search
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> choose_k(search(X, [1, 2, 3], "mdl", random_state=0)).get_xlabel()
    'k'
    """
    ax = axes(ax, title="How many clusters", x="k", y="cost")
    ax.plot(result.k_values, result.costs, "o-", color=color(0), label="cost")
    ax.axvline(result.best_k, color=QUIET, linestyle="--", label=f"k = {result.best_k}")
    other = ax.twinx()
    other.spines[["top"]].set_visible(False)
    other.errorbar(
        result.k_values, result.scores, yerr=result.errors, fmt="s--", color=color(1), label="score"
    )
    other.set_ylabel("score")
    handles = [*ax.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
    ax.legend(handles, ["cost", f"k = {result.best_k}", "score"], frameon=False)
    return ax


def dendrogram(Z: Any, *, height: float | None = None, names: Any = None, ax: Any = None) -> Any:
    """Draw a tree of merges; with `height`, the line at which it is cut.

    Parameters
    ----------
    Z : array of shape (n_samples - 1, 4), or fitted AgglomerativeClustering
        What `gnomon.cluster.linkage` returned, or a model that has it in `linkage_matrix_`.
    height : float, optional
    names : sequence of str, optional
        Of the leaves.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import linkage
    >>> len(dendrogram(linkage(np.array([[0.0], [1.0], [3.0], [7.0]]))).lines)
    3
    """
    Z = _merges(Z)
    n = len(Z) + 1
    leaves = _leaf_order(Z)
    x, y = np.zeros(2 * n - 1), np.concatenate([np.zeros(n), Z[:, 2]])
    x[leaves] = np.arange(n)
    ax = axes(ax, title="Tree of merges", y="height")
    for s, (a, b) in enumerate(Z[:, :2].astype(int)):
        x[n + s] = (x[a] + x[b]) / 2
        above = height is not None and Z[s, 2] > height
        ax.plot([x[a], x[a], x[b], x[b]], [y[a], Z[s, 2], Z[s, 2], y[b]], color=QUIET if above else color(0))
    if height is not None:
        ax.axhline(height, color=color(1), linestyle="--")
    labels = leaves if names is None else [names[i] for i in leaves]
    ax.set_xticks(np.arange(n), [str(label) for label in labels] if n <= 40 else [""] * n)
    return ax


def _merges(Z: Any) -> Any:
    """Return a tree of merges as an array, from one or from a model."""
    if hasattr(Z, "fit") and not hasattr(Z, "linkage_matrix_"):
        raise DataError(
            f"dendrogram draws what gnomon.cluster.linkage returned, or a fitted AgglomerativeClustering; this "
            f"{type(Z).__name__} has no linkage_matrix_."
        )
    Z = matrix(getattr(Z, "linkage_matrix_", Z), name="Z")
    if Z.shape[1] != 4:
        raise DataError(
            f"Z must have 4 columns, as gnomon.cluster.linkage returns them; got shape {Z.shape}."
        )
    return Z


def _leaf_order(Z: Any) -> Any:
    """Leaves from left to right so that no branches cross."""
    n, order, waiting = len(Z) + 1, [], [2 * len(Z)]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            waiting += [int(Z[node - n, 1]), int(Z[node - n, 0])]
    return np.array(order)


def spectral(model: Any, what: str = "embedding", ax: Any = None) -> Any:
    """Draw one view of a spectral clustering.

    Parameters
    ----------
    model : fitted SpectralClustering
    what : {"embedding", "eigenvalues", "affinity", "fiedler"}, default="embedding"
        Rows of the second and third eigenvector; the spectrum with its gap; similarities sorted by label;
        the second eigenvector along the rows.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import SpectralClustering
    >>> model = SpectralClustering(2, random_state=0).fit(np.array([[0.0], [1.0], [4.0], [5.0]]))
    >>> spectral(model, "eigenvalues").get_ylabel()
    'eigenvalue'
    """
    E, labels = np.asarray(model.embedding_), np.asarray(model.labels_)
    shades = [color(k) for k in labels]
    if what == "eigenvalues":
        ax = axes(ax, title="Spectrum", x="number", y="eigenvalue")
        ax.plot(np.arange(1, len(model.eigenvalues_) + 1), model.eigenvalues_, "o-", color=color(0))
    elif what == "affinity":
        ax = axes(ax, title="Similarities, sorted by cluster")
        order = np.argsort(labels, kind="stable")
        K = model.affinity_matrix_
        K = K.toarray() if hasattr(K, "toarray") else K
        ax.imshow(K[np.ix_(order, order)], cmap=SEQUENTIAL)
    elif what == "fiedler":
        ax = axes(ax, title="Second eigenvector", x="row", y="value")
        ax.scatter(np.arange(len(E)), E[:, 1], c=shades, s=14)
        ax.axhline(0.0, color=QUIET, linewidth=1)
    elif what == "embedding":
        ax = axes(ax, title="Spectral embedding", x="eigenvector 2", y="eigenvector 3")
        ax.scatter(E[:, min(1, E.shape[1] - 1)], E[:, min(2, E.shape[1] - 1)], c=shades, s=14)
    else:
        raise ValueError(f"what={what!r} is not one of embedding, eigenvalues, affinity, fiedler.")
    return ax
