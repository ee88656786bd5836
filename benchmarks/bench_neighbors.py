"""Neighbors and Gaussian processes against scikit-learn, SciPy, faiss and GPyTorch: the same answers, an
evidence as high, or a predictive density as high.

Every contender has its natural settings and two threads. faiss answers in single precision whatever it is given.
"""

from __future__ import annotations

from functools import partial

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


def faiss_search(data):
    """The flat index: every distance by products in single precision; it returns their squares."""
    import faiss

    index = faiss.IndexFlatL2(data[0].shape[1])
    index.add(np.ascontiguousarray(data[0], dtype=np.float32))
    squares, rows = index.search(np.ascontiguousarray(data[1], dtype=np.float32), 10)
    return np.sqrt(np.maximum(squares, 0.0)), rows


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
    """The log evidence of the data, exactly, at the hyper-parameters that were found."""
    if hasattr(model, "log_marginal_likelihood_value_"):
        return float(model.log_marginal_likelihood_value_)
    from gnomon.gp import GaussianProcessRegressor
    from gnomon.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(model["scale"]) * RBF(model["lengths"]) + WhiteKernel(model["noise"])
    shift = model.get("shift", 0.0)
    return evidence(GaussianProcessRegressor(kernel, optimizer=None).fit(data[0], data[1] - shift), data)


def gpytorch_process(data, steps=50):
    """GPyTorch's exact process as its tutorials have it: Adam with steps of 0.1, single precision."""
    import gpytorch
    import torch

    torch.manual_seed(0)
    X, y = (torch.as_tensor(part, dtype=torch.float32) for part in data)

    class Process(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
            )

        def forward(self, rows):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(rows), self.covar_module(rows))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Process(likelihood)
    model.train(), likelihood.train()
    adam = torch.optim.Adam(model.parameters(), lr=0.1)
    target = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(steps):
        adam.zero_grad()
        loss = -target(model(X), y)
        loss.backward()
        adam.step()
    return {
        "scale": float(model.covar_module.outputscale.detach()),
        "lengths": model.covar_module.base_kernel.lengthscale.detach().numpy().ravel().astype(float),
        "noise": float(likelihood.noise.detach()),
        "shift": float(model.mean_module.constant.detach()),
    }


# Inducing points


def our_inducing(data, m=100, steps=1):
    model = our_process(data[:2], inducing=m, max_iter=steps)
    mean, std = model.predict(data[2], return_std=True)
    return mean, std


def gpytorch_inducing(data, m=500, epochs=4):
    """GPyTorch's stochastic variational process as its tutorial has it: batches of 1024, Adam with steps of 0.01."""
    import gpytorch
    import torch

    torch.manual_seed(0)
    X, y, Q = (torch.as_tensor(part, dtype=torch.float32) for part in data[:3])

    class Process(gpytorch.models.ApproximateGP):
        def __init__(self, points):
            posterior = gpytorch.variational.CholeskyVariationalDistribution(len(points))
            strategy = gpytorch.variational.VariationalStrategy(self, points, posterior)
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
            )

        def forward(self, rows):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(rows), self.covar_module(rows))

    model, likelihood = Process(X[:m].clone()), gpytorch.likelihoods.GaussianLikelihood()
    model.train(), likelihood.train()
    adam = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    target = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(1024):
            adam.zero_grad()
            loss = -target(model(X[rows]), y[rows])
            loss.backward()
            adam.step()
    model.eval(), likelihood.eval()
    with torch.no_grad():
        told = likelihood(model(Q))
        return told.mean.numpy().astype(float), told.stddev.numpy().astype(float)


def with_questions(n, d, q=2000):
    X, y = surface(n + q, d)
    return X[:n], y[:n], X[n:], y[n:]


def density(found, data):
    """Mean log density of targets that were not seen."""
    mean, std = found
    return float(np.mean(-0.5 * np.log(2 * np.pi) - np.log(std) - 0.5 * ((data[3] - mean) / std) ** 2))


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
        data=partial(points, 100_000, 2_000, 64),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search, "faiss-cpu": faiss_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=100k q=2k d=64 float32",
        data=partial(points, 100_000, 2_000, 64, np.float32),
        ours=our_search,
        peers={"scikit-learn": their_search, "faiss-cpu": faiss_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=100k q=5k d=8",
        data=partial(points, 100_000, 5_000, 8),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search, "faiss-cpu": faiss_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=100k q=5k d=8 float32",
        data=partial(points, 100_000, 5_000, 8, np.float32),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search, "faiss-cpu": faiss_search},
        **SEARCH,
    ),
    Case(
        "k-NN n=300k q=100k d=3",
        data=partial(points, 300_000, 100_000, 3),
        ours=our_search,
        peers={"scikit-learn": their_search, "scipy (cKDTree)": scipy_search},
        **SEARCH,
    ),
    Case(
        "cosine k-NN n=45k q=3k d=64",
        data=partial(points, 45_000, 3_000, 64),
        ours=lambda data: our_search(data, metric="cosine"),
        peers={"scikit-learn": lambda data: their_search(data, metric="cosine")},
        **SEARCH,
    ),
    Case("edit-distance k-NN, 20k words", data=words, ours=lambda data: our_search(data, metric="edit")),
    Case(
        "Gaussian process n=1000 d=5, scales learned",
        data=partial(surface, 1000),
        ours=our_process,
        peers={"scikit-learn": their_process},
        quality=evidence,
        better="higher",
        tolerance=1e-4,
        goal=5.0,
    ),
    Case(
        "Gaussian process n=3000 d=5, scales learned",
        data=partial(surface, 3000),
        ours=our_process,
        peers={"scikit-learn": their_process, "gpytorch": gpytorch_process},
        quality=evidence,
        better="higher",
        tolerance=1e-4,
        goal=2.0,
        note="the bar is twice scikit-learn and once GPyTorch",
    ),
    Case(
        "Gaussian process n=3000 d=5, given kernel",
        data=partial(surface, 3000),
        ours=fixed(our_process),
        peers={"scikit-learn": fixed(their_process)},
        quality=evidence,
        better="higher",
    ),
    Case(
        "inducing points n=100k d=3, m=100",
        data=partial(with_questions, 100_000, 3),
        ours=our_inducing,
        peers={
            "gpytorch (100, 20 epochs)": lambda data: gpytorch_inducing(data, 100, 20),
            "gpytorch (500, 4 epochs)": gpytorch_inducing,
        },
        quality=density,
        better="higher",
        tolerance=1e-3,
        goal=1.0,
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
