"""Images by patches: cut out, modeled as rows, put back; noise and holes go on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.decomposition.ppca import ProbabilisticPCA


def _image(image: Any, nan: bool = False) -> Array:
    A = np.asarray(image, dtype=np.float64)
    if A.ndim not in (2, 3):
        raise DataError(f"image must have shape (height, width) or (height, width, channels); got {A.shape}.")
    if np.isinf(A).any() or (not nan and np.isnan(A).any()):
        raise DataError("image has entries that are not finite; use inpaint_image where pixels are missing.")
    return A


def _corners(shape: tuple[int, ...], size: tuple[int, int], stride: int) -> tuple[Array, Array]:
    (h, w), (a, b) = shape[:2], size
    if not (1 <= a <= h and 1 <= b <= w):
        raise DataError(f"size {size} does not fit into an image of {h} × {w}.")
    if stride < 1:
        raise DataError(f"stride must be at least 1; got {stride}.")
    rows, columns = np.arange(0, h - a + 1, stride), np.arange(0, w - b + 1, stride)
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows))


def extract_patches(
    image: Any,
    size: tuple[int, int] = (8, 8),
    stride: int = 1,
    max_patches: int | None = None,
    random_state: Any = None,
) -> Array:
    """Return the overlapping patches of an image as rows, all channels of a patch side by side.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
    size : tuple of int, default=(8, 8)
    stride : int, default=1
        Pixels from one patch to the next.
    max_patches : int, optional
        Keep a random choice of so many.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> extract_patches(np.arange(6.0).reshape(2, 3), (2, 2))
    array([[0., 1., 3., 4.],
           [1., 2., 4., 5.]])
    """
    A = _image(image, nan=True)
    rows, columns = _corners(A.shape, size, stride)
    windows = np.lib.stride_tricks.sliding_window_view(A, size, axis=(0, 1))  # (h, w, [c], a, b)
    if A.ndim == 3:
        windows = np.moveaxis(windows, 2, -1)
    if max_patches is not None and max_patches < len(rows):
        chosen = np.sort(generator(random_state).choice(len(rows), int(max_patches), replace=False))
        rows, columns = rows[chosen], columns[chosen]
    return windows[rows, columns].reshape(len(rows), -1)


def reconstruct_from_patches(
    patches: Any, shape: tuple[int, ...], stride: int = 1, size: Any = None
) -> Array:
    """Return the image of this shape whose patches these are; where they overlap, their average.

    Parameters
    ----------
    patches : array of shape (number, pixels)
        In the order of `extract_patches`, all of them.
    shape : tuple
        Of the image.
    stride : int, default=1
    size : tuple of int, optional
        Of a patch; a square when not given.

    Examples
    --------
    >>> A = np.arange(12.0).reshape(3, 4)
    >>> bool((reconstruct_from_patches(extract_patches(A, (2, 2)), (3, 4)) == A).all())
    True
    """
    P = np.asarray(patches, dtype=np.float64)
    channels = shape[2] if len(shape) == 3 else 1
    if size is None:
        side = int(round(np.sqrt(P.shape[1] / channels)))
        size = (side, side)
    a, b = size
    rows, columns = _corners(shape, (a, b), stride)
    if P.shape != (len(rows), a * b * channels):
        raise DataError(
            f"patches must have shape {(len(rows), a * b * channels)} for an image {shape} with patches {size}; got "
            f"{P.shape}."
        )
    blocks = P.reshape(len(rows), a, b, channels)
    out, cover = np.zeros((*shape[:2], channels)), np.zeros((*shape[:2], 1))
    for i in range(a):
        for j in range(b):
            np.add.at(out, (rows + i, columns + j), blocks[:, i, j])
            np.add.at(cover, (rows + i, columns + j), 1.0)
    if (cover == 0).any():
        raise DataError(f"stride={stride} leaves pixels that no patch covers; lower it.")
    return (out / cover).reshape(shape)


class RestoredImage(NamedTuple):
    """The image, its deviation pixel by pixel, the noise that was learned, and the model of the patches."""

    image: Array
    std: Array
    noise: float
    model: Any

    def psnr(self, truth: Any, peak: float = 1.0) -> float:
        """Return the peak signal-to-noise ratio in decibels, 10 log₁₀(peak²/mean squared error)."""
        error = float(np.mean((self.image - np.asarray(truth, dtype=np.float64)) ** 2))
        return float(10.0 * np.log10(peak**2 / error)) if error > 0 else float("inf")


def _restored(image: Array, size: Any, stride: int, model: Any) -> RestoredImage:
    """Fit a model to the patches and replace each by what the model expects of it."""
    patches = extract_patches(image, size, stride)
    fitted = model.fit(patches)
    if hasattr(fitted, "posterior"):
        found = [_expected(fitted, block) for block in np.array_split(patches, max(1, len(patches) // 4096))]
        clean, variance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    else:
        clean = fitted.inverse_transform(fitted.transform(patches))
        variance = np.zeros_like(clean)
    noise = float(np.sqrt(np.mean(getattr(fitted, "noise_variance_", 0.0))))
    restored = reconstruct_from_patches(clean, image.shape, stride, size)
    spread = np.sqrt(reconstruct_from_patches(variance, image.shape, stride, size))
    return RestoredImage(restored, spread, noise, fitted)


def _expected(model: Any, patches: Array) -> tuple[Array, Array]:
    """μ + W m and the variance of Wz for every patch."""
    means, covariances = model.posterior(patches)
    W = model.components_
    variance = np.einsum("kp,nkl,lp->np", W, covariances, W, optimize=True)
    return model.inverse_transform(means), np.maximum(variance, 0.0)


def _default(model: Any, size: tuple[int, int], channels: int, noise: float | None, limit: int) -> Any:
    if model is not None:
        return clone(model)
    pixels = size[0] * size[1] * channels
    K = max(1, min(20, pixels - 1))
    return ProbabilisticPCA(K, noise_variance=noise, tol=1e-4, max_iter=limit)


def denoise_image(
    image: Any,
    *,
    size: tuple[int, int] = (8, 8),
    stride: int = 1,
    model: Any = None,
    noise_variance: float | None = None,
) -> RestoredImage:
    r"""Take noise off an image: every patch x becomes :math:`\mu + W E[z \mid x]`, overlaps are averaged.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
    size, stride
        Of the patches.
    model : estimator, optional
        `ProbabilisticPCA` with 20 components when not given; `FactorAnalysis`, `PCA`, `NMF` or anything with `fit`,
        `transform` (or `posterior`) and `inverse_transform`.
    noise_variance : float, optional
        Known variance of the noise; learned when not given.

    Returns
    -------
    RestoredImage
        image, std, noise, model.

    Examples
    --------
    >>> x = np.linspace(0, 3, 40)
    >>> clean = np.sin(x)[:, None] * np.cos(x)
    >>> noisy = clean + 0.3 * np.random.default_rng(0).normal(size=clean.shape)
    >>> found = denoise_image(noisy, model=ProbabilisticPCA(2))
    >>> bool(np.std(found.image - clean) < 0.5 * np.std(noisy - clean))
    True
    """
    A = _image(image)
    return _restored(
        A, size, stride, _default(model, size, A.shape[2] if A.ndim == 3 else 1, noise_variance, 100)
    )


def inpaint_image(
    image: Any,
    mask: Any = None,
    *,
    size: tuple[int, int] = (8, 8),
    stride: int = 1,
    model: Any = None,
    noise_variance: float | None = None,
    keep_observed: bool = True,
) -> RestoredImage:
    """Fill the holes of an image: patches with holes are rows with missing entries.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        NaN marks missing pixels.
    mask : boolean array, optional
        True where a pixel is missing, beside the NaN.
    size, stride, model, noise_variance
        As in `denoise_image`; the model must take NaN.
    keep_observed : bool, default=True
        Leave observed pixels as they are; False denoises them too.

    Returns
    -------
    RestoredImage
        image, std (0 at pixels that were kept), noise, model.

    Examples
    --------
    >>> x = np.linspace(0, 3, 24)
    >>> clean = np.sin(x)[:, None] * np.cos(x)
    >>> holes = np.random.default_rng(0).random(clean.shape) < 0.5
    >>> found = inpaint_image(clean, holes, size=(6, 6), model=ProbabilisticPCA(3, tol=1e-4))
    >>> bool(np.abs(found.image - clean)[holes].mean() < 0.02)
    True
    """
    A = _image(image, nan=True).copy()
    if mask is not None:
        gone = np.asarray(mask, dtype=bool)
        if gone.shape not in (A.shape, A.shape[:2]):
            raise DataError(f"mask must have the shape of the image, {A.shape}; its shape is {gone.shape}.")
        A[gone] = np.nan
    observed = ~np.isnan(A)
    if not observed.any():
        raise DataError("image has no observed pixel; nothing can be learned from it.")
    channels = A.shape[2] if A.ndim == 3 else 1
    found = _restored(A, size, stride, _default(model, size, channels, noise_variance, 50))
    if not keep_observed:
        return found
    return found._replace(image=np.where(observed, A, found.image), std=np.where(observed, 0.0, found.std))
