"""Neighbors and Gaussian processes against scikit-learn and SciPy: the same answers, or an evidence as high."""

from __future__ import annotations

import numpy as np

from case import Case


def points(n, q, d, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(q, d)).astype(dtype)


def our_search(data, **options):
    from gnomon.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=10, **options).fit(data[0]).kneighbors(data[1])


def their_search(data, **options):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=10, n_jobs=-1, **options).fit(data[0]).kneighbors(data[1])


def scipy_search(data):
    from scipy.spatial import cKDTree

    return cKDTree(data[0]).query(data[1], 10, workers=-1)


def total_distance(found, data):
    return float(np.sum(found[0]))


def words(n=20_000, q=500, seed=0):
    rng = np.random.default_rng(seed)
    make = lambda m: ["".join(rng.choice(list("etaoinshrdlu"), size=rng.integers(4, 11))) for _ in range(m)]  # noqa: E731
    return make(n), make(q)


# Gaussian processes


def surface(n, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def our_process(data, **options):
    from gnomon.gp import GaussianProcessRegressor
    from gnomon.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.ones(data[0].shape[1])) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, **options).fit(*data)


def their_process(data, **options):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.ones(data[0].shape[1])) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, **options).fit(*data)


def evidence(model, data):
    return float(model.log_marginal_likelihood_value_)


def fixed(run):
    return lambda data: run(data, optimizer=None)


def classes(n=300, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)


def our_classes(data):
    from gnomon.gp import GaussianProcessClassifier
    from gnomon.kernels import RBF, ConstantKernel

    return GaussianProcessClassifier(ConstantKernel(1.0) * RBF(np.ones(5))).fit(*data)


def their_classes(data):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    return GaussianProcessClassifier(ConstantKernel(1.0) * RBF(np.ones(5))).fit(*data)


def accuracy(model, data):
    return float(model.score(*data))


SEARCH = {"quality": total_distance, "better": "lower", "tolerance": 1e-5, "goal": 2.0}

CASES = [
    Case(
        "k-NN n=100k q=2k d=64",
        data=lambda: points(100_000, 2_000, 64),
        ours=our_search,
        peers={"scikit-learn": their_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=100k q=2k d=64 float32",
        data=lambda: points(100_000, 2_000, 64, np.float32),
        ours=our_search,
        peers={"scikit-learn": their_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=100k q=5k d=8",
        data=lambda: points(100_000, 5_000, 8),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=300k q=100k d=3",
        data=lambda: points(300_000, 100_000, 3),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search},
        **SEARCH,
    ),
    Case(
        "cosine k-NN n=45k q=3k d=64",
        data=lambda: points(45_000, 3_000, 64),
        ours=lambda data: our_search(data, metric="cosine"),
        peers={"scikit-learn": lambda data: their_search(data, metric="cosine")},
        **SEARCH,
    ),
    Case("edit-distance k-NN, 20k words", data=words, ours=lambda data: our_search(data, metric="edit")),
    Case(
        "Gaussian process n=1000 d=5, scales learned",
        data=lambda: surface(1000),
        ours=our_process,
        peers={"scikit-learn": their_process},
        quality=evidence,
        better="higher",
        tolerance=1e-4,
        goal=5.0,
    ),
    Case(
        "Gaussian process n=3000 d=5, given kernel",
        data=lambda: surface(3000),
        ours=fixed(our_process),
        peers={"scikit-learn": fixed(their_process)},
        quality=evidence,
        better="higher",
    ),
    Case(
        "sparse Gaussian process n=100k m=100",
        data=lambda: surface(100_000, 3),
        ours=lambda data: our_process(data, inducing=100, max_iter=20),
    ),
    Case(
        "Gaussian process classifier n=300 d=5",
        data=classes,
        ours=our_classes,
        peers={"scikit-learn": their_classes},
        quality=accuracy,
        better="higher",
        tolerance=0.02,
        goal=3.0,
    ),
]
