"""Pictures of projections: spectra, and rows in their new coordinates in several ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import nearest
from gnomon.plot import style

KINDS = ("scores", "loadings", "belief", "residual", "plane", "mean", "pairs")

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
    shares = getattr(model, "explained_variance_ratio_", None)
    of = "share explained" if shares is not None else "share of the components shown"
    shares = values / max(values.sum(), 1e-300) if shares is None else shares
    place = np.arange(1, len(values) + 1)
    ax = style.axes(ax, x="component", y="variance")
    ax.bar(place, values, color=style.color(0), width=0.8)
    other = ax.twinx()
    other.plot(place, np.cumsum(shares), "o-", color=style.color(1), markersize=3)
    other.set_ylim(0, 1.02)
    other.set_ylabel(of)
    other.spines[["top"]].set_visible(False)
    if criterion:
        from gnomon.decomposition._spectra import bic_rank

        best = bic_rank(np.asarray(model.covariance_eigenvalues_), float(model.n_samples_))
        ax.axvline(best + 0.5, color=style.QUIET, linestyle="--", label=f"BIC: {best}")
        ax.legend(frameon=False, loc="center right")
    return ax


def embedding(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    kind: str = "scores",
    n: int = 12,
    level: float = 0.5,
    points: int = 80,
    pair: int = 0,
) -> Axes:
    """Draw rows in the first two coordinates of a projection, with what is to be seen about it.

    Parameters
    ----------
    model : fitted projection
        PCA, ProbabilisticPCA, FactorAnalysis, KernelPCA, CCA, NMF, ...: any model with `transform`.
    X : array or DataFrame
        The rows.
    y : array, optional
        Classes, for colors; with "pairs" the second block.
    ax : Axes, optional
        Where to draw; 3-D ones for "plane".
    kind : {"scores", "loadings", "belief", "residual", "plane", "mean", "pairs"}
        "scores": points alone. "loadings": with arrows for the columns (a biplot). "belief": each point with an
        ellipse that holds `level` of its posterior. "residual": two columns on a map of the distance to the kernel's
        subspace. "plane": three columns with the plane of the first two components. "mean": two columns with the first
        principal axis, and the one found where the mean is not taken off. "pairs": a pair of canonical variates.
    n : int, default=12
        Arrows at most, the longest.
    level : float, default=0.5
        Probability within an ellipse.
    points : int, default=80
        Of the map along each side.
    pair : int, default=0
        Which pair of variates.

    Examples
    --------
    >>> from gnomon.decomposition import PCA
    >>> X = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 0.0], [-1.0, -1.0, 0.0]])
    >>> len(embedding(PCA(2).fit(X), X, kind="loadings").texts)
    3
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.{nearest(kind, KINDS)}")
    if kind == "loadings":
        return _loadings(model, X, y, ax, n)
    if kind == "belief":
        return _belief(model, X, y, ax, level)
    if kind == "residual":
        return _residual(model, X, y, ax, points)
    if kind == "plane":
        return _plane(model, X, ax)
    if kind == "mean":
        return _mean(X, ax)
    if kind == "pairs":
        return _pair(model, X, y, ax, pair)
    return _points(_scores(model, X), y, style.axes(ax, x="component 1", y="component 2"))


def _scores(model: Any, X: Any) -> np.ndarray:
    scores = np.asarray(model.transform(X))
    if scores.shape[1] < 2:
        raise ValueError(f"embedding needs a model with two components; this one has {scores.shape[1]}.")
    return scores[:, :2]


def _points(shown: np.ndarray, y: Any, ax: Axes) -> Axes:
    labels = np.zeros(len(shown)) if y is None else np.asarray(y)
    for k, name in enumerate(np.unique(labels)):
        mine = labels == name
        ax.scatter(*shown[mine].T, s=14, color=style.color(k), alpha=0.7, label=str(name), linewidths=0)
    if y is not None:
        ax.legend(frameon=False)
    return ax


def _loadings(model: Any, X: Any, y: Any, ax: Axes | None, n: int) -> Axes:
    scores = _scores(model, X)
    ax = _points(scores, y, style.axes(ax, x="component 1", y="component 2"))
    loadings = np.asarray(model.components_)[:2].T
    scale = 0.8 * np.abs(scores).max() / max(float(np.linalg.norm(loadings, axis=1).max()), 1e-300)
    names = style.feature_names(model, X, len(loadings))
    shown = np.argsort(-np.linalg.norm(loadings, axis=1), kind="stable")[:n]
    tips = loadings[shown] * scale
    zero = np.zeros(len(tips))
    ax.quiver(zero, zero, *tips.T, angles="xy", scale_units="xy", scale=1, color=style.QUIET, width=0.004)
    for j, tip in zip(shown, tips):
        ax.text(*(1.08 * tip), names[j], ha="center", va="center", fontsize="small")
    return ax


def _residual(model: Any, X: Any, y: Any, ax: Axes | None, points: int) -> Axes:
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 2:
        raise ValueError(f"kind='residual' shades two columns; X has {rows.shape[1]}.")
    ax = style.axes(ax, x="x0", y="x1")
    a, b = (np.linspace(*style.limits(rows[:, j], 0.3), points) for j in (0, 1))
    grid = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
    ax.contourf(a, b, model.residual(grid).reshape(points, points), levels=20, cmap=style.SEQUENTIAL)
    return _points(rows, y, ax)


def _plane(model: Any, X: Any, ax: Axes | None) -> Axes:
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 3:
        raise ValueError(f"kind='plane' shows three columns; X has {rows.shape[1]}.")
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


def _mean(X: Any, ax: Axes | None) -> Axes:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"kind='mean' shows two columns; X has shape {rows.shape}.")
    ax = style.axes(ax, x="x0", y="x1")
    ax.scatter(*rows.T, s=14, color=style.QUIET, linewidths=0)
    size = float(np.abs(rows - rows.mean(axis=0)).max())
    for k, (name, center) in enumerate((("centered", True), ("mean forgotten", False))):
        middle = rows.mean(axis=0) if center else np.zeros(2)
        first = np.linalg.svd(rows - middle, full_matrices=False)[2][0]
        first = first if first @ rows.mean(axis=0) >= 0.0 else -first
        reach = size if center else float(np.linalg.norm(rows, axis=1).max())
        ends = middle + np.outer([-1 if center else 0, 1], first) * reach
        ax.plot(*ends.T, color=style.color(k), linewidth=2, label=name)
    ax.axis("equal")
    ax.legend(frameon=False)
    return ax


def _belief(model: Any, X: Any, y: Any, ax: Axes | None, level: float) -> Axes:
    from matplotlib.patches import Ellipse

    means, covariances = model.posterior(X)
    if means.shape[1] < 2:
        raise ValueError("embedding needs a model with two components.")
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


def _pair(model: Any, X: Any, Y: Any, ax: Axes | None, pair: int) -> Axes:
    first, second = model.transform(X, Y)
    rho = float(np.corrcoef(first[:, pair], second[:, pair])[0, 1])
    ax = style.axes(
        ax, title=f"correlation {rho:.3f}", x=f"variate {pair + 1} of X", y=f"variate {pair + 1} of Y"
    )
    ax.scatter(first[:, pair], second[:, pair], s=16, color=style.color(0), linewidths=0)
    return ax


def multiplicative_update(X: Any, W: Any, H: Any, ax: Axes | None = None) -> Axes:
    """Draw the multiplicative update of W as boxes: W ∘ (X Hᵀ) / (W H Hᵀ), products beside element-wise signs."""
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
