"""One step of each way of inference: variational passes and batches, expectation–maximization, Gibbs sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, total
from gnomon.topics import _inference as inference


class LDAState(NamedTuple):
    """Topics, what is kept of the documents, and where the run stands."""

    topics: Array  # (K, V): pseudo-counts λ, for em probabilities, for gibbs summed estimates
    documents: Array  # (D, K): γ or π; empty where documents are not kept
    alpha: Array  # (K,)
    eta: Array  # (V,)
    value: float
    step: int
    chain: Any  # of gibbs
    saved: int  # states averaged
    seed: int
    probabilities: Array  # (K, V) averaged P(word | topic) of gibbs
    evaluated: float = np.inf  # perplexity when it was last looked at


class LDAWork(NamedTuple):
    """The documents in the form that the method wants."""

    rows: Any
    corpus: Any  # None where documents are not in memory
    tokens: Any  # of gibbs
    n_documents: float
    n_words: float = 0.0  # where perplexity is looked at on the way


def chunk_sums(chunk: Chunk, words: Array, alpha: Array, limit: int, tol: float) -> inference.DocumentSums:
    """The E-step of a chunk of documents that are not kept."""
    corpus = inference.corpus_of(chunk.X, chunk.weight)
    return inference.variational_block(corpus, words, alpha, limit, tol, True)[1]


def batch_step(model: Any, work: LDAWork, state: LDAState) -> tuple[LDAState, float]:
    """Fit every document to the topics, then the topics to what they add up to."""
    words = inference.topic_weights(state.topics)
    alpha, eta, gamma = state.alpha, state.eta, state.documents
    limit, tol = int(model.max_doc_update_iter), float(model.mean_change_tol)
    if work.corpus is not None:
        gamma, found = inference.variational_pass(work.corpus, words, alpha, limit, tol, gamma)
    else:
        found = total(chunk_sums, work.rows, words, alpha, limit, tol)
    value = float(found.value) + inference.topics_bound(state.topics, eta)
    topics = eta + found.counts.T
    if model.optimize_priors:
        alpha = inference.learned_alpha(found.logs / found.weight, alpha)
        eta = inference.learned_eta(topics, eta)
        topics = eta + found.counts.T
    fresh = state._replace(topics=topics, documents=gamma, alpha=alpha, eta=eta, value=value)
    return fresh._replace(step=state.step + 1), value


def online_step(model: Any, work: LDAWork, state: LDAState) -> tuple[LDAState, float]:
    """One natural-gradient step a batch, over all batches (Hoffman, Blei and Bach 2010)."""
    value, topics, count = 0.0, state.topics, state.saved
    limit, tol = int(model.max_doc_update_iter), float(model.mean_change_tol)
    for corpus in batches(work, int(model.batch_size)):
        words = inference.topic_weights(topics)
        _, found = inference.variational_pass(corpus, words, state.alpha, limit, tol)
        count, value = count + 1, value + float(found.value)
        rho = (model.learning_offset + count) ** (-model.learning_decay)
        share = work.n_documents / max(float(corpus.weight.sum()), 1e-300)
        topics = (1.0 - rho) * topics + rho * (state.eta + share * found.counts.T)
    value += inference.topics_bound(topics, state.eta)
    return state._replace(topics=topics, value=value, step=state.step + 1, saved=count), value


def batches(work: LDAWork, size: int) -> Iterator[inference.Corpus]:
    """Documents in their order, so many at a time."""
    if work.corpus is not None:
        wholes: Any = [work.corpus]
    else:
        wholes = (inference.corpus_of(chunk.X, chunk.weight) for chunk in work.rows.chunks())
    for whole in wholes:
        for start in range(0, whole.shape[0], size):
            yield whole.part(slice(start, min(start + size, whole.shape[0])))


def em_step(model: Any, work: LDAWork, state: LDAState) -> tuple[LDAState, float]:
    """Expected counts, then the most probable shares and topics."""
    words = np.ascontiguousarray(state.topics.T)
    pi, found = inference.em_pass(work.corpus, state.documents, words, state.alpha - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [
            np.where(extra > 0, extra * np.log(table), 0.0)
            for extra, table in ((state.alpha - 1.0, state.documents), (state.eta - 1.0, state.topics))
        ]
    value = float(found.value + work.corpus.weight @ logs[0].sum(axis=1) + logs[1].sum())
    topics = state.eta - 1.0 + found.counts.T
    mass = topics.sum(axis=1, keepdims=True)
    topics = np.where(mass > 0, topics / np.where(mass > 0, mass, 1.0), state.topics)
    return state._replace(topics=topics, documents=pi, value=value, step=state.step + 1), value


def gibbs_step(model: Any, work: LDAWork, state: LDAState) -> tuple[LDAState, Any]:
    """One sweep over the tokens; the objective is looked at in every tenth."""
    index = state.step + 1
    chain = inference.sweep(work.tokens, state.chain, state.alpha, state.eta, state.seed, index)
    alpha, eta = state.alpha, state.eta
    if model.optimize_priors and index % 5 == 0:
        counts = inference.document_counts(work.tokens, chain.z, len(alpha))
        alpha = inference.counted_prior(counts, alpha)
        eta = np.full(len(eta), inference.counted_prior(chain.by_word.T, eta[:1])[0])
    value = None
    if index % 10 == 0 or index == model._limit():
        value = inference.log_joint(work.tokens, chain, alpha, eta)
    fresh = state._replace(
        chain=chain, alpha=alpha, eta=eta, value=state.value if value is None else value, step=index
    )
    if index > model.n_burn and (index - model.n_burn) % model.thin == 0:
        pseudo = chain.by_word.T + eta
        shares = pseudo / pseudo.sum(axis=1, keepdims=True)
        first = state.saved == 0
        fresh = fresh._replace(
            topics=pseudo if first else state.topics + pseudo,
            probabilities=shares if first else state.probabilities + shares,
            saved=state.saved + 1,
        )
    return fresh, value


STEPS = {"batch": batch_step, "online": online_step, "gibbs": gibbs_step, "em": em_step}
