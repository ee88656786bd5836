"""Rectangle (Haar) features of small images, by integral images."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.threads import in_order
from gnomon.loops.rectangles import rectangle_values

Array = np.ndarray
KINDS = ("2h", "2v", "3h", "3v", "4")
# rows and columns of cells, and the weight of each cell: black +1, white -1
CELLS = {
    "2h": ((1, 2), (-1, 1)),
    "2v": ((2, 1), (-1, 1)),
    "3h": ((1, 3), (-1, 1, -1)),
    "3v": ((3, 1), (-1, 1, -1)),
    "4": ((2, 2), (-1, 1, 1, -1)),
}


def integral_image(image: Any) -> Array:
    """Return sums over all rectangles that begin in the top left corner; the first row and column are zero.

    Works on one image (H, W) or a stack (n, H, W).

    Examples
    --------
    >>> integral_image(np.arange(1, 21).reshape(4, 5))[-1]
    array([  0.,  34.,  72., 114., 160., 210.])
    """
    image = np.asarray(image, dtype=np.float64)
    if image.ndim not in (2, 3):
        raise DataError(f"an image has two dimensions, a stack three; got shape {image.shape}.")
    out = np.zeros((*image.shape[:-2], image.shape[-2] + 1, image.shape[-1] + 1))
    out[..., 1:, 1:] = image.cumsum(axis=-2).cumsum(axis=-1)
    return out


def rectangle_sum(ii: Array, top: int, left: int, height: int, width: int) -> float:
    """Return the sum of the pixels in a rectangle from four entries of the integral image.

    Examples
    --------
    >>> float(rectangle_sum(integral_image(np.arange(1, 21).reshape(4, 5)), 1, 1, 2, 3))
    63.0
    """
    bottom, right = top + height, left + width
    return ii[..., bottom, right] - ii[..., top, right] - ii[..., bottom, left] + ii[..., top, left]


class HaarFeatures:
    """All rectangle features that fit into a square window.

    A feature is the sum over its black cells minus the sum over its white ones; cells have equal size. Kinds:
    "2h" (left white, right black), "2v" (top white, bottom black), "3h" and "3v" (middle black), "4"
    (checkerboard, top right and bottom left black). Patches are divided by their standard deviation.

    Parameters
    ----------
    window : int, default=24
        Side of the patches.
    kinds : tuple of str
        Which kinds to list.

    Attributes
    ----------
    n_features_ : int
    kinds_ : array of str
    boxes_ : array of shape (n_features_, 4, 5)
        Top, left, height, width and weight of every cell; unused ones have weight 0.

    Examples
    --------
    >>> HaarFeatures(24).n_features_, HaarFeatures(4).n_features_
    (162336, 136)
    """

    def __init__(self, window: int = 24, kinds: tuple[str, ...] = KINDS) -> None:
        self.window, self.kinds = int(window), tuple(kinds)
        unknown = set(self.kinds) - set(KINDS)
        if unknown:
            raise DataError(f"unknown kinds {sorted(unknown)}; choose from {KINDS}.")
        parts = [_boxes(kind, self.window) for kind in self.kinds]
        self.boxes_ = np.concatenate(parts)
        self.kinds_ = np.repeat(self.kinds, [len(part) for part in parts])
        self.n_features_ = len(self.boxes_)

    def transform(self, patches: Any, *, normalize: bool = True) -> Array:
        """Return the values of all features, (n, n_features_)."""
        integrals, scale = prepare_patches(patches, self.window, normalize=normalize)
        out = np.empty((self.n_features_, len(integrals)))
        blocks = [(f, min(f + 2000, self.n_features_)) for f in range(0, self.n_features_, 2000)]
        list(
            in_order(lambda b: rectangle_values(integrals, self.boxes_, scale, *b, out[b[0] : b[1]]), blocks)
        )
        return out.T

    def draw(self, index: int) -> Array:
        """Return a window with +1 on the black cells and -1 on the white ones."""
        image = np.zeros((self.window, self.window))
        for top, left, height, width, weight in self.boxes_[index]:
            image[top : top + height, left : left + width] += weight
        return image


def _boxes(kind: str, window: int) -> Array:
    (rows, columns), weights = CELLS[kind]
    found = []
    for h in range(1, window // rows + 1):
        for w in range(1, window // columns + 1):
            tops, lefts = np.arange(window - rows * h + 1), np.arange(window - columns * w + 1)
            top, left = (a.ravel() for a in np.meshgrid(tops, lefts, indexing="ij"))
            boxes = np.zeros((len(top), 4, 5), dtype=np.int64)
            for b, weight in enumerate(weights):
                r, c = divmod(b, columns)
                cell = (top + r * h, left + c * w, h, w, weight)
                boxes[:, b] = np.stack(np.broadcast_arrays(*cell), axis=1)
            found.append(boxes)
    return np.concatenate(found) if found else np.zeros((0, 4, 5), dtype=np.int64)


def prepare_patches(patches: Any, window: int, *, normalize: bool = True) -> tuple[Array, Array]:
    """Return integral images and one over the standard deviation of every patch (1 for a flat one)."""
    images = np.asarray(patches, dtype=np.float64)
    images = images.reshape(len(images), window, window) if images.ndim == 2 else images
    if images.shape[1:] != (window, window):
        raise DataError(f"patches must be {window} x {window}; got {images.shape[1:]}.")
    sigma = images.std(axis=(1, 2))
    scale = 1.0 / np.where(sigma > 1e-6, sigma, 1.0) if normalize else np.ones(len(images))
    return integral_image(images), scale
