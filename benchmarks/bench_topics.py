"""Topic models against scikit-learn, gensim, lda and tomotopy: one corpus, one held-out perplexity."""

from __future__ import annotations

import numpy as np

from case import Case

K = 20


def corpus():
    """4000 documents of about 100 words to learn from, 500 to be judged by."""
    from gnomon.topics import sample_corpus

    rng = np.random.default_rng(0)
    drawn = sample_corpus(
        4500,
        rng.poisson(100, size=4500),
        n_topics=K,
        n_words=5000,
        topic_word_prior=0.05,
        doc_topic_prior=0.1,
        random_state=0,
    )
    return drawn.counts[:4000].tocsr(), drawn.counts[4000:].tocsr()


def stories():
    """Stories of Reuters, as the package lda brings them: 300 to learn from, 95 to be judged by."""
    import lda.datasets
    import scipy.sparse as sp

    X = sp.csr_array(lda.datasets.load_reuters().astype(float))
    X = X[np.random.default_rng(0).permutation(X.shape[0])]
    return X[:300], X[300:]


class Found:
    """Topics of a peer, asked by the same folding-in as ours."""

    def __init__(self, topics):
        from gnomon.topics import LatentDirichletAllocation

        self.model = LatentDirichletAllocation(K, doc_topic_prior=0.1, mean_change_tol=1e-6)
        self.model._adopt(
            {
                "components_": topics * 1e6 + 1e-3,
                "topic_word_": topics / topics.sum(axis=1, keepdims=True),
                "doc_topic_prior_": np.full(K, 0.1),
                "topic_word_prior_": np.full(topics.shape[1], 0.05),
                "seed_": 0,
                "n_features_in_": topics.shape[1],
            }
        )


def ours(method, seed=0, **options):
    def run(data):
        from gnomon.topics import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            K,
            learning_method=method,
            doc_topic_prior=0.1,
            topic_word_prior=0.05,
            random_state=seed,
            **options,
        ).fit(data[0])
        return Found(model.topic_word_)

    return run


def scikit_learn(method, seed=0, **options):
    def run(data):
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            K,
            learning_method=method,
            doc_topic_prior=0.1,
            topic_word_prior=0.05,
            random_state=seed,
            **options,
        ).fit(data[0])
        return Found(model.components_)

    return run


def gensim(seed=0):
    def run(data):
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel

        documents = Sparse2Corpus(data[0], documents_columns=False)
        words = {j: str(j) for j in range(data[0].shape[1])}
        model = LdaModel(documents, K, id2word=words, alpha=0.1, eta=0.05, passes=10, random_state=seed)
        return Found(model.get_topics())

    return run


def tomotopy(workers):
    def run(data):
        import tomotopy

        model = tomotopy.LDAModel(k=K, alpha=0.1, eta=0.05, seed=0)
        X = data[0]
        for d in range(X.shape[0]):
            part = slice(X.indptr[d], X.indptr[d + 1])
            model.add_doc([str(w) for w in np.repeat(X.indices[part], X.data[part])])
        model.optim_interval = 0  # the prior is given
        model.train(200, workers=workers)
        topics = np.full((K, X.shape[1]), 1e-9)
        for k in range(K):
            topics[k, [int(w) for w in model.used_vocabs]] = model.get_topic_word_dist(k)
        return Found(topics)

    return run


def lda(data):
    import lda as package

    model = package.LDA(K, n_iter=200, alpha=0.1, eta=0.05, random_state=0)
    model.fit(data[0].toarray().astype(np.int64))
    return Found(model.topic_word_)


def four_times(fit, *arguments, **options):
    """Fits from four seeds: on few documents one seed differs from another by more than a library from another."""

    def run(data):
        return [fit(*arguments, seed=seed, **options)(data) for seed in range(4)]

    return run


def held_out(found, data):
    models = found if isinstance(found, list) else [found]
    return float(np.mean([one.model.perplexity(data[1]) for one in models]))


CASES = [
    Case(
        "LDA variational 4000 documents K=20, 20 passes",
        data=corpus,
        ours=ours("batch", max_iter=20),
        peers={"scikit-learn": scikit_learn("batch", max_iter=20), "gensim": gensim()},
        quality=held_out,
        tolerance=0.02,
        goal=8.0,
    ),
    Case(
        "LDA online 4000 documents K=20, 10 passes",
        data=corpus,
        ours=ours("online", max_iter=10),
        peers={"scikit-learn": scikit_learn("online", max_iter=10)},
        quality=held_out,
        tolerance=0.02,
        goal=8.0,
    ),
    Case(
        "LDA variational 300 stories K=20, 20 passes, four seeds",
        data=stories,
        ours=four_times(ours, "batch", max_iter=20),
        peers={"scikit-learn": four_times(scikit_learn, "batch", max_iter=20), "gensim": four_times(gensim)},
        quality=held_out,
        tolerance=0.02,
        goal=8.0,
    ),
    Case(
        "LDA online 300 stories K=20, 10 passes, four seeds",
        data=stories,
        ours=four_times(ours, "online", max_iter=10),
        peers={"scikit-learn": four_times(scikit_learn, "online", max_iter=10)},
        quality=held_out,
        tolerance=0.02,
        goal=8.0,
    ),
    Case(
        "LDA collapsed Gibbs 4000 documents K=20, 200 sweeps",
        data=corpus,
        ours=ours("gibbs", n_burn=180, n_samples=4, thin=5, n_chunks=1),
        peers={"tomotopy": tomotopy(1), "lda": lda},
        quality=held_out,
        tolerance=0.02,
        goal=1.5,
        note="one chain each; tomotopy with one worker, ours with n_chunks=1",
    ),
    Case(
        "LDA collapsed Gibbs 4000 documents K=20, 200 sweeps, both cores",
        data=corpus,
        ours=ours("gibbs", n_burn=180, n_samples=4, thin=5),
        peers={"tomotopy (2 workers)": tomotopy(2)},
        quality=held_out,
        tolerance=0.02,
        goal=1.5,
        note="blocks of documents side by side, counts merged after every sweep",
    ),
]
