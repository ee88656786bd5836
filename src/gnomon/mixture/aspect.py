"""The aspect model: topics as a mixture over word–document pairs."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, DivergenceError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted, warn
from gnomon.loops.aspects import aspect_pass
from gnomon.mixture.starts import uniforms


class AspectState(NamedTuple):
    """λ, P(document | topic), P(word | topic), and what the last E-step said."""

    weights: Array  # (K,)
    documents: Array  # (D, K), columns sum to one
    words: Array  # (V, K), columns sum to one
    log_likelihood: float
    by_document: Array  # (D, K) expected counts
    by_word: Array  # (V, K)


class Counts(NamedTuple):
    """Expected counts of topics in documents and words, and the log-likelihood behind them."""

    log_likelihood: float
    by_document: Array
    by_word: Array
    by_topic: Array


def as_csr(X: Any, weight: Array | None = None) -> sparse.csr_array:
    """Return the counts as float64 CSR, each row times its weight."""
    X = sparse.csr_array(X, dtype=np.float64)
    if weight is not None:
        X = sparse.csr_array(sparse.diags_array(weight) @ X)
    return X


def expected_counts(X: sparse.csr_array, weights: Array, documents: Array, words: Array) -> Counts:
    """One E-step over the non-zero cells."""
    K = len(weights)
    by_document, by_word, by_topic = np.zeros_like(documents), np.zeros_like(words), np.zeros(K)
    value = aspect_pass(
        X.data,
        X.indices.astype(np.int64),
        X.indptr.astype(np.int64),
        weights,
        documents,
        words,
        np.empty(K),
        by_document,
        by_word,
        by_topic,
    )
    return Counts(float(value), by_document, by_word, by_topic)


def normalized(table: Array, smoothing: float = 0.0) -> Array:
    """Return the table with columns that sum to one."""
    table = table + smoothing
    return table / np.maximum(table.sum(axis=0), np.finfo(np.float64).tiny)


def shares(table: Array) -> Array:
    """Return the table with rows that sum to one; empty rows are spread evenly."""
    whole = table.sum(axis=1, keepdims=True)
    return np.where(whole > 0, table / np.where(whole > 0, whole, 1.0), 1.0 / table.shape[1])


class AspectModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    r"""Topics of a document × word count matrix (probabilistic latent semantic analysis).

    .. math:: P(d, w) = \sum_j \lambda_j\, P(d \mid j)\, P(w \mid j)

    EM over the cells that are not zero: :math:`r_{dwj} \propto \lambda_j P(d \mid j) P(w \mid j)`, then
    every table is
    the share of the expected counts, each cell weighted by its count once. It finds the non-negative table
    of rank K
    nearest to the normalized counts in relative entropy; its word and document margins equal those of the
    data.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics K.
    n_init, max_iter : int
        Number of starts; steps at most.
    tol : float, default=1e-7
        Stop when the log-likelihood per word changes by less.
    smoothing : float, default=0.0
        Pseudo-counts added to every word and document of a topic.
    init : tuple of arrays (weights, documents, words), optional
        Start: λ (K,), P(d | j) (K, D), P(w | j) (K, V).
    drop_empty : bool, default=True
        Whether documents and words without any count are allowed; they get probability zero.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the documents does not matter to it.

    Attributes
    ----------
    weights_ : array of shape (K,)
        λ.
    components_ : array of shape (K, V)
        P(word | topic).
    document_given_topic_ : array of shape (K, D)
    topic_given_word_ : array of shape (V, K)
    topic_given_document_ : array of shape (D, K)
    log_likelihood_ : float
    n_parameters_ : int
    trace_ : Trace
        Log-likelihood of the counts in every E-step.

    Examples
    --------
    >>> X = np.array([[4, 1, 0], [3, 2, 1], [0, 1, 5]])
    >>> model = AspectModel(2, random_state=0, max_iter=2000, tol=1e-12).fit(X)
    >>> round(model.log_likelihood_, 4), np.sort(model.weights_).round(4)
    (-30.0632, array([0.4295, 0.5705]))
    """

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    _reads = Reads(sparse=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "n_init": [COUNT],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "smoothing": [NOT_NEGATIVE],
        "init": [tuple, list, None],
        "drop_empty": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-7,
        smoothing: float = 0.0,
        init: Any = None,
        drop_empty: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.init = init
        self.drop_empty = drop_empty
        self.random_state = random_state

    def _start(self, rows: Any, rng: np.random.Generator) -> AspectState:
        X = as_csr(rows.X, rows.weight)
        self._check_empty(X)
        K, (D, V) = self.n_components, X.shape
        if self.init is not None:
            weights, documents, words = (np.array(part, dtype=np.float64) for part in self.init)
            if weights.shape != (K,) or documents.shape != (K, D) or words.shape != (K, V):
                raise DataError(f"init must hold arrays of shapes ({K},), ({K}, {D}) and ({K}, {V}).")
            documents, words = documents.T, words.T
        else:
            seeds = draw_seed(rng), draw_seed(rng)
            weights = np.full(K, 1.0 / K)
            profile = as_csr(rows.X) @ rng.random((V, 3))  # of the document itself: its place does not matter
            documents = normalized((0.5 + uniforms(profile, seeds[0], K)) * X.sum(axis=1)[:, None])
            words = normalized(0.5 + np.random.default_rng(seeds[1]).random((V, K)))
            words = normalized(np.where(X.sum(axis=0)[:, None] > 0, words, 0.0))
        none = np.zeros((0, K))
        return AspectState(
            weights, np.ascontiguousarray(documents), np.ascontiguousarray(words), -np.inf, none, none
        )

    def _check_empty(self, X: sparse.csr_array) -> None:
        if X.sum() <= 0:
            raise DataError("X has no counts: all its entries are zero.")
        if self.drop_empty:
            return
        for axis, name in ((1, "document"), (0, "word")):
            empty = np.flatnonzero(np.asarray(X.sum(axis=axis)).ravel() <= 0)
            if len(empty):
                raise DataError(f"{name} {empty[0]} has no counts; drop it or set drop_empty=True.")

    def _step(self, rows: Any, state: AspectState) -> tuple[AspectState, Report]:
        X = as_csr(rows.X, rows.weight)
        found = expected_counts(X, state.weights, state.documents, state.words)
        if not np.isfinite(found.log_likelihood):
            raise DivergenceError(
                "AspectModel: a counted cell has probability zero; change init or add smoothing."
            )
        mass = found.by_topic.sum()
        change = abs(found.log_likelihood - state.log_likelihood) / mass
        fresh = AspectState(
            found.by_topic / mass,
            normalized(found.by_document, self.smoothing),
            normalized(found.by_word, self.smoothing),
            found.log_likelihood,
            found.by_document,
            found.by_word,
        )
        return fresh, Report(found.log_likelihood, done=bool(change < self.tol), change=change)

    def _attributes(self, state: AspectState) -> dict[str, Any]:
        K, D, V = len(state.weights), len(state.documents), len(state.words)
        joint_d = state.by_document if len(state.by_document) else state.documents * state.weights
        joint_w = state.by_word if len(state.by_word) else state.words * state.weights
        return {
            "weights_": state.weights,
            "components_": np.ascontiguousarray(state.words.T),
            "document_given_topic_": np.ascontiguousarray(state.documents.T),
            "topic_given_word_": shares(joint_w),
            "topic_given_document_": shares(joint_d),
            "log_likelihood_": float(state.log_likelihood),
            "n_parameters_": K - 1 + K * (D - 1) + K * (V - 1),
        }

    def _check_loaded(self) -> None:
        if hasattr(self, "weights_"):
            K = np.size(self.weights_)
            check_shapes(self, {"weights_": (K,), "components_": (K, self.n_features_in_)}, "f")

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def joint_table(self) -> Array:
        """Return P(d, w) for every document and word, shape (D, V)."""
        check_fitted(self)
        return (self.document_given_topic_.T * self.weights_) @ self.components_

    def transform(self, X: Any) -> Array:
        """Return P(topic | document) of new documents, the word distributions held fixed."""
        return self.fold_in(X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return P(topic | document) by the same folding-in as `transform`."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def fold_in(self, X: Any, *, max_iter: int = 100, tol: float = 1e-10) -> Array:
        """Return P(topic | document) of new documents: EM over their topic shares alone."""
        X = as_csr(self._rows(X).X)
        words = np.ascontiguousarray(self.components_.T)
        topics = np.tile(self.weights_, (X.shape[0], 1))
        for _ in range(max_iter):
            found = self._folded(X, topics, words)
            moved = np.abs(found - topics).max(initial=0.0)
            topics = found
            if moved <= tol:
                break
        return topics

    def _folded(self, X: sparse.csr_array, topics: Array, words: Array) -> Array:
        known = words.max(axis=1) > 0
        seen = X if known.all() else sparse.csr_array(X @ sparse.diags_array(known.astype(np.float64)))
        found = expected_counts(seen, np.ones(len(self.weights_)), np.maximum(topics, 1e-300), words)
        return np.where(found.by_document.sum(axis=1)[:, None] > 0, shares(found.by_document), self.weights_)

    def _finish(self, rows: Any, state: AspectState) -> AspectState:
        if len(state.weights) > 1 and np.allclose(state.words, state.words[:, :1], rtol=1e-10):
            warn("all topics are identical: EM never parts topics that start equal.", ConvergenceWarning)
        return state
