"""Pictures of decisions: grids, plans, learning curves, bandits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.tables import _colors, heat_map

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


def value_convergence(
    models: Any, *, optimum: Any = None, against: str = "sweep", ax: Axes | None = None
) -> Axes:
    """Draw the certified gap of planners, sweep by sweep, on a logarithmic axis.

    Parameters
    ----------
    models : fitted planner, or mapping of name to one
    optimum : (S,) array, optional
        V*; then the bound γᵏ‖V*‖ of plain value iteration is drawn too.
    against : {"sweep", "seconds"}
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from gnomon.decide import MDP, ValueIteration
    >>> mdp = MDP.random(30, 2, discount=0.9, random_state=0)
    >>> ax = value_convergence({"midpoint": ValueIteration().fit(mdp)})
    >>> ax.get_yscale()
    'log'
    """
    table = models if isinstance(models, Mapping) else {type(models).__name__: models}
    ax = style.axes(ax, x=against, y="guaranteed error")
    for k, (name, model) in enumerate(table.items()):
        trace = model.trace_
        gap = trace.certificate if trace.certificate is not None else trace.objective
        x = np.arange(1, len(gap) + 1) if against == "sweep" else trace.seconds[-len(gap) :]
        shown = np.where((gap > 0) & np.isfinite(gap), gap, np.nan)
        ax.plot(x, shown, color=style.color(k), marker="o" if len(gap) < 40 else "", markersize=3, label=name)
    if optimum is not None:
        first = next(iter(table.values()))
        g = first.discount if first.discount is not None else 0.9
        sweeps = np.arange(1, max(len(model.trace_) for model in table.values()) + 1)
        ax.plot(
            sweeps,
            g**sweeps * np.abs(np.asarray(optimum)).max(),
            color=style.QUIET,
            linestyle="--",
            label="γᵏ‖V*‖",
        )
    ax.set_yscale("log")
    ax.legend(frameon=False)
    return ax


def return_curve(
    agents: Any, *, window: int | None = None, against: str = "episode", ax: Axes | None = None
) -> Axes:
    """Draw returns while learning, one line an agent, with the band of the middle half of its seeds.

    Parameters
    ----------
    agents : fitted agent, or mapping of name to an agent, a list of them (seeds), or returns
    window : int, optional
        Episodes averaged over; by default a twentieth.
    against : {"episode", "step"}
        The horizontal axis: episodes, or moves made.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = return_curve({"rises": [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]}, window=1)
    >>> ax.lines[0].get_ydata().tolist()
    [0.0, 1.5, 3.0]
    """
    table = agents if isinstance(agents, Mapping) else {type(agents).__name__: agents}
    ax = style.axes(ax, x=against, y="return")
    for k, (name, given) in enumerate(table.items()):
        runs = given if isinstance(given, Sequence) and not hasattr(given, "returns_") else [given]
        if len(runs) and np.ndim(runs[0]) == 0 and not hasattr(runs[0], "returns_"):
            runs = [runs]
        curves = [np.asarray(getattr(run, "returns_", run), dtype=float) for run in runs]
        n = min(len(curve) for curve in curves)
        size = window or max(1, n // 20)
        smooth = np.array([_smoothed(curve[:n], size) for curve in curves])
        x = np.arange(1, n + 1)
        if against == "step":
            x = np.mean([np.cumsum(run.lengths_[:n]) for run in runs], axis=0)
        ax.plot(x, smooth.mean(axis=0), color=style.color(k), label=name)
        if len(curves) > 1:
            low, high = np.quantile(smooth, [0.25, 0.75], axis=0)
            ax.fill_between(x, low, high, color=style.color(k), alpha=0.2, linewidth=0)
    ax.legend(frameon=False)
    return ax


def _smoothed(values: np.ndarray, size: int) -> np.ndarray:
    """Mean of the last `size` values at every place; fewer at the begin."""
    sums = np.cumsum(np.insert(values, 0, 0.0))
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - size, 0)
    return (sums[ends] - sums[begins]) / (ends - begins)


def bandit_regret(traces: Any, *, share: bool = False, ax: Axes | None = None) -> Axes:
    """Draw what rules lose against always playing the best arm, with bands, and the lower bound of Lai and Robbins.

    Parameters
    ----------
    traces : BanditTrace, or mapping of name to one
    share : bool
        Draw how often a best arm is played instead.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from gnomon.decide import UCB1, Bandit
    >>> trace = Bandit.bernoulli([0.3, 0.7]).run(UCB1(), 50, n_runs=10, random_state=0)
    >>> [line.get_label() for line in bandit_regret({"UCB1": trace}).lines]
    ['UCB1', 'lower bound']
    """
    table = traces if isinstance(traces, Mapping) else {"regret": traces}
    ax = style.axes(ax, x="step", y="share of the best arm" if share else "regret")
    for k, (name, trace) in enumerate(table.items()):
        steps = np.arange(1, trace.regret.shape[1] + 1)
        if share:
            ax.plot(steps, trace.best_share, color=style.color(k), label=name)
            continue
        low, high = np.quantile(trace.regret, [0.25, 0.75], axis=0)
        ax.plot(steps, trace.regret.mean(axis=0), color=style.color(k), label=name)
        ax.fill_between(steps, low, high, color=style.color(k), alpha=0.15, linewidth=0)
    bound = next(iter(table.values())).lower_bound
    if not share and np.isfinite(bound).all():
        ax.plot(np.arange(1, len(bound) + 1), bound, color=style.QUIET, linestyle="--", label="lower bound")
    ax.legend(frameon=False)
    return ax


def mdp_graph(mdp: Any, policy: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a small process: states on a circle, a dot for every action, chances and rewards at the arrows.

    Parameters
    ----------
    mdp : MDP
        Of at most twenty states.
    policy : policy of the process, optional
        Its actions are drawn in color.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP([[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], layout="sas")
    >>> len(mdp_graph(mdp, [1, 0]).texts) >= 2
    True
    """
    S, A = mdp.n_states, mdp.n_actions
    if S > 20:
        raise DataError(f"a graph of {S} states cannot be read; take at most 20.")
    ax = style.axes(ax, size=(6.5, 6))
    angle = np.pi / 2 - 2 * np.pi * np.arange(S) / S
    place = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 if S > 1 else 0.0)
    names = mdp.state_names or [str(s) for s in range(S)]
    chosen = None if policy is None else np.asarray(getattr(policy, "policy_", policy))
    T = mdp.rows_.toarray().reshape(S, A, S)
    for s in range(S):
        for a in np.flatnonzero(mdp.available[s]):
            taken = chosen is not None and chosen.ndim == 1 and int(chosen[s]) == a
            turn = angle[s] - (a - (A - 1) / 2) * min(1.2, 5.0 / A)
            dot = place[s] + 0.45 * np.array([np.cos(turn), np.sin(turn)])
            _draw_action(
                ax,
                place,
                s,
                dot,
                T[s, a],
                mdp.expected_rewards_[s, a],
                style.color(1) if taken else style.QUIET,
            )
            ax.text(
                *(dot + 0.09 * np.array([np.cos(turn), np.sin(turn)])),
                (mdp.action_names or range(A))[a],
                fontsize=8,
                ha="center",
                va="center",
            )
    for s, (x, y) in enumerate(place):
        ax.plot(x, y, "o", markersize=28, color=style.color(0), zorder=4)
        ax.text(x, y, names[s], ha="center", va="center", color="white", zorder=5)
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal", xticks=[], yticks=[])
    return ax


def _draw_action(ax: Any, place: Any, s: int, dot: Any, row: Any, reward: float, color: str) -> None:
    ax.plot([place[s, 0], dot[0]], [place[s, 1], dot[1]], color=color, linewidth=1.5)
    ax.plot(*dot, "o", markersize=6, color=color, zorder=3)
    for t in np.flatnonzero(row > 0.005):
        ax.annotate(
            "", xytext=dot, xy=place[t],
            arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 0.4 + 2 * row[t], "shrinkB": 14,
                        "connectionstyle": "arc3,rad=0.25"},
        )  # fmt: skip
        ax.text(
            *(0.55 * dot + 0.45 * place[t]),
            f"{row[t]:.2g} / {reward:.2g}",
            fontsize=7,
            ha="center",
            va="center",
        )


def horizon_actions(model: Any, world: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the best action of every state against the steps to go."""
    names = getattr(world, "state_names", None)
    H = len(model.policies_)
    ax = heat_map(
        model.policies_.T, names, [str(k) for k in range(1, H + 1)] if H <= 30 else None, ax, fmt=".0f"
    )
    ax.set(xlabel="steps to go", ylabel="state", title="best action")
    return ax
