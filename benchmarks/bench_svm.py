"""Kernel machines against scikit-learn: same kernel, same tolerance, same or better dual value."""

from __future__ import annotations

import numpy as np

from case import Case


def cloud(n, d):
    def make():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X[:, 0] + X[:, 1] ** 2 - 0.7 + 0.5 * rng.normal(size=n) > 0).astype(int)
        return X, y

    return make


def digits():
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def text(n=4000, words=20_000, topics=4):
    """Return sparse rows of weighted words, each row about one topic, one label in twenty wrong."""
    from scipy import sparse
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(0)
    topic = rng.integers(0, topics, n)
    common = rng.zipf(1.3, size=(n, 120)) % words
    own = rng.zipf(1.5, size=(n, 30)) % 2000 + 2000 * topic[:, None] + 4000
    columns = np.concatenate([common, own], axis=1)
    counts = sparse.csr_matrix(
        (np.ones(columns.size), (np.repeat(np.arange(n), 150), columns.ravel())), (n, words)
    )
    counts.sum_duplicates()
    counts.data = np.log1p(counts.data)
    wrong = rng.random(n) < 0.05
    return normalize(counts).tocsr(), np.where(wrong, rng.integers(0, topics, n), topic)


def correct(model, data):
    return float(np.mean(model.predict(data[0]) == data[1]))


def fitted(library):
    def fit(data):
        if library == "gnomon":
            from gnomon.svm import SVC
        else:
            from sklearn.svm import SVC
        return SVC().fit(*data)

    return fit


def dual(model, data):
    """Return the dual value, to be minimized."""
    from gnomon.kernels import RBF

    X, _ = data
    coef = np.ravel(model.dual_coef_)
    K = RBF(np.sqrt(0.5 * X.shape[1] * X.var()))(X[model.support_])
    return float(0.5 * coef @ K @ coef - np.abs(coef).sum())


CASES = [
    Case(
        f"SVC rbf n={n} d={d}",
        data=cloud(n, d),
        ours=fitted("gnomon"),
        peers={"scikit-learn": fitted("scikit-learn")},
        quality=dual,
        tolerance=1e-5,
        goal=3.0,
    )
    for n, d in ((2000, 10), (10_000, 10), (20_000, 20), (5000, 500))
] + [
    Case(
        f"SVC rbf {name}",
        data=make,
        ours=fitted("gnomon"),
        peers={"scikit-learn": fitted("scikit-learn")},
        quality=correct,
        better="higher",
        tolerance=1e-3,
        goal=3.0,
    )
    for name, make in (("digits", digits), ("sparse text n=4000 d=20000", text))
]
