"""Networks for other programs: safetensors and ONNX."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.devices import import_torch
from gnomon.core.validate import check_fitted


def export(model: Any, path: Any) -> None:
    """Write weights (.safetensors) or the whole computation (.onnx) of a fitted network."""
    check_fitted(model)
    path = Path(path)
    if path.suffix not in (".safetensors", ".onnx"):
        raise ValueError(f"path must end in .safetensors or .onnx; got {path.name!r}.")
    weights, shape, name = model._exported()
    if path.suffix == ".safetensors":
        from safetensors.numpy import save_file

        save_file({key: np.ascontiguousarray(value) for key, value in weights.items()}, path)
    elif shape is None:
        raise ValueError(f"{type(model).__name__} has no fixed input shape; it cannot be written as ONNX.")
    else:
        _write_onnx(model.to_module(), path, shape, name)


def _write_onnx(module: Any, path: Path, shape: tuple[int, ...], name: str) -> None:
    """Write the computation of a module for any number of rows."""
    torch = import_torch()
    try:
        import onnxscript  # noqa: F401 - torch's exporter is made of it
    except ImportError as error:
        raise ImportError("writing ONNX needs one package more: pip install onnxscript") from error
    example = torch.zeros(2, *shape, dtype=next(module.parameters()).dtype)
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of every optional package that is not there
    try:
        torch.onnx.export(
            module, (example,), str(path), input_names=[name], output_names=["scores"], dynamo=True, verbose=False,
            dynamic_shapes=({0: torch.export.Dim("n")},), external_data=False,
        )  # fmt: skip
    finally:
        log.setLevel(level)
