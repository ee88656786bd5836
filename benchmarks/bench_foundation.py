"""The first estimators against scikit-learn: same start, same number of steps, same answer."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case

# k-means: both run Lloyd's iteration from the same centers until no label changes, at most 50 times


def clumps(n, d=20, k=50):
    """Return overlapping clumps, so that the iteration has work to do, and k of the points to start from."""
    rng = np.random.default_rng(0)
    X = 2.5 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return X, X[rng.choice(n, k, replace=False)].copy()


def kmeans_options(data):
    return dict(n_clusters=len(data[1]), init=data[1], n_init=1, max_iter=50, tol=0.0)


def our_kmeans(data):
    from gnomon.cluster import KMeans

    return KMeans(**kmeans_options(data)).fit(data[0])


def their_kmeans(algorithm):
    def fit(data):
        from sklearn.cluster import KMeans

        return KMeans(algorithm=algorithm, **kmeans_options(data)).fit(data[0])

    return fit


def inertia(model, data):
    X, total = data[0], 0.0
    for start in range(0, len(X), 10_000):
        rows = X[start : start + 10_000]
        labels = model.labels_[start : start + 10_000]
        total += ((rows - model.cluster_centers_[labels]) ** 2).sum()
    return total


# Gaussian mixtures: 20 iterations of EM from the same weights, means and precisions


def mixture(n, d=20, k=10):
    rng = np.random.default_rng(1)
    factors = np.eye(d) + 0.2 * rng.normal(size=(k, d, d))
    labels = rng.integers(k, size=n)
    X = 2.0 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    for j in range(k):
        X[labels == j] = X[labels == j] @ factors[j]
    return X, X[rng.choice(n, k, replace=False)].copy()


def mixture_options(data, kind):
    X, means = data
    k, d = means.shape
    precisions = {"diag": np.ones((k, d)), "full": np.tile(np.eye(d), (k, 1, 1))}[kind] / X.var()
    start = dict(weights_init=np.full(k, 1 / k), means_init=means, precisions_init=precisions)
    return dict(n_components=k, covariance_type=kind, max_iter=20, tol=0.0, random_state=0, **start)


def our_mixture(kind):
    def fit(data):
        from gnomon.mixture import GaussianMixture

        return GaussianMixture(**mixture_options(data, kind)).fit(data[0])

    return fit


def their_mixture(kind):
    def fit(data):
        from sklearn.mixture import GaussianMixture

        options = mixture_options(data, kind)
        return GaussianMixture(init_params="random_from_data", **options).fit(data[0])

    return fit


def log_likelihood(model, data):
    """Return the mean log-density of the rows, by one formula for both models."""
    from scipy.special import logsumexp
    from scipy.stats import multivariate_normal

    X = data[0][:20_000]
    covariances = [np.diag(c) if c.ndim == 1 else c for c in np.asarray(model.covariances_)]
    parts = [multivariate_normal(m, c).logpdf(X) for m, c in zip(model.means_, covariances)]
    return logsumexp(np.array(parts).T + np.log(model.weights_), axis=1).mean()


# Least squares


def plane(n, d=50):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d)) + 1.0
    return X, X @ rng.normal(size=d) + 3.0 + rng.normal(size=n)


def our_linear(name, **options):
    def fit(data):
        from gnomon import linear

        return getattr(linear, name)(**options).fit(*data)

    return fit


def their_linear(name, **options):
    def fit(data):
        from sklearn import linear_model

        return getattr(linear_model, name)(**options).fit(*data)

    return fit


def gram(data):
    """The two products that least squares rests on."""
    X, y = data
    return X.T @ X, X.T @ y


def residual(model, data, alpha=0.0):
    X, y = data
    error = y - X @ model.coef_ - model.intercept_
    return float(error @ error + alpha * model.coef_ @ model.coef_)


CASES = [
    Case(
        "KMeans n=200k d=20 k=50",
        data=clumps,
        ours=our_kmeans,
        peers={f"scikit-learn ({name})": their_kmeans(name) for name in ("lloyd", "elkan")},
        quality=inertia,
        sizes=[25_000, 50_000, 100_000, 200_000],
        goal=2.0,
    ),
    Case(
        "GaussianMixture diag n=200k d=20 k=10, 20 steps",
        data=mixture,
        ours=our_mixture("diag"),
        peers={"scikit-learn": their_mixture("diag")},
        quality=log_likelihood,
        better="higher",
        sizes=[25_000, 50_000, 100_000, 200_000],
        goal=3.0,
    ),
    Case(
        "GaussianMixture full n=200k d=20 k=10, 20 steps",
        data=partial(mixture, 200_000),
        ours=our_mixture("full"),
        peers={"scikit-learn": their_mixture("full")},
        quality=log_likelihood,
        better="higher",
        goal=2.0,
    ),
    Case(
        "LinearRegression n=1M d=50",
        data=plane,
        ours=our_linear("LinearRegression"),
        peers={"scikit-learn": their_linear("LinearRegression")},
        floors={"X'X and X'y by BLAS": gram},
        quality=residual,
        sizes=[125_000, 250_000, 500_000, 1_000_000],
        goal=5.0,
    ),
    Case(
        "Ridge n=1M d=50",
        data=plane,
        ours=our_linear("Ridge", alpha=1.0),
        peers={"scikit-learn": their_linear("Ridge", alpha=1.0)},
        floors={"X'X and X'y by BLAS": gram},
        quality=lambda model, data: residual(model, data, alpha=1.0),
        sizes=[125_000, 250_000, 500_000, 1_000_000],
        goal=1.0,
    ),
]
