"""The few kinds of picture a scene is made of, as data for the page: planes with layers, matrices, bars, graphs.

The page knows these kinds and nothing about learning; a scene is a list of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
Panel = dict[str, Any]
Layer = dict[str, Any]


def numbers(values: Any, digits: int = 5) -> list[Any]:
    """Return an array as nested lists, rounded to so many digits of its largest entry; what is not finite is None.

    >>> numbers([1.23456789, float("nan"), 1000.0], 5)
    [1.2, None, 1000.0]
    """
    array = np.asarray(values, dtype=float)
    finite = np.isfinite(array)
    largest = float(np.abs(array[finite]).max()) if finite.any() else 0.0
    places = digits - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    rounded = np.round(array, int(np.clip(places, -300, 300)))
    if finite.all():
        return rounded.tolist()  # type: ignore[no-any-return]
    return np.where(finite, rounded.astype(object), None).tolist()  # type: ignore[no-any-return]


def number(value: Any) -> float | None:
    """Return one number with six digits, or None when it is not finite."""
    value = float(value)
    return float(f"{value:.6g}") if math.isfinite(value) else None


def codes(labels: Any) -> str:
    """Return small whole numbers as one character each.

    >>> codes([0, 1, 11])
    '01b'
    """
    return "".join(DIGITS[int(label) % 36] for label in np.ravel(labels))


def limits(values: Any, margin: float = 0.08) -> list[float]:
    """Return the range of the values, a little widened; never empty."""
    array = np.asarray(values, dtype=float)
    array = array[np.isfinite(array)]
    low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 1.0)
    space = margin * (high - low) or 1.0
    return numbers([low - space, high + space], 6)


def plane(title: str, x: str, y: str, xlim: Any, ylim: Any, layers: list[Layer], **more: Any) -> Panel:
    """Return a picture in the plane: axes with names and limits, and layers from the bottom to the top."""
    return {
        "kind": "plane", "title": title, "x": x, "y": y, "xlim": list(xlim), "ylim": list(ylim),
        "layers": layers, **more,
    }  # fmt: skip


def data_points(
    classes: Any = None, *, ringed: Any = (), sizes: Any = None, tips: Any = None, shares: Any = None
) -> Layer:
    """Return the layer of the data's own points, whose places the page knows already; shares mix their colors."""
    layer: Layer = {"type": "data", "ring": np.asarray(ringed, dtype=int).tolist()}
    if classes is not None:
        layer["codes"] = codes(classes)
    if sizes is not None:
        layer["sizes"] = numbers(sizes, 3)
    if tips is not None:
        layer["tips"] = tips
    if shares is not None:
        layer["shares"] = codes(np.round(35 * np.clip(shares, 0, 1)))
        layer["parts"] = np.shape(shares)[1]
    return layer


def points(xy: Any, *, classes: Any = None, mark: str = "dot", tips: Any = None, size: float = 4) -> Layer:
    """Return marks at places."""
    xy = np.asarray(xy, dtype=float).reshape(-1, 2)
    layer: Layer = {"type": "points", "xy": numbers(xy), "mark": mark, "size": size}
    if classes is not None:
        layer["codes"] = codes(classes)
    if tips is not None:
        layer["tips"] = list(tips)
    return layer


def line(xy: Any, *, color: int = 0, width: float = 2, dash: bool = False, name: str = "") -> Layer:
    """Return a broken line."""
    return {
        "type": "line", "xy": numbers(xy), "color": color, "width": width, "dash": dash, "name": name,
    }  # fmt: skip


def band(x: Any, low: Any, high: Any, *, color: int = 0) -> Layer:
    """Return the region between two curves."""
    return {"type": "band", "x": numbers(x), "low": numbers(low), "high": numbers(high), "color": color}


def raster(labels: Any, xlim: Any, ylim: Any, shape: tuple[int, int]) -> Layer:
    """Return regions: the group of every cell, row by row from below."""
    return {
        "type": "regions", "rows": shape[0], "columns": shape[1], "codes": codes(labels),
        "xlim": list(xlim), "ylim": list(ylim),
    }  # fmt: skip


def surface(values: Any, xlim: Any, ylim: Any, shape: tuple[int, int], **more: Any) -> Layer:
    """Return a field of numbers as shades, row by row from below."""
    return {
        "type": "surface", "rows": shape[0], "columns": shape[1], "values": numbers(np.ravel(values), 4),
        "xlim": list(xlim), "ylim": list(ylim), **more,
    }  # fmt: skip


def ellipse(center: Any, covariance: Any, *, color: int = 0, deviations: float = 2.0) -> Layer:
    """Return the ellipse of so many standard deviations around a center."""
    covariance = np.asarray(covariance, dtype=float)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    angle = np.linspace(0, 2 * np.pi, 49)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(np.clip(values, 0, None))
    return line(np.asarray(center) + deviations * circle @ vectors.T, color=color)


def contour(values: Any, x: Any, y: Any, level: float, **look: Any) -> list[Layer]:
    """Return where a field on a grid crosses a level."""
    from contourpy import contour_generator

    lines = contour_generator(x, y, np.asarray(values, dtype=float)).lines(level)
    return [line(part, **look) for part in lines]


def matrix(title: str, values: Any, rows: Any = None, columns: Any = None, **more: Any) -> Panel:
    """Return a table of numbers as shades."""
    values = np.atleast_2d(np.asarray(values, dtype=float))
    return {
        "kind": "matrix", "title": title, "values": numbers(values),
        "rows": None if rows is None else [str(name) for name in rows],
        "columns": None if columns is None else [str(name) for name in columns],
        **more,
    }  # fmt: skip


def bars(title: str, names: Any, values: Any, codes_: Any = None) -> Panel:
    """Return bars with names."""
    return {
        "kind": "bars", "title": title, "names": [str(name) for name in names], "values": numbers(values),
        "codes": None if codes_ is None else codes(codes_),
    }  # fmt: skip


def graph(title: str, nodes: list[dict[str, Any]], edges: list[dict[str, Any]], **more: Any) -> Panel:
    """Return nodes (x, y, name, value, code) and edges (from, to, value) between them; x and y in [0, 1]."""
    return {"kind": "graph", "title": title, "nodes": nodes, "edges": edges, **more}


def circle_layout(names: Any) -> list[dict[str, Any]]:
    """Return nodes on a circle."""
    names = list(names)
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / max(1, len(names))
    radius = 0.38 if len(names) > 1 else 0.0
    return [
        {
            "x": round(0.5 + radius * math.cos(a), 4),
            "y": round(0.5 + radius * math.sin(a), 4),
            "name": str(name),
        }
        for name, a in zip(names, angles)
    ]


def family_of(model: Any) -> str:
    """Return the package a model, or what a class of one's own is made from, comes from: "linear", "topics"."""
    modules = [base.__module__.split(".") for base in type(model).__mro__]
    found = [parts[1] for parts in modules if parts[0] == "gnomon" and len(parts) > 1]
    return next(iter([*found, *modules[0][1:]]), "")


def answer_or_none(ask: Callable[[], Any]) -> Any:
    """Return what a model says, or None where it cannot say it."""
    try:
        return ask()
    except Exception:
        return None
