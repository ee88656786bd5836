"""From sound to symbols to words: spectral features, a codebook, one hidden Markov model per word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.canonical import order_by_value
from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.items import Items, listed
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.settings import check_parameters
from gnomon.core.validate import COUNT, POSITIVE, encode, one_each, vector
from gnomon.sequence.classifier import HMMClassifier
from gnomon.sequence.starts import spread_centers, squared_distances


def spectrogram_features(
    signal: Any,
    rate: float,
    *,
    window: float = 0.050,
    hop: float = 0.010,
    n_features: int = 40,
    scale: str = "mel",
    log: bool = True,
) -> Array:
    """Return spectral energy over sliding windows, (frames, n_features).

    Hann window, magnitude of the Fourier transform, triangular filters evenly spaced in hertz or mel,
    logarithm.

    Parameters
    ----------
    signal : (n,) array
        The sound.
    rate : float
        Samples per second.
    window, hop : float
        Length of a window and step between windows, in seconds.
    n_features : int
        Number of filters.
    scale : {"mel", "linear"}
        Spacing of the filters.
    log : bool
        Whether to take logarithms (with a floor).

    Examples
    --------
    >>> t = np.arange(8000) / 8000
    >>> features = spectrogram_features(np.sin(2 * np.pi * 1000 * t), 8000, n_features=20, scale="linear")
    >>> features.shape, int(features.mean(axis=0).argmax())  # filters are 190 Hz apart
    ((96, 20), 4)
    """
    x = np.asarray(signal, dtype=np.float64)
    if not x.size or not np.isfinite(x).all():
        raise DataError(
            "signal must have at least one sample and no NaN or infinity; mend or drop this sound."
        )
    width, step = round(window * rate), round(hop * rate)
    if x.ndim != 1 or width < 2 or step < 1:
        raise DataError(
            "signal must be a vector, and window and hop at least two samples and one sample long."
        )
    if len(x) < width:
        x = np.pad(x, (0, width - len(x)))
    frames = np.lib.stride_tricks.sliding_window_view(x, width)[::step]
    spectrum = np.abs(np.fft.rfft(frames * np.hanning(width), axis=1))
    energy = spectrum @ triangular_filters(width, rate, n_features, scale).T
    return np.log(np.maximum(energy, 1e-10)) if log else energy


def triangular_filters(width: int, rate: float, n: int, scale: str) -> Array:
    """Overlapping triangles over the frequencies of a window, (n, width // 2 + 1)."""
    if scale not in ("mel", "linear"):
        raise DataError(f"scale must be 'mel' or 'linear'; got {scale!r}.")
    top = rate / 2.0
    if scale == "mel":
        edges = 700.0 * (10.0 ** (np.linspace(0.0, 2595.0 * np.log10(1 + top / 700.0), n + 2) / 2595.0) - 1.0)
    else:
        edges = np.linspace(0.0, top, n + 2)
    at = np.fft.rfftfreq(width, 1.0 / rate)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (at - left) / (middle - left), (right - at) / (right - middle)
    return np.maximum(0.0, np.minimum(rising, falling))


def quantize_frames(features: Any, codebook: Any) -> Array:
    """Return the index of the nearest codeword of every frame.

    >>> quantize_frames([[0.1], [4.8]], [[0.0], [5.0]])
    array([0, 1])
    """
    F, book = np.asarray(features, dtype=np.float64), np.asarray(codebook, dtype=np.float64)
    if F.ndim != 2 or book.ndim != 2 or F.shape[1] != book.shape[1]:
        raise DataError(
            f"features {F.shape} and codebook {book.shape} must be matrices with as many columns."
        )
    return squared_distances(F - book.mean(axis=0), book - book.mean(axis=0)).argmin(axis=1)


def sounds_of(X: Any) -> list[Array]:
    """Return a list of sounds as vectors."""
    sounds = listed(X, "of sounds, each a vector of samples")
    return [vector(signal, name=f"sound {number} of X") for number, signal in enumerate(sounds)]


class WordRecognizer(ClassifierMixin, OneStep):  # type: ignore[misc]
    """Recognize isolated words: spectral features, codewords by k-means, one left-to-right model per word.

    Parameters
    ----------
    n_states : int
        Hidden states of every word.
    n_codes : int
        Size of the codebook.
    n_features : int
        Spectral features of a frame.
    rate : float
        Samples per second.
    n_iter : int
        Baum–Welch steps.
    random_state : int, Generator or None

    Attributes
    ----------
    codebook_ : (n_codes, n_features) array
    classifier_ : HMMClassifier
        Over sequences of codewords.
    classes_ : array

    Examples
    --------
    >>> from gnomon.datasets import make_toy_words
    >>> signals, words = make_toy_words(["one", "two"], 6, random_state=0)
    >>> model = WordRecognizer(n_states=3, n_codes=16, random_state=0).fit(signals[:8], words[:8])
    >>> float(model.score(signals[8:], words[8:]))
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_states": [COUNT],
        "n_codes": [COUNT],
        "n_features": [COUNT],
        "rate": [POSITIVE],
        "n_iter": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_states: int = 5,
        n_codes: int = 64,
        n_features: int = 40,
        *,
        rate: float = 8000.0,
        n_iter: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.n_codes = n_codes
        self.n_features = n_features
        self.rate = rate
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the codebook and the words.

        Parameters
        ----------
        X : list of vectors
            Sounds.
        y : array of str
            The word of every sound.
        """
        return self._learn(self._read_sounds(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any) -> Iterator[Self]:
        """Yield the fitted recognizer; codebook and words are learned in one step."""
        yield from self._iterate(self._read_sounds(X, y))

    def _read_sounds(self, X: Any, y: Any) -> Items:
        check_parameters(self)
        sounds = sounds_of(X)
        classes, codes = encode(one_each(y, len(sounds)))
        return Items(sounds, codes, classes=classes)

    def _solve(self, data: Items) -> dict[str, Any]:
        from gnomon.sequence.discrete_hmm import CategoricalHMM
        from gnomon.sequence.hidden import left_right_mask

        frames = [self._features(signal) for signal in data.X]
        pooled, rng = np.concatenate(frames), generator(self.random_state)
        pooled = pooled[order_by_value(pooled)]  # the order of the sounds does not matter
        count = min(self.n_codes, len(pooled))
        codebook, _ = spread_centers(pooled, count, rng, sweeps=25)
        word = CategoricalHMM(
            self.n_states,
            n_features=count,
            emissionprob_prior=1.1,  # codewords a word never used stay possible
            transmat_mask=left_right_mask(self.n_states),
            random_state=int(rng.integers(2**31)),
            n_iter=self.n_iter,
            tol=0.0,
        )
        codes = [quantize_frames(frame, codebook) for frame in frames]
        return {
            "codebook_": codebook,
            "classifier_": HMMClassifier(word).fit(codes, data.classes[data.y]),
        }

    def _features(self, signal: Any) -> Array:
        return spectrogram_features(signal, self.rate, n_features=self.n_features)

    def codewords(self, X: Any) -> list[Array]:
        """Return the codewords of every sound."""
        check_is_fitted(self, "codebook_")
        return [quantize_frames(self._features(signal), self.codebook_) for signal in sounds_of(X)]

    def log_likelihoods(self, X: Any) -> Array:
        """Return ln p(sound | word), (sounds, words)."""
        codes = self.codewords(X)
        return self.classifier_.log_likelihoods(codes)

    def predict_proba(self, X: Any) -> Array:
        """Return p(word | sound)."""
        codes = self.codewords(X)
        return self.classifier_.predict_proba(codes)

    def predict(self, X: Any) -> Array:
        """Return the most probable word of every sound."""
        codes = self.codewords(X)
        return self.classifier_.predict(codes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
