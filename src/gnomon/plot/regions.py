"""The plane: what a model says at every point, and the shape of Gaussians."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^v<>P"


def decision_regions(
    model: Any, X: Any, y: Any = None, ax: Axes | None = None, *, resolution: int = 200, truth: Any = None
) -> Axes:
    """Draw what a model of two features predicts over the plane, and the data on top.

    A classifier's or a clustering's regions have one color each, the stronger the surer the model is (when it
    has ``predict_proba``), with lines where the decision changes. The prediction of a regression is a map.

    Parameters
    ----------
    model : fitted estimator
        With ``predict`` and two features.
    X : array-like (n, 2)
        The points to show; they also set the limits of the picture.
    y : array-like (n,), optional
        Their classes or values.
    ax : matplotlib Axes, optional
        Where to draw.
    resolution : int
        Number of grid lines in each direction.
    truth : callable, optional
        The best rule there is, from rows to classes; its border is drawn dashed over the regions.

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"decision_regions draws a plane: X must have two columns, not shape {points.shape}")
    names = style.feature_names(model, X, 2)
    ax = style.axes(ax, x=names[0], y=names[1], size=(5.5, 4.5))
    xs = np.linspace(*style.limits(points[:, 0]), resolution)
    ys = np.linspace(*style.limits(points[:, 1]), resolution)
    grid = _like(X, np.column_stack([axis.ravel() for axis in np.meshgrid(xs, ys)]))
    answer = np.asarray(_ask(model.predict, grid)).reshape(resolution, resolution)
    classes = _classes(model, answer, y)
    if classes is None:
        _draw_values(ax, xs, ys, answer, points, y)
    else:
        _draw_classes(ax, xs, ys, answer, _lead(model, grid, answer, classes), classes)
        _draw_points(ax, points, y, classes)
        if truth is not None:
            best = np.asarray(truth(grid)).reshape(resolution, resolution)
            for name in classes[1:]:
                look: dict[str, Any] = {
                    "colors": ["black"],
                    "linestyles": "--",
                    "linewidths": 1.2,
                    "zorder": 3,
                }
                ax.contour(xs, ys, (best == name).astype(float), levels=[0.5], **look)
    ax.set(xlim=(xs[0], xs[-1]), ylim=(ys[0], ys[-1]))
    return ax


def _like(X: Any, grid: np.ndarray) -> Any:
    """Return the grid as the kind of table X is, so that models that know feature names do not complain."""
    return type(X)(dict(zip(X.columns, grid.T))) if hasattr(X, "columns") else grid


def _ask(method: Any, grid: Any) -> Any:
    """Return what a model says of every point alone: to a model of sequences each is a sequence of its own."""
    of_sequences = "lengths" in inspect.signature(method).parameters
    return method(grid, lengths=np.ones(len(grid), dtype=int)) if of_sequences else method(grid)


def _classes(model: Any, answer: np.ndarray, y: Any) -> np.ndarray | None:
    """Return the labels, or None when the model predicts numbers."""
    known = getattr(model, "classes_", None)
    if known is not None:
        return np.asarray(known)
    if answer.dtype.kind == "f":
        return None
    return np.unique(answer if y is None or np.asarray(y).dtype != answer.dtype else np.append(answer, y))


def _lead(model: Any, grid: Any, answer: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return by how much every class leads over the next best: (classes, resolution, resolution) in [-1, 1].

    The differences of the probabilities, where the model has them and decides by them, else 1 and -1.
    """
    if hasattr(model, "predict_proba"):
        P = np.asarray(_ask(model.predict_proba, grid), dtype=float).T.reshape(-1, *answer.shape)
        if len(P) == len(classes) > 1 and (classes[P.argmax(axis=0)] == answer).mean() > 0.99:
            rest = np.array([np.delete(P, k, axis=0).max(axis=0) for k in range(len(P))])
            return P - rest
    return np.where(answer[None] == classes[:, None, None], 1.0, -1.0)


def _draw_classes(
    ax: Axes, xs: np.ndarray, ys: np.ndarray, answer: np.ndarray, lead: np.ndarray, classes: np.ndarray
) -> None:
    box = (xs[0], xs[-1], ys[0], ys[-1])
    for index, name in enumerate(classes):
        here = answer == name
        if here.any():
            layer = np.where(here, 0.12 + 0.33 * lead[index].clip(0, 1), 0.0)
            look: dict[str, Any] = {"cmap": style.color_map(index), "vmin": 0, "vmax": 1, "zorder": 0}
            ax.imshow(layer, origin="lower", extent=box, aspect="auto", **look)
        if here.any() and not here.all():
            ax.contour(xs, ys, lead[index], levels=[0.0], colors=[style.QUIET], linewidths=1, zorder=1)


def _draw_points(ax: Axes, points: np.ndarray, y: Any, classes: np.ndarray) -> None:
    size = 26 if len(points) <= 400 else 8
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], s=size, color=style.QUIET, zorder=2)
        return
    for index, name in enumerate(classes):
        mine = points[np.asarray(y) == name]
        look: dict[str, Any] = {
            "color": style.color(index),
            "marker": MARKERS[index % len(MARKERS)],
            "linewidths": 0.4,
        }
        ax.scatter(mine[:, 0], mine[:, 1], s=size, edgecolors="white", label=str(name), zorder=2, **look)
    if len(classes) <= 12:
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_values(
    ax: Axes, xs: np.ndarray, ys: np.ndarray, answer: np.ndarray, points: np.ndarray, y: Any
) -> None:
    values = answer if y is None else np.append(answer, np.asarray(y, dtype=float))
    look: dict[str, Any] = {"cmap": style.SEQUENTIAL, "vmin": values.min(), "vmax": values.max()}
    picture = ax.pcolormesh(xs, ys, answer, shading="auto", rasterized=True, **look)
    ax.figure.colorbar(picture, ax=ax, label="prediction")
    if y is not None:
        ax.scatter(
            points[:, 0], points[:, 1], c=y, s=26, edgecolors="white", linewidths=0.6, zorder=2, **look
        )


def ellipses(
    means: Any,
    covariances: Any,
    ax: Axes | None = None,
    *,
    covariance_type: str | None = None,
    levels: tuple[float, ...] = (1.0, 2.0),
) -> Axes:
    """Draw Gaussians in the plane: the mean of each and ellipses at so many standard deviations.

    Parameters
    ----------
    means : array-like (k, 2)
        One row per Gaussian.
    covariances : array-like
        (k, 2, 2) full, (2, 2) tied, (k, 2) diagonal, (k,) spherical: the forms of ``covariances_``.
    ax : matplotlib Axes, optional
        Where to draw.
    covariance_type : {"full", "tied", "diag", "spherical"}, optional
        Which form it is; needed only for two Gaussians with a (2, 2) array.
    levels : floats
        Standard deviations at which an ellipse is drawn.

    Returns
    -------
    matplotlib Axes
    """
    from matplotlib.patches import Ellipse

    means = np.asarray(means, dtype=float)
    if means.ndim != 2 or means.shape[1] != 2:
        raise DataError(f"ellipses are drawn in the plane: means must be (k, 2), not {means.shape}")
    ax = style.axes(ax, size=(5.5, 4.5))
    for index, (mean, covariance) in enumerate(zip(means, _full(covariances, len(means), covariance_type))):
        values, vectors = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        width, height = 2 * np.sqrt(np.maximum(values[::-1], 0.0))
        for level in levels:
            shape: dict[str, Any] = {"width": level * width, "height": level * height, "angle": angle}
            look: dict[str, Any] = {
                "edgecolor": style.color(index),
                "facecolor": "none",
                "linewidth": 1.5,
                "zorder": 3,
            }
            ax.add_patch(Ellipse(tuple(mean), **shape, **look))
        ax.plot(mean[0], mean[1], "+", color=style.color(index), markersize=9, markeredgewidth=2, zorder=3)
    ax.autoscale_view()
    return ax


def _full(covariances: Any, k: int, kind: str | None) -> np.ndarray:
    """Return (k, 2, 2) covariances from any of the four forms."""
    given = np.asarray(covariances, dtype=float)
    shapes = {"full": (k, 2, 2), "tied": (2, 2), "diag": (k, 2), "spherical": (k,)}
    fits = [name for name, shape in shapes.items() if given.shape == shape and kind in (None, name)]
    if len(fits) != 1:
        problem = "say which by covariance_type" if fits else f"it must be one of {shapes}"
        raise DataError(f"covariances of shape {given.shape} for {k} means: {problem}")
    if fits[0] == "tied":
        return np.broadcast_to(given, (k, 2, 2))
    if fits[0] == "full":
        return given
    return (given[:, None] if fits[0] == "spherical" else given)[:, :, None] * np.eye(2)
