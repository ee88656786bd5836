"""Chains, hidden Markov models, state space and ranking against the libraries people use for them.

Same start, same number of steps, same answer: log-likelihoods are compared as quality.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case

K, D = 8, 4


def chain_data(n):
    """Return observations of an 8-state chain, and a start near the truth."""
    rng = np.random.default_rng(0)
    A = np.full((K, K), 0.1 / (K - 1))
    np.fill_diagonal(A, 0.9)
    means = rng.normal(0, 3, (K, D))
    states = np.zeros(n, dtype=int)
    jumps, targets = rng.random(n), rng.integers(1, K, n)
    for t in range(1, n):
        states[t] = states[t - 1] if jumps[t] < 0.9 else (states[t - 1] + targets[t]) % K
    return means[states] + rng.normal(size=(n, D)), A, means + 0.3


def prepared(cls, data, steps, kind="diag"):
    X, A, means = data
    model = cls(K, kind, n_iter=steps, tol=-1e9, init_params="")
    model.startprob_, model.transmat_, model.means_ = np.full(K, 1 / K), A.copy(), means.copy()
    model.covars_ = np.full((K, D), 2.0) if kind == "diag" else np.tile(2.0 * np.eye(D), (K, 1, 1))
    return model


def our_em(lengths=None, kind="diag"):
    def fit(data):
        from gnomon.sequence import GaussianHMM

        runs = None if lengths is None else [lengths] * (len(data[0]) // lengths)
        return prepared(GaussianHMM, data, 10, kind).fit(data[0], lengths=runs)

    return fit


def their_em(lengths=None, kind="diag"):
    def fit(data):
        from hmmlearn.hmm import GaussianHMM

        runs = None if lengths is None else [lengths] * (len(data[0]) // lengths)
        return prepared(GaussianHMM, data, 10, kind).fit(data[0], runs)

    return fit


def batched_em(lengths):
    def fit(data):
        import torch
        from pomegranate.distributions import Normal
        from pomegranate.hmm import DenseHMM

        X, A, means = data
        emissions = [Normal(torch.tensor(m).float(), torch.full((D,), 2.0), "diag") for m in means]
        model = DenseHMM(
            emissions, A.astype(np.float32), np.full(K, 1 / K, np.float32), max_iter=10, tol=1e-300
        )
        model.fit(torch.tensor(X.reshape(-1, lengths, D)).float())
        return model

    return fit


def likelihood(model, data):
    """Log-likelihood of the rows, without the prior, by one formula for all models."""
    from gnomon.sequence import GaussianHMM

    ours = GaussianHMM(K, getattr(model, "covariance_type", "diag"))
    names = "startprob_", "transmat_", "means_", "covars_"
    values = tensors_of(model) if hasattr(model, "edges") else [getattr(model, name) for name in names]
    for name, value in zip(names, values, strict=True):
        setattr(ours, name, value)
    return ours.score(data[0])


def tensors_of(model):
    """Return the parameters of pomegranate's model; it keeps logarithms in single precision."""
    start, trans = (np.exp(np.asarray(logs, dtype=float)) for logs in (model.starts, model.edges))
    means, covars = (
        np.array([np.asarray(getattr(one, name), dtype=float) for one in model.distributions])
        for name in ("means", "covs")
    )
    return start / start.sum(), trans / trans.sum(axis=1, keepdims=True), means, covars


def query(library, method):
    def ask(data):
        if library == "gnomon":
            from gnomon.sequence import GaussianHMM
        else:
            from hmmlearn.hmm import GaussianHMM
        model = prepared(GaussianHMM, data, 1)
        return model.sample(20_000, random_state=0) if method == "sample" else getattr(model, method)(data[0])

    return ask


def first_number(result, data):
    return float(result[0] if isinstance(result, tuple) else result)


# state space: constant velocity in the plane, 4 states, 2 measurements


def track_data(n=20_000):
    rng = np.random.default_rng(0)
    C = np.array([[1, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1.0]])
    H = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0]])
    return np.cumsum(rng.normal(size=(n, 2)), axis=0), C, H, 0.01 * np.eye(4), 0.5 * np.eye(2)


def our_kalman(method):
    def run(data):
        from gnomon.sequence import KalmanFilter

        X, C, H, Q, V = data
        return getattr(KalmanFilter(C, H, Q, V), method)(X).means

    return run


def pykalman_run(method):
    def run(data):
        from pykalman import KalmanFilter

        X, C, H, Q, V = data
        model = KalmanFilter(C, H, Q, V, initial_state_mean=np.zeros(4), initial_state_covariance=np.eye(4))
        return getattr(model, method)(X)[0]

    return run


def filterpy_run(method):
    def run(data):
        from filterpy.kalman import KalmanFilter

        X, C, H, Q, V = data
        model = KalmanFilter(dim_x=4, dim_z=2)
        model.F, model.H, model.Q, model.R, model.P = C, H, Q, V, np.eye(4)
        model.x = np.zeros(4)
        means, covariances, _, _ = model.batch_filter(X, update_first=True)
        return means if method == "filter" else model.rts_smoother(means, covariances)[0]

    return run


def statsmodels_run(method):
    def run(data):
        from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother

        X, C, H, Q, V = data
        model = KalmanSmoother(k_endog=2, k_states=4)
        model.bind(np.ascontiguousarray(X))
        model["design"], model["obs_cov"], model["transition"] = H, V, C
        model["selection"], model["state_cov"] = np.eye(4), Q
        model.initialize_known(np.zeros(4), np.eye(4))
        return model.filter().filtered_state.T if method == "filter" else model.smooth().smoothed_state.T

    return run


def last_position(means, data):
    """Distance of the last estimate from the last measurement: the same for all who filter right."""
    return float(np.linalg.norm(np.asarray(means)[-100:, [0, 2]] - data[0][-100:]))


def walk_data():
    return np.random.default_rng(0).normal(size=1000).cumsum() * 0.5


def our_particles(data):
    from gnomon.sequence import KalmanFilter, ParticleFilter

    model = KalmanFilter(1, 1, 0.25, 1)
    return ParticleFilter.from_kalman(model, n_particles=10_000, random_state=0).filter(data).loglik


def their_particles(data):
    import particles
    from particles import distributions as dists
    from particles import state_space_models as ssm

    class Walk(ssm.StateSpaceModel):
        def PX0(self):
            return dists.Normal(0, 1)

        def PX(self, t, xp):
            return dists.Normal(xp, 0.5)

        def PY(self, t, xp, x):
            return dists.Normal(x, 1)

    run = particles.SMC(
        fk=ssm.Bootstrap(ssm=Walk(), data=data), N=10_000, resampling="systematic", ESSrmin=0.5
    )
    run.run()
    return run.logLt


# links


def links(m=1_000_000):
    from scipy import sparse

    rng, n = np.random.default_rng(0), m // 10
    A = sparse.csr_array((np.ones(m), (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    A.data[:] = 1.0
    rows, columns = A.nonzero()
    return {"csr": A, "edges": np.column_stack([rows, columns]), "n": n}


def our_pagerank(data):
    from gnomon.ranking import pagerank

    return pagerank(data["csr"])


def sknetwork_pagerank(data):
    from scipy import sparse
    from sknetwork.ranking import PageRank

    return PageRank(damping_factor=0.85, tol=1e-10, n_iter=1000).fit_predict(sparse.csr_matrix(data["csr"]))


def igraph_pagerank(data):
    import igraph

    if "graph" not in data:
        data["graph"] = igraph.Graph(n=data["n"], edges=data["edges"].tolist(), directed=True)
    return np.array(data["graph"].pagerank(damping=0.85))


def networkx_pagerank(data):
    import networkx

    if "network" not in data:
        data["network"] = networkx.from_scipy_sparse_array(data["csr"], create_using=networkx.DiGraph)
    scores = networkx.pagerank(data["network"], alpha=0.85, tol=1e-10 / data["n"], max_iter=1000)
    return np.array([scores[node] for node in range(data["n"])])


def residual(scores, data):
    """L1 distance from being stationary."""
    A = data["csr"]
    degree = np.asarray(A.sum(axis=1)).ravel()
    share = np.divide(scores, degree, out=np.zeros_like(scores), where=degree > 0)
    moved = 0.85 * (A.T @ share + scores[degree == 0].sum() / data["n"]) + 0.15 / data["n"]
    return max(float(np.abs(moved - scores).sum()), 1e-9)


CASES = [
    Case(
        "hmm EM one sequence T=100k K=8 d=4, 10 steps",
        data=chain_data,
        sizes=[25_000, 50_000, 100_000],
        ours=our_em(),
        peers={"hmmlearn": their_em()},
        quality=likelihood,
        better="higher",
        goal=15,
    ),
    Case(
        "hmm EM 2000 sequences of 50, 10 steps",
        data=partial(chain_data, 100_000),
        ours=our_em(50),
        peers={"hmmlearn": their_em(50), "pomegranate": batched_em(50)},
        quality=likelihood,
        better="higher",
        goal=2,
        note="pomegranate works in single precision",
    ),
    Case(
        "hmm EM full covariances T=100k",
        data=partial(chain_data, 100_000),
        ours=our_em(kind="full"),
        peers={"hmmlearn": their_em(kind="full")},
        quality=likelihood,
        better="higher",
    ),
    *(
        Case(
            f"hmm {method} T=100k",
            data=partial(chain_data, 100_000),
            ours=query("gnomon", method),
            peers={"hmmlearn": query("hmmlearn", method)},
            quality=first_number,
            better="higher",
            goal=1.5,
        )
        for method in ("decode", "score")
    ),
    Case(
        "hmm sample T=20k",
        data=partial(chain_data, 1000),
        ours=query("gnomon", "sample"),
        peers={"hmmlearn": query("hmmlearn", "sample")},
        goal=50,
    ),
    *(
        Case(
            f"kalman {method} T=20k, 4 states",
            data=track_data,
            ours=our_kalman(method),
            peers={
                "statsmodels": statsmodels_run(method),
                "filterpy": filterpy_run(method),
                "pykalman": pykalman_run(method),
            },
            quality=last_position,
            better="lower",
            tolerance=1e-3,
            goal=1,
        )
        for method in ("filter", "smooth")
    ),
    Case(
        "particle filter T=1000 N=10k",
        data=walk_data,
        ours=our_particles,
        peers={"particles": their_particles},
        quality=lambda value, data: float(value),
        better="higher",
        tolerance=1e-2,
        goal=3,
    ),
    Case(
        "pagerank 1M links",
        data=links,
        ours=our_pagerank,
        peers={
            "scikit-network": sknetwork_pagerank,
            "igraph": igraph_pagerank,
            "networkx": networkx_pagerank,
        },
        quality=residual,
        better="lower",
        goal=1,
        note="graphs of igraph and networkx are built beforehand",
    ),
]
