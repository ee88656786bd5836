"""Tables about topics: words, coherence, perplexity, codeword counts; and documents drawn from a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array, dots_of
from gnomon.core.randomness import generator


def top_words(components: Any, names: Any = None, n: int = 10) -> Any:
    """Return the words of largest weight of every topic as a pandas table, one column a topic.

    Parameters
    ----------
    components : array of shape (K, V)
        Weights of words in topics: LDA's, NMF's, or any other.
    names : sequence of str, optional
        The words.
    n : int, default=10
        How many.

    Examples
    --------
    >>> print(top_words([[3, 1, 2], [0, 5, 1]], ["ball", "vote", "team"], 2))
      topic 0 topic 1
    0    ball    vote
    1    team    team
    """
    pd = import_pandas()
    table = np.asarray(components, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"components must be a table of topics by words; its shape is {table.shape}.")
    words = [f"x{j}" for j in range(table.shape[1])] if names is None else list(names)
    if len(words) != table.shape[1]:
        raise DataError(f"names must name the {table.shape[1]} words; there are {len(words)}.")
    order = np.argsort(-table, axis=1, kind="stable")[:, :n]
    return pd.DataFrame({f"topic {k}": [words[j] for j in row] for k, row in enumerate(order)})


def document_mixture(W: Any) -> Array:
    """Return rows that sum to one: how every document is divided among topics. An empty row is spread evenly.

    Examples
    --------
    >>> document_mixture([[1, 3], [0, 0]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    W = np.asarray(check_array(W, dtype=np.float64))
    if (W < 0).any():
        raise DataError(f"W must not be negative; its smallest entry is {W.min()}.")
    whole = W.sum(axis=1, keepdims=True)
    return np.where(whole > 0, W / np.where(whole > 0, whole, 1.0), 1.0 / W.shape[1])


def coherence(components: Any, X: Any, measure: str = "umass", n_words: int = 10) -> Array:
    r"""Return how well the top words of every topic go together in the documents X; higher is better.

    "umass" (Mimno et al. 2011) is the mean over pairs of :math:`\ln \frac{D(w_i, w_j) + 1}{D(w_j)}` with D the number
    of documents that hold the words, the commoner word of the topic as :math:`w_j`. "npmi" (Bouma 2009) is the mean
    of :math:`\ln\frac{P(w_i,w_j)}{P(w_i)P(w_j)} \big/ -\ln P(w_i,w_j)`, from −1 (never together) to 1.

    Parameters
    ----------
    components : array of shape (K, V)
    X : array or sparse matrix of shape (D, V)
        Counts of documents; held-out ones are the better judge.
    measure : {"umass", "npmi"}
    n_words : int, default=10
        Top words of a topic that are paired.

    Examples
    --------
    >>> coherence([[3, 2, 0], [0, 1, 3]], [[1, 1, 0], [2, 1, 0], [0, 0, 1]], "npmi", 2).round(3)
    array([ 1., -1.])
    """
    if measure not in ("umass", "npmi"):
        raise DataError(f"measure must be 'umass' or 'npmi'; got {measure!r}.")
    table = np.asarray(components, dtype=np.float64)
    seen = sparse.csc_array(check_array(X, accept_sparse="csr", dtype=np.float64)) > 0
    if seen.shape[1] != table.shape[1]:
        raise DataError(f"X has {seen.shape[1]} words and components {table.shape[1]}; they must agree.")
    order = np.argsort(-table, axis=1, kind="stable")[:, :n_words]
    return np.array([_coherent(sparse.csc_array(seen[:, words]), measure) for words in order])


def _coherent(seen: Any, measure: str) -> float:
    S = seen.astype(np.float64)
    together = (S.T @ S).toarray()
    alone, D = together.diagonal(), S.shape[0]
    pairs = [(i, j) for i in range(1, len(alone)) for j in range(i)]
    values = []
    for i, j in pairs:
        both = together[i, j]
        if measure == "umass":
            values.append(np.log((both + 1.0) / alone[j]) if alone[j] > 0 else 0.0)
        elif both == 0:
            values.append(-1.0)
        elif both == D:
            values.append(1.0)
        else:
            values.append(np.log(both * D / (alone[i] * alone[j])) / -np.log(both / D))
    return float(np.mean(values)) if values else 0.0


def halves(X: Any, random_state: Any) -> tuple[Any, Any]:
    """Put every token of every document into one of two tables at random."""
    S = sparse.csr_array(X, dtype=np.float64).copy()
    whole = np.floor(S.data)
    first = generator(random_state).binomial(whole.astype(np.int64), 0.5).astype(np.float64)
    first += 0.5 * (S.data - whole)
    one, other = S.copy(), S.copy()
    one.data, other.data = first, S.data - first
    return one, other


def completion_perplexity(model: Any, X: Any, random_state: Any = 0) -> float:
    """exp(−mean ln P(second half | shares from the first half))."""
    one, other = halves(X, random_state)
    theta = document_mixture(model.transform(one))
    beta = document_mixture(getattr(model, "topic_word_", model.components_))
    S = sparse.coo_array(other)
    chance = dots_of(theta, beta.T, S.row, S.col)
    tokens = S.data.sum()
    if not tokens > 0:
        raise DataError("X has too few tokens to split in halves.")
    used = S.data > 0
    with np.errstate(divide="ignore"):
        return float(np.exp(-(S.data[used] @ np.log(chance[used])) / tokens))


def perplexity(model: Any, X: Any, method: str = "completion", random_state: Any = 0) -> float:
    """Return the held-out perplexity of any topic model: LDA by any inference, or NMF; lower is better.

    Parameters
    ----------
    model : fitted model with `transform` and `topic_word_` or `components_`
        Rows of both are turned into shares.
    X : array or sparse matrix of counts
        Documents that were not learned from.
    method : {"completion", "bound"}
        "completion" predicts half of each document from the other half and is comparable between models; "bound" is
        that of variational models.
    random_state : int, RandomState, Generator or None
        How tokens are halved.

    Examples
    --------
    >>> from gnomon.topics import LatentDirichletAllocation, sample_corpus
    >>> topics = np.kron(np.eye(2), np.full(5, 0.2))
    >>> X = sample_corpus(200, 50, topics, doc_topic_prior=0.1, random_state=0).counts
    >>> model = LatentDirichletAllocation(2, random_state=0, max_iter=30).fit(X[:150])
    >>> bool(5 < perplexity(model, X[150:]) < 8)
    True
    """
    if method == "bound":
        return model.perplexity(X, method="bound")
    if method != "completion":
        raise DataError(f"method must be 'completion' or 'bound'; got {method!r}.")
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    return completion_perplexity(model, X, random_state)


def codeword_counts(codes: Any, groups: Any, n_codes: int | None = None) -> Array:
    """Return how often every code occurs in every group: songs as histograms of sounds, images of patches.

    Parameters
    ----------
    codes : array of int of shape (m,)
        The code of each item, from 0.
    groups : array of shape (m,)
        What each item belongs to.
    n_codes : int, optional
        Number of codes; the largest plus one when not given.

    Returns
    -------
    array of shape (groups, n_codes)
        Groups in sorted order.

    Examples
    --------
    >>> codeword_counts([0, 1, 1, 2], ["a", "a", "b", "b"])
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    codes, groups = np.asarray(codes), np.asarray(groups)
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or (codes < 0).any():
        raise DataError("codes must be a vector of integers from 0.")
    if groups.shape != codes.shape:
        raise DataError(f"groups must name one group a code; shapes are {groups.shape} and {codes.shape}.")
    size = int(codes.max(initial=-1)) + 1
    if n_codes is not None and size > n_codes:
        raise DataError(f"codes go up to {size - 1}, and n_codes is {n_codes}.")
    size = size if n_codes is None else int(n_codes)
    names, place = np.unique(groups, return_inverse=True)
    return np.bincount(place * size + codes, minlength=len(names) * size).reshape(len(names), size)


# drawing documents


class DrawnCorpus(NamedTuple):
    """Counts, and what they were drawn from."""

    counts: Any  # (D, V) CSR
    topics: Array  # (K, V)
    shares: Array  # (D, K)
    words: Array  # (tokens,) where token by token, else empty
    assignments: Array  # (tokens,) topic of every token, else empty


def dirichlet_draws(alpha: Array, n: int, rng: np.random.Generator) -> Array:
    """n rows from Dir(α), in logarithms so that tiny concentrations do not underflow to 0/0."""
    alpha = np.asarray(alpha, dtype=np.float64)
    logs = np.log(rng.standard_gamma(alpha + 1.0, size=(n, len(alpha))))
    logs += np.log(rng.random((n, len(alpha)))) / alpha
    logs -= logs.max(axis=1, keepdims=True)
    p = np.exp(logs)
    return p / p.sum(axis=1, keepdims=True)


def sample_topics(n_topics: int, n_words: int, prior: Any = 1.0, random_state: Any = None) -> Array:
    """Draw distributions over words from a Dirichlet prior, one row a topic.

    Parameters
    ----------
    n_topics, n_words : int
    prior : float or array of shape (n_words,)
        Concentration: 100 is nearly uniform, 0.01 nearly one word.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> sample_topics(2, 3, 1.0, random_state=0).sum(axis=1)
    array([1., 1.])
    """
    alpha = np.broadcast_to(np.asarray(prior, dtype=np.float64), (n_words,))
    if not (alpha > 0).all():
        raise DataError(f"prior must be positive; got {prior!r}.")
    return dirichlet_draws(alpha, n_topics, generator(random_state))


def sample_corpus(
    n_documents: int,
    lengths: Any,
    topics: Any = None,
    *,
    n_topics: int = 10,
    n_words: int = 100,
    doc_topic_prior: Any = 0.1,
    topic_word_prior: Any = 0.1,
    mode: str = "counts",
    random_state: Any = None,
) -> DrawnCorpus:
    """Draw documents from latent Dirichlet allocation.

    Parameters
    ----------
    n_documents : int
    lengths : int or array of int of shape (n_documents,)
        Words a document.
    topics : array of shape (K, V), optional
        P(word | topic); drawn with `topic_word_prior` when not given.
    n_topics, n_words : int
        Size of topics that are drawn.
    doc_topic_prior, topic_word_prior : float or array
        Concentrations.
    mode : {"counts", "tokens"}
        "counts" draws a document's counts at once from Mult(L, θB); "tokens" a topic and a word for every token. Both
        have the same distribution of counts.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    DrawnCorpus
        counts, topics, shares, and for "tokens" the words and their topics.

    Examples
    --------
    >>> drawn = sample_corpus(3, 10, n_topics=2, n_words=5, random_state=0)
    >>> drawn.counts.toarray().sum(axis=1)
    array([10, 10, 10])
    """
    if mode not in ("counts", "tokens"):
        raise DataError(f"mode must be 'counts' or 'tokens'; got {mode!r}.")
    rng = generator(random_state)
    if topics is None:
        topics = dirichlet_draws(np.full(n_words, float(topic_word_prior)), n_topics, rng)
    B = np.asarray(topics, dtype=np.float64)
    if B.ndim != 2 or (B < 0).any() or np.abs(B.sum(axis=1) - 1.0).max() > 1e-8:
        raise DataError("topics must be a table whose rows are probabilities and sum to one.")
    B = B / B.sum(axis=1, keepdims=True)
    K, V = B.shape
    sizes = np.broadcast_to(np.asarray(lengths), (n_documents,)).astype(np.int64)
    if (sizes < 0).any():
        raise DataError("lengths must not be negative.")
    alpha = np.broadcast_to(np.asarray(doc_topic_prior, dtype=np.float64), (K,))
    if not (alpha > 0).all():
        raise DataError(f"doc_topic_prior must be positive; got {doc_topic_prior!r}.")
    theta = dirichlet_draws(alpha, n_documents, rng)
    none = np.zeros(0, dtype=np.int64)
    if mode == "counts":
        rows = [rng.multinomial(n, p / p.sum()) for n, p in zip(sizes, theta @ B, strict=True)]
        table = np.array(rows, dtype=np.int64).reshape(n_documents, V)
        return DrawnCorpus(sparse.csr_array(table), B, theta, none, none)
    owner = np.repeat(np.arange(n_documents), sizes)
    z = _categories(theta[owner], rng)
    words = _categories(B[z], rng)
    counts = np.bincount(owner * V + words, minlength=n_documents * V).reshape(n_documents, V)
    return DrawnCorpus(sparse.csr_array(counts), B, theta, words, z)


def _categories(p: Array, rng: np.random.Generator) -> Array:
    """One draw from every row of probabilities."""
    u = rng.random((len(p), 1))
    return np.minimum((np.cumsum(p, axis=1) < u).sum(axis=1), p.shape[1] - 1)
