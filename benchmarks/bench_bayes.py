"""Generative classifiers against scikit-learn: fit and predict on the same rows, same probabilities."""

from __future__ import annotations

import numpy as np

from case import Case


def normal_classes(n, d=100, k=10):
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    X = 0.3 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)) @ (
        np.eye(d) + 0.05 * rng.normal(size=(d, d))
    )
    return X, y


def documents(n, d=50_000, words=50, k=20):
    from scipy import sparse

    rng = np.random.default_rng(1)
    indices = (d * rng.random(n * words) ** 2).astype(np.int32)
    values = rng.integers(1, 4, size=n * words).astype(float)
    X = sparse.csr_array((values, indices, np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    return X, rng.integers(k, size=n)


def fitted(module, name, **options):
    def fit(data):
        from importlib import import_module

        return getattr(import_module(module), name)(**options).fit(*data)

    return fit


def predicted(module, name, **options):
    """Predict with a model fitted once and kept beside the data."""
    models = {}

    def predict(data):
        key = id(data[0])
        if key not in models:
            models[key] = fitted(module, name, **options)(data)
        return models[key].predict_proba(data[0])

    return predict


def log_loss(model, data):
    rows = slice(0, 5000)
    logs = model.predict_log_proba(data[0][rows])
    return float(-logs[np.arange(logs.shape[0]), data[1][rows]].mean())


def log_loss_of(proba, data):
    with np.errstate(divide="ignore"):
        return float(-np.log(proba[np.arange(5000), data[1][:5000]]).mean())


def pair(title, name, theirs, data, goal, goal_predict=None, peers=None, quality=log_loss, size=300_000):
    """Return the cases of fitting and of predicting."""
    peers = peers or {"scikit-learn": {}}
    shared = dict(data=data, sizes=[size // 4, size // 2, size])
    return [
        Case(
            f"{title}: fit",
            ours=fitted("gnomon.bayes", name),
            peers={label: fitted(theirs, name, **options) for label, options in peers.items()},
            quality=quality,
            goal=goal,
            **shared,
        ),
        Case(
            f"{title}: predict",
            ours=predicted("gnomon.bayes", name),
            peers={label: predicted(theirs, name, **options) for label, options in list(peers.items())[-1:]},
            quality=log_loss_of,
            goal=goal_predict or goal,
            **shared,
        ),
    ]


NAIVE, NORMAL = "sklearn.naive_bayes", "sklearn.discriminant_analysis"
CASES = [
    *pair("GaussianNB n=300k d=100", "GaussianNB", NAIVE, normal_classes, 5.0),
    *pair(
        "LDA n=300k d=100",
        "LinearDiscriminantAnalysis",
        NORMAL,
        normal_classes,
        2.0,
        1.0,
        peers={"scikit-learn (svd)": {}, "scikit-learn (lsqr)": {"solver": "lsqr"}},
    ),
    *pair(
        "QDA n=300k d=100",
        "QuadraticDiscriminantAnalysis",
        NORMAL,
        normal_classes,
        4.0,
        peers={"scikit-learn": {}},
    ),
    *pair("MultinomialNB CSR 200k x 50k", "MultinomialNB", NAIVE, documents, 1.0, size=200_000),
]
