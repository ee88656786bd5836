"""How topics are inferred: expectation–maximization, variational Bayes, collapsed Gibbs sampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, shared
from gnomon.distributions.simplex import dirichlet_from_mean_logs
from gnomon.loops import topic_draws as drawing
from gnomon.loops import topics as loops

BLOCKS = 8  # of documents at most: each adds up a table of its own
BLOCK_COUNTS = 2**14  # non-zero counts a block at least


class Corpus(NamedTuple):
    """Counts by document as CSR arrays, and how often each document counts."""

    data: Array
    indices: Array
    indptr: Array
    weight: Array
    shape: tuple[int, int]

    def blocks(self) -> list[slice]:
        """Consecutive documents with about as many counts each; the counts alone decide the borders."""
        size = max(BLOCK_COUNTS, -(-len(self.data) // BLOCKS))
        goals = np.arange(size, len(self.data), size)
        cuts = np.unique(np.r_[0, np.searchsorted(self.indptr, goals), self.shape[0]])
        return [slice(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]

    def part(self, documents: slice) -> Corpus:
        """Some consecutive documents."""
        pointers = self.indptr[documents.start : documents.stop + 1]
        entries = slice(pointers[0], pointers[-1])
        return Corpus(
            self.data[entries],
            self.indices[entries],
            pointers - pointers[0],
            self.weight[documents],
            (len(pointers) - 1, self.shape[1]),
        )


def corpus_of(X: Any, weight: Array | None = None) -> Corpus:
    """Counts as the loops want them."""
    S = sparse.csr_array(X, dtype=np.float64)
    if (S.data == 0).any():
        S = S.copy()
        S.eliminate_zeros()
    n = S.shape[0]
    return Corpus(
        S.data,
        S.indices.astype(np.int64, copy=False),
        S.indptr.astype(np.int64, copy=False),
        np.ones(n) if weight is None else weight,
        S.shape,
    )


# variational Bayes


class DocumentSums(NamedTuple):
    """Expected counts (V, K), the documents' part of the objective, and Σ w E ln θ."""

    counts: Array
    value: float
    logs: Array
    weight: float


def topic_weights(lam: Array) -> Array:
    """exp E ln β as (V, K), from pseudo-counts λ (K, V)."""
    logs = digamma(lam) - digamma(lam.sum(axis=1))[:, None]
    return np.ascontiguousarray(np.exp(logs).T)


def topics_bound(lam: Array, eta: Array) -> float:
    """What the topics add to the evidence lower bound: −KL(q(β) ‖ p(β))."""
    whole = lam.sum(axis=1)
    logs = digamma(lam) - digamma(whole)[:, None]
    value = len(lam) * (gammaln(eta.sum()) - gammaln(eta).sum())
    return float(value + (gammaln(lam) + (eta - lam) * logs).sum() - gammaln(whole).sum())


def variational_block(
    part: Corpus, words: Array, alpha: Array, limit: int, tol: float, update: bool, known: Array | None = None
) -> tuple[Array, DocumentSums]:
    """γ of some documents, and what they add up to.

    Every document starts from evenly spread tokens. Going on from the last pass instead would be faster, and the end
    much worse: a topic that a document has lost, E ln θ being hugely negative there, never comes back to it.
    """
    K = len(alpha)
    gamma = fresh_gamma(part, alpha)
    known = np.zeros((0, K)) if known is None else known
    counts = np.zeros((part.shape[1], K)) if update else np.zeros((1, K))
    value = loops.variational_documents(
        part.data,
        part.indices,
        part.indptr,
        part.weight,
        words,
        alpha,
        known,
        gamma,
        limit,
        tol,
        counts,
        update,
    )
    logs = part.weight @ (digamma(gamma) - digamma(gamma.sum(axis=1))[:, None])
    return gamma, DocumentSums(counts, float(value), logs, float(part.weight.sum()))


def variational_pass(
    corpus: Corpus, words: Array, alpha: Array, limit: int, tol: float, known: Array | None = None
) -> tuple[Array, DocumentSums]:
    """One E-step over all documents, on the threads, added up in order; `known` is γ of the last pass."""
    known = np.zeros((0, len(alpha))) if known is None else known

    def work(documents: slice) -> tuple[Array, DocumentSums]:
        part, mine = corpus.part(documents), known[documents] if len(known) else None
        return variational_block(part, words, alpha, limit, tol, True, mine)

    return _collected(shared(work, corpus.blocks()))  # a batch is often one block, done by the caller


def _collected(parts: Any) -> tuple[Array, DocumentSums]:
    tables, found = [], None
    for table, sums in parts:
        tables.append(table)
        if found is None:
            found = sums
        else:
            found = DocumentSums(*(a + b for a, b in zip(found, sums, strict=True)))
    return np.concatenate(tables), found  # type: ignore[return-value]


def fresh_gamma(corpus: Corpus, alpha: Array) -> Array:
    """γ before anything is known of a document: its tokens spread evenly over the topics."""
    lengths = np.add.reduceat(np.r_[corpus.data, 0.0], corpus.indptr[:-1]) * (np.diff(corpus.indptr) > 0)
    return alpha + lengths[:, None] / len(alpha)


def learned_alpha(logs: Array, alpha: Array) -> Array:
    """The document prior that maximizes the bound, from mean E ln θ; the old one where there is none."""
    try:
        found = dirichlet_from_mean_logs(logs[None])[0]
    except DegenerateError:  # all documents are divided alike
        return alpha
    return np.clip(found, 1e-5, 1e4)


def learned_eta(lam: Array, eta: Array) -> Array:
    """The symmetric topic prior that maximizes the bound."""
    V = lam.shape[1]
    mean = float((digamma(lam) - digamma(lam.sum(axis=1))[:, None]).mean())

    def slope(log_eta: float) -> float:
        value = np.exp(log_eta)
        return float(digamma(value) - digamma(V * value) - mean)

    low, high = np.log(1e-6), np.log(1e3)
    if slope(low) * slope(high) >= 0:
        return eta
    return np.full(V, np.exp(brentq(slope, low, high)))


# MAP expectation–maximization


def em_pass(corpus: Corpus, pi: Array, words: Array, extra: Array) -> tuple[Array, DocumentSums]:
    """Expected counts under (π, θ), and the next π."""

    def work(documents: slice) -> tuple[Array, DocumentSums]:
        part, mine = corpus.part(documents), np.array(pi[documents])
        counts = np.zeros_like(words)
        value = loops.em_documents(
            part.data, part.indices, part.indptr, part.weight, words, extra, mine, 1, 0.0, counts, True
        )
        return mine, DocumentSums(counts, float(value), np.zeros(len(extra)), float(part.weight.sum()))

    return _collected(in_order(work, corpus.blocks()))


def em_shares(corpus: Corpus, words: Array, extra: Array, limit: int = 2000, tol: float = 1e-9) -> Array:
    """π of new documents with the topics fixed."""
    K = len(extra)

    def work(documents: slice) -> Array:
        part = corpus.part(documents)
        pi = np.full((part.shape[0], K), 1.0 / K)
        loops.em_documents(
            part.data,
            part.indices,
            part.indptr,
            part.weight,
            words,
            extra,
            pi,
            limit,
            tol,
            np.zeros((1, K)),
            False,
        )
        return pi

    return np.concatenate(list(in_order(work, corpus.blocks())))


# collapsed Gibbs


class Tokens(NamedTuple):
    """Every token's word, where each document begins, and where each block of documents does."""

    words: Array
    offsets: Array
    cuts: Array  # documents at which blocks begin, with the end last


def tokens_of(corpus: Corpus, n_blocks: Any) -> Tokens:
    """Spell counts out as tokens."""
    words = np.repeat(corpus.indices.astype(np.int32), corpus.data.astype(np.int64))
    lengths = sparse.csr_array((corpus.data, corpus.indices, corpus.indptr), shape=corpus.shape).sum(axis=1)
    offsets = np.r_[0, np.cumsum(lengths.astype(np.int64))]
    count = max(1, min(4, len(words) // 100_000)) if n_blocks == "auto" else int(n_blocks)
    goals = np.linspace(0, len(words), count + 1)[1:-1]
    cuts = np.unique(np.r_[0, np.searchsorted(offsets, goals), len(offsets) - 1])
    return Tokens(words, offsets, cuts)


class Chain(NamedTuple):
    """Where a Gibbs run stands."""

    z: Array  # (tokens,) topic of each
    by_word: Array  # (V, K)
    totals: Array  # (K,)


def block_seed(seed: int, *place: int) -> Any:
    """A 64-bit seed for one block of one sweep."""
    return np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0]


def first_chain(tokens: Tokens, V: int, K: int, seed: int) -> Chain:
    """Uniform topics."""
    z = np.zeros(len(tokens.words), dtype=np.int32)
    by_word, totals = np.zeros((V, K), dtype=np.int32), np.zeros(K, dtype=np.int64)
    for b, (start, stop) in enumerate(zip(tokens.cuts[:-1], tokens.cuts[1:], strict=True)):
        offsets = tokens.offsets[start : stop + 1]
        drawing.first_topics(tokens.words, offsets, block_seed(seed, 0, b), z, K)
        drawing.count_topics(tokens.words, offsets, z, by_word, totals)
    return Chain(z, by_word, totals)


def packing_type(n_tokens: int, K: int) -> type:
    """The integers in which a count of up to `n_tokens` and one of K topics have room together."""
    return np.int32 if n_tokens << int(K - 1).bit_length() < 2**31 else np.int64


def sweep(tokens: Tokens, chain: Chain, alpha: Array, eta: Array, seed: int, index: int) -> Chain:
    """One sweep over all documents; blocks work on copies of the counts, and their changes are merged."""
    z = chain.z.copy()
    eta_sum = float(eta.sum())
    borders = list(enumerate(zip(tokens.cuts[:-1], tokens.cuts[1:], strict=True)))
    kind = packing_type(len(tokens.words), len(alpha))

    def work(block: Any) -> tuple[Array, Array]:
        b, (start, stop) = block
        by_word, totals = chain.by_word.astype(kind), chain.totals.copy()
        offsets = tokens.offsets[start : stop + 1]
        drawing.gibbs_sweep(
            tokens.words, offsets, z, by_word, totals, alpha, eta, eta_sum, block_seed(seed, index, b)
        )
        return by_word, totals

    found = list(in_order(work, borders))
    if len(found) == 1:
        return Chain(z, found[0][0].astype(np.int32, copy=False), found[0][1])
    by_word = chain.by_word + sum(table - chain.by_word for table, _ in found)
    totals = chain.totals + sum(table - chain.totals for _, table in found)
    return Chain(z, by_word.astype(np.int32), totals.astype(np.int64))


def log_joint(tokens: Tokens, chain: Chain, alpha: Array, eta: Array) -> float:
    """ln p(w, z) with topics and shares integrated out."""
    value = drawing.document_log_joint(tokens.words, tokens.offsets, chain.z, alpha)
    K = len(alpha)
    used = chain.by_word > 0
    place = np.nonzero(used)[0]
    value += float((gammaln(chain.by_word[used] + eta[place]) - gammaln(eta[place])).sum())
    whole = eta.sum()
    return float(value + K * gammaln(whole) - gammaln(chain.totals + whole).sum())


def document_counts(tokens: Tokens, z: Array, K: int) -> Array:
    """n_dk, (D, K)."""
    D = len(tokens.offsets) - 1
    owner = np.repeat(np.arange(D), np.diff(tokens.offsets))
    return np.bincount(owner * K + z, minlength=D * K).reshape(D, K)


def counted_prior(counts: Array, prior: Array, steps: int = 200, tol: float = 1e-4) -> Array:
    """The prior under which Dirichlet-multinomial rows of counts are likeliest, by Minka's (2000) fixed point.

    A prior of one number stays one number, shared by all columns. Equal counts are taken together, so a step costs as
    many digamma functions as there are different counts.
    """
    V = counts.shape[1]
    whole, rows = np.unique(counts.sum(axis=1), return_counts=True)
    columns = [counts] if len(prior) == 1 else list(counts.T)
    found = [np.unique(column, return_counts=True) for column in columns]
    share = V / len(prior)  # columns that an entry of the prior stands for
    for _ in range(steps):
        mass = share * prior.sum()
        bottom = share * float(rows @ (digamma(whole + mass) - digamma(mass)))
        top = np.array([n @ (digamma(c + a) - digamma(a)) for (c, n), a in zip(found, prior, strict=True)])
        fresh = np.clip(prior * top / max(bottom, 1e-300), 1e-6, 1e4)
        done = bool((np.abs(fresh - prior) <= tol * prior).all())
        prior = fresh
        if done:
            break
    return prior


def folded_in(corpus: Corpus, topics: Array, alpha: Array, seed: Any, burn: int, draws: int) -> Array:
    """E θ of new documents by Gibbs with the topics (V, K) fixed; every document has the same stream."""

    def work(documents: slice) -> Array:
        part = corpus.part(documents)
        times = part.data.astype(np.int64)
        words = np.repeat(part.indices, times)
        offsets = np.r_[0, np.cumsum(times)][part.indptr]
        means = np.zeros((part.shape[0], len(alpha)))
        drawing.fold_in(words, offsets, topics, alpha, np.uint64(seed), burn, draws, means)
        return means

    return np.concatenate(list(in_order(work, corpus.blocks())))
