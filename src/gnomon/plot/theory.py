"""Pictures of theory: labelings of points, boxes, supporting lines, growth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 32


def shatter_panels(concepts: Any, X: Any) -> Any:
    """Draw every labeling of a few points, with the region of a rule that gives it or a cross where none does.

    Parameters
    ----------
    concepts : ConceptClass
        Of points with one or two coordinates.
    X : array-like (m, 1) or (m, 2)
        At most five points.

    Returns
    -------
    array of matplotlib Axes
    """
    from matplotlib import pyplot

    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    m = len(X)
    if 2**m > MOST_PANELS or X.shape[1] > 2:
        raise DataError("panels are drawn for at most five points of one or two coordinates.")
    columns = min(8, 2**m)
    rows = -(-(2**m) // columns)
    grid = pyplot.subplots(
        rows, columns, figsize=(1.6 * columns, 1.7 * rows), squeeze=False, layout="constrained"
    )[1]
    flat = np.column_stack([X, np.zeros(m)]) if X.shape[1] == 1 else X
    span = style.limits(flat[:, 0], 0.3), style.limits(flat[:, 1], 0.3)
    u, v = np.meshgrid(np.linspace(*span[0], 60), np.linspace(*span[1], 60))
    places = np.column_stack([u.ravel(), v.ravel()])
    for k, ax in enumerate(grid.ravel()):
        labels = (k >> np.arange(m)) & 1
        rule = concepts.realize(X, labels)
        if rule is None:
            ax.plot([0, 1], [0, 1], color="tab:red", transform=ax.transAxes)
            ax.plot([0, 1], [1, 0], color="tab:red", transform=ax.transAxes)
        else:
            inside = concepts.predict(rule, places[:, : X.shape[1]]).reshape(u.shape)
            ax.contourf(u, v, inside, levels=[0.5, 1.5], colors=[style.color(0)], alpha=0.3)
        for label, marker in ((0, "o"), (1, "s")):
            ax.plot(*flat[labels == label].T, marker, color=style.color(1 - label), markersize=5)
        ax.set(xticks=[], yticks=[], xlim=span[0], ylim=span[1])
    return grid


def rectangles(game: Any, ax: Axes | None = None) -> Axes:
    """Draw the points of a rectangle game, the true box with its strips, and the learned one.

    Parameters
    ----------
    game : RectangleGame
        As `gnomon.theory.RectangleLearner.game` gives it, in the plane.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    from matplotlib.patches import Rectangle

    (low, high), (a, b) = game.rectangle, game.learned
    if len(low) != 2:
        raise DataError("boxes are drawn in the plane; the game has another dimension.")
    ax = style.axes(ax, size=(4.8, 4.6))
    inside = ((low <= game.points) & (game.points <= high)).all(axis=1)
    ax.plot(*game.points[inside].T, "s", color=style.color(0), markersize=4, label="positive")
    ax.plot(*game.points[~inside].T, "o", color=style.color(1), markersize=4, label="negative")
    ax.add_patch(Rectangle(low, *(high - low), fill=False, ec=style.QUIET, lw=2, label="true"))
    if np.isfinite(a).all():
        ax.add_patch(Rectangle(low, *(high - low), fc=style.color(3), alpha=0.25, lw=0, label="error"))
        ax.add_patch(
            Rectangle(a, *(b - a), fc=style.color(0), alpha=0.25, ec=style.color(0), lw=1, label="learned")
        )
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def duality(problem: Any, points: Any, mu: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the pairs (g(x), f(x)), the supporting line of slope −μ, the dual value, and the gap.

    Parameters
    ----------
    problem : ConstrainedProblem
        With one inequality.
    points : array-like (k, d) or (k,)
        Where to look.
    mu : float, optional
        The multiplier; the best one by default.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if len(problem.inequalities) != 1 or problem.equalities:
        raise DataError("the picture is that of one inequality.")
    points = np.asarray(points, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    g = np.array([problem.constraints(x)[1][0] for x in points])
    f = np.array([float(problem.objective(x)) for x in points])
    mu = float(problem.dual_optimum().mu[0]) if mu is None else float(np.ravel(mu)[0])
    theta = problem.dual_function(mu=[mu])
    allowed = g <= 1e-9
    if not allowed.any():
        raise DataError("none of the points satisfies the constraint.")
    best = float(f[allowed].min())
    value, x = problem.primal_optimum()  # the points may pass it by
    best = min(best, value) if problem.violation(x) <= 1e-6 else best
    ax = style.axes(ax, x="g(x)", y="f(x)")
    ax.plot(g, f, "o", color=style.QUIET, markersize=3)
    ax.plot(g[allowed], f[allowed], "o", color=style.color(0), markersize=3, label="allowed")
    span = np.array(style.limits(g))
    ax.plot(span, theta - mu * span, color=style.color(1), label=f"slope −{mu:.3g}, dual value {theta:.3g}")
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    ax.fill_between([-0.01 * np.ptp(span), 0.01 * np.ptp(span)], theta, best, color=style.color(3), alpha=0.6)
    ax.plot(0, theta, "v", color=style.color(1))
    ax.set_title(f"primal {best:.3g}, gap {best - theta:.3g}")
    ax.legend(frameon=False)
    return ax


def growth(concepts: Any, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the growth function beside 2^m, Sauer's sum, and its polynomial bound.

    Parameters
    ----------
    concepts : ConceptClass
        Of finite VC dimension.
    most : int
        Largest number of points.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    from gnomon.theory import sauer_bound

    d = concepts.vc_dimension
    if not np.isfinite(d):
        raise DataError("the VC dimension is infinite: the growth function is 2^m.")
    m = np.arange(1, most + 1)
    ax = style.axes(ax, x="points m", y="labelings", title=f"{concepts!r}: VC dimension {d:g}")
    ax.semilogy(m, 2.0**m, color=style.QUIET, label="2^m")
    ax.semilogy(
        m, [float(sauer_bound(int(d), int(k))) for k in m], "--", color=style.color(1), label="Sauer's sum"
    )
    large = m[m >= d]
    ax.semilogy(large, (np.e * large / d) ** d, ":", color=style.color(2), label="(em/d)^d")
    known = [(k, concepts.growth(int(k))) for k in m if concepts.growth(int(k)) is not None]
    ax.semilogy(*np.array(known, dtype=float).T, "o-", color=style.color(0), label="growth function")
    ax.legend(frameon=False)
    return ax
