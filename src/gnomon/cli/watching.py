"""A fit as a moving picture: dots and a curve on the terminal, lines in a pipe, or a GIF."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.cli.screen import Screen

COLORS = ("blue", "yellow", "green", "magenta", "cyan", "red", "white")


def watch_fit(screen: Screen, job: Any, steps: int, pause: float, out: Path | None) -> None:
    """Show every step of a fit."""
    from gnomon.report.columns import QuestionError

    model = job.model.model
    if not hasattr(model, "iterate"):
        raise QuestionError(f"{type(model).__name__} has no steps to watch: it has no iterate.")
    X = job.model.encoder.fit(job.problem.frame).transform(job.problem.frame)
    target = () if job.problem.y is None else (job.problem.y,)
    frames = islice(model.iterate(X, *target), steps + 1)
    if out is not None:
        count = _animate(frames, X, job.problem.y, out)
        screen.say(f"{count} steps: {out}")
        screen.result({"steps": count, "file": str(out)})
    elif screen.out.is_terminal and not screen.as_json:
        _live(screen, frames, X, pause)
    else:
        _lines(screen, frames)


def _objectives(model: Any) -> Any:
    values = np.asarray(getattr(getattr(model, "trace_", None), "objective", ()), dtype=float)
    return values[np.isfinite(values)]


def _lines(screen: Screen, frames: Iterator[Any]) -> None:
    told = []
    for step, model in enumerate(frames):
        values = _objectives(model)
        told.append({"step": step, "objective": float(values[-1]) if len(values) else None})
        screen.say(f"step {step}" + (f"  objective {values[-1]:.8g}" if len(values) else ""))
    screen.result({"steps": told})


def _live(screen: Screen, frames: Iterator[Any], X: Any, pause: float) -> None:
    from rich.live import Live

    with Live(console=screen.out, auto_refresh=False) as live:
        for step, model in enumerate(frames):
            live.update(_picture(model, X, step), refresh=True)
            time.sleep(pause)


def _picture(model: Any, X: Any, step: int) -> Any:
    """Return the rows, colored by what the model says of them, and the objective so far."""
    from rich.console import Group
    from rich.text import Text

    values = _objectives(model)
    title = f"{type(model).__name__}, step {step}" + (f": objective {values[-1]:.8g}" if len(values) else "")
    parts = [Text(title, style="bold"), *dots(X[:, : min(2, X.shape[1])], _groups(model, X), 60, 16)]
    if len(values) > 1:
        steps = np.linspace(0, len(values) - 1, 2 * 60)
        curve = np.column_stack([steps, np.interp(steps, np.arange(len(values)), values)])
        parts += [Text("objective"), *dots(curve, np.zeros(len(curve), dtype=int), 60, 5)]
    return Group(*parts)


def _groups(model: Any, X: Any) -> Any:
    """Return a small number for every row: its class, its group, or the fifth its prediction lies in."""
    if not hasattr(model, "predict"):
        return np.zeros(len(X), dtype=int)
    said = np.asarray(model.predict(X))
    if said.dtype.kind == "f" and len(np.unique(said)) > 7:
        return np.searchsorted(np.quantile(said, [0.2, 0.4, 0.6, 0.8]), said)
    return np.unique(said, return_inverse=True)[1].ravel()


def dots(points: Any, groups: Any, width: int, height: int) -> list[Any]:
    """Return a scatter plot in braille characters, one line of text per row.

    >>> [line.plain for line in dots(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1]), 2, 1)]
    ['⡀⠈']
    """
    from rich.text import Text

    plane = points if points.shape[1] == 2 else np.column_stack([points[:, 0], np.zeros(len(points))])
    low, span = plane.min(axis=0), np.ptp(plane, axis=0)
    place = (plane - low) / np.where(span > 0, span, 1.0) * [2 * width - 1, 4 * height - 1]
    column, row = place.round().astype(int).T
    row = 4 * height - 1 - row
    cells = np.zeros((height, width), dtype=int)
    paint = np.zeros((height, width), dtype=int)
    np.bitwise_or.at(cells, (row // 4, column // 2), BRAILLE[row % 4, column % 2])
    paint[row // 4, column // 2] = groups
    return [_line(Text(), cells[i], paint[i]) for i in range(height)]


BRAILLE = np.array(
    [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
)  # bits of U+2800 by row and column


def _line(text: Any, cells: Any, paint: Any) -> Any:
    for cell, group in zip(cells.tolist(), paint.tolist()):
        text.append(chr(0x2800 + cell) if cell else " ", style=COLORS[group % len(COLORS)] if cell else None)
    return text


def _animate(frames: Iterator[Any], X: Any, y: Any, out: Path) -> int:
    """Write a GIF, whole or not at all; return the number of steps."""
    from gnomon import plot
    from gnomon.plot import style

    seen = []

    def draw(model: Any, ax: Any) -> None:
        seen.append(model)
        if X.shape[1] == 2 and hasattr(model, "predict"):
            plot.decision_regions(model, X, y if y is not None else model.predict(X), ax, resolution=120)
        elif len(_objectives(model)):
            ax.autoscale()  # the curve grows from frame to frame
            plot.trace(model, ax)
        ax.set_title(f"{type(model).__name__}, step {len(seen) - 1}", color=style.QUIET)

    temporary = out.with_name(f".{out.name}.part.gif")
    try:
        plot.animate(frames, draw, temporary)
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
    return len(seen)
