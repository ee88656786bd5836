"""Vector quantization: codebooks, compression, codeword counts."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.cluster.kmeans import KMeans
from gnomon.core.closed_form import OneStep
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError
from gnomon.core.items import listed
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.settings import check_parameters
from gnomon.core.validate import Reads, check_fitted, matrix
from gnomon.loops.distances import nearest_rows

SEQUENCES = "of sequences, each an array of shape (length, n_features)"


class VectorQuantizer(OneToOneFeatureMixin, TransformerMixin, OneStep):
    """Replace every pixel, patch or row by the nearest of a few codewords.

    The codebook is that of k-means, so the distortion is its inertia; with as many codes as distinct colors
    nothing is lost. An image of n units and K codes takes n·⌈log₂K⌉ bits and the codebook.

    Parameters
    ----------
    n_codes : int, default=256
        Size of the codebook; fewer where there are fewer distinct units.
    patch_shape : (int, int), optional
        Quantize non-overlapping patches of this shape instead of single pixels; images are padded by their
        edges.
    random_state : int, RandomState, Generator or None
    n_init : int, default=1

    Attributes
    ----------
    codebook_ : array of shape (n_codes, unit size)
    distortion_ : float
        Summed squared error on the training units.
    ratio_ : float
        Coded size, codebook included, over the original size at 8 bits a value.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.repeat([0.0, 255.0], 24).reshape(4, 4, 3)
    >>> model = VectorQuantizer(2, random_state=0).fit(image)
    >>> bool((model.decode(model.encode(image)) == image).all()), model.bits(include_codebook=False)
    (True, 16.0)
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_codes": [Interval(Integral, 1, None, closed="left")],
        "patch_shape": [tuple, list, None],
        "random_state": ["random_state", np.random.Generator],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, n_codes: int = 256, *, patch_shape: Any = None, random_state: Any = None, n_init: int = 1
    ) -> None:
        self.n_codes = n_codes
        self.patch_shape = patch_shape
        self.random_state = random_state
        self.n_init = n_init

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True  # images
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> VectorQuantizer:
        """Learn the codebook.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or an image of shape (height, width, channels)
            A gray image has one channel, or two dimensions together with a `patch_shape`.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many times each row counts; for plain rows only.

        Returns
        -------
        self
        """
        return super().fit(X, None, sample_weight)

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        check_parameters(self)
        units, shape = self._units(X)
        rows = super()._read(units, None, sample_weight, reset=reset, **options)
        rows.image_shape = shape
        return rows

    def _keep(self, run: Any, rows: Any) -> None:
        self._adopt({**self._learned(run), "image_shape_": rows.image_shape}, rows)

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        units = np.unique(rows.X[rows.weight > 0], axis=0)
        weight = rows.weight if rows.weighted else None
        if len(units) <= self.n_codes:
            found = {"codebook_": units.astype(np.float64), "distortion_": 0.0}
        else:
            model = KMeans(self.n_codes, n_init=self.n_init, random_state=self.random_state)
            model.fit(rows.X, sample_weight=weight)
            found = {"codebook_": model.cluster_centers_, "distortion_": model.inertia_}
        return {**found, "n_units_": rows.n_rows}, found["distortion_"]

    def _units(self, X: Any) -> tuple[Array, tuple[int, ...] | None]:
        """Cut an image into rows; plain rows stay as they are."""
        if self.patch_shape is None and np.asarray(X).ndim != 3:
            return X, None
        image = np.asarray(X, dtype=np.float64)
        if image.ndim not in (2, 3):
            raise DataError(f"an image has two or three dimensions; X has {image.ndim}.")
        shape = image.shape
        if image.ndim == 2:
            image = image[:, :, None]
        if self.patch_shape is None:
            return image.reshape(-1, image.shape[2]), shape
        p, q = self.patch_shape
        h, w, c = image.shape
        image = np.pad(image, ((0, -h % p), (0, -w % q), (0, 0)), mode="edge")
        tiles = image.reshape(image.shape[0] // p, p, image.shape[1] // q, q, c).transpose(0, 2, 1, 3, 4)
        return tiles.reshape(-1, p * q * c), shape

    def encode(self, X: Any) -> Array:
        """Return the code of every pixel, patch or row; for images in the shape of the grid of units."""
        check_fitted(self)
        rows = self._read(X, reset=False)
        units, shape = rows.X, rows.image_shape
        codes = nearest_rows(units, self.codebook_, 1, "sqeuclidean")[0][:, 0]
        if shape is None:
            return codes
        p, q = self.patch_shape or (1, 1)
        return codes.reshape(-(-shape[0] // p), -(-shape[1] // q))

    def decode(self, codes: Any) -> Array:
        """Return the rows, or the image, behind the codes."""
        check_fitted(self)
        codes = np.asarray(codes)
        if codes.ndim == 1:
            return self.codebook_[codes]
        p, q = self.patch_shape or (1, 1)
        channels = self.codebook_.shape[1] // (p * q)
        tiles = self.codebook_[codes].reshape(*codes.shape, p, q, channels).transpose(0, 2, 1, 3, 4)
        image = tiles.reshape(codes.shape[0] * p, codes.shape[1] * q, channels)
        shape = self.image_shape_
        if shape is not None and -(-shape[0] // p) == codes.shape[0] and -(-shape[1] // q) == codes.shape[1]:
            image = image[: shape[0], : shape[1]].reshape(shape)
        return image

    def transform(self, X: Any) -> Array:
        """Return X with every unit replaced by its codeword."""
        return self.decode(self.encode(X))

    def bits(
        self, include_codebook: bool = True, fractional: bool = False, *, n_units: int | None = None
    ) -> float:
        """Return the size of the coded training data in bits; `fractional` assumes entropy-coded indices."""
        check_fitted(self)
        units = self.n_units_ if n_units is None else n_units
        return coded_bits(
            units, len(self.codebook_), self.codebook_.shape[1] if include_codebook else 0, fractional
        )

    @property
    def ratio_(self) -> float:
        """Coded over original size."""
        return self.bits() / (8.0 * self.n_units_ * self.codebook_.shape[1])

    def psnr(self, X: Any) -> float:
        """Return the peak signal-to-noise ratio of the coded image, in decibels, at a peak of 255."""
        X = np.asarray(X, dtype=np.float64)
        error = float(((X - self.transform(X)) ** 2).mean())
        return float("inf") if error == 0 else 10 * np.log10(255.0**2 / error)


def coded_bits(units: int, codes: int, unit_size: int, fractional: bool) -> float:
    """Return units·log₂K bits (rounded up unless fractional) and 8 bits for each value of the codebook."""
    rate = np.log2(codes)
    return float(units * (rate if fractional else np.ceil(rate)) + 8.0 * codes * unit_size)


class CodewordHistogram(TransformerMixin, OneStep):
    """Turn sequences of vectors (songs, utterances, documents) into counts of their nearest codewords.

    Parameters
    ----------
    n_codes : int, default=64
    normalize : bool, default=False
        Whether counts are divided by the length of the sequence.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    codebook_ : array of shape (n_codes, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> songs = [np.array([[0.0], [0.1], [5.0]]), np.array([[5.0], [5.1]])]
    >>> sorted(map(sorted, CodewordHistogram(2, random_state=0).fit_transform(songs).tolist()))
    [[0.0, 2.0], [1.0, 2.0]]
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_codes": [Interval(Integral, 1, None, closed="left")],
        "normalize": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(self, n_codes: int = 64, *, normalize: bool = False, random_state: Any = None) -> None:
        self.n_codes = n_codes
        self.normalize = normalize
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> CodewordHistogram:
        """Learn the codebook from the rows of all sequences.

        Parameters
        ----------
        X : list of arrays of shape (length, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(X)

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        parts = [self._rows_of(one) for one in listed(X, SEQUENCES)]
        if not parts:
            raise DataError("X has no sequences; give at least one.")
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise DataError(f"the sequences of X must have the same columns; they have {widths}.")
        return super()._read(np.vstack(parts), reset=reset, **options)

    def _rows_of(self, one: Any) -> Array:
        try:
            return np.asarray(matrix(np.atleast_2d(one), name="a sequence of X"))
        except ValueError as error:
            raise DataError(f"a sequence of X must have shape (length, n_features): {error}") from None

    def _solve(self, rows: Any) -> dict[str, Any]:
        return {
            "codebook_": VectorQuantizer(self.n_codes, random_state=self.random_state).fit(rows.X).codebook_
        }

    def _check_loaded(self) -> None:
        if "codebook_" in vars(self):
            check_shapes(self, {"codebook_": (len(self.codebook_), self.n_features_in_)})

    def discretize(self, X: Any) -> Array:
        """Return one sequence as symbols: the nearest codeword of every row."""
        check_fitted(self)
        rows = self._rows_of(X)
        if rows.shape[1] != self.codebook_.shape[1]:
            raise DataError(
                f"a sequence has {rows.shape[1]} columns, and the codebook has {self.codebook_.shape[1]}."
            )
        return nearest_rows(rows, self.codebook_, 1, "sqeuclidean")[0][:, 0]

    def transform(self, X: Any) -> Array:
        """Return the counts, one row for each sequence."""
        check_fitted(self)
        k = len(self.codebook_)
        counts = np.array(
            [np.bincount(self.discretize(one), minlength=k) for one in listed(X, SEQUENCES)], dtype=np.float64
        )
        return counts / counts.sum(axis=1, keepdims=True) if self.normalize else counts
