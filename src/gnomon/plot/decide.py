"""Pictures of decisions: curves of agents, planners and bandits, graphs of processes, actions by steps to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.tables import heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def return_curve(
    runs: Any,
    *,
    window: int | None = None,
    against: str | None = None,
    share: bool = False,
    optimum: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how runs come along: returns of agents, the regret of bandit rules, or the guaranteed error of planners.

    Agents have one line each, with the band of the middle half of their seeds; rules have their regret with the lower
    bound of Lai and Robbins; planners their certified gap, step by step, on a logarithmic axis.

    Parameters
    ----------
    runs : agent, planner or BanditTrace, or mapping of name to one; for agents also a list (seeds), or returns
    window : int, optional
        Agents: episodes averaged over; by default a twentieth.
    against : {"episode", "step", "sweep", "seconds"}, optional
        The horizontal axis: episodes or moves of agents, sweeps or seconds of planners.
    share : bool
        Bandits: draw how often a best arm is played instead of the regret.
    optimum : (S,) array, optional
        Planners: V*; then the bound γᵏ‖V*‖ of plain value iteration is drawn too.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = return_curve({"rises": [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]}, window=1)
    >>> ax.lines[0].get_ydata().tolist()
    [0.0, 1.5, 3.0]
    >>> from gnomon.decide import MDP, UCB1, Bandit, ValueIteration
    >>> trace = Bandit.bernoulli([0.3, 0.7]).run(UCB1(), 50, n_runs=10, random_state=0)
    >>> [line.get_label() for line in return_curve({"UCB1": trace}).lines]
    ['UCB1', 'lower bound']
    >>> mdp = MDP.random(30, 2, discount=0.9, random_state=0)
    >>> return_curve(ValueIteration().fit(mdp)).get_yscale()
    'log'
    """
    table = runs if isinstance(runs, Mapping) else {type(runs).__name__: runs}
    if not table:
        raise DataError("runs are empty; give at least one agent, planner or trace.")
    if all(hasattr(run, "regret") for run in table.values()):
        return _draw_regret(table, share, ax)
    if all(hasattr(run, "gap_") for run in table.values()):
        return _draw_gaps(table, optimum, against or "sweep", ax)
    return _draw_returns(table, window, against or "episode", ax)


def _draw_returns(table: Any, window: int | None, against: str, ax: Any) -> Any:
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


def _draw_gaps(table: Any, optimum: Any, against: str, ax: Any) -> Any:
    ax = style.axes(ax, x=against, y="guaranteed error")
    for k, (name, model) in enumerate(table.items()):
        trace = model.trace_
        gap = trace.certificate if trace.certificate is not None else trace.objective
        x = np.arange(1, len(gap) + 1) if against == "sweep" else trace.seconds[-len(gap) :]
        shown = np.where((gap > 0) & np.isfinite(gap), gap, np.nan)
        ax.plot(x, shown, color=style.color(k), marker="o" if len(gap) < 40 else "", markersize=3, label=name)
    if optimum is not None:
        first = next(iter(table.values()))
        g = first.discount_
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


def _draw_regret(table: Any, share: bool, ax: Any) -> Any:
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
