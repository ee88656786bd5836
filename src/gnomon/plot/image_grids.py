"""Pictures of images: galleries, one image at several stages, basis × coefficients = reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def images(
    source: Any,
    shape: tuple[int, ...] | None = None,
    titles: Sequence[str] | None = None,
    ax: Axes | None = None,
    *,
    columns: int = 10,
    each: bool = True,
) -> Axes:
    """Draw images in a grid: components, filters, feature maps, patches, digits, samples, one image at several stages.

    Images with both signs get a diverging color map with zero in its middle, others a gray one.

    Parameters
    ----------
    source : fitted model, or images of shape (n, pixels), (n, height, width[, 3]) or (n, channels, height, width)
        A model shows its `components_`, the filters of its first convolution, or the weights of its first dense
        layer. Of channels three are colors; with any other number each is an image of its own.
    shape : tuple, optional
        Height and width, where images come as rows; the nearest square when not given.
    titles : sequence of str, optional
        One above every image; a model with `explained_variance_` shows these.
    ax : Axes, optional
        Where to draw.
    columns : int, default=10
        Images in a row.
    each : bool, default=True
        Scale the gray levels of every image on its own.

    Examples
    --------
    >>> ax = images(np.eye(4), (2, 2), ["a", "b", "c", "d"])
    >>> len(ax.texts)
    4
    """
    if hasattr(source, "components_"):
        if titles is None and hasattr(source, "explained_variance_"):
            titles = [f"{value:.3g}" for value in source.explained_variance_]
        source = source.components_
    elif hasattr(source, "filters"):
        source = source.filters(
            next(name for name in source.weights_ if name.startswith("conv")).split(".")[0]
        )
    elif hasattr(source, "coefs_"):
        source = source.coefs_[0].T
    stack = np.asarray(source, dtype=np.float64)
    if stack.ndim not in (2, 3, 4) or not stack.size:
        raise DataError(
            f"images must have shape (n, height, width) or (n, channels, height, width); got {stack.shape}."
        )
    if stack.ndim == 4 and (
        stack.shape[3] not in (3, 4) or stack.shape[2] == stack.shape[3]
    ):  # channels first
        colors = stack.shape[1] == 3
        stack = np.moveaxis(stack, 1, -1) if colors else stack.reshape(-1, *stack.shape[2:])
    if stack.ndim == 2:
        if shape is None:
            side = int(round(np.sqrt(stack.shape[1])))
            shape = (side, stack.shape[1] // max(side, 1))
        stack = stack.reshape(len(stack), *shape)
    signed = stack.ndim == 3 and bool(np.nanmin(stack) < 0)
    count, (h, w) = len(stack), stack.shape[1:3]
    columns = min(columns, count)
    lines = -(-count // columns)
    gap, head = max(1, h // 16), max(1, h // 5) if titles is not None else 0
    canvas = np.full((lines * (h + gap + head), columns * (w + gap), *stack.shape[3:]), np.nan)
    ax = style.axes(ax, size=(0.9 * columns + 0.5, 0.9 * lines * (h + gap + head) / (w + gap) + 0.3))
    for i, image in enumerate(stack):
        top, left = (i // columns) * (h + gap + head) + head, (i % columns) * (w + gap)
        canvas[top : top + h, left : left + w] = _leveled(image, signed, stack, each)
        if titles is not None and i < len(titles):
            ax.text(left + w / 2, top - 0.3, titles[i], ha="center", va="bottom", fontsize="x-small")
    if stack.ndim == 4:
        ax.imshow(np.where(np.isnan(canvas), 1.0, canvas))
    else:
        ax.imshow(canvas, cmap=style.DIVERGING if signed else "gray", vmin=-1 if signed else 0, vmax=1)
    ax.set_axis_off()
    return ax


def _leveled(image: np.ndarray, signed: bool, stack: np.ndarray, each: bool) -> np.ndarray:
    """An image with levels from −1 (or 0) to 1."""
    among = image if each else stack
    if np.isnan(among).all():  # a place that stays empty
        return image
    if signed:
        return image / max(float(np.nanmax(np.abs(among))), 1e-300)
    low, high = float(np.nanmin(among)), float(np.nanmax(among))
    return (image - low) / (high - low) if high > low else np.zeros_like(image)


def reconstructions(
    model: Any,
    x: Any,
    shape: tuple[int, ...] | None = None,
    steps: Sequence[int] = (1, 2, 5, 10, 20, 50),
    ax: Axes | None = None,
) -> Axes:
    """Draw one image rebuilt from ever more pieces; or, for several models, basis images × coefficients = image.

    Parameters
    ----------
    model : fitted PCA, or dict of fitted models
        Of a PCA the mean counts as the first piece, and the image itself is drawn at the end. Of a dict (PCA,
        TruncatedSVD, NMF, KMeans by name) every model has a line: its basis images, the largest coefficient first, and
        their sum.
    x : array of shape (pixels,)
        The image.
    shape : tuple, optional
        Height and width.
    steps : sequence of int
        Numbers of pieces of one PCA.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.decomposition import PCA, TruncatedSVD
    >>> X = np.arange(20.0).reshape(5, 4) ** 1.5
    >>> len(reconstructions(PCA().fit(X), X[0], (2, 2), [1, 2]).texts)
    3
    >>> len(reconstructions({"svd": TruncatedSVD(2).fit(X)}, X[0], (2, 2)).texts)
    3
    """
    row = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if isinstance(model, dict):
        return _side_by_side(model, row, shape, ax)
    most = len(model.components_) + 1
    kept = [int(m) for m in steps if m <= most]
    stages = [model.reconstruct(row, m, count_mean=True)[0] for m in kept]
    names = [*map(str, kept), "image"]
    stack = np.clip(np.stack([*stages, row[0]]), row.min(), row.max())
    return images(stack - row.min(), shape, names, ax, columns=len(names), each=False)


def _side_by_side(models: Any, row: np.ndarray, shape: Any, ax: Axes | None) -> Axes:
    found = {name: _in_basis(model, row) for name, model in models.items()}
    width = max(len(basis) for basis, _, _ in found.values()) + 1
    lines, names = [], []
    for name, (basis, coefficients, rebuilt) in found.items():
        order = np.argsort(-np.abs(coefficients), kind="stable")
        blank = [np.full(basis.shape[1], np.nan)] * (width - 1 - len(order))
        lines += [*basis[order], *blank, rebuilt]
        names += [f"{coefficients[k]:.2g} ×" for k in order] + [""] * len(blank) + [f"= {name}"]
    return images(np.stack(lines), shape, names, ax, columns=width)


def _in_basis(model: Any, row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Basis images, coefficients of one image, and what these rebuild; a clustering takes one center, once."""
    if hasattr(model, "cluster_centers_"):
        basis = np.asarray(model.cluster_centers_)
        place = int(model.predict(row)[0])
        return basis, np.eye(len(basis))[place], basis[place]
    coefficients = model.transform(row)
    return np.asarray(model.components_), coefficients[0], model.inverse_transform(coefficients)[0]
