"""The Python program that gives the same run as the page."""

from __future__ import annotations

import inspect
from typing import Any

from gnomon.lab.learners import catalog
from gnomon.lab.material import Material


def program(model: Any, material: Material, settings: dict[str, Any]) -> str:
    """Return lines of Python: the data, the model, and a loop over its steps."""
    name, package = type(model).__name__, catalog().get(type(model).__name__, type(model).__module__)
    given = "X" if len(material.given) == 1 else "X, y"
    if material.code.endswith("y = job.problem.y") or "job = prepare(" in material.code:
        made = "model = job.model.model"
        imports = ""
    else:
        made = f"model = {name}({_arguments(model)})"
        imports = f"from {package} import {name}\n"
        if name.startswith("ConvNet"):
            imports += "from gnomon.neural import layers\n"
            made = made.replace("<layers>", "[layers.Conv2d(3, 3), layers.Activation('relu')]")
    shown = "fitted" if package == "gnomon.lab.experiments" else "fitted.trace_"
    if hasattr(model, "iterate"):
        loop = f"for step, fitted in enumerate(model.iterate({given})):\n    print(step, {shown})"
    else:
        loop = f"fitted = model.fit({given})"
    return f"{imports}\n{material.code}\n\n{made}\n{loop}\n".lstrip()


def _arguments(model: Any) -> str:
    defaults = inspect.signature(type(model)).parameters
    told = []
    for name, value in model.get_params(deep=False).items():
        default = defaults[name].default
        if value is default or repr(value) == repr(default):
            continue
        told.append(f"{name}=<layers>" if name == "layers" else f"{name}={value!r}")
    return ", ".join(told)
