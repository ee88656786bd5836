"""Tokens: sentences as codes with a vocabulary; and sequences of vectors or codes, ragged, with a target each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError, nearest
from gnomon.core.items import listed
from gnomon.core.linalg import Array
from gnomon.core.validate import encode

UNKNOWN = "<unk>"


class Tokens(Data):
    """Sentences of codes; code 0 is the end of a sentence."""

    def __init__(self, codes: list[Array], vocabulary: tuple[Any, ...]) -> None:
        self.codes, self.vocabulary = codes, vocabulary

    def facts(self) -> dict[str, Any]:
        """Return the vocabulary."""
        return {"vocabulary_": self.vocabulary}

    def digest(self) -> str:
        """Return a name for all sentences."""
        return digest_of(self.codes, self.vocabulary)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, units: Any) -> Tokens:
        """Return some of the sentences."""
        return Tokens([self.codes[i] for i in np.atleast_1d(units)], self.vocabulary)


def read_sentences(
    X: Any, *, end: Any, min_count: int = 1, vocabulary: tuple[Any, ...] | None = None
) -> Tokens:
    """Return sentences as codes; without a vocabulary it is learned, in sorted order behind the end token."""
    sentences = check_sentences(X)
    if vocabulary is None:
        counts = Counter(token for sentence in sentences for token in sentence)
        if end in counts:
            raise DataError(f"the end token {end!r} is a word of a sentence; choose another end_token.")
        common = [token for token, count in counts.items() if count >= min_count]
        rare = [UNKNOWN] if min_count > 1 else []
        vocabulary = (end, *rare, *sorted(common, key=lambda token: (str(type(token)), token)))
    places = {token: code for code, token in enumerate(vocabulary)}
    return Tokens([codes_of(sentence, places) for sentence in sentences], vocabulary)


def check_sentences(X: Any) -> list[list[Any]]:
    """Return a list of lists of tokens."""
    sentences = [
        one.split() if isinstance(one, str) else listed(one, "of tokens", name=f"sentence {number} of X")
        for number, one in enumerate(
            listed(X, "of sentences, each a list of tokens; split text into words first")
        )
    ]
    if not sentences:
        raise DataError("X has no sentences (0 samples); at least one is needed.")
    for number, sentence in enumerate(sentences):
        if not sentence:
            raise DataError(f"sentence {number} of X is empty; drop it.")
    return sentences


def codes_of(sentence: Sequence[Any], places: dict[Any, int]) -> Array:
    """Return the codes of tokens; unknown ones are `<unk>` where that is a word."""
    rest = places.get(UNKNOWN)
    found = [places.get(token, rest) for token in sentence]
    if None in found:
        strange = sentence[found.index(None)]
        words = [str(token) for token in places]
        raise DataError(
            f"the token {strange!r} is not in the vocabulary of {len(places)} words.{nearest(strange, words)} "
            "Fit with min_count=2 to learn what to do with unknown words."
        )
    return np.array(found, dtype=np.int64)


class Series(Data):
    """Sequences of vectors (length, d) or codes (length,), with a target each or one at every place."""

    def __init__(self, items: list[Array], y: Any, width: int, tokens: bool, classes: Array | None) -> None:
        self.items, self.y, self.width, self.tokens, self.classes = items, y, width, tokens, classes

    def facts(self) -> dict[str, Any]:
        """Return the width of the vectors, or the number of codes, and the classes."""
        found: dict[str, Any] = {"n_features_in_": self.width, "reads_tokens_": self.tokens}
        return found if self.classes is None else {**found, "classes_": self.classes}

    def digest(self) -> str:
        """Return a name for sequences and targets."""
        return digest_of(self.items, self.y, self.width, self.tokens, self.classes)

    def __len__(self) -> int:
        return len(self.items)

    def take(self, units: Any) -> Series:
        """Return some of the sequences."""
        chosen = np.atleast_1d(units)
        y = None if self.y is None else [self.y[i] for i in chosen]
        return Series([self.items[i] for i in chosen], y, self.width, self.tokens, self.classes)


def read_series(
    X: Any, y: Any = None, *, target: str | None = None, each: bool = False, like: Any = None
) -> Series:
    """Return ragged sequences, checked; `like` is a fitted model whose width and classes they must have."""
    items = [
        np.asarray(item) for item in listed(X, "of sequences: arrays (length, d), or lists of whole numbers")
    ]
    if not items:
        raise DataError("X has no sequences (0 samples); at least one is needed.")
    tokens = all(item.ndim == 1 and item.dtype.kind in "iu" for item in items)
    if not tokens:
        items = [_vectors(item, number) for number, item in enumerate(items)]
    elif min((item.min(initial=0) for item in items), default=0) < 0:
        raise DataError("X has negative codes; number the tokens from 0.")
    if any(len(item) == 0 for item in items):
        raise DataError("X has an empty sequence; drop it.")
    width = 1 + max(int(item.max()) for item in items) if tokens else items[0].shape[1]
    if like is not None:
        width = _as_learned(like, tokens, width)
    if target is None:
        return Series(items, None, width, tokens, None)
    if y is None or len(y) != len(items):
        raise DataError(f"y must have one target for each of the {len(items)} sequences of X.")
    return Series(items, *_targets(y, items, target, each), width, tokens, *_classes(y, target, each))


def _vectors(item: Array, number: int) -> Array:
    if item.ndim == 1:
        item = item[:, None]
    if item.ndim != 2 or item.dtype.kind not in "fiub":
        raise DataError(
            f"sequence {number} of X must be numbers of shape (length, d); it has {item.dtype} {item.shape}."
        )
    found = np.ascontiguousarray(item, dtype=np.float32)
    if not np.isfinite(found).all():
        raise DataError(f"sequence {number} of X has NaN or infinity.")
    return found


def _as_learned(like: Any, tokens: bool, width: int) -> int:
    known = like.n_features_in_
    if tokens != like.reads_tokens_:
        kinds = ("vectors", "codes")
        raise DataError(
            f"X has sequences of {kinds[tokens]}, and the model has learned from {kinds[not tokens]}."
        )
    if (width > known) if tokens else (width != known):
        raise DataError(f"X has {width} features or codes, and the model has learned from {known}.")
    return int(known)


def _targets(y: Any, items: list[Array], target: str, each: bool) -> tuple[Any]:
    if each:
        for number, (tags, item) in enumerate(zip(y, items)):
            if len(tags) != len(item):
                raise DataError(
                    f"y[{number}] has {len(tags)} entries, and sequence {number} has {len(item)}."
                )
        classes = np.unique(np.concatenate([np.asarray(tags) for tags in y]))
        return ([np.searchsorted(classes, np.asarray(tags)) for tags in y],)
    if target == "class":
        return (encode(y)[1],)
    numbers = np.asarray(y, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise DataError("y has NaN or infinity; drop those sequences.")
    return (numbers,)


def _classes(y: Any, target: str, each: bool) -> tuple[Any]:
    if target != "class":
        return (None,)
    return (np.unique(np.concatenate([np.asarray(tags) for tags in y])) if each else encode(y)[0],)
