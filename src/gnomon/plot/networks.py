"""Pictures of networks: filters and maps, graphs of numbers, layers, gradients, hidden units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def feature_maps(
    pictures: Any,
    ax: Axes | None = None,
    *,
    columns: int | None = None,
    scale: str = "each",
    titles: Any = None,
) -> Axes:
    """Draw pictures side by side: filters, feature maps, patches, digits, samples.

    Parameters
    ----------
    pictures : array (n, height, width), (n, channels, height, width), or a fitted network
        A network shows the filters of its first convolution, or the weights of its first layer where those are square.
        Three channels are colors; with any other number each channel is a picture of its own.
    ax : matplotlib Axes, optional
    columns : int, optional
        Pictures in a row; about the square root of their number.
    scale : {"each", "all"}, default="each"
        Every picture has a gray scale of its own, or all share one.
    titles : sequence of str, optional
        A line below every picture.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = feature_maps(np.zeros((5, 4, 3)))
    >>> ax.images[0].get_array().shape[:2]  # two rows of three, with lines between
    (9, 11)
    """
    shown = _pictures(pictures)
    n, height, width = shown.shape[:3]
    columns = columns or max(1, math.ceil(math.sqrt(n)))
    rows = -(-n // columns)
    shown = np.stack([_stretched(one) for one in shown]) if scale == "each" else _stretched(shown)
    sheet = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1, *shown.shape[3:]), np.nan)
    for i, picture in enumerate(shown):
        y, x = (i // columns) * (height + 1), (i % columns) * (width + 1)
        sheet[y : y + height, x : x + width] = picture
    side = 6.0 / max(sheet.shape[:2])
    ax = style.axes(ax, size=(max(2.0, side * sheet.shape[1]), max(2.0, side * sheet.shape[0])))
    if sheet.ndim == 3:
        clear = np.isnan(sheet[..., :1])
        sheet = np.concatenate([np.nan_to_num(sheet), np.where(clear, 0.0, 1.0)], axis=2)
    ax.imshow(sheet, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    for i, title in enumerate(titles if titles is not None else ()):
        place = ((i % columns) * (width + 1) + width / 2 - 0.5, (i // columns) * (height + 1) + height - 0.5)
        ax.text(*place, str(title), ha="center", va="bottom", fontsize="x-small", color=style.color(1))
    ax.axis("off")
    return ax


def _pictures(given: Any) -> np.ndarray:
    """Return (n, height, width) or (n, height, width, 3)."""
    if hasattr(given, "filters"):
        given = given.filters(next(name for name in given.weights_ if name.startswith("conv")).split(".")[0])
    elif hasattr(given, "coefs_"):
        weights = given.coefs_[0].T
        side = math.isqrt(weights.shape[1])
        if side * side != weights.shape[1]:
            raise DataError(f"{weights.shape[1]} inputs are no square picture; reshape coefs_[0].T yourself.")
        given = weights.reshape(len(weights), side, side)
    values = np.asarray(given, dtype=float)
    if values.ndim == 2:
        values = values[None]
    if values.ndim == 4:
        values = np.moveaxis(values, 1, -1) if values.shape[1] == 3 else values.reshape(-1, *values.shape[2:])
    if values.ndim < 3 or not values.size:
        raise DataError(
            f"pictures must have shape (n, height, width) or (n, channels, height, width); got {values.shape}"
        )
    return values


def _stretched(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.full_like(values, 0.5)


def computation_graph(value: Any, ax: Axes | None = None) -> Axes:
    """Draw how a number was made: its value above and its slope below every node.

    Parameters
    ----------
    value : gnomon.neural.Value
        Its slopes are computed (``value.backward()``).
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnomon.neural import Value
    >>> ax = computation_graph((Value(2.0, "x") + 1.0) * Value(3.0, "y"))
    >>> sum(text.get_text() == "9" for text in ax.texts)
    1
    """
    value.backward()
    order = value.graph()
    depth: dict[int, int] = {}
    for node in order:
        depth[id(node)] = 1 + max((depth[id(parent)] for parent in node.parents), default=-1)
    levels: dict[int, list[Any]] = {}
    for node in order:
        levels.setdefault(depth[id(node)], []).append(node)
    tallest = max(len(level) for level in levels.values())
    places = {
        id(node): (float(d), (tallest - 1) / 2 - (len(level) - 1) / 2 + i)
        for d, level in levels.items()
        for i, node in enumerate(level)
    }
    ax = style.axes(ax, size=(2 + 1.4 * len(levels), 1.5 + 0.9 * tallest))
    for node in order:
        x, y = places[id(node)]
        for parent in node.parents:
            px, py = places[id(parent)]
            ax.plot([px, x], [py, y], color=style.QUIET, linewidth=1, zorder=1)
        ax.scatter([x], [y], s=420, color="white", edgecolors=style.color(0), zorder=2)
        ax.text(
            x,
            y,
            node.operation or node.name or "·",
            ha="center",
            va="center",
            fontsize=8,
            color="black",
            zorder=3,
        )
        ax.text(x, y + 0.24, f"{node.data:.4g}", ha="center", va="bottom", fontsize=8, color=style.color(2))
        ax.text(x, y - 0.24, f"{node.grad:.4g}", ha="center", va="top", fontsize=8, color=style.color(3))
    ax.set(xlim=(-0.6, len(levels) - 0.4), ylim=(-0.8, tallest - 0.2), title="value above, slope below")
    ax.axis("off")
    return ax


def layers(model: Any, ax: Axes | None = None, *, measure: str = "parameters", max_units: int = 12) -> Axes:
    """Draw a network: units and weights of a dense one, or the account of a stack of layers as bars.

    Parameters
    ----------
    model : fitted MLPClassifier or MLPRegressor, ConvNet, Network, or Account
    ax : matplotlib Axes, optional
    measure : {"parameters", "activations", "multiply_adds", "receptive_field"}, default="parameters"
        What the bars of layers show.
    max_units : int, default=12
        Units drawn of a dense layer.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnomon.neural import architecture
    >>> [text.get_text() for text in layers(architecture("lenet5")).get_yticklabels()][:2]
    ['conv1  6×28×28', 'pool1  6×14×14']
    """
    if hasattr(model, "coefs_"):
        return _units(model, ax, max_units)
    account = model if hasattr(model, "rows") else model.describe()
    rows = [row for row in account.rows[1:] if row.activations or row.weights]
    values = {
        "parameters": [row.weights + row.biases for row in rows],
        "activations": [row.activations for row in rows],
        "multiply_adds": [row.multiply_adds for row in rows],
        "receptive_field": [row.receptive_field or np.nan for row in rows],
    }
    if measure not in values:
        raise ValueError(f"measure must be one of {sorted(values)}; got {measure!r}.")
    ax = style.axes(ax, x=measure.replace("_", " "), size=(6, 1 + 0.28 * len(rows)))
    places = np.arange(len(rows))
    ax.barh(places, values[measure], color=style.color(0))
    ax.set_yticks(places, [f"{row.name}  {'×'.join(map(str, row.shape))}" for row in rows], fontsize=8)
    ax.invert_yaxis()
    return ax


def _units(model: Any, ax: Axes | None, max_units: int) -> Axes:
    sizes = [W.shape[0] for W in model.coefs_] + [model.coefs_[-1].shape[1]]
    drawn = [min(size, max_units) for size in sizes]
    ax = style.axes(ax, size=(2 + 1.6 * len(sizes), 1 + 0.35 * max(drawn)))
    heights = [np.arange(n) - (n - 1) / 2 for n in drawn]
    for layer, W in enumerate(model.coefs_):
        W = W[:, : sizes[layer + 1]]
        top = max(float(np.abs(W).max()), 1e-300)
        for i in range(drawn[layer]):
            for j in range(drawn[layer + 1]):
                size = float(W[i, j]) / top
                ends = [heights[layer][i], heights[layer + 1][j]]
                ax.plot(
                    [layer, layer + 1],
                    ends,
                    color=style.color(int(size < 0)),
                    linewidth=1.5 * abs(size),
                    zorder=1,
                )
    for layer, (size, places) in enumerate(zip(sizes, heights)):
        ax.scatter(np.full(len(places), layer), places, s=90, color="white", edgecolors=style.QUIET, zorder=2)
        ax.text(layer, places[-1] + 0.7, f"{size}", ha="center", fontsize=8)
    ax.axis("off")
    return ax


def gradient_norms(norms: Any, ax: Axes | None = None, *, names: Any = None, by: str = "lag") -> Axes:
    """Draw the norm of gradients against depth or time lag, on a logarithmic axis.

    Parameters
    ----------
    norms : array, list of arrays, or GradientFlow
        Several curves share the axes: the four cells of `RecurrentLanguageModel.gradient_norms`, say.
    ax : matplotlib Axes, optional
    names : sequence of str, optional
    by : {"lag", "layer"}, default="lag"

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> gradient_norms([[1.0, 0.1, 0.01]]).get_yscale()
    'log'
    """
    if hasattr(norms, "signal_norms"):
        norms, by = [norms.signal_norms], "layer"
    curves = (
        [np.asarray(one, dtype=float) for one in norms]
        if np.ndim(norms[0])
        else [np.asarray(norms, dtype=float)]
    )
    ax = style.axes(ax, x="lag" if by == "lag" else "layer, the first at the left", y="norm of the gradient")
    for i, curve in enumerate(curves):
        places = np.arange(len(curve)) + (by == "layer")
        shown = np.where(curve > 0, curve, np.nan)
        ax.semilogy(
            places, shown, "o-", markersize=4, color=style.color(i), label=None if names is None else names[i]
        )
    if names is not None:
        ax.legend(frameon=False)
    return ax


def hidden_units(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    layer: int = 0,
    units: tuple[int, int] = (0, 1),
) -> Axes:
    """Draw rows in the coordinates of two hidden units: the space in which the last layer separates them.

    Parameters
    ----------
    model : fitted MLPClassifier or MLPRegressor
    X : array (n, d)
    y : array (n,), optional
        Classes, as colors.
    ax : matplotlib Axes, optional
    layer : int, default=0
    units : (int, int), default=(0, 1)

    Returns
    -------
    matplotlib Axes
    """
    H = model.hidden(X, layer)
    if max(units) >= H.shape[1] or min(units) < 0:
        raise ValueError(f"units must be below {H.shape[1]}, the width of the layer; got {units}.")
    ax = style.axes(ax, x=f"unit {units[0]}", y=f"unit {units[1]}", size=(4.5, 4.5))
    labels = np.zeros(len(H), dtype=int) if y is None else np.asarray(y)
    for i, label in enumerate(np.unique(labels)):
        part = H[labels == label]
        ax.scatter(
            part[:, units[0]],
            part[:, units[1]],
            s=14,
            color=style.color(i),
            label=None if y is None else str(label),
        )
    if y is not None:
        ax.legend(frameon=False)
    return ax
