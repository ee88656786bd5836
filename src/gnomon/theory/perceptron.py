"""How many mistakes the perceptron can make: the bound of the convergence theorem, and the worst order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, matrix, vector

MOST_ROWS = 10  # of an exhaustive search over orders
MOST_STATES = 1_000_000  # weights met in such a search


class Progress(NamedTuple):
    """The quantities of the proof after every mistake, and the curves between which they must lie."""

    projection: Array  # θ⁽ᵏ⁾·θ*/‖θ*‖
    norm: Array  # ‖θ⁽ᵏ⁾‖
    floor: Array  # a + kγ, which the projection never goes below
    ceiling: Array  # √(‖θ⁽⁰⁾‖² + kR²), which the norm never exceeds
    cosine: Array  # projection over norm


class MistakeSequence(NamedTuple):
    """An order of rows on which every visit is a mistake."""

    rows: list[int]
    coef: Array  # weights after it
    complete: bool  # whether no longer one exists; False: the search ended at max_updates


class PerceptronBound(NamedTuple):
    """Radius and margin of the rows, and the number of mistakes they allow."""

    radius: float
    margin: float
    bound: float
    direction: Array  # θ*/‖θ*‖, the offset last if there is one
    start: Array  # θ⁽⁰⁾
    rows: Array  # y_i (x_i, 1), all that the perceptron sees of the data

    def progress(self, path: Any) -> Progress:
        """Follow the proof along a run: weights after each mistake, one row a mistake, the offset last.

        A `Perceptron` with ``keep_log=True`` keeps them in `mistake_log_`.
        """
        path = np.asarray(matrix(path), dtype=float)
        k = np.arange(1, len(path) + 1)
        projection, norm = path @ self.direction, np.linalg.norm(path, axis=1)
        cosine = np.divide(projection, norm, out=np.zeros_like(norm), where=norm > 0)
        floor = self.start @ self.direction + k * self.margin
        return Progress(
            projection, norm, floor, np.sqrt(self.start @ self.start + k * self.radius**2), cosine
        )

    def longest_mistake_sequence(self, max_updates: int = 100) -> MistakeSequence:
        """Find the order of presentation that makes the perceptron err the longest, by exhaustive search.

        All weights that k mistakes can lead to are kept, for k = 1, 2, …; different orders that lead to the same
        weights are one. The search ends, at or before the `bound`.

        Parameters
        ----------
        max_updates : int, default=100
            Where to stop.

        Returns
        -------
        MistakeSequence
            The `rows` in the order they are shown, the weights `coef` after them (the offset last), and whether that
            is `complete`: no sequence is longer.

        Examples
        --------
        >>> X, y = [[-1.0, 1.0], [0.0, -1.0], [1.5, 1.0]], [1, -1, 1]
        >>> perceptron_bound(X, y, [0.0, 1.0]).longest_mistake_sequence()
        MistakeSequence(rows=[0, 2], coef=array([0.5, 2. ]), complete=True)
        """
        return _longest(self.rows, self.start, max_updates)


def perceptron_bound(
    X: Any, y: Any, coef: Any, intercept: float | None = None, *, coef_init: Any = None
) -> PerceptronBound:
    r"""Return how many mistakes the perceptron can make on rows that `coef` separates, in any order.

    .. math:: k \le (R/\gamma)^2, \qquad R = \max_i \lVert x_i\rVert,\quad
              \gamma = \min_i y_i\,\theta^*\!\cdot x_i / \lVert\theta^*\rVert

    From a start :math:`\theta^{(0)}` with :math:`a = \theta^{(0)}\!\cdot\theta^*/\lVert\theta^*\rVert` it is
    the largest k with :math:`(a + k\gamma)^2 \le \lVert\theta^{(0)}\rVert^2 + kR^2`, or :math:`-a/\gamma`. It
    depends neither on the number of rows nor on that of features. The best bound is that of the plane of
    largest margin: ``separability(X, y, origin=True, margin=True)``.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        Two classes; the second in sorted order is +1.
    coef : array of shape (d,)
        Weights θ* that separate the rows.
    intercept : float, optional
        With it, rows are taken with a 1 appended and θ* = (coef, intercept): the perceptron with an offset.
    coef_init : array of shape (d,) or, with an intercept, (d + 1,)
        Where the perceptron starts; zero by default.

    Returns
    -------
    PerceptronBound
        `radius`, `margin`, `bound`, and the methods `progress`, which follows the proof along a run, and
        `longest_mistake_sequence`, which finds the worst order of a few rows.

    Examples
    --------
    >>> X, y = [[-1.0, 1.0], [0.0, -1.0], [1.5, 1.0]], [1, -1, 1]
    >>> found = perceptron_bound(X, y, [0.0, 1.0])
    >>> found.margin, round(found.bound, 6)
    (1.0, 3.25)
    >>> found.progress([[-1.0, 1.0], [0.5, 2.0]]).projection
    array([1., 2.])
    """
    Z, theta = _signed_rows(X, y, intercept is not None), _weights(coef, intercept)
    if Z.shape[1] != len(theta):
        raise DataError(f"coef needs one entry for each of the features; it has {np.size(coef)}.")
    direction = theta / np.linalg.norm(theta)
    margins = Z @ direction
    worst = int(margins.argmin())
    if margins[worst] <= 0.0:
        raise DataError(
            f"coef does not separate the rows: row {worst} has margin {margins[worst]:.3g}. "
            "Take the weights of gnomon.linear.separability(X, y)."
        )
    start = np.zeros(len(theta)) if coef_init is None else vector(coef_init, name="coef_init", n=len(theta))
    radius, margin = float(np.linalg.norm(Z, axis=1).max()), float(margins[worst])
    return PerceptronBound(radius, margin, _bound(radius, margin, start, direction), direction, start, Z)


def _signed_rows(X, y, offset):
    """Rows y_i (x_i, 1): the perceptron sees nothing else of the data."""
    X = np.asarray(matrix(X), dtype=float)
    classes, codes = encode(y)
    if len(classes) != 2:
        raise DataError(f"the perceptron parts two classes; y has {len(classes)}.")
    if len(codes) != len(X):
        raise DataError(f"X has {len(X)} rows and y {len(codes)}; they must agree.")
    Z = np.column_stack([X, np.ones(len(X))]) if offset else X
    return (2.0 * codes - 1.0)[:, None] * Z


def _weights(coef, intercept):
    theta = vector(coef, name="coef")
    theta = theta if intercept is None else np.append(theta, float(intercept))
    if not np.any(theta):
        raise DataError("coef is zero and separates nothing.")
    return theta


def _bound(R, gamma, start, direction):
    """Largest k with (a + kγ)² ≤ ‖θ⁽⁰⁾‖² + kR², or −a/γ while the projection is still negative."""
    a = float(start @ direction)
    side = max(float(start @ start) - a * a, 0.0)  # squared length across θ*
    p = R * R - 2.0 * a * gamma
    root = np.sqrt(p * p + 4.0 * gamma**2 * side)
    return float(max(-a / gamma, (p + root) / (2.0 * gamma**2)))


def _longest(Z: Array, start: Array, max_updates: int) -> MistakeSequence:
    """Search all orders of the signed rows; on rows that no plane separates only `max_updates` ends it."""
    if len(Z) > MOST_ROWS:
        raise DataError(
            f"all orders of {len(Z)} rows are too many to try; give at most {MOST_ROWS}, or take the bound, "
            "which holds for all of them."
        )
    layers, met = [{tuple(start.tolist()): None}], 0
    while len(layers) <= max_updates:
        layer = _one_more_mistake(layers[-1], Z)
        if not layer:
            break
        layers.append(layer)
        met += len(layer)
        if met > MOST_STATES:
            raise DataError(
                f"the search met {met} different weights in {len(layers) - 1} updates; "
                "lower max_updates or take fewer rows."
            )
    rows, last = _way_back(layers)
    return MistakeSequence(rows, np.array(last), len(layers) <= max_updates)


def _one_more_mistake(layer, Z):
    """Weights that one mistake more leads to, each with the row and the weights it came from."""
    points = np.array(list(layer))
    wrong = points @ Z.T <= 0.0
    found: dict[Any, Any] = {}
    for k, i in np.argwhere(wrong):
        found.setdefault(tuple((points[k] + Z[i]).tolist()), (int(i), tuple(points[k].tolist())))
    return found


def _way_back(layers):
    """Rows of one longest sequence, and the weights at its end."""
    point = last = next(iter(layers[-1]))
    rows = []
    for layer in reversed(layers[1:]):
        row, point = layer[point]
        rows.append(row)
    return rows[::-1], last
