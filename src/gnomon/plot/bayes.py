"""Pictures of beliefs and classes: bars with names, densities of classes, the simplex, separating axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.validate import one_each
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bars(values: Any, names: Any = None, ax: Axes | None = None, *, n: int = 20, x_label: str = "") -> Axes:
    """Draw named numbers as bars, the largest magnitudes only: word weights, probabilities, importances.

    Parameters
    ----------
    values : array of shape (k,)
        The numbers; negative ones get the second color.
    names : sequence of str, optional
        What they belong to.
    ax : Axes, optional
        Where to draw.
    n : int, default=20
        How many at most; they keep their order.
    x_label : str, optional
        What the numbers are.

    Examples
    --------
    >>> ax = bars([0.2, -1.5, 0.7], ["you", "george", "free"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['you', 'george', 'free']
    """
    numbers = np.asarray(values, dtype=np.float64)
    labels = [str(i) for i in range(len(numbers))] if names is None else [str(name) for name in names]
    shown = np.sort(np.argsort(-np.abs(numbers), kind="stable")[:n])
    ax = style.axes(ax, x=x_label, size=(6, 0.3 * len(shown) + 1))
    place = np.arange(len(shown))
    ax.barh(place, numbers[shown], color=[style.color(int(numbers[i] < 0)) for i in shown])
    ax.set_yticks(place, [labels[i] for i in shown])
    ax.invert_yaxis()
    ax.axvline(0, color=style.QUIET, linewidth=0.8)
    return ax


def class_densities(model: Any, ax: Axes | None = None, *, x: Any = None) -> Axes:
    """Draw π_k p(x | k) of a generative classifier of one column, and shade what the best rule gets wrong.

    Parameters
    ----------
    model : fitted classifier with `joint_log_likelihood`
        Of a single column.
    ax : Axes, optional
        Where to draw.
    x : array, optional
        The grid; four deviations about the classes when not given.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    >>> len(class_densities(model).lines)
    2
    """
    if model.n_features_in_ != 1:
        raise ValueError(f"class_densities shows one column; the model has {model.n_features_in_}.")
    if x is None:
        mean, deviation = model.family_.mean()[:, 0], np.sqrt(model.family_.variance()[:, 0])
        x = np.linspace((mean - 4 * deviation).min(), (mean + 4 * deviation).max(), 400)
    grid = np.asarray(x, dtype=np.float64)
    joint = np.exp(model.joint_log_likelihood(grid[:, None]))
    ax = style.axes(ax, x="x", y="prior × density")
    for k, name in enumerate(model.classes_):
        ax.plot(grid, joint[:, k], color=style.color(k), label=str(name))
    lost = joint.sum(axis=1) - joint.max(axis=1)
    ax.fill_between(grid, lost, color=style.QUIET, alpha=0.5, label="Bayes error", linewidth=0)
    ax.legend(frameon=False)
    return ax


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def simplex(
    points: Any, names: Any = None, ax: Axes | None = None, *, corners: Any = ("1", "2", "3")
) -> Axes:
    """Draw distributions of three outcomes as points of a triangle; points off the simplex fall outside.

    Parameters
    ----------
    points : array of shape (m, 3)
        Rows that sum to one.
    names : sequence of str, optional
        Labels of the points.
    ax : Axes, optional
        Where to draw.
    corners : three str
        Names of the outcomes.

    Examples
    --------
    >>> ax = simplex([[0.2, 0.3, 0.5], [1, 0, 0]], ["a", "b"])
    >>> ax.collections[0].get_offsets().shape
    (2, 2)
    """
    rows = np.atleast_2d(np.asarray(points, dtype=np.float64))
    if rows.shape[1] != 3:
        raise ValueError(f"simplex shows distributions of three outcomes; got {rows.shape[1]}.")
    ax = style.axes(ax, size=(4.5, 4))
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=style.QUIET, linewidth=1)
    place = rows @ CORNERS
    ax.scatter(*place.T, color=[style.color(i) for i in range(len(rows))], zorder=3)
    for name, at in zip(names if names is not None else [], place, strict=False):
        ax.annotate(str(name), at, textcoords="offset points", xytext=(6, 4))
    for name, at, shift in zip(corners, CORNERS, [(-12, -6), (6, -6), (0, 6)], strict=True):
        ax.annotate(str(name), at, textcoords="offset points", xytext=shift, color=style.QUIET)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def projected_classes(X: Any, y: Any, axis: Any, ax: Axes | None = None, *, bins: int = 30) -> Axes:
    """Draw histograms of the classes along one axis: a Fisher axis, a difference of means, a weight vector.

    Parameters
    ----------
    X, y : arrays
        Rows and their classes.
    axis : array of shape (d,)
        The direction; its length does not matter.
    ax : Axes, optional
        Where to draw.
    bins : int, default=30
        Of each histogram.

    Examples
    --------
    >>> ax = projected_classes([[0.0, 1], [1, 0], [4, 5]], [0, 0, 1], [1, 1])
    >>> ax.get_xlabel()
    'projection'
    """
    direction = np.asarray(axis, dtype=np.float64)
    values = np.asarray(X, dtype=np.float64) @ (direction / np.linalg.norm(direction))
    labels = one_each(y, len(values))
    ax = style.axes(ax, x="projection", y="rows")
    edges = np.linspace(values.min(), values.max(), bins + 1)
    for k, name in enumerate(np.unique(labels)):
        ax.hist(values[labels == name], bins=edges, color=style.color(k), alpha=0.6, label=str(name))
    ax.legend(frameon=False)
    return ax
