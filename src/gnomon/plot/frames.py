"""Moving pictures: one frame for every step of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style


def animate(
    models: Iterable[Any],
    draw: Callable[[Any, Any], Any],
    path: str | Path,
    *,
    seconds_per_frame: float = 0.4,
    max_frames: int = 200,
    size: tuple[float, float] = (6, 4.5),
) -> Path:
    """Write a GIF with one frame per model, such as the steps of a fit.

    Parameters
    ----------
    models : iterable
        ``model.iterate(X)``, or any sequence of things to draw. The last frame stays a little longer.
    draw : function (model, ax)
        Draws one frame on empty axes. Limits that it does not set are kept from the first frame.
    path : str or Path
        Where to write.
    seconds_per_frame : float
        How long a frame is shown.
    max_frames : int
        At most so many frames; later models are left out, except that the last one is always shown.
    size : pair of floats
        Width and height in inches.

    Returns
    -------
    Path
        The file written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=100)
    canvas = FigureCanvasAgg(figure)
    frames: list[Any] = []
    limits: tuple[Any, Any] | None = None
    last, step = None, -1
    for step, model in enumerate(models):
        last = model
        if step < max_frames - 1:
            frame, limits = _frame(figure, canvas, draw, model, step, limits)
            frames.append(frame)
    if step < 0:
        raise DataError("there is nothing to animate: no model was handed out")
    if step >= max_frames - 1:
        frames.append(_frame(figure, canvas, draw, last, step, limits)[0])
    return _write(frames, Path(path), seconds_per_frame)


def _frame(figure: Any, canvas: Any, draw: Any, model: Any, step: int, limits: Any) -> tuple[Any, Any]:
    """Draw one model and return the picture and the limits of its axes."""
    from PIL import Image

    figure.clear()
    ax = style.axes(figure.add_subplot())
    if limits is not None:
        ax.set(xlim=limits[0], ylim=limits[1])
    draw(model, ax)
    if not ax.get_title():
        ax.set_title(f"step {step}")
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    return picture, (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else limits


def _write(frames: list[Any], path: Path, seconds: float) -> Path:
    """Write the frames as an endless GIF; colors are chosen once, from the first and the last frame."""
    times = [int(1000 * seconds)] * (len(frames) - 1) + [int(1000 * max(4 * seconds, 1.5))]
    first, *rest = [frame.quantize(128) for frame in frames]
    first.save(path, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    return path
