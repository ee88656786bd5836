"""Pictures of item sets and rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot.style import QUIET, SEQUENTIAL, axes, color

KINDS = ("scatter", "graph", "matrix")


def itemset_lattice(items: Any, itemsets: Any = None, ax: Any = None) -> Any:
    """Draw all subsets of a few items, level by level, each joined to those with one item more.

    Frequent sets are filled, counted but infrequent ones outlined, and what was never looked at is pale:
    above an infrequent
    set everything is dead, below a frequent one everything is alive.

    Parameters
    ----------
    items : iterable
        At most twelve; five or six are legible.
    itemsets : frame of `apriori`, or iterable of sets, optional
        The frequent sets.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = itemset_lattice("abc", [{"a"}, {"b"}, {"a", "b"}])
    >>> len(ax.texts), len(ax.lines)
    (8, 12)
    """
    from gnomon.association import lattice

    found = lattice(items, itemsets)
    widest = max(len(level) for level in found.levels)
    ax = axes(ax, title="Lattice of item sets", size=(max(5.0, 0.9 * widest), 1.2 * len(found.levels)))
    place = {
        one: (index - (len(level) - 1) / 2, -depth)
        for depth, level in enumerate(found.levels)
        for index, one in enumerate(level)
    }
    for low, high in found.edges:
        alive = found.status[high] == "frequent"
        (x0, y0), (x1, y1) = place[low], place[high]
        ax.plot(
            [x0, x1],
            [y0, y1],
            color=color(0) if alive else QUIET,
            alpha=0.7 if alive else 0.2,
            lw=1,
            zorder=1,
        )
    looks = {
        "frequent": {"facecolor": color(0), "edgecolor": color(0)},
        "infrequent": {"facecolor": "none", "edgecolor": color(1), "linewidth": 1.5},
        "pruned": {"facecolor": "none", "edgecolor": QUIET, "alpha": 0.4},
    }
    for status, look in looks.items():
        points = [place[one] for one, known in found.status.items() if known == status]
        if points:
            ax.scatter(*zip(*points), s=60, zorder=2, label=status, **look)
    for one, (x, y) in place.items():
        text = (
            "\n".join(sorted(map(str, one))) or "∅"
        )  # one below the other: next to each other they run together
        ax.annotate(
            text, (x, y), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=7, linespacing=1.05
        )
    ax.set_axis_off()
    ax.legend(frameon=False, loc="lower right", fontsize=8)
    return ax


def rules(table: Any, ax: Any = None, *, kind: str = "scatter", limit: int = 30) -> Any:
    """Draw rules: support against confidence, a graph of who points to whom, or a matrix of both sides.

    Parameters
    ----------
    table : frame of `association_rules`
    ax : Axes, optional
    kind : {"scatter", "graph", "matrix"}
        In the scatter the color is the lift; in the graph arrows go from antecedents to consequents, wider
        with more
        confidence; in the matrix a row is an antecedent, a column a consequent, and the color the lift.
    limit : int
        The graph and the matrix show so many rules, those of largest lift.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gnomon.association import association_rules, eclat
    >>> found = association_rules(eclat([["a", "b"], ["a", "b", "c"], ["a"]], 0.3), min_threshold=0.5)
    >>> ax = rules(found)
    >>> len(ax.collections[0].get_offsets()) == len(found)
    True
    """
    if kind not in KINDS:
        raise DataError(f"kind must be one of {KINDS}; got {kind!r}.")
    if not len(table):
        raise DataError("there are no rules to draw; lower min_threshold.")
    if kind == "scatter":
        ax = axes(ax, title="Rules", x="support", y="confidence")
        dots = ax.scatter(table["support"], table["confidence"], c=table["lift"], cmap=SEQUENTIAL, s=18)
        ax.figure.colorbar(dots, ax=ax, label="lift")
        return ax
    best = table.sort_values("lift", ascending=False, kind="stable").head(limit)
    left = [", ".join(sorted(map(str, one))) for one in best["antecedents"]]
    right = [", ".join(sorted(map(str, one))) for one in best["consequents"]]
    return _graph(best, left, right, ax) if kind == "graph" else _matrix(best, left, right, ax)


def _graph(best: Any, left: list[str], right: list[str], ax: Any) -> Any:
    names = list(dict.fromkeys([*left, *right]))
    angle = 2 * np.pi * np.arange(len(names)) / len(names)
    place = {name: (np.cos(a), np.sin(a)) for name, a in zip(names, angle)}
    ax = axes(ax, title="Rules", size=(6.5, 6))
    for a, b, confidence in zip(left, right, best["confidence"]):
        ax.annotate(
            "",
            place[b],
            xytext=place[a],
            arrowprops={
                "arrowstyle": "-|>",
                "color": color(0),
                "alpha": 0.6,
                "lw": 0.5 + 2 * float(confidence),
                "shrinkA": 8,
                "shrinkB": 8,
                "connectionstyle": "arc3,rad=0.1",
            },
        )
    ax.scatter(*zip(*place.values()), s=40, color=color(1), zorder=3)
    for name, (x, y) in place.items():
        ax.text(1.1 * x, 1.1 * y, name, ha="left" if x >= 0 else "right", va="center", fontsize=8)
    ax.set_xlim(-1.7, 1.7)
    ax.set_ylim(-1.3, 1.3)
    ax.set_axis_off()
    return ax


def _matrix(best: Any, left: list[str], right: list[str], ax: Any) -> Any:
    rows, columns = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    values = np.full((len(rows), len(columns)), np.nan)
    for a, b, lift in zip(left, right, best["lift"]):
        values[rows.index(a), columns.index(b)] = lift
    size = (2.5 + 0.45 * len(columns), 1.5 + 0.3 * len(rows))
    ax = axes(ax, title="Lift of rules", x="consequent", y="antecedent", size=size)
    picture = ax.imshow(np.ma.masked_invalid(values), cmap=SEQUENTIAL, aspect="auto")
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=8)
    ax.figure.colorbar(picture, ax=ax, label="lift")
    return ax
