"""Pictures of projections: spectra, scores with loadings, planes, images, latent maps, pairs of variates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scree(model: Any, ax: Axes | None = None, *, criterion: bool = False) -> Axes:
    """Draw the variance of every component, and on a second axis the share they explain together.

    Parameters
    ----------
    model : fitted PCA, or any model with `explained_variance_` or `eigenvalues_`
        Fit with all components to see the whole spectrum.
    ax : Axes, optional
        Where to draw.
    criterion : bool, default=False
        Mark the number of components with the smallest BIC of probabilistic PCA.

    Examples
    --------
    >>> from gnomon.decomposition import PCA
    >>> ax = scree(PCA().fit([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]))
    >>> ax.get_xlabel()
    'component'
    """
    values = np.asarray(getattr(model, "explained_variance_", getattr(model, "eigenvalues_", None)))
    shares = getattr(model, "explained_variance_ratio_", values / max(values.sum(), 1e-300))
    place = np.arange(1, len(values) + 1)
    ax = style.axes(ax, x="component", y="variance")
    ax.bar(place, values, color=style.color(0), width=0.8)
    other = ax.twinx()
    other.plot(place, np.cumsum(shares), "o-", color=style.color(1), markersize=3)
    other.set_ylim(0, 1.02)
    other.set_ylabel("share explained")
    other.spines[["top"]].set_visible(False)
    if criterion:
        from gnomon.decomposition._spectra import bic_rank

        best = bic_rank(np.asarray(model.covariance_eigenvalues_), float(model.n_samples_))
        ax.axvline(best + 0.5, color=style.QUIET, linestyle="--", label=f"BIC: {best}")
        ax.legend(frameon=False, loc="center right")
    return ax


def biplot(model: Any, X: Any, ax: Axes | None = None, *, y: Any = None, n: int = 12) -> Axes:
    """Draw the first two scores of the rows, and as arrows how much every column loads on them.

    Parameters
    ----------
    model : fitted projection with `transform` and `components_`
    X : array or DataFrame
        The rows.
    ax : Axes, optional
        Where to draw.
    y : array, optional
        Classes, for colors.
    n : int, default=12
        Arrows at most, the longest.

    Examples
    --------
    >>> from gnomon.decomposition import PCA
    >>> X = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 0.0], [-1.0, -1.0, 0.0]])
    >>> len(biplot(PCA(2).fit(X), X).texts)
    3
    """
    scores = np.asarray(model.transform(X))
    if scores.shape[1] < 2:
        raise ValueError("biplot needs a model with two components.")
    ax = style.axes(ax, x="component 1", y="component 2")
    labels = np.zeros(len(scores)) if y is None else np.asarray(y)
    for k, name in enumerate(np.unique(labels)):
        mine = labels == name
        ax.scatter(*scores[mine, :2].T, s=14, color=style.color(k), alpha=0.7, label=str(name), linewidths=0)
    loadings = np.asarray(model.components_)[:2].T
    scale = 0.8 * np.abs(scores[:, :2]).max() / max(float(np.linalg.norm(loadings, axis=1).max()), 1e-300)
    names = style.feature_names(model, X, len(loadings))
    shown = np.argsort(-np.linalg.norm(loadings, axis=1), kind="stable")[:n]
    tips = loadings[shown] * scale
    zero = np.zeros(len(tips))
    ax.quiver(zero, zero, *tips.T, angles="xy", scale_units="xy", scale=1, color=style.QUIET, width=0.004)
    for j, tip in zip(shown, tips):
        ax.text(*(1.08 * tip), names[j], ha="center", va="center", fontsize="small")
    if y is not None:
        ax.legend(frameon=False)
    return ax


def pca_plane(model: Any, X: Any, ax: Axes | None = None) -> Axes:
    """Draw a cloud of three columns with the plane of its first two components and the feet of the points on it.

    Parameters
    ----------
    model : fitted PCA of three columns
    X : array of shape (n, 3)
    ax : 3-D Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.decomposition import PCA
    >>> X = np.array([[1, 2, 0], [2, 1, 1], [3, 4, 1], [4, 3, 2.0]])
    >>> pca_plane(PCA(2).fit(X), X).name
    '3d'
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 3:
        raise ValueError(f"pca_plane shows three columns; X has {rows.shape[1]}.")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6, 5)).add_subplot(projection="3d")
    V, mean = np.asarray(model.components_)[:2], model.mean_
    scores = (rows - mean) @ V.T
    feet = scores @ V + mean
    a, b = (np.array(style.limits(scores[:, k])) for k in (0, 1))
    grid = mean + a[:, None, None] * V[0] + b[None, :, None] * V[1]
    ax.plot_surface(grid[..., 0], grid[..., 1], grid[..., 2], color=style.color(0), alpha=0.25)
    ax.scatter(*rows.T, color=style.color(1), s=14)
    for x, foot in zip(rows, feet):
        ax.plot(*np.stack([x, foot]).T, color=style.QUIET, linewidth=0.7)
    return ax


def forgotten_mean(X: Any, ax: Axes | None = None) -> Axes:
    """Draw two columns with their first principal axis, and with the axis found when the mean is not taken off.

    Parameters
    ----------
    X : array of shape (n, 2)
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> ax = forgotten_mean([[5.0, 5.2], [6.0, 5.9], [5.0, 6.1], [6.1, 5.0]])
    >>> [line.get_label() for line in ax.lines]
    ['centered', 'mean forgotten']
    """
    from gnomon.decomposition.pca import PCA

    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"forgotten_mean shows two columns; X has shape {rows.shape}.")
    ax = style.axes(ax, x="x0", y="x1")
    ax.scatter(*rows.T, s=14, color=style.QUIET, linewidths=0)
    size = float(np.abs(rows - rows.mean(axis=0)).max())
    for k, (name, center) in enumerate((("centered", True), ("mean forgotten", False))):
        model = PCA(1, center=center).fit(rows)
        middle = rows.mean(axis=0) if center else np.zeros(2)
        reach = size if center else float(np.linalg.norm(rows, axis=1).max())
        ends = middle + np.outer([-1 if center else 0, 1], model.components_[0]) * reach
        ax.plot(*ends.T, color=style.color(k), linewidth=2, label=name)
    ax.axis("equal")
    ax.legend(frameon=False)
    return ax


def latent_map(model: Any, X: Any, ax: Axes | None = None, *, y: Any = None, level: float = 0.5) -> Axes:
    """Draw the first two latent coordinates of rows, each with an ellipse that holds `level` of its belief.

    Parameters
    ----------
    model : fitted ProbabilisticPCA or FactorAnalysis
    X : array, with or without missing entries
    ax : Axes, optional
        Where to draw.
    y : array, optional
        Classes, for colors.
    level : float, default=0.5
        Probability within an ellipse.

    Examples
    --------
    >>> from gnomon.decomposition import ProbabilisticPCA
    >>> X = np.array([[1, 2, 0], [2, 1, 1], [3, 4, 1], [4, 3, 2], [5, np.nan, 0], [6, 5, 2.0]])
    >>> len(latent_map(ProbabilisticPCA(2, tol=1e-2).fit(X), X).patches)
    6
    """
    from matplotlib.patches import Ellipse

    means, covariances = model.posterior(X)
    if means.shape[1] < 2:
        raise ValueError("latent_map needs a model with two components.")
    ax = style.axes(ax, x="latent 1", y="latent 2")
    labels = (
        np.zeros(len(means), dtype=int) if y is None else np.unique(np.asarray(y), return_inverse=True)[1]
    )
    radius = np.sqrt(-2.0 * np.log(1.0 - level))
    for m, C, k in zip(means[:, :2], covariances[:, :2, :2], labels):
        values, vectors = np.linalg.eigh(C)
        size = 2 * radius * np.sqrt(np.maximum(values, 0.0))
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        ax.add_patch(
            Ellipse(m, size[1], size[0], angle=angle, color=style.color(int(k)), alpha=0.15, linewidth=0)
        )
    ax.scatter(*means[:, :2].T, s=12, color=[style.color(int(k)) for k in labels], linewidths=0)
    ax.autoscale_view()
    return ax


def kernel_coordinates(
    model: Any, X: Any, y: Any = None, ax: Axes | None = None, *, residual: bool = False, points: int = 80
) -> Axes:
    """Draw rows in the first two kernel coordinates, or the residual of a plane around them as a map.

    Parameters
    ----------
    model : fitted KernelPCA
    X : array
        The rows.
    y : array, optional
        Classes, for colors.
    ax : Axes, optional
        Where to draw.
    residual : bool, default=False
        Shade a grid of two columns by the distance from the principal subspace: a curved surface fit.
    points : int, default=80
        Of the grid along each side.

    Examples
    --------
    >>> from gnomon.decomposition import KernelPCA
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.1]])
    >>> kernel_coordinates(KernelPCA(2, kernel="rbf").fit(X), X).get_xlabel()
    'kernel component 1'
    """
    rows = np.asarray(X, dtype=np.float64)
    labels = np.zeros(len(rows)) if y is None else np.asarray(y)
    if residual:
        if rows.shape[1] != 2:
            raise ValueError(f"residual=True shades two columns; X has {rows.shape[1]}.")
        ax = style.axes(ax, x="x0", y="x1")
        a, b = (np.linspace(*style.limits(rows[:, j], 0.3), points) for j in (0, 1))
        grid = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
        ax.contourf(a, b, model.residual(grid).reshape(points, points), levels=20, cmap=style.SEQUENTIAL)
        shown = rows
    else:
        ax = style.axes(ax, x="kernel component 1", y="kernel component 2")
        shown = np.asarray(model.transform(rows))
        if shown.shape[1] < 2:
            raise ValueError("kernel_coordinates needs a model with two components.")
    for k, name in enumerate(np.unique(labels)):
        ax.scatter(*shown[labels == name, :2].T, s=14, color=style.color(k), label=str(name), linewidths=0)
    if y is not None:
        ax.legend(frameon=False)
    return ax


def canonical_pairs(model: Any, X: Any, Y: Any, ax: Axes | None = None, *, pair: int = 0) -> Axes:
    """Draw one pair of canonical variates against each other, with its correlation.

    Parameters
    ----------
    model : fitted CCA
    X, Y : arrays
        Both blocks.
    ax : Axes, optional
        Where to draw.
    pair : int, default=0
        Which pair.

    Examples
    --------
    >>> from gnomon.decomposition import CCA
    >>> X, Y = [[1, 2], [2, 1], [3, 5], [4, 3]], [[1, 0], [3, 1], [2, 2], [5, 1]]
    >>> canonical_pairs(CCA(1).fit(X, Y), X, Y).get_title()
    'correlation 1.000'
    """
    first, second = model.transform(X, Y)
    rho = float(np.corrcoef(first[:, pair], second[:, pair])[0, 1])
    ax = style.axes(
        ax, title=f"correlation {rho:.3f}", x=f"variate {pair + 1} of X", y=f"variate {pair + 1} of Y"
    )
    ax.scatter(first[:, pair], second[:, pair], s=16, color=style.color(0), linewidths=0)
    return ax


def nmf_update(X: Any, W: Any, H: Any, ax: Axes | None = None) -> Axes:
    """Draw the multiplicative update of W as boxes: W ∘ (X Hᵀ) / (W H Hᵀ), products beside element-wise signs.

    Parameters
    ----------
    X, W, H : arrays of shapes (n, p), (n, K), (K, p)
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> ax = nmf_update(np.ones((3, 4)), np.ones((3, 2)), np.ones((2, 4)))
    >>> [text.get_text() for text in ax.texts][:3]
    ['W', '∘', 'X Hᵀ']
    """
    X, W, H = (np.asarray(part, dtype=np.float64) for part in (X, W, H))
    top, bottom = X @ H.T, W @ (H @ H.T)
    parts = [("W", W), ("∘", None), ("X Hᵀ", top), ("/", None), ("W H Hᵀ", bottom), ("=", None)]
    parts.append(("new W", W * top / np.where(bottom == 0, 1.0, bottom)))
    ax = style.axes(ax, size=(8, 3))
    left, n = 0.0, len(W)
    for name, table in parts:
        if table is None:
            ax.text(left + 0.5, n / 2, name, ha="center", va="center", fontsize=14)
            left += 1.0
            continue
        k = table.shape[1]
        ax.imshow(table, extent=(left, left + k, n, 0), cmap=style.SEQUENTIAL, aspect="auto", vmin=0)
        ax.text(left + k / 2, -0.2, name, ha="center", va="bottom")
        left += k
    ax.set_xlim(-0.2, left + 0.2)
    ax.set_ylim(n + 0.2, -0.8)
    ax.set_axis_off()
    return ax
