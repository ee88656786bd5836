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
    for n, d in ((2000, 10), (10_000, 10), (5000, 500))
]
