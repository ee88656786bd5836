"""Latent Dirichlet allocation: numbers by hand, exact posteriors of tiny corpora, properties, awkward documents."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse as sp
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

import gnomon
from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.threads import threads
from gnomon.loops import topic_draws
from gnomon.loops import topics as loops
from gnomon.topics import (
    LatentDirichletAllocation,
    _starts,
    codeword_counts,
    coherence,
    document_mixture,
    perplexity,
    sample_corpus,
    top_words,
)
from gnomon.topics import _inference as inference
from gnomon.topics._steps import online_step
from gnomon.topics.tables import _categories, sample_topics

C3 = np.array([[4, 2, 0, 0], [0, 0, 3, 1], [2, 1, 1, 2]], dtype=float)
TINY = np.array([[2, 1], [0, 2]])  # documents [0, 0, 1] and [1, 1]
METHODS = ("batch", "online", "gibbs", "em")


def started(model, X, topics, documents=None):
    """The work and a state with these topics."""
    work = model._prepare(model._read(X))
    state = model._start(work, np.random.default_rng(0))
    state = state._replace(topics=np.asarray(topics, dtype=float))
    return work, state if documents is None else state._replace(documents=np.asarray(documents, dtype=float))


def steps(model, work, state, count):
    values = []
    for _ in range(count):
        state, report = model._step(work, state)
        values.append(report.objective)
    return state, values


# expectation–maximization


def test_penalized_em_by_hand():
    model = LatentDirichletAllocation(
        2, learning_method="em", doc_topic_prior=1.3, topic_word_prior=1.2, max_iter=2
    )
    work, state = started(model, C3, [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    after, values = steps(model, work, state, 1)
    assert_allclose(after.documents[:, 0], [0.7121212121, 0.3695652174, 0.5], rtol=1e-9)
    assert_allclose(
        after.topics,
        [[0.5208333333, 0.2083333333, 0.1875, 0.0833333333], [0.175, 0.175, 0.325, 0.325]],
        rtol=1e-9,
    )
    _, values = steps(model, work, state, 3000)
    assert_allclose(values[:2], [-25.8412893196, -24.0704041866], rtol=1e-10)
    assert values[-1] == pytest.approx(-21.3819143379, rel=1e-8)
    assert (np.diff(values) >= -1e-9).all()


def test_maximum_likelihood_em_by_hand():
    model = LatentDirichletAllocation(2, learning_method="em")
    work, state = started(model, C3, [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    after, _ = steps(model, work, state, 1)
    assert_allclose(after.documents[:, 0], [0.7333333333, 0.35, 0.5], rtol=1e-9)
    assert_allclose(after.topics[0], [0.5454545455, 0.2045454545, 0.1818181818, 0.0681818182], rtol=1e-8)
    assert_allclose(after.topics[1], [1 / 6, 1 / 6, 1 / 3, 1 / 3])
    assert_allclose(steps(model, work, state, 2)[1], [-22.1807097779, -20.0766928947], rtol=1e-10)


def test_one_topic_is_the_word_totals():
    model = LatentDirichletAllocation(1, learning_method="em", topic_word_prior=2.0, max_iter=5).fit(C3)
    assert_allclose(model.topic_word_[0], (C3.sum(axis=0) + 1) / (C3.sum() + 4))
    with pytest.raises(DataError, match="at least 1"):
        LatentDirichletAllocation(2, learning_method="em", doc_topic_prior=0.5).fit(C3)


# variational Bayes

LAMBDA = np.array([[5.0, 3, 1, 1], [1, 1, 4, 4]])


def test_variational_documents_by_hand():
    words = inference.topic_weights(LAMBDA)
    assert_allclose(
        words.T,
        [
            (0.4744329770, 0.2647502755, 0.0590737714, 0.0590737714),
            (0.0590737714, 0.0590737714, 0.3694887740, 0.3694887740),
        ],
        rtol=1e-9,
    )
    corpus, alpha = inference.corpus_of(C3), np.full(2, 0.5)
    gamma, end = np.ones(2), corpus.indptr[1]
    loops.fit_shares(
        corpus.data, corpus.indices, 0, end, words, alpha, gamma, np.empty(2), np.empty(2), 1, 0.0
    )
    assert_allclose(gamma, [5.6922396805, 1.3077603195], rtol=1e-9)
    gamma, _ = inference.variational_pass(corpus, words, alpha, 5000, 1e-13)
    expected = [(6.4751923966, 0.5248076034), (0.5252204944, 4.4747795056), (3.5180031134, 3.4819968866)]
    assert_allclose(gamma, expected, rtol=1e-8)


def test_documents_change_their_minds():
    """A document that lived on one topic moves to another when the topics do; one that stands better there stays."""
    corpus, alpha = inference.corpus_of([[6, 4, 0, 0]]), np.full(2, 0.05)
    words = inference.topic_weights(np.array([[0.1, 0.1, 9.0, 9.0], [9.0, 9.0, 0.1, 0.1]]))
    before = np.array([[10.05, 0.05]])  # all tokens in the topic that has lost their words
    fresh, alone = inference.variational_pass(corpus, words, alpha, 500, 1e-12)
    gamma, found = inference.variational_pass(corpus, words, alpha, 500, 1e-12, before)
    assert_allclose(gamma, fresh)
    assert gamma[0, 1] > 9.9
    assert found.value == alone.value
    words = inference.topic_weights(
        np.ones((2, 4))
    )  # topics that do not differ: a fresh start stays in between
    fresh, alone = inference.variational_pass(corpus, words, alpha, 500, 1e-12)
    assert_allclose(fresh, [[5.05, 5.05]])
    gamma, found = inference.variational_pass(corpus, words, alpha, 500, 1e-12, before)
    assert_allclose(gamma, before, rtol=1e-6)
    assert found.value > alone.value + 1.0


def test_batch_iterations_by_hand():
    model = LatentDirichletAllocation(
        2, doc_topic_prior=0.5, topic_word_prior=0.1, mean_change_tol=1e-12, max_doc_update_iter=5000
    )
    work, state = started(model, C3, LAMBDA, np.ones((3, 2)))
    after, _ = steps(model, work, state, 1)
    assert_allclose(
        after.topics,
        [
            (5.8677768896, 2.9076344725, 0.2581767534, 0.3848278888),
            (0.3322231104, 0.2923655275, 3.9418232466, 2.8151721112),
        ],
        rtol=1e-7,
    )
    _, values = steps(model, work, state, 300)
    assert_allclose(values[:3], [-31.7291182648, -27.8061059708, -25.9756349785], rtol=1e-9)
    assert values[-1] == pytest.approx(-25.8832000869, rel=1e-9)
    assert (np.diff(values) >= -1e-9).all()


def test_digamma_of_the_loops_is_scipys():
    from gnomon.loops.topics import exp_psi, psi

    for x in (1e-4, 0.01, 0.3, 1.0, 4.9, 6.0, 77.0, 1e5):
        assert psi(x) == pytest.approx(digamma(x), rel=1e-11)
        assert exp_psi(x) == pytest.approx(np.exp(digamma(x)), rel=1e-10)
    for x in (0.0, -0.5, -1e9, -1e300, -np.inf):  # a recurrence that climbs by 1 would never end
        assert np.isnan(psi(x)) and exp_psi(x) == 0.0


@pytest.mark.parametrize(("K", "kind"), [(1, np.int32), (2, np.int32), (20, np.int32), (33, np.int64)])
def test_packed_counts_come_back(K, kind):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, size=(50, K)).astype(kind) * rng.integers(1, 1000, size=(50, K)).astype(kind)
    packed, bits = counts.copy(), topic_draws.topic_bits(K)
    assert 2**bits >= K and (bits == 0 or 2 ** (bits - 1) < K)
    topic_draws.pack_counts(packed, bits)
    assert (np.diff(packed, axis=1) <= 0).all()  # the commonest first
    assert_array_equal(np.sort(packed >> bits, axis=1), np.sort(counts, axis=1))
    topic_draws.unpack_counts(packed, bits)
    assert_array_equal(packed, counts)


def test_counts_and_topics_have_room_in_one_number():
    assert inference.packing_type(2**26 - 1, 32) is np.int32
    assert inference.packing_type(2**26, 32) is np.int64
    assert inference.packing_type(2**26 - 1, 33) is np.int64
    assert inference.packing_type(2**31 - 1, 1) is np.int32


def evidence(X, K, alpha, eta):
    """ln p(w) and p(z | w) of every assignment, by enumeration."""
    docs = [np.repeat(np.arange(X.shape[1]), row) for row in X]
    words, owner = np.concatenate(docs), np.repeat(np.arange(len(docs)), [len(d) for d in docs])
    V, logs, every = X.shape[1], [], list(product(range(K), repeat=len(words)))
    for z in every:
        z = np.array(z)
        n_dk, n_kw = np.zeros((len(docs), K)), np.zeros((K, V))
        np.add.at(n_dk, (owner, z), 1)
        np.add.at(n_kw, (z, words), 1)
        value = 0.0
        for table, prior in ((n_dk, alpha), (n_kw, eta)):
            m = table.shape[1]
            value += (gammaln(table + prior) - gammaln(prior)).sum()
            value += (gammaln(m * prior) - gammaln(table.sum(axis=1) + m * prior)).sum()
        logs.append(value)
    logs = np.array(logs)
    total = np.log(np.exp(logs).sum())
    return total, np.exp(logs - total), np.array(every), logs


def test_exact_posterior_of_five_tokens():
    total, posterior, every, logs = evidence(TINY, 2, 0.5, 0.1)
    assert total == pytest.approx(-4.2489768576, rel=1e-9)
    agree = lambda a, b: posterior[every[:, a] == every[:, b]].sum()  # noqa: E731
    pairs = [agree(0, 1), agree(0, 2), agree(2, 3), agree(3, 4)]
    assert_allclose(pairs, [0.9456186179, 0.2818807884, 0.7938731893, 0.9361196865], rtol=1e-8)
    tokens = inference.tokens_of(inference.corpus_of(TINY), 1)
    alpha, eta = np.full(2, 0.5), np.full(2, 0.1)
    for z, expected in (((0, 0, 1, 1, 1), -5.3602551060), ((0, 0, 0, 1, 1), -6.7953396313)):
        by_word = np.zeros((2, 2), dtype=np.int32)
        np.add.at(by_word, (tokens.words, np.array(z)), 1)
        chain = inference.Chain(np.array(z, dtype=np.int32), by_word, by_word.sum(axis=0).astype(np.int64))
        value = inference.log_joint(tokens, chain, alpha, eta)
        assert value == pytest.approx(expected, rel=1e-9)
        assert value == pytest.approx(logs[(every == z).all(axis=1)][0])


def test_bound_is_below_the_evidence():
    total, *_ = evidence(TINY, 2, 0.5, 0.1)
    for seed in range(5):
        model = LatentDirichletAllocation(
            2,
            doc_topic_prior=0.5,
            topic_word_prior=0.1,
            max_iter=200,
            mean_change_tol=1e-10,
            random_state=seed,
        ).fit(TINY)
        assert model.bound_ <= total + 1e-9


def test_long_gibbs_run_has_the_exact_posterior():
    from gnomon.loops.topic_draws import gibbs_sweep

    tokens = inference.tokens_of(inference.corpus_of(TINY), 1)
    alpha, eta = np.full(2, 0.5), np.full(2, 0.1)
    chain = inference.first_chain(tokens, 2, 2, 0)
    z, by_word, totals = chain.z.copy(), chain.by_word.copy(), chain.totals.copy()
    hits, sweeps, seeds = (
        np.zeros(4),
        60_000,
        np.random.default_rng(0).integers(2**63, size=60_000, dtype=np.uint64),
    )
    batches = np.zeros((60, 4))
    for i in range(sweeps):
        gibbs_sweep(tokens.words, tokens.offsets, z, by_word, totals, alpha, eta, 0.2, seeds[i])
        hits = np.array([z[0] == z[1], z[0] == z[2], z[2] == z[3], z[3] == z[4]])
        batches[i // 1000] += hits / 1000
    exact = np.array([0.9456186179, 0.2818807884, 0.7938731893, 0.9361196865])
    error = batches.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(batches.mean(axis=0) - exact) < 4 * error).all()
    assert totals.sum() == 5 and by_word.sum() == 5
    assert_allclose(by_word.sum(axis=1), [2, 3])


def test_conditional_of_one_token():
    words = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    counts = np.zeros(2)
    from gnomon.loops.topic_draws import gibbs_sweep

    draws = 20_000
    for seed in range(draws):  # a document whose only token is the third: the others stay
        by_word, totals = np.array([[2, 0], [0, 2]], dtype=np.int32), np.array([2, 2])
        z = np.array([0, 0, 1, 1, 1], dtype=np.int32)
        by_word[1, 1] += 1
        totals = np.array([2, 3])
        gibbs_sweep(words, np.array([2, 3]), z, by_word, totals, np.array([2.5, 0.5]), np.full(2, 0.1), 0.2,
                    np.uint64(seed * 7919 + 1))  # fmt: skip
        counts[z[2]] += 1
    assert counts[1] / draws == pytest.approx(0.8076923077, abs=4 * np.sqrt(0.155 / draws))


# one estimator


@pytest.fixture(scope="module")
def bars():
    topics = np.zeros((6, 9))
    for i in range(3):
        topics[i, 3 * i : 3 * i + 3] = 1 / 3
        topics[3 + i, i::3] = 1 / 3
    return sample_corpus(400, 60, topics, doc_topic_prior=0.15, random_state=0)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_bars(bars, method):
    model = LatentDirichletAllocation(
        6,
        learning_method=method,
        random_state=1,
        max_iter=100 if method != "online" else 20,
        doc_topic_prior=1.1 if method == "em" else 0.15,
        topic_word_prior=1.01 if method == "em" else 0.1,
    ).fit(bars.counts[:300])
    B = model.topic_word_
    assert_allclose(B.sum(axis=1), 1)
    theta = model.transform(bars.counts)
    assert_allclose(theta.sum(axis=1), 1)
    assert_allclose((theta @ B).sum(axis=1), 1)
    test = bars.counts[300:]
    found, true = perplexity(model, test), 0.0
    one, other = __import__("gnomon.topics.tables", fromlist=["halves"]).halves(test, 0)
    S = sp.coo_array(other)
    chance = (bars.shares[300:] @ bars.topics)[S.row, S.col]
    true = np.exp(-(S.data @ np.log(chance)) / S.data.sum())
    assert found < 1.25 * true
    assert found == model.perplexity(test)
    assert found < 9
    again = model.transform(bars.counts[5:6])
    assert_allclose(again[0], theta[5], rtol=1e-9)
    rows, words, topic = model.assign(bars.counts[:3])
    assert_allclose(topic.sum(axis=1), 1)
    assert len(rows) == bars.counts[:3].nnz == len(words)
    shares, table = model.as_matrix_factorization(bars.counts[:2])
    assert_allclose((shares @ table).sum(axis=1), 1)
    assert np.isfinite(model.score(bars.counts))
    drawn = model.sample(5, 20, random_state=0)
    assert_allclose(drawn.sum(axis=1), 20)


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_no_bit(bars, method):
    options = dict(
        learning_method=method, random_state=0, max_iter=3, n_burn=5, n_samples=2, thin=2, n_chunks=3
    )
    with threads(1):
        one = LatentDirichletAllocation(4, **options).fit(bars.counts)
        said = one.transform(bars.counts)
    with threads(3):
        many = LatentDirichletAllocation(4, **options).fit(bars.counts)
        assert (said == many.transform(bars.counts)).all()
    assert (one.components_ == many.components_).all()


@pytest.mark.parametrize("method", METHODS)
def test_interrupted_fit_goes_on(bars, method, monkeypatch, tmp_path):
    options = dict(learning_method=method, random_state=0, max_iter=4, n_burn=2, n_samples=2, thin=1)
    model = LatentDirichletAllocation(4, **options)
    whole = model.fit(bars.counts).components_
    step, calls = LatentDirichletAllocation._step, []

    def broken(self, work, state):
        calls.append(state)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return step(self, work, state)

    monkeypatch.setattr(LatentDirichletAllocation, "_step", broken)
    model.set_callbacks(Checkpoint(tmp_path / "fit", every_seconds=0))
    with pytest.raises(KeyboardInterrupt):
        model.fit(bars.counts)
    assert (model.fit(bars.counts).components_ == whole).all()
    assert len(calls) == 5  # three before, one broken, one after


@pytest.mark.parametrize("method", METHODS)
def test_order_of_documents_matters_where_it_is_said(bars, method):
    options = dict(learning_method=method, random_state=0, max_iter=3, batch_size=50, n_burn=3, n_samples=1)
    model = LatentDirichletAllocation(4, **options)
    order = np.random.default_rng(0).permutation(bars.counts.shape[0])
    gap = np.abs(model.fit(bars.counts).topic_word_ - model.fit(bars.counts[order]).topic_word_).max()
    assert (gap < 1e-9) == (model._promises.order == "exact")
    assert model._promises.faults() == []


def test_topics_in_another_order_change_nothing(bars):
    model = LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(bars.counts)
    before = model.score(bars.counts), model.perplexity(bars.counts)
    order = [2, 0, 3, 1]
    model.components_, model.topic_word_ = model.components_[order], model.topic_word_[order]
    assert model.score(bars.counts) == pytest.approx(before[0], rel=1e-6)
    assert model.perplexity(bars.counts) == pytest.approx(before[1], rel=1e-6)


def likeliest_prior(counts):
    """The Dirichlet prior of observed counts by a general optimizer: a slow twin."""
    whole = counts.sum(axis=1)

    def cost(logs):
        a = np.exp(logs)
        rows = gammaln(counts + a) - gammaln(a)
        return -(rows.sum() + (gammaln(a.sum()) - gammaln(whole + a.sum())).sum())

    return np.exp(minimize(cost, np.zeros(counts.shape[1]), method="BFGS", options={"gtol": 1e-6}).x)


def separate_topics():
    """Documents whose topics share no word, so that the topic of every token is known, and its counts."""
    topics = np.kron(np.eye(3), np.full(4, 0.25))
    X = sample_corpus(500, 80, topics, doc_topic_prior=[2.0, 0.1, 0.1], random_state=0).counts
    return X, X.toarray().reshape(500, 3, 4).sum(axis=2)


def test_prior_of_counts_is_the_likeliest():
    _, counts = separate_topics()
    found = inference.counted_prior(counts, np.ones(3), 1000, 1e-9)
    assert_allclose(found, likeliest_prior(counts), rtol=1e-4)
    one = inference.counted_prior(counts, np.ones(1), 1000, 1e-9)
    grid = one * np.array([[0.98], [1.0], [1.02]])
    rows = [gammaln(counts + a).sum() - gammaln(a) * counts.size for a in grid[:, 0]]
    whole = [500 * gammaln(3 * a) - gammaln(80 + 3 * a) * 500 for a in grid[:, 0]]
    assert np.argmax(np.add(rows, whole)) == 1  # one number shared by all columns


def test_gibbs_learns_the_prior_of_known_topics():
    X, counts = separate_topics()
    options = dict(learning_method="gibbs", optimize_priors=True, random_state=2, n_burn=150)
    model = LatentDirichletAllocation(3, **options).fit(
        X
    )  # some chains stay where two topics share a subject
    order = [int(np.argmax(row)) // 4 for row in model.topic_word_]
    assert sorted(order) == [0, 1, 2]
    best = likeliest_prior(counts)[order]  # its standard error is about a twentieth with 500 documents
    assert_allclose(model.doc_topic_prior_, best, rtol=0.1)
    assert np.ptp(model.topic_word_prior_) == 0


def test_variational_priors_never_lower_the_bound():
    X, _ = separate_topics()
    exact = dict(random_state=0, max_iter=60, mean_change_tol=1e-8, max_doc_update_iter=2000)
    learned = LatentDirichletAllocation(3, optimize_priors=True, **exact).fit(X)
    objective = learned.trace_.objective
    assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()
    found = np.sort(learned.doc_topic_prior_)
    assert found[-1] > 5 * found[1]  # one topic is in every document


def test_augmentation_leaves_the_marginal():
    topics, theta = np.array([[0.5, 0.5, 0], [0, 0.2, 0.8]]), np.array([0.3, 0.7])
    joint = theta[:, None] * topics  # P(topic, word)
    assert_allclose(joint.sum(axis=0), theta @ topics)
    given_word = joint / joint.sum(axis=0)
    assert_allclose((given_word * (theta @ topics)).sum(axis=1), theta)


def test_online_is_partial_fit(bars):
    options = dict(random_state=0, learning_method="online", batch_size=50)
    model = LatentDirichletAllocation(4, total_samples=400, **options)
    whole = LatentDirichletAllocation(4, max_iter=1, **options).fit(bars.counts)
    for start in range(0, 400, 50):
        model.partial_fit(bars.counts[start : start + 50])
    assert model.n_batch_iter_ == whole.n_batch_iter_ == 8
    assert perplexity(model, bars.counts) < 9
    by_hand = LatentDirichletAllocation(2, doc_topic_prior=0.5, topic_word_prior=0.1, learning_method="online",
                                        batch_size=3, mean_change_tol=1e-12, max_doc_update_iter=5000)  # fmt: skip
    work, state = started(by_hand, C3, LAMBDA)
    after, _ = online_step(by_hand, work, state)
    rho = 11.0**-0.7
    batch = np.array([
        (5.8677768896, 2.9076344725, 0.2581767534, 0.3848278888),
        (0.3322231104, 0.2923655275, 3.9418232466, 2.8151721112),
    ])  # fmt: skip
    assert_allclose(after.topics, (1 - rho) * LAMBDA + rho * batch, rtol=1e-6)


def test_rows_on_disk(tmp_path, bars):
    import pandas as pd

    path = tmp_path / "counts.parquet"
    frame = pd.DataFrame(bars.counts.toarray().astype(float), columns=[f"w{j}" for j in range(9)])
    frame.to_parquet(path)
    for method in ("batch", "online"):
        model = LatentDirichletAllocation(6, learning_method=method, random_state=0, max_iter=10).fit(
            str(path)
        )
        assert perplexity(model, bars.counts) < 9
    with pytest.raises(DataError, match="memory"):
        LatentDirichletAllocation(2, learning_method="gibbs").fit(str(path))


@pytest.mark.parametrize("method", METHODS)
def test_awkward_documents(method):
    options = dict(learning_method=method, random_state=0, n_burn=5, n_samples=2)
    X = np.array([[3, 0, 1], [0, 0, 0], [0, 2, 2]])
    model = LatentDirichletAllocation(2, **options).fit(X)
    assert_allclose(model.transform(X)[1], 0.5)
    assert np.isfinite(model.components_).all()
    one = LatentDirichletAllocation(2, **options).fit(X[:1])
    assert_allclose(one.transform(X[:1]).sum(axis=1), 1)
    with pytest.raises(DataError, match="[Nn]egative"):
        LatentDirichletAllocation(2, **options).fit([[1, -1]])
    with pytest.raises(DataError, match="doc_topic_prior"):
        LatentDirichletAllocation(2, doc_topic_prior=[1.0, 1.0, 1.0], **options).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :2])
    more = LatentDirichletAllocation(7, **options).fit(X)
    assert more.transform(X).shape == (3, 7)


def test_fractions_and_weights():
    X = np.array([[1.5, 0.5], [0.0, 2.5]])
    for method in ("batch", "em", "online"):
        LatentDirichletAllocation(2, learning_method=method).fit(X)
    with pytest.raises(DataError, match="whole counts"):
        LatentDirichletAllocation(2, learning_method="gibbs").fit(X)
    with pytest.raises(DataError, match="sample_weight"):
        LatentDirichletAllocation(2, learning_method="gibbs").fit(C3, sample_weight=[1, 2, 1])
    for method in ("batch", "em"):
        a = LatentDirichletAllocation(2, learning_method=method, random_state=0).fit(
            C3, sample_weight=[2, 0, 1]
        )
        b = LatentDirichletAllocation(2, learning_method=method, random_state=0).fit(C3[[0, 0, 2]])
        assert_allclose(a.components_, b.components_, rtol=1e-8)


def test_kinds_of_perplexity(bars):
    model = LatentDirichletAllocation(3, random_state=0).fit(bars.counts)
    bound = model.perplexity(bars.counts, method="bound")
    assert bound == pytest.approx(np.exp(-model.score(bars.counts) / bars.counts.sum()))
    assert perplexity(model, bars.counts, method="bound") == bound
    with pytest.raises(DataError, match="method"):
        model.perplexity(bars.counts, method="guess")
    with pytest.raises(DataError, match="method"):
        perplexity(model, bars.counts, method="guess")
    gibbs = LatentDirichletAllocation(2, learning_method="gibbs", n_burn=1, n_samples=1).fit(bars.counts)
    with pytest.raises(DataError, match="bound"):
        gibbs.perplexity(bars.counts, method="bound")
    with pytest.raises(DataError, match="posterior"):
        gibbs.posterior(bars.counts)
    assert not hasattr(gibbs, "partial_fit")
    with pytest.raises(DataError, match="few tokens"):
        perplexity(model, np.zeros((1, 9)))


def test_early_stop(bars):
    model = LatentDirichletAllocation(3, random_state=0, max_iter=200, evaluate_every=1, perp_tol=0.01)
    model.fit(bars.counts)
    assert model.n_iter_ < 200 and model.converged_
    seen = model.trace_["perplexity"]
    assert abs(seen[-2] - seen[-1]) < 0.01 <= abs(seen[-3] - seen[-2])


def test_perplexity_on_the_way_is_of_weighted_words():
    options = dict(random_state=0, max_iter=6, evaluate_every=3, perp_tol=0.0)
    model = LatentDirichletAllocation(2, **options).fit(C3, sample_weight=[1.0, 2.0, 3.0])
    seen = model.trace_["perplexity"]
    assert np.flatnonzero(np.isfinite(seen)).tolist() == [2, 5]  # the third pass and the sixth
    assert_allclose(seen[[2, 5]], np.exp(-model.trace_.objective[[2, 5]] / (6 + 2 * 4 + 3 * 6)), rtol=1e-12)


def test_draws_do_not_stop_early():
    options = dict(learning_method="gibbs", n_burn=20, n_samples=2, thin=5, evaluate_every=1, perp_tol=1e9)
    assert LatentDirichletAllocation(2, random_state=0, **options).fit(C3).n_iter_ == 30


# tables


def test_tables():
    table = top_words([[3, 1, 2], [0, 5, 1]], ["ball", "vote", "team"], 2)
    assert table["topic 1"].tolist() == ["vote", "team"]
    assert_allclose(document_mixture([[1, 3], [0, 0]]), [[0.25, 0.75], [0.5, 0.5]])
    assert codeword_counts([0, 1, 1, 2], ["a", "a", "b", "b"]).tolist() == [[1, 1, 0], [0, 1, 1]]
    assert codeword_counts([0], ["a"], 3).tolist() == [[1, 0, 0]]
    X = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 1]])
    umass = coherence([[3, 2, 1]], X, n_words=3)[0]
    assert umass == pytest.approx((np.log(3 / 2) + np.log(1 / 2) + np.log(1 / 2)) / 3)
    assert_allclose(coherence([[3, 2, 0]], X, "npmi", 2), [1.0])
    for call, match in [
        (lambda: coherence([[1, 2]], X), "agree"),
        (lambda: coherence([[1, 2, 3]], X, "c_v"), "measure"),
        (lambda: top_words([1, 2]), "table"),
        (lambda: top_words([[1, 2]], ["a"]), "names"),
        (lambda: document_mixture([[-1.0]]), "negative"),
        (lambda: codeword_counts([0.5], [0]), "integers"),
        (lambda: codeword_counts([-1, 0], [0, 1]), "integers"),
        (lambda: codeword_counts([0], [0, 1]), "groups"),
        (lambda: codeword_counts([5], [0], 2), "n_codes"),
    ]:
        with pytest.raises(DataError, match=match):
            call()


# drawing


def test_variance_of_dirichlet_entries():
    expected = {1: 0.0081818182, 10: 0.0008910891, 0.1: 0.045, 100: 0.0000899101, 0.01: 0.0818181818}
    for concentration, variance in expected.items():
        draws = sample_topics(20_000, 10, concentration, random_state=0)
        assert_allclose(draws.sum(axis=1), 1)
        assert draws.var() == pytest.approx(variance, rel=0.05)
    assert np.isfinite(sample_topics(100, 10, 1e-6, random_state=0)).all()


@pytest.mark.parametrize("mode", ["counts", "tokens"])
def test_moments_of_drawn_counts(mode):
    topics = np.array([[0.5, 0.5, 0], [0, 0.2, 0.8]])
    drawn = sample_corpus(40_000, 10, topics, doc_topic_prior=1.0, mode=mode, random_state=0)
    X = drawn.counts.toarray()
    assert_allclose(X.mean(axis=0), [2.5, 3.5, 4], atol=0.05)
    assert_allclose(np.cov(X.T), [[3.75, 0.25, -4], [0.25, 2.95, -3.2], [-4, -3.2, 7.2]], atol=0.15)
    assert len(drawn.words) == (400_000 if mode == "tokens" else 0)
    for call, match in [
        (lambda: sample_corpus(2, 3, topics, mode="words"), "mode"),
        (lambda: sample_corpus(2, -1, topics), "lengths"),
        (lambda: sample_corpus(2, 3, topics * 2), "sum to one"),
        (lambda: sample_corpus(2, 3, topics, doc_topic_prior=0.0), "doc_topic_prior"),
        (lambda: sample_topics(2, 3, 0.0), "prior"),
    ]:
        with pytest.raises(DataError, match=match):
            call()


def test_topics_that_start_apart_end_better(monkeypatch):
    X = sample_corpus(
        150, 60, n_topics=6, n_words=100, doc_topic_prior=0.15, topic_word_prior=0.05, random_state=3
    ).counts
    ours, noise = [], []
    for s in range(4):
        ours.append(LatentDirichletAllocation(6, random_state=s).fit(X).bound_)
        with monkeypatch.context() as patch:
            patch.setattr(_starts, "COMPANY", 0.0)  # noise alone: topics that are nearly equal
            noise.append(LatentDirichletAllocation(6, random_state=s).fit(X).bound_)
    assert np.mean(ours) > np.mean(noise)


def test_topics_start_at_the_company_of_words(monkeypatch):
    monkeypatch.setattr(_starts, "NOISE_SHAPE", 1e30)  # no noise: exactly 1 everywhere
    X = np.array([[2.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    model = LatentDirichletAllocation(4)
    found = _starts.first_topics(model._read(X), 4, np.random.default_rng(0))
    # a word of the first document brings that document, a word of the second the second; the first two differ
    first, second = 1.0 + 0.5 * 4 * np.array([[0.5, 0.5, 0, 0], [0, 0, 0.75, 0.25]])
    assert all(np.allclose(row, first, rtol=1e-12) or np.allclose(row, second, rtol=1e-12) for row in found)
    assert not np.allclose(found[0], found[1])
    weighted = _starts.first_topics(
        model._read(X, sample_weight=[1.0, 0.0, 1.0]), 4, np.random.default_rng(0)
    )
    assert_allclose(weighted, np.tile(first, (4, 1)), rtol=1e-12)  # two words for four topics
    empty = _starts.first_topics(model._read(np.zeros((2, 4))), 4, np.random.default_rng(0))
    assert_allclose(empty, np.ones((4, 4)), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_spoiled_files_are_refused(method, tmp_path):
    options = {"n_burn": 2, "n_samples": 1} if method == "gibbs" else {"max_iter": 2}
    model = LatentDirichletAllocation(2, learning_method=method, random_state=0, **options).fit(C3)
    whole = {name: getattr(model, name) for name in ("components_", "topic_word_", "doc_topic_prior_")}
    spoiled = [
        ("components_", whole["components_"][:, :-1]),
        ("topic_word_", whole["topic_word_"][:1]),
        ("doc_topic_prior_", whole["doc_topic_prior_"][:1]),
        ("doc_topic_prior_", np.array([1.0, -1e300])),  # the digamma function would climb from there forever
        ("doc_topic_prior_", np.array([1.0, np.nan])),
    ]
    for name, value in spoiled:
        for known, one in {**whole, name: value}.items():
            setattr(model, known, one)
        gnomon.save(model, tmp_path / "model.gnomon")
        with pytest.raises(ModelFileError):
            gnomon.load(tmp_path / "model.gnomon")


def test_bound_of_a_data_frame():
    frame = pd.DataFrame(C3, columns=list("abcd"))
    model = LatentDirichletAllocation(2, random_state=0).fit(frame)
    plain = LatentDirichletAllocation(2, random_state=0).fit(C3)
    assert model.perplexity(frame, method="bound") == plain.perplexity(C3, method="bound")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", ["batch", "online"])
def test_subjects_that_share_no_word_are_told_apart(method, seed):
    X = np.kron(np.eye(4), np.full((3, 3), 2.0))  # four subjects of three words and three documents
    model = LatentDirichletAllocation(
        4, learning_method=method, random_state=seed, doc_topic_prior=0.1, topic_word_prior=0.1
    ).fit(X)
    best = np.argsort(-model.topic_word_, axis=1)[:, :3]
    assert sorted(map(tuple, np.sort(best, axis=1).tolist())) == [
        (0, 1, 2),
        (3, 4, 5),
        (6, 7, 8),
        (9, 10, 11),
    ]


# closed forms, and other ways to write the same corpus


def some_stories():
    drawn = sample_corpus(
        40,
        np.random.default_rng(3).poisson(30, 40),
        n_topics=3,
        n_words=20,
        topic_word_prior=0.1,
        doc_topic_prior=0.2,
        random_state=0,
    )
    return drawn.counts.toarray().astype(float)


def quick(method, K=3):
    priors = dict(doc_topic_prior=1.1, topic_word_prior=1.1) if method == "em" else {}
    draws = dict(n_burn=5, n_samples=2, thin=1) if method == "gibbs" else {}
    return LatentDirichletAllocation(K, learning_method=method, max_iter=4, random_state=0, **priors, **draws)


def test_bound_of_one_topic_is_the_evidence():
    X, eta = some_stories(), 0.3
    n = X.sum(axis=0)
    evidence = gammaln(n + eta).sum() - gammaln((n + eta).sum()) - 20 * gammaln(eta) + gammaln(20 * eta)
    model = LatentDirichletAllocation(1, topic_word_prior=eta, random_state=0).fit(X)
    assert_allclose(model.bound_, evidence, rtol=1e-10)
    assert_allclose(model.score(X), evidence, rtol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_counts_written_in_pieces_are_added(method):
    X = some_stories()
    once = sp.coo_array(X)
    order = np.random.default_rng(0).permutation(2 * once.nnz)
    row, column, value = (np.r_[part, part][order] for part in (once.row, once.col, once.data))
    pieces = sp.coo_array((value, (row, column)), shape=X.shape)
    assert_allclose(quick(method).fit(pieces).topic_word_, quick(method).fit(2 * X).topic_word_, rtol=1e-10)


@pytest.mark.parametrize("method", ["batch", "em"])
def test_empty_and_weightless_documents_change_nothing(method):
    X = some_stories()
    plain = quick(method).fit(X).topic_word_
    assert_allclose(quick(method).fit(np.r_[X, np.zeros((3, 20))]).topic_word_, plain, rtol=1e-8)
    weights = np.r_[np.ones(40), np.zeros(40)]
    assert_allclose(quick(method).fit(np.r_[X, X[::-1]], sample_weight=weights).topic_word_, plain, rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_topics_of_a_document_do_not_depend_on_its_neighbors(method):
    X = some_stories()
    model = quick(method).fit(X)
    alone = np.vstack([model.transform(X[i : i + 1]) for i in range(5)])
    assert_allclose(model.transform(X)[:5], alone, rtol=1e-10)


def test_empty_document_has_the_mean_of_its_prior():
    prior = np.array([5.0, 1.0, 0.1])
    model = LatentDirichletAllocation(3, doc_topic_prior=prior, random_state=0).fit(some_stories())
    assert_allclose(model.transform(np.zeros((1, 20)))[0], prior / 6.1, rtol=1e-8)


def test_draws_leave_a_given_prior_alone():
    priors = dict(doc_topic_prior=0.2, topic_word_prior=0.1)
    model = LatentDirichletAllocation(
        3, learning_method="gibbs", n_burn=10, n_samples=1, random_state=0, **priors
    ).fit(some_stories())
    assert_allclose(model.doc_topic_prior_, 0.2)
    assert_allclose(model.topic_word_prior_, 0.1)


@pytest.mark.parametrize("method", METHODS)
def test_a_word_belongs_to_topics_by_share_and_probability(method):
    X = some_stories()[:6]
    model = quick(method).fit(X)
    documents, words, shares = model.assign(X)
    if method in ("batch", "online"):
        gamma, lam = model.posterior(X), model.components_
        theta = np.exp(digamma(gamma) - digamma(gamma.sum(axis=1))[:, None])
        beta = np.exp(digamma(lam) - digamma(lam.sum(axis=1))[:, None])
    else:
        theta, beta = model.transform(X), model.topic_word_
    joint = theta[documents] * beta[:, words].T
    assert_allclose(shares, joint / joint.sum(axis=1, keepdims=True), rtol=1e-6)


def test_one_token_may_have_any_word():
    p, rng = np.full((1, 4), 0.25), np.random.default_rng(0)
    assert {int(_categories(p, rng)[0]) for _ in range(100)} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: sample_corpus(2, 5, [[1.5, -0.5], [0.5, 0.5]]), "probabilities"),
        (lambda: sample_corpus(2, 5, [[0.5, 0.4]]), "probabilities"),
        (lambda: sample_corpus(2, 5, [0.5, 0.5]), "probabilities"),
        (lambda: sample_corpus(2, [5, -1], [[0.5, 0.5]]), "lengths"),
        (lambda: sample_corpus(2, 5, [[0.5, 0.5]], doc_topic_prior=0.0), "doc_topic_prior"),
        (lambda: sample_corpus(2, 5, mode="words"), "mode"),
        (lambda: sample_topics(2, 2, [1.0, 0.0]), "prior"),
        (lambda: codeword_counts([[0, 1]], [[0, 1]]), "vector of integers"),
        (
            lambda: LatentDirichletAllocation(2, learning_method="em", doc_topic_prior=[2.0, 0.5]).fit(C3),
            "at least 1",
        ),
        (lambda: LatentDirichletAllocation(2, doc_topic_prior=[2.0, 0.0]).fit(C3), "must be positive"),
        (lambda: LatentDirichletAllocation(2, doc_topic_prior=[np.inf, 1.0]).fit(C3), "must be positive"),
        (lambda: LatentDirichletAllocation(2, doc_topic_prior=[[1.0, 1.0]]).fit(C3), "its shape is"),
    ],
)
def test_what_is_no_corpus_and_no_prior_is_refused(call, told):
    with pytest.raises(DataError, match=told):
        call()


def test_tokens_are_spread_evenly_before_anything_is_known():
    X = sp.csr_array(np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 5.0], [0.0, 0.0]]))
    found = inference.fresh_gamma(inference.corpus_of(X), np.array([0.5, 1.5]))
    assert_allclose(found, [[2.5, 3.5], [0.5, 1.5], [3.0, 4.0], [0.5, 1.5]])


def test_starts_are_drawn_by_their_squared_hellinger_distance():
    from gnomon.topics._starts import spread_out

    company, rng = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), np.random.default_rng(0)
    drawn = np.array([spread_out(company, 2, rng) for _ in range(4000)])
    assert (drawn[:, 0] == 0).all()
    gaps = np.array([0.0, 2.0, 2.0 - np.sqrt(2.0)])  # 2 − 2 Σ √(pq)
    assert_allclose(np.bincount(drawn[:, 1], minlength=3) / 4000, gaps / gaps.sum(), atol=0.03)
    assert sorted(spread_out(company, 3, rng)) == [0, 1, 2]


def test_draws_are_kept_every_so_many_sweeps_after_the_first_ones(bars):
    options = dict(learning_method="gibbs", random_state=3, n_samples=1)
    sparse_draw = LatentDirichletAllocation(3, n_burn=1, thin=3, **options).fit(bars.counts)
    last_draw = LatentDirichletAllocation(3, n_burn=3, thin=1, **options).fit(bars.counts)
    assert sparse_draw.n_iter_ == last_draw.n_iter_ == 4
    assert_array_equal(sparse_draw.topic_word_, last_draw.topic_word_)


def test_one_step_on_one_batch_by_the_article():
    options = dict(learning_method="online", batch_size=10, max_iter=1, random_state=0, learning_offset=4.0)
    model = LatentDirichletAllocation(2, learning_decay=0.6, **options)
    start = next(iter(model.iterate(C3)))
    words = inference.topic_weights(start.components_)
    limit, tol = int(model.max_doc_update_iter), float(model.mean_change_tol)
    _, found = inference.variational_pass(inference.corpus_of(C3), words, start.doc_topic_prior_, limit, tol)
    rho = (4.0 + 1) ** -0.6
    expected = (1 - rho) * start.components_ + rho * (start.topic_word_prior_ + found.counts.T)
    model.fit(C3)
    assert_allclose(model.components_, expected, rtol=1e-9)
    value = float(found.value) + inference.topics_bound(expected, start.topic_word_prior_)
    assert_allclose(model.trace_.objective, [value], rtol=1e-9)
