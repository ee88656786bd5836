"""The card of a model: what it is, what it was told, what it learned, and from which data."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np

from gnomon._lazy import PACKAGES
from gnomon.report.encoder import TableModel
from gnomon.report.plain import first_line


def card(model: Any) -> dict[str, Any]:
    """Return the card of a fitted model, alone or with the table it was fitted to.

    >>> from gnomon.cluster import KMeans
    >>> found = card(KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]]))
    >>> found["model"], found["parameters"]["n_clusters"], found["fit"]["converged"]
    ('gnomon.cluster.KMeans', 2, True)
    """
    inner = getattr(model, "model_", model)
    return {
        "model": _address(type(inner)),
        "about": first_line(inspect.getdoc(type(inner)) or ""),
        "formula": formula(type(inner)),
        "parameters": _parameters(inner),
        "changed": _changed(inner),
        "fit": _fit(inner),
        "learned": _learned(inner),
        "data": _data(model, inner),
    }


def _address(cls: type) -> str:
    """Return where a class can be imported from: its family, if that offers it, else its file."""
    family = ".".join(cls.__module__.split(".")[:2])
    return f"{family if cls.__name__ in PACKAGES.get(family, {}) else cls.__module__}.{cls.__name__}"


def formula(cls: type) -> str:
    """Return the first formula of a docstring, as TeX, or nothing."""
    lines = (inspect.getdoc(cls) or "").splitlines()
    for place, line in enumerate(lines):
        if line.strip().startswith(".. math::"):
            same = line.partition(".. math::")[2].strip()
            rest = lines[place + 1 :]
            block = []
            for later in rest[1:] if rest and not rest[0].strip() and not same else rest:
                if later.strip() and not later.startswith((" ", "\t")):
                    break
                if not later.strip() and (block or same):
                    break
                block.append(later)
            return "\n".join([*([same] if same else []), textwrap.dedent("\n".join(block)).strip()]).strip()
    return ""


def _parameters(model: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in model.get_params(deep=False).items()}


def _changed(model: Any) -> list[str]:
    """Return the names of the parameters that are not at their defaults."""
    defaults = inspect.signature(type(model)).parameters
    given = model.get_params(deep=False)
    return [name for name, value in given.items() if repr(value) != repr(defaults[name].default)]


def _fit(model: Any) -> dict[str, Any]:
    """Return how the fit went: steps, objective, certificate."""
    trace = getattr(model, "trace_", None)
    told: dict[str, Any] = {}
    if trace is not None and len(trace) and np.isfinite(trace.objective).all():
        told = {"steps": len(trace), "objective": [float(value) for value in trace]}
        told["seconds"] = float(trace.seconds[-1])
        if trace.certificate is not None and len(trace.certificate):
            told["certificate"] = float(trace.certificate[-1])
    if hasattr(model, "converged_"):
        told["converged"] = bool(model.converged_)
    return told


def _learned(model: Any) -> dict[str, str]:
    """Return the fitted attributes: numbers as they are, arrays by their shape."""
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    skip = {"trace_", "converged_", "n_iter_", "classes_", "feature_names_in_", "n_features_in_"}
    return {name: _size(getattr(model, name)) for name in sorted(set(names) - skip)}


def _size(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"array {value.shape}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, separator=", ").replace("\n", "")
    if isinstance(value, bool | int | float | str | None):
        return repr(value)
    if hasattr(value, "shape"):
        return f"{type(value).__name__} {tuple(value.shape)}"
    return f"{type(value).__name__}" + (f" of {len(value)}" if hasattr(value, "__len__") else "")


def _data(model: Any, inner: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"features": int(getattr(inner, "n_features_in_", 0))}
    if isinstance(model, TableModel):
        told |= {"rows": model.n_rows_, "columns": model.encoder_.columns(), "target": model.target}
        told["sees"] = model.encoder_.names()
        told["units"] = "standardized" if getattr(model.encoder_, "scale", False) else "as in the table"
    elif hasattr(inner, "feature_names_in_"):
        told["columns"] = [str(name) for name in inner.feature_names_in_]
    if hasattr(inner, "classes_"):
        told["classes"] = np.asarray(inner.classes_).tolist()
    return told


def _plain(value: Any) -> Any:
    """Return a parameter as JSON knows it."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.tolist() if isinstance(value, np.ndarray) and value.size <= 20 else repr(value)
