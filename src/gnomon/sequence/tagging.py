"""Tags for the words of sentences: a hidden Markov tagger, and a classifier that looks at each word alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.items import Items, listed
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods
from gnomon.core.settings import check_parameters
from gnomon.core.validate import NOT_NEGATIVE
from gnomon.sequence.recursions import HiddenChain, log, viterbi

SUFFIX = 3  # letters of the longest word ending that tells tags of unknown words


class _Tagger(OneStep):
    """Reading of tagged sentences, and accuracy."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from tagged sentences.

        Parameters
        ----------
        X : list of lists of str
            Sentences.
        y : list of lists of str
            The tag of every word.
        """
        return self._learn(self._read_tagged(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any) -> Iterator[Self]:
        """Yield the fitted tagger; it learns in one step."""
        yield from self._iterate(self._read_tagged(X, y))

    def _read_tagged(self, X: Any, y: Any) -> Items:
        """Return the sentences with their tags."""
        check_parameters(self)
        sentences = sentences_of(X)
        tags = [
            listed(one, "of tags", name="a sentence of y") for one in listed(y, "of lists of tags", name="y")
        ]
        check_sentences(sentences, tags)
        if not any(sentences):
            raise DataError("X has no words (0 samples); at least one tagged word is needed.")
        return Items(sentences, as_array(tags))

    def score(self, X: Any, y: Any) -> float:
        """Return the share of words tagged right.

        Parameters
        ----------
        X, y : lists of lists
            Sentences and their true tags.
        """
        found = self.predict(X)
        right = [
            a == b for ours, truth in zip(found, y, strict=True) for a, b in zip(ours, truth, strict=True)
        ]
        return float(np.mean(right))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def sentences_of(X: Any) -> list[list[Any]]:
    """Return sentences as lists of words."""
    sentences = listed(X, "of sentences, each a list of words")
    return [listed(one, "of words", name=f"sentence {number} of X") for number, one in enumerate(sentences)]


def check_sentences(X: Any, y: Any) -> None:
    """Sentences and tags must agree, word by word."""
    if len(X) != len(y) or any(len(a) != len(b) for a, b in zip(X, y, strict=False)):
        raise DataError("every sentence needs as many tags as it has words.")


def as_array(parts: list[list[str]]) -> Array:
    """Return an array whose entries are the lists, whatever their lengths."""
    out = np.empty(len(parts), dtype=object)
    for i, part in enumerate(parts):
        out[i] = part
    return out


class HMMTagger(_Tagger):
    r"""Part-of-speech tagger: a hidden Markov model counted from tagged sentences.

    .. math:: \arg\max_s\ \pi_{s_1} \prod_t A_{s_{t-1}s_t} \prod_t B_{s_t}(x_t)

    Words never seen get the tags that words with the same ending had (the longest ending known, up to three
    letters).

    Parameters
    ----------
    smoothing : float
        Pseudo-count of every transition.

    Attributes
    ----------
    tags_, words_ : arrays
    startprob_, transmat_, emissionprob_ : arrays

    Examples
    --------
    >>> tagger = HMMTagger().fit([["a", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2)
    >>> tagger.predict([["a", "bird", "sings"]])[0]
    ['D', 'N', 'V']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"smoothing": [NOT_NEGATIVE]}

    def __init__(self, *, smoothing: float = 0.1) -> None:
        self.smoothing = smoothing

    def _check_loaded(self) -> None:
        if "transmat_" not in vars(self):
            return
        K, words = len(self.tags_), len(self.words_)
        shapes = {"startprob_": (K,), "transmat_": (K, K), "emissionprob_": (K, words), "tag_counts_": (K,)}
        check_shapes(self, shapes)
        if any(np.shape(counts) != (K,) for counts in self.endings_.values()):
            raise ModelFileError("its endings_ do not fit its tags. Get a new copy.")

    def _solve(self, data: Items) -> dict[str, Any]:
        from gnomon.sequence.discrete_hmm import CategoricalHMM

        words, codes = np.unique([w for sentence in data.X for w in sentence], return_inverse=True)
        tags, states = np.unique([t for sentence in data.y for t in sentence], return_inverse=True)
        prior = 1.0 + self.smoothing
        model = CategoricalHMM(len(tags), prior, prior, n_features=len(words), random_state=0)
        model.fit(codes.reshape(-1, 1), lengths=[len(s) for s in data.X if len(s)], states=states)
        counted = {name: getattr(model, name) for name in ("startprob_", "transmat_", "emissionprob_")}
        return {
            **counted,
            "words_": words,
            "tags_": tags,
            "tag_counts_": np.bincount(states, minlength=len(tags)).astype(float),
            "endings_": self._endings(words, codes, states, len(tags)),
        }

    def _endings(self, words: Array, codes: Array, states: Array, K: int) -> dict[str, Array]:
        """Count tags by the ending of the word; rare and frequent words count alike."""
        endings: dict[str, Array] = {}
        for code, state in sorted(set(zip(codes.tolist(), states.tolist(), strict=True))):
            for size in range(SUFFIX + 1):
                ending = words[code].lower()[len(words[code]) - size :] if size else ""
                endings.setdefault(ending, np.zeros(K))[state] += 1.0
        return endings

    def _unknown(self, word: str) -> Array:
        """p(word | tag) up to a factor, from the longest ending that was seen."""
        for size in range(min(SUFFIX, len(word)), -1, -1):
            counts = self.endings_.get(word.lower()[len(word) - size :] if size else "")
            if counts is not None:
                return (counts + 0.1) / (counts.sum() + 0.1 * len(counts)) / self.tag_counts_
        return np.ones(len(self.tags_))

    def _table(self, sentence: list[str]) -> Array:
        place = {word: k for k, word in enumerate(self.words_.tolist())}
        rows = [self.emissionprob_[:, place[w]] if w in place else self._unknown(w) for w in sentence]
        return log(np.array(rows))

    def predict(self, X: Any) -> Array:
        """Return the most probable tags of every sentence: an array of lists."""
        check_is_fitted(self, "transmat_")
        chain = HiddenChain(self.startprob_, self.transmat_, None, None)
        found = []
        for sentence in sentences_of(X):
            path = (
                viterbi(chain, self._table(sentence), np.array([0, len(sentence)]))[1]
                if len(sentence)
                else []
            )
            found.append([str(self.tags_[state]) for state in path])
        return as_array(found)


def token_features(sentence: list[str]) -> list[dict[str, Any]]:
    """Return what can be seen of every word: itself, its ends, its shape, its place and its neighbors.

    >>> token_features(["Faith", "is"])[1]["before"]
    'faith'
    """
    lower = [word.lower() for word in sentence]
    rows = []
    for i, word in enumerate(sentence):
        rows.append(
            {
                "word": lower[i],
                "suffix2": lower[i][-2:],
                "suffix3": lower[i][-3:],
                "prefix": lower[i][:2],
                "capital": word[:1].isupper(),
                "digit": any(letter.isdigit() for letter in word),
                "first": i == 0,
                "last": i == len(sentence) - 1,
                "before": lower[i - 1] if i else "<s>",
                "after": lower[i + 1] if i + 1 < len(sentence) else "</s>",
            }
        )
    return rows


def indicators(row: dict[str, Any]) -> list[tuple[str, float]]:
    """Return features as (name, number): a word is a name of its own, a truth value is 0 or 1.

    >>> indicators({"word": "faith", "first": True})
    [('word=faith', 1.0), ('first', 1.0)]
    """
    return [
        (f"{key}={value}", 1.0) if isinstance(value, str) else (key, float(value))
        for key, value in row.items()
    ]


def feature_matrix(rows: list[dict[str, Any]], vocabulary: dict[str, int]) -> sparse.csr_array:
    """Return the features of the rows, one column for each name of the vocabulary; others are left out."""
    places = [
        (i, vocabulary[name], number)
        for i, row in enumerate(rows)
        for name, number in indicators(row)
        if number and name in vocabulary
    ]
    at, column, number = zip(*places, strict=True) if places else ((), (), ())
    values = np.array(number, dtype=np.float64)
    return sparse.csr_array(
        (values, (np.array(at, dtype=np.int64), np.array(column, dtype=np.int64))),
        shape=(len(rows), len(vocabulary)),
    )


class TokenClassifier(_Tagger):
    """Tag each word on its own by softmax regression over its features, whatever tags its neighbors get.

    The baseline that a tagger with memory has to beat; neighboring words are features, neighboring tags are
    not.

    Parameters
    ----------
    estimator : classifier, optional
        Over a sparse matrix of features; default a penalized softmax regression.
    alpha : float
        Ridge penalty of the default.

    Attributes
    ----------
    classes_ : array
        The tags.

    Examples
    --------
    >>> model = TokenClassifier().fit([["a", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2)
    >>> model.predict([["a", "bird", "sings"]])[0]
    ['D', 'N', 'V']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "alpha": [NOT_NEGATIVE],
    }

    def __init__(self, estimator: Any = None, *, alpha: float = 0.1) -> None:
        self.estimator = estimator
        self.alpha = alpha

    def _solve(self, data: Items) -> dict[str, Any]:
        found = [row for sentence in data.X for row in token_features(sentence)]
        names = sorted({name for row in found for name, _ in indicators(row)})
        vocabulary = {name: column for column, name in enumerate(names)}
        F = feature_matrix(found, vocabulary)
        tags = np.array([tag for sentence in data.y for tag in sentence])
        classes, codes = np.unique(tags, return_inverse=True)
        learned = {"vocabulary_": vocabulary, "classes_": classes}
        if self.estimator is not None:
            return {**learned, "estimator_": clone(self.estimator).fit(F, tags)}
        return {**learned, "coef_": softmax_regression(F, codes, len(classes), self.alpha)}

    def predict(self, X: Any) -> Array:
        """Return the tag of every word: an array of lists, one for each sentence."""
        check_is_fitted(self, "classes_")
        found = []
        for sentence in sentences_of(X):
            F = feature_matrix(token_features(sentence), self.vocabulary_)
            if not len(sentence):
                found.append([])
            elif hasattr(self, "estimator_"):
                found.append([str(tag) for tag in self.estimator_.predict(F)])
            else:
                found.append([str(self.classes_[k]) for k in (F @ self.coef_).argmax(axis=1)])
        return as_array(found)


def softmax_regression(F: Any, codes: Array, K: int, alpha: float) -> Array:
    """Coefficients (features, K) that minimize −Σ ln p(code) + α/2 ‖W‖²."""
    n, d = F.shape
    truth = np.eye(K)[codes]

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(d, K)
        scores = F @ W
        norm = logsumexp(scores, axis=1, keepdims=True)
        gradient = F.T @ (np.exp(scores - norm) - truth) + alpha * W
        return float(
            (norm[:, 0] - (scores * truth).sum(axis=1)).sum() + 0.5 * alpha * (W * W).sum()
        ), gradient.ravel()

    return minimize(objective, np.zeros(d * K), jac=True, method="L-BFGS-B").x.reshape(d, K)
