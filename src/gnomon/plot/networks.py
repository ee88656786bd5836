"""Pictures of networks: filters and maps, graphs of numbers, layers, gradients, hidden units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
