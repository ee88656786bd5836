"""Augmentation: changes of images that keep their label, drawn anew every epoch, the same for any number of workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array

GRAY = np.array([0.299, 0.587, 0.114])


class Augmentation:
    r"""Random changes of images that keep their label.

    Applied in this order, each with its own draw for every image and epoch: shift, rotation, crop of the padded
    image, flip, color.

    Parameters
    ----------
    crop_padding : int, default=0
        Pad by so many zeros at every side, then cut the old size out at a random place.
    flip : float, default=0.0
        Probability of a mirror image, left to right.
    shift : int, default=0
        Move by up to so many pixels, filling with zeros.
    rotate : float, default=0.0
        Turn by up to so many degrees.
    brightness, contrast, saturation : float, default=0.0
        Factors are drawn within 1 ± the value; saturation needs three channels.
    color_pca : float, default=0.0
        Add :math:`\sum_k \alpha_k\lambda_k e_k` to every pixel, :math:`\alpha_k\sim N(0, s^2)`, over the
        eigenpairs of the covariance
        of the image's channels (Krizhevsky et al., 2012).
    value_range : (float, float), optional
        Values are clipped to it.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> flipped = Augmentation(flip=1.0)(image, random_state=0)
    >>> flipped[0, 0].tolist()
    [[1.0, 0.0], [3.0, 2.0]]
    """

    def __init__(
        self, *, crop_padding: int = 0, flip: float = 0.0, shift: int = 0, rotate: float = 0.0, brightness: float = 0.0,
        contrast: float = 0.0, saturation: float = 0.0, color_pca: float = 0.0,
        value_range: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        if not 0.0 <= flip <= 1.0:
            raise ValueError(f"flip is a probability between 0 and 1; got {flip}.")
        sizes = {"crop_padding": crop_padding, "shift": shift, "rotate": rotate, "color_pca": color_pca}
        sizes |= {"brightness": brightness, "contrast": contrast, "saturation": saturation}
        for name, value in sizes.items():
            if value < 0:
                raise ValueError(f"{name} must not be negative; got {value}.")
        self.crop_padding, self.flip, self.shift, self.rotate = crop_padding, flip, shift, rotate
        self.brightness, self.contrast, self.saturation = brightness, contrast, saturation
        self.color_pca, self.value_range = color_pca, value_range

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value)
        return f"Augmentation({chosen})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Augmentation) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(sorted(vars(self).items())))

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """Return eleven numbers for each of `n` images: what is done to each, whatever batch it comes in."""
        uniform = rng.random((n, 8))
        return np.column_stack([uniform, rng.normal(size=(n, 3))])

    def apply(self, X: Array, draws: Array, units: Any) -> Array:
        """Return the images changed by the draws of their units."""
        X = np.asarray(X)
        if X.ndim != 4:
            raise DataError(
                f"augmentation is for images (n, channels, height, width); X has shape {X.shape}."
            )
        u = draws[units]
        out = X.astype(np.float64, copy=True)
        if self.shift:
            out = _shifted(out, np.rint((2 * u[:, :2] - 1) * self.shift).astype(int))
        if self.rotate:
            out = _rotated(out, (2 * u[:, 2] - 1) * self.rotate)
        if self.crop_padding:
            out = _cropped(
                out, self.crop_padding, np.floor(u[:, 3:5] * (2 * self.crop_padding + 1)).astype(int)
            )
        if self.flip:
            mirrored = u[:, 5] < self.flip
            out[mirrored] = out[mirrored, :, :, ::-1]
        out = self._colored(out, u)
        if self.value_range is not None:
            out = np.clip(out, *self.value_range)
        return out.astype(X.dtype)

    def _colored(self, out: Array, u: Array) -> Array:
        if self.brightness:
            out = out * (1.0 + self.brightness * (2 * u[:, 6] - 1))[:, None, None, None]
        if self.contrast:
            mean = out.mean(axis=(1, 2, 3), keepdims=True)
            out = mean + (out - mean) * (1.0 + self.contrast * (2 * u[:, 7] - 1))[:, None, None, None]
        if (self.saturation or self.color_pca) and out.shape[1] != 3:
            raise DataError(f"saturation and color_pca need three channels; the images have {out.shape[1]}.")
        if self.saturation:
            gray = np.einsum("c,nchw->nhw", GRAY, out)[:, None]
            out = gray + (out - gray) * (1.0 + self.saturation * (2 * u[:, 0] - 1))[:, None, None, None]
        if self.color_pca:
            flat = out.reshape(len(out), 3, -1)
            values, vectors = np.linalg.eigh(np.stack([np.cov(image) for image in flat]))
            moved = np.einsum("nck,nk->nc", vectors, self.color_pca * u[:, 8:11] * values)
            out = out + moved[:, :, None, None]
        return out

    def __call__(self, X: Any, random_state: Any = None) -> Array:
        """Return images changed at random.

        Parameters
        ----------
        X : array (n, channels, height, width)
        random_state : int or None
        """
        X = np.asarray(X)
        if X.ndim != 4:
            raise DataError(
                f"augmentation is for images (n, channels, height, width); X has shape {X.shape}."
            )
        draws = self.draw(len(X), np.random.default_rng(random_state))
        return self.apply(X, draws, np.arange(len(X)))

    @staticmethod
    def ten_crop(X: Any, size: int) -> Array:
        """Return corners and center, each with its mirror image: (10, n, channels, size, size); average the
        answers over them.

        >>> Augmentation.ten_crop(np.zeros((2, 3, 8, 8)), 6).shape
        (10, 2, 3, 6, 6)
        """
        X = np.asarray(X)
        if X.ndim != 4 or size > min(X.shape[2:]):
            raise DataError(f"a crop of {size} does not fit into images of shape {X.shape}.")
        down, right = (side - size for side in X.shape[2:])
        places = [(0, 0), (0, right), (down, 0), (down, right), (down // 2, right // 2)]
        crops = [X[:, :, y : y + size, x : x + size] for y, x in places]
        return np.stack([*crops, *(crop[..., ::-1] for crop in crops)])


def _shifted(X: Array, moves: Array) -> Array:
    out, (height, width) = np.zeros_like(X), X.shape[2:]
    for i, (dy, dx) in enumerate(moves):
        to = slice(max(dy, 0), height + min(dy, 0)), slice(max(dx, 0), width + min(dx, 0))
        from_ = slice(max(-dy, 0), height + min(-dy, 0)), slice(max(-dx, 0), width + min(-dx, 0))
        out[(i, slice(None), *to)] = X[(i, slice(None), *from_)]
    return out


def _rotated(X: Array, degrees: Array) -> Array:
    from scipy.ndimage import rotate

    return np.stack(
        [rotate(image, angle, axes=(1, 2), reshape=False, order=1) for image, angle in zip(X, degrees)]
    )


def _cropped(X: Array, padding: int, corners: Array) -> Array:
    pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded, (height, width) = np.pad(X, pads), X.shape[2:]
    return np.stack([image[:, y : y + height, x : x + width] for image, (y, x) in zip(padded, corners)])
