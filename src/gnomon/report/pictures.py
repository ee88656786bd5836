"""The pictures of a report: drawn by matplotlib, kept as SVG whose ink follows the colors of the page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import plot
from gnomon.plot import style
from gnomon.report.entries import Entry
from gnomon.report.words import bounds, number, score
from gnomon.selection import confusion_table

if TYPE_CHECKING:
    from gnomon.report.contest import Comparison

INK = "#123457"  # stands for the color of the text, whatever it is on the reader's screen
BEST, OTHER = 0, 6  # places in the palette


def svg(draw: Callable[[Any], None], alt: str, size: tuple[float, float] = (6.4, 3.6)) -> str:
    """Return what `draw(axes)` draws as an SVG element that can stand in a page and be read aloud."""
    import matplotlib
    from matplotlib.figure import Figure

    look = dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    )
    with matplotlib.rc_context({**look, "svg.fonttype": "none", "svg.hashsalt": alt, "font.size": 10}):
        figure = Figure(figsize=size, layout="constrained")
        draw(style.axes(figure.add_subplot()))
        file = io.StringIO()
        with warnings.catch_warnings():  # the reader's fonts draw the letters, not those of this machine
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(file.getvalue(), alt)


def _for_page(text: str, alt: str) -> str:
    """Return the element alone, without fixed size, with a name, and with the page's own ink."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    box = re.search(r'viewBox="0 0 ([\d.]+) [^"]*"', body)
    if box is None:
        raise ValueError("matplotlib wrote a picture without a size")
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    wide = round(float(box[1]) * 4 / 3)  # points to pixels
    head = f'<svg {box[0]} style="max-width: {wide}px" role="img" aria-label="{escape(alt)}" {names}>'
    body = re.sub(r"<svg[^>]*>", lambda _: head, body, count=1)
    used = set(re.findall(r"#([\w.-]+)", body))
    body = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", body)  # a page has each id once
    body = re.sub(r"(font: |font-family: )[^;\"]*", lambda m: _page_font(m[0]), body)
    return body.replace(INK, "var(--ink)").strip()


def _page_font(rule: str) -> str:
    size = re.search(r"[\d.]+px", rule)
    return f"font: {size[0]} var(--sans)" if size else "font-family: var(--sans)"


def ranking(result: Comparison) -> str:
    """Draw the score of every model with its interval, the best on top."""
    entries = result.ranked

    def draw(ax: Any) -> None:
        for row, entry in enumerate(entries):
            ends = bounds(result, entry)
            color = style.color(BEST) if row == 0 else style.QUIET
            ax.plot(ends, [row, row], color=color, linewidth=3, alpha=0.5, solid_capstyle="round")
            ax.plot(result.shown(entry.interval.mean), row, "o", color=color, markersize=7)
        ax.axvline(result.shown(entries[0].interval.mean), color=style.QUIET, linewidth=0.8, linestyle=":")
        ax.set_yticks(range(len(entries)), [entry.name for entry in entries])
        ax.invert_yaxis()
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        better = "smaller is better" if result.problem.task.sign < 0 else "larger is better"
        ax.set_xlabel(f"{result.problem.task.metric} on unseen rows, with 95% intervals ({better})")

    said = "; ".join(f"{entry.name} {score(result, entry)}" for entry in entries)
    return svg(draw, f"Scores with 95% intervals: {said}", (7.6, 1.0 + 0.34 * len(entries)))


def importance(result: Comparison, most: int = 12) -> str:
    """Draw how much score is lost when a column is shuffled."""
    losses = list(result.importance.items())[:most]

    def draw(ax: Any) -> None:
        for row, (_, loss) in enumerate(losses):
            ax.barh(row, loss.mean, color=style.color(BEST), height=0.62, alpha=0.85)
            ax.plot([loss.low, loss.high], [row, row], color=style.QUIET, linewidth=1.5)
        ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
        ax.set_yticks(range(len(losses)), [short(name) for name, _ in losses])
        ax.invert_yaxis()
        ax.set_xlabel(f"how much worse the {result.problem.task.metric} gets")

    said = "; ".join(f"{name} {number(loss.mean)}" for name, loss in losses)
    return svg(draw, f"Importance of the columns: {said}", (4.8, 1.0 + 0.26 * len(losses)))


def close_up(result: Comparison, entry: Entry) -> str:
    """Draw what a model said of rows it had not seen, against the truth."""
    if entry.answers is None:
        return ""
    if result.problem.task.name == "classification":
        return _confusion(result.problem.y[entry.tested], entry)
    return _predicted(result, entry)


def _confusion(truth: Any, entry: Entry) -> str:
    found = confusion_table(truth, entry.answers[entry.tested])
    classes, table = found.labels, found.counts
    if len(classes) > 20:
        return ""

    def draw(ax: Any) -> None:
        names = [short(str(name)) for name in classes]
        plot.heat_map(table, names, names, ax, numbers=True, fmt=".0f")
        ax.set(xlabel="predicted", ylabel="true")

    side = min(1.6 + 0.5 * len(classes), 7.0)
    right = int(np.trace(table))
    alt = f"Confusion matrix of {entry.name}: {right} of {len(truth)} rows on the diagonal"
    return svg(draw, alt, (side + 1.2, side))


def _predicted(result: Comparison, entry: Entry) -> str:
    truth, answers = result.problem.y[entry.tested], entry.answers[entry.tested]
    shown = np.linspace(0, len(truth) - 1, min(len(truth), 1500)).astype(int)

    def draw(ax: Any) -> None:
        ends = style.limits(np.concatenate([truth, answers]))
        ax.plot(ends, ends, color=style.QUIET, linewidth=1)
        ax.scatter(truth[shown], answers[shown], s=10, alpha=0.55, color=style.color(BEST), linewidths=0)
        ax.set(xlabel=f"true {result.problem.target}", ylabel="predicted", xlim=ends, ylim=ends)

    total = float(((truth - truth.mean()) ** 2).sum())
    share = 1 - float(((truth - answers) ** 2).sum()) / total
    alt = f"Predicted against true values of {entry.name}: R squared {number(share)}"
    return svg(draw, alt, (4.6, 4.2))


def trace(entry: Entry) -> str:
    """Draw the objective of a fit, step by step, where there were steps."""
    values = getattr(entry.trace, "objective", ())
    if len(values) < 3 or not np.isfinite(values).all():
        return ""
    alt = f"Objective of {entry.name} over {len(values)} steps, from {number(values[0])} to {number(values[-1])}"
    return svg(lambda ax: plot.trace(entry.trace, ax), alt, (4.8, 2.6))


def groups(result: Comparison) -> str:
    """Draw the rows in the plane in which they differ most, or along time, colored by group or state."""
    model, frame = result.model, result.problem.frame
    if not (hasattr(model.model_, "predict") or hasattr(model.model_, "topic_word_")):
        return ""
    labels, X = np.asarray(model.predict(frame)), model.matrix(frame)
    X = X.toarray() if hasattr(X, "toarray") else X
    if result.problem.sequence is not None:
        return _states(result, labels)
    shown = np.linspace(0, len(X) - 1, min(len(X), 1500)).astype(int)
    place, names = _plane(X, model.encoder_.names())

    def draw(ax: Any) -> None:
        for index, label in enumerate(np.unique(labels)):
            mine = shown[labels[shown] == label]
            ax.scatter(
                place[mine, 0], place[mine, 1], s=12, alpha=0.7, linewidths=0, color=style.color(index)
            )
        ax.set(xlabel=names[0], ylabel=names[1])

    sizes = ", ".join(str(int((labels == label).sum())) for label in np.unique(labels))
    return svg(draw, f"The rows in {len(np.unique(labels))} groups of {sizes}", (4.8, 3.8))


def _plane(X: Any, names: list[str]) -> tuple[Any, list[str]]:
    """Return two coordinates of every row: the columns, or their first two principal axes."""
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.arange(len(X))]), [names[0], "row"]
    if X.shape[1] == 2:
        return X, names
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return (X - X.mean(axis=0)) @ axes[:2].T, ["first principal axis", "second principal axis"]


def _states(result: Comparison, labels: Any) -> str:
    column = result.model.encoder_.columns()[0]
    frame, ticks = result.problem.frame, None
    values = frame[column].to_numpy()[:400]
    if result.problem.menu == "sequence of symbols":
        values, ticks = result.model.matrix(frame)[:400, 0], result.model.encoder_.values_[column]

    def draw(ax: Any) -> None:
        ax.plot(values, color=style.QUIET, linewidth=0.8)
        for index, state in enumerate(np.unique(labels)):
            here = np.flatnonzero(labels[:400] == state)
            ax.scatter(here, values[here], s=14, color=style.color(index), label=f"state {state}", zorder=3)
        ax.set(xlabel="row", ylabel=column)
        if ticks is not None and len(ticks) <= 12:
            ax.set_yticks(range(len(ticks)), [short(tick, 16) for tick in ticks])
        ax.legend(frameon=False, fontsize="small")

    return svg(draw, f"{column} over the first {len(values)} rows, colored by hidden state", (7.2, 2.8))


def short(name: str, limit: int = 28) -> str:
    """Return a name that fits beside a picture."""
    return name if len(name) <= limit else name[: limit - 1] + "…"
