"""Mixtures against scikit-learn and pomegranate: 20 EM steps from the same start; counts; holes."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case

KINDS = ("full", "tied", "diag", "spherical")


def groups(n, d=20, k=10):
    """Return overlapping Gaussian groups and k of the rows to start from."""
    rng = np.random.default_rng(1)
    labels = rng.integers(k, size=n)
    X = 2.0 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    for j, factor in enumerate(np.eye(d) + 0.2 * rng.normal(size=(k, d, d))):
        X[labels == j] = X[labels == j] @ factor
    return X, X[rng.choice(n, k, replace=False)].copy()


def start(data, kind):
    X, means = data
    k, d = means.shape
    ones = {
        "full": np.tile(np.eye(d), (k, 1, 1)),
        "tied": np.eye(d),
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }
    given = dict(weights_init=np.full(k, 1 / k), means_init=means, precisions_init=ones[kind] / X.var())
    return dict(n_components=k, covariance_type=kind, max_iter=20, tol=0.0, random_state=0, **given)


def ours(kind):
    def fit(data):
        from gnomon.mixture import GaussianMixture

        return GaussianMixture(**start(data, kind)).fit(data[0])

    return fit


def theirs(kind):
    def fit(data):
        from sklearn.mixture import GaussianMixture

        return GaussianMixture(init_params="random_from_data", **start(data, kind)).fit(data[0])

    return fit


def tensors(kind):
    def fit(data):
        import torch
        from pomegranate.distributions import Normal
        from pomegranate.gmm import GeneralMixtureModel

        X, means = data
        first = {"full": np.diag(np.full(X.shape[1], X.var())), "diag": np.full(X.shape[1], X.var())}[kind]
        parts = [Normal(torch.tensor(mean), torch.tensor(first), covariance_type=kind) for mean in means]
        model = GeneralMixtureModel(parts, max_iter=20, tol=-np.inf)
        return model.fit(torch.tensor(X))

    return fit


def mean_log_likelihood(model, data):
    """Return the mean log-likelihood of the fitted model, after its last step."""
    if hasattr(model, "score"):
        return model.score(data[0])
    return float(model.log_probability(data[0]).mean())


def default_fit(module):
    def fit(data):
        from importlib import import_module

        model = import_module(module).GaussianMixture(len(data[1]), random_state=0)
        return model.fit(data[0])

    return fit


def fitted(n):
    """Return rows and a model of theirs fitted by scikit-learn, with its twin of ours."""
    from sklearn.mixture import GaussianMixture as Peer

    from gnomon.mixture import GaussianMixture

    X, means = groups(n)
    small = X[:5_000], means
    return (
        X,
        GaussianMixture(**start(small, "full")).fit(small[0]),
        Peer(**start(small, "full")).fit(small[0]),
    )


def variational(module):
    def fit(data):
        from importlib import import_module

        options = dict(n_components=len(data[1]), max_iter=20, tol=0.0, random_state=0)
        return import_module(module).BayesianGaussianMixture(**options).fit(data[0])

    return fit


def counts(n, k=5):
    rng = np.random.default_rng(2)
    return rng.poisson(rng.uniform(1, 30, k)[rng.integers(k, size=n)])[:, None].astype(float)


def our_poisson(X):
    from gnomon.mixture import PoissonMixture

    return PoissonMixture(5, random_state=0, max_iter=20, tol=0.0).fit(X)


def holes(n, d=20):
    X = groups(n, d, 1)[0]
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    return X


def our_holes(X):
    from gnomon.mixture import MissingGaussian

    return MissingGaussian(max_iter=10, tol=0.0).fit(X)


CASES = [
    *(
        Case(
            f"GaussianMixture {kind} n=200k d=20 K=10, 20 steps",
            data=groups,
            sizes=(50_000, 200_000),
            ours=ours(kind),
            peers={"scikit-learn": theirs(kind)}
            | ({"pomegranate": tensors(kind)} if kind in ("full", "diag") else {}),
            quality=mean_log_likelihood,
            better="higher",
            tolerance=1e-6,  # scikit-learn and we add 1e-6 to the variances, pomegranate does not
            goal=3.0,
        )
        for kind in KINDS
    ),
    Case(
        "GaussianMixture default fit n=100k d=20 K=10",
        data=partial(groups, 100_000),
        ours=default_fit("gnomon.mixture"),
        peers={"scikit-learn": default_fit("sklearn.mixture")},
        quality=mean_log_likelihood,
        better="higher",
        tolerance=1e-2,
        goal=3.0,
        note="each starts from its own k-means",
    ),
    Case(
        "GaussianMixture predict_proba n=100k d=20 K=10",
        data=partial(fitted, 100_000),
        ours=lambda data: data[1].predict_proba(data[0]),
        peers={"scikit-learn": lambda data: data[2].predict_proba(data[0])},
        goal=2.0,
    ),
    Case(
        "BayesianGaussianMixture n=100k d=20 K=10, 20 steps",
        data=partial(groups, 100_000),
        ours=variational("gnomon.mixture"),
        peers={"scikit-learn": variational("sklearn.mixture")},
        goal=3.0,
        note="each starts from its own k-means",
    ),
    Case("PoissonMixture n=1M K=5, 20 steps", data=partial(counts, 1_000_000), ours=our_poisson),
    Case("MissingGaussian n=50k d=20, 10 % missing, 10 steps", data=partial(holes, 50_000), ours=our_holes),
]
