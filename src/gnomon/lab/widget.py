"""The lab in a notebook: one run as a widget, with the same pictures as on the page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.lab.formulas import formula_of
from gnomon.lab.material import Material, View, view
from gnomon.lab.runs import steps
from gnomon.lab.scenes import frame, shown_points


def show(model: Any, X: Any, y: Any = None) -> Any:
    """Show a fit step by step as a widget of a notebook.

    Parameters
    ----------
    model : estimator
        Any model of the library; it is left as it was.
    X, y
        What it learns from, as in ``fit``.

    Returns
    -------
    anywidget.AnyWidget
        With buttons for run, step and back, and the trace. Its `frames` are the data of the pictures.

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.lab import show
    >>> widget = show(KMeans(2, random_state=0), [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])  # doctest: +SKIP
    """
    head, frames = run(model, X, y)
    return _widget_class()(head=head, frames=frames)


def run(model: Any, X: Any, y: Any = None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the head and the steps of a fit, as the page gets them."""
    material, points = _material(X, y)
    frames = [frame(copy, step, material, points) for step, copy in steps(model, material)]
    head = {
        "model": type(model).__name__,
        "formula": formula_of(type(model)),
        "points": shown_points(material, points),
    }
    return head, frames


def _material(X: Any, y: Any) -> tuple[Material, View | None]:
    names = [str(name) for name in getattr(X, "columns", ())]
    given: Any = X
    if hasattr(X, "to_numpy"):
        given = X.to_numpy()
    elif isinstance(X, list) and X and np.ndim(X[0]) == 1 and not isinstance(X[0][0], str):
        try:
            given = np.asarray(X, dtype=float)
        except ValueError:  # sequences of different lengths
            given = X
    values = None if y is None else np.asarray(y) if not isinstance(y, list) or np.ndim(y) == 1 else y
    width = given.shape[1] if isinstance(given, np.ndarray) and given.ndim == 2 else 0
    names = names or [f"x{j}" for j in range(width)]
    material = Material(
        (given,) if values is None else (given, values), "", names, "y" if y is not None else ""
    )
    return material, view(material)


@cache
def _widget_class() -> Any:
    """Return the class of the widget; anywidget is imported when the first one is shown."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise DataError(
            "show needs anywidget: pip install anywidget. Without a notebook, run `gnomon lab`."
        ) from None

    class Widget(anywidget.AnyWidget):
        """A run with its pictures."""

        _esm = script()
        _css = styles()
        head = traitlets.Dict().tag(sync=True)
        frames = traitlets.List().tag(sync=True)

    return Widget


def styles() -> str:
    """Return the styles of the widget, none of which reaches outside of it."""
    return "\n".join(_text(name) for name in ("uplot.css", "scene.css", "widget.css"))


def script() -> str:
    """Return the modules of the page and the widget's own as one module."""
    parts = [
        _wrapped("uPlot", _inner("uplot.js").replace("{ uPlot as default };", ""), "uPlot"),
        _wrapped("drawn", _inner("draw.js"), "{ draw, find, height, short, COLORS }"),
        "const { draw, find, height, short, COLORS } = drawn;\nconst run = () => {};",
        _wrapped("Scene", _inner("scene.js"), "Scene"),
        _text("widget.js"),
    ]
    return "\n".join(parts)


def _wrapped(name: str, body: str, result: str) -> str:
    return f"const {name} = (() => {{\n{body}\nreturn {result};\n}})();"


def _inner(name: str) -> str:
    """Return a module without its imports and exports."""
    lines = [line for line in _text(name).splitlines() if not line.startswith("import ")]
    return "\n".join(line.removeprefix("export ") for line in lines)


def _text(name: str) -> str:
    return files("gnomon.lab").joinpath("static").joinpath(name).read_text(encoding="utf-8")
