"""Images: pictures (n, channels, height, width) and signals (n, channels, length), from whatever form they come in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, weights

FORMATS = ("channels_first", "channels_last")


class Images(Data):
    """Pictures or signals with a target and weights."""

    def __init__(
        self, X: Array, y: Array | None, weight: Array | None, classes: Array | None, scaling: float
    ) -> None:
        self.X, self.y, self.classes, self.scaling = X, y, classes, scaling
        self._weight = weight

    @property
    def weight(self) -> Array:
        """The weight of every picture; ones where none were given."""
        return np.ones(len(self.X)) if self._weight is None else self._weight

    @property
    def is_weighted(self) -> bool:
        """Whether weights were given."""
        return self._weight is not None

    def facts(self) -> dict[str, Any]:
        """Return shape of a picture, scaling of its values, classes."""
        shape = self.X.shape[1:]
        found = {"image_shape_": shape, "input_scaling_": self.scaling, "n_features_in_": math.prod(shape)}
        return found if self.classes is None else {**found, "classes_": self.classes}

    def digest(self) -> str:
        """Return a name for pictures, targets and weights."""
        return digest_of(self.X, self.y, self._weight, self.classes)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, units: Any) -> Images:
        """Return some of the pictures."""
        y, weight = (None if part is None else part[units] for part in (self.y, self._weight))
        return Images(self.X[units], y, weight, self.classes, self.scaling)


def read_images(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    dims: int = 2,
    input_shape: Sequence[int] | None = None,
    data_format: str = "channels_first",
    classes: Any = None,
    shape: Sequence[int] | None = None,
) -> Images:
    """Return pictures as (n, channels, sides...) of float32, checked.

    Parameters
    ----------
    X : array
        (n, height, width), (n, channels, height, width), the channels last, or flat rows with `input_shape`; for
        signals (dims=1) (n, length) or (n, channels, length). Bytes are divided by 255.
    target : {"class", "number"}, optional
    shape : tuple, optional
        What a fitted model has learned from; others are refused.
    """
    if X is None:
        raise DataError("X is None; give an array of images.")
    if sparse.issparse(X):
        raise DataError("X is sparse; images must be dense arrays: use X.toarray().")
    values = np.asarray(X)
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: X must hold real numbers.")
    if values.dtype.kind not in "fiub":
        raise DataError(f"X must hold numbers, it has dtype {values.dtype}. Are all images of one size?")
    scaling = 255.0 if values.dtype == np.uint8 else 1.0
    values = _shaped(values, dims, input_shape, data_format)
    values = np.ascontiguousarray(values, dtype=np.float32) / np.float32(scaling)
    if not len(values):
        raise DataError("X has no images (0 samples); at least one is needed.")
    if not np.isfinite(values).all():
        raise DataError("X has NaN or infinity in some image; mend or drop those images.")
    if shape is not None and values.shape[1:] != tuple(shape):
        raise DataError(
            f"X has images of shape {values.shape[1:]}, and the model has learned from {tuple(shape)}."
        )
    weight = None if sample_weight is None else weights(sample_weight, len(values))
    if target is None:
        return Images(values, None, weight, None, scaling)
    if y is None:
        raise DataError("y is missing: give a target for every image.")
    if np.shape(y)[:1] != (len(values),):
        raise DataError(f"y has shape {np.shape(y)}, and X has {len(values)} images: inconsistent numbers.")
    if target == "class":
        _no_holes(y)
        found, codes = encode(y, classes)
        return Images(values, codes, weight, found, scaling)
    numbers = np.asarray(y, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise DataError("y has NaN or infinity; drop those images.")
    return Images(values, numbers, weight, None, scaling)


def _no_holes(y: Any) -> None:
    labels = np.asarray(y)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError("y has NaN or infinity among its labels; drop those images.")


def _shaped(values: Array, dims: int, input_shape: Sequence[int] | None, data_format: str) -> Array:
    """Return (n, channels, sides...)."""
    if input_shape is not None and values.ndim == 2:
        if values.shape[1] != math.prod(input_shape):
            raise DataError(
                f"X has {values.shape[1]} columns, and input_shape={tuple(input_shape)} has {math.prod(input_shape)}."
            )
        values = values.reshape(len(values), *input_shape)
    elif values.ndim == dims + 2 and data_format == "channels_last":
        values = np.moveaxis(values, -1, 1)
    if values.ndim == dims + 1:
        values = values[:, None]
    if values.ndim != dims + 2:
        wanted = (
            "(n, channels, height, width) or (n, height, width)"
            if dims == 2
            else "(n, channels, length) or (n, length)"
        )
        raise DataError(
            f"X must be images of shape {wanted}; its shape is {values.shape}. For flat rows (2 dimensions) give "
            "input_shape."
        )
    return values
