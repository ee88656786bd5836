"""Pictures of linear classifiers: losses on one axis, margins, weight space, hulls, models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.regions import decision_regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loss_curves(
    losses: Any = None, ax: Axes | None = None, *, span: tuple[float, float] = (-3.0, 3.0)
) -> Axes:
    """Draw losses against the margin (or, for regression losses, the residual).

    Parameters
    ----------
    losses : sequence of losses, optional
        Of `gnomon.losses`; zero-one, perceptron, hinge, squared hinge, logistic and exponential by default.
    ax : matplotlib Axes, optional
    span : pair of float
        Left and right end of the axis.

    Returns
    -------
    matplotlib Axes
    """
    from gnomon import losses as catalog

    if losses is None:
        names = ("ZeroOne", "Perceptron", "Hinge", "SquaredHinge", "Logistic", "Exponential")
        losses = [getattr(catalog, name)() for name in names]
    margin = hasattr(losses[0], "on_margin")
    ax = style.axes(ax, x="margin y·f(x)" if margin else "residual", y="loss")
    grid = np.linspace(*span, 601)
    for rank, loss in enumerate(losses):
        values = loss.on_margin(grid) if hasattr(loss, "on_margin") else loss.value(0.0, -grid)
        ax.plot(grid, values, color=style.color(rank), label=type(loss).__name__)
    ax.set_ylim(-0.1, 4.1)
    ax.legend()
    return ax


def margin(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the boundary, both margin lines, the support vectors by type, and the slacks of a machine of two classes.

    For a kernel machine the lines are the curves where its decision is 0 and ±1. Rows on which a kernel perceptron made
    mistakes are circled, larger for more.

    Parameters
    ----------
    model : fitted classifier
        With `coef_` and `intercept_`, or `decision_function`, of two features; `point_types_`, `slack_` and
        `mistakes_` are used where it has them.
    X, y : arrays of shape (n, 2), (n,)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X, dtype=float)
    ax = decision_regions(model, X, y, ax=ax)
    limits = ax.get_xlim(), ax.get_ylim()
    straight = hasattr(model, "coef_")
    w = b = None
    if straight:
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        for level, line in ((0.0, "-"), (1.0, "--"), (-1.0, "--")):
            _line(ax, w, b - level, limits, line)
    else:
        _curves(ax, model, limits)
    types = getattr(model, "point_types_", None)
    if types is not None and len(types) == len(points):
        edge = {"on_margin": "black", "margin_error": "tab:red"}
        for kind, shade in edge.items():
            chosen = points[np.asarray(types) == kind]
            ax.scatter(*chosen.T, s=140, facecolors="none", edgecolors=shade, label=kind.replace("_", " "))
        if straight:
            _slacks(ax, points, np.asarray(y) == model.classes_[1], w, b)
        ax.legend()
    mistakes = np.asarray(getattr(model, "mistakes_", ()))
    if mistakes.shape == (len(points),) and mistakes.any():
        met = mistakes > 0
        ax.scatter(
            *points[met].T,
            s=60.0 + 40.0 * mistakes[met],
            facecolors="none",
            edgecolors="black",
            label="mistakes",
        )
        ax.legend()
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def _curves(ax, model, limits, resolution=150):
    """The curves where the decision of a kernel machine is −1, 0 and 1."""
    xs, ys = np.linspace(*limits[0], resolution), np.linspace(*limits[1], resolution)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(xs, ys)])
    found = np.asarray(model.decision_function(grid))
    if found.ndim != 1:
        raise DataError("margins are drawn for two classes; decision_regions draws more.")
    ax.contour(
        xs, ys, found.reshape(resolution, resolution), levels=[-1.0, 0.0, 1.0],
        colors="black", linestyles=["--", "-", "--"], linewidths=1,
    )  # fmt: skip


def _line(ax, w, b, limits, style_of_line, shade="black"):
    (left, right), (low, high) = limits
    if abs(w[1]) > abs(w[0]):
        xs = np.array([left, right])
        ax.plot(xs, -(w[0] * xs + b) / w[1], style_of_line, color=shade, linewidth=1)
    elif np.any(w):
        ys = np.array([low, high])
        ax.plot(-(w[1] * ys + b) / w[0], ys, style_of_line, color=shade, linewidth=1)


def _slacks(ax, points, positive, w, b):
    side = np.where(positive, 1.0, -1.0)
    short = 1.0 - side * (points @ w + b)
    for row in np.flatnonzero(short > 1e-6):
        foot = points[row] + side[row] * short[row] * w / (w @ w)
        ax.plot(*np.array([points[row], foot]).T, ":", color="tab:red", linewidth=1)


def weight_space(X: Any, y: Any, box: float = 2.0, axes: Any = None) -> Any:
    """Draw data space beside weight space: each row is a half-plane of weights, their intersection separates.

    Parameters
    ----------
    X, y : arrays of shape (n, 2), (n,)
        Two features, planes through the origin.
    box : float
        Weights are shown in the square |w_j| ≤ box.
    axes : pair of matplotlib Axes, optional

    Returns
    -------
    pair of matplotlib Axes
    """
    import matplotlib.pyplot as plt

    from gnomon.linear import feasible_region

    data, weights = plt.subplots(1, 2, figsize=(9, 4))[1] if axes is None else axes
    points, positive = np.asarray(X, dtype=float), np.asarray(y) == np.unique(y)[1]
    data.scatter(*points[positive].T, marker="o", color=style.color(0))
    data.scatter(*points[~positive].T, marker="s", color=style.color(1))
    data.plot(0, 0, "+", color="black")
    data.set_title("data")
    corners = feasible_region(X, y, box)
    for row, side in zip(points, positive):
        _line(
            weights,
            row if side else -row,
            0.0,
            ((-box, box), (-box, box)),
            "-",
            style.color(0 if side else 1),
        )
    if len(corners):
        weights.fill(*corners.T, alpha=0.3, color=style.color(2))
    weights.set(xlim=(-box, box), ylim=(-box, box), xlabel="w₀", ylabel="w₁", title="weights that separate")
    return data, weights


def compare_classifiers(models: Any, X: Any, y: Any, axes: Any = None) -> Any:
    """Draw the regions of several classifiers of two features in one row, each with its training error.

    Parameters
    ----------
    models : mapping of names to estimators, or a list of them
        They are fitted to the data if they are not yet.
    X, y : arrays of shape (n, 2), (n,)
    axes : sequence of matplotlib Axes, optional

    Returns
    -------
    array of matplotlib Axes
    """
    import matplotlib.pyplot as plt
    from sklearn.base import clone

    named = models if hasattr(models, "items") else {type(one).__name__: one for one in models}
    if axes is None:
        axes = plt.subplots(1, len(named), figsize=(4 * len(named), 3.6), squeeze=False)[1][0]
    for ax, (name, model) in zip(axes, named.items()):
        fitted = model if hasattr(model, "classes_") else clone(model).fit(X, y)
        decision_regions(fitted, X, y, ax=ax)
        ax.set_title(f"{name}: {np.mean(fitted.predict(X) != np.asarray(y)):.0%} wrong")
    return axes
