"""What a fitted topic model is asked: shares of documents, topics of words, likelihood, perplexity, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array, dots_of
from gnomon.core.sums import Chunk, per_row
from gnomon.core.validate import check_fitted
from gnomon.topics import _inference as inference
from gnomon.topics.tables import completion_perplexity, sample_corpus, top_words

VARIATIONAL = ("batch", "online")


class TopicQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The answers of a fitted topic model, whatever it was inferred by."""

    learning_method: str

    def _check_loaded(self) -> None:
        """Compiled loops trust these shapes, and go on forever from a prior below 0."""
        found = vars(self)
        if "components_" not in found:
            return
        prior = np.asarray(found.get("doc_topic_prior_"))
        shape = (*prior.shape, found.get("n_features_in_"))
        if any(np.shape(found.get(name)) != shape for name in ("components_", "topic_word_")):
            raise ModelFileError("its topics do not fit its prior and its words.")
        if prior.dtype.kind != "f" or not np.isfinite(prior).all() or not (prior > 0).all():
            raise ModelFileError("its doc_topic_prior_ is not positive.")

    # what a fitted model does

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any, *, normalize: bool = True) -> Array:
        """Return the topic shares of documents; rows sum to one, and an empty document has the prior's shares."""
        if not normalize:
            return self.posterior(X)
        return per_row(shares_of, self._rows(X), self._query())

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the topic shares of the documents."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def posterior(self, X: Any) -> Array:
        """Return the Dirichlet parameters γ of every document's shares (variational methods)."""
        if self.learning_method not in VARIATIONAL:
            raise DataError(
                f"posterior is for 'batch' and 'online'; this model has {self.learning_method!r}."
            )
        return per_row(gamma_of, self._rows(X), self._query())

    def _query(self) -> tuple[Any, ...]:
        """What folding in a document needs to know."""
        check_fitted(self)
        table = (
            inference.topic_weights(self.components_)
            if self.learning_method in VARIATIONAL
            else np.ascontiguousarray(self.topic_word_.T)
        )
        options = int(self.max_doc_update_iter), float(self.mean_change_tol), self.seed_
        return self.learning_method, table, self.doc_topic_prior_, *options

    def assign(self, X: Any) -> tuple[Array, Array, Array]:
        """Return document, word and topic probabilities of every distinct word of every document.

        Arrays of shapes (m,), (m,) and (m, K): responsibilities φ ∝ e^{E ln θ}e^{E ln β}, or θβ for point estimates.
        """
        rows = self._rows(X)
        S = sparse.coo_array(sparse.csr_array(rows.X))
        _, words, _, _, _, _ = self._query()
        if self.learning_method in VARIATIONAL:
            gamma = self.posterior(X)
            theta = np.exp(inference.digamma(gamma) - inference.digamma(gamma.sum(axis=1))[:, None])
        else:
            theta = self.transform(X)
        joint = theta[S.row] * words[S.col]
        mass = joint.sum(axis=1, keepdims=True)
        return S.row, S.col, np.where(mass > 0, joint / np.where(mass > 0, mass, 1.0), 1.0 / theta.shape[1])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the evidence lower bound of the documents, or their log-likelihood under point estimates."""
        rows = self._rows(X)
        corpus = inference.corpus_of(rows.X)
        if self.learning_method in VARIATIONAL:
            words = inference.topic_weights(self.components_)
            limit, tol = int(self.max_doc_update_iter), float(self.mean_change_tol)
            _, found = inference.variational_pass(corpus, words, self.doc_topic_prior_, limit, tol)
            return float(found.value) + inference.topics_bound(self.components_, self.topic_word_prior_)
        S = sparse.coo_array(sparse.csr_array(rows.X))
        chance = dots_of(self.transform(X), self.topic_word_.T, S.row, S.col)
        with np.errstate(divide="ignore"):
            return float(S.data @ np.log(chance))

    def perplexity(
        self, X: Any, sub_sampling: bool = False, *, method: str = "completion", random_state: Any = 0
    ) -> float:
        """Return the perplexity of documents, lower is better; a model that knows nothing has the number of words.

        Parameters
        ----------
        X : array or sparse matrix of counts
            Documents that were not learned from.
        sub_sampling : bool
            Kept for scikit-learn.
        method : {"completion", "bound"}
            "completion": half of the tokens of every document give its topic shares, and the other half are predicted:
            the same measure for every inference. "bound" (variational only) is exp(−bound/words), an upper bound on
            another quantity: never compare the two.
        random_state : int, RandomState, Generator or None
            How tokens are halved.
        """
        check_fitted(self)
        if method == "bound":
            if self.learning_method not in VARIATIONAL:
                raise DataError("method='bound' is for 'batch' and 'online'; use method='completion'.")
            return float(np.exp(-self.score(X) / max(float(self._rows(X).X.sum()), 1e-300)))
        if method != "completion":
            raise DataError(f"method must be 'completion' or 'bound'; got {method!r}.")
        return completion_perplexity(self, self._rows(X).X, random_state)

    def as_matrix_factorization(self, X: Any) -> tuple[Array, Array]:
        """Return Θ (documents × topics) and B (topics × words): P(word in document) = ΘB, both with rows of sum one."""
        return self.transform(X), self.topic_word_

    def sample(self, n_documents: int, lengths: Any, random_state: Any = None) -> Any:
        """Return a sparse table of counts drawn from the learned topics and prior."""
        check_fitted(self)
        seed = self.random_state if random_state is None else random_state
        return sample_corpus(
            n_documents, lengths, self.topic_word_, doc_topic_prior=self.doc_topic_prior_, random_state=seed
        ).counts

    def top_words(self, names: Any = None, n: int = 10) -> Any:
        """Return the likeliest words of every topic, one column each."""
        check_fitted(self)
        return top_words(
            self.topic_word_, getattr(self, "feature_names_in_", None) if names is None else names, n
        )

    def plot(self, names: Any = None, ax: Any = None) -> Any:
        """Draw the likeliest words of every topic; return the Axes."""
        from gnomon.plot import topics

        return topics(self, names, ax=ax)


def gamma_of(chunk: Chunk, query: Any) -> Array:
    """γ of the documents of a chunk."""
    _, words, alpha, limit, tol, _ = query
    corpus = inference.corpus_of(chunk.X)
    return inference.variational_block(corpus, words, alpha, limit, tol, False)[0]


def shares_of(chunk: Chunk, query: Any) -> Array:
    """Topic shares of the documents of a chunk."""
    method, words, alpha, _, _, seed = query
    if method in VARIATIONAL:
        gamma = gamma_of(chunk, query)
        return gamma / gamma.sum(axis=1, keepdims=True)
    corpus = inference.corpus_of(chunk.X)
    if method == "em":
        return inference.em_shares(corpus, words, alpha - 1.0)
    return inference.folded_in(corpus, words, alpha, seed, 30, 30)
