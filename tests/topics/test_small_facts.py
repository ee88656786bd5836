"""Small facts of topic models: measures by counting, blocks and batches, averages of draws, learned priors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import digamma

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.decomposition import NMF
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
from gnomon.topics.tables import halves

X = sample_corpus(
    30, np.arange(30) % 17, n_topics=3, n_words=12, doc_topic_prior=0.3, topic_word_prior=0.2, random_state=5
).counts.toarray()  # fmt: skip
METHODS = ("batch", "online", "gibbs", "em")


def quick(method, **options):
    draws = {"n_burn": 5, "n_samples": 2, "thin": 1} if method == "gibbs" else {}
    defaults = {"random_state": 0, "max_iter": 3, **draws}
    return LatentDirichletAllocation(3, learning_method=method, **{**defaults, **options})


# measures


@pytest.mark.parametrize("measure", ["umass", "npmi"])
@pytest.mark.parametrize("n_words", [1, 2, 5, 12, 99])
def test_coherence_counts_documents(measure, n_words):
    table = np.random.default_rng(1).random((4, 12))
    held, wanted = X > 0, []
    held[:, 3] = False  # a word that no document has
    for row in table:
        words, values = sorted(range(12), key=lambda j: -row[j])[:n_words], []
        for later in range(len(words)):
            for i, j in ((words[later], words[before]) for before in range(later)):
                both, one, other = ((held[:, i] & held[:, j]).sum(), held[:, i].sum(), held[:, j].sum())
                if measure == "umass":
                    values.append(np.log((both + 1) / other) if other else 0.0)
                elif both in (0, 30):
                    values.append(-1.0 if both == 0 else 1.0)
                else:
                    values.append(np.log(30 * both / (one * other)) / np.log(30 / both))
        wanted.append(np.mean(values) if values else 0.0)
    for form in (held * X, sp.csr_matrix(held * X)):
        assert_allclose(coherence(table, form, measure, n_words), wanted, atol=1e-12)


@pytest.mark.parametrize("method", [*METHODS, "nmf"])
def test_perplexity_predicts_the_second_half_of_every_document(method):
    model = NMF(3, random_state=0, tol=0.1, max_iter=500) if method == "nmf" else quick(method)
    model.fit(X.astype(float))
    one, other = (part.toarray() for part in halves(X, 7))
    beta = model.components_ if method == "nmf" else model.topic_word_
    theta, beta = document_mixture(model.transform(one)), beta / beta.sum(axis=1, keepdims=True)
    logs = [n * np.log(theta[d] @ beta[:, v]) for (d, v), n in np.ndenumerate(other) if n]
    assert perplexity(model, X, random_state=7) == pytest.approx(np.exp(-sum(logs) / other.sum()), rel=1e-9)


def test_halves_are_tokens_drawn_by_a_coin():
    counts = np.tile([[6.0, 1.0, 0.0, 2.5]], (4000, 1))
    one, other = halves(counts, 0)
    assert_allclose(one.toarray() + other.toarray(), counts)
    first = one.toarray()
    assert set(first[:, 0]) == set(range(7)) and set(first[:, 1]) == {0.0, 1.0}
    assert set(first[:, 3]) == {0.25, 1.25, 2.25}  # what is left of a whole number is divided
    assert_allclose(first.mean(axis=0), [3.0, 0.5, 0.0, 1.25], atol=0.1)
    assert_allclose(first.var(axis=0), [1.5, 0.25, 0.0, 0.5], atol=0.1)
    with pytest.raises(DataError, match="few tokens"):
        perplexity(quick("em").fit(X), np.zeros((2, 12)))


@pytest.mark.parametrize("method", ["em", "gibbs"])
def test_score_of_points_is_their_log_likelihood(method):
    model = quick(method).fit(X)
    chance = model.transform(X) @ model.topic_word_
    logs = sum(n * np.log(chance[at]) for at, n in np.ndenumerate(X) if n)
    assert model.score(X) == pytest.approx(logs, rel=1e-9)
    shares, table = model.as_matrix_factorization(X)
    assert_allclose(shares @ table, chance, rtol=1e-12)


@pytest.mark.parametrize("method", ["batch", "online"])
def test_shares_are_the_mean_of_their_posterior(method):
    model = quick(method).fit(X)
    gamma = model.posterior(X)
    assert_allclose(model.transform(X), gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_allclose(model.transform(X, normalize=False), gamma)
    assert_allclose(gamma.sum(axis=1), model.doc_topic_prior_.sum() + X.sum(axis=1))
    assert_allclose(model.topic_word_, model.components_ / model.components_.sum(axis=1, keepdims=True))
    logs = digamma(model.components_) - digamma(model.components_.sum(axis=1, keepdims=True))
    assert_allclose(model.exp_dirichlet_component_, np.exp(logs))


def test_priors_are_shared_among_the_topics():
    for method, prior in (("batch", 1 / 3), ("online", 1 / 3), ("gibbs", 1 / 3), ("em", 1.0)):
        model = quick(method).fit(X)
        assert_allclose(model.doc_topic_prior_, np.full(3, prior))
        assert_allclose(model.topic_word_prior_, np.full(12, prior))
    given = quick("batch", doc_topic_prior=[0.1, 0.2, 0.3], topic_word_prior=np.arange(1.0, 13.0)).fit(X)
    assert given.doc_topic_prior_.tolist() == [0.1, 0.2, 0.3]
    assert given.topic_word_prior_.tolist() == list(range(1, 13))


# parts


@pytest.mark.parametrize("size", [1, 7, 40, 10**6])
def test_blocks_hold_all_documents_once_and_change_nothing(size, monkeypatch):
    monkeypatch.setattr(inference, "BLOCKS", 10**6)
    words = inference.topic_weights(np.random.default_rng(0).random((3, 12)) + 0.1)
    alpha, corpus = np.array([0.5, 0.2, 0.1]), inference.corpus_of(X)
    weighted = corpus._replace(weight=np.arange(30.0))
    monkeypatch.setattr(inference, "BLOCK_COUNTS", 10**6)
    whole = [
        inference.variational_pass(weighted, words, alpha, 50, 1e-9),
        inference.em_pass(weighted, np.full((30, 3), 1 / 3), words, alpha),
        (inference.em_shares(corpus, words, alpha), None),
        (inference.folded_in(corpus, words, alpha, 3, 5, 5), None),
    ]
    monkeypatch.setattr(inference, "BLOCK_COUNTS", size)
    blocks = corpus.blocks()
    assert [row for one in blocks for row in range(30)[one]] == list(range(30))
    assert (len(blocks) == 1) == (size == 10**6)
    for one in blocks[:-1]:  # a block ends with the document that fills it
        counts = (X[one] > 0).sum(axis=1)
        assert counts[:-1].sum() < max(size, 1) + 12
    for one in blocks:
        part = corpus.part(one)
        table = sp.csr_array((part.data, part.indices, part.indptr), shape=part.shape)
        assert (table.toarray() == X[one]).all() and len(part.weight) == len(X[one])
    again = [
        inference.variational_pass(weighted, words, alpha, 50, 1e-9),
        inference.em_pass(weighted, np.full((30, 3), 1 / 3), words, alpha),
        (inference.em_shares(corpus, words, alpha), None),
        (inference.folded_in(corpus, words, alpha, 3, 5, 5), None),
    ]
    for (table, sums), (other, more) in zip(whole, again, strict=True):
        assert_allclose(other, table, rtol=1e-12)
        for a, b in zip(sums or (), more or (), strict=True):
            assert_allclose(b, a, rtol=1e-10, atol=1e-12)


def test_corpora_leave_out_zeros_and_spell_out_tokens():
    table = sp.csr_array((np.array([2.0, 0.0, 1.0, 3.0]), ([0, 0, 2, 2], [1, 2, 0, 2])), shape=(4, 3))
    corpus = inference.corpus_of(table)
    assert corpus.data.tolist() == [2, 1, 3] and corpus.indptr.tolist() == [0, 1, 1, 3, 3]
    assert corpus.weight.tolist() == [1.0] * 4 and table.nnz == 4
    tokens = inference.tokens_of(corpus, 1)
    assert tokens.words.tolist() == [1, 1, 0, 2, 2, 2] and tokens.offsets.tolist() == [0, 2, 2, 6, 6]
    assert tokens.cuts.tolist() == [0, 4] == inference.tokens_of(corpus, "auto").cuts.tolist()
    long = inference.corpus_of(np.full((60, 1), 10_000))
    assert inference.tokens_of(long, "auto").cuts.tolist() == [0, 15, 30, 45, 60]
    assert inference.tokens_of(long, 3).cuts.tolist() == [0, 20, 40, 60]
    assert len(inference.tokens_of(inference.corpus_of(np.full((60, 1), 5000)), "auto").cuts) == 4


def test_topics_of_tokens_are_counted():
    tokens = inference.tokens_of(inference.corpus_of(X), 4)
    for chain in (
        inference.first_chain(tokens, 12, 3, 9),
        inference.sweep(
            tokens, inference.first_chain(tokens, 12, 3, 9), np.full(3, 0.4), np.full(12, 0.1), 9, 1
        ),
    ):
        counts = np.zeros((12, 3), int)
        np.add.at(counts, (tokens.words, chain.z), 1)
        assert (chain.by_word == counts).all() and (chain.totals == counts.sum(axis=0)).all()
        by_document = inference.document_counts(tokens, chain.z, 3)
        assert (by_document.sum(axis=1) == X.sum(axis=1)).all()
        for d in range(30):
            mine = chain.z[tokens.offsets[d] : tokens.offsets[d + 1]]
            assert by_document[d].tolist() == [int((mine == k).sum()) for k in range(3)]


def test_batches_one_after_the_other():
    """λ ← (1 − ρ)λ + ρ(η + (D/|batch|) Σ counts), ρ = (τ + t)^(−κ), the batches weighed by their documents."""
    weight = np.arange(30) % 4 + 0.5
    options = {"batch_size": 8, "learning_decay": 0.6, "learning_offset": 3.0, "max_iter": 2}
    model = quick("online", **options)
    start = next(iter(model.iterate(X, sample_weight=weight)))
    topics, eta, alpha, count = start.components_, start.topic_word_prior_, start.doc_topic_prior_, 0
    values = []
    for _ in range(2):
        value = 0.0
        for begin in range(0, 30, 8):
            part = inference.corpus_of(X[begin : begin + 8], weight[begin : begin + 8])
            words = inference.topic_weights(topics)
            _, sums = inference.variational_pass(
                part, words, alpha, model.max_doc_update_iter, model.mean_change_tol
            )
            count += 1
            rho = (3.0 + count) ** -0.6
            share = weight.sum() / weight[begin : begin + 8].sum()
            topics = (1 - rho) * topics + rho * (eta + share * sums.counts.T)
            value += sums.value
        values.append(value + inference.topics_bound(topics, eta))
    model.fit(X, sample_weight=weight)
    assert_allclose(model.components_, topics, rtol=1e-9)
    assert_allclose(model.trace_.objective, values, rtol=1e-9)
    assert (model.n_iter_, model.n_batch_iter_) == (2, 8)


def test_learning_on_counts_its_batches():
    model = quick("online", total_samples=300, batch_size=20, learning_offset=2.0, learning_decay=0.8)
    model.partial_fit(X[:15])
    assert (model.n_iter_, model.n_batch_iter_, model.converged_) == (1, 1, False)
    before = model.components_
    words = inference.topic_weights(before)
    _, sums = inference.variational_pass(
        inference.corpus_of(X[15:]),
        words,
        model.doc_topic_prior_,
        model.max_doc_update_iter,
        model.mean_change_tol,
    )
    rho = (2.0 + 2) ** -0.8
    wanted = (1 - rho) * before + rho * (model.topic_word_prior_ + 300 / 15 * sums.counts.T)
    model.partial_fit(X[15:])
    assert_allclose(model.components_, wanted, rtol=1e-9)
    assert (model.n_iter_, model.n_batch_iter_) == (2, 2)
    bound = sums.value + inference.topics_bound(wanted, model.topic_word_prior_)
    assert model.bound_ == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize(
    ("n_burn", "thin", "kept"), [(5, 1, [6, 7, 8]), (4, 2, [6, 8, 10]), (0, 3, [3, 6, 9])]
)
def test_draws_are_averaged(n_burn, thin, kept):
    """Each of the states kept is what a run gives that ends there."""
    model = quick("gibbs", n_burn=n_burn, thin=thin, n_samples=3).fit(X)
    alone = [quick("gibbs", n_burn=last - 1, n_samples=1).fit(X) for last in kept]
    assert_allclose(model.components_, np.mean([one.components_ for one in alone], axis=0), rtol=1e-12)
    assert_allclose(model.topic_word_, np.mean([one.topic_word_ for one in alone], axis=0), rtol=1e-12)
    assert model.n_iter_ == kept[-1] == model.n_batch_iter_
    for one in alone:
        pseudo = one.components_ - one.topic_word_prior_
        assert_allclose(pseudo, np.rint(pseudo), atol=1e-9)
        assert_allclose(pseudo.sum(axis=0), X.sum(axis=0))


def test_the_joint_of_draws_is_told_in_every_tenth_sweep_and_the_last():
    model = quick("gibbs", n_burn=20, n_samples=3).fit(X)
    assert np.flatnonzero(np.isfinite(model.trace_.objective)).tolist() == [9, 19, 22]


def test_a_symmetric_topic_prior_has_the_largest_bound():
    lam = np.random.default_rng(0).gamma(0.4, size=(3, 12)) + 0.05
    found = inference.learned_eta(lam, np.full(12, 9.0))
    assert np.ptp(found) == 0
    best = minimize_scalar(
        lambda log: -inference.topics_bound(lam, np.full(12, np.exp(log))), bounds=(-8, 5), method="bounded"
    )
    assert found[0] == pytest.approx(np.exp(best.x), rel=1e-4)
    same = inference.learned_eta(
        np.full((2, 12), 1e9), np.full(12, 7.0)
    )  # the larger the better: none is best
    assert same.tolist() == [7.0] * 12
    even = inference.learned_alpha(np.log([0.5, 0.5]), np.array([3.0, 4.0]))
    assert even.tolist() == [3.0, 4.0]


# tables


def test_words_are_named_by_the_columns_or_by_number():
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(12)])
    model = quick("batch").fit(frame)
    order = np.argsort(-model.topic_word_, axis=1, kind="stable")
    table = model.top_words(n=4)
    assert list(table.columns) == ["topic 0", "topic 1", "topic 2"] and len(table) == 4
    assert table["topic 1"].tolist() == [f"w{j}" for j in order[1, :4]]
    assert model.top_words(list("abcdefghijkl"), 2)["topic 2"].tolist() == [
        "abcdefghijkl"[j] for j in order[2, :2]
    ]
    assert quick("batch").fit(X).top_words(n=3)["topic 0"].tolist() == [f"x{j}" for j in order[0, :3]]
    assert len(model.top_words()) == 10 and len(model.top_words(n=99)) == 12
    assert top_words([[1, 1, 1]], n=2)["topic 0"].tolist() == ["x0", "x1"]


def test_mixtures_and_codewords():
    assert_allclose(document_mixture([[2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]), [[0.5, 0.5, 0.0], [1 / 3] * 3])
    with pytest.raises(DataError, match="smallest entry is -0.5"):
        document_mixture([[1.0, -0.5]])
    assert codeword_counts([2, 2, 0], [7, 3, 3]).tolist() == [[1, 0, 1], [0, 0, 1]]
    assert codeword_counts([0, 1], [0, 0], 2).tolist() == [[1, 1]]
    assert codeword_counts(np.zeros(0, int), []).shape == (0, 0)
    with pytest.raises(DataError, match="codes go up to 2, and n_codes is 2"):
        codeword_counts([2], [0], 2)


@pytest.mark.parametrize("mode", ["counts", "tokens"])
def test_drawn_documents_have_their_lengths_and_their_topics(mode):
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]])
    lengths = [0, 3, 500]
    drawn = sample_corpus(3, lengths, topics, doc_topic_prior=[50.0, 1e-3], mode=mode, random_state=0)
    counts = drawn.counts.toarray()
    assert counts.sum(axis=1).tolist() == lengths and drawn.topics.tolist() == topics.tolist()
    assert_allclose(drawn.shares.sum(axis=1), 1.0)
    assert (drawn.shares[:, 0] > 0.99).all() and counts[:, 2:].sum() <= 5
    if mode == "tokens":
        owner = np.repeat([0, 1, 2], lengths)
        again = np.zeros((3, 4), int)
        np.add.at(again, (owner, drawn.words), 1)
        assert (counts == again).all() and set(drawn.assignments) <= {0, 1}
        assert (topics[drawn.assignments, drawn.words] > 0).all()
    else:
        assert len(drawn.words) == len(drawn.assignments) == 0
    many = sample_corpus(2, 5, random_state=1)
    assert many.topics.shape == (10, 100) and many.shares.shape == (2, 10)


@pytest.mark.parametrize(("method", "updates"), [("batch", 3), ("em", 3), ("online", 6), ("gibbs", 7)])
def test_updates_are_counted(method, updates):
    model = quick(method, batch_size=16).fit(X)
    assert model.n_batch_iter_ == updates
    steps = [one.n_batch_iter_ for one in model.iterate(X)]
    assert steps == list(range(0, updates + 1, 2 if method == "online" else 1))


def test_a_word_that_no_topic_has_is_shared_by_all():
    table = np.column_stack([X, np.zeros(30)])
    model = quick("em").fit(table)
    assert (model.topic_word_[:, 12] == 0).all()
    table[0, 12] = 2.0
    documents, words, shares = model.assign(table)
    strange = (documents == 0) & (words == 12)
    assert strange.sum() == 1
    assert_allclose(shares[strange], [[1 / 3] * 3])
    assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "prior", [[1.0, np.inf, 1.0], [1.0, 0.0, 1.0], [np.nan, 1.0, 1.0], [1, 1, 1], [-1.0, 2.0, 2.0]]
)
def test_priors_of_a_file_are_positive_and_finite(prior, tmp_path):
    model = quick("batch").fit(X)
    save(model, tmp_path / "sound")
    assert_allclose(load(tmp_path / "sound").transform(X), model.transform(X))
    model.doc_topic_prior_ = np.array(prior)
    save(model, tmp_path / "spoiled")
    with pytest.raises(ModelFileError, match="doc_topic_prior_ is not positive"):
        load(tmp_path / "spoiled")


@pytest.mark.parametrize("unit", [1.0, 0.1, 1e-6])
def test_topics_start_alike_in_any_unit_of_counts(unit, monkeypatch):
    monkeypatch.setattr(_starts, "NOISE_SHAPE", 1e30)
    table = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.125]])
    model = LatentDirichletAllocation(2)
    found = _starts.first_topics(model._read(unit * table), 2, np.random.default_rng(0))
    whole = 1.0 + 0.5 * 3 * np.array([[2 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
    assert sorted(found.round(9).tolist()) == sorted(whole.round(9).tolist())


def test_learning_on_tells_a_trace_of_one_step():
    model = quick("online").partial_fit(X)
    assert model.trace_.seconds.tolist() == [0.0] and model.trace_.objective.tolist() == [model.bound_]
