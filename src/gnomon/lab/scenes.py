"""A step as a picture and a sentence: the scene of a model, from its kind and its learned attributes."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gnomon.lab.material import Material, View
from gnomon.lab.panels import Panel, family_of, matrix, number, numbers
from gnomon.lab.scene_experiments import experiment_panels
from gnomon.lab.scene_factors import component_panels, ratings_panels, topic_panels
from gnomon.lab.scene_graphs import belief_panels, structure_panels
from gnomon.lab.scene_nets import net_panels
from gnomon.lab.scene_rows import rows_scene
from gnomon.lab.scene_sequences import chain_panels, track_panels
from gnomon.lab.scene_trees import tree_panels, vote_panels
from gnomon.lab.scene_worlds import world_panels

FACTS = {"trace_", "n_iter_", "converged_", "n_features_in_", "feature_names_in_", "classes_", "labels_"}
MAX_CELLS = 1600  # of a matrix in the general scene
MAX_GENERAL = 4
SCENES = (
    experiment_panels, tree_panels, vote_panels, chain_panels, track_panels, belief_panels, structure_panels,
    world_panels, ratings_panels, topic_panels, net_panels,
)  # fmt: skip


def frame(model: Any, step: int, material: Material, view: View | None) -> dict[str, Any]:
    """Return everything the page shows of one step."""
    shown, said = panels(model, material, view), sentence(model, step)
    if re.fullmatch(r"\w+ \d+\.", said) and shown:  # a model that keeps no trace: what the picture shows
        said = f"{said.removesuffix('.')}: {shown[0]['title']}."
    return {
        "step": step,
        "trace": last_numbers(model),
        "said": said,
        "panels": shown,
        "done": bool(getattr(model, "converged_", False)),
    }


def panels(model: Any, material: Material, view: View | None) -> list[Panel]:
    """Return the scene of a model: its own, and its parameters as matrices where it has none."""
    found: list[Panel] = []
    sequence = hasattr(model, "transmat_") or hasattr(model, "smooth")
    found += _attempt(component_panels, model, material)  # parts and directions before the plane of the rows
    if view is not None and not sequence and _reads_rows(model):
        found += _attempt(rows_scene, model, material, view)
    for scene in SCENES:
        found += _attempt(scene, model, material)
    shown = [panel for panel in found if panel["kind"] != "plane" or len(panel["layers"]) > 1]
    return found if shown else [*found, *general(model)]


def _reads_rows(model: Any) -> bool:
    return family_of(model) not in ("recommend", "decide", "sequence", "topics", "lab")


def _attempt(scene: Any, *given: Any) -> list[Panel]:
    """Return a scene, or a note where the model has not learned enough to be drawn yet."""
    try:
        return list(scene(*given))
    except Exception as error:
        return [{"kind": "note", "title": "not drawn", "text": f"{type(error).__name__}: {str(error)[:300]}"}]


def general(model: Any) -> list[Panel]:
    """Return the learned arrays of a model as matrices: the scene of whatever has none of its own."""
    found: list[Panel] = []
    for name, value in sorted(vars(model).items()):
        if not name.endswith("_") or name.startswith("_") or name in FACTS:
            continue
        value = value.toarray() if hasattr(value, "toarray") else value
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and 1 < value.size:
            table = value.reshape(len(value), -1) if value.ndim > 2 else np.atleast_2d(value)
            if 0 < table.size <= MAX_CELLS:
                found.append(matrix(name, table, diverging=bool(np.nanmin(table.astype(float)) < 0)))
    told = [
        [name, number(value)]
        for name, value in sorted(vars(model).items())
        if name.endswith("_")
        and name not in FACTS
        and isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
    ]
    if told:
        found.append({"kind": "facts", "title": "numbers", "facts": told})
    return found[:MAX_GENERAL] or [{"kind": "facts", "title": "what it keeps", "facts": _kept(model)}]


def _kept(model: Any) -> list[list[str]]:
    """Return what a model without arrays or numbers has learned, in short."""
    return [[name, repr(value)[:200]] for name, value in sorted(vars(model).items()) if name.endswith("_")]


def last_numbers(model: Any) -> dict[str, float | None]:
    """Return the newest number of every column of the trace."""
    trace = getattr(model, "trace_", None)
    if trace is None or len(trace) == 0:
        return {}
    found = {
        name: values[-1] for name, values in trace.columns().items() if name != "seconds" and len(values)
    }
    return {str(name): number(value) for name, value in found.items() if math.isfinite(value)}


def sentence(model: Any, step: int) -> str:
    """Return what a step did, with its numbers."""
    if hasattr(model, "sentence"):  # an experiment of the lab says it itself
        return str(model.sentence())
    trace = getattr(model, "trace_", None)
    unit = str(getattr(trace, "unit", "step"))
    if trace is None and not hasattr(model, "iterate"):
        return "Step 1."
    if step == 0 and (trace is None or len(trace) == 0):
        return "The start, before the first " + unit + "."
    said = f"{unit.capitalize()} {max(step, len(trace) if trace is not None else 0)}"
    values = np.asarray(getattr(trace, "objective", ()), dtype=float)
    if len(values) and math.isfinite(values[-1]):
        said += f": objective {values[-1]:.6g}"
        if len(values) > 1 and math.isfinite(values[-2]):
            change = values[-1] - values[-2]
            said += f", {'up' if change > 0 else 'down'} by {abs(change):.3g}" if change else ", unchanged"
    if (
        trace is not None
        and trace.certificate is not None
        and len(trace.certificate)
        and math.isfinite(trace.certificate[-1])
    ):
        said += f"; at most {trace.certificate[-1]:.3g} from the optimum by its certificate"
    for name, column in getattr(trace, "info", {}).items():
        if len(column) and math.isfinite(column[-1]):
            said += f"; {name.replace('_', ' ')} {column[-1]:.4g}"
    return said + "."


def shown_points(material: Material, view: View | None) -> dict[str, Any] | None:
    """Return the data's own points, which every step draws and which are sent once."""
    if view is None:
        return None
    rows, named = np.asarray(material.X, dtype=float), material.y is not None and np.ndim(material.y) == 1
    named = named and np.asarray(material.y).dtype.kind != "f"
    return {
        "xy": numbers(view.xy),
        "axes": list(view.axes),
        "xlim": view.xlim,
        "ylim": view.ylim,
        "paint": material.paint,
        "groups": [str(value) for value in material.y] if named else None,
        "names": material.names[:12],
        "rows": numbers(rows[:, :12], 4) if rows.shape[1] > 2 else None,
    }
