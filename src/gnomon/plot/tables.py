"""Tables as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def heat_map(
    table: Any,
    rows: Any = None,
    columns: Any = None,
    ax: Axes | None = None,
    *,
    numbers: bool | None = None,
    fmt: str = ".3g",
    center: float | None = None,
) -> Axes:
    """Draw a table as colored cells: confusion and transition matrices, probabilities, Gram matrices.

    Parameters
    ----------
    table : array-like (m, p) or data frame
        The numbers; NaN is left blank.
    rows, columns : sequences of str, optional
        Names; taken from a data frame when left out.
    ax : matplotlib Axes, optional
        Where to draw.
    numbers : bool, optional
        Write the numbers into the cells; by default when there are at most 150.
    fmt : str
        Format of the numbers.
    center : float, optional
        The value that is neutral. By default 0 for tables with both signs, none for the others.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = heat_map([[0.9, 0.1], [0.2, 0.8]], ["rain", "dry"], ["rain", "dry"])
    >>> [text.get_text() for text in ax.texts]
    ['0.9', '0.1', '0.2', '0.8']
    """
    if rows is None and hasattr(table, "index") and hasattr(table, "columns"):
        rows = table.index
    columns = getattr(table, "columns", None) if columns is None else columns
    values = np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=float)
    if values.ndim != 2 or not values.size:
        raise DataError(f"a heat map needs a table with rows and columns, not shape {values.shape}")
    shown = np.ma.masked_invalid(values)
    ax = style.axes(ax, size=_size(values.shape))
    image = ax.imshow(shown, aspect="auto", **_colors(shown, center))
    ax.spines[:].set_visible(False)
    _names(ax.xaxis, columns, values.shape[1], "columns")
    _names(ax.yaxis, rows, values.shape[0], "rows")
    if numbers or (numbers is None and values.size <= 150):
        _write(ax, image, shown, fmt)
    else:
        ax.figure.colorbar(image, ax=ax)
    return ax


def _size(shape: tuple[int, ...]) -> tuple[float, float]:
    return min(12.0, 2.0 + 0.8 * shape[1]), min(10.0, 1.2 + 0.5 * shape[0])


def _colors(shown: Any, center: float | None) -> dict[str, Any]:
    """Return the color map and its ends: symmetric around the neutral value if there is one."""
    low, high = (float(shown.min()), float(shown.max())) if shown.count() else (0.0, 1.0)
    if center is None and low < 0 < high:
        center = 0.0
    if center is None:
        return {"cmap": style.SEQUENTIAL, "vmin": low, "vmax": high}
    reach = max(high - center, center - low)
    return {"cmap": style.DIVERGING, "vmin": center - reach, "vmax": center + reach}


def _names(axis: Any, names: Any, count: int, what: str) -> None:
    if names is None:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(integer=True))
        return
    words = [str(name) for name in names]
    if len(words) != count:
        raise DataError(f"the table has {count} {what}, but {len(words)} names were given")
    turn = 45 if what == "columns" and max(map(len, words), default=0) > 8 else 0
    axis.set_ticks(range(count), words, rotation=turn, ha="right" if turn or what == "rows" else "center")


def _write(ax: Axes, image: Any, shown: Any, fmt: str) -> None:
    for (i, j), value in np.ndenumerate(shown.filled(np.nan)):
        if np.isfinite(value):
            ink = style.text_on(image.cmap(image.norm(value)))
            ax.text(j, i, format(value, fmt), ha="center", va="center", color=ink, fontsize="small")
