"""Projections and factorizations against scikit-learn: the same work, the same quality."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case


def rows(n, d, rank=20, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.5 * rng.normal(size=(n, d))


def kernel_rows():
    return np.random.default_rng(0).normal(size=(4000, 10))


def blocks():
    X = rows(5000, 100, 30)
    return X, X[:, :50] @ np.random.default_rng(1).normal(size=(50, 50)) + rows(5000, 50, 10, 2)


def parts():
    rng = np.random.default_rng(0)
    return rng.gamma(1.0, size=(5000, 20)) @ rng.gamma(0.5, size=(20, 1000)) + 0.1 * rng.random((5000, 1000))


def words(n, p, K=20, length=60):
    """Counts of documents with about two topics each."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(p, 0.05), size=K)
    shares = rng.dirichlet(np.full(K, 0.1), size=n)
    found = np.empty((n, length), dtype=np.int64)
    topic = (shares.cumsum(axis=1)[:, None, :] < rng.random((n, length, 1))).sum(axis=2)
    for k in range(K):
        found[topic == k] = rng.choice(p, size=int((topic == k).sum()), p=topics[k])
    pairs = np.repeat(np.arange(n), length), found.ravel()
    return sp.csr_array((np.ones(n * length), pairs), shape=(n, p))


def ours(name, *arguments, **options):
    def run(data):
        from gnomon import decomposition

        model = getattr(decomposition, name)(*arguments, **options)
        return model.fit(*data) if isinstance(data, tuple) else model.fit(data)

    return run


def theirs(name, *arguments, module="decomposition", **options):
    def run(data):
        import importlib

        model = getattr(importlib.import_module(f"sklearn.{module}"), name)(*arguments, **options)
        return model.fit(*data) if isinstance(data, tuple) else model.fit(data)

    return run


def variance(model, data):
    return float(np.sum(model.explained_variance_))


def eigen_sum(model, data):
    return float(np.sum(model.eigenvalues_))


def correlation(model, data):
    s, t = model.transform(*data)
    return float(sum(np.corrcoef(s[:, k], t[:, k])[0, 1] for k in range(s.shape[1])))


def likelihood(model, data):
    return float(model.score(data))


def loss(model, data):
    return float(model.reconstruction_err_)


GAUSSIAN = dict(kernel="rbf", random_state=0)
SQUARED = dict(max_iter=100, tol=0, init="nndsvda", random_state=0)
FEWER = {**SQUARED, "max_iter": 40}  # a step of ours goes farther: it takes several sweeps a product with X
SAME_LOSS = "40 of our steps against 100 of theirs; the loss says who got farther"
KL = dict(solver="mu", beta_loss="kullback-leibler", max_iter=50, tol=0, init="nndsvda", random_state=0)

CASES = [
    Case(
        "PCA n=200k d=100",
        data=partial(rows, 200_000, 100),
        ours=ours("PCA"),
        peers={
            "scikit-learn": theirs("PCA"),
            "scikit-learn (covariance)": theirs("PCA", svd_solver="covariance_eigh"),
        },
        quality=variance,
        better="higher",
        goal=3.0,
    ),
    Case(
        "PCA n=5k d=5k k=100",
        data=partial(rows, 5000, 5000),
        ours=ours("PCA", 100, random_state=0),
        peers={
            "scikit-learn": theirs("PCA", 100, random_state=0),
            "scikit-learn (arpack)": theirs("PCA", 100, svd_solver="arpack", random_state=0),
        },
        quality=variance,
        better="higher",
        tolerance=1e-4,
        goal=3.0,
    ),
    Case(
        "PCA randomized n=5k d=5k k=20",
        data=partial(rows, 5000, 5000),
        ours=ours("PCA", 20, svd_solver="randomized", random_state=0),
        peers={"scikit-learn": theirs("PCA", 20, svd_solver="randomized", random_state=0)},
        quality=variance,
        better="higher",
        tolerance=1e-4,
        goal=3.0,
    ),
    Case(
        "IncrementalPCA n=50k d=500 k=20",
        data=partial(rows, 50_000, 500),
        ours=ours("IncrementalPCA", 20),
        peers={"scikit-learn": theirs("IncrementalPCA", 20)},
        quality=variance,
        better="higher",
        goal=3.0,
    ),
    Case(
        "KernelPCA rbf n=4000 k=10",
        data=kernel_rows,
        ours=ours("KernelPCA", 10, **GAUSSIAN),
        peers={
            "scikit-learn": theirs("KernelPCA", 10, **GAUSSIAN),
            "scikit-learn (arpack)": theirs("KernelPCA", 10, eigen_solver="arpack", **GAUSSIAN),
            "scikit-learn (randomized)": theirs("KernelPCA", 10, eigen_solver="randomized", **GAUSSIAN),
        },
        quality=eigen_sum,
        better="higher",
        goal=5.0,
    ),
    Case(
        "FactorAnalysis n=20k d=100 k=10",
        data=partial(rows, 20_000, 100, 10),
        ours=ours("FactorAnalysis", 10, tol=1e-2),
        peers={"scikit-learn": theirs("FactorAnalysis", 10, tol=1e-2)},
        quality=likelihood,
        better="higher",
        goal=50.0,
    ),
    Case(
        "CCA n=5000 100+50 k=10",
        data=blocks,
        ours=ours("CCA", 10),
        peers={"scikit-learn": theirs("CCA", 10, module="cross_decomposition")},
        quality=correlation,
        better="higher",
        tolerance=1e-4,
        goal=100.0,
    ),
    Case(
        "NMF squared n=5000 d=1000 k=20",
        data=parts,
        ours=ours("NMF", 20, **FEWER),
        peers={"scikit-learn": theirs("NMF", 20, **SQUARED)},
        quality=loss,
        tolerance=1e-3,
        goal=4.0,
        note=SAME_LOSS,
    ),
    Case(
        "NMF squared sparse n=20k d=10k k=20",
        data=partial(words, 20_000, 10_000),
        ours=ours("NMF", 20, **FEWER),
        peers={"scikit-learn": theirs("NMF", 20, **SQUARED)},
        quality=loss,
        tolerance=1e-3,
        goal=4.0,
        note=SAME_LOSS,
    ),
    Case(
        "NMF KL n=5000 d=1000 k=20",
        data=parts,
        ours=ours("NMF", 20, **{**KL, "max_iter": 30}),
        peers={"scikit-learn": theirs("NMF", 20, **KL)},
        quality=loss,
        tolerance=1e-2,
        goal=4.0,
        note="30 of our steps against 50 of theirs; the loss says who got farther",
    ),
    Case(
        "NMF KL sparse n=20k d=10k k=20",
        data=partial(words, 20_000, 10_000),
        ours=ours("NMF", 20, **KL),
        peers={"scikit-learn": theirs("NMF", 20, **KL)},
        quality=loss,
        tolerance=1e-2,
        goal=4.0,
    ),
]
