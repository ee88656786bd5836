"""Mixtures: components over the data, the bound of EM, and completed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mixture(
    model: Any, X: Any = None, ax: Axes | None = None, *, columns: tuple[int, int] = (0, 1), points: int = 400
) -> Axes:
    """Draw a fitted mixture: its density over one column, or its components over two.

    Rows are colored by their responsibilities; Gaussian components are ellipses of one and two standard
    deviations whose strength shows their weight, others are marked at their means.

    Parameters
    ----------
    model : fitted mixture
        With ``weights_`` and ``components_``.
    X : array-like (n, d), optional
        Rows to show.
    ax : matplotlib Axes, optional
        Where to draw.
    columns : pair of int
        The columns to show of models with more than two.
    points : int
        Where a density of one column is computed.

    Returns
    -------
    matplotlib Axes
    """
    if model.n_features_in_ == 1:
        return _one_column(model, X, ax, points)
    names = style.feature_names(model, X, model.n_features_in_)
    ax = style.axes(ax, x=names[columns[0]], y=names[columns[1]])
    if X is not None:
        _draw_rows(model, np.asarray(X, dtype=float), ax, list(columns))
    _draw_components(model, ax, list(columns))
    return ax


def _draw_rows(model: Any, X: np.ndarray, ax: Axes, columns: list[int]) -> None:
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(style.color(k)) for k in range(len(model.weights_))])
    ax.scatter(
        *X[:, columns].T, c=np.clip(model.predict_proba(X) @ palette, 0, 1), s=12, alpha=0.7, linewidths=0
    )


def _draw_components(model: Any, ax: Axes, columns: list[int]) -> None:
    family = model.components_
    means = family.mean()[:, columns]
    if hasattr(family, "marginal"):
        pair = family.marginal(columns)
        for level, width in ((0.393, 1.8), (0.865, 0.9)):  # one and two standard deviations
            for k, contour in enumerate(pair.ellipse(level)):
                strength = 0.3 + 0.7 * model.weights_[k] / model.weights_.max()
                ax.plot(*contour.T, color=style.color(k), linewidth=width, alpha=strength)
    ax.scatter(*means.T, marker="+", s=60, color=[style.color(k) for k in range(len(means))])


def _one_column(model: Any, X: Any, ax: Axes | None, points: int) -> Axes:
    family = model.components_
    spread = np.sqrt(family.variance()).ravel()
    means = family.mean().ravel()
    low, high = (means - 4 * spread).min(), (means + 4 * spread).max()
    ax = style.axes(ax, x=style.feature_names(model, X, 1)[0], y="density")
    values = None if X is None else np.asarray(X, dtype=float).ravel()
    counts = values is not None and np.array_equal(values, np.rint(values)) and not hasattr(family, "ellipse")
    grid = np.arange(max(0, np.floor(low)), high + 1) if counts else np.linspace(low, high, points)
    parts = family.density(grid[:, None]) * model.weights_
    if values is not None:
        bins = np.append(grid, grid[-1] + 1) - 0.5 if counts else "auto"
        ax.hist(values[~np.isnan(values)], bins=bins, density=True, color=style.QUIET, alpha=0.35)
    for k, part in enumerate(parts.T):
        ax.plot(grid, part, color=style.color(k), linewidth=1.2)
    ax.plot(grid, parts.sum(axis=1), color=style.QUIET, linewidth=2.2)
    return ax


def em_bound(theta: Any, log_likelihood: Any, log_joint: Any, at: float, ax: Axes | None = None) -> Axes:
    """Draw a log-likelihood over one parameter with the lower bound that EM raises, touching it at one point.

    Parameters
    ----------
    theta : array (m,)
        Values of the parameter.
    log_likelihood : function
        parameter -> ln L.
    log_joint : function
        parameter -> table ln p(x_i, k), shape (n, K).
    at : float
        The current parameter, where the E-step makes the bound touch.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax, x="parameter", y="log-likelihood")
    theta = np.asarray(theta, dtype=float)
    table = np.asarray(log_joint(at))
    q = np.exp(table - np.logaddexp.reduce(table, axis=1)[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(q > 0, q * np.log(q), 0.0).sum()
        bound = [np.where(q > 0, q * np.asarray(log_joint(t)), 0.0).sum() + entropy for t in theta]
    ax.plot(theta, [log_likelihood(t) for t in theta], color=style.color(0), label="log-likelihood")
    ax.plot(theta, bound, color=style.color(1), label="lower bound")
    ax.plot([at], [log_likelihood(at)], "o", color=style.color(1))
    ax.legend(frameon=False, fontsize="small")
    return ax


def imputed_matrix(model: Any, X: Any, ax: Axes | None = None) -> Axes:
    """Draw a completed table: standardized entries as colors, filled cells framed by how sure they are.

    Parameters
    ----------
    model : fitted MissingGaussian or GaussianMixture
        With ``posterior`` or ``impute_distribution``.
    X : array-like (n, d)
        Rows with NaN.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    from matplotlib.patches import Rectangle

    complete = getattr(model, "posterior", None) or getattr(model, "impute_distribution", None)
    if complete is None:
        raise DataError("imputed_matrix needs a model with posterior or impute_distribution.")
    holes = np.isnan(np.asarray(X, dtype=float))
    mean, covariance = complete(X)
    scale = mean.std(axis=0)
    scale[scale == 0] = 1.0
    ax = style.axes(ax, x="column", y="row")
    ax.imshow(
        (mean - mean.mean(axis=0)) / scale, cmap=style.DIVERGING, aspect="auto", interpolation="nearest"
    )
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)) / scale
    for i, j in np.argwhere(holes):
        width = 0.6 + 2.0 * min(deviation[i, j], 1.0)  # the thicker the frame, the less is known
        ax.add_patch(Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, linewidth=width))
    return ax
