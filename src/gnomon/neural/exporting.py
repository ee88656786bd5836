"""Networks for other programs: safetensors and ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.devices import import_torch
from gnomon.core.validate import check_fitted


def export(model: Any, path: Any) -> None:
    """Write weights (.safetensors) or the whole computation (.onnx) of a fitted network."""
    check_fitted(model)
    path = Path(path)
    if path.suffix == ".safetensors":
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(value) for name, value in model.weights_.items()}, path)
        return
    if path.suffix != ".onnx":
        raise ValueError(f"path must end in .safetensors or .onnx; got {path.name!r}.")
    torch = import_torch()
    if not hasattr(model, "image_shape_"):
        raise ValueError(
            f"{type(model).__name__} has no fixed input shape; only networks of images are written as ONNX."
        )
    module = model.to_module()
    example = torch.zeros(1, *model.image_shape_, dtype=next(module.parameters()).dtype)
    try:
        import onnxscript  # noqa: F401 - torch's exporter is made of it
    except ImportError as error:
        raise ImportError("writing ONNX needs one package more: pip install onnxscript") from error
    torch.onnx.export(
        module, (example,), str(path), input_names=["images"], output_names=["scores"], dynamo=True
    )
