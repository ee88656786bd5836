"""Pictures of grid worlds: values, policies, beliefs and paths on the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.tables import _colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOUR = (
    (0.0, -1.0),
    (1.0, 0.0),
    (0.0, 1.0),
    (-1.0, 0.0),
)  # up, right, down, left on axes whose y grows downward
_SLANT = 0.5**0.5
EIGHT = (
    (0.0, -1.0),
    (_SLANT, -_SLANT),
    (1.0, 0.0),
    (_SLANT, _SLANT),
    (0.0, 1.0),
    (-_SLANT, _SLANT),
    (-1.0, 0.0),
    (-_SLANT, -_SLANT),
)


def grid_map(
    grid: Any,
    values: Any = None,
    *,
    policy: Any = None,
    path: Any = None,
    fmt: str = ".2f",
    numbers: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a grid world: values, action values, beliefs or visits as colors, a policy as arrows, a path as a line.

    Parameters
    ----------
    grid : GridWorld
    values : (S,) or (S, A) array, optional
        One number a state (values, a belief, visits), or action values, drawn as four triangles a cell.
    policy : policy of the grid, optional
    path : sequence of states, optional
        Where the robot went.
    fmt : str
        Format of the numbers.
    numbers : bool, optional
        Write them into the cells; by default when there are at most 150 cells.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnomon.decide import GridWorld, solve
    >>> grid = GridWorld.small()
    >>> ax = grid_map(grid, solve(grid).V_, policy=solve(grid).policy_)
    >>> [text.get_text() for text in ax.texts][:2]
    ['0.76', '0.88']
    """
    given = None if values is None else np.asarray(values, dtype=float)
    if given is not None and given.shape not in ((grid.n_states,), (grid.n_states, grid.n_actions)):
        raise DataError(
            f"values must be ({grid.n_states},) or ({grid.n_states}, {grid.n_actions}); got {given.shape}."
        )
    rows, columns = grid.shape
    ax = style.axes(ax, size=(min(12.0, 1.0 + 0.9 * columns), min(10.0, 0.8 + 0.8 * rows)))
    numbers = rows * columns <= 150 if numbers is None else numbers
    _draw_cells(ax, grid, given, fmt, numbers)
    if policy is not None:
        _draw_arrows(ax, grid, policy, low=given is not None and given.ndim == 1 and numbers)
    if path is not None:
        cells = np.array([grid.cell(s) for s in path], dtype=float)
        ax.plot(cells[:, 1], cells[:, 0], color=style.color(1), linewidth=2, alpha=0.8)
        ax.plot(cells[-1, 1], cells[-1, 0], "o", color=style.color(1), markersize=10)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(True)
    return ax


def _draw_cells(ax: Any, grid: Any, given: Any, fmt: str, numbers: bool) -> None:
    from matplotlib.patches import Rectangle

    if given is not None and given.ndim == 2:
        _draw_triangles(ax, grid, given, fmt, numbers)
    elif given is not None:
        table = grid.as_grid(given)
        shown = np.ma.masked_invalid(table)
        image = ax.imshow(shown, **_colors(shown, None))
        for i, j in grid.cells if numbers else []:
            ink = style.text_on(image.cmap(image.norm(table[i, j])))
            ax.text(
                j, i - 0.18, format(table[i, j], fmt), ha="center", va="center", color=ink, fontsize="small"
            )
    for i, j in np.ndindex(grid.shape):
        wall = (i, j) in grid.walls
        ax.add_patch(
            Rectangle(
                (j - 0.5, i - 0.5), 1, 1, facecolor=style.QUIET if wall else "none", edgecolor=style.QUIET,
                linewidth=2.5 if (i, j) in grid.terminals else 0.7,
            )
        )  # fmt: skip


def _draw_triangles(ax: Any, grid: Any, Q: np.ndarray, fmt: str, numbers: bool) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import Normalize
    from matplotlib.patches import Polygon

    if grid.moves != 4:
        raise DataError("action values are drawn for grids of four moves.")
    shown = np.ma.masked_invalid(Q)
    how = _colors(shown, None)
    norm, cmap = Normalize(how["vmin"], how["vmax"]), colormaps[how["cmap"]]
    corners = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    for s, (i, j) in enumerate(grid.cells):
        for a in range(4):
            points = [(j, i), *((j + x, i + y) for x, y in (corners[a], corners[(a + 1) % 4]))]
            color = cmap(norm(Q[s, a]))
            ax.add_patch(Polygon(points, facecolor=color, edgecolor=style.QUIET, linewidth=0.4))
            if numbers:
                x, y = j + 0.3 * FOUR[a][0], i + 0.3 * FOUR[a][1]
                ax.text(
                    x,
                    y,
                    format(Q[s, a], fmt),
                    ha="center",
                    va="center",
                    color=style.text_on(color),
                    fontsize=6,
                )


def _draw_arrows(ax: Any, grid: Any, policy: Any, low: bool) -> None:
    actions = np.asarray(getattr(policy, "policy_", policy))
    if actions.ndim == 2:
        actions = actions.argmax(axis=1) if actions.dtype.kind == "f" else actions[-1]
    ways = FOUR if grid.moves == 4 else EIGHT
    shift = 0.15 if low else 0.0
    for s, (i, j) in enumerate(grid.cells):
        if (i, j) in grid.terminals:
            continue
        x, y = ways[int(actions[s])]
        at, reach = (j - 0.2 * x, i + shift - 0.2 * y), 0.25
        ax.annotate(
            "", xytext=at, xy=(at[0] + (reach + 0.15) * x, at[1] + (reach + 0.15) * y),
            arrowprops={"arrowstyle": "-|>", "color": style.COLORS[1], "linewidth": 1.6},
        )  # fmt: skip


def policy_sweep(
    grid: Any, *, discounts: Any = None, living_rewards: Any = None, horizons: Any = None, figure: Any = None
) -> list[Any]:
    """Draw the best policies of a grid under several discounts, living rewards or horizons, side by side.

    Parameters
    ----------
    grid : GridWorld
    discounts, living_rewards, horizons : sequence, optional
        One of them.
    figure : matplotlib Figure, optional

    Returns
    -------
    list of matplotlib Axes

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> axes = policy_sweep(GridWorld.small(), living_rewards=[-0.04, -2.0])
    >>> [ax.get_title() for ax in axes]
    ['living reward -0.04', 'living reward -2']
    """
    from gnomon.decide import FiniteHorizon, solve

    given = {"discount": discounts, "living reward": living_rewards, "horizon": horizons}
    asked = [(name, list(values)) for name, values in given.items() if values is not None]
    if len(asked) != 1:
        raise DataError("give one of discounts, living_rewards and horizons.")
    name, values = asked[0]
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(
            figsize=(min(14.0, 0.5 + 0.8 * grid.shape[1] * len(values)), 0.9 * grid.shape[0] + 0.5),
            layout="constrained",
        )
    drawn = []
    for k, value in enumerate(values):
        if name == "horizon":
            changed, model = grid, FiniteHorizon(int(value), discount=1.0).fit(grid)
        else:
            changed = grid.changed(**{"discount" if name == "discount" else "living_reward": value})
            model = solve(changed)
        ax = figure.add_subplot(1, len(values), k + 1)
        grid_map(changed, model.V_, policy=model.policy_, ax=ax)
        ax.set_title(f"{name} {value:g}")
        drawn.append(ax)
    return drawn
