"""The look of all pictures: colors that read on white and on black paper, and axes without clutter.

Nothing global is changed: background, text and font stay those of the user's matplotlib style.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Each has a contrast of at least 3 to white and to #121212, and they differ for color-blind eyes.
COLORS = ("#2f7fd6", "#d9731a", "#1f9e77", "#cc4778", "#8b6fd1", "#a6761d", "#4a8fa3")
QUIET = "#7d8794"  # what is there but not the point
SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"


def axes(
    ax: Axes | None, *, title: str = "", x: str = "", y: str = "", size: tuple[float, float] = (6, 4)
) -> Any:
    """Return the axes to draw on, new ones if none are given, with their labels where they have none yet."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    if x and not ax.get_xlabel():
        ax.set_xlabel(x)
    if y and not ax.get_ylabel():
        ax.set_ylabel(y)
    if title and not ax.get_title():
        ax.set_title(title)
    return ax


def color(index: int) -> str:
    """Return the color of the index-th thing; they repeat after seven."""
    return COLORS[index % len(COLORS)]


def color_map(index: int) -> Any:
    """Return a map from transparent to the index-th color, for shading that lets the paper through."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    rgb = to_rgb(color(index))
    return LinearSegmentedColormap.from_list(f"gnomon{index}", [(*rgb, 0.0), (*rgb, 1.0)])


def text_on(rgba: Any) -> str:
    """Return "black" or "white", whichever reads better on a color."""
    return "black" if luminance(rgba) > 0.18 else "white"


def luminance(rgb: Any) -> float:
    """Return the relative luminance of a color, from 0 (black) to 1 (white)."""
    channels = np.asarray(rgb, dtype=float)[:3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def feature_names(model: Any, X: Any, count: int) -> list[str]:
    """Return the names of the columns, from the model or the table, else x0, x1, ..."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    return [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]


def limits(values: np.ndarray, margin: float = 0.08) -> tuple[float, float]:
    """Return the range of the values, a little widened; never empty."""
    low, high = float(values.min()), float(values.max())
    space = margin * (high - low) or 1.0
    return low - space, high + space
