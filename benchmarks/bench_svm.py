"""Kernel machines against scikit-learn: same kernel, same tolerance, same or better dual value."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case


def cloud(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] ** 2 - 0.7 + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y


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


def predicting(library):
    """Return a contender that only predicts: its machine was trained with the data."""

    def predict(data):
        X, models = data
        return models[library].predict(X)

    return predict


def trained(make, count=None):
    """Return data with both machines trained on some of the rows, to be asked about all."""

    def data():
        X, y = make()
        some = slice(None) if count is None else slice(count)
        return X, {name: fitted(name)((X[some], y[some])) for name in ("gnomon", "scikit-learn")}

    return data


def same_answers(answers, data):
    """Return the share of rows about which scikit-learn's machine says the same."""
    return float(np.mean(answers == data[1]["scikit-learn"].predict(data[0])))


def ridge_data(n=5000, d=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def ridge(library):
    def fit(data):
        if library == "gnomon":
            from gnomon.kernels import KernelRidge
        else:
            from sklearn.kernel_ridge import KernelRidge
        return KernelRidge(alpha=0.1, kernel="rbf", gamma=0.1).fit(*data).dual_coef_

    return fit


def lapack_ridge(data):
    """Return the coefficients by a kernel matrix and LAPACK's potrf and potrs in place."""
    from scipy.linalg import lapack

    from gnomon.kernels import gram

    K = gram("rbf", data[0], gamma=0.1)
    K[np.diag_indices_from(K)] += 0.1
    factor, _ = lapack.dpotrf(K.T, clean=0, overwrite_a=1)
    return lapack.dpotrs(factor, data[1])[0]


def ridge_residual(coef, data):
    """Return the norm of y − (K + αI) c."""
    from gnomon.kernels import gram

    return float(np.linalg.norm(data[1] - gram("rbf", data[0], gamma=0.1) @ coef - 0.1 * coef))


CASES = (
    [
        Case(
            f"SVC rbf n={n} d={d}",
            data=partial(cloud, n, d),
            ours=fitted("gnomon"),
            peers={"scikit-learn": fitted("scikit-learn")},
            quality=dual,
            tolerance=1e-5,
            goal=3.0,
        )
        for n, d in ((2000, 10), (10_000, 10), (20_000, 20), (5000, 500))
    ]
    + [
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
        for name, make in (("digits", digits), ("sparse text n=4000 d=20000", partial(text, 4000, 20_000)))
    ]
    + [
        Case(
            f"SVC predict {name}",
            data=trained(make, count),
            ours=predicting("gnomon"),
            peers={"scikit-learn": predicting("scikit-learn")},
            quality=same_answers,
            better="higher",
            tolerance=2e-3,
            goal=8.0,
        )
        for name, make, count in (
            ("n=10000 d=10, trained on 5000", partial(cloud, 10_000, 10), 5000),
            ("digits", digits, None),
            ("sparse text n=4000 d=20000", text, None),
        )
    ]
    + [
        Case(
            "kernel ridge n=5000 d=10",
            data=ridge_data,
            ours=ridge("gnomon"),
            peers={"scikit-learn": ridge("scikit-learn")},
            floors={"kernel matrix, potrf and potrs": lapack_ridge},
            quality=ridge_residual,
            tolerance=1.0,
            goal=1.0,
        )
    ]
)
