"""Galleries of images by few basis images: eigenfaces, parts, prototypes, side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.decomposition.nmf import NMF
from gnomon.decomposition.pca import PCA
from gnomon.decomposition.truncated import TruncatedSVD

MODELS = ("pca", "svd", "nmf", "kmeans")


class ImageBasis(NamedTuple):
    """Basis images, how much of each every image takes, what that rebuilds, and the squared error."""

    basis: Array  # (K, pixels)
    coefficients: Array  # (n, K)
    reconstruction: Array  # (n, pixels)
    error: float
    model: Any


def compare_image_bases(
    images: Any,
    n_components: int,
    models: tuple[str, ...] = ("kmeans", "svd", "nmf"),
    *,
    random_state: Any = 0,
) -> dict[str, ImageBasis]:
    """Explain images by K basis images in several ways: image ≈ Σ coefficient × basis image.

    "pca" takes off the mean and allows both signs (eigenfaces, through the small matrix of inner products where there
    are fewer images than pixels), "svd" is the same about zero, "nmf" only adds, and "kmeans" uses exactly one basis
    image, once: coefficients are a single 1.

    Parameters
    ----------
    images : array of shape (n, pixels) or (n, height, width)
    n_components : int
    models : tuple of {"pca", "svd", "nmf", "kmeans"}
    random_state : int, RandomState, Generator or None

    Returns
    -------
    dict of ImageBasis

    Examples
    --------
    >>> images = np.kron(np.eye(2), np.ones((3, 4)))
    >>> found = compare_image_bases(images, 2, ("pca", "svd", "nmf", "kmeans"))
    >>> [round(one.error, 6) for one in found.values()]
    [0.0, 0.0, 0.0, 0.0]
    """
    A = np.asarray(images, dtype=np.float64)
    A = np.asarray(matrix(A.reshape(len(A), -1) if A.ndim > 2 else A, name="images"))
    for name in models:
        if name not in MODELS:
            raise DataError(f"models must be among {', '.join(MODELS)}; got {name!r}.{nearest(name, MODELS)}")
    return {name: _fitted(A, int(n_components), name, random_state) for name in models}


def _fitted(A: Array, K: int, name: str, random_state: Any) -> ImageBasis:
    if name == "kmeans":
        from gnomon.cluster import KMeans

        model: Any = KMeans(K, random_state=random_state, n_init=5).fit(A)
        coefficients = np.eye(K)[model.labels_]
        basis, rebuilt = model.cluster_centers_, model.cluster_centers_[model.labels_]
    else:
        model = {
            "pca": lambda: PCA(min(K, *A.shape), random_state=random_state),
            "svd": lambda: TruncatedSVD(K, random_state=random_state),
            "nmf": lambda: NMF(K, random_state=random_state, max_iter=2000, tol=1e-3),
        }[name]().fit(A)
        coefficients = model.transform(A)
        basis, rebuilt = model.components_, model.inverse_transform(coefficients)
    return ImageBasis(basis, coefficients, rebuilt, float(((A - rebuilt) ** 2).sum()), model)
